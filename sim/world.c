#include "sim/world.h"

#include "model/check.h"
#include "model/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* At most half full, so that a search for a missing key ends soon. */
static uint32_t index_size(uint32_t capacity)
{
    uint32_t size = capacity == 0 ? 1 : 16; /* an unused table costs nothing */
    while (size < 2 * capacity) {
        size *= 2;
    }
    return size;
}

static size_t round_up(size_t size)
{
    return (size + 63) / 64 * 64;
}

static void *carve(unsigned char **at, size_t size)
{
    void *piece = *at;
    *at += round_up(size);
    return piece;
}

static size_t block_size(const struct world_capacity *capacity)
{
    size_t size = round_up(capacity->changes * sizeof(struct row_change)) +
                  2 * round_up(capacity->rows[TABLE_MESSAGE] * sizeof(uint32_t));
    for (int t = 0; t < TABLE_COUNT; t++) {
        size += round_up((size_t)capacity->rows[t] * (1 + table_get((enum row_table)t)->columns) *
                         sizeof(int64_t)) +
                round_up(index_size(capacity->rows[t]) * sizeof(uint32_t));
    }
    return size;
}

bool world_make(struct world *world, const struct world_capacity *capacity)
{
    size_t size = block_size(capacity);
    unsigned char *at = aligned_alloc(64, size);
    *world = (struct world){.block = at, .block_size = size};
    if (at == NULL) {
        return false;
    }
    memset(at, 0, size);
    for (int t = 0; t < TABLE_COUNT; t++) {
        struct row_area *area = &world->rows.table[t];
        area->capacity = capacity->rows[t];
        area->stride = 1 + table_get((enum row_table)t)->columns;
        area->index_mask = index_size(area->capacity) - 1;
        area->cells = carve(&at, (size_t)area->capacity * area->stride * sizeof(int64_t));
        area->index = carve(&at, ((size_t)area->index_mask + 1) * sizeof(uint32_t));
    }
    world->queue = carve(&at, capacity->rows[TABLE_MESSAGE] * sizeof(uint32_t));
    world->place = carve(&at, capacity->rows[TABLE_MESSAGE] * sizeof(uint32_t));
    world->change_capacity = capacity->changes;
    world->changes = carve(&at, capacity->changes * sizeof(struct row_change));
    CHECK((size_t)(at - (unsigned char *)world->block) == size);
    return true;
}

void world_free(struct world *world)
{
    free(world->block);
    *world = (struct world){0};
}

void world_reset(struct world *world)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        struct row_area *area = &world->rows.table[t];
        if (area->used > 0) {
            memset(area->index, 0, ((size_t)area->index_mask + 1) * sizeof(uint32_t));
            area->used = 0;
        }
    }
    world->change_count = 0;
    world->queue_count = 0;
    world->now = 0;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static int64_t visible_at(const struct world *world, uint32_t slot)
{
    return row_get(&world->rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT);
}

static bool comes_first(const struct world *world, uint32_t a, uint32_t b)
{
    int64_t at_a = visible_at(world, a), at_b = visible_at(world, b);
    return at_a != at_b
               ? at_a < at_b
               : row_key(&world->rows, TABLE_MESSAGE, a) < row_key(&world->rows, TABLE_MESSAGE, b);
}

static void world_put(struct world *world, uint32_t at, uint32_t slot)
{
    world->queue[at] = slot;
    world->place[slot] = at + 1;
}

static void sift_up(struct world *world, uint32_t at)
{
    uint32_t slot = world->queue[at];
    while (at > 0 && comes_first(world, slot, world->queue[(at - 1) / 2])) {
        world_put(world, at, world->queue[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    world_put(world, at, slot);
}

static void sift_down(struct world *world, uint32_t at)
{
    uint32_t slot = world->queue[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= world->queue_count) {
            break;
        }
        if (child + 1 < world->queue_count &&
            comes_first(world, world->queue[child + 1], world->queue[child])) {
            child++;
        }
        if (!comes_first(world, world->queue[child], slot)) {
            break;
        }
        world_put(world, at, world->queue[child]);
        at = child;
    }
    world_put(world, at, slot);
}

static void enqueue(struct world *world, uint32_t slot)
{
    world_put(world, world->queue_count++, slot);
    sift_up(world, world->queue_count - 1);
}

static void dequeue(struct world *world, uint32_t slot)
{
    uint32_t at = world->place[slot] - 1;
    uint32_t last = world->queue[--world->queue_count];
    world->place[slot] = 0;
    if (last != slot) {
        world_put(world, at, last);
        sift_up(world, at);
        sift_down(world, world->place[last] - 1);
    }
}

static void requeue(struct world *world, uint32_t slot)
{
    sift_up(world, world->place[slot] - 1);
    sift_down(world, world->place[slot] - 1);
}

uint32_t world_next_message(const struct world *world, int64_t *at)
{
    if (world->queue_count == 0) {
        return ROW_NONE;
    }
    *at = visible_at(world, world->queue[0]);
    return world->queue[0];
}

/* Visits the heap from its top: the next message is among the children of those already taken. So
 * the order is that of the messages, independent of the heap's layout. */
uint32_t world_visible(const struct world *world, uint32_t limit, uint32_t *slots)
{
    uint32_t open[WORLD_VISIBLE_MAX + 1], open_count = world->queue_count > 0, count = 0;
    CHECK(limit <= WORLD_VISIBLE_MAX);
    open[0] = 0;
    while (open_count > 0 && count < limit) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < open_count; i++) {
            if (comes_first(world, world->queue[open[i]], world->queue[open[first]])) {
                first = i;
            }
        }
        uint32_t at = open[first];
        if (visible_at(world, world->queue[at]) > world->now) {
            break;
        }
        slots[count++] = world->queue[at];
        open[first] = open[--open_count];
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < world->queue_count;
             child++) {
            open[open_count++] = child;
        }
    }
    return count;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void world_note(struct world *world, struct row_change change)
{
    CHECK(world->change_count < world->change_capacity);
    world->changes[world->change_count++] = change;
}

