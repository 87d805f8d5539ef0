/* The words of the activity protocol: names of its rows, descriptions of its events, and the
 * ledgers in a story. */
#include "sim/activity_words.h"

#include "model/identity.h"
#include "sim/ledger_words.h"
#include "sim/teller.h"

#include <inttypes.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

#define DEPTH_MAX 8 /* rounds that a name shows */

/* Rounds of the cycles around an activity, the outermost first; 1 is the first. */
struct rounds {
    int64_t of[DEPTH_MAX];
    int count;
};

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

/* The ordinal of a GUID among those of its activity, pending answers apart: 1 is the first. */
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
        names_append(name, "%s%" PRId64, i == 0 ? "#" : ".", rounds->of[i]);
    }
}

static struct name compose(const struct names *names, int64_t job, int64_t node,
                           const struct rounds *rounds, int64_t pending)
{
    struct name name = {""};
    if (names->scenario->jobs > 1) {
        names_append(&name, "%s: ", activity_job_name(names, job).text);
    }
    names_append(&name, "%s", node_name(names, node));
    append_rounds(&name, rounds);
    if (pending > 0) {
        names_append(&name, " (pending %" PRId64 ")", pending);
    }
    return name;
}

/* Jobs are created in order, and their rows are deleted only by an undo. */
struct name activity_job_name(const struct names *names, int64_t job)
{
    struct name name = {"job"};
    uint32_t slot = row_find(names->rows, TABLE_JOB, job);
    if (names->scenario->jobs > 1 && slot != ROW_NONE) {
        names_append(&name, " %" PRIu32, slot + 1);
    }
    return name;
}

struct name activity_activity_name(const struct names *names, int64_t activity)
{
    const struct rows *rows = names->rows;
    uint32_t slot = row_find(rows, TABLE_ACTIVITY, activity);
    if (slot == ROW_NONE) {
        return names_unknown("an activity");
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

struct name activity_guid_name(const struct names *names, int64_t guid)
{
    const struct rows *rows = names->rows;
    uint32_t slot = row_find(rows, TABLE_GUID, guid);
    int64_t activity = slot == ROW_NONE ? 0 : row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY);
    uint32_t owner = row_find(rows, TABLE_ACTIVITY, activity);
    if (slot == ROW_NONE || owner == ROW_NONE) {
        return names_unknown("a GUID");
    }
    return leg2_name(names, row_get(rows, TABLE_ACTIVITY, owner, ACTIVITY_JOB), activity,
                     row_get(rows, TABLE_ACTIVITY, owner, ACTIVITY_NODE), guid,
                     row_get(rows, TABLE_GUID, slot, GUID_ANSWER), 1);
}

struct name activity_subject_name(const struct names *names, const int64_t *message)
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

struct name activity_message_name(const struct names *names, const int64_t *message)
{
    static const char *const kinds[] = {
        [MESSAGE_LEG1] = "Leg1 of ", [MESSAGE_TASK] = "task of ", [MESSAGE_LEG2] = "Leg2 of "};
    int64_t kind = message[1 + MESSAGE_KIND];
    if (kind < MESSAGE_LEG1 || kind > MESSAGE_LEG2) {
        return names_unknown("a message");
    }
    struct name name = names_prefixed(kinds[kind], activity_subject_name(names, message));
    if (!is_original(message)) {
        names_append(&name, " (copy)");
    }
    return name;
}

struct name activity_thing_name(const struct names *names, enum row_table table, int64_t key)
{
    return table == TABLE_JOB    ? activity_job_name(names, key)
           : table == TABLE_GUID ? activity_guid_name(names, key)
                                 : activity_activity_name(names, key);
}

/* An activity may have several outputs. */
void activity_row_name(const struct names *names, enum row_table table, uint32_t slot,
                       struct name *name)
{
    if (table == TABLE_OUTPUT) {
        names_append(name, " in dimension %" PRId64,
                     row_get(names->rows, table, slot, OUTPUT_DIMENSION));
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool inserts(const struct run_event *event, enum row_table table, int column, int64_t value)
{
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (change->table == table && change->kind == ROW_INSERTED &&
            row_get(event->rows, table, change->slot, column) == value) {
            return true;
        }
    }
    return false;
}

/* An activity is told by the message that is published with it; a task ends with its answer. */
bool activity_tell_change(const struct trace_effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    if (change->table == TABLE_ACTIVITY && change->kind == ROW_INSERTED) {
        int64_t key = row_key(event->rows, TABLE_ACTIVITY, change->slot);
        if (!inserts(event, TABLE_MESSAGE, MESSAGE_ACTIVITY, key)) {
            trace_add(effect->list, "; ", "%s added without a message",
                      activity_activity_name(&effect->names, key).text);
        }
        return true;
    }
    if (change->table == TABLE_TASK && change->kind == ROW_UPDATED &&
        change->column == TASK_CLOSED) {
        int64_t activity = row_get(event->rows, TABLE_TASK, change->slot, TASK_ACTIVITY);
        trace_add(effect->list, "; ", "task of %s closed",
                  activity_activity_name(&effect->names, activity).text);
        return true;
    }
    return false;
}

/* A child is called by its name alone, whether its activity came along or not. */
bool activity_is_child(const struct run_event *event, const int64_t *message)
{
    return message[1 + MESSAGE_KIND] == MESSAGE_LEG1 &&
           inserts(event, TABLE_ACTIVITY, ACTIVITY_NODE, message[1 + MESSAGE_NODE]);
}

const enum row_table activity_order[] = {TABLE_JOB,        TABLE_GUID,    TABLE_ACTIVITY,
                                         TABLE_TASK,       TABLE_OUTPUT,  TABLE_COMPLETION,
                                         TABLE_ESCALATION, TABLE_MESSAGE, TABLE_COUNT};

/* The pending answer that a task's bundle publishes; 0: the closing one. */
static int64_t pending_sent(const struct bundle *bundle)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_PUBLISH) {
            int64_t answer = bundle->params[bundle->calls[i].params + 1 + MESSAGE_ANSWER];
            return answer > 0 ? answer : 0;
        }
    }
    return 0;
}

