/* assay bench sim: how fast the simulation is, all oracles on. */
#include "bench/bench.h"
#include "bench/spin/spin.h"
#include "sim/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SAMPLES      3
#define LARGE_LEVELS 10    /* of a full binary tree: 1,023 activities */
#define LARGE_JOBS   10000 /* of tree-7 */

/* A scenario with everything that it takes to run it. */
struct ground {
    struct scenario scenario;
    struct run run;
};

static struct ground *ground_new(const char *name, const char *text)
{
    struct ground *ground = calloc(1, sizeof *ground);
    struct error error;
    if (ground == NULL) {
        return NULL;
    }
    bool loaded = text == NULL
                      ? scenario_load(name, &ground->scenario, &error)
                      : scenario_parse(text, strlen(text), name, &ground->scenario, &error);
    if (!loaded || !run_make(&ground->run, &ground->scenario, NULL)) {
        free(ground);
        return NULL;
    }
    return ground;
}

static void ground_free(struct ground *ground)
{
    if (ground != NULL) {
        run_free(&ground->run);
        free(ground);
    }
}

/* ---- steps and runs per second --------------------------------------------------------------- */

struct rates {
    double steps, runs; /* per second */
    double step_ns;
};

static struct rates measure_rates(struct ground *ground, uint64_t seeds)
{
    struct rates best = {0};
    for (int sample = 0; sample < SAMPLES; sample++) {
        uint64_t steps = 0;
        double start = bench_now_ns();
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct choice_source source = choice_random(seed, &ground->scenario.faults);
            steps += run_once(&ground->run, &source)->steps;
        }
        double ns = bench_now_ns() - start;
        if ((double)steps / ns * 1e9 > best.steps) {
            best = (struct rates){.steps = (double)steps / ns * 1e9,
                                  .runs = (double)seeds / ns * 1e9,
                                  .step_ns = ns / (double)steps};
        }
    }
    return best;
}

/* Nanoseconds of a run without faults; the best of some. */
static double measure_calm(struct ground *ground, int samples)
{
    double best = 0;
    for (int sample = 0; sample < samples; sample++) {
        struct choice_source calm = choice_listed(NULL);
        double start = bench_now_ns();
        run_once(&ground->run, &calm);
        double ns = bench_now_ns() - start;
        best = sample == 0 || ns < best ? ns : best;
    }
    return best;
}

/* ---- growth ---------------------------------------------------------------------------------- */

static int bench_growth(const struct bench_options *options)
{
    char tree[160], jobs[200];
    snprintf(tree, sizeof tree, "name: large\ncommits: literal\ngraph: {binary: %d}\n",
             LARGE_LEVELS);
    snprintf(jobs, sizeof jobs,
             "name: many\ncommits: literal\njobs: %d\n"
             "graph: {trigger: [a, b], a: [c, d], b: [e, f]}\n",
             LARGE_JOBS);
    struct ground *small = ground_new("tree-7", NULL);
    struct ground *large = ground_new("large", tree);
    struct ground *many = ground_new("many", jobs);
    if (small == NULL || large == NULL || many == NULL) {
        fputs("assay bench: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    double one = measure_calm(small, 2000);
    double activity = one / 7;
    double of_large = measure_calm(large, 20) / ((1 << LARGE_LEVELS) - 1);
    double of_many = measure_calm(many, 3) / LARGE_JOBS;
    if (!options->json) {
        printf("\ncost of a crash-free run, oracles on\n"
               "  an activity of 7: %.0f ns; of 1,023: %.0f ns\n"
               "  a job of 1: %.0f ns; of 10,000: %.0f ns\n",
               activity, of_large, one, of_many);
    }
    bool by_activity = bench_at_most(options->json, "cost per activity, 1,023 over 7, at most",
                                     of_large / activity, 2);
    bool by_job =
        bench_at_most(options->json, "cost per job, 10,000 over 1, at most", of_many / one, 2);
    ground_free(small);
    ground_free(large);
    ground_free(many);
    return by_activity && by_job ? CLI_OK : CLI_INCOMPLETE;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static double peak_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static void write_rates(const struct bench_options *options, const char *name,
                        const struct rates *rates, uint32_t transactions)
{
    printf(
        options->json
            ? "{\"type\":\"bench\",\"name\":\"sim\",\"scenario\":\"%s\",\"steps_per_second\":%.0f,"
              "\"runs_per_second\":%.0f,\"step_ns\":%.1f,\"crash_free_transactions\":%" PRIu32 "}\n"
            : "%-10s %10.2f %12.0f %9.0f %14" PRIu32 "\n",
        name, options->json ? rates->steps : rates->steps / 1e6, rates->runs, rates->step_ns,
        transactions);
    fflush(stdout);
}

/* Scenarios on one core. True: tree-7's rate is in *tree7. */
static bool bench_rates(const struct bench_options *options, double *tree7)
{
    static const char *const names[] = {"tree-3", "tree-5", "tree-7", "cycle", "pending"};
    if (!options->json) {
        puts("one core, all faults and all oracles on\n"
             "scenario   million steps/s       runs/s   ns/step  calm transactions");
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        struct ground *ground = ground_new(names[i], NULL);
        if (ground == NULL) {
            return false;
        }
        struct rates rates = measure_rates(ground, options->seeds);
        write_rates(options, names[i], &rates, ground->run.crash_free_transactions);
        if (strcmp(names[i], "tree-7") == 0) {
            *tree7 = rates.steps;
        }
        ground_free(ground);
    }
    return true;
}

static void bench_beside_spin(const struct bench_options *options, double tree7)
{
    const struct spin_question question = {
        .tree = 5, .crashes = 2, .duplicates = 1, .counters = true, .megabytes = 4000};
    struct spin_figures spin;
    char why[200];
    if (!spin_measure(&question, &spin, why, sizeof why)) {
        if (!options->json) {
            printf("\nSPIN was not measured: %s\n", why);
        }
        return;
    }
    double rate = spin.transitions / spin.seconds;
    if (!options->json) {
        printf("\nSPIN's verifier of the same protocol, in the same sitting: %.2f million "
               "transitions/s\n",
               rate / 1e6);
    }
    bench_note(options->json, "SPIN, million transitions per second", rate / 1e6);
    bench_note(options->json, "steps of tree-7 over SPIN's transitions, per second", tree7 / rate);
}

int bench_sim(const struct bench_options *options)
{
    double tree7 = 0;
    if (!bench_rates(options, &tree7)) {
        fputs("assay bench: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    bool memory = bench_at_most(options->json, "peak memory of these runs in MB, at most",
                                peak_megabytes(), 64);
    bench_note(options->json, "million steps of tree-7 per second and core (5 is the target)",
               tree7 / 1e6);
    bench_beside_spin(options, tree7);
    int growth = bench_growth(options);
    return growth == CLI_OK && !memory ? CLI_INCOMPLETE : growth;
}
