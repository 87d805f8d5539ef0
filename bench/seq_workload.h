/* What `assay bench seq` measures: walks over a seq ledger, and the bare compare-and-swap that they
 * are compared with. No clock and no allocation here; the caller times, and brings the memory. */
#ifndef BENCH_SEQ_WORKLOAD_H
#define BENCH_SEQ_WORKLOAD_H

#include "model/reference/seq_memory.h"

#include <stdatomic.h>

/* Dispatch, take, succeed, commit: the moves of a seq that goes well. */
#define SEQ_WORKLOAD_MOVES 4

/* A range of seqs in order, as a hot path walks them: each is dispatched, taken 64 seqs later,
 * ended after another 64, committed after another 64; every 10,000 seqs the leases are looked at.
 * Returns the moves made, which must be 4 a seq. */
uint64_t seq_workload_window(struct seq_memory *ledger, uint64_t first, uint64_t end,
                             uint32_t actor);

/* How moves at many places are called for. */
enum seq_workload_calls {
    SEQ_WORKLOAD_ONE,    /* a call a move */
    SEQ_WORKLOAD_HINTED, /* the same, and each place is hinted some moves ahead */
    SEQ_WORKLOAD_MANY    /* many moves a call; the queues they are taken from are filled here too */
};

/* These places, all distinct, in the order given: all dispatched, then all taken, all ended, all
 * committed. Returns the moves made. */
uint64_t seq_workload_places(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                             enum seq_workload_calls calls);

/* A load and a compare-and-swap of each of these words, in the order given. With hint, each is
 * hinted as many swaps ahead. */
uint64_t seq_workload_bare(_Atomic uint64_t *words, const uint32_t *places, uint64_t count,
                           bool hint);

/* Takes a lease on every seq of a fresh ledger: those at `old_places` first, at time 0, and the
 * rest at time later_ms. */
void seq_workload_lease_all(struct seq_memory *ledger, const uint32_t *old_places,
                            uint64_t old_count, uint64_t later_ms);

/* How many leases are reclaimed at this time. */
uint64_t seq_workload_reclaim(struct seq_memory *ledger, uint64_t now_ms);

#endif
