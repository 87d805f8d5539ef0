/* pgbench as a peer: PostgreSQL's own load generator, with a script. */
#ifndef BENCH_PGBENCH_H
#define BENCH_PGBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pgbench {
    const char *dsn;
    const char *script; /* text */
    unsigned clients;
    int seconds;
    bool settings;             /* with what a connection of Assay's has set (sql_settings) */
    bool (*interrupted)(void); /* NULL: no interrupts */
};

/* Scripts a second, without the time that connecting takes. False: *why says what is missing. */
bool pgbench_run(const struct pgbench *pgbench, double *rate, char *why, size_t size);

#endif
