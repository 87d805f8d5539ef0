/* The contract of the seq ledger (seed 001), as a table and pure decisions: which moves are legal,
 * when a lease has expired, when a failure is retried. No state. The concurrent ledger in reference/seq_memory.h,
 * and any durable table of seqs, decide by these and by nothing else.
 *
 *   0 UNSEEN -> 1 DISPATCHED -> 2 IN_FLIGHT -> 3 SUCCESS, 4 SKIP, 5 FAIL, 6 CANCEL -> 7 COMMITTED
 *                  |   ^                                          |         ^
 *                  |   +------------------ retry -----------------+         |
 *                  +---------------------- cancel --------------------------+
 *
 * (SR1) 12 of the 64 ordered pairs are legal, COMMITTED -> COMMITTED is a no-op, 51 are illegal
 *       (SEQ-3, E-SEQ-5).
 * (SR2) A decision is a function of its arguments: equal inputs, equal outcome (SEQ-11, -18). */
#ifndef MODEL_SEQ_RULES_H
#define MODEL_SEQ_RULES_H

#include "model/check.h"

#include <stdbool.h>
#include <stdint.h>

/* SEQ-1 */
enum seq_state {
    SEQ_UNSEEN = 0,
    SEQ_DISPATCHED = 1,
    SEQ_IN_FLIGHT = 2,
    SEQ_SUCCESS = 3,
    SEQ_SKIP = 4,
    SEQ_FAIL = 5,
    SEQ_CANCEL = 6,
    SEQ_COMMITTED = 7,
    SEQ_STATES = 8
};

/* By state. */
#define SEQ_STATE_NAMES                                                                            \
    [SEQ_UNSEEN] = "UNSEEN", [SEQ_DISPATCHED] = "DISPATCHED", [SEQ_IN_FLIGHT] = "IN_FLIGHT",       \
    [SEQ_SUCCESS] = "TERMINAL_SUCCESS", [SEQ_SKIP] = "TERMINAL_SKIP",                              \
    [SEQ_FAIL] = "TERMINAL_FAIL", [SEQ_CANCEL] = "TERMINAL_CANCEL", [SEQ_COMMITTED] = "COMMITTED"

/* The 12 legal moves, numbered as the transition contract numbers them. */
enum seq_move {
    SEQ_MOVE_NONE,           /* not a legal move */
    SEQ_MOVE_DISPATCH,       /* 1: UNSEEN -> DISPATCHED */
    SEQ_MOVE_TAKE,           /* 2: DISPATCHED -> IN_FLIGHT */
    SEQ_MOVE_SUCCEED,        /* 3: IN_FLIGHT -> SUCCESS */
    SEQ_MOVE_SKIP,           /* 4: IN_FLIGHT -> SKIP */
    SEQ_MOVE_FAIL,           /* 5: IN_FLIGHT -> FAIL */
    SEQ_MOVE_CANCEL_EARLY,   /* 6: DISPATCHED -> CANCEL, before work begins */
    SEQ_MOVE_CANCEL_FORCED,  /* 7: IN_FLIGHT -> CANCEL, after the grace period */
    SEQ_MOVE_COMMIT_SUCCESS, /* 8 */
    SEQ_MOVE_COMMIT_SKIP,    /* 9 */
    SEQ_MOVE_COMMIT_FAIL,    /* 10 */
    SEQ_MOVE_COMMIT_CANCEL,  /* 11 */
    SEQ_MOVE_RETRY,          /* 12: FAIL -> DISPATCHED, before its event is out */
    SEQ_MOVES
};

enum seq_pair { SEQ_PAIR_LEGAL, SEQ_PAIR_NOOP, SEQ_PAIR_ILLEGAL };

#define SEQ_CLASSES             32 /* fail classes; which are retryable is the policy's business */
#define SEQ_CLASS_LEASE_EXPIRED 0  /* the class of a run whose lease ran out (E-SEQ-1) */
#define SEQ_ATTEMPTS_MAX        255
#define SEQ_LEASE_MS_MAX        (1U << 30)

struct seq_policy {
    uint32_t lease_ms;          /* leaseExpiresMs: 1..SEQ_LEASE_MS_MAX */
    uint32_t grace_ms;          /* how long an asked cancel waits before it is forced */
    uint32_t retryable_classes; /* bit c: fail class c may be retried */
    uint32_t retry_budget;      /* retries, not runs: 0..SEQ_ATTEMPTS_MAX (E-SEQ-14) */
};

/* The contract: which of the 12 moves leads from one state to another, SEQ_MOVE_NONE if none does.
 * Read it through seq_rules_move. */
extern const uint8_t seq_rules_contract[SEQ_STATES][SEQ_STATES];

/* These are inline because the hot path of reference/seq_memory.c is made of them. */

static inline enum seq_move seq_rules_move(enum seq_state from, enum seq_state to)
{
    CHECK((unsigned)from < SEQ_STATES && (unsigned)to < SEQ_STATES);
    return (enum seq_move)seq_rules_contract[from][to];
}

static inline enum seq_pair seq_rules_pair(enum seq_state from, enum seq_state to)
{
    if (seq_rules_move(from, to) != SEQ_MOVE_NONE) {
        return SEQ_PAIR_LEGAL;
    }
    return from == SEQ_COMMITTED && to == SEQ_COMMITTED ? SEQ_PAIR_NOOP : SEQ_PAIR_ILLEGAL;
}

/* SUCCESS, SKIP, FAIL or CANCEL. */
static inline bool seq_rules_terminal(enum seq_state state)
{
    return state >= SEQ_SUCCESS && state <= SEQ_CANCEL;
}

/* now - heartbeat >= lease_ms (E-SEQ-13), in wrapping milliseconds. A heartbeat up to
 * SEQ_LEASE_MS_MAX ahead of `now`, as a thread with an older clock reading sees it, has not
 * expired; so a heartbeat is judged rightly for 2^32 - SEQ_LEASE_MS_MAX ms, 37 days. */
static inline bool seq_rules_lease_expired(const struct seq_policy *policy, uint32_t heartbeat_ms,
                                           uint32_t now_ms)
{
    uint32_t age_ms = now_ms - heartbeat_ms;
    bool heartbeat_is_ahead = age_ms > UINT32_MAX - SEQ_LEASE_MS_MAX;
    return !heartbeat_is_ahead && age_ms >= policy->lease_ms;
}

static inline bool seq_rules_grace_over(const struct seq_policy *policy, uint64_t asked_ms,
                                        uint64_t now_ms)
{
    return now_ms >= asked_ms && now_ms - asked_ms >= policy->grace_ms;
}

/* A retryable class, and attempts < budget (SEQ-13, E-SEQ-14). */
static inline bool seq_rules_retry(const struct seq_policy *policy, uint32_t fail_class,
                                   uint32_t attempts)
{
    CHECK(fail_class < SEQ_CLASSES);
    return (policy->retryable_classes >> fail_class & 1U) != 0 && attempts < policy->retry_budget;
}

/* "TERMINAL_SUCCESS", as the specification spells it. */
const char *seq_rules_state_name(enum seq_state state);

#endif
