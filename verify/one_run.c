#include "verify/one_run.h"

#include "reports/json_line.h"
#include "reports/line.h"
#include "sim/campaign.h"
#include "sim/shrink.h"
#include "sim/story.h"
#include "sim/teller.h"
#include "sim/trace.h"
#include "verify/counts.h"
#include "verify/finding.h"
#include "verify/live.h"
#include "verify/terminal.h"
#include "verify/watchdog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_A_PROGRESS 4096

/* ---- as it goes ------------------------------------------------------------------------------ */

/* What an observer needs to know. */
struct watcher {
    const struct one_run *one;
    enum format_kind format;
};

struct story_style one_run_style(enum format_kind format)
{
    return (struct story_style){.strong = format_strong(format),
                                .alarm = format_alarm(format),
                                .plain = format_plain(format),
                                .wrapped = format_wrapped};
}

static void write_event_json(const struct trace_line *line)
{
    json_t *object = line_make(LINE_EVENT, line_step(line->step), line_now((uint64_t)line->now),
                               line_actor(line->who), line_what(line->what),
                               line_outcome(line->outcome), line_changed(line->effect),
                               line_committed(line->committed), line_digest(line->digest));
    if (line->fault != FAULT_NONE) {
        line_add(object, line_fault(fault_get(line->fault)->name));
    }
    json_line_write(stdout, object);
}

/* Everything as it stands: what a debugger would show at a breakpoint. */
static void write_ledgers(const struct one_run *one, const struct run_event *event)
{
    struct names names = {.scenario = one->schedule->scenario, .rows = event->rows};
    printf("\nthe ledgers after step %" PRIu32 "\n", event->step);
    teller_dump(stdout, &names);
    putchar('\n');
}

static void one_run_watch(void *context, const struct run_event *event)
{
    const struct watcher *watcher = context;
    const struct one_run *one = watcher->one;
    bool wanted = one->until == 0 || event->step <= one->until;
    struct trace_words words;
    if (one->trace && wanted) {
        struct trace_line line = trace_describe(one->schedule->scenario, event, &words);
        if (one->json) {
            write_event_json(&line);
        } else {
            trace_write(stdout, &line, format_alarm(watcher->format),
                        format_plain(watcher->format));
        }
    }
    if (!one->json && event->step == one->until) {
        write_ledgers(one, event);
    }
}

/* ---- the result ------------------------------------------------------------------------------ */

static int clauses_tested(const struct run *run)
{
    int count = 0;
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        count += run->oracle.evaluated[c] > 0;
    }
    return count;
}

static void write_faults(const struct run_result *result)
{
    uint32_t sum = 0;
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        sum += result->fired[kind];
    }
    printf("%" PRIu32 " fault%s", sum, sum == 1 ? "" : "s");
    const char *separator = ": ";
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        if (result->fired[kind] > 0) {
            printf("%s%s", separator, fault_get((enum fault_kind)kind)->name);
            separator = ", ";
        }
        if (result->fired[kind] > 1) {
            printf(" (%" PRIu32 ")", result->fired[kind]);
        }
    }
}

/* "tree-3, seed 7: every promise held (47 steps, 3 faults: ...; 19 clauses put to the test)" */
static void one_run_write_summary(const struct one_run *one, const struct run *run)
{
    const struct run_result *result = &one->result;
    static const char *const verdicts[RUN_VERDICT_COUNT] = {
        [RUN_HELD] = "every promise held",
        [RUN_BROKEN] = "a promise was broken",
        [RUN_STORE_FULL] = "the simulated store is full, which says nothing",
        [RUN_GIVEN_UP] = "stopped: PostgreSQL diverged",
        [RUN_DIED] = "an engine failed a CHECK of its own"};
    const struct scenario *scenario = run->scenario;
    bool expected =
        result->verdict == RUN_BROKEN && scenario_breaks(scenario, result->breach.clause);
    printf("%s: %s%s (%" PRIu32 " steps, ", one->title, verdicts[result->verdict],
           expected ? ", as the scenario expects" : "", result->steps);
    write_faults(result);
    printf("; %d clauses put to the test)\n", clauses_tested(run));
    char why[TRACE_HALT_SIZE];
    if (trace_halted(scenario, &run->world.rows, why)) {
        printf("%s\n", why);
    }
}

