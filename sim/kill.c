#include "sim/kill.h"

#include "model/check.h"
#include "sim/part.h"

#include <stdlib.h>
#include <string.h>

size_t kill_scenarios(const struct sabotage *sabotage, const char *names[KILL_SCENARIOS_MAX])
{
    if (sabotage->scenario != NULL) {
        names[0] = sabotage->scenario;
        return 1;
    }
    const struct sim_part *part = part_of((enum protocol_id)sabotage->protocol);
    const char *only = part->only_ground == NULL
                           ? NULL
                           : part->only_ground((enum bundle_name)sabotage->bundle,
                                               (enum primitive_id)sabotage->primitive);
    if (only != NULL) {
        names[0] = only;
        return 1;
    }
    size_t count = 0;
    while (count < KILL_SCENARIOS_MAX && part->grounds[count] != NULL) {
        names[count] = part->grounds[count];
        count++;
    }
    return count;
}

/* A scenario with everything that it takes to run it. */
struct ground {
    struct scenario scenario;
    struct run run;
};

static struct ground *make_ground(const char *name, const struct sabotage *sabotage,
                                  const struct kill_hunting *hunting)
{
    struct ground *ground = calloc(1, sizeof *ground);
    struct scenario_fault fault;
    if (ground == NULL) {
        return NULL;
    }
    bool loaded = scenario_load(name, &ground->scenario, &fault);
    CHECK(loaded); /* a built-in one */
    if (!run_make(&ground->run, &ground->scenario, sabotage)) {
        free(ground);
        return NULL;
    }
    if (hunting->without != NULL) {
        memcpy(ground->run.oracle.off, hunting->without, sizeof ground->run.oracle.off);
    }
    ground->run.strategy = hunting->strategy;
    return ground;
}

static void hunt(struct ground *const *grounds, size_t count, const struct kill_hunting *hunting,
                 struct kill *kill)
{
    while (!kill->found && kill->schedules < hunting->schedules_max) {
        struct ground *ground = grounds[kill->schedules % count];
        uint64_t seed = hunting->base_seed + kill->schedules / count;
        struct choice_source source = run_draw(&ground->run, seed);
        const struct run_result *result = run_once(&ground->run, &source);
        kill->schedules++;
        if (result->verdict == RUN_BROKEN) {
            kill->found = true;
            kill->seed = seed;
            kill->breach = result->breach;
            kill->oracle = result->oracle;
            kill->steps = result->steps;
        }
    }
}

bool kill_hunt(const struct sabotage *sabotage, const struct kill_hunting *hunting,
               struct kill *kill)
{
    const char *names[KILL_SCENARIOS_MAX];
    struct ground *grounds[KILL_SCENARIOS_MAX];
    size_t count = kill_scenarios(sabotage, names), made = 0;
    CHECK(count > 0);
    *kill = (struct kill){.found = false};
    while (made < count && (grounds[made] = make_ground(names[made], sabotage, hunting)) != NULL) {
        made++;
    }
    if (made == count) {
        hunt(grounds, count, hunting, kill);
        kill->scenario = names[(kill->schedules + count - 1) % count];
    }
    for (size_t i = 0; i < made; i++) {
        run_free(&grounds[i]->run);
        free(grounds[i]);
    }
    return made == count;
}
