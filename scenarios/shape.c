#include "scenarios/shape.h"

#include "model/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((1 << SHAPE_LEVELS_MAX) - 1 <= GRAPH_NODES_MAX, "a full binary tree fits");
_Static_assert(GRAPH_NODES_MAX < UINT16_MAX, "NONE is no node");
#define NONE UINT16_MAX

/* ---- writing it down ----------------------------------------------------------------------- */

bool shape_node(struct shape *shape, const char *name, size_t line, uint16_t *node)
{
    for (*node = 0; *node < shape->node_count; (*node)++) {
        if (strcmp(shape->nodes[*node].name, name) == 0) {
            return true;
        }
    }
    if (shape->node_count == GRAPH_NODES_MAX) {
        return false;
    }
    struct shape_node *added = &shape->nodes[shape->node_count++];
    size_t length = strlen(name);
    CHECK(length < sizeof added->name);
    memcpy(added->name, name, length + 1);
    added->line = (uint32_t)line;
    return true;
}

bool shape_edge(struct shape *shape, const struct shape_edge *edge)
{
    CHECK(edge->from < shape->node_count && edge->to < shape->node_count);
    if (shape->edge_count == GRAPH_EDGES_MAX) {
        return false;
    }
    shape->edges[shape->edge_count++] = *edge;
    return true;
}

/* ---- generators ---------------------------------------------------------------------------- */

static bool generate(struct shape *shape, int64_t number, size_t line, uint16_t *node)
{
    char name[GRAPH_NAME_SIZE] = "trigger";
    if (number > 0) {
        snprintf(name, sizeof name, "n%d", (int)number);
    }
    if (!shape_node(shape, name, line, node)) {
        return false;
    }
    shape->nodes[*node].mentions |= SHAPE_CHILD;
    return true;
}

static bool generate_trigger(struct shape *shape, size_t line)
{
    shape->has_trigger = generate(shape, 0, line, &shape->trigger);
    return shape->has_trigger;
}

/* A node and the edge from its parent, both counted from 0 in the order in which they are made. */
static bool generate_child(struct shape *shape, int64_t parent, int64_t child, size_t line)
{
    struct shape_edge edge = {.line = (uint32_t)line};
    return generate(shape, parent, line, &edge.from) && generate(shape, child, line, &edge.to) &&
           shape_edge(shape, &edge);
}

bool shape_binary(struct shape *shape, int64_t levels, size_t line)
{
    CHECK(levels >= 1 && levels <= SHAPE_LEVELS_MAX);
    bool room = generate_trigger(shape, line);
    for (int64_t node = 1; room && node < (INT64_C(1) << levels) - 1; node++) {
        room = generate_child(shape, (node - 1) / 2, node, line);
    }
    return room;
}

bool shape_chain(struct shape *shape, int64_t nodes, size_t line)
{
    CHECK(nodes >= 1 && nodes <= GRAPH_NODES_MAX);
    bool room = generate_trigger(shape, line);
    for (int64_t node = 1; room && node < nodes; node++) {
        room = generate_child(shape, node - 1, node, line);
    }
    return room;
}

bool shape_fan(struct shape *shape, int64_t children, size_t line)
{
    CHECK(children >= 1 && children <= GRAPH_CHILDREN_MAX);
    bool room = generate_trigger(shape, line);
    for (int64_t node = 1; room && node <= children; node++) {
        room = generate_child(shape, 0, node, line);
    }
    return room;
}

/* ---- building it --------------------------------------------------------------------------- */

struct building {
    const struct shape *shape;
    struct shape_error *error;
    struct shape_edge edges[GRAPH_EDGES_MAX]; /* sorted by node and answer, cycles after children */
    uint16_t first[GRAPH_NODES_MAX + 1];      /* of each node: where its edges begin */
    uint16_t parent[GRAPH_NODES_MAX];         /* of each node, NONE if it has none */
    uint16_t number[GRAPH_NODES_MAX];         /* in the graph, NONE while it is not reached */
    uint16_t order[GRAPH_NODES_MAX];          /* the other way: reached nodes in their new order */
    uint16_t reached;                         /* how many */
    bool heads[GRAPH_NODES_MAX];              /* a cycle edge leads to it */
};

