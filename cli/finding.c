#include "cli/finding.h"

#include "reports/reading.h"
#include "sim/part.h"
#include "sim/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_DRAWN_MAX 400 /* a longer run is in schedule.json, not in the page */

void finding_name(char name[FINDING_NAME_SIZE], const char *scenario, enum clause_id clause,
                  const char *oracle)
{
    snprintf(name, FINDING_NAME_SIZE, "%.40s-%s-%s", scenario, clause_get(clause)->id, oracle);
}

/* ---- one event ------------------------------------------------------------------------------- */

/* A run while it is drawn. */
struct drawing {
    const struct run *run;
    json_t *events, *messages;
    json_t *ids;     /* of messages: by key, as text */
    FILE *text;      /* NULL, or where the lines of a trace go */
    size_t too_many; /* events that were left out */
};

static json_t *message_id(struct drawing *drawing, const struct names *names,
                          const int64_t *message)
{
    char key[24];
    snprintf(key, sizeof key, "%" PRId64, message[0]);
    json_t *id = json_object_get(drawing->ids, key);
    if (id == NULL) {
        id = json_integer((json_int_t)json_array_size(drawing->messages));
        json_object_set_new(drawing->ids, key, id);
        json_array_append_new(drawing->messages, json_pack("{s:O, s:s}", "id", id, "name",
                                                           names_message(names, message).text));
    }
    return json_incref(id);
}

static const int64_t *message_at(const struct run_event *event, uint32_t slot)
{
    const struct row_area *area = &event->rows->table[TABLE_MESSAGE];
    return &area->cells[(size_t)slot * area->stride];
}

/* What happened to the queue: published, claimed, acked. */
static void add_queue(struct drawing *drawing, const struct names *names,
                      const struct run_event *event, json_t *object)
{
    json_t *publishes = json_array(), *acks = json_null(), *claims = json_null();
    for (size_t i = 0; event->committed && i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (change->table != TABLE_MESSAGE) {
            continue;
        }
        if (change->kind == ROW_INSERTED) {
            json_array_append_new(publishes,
                                  message_id(drawing, names, message_at(event, change->slot)));
        } else if (change->kind == ROW_DELETED && json_is_null(acks)) {
            acks = message_id(drawing, names, message_at(event, change->slot));
        }
    }
    if (event->committed && event->turn == RUN_TRANSACTION && bundle_claims(event->bundle) &&
        event->outcome->message[0] != 0) {
        claims = message_id(drawing, names, event->outcome->message);
    }
    json_object_set_new(object, "claims", claims);
    json_object_set_new(object, "acks", acks);
    json_object_set_new(object, "publishes", publishes);
}

/* ---- ledgers --------------------------------------------------------------------------------- */

static enum reading_kind kind_of(enum row_table table)
{
    return table == TABLE_GUID      ? READING_GUID
           : table == TABLE_EARLIER ? READING_LEGACY
           : table == TABLE_FLOW    ? READING_KEY
                                    : READING_ACTIVITY;
}

/* The fields of a ledger and what each says before and after; null if either is none. */
static json_t *digits_json(enum reading_kind kind, const char *before, const char *after)
{
    static struct reading was, is;
    struct text_fault fault;
    if (!reading_make(before, strlen(before), kind, &was, &fault) ||
        !reading_make(after, strlen(after), kind, &is, &fault) || was.part_count != 1 ||
        is.part_count != 1 || was.parts[0].field_count != is.parts[0].field_count) {
        return json_null();
    }
    json_t *list = json_array();
    for (int i = 0; i < is.parts[0].field_count; i++) {
        const struct reading_field *old = &was.parts[0].fields[i], *now = &is.parts[0].fields[i];
        char name[40];
        int named = snprintf(name, sizeof name, "%s", now->name);
        if (kind == READING_KEY) { /* every digit is an activity */
            snprintf(name + named, sizeof name - (size_t)named, " %d", i + 1);
        }
        json_array_append_new(list, json_pack("{s:i, s:I, s:s, s:s, s:s}", "from", now->first,
                                              "length", (json_int_t)strlen(now->digits), "name",
                                              name, "before", old->meaning, "after", now->meaning));
    }
    return list;
}

static bool is_ledger(const struct scenario *scenario, enum row_table table, int column)
{
    const struct sim_part *part = part_of(scenario->protocol);
    struct story_quote quote = {.column = -1};
    if (part->quoted != NULL) {
        part->quoted(table, &quote);
    }
    return quote.is_ledger && quote.column == column;
}

