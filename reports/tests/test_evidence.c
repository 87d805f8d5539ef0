/* What lines add up to, what is made of them, and what is signed. */
#include "reports/evidence.h"
#include "reports/junit.h"
#include "reports/proofs.h"
#include "reports/report.h"
#include "reports/seeds.h"
#include "reports/sign_off.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct evidence evidence;
static struct error error;

static bool add(const char *text)
{
    return evidence_add(&evidence, text, strlen(text), "here", &error);
}

/* Lines of a session, without its two ends. */
static bool add_lines(const char *lines)
{
    char text[4000];
    snprintf(text, sizeof text, "{\"type\":\"begin\",\"verb\":\"v\"}\n%s", lines);
    return add(text);
}

static void begin(void)
{
    evidence_begin(&evidence);
}

static void end(void)
{
    evidence_free(&evidence);
}

TestSuite(evidence, .init = begin, .fini = end);

#define BEGIN(verb) "{\"type\":\"begin\",\"verb\":\"" verb "\",\"command\":\"assay " verb "\"}\n"
#define EXPECTING                                                                                  \
    "{\"type\":\"begin\",\"verb\":\"campaign\",\"command\":\"c\",\"expects_finding\":true}\n"
#define FINDING(kind, clause)                                                                      \
    "{\"type\":\"finding\",\"kind\":\"" kind "\",\"scenario\":\"tree-3\",\"clause\":\"" clause     \
    "\",\"why\":\"w\",\"again\":\"assay run\"}\n"
#define END(status) "{\"type\":\"end\",\"status\":" #status ",\"seconds\":1.5}\n"

static const char campaign[] = BEGIN("campaign") "{\"type\":\"scenario\",\"scenario\":\"tree-3\","
                                                 "\"protocol\":\"activity\",\"runs\":600,"
                                                 "\"steps\":9,\"evaluated\":{\"ACL-5\":7,\"ACL-"
                                                 "21\":2},\"seen\":{\"move 1, 0 -> 1\":3},"
                                                 "\"fired\":{\"pause\":4}}\n" END(0);

/* ---- adding up ------------------------------------------------------------------------------- */

Test(evidence, of_two_sessions_is_their_sum)
{
    cr_assert(add(campaign) && add(campaign));
    evidence_end(&evidence);
    cr_expect_eq(evidence.sessions, 2U);
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_SIM], 14U);
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_REAL], 0U);
    cr_expect_eq(evidence.seen[EVIDENCE_SIM][COVER_SEQ_MOVE_1], 6U);
    cr_expect_eq(evidence_number(evidence.fired[EVIDENCE_SIM], "pause"), 8U);
    cr_expect_eq(evidence.status, 0);
    cr_expect(evidence_has(&evidence, "campaign"));
    cr_expect_not(evidence_has(&evidence, "real"));
    cr_assert(add(BEGIN("campaign") END(4)));
    cr_expect_not(evidence_has(&evidence, "campaign"), "one of three did not end well");
}

Test(evidence, of_runs_on_a_server_is_kept_apart)
{
    cr_assert(add_lines("{\"type\":\"real\",\"scenario\":\"x\",\"evaluated\":{\"ACL-5\":9}}\n"));
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_SIM], 0U);
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_REAL], 9U);
    cr_expect(evidence.measured[EVIDENCE_REAL] && !evidence.measured[EVIDENCE_SIM]);
}

/* (EV2) */
Test(evidence, of_benchmarks_is_told_and_leaves_the_verdict_alone)
{
    static const char lines[] = BEGIN(
        "bench") "{\"type\":\"bar\",\"what\":\"this over that\",\"figure\":2.5,\"bar\":2.0,"
                 "\"met\":false}\n{\"type\":\"figure\",\"what\":\"steps\",\"figure\":7.5}\n" END(4);
    char *text = NULL;
    size_t length;
    cr_assert(add(campaign) && add(lines));
    evidence_end(&evidence);
    cr_expect_eq(evidence.status, 0);
    json_t *report = report_make(&evidence, NULL);
    const json_t *figures = json_object_get(report, "throughput");
    cr_assert_eq(json_array_size(figures), 2U);
    cr_expect(evidence_is(json_array_get(figures, 0), "name", "this over that"));
    cr_expect(evidence_is(json_array_get(figures, 0), "against", "a bar of 2: MISSED"));
    cr_expect_eq(json_real_value(json_object_get(json_array_get(figures, 1), "value")), 7.5);
    json_decref(report);
    FILE *out = open_memstream(&text, &length);
    junit_write(out, &evidence);
    fclose(out);
    cr_expect(strstr(text, "2.5, and the bar is 2<") != NULL, "%s", text);
    free(text);
}

Test(evidence, names_every_server_once)
{
    cr_assert(add_lines("{\"type\":\"server\",\"postgresql\":\"15.18\"}\n"
                        "{\"type\":\"server\",\"postgresql\":\"15.1\"}\n"
                        "{\"type\":\"server\",\"postgresql\":\"15.18\"}\n"));
    json_t *report = report_make(&evidence, NULL);
    cr_expect(evidence_is(json_object_get(report, "provenance"), "postgresql", "15.18, 15.1"));
    json_decref(report);
}

/* (EV1) */
Test(evidence, of_runs_with_a_planted_bug_evaluates_nothing)
{
    cr_assert(add_lines("{\"type\":\"scenario\",\"sabotage\":\"early-ack\",\"runs\":5,"
                        "\"evaluated\":{\"ACL-5\":9}}\n"));
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_SIM], 0U);
    cr_expect_eq(seeds_count(evidence.lines).all, 0U);
}

