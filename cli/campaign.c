/* assay campaign: many seeds on many scenarios, the main job. */
#include "cli/campaign_tell.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "model/check.h"
#include "verify/finding.h"
#include "verify/interrupt.h"
#include "verify/one_run.h"
#include "verify/regressions.h"
#include "verify/terminal.h"
#include "verify/watchdog.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS_MAX   UINT64_C(1000000000000)
#define KNOWN_MAX   1000
#define STORIES_MAX 3  /* findings that are told step by step */
#define KEPT_MAX    20 /* findings that are kept with their schedules */

struct request {
    struct cli_arguments scenarios; /* none: all */
    uint64_t seeds, base_seed, jobs, max_findings;
    double time; /* in seconds; 0: `seeds` is the bound */
    const char *shard, *known, *sabotage, *strategy, *out;
    struct cli_values without;
    bool check_determinism, no_gates, no_regressions, expect_finding, json;
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, scenarios, "SCENARIO", false), .names = NAMES_OF_SCENARIOS,
     .about = "a built-in scenario (assay list scenarios) or the path of a .yaml file; "
              "drawn-activity, drawn-key, ...: another scenario of that protocol for every 16 "
              "seeds, drawn from all that its format can say. One of them is drawn-key-17, for "
              "every verb"},
    {NUMBER_ROW(struct request, seeds, "--seeds", 1, SEEDS_MAX), .usual = 1000,
     .excludes = "--time", .about = "seeds of each scenario"},
    {TIME_ROW(struct request, "as many as the time allows")},
    {NUMBER_ROW(struct request, base_seed, "--base-seed", 0, UINT64_MAX / 4), .usual = 1,
     .about = "the first seed"},
    {JOBS_ROW(struct request, CAMPAIGN_WORK_JOBS_MAX)},
    {TEXT_ROW(struct request, shard, "--shard", "K/N"), .names = NAMES_OF_NOTHING,
     .about = "only every Nth block of 64 seeds, from the Kth on; assay merge puts shards together "
              "to what the campaign is without it. Not with what cannot be parted: --time, "
              "--max-findings, --without, files"},
    {FLAG_ROW(struct request, check_determinism, "--check-determinism"),
     .about = "run every seed twice, not only one in 64, and compare step by step"},
    {NUMBER_ROW(struct request, max_findings, "--max-findings", 1, SEEDS_MAX),
     .about = "stop after N findings"},
    {TEXT_ROW(struct request, known, "--known", "FILE"),
     .about = "findings that are no failure, a line each: SCENARIO CLAUSE ORACLE"},
    {STRATEGY_ROW(struct request,
                  ": by priorities that change at 2 turns, drawn from as many as the "
                  "scenario takes without faults, which meets rare orders of few steps "
                  "with a known probability. pct:DEPTH:LENGTH sets the changes, plus "
                  "one, and the turns that they are drawn from")},
    {SABOTAGE_ROW(struct request)},
    {WITHOUT_ROW(struct request, "NAME", "; or silence an oracle: ledger, semaphore, data")},
    {FLAG_ROW(struct request, no_gates, "--no-gates"),
     .about = "do not ask whether everything was put to the test"},
    {FLAG_ROW(struct request, no_regressions, "--no-regressions"),
     .about = "do not replay the stored schedules first, one of which that breaks a promise again "
              "ends the campaign"},
    {EXPECT_FINDING_ROW(struct request)},
    {JSON_ROW(struct request, ": findings, scenarios, and a summary at the end")},
    {OUT_ROW(struct request, "results, findings and a report")},
};

/* A campaign and all that it owns. */
struct campaign {
    const struct request *request;
    struct campaign_plan plan;
    struct sabotage sabotage;
    struct campaign_known *known;
    struct artefacts results;
    struct kept *kept; /* a scenario each */
    int kept_count;
};

/* The findings of a scenario that have their folder already. */
struct kept {
    bool is[CLAUSE_COUNT][ORACLE_NAME_COUNT];
};

/* ---- bounds ----------------------------------------------------------------------------------- */

