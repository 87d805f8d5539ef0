#include "sim/explore_inside.h"

#include "model/check.h"
#include "sim/part.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define IDLE_NS 20000 /* polling interval of an idle thread */

static void lock(struct explore *explore)
{
    while (atomic_flag_test_and_set_explicit(&explore->lock, memory_order_acquire)) {
    }
}

static void unlock(struct explore *explore)
{
    atomic_flag_clear_explicit(&explore->lock, memory_order_release);
}

/* ---- what a search comes to ------------------------------------------------------------------ */

void explore_finish_as(struct explore *explore, enum explore_verdict verdict, const char *why)
{
    lock(explore);
    if (explore->report.verdict == EXPLORE_HELD) {
        explore->report.verdict = verdict;
        explore->report.why = why;
    }
    unlock(explore);
    atomic_store(&explore->stop, true);
}

/* Copies the walk's path into the report. */
static void keep_path(struct explorer *one)
{
    struct explore_report *report = &one->explore->report;
    size_t length = one->walk.depth;
    free(report->path);
    report->path = malloc((length + 1) * sizeof *report->path);
    CHECK(report->path != NULL);
    for (size_t d = 0; d < length; d++) {
        report->path[d] = one->walk.frames[d].move;
    }
    report->path_length = length;
}

/* The last move breaks a promise. */
void explore_found(struct explorer *one)
{
    struct explore *explore = one->explore;
    if (one->walk.run.result.verdict == RUN_STORE_FULL) {
        explore_finish_as(explore, EXPLORE_BOUNDED, "the simulated store was full");
        return;
    }
    lock(explore);
    if (explore->report.verdict == EXPLORE_HELD) {
        explore->report.verdict = EXPLORE_BROKEN;
        explore->report.result = one->walk.run.result;
        explore->report.result.steps = one->walk.depth;
        keep_path(one);
    }
    unlock(explore);
    atomic_store(&explore->stop, true);
}

void explore_reached(struct explorer *one)
{
    explore_finish_as(one->explore, EXPLORE_STUCK, NULL);
    keep_path(one);
}

bool explore_stopped(const struct explore *explore)
{
    return atomic_load_explicit(&explore->stop, memory_order_relaxed);
}

