/* The store on PostgreSQL: executes a bundle as one transaction and one network round trip, and
 * answers with the same outcome as the simulated store (sim/store.h).
 *
 * BEGIN, the statements of every call, COMMIT and one sync leave together, in libpq's pipeline mode
 * and as prepared statements; statements that this connection has not prepared yet are prepared in
 * front of them, in the same flight. A transaction that failed is ended in front of the next one.
 * sql.h has the SQL; answer.h maps an answer to an outcome.
 *
 * The next bundle reopens a lost connection, once. Nothing is ever sent twice. Built without libpq,
 * every function exists, and store_pg_open names the missing package.
 *
 * (G1) One bundle, one transaction at the bundle's isolation level, one round trip.
 * (G2) values and skipped of a COMMITTED outcome are those of the simulated store on the same rows,
 *      clock and claimed message. Of any other outcome, values are 0.
 * (G3) The clock is the schema's (schema.h): the server's, whatever time its clients have. In a
 *      schema for lockstep the caller sets it for each bundle.
 * (G4) Not for two threads at once; a process of its own makes a store of its own.
 * (G5) No nested transaction: while one is open (store_pg_send_open), a second one is refused with
 *      an error, and the first is unchanged (CUT-3). */
#ifndef REAL_STORE_H
#define REAL_STORE_H

#include "model/bundle.h"
#include "model/error.h"
#include "real/roles.h"
#include "real/sql.h"

struct store_pg;

/* Alters a statement before it is prepared: a planted error in the SQL. */
typedef void store_pg_editor(void *context, const struct primitive *primitive, enum call_mode mode,
                             struct sql_statement *statement);

#define STORE_PG_NAME_SIZE 64

struct store_pg_options {
    const char *dsn;                    /* as libpq takes it */
    const char *role, *password;        /* instead of the DSN's; NULL: those. Must stay */
    bool lazily;                        /* does not connect before it has something to execute */
    const char *schema;                 /* sound, and made by store_pg_make_schema */
    const struct primitive *primitives; /* what a call's number refers to; must stay */
    size_t primitive_count;
    enum sql_form form;
    store_pg_editor *edit; /* NULL: none */
    void *edit_context;
    /* A name for people who look at the server: the connection's application_name, and with
     * the bundle's name a comment in front of each of its statements. No '*' or '/'; NULL: none. */
    const char *name;
    bool marks;       /* every transaction leaves a word in the log (history.h), */
    bool tells_locks; /* ... and more of them, about its advisory locks, before each call */
    const char *last; /* a statement that ends every transaction with inserts into the table */
    enum row_table last_after; /* ... of this number; must stay. NULL: none (presets.h) */
};

/* True if this build can talk to PostgreSQL. */
bool store_pg_is_there(void);

#define STORE_PG_VERSION_SIZE 64

/* What the server says that it is: "15.18 (Debian 15.18-0+deb12u1)". */
bool store_pg_version(const char *dsn, char version[STORE_PG_VERSION_SIZE], struct error *error);

/* The schema and its tables. Making one that is there already fails and leaves it alone. */
bool store_pg_make_schema(const char *dsn, const char *schema, uint64_t tables,
                          struct error *error);
bool store_pg_drop_schema(const char *dsn, const char *schema, struct error *error);

/* The roles with their rights in a schema that is made; each of them can log in, or none is left.
 * Without principals there is nothing to do. */
bool store_pg_make_roles(const char *dsn, const char *schema, const struct roles *roles,
                         struct error *error);
bool store_pg_drop_roles(const char *dsn, const struct roles *roles, struct error *error);

/* NULL: *error says why. */
struct store_pg *store_pg_open(const struct store_pg_options *options, struct error *error);
void store_pg_close(struct store_pg *store);

/* As `now`: the schema has a clock of its own. Any other number is for a schema for lockstep. */
#define STORE_PG_SERVERS_TIME INT64_MIN

/* What the schema's clock shows. False: store_pg_why_not. */
bool store_pg_now(struct store_pg *store, int64_t *now);

/* Executes it. False: no outcome describes what happened (store_pg_why_not), and the connection was
 * given up; or a transaction is open on it (G5). */
bool store_pg_execute(struct store_pg *store, const struct bundle *bundle, int64_t now,
                      struct outcome *outcome);
const char *store_pg_why_not(const struct store_pg *store);

/* The two halves of store_pg_execute: send everything; wait for the answer. In between another
 * connection can work, or store_pg_cut can lose the answer. */
void store_pg_send(struct store_pg *store, const struct bundle *bundle, int64_t now);
bool store_pg_receive(struct store_pg *store, struct outcome *outcome);

/* The address of the next connection; an open one stays. */
void store_pg_move(struct store_pg *store, const char *dsn);

/* Closes the connection abruptly: what was sent is executed or not. */
void store_pg_cut(struct store_pg *store);

/* store_pg_send in its two halves, so that a fault can be injected in between: everything but COMMIT,
 * executed when it returns; COMMIT. It takes a second round trip. True: the transaction is open and
 * none of its statements failed. False, also: one is open already (G5). */
bool store_pg_send_open(struct store_pg *store, const struct bundle *bundle, int64_t now);
void store_pg_send_commit(struct store_pg *store);

/* Between the two: one more statement in the open transaction, which no bundle has. Rows that it
 * changed; -1: it failed, and with it the transaction. */
int64_t store_pg_slip_in(struct store_pg *store, const char *statement);

/* Whether the connection is open, as far as this end knows. */
bool store_pg_is_well(struct store_pg *store);

/* Breaks the line: what the socket already has arrives, nothing else does, and no answer comes
 * back. The store detects that by itself. */
void store_pg_break(struct store_pg *store);

/* The unique name of a transaction on the server: its id (txid_current), the place of its word in the
 * log, and the server's process. 0: it has no id, so that it changed nothing and locked no row. A
 * server that crashed reissues the ids and places that its log lacks; its processes are others. */
struct store_pg_mark {
    int64_t transaction, word, backend;
};
/* Of the last bundle, once its statements were answered. */
struct store_pg_mark store_pg_mark(const struct store_pg *store);

/* The time of the last bundle, by the schema's clock; of one that never arrived, the one before. */
int64_t store_pg_time(const struct store_pg *store);

/* The schema that it works in. */
const char *store_pg_schema(const struct store_pg *store);

/* The server's process for this connection, to wait for or to kill; 0: there is no connection. */
int store_pg_backend(const struct store_pg *store);

/* ---- outside bundles: setting up, looking -----------------------------------------------------
 */

/* Runs statements that return nothing. False: store_pg_why_not. */
bool store_pg_run(struct store_pg *store, const char *script);

/* One number. */
bool store_pg_ask(struct store_pg *store, const char *query, int64_t *number);

/* Every row of a table in the order of keys: key first, then the columns. */
typedef void store_pg_row(void *context, const int64_t *row);
bool store_pg_rows(struct store_pg *store, enum row_table table, store_pg_row *each, void *context);

/* Every row of a query whose columns, at most STORE_PG_COLUMNS_MAX, are all bigint and never null.
 */
#define STORE_PG_COLUMNS_MAX 24
bool store_pg_query(struct store_pg *store, const char *text, store_pg_row *each, void *context);

#endif
