#define _GNU_SOURCE /* ppoll */
#include "real/stepper.h"

#include "model/check.h"
#include "model/text.h"
#include "real/connection.h"
#include "real/schema.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS    INT64_C(20000000000) /* then something is wrong */
#define DEADLOCK_NS    INT64_C(3000000000)  /* ... with a deadlock that the server does not see */
#define PAUSE_NS       INT64_C(300000)   /* before the first look at locks, then twice as long .. */
#define SPIN_NS        INT64_C(200000)   /* of which so long without sleep: waking up costs more */
#define PAUSE_NS_MAX   INT64_C(10000000) /* .. up to this */
#define LOOK           "look"            /* the watcher's prepared statement */
#define LOOK_TEXT_SIZE 512

/* One connection and its transaction. */
struct session {
    PGconn *connection;
    int backend;                         /* the server's process */
    struct connection_program *programs; /* by primitive and mode */
    bool stale;                          /* what is prepared is of other primitives */
    uint8_t principal;                   /* enum principal: its role */
    bool open;                           /* there is a transaction */
    bool under_way;                      /* something was sent and not answered */
    bool ends;                           /* what: COMMIT or ROLLBACK; else a statement: */
    bool message;                        /* its columns after the first are a message, */
    uint8_t places_count;                /* or these values of the outcome */
    uint8_t places[SQL_VALUES_MAX];
    bool has_compound; /* the compound is prepared */
    struct bundle bundle;
    struct compound compound;
    struct stepper_answer answer;
};

struct stepper {
    struct stepper_options options;
    char *dsn;
    char schema[SCHEMA_NAME_SIZE];
    PGconn *watcher;
    struct session sessions[STEPPER_CONNECTIONS_MAX];
    struct roles roles;
    int64_t wall; /* what the wall clock shows */
    uint32_t
        waiting; /* sessions that were seen to wait, and that nothing can have released since */
    struct error error;
};

static struct session *session_of(const struct stepper *stepper, unsigned connection)
{
    CHECK(connection < stepper->options.connections);
    return (struct session *)&stepper->sessions[connection];
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool stepper_fail(struct stepper *stepper, const char *what, const char *message)
{
    connection_explain(&stepper->error, what, message);
    return false;
}

static void make_programs(struct stepper *stepper)
{
    size_t count = stepper->options.primitive_count * CONNECTION_MODES;
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        struct session *session = &stepper->sessions[i];
        free(session->programs);
        session->programs = calloc(count, sizeof *session->programs);
        CHECK(count == 0 || session->programs != NULL);
    }
}

/* Who may not set deadlock_timeout waits for the server's own, a second as a rule. */
static bool open_session(struct stepper *stepper, struct session *session)
{
    session->connection = connection_open(stepper->dsn);
    if (PQstatus(session->connection) != CONNECTION_OK ||
        !connection_settle(session->connection, stepper->schema) ||
        !connection_run(session->connection, "SET lock_timeout = 0; SET statement_timeout = 0; "
                                             "SET idle_in_transaction_session_timeout = 0")) {
        return stepper_fail(stepper, "no connection", PQerrorMessage(session->connection));
    }
    connection_run(session->connection, "SET deadlock_timeout = '20ms'");
    session->backend = PQbackendPID(session->connection);
    return true;
}

/* Waits for a lock on a relation or a page are left out: they end by themselves. */
static bool open_watcher(struct stepper *stepper)
{
    char look[LOOK_TEXT_SIZE];
    struct text text = text_begin(look, sizeof look);
    text_put(&text, "SELECT pid::bigint FROM pg_catalog.pg_locks WHERE NOT granted AND "
                    "locktype IN ('transactionid', 'tuple', 'advisory', 'spectoken') AND pid IN (");
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        text_put(&text, "%s%d", i == 0 ? "" : ", ", stepper->sessions[i].backend);
    }
    text_put(&text, ")");
    stepper->watcher = connection_open(stepper->dsn);
    if (PQstatus(stepper->watcher) == CONNECTION_OK &&
        connection_run(stepper->watcher, "SET client_min_messages = warning; SET jit = off; "
                                         "SET lock_timeout = '20s'")) {
        PGresult *result = PQprepare(stepper->watcher, LOOK, look, 0, NULL);
        bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
        if (done) {
            return true;
        }
    }
    return stepper_fail(stepper, "no connection", PQerrorMessage(stepper->watcher));
}

