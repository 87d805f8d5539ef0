#include "reports/formats.h"

#include "reports/json_line.h"
#include "reports/junit.h"

#include <inttypes.h>
#include <string.h>

/* ---- GitHub: annotations of a workflow ------------------------------------------------------- */

enum level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_NOTICE, LEVELS };

static const char *const level_names[LEVELS] = {"error", "warning", "notice"};

struct annotations {
    FILE *out;
    size_t count[LEVELS], all[LEVELS]; /* written so far; that there are */
};

/* A workflow command is one line; a property has two more characters that end it. */
static void write_command_text(FILE *out, const char *text, bool property)
{
    for (const char *c = text; *c != '\0'; c++) {
        bool special =
            *c == '%' || *c == '\r' || *c == '\n' || (property && (*c == ':' || *c == ','));
        if (special) {
            fprintf(out, "%%%02X", (unsigned)*c);
        } else {
            fputc(*c, out);
        }
    }
}

static void write_command(FILE *out, enum level level, const char *title, const char *text)
{
    fprintf(out, "::%s title=", level_names[level]);
    write_command_text(out, title, true);
    fputs("::", out);
    write_command_text(out, text, false);
    fputc('\n', out);
}

/* Counts when `out` is NULL. The last that fits says how many more there are. */
static void annotate(struct annotations *to, enum level level, const char *title, const char *text)
{
    char more[60];
    to->count[level]++;
    if (to->out == NULL || to->count[level] > FORMATS_ANNOTATIONS_MAX) {
        return;
    }
    if (to->count[level] == FORMATS_ANNOTATIONS_MAX && to->all[level] > FORMATS_ANNOTATIONS_MAX) {
        snprintf(more, sizeof more, "and %zu more", to->all[level] - FORMATS_ANNOTATIONS_MAX + 1);
        write_command(to->out, level, "assay", more);
        return;
    }
    write_command(to->out, level, title, text);
}

static enum level level_of(int status)
{
    return status == 0 ? LEVEL_NOTICE : status == 4 ? LEVEL_WARNING : LEVEL_ERROR;
}

static void annotate_verdict(struct annotations *to, const struct formats_input *input)
{
    const json_t *verdict = json_object_get(input->report, "verdict"), *reason;
    int status = (int)evidence_number(verdict, "status");
    char title[40];
    size_t i;
    snprintf(title, sizeof title, "assay, status %d", status);
    annotate(to, level_of(status), title, evidence_text(verdict, "words"));
    json_array_foreach(json_object_get(verdict, "reasons"), i, reason)
    {
        annotate(to, level_of((int)evidence_number(reason, "status")),
                 evidence_text(reason, "kind"), evidence_text(reason, "text"));
    }
}

static void annotate_findings(struct annotations *to, const struct formats_input *input)
{
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(input->report, "findings"), i, finding)
    {
        char title[200], text[1200];
        bool alarming = evidence_is(finding, "kind", "new") && input->evidence->status == 1;
        snprintf(title, sizeof title, "%s in %s", evidence_text(finding, "clause"),
                 evidence_text(finding, "scenario"));
        snprintf(text, sizeof text, "%.700s\n%.400s", evidence_text(finding, "sentence"),
                 evidence_text(finding, "reproduce"));
        annotate(to, alarming ? LEVEL_ERROR : LEVEL_NOTICE, title, text);
    }
}

void formats_write_github(FILE *out, const struct formats_input *input)
{
    struct annotations counted = {.out = NULL}, written = {.out = out};
    annotate_verdict(&counted, input);
    annotate_findings(&counted, input);
    memcpy(written.all, counted.count, sizeof written.all);
    annotate_verdict(&written, input);
    annotate_findings(&written, input);
}

/* ---- cases, as JUnit has them ---------------------------------------------------------------- */

static size_t count_cases(const json_t *cases, const char *status)
{
    size_t count = 0, i;
    json_t *one;
    json_array_foreach((json_t *)cases, i, one)
    {
        count += evidence_is(one, "status", status);
    }
    return count;
}

