#include "sim/weather.h"

#include "model/check.h"
#include "model/identity.h"
#include "sim/part.h"
#include "sim/run_inside.h"

#define JUMP_TIMEOUTS    4 /* a clock jumps ahead by up to so many timeouts, and back by one */
#define SKEW_TIMEOUTS    2
#define LOST_COMMITS_MAX 4
#define LATE_REPLAYS     4 /* chances of a replay at quiescence */

/* ---- the world around ------------------------------------------------------------------------ */

static bool is_gone(const struct run *run, uint32_t slot)
{
    return run->world.place[slot] == 0;
}

static bool is_claimed(const struct run *run, uint32_t slot)
{
    const struct rows *rows = &run->world.rows;
    return !is_gone(run, slot) && !world_withholds(&run->world, slot) &&
           row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH) > 0 &&
           row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) > run->world.now;
}

static bool suits(const struct run *run, enum fault_kind kind, uint32_t slot)
{
    return kind == FAULT_REPLAY ? is_gone(run, slot)
           : kind == FAULT_DUPLICATE
               ? !is_gone(run, slot) && !world_withholds(&run->world, slot)
               : is_claimed(run, slot) && !sessions_locked(run->sessions, TABLE_MESSAGE, slot);
}

/* A message to which the fault applies, searched from a chosen one on; ROW_NONE: there is none. */
static uint32_t pick_message(struct run *run, enum fault_kind kind, unsigned actor,
                             uint32_t ordinal)
{
    uint32_t used = run->world.rows.table[TABLE_MESSAGE].used;
    if (used == 0) {
        return ROW_NONE;
    }
    uint32_t first = choice_amount(run->source, actor, ordinal, used);
    for (uint32_t i = 0; i < used; i++) {
        uint32_t slot = (first + i) % used;
        if (suits(run, kind, slot)) {
            return slot;
        }
    }
    return ROW_NONE;
}

bool run_copy_message(struct run *run, uint32_t slot)
{
    struct rows *rows = &run->world.rows;
    int64_t columns[MESSAGE_COLUMNS];
    for (int c = 0; c < MESSAGE_COLUMNS; c++) {
        columns[c] = row_get(rows, TABLE_MESSAGE, slot, c);
    }
    columns[MESSAGE_VISIBLE_AT] = run->world.now;
    columns[MESSAGE_EPOCH] = 0;
    int64_t key = identity_mint(row_key(rows, TABLE_MESSAGE, slot),
                                IDENTITY_COPY + ((int64_t)++run->copies << 32));
    return world_insert(&run->world, TABLE_MESSAGE, key, columns) != ROW_NONE;
}

static bool disturb_queue(struct run *run, enum fault_kind kind, unsigned actor, uint32_t ordinal)
{
    uint32_t slot = pick_message(run, kind, actor, ordinal);
    if (slot == ROW_NONE) {
        return false;
    }
    if (kind == FAULT_REDELIVER) {
        world_set(&run->world, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT, run->world.now);
        return true;
    }
    return run_copy_message(run, slot);
}

/* Undoes the last commits, and reports that as the changes of one further commit. */
static bool lose_commits(struct run *run, enum fault_kind kind, unsigned actor, uint32_t ordinal)
{
    (void)kind;
    struct world *world = &run->world;
    uint32_t kept = run->commits_held;
    if (kept == 0) {
        return false;
    }
    run_drop_sessions(run, true);
    uint32_t lost = 1 + choice_amount(run->source, actor, ordinal, LOST_COMMITS_MAX);
    lost = lost < kept ? lost : kept;
    size_t mark = run->commits[(run->commit_count - lost) % 8];
    size_t count = world->change_count - mark;
    CHECK(count <= RUN_TOLD_MAX);
    for (size_t i = 0; i < count; i++) {
        struct row_change change = world->changes[world->change_count - 1];
        if (change.kind == ROW_UPDATED) {
            change.before =
                row_get(&world->rows, (enum row_table)change.table, change.slot, change.column);
        } else {
            change.kind = change.kind == ROW_INSERTED ? ROW_DELETED : ROW_INSERTED;
        }
        run->told[i] = change;
        world_undo(world, world->change_count - 1);
    }
    run->commit_count -= lost;
    run->commits_held -= lost; /* older positions belonged to commits that are lost now */
    run->told_count = count;
    run->amount = lost;
    oracle_forget_clients(&run->oracle);
    struct oracle_verdict verdict =
        run->oracle.monitors->commit(&run->oracle, &world->rows, run->told, count);
    if (verdict.broken) {
        run_broke(run, verdict);
    }
    return true;
}

