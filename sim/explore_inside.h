/* What a search depth first (explore.c) and one breadth first (explore_breadth.c) share. Private to
 * the two of them. */
#ifndef SIM_EXPLORE_INSIDE_H
#define SIM_EXPLORE_INSIDE_H

#include "sim/explore.h"

#include <stdatomic.h>

#define ENDS_MAX   ((size_t)2 * EXPLORE_ENDS_MAX) /* slots of their table, a power of two */
#define CACHE_LINE 64

#define NO_MEMORY "memory ran out"
#define TOO_LONG  "a schedule was too long"
#define TOO_MUCH  "too much could happen at once"

/* Numbers that grow. */
struct words {
    uint64_t *items;
    size_t count, capacity;
};

enum dying { NOBODY_DIES, MOVER_DIES, ANYBODY_DIES };

/* What may go wrong right after a move: messages come twice, somebody dies. */
struct trouble {
    bool open;            /* nobody has seen to it */
    uint32_t first, last; /* slots of the messages */
    enum dying dies;
    unsigned from; /* actors below have had their chance to die */
};

/* What is left to try at a place of the way. Not on the stack: a way may be WALK_DEPTH_MAX long. */
struct level {
    struct walk_move moves[WALK_MOVES_MAX];
    uint64_t successors[WALK_MOVES_MAX];
    size_t next, end;    /* those of the moves that nobody has taken */
    size_t sound;        /* so many are without a fault */
    uint64_t state;      /* that they lead on from; 0: one that is not kept */
    struct trouble kind; /* open: they are this trouble, one by one */
    struct trouble trouble;
    bool has_variants; /* of the next move on the way, with something wrong with it */
};

/* Something to try, and the way to where it is. */
enum errand_kind { ERRAND_MOVE, ERRAND_MISHAP, ERRAND_TROUBLE, ERRAND_VARIANTS };

struct errand {
    enum errand_kind kind;
    struct walk_move move;
    struct trouble trouble;
    bool sound;     /* MOVE: it is without a fault, */
    uint64_t state; /* and what it leads to counts for this state */
    unsigned length;
    struct walk_move way[WALK_DEPTH_MAX];
};

/* One thread's part of a search. */
struct explorer {
    _Alignas(CACHE_LINE) struct explore *explore;
    struct walk walk;
    struct level *levels;                    /* by depth of the walk */
    struct sameness ends[EXPLORE_ENDS_SETS]; /* rows alone, exchanged as each set allows */
    atomic_uint_fast64_t states;             /* that it visited first; others look at it */
    uint64_t transitions, rests;
    unsigned deepest;
    struct words notes;   /* of states not known to rest: count of successors, state, successors */
    uint64_t state;       /* of the state that was visited last */
    struct errand errand; /* that it was given */
};

/* Ends that were seen, an open-addressed table. */
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
    atomic_uint wanted;                    /* errands, by threads with nothing to do */
    _Alignas(CACHE_LINE) atomic_uint busy; /* threads at work and errands that lie here */
    atomic_flag lock;                      /* of what follows */
    struct errand *errands;
    unsigned errand_count;
    struct ends *ends; /* EXPLORE_ENDS_SETS of them */
    size_t way_bytes;  /* breadth first: of the ways back */
    struct explore_report report;
};

/* The search is over; if it was before, nothing changes. */
void explore_finish_as(struct explore *explore, enum explore_verdict verdict, const char *why);
bool explore_stopped(const struct explore *explore);

/* The move that was done last went wrong, or the rest of the state where the walk is. */
void explore_found(struct explorer *one);

/* The state that was looked for: it is where the walk is. */
void explore_reached(struct explorer *one);

/* Nothing but faults can happen where the walk is. False: a live promise is broken. */
bool explore_judge_rest(struct explorer *one);

/* There is no room for another move, or a reduction does not apply: the search is over. */
bool explore_goes_on(struct explorer *one);

/* What can happen; if that is too much, the search is over. */
size_t explore_moves(struct explorer *one, struct walk_move *moves, size_t *sound);

#endif
