/* The world's rows, queue and log (W1)-(W3), by random walks beside a plain list of
 * rows that knows nothing of slots, indexes, heaps and hashes. */
#include "sim/world.h"

#include "model/identity.h"
#include "model/table.h"
#include "model/tests/random.h"
#include "sim/tests/print.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX      12
#define TABLES_WALKED (TABLE_MESSAGE + 1) /* few, so that they fill up; the queue among them */
#define MARKS_MAX     6
#define WALKS         60
#define STEPS         600

static int columns_of(int table)
{
    return (int)table_get((enum row_table)table)->columns;
}

static struct world make(uint32_t rows)
{
    struct world world;
    struct world_capacity capacity = {.changes = 8192};
    for (int t = 0; t < TABLE_COUNT; t++) {
        capacity.rows[t] = rows;
    }
    cr_assert(world_make(&world, &capacity));
    return world;
}

/* ---- the plain list -------------------------------------------------------------------------- */

struct plain_row {
    int table;
    int64_t key;
    int64_t columns[ROW_COLUMNS_MAX];
};

struct plain {
    struct plain_row rows[TABLE_COUNT * ROWS_MAX];
    int count;
    int inserted[TABLE_COUNT]; /* slots that are gone for good */
};

struct walk {
    struct world world;
    struct plain now;
    struct plain marked[MARKS_MAX];
    uint64_t prints[MARKS_MAX];
    size_t marks[MARKS_MAX];
    int mark_count;
    uint64_t random;
    int64_t keys[64]; /* few, so that a deleted key comes again */
};

static int find_plain(const struct plain *plain, int table, int64_t key)
{
    for (int i = 0; i < plain->count; i++) {
        if (plain->rows[i].table == table && plain->rows[i].key == key) {
            return i;
        }
    }
    return -1;
}

static void walk_insert(struct walk *walk)
{
    struct plain_row row = {.table = (int)random_below(&walk->random, TABLES_WALKED),
                            .key = walk->keys[random_below(&walk->random, 64)]};
    if (find_plain(&walk->now, row.table, row.key) >= 0) {
        return;
    }
    for (int c = 0; c < columns_of(row.table); c++) {
        row.columns[c] = (int64_t)random_below(&walk->random, 5) - 1;
    }
    uint32_t slot = world_insert(&walk->world, (enum row_table)row.table, row.key, row.columns);
    bool full = walk->now.inserted[row.table] == ROWS_MAX;
    cr_assert_eq(slot == ROW_NONE, full, "a table is full when its last slot was given");
    if (!full) {
        walk->now.inserted[row.table]++;
        walk->now.rows[walk->now.count++] = row;
    }
}

static uint32_t slot_of(const struct walk *walk, const struct plain_row *row)
{
    uint32_t slot = row_find(&walk->world.rows, (enum row_table)row->table, row->key);
    cr_assert_neq(slot, ROW_NONE, "a row that is there is not found");
    return slot;
}

static void walk_set(struct walk *walk)
{
    if (walk->now.count == 0) {
        return;
    }
    struct plain_row *row = &walk->now.rows[random_below(&walk->random, (uint64_t)walk->now.count)];
    int column = (int)random_below(&walk->random, (uint64_t)columns_of(row->table));
    if (row->table == TABLE_MESSAGE && random_one_in(&walk->random, 2)) {
        column = MESSAGE_VISIBLE_AT;
    }
    int64_t value = (int64_t)random_below(&walk->random, 7);
    world_set(&walk->world, (enum row_table)row->table, slot_of(walk, row), column, value);
    row->columns[column] = value;
}

static void walk_delete(struct walk *walk)
{
    if (walk->now.count == 0) {
        return;
    }
    int i = (int)random_below(&walk->random, (uint64_t)walk->now.count);
    const struct plain_row *row = &walk->now.rows[i];
    world_delete(&walk->world, (enum row_table)row->table, slot_of(walk, row));
    walk->now.rows[i] = walk->now.rows[--walk->now.count];
}

