/* A walk through the state space of a scenario: the moves of a state, doing one, and undoing it. A
 * search (explore.h) is built on this; the engines, the store, the oracles and the planted bugs are
 * those of every run.
 *
 * There is no clock. A claim expires when the search decides so (a lapse, of which there is a
 * budget). A worker that crashes releases its message at once, since the search also decides when
 * another worker takes it. When no actor can do anything, time moves on to the next moment at which
 * one can.
 *
 * (WA1) walk_undo restores everything that walk_do changed: rows, memories, actors, budgets, the
 *       clock and the fingerprint.
 * (WA2) walk_moves depends on the state alone, and equal moves from equal states lead to equal
 *       states.
 * (WA3) A move with a fault is paid for from the budget, which never grows along a path. */
#ifndef SIM_WALK_H
#define SIM_WALK_H

#include "sim/fingerprint.h"

#define WALK_DEPTH_MAX 4000
#define WALK_MOVES_MAX 192
#define WALK_NO_SLOT   UINT16_MAX

/* The remaining fault budget. */
struct walk_bounds {
    uint8_t crashes;    /* an actor crashes between two transactions */
    uint8_t duplicates; /* a published message appears once more */
    uint8_t lapses;     /* a claim expires while its holder is at work */
    uint8_t unknowns;   /* the answer to COMMIT is lost; it committed, or not */
    uint8_t aborts;     /* the store aborts a transaction: 40001 */
    uint8_t drags;      /* half the duration of a claim passes while all are at work */
    uint8_t missteps;   /* an actor attempts a move that the protocol forbids */
};

enum walk_kind {
    WALK_STEP,      /* an actor's next transaction, whole; a claim takes the message in `slot`, a
                       claim that rides with other work that message or none */
    WALK_WAIT,      /* no actor can do anything: time moves on */
    WALK_CRASH,     /* the actor crashes and restarts */
    WALK_TEAR,      /* ... inside its transaction, of which a torn store keeps half */
    WALK_DUPLICATE, /* of the message in `slot` */
    WALK_LAPSE,     /* of the claim of the message in `slot`, or of the next lease */
    WALK_UNSURE,    /* a step whose answer is lost: it commits */
    WALK_LOST,      /* ... it does not */
    WALK_ABORT,     /* a step that the store aborts */
    WALK_DRAG,      /* time passes: half the duration of a claim */
    WALK_MISSTEP,   /* the actor attempts the forbidden move number `slot` */
    WALK_OPERATE, /* statement level: the next operation of an open transaction; a claim as above */
    WALK_KIND_COUNT
};

struct walk_move {
    uint8_t kind; /* enum walk_kind */
    uint8_t actor;
    uint16_t slot; /* of a message, or WALK_NO_SLOT */
};

struct walk;
struct walk_record;

/* A judge instead of the oracles: looks at the last move, or, with NULL, at a quiescent state. It
 * keeps its memory in walk->watched, which is part of the state. False: a promise is broken. */
typedef bool walk_watch(struct walk *walk, const struct walk_record *record);

struct walk_record {
    struct walk_move move;
    uint64_t watched;
    struct walk_bounds left;
    uint32_t copies;
    uint32_t messages; /* published so far */
    int64_t now;
    size_t changes, ghosts, shares; /* positions in the logs */
    struct performer performer;     /* of the move's actor */
    void *sessions;                 /* statement level: the open transactions; the walk's own */
};

struct walk_plan {
    const struct scenario *scenario;
    const struct sabotage *sabotage; /* NULL: none */
    const bool *without;             /* clauses that are not judged; NULL: all are */
    struct walk_bounds bounds;
    unsigned reductions; /* a set of enum fingerprint_reduction */
    bool by_statement;   /* operations of different transactions interleave */
    bool keeps_paths;    /* what an oracle remembers for cover points is part of the state */
    walk_watch *watch;   /* NULL: the oracles judge */
    /* Changes the primitives, or the rules of the sessions, before the walk begins: for questions
     * of the form "what if". NULL: no change. */
    void (*alter)(struct walk *walk);
};

struct walk {
    struct walk_plan plan;
    struct run run;
    struct fingerprint same;
    struct walk_bounds left;
    uint64_t watched;           /* what plan.watch remembers */
    struct ghost_write *ghosts; /* an undo log */
    struct walk_record *records;
    unsigned depth;
    bool crowded; /* walk_moves had no room for all moves */
    /* what was sent, by bundle and primitive: as the engine says it, before a planted bug changes
     * it */
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];
    uint64_t spoiled; /* transactions that the planted bug changed; undo does not lower it */
};

/* False: no memory. */
bool walk_make(struct walk *walk, const struct walk_plan *plan);
void walk_free(struct walk *walk);

/* Resets to the initial state. */
void walk_begin(struct walk *walk);

/* The moves of the current state, or as many as there is room for (crowded). The first *sound of
 * them are free of faults. With REDUCE_WORKERS one idle worker claims for all. With REDUCE_ORDER
 * crashes and duplicates are left out, and claims ride only where the answer is lost: see
 * explore.h. */
size_t walk_moves(struct walk *walk, struct walk_move moves[WALK_MOVES_MAX], size_t *sound);

/* Whether a step has variants with a fault: a lost answer, an abort, a torn commit. At statement
 * level these concern an open transaction. After any operation it may abort, or lose its answer;
 * one that has done its last operation may also commit without an answer, or be torn. */
bool walk_has_variants(const struct walk *walk);

/* False: a promise is broken, and walk->run.result says which; or the store is full. */
bool walk_do(struct walk *walk, struct walk_move move);
void walk_undo(struct walk *walk);

/* Undoes moves down to this depth. */
void walk_back_to(struct walk *walk, unsigned depth);

/* Moves to the end of a path that this walk, or another of the same plan, has taken before: undoes
 * down to the common prefix, then replays the rest. */
void walk_go(struct walk *walk, const struct walk_move *way, unsigned length);

/* Asserts (WA3), and what (WA1) rests on: the last undo record lies before the end of each log, and,
 * at some depths, the fingerprint is that of the rows. */
void walk_check(struct walk *walk);

/* Does the move and shows it to walk->run.observer as a step of a run. */
bool walk_show(struct walk *walk, struct walk_move move);

/* Whether the depth is exhausted. */
bool walk_is_deep(const struct walk *walk);

uint64_t walk_state(struct walk *walk);

/* Whether claims ride with other work in this scenario. */
bool walk_claims_ride(const struct scenario *scenario);

/* Whether the move is a transaction with a claim that rides with it; `before` is the actor before
 * it. */
bool walk_rides(struct walk_move move, const struct performer *before);

/* Whether a crash of the actor would lose anything. */
bool walk_can_crash(const struct walk *walk, unsigned actor);

/* At a quiescent state: judges the live promises. False: one is broken. */
bool walk_settled(struct walk *walk);

const char *walk_kind_text(enum walk_kind kind);

#endif
