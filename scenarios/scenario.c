#include "scenarios/scenario.h"

#include "model/check.h"
#include "scenarios/builtin.h"
#include "scenarios/drawn.h"
#include "scenarios/part.h"
#include "scenarios/plan_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX  64 /* of all protocols together */
#define TIMEOUT_MAX 1000000

/* ---- what it is ---------------------------------------------------------------------------- */

static bool read_name(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return reader_name(reader, loading->scenario->name, sizeof loading->scenario->name);
}

/* No control character, of ASCII or of Unicode's second set (which terminals obey too). */
static bool is_printable(const struct reader_text *text)
{
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->text[i], next = (unsigned char)text->text[i + 1];
        if (c < ' ' || c == 0x7f || (c == 0xc2 && next < 0xa0)) {
            return false;
        }
    }
    return true;
}

static bool read_about(struct reader *reader, void *context)
{
    struct loading *loading = context;
    struct reader_text text;
    char right[48];
    snprintf(right, sizeof right, "it is one line of at most %d bytes", SCENARIO_ABOUT_SIZE - 1);
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    if (text.length >= SCENARIO_ABOUT_SIZE) {
        return reader_fail(reader, text.line, "a text of %zu bytes; %s", text.length, right);
    }
    if (!is_printable(&text)) {
        return reader_fail(reader, text.line, "a text with a control character; %s", right);
    }
    memcpy(loading->scenario->about, text.text, text.length);
    return true;
}

static bool fail_unknown_protocol(struct reader *reader, const struct reader_text *text)
{
    char known[120] = "", quoted[READER_QUOTED_SIZE];
    int at = 0;
    for (size_t p = 0; p < protocol_count(); p++) {
        at += snprintf(known + at, sizeof known - (size_t)at, "%s%s", p == 0 ? "" : ", ",
                       protocol_at(p)->name);
    }
    return reader_fail(reader, text->line, "unknown protocol %s; known: %s",
                       reader_quote(text, quoted), known);
}

/* The protocol was found before, because it determines the keys; here its value is checked. */
static bool read_protocol(struct reader *reader, void *context)
{
    struct reader_text text;
    (void)context;
    return reader_scalar(reader, "it is activity", &text) &&
           (protocol_find(text.text) != NULL || fail_unknown_protocol(reader, &text));
}

static bool glance_at(struct reader *reader, const struct reader_text *key, void *context)
{
    struct scenario *scenario = context;
    struct reader_text text;
    if (strcmp(key->text, "protocol") != 0) {
        return reader_skip(reader);
    }
    const struct protocol *found =
        reader_scalar(reader, "", &text) ? protocol_find(text.text) : NULL;
    scenario->protocol = found == NULL ? scenario->protocol : found;
    return found != NULL;
}

/* Finds the protocol, wherever it stands. Errors in the text are reported when it is read. */
static void find_protocol(const char *text, size_t size, const char *origin,
                          struct scenario *scenario)
{
    struct error unheard;
    struct reader reader;
    if (reader_open(&reader, text, size, origin, &unheard)) {
        reader_map(&reader, "", glance_at, scenario);
    }
    reader_close(&reader);
}

/* ---- how much of it ------------------------------------------------------------------------ */

static bool read_timeout(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return reader_number(reader, 1, TIMEOUT_MAX, &loading->scenario->timeout);
}

