/* A transaction in a session of the simulated store, operation by operation, beside others. A
 * session whose lock is released goes on there and then, as on a server. */
#include "sim/life.h"

#include "sim/run.h"

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
