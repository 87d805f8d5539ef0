#include "model/check.h"
#include "model/graph.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* ---- what a node makes of its input -------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static size_t distinct(int64_t *values, size_t count)
{
    qsort(values, count, sizeof values[0], compare);
    size_t different = 1;
    for (size_t i = 1; i < count; i++) {
        different += values[i] != values[i - 1];
    }
    return different;
}

Test(graph, outputs_are_1_to_999_999_999)
{
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        int64_t input = (int64_t)(random_next(&random) >> 1);
        uint16_t node = (uint16_t)random_below(&random, GRAPH_NODES_MAX);
        int64_t output = graph_output(node, input);
        int64_t pending = graph_pending_output(node, input, 1 + i % GRAPH_PENDINGS_MAX);
        cr_assert(output >= 1 && output <= 999999999, "%lld", (long long)output);
        cr_assert(pending >= 1 && pending <= 999999999, "%lld", (long long)pending);
    }
}

Test(graph, an_output_depends_on_node_and_input_alone)
{
    cr_expect_eq(graph_output(3, 4711), graph_output(3, 4711));
    cr_expect_eq(graph_pending_output(3, 4711, 2), graph_pending_output(3, 4711, 2));
    cr_expect_neq(graph_output(3, 4711), graph_output(4, 4711));
    cr_expect_neq(graph_output(3, 4711), graph_output(3, 4712));
    cr_expect_neq(graph_pending_output(3, 4711, 1), graph_output(3, 4711));
    cr_expect_neq(graph_pending_output(3, 4711, 1), graph_pending_output(3, 4711, 2));
}

/* A birthday or two among 10,000 of 10^9 is chance (0.05 pairs expected), more would be a bad mix:
 * data that went the wrong way would look right. */
Test(graph, outputs_of_many_nodes_and_inputs_differ)
{
    static int64_t outputs[10000];
    for (size_t i = 0; i < COUNT(outputs); i++) {
        outputs[i] = graph_output((uint16_t)(i % 100), (int64_t)(i / 100));
    }
    cr_expect_geq(distinct(outputs, COUNT(outputs)), COUNT(outputs) - 2);
}

Test(graph, the_answers_of_one_node_differ)
{
    static int64_t outputs[1000 * (GRAPH_PENDINGS_MAX + 1)];
    size_t count = 0;
    for (int64_t input = 1; input <= 1000; input++) {
        outputs[count++] = graph_output(7, input);
        for (int64_t k = 1; k <= GRAPH_PENDINGS_MAX; k++) {
            outputs[count++] = graph_pending_output(7, input, k);
        }
    }
    cr_assert_eq(count, COUNT(outputs));
    cr_expect_geq(distinct(outputs, count), count - 2);
}

/* Conditional children need both kinds of output. */
Test(graph, half_of_the_outputs_are_even)
{
    int even = 0;
    for (int64_t input = 0; input < 10000; input++) {
        even += graph_output(1, input) % 2 == 0;
    }
    cr_expect(even > 4700 && even < 5300, "%d of 10000", even);
}

/* ---- which edges are taken ----------------------------------------------------------------- */

