#include "sim/teller.h"

#include "model/check.h"
#include "sim/ledger_words.h"
#include "sim/part.h"

#include <inttypes.h>

/* ---- values ---------------------------------------------------------------------------------- */

struct name teller_value(const struct names *names, enum row_table table, int column, int64_t value)
{
    const struct column *of = table_column(table, column);
    const char *called = column_value_name(of, value);
    struct name name = {""};
    if (of->kind == COLUMN_REF) {
        return names_reference(names, (enum row_table)of->of, value);
    }
    if (of->kind == COLUMN_LEDGER) {
        names_append(&name, "%s", trace_ledger(value).text);
    } else if (called != NULL) {
        names_append(&name, "%s", called);
    } else {
        names_append(&name, "%s%" PRId64, of->kind == COLUMN_TIME ? "t=" : "", value);
    }
    return name;
}

/* With the column's name where the value alone says too little: "semaphore 2", "not published". */
static struct name labelled(const struct names *names, enum row_table table, int column,
                            int64_t value)
{
    const struct column *of = table_column(table, column);
    struct name text = teller_value(names, table, column, value), name = {""};
    if (of->kind == COLUMN_FLAG) {
        names_append(&name, "%s%s", value == 0 ? "not " : "", of->name);
        return name;
    }
    bool alone = of->kind == COLUMN_LEDGER || of->kind == COLUMN_ENUM || of->kind == COLUMN_REF;
    names_append(&name, "%s%s", of->name, " ");
    return alone ? text : names_prefixed(name.text, text);
}

/* The columns of a set, separated by commas; `new`: without an enum that has its first value, which
 * every new row has. */
static void list_columns(const struct names *names, enum row_table table, uint32_t slot,
                         uint32_t columns, bool new, struct text *list)
{
    for (int c = 0; c < (int)table_get(table)->columns; c++) {
        int64_t value = row_get(names->rows, table, slot, c);
        bool first = new &&value == 0 && table_column(table, c)->kind == COLUMN_ENUM;
        if ((columns >> c & 1) != 0 && !first) {
            trace_add(list, ", ", "%s", labelled(names, table, c, value).text);
        }
    }
}

