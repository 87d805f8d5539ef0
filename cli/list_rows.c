#include "cli/list_rows.h"

#include "faults/sabotage.h"
#include "model/oracle/oracle.h"
#include "reports/artefacts.h"
#include "reports/evidence.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "scenarios/drawn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool matches(const char *name, const char *id)
{
    return id[0] == '\0' || strcmp(name, id) == 0;
}

/* ---- coverage -------------------------------------------------------------------------------- */

/* Both worlds together, in the tables "evaluated", "seen" and "fired". */
static json_t *list_rows_sum_of(const struct evidence *evidence)
{
    json_t *evaluated = json_object(), *seen = json_object();
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        const uint64_t *times = evidence->clauses[c].evaluated;
        json_int_t sum = (json_int_t)times[EVIDENCE_SIM] + (json_int_t)times[EVIDENCE_REAL];
        json_object_set_new(evaluated, clause_get((enum clause_id)c)->id, json_integer(sum));
    }
    for (int i = 0; i < COVER_COUNT; i++) {
        json_int_t sum = (json_int_t)evidence->seen[EVIDENCE_SIM][i] +
                         (json_int_t)evidence->seen[EVIDENCE_REAL][i];
        json_object_set_new(seen, oracle_cover_text((enum oracle_cover)i), json_integer(sum));
    }
    return json_pack("{s:o, s:o, s:O}", "evaluated", evaluated, "seen", seen, "fired",
                     evidence->fired[EVIDENCE_SIM]);
}

bool list_coverage_load(const char *folder, struct list_coverage *coverage, struct error *error)
{
    char path[4096];
    size_t length = 0;
    struct evidence evidence;
    struct error why = {"there is no such file"};
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    char *text = artefacts_read(path, &length);
    evidence_begin(&evidence);
    bool read = text != NULL && evidence_add(&evidence, text, length, "results.jsonl", &why);
    free(text);
    coverage->json = read ? list_rows_sum_of(&evidence) : NULL;
    evidence_free(&evidence);
    if (!read) {
        snprintf(error->text, sizeof error->text,
                 "%.80s: give a folder that assay wrote with --out (results.jsonl: %.120s)", folder,
                 why.text);
    }
    return read;
}

void list_coverage_free(struct list_coverage *coverage)
{
    json_decref(coverage->json);
}

/* How often, in one of the tables "evaluated", "seen" and "fired". */
static json_int_t covered(const struct list_coverage *coverage, const char *table, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(coverage->json, table), name));
}

/* ---- scenarios ------------------------------------------------------------------------------- */

/* "LEG-6, LEG-3" */
struct expected_text {
    char text[24 * (SCENARIO_ALSO_MAX + 1)];
};
static struct expected_text expectation(const struct scenario *scenario)
{
    struct expected_text all = {""};
    int used = 0;
    if (scenario->breaks) {
        used = snprintf(all.text, sizeof all.text, "%s", clause_get(scenario->broken)->id);
    }
    for (size_t i = 0; i < scenario->also_count; i++) {
        used += snprintf(all.text + used, sizeof all.text - (size_t)used, ", %s",
                         clause_get(scenario->also[i])->id);
    }
    return all;
}

static void write_scenario(FILE *out, enum format_kind format, const struct scenario *scenario)
{
    bool has_graph = scenario->graph.node_count > 0;
    uint32_t activities =
        has_graph ? graph_activities(&scenario->graph, SCENARIO_ACTIVITIES_MAX) : 0;
    char size[32] = "";
    if (has_graph) {
        snprintf(size, sizeof size, " of %" PRIu32 " activities", activities);
    }
    if (format == FORMAT_JSON) {
        json_line_write(out, line_make(LINE_LISTED_SCENARIO, line_name(scenario->name),
                                       line_about(scenario->about), line_jobs(scenario->jobs),
                                       line_workers(scenario->workers),
                                       line_activities((uint64_t)activities * scenario->jobs),
                                       line_expect(scenario->breaks ? "breaks" : "pass"),
                                       line_breaks(expectation(scenario).text)));
        return;
    }
    fprintf(out, "%s%-16s%s ", format_strong(format), scenario->name, format_plain(format));
    format_wrapped(out, scenario->about, 17);
    fprintf(out, "%-16s %" PRIu32 " job%s%s, %" PRIu32 " worker%s%s%s\n", "", scenario->jobs,
            scenario->jobs == 1 ? "" : "s", size, scenario->workers,
            scenario->workers == 1 ? "" : "s", scenario->breaks ? "; is to break " : "",
            expectation(scenario).text);
}

