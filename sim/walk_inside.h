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

/* It need not wait with its next operation. */
bool walk_can_operate(const struct walk *walk, unsigned actor);

/* A transaction is begun, with its first operation; goes on with its next one. */
void walk_open(struct walk *walk, struct walk_move move);
void walk_operate(struct walk *walk, struct walk_move move);

/* Every operation of the actor's transaction is done: COMMIT is next. */
bool walk_is_done(const struct walk *walk, unsigned actor);

/* The actor's open transaction is over: as it comes (WALK_OPERATE), or with something wrong. */
void walk_end(struct walk *walk, unsigned actor, enum walk_kind kind);

/* It dies with its transaction. */
void walk_drop(struct walk *walk, unsigned actor);

/* Rows changed from `mark` on by nobody who has a session. */
void walk_note_sessions(struct walk *walk, size_t mark);

void walk_keep_sessions(struct walk *walk, struct walk_frame *frame);
void walk_bring_sessions_back(struct walk *walk, const struct walk_frame *frame);
uint64_t walk_mix_sessions(const struct walk *walk, uint64_t state);

/* Of walk.c: what the actor sends next, into run->bundle; whether the planted bug had a hand in it
 * is counted. */
void walk_send(struct walk *walk, unsigned actor);

/* Of walk.c: what stays of a transaction is judged; the actor hears of it (run->bundle and
 * run->outcome). */
void walk_judge(struct walk *walk, size_t mark, bool commits);

/* ... the work outside rows that the actor's transaction rests on is done. */
void walk_work(struct walk *walk, unsigned actor);
void walk_tell(struct walk *walk, unsigned actor);

#endif
