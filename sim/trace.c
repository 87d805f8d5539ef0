#include "sim/trace.h"

#include "model/check.h"
#include "model/digits.h"
#include "sim/part.h"
#include "sim/teller.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ----------------------------------------------------------------------------------- */

void trace_add(struct text *list, const char *separator, const char *format, ...)
{
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    text_add(list, "%s%s", list->used == 0 ? "" : separator, piece);
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

/* ---- what changed ---------------------------------------------------------------------------- */

int64_t trace_now(const struct trace_effect *effect, const struct row_change *change)
{
    return row_get(effect->event->rows, (enum row_table)change->table, change->slot,
                   change->column);
}

static bool is_same_row(const struct row_change *a, const struct row_change *b)
{
    return a->table == b->table && a->slot == b->slot;
}

/* Described already, by the first write of its cell or by the row's insertion. */
bool trace_is_repeated(const struct run_event *event, size_t index)
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

static bool trace_is_held(const struct run_event *event)
{
    return event->turn == RUN_TRANSACTION &&
           (event->bundle->name == BUNDLE_CLAIM || event->bundle->name == BUNDLE_EXTEND);
}

void trace_tell_message(const struct trace_effect *effect, const struct row_change *change)
{
    const struct run_event *event = effect->event;
    if (change->kind == ROW_DELETED) {
        bool own = event->message != NULL &&
                   event->message[0] == row_key(event->rows, TABLE_MESSAGE, change->slot);
        trace_add(effect->list, "; ", "%s%sacked",
                  own ? "" : names_row(&effect->names, TABLE_MESSAGE, change->slot).text,
                  own ? "" : " ");
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_VISIBLE_AT &&
               trace_now(effect, change) == PROTOCOL_NEVER) {
        trace_add(effect->list, "; ", "stands still");
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_VISIBLE_AT &&
               event->bundle->name != BUNDLE_CLAIM && bundle_claims(event->bundle)) {
        trace_add(effect->list, "; ", "claimed %s, held until t=%" PRId64,
                  names_row(&effect->names, TABLE_MESSAGE, change->slot).text,
                  trace_now(effect, change));
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_VISIBLE_AT) {
        trace_add(effect->list, "; ",
                  trace_is_held(event) ? "held until t=%" PRId64 : "visible from t=%" PRId64,
                  trace_now(effect, change));
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_EPOCH &&
               trace_now(effect, change) > 1) {
        trace_add(effect->list, "; ", "claim no. %" PRId64, trace_now(effect, change));
    }
}

/* A child is called by its name alone, with or without its activity's row. */
void trace_tell_published(const struct trace_effect *effect,
                          bool (*is_child)(const struct run_event *event, const int64_t *message))
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
        bool child = is_child != NULL && is_child(event, message);
        struct name name =
            child ? names_subject(&effect->names, message) : names_message(&effect->names, message);
        bool first = effect->list->used == 0;
        trace_add(effect->list, separator, "%s%s", first ? "published " : "", name.text);
        separator = ", ";
        if (message[1 + MESSAGE_EPOCH] > 0) { /* by the worker that published it, which goes on with
                                                 it */
            trace_add(effect->list, ", ", "held until t=%" PRId64, message[1 + MESSAGE_VISIBLE_AT]);
        } else if (message[1 + MESSAGE_VISIBLE_AT] > late) {
            late = message[1 + MESSAGE_VISIBLE_AT];
        }
    }
    if (late > event->now) {
        trace_add(effect->list, ", ", "visible from t=%" PRId64, late);
    }
}

/* ---- what was sent --------------------------------------------------------------------------- */

/* Whether the event was about a message. A claim that failed was about none: the store's last
 * answer belongs to another bundle. */
