/* assay bench real: jobs of three chained activities beside the peers.
 *
 * Everybody gets the same: a database made anew for every run, as many jobs that warm up and are
 * not measured, as many jobs, 16 at a time. For Assay, graphile-worker and pg-boss that is 16
 * clients that add jobs as fast as they can; for Assay and graphile-worker 16 workers; for DBOS,
 * whose workflows run where they are begun, 16 workflows under way. pg-boss alone is let have more
 * in hand, since it polls (pg-boss.js). All rows are kept.
 *
 * What a job costs is counted for all of them by the server, once all connections are gone: its
 * commits, as pg_stat_database has them, and its processor time, as the kernel does. One run
 * without any job but those that warm up says what is to be taken off. */
#include "bench/bench_real.h"

#include "bench/load.h"
#include "bench/peers.h"
#include "model/activity_engine.h"
#include "model/check.h"
#include "verify/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE    "assay_round"
#define JOBS        200 /* for each second of a measurement */
#define WARM_JOBS   64
#define JOBS_MS_MAX 240000
#define LEAVE_TRIES 1000 /* of 10 ms, until all connections are gone */
#define PEERS_MAX   8

/* What a run cost, or what a job did. */
struct cost {
    double commits, server_s, client_s, round_trips;
};

/* Everybody who runs jobs: both forms of Assay, then the peers. */
struct contest {
    struct bench *bench;
    const struct peers *peers;       /* NULL: they are left out */
    char dsn[CLUSTER_DSN_SIZE + 40]; /* of the database of the round */
    double rates[BENCH_COMMITS + PEERS_MAX][BENCH_ROUNDS];
    struct cost base[BENCH_COMMITS + PEERS_MAX]; /* of a run without jobs */
    struct cost sum[BENCH_COMMITS + PEERS_MAX];  /* of all rounds */
};

static unsigned job_count(const struct bench *bench)
{
    return (unsigned)bench->options->seconds * JOBS;
}

static size_t contestants(const struct contest *contest)
{
    return BENCH_COMMITS + (contest->peers == NULL ? 0 : peers_count());
}

static const char *name_of(size_t index)
{
    return index < BENCH_COMMITS ? "Assay" : peers_name(index - BENCH_COMMITS);
}

/* ---- the server ------------------------------------------------------------------------------ */

static struct store_pg *open_server(struct bench *bench)
{
    struct store_pg_options options = {.dsn = bench->dsn,
                                       .schema = BENCH_SCHEMA,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    return store_pg_open(&options, &bench->error);
}

/* With its database gone a round has left nothing behind. */
static bool tell_server(struct bench *bench, const char *command)
{
    struct store_pg *store = open_server(bench);
    bool done = store != NULL && store_pg_run(store, command);
    if (store != NULL && !done) {
        snprintf(bench->error.text, sizeof bench->error.text, "%s", store_pg_why_not(store));
    }
    store_pg_close(store);
    return done;
}

/* Commits are told to the server's statistics when a connection ends, at the latest. */
static bool commits_of_round(struct bench *bench, double *commits)
{
    int64_t there = 1, count = 0;
    struct store_pg *store = open_server(bench);
    for (int i = 0; store != NULL && there != 0 && i < LEAVE_TRIES; i++) {
        if (!store_pg_ask(store,
                          "SELECT count(*) FROM pg_stat_activity "
                          "WHERE datname = '" DATABASE "' AND backend_type = 'client backend'",
                          &there)) {
            break;
        }
        if (there != 0) {
            usleep(10000);
        }
    }
    bool asked = store != NULL && there == 0 &&
                 store_pg_ask(store,
                              "SELECT xact_commit FROM pg_stat_database "
                              "WHERE datname = '" DATABASE "'",
                              &count);
    if (store != NULL && !asked) {
        snprintf(bench->error.text, sizeof bench->error.text, "connections do not end: %s",
                 store_pg_why_not(store));
    }
    store_pg_close(store);
    *commits = (double)count;
    return asked;
}

/* Processor time of the server and of all its processes that have ended. */
static double server_seconds(const struct bench *bench)
{
    char path[40], text[1024] = "";
    unsigned long long user = 0, system = 0, users = 0, systems = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)bench->cluster.server.pid);
    FILE *stream = fopen(path, "r");
    if (stream != NULL) {
        size_t got = fread(text, 1, sizeof text - 1, stream);
        text[got] = '\0';
        fclose(stream);
    }
    const char *after_name = strrchr(text, ')');
    if (after_name != NULL) {
        (void)sscanf(after_name + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &user,
                     &system, &users, &systems);
    }
    return (double)(user + system + users + systems) / (double)sysconf(_SC_CLK_TCK);
}

/* ... and of whatever was started here and has ended. */
static double client_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const char chain_scenario[] = "name: chain\njobs: %u\nworkers: %d\ncommits: %s\n"
                                     "graph: {trigger: [second], second: [third]}\n";

