/* What walk.c and walk_statement.c share: transactions that are open over several moves. Private to
 * the two of them. */
#ifndef SIM_WALK_INSIDE_H
#define SIM_WALK_INSIDE_H

#include "sim/walk.h"

/* The actor has a transaction open. */
bool walk_has_open(const struct walk *walk, unsigned actor);

/* The next operation of an open transaction, or the first of one, is a claim. */
bool walk_comes_to_claim(const struct walk *walk, unsigned actor);
bool walk_begins_with_claim(const struct walk *walk, const struct bundle *bundle);

/* The actor's next operation does not have to wait. */
bool walk_can_operate(const struct walk *walk, unsigned actor);

/* Begins a transaction with its first operation; does the next operation of an open one. */
void walk_open(struct walk *walk, struct walk_move move);
void walk_operate(struct walk *walk, struct walk_move move);

/* Every operation of the actor's transaction is done: COMMIT is next. */
bool walk_is_done(const struct walk *walk, unsigned actor);

/* Ends the actor's open transaction: normally (WALK_OPERATE), or with a fault. */
void walk_end(struct walk *walk, unsigned actor, enum walk_kind kind);

/* The actor crashes; its open transaction is rolled back. */
void walk_drop(struct walk *walk, unsigned actor);

/* Rows changed since `mark` outside any session. */
void walk_note_sessions(struct walk *walk, size_t mark);

void walk_keep_sessions(struct walk *walk, struct walk_record *record);
void walk_bring_sessions_back(struct walk *walk, const struct walk_record *record);
uint64_t walk_mix_sessions(const struct walk *walk, uint64_t state);

/* Of walk.c: builds what the actor sends next, into run->bundle; counts it if the planted bug
 * changed it. */
void walk_send(struct walk *walk, unsigned actor);

/* Of walk.c: ends a transaction that began at `mark`: judges its changes if it commits, else rolls
 * it back. */
void walk_judge(struct walk *walk, size_t mark, bool commits);

/* Of walk.c: does the work outside rows that the actor's transaction rests on; gives the actor its
 * outcome (run->bundle and run->outcome). */
void walk_work(struct walk *walk, unsigned actor);
void walk_tell(struct walk *walk, unsigned actor);

#endif
