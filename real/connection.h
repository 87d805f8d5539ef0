/* What the store and the stepper share: connections to PostgreSQL by libpq, statements prepared on
 * them, numbers in and out. Only for files of this folder that are built with
 * libpq. */
#ifndef REAL_CONNECTION_H
#define REAL_CONNECTION_H

#include "model/error.h"
#include "real/compound.h"
#include "real/store.h"

#include <libpq-fe.h>

#define CONNECTION_MODES          3                       /* enum call_mode */
#define CONNECTION_STATEMENTS_MAX (PRIMITIVE_OPS_MAX + 1) /* of a primitive in a mode */
#define CONNECTION_PARAMS_MAX     PRIMITIVE_PARAMS_MAX

/* "what: message" in one line; libpq ends its messages with a newline, and may have several. */
void connection_explain(struct error *error, const char *what, const char *message);

/* True, or *error says what a schema may be called. */
bool connection_schema_is_sound(const char *schema, struct error *error);

/* Waits until a connection stands or does not: PQstatus tells, and PQerrorMessage of one that does
 * not names the SQLSTATE. Never NULL. */
PGconn *connection_open(const char *dsn);
PGconn *connection_open_as(const char *dsn, const char *role, const char *password);

/* The SQLSTATE that such a message names; empty: none. */
void connection_sqlstate(const char *message, char sqlstate[6]);

/* Runs statements and drops their rows. */
bool connection_run(PGconn *connection, const char *script);

/* Prepares a connection for statements: its settings (sql_settings), and a share of the lock of its
 * schema (own_schema.h). */
bool connection_settle(PGconn *connection, const char *schema);

/* ---- prepared statements --------------------------------------------------------------------- */

/* What is remembered of a statement once its text was sent. */
struct connection_statement {
    char name[32];
    uint8_t params, places_count;
    uint8_t places[PRIMITIVE_VALUES_MAX];
    bool wall, message;
};

/* The statements of a primitive in a mode. */
struct connection_program {
    uint8_t count; /* 0: not prepared on this connection */
    struct connection_statement statements[CONNECTION_STATEMENTS_MAX];
};

void connection_remember(struct connection_statement *statement, const struct sql_statement *sql,
                         const struct call *call, int index);

extern const Oid connection_types[CONNECTION_PARAMS_MAX]; /* all are bigint */

/* A call's parameters as they are sent. Points into itself: not to be copied. */
struct connection_params {
    uint64_t numbers[CONNECTION_PARAMS_MAX];
    const char *values[CONNECTION_PARAMS_MAX];
};
void connection_params(struct connection_params *params, const struct bundle *bundle,
                       const struct call *call, int count);

/* Sends it and does not wait; the answer is binary. */
bool connection_send(PGconn *connection, const struct connection_statement *statement,
                     const struct connection_params *params);

/* The same for a compound. */
#define CONNECTION_COMPOUND "compound"
extern const Oid connection_compound_types[COMPOUND_PARAMS];
bool connection_send_compound(PGconn *connection, const char *name,
                              const struct compound *compound);

/* ---- rows ------------------------------------------------------------------------------------ */

/* A bigint of a binary result, not null. */
int64_t connection_number(const PGresult *result, int row, int column);

/* Every row of a binary result whose columns are all bigint and not null. */
void connection_each_row(const PGresult *result, store_pg_row *each, void *context);

#define CONNECTION_ROWS_SIZE 2048
void connection_rows_query(const char *schema, enum row_table table,
                           char text[CONNECTION_ROWS_SIZE]);

#endif
