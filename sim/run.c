#include "sim/run.h"

#include "model/check.h"
#include "model/identity.h"
#include "model/ledger.h"

#include <stdlib.h>
#include <string.h>

#define PUT_BACK_TICKS   7
#define PAUSE_TIMEOUTS   3 /* a pause lasts up to so many timeouts */
#define JUMP_TIMEOUTS    4 /* a clock leaps ahead by up to so many, and falls back by one */
#define DELAY_TIMEOUTS   2
#define REORDER_WINDOW   8
#define LOST_COMMITS_MAX 4
#define LATE_REPLAYS     4     /* chances of a replay once everything is done */
#define CALM_STEPS_EACH  200   /* a run without faults may take so many steps an activity, */
#define CALM_STEPS_SPARE 10000 /* and these */
#define STEPS_SPARE      400   /* beyond 8 crash-free runs: what a phase may take */

/* ---- digest ---------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9FB21C651E98DF25);
    return hash ^ (hash >> 35);
}

static uint64_t mix_row(uint64_t hash, const struct rows *rows, const struct row_change *change)
{
    const struct row_area *area = &rows->table[change->table];
    const int64_t *row = &area->cells[(size_t)change->slot * area->stride];
    for (uint32_t c = 0; c < area->stride; c++) {
        hash = mix(hash, (uint64_t)row[c]);
    }
    return hash;
}

static uint64_t mix_changes(uint64_t hash, const struct rows *rows,
                            const struct row_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        hash = mix(hash, (uint64_t)change->slot << 24 | (uint64_t)change->table << 16 |
                             (uint64_t)change->kind << 8 | change->column);
        if (change->kind == ROW_UPDATED) {
            hash = mix(hash, (uint64_t)change->before);
            hash = mix(hash, (uint64_t)row_get(rows, (enum row_table)change->table, change->slot,
                                               change->column));
        } else {
            hash = mix_row(hash, rows, change);
        }
    }
    return hash;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Counts a step, takes it into the digest and shows it to whoever watches. */
static void stepped(struct run *run, struct run_event *event)
{
    struct run_result *result = &run->result;
    result->steps++;
    uint64_t hash =
        mix(result->digest, (uint64_t)event->turn << 32 | (uint64_t)event->actor << 16 |
                                (uint64_t)event->fault << 8 | (uint64_t)event->committed);
    hash = mix(hash, (uint64_t)run->world.now);
    if (event->turn == RUN_TRANSACTION) {
        const struct outcome *outcome = &run->outcome;
        hash = mix(hash, (uint64_t)run->bundle.name << 32 | (uint64_t)outcome->kind << 24 |
                             (uint64_t)outcome->refusal << 16 | (uint64_t)outcome->aborted << 8 |
                             outcome->skipped);
    }
    result->digest = mix_changes(hash, &run->world.rows, event->changes, event->change_count);
    if (run->observer != NULL) {
        event->step = result->steps;
        event->now = run->world.now;
        event->rows = &run->world.rows;
        event->digest = result->digest;
        run->observer(run->observer_context, event);
    }
    run->world.now++;
}

static void broke(struct run *run, struct oracle_verdict breach)
{
    run->result.verdict = RUN_BROKEN;
    run->result.breach = breach;
    run->result.oracle = run->oracle.spoke;
    run->result.breach_table = run->oracle.table;
    run->result.breach_slot = run->oracle.slot;
}

static bool over(const struct run *run)
{
    return run->result.verdict != RUN_HELD;
}

/* What a commit wrote goes to the oracles. */
static void judge_commit(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    struct oracle_verdict verdict = oracle_activity_commit(
        &run->oracle, &world->rows, &world->changes[mark], world->change_count - mark, world->now);
    run->commit_number++;
    if (!verdict.broken && run->recheck_every != 0 &&
        run->commit_number % run->recheck_every == 0) {
        verdict = oracle_activity_recheck(&run->oracle, &world->rows);
    }
    if (verdict.broken) {
        broke(run, verdict);
    }
}

