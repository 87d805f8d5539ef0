/* Ghost cells: what an oracle remembers of the past. They lie in one flat block beside the rows and
 * are written through one function only, so that a search can take a commit back (log) and knows
 * two states apart that differ in their history alone (fingerprint).
 *
 * Header only: an oracle links nothing. */
#ifndef MODEL_ORACLE_GHOSTS_H
#define MODEL_ORACLE_GHOSTS_H

#include <stddef.h>
#include <stdint.h>

/* Most cells lie in tables, the memories of a protocol's monitors (judge.h): entries of so many
 * cells, the first of them the id that the entry is about, 0 if it is free. */
#define GHOST_MEMORIES_MAX 4
#define GHOST_CELLS        4
#define GHOST_FLAGS        1 /* the cell of an entry that holds flags */

/* What a cell of an entry is, to a search that asks whether two states are the same. */
enum ghost_kind {
    GHOST_VALUE,   /* counts as it is */
    GHOST_DATUM,   /* an id, or data of the workload: the same wherever nothing went wrong */
    GHOST_COUNTER, /* follows how often something was tried */
    GHOST_MOMENT   /* a time, and only cover points ask for it: how long ago it was */
};

struct ghost_memory {
    int64_t sights; /* flags that only cover points ask for: no verdict depends on them */
    uint8_t kinds[GHOST_CELLS]; /* enum ghost_kind */
};

struct ghost_write {
    uint32_t cell;
    int64_t before;
};

struct ghosts {
    int64_t *cells;
    size_t count;
    uint8_t *marks; /* a byte for each GHOST_BLOCK cells, 1: one was written; NULL: nobody asks */
    struct ghost_write *log; /* where writes are noted, NULL: nowhere */
    size_t logged;           /* how many are noted; the caller sees to the room */
};

/* How many marks there are for so many cells. */
#define GHOST_BLOCK        64
#define GHOST_MARKS(cells) (((cells) + GHOST_BLOCK - 1) / GHOST_BLOCK)

static inline int64_t ghost_get(const struct ghosts *ghosts, size_t cell)
{
    return ghosts->cells[cell];
}

static inline void ghost_set(struct ghosts *ghosts, size_t cell, int64_t value)
{
    if (ghosts->log != NULL) {
        ghosts->log[ghosts->logged++] =
            (struct ghost_write){.cell = (uint32_t)cell, .before = ghosts->cells[cell]};
    }
    if (ghosts->marks != NULL) {
        ghosts->marks[cell / GHOST_BLOCK] = 1;
    }
    ghosts->cells[cell] = value;
}

#endif
