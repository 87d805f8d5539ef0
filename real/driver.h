/* A worker and a client on PostgreSQL: the engines of model/engine.h, unchanged, in front of
 * store.h. A worker is meant to be a process of its own with one connection; who starts it, stops
 * it and kills it is the caller's business.
 *
 * Time is the machine's monotonic clock in milliseconds, the same for all processes. */
#ifndef REAL_DRIVER_H
#define REAL_DRIVER_H

#include "faults/sabotage.h"
#include "real/store.h"

struct driver {
    const char *dsn, *schema;
    const struct engine_rules *rules; /* ticks are milliseconds */
    const struct sabotage *sabotage;  /* NULL: none */
    int64_t give_up_at;               /* by driver_now() */
};

enum driver_end {
    DRIVER_QUIET,  /* no message is left */
    DRIVER_LATE,   /* give_up_at came first */
    DRIVER_FAILED, /* the store failed: *problem says why */
    DRIVER_END_COUNT
};

int64_t driver_now(void);

/* Creates jobs 0 .. count - 1. False: *problem says why. */
bool driver_create_jobs(const struct driver *driver, uint32_t count,
                        struct store_pg_problem *problem);

/* Claims and works until no message is left. */
enum driver_end driver_work(const struct driver *driver, uint64_t *transactions,
                            struct store_pg_problem *problem);

#endif
