/* An actor on PostgreSQL: the engines of model/, unchanged, in front of store.h. One that serves is
 * meant to be a process of its own; who starts it, stops it and kills it is the caller's business.
 *
 * It has one connection as the caller, for good. As a principal it connects for one transaction at
 * a time, so that others get their turn where connections are few; where none is free (53300) it
 * waits a moment, and the engine decides (E-CUT-15).
 *
 * Time is the machine's monotonic clock in milliseconds, the same for all processes. */
#ifndef REAL_DRIVER_H
#define REAL_DRIVER_H

#include "faults/performer.h"
#include "real/store.h"

#include <stdatomic.h>

struct driver {
    const char *dsn, *schema;
    const struct roles *roles;       /* as whom principals connect; NULL: the protocol has none */
    _Atomic uint64_t *turned_away;   /* counts 53300, of all processes; NULL: nobody asks */
    const struct rules *rules;       /* ticks are milliseconds */
    const struct sabotage *sabotage; /* NULL: none */
    int64_t give_up_at;              /* by driver_now() */
};

enum driver_end {
    DRIVER_QUIET,  /* nothing is left to do */
    DRIVER_LATE,   /* give_up_at came first */
    DRIVER_FAILED, /* the store failed: *problem says why */
    DRIVER_END_COUNT
};

int64_t driver_now(void);

/* Plays one actor of the cast until it is done, or, if it serves, until nothing is left to do. */
enum driver_end driver_act(const struct driver *driver, unsigned actor, uint64_t *transactions,
                           struct store_pg_problem *problem);

#endif