void activity_tell_sent(const struct trace_effect *effect)
{
    const struct names *names = &effect->names;
    const struct run_event *event = effect->event;
    struct text *list = effect->list;
    const struct bundle *bundle = event->bundle;
    const char *name = bundle_name_text((enum bundle_name)bundle->name);
    bool about = trace_is_about_message(event);
    int64_t pending = bundle->name == BUNDLE_ANSWER ? pending_sent(bundle) : 0;
    struct name subject = about ? names_subject(names, event->message) : (struct name){""};
    struct name message = about ? names_message(names, event->message) : (struct name){""};
    switch ((int)bundle->name) {
    case BUNDLE_ENTER_LEG1:
    case BUNDLE_LEG1:
    case BUNDLE_ANSWER:
    case BUNDLE_ENTER_LEG2:
    case BUNDLE_STEP1:
    case BUNDLE_STEP2:
    case BUNDLE_STEP3:
        if (pending > 0) {
            trace_add(list, "", "pending answer %" PRId64 " of %s", pending, subject.text);
        } else {
            trace_add(list, "", "%s of %s", bundle->name == BUNDLE_LEG1 ? "Leg1's work" : name,
                      subject.text);
        }
        break;
    case BUNDLE_LEG1_ACK:
    case BUNDLE_ANSWER_ACK:
    case BUNDLE_STEPS_ACK:
    case BUNDLE_STEP3_ACK:
        trace_add(list, "", "%s of %s", name, subject.text);
        break;
    case BUNDLE_CLAIM:
    case BUNDLE_EXTEND:
    case BUNDLE_ACK:
    case BUNDLE_ACK_CLAIM:
    case BUNDLE_ESCALATE:
    case BUNDLE_PUT_BACK:
    case BUNDLE_READ:
        trace_add(list, "", "%s%s%s", name, about ? " " : "", message.text);
        break;
    default: /* BUNDLE_CREATE */
        trace_add(list, "", "%s", name);
    }
}

bool activity_reads_ledger(enum bundle_name bundle)
{
    return bundle == BUNDLE_READ;
}

const char *activity_skip_reason(enum bundle_name name)
{
    return name == BUNDLE_CREATE                                ? "the job is there"
           : name == BUNDLE_ANSWER || name == BUNDLE_ANSWER_ACK ? "published before"
                                                                : "already marked";
}

const char *activity_remark(const struct run_event *event)
{
    bool entry =
        event->bundle->name == BUNDLE_ENTER_LEG1 || event->bundle->name == BUNDLE_ENTER_LEG2;
    return entry && event->change_count == 0 ? "not counted (full)" : NULL;
}

const char *activity_kind_text(int64_t kind)
{
    static const char *const legs[] = {"", "Leg1", "task", "Leg2"};
    return legs[kind];
}

/* ---- stories --------------------------------------------------------------------------------- */

/* The change of the semaphore, if the finding is about another row. */
void activity_tell_also(const struct story_telling *telling, char *out, size_t size)
{
    const struct trace_record *last = telling->last;
    for (size_t i = 0; i < last->change_count; i++) {
        const struct trace_change *change = &last->changes[i];
        if (change->table == TABLE_JOB && change->kind == ROW_UPDATED &&
            change->column == JOB_SEMAPHORE && telling->result.breach_table != TABLE_JOB) {
            snprintf(out, size, " and the semaphore from %" PRId64 " to %" PRId64, change->before,
                     change->after);
        }
    }
}

