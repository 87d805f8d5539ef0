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
/* SEQ-5, SEQ-9, SEQ-10, SEQ-12: what a client knows and does all the same, heartbeats, how late a
 * lease is reclaimed, late results. */
seen_monitor seen_seq;

/* Part of seen_seq: whether the journal has the work of this run (SEQ-22). */
bool seq_rows_worked(struct oracle *oracle, const struct rows *rows, int64_t seq, int64_t run);

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