static void walk_mark(struct walk *walk)
{
    if (walk->mark_count < MARKS_MAX) {
        walk->marked[walk->mark_count] = walk->now;
        walk->prints[walk->mark_count] = print_of(&walk->world);
        walk->marks[walk->mark_count++] = world_mark(&walk->world);
    }
}

/* To any of the marks, not only to the newest. */
static void walk_undo(struct walk *walk)
{
    if (walk->mark_count == 0) {
        return;
    }
    int to = (int)random_below(&walk->random, (uint64_t)walk->mark_count);
    world_undo(&walk->world, walk->marks[to]);
    walk->now = walk->marked[to];
    walk->mark_count = to;
    cr_assert_eq(print_of(&walk->world), walk->prints[to], "W1: rows");
}

/* ---- what must hold -------------------------------------------------------------------------- */

static void check_rows(const struct walk *walk)
{
    for (int i = 0; i < walk->now.count; i++) {
        const struct plain_row *row = &walk->now.rows[i];
        uint32_t slot = slot_of(walk, row);
        for (int c = 0; c < columns_of(row->table); c++) {
            cr_assert_eq(row_get(&walk->world.rows, (enum row_table)row->table, slot, c),
                         row->columns[c], "table %d, column %d", row->table, c);
        }
    }
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (int k = 0; k < 64; k++) {
            bool there = find_plain(&walk->now, t, walk->keys[k]) >= 0;
            cr_assert_eq(row_find(&walk->world.rows, (enum row_table)t, walk->keys[k]) != ROW_NONE,
                         there, "table %d: a key is found although it went, or the other way", t);
        }
    }
}

static int by_queue_order(const void *left, const void *right)
{
    const struct plain_row *a = left, *b = right;
    int64_t at_a = a->columns[MESSAGE_VISIBLE_AT], at_b = b->columns[MESSAGE_VISIBLE_AT];
    return at_a != at_b ? (at_a > at_b) - (at_a < at_b) : (a->key > b->key) - (a->key < b->key);
}

static int messages_in_order(const struct plain *plain, struct plain_row *out)
{
    int count = 0;
    for (int i = 0; i < plain->count; i++) {
        if (plain->rows[i].table == TABLE_MESSAGE) {
            out[count++] = plain->rows[i];
        }
    }
    qsort(out, (size_t)count, sizeof *out, by_queue_order);
    return count;
}

/* (W2), by taking every message out, first to last, and putting all of them back (W1). */
static void check_queue(struct walk *walk)
{
    struct plain_row expected[ROWS_MAX];
    int count = messages_in_order(&walk->now, expected);
    struct world *world = &walk->world;
    size_t mark = world_mark(world);
    cr_assert_eq((int)world->queue_count, count);
    for (int i = 0; i < count; i++) {
        int64_t visible_at = -9;
        uint32_t slot = world_next_message(world, &visible_at);
        cr_assert_eq(row_key(&world->rows, TABLE_MESSAGE, slot), expected[i].key, "rank %d", i);
        cr_assert_eq(visible_at, expected[i].columns[MESSAGE_VISIBLE_AT]);
        world_delete(world, TABLE_MESSAGE, slot);
    }
    int64_t unused = 0;
    cr_assert_eq(world_next_message(world, &unused), ROW_NONE);
    world_undo(world, mark);
}

