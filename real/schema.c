#include "real/schema.h"

#include "model/check.h"
#include "model/primitive.h"
#include "model/table.h"
#include "model/text.h"
#include "real/cell.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA_CLOCK_EPOCH_MS INT64_C(946684800000) /* 2000-01-01, as on PostgreSQL */

bool schema_name_is_sound(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < SCHEMA_NAME_SIZE && name[length] == '\0' &&
           strspn(name, "0123456789") == 0 && strncmp(name, "pg_", 3) != 0;
}

const char *schema_table(enum row_table table)
{
    return table_get(table)->name;
}

int schema_columns(enum row_table table)
{
    return (int)table_get(table)->columns;
}

const char *schema_column(enum row_table table, int column)
{
    CHECK(column < schema_columns(table));
    return table_get(table)->column[column].name;
}

static void put_foreign_key(struct text *text, const char *schema, enum row_table table,
                            const struct foreign_key *key, uint64_t tables)
{
    if (table_in(tables, (enum row_table)key->parent)) { /* H5 */
        text_put(text, ", FOREIGN KEY (%s) REFERENCES %s.%s", schema_column(table, key->column),
                 schema, schema_table((enum row_table)key->parent));
    }
}

static void create_table(struct text *text, const char *schema, enum row_table table,
                         uint64_t tables)
{
    text_put(text, "CREATE TABLE %s.%s (", schema, schema_table(table));
    for (int c = CELL_KEY; c < schema_columns(table); c++) {
        if (cell_is_first(table, c)) {
            text_put(text, "%s%s ", c == CELL_KEY ? "" : ", ", cell_column(table, c));
            cell_put_type(text, table, c); /* H2 */
        }
    }
    for (const struct foreign_key *key = primitive_foreign_keys[table]; key->there; key++) {
        put_foreign_key(text, schema, table, key, tables);
    }
    text_put(text, ");\n");
}

static void put_index(struct text *text, const char *schema, const struct table_index *index,
                      uint64_t tables)
{
    enum row_table table = (enum row_table)index->table;
    if (table_in(tables, table) && table_in(tables, (enum row_table)index->with)) {
        text_put(text, "CREATE INDEX ON %s.%s (%s, %s, %s, %s);\n", schema, schema_table(table),
                 schema_column(table, index->columns[0]), schema_column(table, index->columns[1]),
                 schema_column(table, index->columns[2]), cell_column(table, CELL_KEY));
    }
}

static void put_function(struct text *text, const char *name, const char *function,
                         const char *traits, const char *body)
{
    text_put(text,
             "CREATE OR REPLACE FUNCTION %s.%s() RETURNS bigint LANGUAGE sql %s AS $$ SELECT %s "
             "$$;\n",
             name, function, traits, body);
}

#define BEGAN SCHEMA_MS_OF("transaction_timestamp()")

static void put_clock(struct text *text, const char *name)
{
    char body[160];
    snprintf(body, sizeof body, BEGAN " - %" PRId64, SCHEMA_CLOCK_EPOCH_MS);
    put_function(text, name, SCHEMA_CLOCK, "STABLE", body);
}

/* Parents come first: the order of enum row_table. */
void schema_create_script(const char *name, uint64_t tables, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    text_put(&text, "CREATE SCHEMA %s;\n", name);
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (table_in(tables, (enum row_table)t)) {
            create_table(&text, name, (enum row_table)t, tables);
        }
    }
    if (table_in(tables, TABLE_MESSAGE)) { /* what a claim asks */
        text_put(&text, "CREATE INDEX ON %s.message (visible_at, id);\n", name);
    }
    for (int i = 0; i < TABLE_INDEXES; i++) {
        put_index(&text, name, &table_indexes[i], tables);
    }
    put_clock(&text, name);
    put_function(&text, name, SCHEMA_WALL, "VOLATILE", SCHEMA_MS_OF("clock_timestamp()"));
    text_put(&text,
             "CREATE FUNCTION %s." SCHEMA_REFUSE "(reason bigint) RETURNS bigint\n"
             "LANGUAGE plpgsql AS $$ BEGIN\n"
             "  RAISE EXCEPTION USING ERRCODE = '" SCHEMA_REFUSAL_CLASS
             "' || lpad(reason::text, 3, '0'),\n"
             "    MESSAGE = 'the bundle is refused, reason ' || reason;\n"
             "END $$;\n",
             name);
}

void schema_leap_script(const char *name, const struct schema_leaps *leaps,
                        char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name) && leaps->count > 0 && leaps->count <= SCHEMA_LEAPS_MAX);
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    char body[SCHEMA_LEAPS_MAX * 160];
    struct text sum = text_begin(body, sizeof body);
    text_put(&sum, BEGAN " - %" PRId64 " + CASE", SCHEMA_CLOCK_EPOCH_MS);
    for (unsigned i = leaps->count; i-- > 0;) {
        text_put(&sum, " WHEN " BEGAN " >= %" PRId64 " THEN %" PRId64, leaps->at[i].from,
                 leaps->at[i].ahead);
    }
    text_put(&sum, " ELSE 0 END");
    put_function(&text, name, SCHEMA_CLOCK, "STABLE", body);
    text_put(&text, "SELECT %s." SCHEMA_REFUSE "(0) WHERE %s." SCHEMA_WALL "() > %" PRId64 ";\n",
             name, name, leaps->at[leaps->count - 1].from - SCHEMA_LEAP_MARGIN_MS);
}

void schema_lockstep_script(const char *name, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    put_function(&text, name, SCHEMA_CLOCK, "STABLE", "current_setting('assay.clock')::bigint");
    put_function(&text, name, SCHEMA_WALL, "VOLATILE", "current_setting('assay.wall')::bigint");
}

void schema_drop_script(const char *name, char script[SCHEMA_SCRIPT_SIZE])
{
    CHECK(schema_name_is_sound(name));
    struct text text = text_begin(script, SCHEMA_SCRIPT_SIZE);
    text_put(&text, "DROP SCHEMA IF EXISTS %s CASCADE;\n", name);
}
