#include "reports/machine.h"

#include "model/seq_rules.h"

#define ROWS_MAX    8
#define COLUMNS_MAX 8

/* A cell that some run can show. */
struct cell {
    int row, column;
    enum oracle_sighting sight;
};

struct machine {
    const char *name, *protocol;
    const char *rows[ROWS_MAX], *columns[COLUMNS_MAX]; /* NULL: no more */
    const char *(*state)(int index); /* rows and columns alike, if they are not listed */
    const struct cell *cells;
    size_t cell_count;
};

static const char *seq_state(int index)
{
    return index < SEQ_STATES ? seq_rules_state_name((enum seq_state)index) : NULL;
}

/* The moves of the contract, the pairs that halt Stage1, and the one that changes nothing. */
static const struct cell seq_cells[] = {
    {0, 1, SIGHT_SEQ_MOVE_1},       {1, 2, SIGHT_SEQ_MOVE_2},  {2, 3, SIGHT_SEQ_MOVE_3},
    {2, 4, SIGHT_SEQ_MOVE_4},       {2, 5, SIGHT_SEQ_MOVE_5},  {1, 6, SIGHT_SEQ_MOVE_6},
    {2, 6, SIGHT_SEQ_MOVE_7},       {3, 7, SIGHT_SEQ_MOVE_8},  {4, 7, SIGHT_SEQ_MOVE_9},
    {5, 7, SIGHT_SEQ_MOVE_10},      {6, 7, SIGHT_SEQ_MOVE_11}, {5, 1, SIGHT_SEQ_MOVE_12},
    {7, 7, SIGHT_SEQ_COMMIT_AGAIN},
#define PAIR(from, to) {from, to, SIGHT_SEQ_ILLEGAL_##from##to},
    ORACLE_SEQ_ILLEGAL_PAIRS(PAIR)
#undef PAIR
};

static const struct cell leg2_cells[] = {
    {0, 0, SIGHT_RESUME_NOTHING}, {1, 0, SIGHT_RESUME_WORK}, {2, 0, SIGHT_RESUME_SPAWNED},
    {3, 0, SIGHT_RESUME_CLOSED},  {4, 0, SIGHT_RESUME_DONE}, {3, 1, SIGHT_STEP3_AFTER_RESUME},
};

static const struct cell replay_cells[] = {
    {0, 0, SIGHT_REPLAY_LEG1_BEFORE_ACK},
    {0, 1, SIGHT_REPLAY_LEG1_AFTER_ACK},
    {1, 0, SIGHT_REPLAY_LEG2_BEFORE_ACK},
    {1, 1, SIGHT_REPLAY_LEG2_AFTER_ACK},
};

static const struct cell legacy_cells[] = {
    {0, 0, SIGHT_LEGACY_RAN_AGAIN},
    {1, 0, SIGHT_LEGACY_HAD_ENDED},
    {2, 1, SIGHT_LEGACY_PENDING},
    {3, 1, SIGHT_LEGACY_TURNED_AWAY},
};

#define STATUS_TEXT(id, name) name,

static const struct cell status_cells[] = {
#define MOVE(from, to) {STATUS_##from, STATUS_##to, SIGHT_STATUS_##from##_##to},
    ORACLE_STATUS_MOVES(MOVE)
#undef MOVE
};

/* From 9 down to 3, as the digits themselves. */
static const struct cell key_cells[] = {
    {0, 1, SIGHT_KEY_STARTED}, {1, 2, SIGHT_KEY_ERRORED}, {1, 3, SIGHT_KEY_COMPLETED},
    {3, 4, SIGHT_KEY_PAUSED},  {1, 4, SIGHT_KEY_HELD},    {4, 5, SIGHT_KEY_RELEASED},
    {0, 6, SIGHT_KEY_SKIPPED},
};

#define KEY_DIGITS                                                                                 \
    "9 pending", "8 started", "7 errored", "6 completed", "5 paused", "4 released", "3 skipped"

#define CELLS(array) .cells = (array), .cell_count = sizeof(array) / sizeof(*(array))

static const struct machine machines[] = {
    {.name = "seq: from state (row) to state (column); 12 moves are legal, 51 halt Stage1",
     .protocol = "seq",
     .state = seq_state,
     CELLS(seq_cells)},
    {.name = "Leg2: where a GUID stood when it was entered again",
     .protocol = "activity",
     .rows = {"nothing done", "work done", "children spawned, job open",
              "children spawned, job closed", "all done"},
     .columns = {"entered again", "Step 3 ran"},
     CELLS(leg2_cells)},
    {.name = "activity: replays of a finished message",
     .protocol = "activity",
     .rows = {"Leg1", "Leg2"},
     .columns = {"before its ack", "after its ack"},
     CELLS(replay_cells)},
    {.name = "pipeline: from status (row) to status (column)",
     .protocol = "pipeline",
     .rows = {ENTRY_STATUSES(STATUS_TEXT)},
     .columns = {ENTRY_STATUSES(STATUS_TEXT)},
     CELLS(status_cells)},
    {.name = "collation key: from digit (row) to digit (column)",
     .protocol = "key",
     .rows = {KEY_DIGITS},
     .columns = {KEY_DIGITS},
     CELLS(key_cells)},
    {.name = "earlier ledger: where an activity stood when it was entered",
     .protocol = "legacy",
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

static json_t *seen(const struct evidence *evidence, const struct machine *machine, int row,
                    int column)
{
    for (size_t i = 0; i < machine->cell_count; i++) {
        const struct cell *cell = &machine->cells[i];
        if (cell->row == row && cell->column == column) {
            bool watched = json_object_get(evidence->protocols, machine->protocol) != NULL;
            return watched ? json_integer((json_int_t)evidence->seen[EVIDENCE_SIM][cell->sight] +
                                          (json_int_t)evidence->seen[EVIDENCE_REAL][cell->sight])
                           : json_null();
        }
    }
    return json_false();
}

static json_t *cells(const struct evidence *evidence, const struct machine *machine)
{
    json_t *rows = json_array();
    for (int r = 0; row_of(machine, r) != NULL; r++) {
        json_t *row = json_array();
        for (int c = 0; column_of(machine, c) != NULL; c++) {
            json_array_append_new(row, seen(evidence, machine, r, c));
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

json_t *machine_all(const struct evidence *evidence)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        const struct machine *machine = &machines[i];
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name", machine->name, "rows",
                                              names(machine, row_of), "columns",
                                              names(machine, column_of), "cells",
                                              cells(evidence, machine)));
    }
    return list;
}
