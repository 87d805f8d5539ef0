/* Positive controls of the fault catalogue: of each kind, a planted bug that it exposes by itself.
 * With this kind alone the bug is found; without any fault the same scenario holds, and so does the
 * sound engine with the fault. A kind without such a bug is listed with the reason. */
#include "sim/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 1500

struct control {
    const char *sabotage;
    enum fault_kind kinds[2]; /* the one, and one that it has no effect without */
};

static const struct control controls[] = {
    {"torn-rollback", {FAULT_CRASH_BEFORE_COMMIT}},
    {"legacy-parent-resets", {FAULT_CRASH_AFTER_COMMIT}},
    {"task-done-again", {FAULT_UNKNOWN_COMMITTED}},
    {"assume-committed", {FAULT_UNKNOWN_LOST}},
    {"lets-go-at-once", {FAULT_CONNECTION_CUT}},
    {"lets-go-at-once", {FAULT_SERIALIZATION}},
    {"lets-go-at-once", {FAULT_DEADLOCK}},
    {"lets-go-at-once", {FAULT_CONNECTIONS}},
    {"inbox-by-delivery", {FAULT_DUPLICATE}},
    {"inbox-by-delivery", {FAULT_REPLAY}},
    {"inbox-check-then-insert", {FAULT_REDELIVER}},
    {"inbox-check-then-insert", {FAULT_PAUSE}},
    {"inbox-in-order", {FAULT_DELAY}},
    {"inbox-in-order", {FAULT_REORDER}},
    {"lets-go-at-once", {FAULT_RESTART}},
    {"lets-go-at-once", {FAULT_FAILOVER}},
    {"inbox-check-then-insert", {FAULT_CLOCK_FORWARD}},
    {"inbox-in-order", {FAULT_CLOCK_BACK}},
    {"illegal-accepted", {FAULT_ILLEGAL_MOVE}},
    {"retry-without-marker", {FAULT_COMMIT_LATE}},
    {"trust-stale-read", {FAULT_CRASH_COMMIT_LATE}},
    {"owner-by-name", {FAULT_SUCCESSOR}},
    {"task-without-a-clock", {FAULT_LONG_WORK}},
    {"run-without-a-clock", {FAULT_LONG_WORK}},
    {"claim-by-own-clock", {FAULT_SKEW, FAULT_LONG_WORK}},
    {"heartbeat-by-own-clock", {FAULT_SKEW, FAULT_LONG_WORK}},
};

struct without {
    enum fault_kind kind;
    const char *why;
};

#define ANEW "a run starts every worker anew when faults stop, which is this fault at any moment"

static const struct without uncontrolled[] = {
    {FAULT_CRASH_BEFORE_BEGIN, ANEW},
    {FAULT_CRASH_BEFORE_ACK, ANEW},
    {FAULT_ANSWER_CHANGED, "no planted bug relies on equal answers of a task that is run twice"},
    {FAULT_LOSSY_FAILOVER, "the sound engine breaks its promises, too: scenario lossy-failover"},
};

/* How many of the seeds break a promise, and how often the fault took effect. */
struct hunt {
    uint64_t broken, fired;
};

/* Until the first broken promise, with these two kinds of fault and no other. */
static struct hunt hunt(const char *bug, bool planted, enum fault_kind kind, enum fault_kind beside)
{
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct run *run = calloc(1, sizeof *run);
    struct error error;
    struct sabotage sabotage;
    struct hunt hunt = {0};
    cr_assert(sabotage_find(bug, &sabotage), "%s", bug);
    cr_assert(scenario_load(sabotage.scenario, scenario, &error), "%s", error.text);
    for (enum fault_kind k = FAULT_NONE; k < FAULT_KIND_COUNT; k++) {
        bool allowed = k != FAULT_NONE && (k == kind || k == beside);
        scenario->faults.rate[k] = allowed ? (struct fault_rate){1, 6} : (struct fault_rate){0, 1};
    }
    cr_assert(run_make(run, scenario, planted ? &sabotage : NULL));
    for (uint64_t seed = 1; seed <= SEEDS && hunt.broken == 0; seed++) {
        struct choice_source source = run_draw(run, seed);
        const struct run_result *result = run_once(run, &source);
        hunt.broken += result->verdict == RUN_BROKEN;
        hunt.fired += result->fired[kind];
    }
    run_free(run);
    free(run);
    free(scenario);
    return hunt;
}

Test(controls, each_kind_of_fault_exposes_a_bug_by_itself)
{
    for (size_t i = 0; i < COUNT(controls); i++) {
        const struct control *control = &controls[i];
        const char *name = fault_get(control->kinds[0])->name, *bug = control->sabotage;
        struct hunt with = hunt(bug, true, control->kinds[0], control->kinds[1]);
        struct hunt without = hunt(bug, true, FAULT_NONE, control->kinds[1]);
        cr_expect_gt(with.broken, 0U, "%s: %s", name, bug);
        cr_expect_eq(without.broken, 0U, "%s: %s", name, bug);
    }
}

Test(controls, the_sound_engine_holds_where_the_bug_does_not)
{
    for (size_t i = 0; i < COUNT(controls); i++) {
        const struct control *control = &controls[i];
        const char *name = fault_get(control->kinds[0])->name;
        struct hunt sound = hunt(control->sabotage, false, control->kinds[0], control->kinds[1]);
        cr_expect_eq(sound.broken, 0U, "%s: %s", name, control->sabotage);
        cr_expect_gt(sound.fired, 0U, "%s: %s", name, control->sabotage);
    }
}

Test(controls, every_kind_has_a_control_or_a_reason)
{
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        int found = 0;
        for (size_t i = 0; i < COUNT(controls); i++) {
            found += (int)controls[i].kinds[0] == kind;
        }
        for (size_t i = 0; i < COUNT(uncontrolled); i++) {
            found += (int)uncontrolled[i].kind == kind && strlen(uncontrolled[i].why) > 20;
        }
        cr_expect_gt(found, 0, "%s", fault_get((enum fault_kind)kind)->name);
    }
}
