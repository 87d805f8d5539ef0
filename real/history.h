/* The history of a schema's tables: what committed, as the server's log has it, by logical decoding
 * (decoding.h). The oracles judge this record and nothing that an engine says. The schema itself
 * records nothing: it has no trigger and no DEFAULT (CUT-22).
 *
 * Facts that no row shows are in words: messages in the log (pg_logical_emit_message) that the store
 * sends with every transaction (store.h, `marks`). The store chooses when; what a word says the server
 * evaluates: its process, transaction_isolation, its wall clock, its advisory locks in pg_locks. A look
 * from outside would have to stop every transaction, and a module in the server is not to be had on
 * one that --dsn names. A transaction without a word is none of an actor.
 *
 * On a server of Assay's own the slot outlives a crash. A slot does not outlive a promotion: the new
 * primary gets another one before any client finds it, and what the old one had committed up to the
 * point of promotion is read from its own log. What it had committed after that is lost, and is not
 * in the history.
 *
 * (I1) A change is in the history exactly if its transaction commits, and no promotion lost it.
 * (I2) Transactions are in the order of their commit records in the log. A transaction that saw
 *      another, or waited for it, comes after it.
 * (I3) A change begins with the row that the change before it left. With the final rows, which are
 *      what the history ends with, none is lost, doubled or out of its place. The judge of every run
 *      asserts both. */
#ifndef REAL_HISTORY_H
#define REAL_HISTORY_H

#include "model/error.h"
#include "model/oracle/observed.h"
#include "model/rows.h"
#include "real/store.h"

struct history;

struct history_plan {
    const char *dsn;
    const char *schema;
    uint64_t tables; /* TABLE_SET */
    bool
        outlives; /* the server may crash and be replaced; else the slot ends with its connection */
};

/* From now on; the schema is there, and waits for transactions that are open. NULL: *error says what
 * the server or the role lacks. */
struct history *history_begin(const struct history_plan *plan, struct error *error);
/* Reads what committed since. False: *error. */
bool history_read(struct history *history, struct error *error);
/* Drops the slot, as far as the server is there. */
void history_end(struct history *history);

/* A standby is promoted and no client finds it yet: it is followed from here on. */
bool history_promote(struct history *history, const char *dsn, struct error *error);
/* Then the old primary, which no client finds any more: what it committed before the promotion. */
bool history_catch_up(struct history *history, const char *old_dsn, struct error *error);

/* ---- what was read ----------------------------------------------------------------------------- */

struct history_transaction {
    int64_t id;
    int64_t word;      /* the place of its last word in the log; 0: it has none */
    int64_t backend;   /* the server's process, by its word; 0: unknown */
    int64_t isolation; /* enum observed_isolation, by its word */
    /* the server's wall clock when it began and at its word, after its last write; 0: unknown */
    int64_t wall_from, wall_to;
    uint64_t ended; /* the end of its commit record in the log */
    size_t changes;
};

/* One row as a transaction left it, or found it if it deleted it. */
struct history_change {
    const struct history_transaction *of;
    enum row_table table;
    enum row_change_kind kind;
    int64_t locked; /* of the ids in the row: the one whose advisory lock was held; 0: none, or no
                       word says so */
    int64_t row[1 + ROW_COLUMNS_MAX]; /* key first */
    int64_t was[1 + ROW_COLUMNS_MAX]; /* what an update changed, or what was deleted */
};

typedef void history_reader(void *context, const struct history_change *change);

/* Transaction by transaction (I2). */
void history_tell(const struct history *history, history_reader *each, void *context);

/* The transaction of a mark. NULL: it did not commit, or is lost. */
const struct history_transaction *history_find(const struct history *history,
                                               struct store_pg_mark mark);

/* Transactions that a promotion lost though they had been read. */
uint64_t history_lost(const struct history *history);

/* For people: a table `history` in the schema, when all is over. */
bool history_keep(const struct history *history, struct store_pg *store);

#endif
