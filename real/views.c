#include "real/views.h"

#include "model/check.h"
#include "model/key.h"
#include "model/ledger.h"
#include "model/legacy.h"
#include "model/table.h"
#include "model/text.h"
#include "real/schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* A field's name as a column: "Leg1 entries" is leg1_entries. */
static void add_column_name(struct text *text, const char *name)
{
    for (; *name != '\0'; name++) {
        text_put(text, "%c", isalnum((unsigned char)*name) ? tolower((unsigned char)*name) : '_');
    }
}

/* ", substr(digits, FIRST, COUNT)::bigint AS NAME" */
static void add_field(struct text *text, const char *column, const char *name, int first, int count)
{
    text_put(text, ", substr(lpad(%s::text, 15, '0'), %d, %d)::bigint AS ", column, first, count);
    add_column_name(text, name);
}

static void add_fields(struct text *text, const char *column, enum column_ledger ledger)
{
    for (int f = 0; ledger == DIGITS_LEGACY && f < LEGACY_FIELD_COUNT; f++) {
        const struct legacy_layout *layout = legacy_layout((enum legacy_field)f);
        add_field(text, column, layout->name, layout->first_digit, layout->digit_count);
    }
    for (int f = 0; ledger != DIGITS_LEGACY && f < LEDGER_FIELD_COUNT; f++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_field)f);
        if ((layout->kind == LEDGER_GUID) == (ledger == DIGITS_GUID)) {
            add_field(text, column, layout->name, layout->first_digit, layout->digit_count);
        }
    }
}

/* One row a ledger: its key, where it belongs, its digits and its fields. */
static void add_ledgers(struct text *text, const char *schema, enum row_table table, int column)
{
    const char *ledger = schema_column(table, column), *belongs = schema_column(table, 0);
    text_put(text, "CREATE VIEW %s.%s_ledgers AS SELECT id, %s, lpad(%s::text, 15, '0') AS digits",
             schema, schema_table(table), belongs, ledger);
    add_fields(text, ledger, (enum column_ledger)table_column(table, column)->of);
    text_put(text, " FROM %s.%s ORDER BY %s, id;\n", schema, schema_table(table), belongs);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "CASE EXPRESSION WHEN 0 THEN 'name' ... END" */
static void add_names(struct text *text, const char *expression, const char *const *names,
                      uint32_t count)
{
    text_put(text, "CASE %s", expression);
    for (uint32_t i = 0; i < count; i++) {
        if (names[i] != NULL) {
            CHECK(strchr(names[i], '\'') == NULL);
            text_put(text, " WHEN %" PRIu32 " THEN '%s'", i, names[i]);
        }
    }
    text_put(text, " END");
}

/* One row a digit of a key that is not 0. */
static void add_digits(struct text *text, const char *schema, enum row_table table, int column)
{
    const char *names[KEY_PENDING + 1];
    for (int digit = 0; digit <= KEY_PENDING; digit++) {
        names[digit] = key_digit_name((enum key_digit)digit);
    }
    text_put(text, "CREATE VIEW %s.%s_digits AS SELECT id, position, digit, ", schema,
             schema_table(table));
    add_names(text, "digit", names, KEY_PENDING + 1);
    text_put(text,
             " AS is FROM %s.%s, generate_series(0, %d) AS position, LATERAL (SELECT "
             "substr(lpad(%s::text, 15, '0'), position + 1, 1)::int AS digit) AS one WHERE digit > "
             "0 ORDER BY id, position;\n",
             schema, schema_table(table), KEY_ACTIVITIES_MAX - 1, schema_column(table, column));
}

/* The rows of a table, with its enums by name in front. */
static void add_states(struct text *text, const char *schema, enum row_table table)
{
    text_put(text, "CREATE VIEW %s.%s_states AS SELECT ", schema, schema_table(table));
    for (int c = 0; c < schema_columns(table); c++) {
        const struct column *column = table_column(table, c);
        if (column->kind == COLUMN_ENUM) {
            add_names(text, column->name, column->names, column->name_count);
            text_put(text, " AS %s_is, ", column->name);
        }
    }
    text_put(text, "* FROM %s.%s ORDER BY id;\n", schema, schema_table(table));
}

static void add_table(struct text *text, const char *schema, enum row_table table)
{
    bool enums = false;
    for (int c = 0; c < schema_columns(table); c++) {
        const struct column *column = table_column(table, c);
        enums = enums || (column->kind == COLUMN_ENUM && !table_get(table)->typed);
        if (column->kind == COLUMN_LEDGER && column->of == DIGITS_KEY) {
            add_digits(text, schema, table, c);
        } else if (column->kind == COLUMN_LEDGER) {
            add_ledgers(text, schema, table, c);
        }
    }
    if (enums) {
        add_states(text, schema, table);
    }
}

/* ---- the history ----------------------------------------------------------------------------- */

static void add_changes(struct text *text, const char *schema, uint64_t tables)
{
    static const char *const kinds[] = {
        [ROW_UPDATED] = "updated", [ROW_INSERTED] = "inserted", [ROW_DELETED] = "deleted"};
    text_put(text, "CREATE VIEW %s.changes AS SELECT seq, xid, backend, ", schema);
    add_names(text, "kind", kinds, COUNT(kinds));
    text_put(text, " AS was, CASE tab");
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (table_in(tables, (enum row_table)t)) {
            text_put(text, " WHEN %d THEN '%s'", t, schema_table((enum row_table)t));
        }
    }
    text_put(text, " END AS row_of, c0 AS id, CASE tab");
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        if (!table_in(tables, table)) {
            continue;
        }
        text_put(text, " WHEN %d THEN jsonb_build_object(", t);
        for (int c = 0; c < schema_columns(table); c++) {
            text_put(text, "%s'%s', c%d", c == 0 ? "" : ", ", schema_column(table, c), c + 1);
        }
        text_put(text, ")");
    }
    text_put(text, " END AS became FROM %s.history ORDER BY seq;\n", schema);
}

void views_script(const char *schema, uint64_t tables, char script[VIEWS_SCRIPT_SIZE])
{
    struct text text = text_begin(script, VIEWS_SCRIPT_SIZE);
    add_changes(&text, schema, tables);
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (table_in(tables, (enum row_table)t)) {
            add_table(&text, schema, (enum row_table)t);
        }
    }
}
