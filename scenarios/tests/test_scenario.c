#include "model/activity_engine.h"
#include "model/legacy_engine.h"
#include "scenarios/scenario.h"

#include "model/tests/fires.h"
#include "model/tests/proves.h"
#include "scenarios/tests/sound.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEGACY   "name: s\nprotocol: legacy\ngraph: {t: []}\n"
#define START    "name: s\ngraph: {trigger: [left, right]}\n" /* what follows is on line 3 */
#define PIPELINE "name: s\nprotocol: pipeline\nentries:\n"

static struct scenario scenario;
static struct error error;

static bool parse(const char *text)
{
    return scenario_parse(text, strlen(text), "s.yaml", &scenario, &error);
}

static bool same_bytes(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

/* Reads what must be read. */
static void must_parse(const char *text)
{
    cr_assert(parse(text), "%s\n%s", error.text, text);
    const char *unsound = sound_fault(&scenario);
    cr_assert_null(unsound, "%s\n%s", unsound, text);
}

static uint16_t node(const char *name)
{
    uint16_t i = 0;
    while (i < scenario.graph.node_count && strcmp(scenario.graph.nodes[i].name, name) != 0) {
        i++;
    }
    cr_assert_lt(i, scenario.graph.node_count, "there is no node %s", name);
    return i;
}

/* "trigger: left right/odd; left: ..." as it was understood: a child, /condition, @answer, and the
 * rounds of a cycle. */
static const char *graph_as_text(void)
{
    static char text[4096];
    static const char *const conditions[] = {"", "/even", "/odd"};
    size_t at = 0;
    text[0] = '\0';
    const struct graph *graph = &scenario.graph;
    for (uint16_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *from = &graph->nodes[i];
        at += (size_t)sprintf(text + at, "%s%s:", i == 0 ? "" : "; ", from->name);
        for (uint16_t k = 0; k < from->edge_count; k++) {
            const struct graph_edge *edge = &graph->edges[from->first_edge + k];
            at += (size_t)sprintf(text + at, " %s%s", graph->nodes[edge->to].name,
                                  conditions[edge->condition]);
            at += edge->answer > 0 ? (size_t)sprintf(text + at, "@%d", edge->answer) : 0;
            at += edge->rounds > 0 ? (size_t)sprintf(text + at, "x%d", edge->rounds) : 0;
        }
    }
    return text;
}

/* ---- what a scenario says ------------------------------------------------------------------ */

Test(scenario, the_example_of_the_header_is_read)
{
    must_parse("name: tree-3\n"
               "about: a trigger with two children\n"
               "protocol: activity\n"
               "jobs: 1\n"
               "workers: 2\n"
               "graph: {trigger: [left, right]}\n"
               "faults: {crash: 1/20, duplicate: 1/50, pause: 1/100}\n"
               "limits: {crashes: 3, duplicates: 2}\n"
               "reaches: [ACL-10, ACL-24, ACL-25]\n"
               "expect: pass\n");
    cr_expect_str_eq(scenario.name, "tree-3");
    cr_expect_str_eq(scenario.about, "a trigger with two children");
    cr_expect_str_eq(graph_as_text(), "trigger: left right; left:; right:");
    cr_expect_eq(scenario.reaches_count, 3U);
    cr_expect_eq(scenario.reaches[0], CLAUSE_ACL_10);
    cr_expect_eq(scenario.reaches[2], CLAUSE_ACL_25);
    cr_expect_not(scenario.breaks);
    cr_expect_eq(scenario.faults.budget[FAULT_GROUP_DUPLICATE], 2U);
    cr_expect_eq(scenario.faults.rate[FAULT_REPLAY].times, 1U);
    cr_expect_eq(scenario.faults.rate[FAULT_REPLAY].of, 50U);
}

Test(scenario, what_is_not_said_has_its_usual_value)
{
    must_parse("name: s\ngraph: {trigger: []}\n");
    cr_expect_str_eq(scenario.about, "");
    cr_expect_eq(scenario.protocol, protocol_find("activity"));
    cr_expect_eq(scenario.jobs, 1U);
    cr_expect_eq(scenario.workers, 2U);
    cr_expect_eq(scenario.thresholds[0 % scenario.threshold_count], 0);
    cr_expect_eq(scenario.timeout, SCENARIO_TIMEOUT_USUAL);
    cr_expect_not(scenario.direct);
    cr_expect_not(scenario.merged);
    cr_expect_eq(scenario.reaches_count, 0U);
    cr_expect_not(scenario.breaks);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        cr_expect_eq(scenario.faults.rate[kind].times, 0U, "nothing goes wrong unasked");
    }
    for (int group = 0; group < FAULT_GROUP_COUNT; group++) {
        cr_expect_eq(scenario.faults.budget[group],
                     fault_group_get((enum fault_group)group)->limit_usual);
    }
}

Test(scenario, commits_are_literal_as_specified_unless_they_are_to_be_merged)
{
    SETTLES(ERRATUM_ACL_35);
    static const struct {
        const char *text;
        bool merged;
    } cases[] = {
        {START, false}, {START "commits: merged\n", true}, {START "commits: literal\n", false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rules rules;
        must_parse(cases[i].text);
        scenario_rules(&scenario, 60, 7, &rules);
        cr_expect_eq(RULES_OF(&rules, activity_rules)->merged, cases[i].merged, "%s",
                     cases[i].text);
    }
}

Test(scenario, numbers_are_taken_up_to_their_bounds)
{
    must_parse(START "jobs: 10000\nworkers: 16\ntimeout: 1000000\nhop: none\nthreshold: -1000000\n"
                     "limits: {crashes: 0, jumps: 1000000}\nfaults: {crash: 1/1, clock: 0/1}\n"
                     "preset: {left: {leg1: 999}, right: {leg1: 0, leg2: 99999999}}\n");
    cr_expect_eq(scenario.jobs, 10000U);
    cr_expect_eq(scenario.workers, 16U);
    cr_expect_eq(scenario.timeout, 1000000);
    cr_expect(scenario.direct);
    cr_expect_eq(scenario.thresholds[0], -1000000);
    cr_expect_eq(scenario.faults.budget[FAULT_GROUP_CRASH], 0U);
    cr_expect_eq(scenario.faults.budget[FAULT_GROUP_CLOCK], 1000000U);
    cr_expect_eq(scenario.graph.nodes[node("left")].preset_leg1, 999);
    cr_expect_eq(scenario.graph.nodes[node("right")].preset_leg2, 99999999);
    must_parse(START "jobs: 1\nworkers: 1\ntimeout: 1\nhop: task\n");
    cr_expect_not(scenario.direct);
}

Test(scenario, jobs_take_thresholds_in_turn)
{
    PROVES(CLAUSE_ACL_23);
    SETTLES(ERRATUM_ACL_12);
    must_parse(START "jobs: 5\nthreshold: [0, 1, 12]\n");
    static const int64_t expected[] = {0, 1, 12, 0, 1};
    for (uint32_t job = 0; job < 5; job++) {
        cr_expect_eq(scenario.thresholds[job % scenario.threshold_count], expected[job], "job %u",
                     job);
    }
    must_parse(START "threshold: 7\n");
    cr_expect_eq(scenario.thresholds[0 % scenario.threshold_count], 7);
    cr_expect_eq(scenario.thresholds[9999 % scenario.threshold_count], 7);
}

Test(scenario, the_rate_of_a_kind_wins_over_that_of_its_group_in_either_order)
{
    static const char *const texts[] = {
        START "faults: {crash: 1/20, crash-before-ack: 1/5, delay: 1/8, reorder: 0/1}\n",
        START "faults: {reorder: 0/1, crash-before-ack: 1/5, delay: 1/8, crash: 1/20}\n",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        must_parse(texts[i]);
        const struct fault_rate *rate = scenario.faults.rate;
        cr_expect_eq(rate[FAULT_CRASH_BEFORE_BEGIN].of, 20U);
        cr_expect_eq(rate[FAULT_CRASH_BEFORE_ACK].of, 5U);
        cr_expect_eq(rate[FAULT_DELAY].of, 8U, "the group and the kind have one name");
        cr_expect_eq(rate[FAULT_DELAY].times, 1U);
        cr_expect_eq(rate[FAULT_REORDER].times, 0U);
        cr_expect_eq(rate[FAULT_DEADLOCK].times, 0U, "not mentioned");
    }
}

/* Sqlstates are names here, although they look like numbers. */
Test(scenario, every_fault_and_every_group_is_a_key_of_faults)
{
    char text[200];
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        snprintf(text, sizeof text, START "faults: {%s: 2/3}\n",
                 fault_get((enum fault_kind)kind)->name);
        must_parse(text);
        cr_expect_eq(scenario.faults.rate[kind].times, 2U, "%s", text);
    }
    for (int group = FAULT_GROUP_NONE + 1; group < FAULT_GROUP_COUNT; group++) {
        const struct fault_group_text *names = fault_group_get((enum fault_group)group);
        snprintf(text, sizeof text, START "faults: {%s: 2/3}\nlimits: {%s: 77}\n", names->name,
                 names->limit);
        must_parse(text);
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
            bool member = (int)fault_get((enum fault_kind)kind)->group == group;
            cr_expect_eq(scenario.faults.rate[kind].times, member ? 2U : 0U, "%s", text);
        }
        cr_expect_eq(scenario.faults.budget[group], 77U, "%s", text);
    }
}