static bool make_roles(struct stepper *stepper)
{
    char script[ROLES_SCRIPT_SIZE];
    roles_draw(&stepper->roles, stepper->options.principals);
    roles_script(&stepper->roles, stepper->schema, script);
    if (stepper->roles.principals == 0 || connection_run(stepper->watcher, script)) {
        return true;
    }
    stepper->roles.principals = 0; /* none to drop */
    return stepper_fail(stepper,
                        "the roles of the principals cannot be made, which takes CREATEROLE",
                        PQerrorMessage(stepper->watcher));
}

static void drop_roles(struct stepper *stepper)
{
    char script[ROLES_SCRIPT_SIZE];
    roles_drop_script(&stepper->roles, script);
    if (stepper->roles.principals != 0) {
        connection_run(stepper->watcher, script);
    }
}

static bool open_all(struct stepper *stepper)
{
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        if (!open_session(stepper, &stepper->sessions[i])) {
            return false;
        }
    }
    return open_watcher(stepper) && make_roles(stepper);
}

struct stepper *stepper_open(const struct stepper_options *options, struct error *error)
{
    CHECK(options->connections >= 1 && options->connections <= STEPPER_CONNECTIONS_MAX);
    if (!connection_schema_is_sound(options->schema, error)) {
        return NULL;
    }
    struct stepper *stepper = calloc(1, sizeof *stepper);
    CHECK(stepper != NULL);
    stepper->options = *options;
    stepper->dsn = strdup(options->dsn);
    CHECK(stepper->dsn != NULL);
    memcpy(stepper->schema, options->schema, strlen(options->schema));
    stepper->options.dsn = stepper->dsn;
    stepper->options.schema = stepper->schema;
    make_programs(stepper);
    if (!open_all(stepper)) {
        *error = stepper->error;
        stepper_close(stepper);
        return NULL;
    }
    return stepper;
}

void stepper_close(struct stepper *stepper)
{
    if (stepper == NULL) {
        return;
    }
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        PQfinish(stepper->sessions[i].connection);
        free(stepper->sessions[i].programs);
    }
    drop_roles(stepper);
    PQfinish(stepper->watcher);
    free(stepper->dsn);
    free(stepper);
}

void stepper_primitives(struct stepper *stepper, const struct primitive *primitives, size_t count)
{
    stepper->options.primitives = primitives;
    stepper->options.primitive_count = count;
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        CHECK(!stepper->sessions[i].open);
        stepper->sessions[i].stale = true;
    }
    make_programs(stepper);
}

const char *stepper_why_not(const struct stepper *stepper)
{
    return stepper->error.text;
}

/* ---- sending --------------------------------------------------------------------------------- */

static struct connection_program *program_of(const struct stepper *stepper,
                                             const struct session *session, const struct call *call)
{
    CHECK(call->primitive < stepper->options.primitive_count && call->mode < CONNECTION_MODES);
    return &session->programs[call->primitive * CONNECTION_MODES + call->mode];
}

static bool prepare_statement(struct stepper *stepper, struct session *session,
                              const struct call *call, int index,
                              struct connection_statement *statement)
{
    const struct stepper_options *options = &stepper->options;
    struct sql_statement sql;
    sql_statement(&options->primitives[call->primitive], (enum call_mode)call->mode, options->form,
                  index, options->schema, &sql);
    connection_remember(statement, &sql, call, index);
    PGresult *result =
        PQprepare(session->connection, statement->name, sql.text, sql.params, connection_types);
    bool done = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return done || stepper_fail(stepper, "a statement could not be prepared",
                                PQerrorMessage(session->connection));
}

