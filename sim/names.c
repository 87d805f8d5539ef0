#include "sim/names.h"

#include "model/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 8 /* rounds that a name shows */

/* Rounds of the cycles around an activity, the outermost first; 1 is the first. */
struct rounds {
    int64_t of[DEPTH_MAX];
    int count;
};

/* What does not fit is cut. */
__attribute__((format(printf, 2, 3))) static void append(struct name *name, const char *format, ...)
{
    size_t length = strlen(name->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name->text + length, sizeof name->text - length, format, arguments);
    va_end(arguments);
}

static bool heads_cycle(const struct names *names, int64_t node)
{
    const struct graph *graph = &names->scenario->graph;
    return node >= 0 && node < graph->node_count && graph->nodes[node].heads_cycle;
}

static const char *node_name(const struct names *names, int64_t node)
{
    const struct graph *graph = &names->scenario->graph;
    return node >= 0 && node < graph->node_count ? graph->nodes[node].name : "?";
}

/* Which of the GUIDs of its activity it is, pending answers apart: 1 is the first. */
static int64_t round_of(const struct rows *rows, uint32_t guid)
{
    int64_t activity = row_get(rows, TABLE_GUID, guid, GUID_ACTIVITY);
    int64_t dimension = row_get(rows, TABLE_GUID, guid, GUID_DIMENSION);
    int64_t round = 1;
    for (uint32_t slot = 0; slot < rows->table[TABLE_GUID].used; slot++) {
        int64_t other = row_get(rows, TABLE_GUID, slot, GUID_DIMENSION);
        round += row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY) == activity &&
                 row_get(rows, TABLE_GUID, slot, GUID_ANSWER) <= 0 &&
                 (other < dimension || (other == dimension && slot < guid));
    }
    return round;
}

static void put_first(struct rounds *rounds, int64_t round)
{
    if (rounds->count < DEPTH_MAX) {
        memmove(&rounds->of[1], &rounds->of[0], (size_t)rounds->count * sizeof rounds->of[0]);
        rounds->of[0] = round;
        rounds->count++;
    }
}

/* The rounds in which the ancestors of an activity spawned their children. */
static void add_ancestors(const struct names *names, int64_t activity, struct rounds *rounds)
{
    const struct rows *rows = names->rows;
    for (int generation = 0; generation < GRAPH_NODES_MAX; generation++) {
        uint32_t slot = row_find(rows, TABLE_ACTIVITY, activity);
        int64_t by =
            slot == ROW_NONE ? 0 : row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_SPAWNED_BY);
        uint32_t guid = by == 0 ? ROW_NONE : row_find(rows, TABLE_GUID, by);
        if (guid == ROW_NONE) {
            return;
        }
        activity = row_get(rows, TABLE_GUID, guid, GUID_ACTIVITY);
        uint32_t parent = row_find(rows, TABLE_ACTIVITY, activity);
        if (parent != ROW_NONE &&
            heads_cycle(names, row_get(rows, TABLE_ACTIVITY, parent, ACTIVITY_NODE))) {
            put_first(rounds, round_of(rows, guid));
        }
    }
}

/* ".2", "#1.2", or nothing if all rounds are the first. */
static void append_rounds(struct name *name, const struct rounds *rounds)
{
    bool shown = false;
    for (int i = 0; i < rounds->count; i++) {
        shown = shown || rounds->of[i] > 1;
    }
    for (int i = 0; shown && i < rounds->count; i++) {
        append(name, "%s%" PRId64, i == 0 ? "#" : ".", rounds->of[i]);
    }
}

static struct name compose(const struct names *names, int64_t job, int64_t node,
                           const struct rounds *rounds, int64_t pending)
{
    struct name name = {""};
    if (names->scenario->jobs > 1) {
        append(&name, "%s: ", names_job(names, job).text);
    }
    append(&name, "%s", node_name(names, node));
    append_rounds(&name, rounds);
    if (pending > 0) {
        append(&name, " (pending %" PRId64 ")", pending);
    }
    return name;
}

static struct name unknown(const char *what)
{
    struct name name = {""};
    append(&name, "%s that is not there", what);
    return name;
}

static struct name prefixed(const char *prefix, struct name name)
{
    struct name longer = {""};
    append(&longer, "%s%s", prefix, name.text);
    return longer;
}

struct name names_actor(unsigned actor)
{
    struct name name = {""};
    if (actor == 0) {
        append(&name, "client");
    } else if (actor <= SCENARIO_WORKERS_MAX) {
        append(&name, "worker %u", actor);
    } else {
        append(&name, "the world");
    }
    return name;
}

/* Jobs are created in order, and rows of that table never go but by being undone. */
struct name names_job(const struct names *names, int64_t job)
{
    struct name name = {"job"};
    uint32_t slot = row_find(names->rows, TABLE_JOB, job);
    if (names->scenario->jobs > 1 && slot != ROW_NONE) {
        append(&name, " %" PRIu32, slot + 1);
    }
    return name;
}

