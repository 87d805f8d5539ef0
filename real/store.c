#include "real/store.h"

#include "model/check.h"
#include "model/oracle/observed.h"
#include "model/text.h"
#include "real/answer.h"
#include "real/connection.h"
#include "real/schema.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLIGHT_MAX   (BUNDLE_CALLS_MAX * (CONNECTION_STATEMENTS_MAX + 1) + 6)
#define NO_CALL      255 /* a command of the flight that belongs to no call */
#define MARK_CALL    254 /* ... the one that marks the transaction */
#define CLOCK_CALL   253 /* ... the one that asks for the time */
#define COMMENT_SIZE 128
#define FRAME_SIZE   8192

/* One command that is under way, in the order in which results come back. */
struct command {
    const struct connection_statement *statement; /* NULL: BEGIN, COMMIT, ROLLBACK; a compound */
    uint8_t call;                                 /* or NO_CALL; of a compound the first */
    bool is_compound;                             /* store.compound */
};

struct store_pg {
    pid_t owner; /* the process that made it */
    struct store_pg_options options;
    char *dsn;
    char schema[SCHEMA_NAME_SIZE];
    char name[STORE_PG_NAME_SIZE];
    PGconn *connection;             /* NULL: none */
    bool frames[BUNDLE_NAME_COUNT]; /* BEGIN, COMMIT and mark are prepared, with its comment */
    struct connection_program *programs[BUNDLE_NAME_COUNT]; /* by primitive and mode; NULL: none */
    bool compounds[BUNDLE_NAME_COUNT];                      /* the compound is prepared */
    struct error error;

    /* the flight: what was sent and not answered yet */
    struct bundle bundle;
    struct compound compound; /* Step 2, if it has one */
    int64_t now; /* of the transaction, by the schema's clock; before that is known, the last one */
    bool told;   /* ... which the caller sets */
    struct command commands[FLIGHT_MAX];
    size_t command_count;
    size_t preparations; /* commands in front of it: what is ended, what is prepared */
    struct answer answer;
    uint8_t refused;        /* the call that failed, if one did */
    size_t received;        /* commands that were answered */
    struct outcome outcome; /* what those answered, if COMMIT was sent apart */
    struct store_pg_mark mark;
    bool preparing; /* what is received now stands in front of the transaction */
    bool open;      /* store_pg_send_open has begun a transaction, which is not ended */
};

bool store_pg_is_there(void)
{
    return true;
}

bool store_pg_version(const char *dsn, char version[STORE_PG_VERSION_SIZE], struct error *error)
{
    PGconn *connection = connection_open(dsn);
    bool stands = PQstatus(connection) == CONNECTION_OK;
    if (stands) {
        snprintf(version, STORE_PG_VERSION_SIZE, "%s",
                 PQparameterStatus(connection, "server_version"));
    } else {
        connection_explain(error, "cannot connect", PQerrorMessage(connection));
    }
    PQfinish(connection);
    return stands;
}

/* ---- connections ----------------------------------------------------------------------------- */

static bool run_alone(const char *dsn, const char *script, const char *what, struct error *error)
{
    PGconn *connection = connection_open(dsn);
    bool done = PQstatus(connection) == CONNECTION_OK &&
                connection_run(connection, "SET client_min_messages = warning") &&
                connection_run(connection, script);
    if (!done) {
        connection_explain(error, what, PQerrorMessage(connection));
    }
    PQfinish(connection);
    return done;
}

bool store_pg_make_schema(const char *dsn, const char *schema, uint64_t tables, struct error *error)
{
    char script[SCHEMA_SCRIPT_SIZE];
    if (!connection_schema_is_sound(schema, error)) {
        return false;
    }
    schema_create_script(schema, tables, script);
    return run_alone(dsn, script, "no schema could be made", error);
}

bool store_pg_drop_schema(const char *dsn, const char *schema, struct error *error)
{
    char script[SCHEMA_SCRIPT_SIZE];
    if (!connection_schema_is_sound(schema, error)) {
        return false;
    }
    schema_drop_script(schema, script);
    return run_alone(dsn, script, "the schema could not be dropped", error);
}