static int statement_count(const struct stepper *stepper, const struct call *call)
{
    return sql_statement_count(&stepper->options.primitives[call->primitive],
                               (enum call_mode)call->mode, stepper->options.form);
}

static bool prepare_call(struct stepper *stepper, struct session *session, const struct call *call)
{
    struct connection_program *program = program_of(stepper, session, call);
    if (program->count != 0) {
        return true;
    }
    int count = statement_count(stepper, call);
    CHECK(count <= CONNECTION_STATEMENTS_MAX);
    for (int s = 0; s < count; s++) {
        if (!prepare_statement(stepper, session, call, s, &program->statements[s])) {
            return false;
        }
    }
    program->count = (uint8_t)count;
    return true;
}

static bool prepare_compound(struct stepper *stepper, struct session *session)
{
    struct sql_statement sql;
    if (session->has_compound) {
        return true;
    }
    compound_statement(stepper->schema, &sql);
    PGresult *result = PQprepare(session->connection, CONNECTION_COMPOUND, sql.text, sql.params,
                                 connection_compound_types);
    session->has_compound = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return session->has_compound || stepper_fail(stepper, "a statement could not be prepared",
                                                 PQerrorMessage(session->connection));
}

static bool prepare_all(struct stepper *stepper, struct session *session)
{
    if (session->stale && !connection_run(session->connection, "DEALLOCATE ALL")) {
        return stepper_fail(stepper, "statements could not be forgotten",
                            PQerrorMessage(session->connection));
    }
    session->has_compound = session->has_compound && !session->stale;
    session->stale = false;
    const struct compound *compound = &session->compound;
    bool done = true;
    for (uint8_t i = 0; i < session->bundle.count && done; i += compound_step(compound, i)) {
        done = compound_begins(compound, i)
                   ? prepare_compound(stepper, session)
                   : prepare_call(stepper, session, &session->bundle.calls[i]);
    }
    return done;
}

static bool stepper_become(struct stepper *stepper, struct session *session, uint8_t principal)
{
    char script[ROLES_NAME_SIZE + 16] = "RESET ROLE";
    if (session->principal == principal) {
        return true;
    }
    if (principal != PRINCIPAL_NONE) {
        CHECK(principal_in(stepper->roles.principals, (enum principal)principal));
        snprintf(script, sizeof script, "SET ROLE %s", stepper->roles.names[principal]);
    }
    session->principal = principal;
    return connection_run(session->connection, script) ||
           stepper_fail(stepper, "a principal's role cannot be taken on",
                        PQerrorMessage(session->connection));
}

bool stepper_begin(struct stepper *stepper, unsigned connection, const struct bundle *bundle,
                   int64_t now)
{
    struct session *session = session_of(stepper, connection);
    CHECK(!session->open);
    char script[200];
    session->bundle = *bundle;
    compound_find(bundle, stepper->options.primitives, stepper->options.form, &session->compound);
    if (!stepper_become(stepper, session, bundle->principal) ||
        !prepare_all(stepper, session)) { /* S1 */
        return false;
    }
    const char *begin = bundle->isolation == SERIALIZABLE ? "BEGIN ISOLATION LEVEL SERIALIZABLE"
                                                          : "BEGIN ISOLATION LEVEL READ COMMITTED";
    snprintf(script, sizeof script, "%s; " SCHEMA_SET_CLOCK, begin, now);
    session->open = connection_run(session->connection, script);
    return session->open || stepper_fail(stepper, "no transaction could be begun",
                                         PQerrorMessage(session->connection));
}

int stepper_statements(const struct stepper *stepper, unsigned connection, unsigned call)
{
    const struct session *session = session_of(stepper, connection);
    CHECK(session->open && call < session->bundle.count);
    return compound_begins(&session->compound, (uint8_t)call)
               ? 1
               : statement_count(stepper, &session->bundle.calls[call]);
}

