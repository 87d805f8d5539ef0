#include "sim/walk.h"

#include "model/check.h"
#include "sim/part.h"
#include "sim/run_inside.h"
#include "sim/walk_inside.h"

#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX (1 << 16)
#define GHOSTS_MAX  (1 << 16)
#define SPARE       2048 /* generous bound on the changes and writes of one move */
#define VISIBLE_MAX WORLD_VISIBLE_MAX
#define CHECK_EVERY 16 /* one depth in so many has its fingerprint computed anew by walk_check */

/* ---- making ---------------------------------------------------------------------------------- */

bool walk_make(struct walk *walk, const struct walk_plan *plan)
{
    memset(walk, 0, sizeof *walk);
    walk->plan = *plan;
    if (!run_make_deep(&walk->run, plan->scenario, plan->sabotage, CHANGES_MAX)) {
        return false;
    }
    walk->run.life = plan->by_statement ? &life_interleaved : &life_whole;
    if (plan->without != NULL) {
        memcpy(walk->run.oracle.off, plan->without, sizeof walk->run.oracle.off);
    }
    walk->ghosts = malloc(GHOSTS_MAX * sizeof *walk->ghosts);
    walk->records = calloc(WALK_DEPTH_MAX, sizeof *walk->records);
    if (walk->ghosts == NULL || walk->records == NULL ||
        !fingerprint_make(&walk->same, &walk->run, plan->reductions)) {
        walk_free(walk);
        return false;
    }
    walk->same.keeps_paths = plan->keeps_paths;
    /* counts of the run without faults do not belong to the walk */
    memset(walk->run.oracle.evaluated, 0, sizeof walk->run.oracle.evaluated);
    memset(walk->run.oracle.seen, 0, sizeof walk->run.oracle.seen);
    walk_begin(walk);
    return true;
}

void walk_free(struct walk *walk)
{
    for (unsigned d = 0; walk->records != NULL && d < WALK_DEPTH_MAX; d++) {
        free(walk->records[d].sessions);
    }
    fingerprint_free(&walk->same);
    free(walk->records);
    free(walk->ghosts);
    run_free(&walk->run);
    walk->records = NULL;
    walk->ghosts = NULL;
}

void walk_begin(struct walk *walk)
{
    struct run *run = &walk->run;
    run_begin(run, NULL);
    run->world.now = 1; /* 0 means no time at all */
    run->oracle.ghosts.log = walk->ghosts;
    run->oracle.ghosts.logged = 0;
    walk->left = walk->plan.bounds;
    walk->watched = 0;
    walk->depth = 0;
    if (walk->plan.alter != NULL) {
        walk->plan.alter(walk);
    }
    fingerprint_begin(&walk->same);
}

bool walk_is_deep(const struct walk *walk)
{
    const struct run *run = &walk->run;
    return walk->depth + 1 >= WALK_DEPTH_MAX || run->world.change_count + SPARE > CHANGES_MAX ||
           run->oracle.ghosts.logged + SPARE > GHOSTS_MAX ||
           walk->same.logged + SPARE > walk->same.log_capacity;
}

/* ---- looking --------------------------------------------------------------------------------- */

static const struct performer *performer_of(const struct walk *walk, unsigned actor)
{
    return &walk->run.actors[actor].performer;
}

/* A worker that claims messages and holds none. */
static bool is_idle_worker(const struct walk *walk, unsigned actor)
{
    const struct performer *performer = performer_of(walk, actor);
    return performer->role->message != NULL && performer->role->is_idle(&performer->actor);
}

/* The slot of the message that the actor holds, which no other worker has claimed since; ROW_NONE:
 * none. */
static uint32_t held_slot(const struct walk *walk, unsigned actor)
{
    const struct performer *performer = performer_of(walk, actor);
    const struct rows *rows = &walk->run.world.rows;
    if (performer->role->message == NULL || performer->role->is_idle(&performer->actor)) {
        return ROW_NONE;
    }
    const int64_t *message = performer->role->message(&performer->actor);
    uint32_t slot = row_find(rows, TABLE_MESSAGE, message[0]);
    bool stands = slot != ROW_NONE && !world_withholds(&walk->run.world, slot) &&
                  row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH) == message[1 + MESSAGE_EPOCH];
    return stands ? slot : ROW_NONE;
}

