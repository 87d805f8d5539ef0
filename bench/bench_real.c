/* assay bench real: how fast the engines are on PostgreSQL. */
#include "bench/bench_real.h"

#include "bench/leg2.h"
#include "bench/load.h"
#include "bench/minimal.h"
#include "bench/pgbench.h"
#include "cli/server.h"
#include "model/check.h"
#include "real/driver.h"
#include "verify/interrupt.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM_MS    30000
#define PUT_BACK_MS 10
#define RATE_FIRST  6000 /* messages/s that a queue lasts for; doubled when it is dry */
#define RATIO_LEAST 0.85

/* fsync is on; that no checkpoint falls into a measurement by chance is all that is tuned. */
static const char settings[] = "max_wal_size = 8GB\ncheckpoint_timeout = 30min\n";

const char *const bench_commits_names[BENCH_COMMITS] = {"merged", "literal"};

int bench_complain(const char *what, const char *why)
{
    fprintf(stderr, "assay bench: %s: %s\n", what, why);
    return interrupt_seen() ? CLI_INCOMPLETE : CLI_UNAVAILABLE;
}

void bench_use_scenario(struct bench *bench, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct error error;
    bool loaded = scenario_parse(text, strlen(text), "bench", &bench->scenario, &error);
    CHECK(loaded);
    scenario_rules(&bench->scenario, CLAIM_MS, PUT_BACK_MS, &bench->rules);
}

