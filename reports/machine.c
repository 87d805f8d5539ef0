#include "reports/machine.h"

#include "model/seq_rules.h"

#define ROWS_MAX    8
#define COLUMNS_MAX 8

/* What a cell shows: see machine.h. */
enum kind { KIND_MOVE, KIND_REFUSED, KIND_SAME, KINDS };

static const char *const kind_names[KINDS] = {"move", "refused", "same"};

/* A cell that some run can show. */
struct cell {
    int row, column;
    enum oracle_cover sight;
    enum kind kind;
};

struct machine {
    const char *name, *protocol;
    const char *corner;      /* what a row is */
    const char *seen[KINDS]; /* what is said of each kind after "12 of 12"; NULL: nothing */
    const char *rows[ROWS_MAX], *columns[COLUMNS_MAX]; /* NULL: no more */
    const char *(*state)(int index); /* rows and columns alike, if they are not listed */
    const struct cell *cells;
    size_t cell_count;
};

static const char *seq_state(int index)
{
    return index < SEQ_STATES ? seq_rules_state_name((enum seq_state)index) : NULL;
}

#define SEEN(from, to, which)                                                                      \
    {                                                                                              \
        from, to, COVER_SEQ_MOVE_##which, KIND_MOVE                                                \
    }

/* The moves of the contract, the pairs that halt Stage1, and the one that changes nothing. */
static const struct cell seq_cells[] = {SEEN(0, 1, 1),
                                        SEEN(1, 2, 2),
                                        SEEN(2, 3, 3),
                                        SEEN(2, 4, 4),
                                        SEEN(2, 5, 5),
                                        SEEN(1, 6, 6),
                                        SEEN(2, 6, 7),
                                        SEEN(3, 7, 8),
                                        SEEN(4, 7, 9),
                                        SEEN(5, 7, 10),
                                        SEEN(6, 7, 11),
                                        SEEN(5, 1, 12),
                                        {7, 7, COVER_SEQ_COMMIT_AGAIN, KIND_SAME},
#define PAIR(from, to) {from, to, COVER_SEQ_ILLEGAL_##from##to, KIND_REFUSED},
                                        ORACLE_SEQ_ILLEGAL_PAIRS(PAIR)
#undef PAIR
};

/* Where a message's leg stood, and what came of the message there. Which resume point of Leg2 a
 * message had that was claimed again after its end is not told apart: it is finished. */
static const struct cell activity_cells[] = {
    {0, 0, COVER_LEG1_ENTRY_APART, KIND_MOVE},
    {1, 2, COVER_REPLAY_LEG1_BEFORE_ACK, KIND_MOVE},
    {1, 3, COVER_REPLAY_LEG1_AFTER_ACK, KIND_MOVE},
    {1, 4, COVER_LEG1_STALE, KIND_MOVE},
    {2, 1, COVER_RESUME_NOTHING, KIND_MOVE},
    {3, 1, COVER_RESUME_WORK, KIND_MOVE},
    {4, 1, COVER_RESUME_SPAWNED, KIND_MOVE},
    {5, 1, COVER_RESUME_CLOSED, KIND_MOVE},
    {5, 5, COVER_STEP3_AFTER_RESUME, KIND_MOVE},
    {6, 1, COVER_RESUME_DONE, KIND_MOVE},
    {7, 2, COVER_REPLAY_LEG2_BEFORE_ACK, KIND_MOVE},
    {7, 3, COVER_REPLAY_LEG2_AFTER_ACK, KIND_MOVE},
};

static const struct cell threshold_cells[] = {
    {0, 0, COVER_THRESHOLD_0, KIND_MOVE},
    {1, 0, COVER_THRESHOLD_1, KIND_MOVE},
    {2, 0, COVER_THRESHOLD_12, KIND_MOVE},
};

static const struct cell legacy_cells[] = {
    {0, 0, COVER_LEGACY_RAN_AGAIN, KIND_MOVE},
    {1, 0, COVER_LEGACY_HAD_ENDED, KIND_MOVE},
    {2, 1, COVER_LEGACY_PENDING, KIND_MOVE},
    {3, 1, COVER_LEGACY_TURNED_AWAY, KIND_MOVE},
};

#define STATUS_TEXT(id, name) name,

static const struct cell status_cells[] = {
#define MOVE(from, to) {STATUS_##from, STATUS_##to, COVER_STATUS_##from##_##to, KIND_MOVE},
    ORACLE_STATUS_MOVES(MOVE)
#undef MOVE
};

/* From 9 down to 3, as the digits themselves. */
static const struct cell key_cells[] = {
    {0, 1, COVER_KEY_STARTED, KIND_MOVE},   {1, 2, COVER_KEY_ERRORED, KIND_MOVE},
    {1, 3, COVER_KEY_COMPLETED, KIND_MOVE}, {3, 4, COVER_KEY_PAUSED, KIND_MOVE},
    {1, 4, COVER_KEY_HELD, KIND_MOVE},      {4, 5, COVER_KEY_RELEASED, KIND_MOVE},
    {0, 6, COVER_KEY_SKIPPED, KIND_MOVE},
};

#define KEY_DIGITS                                                                                 \
    "9 pending", "8 started", "7 errored", "6 completed", "5 paused", "4 released", "3 skipped"

#define CELLS(array) .cells = (array), .cell_count = COUNT(array)

