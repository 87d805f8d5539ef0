#include "real/queue_fault.h"

#include "model/check.h"
#include "model/identity.h"
#include "model/text.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 1200

/* The transaction's id if the table has a row, else 0. */
#define TRANSACTION "CASE WHEN count(*) = 0 THEN 0 ELSE txid_current() END FROM "

/* What is copied: every column but when it is visible and how often it was claimed. */
_Static_assert(MESSAGE_VISIBLE_AT + 2 == MESSAGE_COLUMNS && MESSAGE_EPOCH + 1 == MESSAGE_COLUMNS,
               "the queue's own columns are the last");

/* A cell of a message in the history, which has its key first. */
static int64_t past(const struct history_change *change, int column)
{
    return change->row[1 + column];
}

static bool read_history(const struct queue_at *at)
{
    struct error error; /* the next to read it says so */
    return at->history != NULL && history_read(at->history, &error);
}

/* ---- copies ------------------------------------------------------------------------------------ */

#define ACKED_MAX 4096

/* Messages that were acked, in the order of their first ack, each as it was at its last. */
struct acked {
    size_t count;
    int64_t rows[ACKED_MAX][1 + MESSAGE_COLUMNS];
};

static void take_acked(void *context, const struct history_change *change)
{
    struct acked *acked = context;
    size_t at = 0;
    if (change->table != TABLE_MESSAGE || change->kind != ROW_DELETED) {
        return;
    }
    while (at < acked->count && acked->rows[at][0] != change->row[0]) {
        at++;
    }
    if (at < ACKED_MAX) {
        memcpy(acked->rows[at], change->row, sizeof acked->rows[at]);
        acked->count += at == acked->count;
    }
}

/* A message that nobody may ever claim is handed out by no queue, by mistake neither. */
#define NOT_WITHHELD " visible_at < 9223372036854775807"

/* A row of (id, columns) to copy from, as the FROM of a query. False: there is none. */
static bool pick_acked(const struct queue_at *at, uint32_t which, struct text *from,
                       int64_t *message)
{
    struct acked *acked = calloc(1, sizeof *acked);
    CHECK(acked != NULL);
    if (read_history(at)) {
        history_tell(at->history, take_acked, acked);
    }
    bool found = acked->count > 0;
    if (found) {
        const int64_t *row = acked->rows[which % acked->count];
        *message = row[0];
        text_put(from, "(SELECT %" PRId64 "::bigint AS id", row[0]);
        for (int c = 0; c < MESSAGE_VISIBLE_AT; c++) {
            text_put(from, ", %" PRId64 "::bigint AS %s", row[1 + c],
                     schema_column(TABLE_MESSAGE, c));
        }
        text_put(from,
                 ") AS one WHERE NOT EXISTS (SELECT FROM %s.message AS m WHERE m.id = one.id)",
                 at->schema);
    }
    free(acked);
    return found;
}

static bool pick_there(const struct queue_at *at, uint32_t which, struct text *from,
                       int64_t *message)
{
    char query[TEXT_SIZE];
    snprintf(query, sizeof query,
             "SELECT coalesce((SELECT id FROM %s.message WHERE" NOT_WITHHELD
             " ORDER BY id OFFSET %" PRIu32
             " %% greatest(1, (SELECT count(*) FROM %s.message WHERE" NOT_WITHHELD
             ")) LIMIT 1), 0)",
             at->schema, which, at->schema);
    bool asked = store_pg_ask(at->store, query, message);
    text_put(from, "%s.message AS one WHERE id = %" PRId64, at->schema, *message);
    return asked && *message != 0;
}

struct queue_trace queue_fault_copy(const struct queue_at *at, bool acked, uint32_t which,
                                    uint32_t number)
{
    char source[TEXT_SIZE], query[2 * TEXT_SIZE], columns[300];
    int64_t message = 0, made = 0;
    struct text from = text_begin(source, sizeof source);
    struct text list = text_begin(columns, sizeof columns);
    bool found =
        acked ? pick_acked(at, which, &from, &message) : pick_there(at, which, &from, &message);
    int64_t copy = identity_mint(message, IDENTITY_COPY + ((int64_t)number << 32));
    for (int c = 0; c < MESSAGE_VISIBLE_AT; c++) {
        text_put(&list, ", %s", schema_column(TABLE_MESSAGE, c));
    }
    snprintf(query, sizeof query,
             "WITH made AS (INSERT INTO %s.message (id%s, %s, %s) SELECT %" PRId64 "%s, %" PRId64
             ", 0 FROM %s RETURNING id) SELECT " TRANSACTION "made",
             at->schema, columns, schema_column(TABLE_MESSAGE, MESSAGE_VISIBLE_AT),
             schema_column(TABLE_MESSAGE, MESSAGE_EPOCH), copy, columns, at->now, source);
    bool done = found && store_pg_ask(at->store, query, &made) && made != 0;
    return (struct queue_trace){
        .message = done ? copy : 0, .transaction = made, .before = INT64_MAX};
}