__attribute__((format(printf, 4, 5))) static bool fail(const struct building *b, size_t line,
                                                       const char *where, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b->error->text, sizeof b->error->text, format, arguments);
    va_end(arguments);
    b->error->line = line;
    b->error->where = where;
    return false;
}

static const char *name(const struct building *b, uint16_t node)
{
    return b->shape->nodes[node].name;
}

/* The key of the scenario that an edge stands under. */
static const char *key_of(const struct shape_edge *edge)
{
    if (edge->rounds > 0) {
        return "cycles";
    }
    return edge->answer > 0 ? "pending" : "graph";
}

/* Refuses nodes that are mentioned by other keys and not part of the graph. */
static bool check_mentions(const struct building *b)
{
    const struct shape *shape = b->shape;
    CHECK(shape->has_trigger);
    for (uint16_t i = 0; i < shape->node_count; i++) {
        const struct shape_node *node = &shape->nodes[i];
        if ((node->mentions & (SHAPE_CHILD | SHAPE_GRAPH)) == 0) {
            bool cycles = (node->mentions & (SHAPE_CYCLES | SHAPE_HEAD)) != 0;
            const char *where = (node->mentions & SHAPE_PENDING) != 0 ? "pending"
                                : cycles                              ? "cycles"
                                : (node->mentions & SHAPE_AGAIN) != 0 ? "again"
                                                                      : "preset";
            return fail(b, node->line, where, "there is no node \"%s\" in the graph", node->name);
        }
    }
    return true;
}

/* ---- edges --------------------------------------------------------------------------------- */

/* Compares the position in the text last, so that the order is total. */
static int compare_edges(const void *left, const void *right)
{
    const struct shape_edge *a = left, *b = right;
    int by_node = (a->from > b->from) - (a->from < b->from);
    int by_answer = (a->answer > b->answer) - (a->answer < b->answer);
    int by_cycle = (a->rounds > 0) - (b->rounds > 0);
    int by_place = (a->place > b->place) - (a->place < b->place);
    return by_node != 0     ? by_node
           : by_answer != 0 ? by_answer
           : by_cycle != 0  ? by_cycle
                            : by_place;
}

static void sort_edges(struct building *b)
{
    uint16_t count = b->shape->edge_count;
    memcpy(b->edges, b->shape->edges, count * sizeof b->edges[0]);
    for (uint16_t i = 0; i < count; i++) {
        b->edges[i].place = i;
    }
    qsort(b->edges, count, sizeof b->edges[0], compare_edges);
    for (uint16_t node = 0, edge = 0; node <= b->shape->node_count; node++) {
        while (edge < count && b->edges[edge].from < node) {
            edge++;
        }
        b->first[node] = edge;
    }
}

/* (GR3) */
static bool check_children(const struct building *b)
{
    uint32_t together = 0;
    for (uint16_t i = 0; i < b->shape->edge_count; i++) {
        const struct shape_edge *edge = &b->edges[i];
        bool same = i > 0 && edge->from == edge[-1].from && edge->answer == edge[-1].answer;
        together = same ? together + 1 : 1;
        if (together > GRAPH_CHILDREN_MAX) {
            return fail(b, edge->line, key_of(edge),
                        "one answer of \"%s\" spawns more than %d children, its cycle counted",
                        name(b, edge->from), GRAPH_CHILDREN_MAX);
        }
    }
    return true;
}