Test(evidence, of_a_path_that_only_sightings_tell_is_how_often_it_was_seen)
{
    cr_assert(add(campaign));
    evidence_end(&evidence);
    cr_expect_eq(evidence.clauses[CLAUSE_SEQ_2].evaluated[EVIDENCE_SIM], 3U);
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_SIM], 7U);
}

/* (LI2) */
Test(evidence, of_a_session_without_its_end_is_incomplete)
{
    cr_assert(add(BEGIN("campaign")));
    evidence_end(&evidence);
    cr_expect_eq(evidence.killed, 1U);
    cr_expect_eq(evidence.status, 4);
}

static void expect_verdict(int status, const char *words)
{
    evidence_end(&evidence);
    json_t *report = report_make(&evidence, NULL);
    cr_expect_eq(evidence.status, status);
    cr_expect_str_eq(evidence_text(json_object_get(report, "verdict"), "words"), words);
    json_decref(report);
}

/* (EV3) */
Test(evidence, of_a_finding_in_a_session_that_was_killed_is_a_broken_promise)
{
    cr_assert(add(BEGIN("campaign") FINDING("new", "ACL-5")));
    expect_verdict(
        1, "a promise was broken: ACL-5; a run was interrupted: campaign was killed half-way");
}

Test(evidence, of_a_finding_that_was_asked_for_is_named_and_is_no_failure)
{
    cr_assert(add(EXPECTING FINDING("new", "ACL-5") END(0)));
    expect_verdict(0, "a promise was broken: ACL-5 (--expect-finding)");
}

Test(evidence, of_a_finding_that_was_expected_and_not_made_breaks_no_promise)
{
    cr_assert(add(EXPECTING "{\"type\":\"scenario\",\"runs\":1}\n" END(1)));
    expect_verdict(1, "a finding was expected, and none was made");
}

Test(evidence, of_known_findings_alone_is_told_beside_what_held)
{
    cr_assert(add(BEGIN("campaign") FINDING("known", "ACL-5") END(0)));
    expect_verdict(0, "every promise held; a known finding: ACL-5");
    json_t *report = report_make(&evidence, NULL);
    cr_expect_str_eq(evidence_text(json_array_get(json_object_get(report, "findings"), 0), "kind"),
                     "known");
    json_decref(report);
}

/* ---- seeds ----------------------------------------------------------------------------------- */

#define DRAWN(scenario, base, last, shard, shards, runs)                                           \
    "{\"type\":\"scenario\",\"scenario\":\"" scenario "\",\"base_seed\":" #base                    \
    ",\"last_seed\":" #last ",\"shard\":" #shard ",\"shards\":" #shards ",\"runs\":" #runs "}\n"

