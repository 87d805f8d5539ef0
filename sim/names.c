#include "sim/names.h"

#include "model/check.h"
#include "sim/part.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What does not fit is cut. */
void names_append(struct name *name, const char *format, ...)
{
    struct text text = {.text = name->text, .size = sizeof name->text, .used = strlen(name->text)};
    va_list arguments;
    va_start(arguments, format);
    text_vadd(&text, format, arguments);
    va_end(arguments);
}

struct name names_unknown(const char *what)
{
    struct name name = {""};
    names_append(&name, "%s that is not there", what);
    return name;
}

struct name names_prefixed(const char *prefix, struct name name)
{
    struct name longer = {""};
    names_append(&longer, "%s%s", prefix, name.text);
    return longer;
}

/* A role that several play is numbered in the order of the cast. */
struct name names_actor(const struct scenario *scenario, unsigned actor)
{
    struct name name = {""};
    struct rules rules;
    scenario_rules(scenario, scenario->timeout, 0, &rules);
    if (actor == (unsigned)rules.actors + RUN_LATE_MAX) { /* run_former */
        names_append(&name, "former self");
        return name;
    }
    if (actor >= rules.actors) {
        names_append(&name, "the world");
        return name;
    }
    unsigned number = 0;
    for (unsigned a = 0; a <= actor; a++) {
        number += rules.cast[a] == rules.cast[actor];
    }
    const struct role *role = protocol_role(&rules, actor);
    names_append(&name, "%s", role->name);
    if (!role->alone) {
        names_append(&name, " %u", number);
    }
    return name;
}

struct name names_message(const struct names *names, const int64_t *message)
{
    const struct sim_part *part = sim_part_of(names->scenario->protocol);
    struct name name = {"message"};
    if (part->message != NULL) {
        return part->message(names, message);
    }
    names_append(&name, " of %" PRId64, message[1 + MESSAGE_CONTENT]);
    return name;
}

struct name names_subject(const struct names *names, const int64_t *message)
{
    const struct sim_part *part = sim_part_of(names->scenario->protocol);
    return part->subject != NULL ? part->subject(names, message) : names_message(names, message);
}

static uint32_t slot_of(const struct rows *rows, enum row_table table, int64_t key)
{
    return rows->table[table].capacity == 0 ? ROW_NONE : row_find(rows, table, key);
}

/* "account 2": the second row of that table. */
static struct name numbered(enum row_table table, uint32_t slot)
{
    struct name name = {""};
    if (slot == ROW_NONE) {
        return names_unknown("a row");
    }
    names_append(&name, "%s %" PRIu32, table_get(table)->name, slot + 1);
    return name;
}

static struct name own_name(const struct names *names, enum row_table table, int64_t key)
{
    const struct sim_part *part = sim_part_of(names->scenario->protocol);
    return part->thing != NULL ? part->thing(names, table, key)
                               : numbered(table, slot_of(names->rows, table, key));
}

int64_t names_owner(const struct rows *rows, enum row_table *table, uint32_t slot)
{
    int64_t key = slot == ROW_NONE ? 0 : row_key(rows, *table, slot);
    for (int column; (column = table_words(*table)->owner) != ROW_ITSELF;) { /* TD3 */
        key = slot == ROW_NONE ? 0 : row_get(rows, *table, slot, column);
        *table = (enum row_table)table_column(*table, column)->of;
        slot = key == 0 ? ROW_NONE : slot_of(rows, *table, key);
    }
    return key;
}

struct name names_row(const struct names *names, enum row_table table, uint32_t slot)
{
    const struct sim_part *part = sim_part_of(names->scenario->protocol);
    const struct row_area *area = &names->rows->table[table];
    const char *called = table_words(table)->called;
    struct name name = {""};
    if (slot == ROW_NONE) {
        return names_unknown("a row");
    }
    if (table == TABLE_MESSAGE) {
        return names_message(names, &area->cells[(size_t)slot * area->stride]);
    }
    if (called == NULL) {
        name = numbered(table, slot);
    } else {
        enum row_table owner = table;
        int64_t key = names_owner(names->rows, &owner, slot);
        name = names_prefixed(called, own_name(names, owner, key));
    }
    if (part->row != NULL) {
        part->row(names, table, slot, &name);
    }
    return name;
}

struct name names_reference(const struct names *names, enum row_table table, int64_t key)
{
    const struct table_words *words = table_words(table);
    uint32_t slot = slot_of(names->rows, table, key);
    if (key == 0) {
        return (struct name){"none"};
    }
    if (words->called != NULL && words->owner == ROW_ITSELF) {
        return own_name(names, table, key);
    }
    return slot == ROW_NONE ? names_unknown("a row") : names_row(names, table, slot);
}
