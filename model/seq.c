#include "model/seq.h"

#include "model/identity.h"
#include "model/protocol.h"

#define FIND_VALUES  3 /* key, number, and cancel at where it counts */
#define FINDS_MAX    4 /* of one look */
#define TICKS        2 /* progress ticks of a run */
#define TICKS_CANCEL 8 /* of one that is to be cancelled */
#define ANY          INT64_MAX
#define ANY_AGE      (-(INT64_C(1) << 60)) /* in ticks: older than what is far ahead */

/* Where the values of a bundle's calls are; those of a look begin at 0. */
enum value_place {
    VALUE_GUARD = 0,                   /* EXPECT, HOLD, EXPIRED, GRACE, AGAIN */
    VALUE_RETRIED,                     /* FAIL */
    VALUE_BEAT,                        /* BEAT */
    VALUE_ATTEMPTS,                    /* LEASE */
    VALUE_CONTRACT,                    /* CONTRACT begins here, */
    VALUE_HALTED = VALUE_CONTRACT + 4, /* ... and says here whether it failed Stage1 */
};

/* ---- identities and decisions ---------------------------------------------------------------- */

int64_t seq_id(uint32_t number)
{
    return identity_mint(0, IDENTITY_SEQ + number);
}

int64_t seq_stage(void)
{
    return identity_mint(0, IDENTITY_STAGE);
}

static int64_t event_id(uint32_t number)
{
    return identity_mint(seq_id(number), IDENTITY_SEQ_EVENT);
}

static int64_t stripe_id(unsigned actor)
{
    return identity_mint(0, IDENTITY_SEQ_TALLY + actor);
}

/* A worker that comes back is another owner. */
static int64_t owner_id(const struct seq_actor *self)
{
    return identity_mint(stripe_id(self->number), IDENTITY_INCARNATION + self->incarnation);
}

static enum seq_fate fate_of(const struct seq_plan *plan, uint32_t number)
{
    return (enum seq_fate)plan->fates[number % plan->fate_count];
}

struct seq_result_of_run seq_plan_result(const struct seq_plan *plan, uint32_t number,
                                         int64_t attempt)
{
    enum seq_fate fate = fate_of(plan, number);
    bool once = fate == SEQ_FATE_RETRY || fate == SEQ_FATE_CANCEL;
    bool transient = fate == SEQ_FATE_EXHAUST || (once && attempt == 0);
    if (transient || fate == SEQ_FATE_FATAL) {
        return (struct seq_result_of_run){SEQ_FAIL,
                                          transient ? SEQ_CLASS_TRANSIENT : SEQ_CLASS_PERMANENT};
    }
    return (struct seq_result_of_run){fate == SEQ_FATE_SKIP ? SEQ_SKIP : SEQ_SUCCESS, 0};
}

/* The largest number of attempts at which one is granted, plus 1. */
uint32_t seq_plan_retries(const struct seq_plan *plan, uint32_t fail_class)
{
    const struct seq_policy policy = {.retryable_classes = plan->retryable,
                                      .retry_budget = plan->budget};
    uint32_t retries = 0;
    while (seq_rules_retry(&policy, fail_class, retries)) {
        retries++;
    }
    return retries;
}

/* Where a move to this state may come from. A retry is among them, but a failure whose event is out is
 * final (E-SEQ-2): see call_contract. */
static int64_t sources(enum seq_state to)
{
    int64_t set = 0;
    for (int from = 0; from < SEQ_STATES; from++) {
        if (seq_rules_move((enum seq_state)from, to) != SEQ_MOVE_NONE) {
            set |= INT64_C(1) << from;
        }
    }
    return set;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call_gate(struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_GATE, CALL_REQUIRE, VALUE_GUARD, seq_stage());
}

static void call_expect(struct bundle *next, const struct seq_actor *self, uint32_t number,
                        enum seq_state state)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_EXPECT, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(number), state,
                stripe_id(self->number));
}

static void call_hold(struct bundle *next, const struct seq_actor *self, bool result)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_HOLD, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(self->target),
                owner_id(self), self->attempt, stripe_id(self->number), result);
}

/* A move, if the contract allows it. Only a seq that is to be COMMITTED has its event out
 * (E-SEQ-2).
 */
