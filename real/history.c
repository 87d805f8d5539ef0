#include "real/history.h"

#include "model/check.h"
#include "model/text.h"
#include "real/connection.h"
#include "real/decoding.h"
#include "real/history_line.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERY_SIZE   2048
#define OPEN_WAIT_MS 60000 /* for transactions that are open when it begins */
#define KEEP_ROWS    50    /* in a statement */
#define KEEP_SIZE    (KEEP_ROWS * (ROW_COLUMNS_MAX + 10) * 22 + 200)

struct kept_transaction {
    struct history_transaction told;
    size_t first; /* of its changes */
};

struct kept_change {
    struct history_change told;
    int64_t locks[HISTORY_LOCKS_MAX]; /* of its transaction, when it wrote the row */
    int lock_count;
};

struct history {
    PGconn *connection;
    char *dsn;
    char schema[SCHEMA_NAME_SIZE]; /* and the slot's name */
    bool outlives;
    int64_t some_transaction; /* an id of 64 bits: the log has 32 of them */
    uint64_t read_to;         /* everything that ended here or before is read */
    uint64_t most;            /* what ended later is lost; UINT64_MAX: nothing is */
    uint64_t lost;
    struct kept_transaction *transactions;
    size_t transaction_count, transaction_room;
    struct kept_change *changes;
    size_t change_count, change_room;
    size_t *by_word; /* transactions that have one */
    size_t by_word_count;
    struct kept_transaction reading; /* the one under way, */
    struct history_line held;        /* ... with the locks that it has told so far */
    bool broken;
    char broken_line[200];
    PGconn *promoted; /* the next server, until the old one is read */
    char *promoted_dsn;
};

static bool explain(struct error *error, const char *what, PGconn *connection)
{
    connection_explain(error, what, PQerrorMessage(connection));
    return false;
}

static void *grow(void *list, size_t count, size_t *room, size_t size)
{
    if (count == *room) {
        *room = *room == 0 ? 256 : 2 * *room;
        list = realloc(list, *room * size);
        CHECK(list != NULL);
    }
    return list;
}

/* ---- beginning --------------------------------------------------------------------------------- */

static bool ask(PGconn *connection, const char *query, int64_t *number)
{
    PGresult *result = PQexecParams(connection, query, 0, NULL, NULL, NULL, NULL, 1);
    bool told = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1 &&
                PQgetlength(result, 0, 0) == 8;
    *number = told ? connection_number(result, 0, 0) : 0;
    PQclear(result);
    return told;
}

static PGconn *open_quietly(const char *dsn)
{
    PGconn *connection = connection_open(dsn);
    (void)connection_run(connection, "SELECT set_config(name, '0', false) FROM pg_settings "
                                     "WHERE name = 'idle_session_timeout'");
    return connection;
}

/* What the server or the role lacks, in the words of who can change it. */
static bool is_able(PGconn *connection, struct error *error)
{
    int64_t logical = 0, may = 0;
    if (!ask(connection, "SELECT (current_setting('wal_level') = 'logical')::int::bigint",
             &logical) ||
        !ask(connection,
             "SELECT (rolsuper OR rolreplication)::int::bigint FROM pg_roles WHERE rolname = "
             "current_user",
             &may)) {
        return explain(error, "the server cannot be asked", connection);
    }
    if (logical == 0) {
        return error_set(error, "the server needs wal_level = logical in its postgresql.conf, and "
                                "a restart");
    }
    if (may == 0) {
        return error_set(error, "the role needs the right to replicate: ALTER ROLE ... "
                                "REPLICATION");
    }
    return true;
}

/* So that the log has rows as they were before. */
static bool ask_for_whole_rows(PGconn *connection, const char *schema, uint64_t tables)
{
    char query[QUERY_SIZE];
    bool done = true;
    for (int t = 0; t < TABLE_COUNT && done; t++) {
        if (table_in(tables, (enum row_table)t)) {
            snprintf(query, sizeof query, "ALTER TABLE %s.%s REPLICA IDENTITY FULL", schema,
                     schema_table((enum row_table)t));
            done = connection_run(connection, query);
        }
    }
    return done;
}