/* One after the other: a limit may be as low as 1. */
static bool can_log_in(const char *dsn, const struct roles *roles, struct error *error)
{
    bool stands = true;
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT && stands; p++) {
        if (principal_in(roles->principals, (enum principal)p)) {
            PGconn *connection = connection_open_as(dsn, roles->names[p], roles->password);
            stands = PQstatus(connection) == CONNECTION_OK;
            if (!stands) {
                connection_explain(error, "a principal's role cannot log in",
                                   PQerrorMessage(connection));
            }
            PQfinish(connection);
        }
    }
    return stands;
}

bool store_pg_make_roles(const char *dsn, const char *schema, const struct roles *roles,
                         struct error *error)
{
    char script[ROLES_SCRIPT_SIZE];
    struct error ignored;
    if (roles->principals == 0) {
        return true;
    }
    roles_script(roles, schema, script);
    if (!run_alone(dsn, script,
                   "the roles of the principals cannot be made, which takes CREATEROLE", error)) {
        return false;
    }
    if (!can_log_in(dsn, roles, error)) {
        store_pg_drop_roles(dsn, roles, &ignored);
        return false;
    }
    return true;
}

bool store_pg_drop_roles(const char *dsn, const struct roles *roles, struct error *error)
{
    char script[ROLES_SCRIPT_SIZE];
    roles_drop_script(roles, script);
    return roles->principals == 0 ||
           run_alone(dsn, script, "the roles could not be dropped", error);
}

/* Names the connection. */
static bool introduce(struct store_pg *store)
{
    char text[COMMENT_SIZE];
    if (store->options.name == NULL) {
        return true;
    }
    snprintf(text, sizeof text, "SET application_name = '%s'", store->options.name);
    return connection_run(store->connection, text);
}

static bool connect_store(struct store_pg *store)
{
    store->connection =
        store->options.role == NULL
            ? connection_open(store->options.dsn)
            : connection_open_as(store->options.dsn, store->options.role, store->options.password);
    if (PQstatus(store->connection) == CONNECTION_OK && introduce(store) &&
        connection_settle(store->connection, store->schema) &&
        PQenterPipelineMode(store->connection)) {
        return true;
    }
    connection_explain(&store->error, "no connection", PQerrorMessage(store->connection));
    return false;
}

void store_pg_cut(struct store_pg *store)
{
    if (store->connection != NULL) {
        PQfinish(store->connection);
    }
    store->connection = NULL;
    store->open = false;
    for (size_t b = 0; b < BUNDLE_NAME_COUNT; b++) {
        free(store->programs[b]);
        store->programs[b] = NULL;
        store->frames[b] = false;
        store->compounds[b] = false;
    }
}

void store_pg_move(struct store_pg *store, const char *dsn)
{
    char *copy = strdup(dsn);
    CHECK(copy != NULL);
    free(store->dsn);
    store->dsn = copy;
    store->options.dsn = copy;
}

void store_pg_break(struct store_pg *store)
{
    if (store->connection != NULL) {
        (void)shutdown(PQsocket(store->connection), SHUT_RDWR);
    }
}

struct store_pg *store_pg_open(const struct store_pg_options *options, struct error *error)
{
    if (!connection_schema_is_sound(options->schema, error)) {
        return NULL;
    }
    struct store_pg *store = calloc(1, sizeof *store);
    CHECK(store != NULL);
    store->owner = getpid();
    store->options = *options;
    store->dsn = strdup(options->dsn);
    CHECK(store->dsn != NULL);
    memcpy(store->schema, options->schema, strlen(options->schema));
    store->options.dsn = store->dsn;
    store->options.schema = store->schema;
    if (options->name != NULL) {
        CHECK(strlen(options->name) < STORE_PG_NAME_SIZE && strpbrk(options->name, "*/'") == NULL);
        snprintf(store->name, sizeof store->name, "%s", options->name);
        store->options.name = store->name;
    }
    if (!options->lazily && !connect_store(store)) {
        *error = store->error;
        store_pg_close(store);
        return NULL;
    }
    return store;
}