static void call_contract(struct bundle *next, const struct seq_actor *self, uint32_t number,
                          enum seq_state to)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_CONTRACT, CALL_UNLESS_DONE, VALUE_CONTRACT, seq_stage(),
                seq_id(number), to, sources(to), event_id(number), to == SEQ_COMMITTED,
                (int64_t)number + 1, stripe_id(self->number));
}

static void call_move(struct bundle *next, const struct seq_actor *self, uint32_t number,
                      enum seq_state to)
{
    call_contract(next, self, number, to);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_MOVE, CALL_REQUIRE, VALUE_GUARD, seq_id(number), to);
}

static void call_count(struct bundle *next, const struct seq_actor *self, enum primitive_id counter,
                       int64_t more)
{
    BUNDLE_CALL_OF(next, counter, CALL_REQUIRE, VALUE_GUARD, stripe_id(self->number), more);
}

static void call_event(struct bundle *next, const struct seq_actor *self, enum seq_state state)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_EVENT, CALL_REQUIRE, VALUE_GUARD, event_id(self->target),
                seq_id(self->target), state);
}

static void call_fail(struct bundle *next, const struct seq_actor *self,
                      const struct seq_plan *plan, uint32_t fail_class)
{
    call_contract(next, self, self->target, SEQ_FAIL);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_FAIL, CALL_REQUIRE, VALUE_RETRIED, seq_id(self->target),
                SEQ_FAIL, fail_class, seq_plan_retries(plan, fail_class), ANY,
                event_id(self->target));
}

/* ---- bundles --------------------------------------------------------------------------------- */

static void build_admit(const struct seq_actor *self, const struct rules *rules,
                        struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_OPEN, CALL_PLAIN, 0, seq_stage(), rules->timeout,
                rules->put_back, RULES_OF(rules, seq_plan)->retryable,
                RULES_OF(rules, seq_plan)->budget, RULES_OF(rules, seq_plan)->drill);
    for (unsigned a = 0; a < rules->actors; a++) {
        BUNDLE_CALL(next, PRIMITIVE_SEQ_STRIPE, CALL_PLAIN, 0, stripe_id(a));
    }
    BUNDLE_CALL(next, PRIMITIVE_SEQ_ADMIT, CALL_UNLESS_DONE, 0, seq_id(self->at), self->at,
                fate_of(RULES_OF(rules, seq_plan), self->at) == SEQ_FATE_CANCEL);
}

/* What each role looks for, the most urgent first. */
static const struct search {
    uint8_t state; /* enum seq_state */
    bool waits;    /* a FAIL: for its retry */
    bool lapsed;   /* its lease has expired */
    bool unwanted; /* it is to be cancelled */
    uint8_t then;  /* enum bundle_name: what is done with it */
} searches[][FINDS_MAX] = {
    [SEQ_DISPATCHER] = {{.then = BUNDLE_SEQ_LOOK}},
    [SEQ_WORKER] = {{SEQ_DISPATCHED, .then = BUNDLE_SEQ_TAKE}, {.then = BUNDLE_SEQ_LOOK}},
    [SEQ_RECLAIMER] = {{SEQ_IN_FLIGHT, .lapsed = true, .then = BUNDLE_SEQ_RECLAIM},
                       {SEQ_FAIL, .waits = true, .then = BUNDLE_SEQ_RETRY},
                       {.then = BUNDLE_SEQ_LOOK}},
    [SEQ_CANCELLER] = {{SEQ_DISPATCHED, .unwanted = true, .then = BUNDLE_SEQ_CANCEL},
                       {SEQ_IN_FLIGHT, .unwanted = true, .then = BUNDLE_SEQ_FORCE},
                       {.then = BUNDLE_SEQ_LOOK}},
    [SEQ_COMMITTER] = {{SEQ_SUCCESS, .then = BUNDLE_SEQ_COMMIT},
                       {SEQ_SKIP, .then = BUNDLE_SEQ_COMMIT},
                       {SEQ_FAIL, .then = BUNDLE_SEQ_COMMIT},
                       {SEQ_CANCEL, .then = BUNDLE_SEQ_COMMIT}},
};

