#include "model/activity_engine.h"
#include "model/inbox.h"
#include "model/legacy_engine.h"
#include "model/pipeline.h"
#include "model/seq.h"
#include "scenarios/drawn.h"

#include "scenarios/tests/sound.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define NUMBERS 400

static struct scenario scenario, again;
static struct error error;

Test(drawn, every_one_is_sound_and_promises_everything)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        for (uint64_t number = 0; number < NUMBERS; number++) {
            drawn_make(protocol_at(p), number, &scenario);
            const char *unsound = sound_fault(&scenario);
            cr_assert_null(unsound, "%s\n%s", unsound, scenario.text);
            cr_expect_eq(scenario.protocol, protocol_at(p));
            cr_expect_not(scenario.breaks, "%s", scenario.text);
        }
    }
}

/* (DR1) */
Test(drawn, a_number_draws_the_same_and_another_one_another)
{
    size_t same = 0;
    for (size_t p = 0; p < protocol_count(); p++) {
        for (uint64_t number = 0; number < NUMBERS; number++) {
            char name[SCENARIO_NAME_SIZE];
            drawn_make(protocol_at(p), number, &scenario);
            snprintf(name, sizeof name, "%s-%d", drawn_family_name(protocol_at(p)), (int)number);
            cr_expect_str_eq(scenario.name, name);
            cr_assert(scenario_load(name, &again, &error), "%s", error.text);
            cr_expect_str_eq(scenario.text, again.text);
            drawn_make(protocol_at(p), number + 1, &again);
            same += strcmp(strstr(scenario.text, "level"), strstr(again.text, "level")) == 0;
        }
    }
    cr_expect_leq(same, protocol_count(), "%zu", same);
}

/* How many of the first numbers have both texts. */
static int have(const struct protocol *protocol, const char *text, const char *too)
{
    int count = 0;
    for (uint64_t number = 0; number < NUMBERS; number++) {
        drawn_make(protocol, number, &scenario);
        count += strstr(scenario.text, text) != NULL && strstr(scenario.text, too) != NULL;
    }
    return count;
}

Test(drawn, what_the_format_can_say_is_said)
{
    static const struct {
        const struct protocol *protocol;
        const char *text, *too;
    } wanted[] = {
        {&protocol_activity, "commits: literal", "hop: none"},
        {&protocol_activity, "commits: merged", "leg2: 99999999"},
        {&protocol_activity, "commits: merged", "leg1: 999"},
        {&protocol_activity, "when: even", "when: odd"},
        {&protocol_activity, "threshold: [1", "pending: {n"},
        {&protocol_activity, "threshold: [12", "cycles: {n"},
        {&protocol_activity, "n0: {to: n0, rounds", "n0: {to: n0, rounds: 3"},
        {&protocol_activity, "{to: n1, rounds", "pending: {n"},
        {&protocol_activity, "answer: 1/", "duplicate: 1/"},
        {&protocol_activity, "level: transaction", "workers: 4"},
        {&protocol_legacy, "again: {n", "when: "},
        {&protocol_legacy, "leg1: 9", "pending: {n"},
        {&protocol_legacy, "leg2: 999999", "unknown: 1/"},
        {&protocol_flow, "awaits: f1", "awaits: f2"},
        {&protocol_flow, "errors: [1", "holds: ["},
        {&protocol_flow, "pauses: [", "when: []"},
        {&protocol_seq, "drill: on", "illegal: 1/200"},
        {&protocol_seq, "exhaust", "budget: 5"},
        {&protocol_seq, "cancel", "retry"},
        {&protocol_pipeline, "jobs: 2", "needs: [e0, e1"},
        {&protocol_pipeline, "flaw: rival-reviewer", "reviews: [reject"},
        {&protocol_pipeline, "flaw: no-blocker", "verify: [fail"},
        {&protocol_pipeline, "flaw: no-payload", "flaw: other-payload"},
        {&protocol_inbox, "jobs: 8", "accounts: 4"},
    };
    for (size_t i = 0; i < COUNT(wanted); i++) {
        cr_expect_gt(have(wanted[i].protocol, wanted[i].text, wanted[i].too), 0, "\"%s\", \"%s\"",
                     wanted[i].text, wanted[i].too);
    }
}

Test(drawn, names)
{
    static const struct {
        const char *name;
        bool one, family;
    } cases[] = {
        {"drawn-key-17", true, false},  {"drawn-key", false, true},
        {"drawn-key-", false, false},   {"drawn-key-x", false, false},
        {"drawn-key-1x", false, false}, {"drawn-keys", false, false},
        {"drawn-", false, false},       {"drawn-seq-0", true, false},
        {"drawn-key--1", false, false}, {"drawn-pipeline-999999999999999999", true, false},
        {"tree-3", false, false},       {"drawn-key-1000000000000000000", false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct protocol *protocol;
        uint64_t number;
        cr_expect_eq(drawn_is_one(cases[i].name, &protocol, &number), cases[i].one, "%s",
                     cases[i].name);
        cr_expect_eq(drawn_is_family(cases[i].name, &protocol), cases[i].family, "%s",
                     cases[i].name);
    }
    cr_expect_not(scenario_load("drawn-key", &scenario, &error));
    cr_expect_str_eq(error.text, "drawn-key is many scenarios, and only a campaign runs them; name "
                                 "one: drawn-key-1");
}

Test(drawn, a_family_stands_for_all_and_has_no_faults_of_its_own)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        drawn_family(protocol_at(p), &scenario);
        cr_expect_str_eq(scenario.name, drawn_family_name(protocol_at(p)));
        cr_expect_null(sound_fault(&scenario));
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
            cr_expect_eq(scenario.faults.rate[kind].times, 0U);
        }
    }
}