static bool is_under_way(struct stepper *stepper, struct session *session, int sent)
{
    session->under_way = sent == 1;
    session->answer = (struct stepper_answer){.did_nothing = true};
    return session->under_way || stepper_fail(stepper, "a statement could not be sent",
                                              PQerrorMessage(session->connection));
}

static bool send_compound(struct stepper *stepper, struct session *session)
{
    const struct compound *compound = &session->compound;
    session->ends = false;
    session->message = false;
    session->places_count = compound->places_count;
    memcpy(session->places, compound->places, sizeof session->places);
    return is_under_way(
        stepper, session,
        connection_send_compound(session->connection, CONNECTION_COMPOUND, compound));
}

/* What is remembered of it names the values of a call. */
static void expect_answer(struct session *session, const struct call *call,
                          const struct connection_statement *statement)
{
    session->ends = false;
    session->message = statement->message;
    session->places_count = statement->places_count;
    for (int i = 0; i < statement->places_count; i++) {
        session->places[i] = (uint8_t)(call->values + statement->places[i]);
    }
}

void stepper_wall(struct stepper *stepper, int64_t wall)
{
    stepper->wall = wall;
}

static bool set_wall(struct stepper *stepper, struct session *session)
{
    char script[60];
    snprintf(script, sizeof script, SCHEMA_SET_WALL, stepper->wall);
    return connection_run(session->connection, script) ||
           stepper_fail(stepper, "the wall clock cannot be set",
                        PQerrorMessage(session->connection));
}

bool stepper_send(struct stepper *stepper, unsigned connection, unsigned call, int index)
{
    struct session *session = session_of(stepper, connection);
    CHECK(session->open && !session->under_way && call < session->bundle.count);
    if (compound_begins(&session->compound, (uint8_t)call)) {
        return send_compound(stepper, session);
    }
    const struct call *sent = &session->bundle.calls[call];
    const struct connection_program *program = program_of(stepper, session, sent);
    CHECK(index >= 0 && index < program->count);
    struct connection_params params;
    connection_params(&params, &session->bundle, sent,
                      stepper->options.primitives[sent->primitive].params);
    const struct connection_statement *statement = &program->statements[index];
    if (statement->wall && !set_wall(stepper, session)) {
        return false;
    }
    expect_answer(session, sent, statement);
    return is_under_way(stepper, session, connection_send(session->connection, statement, &params));
}

bool stepper_end(struct stepper *stepper, unsigned connection, bool commit)
{
    struct session *session = session_of(stepper, connection);
    CHECK(session->open && !session->under_way);
    session->ends = true;
    return is_under_way(stepper, session,
                        PQsendQuery(session->connection, commit ? "COMMIT" : "ROLLBACK"));
}

/* ---- answers --------------------------------------------------------------------------------- */

static void take_message(const PGresult *result, struct stepper_answer *answer)
{
    answer->message_there = !PQgetisnull(result, 0, 1);
    for (int i = 0; answer->message_there && i <= MESSAGE_COLUMNS; i++) {
        answer->claimed[i] = connection_number(result, 0, i + 1);
    }
}

static void take_row(struct session *session, const PGresult *result)
{
    struct stepper_answer *answer = &session->answer;
    answer->has_row = PQntuples(result) > 0;
    answer->did_nothing = !answer->has_row || PQgetisnull(result, 0, 0);
    if (answer->did_nothing || session->ends) {
        return;
    }
    answer->skips = connection_number(result, 0, 0);
    answer->count = session->places_count;
    for (int i = 0; i < session->places_count; i++) {
        answer->places[i] = session->places[i];
        answer->null[i] = PQgetisnull(result, 0, i + 1);
        answer->values[i] = answer->null[i] ? 0 : connection_number(result, 0, i + 1);
    }
    if (session->message) {
        take_message(result, answer);
    }
}