bool walk_can_crash(const struct walk *walk, unsigned actor)
{
    const struct performer *performer = performer_of(walk, actor);
    if (walk_has_open(walk, actor)) {
        return true;
    }
    return performer->role->is_done == NULL && !performer->role->is_idle(&performer->actor);
}

/* Equal except for key and claims. */
static bool same_content(const struct rows *rows, uint32_t one, uint32_t other)
{
    const struct row_area *area = &rows->table[TABLE_MESSAGE];
    const int64_t *a = &area->cells[(size_t)one * area->stride + 1];
    const int64_t *b = &area->cells[(size_t)other * area->stride + 1];
    return memcmp(a, b, MESSAGE_VISIBLE_AT * sizeof *a) == 0;
}

/* Some worker holds the message. Its claim may have expired, but no other worker has it. */
static bool walk_is_held(const struct walk *walk, uint32_t slot)
{
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        if (held_slot(walk, a) == slot) {
            return true;
        }
    }
    return false;
}

/* The two messages are interchangeable for a claim. */
static bool are_alike(const struct walk *walk, uint32_t one, uint32_t other)
{
    const struct fingerprint_share *shares = walk->same.shares[TABLE_MESSAGE];
    return shares[one].hash == shares[other].hash && shares[one].place == shares[other].place &&
           !walk_is_held(walk, one) && !walk_is_held(walk, other);
}

/* ---- what can happen ------------------------------------------------------------------------- */

struct list {
    struct walk_move *moves;
    size_t count;
    bool crowded; /* no room for all moves */
};

static void add(struct list *list, enum walk_kind kind, unsigned actor, uint32_t slot)
{
    if (list->count == WALK_MOVES_MAX) {
        list->crowded = true;
        return;
    }
    list->moves[list->count++] =
        (struct walk_move){.kind = (uint8_t)kind,
                           .actor = (uint8_t)actor,
                           .slot = slot == ROW_NONE ? WALK_NO_SLOT : (uint16_t)slot};
}

/* A claim takes any visible message; of interchangeable ones, one. */
static void add_claims(const struct walk *walk, struct list *list, enum walk_kind kind,
                       unsigned actor)
{
    const struct run *run = &walk->run;
    uint32_t slots[VISIBLE_MAX];
    uint32_t count = world_visible(&run->world, VISIBLE_MAX, slots);
    list->crowded = list->crowded || count == VISIBLE_MAX;
    for (uint32_t i = 0; i < count; i++) {
        bool repeated = sessions_locked(run->sessions, TABLE_MESSAGE, slots[i]);
        for (uint32_t before = 0; before < i; before++) {
            repeated = repeated || are_alike(walk, slots[before], slots[i]);
        }
        if (!repeated) {
            add(list, kind, actor, slots[i]);
        }
    }
}

/* A claim that rides may also take what its bundle publishes, or nothing. */
static void add_rides(const struct walk *walk, struct list *list, enum walk_kind kind,
                      unsigned actor, const struct bundle *bundle)
{
    uint32_t slot = walk->run.world.rows.table[TABLE_MESSAGE].used;
    add_claims(walk, list, kind, actor);
    for (uint8_t c = 0; c < bundle->count; c++) {
        const struct op *op = &walk->run.primitives[bundle->calls[c].primitive].ops[0];
        if (op->kind == OP_INSERT && op->table == TABLE_MESSAGE) {
            add(list, kind, actor, slot++);
        }
    }
}

bool walk_claims_ride(const struct scenario *scenario)
{
    return scenario->protocol->merges && scenario->merged;
}

/* What an actor is about to send. */
static const struct bundle *peek(struct walk *walk, unsigned actor)
{
    struct run *run = &walk->run;
    struct performer performer = *performer_of(walk, actor);
    performer_next(&performer, &run->rules, run->sabotage, &run->bundle);
    return &run->bundle;
}

bool walk_rides(struct walk_move move, const struct performer *before)
{
    return (move.kind == WALK_STEP || move.kind == WALK_UNSURE) && move.slot != WALK_NO_SLOT &&
           !before->role->is_idle(&before->actor);
}

/* The next transaction of an actor that is not idle. */
static void add_work(struct walk *walk, struct list *list, unsigned actor)
{
    add(list, WALK_STEP, actor, ROW_NONE);
    if (walk_claims_ride(walk->plan.scenario) && (walk->plan.reductions & REDUCE_ORDER) == 0) {
        const struct bundle *bundle = peek(walk, actor);
        if (walk->plan.by_statement ? walk_begins_with_claim(walk, bundle)
                                    : bundle_claims(bundle)) {
            add_rides(walk, list, WALK_STEP, actor, bundle);
        }
    }
}

