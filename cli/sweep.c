/* assay sweep: the same run, crashed at every point. */
#include "sim/sweep.h"
#include "cli/interrupt.h"
#include "cli/live.h"
#include "cli/one_run.h"
#include "cli/results.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay sweep SCENARIO --seed N [--depth D] [--sabotage NAME] [--expect-finding] "
    "[--json]\n"
    "                   [--out DIR]\n"
    "\n"
    "Runs a scenario without faults, then again and again with a crash before, inside and after\n"
    "each of its transactions; at depth 2 it crashes once more at every point of the recovery.\n"
    "The seed says who runs when.\n"
    "\n"
    "  --depth D         crashes in one run: 1, 2 or 3 (default 1)\n"
    "  --sabotage NAME   plants a bug (assay list sabotages)\n"
    "  --expect-finding  a broken promise is status 0, none is status 1\n"
    "  --json            JSON lines: one of type \"sweep\"\n"
    "  --out DIR         keep results, a finding and a report there; DIR must be empty or new\n"
    "\n"
    "Exit status: 0 every promise held at every point; 1 a promise was broken; 4 interrupted.\n"
    "\n"
    "example: assay sweep tree-7 --seed 1 --depth 2\n";

static const char *const side_names[SWEEP_SIDES] = {"before begin", "before commit",
                                                    "after commit"};

struct request {
    const char *scenario, *seed, *depth, *sabotage, *out;
    uint64_t seed_number, depth_number;
    bool json, expect_finding;
};

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    const struct cli_option options[] = {{"--seed", &request->seed, NULL},
                                         {"--depth", &request->depth, NULL},
                                         {"--sabotage", &request->sabotage, NULL},
                                         {"--out", &request->out, NULL},
                                         {"--json", NULL, &request->json},
                                         {"--expect-finding", NULL, &request->expect_finding}};
    int status =
        cli_parse(&cli_sweep, argc, argv, options, sizeof options / sizeof *options, &arguments);
    if (status != CLI_OK) {
        return status;
    }
    if (arguments.count != 1) {
        return cli_usage_error(&cli_sweep, "one SCENARIO is needed, %d were given",
                               arguments.count);
    }
    request->scenario = arguments.positional[0];
    if (request->seed == NULL || !cli_read_number(request->seed, &request->seed_number) ||
        request->seed_number > INT64_MAX) {
        return cli_usage_error(&cli_sweep,
                               "--seed N is needed: a number from 0 to 9223372036854775807");
    }
    request->depth_number = 1;
    return cli_number_option(&cli_sweep, "--depth", request->depth, 1, SWEEP_DEPTH_MAX,
                             &request->depth_number);
}

static int load(const struct request *request, struct schedule *schedule)
{
    struct scenario_fault fault;
    if (!scenario_load(request->scenario, schedule->scenario, &fault)) {
        return cli_usage_error(&cli_sweep, "%s", fault.text);
    }
    schedule->sabotaged = request->sabotage != NULL;
    if (schedule->sabotaged && !sabotage_find(request->sabotage, &schedule->sabotage)) {
        return cli_usage_error(&cli_sweep,
                               "--sabotage %s: there is none; assay list sabotages shows them",
                               cli_quote(request->sabotage).text);
    }
    schedule->seed = request->seed_number;
    return schedule->sabotaged
               ? one_run_check_sabotage(&cli_sweep, &schedule->sabotage, schedule->scenario)
               : CLI_OK;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static uint64_t fired_at(const struct sweep_report *report, int bundle, int side)
{
    uint64_t sum = 0;
    for (int depth = 0; depth < SWEEP_DEPTH_MAX; depth++) {
        sum += report->by_bundle[depth][bundle][side];
    }
    return sum;
}

static uint64_t fired_in(const struct sweep_report *report, int side)
{
    uint64_t sum = 0;
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        sum += fired_at(report, b, side);
    }
    return sum;
}

static uint64_t fired(const struct sweep_report *report)
{
    return fired_in(report, 0) + fired_in(report, 1) + fired_in(report, 2);
}

