/* The core of a campaign: what is counted, bucketed and folded, and what must have been seen. */
#include "sim/campaign.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct scenario scenario;
static struct campaign_runner runner;
static struct campaign_result left, right, block;
static const bool nothing_off[CLAUSE_COUNT];

static void load(const char *name)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
}

static void make(const char *name, const char *bug)
{
    static struct sabotage sabotage;
    load(name);
    cr_assert(bug == NULL || sabotage_find(bug, &sabotage), "%s", bug);
    cr_assert(campaign_runner_make(&runner, &scenario, bug == NULL ? NULL : &sabotage));
}

/* Seeds 1 .. seeds, in blocks, each on a runner that ran `first` other blocks before. */
static void run_blocks(uint64_t seeds, uint64_t check_every, struct campaign_result *sum)
{
    campaign_result_begin(sum);
    for (uint64_t done = 0; done < seeds; done += CAMPAIGN_BLOCK) {
        uint64_t count = seeds - done < CAMPAIGN_BLOCK ? seeds - done : CAMPAIGN_BLOCK;
        campaign_block(&runner, 1 + done, count, check_every, &block);
        campaign_result_add(sum, &block);
    }
}

/* ---- folding --------------------------------------------------------------------------------- */

Test(campaign, a_block_is_the_same_whatever_ran_before_it)
{
    make("tree-3", NULL);
    campaign_block(&runner, 65, 64, 0, &left);
    campaign_block(&runner, 1, 64, 0, &block);
    campaign_block(&runner, 65, 64, 0, &right);
    cr_expect_eq(left.digest, right.digest);
    cr_expect_eq(memcmp(&left.tally, &right.tally, sizeof left.tally), 0);
    cr_expect_neq(left.digest, block.digest);
    campaign_runner_free(&runner);
}

/* (CA1) */
Test(campaign, blocks_may_run_in_any_order_if_they_are_added_in_theirs)
{
    static struct campaign_result blocks[4];
    make("cycle", NULL);
    campaign_result_begin(&left);
    campaign_result_begin(&right);
    for (int i = 3; i >= 0; i--) {
        campaign_block(&runner, 1 + (uint64_t)i * CAMPAIGN_BLOCK, CAMPAIGN_BLOCK, 0, &blocks[i]);
    }
    for (int i = 0; i < 4; i++) {
        campaign_result_add(&left, &blocks[i]);
    }
    run_blocks(4 * (uint64_t)CAMPAIGN_BLOCK, 0, &right);
    cr_expect_eq(left.digest, right.digest);
    cr_expect_eq(memcmp(&left.tally, &right.tally, sizeof left.tally), 0);
    campaign_runner_free(&runner);
}

Test(campaign, the_digest_knows_the_order)
{
    cr_expect_neq(campaign_fold(campaign_fold(1, 2), 3), campaign_fold(campaign_fold(1, 3), 2));
    cr_expect_neq(campaign_fold(1, 0), campaign_fold(campaign_fold(1, 0), 0));
}

Test(campaign, a_run_that_is_made_twice_counts_once)
{
    make("tree-3", NULL);
    run_blocks(100, 0, &left);
    run_blocks(100, 1, &right);
    cr_expect_eq(left.tally.checked, 0);
    cr_expect_eq(right.tally.checked, 100);
    right.tally.checked = 0;
    cr_expect_eq(left.digest, right.digest);
    cr_expect_eq(left.tally.runs, 100);
    cr_expect_eq(memcmp(&left.tally, &right.tally, sizeof left.tally), 0);
    cr_expect_not(right.drift.found);
    campaign_runner_free(&runner);
}

Test(campaign, one_seed_in_64_is_made_twice_by_default)
{
    make("tree-3", NULL);
    run_blocks(3 * (uint64_t)CAMPAIGN_BLOCK + 1, CAMPAIGN_CHECK_USUAL, &left);
    cr_expect_eq(left.tally.checked, 4);
    campaign_runner_free(&runner);
}

