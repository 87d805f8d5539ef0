#include "sim/explore.h"

#include "model/check.h"
#include "sim/part.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define BOATS_MAX  64        /* states on their way from one thread to another */
#define ENDS_MAX   (1 << 16) /* different ends that are told apart, a power of two */
#define PATIENCE   8         /* states for each level deeper that something is handed over from */
#define BOATS_EACH 2         /* for each thread but one */
#define IDLE_NS    20000     /* until a thread with nothing to do looks again */

#define NO_MEMORY "memory for the states seen ran out"
#define TOO_LONG  "a schedule was too long"
#define TOO_MUCH  "too much could happen at once"

/* A state that is handed over. */
enum boat_state { BOAT_FREE, BOAT_BUSY, BOAT_FULL };

struct boat {
    atomic_int state; /* enum boat_state */
    struct walk walk;
    struct walk_move *path;
    size_t length;
};

/* Numbers that grow. */
struct words {
    uint64_t *items;
    size_t count, capacity;
};

/* What a state on the way can go on to. Not on the stack: a way may be WALK_DEPTH_MAX long. */
struct level {
    struct walk_move moves[WALK_MOVES_MAX];
    uint64_t successors[WALK_MOVES_MAX];
};

/* One thread's part of a search. */
struct explorer {
    struct explore *explore;
    struct walk walk;
    struct level *levels;     /* by depth of the walk */
    struct sameness ends;     /* rows alone, all that is exchangeable exchanged */
    struct walk_move *prefix; /* the way to where the walk began */
    size_t prefix_length;
    bool backwards;              /* it tries the moves of a state from the last one on */
    bool counts;                 /* transitions are counted: the state was new to all threads */
    atomic_uint_fast64_t states; /* that it visited first; others look at it */
    uint64_t transitions, rests;
    unsigned deepest;
    struct words notes; /* of states not known to rest: count of successors, state, successors */
    uint64_t state;     /* of the state that was visited last */
    unsigned patience;  /* states visited since another thread began to wait for work */
};

struct explore {
    struct explore_plan plan;
    struct visited visited;
    struct explorer explorers[EXPLORE_JOBS_MAX];
    struct boat boats[BOATS_MAX];
    int boat_count;
    atomic_uint busy;   /* threads at work and boats that are full */
    atomic_uint hungry; /* threads with nothing to do */
    atomic_bool stop;
    atomic_flag lock; /* of what follows */
    uint64_t ends[ENDS_MAX];
    uint64_t end_count, end_sum;
    struct explore_report report;
};

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

static void finish_as(struct explore *explore, enum explore_verdict verdict, const char *why)
{
    lock(explore);
    if (explore->report.verdict == EXPLORE_HELD) {
        explore->report.verdict = verdict;
        explore->report.why = why;
    }
    unlock(explore);
    atomic_store(&explore->stop, true);
}

/* The way to the walk's state, as the report's. */
static void keep_path(struct explorer *one)
{
    struct explore_report *report = &one->explore->report;
    size_t length = one->prefix_length + one->walk.depth;
    free(report->path);
    report->path = malloc((length + 1) * sizeof *report->path);
    CHECK(report->path != NULL);
    memcpy(report->path, one->prefix, one->prefix_length * sizeof *report->path);
    for (unsigned d = 0; d < one->walk.depth; d++) {
        report->path[one->prefix_length + d] = one->walk.frames[d].move;
    }
    report->path_length = length;
}

