#include "verify/finding.h"

#include "model/check.h"
#include "reports/reading.h"
#include "sim/part.h"
#include "sim/teller.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_DRAWN_MAX 5000 /* a longer run is in its file, not in the page */

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
    json_t *ids;             /* of messages: by key, as text */
    json_t *texts, *indices; /* each text once; where it is, by the text */
    json_t *ledgers;         /* by kind: the fields, each with what its digits mean */
    FILE *text;              /* NULL, or where the lines of a trace go */
    size_t too_many;         /* events that were left out */
};

/* A text as its place in the list of all: a run says the same again and again. */
static json_t *text_id(struct drawing *drawing, const char *text)
{
    json_t *id = json_object_get(drawing->indices, text);
    if (id == NULL) {
        id = json_integer((json_int_t)json_array_size(drawing->texts));
        json_object_set_new(drawing->indices, text, id);
        json_array_append_new(drawing->texts, json_string(text));
    }
    return json_incref(id);
}

/* Null and false are left out: a reader takes a missing key for that. */
static void set_if(json_t *object, const char *key, bool there, json_t *value)
{
    if (there) {
        json_object_set(object, key, value);
    }
    json_decref(value);
}

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
    set_if(object, "claims", !json_is_null(claims), claims);
    set_if(object, "acks", !json_is_null(acks), acks);
    set_if(object, "publishes", json_array_size(publishes) > 0, publishes);
}

/* ---- ledgers --------------------------------------------------------------------------------- */

static enum reading_kind kind_of(const char *name)
{
    int kind = 0;
    while (strcmp(reading_kind_name((enum reading_kind)kind), name) != 0) {
        kind++;
        CHECK(kind < READING_KINDS);
    }
    return (enum reading_kind)kind;
}

/* The field of a kind of ledger, by its place among them; made if it was not met yet. */
static json_t *field_of(json_t *fields, const struct reading *reading, int place)
{
    const struct reading_field *field = &reading->parts[0].fields[place];
    json_t *known = json_array_get(fields, (size_t)place);
    if (known != NULL) {
        return known;
    }
    char name[40];
    int named = snprintf(name, sizeof name, "%s", field->name);
    if (reading->kind == READING_KEY) { /* every digit is an activity */
        snprintf(name + named, sizeof name - (size_t)named, " %d", place + 1);
    }
    json_array_append_new(fields,
                          json_pack("{s:s, s:i, s:I, s:{}}", "name", name, "from", field->first,
                                    "length", (json_int_t)strlen(field->digits), "meanings"));
    return json_array_get(fields, (size_t)place);
}

/* Notes what each digit of a ledger means, once for all ledgers of its kind: the meaning of a field
 * follows from its digits alone. */
static void note_meanings(struct drawing *drawing, enum reading_kind kind, const char *digits)
{
    static struct reading reading;
    struct text_error error;
    json_t *fields = json_object_get(drawing->ledgers, reading_kind_name(kind));
    if (!reading_make(digits, strlen(digits), kind, &reading, &error) || reading.part_count != 1) {
        return; /* a number that is no ledger has no fields */
    }
    if (fields == NULL) {
        fields = json_array();
        json_object_set_new(drawing->ledgers, reading_kind_name(kind), fields);
    }
    for (int i = 0; i < reading.parts[0].field_count; i++) {
        const struct reading_field *field = &reading.parts[0].fields[i];
        json_object_set_new(json_object_get(field_of(fields, &reading, i), "meanings"),
                            field->digits, json_string(field->meaning));
    }
}

/* What is told of a row: a cell of it, or that it came or went. NULL: it was not there then. */
struct told {
    const char *row, *column;
    const char *before, *after;
    const char *ledger; /* its kind; NULL: it is none */
};

