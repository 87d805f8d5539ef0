#include "reports/evidence.h"

#include "reports/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const evidence_sides[EVIDENCE_SIDES] = {"before begin", "before commit",
                                                    "after commit"};

/* ---- members --------------------------------------------------------------------------------- */

const char *evidence_text(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text == NULL ? "" : text;
}

uint64_t evidence_number(const json_t *line, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(line, key));
    return number < 0 ? 0 : (uint64_t)number;
}

bool evidence_is(const json_t *line, const char *key, const char *text)
{
    return strcmp(evidence_text(line, key), text) == 0;
}

bool evidence_is_planted(const json_t *line)
{
    return evidence_text(line, "sabotage")[0] != '\0';
}

/* The clause that a member names. */
static bool names_clause(const json_t *line, const char *key, enum clause_id *clause)
{
    const char *id = evidence_text(line, key);
    return clause_find(id, strlen(id), clause);
}

/* ---- statuses -------------------------------------------------------------------------------- */

const char *evidence_status_words(int status)
{
    return line_status_words(line_status_rank(status));
}

static void note_status(struct evidence *evidence, int status)
{
    if (line_status_rank(status) > line_status_rank(evidence->status)) {
        evidence->status = status;
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* A sum that would be too large stays as large as it can be. */
static uint64_t sum_of(uint64_t one, json_int_t other)
{
    uint64_t more = other < 0 ? 0 : (uint64_t)other;
    return one > (uint64_t)INT64_MAX - more ? (uint64_t)INT64_MAX : one + more;
}

static void add_counts(json_t *sum, const json_t *more)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)more, key, value)
    {
        uint64_t all = sum_of(evidence_number(sum, key), json_integer_value(value));
        json_object_set_new(sum, key, json_integer((json_int_t)all));
    }
}

static void add_evaluated(struct evidence *evidence, enum evidence_world world,
                          const json_t *counts)
{
    const char *id;
    json_t *count;
    json_object_foreach((json_t *)counts, id, count)
    {
        enum clause_id clause;
        if (clause_find(id, strlen(id), &clause)) {
            uint64_t *evaluated = &evidence->clauses[clause].evaluated[world];
            *evaluated = sum_of(*evaluated, json_integer_value(count));
        }
    }
}

static void add_seen(struct evidence *evidence, enum evidence_world world, const json_t *counts)
{
    for (int i = 0; i < SIGHT_COUNT; i++) {
        const json_t *count =
            json_object_get(counts, oracle_sighting_text((enum oracle_sighting)i));
        evidence->seen[world][i] = sum_of(evidence->seen[world][i], json_integer_value(count));
    }
}

static struct evidence_point *point_of(struct evidence *evidence, const char *protocol,
                                       const char *phase)
{
    for (size_t i = 0; i < evidence->point_count; i++) {
        struct evidence_point *point = &evidence->points[i];
        if (strcmp(point->protocol, protocol) == 0 && strcmp(point->phase, phase) == 0) {
            return point;
        }
    }
    if (evidence->point_count == EVIDENCE_POINTS_MAX) {
        return NULL;
    }
    evidence->points[evidence->point_count] =
        (struct evidence_point){.protocol = protocol, .phase = phase};
    return &evidence->points[evidence->point_count++];
}

static int side_of(const char *name)
{
    for (int side = 0; side < EVIDENCE_SIDES; side++) {
        if (strcmp(evidence_sides[side], name) == 0) {
            return side;
        }
    }
    return -1;
}

/* [["Step 1", "before begin", 1, 369], ...] */
static void add_points(struct evidence *evidence, enum evidence_world world, const json_t *line)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(line, "crash_points"), i, cell)
    {
        const char *phase = json_string_value(json_array_get(cell, 0));
        const char *side_name = json_string_value(json_array_get(cell, 1));
        json_int_t depth = json_integer_value(json_array_get(cell, 2));
        int side = side_name == NULL ? -1 : side_of(side_name);
        if (phase == NULL || side < 0 || depth < 1 || depth > EVIDENCE_DEPTHS) {
            continue;
        }
        struct evidence_point *point = point_of(evidence, evidence_text(line, "protocol"), phase);
        if (point != NULL) {
            uint64_t *crashes = &point->crashes[world][side][depth - 1];
            *crashes = sum_of(*crashes, json_integer_value(json_array_get(cell, 3)));
        }
    }
}

