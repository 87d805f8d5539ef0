/* What scenarios of the activity protocol ask for by the oracles' own reading, beside what people
 * work out by hand. */
#include "model/check.h"
#include "model/oracle/expectation.h"
#include "scenarios/document.h"

#include <criterion/criterion.h>
#include <string.h>

static void read_scenario(const char *text, struct expected_activity *expected)
{
    struct document document;
    cr_assert(document_make(&document, text, strlen(text)));
    expected_activity_read(&document, expected);
    document_free(&document);
}

/* (XA1)
 * Nodes by number: parent, which of its answers, pending answers, where its cycle leads, rounds. */
Test(expected_activity, graphs_are_numbered_breadth_first)
{
    static const struct {
        const char *text;
        uint32_t nodes;
        uint16_t node[8][5]; /* parent, answer, pendings, head, rounds */
    } cases[] = {
        {"graph: {trigger: []}", 1, {{0}}},
        {"graph: {binary: 1}", 1, {{0}}},
        {"graph: {binary: 3}", 7, {{0}, {0}, {0}, {1}, {1}, {2}, {2}}},
        {"graph: {chain: 4}", 4, {{0}, {0}, {1}, {2}}},
        {"graph: {fan: 3}", 4, {{0}, {0}, {0}, {0}}},
        {"graph: {chain: []}", 1, {{0}}}, /* a node of that name */
        /* b, c; x of a's first pending answer; then d of b; then e of x */
        {"graph: {a: [b, c], b: [d], x: [e]}\npending: {a: [[x], []]}",
         6,
         {{0, 0, 2}, {0}, {0}, {0, 1}, {1}, {3}}},
        {"graph: {t: [s, u], s: [v]}\ncycles: {v: {to: t, rounds: 2}, u: {to: u, rounds: 3}}",
         4,
         {{0}, {0}, {0, 0, 0, 2, 3}, {1, 0, 0, 0, 2}}},
        {"graph: {chain: 3}\npending: {n1: [[more]]}\ncycles: {n2: {to: n1, rounds: 1}}",
         4,
         {{0}, {0, 0, 1}, {1, 0, 0, 1, 1}, {1, 1}}},
    };
    static struct expected_activity expected;
    for (size_t i = 0; i < COUNT(cases); i++) {
        read_scenario(cases[i].text, &expected);
        cr_assert_eq(expected.nodes, cases[i].nodes, "%s", cases[i].text);
        for (uint32_t n = 0; n < expected.nodes; n++) {
            const struct expected_node *node = &expected.node[n];
            cr_expect_eq(node->parent, cases[i].node[n][0], "%s: %u", cases[i].text, n);
            cr_expect_eq(node->answer, cases[i].node[n][1], "%s: %u", cases[i].text, n);
            cr_expect_eq(node->pendings, cases[i].node[n][2], "%s: %u", cases[i].text, n);
            cr_expect_eq(node->head, cases[i].node[n][3], "%s: %u", cases[i].text, n);
            cr_expect_eq(node->rounds, cases[i].node[n][4], "%s: %u", cases[i].text, n);
        }
    }
}

/* Worked out by hand from the formula of MEANING.md. */
Test(expected_activity, data_follow_from_data)
{
    cr_expect_eq(expected_activity_output(0, 1000), 163347048);
    cr_expect_eq(expected_activity_output(0, 1001), 847556508);
    cr_expect_eq(expected_activity_output(1, 163347048), 455448758);
    cr_expect_eq(expected_activity_output(5, 123456), 86259990);
    cr_expect_eq(expected_activity_pending(3, 7, 2), 764677149);
}

/* N of the specification's 9.2: 0, 1, 2 and 3 children, by condition and by round. */
Test(expected_activity, answers_spawn_what_the_graph_says)
{
    static const char text[] = "graph: {t: [a, {to: b, when: even}, {to: c, when: odd}], a: [d]}\n"
                               "pending: {t: [[e, {to: f, when: odd}], []]}\n"
                               "cycles: {d: {to: t, rounds: 2}}";
    static const struct {
        uint32_t node;
        int64_t answer, value, round;
        uint32_t count;
        int64_t children[3];
        bool cycles;
    } cases[] = {
        {0, 0, 8, 0, 2, {1, 2}, false},  {0, 0, 9, 0, 2, {1, 3}, false},
        {0, -1, 8, 1, 2, {1, 2}, false}, {0, 1, 8, 0, 1, {4}, false},
        {0, 1, 9, 0, 2, {4, 5}, false},  {0, 2, 9, 0, 0, {0}, false},
        {1, 0, 8, 0, 1, {6}, false},     {6, 0, 8, 0, 0, {0}, true},
        {6, 0, 8, 1, 0, {0}, true},      {6, 0, 8, 2, 0, {0}, false},
    };
    static struct expected_activity expected;
    read_scenario(text, &expected);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct expected_spawn spawn = expected_activity_spawn(
            &expected, cases[i].node, cases[i].answer, cases[i].value, cases[i].round);
        uint64_t which = 0;
        for (uint32_t c = 0; c < cases[i].count; c++) {
            which += expected_activity_mark(cases[i].children[c]);
        }
        cr_expect_eq(spawn.children, cases[i].count, "case %zu", i);
        cr_expect_eq(spawn.which, which, "case %zu", i);
        cr_expect_eq(spawn.cycles, cases[i].cycles, "case %zu", i);
    }
}

Test(expected_activity, jobs_take_thresholds_in_turn)
{
    static struct expected_activity expected;
    read_scenario(
        "jobs: 4\nthreshold: [0, 1, 12]\ngraph: {t: [a]}\npreset: {a: {leg1: 7, leg2: 9}}\n"
        "faults: {answer: 1/20}",
        &expected);
    static const int64_t turns[] = {0, 1, 12, 0};
    for (int64_t j = 0; j < 4; j++) {
        cr_expect(expected_activity_asks(&expected, 1000 + j));
        cr_expect_eq(expected_activity_threshold(&expected, 1000 + j), turns[j]);
    }
    cr_expect_not(expected_activity_asks(&expected, 999));
    cr_expect_not(expected_activity_asks(&expected, 1004));
    cr_expect_eq(expected.node[1].leg1, 7);
    cr_expect_eq(expected.node[1].leg2, 9);
    cr_expect(expected.changes);
    read_scenario("threshold: 3\ngraph: {t: []}\nfaults: {answer: 0/1}", &expected);
    cr_expect_eq(expected_activity_threshold(&expected, 1000), 3);
    cr_expect_not(expected.changes);
}
