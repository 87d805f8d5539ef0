#include "cli/campaign_tell.h"
#include "cli/run_options.h"
#include "verify/counts.h"

#include "cli/results.h"
#include "cli/run.h"
#include "sim/kill.h"
#include "verify/finding.h"
#include "verify/one_run.h"

#include "model/check.h"
#include "reports/line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GATE_TEXT_SIZE 256

/* ---- the report ------------------------------------------------------------------------------ */

/* With a planted bug the gates are the sound engine's: what it comes to on the same seeds. False:
 * no memory. */
static bool judge_paths(struct campaign_report *report)
{
    const struct campaign_plan *plan = report->plan;
    for (size_t s = 0; s < plan->scenario_count; s++) {
        uint64_t runs = report->work->results[s].tally.runs;
        struct kill_hunting hunting = {.base_seed = plan->base_seed,
                                       .schedules_max = runs < KILL_PATH_SEEDS ? (uint32_t)runs
                                                                               : KILL_PATH_SEEDS,
                                       .strategy = plan->strategy,
                                       .without = plan->off};
        struct kill kill;
        const struct protocol *drawn;
        if (drawn_is_family(plan->entries[s].name, &drawn)) {
            continue; /* its seeds have scenarios of their own */
        }
        if (!kill_paths_lost(plan->entries[s].scenario, plan->sabotage, &hunting, &kill)) {
            return false;
        }
        if (kill.found) {
            report->missed[report->missed_count++] =
                (struct campaign_gate){.scenario = plan->entries[s].scenario,
                                       .kind = CAMPAIGN_GATE_LOST,
                                       .clause = kill.breach.clause,
                                       .lost = kill.breach.why,
                                       .taken = kill.taken,
                                       .seeds = kill.schedules};
        }
    }
    return true;
}

static void judge_gates(struct campaign_report *report)
{
    const struct campaign_plan *plan = report->plan;
    for (size_t s = 0; s < plan->scenario_count; s++) {
        report->missed_count += campaign_gates(plan->entries[s].scenario, &report->work->results[s],
                                               plan->off, &report->missed[report->missed_count]);
    }
    if (plan->whole) {
        for (size_t p = 0; p < protocol_count(); p++) {
            report->missed_count +=
                campaign_gates_of_all(protocol_at(p)->family, &report->tally, plan->off,
                                      &report->missed[report->missed_count]);
        }
    }
}

bool campaign_report_make(struct campaign_report *report, const struct campaign_plan *plan,
                          const struct campaign_work *work, const char *unjudged)
{
    *report = (struct campaign_report){.plan = plan, .work = work, .unjudged = unjudged};
    report->missed =
        calloc(plan->scenario_count * CAMPAIGN_GATES_MAX + CLAUSE_COUNT, sizeof *report->missed);
    if (report->missed == NULL) {
        return false;
    }
    report->tally = campaign_work_tally(plan, work);
    report->digest = campaign_work_digest(plan, work);
    for (int kind = 0; kind < CAMPAIGN_FINDING_COUNT; kind++) {
        report->findings[kind] = campaign_findings(plan, work, (enum campaign_finding)kind);
    }
    if (unjudged == NULL && plan->sabotage != NULL) {
        return judge_paths(report);
    }
    if (unjudged == NULL) {
        judge_gates(report);
    }
    return true;
}

void campaign_report_free(struct campaign_report *report)
{
    free(report->missed);
    report->missed = NULL;
}

size_t campaign_report_drift(const struct campaign_report *report)
{
    size_t s = 0;
    while (s < report->plan->scenario_count && !report->work->results[s].drift.found) {
        s++;
    }
    return s;
}

/* The clauses and oracles that are switched off: no more than --without could name. */
static void add_without(const struct campaign_plan *plan, struct cli_values *without)
{
    const int room = (int)COUNT(without->values);
    for (int id = 0; id < CLAUSE_COUNT && without->count < room; id++) {
        if (plan->off[id]) {
            without->values[without->count++] = clause_get((enum clause_id)id)->id;
        }
    }
    for (int i = 0; i < ORACLE_NAME_COUNT && without->count < room; i++) {
        if (plan->silent[i]) {
            without->values[without->count++] = campaign_oracle_name((enum oracle_name)i);
        }
    }
}

