/* Flows of the key protocol as YAML: read, refused, written, and made smaller. */
#include "model/tests/proves.h"
#include "scenarios/writer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define START "name: s\nprotocol: key\n"

static struct scenario scenario, again;
static struct error error;

static bool parse(const char *text)
{
    memset(&scenario, 0, sizeof scenario);
    return scenario_parse(text, strlen(text), "s.yaml", &scenario, &error);
}

Test(flow_text, activities_stand_at_the_positions_of_their_names)
{
    PROVES(CLAUSE_KEY_2);
    struct error none;
    static const char *const names[] = {"ate", "brown", "fox", "jumped", "quick", "slept"};
    cr_assert(scenario_load("quick-fox", &scenario, &none), "%s", none.text);
    const struct flow_shape *story = &scenario.flows.shape[0];
    cr_expect_eq(scenario.flows.cases, 3);
    cr_assert_eq(story->graph.count, 6);
    for (int i = 0; i < 6; i++) {
        cr_expect_str_eq(story->at[i].name, names[i]);
    }
    cr_expect_eq(story->graph.next[4], 1 << 1, "quick before brown");
    cr_expect_eq(story->graph.next[2], 1 << 3 | 1 << 5, "fox before jumped and slept");
    cr_expect_eq(story->at[2].when[3], 1);
    cr_expect_eq(story->at[2].when[5], 6);
    cr_expect_eq(story->at[0].holds, 2);
    cr_expect_eq(story->at[0].errors, 4);
}

static const struct {
    const char *text, *message;
} refused[] = {
    {START, "s.yaml:1: the key flows is missing; a scenario of key has name and flows"},
    {START "flows: []\n",
     "s.yaml:3: flows: a list; it is a map of flows, such as {story: {quick: [brown]}}"},
    {START "flows: {}\n",
     "s.yaml:3: flows: an empty map; it is a map of flows, such as {story: {quick: [brown]}}"},
    {START "flows: {a: {}}\n", "s.yaml:3: flows: a: a flow has at least 1 activity"},
    {START "flows: {a: [b]}\n",
     "s.yaml:3: flows: a: a list; it is a map of activities, such as {quick: [brown]}"},
    {START "flows: {a: {b: []}, a: {b: []}}\n",
     "s.yaml:3: flows: the flow \"a\" again; a key stands once"},
    {START "flows: {a: {b: []}, c: {b: []}, d: {b: []}, e: {b: []}, f: {b: []}}\n",
     "s.yaml:3: flows: too many; at most 4 flows"},
    {START "flows: {a: {b: [], b: []}}\n",
     "s.yaml:3: flows: a: the activity \"b\" again; a key stands once"},
    {START "flows: {a: {b: [b]}}\n", "s.yaml:3: flows: a: b: an activity cannot follow itself"},
    {START "flows: {a: {b: [c], c: [b]}}\n",
     "s.yaml:3: flows: a: a flow does not come back to itself"},
    {START "flows: {a: {b: [{when: [1]}]}}\n",
     "s.yaml:3: flows: a: b: a child without a name; it is {to: NAME, when: [1]}"},
    {START "flows: {a: {b: {awaits: c}}}\n", "s.yaml:3: flows: a: there is no flow \"c\" to await"},
    {START "flows: {a: {b: {awaits: a}}}\n",
     "s.yaml:3: flows: a: \"a\" does not stand below; a flow awaits later ones"},
    {START "cases: 2\nflows: {a: {b: {errors: [3]}}}\n", "s.yaml:4: flows: case 3; there are 2"},
    {START "flows: {a: {b: [c1, c2, c3, c4, c5, c6, c7, c8, c9, d1, d2, d3, d4, d5, d6]}}\n",
     "s.yaml:3: flows: a: b: \"d6\" is one too many; a flow has at most 15 activities"},
    {START "jobs: 10000\nflows: {a: {b: [c, d, e, f, g, h, i, j, k, l, m, n, o, p]}}\n",
     "s.yaml:4: flows: a: 10000 jobs of 15 activities; all jobs together make at most 131072"},
    {"name: s\ngraph: {t: []}\ncases: 2\n",
     "s.yaml:3: another protocol's key \"cases\"; known: name, about, protocol, jobs, workers, "
     "connections, threshold, hop, graph, pending, cycles, preset, commits, level, timeout, "
     "faults, "
     "limits, reaches, expect"},
};

