#include "sim/former.h"

#include "sim/run_inside.h"

void former_end(struct run *run)
{
    const struct run_actor *run_actor = &run->actors[run_former(run)];
    if (run->former.there) {
        run->former.there = false;
        run->former.spare = run_actor->client;
        run->former.before = run_actor->transactions;
        run_fit_sessions(run);
    }
}

void former_start(struct run *run, unsigned actor)
{
    struct run_actor *run_actor = &run->actors[actor], *former = &run->actors[run_former(run)];
    struct run_event event = {.turn = RUN_ENVIRONMENT,
                              .actor = actor,
                              .fault = FAULT_SUCCESSOR,
                              .committed = true,
                              .amount = actor,
                              .changes = run->world.changes};
    *former = *run_actor;
    former->transactions = run->former.before;
    run_actor->client = run->former.spare;
    run_actor->transactions++;
    run->former.there = true;
    run->former.counted = false;
    run->former.of = (uint8_t)actor;
    run_fit_sessions(run);
    choice_join(run->source, run_former(run));
    run_start_anew(run, actor);
    run_stepped(run, &event);
}

void former_mind(struct run *run)
{
    const struct performer *performer = &run->actors[run_former(run)].performer;
    if (run->former.there && !run->former.counted && !run->actors[run->former.of].is_new) {
        run->former.counted = true;
        run->result.fired[FAULT_SUCCESSOR]++;
    }
    if (run->former.there && performer->role->is_idle(&performer->actor)) {
        former_end(run);
    }
}