bool trace_is_about_message(const struct run_event *event)
{
    bool failed =
        event->turn == RUN_TRANSACTION && event->bundle->name == BUNDLE_CLAIM &&
        (event->outcome->kind == OUTCOME_ABORTED || event->outcome->kind == OUTCOME_REFUSED);
    return event->message != NULL && event->message[1 + MESSAGE_KIND] != 0 && !failed;
}

static void trace_tell_sent(const struct trace_effect *effect)
{
    const struct run_event *event = effect->event;
    const struct sim_part *part = sim_part_of(effect->names.scenario->protocol);
    if (part->sent != NULL) {
        part->sent(effect);
        return;
    }
    bool about = trace_is_about_message(event);
    struct name message = about ? names_message(&effect->names, event->message) : (struct name){""};
    trace_add(effect->list, "", "%s%s%s", bundle_name_text((enum bundle_name)event->bundle->name),
              about ? " " : "", message.text);
}

/* ---- the world around ------------------------------------------------------------------------ */

/* The message that a fault of the queue was about; for a copy, its original. */
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
    struct text what = {.text = words->what, .size = sizeof words->what};
    switch ((int)event->fault) {
    case FAULT_DUPLICATE:
        trace_add(&what, "", "%s: delivered twice", disturbed(names, event).text);
        break;
    case FAULT_REPLAY:
        trace_add(&what, "", "%s: comes again after its ack", disturbed(names, event).text);
        break;
    case FAULT_REDELIVER:
        trace_add(&what, "", "%s: given out again while it is held", disturbed(names, event).text);
        break;
    case FAULT_RESTART:
        trace_add(&what, "", "the server restarts, every connection breaks");
        break;
    case FAULT_FAILOVER:
        trace_add(&what, "", "a standby that lost nothing takes over");
        break;
    case FAULT_LOSSY_FAILOVER:
        trace_add(&what, "", "a standby that lost the last commits takes over");
        break;
    case FAULT_CLOCK_FORWARD:
        trace_add(&what, "", "the clock leaps ahead to t=%" PRId64, event->now);
        break;
    case FAULT_CLOCK_BACK:
        trace_add(&what, "", "the clock falls back to t=%" PRId64, event->now);
        break;
    case FAULT_SKEW:
        trace_add(&what, "", "the clock of %s is set to t=%" PRId64 ", and runs wrong",
                  names_actor(names->scenario, event->actor).text, event->now + event->amount);
        break;
    case FAULT_SUCCESSOR:
        trace_add(&what, "", "%s is started again, and its former self lives on",
                  names_actor(names->scenario, event->actor).text);
        break;
    default:
        trace_add(&what, "", "%s", fault_get(event->fault)->about);
    }
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static void tell_committed(const struct sim_part *part, const struct run_event *event,
                           struct text *list)
{
    enum bundle_name name = (enum bundle_name)event->bundle->name;
    const char *remark = part->remark == NULL ? NULL : part->remark(event);
    if (event->outcome->skipped != 0) {
        trace_add(list, "", "committed, %s (%s)",
                  event->change_count == 0 ? "nothing to do" : "in part",
                  part->skip_reason == NULL ? "done before" : part->skip_reason(name));
    } else if (remark != NULL) {
        trace_add(list, "", "committed, %s", remark);
    } else if (event->fault == FAULT_REORDER) {
        trace_add(list, "", "committed, out of order");
    } else if (event->fault == FAULT_DELAY) {
        trace_add(list, "", "committed, told late");
    } else if (event->fault == FAULT_ANSWER_CHANGED) {
        trace_add(list, "", "committed, another answer than before");
    } else {
        trace_add(list, "", "committed");
    }
}

static void tell_aborted(enum abort_class aborted, struct text *list)
{
    if (aborted == ABORT_CONNECTION) {
        trace_add(list, "", "aborted: connection lost (08006)");
    } else {
        trace_add(list, "", "aborted: %s", abort_class_text(aborted));
    }
}