/* The commit stays. Its changes stay in the log only where commits can be lost. */
static void keep(struct run *run, size_t mark)
{
    if (!run->keeps_log) {
        world_keep(&run->world);
        return;
    }
    run->commits[run->commit_count++ % 8] = mark;
    run->commits_held += run->commits_held < 8;
    if (run->world.change_count > run->world.change_capacity / 2) { /* a long run forgets */
        world_keep(&run->world);
        run->commits_held = 0;
    }
}

/* ---- the world around ------------------------------------------------------------------------ */

static bool is_gone(const struct run *run, uint32_t slot)
{
    return run->world.place[slot] == 0;
}

static bool is_claimed(const struct run *run, uint32_t slot)
{
    const struct rows *rows = &run->world.rows;
    return !is_gone(run, slot) && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH) > 0 &&
           row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) > run->world.now;
}

static bool suits(const struct run *run, enum fault_kind kind, uint32_t slot)
{
    return kind == FAULT_REPLAY      ? is_gone(run, slot)
           : kind == FAULT_DUPLICATE ? !is_gone(run, slot)
                                     : is_claimed(run, slot);
}

/* A message that suits the fault, searched from a chosen one on; ROW_NONE: there is none. */
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

/* A second row with the same content, visible at once and never claimed (E-ACL-11). */
static bool copy_message(struct run *run, uint32_t slot)
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
    return copy_message(run, slot);
}

static void cut_all_connections(struct run *run)
{
    for (unsigned a = 0; a < run->actor_count; a++) {
        run->actors[a].cut = true;
    }
}