struct name names_activity(const struct names *names, int64_t activity)
{
    const struct rows *rows = names->rows;
    uint32_t slot = row_find(rows, TABLE_ACTIVITY, activity);
    if (slot == ROW_NONE) {
        return unknown("an activity");
    }
    struct rounds rounds = {.count = 0};
    add_ancestors(names, activity, &rounds);
    return compose(names, row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_JOB),
                   row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_NODE), &rounds, 0);
}

/* `round` counts if the GUID has not entered. */
static struct name leg2_name(const struct names *names, int64_t job, int64_t activity, int64_t node,
                             int64_t guid, int64_t answer, int64_t round)
{
    struct rounds rounds = {.count = 0};
    add_ancestors(names, activity, &rounds);
    if (heads_cycle(names, node) && rounds.count < DEPTH_MAX) {
        uint32_t slot = row_find(names->rows, TABLE_GUID, guid);
        rounds.of[rounds.count++] =
            slot == ROW_NONE || answer > 0 ? round : round_of(names->rows, slot);
    }
    return compose(names, job, node, &rounds, answer);
}

struct name names_guid(const struct names *names, int64_t guid)
{
    const struct rows *rows = names->rows;
    uint32_t slot = row_find(rows, TABLE_GUID, guid);
    int64_t activity = slot == ROW_NONE ? 0 : row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY);
    uint32_t owner = row_find(rows, TABLE_ACTIVITY, activity);
    if (slot == ROW_NONE || owner == ROW_NONE) {
        return unknown("a GUID");
    }
    return leg2_name(names, row_get(rows, TABLE_ACTIVITY, owner, ACTIVITY_JOB), activity,
                     row_get(rows, TABLE_ACTIVITY, owner, ACTIVITY_NODE), guid,
                     row_get(rows, TABLE_GUID, slot, GUID_ANSWER), 1);
}

struct name names_subject(const struct names *names, const int64_t *message)
{
    const int64_t *column = message + 1;
    if (column[MESSAGE_KIND] == MESSAGE_LEG2) {
        return leg2_name(names, column[MESSAGE_JOB], column[MESSAGE_ACTIVITY], column[MESSAGE_NODE],
                         column[MESSAGE_GUID], column[MESSAGE_ANSWER], column[MESSAGE_ROUND] + 1);
    }
    struct rounds rounds = {.count = 0};
    add_ancestors(names, column[MESSAGE_ACTIVITY], &rounds);
    return compose(names, column[MESSAGE_JOB], column[MESSAGE_NODE], &rounds, 0);
}

/* Whether the row has the key that its content would be given. */
static bool is_original(const int64_t *message)
{
    const int64_t *column = message + 1;
    switch (column[MESSAGE_KIND]) {
    case MESSAGE_LEG1:
        return message[0] == identity_mint(column[MESSAGE_ACTIVITY], IDENTITY_LEG1);
    case MESSAGE_TASK:
        return message[0] ==
               identity_mint(identity_mint(column[MESSAGE_ACTIVITY], IDENTITY_TASK), IDENTITY_WORK);
    default:
        return message[0] == identity_mint(column[MESSAGE_GUID], IDENTITY_LEG2);
    }
}

struct name names_message(const struct names *names, const int64_t *message)
{
    static const char *const kinds[] = {
        [MESSAGE_LEG1] = "Leg1 of ", [MESSAGE_TASK] = "task of ", [MESSAGE_LEG2] = "Leg2 of "};
    int64_t kind = message[1 + MESSAGE_KIND];
    if (kind < MESSAGE_LEG1 || kind > MESSAGE_LEG2) {
        return unknown("a message");
    }
    struct name name = prefixed(kinds[kind], names_subject(names, message));
    if (!is_original(message)) {
        append(&name, " (copy)");
    }
    return name;
}

static struct name output_name(const struct names *names, uint32_t slot)
{
    const struct rows *rows = names->rows;
    struct name name = prefixed(
        "output of ", names_activity(names, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY)));
    append(&name, " in dimension %" PRId64, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_DIMENSION));
    return name;
}

struct name names_row(const struct names *names, enum row_table table, uint32_t slot)
{
    const struct rows *rows = names->rows;
    if (slot == ROW_NONE) {
        return unknown("a row");
    }
    switch (table) {
    case TABLE_JOB:
        return names_job(names, row_key(rows, table, slot));
    case TABLE_ACTIVITY:
        return prefixed("activity ledger of ", names_activity(names, row_key(rows, table, slot)));
    case TABLE_TASK:
        return prefixed("Leg1's work of ",
                        names_activity(names, row_get(rows, table, slot, TASK_ACTIVITY)));
    case TABLE_GUID:
        return prefixed("GUID ledger of ", names_guid(names, row_key(rows, table, slot)));
    case TABLE_OUTPUT:
        return output_name(names, slot);
    case TABLE_COMPLETION:
        return prefixed("completion tasks of ",
                        names_job(names, row_get(rows, table, slot, COMPLETION_JOB)));
    case TABLE_ESCALATION:
        return prefixed("escalation of ",
                        names_job(names, row_get(rows, table, slot, ESCALATION_JOB)));
    case TABLE_MESSAGE:
        return names_message(names,
                             &rows->table[table].cells[(size_t)slot * rows->table[table].stride]);
    case TABLE_COUNT:
        break;
    }
    return unknown("a row");
}
