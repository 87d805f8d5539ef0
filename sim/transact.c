/* An actor's transaction: built, sent, executed (life.h), and its outcome given to the actor.
 *
 * It lives at once if no other transaction is open and it is not to be stopped half-way, since the
 * difference is then not observable (LF1); else operation by operation. A transaction that is
 * stopped, or waits for a lock, stays open over the turns of other actors. So does a late one. */
#include "sim/former.h"
#include "sim/long_work.h"
#include "sim/part.h"
#include "sim/run_inside.h"
#include "sim/weather.h"

#include <string.h>

_Static_assert(RUN_ACTORS_MAX + 1 <= OBSERVED_CLIENTS_MAX,
               "every actor is a client of the store, and a former self is");
_Static_assert(RUN_ACTORS_MAX + RUN_LATE_MAX + 1 <= SESSIONS_MAX,
               "every actor has a session, what is on its way has, and a former self has");

#define PAUSE_TIMEOUTS 3 /* a pause lasts up to so many timeouts */
#define DELAY_TIMEOUTS 2
#define REORDER_WINDOW 8

/* ---- what every turn needs ------------------------------------------------------------------- */

void run_fit_sessions(struct run *run)
{
    if (run->former.there) {
        sessions_resize(run->sessions, run_former(run) + 1);
    } else if (run->late_count == 0) {
        sessions_resize(run->sessions, run->actor_count);
    }
}

void run_start_anew(struct run *run, unsigned actor)
{
    struct run_actor *run_actor = &run->actors[actor];
    if (actor == run_former(run)) {
        former_end(run);
        return;
    }
    performer_restart(&run_actor->performer, &run->rules, actor);
    run_actor->paused_until = 0;
    run_actor->works_until = 0;
    run_actor->worked = 0;
    run_actor->stretch = 0;
    run_actor->cut = false;
    run_actor->is_new = true;
    run_actor->queues_for = PRINCIPAL_NONE;
    run_actor->stop = 0;
}

void run_build_bundle(struct run *run, unsigned actor)
{
    if (run->sabotage != NULL) {
        run->actors[actor].performer.memory.skew = run->actors[actor].skew;
    }
    run->trap.armed = 1 + actor;
    performer_next(&run->actors[actor].performer, &run->rules, run->sabotage, &run->bundle);
    run->trap.armed = 0;
}

void run_bury(struct run *run)
{
    unsigned actor = run->trap.armed - 1;
    struct run_event event = {.turn = RUN_CRASH,
                              .actor = actor,
                              .crashed = true,
                              .bundle = &run->bundle,
                              .died = run->trap.claim,
                              .changes = run->world.changes};
    run->trap.armed = 0;
    run->result.deaths++;
    if (run->calm) { /* the reference run: its length, by which runs are bounded, is known by now */
        run->result.verdict = RUN_DIED;
    }
    run_stepped(run, &event);
    run->actors[actor].transactions++;
    run->actors[actor].twisted = false;
    run_start_anew(run, actor);
}

const int64_t *run_message_of(const struct run_actor *run_actor)
{
    return run_actor->performer.role->message == NULL
               ? NULL
               : run_actor->performer.role->message(&run_actor->performer.actor);
}

/* The message that a claim takes: the one due first, or one of the next; never a locked one. */
static uint32_t pick_claim(struct run *run, unsigned actor, enum fault_kind fault)
{
    uint32_t slots[REORDER_WINDOW], kept = 0;
    bool others = sessions_open(run->sessions) != 0;
    bool rides = run->bundle.name != BUNDLE_CLAIM; /* messages that its own bundle publishes count,
                                                      too */
    if ((others || rides) && fault != FAULT_REORDER) {
        return SESSION_PICKS_ITSELF;
    }
    uint32_t count = world_visible(&run->world, fault == FAULT_REORDER ? REORDER_WINDOW : 1, slots);
    for (uint32_t i = 0; i < count; i++) {
        if (!others || !sessions_locked(run->sessions, TABLE_MESSAGE, slots[i])) {
            slots[kept++] = slots[i];
        }
    }
    if (kept == 0) {
        return ROW_NONE;
    }
    uint32_t rank = fault == FAULT_REORDER
                        ? choice_amount(run->source, actor, run->actors[actor].transactions, kept)
                        : 0;
    return slots[rank];
}

