#include "real/store.h"

#include "model/check.h"
#include "real/answer.h"
#include "real/schema.h"
#include "real/text.h"

#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define MODES          3
#define STATEMENTS_MAX (PRIMITIVE_OPS_MAX + 1) /* of a primitive in a mode */
#define PARAMS_MAX     (PRIMITIVE_PARAMS_MAX + 1)
#define FLIGHT_MAX     (BUNDLE_CALLS_MAX * STATEMENTS_MAX + 3)
#define BIGINT_OID     20
#define NO_CALL        255 /* a command of the flight that belongs to no call */

/* What the store remembers of a statement once its text was sent. */
struct prepared {
    char name[24];
    uint8_t params, places_count;
    uint8_t places[PRIMITIVE_VALUES_MAX];
    bool message;
};

/* The statements of a primitive in a mode. */
struct program {
    uint8_t count; /* 0: not prepared on this connection */
    struct prepared statements[STATEMENTS_MAX];
};

/* One command that is under way, in the order in which results come back. */
struct command {
    const struct prepared *statement; /* NULL: BEGIN, COMMIT, ROLLBACK */
    uint8_t call;                     /* or NO_CALL */
};

struct store_pg {
    struct store_pg_options options;
    char *dsn;
    char schema[SCHEMA_NAME_SIZE];
    PGconn *connection;       /* NULL: none */
    struct program *programs; /* by primitive and mode */
    struct store_pg_problem problem;

    /* the flight: what was sent and not answered yet */
    struct bundle bundle;
    int64_t now;
    struct command commands[FLIGHT_MAX];
    size_t command_count;
    size_t preparations; /* commands in front of it: what is ended, what is prepared */
    struct answer answer;
    size_t error_at; /* the command that failed */
};

bool store_pg_is_there(void)
{
    return true;
}

/* ---- connections ----------------------------------------------------------------------------- */

/* libpq ends its messages with a newline, and may have several lines. */
static void explain(struct store_pg_problem *problem, const char *what, const char *message)
{
    int length = snprintf(problem->text, sizeof problem->text, "%s: %s", what, message);
    CHECK(length > 0);
    for (char *at = problem->text; *at != '\0'; at++) {
        *at = *at == '\n' ? (char)(at[1] == '\0' ? '\0' : ' ') : *at;
    }
}

/* Waits until a connection stands or does not. By hand, because only so can messages be asked to
 * name the SQLSTATE: a refused connection has no result to ask for it. */