/* ---- claims ------------------------------------------------------------------------------------ */

#define CLAIMS_MAX 16

/* Claims of a process of the server; each one increments the epoch. */
struct claims {
    int64_t claimer;
    size_t count;
    struct {
        int64_t message, epoch;
    } each[CLAIMS_MAX];
};

/* Of each message that it has claimed, the last one. */
static void take_claim(void *context, const struct history_change *change)
{
    struct claims *claims = context;
    size_t at = 0;
    if (change->table != TABLE_MESSAGE || change->kind == ROW_DELETED ||
        change->of->backend != claims->claimer) {
        return;
    }
    while (at < claims->count && claims->each[at].message != change->row[0]) {
        at++;
    }
    if (at == CLAIMS_MAX) { /* the oldest has long been acked */
        memmove(&claims->each[0], &claims->each[1], sizeof claims->each - sizeof claims->each[0]);
        at--;
    }
    claims->count = at == claims->count ? at + 1 : claims->count;
    claims->each[at].message = change->row[0];
    claims->each[at].epoch = past(change, MESSAGE_EPOCH);
}

/* A condition on rows of messages: the last claim is of that process, and has not lapsed. */
static bool put_claimed_by(const struct queue_at *at, int claimer, struct text *text)
{
    struct claims claims = {.claimer = claimer};
    bool known = claimer == 0 || read_history(at);
    if (claimer != 0 && known) {
        history_tell(at->history, take_claim, &claims);
    }
    text_put(text,
             NOT_WITHHELD " AND visible_at > %" PRId64
                          " AND (id, epoch) IN (VALUES (0::bigint, 0::bigint)",
             at->now);
    for (size_t i = 0; i < claims.count; i++) {
        text_put(text, ", (%" PRId64 ", %" PRId64 ")", claims.each[i].message,
                 claims.each[i].epoch);
    }
    text_put(text, ")");
    return known;
}

static void take_trace(void *context, const int64_t *row)
{
    *(struct queue_trace *)context = (struct queue_trace){
        .message = row[0], .epoch = row[1], .before = row[2], .transaction = row[3]};
}

struct queue_trace queue_fault_redeliver(const struct queue_at *at, int claimer)
{
    char query[2 * TEXT_SIZE], claimed[TEXT_SIZE];
    struct queue_trace trace = {0};
    struct text text = text_begin(claimed, sizeof claimed);
    (void)put_claimed_by(at, claimer, &text);
    snprintf(
        query, sizeof query,
        "WITH held AS MATERIALIZED (SELECT id, epoch, visible_at FROM %s.message WHERE %s "
        "LIMIT 1 FOR UPDATE SKIP LOCKED), again AS (UPDATE %s.message SET visible_at = %" PRId64
        " FROM held WHERE message.id = held.id) SELECT id, epoch, visible_at, txid_current() FROM "
        "held",
        at->schema, claimed, at->schema, at->now);
    (void)store_pg_query(at->store, query, take_trace, &trace);
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
    char query[2 * TEXT_SIZE], claimed[TEXT_SIZE];
    struct text text = text_begin(claimed, sizeof claimed);
    if (!put_claimed_by(at, claimer, &text)) {
        return false;
    }
    snprintf(query, sizeof query,
             "WITH freed AS (UPDATE %s.message SET visible_at = %" PRId64
             " WHERE %s RETURNING id) SELECT " TRANSACTION "freed",
             at->schema, at->now, claimed);
    return store_pg_ask(at->store, query, transaction);
}

/* ---- effects ----------------------------------------------------------------------------------- */

bool queue_fault_is_over(const struct queue_at *at, const struct queue_trace *trace)
{
    char query[TEXT_SIZE];
    int64_t waits = 0;
    snprintf(query, sizeof query,
             "SELECT count(*) FROM %s.message WHERE id = %" PRId64 " AND epoch = %" PRId64,
             at->schema, trace->message, trace->epoch);
    return store_pg_ask(at->store, query, &waits) && waits == 0;
}

struct looked_for {
    const struct queue_trace *trace;
    int64_t latest; /* until which a claim that counts lasts at most */
    bool found;
};

static void look_for(void *context, const struct history_change *change)
{
    struct looked_for *wanted = context;
    wanted->found =
        wanted->found || (change->table == TABLE_MESSAGE && change->kind == ROW_UPDATED &&
                          change->row[0] == wanted->trace->message &&
                          past(change, MESSAGE_EPOCH) == wanted->trace->epoch + 1 &&
                          past(change, MESSAGE_VISIBLE_AT) < wanted->latest);
}

bool queue_fault_took_effect(const struct history *history, const struct queue_trace *trace,
                             int64_t timeout)
{
    struct looked_for wanted = {
        .trace = trace, .latest = trace->before == INT64_MAX ? INT64_MAX : trace->before + timeout};
    if (trace->message != 0) {
        history_tell(history, look_for, &wanted);
    }
    return wanted.found;
}
