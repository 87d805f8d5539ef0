/* The sweep: that it crashes at every point there is, and finds what a single crash can break. */
#include "sim/sweep.h"

#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scenario scenario;
static struct sabotage sabotage;
static struct run run;
static struct sweep_report report;

static void load(const char *name)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
}

static void parse(const char *text)
{
    struct error error;
    cr_assert(scenario_parse(text, strlen(text), "test", &scenario, &error), "%s", error.text);
}

static void make(const char *bug)
{
    cr_assert(bug == NULL || sabotage_find(bug, &sabotage), "%s", bug);
    cr_assert(run_make(&run, &scenario, bug == NULL ? NULL : &sabotage));
}

static uint64_t crashes_fired_at(int depth)
{
    uint64_t sum = 0;
    for (int bundle = 0; bundle < BUNDLE_NAME_COUNT; bundle++) {
        for (int side = 0; side < SWEEP_SIDES; side++) {
            sum += report.by_bundle[depth][bundle][side];
        }
    }
    return sum;
}

static uint64_t crashes_fired(void)
{
    uint64_t sum = 0;
    for (int depth = 0; depth < SWEEP_DEPTH_MAX; depth++) {
        sum += crashes_fired_at(depth);
    }
    return sum;
}

/* ---- every point -------------------------------------------------------------------------------
 */

Test(sweep, at_depth_1_every_transaction_is_crashed_on_each_of_three_sides)
{
    static const char *const names[] = {"tree-3", "tree-5",  "peer-3",
                                        "cycle",  "pending", "conditional"};
    for (size_t i = 0; i < COUNT(names); i++) {
        load(names[i]);
        make(NULL);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            cr_assert(sweep(&run, seed, 1, &report, NULL, NULL));
            cr_expect_not(report.broken, "%s: %s", names[i], report.breach.breach.why);
            cr_expect_gt(report.transactions, 20U);
            cr_expect_eq(report.points[0], UINT64_C(3) * report.transactions, "%s", names[i]);
            cr_expect_eq(report.runs, 1U + report.points[0], "%s", names[i]);
            cr_expect_eq(crashes_fired(), report.points[0], "%s: all of them fired", names[i]);
            cr_expect_eq(report.points[1], 0U);
        }
        run_free(&run);
    }
}

/* The transactions of tree-3: three activities, nine messages. */
Test(sweep, each_bundle_of_tree_3_is_crashed_as_often_as_it_is_sent)
{
    static const uint64_t expected[BUNDLE_NAME_COUNT] = {
        [BUNDLE_CREATE] = 1, [BUNDLE_CLAIM] = 9,      [BUNDLE_ENTER_LEG1] = 3, [BUNDLE_LEG1] = 3,
        [BUNDLE_ANSWER] = 3, [BUNDLE_ENTER_LEG2] = 3, [BUNDLE_STEP1] = 3,      [BUNDLE_STEP2] = 3,
        [BUNDLE_STEP3] = 1,  [BUNDLE_ACK] = 9};
    load("tree-3");
    make(NULL);
    cr_assert(sweep(&run, 1, 1, &report, NULL, NULL));
    for (int bundle = 0; bundle < BUNDLE_NAME_COUNT; bundle++) {
        for (int side = 0; side < SWEEP_SIDES; side++) {
            cr_expect_eq(report.by_bundle[0][bundle][side], expected[bundle], "%s",
                         bundle_name_text((enum bundle_name)bundle));
        }
    }
    cr_expect_eq(report.transactions, 38U);
    run_free(&run);
}

