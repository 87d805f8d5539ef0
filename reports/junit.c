#include "reports/junit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- XML ------------------------------------------------------------------------------------- */

/* Text and attributes alike. What XML 1.0 cannot hold is a question mark. */
static void write_escaped(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
            fputs("&#10;", out);
            break;
        default:
            fputc((unsigned char)*c < ' ' && *c != '\t' ? '?' : *c, out);
        }
    }
}

static void write_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    write_escaped(out, value);
    fputc('"', out);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Counts when `out` is NULL, and writes else: a suite says first how many it has. */
struct cases {
    FILE *out;
    json_t *list;      /* where each case goes as JSON, too; NULL: nowhere */
    const char *suite; /* ... and of which suite it is */
    uint64_t tests, failures, errors, skipped;
};

/* As CTRF has it: "passed", "failed" or "skipped". */
static void list_case(struct cases *cases, const char *class, const char *name, const char *status,
                      const char *message)
{
    if (cases->list == NULL) {
        return;
    }
    json_t *one = json_pack("{s:o, s:s, s:i, s:[s]}", "name", json_sprintf("%s: %s", class, name),
                            "status", status, "duration", 0, "suite", cases->suite);
    if (message[0] != '\0') {
        json_object_set_new(one, "message", json_string(message));
    }
    json_array_append_new(cases->list, one);
}

static void open_case(struct cases *cases, const char *class, const char *name)
{
    cases->tests++;
    if (cases->out != NULL) {
        fputs("    <testcase", cases->out);
        write_attribute(cases->out, "classname", class);
        write_attribute(cases->out, "name", name);
    }
}

static void add_passed(struct cases *cases, const char *class, const char *name)
{
    list_case(cases, class, name, "passed", "");
    open_case(cases, class, name);
    if (cases->out != NULL) {
        fputs(" time=\"0\"/>\n", cases->out);
    }
}

static void add_failed(struct cases *cases, const char *class, const char *name, const char *type,
                       const char *message, const char *text)
{
    list_case(cases, class, name, "failed", message);
    open_case(cases, class, name);
    cases->failures++;
    if (cases->out != NULL) {
        fputs(" time=\"0\">\n      <failure", cases->out);
        write_attribute(cases->out, "type", type);
        write_attribute(cases->out, "message", message);
        fputc('>', cases->out);
        write_escaped(cases->out, text);
        fputs("</failure>\n    </testcase>\n", cases->out);
    }
}

static void add_skipped(struct cases *cases, const char *class, const char *name,
                        const char *message)
{
    list_case(cases, class, name, "skipped", message);
    open_case(cases, class, name);
    cases->skipped++;
    if (cases->out != NULL) {
        fputs(" time=\"0\">\n      <skipped", cases->out);
        write_attribute(cases->out, "message", message);
        fputs("/>\n    </testcase>\n", cases->out);
    }
}

static void add_error(struct cases *cases, const char *class, const char *name, const char *message)
{
    list_case(cases, class, name, "failed", message);
    open_case(cases, class, name);
    cases->errors++;
    if (cases->out != NULL) {
        fputs(" time=\"0\">\n      <error type=\"incomplete\"", cases->out);
        write_attribute(cases->out, "message", message);
        fputs("/>\n    </testcase>\n", cases->out);
    }
}

/* ---- from lines ------------------------------------------------------------------------------ */

/* Where a session begins and ends among the lines. */
struct session {
    const json_t *lines;
    size_t first, end;
};

static bool is_finding(const json_t *line, const char *kind, const char *scenario,
                       const char *clause)
{
    return line_is(line, LINE_FINDING) && line_text_is(line_get_kind(line), kind) &&
           line_text_is(line_get_scenario(line), scenario) &&
           line_text_is(line_get_clause(line), clause);
}

/* The first one of this kind; NULL: there is none. */
static const json_t *finding_of(const struct session *session, const char *kind,
                                const char *scenario, const char *clause)
{
    for (size_t i = session->first; i < session->end; i++) {
        const json_t *line = json_array_get(session->lines, i);
        if (is_finding(line, kind, scenario, clause)) {
            return line;
        }
    }
    return NULL;
}