static void add_change(struct drawing *drawing, const struct told *told, json_t *list)
{
    json_t *change =
        json_pack("{s:o, s:s}", "row", text_id(drawing, told->row), "column", told->column);
    if (told->before != NULL) {
        json_object_set_new(change, "before", json_string(told->before));
    }
    if (told->after != NULL) {
        json_object_set_new(change, "after", json_string(told->after));
    }
    if (told->ledger != NULL) {
        enum reading_kind kind = kind_of(told->ledger);
        json_object_set_new(change, "as", json_string(reading_kind_name(kind)));
        note_meanings(drawing, kind, told->before == NULL ? told->after : told->before);
        note_meanings(drawing, kind, told->after == NULL ? told->before : told->after);
    }
    json_array_append_new(list, change);
}

static const char *ledger_kind(enum row_table table, int column)
{
    const struct column *of = table_column(table, column);
    return of->kind == COLUMN_LEDGER ? column_ledger_name((enum column_ledger)of->of) : NULL;
}

static void add_update(struct drawing *drawing, const struct names *names,
                       const struct row_change *change, json_t *list)
{
    enum row_table table = (enum row_table)change->table;
    int64_t now = row_get(names->rows, table, change->slot, change->column);
    struct name row = names_row(names, table, change->slot),
                before = teller_value(names, table, change->column, change->before),
                after = teller_value(names, table, change->column, now);
    add_change(drawing,
               &(struct told){.row = row.text,
                              .column = table_get(table)->column[change->column].name,
                              .before = before.text,
                              .after = after.text,
                              .ledger = ledger_kind(table, change->column)},
               list);
}

/* A row that came or went: its ledger and what else has more to say than a number, or only that. */
static void add_row(struct drawing *drawing, const struct names *names,
                    const struct row_change *change, json_t *list)
{
    enum row_table table = (enum row_table)change->table;
    struct name row = names_row(names, table, change->slot);
    bool came = change->kind == ROW_INSERTED, any = false;
    struct told told = {.row = row.text};
    for (uint32_t column = 0; column < table_get(table)->columns; column++) {
        int64_t now = row_get(names->rows, table, change->slot, (int)column);
        told.ledger = ledger_kind(table, (int)column);
        if (told.ledger || column_value_name(table_column(table, (int)column), now) != NULL) {
            struct name value = teller_value(names, table, (int)column, now);
            told.column = table_get(table)->column[column].name;
            told.before = came ? NULL : value.text;
            told.after = came ? value.text : NULL;
            add_change(drawing, &told, list);
            any = true;
        }
    }
    if (!any) {
        told = (struct told){.row = row.text,
                             .column = "row",
                             .before = came ? NULL : "there",
                             .after = came ? "there" : NULL};
        add_change(drawing, &told, list);
    }
}

/* What is reported beside the rows: as a cell that the step left so. */
static void add_status(struct drawing *drawing, const struct names *names,
                       const struct run_event *event, json_t *list)
{
    const struct sim_part *part = sim_part_of(names->scenario->protocol);
    struct part_status status;
    if (part->status != NULL &&
        part->status(&(struct trace_effect){.names = *names, .event = event}, &status)) {
        struct name row = sim_part_status_name(names, &status);
        add_change(drawing,
                   &(struct told){
                       .row = row.text, .column = "status", .after = sim_part_status_text(&status)},
                   list);
    }
}

static json_t *changes_json(struct drawing *drawing, const struct names *names,
                            const struct run_event *event)
{
    json_t *list = json_array();
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (change->table == TABLE_MESSAGE || trace_is_repeated(event, i)) {
            continue;
        }
        if (change->kind == ROW_UPDATED) {
            add_update(drawing, names, change, list);
        } else {
            add_row(drawing, names, change, list);
        }
    }
    add_status(drawing, names, event, list);
    return list;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const char *outcome_name(const struct run_event *event)
{
    static const char *const names[] = {[OUTCOME_COMMITTED] = "committed",
                                        [OUTCOME_REFUSED] = "refused",
                                        [OUTCOME_ABORTED] = "aborted",
                                        [OUTCOME_UNKNOWN] = "unknown"};
    bool sent = (event->turn == RUN_TRANSACTION || event->turn == RUN_LANDS) &&
                event->outcome->kind != OUTCOME_NONE;
    return sent ? names[event->outcome->kind] : NULL;
}

