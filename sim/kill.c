#include "sim/kill.h"

#include "model/check.h"
#include "sim/part.h"
#include "sim/schedule.h"
#include "sim/shrink.h"

#include <stdlib.h>
#include <string.h>

size_t kill_scenarios(const struct sabotage *sabotage, const char *names[KILL_SCENARIOS_MAX])
{
    if (sabotage->scenario != NULL) {
        names[0] = sabotage->scenario;
        return 1;
    }
    const struct sim_part *part = sim_part_of(sabotage->protocol);
    const char *const *grounds = NULL;
    if (part->only_grounds != NULL) {
        grounds = part->only_grounds((enum bundle_name)sabotage->bundle,
                                     (enum primitive_id)sabotage->primitive);
    }
    grounds = grounds == NULL ? part->grounds : grounds;
    size_t count = 0;
    while (count < KILL_SCENARIOS_MAX && grounds[count] != NULL) {
        names[count] = grounds[count];
        count++;
    }
    return count;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void count_new(uint32_t *runs, const uint64_t *now, uint64_t *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        runs[i] += now[i] > before[i];
        before[i] = now[i];
    }
}

void kill_paths_add(struct kill_paths *paths, const struct oracle *oracle,
                    struct kill_counted *before)
{
    count_new(paths->seen, oracle->seen, before->seen, COVER_COUNT);
    count_new(paths->evaluated, oracle->evaluated, before->evaluated, CLAUSE_COUNT);
}

/* How many cover points a clause has. */
static unsigned paths_of(enum clause_id clause)
{
    unsigned count = 0;
    for (int s = 0; s < COVER_COUNT; s++) {
        count += oracle_cover_clause((enum oracle_cover)s) == clause;
    }
    return count;
}

/* Of several, the one whose clause has the fewest cover points: that clause says most. */
static void lose_path(struct kill *kill, enum oracle_cover path, uint32_t taken)
{
    enum clause_id clause = oracle_cover_clause(path);
    if (kill->taken > 0 && paths_of(kill->breach.clause) <= paths_of(clause)) {
        return;
    }
    kill->way = KILL_PATH;
    kill->path = path;
    kill->taken = taken;
    kill->breach =
        (struct oracle_verdict){.broken = true, .clause = clause, .why = oracle_cover_text(path)};
}

bool kill_paths_differ(const struct kill_paths *sound, const struct kill_paths *spoiled,
                       const bool *without, struct kill *kill)
{
    kill->taken = 0;
    for (int s = 0; s < COVER_COUNT; s++) {
        enum oracle_cover path = (enum oracle_cover)s;
        bool off = without != NULL && without[oracle_cover_clause(path)];
        if (!off && sound->seen[s] >= KILL_PATH_TAKEN && spoiled->seen[s] == 0) {
            lose_path(kill, path, sound->seen[s]);
        }
    }
    for (int c = 0; c < CLAUSE_COUNT && kill->taken == 0; c++) {
        bool off = without != NULL && without[c];
        if (!off && sound->evaluated[c] >= KILL_PATH_TAKEN && spoiled->evaluated[c] == 0) {
            kill->way = KILL_CLAUSE;
            kill->taken = sound->evaluated[c];
            kill->breach = (struct oracle_verdict){.broken = true,
                                                   .clause = (enum clause_id)c,
                                                   .why = "is not put to the test any more"};
        }
    }
    return kill->taken > 0;
}

/* ---- grounds --------------------------------------------------------------------------------- */

/* A scenario with its runs, of the sound and of the sabotaged engine. */
struct ground {
    struct scenario scenario;
    struct run run, sound;
    bool has_sound; /* made on demand */
    struct kill_paths paths;
    struct kill_counted counted;
};

static bool make_run(struct run *run, const struct scenario *scenario,
                     const struct sabotage *sabotage, const struct kill_hunting *hunting)
{
    if (!run_make(run, scenario, sabotage)) {
        return false;
    }
    if (hunting->without != NULL) {
        memcpy(run->oracle.off, hunting->without, sizeof run->oracle.off);
    }
    /* counts of the run without faults belong to no seed */
    memset(run->oracle.evaluated, 0, sizeof run->oracle.evaluated);
    memset(run->oracle.seen, 0, sizeof run->oracle.seen);
    run->strategy = hunting->strategy;
    return true;
}

static struct ground *make_ground(const char *name, const struct sabotage *sabotage,
                                  const struct kill_hunting *hunting)
{
    struct ground *ground = calloc(1, sizeof *ground);
    struct error error;
    if (ground == NULL) {
        return NULL;
    }
    bool loaded = scenario_load(name, &ground->scenario, &error);
    CHECK(loaded); /* a built-in one */
    if (!make_run(&ground->run, &ground->scenario, sabotage, hunting)) {
        free(ground);
        return NULL;
    }
    return ground;
}