Test(flow_text, what_is_wrong_is_said_in_one_line_with_its_place)
{
    PROVES(CLAUSE_KEY_2);
    for (size_t i = 0; i < COUNT(refused); i++) {
        cr_expect_not(parse(refused[i].text), "case %zu:\n%s", i, refused[i].text);
        cr_expect_str_eq(error.text, refused[i].message, "case %zu:\n%s\n%s", i, refused[i].text,
                         error.text);
    }
}

/* Fourteen activities before all that follow them, each edge with a condition. */
Test(flow_text, more_conditions_than_there_are_bits_are_refused)
{
    char text[4000] = START "cases: 2\nflows:\n  a:\n";
    size_t used = strlen(text);
    for (int from = 0; from < 13; from++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "    %c: [", 'a' + from);
        for (int to = from + 1; to < 15; to++) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s{to: %c, when: [1]}",
                                     to == from + 1 ? "" : ", ", 'a' + to);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "]\n");
    }
    cr_expect_not(parse(text));
    cr_expect_str_eq(error.text,
                     "s.yaml:5: flows: a: more than 60 edges with a condition lead to joins");
}

/* Both were cleared before they were filled, so they are equal to the last byte. */
static bool same(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

static void write_and_read(void)
{
    static char text[SCENARIO_TEXT_SIZE_MAX];
    size_t size = scenario_write(&scenario, NULL, text, sizeof text);
    cr_assert_gt(size, 0U);
    memset(&again, 0, sizeof again);
    cr_assert(scenario_parse(text, size, "written", &again, &error), "%s\n%s", error.text, text);
    cr_expect(same(&scenario.flows, &again.flows, sizeof again.flows), "%s", text);
    cr_expect_eq(scenario.jobs, again.jobs);
}

static const char *const names[] = {"quick-fox", "key-branches", "key-pause", "key-error",
                                    "key-await"};

Test(flow_text, what_is_written_is_read_as_the_same_flows)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        memset(&scenario, 0, sizeof scenario);
        cr_assert(scenario_load(names[i], &scenario, &error));
        write_and_read();
    }
}

static int activities(const struct flow_book *book)
{
    int sum = 0;
    for (int i = 0; i < book->shapes; i++) {
        sum += book->shape[i].graph.count;
    }
    return sum;
}

static int awaiting(const struct flow_book *book)
{
    int sum = 0;
    for (int i = 0; i < book->shapes * KEY_ACTIVITIES_MAX; i++) {
        sum += book->shape[i / KEY_ACTIVITIES_MAX].at[i % KEY_ACTIVITIES_MAX].awaits != 0;
    }
    return sum;
}

/* Whatever is taken away, it gets smaller, is still a scenario, and ends at one activity. */
Test(flow_text, every_way_makes_it_smaller_and_leaves_a_scenario)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        for (unsigned way = 0;; way++) {
            static struct scenario whole;
            memset(&scenario, 0, sizeof scenario);
            cr_assert(scenario_load(names[i], &scenario, &error));
            whole = scenario;
            if (!scenario_smaller(&scenario, way)) {
                cr_expect_gt(way, 5U, "%s", names[i]);
                break;
            }
            cr_expect(scenario.flows.cases < whole.flows.cases ||
                          activities(&scenario.flows) < activities(&whole.flows) ||
                          awaiting(&scenario.flows) < awaiting(&whole.flows),
                      "%s, way %u", names[i], way);
        }
        while (scenario_smaller(&scenario, 0)) {
            static char text[SCENARIO_TEXT_SIZE_MAX];
            size_t size = scenario_write(&scenario, NULL, text, sizeof text);
            cr_assert(scenario_parse(text, size, "written", &again, &error), "%s\n%s", error.text,
                      text);
        }
        cr_expect_eq(scenario.flows.shape[0].graph.count, 1, "%s", names[i]);
        cr_expect_eq(scenario.flows.shapes, 1, "%s", names[i]);
    }
    cr_assert(scenario_load("tree-3", &scenario, &error));
    cr_expect_not(scenario_smaller(&scenario, 0), "a protocol without ways of its own");
}