static const char *turn_name(const struct run_event *event)
{
    static const char *const turns[] = {[RUN_TRANSACTION] = "transaction",
                                        [RUN_CRASH] = "crash",
                                        [RUN_PAUSE] = "pause",
                                        [RUN_ENVIRONMENT] = "environment",
                                        [RUN_SETTLE] = "settle",
                                        [RUN_STOPS] = "stops",
                                        [RUN_WAITS] = "waits",
                                        [RUN_LANDS] = "lands"};
    return turns[event->turn];
}

/* Its members that are not null, false or empty; a turn that is not told is a transaction. */
static json_t *event_json(struct drawing *drawing, const struct run_event *event,
                          const struct trace_line *line)
{
    struct names names = {.scenario = drawing->run->scenario, .rows = event->rows};
    unsigned lane = line->actor == CHOICE_NOBODY              ? drawing->run->actor_count
                    : line->actor == run_former(drawing->run) ? drawing->run->actor_count + 1
                                                              : line->actor;
    const char *outcome = outcome_name(event);
    json_t *object = json_pack("{s:I, s:I, s:I, s:o}", "step", (json_int_t)event->step, "now",
                               (json_int_t)event->now, "lane", (json_int_t)lane, "what",
                               text_id(drawing, line->what));
    if (event->turn != RUN_TRANSACTION) {
        json_object_set_new(object, "turn", json_string(turn_name(event)));
    }
    if (event->fault != FAULT_NONE) {
        json_object_set_new(object, "fault", json_string(fault_get(event->fault)->name));
    }
    if (outcome != NULL) {
        json_object_set_new(object, "outcome", json_string(outcome));
    }
    if (line->outcome[0] != '\0') {
        json_object_set_new(object, "told", text_id(drawing, line->outcome));
    }
    set_if(object, "committed", event->committed, json_true());
    set_if(object, "crashed", event->crashed, json_true());
    add_queue(drawing, &names, event, object);
    json_t *changes = changes_json(drawing, &names, event);
    set_if(object, "changes", json_array_size(changes) > 0, changes);
    return object;
}

static void draw_event(void *context, const struct run_event *event)
{
    struct drawing *drawing = context;
    struct trace_words words;
    struct trace_line line = trace_describe(drawing->run->scenario, event, &words);
    if (drawing->text != NULL) {
        trace_write(drawing->text, &line, "", "");
    }
    if (json_array_size(drawing->events) == EVENTS_DRAWN_MAX) {
        drawing->too_many++;
        return;
    }
    json_array_append_new(drawing->events, event_json(drawing, event, &line));
}

static json_t *lanes_json(const struct run *run)
{
    json_t *lanes = json_array();
    for (unsigned a = 0; a < run->actor_count; a++) {
        json_array_append_new(lanes, json_string(names_actor(run->scenario, a).text));
    }
    json_array_append_new(lanes, json_string("the world"));
    if (run->former.there || run->former.before > 0) { /* there was one, and it did something */
        json_array_append_new(lanes, json_string("former self"));
    }
    return lanes;
}

/* The run of a list of choices as data; of one that is too long, only its steps. */
static json_t *draw_run(struct run *run, const struct choice_list *choices, FILE *text)
{
    struct drawing drawing = {.run = run,
                              .events = json_array(),
                              .messages = json_array(),
                              .ids = json_object(),
                              .texts = json_array(),
                              .indices = json_object(),
                              .ledgers = json_object(),
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
    json_decref(drawing.ids);
    json_decref(drawing.indices);
    json_t *drawn = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "steps",
                              (json_int_t)count + (json_int_t)drawing.too_many, "lanes",
                              lanes_json(run), "messages", drawing.messages, "texts", drawing.texts,
                              "ledgers", drawing.ledgers, "events", drawing.events);
    if (drawing.too_many > 0) {
        json_object_del(drawn, "events");
    }
    return drawn;
}