/* Everything that runs of a scenario counted. */
static void add_runs(struct evidence *evidence, enum evidence_world world, const json_t *line)
{
    evidence->measured[world] = true;
    json_object_set_new(evidence->protocols, evidence_text(line, "protocol"), json_true());
    add_evaluated(evidence, world, json_object_get(line, "evaluated"));
    add_seen(evidence, world, json_object_get(line, "seen"));
    add_counts(evidence->fired[world], json_object_get(line, "fired"));
    add_counts(evidence->fired[world], json_object_get(line, "faults"));
    add_points(evidence, world, line);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_scenario(struct evidence *evidence, const json_t *line)
{
    enum clause_id weak;
    if (names_clause(line, "breaks", &weak)) {
        evidence->clauses[weak].weakness = true;
    }
    add_runs(evidence, EVIDENCE_SIM, line);
    if (evidence_number(line, "new") > 0) {
        note_status(evidence, 1); /* (EV5) */
    }
}

static void add_sim(struct evidence *evidence, const json_t *line)
{
    add_runs(evidence, EVIDENCE_SIM, line);
}

static void add_real(struct evidence *evidence, const json_t *line)
{
    add_runs(evidence, EVIDENCE_REAL, line);
    note_status(evidence, (int)evidence_number(line, "status")); /* (EV5) */
}

/* Adds a name to a list of them, "a, b", unless it is there. */
static void add_name(char *list, size_t size, const char *name)
{
    char all[240], one[120];
    size_t used = strlen(list);
    snprintf(all, sizeof all, ", %s, ", list);
    snprintf(one, sizeof one, ", %.100s, ", name);
    if (strstr(all, one) == NULL) {
        snprintf(list + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
    }
}

bool evidence_is_first(json_t *found, const json_t *finding)
{
    char key[600];
    const char *name = evidence_text(finding, "name");
    snprintf(key, sizeof key, "%.150s\n%.400s", name, evidence_text(finding, "again"));
    bool first = name[0] == '\0' || json_object_get(found, key) == NULL;
    json_object_set_new(found, key, json_true());
    return first;
}

static void add_finding(struct evidence *evidence, const json_t *line)
{
    enum clause_id id;
    bool is_new = evidence_is(line, "kind", "new"), known = evidence_is(line, "kind", "known");
    evidence->made += is_new;
    if (is_new) {
        note_status(evidence, 1); /* (EV3) */
    }
    if (!evidence_is_first(evidence->found, line)) {
        return;
    }
    evidence->findings += is_new;
    evidence->known += known;
    if (names_clause(line, "clause", &id)) {
        struct evidence_clause *clause = &evidence->clauses[id];
        clause->findings += is_new;
        clause->known += known;
        if (evidence_is(line, "kind", "expected")) { /* (EV4) */
            clause->expected++;
            add_name(clause->broken_in, sizeof clause->broken_in, evidence_text(line, "scenario"));
        }
    }
}

static void add_kill(struct evidence *evidence, const json_t *line)
{
    enum clause_id clause;
    const char *name = evidence_text(line, "name");
    if (!names_clause(line, "clause", &clause) || !evidence_is(line, "fate", "found")) {
        return;
    }
    struct evidence_clause *of = &evidence->clauses[clause];
    of->sabotages++;
    /* one with a name tells more than one that was enumerated */
    if (of->sabotage == NULL || (strchr(of->sabotage, '/') != NULL && strchr(name, '/') == NULL)) {
        of->sabotage = name;
    }
}

/* With every other promise switched off. */
static void add_alone(struct evidence *evidence, const json_t *line)
{
    enum clause_id clause;
    if (names_clause(line, "clause", &clause) && json_is_true(json_object_get(line, "found")) &&
        evidence->clauses[clause].alone == NULL) {
        evidence->clauses[clause].alone = evidence_text(line, "name");
    }
}

static void add_suite(struct evidence *evidence, const json_t *line)
{
    const char *suite = evidence_text(line, "suite");
    json_t *before = json_object_get(evidence->suites, suite);
    bool passed =
        json_is_true(json_object_get(line, "passed")) && (before == NULL || json_is_true(before));
    json_object_set_new(evidence->suites, suite, json_boolean(passed));
    if (!passed) {
        note_status(evidence, 1);
    }
}

/* Of a verb, or of shards together (EV5). */
static void add_summary(struct evidence *evidence, const json_t *line)
{
    if (json_array_size(json_object_get(line, "gates")) > 0 ||
        evidence_number(line, "survived") > 0 || evidence_number(line, "wrongly_equivalent") > 0) {
        note_status(evidence, 4);
    }
    if (evidence_number(line, "differences") > 0) {
        note_status(evidence, 1);
    }
    if (json_is_false(json_object_get(line, "deterministic"))) {
        note_status(evidence, 3);
    }
}

static void add_regressions(struct evidence *evidence, const json_t *line)
{
    if (evidence_number(line, "broken") > 0) {
        note_status(evidence, 1); /* (EV5) */
    }
}

/* Ended well, and shows no run (EV6); and is of a verb that has to. */
static bool is_idle(const struct evidence *evidence, const json_t *line, int status)
{
    static const char *const others[] = {"bench", "coverage", "merge"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (evidence_is(line, "verb", others[i])) {
            return false;
        }
    }
    return !evidence->ran && status == 0;
}

static void add_end(struct evidence *evidence, const json_t *line)
{
    int status = (int)evidence_number(line, "status");
    evidence->killed -= evidence->killed > 0;
    if (is_idle(evidence, line, status)) {
        evidence->idle++;
        note_status(evidence, 4);
    }
    if (evidence->expecting && status <= 1) { /* (EV3) */
        evidence->met += evidence->made > 0;
        evidence->unmet += evidence->made == 0;
        note_status(evidence, evidence->made > 0 ? 1 : 4);
    } else if (!evidence_is(line, "verb", "bench") || status != 4) { /* (EV2) */
        note_status(evidence, status);
    }
}

static void add_begin(struct evidence *evidence, json_t *line)
{
    evidence->sessions++;
    evidence->killed++;
    evidence->expecting = json_is_true(json_object_get(line, "expects_finding"));
    evidence->made = 0;
    evidence->ran = false;
    if (evidence->begin == NULL) {
        evidence->begin = line;
    }
}

static void add_server(struct evidence *evidence, const json_t *line)
{
    add_name(evidence->servers, sizeof evidence->servers, evidence_text(line, "postgresql"));
}

static const struct {
    const char *type;
    bool planted; /* said of runs with a planted bug, too */
    void (*add)(struct evidence *evidence, const json_t *line);
} kinds[] = {
    {"scenario", false, add_scenario}, {"sweep", false, add_sim},
    {"run", false, add_sim},           {"explore", false, add_sim},
    {"real", false, add_real},         {"finding", true, add_finding},
    {"sabotage", true, add_kill},      {"alone", true, add_alone},
    {"suite", true, add_suite},        {"end", true, add_end},
    {"server", true, add_server},      {"gates", true, add_summary},
    {"summary", true, add_summary},    {"regressions", true, add_regressions},
};

static void add_line(struct evidence *evidence, json_t *line)
{
    const char *type = evidence_text(line, "type");
    if (strcmp(type, "begin") == 0) {
        add_begin(evidence, line);
    }
    if (line_shows_a_run(line)) {
        evidence->ran = true;
        evidence->any_ran = true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(type, kinds[i].type) == 0 && (kinds[i].planted || !evidence_is_planted(line))) {
            kinds[i].add(evidence, line);
        }
    }
}

void evidence_begin(struct evidence *evidence)
{
    *evidence = (struct evidence){.lines = json_array(),
                                  .protocols = json_object(),
                                  .suites = json_object(),
                                  .found = json_object()};
    for (int world = 0; world < EVIDENCE_WORLDS; world++) {
        evidence->fired[world] = json_object();
    }
}

/* A line that is sound, or NULL: `why` says what is wrong with it. */
static json_t *read_line(struct line_reader *reader, const char *text, size_t size, char *why,
                         size_t why_size)
{
    json_error_t error;
    json_t *line = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    bool sound = json_is_object(line);
    if (!sound) {
        snprintf(why, why_size, "no JSON object%s%.60s", line == NULL ? ": " : "",
                 line == NULL ? error.text : "");
    }
    if (!sound || !line_check(reader, line, why, why_size)) {
        json_decref(line);
        return NULL;
    }
    return line;
}

bool evidence_add(struct evidence *evidence, const char *text, size_t length, const char *origin,
                  struct evidence_fault *fault)
{
    struct line_reader reader = {.open = false};
    char verb[32] = "", why[180];
    int number = 1;
    for (const char *at = text, *end = text + length; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop == NULL ? end : stop) - at);
        json_t *line = read_line(&reader, at, size, why, sizeof why);
        if (line == NULL) {
            snprintf(fault->text, sizeof fault->text, "%.200s, line %d: %s", origin, number, why);
            return false;
        }
        if (evidence_is(line, "type", "begin")) {
            snprintf(verb, sizeof verb, "%s", evidence_text(line, "verb"));
        }
        json_object_set_new(line, "verb", json_string(verb));
        json_array_append_new(evidence->lines, line);
        add_line(evidence, line);
        at += size + 1;
    }
    if (length == 0) {
        snprintf(fault->text, sizeof fault->text,
                 "%.200s, line 1: it is empty; results start with a line of type \"begin\"",
                 origin);
    }
    return length > 0;
}