/* How many there are: those before the first that leads to nothing. */
static int search_count(uint8_t role)
{
    int count = 0;
    while (count < FINDS_MAX && searches[role][count].then != BUNDLE_SEQ_LOOK) {
        count++;
    }
    return count;
}

/* One row each, by an index (SEQ-17). */
static void build_look(uint8_t role, const struct rules *rules, struct bundle *next)
{
    for (int i = 0; i < search_count(role); i++) {
        const struct search *search = &searches[role][i];
        if (search->unwanted) {
            BUNDLE_CALL(next, PRIMITIVE_SEQ_UNWANTED, CALL_PLAIN, i * FIND_VALUES, search->state,
                        ANY);
        } else {
            BUNDLE_CALL(next, PRIMITIVE_SEQ_NEXT, CALL_PLAIN, i * FIND_VALUES, search->state,
                        search->waits, search->lapsed ? rules->timeout - 1 : ANY_AGE);
        }
    }
}

static void build_take(const struct seq_actor *self, struct bundle *next)
{
    call_expect(next, self, self->target, SEQ_DISPATCHED);
    call_move(next, self, self->target, SEQ_IN_FLIGHT);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_LEASE, CALL_REQUIRE, VALUE_ATTEMPTS, seq_id(self->target),
                owner_id(self));
    call_count(next, self, PRIMITIVE_SEQ_DISPATCHED, -1);
    call_count(next, self, PRIMITIVE_SEQ_IN_FLIGHT, 1);
}

static void build_beat(const struct seq_actor *self, struct bundle *next)
{
    call_hold(next, self, false);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_BEAT, CALL_REQUIRE, VALUE_BEAT, seq_id(self->target),
                owner_id(self), self->attempt, ANY);
}

static void call_end(struct bundle *next, const struct seq_actor *self)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_END, CALL_REQUIRE, VALUE_GUARD, seq_id(self->target),
                owner_id(self), self->attempt);
}

static void build_finish(const struct seq_actor *self, const struct seq_plan *plan,
                         struct bundle *next)
{
    enum seq_state state = seq_plan_result(plan, self->target, self->attempt).state;
    call_hold(next, self, true);
    call_move(next, self, self->target, state);
    call_end(next, self);
    call_event(next, self, state);
    call_count(next, self, PRIMITIVE_SEQ_IN_FLIGHT, -1);
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, 1);
}

static void build_fail(const struct seq_actor *self, const struct seq_plan *plan,
                       struct bundle *next)
{
    call_hold(next, self, true);
    call_fail(next, self, plan, seq_plan_result(plan, self->target, self->attempt).fail_class);
    call_end(next, self);
    call_count(next, self, PRIMITIVE_SEQ_IN_FLIGHT, -1);
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, 1);
}

static void rest_on_run(const struct seq_actor *self, struct bundle *next)
{
    bundle_rests_on(next, seq_id(self->target), owner_id(self), self->attempt);
}

static void build_reclaim(const struct seq_actor *self, const struct rules *rules,
                          struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_EXPIRED, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(self->target),
                SEQ_IN_FLIGHT, rules->timeout - 1, ANY);
    call_fail(next, self, RULES_OF(rules, seq_plan), SEQ_CLASS_LEASE_EXPIRED);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_REVOKE, CALL_REQUIRE, VALUE_GUARD, seq_id(self->target));
    call_count(next, self, PRIMITIVE_SEQ_IN_FLIGHT, -1);
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, 1);
}

static void build_retry(const struct seq_actor *self, struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_WAITS, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(self->target),
                SEQ_STATES, stripe_id(self->number));
    call_move(next, self, self->target, SEQ_DISPATCHED);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_RETRY, CALL_REQUIRE, VALUE_GUARD, seq_id(self->target));
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, -1);
    call_count(next, self, PRIMITIVE_SEQ_DISPATCHED, 1);
}

static void build_cancel(const struct seq_actor *self, struct bundle *next)
{
    call_expect(next, self, self->target, SEQ_DISPATCHED);
    call_move(next, self, self->target, SEQ_CANCEL);
    call_event(next, self, SEQ_CANCEL);
    call_count(next, self, PRIMITIVE_SEQ_DISPATCHED, -1);
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, 1);
}

static void build_ask(const struct seq_actor *self, struct bundle *next)
{
    call_expect(next, self, self->target, SEQ_IN_FLIGHT);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_ASK, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(self->target));
}

