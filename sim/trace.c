#include "sim/trace.h"

#include "model/check.h"
#include "model/digits.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* A list of phrases in a buffer of fixed size; what does not fit is cut. */
struct list {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 3, 4))) static void add(struct list *list, const char *separator,
                                                      const char *format, ...)
{
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    int length = snprintf(list->text + list->used, list->size - list->used, "%s%s",
                          list->used == 0 ? "" : separator, piece);
    list->used += (size_t)length;
    if (list->used >= list->size) {
        list->used = list->size - 1;
    }
}

struct trace_digits trace_ledger(int64_t value)
{
    struct trace_digits digits;
    if (digits_in_range(value)) {
        digits_format(value, digits.text);
    } else {
        snprintf(digits.text, sizeof digits.text, "%" PRId64, value);
    }
    return digits;
}

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

/* ---- what changed ---------------------------------------------------------------------------- */

/* An event and the list that its changes are told in. */
struct effect {
    struct names names;
    const struct run_event *event;
    struct list *list;
};

static int64_t now_in(const struct effect *effect, const struct row_change *change)
{
    return row_get(effect->event->rows, (enum row_table)change->table, change->slot,
                   change->column);
}

static bool is_same_row(const struct row_change *a, const struct row_change *b)
{
    return a->table == b->table && a->slot == b->slot;
}