Test(scenario, clauses_that_a_run_can_show_are_reached_and_broken)
{
    char text[200];
    for (int id = 0; id < CLAUSE_COUNT; id++) {
        const struct clause *clause = clause_get((enum clause_id)id);
        bool ours = clause->family == CLAUSE_FAMILY_ACL;
        bool breaks = clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIMIT ||
                      clause->kind == CLAUSE_KIND_LIVE || clause->kind == CLAUSE_KIND_PATH;
        snprintf(text, sizeof text, START "reaches: [%s]\n", clause->id);
        cr_expect_eq(parse(text), ours && clause->kind != CLAUSE_KIND_GOLDEN, "%s", text);
        snprintf(text, sizeof text, START "expect: breaks %s\n", clause->id);
        cr_expect_eq(parse(text), ours && breaks, "%s", text);
        cr_expect(!(ours && breaks) || (scenario.breaks && (int)scenario.broken == id));
    }
}

Test(scenario, the_text_is_kept)
{
    const char *text = START "# with its comments\n";
    must_parse(text);
    cr_expect_eq(scenario.text_size, strlen(text));
    cr_expect_eq(memcmp(scenario.text, text, strlen(text)), 0);
}

Test(scenario, equal_texts_make_equal_scenarios)
{
    static struct scenario first;
    const char *text = START "cycles: {left: {to: trigger, rounds: 2}}\nfaults: {crash: 1/2}\n";
    memset(&first, 0xaa, sizeof first);
    memset(&scenario, 0x55, sizeof scenario);
    cr_assert(scenario_parse(text, strlen(text), "one", &first, &error));
    cr_assert(scenario_parse(text, strlen(text), "other", &scenario, &error));
    cr_expect(same_bytes(&first, &scenario, sizeof first), "padding included");
}

Test(scenario, ways_to_write_it_that_mean_the_same)
{
    static const char *const texts[] = {
        "{name: s, graph: {trigger: [left, right]}}",
        "---\nname: s\ngraph:\n  trigger:\n  - left\n  - right\n...\n",
        "%YAML 1.1\n---\n\"name\": 's'\n\"graph\": {\"trigger\": [\"left\", 'right']}\n",
        "graph: {trigger: [left, right], left: [], right: []}\nname: s\n",
        "name: s\r\ngraph:\r\n  trigger: [left,\r\n            right]\r\n",
        "name: s\ngraph:\n  trigger: [{to: left}, right]",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        must_parse(texts[i]);
        cr_expect_str_eq(scenario.name, "s");
        cr_expect_str_eq(graph_as_text(), "trigger: left right; left:; right:");
    }
}

/* ---- graphs -------------------------------------------------------------------------------- */

