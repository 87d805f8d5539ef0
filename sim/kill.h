/* The kill: how many schedules it takes until the bench finds a planted bug, and which promise
 * finds it.
 *
 * A named sabotage is hunted in the scenario where it shows best; an enumerated one in several, a
 * seed each in turn, because nobody chose it for one. "No findings" of a campaign is worth as much
 * as these figures. */
#ifndef SIM_KILL_H
#define SIM_KILL_H

#include "sim/run.h"

#define KILL_SCENARIOS_MAX 8

struct kill {
    bool found;
    uint32_t schedules; /* tried, the one that found it included */
    const char *scenario;
    uint64_t seed;
    struct oracle_verdict breach;
    enum oracle_name oracle;
    uint32_t steps; /* of the run that found it */
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

#endif
