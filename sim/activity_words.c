/* The words of the activity protocol: names of its rows, descriptions of its events, and the
 * ledgers in a story. */
#include "sim/activity_words.h"

#include "model/digits.h"
#include "model/identity.h"
#include "model/ledger.h"

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

static struct name output_name(const struct names *names, uint32_t slot)
{
    const struct rows *rows = names->rows;
    struct name name = names_prefixed(
        "output of ",
        activity_activity_name(names, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY)));
    names_append(&name, " in dimension %" PRId64,
                 row_get(rows, TABLE_OUTPUT, slot, OUTPUT_DIMENSION));
    return name;
}

struct name activity_row_name(const struct names *names, enum row_table table, uint32_t slot)
{
    const struct rows *rows = names->rows;
    switch ((int)table) {
    case TABLE_JOB:
        return activity_job_name(names, row_key(rows, table, slot));
    case TABLE_ACTIVITY:
        return names_prefixed("activity ledger of ",
                              activity_activity_name(names, row_key(rows, table, slot)));
    case TABLE_TASK:
        return names_prefixed(
            "Leg1's work of ",
            activity_activity_name(names, row_get(rows, table, slot, TASK_ACTIVITY)));
    case TABLE_GUID:
        return names_prefixed("GUID ledger of ",
                              activity_guid_name(names, row_key(rows, table, slot)));
    case TABLE_OUTPUT:
        return output_name(names, slot);
    case TABLE_COMPLETION:
        return names_prefixed("completion tasks of ",
                              activity_job_name(names, row_get(rows, table, slot, COMPLETION_JOB)));
    case TABLE_ESCALATION:
        return names_prefixed("escalation of ",
                              activity_job_name(names, row_get(rows, table, slot, ESCALATION_JOB)));
    case TABLE_MESSAGE:
        return activity_message_name(
            names, &rows->table[table].cells[(size_t)slot * rows->table[table].stride]);
    default:
        break;
    }
    return names_unknown("a row");
}

/* ---- traces ---------------------------------------------------------------------------------- */

static const char *escalation_text(int64_t reason)
{
    static const char *const texts[] = {
        [0] = "for no reason",
        [ESCALATED_LEG1_CEILING] = "Leg1 entries at 999",
        [ESCALATED_LEG2_CEILING] = "Leg2 entries at 99,999,999",
        [ESCALATED_ATTEMPTS_CEILING] = "attempts at 99,999,999",
        [ESCALATED_CONTENT_CHANGED] = "another answer under the same GUID",
        [ESCALATED_SEMAPHORE_REFUSED] = "the semaphore would fall below 0",
        [ESCALATED_CORRUPT] = "no ledger that a step can have written",
        [ESCALATED_CONFLICT] = "a row that only this step may write is there",
    };
    bool known = reason > 0 && reason <= ESCALATED_CONFLICT;
    return texts[known ? reason : 0];
}

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

static void tell_job(const struct trace_effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    struct name job = activity_job_name(&effect->names, row_key(rows, TABLE_JOB, change->slot));
    if (change->kind == ROW_INSERTED) {
        trace_add(effect->list, "; ", "%s created, semaphore %" PRId64 ", threshold %" PRId64,
                  job.text, row_get(rows, TABLE_JOB, change->slot, JOB_SEMAPHORE),
                  row_get(rows, TABLE_JOB, change->slot, JOB_THRESHOLD));
    } else if (change->kind == ROW_DELETED) {
        trace_add(effect->list, "; ", "%s deleted", job.text);
    } else if (change->column == JOB_SEMAPHORE) {
        trace_add(effect->list, "; ", "%s semaphore %" PRId64 " -> %" PRId64, job.text,
                  change->before, trace_now(effect, change));
    } else if (change->column == JOB_STATE) {
        trace_add(effect->list, "; ", "%s %s", job.text,
                  trace_now(effect, change) == JOB_COMPLETE ? "complete" : "active again");
    } else if (change->column == JOB_ESCALATED) {
        trace_add(effect->list, "; ", "%s escalated", job.text);
    } else {
        trace_add(effect->list, "; ", "%s changed", job.text);
    }
}