int list_rows_scenarios(FILE *out, enum format_kind format, const char *id)
{
    int count = 0;
    struct error error;
    struct scenario *scenario = malloc(sizeof *scenario);
    for (size_t i = 0; scenario != NULL && i < scenario_count(); i++) {
        if (matches(scenario_name(i), id) && scenario_load(scenario_name(i), scenario, &error)) {
            write_scenario(out, format, scenario);
            count++;
        }
    }
    for (size_t p = 0; scenario != NULL && p < protocol_count(); p++) {
        if (matches(drawn_family_name(protocol_at(p)), id)) {
            drawn_family(protocol_at(p), scenario);
            write_scenario(out, format, scenario);
            count++;
        }
    }
    free(scenario);
    return count;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void write_fault(FILE *out, enum format_kind format, const struct fault *fault,
                        const struct list_coverage *coverage)
{
    const char *group = fault_group_get(fault->group)->name;
    json_int_t fired = coverage == NULL ? 0 : covered(coverage, "fired", fault->name);
    if (format == FORMAT_JSON) {
        json_t *object = line_make(LINE_LISTED_FAULT, line_name(fault->name), line_group(group),
                                   line_about(fault->about));
        if (coverage != NULL) {
            line_add(object, line_times_fired((uint64_t)fired));
        }
        json_line_write(out, object);
        return;
    }
    fprintf(out, "%s%-20s%s %-10s ", format_strong(format), fault->name, format_plain(format),
            group);
    if (coverage != NULL) {
        fprintf(out, "%12" JSON_INTEGER_FORMAT "  ", fired);
    }
    format_wrapped(out, fault->about, coverage == NULL ? 32 : 46);
}

int list_rows_faults(FILE *out, enum format_kind format, const char *id,
                     const struct list_coverage *coverage)
{
    int count = 0;
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault *fault = fault_get((enum fault_kind)kind);
        if (matches(fault->name, id)) {
            write_fault(out, format, fault, coverage);
            count++;
        }
    }
    return count;
}

/* ---- promises -------------------------------------------------------------------------------- */

/* An id, or a family of them. */
static bool names_clause(const struct clause *clause, const char *id)
{
    return matches(clause->id, id) || strcmp(clause_family_name(clause->family), id) == 0;
}

static bool is_run(const struct clause *clause)
{
    return clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE ||
           clause->kind == CLAUSE_KIND_PATH;
}

/* Not every family belongs to a protocol that has runs so far. */
static const char *judged(const struct clause *clause)
{
    bool in_runs = protocol_judges(clause->family) || !is_run(clause);
    return in_runs ? clause_kind_about(clause->kind) : "not judged in runs yet";
}

/* The paths by which the clause is seen. */
static json_t *cover_points(enum clause_id id, const struct list_coverage *coverage)
{
    json_t *object = json_object();
    for (int i = 0; i < COVER_COUNT; i++) {
        enum oracle_cover sight = (enum oracle_cover)i;
        const char *text = oracle_cover_text(sight);
        if (oracle_cover_clause(sight) == id) {
            json_object_set_new(object, text,
                                coverage == NULL ? json_null()
                                                 : json_integer(covered(coverage, "seen", text)));
        }
    }
    return object;
}