int teller_quoted(enum row_table table)
{
    const uint32_t shown = table_words(table)->shown;
    if (shown == 0) {
        return -1;
    }
    int column = 0;
    while ((shown >> column & 1) == 0) {
        column++;
    }
    enum column_kind kind = table_column(table, column)->kind;
    return kind == COLUMN_LEDGER || kind == COLUMN_COUNT || kind == COLUMN_ENUM ? column : -1;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Whether the event's message is about this very row: its first reference to the table. */
static bool is_own(const struct run_event *event, enum row_table table, int64_t key)
{
    for (int c = 0; event->message != NULL && c < MESSAGE_COLUMNS; c++) {
        const struct column *column = table_column(TABLE_MESSAGE, c);
        if (column->kind == COLUMN_REF && column->of == (int)table) {
            return event->message[1 + c] == key;
        }
    }
    return false;
}

struct name teller_brief(const struct trace_effect *effect, enum row_table table, uint32_t slot)
{
    const struct table_words *words = table_words(table);
    if (words->called == NULL || words->owner != ROW_ITSELF) {
        return names_row(&effect->names, table, slot);
    }
    int64_t key = row_key(effect->names.rows, table, slot);
    struct name name = names_reference(&effect->names, table, key);
    if (words->brief == NULL) {
        return name;
    }
    struct name brief = {""};
    bool own = is_own(effect->event, table, key);
    names_append(&brief, "%s%s%.80s", words->brief, own ? "" : " of ", own ? "" : name.text);
    return brief;
}

/* "Leg1's work of left stored", "job created, semaphore 1, threshold 0", "escalated: ..." */
static void tell_new(const struct trace_effect *effect, enum row_table table, uint32_t slot,
                     const char *after)
{
    const struct table_words *words = table_words(table);
    const char *came = words->came == NULL ? "added" : words->came;
    char text[160] = "";
    struct text values = {.text = text, .size = sizeof text};
    list_columns(&effect->names, table, slot, words->told, true, &values);
    if (words->event == NULL) {
        trace_add(effect->list, "; ", "%s%s%s%s%s%s", teller_brief(effect, table, slot).text,
                  came[0] == '\0' ? "" : " ", came,
                  text[0] == '\0'   ? ""
                  : came[0] == '\0' ? " "
                                    : ", ",
                  text, after);
    } else if (text[0] != '\0') {
        trace_add(effect->list, "; ", "%s%s%s%s", words->event, text, after[0] == '\0' ? "" : ",",
                  after);
    }
}

static void tell_cell(const struct trace_effect *effect, const struct row_change *change)
{
    enum row_table table = (enum row_table)change->table;
    const struct column *column = table_column(table, change->column);
    int64_t now = trace_now(effect, change);
    struct name row = teller_brief(effect, table, change->slot),
                is = teller_value(&effect->names, table, change->column, now),
                was = teller_value(&effect->names, table, change->column, change->before);
    bool alone = column->kind == COLUMN_LEDGER || column->kind == COLUMN_ENUM;
    if (column->kind == COLUMN_ONCE) {
        char times[40];
        snprintf(times, sizeof times, " %" PRId64 " times", now);
        tell_new(effect, table, change->slot, times);
    } else if (column->kind == COLUMN_FLAG) {
        trace_add(effect->list, "; ", "%s %s", row.text,
                  labelled(&effect->names, table, change->column, now).text);
    } else if (column->kind == COLUMN_ENUM && column->name_count == 2) { /* it was the other one */
        trace_add(effect->list, "; ", "%s %s", row.text, is.text);
    } else {
        trace_add(effect->list, "; ", "%s%s%s %s -> %s", row.text, alone ? "" : " ",
                  alone ? "" : column->name, was.text, is.text);
    }
}

static void tell_change(const struct trace_effect *effect, const struct row_change *change)
{
    const struct sim_part *part = sim_part_of(effect->names.scenario->protocol);
    enum row_table table = (enum row_table)change->table;
    if (table == TABLE_MESSAGE) {
        trace_tell_message(effect, change);
    } else if (part->change != NULL && part->change(effect, change)) {
        return;
    } else if (change->kind == ROW_UPDATED) {
        tell_cell(effect, change);
    } else if (change->kind == ROW_DELETED) {
        trace_add(effect->list, "; ", "%s deleted", teller_brief(effect, table, change->slot).text);
    } else if (!table_words(table)->quiet) {
        tell_new(effect, table, change->slot, "");
    }
}

/* The changes of one table, or of all in the order in which they were made (TABLE_COUNT). */
static void tell_table(const struct trace_effect *effect, enum row_table table)
{
    const struct run_event *event = effect->event;
    for (size_t i = 0; i < event->change_count; i++) {
        bool wanted = table == TABLE_COUNT || event->changes[i].table == table;
        if (wanted && !trace_is_repeated(event, i)) {
            tell_change(effect, &event->changes[i]);
        }
    }
}

/* A read changes nothing; its result is the description. */
void teller_changes(const struct trace_effect *effect)
{
    const struct sim_part *part = sim_part_of(effect->names.scenario->protocol);
    const struct run_event *event = effect->event;
    bool reads =
        part->reads_ledger != NULL && part->reads_ledger((enum bundle_name)event->bundle->name);
    if (reads && !event->crashed && event->outcome->kind == OUTCOME_COMMITTED) {
        trace_add(effect->list, "; ", "reads %s", trace_ledger(event->outcome->values[0]).text);
    }
    const enum row_table *table = part->order;
    for (; table != NULL && *table != TABLE_COUNT; table++) {
        tell_table(effect, *table);
    }
    if (table == NULL) {
        tell_table(effect, TABLE_COUNT);
    }
    trace_tell_published(effect, part->is_child);
    struct part_status status;
    if (part->status != NULL && part->status(effect, &status)) {
        trace_add(effect->list, "; ", "%s %s", sim_part_status_name(&effect->names, &status).text,
                  sim_part_status_text(&status));
    }
}

/* ---- dumps ----------------------------------------------------------------------------------- */

static void add_state(const struct names *names, enum row_table table, uint32_t slot,
                      struct text *list)
{
    int column = teller_quoted(table);
    if (column >= 0 && table_column(table, column)->kind == COLUMN_LEDGER) {
        const char *state = ledger_words_state((enum column_ledger)table_column(table, column)->of,
                                               row_get(names->rows, table, slot, column));
        trace_add(list, state[0] == '\0' ? "" : ", ", "%s", state);
    }
}

static void dump_statuses(FILE *out, const struct names *names)
{
    const struct sim_part *part = sim_part_of(names->scenario->protocol);
    struct part_status status;
    uint32_t slot = 0;
    while (part->next_status != NULL && part->next_status(names->rows, &slot, &status)) {
        fprintf(out, "  %-40s %s\n", sim_part_status_name(names, &status).text,
                sim_part_status_text(&status));
    }
}

void teller_dump(FILE *out, const struct names *names)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        enum row_table table = (enum row_table)t;
        uint32_t rows = table_words(table)->shown == 0 ? 0 : names->rows->table[t].used;
        for (uint32_t slot = 0; slot < rows; slot++) {
            char text[160] = "";
            struct text values = {.text = text, .size = sizeof text};
            if (row_is_there(names->rows, table, slot)) {
                list_columns(names, table, slot, table_words(table)->shown, false, &values);
                add_state(names, table, slot, &values);
                fprintf(out, "  %-40s %s\n", names_row(names, table, slot).text, text);
            }
        }
    }
    dump_statuses(out, names);
}
