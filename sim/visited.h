/* The states that a search has seen, as fingerprints: 8 bytes a state, and one bit that says of a
 * state that everything can come to rest from there.
 *
 * Threads share it. It lies in shards, each with a lock of its own and an open-addressed table that
 * doubles when it is four fifths full; a search never stops for all of it.
 *
 * A fingerprint is 63 bits. Two different states of n are taken for one with a chance of about
 * n^2 / 2^64: 5 in 10^8 for a million states, 5 in 10^4 for a hundred million.
 *
 * (VI1) Of all threads that add a fingerprint exactly one is told that it is new.
 * (VI2) Its tables never take more bytes than the budget that it was given has, but for the moment
 *       in which one of them grows; what does not fit is told, not lost. */
#ifndef SIM_VISITED_H
#define SIM_VISITED_H

#include "sim/explore_budget.h"

#include <stdint.h>

#define VISITED_SHARDS 256

struct visited_shard; /* visited.c */

struct visited {
    struct visited_shard *shards;
    struct explore_budget *budget; /* which others may take from, too */
};

enum visited_answer { VISITED_NEW, VISITED_KNOWN, VISITED_FULL };

/* The budget must outlive it. False: no memory. */
bool visited_make(struct visited *visited, struct explore_budget *budget);
void visited_free(struct visited *visited);

/* KNOWN: *rests is its bit. */
enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint, bool *rests);

/* Of a state that was added: everything can come to rest from there. */
void visited_set_rests(struct visited *visited, uint64_t fingerprint);
bool visited_rests(struct visited *visited, uint64_t fingerprint);

/* While no thread adds. */
uint64_t visited_count(const struct visited *visited);
size_t visited_bytes(const struct visited *visited);

/* The chance that two different ones of so many states were taken for one. */
double visited_collision(double states);

#endif