/* ---- buckets --------------------------------------------------------------------------------- */

static struct campaign_result with_finding(enum clause_id clause, enum oracle_name oracle,
                                           uint64_t seed, uint32_t steps, const char *why)
{
    static struct campaign_result one;
    campaign_result_begin(&one);
    one.tally.runs = 1;
    one.tally.findings = 1;
    one.bucket_count = 1;
    one.buckets[0] = (struct campaign_bucket){.clause = clause,
                                              .oracle = oracle,
                                              .count = 1,
                                              .first_seed = seed,
                                              .seed = seed,
                                              .steps = steps,
                                              .why = why};
    return one;
}

Test(campaign, a_bucket_keeps_the_first_seed_and_the_shortest)
{
    static const struct {
        uint64_t seed;
        uint32_t steps;
        const char *why;
    } found[] = {{3, 40, "a"}, {5, 30, "b"}, {8, 30, "c"}, {9, 50, "d"}};
    campaign_result_begin(&left);
    for (size_t i = 0; i < COUNT(found); i++) {
        right = with_finding(CLAUSE_ACL_21, ORACLE_SEMAPHORE, found[i].seed, found[i].steps,
                             found[i].why);
        campaign_result_add(&left, &right);
    }
    cr_assert_eq(left.bucket_count, 1);
    cr_expect_eq(left.buckets[0].count, 4);
    cr_expect_eq(left.buckets[0].first_seed, 3);
    cr_expect_eq(left.buckets[0].seed, 5);
    cr_expect_eq(left.buckets[0].steps, 30);
    cr_expect_str_eq(left.buckets[0].why, "b");
}

Test(campaign, another_clause_or_another_oracle_is_another_bucket)
{
    campaign_result_begin(&left);
    right = with_finding(CLAUSE_ACL_21, ORACLE_SEMAPHORE, 1, 10, "");
    campaign_result_add(&left, &right);
    right = with_finding(CLAUSE_ACL_22, ORACLE_SEMAPHORE, 2, 10, "");
    campaign_result_add(&left, &right);
    right = with_finding(CLAUSE_ACL_21, ORACLE_DATA, 3, 10, "");
    campaign_result_add(&left, &right);
    cr_expect_eq(left.bucket_count, 3);
    cr_expect_eq(left.buckets[2].first_seed, 3);
}

Test(campaign, a_planted_bug_fills_a_bucket_whose_seed_breaks_the_same_promise_again)
{
    make("tree-3", "lost-snapshot");
    run_blocks(1000, 0, &left);
    cr_assert_gt(left.bucket_count, 0);
    uint64_t runs = 0;
    for (size_t i = 0; i < left.bucket_count; i++) {
        const struct campaign_bucket *bucket = &left.buckets[i];
        const struct run_result *result = campaign_seed(&runner.run, bucket->seed);
        runs += bucket->count;
        cr_expect_eq(result->verdict, RUN_BROKEN);
        cr_expect_eq(result->breach.clause, bucket->clause);
        cr_expect_eq(result->oracle, bucket->oracle);
        cr_expect_eq(result->steps, bucket->steps);
        cr_expect_str_eq(result->breach.why, bucket->why);
    }
    cr_expect_eq(runs, left.tally.findings);
    campaign_runner_free(&runner);
}

Test(campaign, an_oracle_that_is_switched_off_reports_nothing)
{
    make("tree-3", "lost-snapshot");
    runner.run.oracle.silent[ORACLE_SEMAPHORE] = true;
    run_blocks(640, 0, &left);
    for (size_t i = 0; i < left.bucket_count; i++) {
        cr_expect_neq(left.buckets[i].oracle, ORACLE_SEMAPHORE);
    }
    campaign_runner_free(&runner);
}

/* ---- chains ---------------------------------------------------------------------------------- */

static struct campaign_step steps[2][8];