/* A path is put to the test by being taken; some are known by their sightings alone. */
static void count_paths(struct evidence *evidence)
{
    uint64_t seen[EVIDENCE_WORLDS][CLAUSE_COUNT] = {{0}};
    for (int i = 0; i < SIGHT_COUNT; i++) {
        for (int world = 0; world < EVIDENCE_WORLDS; world++) {
            seen[world][oracle_sighting_clause((enum oracle_sighting)i)] +=
                evidence->seen[world][i];
        }
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        for (int world = 0; world < EVIDENCE_WORLDS; world++) {
            uint64_t *evaluated = &evidence->clauses[c].evaluated[world];
            bool path = clause_get((enum clause_id)c)->kind == CLAUSE_KIND_PATH;
            *evaluated = path && *evaluated == 0 ? seen[world][c] : *evaluated;
        }
    }
}

void evidence_end(struct evidence *evidence)
{
    count_paths(evidence);
    if (evidence->killed > 0 || !evidence->any_ran) { /* (EV6) */
        note_status(evidence, 4);
    }
}

void evidence_free(struct evidence *evidence)
{
    json_decref(evidence->lines);
    json_decref(evidence->protocols);
    json_decref(evidence->suites);
    json_decref(evidence->found);
    for (int world = 0; world < EVIDENCE_WORLDS; world++) {
        json_decref(evidence->fired[world]);
    }
}

bool evidence_has(const struct evidence *evidence, const char *verb)
{
    size_t begun = 0, fine = 0, i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        bool of_it = evidence_is(line, "verb", verb);
        begun += of_it && evidence_is(line, "type", "begin");
        fine += of_it && evidence_is(line, "type", "end") && evidence_number(line, "status") == 0;
    }
    return begun > 0 && fine == begun;
}

bool evidence_is_of_one_build(const struct evidence *evidence)
{
    static const char *const keys[] = {"binary_hash", "commit", "clauses_hash", "errata_hash"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const char *first = "";
        size_t i;
        json_t *line;
        json_array_foreach(evidence->lines, i, line)
        {
            const char *built =
                evidence_is(line, "type", "begin") ? evidence_text(line, keys[k]) : "";
            if (first[0] != '\0' && built[0] != '\0' && strcmp(first, built) != 0) {
                return false;
            }
            first = first[0] == '\0' ? built : first;
        }
    }
    return true;
}