struct options_line campaign_tell_again(const struct campaign_plan *plan, size_t scenario,
                                        const struct campaign_bucket *bucket)
{
    const struct protocol *protocol;
    char name[4200], strategy[CHOICE_STRATEGY_SIZE];
    snprintf(name, sizeof name, "%.4100s", plan->entries[scenario].name);
    if (drawn_is_family(plan->entries[scenario].name, &protocol)) {
        snprintf(name, sizeof name, "%.4100s-%" PRIu64, plan->entries[scenario].name,
                 bucket->seed / DRAWN_SEEDS);
    }
    choice_strategy_text(&plan->strategy, strategy);
    struct run_request again = {.scenario = name,
                                .seed = bucket->seed,
                                .strategy = strategy,
                                .sabotage = plan->sabotage == NULL ? NULL : plan->sabotage->name};
    add_without(plan, &again.without);
    return options_again(&cli_run, &again);
}

/* Runs that were made, those that were made twice included. */
static uint64_t runs_made(const struct campaign_report *report)
{
    return report->tally.runs + report->tally.checked;
}

static double a_second(const struct campaign_report *report, uint64_t count)
{
    return report->work->seconds > 0 ? (double)count / report->work->seconds : 0;
}

static uint64_t total(const uint64_t *counts, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += counts[i];
    }
    return sum;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* How many kinds of fault the scenario allows, and how many of them fell. */
static int count_kinds(const struct campaign_tally *tally)
{
    int fell = 0;
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        fell += tally->fired[kind] > 0;
    }
    return fell;
}

static void tell_scenario(FILE *out, enum format_kind format, const struct campaign_plan *plan,
                          size_t index, const struct campaign_result *result)
{
    const struct scenario *scenario = plan->entries[index].scenario;
    const struct campaign_tally *tally = &result->tally;
    int fell = count_kinds(tally);
    bool alarming = campaign_broken_runs(plan, index, result) > 0;
    fprintf(out, "%s%-20s%s %9s %13s %10s of %2d kind%s %s%9s%s%s\n", format_strong(format),
            scenario->name, format_plain(format), format_grouped(tally->runs).text,
            format_grouped(tally->steps).text,
            format_grouped(total(tally->fired, FAULT_KIND_COUNT)).text, fell, fell == 1 ? " " : "s",
            alarming ? format_alarm(format) : "",
            tally->findings == 0 ? "none" : format_grouped(tally->findings).text,
            alarming ? format_plain(format) : "",
            tally->findings == 0 || alarming ? ""
            : scenario->breaks               ? " as expected"
                                             : " known");
}

void campaign_tell_scenarios(FILE *out, enum format_kind format,
                             const struct campaign_report *report)
{
    fprintf(out, "%-20s %9s %13s %10s %10s %9s\n", "scenario", "runs", "steps", "faults", "",
            "findings");
    for (size_t s = 0; s < report->plan->scenario_count; s++) {
        tell_scenario(out, format, report->plan, s, &report->work->results[s]);
    }
}

static void tell_gates(FILE *out, enum format_kind format, const struct campaign_report *report)
{
    char text[GATE_TEXT_SIZE];
    if (report->missed_count > 0) {
        fprintf(out, "\n%sgates not met: %zu%s\n", format_alarm(format), report->missed_count,
                format_plain(format));
    }
    for (size_t i = 0; i < report->missed_count; i++) {
        campaign_gate_text(&report->missed[i], text, sizeof text);
        fprintf(out, "  %s\n", text);
    }
}

static void drift_text(const struct campaign_report *report, size_t s, char *text, size_t size)
{
    static struct scenario drawn;
    const struct campaign_drift *drift = &report->work->results[s].drift;
    campaign_drift_text(campaign_scenario(report->plan->entries[s].scenario, drift->seed, &drawn),
                        drift, text, size);
}

static void tell_drift(FILE *out, enum format_kind format, const struct campaign_report *report)
{
    char text[400];
    size_t s = campaign_report_drift(report);
    if (s == report->plan->scenario_count) {
        return;
    }
    const struct campaign_drift *drift = &report->work->results[s].drift;
    drift_text(report, s, text, sizeof text);
    fprintf(out, "\n%snot deterministic%s: %s, seed %" PRIu64 ": %s\n", format_alarm(format),
            format_plain(format), report->plan->entries[s].scenario->name, drift->seed, text);
}

