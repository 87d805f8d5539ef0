/* SPIN itself, on the smallest scopes that it is compared with: as many states as the search
 * without reductions visits, and shortest counterexamples as long. Skipped (77) where spin is
 * missing. The whole grid is measured by `assay bench explore`. */
#include "bench/spin/peer.h"
#include "bench/spin/spin.h"
#include "sim/explore.h"

#include <stdio.h>

#define SKIPPED 77
#define MEMORY  ((size_t)1 << 28)

static struct scenario scenario;

static struct explore_plan plan_of(int crashes, int duplicates)
{
    return (struct explore_plan){
        .walk = {.scenario = &scenario,
                 .bounds = {.crashes = (uint8_t)crashes, .duplicates = (uint8_t)duplicates}},
        .memory = MEMORY,
        .jobs = 1};
}

/* SPIN's answer; without one, the test cannot go on. */
static bool ask(struct spin_question question, struct spin_figures *figures)
{
    char why[200];
    question.tree = 3;
    question.counters = question.all_variables = true;
    question.megabytes = 1000;
    question.states = 1e6;
    if (!spin_measure(&question, figures, why, sizeof why)) {
        printf("FAILED: SPIN was not measured: %s\n", why);
        return false;
    }
    return true;
}

static bool counts_agree(int crashes, int duplicates)
{
    struct spin_figures spin;
    struct explore_plan plan = plan_of(crashes, duplicates);
    struct explore *explore = explore_make(&plan);
    if (explore == NULL ||
        !ask((struct spin_question){.crashes = crashes, .duplicates = duplicates}, &spin)) {
        return false;
    }
    explore_join(explore, 0);
    const struct explore_report *report = explore_finish(explore);
    bool agree =
        report->verdict == EXPLORE_HELD && spin.complete && spin.states == (double)report->states;
    printf("%s%d crashes, %d duplicates: SPIN %.0f states, the search %llu\n",
           agree ? "" : "FAILED: ", crashes, duplicates, spin.states,
           (unsigned long long)report->states);
    explore_free(explore);
    return agree;
}

static bool steps_agree(const char *name, int bug, bool unguarded)
{
    struct spin_figures spin;
    struct sabotage sabotage;
    struct explore_plan plan = plan_of(2, 1);
    plan.walk.sabotage = &sabotage;
    plan.walk.watch = peer_watch;
    struct explore *explore = sabotage_find(name, &sabotage) ? explore_make(&plan) : NULL;
    if (explore == NULL || !ask((struct spin_question){.crashes = 2,
                                                       .duplicates = 1,
                                                       .bug = bug,
                                                       .unguarded = unguarded,
                                                       .shortest = true},
                                &spin)) {
        return false;
    }
    explore_shortest(explore);
    const struct explore_report *report = explore_finish(explore);
    size_t steps = report->path_length - (report->result.settled ? 0 : 1);
    bool agree = report->verdict == EXPLORE_BROKEN && spin.depth > 0 && (size_t)spin.depth == steps;
    printf("%s%s: SPIN %d steps, the search %zu\n", agree ? "" : "FAILED: ", name, spin.depth,
           steps);
    explore_free(explore);
    return agree;
}

int main(void)
{
    struct error error;
    if (!spin_is_there()) {
        puts("SKIPPED: SPIN is not compared with: it needs the Debian packages spin and gcc");
        return SKIPPED;
    }
    if (!scenario_load("peer-3", &scenario, &error)) {
        printf("FAILED: %s\n", error.text);
        return 1;
    }
    bool agree = true;
    for (int i = 0; i < 4; i++) {
        agree = counts_agree(i / 2, i % 2) && agree;
    }
    agree = steps_agree("unbundled-step2", 1, false) && agree;
    agree = steps_agree("guid-from-full-ledger", 3, false) && agree;
    agree = steps_agree("trust-stale-read", 0, true) && agree;
    return agree ? 0 : 1;
}
