#include "sim/long_work.h"

#include "sim/run_inside.h"

#define WORK_TIMEOUTS 4 /* it takes up to so many timeouts */

void long_work_rest(struct run *run, struct run_actor *run_actor)
{
    const struct role *role = run_actor->performer.role;
    int64_t now = run->world.now;
    if (role->is_idle(&run_actor->performer.actor)) {
        run_actor->works_until = 0;
    } else if (run_actor->works_until > now) {
        run_actor->paused_until = run_actor->works_until;
        int64_t in = role->attends == NULL
                         ? PROTOCOL_NEVER
                         : role->attends(&run_actor->performer.actor, &run->rules);
        int64_t left = run_actor->works_until - now,
                own = run_actor->rate == 0 ? left : left * run_actor->rate / 4;
        int64_t stretch = in < own ? in : own;
        run_actor->stretch =
            role->attends != NULL && stretch > run_actor->stretch ? stretch : run_actor->stretch;
        if (run_actor->rate != 0 && in != PROTOCOL_NEVER) {
            in = (4 * in + run_actor->rate - 1) / run_actor->rate; /* the store's ticks */
        }
        if (in < left) {
            run_actor->paused_until = now + in;
        }
    }
}

void long_work_begin(struct run *run, unsigned actor)
{
    struct run_actor *run_actor = &run->actors[actor];
    struct run_event event = {.turn = RUN_PAUSE,
                              .actor = actor,
                              .fault = FAULT_LONG_WORK,
                              .bundle = &run->bundle,
                              .message = run_message_of(run_actor),
                              .changes = run->world.changes};
    event.amount = 1 + choice_amount(run->source, actor, run_actor->transactions,
                                     (uint32_t)(WORK_TIMEOUTS * run->rules.timeout));
    run_actor->works_until = run->world.now + event.amount;
    run_actor->works_on = run->bundle.effect;
    run_actor->works_since = run->world.now;
    run_actor->works_at = run->result.transactions;
    long_work_rest(run, run_actor);
    run_stepped(run, &event);
    run_actor->transactions++;
}

/* It looks at its clock. The fault fell if anybody did anything while it worked, a skew if its
 * clock tells another time than the store's. */
static void look_at_clock(struct run *run, struct run_actor *run_actor)
{
    int64_t ticks =
        run->world.now > run_actor->works_since ? run->world.now - run_actor->works_since : 0;
    int64_t own = run_actor->rate == 0 ? ticks : ticks * run_actor->rate / 4;
    if (run_actor->works_at != UINT32_MAX && run->result.transactions > run_actor->works_at) {
        run_actor->works_at = UINT32_MAX;
        run->result.fired[FAULT_LONG_WORK]++;
    }
    if (own != ticks && !run_actor->skew_counts && run_actor->performer.role->worked != NULL) {
        run_actor->skew_counts = true;
        run->result.fired[FAULT_SKEW]++;
    }
    run_actor->works_since = run->world.now;
    run_actor->worked += own;
    performer_worked(&run_actor->performer, &run->rules, run->sabotage, own);
}

bool long_work_leave(struct run *run, unsigned actor)
{
    struct run_actor *run_actor = &run->actors[actor];
    bool done = run->world.now >= run_actor->works_until;
    look_at_clock(run, run_actor);
    if (done) {
        run_actor->works_until = 0;
        run->bundle.effect = run_actor->works_on;
        run_work(run, actor);
    }
    run_build_bundle(run, actor);
    if (!done && run->bundle.effect.what != 0) {
        long_work_rest(run, run_actor);
        return false;
    }
    return true;
}