/* (SH2) */
Test(scenario, graphs_are_numbered_breadth_first)
{
    static const struct {
        const char *text, *graph;
        uint32_t activities;
    } cases[] = {
        {"graph: {only: []}", "only:", 1},
        {"graph: {t: [a, b], b: [d], a: [c]}", "t: a b; a: c; b: d; c:; d:", 5},
        {"graph: {t: [a], c: [d], b: [c], a: [b]}", "t: a; a: b; b: c; c: d; d:", 5},
        {"graph: {t: [{to: a, when: even}, {when: odd, to: b}, c]}",
         "t: a/even b/odd c; a:; b:; c:", 4},
        {"graph: {binary: 1}", "trigger:", 1},
        {"graph: {binary: 3}", "trigger: n1 n2; n1: n3 n4; n2: n5 n6; n3:; n4:; n5:; n6:", 7},
        {"graph: {chain: 1}", "trigger:", 1},
        {"graph: {chain: 4}", "trigger: n1; n1: n2; n2: n3; n3:", 4},
        {"graph: {fan: 3}", "trigger: n1 n2 n3; n1:; n2:; n3:", 4},
        {"graph: {binary: [chain], chain: [fan]}", "binary: chain; chain: fan; fan:", 3},
        {"graph: {t: [a]}\npending: {a: [[x, {to: y, when: odd}], [], [z]]}",
         "t: a; a: x@1 y/odd@1 z@3; x:; y:; z:", 5},
        {"pending: {a: [[x]]}\ngraph: {t: [a], x: [y], a: [b]}", "t: a; a: b x@1; b:; x: y; y:", 5},
        {"graph: {t: [a, b]}\ncycles: {a: {to: t, rounds: 2}}", "t: a b; a: tx2; b:", 7},
        {"cycles: {a: {rounds: 3, to: a}}\ngraph: {t: [a], a: [b]}", "t: a; a: b ax3; b:", 6},
        {"graph: {t: [a], a: [b], b: [c]}\ncycles: {c: {to: b, rounds: 1}, a: {to: t, rounds: 1}}",
         "t: a; a: b tx1; b: c; c: bx1", 4 + 1 + 3},
        {"graph: {chain: 3}\ncycles: {n2: {to: n1, rounds: 2}}\npreset: {n2: {leg2: 5}}",
         "trigger: n1; n1: n2; n2: n1x2", 5},
        {"preset: {n1: {leg1: 5}}\ngraph: {fan: 2}", "trigger: n1 n2; n1:; n2:", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[400];
        snprintf(text, sizeof text, "name: s\n%s\n", cases[i].text);
        must_parse(text);
        cr_expect_str_eq(graph_as_text(), cases[i].graph);
        cr_expect_eq(graph_activities(&scenario.graph, 1000), cases[i].activities, "%s: %u", text,
                     graph_activities(&scenario.graph, 1000));
        cr_expect_eq(sound_activities(&scenario.graph), cases[i].activities, "%s", text);
    }
}

Test(scenario, pending_answers_heads_and_presets_are_those_of_their_nodes)
{
    must_parse("name: s\ngraph: {t: [a, b]}\npending: {b: [[], []]}\n"
               "cycles: {b: {to: t, rounds: 1}}\npreset: {a: {leg1: 998, leg2: 7}}\n");
    const struct graph_node *nodes = scenario.graph.nodes;
    cr_expect(nodes[0].heads_cycle && !nodes[1].heads_cycle && !nodes[2].heads_cycle);
    cr_expect_eq(nodes[node("b")].pendings, 2);
    cr_expect_eq(nodes[node("a")].pendings, 0);
    cr_expect_eq(nodes[node("a")].preset_leg1, 998);
    cr_expect_eq(nodes[node("a")].preset_leg2, 7);
    cr_expect_eq(nodes[node("b")].preset_leg1, 0);
}

Test(scenario, the_largest_graphs_fit)
{
    must_parse("name: s\njobs: 128\ngraph: {chain: 1024}\n");
    cr_expect_eq(scenario.graph.node_count, GRAPH_NODES_MAX);
    must_parse("name: s\njobs: 128\ngraph: {binary: 10}\n");
    cr_expect_eq(scenario.graph.node_count, 1023);
    must_parse("name: s\njobs: 7710\ngraph: {fan: 16}\n");
    cr_expect_eq(scenario.graph.nodes[0].edge_count, GRAPH_CHILDREN_MAX);
}

/* ---- what is refused ----------------------------------------------------------------------- */

/* Each with the whole message; START is two lines. */
static const struct {
    const char *text, *message;
} refused[] = {
    /* the document */
    {"", "s.yaml:1: there is nothing in it; a scenario has a name and a graph"},
    {"# nothing but a comment\n",
     "s.yaml:1: there is nothing in it; a scenario has a name and a graph"},
    {"[a, b]", "s.yaml:1: a list; a scenario is a map of keys such as name: tree-3"},
    {"tree-3", "s.yaml:1: a text; a scenario is a map of keys such as name: tree-3"},
    {"name: s\n", "s.yaml:1: the key graph is missing; a scenario of activity has name and graph"},
    {"graph: {t: []}\n",
     "s.yaml:1: the key name is missing; a scenario of activity has name and graph"},
    {START "\ncolour: red\n",
     "s.yaml:4: unknown key \"colour\"; known: name, about, protocol, jobs, workers, connections, "
     "threshold, hop, graph, pending, cycles, preset, commits, level, timeout, faults, limits, "
     "reaches, "
     "expect"},
    {START "commits: few\n", "s.yaml:3: commits: \"few\"; it is literal or merged"},
    {START "name: t\n", "s.yaml:3: the key name again; a key stands once"},
    {START "---\nname: t\n", "s.yaml:3: a second document; a file holds one scenario"},
    {START "about: &a x\n", "s.yaml:3: an anchor, alias or tag; write the value itself"},
    {"name: s\ngraph: {t: *a}\n",
     "s.yaml:2: graph: an anchor, alias or tag; write the value itself"},
    {"name: !!str s\n", "s.yaml:1: an anchor, alias or tag; write the value itself"},
    {"--- &a\nname: s\n", "s.yaml:1: an anchor, alias or tag; write the value itself"},
    {"name: s\ngraph: {t: [}\n",
     "s.yaml:2: this is no YAML: while parsing a flow node, did not find expected node content"},
    {"name: s\n\tgraph: {}\n", "s.yaml:2: this is no YAML: while scanning a plain scalar, found a "
                               "tab character that violates "
                               "indentation"},
    {"name: s\nabout: a\xff\n", "s.yaml:2: this is no YAML: invalid leading UTF-8 octet"},
    {START "? [x]\n: y\n", "s.yaml:3: a list; a key is a name"},
    /* texts and names */
    {"name: [s]\n", "s.yaml:1: name: a list; it is a name"},
    {"name: a b\n", "s.yaml:1: name: \"a b\"; a name is 1 to 39 letters, digits, '-', '_' or '.'"},
    {"name: ''\n", "s.yaml:1: name: \"\"; a name is 1 to 39 letters, digits, '-', '_' or '.'"},
    {"name: \"a\\nb\"\n",
     "s.yaml:1: name: \"a\\x0ab\"; a name is 1 to 39 letters, digits, '-', '_' or '.'"},
    {"name: a123456789a123456789a123456789a123456789\n",
     "s.yaml:1: name: \"a123456789a123456789a123456789a12345678...\"; a name is 1 to 39 letters, "
     "digits, '-', '_' or '.'"},
    {START "about: {a: b}\n", "s.yaml:3: about: a map; it is one line of at most 159 bytes"},
    {START "about: \"a\\nb\"\n",
     "s.yaml:3: about: a text with a control character; it is one line of at most 159 bytes"},
    {START "about: \"a\\x9bb\"\n",
     "s.yaml:3: about: a text with a control character; it is one line of at most 159 bytes"},
    {START "about: \"a\\0b\"\n",
     "s.yaml:3: about: a text with a 0 byte; it is one line of at most 159 bytes"},
    /* what it is */
    {START "protocol: tcp\n",
     "s.yaml:3: protocol: unknown protocol \"tcp\"; known: activity, inbox, legacy, key, pipeline, "
     "seq"},
    {"name: s\nprotocol: inbox\naccounts: 2\ngraph: {t: []}\n",
     "s.yaml:4: another protocol's key \"graph\"; known: name, about, protocol, jobs, workers, "
     "connections, accounts, level, timeout, faults, limits, reaches, expect"},
    {"accounts: 2\nname: s\ngraph: {t: []}\n",
     "s.yaml:1: another protocol's key \"accounts\"; known: name, about, protocol, jobs, workers, "
     "connections, threshold, hop, graph, pending, cycles, preset, commits, level, timeout, "
     "faults, "
     "limits, reaches, expect"},
    {"name: s\nprotocol: inbox\n",
     "s.yaml:1: the key accounts is missing; a scenario of inbox has name and accounts"},
    {"reaches: [ACL-1]\nname: s\naccounts: 1\nprotocol: inbox\n",
     "s.yaml:1: reaches: ACL-1 is a clause of another protocol; those of inbox are BOX-1 and so "
     "on"},
    {"name: s\nprotocol: pipeline\n",
     "s.yaml:1: the key entries is missing; a scenario of pipeline has name and entries"},
    {PIPELINE "  a: []\n",
     "s.yaml:4: entries: a: a list; it is a map such as {reviews: [reject, approve]}, or {}"},
    {PIPELINE "  a: {}\n  a: {}\n", "s.yaml:5: entries: the entry a comes twice"},
    {PIPELINE "  a b: {}\n", "s.yaml:4: entries: \"a b\"; a name is 1 to 15 letters, digits, '-', "
                             "'_' or '.'"},
    {PIPELINE "  a: {needs: [b]}\n  b: {}\n",
     "s.yaml:4: entries: a: needs: there is no entry b before this one"},
    {PIPELINE "  a: {}\n  b: {needs: [a, a, a, a]}\n",
     "s.yaml:5: entries: b: needs: too many; at most 3"},
    {PIPELINE "  a: {reviews: [maybe]}\n",
     "s.yaml:4: entries: a: reviews: \"maybe\"; it is approve or reject"},
    {PIPELINE "  a: {reviews: [[]]}\n",
     "s.yaml:4: entries: a: reviews: a list; it is approve or reject"},
    {PIPELINE "  a: {verify: [pass, pass, pass, fail]}\n",
     "s.yaml:4: entries: a: verify: too many; at most 3"},
    {PIPELINE "  a: {flaw: ugly}\n",
     "s.yaml:4: entries: a: flaw: \"ugly\"; it is no-payload, no-blocker, other-payload, "
     "rival-reviewer or none"},
    {PIPELINE "  a: {}\n  b: {}\n  c: {}\n  d: {}\n  e: {}\n  f: {}\n  g: {}\n  h: {}\n  i: {}\n",
     "s.yaml:12: entries: too many; at most 8 entries"},
    {"name: s\nprotocol: seq\n",
     "s.yaml:1: the key fates is missing; a scenario of seq has name and fates"},
    {"name: s\nprotocol: seq\nfates: []\n",
     "s.yaml:3: fates: an empty list; it is a list such as [success, retry, cancel]"},
    {"name: s\nprotocol: seq\nfates: success\n",
     "s.yaml:3: fates: a text; it is a list such as [success, retry, cancel]"},
    {"name: s\nprotocol: seq\nfates: [success,\n  luck]\n",
     "s.yaml:4: fates: \"luck\"; it is success, skip, retry, exhaust, fatal or cancel"},
    {"name: s\nprotocol: seq\nfates: [{}]\n",
     "s.yaml:3: fates: a map; it is success, skip, retry, exhaust, fatal or cancel"},
    {"name: s\nprotocol: seq\ndrill: 1\n", "s.yaml:3: drill: \"1\"; it is on or off"},
    {"name: s\nprotocol: seq\ndrill: []\n", "s.yaml:3: drill: a list; it is on or off"},
    {"name: s\nprotocol: seq\nbudget: 9\n", "s.yaml:3: budget: \"9\"; it is a number from 1 to 8"},
    {START "protocol: [activity]\n", "s.yaml:3: protocol: a list; it is activity"},
    /* legacy */
    {"name: s\nprotocol: legacy\n",
     "s.yaml:1: the key graph is missing; a scenario of legacy has name and graph"},
    {"name: s\nprotocol: pipeline\nentries: {}\n",
     "s.yaml:3: entries: an empty map; it is a map of entries"},
    {"name: s\nprotocol: inbox\naccounts: 101\n",
     "s.yaml:3: accounts: \"101\"; it is a number from 1 to 100"},
    {LEGACY "cycles: {t: {to: t, rounds: 1}}\n",
     "s.yaml:4: another protocol's key \"cycles\"; known: name, about, protocol, jobs, workers, "
     "connections, graph, pending, again, preset, leg2-is-spared, level, timeout, faults, limits, "
     "reaches, expect"},
    {LEGACY "again: {t: 0}\n", "s.yaml:4: again: t: \"0\"; it is a number from 1 to 8"},
    {LEGACY "again: {t: 1, t: 2}\n", "s.yaml:4: again: the node \"t\" again; a key stands once"},
    {LEGACY "again: {u: 1}\n", "s.yaml:4: again: there is no node \"u\" in the graph"},
    {LEGACY "again: 1\n", "s.yaml:4: again: a text; it is a map such as {NODE: 1}"},
    {LEGACY "preset: {t: {leg1: 10}}\n",
     "s.yaml:1: preset: t: at most 9 entries of Leg1 and 999999 of Leg2"},
    {LEGACY "preset: {t: {leg2: 1000000}}\n",
     "s.yaml:1: preset: t: at most 9 entries of Leg1 and 999999 of Leg2"},
    {LEGACY "leg2-is-spared: crash\n",
     "s.yaml:4: leg2-is-spared: a text; it is a list such as [crash, unknown]"},
    {LEGACY "leg2-is-spared: [pause]\n",
     "s.yaml:4: leg2-is-spared: \"pause\"; it is crash or unknown"},
    {LEGACY "leg2-is-spared: [[crash]]\n",
     "s.yaml:4: leg2-is-spared: a list; it is crash or unknown"},
    {"name: s\nprotocol: legacy\ngraph: {t: [t]}\n",
     "s.yaml:3: graph: \"t\" leads back to \"t\"; an edge back stands under cycles, as in cycles: "
     "{t: {to: t, rounds: 2}}"},
    {LEGACY "expect: breaks LEG-2\n",
     "s.yaml:4: expect: LEG-2 is of kind golden, which no run "
     "breaks; broken are clauses of kind safe, limit, live and path"},
    /* numbers */
    {START "jobs: 0\n", "s.yaml:3: jobs: \"0\"; it is a number from 1 to 10000"},
    {START "jobs: 10001\n", "s.yaml:3: jobs: \"10001\"; it is a number from 1 to 10000"},
    {START "jobs: 99999999999999999999\n",
     "s.yaml:3: jobs: \"99999999999999999999\"; it is a number from 1 to 10000"},
    {START "jobs: -1\n", "s.yaml:3: jobs: \"-1\"; it is a number from 1 to 10000"},
    {START "jobs: +1\n", "s.yaml:3: jobs: \"+1\"; it is a number from 1 to 10000"},
    {START "jobs: 1.5\n", "s.yaml:3: jobs: \"1.5\"; it is a number from 1 to 10000"},
    {START "jobs: 010\n", "s.yaml:3: jobs: \"010\"; it is a number from 1 to 10000"},
    {START "jobs: ten\n", "s.yaml:3: jobs: \"ten\"; it is a number from 1 to 10000"},
    {START "jobs: '1'\n", "s.yaml:3: jobs: \"1\" in quotes; it is a number from 1 to 10000"},
    {START "jobs:\n", "s.yaml:3: jobs: \"\"; it is a number from 1 to 10000"},
    {START "jobs: [1]\n", "s.yaml:3: jobs: a list; it is a number from 1 to 10000"},
    {START "workers: 17\n", "s.yaml:3: workers: \"17\"; it is a number from 1 to 16"},
    {START "timeout: 0\n", "s.yaml:3: timeout: \"0\"; it is a number from 1 to 1000000"},
    {START "threshold: x\n", "s.yaml:3: threshold: \"x\"; it is a number from -1000000 to 1000000"},
    {START "threshold: -0\n",
     "s.yaml:3: threshold: \"-0\"; it is a number from -1000000 to 1000000"},
    {START "threshold: [0, 1,\n  1000001]\n",
     "s.yaml:4: threshold: \"1000001\"; it is a number from -1000000 to 1000000"},
    {START "threshold: []\n",
     "s.yaml:3: threshold: an empty list; it is a number or a list such as [0, 1, 12]"},
    {START "threshold: {a: 1}\n",
     "s.yaml:3: threshold: a map; it is a number or a list such as [0, 1, 12]"},
    {START "threshold: [0, 1, 2, 3, 4, 5, 6, 7, 8]\n",
     "s.yaml:3: threshold: too many; at most 8 thresholds"},
    {START "hop: jump\n", "s.yaml:3: hop: \"jump\"; it is task or none"},
    /* how a graph is written */
    {"name: s\ngraph:\n", "s.yaml:2: graph: nothing; it is a map such as {trigger: [left, right]}"},
    {"name: s\ngraph: [a]\n",
     "s.yaml:2: graph: a list; it is a map such as {trigger: [left, right]}"},
    {"name: s\ngraph: {}\n",
     "s.yaml:2: graph: an empty map; it is a map such as {trigger: [left, right]}"},
    {"name: s\ngraph: {t: a}\n",
     "s.yaml:2: graph: \"t\" has no list; write {NODE: [CHILD, ...]}, {binary: LEVELS}, "
     "{chain: NODES} or {fan: CHILDREN}"},
    {"name: s\ngraph:\n  t: [a]\n  a: 3\n",
     "s.yaml:4: graph: a: a text; it is a list of children, such as [left, right]"},
    {"name: s\ngraph:\n  t: [a]\n  a:\n",
     "s.yaml:4: graph: a: nothing; it is a list of children, such as [left, right]"},
    {"name: s\ngraph: {t: {a: b}}\n",
     "s.yaml:2: graph: t: a map; it is a list of children, such as [left, right]"},
    {"name: s\ngraph: {binary: 11}\n",
     "s.yaml:2: graph: binary: \"11\"; it is a number from 1 to 10"},
    {"name: s\ngraph: {chain: 1025}\n",
     "s.yaml:2: graph: chain: \"1025\"; it is a number from 1 to 1024"},
    {"name: s\ngraph: {fan: 17}\n", "s.yaml:2: graph: fan: \"17\"; it is a number from 1 to 16"},
    {"name: s\ngraph:\n  binary: 3\n  n6: [a]\n",
     "s.yaml:4: graph: a generator and more; a generator stands alone"},
    {"name: s\ngraph: {t: [a, [b]]}\n",
     "s.yaml:2: graph: t: a list; a child is a name or {to: NAME, when: even}"},
    {"name: s\ngraph: {t: [{when: odd}]}\n",
     "s.yaml:2: graph: t: a child without a name; it is {to: NAME, when: even}"},
    {"name: s\ngraph: {t: [{to: a, when: prime}]}\n",
     "s.yaml:2: graph: t: when: \"prime\"; it is even or odd"},
    {"name: s\ngraph: {t: [{to: a, if: odd}]}\n",
     "s.yaml:2: graph: t: unknown key \"if\"; known: to, when"},
    {"name: s\ngraph: {t: [{to: a, to: b}]}\n",
     "s.yaml:2: graph: t: the key to again; a key stands once"},
    {"name: s\ngraph: {t: [a/b]}\n",
     "s.yaml:2: graph: t: \"a/b\"; a name is 1 to 23 letters, digits, '-', '_' or '.'"},
    {"name: s\ngraph:\n  t: [a]\n  t: [b]\n",
     "s.yaml:4: graph: the node \"t\" again; a key stands once"},
    {"name: s\ngraph: {a12345678901234567890123: []}\n",
     "s.yaml:2: graph: \"a12345678901234567890123\"; a name is 1 to 23 letters, digits, '-', '_' "
     "or "
     "'.'"},
    {"name: s\ngraph:\n  t: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]\n"
     "cycles:\n  t: {to: t, rounds: 1}\n",
     "s.yaml:5: cycles: one answer of \"t\" spawns more than 16 children, its cycle counted"},
    /* joins, edges back, nodes out of reach */
    {"name: s\ngraph:\n  t: [a, b]\n  a: [c]\n  b: [c]\n",
     "s.yaml:5: graph: \"c\" is a child of \"a\" and of \"b\"; a node has one parent, as joins are "
     "not defined by the protocol (E-ACL-23)"},
    {"name: s\ngraph:\n  t: [a, b]\n  a: [c]\npending:\n  b: [[],\n      [c]]\n",
     "s.yaml:7: pending: \"c\" is a child of \"a\" and of \"b\"; a node has one parent, as joins "
     "are "
     "not defined by the protocol (E-ACL-23)"},
    {"name: s\ngraph: {t: [{to: a, when: even},\n  {to: a, when: odd}]}\n",
     "s.yaml:3: graph: \"a\" is a child of \"t\" twice; a child is named once"},
    {"name: s\ngraph:\n  t: [a]\n  a: [b]\n  b: [a]\n",
     "s.yaml:5: graph: \"b\" leads back to \"a\"; an edge back stands under cycles, as in "
     "cycles: {b: {to: a, rounds: 2}}"},
    {"name: s\ngraph:\n  t: [x]\n  b: [a]\n  x: [a]\n  a: [b]\n",
     "s.yaml:4: graph: \"b\" leads back to \"a\"; an edge back stands under cycles, as in "
     "cycles: {b: {to: a, rounds: 2}}"},
    {"name: s\ngraph:\n  t: [a]\n  a: [t]\n",
     "s.yaml:4: graph: \"a\" leads back to \"t\"; an edge back stands under cycles, as in "
     "cycles: {a: {to: t, rounds: 2}}"},
    {"name: s\ngraph:\n  t: [a]\n  a: [a]\n",
     "s.yaml:4: graph: \"a\" leads back to \"a\"; an edge back stands under cycles, as in "
     "cycles: {a: {to: a, rounds: 2}}"},
    {"name: s\ngraph:\n  t: [a]\n  b: [c]\n  c: [b]\n",
     "s.yaml:5: graph: \"c\" leads back to \"b\"; an edge back stands under cycles, as in "
     "cycles: {c: {to: b, rounds: 2}}"},
    {"name: s\ngraph:\n  t: [a]\n  b: [t]\n",
     "s.yaml:4: graph: \"b\" leads to \"t\"; the first node is the trigger and has no parent"},
    {"name: s\ngraph:\n  t: [a]\n  c: [d]\n  b: [c]\n",
     "s.yaml:5: graph: \"b\" is not reached from the trigger \"t\"; make it the child of a node "
     "that "
     "is"},
    /* pending */
    {START "pending: {up: [[]]}\n", "s.yaml:3: pending: there is no node \"up\" in the graph"},
    {START "pending: {left: [a]}\n",
     "s.yaml:3: pending: left: a text; it is a list of children, such as [left, right]"},
    {START "pending: {left: 2}\n",
     "s.yaml:3: pending: left: a text; it is one list of children a pending answer, such as "
     "[[left], []]"},
    {START "pending: {left: [[], [], [], [], [], [], [], [], []]}\n",
     "s.yaml:3: pending: left: too many pending answers; a node has at most 8"},
    {START "pending: {left: [[]], left: [[]]}\n",
     "s.yaml:3: pending: the node \"left\" again; a key stands once"},
    {START "pending: [left]\n",
     "s.yaml:3: pending: a list; it is a map such as {NODE: [[CHILD], []]}"},
    /* cycles */
    {START "cycles: {up: {to: trigger, rounds: 1}}\n",
     "s.yaml:3: cycles: there is no node \"up\" in the graph"},
    {START "cycles: {left: {to: up, rounds: 1}}\n",
     "s.yaml:3: cycles: there is no node \"up\" in the graph"},
    {START "cycles: {left: {to: right, rounds: 1}}\n",
     "s.yaml:3: cycles: \"left\" cannot go back to \"right\"; a cycle leads to an ancestor or to "
     "the "
     "node itself"},
    {"name: s\ngraph: {t: [a], a: [b]}\ncycles:\n  b: {to: t, rounds: 1}\n  a: {to: a, rounds: "
     "1}\n",
     "s.yaml:4: cycles: \"b\" goes back to \"t\" past \"a\", where another cycle leads; the "
     "nearest "
     "such node is as far back as a cycle may lead"},
    {START "cycles: {left: {to: trigger}}\n",
     "s.yaml:3: cycles: left: a key is missing; it is {to: ANCESTOR, rounds: NUMBER}"},
    {START "cycles: {left: {rounds: 2}}\n",
     "s.yaml:3: cycles: left: a key is missing; it is {to: ANCESTOR, rounds: NUMBER}"},
    {START "cycles: {left: {to: trigger, rounds: 0}}\n",
     "s.yaml:3: cycles: left: rounds: \"0\"; it is a number from 1 to 16"},
    {START "cycles: {left: {to: trigger, rounds: 17}}\n",
     "s.yaml:3: cycles: left: rounds: \"17\"; it is a number from 1 to 16"},
    {START "cycles: {left: trigger}\n",
     "s.yaml:3: cycles: left: a text; it is {to: ANCESTOR, rounds: NUMBER}"},
    /* preset */
    {START "preset: {up: {leg1: 1}}\n", "s.yaml:3: preset: there is no node \"up\" in the graph"},
    {START "preset: {left: {leg1: 1000}}\n",
     "s.yaml:3: preset: left: leg1: \"1000\"; it is a number from 0 to 999"},
    {START "preset: {left: {leg2: 100000000}}\n",
     "s.yaml:3: preset: left: leg2: \"100000000\"; it is a number from 0 to 99999999"},
    {START "preset: {left: {leg3: 1}}\n",
     "s.yaml:3: preset: left: unknown key \"leg3\"; known: leg1, leg2"},
    {START "preset: {left: {}}\n",
     "s.yaml:3: preset: left: an empty map; it is {leg1: ENTRIES, leg2: ENTRIES} or one of them"},
    /* faults and limits */
    {START "faults:\n  crash: 1/20\n  crsh: 1/20\n",
     "s.yaml:5: faults: unknown fault \"crsh\"; known: crash, unknown, abort, duplicate, pause, "
     "delay, server, loss, clock, answer, illegal, successor, work, skew, or one kind of them, "
     "such as "
     "crash-before-ack"},
    {START "faults: {none: 1/2}\n",
     "s.yaml:3: faults: unknown fault \"none\"; known: crash, unknown, abort, duplicate, pause, "
     "delay, server, loss, clock, answer, illegal, successor, work, skew, or one kind of them, "
     "such as "
     "crash-before-ack"},
    {START "faults: {crash: 1/2, crash: 1/3}\n",
     "s.yaml:3: faults: the key crash again; a key stands once"},
    {START "faults: {40P01: 1/2, 40P01: 1/3}\n",
     "s.yaml:3: faults: the key 40P01 again; a key stands once"},
    {START "faults: {crash: 3/2}\n",
     "s.yaml:3: faults: crash: \"3/2\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: 1/0}\n",
     "s.yaml:3: faults: crash: \"1/0\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: 0/0}\n",
     "s.yaml:3: faults: crash: \"0/0\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: 0.05}\n",
     "s.yaml:3: faults: crash: \"0.05\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: 1/1000001}\n",
     "s.yaml:3: faults: crash: \"1/1000001\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: 1/20/3}\n",
     "s.yaml:3: faults: crash: \"1/20/3\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: 1/02}\n",
     "s.yaml:3: faults: crash: \"1/02\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: /2}\n",
     "s.yaml:3: faults: crash: \"/2\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: '1/2'}\n",
     "s.yaml:3: faults: crash: \"1/2\"; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: {crash: [1, 2]}\n",
     "s.yaml:3: faults: crash: a list; it is a ratio from 0/1 to 1/1, such as 1/20"},
    {START "faults: [crash]\n", "s.yaml:3: faults: a list; it is a map such as {crash: 1/20}"},
    {START "limits: {crash: 3}\n",
     "s.yaml:3: limits: unknown limit \"crash\"; known: crashes, unknowns, aborts, duplicates, "
     "pauses, delays, restarts, losses, jumps, answers, illegals, successors, works, skews"},
    {START "limits: {crashes: 3, crashes: 4}\n",
     "s.yaml:3: limits: the key crashes again; a key stands once"},
    {START "limits: {crashes: -1}\n",
     "s.yaml:3: limits: crashes: \"-1\"; it is a number from 0 to 1000000"},
    {START "limits: 3\n", "s.yaml:3: limits: a text; it is a map such as {crashes: 3}"},
    /* clauses */
    {START "reaches: ACL-9\n",
     "s.yaml:3: reaches: a text; it is a list of clauses, such as [ACL-10, ACL-24]"},
    {START "reaches:\n- ACL-9\n- ACL-99\n",
     "s.yaml:5: reaches: unknown clause \"ACL-99\"; one is written ACL-19, and assay list clauses "
     "shows them all"},
    {START "reaches: [ACL-9, ACL-9]\n", "s.yaml:3: reaches: ACL-9 again; a clause stands once"},
    {START "reaches: [ACL-35]\n",
     "s.yaml:3: reaches: ACL-35 is of kind golden, which no run shows; reached are clauses of kind "
     "path, limit, safe, live and fmt"},
    {START "reaches: [SEQ-3]\n",
     "s.yaml:3: reaches: SEQ-3 is a clause of another protocol; those of activity are ACL-1 and so "
     "on"},
    {START "reaches: [[ACL-9]]\n", "s.yaml:3: reaches: a list; it is a clause, such as ACL-24"},
    {START "expect: fail\n", "s.yaml:3: expect: \"fail\"; it is pass, or breaks CLAUSE, CLAUSE..."},
    {START "expect: breaks\n",
     "s.yaml:3: expect: \"breaks\"; it is pass, or breaks CLAUSE, CLAUSE..."},
    {START "expect: breaks ACL-77\n",
     "s.yaml:3: expect: unknown clause \"ACL-77\"; one is written ACL-19, and assay list clauses "
     "shows them all"},
    {START "expect: breaks LEG-6\n",
     "s.yaml:3: expect: LEG-6 is a clause of another protocol; those of activity are ACL-1 and so "
     "on"},
    {START "expect: breaks ACL-3\n", "s.yaml:3: expect: ACL-3 is of kind fmt, which no run "
                                     "breaks; broken are clauses of kind safe, "
                                     "limit, live and path"},
    {START "expect: breaks ACL-33, ACL-33\n",
     "s.yaml:3: expect: ACL-33 again; a clause stands once"},
    {START "expect: breaks ACL-33,\n",
     "s.yaml:3: expect: unknown clause \"\"; one is written ACL-19, and assay list clauses shows "
     "them all"},
    {START "expect: breaks ACL-33, ACL-3\n",
     "s.yaml:3: expect: ACL-3 is of kind fmt, which no run breaks; broken are clauses of kind "
     "safe, limit, live and path"},
    /* too much of it */
    {"name: s\njobs: 10000\ngraph: {fan: 15}\n",
     "s.yaml:3: graph: 10000 jobs of 16 activities; all jobs together make at most 131072"},
    {"name: s\ngraph: {t: [a, b]}\n"
     "cycles: {a: {to: t, rounds: 16}, b: {to: t, rounds: 16}}\n",
     "s.yaml:2: graph: 1 job of at least 131073 activities; all jobs together make at most 131072"},
};

/* (Y1) */
Test(scenario, what_is_wrong_is_said_in_one_line_with_its_place)
{
    SETTLES(ERRATUM_ACL_23);
    for (size_t i = 0; i < COUNT(refused); i++) {
        memset(&error, 'x', sizeof error);
        cr_expect_not(parse(refused[i].text), "case %zu:\n%s", i, refused[i].text);
        cr_assert_not_null(memchr(error.text, '\0', sizeof error.text));
        cr_expect_str_eq(error.text, refused[i].message, "case %zu:\n%s\n%s", i, refused[i].text,
                         error.text);
        cr_expect_null(strchr(error.text, '\n'), "case %zu", i);
    }
}

/* Each case is good but for what it is about: with START alone it is read. */
Test(scenario, what_every_refused_text_begins_with_is_good)
{
    must_parse(START);
}

Test(scenario, texts_that_are_too_long_are_refused)
{
    static char text[SCENARIO_TEXT_SIZE_MAX + 1];
    snprintf(text, sizeof text, "%s", START);
    memset(text + strlen(START), '#', sizeof text - strlen(START));
    cr_expect(scenario_parse(text, SCENARIO_TEXT_SIZE_MAX, "s.yaml", &scenario, &error));
    cr_expect_eq(scenario.text_size, (size_t)SCENARIO_TEXT_SIZE_MAX);
    cr_expect_not(scenario_parse(text, sizeof text, "s.yaml", &scenario, &error));
    cr_expect_str_eq(error.text,
                     "s.yaml:1: more than 65536 bytes, the most that a scenario may have");
}

Test(scenario, an_about_that_is_too_long_is_refused)
{
    char text[400] = START "about: ";
    size_t at = strlen(text);
    memset(text + at, 'a', SCENARIO_ABOUT_SIZE - 1);
    must_parse(text);
    cr_expect_eq(strlen(scenario.about), (size_t)SCENARIO_ABOUT_SIZE - 1);
    memset(text + at, 'a', SCENARIO_ABOUT_SIZE);
    cr_expect_not(parse(text));
    cr_expect_str_eq(error.text, "s.yaml:3: about: a text of 160 bytes; it is one line of at most "
                                 "159 bytes");
    memset(text + at, 'a', 250);
    cr_expect_not(parse(text));
    cr_expect_str_eq(error.text, "s.yaml:3: about: a text of 250 bytes; it is one line of at most "
                                 "159 bytes");
}

Test(scenario, too_many_nodes_are_refused)
{
    static char text[SCENARIO_TEXT_SIZE_MAX];
    size_t at = (size_t)sprintf(text, "name: s\ngraph:\n");
    for (int i = 0, next = 1; i < 70; i++) {
        at += (size_t)sprintf(text + at, "  x%d: [", i);
        for (int k = 0; k < GRAPH_CHILDREN_MAX; k++, next++) {
            at += (size_t)sprintf(text + at, "%sx%d", k == 0 ? "" : ", ", next);
        }
        at += (size_t)sprintf(text + at, "]\n");
    }
    cr_expect_not(parse(text));
    cr_expect_str_eq(error.text,
                     "s.yaml:66: graph: x63: there are more than 1024 nodes or 2048 edges");
    cr_expect_not(parse("name: s\npreset: {other: {leg1: 1}}\ngraph: {chain: 1024}\n"));
    cr_expect_str_eq(error.text,
                     "s.yaml:3: graph: chain: there are more than 1024 nodes or 2048 edges");
    cr_expect_not(parse("name: s\ngraph: {chain: 1024}\npreset: {other: {leg1: 1}}\n"));
    cr_expect_str_eq(error.text, "s.yaml:3: preset: there are more than 1024 nodes or 2048 edges");
}

Test(scenario, too_many_edges_are_refused)
{
    static char text[SCENARIO_TEXT_SIZE_MAX];
    size_t at = (size_t)sprintf(text, "name: s\ngraph: {t: [");
    for (int i = 0; i <= GRAPH_EDGES_MAX; i++) {
        at += (size_t)sprintf(text + at, "%sa", i == 0 ? "" : ", ");
    }
    sprintf(text + at, "]}\n");
    cr_expect_not(parse(text));
    cr_expect_str_eq(error.text,
                     "s.yaml:2: graph: t: there are more than 1024 nodes or 2048 edges");
}

/* The end of a path says more than its beginning; a message stays in one line whatever the path. */
Test(scenario, a_long_or_odd_origin_is_clipped_to_its_end)
{
    char origin[300];
    memset(origin, 'd', sizeof origin);
    snprintf(origin + 280, sizeof origin - 280, "/tree\n3.yaml");
    cr_expect_not(scenario_parse("", 0, origin, &scenario, &error));
    cr_expect_eq(strncmp(error.text, "...dddd", 7), 0, "%s", error.text);
    cr_expect_not_null(strstr(error.text, "/tree?3.yaml:1: there is nothing in it"), "%s",
                       error.text);
}

/* Whatever is cut off a good text or changed in it: it is refused or it is sound. */
Test(scenario, no_cut_or_changed_text_makes_an_unsound_scenario)
{
    for (size_t which = 0; which < scenario_count(); which++) {
        static struct scenario whole;
        cr_assert(scenario_load(scenario_name(which), &whole, &error), "%s", error.text);
        for (size_t i = 0; i <= whole.text_size; i++) {
            bool cut = scenario_parse(whole.text, i, "s.yaml", &scenario, &error);
            cr_assert(!cut || sound_fault(&scenario) == NULL, "%s cut at %zu", whole.name, i);
        }
        for (size_t i = 0; i < whole.text_size; i++) {
            static const char changes[] = "\n:,[]{}0 a\"#&";
            char kept = whole.text[i];
            whole.text[i] = changes[i % (sizeof changes - 1)];
            bool read = scenario_parse(whole.text, whole.text_size, "s.yaml", &scenario, &error);
            cr_assert(!read || sound_fault(&scenario) == NULL, "%s at %zu", whole.name, i);
            whole.text[i] = kept;
        }
    }
}

/* ---- the check of this suite --------------------------------------------------------------- */

#define UNSOUND(change)                                                                            \
    do {                                                                                           \
        must_parse("name: s\ngraph: {t: [a, b], a: [c]}\npending: {b: [[d]]}\n"                    \
                   "cycles: {c: {to: t, rounds: 2}}\nreaches: [ACL-9, ACL-10]\n");                 \
        struct graph *graph = &scenario.graph;                                                     \
        (void)graph;                                                                               \
        change;                                                                                    \
        cr_expect_not_null(sound_fault(&scenario), #change);                                       \
    } while (0)

Test(scenario, an_unsound_scenario_is_told_from_a_sound_one)
{
    UNSOUND(scenario.name[0] = '\0');
    UNSOUND(scenario.name[0] = ' ');
    UNSOUND(memset(scenario.about, 'a', sizeof scenario.about));
    UNSOUND(scenario.jobs = 0);
    UNSOUND(scenario.jobs = 10001);
    UNSOUND(scenario.workers = 17);
    UNSOUND(scenario.threshold_count = 0);
    UNSOUND(scenario.timeout = 0);
    UNSOUND(graph->node_count = 0);
    UNSOUND(graph->node_count--);
    UNSOUND(graph->edge_count--);
    UNSOUND(graph->nodes[3].name[0] = '\0');
    UNSOUND(graph->nodes[1].first_edge++);
    UNSOUND(graph->nodes[2].preset_leg1 = 1000);
    UNSOUND(graph->nodes[2].preset_leg2 = -1);
    UNSOUND(graph->nodes[2].pendings = 0);
    UNSOUND(graph->nodes[0].heads_cycle = false);
    UNSOUND(graph->nodes[1].heads_cycle = true);
    UNSOUND(graph->edges[0].to = 0);
    UNSOUND(graph->edges[1].to = 1);
    UNSOUND(graph->edges[1].from = 1);
    UNSOUND(graph->edges[1].condition = 3);
    UNSOUND(graph->edges[0].rounds = 1);
    UNSOUND(graph->edges[4].rounds = 17);
    UNSOUND(graph->edges[4].to = 2);
    UNSOUND(graph->edges[4].answer = 1);
    UNSOUND(scenario.faults.rate[FAULT_DELAY].of = 0);
    UNSOUND(scenario.faults.rate[FAULT_DELAY].times = 2);
    UNSOUND(scenario.faults.rate[FAULT_NONE].times = 1);
    UNSOUND(scenario.faults.budget[FAULT_GROUP_NONE] = 1);
    UNSOUND(scenario.reaches[1] = CLAUSE_ACL_9);
    UNSOUND(scenario.reaches[1] = CLAUSE_ACL_35);
    UNSOUND(scenario.reaches_count = SCENARIO_REACHES_MAX + 1);
    UNSOUND((scenario.breaks = true, scenario.broken = CLAUSE_ACL_3));
    UNSOUND((scenario.also_count = 1, scenario.also[0] = CLAUSE_ACL_33));
    UNSOUND((scenario.breaks = true, scenario.broken = CLAUSE_ACL_33, scenario.also_count = 1,
             scenario.also[0] = CLAUSE_ACL_3));
}

/* ---- the scenarios there are --------------------------------------------------------------- */

Test(scenario, every_built_in_scenario_is_read_and_bears_the_name_of_its_file)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        cr_assert(scenario_load(scenario_name(i), &scenario, &error), "%s", error.text);
        const char *unsound = sound_fault(&scenario);
        cr_expect_null(unsound, "%s: %s", scenario_name(i), unsound);
        cr_expect_str_eq(scenario.name, scenario_name(i));
        cr_expect_gt(strlen(scenario.about), 10U, "%s", scenario.name);
        cr_expect(i == 0 || strcmp(scenario_name(i - 1), scenario_name(i)) < 0, "sorted");
    }
}

