#include "sim/story.h"

#include "sim/part.h"
#include "sim/teller.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX    (RUN_ACTORS_MAX + 1) /* the actors and the world */
#define TABLE_WIDTH    100
#define STEP_WIDTH     7
#define CLIENT_WIDTH   14
#define CELL_WIDTH     20 /* at least, and a column's own gap of 2 within */
#define CELL_WIDE      44 /* at most */
#define SENTENCE_SIZE  1000
#define NEIGHBOURS_MAX 4000 /* passing lists that are tried */

/* ---- the sentence ---------------------------------------------------------------------------- */

/* The change that the last event made to this cell or row; NULL: none. */
const struct trace_change *story_change(const struct story_telling *telling, enum row_table table,
                                        uint32_t slot, int column)
{
    const struct trace_record *last = telling->last;
    for (size_t i = 0; i < last->change_count; i++) {
        const struct trace_change *change = &last->changes[i];
        bool cell = change->kind != ROW_UPDATED || column < 0 || change->column == column;
        if (change->table == table && change->slot == slot && cell) {
            return change;
        }
    }
    return NULL;
}

/* ", the GUID ledger of left went from ... to ..." */
static void tell_move(const struct story_telling *telling, const char *of, const char *row,
                      const struct trace_change *change, char *out, size_t size)
{
    enum row_table table = (enum row_table)change->table;
    snprintf(out, size, ", %s%s went from %s to %s", of, row,
             teller_value(&telling->names, table, change->column, change->before).text,
             teller_value(&telling->names, table, change->column, change->after).text);
}

/* The changes of the row that the finding is about. */
static void tell_numbers(const struct story_telling *telling, char *out, size_t size)
{
    enum row_table table = (enum row_table)telling->result.breach_table;
    uint32_t slot = telling->result.breach_slot;
    if (slot == ROW_NONE || slot >= telling->names.rows->table[table].used) {
        out[0] = '\0';
        return;
    }
    int column = teller_quoted(table);
    const char *the = table_words(table)->the == NULL ? "the " : table_words(table)->the;
    struct name row = names_row(&telling->names, table, slot);
    const struct trace_change *change = story_change(telling, table, slot, column);
    bool quoted = column >= 0;
    int64_t now = quoted ? row_get(telling->names.rows, table, slot, column) : 0;
    if (change != NULL && change->kind == ROW_UPDATED && quoted) {
        tell_move(telling, the, row.text, change, out, size);
    } else if (change != NULL && change->kind == ROW_DELETED) {
        snprintf(out, size, ", %s%s was %s", the, row.text,
                 table == TABLE_MESSAGE ? "acked" : "taken away");
    } else if (quoted) {
        snprintf(out, size, ", %s%s reads %s", the, row.text,
                 teller_value(&telling->names, table, column, now).text);
    } else if (change != NULL && change->kind == ROW_UPDATED) {
        char of[60];
        snprintf(of, sizeof of, "the %.40s of ", table_get(table)->column[change->column].name);
        tell_move(telling, of, row.text, change, out, size);
    } else {
        snprintf(out, size, "; it is about %s%s", the, row.text);
    }
}

/* The protocol's further remark on the last event, if it has one. */
static void tell_also(const struct story_telling *telling, char *out, size_t size)
{
    const struct sim_part *part = telling->run->part;
    out[0] = '\0';
    if (part->also != NULL && !telling->result.settled) {
        part->also(telling, out, size);
    }
}

/* The actor and the step that broke it. */
static void tell_who(const struct story_telling *telling, char *out, size_t size)
{
    const struct trace_line *line = &telling->last->line;
    if (telling->result.settled) {
        snprintf(out, size, "after faults had stopped");
    } else if (line->turn == RUN_ENVIRONMENT) {
        snprintf(out, size, "at step %" PRIu32 ", when %s", line->step, line->what);
    } else {
        snprintf(out, size, "at step %" PRIu32 ", with %s by %s%s", line->step, line->what,
                 line->who, line->committed ? "" : ", which did not commit");
    }
}

