/* What scenarios ask for by the oracles' own reading, beside what people work out by hand. */
#include "model/check.h"
#include "model/oracle/expectation.h"
#include "model/tests/proves.h"
#include "scenarios/document.h"

#include <criterion/criterion.h>
#include <string.h>

static void read_key(const char *text, struct expected_flows *expected)
{
    struct document document;
    cr_assert(document_make(&document, text, strlen(text)));
    expected_flow_read(&document, expected);
    document_free(&document);
}

/* A function of the text: whatever was read into it before leaves no trace. (EX1) */
Test(expected, is_the_same_whatever_was_read_before)
{
    static const char *const texts[] = {
        "cases: 3\nflows: {f: {a: [{to: b, when: [1]}], b: {errors: [2]}}}",
        "flows: {a-long-name: {x: [y, z], y: [w], z: [w]}}"};
    static struct expected_flows fresh, used;
    for (size_t i = 0; i < COUNT(texts); i++) {
        memset(&fresh, 0, sizeof fresh);
        read_key(texts[i], &fresh);
        read_key(texts[1 - i], &used);
        read_key(texts[i], &used);
        cr_expect_arr_eq(&used, &fresh, sizeof fresh, "text %zu", i);
    }
}

/* ---- key ------------------------------------------------------------------------------------- */

/* The specification's flow: quick => brown => fox => (jumped|(slept => ate)). */
#define STORY                                                                                      \
    "cases: 3\nflows: {story: {quick: [brown], brown: [fox], "                                     \
    "fox: [{to: jumped, when: [1]}, {to: slept, when: [2, 3]}], slept: [ate], "                    \
    "ate: {holds: [2], errors: [3]}}}"

Test(expected, key_positions_are_ascending_by_name)
{
    PROVES(CLAUSE_KEY_2);
    static const char *const names[] = {"ate", "brown", "fox", "jumped", "quick", "slept"};
    static struct expected_flows expected;
    read_key(STORY, &expected);
    cr_assert_eq(expected.flow[0].places, 6);
    for (int i = 0; i < 6; i++) {
        cr_expect_str_eq(expected.flow[0].place[i].name, names[i]);
    }
    read_key("flows: {f: {b: [ab, a], B: [a1]}}", &expected); /* bytewise; a prefix goes first */
    static const char *const others[] = {"B", "a", "a1", "ab", "b"};
    for (int i = 0; i < 5; i++) {
        cr_expect_str_eq(expected.flow[0].place[i].name, others[i]);
    }
}

Test(expected, key_jobs_are_one_where_the_text_says_nothing)
{
    static struct expected_flows expected;
    read_key("jobs: 3\nflows: {f: {a: [b]}}", &expected);
    cr_expect_eq(expected.jobs, 3);
    read_key("flows: {f: {a: [b]}}", &expected);
    cr_expect_eq(expected.jobs, 1);
}

Test(expected, key_digits_are_those_of_the_examples)
{
    static const struct {
        const char *text;
        int flow, number;
        const char *digits; /* ?: 6 or 4 */
    } cases[] = {
        {STORY, 0, 0, "366663"}, /* example 3 */
        {STORY, 0, 1, "466366"}, /* example 5 */
        {STORY, 0, 2, "766366"}, /* the error example */
        /* a join is skipped with the last of its ways, and runs with any other */
        {"cases: 2\nflows: {f: {a: [b, c], b: {next: [d], errors: [1, 2]}, c: {next: [d], errors: "
         "[2]}}}",
         0, 0, "6766"},
        {"cases: 2\nflows: {f: {a: [b, c], b: {next: [d], errors: [1, 2]}, c: {next: [d], errors: "
         "[2]}}}",
         0, 1, "6773"},
        /* a branch that is never taken; an awaited flow that fails fails who awaits it */
        {"flows: {f: {a: [{to: b, when: []}]}}", 0, 0, "63"},
        {"flows: {f: {a: {next: [b], awaits: g}}, g: {x: {errors: [1]}}}", 0, 0, "73"},
        {"flows: {f: {a: {next: [b], awaits: g}}, g: {x: {errors: [1]}}}", 1, 0, "7"},
        {"cases: 2\nflows: {f: {a: {pauses: [2]}}}", 0, 0, "6"},
        {"cases: 2\nflows: {f: {a: {pauses: [2]}}}", 0, 1, "?"},
        {"flows: {f: {a: {pauses: [1], holds: [1]}}}", 0, 0, "4"},
        {"flows: {f: {a: {errors: [1], holds: [1]}}}", 0, 0, "7"},
    };
    static struct expected_flows expected;
    for (size_t i = 0; i < COUNT(cases); i++) {
        read_key(cases[i].text, &expected);
        const struct expected_flow *flow = &expected.flow[cases[i].flow];
        cr_assert_eq(flow->places, (int)strlen(cases[i].digits));
        for (int p = 0; p < flow->places; p++) {
            char digit = cases[i].digits[p];
            for (int d = 3; d <= 9; d++) {
                bool may = digit == '?' ? d == 6 || d == 4 : d == digit - '0';
                cr_expect_eq(expected_flow_ends(&flow->place[p], cases[i].number, d), may,
                             "%s, case %d, position %d, digit %d", cases[i].text,
                             cases[i].number + 1, p, d);
            }
        }
    }
}