/* How it ended: all was done, the protocol stopped for good, or the run was not gone through with.
 */
static void write_end(json_t *line, const struct run *run, const struct run_result *result)
{
    char why[TRACE_HALT_SIZE];
    bool halted = trace_halted(run->scenario, &run->world.rows, why);
    bool ended = result->verdict == RUN_HELD;
    line_add(line, line_end(!ended ? "stopped" : halted ? "halted" : "settled"));
    if (halted) {
        line_add(line, line_halted(why));
    }
}

/* On stdout with --json, and in results.jsonl. */
static void write_run_line(const struct one_run *one, const struct run *run)
{
    static const char *const verdicts[RUN_VERDICT_COUNT] = {[RUN_HELD] = "held",
                                                            [RUN_BROKEN] = "broken",
                                                            [RUN_STORE_FULL] = "store full",
                                                            [RUN_GIVEN_UP] = "given up",
                                                            [RUN_DIED] = "died"};
    const struct run_result *result = &one->result;
    const struct schedule *schedule = one->schedule;
    bool broken = result->verdict == RUN_BROKEN;
    char strategy[CHOICE_STRATEGY_SIZE];
    choice_strategy_text(&schedule->strategy, strategy);
    json_t *faults = json_object();
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        if (result->fired[kind] > 0) {
            json_object_set_new(faults, fault_get((enum fault_kind)kind)->name,
                                json_integer((json_int_t)result->fired[kind]));
        }
    }
    json_t *line =
        line_make(LINE_RUN, line_scenario(schedule->scenario->name), line_seed(schedule->seed),
                  line_strategy(strategy),
                  line_sabotage(schedule->sabotaged ? schedule->sabotage.name : NULL),
                  line_verdict(verdicts[result->verdict]),
                  line_clause(broken ? clause_get(result->breach.clause)->id : NULL),
                  line_why(broken ? result->breach.why : NULL), line_steps(result->steps),
                  line_transactions(result->transactions), line_digest(result->digest),
                  line_faults(faults), line_clauses((uint64_t)clauses_tested(run)));
    write_end(line, run, result);
    if (one->results == NULL) {
        if (one->json) {
            json_line_write(stdout, line);
        } else {
            json_decref(line);
        }
        return;
    }
    line_add(line, line_protocol(schedule->scenario->protocol->name), line_runs(1),
             line_evaluated(counts_evaluated(run->oracle.evaluated)),
             line_seen(counts_seen(run->oracle.seen)));
    artefacts_line(one->results, line);
}

/* ---- the story ------------------------------------------------------------------------------- */

static bool copy_schedule(const struct schedule *from, struct schedule *to)
{
    if (!schedule_make(to)) {
        return false;
    }
    struct schedule room = *to;
    *to = *from;
    to->scenario = room.scenario;
    to->choices = room.choices;
    *to->scenario = *from->scenario;
    to->choices.count = from->choices.count;
    memcpy(to->choices.items, from->choices.items,
           from->choices.count * sizeof *from->choices.items);
    return true;
}

