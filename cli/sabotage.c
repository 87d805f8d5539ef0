/* assay sabotage: plants each bug and says which promise finds it, and how soon. */
#include "cli/options.h"
#include "cli/real.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "cli/sabotage_sum.h"
#include "reports/line.h"
#include "sim/campaign.h"
#include "verify/hunt.h"
#include "verify/interrupt.h"
#include "verify/one_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *strategy, *shard, *out;
    struct choice_strategy strategies[2];
    size_t strategy_count;
    struct artefacts *results;
    uint64_t schedules, bases, jobs, part, parts;
    bool json, real;
    struct cli_values without;
    bool off[CLAUSE_COUNT]; /* what --without names */
    struct cli_arguments names;
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, names, "NAME", false), .names = NAMES_OF_SABOTAGES,
     .about = "a sabotage (assay list sabotages), or the beginning of several: step-2/; all "
              "without it"},
    {NUMBER_ROW(struct request, schedules, "--schedules", 1, 1000000), .usual = 1000,
     .about = "how many to try for a named one; ten times as many for an enumerated one"},
    {NUMBER_ROW(struct request, bases, "--base-seeds", 1, HUNT_BASE_SEEDS_MAX), .usual = 1,
     .about = "hunt N times from different seeds and show the median and the most; what is listed "
              "as equivalent is hunted once"},
    {STRATEGY_ROW(struct request, " (see assay campaign --help); or both, which shows them side "
                                  "by side, of the named ones unless NAMEs say others")},
    {WITHOUT_ROW(struct request, "CLAUSE", ": what would be missed?")},
    {FLAG_ROW(struct request, real, "--real"),
     .about = "on PostgreSQL: once each, named ones that need no luck with the timing, or those "
              "that are NAMEd"},
    {TEXT_ROW(struct request, shard, "--shard", "K/N"), .names = NAMES_OF_NOTHING,
     .again = AGAIN_NEVER, .excludes = "--real",
     .about =
         "only every Nth of them, from the Kth on; assay merge puts shards together to what the "
         "hunt is without it, and judges what takes all of them. Not with --base-seeds, of which "
         "results have the sum alone"},
    {JOBS_ROW(struct request, HUNT_JOBS_MAX)},
    {JSON_ROW(struct request, ": one of type \"sabotage\" each, and a summary")},
    {OUT_ROW(struct request, "results and a report")},
};

/* ---- what is asked --------------------------------------------------------------------------- */

static int read_strategies(struct request *request)
{
    bool both = request->strategy != NULL && strcmp(request->strategy, "both") == 0;
    request->strategy_count = both ? 2 : 1;
    int status =
        one_run_strategy(&cli_sabotage, both ? NULL : request->strategy, &request->strategies[0]);
    return status == CLI_OK && both
               ? one_run_strategy(&cli_sabotage, "pct", &request->strategies[1])
               : status;
}

static int read_shard(struct request *request)
{
    if (request->bases > 1) {
        return cli_usage_error(
            &cli_sabotage, "--shard and --base-seeds exclude each other: results have the first "
                           "kill of a hunt, so that shards would not add up to it");
    }
    return one_run_shard(&cli_sabotage, request->shard, &request->part, &request->parts);
}

/* What the words of the request mean. */
static int read_request(struct request *request)
{
    int status = one_run_without(&cli_sabotage, &request->without, request->off, NULL);
    request->jobs = request->jobs == 0 ? cli_cores(HUNT_JOBS_MAX) : request->jobs;
    request->parts = 1;
    status = status == CLI_OK ? read_strategies(request) : status;
    return status == CLI_OK && request->shard != NULL ? read_shard(request) : status;
}

/* Asked for by its name, by the beginning of it, or by naming none. */
static bool is_wanted(const struct request *request, const struct sabotage *sabotage)
{
    for (int i = 0; i < request->names.count; i++) {
        const char *name = request->names.positional[i];
        if (strncmp(sabotage->name, name, strlen(name)) == 0) {
            return true;
        }
    }
    return request->names.count == 0 &&
           (request->strategy_count < 2 || !hunt_is_enumerated(sabotage));
}

static int check_names(const struct request *request)
{
    for (int i = 0; i < request->names.count; i++) {
        struct request one = {.names = {.positional = {request->names.positional[i]}, .count = 1}};
        bool any = false;
        for (size_t s = 0; s < sabotage_count() && !any; s++) {
            struct sabotage sabotage;
            sabotage_get(s, &sabotage);
            any = is_wanted(&one, &sabotage);
        }
        if (!any) {
            return cli_usage_error(&cli_sabotage,
                                   "there is no sabotage '%s'; assay list sabotages shows them",
                                   cli_quote(request->names.positional[i]).text);
        }
    }
    return CLI_OK;
}

