/* assay sabotage: plants each bug and says which promise finds it, and how soon. */
#include "cli/interrupt.h"
#include "cli/live.h"
#include "cli/one_run.h"
#include "cli/real.h"
#include "cli/results.h"
#include "reports/json_line.h"
#include "sim/campaign.h"
#include "sim/kill.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay sabotage [NAME...] [OPTION...]\n"
    "\n"
    "Plants each bug in the protocol, one at a time, and runs schedules until a promise breaks. "
    "The\n"
    "named ones are failures that real systems had; the others are enumerated mechanically from\n"
    "every transaction of the protocol. What nobody can see is listed as equivalent, with the\n"
    "reason.\n"
    "\n"
    "  NAME              a sabotage (assay list sabotages), or the beginning of several: step-2/\n"
    "  --schedules N     how many to try for a named one (default 1000); ten times as many for "
    "an\n"
    "                    enumerated one\n"
    "  --base-seeds N    hunt N times from different seeds; shows the median and the most. What "
    "is\n"
    "                    listed as equivalent is hunted once\n"
    "  --strategy S      how schedules are drawn (assay campaign --help): random, pct, or both, "
    "which\n"
    "                    shows them side by side; of both, the named ones unless others are NAMEd\n"
    "  --without CLAUSE  do not judge this promise: what would be missed? May be given again\n"
    "  --real            on PostgreSQL: once each, named ones that need no luck with the timing, "
    "or\n"
    "                    those that are NAMEd\n"
    "  --jobs J          threads (default: one a core)\n"
    "  --json            JSON lines: one of type \"sabotage\" each, and a summary\n"
    "  --out DIR         keep results and a report there; DIR must be empty or new\n"
    "\n"
    "Exit status: 0 every sabotage was found that is not listed as equivalent; 4 one survived, a\n"
    "promise of kind safe or live found none, or it was interrupted.\n"
    "\n"
    "example: assay sabotage lost-snapshot job-state-first --base-seeds 20\n"
    "example: assay sabotage --strategy both --base-seeds 20\n";

#define BASE_SEEDS_MAX  100
#define BASE_SEED_STEP  UINT64_C(1000000)
#define ENUMERATED_MORE 10
#define JOBS_MAX        256

struct request {
    const char *schedules, *base_seeds, *jobs, *strategy, *out;
    struct choice_strategy strategies[2];
    size_t strategy_count;
    struct artefacts *results;
    uint64_t schedules_max, bases, job_count;
    bool json, real;
    bool without[CLAUSE_COUNT];
    bool anything_off;
    struct cli_arguments names;
};

/* One sabotage and how it was found with one strategy, once for each base seed. */
struct trial {
    struct sabotage sabotage;
    struct choice_strategy strategy;
    struct kill kills[BASE_SEEDS_MAX];
    bool done;
    uint64_t bases;        /* from how many base seeds it is hunted */
    uint32_t found;        /* of those */
    uint32_t median, most; /* schedules; of those where it was found */
};

