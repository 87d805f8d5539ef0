/* The kill: how many schedules the bench needs to find a planted bug, and which promise finds it.
 *
 * A named sabotage is hunted in the scenario where it shows best. An enumerated one is hunted in
 * several, a seed of each in turn, because no scenario was chosen for it. "No findings" of a
 * campaign is worth as much as these figures, so a kill must be due to the planted bug and to
 * nothing else:
 *
 * (KI1) A broken promise counts only if the sound engine keeps every promise on the same seed and
 *       on the shrunk schedule, and the sabotaged engine breaks that promise on the shrunk
 *       schedule. If the sound engine breaks a promise, that is a finding of its own (a dispute),
 *       reported as such; the hunt goes on.
 * (KI2) A lost path counts, too: a cover point or a clause that the sound engine reaches in
 *       KILL_PATH_TAKEN or more of the first KILL_PATH_SEEDS seeds of a scenario, and the sabotaged
 *       one in none of the same seeds. Without an effect of the bug, the chance of that would be
 *       (1 - k/n)^n < e^-k: less than 10^-13 for each path.
 * (KI3) A run without a verdict (the simulated store was full) counts neither way. */
#ifndef SIM_KILL_H
#define SIM_KILL_H

#include "sim/run.h"

#define KILL_SCENARIOS_MAX 8
#define KILL_PATH_SEEDS    500
#define KILL_PATH_TAKEN    30
#define KILL_DISPUTES_MAX  20 /* findings that the sound engine shares, until the hunt gives up */

enum kill_way {
    KILL_BREACH, /* a promise is broken */
    KILL_PATH,   /* a cover point is never hit any more */
    KILL_CLAUSE, /* a clause is never evaluated any more */
};

/* A finding that the sound engine shares. */
struct kill_dispute {
    const char *scenario;
    uint64_t seed;
    bool shrunk; /* not on the seed itself, but on the shrunk schedule */
    struct oracle_verdict breach;
};

struct kill {
    bool found;
    enum kill_way way;
    uint32_t schedules; /* tried, including the one that found it */
    const char *scenario;
    uint64_t seed;                /* BREACH */
    struct oracle_verdict breach; /* the clause that finds it, and its message */
    enum oracle_name oracle;      /* BREACH */
    uint32_t steps, shrunk_steps; /* BREACH: of the run that found it; of the shrunk schedule */
    enum oracle_cover path;       /* PATH */
    uint32_t taken;               /* PATH, CLAUSE: in how many seeds by the sound engine */
    uint32_t disputes;
    struct kill_dispute dispute; /* the first */
};

/* The scenarios in which a sabotage is hunted: names of built-in ones. */
size_t kill_scenarios(const struct sabotage *sabotage, const char *names[KILL_SCENARIOS_MAX]);

struct kill_hunting {
    uint64_t base_seed; /* the first seed */
    uint32_t schedules_max;
    struct choice_strategy strategy;
    const bool *without; /* clauses that are switched off; NULL: none */
};

/* Hunts until the sabotage is found, or schedules_max is reached. False: no memory. */
bool kill_hunt(const struct sabotage *sabotage, const struct kill_hunting *hunting,
               struct kill *kill);

/* What a promise is worth by itself: whether it reports a planted bug of its protocol with all
 * others switched off. `first`, if it is not NULL, is tried before the named ones. kill->found says
 * so, and *by which it was. False: no memory. */
bool kill_by_itself(enum clause_id clause, const struct sabotage *first,
                    const struct kill_hunting *hunting, struct kill *kill, struct sabotage *by);

/* In how many seeds each cover point was hit and each clause evaluated: what (KI2) compares. */
struct kill_paths {
    uint32_t seen[COVER_COUNT], evaluated[CLAUSE_COUNT];
};

/* Adds one run: what the oracle has counted since `before`, which is all zero at first and is then
 * brought up to date. */
struct kill_counted {
    uint64_t seen[COVER_COUNT], evaluated[CLAUSE_COUNT];
};
void kill_paths_add(struct kill_paths *paths, const struct oracle *oracle,
                    struct kill_counted *before);

/* A cover point, else a clause, that only the sound engine reaches; false: there is none.
 * `without`: see kill_hunting. Fills in way, path, taken and the clause. */
bool kill_paths_differ(const struct kill_paths *sound, const struct kill_paths *spoiled,
                       const bool *without, struct kill *kill);

/* Checks (KI2) alone: both engines on the same seeds of the scenario, hunting->schedules_max of
 * them. kill->found says whether a path is lost. False: no memory. */
bool kill_paths_lost(const struct scenario *scenario, const struct sabotage *sabotage,
                     const struct kill_hunting *hunting, struct kill *kill);

#endif