static bool has_finding(const struct session *session, const char *scenario, const char *clause)
{
    return finding_of(session, "new", scenario, clause) != NULL ||
           finding_of(session, "known", scenario, clause) != NULL;
}

/* Every new finding of the promise in the scenario is one failure: each with its words and how to
 * do it again. */
static void add_broken(struct cases *cases, const struct session *session, const char *name,
                       const json_t *first)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    const char *scenario = line_get_scenario(first), *clause = line_get_clause(first);
    const char *separator = "";
    for (size_t i = session->first; out != NULL && i < session->end; i++) {
        const json_t *line = json_array_get(session->lines, i);
        if (is_finding(line, "new", scenario, clause)) {
            fprintf(out, "%s%s\nreproduce: %s", separator, line_get_why(line),
                    line_get_again(line));
            separator = "\n";
        }
    }
    bool told = out != NULL && fclose(out) == 0;
    add_failed(cases, scenario, name, clause, line_get_why(first), told ? text : "");
    free(text);
}

/* With --expect-finding, and ended well: findings are what it was asked for (evidence.h, EV3). */
static bool wanted_a_finding(const struct session *session)
{
    const json_t *last = json_array_get(session->lines, session->end - 1);
    return line_get_expects_finding(json_array_get(session->lines, session->first)) &&
           line_is(last, LINE_END) && line_get_status(last) <= 1;
}

static void add_promise(struct cases *cases, const struct session *session, const char *scenario,
                        const struct clause *clause)
{
    char name[400], message[500];
    const json_t *broken = finding_of(session, "new", scenario, clause->id);
    const json_t *known = finding_of(session, "known", scenario, clause->id);
    const json_t *expected = finding_of(session, "expected", scenario, clause->id);
    snprintf(name, sizeof name, "%s %s", clause->id, clause->promise);
    if (broken != NULL && wanted_a_finding(session)) {
        add_passed(cases, scenario, name);
    } else if (broken != NULL) {
        add_broken(cases, session, name, broken);
    } else if (expected != NULL) {
        snprintf(message, sizeof message, "broken, as the scenario expects: %.400s",
                 line_get_why(expected));
        add_skipped(cases, scenario, name, message);
    } else if (known != NULL) {
        snprintf(message, sizeof message, "a known finding: %.400s", line_get_why(known));
        add_skipped(cases, scenario, name, message);
    } else {
        add_passed(cases, scenario, name);
    }
}

/* A case for every promise that was put to the test or broken. */
static void add_scenario(struct cases *cases, const struct session *session, const json_t *line)
{
    const char *scenario = line_get_scenario(line);
    const json_t *evaluated = line_get_evaluated(line);
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        const struct clause *clause = clause_get((enum clause_id)c);
        if (evidence_number(evaluated, clause->id) > 0 ||
            has_finding(session, scenario, clause->id)) {
            add_promise(cases, session, scenario, clause);
        }
    }
}

/* A finding of a scenario that has no result, because the session was killed, is a case, too: the
 * first of its promise. */
static void add_finding(struct cases *cases, const struct session *session, const json_t *line)
{
    enum clause_id id;
    const char *scenario = line_get_scenario(line), *clause = line_get_clause(line);
    const json_t *first = finding_of(session, line_get_kind(line), scenario, clause);
    for (size_t i = session->first; i < session->end; i++) {
        const json_t *other = json_array_get(session->lines, i);
        if (line_is_about_runs(other) && line_text_is(line_get_scenario(other), scenario)) {
            return;
        }
    }
    bool covered = line_text_is(line_get_kind(line), "known") &&
                   finding_of(session, "new", scenario, clause) != NULL;
    if (line == first && !covered && !line_text_is(line_get_kind(line), "expected") &&
        clause_find(clause, strlen(clause), &id)) {
        add_promise(cases, session, scenario, clause_get(id));
    }
}