static void tell_guid(const struct trace_effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    int64_t key = row_key(event->rows, TABLE_GUID, change->slot);
    bool own = event->message != NULL && event->message[1 + MESSAGE_GUID] == key;
    struct name name = {"GUID"};
    if (!own) {
        snprintf(name.text, sizeof name.text, "GUID of %.80s",
                 activity_guid_name(&effect->names, key).text);
    }
    int64_t ledger = row_get(event->rows, TABLE_GUID, change->slot, GUID_LEDGER);
    if (change->kind == ROW_INSERTED) {
        trace_add(effect->list, "; ", "%s %s, dimension %" PRId64, name.text,
                  trace_ledger(ledger).text,
                  row_get(event->rows, TABLE_GUID, change->slot, GUID_DIMENSION));
    } else if (change->kind == ROW_DELETED) {
        trace_add(effect->list, "; ", "%s deleted", name.text);
    } else if (change->column == GUID_LEDGER) {
        trace_add(effect->list, "; ", "%s %s -> %s", name.text, trace_ledger(change->before).text,
                  trace_ledger(ledger).text);
    } else {
        trace_add(effect->list, "; ", "%s %s %" PRId64 " -> %" PRId64, name.text,
                  change->column == GUID_DIMENSION ? "dimension" : "column", change->before,
                  trace_now(effect, change));
    }
}

static void tell_activity(const struct trace_effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    int64_t key = row_key(event->rows, TABLE_ACTIVITY, change->slot);
    struct name name = activity_activity_name(&effect->names, key);
    if (change->kind == ROW_UPDATED && change->column == ACTIVITY_LEDGER) {
        trace_add(effect->list, "; ", "%s %s -> %s", name.text, trace_ledger(change->before).text,
                  trace_ledger(trace_now(effect, change)).text);
    } else if (change->kind == ROW_INSERTED) {
        if (!inserts(event, TABLE_MESSAGE, MESSAGE_ACTIVITY, key)) {
            trace_add(effect->list, "; ", "%s added without a message", name.text);
        }
    } else {
        trace_add(effect->list, "; ", "%s %s", name.text,
                  change->kind == ROW_DELETED ? "deleted" : "changed");
    }
}

/* TASK, OUTPUT, COMPLETION: work, and how often it was done (the last column). */
static void tell_work(const struct trace_effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    struct name name = names_row(&effect->names, (enum row_table)change->table, change->slot);
    bool counts = change->column + 2U == rows->table[change->table].stride;
    if (change->kind == ROW_INSERTED) {
        trace_add(effect->list, "; ", "%s%s", name.text,
                  change->table == TABLE_COMPLETION ? " run" : " stored");
    } else if (change->kind == ROW_DELETED) {
        trace_add(effect->list, "; ", "%s deleted", name.text);
    } else if (counts) {
        trace_add(effect->list, "; ", "%s done %" PRId64 " times", name.text,
                  trace_now(effect, change));
    } else if (change->table == TABLE_TASK && change->column == TASK_CLOSED) {
        struct name activity = activity_activity_name(
            &effect->names, row_get(rows, TABLE_TASK, change->slot, TASK_ACTIVITY));
        trace_add(effect->list, "; ", "task of %s closed", activity.text);
    } else {
        trace_add(effect->list, "; ", "%s changed", name.text);
    }
}

static void tell_escalation(const struct trace_effect *effect, const struct row_change *change)
{
    trace_add(effect->list, "; ", "%s: %s",
              change->kind == ROW_DELETED ? "no longer escalated" : "escalated",
              escalation_text(
                  row_get(effect->event->rows, TABLE_ESCALATION, change->slot, ESCALATION_REASON)));
}

