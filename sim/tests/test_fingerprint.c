/* Equal states have equal futures, whatever the way to them (WA2, SA2). The scopes of every
 * protocol are walked through in several orders: each has the same states in each of them, and a
 * state that is come to again has the successors that it had the first time. */
#include "scenarios/pcg.h"
#include "sim/scopes.h"
#include "sim/walk.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define ORDERS     4
#define STATES_MAX 8192 /* a larger scope is left out */
#define TABLE_SIZE ((size_t)4 * STATES_MAX)
#define SCOPES_MIN 35 /* at least so many are not */

struct visit {
    uint64_t state;   /* 0: none */
    uint64_t futures; /* the sum of its successors', each once */
};

static struct tour {
    struct walk walk;
    struct visit visits[TABLE_SIZE];
    size_t count;
    struct pcg order;
    const char *name;
    bool differs;
} tour;

TestSuite(fingerprint, .timeout = 600);

static struct visit *find(uint64_t state)
{
    size_t at = state % TABLE_SIZE;
    while (tour.visits[at].state != 0 && tour.visits[at].state != state) {
        at = (at + 1) % TABLE_SIZE;
    }
    return &tour.visits[at];
}

/* Moves that lead to the same state are one. */
static uint64_t futures(const struct walk_move *moves, size_t count)
{
    uint64_t states[WALK_MOVES_MAX], sum = 0;
    for (size_t i = 0; i < count; i++) {
        bool known = false;
        states[i] = walk_do(&tour.walk, moves[i]) ? walk_state(&tour.walk) : 1;
        walk_undo(&tour.walk);
        for (size_t before = 0; before < i; before++) {
            known = known || states[before] == states[i];
        }
        sum += known ? 0 : fingerprint_finish(states[i]);
    }
    return sum;
}

static void shuffle(struct walk_move *moves, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = pcg_below(&tour.order, (uint32_t)i);
        struct walk_move move = moves[i - 1];
        moves[i - 1] = moves[other];
        moves[other] = move;
    }
}

/* False: there are too many states. */
static bool visit(void)
{
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound, count = walk_moves(&tour.walk, moves, &sound);
    struct visit *here = find(walk_state(&tour.walk));
    uint64_t next = futures(moves, count);
    if (here->state != 0) {
        tour.differs = tour.differs || here->futures != next;
        return true;
    }
    *here = (struct visit){walk_state(&tour.walk), next};
    if (++tour.count == STATES_MAX) {
        return false;
    }
    shuffle(moves, count);
    bool room = true;
    for (size_t i = 0; i < count && room; i++) {
        room = !walk_do(&tour.walk, moves[i]) || visit();
        walk_undo(&tour.walk);
    }
    return room;
}

/* How many states there are in this order; 0: too many. */
static size_t count_states(const struct scope *scope, uint64_t order)
{
    struct scenario scenario;
    struct error error;
    cr_assert(scenario_parse(scope->yaml, strlen(scope->yaml), scope->name, &scenario, &error));
    cr_assert(
        walk_make(&tour.walk, &(struct walk_plan){.scenario = &scenario, .bounds = scope->bounds}));
    memset(tour.visits, 0, sizeof tour.visits);
    tour.count = 0;
    tour.order = pcg_stream(order, PCG_SCHEDULE);
    walk_begin(&tour.walk);
    bool all = visit();
    walk_free(&tour.walk);
    return all ? tour.count : 0;
}

/* Whether it was small enough. */
static bool tour_scope(const struct scope *scope)
{
    tour.differs = false;
    size_t first = count_states(scope, 1);
    for (uint64_t order = 2; first != 0 && order <= ORDERS; order++) {
        size_t count = count_states(scope, order);
        cr_expect_eq(count, first, "%s: %zu states, and %zu in another order", scope->name, first,
                     count);
    }
    cr_expect_not(tour.differs, "%s: a state has other successors by another way", scope->name);
    return first != 0;
}

/* (SA3) */
Test(fingerprint, equal_states_have_equal_futures)
{
    size_t toured = 0;
    for (size_t p = 0; p < protocol_count(); p++) {
        const struct scope *scopes;
        size_t count = scopes_of(protocol_at(p), &scopes);
        for (size_t s = 0; s < count; s++) {
            toured += !scopes[s].by_statement && tour_scope(&scopes[s]);
        }
    }
    cr_expect_geq(toured, SCOPES_MIN, "%zu scopes", toured);
}
