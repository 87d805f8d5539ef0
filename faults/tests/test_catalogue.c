#include "faults/catalogue.h"

#include <criterion/criterion.h>
#include <string.h>

/* (F1): a schedule names faults by these names and numbers. */
Test(catalogue, names_and_order_are_those_of_version_1)
{
    static const struct {
        const char *name;
        enum fault_group group;
    } expected[] = {
        {"none", FAULT_GROUP_NONE},
        {"crash-before-begin", FAULT_GROUP_CRASH},
        {"crash-before-commit", FAULT_GROUP_CRASH},
        {"crash-after-commit", FAULT_GROUP_CRASH},
        {"crash-before-ack", FAULT_GROUP_CRASH},
        {"unknown-committed", FAULT_GROUP_UNKNOWN},
        {"unknown-lost", FAULT_GROUP_UNKNOWN},
        {"connection-cut", FAULT_GROUP_ABORT},
        {"40001", FAULT_GROUP_ABORT},
        {"40P01", FAULT_GROUP_ABORT},
        {"53300", FAULT_GROUP_ABORT},
        {"duplicate", FAULT_GROUP_DUPLICATE},
        {"replay", FAULT_GROUP_DUPLICATE},
        {"redeliver", FAULT_GROUP_DUPLICATE},
        {"pause", FAULT_GROUP_PAUSE},
        {"delay", FAULT_GROUP_DELAY},
        {"reorder", FAULT_GROUP_DELAY},
        {"restart", FAULT_GROUP_SERVER},
        {"failover", FAULT_GROUP_SERVER},
        {"lossy-failover", FAULT_GROUP_LOSS},
        {"clock-forward", FAULT_GROUP_CLOCK},
        {"clock-back", FAULT_GROUP_CLOCK},
        {"answer-changed", FAULT_GROUP_ANSWER},
        {"illegal-move", FAULT_GROUP_ILLEGAL},
        {"commit-late", FAULT_GROUP_UNKNOWN},
        {"crash-commit-late", FAULT_GROUP_CRASH},
        {"successor", FAULT_GROUP_SUCCESSOR},
        {"long-work", FAULT_GROUP_WORK},
        {"clock-skew", FAULT_GROUP_SKEW},
    };
    cr_assert_eq(FAULT_VERSION, 1, "another version: write its table");
    cr_assert_eq(COUNT(expected), (size_t)FAULT_KIND_COUNT);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct fault *fault = fault_get((enum fault_kind)i);
        cr_expect_str_eq(fault->name, expected[i].name);
        cr_expect_eq(fault->group, expected[i].group, "%s", fault->name);
    }
}

Test(catalogue, groups_have_a_key_a_limit_and_a_usual_budget)
{
    static const struct fault_group_text expected[] = {
        {"none", "none", 0},
        {"crash", "crashes", 3},
        {"unknown", "unknowns", 3},
        {"abort", "aborts", 4},
        {"duplicate", "duplicates", 3},
        {"pause", "pauses", 2},
        {"delay", "delays", 4},
        {"server", "restarts", 1},
        {"loss", "losses", 1},
        {"clock", "jumps", 2},
        {"answer", "answers", 1},
        {"illegal", "illegals", 1},
        {"successor", "successors", 2},
        {"work", "works", 3},
        {"skew", "skews", 2},
    };
    cr_assert_eq(COUNT(expected), (size_t)FAULT_GROUP_COUNT);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct fault_group_text *text = fault_group_get((enum fault_group)i);
        cr_expect_str_eq(text->name, expected[i].name);
        cr_expect_str_eq(text->limit, expected[i].limit);
        cr_expect_eq(text->limit_usual, expected[i].limit_usual, "%s", text->name);
    }
}

Test(catalogue, every_fault_is_found_by_its_name_and_says_in_one_line_what_it_does)
{
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault *fault = fault_get((enum fault_kind)kind);
        enum fault_kind found = FAULT_NONE;
        cr_expect(fault_find(fault->name, strlen(fault->name), &found), "%s", fault->name);
        cr_expect_eq((int)found, kind, "%s", fault->name);
        cr_expect_neq(fault->group, FAULT_GROUP_NONE, "%s", fault->name);
        cr_expect_gt(strlen(fault->about), 20U, "%s", fault->name);
        cr_expect_lt(strlen(fault->about), 80U, "%s", fault->name);
        cr_expect_null(strchr(fault->about, '\n'), "%s", fault->name);
    }
}

/* (F2) */
Test(catalogue, the_columns_of_a_fault_agree)
{
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault *fault = fault_get((enum fault_kind)kind);
        enum fault_moment moment = fault->moment;
        bool sent = moment != FAULT_AROUND && moment != FAULT_BEFORE_BEGIN;
        bool aborts = fault->answer == FAULT_TELLS_ABORT, late = moment == FAULT_LATE;
        cr_expect_neq(moment, FAULT_NEVER, "%s", fault->name);
        cr_expect(!fault->dies || fault->answer == FAULT_TELLS_NOTHING, "%s", fault->name);
        cr_expect(!fault->rolls_back || moment == FAULT_INSIDE || moment == FAULT_AT_COMMIT, "%s",
                  fault->name);
        cr_expect_eq(fault->aborted != ABORT_NONE, aborts, "%s", fault->name);
        cr_expect(moment != FAULT_INSTEAD || aborts, "%s", fault->name);
        cr_expect(moment != FAULT_BEFORE_BEGIN || fault->answer == FAULT_TELLS_NOTHING, "%s",
                  fault->name);
        cr_expect(!late || fault->dies || fault->answer == FAULT_TELLS_UNKNOWN, "%s", fault->name);
        cr_expect(sent || fault->answer <= FAULT_TELLS_NOTHING, "%s", fault->name);
        cr_expect_eq(fault->no_twin == NULL, fault->twins[0].name != NULL, "%s", fault->name);
    }
}

