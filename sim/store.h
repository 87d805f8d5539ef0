/* The simulated store, transaction level: executes a bundle on the rows of a world, whole or not at
 * all, by interpreting the primitives' operations. The one place that gives an operation its
 * meaning on rows.
 *
 * (T1) A bundle that is refused leaves nothing. One that is not leaves its changes in the world's
 *      log: the caller keeps them (commit) or undoes them (rollback).
 * (T2) What a bundle does depends on the table of primitives, the bundle, the rows, the clock and
 *      the message picked for a claim, and on nothing else. */
#ifndef SIM_STORE_H
#define SIM_STORE_H

#include "model/bundle.h"
#include "model/oracle/observed.h"
#include "sim/world.h"

/* `picked` is the message slot that a claim takes; ROW_NONE: there is none; STORE_PICKS_ITSELF: the
 * message that is due first when the claim comes to it, the bundle's own included. Slots that are
 * not in use yet are those of the messages that the bundle will have published, in their order. */
#define STORE_PICKS_ITSELF (UINT32_MAX - 1)
void store_execute(struct world *world, const struct primitive *primitives,
                   const struct bundle *bundle, uint32_t picked, struct outcome *outcome);

/* The same, and what is seen of it while it is executed: all but client, end and answer, which are
 * for the caller to know. NULL: nobody asks. */
void store_execute_seen(struct world *world, const struct primitive *primitives,
                        const struct bundle *bundle, uint32_t picked, struct outcome *outcome,
                        struct observed *seen);

/* What is seen of a transaction when it begins. */
void store_seen_begin(const struct bundle *bundle, int64_t now, struct observed *seen);

/* The first `calls` calls of the bundle do nothing but read without a lock. */
bool store_only_reads(const struct primitive *primitives, const struct bundle *bundle, int calls);

#endif