static bool read_level(struct reader *reader, void *context)
{
    static const char right[] = "it is statement, or transaction";
    struct loading *loading = context;
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    loading->scenario->whole_transactions = strcmp(text.text, "transaction") == 0;
    return loading->scenario->whole_transactions || strcmp(text.text, "statement") == 0 ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

/* ---- its faults -------------------------------------------------------------- */

static bool read_faults(struct reader *reader, void *context)
{
    return plan_text_faults(reader, &((struct loading *)context)->scenario->faults);
}

static bool read_limits(struct reader *reader, void *context)
{
    return plan_text_limits(reader, &((struct loading *)context)->scenario->faults);
}

/* ---- what is wanted of it ------------------------------------------------------------------ */

/* The clause that the text names; one of the protocol. */
static bool find_clause(struct reader *reader, const struct scenario *scenario,
                        const struct reader_text *text, enum clause_id *clause)
{
    const struct protocol *protocol = scenario->protocol;
    char quoted[READER_QUOTED_SIZE];
    if (!clause_find(text->text, text->length, clause)) {
        return reader_fail(reader, text->line,
                           "unknown clause %s; one is written ACL-19, and assay list clauses shows "
                           "them all",
                           reader_quote(text, quoted));
    }
    if (clause_get(*clause)->family != protocol->family) {
        return reader_fail(reader, text->line,
                           "%s is a clause of another protocol; those of %s are %s-1 and so on",
                           clause_get(*clause)->id, protocol->name,
                           clause_family_name(protocol->family));
    }
    return true;
}

static bool read_reached(struct reader *reader, void *context)
{
    struct scenario *scenario = context;
    struct reader_text text;
    enum clause_id clause = CLAUSE_COUNT;
    if (!reader_scalar(reader, "it is a clause, such as ACL-24", &text) ||
        !find_clause(reader, scenario, &text, &clause)) {
        return false;
    }
    enum clause_kind kind = clause_get(clause)->kind;
    if (kind == CLAUSE_KIND_GOLDEN) {
        return reader_fail(reader, text.line,
                           "%s is of kind %s, which no run shows; reached are clauses of kind "
                           "path, limit, safe, live and fmt",
                           clause_get(clause)->id, clause_kind_name(kind));
    }
    for (size_t i = 0; i < scenario->reaches_count; i++) {
        if (scenario->reaches[i] == clause) {
            return reader_fail(reader, text.line, "%s again; a clause stands once",
                               clause_get(clause)->id);
        }
    }
    CHECK(scenario->reaches_count < SCENARIO_REACHES_MAX); /* no family has so many */
    scenario->reaches[scenario->reaches_count++] = clause;
    return true;
}

static bool read_reaches(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list of clauses, such as [ACL-10, ACL-24]", read_reached,
                       ((struct loading *)context)->scenario);
}

static bool can_break(struct reader *reader, size_t line, enum clause_id clause)
{
    enum clause_kind kind = clause_get(clause)->kind;
    /* Paths include the weaknesses that the earlier ledger is known for (LEG-6, LEG-7). */
    return kind == CLAUSE_KIND_SAFE || kind == CLAUSE_KIND_LIMIT || kind == CLAUSE_KIND_LIVE ||
           kind == CLAUSE_KIND_PATH ||
           reader_fail(reader, line,
                       "%s is of kind %s, which no run breaks; broken are clauses of kind safe, "
                       "limit, live and path",
                       clause_get(clause)->id, clause_kind_name(kind));
}

/* One clause of "LEG-6, LEG-3". */
static bool read_broken(struct reader *reader, const struct reader_text *text,
                        struct scenario *scenario)
{
    enum clause_id clause = CLAUSE_COUNT;
    if (!find_clause(reader, scenario, text, &clause) || !can_break(reader, text->line, clause)) {
        return false;
    }
    if (scenario_breaks(scenario, clause)) {
        return reader_fail(reader, text->line, "%s again; a clause stands once",
                           clause_get(clause)->id);
    }
    if (!scenario->breaks) {
        scenario->breaks = true;
        scenario->broken = clause;
        return true;
    }
    if (scenario->also_count == SCENARIO_ALSO_MAX) {
        return reader_fail(reader, text->line, "more than %d clauses; so many may be broken",
                           SCENARIO_ALSO_MAX + 1);
    }
    scenario->also[scenario->also_count++] = clause;
    return true;
}

static bool read_all_broken(struct reader *reader, const struct reader_text *text,
                            struct scenario *scenario)
{
    const char *at = text->text;
    for (;;) {
        struct reader_text one = *text;
        one.length = strcspn(at, ",");
        memcpy(one.text, at, one.length);
        one.text[one.length] = '\0';
        at += one.length;
        if (!read_broken(reader, &one, scenario)) {
            return false;
        }
        if (*at == '\0') {
            return true;
        }
        at += strspn(at, ", ");
    }
}

