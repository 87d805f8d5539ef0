/* A run on PostgreSQL, judged: the history that the server recorded is told to the oracles commit
 * by commit, as the simulation tells its own, and the final rows are compared with it and with a
 * simulated run without faults. */
#ifndef CLI_REAL_JUDGE_H
#define CLI_REAL_JUDGE_H

#include "real/store.h"
#include "sim/run.h"

struct real_verdict {
    struct oracle_verdict breach; /* .broken: a promise was broken */
    enum oracle_name oracle;      /* who spoke */
    uint64_t commits, changes;
    const char *bug; /* not NULL: history and rows do not agree, which is a bug of Assay */
};

/* `run` gives the oracles, their memory and the crash-free rows; its world is overwritten. False:
 * the store failed (store_pg_why_not). */
bool real_judge(struct run *run, struct store_pg *store, const char *schema,
                struct real_verdict *verdict);

#endif
