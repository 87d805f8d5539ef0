#include "verify/conform_runs.h"

#include "reports/line.h"
#include "verify/mirror.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS_LOOKED_AT 400 /* of a scenario, for primitives that are missing */

/* What all runs came to. */
struct sum {
    struct lockstep of; /* counts only */
    uint64_t runs;
    int missing; /* primitives that were never compared */
};

/* A scenario's runs, and PostgreSQL beside them. */
struct pair {
    struct run *run;
    struct mirror mirror;
    struct fault_plan faults;
};

/* ---- what was compared ----------------------------------------------------------------------- */

static void conform_runs_add(struct sum *sum, const struct lockstep *lockstep)
{
    sum->of.statements += lockstep->statements;
    sum->of.waits += lockstep->waits;
    sum->of.deadlocks += lockstep->deadlocks;
    sum->of.commits += lockstep->commits;
    sum->of.rows += lockstep->rows;
    for (int i = 0; i < PRIMITIVE_COUNT; i++) {
        sum->of.followed[i] += lockstep->followed[i];
    }
}

static void tell_difference(const struct conform_runs *runs, const struct scenario *scenario,
                            uint64_t seed, const char *difference)
{
    artefacts_line(runs->results, line_make(LINE_DIFFERENCE, line_scenario(scenario->name),
                                            line_seed(seed), line_what(difference)));
    if (!runs->json) {
        printf("%s, seed %" PRIu64 ": %s\n", scenario->name, seed, difference);
    }
}

static void tell_sum(const struct conform_runs *runs, const struct sum *sum, int status)
{
    const struct lockstep *of = &sum->of;
    artefacts_line(runs->results,
                   line_make(LINE_RUNS, line_runs(sum->runs), line_statements(of->statements),
                             line_waits(of->waits), line_deadlocks(of->deadlocks),
                             line_commits(of->commits), line_rows(of->rows),
                             line_differs(status != CLI_OK)));
    if (!runs->json) {
        printf("%" PRIu64 " runs, %" PRIu64 " statements, %" PRIu64 " waits, %" PRIu64
               " deadlocks, %" PRIu64 " commits, %" PRIu64 " final rows: %s\n",
               sum->runs, of->statements, of->waits, of->deadlocks, of->commits, of->rows,
               status == CLI_OK ? "no difference" : "they differ");
    }
}

static void tell_primitives(const struct conform_runs *runs, const struct sum *sum)
{
    json_t *never = json_array();
    int compared = PRIMITIVE_COUNT - sum->missing;
    if (!runs->json) {
        printf("%d of %d primitives of the protocols were compared\n", compared, PRIMITIVE_COUNT);
    }
    for (int i = 0; i < PRIMITIVE_COUNT; i++) {
        if (sum->of.followed[i] != 0) {
            continue;
        }
        json_array_append_new(never, json_string(primitive_table[i].name));
        if (!runs->json) {
            printf("  never: %s\n", primitive_table[i].name);
        }
    }
    artefacts_line(runs->results, line_make(LINE_PRIMITIVES, line_all(PRIMITIVE_COUNT),
                                            line_compared((uint64_t)compared), line_never(never)));
}

/* ---- one scenario ---------------------------------------------------------------------------- */

static int open_pair(const struct conform_runs *runs, const struct scenario *scenario,
                     struct pair *pair)
{
    struct error error;
    *pair = (struct pair){.run = calloc(1, sizeof *pair->run), .faults = scenario->faults};
    pair->faults.rate[FAULT_REORDER].times = 0; /* PostgreSQL claims what is due first */
    if (pair->run == NULL || !run_make(pair->run, scenario, NULL)) {
        fprintf(stderr, "assay conform: not enough memory for %s\n", scenario->name);
        free(pair->run);
        return CLI_UNAVAILABLE;
    }
    if (!mirror_open(&pair->mirror, runs->dsn, pair->run, &error)) {
        fprintf(stderr, "assay conform: %s\n", error.text);
        run_free(pair->run);
        free(pair->run);
        return CLI_UNAVAILABLE;
    }
    return CLI_OK;
}

static void close_pair(const struct conform_runs *runs, struct pair *pair, struct sum *sum)
{
    conform_runs_add(sum, &pair->mirror.lockstep);
    mirror_close(&pair->mirror, runs->dsn);
    run_free(pair->run);
    free(pair->run);
}

static int follow_seed(const struct conform_runs *runs, struct pair *pair, uint64_t seed,
                       struct sum *sum)
{
    struct choice_source source = choice_random(seed, &pair->faults);
    mirror_run(&pair->mirror, &source);
    sum->runs++;
    if (!lockstep_differs(&pair->mirror.lockstep)) {
        return CLI_OK;
    }
    tell_difference(runs, pair->run->scenario, seed, pair->mirror.lockstep.difference);
    return pair->mirror.lockstep.failed ? CLI_UNAVAILABLE : CLI_BROKEN;
}