static void tell_answer(const struct sim_part *part, const struct run_event *event,
                        struct text *list)
{
    switch ((enum outcome_kind)event->outcome->kind) {
    case OUTCOME_COMMITTED:
        tell_committed(part, event, list);
        break;
    case OUTCOME_REFUSED:
        trace_add(list, "", "refused: %s", refusal_text((enum refusal)event->outcome->refusal));
        break;
    case OUTCOME_ABORTED:
        tell_aborted((enum abort_class)event->outcome->aborted, list);
        break;
    case OUTCOME_UNKNOWN:
        if (event->fault == FAULT_COMMIT_LATE) {
            trace_add(list, "", "answer lost (its COMMIT is on its way)");
        } else {
            trace_add(list, "", "answer lost (it did%s commit)", event->committed ? "" : " not");
        }
        break;
    case OUTCOME_NONE:
        break;
    }
}

/* A crash hides the answer, so the store's outcome is told only where the fault's name does not
 * imply it. */
static void tell_death(const struct sim_part *part, const struct run_event *event,
                       struct text *list)
{
    bool executed = event->outcome->kind == OUTCOME_COMMITTED;
    if (event->fault == FAULT_CRASH_COMMIT_LATE) {
        trace_add(list, "", "dies with its COMMIT on its way");
    } else if (!executed) {
        tell_answer(part, event, list);
        trace_add(list, "; ", "dies");
    } else if (event->fault == FAULT_CRASH_BEFORE_COMMIT) {
        trace_add(list, "", "dies before COMMIT");
    } else {
        trace_add(list, "", "dies after COMMIT, before it sees the answer");
    }
}

static void tell_wait(const struct scenario *scenario, const struct run_event *event,
                      struct text *list)
{
    const char *before = "waits for ";
    for (unsigned a = 0; a < SESSIONS_MAX; a++) {
        if ((event->amount >> a & 1) != 0) {
            struct name name = names_actor(scenario, a);
            bool actor = strcmp(name.text, "the world") != 0;
            trace_add(list, "", "%s%s", before, actor ? name.text : "a commit on its way");
            before = " and ";
        }
    }
}