/* ---- results --------------------------------------------------------------------------------- */

static void write_unfound(const struct trial *trial)
{
    char search[300];
    equivalence_text(&trial->equivalence, search, sizeof search);
    switch (hunt_fate(trial)) {
    case FATE_EQUIVALENT:
        printf("shown equivalent (%s): %s\n", search, trial->sabotage.equivalent);
        break;
    case FATE_NOT_SHOWN:
        printf("not shown (%s): %s\n", search,
               trial->sabotage.differs == NULL ? trial->sabotage.equivalent
                                               : trial->sabotage.differs);
        break;
    case FATE_NOT_EQUIVALENT:
        printf("LISTED AS EQUIVALENT, AND FOUND by a search (%s)\n", search);
        break;
    case FATE_FOUND:
    case FATE_SURVIVED:
    case FATE_COUNT:
        printf("%s\n", hunt_fate_text(hunt_fate(trial)));
        break;
    }
}

static void write_why(const struct kill *kill)
{
    if (kill->way == KILL_BREACH) {
        printf("  %-12s %s", kill->scenario, kill->breach.why);
    } else {
        printf("  %-12s %s%s, which the sound engine does in %" PRIu32 " of the same seeds",
               kill->scenario, kill->way == KILL_PATH ? "it is no longer seen that " : "",
               kill->breach.why, kill->taken);
    }
}

static void write_trial(const struct request *request, const struct trial *trial)
{
    const struct kill *kill = hunt_first_kill(trial);
    enum fate fate = hunt_fate(trial);
    printf("%-40s ", trial->sabotage.name);
    if (kill == NULL) {
        write_unfound(trial);
        return;
    }
    printf("%-7s %-9s %5" PRIu32, clause_get(kill->breach.clause)->id,
           kill->way == KILL_BREACH ? campaign_oracle_name(kill->oracle) : "path", trial->median);
    if (request->bases > 1) {
        printf(" %5" PRIu32, trial->most);
    }
    write_why(kill);
    if (fate != FATE_FOUND) {
        printf(" (%s: %" PRIu32 " of %" PRIu64 " times)", hunt_fate_text(fate), trial->found,
               trial->bases);
    }
    putchar('\n');
}

/* A finding of its own. */
static void write_dispute(const struct trial *trial)
{
    const struct kill_dispute *dispute = hunt_dispute(trial);
    if (dispute != NULL) {
        printf("THE SOUND ENGINE BREAKS HERE, TOO: %s, seed %" PRIu64 "%s: %s, %s (seen while %s "
               "was hunted)\n",
               dispute->scenario, dispute->seed,
               dispute->shrunk ? ", on what the finding shrinks to" : "",
               clause_get(dispute->breach.clause)->id, dispute->breach.why, trial->sabotage.name);
    }
}

/* Whether every promise had its chance: all sabotages, all promises on. */
static bool is_whole(const struct request *request)
{
    return request->names.count == 0 && request->without.count == 0 && request->strategy_count == 1;
}

static void write_protocols(const struct sabotage_sum *summary)
{
    printf("\n\n%-10s %6s %17s %10s %9s %20s\n", "protocol", "found", "shown equivalent",
           "not shown", "survived", "wrongly equivalent");
    for (size_t p = 0; p <= protocol_count(); p++) {
        const size_t *fates = p < protocol_count() ? summary->fates[p] : summary->all;
        size_t count = 0;
        for (int f = 0; f < FATE_COUNT; f++) {
            count += fates[f];
        }
        if (count == 0) {
            continue;
        }
        printf("%-10s %6zu %17zu %10zu %9zu %20zu\n",
               p < protocol_count() ? protocol_at(p)->name : "all", fates[FATE_FOUND],
               fates[FATE_EQUIVALENT], fates[FATE_NOT_SHOWN], fates[FATE_SURVIVED],
               fates[FATE_NOT_EQUIVALENT]);
    }
}