/* Told already, by the first write of its cell or by the row's coming. */
static bool is_repeated(const struct run_event *event, size_t index)
{
    const struct row_change *change = &event->changes[index];
    for (size_t i = 0; change->kind == ROW_UPDATED && i < index; i++) {
        const struct row_change *other = &event->changes[i];
        if (is_same_row(change, other) &&
            (other->kind == ROW_INSERTED || other->column == change->column)) {
            return true;
        }
    }
    return false;
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

static void tell_job(const struct effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    struct name job = names_job(&effect->names, row_key(rows, TABLE_JOB, change->slot));
    if (change->kind == ROW_INSERTED) {
        add(effect->list, "; ", "%s created, semaphore %" PRId64 ", threshold %" PRId64, job.text,
            row_get(rows, TABLE_JOB, change->slot, JOB_SEMAPHORE),
            row_get(rows, TABLE_JOB, change->slot, JOB_THRESHOLD));
    } else if (change->kind == ROW_DELETED) {
        add(effect->list, "; ", "%s deleted", job.text);
    } else if (change->column == JOB_SEMAPHORE) {
        add(effect->list, "; ", "%s semaphore %" PRId64 " -> %" PRId64, job.text, change->before,
            now_in(effect, change));
    } else if (change->column == JOB_STATE) {
        add(effect->list, "; ", "%s %s", job.text,
            now_in(effect, change) == JOB_COMPLETE ? "complete" : "active again");
    } else if (change->column == JOB_ESCALATED) {
        add(effect->list, "; ", "%s escalated", job.text);
    } else {
        add(effect->list, "; ", "%s changed", job.text);
    }
}

static void tell_guid(const struct effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    int64_t key = row_key(event->rows, TABLE_GUID, change->slot);
    bool own = event->message != NULL && event->message[1 + MESSAGE_GUID] == key;
    struct name name = {"GUID"};
    if (!own) {
        snprintf(name.text, sizeof name.text, "GUID of %.80s",
                 names_guid(&effect->names, key).text);
    }
    int64_t ledger = row_get(event->rows, TABLE_GUID, change->slot, GUID_LEDGER);
    if (change->kind == ROW_INSERTED) {
        add(effect->list, "; ", "%s %s, dimension %" PRId64, name.text, trace_ledger(ledger).text,
            row_get(event->rows, TABLE_GUID, change->slot, GUID_DIMENSION));
    } else if (change->kind == ROW_DELETED) {
        add(effect->list, "; ", "%s deleted", name.text);
    } else if (change->column == GUID_LEDGER) {
        add(effect->list, "; ", "%s %s -> %s", name.text, trace_ledger(change->before).text,
            trace_ledger(ledger).text);
    } else {
        add(effect->list, "; ", "%s %s %" PRId64 " -> %" PRId64, name.text,
            change->column == GUID_DIMENSION ? "dimension" : "column", change->before,
            now_in(effect, change));
    }
}

static void tell_activity(const struct effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    int64_t key = row_key(event->rows, TABLE_ACTIVITY, change->slot);
    struct name name = names_activity(&effect->names, key);
    if (change->kind == ROW_UPDATED && change->column == ACTIVITY_LEDGER) {
        add(effect->list, "; ", "%s %s -> %s", name.text, trace_ledger(change->before).text,
            trace_ledger(now_in(effect, change)).text);
    } else if (change->kind == ROW_INSERTED) {
        if (!inserts(event, TABLE_MESSAGE, MESSAGE_ACTIVITY, key)) {
            add(effect->list, "; ", "%s added without a message", name.text);
        }
    } else {
        add(effect->list, "; ", "%s %s", name.text,
            change->kind == ROW_DELETED ? "deleted" : "changed");
    }
}

/* TASK, OUTPUT, COMPLETION: work, and how often it was done, which is their last column. */
static void tell_work(const struct effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    struct name name = names_row(&effect->names, (enum row_table)change->table, change->slot);
    bool counts = change->column + 2U == rows->table[change->table].stride;
    if (change->kind == ROW_INSERTED) {
        add(effect->list, "; ", "%s%s", name.text,
            change->table == TABLE_COMPLETION ? " run" : " stored");
    } else if (change->kind == ROW_DELETED) {
        add(effect->list, "; ", "%s deleted", name.text);
    } else if (counts) {
        add(effect->list, "; ", "%s done %" PRId64 " times", name.text, now_in(effect, change));
    } else if (change->table == TABLE_TASK && change->column == TASK_CLOSED) {
        struct name activity =
            names_activity(&effect->names, row_get(rows, TABLE_TASK, change->slot, TASK_ACTIVITY));
        add(effect->list, "; ", "task of %s closed", activity.text);
    } else {
        add(effect->list, "; ", "%s changed", name.text);
    }
}

static void tell_escalation(const struct effect *effect, const struct row_change *change)
{
    add(effect->list, "; ", "%s: %s",
        change->kind == ROW_DELETED ? "no longer escalated" : "escalated",
        escalation_text(
            row_get(effect->event->rows, TABLE_ESCALATION, change->slot, ESCALATION_REASON)));
}

static bool is_held(const struct run_event *event)
{
    return event->turn == RUN_TRANSACTION &&
           (event->bundle->name == BUNDLE_CLAIM || event->bundle->name == BUNDLE_EXTEND);
}

static void tell_message(const struct effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    if (change->kind == ROW_DELETED) {
        bool own = event->message != NULL &&
                   event->message[0] == row_key(event->rows, TABLE_MESSAGE, change->slot);
        add(effect->list, "; ", "%s%sacked",
            own ? "" : names_row(&effect->names, TABLE_MESSAGE, change->slot).text, own ? "" : " ");
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_VISIBLE_AT) {
        add(effect->list, "; ",
            is_held(event) ? "held until t=%" PRId64 : "visible from t=%" PRId64,
            now_in(effect, change));
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_EPOCH &&
               now_in(effect, change) > 1) {
        add(effect->list, "; ", "claim no. %" PRId64, now_in(effect, change));
    }
}

/* A child is called by its name alone, whether its activity came along or not. */
static void tell_published(const struct effect *effect)
{
    const struct run_event *event = effect->event;
    const struct row_area *area = &event->rows->table[TABLE_MESSAGE];
    const char *separator = "; published ";
    int64_t late = 0;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (change->table != TABLE_MESSAGE || change->kind != ROW_INSERTED) {
            continue;
        }
        const int64_t *message = &area->cells[(size_t)change->slot * area->stride];
        bool child = message[1 + MESSAGE_KIND] == MESSAGE_LEG1 &&
                     inserts(event, TABLE_ACTIVITY, ACTIVITY_NODE, message[1 + MESSAGE_NODE]);
        struct name name =
            child ? names_subject(&effect->names, message) : names_message(&effect->names, message);
        bool first = effect->list->used == 0;
        add(effect->list, separator, "%s%s", first ? "published " : "", name.text);
        separator = ", ";
        late = message[1 + MESSAGE_VISIBLE_AT] > late ? message[1 + MESSAGE_VISIBLE_AT] : late;
    }
    if (late > event->now) {
        add(effect->list, ", ", "visible from t=%" PRId64, late);
    }
}

static void tell_table(const struct effect *effect, enum row_table table)
{
    static void (*const tell[TABLE_COUNT])(const struct effect *, const struct row_change *) = {
        [TABLE_JOB] = tell_job,
        [TABLE_ACTIVITY] = tell_activity,
        [TABLE_TASK] = tell_work,
        [TABLE_GUID] = tell_guid,
        [TABLE_OUTPUT] = tell_work,
        [TABLE_COMPLETION] = tell_work,
        [TABLE_ESCALATION] = tell_escalation,
        [TABLE_MESSAGE] = tell_message,
    };
    const struct run_event *event = effect->event;
    for (size_t i = 0; i < event->change_count; i++) {
        if (event->changes[i].table == table && !is_repeated(event, i)) {
            tell[table](effect, &event->changes[i]);
        }
    }
}