static bool has_bug(const struct explorer *one, enum explore_bug bug)
{
    return one->explore->plan.bug == bug;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The index of a set of reductions; that of workers does not concern rows. */
static unsigned ends_set(unsigned reductions)
{
    return (reductions & (REDUCE_SIBLINGS | REDUCE_COUNTERS)) / REDUCE_SIBLINGS;
}

const struct explore_ends *explore_ends_as(const struct explore_report *report, unsigned reductions)
{
    return &report->ends[ends_set(reductions)];
}

static void note_end_in(struct ends *ends, uint64_t end)
{
    size_t at = (size_t)end & (ENDS_MAX - 1);
    while (ends->seen[at] != 0 && ends->seen[at] != end) {
        at = (at + 1) & (ENDS_MAX - 1);
    }
    if (ends->seen[at] == end) {
        return;
    }
    if (ends->told.count == EXPLORE_ENDS_MAX) {
        ends->told.more = true;
        return;
    }
    ends->seen[at] = end;
    ends->told.count++;
    ends->told.sum += end;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

size_t explore_ends_list(const struct explore *explore, unsigned reductions, uint64_t *list)
{
    const struct ends *ends = &explore->ends[ends_set(reductions)];
    size_t count = 0;
    for (size_t i = 0; i < ENDS_MAX; i++) {
        if (ends->seen[i] != 0) {
            list[count++] = ends->seen[i];
        }
    }
    qsort(list, count, sizeof *list, by_value);
    return count;
}

static void note_end(struct explorer *one)
{
    struct explore *explore = one->explore;
    for (unsigned set = 0; set < EXPLORE_ENDS_SETS; set++) {
        uint64_t end = sameness_rows(&one->ends[set]);
        lock(explore);
        note_end_in(&explore->ends[set], end);
        unlock(explore);
    }
}

/* ---- notes on liveness ----------------------------------------------------------------------- */

/* False: no memory. */
static bool grow(struct words *words, struct explore_budget *budget)
{
    size_t capacity = words->capacity == 0 ? 1024 : 2 * words->capacity;
    size_t more = (capacity - words->capacity) * sizeof *words->items;
    if (!explore_budget_take(budget, more)) {
        return false;
    }
    uint64_t *items = realloc(words->items, capacity * sizeof *items);
    if (items == NULL) {
        explore_budget_give(budget, more);
        return false;
    }
    words->items = items;
    words->capacity = capacity;
    return true;
}

static void note_unrested(struct explorer *one, uint64_t state, const uint64_t *successors,
                          size_t count)
{
    struct words *notes = &one->notes;
    while (notes->count + 2 + count > notes->capacity) {
        if (!grow(notes, &one->explore->budget)) {
            explore_finish_as(one->explore, EXPLORE_BOUNDED, NO_MEMORY);
            return;
        }
    }
    notes->items[notes->count++] = count;
    notes->items[notes->count++] = state;
    for (size_t i = 0; i < count; i++) {
        notes->items[notes->count++] = successors[i];
    }
}

/* One pass of the fixed point over a thread's notes; true: something changed. */
static bool settle_notes(struct explore *explore, struct words *notes)
{
    size_t kept = 0, at = 0;
    while (at < notes->count) {
        size_t count = notes->items[at], size = 2 + count;
        bool rests = visited_rests(&explore->visited, notes->items[at + 1]);
        for (size_t i = 0; i < count && !rests; i++) {
            rests = visited_rests(&explore->visited, notes->items[at + 2 + i]);
        }
        if (rests) {
            visited_set_rests(&explore->visited, notes->items[at + 1]);
        } else {
            memmove(&notes->items[kept], &notes->items[at], size * sizeof *notes->items);
            kept += size;
        }
        at += size;
    }
    bool changed = kept < notes->count;
    notes->count = kept;
    return changed;
}

/* ---- what others can do ---------------------------------------------------------------------- */

/* Takes from the level a work item that another thread can do. False: there is none. */
static bool give(struct level *level, struct walk_move next, struct work_item *item)
{
    if (level->next < level->end) {
        level->end--;
        item->kind = level->kind.open ? ITEM_MISHAP : ITEM_MOVE;
        item->move = level->moves[level->end];
        item->trouble = level->kind;
        item->sound = level->end < level->sound;
        item->state = level->state;
    } else if (level->trouble.open) {
        item->kind = ITEM_TROUBLE;
        item->trouble = level->trouble;
        level->trouble.open = false;
    } else if (level->has_variants) {
        item->kind = ITEM_VARIANTS;
        item->move = next;
        level->has_variants = false;
    } else {
        return false;
    }
    return true;
}

/* Gives away the untried branch nearest to the root: it has the largest subtree. */
static void give_away(struct explorer *one, struct work_item *item)
{
    const struct walk_frame *frames = one->walk.frames;
    for (unsigned depth = 0; depth <= one->walk.depth; depth++) {
        struct walk_move next =
            depth < one->walk.depth ? frames[depth].move : (struct walk_move){0};
        if (give(&one->levels[depth], next, item)) {
            item->length = depth;
            for (unsigned d = 0; d < depth; d++) {
                item->way[d] = frames[d].move;
            }
            atomic_fetch_sub(&one->explore->wanted, 1);
            atomic_fetch_add(&one->explore->busy, 1);
            one->explore->item_count++;
            return;
        }
    }
}

/* If another thread is idle, gives it a work item. */
static void share(struct explorer *one)
{
    struct explore *explore = one->explore;
    if (atomic_load_explicit(&explore->wanted, memory_order_relaxed) > 0) {
        lock(explore);
        if (atomic_load(&explore->wanted) > 0) {
            give_away(one, &explore->items[explore->item_count]);
        }
        unlock(explore);
    }
}

/* ---- trouble --------------------------------------------------------------------------------- */

static bool visit(struct explorer *one);
static bool follow(struct explorer *one, struct walk_move move);

static void add_move(struct explorer *one, struct level *level, struct walk_move move)
{
    if (level->end == WALK_MOVES_MAX) {
        explore_finish_as(one->explore, EXPLORE_BOUNDED, TOO_MUCH);
    } else {
        level->moves[level->end++] = move;
    }
}

static bool dies_of(const struct walk *walk, const struct trouble *trouble, unsigned actor)
{
    bool mover = walk->depth > 0 && walk->frames[walk->depth - 1].move.actor == actor;
    return walk->left.crashes > 0 &&
           (trouble->dies == ANYBODY_DIES || (trouble->dies == MOVER_DIES && mover)) &&
           actor >= trouble->from && walk_can_crash(walk, actor);
}

/* The fault successors, open if there are any. */
static struct trouble trouble_of(const struct walk *walk, struct trouble trouble)
{
    trouble.open = walk->left.duplicates > 0 && trouble.first < trouble.last;
    for (unsigned a = 0; a < walk->run.actor_count && !trouble.open; a++) {
        trouble.open = dies_of(walk, &trouble, a);
    }
    return trouble;
}

/* Visits the state that a move led to, and its fault successors. True: it can reach quiescence. */
static bool arrive(struct explorer *one, struct trouble trouble);

/* One fault, and further ones after it: crashes first, then duplicates. Of each kind only those
 * listed later follow, because faults of one kind commute. */
static void have_mishap(struct explorer *one, struct walk_move move, struct trouble trouble)
{
    struct trouble after = trouble;
    if (move.kind == WALK_CRASH) {
        after.dies = trouble.dies == ANYBODY_DIES ? ANYBODY_DIES : NOBODY_DIES;
        after.from = move.actor + 1U;
    } else {
        after.first = move.slot;
        after.dies = NOBODY_DIES;
    }
    one->transitions++;
    if (walk_do(&one->walk, move)) {
        arrive(one, trouble_of(&one->walk, after));
    } else {
        explore_found(one);
    }
    walk_undo(&one->walk);
}

/* Tries the moves of the level. True: one leads to a state that can reach quiescence. */
static bool try_all(struct explorer *one, struct level *level, size_t *known)
{
    bool rests = false;
    *known = 0;
    while (level->next < level->end && !explore_stopped(one->explore)) {
        size_t at = level->next++;
        if (level->kind.open) {
            have_mishap(one, level->moves[at], level->kind);
        } else {
            bool rested = follow(one, level->moves[at]);
            if (at < level->sound) {
                rests = rests || rested;
                level->successors[(*known)++] = one->state;
            }
        }
    }
    level->next = level->end = 0;
    return rests;
}

static void have_trouble(struct explorer *one, struct trouble trouble)
{
    struct walk *walk = &one->walk;
    struct level *level = &one->levels[walk->depth];
    size_t known;
    level->next = level->end = level->sound = 0;
    level->kind = trouble;
    for (uint32_t slot = trouble.first; slot < trouble.last && walk->left.duplicates > 0; slot++) {
        add_move(one, level, (struct walk_move){.kind = WALK_DUPLICATE, .slot = (uint16_t)slot});
    }
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        if (dies_of(walk, &trouble, a)) {
            add_move(
                one, level,
                (struct walk_move){.kind = WALK_CRASH, .actor = (uint8_t)a, .slot = WALK_NO_SLOT});
        }
    }
    try_all(one, level, &known);
}

/* The fault successors of the last move, in one go with it. A claim that is lost at once is no
 * claim, and costs a crash. When time has moved on, any worker may crash and any message may be
 * duplicated: before that, time stood still because some worker had something to do. */
static struct trouble trouble_after(const struct explorer *one)
{
    const struct walk *walk = &one->walk;
    const struct walk_frame *frame = &walk->frames[walk->depth - 1];
    struct walk_move move = frame->move;
    bool claims = walk->run.part->sameness != NULL && move.slot != WALK_NO_SLOT &&
                  !walk_rides(move, &frame->performer);
    bool later = move.slot == WALK_NO_SLOT && (move.kind == WALK_WAIT || move.kind == WALK_LAPSE);
    uint32_t last = walk->run.world.rows.table[TABLE_MESSAGE].used;
    if ((walk->plan.reductions & REDUCE_ORDER) == 0) {
        return (struct trouble){0};
    }
    if (later) {
        return trouble_of(walk, (struct trouble){.last = last, .dies = ANYBODY_DIES});
    }
    return trouble_of(
        walk,
        (struct trouble){.first = has_bug(one, BUG_COPIES) ? last : frame->messages,
                         .last = last,
                         .dies = claims || has_bug(one, BUG_DEATH) ? NOBODY_DIES : MOVER_DIES});
}

/* Explores the fault successors that are still open. */
static void finish_trouble(struct explorer *one)
{
    struct level *level = &one->levels[one->walk.depth];
    if (level->trouble.open && !explore_stopped(one->explore)) {
        struct trouble trouble = level->trouble;
        level->trouble.open = false;
        have_trouble(one, trouble);
    }
}

static bool arrive(struct explorer *one, struct trouble trouble)
{
    one->levels[one->walk.depth].trouble = trouble;
    bool rests = visit(one);
    uint64_t state = one->state;
    finish_trouble(one);
    one->state = state;
    return rests;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Whether REDUCE_ORDER is on and the protocol defines components. */
static bool is_ordered(const struct explorer *one)
{
    const struct walk *walk = &one->walk;
    return (walk->plan.reductions & REDUCE_ORDER) != 0 && walk->same.place_count > 1;
}

/* The partial-order reduction relies on transactions that name no rows of another component. This
 * is checked for every transaction, not assumed. */
struct look {
    uint32_t place; /* the component of the actor that moves; 0: not checked */
    uint32_t rows, messages;
};

static struct look look_before(struct explorer *one, struct walk_move move)
{
    struct walk *walk = &one->walk;
    const struct row_area *tables = walk->run.world.rows.table;
    bool rides = walk_rides(move, &walk->run.actors[move.actor].performer);
    if (!is_ordered(one) || (move.slot != WALK_NO_SLOT && !rides) || move.kind == WALK_CRASH) {
        return (struct look){0};
    }
    return (struct look){.place = sameness_actor(&walk->same, move.actor).place,
                         .rows = tables[walk->run.part->sameness->places_in].used,
                         .messages = tables[TABLE_MESSAGE].used};
}

static bool look_after(struct explorer *one, struct look look)
{
    const struct walk *walk = &one->walk;
    if (look.place != 0 &&
        walk->run.part->sameness->reaches_out(&walk->same, &walk->run.bundle, look.place, look.rows,
                                              look.messages)) {
        explore_finish_as(one->explore, EXPLORE_BOUNDED, EXPLORE_REACHES_OUT);
        return false;
    }
    return true;
}

/* Does a move; false: the search is over. */
static bool make_move(struct explorer *one, struct walk_move move)
{
    struct look look = look_before(one, move);
    one->transitions++;
    if (!walk_do(&one->walk, move)) {
        explore_found(one);
        return false;
    }
    return look_after(one, look);
}

/* Does a move and explores its subtree. True: the state that it leads to can reach quiescence. */
static bool follow(struct explorer *one, struct walk_move move)
{
    bool rests = make_move(one, move) && arrive(one, trouble_after(one));
    walk_undo(&one->walk);
    return rests;
}

/* ---- local steps ----------------------------------------------------------------------------- */

/* A message other than the one in slot `own`, or a worker other than `actor`, concerns the
 * component. */
static bool has_company(struct explorer *one, unsigned actor, uint32_t own, uint32_t place)
{
    const struct run *run = &one->walk.run;
    uint64_t near = one->walk.same.places[place].near | 1; /* a message without a component may
                                                              concern any */
    if (has_bug(one, BUG_COMPANY)) {
        return false;
    }
    for (uint32_t q = 0; q < run->world.queue_count; q++) {
        uint32_t slot = run->world.queue[q];
        if (slot != own && (near >> one->walk.same.shares[TABLE_MESSAGE][slot].place & 1) != 0) {
            return true;
        }
    }
    for (unsigned a = 0; a < run->actor_count; a++) {
        const struct performer *other = &run->actors[a].performer;
        if (a != actor && other->role->message != NULL && !other->role->is_idle(&other->actor) &&
            (near >> sameness_actor(&one->walk.same, a).place & 1) != 0) {
            return true;
        }
    }
    return false;
}

/* The slot of the message that an actor works on; ROW_NONE: it is gone, or its claim has expired,
 * so that any worker may take it. */
static uint32_t own_slot(const struct run *run, unsigned actor)
{
    const struct performer *one = &run->actors[actor].performer;
    const struct rows *rows = &run->world.rows;
    uint32_t slot = row_find(rows, TABLE_MESSAGE, one->role->message(&one->actor)[0]);
    bool hidden =
        slot != ROW_NONE && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) > run->world.now;
    return hidden ? slot : ROW_NONE;
}

/* The component of the worker's next step if that may be local; 0: it is not. */
static uint32_t local_place(struct explorer *one, unsigned actor)
{
    struct run *run = &one->walk.run;
    struct performer peek = run->actors[actor].performer;
    uint32_t place = sameness_actor(&one->walk.same, actor).place;
    if (place == 0) {
        return 0;
    }
    performer_next(&peek, &run->rules, run->sabotage, &run->bundle);
    if (one->walk.left.unknowns > 0 && bundle_claims(&run->bundle)) {
        return 0; /* if its answer is lost, a claimed message of any component is lost, too */
    }
    switch (run->part->sameness->locality(&one->walk.same, &run->bundle)) {
    case LOCAL_ANYWAY:
        return place;
    case LOCAL_ALONE:
        return has_company(one, actor, own_slot(run, actor), place) ? 0 : place;
    case LOCAL_NOT:
        break;
    }
    return 0;
}

/* Does the step and returns true if it is local; else leaves everything as before. */
static bool step_locally(struct explorer *one, struct walk_move move)
{
    struct walk *walk = &one->walk;
    const struct sameness_hooks *hooks = walk->run.part->sameness;
    uint32_t place = local_place(one, move.actor);
    struct look look = {.place = place,
                        .rows = walk->run.world.rows.table[hooks->places_in].used,
                        .messages = walk->run.world.rows.table[TABLE_MESSAGE].used};
    size_t logged = walk->same.logged;
    if (place == 0 || walk_is_deep(walk)) {
        return false;
    }
    if (walk_do(walk, move) &&
        hooks->stayed(&walk->same, &walk->run.bundle, place, logged, look.rows) &&
        look_after(one, look)) {
        one->levels[walk->depth].trouble = trouble_after(one);
        return true;
    }
    walk_undo(walk);
    return false;
}

static bool is_step_of_worker(const struct explorer *one, struct walk_move move)
{
    return move.kind == WALK_STEP && move.slot == WALK_NO_SLOT &&
           one->walk.run.actors[move.actor].performer.role->message != NULL;
}

/* Does the claim and the steps after it until the worker is idle, and returns true if all of them
 * are local; else leaves everything as before. */
static bool claim_locally(struct explorer *one, struct walk_move claim)
{
    struct walk *walk = &one->walk;
    const struct performer *worker = &walk->run.actors[claim.actor].performer;
    const struct walk_move step = {.kind = WALK_STEP, .actor = claim.actor, .slot = WALK_NO_SLOT};
    unsigned depth = walk->depth;
    uint32_t place = walk->same.shares[TABLE_MESSAGE][claim.slot].place;
    bool local = place != 0 && !walk_is_deep(walk) &&
                 walk->run.part->sameness->promises_locality(&walk->same, claim.slot) &&
                 !has_company(one, claim.actor, claim.slot, place) && walk_do(walk, claim);
    if (local) {
        one->levels[walk->depth].trouble = trouble_after(one);
    }
    while (local && !worker->role->is_idle(&worker->actor)) {
        local = step_locally(one, step);
    }
    while (!local && walk->depth > depth) {
        one->levels[walk->depth].trouble.open = false;
        walk_undo(walk);
    }
    return local;
}

/* A candidate for an ample set of one move. */
struct candidate {
    struct walk_move move;
    uint64_t rank; /* equal for exchangeable components */
};

/* Workers' steps, then claims, each in the order of their ranks. */
static size_t candidates(struct explorer *one, const struct walk_move *moves, size_t sound,
                         struct candidate list[WALK_MOVES_MAX])
{
    struct sameness *same = &one->walk.same;
    size_t count = 0;
    for (size_t m = 0; m < sound; m++) {
        bool claim = moves[m].kind == WALK_STEP && moves[m].slot != WALK_NO_SLOT;
        if (!claim && !is_step_of_worker(one, moves[m])) {
            continue;
        }
        struct sameness_share share = claim ? same->shares[TABLE_MESSAGE][moves[m].slot]
                                            : sameness_actor(same, moves[m].actor);
        uint64_t rank = sameness_rank(same, share) >> 1 | (uint64_t)claim << 63;
        size_t at = count++;
        for (; at > 0 && list[at - 1].rank > rank; at--) {
            list[at] = list[at - 1];
        }
        list[at] = (struct candidate){.move = moves[m], .rank = rank};
    }
    return count;
}

size_t explore_moves(struct explorer *one, struct walk_move *moves, size_t *sound)
{
    size_t count = walk_moves(&one->walk, moves, sound);
    if (one->walk.crowded) {
        explore_finish_as(one->explore, EXPLORE_BOUNDED, TOO_MUCH);
    }
    return count;
}

/* Takes the first candidate that is an ample set: a worker's local step, else a claim with local
 * steps up to its end. False: there is none. Not inlined: its lists would lie on the stack once for
 * each level of the path. */
static __attribute__((noinline)) bool go_first(struct explorer *one)
{
    struct candidate list[WALK_MOVES_MAX];
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    explore_moves(one, moves, &sound);
    size_t count = candidates(one, moves, sound, list);
    for (size_t i = 0; i < count; i++) {
        if (list[i].move.slot != WALK_NO_SLOT ? claim_locally(one, list[i].move)
                                              : step_locally(one, list[i].move)) {
            return true;
        }
    }
    return false;
}

/* The undone step again, in its variants with a fault. */
static void try_variants(struct explorer *one, struct walk_move step)
{
    struct level *level = &one->levels[one->walk.depth];
    size_t sound, known, count = explore_moves(one, level->moves, &sound);
    level->kind.open = false;
    level->next = level->end = level->sound = 0;
    for (size_t m = sound; m < count; m++) {
        if (level->moves[m].actor == step.actor && level->moves[m].slot == step.slot) {
            add_move(one, level, level->moves[m]);
        }
    }
    try_all(one, level, &known);
}

/* Takes an ample set, if there is one, instead of all moves. States within a claim and its local
 * steps are not stored: each has one fault-free successor, besides its fault successors. */
static bool follow_first(struct explorer *one, bool *rests)
{
    struct walk *walk = &one->walk;
    unsigned depth = walk->depth;
    if (!is_ordered(one) || walk->left.lapses + walk->left.drags > 0 || !go_first(one)) {
        return false;
    }
    for (unsigned d = depth; d < walk->depth; d++) {
        one->levels[d].has_variants = walk_has_variants(walk);
        one->levels[d].state = d == depth ? one->levels[d].state : 0;
    }
    *rests = visit(one);
    uint64_t state = one->state;
    while (walk->depth > depth) {
        struct walk_move move = walk->frames[walk->depth - 1].move;
        one->transitions++;
        finish_trouble(one);
        walk_undo(walk);
        if (one->levels[walk->depth].has_variants) {
            one->levels[walk->depth].has_variants = false;
            try_variants(one, move);
        }
    }
    one->state = state;
    return true;
}

/* ---- a state --------------------------------------------------------------------------------- */

bool explore_goes_on(struct explorer *one)
{
    one->deepest = one->walk.depth > one->deepest ? one->walk.depth : one->deepest;
    if (walk_is_deep(&one->walk)) {
        explore_finish_as(one->explore, EXPLORE_BOUNDED, TOO_LONG);
    }
    if (one->walk.same.saturated) {
        explore_finish_as(one->explore, EXPLORE_BOUNDED, EXPLORE_NEAR_CEILING);
    }
    return !explore_stopped(one->explore);
}

bool explore_judge_rest(struct explorer *one)
{
    one->rests++;
    note_end(one);
    if (!walk_settled(&one->walk)) {
        explore_found(one);
        one->walk.run.result.verdict = RUN_HELD;
        return false;
    }
    return true;
}

/* The state is on the current path. */
static bool is_on_way(const struct explorer *one, uint64_t state)
{
    for (unsigned depth = 0; depth <= one->walk.depth; depth++) {
        if (one->levels[depth].state == state) {
            return true;
        }
    }
    return false;
}

/* The cycle proviso: an ample set replaces all other moves, unless it leads back to a state on the
 * current path. There it could postpone the other moves for ever. */
static bool expand(struct explorer *one, uint64_t state)
{
    struct level *level = &one->levels[one->walk.depth];
    size_t known = 1;
    bool rests = false;
    level->state = state;
    if (follow_first(one, &rests) &&
        (rests || explore_stopped(one->explore) || !is_on_way(one, one->state))) {
        level->successors[0] = one->state;
    } else {
        level->next = 0;
        level->end = explore_moves(one, level->moves, &level->sound);
        level->kind.open = false;
        rests = level->sound == 0 && explore_judge_rest(one);
        rests = try_all(one, level, &known) || rests;
    }
    if (rests || has_bug(one, BUG_REST)) {
        visited_set_rests(&one->explore->visited, state);
    } else if (!explore_stopped(one->explore)) {
        note_unrested(one, state, level->successors, known);
    }
    return rests;
}

/* Explores the walk's state, if it is new. True: it can reach quiescence. */
static bool visit(struct explorer *one)
{
    struct explore *explore = one->explore;
    bool rests = false;
    uint64_t state = walk_state(&one->walk);
    enum visited_answer answer = visited_add(&explore->visited, state, &rests);
    one->state = state;
    one->levels[one->walk.depth].state = state;
    if (answer != VISITED_NEW) {
        if (answer == VISITED_FULL) {
            explore_finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
        }
        return rests;
    }
    atomic_store_explicit(&one->states,
                          atomic_load_explicit(&one->states, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (state == explore->plan.target) {
        explore_reached(one);
    }
    if (!explore_goes_on(one)) {
        return false;
    }
    share(one);
    rests = expand(one, state);
    one->state = state;
    return rests;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Replays the path of the work item. Its evaluations were counted when the path was first
 * explored. */
static void go_to_item(struct explorer *one)
{
    struct oracle *oracle = &one->walk.run.oracle;
    uint64_t evaluated[CLAUSE_COUNT], seen[SIGHT_COUNT];
    memcpy(evaluated, oracle->evaluated, sizeof evaluated);
    memcpy(seen, oracle->seen, sizeof seen);
    walk_go(&one->walk, one->item.way, one->item.length);
    for (unsigned depth = 0; depth <= one->item.length; depth++) {
        one->levels[depth].state = 0; /* that part of the path belongs to the other thread */
    }
    memcpy(oracle->evaluated, evaluated, sizeof evaluated);
    memcpy(oracle->seen, seen, sizeof seen);
}

static bool take_item(struct explorer *one)
{
    struct explore *explore = one->explore;
    lock(explore);
    bool there = explore->item_count > 0;
    if (there) {
        const struct work_item *item = &explore->items[--explore->item_count];
        memcpy(&one->item, item, offsetof(struct work_item, way));
        memcpy(one->item.way, item->way, item->length * sizeof *item->way);
    }
    unlock(explore);
    return there;
}

static void run_item(struct explorer *one)
{
    const struct work_item *item = &one->item;
    go_to_item(one);
    switch (item->kind) {
    case ITEM_MOVE: {
        bool rests = follow(one, item->move);
        if (item->sound && rests) {
            visited_set_rests(&one->explore->visited, item->state);
        } else if (item->sound) {
            note_unrested(one, item->state, &one->state, 1);
        }
        break;
    }
    case ITEM_MISHAP:
        have_mishap(one, item->move, item->trouble);
        break;
    case ITEM_TROUBLE:
        have_trouble(one, item->trouble);
        break;
    case ITEM_VARIANTS:
        try_variants(one, item->move);
        break;
    }
}

/* The first thread begins at the root, which was added when the search was made. */
void explore_join(struct explore *explore, unsigned job)
{
    struct explorer *one = &explore->explorers[job];
    if (job == 0 && !explore_stopped(explore)) {
        expand(one, walk_state(&one->walk));
    }
    bool working = job == 0;
    do {
        if (working) {
            atomic_fetch_add(&explore->wanted, 1);
            atomic_fetch_sub(&explore->busy, 1);
        }
        working = take_item(one);
        if (working && !has_bug(one, BUG_ITEM)) {
            run_item(one);
        } else {
            thrd_sleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
        }
    } while (atomic_load(&explore->busy) > 0 && !explore_stopped(explore));
}

uint64_t explore_states(const struct explore *explore)
{
    uint64_t states = 0;
    for (unsigned j = 0; j < explore->plan.jobs; j++) {
        states += atomic_load_explicit(&explore->explorers[j].states, memory_order_relaxed);
    }
    return states;
}

void explore_stop(struct explore *explore)
{
    explore_finish_as(explore, EXPLORE_BOUNDED, "it was interrupted");
}

/* ---- making ---------------------------------------------------------------------------------- */

static bool make_explorer(struct explore *explore, struct explorer *one)
{
    one->explore = explore;
    one->levels = calloc(WALK_DEPTH_MAX + 1, sizeof *one->levels);
    bool made = one->levels != NULL && walk_make(&one->walk, &explore->plan.walk);
    for (unsigned set = 0; made && set < EXPLORE_ENDS_SETS; set++) {
        made = sameness_make(&one->ends[set], &one->walk.run, set * REDUCE_SIBLINGS);
    }
    return made;
}

/* Some promise is not judged. */
static bool lacks_a_judge(const struct walk_plan *plan)
{
    for (int c = 0; c < CLAUSE_COUNT && plan->without != NULL; c++) {
        if (plan->without[c]) {
            return true;
        }
    }
    return plan->watch != NULL;
}

/* A planted bug splits a transaction with which a claim may ride: then a separate claim afterwards
 * does not lead to the same state. */
static bool splits_rides(const struct walk_plan *plan)
{
    return plan->sabotage != NULL && walk_claims_ride(plan->scenario) &&
           plan->sabotage->kind != SABOTAGE_DROP && plan->sabotage->kind != SABOTAGE_UNGUARD;
}

/* The reductions that are sound here. At statement level, open transactions name concrete rows and
 * actors. A named bug may depend on a counter. A bug that writes back a value read outside its
 * transactions keeps counters and may read anywhere. Ample sets rest on promises that oracles
 * check. */
static unsigned sound_reductions(const struct walk_plan *plan)
{
    unsigned reductions = plan->reductions;
    if (lacks_a_judge(plan)) {
        reductions &= ~(unsigned)REDUCE_ORDER;
    }
    if (plan->by_statement) {
        reductions &= REDUCE_COUNTERS;
    }
    if (plan->sabotage != NULL && plan->sabotage->kind == SABOTAGE_NAMED) {
        reductions &= ~(unsigned)REDUCE_COUNTERS;
    }
    if (plan->sabotage != NULL && plan->sabotage->kind == SABOTAGE_STALE) {
        reductions &= ~(unsigned)(REDUCE_COUNTERS | REDUCE_ORDER);
    }
    if (splits_rides(plan)) {
        reductions &= ~(unsigned)REDUCE_ORDER;
    }
    return reductions;
}

struct explore *explore_make(const struct explore_plan *plan)
{
    struct explore *explore = aligned_alloc(CACHE_LINE, sizeof *explore);
    if (explore != NULL) {
        memset(explore, 0, sizeof *explore);
    }
    if (explore == NULL || !visited_make(&explore->visited, &explore->budget)) {
        free(explore);
        return NULL;
    }
    explore->plan = *plan;
    explore->budget.max = plan->memory;
    explore->plan.walk.reductions =
        plan->bug == BUG_TRUST ? plan->walk.reductions : sound_reductions(&plan->walk);
    explore->report.reductions = explore->plan.walk.reductions;
    CHECK(plan->jobs >= 1 && plan->jobs <= EXPLORE_JOBS_MAX);
    explore->items = calloc(plan->jobs, sizeof *explore->items);
    explore->ends = calloc(EXPLORE_ENDS_SETS, sizeof *explore->ends);
    bool made = explore->items != NULL && explore->ends != NULL;
    for (unsigned j = 0; made && j < plan->jobs; j++) {
        made = make_explorer(explore, &explore->explorers[j]);
    }
    if (!made) {
        explore_free(explore);
        return NULL;
    }
    bool known;
    uint64_t root = walk_state(&explore->explorers[0].walk);
    atomic_flag_clear(&explore->lock);
    atomic_store(&explore->explorers[0].states, 1);
    if (visited_add(&explore->visited, root, &known) == VISITED_FULL) {
        explore_finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
    }
    atomic_store(&explore->busy, 1);
    atomic_store(&explore->wanted, plan->jobs - 1);
    return explore;
}

void explore_free(struct explore *explore)
{
    for (unsigned j = 0; j < explore->plan.jobs; j++) {
        struct explorer *one = &explore->explorers[j];
        walk_free(&one->walk);
        for (unsigned set = 0; set < EXPLORE_ENDS_SETS; set++) {
            sameness_free(&one->ends[set]);
        }
        free(one->levels);
        free(one->notes.items);
    }
    free(explore->items);
    free(explore->ends);
    visited_free(&explore->visited);
    free(explore->report.path);
    free(explore);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void add_up(struct explore *explore)
{
    struct explore_report *report = &explore->report;
    report->states = visited_count(&explore->visited);
    report->bytes = visited_bytes(&explore->visited) + explore->way_bytes;
    for (unsigned set = 0; set < EXPLORE_ENDS_SETS; set++) {
        report->ends[set] = explore->ends[set].told;
    }
    for (unsigned j = 0; j < explore->plan.jobs; j++) {
        const struct explorer *one = &explore->explorers[j];
        report->transitions += one->transitions;
        report->bytes += one->notes.capacity * sizeof *one->notes.items;
        for (int c = 0; c < CLAUSE_COUNT; c++) {
            report->evaluated[c] += one->walk.run.oracle.evaluated[c];
        }
        for (int s = 0; s < SIGHT_COUNT; s++) {
            report->seen[s] += one->walk.run.oracle.seen[s];
        }
        report->rests += one->rests;
        report->spoiled += one->walk.spoiled;
        for (size_t i = 0; i < sizeof report->sent; i++) {
            (&report->sent[0][0])[i] |= (&one->walk.sent[0][0])[i];
        }
        report->deepest = one->deepest > report->deepest ? one->deepest : report->deepest;
    }
}

/* Computes the fixed point of the notes. True: some states cannot reach quiescence. */
static bool some_cannot_rest(struct explore *explore)
{
    bool changed = true, some = false;
    while (changed) {
        changed = some = false;
        for (unsigned j = 0; j < explore->plan.jobs; j++) {
            struct words *notes = &explore->explorers[j].notes;
            changed = settle_notes(explore, notes) || changed;
            some = some || notes->count > 0;
        }
    }
    return some;
}

void explore_check(const struct explore *explore)
{
    bool held = explore->report.verdict == EXPLORE_HELD;
    CHECK(!held || explore->item_count == 0);  /* XP1 */
    CHECK(!held || !explore_stopped(explore)); /* XP1 */
    CHECK(explore->report.verdict != EXPLORE_BOUNDED || explore->report.why != NULL);
}

const struct explore_report *explore_finish(struct explore *explore)
{
    add_up(explore);
    visited_check(&explore->visited);
    explore_check(explore);
    if (explore->report.verdict == EXPLORE_HELD && some_cannot_rest(explore)) {
        explore->report.verdict = EXPLORE_STUCK;
        for (unsigned j = 0; j < explore->plan.jobs && explore->report.stuck == 0; j++) {
            const struct words *notes = &explore->explorers[j].notes;
            explore->report.stuck = notes->count > 0 ? notes->items[1] : 0;
        }
    }
    return &explore->report;
}
