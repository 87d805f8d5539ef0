/* An actor on PostgreSQL: the engines of model/, unchanged, in front of store.h. An actor that serves
 * is a process of its own; chaos.h starts, stops and kills it.
 *
 * It keeps one connection as the caller. As a principal it connects for one transaction at a time,
 * so that the few connections serve all actors. If none is free (53300) it waits a moment, and the
 * engine decides (E-CUT-15).
 *
 * Leases and claims go by the server's clock (schema.h), which chaos.h lets leap. The machine's own
 * monotonic clock bounds how long the bench waits. */
#ifndef REAL_DRIVER_H
#define REAL_DRIVER_H

#include "model/error.h"
#include "real/shared.h"

struct driver {
    const char *dsn, *schema;
    const char *run;                 /* scenario and seed, for people; NULL: none */
    const struct roles *roles;       /* the roles of principals; NULL: the protocol has none */
    const struct rules *rules;       /* ticks are milliseconds */
    const struct sabotage *sabotage; /* NULL: none */
    int64_t give_up_at;              /* by driver_now() */
    struct shared_page *page;        /* shared by all actors */
    bool storms;                     /* faults are injected: the server may go away and come back */
    bool tells_locks;                /* the history is to tell of advisory locks */
    const char *last;                /* presets (presets.h): store.h, `last` and `last_after` */
    enum row_table last_after;
};

enum driver_end {
    DRIVER_QUIET,  /* no work is left */
    DRIVER_LATE,   /* give_up_at came first */
    DRIVER_FAILED, /* the store failed: *error says why */
    DRIVER_END_COUNT
};

int64_t driver_now(void);

/* An actor's name on the server: the run, the actor, and how often it was started. */
void driver_name(const struct driver *driver, unsigned actor, char name[STORE_PG_NAME_SIZE]);

/* Runs one actor of the cast until it is done. An actor that serves is done when no work is left. */
enum driver_end driver_act(const struct driver *driver, unsigned actor, struct error *error);

#endif