Test(scenario, every_file_of_the_folder_is_built_in_as_it_is)
{
    glob_t files;
    cr_assert_eq(glob(ASSAY_SOURCE_DIR "/scenarios/*.yaml", 0, NULL, &files), 0);
    cr_expect_eq(files.gl_pathc, scenario_count());
    for (size_t i = 0; i < files.gl_pathc; i++) {
        static struct scenario built_in;
        cr_assert(scenario_load(files.gl_pathv[i], &scenario, &error), "%s", error.text);
        cr_assert(scenario_load(scenario.name, &built_in, &error), "%s", error.text);
        cr_expect(same_bytes(&scenario, &built_in, sizeof scenario), "%s", scenario.name);
    }
    globfree(&files);
}

Test(scenario, the_names_that_other_tools_rely_on_are_there)
{
    static const struct {
        const char *name, *graph;
    } known[] = {
        {"tree-3", "trigger: left right; left:; right:"},
        {"tree-5", "trigger: left right; left: left-leaf; right: right-leaf; left-leaf:; "
                   "right-leaf:"},
        {"tree-7", "trigger: n1 n2; n1: n3 n4; n2: n5 n6; n3:; n4:; n5:; n6:"},
        {"chain-4", "trigger: n1; n1: n2; n2: n3; n3:"},
        {"conditional", "trigger: even/even odd/odd always; even:; odd: odd-even/even; "
                        "always: twin-1/odd twin-2/odd; odd-even:; twin-1:; twin-2:"},
        {"cycle", "trigger: step aside; step: triggerx2; aside:"},
        {"cycles-nested", "trigger: work again; work: check; again: triggerx1; "
                          "check: done note/odd remind@1; done: workx2; note:; remind:"},
        {"pending", "trigger: ask other; ask: thanks remind@1; other:; thanks:; remind:"},
        {"ceilings", "trigger: late spent last tight round; late:; spent:; last:; tight:; "
                     "round: again; again: roundx1"},
        {"thresholds", "trigger: a b c d e f g h i j k l m n; a: o; b: p q; c: r; d:; e:; f:; g:; "
                       "h:; i:; j:; k:; l:; m:; n:; o:; p:; q:; r:"},
        {"lossy-failover", "trigger: left right; left:; right:"},
        {"peer-3", "trigger: left right; left:; right:"},
        {"peer-5", "trigger: left right; left: left-leaf; right: right-leaf; left-leaf:; "
                   "right-leaf:"},
        {"peer-7", "trigger: n1 n2; n1: n3 n4; n2: n5 n6; n3:; n4:; n5:; n6:"},
        {"jobs-20", "trigger: left right; left:; right:"},
        {"legacy", "trigger: ask tell; ask: remind@1; tell:; remind:"},
        {"legacy-replay", "trigger: child; child:"},
        {"legacy-late-call", "trigger:"},
        {"legacy-late-commit", "trigger:"},
        {"legacy-ceilings", "trigger: first second; first:; second:"},
        {"legacy-one-death", "trigger:"},
    };
    for (size_t i = 0; i < COUNT(known); i++) {
        cr_assert(scenario_load(known[i].name, &scenario, &error), "%s", error.text);
        cr_expect_str_eq(graph_as_text(), known[i].graph, "%s: %s", known[i].name, graph_as_text());
        cr_expect_eq(scenario.direct, strncmp(known[i].name, "peer", 4) == 0, "%s", known[i].name);
    }
}