/* Two chains of `counts` equal steps. */
static void two_chains(struct campaign_chain chains[2], size_t first, size_t second)
{
    size_t counts[2] = {first, second};
    for (int c = 0; c < 2; c++) {
        for (size_t i = 0; i < 8; i++) {
            steps[c][i] = (struct campaign_step){.digest = 100 + i,
                                                 .turn = RUN_TRANSACTION,
                                                 .actor = (uint8_t)(1 + i % 2),
                                                 .fault = FAULT_NONE,
                                                 .bundle = BUNDLE_STEP1};
        }
        chains[c] = (struct campaign_chain){
            .steps = steps[c], .count = counts[c], .capacity = 8, .digest = 7};
    }
}

Test(campaign, equal_chains_do_not_differ)
{
    struct campaign_chain chains[2];
    struct campaign_drift drift = {0};
    two_chains(chains, 8, 8);
    cr_expect_not(campaign_chain_differs(&chains[0], &chains[1], &drift));
    cr_expect_not(drift.found);
}

Test(campaign, the_first_step_that_differs_is_named)
{
    struct campaign_chain chains[2];
    struct campaign_drift drift = {0};
    char text[400];
    two_chains(chains, 8, 8);
    steps[1][5].digest++;
    steps[1][5].actor = 2;
    steps[1][5].fault = FAULT_CRASH_AFTER_COMMIT;
    steps[1][5].bundle = BUNDLE_STEP2;
    steps[0][5].actor = 1;
    steps[1][7].digest++;
    load("tree-3");
    cr_assert(campaign_chain_differs(&chains[0], &chains[1], &drift));
    cr_expect_eq(drift.step, 6);
    campaign_drift_text(&scenario, &drift, text, sizeof text);
    cr_expect_str_eq(text, "step 6: worker 1, Step 1, fault none, digest 0000000000000069; again: "
                           "worker 2, Step 2, fault crash-after-commit, digest 000000000000006a");
}

Test(campaign, a_row_that_differs_shows_in_the_digest_alone)
{
    struct campaign_chain chains[2];
    struct campaign_drift drift = {0};
    two_chains(chains, 8, 8);
    steps[0][2].digest ^= 1;
    cr_assert(campaign_chain_differs(&chains[0], &chains[1], &drift));
    cr_expect_eq(drift.step, 3);
    cr_expect_eq(drift.ran[0].bundle, BUNDLE_STEP1);
}

Test(campaign, a_chain_that_ends_early_differs)
{
    struct campaign_chain chains[2];
    struct campaign_drift drift = {0};
    char text[400];
    two_chains(chains, 8, 4);
    cr_assert(campaign_chain_differs(&chains[0], &chains[1], &drift));
    cr_expect_eq(drift.step, 5);
    cr_expect(drift.ended[1]);
    cr_expect_not(drift.ended[0]);
    scenario.protocol = protocol_at(0);
    campaign_drift_text(&scenario, &drift, text, sizeof text);
    cr_expect(strstr(text, "again: no such step") != NULL, "%s", text);
}

Test(campaign, another_verdict_after_equal_steps_differs)
{
    struct campaign_chain chains[2];
    struct campaign_drift drift = {0};
    char text[400];
    two_chains(chains, 8, 8);
    chains[1].digest++;
    cr_assert(campaign_chain_differs(&chains[0], &chains[1], &drift));
    campaign_drift_text(&scenario, &drift, text, sizeof text);
    cr_expect_str_eq(text, "every step is the same and the verdict is not");
}

/* (U3) A world that leaks from one run into the next: here, how long a claim lasts. */
Test(campaign, a_leak_between_two_runs_is_found)
{
    make("tree-3", NULL);
    bool found = false;
    for (uint64_t seed = 1; seed <= 200 && !found; seed++) {
        struct campaign_drift drift = {0};
        campaign_record(&runner, seed, 0);
        runner.run.rules.timeout++;
        campaign_record(&runner, seed, 1);
        runner.run.rules.timeout--;
        found = campaign_chain_differs(&runner.chains[0], &runner.chains[1], &drift);
        cr_expect(!found || (drift.step > 0 && drift.step <= runner.chains[0].count));
    }
    cr_expect(found);
    campaign_runner_free(&runner);
}