/* A cell's value: digits, a name or a number. */
static struct name value_name(const struct names *names, const struct row_change *change,
                              int64_t value)
{
    enum row_table table = (enum row_table)change->table;
    const struct sim_part *part = part_of(names->scenario->protocol);
    const char *called = part->value == NULL ? NULL : part->value(table, change->column, value);
    struct name name = {""};
    if (is_ledger(names->scenario, table, change->column)) {
        names_append(&name, "%s", trace_ledger(value).text);
    } else if (called != NULL) {
        names_append(&name, "%s", called);
    } else {
        names_append(&name, "%" PRId64, value);
    }
    return name;
}

static json_t *updated_json(const struct names *names, const struct row_change *change)
{
    enum row_table table = (enum row_table)change->table;
    int64_t now = row_get(names->rows, table, change->slot, change->column);
    struct name before = value_name(names, change, change->before),
                after = value_name(names, change, now);
    bool ledger = is_ledger(names->scenario, table, change->column);
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "row", names_row(names, table, change->slot).text,
                     "column", table_get(table)->column_names[change->column], "before",
                     before.text, "after", after.text, "digits",
                     ledger ? digits_json(kind_of(table), before.text, after.text) : json_null());
}

static json_t *changes_json(const struct names *names, const struct run_event *event)
{
    json_t *list = json_array();
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        enum row_table table = (enum row_table)change->table;
        if (table == TABLE_MESSAGE || trace_is_repeated(event, i)) {
            continue;
        }
        bool came = change->kind == ROW_INSERTED;
        json_array_append_new(list,
                              change->kind == ROW_UPDATED
                                  ? updated_json(names, change)
                                  : json_pack("{s:s, s:s, s:s?, s:s?, s:n}", "row",
                                              names_row(names, table, change->slot).text, "column",
                                              "row", "before", came ? NULL : "there", "after",
                                              came ? "there" : NULL, "digits"));
    }
    return list;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const char *outcome_name(const struct run_event *event)
{
    static const char *const names[] = {[OUTCOME_COMMITTED] = "committed",
                                        [OUTCOME_REFUSED] = "refused",
                                        [OUTCOME_ABORTED] = "aborted",
                                        [OUTCOME_UNKNOWN] = "unknown"};
    bool sent = event->turn == RUN_TRANSACTION && event->outcome->kind != OUTCOME_NONE;
    return sent ? names[event->outcome->kind] : NULL;
}

static void draw_event(void *context, const struct run_event *event)
{
    static const char *const turns[] = {[RUN_TRANSACTION] = "transaction",
                                        [RUN_CRASH] = "crash",
                                        [RUN_PAUSE] = "pause",
                                        [RUN_ENVIRONMENT] = "environment",
                                        [RUN_SETTLE] = "settle",
                                        [RUN_STOPS] = "stops",
                                        [RUN_WAITS] = "waits"};
    struct drawing *drawing = context;
    struct names names = {.scenario = drawing->run->scenario, .rows = event->rows};
    struct trace_words words;
    struct trace_line line = trace_describe(names.scenario, event, &words);
    if (drawing->text != NULL) {
        trace_write(drawing->text, &line, "", "");
    }
    if (json_array_size(drawing->events) == EVENTS_DRAWN_MAX) {
        drawing->too_many++;
        return;
    }
    unsigned world = drawing->run->actor_count;
    json_t *object = json_pack("{s:I, s:I, s:I, s:s, s:s, s:s?, s:s?, s:s, s:b, s:b}", "step",
                               (json_int_t)event->step, "now", (json_int_t)event->now, "lane",
                               (json_int_t)(line.actor == CHOICE_NOBODY ? world : line.actor),
                               "turn", turns[event->turn], "what", line.what, "fault",
                               event->fault == FAULT_NONE ? NULL : fault_get(event->fault)->name,
                               "outcome", outcome_name(event), "told", line.outcome, "committed",
                               event->committed, "crashed", event->crashed);
    add_queue(drawing, &names, event, object);
    json_object_set_new(object, "changes", changes_json(&names, event));
    json_object_set_new(object, "breach", json_null());
    json_array_append_new(drawing->events, object);
}

static json_t *lanes_json(const struct run *run)
{
    json_t *lanes = json_array();
    for (unsigned a = 0; a < run->actor_count; a++) {
        json_array_append_new(lanes, json_string(names_actor(run->scenario, a).text));
    }
    json_array_append_new(lanes, json_string("the world"));
    return lanes;
}

