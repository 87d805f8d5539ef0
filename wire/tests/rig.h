/* A proxy in front of the suite's server, clients of it, and what the proxy told, as text. The
 * clients are libpq's, which does not block here: the test serves the proxy while it waits. */
#ifndef WIRE_TESTS_RIG_H
#define WIRE_TESTS_RIG_H

#include "real/tests/server.h"
#include "wire/proxy.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RIG_WAIT_S 60

struct rig {
    struct proxy *proxy;
    char folder[64], path[100], upstream[PROXY_PATH_SIZE];
    char told[1 << 16]; /* a line each event */
    size_t used;
    unsigned seen[PROXY_CLOSED + 1];
    enum proxy_event_kind hold_kind; /* this event, the hold_at-th of its kind from now, is */
    unsigned hold_at;                /* answered with `verdict`; 0: none */
    enum proxy_verdict verdict;
    uint64_t held;      /* the connection that it was about */
    const char *refuse; /* an SQLSTATE for new connections; NULL: none is refused */
    void (*hook)(struct rig *rig, const struct proxy_event *event); /* NULL: none */
};

static const char *const rig_kinds[] = {
    [PROXY_CONNECTING] = "connecting", [PROXY_CONNECTED] = "connected",
    [PROXY_STATEMENT] = "statement",   [PROXY_COMMIT] = "commit",
    [PROXY_ANSWER] = "answer",         [PROXY_COMMITTED] = "committed",
    [PROXY_READY] = "ready",           [PROXY_NOTIFICATION] = "notification",
    [PROXY_COPY_BEGIN] = "copy-begin", [PROXY_COPY_END] = "copy-end",
    [PROXY_CANCEL] = "cancel",         [PROXY_ERROR] = "error",
    [PROXY_CLIENT_GONE] = "gone",      [PROXY_CLOSED] = "closed"};

static const char *const rig_hows[] = {"", " explicit", " implicit", " inside"};

__attribute__((format(printf, 2, 3))) static void rig_note(struct rig *rig, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(rig->told + rig->used, sizeof rig->told - rig->used, format, arguments);
    va_end(arguments);
    rig->used += (size_t)length;
    cr_assert(rig->used < sizeof rig->told);
}

static enum proxy_verdict rig_told(void *context, const struct proxy_event *event)
{
    struct rig *rig = context;
    rig->seen[event->kind]++;
    rig_note(rig, "%s", rig_kinds[event->kind]);
    if (event->statement != 0) {
        rig_note(rig, " %" PRIu64, event->statement);
    }
    if (event->kind == PROXY_STATEMENT) {
        rig_note(rig, " %.*s", (int)event->normal_length, event->normal);
    }
    rig_note(rig, "%s%s%s%s%s", rig_hows[event->how], event->tag[0] == '\0' ? "" : " ", event->tag,
             event->sqlstate[0] == '\0' ? "" : " ", event->sqlstate);
    if (event->channel != NULL) {
        rig_note(rig, " %s %s", event->channel, event->payload);
    }
    if (event->kind == PROXY_READY || event->kind == PROXY_COMMITTED) {
        rig_note(rig, " %c", event->transaction);
    }
    rig_note(rig, "%s%s%s\n", event->skipped ? " skipped" : "",
             event->suspended ? " suspended" : "", event->late ? " late" : "");
    if (rig->hook != NULL) {
        rig->hook(rig, event);
    }
    if (event->kind == PROXY_CONNECTING && rig->refuse != NULL) {
        proxy_refuse(rig->proxy, event->connection, PROXY_FATAL, rig->refuse, "no");
    }
    if (rig->hold_at > 0 && event->kind == rig->hold_kind && --rig->hold_at == 0) {
        rig->held = event->connection;
        return rig->verdict;
    }
    return PROXY_PASS;
}

static inline void rig_on(struct rig *rig, enum proxy_event_kind kind, unsigned nth,
                          enum proxy_verdict verdict)
{
    rig->hold_kind = kind;
    rig->hold_at = nth;
    rig->verdict = verdict;
    rig->held = 0;
}

static inline void rig_forget(struct rig *rig)
{
    rig->used = 0;
    rig->told[0] = '\0';
    memset(rig->seen, 0, sizeof rig->seen);
}

static inline void rig_open(struct rig *rig)
{
    struct proxy_fault why;
    memset(rig, 0, sizeof *rig);
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    PQconninfoOption *options = PQconninfoParse(server_dsn(), NULL), *option = options;
    while (strcmp(option->keyword, "host") != 0) {
        option++;
    }
    snprintf(rig->upstream, sizeof rig->upstream, "%s/.s.PGSQL.5432", option->val);
    PQconninfoFree(options);
    snprintf(rig->folder, sizeof rig->folder, "/tmp/assay-rig-XXXXXX");
    cr_assert(mkdtemp(rig->folder) != NULL);
    snprintf(rig->path, sizeof rig->path, "%s/.s.PGSQL.5432", rig->folder);
    struct proxy_options of = {.upstream = rig->upstream,
                               .tls_folder = rig->folder,
                               .told = rig_told,
                               .context = rig,
                               .normalise = true};
    rig->proxy = proxy_open(&of, &why);
    cr_assert(rig->proxy != NULL, "%s", why.text);
    cr_assert(proxy_listen_unix(rig->proxy, 7, rig->path, &why), "%s", why.text);
}