static void tell_sentence(const struct story_telling *telling)
{
    char who[300], numbers[400], also[160], sentence[SENTENCE_SIZE];
    tell_who(telling, who, sizeof who);
    tell_also(telling, also, sizeof also);
    tell_numbers(telling, numbers, sizeof numbers);
    snprintf(sentence, sizeof sentence, "%s: %s%s%s.", telling->result.breach.why, who, numbers,
             also);
    sentence[0] = (char)toupper((unsigned char)sentence[0]);
    fputs(telling->style->alarm, telling->out);
    telling->style->wrapped(telling->out, sentence, 0);
    fputs(telling->style->plain, telling->out);
}

static void tell_clause(const struct story_telling *telling)
{
    const struct clause *clause = clause_get(telling->result.breach.clause);
    int indent = fprintf(telling->out, "\n  breaks     %s  ", clause->id) - 1;
    telling->style->wrapped(telling->out, clause->promise, indent);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

/* Events first .. last of one row of the table. */
struct row {
    size_t first, last;
    bool mixed; /* of several actors */
};

struct chart {
    struct row *rows;
    size_t count;
    unsigned column[COLUMNS_MAX]; /* by actor, the world last: 1 + its column; 0: it has none */
    unsigned columns;
    int width; /* of a column; the client's, which creates jobs and nothing else, is narrower */
    int client_width;
};

static unsigned actor_index(const struct trace_line *line)
{
    return line->actor < RUN_ACTORS_MAX ? line->actor : RUN_ACTORS_MAX;
}

/* The last event that may be summarised together with `first`. */
static size_t end_of_quiet(const struct trace *trace, size_t first, bool mixed)
{
    size_t end = first;
    size_t bound = trace->count - STORY_ROWS_LAST;
    while (end + 1 < bound && trace->records[end + 1].line.usual &&
           (mixed || trace->records[end + 1].line.actor == trace->records[first].line.actor)) {
        end++;
    }
    return end;
}

static bool of_several(const struct trace *trace, size_t first, size_t last)
{
    for (size_t i = first + 1; i <= last; i++) {
        if (trace->records[i].line.actor != trace->records[first].line.actor) {
            return true;
        }
    }
    return false;
}

/* One row an event; where events are summarised, at least three, and only usual ones. */
static void fill_rows(const struct trace *trace, bool together, bool mixed, struct chart *table)
{
    table->count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        struct row row = {.first = i, .last = i};
        if (together && i + STORY_ROWS_LAST < trace->count && trace->records[i].line.usual) {
            size_t end = end_of_quiet(trace, i, mixed);
            row.last = end >= i + 2 ? end : i;
            row.mixed = of_several(trace, i, row.last);
        }
        table->rows[table->count++] = row;
        i = row.last;
    }
}

static void fill_columns(const struct trace *trace, struct chart *table)
{
    for (size_t i = 0; i < trace->count; i++) {
        table->column[actor_index(&trace->records[i].line)] = 1;
    }
    for (unsigned a = 0; a < COLUMNS_MAX; a++) {
        table->column[a] = table->column[a] != 0 ? ++table->columns : 0;
    }
    bool client = table->column[0] != 0;
    int others = (int)table->columns - client;
    int width =
        (TABLE_WIDTH - STEP_WIDTH - (client ? CLIENT_WIDTH : 0)) / (others > 0 ? others : 1);
    table->client_width = client ? CLIENT_WIDTH : 0;
    table->width = width < CELL_WIDTH ? CELL_WIDTH : width > CELL_WIDE ? CELL_WIDE : width;
}

/* Where a column begins, counted from 1. */
static int column_start(const struct chart *table, unsigned column)
{
    if (column == 1 || table->client_width == 0) {
        return STEP_WIDTH + (int)(column - 1) * table->width;
    }
    return STEP_WIDTH + table->client_width + (int)(column - 2) * table->width;
}

/* The end of the words that fit in `width`, at least one word. */
static size_t fitting(const char *text, size_t width)
{
    size_t end = 0, next = strcspn(text, " ");
    while (next <= width && text[end] != '\0') {
        end = next;
        next += strspn(text + next, " ");
        next += strcspn(text + next, " ");
        if (next == end) {
            break;
        }
    }
    return end == 0 ? next : end;
}

