/* The earlier ledger in the simulation: the specification's worked example as a run takes it, its
 * two known weaknesses found and shrunk, what a scenario can take for granted, and the words. */
#include "model/tests/proves.h"
#include "sim/shrink.h"
#include "sim/story.h"
#include "sim/teller.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct scenario scenario;
static struct run run;

static void make(const char *text)
{
    struct error error;
    cr_assert(strchr(text, '\n') == NULL
                  ? scenario_load(text, &scenario, &error)
                  : scenario_parse(text, strlen(text), "test", &scenario, &error),
              "%s", error.text);
    cr_assert(run_make(&run, &scenario, NULL));
}

static const struct run_result *run_seed(uint64_t seed)
{
    struct choice_source source = choice_random(seed, &scenario.faults);
    return run_once(&run, &source);
}

/* ---- the worked example -----------------------------------------------------------------------
 */

static const int64_t example[] = {INT64_C(899000000000000), INT64_C(889000000000000),
                                  INT64_C(889000001000000), INT64_C(889000001000001),
                                  INT64_C(889000002000001), INT64_C(888000002000002),
                                  INT64_C(888000003000002), INT64_C(888000002000002)};

#define JOBS 24

/* How far each trigger has followed the example; one that left it stays at -1. */
static void follow(void *context, const struct run_event *event)
{
    int *reached = context;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (change->table != TABLE_LEGACY || change->kind != ROW_UPDATED) {
            continue;
        }
        int *at = &reached[change->slot];
        int64_t ledger = row_get(event->rows, TABLE_LEGACY, change->slot, LEGACY_LEDGER);
        *at = *at >= 0 && *at < (int)COUNT(example) && example[*at] == ledger ? *at + 1 : -1;
    }
}

/* Answers of one commit are claimed in the order of their keys, which is another for every job. */
Test(legacy_runs, a_run_takes_the_integer_through_the_specifications_example)
{
    PROVES(CLAUSE_LEG_2);
    int reached[JOBS] = {0}, whole = 0;
    struct choice_source calm = choice_listed(NULL);
    make("name: example\nprotocol: legacy\njobs: 24\nworkers: 1\ntimeout: 5000\ngraph: {t: []}\n"
         "pending: {t: [[]]}\nagain: {t: 1}\n");
    run.observer = follow;
    run.observer_context = reached;
    cr_expect_eq(run_once(&run, &calm)->verdict, RUN_HELD);
    for (int i = 0; i < JOBS; i++) {
        whole += reached[i] == (int)COUNT(example);
    }
    cr_expect_gt(whole, 0);
    run_free(&run);
}

/* ---- what it is known for ----------------------------------------------------------------------
 */

static struct schedule schedule;

static void record_first(const char *name, enum clause_id clause, uint64_t seed)
{
    struct error error;
    cr_assert(scenario_load(name, schedule.scenario, &error), "%s", error.text);
    for (uint64_t end = seed + 3000;
         !shrink_record(&schedule, seed, NULL) || schedule.broken != clause; seed++) {
        cr_assert_lt(seed, end, "%s", name);
    }
}

Test(legacy_runs, its_weaknesses_are_found_from_any_seed_and_shrunk_to_less_than_20_steps)
{
    PROVES(CLAUSE_LEG_6, CLAUSE_LEG_7);
    SETTLES(ERRATUM_LEG_3);
    static const struct {
        const char *name;
        enum clause_id clause;
    } known[] = {{"legacy-replay", CLAUSE_LEG_6},
                 {"legacy-late-call", CLAUSE_LEG_7},
                 {"legacy-late-commit", CLAUSE_LEG_3}};
    for (size_t i = 0; i < 3 * COUNT(known); i++) {
        struct shrink_report report;
        cr_assert(schedule_make(&schedule));
        record_first(known[i / 3].name, known[i / 3].clause, 1 + i % 3 * 1000);
        cr_assert(shrink(&schedule, NULL, NULL, &report));
        cr_expect_eq(schedule.broken, known[i / 3].clause);
        cr_expect_lt(report.steps_after, 20U, "%s", known[i / 3].name);
        schedule_free(&schedule);
    }
}

static void wrapped(FILE *out, const char *text, int indent)
{
    (void)indent;
    fprintf(out, "%s\n", text);
}

/* The story of the shrunk schedule, to be freed. */
static char *story_of(const char *name, enum clause_id clause)
{
    static const struct story_style style = {"", "", "", wrapped};
    struct shrink_report report;
    char *text = NULL;
    size_t size = 0;
    cr_assert(schedule_make(&schedule));
    record_first(name, clause, 1);
    cr_assert(shrink(&schedule, NULL, NULL, &report));
    cr_assert(run_make(&run, schedule.scenario, NULL));
    FILE *out = open_memstream(&text, &size);
    cr_assert(story_tell(out, &style, &run,
                         &(struct story){.choices = &schedule.choices, .reproduce = "again"}));
    fclose(out);
    run_free(&run);
    schedule_free(&schedule);
    return text;
}

static void expect_words(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cr_expect_not_null(strstr(text, words[i]), "\"%s\" in\n%s", words[i], text);
    }
}

