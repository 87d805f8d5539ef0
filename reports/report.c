#include "reports/report.h"

#include "reports/html.h"
#include "reports/html_page.h"
#include "reports/junit.h"
#include "reports/machine.h"
#include "reports/repeat.h"
#include "reports/schedules.h"
#include "reports/seeds.h"
#include "reports/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE_SIZE_MAX 2900000U /* of report.html: below 3 MB, and what is not counted in it */

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* The member, or null. */
static json_t *member(const json_t *line, const char *key)
{
    json_t *value = json_object_get(line, key);
    return value == NULL ? json_null() : json_incref(value);
}

/* ---- provenance ------------------------------------------------------------------------------ */

static json_t *provenance(const struct evidence *evidence)
{
    static const enum line_key keys[] = {
        LINE_KEY_assay,  LINE_KEY_commit,       LINE_KEY_dirty,       LINE_KEY_compiler,
        LINE_KEY_flags,  LINE_KEY_clauses_hash, LINE_KEY_errata_hash, LINE_KEY_binary_hash,
        LINE_KEY_system, LINE_KEY_command,      LINE_KEY_versions,    LINE_KEY_base_seed,
        LINE_KEY_jobs};
    json_t *object = json_object();
    for (size_t i = 0; i < COUNT(keys); i++) {
        json_object_set_new(object, line_key_text(keys[i]), line_copy(evidence->begin, keys[i]));
    }
    json_object_set_new(object, "seeds", number(seeds_count(evidence->lines).all));
    json_object_set_new(object, "commands", repeat_commands(evidence));
    json_object_set_new(object, "postgresql",
                        evidence->servers[0] == '\0' ? json_null()
                                                     : json_string(evidence->servers));
    return object;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A run of a scenario that is there to break what it broke. */
static bool is_expected(const struct evidence *evidence, const json_t *run)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_FINDING) && line_text_is(line_get_kind(line), "expected") &&
            line_text_is(line_get_scenario(line), line_get_scenario(run)) &&
            line_text_is(line_get_clause(line), line_get_clause(run))) {
            return true;
        }
    }
    return false;
}

static const char *status_of_runs(const struct evidence *evidence, const json_t *line)
{
    uint64_t broken = line_get_broken_runs(line) + (uint64_t)line_get_is_broken(line) +
                      (line_get_clause(line)[0] != '\0');
    return broken == 0                        ? "held"
           : evidence_is_planted(line)        ? "broken by a planted bug"
           : line_get_new(line) > 0           ? "broken"
           : line_get_known(line) > 0         ? "known"
           : line_get_breaks(line)[0] != '\0' ? "broken, as expected"
           : is_expected(evidence, line)      ? "broken, as expected"
                                              : "broken";
}

static json_t *run_row(const struct evidence *evidence, const json_t *line)
{
    bool drawn = line_is(line, LINE_SCENARIO);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "kind",
                     line_get_verb(line), "scenario", line_get_scenario(line), "seeds",
                     drawn ? line_copy(line, LINE_KEY_runs) : line_copy(line, LINE_KEY_seeds),
                     "runs", line_copy(line, LINE_KEY_runs), "steps",
                     line_copy(line, LINE_KEY_steps), "seconds", line_copy(line, LINE_KEY_seconds),
                     "findings", line_copy(line, LINE_KEY_findings), "digest",
                     line_copy(line, LINE_KEY_digest), "status", status_of_runs(evidence, line),
                     "sabotage", line_copy(line, LINE_KEY_sabotage));
}

/* A verb that has no scenario lines is one row: its summary. */
static json_t *summary_row(const json_t *line)
{
    uint64_t wrong = line_get_differences(line) + line_get_survived(line) + line_get_findings(line);
    return json_pack("{s:s, s:n, s:o, s:o, s:o, s:o, s:o, s:n, s:s}", "kind", line_get_verb(line),
                     "scenario", "seeds", line_copy(line, LINE_KEY_seeds), "runs",
                     line_copy(line, LINE_KEY_runs), "steps", line_copy(line, LINE_KEY_statements),
                     "seconds", line_copy(line, LINE_KEY_seconds), "findings", number(wrong),
                     "digest", "status", wrong == 0 ? "held" : "broken");
}

static json_t *runs(const struct evidence *evidence)
{
    json_t *list = json_array();
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is_about_runs(line)) {
            json_array_append_new(list, run_row(evidence, line));
        }
        if (line_is(line, LINE_SUMMARY) && !line_text_is(line_get_verb(line), "campaign")) {
            json_array_append_new(list, summary_row(line));
        }
    }
    return list;
}