Test(evidence, of_seeds_counts_each_once_and_quotes_the_scenario_with_the_fewest)
{
    static const struct {
        const char *lines;
        uint64_t all, least;
    } cases[] = {
        {DRAWN("a", 1, 600, 0, 1, 600), 600, 600},
        {DRAWN("a", 1, 600, 0, 1, 600) DRAWN("a", 1, 600, 0, 1, 600), 600, 600},
        {DRAWN("a", 1, 600, 0, 1, 600) DRAWN("a", 601, 700, 0, 1, 100), 700, 700},
        {DRAWN("a", 1, 600, 0, 1, 600) DRAWN("a", 600, 800, 0, 1, 201), 600, 600},
        {DRAWN("a", 1, 128, 0, 2, 64) DRAWN("a", 1, 128, 1, 2, 64), 128, 128},
        {DRAWN("a", 1, 128, 0, 2, 64) DRAWN("a", 1, 128, 1, 2, 64) DRAWN("a", 1, 128, 0, 1, 128),
         128, 128},
        {DRAWN("a", 1, 600, 0, 1, 600) DRAWN("b", 1, 50, 0, 1, 50), 650, 50},
        {"{\"type\":\"scenario\",\"scenario\":\"x\",\"runs\":9,\"breaks\":\"LEG-6\"}\n", 9, 0},
        {"{\"type\":\"scenario\",\"scenario\":\"x\",\"runs\":9,\"partly_judged\":true}\n", 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        evidence_free(&evidence);
        evidence_begin(&evidence);
        cr_assert(add_lines(cases[i].lines));
        struct seeds seeds = seeds_count(evidence.lines);
        cr_expect_eq(seeds.all, cases[i].all, "%s", cases[i].lines);
        cr_expect_eq(seeds.least, cases[i].least, "%s", cases[i].lines);
    }
}

#define RAN(status) BEGIN("campaign") "{\"type\":\"scenario\",\"runs\":1}\n" END(status)

/* (EV5) */
Test(evidence, of_many_sessions_ends_as_the_one_that_says_most)
{
    static const struct {
        const char *ends;
        int status;
    } cases[] = {{RAN(0) RAN(0), 0}, {RAN(0) RAN(4), 4}, {RAN(1) RAN(4), 1},
                 {RAN(3) RAN(1), 3}, {RAN(2) RAN(4), 2}, {RAN(70) RAN(1), 70}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        evidence_free(&evidence);
        evidence_begin(&evidence);
        cr_assert(add(cases[i].ends));
        evidence_end(&evidence);
        cr_expect_eq(evidence.status, cases[i].status, "%s", cases[i].ends);
    }
}

Test(evidence, that_is_no_json_is_refused_with_its_line)
{
    static const char *const bad[] = {"{\"a\":", "x\n", "[1]\n", "\n{}\n", "{\"a\":1,\"a\":2}\n"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        cr_expect_not(add_lines(bad[i]), "%s", bad[i]);
        cr_expect(strstr(error.text, "here, line 2: no JSON object") != NULL, "%s", error.text);
    }
}

#define SESSION(lines) BEGIN("campaign") lines END(0)
#define RUNS(more)     "{\"type\":\"scenario\",\"scenario\":\"tree-3\",\"runs\":9" more "}\n"

/* (LI1), (LI3), (LI5) */
Test(evidence, that_means_nothing_is_refused_with_what_is_wrong_in_which_line)
{
    static const struct {
        const char *lines, *why;
    } cases[] = {
        {"", "line 1: it is empty"},
        {"\n", "line 1: no JSON object"},
        {"{}\n", "line 1: it has no \"type\""},
        {"{\"type\":7}\n", "line 1: it has no \"type\""},
        {"{\"type\":\"\"}\n", "line 1: it has no \"type\""},
        {"{\"type\":\"begin\"}\n", "line 1: \"begin\" does not name its verb"},
        {"{\"type\":\"begin\",\"verb\":1}\n", "line 1: \"begin\" does not name its verb"},
        {END(0), "line 1: no session is open"},
        {RUNS(""), "line 1: no session is open"},
        {"{\"type\":\"unheard-of\"}\n", "line 1: no session is open"},
        {SESSION(RUNS("")) END(0), "line 4: no session is open"},
        {SESSION(RUNS("")) RUNS(""), "line 4: no session is open"},
        {BEGIN("run") "{\"type\":\"end\"}\n", "line 2: \"end\" has the status of nothing"},
        {BEGIN("run") END("0"), "line 2: \"end\" has the status \"0\"; it is 0, 1, 2, 3, 4,"},
        {BEGIN("run") END(null), "line 2: \"end\" has the status null"},
        {BEGIN("run") END(true), "line 2: \"end\" has the status true"},
        {BEGIN("run") END(1.5), "line 2: \"end\" has the status 1.5"},
        {BEGIN("run") END(0.0), "line 2: \"end\" has the status 0.0"},
        {BEGIN("run") END(-1), "line 2: \"end\" has the status -1"},
        {BEGIN("run") END(5), "line 2: \"end\" has the status 5"},
        {BEGIN("run") END(256), "line 2: \"end\" has the status 256"},
        {BEGIN("run") END(257), "line 2: \"end\" has the status 257"},
        {BEGIN("run") END(999999999999), "line 2: \"end\" has the status 999999999999"},
        {BEGIN("run") END([0]), "line 2: \"end\" has the status [0]"},
        {SESSION(RUNS("")) BEGIN("run") END(256), "line 5: \"end\" has the status 256"},
        {SESSION("{\"type\":\"finding\"}\n"), "line 2: a finding's \"kind\" is"},
        {SESSION(FINDING("harmless", "ACL-5")), "line 2: a finding's \"kind\" is"},
        {SESSION("{\"type\":\"run\",\"runs\":-1}\n"),
         "line 2: \"runs\" is -1; it is a whole number"},
        {SESSION("{\"type\":\"run\",\"runs\":\"9\"}\n"), "line 2: \"runs\" is \"9\""},
        {SESSION("{\"type\":\"run\",\"runs\":1.5}\n"), "line 2: \"runs\" is 1.5"},
        {SESSION("{\"type\":\"run\",\"runs\":true}\n"), "line 2: \"runs\" is true"},
        {SESSION("{\"type\":\"summary\",\"seeds\":-5}\n"), "line 2: \"seeds\" is -5"},
        {SESSION(RUNS(",\"evaluated\":{\"ACL-5\":-1}")), "line 2: \"ACL-5\" is -1"},
        {SESSION(RUNS(",\"evaluated\":7")),
         "line 2: \"evaluated\" is 7; it is an object of counts"},
        {SESSION(RUNS(",\"fired\":{\"failover\":9223372036854775807}")),
         "line 2: \"failover\" is 9223372036854775807; it is a whole number from 0 to "
         "1000000000000000"},
        {SESSION(RUNS(",\"new\":-3")), "line 2: \"new\" is -3"},
        {SESSION(RUNS(",\"crash_points\":[[\"Step 1\",\"before begin\",1,-2]]")),
         "line 2: \"crash_points\" is -2"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        evidence_free(&evidence);
        evidence_begin(&evidence);
        cr_expect_not(add(cases[i].lines), "%s", cases[i].lines);
        cr_expect(strstr(error.text, cases[i].why) != NULL, "%s: %s", cases[i].lines, error.text);
    }
}

static char *junit(void);

/* Sound lines that show no success, whatever status their session says that it ended with. (EV6) */
Test(evidence, that_shows_no_run_or_another_end_than_it_says_is_never_held)
{
    static const struct {
        const char *lines;
        int status;
    } cases[] = {
        {SESSION(RUNS("")), 0},
        {SESSION(RUNS(",\"new\":0,\"known\":2")), 0},
        {BEGIN("tests") "{\"type\":\"suite\",\"suite\":\"s\",\"passed\":true}\n" END(0), 0},
        {BEGIN("campaign"), 4},
        {SESSION(""), 4},
        {SESSION("{\"type\":\"unheard-of\"}\n"), 4},
        {SESSION("{\"type\":\"server\",\"postgresql\":\"15\"}\n"), 4},
        {SESSION("{\"type\":\"scenario\"}\n"), 4},
        {SESSION("{\"type\":\"scenario\",\"runs\":0}\n"), 4},
        {SESSION("{\"type\":\"scenario\",\"runs\":null}\n"), 4},
        {SESSION("{\"type\":\"summary\",\"seeds\":0}\n"), 4},
        {SESSION(RUNS("")) SESSION(""), 4},
        {SESSION("") SESSION(RUNS("")), 4},
        {BEGIN("campaign") SESSION(RUNS("")), 4},
        {BEGIN("bench") "{\"type\":\"figure\",\"what\":\"x\",\"figure\":7.5}\n" END(0), 4},
        {BEGIN("bench") END(0), 4},
        {BEGIN("merge") END(0), 4},
        {BEGIN("coverage") "{\"type\":\"coverage\",\"lines\":90.5}\n" END(0), 4},
        {SESSION(RUNS("")) BEGIN("bench") END(0), 0},
        {SESSION(RUNS("")) BEGIN("merge") END(0), 0},
        {SESSION(RUNS("") FINDING("new", "ACL-5")), 1},
        {SESSION(RUNS("") FINDING("new", "of no table")), 1},
        {SESSION(RUNS("") FINDING("new", "")), 1},
        {SESSION(RUNS("") FINDING("known", "ACL-5")), 0},
        {SESSION(RUNS(",\"new\":2")), 1},
        {SESSION(RUNS("") "{\"type\":\"regressions\",\"replayed\":4,\"broken\":1}\n"), 1},
        {SESSION(RUNS("") "{\"type\":\"summary\",\"gates\":[\"pause never fell\"]}\n"), 4},
        {SESSION(RUNS("") "{\"type\":\"summary\",\"deterministic\":false}\n"), 3},
        {SESSION("{\"type\":\"summary\",\"seeds\":5,\"differences\":1}\n"), 1},
        {SESSION(RUNS("") "{\"type\":\"summary\",\"survived\":1}\n"), 4},
        {SESSION(RUNS("") "{\"type\":\"summary\",\"survived\":0}\n"), 0},
        {SESSION("{\"type\":\"real\",\"runs\":1,\"status\":2}\n"), 2},
        {SESSION("{\"type\":\"real\",\"runs\":1,\"status\":0}\n"), 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        evidence_free(&evidence);
        evidence_begin(&evidence);
        cr_assert(add(cases[i].lines), "%s", error.text);
        evidence_end(&evidence);
        cr_expect_eq(evidence.status, cases[i].status, "%s", cases[i].lines);
        bool held = cases[i].status == 0;
        json_t *report = report_make(&evidence, NULL);
        const char *words = evidence_text(json_object_get(report, "verdict"), "words");
        cr_expect_eq(strstr(words, "every promise held") != NULL, held, "%s", cases[i].lines);
        char *xml = junit();
        bool green = strstr(xml, "<failure") == NULL && strstr(xml, "<error") == NULL;
        cr_expect_eq(green, held, "%s: %s", cases[i].lines, xml);
        free(xml);
        json_decref(report);
    }
}

/* (LI4) */
Test(evidence, of_counts_that_are_too_many_stays_the_most_that_there_can_be)
{
    static const char most[] =
        SESSION(RUNS(",\"evaluated\":{\"ACL-5\":1000000000000000},\"fired\":{\"pause\":"
                     "1000000000000000}"));
    for (int i = 0; i < 10000; i++) {
        cr_assert(add(most), "%s", error.text);
    }
    cr_expect_eq(evidence.clauses[CLAUSE_ACL_5].evaluated[EVIDENCE_SIM], (uint64_t)INT64_MAX);
    cr_expect_eq(evidence_number(evidence.fired[EVIDENCE_SIM], "pause"), (uint64_t)INT64_MAX);
}

/* ---- the report ------------------------------------------------------------------------------ */

static json_t *status_of(const json_t *report, const char *id)
{
    size_t i;
    json_t *clause;
    json_array_foreach(json_object_get(report, "clauses"), i, clause)
    {
        if (evidence_is(clause, "id", id)) {
            return clause;
        }
    }
    return NULL;
}

/* A cell of the machine whose name begins so. */
static const json_t *cell_of(const json_t *report, const char *name, size_t row, size_t column)
{
    size_t i;
    json_t *machine;
    json_array_foreach(json_object_get(report, "machines"), i, machine)
    {
        if (strncmp(evidence_text(machine, "name"), name, strlen(name)) == 0) {
            return json_array_get(json_array_get(json_object_get(machine, "cells"), row), column);
        }
    }
    return NULL;
}

Test(evidence, of_machines_tells_never_from_not_watched_and_impossible)
{
    cr_assert(
        add_lines("{\"type\":\"run\",\"protocol\":\"activity\"}\n"
                  "{\"type\":\"run\",\"protocol\":\"seq\",\"sabotage\":\"x\",\"seen\":{\"move 1, 0 "
                  "-> 1\":3}}\n"));
    json_t *report = report_make(&evidence, NULL);
    cr_expect(json_is_null(cell_of(report, "seq", 0, 1)), "only runs with a planted bug");
    cr_expect(json_is_integer(cell_of(report, "two-leg", 2, 1)));
    cr_expect(json_is_false(cell_of(report, "two-leg", 2, 0)));
    json_decref(report);
    cr_assert(
        add_lines("{\"type\":\"run\",\"protocol\":\"seq\",\"seen\":{\"move 1, 0 -> 1\":3}}\n"));
    report = report_make(&evidence, NULL);
    cr_expect_eq(json_integer_value(cell_of(report, "seq", 0, 1)), 3);
    cr_expect_eq(json_integer_value(cell_of(report, "seq", 1, 2)), 0);
    json_decref(report);
}

Test(evidence, becomes_a_report_with_the_verdict_and_every_promise)
{
    cr_assert(add(campaign));
    evidence_end(&evidence);
    json_t *report = report_make(&evidence, NULL);
    cr_expect_eq(evidence_number(report, "version"), 1U);
    cr_expect(evidence_is(json_object_get(report, "verdict"), "words",
                          "every promise held that was put to the test, 3 of 129"));
    cr_expect_eq(json_array_size(json_object_get(report, "clauses")), (size_t)CLAUSE_COUNT);
    cr_expect(evidence_is(status_of(report, "ACL-5"), "status", "held"));
    cr_expect(json_is_null(json_object_get(status_of(report, "ACL-5"), "real")));
    cr_expect(json_is_null(json_object_get(status_of(report, "ACL-5"), "sabotages")));
    cr_expect(evidence_is(status_of(report, "ACL-2"), "status", "not shown"));
    cr_expect(evidence_is(status_of(report, "ACL-3"), "status", "elsewhere"));
    const char *bound = evidence_text(json_object_get(report, "bound"), "words");
    cr_expect(strstr(bound, "0 findings in 600 seeds of tree-3. With 95% confidence, no bug") !=
                      NULL &&
                  strstr(bound, "more than 1 of 200 seeds") != NULL,
              "600 seeds exclude 3/600: %s", bound);
    json_decref(report);
}

Test(evidence, of_a_finding_is_a_broken_promise_and_no_bound)
{
    cr_assert(add(BEGIN("run") "{\"type\":\"finding\",\"kind\":\"new\",\"scenario\":\"tree-3\","
                               "\"clause\":\"ACL-21\",\"why\":\"w\",\"again\":\"assay run\","
                               "\"runs\":1,\"seed\":7}\n" END(1)));
    evidence_end(&evidence);
    json_t *report = report_make(&evidence, NULL);
    cr_expect(evidence_is(status_of(report, "ACL-21"), "status", "broken"));
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    cr_expect(evidence_is(finding, "reproduce", "assay run"));
    cr_expect(evidence_text(finding, "clause_text")[0] != '\0');
    json_decref(report);
}

Test(evidence, of_crashes_says_which_depths_were_swept_in_which_world)
{
    cr_assert(add_lines("{\"type\":\"sweep\",\"protocol\":\"activity\",\"crash_points\":"
                        "[[\"Step 1\",\"before begin\",1,5],[\"Step 1\",\"after commit\",2,6],"
                        "[\"ack\",\"before commit\",1,7],[\"ack\",\"nowhere\",1,9],"
                        "[\"ack\",\"before commit\",9,9]]}\n"));
    json_t *report = report_make(&evidence, NULL);
    const json_t *points = json_array_get(json_object_get(report, "points"), 0);
    const json_t *cells = json_object_get(points, "cells");
    cr_expect_eq(json_array_size(json_object_get(points, "phases")), 2U);
    cr_expect_eq(json_array_size(json_object_get(points, "depths")), 2U);
    cr_assert_eq(json_array_size(cells), 12U, "2 phases, 3 sides, 2 depths");
    uint64_t sum = 0;
    size_t i;
    json_t *cell;
    json_array_foreach(cells, i, cell)
    {
        sum += evidence_number(cell, "sim");
        cr_expect(json_is_null(json_object_get(cell, "real")));
    }
    cr_expect_eq(sum, 18U);
    json_decref(report);
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

static char *junit(void)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    junit_write(out, &evidence);
    fclose(out);
    return text;
}

Test(evidence, becomes_a_case_for_each_scenario_and_promise_and_a_failure_for_a_finding)
{
    cr_assert(add(BEGIN(
        "campaign") "{\"type\":\"finding\",\"kind\":\"new\",\"scenario\":\"tree-3\",\"clause\":"
                    "\"ACL-21\",\"why\":\"a < b & \\\"c\\\"\",\"again\":\"assay run tree-3\"}\n"
                    "{\"type\":\"scenario\",\"scenario\":\"tree-3\",\"evaluated\":{\"ACL-5\":7,"
                    "\"ACL-21\":2}}\n" END(1)));
    char *text = junit();
    cr_expect(strstr(text, "tests=\"2\" failures=\"1\" errors=\"0\"") != NULL, "%s", text);
    cr_expect(strstr(text, "message=\"a &lt; b &amp; &quot;c&quot;\"") != NULL, "%s", text);
    cr_expect(strstr(text, "reproduce: assay run tree-3</failure>") != NULL, "%s", text);
    cr_expect(strstr(text, "classname=\"tree-3\" name=\"ACL-5 ") != NULL, "%s", text);
    free(text);
}

Test(evidence, of_a_known_finding_is_a_skipped_case_and_each_promise_one_case)
{
    cr_assert(add(BEGIN("campaign") FINDING("known", "ACL-5") FINDING("new", "ACL-21")
                      FINDING("new", "ACL-21") "{\"type\":\"scenario\",\"scenario\":\"tree-3\","
                                               "\"evaluated\":{\"ACL-5\":7}}\n" END(1)));
    char *text = junit();
    cr_expect(strstr(text, "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"1\"") != NULL, "%s",
              text);
    cr_expect(strstr(text, "<skipped message=\"a known finding: w\"/>") != NULL, "%s", text);
    free(text);
}

Test(evidence, of_a_finding_whose_scenario_has_no_result_is_a_failure)
{
    cr_assert(add(BEGIN("campaign") FINDING("new", "ACL-21") FINDING("new", "ACL-21")));
    char *text = junit();
    cr_expect(strstr(text, "tests=\"2\" failures=\"1\" errors=\"1\"") != NULL, "%s", text);
    free(text);
}

Test(evidence, of_a_killed_session_is_an_error)
{
    cr_assert(add(BEGIN("campaign")));
    char *text = junit();
    cr_expect(strstr(text, "errors=\"1\"") != NULL && strstr(text, "killed half-way") != NULL);
    free(text);
}

/* ---- sign-off -------------------------------------------------------------------------------- */

static struct sign_off page;

static const struct sign_off_row *row(enum clause_id clause)
{
    sign_off_make(&page, &evidence);
    return &page.clauses[clause];
}

#define ALONE(clause, found)                                                                       \
    "{\"type\":\"alone\",\"clause\":\"" clause "\",\"name\":\"literal-markers\",\"found\":" found  \
    "}\n"

Test(evidence, of_a_safe_promise_passes_with_runs_and_a_planted_bug_that_it_reports_by_itself)
{
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_assert(add(campaign));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_NOT_SHOWN, "a check that cannot fail");
    cr_assert(add_lines("{\"type\":\"sabotage\",\"fate\":\"SURVIVED\",\"name\":\"x\","
                        "\"clause\":\"ACL-5\"}\n"));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_assert(add_lines("{\"type\":\"sabotage\",\"fate\":\"found\",\"name\":\"literal-markers\","
                        "\"clause\":\"ACL-5\"}\n"));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_NOT_SHOWN, "others may have helped");
    cr_assert(add_lines(ALONE("ACL-5", "false") ALONE("ACL-8", "true")));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_assert(add_lines(ALONE("ACL-5", "true")));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_PASS);
    cr_expect_str_eq(row(CLAUSE_ACL_5)->why, "reports literal-markers by itself");
    cr_assert(add_lines("{\"type\":\"finding\",\"kind\":\"new\",\"clause\":\"ACL-5\"}\n"));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_FAIL);
    cr_expect_eq(page.status, 1);
}

