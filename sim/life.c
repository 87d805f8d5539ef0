#include "sim/life.h"

#include "sim/run.h"

/* ---- whole ----------------------------------------------------------------------------------- */

static void whole_begin(struct run *run, unsigned who, uint32_t picked)
{
    (void)who;
    run->whole_picked = picked;
    run->whole_aborted = false;
}

static void whole_step(struct run *run, unsigned who)
{
    (void)run;
    (void)who;
}

static void whole_wake(struct run *run)
{
    (void)run;
}

static bool whole_execute(struct run *run, unsigned who, bool commits, size_t mark)
{
    (void)who;
    (void)commits;
    (void)mark;
    if (run->whole_aborted) {
        return false;
    }
    store_execute_seen(&run->world, run->primitives, &run->bundle, run->whole_picked, &run->outcome,
                       oracle_observes(&run->oracle) ? &run->seen : NULL);
    return true;
}

static void whole_close(struct run *run, unsigned who, bool kept, size_t mark)
{
    (void)run;
    (void)who;
    (void)kept;
    (void)mark;
}

static void whole_abort(struct run *run, unsigned who, enum abort_class why)
{
    (void)who;
    run->outcome =
        (struct outcome){.kind = OUTCOME_ABORTED, .aborted = (uint8_t)why, .now = run->world.now};
    run->whole_aborted = true;
}

static void whole_note(struct run *run, size_t mark)
{
    (void)run;
    (void)mark;
}

const struct life life_whole = {.begin = whole_begin,
                                .step = whole_step,
                                .wake = whole_wake,
                                .execute = whole_execute,
                                .close = whole_close,
                                .abort = whole_abort,
                                .note = whole_note};

/* ---- interleaved ----------------------------------------------------------------------------- */

static void interleaved_begin(struct run *run, unsigned who, uint32_t picked)
{
    session_begin(run->sessions, who, &run->bundle, picked);
}

static void abort_if_deadlocked(struct sessions *sessions, unsigned who)
{
    if (sessions->each[who].state == SESSION_WAITS && session_deadlock(sessions, who) != 0) {
        session_abort(sessions, who, ABORT_DEADLOCK);
    }
}

static void interleaved_step(struct run *run, unsigned who)
{
    session_operation(run->sessions, who);
    abort_if_deadlocked(run->sessions, who);
}

/* The session that has waited longest of those that can go on; SESSIONS_MAX: none can. */
static unsigned first_waiter(const struct sessions *sessions, uint32_t waiting)
{
    unsigned first = SESSIONS_MAX;
    for (unsigned s = 0; s < sessions->count; s++) {
        if ((waiting >> s & 1) != 0 && session_waits_for(sessions, s) == 0 &&
            (first == SESSIONS_MAX ||
             sessions->each[s].wait_since < sessions->each[first].wait_since)) {
            first = s;
        }
    }
    return first;
}

static void interleaved_wake(struct run *run)
{
    struct sessions *sessions = run->sessions;
    uint32_t waiting = sessions_waiting(sessions);
    while (waiting != 0) {
        unsigned first = first_waiter(sessions, waiting);
        if (first == SESSIONS_MAX) {
            return;
        }
        session_statement(sessions, first);
        abort_if_deadlocked(sessions, first);
        waiting = sessions_waiting(sessions);
    }
}

/* One that does not commit is applied, too, and rolled back by the caller: a torn store leaves
 * half. */
static bool interleaved_execute(struct run *run, unsigned who, bool commits, size_t mark)
{
    (void)commits;
    (void)mark;
    struct session *session = &run->sessions->each[who];
    bundle_copy(&run->bundle, &session->bundle);
    session_seen(run->sessions, who, &run->seen); /* before it releases its locks */
    bool applied = session->state == SESSION_DONE && session_apply(run->sessions, who);
    run->outcome = session->outcome;
    return applied || run->outcome.kind == OUTCOME_REFUSED;
}

static void interleaved_close(struct run *run, unsigned who, bool kept, size_t mark)
{
    if (!kept && run->sessions->each[who].state == SESSION_DONE) {
        session_abort(run->sessions, who, ABORT_NONE);
        sessions_note(run->sessions, mark); /* what a torn store left */
    }
    session_end(run->sessions, who, mark);
}

static void interleaved_abort(struct run *run, unsigned who, enum abort_class why)
{
    session_abort(run->sessions, who, why);
}

static void interleaved_note(struct run *run, size_t mark)
{
    sessions_note(run->sessions, mark);
}

const struct life life_interleaved = {.begin = interleaved_begin,
                                      .step = interleaved_step,
                                      .wake = interleaved_wake,
                                      .execute = interleaved_execute,
                                      .close = interleaved_close,
                                      .abort = interleaved_abort,
                                      .note = interleaved_note};