static int follow_scenario(const struct conform_runs *runs, const struct scenario *scenario,
                           uint64_t seeds, struct sum *sum)
{
    struct pair pair;
    int status = open_pair(runs, scenario, &pair);
    if (status != CLI_OK) {
        return status;
    }
    for (uint64_t n = 0; n < seeds && status == CLI_OK && !*runs->interrupted; n++) {
        status = follow_seed(runs, &pair, runs->first_seed + n, sum);
    }
    close_pair(runs, &pair, sum);
    return status;
}

/* ---- primitives that are missing ------------------------------------------------------------- */

static void count_missing(struct sum *sum)
{
    sum->missing = 0;
    for (int i = 0; i < PRIMITIVE_COUNT; i++) {
        sum->missing += sum->of.followed[i] == 0;
    }
}

/* What is looked for in a run, and whether it came to pass. */
struct look {
    const struct sum *sum;
    bool found;
};

static void look_at(void *context, const struct run_event *event)
{
    struct look *look = context;
    bool done =
        event->bundle != NULL &&
        (event->committed || (event->outcome != NULL && event->outcome->kind == OUTCOME_REFUSED));
    unsigned skipped = done ? event->outcome->skipped : 0; /* the call that it ended with, or 0 */
    for (unsigned i = 0; done && i < (skipped == 0 ? event->bundle->count : skipped); i++) {
        uint8_t primitive = event->bundle->calls[i].primitive;
        look->found = look->found || look->sum->of.followed[primitive] == 0;
    }
}

/* Whether a run of this seed asks for a primitive that is missing. */
static bool asks_for_more(struct pair *pair, uint64_t seed, const struct sum *sum)
{
    struct look look = {.sum = sum};
    struct choice_source source = choice_random(seed, &pair->faults);
    pair->run->observer = look_at;
    pair->run->observer_context = &look;
    run_once(pair->run, &source);
    pair->run->observer = NULL;
    return look.found;
}

static int follow_missing(const struct conform_runs *runs, const struct scenario *scenario,
                          struct sum *sum)
{
    struct pair pair;
    int status = open_pair(runs, scenario, &pair);
    if (status != CLI_OK) {
        return status;
    }
    for (uint64_t n = 0; n < SEEDS_LOOKED_AT && sum->missing > 0 && status == CLI_OK; n++) {
        uint64_t seed = runs->first_seed + n;
        if (*runs->interrupted || !asks_for_more(&pair, seed, sum)) {
            continue;
        }
        memset(pair.mirror.lockstep.followed, 0, sizeof pair.mirror.lockstep.followed);
        status = follow_seed(runs, &pair, seed, sum);
        for (int i = 0; i < PRIMITIVE_COUNT; i++) {
            sum->of.followed[i] += pair.mirror.lockstep.followed[i];
        }
        count_missing(sum);
    }
    memset(pair.mirror.lockstep.followed, 0, sizeof pair.mirror.lockstep.followed);
    close_pair(runs, &pair, sum);
    return status;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* False: *refusal says why it cannot be followed. */
static bool conform_runs_load(const char *name, struct scenario *scenario, struct error *refusal)
{
    struct error error;
    if (!scenario_load(name, scenario, &error)) {
        snprintf(refusal->text, sizeof refusal->text, "%s", error.text);
        return false;
    }
    const char *why = mirror_refuses(scenario);
    if (why != NULL) {
        snprintf(refusal->text, sizeof refusal->text, "%s: %s", scenario->name, why);
    }
    return why == NULL;
}

int conform_follow_named(const struct conform_runs *runs, const char *const *names, int count,
                         struct error *refusal)
{
    struct sum sum = {0};
    int status = CLI_OK;
    for (int i = 0; i < count && status == CLI_OK; i++) {
        static struct scenario scenario;
        if (!conform_runs_load(names[i], &scenario, refusal)) {
            return CLI_USAGE;
        }
        status = follow_scenario(runs, &scenario, runs->seeds, &sum);
    }
    tell_sum(runs, &sum, status);
    return status;
}

/* A built-in scenario that can be followed, or NULL. */
static const struct scenario *followed(size_t number)
{
    static struct scenario scenario;
    struct error error;
    return scenario_load(scenario_name(number), &scenario, &error) &&
                   mirror_refuses(&scenario) == NULL
               ? &scenario
               : NULL;
}

int conform_follow_all(const struct conform_runs *runs)
{
    struct sum sum = {0};
    uint64_t each = runs->seeds / 10 / scenario_count() + 1;
    int status = CLI_OK;
    for (size_t i = 0; i < scenario_count() && status == CLI_OK && !*runs->interrupted; i++) {
        const struct scenario *scenario = followed(i);
        status = scenario == NULL ? CLI_OK : follow_scenario(runs, scenario, each, &sum);
    }
    count_missing(&sum);
    for (size_t i = 0; i < scenario_count() && status == CLI_OK && sum.missing > 0; i++) {
        const struct scenario *scenario = followed(i);
        status = scenario == NULL ? CLI_OK : follow_missing(runs, scenario, &sum);
    }
    tell_sum(runs, &sum, status);
    tell_primitives(runs, &sum);
    return status == CLI_OK && sum.missing > 0 ? CLI_INCOMPLETE : status;
}
