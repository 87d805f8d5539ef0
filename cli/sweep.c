/* assay sweep: the same run, crashed at every point. */
#include "sim/sweep.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "reports/line.h"
#include "verify/counts.h"
#include "verify/interrupt.h"
#include "verify/live.h"
#include "verify/one_run.h"
#include "verify/watchdog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_names[SWEEP_SIDES] = {"before begin", "before commit",
                                                    "after commit"};

struct request {
    const char *scenario, *sabotage, *out;
    uint64_t seed, depth;
    bool json, expect_finding;
};

static const struct option options[] = {
    {SCENARIO_ROW(struct request)},
    {SEED_ROW(struct request)},
    {COUNTED_ROW(struct request, depth, "--depth", "D", 1, SWEEP_DEPTH_MAX), .usual = 1,
     .about = "crashes in one run"},
    {SABOTAGE_ROW(struct request)},
    {EXPECT_FINDING_ROW(struct request)},
    {JSON_ROW(struct request, ": one of type \"sweep\"")},
    {OUT_ROW(struct request, "results, a finding and a report")},
};

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

static void sweep_write_summary(const struct request *request, const struct sweep_report *report)
{
    write_table(report);
    printf("\n%s, seed %" PRIu64 ": %" PRIu32 " transactions without a crash", request->scenario,
           request->seed, report->transactions);
    for (unsigned d = 0; d < request->depth; d++) {
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
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, request->seed);
    json_t *points = json_array(), *kinds = json_object();
    for (unsigned d = 0; d < request->depth; d++) {
        json_array_append_new(points, json_integer((json_int_t)report->points[d]));
    }
    for (int side = 0; side < SWEEP_SIDES; side++) {
        json_object_set_new(kinds, fault_get(sweep_sides[side])->name,
                            json_integer((json_int_t)fired_in(report, side)));
    }
    json_t *line = line_make(
        LINE_SWEEP, line_scenario(request->scenario), line_seed_digits(seed),
        line_sabotage(request->sabotage), line_transactions(report->transactions),
        line_points(points), line_runs(report->runs), line_steps(report->steps),
        line_crashes(fired(report)), line_digest(report->digest), line_is_broken(report->broken),
        line_clause(report->broken ? clause_get(report->breach.breach.clause)->id : NULL),
        line_complete(!interrupt_seen()), line_depth(request->depth));
    counts_form(line, run->scenario);
    line_add(line, line_protocol(run->scenario->protocol->name), line_fired(kinds),
             line_crash_points(points_json(report)),
             line_evaluated(counts_evaluated(run->oracle.evaluated)),
             line_seen(counts_seen(run->oracle.seen)));
    artefacts_line(results, line);
}

static bool sweep_show_progress(void *context, const struct sweep_report *report)
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

static void sweep_tell(const struct request *request, struct schedule *schedule,
                       struct artefacts *results)
{
    int status;
    struct options_line again = options_again(&cli_sweep, request);
    struct one_run one = {.verb = cli_sweep.name,
                          .schedule = schedule,
                          .shrinks = true,
                          .title = request->scenario,
                          .reproduce = again.text,
                          .quiet = request->json,
                          .results = results,
                          .caller_writes_run = true};
    one_run(&one, &status);
    fputs(request->json ? "" : "\n", stdout);
}

static int sweep_it(const struct request *request, struct schedule *schedule, struct run *run,
                    struct artefacts *results)
{
    struct sweep_report report;
    struct live live = live_begin();
    bool done =
        sweep(run, request->seed, (unsigned)request->depth, &report, sweep_show_progress, &live);
    live_end(&live);
    if (!done && !interrupt_seen()) {
        return cli_no_memory(&cli_sweep);
    }
    if (report.broken && report.breach.verdict == RUN_STORE_FULL) {
        fputs("assay sweep: the simulated store was full; nothing is said\n", stderr);
        return CLI_INCOMPLETE;
    }
    write_line(request, results, run, &report);
    if (report.broken) {
        record(run, schedule, &report);
        sweep_tell(request, schedule, results);
    }
    if (!request->json) {
        sweep_write_summary(request, &report);
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
    watchdog_enter();
    int status = results_open(&results, &(struct results_plan){.verb = &cli_sweep,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = request->seed,
                                                               .jobs = 1});
    return status != CLI_OK
               ? status
               : results_close(&results, &cli_sweep, sweep_it(request, schedule, run, &results));
}

static int sweep_loaded(const struct request *request, struct schedule *schedule)
{
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL ||
        !run_make(run, schedule->scenario, schedule->sabotaged ? &schedule->sabotage : NULL)) {
        free(run);
        return cli_no_memory(&cli_sweep);
    }
    int status = sweep_kept(request, schedule, run);
    run_free(run);
    free(run);
    return status;
}

static int sweep_asked(void *asked, struct schedule *schedule)
{
    const struct request *request = asked;
    int status =
        load_drawn(&cli_sweep, request->scenario, request->seed, request->sabotage, schedule);
    return status == CLI_OK ? sweep_loaded(request, schedule) : status;
}

static int sweep_verb(void *request)
{
    return load_with_schedule(&cli_sweep, request, sweep_asked);
}

const struct cli_verb cli_sweep = {.name = "sweep",
                                   .about = "the same run, crashed at every point",
                                   .options = options,
                                   .option_count = COUNT(options),
                                   .request_size = sizeof(struct request),
                                   .run = sweep_verb};
