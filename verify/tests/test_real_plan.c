/* Plans of real faults: a seed has one plan, within what the scenario allows; over seeds every
 * point comes up. */
#include "verify/real_plan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct scenario *scenario;
static struct run run;
static struct real_profile profile;

static void load(const char *name)
{
    struct error error;
    cr_assert(scenario_load(name, scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, scenario, NULL));
    real_profile_make(&run, &profile);
}

static void make(void)
{
    scenario = calloc(1, sizeof *scenario);
    cr_assert_not_null(scenario);
}

static void unmake(void)
{
    run_free(&run);
    free(scenario);
}

TestSuite(real_plan, .init = make, .fini = unmake, .timeout = 120);

static struct real_plan draw(uint64_t seed, uint32_t times, bool ours)
{
    struct real_plan plan;
    cr_assert(real_plan_draw(&plan, &(struct real_plan_request){.run = &run,
                                                                .profile = &profile,
                                                                .seed = seed,
                                                                .times = times,
                                                                .claim_ms = 100,
                                                                .ours = ours}));
    return plan;
}

/* Field by field: what lies between fields is nobody's. */
static bool same_faults(const struct real_plan *one, const struct real_plan *other)
{
    bool same = one->plan.count == other->plan.count;
    for (size_t i = 0; same && i < one->plan.count; i++) {
        const struct chaos_fault *a = &one->faults[i], *b = &other->faults[i];
        same = a->kind == b->kind && a->bundle == b->bundle && a->moment == b->moment &&
               a->from == b->from && a->amount == b->amount;
    }
    return same;
}

Test(real_plan, a_seed_has_one_plan_and_another_seed_another)
{
    load("tree-7");
    unsigned same = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct real_plan one = draw(seed, 1, true), again = draw(seed, 1, true);
        struct real_plan other = draw(seed + 1, 1, true);
        cr_expect(same_faults(&one, &again));
        same += same_faults(&one, &other);
        for (size_t i = 1; i < one.plan.count; i++) {
            cr_expect_leq(one.faults[i - 1].from, one.faults[i].from);
        }
        real_plan_free(&one);
        real_plan_free(&again);
        real_plan_free(&other);
    }
    cr_expect_eq(same, 0);
}

/* How many faults of a group a plan has, those that bring others about not counted. */
static uint32_t count_of(const struct real_plan *plan, enum fault_group group)
{
    uint32_t count = 0;
    for (size_t i = 0; i < plan->plan.count; i++) {
        enum chaos_kind kind = (enum chaos_kind)plan->faults[i].kind;
        count += fault_get(fault_of_twin(kind))->group == group;
    }
    return count;
}

Test(real_plan, limits_hold_and_grow_with_the_jobs)
{
    static const enum fault_group groups[] = {FAULT_GROUP_CRASH, FAULT_GROUP_UNKNOWN,
                                              FAULT_GROUP_ABORT, FAULT_GROUP_SERVER};
    load("tree-7");
    for (uint64_t seed = 1; seed <= 200; seed++) {
        for (uint32_t times = 1; times <= 3; times += 2) {
            struct real_plan plan = draw(seed, times, true);
            for (size_t g = 0; g < COUNT(groups); g++) {
                cr_expect_leq(count_of(&plan, groups[g]),
                              times * scenario->faults.budget[groups[g]]);
            }
            real_plan_free(&plan);
        }
    }
}

Test(real_plan, what_a_scenario_does_not_allow_is_not_drawn)
{
    load("seq"); /* no duplicates, no answers; nothing is SERIALIZABLE there */
    bool drawn[CHAOS_KINDS] = {false};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct real_plan plan = draw(seed, 1, true);
        for (size_t i = 0; i < plan.plan.count; i++) {
            drawn[plan.faults[i].kind] = true;
        }
        real_plan_free(&plan);
    }
    for (int k = 0; k < CHAOS_KINDS; k++) {
        bool none = k == CHAOS_SERIALIZATION || k == CHAOS_ANSWER || k == CHAOS_SHORT_STOP ||
                    scenario->faults.rate[fault_of_twin((enum chaos_kind)k)].times == 0;
        cr_expect_eq(drawn[k], !none, "%s", fault_twin_get((enum chaos_kind)k)->name);
    }
    scenario->faults.rate[FAULT_PAUSE].times = 0;
    scenario->faults.rate[FAULT_FAILOVER].times = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct real_plan plan = draw(seed, 1, true);
        cr_expect_not(plan.fails_over);
        for (size_t i = 0; i < plan.plan.count; i++) {
            cr_expect(plan.faults[i].kind != CHAOS_STOP && plan.faults[i].kind != CHAOS_FAILOVER);
        }
        real_plan_free(&plan);
    }
}

Test(real_plan, a_stop_lasts_longer_than_a_claim)
{
    load("tree-7");
    unsigned stops = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct real_plan plan = draw(seed, 1, true);
        for (size_t i = 0; i < plan.plan.count; i++) {
            const struct chaos_fault *fault = &plan.faults[i];
            bool stop = fault->kind == CHAOS_STOP;
            stops += stop;
            cr_expect(!stop || (fault->amount > 100 && fault->moment != SHARED_SENT));
            cr_expect(fault->kind != CHAOS_SHORT_STOP || fault->amount < 100);
        }
        real_plan_free(&plan);
    }
    cr_expect_gt(stops, 50);
}

Test(real_plan, a_foreign_server_is_not_harmed)
{
    load("pipeline");
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct real_plan plan = draw(seed, 1, false);
        for (size_t i = 0; i < plan.plan.count; i++) {
            cr_expect_not(fault_twin_get((enum chaos_kind)plan.faults[i].kind)->server);
            cr_expect(plan.faults[i].moment != SHARED_SENT, "none of its processes is frozen");
        }
        real_plan_free(&plan);
    }
}

Test(real_plan, every_point_that_the_simulation_reaches_comes_up)
{
    static const enum shared_moment moments[SWEEP_SIDES] = {
        SHARED_BEFORE_BEGIN, SHARED_BEFORE_COMMIT, SHARED_AFTER_COMMIT};
    bool aimed[BUNDLE_NAME_COUNT][SHARED_MOMENTS] = {{false}};
    load("pending");
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct real_plan plan = draw(seed, 1, true);
        for (size_t i = 0; i < plan.plan.count; i++) {
            if (plan.faults[i].kind == CHAOS_KILL_AT_POINT) {
                aimed[plan.faults[i].bundle][plan.faults[i].moment] = true;
            }
        }
        real_plan_free(&plan);
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int s = 0; s < SWEEP_SIDES; s++) {
            cr_expect_eq(aimed[b][moments[s]], profile.sent[b] > 0, "%s, side %d",
                         bundle_name_text((enum bundle_name)b), s);
        }
    }
}
