/* From a run that breaks a promise to the smallest that does: what is left reproduces it, from its
 * file alone, and nothing of it can be spared. */
#include "sim/shrink.h"

#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct schedule schedule, again;
static struct choice_list passing, shorter;
static struct shrink_report report;
static struct run one;

static struct choice_list make_list(void)
{
    struct choice_list list = {.items = calloc(SCHEDULE_CHOICES_MAX, sizeof *list.items),
                               .capacity = SCHEDULE_CHOICES_MAX};
    cr_assert_not_null(list.items);
    return list;
}

static void make(void)
{
    cr_assert(schedule_make(&schedule) && schedule_make(&again));
    passing = make_list();
    shorter = make_list();
}

static void unmake(void)
{
    schedule_free(&schedule);
    schedule_free(&again);
    free(passing.items);
    free(shorter.items);
}

TestSuite(shrink, .init = make, .fini = unmake);

/* The first seed from `seed` on whose run of the scenario breaks a promise. */
static void record(const char *scenario, const char *sabotage, uint64_t seed, const bool *without)
{
    struct error error;
    cr_assert(scenario_load(scenario, schedule.scenario, &error), "%s", error.text);
    schedule.sabotaged = sabotage != NULL;
    cr_assert(sabotage == NULL || sabotage_find(sabotage, &schedule.sabotage), "%s", sabotage);
    for (uint64_t end = seed + 2000; !shrink_record(&schedule, seed, without); seed++) {
        cr_assert_lt(seed, end, "%s", sabotage);
    }
}

static void must_shrink(const bool *without)
{
    enum clause_id broken = schedule.broken;
    cr_assert(shrink(&schedule, without, &passing, &report), "%s", schedule.sabotage.name);
    cr_expect(schedule.breaks && schedule.broken == broken);
    /* Fewer faults are worth some steps, so a run may even become a little longer. */
    cr_expect_leq(report.steps_after, report.steps_before + 20);
    cr_expect_eq(report.choices_after, schedule.choices.count);
}

/* By way of a file; what is left is in `again` and a run for it is made. */
static void through_a_file(const bool *without)
{
    struct error error;
    char *text = schedule_text(&schedule);
    cr_assert(schedule_parse(text, strlen(text), "file", false, &again, &error), "%s", error.text);
    free(text);
    cr_assert(run_make(&one, again.scenario, again.sabotaged ? &again.sabotage : NULL));
    if (without != NULL) {
        memcpy(one.oracle.off, without, sizeof one.oracle.off);
    }
}

static const struct run_result *replay(const struct choice_list *list)
{
    struct choice_source source = choice_listed(list);
    return run_once(&one, &source);
}

/* What a reader has to bear: a fault counts as much as four steps. */
static uint32_t cost_of(const struct run_result *result)
{
    uint32_t faults = 0;
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        faults += result->fired[kind];
    }
    return result->steps + 4 * faults;
}

static bool breaks_as_well(const struct choice_list *list, uint32_t cost)
{
    const struct run_result *result = replay(list);
    return result->verdict == RUN_BROKEN && result->breach.clause == again.broken &&
           cost_of(result) <= cost;
}

static void leave_out(size_t at)
{
    const struct choice_list *list = &again.choices;
    memcpy(shorter.items, list->items, at * sizeof *list->items);
    memcpy(&shorter.items[at], &list->items[at + 1], (list->count - at - 1) * sizeof *list->items);
    shorter.count = list->count - 1;
}

/* (SK1), (SK2), that no entry can be spared, and that what is said to pass does. */
static void expect_shrunk_well(const char *name, const bool *without)
{
    must_shrink(without);
    through_a_file(without);
    const struct run_result *result = replay(&again.choices);
    cr_expect_eq(result->verdict, RUN_BROKEN, "%s", name);
    cr_expect_eq(result->breach.clause, schedule.broken, "%s", name);
    cr_expect_eq(result->steps, report.steps_after, "%s", name);
    uint32_t cost = cost_of(result);
    for (size_t i = 0; i < again.choices.count; i++) {
        leave_out(i);
        cr_expect_not(breaks_as_well(&shorter, cost), "%s: choice %zu can be spared", name, i + 1);
    }
    if (report.has_passing) {
        cr_expect_eq(passing.count, again.choices.count - 1, "%s", name);
        cr_expect_eq(replay(&passing)->verdict, RUN_HELD, "%s", name);
    }
    run_free(&one);
}

