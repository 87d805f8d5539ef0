/* When two states of a search are the same: the fingerprint of a state, updated incrementally with
 * every commit and undone with it.
 *
 * The fingerprint covers everything that can affect the future: rows, the oracles' memory, the
 * state of each actor, and the remaining fault budget. It abstracts from the time of day (only
 * distances in time count); from the number of claims of a message (only whether a claim stands),
 * unless the message may be published again; from which of several equal copies of a message a
 * worker holds; and from what an oracle remembers for cover points alone.
 *
 * Each row, memory cell and actor has a hash contribution (a share). The contributions of a
 * component (a place) are summed, so their order does not matter. A component is a part of the
 * world that may be exchanged with others of its shape: an activity of a job, say, with everything
 * about it. Components form a tree. Component 0 is the whole world, and the only one unless the
 * protocol defines more (sim_part).
 *
 * With all reductions off, the fingerprint distinguishes workers, siblings and counters. Each
 * symmetry reduction leaves something out:
 *
 * - workers: which worker is in a given state
 *
 * - siblings: which of several components of the same shape under one parent it is
 *
 * - counters: how often something was tried, and the dimensions that are computed from such a count
 *   (only their order counts); the search is told when a counter comes near its ceiling
 *   (saturated). A loop that only counts returns to the same state and is cut there, long before
 *   its ceiling: a loop that only the ceiling would end counts as endless
 *
 * The fourth reduction, order, is a partial-order reduction and not a matter of fingerprints: see
 * explore.h.
 *
 * (SA1) The fingerprint after fingerprint_undo is the one before.
 * (SA2) States that differ in what can affect the future have different fingerprints, but for a
 *       collision of 64-bit hashes.
 * (SA3) A cell that holds an id or a datum contributes its role if it equals the cell of the run
 *       without faults. Else it contributes its value, and its row is exchanged with no other. */
#ifndef SIM_FINGERPRINT_H
#define SIM_FINGERPRINT_H

#include "sim/run.h"

enum fingerprint_reduction {
    REDUCE_WORKERS = 1,
    REDUCE_SIBLINGS = 2,
    REDUCE_COUNTERS = 4,
    REDUCE_ORDER = 8,
    REDUCE_ALL = 15
};

#define FINGERPRINT_PLACES_MAX 64

struct fingerprint_share {
    uint64_t hash; /* 0: no row */
    uint32_t place;
};

struct fingerprint_place {
    uint32_t parent; /* has a lower number */
    uint64_t near;   /* components whose transactions may name rows of this one, a bit each */
    uint64_t salt;   /* equal for siblings that may be exchanged */
};

struct fingerprint_before {
    uint8_t table; /* enum row_table; TABLE_COUNT: an oracle's memory cell */
    uint32_t slot;
    struct fingerprint_share share;
};

struct fingerprint {
    const struct run *run;
    unsigned reductions;
    bool keeps_paths; /* memory for cover points counts, too */
    bool saturated;   /* a counter that the fingerprint leaves out came near its ceiling */
    uint32_t place_count;
    struct fingerprint_place places[FINGERPRINT_PLACES_MAX];
    uint64_t sums[FINGERPRINT_PLACES_MAX];
    uint64_t below[FINGERPRINT_PLACES_MAX];            /* scratch: a component with its subtree */
    struct fingerprint_share *shares[TABLE_COUNT + 1]; /* by slot; the last: by memory cell */
    int64_t *expected; /* memory cells after the run without faults */
    struct fingerprint_before *log;
    size_t logged, log_capacity;
    void *own; /* the protocol's own data: made by its hook, freed with free */
};

/* Which transactions of others a transaction may fail to commute with. One that looks for rows by a
 * predicate (FIND, EVERY) touches every row that could match, of any component: it is LOCAL_NOT. */
enum fingerprint_locality {
    LOCAL_NOT,   /* any */
    LOCAL_ALONE, /* none, if no other message of its component exists */
    LOCAL_ANYWAY /* none: it only deletes its own message */
};

