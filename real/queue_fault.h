/* What goes wrong with the queue itself on PostgreSQL, as the catalogue of faults has it: a message
 * comes a second time while the first one is there, or after it was acked; a message comes again
 * while its holder is at work. Each is one transaction of somebody who is no actor, recorded in the
 * history like any other.
 *
 * (QF1) A copy has the content of its message, a key of its own, and is visible at once.
 * (QF2) Whether it took effect is the history's to say: a copy counts once it was claimed, and a
 *       message that came again once it was claimed before its claim would have lapsed. */
#ifndef REAL_QUEUE_FAULT_H
#define REAL_QUEUE_FAULT_H

#include "real/store.h"

/* A queue, and the time by the store's clock. */
struct queue_at {
    struct store_pg *store;
    const char *schema;
    int64_t now;
};

/* What is to be looked for in the history. */
struct queue_trace {
    int64_t message;     /* 0: nothing happened */
    int64_t transaction; /* that did it: nobody's, whatever it looks like */
    int64_t epoch;       /* its claims so far */
    int64_t before;      /* a later claim counts if it was made before; INT64_MAX: any does */
};

/* A second row of a message, searched from the `which`-th on, that is there or that is gone
 * (`acked`); `number` tells copies apart. */
struct queue_trace queue_fault_copy(const struct queue_at *at, bool acked, uint32_t which,
                                    uint32_t number);

/* The same row again: one that the server's process `claimer` has claimed, and nobody since. */
struct queue_trace queue_fault_redeliver(const struct queue_at *at, int claimer);

/* Neither process of the server is there any more. */
bool queue_fault_is_gone(const struct queue_at *at, int one, int other);

/* The claims that were made by a process of the server end: what they held is visible at once. For
 * whoever knows that nothing more will be sent under them. True: that is done, by *transaction, or
 * there was none (0). */
bool queue_fault_release(const struct queue_at *at, int claimer, int64_t *transaction);

/* Whether it was claimed (QF2). `timeout`: how long a claim lasts. */
bool queue_fault_took_effect(const struct queue_at *at, const struct queue_trace *trace,
                             int64_t timeout);

#endif