static void build_force(const struct seq_actor *self, const struct rules *rules,
                        struct bundle *next)
{
    call_expect(next, self, self->target, SEQ_IN_FLIGHT);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_GRACE, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(self->target),
                self->asked, rules->put_back - 1, ANY);
    call_move(next, self, self->target, SEQ_CANCEL);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_REVOKE, CALL_REQUIRE, VALUE_GUARD, seq_id(self->target));
    call_event(next, self, SEQ_CANCEL);
    call_count(next, self, PRIMITIVE_SEQ_IN_FLIGHT, -1);
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, 1);
}

static void build_commit(const struct seq_actor *self, struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_SEQ_AGAIN, CALL_UNLESS_DONE, VALUE_GUARD, seq_id(self->target),
                SEQ_COMMITTED, stripe_id(self->number));
    call_move(next, self, self->target, SEQ_COMMITTED);
    call_count(next, self, PRIMITIVE_SEQ_TERMINAL, -1);
    call_count(next, self, PRIMITIVE_SEQ_COMMITTED, 1);
}

static void build_attempt(const struct seq_actor *self, struct bundle *next)
{
    const struct seq_misstep *misstep = &self->misstep;
    call_expect(next, self, misstep->number, (enum seq_state)misstep->from);
    BUNDLE_CALL(next, PRIMITIVE_SEQ_DRILL, CALL_REQUIRE, VALUE_GUARD, stripe_id(self->number));
    call_move(next, self, misstep->number, (enum seq_state)misstep->to);
}

/* What it sends next. */
static enum bundle_name sends(const struct seq_actor *self)
{
    return self->misstep.there ? BUNDLE_SEQ_ATTEMPT : (enum bundle_name)self->sends;
}

static bool moves(enum bundle_name name)
{
    return name != BUNDLE_SEQ_ADMIT && name != BUNDLE_SEQ_LOOK && name != BUNDLE_SEQ_READ;
}

static void next_of(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    struct seq_actor *self = ACTOR_IS(actor, seq_actor);
    enum bundle_name name = sends(self);
    self->sent = (uint8_t)name;
    bundle_begin(next, name);
    if (moves(name)) {
        call_gate(next);
    }
    switch ((int)name) {
    case BUNDLE_SEQ_ADMIT:
        build_admit(self, rules, next);
        break;
    case BUNDLE_SEQ_DISPATCH:
        call_expect(next, self, self->target, SEQ_UNSEEN);
        call_move(next, self, self->target, SEQ_DISPATCHED);
        call_count(next, self, PRIMITIVE_SEQ_DISPATCHED, 1);
        break;
    case BUNDLE_SEQ_TAKE:
        build_take(self, next);
        break;
    case BUNDLE_SEQ_BEAT:
        build_beat(self, next);
        break;
    case BUNDLE_SEQ_FINISH: /* the run itself, which these two report */
        build_finish(self, RULES_OF(rules, seq_plan), next);
        rest_on_run(self, next);
        break;
    case BUNDLE_SEQ_FAIL:
        build_fail(self, RULES_OF(rules, seq_plan), next);
        rest_on_run(self, next);
        break;
    case BUNDLE_SEQ_RECLAIM:
        build_reclaim(self, rules, next);
        break;
    case BUNDLE_SEQ_RETRY:
        build_retry(self, next);
        break;
    case BUNDLE_SEQ_CANCEL:
        build_cancel(self, next);
        break;
    case BUNDLE_SEQ_ASK:
        build_ask(self, next);
        break;
    case BUNDLE_SEQ_FORCE:
        build_force(self, rules, next);
        break;
    case BUNDLE_SEQ_COMMIT:
        build_commit(self, next);
        break;
    case BUNDLE_SEQ_ATTEMPT:
        build_attempt(self, next);
        break;
    case BUNDLE_SEQ_READ:
        BUNDLE_CALL(next, PRIMITIVE_SEQ_READ, CALL_PLAIN, 0, seq_id(self->target));
        break;
    default:
        build_look(actor->role, rules, next);
    }
}

/* ---- what there is to do --------------------------------------------------------------------- */