static void check_visible(const struct walk *walk)
{
    struct world world = walk->world; /* shares the rows; only the clock is its own */
    struct plain_row expected[ROWS_MAX];
    int count = messages_in_order(&walk->now, expected);
    for (world.now = -1; world.now < 7; world.now += 2) {
        uint32_t slots[ROWS_MAX];
        int due = 0;
        while (due < count && expected[due].columns[MESSAGE_VISIBLE_AT] <= world.now) {
            due++;
        }
        cr_assert_eq((int)world_visible(&world, ROWS_MAX, slots), due);
        cr_assert_eq((int)world_visible(&world, 2, slots), due < 2 ? due : 2, "at most the limit");
        world_visible(&world, ROWS_MAX, slots);
        for (int i = 0; i < due; i++) {
            cr_assert_eq(row_key(&world.rows, TABLE_MESSAGE, slots[i]), expected[i].key);
        }
    }
}

static void take_a_step(struct walk *walk)
{
    switch (random_below(&walk->random, 16)) {
    case 0:
    case 1:
        walk_mark(walk);
        break;
    case 2:
        walk_undo(walk);
        break;
    case 3:
    case 4:
        walk_delete(walk);
        break;
    case 5:
        if (random_one_in(&walk->random, 8)) {
            world_keep(&walk->world);
            walk->mark_count = 0;
        }
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        walk_insert(walk);
        break;
    default:
        walk_set(walk);
    }
}

static struct walk *begin_walk(uint64_t seed)
{
    struct walk *walk = calloc(1, sizeof *walk);
    walk->world = make(ROWS_MAX);
    walk->random = seed;
    for (int k = 0; k < 64; k++) {
        walk->keys[k] = identity_mint(k, (int64_t)seed);
    }
    return walk;
}

static void end_walk(struct walk *walk)
{
    world_free(&walk->world);
    free(walk);
}

Test(world, a_walk_of_writes_and_undos_keeps_rows_index_and_queue)
{
    int filled = 0;
    for (uint64_t seed = 1; seed <= WALKS; seed++) {
        struct walk *walk = begin_walk(seed);
        for (int step = 0; step < STEPS; step++) {
            take_a_step(walk);
            if (step % 4 == 0) {
                check_rows(walk);
                check_queue(walk);
                check_visible(walk);
            }
        }
        for (int t = 0; t < TABLE_COUNT; t++) {
            filled += walk->now.inserted[t] == ROWS_MAX;
        }
        end_walk(walk);
    }
    cr_expect_gt(filled, 20, "tables were full %d times: too seldom to show anything", filled);
}