/* False: the error ended the session. */
static bool take_error(const PGresult *result, struct stepper_answer *answer)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(answer->sqlstate, sizeof answer->sqlstate, "%s", sqlstate == NULL ? "" : sqlstate);
    snprintf(answer->message, sizeof answer->message, "%s", message == NULL ? "" : message);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity != NULL && strcmp(severity, "ERROR") == 0;
}

static bool take_result(struct session *session, const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK) {
        take_row(session, result);
    } else if (status == PGRES_COMMAND_OK) {
        session->answer.committed = strcmp(PQcmdStatus((PGresult *)result), "COMMIT") == 0;
    } else {
        return take_error(result, &session->answer);
    }
    return true;
}

/* A statement that did not wait and succeeded let go of nothing (S2). */
static void is_answered(struct stepper *stepper, unsigned connection)
{
    struct session *session = &stepper->sessions[connection];
    bool ended = session->ends;
    bool waited = (stepper->waiting & 1u << connection) != 0;
    if (ended || waited || session->answer.sqlstate[0] != '\0') {
        stepper->waiting = 0;
    }
    session->under_way = false;
    session->open = session->open && !ended;
}

/* What has arrived on a connection. False: the connection is gone. */
static bool take_answer(struct stepper *stepper, unsigned connection, uint32_t *answered)
{
    struct session *session = &stepper->sessions[connection];
    bool heard = PQconsumeInput(session->connection) == 1;
    while (heard && session->under_way && !PQisBusy(session->connection)) {
        PGresult *result = PQgetResult(session->connection);
        if (result != NULL) {
            heard = take_result(session, result);
            PQclear(result);
        } else {
            is_answered(stepper, connection);
            *answered |= 1u << connection;
        }
    }
    return (heard && PQstatus(session->connection) == CONNECTION_OK) ||
           stepper_fail(stepper, "a connection was lost", PQerrorMessage(session->connection));
}

uint32_t stepper_blocked(const struct stepper *stepper)
{
    uint32_t blocked = 0;
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        blocked |= (uint32_t)stepper->sessions[i].under_way << i;
    }
    return blocked;
}

const struct stepper_answer *stepper_answer(const struct stepper *stepper, unsigned connection)
{
    return &session_of(stepper, connection)->answer;
}

/* ---- settling -------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool arrives(struct pollfd *waits, nfds_t count, int64_t pause_ns)
{
    int64_t since = now_ns();
    int64_t passed = 0;
    do {
        if (poll(waits, count, 0) > 0) {
            return true;
        }
        sched_yield();
        passed = now_ns() - since;
    } while (passed < pause_ns && passed < SPIN_NS);
    struct timespec rest = {.tv_nsec = pause_ns - passed};
    return passed < pause_ns && ppoll(waits, count, &rest, NULL) > 0;
}

/* Takes what arrives on any connection within so long. *heard: something did. False: a connection
 * is gone. */
static bool hear(struct stepper *stepper, int64_t pause_ns, uint32_t *answered, bool *heard)
{
    struct pollfd waits[STEPPER_CONNECTIONS_MAX];
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        const struct session *session = &stepper->sessions[i];
        waits[i] = (struct pollfd){.fd = session->under_way ? PQsocket(session->connection) : -1,
                                   .events = POLLIN};
    }
    *heard = arrives(waits, stepper->options.connections, pause_ns);
    for (unsigned i = 0; *heard && i < stepper->options.connections; i++) {
        if (waits[i].revents != 0 && !take_answer(stepper, i, answered)) {
            return false;
        }
    }
    return true;
}

static bool all_wait(const struct stepper *stepper)
{
    return (stepper_blocked(stepper) & ~stepper->waiting) == 0;
}

/* One look at the waits. It counts only if every session waited: one that works, or was just
 * released, may release others. */
