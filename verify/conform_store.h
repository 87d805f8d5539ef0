/* assay conform, second part: random transactions through the store of `assay real`, each as one
 * bundle.
 *
 * The other parts of `conform` use the stepper, which prepares, begins and reads answers by itself:
 * an error in real/store.c does not show there. Here the bundles of a script go through store_pg,
 * each on a connection of its own as its principal. All statements of a bundle are sent first;
 * COMMIT follows at a later turn, with other bundles in between. Compared are the rows and what an
 * engine is told: kind, refusal, class of abort, values, the claimed message, what was skipped.
 * Isolation level and locks show in 40001, in the server's record of reads, and in waits. A timeout
 * (LOCK_TIMEOUT) ends a wait on both sides.
 *
 * (CS1) No result depends on timing: a session that must wait waits for one that ends only after the
 *       wait was given up.
 * (CS2) A bundle is sent whole. A call that is skipped has no effect on the server, but its rights
 *       are checked: a principal without them is refused (42501), where the simulation commits the
 *       calls before it. No engine sends such a bundle (CUT-11). The comparison accepts that, and a
 *       40001 that the server may give. */
#ifndef VERIFY_CONFORM_STORE_H
#define VERIFY_CONFORM_STORE_H

#include "sim/script.h"
#include "verify/lockstep.h"

struct conform_store {
    const char *dsn, *schema;
    struct lockstep
        *lockstep; /* the rows of both sides; its stepper's transactions are all ended */
    const struct session_claims *rules;
    struct roles roles; /* of principals, with as many connections as a script has sessions */
    struct store_pg *stores[SCRIPT_SESSIONS_MAX];
    struct store_pg *watcher; /* reads the locks of the others */
    /* what was compared */
    uint64_t bundles, commits, waits, aborts;
};

/* Makes the roles. False: *error says why. */
bool conform_store_open(struct conform_store *of, struct error *error);
void conform_store_close(struct conform_store *of);

/* Runs the script. A difference is in both->difference; both->failed: the server failed. */
void conform_store_script(struct conform_store *of, const struct script *script);

#endif