static bool read_expect(struct reader *reader, void *context)
{
    static const char breaks[] = "breaks ", right[] = "it is pass, or breaks CLAUSE, CLAUSE...";
    struct loading *loading = context;
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    if (strncmp(text.text, breaks, strlen(breaks)) == 0) {
        text.length -= strlen(breaks);
        memmove(text.text, text.text + strlen(breaks), text.length + 1);
        return read_all_broken(reader, &text, loading->scenario);
    }
    return strcmp(text.text, "pass") == 0 ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static const struct reader_field first_fields[] = {
    {"name", read_name}, {"about", read_about}, {"protocol", read_protocol}};
static const struct reader_field last_fields[] = {
    {"level", read_level},   {"timeout", read_timeout}, {"faults", read_faults},
    {"limits", read_limits}, {"reaches", read_reaches}, {"expect", read_expect},
};

/* Keys that a scenario may have; then, unread, those of other protocols. */
struct keys {
    struct reader_field fields[FIELDS_MAX];
    size_t count;
};

static void add_keys(struct keys *keys, const struct reader_field *fields, size_t count, bool own)
{
    CHECK(keys->count + count <= FIELDS_MAX);
    for (size_t i = 0; i < count; i++) {
        keys->fields[keys->count++] =
            (struct reader_field){.name = fields[i].name, .read = own ? fields[i].read : NULL};
    }
}

static void add_numbers(struct keys *keys, const struct scenario_part_number *numbers, size_t count,
                        bool own)
{
    for (size_t i = 0; i < count; i++) {
        struct reader_field field = {.name = numbers[i].name, .read = scenario_part_read_number};
        add_keys(keys, &field, 1, own);
    }
}

static void add_part(struct keys *keys, const struct protocol *protocol, bool own)
{
    const struct scenario_part *part = scenario_part_get(protocol);
    add_numbers(keys, part->numbers, part->number_count, own);
    add_keys(keys, part->fields, part->field_count, own);
}

static struct keys keys_of(const struct protocol *protocol)
{
    struct keys keys = {.count = 0};
    add_keys(&keys, first_fields, COUNT(first_fields), true);
    add_numbers(&keys, scenario_part_numbers, scenario_part_number_count, true);
    add_part(&keys, protocol, true);
    add_keys(&keys, last_fields, COUNT(last_fields), true);
    for (size_t p = 0; p < protocol_count(); p++) {
        if (protocol_at(p) != protocol) {
            add_part(&keys, protocol_at(p), false);
        }
    }
    return keys;
}

/* A protocol may have one required key, beside the name, that describes the work. */
static bool check(struct reader *reader, struct loading *loading, const struct keys *keys,
                  uint64_t seen)
{
    const struct scenario_part *part = scenario_part_get(loading->scenario->protocol);
    for (size_t i = 0; i < keys->count; i++) {
        const char *key = keys->fields[i].name;
        bool own = part->needs != NULL && strcmp(key, part->needs) == 0;
        bool needed = own || strcmp(key, "name") == 0;
        if (needed && keys->fields[i].read != NULL && (seen >> i & 1) == 0) {
            return reader_fail(reader, 1, "the key %s is missing; a scenario of %s has name%s%s",
                               key, loading->scenario->protocol->name,
                               part->needs == NULL ? "" : " and ",
                               part->needs == NULL ? "" : part->needs);
        }
    }
    return part->check == NULL || part->check(reader, loading);
}

static bool read_scenario(struct reader *reader, struct loading *loading)
{
    struct keys keys = keys_of(loading->scenario->protocol);
    uint64_t seen = 0;
    return reader_fields(reader, "a scenario is a map of keys such as name: tree-3", keys.fields,
                         keys.count, loading, &seen) &&
           reader_finish(reader) && check(reader, loading, &keys, seen);
}

static void set_usual(struct scenario *scenario)
{
    memset(scenario, 0, sizeof *scenario); /* padding too: equal texts make equal scenarios */
    scenario->protocol = protocol_at(0);
    scenario->jobs = 1;
    scenario->workers = 2;
    scenario->threshold_count = 1;
    scenario->timeout = SCENARIO_TIMEOUT_USUAL;
    plan_text_begin(&scenario->faults);
}

bool scenario_breaks(const struct scenario *scenario, enum clause_id clause)
{
    bool breaks = scenario->breaks && scenario->broken == clause;
    for (size_t i = 0; i < scenario->also_count; i++) {
        breaks = breaks || scenario->also[i] == clause;
    }
    return breaks;
}

void scenario_check(const struct scenario *scenario)
{
    CHECK(scenario->name[0] != '\0' && scenario->protocol != NULL);            /* SN1 */
    CHECK(scenario->jobs >= 1 && scenario->jobs <= SCENARIO_JOBS_MAX);         /* SN1 */
    CHECK(scenario->workers <= SCENARIO_WORKERS_MAX && scenario->timeout > 0); /* SN1 */
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        struct fault_rate rate = scenario->faults.rate[kind];
        CHECK(rate.times <= rate.of); /* SN1 */
    }
    CHECK(scenario->text_size > 0 && scenario->text_size <= SCENARIO_TEXT_SIZE_MAX); /* SN2 */
}

