#include "sim/long_work.h"

#include "sim/run_inside.h"

#define WORK_TIMEOUTS 4 /* it takes up to so many timeouts */

void long_work_rest(struct run *run, struct run_actor *one)
{
    const struct role *role = one->performer.role;
    int64_t now = run->world.now;
    if (role->is_idle(&one->performer.actor)) {
        one->works_until = 0;
    } else if (one->works_until > now) {
        one->paused_until = one->works_until;
        int64_t in = role->attends == NULL ? PROTOCOL_NEVER
                                           : role->attends(&one->performer.actor, &run->rules);
        int64_t left = one->works_until - now, own = one->rate == 0 ? left : left * one->rate / 4;
        int64_t stretch = in < own ? in : own;
        one->stretch = role->attends != NULL && stretch > one->stretch ? stretch : one->stretch;
        if (one->rate != 0 && in != PROTOCOL_NEVER) {
            in = (4 * in + one->rate - 1) / one->rate; /* the store's ticks */
        }
        if (in < left) {
            one->paused_until = now + in;
        }
    }
}

void long_work_begin(struct run *run, unsigned actor)
{
    struct run_actor *one = &run->actors[actor];
    struct run_event event = {.turn = RUN_PAUSE,
                              .actor = actor,
                              .fault = FAULT_LONG_WORK,
                              .bundle = &run->bundle,
                              .message = run_message_of(one),
                              .changes = run->world.changes};
    event.amount = 1 + choice_amount(run->source, actor, one->transactions,
                                     (uint32_t)(WORK_TIMEOUTS * run->rules.timeout));
    one->works_until = run->world.now + event.amount;
    one->works_on = run->bundle.effect;
    one->works_since = run->world.now;
    one->works_at = run->result.transactions;
    long_work_rest(run, one);
    run_stepped(run, &event);
    one->transactions++;
}

/* It looks at its clock. The fault fell if anybody did anything while it worked, a skew if its
 * clock tells another time than the store's. */
static void look_at_clock(struct run *run, struct run_actor *one)
{
    int64_t ticks = run->world.now > one->works_since ? run->world.now - one->works_since : 0;
    int64_t own = one->rate == 0 ? ticks : ticks * one->rate / 4;
    if (one->works_at != UINT32_MAX && run->result.transactions > one->works_at) {
        one->works_at = UINT32_MAX;
        run->result.fired[FAULT_LONG_WORK]++;
    }
    if (own != ticks && !one->skew_counts && one->performer.role->worked != NULL) {
        one->skew_counts = true;
        run->result.fired[FAULT_SKEW]++;
    }
    one->works_since = run->world.now;
    one->worked += own;
    performer_worked(&one->performer, &run->rules, run->sabotage, own);
}

bool long_work_leave(struct run *run, unsigned actor)
{
    struct run_actor *one = &run->actors[actor];
    bool done = run->world.now >= one->works_until;
    look_at_clock(run, one);
    if (done) {
        one->works_until = 0;
        run->bundle.effect = one->works_on;
        run_work(run, actor);
    }
    run_build_bundle(run, actor);
    if (!done && run->bundle.effect.what != 0) {
        long_work_rest(run, one);
        return false;
    }
    return true;
}
