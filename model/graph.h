/* The shape of a job: its activities, the children that each spawns, and how each computes its
 * output.
 *
 * Trees and chains, conditional children, cycles (an edge back to an ancestor, taken a bounded
 * number of rounds) and pending answers, each with children of its own. No activity has two
 * parents: the specification does not define fan-in (E-ACL-23).
 *
 * (GR1) Node 0 is the trigger and has no parent. Every other node has exactly one edge to it that
 *       is not a cycle edge, from a node with a lower number: a graph without its cycle edges is a
 *       tree.
 * (GR2) A cycle edge leads to the nearest ancestor that any cycle edge leads to, or to its own
 *       node.
 * (GR3) A node's edges lie together; those of one answer number at most GRAPH_CHILDREN_MAX. */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_NODES_MAX    1024
#define GRAPH_EDGES_MAX    2048
#define GRAPH_CHILDREN_MAX 16
#define GRAPH_PENDINGS_MAX 8
#define GRAPH_ROUNDS_MAX   16
#define GRAPH_NAME_SIZE    24

/* The condition on the parent's output under which a child is spawned. */
enum graph_condition { GRAPH_ALWAYS, GRAPH_IF_EVEN, GRAPH_IF_ODD };

struct graph_edge {
    uint16_t from;
    uint16_t to;
    uint8_t answer;    /* 0: spawned by the closing answer; k: by the k-th pending answer */
    uint8_t condition; /* enum graph_condition */
    uint8_t rounds;    /* 0: a tree edge; n: a cycle edge, taken n times */
};

struct graph_node {
    char name[GRAPH_NAME_SIZE];
    uint16_t first_edge;
    uint16_t edge_count;
    uint8_t pendings;    /* pending answers before the closing one */
    bool heads_cycle;    /* a cycle edge leads here */
    int32_t preset_leg1; /* Leg1 entries that its ledger starts with */
    int32_t preset_leg2; /* Leg2 entries that are added when its Leg1 is complete */
    uint8_t again;       /* legacy: calls after the closing answer */
};

struct graph {
    uint16_t node_count;
    uint16_t edge_count;
    struct graph_node nodes[GRAPH_NODES_MAX];
    struct graph_edge edges[GRAPH_EDGES_MAX];
};

/* The output of a node for an input: 1..999,999,999, different for (almost) every pair, so that
 * misrouted data shows. */
int64_t graph_output(uint16_t node, int64_t input);

/* The output that the k-th pending answer of a node carries. */
int64_t graph_pending_output(uint16_t node, int64_t input, int64_t k);

/* Whether this edge is taken by an answer (0 or k) whose Step 1 stored `output`, in this round. */
bool graph_takes(const struct graph_edge *edge, int64_t answer, int64_t output, int64_t round);

/* The most activities of a job, cycles included; stops counting at `limit`. */
uint32_t graph_activities(const struct graph *graph, uint32_t limit);

/* Asserts (GR1) to (GR3). */
void graph_check(const struct graph *graph);

#endif