/* Writes a cell in its column, in as many lines as it needs; a wide one may cross other columns. */
static void story_write_cell(const struct story_telling *telling, const struct chart *table,
                             unsigned column, const char *text, bool alarming, bool wide)
{
    int indent = column_start(table, column);
    int next = column_start(table, column + 1) - 2;
    bool last = column == table->columns;
    size_t width =
        (size_t)((wide || last) && next < TABLE_WIDTH ? TABLE_WIDTH - indent : next - indent);
    fprintf(telling->out, "%*s", indent - STEP_WIDTH, "");
    for (bool first = true; *text != '\0'; first = false) {
        size_t end = fitting(text, first ? width : width - 2);
        fprintf(telling->out, "%*s%s%.*s%s\n", first ? 0 : indent + 2, "",
                alarming ? telling->style->alarm : "", (int)end, text,
                alarming ? telling->style->plain : "");
        text += end;
        text += strspn(text, " ");
    }
}

static void write_head(const struct story_telling *telling, const struct chart *table)
{
    fprintf(telling->out, "%s%*s  ", telling->style->strong, STEP_WIDTH - 2, "step");
    for (unsigned a = 0; a < COLUMNS_MAX; a++) {
        if (table->column[a] != 0) {
            unsigned column = table->column[a];
            int width = column_start(table, column + 1) - column_start(table, column);
            fprintf(
                telling->out, "%-*s", column == table->columns ? 0 : width,
                names_actor(telling->run->scenario, a < RUN_ACTORS_MAX ? a : CHOICE_NOBODY).text);
        }
    }
    fprintf(telling->out, "%s\n", telling->style->plain);
}

static void append(char *out, size_t size, const char *text)
{
    strncat(out, text, size - strlen(out) - 1);
}

/* Summarises the events of one message: "Leg2 up to Step 1". Returns the first event of another
 * one. */
static size_t append_leg(const struct sim_part *part, const struct trace *trace, size_t from,
                         size_t last, char *out, size_t size)
{
    const struct trace_line *first = &trace->records[from].line;
    size_t i = from;
    while (i < last && strcmp(trace->records[i + 1].line.subject, first->subject) == 0 &&
           trace->records[i + 1].line.leg == first->leg) {
        i++;
    }
    const struct trace_line *end = &trace->records[i].line;
    append(out, size, part->kind == NULL ? "message" : part->kind(first->leg));
    if (first->bundle != BUNDLE_CLAIM) {
        append(out, size, " from ");
        append(out, size, bundle_name_text(first->bundle));
        append(out, size, " on");
    }
    if (!bundle_has(end->bundle, TRAIT_ACKS)) {
        append(out, size, i == from ? " " : " up to ");
        append(out, size, bundle_name_text(end->bundle));
    }
    return i + 1;
}

/* "... 9 transactions: trigger's Leg1, task, Leg2 up to Step 1" */
static void summarise(const struct trace *trace, const struct row *row, char *out, size_t size)
{
    const char *subject = NULL;
    snprintf(out, size, "... %zu transactions%s", row->last - row->first + 1,
             row->mixed ? " in which nothing unusual happened" : ":");
    for (size_t i = row->first; i <= row->last && !row->mixed;) {
        const struct trace_line *line = &trace->records[i].line;
        if (line->leg == 0) {
            append(out, size, subject == NULL ? " " : ", ");
            append(out, size, line->what);
            subject = "";
            i++;
            continue;
        }
        bool same = subject != NULL && strcmp(subject, line->subject) == 0;
        append(out, size, same ? ", " : subject == NULL ? " " : "; ");
        append(out, size, same ? "" : line->subject);
        append(out, size, same ? "" : "'s ");
        subject = line->subject;
        i = append_leg(sim_part_of(trace->scenario->protocol), trace, i, row->last, out, size);
    }
}