struct hunt {
    const struct request *request;
    struct trial *trials;
    size_t count;
    atomic_size_t next;
    atomic_bool out_of_memory;
    pthread_mutex_t lock; /* of what follows, and of the trials' `done` */
    size_t done, unfound;
    struct live live;
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

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_values without;
    const struct cli_option options[] = {{"--schedules", &request->schedules, NULL},
                                         {"--base-seeds", &request->base_seeds, NULL},
                                         {"--jobs", &request->jobs, NULL},
                                         {"--strategy", &request->strategy, NULL},
                                         {"--out", &request->out, NULL},
                                         {"--real", NULL, &request->real},
                                         {"--json", NULL, &request->json}};
    int status = cli_take_values(&cli_sabotage, &argc, argv, "--without", &without);
    if (status == CLI_OK) {
        status = one_run_without(&cli_sabotage, &without, request->without, NULL);
    }
    if (status == CLI_OK) {
        status = cli_parse(&cli_sabotage, argc, argv, options, sizeof options / sizeof *options,
                           &request->names);
    }
    request->anything_off = without.count > 0;
    request->schedules_max = 1000;
    request->bases = 1;
    request->job_count = cli_cores(JOBS_MAX);
    if (status == CLI_OK) {
        status = cli_number_option(&cli_sabotage, "--schedules", request->schedules, 1, 1000000,
                                   &request->schedules_max);
    }
    if (status == CLI_OK) {
        status = cli_number_option(&cli_sabotage, "--base-seeds", request->base_seeds, 1,
                                   BASE_SEEDS_MAX, &request->bases);
    }
    if (status == CLI_OK) {
        status = read_strategies(request);
    }
    if (status == CLI_OK) {
        status = cli_number_option(&cli_sabotage, "--jobs", request->jobs, 1, JOBS_MAX,
                                   &request->job_count);
    }
    return status;
}

static bool is_enumerated(const struct sabotage *sabotage)
{
    return strchr(sabotage->name, '/') != NULL;
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
    return request->names.count == 0 && (request->strategy_count < 2 || !is_enumerated(sabotage));
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

/* ---- one of them ----------------------------------------------------------------------------- */

enum fate { FATE_FOUND, FATE_EQUIVALENT, FATE_SURVIVED, FATE_NOT_EQUIVALENT, FATE_COUNT };
static const char *const fate_names[FATE_COUNT] = {[FATE_FOUND] = "found",
                                                   [FATE_EQUIVALENT] = "equivalent",
                                                   [FATE_SURVIVED] = "SURVIVED",
                                                   [FATE_NOT_EQUIVALENT] =
                                                       "LISTED AS EQUIVALENT, AND FOUND"};

static enum fate fate_of(const struct trial *trial)
{
    if (trial->sabotage.equivalent != NULL) {
        return trial->found > 0 ? FATE_NOT_EQUIVALENT : FATE_EQUIVALENT;
    }
    return trial->found == trial->bases ? FATE_FOUND : FATE_SURVIVED;
}

/* The first base seed that found it. */
static const struct kill *first_kill(const struct trial *trial)
{
    for (uint64_t b = 0; b < trial->bases; b++) {
        if (trial->kills[b].found) {
            return &trial->kills[b];
        }
    }
    return NULL;
}

static json_t *trial_line(const struct trial *trial)
{
    const struct kill *kill = first_kill(trial);
    char strategy[CHOICE_STRATEGY_SIZE];
    choice_strategy_text(&trial->strategy, strategy);
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "type", "sabotage", "name",
                             trial->sabotage.name, "about", trial->sabotage.about, "strategy",
                             strategy, "fate", fate_names[fate_of(trial)], "base_seeds",
                             (json_int_t)trial->bases, "found", (json_int_t)trial->found);
    if (trial->sabotage.equivalent != NULL) {
        json_object_set_new(line, "equivalent", json_string(trial->sabotage.equivalent));
    }
    if (kill != NULL) {
        json_object_set_new(line, "clause", json_string(clause_get(kill->breach.clause)->id));
        json_object_set_new(line, "oracle", json_string(campaign_oracle_name(kill->oracle)));
        json_object_set_new(line, "scenario", json_string(kill->scenario));
        json_object_set_new(line, "seed", json_integer((json_int_t)kill->seed));
        json_object_set_new(line, "why", json_string(kill->breach.why));
        json_object_set_new(line, "schedules_median", json_integer((json_int_t)trial->median));
        json_object_set_new(line, "schedules_max", json_integer((json_int_t)trial->most));
    }
    return line;
}

