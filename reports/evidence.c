#include "reports/evidence.h"

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
    return line_get_sabotage(line)[0] != '\0';
}

static bool names_clause(const char *id, enum clause_id *clause)
{
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
static uint64_t evidence_sum_of(uint64_t one, json_int_t other)
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
        uint64_t all = evidence_sum_of(evidence_number(sum, key), json_integer_value(value));
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
            *evaluated = evidence_sum_of(*evaluated, json_integer_value(count));
        }
    }
}

static void add_seen(struct evidence *evidence, enum evidence_world world, const json_t *counts)
{
    for (int i = 0; i < COVER_COUNT; i++) {
        const json_t *count = json_object_get(counts, oracle_cover_text((enum oracle_cover)i));
        evidence->seen[world][i] =
            evidence_sum_of(evidence->seen[world][i], json_integer_value(count));
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
    json_array_foreach(line_get_crash_points(line), i, cell)
    {
        const char *phase = json_string_value(json_array_get(cell, 0));
        const char *side_name = json_string_value(json_array_get(cell, 1));
        json_int_t depth = json_integer_value(json_array_get(cell, 2));
        int side = side_name == NULL ? -1 : side_of(side_name);
        if (phase == NULL || side < 0 || depth < 1 || depth > EVIDENCE_DEPTHS) {
            continue;
        }
        struct evidence_point *point = point_of(evidence, line_get_protocol(line), phase);
        if (point != NULL) {
            uint64_t *crashes = &point->crashes[world][side][depth - 1];
            *crashes = evidence_sum_of(*crashes, json_integer_value(json_array_get(cell, 3)));
        }
    }
}

/* Everything that runs of a scenario counted. */
static void add_runs(struct evidence *evidence, enum evidence_world world, const json_t *line)
{
    evidence->measured[world] = true;
    json_object_set_new(evidence->protocols, line_get_protocol(line), json_true());
    add_evaluated(evidence, world, line_get_evaluated(line));
    add_seen(evidence, world, line_get_seen(line));
    add_counts(evidence->fired[world], line_get_fired(line));
    add_counts(evidence->fired[world], line_get_faults(line));
    add_points(evidence, world, line);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_scenario(struct evidence *evidence, const json_t *line)
{
    enum clause_id weak;
    if (names_clause(line_get_breaks(line), &weak)) {
        evidence->clauses[weak].weakness = true;
    }
    add_runs(evidence, EVIDENCE_SIM, line);
    if (line_get_new(line) > 0) {
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
    note_status(evidence, (int)line_get_status(line)); /* (EV5) */
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
    const char *name = line_get_name(finding);
    snprintf(key, sizeof key, "%.150s\n%.400s", name, line_get_again(finding));
    bool first = name[0] == '\0' || json_object_get(found, key) == NULL;
    json_object_set_new(found, key, json_true());
    return first;
}

static void add_finding(struct evidence *evidence, const json_t *line)
{
    enum clause_id id;
    bool is_new = line_text_is(line_get_kind(line), "new"),
         known = line_text_is(line_get_kind(line), "known");
    evidence->made += is_new;
    if (is_new) {
        note_status(evidence, 1); /* (EV3) */
    }
    if (!evidence_is_first(evidence->found, line)) {
        return;
    }
    evidence->findings += is_new;
    evidence->known += known;
    if (names_clause(line_get_clause(line), &id)) {
        struct evidence_clause *clause = &evidence->clauses[id];
        clause->findings += is_new;
        clause->known += known;
        if (line_text_is(line_get_kind(line), "expected")) { /* (EV4) */
            clause->expected++;
            add_name(clause->broken_in, sizeof clause->broken_in, line_get_scenario(line));
        }
    }
}

static void add_kill(struct evidence *evidence, const json_t *line)
{
    enum clause_id clause;
    const char *name = line_get_name(line);
    if (!names_clause(line_get_clause(line), &clause) ||
        !line_text_is(line_get_fate(line), "found")) {
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
    if (names_clause(line_get_clause(line), &clause) && line_get_is_found(line) &&
        evidence->clauses[clause].alone == NULL) {
        evidence->clauses[clause].alone = line_get_name(line);
    }
}

static void add_suite(struct evidence *evidence, const json_t *line)
{
    const char *suite = line_get_suite(line);
    json_t *before = json_object_get(evidence->suites, suite);
    bool passed = line_get_passed(line) && (before == NULL || json_is_true(before));
    json_object_set_new(evidence->suites, suite, json_boolean(passed));
    if (!passed) {
        note_status(evidence, 1);
    }
}

/* Of a verb, or of shards together (EV5). */
static void add_summary(struct evidence *evidence, const json_t *line)
{
    if (json_array_size(line_get_gates(line)) > 0 || line_get_survived(line) > 0 ||
        line_get_wrongly_equivalent(line) > 0) {
        note_status(evidence, 4);
    }
    if (line_get_differences(line) > 0) {
        note_status(evidence, 1);
    }
    if (json_is_false(line_read_json(line, LINE_KEY_deterministic))) {
        note_status(evidence, 3);
    }
}

static void add_regressions(struct evidence *evidence, const json_t *line)
{
    if (line_get_broken(line) > 0) {
        note_status(evidence, 1); /* (EV5) */
    }
}

/* Ended well, and shows no run (EV6); and is of a verb that has to. */
static bool is_idle(const struct evidence *evidence, const json_t *line, int status)
{
    static const char *const others[] = {"bench", "coverage", "merge"};
    for (size_t i = 0; i < COUNT(others); i++) {
        if (evidence_is(line, "verb", others[i])) {
            return false;
        }
    }
    return !evidence->ran && status == 0;
}

static void add_end(struct evidence *evidence, const json_t *line)
{
    int status = (int)line_get_status(line);
    evidence->killed -= evidence->killed > 0;
    if (is_idle(evidence, line, status)) {
        evidence->idle++;
        note_status(evidence, 4);
    }
    if (evidence->expecting && status <= 1) { /* (EV3) */
        evidence->met += evidence->made > 0;
        evidence->unmet += evidence->made == 0;
        note_status(evidence, evidence->made > 0 ? 1 : 4);
    } else if (!line_text_is(line_get_verb(line), "bench") || status != 4) { /* (EV2) */
        note_status(evidence, status);
    }
}

static void add_begin(struct evidence *evidence, json_t *line)
{
    evidence->sessions++;
    evidence->killed++;
    evidence->expecting = line_get_expects_finding(line);
    evidence->made = 0;
    evidence->ran = false;
    if (evidence->begin == NULL) {
        evidence->begin = line;
    }
}

static void add_server(struct evidence *evidence, const json_t *line)
{
    add_name(evidence->servers, sizeof evidence->servers, line_get_postgresql(line));
}

static const struct {
    enum line_type type;
    bool planted; /* said of runs with a planted bug, too */
    void (*add)(struct evidence *evidence, const json_t *line);
} kinds[] = {
    {LINE_SCENARIO, false, add_scenario}, {LINE_SWEEP, false, add_sim},
    {LINE_RUN, false, add_sim},           {LINE_EXPLORE, false, add_sim},
    {LINE_REAL, false, add_real},         {LINE_FINDING, true, add_finding},
    {LINE_SABOTAGE, true, add_kill},      {LINE_ALONE, true, add_alone},
    {LINE_SUITE, true, add_suite},        {LINE_END, true, add_end},
    {LINE_SERVER, true, add_server},      {LINE_GATES, true, add_summary},
    {LINE_SUMMARY, true, add_summary},    {LINE_REGRESSIONS, true, add_regressions},
};

static void add_line(struct evidence *evidence, json_t *line)
{
    if (line_is(line, LINE_BEGIN)) {
        add_begin(evidence, line);
    }
    if (line_shows_a_run(line)) {
        evidence->ran = true;
        evidence->any_ran = true;
    }
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (line_is(line, kinds[i].type) && (kinds[i].planted || !evidence_is_planted(line))) {
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
                  struct error *error)
{
    struct line_reader reader = {.open = false};
    char verb[32] = "", why[180];
    int number = 1;
    for (const char *at = text, *end = text + length; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((stop == NULL ? end : stop) - at);
        json_t *line = read_line(&reader, at, size, why, sizeof why);
        if (line == NULL) {
            snprintf(error->text, sizeof error->text, "%.200s, line %d: %s", origin, number, why);
            return false;
        }
        if (line_is(line, LINE_BEGIN)) {
            snprintf(verb, sizeof verb, "%s", line_get_verb(line));
        }
        json_object_set_new(line, line_key_text(LINE_KEY_verb), json_string(verb));
        json_array_append_new(evidence->lines, line);
        add_line(evidence, line);
        at += size + 1;
    }
    if (length == 0) {
        snprintf(error->text, sizeof error->text,
                 "%.200s, line 1: it is empty; results start with a line of type \"begin\"",
                 origin);
    }
    return length > 0;
}

/* A path is put to the test by being taken; some are known by their cover points alone. */
static void count_paths(struct evidence *evidence)
{
    uint64_t seen[EVIDENCE_WORLDS][CLAUSE_COUNT] = {{0}};
    for (int i = 0; i < COVER_COUNT; i++) {
        for (int world = 0; world < EVIDENCE_WORLDS; world++) {
            seen[world][oracle_cover_clause((enum oracle_cover)i)] += evidence->seen[world][i];
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
        bool of_it = line_text_is(line_get_verb(line), verb);
        begun += of_it && line_is(line, LINE_BEGIN);
        fine += of_it && line_is(line, LINE_END) && line_get_status(line) == 0;
    }
    return begun > 0 && fine == begun;
}

bool evidence_is_of_one_build(const struct evidence *evidence)
{
    static const enum line_key keys[] = {LINE_KEY_binary_hash, LINE_KEY_commit,
                                         LINE_KEY_clauses_hash, LINE_KEY_errata_hash};
    for (size_t k = 0; k < COUNT(keys); k++) {
        const char *first = "";
        size_t i;
        json_t *line;
        json_array_foreach(evidence->lines, i, line)
        {
            const char *built = line_is(line, LINE_BEGIN) ? line_read_text(line, keys[k]) : "";
            if (first[0] != '\0' && built[0] != '\0' && strcmp(first, built) != 0) {
                return false;
            }
            first = first[0] == '\0' ? built : first;
        }
    }
    return true;
}
