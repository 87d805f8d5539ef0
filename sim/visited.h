/* The states that a search has visited, as fingerprints: 8 bytes a state, one bit of which says
 * that the state can reach quiescence.
 *
 * Threads share it. It consists of shards, each with a lock and an open-addressed hash table of its
 * own that doubles when it is four fifths full; the search never stops for the whole of it.
 *
 * A fingerprint has 63 bits. The chance that two of n different states collide is about n^2 / 2^64:
 * 5 in 10^8 for a million states, 5 in 10^4 for a hundred million.
 *
 * (VI1) If several threads add one fingerprint, exactly one of them gets VISITED_NEW.
 * (VI2) The tables never take more bytes than their budget has, except while one of them grows; an
 *       addition that does not fit is reported as VISITED_FULL. */
#ifndef SIM_VISITED_H
#define SIM_VISITED_H

#include "sim/explore_budget.h"

#include <stdint.h>

#define VISITED_SHARDS 256

struct visited_shard; /* visited.c */

struct visited {
    struct visited_shard *shards;
    struct explore_budget *budget; /* shared with other parts of the search */
};

enum visited_answer { VISITED_NEW, VISITED_KNOWN, VISITED_FULL };

/* The budget must outlive it. False: no memory. */
bool visited_make(struct visited *visited, struct explore_budget *budget);
void visited_free(struct visited *visited);

/* KNOWN: *rests is set to the state's bit. */
enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint, bool *rests);

/* Of a state that was added: it can reach quiescence. */
void visited_set_rests(struct visited *visited, uint64_t fingerprint);
bool visited_rests(struct visited *visited, uint64_t fingerprint);

/* Only while no thread adds. */
uint64_t visited_count(const struct visited *visited);
size_t visited_bytes(const struct visited *visited);

/* Asserts (VI2). Only while no thread adds. */
void visited_check(const struct visited *visited);

/* The chance that two different ones of so many states have the same fingerprint. */
double visited_collision(double states);

#endif
