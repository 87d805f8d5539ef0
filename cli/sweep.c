/* assay sweep: the same run, crashed at every point. */
#include "sim/sweep.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "cli/sweep_counts.h"
#include "reports/line.h"
#include "verify/counts.h"
#include "verify/interrupt.h"
#include "verify/live.h"
#include "verify/one_run.h"
#include "verify/watchdog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *scenario, *sabotage, *shard, *out;
    uint64_t seed, depth;
    bool json, expect_finding;
};

static const struct option options[] = {
    {SCENARIO_ROW(struct request)},
    {SEED_ROW(struct request)},
    {COUNTED_ROW(struct request, depth, "--depth", "D", 1, SWEEP_DEPTH_MAX), .usual = 1,
     .about = "crashes in one run"},
    {TEXT_ROW(struct request, shard, "--shard", "K/N"), .names = NAMES_OF_NOTHING,
     .again = AGAIN_NEVER,
     .about =
         "only every Nth point at depth 1, from the Kth on, with all below it; assay merge puts "
         "shards together to what the sweep is without it"},
    {SABOTAGE_ROW(struct request)},
    {EXPECT_FINDING_ROW(struct request)},
    {JSON_ROW(struct request, ": one of type \"sweep\"")},
    {OUT_ROW(struct request, "results, a finding and a report")},
};

/* ---- what it says ---------------------------------------------------------------------------- */

static void write_table(const struct sweep_report *report)
{
    printf("%-14s %14s %14s %14s\n", "crashed at", sweep_side_names[0], sweep_side_names[1],
           sweep_side_names[2]);
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        const uint64_t row[SWEEP_SIDES] = {sweep_fired_at(report, b, 0),
                                           sweep_fired_at(report, b, 1),
                                           sweep_fired_at(report, b, 2)};
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
           report->runs, report->steps, sweep_fired(report), report->digest,
           report->broken     ? "a promise was broken"
           : interrupt_seen() ? "interrupted; every promise held so far"
                              : "every promise held");
}

/* A sweep as it goes, and what was counted when the last block ended. */
struct sweeping {
    const struct request *request;
    struct artefacts *results;
    struct run *run;
    struct sweep_share share;
    struct live live;
    struct sweep_report before;
    uint64_t evaluated[CLAUSE_COUNT], seen[COVER_COUNT];
};

static void subtract(uint64_t *now, const uint64_t *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        now[i] -= before[i];
    }
}

/* What a block counted by itself: assay merge adds blocks up to the first that broke a promise. */
static void write_block(void *context, uint64_t block, const struct sweep_report *report,
                        uint64_t digest)
{
    struct sweeping *sweeping = context;
    const struct oracle *oracle = &sweeping->run->oracle;
    struct sweep_report of = *report;
    uint64_t evaluated[CLAUSE_COUNT], seen[COVER_COUNT];
    memcpy(evaluated, oracle->evaluated, sizeof evaluated);
    memcpy(seen, oracle->seen, sizeof seen);
    subtract(evaluated, sweeping->evaluated, CLAUSE_COUNT);
    subtract(seen, sweeping->seen, COVER_COUNT);
    subtract(of.points, sweeping->before.points, SWEEP_DEPTH_MAX);
    subtract(of.by_bundle[0][0], sweeping->before.by_bundle[0][0],
             sizeof of.by_bundle / sizeof(uint64_t));
    artefacts_line(
        sweeping->results,
        line_make(LINE_SWEEP_BLOCK, line_block(block),
                  line_runs(report->runs - sweeping->before.runs),
                  line_points(sweep_points(of.points, sweeping->request->depth)),
                  line_steps(report->steps - sweeping->before.steps), line_digest(digest),
                  line_is_broken(report->broken), line_crash_points(sweep_crash_points(&of)),
                  line_evaluated(counts_evaluated(evaluated)), line_seen(counts_seen(seen))));
    sweeping->before = *report;
    memcpy(sweeping->evaluated, oracle->evaluated, sizeof evaluated);
    memcpy(sweeping->seen, oracle->seen, sizeof seen);
}

static void write_line(const struct sweeping *sweeping, const struct sweep_report *report)
{
    const struct request *request = sweeping->request;
    const struct run *run = sweeping->run;
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, request->seed);
    json_t *line = line_make(
        LINE_SWEEP, line_scenario(request->scenario), line_seed_digits(seed),
        line_sabotage(request->sabotage), line_transactions(report->transactions),
        line_points(sweep_points(report->points, request->depth)), line_runs(report->runs),
        line_steps(report->steps), line_crashes(sweep_fired(report)), line_digest(report->digest),
        line_is_broken(report->broken),
        line_clause(report->broken ? clause_get(report->breach.breach.clause)->id : NULL),
        line_complete(!interrupt_seen()), line_depth(request->depth));
    counts_form(line, run->scenario);
    line_add(line, line_protocol(run->scenario->protocol->name),
             line_fired(sweep_fired_kinds(report)), line_crash_points(sweep_crash_points(report)),
             line_evaluated(counts_evaluated(run->oracle.evaluated)),
             line_seen(counts_seen(run->oracle.seen)));
    if (request->shard != NULL) {
        line_add(line, line_shard(sweeping->share.part + 1), line_shards(sweeping->share.parts));
    }
    artefacts_line(sweeping->results, line);
}

static bool sweep_show_progress(void *context, const struct sweep_report *report)
{
    struct live *live = &((struct sweeping *)context)->live;
    if (live_is_due(live)) {
        live_say(live, "%" PRIu64 " runs, %.0f runs/s, %" PRIu64 " crashes", report->runs,
                 (double)report->runs / live_seconds(live), sweep_fired(report));
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
    static struct sweeping sweeping; /* too large for the stack */
    struct sweep_report report;
    sweeping = (struct sweeping){
        .request = request, .results = results, .run = run, .share = {.parts = 1}};
    if (request->shard != NULL) {
        one_run_shard(&cli_sweep, request->shard, &sweeping.share.part, &sweeping.share.parts);
        sweeping.share.done = write_block;
        if (sweeping.share.part != 0) { /* the first counts the reference run, of run_make */
            memset(run->oracle.evaluated, 0, sizeof run->oracle.evaluated);
            memset(run->oracle.seen, 0, sizeof run->oracle.seen);
        }
        sweeping.share.context = &sweeping;
    }
    sweeping.live = live_begin();
    bool done = sweep_share(run, request->seed, (unsigned)request->depth, &sweeping.share, &report,
                            sweep_show_progress, &sweeping);
    live_end(&sweeping.live);
    if (!done && !interrupt_seen()) {
        return cli_no_memory(&cli_sweep);
    }
    if (report.broken && report.breach.verdict == RUN_STORE_FULL) {
        fputs("assay sweep: the simulated store was full; nothing is said\n", stderr);
        return CLI_INCOMPLETE;
    }
    write_line(&sweeping, &report);
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
    uint64_t part, parts;
    int status =
        request->shard == NULL ? CLI_OK : one_run_shard(&cli_sweep, request->shard, &part, &parts);
    status = status != CLI_OK ? status
                              : load_drawn(&cli_sweep, request->scenario, request->seed,
                                           request->sabotage, schedule);
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
