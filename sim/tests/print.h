/* A print of all rows of a world, for who asks whether two worlds, or two moments of one, have
 * equal rows, whichever order they were written in. */
#ifndef SIM_TESTS_PRINT_H
#define SIM_TESTS_PRINT_H

#include "sim/fingerprint.h"

static inline uint64_t print_of(const struct world *world)
{
    uint64_t sum = 0;
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct row_area *area = &world->rows.table[t];
        for (uint32_t slot = 0; slot < area->used; slot++) {
            const int64_t *row = &area->cells[(size_t)slot * area->stride];
            uint64_t hash = (uint64_t)t + 1;
            for (uint32_t c = 0; c < area->stride; c++) {
                hash = fingerprint_mix(hash, (uint64_t)row[c]);
            }
            bool there = row_find(&world->rows, (enum row_table)t, row[0]) == slot;
            sum += there ? fingerprint_finish(hash) : 0;
        }
    }
    return sum;
}

#endif
