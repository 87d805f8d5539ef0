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
#include "sim/world.h"

/* `picked` is the message slot that a claim takes; ROW_NONE: there is none. */
void store_execute(struct world *world, const struct primitive *primitives,
                   const struct bundle *bundle, uint32_t picked, struct outcome *outcome);

#endif
