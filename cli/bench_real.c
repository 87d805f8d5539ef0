/* assay bench real: how fast the engines are on PostgreSQL. */
#include "cli/bench.h"
#include "cli/server.h"
#include "real/bench/leg2.h"
#include "real/bench/load.h"
#include "real/bench/minimal.h"
#include "real/bench/peers.h"
#include "real/bench/pgbench.h"
#include "real/driver.h"
#include "scenarios/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA      "assay_bench"
#define CLAIM_MS    30000
#define PUT_BACK_MS 10
#define ROUNDS      3    /* of Assay and its peers in turn */
#define RATE_MAX    6000 /* Leg2 messages a second that a queue must last for */
#define CONCURRENCY 16
#define JOBS        200 /* for each second of a measurement */
#define JOBS_MS_MAX 240000
#define RATIO_LEAST 0.85

/* fsync is on; that no checkpoint falls into a measurement by chance is all that is tuned. */
static const char settings[] = "max_wal_size = 8GB\ncheckpoint_timeout = 30min\n";

struct bench {
    const struct bench_options *options;
    const char *dsn;
    struct scenario scenario;
    struct rules rules;
    char script[LEG2_SCRIPT_SIZE];
    struct store_pg_problem problem;
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "assay bench: %s: %s\n", what, why);
    return CLI_UNAVAILABLE;
}

static void use_scenario(struct bench *bench, const char *text)
{
    struct scenario_fault fault;
    bool loaded = scenario_parse(text, strlen(text), "bench", &bench->scenario, &fault);
    CHECK(loaded);
    scenario_rules(&bench->scenario, CLAIM_MS, PUT_BACK_MS, &bench->rules);
}

static bool drop(struct bench *bench)
{
    return store_pg_drop_schema(bench->dsn, SCHEMA, &bench->problem);
}

/* ---- whole Leg2 messages --------------------------------------------------------------------- */

static const char leg2_scenario[] = "name: leg2\nworkers: 16\ngraph: {trigger: [left, right]}\n";

static uint32_t queue_length(const struct bench *bench)
{
    return (uint32_t)(bench->options->seconds * RATE_MAX);
}

/* Messages a second of Assay's workers. */
static bool measure_workers(struct bench *bench, unsigned workers, double *rate)
{
    int64_t left = 0;
    struct load_figures figures;
    struct load load = {.dsn = bench->dsn,
                        .schema = SCHEMA,
                        .rules = &bench->rules,
                        .workers = workers,
                        .ms = (int64_t)bench->options->seconds * 1000};
    bool measured = leg2_prepare(bench->dsn, SCHEMA, queue_length(bench), &bench->problem) &&
                    load_run(&load, &figures, &bench->problem) &&
                    leg2_left(bench->dsn, SCHEMA, &left, &bench->problem) && drop(bench);
    if (measured) {
        *rate = (double)(queue_length(bench) - left) / figures.seconds;
    }
    return measured;
}

/* The same of pgbench with their SQL. */
static bool measure_pgbench(struct bench *bench, unsigned clients, double *rate)
{
    struct pgbench pgbench = {.dsn = bench->dsn,
                              .script = bench->script,
                              .clients = clients,
                              .seconds = (int)bench->options->seconds,
                              .now = driver_now(),
                              .settings = true};
    return leg2_prepare(bench->dsn, SCHEMA, queue_length(bench), &bench->problem) &&
           leg2_record(bench->dsn, SCHEMA, &bench->rules, bench->script, &bench->problem) &&
           pgbench_run(&pgbench, rate, bench->problem.text, sizeof bench->problem.text) &&
           drop(bench);
}

/* The medians of rounds in which they take turns. */
struct pair {
    double own[ROUNDS], other[ROUNDS];
};

static int compare_rates(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double rates[ROUNDS])
{
    qsort(rates, ROUNDS, sizeof *rates, compare_rates);
    return rates[ROUNDS / 2];
}

static bool measure_both(struct bench *bench, unsigned workers, double *own, double *other)
{
    struct pair pair;
    for (int round = 0; round < ROUNDS; round++) {
        if (!measure_workers(bench, workers, &pair.own[round]) ||
            !measure_pgbench(bench, workers, &pair.other[round])) {
            return false;
        }
    }
    *own = median(pair.own);
    *other = median(pair.other);
    return true;
}

static void write_leg2(const struct bench *bench, unsigned workers, double own, double other)
{
    printf(
        bench->options->json
            ? "{\"type\":\"bench\",\"name\":\"real_leg2\",\"workers\":%u,\"messages_per_second\":"
              "%.1f,\"pgbench_per_second\":%.1f}\n"
            : "%7u %18.1f %24.1f\n",
        workers, own, other);
    fflush(stdout);
}

static int bench_leg2(struct bench *bench)
{
    static const unsigned counts[] = {1, 4, 16};
    bool json = bench->options->json, met = true;
    use_scenario(bench, leg2_scenario);
    if (!json) {
        puts("whole Leg2 messages with two children, on PostgreSQL with fsync on\n"
             "workers  Assay, messages/s  pgbench with Assay's SQL");
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double own = 0, other = 0;
        char what[80];
        if (!measure_both(bench, counts[i], &own, &other)) {
            return complain("Leg2 messages", bench->problem.text);
        }
        write_leg2(bench, counts[i], own, other);
        snprintf(what, sizeof what, "Assay over pgbench, %u workers, at least", counts[i]);
        met = bench_at_least(json, what, own / other, RATIO_LEAST) && met;
    }
    return met ? CLI_OK : CLI_INCOMPLETE;
}