static void free_ground(struct ground *ground)
{
    run_free(&ground->run);
    if (ground->has_sound) {
        run_free(&ground->sound);
    }
    free(ground);
}

static bool need_sound(struct ground *ground, const struct kill_hunting *hunting)
{
    ground->has_sound =
        ground->has_sound || make_run(&ground->sound, &ground->scenario, NULL, hunting);
    return ground->has_sound;
}

/* ---- a hunt ---------------------------------------------------------------------------------- */

struct hunt {
    const struct sabotage *sabotage;
    const struct kill_hunting *hunting;
    const char *names[KILL_SCENARIOS_MAX];
    struct ground *grounds[KILL_SCENARIOS_MAX];
    size_t count;
    struct kill *kill;
    bool out_of_memory;
};

static void dispute(struct hunt *hunt, const char *scenario, uint64_t seed, bool shrunk,
                    const struct run_result *result)
{
    struct kill *kill = hunt->kill;
    if (kill->disputes++ == 0) {
        kill->dispute = (struct kill_dispute){
            .scenario = scenario, .seed = seed, .shrunk = shrunk, .breach = result->breach};
    }
}

/* Replays a list of choices in a run of its own. */
static bool replay(const struct schedule *schedule, const struct sabotage *sabotage,
                   const struct kill_hunting *hunting, struct run_result *result)
{
    struct run *run = calloc(1, sizeof *run);
    bool made = run != NULL && make_run(run, schedule->scenario, sabotage, hunting);
    if (made) {
        struct choice_source source = choice_listed(&schedule->choices);
        *result = *run_once(run, &source);
        run_free(run);
    }
    free(run);
    return made;
}

/* The shrunk schedule breaks the same promise, and the sound engine breaks none on it. */
static bool stands_shrunk(struct hunt *hunt, struct schedule *schedule, const char *scenario,
                          uint64_t seed)
{
    const struct kill_hunting *hunting = hunt->hunting;
    struct shrink_report report;
    struct run_result sound, spoiled;
    if (!shrink_record(schedule, seed, hunting->without) ||
        !shrink(schedule, hunting->without, NULL, &report) ||
        !replay(schedule, NULL, hunting, &sound) ||
        !replay(schedule, hunt->sabotage, hunting, &spoiled)) {
        hunt->out_of_memory = true;
        return false;
    }
    hunt->kill->shrunk_steps = report.steps_after;
    if (sound.verdict == RUN_BROKEN) {
        dispute(hunt, scenario, seed, true, &sound);
    }
    return sound.verdict == RUN_HELD && spoiled.verdict == RUN_BROKEN &&
           spoiled.breach.clause == hunt->kill->breach.clause;
}

/* (KI1) */
static bool is_the_bugs(struct hunt *hunt, struct ground *ground, const char *scenario,
                        uint64_t seed)
{
    struct schedule schedule;
    if (!need_sound(ground, hunt->hunting)) {
        hunt->out_of_memory = true;
        return false;
    }
    struct choice_source source = run_draw(&ground->sound, seed);
    const struct run_result *sound = run_once(&ground->sound, &source);
    if (sound->verdict != RUN_HELD) {
        if (sound->verdict == RUN_BROKEN) {
            dispute(hunt, scenario, seed, false, sound);
        }
        return false;
    }
    if (!schedule_make(&schedule)) {
        hunt->out_of_memory = true;
        return false;
    }
    *schedule.scenario = ground->scenario;
    schedule.sabotaged = true;
    schedule.sabotage = *hunt->sabotage;
    schedule.strategy = hunt->hunting->strategy;
    bool stands = stands_shrunk(hunt, &schedule, scenario, seed);
    schedule_free(&schedule);
    return stands;
}

static void try_seed(struct hunt *hunt, struct ground *ground, const char *scenario, uint64_t seed)
{
    struct kill *kill = hunt->kill;
    struct choice_source source = run_draw(&ground->run, seed);
    const struct run_result *result = run_once(&ground->run, &source);
    run_check_alive(&ground->run);
    kill->schedules++;
    kill_paths_add(&ground->paths, &ground->run.oracle, &ground->counted);
    if (result->verdict == RUN_BROKEN) {
        kill->breach = result->breach;
        kill->oracle = result->oracle;
        kill->steps = result->steps;
        kill->scenario = scenario;
        kill->seed = seed;
        kill->found = is_the_bugs(hunt, ground, scenario, seed);
    }
}

