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
#include <stdarg.h>
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
#define PEERS_MAX   8
#define WARM_JOBS   64
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

/* Both forms of the protocol's commits, the one that is usually meant first. */
enum commits { MERGED, LITERAL, COMMITS_COUNT };
static const char *const commits_names[COMMITS_COUNT] = {"merged", "literal"};

__attribute__((format(printf, 2, 3))) static void use_scenario(struct bench *bench,
                                                               const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
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

static const char leg2_scenario[] =
    "name: leg2\nworkers: 16\ngraph: {trigger: [left, right]}\ncommits: %s\n";

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

/* Rates of rounds in which they take turns, so that whatever else the machine does falls on all. */
struct rates {
    double own[COMMITS_COUNT][ROUNDS], pgbench[COMMITS_COUNT][ROUNDS];
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

static bool measure_leg2(struct bench *bench, unsigned workers, struct rates *rates)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < COMMITS_COUNT; c++) {
            use_scenario(bench, leg2_scenario, commits_names[c]);
            if (!measure_workers(bench, workers, &rates->own[c][round]) ||
                !measure_pgbench(bench, workers, &rates->pgbench[c][round])) {
                return false;
            }
        }
    }
    return true;
}

static void write_leg2(const struct bench *bench, unsigned workers, const char *commits, double own,
                       double other)
{
    printf(bench->options->json
               ? "{\"type\":\"bench\",\"name\":\"real_leg2\",\"workers\":%u,\"commits\":\"%s\","
                 "\"messages_per_second\":%.1f,\"pgbench_per_second\":%.1f}\n"
               : "%7u  %-8s %18.1f %25.1f\n",
           workers, commits, own, other);
    fflush(stdout);
}

/* The bar is on the literal form, in which both sides send the same transactions; and on the merged
 * form, in which the script has one more. */
