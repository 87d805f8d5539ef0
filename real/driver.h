/* An actor on PostgreSQL: the engines of model/, unchanged, in front of store.h. One that serves is
 * meant to be a process of its own; who starts it, stops it and kills it is the business of
 * chaos.h.
 *
 * It has one connection as the caller, for good. As a principal it connects for one transaction at
 * a time, so that others get their turn where connections are few; where none is free (53300) it
 * waits a moment, and the engine decides (E-CUT-15).
 *
 * Time is the machine's monotonic clock in milliseconds, the same for all processes, and as far
 * ahead as the page says: the store's clock may leap. */
#ifndef REAL_DRIVER_H
#define REAL_DRIVER_H

#include "real/shared.h"

struct driver {
    const char *dsn, *schema;
    const char *run;                 /* scenario and seed, for people; NULL: nobody asks */
    const struct roles *roles;       /* as whom principals connect; NULL: the protocol has none */
    const struct rules *rules;       /* ticks are milliseconds */
    const struct sabotage *sabotage; /* NULL: none */
    int64_t give_up_at;              /* by driver_now() */
    struct shared_page *page;        /* where everybody sits */
    bool storms;                     /* the server may go away, and comes back */
    bool presets;                    /* the schema starts ledgers by itself (presets.h) */
};

enum driver_end {
    DRIVER_QUIET,  /* nothing is left to do */
    DRIVER_LATE,   /* give_up_at came first */
    DRIVER_FAILED, /* the store failed: *problem says why */
    DRIVER_END_COUNT
};

int64_t driver_now(void);

/* An actor's name on the server: the run, who it is, and which of its lives this is. */
void driver_name(const struct driver *driver, unsigned actor, char name[STORE_PG_NAME_SIZE]);

/* Plays one actor of the cast, in its shared, until it is done, or, if it serves, until nothing is
 * left to do. */
enum driver_end driver_act(const struct driver *driver, unsigned actor,
                           struct store_pg_problem *problem);

#endif
