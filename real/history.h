/* The history of a schema's tables, recorded by the server: triggers record every written row in the
 * transaction that wrote it. The oracles judge this record and nothing that an engine says.
 *
 * The triggers run with the rights of the record's owner (SECURITY DEFINER), so that a writer needs
 * no right to it.
 *
 * Facts that no row shows come from the server, not from the client: transaction_isolation, pg_locks
 * of the backend, and its wall clock.
 *
 * (I1) A change is recorded exactly if its transaction commits.
 * (I2) Transactions are read in commit order, by the server's commit timestamps. A transaction that
 *      saw another, or waited for it, comes after it. On a server without track_commit_timestamp the
 *      order is that of their last writes: then it is certain only for two that wrote the same
 *      row. */
#ifndef REAL_HISTORY_H
#define REAL_HISTORY_H

#include "model/oracle/observed.h"
#include "model/rows.h"
#include "real/store.h"

#define HISTORY_SCRIPT_SIZE 32768

/* Makes the history table and the triggers in a schema that store_pg_make_schema made of these
 * tables; and functions that mark a transaction with its last change (store_pg_mark). With `locks`
 * a change says, too, in which isolation it was made and which advisory lock its backend held. */
void history_script(const char *schema, uint64_t tables, bool locks,
                    char script[HISTORY_SCRIPT_SIZE]);

/* One row as a transaction left it, or found it if it deleted it. */
struct history_change {
    int64_t transaction;
    enum row_table table;
    enum row_change_kind kind;
    int64_t isolation; /* enum observed_isolation, as the server says; 0: it was not asked */
    int64_t locked;    /* of the ids in the row: the one whose advisory lock was held; 0: none */
    int64_t wall_from, wall_to; /* the server's wall clock when the transaction began, and now */
    int64_t row[1 + ROW_COLUMNS_MAX]; /* key first */
};

typedef void history_reader(void *context, const struct history_change *change);

/* All of it, transaction by transaction (I2). False: store_pg_why_not. */
bool history_read(struct store_pg *store, const char *schema, history_reader *each, void *context);

#endif