/* ---- promises -------------------------------------------------------------------------------- */

static bool is_judged_in_runs(const struct clause *clause)
{
    return clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE ||
           clause->kind == CLAUSE_KIND_PATH;
}

static uint64_t tested(const struct evidence_clause *of)
{
    return of->evaluated[EVIDENCE_SIM] + of->evaluated[EVIDENCE_REAL];
}

static const char *clause_status(const struct clause *clause, const struct evidence_clause *of)
{
    return of->findings > 0             ? "broken"
           : of->known > 0              ? "known"
           : of->expected > 0           ? "broken, as expected"
           : tested(of) > 0             ? "held"
           : !is_judged_in_runs(clause) ? "elsewhere"
                                        : "not shown";
}

static json_t *in_world(const struct evidence *evidence, enum evidence_world world, uint64_t count)
{
    return evidence->measured[world] ? number(count) : json_null();
}

static bool has_kills(const struct evidence *evidence)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_SABOTAGE)) {
            return true;
        }
    }
    return false;
}

static json_t *clauses(const struct evidence *evidence)
{
    json_t *list = json_array();
    bool killed = has_kills(evidence);
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        const struct clause *clause = clause_get((enum clause_id)c);
        const struct evidence_clause *of = &evidence->clauses[c];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:s?}", "id", clause->id,
                            "kind", clause_kind_name(clause->kind), "family",
                            clause_family_name(clause->family), "text", clause->promise, "sim",
                            in_world(evidence, EVIDENCE_SIM, of->evaluated[EVIDENCE_SIM]), "real",
                            in_world(evidence, EVIDENCE_REAL, of->evaluated[EVIDENCE_REAL]),
                            "status", clause_status(clause, of), "sabotages",
                            killed ? number(of->sabotages) : json_null(), "broken_in",
                            of->broken_in[0] == '\0' ? NULL : of->broken_in));
    }
    return list;
}

/* ---- faults and crash points ----------------------------------------------------------------- */

/* Kinds in the order in which either world tells them. */
static json_t *faults(const struct evidence *evidence)
{
    json_t *all = json_object(), *list = json_array();
    const json_t *groups = line_get_fault_groups(evidence->begin);
    const char *kind;
    json_t *ignored;
    for (int world = 0; world < EVIDENCE_WORLDS; world++) {
        json_object_update(all, evidence->fired[world]);
    }
    json_object_foreach(all, kind, ignored)
    {
        json_t *counts[EVIDENCE_WORLDS];
        for (int world = 0; world < EVIDENCE_WORLDS; world++) {
            counts[world] = member(evidence->fired[world], kind);
        }
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "kind", kind, "group",
                                              member(groups, kind), "sim", counts[EVIDENCE_SIM],
                                              "real", counts[EVIDENCE_REAL]));
    }
    json_decref(all);
    return list;
}

/* Whether this depth was gone to at all, in any phase of the protocol. */
static bool is_swept(const struct evidence *evidence, const char *protocol,
                     enum evidence_world world, int depth)
{
    for (size_t i = 0; i < evidence->point_count; i++) {
        const struct evidence_point *point = &evidence->points[i];
        if (strcmp(point->protocol, protocol) == 0 && point->told[world][depth]) {
            return true;
        }
    }
    return false;
}

static void add_cells(const struct evidence_point *point, size_t phase,
                      bool swept[EVIDENCE_WORLDS][EVIDENCE_DEPTHS], json_t *cells)
{
    for (int side = 0; side < EVIDENCE_SIDES; side++) {
        for (int depth = 0; depth < EVIDENCE_DEPTHS; depth++) {
            if (!swept[EVIDENCE_SIM][depth] && !swept[EVIDENCE_REAL][depth]) {
                continue;
            }
            json_t *counts[EVIDENCE_WORLDS];
            for (int world = 0; world < EVIDENCE_WORLDS; world++) {
                counts[world] =
                    swept[world][depth] ? number(point->crashes[world][side][depth]) : json_null();
            }
            json_array_append_new(cells,
                                  json_pack("{s:I, s:i, s:i, s:o, s:o}", "phase", (json_int_t)phase,
                                            "side", side, "depth", depth + 1, "sim",
                                            counts[EVIDENCE_SIM], "real", counts[EVIDENCE_REAL]));
        }
    }
}