Test(shrink, what_is_left_of_any_named_sabotage_reproduces_it_from_its_file_and_spares_nothing)
{
    for (size_t i = 0; i < sabotage_named_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        record(sabotage.scenario, sabotage.name, 1, NULL);
        expect_shrunk_well(sabotage.name, NULL);
    }
}

/* Seeds that come later, whose runs are other ones. */
Test(shrink, whichever_run_it_began_with)
{
    static const char *const names[] = {"trust-stale-read", "assume-committed", "fresh-guid",
                                        "ceiling-race", "close-overtakes"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct sabotage sabotage;
        cr_assert(sabotage_find(names[i], &sabotage));
        for (uint64_t seed = 1000; seed <= 3000; seed += 1000) {
            record(sabotage.scenario, names[i], seed, NULL);
            expect_shrunk_well(names[i], NULL);
        }
    }
}

/* ---- how small ---------------------------------------------------------------------------------
 */

static const struct bound {
    const char *sabotage, *scenario;
    uint32_t steps;
} bounds[] = {
    {"lost-snapshot", "tree-3", 45},
    {"guid-from-full-ledger", "tree-3", 25},
    {"dimension-from-counter", "tree-3", 25},
    {"trust-stale-read", "tree-3", 25},
    {"job-state-first", "tree-3", 25},
    {"fresh-guid", "tree-3", 25},
    {"unlocked-marker-test", "tree-3", 25},
    {"unbundled-step2", "tree-3", 25},
    {"early-ack", "tree-3", 25},
    /* A second GUID must come to an activity: the trigger (13), its child (12), and the cycle's
     * message up to Step 1 (3). */
    {"literal-markers", "cycle", 28},
    {"no-ceiling", "ceilings", 28},
    /* Two Step 2s of one job must race, so all that comes before them is needed: the job is created
     * (1), the trigger runs through Leg1 (4), its task (3) and Leg2 (5), both children through Leg1
     * (8) and their tasks (6) up to Step 1 (6), then the two Step 2s: 35. Fewer workers come before
     * fewer steps: one worker races with a Step 2 of its own that lands late, which takes more. */
    {"read-then-write", "tree-3", 41},
    /* Without the task hop 26, and two more for the same reason. */
    {"read-then-write", "peer-3", 28},
    {"ceiling-before-marker", "ceilings", 25},
};

Test(shrink, what_the_documents_name_shrinks_to_what_fits_on_a_screen)
{
    for (size_t i = 0; i < COUNT(bounds); i++) {
        record(bounds[i].scenario, bounds[i].sabotage, 1, NULL);
        must_shrink(NULL);
        cr_expect_leq(report.steps_after, bounds[i].steps, "%s on %s: %u steps", bounds[i].sabotage,
                      bounds[i].scenario, report.steps_after);
    }
}

Test(shrink, what_needs_no_sibling_keeps_none)
{
    static const char *const names[] = {"lost-snapshot", "job-state-first", "fresh-guid",
                                        "dimension-from-counter"};
    for (size_t i = 0; i < COUNT(names); i++) {
        record("tree-3", names[i], 1, NULL);
        must_shrink(NULL);
        cr_expect_eq(schedule.scenario->graph.node_count, 1, "%s", names[i]);
        cr_expect_eq(schedule.scenario->workers, 1U, "%s", names[i]);
    }
    record("jobs-20", "read-then-write", 1, NULL);
    must_shrink(NULL);
    cr_expect_eq(schedule.scenario->jobs, 1U);
    cr_expect_eq(schedule.scenario->workers, 1U, "and what it sent before, which lands late");
}

/* ---- the same every time -----------------------------------------------------------------------
 */

