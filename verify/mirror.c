#include "verify/mirror.h"

#include "sim/part.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *mirror_refuses(const struct scenario *scenario)
{
    struct rules rules;
    scenario_rules(scenario, 1, 1, &rules);
    if (rules.actors + RUN_LATE_MAX > STEPPER_CONNECTIONS_MAX) {
        return "it has more actors than connections are made";
    }
    if (scenario->faults.rate[FAULT_LOSSY_FAILOVER].times > 0) {
        return "it injects lossy failovers, which a real server cannot be told to do";
    }
    return NULL;
}

/* ---- opening and running --------------------------------------------------------------------- */

bool mirror_open(struct mirror *mirror, const char *dsn, struct run *run, struct error *error)
{
    char about[SCENARIO_NAME_SIZE + 40];
    *mirror = (struct mirror){.run = run};
    snprintf(about, sizeof about, "assay follows %s", run->scenario->name);
    struct own_schema_plan plan = {.dsn = dsn,
                                   .verb = "mirror",
                                   .about = about,
                                   .tables = run->scenario->protocol->tables,
                                   .lockstep = true};
    if (!own_schema_make(&mirror->own, &plan, error)) {
        return false;
    }
    struct stepper_options options = {.dsn = dsn,
                                      .schema = mirror->own.name,
                                      .primitives = run->primitives,
                                      .primitive_count = SABOTAGE_TABLE_SIZE,
                                      .form = SQL_WHOLE,
                                      .connections = run->actor_count + RUN_LATE_MAX,
                                      .principals = run->scenario->protocol->principals};
    mirror->lockstep = (struct lockstep){.stepper = stepper_open(&options, error),
                                         .schema = mirror->own.name,
                                         .sessions = run->sessions,
                                         .copy = malloc(sizeof *run->sessions)};
    if (mirror->lockstep.stepper == NULL || mirror->lockstep.copy == NULL) {
        mirror_close(mirror, dsn);
        return false;
    }
    return true;
}

void mirror_close(struct mirror *mirror, const char *dsn)
{
    struct error error;
    if (mirror->lockstep.stepper != NULL) {
        stepper_close(mirror->lockstep.stepper);
    }
    free(mirror->lockstep.copy);
    (void)own_schema_drop(&mirror->own, dsn, &error);
    mirror->run->life = &life_interleaved;
}

/* What a run leaves open, because a promise broke or its bound was reached. */
static void end_all(struct mirror *mirror)
{
    for (unsigned a = 0; a < mirror->run->sessions->count; a++) {
        if (mirror->run->sessions->each[a].state != SESSION_CLOSED) {
            lockstep_abort(&mirror->lockstep, a);
        }
    }
    for (unsigned a = 0; a < mirror->run->sessions->count; a++) {
        if (mirror->run->sessions->each[a].state != SESSION_CLOSED) {
            lockstep_end(&mirror->lockstep, a, false, world_mark(&mirror->run->world));
        }
    }
}

const struct run_result *mirror_run(struct mirror *mirror, struct choice_source *source)
{
    struct lockstep *lockstep = &mirror->lockstep;
    struct run *run = mirror->run;
    lockstep->difference[0] = '\0';
    world_reset(&run->world);
    sessions_begin(run->sessions, &run->world, run->primitives, &session_postgresql,
                   run->actor_count);
    lockstep_fill(lockstep);
    run->life = &life_lockstep;
    run->life_context = mirror;
    const struct run_result *result = run_once(run, source);
    run->life = &life_interleaved;
    mirror->runs++;
    end_all(mirror);
    if (!lockstep_differs(lockstep)) {
        lockstep_rows(lockstep);
    }
    if (lockstep_differs(lockstep) && !stepper_reset(lockstep->stepper)) {
        lockstep->failed = true;
    }
    return result;
}