Test(campaign, a_record_covers_every_step)
{
    make("jobs-20", NULL);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        campaign_record(&runner, seed, 0);
        cr_expect_eq(runner.chains[0].count, runner.run.result.steps);
        cr_expect_eq(runner.chains[0].steps[runner.chains[0].count - 1].digest,
                     runner.run.result.digest);
    }
    campaign_runner_free(&runner);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static struct campaign_gate missed[CAMPAIGN_GATES_MAX];

/* A result in which everything was seen. */
static void see_everything(struct campaign_result *result)
{
    campaign_result_begin(result);
    for (int i = 0; i < FAULT_KIND_COUNT; i++) {
        result->tally.fired[i] = 1;
    }
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        result->tally.evaluated[i] = 1;
    }
    for (int i = 0; i < COVER_COUNT; i++) {
        result->tally.seen[i] = 1;
    }
}

static void expect_missed(const char *text)
{
    char told[256];
    cr_assert_eq(campaign_gates(&scenario, &left, nothing_off, missed), 1, "not one: %s", text);
    campaign_gate_text(&missed[0], told, sizeof told);
    cr_expect_str_eq(told, text);
}

Test(gates, are_met_when_everything_was_seen)
{
    load("thresholds");
    see_everything(&left);
    cr_expect_eq(campaign_gates(&scenario, &left, nothing_off, missed), 0);
}

Test(gates, miss_a_fault_that_never_fell)
{
    load("tree-3");
    see_everything(&left);
    left.tally.fired[FAULT_CLOCK_BACK] = 0;
    left.tally.fired[FAULT_LOSSY_FAILOVER] = 0; /* tree-3 does not allow it */
    expect_missed("tree-3: the fault clock-back is allowed and never fell");
}

Test(gates, miss_one_resume_point_of_five)
{
    load("tree-3");
    see_everything(&left);
    left.tally.seen[COVER_RESUME_SPAWNED] = 0;
    expect_missed("tree-3: ACL-24 is to be reached, and never was: a GUID was entered again with "
                  "its children spawned, job open");
}

Test(gates, miss_a_threshold_only_where_the_scenario_has_it)
{
    load("thresholds");
    see_everything(&left);
    left.tally.seen[COVER_THRESHOLD_12] = 0;
    expect_missed("thresholds: ACL-23 is to be reached, and never was: a Step 2 landed on "
                  "threshold 12");
    scenario.threshold_count = 2; /* 0 and 1 */
    cr_expect_eq(campaign_gates(&scenario, &left, nothing_off, missed), 0);
}

Test(gates, miss_a_clause_without_sightings_that_was_never_evaluated)
{
    load("ceilings");
    see_everything(&left);
    left.tally.evaluated[CLAUSE_ACL_15] = 0;
    expect_missed("ceilings: ACL-15 is to be reached and was never put to the test");
}

Test(gates, do_not_ask_for_a_clause_that_is_off)
{
    bool off[CLAUSE_COUNT] = {[CLAUSE_ACL_15] = true, [CLAUSE_ACL_34] = true};
    load("ceilings");
    see_everything(&left);
    left.tally.evaluated[CLAUSE_ACL_15] = 0;
    left.tally.seen[COVER_REPLAY_LEG2_AFTER_ACK] = 0;
    cr_expect_eq(campaign_gates(&scenario, &left, off, missed), 0);
}