static bool make_slot(PGconn *connection, const struct history *history)
{
    char query[QUERY_SIZE];
    snprintf(query, sizeof query, "SET statement_timeout = %d", OPEN_WAIT_MS);
    return connection_run(connection, query) &&
           decoding_begin(connection, history->schema, !history->outlives) &&
           connection_run(connection, "SET statement_timeout = 0");
}

struct history *history_begin(const struct history_plan *plan, struct error *error)
{
    struct history *history = calloc(1, sizeof *history);
    CHECK(history != NULL && strlen(plan->schema) < SCHEMA_NAME_SIZE);
    history->dsn = strdup(plan->dsn);
    CHECK(history->dsn != NULL);
    memcpy(history->schema, plan->schema, strlen(plan->schema));
    history->outlives = plan->outlives;
    history->most = UINT64_MAX;
    history->connection = open_quietly(plan->dsn);
    bool begun = PQstatus(history->connection) == CONNECTION_OK;
    if (!begun) {
        (void)explain(error, "no connection", history->connection);
    } else {
        begun = is_able(history->connection, error);
    }
    if (begun && (!ask_for_whole_rows(history->connection, plan->schema, plan->tables) ||
                  !make_slot(history->connection, history) ||
                  !ask(history->connection, "SELECT txid_current()", &history->some_transaction))) {
        begun = explain(error, "no logical decoding", history->connection);
    }
    if (!begun) {
        history->outlives = false; /* there is no slot to drop */
        history_end(history);
    }
    return begun ? history : NULL;
}

