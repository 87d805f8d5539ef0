/* Shapes at random: every tree is built, whatever the order in which it is written down, and the
 * same one in every order of its nodes; every edge too many is refused. What a shape says when it
 * is refused is tested with the text it comes from, in test_scenario.c. */
#include "scenarios/shape.h"

#include "model/tests/random.h"
#include "scenarios/tests/sound.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct shape shape;
static struct scenario built; /* for its graph, which sound.h knows how to judge */

static uint16_t put_node(int number)
{
    char name[GRAPH_NAME_SIZE];
    uint16_t node = 0;
    snprintf(name, sizeof name, "x%d", number);
    cr_assert(shape_node(&shape, name, 1, &node));
    shape.nodes[node].mentions |= SHAPE_CHILD;
    return node;
}

static void put_edge(int from, int to, uint8_t rounds)
{
    struct shape_edge edge = {.rounds = rounds, .line = 1};
    edge.from = put_node(from);
    edge.to = put_node(to);
    cr_assert(shape_edge(&shape, &edge));
}

/* parent[i] < i, with at most GRAPH_CHILDREN_MAX - 1 children each, to leave room for a cycle. */
static void draw_tree(uint64_t *random, int nodes, int *parent)
{
    int children[GRAPH_NODES_MAX] = {0};
    for (int i = 1; i < nodes; i++) {
        do {
            parent[i] = (int)random_below(random, (uint64_t)i);
        } while (children[parent[i]] == GRAPH_CHILDREN_MAX - 1);
        children[parent[i]]++;
    }
}

/* The edges of a tree in any order. */
static void write_down(uint64_t *random, int nodes, const int *parent)
{
    int order[GRAPH_NODES_MAX] = {0};
    for (int i = 1; i < nodes; i++) {
        int at = 1 + (int)random_below(random, (uint64_t)i);
        order[i] = order[at];
        order[at] = i;
    }
    memset(&shape, 0, sizeof shape);
    for (int i = 1; i < nodes; i++) {
        put_edge(parent[order[i]], order[i], 0);
    }
    shape.trigger = put_node(0);
    shape.has_trigger = true;
}

static bool build(struct shape_error *error)
{
    return shape_build(&shape, &built.graph, error);
}

static const char *unsound(void)
{
    const char *wrong = sound_edges(&built.graph);
    wrong = wrong != NULL ? wrong : sound_tree(&built.graph);
    return wrong != NULL ? wrong : sound_cycles(&built.graph);
}

/* What put_node() named. */
static long number(uint16_t node)
{
    return strtol(built.graph.nodes[node].name + 1, NULL, 10);
}

/* The names of parents in the built graph are those that were drawn. */
static bool same_tree(const int *parent)
{
    for (uint16_t i = 0; i < built.graph.edge_count; i++) {
        const struct graph_edge *edge = &built.graph.edges[i];
        if (edge->rounds == 0 && parent[number(edge->to)] != number(edge->from)) {
            return false;
        }
    }
    return true;
}

/* (SH1) */
Test(shape, every_tree_is_built_in_whatever_order_it_is_written)
{
    uint64_t random = 17;
    for (int run = 0; run < 2000; run++) {
        int parent[GRAPH_NODES_MAX] = {0}, nodes = 1 + (int)random_below(&random, 40);
        struct shape_error error = {0};
        draw_tree(&random, nodes, parent);
        write_down(&random, nodes, parent);
        cr_assert(build(&error), "run %d: %s", run, error.text);
        cr_assert_null(unsound(), "run %d: %s", run, unsound());
        cr_assert_eq(built.graph.node_count, nodes);
        cr_assert(same_tree(parent), "run %d", run);
    }
}

Test(shape, no_edge_can_be_added_to_a_tree_but_a_cycle)
{
    uint64_t random = 4711;
    int built_cycles = 0, refused_cycles = 0;
    for (int run = 0; run < 4000; run++) {
        int parent[GRAPH_NODES_MAX] = {0}, nodes = 2 + (int)random_below(&random, 12);
        struct shape_error error = {0};
        draw_tree(&random, nodes, parent);
        write_down(&random, nodes, parent);
        int from = (int)random_below(&random, (uint64_t)nodes);
        int to = (int)random_below(&random, (uint64_t)nodes);
        uint8_t rounds = (uint8_t)random_below(&random, 3);
        put_edge(from, to, rounds);
        int ancestor = from; /* or the node itself */
        while (ancestor != to && ancestor != 0) {
            ancestor = parent[ancestor];
        }
        bool good = rounds > 0 && ancestor == to;
        cr_assert_eq(build(&error), good, "run %d: %s", run, error.text);
        cr_assert(!good || unsound() == NULL, "run %d", run);
        built_cycles += good;
        refused_cycles += rounds > 0 && !good;
    }
    cr_expect(built_cycles > 300 && refused_cycles > 300);
}

/* (GR2) against its definition, with several cycles at once. */
Test(shape, cycles_that_pass_another_head_are_refused)
{
    uint64_t random = 99;
    int outcomes[2] = {0, 0};
    for (int run = 0; run < 4000; run++) {
        int parent[GRAPH_NODES_MAX] = {0}, nodes = 4 + (int)random_below(&random, 8), to[12];
        bool heads[12] = {false}, good = true;
        struct shape_error error = {0};
        draw_tree(&random, nodes, parent);
        write_down(&random, nodes, parent);
        for (int i = 0; i < nodes; i++) {
            to[i] = random_one_in(&random, 3) ? i : -1;
            while (to[i] > 0 && !random_one_in(&random, 3)) {
                to[i] = parent[to[i]];
            }
            if (to[i] >= 0) {
                heads[to[i]] = true;
                put_edge(i, to[i], 1);
            }
        }
        for (int i = 0; i < nodes; i++) {
            int at = i;
            while (to[i] >= 0 && !heads[at]) {
                at = parent[at];
            }
            good = good && (to[i] < 0 || at == to[i]);
        }
        cr_assert_eq(build(&error), good, "run %d: %s", run, error.text);
        cr_assert(!good || unsound() == NULL, "run %d: %s", run, unsound());
        outcomes[good]++;
    }
    cr_expect(outcomes[0] > 300 && outcomes[1] > 300, "%d, %d", outcomes[0], outcomes[1]);
}

Test(shape, generators_of_every_size_are_built)
{
    static const struct {
        bool (*generate)(struct shape *, int64_t, size_t);
        int64_t most;
    } generators[] = {{shape_binary, SHAPE_LEVELS_MAX},
                      {shape_chain, 64},
                      {shape_chain, GRAPH_NODES_MAX},
                      {shape_fan, GRAPH_CHILDREN_MAX}};
    for (size_t i = 0; i < COUNT(generators); i++) {
        int64_t most = generators[i].most;
        for (int64_t size = most > 64 ? most : 1; size <= most; size++) {
            struct shape_error error = {0};
            memset(&shape, 0, sizeof shape);
            cr_assert(generators[i].generate(&shape, size, 1));
            cr_assert(build(&error), "%s", error.text);
            cr_assert_null(unsound(), "%s", unsound());
            int64_t nodes = generators[i].generate == shape_binary  ? (1 << size) - 1
                            : generators[i].generate == shape_chain ? size
                                                                    : size + 1;
            cr_expect_eq(built.graph.node_count, nodes);
            cr_expect_str_eq(built.graph.nodes[0].name, "trigger");
            for (int64_t node = 1; node < nodes; node++) {
                char name[GRAPH_NAME_SIZE];
                snprintf(name, sizeof name, "n%d", (int)node);
                cr_assert_str_eq(built.graph.nodes[node].name, name);
            }
        }
    }
}