static void sabotage_write_summary(const struct request *request, const struct hunt *hunt,
                                   const struct sabotage_sum *summary)
{
    printf("\npromises, and how many sabotages each found first:\n");
    for (int c = 0, column = 0; c < CLAUSE_COUNT; c++) {
        bool expected = is_whole(request) && sabotage_sum_must_kill(clause_get((enum clause_id)c));
        if (expected || summary->kills[c] > 0) {
            printf("  %-7s %3" PRIu32 "%s", clause_get((enum clause_id)c)->id, summary->kills[c],
                   ++column % 8 == 0 ? "\n" : "");
        }
    }
    write_protocols(summary);
    printf("\n%zu sabotages: %zu found, %zu shown equivalent, %zu not shown, %zu survived",
           hunt->count, summary->all[FATE_FOUND], summary->all[FATE_EQUIVALENT],
           summary->all[FATE_NOT_SHOWN], summary->all[FATE_SURVIVED]);
    if (summary->all[FATE_NOT_EQUIVALENT] > 0) {
        printf(", %zu wrongly listed as equivalent", summary->all[FATE_NOT_EQUIVALENT]);
    }
    if (summary->disputed > 0) {
        printf(", %zu where the sound engine breaks, too", summary->disputed);
    }
    if (is_whole(request)) {
        printf("; safe and live promises that report none by themselves: %zu, that find one only "
               "so: %zu",
               summary->toothless, summary->forestalled);
    }
    putchar('\n');
}

/* ---- two strategies side by side ------------------------------------------------------------- */

static void write_schedules(const struct trial *trial)
{
    char median[12] = "-", most[12] = "-", found[40];
    if (trial->found > 0) {
        snprintf(median, sizeof median, "%" PRIu32, trial->median);
        snprintf(most, sizeof most, "%" PRIu32, trial->most);
    }
    snprintf(found, sizeof found, "%" PRIu32 " of %" PRIu64, trial->found, trial->bases);
    printf("  %6s %6s %9s", median, most, found);
}

/* By the median, or by how often it was found at all. Below 0: the first was better. */
static int compare_trials(const struct trial *first, const struct trial *second)
{
    if (first->found != second->found) {
        return first->found > second->found ? -1 : 1;
    }
    return first->median < second->median ? -1 : first->median > second->median;
}

/* A trial with one strategy is followed by that with the other. */
static void write_pairs(const struct request *request, const struct hunt *hunt)
{
    size_t sooner[3] = {0};
    printf("%-40s  %23s  %23s\n%-40s  %6s %6s %9s  %6s %6s %9s\n", "", "random", "pct", "sabotage",
           "median", "most", "found", "median", "most", "found");
    for (size_t i = 0; i + 1 < hunt->count; i += 2) {
        printf("%-40s", hunt->trials[i].sabotage.name);
        write_schedules(&hunt->trials[i]);
        write_schedules(&hunt->trials[i + 1]);
        putchar('\n');
        sooner[1 + compare_trials(&hunt->trials[i], &hunt->trials[i + 1])]++;
    }
    printf("\n%zu sabotages from %" PRIu64
           " base seed%s: %zu found sooner with random, %zu with pct, "
           "%zu alike\n",
           hunt->count / 2, request->bases, request->bases == 1 ? "" : "s", sooner[0], sooner[2],
           sooner[1]);
}

static void write_all(const struct request *request, const struct hunt *hunt,
                      const struct sabotage_asked *asked, const struct sabotage_sum *summary)
{
    bool tells = !request->json && request->strategy_count < 2;
    if (!request->json && request->strategy_count == 2) {
        write_pairs(request, hunt);
    }
    if (tells) {
        printf("%-40s %-7s %-9s %5s", "sabotage", "clause", "oracle",
               request->bases > 1 ? "median" : "runs");
        printf("%s  %-12s %s\n", request->bases > 1 ? "  most" : "", "scenario", "why");
    }
    for (size_t i = 0; i < hunt->count; i++) {
        if (hunt->trials[i].done) {
            artefacts_line(request->results, hunt_line(&hunt->trials[i]));
            if (tells) {
                write_trial(request, &hunt->trials[i]);
            }
        }
    }
    artefacts_line(request->results, sabotage_sum_line(asked, hunt, summary));
    for (size_t i = 0; i < hunt->count && tells; i++) {
        write_dispute(&hunt->trials[i]);
    }
    if (tells) {
        sabotage_write_summary(request, hunt, summary);
    }
}

/* The bugs that are asked for, each with every strategy; of a shard, its share of these. */
static void list_trials(const struct request *request, struct hunt *hunt)
{
    uint64_t number = 0;
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        for (size_t s = 0; is_wanted(request, &sabotage) && s < request->strategy_count; s++) {
            if (number++ % request->parts == request->part) {
                /* what nobody can see takes no number of schedules that could be measured */
                hunt->trials[hunt->count++] =
                    (struct trial){.sabotage = sabotage,
                                   .strategy = request->strategies[s],
                                   .bases = sabotage.equivalent == NULL ? request->bases : 1};
            }
        }
    }
}

