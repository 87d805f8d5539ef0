/* The kill: how many schedules it takes until the bench finds a planted bug, and which promise
 * finds it.
 *
 * A named sabotage is hunted in the scenario where it shows best; an enumerated one in several, a
 * seed each in turn, because nobody chose it for one. "No findings" of a campaign is worth as much
 * as these figures, so a kill must be the planted bug's and nothing else's:
 *
 * (KI1) A broken promise counts only if the sound engine keeps every promise on the same seed, and
 *       on the schedule that the finding shrinks to, and the spoiled engine breaks that promise on
 *       the shrunk schedule. A sound engine that breaks one itself is a finding of its own, told as
 *       such; the hunt goes on.
 * (KI2) A path that can no longer be taken counts, too: one that the sound engine takes in
 *       KILL_PATH_TAKEN or more of the first KILL_PATH_SEEDS seeds of a scenario, or a clause that
 *       it puts to the test in so many, and the spoiled one in none of these very seeds. Had the
 *       bug no part in it, the chance of that would be (1 - k/n)^n < e^-k: less than 10^-13 for
 *       each path.
 * (KI3) A run that says nothing (the simulated store was full) counts neither way. */
#ifndef SIM_KILL_H
#define SIM_KILL_H

#include "sim/run.h"

#define KILL_SCENARIOS_MAX 8
#define KILL_PATH_SEEDS    500
#define KILL_PATH_TAKEN    30
#define KILL_DISPUTES_MAX                                                                          \
    20 /* findings that the sound engine shares, until the hunt is given up                        \
        */

enum kill_way {
    KILL_BREACH, /* a promise is broken */
    KILL_PATH,   /* a path is not taken any more */
    KILL_CLAUSE, /* a clause is not put to the test any more */
};

/* The sound engine breaks a promise, too. */
struct kill_dispute {
    const char *scenario;
    uint64_t seed;
    bool shrunk; /* not on the seed itself, but on what its finding shrinks to */
    struct oracle_verdict breach;
};

struct kill {
    bool found;
    enum kill_way way;
    uint32_t schedules; /* tried, the one that found it included */
    const char *scenario;
    uint64_t seed;                /* BREACH */
    struct oracle_verdict breach; /* the clause that finds it, and what it says */
    enum oracle_name oracle;      /* BREACH */
    uint32_t steps, shrunk_steps; /* BREACH: of the run that found it; of the shrunk schedule */
    enum oracle_sighting path;    /* PATH */
    uint32_t taken;               /* PATH, CLAUSE: in so many seeds by the sound engine */
    uint32_t disputes;
    struct kill_dispute dispute; /* the first */
};

/* Where a sabotage is hunted: names of built-in scenarios. */
size_t kill_scenarios(const struct sabotage *sabotage, const char *names[KILL_SCENARIOS_MAX]);

struct kill_hunting {
    uint64_t base_seed; /* seeds from here on */
    uint32_t schedules_max;
    struct choice_strategy strategy;
    const bool *without; /* clauses that are switched off; NULL: none */
};

/* Hunts until it is found. False: no memory. */
bool kill_hunt(const struct sabotage *sabotage, const struct kill_hunting *hunting,
               struct kill *kill);

/* What a promise is worth by itself: whether it reports a planted bug of its protocol with all
 * others switched off. `first`, if it is not NULL, is tried before the named ones. kill->found says
 * so, and *by which it was. False: no memory. */
bool kill_by_itself(enum clause_id clause, const struct sabotage *first,
                    const struct kill_hunting *hunting, struct kill *kill, struct sabotage *by);

/* In how many seeds something was seen: what (KI2) compares. */
struct kill_paths {
    uint32_t seen[SIGHT_COUNT], evaluated[CLAUSE_COUNT];
};

/* One run more: what the oracle has counted since `before`, all zero at first, which is then
 * brought up to date. */
struct kill_counted {
    uint64_t seen[SIGHT_COUNT], evaluated[CLAUSE_COUNT];
};
void kill_paths_add(struct kill_paths *paths, const struct oracle *oracle,
                    struct kill_counted *before);

/* A path, else a clause, that only the sound engine comes to; false: there is none.
 * `without`: see kill_hunting. Fills in way, path, taken and the clause. */
bool kill_paths_differ(const struct kill_paths *sound, const struct kill_paths *spoiled,
                       const bool *without, struct kill *kill);

/* (KI2) by itself: either engine on the same seeds of the scenario, hunting->schedules_max of them.
 * kill->found says whether a path is lost. False: no memory. */
bool kill_paths_lost(const struct scenario *scenario, const struct sabotage *sabotage,
                     const struct kill_hunting *hunting, struct kill *kill);

#endif
