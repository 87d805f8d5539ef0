/* A world's durable half: the rows of the simulated store in one flat block, the order of its
 * queue, and a log of what the open transaction changed.
 *
 * Every write goes through world_insert, world_set and world_delete. Each appends to the log what
 * undoes it.
 *
 * Owns no policy: meaning.h and store.h define operations, run.h schedules. Allocates once, in
 * world_make; nothing while it runs.
 *
 * (W1) world_undo(mark) restores every cell, the index and the queue as of world_mark.
 * (W2) The queue holds exactly the existing messages, ordered by (visible at, key).
 * (W3) A reset costs in proportion to the tables' capacities, not to what other scenarios use. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "model/primitive.h"

struct world {
    struct rows rows;
    struct row_change *changes; /* the log; the newest last */
    size_t change_count, change_capacity;
    uint32_t *queue; /* a heap of message slots, the next one to be claimed first */
    uint32_t *place; /* by message slot: 1 + its index in the heap; 0: not in it */
    uint32_t queue_count;
    int64_t now; /* the store's clock */
    void *block;
    size_t block_size;
};

/* How many rows each table holds. */
struct world_capacity {
    uint32_t rows[TABLE_COUNT];
    size_t changes; /* the longest log */
};

/* False: no memory. */
bool world_make(struct world *world, const struct world_capacity *capacity);
void world_free(struct world *world);

/* The wall clock, in the same ticks. A leap of the store's clock is one of the machine's, and so of
 * this one. */
static inline int64_t world_wall(const struct world *world)
{
    return world->now + PRIMITIVE_WALL_AHEAD;
}

/* No rows, clock at 0. */
void world_reset(struct world *world);

/* A new row; columns in the order of the table. Its slot, or ROW_NONE when the table is full. */
uint32_t world_insert(struct world *world, enum row_table table, int64_t key,
                      const int64_t *columns);
void world_set(struct world *world, enum row_table table, uint32_t slot, int column, int64_t value);
void world_delete(struct world *world, enum row_table table, uint32_t slot);

/* world_undo undoes the writes since a mark; world_keep makes them final (it empties the log). */
static inline size_t world_mark(const struct world *world)
{
    return world->change_count;
}
void world_undo(struct world *world, size_t mark);
static inline void world_keep(struct world *world)
{
    world->change_count = 0;
}

/* Asserts (W2), and (R2) of model/rows.h: an index leads to every row that is there, once. */
void world_check(const struct world *world);

/* The message that is due next: its slot and the time from which on it is visible; ROW_NONE:
 * none. */
uint32_t world_next_message(const struct world *world, int64_t *visible_at);

/* Nobody may ever claim the message as it is, so that no queue hands it out by mistake. */
static inline bool world_withholds(const struct world *world, uint32_t slot)
{
    return row_get(&world->rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) == INT64_MAX;
}

/* The messages that may be claimed now, at most `limit`, in the order in which they are due. */
#define WORLD_VISIBLE_MAX 64
uint32_t world_visible(const struct world *world, uint32_t limit, uint32_t *slots);

#endif