static int compare_figures(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_median(double figures[BENCH_ROUNDS])
{
    qsort(figures, BENCH_ROUNDS, sizeof *figures, compare_figures);
    return figures[BENCH_ROUNDS / 2];
}

/* ---- whole Leg2 messages --------------------------------------------------------------------- */

static const char leg2_scenario[] =
    "name: leg2\nworkers: 16\ngraph: {trigger: [left, right]}\ncommits: %s\n";

/* One measurement of Leg2 messages. */
struct leg2_run {
    unsigned at_once; /* workers, or clients */
    bool pgbench;
    uint32_t messages; /* that are waiting */
    double rate;
    int64_t left;
};

/* Messages a second of Assay's workers. */
static bool run_workers(struct bench *bench, struct leg2_run *run)
{
    struct load_figures figures;
    struct load load = {.dsn = bench->dsn,
                        .schema = BENCH_SCHEMA,
                        .rules = &bench->rules,
                        .workers = run->at_once,
                        .ms = (int64_t)bench->options->seconds * 1000,
                        .only_leg2 = true,
                        .interrupted = interrupt_seen};
    if (!load_run(&load, &figures, &bench->error) ||
        !leg2_left(bench->dsn, BENCH_SCHEMA, &run->left, &bench->error)) {
        return false;
    }
    run->rate = (double)(run->messages - run->left) / figures.seconds;
    return true;
}

/* The same of pgbench with their SQL. A client of its that finds no message gives up. */
static bool run_pgbench(struct bench *bench, struct leg2_run *run)
{
    char *script = malloc(LEG2_SCRIPT_SIZE);
    struct pgbench pgbench = {.dsn = bench->dsn,
                              .script = script,
                              .clients = run->at_once,
                              .seconds = (int)bench->options->seconds,
                              .settings = true,
                              .interrupted = interrupt_seen};
    struct error error;
    CHECK(script != NULL);
    bool recorded = leg2_record(bench->dsn, BENCH_SCHEMA, &bench->rules, script, &bench->error);
    bool measured =
        recorded && pgbench_run(&pgbench, &run->rate, bench->error.text, sizeof bench->error.text);
    free(script);
    return recorded && leg2_left(bench->dsn, BENCH_SCHEMA, &run->left, &error) &&
           (measured || run->left == 0);
}

/* Rows made anew; more of them as long as they run out, since what then is measured is nothing. */
static bool measure(struct bench *bench, struct leg2_run *run)
{
    run->messages = (uint32_t)(bench->options->seconds * RATE_FIRST) / 2;
    do {
        run->messages *= 2;
        if (!leg2_prepare(bench->dsn, BENCH_SCHEMA, run->messages, &bench->error) ||
            !(run->pgbench ? run_pgbench : run_workers)(bench, run) ||
            !store_pg_drop_schema(bench->dsn, BENCH_SCHEMA, &bench->error)) {
            return false;
        }
    } while (run->left == 0);
    return true;
}

/* Rates by round, and how they compare in each. */
struct rates {
    double own[BENCH_ROUNDS], pgbench[BENCH_ROUNDS], ratio[BENCH_ROUNDS];
};

static bool measure_round(struct bench *bench, unsigned workers, int round, struct rates *rates)
{
    struct leg2_run own = {.at_once = workers}, pgbench = {.at_once = workers, .pgbench = true};
    bool pgbench_first = round % 2 == 1;
    if (!measure(bench, pgbench_first ? &pgbench : &own) ||
        !measure(bench, pgbench_first ? &own : &pgbench)) {
        return false;
    }
    rates->own[round] = own.rate;
    rates->pgbench[round] = pgbench.rate;
    rates->ratio[round] = own.rate / pgbench.rate;
    return true;
}

static void write_leg2(const struct bench *bench, unsigned workers, const char *commits,
                       struct rates *rates)
{
    printf(bench->options->json
               ? "{\"type\":\"bench\",\"name\":\"real_leg2\",\"workers\":%u,\"commits\":\"%s\","
                 "\"messages_per_second\":%.1f,\"pgbench_per_second\":%.1f}\n"
               : "%7u  %-8s %18.1f %25.1f\n",
           workers, commits, bench_median(rates->own), bench_median(rates->pgbench));
    fflush(stdout);
}

/* Both sides send the same transactions: a message that comes after this one is claimed apart. */
static bool judge_leg2(const struct bench *bench, unsigned workers, enum bench_commits commits,
                       struct rates *rates)
{
    char what[120];
    snprintf(what, sizeof what, "Assay over pgbench, %u workers, %s, at least", workers,
             bench_commits_names[commits]);
    return bench_at_least(bench->options->json, what, bench_median(rates->ratio), RATIO_LEAST);
}

static int bench_leg2(struct bench *bench)
{
    static const unsigned counts[] = {1, 4, BENCH_AT_ONCE};
    bool met = true;
    if (!bench->options->json) {
        printf("whole Leg2 messages with two children, on PostgreSQL with fsync on: medians of %d "
               "rounds\nworkers  commits   Assay, messages/s  pgbench with Assay's SQL\n",
               BENCH_ROUNDS);
    }
    for (size_t i = 0; i < COUNT(counts); i++) {
        struct rates rates[BENCH_COMMITS];
        for (int turn = 0; turn < BENCH_ROUNDS * BENCH_COMMITS; turn++) {
            int c = turn % BENCH_COMMITS;
            bench_use_scenario(bench, leg2_scenario, bench_commits_names[c]);
            if (!measure_round(bench, counts[i], turn / BENCH_COMMITS, &rates[c])) {
                return bench_complain("Leg2 messages", bench->error.text);
            }
        }
        for (int c = 0; c < BENCH_COMMITS; c++) {
            write_leg2(bench, counts[i], bench_commits_names[c], &rates[c]);
        }
        for (int c = 0; c < BENCH_COMMITS; c++) {
            met = judge_leg2(bench, counts[i], (enum bench_commits)c, &rates[c]) && met;
        }
    }
    return met ? CLI_OK : CLI_INCOMPLETE;
}

static int bench_minimal(struct bench *bench)
{
    uint64_t seconds = bench->options->seconds;
    if (!bench->options->json) {
        printf("\nthe least SQL, pgbench with %d clients, per second\n", BENCH_AT_ONCE);
    }
    for (const struct minimal *one = minimal_list; one->name != NULL; one++) {
        struct minimal_load load = {.dsn = bench->dsn,
                                    .clients = BENCH_AT_ONCE,
                                    .seconds = (int)seconds,
                                    .messages = (uint32_t)(seconds * RATE_FIRST),
                                    .interrupted = interrupt_seen};
        double rate = 0;
        bool dry = true;
        for (; dry; load.messages *= 2) {
            if (!minimal_run(one, &load, &rate, &dry, &bench->error)) {
                return bench_complain(one->name, bench->error.text);
            }
        }
        bench_note(bench->options->json, one->about, rate);
        fflush(stdout);
    }
    return CLI_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int bench_all(void *context, const char *dsn)
{
    static int (*const parts[])(struct bench * bench) = {bench_leg2, bench_minimal, bench_jobs};
    struct bench *bench = context;
    int worst = CLI_OK;
    bench->dsn = dsn;
    for (size_t i = 0; i < COUNT(parts) && worst != CLI_UNAVAILABLE; i++) {
        int status = interrupt_seen() ? CLI_INCOMPLETE : parts[i](bench);
        worst = status == CLI_OK ? worst : status; /* a bar that is missed stops nothing */
    }
    return worst;
}

/* To be told to end is to be interrupted: what was started is ended, and what was made removed. */
static void interrupt_instead(int signal_number)
{
    (void)signal_number;
    (void)raise(SIGINT);
}

int bench_real(const struct bench_options *options)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct sigaction action = {.sa_handler = interrupt_instead}, before;
    if (bench == NULL) {
        return bench_complain("real", "not enough memory");
    }
    interrupt_watch();
    sigaction(SIGTERM, &action, &before);
    bench->options = options;
    int status = server_use(
        &(struct server_request){
            .verb = "bench", .fsync = true, .settings = settings, .cluster = &bench->cluster},
        bench_all, bench);
    sigaction(SIGTERM, &before, NULL);
    free(bench);
    return status;
}
