/* The simulated store, transaction level: executes a bundle on the rows of a world, whole or not at
 * all, by interpreting the primitives' operations. What an operation means for a row is defined in
 * meaning.h; this finds the row, applies the result and decides what a miss does to the bundle.
 *
 * (ST1) A bundle that is refused leaves no change. Any other leaves its changes in the world's log:
 *       the caller keeps them (commit) or undoes them (rollback).
 * (ST2) The effect of a bundle depends only on the table of primitives, the bundle, the rows, the
 *       clock and the message picked for a claim. */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include "model/bundle.h"
#include "model/oracle/observed.h"
#include "sim/world.h"

/* `picked` is the message slot that a claim takes; ROW_NONE: none; STORE_PICKS_ITSELF: the message
 * that is due first when the claim is executed, the bundle's own included. Slots that are not in
 * use yet denote the messages that the bundle will have published, in their order. */
#define STORE_PICKS_ITSELF (UINT32_MAX - 1)
void store_execute(struct world *world, const struct primitive *primitives,
                   const struct bundle *bundle, uint32_t picked, struct outcome *outcome);

/* The same, and records what the store sees of the execution: all but client, end and answer, which
 * only the caller knows. NULL: records nothing. */
void store_execute_seen(struct world *world, const struct primitive *primitives,
                        const struct bundle *bundle, uint32_t picked, struct outcome *outcome,
                        struct observed *seen);

/* Asserts (ST1), and that the outcome is one of the bundle's (outcome_check of model/bundle.h);
 * `mark` is where the world's log stood before it. */
void store_check(const struct world *world, size_t mark, const struct bundle *bundle,
                 const struct outcome *outcome);

/* What the store sees of a transaction when it begins. */
void store_seen_begin(const struct bundle *bundle, int64_t now, struct observed *seen);

/* The first `calls` calls of the bundle only read, without a lock. */
bool store_only_reads(const struct primitive *primitives, const struct bundle *bundle, int calls);

#endif