/* What is to be done with a seq that the search found. A run that is to be cancelled is asked to end
 * first. */
static enum bundle_name wish(const struct search *search, int64_t cancel_at)
{
    bool asks = search->then == BUNDLE_SEQ_FORCE && cancel_at == 0;
    return asks ? BUNDLE_SEQ_ASK : (enum bundle_name)search->then;
}

/* From when on the grace period of such a run is over. */
static int64_t grace_ends(const struct search *search, const struct rules *rules, int64_t cancel_at)
{
    return wish(search, cancel_at) == BUNDLE_SEQ_FORCE ? cancel_at + rules->put_back : 0;
}

static bool is_halted(const struct rows *rows)
{
    uint32_t slot = row_find(rows, TABLE_STAGE, seq_stage());
    return slot != ROW_NONE && row_get(rows, TABLE_STAGE, slot, STAGE_SEQ) != 0;
}

static bool is_idle(const struct actor *actor)
{
    return sends(ACTOR_IS(actor, seq_actor)) == BUNDLE_SEQ_LOOK;
}

/* From when on the search finds this seq, and there is something to do. For the simulation, which has
 * no row read for it: an actor on a server looks again after a while. */
static int64_t due_of(const struct search *search, const struct rules *rules,
                      const struct rows *rows, uint32_t slot)
{
    if (row_get(rows, TABLE_SEQ, slot, SEQ_STATE) != search->state ||
        row_get(rows, TABLE_SEQ, slot, SEQ_RETRY) != search->waits ||
        row_get(rows, TABLE_SEQ, slot, SEQ_UNWANTED) < search->unwanted) {
        return PROTOCOL_NEVER;
    }
    return search->lapsed
               ? row_get(rows, TABLE_SEQ, slot, SEQ_HEARTBEAT) + rules->timeout
               : grace_ends(search, rules, row_get(rows, TABLE_SEQ, slot, SEQ_CANCEL_AT));
}

static int64_t due(const struct actor *actor, const struct rules *rules,
                   const struct glance *glance)
{
    if (!is_idle(actor)) {
        return glance->now;
    }
    const struct rows *rows = glance->rows;
    int64_t earliest = PROTOCOL_NEVER;
    int count = is_halted(rows) ? 0 : search_count(actor->role);
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        for (int i = 0; i < count; i++) {
            int64_t from = due_of(&searches[actor->role][i], rules, rows, slot);
            earliest = from < earliest ? from : earliest;
        }
    }
    return earliest;
}

/* ---- what an outcome means ------------------------------------------------------------------- */

static void become_idle(struct seq_actor *self)
{
    self->sends = BUNDLE_SEQ_LOOK;
    self->beats = 0;
    self->worked = 0;
}

/* The most urgent of what was found. */
static void choose(struct actor *actor, const struct rules *rules, const struct outcome *last)
{
    struct seq_actor *self = ACTOR_IS(actor, seq_actor);
    for (int i = 0; i < search_count(actor->role); i++) {
        const struct search *search = &searches[actor->role][i];
        const int64_t *found = &last->values[(size_t)i * FIND_VALUES];
        int64_t asked = search->unwanted ? found[2] : 0;
        if (found[0] != 0 && grace_ends(search, rules, asked) <= last->now) {
            self->sends = (uint8_t)wish(search, asked);
            self->target = (uint32_t)found[1];
            self->asked = asked;
            return;
        }
    }
}

/* Progress, or the result of the run. */
static void go_on(struct seq_actor *self, const struct seq_plan *plan)
{
    bool wanted = fate_of(plan, self->target) == SEQ_FATE_CANCEL;
    self->worked = 0;
    if (self->beats < (wanted ? TICKS_CANCEL : TICKS)) {
        self->sends = BUNDLE_SEQ_BEAT;
        return;
    }
    enum seq_state state = seq_plan_result(plan, self->target, self->attempt).state;
    self->sends = state == SEQ_FAIL ? BUNDLE_SEQ_FAIL : BUNDLE_SEQ_FINISH;
}

/* A worker's own bundles. `applied`: all of it was committed. A heartbeat that is lost is not
 * repeated: the next one says more. */