/* A child is called by its name alone, whether its activity came along or not. */
static bool is_child(const struct run_event *event, const int64_t *message)
{
    return message[1 + MESSAGE_KIND] == MESSAGE_LEG1 &&
           inserts(event, TABLE_ACTIVITY, ACTIVITY_NODE, message[1 + MESSAGE_NODE]);
}

static void tell_table(const struct trace_effect *effect, enum row_table table)
{
    static void (*const tell[TABLE_COUNT])(const struct trace_effect *,
                                           const struct row_change *) = {
        [TABLE_JOB] = tell_job,
        [TABLE_ACTIVITY] = tell_activity,
        [TABLE_TASK] = tell_work,
        [TABLE_GUID] = tell_guid,
        [TABLE_OUTPUT] = tell_work,
        [TABLE_COMPLETION] = tell_work,
        [TABLE_ESCALATION] = tell_escalation,
        [TABLE_MESSAGE] = trace_tell_message,
    };
    const struct run_event *event = effect->event;
    for (size_t i = 0; i < event->change_count; i++) {
        if (event->changes[i].table == table && !trace_is_repeated(event, i)) {
            tell[table](effect, &event->changes[i]);
        }
    }
}

/* A read changes nothing; its result is the description. */
void activity_tell_changes(const struct trace_effect *effect)
{
    const struct run_event *event = effect->event;
    static const enum row_table order[] = {TABLE_JOB,        TABLE_GUID,   TABLE_ACTIVITY,
                                           TABLE_TASK,       TABLE_OUTPUT, TABLE_COMPLETION,
                                           TABLE_ESCALATION, TABLE_MESSAGE};
    if (!event->crashed && event->outcome->kind == OUTCOME_COMMITTED &&
        event->bundle->name == BUNDLE_READ) {
        trace_add(effect->list, "; ", "reads %s", trace_ledger(event->outcome->values[0]).text);
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        tell_table(effect, order[i]);
    }
    trace_tell_published(effect, is_child);
}

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
    struct trace_list *list = effect->list;
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

static const char *state_text(int64_t state)
{
    return state == JOB_COMPLETE ? "complete" : "active";
}

const char *activity_value_text(enum row_table table, int column, int64_t value)
{
    return table == TABLE_JOB && column == JOB_STATE ? state_text(value) : NULL;
}

/* ---- stories --------------------------------------------------------------------------------- */

/* The column of a table that a sentence quotes; -1: none. */
static int quoted_column(enum row_table table)
{
    return table == TABLE_JOB        ? JOB_SEMAPHORE
           : table == TABLE_ACTIVITY ? ACTIVITY_LEDGER
           : table == TABLE_GUID     ? GUID_LEDGER
                                     : -1;
}

void activity_quoted(enum row_table table, struct story_quote *quote)
{
    quote->column = quoted_column(table);
    quote->ledger = table == TABLE_JOB ? NULL : table == TABLE_GUID ? "guid" : "activity";
    quote->the = table == TABLE_JOB       ? "the semaphore of the "
                 : table == TABLE_MESSAGE ? "the message "
                                          : "the ";
}

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

static void write_meaning(FILE *out, const struct ledger_layout *field, int64_t value)
{
    if (field->ceiling == 1) {
        fputs(value == 0 ? "no" : value == 1 ? "yes" : "neither 0 nor 1", out);
    } else {
        fprintf(out, "%" PRId64, value);
    }
}

static void write_field(FILE *out, const struct story_style *style,
                        const struct ledger_layout *field, int64_t before, int64_t after)
{
    int64_t was = digits_get(before, field->first_digit, field->digit_count);
    int64_t is = digits_get(after, field->first_digit, field->digit_count);
    int left = field->first_digit - 1;
    fprintf(out, "             %*s%s%0*" PRId64 "%s%*s  %-18s", left, "",
            was == is ? "" : style->alarm, field->digit_count, is, was == is ? "" : style->plain,
            DIGITS - left - field->digit_count, "", field->name);
    if (was != is) {
        write_meaning(out, field, was);
        fputs(" -> ", out);
    }
    write_meaning(out, field, is);
    fputc('\n', out);
}

