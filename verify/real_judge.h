/* A run on PostgreSQL, judged: the history that the server recorded is told to the oracles commit
 * by commit, as the simulation tells its own, and the final rows are compared with it and with a
 * simulated run without faults.
 *
 * Work outside rows is in the journal of the run's processes and in no history, so that nobody
 * knows between which commits it was done. It is told as early as it can have been done: as soon as
 * its claim has been given out; what equals something told before, in the end. So it is judged that
 * there was work, that it had a claim, and that no claim saw it twice; not that it came before the
 * commit that rests on it, nor that a claim of before a message was published again had not been
 * worked for already.
 *
 * Lateness breaks no promise: of a run whose time was up before its work was done, what it did is
 * judged, and not what it has yet to do. */
#ifndef VERIFY_REAL_JUDGE_H
#define VERIFY_REAL_JUDGE_H

#include "real/seat.h"
#include "sim/run.h"

struct real_verdict {
    struct oracle_verdict breach; /* .broken: a promise was broken */
    enum oracle_name oracle;      /* who spoke */
    uint64_t commits, changes;
    uint64_t works;  /* done outside rows */
    const char *bug; /* not NULL: history and rows do not agree, or the journal is not whole, which
                        is a bug of Assay */
};

/* How a run on PostgreSQL went, as who ran it knows. */
struct real_course {
    const struct seat_page *page; /* has the journal */
    bool is_over;                 /* nothing was left to do; else time ran out, and what is not done
                                     yet breaks no promise */
};

/* `run` gives the oracles, their memory and the crash-free rows; its world is overwritten.
 * False: the store failed (store_pg_why_not). */
bool real_judge(struct run *run, struct store_pg *store, const char *schema,
                const struct real_course *course, struct real_verdict *verdict);

#endif