static bool jump_clock(struct run *run, enum fault_kind kind, unsigned actor, uint32_t ordinal)
{
    int64_t most = (kind == FAULT_CLOCK_FORWARD ? JUMP_TIMEOUTS : 1) * run->rules.timeout;
    run->amount = 1 + choice_amount(run->source, actor, ordinal, (uint32_t)most);
    if (kind == FAULT_CLOCK_FORWARD) {
        run->world.now += run->amount;
    } else {
        run->world.now = run->world.now > run->amount ? run->world.now - run->amount : 0;
    }
    return true;
}

/* The actor's own clock is ahead or behind by up to two timeouts, and runs at half to double
 * speed. */
static bool skew_clock(struct run *run, enum fault_kind kind, unsigned actor, uint32_t ordinal)
{
    (void)kind;
    static const uint8_t rates[] = {2, 3, 5, 6, 8};
    struct run_actor *run_actor = &run->actors[actor];
    uint32_t span = (uint32_t)(SKEW_TIMEOUTS * run->rules.timeout);
    uint32_t amount = choice_amount(run->source, actor, ordinal, 5 * (2 * span + 1));
    run_actor->rate = rates[amount % 5];
    run_actor->skew = (int64_t)(amount / 5) - (int64_t)span;
    run_actor->skew_counts = false;
    run->amount = run_actor->skew;
    return true;
}

static bool go_wrong(struct run *run, enum fault_kind kind, unsigned actor, uint32_t ordinal)
{
    (void)kind;
    uint32_t count = run->part->missteps == NULL ? 0 : run->part->missteps(run, actor, true);
    if (count > 0) {
        run->part->misstep(run, actor, choice_amount(run->source, actor, ordinal, count), true);
    }
    return count > 0;
}

/* Nothing durable is lost, and every connection breaks. */
static bool break_connections(struct run *run, enum fault_kind kind, unsigned actor,
                              uint32_t ordinal)
{
    (void)kind, (void)actor, (void)ordinal;
    run_drop_sessions(run, true);
    return true;
}

/* How each fault of the environment happens. True: it could happen here. */
static bool (*const disturbs[FAULT_KIND_COUNT])(struct run *run, enum fault_kind kind,
                                                unsigned actor, uint32_t ordinal) = {
    [FAULT_DUPLICATE] = disturb_queue,
    [FAULT_REPLAY] = disturb_queue,
    [FAULT_REDELIVER] = disturb_queue,
    [FAULT_RESTART] = break_connections,
    [FAULT_FAILOVER] = break_connections,
    [FAULT_LOSSY_FAILOVER] = lose_commits,
    [FAULT_CLOCK_FORWARD] = jump_clock,
    [FAULT_CLOCK_BACK] = jump_clock,
    [FAULT_SKEW] = skew_clock,
    [FAULT_ILLEGAL_MOVE] = go_wrong,
};

/* ---- which fault ----------------------------------------------------------------------------- */

static void took(struct run *run, unsigned actor, uint32_t ordinal, enum fault_kind kind)
{
    choice_took(run->source, actor, ordinal, kind);
    run->result.fired[kind] += !fault_get(kind)->counts_later;
    run->oracle.answers_changed += kind == FAULT_ANSWER_CHANGED;
    uint32_t *budget = &run->budget[fault_get(kind)->group];
    *budget -= *budget > 0;
}

/* Budgets bound drawn faults; a listed fault is always injected. */
static bool affordable(const struct run *run, enum fault_kind kind)
{
    return !run->source->random_faults || run->budget[fault_get(kind)->group] > 0;
}

static bool writes(const struct run *run)
{
    for (uint8_t i = 0; i < run->bundle.count; i++) {
        const struct primitive *primitive = &run->primitives[run->bundle.calls[i].primitive];
        for (uint8_t op = 0; op < primitive->op_count; op++) {
            enum op_kind kind = (enum op_kind)primitive->ops[op].kind;
            if (kind >= OP_ADD && kind <= OP_CLAIM) {
                return true;
            }
        }
    }
    return false;
}

