/* What the depth-first search (explore.c), the breadth-first one (explore_breadth.c) and what a search
 * comes to (explore_result.c) share. Private to the three of them. */
#ifndef SIM_EXPLORE_INSIDE_H
#define SIM_EXPLORE_INSIDE_H

#include "sim/explore.h"

#include <stdatomic.h>

#define ENDS_MAX   ((size_t)2 * EXPLORE_ENDS_MAX) /* slots of the hash table, a power of two */
#define CACHE_LINE 64

#define NO_MEMORY "memory ran out"
#define TOO_LONG  "a schedule was too long"
#define TOO_MUCH  "too much could happen at once"

/* A growing array of numbers. */
struct words {
    uint64_t *items;
    size_t count, capacity;
};

enum dying { NOBODY_DIES, MOVER_DIES, ANYBODY_DIES };

/* Fault successors of a state, right after a move: duplicates of messages, crashes of workers. */
struct fault_successors {
    bool open;            /* not explored yet */
    uint32_t first, last; /* slots of the messages that may be duplicated */
    enum dying dies;
    unsigned from; /* actors below this number have been tried */
};

/* What is left to try at one depth of the path. Allocated, not on the stack: a path may be
 * WALK_DEPTH_MAX long. */
struct level {
    struct walk_move moves[WALK_MOVES_MAX];
    uint64_t successors[WALK_MOVES_MAX];
    size_t next, end;             /* moves that no thread has taken */
    size_t sound;                 /* the first so many are free of faults */
    uint64_t state;               /* the state that they start from; 0: one that is not stored */
    struct fault_successors kind; /* open: the moves are these fault successors, one by one */
    struct fault_successors fault_successors;
    bool has_variants; /* the next move on the path has variants with a fault */
};

/* A work item: something to try, and the path to the state where it is tried. */
enum item_kind { ITEM_MOVE, ITEM_MISHAP, ITEM_TROUBLE, ITEM_VARIANTS };

struct work_item {
    enum item_kind kind;
    struct walk_move move;
    struct fault_successors fault_successors;
    bool sound;     /* MOVE: it is free of faults, */
    uint64_t state; /* and its result counts for the liveness of this state */
    unsigned length;
    struct walk_move way[WALK_DEPTH_MAX];
};

/* One thread's part of a search. */
struct explorer {
    _Alignas(CACHE_LINE) struct explore *explore;
    struct walk walk;
    struct level *levels;                       /* by depth */
    struct fingerprint ends[EXPLORE_ENDS_SETS]; /* fingerprints of rows alone, one for each set */
    atomic_uint_fast64_t states;                /* that it visited first; other threads read it */
    uint64_t transitions, rests;
    unsigned deepest;
    struct words notes;    /* of states not known to reach quiescence: count of successors, state,
                             successors */
    uint64_t state;        /* fingerprint of the state visited last */
    struct work_item item; /* the work item that it received */
};

/* Terminal states seen, an open-addressed hash table. */
struct ends {
    uint64_t seen[ENDS_MAX];
    struct explore_ends told;
};

struct explore {
    struct explore_plan plan;
    struct explore_budget budget;
    struct visited visited;
    struct explorer explorers[EXPLORE_JOBS_MAX];
    _Alignas(CACHE_LINE) atomic_bool stop;
    atomic_uint wanted;                    /* work items that idle threads wait for */
    _Alignas(CACHE_LINE) atomic_uint busy; /* busy threads plus queued work items */
    atomic_flag lock;                      /* guards what follows */
    struct work_item *items;
    unsigned item_count;
    struct ends *ends; /* EXPLORE_ENDS_SETS of them */
    size_t way_bytes;  /* breadth first: size of the back pointers */
    struct explore_report report;
};

/* A spinlock: what it guards takes some instructions. */
static inline void explore_lock(struct explore *explore)
{
    while (atomic_flag_test_and_set_explicit(&explore->lock, memory_order_acquire)) {
    }
}

static inline void explore_unlock(struct explore *explore)
{
    atomic_flag_clear_explicit(&explore->lock, memory_order_release);
}

/* ---- explore_result.c ---- */

/* Ends the search. Has no effect if it has ended already. */
void explore_finish_as(struct explore *explore, enum explore_verdict verdict, const char *why);
bool explore_stopped(const struct explore *explore);

/* Reports a breach: the last move, or the quiescent state where the walk stands, breaks a
 * promise. */
void explore_found(struct explorer *explorer);

/* Reports the target state, which is where the walk stands. */
void explore_reached(struct explorer *explorer);

/* The walk stands at a terminal state. */
void explore_note_end(struct explorer *explorer);

/* The state is not known to reach quiescence; it does if one of its successors does. */
void explore_note_unrested(struct explorer *explorer, uint64_t state, const uint64_t *successors,
                           size_t count);

/* Asserts (XP1) of a search that has ended: no work item is left where every promise held. */
void explore_check(const struct explore *explore);

/* ---- explore.c ---- */

/* The walk stands at a quiescent state. False: a live promise is broken. */
bool explore_judge_rest(struct explorer *explorer);

/* False: no room for another move, or a reduction is not sound here; the search has ended. */
bool explore_goes_on(struct explorer *explorer);

/* The moves of the current state; if they are too many, the search ends. */
size_t explore_moves(struct explorer *explorer, struct walk_move *moves, size_t *sound);

#endif