static void answer_aborted(struct run *run, enum abort_class aborted)
{
    run->outcome.kind = OUTCOME_ABORTED;
    run->outcome.aborted = (uint8_t)aborted;
    run->outcome.refusal = REFUSED_NOTHING;
    run->outcome.skipped = 0;
    run->outcome.now = run->world.now;
}

/* Published messages become visible late. Part of the commit: no worker saw them earlier. */
static void delay_published(struct run *run, unsigned actor, size_t mark)
{
    struct world *world = &run->world;
    int64_t delay = 1 + choice_amount(run->source, actor, run->actors[actor].transactions,
                                      (uint32_t)(DELAY_TIMEOUTS * run->rules.timeout));
    size_t count = world->change_count;
    for (size_t i = mark; i < count; i++) {
        struct row_change change = world->changes[i];
        if (change.table == TABLE_MESSAGE && change.kind == ROW_INSERTED &&
            row_get(&world->rows, TABLE_MESSAGE, change.slot, MESSAGE_EPOCH) == 0) {
            world_set(world, TABLE_MESSAGE, change.slot, MESSAGE_VISIBLE_AT, world->now + delay);
        }
    }
}

void run_roll_back(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    bool torn = run->sabotage != NULL && sabotage_tears(run->sabotage);
    world_undo(world, torn ? mark + (world->change_count - mark) / 2 : mark);
    struct oracle_verdict verdict =
        oracle_rollback(&run->oracle, &world->changes[mark], world->change_count - mark);
    if (verdict.broken) {
        run_broke(run, verdict);
    }
}

/* No row tells which connections are in use: the oracles learn it from the store. A committing
 * session has its connection until it has ended. */
static void tell_connections(struct run *run)
{
    if (run->scenario->protocol->principals == 0 || sessions_open(run->sessions) == 0) {
        return;
    }
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        uint32_t now = sessions_connected(run->sessions, (enum principal)p);
        uint32_t *most = &run->oracle.connected[p];
        *most = now > *most ? now : *most;
    }
}

/* What the store saw of the actor's transaction. The store knows the sender as a server does, by
 * the name of the connection; and whether the answer was delivered. A late transaction was reported
 * as its sender's when the sender moved on: now it has no sender. */
static void tell_seen(struct run *run, unsigned actor, enum fault_kind fault, bool committed,
                      size_t mark)
{
    if (actor >= run->actor_count && actor != run_former(run)) {
        run->seen.client = OBSERVED_NOBODY;
        run_judge_seen(run, committed, mark);
        return;
    }
    struct run_actor *run_actor = &run->actors[actor];
    run->seen.client = run_actor->client;
    run->seen.is_new = run_actor->is_new;
    run->seen.worked = run_actor->worked;
    run->seen.stretch = run_actor->stretch;
    run_actor->worked = 0;
    run_actor->stretch = 0;
    run->seen.answered = !fault_get(fault)->dies && run->outcome.kind != OUTCOME_UNKNOWN;
    run_actor->is_new = false;
    if (run->outcome.kind == OUTCOME_ABORTED) {
        run->seen.began = run->outcome.now; /* what its client was told */
    }
    run_judge_seen(run, committed, mark);
}

/* ---- how a transaction ends ------------------------------------------------------------------ */

/* The changes since `mark` are a commit. */
static void judge(struct run *run, unsigned actor, enum fault_kind fault, size_t mark)
{
    if (fault == FAULT_DELAY) {
        delay_published(run, actor, mark);
    }
    tell_connections(run);
    run_judge_commit(run, mark);
}

/* Reports the step and gives the actor its outcome, unless it crashed. The outcome is run->outcome;
 * `mark` is where the log of changes stood before. */
