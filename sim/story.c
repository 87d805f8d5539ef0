#include "sim/story.h"

#include "model/digits.h"
#include "model/ledger.h"
#include "sim/trace.h"

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
#define SENTENCE_SIZE  700
#define NEIGHBOURS_MAX 4000 /* lists that are tried in search of one that passes */

/* What the parts of a story have in common. */
struct telling {
    FILE *out;
    const struct story_style *style;
    struct run *run;
    struct run_result result;
    struct trace trace;              /* of the run that breaks */
    const struct trace_record *last; /* its last event */
    struct names names;
};

/* ---- the sentence ---------------------------------------------------------------------------- */

/* The change that the last event made to this cell or row; NULL: none. */
static const struct trace_change *change_of(const struct telling *telling, enum row_table table,
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

/* The column of a table that a sentence quotes; -1: none. */
static int quoted_column(enum row_table table)
{
    return table == TABLE_JOB        ? JOB_SEMAPHORE
           : table == TABLE_ACTIVITY ? ACTIVITY_LEDGER
           : table == TABLE_GUID     ? GUID_LEDGER
                                     : -1;
}

static struct trace_digits quote(enum row_table table, int64_t value)
{
    struct trace_digits digits = trace_ledger(value);
    if (table == TABLE_JOB) {
        snprintf(digits.text, sizeof digits.text, "%" PRId64, value);
    }
    return digits;
}

/* "the GUID ledger of left went from ... to ...": what became of the row it is about. */
static void tell_numbers(const struct telling *telling, char *out, size_t size)
{
    enum row_table table = (enum row_table)telling->result.breach_table;
    uint32_t slot = telling->result.breach_slot;
    if (slot == ROW_NONE || slot >= telling->names.rows->table[table].used) {
        out[0] = '\0';
        return;
    }
    int column = quoted_column(table);
    struct name row = names_row(&telling->names, table, slot);
    const char *the = table == TABLE_JOB       ? "the semaphore of the "
                      : table == TABLE_MESSAGE ? "the message "
                                               : "the ";
    const struct trace_change *change = change_of(telling, table, slot, column);
    int64_t now = column < 0 ? 0 : row_get(telling->names.rows, table, slot, column);
    if (change != NULL && change->kind == ROW_UPDATED && column >= 0) {
        snprintf(out, size, ", %s%s went from %s to %s", the, row.text,
                 quote(table, change->before).text, quote(table, change->after).text);
    } else if (change != NULL && change->kind == ROW_DELETED) {
        snprintf(out, size, ", %s%s was %s", the, row.text,
                 table == TABLE_MESSAGE ? "acked" : "taken away");
    } else if (column >= 0) {
        snprintf(out, size, ", %s%s reads %s", the, row.text, quote(table, now).text);
    } else {
        snprintf(out, size, "; it is about %s%s", the, row.text);
    }
}

/* Where the semaphore went, if the row it is about is another. */
static void tell_semaphore(const struct telling *telling, char *out, size_t size)
{
    const struct trace_record *last = telling->last;
    out[0] = '\0';
    for (size_t i = 0; i < last->change_count; i++) {
        const struct trace_change *change = &last->changes[i];
        if (change->table == TABLE_JOB && change->kind == ROW_UPDATED &&
            change->column == JOB_SEMAPHORE && telling->result.breach_table != TABLE_JOB &&
            !telling->result.settled) {
            snprintf(out, size, " and the semaphore from %" PRId64 " to %" PRId64, change->before,
                     change->after);
        }
    }
}

/* Who broke it, and when. */
static void tell_who(const struct telling *telling, char *out, size_t size)
{
    const struct trace_line *line = &telling->last->line;
    if (telling->result.settled) {
        snprintf(out, size, "after faults had stopped and all work that was left was done");
    } else if (line->turn == RUN_ENVIRONMENT) {
        snprintf(out, size, "at step %" PRIu32 ", when %s", line->step, line->what);
    } else {
        snprintf(out, size, "at step %" PRIu32 ", with %s by %s%s", line->step, line->what,
                 names_actor(line->actor).text, line->committed ? "" : ", which did not commit");
    }
}

static void tell_sentence(const struct telling *telling)
{
    char who[300], numbers[200], also[160], sentence[SENTENCE_SIZE];
    tell_who(telling, who, sizeof who);
    tell_semaphore(telling, also, sizeof also);
    tell_numbers(telling, numbers, sizeof numbers);
    snprintf(sentence, sizeof sentence, "%s: %s%s%s.", telling->result.breach.why, who, numbers,
             also);
    sentence[0] = (char)toupper((unsigned char)sentence[0]);
    fputs(telling->style->alarm, telling->out);
    telling->style->wrapped(telling->out, sentence, 0);
    fputs(telling->style->plain, telling->out);
}

static void tell_clause(const struct telling *telling)
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

struct table {
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

/* The last event that may be told together with `first`. */
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

/* One row an event; where events are told together, three at least and none that is not usual. */
static void fill_rows(const struct trace *trace, bool together, bool mixed, struct table *table)
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

static void fill_columns(const struct trace *trace, struct table *table)
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
static int column_start(const struct table *table, unsigned column)
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

/* A cell, in as many lines as it needs, in its column; a wide one may cross the others. */
static void write_cell(const struct telling *telling, const struct table *table, unsigned column,
                       const char *text, bool alarming, bool wide)
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

static void write_head(const struct telling *telling, const struct table *table)
{
    fprintf(telling->out, "%s%*s  ", telling->style->strong, STEP_WIDTH - 2, "step");
    for (unsigned a = 0; a < COLUMNS_MAX; a++) {
        if (table->column[a] != 0) {
            unsigned column = table->column[a];
            int width = column_start(table, column + 1) - column_start(table, column);
            fprintf(telling->out, "%-*s", column == table->columns ? 0 : width,
                    names_actor(a < RUN_ACTORS_MAX ? a : CHOICE_NOBODY).text);
        }
    }
    fprintf(telling->out, "%s\n", telling->style->plain);
}

static void append(char *out, size_t size, const char *text)
{
    strncat(out, text, size - strlen(out) - 1);
}

/* Events of one message: "Leg2 up to Step 1". Returns the first event that is of another. */
static size_t append_leg(const struct trace *trace, size_t from, size_t last, char *out,
                         size_t size)
{
    static const char *const legs[] = {"", "Leg1", "task", "Leg2"};
    const struct trace_line *first = &trace->records[from].line;
    size_t i = from;
    while (i < last && strcmp(trace->records[i + 1].line.subject, first->subject) == 0 &&
           trace->records[i + 1].line.leg == first->leg) {
        i++;
    }
    const struct trace_line *end = &trace->records[i].line;
    append(out, size, legs[first->leg]);
    if (first->bundle != BUNDLE_CLAIM) {
        append(out, size, " from ");
        append(out, size, bundle_name_text(first->bundle));
        append(out, size, " on");
    }
    if (end->bundle != BUNDLE_ACK) {
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
        i = append_leg(trace, i, row->last, out, size);
    }
}

static void write_row(const struct telling *telling, const struct table *table,
                      const struct row *row)
{
    const struct trace_line *line = &telling->trace.records[row->first].line;
    bool breaks = row->last + 1 == telling->trace.count && !telling->result.settled;
    unsigned column = table->column[actor_index(line)];
    char text[600];
    fprintf(telling->out, "%*" PRIu32 "  ", STEP_WIDTH - 2, line->step);
    if (row->first < row->last) {
        summarise(&telling->trace, row, text, sizeof text);
        write_cell(telling, table, row->mixed ? 1 : column, text, false, row->mixed);
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
    write_cell(telling, table, column, text, !line->usual || breaks, false);
}

static bool tell_schedule(const struct telling *telling, const char *about)
{
    const struct trace *trace = &telling->trace;
    struct table table = {.rows = calloc(trace->count, sizeof *table.rows)};
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
        write_row(telling, &table, &table.rows[i]);
    }
    free(table.rows);
    return true;
}

/* ---- ledgers --------------------------------------------------------------------------------- */

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

/* The rows whose ledgers a reader wants to see. */
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

/* The ledgers that the last event wrote; what is known of the row itself comes over them. */
static void about_last(const struct telling *telling, struct about *about)
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

/* Of a row that has no ledger of its own, the ledgers of what it belongs to. */
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

static struct about about_row(const struct telling *telling)
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

static void tell_job(const struct telling *telling, uint32_t slot)
{
    const struct rows *rows = telling->names.rows;
    struct name name = names_row(&telling->names, TABLE_JOB, slot);
    const struct trace_change *change = change_of(telling, TABLE_JOB, slot, JOB_SEMAPHORE);
    fprintf(telling->out, "  %s: semaphore ", name.text);
    if (change != NULL && change->kind == ROW_UPDATED) {
        fprintf(telling->out, "%" PRId64 " -> ", change->before);
    }
    fprintf(telling->out, "%" PRId64 ", threshold %" PRId64 ", %s\n",
            row_get(rows, TABLE_JOB, slot, JOB_SEMAPHORE),
            row_get(rows, TABLE_JOB, slot, JOB_THRESHOLD),
            row_get(rows, TABLE_JOB, slot, JOB_STATE) == JOB_COMPLETE ? "complete" : "active");
}

static void tell_ledger(const struct telling *telling, enum row_table table, uint32_t slot)
{
    int column = quoted_column(table);
    int64_t after = row_get(telling->names.rows, table, slot, column);
    const struct trace_change *change = change_of(telling, table, slot, column);
    bool inserted = change != NULL && change->kind == ROW_INSERTED;
    fprintf(telling->out, "  %s%s\n", names_row(&telling->names, table, slot).text,
            inserted ? ", which was not there before" : "");
    int64_t before = change != NULL && change->kind == ROW_UPDATED ? change->before : after;
    story_ledger(telling->out, telling->style, table == TABLE_GUID, before, after);
}

static void tell_ledgers(const struct telling *telling)
{
    struct about about = about_row(telling);
    if (about.job == ROW_NONE && about.guid == ROW_NONE && about.activity == ROW_NONE) {
        return;
    }
    fprintf(telling->out, "\n%sthe ledgers%s, before and after step %" PRIu32 "\n",
            telling->style->strong, telling->style->plain, telling->last->line.step);
    if (about.job != ROW_NONE) {
        tell_job(telling, about.job);
    }
    if (about.guid != ROW_NONE) {
        tell_ledger(telling, TABLE_GUID, about.guid);
    }
    if (about.activity != ROW_NONE) {
        tell_ledger(telling, TABLE_ACTIVITY, about.activity);
    }
}

/* ---- the nearest schedule that passes -------------------------------------------------------- */

static const struct run_result *run_list(struct run *run, const struct choice_list *list)
{
    struct choice_source source = choice_listed(list);
    return run_once(run, &source);
}

/* A copy of the list without one entry. */
static void leave_out(const struct choice_list *list, size_t index, struct choice_list *out)
{
    out->count = list->count - 1;
    memcpy(out->items, list->items, index * sizeof *out->items);
    memcpy(out->items + index, list->items + index + 1,
           (list->count - index - 1) * sizeof *out->items);
}

/* One entry less, tried from the last on, faults first: lists are sorted with faults after the
 * order of actors. */
static bool find_passing(struct run *run, const struct choice_list *list, struct choice_list *out)
{
    run->observer = NULL;
    for (size_t i = list->count; i > 0 && list->count - i < NEIGHBOURS_MAX; i--) {
        leave_out(list, i - 1, out);
        if (run_list(run, out)->verdict == RUN_HELD) {
            return true;
        }
    }
    return false;
}

/* What changed is told only where nothing else tells the two apart. */
static void write_parting(const struct telling *telling, const char *label,
                          const struct trace_record *record, bool changes)
{
    if (record == NULL) {
        fprintf(telling->out, "  %s  is over\n", label);
        return;
    }
    const struct trace_line *line = &record->line;
    fprintf(telling->out, "  %s  %s  %s%s%s%s%s\n", label, names_actor(line->actor).text,
            line->what, line->outcome[0] == '\0' ? "" : ": ", line->outcome, changes ? "  " : "",
            changes ? line->effect : "");
}

static bool read_alike(const struct trace_record *a, const struct trace_record *b)
{
    return a != NULL && b != NULL && a->line.actor == b->line.actor &&
           strcmp(a->line.what, b->line.what) == 0 && strcmp(a->line.outcome, b->line.outcome) == 0;
}

static void tell_parting(const struct telling *telling, const struct trace *other)
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

static void tell_neighbour(const struct telling *telling, const struct choice_list *passing)
{
    struct trace other = trace_begin(telling->run->scenario);
    telling->run->observer = trace_observe;
    telling->run->observer_context = &other;
    enum run_verdict verdict = run_list(telling->run, passing)->verdict;
    if (verdict == RUN_HELD && !other.failed) {
        tell_parting(telling, &other);
    }
    trace_free(&other);
}

static void tell_nearest(const struct telling *telling, const struct story *story)
{
    const struct choice_list *list = story->choices;
    fprintf(telling->out, "\n%sthe nearest schedule that passes%s\n", telling->style->strong,
            telling->style->plain);
    if (story->passing != NULL) {
        tell_neighbour(telling, story->passing);
        return;
    }
    struct choice_list found = {.items = calloc(list->count + 1, sizeof *found.items)};
    if (found.items != NULL && find_passing(telling->run, list, &found)) {
        tell_neighbour(telling, &found);
    } else if (run_list(telling->run, NULL)->verdict == RUN_HELD) {
        fputs("None differs by one choice only.\n", telling->out);
    } else {
        fputs("There is none near: it breaks even without any fault, in the plainest order.\n",
              telling->out);
    }
    free(found.items);
}

/* ---- the story ------------------------------------------------------------------------------- */

static bool tell_all(struct telling *telling, const struct story *story)
{
    telling->run->observer = trace_observe;
    telling->run->observer_context = &telling->trace;
    telling->result = *run_list(telling->run, story->choices);
    if (telling->result.verdict != RUN_BROKEN || telling->trace.failed ||
        telling->trace.count == 0) {
        return false;
    }
    telling->last = &telling->trace.records[telling->trace.count - 1];
    tell_sentence(telling);
    tell_clause(telling);
    fprintf(telling->out, "  reproduce  %s\n", story->reproduce);
    bool told = tell_schedule(telling, story->about);
    tell_ledgers(telling);
    tell_nearest(telling, story);
    return told;
}

bool story_tell(FILE *out, const struct story_style *style, struct run *run,
                const struct story *story)
{
    struct telling telling = {.out = out,
                              .style = style,
                              .run = run,
                              .trace = trace_begin(run->scenario),
                              .names = {.scenario = run->scenario, .rows = &run->world.rows}};
    struct oracle_activity oracle = run->oracle;
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