static void add_sabotage(struct cases *cases, const struct session *session, const json_t *line)
{
    (void)session;
    const char *name = line_get_name(line);
    if (line_text_is(line_get_fate(line), "found") ||
        line_text_is(line_get_fate(line), "equivalent")) {
        add_passed(cases, "sabotage", name);
    } else if (line_text_is(line_get_fate(line), "not shown")) {
        add_skipped(cases, "sabotage", name, line_get_search(line));
    } else {
        char again[200];
        snprintf(again, sizeof again, "reproduce: assay sabotage %.100s", name);
        add_failed(cases, "sabotage", name, "survived", line_get_fate(line), again);
    }
}

static void add_suite(struct cases *cases, const struct session *session, const json_t *line)
{
    (void)session;
    const char *suite = line_get_suite(line);
    if (line_get_passed(line)) {
        add_passed(cases, "unit tests", suite);
    } else {
        char again[200];
        snprintf(again, sizeof again, "reproduce: ctest -R '^%.100s$'", suite);
        add_failed(cases, "unit tests", suite, "failed", "a unit test failed", again);
    }
}

/* conform: the simulated store and PostgreSQL. */
static void add_difference(struct cases *cases, const struct session *session, const json_t *line)
{
    (void)session;
    char name[60], again[100];
    snprintf(name, sizeof name, "seed %" PRIu64, line_get_seed(line));
    snprintf(again, sizeof again, "reproduce: assay conform --seeds 1 --base-seed %" PRIu64,
             line_get_seed(line));
    add_failed(cases, "conform", name, "difference", line_get_what(line), again);
}

/* conform --errors: a planted error that was not found after any number of seeds. */
static void add_planted_error(struct cases *cases, const struct session *session,
                              const json_t *line)
{
    (void)session;
    const char *name = line_get_name(line);
    if (line_get_seeds(line) > 0) {
        add_passed(cases, "conform", name);
    } else {
        add_failed(cases, "conform", name, "survived", "a planted error was not found", "");
    }
}

/* bench: a figure and its bar. */
static void add_bar(struct cases *cases, const struct session *session, const json_t *line)
{
    (void)session;
    char text[100];
    if (line_get_met(line)) {
        add_passed(cases, "bench", line_get_what(line));
        return;
    }
    snprintf(text, sizeof text, "%.4g, and the bar is %.4g", line_get_figure(line),
             line_get_bar(line));
    add_failed(cases, "bench", line_get_what(line), "bar", "a bar was missed", text);
}

static void add_gates(struct cases *cases, const struct session *session, const json_t *line)
{
    (void)session;
    size_t i;
    json_t *gate;
    json_array_foreach(line_get_gates(line), i, gate)
    {
        const char *text = json_string_value(gate);
        add_failed(cases, "gates", text == NULL ? "" : text, "gate", "a gate was not met", "");
    }
}

static void add_end(struct cases *cases, const struct session *session, const json_t *line)
{
    int status = (int)line_get_status(line);
    const char *verb = line_get_verb(line);
    uint64_t before = cases->failures;
    const json_t *begin = json_array_get(session->lines, session->first);
    if (status == 1 && before == 0 && line_get_expects_finding(begin)) {
        add_error(cases, verb, "it ended", "a finding was expected, and none was made");
    } else if (status == 0) {
        add_passed(cases, verb, "it ended");
    } else if (before == 0) { /* a failure has said so already */
        add_error(cases, verb, "it ended", line_status_words(line_status_rank(status)));
    }
}

static const struct {
    enum line_type type;
    void (*add)(struct cases *cases, const struct session *session, const json_t *line);
} kinds[] = {
    {LINE_SCENARIO, add_scenario},
    {LINE_SWEEP, add_scenario},
    {LINE_RUN, add_scenario},
    {LINE_REAL, add_scenario},
    {LINE_FINDING, add_finding},
    {LINE_EXPLORE, add_scenario},
    {LINE_SABOTAGE, add_sabotage},
    {LINE_SUITE, add_suite},
    {LINE_DIFFERENCE, add_difference},
    {LINE_ERROR, add_planted_error},
    {LINE_SUMMARY, add_gates},
    {LINE_GATES, add_gates},
    {LINE_BAR, add_bar},
    {LINE_END, add_end},
};