Test(scenario, together_they_reach_every_path_of_the_ledgers)
{
    bool reached[CLAUSE_COUNT] = {false};
    for (size_t i = 0; i < scenario_count(); i++) {
        cr_assert(scenario_load(scenario_name(i), &scenario, &error), "%s", error.text);
        for (size_t k = 0; k < scenario.reaches_count; k++) {
            reached[scenario.reaches[k]] = true;
        }
    }
    for (int id = 0; id < CLAUSE_COUNT; id++) {
        const struct clause *clause = clause_get((enum clause_id)id);
        bool wanted =
            (clause->family == CLAUSE_FAMILY_ACL || clause->family == CLAUSE_FAMILY_LEG) &&
            (clause->kind == CLAUSE_KIND_PATH || clause->kind == CLAUSE_KIND_LIMIT);
        cr_expect(!wanted || reached[id], "no scenario reaches %s", clause->id);
    }
}

Test(scenario, ceilings_start_one_step_before_each_ceiling_and_at_it)
{
    cr_assert(scenario_load("ceilings", &scenario, &error), "%s", error.text);
    const struct graph_node *nodes = scenario.graph.nodes;
    cr_expect_eq(nodes[node("late")].preset_leg1, 998);
    cr_expect_eq(nodes[node("spent")].preset_leg1, 999);
    cr_expect_eq(nodes[node("last")].preset_leg2, 99999998);
    cr_expect_eq(nodes[node("tight")].preset_leg2, 99999997);
    cr_expect_eq(nodes[node("round")].preset_leg2, 99999998);
    cr_expect(nodes[node("round")].heads_cycle);
}

