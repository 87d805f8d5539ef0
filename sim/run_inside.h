/* What the files of a run share. Private to run.c, transact.c, life.c, former.c, long_work.c,
 * weather.c and walk.c. */
#ifndef SIM_RUN_INSIDE_H
#define SIM_RUN_INSIDE_H

#include "sim/run.h"

/* Counts a step, adds it to the digest and shows it to the observer. */
void run_stepped(struct run *run, struct run_event *event);

/* A promise is broken: the run ends here. */
void run_broke(struct run *run, struct oracle_verdict breach);

/* The actor does the work outside rows that run->bundle rests on, unless it has the result; the
 * oracles judge it at once. */
void run_work(struct run *run, unsigned actor);

/* The writes since `mark` are a commit: run_judge_commit gives it to the oracles, run_keep makes it
 * final. */
void run_judge_commit(struct run *run, size_t mark);
void run_keep(struct run *run, size_t mark);

/* Rolls back the writes since `mark`, and the oracles check that nothing is left. A torn store
 * leaves half. */
void run_roll_back(struct run *run, size_t mark);

/* What the store saw of a transaction (run->seen) goes to the oracles that ask for it. `mark` is
 * where the log stood before it. Its end and its answer are those of run->outcome. */
void run_judge_seen(struct run *run, bool committed, size_t mark);

/* The actor crashes and restarts: it loses what its role does not keep. Its session is closed. */
void run_start_anew(struct run *run, unsigned actor);

/* No more sessions than needed: many loops visit all of them. */
void run_fit_sessions(struct run *run);

/* The actor whose engine was being stepped has failed a CHECK of its own, and crashes. */
void run_bury(struct run *run);

/* The actor's next bundle, as run->bundle. */
void run_build_bundle(struct run *run, unsigned actor);

/* The message that the actor holds, key first; NULL: its role holds none. */
const int64_t *run_message_of(const struct run_actor *run_actor);

/* No connection of the principal is free: 53300. */
bool run_is_full(const struct run *run, enum principal principal);

/* The actor begins a transaction, or goes on with the one that it has open. */
void run_take_turn(struct run *run, unsigned actor);

/* Every connection breaks, and open transactions roll back. `told`: actors learn of it at their
 * next turn. Else only the actors' own sessions end, and late transactions (struct run_late) go
 * on. */
void run_drop_sessions(struct run *run, bool told);

/* A fault that makes the transaction late. */
static inline bool run_is_late(enum fault_kind fault)
{
    return fault_get(fault)->moment == FAULT_LATE;
}

/* A store that follows gets presets after the commit, when a session that waited for the row has it
 * already. So no session may wait there: transactions are neither stopped half-way nor late. */
static inline bool run_presets_lag(const struct run *run)
{
    return run->life->follows && run->has_presets;
}

/* Asserts that actors, late transactions, a former self and sessions belong together, and that no
 * budget is overdrawn: (FS1), (FS2), (LW1), (U4). */
void run_check(const struct run *run);

/* After a turn: ends the late transactions that are due. */
void run_mind_late(struct run *run);

/* Ends a late transaction before it is due, because no actor can do anything else. False: there is
 * none. */
bool run_land_early(struct run *run);

#endif
