/* The seeds that campaigns drew without a planted bug, each counted once for its scenario, and what
 * they exclude.
 *
 * A campaign's line says which seeds it is about: from "base_seed" to "last_seed", of which a shard
 * has its own part. Lines that overlap count as the larger of them, so that a folder that was
 * merged with itself, or a campaign that was run again, shows nothing more.
 *
 * Scenarios are samples of their own: what is rare in one says nothing about another, and one that
 * is there to break a promise says nothing about what holds. */
#ifndef REPORTS_SEEDS_H
#define REPORTS_SEEDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SEEDS_CONFIDENCE 0.95

struct seeds {
    uint64_t all;        /* of every scenario */
    uint64_t held;       /* of those that are to hold */
    size_t scenarios;    /* how many are to hold */
    const char *weakest; /* the one of them with the fewest; NULL: there is none */
    uint64_t least;      /* ... and how many */
    double probability;  /* what a seed of it meets more often would have been met */
};

struct seeds seeds_count(const json_t *lines);

#endif