void store_pg_close(struct store_pg *store)
{
    if (store != NULL) {
        store_pg_cut(store);
        free(store->dsn);
        free(store);
    }
}

const char *store_pg_why_not(const struct store_pg *store)
{
    return store->error.text;
}

int store_pg_backend(const struct store_pg *store)
{
    return store->connection == NULL ? 0 : PQbackendPID(store->connection);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Statements with a comment are prepared for each bundle that has them. */
static size_t bundle_of(const struct store_pg *store)
{
    return store->options.name == NULL ? 0 : store->bundle.name;
}

static struct connection_program *program_of(struct store_pg *store, const struct call *call)
{
    CHECK(call->primitive < store->options.primitive_count && call->mode < CONNECTION_MODES);
    struct connection_program **programs = &store->programs[bundle_of(store)];
    if (*programs == NULL) {
        *programs = calloc(store->options.primitive_count * CONNECTION_MODES, sizeof **programs);
        CHECK(*programs != NULL);
    }
    return &(*programs)[call->primitive * CONNECTION_MODES + call->mode];
}

/* Who and what this is; nothing, if that has no name. */
static void write_comment(const struct store_pg *store, char comment[COMMENT_SIZE])
{
    comment[0] = '\0';
    if (store->options.name != NULL) {
        snprintf(comment, COMMENT_SIZE, "/* %s, %s */ ", store->options.name,
                 bundle_name_text((enum bundle_name)store->bundle.name));
    }
}

static bool prepare_statement(struct store_pg *store, const struct call *call, int index,
                              struct connection_statement *prepared)
{
    const struct store_pg_options *options = &store->options;
    const struct primitive *primitive = &options->primitives[call->primitive];
    enum call_mode mode = (enum call_mode)call->mode;
    struct sql_statement statement;
    sql_statement(primitive, mode, options->form, index, options->schema, &statement);
    if (options->edit != NULL) {
        options->edit(options->edit_context, primitive, mode, &statement);
    }
    connection_remember(prepared, &statement, call, index);
    char comment[COMMENT_SIZE], text[SQL_TEXT_SIZE + COMMENT_SIZE];
    write_comment(store, comment);
    snprintf(text, sizeof text, "%s%s", comment, statement.text);
    if (options->name != NULL) {
        snprintf(prepared->name, sizeof prepared->name, "b%u_p%u_%u_%d", store->bundle.name,
                 call->primitive, call->mode, index);
    }
    return PQsendPrepare(store->connection, prepared->name, text, statement.params,
                         connection_types);
}

#define COMPOUND_NAME_SIZE 24
static void compound_name(const struct store_pg *store, char name[COMPOUND_NAME_SIZE])
{
    snprintf(name, COMPOUND_NAME_SIZE, "b%zu_" CONNECTION_COMPOUND, bundle_of(store));
}

static bool prepare_compound(struct store_pg *store)
{
    if (store->compounds[bundle_of(store)]) {
        return true;
    }
    struct sql_statement statement;
    char name[COMPOUND_NAME_SIZE], comment[COMMENT_SIZE], text[SQL_TEXT_SIZE + COMMENT_SIZE];
    compound_statement(store->schema, &statement);
    if (store->options.edit != NULL) {
        store->options.edit(store->options.edit_context, NULL, CALL_UNLESS_DONE, &statement);
    }
    write_comment(store, comment);
    compound_name(store, name);
    snprintf(text, sizeof text, "%s%s", comment, statement.text);
    store->compounds[bundle_of(store)] = true;
    store->preparations++;
    return PQsendPrepare(store->connection, name, text, statement.params,
                         connection_compound_types);
}

/* What stands around the statements of a bundle, and between them. */
enum frame {
    FRAME_BEGIN,
    FRAME_BEGIN_SERIALIZABLE,
    FRAME_COMMIT,
    FRAME_CLOCK,
    FRAME_LOCKS,
    FRAME_LAST,
    FRAME_MARK,
    FRAME_COUNT
};

#define FRAME_NAME_SIZE 24
static void frame_name(const struct store_pg *store, enum frame frame, char name[FRAME_NAME_SIZE])
{
    snprintf(name, FRAME_NAME_SIZE, "b%zu_frame_%d", bundle_of(store), (int)frame);
}

#define WORD_BEGAN SCHEMA_MS_OF("transaction_timestamp()")
#define WORD_NOW   SCHEMA_MS_OF("clock_timestamp()")

/* A word in the log, which names the transaction by its place: what the server knows of it
 * (history.h). A transaction without an id has nothing to tell, and gets no id for it. */
static void write_mark(const struct store_pg *store, struct text *text)
{
    text_put(text,
             "SELECT coalesce(txid_current_if_assigned(), 0), CASE WHEN txid_current_if_assigned() "
             "IS NULL THEN 0 ELSE (pg_logical_emit_message(true, '%s', concat_ws(' ', 'word', "
             "pg_backend_pid(), CASE current_setting('transaction_isolation') WHEN 'serializable' "
             "THEN %d WHEN 'repeatable read' THEN %d ELSE %d END, " WORD_BEGAN ", " WORD_NOW
             ")) - '0/0'::pg_lsn)::bigint END",
             store->schema, OBSERVED_SERIALIZABLE, OBSERVED_REPEATABLE_READ,
             OBSERVED_READ_COMMITTED);
}

/* Another word: the advisory locks that its process holds in this schema (E-CUT-17). */
static void write_locks(const struct store_pg *store, struct text *text)
{
    text_put(text,
             "SELECT pg_logical_emit_message(true, '%s', 'locks' || coalesce((SELECT string_agg("
             "' ' || objid, '') FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND pid = "
             "pg_backend_pid() AND granted AND objsubid = 2 AND classid::bigint = "
             "hashtext('%s')::bigint & 4294967295), ''))",
             store->schema, store->schema);
}

static bool has_frame(const struct store_pg *store, enum frame frame)
{
    return frame == FRAME_LOCKS  ? store->options.tells_locks
           : frame == FRAME_LAST ? store->options.last != NULL
           : frame == FRAME_MARK ? store->options.marks
                                 : true;
}

static void write_frame(const struct store_pg *store, enum frame frame, struct text *text)
{
    static const char *const words[FRAME_COUNT] = {[FRAME_BEGIN] = "BEGIN",
                                                   [FRAME_BEGIN_SERIALIZABLE] =
                                                       "BEGIN ISOLATION LEVEL SERIALIZABLE",
                                                   [FRAME_COMMIT] = "COMMIT"};
    if (frame == FRAME_LOCKS) {
        write_locks(store, text);
    } else if (frame == FRAME_MARK) {
        write_mark(store, text);
    } else if (frame == FRAME_CLOCK) {
        text_put(text, "SELECT %s." SCHEMA_CLOCK "()", store->schema);
    } else {
        text_put(text, "%s", frame == FRAME_LAST ? store->options.last : words[frame]);
    }
}

static bool prepare_frame(struct store_pg *store)
{
    bool *prepared = &store->frames[bundle_of(store)];
    if (*prepared) {
        return true;
    }
    *prepared = true;
    for (int f = 0; f < FRAME_COUNT; f++) {
        char name[FRAME_NAME_SIZE], comment[COMMENT_SIZE], script[FRAME_SIZE];
        struct text text = text_begin(script, sizeof script);
        if (!has_frame(store, (enum frame)f)) {
            continue;
        }
        frame_name(store, (enum frame)f, name);
        write_comment(store, comment);
        text_put(&text, "%s", comment);
        write_frame(store, (enum frame)f, &text);
        if (!PQsendPrepare(store->connection, name, script, 0, NULL)) {
            return false;
        }
        store->preparations++;
    }
    return true;
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

static bool prepare_call(struct store_pg *store, const struct call *call)
{
    const struct primitive *primitive = &store->options.primitives[call->primitive];
    struct connection_program *program = program_of(store, call);
    if (program->count != 0) {
        return true;
    }
    int count = sql_statement_count(primitive, (enum call_mode)call->mode, store->options.form);
    CHECK(count <= CONNECTION_STATEMENTS_MAX);
    for (int s = 0; s < count; s++) {
        if (!prepare_statement(store, call, s, &program->statements[s])) {
            return false;
        }
        store->preparations++;
    }
    program->count = (uint8_t)count;
    return true;
}

/* What this connection has not prepared yet. */
static bool prepare_missing(struct store_pg *store)
{
    bool done = true;
    for (uint8_t i = 0; i < store->bundle.count && done; i += compound_step(&store->compound, i)) {
        done = compound_begins(&store->compound, i) ? prepare_compound(store)
                                                    : prepare_call(store, &store->bundle.calls[i]);
    }
    return done;
}

static void under_way(struct store_pg *store, struct command command)
{
    CHECK(store->command_count < FLIGHT_MAX);
    store->commands[store->command_count++] = command;
}

static bool send_command(struct store_pg *store, enum frame frame, uint8_t call)
{
    char name[FRAME_NAME_SIZE];
    frame_name(store, frame, name);
    under_way(store, (struct command){.call = call});
    return PQsendQueryPrepared(store->connection, name, 0, NULL, NULL, NULL, 1);
}

static bool send_call(struct store_pg *store, uint8_t number)
{
    const struct call *call = &store->bundle.calls[number];
    const struct connection_program *program = program_of(store, call);
    struct connection_params params;
    connection_params(&params, &store->bundle, call,
                      store->options.primitives[call->primitive].params);
    for (uint8_t s = 0; s < program->count; s++) {
        const struct connection_statement *statement = &program->statements[s];
        under_way(store, (struct command){.statement = statement, .call = number});
        if (!connection_send(store->connection, statement, &params)) {
            return false;
        }
    }
    return true;
}

static bool send_compound(struct store_pg *store)
{
    char name[COMPOUND_NAME_SIZE];
    compound_name(store, name);
    under_way(store, (struct command){.call = store->compound.first, .is_compound = true});
    return connection_send_compound(store->connection, name, &store->compound);
}

/* The transaction's time: asked for first, so that a sender that is refused is told, too. Of a
 * lockstep schema the clocks are set, which takes no snapshot. */
static bool send_clock(struct store_pg *store)
{
    char clocks[2][60];
    if (!store->told) {
        return send_command(store, FRAME_CLOCK, CLOCK_CALL);
    }
    snprintf(clocks[0], sizeof clocks[0], SCHEMA_SET_CLOCK, store->now);
    snprintf(clocks[1], sizeof clocks[1], SCHEMA_SET_WALL, store->now + PRIMITIVE_WALL_AHEAD);
    for (int i = 0; i < 2; i++) {
        under_way(store, (struct command){.call = NO_CALL});
        if (!PQsendQueryParams(store->connection, clocks[i], 0, NULL, NULL, NULL, NULL, 1)) {
            return false;
        }
    }
    return true;
}

/* The bundle may write rows of the table that the last statement is about. */
static bool needs_last(const struct store_pg *store)
{
    for (uint8_t i = 0; i < store->bundle.count && store->options.last != NULL; i++) {
        const struct primitive *primitive =
            &store->options.primitives[store->bundle.calls[i].primitive];
        for (uint8_t o = 0; o < primitive->op_count; o++) {
            const struct op *op = &primitive->ops[o];
            if ((op->kind == OP_INSERT || op->kind == OP_RECORD) &&
                op->table == store->options.last_after) {
                return true;
            }
        }
    }
    return false;
}

/* Everything but COMMIT. What goes in front has a sync of its own: preparing takes a snapshot, and
 * the transaction is to choose its isolation level before that. */
static bool send_statements(struct store_pg *store)
{
    bool serializable = store->bundle.isolation == SERIALIZABLE;
    if (!end_failed(store) || !prepare_frame(store) || !prepare_missing(store) ||
        !(store->preparations == 0 || PQpipelineSync(store->connection)) ||
        !send_command(store, serializable ? FRAME_BEGIN_SERIALIZABLE : FRAME_BEGIN, NO_CALL) ||
        !send_clock(store)) {
        return false;
    }
    for (uint8_t i = 0; i < store->bundle.count; i += compound_step(&store->compound, i)) {
        bool told =
            i == 0 || !store->options.tells_locks || send_command(store, FRAME_LOCKS, NO_CALL);
        if (!told ||
            !(compound_begins(&store->compound, i) ? send_compound(store) : send_call(store, i))) {
            return false;
        }
    }
    return (!needs_last(store) || send_command(store, FRAME_LAST, NO_CALL)) &&
           (!store->options.marks || send_command(store, FRAME_MARK, MARK_CALL));
}

/* A connection that broke while it was idle is found out before anything is sent on it: then it is
 * certain that nothing happened. Its last words come first, its end after them. */
bool store_pg_is_well(struct store_pg *store)
{
    if (store->connection == NULL) {
        return false;
    }
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
    if (strstr(store->error.text, " 53300: ") != NULL) {
        memcpy(store->answer.sqlstate, "53300", 6);
    }
    store_pg_cut(store);
    return false;
}

/* A second BEGIN is an error (CUT-3): a server only warns of it, and goes on in the first one. */
static bool is_nested(struct store_pg *store)
{
    if (store->open) {
        snprintf(store->error.text, sizeof store->error.text,
                 "a transaction is open on this connection; a second BEGIN is an error");
    }
    return store->open;
}

/* Everything but COMMIT is on its way. False: nothing is, and nothing happened. */
static bool begin_flight(struct store_pg *store, const struct bundle *bundle, int64_t now)
{
    CHECK(!store->open);
    CHECK(store->owner == getpid()); /* G4: a process of its own makes a store of its own */
    store->bundle = *bundle;
    store->told = now != STORE_PG_SERVERS_TIME;
    store->now = store->told ? now : store->now;
    store->command_count = 0;
    store->preparations = 0;
    store->received = 0;
    store->mark = (struct store_pg_mark){0};
    store->answer = (struct answer){.bound = bundle->principal != PRINCIPAL_NONE};
    compound_find(bundle, store->options.primitives, store->options.form, &store->compound);
    if (store->connection == NULL && !reconnect(store)) {
        return false;
    }
    if (!store_pg_is_well(store) || !send_statements(store)) {
        store_pg_cut(store);
        return false;
    }
    return true;
}

void store_pg_send_commit(struct store_pg *store)
{
    store->open = false;
    if (store->connection == NULL) {
        return;
    }
    store->answer.sent = true; /* from here on COMMIT may arrive */
    if (!send_command(store, FRAME_COMMIT, NO_CALL) || !PQpipelineSync(store->connection)) {
        store_pg_cut(store);
    }
}

void store_pg_send(struct store_pg *store, const struct bundle *bundle, int64_t now)
{
    if (begin_flight(store, bundle, now)) {
        store_pg_send_commit(store);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void take_values(const struct connection_statement *statement, const struct call *call,
                        const PGresult *result, struct outcome *outcome)
{
    for (int i = 0; i < statement->places_count; i++) {
        if (!PQgetisnull(result, 0, i + 1)) {
            int place = call->values + statement->places[i];
            CHECK(place < BUNDLE_VALUES_MAX);
            outcome->values[place] = connection_number(result, 0, i + 1);
        }
    }
    bool claimed = statement->message && !PQgetisnull(result, 0, 1);
    for (int i = 0; claimed && i <= MESSAGE_COLUMNS; i++) {
        outcome->message[i] = connection_number(result, 0, i + 1);
    }
}

static void take_compound(struct store_pg *store, const PGresult *result, struct outcome *outcome)
{
    const struct compound *compound = &store->compound;
    for (int i = 0; i < compound->places_count; i++) {
        if (!PQgetisnull(result, 0, i + 1)) {
            outcome->values[compound->places[i]] = connection_number(result, 0, i + 1);
        }
    }
    if (connection_number(result, 0, 0) != 0) {
        outcome->skipped = (uint8_t)(compound->first + COMPOUND_GUARD + 1);
    }
}

/* What a statement of a call answered. Once the rest is skipped nothing more is taken. */
static void take_row(struct store_pg *store, const struct command *command, const PGresult *result,
                     struct outcome *outcome)
{
    if ((command->statement == NULL && !command->is_compound) || outcome->skipped != 0 ||
        PQntuples(result) == 0 || PQgetisnull(result, 0, 0)) {
        return;
    }
    if (command->is_compound) {
        take_compound(store, result, outcome);
        return;
    }
    const struct call *call = &store->bundle.calls[command->call];
    take_values(command->statement, call, result, outcome);
    if (connection_number(result, 0, 0) != 0) {
        outcome->skipped = (uint8_t)(command->call + 1);
    }
}

static void take_mark(struct store_pg *store, const PGresult *result)
{
    store->mark = (struct store_pg_mark){.transaction = connection_number(result, 0, 0),
                                         .word = connection_number(result, 0, 1),
                                         .backend = PQbackendPID(store->connection)};
}

const char *store_pg_schema(const struct store_pg *store)
{
    return store->schema;
}

int64_t store_pg_time(const struct store_pg *store)
{
    return store->now;
}

struct store_pg_mark store_pg_mark(const struct store_pg *store)
{
    return store->mark;
}

/* The call that a command's error is about. */
static uint8_t refused_call(const struct store_pg *store, const struct command *command,
                            const PGresult *result)
{
    struct compound_error error = {PQresultErrorField(result, PG_DIAG_SQLSTATE),
                                   PQresultErrorField(result, PG_DIAG_TABLE_NAME),
                                   PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL)};
    return !command->is_compound ? command->call
                                 : compound_refused(&store->bundle, store->options.primitives,
                                                    &store->compound, &error);
}

static void take_error(struct store_pg *store, size_t at, const PGresult *result)
{
    struct answer *answer = &store->answer;
    if (answer->place != ANSWER_NO_ERROR) {
        return; /* the first one tells */
    }
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    answer->place =
        answer->sent && at + 1 == store->command_count ? ANSWER_AT_COMMIT : ANSWER_BEFORE_COMMIT;
    answer->fatal = severity != NULL && strcmp(severity, "ERROR") != 0;
    if (sqlstate != NULL && strlen(sqlstate) == 5) {
        memcpy(answer->sqlstate, sqlstate, 6);
    }
    store->refused = refused_call(store, &store->commands[at], result);
    connection_explain(&store->error, "the server refused a bundle", PQresultErrorMessage(result));
}

static void take_result(struct store_pg *store, size_t at, const PGresult *result,
                        struct outcome *outcome)
{
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
        if (!store->preparing && store->commands[at].call == CLOCK_CALL) {
            store->now = connection_number(result, 0, 0);
        } else if (!store->preparing && store->commands[at].call == MARK_CALL) {
            take_mark(store, result);
        } else if (!store->preparing) {
            take_row(store, &store->commands[at], result, outcome);
        }
        break;
    case PGRES_COMMAND_OK:
        if (store->answer.sent && at + 1 == store->command_count) {
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
    store->preparing = true;
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        done = receive_command(store, 0, &none);
    }
    store->preparing = false;
    return done && (count == 0 || receive_sync(store));
}

/* What was sent so far. */
static bool receive_commands(struct store_pg *store, struct outcome *outcome)
{
    if (!receive_preparations(store)) {
        return false;
    }
    for (; store->received < store->command_count; store->received++) {
        if (!receive_command(store, store->received, outcome)) {
            return false;
        }
    }
    return true;
}

bool store_pg_send_open(struct store_pg *store, const struct bundle *bundle, int64_t now)
{
    if (is_nested(store) || !begin_flight(store, bundle, now)) {
        return false;
    }
    store->outcome = (struct outcome){.kind = OUTCOME_NONE};
    if (!PQsendFlushRequest(store->connection) || !receive_commands(store, &store->outcome)) {
        store_pg_cut(store); /* COMMIT was not sent: it is certain that nothing happened */
        return false;
    }
    store->open = store->answer.place == ANSWER_NO_ERROR;
    return store->open;
}

int64_t store_pg_slip_in(struct store_pg *store, const char *statement)
{
    int64_t changed = -1;
    PGresult *result;
    if (store->connection == NULL ||
        !PQsendQueryParams(store->connection, statement, 0, NULL, NULL, NULL, NULL, 1) ||
        !PQsendFlushRequest(store->connection)) {
        return changed;
    }
    while ((result = PQgetResult(store->connection)) != NULL) {
        if (PQresultStatus(result) == PGRES_COMMAND_OK) {
            changed = strtoll(PQcmdTuples(result), NULL, 10);
        } else {
            take_error(store, 0, result);
        }
        PQclear(result);
    }
    return changed;
}

bool store_pg_receive(struct store_pg *store, struct outcome *outcome)
{
    if (store->received > 0) {
        *outcome = store->outcome;
    } else {
        outcome->skipped = 0;
        outcome->message[0] = 0;
        memset(outcome->values, 0, sizeof outcome->values);
    }
    outcome->kind = OUTCOME_NONE;
    store->open = false;
    if (store->connection != NULL && !(receive_commands(store, outcome) && receive_sync(store))) {
        store->answer.lost = true;
        store_pg_cut(store);
    }
    outcome->now = store->now;
    if (!answer_outcome(&store->answer, outcome)) {
        store_pg_cut(store);
        return false;
    }
    if (outcome->kind != OUTCOME_COMMITTED) { /* G2 */
        bool told = outcome->kind == OUTCOME_REFUSED;
        outcome->skipped = told ? (uint8_t)(store->refused + 1) : 0;
        memset(outcome->values, 0, sizeof outcome->values);
    }
    return true;
}

bool store_pg_execute(struct store_pg *store, const struct bundle *bundle, int64_t now,
                      struct outcome *outcome)
{
    if (is_nested(store)) {
        return false;
    }
    store_pg_send(store, bundle, now);
    return store_pg_receive(store, outcome);
}

/* ---- outside bundles ------------------------------------------------------------------------- */

/* Leaves pipeline mode for one query, whose result the caller clears; NULL: it failed. */
static PGresult *query(struct store_pg *store, const char *text, bool binary)
{
    if (store->connection == NULL && !reconnect(store)) {
        return NULL;
    }
    PGconn *connection = store->connection;
    if (!PQexitPipelineMode(connection) || (PQtransactionStatus(connection) == PQTRANS_INERROR &&
                                            !connection_run(connection, "ROLLBACK"))) {
        connection_explain(&store->error, "the connection is not free", PQerrorMessage(connection));
        return NULL;
    }
    PGresult *result = binary ? PQexecParams(connection, text, 0, NULL, NULL, NULL, NULL, 1)
                              : PQexec(connection, text);
    ExecStatusType status = PQresultStatus(result);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!done) {
        connection_explain(&store->error, "a query failed", PQerrorMessage(connection));
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
        *number = connection_number(result, 0, 0);
    }
    PQclear(result);
    return told;
}

bool store_pg_now(struct store_pg *store, int64_t *now)
{
    char text[SCHEMA_NAME_SIZE + 40];
    snprintf(text, sizeof text, "SELECT %s." SCHEMA_CLOCK "()", store->schema);
    return store_pg_ask(store, text, now);
}

bool store_pg_rows(struct store_pg *store, enum row_table table, store_pg_row *each, void *context)
{
    char text[CONNECTION_ROWS_SIZE];
    connection_rows_query(store->schema, table, text);
    return store_pg_query(store, text, each, context);
}

bool store_pg_query(struct store_pg *store, const char *text, store_pg_row *each, void *context)
{
    PGresult *result = query(store, text, true);
    if (result == NULL) {
        return false;
    }
    connection_each_row(result, each, context);
    PQclear(result);
    return true;
}