static void work(struct seq_actor *self, const struct seq_plan *plan, const struct outcome *last)
{
    bool committed = last->kind == OUTCOME_COMMITTED;
    bool applied = committed && last->skipped == 0;
    if (self->sends == BUNDLE_SEQ_BEAT && (applied || !committed)) {
        self->beats++;
        go_on(self, plan);
    } else if (committed && self->sends == BUNDLE_SEQ_READ && last->values[0] == owner_id(self)) {
        self->attempt = last->values[1]; /* the lease is its own, so nothing was reported yet */
        go_on(self, plan);
    } else if (applied && self->sends == BUNDLE_SEQ_TAKE) {
        self->attempt = last->values[VALUE_ATTEMPTS];
        go_on(self, plan);
    } else if (committed) {
        become_idle(self);
    } else if (last->kind == OUTCOME_UNKNOWN) {
        self->sends = BUNDLE_SEQ_READ;
    }
}

/* The reclaimer's, the canceller's and the committer's: who does not know looks again. */
static void serve(struct seq_actor *self, const struct outcome *last)
{
    bool again = last->kind == OUTCOME_ABORTED ||
                 (last->kind == OUTCOME_UNKNOWN && self->sends == BUNDLE_SEQ_COMMIT);
    if (!again) {
        become_idle(self);
    }
}

static void plan_dispatch(struct seq_actor *self, const struct rules *rules,
                          enum bundle_name of_old_ones)
{
    self->target = self->at % rules->jobs;
    self->sends = (uint8_t)(self->at < rules->jobs       ? BUNDLE_SEQ_ADMIT
                            : self->at < 2 * rules->jobs ? of_old_ones
                                                         : BUNDLE_SEQ_LOOK); /* all is done */
}

static void dispatch(struct seq_actor *self, const struct rules *rules, const struct outcome *last)
{
    bool committed = last->kind == OUTCOME_COMMITTED;
    if (committed && self->sends == BUNDLE_SEQ_READ && last->values[2] == SEQ_UNSEEN) {
        self->sends = BUNDLE_SEQ_DISPATCH;
    } else if (committed) {
        self->at++;
        plan_dispatch(self, rules, BUNDLE_SEQ_DISPATCH);
    } else if (last->kind == OUTCOME_UNKNOWN && self->sends == BUNDLE_SEQ_DISPATCH) {
        self->sends = BUNDLE_SEQ_READ;
    }
}

/* ---- the end of Stage1 ----------------------------------------------------------------------- */

/* It is told that Stage1 has failed, or its own transaction failed it (E-SEQ-15). */
static bool is_over(const struct seq_actor *self, const struct outcome *last)
{
    bool failed = last->kind == OUTCOME_COMMITTED && moves((enum bundle_name)self->sent) &&
                  last->values[VALUE_HALTED] != 0;
    return failed || (last->kind == OUTCOME_REFUSED && last->refusal == REFUSED_HALTED);
}

/* Whatever it held is nobody's business any more. */
static void halt(struct seq_actor *self)
{
    self->misstep.there = false;
    become_idle(self);
}

static void take(struct actor *actor, const struct rules *rules, const struct outcome *last)
{
    struct seq_actor *self = ACTOR_IS(actor, seq_actor);
    bool committed = last->kind == OUTCOME_COMMITTED;
    if (is_over(self, last)) {
        halt(self);
    } else if (self->sent == BUNDLE_SEQ_ATTEMPT) {
        self->misstep.there = !committed; /* overtaken */
    } else if (self->sends == BUNDLE_SEQ_LOOK && committed) {
        choose(actor, rules, last);
    } else if (self->sends == BUNDLE_SEQ_LOOK) {
        return;
    } else if (actor->role == SEQ_DISPATCHER) {
        dispatch(self, rules, last);
    } else if (actor->role == SEQ_WORKER) {
        work(self, RULES_OF(rules, seq_plan), last);
    } else {
        serve(self, last);
    }
}

/* ---- at the seam ----------------------------------------------------------------------------- */

static void begin(struct actor *actor, const struct rules *rules, unsigned number)
{
    struct seq_actor *self = ACTOR_IS(actor, seq_actor);
    self->number = (uint8_t)number;
    self->sends = BUNDLE_SEQ_LOOK;
    if (actor->role == SEQ_DISPATCHER) {
        plan_dispatch(self, rules, BUNDLE_SEQ_READ);
    }
}

