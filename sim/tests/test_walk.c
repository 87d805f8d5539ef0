/* A walk goes back to where it was, whatever it did meanwhile. Random walks through every protocol,
 * whole transactions and interleaved ones, with everything that may go wrong. */
#include "sim/walk.h"

#include "scenarios/pcg.h"
#include "sim/tests/print.h"
#include "sim/tests/scopes.h"

#define STEPS     2000 /* of one walk, those back included */
#define DEPTH_MAX 400

static const struct {
    const char *name, *yaml, *sabotage;
} cases[] = {
    {"chain", SCOPE_CHAIN, NULL},
    {"fork", SCOPE_FORK, NULL},
    {"pair without hop", SCOPE_PAIR, NULL},
    {"pending", SCOPE_PENDING, NULL},
    {"cycle", SCOPE_CYCLE, NULL},
    {"merged fork", SCOPE_MERGED_FORK, NULL},
    {"merged pending", SCOPE_MERGED_PENDING, NULL},
    {"legacy", SCOPE_LEGACY, NULL},
    {"called again", SCOPE_AGAIN, NULL},
    {"key", SCOPE_KEY, NULL},
    {"pipeline", SCOPE_PIPELINE, NULL},
    {"seq", SCOPE_SEQ, NULL},
    {"inbox", SCOPE_INBOX, NULL},
    /* planted bugs keep something of their own, break promises, or tear transactions */
    {"read-then-write", SCOPE_FORK, "read-then-write"},
    {"unbundled-step2", SCOPE_FORK, "unbundled-step2"},
    {"torn-rollback", SCOPE_CHAIN, "torn-rollback"},
};
#define CASES COUNT(cases)

TestSuite(walk, .timeout = 300);

/* ---- a state, in full ------------------------------------------------------------------------ */

struct state {
    uint64_t fingerprint;
    uint64_t rows;
    uint64_t ghosts, queue;
    int64_t now;
    uint32_t copies;
    struct walk_bounds left;
    struct performer performers[RUN_ACTORS_MAX];
    uint8_t sessions[RUN_ACTORS_MAX];
    size_t count, sound;
    struct walk_move moves[WALK_MOVES_MAX];
};

static uint64_t hash_ghosts(const struct run *run)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < run->oracle.ghosts.count; i++) {
        hash = fingerprint_mix(hash, (uint64_t)run->ghosts[i]);
    }
    return hash;
}

/* Which messages there are, whatever the shape of the heap. */
static uint64_t hash_queue(const struct world *world)
{
    uint64_t hash = 0;
    for (uint32_t q = 0; q < world->queue_count; q++) {
        hash += fingerprint_finish(world->queue[q] + UINT64_C(1));
    }
    return hash;
}

static void note_state(struct walk *walk, struct state *state)
{
    struct run *run = &walk->run;
    memset(state, 0, sizeof *state);
    state->fingerprint = walk_state(walk);
    state->rows = print_of(&run->world);
    state->ghosts = hash_ghosts(run);
    state->queue = hash_queue(&run->world);
    state->now = run->world.now;
    state->copies = run->copies;
    state->left = walk->left;
    for (unsigned a = 0; a < run->actor_count; a++) {
        memcpy(&state->performers[a], &run->actors[a].performer, sizeof state->performers[a]);
        state->sessions[a] = run->sessions->each[a].state;
    }
    state->count = walk_moves(walk, state->moves, &state->sound);
}