/* The moment of a read is not observable. */
static bool can_be_late(const struct run *run)
{
    return run->late_count < RUN_LATE_MAX && writes(run) && !run_presets_lag(run);
}

/* Only a worker that holds something can get a successor, and one at a time. A store that
 * follows has connections for actors only. */
static bool can_succeed(const struct run *run, unsigned actor)
{
    const struct performer *performer = &run->actors[actor].performer;
    return !run->former.there && actor < run->actor_count && performer->role->is_done == NULL &&
           !performer->role->is_idle(&performer->actor) && !run->life->follows;
}

/* Whether a fault can hit this transaction. */
static bool weather_applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    if ((run_is_late(kind) && !can_be_late(run)) ||
        (kind == FAULT_SUCCESSOR && !can_succeed(run, actor)) ||
        (kind == FAULT_LONG_WORK &&
         !performer_would_work(&run->actors[actor].performer, &run->bundle)) ||
        (kind == FAULT_SKEW && run->actors[actor].performer.role->worked == NULL)) {
        return false;
    }
    enum fault_moment moment = fault_get(kind)->moment;
    if (run->actors[actor].cut && moment != FAULT_AROUND && moment != FAULT_BEFORE_BEGIN) {
        return false; /* nothing of it reaches the server */
    }
    return run->part->applies == NULL ? sim_part_applies(run, kind, actor)
                                      : run->part->applies(run, kind, actor);
}

/* Reports a fault of the environment as a step of its own. What a failover lost is judged
 * already. */
static void disturbed(struct run *run, unsigned actor, enum fault_kind kind, size_t mark)
{
    bool lost = kind == FAULT_LOSSY_FAILOVER;
    if (!lost && run->world.change_count > mark) {
        run_judge_commit(run, mark);
    }
    struct run_event event = {.turn = RUN_ENVIRONMENT,
                              .actor = actor,
                              .fault = kind,
                              .committed = true,
                              .amount = run->amount,
                              .changes = lost ? run->told : &run->world.changes[mark],
                              .change_count =
                                  lost ? run->told_count : run->world.change_count - mark};
    run_stepped(run, &event);
    if (!lost) {
        run->life->note(run, mark);
        run_keep(run, mark);
    }
}

/* The fault that hits the actor's next transaction. A fault of the environment happens here, as a
 * step of its own, and the transaction then runs without a fault. */
enum fault_kind weather_fault(struct run *run, unsigned actor)
{
    if (run->calm || run->settling) {
        return FAULT_NONE;
    }
    uint32_t ordinal = run->actors[actor].transactions;
    enum fault_kind kind = choice_fault(run->source, actor, ordinal);
    if (kind == FAULT_NONE || !affordable(run, kind) || !weather_applies(run, kind, actor)) {
        return FAULT_NONE;
    }
    if (!fault_is_around(kind)) {
        took(run, actor, ordinal, kind);
        return kind;
    }
    size_t mark = world_mark(&run->world);
    run->amount = 0;
    CHECK(disturbs[kind] != NULL);
    if (disturbs[kind](run, kind, actor, ordinal)) {
        took(run, actor, ordinal, kind);
        disturbed(run, actor, kind, mark);
    }
    return FAULT_NONE;
}

/* The run is quiescent, and yet a message that was acked long ago may be replayed. */
bool weather_replay_late(struct run *run)
{
    if (run->settling || run->calm) {
        return false;
    }
    for (int i = 0; i < LATE_REPLAYS; i++) {
        uint32_t ordinal = run->idle_turns++;
        enum fault_kind kind = choice_fault(run->source, CHOICE_NOBODY, ordinal);
        if (kind != FAULT_REPLAY || !affordable(run, kind)) {
            continue;
        }
        size_t mark = world_mark(&run->world);
        if (!disturb_queue(run, kind, CHOICE_NOBODY, ordinal)) {
            continue;
        }
        took(run, CHOICE_NOBODY, ordinal, kind);
        disturbed(run, CHOICE_NOBODY, kind, mark);
        return true;
    }
    return false;
}
