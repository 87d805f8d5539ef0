/* A transaction that lives all at once, when it is executed: no other overlaps with it, so nobody can
 * look between its statements (LF1). Its session stays closed. */
#include "sim/life.h"

#include "sim/run.h"

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
