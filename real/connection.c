#include "real/connection.h"

#include "model/check.h"
#include "real/cell.h"
#include "real/own_schema.h"
#include "real/schema.h"

#include <ctype.h>
#include <endian.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define BIGINT_OID  20
#define BIGINTS_OID 1016 /* bigint[] */
#define SILENT_MAX  30   /* seconds without a word until a server is given up */

const Oid connection_types[CONNECTION_PARAMS_MAX] = {
    BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID,
    BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID};
_Static_assert(CONNECTION_PARAMS_MAX == 15, "as many types, lengths and formats");

const Oid connection_compound_types[COMPOUND_PARAMS] = {
    BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID,  BIGINT_OID,
    BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINTS_OID, BIGINTS_OID};

void connection_explain(struct error *error, const char *what, const char *message)
{
    int length = snprintf(error->text, sizeof error->text, "%s: %s", what, message);
    CHECK(length > 0);
    for (char *at = error->text; *at != '\0'; at++) {
        *at = *at == '\n' ? (char)(at[1] == '\0' ? '\0' : ' ') : *at;
    }
}

bool connection_schema_is_sound(const char *schema, struct error *error)
{
    if (schema_name_is_sound(schema)) {
        return true;
    }
    snprintf(error->text, sizeof error->text,
             "\"%.60s\" is no name for a schema; it takes lower-case letters, digits and '_', "
             "no digit first, at most %d of them, and does not begin with pg_",
             schema, SCHEMA_NAME_SIZE - 1);
    return false;
}

/* A server that goes away says so in a notice, which libpq would print. */
static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* By hand, because only so can messages be asked to name the SQLSTATE: a refused connection has no
 * result to ask for it. */
static PGconn *until_it_stands(PGconn *connection)
{
    CHECK(connection != NULL);
    PQsetNoticeProcessor(connection, ignore_notice, NULL);
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    int silent = 0; /* seconds: a server that is frozen accepts, and says nothing */
    while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED && silent < SILENT_MAX) {
        struct pollfd wait = {.fd = PQsocket(connection),
                              .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        silent += poll(&wait, 1, 1000) == 0;
        next = PQconnectPoll(connection);
    }
    return connection;
}

PGconn *connection_open(const char *dsn)
{
    return until_it_stands(PQconnectStart(dsn));
}

/* What comes later in the list wins over the DSN. */
PGconn *connection_open_as(const char *dsn, const char *role, const char *password)
{
    const char *keywords[] = {"dbname", "user", "password", NULL};
    const char *values[] = {dsn, role, password, NULL};
    return until_it_stands(PQconnectStartParams(keywords, values, 1));
}

