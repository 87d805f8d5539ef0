/* What the files of a run share. Private to run.c, transact.c, former.c, long_work.c, weather.c and
 * walk.c. */
#ifndef SIM_RUN_INSIDE_H
#define SIM_RUN_INSIDE_H

#include "sim/run.h"

/* Counts a step, takes it into the digest and shows it to whoever watches. */
void run_stepped(struct run *run, struct run_event *event);

/* A promise is broken: the run ends here. */
void run_broke(struct run *run, struct oracle_verdict breach);

/* The actor does the work outside rows that run->bundle rests on, unless it has its result; the
 * oracles hear of it at once. */
void run_work(struct run *run, unsigned actor);

/* What was written since `mark` is a commit: it goes to the oracles; it stays. */
void run_judge_commit(struct run *run, size_t mark);
void run_keep(struct run *run, size_t mark);

/* ... is none: nothing of it may stay, which the oracles see to. A torn store leaves half. */
void run_roll_back(struct run *run, size_t mark);

/* What the store saw of a transaction (run->seen) goes to the oracles, as far as they ask. `mark`:
 * where the log stood before it. Its end and its answer are what run->outcome says. */
void run_judge_seen(struct run *run, bool committed, size_t mark);

/* The actor dies and is back: what its role does not keep is lost. Its session is closed. */
void run_start_anew(struct run *run, unsigned actor);

/* No more sessions than are needed: all of them are looked at, again and again. */
void run_fit_sessions(struct run *run);

/* What the actor sends next, as run->bundle. */
void run_build_bundle(struct run *run, unsigned actor);

/* The message that it holds, key first; NULL: its role holds none. */
const int64_t *run_message_of(const struct run_actor *one);

/* No connection of the principal is free: 53300. */
bool run_is_full(const struct run *run, enum principal principal);

/* The actor begins a transaction, or goes on with the one that it has open. */
void run_take_turn(struct run *run, unsigned actor);

/* Every connection breaks, and what is open is rolled back. `told`: actors hear of it when their
 * turn comes; else it is theirs alone, and what is on its way (struct run_late) still is. */
void run_drop_sessions(struct run *run, bool told);

/* A fault after which the transaction is on its way; whether one more can be. */
static inline bool run_is_late(enum fault_kind fault)
{
    return fault == FAULT_COMMIT_LATE || fault == FAULT_CRASH_COMMIT_LATE;
}

/* A mirror copies what a scenario presets once the commit is made, and by then who waited for the
 * row has it. So nobody may wait there: transactions are neither stopped half-way nor late. */
static inline bool run_mirror_lags(const struct run *run)
{
    return run->mirror != NULL && run->has_presets;
}

/* A fault that is counted only when it is seen to matter. */
static inline bool run_counts_later(enum fault_kind fault)
{
    return run_is_late(fault) || fault == FAULT_SUCCESSOR || fault == FAULT_LONG_WORK ||
           fault == FAULT_SKEW;
}

/* After a turn, if anything is on its way: what is due lands. */
void run_mind_late(struct run *run);

/* One that is on its way lands before it is due, because nobody can do anything else. False: none
 * is. */
bool run_land_early(struct run *run);

#endif
