#include "cli/explore_table.h"

#include "cli/cli.h"
#include "cli/search.h"
#include "sim/schedule.h"
#include "sim/shrink.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDS_MAX 3000 /* of the campaign whose finding is shrunk */

/* What is allowed to go wrong, little first. A shortest schedule is the shortest over all of them.
 */
static const struct {
    const char *name;
    struct walk_bounds bounds;
} troubles[] = {{"nothing", {0}},
                {"a duplicate", {.duplicates = 1}},
                {"a crash", {.crashes = 1}},
                {"a lapse", {.lapses = 1}},
                {"a lost answer", {.unknowns = 1}},
                {"an abort", {.aborts = 1}},
                {"a crash and a duplicate", {.crashes = 1, .duplicates = 1}}};
#define TROUBLES (sizeof troubles / sizeof *troubles)

struct trial {
    struct sabotage sabotage;
    size_t shortest; /* steps up to the breach, the breaking one included; 0: not found */
    const char *trouble;
    const char *clause;
    bool complete;   /* not found, and every search was complete */
    uint32_t shrunk; /* steps of the campaign's finding; 0: there was none */
    uint64_t seed;
};

struct contest {
    const struct scenario *scenario;
    size_t memory;
    struct trial *trials;
    size_t count;
    atomic_size_t next, done;
    atomic_bool out_of_memory;
};

/* ---- one sabotage ---------------------------------------------------------------------------- */

static bool seek_shortest(struct contest *contest, struct trial *trial, size_t trouble)
{
    struct explore_plan plan = {.walk = {.scenario = contest->scenario,
                                         .sabotage = &trial->sabotage,
                                         .bounds = troubles[trouble].bounds,
                                         .reductions = REDUCE_ALL & ~(unsigned)REDUCE_ORDER},
                                .memory = contest->memory,
                                .jobs = 1};
    struct search_result result;
    if (!search_shortest(&plan, &result)) {
        return false;
    }
    const struct explore_report *report = &result.report;
    trial->complete = trial->complete && report->verdict != EXPLORE_BOUNDED;
    if (report->verdict == EXPLORE_BROKEN &&
        (trial->shortest == 0 || report->path_length < trial->shortest)) {
        trial->shortest = report->path_length;
        trial->trouble = troubles[trouble].name;
        trial->clause = clause_get(report->result.breach.clause)->id;
    }
    search_free(&result);
    return true;
}

/* The first seed that breaks a promise, as a schedule, made smaller. */
static bool seek_shrunk(struct contest *contest, struct trial *trial)
{
    struct schedule schedule;
    struct shrink_report report;
    struct run *run = calloc(1, sizeof *run);
    bool made = run != NULL && run_make(run, contest->scenario, &trial->sabotage);
    if (!made || !schedule_make(&schedule)) {
        free(run);
        return false;
    }
    *schedule.scenario = *contest->scenario;
    schedule.sabotaged = true;
    schedule.sabotage = trial->sabotage;
    for (uint64_t seed = 1; seed <= SEEDS_MAX && trial->seed == 0; seed++) {
        struct choice_source source = choice_random(seed, &contest->scenario->faults);
        if (run_once(run, &source)->verdict == RUN_BROKEN) {
            trial->seed = seed;
        }
    }
    run_free(run);
    free(run);
    if (trial->seed != 0 && shrink_record(&schedule, trial->seed, NULL) &&
        shrink(&schedule, NULL, NULL, &report)) {
        trial->shrunk = report.steps_after;
    }
    schedule_free(&schedule);
    return true;
}

