/* What the Promela model (ledger.pml) asserts, as a judge of a walk: no step is executed
 * twice, markers are 0 or 1, the semaphore is never negative, Step 3 finds the job closed; and when
 * every message is acked, everything was done, and Step 3 once.
 *
 * Assay's oracles see more, and sooner: a step whose marker does not commit with it is a breach
 * when it commits, not when it is done again. This is for comparing shortest counterexamples like
 * for like. */
#ifndef BENCH_SPIN_PEER_H
#define BENCH_SPIN_PEER_H

#include "sim/walk.h"

walk_watch peer_watch;

#endif