/* (N2) A claim with a crash in it comes again: the second crash falls inside the recovery. */
Test(sweep, at_depth_2_every_point_after_a_crash_is_crashed_again)
{
    PROVES(CLAUSE_ACL_28, CLAUSE_ACL_29);
    static const char *const texts[] = {
        "name: one\ncommits: literal\ngraph: {trigger: []}\n",
        "name: one\ncommits: literal\nhop: none\ngraph: {trigger: []}\n",
        "name: one\ncommits: literal\nworkers: 1\ngraph: {trigger: []}\n",
        "name: one\ncommits: literal\ngraph: {trigger: []}\npending: {trigger: [[]]}\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        parse(texts[i]);
        make(NULL);
        cr_assert(sweep(&run, 7, 2, &report, NULL, NULL));
        cr_expect_not(report.broken, "%s", report.breach.breach.why);
        cr_expect_eq(report.points[0], UINT64_C(3) * report.transactions);
        cr_expect_gt(report.points[1], report.points[0] * report.transactions / 2);
        cr_expect_eq(report.runs, 1 + report.points[0] + report.points[1]);
        cr_expect_eq(crashes_fired(), report.points[0] + 2 * report.points[1], "all of them fired");
        run_free(&run);
    }
}

Test(sweep, depth_3_is_as_deep_as_it_goes)
{
    parse("name: one\ncommits: literal\nhop: none\nworkers: 1\ngraph: {trigger: []}\n");
    make(NULL);
    cr_assert(sweep(&run, 7, 3, &report, NULL, NULL));
    cr_expect_not(report.broken, "%s", report.breach.breach.why);
    cr_expect_eq(crashes_fired(), report.points[0] + 2 * report.points[1] + 3 * report.points[2]);
    cr_expect_gt(report.points[2], report.points[1]);
    run_free(&run);
}

/* ---- the same every time -----------------------------------------------------------------------
 */

Test(sweep, the_same_seed_gives_the_same_digest_and_another_one_another)
{
    uint64_t digests[3];
    load("tree-3");
    for (int i = 0; i < 3; i++) {
        make(NULL);
        cr_assert(sweep(&run, i < 2 ? 11 : 12, 1, &report, NULL, NULL));
        digests[i] = report.digest;
        run_free(&run);
    }
    cr_expect_eq(digests[0], digests[1]);
    cr_expect_neq(digests[0], digests[2]);
}

struct asked {
    int calls, stop_at;
};

static bool ask(void *context, const struct sweep_report *so_far)
{
    struct asked *asked = context;
    cr_expect_gt(so_far->runs, 0U);
    return ++asked->calls != asked->stop_at;
}

Test(sweep, it_can_be_ended_early_and_says_so)
{
    struct asked never = {.stop_at = -1}, second = {.stop_at = 2};
    parse("name: one\ncommits: literal\ngraph: {trigger: []}\n");
    make(NULL);
    cr_assert(sweep(&run, 7, 2, &report, ask, &never));
    uint64_t runs = report.runs;
    cr_expect_gt(never.calls, 2);
    cr_expect_not(sweep(&run, 7, 2, &report, ask, &second));
    cr_expect_eq(second.calls, 2);
    cr_expect_lt(report.runs, runs);
    cr_expect_not(report.broken);
    run_free(&run);
}

/* Far too many points to sweep, but no reason to fall over. */
Test(sweep, a_run_that_is_too_long_to_sweep_is_not_swept)
{
    parse("name: many\ncommits: literal\njobs: 6000\ngraph: {trigger: []}\n");
    make(NULL);
    cr_expect_not(sweep(&run, 1, 1, &report, NULL, NULL));
    cr_expect_not(report.broken);
    cr_expect_eq(report.runs, 1U);
    run_free(&run);
}

/* ---- what it finds -----------------------------------------------------------------------------
 */

struct seen {
    enum bundle_name bundle;
    enum fault_kind fault;
};

static void watch(void *context, const struct run_event *event)
{
    if (event->fault != FAULT_NONE) {
        *(struct seen *)context =
            (struct seen){(enum bundle_name)event->bundle->name, event->fault};
    }
}