static void transact_finish(struct run *run, unsigned actor, enum fault_kind fault, bool committed,
                            size_t mark)
{
    struct run_actor *run_actor = &run->actors[actor];
    const int64_t *claimed = committed ? run->outcome.message : NULL;
    struct run_event event = {
        .turn = RUN_TRANSACTION,
        .actor = actor,
        .fault = fault,
        .crashed = fault_get(fault)->dies,
        .committed = committed,
        .bundle = &run->bundle,
        .outcome = &run->outcome,
        .message = run->bundle.name == BUNDLE_CLAIM ? claimed : run_message_of(run_actor),
        .changes = &run->world.changes[mark],
        .change_count = run->world.change_count - mark,
    };
    run->result.transactions++;
    run_stepped(run, &event);
    run_keep(run, mark);
    run_actor->transactions++;
    if (fault_get(fault)->dies) {
        run_start_anew(run, actor);
    } else {
        run->trap.armed = 1 + actor;
        performer_take(&run_actor->performer, &run->rules, run->sabotage, &run->bundle,
                       &run->outcome, &run->world.rows);
        run->trap.armed = 0;
    }
    if (run_actor->twisted) { /* the fault concerned this one transaction */
        run->part->twist(&run_actor->performer.actor, fault, false);
        run_actor->twisted = false;
    }
    if (run_actor->works_until != 0) {
        long_work_rest(run, run_actor);
    }
    if (actor >= run->actor_count) {
        former_mind(run);
    }
}

/* Replaces the outcome by the answer that the fault makes of it. */
static void distort(struct run *run, enum fault_kind fault)
{
    if (fault_get(fault)->answer == FAULT_TELLS_ABORT) {
        answer_aborted(run, fault_get(fault)->aborted);
    } else if (fault_get(fault)->answer == FAULT_TELLS_UNKNOWN) {
        run->outcome.kind = OUTCOME_UNKNOWN; /* the answer to a refusal can be lost, too */
    }
}

/* The last part of every transaction's life. run->bundle and run->outcome are as the sender sees
 * them; returns whether it committed. */
static bool conclude(struct run *run, const struct life *life, unsigned who, enum fault_kind fault,
                     size_t mark)
{
    bool committed = life_execute(run, life, who, !fault_get(fault)->rolls_back, mark);
    if (committed) {
        judge(run, who, fault, mark);
    }
    if (run->outcome.kind != OUTCOME_ABORTED) {
        distort(run, fault);
    }
    tell_seen(run, who, fault, committed, mark);
    if (run->has_presets) {
        run->part->preset(run, mark);
    }
    life_close(run, life, who, committed, mark);
    life->wake(run);
    return committed;
}

static void conclude_own(struct run *run, const struct life *life, unsigned actor,
                         enum fault_kind fault)
{
    size_t mark = world_mark(&run->world);
    bool committed = conclude(run, life, actor, fault, mark);
    transact_finish(run, actor, fault, committed, mark);
}

/* ---- a transaction that other turns may interrupt -------------------------------------------- */

/* The transaction stays open: it was stopped, or it waits. */
static void stays_open(struct run *run, unsigned actor, enum run_turn turn)
{
    const struct session *session = &run->sessions->each[actor];
    struct run_event event = {.turn = turn,
                              .actor = actor,
                              .bundle = &session->bundle,
                              .message = run_message_of(&run->actors[actor]),
                              .amount = turn == RUN_WAITS
                                            ? (int64_t)session_waits_for(run->sessions, actor)
                                            : (int64_t)session->operations,
                              .changes = run->world.changes};
    run_stepped(run, &event);
}

/* Executes operation by operation: to the end, past `stop` of them (0: no stop), or to a lock that
 * another session holds. */