static void write_table(const struct sweep_report *report)
{
    printf("%-14s %14s %14s %14s\n", "crashed at", side_names[0], side_names[1], side_names[2]);
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        const uint64_t row[SWEEP_SIDES] = {fired_at(report, b, 0), fired_at(report, b, 1),
                                           fired_at(report, b, 2)};
        if (row[0] + row[1] + row[2] > 0) {
            printf("%-14s %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n",
                   bundle_name_text((enum bundle_name)b), row[0], row[1], row[2]);
        }
    }
}

static void write_summary(const struct request *request, const struct sweep_report *report)
{
    write_table(report);
    printf("\n%s, seed %" PRIu64 ": %" PRIu32 " transactions without a crash", request->scenario,
           request->seed_number, report->transactions);
    for (unsigned d = 0; d < request->depth_number; d++) {
        printf("; %" PRIu64 " points at depth %u", report->points[d], d + 1);
    }
    printf("\n%" PRIu64 " runs, %" PRIu64 " steps, %" PRIu64 " crashes fired, digest %016" PRIx64
           ": %s\n",
           report->runs, report->steps, fired(report), report->digest,
           report->broken     ? "a promise was broken"
           : interrupt_seen() ? "interrupted; every promise held so far"
                              : "every promise held");
}

/* [["Step 1", "before begin", 1, 369], ...] */
static json_t *points_json(const struct sweep_report *report)
{
    json_t *list = json_array();
    for (int depth = 0; depth < SWEEP_DEPTH_MAX; depth++) {
        for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
            for (int side = 0; side < SWEEP_SIDES; side++) {
                uint64_t count = report->by_bundle[depth][b][side];
                if (count > 0) {
                    json_array_append_new(
                        list, json_pack("[s, s, i, I]", bundle_name_text((enum bundle_name)b),
                                        side_names[side], depth + 1, (json_int_t)count));
                }
            }
        }
    }
    return list;
}

static void write_line(const struct request *request, struct artefacts *results,
                       const struct run *run, const struct sweep_report *report)
{
    char digest[17], seed[24];
    snprintf(digest, sizeof digest, "%016" PRIx64, report->digest);
    snprintf(seed, sizeof seed, "%" PRIu64, request->seed_number);
    json_t *points = json_array(), *kinds = json_object();
    for (unsigned d = 0; d < request->depth_number; d++) {
        json_array_append_new(points, json_integer((json_int_t)report->points[d]));
    }
    for (int side = 0; side < SWEEP_SIDES; side++) {
        json_object_set_new(kinds, fault_get(sweep_sides[side])->name,
                            json_integer((json_int_t)fired_in(report, side)));
    }
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:s?, s:I, s:o, s:I, s:I, s:I, s:s, s:b, s:s?}", "type", "sweep",
                  "scenario", request->scenario, "seed", seed, "sabotage", request->sabotage,
                  "transactions", (json_int_t)report->transactions, "points", points, "runs",
                  (json_int_t)report->runs, "steps", (json_int_t)report->steps, "crashes",
                  (json_int_t)fired(report), "digest", digest, "broken", report->broken, "clause",
                  report->broken ? clause_get(report->breach.breach.clause)->id : NULL);
    json_object_set_new(line, "complete", json_boolean(!interrupt_seen()));
    json_object_set_new(line, "depth", json_integer((json_int_t)request->depth_number));
    results_form(line, run->scenario);
    json_object_set_new(line, "protocol", json_string(run->scenario->protocol->name));
    json_object_set_new(line, "fired", kinds);
    json_object_set_new(line, "crash_points", points_json(report));
    json_object_set_new(line, "evaluated", results_evaluated(run->oracle.evaluated));
    json_object_set_new(line, "seen", results_seen(run->oracle.seen));
    artefacts_line(results, line);
}

static bool show_progress(void *context, const struct sweep_report *report)
{
    struct live *live = context;
    if (live_is_due(live)) {
        live_say(live, "%" PRIu64 " runs, %.0f runs/s, %" PRIu64 " crashes", report->runs,
                 (double)report->runs / live_seconds(live), fired(report));
    }
    return !interrupt_seen();
}