/* How often it was put to the test; a path that only cover points tell, as often as it was seen. */
static json_int_t tested(enum clause_id id, const struct list_coverage *coverage)
{
    json_int_t times = covered(coverage, "evaluated", clause_get(id)->id);
    for (int i = 0; times == 0 && i < COVER_COUNT; i++) {
        if (oracle_cover_clause((enum oracle_cover)i) == id) {
            times = covered(coverage, "seen", oracle_cover_text((enum oracle_cover)i));
        }
    }
    return times;
}

static void write_promise_json(FILE *out, enum clause_id id, const struct list_coverage *coverage)
{
    const struct clause *clause = clause_get(id);
    json_t *object = line_make(LINE_LISTED_PROMISE, line_id(clause->id),
                               line_kind(clause_kind_name(clause->kind)),
                               line_promise(clause->promise), line_judged(judged(clause)));
    json_t *seen = cover_points(id, coverage);
    if (coverage != NULL) {
        line_add(object, line_evaluations((uint64_t)tested(id, coverage)));
    }
    if (json_object_size(seen) > 0) {
        line_add(object, line_cover_points(json_incref(seen)));
    }
    json_decref(seen);
    json_line_write(out, object);
}

static void write_promise(FILE *out, enum format_kind format, enum clause_id id,
                          const struct list_coverage *coverage)
{
    const struct clause *clause = clause_get(id);
    fprintf(out, "%s%-7s%s %-6s ", format_strong(format), clause->id, format_plain(format),
            clause_kind_name(clause->kind));
    format_wrapped(out, clause->promise, 15);
    fprintf(out, "%-14s %s", "", judged(clause));
    if (coverage != NULL) {
        fprintf(out, ": %" JSON_INTEGER_FORMAT " times", tested(id, coverage));
    }
    fputc('\n', out);
    json_t *seen = cover_points(id, coverage);
    const char *text;
    json_t *times;
    json_object_foreach(seen, text, times)
    {
        fprintf(out, "%-14s seen: %s", "", text);
        if (coverage != NULL) {
            fprintf(out, ": %" JSON_INTEGER_FORMAT " times", json_integer_value(times));
        }
        fputc('\n', out);
    }
    json_decref(seen);
}

int list_rows_promises(FILE *out, enum format_kind format, const char *id, bool all,
                       const struct list_coverage *coverage)
{
    int count = 0;
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        const struct clause *clause = clause_get((enum clause_id)i);
        if ((!all && !is_run(clause)) || !names_clause(clause, id)) {
            continue;
        }
        if (format == FORMAT_JSON) {
            write_promise_json(out, (enum clause_id)i, coverage);
        } else {
            write_promise(out, format, (enum clause_id)i, coverage);
        }
        count++;
    }
    return count;
}

/* ---- sabotages ------------------------------------------------------------------------------- */

static void write_sabotage(FILE *out, enum format_kind format, const struct sabotage *sabotage)
{
    const char *kind = sabotage->kind == SABOTAGE_NAMED ? "named" : "enumerated";
    if (format == FORMAT_JSON) {
        json_line_write(out,
                        line_make(LINE_LISTED_SABOTAGE, line_name(sabotage->name), line_kind(kind),
                                  line_about(sabotage->about), line_scenario(sabotage->scenario),
                                  line_equivalent(sabotage->equivalent)));
        return;
    }
    char how[400];
    bool unseen = sabotage->equivalent != NULL;
    bool anywhere = !unseen && sabotage->scenario == NULL;
    snprintf(how, sizeof how, "%s%s",
             unseen     ? "no promise can see it: "
             : anywhere ? "hunted in several scenarios"
                        : "shows best in ",
             unseen     ? sabotage->equivalent
             : anywhere ? ""
                        : sabotage->scenario);
    fprintf(out, "%s%-38s%s ", format_strong(format), sabotage->name, format_plain(format));
    format_wrapped(out, sabotage->about, 39);
    fprintf(out, "%-38s ", "");
    format_wrapped(out, how, 39);
}

int list_rows_sabotages(FILE *out, enum format_kind format, const char *id)
{
    int count = 0;
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        if (matches(sabotage.name, id)) {
            write_sabotage(out, format, &sabotage);
            count++;
        }
    }
    return count;
}