static int bench_leg2(struct bench *bench)
{
    static const unsigned counts[] = {1, 4, 16};
    bool json = bench->options->json, met = true;
    if (!json) {
        puts("whole Leg2 messages with two children, on PostgreSQL with fsync on\n"
             "workers  commits   Assay, messages/s  pgbench with Assay's SQL");
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct rates rates;
        double ratios[COMMITS_COUNT];
        char what[80];
        if (!measure_leg2(bench, counts[i], &rates)) {
            return complain("Leg2 messages", bench->problem.text);
        }
        for (int c = 0; c < COMMITS_COUNT; c++) {
            double own = median(rates.own[c]), other = median(rates.pgbench[c]);
            write_leg2(bench, counts[i], commits_names[c], own, other);
            ratios[c] = own / other;
        }
        for (int c = 0; c < COMMITS_COUNT; c++) {
            snprintf(what, sizeof what, "Assay over pgbench, %u workers, %s, at least", counts[i],
                     commits_names[c]);
            met = bench_at_least(json, what, ratios[c], RATIO_LEAST) && met;
        }
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

static const char chain_scenario[] = "name: chain\njobs: %u\nworkers: %d\ncommits: %s\n"
                                     "graph: {trigger: [second], second: [third]}\n";

/* Jobs a second, and what each took. */
struct cost {
    double rate, commits, round_trips; /* round trips 0: not known */
};

static bool measure_jobs(struct bench *bench, enum commits commits, struct load_figures *figures)
{
    struct load load = {.dsn = bench->dsn,
                        .schema = SCHEMA,
                        .rules = &bench->rules,
                        .workers = CONCURRENCY,
                        .jobs = WARM_JOBS + job_count(bench),
                        .warm = WARM_JOBS,
                        .ms = JOBS_MS_MAX};
    use_scenario(bench, chain_scenario, load.jobs, CONCURRENCY, commits_names[commits]);
    return store_pg_make_schema(bench->dsn, SCHEMA, protocol_get(PROTOCOL_ACTIVITY)->tables,
                                &bench->problem) &&
           load_run(&load, figures, &bench->problem) && drop(bench);
}

/* Of a peer only the server knows what it cost. */
static void write_jobs(const struct bench *bench, const char *name, const char *commits,
                       const struct cost *cost)
{
    char trips[24] = "";
    if (bench->options->json) {
        snprintf(trips, sizeof trips, cost->round_trips > 0 ? "%.1f" : "null", cost->round_trips);
        printf("{\"type\":\"bench\",\"name\":\"real_jobs\",\"of\":\"%s%s%s\",\"jobs_per_second\":"
               "%.1f,\"commits_of_a_job\":%.1f,\"round_trips_of_a_job\":%s}\n",
               name, commits[0] == '\0' ? "" : ", ", commits, cost->rate, cost->commits, trips);
    } else {
        if (cost->round_trips > 0) {
            snprintf(trips, sizeof trips, "%.1f", cost->round_trips);
        }
        printf("  %-16s %-8s %8.1f %15.1f %14s\n", name, commits, cost->rate, cost->commits, trips);
    }
    fflush(stdout);
}

/* What the server has committed so far, whoever asked for it. */
static double commits_so_far(struct bench *bench)
{
    int64_t commits = 0;
    struct store_pg_options options = {.dsn = bench->dsn,
                                       .schema = SCHEMA,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    struct store_pg *store = store_pg_open(&options, &bench->problem);
    if (store != NULL) {
        store_pg_ask(store,
                     "SELECT xact_commit FROM pg_stat_database "
                     "WHERE datname = current_database()",
                     &commits);
        store_pg_close(store);
    }
    return (double)commits;
}

/* Everybody who runs jobs: both forms of Assay, then the peers; rates by round. */
struct contest {
    const struct peers *peers; /* NULL: none is there */
    struct cost cost[COMMITS_COUNT + PEERS_MAX];
    double rates[COMMITS_COUNT + PEERS_MAX][ROUNDS];
};

static bool run_own(struct bench *bench, enum commits commits, struct cost *cost)
{
    struct load_figures figures;
    if (!measure_jobs(bench, commits, &figures)) {
        return false;
    }
    double jobs = (double)figures.ended;
    uint64_t trips = figures.commits + figures.refused + figures.waits;
    *cost = (struct cost){.rate = jobs / figures.seconds,
                          .commits = (double)figures.commits / jobs,
                          .round_trips = (double)trips / jobs};
    return true;
}

static bool run_peer(struct bench *bench, const struct peers *peers, size_t index,
                     struct cost *cost)
{
    const struct peers_load load = {
        .dsn = bench->dsn, .jobs = job_count(bench), .concurrency = CONCURRENCY};
    double before = commits_so_far(bench);
    if (!peers_run(peers, index, &load, &cost->rate, bench->problem.text,
                   sizeof bench->problem.text)) {
        return false;
    }
    cost->commits = (commits_so_far(bench) - before) / job_count(bench);
    return true;
}

static size_t contestants(const struct contest *contest)
{
    return COMMITS_COUNT + (contest->peers == NULL ? 0 : peers_count());
}

/* They take turns. */
static bool run_contest(struct bench *bench, struct contest *contest)
{
    CHECK(peers_count() <= PEERS_MAX);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < contestants(contest); i++) {
            struct cost *cost = &contest->cost[i];
            bool ran = i < COMMITS_COUNT ? run_own(bench, (enum commits)i, cost)
                                         : run_peer(bench, contest->peers, i - COMMITS_COUNT, cost);
            if (!ran) {
                return false;
            }
            contest->rates[i][round] = cost->rate;
        }
    }
    return true;
}

/* Returns how far Assay, merged, is ahead of the best peer; 0: there is none. */
static double write_contest(const struct bench *bench, struct contest *contest)
{
    double best = 0;
    for (size_t i = 0; i < contestants(contest); i++) {
        bool own = i < COMMITS_COUNT;
        contest->cost[i].rate = median(contest->rates[i]);
        write_jobs(bench, own ? "Assay" : peers_name(i - COMMITS_COUNT),
                   own ? commits_names[i] : "", &contest->cost[i]);
        best = !own && contest->cost[i].rate > best ? contest->cost[i].rate : best;
    }
    return best == 0 ? 0 : contest->cost[MERGED].rate / best;
}

/* A job of three activities: created; then for each of them Leg1 entered and done, its task
 * answered, Leg2 entered and done; and one Step 3. An entry stands alone so that it is counted
 * (ACL-9), and each of those messages is seen by nobody before the commit that publishes it. */
static void write_floor(const struct bench *bench)
{
    bench_note(bench->options->json,
               "the floor: commits of a job with merged commits if no claim stands alone",
               1 + 3 * (2 + 1 + 2) + 1);
}

static int bench_jobs(struct bench *bench)
{
    struct peers peers;
    char why[300];
    struct contest contest = {0};
    bool json = bench->options->json;
    if (!json) {
        printf("\n%u jobs of three activities, %d at a time\n"
               "                   commits    jobs/s  commits of a job  round trips\n",
               job_count(bench), CONCURRENCY);
        fflush(stdout);
    }
    bool there = peers_open(&peers, bench->options->peers, why, sizeof why);
    contest.peers = there ? &peers : NULL;
    bool measured = run_contest(bench, &contest);
    if (there) {
        peers_close(&peers);
    }
    if (!measured) {
        return complain("jobs", bench->problem.text);
    }
    double ahead = write_contest(bench, &contest);
    write_floor(bench);
    if (!there) {
        printf(json ? "{\"type\":\"note\",\"what\":\"the peers are not measured: %s\"}\n"
                    : "  the peers are not measured: %s\n",
               why);
        return CLI_OK;
    }
    return bench_at_least(json, "jobs of Assay over the best peer's, at least", ahead, 1)
               ? CLI_OK
               : CLI_INCOMPLETE;
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
