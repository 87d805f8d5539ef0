/* Equivalence of a planted bug, shown by exhaustive search: no observer could tell it from the
 * sound engine.
 *
 * The sound engine and the sabotaged one are searched completely in the same scope (scopes.h,
 * explore.h). They are equal there if
 *
 * - both searches are complete, no promise breaks, and quiescence is reached from every state;
 * - the terminal states are the same: the sets of rows of quiescent states, every cell of them,
 *   counters included, up to an exchange of symmetric siblings;
 * - the same cover points are hit (oracle_cover).
 *
 * The numbers of states and of hits are not compared: a bundle that is sent twice has more states.
 *
 * In some scopes operations of different transactions interleave. Those are for bugs inside a
 * transaction: a primitive or a test that is left out, a value that is written back.
 *
 * (EQ1) A bug is shown equivalent if it took effect in some scope of its protocol and is equal to
 *       the sound engine in every scope in which it did. A bug that took effect nowhere is not.
 * (EQ2) The sound engine is searched once in each scope, and its result is used for every bug. */
#ifndef SIM_EQUIVALENCE_H
#define SIM_EQUIVALENCE_H

#include "sim/explore.h"
#include "sim/scopes.h"

#define EQUIVALENCE_NOT_SHOWN_PERCENT 10 /* of the listed equivalents may remain unproven */

/* A scope and the result of the sound engine there. */
struct equivalence_ground {
    const struct scope *scope;
    struct scenario *scenario;
    enum explore_verdict verdict; /* if not HELD, the scope shows nothing */
    const char *why;              /* BOUNDED: what ran out */
    uint64_t states;
    uint64_t *ends; /* terminal states, in ascending order */
    size_t end_count;
    bool seen[COVER_COUNT];
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];
};

enum equivalence_answer {
    EQUIVALENCE_UNTOUCHED, /* the bug never took effect here */
    EQUIVALENCE_EQUAL,     /* no difference */
    EQUIVALENCE_ENDS,      /* the terminal states differ */
    EQUIVALENCE_PATHS,     /* the cover points differ */
    EQUIVALENCE_BROKEN,    /* a promise breaks */
    EQUIVALENCE_STUCK,     /* some state cannot reach quiescence */
    EQUIVALENCE_UNDECIDED, /* the search was bounded */
    EQUIVALENCE_ANSWER_COUNT
};

/* A planted bug in one scope. */
struct equivalence_trial {
    enum equivalence_answer answer;
    const struct equivalence_ground *ground;
    uint64_t states, spoiled;     /* of the sabotaged engine; transactions that the bug changed */
    size_t more_ends, fewer_ends; /* ENDS: that only the sabotaged engine has; only the sound one */
    enum oracle_cover path;       /* PATHS: the first cover point that differs */
    bool path_is_new;             /* PATHS: only the sabotaged engine hits it */
    enum clause_id clause;        /* BROKEN */
    const char *why;              /* BROKEN, UNDECIDED */
};

/* Searches the scope with the sound engine. False: no memory. */
bool equivalence_ground_make(struct equivalence_ground *ground, const struct scope *scope);
void equivalence_ground_free(struct equivalence_ground *ground);

/* Plants the bug there. False: no memory. */
bool equivalence_try(const struct equivalence_ground *ground, const struct sabotage *sabotage,
                     struct equivalence_trial *trial);

/* A planted bug in all scopes of its protocol. */
struct equivalence {
    bool shown;                        /* (EQ1) */
    bool found;                        /* a search found a broken promise, or a state that cannot
                                          reach quiescence */
    unsigned scopes;                   /* in which it took effect; up to the decisive one */
    uint64_t states, spoiled;          /* in those scopes together */
    struct equivalence_trial decisive; /* shown: of the largest scope; else the first that differs;
                                          UNTOUCHED: it took effect nowhere */
};

/* `grounds` are those of all scopes of the bug's protocol. False: no memory. */
bool equivalence_judge(const struct equivalence_ground *grounds, size_t count,
                       const struct sabotage *sabotage, struct equivalence *judged);

/* Asserts (EQ1). */
void equivalence_check(const struct equivalence *judged);

/* The answer in half a line: "pair: 54510 states, 35 ends", "pair: 3 ends are new". */
void equivalence_text(const struct equivalence *judged, char *text, size_t size);

#endif