static inline void rig_close(struct rig *rig)
{
    char path[100];
    cr_expect_eq(proxy_count(rig->proxy).out_of_step, 0);
    proxy_close(rig->proxy);
    cr_expect(access(rig->path, F_OK) != 0, "the socket stays");
    snprintf(path, sizeof path, "%s/ca.pem", rig->folder);
    unlink(path);
    rmdir(rig->folder);
}

static inline void rig_turn(struct rig *rig, time_t deadline)
{
    proxy_turn(rig->proxy, 2);
    cr_assert(time(NULL) < deadline, "nothing happens; told so far:\n%s", rig->told);
}

/* Serves until nothing moves. */
static inline void rig_settle(struct rig *rig)
{
    for (int still = 0; still < 10;) {
        still = proxy_turn(rig->proxy, 2) == 0 ? still + 1 : 0;
    }
}

static inline void rig_until_held(struct rig *rig)
{
    time_t deadline = time(NULL) + RIG_WAIT_S;
    while (rig->held == 0) {
        rig_turn(rig, deadline);
    }
    rig_settle(rig);
}

static inline void rig_until(struct rig *rig, enum proxy_event_kind kind, unsigned count)
{
    time_t deadline = time(NULL) + RIG_WAIT_S;
    while (rig->seen[kind] < count) {
        rig_turn(rig, deadline);
    }
}

/* A client through the proxy; its state is good or bad. */
static inline PGconn *rig_connect_with(struct rig *rig, const char *more)
{
    char dsn[256];
    time_t deadline = time(NULL) + RIG_WAIT_S;
    snprintf(dsn, sizeof dsn, "host=%s user=assay dbname=postgres application_name=rig %s",
             rig->folder, more);
    PGconn *client = PQconnectStart(dsn);
    PostgresPollingStatusType status;
    do {
        rig_turn(rig, deadline);
        struct pollfd ready = {.fd = PQsocket(client), .events = POLLIN | POLLOUT};
        status = poll(&ready, 1, 1) >= 0 ? PQconnectPoll(client) : PGRES_POLLING_FAILED;
    } while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED);
    rig_settle(rig);
    PQsetnonblocking(client, 1);
    return client;
}

static inline PGconn *rig_connect(struct rig *rig)
{
    PGconn *client = rig_connect_with(rig, "");
    cr_assert_eq(PQstatus(client), CONNECTION_OK, "%s", PQerrorMessage(client));
    return client;
}

/* The next result; NULL: the query has no more, or the connection is lost. */
static inline PGresult *rig_result(struct rig *rig, PGconn *client)
{
    time_t deadline = time(NULL) + RIG_WAIT_S;
    PQflush(client);
    while (PQisBusy(client) && PQconsumeInput(client)) {
        PQflush(client);
        rig_turn(rig, deadline);
    }
    return PQgetResult(client);
}

/* All results of what was sent: the last one's SQLSTATE, tag or first value, in text. */
static inline const char *rig_last(struct rig *rig, PGconn *client)
{
    static char text[128];
    PGresult *result;
    snprintf(text, sizeof text, "nothing");
    while ((result = rig_result(rig, client)) != NULL) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        bool rows = PQresultStatus(result) == PGRES_TUPLES_OK;
        bool lost = PQresultStatus(result) == PGRES_FATAL_ERROR && state == NULL;
        snprintf(text, sizeof text, "%s",
                 lost    ? "lost"
                 : state ? state
                 : rows  ? PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "no row"
                         : PQcmdStatus(result));
        PQclear(result);
        if (lost) {
            break;
        }
    }
    rig_settle(rig);
    return text;
}

static inline const char *rig_query(struct rig *rig, PGconn *client, const char *sql)
{
    cr_assert(PQsendQuery(client, sql), "%s", PQerrorMessage(client));
    return rig_last(rig, client);
}

static inline void rig_send_extended(PGconn *client, const char *sql)
{
    cr_assert(PQsendQueryParams(client, sql, 0, NULL, NULL, NULL, NULL, 0), "%s",
              PQerrorMessage(client));
    PQflush(client);
}

/* Asks the server directly: the first value, or an SQLSTATE. */
static inline const char *rig_direct(const char *sql)
{
    static char text[128];
    PGconn *client = PQconnectdb(server_dsn());
    PGresult *result = PQexec(client, sql);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(text, sizeof text, "%s",
             state != NULL ? state
             : PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0
                 ? PQgetvalue(result, 0, 0)
                 : "");
    PQclear(result);
    PQfinish(client);
    return text;
}

#endif
