/* What the seq suites share: a small ledger on the heap, a clock, and a recount that trusts no
 * counter. */
#ifndef MODEL_TESTS_SEQ_SUPPORT_H
#define MODEL_TESTS_SEQ_SUPPORT_H

#include "model/reference/seq_memory.h"

#include <stdlib.h>
#include <string.h>

enum { DISPATCHER = 1, WORKER = 2, RIVAL = 3, CANCELLER = 4, COMMITTER = 5, RECLAIMER = 6 };
enum { CLASS_TRANSIENT = 1, CLASS_FATAL = 2 };

static const struct seq_policy usual_policy = {
    .lease_ms = 1000,
    .grace_ms = 50,
    .retryable_classes = 1U << SEQ_CLASS_LEASE_EXPIRED | 1U << CLASS_TRANSIENT,
    .retry_budget = 2,
};

static inline struct seq_time at(uint64_t mono_ms)
{
    return (struct seq_time){.mono_ms = mono_ms, .wall_ms = 1700000000000 + mono_ms};
}

static inline struct seq_memory *ledger_new(uint64_t capacity, const struct seq_policy *policy)
{
    void *memory = NULL; /* not a byte more than it asks for, so that a sanitizer sees an overrun */
    if (posix_memalign(&memory, SEQ_ALIGNMENT, seq_memory_bytes(capacity)) != 0) {
        abort();
    }
    memset(memory, 0, seq_memory_bytes(capacity));
    return seq_memory_init(memory, capacity, policy);
}

/* The occupancies by looking at every seq. */
static inline struct seq_counts recount(const struct seq_memory *ledger)
{
    struct seq_counts counts = {0};
    for (uint64_t seq = 0; seq < seq_memory_capacity(ledger); seq++) {
        enum seq_state state = seq_memory_read(ledger, seq).state;
        counts.unseen += state == SEQ_UNSEEN;
        counts.dispatched += state == SEQ_DISPATCHED;
        counts.in_flight += state == SEQ_IN_FLIGHT;
        counts.terminal += state >= SEQ_SUCCESS && state <= SEQ_CANCEL;
        counts.committed += state == SEQ_COMMITTED;
    }
    return counts;
}

static inline bool counts_agree(const struct seq_memory *ledger)
{
    struct seq_counts kept = seq_memory_count(ledger);
    struct seq_counts seen = recount(ledger);
    return kept.unseen == seen.unseen && kept.dispatched == seen.dispatched &&
           kept.in_flight == seen.in_flight && kept.terminal == seen.terminal &&
           kept.committed == seen.committed;
}

#endif