/* The run of a list of choices as data; null if it is too long to be drawn. */
static json_t *draw_run(struct run *run, const struct choice_list *choices, FILE *text)
{
    struct drawing drawing = {.run = run,
                              .events = json_array(),
                              .messages = json_array(),
                              .ids = json_object(),
                              .text = text};
    struct choice_source source = choice_listed(choices);
    run->observer = draw_event;
    run->observer_context = &drawing;
    const struct run_result *result = run_once(run, &source);
    run->observer = NULL;
    size_t count = json_array_size(drawing.events);
    if (result->verdict == RUN_BROKEN && count > 0) {
        json_object_set_new(json_array_get(drawing.events, count - 1), "breach",
                            json_string(clause_get(result->breach.clause)->id));
    }
    json_t *drawn = json_pack("{s:o, s:o, s:o}", "lanes", lanes_json(run), "messages",
                              drawing.messages, "events", drawing.events);
    json_decref(drawing.ids);
    if (drawing.too_many > 0) {
        json_decref(drawn);
        return json_null();
    }
    return drawn;
}

/* A list of choices on the schedule's scenario. */
static json_t *draw(const struct finding *finding, const struct schedule *schedule,
                    const struct choice_list *choices, FILE *text)
{
    struct run *run = calloc(1, sizeof *run);
    json_t *drawn = json_null();
    if (run != NULL &&
        run_make(run, schedule->scenario, schedule->sabotaged ? &schedule->sabotage : NULL)) {
        run->recheck_every = 1;
        memcpy(run->oracle.off, finding->without, sizeof run->oracle.off);
        memcpy(run->oracle.silent, finding->silent, sizeof run->oracle.silent);
        drawn = draw_run(run, choices, text);
        run_free(run);
    }
    free(run);
    return drawn;
}

/* The first step at which two runs do different things; null: one of them is not there. */
static json_t *parting(const json_t *breaks, const json_t *passes)
{
    const json_t *one = json_object_get(breaks, "events"),
                 *other = json_object_get(passes, "events");
    size_t count = json_array_size(one);
    for (size_t i = 0; other != NULL && i < count; i++) {
        const json_t *a = json_array_get(one, i), *b = json_array_get(other, i);
        if (b == NULL || !json_equal(json_object_get(a, "lane"), json_object_get(b, "lane")) ||
            !json_equal(json_object_get(a, "what"), json_object_get(b, "what")) ||
            !json_equal(json_object_get(a, "told"), json_object_get(b, "told"))) {
            return json_incref(json_object_get(a, "step"));
        }
    }
    return json_null();
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool put(struct artefacts *artefacts, const char *name, const char *file, const char *text,
                size_t length)
{
    char path[FINDING_NAME_SIZE + 60];
    snprintf(path, sizeof path, "findings/%s/%s", name, file);
    return artefacts_put(artefacts, path, text, length);
}

static bool put_schedule(struct artefacts *artefacts, const char *name, const char *file,
                         const struct schedule *schedule)
{
    char *text = schedule->choices.overflowed ? NULL : schedule_text(schedule);
    bool written = text == NULL || put(artefacts, name, file, text, strlen(text));
    free(text);
    return written;
}

/* The first paragraph of the story, as one line. */
static json_t *sentence(const char *words)
{
    const char *end = strstr(words, "\n\n");
    size_t length = end == NULL ? strlen(words) : (size_t)(end - words);
    char *text = strndup(words, length);
    for (char *c = text; c != NULL && *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c;
    }
    json_t *line = text == NULL ? json_null() : json_string(text);
    free(text);
    return line;
}

static json_t *draw_all(const struct finding *finding, FILE *text)
{
    const struct schedule *small = finding->shrunk == NULL ? finding->full : finding->shrunk;
    json_t *shrunk = draw(finding, small, &small->choices, text);
    json_t *full = finding->shrunk == NULL
                       ? json_null()
                       : draw(finding, finding->full, &finding->full->choices, NULL);
    json_t *passing =
        finding->passing == NULL ? json_null() : draw(finding, small, finding->passing, NULL);
    return json_pack("{s:o, s:{s:o, s:o, s:o}, s:o}", "parts_at", parting(shrunk, passing),
                     "schedules", "shrunk", shrunk, "full", full, "passing", passing, "sentence",
                     sentence(finding->words));
}

bool finding_keep(struct artefacts *artefacts, const struct finding *finding)
{
    char *trace = NULL, *json = NULL;
    size_t length = 0;
    FILE *text = open_memstream(&trace, &length);
    if (text == NULL) {
        return false;
    }
    json_t *drawn = draw_all(finding, text);
    fclose(text);
    json = json_dumps(drawn, JSON_COMPACT);
    bool kept =
        json != NULL && put(artefacts, finding->name, "finding.json", json, strlen(json)) &&
        put(artefacts, finding->name, "trace.txt", trace, length) &&
        put(artefacts, finding->name, "words.txt", finding->words, strlen(finding->words)) &&
        put_schedule(artefacts, finding->name, "schedule.json", finding->full) &&
        (finding->shrunk == NULL ||
         put_schedule(artefacts, finding->name, "shrunk.json", finding->shrunk));
    json_decref(drawn);
    free(trace);
    free(json);
    return kept;
}