/* The last line says how it ended. */
static void tell_ending(FILE *out, enum format_kind format, const struct campaign_report *report)
{
    uint64_t broken = report->findings[CAMPAIGN_NEW];
    const char *unjudged = report->unjudged;
    if (campaign_report_drift(report) < report->plan->scenario_count) {
        fprintf(out, "Nothing that was found is worth anything until runs are deterministic.\n");
        return;
    }
    if (broken > 0) {
        fprintf(out, "%s%" PRIu64 " finding%s.%s", format_alarm(format), broken,
                broken == 1 ? "" : "s", format_plain(format));
    } else {
        fputs("Every promise held where it was put to the test.", out);
    }
    if (report->findings[CAMPAIGN_KNOWN] > 0) {
        fprintf(out, " %" PRIu64 " known.", report->findings[CAMPAIGN_KNOWN]);
    }
    if (unjudged != NULL) {
        fprintf(out, " No gate was judged: %s.", unjudged);
    } else if (report->plan->sabotage != NULL) {
        fprintf(out, " A bug is planted, and gates are the sound engine's on the same seeds: %s.",
                report->missed_count == 0 ? "met" : "a path is lost");
    } else if (report->missed_count > 0) {
        fputs(" Incomplete: the gates above were not met; more seeds may meet them.", out);
    }
    fputc('\n', out);
}

void campaign_tell_end(FILE *out, enum format_kind format, const struct campaign_report *report)
{
    const struct campaign_work *work = report->work;
    tell_gates(out, format, report);
    tell_drift(out, format, report);
    fprintf(out,
            "\n%s seeds, %s runs, %s steps in %.1f s: ", format_grouped(report->tally.runs).text,
            format_grouped(runs_made(report)).text, format_grouped(report->tally.steps).text,
            work->seconds);
    fprintf(out, "%s seeds/s, %s steps/s, %u job%s\n",
            format_grouped((uint64_t)a_second(report, report->tally.runs)).text,
            format_grouped((uint64_t)a_second(report, report->tally.steps)).text,
            report->plan->jobs, report->plan->jobs == 1 ? "" : "s");
    fprintf(out, "digest %016" PRIx64 "; %s run%s made twice, step by step the same%s\n",
            report->digest, format_grouped(report->tally.checked).text,
            report->tally.checked == 1 ? "" : "s",
            campaign_report_drift(report) < report->plan->scenario_count ? " but for one" : "");
    if (work->interrupted) {
        fprintf(out, "%sInterrupted%s: this is what was found so far.\n", format_alarm(format),
                format_plain(format));
    }
    tell_ending(out, format, report);
}

/* ---- for scripts ----------------------------------------------------------------------------- */

static json_t *fired_json(const struct campaign_tally *tally)
{
    json_t *object = json_object();
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        json_object_set_new(object, fault_get((enum fault_kind)kind)->name,
                            json_integer((json_int_t)tally->fired[kind]));
    }
    return object;
}

static json_t *finding_line(const struct campaign_plan *plan, size_t scenario,
                            const struct campaign_bucket *bucket)
{
    char name[FINDING_NAME_SIZE];
    finding_name(name, plan->entries[scenario].scenario->name, bucket->clause,
                 campaign_oracle_name(bucket->oracle));
    const char *kind = campaign_finding_text(campaign_finding_kind(plan, scenario, bucket));
    return line_make(
        LINE_FINDING, line_name(name), line_scenario(plan->entries[scenario].scenario->name),
        line_clause(clause_get(bucket->clause)->id),
        line_oracle(campaign_oracle_name(bucket->oracle)), line_kind(kind), line_why(bucket->why),
        line_seed(bucket->seed), line_steps(bucket->steps), line_first_seed(bucket->first_seed),
        line_runs(bucket->count), line_again(campaign_tell_again(plan, scenario, bucket).text));
}

/* Which seeds they are, so that nobody counts one twice. */
static void add_seeds(json_t *line, const struct campaign_plan *plan, uint64_t runs)
{
    char strategy[CHOICE_STRATEGY_SIZE];
    bool partly = false;
    choice_strategy_text(&plan->strategy, strategy);
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        partly = partly || plan->off[c];
    }
    for (int o = 0; o < ORACLE_NAME_COUNT; o++) {
        partly = partly || plan->silent[o];
    }
    line_add(line, line_strategy(strategy), line_base_seed(plan->base_seed),
             line_last_seed(campaign_plan_last(plan, runs)), line_shard(plan->shard),
             line_shards(plan->shards), line_partly_judged(partly));
}

/* How its findings are to be taken, and what the scenario is there to break. */
static void add_kinds(json_t *line, const struct campaign_plan *plan, size_t index,
                      const struct campaign_result *result)
{
    const struct scenario *scenario = plan->entries[index].scenario;
    uint64_t kinds[CAMPAIGN_FINDING_COUNT] = {0};
    for (size_t i = 0; i < result->bucket_count; i++) {
        kinds[campaign_finding_kind(plan, index, &result->buckets[i])]++;
    }
    line_add(line, line_new(kinds[CAMPAIGN_NEW]), line_known(kinds[CAMPAIGN_KNOWN]));
    if (scenario->breaks) {
        line_add(line, line_breaks(clause_get(scenario->broken)->id));
    }
}