static bool stepper_look(struct stepper *stepper)
{
    PGresult *result = PQexecPrepared(stepper->watcher, LOOK, 0, NULL, NULL, NULL, 1);
    bool done = PQresultStatus(result) == PGRES_TUPLES_OK;
    stepper->waiting = 0;
    for (int r = 0; done && r < PQntuples(result); r++) {
        int64_t backend = connection_number(result, r, 0);
        for (unsigned i = 0; i < stepper->options.connections; i++) {
            if (stepper->sessions[i].backend == backend) {
                stepper->waiting |= 1u << i;
            }
        }
    }
    stepper->waiting = all_wait(stepper) ? stepper->waiting : 0;
    PQclear(result);
    return done ||
           stepper_fail(stepper, "pg_locks could not be read", PQerrorMessage(stepper->watcher));
}

/* A cycle is broken by an error in one of its transactions. A cycle of lock queues is also broken by a
 * new order of a queue, which releases one of the waiters. */
static bool is_broken(const struct stepper *stepper, uint32_t answered, uint32_t before_all_waited)
{
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        if ((answered & 1u << i) != 0 &&
            strcmp(stepper->sessions[i].answer.sqlstate, "40P01") == 0) {
            return true;
        }
    }
    return (answered & ~before_all_waited) != 0;
}

static bool is_settled(const struct stepper *stepper, bool deadlock, uint32_t answered,
                       uint32_t before_all_waited)
{
    return all_wait(stepper) && (!deadlock || stepper_blocked(stepper) == 0 ||
                                 is_broken(stepper, answered, before_all_waited));
}

bool stepper_settle(struct stepper *stepper, bool deadlock, uint32_t *answered)
{
    int64_t since = now_ns();
    int64_t pause = PAUSE_NS;
    uint32_t before_all_waited = UINT32_MAX; /* sessions answered before all others waited */
    bool heard = true;
    *answered = 0;
    for (;;) {
        bool known = all_wait(stepper) && !deadlock;
        if (!hear(stepper, known ? 0 : pause, answered, &heard)) {
            return false;
        }
        if (!heard && !known) {
            pause = pause * 2 < PAUSE_NS_MAX ? pause * 2 : PAUSE_NS_MAX;
            if (!stepper_look(stepper)) {
                return false;
            }
        }
        if (is_settled(stepper, deadlock, *answered, before_all_waited)) {
            return true;
        }
        if (all_wait(stepper) && before_all_waited == UINT32_MAX) {
            before_all_waited = *answered;
        }
        if (now_ns() - since > (deadlock ? DEADLOCK_NS : PATIENCE_NS)) {
            return stepper_fail(stepper, "timeout",
                                deadlock
                                    ? "the server has found no deadlock"
                                    : "a statement is neither answered nor waiting for a lock");
        }
    }
}

/* ---- beginning anew -------------------------------------------------------------------------- */

/* Gives up what these connections have under way. A request that comes before its statement is
 * ignored, so it is made until it is heard. */
static bool cancel(struct stepper *stepper, uint32_t which)
{
    int64_t since = now_ns();
    uint32_t answered = 0;
    bool heard;
    while ((stepper_blocked(stepper) & which) != 0) {
        for (unsigned i = 0; i < stepper->options.connections; i++) {
            char script[64];
            snprintf(script, sizeof script, "SELECT pg_cancel_backend(%d)",
                     stepper->sessions[i].backend);
            if ((which >> i & 1) != 0 && stepper->sessions[i].under_way &&
                !stepper_run(stepper, script)) {
                return false;
            }
        }
        if (!hear(stepper, PAUSE_NS_MAX, &answered, &heard)) {
            return false;
        }
        if (now_ns() - since > PATIENCE_NS) {
            return stepper_fail(stepper, "a statement went on for 20 s",
                                "although it was cancelled");
        }
    }
    return true;
}

bool stepper_cancel(struct stepper *stepper, unsigned connection)
{
    return cancel(stepper, UINT32_C(1) << connection);
}