static void *work(void *context)
{
    struct contest *contest = context;
    for (size_t i = atomic_fetch_add(&contest->next, 1); i < contest->count;
         i = atomic_fetch_add(&contest->next, 1)) {
        struct trial *trial = &contest->trials[i];
        bool made = true;
        trial->complete = true;
        for (size_t t = 0; made && t < TROUBLES; t++) {
            made = seek_shortest(contest, trial, t);
        }
        if (!made || !seek_shrunk(contest, trial)) {
            atomic_store(&contest->out_of_memory, true);
        }
        size_t done = atomic_fetch_add(&contest->done, 1) + 1;
        if (isatty(STDERR_FILENO)) {
            fprintf(stderr, "\r%zu of %zu sabotages ", done, contest->count);
        }
    }
    return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool gather(struct contest *contest)
{
    contest->trials = calloc(sabotage_count(), sizeof *contest->trials);
    if (contest->trials == NULL) {
        return false;
    }
    for (size_t s = 0; s < sabotage_count(); s++) {
        struct sabotage sabotage;
        sabotage_get(s, &sabotage);
        if (sabotage.protocol == contest->scenario->protocol && sabotage.equivalent == NULL) {
            contest->trials[contest->count++].sabotage = sabotage;
        }
    }
    return true;
}

static void write_trial(const struct trial *trial, bool json)
{
    char shortest[24] = "-", shrunk[24] = "-";
    if (json) {
        printf("{\"type\":\"shortest\",\"sabotage\":\"%s\",\"steps\":%zu,\"with\":\"%s\","
               "\"clause\":\"%s\",\"complete\":%s,\"shrunk\":%" PRIu32 ",\"seed\":%" PRIu64 "}\n",
               trial->sabotage.name, trial->shortest, trial->shortest == 0 ? "" : trial->trouble,
               trial->shortest == 0 ? "" : trial->clause, trial->complete ? "true" : "false",
               trial->shrunk, trial->seed);
        return;
    }
    if (trial->shortest > 0) {
        snprintf(shortest, sizeof shortest, "%zu", trial->shortest);
    }
    if (trial->shrunk > 0) {
        snprintf(shrunk, sizeof shrunk, "%" PRIu32, trial->shrunk);
    }
    printf("%-44s %8s %7s  %-8s %s\n", trial->sabotage.name, shortest, shrunk,
           trial->shortest == 0 ? "" : trial->clause,
           trial->shortest != 0 ? trial->trouble
           : trial->complete    ? "does not show here"
                                : "bounded");
}

static void write_table(const struct contest *contest, bool json)
{
    size_t found = 0, shrunk = 0, longer = 0;
    double ratio = 0;
    if (!json) {
        printf("%-44s %8s %7s  %-8s %s\n", "sabotage", "shortest", "shrunk", "clause", "with");
    }
    for (size_t i = 0; i < contest->count; i++) {
        const struct trial *trial = &contest->trials[i];
        write_trial(trial, json);
        found += trial->shortest > 0;
        if (trial->shortest > 0 && trial->shrunk > 0) {
            shrunk++;
            longer += trial->shrunk > trial->shortest;
            ratio += (double)trial->shrunk / (double)trial->shortest;
        }
    }
    if (!json) {
        printf("\n%zu sabotages, %zu of which %s can show within these bounds; of %zu that a "
               "campaign found, too,\nthe shrunk schedule is %.2f times as long in the mean, and "
               "longer for %zu\n",
               contest->count, found, contest->scenario->name, shrunk,
               shrunk == 0 ? 0 : ratio / (double)shrunk, longer);
    }
}

int explore_table(const struct scenario *scenario, unsigned jobs, size_t memory, bool json)
{
    struct contest contest = {.scenario = scenario, .memory = memory / jobs};
    pthread_t threads[EXPLORE_JOBS_MAX];
    unsigned started = 0;
    if (!gather(&contest)) {
        fputs("assay explore: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, work, &contest) == 0) {
        started++;
    }
    work(&contest);
    for (unsigned t = 0; t < started; t++) {
        pthread_join(threads[t], NULL);
    }
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
    write_table(&contest, json);
    free(contest.trials);
    if (atomic_load(&contest.out_of_memory)) {
        fputs("assay explore: not enough memory; try fewer --jobs\n", stderr);
        return CLI_UNAVAILABLE;
    }
    return CLI_OK;
}