/* Whether a path of children leads from one node to another, or they are the same. */
static bool leads_to(const struct building *b, uint16_t from, uint16_t to)
{
    bool seen[GRAPH_NODES_MAX] = {false};
    uint16_t stack[GRAPH_NODES_MAX], depth = 0;
    seen[from] = true;
    stack[depth++] = from;
    while (depth > 0) {
        uint16_t node = stack[--depth];
        for (uint16_t i = b->first[node]; i < b->first[node + 1]; i++) {
            const struct shape_edge *edge = &b->edges[i];
            if (edge->rounds == 0 && !seen[edge->to]) {
                seen[edge->to] = true;
                stack[depth++] = edge->to;
            }
        }
    }
    return seen[to];
}

/* ---- a tree -------------------------------------------------------------------------------- */

static bool fail_cycle(const struct building *b, const struct shape_edge *edge)
{
    const char *from = name(b, edge->from), *to = name(b, edge->to);
    return fail(b, edge->line, key_of(edge),
                "\"%s\" leads back to \"%s\"; an edge back stands under cycles, as in "
                "cycles: {%s: {to: %s, rounds: 2}}",
                from, to, from, to);
}

/* A second edge to a node: an edge back, the same child twice, or a join. */
static bool fail_second(const struct building *b, const struct shape_edge *first,
                        const struct shape_edge *second)
{
    const char *child = name(b, second->to);
    if (leads_to(b, first->to, first->from)) {
        return fail_cycle(b, first);
    }
    if (leads_to(b, second->to, second->from)) {
        return fail_cycle(b, second);
    }
    if (first->from == second->from) {
        return fail(b, second->line, key_of(second),
                    "\"%s\" is a child of \"%s\" twice; a child is named once", child,
                    name(b, first->from));
    }
    return fail(
        b, second->line, key_of(second),
        "\"%s\" is a child of \"%s\" and of \"%s\"; a node has one parent, as joins are not "
        "defined by the protocol (E-ACL-23)",
        child, name(b, first->from), name(b, second->from));
}

static bool fail_trigger(const struct building *b, const struct shape_edge *edge)
{
    if (leads_to(b, edge->to, edge->from)) {
        return fail_cycle(b, edge);
    }
    return fail(b, edge->line, key_of(edge),
                "\"%s\" leads to \"%s\"; the first node is the trigger and has no parent",
                name(b, edge->from), name(b, edge->to));
}

/* (GR1), the parents: at most one for each node, none for the trigger. Edges in the order of the
 * text, so that the message is about the first one that is wrong. */
static bool find_parents(struct building *b)
{
    const struct shape *shape = b->shape;
    const struct shape_edge *edge_to[GRAPH_NODES_MAX] = {NULL};
    memset(b->parent, 0xff, sizeof b->parent);
    for (uint16_t i = 0; i < shape->edge_count; i++) {
        const struct shape_edge *edge = &shape->edges[i];
        if (edge->rounds > 0) {
            continue;
        }
        if (edge->to == shape->trigger) {
            return fail_trigger(b, edge);
        }
        if (edge_to[edge->to] != NULL) {
            return fail_second(b, edge_to[edge->to], edge);
        }
        edge_to[edge->to] = edge;
        b->parent[edge->to] = edge->from;
    }
    return true;
}

/* (GR1), the numbers: breadth-first, so that a parent's is lower. */
static void number_nodes(struct building *b)
{
    memset(b->number, 0xff, sizeof b->number);
    b->order[b->reached++] = b->shape->trigger;
    for (uint16_t next = 0; next < b->reached; next++) {
        uint16_t node = b->order[next];
        b->number[node] = next;
        for (uint16_t i = b->first[node]; i < b->first[node + 1]; i++) {
            if (b->edges[i].rounds == 0) {
                b->order[b->reached++] = b->edges[i].to;
            }
        }
    }
}

/* The chain of parents of an unreached node ends at a node without a parent, or is a cycle. */
static bool fail_not_reached(const struct building *b, uint16_t node)
{
    for (uint16_t i = 0; i < b->shape->node_count && b->parent[node] != NONE; i++) {
        node = b->parent[node];
    }
    for (uint16_t i = 0; i < b->shape->edge_count; i++) {
        const struct shape_edge *edge = &b->shape->edges[i];
        if (edge->rounds == 0 && edge->to == node) {
            return fail_cycle(b, edge);
        }
    }
    return fail(
        b, b->shape->nodes[node].line, "graph",
        "\"%s\" is not reached from the trigger \"%s\"; make it the child of a node that is",
        name(b, node), name(b, b->shape->trigger));
}

