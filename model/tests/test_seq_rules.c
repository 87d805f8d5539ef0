/* The contract as the specification lists it, and the pure decisions. */
#include "model/seq_rules.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <string.h>

/* Rows: from; columns: to. L legal, N no-op, . illegal. */
static const char contract[SEQ_STATES][SEQ_STATES + 1] = {
    ".L......", /* 0 UNSEEN */
    "..L...L.", /* 1 DISPATCHED */
    "...LLLL.", /* 2 IN_FLIGHT */
    ".......L", /* 3 TERMINAL_SUCCESS */
    ".......L", /* 4 TERMINAL_SKIP */
    ".L.....L", /* 5 TERMINAL_FAIL */
    ".......L", /* 6 TERMINAL_CANCEL */
    ".......N", /* 7 COMMITTED */
};

/* (SR1) */
Test(seq_rules, all_64_pairs_are_decided_as_the_contract_says)
{
    PROVES(CLAUSE_SEQ_3);
    SETTLES(ERRATUM_SEQ_5);
    int legal = 0;
    int noop = 0;
    int illegal = 0;
    for (int from = 0; from < SEQ_STATES; from++) {
        for (int to = 0; to < SEQ_STATES; to++) {
            enum seq_pair pair = seq_rules_pair((enum seq_state)from, (enum seq_state)to);
            char letter = pair == SEQ_PAIR_LEGAL ? 'L' : pair == SEQ_PAIR_NOOP ? 'N' : '.';
            cr_expect_eq(letter, contract[from][to], "pair %d -> %d", from, to);
            legal += pair == SEQ_PAIR_LEGAL;
            noop += pair == SEQ_PAIR_NOOP;
            illegal += pair == SEQ_PAIR_ILLEGAL;
        }
    }
    cr_assert_eq(legal, 12);
    cr_assert_eq(noop, 1);
    cr_assert_eq(illegal, 51);
}

Test(seq_rules, the_12_moves_are_numbered_as_the_contract_numbers_them)
{
    static const int pairs[SEQ_MOVES][2] = {
        [1] = {0, 1}, [2] = {1, 2}, [3] = {2, 3}, [4] = {2, 4},  [5] = {2, 5},  [6] = {1, 6},
        [7] = {2, 6}, [8] = {3, 7}, [9] = {4, 7}, [10] = {5, 7}, [11] = {6, 7}, [12] = {5, 1}};
    for (int move = 1; move < SEQ_MOVES; move++) {
        cr_expect_eq(
            (int)seq_rules_move((enum seq_state)pairs[move][0], (enum seq_state)pairs[move][1]),
            move);
    }
}

Test(seq_rules, states_have_the_codes_and_names_of_the_specification)
{
    PROVES(CLAUSE_SEQ_1);
    static const char *const names[] = {"UNSEEN",           "DISPATCHED",    "IN_FLIGHT",
                                        "TERMINAL_SUCCESS", "TERMINAL_SKIP", "TERMINAL_FAIL",
                                        "TERMINAL_CANCEL",  "COMMITTED"};
    for (int code = 0; code < SEQ_STATES; code++) {
        cr_expect_str_eq(seq_rules_state_name((enum seq_state)code), names[code]);
        cr_expect_eq(seq_rules_terminal((enum seq_state)code),
                     strncmp(names[code], "TERMINAL", 8) == 0);
    }
}

Test(seq_rules, a_lease_expires_when_the_heartbeat_is_lease_ms_old)
{
    PROVES(CLAUSE_SEQ_11);
    SETTLES(ERRATUM_SEQ_13);
    static const struct seq_policy policy = {.lease_ms = 100};
    static const struct {
        uint32_t heartbeat, now;
        bool expired;
    } cases[] = {
        {0, 0, false},
        {0, 99, false},
        {0, 100, true}, /* the boundary is closed */
        {0, 101, true},
        {500, 499, false},            /* another thread's clock was read a little later */
        {UINT32_MAX - 9, 89, false},  /* 99 ms across the wrap */
        {UINT32_MAX - 9, 90, true},   /* 100 ms across the wrap */
        {10, UINT32_MAX - 10, false}, /* ahead across the wrap */
        {0, UINT32_MAX / 2 + 1, true},
        {0, UINT32_MAX - SEQ_LEASE_MS_MAX, true},      /* the oldest age that counts as past */
        {0, UINT32_MAX - SEQ_LEASE_MS_MAX + 1, false}, /* beyond it, it counts as ahead */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(seq_rules_lease_expired(&policy, cases[i].heartbeat, cases[i].now),
                     cases[i].expired, "case %zu", i);
    }
}

Test(seq_rules, the_grace_period_counts_from_the_asking)
{
    static const struct seq_policy policy = {.lease_ms = 1, .grace_ms = 50};
    cr_expect_not(seq_rules_grace_over(&policy, 100, 149));
    cr_expect(seq_rules_grace_over(&policy, 100, 150));
    cr_expect_not(seq_rules_grace_over(&policy, 100, 99), "a clock that went back grants nothing");
}

Test(seq_rules, a_retry_needs_a_retryable_class_and_budget)
{
    PROVES(CLAUSE_SEQ_13, CLAUSE_SEQ_18);
    SETTLES(ERRATUM_SEQ_14);
    static const struct seq_policy policy = {
        .lease_ms = 1, .retryable_classes = 1U << 0 | 1U << 31, .retry_budget = 2};
    for (uint32_t class = 0; class < SEQ_CLASSES; class ++) {
        bool retryable = class == 0 || class == 31;
        cr_expect_eq(seq_rules_retry(&policy, class, 0), retryable, "class %u", class);
        cr_expect_eq(seq_rules_retry(&policy, class, 1), retryable, "class %u", class);
        cr_expect_not(seq_rules_retry(&policy, class, 2), "the budget counts retries, not runs");
    }
    static const struct seq_policy none = {.lease_ms = 1, .retryable_classes = ~0U};
    cr_expect_not(seq_rules_retry(&none, 0, 0), "no budget, no retry");
}