static bool run_own(struct contest *contest, enum bench_commits commits, unsigned jobs,
                    double *rate, struct cost *cost)
{
    struct bench *bench = contest->bench;
    struct load_figures figures;
    struct load load = {.dsn = contest->dsn,
                        .schema = BENCH_SCHEMA,
                        .rules = &bench->rules,
                        .workers = BENCH_AT_ONCE,
                        .clients = BENCH_AT_ONCE,
                        .jobs = jobs,
                        .warm = WARM_JOBS,
                        .ms = JOBS_MS_MAX,
                        .interrupted = interrupt_seen};
    bench_use_scenario(bench, chain_scenario, WARM_JOBS + jobs, BENCH_AT_ONCE,
                       bench_commits_names[commits]);
    if (!store_pg_make_schema(contest->dsn, BENCH_SCHEMA, protocol_activity.tables,
                              &bench->error) ||
        !load_run(&load, &figures, &bench->error)) {
        return false;
    }
    CHECK(figures.tasks >= 3 * figures.ended); /* each in a process of its own */
    *rate = (double)figures.ended / figures.seconds;
    cost->round_trips = (double)(figures.commits + figures.refused + figures.waits);
    return true;
}

static bool run_peer(struct contest *contest, size_t peer, unsigned jobs, double *rate)
{
    const struct peers_load load = {
        .dsn = contest->dsn, .jobs = jobs, .concurrency = BENCH_AT_ONCE, .warm = WARM_JOBS};
    return peers_run(contest->peers, peer, &load, rate, contest->bench->error.text,
                     sizeof contest->bench->error.text);
}

/* In a database of its own. */
static bool run_one(struct contest *contest, size_t index, unsigned jobs, double *rate,
                    struct cost *cost)
{
    struct bench *bench = contest->bench;
    if (!tell_server(bench, "CREATE DATABASE " DATABASE " TEMPLATE postgres") ||
        !tell_server(bench, "CHECKPOINT")) {
        return false;
    }
    double server = server_seconds(bench), client = client_seconds();
    bool ran = index < BENCH_COMMITS ? run_own(contest, (enum bench_commits)index, jobs, rate, cost)
                                     : run_peer(contest, index - BENCH_COMMITS, jobs, rate);
    ran = ran && commits_of_round(bench, &cost->commits);
    cost->server_s = server_seconds(bench) - server;
    cost->client_s = client_seconds() - client;
    struct error error = bench->error;
    bool dropped = tell_server(bench, "DROP DATABASE " DATABASE " WITH (FORCE)");
    bench->error = ran ? bench->error : error;
    return ran && dropped;
}

/* ---- all runs -------------------------------------------------------------------------------- */

static void add_cost(struct cost *sum, const struct cost *cost)
{
    sum->commits += cost->commits;
    sum->server_s += cost->server_s;
    sum->client_s += cost->client_s;
    sum->round_trips += cost->round_trips;
}

/* They take turns; the first of a round is the last of the next. */
static bool run_contest(struct contest *contest)
{
    double ignored;
    size_t count = contestants(contest);
    for (size_t i = 0; i < count; i++) {
        if (!run_one(contest, i, 0, &ignored, &contest->base[i])) {
            return false;
        }
    }
    for (unsigned turn = 0; turn < BENCH_ROUNDS * count; turn++) {
        unsigned round = turn / (unsigned)count;
        size_t i = (turn + round) % count;
        struct cost cost = {0};
        if (!run_one(contest, i, job_count(contest->bench), &contest->rates[i][round], &cost)) {
            return false;
        }
        add_cost(&contest->sum[i], &cost);
    }
    return true;
}

/* What a job costs: without what a run costs that has none. */
static struct cost cost_of_job(const struct contest *contest, size_t index)
{
    const struct cost *sum = &contest->sum[index], *base = &contest->base[index];
    double jobs = (double)BENCH_ROUNDS * job_count(contest->bench);
    return (struct cost){.commits = (sum->commits - BENCH_ROUNDS * base->commits) / jobs,
                         .server_s = (sum->server_s - BENCH_ROUNDS * base->server_s) / jobs,
                         .client_s = (sum->client_s - BENCH_ROUNDS * base->client_s) / jobs,
                         .round_trips = sum->round_trips / jobs};
}