static void add_operation(const struct walk *walk, struct list *list, unsigned actor)
{
    if (walk_can_operate(walk, actor)) {
        add(list, WALK_OPERATE, actor, ROW_NONE);
        if (walk_comes_to_claim(walk, actor)) {
            add_rides(walk, list, WALK_OPERATE, actor, &walk->run.sessions->each[actor].bundle);
        }
    }
}

/* The first of several interchangeable idle workers, or one that equals no other. */
static bool is_first_idle(const struct walk *walk, unsigned actor)
{
    for (unsigned a = 0; a < actor && fingerprint_keeps_nothing(performer_of(walk, actor)); a++) {
        if (is_idle_worker(walk, a) && fingerprint_keeps_nothing(performer_of(walk, a)) &&
            walk->run.rules.cast[a] == walk->run.rules.cast[actor] && !walk_has_open(walk, a)) {
            return false;
        }
    }
    return true;
}

static void add_steps(struct walk *walk, struct list *list)
{
    struct glance glance = run_glance(&walk->run);
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        if (walk_has_open(walk, a)) {
            add_operation(walk, list, a);
        } else if (run_able_from(&walk->run, a, &glance) > glance.now) {
            continue;
        } else if (!is_idle_worker(walk, a)) {
            add_work(walk, list, a);
        } else if ((walk->plan.reductions & REDUCE_WORKERS) == 0 || is_first_idle(walk, a)) {
            add_claims(walk, list, WALK_STEP, a);
        }
    }
}

/* The next moment after now at which an actor could run; PROTOCOL_NEVER: there is none. */
static int64_t next_moment(const struct walk *walk)
{
    struct glance glance = run_glance(&walk->run);
    int64_t next = PROTOCOL_NEVER;
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        int64_t from = run_able_from(&walk->run, a, &glance);
        next = from > glance.now && from < next ? from : next;
    }
    return next;
}

static void add_lapses(const struct walk *walk, struct list *list)
{
    bool queue = (walk->plan.scenario->protocol->tables & TABLE_SET(MESSAGE)) != 0;
    if (!queue && next_moment(walk) != PROTOCOL_NEVER) {
        add(list, WALK_LAPSE, 0, ROW_NONE);
    }
    for (unsigned a = 0; queue && a < walk->run.actor_count; a++) {
        uint32_t slot = held_slot(walk, a);
        if (slot != ROW_NONE && !sessions_locked(walk->run.sessions, TABLE_MESSAGE, slot) &&
            row_get(&walk->run.world.rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) >
                walk->run.world.now) {
            add(list, WALK_LAPSE, a, slot);
        }
    }
}

/* Only while a worker holds a claim; else the passing of time has no effect. */
static void add_drag(const struct walk *walk, struct list *list)
{
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        if (held_slot(walk, a) != ROW_NONE) {
            add(list, WALK_DRAG, 0, ROW_NONE);
            return;
        }
    }
}

/* Of serving actors. */
static void add_missteps(const struct walk *walk, struct list *list)
{
    const struct run *run = &walk->run;
    for (unsigned a = 0; run->part->missteps != NULL && a < run->actor_count; a++) {
        bool serves = performer_of(walk, a)->role->is_done == NULL;
        uint32_t count = serves && !walk_has_open(walk, a) ? run->part->missteps(run, a, false) : 0;
        for (uint32_t which = 0; which < count; which++) {
            add(list, WALK_MISSTEP, a, which);
        }
    }
}

/* Of every message that was ever published, acked or not; of equal ones, one. */
static void add_duplicates(const struct walk *walk, struct list *list)
{
    const struct rows *rows = &walk->run.world.rows;
    for (uint32_t slot = 0; slot < rows->table[TABLE_MESSAGE].used; slot++) {
        bool repeated = walk->run.world.place[slot] != 0 && world_withholds(&walk->run.world, slot);
        for (uint32_t before = 0; before < slot && !repeated; before++) {
            repeated = same_content(rows, before, slot);
        }
        if (!repeated) {
            add(list, WALK_DUPLICATE, 0, slot);
        }
    }
}