Test(scenario, a_legacy_scenario_says_what_it_takes_for_granted)
{
    cr_assert(parse(LEGACY "pending: {t: [[a]]}\nagain: {t: 2, a: 1}\npreset: {a: {leg1: 9}}\n"
                           "leg2-is-spared: [unknown]\nexpect: breaks LEG-6, LEG-3\n"),
              "%s", error.text);
    struct rules rules;
    scenario_rules(&scenario, 60, 7, &rules);
    cr_expect(RULES_OF(&rules, legacy_rules)->spares_unknown &&
              !RULES_OF(&rules, legacy_rules)->spares_crash);
    cr_expect_eq(RULES_OF(&rules, legacy_rules)->graph, &scenario.graph);
    cr_expect_eq(scenario.graph.nodes[node("t")].again, 2);
    cr_expect_eq(scenario.graph.nodes[node("a")].again, 1);
    cr_expect_eq(scenario.graph.nodes[node("a")].preset_leg1, 9);
    cr_expect(scenario.breaks && scenario.broken == CLAUSE_LEG_6);
    cr_expect(scenario_breaks(&scenario, CLAUSE_LEG_6) && scenario_breaks(&scenario, CLAUSE_LEG_3));
    cr_expect_not(scenario_breaks(&scenario, CLAUSE_LEG_7), "what is not named is a finding");
}