static void add_session(struct cases *cases, const struct session *session)
{
    bool ended = false;
    for (size_t i = session->first; i < session->end; i++) {
        const json_t *line = json_array_get(session->lines, i);
        ended = ended || line_is(line, LINE_END);
        for (size_t k = 0; k < COUNT(kinds); k++) {
            if (line_is(line, kinds[k].type)) {
                kinds[k].add(cases, session, line);
            }
        }
    }
    if (!ended) {
        add_error(cases, line_get_verb(json_array_get(session->lines, session->first)), "it ended",
                  "it was killed half-way");
    }
}

/* ---- suites ---------------------------------------------------------------------------------- */

static void write_suite(FILE *out, const struct session *session)
{
    struct cases counted = {.out = NULL}, written = {.out = out};
    const json_t *begin = json_array_get(session->lines, session->first);
    const json_t *last = json_array_get(session->lines, session->end - 1);
    const char *command = line_get_command(begin);
    const char *made = line_get_made(begin);
    char when[20] = "1970-01-01T00:00:00";
    add_session(&counted, session);
    if (strlen(made) >= 19) {
        memcpy(when, made, 19);
    }
    fputs("  <testsuite", out);
    write_attribute(out, "name", command[0] == '\0' ? "results" : command);
    fprintf(out,
            " tests=\"%" PRIu64 "\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64
            "\" skipped=\"%" PRIu64 "\" time=\"%.3f\" timestamp=\"%s\" hostname=\"localhost\">\n",
            counted.tests, counted.failures, counted.errors, counted.skipped,
            line_get_seconds(last), when);
    add_session(&written, session);
    fputs("  </testsuite>\n", out);
}

/* Each reason by itself, so that a reader of cases alone reads why. */
static void add_reasons(struct cases *cases, const struct evidence *evidence)
{
    char text[600];
    size_t i;
    json_t *reason;
    json_array_foreach(evidence->verdict.reasons, i, reason)
    {
        if (evidence_number(reason, "status") != 0) {
            verdict_reason_words(reason, text, sizeof text);
            add_error(cases, "verdict", text, text);
        }
    }
}

static void write_verdict(FILE *out, const struct evidence *evidence)
{
    struct cases counted = {.out = NULL}, cases = {.out = out};
    add_reasons(&counted, evidence);
    if (counted.errors > 0) {
        fprintf(out,
                "  <testsuite name=\"verdict\" tests=\"%" PRIu64
                "\" failures=\"0\" errors=\"%" PRIu64
                "\" skipped=\"0\" time=\"0.000\" timestamp=\"1970-01-01T00:00:00\" "
                "hostname=\"localhost\">\n",
                counted.tests, counted.errors);
        add_reasons(&cases, evidence);
        fputs("  </testsuite>\n", out);
    }
}

/* The session that begins there. */
static struct session session_at(const struct evidence *evidence, size_t first)
{
    size_t count = json_array_size(evidence->lines);
    struct session session = {.lines = evidence->lines, .first = first, .end = first + 1};
    while (session.end < count &&
           !line_is(json_array_get(evidence->lines, session.end), LINE_BEGIN)) {
        session.end++;
    }
    return session;
}

void junit_write(FILE *out, const struct evidence *evidence)
{
    size_t count = json_array_size(evidence->lines);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    for (size_t first = 0; first < count;) {
        struct session session = session_at(evidence, first);
        write_suite(out, &session);
        first = session.end;
    }
    write_verdict(out, evidence);
    fputs("</testsuites>\n", out);
}

json_t *junit_cases(const struct evidence *evidence)
{
    size_t count = json_array_size(evidence->lines);
    struct cases cases = {.list = json_array()};
    for (size_t first = 0; first < count;) {
        struct session session = session_at(evidence, first);
        const char *command = line_get_command(json_array_get(evidence->lines, first));
        cases.suite = command[0] == '\0' ? "results" : command;
        add_session(&cases, &session);
        first = session.end;
    }
    cases.suite = "verdict";
    add_reasons(&cases, evidence);
    return cases.list;
}