Test(gates, miss_a_promise_that_is_to_be_broken_and_held)
{
    load("lossy-failover");
    see_everything(&left);
    expect_missed("lossy-failover: ACL-33 is to be broken, and held");
    right = with_finding(CLAUSE_ACL_11, ORACLE_LEDGER, 1, 10, "");
    campaign_result_add(&left, &right); /* another one will not do */
    expect_missed("lossy-failover: ACL-33 is to be broken, and held");
    right = with_finding(CLAUSE_ACL_33, ORACLE_LEDGER, 2, 10, "");
    campaign_result_add(&left, &right);
    cr_expect_eq(campaign_gates(&scenario, &left, nothing_off, missed), 0);
}

Test(gates, miss_runs_that_had_no_room)
{
    load("tree-3");
    see_everything(&left);
    left.tally.full = 1;
    expect_missed("tree-3: runs ended because the simulated store ran out of room");
}

Test(gates, of_all_scenarios_ask_for_safe_and_live_clauses)
{
    static struct campaign_gate all[CLAUSE_COUNT];
    bool off[CLAUSE_COUNT] = {0};
    char told[256];
    see_everything(&left);
    left.tally.evaluated[CLAUSE_ACL_19] = 0; /* safe */
    left.tally.evaluated[CLAUSE_ACL_29] = 0; /* live */
    left.tally.evaluated[CLAUSE_ACL_3] = 0;  /* fmt: unit tests */
    left.tally.evaluated[CLAUSE_SEQ_1] = 0;  /* another family */
    cr_assert_eq(campaign_gates_of_all(CLAUSE_FAMILY_ACL, &left.tally, off, all), 2);
    campaign_gate_text(&all[0], told, sizeof told);
    cr_expect_str_eq(told, "ACL-19 was never put to the test in any scenario");
    off[CLAUSE_ACL_19] = true;
    cr_expect_eq(campaign_gates_of_all(CLAUSE_FAMILY_ACL, &left.tally, off, all), 1);
}

Test(gates, of_tree_3_are_met_by_a_thousand_seeds)
{
    make("tree-3", NULL);
    run_blocks(1000, CAMPAIGN_CHECK_USUAL, &left);
    cr_expect_eq(left.tally.findings, 0);
    cr_expect_eq(campaign_gates(&scenario, &left, nothing_off, missed), 0);
    campaign_runner_free(&runner);
}

/* ---- names ----------------------------------------------------------------------------------- */

Test(campaign, oracles_are_found_by_their_names)
{
    enum oracle_name found;
    for (int i = 0; i < ORACLE_NAME_COUNT; i++) {
        cr_assert(campaign_oracle_find(campaign_oracle_name((enum oracle_name)i), &found));
        cr_expect_eq((int)found, i);
    }
    cr_expect_not(campaign_oracle_find("ledgers", &found));
}

Test(campaign, seeds_of_a_family_run_the_scenarios_that_they_draw)
{
    static struct scenario drawn;
    static struct campaign_runner of_one;
    static struct campaign_result one;
    for (size_t p = 0; p < protocol_count(); p++) {
        uint64_t number = 5;
        drawn_family(protocol_at(p), &scenario);
        drawn_make(protocol_at(p), number, &drawn);
        cr_assert(campaign_runner_make(&runner, &scenario, NULL));
        cr_assert(campaign_runner_make(&of_one, &drawn, NULL));
        uint64_t first = DRAWN_SEEDS * number;
        cr_assert(campaign_block(&runner, first - 8, DRAWN_SEEDS, 0, &block)); /* of two */
        cr_assert(campaign_block(&runner, first, DRAWN_SEEDS, 0, &block));
        cr_assert(campaign_block(&of_one, first, DRAWN_SEEDS, 0, &one));
        cr_expect_eq(block.digest, one.digest, "%s", drawn.name);
        cr_expect_eq(memcmp(&block.tally, &one.tally, sizeof one.tally), 0, "%s", drawn.name);
        cr_expect_eq(campaign_scenario(&drawn, 1, &scenario), &drawn);
        campaign_runner_free(&runner);
        campaign_runner_free(&of_one);
    }
}