/* What is known to break, and why it does: the loss of commits, and the earlier ledger's own. */
static const struct {
    const char *name;
    enum clause_id clause, also[SCENARIO_ALSO_MAX];
    size_t count; /* of `also` */
} known_to_break[] = {{"lossy-failover", CLAUSE_ACL_33, {CLAUSE_ACL_29, CLAUSE_ACL_46}, 2},
                      {"pipeline-lossy",
                       CLAUSE_CUT_21,
                       {CLAUSE_CUT_2, CLAUSE_CUT_14, CLAUSE_CUT_27, CLAUSE_CUT_31},
                       4},
                      {"legacy-late-call", CLAUSE_LEG_7, {CLAUSE_LEG_7}, 0},
                      {"legacy-late-commit", CLAUSE_LEG_3, {CLAUSE_LEG_3}, 0},
                      {"legacy-replay", CLAUSE_LEG_6, {CLAUSE_LEG_3}, 1}};

Test(scenario, only_what_is_known_to_break_is_expected_to)
{
    size_t broken = 0;
    for (size_t i = 0; i < scenario_count(); i++) {
        cr_assert(scenario_load(scenario_name(i), &scenario, &error), "%s", error.text);
        bool known = false;
        for (size_t k = 0; k < COUNT(known_to_break); k++) {
            known |= strcmp(scenario.name, known_to_break[k].name) == 0 && scenario.breaks &&
                     scenario.broken == known_to_break[k].clause &&
                     scenario.also_count == known_to_break[k].count &&
                     memcmp(scenario.also, known_to_break[k].also,
                            known_to_break[k].count * sizeof *scenario.also) == 0;
        }
        cr_expect_eq(scenario.breaks, known, "%s", scenario.name);
        broken += scenario.breaks;
    }
    cr_expect_eq(broken, COUNT(known_to_break));
}

