/* Breadth-first search, for shortest paths; and the passing path nearest to one that breaks a
 * promise. */
#include "sim/explore_inside.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

struct node {
    uint32_t parent;
    struct walk_move move;
};

struct breadth {
    struct explorer *explorer;
    struct node *nodes;
    size_t count, capacity;
    size_t level_end; /* nodes below this index are at the current depth or above */
};

static bool grow(struct breadth *breadth)
{
    struct explore *explore = breadth->explorer->explore;
    size_t more = breadth->capacity == 0 ? 4096 : 2 * breadth->capacity;
    size_t bytes = (more - breadth->capacity) * sizeof *breadth->nodes;
    if (more > UINT32_MAX || !explore_budget_take(&explore->budget, bytes)) {
        return false;
    }
    struct node *nodes = realloc(breadth->nodes, more * sizeof *nodes);
    if (nodes == NULL) {
        explore_budget_give(&explore->budget, bytes);
        return false;
    }
    explore->way_bytes += bytes;
    breadth->nodes = nodes;
    breadth->capacity = more;
    return true;
}

static void add_node(struct breadth *breadth, uint32_t parent, struct walk_move move)
{
    if (breadth->count == breadth->capacity && !grow(breadth)) {
        explore_finish_as(breadth->explorer->explore, EXPLORE_BOUNDED, NO_MEMORY);
        return;
    }
    breadth->nodes[breadth->count++] = (struct node){.parent = parent, .move = move};
}

/* Undoes down to the common prefix of the current path and the node's, then replays the rest.
 * Siblings of a node come just before it, so this is mostly one move. */
static void go_to(struct breadth *breadth, size_t node)
{
    struct walk *walk = &breadth->explorer->walk;
    struct walk_move way[WALK_DEPTH_MAX];
    unsigned length = 0;
    for (size_t n = node; n != 0; n = breadth->nodes[n].parent) {
        way[WALK_DEPTH_MAX - ++length] = breadth->nodes[n].move;
    }
    walk_go(walk, &way[WALK_DEPTH_MAX - length], length);
}

/* Visits the state that the move led to. */
static void meet(struct breadth *breadth, uint32_t node, struct walk_move move)
{
    struct explore *explore = breadth->explorer->explore;
    uint64_t state = walk_state(&breadth->explorer->walk);
    bool known;
    switch (visited_add(&explore->visited, state, &known)) {
    case VISITED_NEW:
        add_node(breadth, node, move);
        if (state == explore->plan.target) {
            explore_reached(breadth->explorer);
        }
        break;
    case VISITED_FULL:
        explore_finish_as(explore, EXPLORE_BOUNDED, NO_MEMORY);
        break;
    case VISITED_KNOWN:
        break;
    }
}

static void look_around(struct breadth *breadth, uint32_t node)
{
    struct explorer *explorer = breadth->explorer;
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    go_to(breadth, node);
    if (!explore_goes_on(explorer)) {
        return;
    }
    size_t count = explore_moves(explorer, moves, &sound);
    if (sound == 0 && !explore_stopped(explorer->explore)) {
        explore_judge_rest(explorer);
    }
    for (size_t m = 0; m < count && !explore_stopped(explorer->explore); m++) {
        explorer->transitions++;
        if (!walk_do(&explorer->walk, moves[m])) {
            explore_found(explorer);
        } else {
            meet(breadth, node, moves[m]);
        }
        walk_undo(&explorer->walk);
    }
}

/* A move from this level broke a promise. A node of the level that was not expanded yet may be
 * quiescent and break a live promise: that path is one move shorter. */
static void prefer_rests(struct breadth *breadth, size_t node)
{
    struct explorer *explorer = breadth->explorer;
    struct explore_report *report = &explorer->explore->report;
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    for (; node < breadth->level_end && !report->result.settled; node++) {
        go_to(breadth, node);
        walk_moves(&explorer->walk, moves, &sound);
        if (sound == 0) {
            report->verdict = EXPLORE_HELD;
            if (explore_judge_rest(explorer)) {
                report->verdict = EXPLORE_BROKEN;
            }
        }
    }
}

void explore_shortest(struct explore *explore)
{
    struct breadth breadth = {.explorer = &explore->explorers[0], .level_end = 1};
    size_t node = 0;
    CHECK((breadth.explorer->walk.plan.reductions & REDUCE_ORDER) == 0);
    add_node(&breadth, 0, (struct walk_move){0});
    while (node < breadth.count && !explore_stopped(explore)) {
        if (node == breadth.level_end) {
            breadth.level_end = breadth.count;
        }
        look_around(&breadth, (uint32_t)node++);
        atomic_store_explicit(&breadth.explorer->states, breadth.count, memory_order_relaxed);
    }
    if (explore->report.verdict == EXPLORE_BROKEN) {
        prefer_rests(&breadth, node);
    }
    free(breadth.nodes);
}

/* ---- the nearest way that passes ------------------------------------------------------------- */

/* Follows the first move of each state until quiescence. */
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
        walk_back_to(walk, (unsigned)part);
        walk_moves(walk, moves, &sound);
        for (size_t m = 0; m < sound; m++) {
            if (memcmp(&moves[m], &path[part], sizeof *moves) != 0 && walk_do(walk, moves[m]) &&
                rests_from_here(walk)) {
                *passing_length = walk->depth;
                for (unsigned d = 0; d < walk->depth; d++) {
                    passing[d] = walk->records[d].move;
                }
                return true;
            }
            walk_back_to(walk, (unsigned)part);
        }
    }
    return false;
}
