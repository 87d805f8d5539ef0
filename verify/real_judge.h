/* Judges a run on PostgreSQL: the oracles get its history (real/history.h), commit by commit,
 * as in the simulation. The final rows are compared with the history and with a simulated run
 * without faults.
 *
 * Work outside rows is in the journal of the run's processes and in no history, so its position
 * between commits is not known. The oracles get it as early as it can have been done, once its claim
 * was given; repeated work comes at the end. So three things are judged: that there was work, that it
 * had a claim, and that no claim saw it twice. Two are not: that it came before the commit that rests
 * on it, and that an earlier claim of a message published again had not been worked for.
 *
 * Lateness breaks no promise: if the time is up, what the run did is judged, and what it had yet to
 * do is not. */
#ifndef VERIFY_REAL_JUDGE_H
#define VERIFY_REAL_JUDGE_H

#include "real/history.h"
#include "real/shared.h"
#include "sim/run.h"

struct real_verdict {
    struct oracle_verdict breach; /* .broken: a promise was broken */
    enum oracle_name oracle;      /* that reported it */
    uint64_t commits, changes;
    uint64_t works; /* done outside rows */
    const char
        *bug; /* not NULL: the history does not join (I3), lacks a word, or the journal is not
                        whole, which is a bug of Assay */
};

/* How a run on PostgreSQL ended, as its supervisor knows. */
struct real_course {
    const struct shared_page *page; /* has the journal */
    bool server_crashed;            /* what the supervisor itself had committed it may not know */
    bool is_over; /* nothing was left to do; else time ran out, and what is not done
                                     yet breaks no promise */
};

/* `run` gives the oracles, their memory and the crash-free rows; its world is overwritten.
 * False: the store failed (store_pg_why_not). */
bool real_judge(struct run *run, struct store_pg *store, const struct history *history,
                const struct real_course *course, struct real_verdict *verdict);

#endif
