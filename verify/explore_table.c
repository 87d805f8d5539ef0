#include "verify/explore_table.h"

#include "reports/json_line.h"
#include "reports/line.h"
#include "sim/schedule.h"
#include "sim/shrink.h"
#include "verify/interrupt.h"
#include "verify/search.h"
#include "verify/status.h"

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
} bounds_of[] = {{"nothing", {0}},
                 {"a duplicate", {.duplicates = 1}},
                 {"a crash", {.crashes = 1}},
                 {"a lapse", {.lapses = 1}},
                 {"a lost answer", {.unknowns = 1}},
                 {"an abort", {.aborts = 1}},
                 {"a crash and a duplicate", {.crashes = 1, .duplicates = 1}}};
#define BOUNDS COUNT(bounds_of)

/* The shortest schedule in a scenario that breaks a promise. */
struct shortest {
    size_t steps; /* up to the breach, the breaking one included; 0: not found */
    const char *trouble, *clause;
    const char *stuck; /* the trouble after which nothing could rest; NULL: none */
    bool complete;     /* no search was bounded */
};

struct trial {
    struct sabotage sabotage;
    struct shortest here;  /* in the scenario that was asked for */
    struct shortest there; /* in the one that the campaign's finding was shrunk to */
    uint32_t shrunk;       /* steps of that finding; 0: there was none */
    uint64_t seed;
    bool done;
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

static bool seek_with(const struct explore_plan *plan, const char *trouble,
                      struct shortest *shortest)
{
    struct search_result result;
    if (!search_shortest(plan, &result)) {
        return false;
    }
    const struct explore_report *report = &result.report;
    shortest->complete = shortest->complete && report->verdict != EXPLORE_BOUNDED;
    if (report->verdict == EXPLORE_STUCK && shortest->stuck == NULL) {
        shortest->stuck = trouble;
    }
    if (report->verdict == EXPLORE_BROKEN &&
        (shortest->steps == 0 || report->path_length < shortest->steps)) {
        shortest->steps = report->path_length;
        shortest->trouble = trouble;
        shortest->clause = clause_get(report->result.breach.clause)->id;
    }
    search_free(&result);
    return true;
}

/* False: no memory. */
static bool seek_shortest(const struct contest *contest, const struct scenario *scenario,
                          const struct sabotage *sabotage, struct shortest *shortest)
{
    struct explore_plan plan = {.walk = {.scenario = scenario,
                                         .sabotage = sabotage,
                                         .reductions = REDUCE_ALL & ~(unsigned)REDUCE_ORDER},
                                .memory = contest->memory,
                                .jobs = 1};
    bool made = true;
    *shortest = (struct shortest){.complete = true};
    for (size_t t = 0; made && t < BOUNDS && !interrupt_seen(); t++) {
        plan.walk.bounds = bounds_of[t].bounds;
        made = seek_with(&plan, bounds_of[t].name, shortest);
    }
    return made;
}

/* The first seed that breaks a promise; 0: none does. */
static bool seek_seed(const struct contest *contest, struct trial *trial)
{
    struct run *run = calloc(1, sizeof *run);
    if (run == NULL || !run_make(run, contest->scenario, &trial->sabotage)) {
        free(run);
        return false;
    }
    for (uint64_t seed = 1; seed <= SEEDS_MAX && trial->seed == 0 && !interrupt_seen(); seed++) {
        struct choice_source source = choice_random(seed, &contest->scenario->faults);
        if (run_once(run, &source)->verdict == RUN_BROKEN) {
            trial->seed = seed;
        }
    }
    run_free(run);
    free(run);
    return true;
}

/* A campaign's finding, made smaller. Shrinking makes the scenario smaller, too: how short it could
 * be is asked there. */
static bool seek_shrunk(const struct contest *contest, struct trial *trial)
{
    struct schedule schedule;
    struct shrink_report report;
    bool made = true;
    if (!seek_seed(contest, trial) || !schedule_make(&schedule)) {
        return false;
    }
    *schedule.scenario = *contest->scenario;
    schedule.sabotaged = true;
    schedule.sabotage = trial->sabotage;
    if (trial->seed != 0 && shrink_record(&schedule, trial->seed, NULL) &&
        shrink(&schedule, NULL, NULL, &report)) {
        trial->shrunk = report.steps_after;
        made = seek_shortest(contest, schedule.scenario, &trial->sabotage, &trial->there);
    }
    schedule_free(&schedule);
    return made;
}

static void *work(void *context)
{
    struct contest *contest = context;
    for (size_t i = atomic_fetch_add(&contest->next, 1); i < contest->count && !interrupt_seen();
         i = atomic_fetch_add(&contest->next, 1)) {
        struct trial *trial = &contest->trials[i];
        if (!seek_shortest(contest, contest->scenario, &trial->sabotage, &trial->here) ||
            !seek_shrunk(contest, trial)) {
            atomic_store(&contest->out_of_memory, true);
        }
        trial->done = !interrupt_seen();
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

static json_t *trial_json(const struct trial *trial)
{
    const struct shortest *here = &trial->here;
    return line_make(LINE_SHORTEST, line_sabotage(trial->sabotage.name), line_steps(here->steps),
                     line_with(here->trouble), line_clause(here->clause),
                     line_cannot_rest_with(here->stuck), line_complete(here->complete),
                     line_shrunk(trial->shrunk), line_shortest_there(trial->there.steps),
                     line_seed(trial->seed));
}

static void write_number(char text[24], uint64_t number)
{
    snprintf(text, 24, number == 0 ? "-" : "%" PRIu64, number);
}

static void write_trial(const struct trial *trial)
{
    const struct shortest *here = &trial->here;
    char steps[24], shrunk[24], there[24];
    write_number(steps, here->steps);
    write_number(shrunk, trial->shrunk);
    write_number(there, trial->there.steps);
    printf("%-44s %8s %7s %6s  %-8s %s%s\n", trial->sabotage.name, steps, shrunk, there,
           here->steps == 0 ? "" : here->clause,
           here->steps != 0      ? here->trouble
           : here->stuck != NULL ? "nothing can come to rest with "
           : here->complete      ? "does not show here"
                                 : "bounded",
           here->steps == 0 && here->stuck != NULL ? here->stuck : "");
}

/* What the rows come to. */
struct totals {
    size_t done, shown, stuck, compared, longer;
    double median, worst; /* of shrunk over shortest, in the same scenario */
};

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* False: no memory. */
static bool explore_table_add_up(const struct contest *contest, struct totals *totals)
{
    double *ratios = calloc(contest->count + 1, sizeof *ratios);
    *totals = (struct totals){0};
    for (size_t i = 0; ratios != NULL && i < contest->count; i++) {
        const struct trial *trial = &contest->trials[i];
        totals->done += trial->done;
        totals->shown += trial->done && trial->here.steps > 0;
        totals->stuck += trial->done && trial->here.steps == 0 && trial->here.stuck != NULL;
        if (trial->done && trial->shrunk > 0 && trial->there.steps > 0) {
            ratios[totals->compared++] = (double)trial->shrunk / (double)trial->there.steps;
            totals->longer += trial->shrunk > trial->there.steps;
        }
    }
    if (totals->compared > 0) {
        qsort(ratios, totals->compared, sizeof *ratios, by_size);
        totals->median = ratios[totals->compared / 2];
        totals->worst = ratios[totals->compared - 1];
    }
    free(ratios);
    return ratios != NULL;
}

static void write_totals(const struct contest *contest, const struct totals *totals, bool json)
{
    if (json) {
        json_line_write(stdout,
                        line_make(LINE_SHORTEST_SUMMARY, line_verb("explore"),
                                  line_scenario(contest->scenario->name),
                                  line_complete(totals->done == contest->count),
                                  line_sabotages(totals->done), line_shown(totals->shown),
                                  line_cannot_rest(totals->stuck), line_compared(totals->compared),
                                  line_longer(totals->longer), line_median_ratio(totals->median),
                                  line_worst_ratio(totals->worst)));
        return;
    }
    printf(
        "\n%zu of %zu sabotages; %zu break a promise in %s within these bounds, and %zu leave it "
        "without rest.\n"
        "Of %zu findings of campaigns, shrunk, %zu are longer than the shortest schedule of the "
        "scenario\nthat they were shrunk to: %.2f times in the median, %.2f at worst\n",
        totals->done, contest->count, totals->shown, contest->scenario->name, totals->stuck,
        totals->compared, totals->longer, totals->median, totals->worst);
}

static bool write_table(const struct contest *contest, bool json)
{
    struct totals totals;
    if (!json) {
        printf("%-44s %8s %7s %6s  %-8s %s\n", "sabotage", "shortest", "shrunk", "there", "clause",
               "with");
    }
    for (size_t i = 0; i < contest->count; i++) {
        const struct trial *trial = &contest->trials[i];
        if (trial->done && json) {
            json_line_write(stdout, trial_json(trial));
        } else if (trial->done) {
            write_trial(trial);
        }
    }
    bool made = explore_table_add_up(contest, &totals);
    if (made) {
        write_totals(contest, &totals, json);
    }
    return made;
}

/* Some at a time, until all are done or the user interrupts. */
static void work_together(struct contest *contest, unsigned jobs)
{
    pthread_t threads[EXPLORE_JOBS_MAX];
    unsigned started = 0;
    while (started + 1 < jobs && pthread_create(&threads[started], NULL, work, contest) == 0) {
        started++;
    }
    work(contest);
    for (unsigned t = 0; t < started; t++) {
        pthread_join(threads[t], NULL);
    }
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}

int explore_table(const struct scenario *scenario, unsigned jobs, size_t memory, bool json)
{
    struct contest contest = {.scenario = scenario, .memory = memory / jobs};
    if (!gather(&contest)) {
        fputs("assay explore: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    work_together(&contest, jobs);
    bool made = write_table(&contest, json) && !atomic_load(&contest.out_of_memory);
    free(contest.trials);
    if (!made) {
        fputs("assay explore: not enough memory; try fewer --jobs\n", stderr);
        return CLI_UNAVAILABLE;
    }
    return interrupt_seen() ? CLI_INCOMPLETE : CLI_OK;
}
