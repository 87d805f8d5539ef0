/* Faults of the queue on PostgreSQL, as in the catalogue of faults: a message is duplicated, replayed
 * after its ack, or redelivered while its holder works. Each is one transaction of the supervisor,
 * recorded in the history like any other.
 *
 * (QF1) A copy has the content of its message, a key of its own, and is visible at once.
 * (QF2) The history decides whether it took effect: a copy counts once it is claimed, a redelivered
 *       message once it is claimed before its first claim would have lapsed. */
#ifndef REAL_QUEUE_FAULT_H
#define REAL_QUEUE_FAULT_H

#include "real/history.h"

/* A queue, and the time by the store's clock. */
struct queue_at {
    struct store_pg *store;
    struct history *history; /* is read further when it is asked */
    const char *schema;
    int64_t now;
};

/* What to look for in the history. */
struct queue_trace {
    int64_t message;     /* 0: nothing happened */
    int64_t transaction; /* the fault's own: no actor's */
    int64_t epoch;       /* the number of its claims so far */
    int64_t before;      /* a later claim counts if it was made before; INT64_MAX: always */
};

/* A second row of a message, searched from the `which`-th on, that is there or that is gone
 * (`acked`); `number` tells copies apart. */
struct queue_trace queue_fault_copy(const struct queue_at *at, bool acked, uint32_t which,
                                    uint32_t number);

/* Redelivers a row whose last claim is of the server's process `claimer`. */
struct queue_trace queue_fault_redeliver(const struct queue_at *at, int claimer);

/* Neither process of the server is there any more. */
bool queue_fault_is_gone(const struct queue_at *at, int one, int other);

/* Ends the claims of a process of the server: their messages are visible at once. The caller knows
 * that nothing more is sent under them. True: done, by *transaction, or there was none (0). */
bool queue_fault_release(const struct queue_at *at, int claimer, int64_t *transaction);

/* The row says that it was claimed since, or it is gone: there is nothing to wait for any more. */
bool queue_fault_is_over(const struct queue_at *at, const struct queue_trace *trace);

/* Whether it was claimed (QF2), as far as the history is read. `timeout`: how long a claim lasts. */
bool queue_fault_took_effect(const struct history *history, const struct queue_trace *trace,
                             int64_t timeout);

#endif
