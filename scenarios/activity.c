/* The keys of a scenario of the activity protocol: a graph, thresholds, presets. */
#include "model/activity_engine.h"
#include "scenarios/part.h"
#include "scenarios/shape_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define THRESHOLD_MAX 1000000

/* ---- its keys -------------------------------------------------------------------------------- */

static bool read_one_threshold(struct reader *reader, void *context)
{
    struct scenario *scenario = context;
    if (scenario->threshold_count == SCENARIO_THRESHOLDS_MAX) {
        return reader_fail(reader, reader_line(reader), "too many; at most %d thresholds",
                           SCENARIO_THRESHOLDS_MAX);
    }
    return reader_number(reader, -THRESHOLD_MAX, THRESHOLD_MAX,
                         &scenario->thresholds[scenario->threshold_count++]);
}

/* One for all jobs, or a list that jobs take in turn (E-ACL-12). */
static bool read_threshold(struct reader *reader, void *context)
{
    struct scenario *scenario = ((struct loading *)context)->scenario;
    static const char right[] = "it is a number or a list such as [0, 1, 12]";
    size_t line = reader_line(reader);
    scenario->threshold_count = 0;
    if (reader_kind(reader) == READER_TEXT) {
        return read_one_threshold(reader, scenario);
    }
    if (!reader_list(reader, right, read_one_threshold, scenario)) {
        return false;
    }
    return scenario->threshold_count > 0 || reader_fail(reader, line, "an empty list; %s", right);
}

/* One of two words. */
static bool read_either(struct reader *reader, const char *no, const char *yes, bool *is_yes)
{
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE], right[64];
    snprintf(right, sizeof right, "it is %s or %s", no, yes);
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    *is_yes = strcmp(text.text, yes) == 0;
    return *is_yes || strcmp(text.text, no) == 0 ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

static bool read_hop(struct reader *reader, void *context)
{
    return read_either(reader, "task", "none", &((struct loading *)context)->scenario->direct);
}

static bool read_commits(struct reader *reader, void *context)
{
    return read_either(reader, "literal", "merged", &((struct loading *)context)->scenario->merged);
}

static bool read_cycles(struct reader *reader, void *context)
{
    return shape_text_cycles(reader, &((struct loading *)context)->shape);
}

static const struct reader_field fields[] = {
    {"threshold", read_threshold},
    {"hop", read_hop},
    {"graph", scenario_part_read_graph},
    {"pending", scenario_part_read_pending},
    {"cycles", read_cycles},
    {"preset", scenario_part_read_preset},
    {"commits", read_commits},
};

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    struct activity_rules *own = RULES_OF(rules, activity_rules);
    *own = (struct activity_rules){.graph = &scenario->graph,
                                   .timeout = rules->timeout,
                                   .put_back = rules->put_back,
                                   .threshold_count = (uint32_t)scenario->threshold_count,
                                   .direct = scenario->direct,
                                   .merged = scenario->merged};
    memcpy(own->thresholds, scenario->thresholds, sizeof own->thresholds);
}

static void make_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    uint32_t activities =
        graph_activities(&scenario->graph, SCENARIO_ACTIVITIES_MAX) * scenario->jobs;
    uint32_t answers = 1, rounds = 1;
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        uint32_t pendings = scenario->graph.nodes[n].pendings;
        answers = pendings + 1 > answers ? pendings + 1 : answers;
    }
    for (uint16_t e = 0; e < scenario->graph.edge_count; e++) {
        uint32_t more = scenario->graph.edges[e].rounds;
        rounds = more + 1 > rounds ? more + 1 : rounds;
    }
    uint32_t guids = activities * (answers + 1) + scenario->jobs * rounds + 64;
    rows[TABLE_JOB] = scenario->jobs + 1;
    rows[TABLE_ACTIVITY] = 2 * activities + 32;
    rows[TABLE_TASK] = 2 * activities + 32;
    rows[TABLE_GUID] = guids;
    rows[TABLE_OUTPUT] = guids;
    rows[TABLE_COMPLETION] = guids;
    rows[TABLE_ESCALATION] = guids;
    rows[TABLE_MESSAGE] = 2 * activities + 2 * guids + 64;
}

/* ---- as YAML again --------------------------------------------------------------------------- */