/* Of a peer nobody knows the round trips. */
static void write_jobs(const struct contest *contest, size_t index, double rate)
{
    char trips[24] = "";
    const char *commits = index < BENCH_COMMITS ? bench_commits_names[index] : "";
    struct cost cost = cost_of_job(contest, index);
    bool json = contest->bench->options->json;
    if (cost.round_trips > 0) {
        snprintf(trips, sizeof trips, "%.1f", cost.round_trips);
    } else if (json) {
        snprintf(trips, sizeof trips, "null");
    }
    if (json) {
        printf("{\"type\":\"bench\",\"name\":\"real_jobs\",\"of\":\"%s%s%s\",\"jobs_per_second\":"
               "%.1f,\"commits_of_a_job\":%.1f,\"round_trips_of_a_job\":%s,\"server_ms_of_a_job\":"
               "%.2f,\"client_ms_of_a_job\":%.2f}\n",
               name_of(index), commits[0] == '\0' ? "" : ", ", commits, rate, cost.commits, trips,
               cost.server_s * 1000, cost.client_s * 1000);
    } else {
        printf("  %-16s %-8s %7.1f %9.1f %12s %11.2f %11.2f\n", name_of(index), commits, rate,
               cost.commits, trips, cost.server_s * 1000, cost.client_s * 1000);
    }
}

/* Assay, merged, must be ahead of each of them: round by round, the median. */
static bool judge_contest(struct contest *contest)
{
    bool met = true, json = contest->bench->options->json;
    for (size_t i = BENCH_COMMITS; i < contestants(contest); i++) {
        char what[80];
        double ratios[BENCH_ROUNDS];
        for (int round = 0; round < BENCH_ROUNDS; round++) {
            ratios[round] = contest->rates[BENCH_MERGED][round] / contest->rates[i][round];
        }
        snprintf(what, sizeof what, "jobs of Assay over those of %s, at least", name_of(i));
        met = bench_at_least(json, what, bench_median(ratios), 1) && met;
        bench_note(json, "the least of a round", ratios[0]);
        bench_note(json, "the most of a round", ratios[BENCH_ROUNDS - 1]);
    }
    return met;
}

static void write_contest(struct contest *contest)
{
    for (size_t i = 0; i < contestants(contest); i++) {
        double rates[BENCH_ROUNDS];
        memcpy(rates, contest->rates[i], sizeof rates);
        write_jobs(contest, i, bench_median(rates));
    }
    /* A job of three activities: created; claimed with what its worker did before, and its first
     * Leg1 entered; then for each of them Leg1 done, its task answered and Leg2 entered, Leg2 done
     * and the next Leg1 entered; and one Step 3. No step can be left out, since what it enters is
     * to be counted before it is done (ACL-9). */
    bench_note(contest->bench->options->json,
               "the floor: commits of a job with merged commits if no claim stands alone",
               1 + 1 + 3 * 3 + 1);
}

/* ---- the peers ------------------------------------------------------------------------------- */

/* Installed, they are in the folder of the server, and go with it. */
static bool get_peers(const struct bench *bench, struct peers *peers, char *why, size_t size)
{
    char folder[sizeof peers->folder];
    *peers = (struct peers){.interrupted = interrupt_seen};
    if (bench->options->peers != NULL) {
        return peers_find(peers, bench->options->peers, why, size);
    }
    snprintf(folder, sizeof folder, "%s/peers", bench->cluster.folder);
    if (mkdir(folder, 0700) != 0) {
        snprintf(why, size, "%s cannot be made", folder);
        return false;
    }
    return peers_install(peers, folder, why, size);
}

static void write_heading(const struct bench *bench)
{
    if (!bench->options->json) {
        printf(
            "\n%u jobs of three activities, %d at a time: medians of %d rounds\n"
            "                   commits   jobs/s   commits  round trips   server ms   client ms\n"
            "                                     of a job     of a job    of a job    of a job\n",
            job_count(bench), BENCH_AT_ONCE, BENCH_ROUNDS);
        fflush(stdout);
    }
}

/* Without its peers there is nothing to be ahead of: that is incomplete, unless it was asked for.
 */
static int without_peers(const struct bench *bench, const char *why)
{
    bool json = bench->options->json, wanted = bench->options->no_peers;
    printf(json ? "{\"type\":\"note\",\"what\":\"the peers are not measured: %s\"}\n"
                : "  the peers are not measured: %s\n",
           wanted ? "left out as asked for" : why);
    return wanted ? CLI_OK : CLI_INCOMPLETE;
}

int bench_jobs(struct bench *bench)
{
    struct peers peers;
    char why[400] = "";
    struct contest contest = {.bench = bench};
    const char *database = strstr(bench->dsn, "dbname=");
    CHECK(database != NULL && peers_count() <= PEERS_MAX);
    snprintf(contest.dsn, sizeof contest.dsn, "%.*sdbname=" DATABASE, (int)(database - bench->dsn),
             bench->dsn);
    bool there = !bench->options->no_peers && get_peers(bench, &peers, why, sizeof why);
    contest.peers = there ? &peers : NULL;
    write_heading(bench);
    if (!run_contest(&contest)) {
        return bench_complain("jobs", bench->error.text);
    }
    write_contest(&contest);
    if (!there) {
        return without_peers(bench, why);
    }
    return judge_contest(&contest) ? CLI_OK : CLI_INCOMPLETE;
}