Test(legacy_runs, their_stories_name_what_a_person_would)
{
    static const char *const replay[] = {"its child was spawned a second time",
                                         "breaks     LEG-6",
                                         "save Leg2 of trigger",
                                         "integer of child#2",
                                         "Leg2 entry count  2",
                                         "Leg2 exit status  not ended"};
    static const char *const late[] = {"was counted and never undone", "undo entry of Leg2",
                                       "Leg1 entry status entered 1 time", "ended 1 time"};
    char *text = story_of("legacy-replay", CLAUSE_LEG_6);
    expect_words(text, replay, COUNT(replay));
    free(text);
    text = story_of("legacy-late-call", CLAUSE_LEG_7);
    expect_words(text, late, COUNT(late));
    free(text);
}

/* ---- what is taken for granted -----------------------------------------------------------------
 */

static int spared_crashes, spared_losses, other_crashes, other_losses;

static bool in_leg2(const struct run_event *event)
{
    return event->message != NULL && event->bundle->name != BUNDLE_CLAIM &&
           event->message[1 + MESSAGE_KIND] == MESSAGE_LEG2;
}

static void count_faults(void *context, const struct run_event *event)
{
    (void)context;
    if (event->turn == RUN_ENVIRONMENT || event->turn == RUN_SETTLE || event->fault == FAULT_NONE) {
        return;
    }
    enum fault_group group = fault_get(event->fault)->group;
    bool increments = event->bundle->name == BUNDLE_ENTER_LEG2 ||
                      event->bundle->name == BUNDLE_END_LEG2 || event->bundle->name == BUNDLE_UNDO;
    spared_crashes += group == FAULT_GROUP_CRASH && in_leg2(event);
    other_crashes += group == FAULT_GROUP_CRASH && !in_leg2(event);
    spared_losses += group == FAULT_GROUP_UNKNOWN && increments;
    other_losses += group == FAULT_GROUP_UNKNOWN && !increments;
}

Test(legacy_runs, leg2_is_spared_what_the_scenario_says_and_nothing_else_is)
{
    SETTLES(ERRATUM_LEG_3);
    make("legacy");
    run.observer = count_faults;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        cr_expect_eq(run_seed(seed)->verdict, RUN_HELD);
    }
    cr_expect(spared_crashes == 0 && spared_losses == 0);
    cr_expect(other_crashes > 100 && other_losses > 100);
    run_free(&run);
    make("name: s\nprotocol: legacy\ngraph: {t: []}\nfaults: {crash: 1/10, unknown: 1/10}\n");
    run.observer = count_faults;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        run_seed(seed);
    }
    cr_expect(spared_crashes > 10 && spared_losses > 10);
    run_free(&run);
}

Test(legacy_runs, a_preset_starts_an_integer_next_to_its_ceiling)
{
    PROVES(CLAUSE_LEG_5);
    struct choice_source calm = choice_listed(NULL);
    make("name: s\nprotocol: legacy\ngraph: {t: []}\npreset: {t: {leg1: 9, leg2: 999998}}\n");
    cr_expect_eq(run_once(&run, &calm)->verdict, RUN_HELD);
    cr_expect_eq(row_get(&run.world.rows, TABLE_LEGACY, 0, LEGACY_LEDGER), INT64_C(99999998999998),
                 "its first Leg1 entry is the tenth, and is refused");
    cr_expect_eq(run.world.rows.table[TABLE_ESCALATION].used, 1U);
    run_free(&run);
}

/* ---- words -------------------------------------------------------------------------------------
 */

static void write_line(void *context, const struct run_event *event)
{
    struct trace_words words;
    struct trace_line line = trace_describe(&scenario, event, &words);
    trace_write(context, &line, "", "");
}

/* Everything that many runs say. */
static char *trace_of(const char *text, uint64_t seeds)
{
    char *written = NULL;
    size_t size = 0;
    make(text);
    FILE *out = open_memstream(&written, &size);
    run.observer = write_line;
    run.observer_context = out;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        run_seed(seed);
    }
    teller_dump(out, &(struct names){.scenario = &scenario, .rows = &run.world.rows});
    fclose(out);
    run_free(&run);
    return written;
}

Test(legacy_runs, traces_tell_every_step_by_its_name)
{
    static const char *const words[] = {"clean up Leg1 of ",
                                        "committed, it had crashed before",
                                        "committed, it had ended before",
                                        "committed, Leg2 is closed",
                                        "nothing to do (published before)",
                                        "nothing to do (the job is there)",
                                        "state of ask cleaned up",
                                        "in dimension 1 saved 2 times",
                                        "read integer for Leg1 of ",
                                        "reads 8",
                                        "publish answers of ask",
                                        "publish children of ask (pending 1)",
                                        "Leg2 of tell (call 3)",
                                        "undo entry of ",
                                        "not published"};
    char *text = trace_of("legacy", 300);
    expect_words(text, words, COUNT(words));
    free(text);
}

Test(legacy_runs, traces_tell_jobs_and_copies_apart)
{
    static const char *const words[] = {"claim Leg1 of job 2: trigger (copy)", "job 1: child#2"};
    char *text = trace_of("name: s\nprotocol: legacy\njobs: 2\nworkers: 3\ngraph: {trigger: "
                          "[child]}\nfaults: {duplicate: 1/5}\n",
                          300);
    expect_words(text, words, COUNT(words));
    free(text);
    text = trace_of("legacy-ceilings", 100);
    cr_expect_not_null(strstr(text, "give up Leg1 of first"));
    cr_expect_not_null(strstr(text, "escalated: at its ceiling"));
    free(text);
}