static int read_shard(const char *text, struct campaign_plan *plan)
{
    int status = one_run_shard(&cli_campaign, text, &plan->shard, &plan->shards);
    if (status != CLI_OK) {
        return status;
    }
    if (campaign_plan_blocks(plan) == 0) {
        return cli_usage_error(&cli_campaign,
                               "--shard %s has no seeds: %" PRIu64 " seeds are %" PRIu64
                               " block%s of %d, and each shard needs one",
                               text, plan->seeds,
                               (plan->seeds + CAMPAIGN_BLOCK - 1) / CAMPAIGN_BLOCK,
                               plan->seeds <= CAMPAIGN_BLOCK ? "" : "s", CAMPAIGN_BLOCK);
    }
    return CLI_OK;
}

/* Shards must add up to the campaign that they are parts of. */
static int check_partition(const struct request *request)
{
    const char *option = request->time > 0            ? "--time"
                         : request->max_findings > 0  ? "--max-findings"
                         : request->without.count > 0 ? "--without"
                                                      : NULL;
    const char *why =
        request->time > 0           ? "how many seeds the time allows differs from shard to shard"
        : request->max_findings > 0 ? "where the last finding lies, one shard cannot know"
                                    : "results do not say what was switched off";
    return option == NULL ? CLI_OK
                          : cli_usage_error(&cli_campaign,
                                            "--shard and %s exclude each other: %s, so that shards "
                                            "would not add up to the campaign",
                                            option, why);
}

/* assay merge puts shards together again, and reads no scenario files. */
static int check_shard_scenarios(struct campaign *campaign)
{
    const struct campaign_plan *plan = &campaign->plan;
    const struct protocol *protocol;
    for (size_t s = 0; s < plan->scenario_count && plan->shards > 1; s++) {
        const char *name = plan->entries[s].name;
        bool builtin =
            drawn_is_family(name, &protocol) || strcmp(name, plan->entries[s].scenario->name) == 0;
        if (!builtin) {
            return cli_usage_error(&cli_campaign,
                                   "--shard and the file %s exclude each other: assay merge, which "
                                   "puts shards together, knows built-in scenarios only",
                                   cli_quote(name).text);
        }
    }
    return CLI_OK;
}

static int read_bounds(struct campaign *campaign)
{
    const struct request *request = campaign->request;
    struct campaign_plan *plan = &campaign->plan;
    bool replayed = request->sabotage == NULL && !request->no_regressions;
    plan->seeds = request->time > 0 ? 0 : request->seeds;
    plan->seconds = request->time;
    plan->base_seed = request->base_seed;
    plan->shards = 1;
    plan->jobs = request->jobs == 0 ? cli_cores(CAMPAIGN_WORK_JOBS_MAX) : (unsigned)request->jobs;
    plan->findings_max = request->max_findings;
    plan->check_every = request->check_determinism ? 1 : CAMPAIGN_CHECK_USUAL;
    plan->regressions = replayed ? builtin_regressions_count : 0;
    int status = request->shard == NULL ? CLI_OK : check_partition(request);
    return request->shard == NULL || status != CLI_OK ? status : read_shard(request->shard, plan);
}

/* ---- what is run ----------------------------------------------------------------------------- */

