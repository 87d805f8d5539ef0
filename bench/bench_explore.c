/* assay bench explore: exhaustive search, beside SPIN's verifier of the same protocol. */
#include "bench/bench.h"
#include "bench/spin/peer.h"
#include "bench/spin/spin.h"
#include "verify/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MEMORY      ((size_t)4 << 30)
#define MEGABYTES   12000 /* that SPIN may use */
#define BIG_FOR_TWO 3     /* crashes in peer-7 where one thread is compared with two */

struct scope {
    int tree, crashes, duplicates;
    double with, without; /* states that SPIN stores, with counters and without, about */
};

struct figures {
    double states, transitions, seconds, bytes;
    bool complete;
};

/* One search; false: no memory. */
static bool explore_scope(struct scope scope, unsigned reductions, unsigned jobs,
                          struct figures *figures)
{
    char name[16];
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct error error;
    struct search_result result;
    snprintf(name, sizeof name, "peer-%d", scope.tree);
    bool loaded = scenario != NULL && scenario_load(name, scenario, &error);
    struct explore_plan plan = {.walk = {.scenario = scenario,
                                         .bounds = {.crashes = (uint8_t)scope.crashes,
                                                    .duplicates = (uint8_t)scope.duplicates},
                                         .reductions = reductions},
                                .memory = MEMORY,
                                .jobs = jobs};
    if (!loaded || !search(&plan, false, &result)) {
        free(scenario);
        return false;
    }
    const struct explore_report *report = &result.report;
    *figures = (struct figures){.states = (double)report->states,
                                .transitions = (double)report->transitions,
                                .seconds = result.seconds,
                                .bytes = (double)report->bytes,
                                .complete = report->verdict == EXPLORE_HELD};
    search_free(&result);
    free(scenario);
    return true;
}

static void write_row(const struct bench_options *options, struct scope scope, const char *who,
                      const struct figures *figures)
{
    printf(options->json
               ? "{\"type\":\"bench\",\"name\":\"explore\",\"scenario\":\"peer-%d\",\"crashes\":%d,"
                 "\"duplicates\":%d,\"who\":\"%s\",\"states\":%.0f,\"transitions\":%.0f,"
                 "\"seconds\":%.3f,\"megabytes\":%.1f,\"bytes_per_state\":%.1f,\"complete\":%s}\n"
               : "peer-%d %2d %2d  %-22s %11.0f %12.0f %9.2f %9.1f %7.1f  %s\n",
           scope.tree, scope.crashes, scope.duplicates, who, figures->states, figures->transitions,
           figures->seconds, figures->bytes / 1e6, figures->bytes / figures->states,
           options->json ? (figures->complete ? "true" : "false")
                         : (figures->complete ? "complete" : "bounded"));
    fflush(stdout);
}

/* ---- SPIN ------------------------------------------------------------------------------------ */