static json_t *points_of(const struct evidence *evidence, const char *protocol)
{
    json_t *phases = json_array(), *sides = json_array(), *depths = json_array(),
           *cells = json_array();
    bool swept[EVIDENCE_WORLDS][EVIDENCE_DEPTHS];
    for (int depth = 0; depth < EVIDENCE_DEPTHS; depth++) {
        for (int world = 0; world < EVIDENCE_WORLDS; world++) {
            swept[world][depth] = is_swept(evidence, protocol, (enum evidence_world)world, depth);
        }
        if (swept[EVIDENCE_SIM][depth] || swept[EVIDENCE_REAL][depth]) {
            json_array_append_new(depths, json_integer(depth + 1));
        }
    }
    for (int side = 0; side < EVIDENCE_SIDES; side++) {
        json_array_append_new(sides, json_string(evidence_sides[side]));
    }
    for (size_t i = 0; i < evidence->point_count; i++) {
        const struct evidence_point *point = &evidence->points[i];
        if (strcmp(point->protocol, protocol) == 0) {
            add_cells(point, json_array_size(phases), swept, cells);
            json_array_append_new(phases, json_string(point->phase));
        }
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "protocol", protocol, "phases", phases, "sides",
                     sides, "depths", depths, "cells", cells);
}

static json_t *points(const struct evidence *evidence)
{
    json_t *list = json_array();
    for (size_t i = 0; i < evidence->point_count; i++) {
        bool told = false;
        for (size_t j = 0; j < i; j++) {
            told = told || strcmp(evidence->points[j].protocol, evidence->points[i].protocol) == 0;
        }
        if (!told) {
            json_array_append_new(list, points_of(evidence, evidence->points[i].protocol));
        }
    }
    return list;
}

/* ---- what it is worth ------------------------------------------------------------------------ */

static const char *report_fate_of(const json_t *line)
{
    return line_text_is(line_get_fate(line), "found")        ? "found"
           : line_text_is(line_get_fate(line), "equivalent") ? "equivalent"
           : line_text_is(line_get_fate(line), "not shown")  ? "not shown"
                                                             : "survived";
}

/* Each with the schedules that it took: median and most over the tries that found it. */
static json_t *kills(const struct evidence *evidence)
{
    json_t *list = json_array();
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_SABOTAGE)) {
            json_t *why = line_read_json(line, LINE_KEY_why);
            json_array_append_new(
                list,
                json_pack(
                    "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "sabotage",
                    line_get_name(line), "clause", line_copy(line, LINE_KEY_clause), "oracle",
                    line_copy(line, LINE_KEY_oracle), "scenario",
                    line_copy(line, LINE_KEY_scenario), "tries",
                    line_copy(line, LINE_KEY_base_seeds), "found", line_copy(line, LINE_KEY_found),
                    "median", line_copy(line, LINE_KEY_schedules_median), "most",
                    line_copy(line, LINE_KEY_schedules_max), "status", report_fate_of(line), "why",
                    why == NULL ? line_copy(line, LINE_KEY_equivalent) : json_incref(why)));
        }
    }
    return list;
}

/* How many planted bugs were to be hunted, also if the hunt was interrupted. */
static json_t *kills_of(const struct evidence *evidence)
{
    uint64_t planned = 0;
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        bool hunt = line_is(line, LINE_SUMMARY) && line_text_is(line_get_verb(line), "sabotage");
        planned += hunt ? line_get_planned(line) : 0;
    }
    return planned == 0 ? json_null() : number(planned);
}

static void bound_words(char *words, size_t size, const struct evidence *evidence,
                        const struct seeds *seeds)
{
    char found[80] = "0 findings", of[200];
    if (evidence->findings + evidence->known > 0) {
        snprintf(found, sizeof found, "%" PRIu64 " new finding%s and %" PRIu64 " known",
                 evidence->findings, evidence->findings == 1 ? "" : "s", evidence->known);
    }
    if (seeds->scenarios == 1) {
        snprintf(of, sizeof of, "of %.60s", seeds->weakest);
    } else {
        snprintf(of, sizeof of, "of %zu scenarios, %s of %.60s and no fewer of any other",
                 seeds->scenarios, format_grouped(seeds->least).text, seeds->weakest);
    }
    int used =
        snprintf(words, size, "%s in %s seeds %s", found, format_grouped(seeds->held).text, of);
    if (evidence->findings == 0 && used > 0 && (size_t)used < size) {
        snprintf(
            words + used, size - (size_t)used,
            ". With %.0f%% confidence, no %sbug is left that shows in more than 1 of %s seeds of "
            "its scenario. Rarer ones may be",
            100 * SEEDS_CONFIDENCE, evidence->known > 0 ? "other " : "",
            format_grouped((uint64_t)(1 / seeds->probability)).text);
    }
}