static void add_crashes(const struct walk *walk, struct list *list)
{
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        if (walk_can_crash(walk, a)) {
            add(list, WALK_CRASH, a, ROW_NONE);
        }
    }
}

static bool tears(const struct walk *walk)
{
    return walk->plan.sabotage != NULL && sabotage_tears(walk->plan.sabotage) &&
           walk->left.crashes > 0;
}

bool walk_has_variants(const struct walk *walk)
{
    return walk->left.unknowns > 0 || walk->left.aborts > 0 || tears(walk);
}

/* The answer is lost, and with it the knowledge of the claim. */
static void add_lost_rides(struct walk *walk, struct list *list, unsigned actor)
{
    if (walk_claims_ride(walk->plan.scenario) && !is_idle_worker(walk, actor)) {
        const struct bundle *bundle = peek(walk, actor);
        if (bundle_claims(bundle)) {
            add_rides(walk, list, WALK_UNSURE, actor, bundle);
        }
    }
}

/* The variants of a step with a fault; a step that rolls back takes no claim. */
static void add_variants_of(struct walk *walk, struct list *list, struct walk_move move)
{
    uint32_t slot = move.slot == WALK_NO_SLOT ? ROW_NONE : move.slot;
    if (move.kind != WALK_STEP || walk_rides(move, performer_of(walk, move.actor))) {
        return;
    }
    if (walk->left.unknowns > 0) {
        add(list, WALK_UNSURE, move.actor, slot);
        add(list, WALK_LOST, move.actor, slot);
        add_lost_rides(walk, list, move.actor);
    }
    if (walk->left.aborts > 0) {
        add(list, WALK_ABORT, move.actor, slot);
    }
    if (tears(walk)) {
        add(list, WALK_TEAR, move.actor, slot);
    }
}

/* Statement level: an open transaction aborts, or loses its answer. Only one that has done its last
 * operation may have committed, or be torn. */
static void add_variants_open(const struct walk *walk, struct list *list, struct walk_move move)
{
    if (move.kind != WALK_OPERATE || move.slot != WALK_NO_SLOT) {
        return;
    }
    bool done = walk_is_done(walk, move.actor);
    if (walk->left.unknowns > 0) {
        add(list, WALK_LOST, move.actor, ROW_NONE);
    }
    if (walk->left.unknowns > 0 && done) {
        add(list, WALK_UNSURE, move.actor, ROW_NONE);
    }
    if (walk->left.aborts > 0) {
        add(list, WALK_ABORT, move.actor, ROW_NONE);
    }
    if (tears(walk) && done) {
        add(list, WALK_TEAR, move.actor, ROW_NONE);
    }
}

/* The fault variants of all steps listed so far. */
static void add_variants(struct walk *walk, struct list *list, size_t steps)
{
    for (size_t i = 0; i < steps && walk_has_variants(walk); i++) {
        if (walk->plan.by_statement) {
            add_variants_open(walk, list, list->moves[i]);
        } else {
            add_variants_of(walk, list, list->moves[i]);
        }
    }
}

size_t walk_moves(struct walk *walk, struct walk_move moves[WALK_MOVES_MAX], size_t *sound)
{
    struct list list = {.moves = moves};
    bool ordered = (walk->plan.reductions & REDUCE_ORDER) != 0;
    add_steps(walk, &list);
    if (list.count == 0 && next_moment(walk) != PROTOCOL_NEVER) {
        add(&list, WALK_WAIT, 0, ROW_NONE);
    }
    *sound = list.count;
    add_variants(walk, &list, *sound);
    if (walk->left.lapses > 0) {
        add_lapses(walk, &list);
    }
    if (walk->left.drags > 0) {
        add_drag(walk, &list);
    }
    if (walk->left.missteps > 0) {
        add_missteps(walk, &list);
    }
    if (walk->left.crashes > 0 && !ordered) {
        add_crashes(walk, &list);
    }
    if (walk->left.duplicates > 0 && !ordered) {
        add_duplicates(walk, &list);
    }
    walk->crowded = list.crowded;
    return list.count;
}

/* ---- doing it -------------------------------------------------------------------------------- */

/* Updates the fingerprint with the changes since the undo record was begun. */
static void walk_note(struct walk *walk, const struct walk_record *record)
{
    const struct ghosts *ghosts = &walk->run.oracle.ghosts;
    fingerprint_note(&walk->same, record->changes, &walk->ghosts[record->ghosts],
                     ghosts->logged - record->ghosts);
}