static void tell_outcome(const struct scenario *scenario, const struct run_event *event,
                         struct text *list)
{
    const struct sim_part *part = sim_part_of(scenario->protocol);
    switch (event->turn) {
    case RUN_TRANSACTION:
        if (event->crashed) {
            tell_death(part, event, list);
        } else {
            tell_answer(part, event, list);
        }
        break;
    case RUN_CRASH:
        trace_add(list, "",
                  event->fault == FAULT_CRASH_BEFORE_ACK ? "dies with its work done, before the ack"
                  : event->died == NULL                  ? "dies before it sends anything"
                                                         : "dies: its engine fails CHECK(%s)",
                  event->died);
        break;
    case RUN_PAUSE:
        trace_add(list, "", "%s for %" PRId64 " ticks, until t=%" PRId64,
                  event->fault == FAULT_LONG_WORK ? "is at work" : "stops", event->amount,
                  event->now + event->amount);
        break;
    case RUN_STOPS:
        trace_add(list, "", "held up after %" PRId64 " operation%s", event->amount,
                  event->amount == 1 ? "" : "s");
        break;
    case RUN_WAITS:
        tell_wait(scenario, event, list);
        break;
    case RUN_LANDS:
        trace_add(list, "", "lands late: ");
        tell_answer(part, event, list);
        break;
    case RUN_ENVIRONMENT:
    case RUN_SETTLE:
        break;
    }
    bool open = event->turn == RUN_STOPS || event->turn == RUN_WAITS;
    if (event->effect != NULL && !event->committed && !open) { /* else a bundle rests on it */
        trace_add(list, "; ", "the work itself is done");
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
    struct text what = {.text = words->what, .size = sizeof words->what};
    if (event->turn == RUN_ENVIRONMENT) {
        tell_world(names, event, words);
    } else if (event->turn == RUN_SETTLE) {
        trace_add(&what, "", "faults stop; every worker starts anew");
    } else {
        trace_tell_sent(&(struct trace_effect){.names = *names, .event = event, .list = &what});
    }
}

struct trace_line trace_describe(const struct scenario *scenario, const struct run_event *event,
                                 struct trace_words *words)
{
    struct names names = {.scenario = scenario, .rows = event->rows};
    struct text outcome = {.text = words->outcome, .size = sizeof words->outcome};
    struct text effect = {.text = words->effect, .size = sizeof words->effect};
    bool sent = event->turn != RUN_ENVIRONMENT && event->turn != RUN_SETTLE;
    bool about = sent && trace_is_about_message(event);
    unsigned actor = sent ? event->actor : CHOICE_NOBODY;
    words->who = names_actor(scenario, actor);
    words->subject = about ? names_subject(&names, event->message) : (struct name){""};
    words->what[0] = words->outcome[0] = words->effect[0] = '\0';
    tell_what(&names, event, words);
    tell_outcome(scenario, event, &outcome);
    if (event->turn == RUN_TRANSACTION || event->turn == RUN_LANDS) {
        teller_changes(&(struct trace_effect){.names = names, .event = event, .list = &effect});
    }
    return (struct trace_line){.step = event->step,
                               .now = event->now,
                               .actor = actor,
                               .turn = event->turn,
                               .fault = event->fault,
                               .usual = is_usual(event),
                               .committed = event->committed,
                               .bundle =
                                   sent ? (enum bundle_name)event->bundle->name : BUNDLE_NAME_COUNT,
                               .leg = about ? event->message[1 + MESSAGE_KIND] : 0,
                               .digest = event->digest,
                               .who = words->who.text,
                               .subject = words->subject.text,
                               .what = words->what,
                               .outcome = words->outcome,
                               .effect = words->effect};
}

void trace_write(FILE *out, const struct trace_line *line, const char *alarm, const char *plain)
{
    bool alarming = !line->usual;
    fprintf(out, "%5" PRIu32 "  t=%-4" PRId64 "  %-9s  ", line->step, line->now, line->who);
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

static bool trace_make_room(struct trace *trace)
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

static const char *trace_keep(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *kept = memcpy(*at, text, size);
    *at += size;
    return kept;
}

static size_t text_size(const struct trace_line *line)
{
    return strlen(line->who) + strlen(line->subject) + strlen(line->what) + strlen(line->outcome) +
           strlen(line->effect) + 5;
}

static size_t keep_changes(const struct run_event *event, struct trace_change *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *from = &event->changes[i];
        enum row_table table = (enum row_table)from->table;
        if (trace_is_repeated(event, i)) {
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
    char *memory = trace_make_room(trace) ? malloc(changes_size + text_size(&line)) : NULL;
    if (memory == NULL) {
        trace->failed = true;
        return;
    }
    struct trace_record *record = &trace->records[trace->count++];
    *record = (struct trace_record){
        .line = line, .changes = (struct trace_change *)(void *)memory, .memory = memory};
    record->change_count = keep_changes(event, record->changes);
    char *at = memory + changes_size;
    record->line.who = trace_keep(&at, line.who);
    record->line.subject = trace_keep(&at, line.subject);
    record->line.what = trace_keep(&at, line.what);
    record->line.outcome = trace_keep(&at, line.outcome);
    record->line.effect = trace_keep(&at, line.effect);
}

void trace_free(struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        free(trace->records[i].memory);
    }
    free(trace->records);
    *trace = (struct trace){.scenario = trace->scenario};
}

bool trace_halted(const struct scenario *scenario, const struct rows *rows,
                  char why[TRACE_HALT_SIZE])
{
    const struct sim_part *part = sim_part_of(scenario->protocol);
    return part->halted != NULL && part->halted(rows, why, TRACE_HALT_SIZE);
}
