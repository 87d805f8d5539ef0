/* A scenario as text again: what is written is read as the same workload, whole or with some of its
 * activities gone. */
#include "scenarios/writer.h"

#include "scenarios/tests/sound.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct scenario first, again;
static struct error error;
static char text[SCENARIO_TEXT_SIZE_MAX];
static bool gone[GRAPH_NODES_MAX];

static void load(const char *name)
{
    cr_assert(scenario_load(name, &first, &error), "%s", error.text);
}

static void parse(const char *yaml)
{
    cr_assert(scenario_parse(yaml, strlen(yaml), "test", &first, &error), "%s", error.text);
}

/* Writes `first` and reads it as `again`. */
static void write_and_read(const bool *without)
{
    size_t size = scenario_write(&first, without, text, sizeof text);
    cr_assert_gt(size, 0U, "%s", first.name);
    cr_assert_eq(strlen(text), size);
    cr_assert(scenario_parse(text, size, "written", &again, &error), "%s\n%s", error.text, text);
    const char *unsound = sound_fault(&again);
    cr_assert_null(unsound, "%s\n%s", unsound, text);
}

static bool same_bytes(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

static void expect_same_settings(void)
{
    cr_expect_str_eq(first.name, again.name);
    cr_expect_eq(first.protocol, again.protocol);
    cr_expect_eq(first.jobs, again.jobs, "%s", first.name);
    cr_expect_eq(first.workers, again.workers, "%s", first.name);
    cr_expect_eq(first.connections, again.connections, "%s", first.name);
    cr_expect_eq(first.timeout, again.timeout, "%s", first.name);
    cr_expect_eq(first.direct, again.direct, "%s", first.name);
    cr_expect_eq(first.threshold_count, again.threshold_count, "%s", first.name);
    cr_expect_eq(memcmp(first.thresholds, again.thresholds, sizeof first.thresholds), 0, "%s",
                 first.name);
}

static void expect_same_workload(void)
{
    write_and_read(NULL);
    expect_same_settings();
    cr_expect(same_bytes(&first.of, &again.of, sizeof first.of), "%s", first.name);
    cr_expect(same_bytes(&first.graph, &again.graph, sizeof first.graph), "%s\n%s", first.name,
              text);
}

Test(writer, what_is_written_is_read_as_the_same_workload)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        load(scenario_name(i));
        expect_same_workload();
    }
}

/* Names that YAML, or the loader, could take for something else. */
Test(writer, names_and_orders_that_are_easily_misread_come_through)
{
    static const char *const texts[] = {
        "name: 'null'\ngraph: {'true': ['1', '2.0', 'no'], '1': [1e3, .inf]}\n",
        "name: dash\ngraph: {'-': [{to: '--', when: odd}, '---'], '---': ['-x', '.', '...']}\n",
        "name: '-'\ngraph: {trigger: []}\n",
        "name: '---'\ngraph: {trigger: ['-']}\npending: {'-': [[], ['--']]}\n"
        "cycles: {'--': {to: '-', rounds: 3}}\npreset: {'--': {leg1: 7, leg2: 8}}\n",
        "name: generators\ngraph: {chain: [binary, fan], fan: [to]}\n",
        "name: cycles-first\ncycles: {b: {to: a, rounds: 2}, a: {to: a, rounds: 1}}\n"
        "graph: {a: [b, c], b: [d]}\n",
        "name: all\ntimeout: 7\nhop: task\nthreshold: [-3, 0, 12]\njobs: 9\nworkers: 16\n"
        "graph: {a: [{to: b, when: odd}, c, {to: d, when: even}]}\n"
        "pending: {a: [[{to: e, when: even}], [], [f]], c: [[]]}\n"
        "cycles: {f: {to: a, rounds: 16}, d: {to: a, rounds: 1}}\n"
        "preset: {a: {leg1: 999}, f: {leg2: 99999999}}\n",
        "name: direct\nhop: none\ngraph: {binary: 6}\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        parse(texts[i]);
        expect_same_workload();
    }
}

/* A store keeps its log only where the scenario lets commits be lost: a replay needs to know. */
Test(writer, that_commits_can_be_lost_is_part_of_the_workload)
{
    load("lossy-failover");
    write_and_read(NULL);
    cr_expect_gt(again.faults.rate[FAULT_LOSSY_FAILOVER].times, 0U, "%s", text);
    load("tree-3");
    write_and_read(NULL);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        cr_expect_eq(again.faults.rate[kind].times, 0U, "%s",
                     fault_get((enum fault_kind)kind)->name);
    }
}

/* ---- with activities gone ----------------------------------------------------------------------
 */