/* What a protocol knows about the symmetry of its states; see sim_part. */
struct fingerprint_hooks {
    /* Defines the components, from run->crash_free. False: no memory. */
    bool (*make)(struct fingerprint *same);
    /* Hash contribution and component of a row. */
    struct fingerprint_share (*row)(struct fingerprint *same, enum row_table table, uint32_t slot);
    /* Hash contribution and component of an actor that is not idle. */
    struct fingerprint_share (*actor)(struct fingerprint *same, const struct performer *one);
    /* The component of the thing with this id, and its role there; false: not known. */
    bool (*locate)(const struct fingerprint *same, int64_t id, uint32_t *place, uint64_t *what);
    /* Whether a worker that claims the message in this slot may have only local steps to do. */
    bool (*promises_locality)(const struct fingerprint *same, uint32_t slot);
    /* Locality of a transaction that is about to be sent. */
    enum fingerprint_locality (*locality)(const struct fingerprint *same,
                                          const struct bundle *bundle);
    /* Whether an executed transaction was as local as announced: fingerprint.log from `logged` on
     * tells what it changed; `rows` is the number of rows of `places_in` before. */
    bool (*stayed)(const struct fingerprint *same, const struct bundle *bundle, uint32_t place,
                   size_t logged, uint32_t rows);
    /* Whether an executed transaction (run->outcome) ran a call that names an existing row of
     * another component, or publishes a message a second time. */
    bool (*reaches_out)(const struct fingerprint *same, const struct bundle *bundle, uint32_t place,
                        uint32_t rows, uint32_t messages);
    /* The table whose rows are the components. */
    enum row_table places_in;
};

/* Call right after run_make, while run->world holds the rows of the run without faults. False: no
 * memory. */
bool fingerprint_make(struct fingerprint *same, const struct run *run, unsigned reductions);
void fingerprint_free(struct fingerprint *same);

/* Recomputes everything, from all rows and memory cells. */
void fingerprint_begin(struct fingerprint *same);

/* Rows and memory cells changed: the world's log from `mark` on, and `count` writes of memory
 * cells. */
void fingerprint_note(struct fingerprint *same, size_t mark, const struct ghost_write *writes,
                      size_t count);
/* The clock moved: distances in time changed. */
void fingerprint_note_time(struct fingerprint *same);
void fingerprint_undo(struct fingerprint *same, size_t logged);

/* Asserts that the sums are those of the contributions, and these those of the rows: so that what an
 * undo brings back is the fingerprint of before (SA1). */
void fingerprint_check(struct fingerprint *same);

/* The fingerprint of the state; `left` is the remaining fault budget. */
uint64_t fingerprint_state(struct fingerprint *same, uint64_t left);

/* Of the rows alone. */
uint64_t fingerprint_rows(struct fingerprint *same);

/* An actor's component, and a number that is equal for actors in the same state in exchangeable
 * components. Valid after fingerprint_state. */
struct fingerprint_share fingerprint_actor(struct fingerprint *same, unsigned actor);
uint64_t fingerprint_rank(const struct fingerprint *same, struct fingerprint_share actor);

/* A planted bug keeps no memory with this actor: when idle, it equals every other idle actor. */
bool fingerprint_keeps_nothing(const struct performer *performer);

/* ---- for hooks ------------------------------------------------------------------------------- */

static inline uint64_t fingerprint_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9FB21C651E98DF25);
    return hash ^ (hash >> 32);
}

static inline uint64_t fingerprint_mix_words(uint64_t hash, const int64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = fingerprint_mix(hash, (uint64_t)words[i]);
    }
    return hash;
}

/* Final avalanche: every input bit affects every output bit; never 0. */
static inline uint64_t fingerprint_finish(uint64_t hash)
{
    hash *= UINT64_C(0xE9846AF9B1A615D);
    hash ^= hash >> 32;
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 29;
    return hash == 0 ? 1 : hash;
}

/* The distance to a moment; 0 if it is past, or if there is none. */
static inline int64_t fingerprint_ahead(const struct fingerprint *same, int64_t moment)
{
    return moment > same->run->world.now ? moment - same->run->world.now : 0;
}

/* A message that an actor holds, key first. */
uint64_t fingerprint_mix_message(const struct fingerprint *same, uint64_t hash,
                                 const int64_t *message);

/* The row by its values, exchanged with no other. */
struct fingerprint_share fingerprint_raw_row(const struct fingerprint *same, enum row_table table,
                                             uint32_t slot);

#endif