/* False: it could not be measured, and why was said. */
static bool ask_spin(const struct bench_options *options, struct scope scope,
                     struct spin_question question, const char *who, struct figures *figures)
{
    struct spin_figures spin;
    char why[200];
    question.tree = scope.tree;
    question.crashes = scope.crashes;
    question.duplicates = scope.duplicates;
    if (!spin_measure(&question, &spin, why, sizeof why)) {
        fprintf(stderr, "assay bench: SPIN was not measured: %s\n", why);
        return false;
    }
    *figures = (struct figures){.states = spin.states,
                                .transitions = spin.transitions,
                                .seconds = spin.seconds,
                                .bytes = spin.bytes,
                                .complete = spin.complete};
    write_row(options, scope, who, figures);
    return true;
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* With nothing reduced, both visit the same number of states. */
static int bench_agreement(const struct bench_options *options)
{
    int equal = 0, scopes = 0;
    for (int tree = 3; tree <= 5; tree += 2) {
        for (int i = 0; i < 6; i++) {
            struct scope scope = {.tree = tree, .crashes = i / 2, .duplicates = i % 2};
            struct figures spin, own;
            if (!explore_scope(scope, 0, 1, &own)) {
                return CLI_UNAVAILABLE;
            }
            write_row(options, scope, "Assay, unreduced", &own);
            struct spin_question question = {.counters = true,
                                             .all_variables = true,
                                             .megabytes = MEGABYTES,
                                             .states = own.states};
            if (!ask_spin(options, scope, question, "SPIN, all variables", &spin)) {
                return CLI_UNAVAILABLE;
            }
            equal += spin.states == own.states && spin.complete && own.complete;
            scopes++;
        }
    }
    return bench_at_least(options->json, "scopes with equal numbers of states, of 12, at least",
                          equal, scopes)
               ? CLI_OK
               : CLI_INCOMPLETE;
}

/* ---- speed ----------------------------------------------------------------------------------- */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The same question: does every promise hold within these bounds? One core each. */
static int bench_speed(const struct bench_options *options, struct scope scope)
{
    struct figures with, without, hashed, own;
    struct spin_question question = {
        .counters = true, .megabytes = MEGABYTES, .states = scope.with};
    if (!ask_spin(options, scope, question, "SPIN, lossless", &with)) {
        return CLI_UNAVAILABLE;
    }
    question.counters = false;
    question.states = scope.without;
    if (!ask_spin(options, scope, question, "SPIN, no counters", &without)) {
        return CLI_UNAVAILABLE;
    }
    question.hashed = true;
    if (!ask_spin(options, scope, question, "SPIN, hash-compact", &hashed) ||
        !explore_scope(scope, REDUCE_ALL, 1, &own)) {
        return CLI_UNAVAILABLE;
    }
    write_row(options, scope, "Assay, reduced", &own);
    bool json = options->json;
    bool fast =
        bench_at_least(json, "times less wall time than the fastest lossless SPIN, at least",
                       smaller(with.seconds, without.seconds) / own.seconds, 3);
    bool small = bench_at_most(json, "memory over the smallest lossless SPIN's, at most",
                               own.bytes / smaller(with.bytes, without.bytes), 0.25);
    bool hash = bench_at_most(json, "memory over hash-compact SPIN's, at most",
                              own.bytes / hashed.bytes, 1);
    return fast && small && hash && own.complete ? CLI_OK : CLI_INCOMPLETE;
}

/* ---- shortest counterexamples --------------------------------------------------------------- */

/* How many steps it takes until the model's assertions fail, as SPIN counts; 0: they do not. */
static size_t shortest_steps(const char *sabotage_name)
{
    struct scenario *scenario = calloc(1, sizeof *scenario);
    struct error error;
    struct sabotage sabotage;
    struct search_result result;
    size_t steps = 0;
    struct explore_plan plan = {.walk = {.scenario = scenario,
                                         .sabotage = &sabotage,
                                         .bounds = {.crashes = 2, .duplicates = 1},
                                         .reductions = REDUCE_ALL,
                                         .watch = peer_watch},
                                .memory = MEMORY,
                                .jobs = 1};
    if (scenario != NULL && scenario_load("peer-3", scenario, &error) &&
        sabotage_find(sabotage_name, &sabotage) && search_way(&plan, &result)) {
        bool broken = result.report.verdict == EXPLORE_BROKEN;
        steps = broken ? result.report.path_length - (result.report.result.settled ? 0 : 1) : 0;
        search_free(&result);
    }
    free(scenario);
    return steps;
}

/* The same planted bugs in the model and in the engine: as many steps until an assertion fails. */
static int bench_shortest(const struct bench_options *options)
{
    static const struct {
        const char *sabotage;
        int bug;
        bool unguarded;
    } cases[] = {{"unbundled-step2", 1, false},
                 {"lost-snapshot", 2, false},
                 {"guid-from-full-ledger", 3, false},
                 {"trust-stale-read", 0, true}};
    const int count = COUNT(cases);
    int equal = 0;
    for (int i = 0; i < count; i++) {
        struct spin_question question = {.tree = 3,
                                         .crashes = 2,
                                         .duplicates = 1,
                                         .counters = true,
                                         .all_variables = true,
                                         .megabytes = MEGABYTES,
                                         .states = 1e6,
                                         .bug = cases[i].bug,
                                         .unguarded = cases[i].unguarded,
                                         .shortest = true};
        struct spin_figures spin;
        char why[200];
        if (!spin_measure(&question, &spin, why, sizeof why)) {
            fprintf(stderr, "assay bench: SPIN was not measured: %s\n", why);
            return CLI_UNAVAILABLE;
        }
        size_t steps = shortest_steps(cases[i].sabotage);
        printf(options->json ? "{\"type\":\"bench\",\"name\":\"explore-shortest\",\"sabotage\":"
                               "\"%s\",\"spin\":%d,\"steps\":%zu}\n"
                             : "peer-3  2  1  %-22s shortest: SPIN %d steps, Assay %zu\n",
               cases[i].sabotage, spin.depth, steps);
        equal += spin.depth > 0 && (size_t)spin.depth == steps;
    }
    return bench_at_least(options->json, "shortest counterexamples as long as SPIN's, of 4", equal,
                          count)
               ? CLI_OK
               : CLI_INCOMPLETE;
}

static int bench_cores(const struct bench_options *options)
{
    struct scope scope = {.tree = 7, .crashes = BIG_FOR_TWO, .duplicates = 1};
    struct figures one, two;
    if (!explore_scope(scope, REDUCE_ALL, 1, &one) || !explore_scope(scope, REDUCE_ALL, 2, &two)) {
        return CLI_UNAVAILABLE;
    }
    write_row(options, scope, "Assay, one thread", &one);
    write_row(options, scope, "Assay, two threads", &two);
    bool fast = bench_at_least(options->json, "times faster with two cores, at least",
                               one.seconds / two.seconds, 1.4);
    return fast && one.states == two.states ? CLI_OK : CLI_INCOMPLETE;
}

/* What lossless SPIN cannot finish in 8 GB. */
static int bench_out_of_reach(const struct bench_options *options)
{
    struct scope scope = {.tree = 7, .crashes = 3, .duplicates = 2};
    struct figures own, spin;
    if (!explore_scope(scope, REDUCE_ALL, 2, &own)) {
        return CLI_UNAVAILABLE;
    }
    write_row(options, scope, "Assay, reduced", &own);
    if (!options->long_one) {
        return own.complete ? CLI_OK : CLI_INCOMPLETE;
    }
    struct spin_question question = {.megabytes = 8000, .states = 6e7};
    if (!ask_spin(options, scope, question, "SPIN, no counters, 8 GB", &spin)) {
        return CLI_UNAVAILABLE;
    }
    return own.complete && !spin.complete ? CLI_OK : CLI_INCOMPLETE;
}

static int worse(int status, int other)
{
    return status == CLI_OK || other == CLI_UNAVAILABLE ? other : status;
}

int bench_explore(const struct bench_options *options)
{
    static const struct scope asked[] = {{5, 3, 1, 1.09e7, 3.8e6}, {7, 2, 1, 5.86e7, 2.9e7}};
    if (!options->json) {
        puts("scope   cr du  who                         states  transitions   seconds        MB"
             " bytes/st");
    }
    int status = bench_agreement(options);
    if (status != CLI_UNAVAILABLE) {
        status = worse(status, bench_shortest(options));
    }
    for (size_t i = 0; i < COUNT(asked) && status != CLI_UNAVAILABLE; i++) {
        status = worse(status, bench_speed(options, asked[i]));
    }
    if (status != CLI_UNAVAILABLE) {
        status = worse(status, bench_cores(options));
        status = worse(status, bench_out_of_reach(options));
    }
    return status;
}