/* ---- hunting --------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void sum_up(struct trial *trial)
{
    uint32_t schedules[BASE_SEEDS_MAX];
    for (uint64_t b = 0; b < trial->bases; b++) {
        if (trial->kills[b].found) {
            schedules[trial->found++] = trial->kills[b].schedules;
        }
    }
    if (trial->found > 0) {
        qsort(schedules, trial->found, sizeof *schedules, by_number);
        trial->median = schedules[trial->found / 2];
        trial->most = schedules[trial->found - 1];
    }
}

static void hunt_one(struct hunt *hunt, struct trial *trial)
{
    const struct request *request = hunt->request;
    uint64_t most =
        request->schedules_max * (is_enumerated(&trial->sabotage) ? ENUMERATED_MORE : 1);
    for (uint64_t b = 0; b < trial->bases; b++) {
        struct kill_hunting hunting = {.base_seed = 1 + b * BASE_SEED_STEP,
                                       .schedules_max = (uint32_t)most,
                                       .strategy = trial->strategy,
                                       .without = request->without};
        if (!kill_hunt(&trial->sabotage, &hunting, &trial->kills[b])) {
            atomic_store(&hunt->out_of_memory, true);
            return;
        }
    }
    sum_up(trial);
}

static void show_progress(struct hunt *hunt)
{
    if (live_is_due(&hunt->live)) {
        live_say(&hunt->live, "%zu of %zu planted bugs, %zu not found%s", hunt->done, hunt->count,
                 hunt->unfound,
                 live_left(&hunt->live, (double)hunt->done / (double)hunt->count).text);
    }
}

/* results.jsonl as it would be if this were the end. */
static void save_so_far(struct hunt *hunt)
{
    struct artefacts *results = hunt->request->results;
    char *text = NULL;
    size_t length = 0;
    FILE *out = artefacts_is_due(results) ? open_memstream(&text, &length) : NULL;
    if (out == NULL) {
        return;
    }
    for (size_t i = 0; i < hunt->count; i++) {
        if (hunt->trials[i].done) {
            json_line_write(out, trial_line(&hunt->trials[i]));
        }
    }
    if (fclose(out) == 0) {
        artefacts_peek(results, text, length);
    }
    free(text);
}

static void *hunt_some(void *context)
{
    struct hunt *hunt = context;
    for (size_t i = atomic_fetch_add(&hunt->next, 1); i < hunt->count && !interrupt_seen();
         i = atomic_fetch_add(&hunt->next, 1)) {
        hunt_one(hunt, &hunt->trials[i]);
        pthread_mutex_lock(&hunt->lock);
        hunt->trials[i].done = true;
        hunt->done++;
        hunt->unfound += hunt->trials[i].found == 0 && hunt->trials[i].sabotage.equivalent == NULL;
        show_progress(hunt);
        save_so_far(hunt);
        pthread_mutex_unlock(&hunt->lock);
    }
    return NULL;
}

static void hunt_all(struct hunt *hunt)
{
    pthread_t threads[JOBS_MAX];
    uint64_t started = 0;
    hunt->live = live_begin();
    pthread_mutex_init(&hunt->lock, NULL);
    while (started + 1 < hunt->request->job_count && started + 1 < hunt->count &&
           pthread_create(&threads[started], NULL, hunt_some, hunt) == 0) {
        started++;
    }
    hunt_some(hunt);
    for (uint64_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&hunt->lock);
    live_end(&hunt->live);
}

/* ---- what came of it ------------------------------------------------------------------------- */

static void write_trial(const struct request *request, const struct trial *trial)
{
    const struct sabotage *sabotage = &trial->sabotage;
    const struct kill *kill = first_kill(trial);
    enum fate fate = fate_of(trial);
    printf("%-40s ", sabotage->name);
    if (kill == NULL) {
        printf("%s%s%s\n", fate_names[fate], fate == FATE_EQUIVALENT ? ": " : "",
               fate == FATE_EQUIVALENT ? sabotage->equivalent : "");
        return;
    }
    printf("%-7s %-9s %5" PRIu32, clause_get(kill->breach.clause)->id,
           campaign_oracle_name(kill->oracle), trial->median);
    if (request->bases > 1) {
        printf(" %5" PRIu32, trial->most);
    }
    printf("  %-12s %s", kill->scenario, kill->breach.why);
    if (fate != FATE_FOUND) {
        printf(" (%s: %" PRIu32 " of %" PRIu64 " times)", fate_names[fate], trial->found,
               trial->bases);
    }
    putchar('\n');
}

