/* Shared by the parts of `assay bench real`: Leg2 messages compared with pgbench (bench_real.c), jobs
 * compared with the peers (bench_jobs.c). */
#ifndef BENCH_BENCH_REAL_H
#define BENCH_BENCH_REAL_H

#include "bench/bench.h"
#include "model/error.h"
#include "real/cluster.h"
#include "real/store.h"
#include "scenarios/scenario.h"

#define BENCH_SCHEMA  "assay_bench"
#define BENCH_ROUNDS  5  /* in which they take turns: what else the machine does falls on all */
#define BENCH_AT_ONCE 16 /* workers, clients, connections */

/* Both forms of the protocol's commits, the one that is usually meant first. */
enum bench_commits { BENCH_MERGED, BENCH_LITERAL, BENCH_COMMITS };
extern const char *const bench_commits_names[BENCH_COMMITS];

struct bench {
    const struct bench_options *options;
    struct cluster cluster;
    const char *dsn;
    struct scenario scenario;
    struct rules rules;
    struct error error;
};

/* Says what is missing; returns the exit status for that. */
int bench_complain(const char *what, const char *why);

/* Takes a scenario's rules. */
__attribute__((format(printf, 2, 3))) void bench_use_scenario(struct bench *bench,
                                                              const char *format, ...);

double bench_median(double figures[BENCH_ROUNDS]);

/* Jobs of three activities a second beside the peers. Returns an exit status. */
int bench_jobs(struct bench *bench);

#endif