/* Runs what the report says it took: the same breach again, and where its crash fell. */
static struct seen replay(uint64_t seed)
{
    struct seen seen = {BUNDLE_NAME_COUNT, FAULT_NONE};
    struct choice_list list = {
        .items = report.crashes, .count = report.crash_count, .capacity = SWEEP_DEPTH_MAX};
    struct choice_source source = choice_swept(seed, &list);
    run.observer = watch;
    run.observer_context = &seen;
    const struct run_result *result = run_once(&run, &source);
    run.observer = NULL;
    cr_expect_eq(result->verdict, RUN_BROKEN);
    cr_expect_eq(result->digest, report.breach.digest);
    cr_expect_eq(result->breach.clause, report.breach.breach.clause);
    return seen;
}

/* Swept on a scenario with a clause off: breaks `clause` with one crash right after a Step 2. */
static void expect_crash_after_step2(const char *name, const char *bug, enum clause_id off,
                                     enum clause_id clause)
{
    load(name);
    make(bug);
    if (off != CLAUSE_COUNT) {
        run.oracle.off[off] = true;
    }
    for (uint64_t seed = 1; seed <= 3; seed++) {
        cr_assert(sweep(&run, seed, 1, &report, NULL, NULL));
        cr_assert(report.broken, "%s on %s", bug, name);
        cr_expect_eq(report.breach.breach.clause, clause, "%s on %s: %s", bug, name,
                     clause_get(report.breach.breach.clause)->id);
        cr_assert_eq(report.crash_count, 1U);
        struct seen seen = replay(seed);
        cr_expect_eq(seen.bundle, BUNDLE_STEP2, "%s", bundle_name_text(seen.bundle));
        cr_expect_eq(seen.fault, FAULT_CRASH_AFTER_COMMIT);
    }
    run_free(&run);
}

Test(sweep, job_state_first_loses_step_3_to_one_crash_after_step_2)
{
    PROVES(CLAUSE_ACL_25, CLAUSE_ACL_30);
    SETTLES(ERRATUM_ACL_6);
    expect_crash_after_step2("tree-3", "job-state-first", CLAUSE_COUNT, CLAUSE_ACL_30);
    expect_crash_after_step2("peer-3", "job-state-first", CLAUSE_COUNT, CLAUSE_ACL_30);
    expect_crash_after_step2("tree-3", "job-state-first", CLAUSE_ACL_30, CLAUSE_ACL_29);
}

/* It needs no crash: the missing snapshot shows at the commit itself, and if that promise is not
 * looked at, in what its worker does next. */
Test(sweep, lost_snapshot_shows_before_any_crash_to_five_promises_in_turn)
{
    PROVES(CLAUSE_ACL_21);
    static const char *const names[] = {"tree-3", "peer-3"};
    static const enum clause_id clauses[] = {CLAUSE_ACL_21, CLAUSE_ACL_22, CLAUSE_ACL_44,
                                             CLAUSE_ACL_26, CLAUSE_ACL_41};
    for (size_t i = 0; i < 2; i++) {
        load(names[i]);
        make("lost-snapshot");
        for (size_t c = 0; c < COUNT(clauses); c++) {
            cr_assert(sweep(&run, 1, 1, &report, NULL, NULL));
            cr_expect(report.broken);
            cr_expect_eq(report.breach.breach.clause, clauses[c], "%s, not %s",
                         clause_get(report.breach.breach.clause)->id, clause_get(clauses[c])->id);
            cr_expect_eq(report.crash_count, 0U);
            cr_expect_eq(report.runs, 1U);
            run.oracle.off[clauses[c]] = true;
        }
        run_free(&run);
    }
}

Test(sweep, a_retry_is_enough_for_some_and_others_take_a_race)
{
    parse("name: one\ncommits: literal\ngraph: {trigger: []}\n");
    make("dimension-from-counter");
    cr_assert(sweep(&run, 1, 1, &report, NULL, NULL));
    cr_expect(report.broken);
    cr_expect_eq(report.breach.breach.clause, CLAUSE_ACL_32);
    cr_expect_eq(report.crash_count, 1U);
    replay(1);
    run_free(&run);
    make("trust-stale-read");
    cr_assert(sweep(&run, 1, 2, &report, NULL, NULL));
    cr_expect_not(report.broken, "two crashes, and never two workers on one message");
    run_free(&run);
}