static void transact_advance(struct run *run, unsigned who, uint32_t stop)
{
    const struct session *session = &run->sessions->each[who];
    while (session->state == SESSION_OPEN && (stop == 0 || session->operations < stop)) {
        run->life->step(run, who);
        if (run->result.verdict == RUN_GIVEN_UP) {
            return;
        }
        if (session->state == SESSION_FAILED) {
            run->life->wake(run);
        }
    }
}

/* Goes on to the end, to the stop, or to a wait. */
static void progress(struct run *run, unsigned actor)
{
    struct session *session = &run->sessions->each[actor];
    struct run_actor *run_actor = &run->actors[actor];
    transact_advance(run, actor, run_actor->stop);
    if (run->result.verdict == RUN_GIVEN_UP) {
        return;
    }
    if (session->state == SESSION_WAITS) {
        stays_open(run, actor, RUN_WAITS);
    } else if (session->state != SESSION_FAILED && run_actor->stop != 0 &&
               session->operations >= run_actor->stop) {
        run_actor->stop = 0;
        run_actor->stopped = true;
        stays_open(run, actor, RUN_STOPS);
    } else {
        conclude_own(run, run->life, actor, (enum fault_kind)run_actor->fault);
    }
}

/* False: the store that follows diverged. */
static bool begin_session(struct run *run, unsigned who, uint32_t picked)
{
    run->life->begin(run, who, picked);
    return run->result.verdict != RUN_GIVEN_UP;
}

/* A further turn of an open transaction. An actor that is to crash inside its transaction and was
 * stopped crashes here, between two statements. */
static void resume(struct run *run, unsigned actor)
{
    struct run_actor *run_actor = &run->actors[actor];
    struct session *session = &run->sessions->each[actor];
    const struct fault *fault = fault_get((enum fault_kind)run_actor->fault);
    if (run_actor->stopped && fault->dies && fault->rolls_back &&
        (session->state == SESSION_OPEN || session->state == SESSION_DONE)) {
        session->state = SESSION_DONE; /* it got only so far: nothing of it is committed */
    }
    progress(run, actor);
}

/* ---- a transaction that its sender has moved on from ----------------------------------------- */

#define LATE_STEPS 32 /* a late transaction ends within so many steps of other actors */

static void forget_late(struct run *run, unsigned l)
{
    run->late[l].there = false;
    run->late_count--;
    run_fit_sessions(run);
}

/* Opens the session of a late transaction, which belongs to no actor. False: the store
 * that follows diverged. */
static bool begin_late(struct run *run, unsigned l)
{
    unsigned who = run->actor_count + l;
    if (run->sessions->count <= who) {
        sessions_resize(run->sessions, who + 1);
    }
    run->late[l].begun = true;
    return begin_session(run, who, bundle_claims(&run->bundle) ? SESSION_PICKS_ITSELF : ROW_NONE);
}

/* The sender gets no answer, or crashes. The transaction is in transit to the store, or executed up
 * to its COMMIT. */
static void send_late(struct run *run, unsigned actor, enum fault_kind fault)
{
    struct run_actor *run_actor = &run->actors[actor];
    unsigned l = run->late[0].there ? 1 : 0;
    uint32_t amount = choice_amount(run->source, actor, run_actor->transactions, 2 * LATE_STEPS);
    struct run_late *late = &run->late[l];
    const int64_t *message = run_message_of(run_actor);
    *late = (struct run_late){.there = true,
                              .fault = (uint8_t)fault,
                              .actor = (uint8_t)actor,
                              .due = run->result.steps + 2 + amount / 2,
                              .transactions = run->result.transactions + 1,
                              .has_message = message != NULL};
    if (message != NULL) {
        memcpy(late->message, message, sizeof late->message);
    }
    run->late_count++;
    if (amount % 2 != 0) {
        bundle_copy(&run->late_bundles[l], &run->bundle);
    } else if (begin_late(run, l)) {
        transact_advance(run, run->actor_count + l, 0);
    }
    memset(&run->outcome, 0, sizeof run->outcome);
    run->outcome.kind = OUTCOME_UNKNOWN;
    run->outcome.now = run->world.now;
    if (run->result.verdict != RUN_GIVEN_UP) {
        size_t mark = world_mark(&run->world);
        store_seen_begin(&run->bundle, run->world.now, &run->seen);
        tell_seen(run, actor, fault, false, mark);
        transact_finish(run, actor, fault, false, mark);
    }
}