static void write_scenario(FILE *out, const struct scenario *scenario)
{
    fprintf(out, "\nthe smaller scenario\n");
    for (const char *line = scenario->text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/* Everything that a run of the schedule needs; NULL: no memory. */
static struct run *one_run_make_run(const struct one_run *one, const struct schedule *schedule)
{
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL ||
        !run_make(run, schedule->scenario, schedule->sabotaged ? &schedule->sabotage : NULL)) {
        free(run);
        return NULL;
    }
    run->recheck_every = 1; /* one run can afford the slow way at every commit */
    memcpy(run->oracle.off, one->without, sizeof one->without);
    memcpy(run->oracle.silent, one->silent, sizeof one->silent);
    return run;
}

/* Tells the story of a schedule as it stands. */
static bool one_run_tell(FILE *out, const struct one_run *one, enum format_kind format,
                         const struct schedule *schedule, const struct choice_list *passing,
                         const char *about)
{
    struct story_style style = one_run_style(format);
    struct story story = {.choices = &schedule->choices,
                          .passing = passing,
                          .reproduce = one->reproduce,
                          .about = about};
    struct run *run = one_run_make_run(one, schedule);
    bool told = run != NULL && story_tell(out, &style, run, &story);
    if (run != NULL) {
        run_free(run);
    }
    free(run);
    return told;
}

static bool is_smaller(const struct scenario *small, const struct scenario *original)
{
    return small->text_size != original->text_size ||
           memcmp(small->text, original->text, small->text_size) != 0;
}

/* shrink() knows of clauses that are switched off, not of oracles. */
static bool can_shrink(const struct one_run *one)
{
    bool silenced = false;
    for (int i = 0; i < ORACLE_NAME_COUNT; i++) {
        silenced = silenced || one->silent[i];
    }
    return one->shrinks && !silenced;
}

/* A finding made smaller, if it could be. */
struct smaller {
    bool found;
    struct schedule schedule;
    struct choice_list passing;
    struct shrink_report report;
};

static void make_smaller(const struct one_run *one, struct smaller *small)
{
    *small = (struct smaller){.passing = {.capacity = SCHEDULE_CHOICES_MAX}};
    if (!can_shrink(one)) {
        return;
    }
    small->passing.items = calloc(SCHEDULE_CHOICES_MAX, sizeof *small->passing.items);
    bool copied = copy_schedule(one->schedule, &small->schedule);
    small->found = small->passing.items != NULL && copied &&
                   shrink(&small->schedule, one->without, &small->passing, &small->report);
    if (copied && !small->found) {
        schedule_free(&small->schedule);
    }
}

static void free_smaller(struct smaller *small)
{
    if (small->found) {
        schedule_free(&small->schedule);
    }
    free(small->passing.items);
}

static const struct choice_list *passing_of(const struct smaller *small)
{
    return small->found && small->report.has_passing ? &small->passing : NULL;
}

static bool tell_smaller(FILE *out, const struct one_run *one, enum format_kind format,
                         const struct smaller *small)
{
    const struct shrink_report *report = &small->report;
    char about[200];
    bool smaller = is_smaller(small->schedule.scenario, one->schedule->scenario);
    snprintf(about, sizeof about,
             "shrunk from %" PRIu32 " steps and %zu choices to %" PRIu32 " and %zu%s",
             report->steps_before, report->choices_before, report->steps_after,
             report->choices_after, smaller ? ", on the smaller scenario below" : "");
    bool told = one_run_tell(out, one, format, &small->schedule, passing_of(small), about);
    if (told && smaller) {
        write_scenario(out, small->schedule.scenario);
    }
    return told;
}

static void tell_story(FILE *out, const struct one_run *one, enum format_kind format,
                       const struct smaller *small)
{
    if (!small->found || !tell_smaller(out, one, format, small)) {
        one_run_tell(out, one, format, one->schedule, NULL, NULL);
    }
}

static void keep_finding(const struct one_run *one, const struct smaller *small, const char *name)
{
    char *words = NULL;
    size_t length;
    FILE *out = open_memstream(&words, &length);
    if (out == NULL) {
        return;
    }
    tell_story(out, one, FORMAT_TEXT, small);
    if (fclose(out) == 0) {
        finding_keep(one->results,
                     &(struct finding){.name = name,
                                       .full = one->schedule,
                                       .shrunk = small->found ? &small->schedule : NULL,
                                       .passing = passing_of(small),
                                       .words = words,
                                       .without = one->without,
                                       .silent = one->silent});
    }
    free(words);
}

static void note_finding(const struct one_run *one, const char *name)
{
    const struct run_result *result = &one->result;
    const struct scenario *scenario = one->schedule->scenario;
    artefacts_note(
        one->results,
        line_make(LINE_FINDING, line_name(name), line_scenario(scenario->name),
                  line_clause(clause_get(result->breach.clause)->id),
                  line_oracle(campaign_oracle_name(result->oracle)),
                  line_kind(scenario_breaks(scenario, result->breach.clause) ? "expected" : "new"),
                  line_why(result->breach.why), line_seed(one->schedule->seed),
                  line_steps(result->steps), line_runs(1), line_again(one->reproduce)));
}

static void tell_finding(const struct one_run *one, enum format_kind format)
{
    bool keeps = one->results != NULL && one->results->folder != NULL;
    bool speaks = !one->json && !one->quiet;
    struct smaller small;
    char name[FINDING_NAME_SIZE];
    finding_name(name, one->schedule->scenario->name, one->result.breach.clause,
                 campaign_oracle_name(one->result.oracle));
    const char *kept = one->kept == NULL ? name : one->kept;
    if (one->results != NULL && !one->caller_writes_finding) {
        note_finding(one, kept);
    }
    if (!keeps && !speaks) {
        return;
    }
    make_smaller(one, &small);
    if (speaks) {
        fputs(one->trace ? "\n" : "", stdout);
        tell_story(stdout, one, format, &small);
        putchar('\n');
    }
    if (keeps) {
        keep_finding(one, &small, kept);
    }
    free_smaller(&small);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* A large run takes its time, and says how far it is. */
static void show_progress(void *context, const struct run_event *event)
{
    struct live *live = context;
    if (event->step % STEPS_A_PROGRESS == 0 && live_is_due(live)) {
        live_say(live, "%" PRIu32 " steps, %.0f steps/s", event->step,
                 (double)event->step / live_seconds(live));
    }
}

/* A drawn run is recorded into the list, a listed one is replayed from it. */
static bool run_it(struct one_run *one, struct run *run, int *status)
{
    struct schedule *schedule = one->schedule;
    run->strategy = schedule->strategy;
    struct choice_source source =
        one->drawn ? run_draw(run, schedule->seed) : choice_listed(&schedule->choices);
    if (one->drawn) {
        source.record = &schedule->choices;
    }
    const struct run_result *result =
        one->runs == NULL ? run_once(run, &source) : one->runs(one->context, run, &source, status);
    if (result == NULL) {
        return false;
    }
    run_check_alive(run);
    one->result = *result;
    if (one->drawn) {
        choice_list_sort(&schedule->choices);
        schedule->breaks = one->result.verdict == RUN_BROKEN;
        schedule->broken = one->result.breach.clause;
    }
    return true;
}

bool one_run(struct one_run *one, int *status)
{
    struct schedule *schedule = one->schedule;
    if (one->runs == NULL) { /* else a server takes its time, and may not be interrupted */
        watchdog_enter();
    }
    enum format_kind format = one->json ? FORMAT_JSON : terminal_format();
    struct watcher watcher = {.one = one, .format = format};
    struct run *run = one_run_make_run(one, schedule);
    if (run == NULL) {
        fprintf(stderr, "assay %s: not enough memory for %s\n", one->verb,
                schedule->scenario->name);
        *status = CLI_UNAVAILABLE;
        return false;
    }
    struct live live = live_begin();
    bool traced = one->trace || one->until != 0;
    run->observer = traced ? one_run_watch : show_progress;
    run->observer_context = traced ? (void *)&watcher : &live;
    bool ran = run_it(one, run, status);
    live_end(&live);
    if (ran && one->result.verdict == RUN_BROKEN) {
        tell_finding(one, format);
    }
    if (ran && !one->quiet) {
        if (!one->caller_writes_run) {
            write_run_line(one, run);
        }
        if (!one->json) {
            one_run_write_summary(one, run);
        }
    }
    run_free(run);
    free(run);
    return ran;
}

/* ---- what it is worth ------------------------------------------------------------------------ */

int one_run_status(enum run_verdict verdict, bool expects_finding)
{
    if (verdict == RUN_STORE_FULL || verdict == RUN_GIVEN_UP) {
        return CLI_INCOMPLETE;
    }
    return (verdict == RUN_BROKEN) == expects_finding ? CLI_OK : CLI_BROKEN;
}