Test(world, undoing_everything_leaves_nothing)
{
    for (uint64_t seed = 1; seed <= WALKS; seed++) {
        struct walk *walk = begin_walk(seed);
        for (int step = 0; step < STEPS; step++) {
            switch (random_below(&walk->random, 3)) {
            case 0:
                walk_insert(walk);
                break;
            case 1:
                walk_set(walk);
                break;
            default:
                walk_delete(walk);
            }
        }
        world_undo(&walk->world, 0);
        walk->now = (struct plain){.count = 0};
        check_rows(walk);
        check_queue(walk);
        cr_assert_eq(print_of(&walk->world), 0U);
        for (int t = 0; t < TABLE_COUNT; t++) {
            cr_assert_eq(walk->world.rows.table[t].used, 0U, "slots come back, too");
        }
        end_walk(walk);
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

Test(world, a_write_of_what_is_there_is_no_change)
{
    struct world world = make(4);
    int64_t columns[JOB_COLUMNS] = {1, 0, 0, 0, 5};
    uint32_t slot = world_insert(&world, TABLE_JOB, 1, columns);
    world_set(&world, TABLE_JOB, slot, JOB_INPUT, 5);
    cr_expect_eq(world_mark(&world), 1U);
    world_set(&world, TABLE_JOB, slot, JOB_INPUT, 6);
    cr_expect_eq(world_mark(&world), 2U);
    cr_expect_eq(world.changes[1].before, 5);
    cr_expect_eq(world.changes[1].column, JOB_INPUT);
    world_free(&world);
}

Test(world, a_deleted_row_can_still_be_read_at_its_slot_and_its_key_gets_another)
{
    struct world world = make(4);
    int64_t columns[JOB_COLUMNS] = {1, 2, 3, 4, 5};
    uint32_t slot = world_insert(&world, TABLE_JOB, 9, columns);
    world_delete(&world, TABLE_JOB, slot);
    cr_expect_eq(row_key(&world.rows, TABLE_JOB, slot), 9);
    cr_expect_eq(row_get(&world.rows, TABLE_JOB, slot, JOB_INPUT), 5);
    uint32_t again = world_insert(&world, TABLE_JOB, 9, columns);
    cr_expect_neq(again, slot, "R2");
    cr_expect_eq(row_find(&world.rows, TABLE_JOB, 9), again);
    world_free(&world);
}

Test(world, a_full_table_gives_row_none_and_changes_nothing)
{
    struct world world = make(3);
    int64_t columns[MESSAGE_COLUMNS] = {0};
    for (int64_t key = 1; key <= 3; key++) {
        cr_assert_neq(world_insert(&world, TABLE_MESSAGE, key, columns), ROW_NONE);
    }
    uint64_t before = print_of(&world);
    cr_expect_eq(world_insert(&world, TABLE_MESSAGE, 4, columns), ROW_NONE);
    cr_expect_eq(world_mark(&world), 3U);
    cr_expect_eq(world.queue_count, 3U);
    cr_expect_eq(print_of(&world), before);
    cr_expect_eq(row_find(&world.rows, TABLE_MESSAGE, 4), ROW_NONE);
    world_delete(&world, TABLE_MESSAGE, row_find(&world.rows, TABLE_MESSAGE, 2));
    cr_expect_eq(world_insert(&world, TABLE_MESSAGE, 4, columns), ROW_NONE,
                 "a slot is not used twice (R2)");
    world_free(&world);
}

/* ---- order and reset ------------------------------------------------------------------------- */

Test(world, the_queue_is_ordered_by_time_and_then_by_key)
{
    static const struct {
        int64_t key, visible_at;
    } rows[] = {{50, 3}, {10, 5}, {40, 3}, {20, 0}, {30, 5}},
      order[] = {{20, 0}, {40, 3}, {50, 3}, {10, 5}, {30, 5}};
    struct world world = make(8);
    int64_t columns[MESSAGE_COLUMNS] = {0};
    for (int i = 0; i < 5; i++) {
        columns[MESSAGE_VISIBLE_AT] = rows[i].visible_at;
        world_insert(&world, TABLE_MESSAGE, rows[i].key, columns);
    }
    for (int i = 0; i < 5; i++) {
        int64_t visible_at = -1;
        uint32_t slot = world_next_message(&world, &visible_at);
        cr_expect_eq(row_key(&world.rows, TABLE_MESSAGE, slot), order[i].key, "rank %d", i);
        cr_expect_eq(visible_at, order[i].visible_at);
        world_delete(&world, TABLE_MESSAGE, slot);
    }
    world_free(&world);
}

/* (W3): what was there before does not show. */
Test(world, a_world_that_was_reset_is_like_a_new_one)
{
    struct walk *walk = begin_walk(7);
    for (int step = 0; step < STEPS; step++) {
        take_a_step(walk);
    }
    world_reset(&walk->world);
    walk->now = (struct plain){.count = 0};
    walk->mark_count = 0;
    check_rows(walk);
    check_queue(walk);
    cr_expect_eq(walk->world.now, 0);
    cr_expect_eq(world_mark(&walk->world), 0U);
    struct walk *fresh = begin_walk(7);
    walk->random = fresh->random = 99;
    for (int step = 0; step < STEPS; step++) {
        take_a_step(walk);
        take_a_step(fresh);
        cr_assert(print_of(&walk->world) == print_of(&fresh->world), "step %d", step);
        cr_assert_eq(walk->world.queue_count, fresh->world.queue_count);
    }
    check_rows(walk);
    check_queue(walk);
    end_walk(walk);
    end_walk(fresh);
}