Test(catalogue, how_a_transaction_ends_follows_from_the_columns)
{
    static const struct {
        enum fault_kind kind;
        bool dies, rolls_back;
        enum abort_class instead;
    } expected[] = {
        {FAULT_NONE, false, false, ABORT_NONE},
        {FAULT_CRASH_BEFORE_BEGIN, true, false, ABORT_NONE},
        {FAULT_CRASH_BEFORE_COMMIT, true, true, ABORT_NONE},
        {FAULT_CRASH_AFTER_COMMIT, true, false, ABORT_NONE},
        {FAULT_CRASH_COMMIT_LATE, true, false, ABORT_NONE},
        {FAULT_UNKNOWN_COMMITTED, false, false, ABORT_NONE},
        {FAULT_UNKNOWN_LOST, false, true, ABORT_NONE},
        {FAULT_CONNECTION_CUT, false, true, ABORT_NONE},
        {FAULT_SERIALIZATION, false, false, ABORT_SERIALIZATION},
        {FAULT_DEADLOCK, false, false, ABORT_DEADLOCK},
        {FAULT_CONNECTIONS, false, false, ABORT_CONNECTIONS},
        {FAULT_PAUSE, false, false, ABORT_NONE},
    };
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct fault *fault = fault_get(expected[i].kind);
        cr_expect_eq(fault->dies, expected[i].dies, "%s", fault->name);
        cr_expect_eq(fault->rolls_back, expected[i].rolls_back, "%s", fault->name);
        cr_expect_eq(fault_aborts(expected[i].kind), expected[i].instead, "%s", fault->name);
    }
}

/* (F3) */
Test(catalogue, every_kind_of_chaos_is_the_twin_of_one_fault)
{
    int of[CHAOS_KINDS] = {0};
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault *fault = fault_get((enum fault_kind)kind);
        for (int i = 0; i < FAULT_TWINS_MAX && fault->twins[i].name != NULL; i++) {
            const struct fault_twin *twin = &fault->twins[i];
            of[twin->kind]++;
            cr_expect_eq((int)fault_of_twin((enum chaos_kind)twin->kind), kind, "%s", twin->name);
            cr_expect_eq(fault_twin_get((enum chaos_kind)twin->kind), twin, "%s", twin->name);
            cr_expect_gt(strlen(twin->about), 8U, "%s", twin->name);
        }
    }
    for (int kind = 0; kind < CHAOS_KINDS; kind++) {
        cr_expect_eq(of[kind], 1, "%d", kind);
    }
}

Test(catalogue, every_group_is_found_by_its_key_and_by_its_limit_and_has_a_fault)
{
    for (int group = FAULT_GROUP_NONE + 1; group < FAULT_GROUP_COUNT; group++) {
        const struct fault_group_text *text = fault_group_get((enum fault_group)group);
        enum fault_group by_name = FAULT_GROUP_NONE, by_limit = FAULT_GROUP_NONE;
        cr_expect(fault_group_find(text->name, strlen(text->name), &by_name));
        cr_expect(fault_group_find_limit(text->limit, strlen(text->limit), &by_limit));
        cr_expect_eq((int)by_name, group, "%s", text->name);
        cr_expect_eq((int)by_limit, group, "%s", text->limit);
        int members = 0;
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
            members += (int)fault_get((enum fault_kind)kind)->group == group;
        }
        cr_expect_gt(members, 0, "%s", text->name);
    }
}

/* In `faults:` a name means the group first, so a kind with the name of a group must be in it. */
Test(catalogue, a_fault_with_the_name_of_a_group_belongs_to_that_group)
{
    int shared = 0;
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault *fault = fault_get((enum fault_kind)kind);
        enum fault_group group = FAULT_GROUP_NONE;
        if (fault_group_find(fault->name, strlen(fault->name), &group)) {
            cr_expect_eq(group, fault->group, "%s", fault->name);
            shared++;
        }
    }
    cr_expect_eq(shared, 4, "duplicate, pause, delay and successor");
}

Test(catalogue, what_is_not_in_it_is_not_found)
{
    static const char *const wrong[] = {"", "none", "crsh", "Crash", "crash ", "crash-", "4000"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        size_t length = strlen(wrong[i]);
        enum fault_kind kind = FAULT_KIND_COUNT;
        enum fault_group group = FAULT_GROUP_COUNT;
        cr_expect_not(fault_find(wrong[i], length, &kind), "'%s'", wrong[i]);
        cr_expect_not(fault_group_find(wrong[i], length, &group), "'%s'", wrong[i]);
        cr_expect_not(fault_group_find_limit(wrong[i], length, &group), "'%s'", wrong[i]);
        cr_expect(kind == FAULT_KIND_COUNT && group == FAULT_GROUP_COUNT, "left alone");
    }
}

Test(catalogue, a_name_may_stand_inside_a_longer_text)
{
    enum fault_kind kind = FAULT_NONE;
    cr_expect(fault_find("pause: 1/60", 5, &kind));
    cr_expect_eq(kind, FAULT_PAUSE);
}