static void tell_changes(const struct names *names, const struct run_event *event,
                         struct list *list)
{
    static const enum row_table order[TABLE_COUNT] = {
        TABLE_JOB,    TABLE_GUID,       TABLE_ACTIVITY,   TABLE_TASK,
        TABLE_OUTPUT, TABLE_COMPLETION, TABLE_ESCALATION, TABLE_MESSAGE};
    struct effect effect = {.names = *names, .event = event, .list = list};
    for (int i = 0; i < TABLE_COUNT; i++) {
        tell_table(&effect, order[i]);
    }
    tell_published(&effect);
}

/* A read changes nothing; what it found is what it is for. */
static void tell_effect(const struct names *names, const struct run_event *event, struct list *list)
{
    if (!event->crashed && event->outcome->kind == OUTCOME_COMMITTED &&
        event->bundle->name == BUNDLE_READ) {
        add(list, "; ", "reads %s", trace_ledger(event->outcome->values[0]).text);
    }
    tell_changes(names, event, list);
}

/* ---- what was sent --------------------------------------------------------------------------- */

/* Whether the event was about a message. A claim that failed was about none: what the store
 * answered last is somebody else's. */
static bool is_about_message(const struct run_event *event)
{
    bool failed =
        event->turn == RUN_TRANSACTION && event->bundle->name == BUNDLE_CLAIM &&
        (event->outcome->kind == OUTCOME_ABORTED || event->outcome->kind == OUTCOME_REFUSED);
    return event->message != NULL && event->message[1 + MESSAGE_KIND] != 0 && !failed;
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

static void tell_sent(const struct names *names, const struct run_event *event, struct list *list)
{
    const struct bundle *bundle = event->bundle;
    const char *name = bundle_name_text((enum bundle_name)bundle->name);
    bool about = is_about_message(event);
    int64_t pending = bundle->name == BUNDLE_ANSWER ? pending_sent(bundle) : 0;
    struct name subject = about ? names_subject(names, event->message) : (struct name){""};
    struct name message = about ? names_message(names, event->message) : (struct name){""};
    switch ((enum bundle_name)bundle->name) {
    case BUNDLE_ENTER_LEG1:
    case BUNDLE_LEG1:
    case BUNDLE_ANSWER:
    case BUNDLE_ENTER_LEG2:
    case BUNDLE_STEP1:
    case BUNDLE_STEP2:
    case BUNDLE_STEP3:
        if (pending > 0) {
            add(list, "", "pending answer %" PRId64 " of %s", pending, subject.text);
        } else {
            add(list, "", "%s of %s", bundle->name == BUNDLE_LEG1 ? "Leg1's work" : name,
                subject.text);
        }
        break;
    case BUNDLE_CLAIM:
    case BUNDLE_EXTEND:
    case BUNDLE_ACK:
    case BUNDLE_ESCALATE:
    case BUNDLE_PUT_BACK:
    case BUNDLE_READ:
        add(list, "", "%s%s%s", name, about ? " " : "", message.text);
        break;
    case BUNDLE_CREATE:
    case BUNDLE_NAME_COUNT:
        add(list, "", "%s", name);
    }
}

/* ---- the world around ------------------------------------------------------------------------ */

/* The message that a disturbance of the queue was about; of a copy, what it is a copy of. */
static struct name disturbed(const struct names *names, const struct run_event *event)
{
    struct name name = {"a message"};
    if (event->change_count > 0 && event->changes[0].table == TABLE_MESSAGE) {
        name = names_row(names, TABLE_MESSAGE, event->changes[0].slot);
    }
    char *copy = event->fault == FAULT_REDELIVER ? NULL : strstr(name.text, " (copy)");
    if (copy != NULL) {
        *copy = '\0';
    }
    return name;
}

static void tell_world(const struct names *names, const struct run_event *event,
                       struct trace_words *words)
{
    struct list what = {.text = words->what, .size = sizeof words->what};
    switch ((int)event->fault) {
    case FAULT_DUPLICATE:
        add(&what, "", "%s: delivered twice", disturbed(names, event).text);
        break;
    case FAULT_REPLAY:
        add(&what, "", "%s: comes again after its ack", disturbed(names, event).text);
        break;
    case FAULT_REDELIVER:
        add(&what, "", "%s: given out again while it is held", disturbed(names, event).text);
        break;
    case FAULT_RESTART:
        add(&what, "", "the server restarts, every connection breaks");
        break;
    case FAULT_FAILOVER:
        add(&what, "", "a standby that lost nothing takes over");
        break;
    case FAULT_LOSSY_FAILOVER:
        add(&what, "", "a standby that lost the last commits takes over");
        break;
    case FAULT_CLOCK_FORWARD:
        add(&what, "", "the clock leaps ahead to t=%" PRId64, event->now);
        break;
    case FAULT_CLOCK_BACK:
        add(&what, "", "the clock falls back to t=%" PRId64, event->now);
        break;
    default:
        add(&what, "", "%s", fault_get(event->fault)->about);
    }
}

/* ---- what came of it ------------------------------------------------------------------------- */

static const char *skip_reason(enum bundle_name name)
{
    return name == BUNDLE_CREATE   ? "the job is there"
           : name == BUNDLE_ANSWER ? "published before"
                                   : "already marked";
}

static bool is_entry(enum bundle_name name)
{
    return name == BUNDLE_ENTER_LEG1 || name == BUNDLE_ENTER_LEG2;
}

static void tell_committed(const struct run_event *event, struct list *list)
{
    enum bundle_name name = (enum bundle_name)event->bundle->name;
    if (event->outcome->skipped != 0) {
        add(list, "", "committed, %s (%s)", event->change_count == 0 ? "nothing to do" : "in part",
            skip_reason(name));
    } else if (is_entry(name) && event->change_count == 0) {
        add(list, "", "committed, not counted (full)");
    } else if (event->fault == FAULT_REORDER) {
        add(list, "", "committed, out of order");
    } else if (event->fault == FAULT_DELAY) {
        add(list, "", "committed, told late");
    } else if (event->fault == FAULT_ANSWER_CHANGED) {
        add(list, "", "committed, another answer than before");
    } else {
        add(list, "", "committed");
    }
}

static void tell_aborted(enum abort_class aborted, struct list *list)
{
    if (aborted == ABORT_CONNECTION) {
        add(list, "", "aborted: connection lost (08006)");
    } else {
        add(list, "", "aborted: %s", abort_class_text(aborted));
    }
}

static void tell_answer(const struct run_event *event, struct list *list)
{
    switch ((enum outcome_kind)event->outcome->kind) {
    case OUTCOME_COMMITTED:
        tell_committed(event, list);
        break;
    case OUTCOME_REFUSED:
        add(list, "", "refused: %s", refusal_text((enum refusal)event->outcome->refusal));
        break;
    case OUTCOME_ABORTED:
        tell_aborted((enum abort_class)event->outcome->aborted, list);
        break;
    case OUTCOME_UNKNOWN:
        add(list, "", "answer lost (it did%s commit)", event->committed ? "" : " not");
        break;
    case OUTCOME_NONE:
        break;
    }
}

/* A death hides the answer, so that what the store made of the transaction is told only where it is
 * not what the fault's name says. */
static void tell_death(const struct run_event *event, struct list *list)
{
    bool executed = event->outcome->kind == OUTCOME_COMMITTED;
    if (!executed) {
        tell_answer(event, list);
        add(list, "; ", "dies");
    } else if (event->fault == FAULT_CRASH_BEFORE_COMMIT) {
        add(list, "", "dies before COMMIT");
    } else {
        add(list, "", "dies after COMMIT, before it sees the answer");
    }
}

static void tell_outcome(const struct run_event *event, struct list *list)
{
    switch (event->turn) {
    case RUN_TRANSACTION:
        if (event->crashed) {
            tell_death(event, list);
        } else {
            tell_answer(event, list);
        }
        break;
    case RUN_CRASH:
        add(list, "",
            event->fault == FAULT_CRASH_BEFORE_ACK ? "dies with its work done, before the ack"
                                                   : "dies before it sends anything");
        break;
    case RUN_PAUSE:
        add(list, "", "stops for %" PRId64 " ticks, until t=%" PRId64, event->amount,
            event->now + event->amount);
        break;
    case RUN_ENVIRONMENT:
    case RUN_SETTLE:
        break;
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_usual(const struct run_event *event)
{
    return event->fault == FAULT_NONE && event->turn == RUN_TRANSACTION &&
           event->outcome->kind == OUTCOME_COMMITTED && event->outcome->skipped == 0;
}

static void tell_what(const struct names *names, const struct run_event *event,
                      struct trace_words *words)
{
    struct list what = {.text = words->what, .size = sizeof words->what};
    if (event->turn == RUN_ENVIRONMENT) {
        tell_world(names, event, words);
    } else if (event->turn == RUN_SETTLE) {
        add(&what, "", "faults stop; every worker starts anew");
    } else {
        tell_sent(names, event, &what);
    }
}

struct trace_line trace_describe(const struct scenario *scenario, const struct run_event *event,
                                 struct trace_words *words)
{
    struct names names = {.scenario = scenario, .rows = event->rows};
    struct list outcome = {.text = words->outcome, .size = sizeof words->outcome};
    struct list effect = {.text = words->effect, .size = sizeof words->effect};
    bool sent = event->turn != RUN_ENVIRONMENT && event->turn != RUN_SETTLE;
    bool about = sent && is_about_message(event);
    words->subject = about ? names_subject(&names, event->message) : (struct name){""};
    words->what[0] = words->outcome[0] = words->effect[0] = '\0';
    tell_what(&names, event, words);
    tell_outcome(event, &outcome);
    if (event->turn == RUN_TRANSACTION) {
        tell_effect(&names, event, &effect);
    }
    return (struct trace_line){.step = event->step,
                               .now = event->now,
                               .actor = sent ? event->actor : CHOICE_NOBODY,
                               .turn = event->turn,
                               .fault = event->fault,
                               .usual = is_usual(event),
                               .committed = event->committed,
                               .bundle =
                                   sent ? (enum bundle_name)event->bundle->name : BUNDLE_NAME_COUNT,
                               .leg = about ? event->message[1 + MESSAGE_KIND] : 0,
                               .digest = event->digest,
                               .subject = words->subject.text,
                               .what = words->what,
                               .outcome = words->outcome,
                               .effect = words->effect};
}

void trace_write(FILE *out, const struct trace_line *line, const char *alarm, const char *plain)
{
    bool alarming = !line->usual;
    fprintf(out, "%5" PRIu32 "  t=%-4" PRId64 "  %-9s  ", line->step, line->now,
            names_actor(line->actor).text);
    if (line->outcome[0] == '\0') {
        fprintf(out, "%s%s%s\n", alarm, line->what, plain);
        return;
    }
    fprintf(out, "%-27s  %s%-9s%s", line->what, alarming ? alarm : "", line->outcome,
            alarming ? plain : "");
    fprintf(out, "%s%s\n", line->effect[0] == '\0' ? "" : "  ", line->effect);
}

/* ---- recording ------------------------------------------------------------------------------- */

struct trace trace_begin(const struct scenario *scenario)
{
    return (struct trace){.scenario = scenario};
}

static bool make_room(struct trace *trace)
{
    if (trace->count < trace->capacity) {
        return true;
    }
    size_t capacity = trace->capacity == 0 ? 256 : 2 * trace->capacity;
    struct trace_record *records = realloc(trace->records, capacity * sizeof *records);
    if (records == NULL) {
        return false;
    }
    trace->records = records;
    trace->capacity = capacity;
    return true;
}

static const char *keep(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = memcpy(*at, text, size);
    *at += size;
    return kept;
}

static size_t text_size(const struct trace_line *line)
{
    return strlen(line->subject) + strlen(line->what) + strlen(line->outcome) +
           strlen(line->effect) + 4;
}

static size_t keep_changes(const struct run_event *event, struct trace_change *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *from = &event->changes[i];
        enum row_table table = (enum row_table)from->table;
        if (is_repeated(event, i)) {
            continue;
        }
        bool updated = from->kind == ROW_UPDATED;
        changes[count++] = (struct trace_change){
            .table = from->table,
            .kind = from->kind,
            .column = from->column,
            .slot = from->slot,
            .key = row_key(event->rows, table, from->slot),
            .before = updated ? from->before : 0,
            .after = updated ? row_get(event->rows, table, from->slot, from->column) : 0};
    }
    return count;
}

void trace_observe(void *context, const struct run_event *event)
{
    struct trace *trace = context;
    struct trace_words words;
    struct trace_line line = trace_describe(trace->scenario, event, &words);
    size_t changes_size = event->change_count * sizeof(struct trace_change);
    char *memory = make_room(trace) ? malloc(changes_size + text_size(&line)) : NULL;
    if (memory == NULL) {
        trace->failed = true;
        return;
    }
    struct trace_record *record = &trace->records[trace->count++];
    *record = (struct trace_record){
        .line = line, .changes = (struct trace_change *)(void *)memory, .memory = memory};
    record->change_count = keep_changes(event, record->changes);
    char *at = memory + changes_size;
    record->line.subject = keep(&at, line.subject);
    record->line.what = keep(&at, line.what);
    record->line.outcome = keep(&at, line.outcome);
    record->line.effect = keep(&at, line.effect);
}

void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        free(trace->records[i].memory);
    }
    free(trace->records);
    *trace = (struct trace){.scenario = trace->scenario};
}
