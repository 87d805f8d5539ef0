/* The protocol's SQL in its least form, by hand, for pgbench: what the server itself can do. */
#ifndef REAL_BENCH_MINIMAL_H
#define REAL_BENCH_MINIMAL_H

#include "real/store.h"

struct minimal {
    const char *name;  /* of the script: minimal/NAME.sql */
    const char *about; /* what a run of it does */
};

/* From the least to the most; the last has a NULL name. */
extern const struct minimal minimal_list[];

/* Runs of a script a second, on rows made anew. */
bool minimal_run(const struct minimal *minimal, const char *dsn, unsigned clients, int seconds,
                 double *rate, struct store_pg_problem *problem);

#endif
