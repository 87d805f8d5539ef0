#include "sim/names.h"

#include "sim/part.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What does not fit is cut. */
void names_append(struct name *name, const char *format, ...)
{
    size_t length = strlen(name->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name->text + length, sizeof name->text - length, format, arguments);
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
    const struct sim_part *part = part_of(names->scenario->protocol);
    struct name name = {"message"};
    if (part->message != NULL) {
        return part->message(names, message);
    }
    names_append(&name, " of %" PRId64, message[1 + MESSAGE_CONTENT]);
    return name;
}

struct name names_subject(const struct names *names, const int64_t *message)
{
    const struct sim_part *part = part_of(names->scenario->protocol);
    return part->subject != NULL ? part->subject(names, message) : names_message(names, message);
}

struct name names_row(const struct names *names, enum row_table table, uint32_t slot)
{
    const struct sim_part *part = part_of(names->scenario->protocol);
    const struct row_area *area = &names->rows->table[table];
    if (slot == ROW_NONE) {
        return names_unknown("a row");
    }
    if (part->row != NULL) {
        return part->row(names, table, slot);
    }
    if (table == TABLE_MESSAGE) {
        return names_message(names, &area->cells[(size_t)slot * area->stride]);
    }
    struct name name = {""};
    names_append(&name, "%s %" PRIu32, table_get(table)->name, slot + 1);
    return name;
}
