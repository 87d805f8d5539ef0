/* Positive controls of faults: for each kind that was added because it was missing a planted bug
 * that only this kind exposes. With it the bug is found, without it the same scenario holds. */
#include "sim/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SEEDS        1500

struct control {
    const char *sabotage;
    enum fault_kind kinds[2]; /* FAULT_NONE: none */
};

static const struct control controls[] = {
    {"owner-by-name", {FAULT_SUCCESSOR}},       {"task-without-a-clock", {FAULT_LONG_WORK}},
    {"run-without-a-clock", {FAULT_LONG_WORK}}, {"claim-by-own-clock", {FAULT_SKEW}},
    {"heartbeat-by-own-clock", {FAULT_SKEW}},
};

/* How many of the seeds break a promise, and how often the faults took effect. */
struct hunt {
    uint64_t broken, fired;
};

static struct hunt hunt(const struct control *control, bool planted, bool allowed)
{
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct run *run = calloc(1, sizeof *run);
    struct scenario_fault fault;
    struct sabotage sabotage;
    struct hunt hunt = {0};
    cr_assert(sabotage_find(control->sabotage, &sabotage), "%s", control->sabotage);
    cr_assert(scenario_load(sabotage.scenario, scenario, &fault), "%s", fault.text);
    for (size_t k = 0; k < COUNT(control->kinds) && !allowed; k++) {
        scenario->faults.rate[control->kinds[k]] = (struct fault_rate){0, 1};
    }
    cr_assert(run_make(run, scenario, planted ? &sabotage : NULL));
    for (uint64_t seed = 1; seed <= SEEDS && hunt.broken == 0; seed++) {
        struct choice_source source = run_draw(run, seed);
        const struct run_result *result = run_once(run, &source);
        hunt.broken += result->verdict == RUN_BROKEN;
        for (size_t k = 0; k < COUNT(control->kinds); k++) {
            hunt.fired += control->kinds[k] != FAULT_NONE ? result->fired[control->kinds[k]] : 0;
        }
    }
    run_free(run);
    free(run);
    free(scenario);
    return hunt;
}

Test(controls, a_fault_exposes_its_bug_and_nothing_else_does)
{
    for (size_t i = 0; i < COUNT(controls); i++) {
        const struct control *control = &controls[i];
        struct hunt with = hunt(control, true, true), without = hunt(control, true, false);
        cr_expect_gt(with.broken, 0U, "%s", control->sabotage);
        cr_expect_eq(without.broken, 0U, "%s", control->sabotage);
        cr_expect_eq(without.fired, 0U, "%s", control->sabotage);
    }
}

Test(controls, the_sound_engine_holds_where_the_bug_does_not)
{
    for (size_t i = 0; i < COUNT(controls); i++) {
        struct hunt sound = hunt(&controls[i], false, true);
        cr_expect_eq(sound.broken, 0U, "%s", controls[i].sabotage);
        cr_expect_gt(sound.fired, 0U, "%s", controls[i].sabotage);
    }
}