/* The late transaction waits neither for a lock nor for a connection. */
static bool can_land(const struct run *run, unsigned l)
{
    return run->late[l].begun ? run->sessions->each[run->actor_count + l].state != SESSION_WAITS
                              : !run_is_full(run, (enum principal)run->late_bundles[l].principal);
}

/* Ends the late transaction normally, unless it waits. */
static void land(struct run *run, unsigned l)
{
    const struct run_late *late = &run->late[l];
    unsigned who = run->actor_count + l;
    if (!late->begun) {
        bundle_copy(&run->bundle, &run->late_bundles[l]);
        if (!begin_late(run, l)) {
            return;
        }
    }
    transact_advance(run, who, 0);
    if (run->result.verdict == RUN_GIVEN_UP || run->sessions->each[who].state == SESSION_WAITS) {
        return;
    }
    size_t mark = world_mark(&run->world);
    struct run_event event = {.turn = RUN_LANDS, .actor = late->actor};
    event.committed = conclude(run, run->life, who, FAULT_NONE, mark);
    event.bundle = &run->bundle;
    event.outcome = &run->outcome;
    event.message = late->has_message ? late->message : NULL;
    event.changes = &run->world.changes[mark];
    event.change_count = run->world.change_count - mark;
    run_stepped(run, &event);
    run_keep(run, mark);
    forget_late(run, l);
}

void run_mind_late(struct run *run)
{
    for (unsigned l = 0; l < RUN_LATE_MAX; l++) {
        struct run_late *late = &run->late[l];
        if (!late->there) {
            continue;
        }
        if (!late->counted && run->result.transactions > late->transactions) {
            late->counted = true;
            run->result.fired[late->fault]++;
        }
        if (run->result.verdict != RUN_HELD) {
            return;
        }
        if (run->result.steps >= late->due && can_land(run, l)) {
            land(run, l);
        } else if (late->begun) {
            transact_advance(run, run->actor_count + l,
                             0); /* the lock that it waited for may have been
                                                      released */
        }
    }
}

bool run_land_early(struct run *run)
{
    for (unsigned l = 0; run->late_count != 0 && l < RUN_LATE_MAX; l++) {
        if (run->late[l].there && can_land(run, l)) {
            land(run, l);
            return true;
        }
    }
    return false;
}

/* ---- connections that break ------------------------------------------------------------------ */

static void drop_session(struct run *run, unsigned actor, bool told)
{
    if (run->sessions->each[actor].state == SESSION_CLOSED) {
        run->actors[actor].cut = run->actors[actor].cut || told;
        return;
    }
    if (told) {
        run->life->abort(run, actor, ABORT_CONNECTION); /* it goes on when its sender finds out */
    } else {
        life_drop(run, actor);
    }
}

void run_drop_sessions(struct run *run, bool told)
{
    for (unsigned a = 0; a < run->actor_count; a++) {
        drop_session(run, a, told);
    }
    if (run->former.there) {
        drop_session(run, run_former(run), told);
    }
    for (unsigned l = 0; told && run->late_count != 0 && l < RUN_LATE_MAX; l++) {
        if (run->late[l].there && run->late[l].begun) {
            life_drop(run, run->actor_count + l);
        }
        if (run->late[l].there) {
            forget_late(run, l);
        }
    }
}

/* ---- a turn ---------------------------------------------------------------------------------- */

/* An open transaction uses a connection. */
bool run_is_full(const struct run *run, enum principal principal)
{
    uint32_t limit = scenario_connections(run->scenario, principal);
    return limit > 0 && sessions_connected(run->sessions, principal) >= limit;
}