/* What takes every hunt: a shard leaves it to assay merge. False: no memory. */
static bool judge_alone(const struct request *request, const struct hunt *hunt,
                        const struct sabotage_asked *asked, struct sabotage_sum *summary)
{
    size_t i;
    json_t *line;
    if (!asked->whole || request->shard != NULL || hunt->done < hunt->count) {
        return true;
    }
    json_t *lines = sabotage_sum_alone(asked, hunt, summary);
    json_array_foreach(lines, i, line)
    {
        artefacts_line(request->results, json_incref(line));
        if (!request->json && !line_get_is_found(line)) {
            printf("%s reports no planted bug by itself\n", line_get_clause(line));
        }
    }
    json_decref(lines);
    return lines != NULL;
}

static int hunt_and_tell(const struct request *request, struct hunt *hunt)
{
    const struct sabotage_asked asked = {.whole = is_whole(request),
                                         .shard = request->shard != NULL,
                                         .part = request->part,
                                         .parts = request->parts,
                                         .schedules = request->schedules,
                                         .strategy = request->strategies[0]};
    list_trials(request, hunt);
    if (!hunt_all(hunt)) {
        return cli_no_memory(&cli_sabotage);
    }
    struct sabotage_sum summary = sabotage_sum_of(hunt);
    if (!judge_alone(request, hunt, &asked, &summary)) {
        return cli_no_memory(&cli_sabotage);
    }
    write_all(request, hunt, &asked, &summary);
    if (hunt->done < hunt->count && !request->json) {
        printf("interrupted after %zu of %zu\n", hunt->done, hunt->count);
    }
    return sabotage_sum_status(&asked, hunt, &summary);
}

/* On PostgreSQL the schedule is not drawn, so only those are hunted that break a promise in every
 * schedule. */
static int hunt_on_server(const struct request *request)
{
    static const char *const sure[] = {"unbundled-step2",
                                       "lost-snapshot",
                                       "guid-from-full-ledger",
                                       "early-ack",
                                       "eager-completion",
                                       "shared-dimension",
                                       "leg2-before-leg1",
                                       "steps-swapped",
                                       "pipeline-no-lock",
                                       "pipeline-cut-read-committed",
                                       "pipeline-verify-read-committed"};
    struct sabotage list[16];
    size_t count = 0;
    bool named = request->names.count > 0;
    size_t wanted = named ? (size_t)request->names.count : COUNT(sure);
    for (size_t i = 0; i < wanted && count < 16; i++) {
        const char *name = named ? request->names.positional[i] : sure[i];
        if (!sabotage_find(name, &list[count]) || list[count].scenario == NULL) {
            return cli_usage_error(&cli_sabotage, "--real takes named sabotages, and '%s' is none",
                                   cli_quote(name).text);
        }
        count++;
    }
    return real_sabotages(list, count, request->results);
}

static int hunt_in_simulation(const struct request *request)
{
    struct hunt hunt = {
        .schedules_max = request->schedules,
        .job_count = request->jobs,
        .without = request->off,
        .results = request->results,
        .trials = calloc(sabotage_count() * request->strategy_count, sizeof *hunt.trials)};
    if (hunt.trials == NULL) {
        return cli_no_memory(&cli_sabotage);
    }
    int status = hunt_and_tell(request, &hunt);
    hunt_free(&hunt);
    return status;
}

static int sabotage_verb(void *asked)
{
    struct request *request = asked;
    struct artefacts results;
    int status = read_request(request);
    status = status == CLI_OK ? check_names(request) : status;
    if (!request->real) {
        interrupt_watch();
    }
    if (status == CLI_OK) {
        status = results_open(&results, &(struct results_plan){.verb = &cli_sabotage,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = 1,
                                                               .jobs = request->jobs});
    }
    if (status != CLI_OK) {
        return status;
    }
    request->results = &results;
    status = request->real ? hunt_on_server(request) : hunt_in_simulation(request);
    return results_close(&results, &cli_sabotage, status);
}

const struct cli_verb cli_sabotage = {.name = "sabotage",
                                      .about = "plants each bug and says which promise finds it",
                                      .options = options,
                                      .option_count = COUNT(options),
                                      .request_size = sizeof(struct request),
                                      .run = sabotage_verb};
