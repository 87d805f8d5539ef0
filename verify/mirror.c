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

/* ---- what a run asks of it ------------------------------------------------------------------- */

static struct mirror *mirror_of(const struct run *run)
{
    return run->life_context;
}

static void give_up_if_different(struct run *run)
{
    if (lockstep_differs(&mirror_of(run)->lockstep)) {
        run->result.verdict = RUN_GIVEN_UP;
    }
}

static void mirror_begin(struct run *run, unsigned who, uint32_t picked)
{
    lockstep_begin(&mirror_of(run)->lockstep, who, &run->bundle, picked);
    give_up_if_different(run);
}

static void mirror_step(struct run *run, unsigned who)
{
    lockstep_statement(&mirror_of(run)->lockstep, who);
    give_up_if_different(run);
}

/* Sessions that can go on did so (LS2). */
static void mirror_wake(struct run *run)
{
    (void)run;
}

/* PostgreSQL has only one end of a transaction: it is over with this, its locks released. */
static bool mirror_execute(struct run *run, unsigned who, bool commits, size_t mark)
{
    struct mirror *mirror = mirror_of(run);
    const struct session *session = &run->sessions->each[who];
    bool done = session->state == SESSION_DONE;
    bundle_copy(&run->bundle, &session->bundle);
    session_seen(run->sessions, who, &run->seen); /* before it releases its locks */
    bool applied = lockstep_end(&mirror->lockstep, who, done && commits, mark);
    mirror->executed_to = world_mark(&run->world);
    run->outcome = session->outcome;
    return applied || run->outcome.kind == OUTCOME_REFUSED || (done && !commits);
}

/* Rows that the run changed itself are copied. */
static void mirror_note(struct run *run, size_t mark)
{
    for (size_t i = mark; i < run->world.change_count; i++) {
        lockstep_copy_row(&mirror_of(run)->lockstep, (enum row_table)run->world.changes[i].table,
                          run->world.changes[i].slot);
    }
    sessions_note(run->sessions, mark);
}

/* Presets follow it; one that was thrown out is over with this. */
static void mirror_finish(struct run *run, unsigned who, bool kept, size_t mark)
{
    (void)kept;
    struct mirror *mirror = mirror_of(run);
    if (run->sessions->each[who].state == SESSION_CLOSED) {
        mirror_note(run, mirror->executed_to);
    } else {
        lockstep_end(&mirror->lockstep, who, false, mark);
    }
}

static void mirror_abort(struct run *run, unsigned who, enum abort_class why)
{
    (void)why;
    lockstep_abort(&mirror_of(run)->lockstep, who);
}

static const struct life lockstep_life = {.begin = mirror_begin,
                                          .step = mirror_step,
                                          .wake = mirror_wake,
                                          .execute = mirror_execute,
                                          .close = mirror_finish,
                                          .abort = mirror_abort,
                                          .note = mirror_note,
                                          .follows = true};

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
    run->life = &lockstep_life;
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
