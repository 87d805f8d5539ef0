#include "reports/evidence.h"

#include "reports/repeat.h"

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

/* ---- the verdict ----------------------------------------------------------------------------- */

/* A reason that the session which is read gives. */
static void give(struct evidence *evidence, enum verdict_kind kind, const char *name)
{
    verdict_add(&evidence->session.verdict, kind, name, 1);
}

static int worse_of(int one, int other)
{
    return line_status_rank(other) > line_status_rank(one) ? other : one;
}

/* ---- counts ---------------------------------------------------------------------------------- */

uint64_t evidence_sum_of(uint64_t one, json_int_t other)
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
            point->told[world][depth - 1] = true;
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
        evidence->session.said = worse_of(evidence->session.said, 1); /* (EV5) */
    }
}

static void add_sim(struct evidence *evidence, const json_t *line)
{
    add_runs(evidence, EVIDENCE_SIM, line);
}

static void add_real(struct evidence *evidence, const json_t *line)
{
    struct evidence_session *session = &evidence->session;
    add_runs(evidence, EVIDENCE_REAL, line);
    if (line_get_late(line) > 0) {
        snprintf(session->bounded, sizeof session->bounded, "%.50s ran out of time",
                 line_get_scenario(line));
    }
    session->said = worse_of(session->said, (int)line_get_status(line)); /* (EV5) */
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

/* The planted bug that the finding is of; "": none. */
static const char *bug_of(const struct evidence *evidence, const json_t *line, char name[80])
{
    json_t *again = repeat_planted(line_get_again(line));
    const char *said = line_get_sabotage(line);
    snprintf(name, 80, "%s",
             said[0] != '\0'         ? said
             : json_is_string(again) ? json_string_value(again)
                                     : evidence->session.planted);
    json_decref(again);
    return name;
}

/* What the finding is called among reasons. */
static const char *promise_of(const json_t *line)
{
    return line_get_clause(line)[0] != '\0' ? line_get_clause(line)
           : line_get_name(line)[0] != '\0' ? line_get_name(line)
                                            : "a promise without a name";
}

static void give_finding(struct evidence *evidence, const json_t *line, bool first)
{
    struct evidence_session *session = &evidence->session;
    bool is_new = line_text_is(line_get_kind(line), "new"),
         expected = line_text_is(line_get_kind(line), "expected");
    char bug[80], name[300];
    enum verdict_kind kind = expected ? VERDICT_EXPECTED : VERDICT_KNOWN;
    snprintf(name, sizeof name, "%.200s", promise_of(line));
    if (!expected && bug_of(evidence, line, bug)[0] != '\0') {
        json_object_set_new(session->bugs, bug, json_true());
        snprintf(name, sizeof name, "%.80s breaks %.200s", bug, promise_of(line));
        kind = is_new ? VERDICT_CAUGHT : kind;
    } else {
        kind = is_new ? VERDICT_BROKEN : kind;
    }
    session->made += is_new;
    verdict_add(&session->verdict, kind, name, first);
}

static void add_finding(struct evidence *evidence, const json_t *line)
{
    enum clause_id id;
    char bug[80];
    bool is_new = line_text_is(line_get_kind(line), "new"),
         known = line_text_is(line_get_kind(line), "known"),
         first = evidence_is_first(evidence->found, line);
    give_finding(evidence, line, first); /* (EV3) */
    if (!first) {
        return;
    }
    evidence->findings += is_new;
    evidence->known += known;
    if (names_clause(line_get_clause(line), &id)) {
        struct evidence_clause *clause = &evidence->clauses[id];
        clause->findings += is_new;
        clause->planted += is_new && bug_of(evidence, line, bug)[0] != '\0';
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
    const char *fate = line_get_fate(line);
    if (!line_text_is(fate, "found") && !line_text_is(fate, "equivalent") &&
        !line_text_is(fate, "not shown")) {
        give(evidence, VERDICT_SURVIVED, name);
    }
    if (!names_clause(line_get_clause(line), &clause) || !line_text_is(fate, "found")) {
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
        give(evidence, VERDICT_SUITE, suite);
    }
}

/* An error that was planted in the simulated store, and no script showed. */
static void add_error(struct evidence *evidence, const json_t *line)
{
    if (line_get_seeds(line) == 0) {
        give(evidence, VERDICT_SURVIVED, line_get_name(line));
    }
}

static void give_all(struct evidence *evidence, enum verdict_kind kind, const json_t *names)
{
    size_t i;
    json_t *name;
    json_array_foreach((json_t *)names, i, name)
    {
        give(evidence, kind, json_string_value(name));
    }
}

static void add_shards(struct evidence *evidence, const json_t *line)
{
    give_all(evidence, VERDICT_MISSING_SHARD, line_get_missing(line));
    give_all(evidence, VERDICT_FOREIGN, line_get_foreign(line));
    give_all(evidence, VERDICT_DOUBLED, line_get_doubled(line));
}

/* Of a verb, or of shards together (EV5). */
static void add_summary(struct evidence *evidence, const json_t *line)
{
    struct evidence_session *session = &evidence->session;
    give_all(evidence, VERDICT_GATE, line_get_gates(line));
    if (line_get_survived(line) > verdict_count(&session->verdict, VERDICT_SURVIVED)) {
        give(evidence, VERDICT_SURVIVED, "");
    }
    if (line_get_wrongly_equivalent(line) > 0) {
        give(evidence, VERDICT_GATE, "a bug that is listed as equivalent was found");
    }
    if (line_get_differences(line) > 0) {
        verdict_add(&session->verdict, VERDICT_DIFFERENCE, "", line_get_differences(line));
    }
    if (json_is_false(line_read_json(line, LINE_KEY_deterministic))) {
        give(evidence, VERDICT_DRIFT, "");
    }
    session->interrupted = session->interrupted || line_get_interrupted(line);
}

static void add_regressions(struct evidence *evidence, const json_t *line)
{
    if (line_get_broken(line) > 0) {
        verdict_add(&evidence->session.verdict, VERDICT_REGRESSION, "", line_get_broken(line));
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
    return !evidence->session.ran && status == 0;
}

/* Bugs of a session that ended by itself, in runs without a finding (EV7). */
static void give_survivors(struct evidence *evidence)
{
    const char *name;
    json_t *shown;
    json_object_foreach(evidence->session.bugs, name, shown)
    {
        if (!json_is_true(shown)) {
            give(evidence, VERDICT_SURVIVED, name);
        }
    }
}

/* What the session asked for changes what its findings come to: a hunt is there to make them. */
static void weigh_findings(struct evidence *evidence, int status)
{
    struct evidence_session *session = &evidence->session;
    bool expected = verdict_count(&session->verdict, VERDICT_EXPECTED) > 0;
    if (line_text_is(session->verb, "sabotage")) {
        verdict_change(&session->verdict, VERDICT_CAUGHT, 0, false);
    }
    if (!session->expecting) {
        if (expected && status == 1 && verdict_status(&session->verdict) == 0) {
            verdict_change(&session->verdict, VERDICT_EXPECTED, 1, false); /* (EV4) */
        }
        return;
    }
    bool met = session->made > 0 || (expected && status == 0);
    if (met && status <= 1) {
        verdict_change(&session->verdict, VERDICT_CAUGHT, 0, true);
        verdict_change(&session->verdict, VERDICT_BROKEN, 0, true);
        session->said = session->said == 1 ? 0 : session->said;
    } else if (!met && status <= 1 && verdict_count(&session->verdict, VERDICT_SURVIVED) == 0) {
        give(evidence, VERDICT_NO_FINDING, "");
    }
}

/* A status that says more than every reason has a reason of its own (VE2). */
static void explain(struct evidence *evidence, int status)
{
    struct evidence_session *session = &evidence->session;
    int given = verdict_status(&session->verdict);
    if (line_status_rank(status) <= line_status_rank(given)) {
        return;
    }
    if (status == 4 && session->bounded[0] != '\0') {
        give(evidence, VERDICT_BOUNDED, session->bounded);
    } else {
        verdict_add_as(&session->verdict, verdict_of_status(status), status, session->verb, 1);
    }
}

static void close_session(struct evidence *evidence)
{
    struct evidence_session *session = &evidence->session;
    if (session->open) {
        verdict_take(&evidence->verdict, &session->verdict);
        verdict_free(&session->verdict);
        json_decref(session->bugs);
    }
    *session = (struct evidence_session){0};
}

/* It has no end. */
static void give_up_session(struct evidence *evidence)
{
    char name[80];
    if (evidence->session.open) {
        evidence->killed++;
        snprintf(name, sizeof name, "%s was killed half-way", evidence->session.verb);
        give(evidence, VERDICT_INTERRUPTED, name);
    }
    close_session(evidence);
}

static void add_end(struct evidence *evidence, const json_t *line)
{
    struct evidence_session *session = &evidence->session;
    int status = (int)line_get_status(line);
    bool bar = line_text_is(session->verb, "bench") && status == 4; /* (EV2) */
    if (is_idle(evidence, line, status)) {
        give(evidence, VERDICT_NEVER_RAN, session->verb);
    }
    if (session->interrupted) {
        char name[80];
        snprintf(name, sizeof name, "%s, by a signal", session->verb);
        give(evidence, VERDICT_INTERRUPTED, name);
    } else {
        give_survivors(evidence);
    }
    weigh_findings(evidence, status);
    if (!session->expecting || status > 1) {
        explain(evidence, bar ? 0 : status);
    }
    explain(evidence, session->said);
    close_session(evidence);
}

static void add_begin(struct evidence *evidence, json_t *line)
{
    struct evidence_session *session = &evidence->session;
    json_t *planted = repeat_planted(line_get_command(line));
    give_up_session(evidence);
    evidence->sessions++;
    *session = (struct evidence_session){
        .open = true, .expecting = line_get_expects_finding(line), .bugs = json_object()};
    verdict_begin(&session->verdict);
    snprintf(session->verb, sizeof session->verb, "%s", line_get_verb(line));
    snprintf(session->planted, sizeof session->planted, "%s",
             json_is_string(planted) ? json_string_value(planted) : "");
    json_decref(planted);
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
    {LINE_ERROR, true, add_error},        {LINE_SHARDS, true, add_shards},
};

/* What a line about runs says besides its counts: a planted bug, and whether it got to its end. */
static void note_bounds(struct evidence *evidence, const json_t *line)
{
    struct evidence_session *session = &evidence->session;
    const char *bug = line_get_sabotage(line);
    bool runs = line_is_about_runs(line);
    bool hunted = line_text_is(session->verb, "sabotage"); /* which writes no finding */
    if (runs && bug[0] != '\0' && !json_is_true(json_object_get(session->bugs, bug))) {
        json_object_set_new(session->bugs, bug,
                            json_boolean(hunted && line_get_clause(line)[0] != '\0'));
    }
    bool partial = runs && json_is_false(line_read_json(line, LINE_KEY_complete));
    session->interrupted = session->interrupted || (partial && line_is(line, LINE_SWEEP));
    if (partial) {
        snprintf(session->bounded, sizeof session->bounded, "%.70s", line_get_scenario(line));
    }
}

static void add_line(struct evidence *evidence, json_t *line)
{
    if (line_is(line, LINE_BEGIN)) {
        add_begin(evidence, line);
    }
    if (line_shows_a_run(line)) {
        evidence->session.ran = true;
        evidence->any_ran = true;
    }
    note_bounds(evidence, line);
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
    verdict_begin(&evidence->verdict);
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
    give_up_session(evidence);
    if (!evidence->any_ran && verdict_count(&evidence->verdict, VERDICT_NEVER_RAN) == 0) {
        verdict_add(&evidence->verdict, VERDICT_NEVER_RAN, "", 1); /* (EV6) */
    }
    if (!evidence_is_of_one_build(evidence)) {
        verdict_add(&evidence->verdict, VERDICT_FOREIGN, "results of different builds are mixed",
                    1);
    }
    evidence->status = verdict_status(&evidence->verdict);
}

uint64_t evidence_covered(const struct evidence *evidence)
{
    uint64_t covered = 0;
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        const uint64_t *evaluated = evidence->clauses[c].evaluated;
        covered += evaluated[EVIDENCE_SIM] + evaluated[EVIDENCE_REAL] > 0;
    }
    return covered;
}

void evidence_free(struct evidence *evidence)
{
    close_session(evidence);
    verdict_free(&evidence->verdict);
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
