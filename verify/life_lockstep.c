/* A transaction in a session of the simulated store and on PostgreSQL at once, statement by statement
 * (lockstep.h). PostgreSQL has one end of a transaction, so executing it ends it on both sides. */
#include "verify/mirror.h"

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

static void follow_begin(struct run *run, unsigned who, uint32_t picked)
{
    lockstep_begin(&mirror_of(run)->lockstep, who, &run->bundle, picked);
    give_up_if_different(run);
}

static void follow_step(struct run *run, unsigned who)
{
    lockstep_statement(&mirror_of(run)->lockstep, who);
    give_up_if_different(run);
}

/* Sessions that can go on did so (LS2). */
static void follow_wake(struct run *run)
{
    (void)run;
}

/* PostgreSQL has only one end of a transaction: it is over with this, its locks released. */
static bool follow_execute(struct run *run, unsigned who, bool commits, size_t mark)
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
static void follow_note(struct run *run, size_t mark)
{
    for (size_t i = mark; i < run->world.change_count; i++) {
        lockstep_copy_row(&mirror_of(run)->lockstep, (enum row_table)run->world.changes[i].table,
                          run->world.changes[i].slot);
    }
    sessions_note(run->sessions, mark);
}

/* Presets follow it; one that was thrown out is over with this. */
static void follow_close(struct run *run, unsigned who, bool kept, size_t mark)
{
    (void)kept;
    struct mirror *mirror = mirror_of(run);
    if (run->sessions->each[who].state == SESSION_CLOSED) {
        follow_note(run, mirror->executed_to);
    } else {
        lockstep_end(&mirror->lockstep, who, false, mark);
    }
}

static void follow_abort(struct run *run, unsigned who, enum abort_class why)
{
    (void)why;
    lockstep_abort(&mirror_of(run)->lockstep, who);
}

const struct life life_lockstep = {.begin = follow_begin,
                                   .step = follow_step,
                                   .wake = follow_wake,
                                   .execute = follow_execute,
                                   .close = follow_close,
                                   .abort = follow_abort,
                                   .note = follow_note,
                                   .follows = true};