/* What the campaigns exclude: as much as the scenario with the fewest seeds does. */
json_t *report_bound(const struct evidence *evidence)
{
    char words[500];
    struct seeds seeds = seeds_count(evidence->lines);
    if (seeds.weakest == NULL) {
        return json_null();
    }
    bound_words(words, sizeof words, evidence, &seeds);
    return json_pack("{s:o, s:s, s:s, s:o, s:f}", "seeds", number(seeds.held), "words", words,
                     "weakest", seeds.weakest, "least", number(seeds.least), "probability",
                     seeds.probability);
}

static bool is_named(const json_t *list, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)list, i, row)
    {
        if (evidence_is(row, "name", name)) {
            return true;
        }
    }
    return false;
}

/* "explore peer-5: states"; the second that would be called so is "explore peer-5: states (2)". */
static void add_rate(json_t *list, const json_t *line, enum line_key key, const char *unit)
{
    double seconds = line_get_seconds(line);
    uint64_t count = line_read_count(line, key);
    const char *scenario = line_get_scenario(line);
    char name[140], numbered[160];
    if (seconds <= 0 || count == 0) {
        return;
    }
    snprintf(name, sizeof name, "%.30s%s%.60s: %.30s", line_get_verb(line),
             scenario[0] == '\0' ? "" : " ", scenario, line_key_text(key));
    snprintf(numbered, sizeof numbered, "%s", name);
    for (int number = 2; is_named(list, numbered); number++) {
        snprintf(numbered, sizeof numbered, "%s (%d)", name, number);
    }
    json_array_append_new(list,
                          json_pack("{s:s, s:f, s:s, s:n, s:n}", "name", numbered, "value",
                                    (double)count / seconds, "unit", unit, "ratio", "against"));
}

/* What a benchmark measured, most of them ratios, and the bar that it was held against. */
static void add_figure(json_t *list, const json_t *line)
{
    bool has_bar = line_is(line, LINE_BAR);
    char bar[80];
    snprintf(bar, sizeof bar, "a bar of %.4g: %s", line_get_bar(line),
             line_get_met(line) ? "met" : "MISSED");
    json_array_append_new(list, json_pack("{s:s, s:o, s:n, s:n, s:s?}", "name", line_get_what(line),
                                          "value", line_copy(line, LINE_KEY_figure), "unit",
                                          "ratio", "against", has_bar ? bar : NULL));
}

static json_t *throughput(const struct evidence *evidence)
{
    static const struct {
        enum line_key key;
        const char *unit;
    } rates[] = {{LINE_KEY_seeds, "seeds/s"},           {LINE_KEY_steps, "steps/s"},
                 {LINE_KEY_states, "states/s"},         {LINE_KEY_transitions, "transitions/s"},
                 {LINE_KEY_statements, "statements/s"}, {LINE_KEY_commits, "commits/s"}};
    json_t *list = json_array();
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        bool counts = line_is(line, LINE_SUMMARY) || line_is(line, LINE_EXPLORE);
        for (size_t r = 0; counts && r < COUNT(rates); r++) {
            add_rate(list, line, rates[r].key, rates[r].unit);
        }
        if (line_is(line, LINE_BAR) || line_is(line, LINE_FIGURE)) {
            add_figure(list, line);
        }
    }
    return list;
}

static json_t *coverage(const struct evidence *evidence)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_COVERAGE)) {
            return json_pack("{s:o, s:o, s:o}", "lines", line_copy(line, LINE_KEY_lines),
                             "branches", line_copy(line, LINE_KEY_branches), "link",
                             line_copy(line, LINE_KEY_link));
        }
    }
    return json_null();
}

/* ---- findings -------------------------------------------------------------------------------- */

static json_t *finding_row(const json_t *line)
{
    enum clause_id clause;
    const char *id = line_get_clause(line);
    bool known = clause_find(id, strlen(id), &clause);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:n, s:n}", "name",
                     line_get_name(line), "kind", line_get_kind(line), "sentence",
                     line_get_why(line), "clause", id, "clause_text",
                     known ? clause_get(clause)->promise : "", "reproduce", line_get_again(line),
                     "scenario", line_get_scenario(line), "seed", line_copy(line, LINE_KEY_seed),
                     "count", line_copy(line, LINE_KEY_runs), "sabotage",
                     repeat_planted(line_get_again(line)), "schedules", "parts_at");
}

static json_t *findings(const struct evidence *evidence)
{
    json_t *list = json_array(), *found = json_object();
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_FINDING) && evidence_is_first(found, line)) {
            json_array_append_new(list, finding_row(line));
        }
    }
    json_decref(found);
    return list;
}