static PGconn *connect_to(const char *dsn)
{
    PGconn *connection = PQconnectStart(dsn);
    CHECK(connection != NULL);
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (PQstatus(connection) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED) {
        struct pollfd wait = {.fd = PQsocket(connection),
                              .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        poll(&wait, 1, 1000);
        next = PQconnectPoll(connection);
    }
    return connection;
}

static bool run_script(PGconn *connection, const char *script)
{
    PGresult *result = PQexec(connection, script);
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

static bool run_alone(const char *dsn, const char *script, const char *what,
                      struct store_pg_problem *problem)
{
    PGconn *connection = connect_to(dsn);
    bool done = PQstatus(connection) == CONNECTION_OK &&
                run_script(connection, "SET client_min_messages = warning") &&
                run_script(connection, script);
    if (!done) {
        explain(problem, what, PQerrorMessage(connection));
    }
    PQfinish(connection);
    return done;
}

static bool is_sound(const char *schema, struct store_pg_problem *problem)
{
    if (schema_name_is_sound(schema)) {
        return true;
    }
    snprintf(problem->text, sizeof problem->text,
             "\"%.60s\" is no name for a schema; it takes lower-case letters, digits and '_', "
             "no digit first, at most %d of them, and does not begin with pg_",
             schema, SCHEMA_NAME_SIZE - 1);
    return false;
}

bool store_pg_make_schema(const char *dsn, const char *schema, uint64_t tables,
                          struct store_pg_problem *problem)
{
    char script[SCHEMA_SCRIPT_SIZE];
    if (!is_sound(schema, problem)) {
        return false;
    }
    schema_create_script(schema, tables, script);
    return run_alone(dsn, script, "no schema could be made", problem);
}

bool store_pg_drop_schema(const char *dsn, const char *schema, struct store_pg_problem *problem)
{
    char script[SCHEMA_SCRIPT_SIZE];
    if (!is_sound(schema, problem)) {
        return false;
    }
    schema_drop_script(schema, script);
    return run_alone(dsn, script, "the schema could not be dropped", problem);
}

static bool prepare_alone(PGconn *connection, const char *name, const char *text)
{
    PGresult *result = PQprepare(connection, name, text, 0, NULL);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done;
}

static bool connect_store(struct store_pg *store)
{
    char settings[SQL_SETTINGS_SIZE];
    sql_settings(settings);
    store->connection = connect_to(store->options.dsn);
    if (PQstatus(store->connection) == CONNECTION_OK && run_script(store->connection, settings) &&
        prepare_alone(store->connection, "begin", "BEGIN ISOLATION LEVEL READ COMMITTED") &&
        prepare_alone(store->connection, "begin_serializable",
                      "BEGIN ISOLATION LEVEL SERIALIZABLE") &&
        prepare_alone(store->connection, "commit", "COMMIT") &&
        PQenterPipelineMode(store->connection)) {
        return true;
    }
    explain(&store->problem, "no connection", PQerrorMessage(store->connection));
    return false;
}

void store_pg_cut(struct store_pg *store)
{
    if (store->connection != NULL) {
        PQfinish(store->connection);
    }
    store->connection = NULL;
    for (size_t i = 0; i < store->options.primitive_count * MODES; i++) {
        store->programs[i].count = 0;
    }
}

struct store_pg *store_pg_open(const struct store_pg_options *options,
                               struct store_pg_problem *problem)
{
    if (!is_sound(options->schema, problem)) {
        return NULL;
    }
    struct store_pg *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    store->options = *options;
    store->dsn = strdup(options->dsn);
    store->programs = calloc(options->primitive_count * MODES, sizeof *store->programs);
    CHECK(store->dsn != NULL && store->programs != NULL);
    memcpy(store->schema, options->schema, strlen(options->schema));
    store->options.dsn = store->dsn;
    store->options.schema = store->schema;
    if (!connect_store(store)) {
        *problem = store->problem;
        store_pg_close(store);
        return NULL;
    }
    return store;
}

void store_pg_close(struct store_pg *store)
{
    if (store != NULL) {
        store_pg_cut(store);
        free(store->programs);
        free(store->dsn);
        free(store);
    }
}

const char *store_pg_why_not(const struct store_pg *store)
{
    return store->problem.text;
}

int store_pg_backend(const struct store_pg *store)
{
    return store->connection == NULL ? 0 : PQbackendPID(store->connection);
}

/* ---- sending --------------------------------------------------------------------------------- */

static struct program *program_of(const struct store_pg *store, const struct call *call)
{
    CHECK(call->primitive < store->options.primitive_count && call->mode < MODES);
    return &store->programs[call->primitive * MODES + call->mode];
}

static bool prepare_statement(struct store_pg *store, const struct call *call, int index,
                              struct prepared *prepared)
{
    static const Oid types[PARAMS_MAX] = {BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID,
                                          BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID,
                                          BIGINT_OID, BIGINT_OID, BIGINT_OID, BIGINT_OID,
                                          BIGINT_OID, BIGINT_OID, BIGINT_OID};
    const struct store_pg_options *options = &store->options;
    const struct primitive *primitive = &options->primitives[call->primitive];
    enum call_mode mode = (enum call_mode)call->mode;
    struct sql_statement statement;
    sql_statement(primitive, mode, options->form, index, options->schema, &statement);
    if (options->edit != NULL) {
        options->edit(options->edit_context, primitive, mode, &statement);
    }
    *prepared = (struct prepared){.params = statement.params,
                                  .places_count = statement.places_count,
                                  .message = statement.message};
    memcpy(prepared->places, statement.places, sizeof prepared->places);
    snprintf(prepared->name, sizeof prepared->name, "p%u_%u_%d", call->primitive, call->mode,
             index);
    return PQsendPrepare(store->connection, prepared->name, statement.text, statement.params,
                         types);
}

/* A transaction that failed has let go of its locks, but is still open. */
static bool end_failed(struct store_pg *store)
{
    if (PQtransactionStatus(store->connection) == PQTRANS_IDLE) {
        return true;
    }
    store->preparations++;
    return PQsendQueryParams(store->connection, "ROLLBACK", 0, NULL, NULL, NULL, NULL, 1);
}

/* What this connection has not prepared yet. */
static bool prepare_missing(struct store_pg *store)
{
    for (uint8_t i = 0; i < store->bundle.count; i++) {
        const struct call *call = &store->bundle.calls[i];
        const struct primitive *primitive = &store->options.primitives[call->primitive];
        struct program *program = program_of(store, call);
        if (program->count != 0) {
            continue;
        }
        int count = sql_statement_count(primitive, (enum call_mode)call->mode, store->options.form);
        CHECK(count <= STATEMENTS_MAX);
        for (int s = 0; s < count; s++) {
            if (!prepare_statement(store, call, s, &program->statements[s])) {
                return false;
            }
            store->preparations++;
        }
        program->count = (uint8_t)count;
    }
    return true;
}

static void under_way(struct store_pg *store, const struct prepared *statement, uint8_t call)
{
    CHECK(store->command_count < FLIGHT_MAX);
    store->commands[store->command_count++] = (struct command){statement, call};
}

static bool send_command(struct store_pg *store, const char *name)
{
    under_way(store, NULL, NO_CALL);
    return PQsendQueryPrepared(store->connection, name, 0, NULL, NULL, NULL, 1);
}

static bool send_call(struct store_pg *store, uint8_t number)
{
    static const int lengths[PARAMS_MAX] = {8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8};
    static const int formats[PARAMS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct call *call = &store->bundle.calls[number];
    const struct program *program = program_of(store, call);
    int params = store->options.primitives[call->primitive].params;
    uint64_t numbers[PARAMS_MAX];
    const char *values[PARAMS_MAX];
    for (int p = 0; p <= params; p++) {
        int64_t value = p < params ? store->bundle.params[call->params + p] : store->now;
        numbers[p] = htobe64((uint64_t)value);
        values[p] = (const char *)&numbers[p];
    }
    for (uint8_t s = 0; s < program->count; s++) {
        const struct prepared *statement = &program->statements[s];
        under_way(store, statement, number);
        if (!PQsendQueryPrepared(store->connection, statement->name, statement->params, values,
                                 lengths, formats, 1)) {
            return false;
        }
    }
    return true;
}

/* Everything but COMMIT. What goes in front has a sync of its own: preparing takes a snapshot, and
 * the transaction is to choose its isolation level before that. */
static bool send_statements(struct store_pg *store)
{
    if (!end_failed(store) || !prepare_missing(store) ||
        !(store->preparations == 0 || PQpipelineSync(store->connection)) ||
        !send_command(store,
                      store->bundle.isolation == SERIALIZABLE ? "begin_serializable" : "begin")) {
        return false;
    }
    for (uint8_t i = 0; i < store->bundle.count; i++) {
        if (!send_call(store, i)) {
            return false;
        }
    }
    return true;
}

/* A connection that broke while it was idle is found out before anything is sent on it: then it is
 * certain that nothing happened. Its last words come first, its end after them. */
static bool is_well(struct store_pg *store)
{
    struct pollfd look = {.fd = PQsocket(store->connection), .events = POLLIN};
    while (poll(&look, 1, 0) > 0) {
        if (!PQconsumeInput(store->connection)) {
            return false;
        }
    }
    return PQstatus(store->connection) == CONNECTION_OK;
}

static bool reconnect(struct store_pg *store)
{
    store_pg_cut(store);
    if (connect_store(store)) {
        return true;
    }
    if (strstr(store->problem.text, " 53300: ") != NULL) {
        memcpy(store->answer.sqlstate, "53300", 6);
    }
    store_pg_cut(store);
    return false;
}

void store_pg_send(struct store_pg *store, const struct bundle *bundle, int64_t now)
{
    store->bundle = *bundle;
    store->now = now;
    store->command_count = 0;
    store->preparations = 0;
    store->answer = (struct answer){.sent = false};
    if (store->connection == NULL && !reconnect(store)) {
        return;
    }
    if (!is_well(store) || !send_statements(store)) {
        store_pg_cut(store);
        return;
    }
    store->answer.sent = true; /* from here on COMMIT may arrive */
    if (!send_command(store, "commit") || !PQpipelineSync(store->connection)) {
        store_pg_cut(store);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

static int64_t number_at(const PGresult *result, int row, int column)
{
    CHECK(PQgetlength(result, row, column) == 8);
    uint64_t number;
    memcpy(&number, PQgetvalue(result, row, column), sizeof number);
    return (int64_t)be64toh(number);
}

static void take_values(const struct prepared *statement, const struct call *call,
                        const PGresult *result, struct outcome *outcome)
{
    for (int i = 0; i < statement->places_count; i++) {
        if (!PQgetisnull(result, 0, i + 1)) {
            int place = call->values + statement->places[i];
            CHECK(place < BUNDLE_VALUES_MAX);
            outcome->values[place] = number_at(result, 0, i + 1);
        }
    }
    for (int i = 0; statement->message && i <= MESSAGE_COLUMNS; i++) {
        outcome->message[i] = number_at(result, 0, i + 1);
    }
}

/* What a statement of a call answered. Once the rest is skipped nothing more is taken. */
static void take_row(struct store_pg *store, const struct command *command, const PGresult *result,
                     struct outcome *outcome)
{
    if (command->statement == NULL || outcome->skipped != 0 || PQntuples(result) == 0 ||
        PQgetisnull(result, 0, 0)) {
        return;
    }
    const struct call *call = &store->bundle.calls[command->call];
    take_values(command->statement, call, result, outcome);
    if (number_at(result, 0, 0) != 0) {
        outcome->skipped = (uint8_t)(command->call + 1);
    }
}

static void take_error(struct store_pg *store, size_t at, const PGresult *result)
{
    struct answer *answer = &store->answer;
    if (answer->place != ANSWER_NO_ERROR) {
        return; /* the first one tells */
    }
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    answer->place = at + 1 == store->command_count ? ANSWER_AT_COMMIT : ANSWER_BEFORE_COMMIT;
    answer->fatal = severity != NULL && strcmp(severity, "ERROR") != 0;
    if (sqlstate != NULL && strlen(sqlstate) == 5) {
        memcpy(answer->sqlstate, sqlstate, 6);
    }
    store->error_at = at;
    explain(&store->problem, "the server refused a bundle", PQresultErrorMessage(result));
}

static void take_result(struct store_pg *store, size_t at, const PGresult *result,
                        struct outcome *outcome)
{
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
        take_row(store, &store->commands[at], result, outcome);
        break;
    case PGRES_COMMAND_OK:
        if (at + 1 == store->command_count) {
            bool committed = strcmp(PQcmdStatus((PGresult *)result), "COMMIT") == 0;
            store->answer.commit = committed ? ANSWER_COMMIT_DONE : ANSWER_COMMIT_ROLLED_BACK;
        }
        break;
    case PGRES_PIPELINE_ABORTED:
        break;
    case PGRES_EMPTY_QUERY:
    case PGRES_COPY_OUT:
    case PGRES_COPY_IN:
    case PGRES_BAD_RESPONSE:
    case PGRES_NONFATAL_ERROR:
    case PGRES_FATAL_ERROR:
    case PGRES_COPY_BOTH:
    case PGRES_SINGLE_TUPLE:
    case PGRES_PIPELINE_SYNC:
        take_error(store, at, result);
        break;
    }
}

/* The results of one command, up to the null that ends them. False: the connection is gone. */
static bool receive_command(struct store_pg *store, size_t at, struct outcome *outcome)
{
    PGresult *result;
    while ((result = PQgetResult(store->connection)) != NULL) {
        take_result(store, at, result, outcome);
        PQclear(result);
        if (PQstatus(store->connection) == CONNECTION_BAD) {
            return false;
        }
    }
    return PQstatus(store->connection) == CONNECTION_OK;
}

static bool receive_sync(struct store_pg *store)
{
    PGresult *result = PQgetResult(store->connection);
    bool synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    PQclear(result);
    return synced;
}

/* What was prepared in front. An error there counts as one of the transaction's first statement,
 * which then fails, too. */
static bool receive_preparations(struct store_pg *store)
{
    struct outcome none = {.kind = OUTCOME_NONE};
    size_t count = store->preparations;
    store->preparations = 0;
    for (size_t i = 0; i < count; i++) {
        if (!receive_command(store, 0, &none)) {
            return false;
        }
    }
    return count == 0 || receive_sync(store);
}

static bool receive_flight(struct store_pg *store, struct outcome *outcome)
{
    if (!receive_preparations(store)) {
        return false;
    }
    for (size_t i = 0; i < store->command_count; i++) {
        if (!receive_command(store, i, outcome)) {
            return false;
        }
    }
    return receive_sync(store);
}

bool store_pg_receive(struct store_pg *store, struct outcome *outcome)
{
    outcome->kind = OUTCOME_NONE;
    outcome->skipped = 0;
    outcome->now = store->now;
    memset(outcome->values, 0, sizeof outcome->values);
    if (store->connection != NULL && !receive_flight(store, outcome)) {
        store->answer.lost = true;
        store_pg_cut(store);
    }
    if (!answer_outcome(&store->answer, outcome)) {
        store_pg_cut(store);
        return false;
    }
    if (outcome->kind != OUTCOME_COMMITTED) { /* G2 */
        bool told = outcome->kind == OUTCOME_REFUSED;
        outcome->skipped = told ? (uint8_t)(store->commands[store->error_at].call + 1) : 0;
        memset(outcome->values, 0, sizeof outcome->values);
    }
    return true;
}

bool store_pg_execute(struct store_pg *store, const struct bundle *bundle, int64_t now,
                      struct outcome *outcome)
{
    store_pg_send(store, bundle, now);
    return store_pg_receive(store, outcome);
}

/* ---- beside bundles -------------------------------------------------------------------------- */

/* Leaves pipeline mode for one query, whose result the caller clears; NULL: it failed. */
static PGresult *query(struct store_pg *store, const char *text, bool binary)
{
    if (store->connection == NULL && !reconnect(store)) {
        return NULL;
    }
    PGconn *connection = store->connection;
    if (!PQexitPipelineMode(connection) || (PQtransactionStatus(connection) == PQTRANS_INERROR &&
                                            !run_script(connection, "ROLLBACK"))) {
        explain(&store->problem, "the connection is not free", PQerrorMessage(connection));
        return NULL;
    }
    PGresult *result = binary ? PQexecParams(connection, text, 0, NULL, NULL, NULL, NULL, 1)
                              : PQexec(connection, text);
    ExecStatusType status = PQresultStatus(result);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!done) {
        explain(&store->problem, "a query failed", PQerrorMessage(connection));
        PQclear(result);
        result = NULL;
    }
    if (!PQenterPipelineMode(connection)) {
        store_pg_cut(store);
    }
    return result;
}

bool store_pg_run(struct store_pg *store, const char *script)
{
    PGresult *result = query(store, script, false);
    PQclear(result);
    return result != NULL;
}

bool store_pg_ask(struct store_pg *store, const char *text, int64_t *number)
{
    PGresult *result = query(store, text, true);
    bool told = result != NULL && PQntuples(result) == 1 && PQgetlength(result, 0, 0) == 8;
    if (told) {
        *number = number_at(result, 0, 0);
    }
    PQclear(result);
    return told;
}

bool store_pg_rows(struct store_pg *store, enum row_table table, store_pg_row *each, void *context)
{
    char text[128];
    snprintf(text, sizeof text, "SELECT * FROM %s.%s ORDER BY id", store->schema,
             schema_table(table));
    return store_pg_query(store, text, each, context);
}

bool store_pg_query(struct store_pg *store, const char *text, store_pg_row *each, void *context)
{
    PGresult *result = query(store, text, true);
    if (result == NULL) {
        return false;
    }
    int columns = PQnfields(result);
    CHECK(columns <= STORE_PG_COLUMNS_MAX);
    for (int r = 0; r < PQntuples(result); r++) {
        int64_t row[STORE_PG_COLUMNS_MAX];
        for (int c = 0; c < columns; c++) {
            row[c] = number_at(result, r, c);
        }
        each(context, row);
    }
    PQclear(result);
    return true;
}