Test(graph, an_edge_is_taken_by_its_answer_on_its_condition_in_its_rounds)
{
    static const struct {
        struct graph_edge edge;
        int64_t answer, output, round;
        bool taken;
    } cases[] = {
        {{0, 1, 0, GRAPH_ALWAYS, 0}, 0, 2, 0, true},
        {{0, 1, 0, GRAPH_ALWAYS, 0}, 0, 3, 0, true},
        {{0, 1, 0, GRAPH_ALWAYS, 0}, 0, 3, 99, true}, /* a child comes in every round */
        {{0, 1, 0, GRAPH_ALWAYS, 0}, 1, 2, 0, false}, /* another answer */
        {{0, 1, 1, GRAPH_ALWAYS, 0}, 1, 2, 0, true},
        {{0, 1, 1, GRAPH_ALWAYS, 0}, 0, 2, 0, false},
        {{0, 1, 2, GRAPH_ALWAYS, 0}, 1, 2, 0, false},
        {{0, 1, 0, GRAPH_IF_EVEN, 0}, 0, 2, 0, true},
        {{0, 1, 0, GRAPH_IF_EVEN, 0}, 0, 3, 0, false},
        {{0, 1, 0, GRAPH_IF_ODD, 0}, 0, 2, 0, false},
        {{0, 1, 0, GRAPH_IF_ODD, 0}, 0, 3, 0, true},
        {{0, 1, 3, GRAPH_IF_ODD, 0}, 3, 3, 0, true},
        {{0, 1, 3, GRAPH_IF_ODD, 0}, 2, 3, 0, false},
        {{2, 1, 0, GRAPH_ALWAYS, 2}, 0, 2, 0, true}, /* a cycle of two rounds */
        {{2, 1, 0, GRAPH_ALWAYS, 2}, 0, 2, 1, true},
        {{2, 1, 0, GRAPH_ALWAYS, 2}, 0, 2, 2, false},
        {{2, 1, 0, GRAPH_ALWAYS, 2}, 1, 2, 0, false},
        {{2, 1, 0, GRAPH_IF_EVEN, 2}, 0, 3, 0, false},
        {{2, 1, 0, GRAPH_IF_EVEN, 2}, 0, 2, 1, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(graph_takes(&cases[i].edge, cases[i].answer, cases[i].output, cases[i].round),
                     cases[i].taken, "case %zu", i);
    }
}

/* ---- how many activities ------------------------------------------------------------------- */

static struct graph graph;

/* Edges must be given by ascending `from`, as (GR3) has them. */
static void build(uint16_t nodes, const struct graph_edge *edges, uint16_t count)
{
    graph = (struct graph){.node_count = nodes, .edge_count = count};
    for (uint16_t i = 0; i < count; i++) {
        struct graph_node *from = &graph.nodes[edges[i].from];
        graph.edges[i] = edges[i];
        from->first_edge = from->edge_count == 0 ? i : from->first_edge;
        from->edge_count++;
    }
}

Test(graph, a_lone_trigger_is_one_activity)
{
    build(1, NULL, 0);
    cr_expect_eq(graph_activities(&graph, 100), 1U);
}

Test(graph, a_tree_has_as_many_activities_as_nodes)
{
    static const struct graph_edge edges[] = {
        {0, 1, 0, 0, 0}, {0, 2, 0, 0, 0}, {1, 3, 0, 0, 0}, {1, 4, 1, 0, 0}};
    build(5, edges, COUNT(edges));
    cr_expect_eq(graph_activities(&graph, 100), 5U, "children of pending answers included");
}

/* Both sides of a condition are counted, as nothing is known of the output. */
Test(graph, children_on_a_condition_are_counted_all)
{
    static const struct graph_edge edges[] = {{0, 1, 0, GRAPH_IF_EVEN, 0},
                                              {0, 2, 0, GRAPH_IF_ODD, 0}};
    build(3, edges, COUNT(edges));
    cr_expect_eq(graph_activities(&graph, 100), 3U);
}

/* The ancestor's row exists already; what lies below it comes once more a round (E-ACL-22). */
Test(graph, a_cycle_makes_what_lies_below_its_head_anew_in_every_round)
{
    SETTLES(ERRATUM_ACL_22);
    static const struct graph_edge edges[] = {{0, 1, 0, 0, 0}, {0, 2, 0, 0, 0}, {1, 0, 0, 0, 2}};
    build(3, edges, COUNT(edges));
    cr_expect_eq(graph_activities(&graph, 100), 1U + 3U * 2U);
}

Test(graph, a_cycle_to_the_node_itself_makes_its_children_anew)
{
    static const struct graph_edge edges[] = {{0, 1, 0, 0, 0}, {1, 2, 0, 0, 0}, {1, 1, 0, 0, 3}};
    build(3, edges, COUNT(edges));
    cr_expect_eq(graph_activities(&graph, 100), 2U + 4U);
}

Test(graph, two_ways_round_multiply)
{
    static const struct graph_edge edges[] = {
        {0, 1, 0, 0, 0}, {0, 2, 0, 0, 0}, {1, 0, 0, 0, 10}, {2, 0, 0, 0, 10}};
    build(3, edges, COUNT(edges));
    cr_expect_eq(graph_activities(&graph, 1 << 20), 1U + 2U * 2047U, "2 + 4 + ... + 2^11");
}

Test(graph, counting_stops_at_the_limit)
{
    static const struct graph_edge edges[] = {
        {0, 1, 0, 0, 0}, {0, 2, 0, 0, 0}, {1, 0, 0, 0, 16}, {2, 0, 0, 0, 16}};
    build(3, edges, COUNT(edges));
    cr_expect_eq(graph_activities(&graph, 1), 1U);
    cr_expect_eq(graph_activities(&graph, 2), 2U);
    cr_expect_eq(graph_activities(&graph, 1000), 1000U);
}

Test(graph, a_long_chain_that_goes_round_is_counted)
{
    static struct graph_edge edges[GRAPH_NODES_MAX];
    for (uint16_t i = 0; i + 1 < GRAPH_NODES_MAX; i++) {
        edges[i] = (struct graph_edge){.from = i, .to = (uint16_t)(i + 1)};
    }
    edges[GRAPH_NODES_MAX - 1] =
        (struct graph_edge){.from = GRAPH_NODES_MAX - 1, .rounds = GRAPH_ROUNDS_MAX};
    build(GRAPH_NODES_MAX, edges, GRAPH_NODES_MAX);
    cr_expect_eq(graph_activities(&graph, 1 << 20), 1U + 1023U * 17U);
}
