/* The graph of a scenario as written: nodes by name in the order of their first mention, edges in
 * any order, each with its line. shape_build() checks it and makes a struct graph of it: nodes
 * numbered breadth-first from the trigger, edges sorted by node and answer.
 *
 * (SH1) What shape_build() accepts keeps (GR1)-(GR3) of model/graph.h, and its heads_cycle are set.
 * (SH2) Node numbers depend on the text alone: a node's children come in the order closing answer,
 *       first pending answer, second ...; within an answer as written. */
#ifndef SCENARIOS_SHAPE_H
#define SCENARIOS_SHAPE_H

#include "model/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a node is mentioned; a key may stand once in each map. */
enum shape_mention {
    SHAPE_CHILD = 1 << 0,   /* as a child, or made by a generator */
    SHAPE_GRAPH = 1 << 1,   /* as a key of graph */
    SHAPE_PENDING = 1 << 2, /* ... of pending */
    SHAPE_CYCLES = 1 << 3,  /* ... of cycles */
    SHAPE_PRESET = 1 << 4,  /* ... of preset */
    SHAPE_HEAD = 1 << 5,    /* as the target of a cycle */
    SHAPE_AGAIN = 1 << 6    /* as a key of again */
};

struct shape_node {
    char name[GRAPH_NAME_SIZE];
    uint8_t mentions; /* enum shape_mention */
    uint8_t pendings; /* as in struct graph_node */
    uint32_t line;    /* of its first mention */
    int32_t preset_leg1, preset_leg2;
    uint8_t again; /* as in struct graph_node */
};

struct shape_edge {
    uint16_t from, to;
    uint8_t answer, condition, rounds; /* as in struct graph_edge */
    uint16_t place;                    /* position in the text; set by shape_build() */
    uint32_t line;
};

struct shape {
    uint16_t node_count;
    uint16_t edge_count;
    uint16_t trigger; /* the first key of graph; set once has_trigger */
    bool has_trigger;
    struct shape_node nodes[GRAPH_NODES_MAX];
    struct shape_edge edges[GRAPH_EDGES_MAX];
};

/* Why a shape is no graph. */
struct shape_error {
    size_t line;
    const char *where; /* the key of the scenario concerned */
    char text[240];
};

/* The node of this name (less than GRAPH_NAME_SIZE characters), added if it is new. False: full. */
bool shape_node(struct shape *shape, const char *name, size_t line, uint16_t *node);
/* False: full. */
bool shape_edge(struct shape *shape, const struct shape_edge *edge);

/* Generators, on a shape without edges: nodes are named trigger, n1, n2, ... breadth-first. False:
 * full, because nodes of other names exist. */
#define SHAPE_LEVELS_MAX 10 /* 1,023 nodes */
bool shape_binary(struct shape *shape, int64_t levels, size_t line);
bool shape_chain(struct shape *shape, int64_t nodes, size_t line);
bool shape_fan(struct shape *shape, int64_t children, size_t line);

bool shape_build(const struct shape *shape, struct graph *graph, struct shape_error *error);

#endif
