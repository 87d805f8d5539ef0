/* A store in memory that a suite writes by hand, to tell monitors what a store would tell them:
 * rows, and what was changed since the last commit.
 *
 * It owns its rows. `hand_at` and all that use it fail the test if there is no such row. */
#ifndef MODEL_TESTS_HAND_H
#define MODEL_TESTS_HAND_H

#include "model/table.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#define HAND_ROWS    64
#define HAND_INDEX   128 /* size of an index, a power of two */
#define HAND_CHANGES 64

struct hand {
    struct rows rows;
    int64_t cells[TABLE_COUNT][HAND_ROWS * (1 + ROW_COLUMNS_MAX)];
    uint32_t index[TABLE_COUNT][HAND_INDEX];
    struct row_change changes[HAND_CHANGES]; /* since the last commit, which the suite ends */
    size_t count;
};

static inline void hand_begin(struct hand *hand)
{
    memset(hand, 0, sizeof *hand);
    for (int table = 0; table < TABLE_COUNT; table++) {
        hand->rows.table[table] =
            (struct row_area){.cells = hand->cells[table],
                              .index = hand->index[table],
                              .stride = 1 + table_get((enum row_table)table)->columns,
                              .index_mask = HAND_INDEX - 1,
                              .capacity = HAND_ROWS};
    }
}

static inline void hand_note(struct hand *hand, enum row_table table, uint32_t slot,
                             enum row_change_kind kind, int column, int64_t before)
{
    cr_assert(hand->count < HAND_CHANGES);
    hand->changes[hand->count++] = (struct row_change){.slot = slot,
                                                       .table = (uint8_t)table,
                                                       .kind = (uint8_t)kind,
                                                       .column = (uint8_t)column,
                                                       .before = before};
}

static inline uint32_t hand_at(const struct hand *hand, enum row_table table, int64_t key)
{
    uint32_t slot = row_find(&hand->rows, table, key);
    cr_assert_neq(slot, ROW_NONE, "no row %lld in table %s", (long long)key,
                  table_get(table)->name);
    return slot;
}

static inline int64_t hand_get(const struct hand *hand, enum row_table table, int64_t key,
                               int column)
{
    return row_get(&hand->rows, table, hand_at(hand, table, key), column);
}

/* Where the value is, to write it unseen. */
static inline int64_t *hand_cell(struct hand *hand, enum row_table table, int64_t key, int column)
{
    size_t row = (size_t)hand_at(hand, table, key) * hand->rows.table[table].stride;
    return &hand->cells[table][row + 1 + (size_t)column];
}

/* Also twice under one key: a breach that a store would not let happen. */
static inline void hand_put(struct hand *hand, enum row_table table, int64_t key,
                            const int64_t *values)
{
    struct row_area *area = &hand->rows.table[table];
    cr_assert(area->used < area->capacity);
    uint32_t slot = area->used++, place = (uint32_t)key & area->index_mask;
    int64_t *row = &area->cells[(size_t)slot * area->stride];
    row[0] = key;
    memcpy(row + 1, values, (area->stride - 1) * sizeof *values);
    while (area->index[place] != 0 && area->index[place] != ROW_GONE) {
        place = (place + 1) & area->index_mask;
    }
    area->index[place] = slot + 1;
    hand_note(hand, table, slot, ROW_INSERTED, 0, 0);
}

static inline void hand_set(struct hand *hand, enum row_table table, int64_t key, int column,
                            int64_t value)
{
    int64_t *cell = hand_cell(hand, table, key, column);
    hand_note(hand, table, hand_at(hand, table, key), ROW_UPDATED, column, *cell);
    *cell = value;
}

static inline void hand_drop(struct hand *hand, enum row_table table, int64_t key)
{
    uint32_t slot = hand_at(hand, table, key);
    for (uint32_t place = 0; place < HAND_INDEX; place++) {
        if (hand->index[table][place] == slot + 1) {
            hand->index[table][place] = ROW_GONE;
        }
    }
    hand_note(hand, table, slot, ROW_DELETED, 0, 0);
}

#endif