/* To the last byte: a search takes what differs anywhere for another state. */
static bool same(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

/* What differs; NULL: nothing. */
static const char *difference(const struct state *one, const struct state *other)
{
    return one->rows != other->rows                                            ? "rows"
           : one->ghosts != other->ghosts                                      ? "memories"
           : one->queue != other->queue                                        ? "the queue"
           : one->now != other->now                                            ? "the clock"
           : one->copies != other->copies                                      ? "copies made"
           : !same(&one->left, &other->left, sizeof one->left)                 ? "budgets"
           : !same(one->performers, other->performers, sizeof one->performers) ? "actors"
           : !same(one->sessions, other->sessions, sizeof one->sessions)       ? "sessions"
           : one->fingerprint != other->fingerprint                            ? "the fingerprint"
           : one->count != other->count || one->sound != other->sound          ? "how many moves"
           : !same(one->moves, other->moves, one->count * sizeof *one->moves)  ? "moves"
                                                                               : NULL;
}

static void expect_same(const char *name, const char *when, const struct state *one,
                        const struct state *other)
{
    const char *what = difference(one, other);
    cr_assert_null(what, "%s, %s: %s", name, when, what);
}

/* ---- a random walk --------------------------------------------------------------------------- */

struct ramble {
    const char *name;
    struct walk walk, twin; /* the twin comes to where the other is now and then */
    struct state *states;   /* by depth */
    struct pcg pcg;
    unsigned kinds[WALK_KIND_COUNT]; /* how often each was done */
};

/* By itself, as a thread that is given something to do goes there. */
static void bring_twin(struct ramble *ramble)
{
    static struct walk_move way[DEPTH_MAX];
    for (unsigned d = 0; d < ramble->walk.depth; d++) {
        way[d] = ramble->walk.records[d].move;
    }
    walk_go(&ramble->twin, way, ramble->walk.depth);
}

/* Forward and back and forward again comes to the same; the twin comes there, too. */
static void try_twice(struct ramble *ramble, struct walk_move move, bool held)
{
    struct walk *walk = &ramble->walk;
    struct state *now = &ramble->states[walk->depth];
    static struct state again;
    walk_undo(walk);
    note_state(walk, &again);
    expect_same(ramble->name, "there and back", &again, &ramble->states[walk->depth]);
    bring_twin(ramble);
    note_state(&ramble->twin, &again); /* which counts rows and memories afresh */
    expect_same(ramble->name, "the twin", &again, &ramble->states[walk->depth]);
    cr_assert_eq(walk_do(&ramble->twin, move), held);
    cr_assert_eq(walk_do(walk, move), held);
    note_state(walk, &again);
    expect_same(ramble->name, "once more", &again, now);
    note_state(&ramble->twin, &again);
    expect_same(ramble->name, "the twin, once more", &again, now);
    walk_undo(&ramble->twin);
}

/* False: nothing can happen any more. */
static bool go_on(struct ramble *ramble)
{
    struct walk *walk = &ramble->walk;
    const struct state *from = &ramble->states[walk->depth];
    if (from->count == 0 || walk->depth + 1 == DEPTH_MAX) {
        return false;
    }
    /* faults seldom, else there are none left for later */
    bool fault = from->sound == 0 || pcg_chance(&ramble->pcg, 1, 8);
    size_t choices = fault ? from->count : from->sound;
    struct walk_move move = from->moves[pcg_below(&ramble->pcg, (uint32_t)choices)];
    bool held = walk_do(walk, move);
    ramble->kinds[move.kind]++;
    note_state(walk, &ramble->states[walk->depth]);
    if (pcg_chance(&ramble->pcg, 1, 4)) {
        try_twice(ramble, move, held);
    }
    if (!held) {
        walk_undo(walk);
    }
    return true;
}

static void go_back(struct ramble *ramble, uint32_t steps)
{
    static struct state again;
    for (; steps > 0 && ramble->walk.depth > 0; steps--) {
        walk_undo(&ramble->walk);
    }
    note_state(&ramble->walk, &again);
    expect_same(ramble->name, "back", &again, &ramble->states[ramble->walk.depth]);
}

static void wander(struct ramble *ramble, const char *yaml, const char *bug, bool by_statement,
                   unsigned reductions, uint64_t seed)
{
    static struct scenario scenario;
    struct sabotage sabotage;
    scope_read(yaml, &scenario);
    cr_assert(bug == NULL || sabotage_find(bug, &sabotage));
    struct walk_plan plan = {.scenario = &scenario,
                             .sabotage = bug == NULL ? NULL : &sabotage,
                             .bounds = {2, 2, 2, 2, 2, 2, 2},
                             .reductions = reductions,
                             .by_statement = by_statement};
    cr_assert(walk_make(&ramble->walk, &plan) && walk_make(&ramble->twin, &plan));
    ramble->pcg = pcg_stream(seed, PCG_SCHEDULE);
    note_state(&ramble->walk, &ramble->states[0]);
    for (int step = 0; step < STEPS; step++) {
        if (pcg_chance(&ramble->pcg, 1, 10) || !go_on(ramble)) {
            /* mostly a little, sometimes all the way */
            go_back(ramble,
                    pcg_chance(&ramble->pcg, 1, 40) ? DEPTH_MAX : 1 + pcg_below(&ramble->pcg, 8));
        }
    }
    go_back(ramble, DEPTH_MAX);
    cr_assert_eq(ramble->walk.depth, 0);
    walk_free(&ramble->walk);
    walk_free(&ramble->twin);
}

static struct ramble *make_ramble(void)
{
    struct ramble *ramble = calloc(1, sizeof *ramble);
    cr_assert_not_null(ramble);
    ramble->states = calloc(DEPTH_MAX + 1, sizeof *ramble->states);
    cr_assert_not_null(ramble->states);
    return ramble;
}

static void free_ramble(struct ramble *ramble)
{
    free(ramble->states);
    free(ramble);
}

/* Every kind of move of the level was made somewhere, else nothing was shown of it. */
static void wander_everywhere(bool by_statement, const unsigned *reductions, size_t count,
                              unsigned made)
{
    struct ramble *ramble = make_ramble();
    for (size_t c = 0; c < CASES; c++) {
        for (size_t r = 0; r < count; r++) {
            ramble->name = cases[c].name;
            wander(ramble, cases[c].yaml, cases[c].sabotage, by_statement, reductions[r], 1 + r);
        }
    }
    for (int kind = 0; kind < WALK_KIND_COUNT; kind++) {
        cr_expect_eq(ramble->kinds[kind] > 0, (made >> kind & 1) != 0, "%s: %u",
                     walk_kind_text((enum walk_kind)kind), ramble->kinds[kind]);
    }
    free_ramble(ramble);
}

Test(walk, whole_transactions_are_taken_back_whole)
{
    static const unsigned reductions[] = {0, REDUCE_ALL & ~(unsigned)REDUCE_ORDER};
    wander_everywhere(false, reductions, 2,
                      1U << WALK_STEP | 1U << WALK_WAIT | 1U << WALK_CRASH | 1U << WALK_TEAR |
                          1U << WALK_DUPLICATE | 1U << WALK_LAPSE | 1U << WALK_UNSURE |
                          1U << WALK_LOST | 1U << WALK_ABORT | 1U << WALK_DRAG |
                          1U << WALK_MISSTEP);
}

Test(walk, interleaved_transactions_are_taken_back_operation_by_operation)
{
    static const unsigned reductions[] = {0, REDUCE_COUNTERS};
    wander_everywhere(true, reductions, 2,
                      1U << WALK_STEP | 1U << WALK_WAIT | 1U << WALK_CRASH | 1U << WALK_TEAR |
                          1U << WALK_DUPLICATE | 1U << WALK_LAPSE | 1U << WALK_UNSURE |
                          1U << WALK_LOST | 1U << WALK_ABORT | 1U << WALK_DRAG |
                          1U << WALK_MISSTEP | 1U << WALK_OPERATE);
}