static int bench_minimal(struct bench *bench)
{
    char what[120];
    double rate;
    if (!bench->options->json) {
        printf("\nthe least SQL, pgbench with %d clients, per second\n", CONCURRENCY);
    }
    for (const struct minimal *one = minimal_list; one->name != NULL; one++) {
        if (!minimal_run(one, bench->dsn, CONCURRENCY, (int)bench->options->seconds, &rate,
                         &bench->problem)) {
            return complain(one->name, bench->problem.text);
        }
        snprintf(what, sizeof what, "%s", one->about);
        bench_note(bench->options->json, what, rate);
        fflush(stdout);
    }
    return CLI_OK;
}

/* ---- jobs of three activities ---------------------------------------------------------------- */

static unsigned job_count(const struct bench *bench)
{
    return (unsigned)bench->options->seconds * JOBS;
}

static bool measure_jobs(struct bench *bench, struct load_figures *figures)
{
    struct load load = {.dsn = bench->dsn,
                        .schema = SCHEMA,
                        .rules = &bench->rules,
                        .workers = CONCURRENCY,
                        .jobs = job_count(bench),
                        .ms = JOBS_MS_MAX};
    return store_pg_make_schema(bench->dsn, SCHEMA, protocol_get(PROTOCOL_ACTIVITY)->tables,
                                &bench->problem) &&
           load_run(&load, figures, &bench->problem) && drop(bench);
}

static void write_jobs(const struct bench *bench, const char *name, double rate)
{
    printf(
        bench->options->json
            ? "{\"type\":\"bench\",\"name\":\"real_jobs\",\"of\":\"%s\",\"jobs_per_second\":%.1f}\n"
            : "  %-24s %8.1f\n",
        name, rate);
    fflush(stdout);
}

static void write_cost(const struct bench *bench, const struct load_figures *figures)
{
    double jobs = (double)figures->ended;
    bench_note(bench->options->json, "commits of a job, each one round trip",
               (double)figures->commits / jobs);
    bench_note(bench->options->json, "looks at an empty queue, a job",
               (double)figures->waits / jobs);
}

/* Assay and the peers in one sitting; the best peer must not be ahead. */
static int compare_jobs(struct bench *bench, const struct peers *peers)
{
    struct load_figures figures;
    const struct peers_load load = {
        .dsn = bench->dsn, .jobs = job_count(bench), .concurrency = CONCURRENCY};
    if (!measure_jobs(bench, &figures)) {
        return complain("jobs", bench->problem.text);
    }
    double own = (double)figures.ended / figures.seconds, best = 0;
    write_jobs(bench, "Assay", own);
    write_cost(bench, &figures);
    for (size_t i = 0; peers != NULL && i < peers_count(); i++) {
        double rate = 0;
        char why[300];
        if (!peers_run(peers, i, &load, &rate, why, sizeof why)) {
            return complain(peers_name(i), why);
        }
        write_jobs(bench, peers_name(i), rate);
        best = rate > best ? rate : best;
    }
    return peers == NULL ||
                   bench_at_least(bench->options->json,
                                  "jobs of Assay over the best peer's, at least", own / best, 1)
               ? CLI_OK
               : CLI_INCOMPLETE;
}

static int bench_jobs(struct bench *bench)
{
    struct peers peers;
    char text[120], why[300];
    bool json = bench->options->json;
    snprintf(text, sizeof text,
             "name: chain\njobs: %u\nworkers: %d\ngraph: {trigger: [second], second: [third]}\n",
             job_count(bench), CONCURRENCY);
    use_scenario(bench, text);
    if (!json) {
        printf("\n%u jobs of three activities, %d at a time, per second\n", job_count(bench),
               CONCURRENCY);
        fflush(stdout);
    }
    bool there = peers_open(&peers, bench->options->peers, why, sizeof why);
    if (!there && !json) {
        printf("  the peers are not measured: %s\n", why);
    }
    int status = compare_jobs(bench, there ? &peers : NULL);
    if (there) {
        peers_close(&peers);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int bench_all(void *context, const char *dsn)
{
    static int (*const parts[])(struct bench * bench) = {bench_leg2, bench_minimal, bench_jobs};
    struct bench *bench = context;
    int worst = CLI_OK;
    bench->dsn = dsn;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && worst != CLI_UNAVAILABLE; i++) {
        int status = parts[i](bench);
        worst = status == CLI_OK ? worst : status; /* a bar that is missed stops nothing */
    }
    return worst;
}

int bench_real(const struct bench_options *options)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return complain("real", "not enough memory");
    }
    bench->options = options;
    int status =
        server_use(&(struct server_request){.verb = "bench", .fsync = true, .settings = settings},
                   bench_all, bench);
    free(bench);
    return status;
}