static bool is_there(const bool *gone, uint16_t node)
{
    return gone == NULL || !gone[node];
}

static void put_edge(struct text *page, const struct graph *graph, const struct graph_edge *edge,
                     bool first)
{
    const char *name = graph->nodes[edge->to].name;
    text_add(page, first ? "" : ", ");
    if (edge->condition == GRAPH_ALWAYS) {
        text_add(page, "%s", name);
    } else {
        text_add(page, "{to: %s, when: %s}", name,
                 edge->condition == GRAPH_IF_EVEN ? "even" : "odd");
    }
}

/* The children that one answer of a node spawns, as a list. */
static void put_children(struct text *page, const struct graph *graph, const bool *gone,
                         const struct graph_node *node, int answer)
{
    bool first = true;
    text_add(page, "[");
    for (uint16_t i = 0; i < node->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[node->first_edge + i];
        if (edge->answer == answer && edge->rounds == 0 && is_there(gone, edge->to)) {
            put_edge(page, graph, edge, first);
            first = false;
        }
    }
    text_add(page, "]");
}

static void put_graph(struct text *page, const struct graph *graph, const bool *gone)
{
    text_add(page, "graph:\n");
    for (uint16_t n = 0; n < graph->node_count; n++) {
        if (is_there(gone, n)) {
            text_add(page, "  %s: ", graph->nodes[n].name);
            put_children(page, graph, gone, &graph->nodes[n], 0);
            text_add(page, "\n");
        }
    }
}

static void put_pending(struct text *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        const struct graph_node *node = &graph->nodes[n];
        if (!is_there(gone, n) || node->pendings == 0) {
            continue;
        }
        text_add(page, "%s  %s: [", headed ? "" : "pending:\n", node->name);
        for (int k = 1; k <= node->pendings; k++) {
            text_add(page, k == 1 ? "" : ", ");
            put_children(page, graph, gone, node, k);
        }
        text_add(page, "]\n");
        headed = true;
    }
}

static void put_cycles(struct text *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        if (edge->rounds != 0 && is_there(gone, edge->from)) {
            text_add(page, "%s  %s: {to: %s, rounds: %d}\n", headed ? "" : "cycles:\n",
                     graph->nodes[edge->from].name, graph->nodes[edge->to].name, edge->rounds);
            headed = true;
        }
    }
}

static void put_presets(struct text *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        const struct graph_node *node = &graph->nodes[n];
        if (!is_there(gone, n) || (node->preset_leg1 == 0 && node->preset_leg2 == 0)) {
            continue;
        }
        text_add(page, "%s  %s: {", headed ? "" : "preset:\n", node->name);
        headed = true;
        if (node->preset_leg1 != 0) {
            text_add(page, "leg1: %" PRId32 "%s", node->preset_leg1,
                     node->preset_leg2 != 0 ? ", " : "");
        }
        if (node->preset_leg2 != 0) {
            text_add(page, "leg2: %" PRId32, node->preset_leg2);
        }
        text_add(page, "}\n");
    }
}

static void put_thresholds(struct text *page, const struct scenario *scenario)
{
    text_add(page, "threshold: [");
    for (size_t i = 0; i < scenario->threshold_count; i++) {
        text_add(page, "%s%" PRId64, i == 0 ? "" : ", ", scenario->thresholds[i]);
    }
    text_add(page, "]\n");
}

void scenario_part_put_graph(struct text *page, const struct graph *graph, const bool *gone)
{
    put_graph(page, graph, gone);
    put_pending(page, graph, gone);
    put_cycles(page, graph, gone);
    put_presets(page, graph, gone);
}

static void write_keys(struct text *page, const struct scenario *scenario, const bool *gone)
{
    text_add(page, "hop: %s\n", scenario->direct ? "none" : "task");
    text_add(page, "commits: %s\n", scenario->merged ? "merged" : "literal");
    put_thresholds(page, scenario);
    scenario_part_put_graph(page, &scenario->graph, gone);
}

const struct scenario_part scenario_part_activity = {
    SCENARIO_PART_FIELDS(fields), .needs = "graph",  .check = scenario_part_check_graph,
    .rules = make_rules,          .room = make_room, .write = write_keys,
};