void history_end(struct history *history)
{
    if (history == NULL) {
        return;
    }
    if (history->outlives && PQstatus(history->connection) == CONNECTION_OK) {
        (void)decoding_end(history->connection, history->schema);
    }
    PQfinish(history->promoted);
    PQfinish(history->connection);
    free(history->promoted_dsn);
    free(history->transactions);
    free(history->changes);
    free(history->by_word);
    free(history->dsn);
    free(history);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static int64_t whole_id(const struct history *history, uint32_t low)
{
    int64_t some = history->some_transaction;
    return some + (int32_t)(low - (uint32_t)some);
}

static void begin_transaction(struct history *history, const struct decoding_line *line)
{
    history->reading = (struct kept_transaction){.told.id = whole_id(history, line->transaction),
                                                 .first = history->change_count};
    history->held.lock_count = 0;
}

/* It is kept unless it is lost, or none of this schema. */
static void end_transaction(struct history *history, uint64_t place)
{
    struct kept_transaction *reading = &history->reading;
    reading->told.changes = history->change_count - reading->first;
    reading->told.ended = place;
    CHECK(place > history->read_to); /* I1: nothing comes twice */
    bool lost = place > history->most;
    if (lost) {
        history->change_count = reading->first;
    } else if (reading->told.changes > 0 || reading->told.word != 0) {
        history->transactions = grow(history->transactions, history->transaction_count,
                                     &history->transaction_room, sizeof *history->transactions);
        history->transactions[history->transaction_count++] = *reading;
    }
    history->read_to = lost ? history->read_to : place;
}

static void add_change(struct history *history, const struct history_line *line)
{
    history->changes = grow(history->changes, history->change_count, &history->change_room,
                            sizeof *history->changes);
    struct kept_change *kept = &history->changes[history->change_count++];
    *kept = (struct kept_change){.told = {.table = line->table, .kind = line->change},
                                 .lock_count = history->held.lock_count};
    memcpy(kept->told.row, line->row, sizeof line->row);
    memcpy(kept->told.was, line->was, sizeof line->was);
    memcpy(kept->locks, history->held.locks, sizeof kept->locks);
}

static void take_line(void *context, const struct decoding_line *told)
{
    struct history *history = context;
    struct history_line line;
    history_line_read(told->text, history->schema, &line);
    switch (line.kind) {
    case HISTORY_LINE_BEGIN:
        begin_transaction(history, told);
        break;
    case HISTORY_LINE_COMMIT:
        end_transaction(history, told->place);
        break;
    case HISTORY_LINE_CHANGE:
        add_change(history, &line);
        break;
    case HISTORY_LINE_WORD:
        history->reading.told.word = (int64_t)told->place;
        history->reading.told.backend = line.backend;
        history->reading.told.isolation = line.isolation;
        history->reading.told.wall_from = line.wall_from;
        history->reading.told.wall_to = line.wall_to;
        break;
    case HISTORY_LINE_LOCKS:
        history->held = line;
        break;
    case HISTORY_LINE_BROKEN:
        history->broken = true;
        snprintf(history->broken_line, sizeof history->broken_line, "%s", told->text);
        break;
    case HISTORY_LINE_OTHER:
        break;
    }
}

/* Which of the row's ids was locked: a lock is of a hash of an id (E-CUT-17). */
static bool find_locked(PGconn *connection, struct kept_change *kept)
{
    char query[QUERY_SIZE];
    struct text text = text_begin(query, sizeof query);
    text_put(&text, "SELECT coalesce(max(id), 0) FROM unnest('{%" PRId64, kept->told.row[0]);
    for (int c = 1; c <= schema_columns(kept->told.table); c++) {
        text_put(&text, ",%" PRId64, kept->told.row[c]);
    }
    text_put(&text, "}'::bigint[]) AS id WHERE hashtext(id::text)::bigint & 4294967295 IN (");
    for (int i = 0; i < kept->lock_count; i++) {
        text_put(&text, "%s%" PRId64, i == 0 ? "" : ", ", kept->locks[i]);
    }
    text_put(&text, ")");
    return ask(connection, query, &kept->told.locked);
}

static const struct history *sorted; /* for qsort, which has no context */

static int by_word(const void *one, const void *other)
{
    int64_t a = sorted->transactions[*(const size_t *)one].told.word;
    int64_t b = sorted->transactions[*(const size_t *)other].told.word;
    return (a > b) - (a < b);
}

static void sort_by_word(struct history *history)
{
    history->by_word_count = 0;
    free(history->by_word);
    history->by_word = calloc(history->transaction_count + 1, sizeof *history->by_word);
    CHECK(history->by_word != NULL);
    for (size_t i = 0; i < history->transaction_count; i++) {
        if (history->transactions[i].told.word != 0) {
            history->by_word[history->by_word_count++] = i;
        }
    }
    sorted = history;
    qsort(history->by_word, history->by_word_count, sizeof *history->by_word, by_word);
}

static bool read_from(struct history *history, PGconn *connection, struct error *error)
{
    size_t first = history->change_count;
    if (!decoding_read(connection, history->schema, history->read_to, take_line, history)) {
        return explain(error, "logical decoding failed", connection);
    }
    if (history->broken) {
        return error_set(error, "a line of the log is not understood: %s", history->broken_line);
    }
    for (size_t i = first; i < history->change_count; i++) {
        if (history->changes[i].lock_count > 0 && !find_locked(connection, &history->changes[i])) {
            return explain(error, "a lock cannot be looked up", connection);
        }
    }
    sort_by_word(history);
    return true;
}

/* A server that was away has ended the connection. */
bool history_read(struct history *history, struct error *error)
{
    if (history->outlives && !connection_run(history->connection, "SELECT")) {
        PQfinish(history->connection);
        history->connection = open_quietly(history->dsn);
    }
    return read_from(history, history->connection, error);
}

/* ---- a promotion ------------------------------------------------------------------------------- */

/* Where the log of the new primary leaves that of the old one. */
static const char parting[] =
    "SELECT ((regexp_match(pg_read_file('pg_wal/' || left(pg_walfile_name("
    "pg_current_wal_insert_lsn()), 8) || '.history'), "
    "'\\t([0-9A-F]+/[0-9A-F]+)\\t[^\\n]*\\n*$'))[1]::pg_lsn - '0/0'::pg_lsn)::bigint";

static void lose_later_ones(struct history *history)
{
    while (history->transaction_count > 0 &&
           history->transactions[history->transaction_count - 1].told.ended > history->most) {
        history->change_count = history->transactions[--history->transaction_count].first;
        history->lost++;
    }
}

bool history_promote(struct history *history, const char *dsn, struct error *error)
{
    int64_t most = 0;
    CHECK(history->outlives && history->promoted == NULL);
    history->promoted = open_quietly(dsn);
    history->promoted_dsn = strdup(dsn);
    CHECK(history->promoted_dsn != NULL);
    if (PQstatus(history->promoted) != CONNECTION_OK || !make_slot(history->promoted, history) ||
        !ask(history->promoted, parting, &most)) {
        return explain(error, "the promoted server cannot be followed", history->promoted);
    }
    history->most = (uint64_t)most;
    lose_later_ones(history);
    return true;
}

bool history_catch_up(struct history *history, const char *old_dsn, struct error *error)
{
    CHECK(history->promoted != NULL);
    PGconn *old = open_quietly(old_dsn);
    bool done = PQstatus(old) == CONNECTION_OK ? read_from(history, old, error)
                                               : explain(error, "the old primary is gone", old);
    PQfinish(old);
    PQfinish(history->connection);
    free(history->dsn);
    history->connection = history->promoted;
    history->dsn = history->promoted_dsn;
    history->promoted = NULL;
    history->promoted_dsn = NULL;
    history->read_to = history->most;
    history->most = UINT64_MAX;
    return done;
}

/* ---- what was read ----------------------------------------------------------------------------- */

void history_tell(const struct history *history, history_reader *each, void *context)
{
    for (size_t t = 0; t < history->transaction_count; t++) {
        const struct kept_transaction *of = &history->transactions[t];
        for (size_t c = 0; c < of->told.changes; c++) {
            struct history_change change = history->changes[of->first + c].told;
            change.of = &of->told;
            each(context, &change);
        }
    }
}

const struct history_transaction *history_find(const struct history *history,
                                               struct store_pg_mark mark)
{
    size_t low = 0, high = history->by_word_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct history_transaction *one =
            &history->transactions[history->by_word[middle]].told;
        if (one->word == mark.word) {
            return one->id == mark.transaction && one->backend == mark.backend ? one : NULL;
        }
        low = one->word < mark.word ? middle + 1 : low;
        high = one->word < mark.word ? high : middle;
    }
    return NULL;
}

