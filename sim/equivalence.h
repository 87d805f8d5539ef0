/* Equivalence, shown: that nobody could see a planted bug.
 *
 * The sound engine and the spoiled one are searched whole in the same scope (scopes.h, explore.h).
 * They are equal there if
 *
 * - either search is complete, nothing breaks, and everything can come to rest;
 * - the ends are the same: the sets of rows that states have in which nothing but faults can
 *   happen, every cell of them, counters included, but for which of several exchangeable siblings
 *   it is;
 * - the same paths are seen (oracle_sighting).
 *
 * How many states there are, or how often a path was seen, is not compared: a bundle that is sent
 * twice has more states.
 *
 * Operations of different transactions interleave in some scopes. Those are for bugs inside a
 * transaction: a part or a test that is left out, a value that is written back.
 *
 * (EQ1) A bug is shown equivalent if it took effect in some scope of its protocol and is equal to
 *       the sound engine in every scope in which it did. One that took effect nowhere is not.
 * (EQ2) What the sound engine does in a scope is searched once, and is the same for every bug. */
#ifndef SIM_EQUIVALENCE_H
#define SIM_EQUIVALENCE_H

#include "sim/explore.h"
#include "sim/scopes.h"

#define EQUIVALENCE_NOT_SHOWN_PERCENT 10 /* of those listed as equivalent may stay so */

/* A scope and what the sound engine does there. */
struct equivalence_ground {
    const struct scope *scope;
    struct scenario *scenario;
    enum explore_verdict verdict; /* HELD, or the scope shows nothing */
    const char *why;              /* BOUNDED: what ran out */
    uint64_t states;
    uint64_t *ends; /* in ascending order */
    size_t end_count;
    bool seen[SIGHT_COUNT];
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];
};

enum equivalence_answer {
    EQUIVALENCE_UNTOUCHED, /* the bug never took effect here */
    EQUIVALENCE_EQUAL,     /* nobody could see it */
    EQUIVALENCE_ENDS,      /* there are other ends */
    EQUIVALENCE_PATHS,     /* other paths are seen */
    EQUIVALENCE_BROKEN,    /* a promise breaks */
    EQUIVALENCE_STUCK,     /* from some state nothing comes to rest */
    EQUIVALENCE_UNDECIDED, /* the search was bounded */
    EQUIVALENCE_ANSWER_COUNT
};

/* A planted bug in one scope. */
struct equivalence_trial {
    enum equivalence_answer answer;
    const struct equivalence_ground *ground;
    uint64_t states, spoiled;     /* of the spoiled engine; transactions that the bug changed */
    size_t more_ends, fewer_ends; /* ENDS: that only the spoiled engine has, only the sound one */
    enum oracle_sighting path;    /* PATHS: the first that differs */
    bool path_is_new;             /* PATHS: only the spoiled engine takes it */
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
    bool found;                        /* a search broke a promise, or did not come to rest */
    unsigned scopes;                   /* in which it took effect; up to the decisive one */
    uint64_t states, spoiled;          /* of those together */
    struct equivalence_trial decisive; /* shown: of the largest scope; else the first that differs;
                                          UNTOUCHED: it took effect nowhere */
};

/* `grounds` are all of the bug's protocol. False: no memory. */
bool equivalence_judge(const struct equivalence_ground *grounds, size_t count,
                       const struct sabotage *sabotage, struct equivalence *judged);

/* The answer in half a line: "pair: 54510 states, 35 ends", "pair: 3 ends are new". */
void equivalence_text(const struct equivalence *judged, char *text, size_t size);

#endif