bool stepper_reset(struct stepper *stepper)
{
    if (!cancel(stepper, UINT32_MAX)) {
        return false;
    }
    for (unsigned i = 0; i < stepper->options.connections; i++) {
        struct session *session = &stepper->sessions[i];
        if (session->open && !connection_run(session->connection, "ROLLBACK")) {
            return stepper_fail(stepper, "a transaction could not be ended",
                                PQerrorMessage(session->connection));
        }
        session->open = false;
    }
    return true;
}

/* ---- outside transactions -------------------------------------------------------------------- */

bool stepper_run(struct stepper *stepper, const char *script)
{
    return connection_run(stepper->watcher, script) ||
           stepper_fail(stepper, "a query failed", PQerrorMessage(stepper->watcher));
}

bool stepper_rows(struct stepper *stepper, enum row_table table, store_pg_row *each, void *context)
{
    char text[CONNECTION_ROWS_SIZE];
    connection_rows_query(stepper->schema, table, text);
    PGresult *result = PQexecParams(stepper->watcher, text, 0, NULL, NULL, NULL, NULL, 1);
    bool done = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (done) {
        connection_each_row(result, each, context);
    }
    PQclear(result);
    return done || stepper_fail(stepper, "a query failed", PQerrorMessage(stepper->watcher));
}

/* ---- connections that are refused ------------------------------------------------------------ */

/* A role with a random password. */
struct guest {
    char role[SCHEMA_NAME_SIZE], password[33];
};

static void make_guest(struct guest *guest, const char *role)
{
    char tag[17];
    roles_draw_digits(guest->password, sizeof guest->password - 1);
    roles_draw_digits(tag, sizeof tag - 1);
    if (role != NULL) {
        snprintf(guest->role, sizeof guest->role, "%s", role);
    } else {
        snprintf(guest->role, sizeof guest->role, "assay_limit_%s", tag);
    }
    CHECK(schema_name_is_sound(guest->role));
}

/* Fills the connections and tries one more. False: not even the first ones stand. */
static bool fill_connections(const char *dsn, const struct guest *guest, unsigned limit,
                             char sqlstate[6], struct error *error)
{
    PGconn *connections[STEPPER_CONNECTIONS_MAX + 1];
    unsigned count = 0;
    bool stands = true;
    while (count <= limit && stands) {
        connections[count] = connection_open_as(dsn, guest->role, guest->password);
        stands = PQstatus(connections[count++]) == CONNECTION_OK;
    }
    if (!stands) {
        const char *message = PQerrorMessage(connections[count - 1]);
        connection_sqlstate(message, sqlstate);
        connection_explain(error, "no connection", message);
    }
    for (unsigned i = 0; i < count; i++) {
        PQfinish(connections[i]);
    }
    return count == limit + 1 && (stands || sqlstate[0] != '\0');
}

bool stepper_connection_refused(const char *dsn, const char *role, unsigned limit, char sqlstate[6],
                                struct error *error)
{
    CHECK(limit <= STEPPER_CONNECTIONS_MAX);
    struct guest guest;
    char script[160];
    sqlstate[0] = '\0';
    make_guest(&guest, role);
    PGconn *owner = connection_open(dsn);
    snprintf(script, sizeof script, "CREATE ROLE %s LOGIN CONNECTION LIMIT %u PASSWORD '%s'",
             guest.role, limit, guest.password);
    bool made = PQstatus(owner) == CONNECTION_OK && connection_run(owner, script);
    bool filled = made && fill_connections(dsn, &guest, limit, sqlstate, error);
    snprintf(script, sizeof script, "DROP ROLE %s", guest.role);
    if (!made || !connection_run(owner, script)) {
        connection_explain(error, made ? "the role could not be dropped" : "no role was made",
                           PQerrorMessage(owner));
        filled = false;
    }
    PQfinish(owner);
    return filled;
}
