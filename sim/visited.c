#include "sim/visited.h"

#include "model/check.h"

#include <stdatomic.h>
#include <stdlib.h>

#define FIRST_SIZE 256 /* entries of a shard, a power of two */
#define RESTS      UINT64_C(1)

/* An entry is the fingerprint with its lowest bit used for RESTS; 0: free. Padded to a cache line,
 * so that two threads in two shards do not wait for each other. */
struct visited_shard {
    _Alignas(64) atomic_flag lock;
    uint64_t *entries;
    size_t mask, count;
};

bool visited_make(struct visited *visited, struct explore_budget *budget)
{
    *visited = (struct visited){.budget = budget};
    visited->shards = aligned_alloc(64, VISITED_SHARDS * sizeof *visited->shards);
    if (visited->shards == NULL) {
        return false;
    }
    for (size_t s = 0; s < VISITED_SHARDS; s++) {
        visited->shards[s] = (struct visited_shard){.lock = ATOMIC_FLAG_INIT};
    }
    return true;
}

void visited_free(struct visited *visited)
{
    for (size_t s = 0; visited->shards != NULL && s < VISITED_SHARDS; s++) {
        free(visited->shards[s].entries);
    }
    free(visited->shards);
    visited->shards = NULL;
}

/* The highest bits choose the shard, the middle ones the position in it. */
static struct visited_shard *shard_of(const struct visited *visited, uint64_t fingerprint)
{
    return &visited->shards[fingerprint >> 56];
}

static void lock(struct visited_shard *shard)
{
    while (atomic_flag_test_and_set_explicit(&shard->lock, memory_order_acquire)) {
    }
}

static void unlock(struct visited_shard *shard)
{
    atomic_flag_clear_explicit(&shard->lock, memory_order_release);
}

/* Where the fingerprint is, or would be. */
static uint64_t *place_of(const struct visited_shard *shard, uint64_t fingerprint)
{
    size_t at = (size_t)(fingerprint >> 1) & shard->mask;
    while (shard->entries[at] != 0 && (shard->entries[at] | RESTS) != fingerprint) {
        at = (at + 1) & shard->mask;
    }
    return &shard->entries[at];
}

/* Room for one more; false: there is none. Where doubling would not fit, the table is filled up to
 * fifteen sixteenths. */
static bool make_room(const struct visited *visited, struct visited_shard *shard)
{
    size_t size = shard->entries == NULL ? 0 : shard->mask + 1;
    if (shard->count < size / 5 * 4) {
        return true;
    }
    size_t more = size == 0 ? FIRST_SIZE : 2 * size;
    size_t bytes = (more - size) * sizeof *shard->entries;
    bool fits = more * sizeof *shard->entries <= visited->budget->max / VISITED_SHARDS &&
                explore_budget_take(visited->budget, bytes);
    uint64_t *entries = fits ? calloc(more, sizeof *entries) : NULL;
    if (entries == NULL) {
        explore_budget_give(visited->budget, fits ? bytes : 0);
        return shard->count < size / 16 * 15;
    }
    struct visited_shard grown = {.entries = entries, .mask = more - 1};
    for (size_t at = 0; at < size; at++) {
        if (shard->entries[at] != 0) {
            *place_of(&grown, shard->entries[at] | RESTS) = shard->entries[at];
        }
    }
    free(shard->entries);
    shard->entries = entries;
    shard->mask = more - 1;
    return true;
}

/* The form in which entries are compared: never 0, the lowest bit set. */
static uint64_t normal(uint64_t fingerprint)
{
    return fingerprint <= 1 ? 3 : fingerprint | RESTS;
}

enum visited_answer visited_add(struct visited *visited, uint64_t fingerprint, bool *rests)
{
    fingerprint = normal(fingerprint);
    struct visited_shard *shard = shard_of(visited, fingerprint);
    enum visited_answer answer = VISITED_NEW;
    lock(shard);
    bool room = make_room(visited, shard);
    uint64_t *entry = shard->entries == NULL ? NULL : place_of(shard, fingerprint);
    if (entry != NULL && *entry != 0) {
        *rests = (*entry & RESTS) != 0;
        answer = VISITED_KNOWN;
    } else if (entry == NULL || !room) {
        answer = VISITED_FULL;
    } else {
        *entry = fingerprint & ~RESTS;
        shard->count++;
    }
    unlock(shard);
    return answer;
}

void visited_set_rests(struct visited *visited, uint64_t fingerprint)
{
    fingerprint = normal(fingerprint);
    struct visited_shard *shard = shard_of(visited, fingerprint);
    lock(shard);
    *place_of(shard, fingerprint) = fingerprint;
    unlock(shard);
}

bool visited_rests(struct visited *visited, uint64_t fingerprint)
{
    fingerprint = normal(fingerprint);
    struct visited_shard *shard = shard_of(visited, fingerprint);
    lock(shard);
    bool rests = shard->entries != NULL && *place_of(shard, fingerprint) == fingerprint;
    unlock(shard);
    return rests;
}

uint64_t visited_count(const struct visited *visited)
{
    uint64_t count = 0;
    for (size_t s = 0; s < VISITED_SHARDS; s++) {
        count += visited->shards[s].count;
    }
    return count;
}

size_t visited_bytes(const struct visited *visited)
{
    size_t bytes = VISITED_SHARDS * sizeof(struct visited_shard);
    for (size_t s = 0; s < VISITED_SHARDS; s++) {
        const struct visited_shard *shard = &visited->shards[s];
        bytes += shard->entries == NULL ? 0 : (shard->mask + 1) * sizeof *shard->entries;
    }
    return bytes;
}

void visited_check(const struct visited *visited)
{
    size_t bytes = 0;
    for (size_t s = 0; s < VISITED_SHARDS; s++) {
        const struct visited_shard *shard = &visited->shards[s];
        size_t size = shard->entries == NULL ? 0 : shard->mask + 1;
        bytes += size * sizeof *shard->entries;
    }
    CHECK(bytes <= visited->budget->max); /* VI2 */
}

double visited_collision(double states)
{
    return states * states / 18446744073709551616.0; /* n^2 / 2 pairs, 2^63 fingerprints */
}
