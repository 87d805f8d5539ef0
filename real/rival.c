#include "real/rival.h"

#include "real/schema.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#define TEXT_SIZE  400
#define STAY_TRIES 5000 /* of a millisecond: a victim that does nothing at all is left alone */
#define CROWD_MAX  256

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static struct store_pg *connect_as(const struct rival *rival, const char *name)
{
    struct error ignored; /* a rival that does not come in does no harm */
    return store_pg_open(&(struct store_pg_options){.dsn = rival->dsn,
                                                    .schema = rival->schema,
                                                    .primitives = primitive_table,
                                                    .primitive_count = PRIMITIVE_COUNT,
                                                    .name = name},
                         &ignored);
}

static void go_on(const struct rival *rival)
{
    (void)kill(rival->victim, SIGCONT);
}

/* True as soon as the victim waits for a lock; false when it has its answer without. */
static bool waits(const struct rival *rival, struct store_pg *observer)
{
    char text[TEXT_SIZE];
    int64_t waiting = 0;
    snprintf(text, sizeof text,
             "SELECT count(*) FROM pg_stat_activity WHERE application_name = '%s' AND "
             "wait_event_type = 'Lock'",
             rival->name);
    for (int i = 0; i < STAY_TRIES && waiting == 0 && !rival->is_over(rival->of); i++) {
        pause_ms(1);
        if (!store_pg_ask(observer, text, &waiting)) {
            return false;
        }
    }
    return waiting > 0;
}

/* With two connections: one that has a transaction open, one that looks on. */
static void contend(const struct rival *rival,
                    void (*how)(const struct rival *, struct store_pg *, struct store_pg *))
{
    struct store_pg *holder = connect_as(rival, "assay rival");
    struct store_pg *observer = connect_as(rival, "assay rival looking on");
    if (holder != NULL && observer != NULL) {
        how(rival, holder, observer);
    } else {
        go_on(rival);
    }
    store_pg_close(observer);
    store_pg_close(holder);
}

/* The victim waits for a row that the rival holds, and has the lock of its table that a writer takes.
 * Then the rival asks for the table. */
static void deadlock(const struct rival *rival, struct store_pg *holder, struct store_pg *observer)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof text,
             "BEGIN; SET LOCAL lock_timeout = '300ms'; SET LOCAL deadlock_timeout = '30s'; "
             "SELECT FROM %s.%s FOR UPDATE",
             rival->schema, schema_table(rival->table));
    bool held = store_pg_run(holder, text);
    go_on(rival);
    if (held && waits(rival, observer)) {
        snprintf(text, sizeof text, "LOCK TABLE %s.%s IN EXCLUSIVE MODE", rival->schema,
                 schema_table(rival->table));
        (void)store_pg_run(holder, text);
    }
    (void)store_pg_run(holder, "ROLLBACK");
}

void rival_deadlock(const struct rival *rival)
{
    contend(rival, deadlock);
}

/* Every row as it was, in a new version. */
static void serialization(const struct rival *rival, struct store_pg *holder,
                          struct store_pg *observer)
{
    char text[TEXT_SIZE];
    const char *column = schema_column(rival->table, 0);
    snprintf(text, sizeof text, "BEGIN; SET LOCAL lock_timeout = '300ms'; UPDATE %s.%s SET %s = %s",
             rival->schema, schema_table(rival->table), column, column);
    bool held = store_pg_run(holder, text) &&
                store_pg_ask(holder, "SELECT txid_current()", rival->transaction);
    go_on(rival);
    if (held) {
        (void)waits(rival, observer);
    }
    (void)store_pg_run(holder, held ? "COMMIT" : "ROLLBACK");
}

int64_t rival_serialization(struct rival *rival)
{
    int64_t transaction = 0;
    rival->transaction = &transaction;
    contend(rival, serialization);
    return transaction;
}

/* Locks the oldest messages that are not locked, up to `most`, and leaves at least one. Returns the
 * oldest of them; 0: there is none to lock, or none would be left. */
static int64_t hold_oldest(const struct rival *rival, struct store_pg *holder, int64_t now,
                           uint32_t most)
{
    char text[2 * TEXT_SIZE];
    int64_t oldest = 0;
    snprintf(
        text, sizeof text,
        "WITH due AS MATERIALIZED (SELECT id, visible_at FROM %s.message WHERE visible_at <= "
        "%" PRId64 " ORDER BY visible_at, id LIMIT (SELECT greatest(0, least(%" PRIu32
        ", count(*) - 1)) FROM %s.message WHERE visible_at <= %" PRId64
        ") FOR UPDATE SKIP LOCKED) SELECT coalesce((SELECT id FROM due ORDER BY visible_at, id "
        "LIMIT 1), 0)",
        rival->schema, now, most, rival->schema, now);
    return store_pg_run(holder, "BEGIN") && store_pg_ask(holder, text, &oldest) ? oldest : 0;
}

bool rival_overtake(const struct rival *rival, int64_t now, uint32_t most, _Atomic long long *held)
{
    struct store_pg *holder = connect_as(rival, "assay rival");
    int64_t oldest = holder == NULL ? 0 : hold_oldest(rival, holder, now, most);
    *held = oldest;
    go_on(rival);
    for (int i = 0; oldest != 0 && i < STAY_TRIES && !rival->is_over(rival->of); i++) {
        pause_ms(1);
    }
    if (holder != NULL) {
        (void)store_pg_run(holder, "ROLLBACK");
    }
    store_pg_close(holder);
    return oldest != 0;
}

void rival_crowd(const struct rival *rival)
{
    struct store_pg *crowd[CROWD_MAX];
    struct store_pg *first = connect_as(rival, "assay rival");
    size_t count = 0;
    if (first == NULL) {
        go_on(rival);
        return;
    }
    if (rival->backend != 0) {
        char text[TEXT_SIZE];
        snprintf(text, sizeof text, "SELECT pg_terminate_backend(%d, 1000)", rival->backend);
        (void)store_pg_run(first, text);
    }
    while (count < CROWD_MAX && (crowd[count] = connect_as(rival, "assay crowd")) != NULL) {
        count++;
    }
    go_on(rival);
    for (int i = 0; i < STAY_TRIES && !rival->is_over(rival->of); i++) {
        pause_ms(1);
    }
    while (count > 0) {
        store_pg_close(crowd[--count]);
    }
    store_pg_close(first);
}
