/* When two states of a search are the same: the fingerprint of a state, kept up to date commit by
 * commit and taken back with it.
 *
 * A state is what can still make a difference: rows, what the oracles remember to judge by, where
 * each actor stands, and what may still go wrong. It is not: the time of day (only how far off a
 * moment is), how often a message was claimed (only whether a claim still stands) unless it may be
 * published again, which of several equal copies of a message somebody has, and what an oracle
 * remembers for sightings alone.
 *
 * Rows, memories and actors each have a share, a hash; the shares of a place are summed, so that
 * the order in which they came does not matter. A place is a part of the world that others can be
 * exchanged with: an activity of a job, say, with everything that is about it. Places form a tree.
 * Place 0 is the world at large, and all there is unless the protocol knows better (sim_part).
 *
 * With all reductions off, shares tell workers, siblings and counters apart. Each reduction leaves
 * something out of the fingerprint:
 *
 * - workers: which worker it is that stands somewhere
 *
 * - siblings: which of several places of the same shape under one parent it is
 *
 * - counters: how often something was tried, and the dimensions that are counted out of it (only
 *   their order); where a counter comes near its ceiling, the search is told (saturated). A loop
 *   that does nothing but count comes back to the same state and is cut there, long before its
 *   ceiling: what only the ceiling would end counts as having no end
 *
 * The fourth, order, is no matter of sameness: see explore.h.
 *
 * (SA1) The fingerprint after sameness_undo is the one before.
 * (SA2) States that differ in what can make a difference have different fingerprints, but for the
 *       chance collision of 64-bit hashes.
 * (SA3) A cell that holds an id or a datum counts as it should be, if it is as in the run without
 *       faults, or as itself, and then its row is exchanged with no other. */
#ifndef SIM_SAMENESS_H
#define SIM_SAMENESS_H

#include "sim/run.h"

enum sameness_reduction {
    REDUCE_WORKERS = 1,
    REDUCE_SIBLINGS = 2,
    REDUCE_COUNTERS = 4,
    REDUCE_ORDER = 8,
    REDUCE_ALL = 15
};

#define SAMENESS_PLACES_MAX 64

struct sameness_share {
    uint64_t hash; /* 0: nothing is there */
    uint32_t place;
};

struct sameness_place {
    uint32_t parent; /* a lower number */
    uint64_t near;   /* places whose transactions may name rows of this one, a bit each */
    uint64_t salt;   /* the same for siblings that may be exchanged */
};

struct sameness_before {
    uint8_t table; /* enum row_table; TABLE_COUNT: a memory */
    uint32_t slot;
    struct sameness_share share;
};

struct sameness {
    const struct run *run;
    unsigned reductions;
    bool keeps_paths; /* what is remembered for sightings alone counts, too */
    bool saturated;   /* a counter that was left out came near its ceiling */
    uint32_t place_count;
    struct sameness_place places[SAMENESS_PLACES_MAX];
    uint64_t sums[SAMENESS_PLACES_MAX];
    uint64_t below[SAMENESS_PLACES_MAX];            /* scratch: a place with all that is under it */
    struct sameness_share *shares[TABLE_COUNT + 1]; /* by slot; the last: by entry of the memory */
    int64_t *expected;                              /* ghosts of the run without faults */
    struct sameness_before *log;
    size_t logged, log_capacity;
    void *own; /* the protocol's: made by its hook, freed with free */
};

/* How far what a transaction does can make a difference to others, and they to it. */
enum sameness_locality {
    LOCAL_NOT,   /* anywhere */
    LOCAL_ALONE, /* nowhere, if no other message about its place is anywhere */
    LOCAL_ANYWAY /* nowhere: it takes its own message away, and that is all */
};

/* What a protocol knows of the sameness of its states; see sim_part. */
struct sameness_hooks {
    /* Says which places there are, from run->crash_free. False: no memory. */
    bool (*make)(struct sameness *same);
    /* Share and place of a row that is there. */
    struct sameness_share (*row)(struct sameness *same, enum row_table table, uint32_t slot);
    /* Share and place of an actor that is not idle. */
    struct sameness_share (*actor)(struct sameness *same, const struct performer *one);
    /* The place of something that has this id, and what it is there; false: not known. */
    bool (*locate)(const struct sameness *same, int64_t id, uint32_t *place, uint64_t *what);
    /* Whether whoever claims the message in this slot may have nothing but local steps to do. */
    bool (*promises_locality)(const struct sameness *same, uint32_t slot);
    /* What a transaction that is about to be sent may concern. */
    enum sameness_locality (*locality)(const struct sameness *same, const struct bundle *bundle);
    /* Whether one that has just been executed did so: sameness.log from `logged` on tells what it
     * changed; the table of places had so many rows before. */
    bool (*stayed)(const struct sameness *same, const struct bundle *bundle, uint32_t place,
                   size_t logged, uint32_t rows);
    /* Whether one that has just been executed (run->outcome) came to a call that names a row of
     * another place than its own which was there before, or publishes a message once more. */
    bool (*reaches_out)(const struct sameness *same, const struct bundle *bundle, uint32_t place,
                        uint32_t rows, uint32_t messages);
    /* The table whose rows are the places. */
    enum row_table places_in;
};

/* Right after run_make, which leaves what the run without faults left. False: no memory. */
bool sameness_make(struct sameness *same, const struct run *run, unsigned reductions);
void sameness_free(struct sameness *same);

/* Afresh, from all rows and memories. */
void sameness_begin(struct sameness *same);

/* Rows and ghosts changed: the world's log from `mark` on, and so many writes of ghosts. */
void sameness_note(struct sameness *same, size_t mark, const struct ghost_write *writes,
                   size_t count);
/* The clock moved: times are farther off or nearer. */
void sameness_note_time(struct sameness *same);
void sameness_undo(struct sameness *same, size_t logged);

/* The state's fingerprint; `left` is what may still go wrong. */
uint64_t sameness_state(struct sameness *same, uint64_t left);

/* Of the rows alone. */
uint64_t sameness_rows(struct sameness *same);

/* An actor's place, and a number that is equal for actors in exchangeable places who stand equally;
 * after sameness_state. */
struct sameness_share sameness_actor(struct sameness *same, unsigned actor);
uint64_t sameness_rank(const struct sameness *same, struct sameness_share actor);

/* No planted bug has left anything with it: idle, it is like any other who is idle. */
bool sameness_keeps_nothing(const struct performer *one);

/* ---- for hooks ------------------------------------------------------------------------------- */

static inline uint64_t sameness_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9FB21C651E98DF25);
    return hash ^ (hash >> 32);
}

static inline uint64_t sameness_mix_words(uint64_t hash, const int64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = sameness_mix(hash, (uint64_t)words[i]);
    }
    return hash;
}

/* Every bit reaches every bit; never 0. */
static inline uint64_t sameness_finish(uint64_t hash)
{
    hash *= UINT64_C(0xE9846AF9B1A615D);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 29;
    return hash == 0 ? 1 : hash;
}

/* How far off a moment is; 0 of one that is past, or of none. */
static inline int64_t sameness_ahead(const struct sameness *same, int64_t moment)
{
    return moment > same->run->world.now ? moment - same->run->world.now : 0;
}

/* A message that an actor holds, key first. */
uint64_t sameness_mix_message(const struct sameness *same, uint64_t hash, const int64_t *message);

/* The row as it stands, exchanged with no other. */
struct sameness_share sameness_raw_row(const struct sameness *same, enum row_table table,
                                       uint32_t slot);

#endif
