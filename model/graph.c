#include "model/graph.h"

#include "model/identity.h"

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