/* What the page has left for schedules when all the rest of the document is in it. */
static size_t room_in_page(const json_t *report)
{
    size_t used = html_before_size + html_after_size + json_dumpb(report, NULL, 0, JSON_COMPACT);
    return used < PAGE_SIZE_MAX ? PAGE_SIZE_MAX - used : 0;
}

/* ---- the document ---------------------------------------------------------------------------- */

static json_t *title(const struct evidence *evidence)
{
    char text[120];
    const char *verb = line_get_verb(evidence->begin);
    snprintf(text, sizeof text, "Assay: %.60s%s", verb[0] == '\0' ? "results" : verb,
             evidence->sessions > 1 ? " and others" : "");
    return json_string(text);
}

json_t *report_make(const struct evidence *evidence, const char *folder)
{
    json_t *report = json_object();
    json_object_set_new(report, "version", json_integer(REPORT_VERSION));
    json_object_set_new(report, "title", title(evidence));
    json_object_set_new(report, "made", line_copy(evidence->begin, LINE_KEY_made));
    json_object_set_new(report, "verdict",
                        verdict_json(&evidence->verdict, evidence_covered(evidence), CLAUSE_COUNT));
    json_object_set_new(report, "provenance", provenance(evidence));
    json_object_set_new(report, "runs", runs(evidence));
    json_object_set_new(report, "clauses", clauses(evidence));
    json_object_set_new(report, "faults", faults(evidence));
    json_object_set_new(report, "points", points(evidence));
    json_object_set_new(report, "server", report_server(evidence));
    json_object_set_new(report, "machines", machine_all(evidence));
    json_object_set_new(report, "kills", kills(evidence));
    json_object_set_new(report, "kills_of", kills_of(evidence));
    json_object_set_new(report, "bound", report_bound(evidence));
    json_object_set_new(report, "throughput", throughput(evidence));
    json_object_set_new(report, "coverage", coverage(evidence));
    json_object_set_new(report, "findings", findings(evidence));
    if (folder != NULL) {
        schedules_add(json_object_get(report, "findings"), folder, room_in_page(report));
    }
    return report;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What a writer writes, as a file of the folder. */
struct draft {
    char *text;
    size_t length;
    FILE *to;
};

static struct draft *draft_begin(struct draft *draft)
{
    *draft = (struct draft){0};
    draft->to = open_memstream(&draft->text, &draft->length);
    return draft->to == NULL ? NULL : draft;
}

static bool draft_end(struct draft *draft, struct artefacts *artefacts, const char *name)
{
    bool written =
        fclose(draft->to) == 0 && artefacts_put(artefacts, name, draft->text, draft->length);
    free(draft->text);
    return written;
}

static bool put_page(struct artefacts *artefacts, const char *json, size_t length)
{
    struct draft page;
    if (draft_begin(&page) == NULL) {
        return false;
    }
    bool written = report_html_write(page.to, json, length);
    return draft_end(&page, artefacts, "report.html") && written;
}

static bool put_rest(struct artefacts *artefacts, const struct evidence *evidence,
                     const json_t *report)
{
    struct draft junit, summary;
    if (draft_begin(&junit) == NULL) {
        return false;
    }
    junit_write(junit.to, evidence);
    bool written = draft_end(&junit, artefacts, "junit.xml");
    if (draft_begin(&summary) == NULL) {
        return false;
    }
    report_write(summary.to, FORMAT_MARKDOWN, report);
    return draft_end(&summary, artefacts, "summary.md") && written;
}

bool report_put(struct artefacts *artefacts, const struct evidence *evidence, json_t **report)
{
    *report = report_make(evidence, artefacts->folder);
    char *json = json_dumps(*report, JSON_COMPACT | JSON_REAL_PRECISION(9));
    bool written = json != NULL && artefacts_put(artefacts, "report.json", json, strlen(json)) &&
                   put_page(artefacts, json, strlen(json)) &&
                   put_rest(artefacts, evidence, *report);
    free(json);
    return written;
}

bool report_derive(struct artefacts *artefacts)
{
    struct evidence evidence;
    struct error error = {""};
    json_t *report = NULL;
    evidence_begin(&evidence);
    bool made =
        evidence_add(&evidence, artefacts->lines, artefacts->length, "results.jsonl", &error);
    evidence_end(&evidence);
    made = made && report_put(artefacts, &evidence, &report);
    if (!made && artefacts->problem[0] == '\0') {
        snprintf(artefacts->problem, sizeof artefacts->problem, "%.399s", error.text);
    }
    json_decref(report);
    evidence_free(&evidence);
    return made;
}
