#include "sim/explore_inside.h"

#include "model/check.h"
#include "sim/part.h"

#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define IDLE_NS 20000 /* polling interval of an idle thread */

static bool has_bug(const struct explorer *explorer, enum explore_bug bug)
{
    return explorer->explore->plan.bug == bug;
}

/* ---- what others can do ---------------------------------------------------------------------- */

/* Takes from the level a work item that another thread can do. False: there is none. */
static bool give(struct level *level, struct walk_move next, struct work_item *item)
{
    if (level->next < level->end) {
        level->end--;
        item->kind = level->kind.open ? ITEM_MISHAP : ITEM_MOVE;
        item->move = level->moves[level->end];
        item->fault_successors = level->kind;
        item->sound = level->end < level->sound;
        item->state = level->state;
    } else if (level->fault_successors.open) {
        item->kind = ITEM_TROUBLE;
        item->fault_successors = level->fault_successors;
        level->fault_successors.open = false;
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
static void give_away(struct explorer *explorer, struct work_item *item)
{
    const struct walk_record *records = explorer->walk.records;
    for (unsigned depth = 0; depth <= explorer->walk.depth; depth++) {
        struct walk_move next =
            depth < explorer->walk.depth ? records[depth].move : (struct walk_move){0};
        if (give(&explorer->levels[depth], next, item)) {
            item->length = depth;
            for (unsigned d = 0; d < depth; d++) {
                item->way[d] = records[d].move;
            }
            atomic_fetch_sub(&explorer->explore->wanted, 1);
            atomic_fetch_add(&explorer->explore->busy, 1);
            explorer->explore->item_count++;
            return;
        }
    }
}

/* If another thread is idle, gives it a work item. */
static void share(struct explorer *explorer)
{
    struct explore *explore = explorer->explore;
    if (atomic_load_explicit(&explore->wanted, memory_order_relaxed) > 0) {
        explore_lock(explore);
        if (atomic_load(&explore->wanted) > 0) {
            give_away(explorer, &explore->items[explore->item_count]);
        }
        explore_unlock(explore);
    }
}

/* ---- fault successors ------------------------------------------------------------------------ */

static bool visit(struct explorer *explorer);
static bool explore_follow(struct explorer *explorer, struct walk_move move);

static void add_move(struct explorer *explorer, struct level *level, struct walk_move move)
{
    if (level->end == WALK_MOVES_MAX) {
        explore_finish_as(explorer->explore, EXPLORE_BOUNDED, TOO_MUCH);
    } else {
        level->moves[level->end++] = move;
    }
}

static bool dies_of(const struct walk *walk, const struct fault_successors *fault_successors,
                    unsigned actor)
{
    bool mover = walk->depth > 0 && walk->records[walk->depth - 1].move.actor == actor;
    return walk->left.crashes > 0 &&
           (fault_successors->dies == ANYBODY_DIES ||
            (fault_successors->dies == MOVER_DIES && mover)) &&
           actor >= fault_successors->from && walk_can_crash(walk, actor);
}

/* The fault successors, open if there are any. */
static struct fault_successors successors_of(const struct walk *walk,
                                             struct fault_successors fault_successors)
{
    fault_successors.open =
        walk->left.duplicates > 0 && fault_successors.first < fault_successors.last;
    for (unsigned a = 0; a < walk->run.actor_count && !fault_successors.open; a++) {
        fault_successors.open = dies_of(walk, &fault_successors, a);
    }
    return fault_successors;
}

/* Visits the state that a move led to, and its fault successors. True: it can reach quiescence. */
static bool arrive(struct explorer *explorer, struct fault_successors fault_successors);

/* One fault, and further ones after it: crashes first, then duplicates. Of each kind only those
 * listed later follow, because faults of one kind commute. */
static void have_successor(struct explorer *explorer, struct walk_move move,
                           struct fault_successors fault_successors)
{
    struct fault_successors after = fault_successors;
    if (move.kind == WALK_CRASH) {
        after.dies = fault_successors.dies == ANYBODY_DIES ? ANYBODY_DIES : NOBODY_DIES;
        after.from = move.actor + 1U;
    } else {
        after.first = move.slot;
        after.dies = NOBODY_DIES;
    }
    explorer->transitions++;
    if (walk_do(&explorer->walk, move)) {
        arrive(explorer, successors_of(&explorer->walk, after));
    } else {
        explore_found(explorer);
    }
    walk_undo(&explorer->walk);
}

/* Tries the moves of the level. True: one leads to a state that can reach quiescence. */
static bool try_all(struct explorer *explorer, struct level *level, size_t *known)
{
    bool rests = false;
    *known = 0;
    while (level->next < level->end && !explore_stopped(explorer->explore)) {
        size_t at = level->next++;
        if (level->kind.open) {
            have_successor(explorer, level->moves[at], level->kind);
        } else {
            bool rested = explore_follow(explorer, level->moves[at]);
            if (at < level->sound) {
                rests = rests || rested;
                level->successors[(*known)++] = explorer->state;
            }
        }
    }
    level->next = level->end = 0;
    return rests;
}

static void have_successors(struct explorer *explorer, struct fault_successors fault_successors)
{
    struct walk *walk = &explorer->walk;
    struct level *level = &explorer->levels[walk->depth];
    size_t known;
    level->next = level->end = level->sound = 0;
    level->kind = fault_successors;
    for (uint32_t slot = fault_successors.first;
         slot < fault_successors.last && walk->left.duplicates > 0; slot++) {
        add_move(explorer, level,
                 (struct walk_move){.kind = WALK_DUPLICATE, .slot = (uint16_t)slot});
    }
    for (unsigned a = 0; a < walk->run.actor_count; a++) {
        if (dies_of(walk, &fault_successors, a)) {
            add_move(
                explorer, level,
                (struct walk_move){.kind = WALK_CRASH, .actor = (uint8_t)a, .slot = WALK_NO_SLOT});
        }
    }
    try_all(explorer, level, &known);
}

/* The fault successors of the last move, in one go with it. A claim that is lost at once is no
 * claim, and costs a crash. When time has moved on, any worker may crash and any message may be
 * duplicated: before that, time stood still because some worker had something to do. */
static struct fault_successors successors_after(const struct explorer *explorer)
{
    const struct walk *walk = &explorer->walk;
    const struct walk_record *record = &walk->records[walk->depth - 1];
    struct walk_move move = record->move;
    bool claims = walk->run.part->fingerprint != NULL && move.slot != WALK_NO_SLOT &&
                  !walk_rides(move, &record->performer);
    bool later = move.slot == WALK_NO_SLOT && (move.kind == WALK_WAIT || move.kind == WALK_LAPSE);
    uint32_t last = walk->run.world.rows.table[TABLE_MESSAGE].used;
    if ((walk->plan.reductions & REDUCE_ORDER) == 0) {
        return (struct fault_successors){0};
    }
    if (later) {
        return successors_of(walk, (struct fault_successors){.last = last, .dies = ANYBODY_DIES});
    }
    return successors_of(
        walk, (struct fault_successors){
                  .first = has_bug(explorer, BUG_COPIES) ? last : record->messages,
                  .last = last,
                  .dies = claims || has_bug(explorer, BUG_DEATH) ? NOBODY_DIES : MOVER_DIES});
}

/* Explores the fault successors that are still open. */
static void finish_successors(struct explorer *explorer)
{
    struct level *level = &explorer->levels[explorer->walk.depth];
    if (level->fault_successors.open && !explore_stopped(explorer->explore)) {
        struct fault_successors fault_successors = level->fault_successors;
        level->fault_successors.open = false;
        have_successors(explorer, fault_successors);
    }
}

static bool arrive(struct explorer *explorer, struct fault_successors fault_successors)
{
    explorer->levels[explorer->walk.depth].fault_successors = fault_successors;
    bool rests = visit(explorer);
    uint64_t state = explorer->state;
    finish_successors(explorer);
    explorer->state = state;
    return rests;
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Whether REDUCE_ORDER is on and the protocol defines components. */
static bool is_ordered(const struct explorer *explorer)
{
    const struct walk *walk = &explorer->walk;
    return (walk->plan.reductions & REDUCE_ORDER) != 0 && walk->same.place_count > 1;
}

/* The partial-order reduction relies on transactions that name no rows of another component. This
 * is checked for every transaction, not assumed. */
struct look {
    uint32_t place; /* the component of the actor that moves; 0: not checked */
    uint32_t rows, messages;
};

static struct look look_before(struct explorer *explorer, struct walk_move move)
{
    struct walk *walk = &explorer->walk;
    const struct row_area *tables = walk->run.world.rows.table;
    bool rides = walk_rides(move, &walk->run.actors[move.actor].performer);
    if (!is_ordered(explorer) || (move.slot != WALK_NO_SLOT && !rides) || move.kind == WALK_CRASH) {
        return (struct look){0};
    }
    return (struct look){.place = fingerprint_actor(&walk->same, move.actor).place,
                         .rows = tables[walk->run.part->fingerprint->places_in].used,
                         .messages = tables[TABLE_MESSAGE].used};
}

static bool look_after(struct explorer *explorer, struct look look)
{
    const struct walk *walk = &explorer->walk;
    if (look.place != 0 &&
        walk->run.part->fingerprint->reaches_out(&walk->same, &walk->run.bundle, look.place,
                                                 look.rows, look.messages)) {
        explore_finish_as(explorer->explore, EXPLORE_BOUNDED, EXPLORE_REACHES_OUT);
        return false;
    }
    return true;
}

/* Does a move; false: the search is over. */
static bool make_move(struct explorer *explorer, struct walk_move move)
{
    struct look look = look_before(explorer, move);
    explorer->transitions++;
    if (!walk_do(&explorer->walk, move)) {
        explore_found(explorer);
        return false;
    }
    return look_after(explorer, look);
}

/* Does a move and explores its subtree. True: the state that it leads to can reach quiescence. */
static bool explore_follow(struct explorer *explorer, struct walk_move move)
{
    bool rests = make_move(explorer, move) && arrive(explorer, successors_after(explorer));
    walk_undo(&explorer->walk);
    return rests;
}

/* ---- local steps ----------------------------------------------------------------------------- */

/* A message other than the one in slot `own`, or a worker other than `actor`, concerns the
 * component. */
static bool has_company(struct explorer *explorer, unsigned actor, uint32_t own, uint32_t place)
{
    const struct run *run = &explorer->walk.run;
    uint64_t near = explorer->walk.same.places[place].near | 1; /* a message without a component may
                                                              concern any */
    if (has_bug(explorer, BUG_COMPANY)) {
        return false;
    }
    for (uint32_t q = 0; q < run->world.queue_count; q++) {
        uint32_t slot = run->world.queue[q];
        if (slot != own &&
            (near >> explorer->walk.same.shares[TABLE_MESSAGE][slot].place & 1) != 0) {
            return true;
        }
    }
    for (unsigned a = 0; a < run->actor_count; a++) {
        const struct performer *other = &run->actors[a].performer;
        if (a != actor && other->role->message != NULL && !other->role->is_idle(&other->actor) &&
            (near >> fingerprint_actor(&explorer->walk.same, a).place & 1) != 0) {
            return true;
        }
    }
    return false;
}

/* The slot of the message that an actor works on; ROW_NONE: it is gone, or its claim has expired,
 * so that any worker may take it. */
static uint32_t own_slot(const struct run *run, unsigned actor)
{
    const struct performer *performer = &run->actors[actor].performer;
    const struct rows *rows = &run->world.rows;
    uint32_t slot = row_find(rows, TABLE_MESSAGE, performer->role->message(&performer->actor)[0]);
    bool hidden =
        slot != ROW_NONE && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) > run->world.now;
    return hidden ? slot : ROW_NONE;
}

/* The component of the worker's next step if that may be local; 0: it is not. */
static uint32_t local_place(struct explorer *explorer, unsigned actor)
{
    struct run *run = &explorer->walk.run;
    struct performer peek = run->actors[actor].performer;
    uint32_t place = fingerprint_actor(&explorer->walk.same, actor).place;
    if (place == 0) {
        return 0;
    }
    performer_next(&peek, &run->rules, run->sabotage, &run->bundle);
    if (explorer->walk.left.unknowns > 0 && bundle_claims(&run->bundle)) {
        return 0; /* if its answer is lost, a claimed message of any component is lost, too */
    }
    switch (run->part->fingerprint->locality(&explorer->walk.same, &run->bundle)) {
    case LOCAL_ANYWAY:
        return place;
    case LOCAL_ALONE:
        return has_company(explorer, actor, own_slot(run, actor), place) ? 0 : place;
    case LOCAL_NOT:
        break;
    }
    return 0;
}

/* Does the step and returns true if it is local; else leaves everything as before. */
static bool step_locally(struct explorer *explorer, struct walk_move move)
{
    struct walk *walk = &explorer->walk;
    const struct fingerprint_hooks *hooks = walk->run.part->fingerprint;
    uint32_t place = local_place(explorer, move.actor);
    struct look look = {.place = place,
                        .rows = walk->run.world.rows.table[hooks->places_in].used,
                        .messages = walk->run.world.rows.table[TABLE_MESSAGE].used};
    size_t logged = walk->same.logged;
    if (place == 0 || walk_is_deep(walk)) {
        return false;
    }
    if (walk_do(walk, move) &&
        hooks->stayed(&walk->same, &walk->run.bundle, place, logged, look.rows) &&
        look_after(explorer, look)) {
        explorer->levels[walk->depth].fault_successors = successors_after(explorer);
        return true;
    }
    walk_undo(walk);
    return false;
}

static bool is_step_of_worker(const struct explorer *explorer, struct walk_move move)
{
    return move.kind == WALK_STEP && move.slot == WALK_NO_SLOT &&
           explorer->walk.run.actors[move.actor].performer.role->message != NULL;
}

/* Does the claim and the steps after it until the worker is idle, and returns true if all of them
 * are local; else leaves everything as before. */
static bool claim_locally(struct explorer *explorer, struct walk_move claim)
{
    struct walk *walk = &explorer->walk;
    const struct performer *worker = &walk->run.actors[claim.actor].performer;
    const struct walk_move step = {.kind = WALK_STEP, .actor = claim.actor, .slot = WALK_NO_SLOT};
    unsigned depth = walk->depth;
    uint32_t place = walk->same.shares[TABLE_MESSAGE][claim.slot].place;
    bool local = place != 0 && !walk_is_deep(walk) &&
                 walk->run.part->fingerprint->promises_locality(&walk->same, claim.slot) &&
                 !has_company(explorer, claim.actor, claim.slot, place) && walk_do(walk, claim);
    if (local) {
        explorer->levels[walk->depth].fault_successors = successors_after(explorer);
    }
    while (local && !worker->role->is_idle(&worker->actor)) {
        local = step_locally(explorer, step);
    }
    while (!local && walk->depth > depth) {
        explorer->levels[walk->depth].fault_successors.open = false;
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
static size_t candidates(struct explorer *explorer, const struct walk_move *moves, size_t sound,
                         struct candidate list[WALK_MOVES_MAX])
{
    struct fingerprint *same = &explorer->walk.same;
    size_t count = 0;
    for (size_t m = 0; m < sound; m++) {
        bool claim = moves[m].kind == WALK_STEP && moves[m].slot != WALK_NO_SLOT;
        if (!claim && !is_step_of_worker(explorer, moves[m])) {
            continue;
        }
        struct fingerprint_share share = claim ? same->shares[TABLE_MESSAGE][moves[m].slot]
                                               : fingerprint_actor(same, moves[m].actor);
        uint64_t rank = fingerprint_rank(same, share) >> 1 | (uint64_t)claim << 63;
        size_t at = count++;
        for (; at > 0 && list[at - 1].rank > rank; at--) {
            list[at] = list[at - 1];
        }
        list[at] = (struct candidate){.move = moves[m], .rank = rank};
    }
    return count;
}

size_t explore_moves(struct explorer *explorer, struct walk_move *moves, size_t *sound)
{
    size_t count = walk_moves(&explorer->walk, moves, sound);
    if (explorer->walk.crowded) {
        explore_finish_as(explorer->explore, EXPLORE_BOUNDED, TOO_MUCH);
    }
    return count;
}

/* Takes the first candidate that is an ample set: a worker's local step, else a claim with local
 * steps up to its end. False: there is none. Not inlined: its lists would lie on the stack once for
 * each level of the path. */
static __attribute__((noinline)) bool go_first(struct explorer *explorer)
{
    struct candidate list[WALK_MOVES_MAX];
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    explore_moves(explorer, moves, &sound);
    size_t count = candidates(explorer, moves, sound, list);
    for (size_t i = 0; i < count; i++) {
        if (list[i].move.slot != WALK_NO_SLOT ? claim_locally(explorer, list[i].move)
                                              : step_locally(explorer, list[i].move)) {
            return true;
        }
    }
    return false;
}

/* The undone step again, in its variants with a fault. */
static void try_variants(struct explorer *explorer, struct walk_move step)
{
    struct level *level = &explorer->levels[explorer->walk.depth];
    size_t sound, known, count = explore_moves(explorer, level->moves, &sound);
    level->kind.open = false;
    level->next = level->end = level->sound = 0;
    for (size_t m = sound; m < count; m++) {
        if (level->moves[m].actor == step.actor && level->moves[m].slot == step.slot) {
            add_move(explorer, level, level->moves[m]);
        }
    }
    try_all(explorer, level, &known);
}

/* Takes an ample set, if there is one, instead of all moves. States within a claim and its local
 * steps are not stored: each has one fault-free successor, besides its fault successors. */
static bool follow_first(struct explorer *explorer, bool *rests)
{
    struct walk *walk = &explorer->walk;
    unsigned depth = walk->depth;
    if (!is_ordered(explorer) || walk->left.lapses + walk->left.drags > 0 || !go_first(explorer)) {
        return false;
    }
    for (unsigned d = depth; d < walk->depth; d++) {
        explorer->levels[d].has_variants = walk_has_variants(walk);
        explorer->levels[d].state = d == depth ? explorer->levels[d].state : 0;
    }
    *rests = visit(explorer);
    uint64_t state = explorer->state;
    while (walk->depth > depth) {
        struct walk_move move = walk->records[walk->depth - 1].move;
        explorer->transitions++;
        finish_successors(explorer);
        walk_undo(walk);
        if (explorer->levels[walk->depth].has_variants) {
            explorer->levels[walk->depth].has_variants = false;
            try_variants(explorer, move);
        }
    }
    explorer->state = state;
    return true;
}

/* ---- a state --------------------------------------------------------------------------------- */

bool explore_goes_on(struct explorer *explorer)
{
    explorer->deepest =
        explorer->walk.depth > explorer->deepest ? explorer->walk.depth : explorer->deepest;
    if (walk_is_deep(&explorer->walk)) {
        explore_finish_as(explorer->explore, EXPLORE_BOUNDED, TOO_LONG);
    }
    if (explorer->walk.same.saturated) {
        explore_finish_as(explorer->explore, EXPLORE_BOUNDED, EXPLORE_NEAR_CEILING);
    }
    return !explore_stopped(explorer->explore);
}

bool explore_judge_rest(struct explorer *explorer)
{
    explorer->rests++;
    explore_note_end(explorer);
    if (!walk_settled(&explorer->walk)) {
        explore_found(explorer);
        explorer->walk.run.result.verdict = RUN_HELD;
        return false;
    }
    return true;
}

/* The state is on the current path. */
static bool is_on_way(const struct explorer *explorer, uint64_t state)
{
    for (unsigned depth = 0; depth <= explorer->walk.depth; depth++) {
        if (explorer->levels[depth].state == state) {
            return true;
        }
    }
    return false;
}

/* The cycle proviso: an ample set replaces all other moves, unless it leads back to a state on the
 * current path. There it could postpone the other moves for ever. */
static bool expand(struct explorer *explorer, uint64_t state)
{
    struct level *level = &explorer->levels[explorer->walk.depth];
    size_t known = 1;
    bool rests = false;
    level->state = state;
    if (follow_first(explorer, &rests) &&
        (rests || explore_stopped(explorer->explore) || !is_on_way(explorer, explorer->state))) {
        level->successors[0] = explorer->state;
    } else {
        level->next = 0;
        level->end = explore_moves(explorer, level->moves, &level->sound);
        level->kind.open = false;
        rests = level->sound == 0 && explore_judge_rest(explorer);
        rests = try_all(explorer, level, &known) || rests;
    }
    if (rests || has_bug(explorer, BUG_REST)) {
        visited_set_rests(&explorer->explore->visited, state);
    } else if (!explore_stopped(explorer->explore)) {
        explore_note_unrested(explorer, state, level->successors, known);
    }
    return rests;
}

/* Explores the walk's state, if it is new. True: it can reach quiescence. */
static bool visit(struct explorer *explorer)
{
    struct explore *explore = explorer->explore;
    bool rests = false;
    uint64_t state = walk_state(&explorer->walk);
    enum visited_answer answer = visited_add(&explore->visited, state, &rests);
    explorer->state = state;
    explorer->levels[explorer->walk.depth].state = state;
    if (answer != VISITED_NEW) {
        if (answer == VISITED_FULL) {
            explore_finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
        }
        return rests;
    }
    atomic_store_explicit(&explorer->states,
                          atomic_load_explicit(&explorer->states, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (state == explore->plan.target) {
        explore_reached(explorer);
    }
    if (!explore_goes_on(explorer)) {
        return false;
    }
    share(explorer);
    rests = expand(explorer, state);
    explorer->state = state;
    return rests;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Replays the path of the work item. What counts transactions counted them when the path was first
 * explored. */
static void go_to_item(struct explorer *explorer)
{
    struct oracle *oracle = &explorer->walk.run.oracle;
    uint64_t evaluated[CLAUSE_COUNT], seen[COVER_COUNT];
    memcpy(evaluated, oracle->evaluated, sizeof evaluated);
    memcpy(seen, oracle->seen, sizeof seen);
    uint64_t spoiled = explorer->walk.spoiled;
    walk_go(&explorer->walk, explorer->item.way, explorer->item.length);
    for (unsigned depth = 0; depth <= explorer->item.length; depth++) {
        explorer->levels[depth].state = 0; /* that part of the path belongs to the other thread */
    }
    memcpy(oracle->evaluated, evaluated, sizeof evaluated);
    memcpy(oracle->seen, seen, sizeof seen);
    explorer->walk.spoiled = spoiled;
}

static bool take_item(struct explorer *explorer)
{
    struct explore *explore = explorer->explore;
    explore_lock(explore);
    bool there = explore->item_count > 0;
    if (there) {
        const struct work_item *item = &explore->items[--explore->item_count];
        memcpy(&explorer->item, item, offsetof(struct work_item, way));
        memcpy(explorer->item.way, item->way, item->length * sizeof *item->way);
    }
    explore_unlock(explore);
    return there;
}

static void run_item(struct explorer *explorer)
{
    const struct work_item *item = &explorer->item;
    go_to_item(explorer);
    switch (item->kind) {
    case ITEM_MOVE: {
        bool rests = explore_follow(explorer, item->move);
        if (item->sound && rests) {
            visited_set_rests(&explorer->explore->visited, item->state);
        } else if (item->sound) {
            explore_note_unrested(explorer, item->state, &explorer->state, 1);
        }
        break;
    }
    case ITEM_MISHAP:
        have_successor(explorer, item->move, item->fault_successors);
        break;
    case ITEM_TROUBLE:
        have_successors(explorer, item->fault_successors);
        break;
    case ITEM_VARIANTS:
        try_variants(explorer, item->move);
        break;
    }
}

/* The first thread begins at the root, which was added when the search was made. */
void explore_join(struct explore *explore, unsigned job)
{
    struct explorer *explorer = &explore->explorers[job];
    if (job == 0 && !explore_stopped(explore)) {
        expand(explorer, walk_state(&explorer->walk));
    }
    bool working = job == 0;
    do {
        if (working) {
            atomic_fetch_add(&explore->wanted, 1);
            atomic_fetch_sub(&explore->busy, 1);
        }
        working = take_item(explorer);
        if (working && !has_bug(explorer, BUG_ITEM)) {
            run_item(explorer);
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

static bool make_explorer(struct explore *explore, struct explorer *explorer)
{
    explorer->explore = explore;
    explorer->levels = calloc(WALK_DEPTH_MAX + 1, sizeof *explorer->levels);
    bool made = explorer->levels != NULL && walk_make(&explorer->walk, &explore->plan.walk);
    for (unsigned set = 0; made && set < EXPLORE_ENDS_SETS; set++) {
        made = fingerprint_make(&explorer->ends[set], &explorer->walk.run, set * REDUCE_SIBLINGS);
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
        struct explorer *explorer = &explore->explorers[j];
        walk_free(&explorer->walk);
        for (unsigned set = 0; set < EXPLORE_ENDS_SETS; set++) {
            fingerprint_free(&explorer->ends[set]);
        }
        free(explorer->levels);
        free(explorer->notes.items);
    }
    free(explore->items);
    free(explore->ends);
    visited_free(&explore->visited);
    free(explore->report.path);
    free(explore);
}