/* Of a shard: what the whole campaign's digest is made of. */
static void add_blocks(json_t *line, const struct campaign_blocks *blocks)
{
    char *text = malloc(16 * blocks->count + 1);
    if (text == NULL) {
        return; /* such a shard cannot be put together with others, and merge says so */
    }
    text[0] = '\0';
    for (size_t i = 0; i < blocks->count; i++) {
        snprintf(text + 16 * i, 17, "%016" PRIx64, blocks->digests[i]);
    }
    line_add(line, line_blocks(text));
    free(text);
}

static json_t *scenario_line(const struct campaign_plan *plan, size_t index,
                             const struct campaign_work *work)
{
    const struct campaign_result *result = &work->results[index];
    const struct scenario *scenario = plan->entries[index].scenario;
    const struct campaign_tally *tally = &result->tally;
    json_t *line = line_make(LINE_SCENARIO, line_scenario(scenario->name), line_runs(tally->runs),
                             line_steps(tally->steps), line_transactions(tally->transactions),
                             line_broken_runs(tally->findings), line_findings(result->bucket_count),
                             line_full(tally->full), line_fired(fired_json(tally)),
                             line_digest(result->digest), line_protocol(scenario->protocol->name));
    counts_form(line, scenario);
    add_seeds(line, plan, tally->runs);
    add_kinds(line, plan, index, result);
    if (plan->sabotage != NULL) {
        line_add(line, line_sabotage(plan->sabotage->name));
    }
    line_add(line, line_evaluated(counts_evaluated(tally->evaluated)),
             line_seen(counts_seen(tally->seen)));
    if (work->blocks != NULL) {
        add_blocks(line, &work->blocks[index]);
    }
    return line;
}

static json_t *drift_line(const struct campaign_report *report, size_t s)
{
    char text[400];
    const struct campaign_drift *drift = &report->work->results[s].drift;
    drift_text(report, s, text, sizeof text);
    return line_make(LINE_DRIFT, line_scenario(report->plan->entries[s].scenario->name),
                     line_seed(drift->seed), line_step(drift->step), line_text(text));
}

static json_t *gates_json(const struct campaign_report *report)
{
    json_t *array = json_array();
    char text[GATE_TEXT_SIZE];
    for (size_t i = 0; i < report->missed_count; i++) {
        campaign_gate_text(&report->missed[i], text, sizeof text);
        json_array_append_new(array, json_string(text));
    }
    return array;
}

static json_t *summary_line(const struct campaign_report *report)
{
    const struct campaign_plan *plan = report->plan;
    const struct campaign_tally *tally = &report->tally;
    char strategy[CHOICE_STRATEGY_SIZE];
    choice_strategy_text(&plan->strategy, strategy);
    return line_make(
        LINE_SUMMARY, line_seeds(tally->runs), line_runs(runs_made(report)),
        line_steps(tally->steps), line_transactions(tally->transactions),
        line_seconds(report->work->seconds), line_strategy(strategy),
        line_regressions(plan->regressions), line_findings(report->findings[CAMPAIGN_NEW]),
        line_known(report->findings[CAMPAIGN_KNOWN]),
        line_expected(report->findings[CAMPAIGN_EXPECTED]), line_digest(report->digest),
        line_deterministic(campaign_report_drift(report) == plan->scenario_count),
        line_seeds_per_second((uint64_t)a_second(report, tally->runs)),
        line_steps_per_second((uint64_t)a_second(report, tally->steps)), line_jobs(plan->jobs),
        line_base_seed(plan->base_seed), line_shards(plan->shards),
        line_interrupted(report->work->interrupted), line_every_scenario(plan->whole),
        line_sabotage(plan->sabotage == NULL ? NULL : plan->sabotage->name),
        line_gates_judged(report->unjudged == NULL), line_gates(gates_json(report)));
}

json_t *campaign_tell_lines(const struct campaign_report *report)
{
    const struct campaign_plan *plan = report->plan;
    json_t *lines = json_array();
    for (size_t s = 0; s < plan->scenario_count; s++) {
        for (size_t i = 0; i < report->work->results[s].bucket_count; i++) {
            json_array_append_new(lines,
                                  finding_line(plan, s, &report->work->results[s].buckets[i]));
        }
    }
    for (size_t s = 0; s < plan->scenario_count; s++) {
        json_array_append_new(lines, scenario_line(plan, s, report->work));
    }
    size_t drift = campaign_report_drift(report);
    if (drift < plan->scenario_count) {
        json_array_append_new(lines, drift_line(report, drift));
    }
    json_array_append_new(lines, summary_line(report));
    return lines;
}
