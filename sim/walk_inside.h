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

/* The message slot that a claim of this move takes; ROW_NONE: none. */
static inline uint32_t walk_picked(struct walk_move move)
{
    return move.slot == WALK_NO_SLOT ? ROW_NONE : move.slot;
}

/* Does the next operation of an open transaction. */
void walk_operate(struct walk *walk, struct walk_move move);

/* Every operation of the actor's transaction is done: COMMIT is next. */
bool walk_is_done(const struct walk *walk, unsigned actor);

void walk_keep_sessions(struct walk *walk, struct walk_record *record);
void walk_bring_sessions_back(struct walk *walk, const struct walk_record *record);
uint64_t walk_mix_sessions(const struct walk *walk, uint64_t state);

/* Of walk.c: ends the transaction that the actor has begun: normally (WALK_STEP, WALK_OPERATE), or
 * with a fault. */
void walk_end(struct walk *walk, unsigned actor, enum walk_kind kind);

#endif