/* "2026-01-31T12:00:00Z", in milliseconds since 1970; 0: it is none. */
static json_int_t milliseconds(const char *made)
{
    int year, month, day, hour, minute, second;
    if (sscanf(made, "%d-%d-%dT%d:%d:%d", &year, &month, &day, &hour, &minute, &second) != 6) {
        return 0;
    }
    int shifted = month > 2 ? year : year - 1; /* March begins the year: leap days come last */
    int era = shifted / 400, of_era = shifted - era * 400;
    int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t days =
        (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    return ((days * 24 + hour) * 60 + minute) * INT64_C(60000) + second * INT64_C(1000);
}

static double seconds_of(const struct evidence *evidence)
{
    double seconds = 0;
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        seconds += line_is(line, LINE_END) ? line_get_seconds(line) : 0;
    }
    return seconds;
}

void formats_write_ctrf(FILE *out, const struct formats_input *input)
{
    json_t *cases = junit_cases(input->evidence);
    json_int_t start = milliseconds(line_get_made(input->evidence->begin));
    json_int_t stop = start + (json_int_t)(1000 * seconds_of(input->evidence));
    json_t *summary = json_pack(
        "{s:I, s:I, s:I, s:i, s:I, s:i, s:I, s:I}", "tests", (json_int_t)json_array_size(cases),
        "passed", (json_int_t)count_cases(cases, "passed"), "failed",
        (json_int_t)count_cases(cases, "failed"), "pending", 0, "skipped",
        (json_int_t)count_cases(cases, "skipped"), "other", 0, "start", start, "stop", stop);
    json_line_write(
        out, json_pack("{s:s, s:s, s:{s:{s:s, s:s}, s:o, s:o}, s:{s:O}}", "reportFormat", "CTRF",
                       "specVersion", "0.0.0", "results", "tool", "name", "assay", "version",
                       line_get_assay(input->evidence->begin), "summary", summary, "tests", cases,
                       "extra", "verdict", json_object_get(input->report, "verdict")));
}

/* ---- in-toto --------------------------------------------------------------------------------- */

static const char *suite_of(const json_t *one)
{
    const char *suite = json_string_value(json_array_get(json_object_get(one, "suite"), 0));
    return suite == NULL ? "" : suite;
}

static json_t *names_of(const json_t *cases, const char *status)
{
    json_t *names = json_array();
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)cases, i, one)
    {
        if (evidence_is(one, "status", status)) {
            json_array_append_new(
                names, json_sprintf("%s: %s", suite_of(one), evidence_text(one, "name")));
        }
    }
    return names;
}

/* A statement about the program, which a signature of its own makes an attestation. What is not
 * known to have passed has failed. */
void formats_write_in_toto(FILE *out, const struct formats_input *input)
{
    const json_t *begin = input->evidence->begin;
    json_t *cases = junit_cases(input->evidence);
    json_t *configuration = json_pack(
        "[{s:s, s:{s:s}, s:{s:s}}, {s:s, s:{s:s}}, {s:s, s:{s:s}}]", "name", "results.jsonl",
        "digest", "sha256", input->results_hash, "annotations", "command", line_get_command(begin),
        "name", "clauses", "digest", "sha256", line_get_clauses_hash(begin), "name", "errata",
        "digest", "sha256", line_get_errata_hash(begin));
    json_t *predicate =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:O}", "result",
                  input->evidence->status == 0 ? "PASSED" : "FAILED", "configuration",
                  configuration, "passedTests", names_of(cases, "passed"), "warnedTests",
                  names_of(cases, "skipped"), "failedTests", names_of(cases, "failed"), "verdict",
                  json_object_get(input->report, "verdict"));
    json_line_write(out, json_pack("{s:s, s:[{s:s, s:{s:s}}], s:s, s:o}", "_type",
                                   "https://in-toto.io/Statement/v1", "subject", "name", "assay",
                                   "digest", "sha256", line_get_binary_hash(begin), "predicateType",
                                   "https://in-toto.io/attestation/test-result/v0.1", "predicate",
                                   predicate));
    json_decref(cases);
}

/* ---- OpenMetrics ----------------------------------------------------------------------------- */