static void walk_tell(struct walk *walk, unsigned actor)
{
    struct run *run = &walk->run;
    performer_take(&run->actors[actor].performer, &run->rules, run->sabotage, &run->bundle,
                   &run->outcome, &run->world.rows);
}

/* The changes since `mark` are a commit. */
static void walk_judge(struct walk *walk, size_t mark)
{
    struct run *run = &walk->run;
    if (walk->plan.watch == NULL) {
        run_judge_commit(run, mark);
        run_judge_seen(run, true, mark);
    }
    if (run->has_presets) {
        run->part->preset(run, mark);
    }
}

/* Whether the planted bug changed what the engine was about to send, which is now in run->bundle. A
 * bug that repeats a bundle, or the work that it rests on, changes neither. */
static bool is_spoiled(const struct run *run, const struct performer *performer)
{
    struct actor actor = performer->actor;
    struct bundle plain;
    performer->role->next(&actor, &run->rules, &plain);
    if (run->sabotage->kind == SABOTAGE_REPEAT) {
        return plain.name == run->sabotage->bundle;
    }
    if (run->sabotage->kind == SABOTAGE_WORK_AGAIN) {
        return plain.effect.what != 0;
    }
    return !bundle_equal(&plain, &run->bundle);
}

static void walk_send(struct walk *walk, unsigned actor)
{
    struct run *run = &walk->run;
    const struct bundle *sent = &run->bundle;
    performer_next(&run->actors[actor].performer, &run->rules, run->sabotage, &run->bundle);
    if (run->sabotage != NULL) { /* the undo record of this move has the previous value */
        walk->spoiled += is_spoiled(run, &walk->records[walk->depth - 1].performer);
        return;
    }
    for (uint8_t i = 0; i < sent->count; i++) {
        walk->sent[sent->name][sent->calls[i].primitive] = true;
    }
}

static void walk_work(struct walk *walk, unsigned actor)
{
    if (walk->plan.watch == NULL) {
        run_work(&walk->run, actor);
    } else {
        performer_works(&walk->run.actors[actor].performer, walk->run.sabotage, &walk->run.bundle);
    }
}

/* Begins the actor's transaction. A whole one ends with this, too, as the move says; of another the
 * first operation comes with BEGIN, which alone has no visible effect. */
static void step(struct walk *walk, struct walk_move move)
{
    walk_send(walk, move.actor);
    walk_work(walk, move.actor);
    walk->run.life->begin(&walk->run, move.actor, walk_picked(move));
    if (walk->plan.by_statement) {
        walk_operate(walk, move);
    } else {
        walk_end(walk, move.actor, (enum walk_kind)move.kind);
    }
}

static bool commits(enum walk_kind kind)
{
    return kind == WALK_STEP || kind == WALK_OPERATE || kind == WALK_UNSURE;
}

void walk_end(struct walk *walk, unsigned actor, enum walk_kind kind)
{
    struct run *run = &walk->run;
    size_t mark = world_mark(&run->world);
    bool unfinished = walk_has_open(walk, actor) && !walk_is_done(walk, actor);
    if (kind == WALK_ABORT || (kind == WALK_LOST && unfinished)) {
        run->life->abort(run, actor, kind == WALK_ABORT ? ABORT_SERIALIZATION : ABORT_CONNECTION);
    }
    bool committed = life_execute(run, run->life, actor, commits(kind), mark);
    if (committed) {
        walk_judge(walk, mark);
    }
    life_close(run, run->life, actor, committed, mark);
    if (kind == WALK_LOST || (kind == WALK_UNSURE && run->outcome.kind != OUTCOME_ABORTED)) {
        run->outcome.kind = OUTCOME_UNKNOWN;
    }
    if (kind == WALK_TEAR) {
        performer_restart(&run->actors[actor].performer, &run->rules, actor);
    } else if (run->result.verdict == RUN_HELD) {
        walk_tell(walk, actor);
    }
}

/* The actor crashes; its message can be claimed again. Not so between two transactions into which a
 * planted bug split one: what the engine takes for its own may be another worker's by then. Where a
 * watch judges (SPIN's assertions), the message is claimed again at once, as in SPIN's model. */