static void mark_gone(const struct graph *graph, uint16_t node)
{
    memset(gone, 0, sizeof gone);
    gone[node] = true;
    for (uint16_t e = 0; e < graph->edge_count; e++) { /* edges are sorted by node: (GR1), (GR3) */
        gone[graph->edges[e].to] |= graph->edges[e].rounds == 0 && gone[graph->edges[e].from];
    }
}

static const struct graph_node *find_node(const struct graph *graph, const char *name)
{
    for (uint16_t n = 0; n < graph->node_count; n++) {
        if (strcmp(graph->nodes[n].name, name) == 0) {
            return &graph->nodes[n];
        }
    }
    return NULL;
}

/* The edges of a node that lead to where something is, in order, by name. */
static void tell_edges(const struct graph *graph, const struct graph_node *node,
                       const bool *without, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint16_t i = 0; i < node->edge_count; i++) {
        const struct graph_edge *edge = &graph->edges[node->first_edge + i];
        if (without == NULL || !without[edge->to]) {
            used += (size_t)snprintf(out + used, size - used, "%s/%d/%d/%d ",
                                     graph->nodes[edge->to].name, edge->answer, edge->condition,
                                     edge->rounds);
            cr_assert_lt(used, size);
        }
    }
}

static void expect_same_node(const struct graph_node *node)
{
    char before[2048], after[2048];
    const struct graph_node *same = find_node(&again.graph, node->name);
    cr_assert_not_null(same, "%s: %s is gone\n%s", first.name, node->name, text);
    cr_expect_eq(node->pendings, same->pendings);
    cr_expect_eq(node->preset_leg1, same->preset_leg1);
    cr_expect_eq(node->preset_leg2, same->preset_leg2);
    tell_edges(&first.graph, node, gone, before, sizeof before);
    tell_edges(&again.graph, same, NULL, after, sizeof after);
    cr_expect_str_eq(before, after, "%s: %s", first.name, node->name);
}

static void expect_pruned(uint16_t node)
{
    uint16_t left = 0;
    mark_gone(&first.graph, node);
    write_and_read(gone);
    expect_same_settings();
    for (uint16_t n = 0; n < first.graph.node_count; n++) {
        if (gone[n]) {
            cr_expect_null(find_node(&again.graph, first.graph.nodes[n].name));
        } else {
            expect_same_node(&first.graph.nodes[n]);
            left++;
        }
    }
    cr_expect_eq(again.graph.node_count, left);
}

Test(writer, any_activity_and_all_below_it_can_be_left_out)
{
    size_t pruned = 0;
    for (size_t i = 0; i < scenario_count(); i++) {
        load(scenario_name(i));
        for (uint16_t node = 1; node < first.graph.node_count; node++) {
            expect_pruned(node);
            pruned++;
        }
    }
    cr_expect_gt(pruned, 40U);
}

Test(writer, two_branches_can_be_left_out_at_once)
{
    parse("name: two\ngraph: {a: [b, c], b: [d, e], c: [f]}\npending: {b: [[g], [h]]}\n"
          "cycles: {d: {to: b, rounds: 2}, f: {to: a, rounds: 1}}\npreset: {d: {leg1: 3}}\n");
    static const char *const branches[] = {"d", "f"};
    memset(gone, 0, sizeof gone);
    for (size_t i = 0; i < COUNT(branches); i++) {
        gone[find_node(&first.graph, branches[i]) - first.graph.nodes] = true;
    }
    write_and_read(gone);
    cr_expect_eq(again.graph.node_count, first.graph.node_count - 2);
    cr_expect_null(strstr(text, "cycles"), "nothing leads back any more\n%s", text);
    cr_expect_null(strstr(text, "preset"), "%s", text);
    cr_expect_not_null(strstr(text, "pending:\n  b: [[g], [h]]\n"), "%s", text);
}

/* ---- room --------------------------------------------------------------------------------------
 */

Test(writer, a_text_that_does_not_fit_is_not_written_half)
{
    static const char *const names[] = {"ceilings", "pending", "conditional", "thresholds"};
    for (size_t i = 0; i < COUNT(names); i++) {
        load(names[i]);
        size_t size = scenario_write(&first, NULL, text, sizeof text);
        char *page = malloc(size + 2);
        for (size_t room = 1; room <= size; room++) {
            page[room] = '!';
            cr_assert_eq(scenario_write(&first, NULL, page, room), 0U, "%zu of %zu", room, size);
            cr_assert_eq(page[room], '!', "written past the end at %zu", room);
        }
        cr_expect_eq(scenario_write(&first, NULL, page, size + 1), size);
        cr_expect_str_eq(page, text);
        free(page);
    }
}
