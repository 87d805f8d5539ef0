/* Ghost cells: what an oracle remembers of the past. They lie in one flat block beside the rows and
 * are written through one function only, so that a search can take a commit back (log) and knows
 * two states apart that differ in their history alone (fingerprint).
 *
 * Header only: an oracle links nothing. */
#ifndef MODEL_ORACLE_GHOSTS_H
#define MODEL_ORACLE_GHOSTS_H

#include <stddef.h>
#include <stdint.h>

struct ghost_write {
    uint32_t cell;
    int64_t before;
};

struct ghosts {
    int64_t *cells;
    size_t count;
    struct ghost_write *log; /* where writes are noted, NULL: nowhere */
    size_t logged;           /* how many are noted; the caller sees to the room */
};

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
    ghosts->cells[cell] = value;
}

#endif