static void crash(struct walk *walk, unsigned actor)
{
    struct run *run = &walk->run;
    if (walk_has_open(walk, actor)) {
        life_drop(run, actor);
    }
    uint32_t slot = held_slot(walk, actor);
    bool whole = performer_of(walk, actor)->memory.stage == 0 || walk->plan.watch != NULL;
    if (slot != ROW_NONE && whole &&
        row_get(&run->world.rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) > run->world.now) {
        world_set(&run->world, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT, run->world.now);
    }
    performer_restart(&run->actors[actor].performer, &run->rules, actor);
}

static void duplicate(struct walk *walk, uint32_t slot)
{
    struct run *run = &walk->run;
    size_t mark = world_mark(&run->world);
    if (!run_copy_message(run, slot)) {
        run->result.verdict = RUN_STORE_FULL;
    } else if (walk->plan.watch == NULL) {
        run_judge_commit(run, mark);
    }
}

static void move_on(struct walk *walk)
{
    int64_t next = next_moment(walk);
    CHECK(next != PROTOCOL_NEVER);
    walk->run.world.now = next;
    fingerprint_note_time(&walk->same);
}

static void drag(struct walk *walk)
{
    walk->run.world.now += walk->run.rules.timeout / 2 + 1;
    fingerprint_note_time(&walk->same);
}

static void lapse(struct walk *walk, uint32_t slot)
{
    if (slot == WALK_NO_SLOT) {
        move_on(walk);
    } else {
        world_set(&walk->run.world, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT, walk->run.world.now);
    }
}

/* Deducts the move from the fault budget. */
static void pay(struct walk_bounds *left, enum walk_kind kind)
{
    uint8_t *const of[WALK_KIND_COUNT] = {
        [WALK_CRASH] = &left->crashes,        [WALK_TEAR] = &left->crashes,
        [WALK_DUPLICATE] = &left->duplicates, [WALK_LAPSE] = &left->lapses,
        [WALK_UNSURE] = &left->unknowns,      [WALK_LOST] = &left->unknowns,
        [WALK_ABORT] = &left->aborts,         [WALK_DRAG] = &left->drags,
        [WALK_MISSTEP] = &left->missteps};
    if (of[kind] != NULL) {
        CHECK(*of[kind] > 0); /* WA3 */
        --*of[kind];
    }
}

static void act(struct walk *walk, struct walk_move move)
{
    size_t mark = world_mark(&walk->run.world);
    switch ((int)move.kind) {
    case WALK_CRASH:
        crash(walk, move.actor);
        break;
    case WALK_DUPLICATE:
        duplicate(walk, move.slot);
        break;
    case WALK_LAPSE:
        lapse(walk, move.slot);
        break;
    case WALK_WAIT:
        move_on(walk);
        break;
    case WALK_DRAG:
        drag(walk);
        break;
    case WALK_MISSTEP:
        walk->run.part->misstep(&walk->run, move.actor, move.slot, false);
        break;
    case WALK_OPERATE:
        walk_operate(walk, move);
        return;
    case WALK_STEP:
        step(walk, move);
        return;
    default: /* a fault hits a transaction that is open, or, at transaction level, begins */
        if (walk_has_open(walk, move.actor)) {
            walk_end(walk, move.actor, (enum walk_kind)move.kind);
        } else {
            step(walk, move);
        }
        return;
    }
    walk->run.life->note(&walk->run, mark);
}

bool walk_do(struct walk *walk, struct walk_move move)
{
    struct run *run = &walk->run;
    CHECK(!walk_is_deep(walk));
    struct walk_record *record = &walk->records[walk->depth++];
    record->move = move;
    record->left = walk->left;
    record->watched = walk->watched;
    record->copies = run->copies;
    record->messages = run->world.rows.table[TABLE_MESSAGE].used;
    record->now = run->world.now;
    record->changes = world_mark(&run->world);
    record->ghosts = run->oracle.ghosts.logged;
    record->shares = walk->same.logged;
    record->performer = run->actors[move.actor].performer;
    run->effect.what = 0;
    walk_keep_sessions(walk, record);
    pay(&walk->left, (enum walk_kind)move.kind);
    act(walk, move);
    walk_note(walk, record);
    if (walk->plan.watch != NULL && !walk->plan.watch(walk, record)) {
        run->result.verdict = RUN_BROKEN;
    }
    CHECK_ALL(walk_check(walk));
    return run->result.verdict == RUN_HELD;
}