/* ---- a finding ------------------------------------------------------------------------------- */

/* The swept run as a list of choices, so that it can be shrunk and told like any other. */
static void record(struct run *run, struct schedule *schedule, const struct sweep_report *report)
{
    struct choice crashes[SWEEP_DEPTH_MAX];
    memcpy(crashes, report->crashes, sizeof crashes);
    struct choice_list list = {
        .items = crashes, .count = report->crash_count, .capacity = SWEEP_DEPTH_MAX};
    choice_list_sort(&list);
    struct choice_source source = choice_swept(schedule->seed, &list);
    schedule->choices.count = 0;
    source.record = &schedule->choices;
    run_once(run, &source);
    choice_list_sort(&schedule->choices);
    schedule->breaks = true;
    schedule->broken = report->breach.breach.clause;
}

static void tell(const struct request *request, struct schedule *schedule,
                 struct artefacts *results)
{
    char command[400];
    int status;
    snprintf(command, sizeof command, "assay sweep %s --seed %" PRIu64 " --depth %" PRIu64 "%s%s",
             request->scenario, request->seed_number, request->depth_number,
             request->sabotage == NULL ? "" : " --sabotage ",
             request->sabotage == NULL ? "" : request->sabotage);
    struct one_run one = {.verb = &cli_sweep,
                          .schedule = schedule,
                          .shrinks = true,
                          .title = request->scenario,
                          .reproduce = command,
                          .quiet = request->json,
                          .results = results,
                          .counted = true};
    one_run(&one, &status);
    fputs(request->json ? "" : "\n", stdout);
}

static int sweep_it(const struct request *request, struct schedule *schedule, struct run *run,
                    struct artefacts *results)
{
    struct sweep_report report;
    struct live live = live_begin();
    bool done = sweep(run, request->seed_number, (unsigned)request->depth_number, &report,
                      show_progress, &live);
    live_end(&live);
    if (!done && !interrupt_seen()) {
        fputs("assay sweep: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    if (report.broken && report.breach.verdict == RUN_STORE_FULL) {
        fputs("assay sweep: the simulated store was full; nothing is said\n", stderr);
        return CLI_INCOMPLETE;
    }
    write_line(request, results, run, &report);
    if (report.broken) {
        record(run, schedule, &report);
        tell(request, schedule, results);
    }
    if (!request->json) {
        write_summary(request, &report);
    }
    return !done && !report.broken                    ? CLI_INCOMPLETE
           : report.broken == request->expect_finding ? CLI_OK
                                                      : CLI_BROKEN;
}

/* Opens its results before it begins, and closes them whatever comes of it. */
static int sweep_kept(const struct request *request, struct schedule *schedule, struct run *run)
{
    struct artefacts results;
    interrupt_watch();
    int status = results_open(&results, &(struct results_plan){.verb = &cli_sweep,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = request->seed_number,
                                                               .jobs = 1});
    return status != CLI_OK
               ? status
               : results_close(&results, &cli_sweep, sweep_it(request, schedule, run, &results));
}

static int sweep_made(const struct request *request, struct schedule *schedule, struct run *run)
{
    int status = load(request, schedule);
    if (status != CLI_OK) {
        return status;
    }
    if (!run_make(run, schedule->scenario, schedule->sabotaged ? &schedule->sabotage : NULL)) {
        fputs("assay sweep: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    status = sweep_kept(request, schedule, run);
    run_free(run);
    return status;
}

static int run_verb(int argc, char **argv)
{
    struct request request = {0};
    int status = read_request(argc, argv, &request);
    if (status != CLI_OK) {
        return status;
    }
    struct schedule schedule;
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL || !schedule_make(&schedule)) {
        free(run);
        fputs("assay sweep: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    status = sweep_made(&request, &schedule, run);
    schedule_free(&schedule);
    free(run);
    return status;
}

const struct cli_verb cli_sweep = {.name = "sweep",
                                   .about = "the same run, crashed at every point",
                                   .help = help,
                                   .run = run_verb};