static void transact(struct run *run, unsigned actor, enum fault_kind fault)
{
    struct run_actor *run_actor = &run->actors[actor];
    enum abort_class aborted = run_actor->cut ? ABORT_CONNECTION : fault_aborts(fault);
    enum principal principal = (enum principal)run->bundle.principal;
    run_actor->queues_for = PRINCIPAL_NONE;
    if (aborted == ABORT_NONE && run_is_full(run, principal)) {
        aborted = ABORT_CONNECTIONS;
        run_actor->queues_for = (uint8_t)principal;
    }
    run_actor->fault = (uint8_t)fault;
    run_actor->stopped = false;
    if (aborted != ABORT_NONE) {
        size_t mark = world_mark(&run->world);
        answer_aborted(run, aborted);
        store_seen_begin(&run->bundle, run->world.now, &run->seen);
        tell_seen(run, actor, fault, false, mark);
        run_actor->cut = false;
        if (run->has_presets) {
            run->part->preset(run, mark);
        }
        transact_finish(run, actor, fault, false, mark);
        return;
    }
    if (run_is_late(fault)) {
        send_late(run, actor, fault);
        return;
    }
    bool interleaves = run->interleaves && !run->calm && !run->settling && !run_presets_lag(run);
    uint32_t length = interleaves ? session_length(run->sessions, &run->bundle) : 0;
    run_actor->stop =
        length > 0 ? choice_stop(run->source, actor, run_actor->transactions, length) : 0;
    uint32_t picked = bundle_claims(&run->bundle) ? pick_claim(run, actor, fault) : ROW_NONE;
    if (!run->life->follows && run_actor->stop == 0 && sessions_open(run->sessions) == 0) {
        life_whole.begin(run, actor, picked);
        conclude_own(run, &life_whole, actor, fault);
    } else if (begin_session(run, actor, picked)) {
        progress(run, actor);
    }
}

/* The actor crashes, or pauses, before it sends anything. */
static void do_nothing(struct run *run, unsigned actor, enum fault_kind fault)
{
    struct run_actor *run_actor = &run->actors[actor];
    bool dies = fault_get(fault)->dies;
    struct run_event event = {.turn = dies ? RUN_CRASH : RUN_PAUSE,
                              .actor = actor,
                              .fault = fault,
                              .crashed = dies,
                              .bundle = &run->bundle,
                              .message = run_message_of(run_actor),
                              .changes = run->world.changes};
    if (!dies) {
        event.amount = 1 + choice_amount(run->source, actor, run_actor->transactions,
                                         (uint32_t)(PAUSE_TIMEOUTS * run->rules.timeout));
        run_actor->paused_until = run->world.now + event.amount;
    }
    run_stepped(run, &event);
    run_actor->transactions++;
    if (dies) {
        run_start_anew(run, actor);
    }
}

void run_take_turn(struct run *run, unsigned actor)
{
    if ((sessions_open(run->sessions) >> actor & 1) != 0) {
        resume(run, actor);
        return;
    }
    if (run->actors[actor].works_until == 0) {
        run_build_bundle(run, actor);
    } else if (!long_work_leave(run, actor)) {
        return;
    }
    enum fault_kind fault = weather_fault(run, actor);
    if (run->result.verdict != RUN_HELD) {
        return;
    }
    if (fault == FAULT_SUCCESSOR) {
        former_start(run, actor);
        return;
    }
    if (fault == FAULT_LONG_WORK) {
        long_work_begin(run, actor);
        return;
    }
    run_work(run, actor); /* a crash or a pause comes after the work; before it would be a step
                        earlier */
    if (fault_get(fault)->moment == FAULT_BEFORE_BEGIN) {
        do_nothing(run, actor, fault);
        return;
    }
    if (fault != FAULT_NONE && fault_get(fault)->group == FAULT_GROUP_ANSWER) {
        run->part->twist(&run->actors[actor].performer.actor, fault, true);
        run->actors[actor].twisted = true;
        run_build_bundle(run, actor);
    }
    transact(run, actor, fault);
}