static void undo_ghosts(struct ghosts *ghosts, size_t logged)
{
    while (ghosts->logged > logged) {
        const struct ghost_write *write = &ghosts->log[--ghosts->logged];
        ghosts->cells[write->cell] = write->before;
    }
}

void walk_undo(struct walk *walk)
{
    struct run *run = &walk->run;
    CHECK(walk->depth > 0);
    const struct walk_record *record = &walk->records[--walk->depth];
    fingerprint_undo(&walk->same, record->shares);
    world_undo(&run->world, record->changes);
    undo_ghosts(&run->oracle.ghosts, record->ghosts);
    run->actors[record->move.actor].performer = record->performer;
    run->world.now = record->now;
    run->copies = record->copies;
    walk->left = record->left;
    walk->watched = record->watched;
    run->result.verdict = RUN_HELD;
    walk_bring_sessions_back(walk, record);
    CHECK_ALL(walk_check(walk));
}

static uint32_t budget_of(const struct walk_bounds *left)
{
    return (uint32_t)left->crashes + left->duplicates + left->lapses + left->unknowns +
           left->aborts + left->drags + left->missteps;
}

void walk_check(struct walk *walk)
{
    const struct run *run = &walk->run;
    const struct walk_record *top = &walk->records[walk->depth - 1];
    uint32_t most = budget_of(walk->depth == 0 ? &walk->plan.bounds : &top->left);
    CHECK(budget_of(&walk->left) <= most); /* WA3 */
    if (walk->depth > 0) {
        CHECK(top->changes <= world_mark(&run->world));  /* WA1 */
        CHECK(top->ghosts <= run->oracle.ghosts.logged); /* WA1 */
        CHECK(top->shares <= walk->same.logged);         /* WA1 */
    }
    if (walk->depth % CHECK_EVERY == 0) {
        fingerprint_check(&walk->same);
    }
}

void walk_back_to(struct walk *walk, unsigned depth)
{
    while (walk->depth > depth) {
        walk_undo(walk);
    }
}

void walk_go(struct walk *walk, const struct walk_move *way, unsigned length)
{
    unsigned common = 0;
    while (common < length && common < walk->depth &&
           memcmp(&way[common], &walk->records[common].move, sizeof *way) == 0) {
        common++;
    }
    walk_back_to(walk, common);
    while (walk->depth < length) {
        bool held = walk_do(walk, way[walk->depth]);
        CHECK(held);
    }
}

/* ---- states ---------------------------------------------------------------------------------- */

uint64_t walk_state(struct walk *walk)
{
    const struct walk_bounds *left = &walk->left;
    uint64_t budgets = (uint64_t)left->drags << 48 | (uint64_t)left->missteps << 40 |
                       (uint64_t)left->crashes << 32 | (uint64_t)left->duplicates << 24 |
                       (uint64_t)left->lapses << 16 | (uint64_t)left->unknowns << 8 | left->aborts;
    uint64_t state = fingerprint_state(&walk->same, fingerprint_mix(walk->watched, budgets));
    return walk->plan.by_statement ? walk_mix_sessions(walk, state) : state;
}

bool walk_settled(struct walk *walk)
{
    struct run *run = &walk->run;
    if (walk->plan.watch != NULL) {
        run->result.settled = !walk->plan.watch(walk, NULL);
        run->result.verdict = run->result.settled ? RUN_BROKEN : RUN_HELD;
        return !run->result.settled;
    }
    struct oracle_verdict verdict =
        sim_part_settled(&run->oracle, run->part, &run->world.rows, run_is_quiet(run));
    run->result.settled = verdict.broken;
    if (verdict.broken) {
        run_broke(run, verdict);
    }
    return !verdict.broken;
}

const char *walk_kind_text(enum walk_kind kind)
{
    static const char *const texts[WALK_KIND_COUNT] = {
        [WALK_STEP] = "step",     [WALK_WAIT] = "wait",           [WALK_CRASH] = "crash",
        [WALK_TEAR] = "tear",     [WALK_DUPLICATE] = "duplicate", [WALK_LAPSE] = "lapse",
        [WALK_UNSURE] = "unsure", [WALK_LOST] = "lost",           [WALK_ABORT] = "abort",
        [WALK_DRAG] = "drag",     [WALK_MISSTEP] = "misstep",     [WALK_OPERATE] = "operate"};
    return texts[kind];
}