/* A list of choices on the schedule's scenario; null: there is no memory. */
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

static const char *text_of(const json_t *drawn, const json_t *event, const char *key)
{
    const json_t *index = json_object_get(event, key);
    const char *text = index == NULL
                           ? NULL
                           : json_string_value(json_array_get(json_object_get(drawn, "texts"),
                                                              (size_t)json_integer_value(index)));
    return text == NULL ? "" : text;
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
            strcmp(text_of(breaks, a, "what"), text_of(passes, b, "what")) != 0 ||
            strcmp(text_of(breaks, a, "told"), text_of(passes, b, "told")) != 0) {
            return json_incref(json_object_get(a, "step"));
        }
    }
    return json_null();
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool put_schedule(struct artefacts *artefacts, const char *name, const char *file,
                         const struct schedule *schedule)
{
    char *text = schedule->choices.overflowed ? NULL : schedule_text(schedule);
    bool written = text == NULL || artefacts_put_finding(artefacts, name, file, text, strlen(text));
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

/* The schedules that can be looked at; `left_out` says of every other why there is none, and in
 * which file its run is. */
static void add_schedule(json_t *drawn, const char *name, json_t *schedule, const char *file,
                         const char *missing)
{
    char why[80];
    bool is_there = json_is_object(schedule);
    bool fits = json_object_get(schedule, "events") != NULL;
    json_object_set(json_object_get(drawn, "schedules"), name, fits ? schedule : json_null());
    snprintf(why, sizeof why, "it has more than %d steps", EVENTS_DRAWN_MAX);
    if (!fits) {
        json_t *steps = json_object_get(schedule, "steps");
        json_array_append_new(json_object_get(drawn, "left_out"),
                              json_pack("{s:s, s:s, s:O*, s:s*}", "schedule", name, "why",
                                        is_there ? why : missing, "steps", steps, "file",
                                        is_there ? file : NULL));
    }
    json_decref(schedule);
}

static json_t *draw_all(const struct finding *finding, FILE *text)
{
    const struct schedule *small = finding->shrunk == NULL ? finding->full : finding->shrunk;
    json_t *first = draw(finding, small, &small->choices, text);
    json_t *full = finding->shrunk == NULL
                       ? json_incref(first)
                       : draw(finding, finding->full, &finding->full->choices, NULL);
    json_t *passing =
        finding->passing == NULL ? json_null() : draw(finding, small, finding->passing, NULL);
    json_t *drawn = json_pack("{s:o, s:o, s:{}, s:[]}", "sentence", sentence(finding->words),
                              "parts_at", parting(first, passing), "schedules", "left_out");
    add_schedule(drawn, "shrunk", finding->shrunk == NULL ? json_null() : json_incref(first),
                 "shrunk.json", "it was not made smaller");
    add_schedule(drawn, "full", full, "schedule.json", "there was no memory to draw it");
    add_schedule(drawn, "passing", passing, NULL,
                 finding->shrunk == NULL ? "one is looked for where a schedule is made smaller"
                                         : "none that differs by one choice was found");
    json_decref(first);
    return drawn;
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
    const char *name = finding->name;
    bool kept = json != NULL &&
                artefacts_put_finding(artefacts, name, "finding.json", json, strlen(json)) &&
                artefacts_put_finding(artefacts, name, "trace.txt", trace, length) &&
                artefacts_put_finding(artefacts, name, "words.txt", finding->words,
                                      strlen(finding->words)) &&
                put_schedule(artefacts, name, "schedule.json", finding->full) &&
                (finding->shrunk == NULL ||
                 put_schedule(artefacts, name, "shrunk.json", finding->shrunk)) &&
                artefacts_place_finding(artefacts, name);
    json_decref(drawn);
    free(trace);
    free(json);
    return kept;
}
