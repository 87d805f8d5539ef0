#include "real/history.h"

#include "model/check.h"
#include "model/text.h"
#include "real/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MS_OF(time) "(date_part('epoch', " time ") * 1000)::bigint"

struct page {
    struct text text;
    bool locks; /* isolation and advisory locks are recorded, too */
};

/* The isolation, and the lock of one of the row's ids. */
static void put_locks(struct page *page, const char *schema, enum row_table table, const char *side)
{
    text_put(&page->text, "%s.isolation(), %s.lock_of(ARRAY[%s.id", schema, schema, side);
    for (int c = 0; c < schema_columns(table); c++) {
        text_put(&page->text, ", %s.%s", side, schema_column(table, c));
    }
    text_put(&page->text, "]), ");
}

/* What the triggers ask of the server. A lock is taken of a hash of an id (E-CUT-17). */
static void put_questions(struct page *page, const char *schema)
{
    text_put(&page->text,
             "CREATE FUNCTION %s.isolation() RETURNS bigint LANGUAGE sql STABLE AS "
             "$$ SELECT CASE current_setting('transaction_isolation') WHEN 'serializable' THEN %d "
             "WHEN 'repeatable read' THEN %d ELSE %d END::bigint $$;\n",
             schema, OBSERVED_SERIALIZABLE, OBSERVED_REPEATABLE_READ, OBSERVED_READ_COMMITTED);
    text_put(&page->text,
             "CREATE FUNCTION %s.lock_of(ids bigint[]) RETURNS bigint LANGUAGE sql VOLATILE AS "
             "$$ SELECT coalesce(max(id), 0) FROM unnest(ids) AS id, pg_catalog.pg_locks "
             "WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 2 "
             "AND classid::bigint = hashtext('%s')::bigint & 4294967295 "
             "AND objid::bigint = hashtext(id::text)::bigint & 4294967295 $$;\n",
             schema, schema);
}

/* INSERT INTO history of one side of a change: NEW or OLD. */
static void put_record(struct page *page, const char *schema, enum row_table table,
                       const char *kind, const char *side)
{
    text_put(&page->text, "INSERT INTO %s.history (xid, tab, kind%s, c0", schema,
             page->locks ? ", isolation, locked" : "");
    for (int c = 0; c < schema_columns(table); c++) {
        text_put(&page->text, ", c%d", c + 1);
    }
    text_put(&page->text, ") VALUES (txid_current(), %d, %s, ", (int)table, kind);
    if (page->locks) {
        put_locks(page, schema, table, side);
    }
    text_put(&page->text, "%s.id", side);
    for (int c = 0; c < schema_columns(table); c++) {
        text_put(&page->text, ", %s.%s", side, schema_column(table, c));
    }
    text_put(&page->text, "); ");
}

static void put_trigger(struct page *page, const char *schema, enum row_table table)
{
    const char *name = schema_table(table);
    char gone[8], kind[64];
    snprintf(gone, sizeof gone, "%d", ROW_DELETED);
    snprintf(kind, sizeof kind, "CASE TG_OP WHEN 'INSERT' THEN %d ELSE %d END", ROW_INSERTED,
             ROW_UPDATED);
    text_put(&page->text,
             "CREATE FUNCTION %s.record_%s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
             "$record$ "
             "BEGIN "
             "IF TG_OP = 'DELETE' THEN ",
             schema, name);
    put_record(page, schema, table, gone, "OLD");
    text_put(&page->text, "ELSE ");
    put_record(page, schema, table, kind, "NEW");
    text_put(&page->text, "END IF; RETURN NULL; END $record$;\n");
    text_put(&page->text,
             "CREATE TRIGGER record AFTER INSERT OR UPDATE OR DELETE ON %s.%s FOR EACH ROW EXECUTE "
             "FUNCTION %s.record_%s();\n",
             schema, name, schema, name);
}

void history_script(const char *schema, uint64_t tables, bool locks,
                    char script[HISTORY_SCRIPT_SIZE])
{
    struct page page = {.text = text_begin(script, HISTORY_SCRIPT_SIZE), .locks = locks};
    text_put(
        &page.text,
        "CREATE TABLE %s.history (seq bigserial PRIMARY KEY, xid bigint NOT NULL, tab bigint NOT "
        "NULL, kind bigint NOT NULL, isolation bigint NOT NULL DEFAULT 0, locked bigint NOT NULL "
        "DEFAULT 0, backend bigint NOT NULL DEFAULT pg_backend_pid(), wall_from bigint NOT NULL "
        "DEFAULT " MS_OF("transaction_timestamp()") ", wall_to bigint NOT NULL DEFAULT " MS_OF(
            "clock_timestamp()"),
        schema);
    for (int c = 0; c <= ROW_COLUMNS_MAX; c++) {
        text_put(&page.text, ", c%d bigint NOT NULL DEFAULT 0", c);
    }
    text_put(&page.text, ");\n");
    if (locks) {
        put_questions(&page, schema);
    }
    text_put(&page.text,
             "CREATE FUNCTION %s.mark_from() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS "
             "$$ SELECT nextval('%s.history_seq_seq') $$;\n"
             "CREATE FUNCTION %s.mark() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS "
             "$$ SELECT currval('%s.history_seq_seq') $$;\n",
             schema, schema, schema, schema);
    for (int table = 0; table < TABLE_COUNT; table++) {
        if (table_in(tables, (enum row_table)table)) {
            put_trigger(&page, schema, (enum row_table)table);
        }
    }
}

struct reading {
    history_reader *each;
    void *context;
};

static void read_row(void *context, const int64_t *row)
{
    const struct reading *reading = context;
    struct history_change change = {.transaction = row[0],
                                    .table = (enum row_table)row[1],
                                    .kind = (enum row_change_kind)row[2],
                                    .isolation = row[3],
                                    .locked = row[4],
                                    .wall_from = row[5],
                                    .wall_to = row[6]};
    memcpy(change.row, row + 7, sizeof change.row);
    reading->each(reading->context, &change);
}

/* A transaction that waits for another after its own last write commits after it. */
static bool has_timestamps(struct store_pg *store)
{
    int64_t on = 0;
    return store_pg_ask(store,
                        "SELECT (current_setting('track_commit_timestamp') = 'on')::int::bigint",
                        &on) &&
           on != 0;
}

bool history_read(struct store_pg *store, const char *schema, history_reader *each, void *context)
{
    char text[1024];
    const char *committed = has_timestamps(store)
                                ? "pg_xact_commit_timestamp((xid % (1::bigint << 32))::text::xid)"
                                : "0";
    int used =
        snprintf(text, sizeof text, "SELECT xid, tab, kind, isolation, locked, wall_from, wall_to");
    for (int c = 0; c <= ROW_COLUMNS_MAX; c++) {
        used += snprintf(text + used, sizeof text - (size_t)used, ", c%d", c);
    }
    snprintf(text + used, sizeof text - (size_t)used,
             " FROM %s.history JOIN (SELECT xid, max(seq) AS ended, %s AS committed FROM "
             "%s.history GROUP "
             "BY xid) AS transactions USING (xid) ORDER BY committed, ended, seq",
             schema, committed, schema);
    struct reading reading = {.each = each, .context = context};
    return store_pg_query(store, text, read_row, &reading);
}
