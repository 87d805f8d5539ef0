#include "model/graph.h"

#include "model/check.h"
#include "model/identity.h"

#include <string.h>

#define OUTPUTS INT64_C(999999999)

int64_t graph_output(uint16_t node, int64_t input)
{
    return 1 + identity_mint(input, node) % OUTPUTS;
}

int64_t graph_pending_output(uint16_t node, int64_t input, int64_t k)
{
    return 1 + identity_mint(graph_output(node, input), k) % OUTPUTS;
}

bool graph_takes(const struct graph_edge *edge, int64_t answer, int64_t output, int64_t round)
{
    bool condition =
        edge->condition == GRAPH_ALWAYS || (output % 2 == 0) == (edge->condition == GRAPH_IF_EVEN);
    bool rounds_left = edge->rounds == 0 || round < edge->rounds;
    return edge->answer == answer && condition && rounds_left;
}

/* Every edge taken: what lies below a node in a round, without the node itself. Depth is bounded by
 * nodes times rounds, and the count stops the recursion. */
static void count_below(const struct graph *graph, uint16_t node, uint32_t round, uint32_t limit,
                        uint32_t *count)
{
    const struct graph_node *parent = &graph->nodes[node];
    for (uint16_t i = 0; i < parent->edge_count && *count < limit; i++) {
        const struct graph_edge *edge = &graph->edges[parent->first_edge + i];
        if (edge->rounds == 0) {
            (*count)++;
            count_below(graph, edge->to, round, limit, count);
        } else if (round < edge->rounds) {
            count_below(graph, edge->to, round + 1, limit, count);
        }
    }
}

uint32_t graph_activities(const struct graph *graph, uint32_t limit)
{
    uint32_t count = 1;
    count_below(graph, 0, 0, limit, &count);
    return count;
}

/* The node that a cycle edge from here leads to: from the node upwards, the first that heads one. */
static uint16_t nearest_head(const struct graph *graph, const uint16_t *parent, uint16_t node)
{
    while (node != 0 && !graph->nodes[node].heads_cycle) {
        node = parent[node];
    }
    return node;
}

/* Also finds the parents, of the trigger itself. */
static void check_tree(const struct graph *graph, uint16_t parent[GRAPH_NODES_MAX])
{
    uint16_t parents[GRAPH_NODES_MAX];
    memset(parents, 0, graph->node_count * sizeof *parents);
    for (uint16_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        CHECK(edge->to < graph->node_count);
        if (edge->rounds == 0) {
            CHECK(edge->from < edge->to); /* GR1 */
            parents[edge->to]++;
            parent[edge->to] = edge->from;
        }
    }
    parent[0] = 0;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        CHECK(parents[n] == (n == 0 ? 0 : 1)); /* GR1 */
    }
}

static void check_edges(const struct graph *graph)
{
    uint16_t next = 0;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        const struct graph_node *node = &graph->nodes[n];
        uint16_t children[GRAPH_PENDINGS_MAX + 1] = {0};
        CHECK(node->first_edge == next); /* GR3 */
        next = (uint16_t)(next + node->edge_count);
        CHECK(next <= graph->edge_count); /* GR3 */
        for (uint16_t e = node->first_edge; e < next; e++) {
            CHECK(graph->edges[e].from == n);                /* GR3 */
            CHECK(graph->edges[e].answer <= node->pendings); /* GR3 */
            children[graph->edges[e].answer]++;
            CHECK(children[graph->edges[e].answer] <= GRAPH_CHILDREN_MAX); /* GR3 */
        }
    }
    CHECK(next == graph->edge_count); /* GR3 */
}

void graph_check(const struct graph *graph)
{
    uint16_t parent[GRAPH_NODES_MAX];
    CHECK(graph->node_count >= 1 && graph->node_count <= GRAPH_NODES_MAX);
    check_edges(graph);
    check_tree(graph, parent);
    for (uint16_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        CHECK(edge->rounds == 0 || edge->to == nearest_head(graph, parent, edge->from)); /* GR2 */
    }
}
