/* Any bytes as a schedule that was edited by hand: refused in one line, or read, and then it runs
 * to a verdict whatever its choices are, twice the same, and is written as a file that is read
 * again.
 *
 * Bytes that happen to be a schedule are rare. So they are also put into one in the place of some
 * of its own, and taken for the choices of one, on a scenario and with a sabotage that they pick.
 */
#include "model/check.h"
#include "sim/run.h"
#include "sim/schedule.h"

#include <stdlib.h>
#include <string.h>

#define ACTIVITIES_MAX 64 /* larger scenarios are read but not run */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct schedule schedule, again;
static struct run one;

static void check_fault(const struct error *error)
{
    CHECK(memchr(error->text, '\0', sizeof error->text) != NULL);
    CHECK(strncmp(error->text, "fuzz: ", 6) == 0);
    for (const char *c = error->text; *c != '\0'; c++) {
        CHECK((unsigned char)*c >= ' ');
    }
}

static bool is_small(const struct scenario *scenario)
{
    return graph_activities(&scenario->graph, ACTIVITIES_MAX) * scenario->jobs <= ACTIVITIES_MAX;
}

static void check_runs(void)
{
    if (!is_small(schedule.scenario)) {
        return;
    }
    CHECK(run_make(&one, schedule.scenario, schedule.sabotaged ? &schedule.sabotage : NULL));
    struct choice_source source = choice_listed(&schedule.choices);
    struct run_result first = *run_once(&one, &source);
    CHECK((unsigned)first.verdict < RUN_VERDICT_COUNT);
    source = choice_listed(&schedule.choices);
    CHECK(run_once(&one, &source)->digest == first.digest);
    run_free(&one);
}

static void check_written(void)
{
    struct error error;
    char *text = schedule_text(&schedule);
    CHECK(text != NULL);
    CHECK(schedule_parse(text, strlen(text), "fuzz", false, &again, &error));
    CHECK(again.choices.count == schedule.choices.count);
    char *more = schedule_text(&again);
    CHECK(more != NULL && strcmp(text, more) == 0);
    free(text);
    free(more);
}

static void as_file(const uint8_t *data, size_t size)
{
    struct error error;
    if (!schedule_parse((const char *)data, size, "fuzz", true, &schedule, &error)) {
        check_fault(&error);
        return;
    }
    check_runs();
    check_written();
}

static struct choice choice_of(const uint8_t *bytes)
{
    struct choice choice = {.why = bytes[0] % CHOICE_WHY_COUNT, .actor = bytes[0] >> 4};
    choice.ordinal = bytes[1];
    choice.value = choice.why == CHOICE_FAULT ? 1 + bytes[2] % (FAULT_KIND_COUNT - 1U) : bytes[2];
    if (choice.why == CHOICE_WHO) {
        choice.actor = 0;
    } else if (choice.actor == 15) {
        choice.actor = CHOICE_NOBODY;
    }
    return choice;
}

/* The built-in scenarios are read once. */
static const struct scenario *builtin(size_t index)
{
    static struct scenario *scenarios[256];
    struct error error;
    CHECK(index < COUNT(scenarios));
    if (scenarios[index] == NULL) {
        scenarios[index] = malloc(sizeof *scenarios[index]);
        CHECK(scenarios[index] != NULL);
        CHECK(scenario_load(scenario_name(index), scenarios[index], &error));
    }
    return scenarios[index];
}

/* Some of the text of a sound schedule, from a place on, is replaced by the bytes. */
static void as_edit(const uint8_t *data, size_t size)
{
    static char *text, edited[8192];
    if (text == NULL) {
        static const uint8_t choices[] = {0, 3, 2, 17, 5, 2, 18, 5, 9, 33, 8, 12};
        *schedule.scenario = *builtin(0);
        schedule.sabotaged = schedule.breaks = true;
        CHECK(sabotage_find("lost-snapshot", &schedule.sabotage));
        schedule.broken = CLAUSE_ACL_21;
        schedule.choices.count = 0;
        for (size_t at = 0; at < sizeof choices; at += 3) {
            schedule.choices.items[schedule.choices.count++] = choice_of(choices + at);
        }
        choice_list_sort(&schedule.choices);
        text = schedule_text(&schedule);
        CHECK(text != NULL);
    }
    size_t length = strlen(text);
    if (size < 3 || length + size > sizeof edited) {
        return;
    }
    size_t at = (data[0] + 256U * data[1]) % length;
    size_t gone = data[2] % (length - at + 1);
    memcpy(edited, text, at);
    memcpy(edited + at, data + 3, size - 3);
    memcpy(edited + at + size - 3, text + at + gone, length - at - gone);
    as_file((const uint8_t *)edited, length + size - 3 - gone);
}

static void as_choices(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return;
    }
    *schedule.scenario = *builtin(data[0] % scenario_count());
    sabotage_get(data[1] % sabotage_count(), &schedule.sabotage);
    schedule.sabotaged =
        data[1] != 0 && schedule.sabotage.protocol == schedule.scenario->protocol; /* as run asks */
    schedule.breaks = false;
    schedule.choices.count = 0;
    for (size_t at = 2; at + 3 <= size && schedule.choices.count < SCHEDULE_CHOICES_MAX; at += 3) {
        schedule.choices.items[schedule.choices.count++] = choice_of(data + at);
    }
    choice_list_sort(&schedule.choices);
    check_runs();
    if (size % 8 == 0) { /* slow */
        check_written();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (schedule.scenario == NULL) {
        CHECK(schedule_make(&schedule) && schedule_make(&again));
    }
    as_file(data, size);
    as_edit(data, size);
    as_choices(data, size);
    return 0;
}