bool scenario_parse(const char *text, size_t size, const char *origin, struct scenario *scenario,
                    struct error *error)
{
    struct loading loading = {.scenario = scenario};
    struct reader reader;
    set_usual(scenario);
    find_protocol(text, size, origin, scenario);
    bool parsed =
        reader_open(&reader, text, size, origin, error) && read_scenario(&reader, &loading);
    reader_close(&reader);
    if (parsed) {
        memcpy(scenario->text, text, size);
        scenario->text_size = size;
        CHECK_ALL(scenario_check(scenario));
    }
    return parsed;
}

/* ---- where it comes from ------------------------------------------------------------------- */

size_t scenario_count(void)
{
    return builtin_scenarios_count;
}

const char *scenario_name(size_t index)
{
    CHECK(index < builtin_scenarios_count);
    return builtin_scenarios[index].name;
}

static bool fail_no_such(const char *name, struct error *error)
{
    struct reader_text text = {.length = strnlen(name, READER_TEXT_SIZE - 1)};
    char known[200] = "", quoted[READER_QUOTED_SIZE];
    const struct protocol *protocol;
    size_t at = 0;
    memcpy(text.text, name, text.length);
    if (drawn_is_family(name, &protocol)) {
        snprintf(error->text, sizeof error->text,
                 "%s is many scenarios, and only a campaign runs them; name one: %s-1", name, name);
        return false;
    }
    for (size_t i = 0; i < builtin_scenarios_count && at < sizeof known; i++) {
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i == 0 ? "" : ", ",
                               builtin_scenarios[i].name);
    }
    snprintf(error->text, sizeof error->text,
             "there is no scenario %s; known: %s%s; or give the path of a .yaml file",
             reader_quote(&text, quoted), known, at < sizeof known ? "" : "...");
    return false;
}

static bool load_builtin(const char *name, struct scenario *scenario, struct error *error)
{
    for (size_t i = 0; i < builtin_scenarios_count; i++) {
        const struct builtin *builtin = &builtin_scenarios[i];
        if (strcmp(builtin->name, name) == 0) {
            char origin[SCENARIO_NAME_SIZE + sizeof ".yaml"];
            snprintf(origin, sizeof origin, "%s.yaml", name);
            return scenario_parse((const char *)builtin->text, builtin->size, origin, scenario,
                                  error);
        }
    }
    return fail_no_such(name, error);
}

/* Reads one byte more than a scenario may have, so that a file which is too long shows. */
static bool load_file(const char *path, struct scenario *scenario, struct error *error)
{
    struct reader nowhere = {.origin = path, .error = error};
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return reader_fail(&nowhere, 0, "%s", strerror(errno));
    }
    char *text = malloc(SCENARIO_TEXT_SIZE_MAX + 1);
    size_t size = text == NULL ? 0 : fread(text, 1, SCENARIO_TEXT_SIZE_MAX + 1, file);
    bool loaded = text == NULL || ferror(file) != 0
                      ? reader_fail(&nowhere, 0, "%s", strerror(errno))
                      : scenario_parse(text, size, path, scenario, error);
    free(text);
    fclose(file);
    return loaded;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name), ending = strlen(".yaml");
    return strchr(name, '/') != NULL ||
           (length > ending && strcmp(name + length - ending, ".yaml") == 0);
}

bool scenario_load(const char *name, struct scenario *scenario, struct error *error)
{
    const struct protocol *protocol;
    uint64_t number;
    if (drawn_is_one(name, &protocol, &number)) {
        drawn_make(protocol, number, scenario);
        return true;
    }
    return is_path(name) ? load_file(name, scenario, error) : load_builtin(name, scenario, error);
}