Test(expected, key_branches_are_left_by_case)
{
    static struct expected_flows expected;
    read_key(STORY, &expected);
    cr_expect_eq(expected_flow_leaves(&expected.flow[0].place[2], 0), 1 << 5); /* slept */
    cr_expect_eq(expected_flow_leaves(&expected.flow[0].place[2], 1), 1 << 3); /* jumped */
    cr_expect_eq(expected_flow_leaves(&expected.flow[0].place[4], 1), 0);
}

/* ---- seq ------------------------------------------------------------------------------------- */

Test(expected, seq_runs_report_by_fate_and_attempt)
{
    PROVES(CLAUSE_SEQ_21);
    static const struct {
        int64_t number, attempts, state, fail_class;
        bool cancelled;
    } cases[] = {
        {0, 0, 3, 0, false}, {0, 2, 3, 0, false}, /* success */
        {1, 0, 4, 0, false}, {1, 1, 4, 0, false}, /* skip */
        {2, 0, 5, 1, false}, {2, 1, 3, 0, false}, /* retry */
        {3, 0, 5, 1, false}, {3, 7, 5, 1, false}, /* exhaust */
        {4, 0, 5, 2, false}, {4, 1, 5, 2, false}, /* fatal */
        {5, 0, 5, 1, true},  {5, 1, 3, 0, true},  /* cancel */
        {6, 0, 3, 0, false}, {8, 0, 5, 1, false}, /* fates are taken in turn */
    };
    static const char text[] = "jobs: 9\nbudget: 2\ndrill: on\n"
                               "fates: [success, skip, retry, exhaust, fatal, cancel]";
    struct expected_seq expected;
    struct document document;
    cr_assert(document_make(&document, text, strlen(text)));
    expected_seq_read(&document, &expected);
    document_free(&document);
    cr_expect_eq(expected.jobs, 9);
    cr_expect_eq(expected.budget, 2);
    cr_expect(expected.drill);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct expected_report report =
            expected_seq_report(&expected, cases[i].number, cases[i].attempts);
        cr_expect_eq(report.state, cases[i].state, "case %zu", i);
        cr_expect_eq(report.fail_class, cases[i].fail_class, "case %zu", i);
        cr_expect_eq(expected_seq_is_cancelled(&expected, cases[i].number), cases[i].cancelled);
    }
}

/* ---- legacy ---------------------------------------------------------------------------------- */

/* Worked out by hand from MEANING.md. */
Test(expected, legacy_answers_their_data_and_ids_are_those_of_the_text)
{
    PROVES(CLAUSE_LEG_12);
    static const struct {
        uint32_t node;
        int64_t answer;
        bool has;
    } answers[] = {{0, 0, true},   {0, 1, false}, {0, -1, false}, {1, 1, true},  {1, 2, false},
                   {1, -1, false}, {2, -2, true}, {2, -3, false}, {2, 1, false}, {3, -1, true}};
    static struct expected_legacy expected;
    static const char text[] =
        "jobs: 2\ngraph: {trigger: [ask, tell]}\npending: {ask: [[remind]]}\n"
        "again: {tell: 2, remind: 1}\npreset: {tell: {leg1: 8, leg2: 5}}";
    struct document document;
    cr_assert(document_make(&document, text, strlen(text)));
    expected_legacy_read(&document, &expected);
    document_free(&document);
    cr_expect_eq(expected.graph.jobs, 2);
    cr_assert_eq(expected.graph.nodes, 4U);
    cr_expect_eq(expected.graph.node[2].leg1, 8);
    cr_expect_eq(expected.graph.node[2].leg2, 5);
    for (size_t i = 0; i < COUNT(answers); i++) {
        cr_expect_eq(
            expected_legacy_answers(&expected.graph.node[answers[i].node], answers[i].answer),
            answers[i].has, "case %zu", i);
    }
    cr_expect_eq(expected_legacy_content(0, 1000, 0), 163347048);
    cr_expect_eq(expected_legacy_content(1, 163347048, 1), 571285116);
    cr_expect_eq(expected_legacy_content(1, 163347048, 0), 455448758);
    cr_expect_eq(expected_legacy_content(2, 163347048, -2), 352221016);
    cr_expect_eq(expected_legacy_job(0), INT64_C(566998658249792862));
    cr_expect_eq(expected_legacy_trigger(0), INT64_C(7193569421981962162));
}