/* The cover points and clauses that an engine reaches on the first seeds. */
static struct kill_paths walk_paths(struct run *run, uint64_t base_seed, uint32_t seeds)
{
    struct kill_paths paths = {0};
    struct kill_counted counted;
    memcpy(counted.seen, run->oracle.seen, sizeof counted.seen);
    memcpy(counted.evaluated, run->oracle.evaluated, sizeof counted.evaluated);
    for (uint32_t i = 0; i < seeds; i++) {
        struct choice_source source = run_draw(run, base_seed + i);
        run_once(run, &source);
        kill_paths_add(&paths, &run->oracle, &counted);
    }
    return paths;
}

/* (KI2): the sound engine on the seeds that the sabotaged one has run so far. */
static void compare_paths(struct hunt *hunt, struct ground *ground, const char *scenario,
                          uint32_t seeds)
{
    if (!need_sound(ground, hunt->hunting)) {
        hunt->out_of_memory = true;
        return;
    }
    struct kill_paths sound = walk_paths(&ground->sound, hunt->hunting->base_seed, seeds);
    hunt->kill->found =
        kill_paths_differ(&sound, &ground->paths, hunt->hunting->without, hunt->kill);
    hunt->kill->scenario = scenario;
}

bool kill_paths_lost(const struct scenario *scenario, const struct sabotage *sabotage,
                     const struct kill_hunting *hunting, struct kill *kill)
{
    struct kill_paths paths[2]; /* sound, sabotaged */
    *kill = (struct kill){.schedules = hunting->schedules_max, .scenario = scenario->name};
    for (int i = 0; i < 2; i++) {
        struct run *run = calloc(1, sizeof *run);
        if (run == NULL || !make_run(run, scenario, i == 0 ? NULL : sabotage, hunting)) {
            free(run);
            return false;
        }
        paths[i] = walk_paths(run, hunting->base_seed, hunting->schedules_max);
        run_free(run);
        free(run);
    }
    kill->found = kill_paths_differ(&paths[0], &paths[1], hunting->without, kill);
    return true;
}

static bool is_over(const struct hunt *hunt)
{
    return hunt->kill->found || hunt->out_of_memory || hunt->kill->disputes >= KILL_DISPUTES_MAX;
}

static void pursue(struct hunt *hunt)
{
    size_t count = hunt->count;
    uint32_t each = hunt->hunting->schedules_max / (uint32_t)count;
    uint32_t seeds = each < KILL_PATH_SEEDS ? each : KILL_PATH_SEEDS;
    while (!is_over(hunt) && hunt->kill->schedules < hunt->hunting->schedules_max) {
        uint32_t number = hunt->kill->schedules;
        try_seed(hunt, hunt->grounds[number % count], hunt->names[number % count],
                 hunt->hunting->base_seed + number / count);
        for (size_t g = 0; number + 1 == seeds * count && g < count && !is_over(hunt); g++) {
            compare_paths(hunt, hunt->grounds[g], hunt->names[g], seeds);
        }
    }
}

bool kill_hunt(const struct sabotage *sabotage, const struct kill_hunting *hunting,
               struct kill *kill)
{
    struct hunt hunt = {.sabotage = sabotage, .hunting = hunting, .kill = kill};
    size_t made = 0;
    hunt.count = kill_scenarios(sabotage, hunt.names);
    CHECK(hunt.count > 0);
    *kill = (struct kill){.found = false};
    while (made < hunt.count &&
           (hunt.grounds[made] = make_ground(hunt.names[made], sabotage, hunting)) != NULL) {
        made++;
    }
    if (made == hunt.count) {
        pursue(&hunt);
    }
    for (size_t i = 0; i < made; i++) {
        free_ground(hunt.grounds[i]);
    }
    return made == hunt.count && !hunt.out_of_memory;
}

/* The promise itself must report it: that it is put to the test no more is no report. */
static bool hunt_alone(const struct sabotage *sabotage, const struct kill_hunting *alone,
                       struct kill *kill)
{
    if (!kill_hunt(sabotage, alone, kill)) {
        return false;
    }
    kill->found = kill->found && kill->way == KILL_BREACH;
    return true;
}

bool kill_by_itself(enum clause_id clause, const struct sabotage *first,
                    const struct kill_hunting *hunting, struct kill *kill, struct sabotage *by)
{
    bool without[CLAUSE_COUNT];
    struct kill_hunting alone = *hunting;
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        without[i] = i != (int)clause;
    }
    alone.without = without;
    *kill = (struct kill){.found = false};
    if (first != NULL) {
        *by = *first;
        if (!hunt_alone(by, &alone, kill)) {
            return false;
        }
    }
    for (size_t i = 0; i < sabotage_named_count() && !kill->found; i++) {
        sabotage_get(i, by);
        if (by->protocol->family == clause_get(clause)->family && !hunt_alone(by, &alone, kill)) {
            return false;
        }
    }
    return true;
}