static const struct machine machines[] = {
    {.name = "seq: from state (row) to state (column)",
     .protocol = "seq",
     .corner = "from",
     .seen = {[KIND_MOVE] = "transitions seen", [KIND_REFUSED] = "illegal pairs refused"},
     .state = seq_state,
     CELLS(seq_cells)},
    {.name = "two-leg activity: how far a leg had got (row), and what happened to its message next "
             "(column)",
     .protocol = "activity",
     .corner = "resume point",
     .seen = {[KIND_MOVE] = "seen"},
     .rows = {"Leg1: entered", "Leg1: complete", "Leg2 0000: nothing done",
              "Leg2 0100: Step 1 done", "Leg2 0110: Step 2 done, job open",
              "Leg2 1110: Step 2 done, job ended", "Leg2 1111: Step 3 done",
              "Leg2 finished, one or the other"},
     .columns = {"committed before its work", "entered again", "claimed again before its ack",
                 "claimed again after its ack", "entered again and acked as stale",
                 "Step 3 done after it"},
     CELLS(activity_cells)},
    {.name = "Leg2: the threshold on which a Step 2 ended the job",
     .protocol = "activity",
     .corner = "threshold",
     .seen = {[KIND_MOVE] = "seen"},
     .rows = {"0", "1", "12"},
     .columns = {"landed on"},
     CELLS(threshold_cells)},
    {.name = "pipeline: from status (row) to status (column)",
     .protocol = "pipeline",
     .corner = "from",
     .seen = {[KIND_MOVE] = "transitions seen"},
     .rows = {ENTRY_STATUSES(STATUS_TEXT)},
     .columns = {ENTRY_STATUSES(STATUS_TEXT)},
     CELLS(status_cells)},
    {.name = "collation key: from digit (row) to digit (column)",
     .protocol = "key",
     .corner = "from",
     .seen = {[KIND_MOVE] = "transitions seen"},
     .rows = {KEY_DIGITS},
     .columns = {KEY_DIGITS},
     CELLS(key_cells)},
    {.name = "earlier ledger: where an activity stood when it was entered",
     .protocol = "legacy",
     .corner = "it stood at",
     .seen = {[KIND_MOVE] = "seen"},
     .rows = {"Leg1 had crashed", "Leg1 had ended", "Leg2 open", "Leg2 closed"},
     .columns = {"Leg1 again", "Leg2 call"},
     CELLS(legacy_cells)},
};

/* The name of a row or a column; NULL: there are no more. */
static const char *name_of(const struct machine *machine, const char *const listed[], int most,
                           int index)
{
    return index == most ? NULL : machine->state != NULL ? machine->state(index) : listed[index];
}

static const char *row_of(const struct machine *machine, int row)
{
    return name_of(machine, machine->rows, ROWS_MAX, row);
}

static const char *column_of(const struct machine *machine, int column)
{
    return name_of(machine, machine->columns, COLUMNS_MAX, column);
}

static json_t *names(const struct machine *machine,
                     const char *(*name)(const struct machine *machine, int index))
{
    json_t *array = json_array();
    for (int i = 0; name(machine, i) != NULL; i++) {
        json_array_append_new(array, json_string(name(machine, i)));
    }
    return array;
}

static const struct cell *cell_at(const struct machine *machine, int row, int column)
{
    for (size_t i = 0; i < machine->cell_count; i++) {
        const struct cell *cell = &machine->cells[i];
        if (cell->row == row && cell->column == column) {
            return cell;
        }
    }
    return NULL;
}

static json_t *seen_json(const struct evidence *evidence, const struct machine *machine,
                         const struct cell *cell)
{
    bool watched = json_object_get(evidence->protocols, machine->protocol) != NULL;
    return cell == NULL ? json_false()
           : watched    ? json_integer((json_int_t)evidence->seen[EVIDENCE_SIM][cell->sight] +
                                       (json_int_t)evidence->seen[EVIDENCE_REAL][cell->sight])
                        : json_null();
}

static json_t *kind_json(const struct cell *cell)
{
    return cell == NULL ? json_null() : json_string(kind_names[cell->kind]);
}

/* A matrix of what was seen, or of kinds. */
static json_t *matrix(const struct evidence *evidence, const struct machine *machine, bool kinds)
{
    json_t *rows = json_array();
    for (int r = 0; row_of(machine, r) != NULL; r++) {
        json_t *row = json_array();
        for (int c = 0; column_of(machine, c) != NULL; c++) {
            const struct cell *cell = cell_at(machine, r, c);
            json_array_append_new(row,
                                  kinds ? kind_json(cell) : seen_json(evidence, machine, cell));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *words(const struct machine *machine)
{
    json_t *object = json_object();
    for (int kind = 0; kind < KINDS; kind++) {
        if (machine->seen[kind] != NULL) {
            json_object_set_new(object, kind_names[kind], json_string(machine->seen[kind]));
        }
    }
    return object;
}

json_t *machine_all(const struct evidence *evidence)
{
    json_t *list = json_array();
    for (size_t i = 0; i < COUNT(machines); i++) {
        const struct machine *machine = &machines[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "name", machine->name, "corner",
                            machine->corner, "rows", names(machine, row_of), "columns",
                            names(machine, column_of), "cells", matrix(evidence, machine, false),
                            "kinds", matrix(evidence, machine, true), "seen", words(machine)));
    }
    return list;
}
