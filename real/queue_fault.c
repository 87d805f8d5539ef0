#include "real/queue_fault.h"

#include "model/identity.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdio.h>

#define TEXT_SIZE 1200

/* The transaction's id if the table has a row, else 0. */
#define TRANSACTION "CASE WHEN count(*) = 0 THEN 0 ELSE txid_current() END FROM "

/* A column of a message in the history, which has its key first. */
#define PAST(column) (1 + (column))

/* What is copied: every column but when it is visible and how often it was claimed. */
_Static_assert(MESSAGE_VISIBLE_AT + 2 == MESSAGE_COLUMNS && MESSAGE_EPOCH + 1 == MESSAGE_COLUMNS,
               "the queue's own columns are the last");

static void list_columns(char *text, size_t size, bool past)
{
    size_t used = 0;
    for (int c = 0; c < MESSAGE_VISIBLE_AT; c++) {
        used += (size_t)(past ? snprintf(text + used, size - used, ", c%d", PAST(c))
                              : snprintf(text + used, size - used, ", %s",
                                         schema_column(TABLE_MESSAGE, c)));
    }
}

/* The message that is copied; 0: there is none. */
static int64_t pick(const struct queue_at *at, bool acked, uint32_t which)
{
    char all[300], text[TEXT_SIZE];
    int64_t message = 0;
    if (acked) {
        snprintf(all, sizeof all,
                 "SELECT DISTINCT c0 AS id FROM %s.history WHERE tab = %d AND kind = %d AND NOT "
                 "EXISTS (SELECT FROM %s.message WHERE message.id = c0)",
                 at->schema, (int)TABLE_MESSAGE, (int)ROW_DELETED, at->schema);
    } else {
        snprintf(all, sizeof all, "SELECT id FROM %s.message", at->schema);
    }
    snprintf(text, sizeof text,
             "WITH one AS (%s) SELECT coalesce((SELECT id FROM one ORDER BY id OFFSET %" PRIu32
             " %% greatest(1, (SELECT count(*) FROM one)) LIMIT 1), 0)",
             all, which);
    return store_pg_ask(at->store, text, &message) ? message : 0;
}

struct queue_trace queue_fault_copy(const struct queue_at *at, bool acked, uint32_t which,
                                    uint32_t number)
{
    char text[TEXT_SIZE], columns[300], from[300];
    int64_t message = pick(at, acked, which), made = 0;
    int64_t copy = identity_mint(message, IDENTITY_COPY + ((int64_t)number << 32));
    list_columns(columns, sizeof columns, false);
    list_columns(from, sizeof from, acked);
    int used = snprintf(text, sizeof text,
                        "WITH made AS (INSERT INTO %s.message (id%s, %s, %s) SELECT %" PRId64
                        "%s, %" PRId64 ", 0 FROM %s.%s WHERE ",
                        at->schema, columns, schema_column(TABLE_MESSAGE, MESSAGE_VISIBLE_AT),
                        schema_column(TABLE_MESSAGE, MESSAGE_EPOCH), copy, from, at->now,
                        at->schema, acked ? "history" : "message");
    if (acked) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "tab = %d AND kind = %d AND c0 = %" PRId64
                         " AND NOT EXISTS (SELECT FROM %s.message WHERE message.id = c0) "
                         "ORDER BY seq DESC LIMIT 1",
                         (int)TABLE_MESSAGE, (int)ROW_DELETED, message, at->schema);
    } else {
        used += snprintf(text + used, sizeof text - (size_t)used, "id = %" PRId64, message);
    }
    snprintf(text + used, sizeof text - (size_t)used, " RETURNING id) SELECT " TRANSACTION "made");
    bool done = message != 0 && store_pg_ask(at->store, text, &made) && made != 0;
    return (struct queue_trace){
        .message = done ? copy : 0, .transaction = made, .before = INT64_MAX};
}

/* Rows whose last claim is of a process of the server: each claim increments the epoch. */
static void put_claimed_by(const struct queue_at *at, int claimer, char *text, size_t size)
{
    snprintf(text, size,
             "visible_at > %" PRId64 " AND EXISTS (SELECT FROM %s.history WHERE tab = %d AND "
             "kind <> %d AND c0 = message.id AND c%d = message.epoch AND backend = %d)",
             at->now, at->schema, (int)TABLE_MESSAGE, (int)ROW_DELETED, PAST(MESSAGE_EPOCH),
             claimer);
}

static void take_trace(void *context, const int64_t *row)
{
    *(struct queue_trace *)context = (struct queue_trace){
        .message = row[0], .epoch = row[1], .before = row[2], .transaction = row[3]};
}

struct queue_trace queue_fault_redeliver(const struct queue_at *at, int claimer)
{
    char text[TEXT_SIZE], claimed[400];
    struct queue_trace trace = {0};
    put_claimed_by(at, claimer, claimed, sizeof claimed);
    snprintf(
        text, sizeof text,
        "WITH held AS MATERIALIZED (SELECT id, epoch, visible_at FROM %s.message WHERE %s "
        "LIMIT 1 FOR UPDATE SKIP LOCKED), again AS (UPDATE %s.message SET visible_at = %" PRId64
        " FROM held WHERE message.id = held.id) SELECT id, epoch, visible_at, txid_current() FROM "
        "held",
        at->schema, claimed, at->schema, at->now);
    (void)store_pg_query(at->store, text, take_trace, &trace);
    return trace;
}

bool queue_fault_is_gone(const struct queue_at *at, int one, int other)
{
    char text[TEXT_SIZE];
    int64_t alive = 0;
    snprintf(text, sizeof text, "SELECT count(*) FROM pg_stat_activity WHERE pid IN (%d, %d)", one,
             other);
    return store_pg_ask(at->store, text, &alive) && alive == 0;
}

bool queue_fault_release(const struct queue_at *at, int claimer, int64_t *transaction)
{
    char text[TEXT_SIZE], claimed[400];
    put_claimed_by(at, claimer, claimed, sizeof claimed);
    snprintf(text, sizeof text,
             "WITH freed AS (UPDATE %s.message SET visible_at = %" PRId64
             " WHERE %s RETURNING id) SELECT " TRANSACTION "freed",
             at->schema, at->now, claimed);
    return store_pg_ask(at->store, text, transaction);
}

bool queue_fault_took_effect(const struct queue_at *at, const struct queue_trace *trace,
                             int64_t timeout)
{
    char text[TEXT_SIZE];
    int64_t claims = 0;
    int64_t latest = trace->before == INT64_MAX ? INT64_MAX : trace->before + timeout;
    snprintf(text, sizeof text,
             "SELECT count(*) FROM %s.history WHERE tab = %d AND kind = %d AND c0 = %" PRId64
             " AND c%d = %" PRId64 " AND c%d < %" PRId64,
             at->schema, (int)TABLE_MESSAGE, (int)ROW_UPDATED, trace->message, PAST(MESSAGE_EPOCH),
             trace->epoch + 1, PAST(MESSAGE_VISIBLE_AT), latest);
    return trace->message != 0 && store_pg_ask(at->store, text, &claims) && claims > 0;
}