static void story_write_row(const struct story_telling *telling, const struct chart *table,
                            const struct row *row)
{
    const struct trace_line *line = &telling->trace.records[row->first].line;
    bool breaks = row->last + 1 == telling->trace.count && !telling->result.settled;
    unsigned column = table->column[actor_index(line)];
    char text[600];
    fprintf(telling->out, "%*" PRIu32 "  ", STEP_WIDTH - 2, line->step);
    if (row->first < row->last) {
        summarise(&telling->trace, row, text, sizeof text);
        story_write_cell(telling, table, row->mixed ? 1 : column, text, false, row->mixed);
        return;
    }
    bool quiet = line->usual || line->outcome[0] == '\0';
    snprintf(text, sizeof text, "%s%s%s", line->what, quiet ? "" : ": ",
             quiet ? "" : line->outcome);
    if (breaks) {
        append(text, sizeof text, " <- here ");
        append(text, sizeof text, clause_get(telling->result.breach.clause)->id);
        append(text, sizeof text, " breaks");
    }
    story_write_cell(telling, table, column, text, !line->usual || breaks, false);
}

static bool tell_schedule(const struct story_telling *telling, const char *about)
{
    const struct trace *trace = &telling->trace;
    struct chart table = {.rows = calloc(trace->count, sizeof *table.rows)};
    if (table.rows == NULL) {
        return false;
    }
    fill_rows(trace, trace->count > STORY_ROWS_MAX, false, &table);
    if (table.count > STORY_ROWS_MAX) {
        fill_rows(trace, true, true, &table);
    }
    fill_columns(trace, &table);
    fprintf(telling->out, "\n%sthe schedule%s%s%s\n", telling->style->strong, telling->style->plain,
            about == NULL ? "" : ", ", about == NULL ? "" : about);
    write_head(telling, &table);
    for (size_t i = 0; i < table.count; i++) {
        story_write_row(telling, &table, &table.rows[i]);
    }
    free(table.rows);
    return true;
}

/* ---- the nearest schedule that passes -------------------------------------------------------- */

static const struct run_result *run_list(struct run *run, const struct choice_list *list)
{
    struct choice_source source = choice_listed(list);
    return run_once(run, &source);
}

/* A copy of the list without one entry. */
static void story_leave_out(const struct choice_list *list, size_t index, struct choice_list *out)
{
    out->count = list->count - 1;
    memcpy(out->items, list->items, index * sizeof *out->items);
    memcpy(out->items + index, list->items + index + 1,
           (list->count - index - 1) * sizeof *out->items);
}

/* Tries to leave one entry out, from the last on, faults first: lists are sorted with faults after
 * the order of actors. */
static bool find_passing(struct run *run, const struct choice_list *list, struct choice_list *out)
{
    run->observer = NULL;
    for (size_t i = list->count; i > 0 && list->count - i < NEIGHBOURS_MAX; i--) {
        story_leave_out(list, i - 1, out);
        if (run_list(run, out)->verdict == RUN_HELD) {
            return true;
        }
    }
    return false;
}

/* Shows the changes only if nothing else distinguishes the two events. */
static void write_parting(const struct story_telling *telling, const char *label,
                          const struct trace_record *record, bool changes)
{
    if (record == NULL) {
        fprintf(telling->out, "  %s  is over\n", label);
        return;
    }
    const struct trace_line *line = &record->line;
    fprintf(telling->out, "  %s  %s  %s%s%s%s%s\n", label, line->who, line->what,
            line->outcome[0] == '\0' ? "" : ": ", line->outcome, changes ? "  " : "",
            changes ? line->effect : "");
}

static bool read_alike(const struct trace_record *a, const struct trace_record *b)
{
    return a != NULL && b != NULL && a->line.actor == b->line.actor &&
           strcmp(a->line.what, b->line.what) == 0 && strcmp(a->line.outcome, b->line.outcome) == 0;
}