/* All is lost but which incarnation it is, and how far a dispatcher was, because who hands it the
 * seqs knows; whether the last one was dispatched, and whether Stage1 has failed, it has to read.
 */
static void restart(struct actor *actor, const struct rules *rules, unsigned number)
{
    struct seq_actor *self = ACTOR_IS(actor, seq_actor);
    *self = (struct seq_actor){.incarnation = self->incarnation + 1,
                               .at = actor->role == SEQ_DISPATCHER ? self->at : 0};
    begin(actor, rules, number);
}

/* Every seq is dispatched, or Stage1 has failed. */
static bool is_done(const struct actor *actor)
{
    return is_idle(actor);
}

static int64_t due_of_dispatcher(const struct actor *actor, const struct rules *rules,
                                 const struct glance *glance)
{
    (void)rules;
    return is_idle(actor) ? PROTOCOL_NEVER : glance->now;
}

static int weight_of(enum seq_state from)
{
    return seq_rules_terminal(from) ? SEQ_MISSTEP_WEIGHT : from == SEQ_UNSEEN ? 1 : 4;
}

uint32_t seq_missteps(const bool is_there[SEQ_STATES], bool drawn,
                      uint8_t pairs[SEQ_MISSTEPS_MAX][2])
{
    uint32_t count = 0;
    for (int from = 0; from < SEQ_STATES; from++) {
        for (int to = 0; to < SEQ_STATES && is_there[from]; to++) {
            enum seq_state one = (enum seq_state)from, other = (enum seq_state)to;
            bool wrong = seq_rules_pair(one, other) == SEQ_PAIR_ILLEGAL ||
                         seq_rules_move(one, other) == SEQ_MOVE_RETRY; /* it is final */
            for (int w = !wrong ? 0 : drawn ? weight_of(one) : 1; w > 0; w--) {
                pairs[count][0] = (uint8_t)from;
                pairs[count++][1] = (uint8_t)to;
            }
        }
    }
    return count;
}

void seq_err(struct actor *actor, uint32_t number, enum seq_state from, enum seq_state to)
{
    ACTOR_IS(actor, seq_actor)->misstep = (struct seq_misstep){
        .there = true, .from = (uint8_t)from, .to = (uint8_t)to, .number = number};
}

static int64_t attends(const struct actor *actor, const struct rules *rules)
{
    int64_t in = rules->timeout / 2 - ACTOR_IS(actor, seq_actor)->worked;
    return in < 1 ? 1 : in;
}

/* The run is not over yet, or is over late: it tells that it goes on. */
static void worked(struct actor *actor, const struct rules *rules, int64_t ticks)
{
    struct seq_actor *self = ACTOR_IS(actor, seq_actor);
    self->worked += ticks;
    if (self->worked >= rules->timeout / 2 &&
        (self->sends == BUNDLE_SEQ_FINISH || self->sends == BUNDLE_SEQ_FAIL)) {
        self->sends = BUNDLE_SEQ_BEAT;
    }
}

#define SEQ_ROLE(text)                                                                             \
    .name = (text), .begin = begin, .restart = restart, .next = next_of, .take = take,             \
    .is_idle = is_idle

const struct protocol protocol_seq = {
    .name = "seq",
    PROTOCOL_SIZES(struct seq_actor, struct seq_plan),
    .family = CLAUSE_FAMILY_SEQ,
    .tables = TABLE_SET(STAGE) | TABLE_SET(SEQ) | TABLE_SET(SEQ_EVENT) | TABLE_SET(SEQ_TALLY),
    .roles =
        {
            [SEQ_DISPATCHER] = {SEQ_ROLE("dispatcher"), .alone = true, .due = due_of_dispatcher,
                                .is_done = is_done},
            [SEQ_WORKER] = {SEQ_ROLE("worker"), .due = due, .worked = worked, .attends = attends},
            [SEQ_RECLAIMER] = {SEQ_ROLE("reclaimer"), .alone = true, .due = due},
            [SEQ_CANCELLER] = {SEQ_ROLE("canceller"), .alone = true, .due = due},
            [SEQ_COMMITTER] = {SEQ_ROLE("committer"), .alone = true, .due = due},
        },
};