void story_ledger(FILE *out, const struct story_style *style, bool is_guid, int64_t before,
                  int64_t after)
{
    if (before != after) {
        fprintf(out, "    before   %s\n", trace_ledger(before).text);
    }
    fprintf(out, "    %-9s%s\n", before != after ? "after" : "reads", trace_ledger(after).text);
    if (!digits_in_range(before) || !digits_in_range(after)) {
        fputs("             no ledger: it has left its 15 digits\n", out);
        return;
    }
    if (before != after) {
        char was[DIGITS_TEXT_SIZE], is[DIGITS_TEXT_SIZE], carets[DIGITS_TEXT_SIZE] = "";
        digits_format(before, was);
        digits_format(after, is);
        size_t end = 0;
        for (size_t i = 0; i < DIGITS; i++) {
            carets[i] = was[i] == is[i] ? ' ' : '^';
            end = was[i] == is[i] ? end : i + 1;
        }
        fprintf(out, "             %.*s\n", (int)end, carets);
    }
    enum ledger_kind kind = is_guid ? LEDGER_GUID : LEDGER_ACTIVITY;
    for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_field)field);
        if (layout->kind == kind) {
            write_field(out, style, layout, before, after);
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
            state_text(row_get(rows, TABLE_JOB, slot, JOB_STATE)));
}

static void show_ledger(const struct story_telling *telling, enum row_table table, uint32_t slot)
{
    int column = quoted_column(table);
    int64_t after = row_get(telling->names.rows, table, slot, column);
    const struct trace_change *change = story_change(telling, table, slot, column);
    bool inserted = change != NULL && change->kind == ROW_INSERTED;
    fprintf(telling->out, "  %s%s\n", names_row(&telling->names, table, slot).text,
            inserted ? ", which was not there before" : "");
    int64_t before = change != NULL && change->kind == ROW_UPDATED ? change->before : after;
    story_ledger(telling->out, telling->style, table == TABLE_GUID, before, after);
}

void activity_tell_ledgers(const struct story_telling *telling)
{
    struct about about = about_row(telling);
    if (about.job == ROW_NONE && about.guid == ROW_NONE && about.activity == ROW_NONE) {
        return;
    }
    fprintf(telling->out, "\n%sthe ledgers%s, before and after step %" PRIu32 "\n",
            telling->style->strong, telling->style->plain, telling->last->line.step);
    if (about.job != ROW_NONE) {
        show_job(telling, about.job);
    }
    if (about.guid != ROW_NONE) {
        show_ledger(telling, TABLE_GUID, about.guid);
    }
    if (about.activity != ROW_NONE) {
        show_ledger(telling, TABLE_ACTIVITY, about.activity);
    }
}

void activity_dump(FILE *out, const struct names *names)
{
    const struct rows *rows = names->rows;
    for (uint32_t slot = 0; slot < rows->table[TABLE_JOB].used; slot++) {
        fprintf(out, "  %-40s semaphore %" PRId64 ", threshold %" PRId64 ", %s\n",
                names_row(names, TABLE_JOB, slot).text,
                row_get(rows, TABLE_JOB, slot, JOB_SEMAPHORE),
                row_get(rows, TABLE_JOB, slot, JOB_THRESHOLD),
                state_text(row_get(rows, TABLE_JOB, slot, JOB_STATE)));
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_ACTIVITY].used; slot++) {
        fprintf(out, "  %-40s %s\n", names_row(names, TABLE_ACTIVITY, slot).text,
                trace_ledger(row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_LEDGER)).text);
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_GUID].used; slot++) {
        fprintf(out, "  %-40s %s  dimension %" PRId64 "\n", names_row(names, TABLE_GUID, slot).text,
                trace_ledger(row_get(rows, TABLE_GUID, slot, GUID_LEDGER)).text,
                row_get(rows, TABLE_GUID, slot, GUID_DIMENSION));
    }
}