/* The index entry of this slot, or, for ROW_NONE, the first free one. */
static uint32_t *index_entry(struct row_area *area, int64_t key, uint32_t entry)
{
    uint32_t at = (uint32_t)key & area->index_mask;
    while (area->index[at] != entry) {
        at = (at + 1) & area->index_mask;
    }
    return &area->index[at];
}

uint32_t world_insert(struct world *world, enum row_table table, int64_t key,
                      const int64_t *columns)
{
    struct row_area *area = &world->rows.table[table];
    if (area->used == area->capacity) {
        return ROW_NONE;
    }
    uint32_t slot = area->used++;
    int64_t *row = &area->cells[(size_t)slot * area->stride];
    row[0] = key;
    for (uint32_t c = 0; c + 1 < area->stride; c++) {
        row[1 + c] = columns[c];
    }
    *index_entry(area, key, 0) = slot + 1;
    world_note(world,
               (struct row_change){.slot = slot, .table = (uint8_t)table, .kind = ROW_INSERTED});
    if (table == TABLE_MESSAGE) {
        enqueue(world, slot);
    }
    return slot;
}

static void world_write_cell(struct world *world, int table, uint32_t slot, int column,
                             int64_t value)
{
    struct row_area *area = &world->rows.table[table];
    int64_t *row = &area->cells[(size_t)slot * area->stride];
    row[1 + column] = value;
    if (table == TABLE_MESSAGE && column == MESSAGE_VISIBLE_AT) {
        requeue(world, slot);
    }
}

void world_set(struct world *world, enum row_table table, uint32_t slot, int column, int64_t value)
{
    int64_t before = row_get(&world->rows, table, slot, column);
    if (before == value) {
        return;
    }
    world_note(world, (struct row_change){.slot = slot,
                                          .table = (uint8_t)table,
                                          .kind = ROW_UPDATED,
                                          .column = (uint8_t)column,
                                          .before = before});
    world_write_cell(world, (int)table, slot, column, value);
}

void world_delete(struct world *world, enum row_table table, uint32_t slot)
{
    struct row_area *area = &world->rows.table[table];
    uint32_t *entry = index_entry(area, row_key(&world->rows, table, slot), slot + 1);
    world_note(world, (struct row_change){.slot = slot,
                                          .table = (uint8_t)table,
                                          .kind = ROW_DELETED,
                                          .before = entry - area->index});
    *entry = ROW_GONE;
    if (table == TABLE_MESSAGE) {
        dequeue(world, slot);
    }
}

/* ---- taking back ----------------------------------------------------------------------------- */

static void undo_insert(struct world *world, const struct row_change *change)
{
    struct row_area *area = &world->rows.table[change->table];
    CHECK(change->slot + 1 == area->used); /* the newest goes first */
    if (change->table == TABLE_MESSAGE) {
        dequeue(world, change->slot);
    }
    int64_t key = area->cells[(size_t)change->slot * area->stride];
    *index_entry(area, key, change->slot + 1) = 0;
    area->used--;
}

static void undo_delete(struct world *world, const struct row_change *change)
{
    world->rows.table[change->table].index[change->before] = change->slot + 1;
    if (change->table == TABLE_MESSAGE) {
        enqueue(world, change->slot);
    }
}

void world_undo(struct world *world, size_t mark)
{
    CHECK(mark <= world->change_count); /* W1 */
    while (world->change_count > mark) {
        const struct row_change *change = &world->changes[--world->change_count];
        switch ((enum row_change_kind)change->kind) {
        case ROW_INSERTED:
            undo_insert(world, change);
            break;
        case ROW_DELETED:
            undo_delete(world, change);
            break;
        case ROW_UPDATED:
            world_write_cell(world, change->table, change->slot, change->column, change->before);
            break;
        }
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Returns how many rows are there. */
static uint32_t check_index(const struct rows *rows, enum row_table table)
{
    const struct row_area *area = &rows->table[table];
    uint32_t there = 0;
    CHECK(area->used <= area->capacity);
    for (uint32_t at = 0; area->used > 0 && at <= area->index_mask; at++) {
        uint32_t entry = area->index[at];
        if (entry != 0 && entry != ROW_GONE) {
            CHECK(entry - 1 < area->used);               /* R2 */
            CHECK(row_is_there(rows, table, entry - 1)); /* R2 */
            there++;
        }
    }
    return there;
}

static void check_queue(const struct world *world, uint32_t messages)
{
    CHECK(world->queue_count == messages); /* W2 */
    for (uint32_t at = 0; at < world->queue_count; at++) {
        uint32_t slot = world->queue[at];
        CHECK(slot < world->rows.table[TABLE_MESSAGE].used &&
              world->place[slot] == at + 1);                                     /* W2 */
        CHECK(row_is_there(&world->rows, TABLE_MESSAGE, slot));                  /* W2 */
        CHECK(at == 0 || !comes_first(world, slot, world->queue[(at - 1) / 2])); /* W2 */
    }
}

void world_check(const struct world *world)
{
    CHECK(world->change_count <= world->change_capacity);
    for (int t = 0; t < TABLE_COUNT; t++) {
        uint32_t there = check_index(&world->rows, (enum row_table)t);
        if (t == TABLE_MESSAGE) {
            check_queue(world, there);
        }
    }
}