#define SUITE(passed) "{\"type\":\"suite\",\"suite\":\"test_ledger\",\"passed\":" passed "}\n"
#define PROOF_OF(id, test, fails)                                                                  \
    "{\"type\":\"proof\",\"id\":\"" id "\",\"suite\":\"test_ledger\",\"test\":\"" test             \
    "\",\"mutant\":\"m1\",\"broken\":\"entries weigh less\",\"fails\":" fails "}\n"

/* That a test names the clause is no evidence, nor is a mutant that another test or another clause
 * met. */
Test(evidence, of_a_format_passes_with_a_test_that_passed_and_fails_when_it_is_broken)
{
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_expect_str_eq(row(CLAUSE_ACL_4)->why, "no test that names it was run");
    cr_assert(add_lines(SUITE("true")));
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_expect_gt(row(CLAUSE_ACL_4)->tests, 0U);
    cr_assert(add_lines(PROOF_OF("ACL-3", "layout_is_the_digit_map", "true")
                            PROOF_OF("ACL-4", "dimension_is_the_entry_count_less_1", "true")));
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_expect(strstr(row(CLAUSE_ACL_4)->why, "no mutant shows") != NULL);
    cr_assert(add_lines(PROOF_OF("ACL-4", "layout_is_the_digit_map", "true")));
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_PASS);
    cr_expect_str_eq(row(CLAUSE_ACL_4)->why,
                     "layout_is_the_digit_map fails if entries weigh less (mutant m1)");
    cr_expect_eq(page.clauses[CLAUSE_ACL_4].shown, 1U);
    cr_assert(add_lines(SUITE("false")));
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_FAIL);
}