uint64_t history_lost(const struct history *history)
{
    return history->lost;
}

/* ---- for people -------------------------------------------------------------------------------- */

static bool make_table(const struct history *history, struct store_pg *store)
{
    char query[QUERY_SIZE];
    struct text text = text_begin(query, sizeof query);
    text_put(&text,
             "CREATE TABLE %s.history (seq bigint PRIMARY KEY, xid bigint, backend bigint, "
             "isolation bigint, wall_from bigint, wall_to bigint, locked bigint, tab bigint, kind "
             "bigint",
             history->schema);
    for (int c = 0; c <= ROW_COLUMNS_MAX; c++) {
        text_put(&text, ", c%d bigint", c);
    }
    text_put(&text, ")");
    return store_pg_run(store, query);
}

struct keeping {
    struct store_pg *store;
    const char *schema;
    char *script;
    struct text text;
    size_t count; /* of all rows */
    bool done;
};

static void send_rows(struct keeping *keeping)
{
    keeping->done = keeping->done && store_pg_run(keeping->store, keeping->script);
    keeping->text = text_begin(keeping->script, KEEP_SIZE);
}

static void keep_change(void *context, const struct history_change *change)
{
    struct keeping *keeping = context;
    if (keeping->text.used == 0) {
        text_put(&keeping->text, "INSERT INTO %s.history VALUES ", keeping->schema);
    } else {
        text_put(&keeping->text, ", ");
    }
    const struct history_transaction *of = change->of;
    text_put(&keeping->text,
             "(%zu, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
             ", %d, %d",
             ++keeping->count, of->id, of->backend, of->isolation, of->wall_from, of->wall_to,
             change->locked, (int)change->table, (int)change->kind);
    for (int c = 0; c <= ROW_COLUMNS_MAX; c++) {
        text_put(&keeping->text, ", %" PRId64, change->row[c]);
    }
    text_put(&keeping->text, ")");
    if (keeping->count % KEEP_ROWS == 0) {
        send_rows(keeping);
    }
}

bool history_keep(const struct history *history, struct store_pg *store)
{
    struct keeping keeping = {.store = store, .schema = history->schema, .done = true};
    keeping.script = malloc(KEEP_SIZE);
    CHECK(keeping.script != NULL);
    keeping.text = text_begin(keeping.script, KEEP_SIZE);
    keeping.done = make_table(history, store);
    history_tell(history, keep_change, &keeping);
    if (keeping.text.used > 0) {
        send_rows(&keeping);
    }
    free(keeping.script);
    return keeping.done;
}
