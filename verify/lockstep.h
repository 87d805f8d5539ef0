/* The simulated store and PostgreSQL in lockstep: every statement of a simulated session is executed
 * on a connection of its own, and every answer, value, wait, SQLSTATE and row is compared.
 *
 * The caller acts on the simulation through this. Where PostgreSQL is free to choose, the simulation
 * adopts its choice: the next of several waiters, the victim of a deadlock, and a 40001 that
 * serializable transactions may get. A 40001 that the simulation demands and PostgreSQL does not give
 * is a difference like any other.
 *
 * (LS1) After a difference no more statements are executed: lockstep_differs.
 * (LS2) A session that waits goes on by itself as soon as it can, as on a server. */
#ifndef VERIFY_LOCKSTEP_H
#define VERIFY_LOCKSTEP_H

#include "real/stepper.h"
#include "sim/session.h"

#include <stdio.h>

struct lockstep {
    struct stepper *stepper;
    const char *schema;
    struct sessions *sessions;
    struct sessions *copy; /* to try orders of waiters */
    FILE *tell;            /* NULL, or where each step is told, both sides of it */
    void (*name)(const struct lockstep *lockstep, unsigned who, char *text, size_t size);
    void *context;                 /* for `name` */
    bool thrown_out[SESSIONS_MAX]; /* rolled back on the server, not ended yet */
    uint8_t at[SESSIONS_MAX];      /* the call that each session's statement belongs to */
    char difference[600];          /* empty: none so far */
    bool failed;                   /* the server failed: no difference */
    /* what was compared */
    uint64_t statements, waits, deadlocks, commits, rows;
    uint64_t aborts;                    /* 40001 that PostgreSQL chose */
    uint64_t followed[PRIMITIVE_COUNT]; /* statements of each primitive, by its id */
};

static inline bool lockstep_differs(const struct lockstep *lockstep)
{
    return lockstep->difference[0] != '\0';
}

/* Opens the transaction on both sides. `picked` as for session_begin. */
void lockstep_begin(struct lockstep *lockstep, unsigned who, const struct bundle *bundle,
                    uint32_t picked);

/* The next statement of a session that is OPEN. */
void lockstep_statement(struct lockstep *lockstep, unsigned who);

/* Ends it: commits if it is DONE and `commit`, else rolls back. True: it committed. The changes are
 * in the world's log from `mark` on, to be kept or looked at by the caller. */
bool lockstep_end(struct lockstep *lockstep, unsigned who, bool commit, size_t mark);

/* Aborts it in the middle, on both sides; lockstep_end must follow. */
void lockstep_abort(struct lockstep *lockstep, unsigned who);

/* Compares all rows of both sides; no transaction is open. */
void lockstep_rows(struct lockstep *lockstep);

/* Gives PostgreSQL the rows of the simulation: all of them, or one that changed outside of any
 * session. */
void lockstep_fill(struct lockstep *lockstep);
void lockstep_copy_row(struct lockstep *lockstep, enum row_table table, uint32_t slot);

#endif