/* What the last commits wrote is taken back, and told as the changes of one commit more. */
static bool lose_commits(struct run *run, unsigned actor, uint32_t ordinal)
{
    struct world *world = &run->world;
    uint32_t kept = run->commits_held;
    if (kept == 0) {
        return false;
    }
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
    run->commits_held -= lost; /* older places were written over by commits that are lost now */
    run->told_count = count;
    run->amount = lost;
    cut_all_connections(run);
    struct oracle_verdict verdict =
        oracle_activity_commit(&run->oracle, &world->rows, run->told, count, world->now);
    if (verdict.broken) {
        broke(run, verdict);
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

/* True if the fault is one of the world around and could happen here. */
static bool disturb(struct run *run, enum fault_kind kind, unsigned actor, uint32_t ordinal)
{
    switch ((int)kind) {
    case FAULT_DUPLICATE:
    case FAULT_REPLAY:
    case FAULT_REDELIVER:
        return disturb_queue(run, kind, actor, ordinal);
    case FAULT_RESTART:
    case FAULT_FAILOVER: /* nothing durable is lost; every connection breaks */
        cut_all_connections(run);
        return true;
    case FAULT_LOSSY_FAILOVER:
        return lose_commits(run, actor, ordinal);
    case FAULT_CLOCK_FORWARD:
    case FAULT_CLOCK_BACK:
        return jump_clock(run, kind, actor, ordinal);
    default:
        return false;
    }
}

/* What happens around an actor and not to its transaction: whole groups of the catalogue. */
static bool is_environment(enum fault_kind kind)
{
    enum fault_group group = fault_get(kind)->group;
    return group == FAULT_GROUP_DUPLICATE || group == FAULT_GROUP_SERVER ||
           group == FAULT_GROUP_LOSS || group == FAULT_GROUP_CLOCK;
}

/* ---- which fault ----------------------------------------------------------------------------- */

static void took(struct run *run, unsigned actor, uint32_t ordinal, enum fault_kind kind)
{
    choice_took(run->source, actor, ordinal, kind);
    run->result.fired[kind]++;
    uint32_t *budget = &run->budget[fault_get(kind)->group];
    *budget -= *budget > 0;
}

/* Budgets bound what is drawn; what is listed is meant. */
static bool affordable(const struct run *run, enum fault_kind kind)
{
    return !run->source->random_faults || run->budget[fault_get(kind)->group] > 0;
}

/* The task ran before, and its answer under this GUID was entered: E-ACL-21 is about this one. */
static bool answered_before(const struct run *run)
{
    int64_t guid = run->bundle.params[run->bundle.calls[0].params + 1 + MESSAGE_GUID];
    return row_find(&run->world.rows, TABLE_GUID, guid) != ROW_NONE;
}

/* Whether a fault of a transaction can fall on this one. */
static bool applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    if (run->actors[actor].cut && !is_environment(kind) && kind != FAULT_CRASH_BEFORE_BEGIN &&
        kind != FAULT_CRASH_BEFORE_ACK && kind != FAULT_PAUSE) {
        return false; /* nothing of it reaches the server */
    }
    switch ((int)kind) {
    case FAULT_CRASH_BEFORE_ACK:
        return run->bundle.name == BUNDLE_ACK;
    case FAULT_PAUSE:
        return actor != 0;
    case FAULT_REORDER:
        return run->bundle.name == BUNDLE_CLAIM;
    case FAULT_DELAY:
        return run->bundle.name == BUNDLE_STEP2 || run->bundle.name == BUNDLE_LEG1 ||
               run->bundle.name == BUNDLE_ANSWER;
    case FAULT_ANSWER_CHANGED:
        return run->bundle.name == BUNDLE_ANSWER && answered_before(run);
    default:
        return true;
    }
}

/* The world around has changed: a step of its own. What a failover lost has been judged already. */
static void disturbed(struct run *run, unsigned actor, enum fault_kind kind, size_t mark)
{
    bool lost = kind == FAULT_LOSSY_FAILOVER;
    if (!lost && run->world.change_count > mark) {
        judge_commit(run, mark);
    }
    struct run_event event = {.turn = RUN_ENVIRONMENT,
                              .actor = actor,
                              .fault = kind,
                              .committed = true,
                              .amount = run->amount,
                              .changes = lost ? run->told : &run->world.changes[mark],
                              .change_count =
                                  lost ? run->told_count : run->world.change_count - mark};
    stepped(run, &event);
    if (!lost) {
        keep(run, mark);
    }
}

/* The fault that falls on the actor's next transaction. One of the world around happens here, as a
 * step of its own, and the transaction then runs as if nothing were. */
static enum fault_kind fault_for(struct run *run, unsigned actor)
{
    if (run->calm || run->settling) {
        return FAULT_NONE;
    }
    uint32_t ordinal = run->actors[actor].transactions;
    enum fault_kind kind = choice_fault(run->source, actor, ordinal);
    if (kind == FAULT_NONE || !affordable(run, kind) || !applies(run, kind, actor)) {
        return FAULT_NONE;
    }
    if (!is_environment(kind)) {
        took(run, actor, ordinal, kind);
        return kind;
    }
    size_t mark = world_mark(&run->world);
    run->amount = 0;
    if (disturb(run, kind, actor, ordinal)) {
        took(run, actor, ordinal, kind);
        disturbed(run, actor, kind, mark);
    }
    return FAULT_NONE;
}

/* ---- an actor's transaction ------------------------------------------------------------------ */

static void start_anew(struct run *run, unsigned actor)
{
    struct run_actor *one = &run->actors[actor];
    one->worker = worker_begin();
    memset(&one->memory, 0, sizeof one->memory);
    one->paused_until = 0;
    one->cut = false;
}

static void build_bundle(struct run *run, unsigned actor)
{
    struct run_actor *one = &run->actors[actor];
    if (actor == 0) {
        client_next(&run->client, &run->rules, &run->bundle);
    } else {
        worker_next(&one->worker, &run->rules, &run->bundle);
    }
    if (run->sabotage != NULL) {
        sabotage_bundle(run->sabotage, &one->memory, actor == 0 ? NULL : &one->worker,
                        &run->bundle);
    }
}

/* The actor is told; a decorator may keep the outcome to itself first. */
static void deliver(struct run *run, unsigned actor)
{
    struct run_actor *one = &run->actors[actor];
    const struct sabotage *sabotage = run->sabotage;
    struct worker *worker = actor == 0 ? NULL : &one->worker;
    if (sabotage != NULL &&
        !sabotage_outcome(sabotage, &one->memory, worker, &run->bundle, &run->outcome)) {
        return;
    }
    if (actor == 0) {
        client_take(&run->client, &run->outcome);
    } else {
        worker_take(worker, &run->rules, &run->outcome);
        if (sabotage != NULL && worker->state == WORKER_IDLE) {
            memset(&one->memory, 0, sizeof one->memory); /* nothing is left of that message */
        } else if (sabotage != NULL) {
            struct worker peek = *worker; /* what it is going to send, without the noting */
            worker_next(&peek, &run->rules, &run->bundle);
            sabotage_ready(sabotage, &one->memory, &run->bundle, &run->world.rows);
        }
    }
}

/* The message that a claim takes: the one due first, or one of the next. */
static uint32_t pick_claim(struct run *run, unsigned actor, enum fault_kind fault)
{
    uint32_t slots[REORDER_WINDOW];
    uint32_t count = world_visible(&run->world, fault == FAULT_REORDER ? REORDER_WINDOW : 1, slots);
    if (count == 0) {
        return ROW_NONE;
    }
    uint32_t rank = fault == FAULT_REORDER
                        ? choice_amount(run->source, actor, run->actors[actor].transactions, count)
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

static enum abort_class abort_of(enum fault_kind fault)
{
    switch ((int)fault) {
    case FAULT_SERIALIZATION:
        return ABORT_SERIALIZATION;
    case FAULT_DEADLOCK:
        return ABORT_DEADLOCK;
    case FAULT_CONNECTIONS:
        return ABORT_CONNECTIONS;
    case FAULT_CONNECTION_CUT:
        return ABORT_CONNECTION;
    default:
        return ABORT_NONE;
    }
}

/* What was published becomes visible late. Part of the commit: nobody saw it earlier. */
static void delay_published(struct run *run, unsigned actor, size_t mark)
{
    struct world *world = &run->world;
    int64_t delay = 1 + choice_amount(run->source, actor, run->actors[actor].transactions,
                                      (uint32_t)(DELAY_TIMEOUTS * run->rules.timeout));
    size_t count = world->change_count;
    for (size_t i = mark; i < count; i++) {
        struct row_change change = world->changes[i];
        if (change.table == TABLE_MESSAGE && change.kind == ROW_INSERTED) {
            world_set(world, TABLE_MESSAGE, change.slot, MESSAGE_VISIBLE_AT, world->now + delay);
        }
    }
}

/* A scenario may start an activity next to a ceiling: its Leg2 counter leaps once Leg1 is complete.
 * Not a commit of the protocol, so the oracles are not asked. */
static void apply_preset(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    for (size_t i = mark; i < world->change_count; i++) {
        struct row_change change = world->changes[i];
        if (change.table != TABLE_TASK || change.kind != ROW_INSERTED) {
            continue;
        }
        int64_t key = row_get(&world->rows, TABLE_TASK, change.slot, TASK_ACTIVITY);
        uint32_t activity = row_find(&world->rows, TABLE_ACTIVITY, key);
        int64_t node = row_get(&world->rows, TABLE_ACTIVITY, activity, ACTIVITY_NODE);
        int64_t preset = run->rules.graph->nodes[node].preset_leg2;
        if (preset != 0) {
            int64_t ledger = row_get(&world->rows, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER);
            world_set(world, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER, ledger + preset);
        }
        return;
    }
}

/* Nothing of it may stay; a torn store leaves half. */
static void roll_back(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    bool torn = run->sabotage != NULL && sabotage_tears(run->sabotage);
    world_undo(world, torn ? mark + (world->change_count - mark) / 2 : mark);
    struct oracle_verdict verdict =
        oracle_activity_rollback(&run->oracle, &world->changes[mark], world->change_count - mark);
    if (verdict.broken) {
        broke(run, verdict);
    }
}

/* Executes the bundle and decides with the fault whether it stays. True: it committed. */
static bool execute(struct run *run, unsigned actor, enum fault_kind fault, size_t mark)
{
    uint32_t picked = run->bundle.name == BUNDLE_CLAIM ? pick_claim(run, actor, fault) : ROW_NONE;
    store_execute(&run->world, run->primitives, &run->bundle, picked, &run->outcome);
    if (run->outcome.kind == OUTCOME_REFUSED) {
        if (run->outcome.refusal == REFUSED_STORE_FULL) {
            run->result.verdict = RUN_STORE_FULL;
        }
        roll_back(run, mark);
        return false;
    }
    if (fault == FAULT_CRASH_BEFORE_COMMIT || fault == FAULT_UNKNOWN_LOST ||
        fault == FAULT_CONNECTION_CUT) {
        roll_back(run, mark);
        return false;
    }
    if (fault == FAULT_DELAY) {
        delay_published(run, actor, mark);
    }
    judge_commit(run, mark);
    return true;
}

/* What the actor sees of it: an answer, another one than the truth, or none because it died. */
static bool crashes(enum fault_kind fault)
{
    return fault == FAULT_CRASH_BEFORE_BEGIN || fault == FAULT_CRASH_BEFORE_COMMIT ||
           fault == FAULT_CRASH_AFTER_COMMIT || fault == FAULT_CRASH_BEFORE_ACK;
}

static void transact(struct run *run, unsigned actor, enum fault_kind fault)
{
    struct run_actor *one = &run->actors[actor];
    size_t mark = world_mark(&run->world);
    bool aborted = one->cut || (abort_of(fault) != ABORT_NONE && fault != FAULT_CONNECTION_CUT);
    bool committed = false;
    if (aborted) {
        answer_aborted(run, one->cut ? ABORT_CONNECTION : abort_of(fault));
        one->cut = false;
    } else {
        committed = execute(run, actor, fault, mark);
    }
    if (fault == FAULT_CONNECTION_CUT && !aborted) {
        answer_aborted(run, ABORT_CONNECTION);
    } else if ((fault == FAULT_UNKNOWN_COMMITTED || fault == FAULT_UNKNOWN_LOST) && !aborted) {
        run->outcome.kind = OUTCOME_UNKNOWN; /* a refusal's answer can be lost, too */
    }
    const int64_t *claimed = committed ? run->outcome.message : NULL;
    const int64_t *held = actor == 0 ? NULL : one->worker.message;
    if (run->has_presets) {
        apply_preset(run, mark);
    }
    struct run_event event = {
        .turn = RUN_TRANSACTION,
        .actor = actor,
        .fault = fault,
        .crashed = crashes(fault),
        .committed = committed,
        .bundle = &run->bundle,
        .outcome = &run->outcome,
        .message = run->bundle.name == BUNDLE_CLAIM ? claimed : held,
        .changes = &run->world.changes[mark],
        .change_count = run->world.change_count - mark,
    };
    run->result.transactions++;
    stepped(run, &event);
    keep(run, mark);
    one->transactions++;
    if (crashes(fault)) {
        start_anew(run, actor);
    } else {
        deliver(run, actor);
    }
}

/* Dies, or stops for a while, before it sends anything. */
static void do_nothing(struct run *run, unsigned actor, enum fault_kind fault)
{
    struct run_actor *one = &run->actors[actor];
    struct run_event event = {.turn = fault == FAULT_PAUSE ? RUN_PAUSE : RUN_CRASH,
                              .actor = actor,
                              .fault = fault,
                              .crashed = fault != FAULT_PAUSE,
                              .bundle = &run->bundle,
                              .message = actor == 0 ? NULL : one->worker.message,
                              .changes = run->world.changes};
    if (fault == FAULT_PAUSE) {
        event.amount = 1 + choice_amount(run->source, actor, one->transactions,
                                         (uint32_t)(PAUSE_TIMEOUTS * run->rules.timeout));
        one->paused_until = run->world.now + event.amount;
    }
    stepped(run, &event);
    one->transactions++;
    if (fault != FAULT_PAUSE) {
        start_anew(run, actor);
    }
}

static void take_turn(struct run *run, unsigned actor)
{
    build_bundle(run, actor);
    enum fault_kind fault = fault_for(run, actor);
    if (over(run)) {
        return;
    }
    if (fault == FAULT_CRASH_BEFORE_BEGIN || fault == FAULT_CRASH_BEFORE_ACK ||
        fault == FAULT_PAUSE) {
        do_nothing(run, actor, fault);
        return;
    }
    if (fault == FAULT_ANSWER_CHANGED) {
        run->actors[actor].worker.changed = 1;
        build_bundle(run, actor);
    }
    transact(run, actor, fault);
    run->actors[actor].worker.changed = 0; /* it was about this one answer */
}

/* ---- who can run ----------------------------------------------------------------------------- */

static uint32_t able(const struct run *run)
{
    int64_t visible_at = 0;
    bool claimable =
        world_next_message(&run->world, &visible_at) != ROW_NONE && visible_at <= run->world.now;
    uint32_t mask = run->client.job < run->client.count;
    for (unsigned a = 1; a < run->actor_count; a++) {
        const struct run_actor *one = &run->actors[a];
        bool ready = claimable || one->worker.state != WORKER_IDLE;
        mask |= (uint32_t)(ready && one->paused_until <= run->world.now) << a;
    }
    return mask;
}

/* To the next moment at which somebody can run; false: there is none, all is quiet. */
static bool wait_until_able(struct run *run)
{
    int64_t next = INT64_MAX;
    for (unsigned a = 1; a < run->actor_count; a++) {
        const struct run_actor *one = &run->actors[a];
        if (one->paused_until > run->world.now && one->worker.state != WORKER_IDLE &&
            one->paused_until < next) {
            next = one->paused_until;
        }
    }
    int64_t visible_at = 0;
    if (world_next_message(&run->world, &visible_at) != ROW_NONE && visible_at < next) {
        next = visible_at;
    }
    if (next == INT64_MAX) {
        return false;
    }
    if (next <= run->world.now) { /* messages there are, and only paused workers */
        next = INT64_MAX;
        for (unsigned a = 1; a < run->actor_count; a++) {
            int64_t until = run->actors[a].paused_until;
            next = until > run->world.now && until < next ? until : next;
        }
    }
    run->world.now = next;
    return true;
}

/* Everything is done, and yet: a message that was acked long ago may come again. */
static bool replay_late(struct run *run)
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

/* Turns until all is quiet (true), a promise is broken or the bound is reached. */
static bool go_on(struct run *run, uint32_t steps_max)
{
    uint32_t end = run->result.steps + steps_max;
    while (!over(run) && run->result.steps < end) {
        uint32_t mask = able(run);
        if (mask != 0) {
            take_turn(run, choice_who(run->source, run->turns++, mask));
        } else if (!wait_until_able(run) && !replay_late(run)) {
            return true;
        }
    }
    return false;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void settle(struct run *run)
{
    run->settling = true;
    for (unsigned a = 0; a < run->actor_count; a++) {
        start_anew(run, a);
    }
    struct run_event event = {.turn = RUN_SETTLE, .actor = CHOICE_NOBODY};
    stepped(run, &event);
}

static void begin(struct run *run, struct choice_source *source)
{
    world_reset(&run->world);
    memset(run->ghosts, 0, oracle_activity_cells(&run->world.rows) * sizeof *run->ghosts);
    oracle_activity_begin(&run->oracle, &run->world.rows, run->ghosts);
    run->client = (struct client){.count = run->scenario->jobs};
    for (unsigned a = 0; a < run->actor_count; a++) {
        start_anew(run, a);
        run->actors[a].transactions = 0;
    }
    memcpy(run->budget, run->scenario->faults.budget, sizeof run->budget);
    run->settling = false;
    run->commit_count = 0;
    run->commits_held = 0;
    run->copies = 0;
    run->turns = 0;
    run->idle_turns = 0;
    run->source = source;
    memset(&run->outcome, 0, sizeof run->outcome);
    run->result = (struct run_result){.verdict = RUN_HELD, .digest = 1};
}

/* Half of all drawn runs settle in the middle of things: at a step that is drawn, too. */
static uint32_t weather_steps(struct run *run, uint32_t bound)
{
    uint32_t latest = 2 * run->crash_free_steps;
    uint32_t step = choice_amount(run->source, CHOICE_NOBODY, RUN_SETTLES_AT, 2 * latest + 1);
    return step == 0 || step > latest ? bound : step;
}

const struct run_result *run_once(struct run *run, struct choice_source *source)
{
    begin(run, source);
    uint32_t bound = 8 * run->crash_free_steps + STEPS_SPARE;
    go_on(run, weather_steps(run, bound));
    if (!over(run)) {
        settle(run);
        bool quiet = go_on(run, bound);
        if (!over(run)) {
            struct oracle_verdict verdict = oracle_activity_settled(&run->oracle, &run->world.rows,
                                                                    quiet, &run->crash_free.rows);
            run->result.settled = verdict.broken;
            if (verdict.broken) {
                broke(run, verdict);
            }
        }
    }
    return &run->result;
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct world_capacity capacity_for(const struct scenario *scenario, bool keeps_log)
{
    uint32_t activities =
        graph_activities(&scenario->graph, SCENARIO_ACTIVITIES_MAX) * scenario->jobs;
    uint32_t answers = 1, rounds = 1;
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        uint32_t pendings = scenario->graph.nodes[n].pendings;
        answers = pendings + 1 > answers ? pendings + 1 : answers;
    }
    for (uint16_t e = 0; e < scenario->graph.edge_count; e++) {
        uint32_t more = scenario->graph.edges[e].rounds;
        rounds = more + 1 > rounds ? more + 1 : rounds;
    }
    uint32_t guids = activities * (answers + 1) + scenario->jobs * rounds + 64;
    struct world_capacity capacity = {.changes = keeps_log ? 1 << 16 : 1024};
    capacity.rows[TABLE_JOB] = scenario->jobs + 1;
    capacity.rows[TABLE_ACTIVITY] = 2 * activities + 32;
    capacity.rows[TABLE_TASK] = 2 * activities + 32;
    capacity.rows[TABLE_GUID] = guids;
    capacity.rows[TABLE_OUTPUT] = guids;
    capacity.rows[TABLE_COMPLETION] = guids;
    capacity.rows[TABLE_ESCALATION] = guids;
    capacity.rows[TABLE_MESSAGE] = 2 * activities + 2 * guids + 64;
    return capacity;
}

/* The run that all others are compared with: no fault, no sabotage, its rows kept. */
static void run_crash_free(struct run *run)
{
    const struct sabotage *sabotage = run->sabotage;
    struct choice_source calm = choice_listed(NULL);
    sabotage_primitives(NULL, run->primitives);
    run->sabotage = NULL;
    run->calm = true;
    begin(run, &calm);
    go_on(run, CALM_STEPS_SPARE + CALM_STEPS_EACH * run->world.rows.table[TABLE_ACTIVITY].capacity);
    run->crash_free_steps = run->result.steps;
    run->crash_free_transactions = run->result.transactions;
    run->calm = false;
    run->sabotage = sabotage;
    sabotage_primitives(sabotage, run->primitives);
    struct world other = run->crash_free;
    run->crash_free = run->world;
    run->world = other;
}

bool run_make(struct run *run, const struct scenario *scenario, const struct sabotage *sabotage)
{
    memset(run, 0, sizeof *run);
    run->scenario = scenario;
    run->sabotage = sabotage;
    run->keeps_log = scenario->faults.rate[FAULT_LOSSY_FAILOVER].times > 0;
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        run->has_presets = run->has_presets || scenario->graph.nodes[n].preset_leg2 != 0;
    }
    run->rules = (struct engine_rules){.graph = &scenario->graph,
                                       .timeout = scenario->timeout,
                                       .put_back = PUT_BACK_TICKS,
                                       .threshold_count = (uint32_t)scenario->threshold_count,
                                       .direct = scenario->direct};
    memcpy(run->rules.thresholds, scenario->thresholds, sizeof run->rules.thresholds);
    run->actor_count = 1 + scenario->workers;
    struct world_capacity capacity = capacity_for(scenario, run->keeps_log);
    if (!world_make(&run->world, &capacity) || !world_make(&run->crash_free, &capacity)) {
        run_free(run);
        return false;
    }
    run->ghosts = calloc(oracle_activity_cells(&run->world.rows), sizeof *run->ghosts);
    if (run->ghosts == NULL) {
        run_free(run);
        return false;
    }
    run_crash_free(run);
    return true;
}

void run_free(struct run *run)
{
    world_free(&run->world);
    world_free(&run->crash_free);
    free(run->ghosts);
    run->ghosts = NULL;
}
