/* assay conform, in between: random transactions through the very store that `assay real` uses,
 * each as one bundle.
 *
 * The stepper, which drives the other halves of `conform`, prepares, begins and reads answers by
 * itself: an error in real/store.c does not show there. Here the bundles of a script go
 * through store_pg, each on a connection of its own as its principal: all of its statements first,
 * COMMIT at a later turn, others in between. What is compared is what an engine is told (kind,
 * refusal, class of abort, values, the message claimed, what was skipped) and the rows; and with
 * those, that a transaction ran at its isolation level and held its locks until its end: 40001,
 * what the server notes of its reads, and who waits. A wait is ended by a time-out (LOCK_TIMEOUT),
 * on both sides.
 *
 * (CS1) Nothing is told by time: who has to wait waits for one that ends only after it gave up.
 * (CS2) A bundle is sent whole. What it skips does nothing there, and is asked for its rights all
 * the same: a principal that may not do it is refused (42501), where the simulation commits what
 *       went before. No engine asks for what it may not do (CUT-11). That and a 40001 that may come
 *       are taken over. */
#ifndef VERIFY_CONFORM_STORE_H
#define VERIFY_CONFORM_STORE_H

#include "sim/script.h"
#include "verify/lockstep.h"

struct conform_store {
    const char *dsn, *schema;
    struct lockstep *both; /* the rows of both sides; its stepper's transactions are all ended */
    const struct session_rules *rules;
    struct roles roles; /* of principals, with as many connections as a script has sessions */
    struct store_pg *stores[SCRIPT_SESSIONS_MAX];
    struct store_pg *watcher; /* looks at what the others hold */
    /* what was compared */
    uint64_t bundles, commits, waits, aborts;
};

/* Makes the roles. False: *problem says why. */
bool conform_store_open(struct conform_store *of, struct store_pg_problem *problem);
void conform_store_close(struct conform_store *of);

/* Runs the script; what differs is in both->difference, and both->failed says that it is the
 * server's failure. */
void conform_store_script(struct conform_store *of, const struct script *script);

#endif