Test(evidence, of_a_format_whose_test_does_not_notice_a_mutant_is_not_shown)
{
    cr_assert(add_lines(SUITE("true") PROOF_OF("ACL-4", "layout_is_the_digit_map", "true")
                            PROOF_OF("ACL-4", "every_field_reads_as_its_own_digits", "false")));
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_expect_str_eq(row(CLAUSE_ACL_4)->why, "every_field_reads_as_its_own_digits does not fail "
                                             "although entries weigh less (mutant m1)");
}

Test(evidence, of_a_format_that_cannot_be_shown_says_why)
{
    cr_assert(add_lines(SUITE("true") PROOF_OF("ACL-4", "layout_is_the_digit_map",
                                               "true") "{\"type\":\"lacking\","
                                                       "\"id\":\"ACL-4\",\"why\""
                                                       ":\"it is not done\"}\n"));
    cr_expect_eq(row(CLAUSE_ACL_4)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_expect_str_eq(row(CLAUSE_ACL_4)->why, "it is not done");
}

Test(evidence, of_a_path_passes_when_each_way_to_see_it_was_seen)
{
    char line[200];
    for (int sight = COVER_SEQ_MOVE_1; sight <= COVER_SEQ_MOVE_12; sight++) {
        cr_expect_eq(row(CLAUSE_SEQ_2)->verdict, SIGN_OFF_NOT_SHOWN);
        snprintf(line, sizeof line, "{\"type\":\"scenario\",\"seen\":{\"%s\":1}}\n",
                 oracle_cover_text((enum oracle_cover)sight));
        cr_assert(add_lines(line));
    }
    cr_expect_eq(row(CLAUSE_SEQ_2)->verdict, SIGN_OFF_PASS);
}

Test(evidence, of_a_known_weakness_passes_when_it_was_found)
{
    cr_assert(
        add_lines("{\"type\":\"scenario\",\"breaks\":\"LEG-6\",\"evaluated\":{\"LEG-6\":9}}\n"));
    cr_expect_eq(row(CLAUSE_LEG_6)->verdict, SIGN_OFF_NOT_SHOWN);
    cr_assert(add_lines("{\"type\":\"finding\",\"kind\":\"expected\",\"clause\":\"LEG-6\"}\n"));
    cr_expect_eq(row(CLAUSE_LEG_6)->verdict, SIGN_OFF_PASS);
}

Test(evidence, of_an_erratum_is_a_test_or_the_other_reading_found)
{
    sign_off_make(&page, &evidence);
    cr_expect(strcmp(clause_erratum(1)->id, "E-ACL-2") == 0);
    cr_expect_eq(page.errata[1].verdict, SIGN_OFF_NOT_SHOWN);
    cr_assert(add_lines("{\"type\":\"sabotage\",\"fate\":\"found\",\"name\":\"literal-markers\","
                        "\"clause\":\"ACL-5\"}\n"));
    sign_off_make(&page, &evidence);
    cr_expect_eq(page.errata[1].verdict, SIGN_OFF_PASS);
    cr_expect_eq(page.status, 4);
    cr_expect(strcmp(clause_erratum(0)->id, "E-ACL-1") == 0);
    cr_assert(add_lines(SUITE("true")));
    sign_off_make(&page, &evidence);
    cr_expect_eq(page.errata[0].verdict, SIGN_OFF_NOT_SHOWN, "a test that names it is not enough");
    cr_assert(add_lines(PROOF_OF("E-ACL-1", "layout_is_the_digit_map", "true")));
    sign_off_make(&page, &evidence);
    cr_expect_eq(page.errata[0].verdict, SIGN_OFF_PASS);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static const struct sign_off_row *step(const char *name)
{
    sign_off_make(&page, &evidence);
    for (size_t i = 0; i < STEPS_COUNT; i++) {
        if (strcmp(steps_get(i)->name, name) == 0) {
            return &page.steps[i];
        }
    }
    cr_assert_fail("there is no step %s", name);
    return NULL;
}

#define SUMMARY(rest) "{\"type\":\"summary\",\"gates\":[]," rest "}\n"
#define SWEEP(protocol, rest)                                                                      \
    "{\"type\":\"sweep\",\"protocol\":\"" protocol "\",\"broken\":false," rest "}\n"
#define SEARCH(protocol, rest) "{\"type\":\"explore\",\"protocol\":\"" protocol "\"," rest "}\n"

/* Of each step: lines that look like it and show too little, and then what is missing. */
static const struct {
    const char *name, *little, *rest;
} shown[] = {
    {"campaign", BEGIN("campaign") SUMMARY("\"every_scenario\":false,\"gates_judged\":true") END(0),
     BEGIN("campaign") SUMMARY("\"every_scenario\":true,\"gates_judged\":true") END(0)},
    {"campaign", BEGIN("campaign") SUMMARY("\"every_scenario\":true,\"gates_judged\":false") END(0),
     BEGIN("merge") "{\"type\":\"gates\",\"every_scenario\":true,\"gates\":[]}\n" END(0)},
    {"sweep",
     BEGIN("sweep") SWEEP("legacy", "\"depth\":2,\"complete\":true")
         SWEEP("key", "\"depth\":2,\"complete\":true") SWEEP("seq", "\"depth\":2,\"complete\":true")
             SWEEP("pipeline", "\"depth\":2,\"complete\":true")
                 SWEEP("activity", "\"depth\":2,\"complete\":true,\"commits\":\"literal\"")
                     SWEEP("activity", "\"depth\":1,\"complete\":true,\"commits\":\"merged\"")
                         SWEEP("activity", "\"depth\":2,\"complete\":false,\"commits\":\"merged\"")
                             END(0),
     BEGIN("sweep") SWEEP("activity", "\"depth\":2,\"complete\":true,\"commits\":\"merged\"")
         END(0)},
    {"explore",
     BEGIN("explore") SEARCH("legacy", "\"crashes\":1,\"complete\":true") SEARCH(
         "key", "\"crashes\":1,\"complete\":true") SEARCH("seq", "\"crashes\":1,\"complete\":true")
         SEARCH("pipeline", "\"crashes\":0,\"complete\":true")
             SEARCH("activity", "\"crashes\":1,\"complete\":true,\"commits\":\"literal\"") SEARCH(
                 "activity", "\"crashes\":1,\"complete\":true,\"commits\":\"merged\"") END(0),
     BEGIN("explore") SEARCH("pipeline", "\"crashes\":1,\"complete\":true") END(0)},
    {"sabotage", BEGIN("sabotage") SUMMARY("\"every_sabotage\":false,\"found\":3") END(0),
     BEGIN("sabotage") SUMMARY("\"every_sabotage\":true,\"found\":3") END(0)},
    {"proofs",
     BEGIN("proofs") SUMMARY("\"every_proof\":false,\"mutants\":3,\"noticed\":3") SUMMARY(
         "\"every_proof\":true,\"mutants\":3,\"noticed\":2") PROOF_OF("ACL-4", "t", "true") END(0),
     BEGIN("proofs") SUMMARY("\"every_proof\":true,\"mutants\":3,\"noticed\":3")
         PROOF_OF("ACL-4", "t", "true") END(0)},
    {"conform", BEGIN("conform") SUMMARY("\"statements\":9,\"differences\":0") END(0),
     BEGIN("conform") "{\"type\":\"errors\",\"planted\":4,\"found\":4}\n" END(0)},
    {"real",
     BEGIN("real") "{\"type\":\"real\",\"protocol\":\"activity\"}\n"
                   "{\"type\":\"real\",\"protocol\":\"seq\"}\n"
                   "{\"type\":\"real\",\"protocol\":\"key\"}\n"
                   "{\"type\":\"real\",\"protocol\":\"legacy\"}\n"
                   "{\"type\":\"real\",\"protocol\":\"pipeline\",\"sabotage\":\"x\"}\n" END(0),
     BEGIN("real") "{\"type\":\"real\",\"protocol\":\"pipeline\"}\n" END(0)},
};

Test(evidence, of_a_step_is_what_its_line_speaks_of_and_not_that_a_verb_was_run)
{
    for (size_t i = 0; i < COUNT(shown); i++) {
        evidence_free(&evidence);
        evidence_begin(&evidence);
        cr_expect_eq(step(shown[i].name)->verdict, SIGN_OFF_NOT_SHOWN, "%s", shown[i].name);
        cr_assert(add(shown[i].little));
        cr_expect_eq(step(shown[i].name)->verdict, SIGN_OFF_NOT_SHOWN, "%s", shown[i].little);
        cr_assert(add(shown[i].rest));
        cr_expect_eq(step(shown[i].name)->verdict, SIGN_OFF_PASS, "%s: %s", shown[i].name,
                     step(shown[i].name)->why);
    }
}

Test(evidence, of_the_tests_is_every_suite_that_proves_something)
{
    char line[200];
    cr_assert(add(BEGIN("tests") END(0)));
    for (size_t i = 0; i < proofs_count(); i++) {
        bool first = i == 0 || strcmp(proofs_get(i)->suite, proofs_get(i - 1)->suite) != 0;
        cr_expect(!first || step("tests")->verdict == SIGN_OFF_NOT_SHOWN, "%s was not run",
                  proofs_get(i)->suite);
        snprintf(line, sizeof line, "{\"type\":\"suite\",\"suite\":\"%s\",\"passed\":true}\n",
                 proofs_get(i)->suite);
        cr_assert(add_lines(line));
    }
    cr_expect_eq(step("tests")->verdict, SIGN_OFF_PASS, "%s", step("tests")->why);
}

Test(evidence, of_two_builds_is_told_and_not_signed)
{
#define BUILT(hash) "{\"type\":\"begin\",\"verb\":\"run\",\"binary_hash\":\"" hash "\"}\n" END(0)
    cr_expect_eq(step("build")->verdict, SIGN_OFF_NOT_SHOWN, "nothing says what it was");
    cr_assert(add(BUILT("a") BEGIN("tests") END(0) BUILT("a")));
    cr_expect_eq(step("build")->verdict, SIGN_OFF_PASS);
    cr_assert(add(BUILT("b")));
    cr_expect_eq(step("build")->verdict, SIGN_OFF_NOT_SHOWN);
    cr_expect_str_eq(step("build")->why, "results of different builds are mixed");
}

/* (EV4) */
Test(evidence, of_a_promise_that_is_broken_on_purpose_says_where)
{
    cr_assert(add(campaign));
    cr_assert(add_lines(ALONE("ACL-5", "true") FINDING("expected", "ACL-5")));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_PASS);
    cr_expect_str_eq(row(CLAUSE_ACL_5)->why,
                     "reports literal-markers by itself; broken on purpose in tree-3");
    cr_assert(add_lines(FINDING("known", "ACL-5")));
    cr_expect_eq(row(CLAUSE_ACL_5)->verdict, SIGN_OFF_FAIL, "known is no pass");
}

/* ---- proofs and hashes ----------------------------------------------------------------------- */

Test(proofs, are_read_from_the_sources_of_the_tests)
{
    bool here = false;
    for (size_t i = 0; i < proofs_count(); i++) {
        const struct proof *proof = proofs_get(i);
        here = here ||
               (strcmp(proof->suite, "test_ledger") == 0 && proofs_names(proof->clauses, "ACL-6"));
        cr_expect(proof->clauses[0] != '\0' || proof->errata[0] != '\0');
    }
    cr_expect(here, "a test of the ledger says that it proves ACL-6");
    cr_expect(proofs_names("ACL-6 ACL-18 ", "ACL-18"));
    cr_expect_not(proofs_names("ACL-6 ACL-18 ", "ACL-1"));
    cr_expect_not(proofs_names("E-ACL-1 ", "ACL-1"));
    cr_expect(proofs_names("Sabotage `early-ack`: x", "early-ack"));
    cr_expect_not(proofs_names("Sabotage `no-early-ack`", "early-ack"));
}