static void tell_parting(const struct story_telling *telling, const struct trace *other)
{
    const struct trace *trace = &telling->trace;
    size_t i = 0;
    while (i < trace->count && i < other->count &&
           trace->records[i].line.digest == other->records[i].line.digest) {
        i++;
    }
    const struct trace_record *here = i < trace->count ? &trace->records[i] : NULL;
    const struct trace_record *there = i < other->count ? &other->records[i] : NULL;
    uint32_t step = here != NULL ? here->line.step : there != NULL ? there->line.step : 0;
    bool faulty = here != NULL && here->line.fault != FAULT_NONE;
    if (faulty) {
        fprintf(telling->out, "Without the %s at step %" PRIu32 " everything holds; ",
                fault_get(here->line.fault)->name, step);
    } else {
        fputs("Everything holds if one choice is another; ", telling->out);
    }
    fprintf(telling->out, "the two runs part at step %" PRIu32 ":\n", step);
    write_parting(telling, "breaks", here, read_alike(here, there));
    write_parting(telling, "passes", there, read_alike(here, there));
}

/* The schedule that breaks, or the one that passes; NULL: there is none. */
static const struct run_result *play(struct run *run, const struct story *story,
                                     const struct choice_list *list, bool passing)
{
    return story->play == NULL ? run_list(run, list) : story->play(story->context, run, passing);
}

/* False: the schedule does not pass. */
static bool tell_neighbour(const struct story_telling *telling, const struct story *story,
                           const struct choice_list *passing)
{
    struct trace other = trace_begin(telling->run->scenario);
    telling->run->observer = trace_observe;
    telling->run->observer_context = &other;
    const struct run_result *result = play(telling->run, story, passing, true);
    bool passes = result != NULL && result->verdict == RUN_HELD && !other.failed;
    if (passes) {
        tell_parting(telling, &other);
    }
    trace_free(&other);
    return passes;
}

static void tell_nearest(const struct story_telling *telling, const struct story *story)
{
    const struct choice_list *list = story->choices;
    fprintf(telling->out, "\n%sthe nearest schedule that passes%s\n", telling->style->strong,
            telling->style->plain);
    if (story->passing != NULL || story->play != NULL) {
        if (!tell_neighbour(telling, story, story->passing)) {
            fputs("None was found.\n", telling->out);
        }
        return;
    }
    struct choice_list found = {.items = calloc(list->count + 1, sizeof *found.items)};
    if (found.items != NULL && find_passing(telling->run, list, &found)) {
        tell_neighbour(telling, story, &found);
    } else if (run_list(telling->run, NULL)->verdict == RUN_HELD) {
        fputs("None differs by one choice only.\n", telling->out);
    } else {
        fputs("There is none near: it breaks even without any fault, in the plainest order.\n",
              telling->out);
    }
    free(found.items);
}

/* ---- the story ------------------------------------------------------------------------------- */

static bool tell_all(struct story_telling *telling, const struct story *story)
{
    telling->run->observer = trace_observe;
    telling->run->observer_context = &telling->trace;
    telling->result = *play(telling->run, story, story->choices, false);
    if (telling->result.verdict != RUN_BROKEN || telling->trace.failed ||
        telling->trace.count == 0) {
        return false;
    }
    telling->last = &telling->trace.records[telling->trace.count - 1];
    tell_sentence(telling);
    tell_clause(telling);
    fprintf(telling->out, "  reproduce  %s\n", story->reproduce);
    bool told = tell_schedule(telling, story->about);
    if (telling->run->part->ledgers != NULL) {
        telling->run->part->ledgers(telling);
    }
    tell_nearest(telling, story);
    return told;
}

bool story_tell(FILE *out, const struct story_style *style, struct run *run,
                const struct story *story)
{
    struct story_telling telling = {.out = out,
                                    .style = style,
                                    .run = run,
                                    .trace = trace_begin(run->scenario),
                                    .names = {.scenario = run->scenario, .rows = &run->world.rows}};
    struct oracle oracle = run->oracle;
    run_observer *observer = run->observer;
    void *context = run->observer_context;
    bool told = tell_all(&telling, story);
    trace_free(&telling.trace);
    memcpy(run->oracle.evaluated, oracle.evaluated, sizeof oracle.evaluated);
    memcpy(run->oracle.seen, oracle.seen, sizeof oracle.seen);
    run->observer = observer;
    run->observer_context = context;
    return told;
}
