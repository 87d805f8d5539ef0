/* The protocol's SQL in its least form, by hand, for pgbench: what the server itself can do. */
#ifndef BENCH_MINIMAL_H
#define BENCH_MINIMAL_H

#include "model/error.h"
#include "real/store.h"

struct minimal {
    const char *name;  /* of the script: minimal/NAME.sql */
    const char *about; /* what a run of it does */
};

/* From the least to the most; the last has a NULL name. */
extern const struct minimal minimal_list[];

struct minimal_load {
    const char *dsn;
    unsigned clients;
    int seconds;
    uint32_t messages;         /* that are waiting for those scripts that take one each */
    bool (*interrupted)(void); /* NULL: no interrupts */
};

/* Runs of a script a second, on rows made anew. *dry: there were too few messages, and nothing was
 * measured. */
bool minimal_run(const struct minimal *minimal, const struct minimal_load *load, double *rate,
                 bool *dry, struct error *error);

#endif
