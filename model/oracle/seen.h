/* The monitors of what no row shows (observed.h), protocol by protocol: the hook `transaction` of
 * their struct monitors. Each sees every transaction, committed or not, after the monitors of rows.
 *
 * What they remember is of clients and not of rows: struct oracle has it (SEEN_CELLS numbers a
 * client, all 0 at first), and a search, which tells of no client, has none of it. */
#ifndef MODEL_ORACLE_SEEN_H
#define MODEL_ORACLE_SEEN_H

#include "model/oracle/judge.h"

typedef struct oracle_verdict seen_monitor(struct oracle *oracle, const struct rows *rows,
                                           const struct observed *seen,
                                           const struct row_change *changes, size_t count);

/* ACL-47, ACL-48: claims are extended in time, and tries are counted. */
seen_monitor seen_activity;
/* CUT-12, CUT-16, CUT-17: tries, the advisory lock, isolation. */
seen_monitor seen_pipeline;
/* SEQ-4, SEQ-5, SEQ-9, SEQ-10, SEQ-12: the wall clock, what a client knows and does all the same,
 * heartbeats, how late a lease is reclaimed, late results. */
seen_monitor seen_seq;

/* SEQ-10, SEQ-15: the hook `idle`: whom a lease or a grace period should have woken. */
struct oracle_verdict seen_seq_idle(struct oracle *oracle, const struct rows *rows, int64_t until);

/* LEG-3, LEG-12: claims are held until the ack, and what is saved again is counted. */
seen_monitor seen_legacy;

/* KEY-12, BOX-3: tries. */
seen_monitor seen_key;
seen_monitor seen_inbox;

/* How often what fails is tried again under one claim of the queue, and by whose promise. */
struct seen_tries {
    enum clause_id clause;
    enum oracle_cover let_go; /* the claim was let go after so many failures */
    int most;                 /* tries after the first */
    int cell;                 /* where its SEEN_TRIES_CELLS begin in a client's memory */
};

#define SEEN_TRIES_CELLS 4

/* Part of seen_key, seen_inbox and seen_pipeline: a transaction of a client that is known. */
void seen_tries(struct judge *judge, const struct observed *seen, const struct row_change *changes,
                size_t count, const struct seen_tries *rule, int64_t *cells);

/* Part of seen_seq: whether the journal has the work of this run (SEQ-22). */
bool seq_monitors_worked(struct oracle *oracle, const struct rows *rows, int64_t seq, int64_t run);

/* The client's memory; of nobody none. One that was started anew remembers nothing. */
static inline int64_t *seen_client(struct oracle *oracle, const struct observed *seen)
{
    if (seen->client >= OBSERVED_CLIENTS_MAX) {
        return NULL;
    }
    CHECK(oracle != NULL);
    int64_t *cells = oracle->clients[seen->client];
    for (int i = 0; seen->is_new && i < SEEN_CELLS; i++) {
        cells[i] = 0;
    }
    return cells;
}

#endif
