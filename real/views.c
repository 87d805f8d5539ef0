#include "real/views.h"

#include "model/key.h"
#include "model/ledger.h"
#include "model/legacy.h"
#include "model/rows.h"
#include "model/seq_rules.h"
#include "model/table.h"
#include "real/schema.h"
#include "real/text.h"

#include <ctype.h>

/* A field's name as a column: "Leg1 entries" is leg1_entries. */
static void add_column_name(struct text *text, const char *name)
{
    for (; *name != '\0'; name++) {
        text_add(text, "%c", isalnum((unsigned char)*name) ? tolower((unsigned char)*name) : '_');
    }
}

/* ", substr(digits, FIRST, COUNT)::bigint AS NAME" */
static void add_field(struct text *text, const char *column, const char *name, int first, int count)
{
    text_add(text, ", substr(lpad(%s::text, 15, '0'), %d, %d)::bigint AS ", column, first, count);
    add_column_name(text, name);
}

/* A view of one row a ledger: its key, where it belongs, its digits and its fields. */
static void begin_ledgers(struct text *text, const char *schema, const char *view,
                          const char *belongs, const char *column)
{
    text_add(text, "CREATE VIEW %s.%s AS SELECT id, %s, lpad(%s::text, 15, '0') AS digits", schema,
             view, belongs, column);
}

static void add_ledgers(struct text *text, const char *schema, enum row_table table,
                        enum ledger_kind kind, int column)
{
    const char *ledger = schema_column(table, column);
    begin_ledgers(text, schema, kind == LEDGER_GUID ? "guid_ledgers" : "activity_ledgers",
                  schema_column(table, 0), ledger);
    for (int f = 0; f < LEDGER_FIELD_COUNT; f++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_field)f);
        if (layout->kind == kind) {
            add_field(text, ledger, layout->name, layout->first_digit, layout->digit_count);
        }
    }
    text_add(text, " FROM %s.%s ORDER BY %s, id;\n", schema, schema_table(table),
             schema_column(table, 0));
}

static void add_earlier(struct text *text, const char *schema)
{
    const char *ledger = schema_column(TABLE_EARLIER, EARLIER_LEDGER);
    begin_ledgers(text, schema, "earlier_ledgers", schema_column(TABLE_EARLIER, EARLIER_JOB),
                  ledger);
    for (int f = 0; f < LEGACY_FIELD_COUNT; f++) {
        const struct legacy_layout *layout = legacy_layout((enum legacy_field)f);
        add_field(text, ledger, layout->name, layout->first_digit, layout->digit_count);
    }
    text_add(text, " FROM %s.%s ORDER BY id;\n", schema, schema_table(TABLE_EARLIER));
}

/* "CASE EXPRESSION WHEN 0 THEN 'name' ... END" */
static void add_names(struct text *text, const char *expression, const char *(*name)(int),
                      int count)
{
    text_add(text, "CASE %s", expression);
    for (int i = 0; i < count; i++) {
        text_add(text, " WHEN %d THEN '%s'", i, name(i));
    }
    text_add(text, " END");
}

static const char *state_name(int state)
{
    return seq_rules_state_name((enum seq_state)state);
}

static const char *digit_name(int digit)
{
    return key_digit_name((enum key_digit)digit);
}

static const char *status_name(int status)
{
    static const char *const names[STATUS_COUNT] = {
#define STATUS(id, name) name,
        ENTRY_STATUSES(STATUS)
#undef STATUS
    };
    return names[status];
}

/* The rows of a table with one column by name in front. */
static void add_named(struct text *text, const char *schema, const char *view, enum row_table table,
                      int column, const char *(*name)(int), int count)
{
    text_add(text, "CREATE VIEW %s.%s AS SELECT ", schema, view);
    add_names(text, schema_column(table, column), name, count);
    text_add(text, " AS is, * FROM %s.%s ORDER BY id;\n", schema, schema_table(table));
}

static void add_flows(struct text *text, const char *schema)
{
    const char *key = schema_column(TABLE_FLOW, FLOW_KEY);
    text_add(text, "CREATE VIEW %s.flow_digits AS SELECT id, position, digit, ", schema);
    add_names(text, "digit", digit_name, KEY_PENDING + 1);
    text_add(text,
             " AS is FROM %s.%s, generate_series(0, %d) AS position, LATERAL (SELECT "
             "substr(lpad(%s::text, 15, '0'), position + 1, 1)::int AS digit) AS one WHERE digit > "
             "0 ORDER BY id, position;\n",
             schema, schema_table(TABLE_FLOW), KEY_ACTIVITIES_MAX - 1, key);
}

/* ---- the history ----------------------------------------------------------------------------- */

static const char *kind_name(int kind)
{
    return kind == ROW_INSERTED ? "inserted" : kind == ROW_DELETED ? "deleted" : "updated";
}

static void add_changes(struct text *text, const char *schema, uint64_t tables)
{
    text_add(text, "CREATE VIEW %s.changes AS SELECT seq, xid, backend, ", schema);
    add_names(text, "kind", kind_name, 3);
    text_add(text, " AS was, CASE tab");
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (table_in(tables, (enum row_table)t)) {
            text_add(text, " WHEN %d THEN '%s'", t, schema_table((enum row_table)t));
        }
    }
    text_add(text, " END AS row_of, c0 AS id, CASE tab");
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        if (!table_in(tables, table)) {
            continue;
        }
        text_add(text, " WHEN %d THEN jsonb_build_object(", t);
        for (int c = 0; c < schema_columns(table); c++) {
            text_add(text, "%s'%s', c%d", c == 0 ? "" : ", ", schema_column(table, c), c + 1);
        }
        text_add(text, ")");
    }
    text_add(text, " END AS became FROM %s.history ORDER BY seq;\n", schema);
}

void views_script(const char *schema, uint64_t tables, char script[VIEWS_SCRIPT_SIZE])
{
    struct text text = text_begin(script, VIEWS_SCRIPT_SIZE);
    add_changes(&text, schema, tables);
    if (table_in(tables, TABLE_ACTIVITY)) {
        add_ledgers(&text, schema, TABLE_ACTIVITY, LEDGER_ACTIVITY, ACTIVITY_LEDGER);
    }
    if (table_in(tables, TABLE_GUID)) {
        add_ledgers(&text, schema, TABLE_GUID, LEDGER_GUID, GUID_LEDGER);
    }
    if (table_in(tables, TABLE_EARLIER)) {
        add_earlier(&text, schema);
    }
    if (table_in(tables, TABLE_SEQ)) {
        add_named(&text, schema, "seq_states", TABLE_SEQ, SEQ_STATE, state_name, SEQ_STATES);
    }
    if (table_in(tables, TABLE_FLOW)) {
        add_flows(&text, schema);
    }
    if (table_in(tables, TABLE_ENTRY)) {
        add_named(&text, schema, "entry_states", TABLE_ENTRY, ENTRY_STATUS, status_name,
                  STATUS_COUNT);
    }
}