static void write_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '\n') {
            fputs("\\n", out);
        } else {
            fputs(*c == '"' || *c == '\\' ? "\\" : "", out);
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void write_family(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# TYPE assay_%s %s\n# HELP assay_%s %s\n", name, type, name, help);
}

/* One sample of a family; labels may be NULL. */
static void write_sample(FILE *out, const char *name, const char *first, const char *first_value,
                         const char *second, const char *second_value, uint64_t value)
{
    fprintf(out, "assay_%s{", name);
    write_label(out, first, first_value);
    if (second != NULL) {
        fputc(',', out);
        write_label(out, second, second_value);
    }
    fprintf(out, "} %" PRIu64 "\n", value);
}

static void write_verdict_metrics(FILE *out, const struct formats_input *input)
{
    const json_t *verdict = json_object_get(input->report, "verdict"), *reason;
    const json_t *covered = json_object_get(verdict, "covered");
    size_t i;
    write_family(out, "status", "gauge", "Exit status that the results come to: 0 is a pass.");
    fprintf(out, "assay_status %d\n", input->evidence->status);
    write_family(out, "promises", "gauge",
                 "Promises that there are, and that runs put to the test.");
    write_sample(out, "promises", "which", "all", NULL, NULL, evidence_number(covered, "of"));
    write_sample(out, "promises", "which", "tested", NULL, NULL,
                 evidence_number(covered, "promises"));
    write_family(out, "reason", "gauge", "Why the status is what it is, and how often.");
    json_array_foreach(json_object_get(verdict, "reasons"), i, reason)
    {
        write_sample(out, "reason", "kind", evidence_text(reason, "kind"), "text",
                     evidence_text(reason, "text"), evidence_number(reason, "count"));
    }
}

static void write_clause_metrics(FILE *out, const struct formats_input *input)
{
    static const char *const worlds[] = {"sim", "real"};
    size_t i;
    json_t *clause;
    write_family(out, "evaluations", "counter", "How often runs put a promise to the test.");
    json_array_foreach(json_object_get(input->report, "clauses"), i, clause)
    {
        for (size_t w = 0; w < COUNT(worlds); w++) {
            if (json_is_integer(json_object_get(clause, worlds[w]))) {
                write_sample(out, "evaluations_total", "clause", evidence_text(clause, "id"),
                             "world", worlds[w], evidence_number(clause, worlds[w]));
            }
        }
    }
}

static void write_fault_metrics(FILE *out, const struct formats_input *input)
{
    static const char *const worlds[] = {"sim", "real"};
    size_t i;
    json_t *fault;
    write_family(out, "faults", "counter", "Faults that hit.");
    json_array_foreach(json_object_get(input->report, "faults"), i, fault)
    {
        for (size_t w = 0; w < COUNT(worlds); w++) {
            if (json_is_integer(json_object_get(fault, worlds[w]))) {
                write_sample(out, "faults_total", "kind", evidence_text(fault, "kind"), "world",
                             worlds[w], evidence_number(fault, worlds[w]));
            }
        }
    }
}

/* Runs of a scenario by several sessions are one sample: no two may have the same labels. */
static void write_run_metrics(FILE *out, const struct formats_input *input)
{
    json_t *sums = json_object(), *run;
    const char *scenario;
    size_t i;
    json_array_foreach(json_object_get(input->report, "runs"), i, run)
    {
        const char *name = evidence_text(run, "scenario");
        json_object_set_new(
            sums, name,
            json_integer((json_int_t)(evidence_number(sums, name) + evidence_number(run, "runs"))));
    }
    write_family(out, "runs", "counter", "Runs of a scenario.");
    json_object_foreach(sums, scenario, run)
    {
        write_sample(out, "runs_total", "scenario", scenario, NULL, NULL,
                     evidence_number(sums, scenario));
    }
    json_decref(sums);
}

void formats_write_openmetrics(FILE *out, const struct formats_input *input)
{
    write_verdict_metrics(out, input);
    write_clause_metrics(out, input);
    write_fault_metrics(out, input);
    write_run_metrics(out, input);
    fputs("# EOF\n", out);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct formats_format formats[] = {
    {"github", false, formats_write_github},
    {"ctrf", false, formats_write_ctrf},
    {"openmetrics", false, formats_write_openmetrics},
    {"in-toto", false, formats_write_in_toto},
    {"itf", true, formats_write_itf},
    {"perfetto", true, formats_write_perfetto},
};

const struct formats_format *formats_find(const char *name)
{
    for (size_t i = 0; i < COUNT(formats); i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}
