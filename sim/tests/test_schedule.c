/* Schedules as files: what is written is read again, and what is no schedule is refused in one line
 * that says why. */
#include "sim/schedule.h"

#include "sim/run.h"
#include "sim/shrink.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct schedule first, again;
static struct error error;

static void make(void)
{
    cr_assert(schedule_make(&first) && schedule_make(&again));
}

static void unmake(void)
{
    schedule_free(&first);
    schedule_free(&again);
}

TestSuite(schedule, .init = make, .fini = unmake);

/* The first seed of the scenario whose run breaks a promise under the sabotage. */
static void record(const char *scenario, const char *sabotage)
{
    struct error why;
    cr_assert(scenario_load(scenario, first.scenario, &why), "%s", why.text);
    cr_assert(sabotage_find(sabotage, &first.sabotage));
    first.sabotaged = true;
    uint64_t seed = 1;
    while (!shrink_record(&first, seed, NULL)) {
        cr_assert_lt(++seed, 1000U, "%s", sabotage);
    }
}

static bool parse(const char *text, size_t size, bool edited)
{
    memset(error.text, '!', sizeof error.text);
    return schedule_parse(text, size, "file.json", edited, &again, &error);
}

/* Refused, in one line that names the file. */
static void expect_refused(const char *text, size_t size, bool edited, const char *what)
{
    cr_expect_not(parse(text, size, edited), "%.*s", (int)size, text);
    cr_assert_not_null(memchr(error.text, '\0', sizeof error.text));
    cr_expect_eq(strncmp(error.text, "file.json: ", 11), 0, "%s", error.text);
    cr_expect_gt(strlen(error.text), 20U, "%s", error.text);
    for (const char *c = error.text; *c != '\0'; c++) {
        cr_expect_geq((unsigned char)*c, ' ', "%s", error.text);
    }
    cr_expect(what == NULL || strstr(error.text, what) != NULL, "%s\nnot: %s", error.text, what);
}

/* ---- there and back ----------------------------------------------------------------------------
 */

