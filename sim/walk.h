/* A walk through the states of a scenario: what can happen next, doing it, and taking it back. The
 * ground that a search (explore.h) stands on; the engines, the store, the oracles and the planted
 * bugs are those of every run.
 *
 * There is no clock. A claim runs out when the search says so (a lapse, of which there is a
 * budget); a worker that dies lets go of its message at once, since whether anybody takes it at
 * once is the search's choice, too; and when nobody can do anything, time moves on to the next
 * moment at which somebody can.
 *
 * (WA1) walk_undo brings back everything that walk_do changed: rows, memories, actors, budgets, the
 *       clock and the fingerprint.
 * (WA2) walk_moves depends on the state alone, and equal moves from equal states lead to equal
 *       states. */
#ifndef SIM_WALK_H
#define SIM_WALK_H

#include "sim/sameness.h"

#define WALK_DEPTH_MAX 4000
#define WALK_MOVES_MAX 192
#define WALK_NO_SLOT   UINT16_MAX

/* What may still go wrong. */
struct walk_bounds {
    uint8_t crashes;    /* an actor dies between two transactions */
    uint8_t duplicates; /* a message that was published is there once more */
    uint8_t lapses;     /* a claim runs out while its holder is at work */
    uint8_t unknowns;   /* the answer to COMMIT is lost; it committed, or not */
    uint8_t aborts;     /* the store gives a transaction up: 40001 */
    uint8_t drags;      /* half the life of a claim goes by while all are at work */
    uint8_t missteps;   /* an actor is about to make a move that the protocol forbids */
};

enum walk_kind {
    WALK_STEP,      /* an actor's next transaction, whole; a claim takes the message in `slot`, one
                       that rides with other work the one in `slot`, or none */
    WALK_WAIT,      /* nobody can do anything: time moves on */
    WALK_CRASH,     /* the actor dies and is back */
    WALK_TEAR,      /* ... inside its transaction, of which a torn store keeps half */
    WALK_DUPLICATE, /* of the message in `slot` */
    WALK_LAPSE,     /* of the claim of the message in `slot`, or of the next lease */
    WALK_UNSURE,    /* a step whose answer is lost: it committed */
    WALK_LOST,      /* ... it did not */
    WALK_ABORT,     /* a step that is given up */
    WALK_DRAG,      /* time goes by: half the life of a claim */
    WALK_MISSTEP,   /* the actor is about to make a wrong move, the one of number `slot` */
    WALK_OPERATE, /* statement level: the next operation of an open transaction; a claim as above */
    WALK_KIND_COUNT
};

struct walk_move {
    uint8_t kind; /* enum walk_kind */
    uint8_t actor;
    uint16_t slot; /* of a message, or WALK_NO_SLOT */
};

struct walk;
struct walk_frame;

/* A judge instead of the oracles: looks at the move that was just done, or, with NULL, at a state
 * in which nothing but faults can happen. What it remembers it keeps in walk->watched, which is
 * part of the state. False: it is broken. */
typedef bool walk_watch(struct walk *walk, const struct walk_frame *frame);

struct walk_frame {
    struct walk_move move;
    uint64_t watched;
    struct walk_bounds left;
    uint32_t copies;
    uint32_t messages; /* that had been published */
    int64_t now;
    size_t changes, ghosts, shares; /* where the logs stood */
    struct performer performer;     /* of the move's actor */
    void *sessions;                 /* statement level: what was open; the walk's own */
};

struct walk_plan {
    const struct scenario *scenario;
    const struct sabotage *sabotage; /* NULL: none */
    const bool *without;             /* clauses that are not judged; NULL: all are */
    struct walk_bounds bounds;
    unsigned reductions; /* a set of enum sameness_reduction */
    bool by_statement;   /* operations of different transactions interleave */
    bool keeps_paths;    /* what an oracle remembers for sightings alone is part of the state */
    walk_watch *watch;   /* NULL: the oracles judge */
    /* Changes the primitives, or the rules of the sessions, before anything happens: for who asks
     * what would come of it. NULL: they stay as they are. */
    void (*alter)(struct walk *walk);
};

struct walk {
    struct walk_plan plan;
    struct run run;
    struct sameness same;
    struct walk_bounds left;
    uint64_t watched;           /* what plan.watch remembers */
    struct ghost_write *ghosts; /* a log, for taking back */
    struct walk_frame *frames;
    unsigned depth;
    bool crowded; /* there were more moves than walk_moves could list */
    /* what was sent, by bundle and primitive: as the engine says it, without a planted bug */
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];
    uint64_t spoiled; /* transactions that the planted bug had a hand in; undoing takes none back */
};

/* False: no memory. */
bool walk_make(struct walk *walk, const struct walk_plan *plan);
void walk_free(struct walk *walk);

/* To where nothing has happened yet. */
void walk_begin(struct walk *walk);

/* Everything that can happen, or as much of it as there is room for (crowded). Moves without a
 * fault come first, *sound many. With REDUCE_WORKERS one idle worker claims for all. With
 * REDUCE_ORDER no crashes and duplicates are among them, and claims ride only where the answer is
 * lost: see explore.h. */
size_t walk_moves(struct walk *walk, struct walk_move moves[WALK_MOVES_MAX], size_t *sound);

/* Whether a step could go wrong in a way of its own: a lost answer, an abort, a torn commit. At
 * statement level that happens to an open transaction: it is given up, or no answer comes, after
 * any operation; one that has come to its end may have committed all the same, or be torn. */
bool walk_has_variants(const struct walk *walk);

/* False: a promise is broken, and walk->run.result says which; or the store is full. */
bool walk_do(struct walk *walk, struct walk_move move);
void walk_undo(struct walk *walk);

/* To where the walk was at this depth. */
void walk_back_to(struct walk *walk, unsigned depth);

/* To the end of a way that was gone before, by this walk or by another of the same plan: back to
 * where its own way parts from that one, and on. */
void walk_go(struct walk *walk, const struct walk_move *way, unsigned length);

/* Does it and shows it to walk->run.observer as a step of a run. */
bool walk_show(struct walk *walk, struct walk_move move);

/* Whether there is no room for another move. */
bool walk_is_deep(const struct walk *walk);

uint64_t walk_state(struct walk *walk);

/* Whether claims ride with other work there. */
bool walk_claims_ride(const struct scenario *scenario);

/* Whether the move is a transaction with a claim that rides with it; `before` is its actor. */
bool walk_rides(struct walk_move move, const struct performer *before);

/* Whether the actor has something to lose in a crash. */
bool walk_can_crash(const struct walk *walk, unsigned actor);

/* Nothing can happen any more but faults: the live promises. False: one is broken. */
bool walk_settled(struct walk *walk);

const char *walk_kind_text(enum walk_kind kind);

#endif