Test(shrink, the_same_run_shrinks_to_the_same_file)
{
    static const char *const names[] = {"trust-stale-read", "lost-snapshot", "read-then-write"};
    for (size_t i = 0; i < COUNT(names); i++) {
        char *texts[2];
        uint32_t tried[2];
        for (int round = 0; round < 2; round++) {
            record("tree-3", names[i], 1, NULL);
            must_shrink(NULL);
            texts[round] = schedule_text(&schedule);
            tried[round] = report.tried;
        }
        cr_expect_str_eq(texts[0], texts[1]);
        cr_expect_eq(tried[0], tried[1]);
        free(texts[0]);
        free(texts[1]);
    }
}

Test(shrink, what_is_smallest_already_stays_as_small)
{
    record("tree-3", "job-state-first", 1, NULL);
    must_shrink(NULL);
    uint32_t steps = report.steps_after;
    must_shrink(NULL);
    cr_expect_eq(report.steps_before, steps);
    cr_expect_eq(report.steps_after, steps);
}

/* ---- other findings ----------------------------------------------------------------------------
 */

/* A smaller scenario must still say that commits can be lost, or its file would run otherwise. */
Test(shrink, commits_that_were_lost_are_lost_again)
{
    PROVES(CLAUSE_ACL_33);
    record("lossy-failover", NULL, 1, NULL);
    enum clause_id broken = schedule.broken;
    expect_shrunk_well("lossy-failover", NULL);
    cr_expect_eq(schedule.broken, broken);
    cr_expect_lt(schedule.scenario->graph.node_count, 3, "and in a smaller scenario");
    bool lost = false;
    for (size_t i = 0; i < schedule.choices.count; i++) {
        const struct choice *choice = &schedule.choices.items[i];
        lost |= choice->why == CHOICE_FAULT && choice->value == FAULT_LOSSY_FAILOVER;
    }
    cr_expect(lost);
}

/* Amounts matter where claims lapse and clocks jump; that they are halved must not leave an entry
 * that could go. */
Test(shrink, no_entry_can_be_spared_after_amounts_were_halved_either)
{
    static const char *const names[] = {"leg1/stale/mark-activity.1", "step-1/stale/mark-guid.1",
                                        "step-3/unguard/mark-guid.1"};
    for (size_t i = 0; i < COUNT(names); i++) {
        for (uint64_t seed = 1; seed <= 2001; seed += 1000) {
            record("crowd", names[i], seed, NULL);
            expect_shrunk_well(names[i], NULL);
        }
    }
}

Test(shrink, clauses_that_are_off_stay_off)
{
    bool without[CLAUSE_COUNT] = {false};
    without[CLAUSE_ACL_30] = true;
    record("tree-3", "job-state-first", 1, without);
    cr_expect_eq(schedule.broken, CLAUSE_ACL_29);
    expect_shrunk_well("job-state-first", without);
    cr_expect_eq(schedule.broken, CLAUSE_ACL_29);
}

Test(shrink, what_does_not_break_that_clause_is_left_as_it_was)
{
    record("tree-3", "lost-snapshot", 1, NULL);
    schedule.broken = CLAUSE_ACL_22;
    char *before = schedule_text(&schedule);
    cr_expect_not(shrink(&schedule, NULL, &passing, &report));
    char *after = schedule_text(&schedule);
    cr_expect_str_eq(before, after);
    free(before);
    free(after);
    schedule.broken = CLAUSE_ACL_21;
    schedule.sabotaged = false;
    cr_expect_not(shrink(&schedule, NULL, NULL, &report), "the protocol as it is holds");
}

Test(shrink, a_run_that_holds_is_recorded_as_one)
{
    struct error error;
    cr_assert(scenario_load("tree-3", schedule.scenario, &error));
    for (uint64_t seed = 1; seed <= 200; seed++) {
        cr_expect_not(shrink_record(&schedule, seed, NULL), "seed %d", (int)seed);
        cr_expect_not(schedule.breaks);
        cr_expect_eq(schedule.seed, seed);
    }
}