Test(scenario, only_a_lossy_failover_loses_commits_and_all_others_see_deaths)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        cr_assert(scenario_load(scenario_name(i), &scenario, &error), "%s", error.text);
        bool lossy = strcmp(scenario.name, "lossy-failover") == 0 ||
                     strcmp(scenario.name, "pipeline-lossy") == 0;
        bool deathless = lossy || strcmp(scenario.name, "legacy-replay") == 0 ||
                         strcmp(scenario.name, "legacy-one-death") == 0 ||
                         strcmp(scenario.name, "legacy-late-commit") == 0 ||
                         strcmp(scenario.name, "pipeline-lapse") == 0;
        cr_expect_eq(scenario.faults.rate[FAULT_LOSSY_FAILOVER].times, lossy ? 1U : 0U, "%s",
                     scenario.name);
        cr_expect_neq(deathless, scenario.faults.rate[FAULT_CRASH_BEFORE_COMMIT].times > 0, "%s",
                      scenario.name);
    }
}

/* ---- where a scenario comes from ----------------------------------------------------------- */

Test(scenario, a_name_that_is_not_built_in_is_refused_with_those_that_are)
{
    cr_expect_not(scenario_load("tree-4", &scenario, &error));
    cr_expect_not_null(strstr(error.text, "there is no scenario \"tree-4\"; known: ceilings, "),
                       "%s", error.text);
    cr_expect_not_null(strstr(error.text, "or give the path of a .yaml file"), "%s", error.text);
    cr_expect_not(scenario_load("a\nb", &scenario, &error));
    cr_expect_not_null(strstr(error.text, "\"a\\x0ab\""), "%s", error.text);
    cr_expect_not(scenario_load("", &scenario, &error));
}

Test(scenario, a_path_is_read_from_disk)
{
    char path[] = "/tmp/assay-scenario-XXXXXX.yaml";
    int descriptor = mkstemps(path, 5);
    cr_assert_geq(descriptor, 0);
    const char text[] = "name: mine\ngraph: {t: [a]}\njobs: none\n";
    cr_assert_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    cr_expect_not(scenario_load(path, &scenario, &error));
    char expected[200];
    snprintf(expected, sizeof expected, "%s:3: jobs: \"none\"; it is a number from 1 to 10000",
             path);
    cr_expect_str_eq(error.text, expected);
    cr_assert_eq(ftruncate(descriptor, (off_t)strlen("name: mine\ngraph: {t: [a]}\n")), 0);
    cr_expect(scenario_load(path, &scenario, &error), "%s", error.text);
    cr_expect_str_eq(scenario.name, "mine");
    cr_assert_eq(ftruncate(descriptor, SCENARIO_TEXT_SIZE_MAX + 1), 0);
    cr_expect_not(scenario_load(path, &scenario, &error));
    cr_expect_not_null(strstr(error.text, "more than 65536 bytes"), "%s", error.text);
    close(descriptor);
    unlink(path);
}

Test(scenario, a_path_that_cannot_be_read_is_told)
{
    cr_expect_not(scenario_load("/nowhere/at/all.yaml", &scenario, &error));
    cr_expect_str_eq(error.text, "/nowhere/at/all.yaml: No such file or directory");
    cr_expect_not(scenario_load("no-such-file.yaml", &scenario, &error));
    cr_expect_str_eq(error.text, "no-such-file.yaml: No such file or directory");
    cr_expect_not(scenario_load("/tmp", &scenario, &error));
    cr_expect_str_eq(error.text, "/tmp: Is a directory");
}

/* ---- checks: (SN1), (SN2) -------------------------------------------------------------------- */

static const char *const check_claims[] = {
    "scenario->name[0] != '\\0' && scenario->protocol != NULL",
    "scenario->jobs >= 1 && scenario->jobs <= SCENARIO_JOBS_MAX",
    "scenario->workers <= SCENARIO_WORKERS_MAX && scenario->timeout > 0",
    "rate.times <= rate.of",
    "scenario->text_size > 0 && scenario->text_size <= SCENARIO_TEXT_SIZE_MAX",
};

static void check_spoiled(int which)
{
    must_parse("name: mine\ngraph: {t: [a]}\n");
    switch (which) {
    case 0:
        scenario.name[0] = '\0';
        break;
    case 1:
        scenario.jobs = 0;
        break;
    case 2:
        scenario.workers = SCENARIO_WORKERS_MAX + 1;
        break;
    case 3:
        scenario.faults.rate[FAULT_CRASH_BEFORE_COMMIT] = (struct fault_rate){.times = 2, .of = 1};
        break;
    case 4:
        scenario.text_size = 0;
        break;
    }
    scenario_check(&scenario);
}

Test(scenario, checks_fire)
{
    EXPECT_FIRES(check_spoiled, check_claims);
}