static bool check_reached(const struct building *b)
{
    for (uint16_t node = 0; node < b->shape->node_count; node++) {
        if (b->number[node] == NONE) {
            return fail_not_reached(b, node);
        }
    }
    return true;
}

/* ---- cycles -------------------------------------------------------------------------------- */

static bool is_ancestor_or_same(const struct building *b, uint16_t node, uint16_t ancestor)
{
    while (node != ancestor && b->parent[node] != NONE) {
        node = b->parent[node];
    }
    return node == ancestor;
}

/* (GR2) */
static bool check_cycle(const struct building *b, const struct shape_edge *edge)
{
    const char *from = name(b, edge->from), *to = name(b, edge->to);
    if (!is_ancestor_or_same(b, edge->from, edge->to)) {
        return fail(b, edge->line, "cycles",
                    "\"%s\" cannot go back to \"%s\"; a cycle leads to an ancestor or to the node "
                    "itself",
                    from, to);
    }
    uint16_t head = edge->from;
    while (!b->heads[head]) {
        head = b->parent[head];
    }
    if (head != edge->to) {
        return fail(
            b, edge->line, "cycles",
            "\"%s\" goes back to \"%s\" past \"%s\", where another cycle leads; the nearest "
            "such node is as far back as a cycle may lead",
            from, to, name(b, head));
    }
    return true;
}

static bool check_cycles(struct building *b)
{
    const struct shape *shape = b->shape;
    for (uint16_t i = 0; i < shape->edge_count; i++) {
        b->heads[shape->edges[i].to] |= shape->edges[i].rounds > 0;
    }
    for (uint16_t i = 0; i < shape->edge_count; i++) {
        if (shape->edges[i].rounds > 0 && !check_cycle(b, &shape->edges[i])) {
            return false;
        }
    }
    return true;
}

/* ---- the graph ----------------------------------------------------------------------------- */

static void put_edge(const struct building *b, const struct shape_edge *from, struct graph_edge *to)
{
    to->from = b->number[from->from];
    to->to = b->number[from->to];
    to->answer = from->answer;
    to->condition = from->condition;
    to->rounds = from->rounds;
}

static void put_node(const struct building *b, uint16_t node, struct graph *graph)
{
    const struct shape_node *from = &b->shape->nodes[node];
    struct graph_node *to = &graph->nodes[b->number[node]];
    memcpy(to->name, from->name, sizeof to->name);
    to->pendings = from->pendings;
    to->heads_cycle = b->heads[node];
    to->preset_leg1 = from->preset_leg1;
    to->preset_leg2 = from->preset_leg2;
    to->again = from->again;
    to->first_edge = graph->edge_count;
    for (uint16_t i = b->first[node]; i < b->first[node + 1]; i++) {
        put_edge(b, &b->edges[i], &graph->edges[graph->edge_count++]);
    }
    to->edge_count = (uint16_t)(graph->edge_count - to->first_edge);
}

bool shape_build(const struct shape *shape, struct graph *graph, struct shape_error *error)
{
    struct building building = {.shape = shape, .error = error};
    struct building *b = &building;
    sort_edges(b);
    if (!check_mentions(b) || !check_children(b) || !find_parents(b)) {
        return false;
    }
    number_nodes(b);
    if (!check_reached(b) || !check_cycles(b)) {
        return false;
    }
    memset(graph, 0, sizeof *graph);
    graph->node_count = b->reached;
    for (uint16_t i = 0; i < b->reached; i++) {
        put_node(b, b->order[i], graph);
    }
    CHECK(graph->edge_count == shape->edge_count);
    CHECK_ALL(graph_check(graph)); /* SH1 */
    return true;
}
