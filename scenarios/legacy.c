/* The keys of a scenario of the legacy protocol: a graph without cycles, calls after success,
 * presets, and its assumptions. */
#include "model/legacy.h"
#include "model/legacy_engine.h"
#include "scenarios/part.h"
#include "scenarios/shape_text.h"

#include <inttypes.h>
#include <string.h>

#define LEG1_MAX 9
#define LEG2_MAX 999999

static bool read_again(struct reader *reader, void *context)
{
    return shape_text_again(reader, &((struct loading *)context)->shape);
}

/* Groups of faults that do not hit Leg2. */
static bool read_one_spared(struct reader *reader, void *context)
{
    static const char right[] = "it is crash or unknown";
    struct legacy_rules *rules = context;
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    bool crash = strcmp(text.text, "crash") == 0, unknown = strcmp(text.text, "unknown") == 0;
    rules->spares_crash |= crash;
    rules->spares_unknown |= unknown;
    return crash || unknown ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

static bool read_spared(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return reader_list(reader, "it is a list such as [crash, unknown]", read_one_spared,
                       RULES_OF(loading->scenario, legacy_rules));
}

static const struct reader_field fields[] = {
    {"graph", scenario_part_read_graph},
    {"pending", scenario_part_read_pending},
    {"again", read_again},
    {"preset", scenario_part_read_preset},
    {"leg2-is-spared", read_spared},
};

/* The earlier ledger has fewer digits than the later one. */
static bool check_presets(struct reader *reader, const struct graph *graph)
{
    for (uint16_t n = 0; n < graph->node_count; n++) {
        if (graph->nodes[n].preset_leg1 > LEG1_MAX || graph->nodes[n].preset_leg2 > LEG2_MAX) {
            reader_enter(reader, "preset");
            return reader_fail(reader, 1, "%s: at most %d entries of Leg1 and %d of Leg2",
                               graph->nodes[n].name, LEG1_MAX, LEG2_MAX);
        }
    }
    return true;
}

static bool check(struct reader *reader, struct loading *loading)
{
    return scenario_part_check_graph(reader, loading) &&
           check_presets(reader, &loading->scenario->graph);
}

static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    RULES_OF(rules, legacy_rules)->graph = &scenario->graph;
}

/* A Leg2 message that comes again spawns its children again, and so do theirs: replays are few, but
 * each may double what is below it. */
#define REPLAYS 8

static void make_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    uint32_t activities =
        graph_activities(&scenario->graph, SCENARIO_ACTIVITIES_MAX) * scenario->jobs;
    uint32_t answers = 1;
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        uint32_t own = 1U + scenario->graph.nodes[n].pendings + scenario->graph.nodes[n].again;
        answers = own > answers ? own : answers;
    }
    uint32_t integers = REPLAYS * activities + 32;
    rows[TABLE_LEGACY] = integers;
    rows[TABLE_SAVED] = integers * (answers + 2);
    rows[TABLE_ESCALATION] = integers;
    rows[TABLE_MESSAGE] = integers * (answers + 2) + 64;
}

static void put_again(struct text *page, const struct graph *graph, const bool *gone)
{
    bool headed = false;
    for (uint16_t n = 0; n < graph->node_count; n++) {
        if ((gone == NULL || !gone[n]) && graph->nodes[n].again != 0) {
            text_add(page, "%s%s: %d", headed ? ", " : "again: {", graph->nodes[n].name,
                     graph->nodes[n].again);
            headed = true;
        }
    }
    text_add(page, headed ? "}\n" : "");
}

static void write_keys(struct text *page, const struct scenario *scenario, const bool *gone)
{
    const struct legacy_rules *rules = RULES_OF(scenario, legacy_rules);
    scenario_part_put_graph(page, &scenario->graph, gone);
    put_again(page, &scenario->graph, gone);
    if (rules->spares_crash || rules->spares_unknown) {
        text_add(page, "leg2-is-spared: [%s%s%s]\n", rules->spares_crash ? "crash" : "",
                 rules->spares_crash && rules->spares_unknown ? ", " : "",
                 rules->spares_unknown ? "unknown" : "");
    }
}

const struct scenario_part scenario_part_legacy = {
    SCENARIO_PART_FIELDS(fields), .needs = "graph",  .check = check,
    .rules = make_rules,          .room = make_room, .write = write_keys,
};