static bool same_bytes(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

static void expect_identity(void)
{
    char *text = schedule_text(&first);
    cr_assert_not_null(text);
    cr_assert(parse(text, strlen(text), false), "%s", error.text);
    char *more = schedule_text(&again);
    cr_expect_str_eq(text, more);
    cr_expect_eq(first.sabotaged, again.sabotaged);
    cr_expect_eq(first.breaks, again.breaks);
    cr_expect_eq(first.seed, again.seed);
    cr_expect_eq(first.choices.count, again.choices.count);
    for (size_t i = 0; i < first.choices.count; i++) {
        const struct choice *a = &first.choices.items[i], *b = &again.choices.items[i];
        cr_expect(a->why == b->why && a->actor == b->actor && a->ordinal == b->ordinal &&
                      a->value == b->value,
                  "choice %zu", i + 1);
    }
    cr_expect(same_bytes(first.scenario, again.scenario, sizeof *first.scenario));
    free(text);
    free(more);
}

Test(schedule, what_is_written_is_read_and_written_the_same)
{
    static const char *const sabotages[][2] = {
        {"tree-3", "lost-snapshot"},          {"tree-3", "trust-stale-read"},
        {"cycle", "literal-markers"},         {"pending", "close-overtakes"},
        {"tree-3", "step-2/stale/collate.3"}, {"last-chance", "ceiling-race"}};
    for (size_t i = 0; i < COUNT(sabotages); i++) {
        record(sabotages[i][0], sabotages[i][1]);
        cr_expect(first.breaks);
        expect_identity();
    }
}

Test(schedule, one_without_sabotage_finding_or_choices_is_one_too)
{
    struct error why;
    cr_assert(scenario_load("tree-3", first.scenario, &why));
    first.seed = UINT64_MAX;
    expect_identity();
    cr_expect_not(again.sabotaged);
    cr_expect_not(again.breaks);
    again.sabotaged = again.breaks = true; /* what was there before is forgotten */
    expect_identity();
}

Test(schedule, every_sabotage_and_every_fault_has_a_name_in_it)
{
    struct error why;
    cr_assert(scenario_load("tree-3", first.scenario, &why));
    first.sabotaged = first.breaks = true;
    first.broken = CLAUSE_ACL_21;
    for (uint32_t kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        first.choices.items[first.choices.count++] =
            (struct choice){.why = CHOICE_FAULT,
                            .actor = 255,
                            .ordinal = UINT32_MAX - FAULT_KIND_COUNT + kind,
                            .value = kind};
    }
    first.choices.items[first.choices.count++] = (struct choice){
        .why = CHOICE_AMOUNT, .actor = 255, .ordinal = UINT32_MAX, .value = UINT32_MAX};
    for (size_t i = 0; i < sabotage_count(); i++) {
        sabotage_get(i, &first.sabotage);
        expect_identity();
        cr_expect_str_eq(again.sabotage.name, first.sabotage.name);
    }
}

Test(schedule, a_strategy_other_than_random_is_told)
{
    struct error why;
    cr_assert(scenario_load("tree-3", first.scenario, &why));
    again.strategy.depth = 5; /* what was there before is forgotten */
    expect_identity();
    cr_expect_eq(again.strategy.depth, 0);
    first.strategy = (struct choice_strategy){.depth = 2, .length = 40};
    expect_identity();
    cr_expect_eq(again.strategy.depth, 2);
    cr_expect_eq(again.strategy.length, 40U);
}

/* (CO2), by way of a file. */
static void expect_same_run(uint8_t depth)
{
    static struct run run;
    first.strategy.depth = depth;
    record("tree-3", "trust-stale-read");
    char *text = schedule_text(&first);
    cr_assert(parse(text, strlen(text), false));
    free(text);
    cr_assert(run_make(&run, first.scenario, &first.sabotage));
    run.strategy = first.strategy;
    struct choice_source drawn = run_draw(&run, first.seed);
    struct run_result before = *run_once(&run, &drawn);
    run_free(&run);
    cr_assert(run_make(&run, again.scenario, &again.sabotage));
    struct choice_source listed = choice_listed(&again.choices);
    const struct run_result *after = run_once(&run, &listed);
    cr_expect_eq(before.digest, after->digest);
    cr_expect_eq(before.steps, after->steps);
    cr_expect_eq(after->breach.clause, again.broken);
    run_free(&run);
}

Test(schedule, the_run_that_was_recorded_happens_again)
{
    expect_same_run(0);
    expect_same_run(CHOICE_DEPTH_USUAL);
}

/* ---- cut short, or changed ---------------------------------------------------------------------
 */

Test(schedule, cut_short_at_any_length_it_is_refused)
{
    record("tree-3", "lost-snapshot");
    char *text = schedule_text(&first);
    size_t size = (size_t)(strrchr(text, '}') - text) + 1; /* the end of a line may go */
    for (size_t length = 0; length < size; length++) {
        char *cut = malloc(length + 1); /* so that a byte read past the end is one too many */
        memcpy(cut, text, length);
        expect_refused(cut, length, false, "cut short");
        expect_refused(cut, length, true, "cut short");
        free(cut);
    }
    free(text);
}

Test(schedule, what_is_no_json_or_no_schedule_is_refused_in_one_line_whatever_it_quotes)
{
    static const char *const texts[] = {"",
                                        "\b",
                                        "\x1b[31m",
                                        "\x7f",
                                        "{\"a\n\": 1}",
                                        "\xff\xfe",
                                        "null",
                                        "[]",
                                        "7",
                                        "{}",
                                        "{} {}",
                                        "\"\"",
                                        "{\"assay-schedule\": 1, \"assay-schedule\": 1}"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        expect_refused(texts[i], strlen(texts[i]), true, NULL);
    }
    expect_refused("{}\0", 3, true, NULL);
    char *deep = malloc(100000);
    memset(deep, '[', 100000);
    expect_refused(deep, 100000, true, NULL);
    free(deep);
}

/* The text with the first `old` in it replaced. */
static char *replaced(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    cr_assert_not_null(at, "%s", old);
    size_t size = strlen(text) + strlen(new) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return out;
}

static void expect_replaced_refused(const char *old, const char *new, const char *what)
{
    char *text = schedule_text(&first), *other = replaced(text, old, new);
    expect_refused(other, strlen(other), true, what);
    free(text);
    free(other);
}

Test(schedule, one_of_another_version_is_refused_even_if_it_was_meant_to_be_edited)
{
    static const char *const versions[][2] = {
        {"\"assay-schedule\": 1", "\"assay-schedule\": 2"},
        {"\"assay-schedule\": 1", "\"assay-schedule\": 0"},
        {"\"choice\": 2", "\"choice\": 3"},
        {"\"fault\": 1", "\"fault\": 7"},
        {"\"identity\": 1", "\"identity\": -1"},
        {"\"generator\": 1", "\"generator\": \"1\""},
        {"\"generator\": 1", "\"other\": 1"},
        {"\"versions\"", "\"version\""},
    };
    record("tree-3", "lost-snapshot");
    for (size_t i = 0; i < COUNT(versions); i++) {
        expect_replaced_refused(versions[i][0], versions[i][1], "another version");
    }
    expect_replaced_refused("\"assay-schedule\": 1", "\"schedule\": 1", "no schedule of assay's");
    expect_replaced_refused("\"assay-schedule\": 1", "\"assay-schedule\": 1.0",
                            "no schedule of assay's");
}

Test(schedule, a_strategy_that_there_is_not_is_refused)
{
    static const char *const others[] = {"\"strategy\": \"pct:9\"", "\"strategy\": 3",
                                         "\"strategy\": \"\"", "\"strategy\": null"};
    first.strategy.depth = CHOICE_DEPTH_USUAL;
    record("tree-3", "lost-snapshot");
    for (size_t i = 0; i < COUNT(others); i++) {
        expect_replaced_refused("\"strategy\": \"pct\"", others[i], "\"strategy\" is random");
    }
}

Test(schedule, one_that_was_changed_is_refused_unless_that_was_meant)
{
    static const char *const changes[][2] = {
        {"\"seed\": ", "\"seed\": 1"},
        {"\"sabotage\": \"lost-snapshot\"", "\"sabotage\": \"early-ack\""},
        {"\"breaks\": \"ACL-21\"", "\"breaks\": \"ACL-22\""},
        {"workers: 2", "workers: 3"},
        {"\"who\"", "\"who\" "}, /* a blank is no change: see below */
    };
    record("tree-3", "lost-snapshot");
    char *text = schedule_text(&first);
    for (size_t i = 0; i < COUNT(changes); i++) {
        char *other = replaced(text, changes[i][0], changes[i][1]);
        bool blank = i + 1 == COUNT(changes);
        if (blank) {
            cr_expect(parse(other, strlen(other), false), "%s", error.text);
        } else {
            expect_refused(other, strlen(other), false, "--edited");
        }
        cr_expect(parse(other, strlen(other), true), "%s", error.text);
        free(other);
    }
    char *sum = strstr(text, "\"sum\": \"");
    sum[8] = sum[8] == '0' ? '1' : '0';
    expect_refused(text, strlen(text), false, "--edited");
    cr_expect(parse(text, strlen(text), true), "%s", error.text);
    memcpy(strstr(text, ",\n \"sum\""), "}", sizeof "}");
    expect_refused(text, strlen(text), false, "--edited");
    cr_expect(parse(text, strlen(text), true), "a sum is not asked for: %s", error.text);
    free(text);
}

Test(schedule, names_that_there_are_not_are_refused)
{
    record("tree-3", "lost-snapshot");
    first.choices.items[first.choices.count++] = (struct choice){
        .why = CHOICE_FAULT, .actor = 2, .ordinal = 999, .value = FAULT_CRASH_BEFORE_ACK};
    expect_replaced_refused("\"lost-snapshot\"", "\"lost-snap\"", "sabotage");
    expect_replaced_refused("\"lost-snapshot\"", "7", "sabotage");
    expect_replaced_refused("\"lost-snapshot\"", "null", "sabotage");
    expect_replaced_refused("\"ACL-21\"", "\"ACL-210\"", "clause");
    expect_replaced_refused("\"ACL-21\"", "[]", "clause");
    expect_replaced_refused("\"crash-before-ack\"", "\"crash-before-lunch\"", "choice ");
    expect_replaced_refused("\"crash-before-ack\"", "\"none\"", "choice ");
    expect_replaced_refused("\"crash-before-ack\"", "4", "choice ");
    expect_replaced_refused("\"scenario\": \"", "\"scenario\": \"nonsense: 1\\n", "scenario:1");
    expect_replaced_refused("trigger: [left, right]", "trigger: [left, left]", "scenario:");
    expect_replaced_refused("\"scenario\": \"", "\"other\": \"", "\"scenario\"");
    expect_replaced_refused("\"seed\": ", "\"seed\": 0.", "seed");
    expect_replaced_refused("\"seed\": ", "\"seed\": [], \"x\": ", "seed");
}

/* ---- choices -----------------------------------------------------------------------------------
 */

/* A schedule of tree-3 with these choices, as JSON. */
static char *with_choices(const char *choices)
{
    struct error why;
    cr_assert(scenario_load("tree-3", first.scenario, &why));
    first.choices.count = 0;
    char *text = schedule_text(&first), *other = replaced(text, "\"choices\": []", choices);
    free(text);
    return other;
}

Test(schedule, a_choice_that_is_none_is_refused_by_its_number)
{
    static const char *const choices[] = {
        "7",
        "[]",
        "null",
        "{}",
        "[\"who\"]",
        "[\"who\", 1]",
        "[\"who\", 1, 2, 3]",
        "[\"who\", -1, 2]",
        "[\"who\", 1, -2]",
        "[\"who\", 4294967296, 2]",
        "[\"who\", 1, 4294967296]",
        "[\"who\", 1.5, 2]",
        "[\"who\", \"1\", 2]",
        "[\"anyone\", 1, 2]",
        "[0, 1, 2]",
        "[\"fault\", 1, 2]",
        "[\"fault\", 256, 2, \"pause\"]",
        "[\"fault\", -1, 2, \"pause\"]",
        "[\"fault\", 1, 4294967296, \"pause\"]",
        "[\"fault\", 1, 2, \"pause\", 3]",
        "[\"fault\", 1, 2, 14]",
        "[\"amount\", 1, 2]",
        "[\"amount\", 1, 2, \"3\"]",
        "[\"amount\", 1, 2, 4294967296]",
        "[\"amount\", 1, 2, -3]",
        "[\"amount\", 300, 2, 3]",
    };
    for (size_t i = 0; i < COUNT(choices); i++) {
        char list[200];
        snprintf(list, sizeof list, "\"choices\": [[\"who\", 3, 1], %s]", choices[i]);
        char *text = with_choices(list);
        expect_refused(text, strlen(text), true, "choice 2 is none");
        free(text);
    }
    static const char *const lists[] = {"\"choices\": {}", "\"choices\": 1", "\"chances\": []"};
    for (size_t i = 0; i < COUNT(lists); i++) {
        char *text = with_choices(lists[i]);
        expect_refused(text, strlen(text), true, "\"choices\" must be a list");
        free(text);
    }
}

/* They mean nothing in this scenario, and a run passes them over: an edited list always replays. */
Test(schedule, choices_that_nobody_can_take_are_read_and_passed_over)
{
    static struct run run;
    char *text = with_choices("\"choices\": [[\"who\", 2, 31], [\"who\", 1, 32], [\"who\", 0, "
                              "4294967295], [\"fault\", 255, 0, \"40P01\"], [\"fault\", 77, 1, "
                              "\"pause\"], [\"amount\", 1, 4294967295, 4294967295]]");
    cr_assert(parse(text, strlen(text), true), "%s", error.text);
    free(text);
    cr_expect_eq(again.choices.count, 6U);
    cr_assert(run_make(&run, again.scenario, NULL));
    struct choice_source calm = choice_listed(NULL), listed = choice_listed(&again.choices);
    uint64_t digest = run_once(&run, &calm)->digest;
    cr_expect_eq(run_once(&run, &listed)->verdict, RUN_HELD);
    cr_expect_eq(run.result.digest, digest);
    run_free(&run);
}

Test(schedule, choices_in_any_order_are_sorted_and_of_two_the_first_stays)
{
    char *text = with_choices("\"choices\": [[\"amount\", 1, 5, 9], [\"who\", 7, 2], [\"who\", 3, "
                              "1], [\"who\", 7, 1], [\"fault\", 1, 5, \"pause\"]]");
    cr_assert(parse(text, strlen(text), true), "%s", error.text);
    free(text);
    const struct choice *items = again.choices.items;
    cr_assert_eq(again.choices.count, 4U);
    cr_expect(items[0].why == CHOICE_WHO && items[0].ordinal == 3 && items[0].value == 1);
    cr_expect(items[1].why == CHOICE_WHO && items[1].ordinal == 7 && items[1].value == 2);
    cr_expect_eq(items[2].why, CHOICE_FAULT);
    cr_expect_eq(items[3].why, CHOICE_AMOUNT);
}

Test(schedule, as_many_choices_as_there_is_room_for_and_not_one_more)
{
    struct error why;
    cr_assert(scenario_load("tree-3", first.scenario, &why));
    for (uint32_t i = 0; i < SCHEDULE_CHOICES_MAX; i++) {
        first.choices.items[i] = (struct choice){.why = CHOICE_FAULT,
                                                 .actor = 255,
                                                 .ordinal = UINT32_MAX - SCHEDULE_CHOICES_MAX + i,
                                                 .value = FAULT_CRASH_BEFORE_COMMIT};
    }
    first.choices.count = SCHEDULE_CHOICES_MAX;
    char *text = schedule_text(&first);
    cr_assert(parse(text, strlen(text), false), "%s", error.text);
    cr_expect_eq(again.choices.count, (size_t)SCHEDULE_CHOICES_MAX);
    char *more = replaced(text, "\"choices\": [", "\"choices\": [[\"who\", 1, 2],");
    expect_refused(more, strlen(more), true, "at most 65536");
    free(text);
    free(more);
}

/* ---- files -------------------------------------------------------------------------------------
 */

Test(schedule, a_file_is_loaded_or_it_is_said_why_not)
{
    char path[] = "/tmp/assay-schedule-XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    record("tree-3", "lost-snapshot");
    char *text = schedule_text(&first);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    cr_expect(schedule_load(path, false, &again, &error), "%s", error.text);
    cr_expect_str_eq(again.sabotage.name, "lost-snapshot");
    cr_expect_eq(truncate(path, 100), 0);
    cr_expect_not(schedule_load(path, true, &again, &error));
    cr_expect_not_null(strstr(error.text, path), "%s", error.text);
    cr_expect_not_null(strstr(error.text, "cut short"), "%s", error.text);
    cr_expect_eq(truncate(path, 9 << 20), 0);
    cr_expect_not(schedule_load(path, true, &again, &error));
    cr_expect_not_null(strstr(error.text, "larger than any schedule"), "%s", error.text);
    unlink(path);
    cr_expect_not(schedule_load(path, true, &again, &error));
    cr_expect_not_null(strstr(error.text, "cannot be opened"), "%s", error.text);
    cr_expect_not(schedule_load("/", true, &again, &error));
    cr_expect_not_null(strstr(error.text, "cannot be"), "%s", error.text);
    free(text);
}