/* "FATAL:  53300: too many connections ..." */
void connection_sqlstate(const char *message, char sqlstate[6])
{
    sqlstate[0] = '\0';
    for (const char *at = strstr(message, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
        const char *state = at + 3;
        size_t length = 0;
        while (isdigit((unsigned char)state[length]) || isupper((unsigned char)state[length])) {
            length++;
        }
        if (length == 5 && state[5] == ':') {
            memcpy(sqlstate, state, 5);
            sqlstate[5] = '\0';
            return;
        }
    }
}

bool connection_run(PGconn *connection, const char *script)
{
    PGresult *result = PQexec(connection, script);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

bool connection_settle(PGconn *connection, const char *schema)
{
    char settings[SQL_SETTINGS_SIZE], share[OWN_SCHEMA_SHARE_SIZE];
    char script[sizeof settings + sizeof share];
    sql_settings(settings);
    own_schema_share(schema, share);
    snprintf(script, sizeof script, "%s %s", settings, share);
    return connection_run(connection, script);
}

/* ---- prepared statements --------------------------------------------------------------------- */

void connection_remember(struct connection_statement *statement, const struct sql_statement *sql,
                         const struct call *call, int index)
{
    *statement = (struct connection_statement){.params = sql->params,
                                               .places_count = sql->places_count,
                                               .wall = sql->wall,
                                               .message = sql->message};
    memcpy(statement->places, sql->places, sizeof statement->places);
    snprintf(statement->name, sizeof statement->name, "p%u_%u_%d", call->primitive, call->mode,
             index);
}

void connection_params(struct connection_params *params, const struct bundle *bundle,
                       const struct call *call, int count)
{
    CHECK(count <= CONNECTION_PARAMS_MAX);
    for (int p = 0; p < count; p++) {
        params->numbers[p] = htobe64((uint64_t)bundle->params[call->params + p]);
        params->values[p] = (const char *)&params->numbers[p];
    }
}

bool connection_send(PGconn *connection, const struct connection_statement *statement,
                     const struct connection_params *params)
{
    static const int lengths[CONNECTION_PARAMS_MAX] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8};
    static const int formats[CONNECTION_PARAMS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return PQsendQueryPrepared(connection, statement->name, statement->params, params->values,
                               lengths, formats, 1);
}

/* An array as the server reads it: its dimensions, whether it has nulls, the type; of each dimension
 * the size and where it begins; then each number with its length. An empty one has no dimension. */
#define ARRAY_HEAD          20
#define ARRAY_SIZE(numbers) (ARRAY_HEAD + 12 * (numbers))

static unsigned char *put_word(unsigned char *at, uint32_t word)
{
    word = htobe32(word);
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

static int put_array(unsigned char *to, const int64_t *numbers, uint32_t count)
{
    unsigned char *at = put_word(put_word(put_word(to, count > 0), 0), BIGINT_OID);
    if (count > 0) {
        at = put_word(put_word(at, count), 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = htobe64((uint64_t)numbers[i]);
        at = put_word(at, sizeof number);
        memcpy(at, &number, sizeof number);
        at += sizeof number;
    }
    return (int)(at - to);
}

bool connection_send_compound(PGconn *connection, const char *name, const struct compound *compound)
{
    uint64_t numbers[COMPOUND_NUMBERS];
    unsigned char activities[ARRAY_SIZE(COMPOUND_ACTIVITIES_SIZE)];
    unsigned char messages[ARRAY_SIZE(COMPOUND_MESSAGES_SIZE)];
    const char *values[COMPOUND_PARAMS];
    int lengths[COMPOUND_PARAMS], formats[COMPOUND_PARAMS];
    for (int p = 0; p < COMPOUND_NUMBERS; p++) {
        numbers[p] = htobe64((uint64_t)compound->numbers[p]);
        values[p] = (const char *)&numbers[p];
        lengths[p] = sizeof *numbers;
        formats[p] = 1;
    }
    formats[COMPOUND_NUMBERS] = 1;
    formats[COMPOUND_NUMBERS + 1] = 1;
    values[COMPOUND_NUMBERS] = (const char *)activities;
    lengths[COMPOUND_NUMBERS] = put_array(activities, compound->activity, compound->activities);
    values[COMPOUND_NUMBERS + 1] = (const char *)messages;
    lengths[COMPOUND_NUMBERS + 1] = put_array(messages, compound->message, compound->messages);
    return PQsendQueryPrepared(connection, name, COMPOUND_PARAMS, values, lengths, formats, 1);
}

/* ---- rows ------------------------------------------------------------------------------------ */

int64_t connection_number(const PGresult *result, int row, int column)
{
    CHECK(PQgetlength(result, row, column) == 8);
    uint64_t number;
    memcpy(&number, PQgetvalue(result, row, column), sizeof number);
    return (int64_t)be64toh(number);
}

void connection_each_row(const PGresult *result, store_pg_row *each, void *context)
{
    int columns = PQnfields(result);
    CHECK(columns <= STORE_PG_COLUMNS_MAX);
    for (int r = 0; r < PQntuples(result); r++) {
        int64_t row[STORE_PG_COLUMNS_MAX];
        for (int c = 0; c < columns; c++) {
            row[c] = connection_number(result, r, c);
        }
        each(context, row);
    }
}

void connection_rows_query(const char *schema, enum row_table table,
                           char text[CONNECTION_ROWS_SIZE])
{
    struct text to = text_begin(text, CONNECTION_ROWS_SIZE);
    for (int c = CELL_KEY; c < schema_columns(table); c++) {
        text_put(&to, c == CELL_KEY ? "SELECT " : ", ");
        cell_put_number(&to, table, c, "");
    }
    text_put(&to, " FROM %s.%s ORDER BY %s", schema, schema_table(table),
             cell_column(table, CELL_KEY));
}