static bool is_among(const struct campaign_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->scenario_count; i++) {
        if (strcmp(plan->entries[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static int add_scenario(struct campaign_plan *plan, const char *name)
{
    const struct protocol *protocol;
    if (is_among(plan, name)) {
        return cli_usage_error(&cli_campaign, "the scenario '%s' is given twice",
                               cli_quote(name).text);
    }
    struct scenario *scenario = malloc(sizeof *scenario);
    if (scenario == NULL) {
        return cli_no_memory(&cli_campaign);
    }
    plan->entries[plan->scenario_count++] =
        (struct campaign_entry){.name = name, .scenario = scenario};
    if (drawn_is_family(name, &protocol)) {
        drawn_family(protocol, scenario);
        return CLI_OK;
    }
    return load_scenario(&cli_campaign, name, scenario);
}

static int load_scenarios(struct campaign_plan *plan, const struct cli_arguments *arguments)
{
    bool all = arguments->count == 0;
    size_t count = all ? scenario_count() : (size_t)arguments->count;
    plan->scenario_count = 0;
    plan->entries = calloc(count + (all ? protocol_count() : 0), sizeof *plan->entries);
    if (plan->entries == NULL) {
        return cli_no_memory(&cli_campaign);
    }
    int status = CLI_OK;
    for (size_t i = 0; status == CLI_OK && i < count; i++) {
        status = add_scenario(plan, all ? scenario_name(i) : arguments->positional[i]);
    }
    for (size_t p = 0; status == CLI_OK && all && p < protocol_count(); p++) {
        status = add_scenario(plan, drawn_family_name(protocol_at(p)));
    }
    plan->whole = true;
    for (size_t i = 0; i < scenario_count(); i++) {
        plan->whole = plan->whole && is_among(plan, scenario_name(i));
    }
    return status;
}

static int plant(struct campaign *campaign)
{
    const char *name = campaign->request->sabotage;
    campaign->plan.sabotage = name == NULL ? NULL : &campaign->sabotage;
    return load_sabotage(&cli_campaign, name, NULL, &campaign->sabotage);
}

/* ---- known findings -------------------------------------------------------------------------- */

/* "tree-3 ACL-21 semaphore"; a line without words, or a comment, counts as none. */
static bool read_known_line(char *line, struct campaign_known *known, bool *any)
{
    char scenario[SCENARIO_NAME_SIZE + 1], clause[16], oracle[16], more[2];
    line[strcspn(line, "#\n")] = '\0';
    int words = sscanf(line, "%40s %15s %15s %1s", scenario, clause, oracle, more);
    *any = words > 0;
    if (words <= 0) {
        return true;
    }
    if (words != 3 || strlen(scenario) >= sizeof known->scenario ||
        !clause_find(clause, strlen(clause), &known->clause) ||
        !campaign_oracle_find(oracle, &known->oracle)) {
        return false;
    }
    memcpy(known->scenario, scenario, strlen(scenario) + 1);
    return true;
}

static int read_known_lines(struct campaign *campaign, FILE *file)
{
    char line[256];
    struct campaign_plan *plan = &campaign->plan;
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        bool any;
        if (!read_known_line(line, &campaign->known[plan->known_count], &any)) {
            return cli_usage_error(&cli_campaign,
                                   "%s, line %d: it is SCENARIO CLAUSE ORACLE, such as tree-3 "
                                   "ACL-21 semaphore",
                                   campaign->request->known, number);
        }
        plan->known_count += any;
        if (plan->known_count == KNOWN_MAX) {
            return cli_usage_error(&cli_campaign, "%s, line %d: %d findings are the most it takes",
                                   campaign->request->known, number, KNOWN_MAX - 1);
        }
    }
    if (ferror(file)) { /* a folder, for one */
        return cli_usage_error(&cli_campaign, "--known %s cannot be read: %s",
                               cli_quote(campaign->request->known).text, strerror(errno));
    }
    return CLI_OK;
}

static int read_known(struct campaign *campaign)
{
    const char *path = campaign->request->known;
    if (path == NULL) {
        return CLI_OK;
    }
    FILE *file = fopen(path, "r");
    campaign->known = calloc(KNOWN_MAX, sizeof *campaign->known);
    campaign->plan.known = campaign->known;
    int status = CLI_OK;
    if (file == NULL || campaign->known == NULL) {
        status = cli_usage_error(&cli_campaign, "--known %s cannot be read: %s",
                                 cli_quote(path).text, strerror(errno));
    } else {
        status = read_known_lines(campaign, file);
    }
    if (file != NULL) {
        fclose(file);
    }
    return status;
}

/* ---- results --------------------------------------------------------------------------------- */

/* A campaign's lines, at its end. */
static void write_lines(struct artefacts *results, const struct campaign_report *report)
{
    json_t *lines = campaign_tell_lines(report), *line;
    size_t i;
    json_array_foreach(lines, i, line)
    {
        artefacts_line(results, json_incref(line));
    }
    json_decref(lines);
}

/* ---- findings -------------------------------------------------------------------------------- */

/* One finding as people read it: the contradiction, the promise, the line that runs it again. */
static void finding_tell(FILE *out, enum format_kind format, const struct campaign_plan *plan,
                         size_t scenario, const struct campaign_bucket *bucket)
{
    const struct clause *clause = clause_get(bucket->clause);
    enum campaign_finding kind = campaign_finding_kind(plan, scenario, bucket);
    bool alarming = kind == CAMPAIGN_NEW;
    fprintf(out, "\n%s%s%s: %c%s%s%s%s\n", alarming ? format_alarm(format) : format_strong(format),
            plan->entries[scenario].scenario->name, format_plain(format), toupper(bucket->why[0]),
            bucket->why + (bucket->why[0] != '\0'), alarming ? "" : " (",
            alarming ? "" : campaign_finding_text(kind), alarming ? "" : ")");
    fprintf(out, "  breaks  %s%s%s  ", format_strong(format), clause->id, format_plain(format));
    format_wrapped(out, clause->promise, (int)(12 + strlen(clause->id)));
    fprintf(out,
            "  found   by the %s oracle in %" PRIu64 " run%s, first with seed %" PRIu64
            "; seed %" PRIu64 " takes %" PRIu32 " steps\n",
            campaign_oracle_name(bucket->oracle), bucket->count, bucket->count == 1 ? "" : "s",
            bucket->first_seed, bucket->seed, bucket->steps);
    fprintf(out, "  again   %s\n", campaign_tell_again(plan, scenario, bucket).text);
}

/* How a finding's shortest run is told or kept. */
struct telling {
    bool quiet;   /* kept only */
    bool shrinks; /* made smaller first */
};

/* The same, told step by step, and kept; or only kept. False: it could not be. */
static bool finding_story(struct campaign *campaign, size_t scenario,
                          const struct campaign_bucket *bucket, struct telling telling)
{
    const struct campaign_plan *plan = &campaign->plan;
    char title[SCENARIO_NAME_SIZE + 40], name[FINDING_NAME_SIZE];
    int status;
    struct schedule schedule;
    if (!schedule_make(&schedule)) {
        return false;
    }
    const struct scenario *of = plan->entries[scenario].scenario;
    const struct scenario *ran = campaign_scenario(of, bucket->seed, schedule.scenario);
    if (ran == of) {
        *schedule.scenario = *of;
    }
    schedule.seed = bucket->seed;
    schedule.strategy = plan->strategy;
    schedule.sabotaged = plan->sabotage != NULL;
    if (schedule.sabotaged) {
        schedule.sabotage = *plan->sabotage;
    }
    struct options_line again = campaign_tell_again(plan, scenario, bucket);
    snprintf(title, sizeof title, "%s, seed %" PRIu64, schedule.scenario->name, bucket->seed);
    struct one_run one = {.verb = cli_campaign.name,
                          .schedule = &schedule,
                          .drawn = true,
                          .shrinks = telling.shrinks,
                          .title = title,
                          .reproduce = again.text,
                          .quiet = telling.quiet,
                          .results = &campaign->results,
                          .kept = name,
                          .caller_writes_finding = true,
                          .caller_writes_run = true};
    finding_name(name, plan->entries[scenario].scenario->name, bucket->clause,
                 campaign_oracle_name(bucket->oracle));
    memcpy(one.without, plan->off, sizeof one.without);
    memcpy(one.silent, plan->silent, sizeof one.silent);
    fputs(telling.quiet ? "" : "\n", stdout);
    bool told = one_run(&one, &status);
    schedule_free(&schedule);
    return told;
}

/* Whether the finding has, or may have, its folder; notes that it has. */
static bool keeps(struct campaign *campaign, size_t scenario, const struct campaign_bucket *bucket)
{
    bool *is = &campaign->kept[scenario].is[bucket->clause][bucket->oracle];
    if (campaign->request->out == NULL || campaign->kept_count >= KEPT_MAX ||
        campaign_finding_kind(&campaign->plan, scenario, bucket) == CAMPAIGN_EXPECTED) {
        return *is;
    }
    campaign->kept_count += !*is;
    *is = true;
    return true;
}

/* Keeps what was found since the last look, not shrunk yet, so that a campaign that is killed has it.
 * It is shrunk at the end. True: there was something. */
static bool keep_new(struct campaign *campaign, const struct campaign_work *work)
{
    bool any = false;
    for (size_t s = 0; s < campaign->plan.scenario_count; s++) {
        const struct campaign_result *result = &work->results[s];
        for (size_t i = 0; i < result->bucket_count; i++) {
            const struct campaign_bucket *bucket = &result->buckets[i];
            if (!campaign->kept[s].is[bucket->clause][bucket->oracle] &&
                keeps(campaign, s, bucket)) {
                finding_story(campaign, s, bucket, (struct telling){.quiet = true});
                any = true;
            }
        }
    }
    return any;
}

/* While it runs: findings, and results.jsonl as it would be if this were the end. */
static void save_so_far(void *context, const struct campaign_work *work)
{
    struct campaign *campaign = context;
    struct campaign_report report;
    char *text = NULL;
    size_t length = 0, i;
    json_t *line;
    bool due = keep_new(campaign, work) || artefacts_is_due(&campaign->results);
    FILE *out = due ? open_memstream(&text, &length) : NULL;
    if (out == NULL) {
        return;
    }
    if (campaign_report_make(&report, &campaign->plan, work, "it is still running")) {
        json_t *lines = campaign_tell_lines(&report);
        json_array_foreach(lines, i, line)
        {
            json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
            fputc('\n', out);
        }
        json_decref(lines);
        campaign_report_free(&report);
    }
    if (fclose(out) == 0) {
        artefacts_peek(&campaign->results, text, length);
    }
    free(text);
}

/* What a scenario is there to break is one line, whatever else it broke. */
static void tell_findings(enum format_kind format, struct campaign *campaign,
                          const struct campaign_report *report)
{
    const struct campaign_plan *plan = report->plan;
    int stories = 0;
    for (size_t s = 0; s < plan->scenario_count; s++) {
        const struct campaign_result *result = &report->work->results[s];
        for (size_t i = 0; i < result->bucket_count; i++) {
            const struct campaign_bucket *bucket = &result->buckets[i];
            enum campaign_finding kind = campaign_finding_kind(plan, s, bucket);
            bool speaks = !campaign->request->json;
            bool told = speaks && kind == CAMPAIGN_NEW && stories < STORIES_MAX;
            bool done = (keeps(campaign, s, bucket) || told) &&
                        finding_story(campaign, s, bucket,
                                      (struct telling){.quiet = !told, .shrinks = true});
            stories += done && told;
            if (speaks && kind != CAMPAIGN_EXPECTED && !(done && told)) {
                finding_tell(stdout, format, plan, s, bucket);
            }
        }
    }
}

/* ---- the campaign ---------------------------------------------------------------------------- */

/* Why gates are not judged; NULL: they are. */
static const char *unjudged(const struct campaign *campaign, const struct campaign_work *work)
{
    const struct campaign_plan *plan = &campaign->plan;
    bool silenced = false, drifted = false;
    for (int i = 0; i < ORACLE_NAME_COUNT; i++) {
        silenced = silenced || plan->silent[i];
    }
    for (size_t s = 0; s < plan->scenario_count; s++) {
        drifted = drifted || work->results[s].drift.found;
    }
    uint64_t findings = campaign_findings(plan, work, CAMPAIGN_NEW);
    bool enough = plan->findings_max != 0 && findings >= plan->findings_max;
    bool planted = plan->sabotage != NULL && findings > 0; /* runs end where a promise breaks */
    return campaign->request->no_gates ? "--no-gates"
           : planted                   ? "a bug is planted, and found"
           : plan->shards > 1          ? "this is one shard of several"
           : silenced                  ? "an oracle is switched off"
           : work->interrupted         ? "it was interrupted"
           : enough || drifted         ? "it ended early"
                                       : NULL;
}

static int status_of(const struct campaign *campaign, const struct campaign_report *report)
{
    bool swap = campaign->request->expect_finding;
    if (campaign_report_drift(report) < report->plan->scenario_count) {
        return CLI_NONDETERMINISTIC;
    }
    if (report->findings[CAMPAIGN_NEW] > 0) {
        return swap ? CLI_OK : CLI_BROKEN;
    }
    if (report->missed_count > 0 || report->work->interrupted) {
        return CLI_INCOMPLETE;
    }
    return swap ? CLI_BROKEN : CLI_OK;
}

static int tell(struct campaign *campaign, const struct campaign_report *report)
{
    enum format_kind format = terminal_format();
    if (!campaign->request->json) {
        campaign_tell_scenarios(stdout, format, report);
    }
    write_lines(&campaign->results, report);
    tell_findings(format, campaign, report);
    if (!campaign->request->json) {
        campaign_tell_end(stdout, format, report);
    }
    return status_of(campaign, report);
}

static int carry_out(struct campaign *campaign)
{
    if (campaign->plan.regressions > 0) { /* what was found once must not come back */
        int replayed = regressions_replay(cli_campaign.name, builtin_regressions,
                                          builtin_regressions_count, &campaign->results);
        if (replayed != CLI_OK) {
            return replayed;
        }
    }
    struct campaign_work work = {0};
    struct campaign_report report = {0};
    int status = CLI_UNAVAILABLE;
    if (campaign_work_run(&campaign->plan, &work) &&
        campaign_report_make(&report, &campaign->plan, &work, unjudged(campaign, &work))) {
        status = tell(campaign, &report);
    } else {
        fputs("assay campaign: not enough memory; try fewer --jobs\n", stderr);
    }
    campaign_report_free(&report);
    campaign_work_free(&work);
    return status;
}

static void release(struct campaign *campaign)
{
    struct campaign_plan *plan = &campaign->plan;
    for (size_t i = 0; i < plan->scenario_count; i++) {
        free(plan->entries[i].scenario);
    }
    free(plan->entries);
    free(campaign->known);
    free(campaign->kept);
}

/* A campaign over everything plants a bug where it belongs and runs the rest as it is. */
static int check_sabotage(struct campaign *campaign)
{
    const struct campaign_plan *plan = &campaign->plan;
    int status = CLI_OK;
    for (size_t s = 0; s < plan->scenario_count && status == CLI_OK; s++) {
        bool any = plan->sabotage == NULL || plan->whole;
        status =
            any ? CLI_OK
                : one_run_check_sabotage(&cli_campaign, plan->sabotage, plan->entries[s].scenario);
    }
    return status;
}

static int load_all(struct campaign *campaign)
{
    return load_scenarios(&campaign->plan, &campaign->request->scenarios);
}

static int read_strategy(struct campaign *campaign)
{
    return one_run_strategy(&cli_campaign, campaign->request->strategy, &campaign->plan.strategy);
}

static int read_without(struct campaign *campaign)
{
    return one_run_without(&cli_campaign, &campaign->request->without, campaign->plan.off,
                           campaign->plan.silent);
}

static int make_kept(struct campaign *campaign)
{
    CHECK(campaign->plan.scenario_count > 0);
    campaign->kept = calloc(campaign->plan.scenario_count, sizeof *campaign->kept);
    return campaign->kept == NULL ? cli_no_memory(&cli_campaign) : CLI_OK;
}

/* Step by step, until one refuses. */
static int prepare(struct campaign *campaign)
{
    static int (*const steps[])(struct campaign *) = {
        read_strategy, read_bounds,           plant,          read_without, read_known,
        load_all,      check_shard_scenarios, check_sabotage, make_kept};
    int status = CLI_OK;
    for (size_t i = 0; i < COUNT(steps) && status == CLI_OK; i++) {
        status = steps[i](campaign);
    }
    return status;
}

/* The results are opened before anything is run: it might take an hour. */
static int run_prepared(struct campaign *campaign)
{
    const struct request *request = campaign->request;
    interrupt_watch();
    watchdog_enter();
    int status = results_open(&campaign->results,
                              &(struct results_plan){.verb = &cli_campaign,
                                                     .folder = request->out,
                                                     .json = request->json,
                                                     .base_seed = campaign->plan.base_seed,
                                                     .jobs = campaign->plan.jobs});
    if (status != CLI_OK) {
        return status;
    }
    campaign->plan.peek = request->out == NULL ? NULL : save_so_far;
    campaign->plan.peek_context = campaign;
    return results_close(&campaign->results, &cli_campaign, carry_out(campaign));
}

static int campaign_verb(void *request)
{
    struct campaign campaign = {.request = request};
    int status = prepare(&campaign);
    status = status == CLI_OK ? run_prepared(&campaign) : status;
    release(&campaign);
    return status;
}

const struct cli_verb cli_campaign = {.name = "campaign",
                                      .about = "many seeds on many scenarios: the main job",
                                      .options = options,
                                      .option_count = COUNT(options),
                                      .request_size = sizeof(struct request),
                                      .run = campaign_verb};
