#include "scenarios/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Text that grows until it does not fit. */
struct page {
    char *text;
    size_t size, used;
    bool full;
};

__attribute__((format(printf, 2, 3))) static void put(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(page->text + page->used, page->size - page->used, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= page->size - page->used) {
        page->full = true;
    } else {
        page->used += (size_t)length;
    }
}

static bool is_there(const bool *gone, uint16_t node)
{
    return gone == NULL || !gone[node];
}

static void put_edge(struct page *page, const struct graph *graph, const struct graph_edge *edge,
                     bool first)
{
    const char *name = graph->nodes[edge->to].name;
    put(page, first ? "" : ", ");
    if (edge->condition == GRAPH_ALWAYS) {
        put(page, "%s", name);
    } else {
        put(page, "{to: %s, when: %s}", name, edge->condition == GRAPH_IF_EVEN ? "even" : "odd");
    }
}

/* The children that one answer of a node spawns, as a list. */
static void put_children(struct page *page, const struct graph *graph, const bool *gone,
                         const struct graph_node *node, int answer)
{
    bool first = true;
    put(page, "[");
    for (uint16_t i = 0; i < node->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[node->first_edge + i];
        if (edge->answer == answer && edge->rounds == 0 && is_there(gone, edge->to)) {
            put_edge(page, graph, edge, first);
            first = false;
        }
    }
    put(page, "]");
}

static void put_graph(struct page *page, const struct graph *graph, const bool *gone)
{
    put(page, "graph:\n");
    for (uint16_t n = 0; n < graph->node_count; n++) {
        if (is_there(gone, n)) {
            put(page, "  %s: ", graph->nodes[n].name);
            put_children(page, graph, gone, &graph->nodes[n], 0);
            put(page, "\n");
        }
    }
}

static void put_pending(struct page *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        const struct graph_node *node = &graph->nodes[n];
        if (!is_there(gone, n) || node->pendings == 0) {
            continue;
        }
        put(page, "%s  %s: [", headed ? "" : "pending:\n", node->name);
        for (int k = 1; k <= node->pendings; k++) {
            put(page, k == 1 ? "" : ", ");
            put_children(page, graph, gone, node, k);
        }
        put(page, "]\n");
        headed = true;
    }
}

static void put_cycles(struct page *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        if (edge->rounds != 0 && is_there(gone, edge->from)) {
            put(page, "%s  %s: {to: %s, rounds: %d}\n", headed ? "" : "cycles:\n",
                graph->nodes[edge->from].name, graph->nodes[edge->to].name, edge->rounds);
            headed = true;
        }
    }
}

static void put_presets(struct page *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        const struct graph_node *node = &graph->nodes[n];
        if (!is_there(gone, n) || (node->preset_leg1 == 0 && node->preset_leg2 == 0)) {
            continue;
        }
        put(page, "%s  %s: {", headed ? "" : "preset:\n", node->name);
        headed = true;
        if (node->preset_leg1 != 0) {
            put(page, "leg1: %" PRId32 "%s", node->preset_leg1, node->preset_leg2 != 0 ? ", " : "");
        }
        if (node->preset_leg2 != 0) {
            put(page, "leg2: %" PRId32, node->preset_leg2);
        }
        put(page, "}\n");
    }
}

static void put_thresholds(struct page *page, const struct scenario *scenario)
{
    put(page, "threshold: [");
    for (size_t i = 0; i < scenario->threshold_count; i++) {
        put(page, "%s%" PRId64, i == 0 ? "" : ", ", scenario->thresholds[i]);
    }
    put(page, "]\n");
}

/* A store keeps the log of its commits only where the scenario lets them be lost. */
static void put_losses(struct page *page, const struct fault_rate *rate)
{
    if (rate->times != 0) {
        put(page, "faults: {%s: %" PRIu32 "/%" PRIu32 "}\n", fault_get(FAULT_LOSSY_FAILOVER)->name,
            rate->times, rate->of);
    }
}

size_t scenario_write(const struct scenario *scenario, const bool *gone, char *text, size_t size)
{
    struct page page = {.text = text, .size = size};
    const char *quote = scenario->name[0] == '-' ? "'" : ""; /* else a list for YAML */
    put(&page, "name: %s%s%s\n", quote, scenario->name, quote);
    put(&page, "protocol: activity\njobs: %" PRIu32 "\nworkers: %" PRIu32 "\n", scenario->jobs,
        scenario->workers);
    put(&page, "timeout: %" PRId64 "\nhop: %s\n", scenario->timeout,
        scenario->direct ? "none" : "task");
    put_thresholds(&page, scenario);
    put_graph(&page, &scenario->graph, gone);
    put_pending(&page, &scenario->graph, gone);
    put_cycles(&page, &scenario->graph, gone);
    put_presets(&page, &scenario->graph, gone);
    put_losses(&page, &scenario->faults.rate[FAULT_LOSSY_FAILOVER]);
    return page.full ? 0 : page.used;
}