struct summary {
    size_t fates[FATE_COUNT];
    uint32_t kills[CLAUSE_COUNT]; /* sabotages that each promise found */
    size_t toothless;             /* safe and live promises that found none */
};

static bool must_kill(const struct clause *clause)
{
    return protocol_judges(clause->family) &&
           (clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE);
}

static struct summary sum_up_all(const struct hunt *hunt)
{
    struct summary summary = {0};
    for (size_t i = 0; i < hunt->count; i++) {
        const struct trial *trial = &hunt->trials[i];
        bool counted[CLAUSE_COUNT] = {false};
        if (!trial->done) {
            continue; /* interrupted before */
        }
        summary.fates[fate_of(trial)]++;
        for (uint64_t b = 0; b < trial->bases; b++) {
            if (trial->kills[b].found && !counted[trial->kills[b].breach.clause]) {
                counted[trial->kills[b].breach.clause] = true;
                summary.kills[trial->kills[b].breach.clause]++;
            }
        }
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        summary.toothless += must_kill(clause_get((enum clause_id)c)) && summary.kills[c] == 0;
    }
    return summary;
}

/* Whether every promise had its chance: all sabotages, all promises on. */
static bool is_whole(const struct request *request)
{
    return request->names.count == 0 && !request->anything_off && request->strategy_count == 1;
}

static void write_summary(const struct hunt *hunt, const struct summary *summary)
{
    printf("\npromises, and how many sabotages each found first:\n");
    for (int c = 0, column = 0; c < CLAUSE_COUNT; c++) {
        bool expected = is_whole(hunt->request) && must_kill(clause_get((enum clause_id)c));
        if (expected || summary->kills[c] > 0) {
            printf("  %-7s %3" PRIu32 "%s", clause_get((enum clause_id)c)->id, summary->kills[c],
                   ++column % 8 == 0 ? "\n" : "");
        }
    }
    printf("\n\n%zu sabotages: %zu found, %zu listed as equivalent, %zu survived", hunt->count,
           summary->fates[FATE_FOUND], summary->fates[FATE_EQUIVALENT],
           summary->fates[FATE_SURVIVED]);
    if (summary->fates[FATE_NOT_EQUIVALENT] > 0) {
        printf(", %zu wrongly listed as equivalent", summary->fates[FATE_NOT_EQUIVALENT]);
    }
    if (is_whole(hunt->request)) {
        printf("; safe and live promises that found none: %zu", summary->toothless);
    }
    putchar('\n');
}