/* The move that was done last went wrong. */
static void found(struct explorer *one)
{
    struct explore *explore = one->explore;
    if (one->walk.run.result.verdict == RUN_STORE_FULL) {
        finish_as(explore, EXPLORE_BOUNDED, "the simulated store was full");
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

static bool stopped(const struct explore *explore)
{
    return atomic_load_explicit(&explore->stop, memory_order_relaxed);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void note_end(struct explorer *one)
{
    struct explore *explore = one->explore;
    uint64_t end = sameness_rows(&one->ends);
    lock(explore);
    size_t at = (size_t)end & (ENDS_MAX - 1);
    while (explore->ends[at] != 0 && explore->ends[at] != end) {
        at = (at + 1) & (ENDS_MAX - 1);
    }
    if (explore->ends[at] == 0 && explore->end_count < ENDS_MAX / 2) {
        explore->ends[at] = end;
        explore->end_count++;
        explore->end_sum += end;
    }
    unlock(explore);
}

/* ---- notes on liveness ----------------------------------------------------------------------- */

static void push(struct words *words, uint64_t word)
{
    if (words->count == words->capacity) {
        words->capacity = words->capacity == 0 ? 1024 : 2 * words->capacity;
        words->items = realloc(words->items, words->capacity * sizeof *words->items);
        CHECK(words->items != NULL);
    }
    words->items[words->count++] = word;
}

static void note_unrested(struct explorer *one, uint64_t state, const uint64_t *successors,
                          size_t count)
{
    push(&one->notes, count);
    push(&one->notes, state);
    for (size_t i = 0; i < count; i++) {
        push(&one->notes, successors[i]);
    }
}

/* One pass over a thread's notes; true: something changed. */
static bool settle_notes(struct explore *explore, struct words *notes)
{
    size_t kept = 0, at = 0;
    while (at < notes->count) {
        size_t count = notes->items[at], size = 2 + count;
        bool rests = false;
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

/* ---- the search ------------------------------------------------------------------------------ */

static bool visit(struct explorer *one);

/* Puts the walk's state where a thread that has nothing to do finds it. False: enough lies there.
 */
static bool hand_over(struct explorer *one)
{
    struct explore *explore = one->explore;
    if (atomic_load_explicit(&explore->hungry, memory_order_relaxed) == 0) {
        one->patience = 0;
        return false;
    }
    if (one->walk.depth > one->patience++ / PATIENCE) {
        return false; /* what lies deep is soon done: rather something nearer to the root */
    }
    one->patience = 0;
    if (one->prefix_length + one->walk.depth > EXPLORE_PATH_MAX) {
        return false;
    }
    for (int b = 0; b < explore->boat_count; b++) {
        struct boat *boat = &explore->boats[b];
        int expected = BOAT_FREE;
        if (atomic_compare_exchange_strong(&boat->state, &expected, BOAT_BUSY)) {
            walk_copy(&boat->walk, &one->walk);
            boat->length = one->prefix_length + one->walk.depth;
            memcpy(boat->path, one->prefix, one->prefix_length * sizeof *boat->path);
            for (unsigned d = 0; d < one->walk.depth; d++) {
                boat->path[one->prefix_length + d] = one->walk.frames[d].move;
            }
            atomic_fetch_add(&explore->busy, 1);
            atomic_store(&boat->state, BOAT_FULL);
            return true;
        }
    }
    return false;
}

/* Copies of the messages in slots `first` to `last`, as many as may be, in every combination. */
static void with_duplicates(struct explorer *one, uint32_t first, uint32_t last)
{
    struct walk *walk = &one->walk;
    for (uint32_t slot = first; slot < last && walk->left.duplicates > 0 && !stopped(one->explore);
         slot++) {
        one->transitions += one->counts;
        if (!walk_do(walk, (struct walk_move){.kind = WALK_DUPLICATE, .slot = (uint16_t)slot})) {
            found(one);
        } else {
            visit(one);
            with_duplicates(one, slot, last);
        }
        walk_undo(walk);
    }
}

/* It dies. */
static void with_crash(struct explorer *one, unsigned actor, uint32_t first, uint32_t last)
{
    struct walk *walk = &one->walk;
    one->transitions += one->counts;
    if (!walk_do(walk, (struct walk_move){
                           .kind = WALK_CRASH, .actor = (uint8_t)actor, .slot = WALK_NO_SLOT})) {
        found(one);
    } else {
        visit(one);
        with_duplicates(one, first, last);
    }
    walk_undo(walk);
}

/* Everything that may go wrong right after the move that was done last, in one go with it. A claim
 * that is lost at once was no claim, and costs a crash. When time has moved on, anybody may die of
 * it and anything come twice: earlier, it would have had something to do, and time would have stood
 * still. */
static void with_trouble(struct explorer *one)
{
    struct walk *walk = &one->walk;
    const struct walk_frame *frame = &walk->frames[walk->depth - 1];
    uint32_t last = walk->run.world.rows.table[TABLE_MESSAGE].used;
    struct walk_move move = frame->move;
    bool claims = walk->run.part->sameness != NULL && move.slot != WALK_NO_SLOT &&
                  !walk_rides(move, &frame->performer);
    bool later = move.slot == WALK_NO_SLOT && (move.kind == WALK_WAIT || move.kind == WALK_LAPSE);
    uint32_t first = later ? 0 : frame->messages;
    if ((walk->plan.reductions & REDUCE_ORDER) == 0 || stopped(one->explore)) {
        return;
    }
    with_duplicates(one, first, last);
    for (unsigned a = 0; a < walk->run.actor_count && !stopped(one->explore); a++) {
        if (walk->left.crashes > 0 && (later || (a == move.actor && !claims)) &&
            walk_can_crash(walk, a)) {
            with_crash(one, a, first, last);
        }
    }
}

/* Places that matter to the order of moves. */
static bool is_ordered(const struct explorer *one)
{
    const struct walk *walk = &one->walk;
    return (walk->plan.reductions & REDUCE_ORDER) != 0 && walk->same.place_count > 1;
}

/* What the search relies on when it puts local steps first, that nobody names rows of another
 * place, is not taken for granted: every transaction is looked at. */
struct look {
    uint32_t place; /* of whoever makes the move; 0: of no interest */
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
        finish_as(one->explore, EXPLORE_BOUNDED, EXPLORE_REACHES_OUT);
        return false;
    }
    return true;
}

/* Does a move; false: the search is over. */
static bool make_move(struct explorer *one, struct walk_move move)
{
    struct look look = look_before(one, move);
    one->transitions += one->counts;
    if (!walk_do(&one->walk, move)) {
        found(one);
        return false;
    }
    return look_after(one, look);
}

/* Does a move and everything behind it. True: the state it leads to can rest. */
static bool follow(struct explorer *one, struct walk_move move)
{
    bool rests = false;
    if (make_move(one, move)) {
        rests = visit(one);
        uint64_t state = one->state;
        with_trouble(one);
        one->state = state;
    }
    walk_undo(&one->walk);
    return rests;
}

/* ---- local steps ----------------------------------------------------------------------------- */

/* A message other than the one in slot `own`, or a worker other than `actor`, is about the place.
 */
static bool has_company(struct explorer *one, unsigned actor, uint32_t own, uint32_t place)
{
    const struct run *run = &one->walk.run;
    uint64_t near = one->walk.same.places[place].near | 1; /* what is nowhere may be anywhere */
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

/* The slot of the message that an actor is about; ROW_NONE: it is gone, or the claim has run out,
 * so that it is anybody's. */
static uint32_t own_slot(const struct run *run, unsigned actor)
{
    const struct performer *one = &run->actors[actor].performer;
    const struct rows *rows = &run->world.rows;
    uint32_t slot = row_find(rows, TABLE_MESSAGE, one->role->message(&one->actor)[0]);
    bool hidden =
        slot != ROW_NONE && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) > run->world.now;
    return hidden ? slot : ROW_NONE;
}

/* What the worker does next may be a local step; its place, or 0: it is none. */
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
        return 0; /* if its answer is lost, so is a message of anywhere that it claimed */
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

/* Does the step if it is local, and says so; else everything is as before. */
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

/* From the claim on, the worker takes local steps only, and is idle again; else everything is as
 * before. */
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
    while (local && !worker->role->is_idle(&worker->actor)) {
        local = step_locally(one, step);
    }
    while (!local && walk->depth > depth) {
        walk_undo(walk);
    }
    return local;
}

/* A move that may go before all others, perhaps. */
struct candidate {
    struct walk_move move;
    uint64_t rank; /* does not tell exchangeable places apart */
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

/* What can happen; if that is too much, the search is over. */
static size_t list_moves(struct explorer *one, struct walk_move *moves, size_t *sound)
{
    size_t count = walk_moves(&one->walk, moves, sound);
    if (one->walk.crowded) {
        finish_as(one->explore, EXPLORE_BOUNDED, TOO_MUCH);
    }
    return count;
}

/* Takes the first of the moves that may go before all others: a worker's local step, else a claim
 * with local steps to its end. False: there is none. */
static bool go_first(struct explorer *one)
{
    struct candidate list[WALK_MOVES_MAX];
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    list_moves(one, moves, &sound);
    size_t count = candidates(one, moves, sound, list);
    for (size_t i = 0; i < count; i++) {
        if (list[i].move.slot != WALK_NO_SLOT ? claim_locally(one, list[i].move)
                                              : step_locally(one, list[i].move)) {
            return true;
        }
    }
    return false;
}

/* The step that was taken back, with something wrong with it. */
static void with_variants(struct explorer *one, struct walk_move step)
{
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound, count = list_moves(one, moves, &sound);
    for (size_t m = sound; m < count && !stopped(one->explore); m++) {
        if (moves[m].actor == step.actor && moves[m].slot == step.slot) {
            follow(one, moves[m]);
        }
    }
}

/* If there is a move that may go first it is taken instead of all others. States within a claim and
 * its local steps are not kept: each has one way on, and what may go wrong on it. */
static bool follow_first(struct explorer *one, bool *rests)
{
    struct walk *walk = &one->walk;
    unsigned depth = walk->depth;
    if (!is_ordered(one) || walk->left.lapses > 0) {
        return false;
    }
    if (!go_first(one)) {
        return false;
    }
    *rests = visit(one);
    uint64_t state = one->state;
    while (walk->depth > depth) {
        struct walk_move move = walk->frames[walk->depth - 1].move;
        one->transitions += one->counts;
        with_trouble(one);
        walk_undo(walk);
        with_variants(one, move);
    }
    one->state = state;
    return true;
}

/* ---- a state --------------------------------------------------------------------------------- */

static void note_depth(struct explorer *one)
{
    unsigned depth = (unsigned)one->prefix_length + one->walk.depth;
    one->deepest = depth > one->deepest ? depth : one->deepest;
}

/* Nothing but faults can happen. */
static bool judge_rest(struct explorer *one)
{
    one->rests++;
    note_end(one);
    if (!walk_settled(&one->walk)) {
        found(one);
        one->walk.run.result.verdict = RUN_HELD;
        return false;
    }
    return true;
}

static bool expand(struct explorer *one, uint64_t state)
{
    struct walk_move *moves = one->levels[one->walk.depth].moves;
    uint64_t *successors = one->levels[one->walk.depth].successors;
    size_t sound, known = 0;
    bool rests = false;
    if (follow_first(one, &rests)) {
        successors[known++] = one->state;
    } else {
        size_t count = list_moves(one, moves, &sound);
        rests = sound == 0 && judge_rest(one);
        for (size_t i = 0; i < count && !stopped(one->explore); i++) {
            size_t m = one->backwards ? count - 1 - i : i;
            bool rested = follow(one, moves[m]);
            if (m < sound) {
                rests = rests || rested;
                successors[known++] = one->state;
            }
        }
    }
    if (rests) {
        visited_set_rests(&one->explore->visited, state);
    } else if (!stopped(one->explore)) {
        note_unrested(one, state, successors, known);
    }
    return rests;
}

/* The walk's state, and everything from there, if nobody was here before. True: it can rest. */
static bool visit(struct explorer *one)
{
    struct explore *explore = one->explore;
    bool rests = false;
    uint64_t state = walk_state(&one->walk);
    enum visited_answer answer = visited_add(&explore->visited, state, &rests);
    one->state = state;
    if (answer != VISITED_NEW) {
        if (answer == VISITED_FULL) {
            finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
        }
        return rests;
    }
    atomic_store_explicit(&one->states,
                          atomic_load_explicit(&one->states, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (state == explore->plan.target) {
        finish_as(explore, EXPLORE_STUCK, NULL);
        keep_path(one);
    }
    note_depth(one);
    if (walk_is_deep(&one->walk)) {
        finish_as(explore, EXPLORE_BOUNDED, TOO_LONG);
    }
    if (one->walk.same.saturated) {
        finish_as(explore, EXPLORE_BOUNDED, EXPLORE_NEAR_CEILING);
    }
    if (stopped(explore) || hand_over(one)) {
        return false;
    }
    bool counts = one->counts;
    one->counts = true;
    rests = expand(one, state);
    one->counts = counts;
    one->state = state;
    return rests;
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool take_boat(struct explorer *one)
{
    struct explore *explore = one->explore;
    for (int b = 0; b < explore->boat_count; b++) {
        struct boat *boat = &explore->boats[b];
        int expected = BOAT_FULL;
        if (atomic_compare_exchange_strong(&boat->state, &expected, BOAT_BUSY)) {
            walk_copy(&one->walk, &boat->walk);
            memcpy(one->prefix, boat->path, boat->length * sizeof *one->prefix);
            one->prefix_length = boat->length;
            atomic_store(&boat->state, BOAT_FREE);
            return true;
        }
    }
    return false;
}

/* Every thread begins at the root, which was added when the search was made; each goes its own way
 * from there, and where one has been another does not go. What is done at the root counts once. */
static void begin(struct explorer *one, unsigned job)
{
    one->backwards = job % 2 == 1;
    one->counts = job == 0;
    if (!stopped(one->explore)) {
        expand(one, walk_state(&one->walk));
    }
}

void explore_join(struct explore *explore, unsigned job)
{
    struct explorer *one = &explore->explorers[job];
    begin(one, job);
    atomic_fetch_sub(&explore->busy, 1);
    atomic_fetch_add(&explore->hungry, 1);
    while (atomic_load(&explore->busy) > 0 && !stopped(explore)) {
        if (take_boat(one)) {
            atomic_fetch_sub(&explore->hungry, 1);
            one->counts = true;
            expand(one, walk_state(&one->walk));
            atomic_fetch_sub(&explore->busy, 1);
            atomic_fetch_add(&explore->hungry, 1);
        } else {
            thrd_sleep(&(struct timespec){.tv_nsec = IDLE_NS}, NULL);
        }
    }
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
    finish_as(explore, EXPLORE_BOUNDED, "it was interrupted");
}

/* ---- making ---------------------------------------------------------------------------------- */

static bool make_explorer(struct explore *explore, struct explorer *one)
{
    one->explore = explore;
    one->prefix = malloc(EXPLORE_PATH_MAX * sizeof *one->prefix);
    one->levels = malloc(WALK_DEPTH_MAX * sizeof *one->levels);
    if (one->prefix == NULL || one->levels == NULL || !walk_make(&one->walk, &explore->plan.walk) ||
        !sameness_make(&one->ends, &one->walk.run, REDUCE_ALL)) {
        return false;
    }
    return true;
}

static bool make_boat(struct explore *explore, struct boat *boat)
{
    boat->path = malloc(EXPLORE_PATH_MAX * sizeof *boat->path);
    return boat->path != NULL && walk_make(&boat->walk, &explore->plan.walk);
}

/* Those that may be made. What is open names rows and actors as they are. A named bug may go by a
 * counter; one that writes back what it read on the sly, beside its transactions, keeps counters
 * and looks anywhere. */
static unsigned sound_reductions(const struct walk_plan *plan)
{
    unsigned reductions = plan->reductions;
    if (plan->by_statement) {
        reductions &= REDUCE_COUNTERS;
    }
    if (plan->sabotage != NULL && plan->sabotage->kind == SABOTAGE_NAMED) {
        reductions &= ~(unsigned)REDUCE_COUNTERS;
    }
    if (plan->sabotage != NULL && plan->sabotage->kind == SABOTAGE_STALE) {
        reductions &= ~(unsigned)(REDUCE_COUNTERS | REDUCE_ORDER);
    }
    return reductions;
}

struct explore *explore_make(const struct explore_plan *plan)
{
    struct explore *explore = calloc(1, sizeof *explore);
    if (explore == NULL || !visited_make(&explore->visited, plan->memory)) {
        free(explore);
        return NULL;
    }
    explore->plan = *plan;
    explore->plan.walk.reductions = sound_reductions(&plan->walk);
    explore->report.reductions = explore->plan.walk.reductions;
    CHECK(plan->jobs >= 1 && plan->jobs <= EXPLORE_JOBS_MAX);
    bool made = true;
    for (unsigned j = 0; made && j < plan->jobs; j++) {
        made = make_explorer(explore, &explore->explorers[j]);
    }
    unsigned boats = BOATS_EACH * (plan->jobs - 1);
    for (unsigned b = 0; made && b < boats && b < BOATS_MAX; b++) {
        made = make_boat(explore, &explore->boats[explore->boat_count++]);
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
        finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
    }
    atomic_store(&explore->busy, plan->jobs);
    return explore;
}

void explore_free(struct explore *explore)
{
    for (unsigned j = 0; j < explore->plan.jobs; j++) {
        struct explorer *one = &explore->explorers[j];
        walk_free(&one->walk);
        sameness_free(&one->ends);
        free(one->levels);
        free(one->prefix);
        free(one->notes.items);
    }
    for (int b = 0; b < explore->boat_count; b++) {
        if (explore->boats[b].path != NULL) {
            walk_free(&explore->boats[b].walk);
            free(explore->boats[b].path);
        }
    }
    visited_free(&explore->visited);
    free(explore->report.path);
    free(explore);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void add_up(struct explore *explore)
{
    struct explore_report *report = &explore->report;
    report->states = visited_count(&explore->visited);
    report->bytes = visited_bytes(&explore->visited);
    report->ends = explore->end_count;
    report->end_sum = explore->end_sum;
    for (unsigned j = 0; j < explore->plan.jobs; j++) {
        const struct explorer *one = &explore->explorers[j];
        report->transitions += one->transitions;
        for (int c = 0; c < CLAUSE_COUNT; c++) {
            report->evaluated[c] += one->walk.run.oracle.evaluated[c];
        }
        for (int s = 0; s < SIGHT_COUNT; s++) {
            report->seen[s] += one->walk.run.oracle.seen[s];
        }
        report->rests += one->rests;
        report->deepest = one->deepest > report->deepest ? one->deepest : report->deepest;
    }
}

/* Notes are gone over until nothing changes. True: some states are left that cannot rest. */
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

const struct explore_report *explore_finish(struct explore *explore)
{
    add_up(explore);
    if (explore->report.verdict == EXPLORE_HELD && some_cannot_rest(explore)) {
        explore->report.verdict = EXPLORE_STUCK;
        for (unsigned j = 0; j < explore->plan.jobs && explore->report.stuck == 0; j++) {
            const struct words *notes = &explore->explorers[j].notes;
            explore->report.stuck = notes->count > 0 ? notes->items[1] : 0;
        }
    }
    return &explore->report;
}

/* ---- breadth first --------------------------------------------------------------------------- */

struct node {
    uint32_t parent;
    struct walk_move move;
};

struct breadth {
    struct explorer *one;
    struct node *nodes;
    size_t count, capacity;
};

static bool add_node(struct breadth *breadth, uint32_t parent, struct walk_move move)
{
    if (breadth->count == breadth->capacity) {
        size_t more = breadth->capacity == 0 ? 4096 : 2 * breadth->capacity;
        size_t bytes = more * sizeof *breadth->nodes;
        bool fits = bytes <= breadth->one->explore->plan.memory && more < UINT32_MAX;
        struct node *nodes = fits ? realloc(breadth->nodes, bytes) : NULL;
        if (nodes == NULL) {
            finish_as(breadth->one->explore, EXPLORE_BOUNDED, "memory for the way back ran out");
            return false;
        }
        breadth->nodes = nodes;
        breadth->capacity = more;
    }
    breadth->nodes[breadth->count++] = (struct node){.parent = parent, .move = move};
    return true;
}

/* Back to where the ways to here and to the node part, and on to the node: its brothers and sisters
 * came just before it, so that this is mostly one move. */
static void go_to(struct breadth *breadth, size_t node)
{
    struct walk *walk = &breadth->one->walk;
    struct walk_move way[WALK_DEPTH_MAX];
    unsigned length = 0, common = 0;
    for (size_t n = node; n != 0; n = breadth->nodes[n].parent) {
        way[WALK_DEPTH_MAX - ++length] = breadth->nodes[n].move;
    }
    const struct walk_move *moves = &way[WALK_DEPTH_MAX - length];
    while (common < length && common < walk->depth &&
           memcmp(&moves[common], &walk->frames[common].move, sizeof *moves) == 0) {
        common++;
    }
    while (walk->depth > common) {
        walk_undo(walk);
    }
    while (walk->depth < length) {
        bool held = walk_do(walk, moves[walk->depth]);
        CHECK(held);
    }
}

/* The state that the move led to. */
static void meet(struct breadth *breadth, uint32_t node, struct walk_move move)
{
    struct explore *explore = breadth->one->explore;
    bool known;
    switch (visited_add(&explore->visited, walk_state(&breadth->one->walk), &known)) {
    case VISITED_NEW:
        add_node(breadth, node, move);
        break;
    case VISITED_FULL:
        finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
        break;
    case VISITED_KNOWN:
        break;
    }
}

static void look_around(struct breadth *breadth, uint32_t node)
{
    struct explorer *one = breadth->one;
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    go_to(breadth, node);
    note_depth(one);
    if (walk_is_deep(&one->walk)) {
        finish_as(one->explore, EXPLORE_BOUNDED, TOO_LONG);
        return;
    }
    if (one->walk.same.saturated) {
        finish_as(one->explore, EXPLORE_BOUNDED, EXPLORE_NEAR_CEILING);
        return;
    }
    size_t count = walk_moves(&one->walk, moves, &sound);
    if (one->walk.crowded) {
        finish_as(one->explore, EXPLORE_BOUNDED, TOO_MUCH);
        return;
    }
    if (sound == 0) {
        judge_rest(one);
    }
    for (size_t m = 0; m < count && !stopped(one->explore); m++) {
        one->transitions += one->counts;
        if (!walk_do(&one->walk, moves[m])) {
            found(one);
        } else {
            meet(breadth, node, moves[m]);
        }
        walk_undo(&one->walk);
    }
}

void explore_shortest(struct explore *explore)
{
    struct breadth breadth = {.one = &explore->explorers[0]};
    struct walk *walk = &breadth.one->walk;
    breadth.one->counts = true;
    CHECK((walk->plan.reductions & REDUCE_ORDER) == 0);
    bool room = add_node(&breadth, 0, (struct walk_move){0});
    for (size_t node = 0; room && node < breadth.count && !stopped(explore); node++) {
        look_around(&breadth, (uint32_t)node);
        atomic_store_explicit(&breadth.one->states, breadth.count, memory_order_relaxed);
    }
    free(breadth.nodes);
}

/* ---- the nearest way that passes ------------------------------------------------------------- */

/* The plainest way on, until nothing but faults can happen. */
static bool rests_from_here(struct walk *walk)
{
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound = 1;
    while (!walk_is_deep(walk)) {
        walk_moves(walk, moves, &sound);
        if (sound == 0) {
            bool held = walk_settled(walk);
            walk->run.result.verdict = RUN_HELD;
            return held;
        }
        if (!walk_do(walk, moves[0])) {
            return false;
        }
    }
    return false;
}

static void back_to(struct walk *walk, unsigned depth)
{
    while (walk->depth > depth) {
        walk_undo(walk);
    }
}

bool explore_nearest(struct walk *walk, const struct walk_move *path, size_t length,
                     struct walk_move *passing, size_t *passing_length)
{
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    walk_begin(walk);
    for (size_t i = 0; i + 1 < length; i++) {
        walk_do(walk, path[i]);
    }
    for (size_t part = length; part-- > 0;) {
        back_to(walk, (unsigned)part);
        walk_moves(walk, moves, &sound);
        for (size_t m = 0; m < sound; m++) {
            if (memcmp(&moves[m], &path[part], sizeof *moves) != 0 && walk_do(walk, moves[m]) &&
                rests_from_here(walk)) {
                *passing_length = walk->depth;
                for (unsigned d = 0; d < walk->depth; d++) {
                    passing[d] = walk->frames[d].move;
                }
                return true;
            }
            back_to(walk, (unsigned)part);
        }
    }
    return false;
}