/* The rows whose ledgers are shown. */
struct about {
    uint32_t job, activity, guid; /* slots, or ROW_NONE */
};

static void about_guid(const struct rows *rows, struct about *about)
{
    if (about->guid != ROW_NONE) {
        about->activity =
            row_find(rows, TABLE_ACTIVITY, row_get(rows, TABLE_GUID, about->guid, GUID_ACTIVITY));
    }
}

static void about_key(const struct rows *rows, int64_t guid, int64_t activity, struct about *about)
{
    about->guid = guid == 0 ? ROW_NONE : row_find(rows, TABLE_GUID, guid);
    about->activity = row_find(rows, TABLE_ACTIVITY, activity);
    about_guid(rows, about);
}

/* The ledgers that the last event wrote; those of the row itself take precedence. */
static void about_last(const struct story_telling *telling, struct about *about)
{
    for (size_t i = 0; i < telling->last->change_count; i++) {
        const struct trace_change *change = &telling->last->changes[i];
        if (change->table == TABLE_JOB) {
            about->job = change->slot;
        } else if (change->table == TABLE_GUID) {
            about->guid = change->slot;
        } else if (change->table == TABLE_ACTIVITY && change->kind == ROW_UPDATED) {
            about->activity = change->slot;
        }
    }
}

/* For a row without a ledger: the ledgers of the row that it belongs to. */
static void about_owner(const struct rows *rows, enum row_table table, uint32_t slot,
                        struct about *about)
{
    switch ((int)table) {
    case TABLE_TASK:
        about_key(rows, 0, row_get(rows, table, slot, TASK_ACTIVITY), about);
        break;
    case TABLE_OUTPUT:
        about_key(rows, row_get(rows, table, slot, OUTPUT_GUID),
                  row_get(rows, table, slot, OUTPUT_ACTIVITY), about);
        break;
    case TABLE_COMPLETION:
        about_key(rows, row_get(rows, table, slot, COMPLETION_GUID), 0, about);
        about->job = row_find(rows, TABLE_JOB, row_get(rows, table, slot, COMPLETION_JOB));
        break;
    case TABLE_MESSAGE:
        about_key(rows, row_get(rows, table, slot, MESSAGE_GUID),
                  row_get(rows, table, slot, MESSAGE_ACTIVITY), about);
        break;
    default: /* TABLE_ESCALATION */
        about->job = row_find(rows, TABLE_JOB, row_get(rows, table, slot, ESCALATION_JOB));
    }
}

static struct about about_row(const struct story_telling *telling)
{
    const struct rows *rows = telling->names.rows;
    uint32_t slot = telling->result.breach_slot;
    struct about about = {ROW_NONE, ROW_NONE, ROW_NONE};
    enum row_table table = (enum row_table)telling->result.breach_table;
    if (!telling->result.settled) {
        about_last(telling, &about);
    }
    if (slot == ROW_NONE || slot >= rows->table[table].used) {
        return about;
    }
    if (table == TABLE_JOB) {
        about.job = slot;
    } else if (table == TABLE_ACTIVITY) {
        about.activity = slot;
    } else if (table == TABLE_GUID) {
        about.guid = slot;
        about_guid(rows, &about);
    } else {
        about_owner(rows, table, slot, &about);
    }
    return about;
}

static void show_job(const struct story_telling *telling, uint32_t slot)
{
    const struct rows *rows = telling->names.rows;
    struct name name = names_row(&telling->names, TABLE_JOB, slot);
    const struct trace_change *change = story_change(telling, TABLE_JOB, slot, JOB_SEMAPHORE);
    fprintf(telling->out, "  %s: semaphore ", name.text);
    if (change != NULL && change->kind == ROW_UPDATED) {
        fprintf(telling->out, "%" PRId64 " -> ", change->before);
    }
    fprintf(telling->out, "%" PRId64 ", threshold %" PRId64 ", %s\n",
            row_get(rows, TABLE_JOB, slot, JOB_SEMAPHORE),
            row_get(rows, TABLE_JOB, slot, JOB_THRESHOLD),
            teller_value(&telling->names, TABLE_JOB, JOB_STATE,
                         row_get(rows, TABLE_JOB, slot, JOB_STATE))
                .text);
}

void activity_tell_ledgers(const struct story_telling *telling)
{
    struct about about = about_row(telling);
    if (about.job == ROW_NONE && about.guid == ROW_NONE && about.activity == ROW_NONE) {
        return;
    }
    ledger_words_head(telling, "the ledgers");
    if (about.job != ROW_NONE) {
        show_job(telling, about.job);
    }
    if (about.guid != ROW_NONE) {
        ledger_words_show(telling, TABLE_GUID, about.guid);
    }
    if (about.activity != ROW_NONE) {
        ledger_words_show(telling, TABLE_ACTIVITY, about.activity);
    }
}