static void write_summary_line(const struct hunt *hunt, const struct summary *summary)
{
    json_t *kills = json_object();
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (must_kill(clause_get((enum clause_id)c)) || summary->kills[c] > 0) {
            json_object_set_new(kills, clause_get((enum clause_id)c)->id,
                                json_integer((json_int_t)summary->kills[c]));
        }
    }
    artefacts_line(hunt->request->results,
                   json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:o}", "type", "summary",
                             "every_sabotage", is_whole(hunt->request), "sabotages",
                             (json_int_t)hunt->count, "found",
                             (json_int_t)summary->fates[FATE_FOUND], "equivalent",
                             (json_int_t)summary->fates[FATE_EQUIVALENT], "survived",
                             (json_int_t)summary->fates[FATE_SURVIVED], "wrongly_equivalent",
                             (json_int_t)summary->fates[FATE_NOT_EQUIVALENT], "kills", kills));
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
static void write_pairs(const struct hunt *hunt)
{
    const struct request *request = hunt->request;
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

static void write_all(const struct hunt *hunt, const struct summary *summary)
{
    const struct request *request = hunt->request;
    if (!request->json && request->strategy_count == 2) {
        write_pairs(hunt);
        return;
    }
    if (!request->json) {
        printf("%-40s %-7s %-9s %5s", "sabotage", "clause", "oracle",
               request->bases > 1 ? "median" : "runs");
        printf("%s  %-12s %s\n", request->bases > 1 ? "  most" : "", "scenario", "why");
    }
    for (size_t i = 0; i < hunt->count; i++) {
        if (hunt->trials[i].done) {
            artefacts_line(request->results, trial_line(&hunt->trials[i]));
            if (!request->json) {
                write_trial(request, &hunt->trials[i]);
            }
        }
    }
    write_summary_line(hunt, summary);
    if (!request->json) {
        write_summary(hunt, summary);
    }
}

static int hunt_and_tell(const struct request *request, struct hunt *hunt)
{
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        for (size_t s = 0; is_wanted(request, &sabotage) && s < request->strategy_count; s++) {
            /* what nobody can see takes no number of schedules that could be measured */
            hunt->trials[hunt->count++] =
                (struct trial){.sabotage = sabotage,
                               .strategy = request->strategies[s],
                               .bases = sabotage.equivalent == NULL ? request->bases : 1};
        }
    }
    hunt_all(hunt);
    if (atomic_load(&hunt->out_of_memory)) {
        fputs("assay sabotage: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    struct summary summary = sum_up_all(hunt);
    write_all(hunt, &summary);
    bool missed = summary.fates[FATE_SURVIVED] + summary.fates[FATE_NOT_EQUIVALENT] > 0 ||
                  (is_whole(request) && summary.toothless > 0);
    if (hunt->done < hunt->count && !request->json) {
        printf("interrupted after %zu of %zu\n", hunt->done, hunt->count);
    }
    return missed || hunt->done < hunt->count ? CLI_INCOMPLETE : CLI_OK;
}

/* On PostgreSQL nobody draws the schedule, so only those are asked for that break a promise whoever
 * runs when. */
static int hunt_on_server(const struct request *request)
{
    static const char *const sure[] = {
        "unbundled-step2",  "lost-snapshot",    "guid-from-full-ledger", "early-ack",
        "eager-completion", "shared-dimension", "leg2-before-leg1",      "steps-swapped"};
    struct sabotage list[16];
    size_t count = 0;
    bool named = request->names.count > 0;
    size_t wanted = named ? (size_t)request->names.count : sizeof sure / sizeof *sure;
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
        .request = request,
        .trials = calloc(sabotage_count() * request->strategy_count, sizeof *hunt.trials)};
    if (hunt.trials == NULL) {
        fputs("assay sabotage: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    int status = hunt_and_tell(request, &hunt);
    free(hunt.trials);
    return status;
}

static int run_verb(int argc, char **argv)
{
    struct request request = {0};
    struct artefacts results;
    int status = read_request(argc, argv, &request);
    if (status == CLI_OK) {
        status = check_names(&request);
    }
    if (!request.real) {
        interrupt_watch();
    }
    if (status == CLI_OK) {
        status = results_open(&results, &(struct results_plan){.verb = &cli_sabotage,
                                                               .folder = request.out,
                                                               .json = request.json,
                                                               .base_seed = 1,
                                                               .jobs = request.job_count});
    }
    if (status != CLI_OK) {
        return status;
    }
    request.results = &results;
    status = request.real ? hunt_on_server(&request) : hunt_in_simulation(&request);
    return results_close(&results, &cli_sabotage, status);
}

const struct cli_verb cli_sabotage = {.name = "sabotage",
                                      .about = "plants each bug and says which promise finds it",
                                      .help = help,
                                      .run = run_verb};
