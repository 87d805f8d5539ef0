#include "reports/line.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statuses -------------------------------------------------------------------------------- */

/* From the one that says least to the one that says most. */
static const struct {
    int status;
    const char *words;
} statuses[] = {
    {0, "every promise held"},
    {4, "incomplete: not everything was put to the test"},
    {2, "no progress, and no promise says so"},
    {64, "a run was asked for wrongly"},
    {69, "something that was needed was not available"},
    {1, "a promise was broken"},
    {3, "a run was not deterministic, so that nothing can be said"},
    {70, "a bug in Assay, so that nothing can be said"},
};
#define STATUS_COUNT ((int)COUNT(statuses))

int line_status_rank(json_int_t status)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (statuses[i].status == status) {
            return i;
        }
    }
    return -1;
}

int line_status_at(int rank)
{
    CHECK(rank >= 0 && rank < STATUS_COUNT);
    return statuses[rank].status;
}

const char *line_status_words(int rank)
{
    CHECK(rank >= 0 && rank < STATUS_COUNT);
    return statuses[rank].words;
}

/* ---- lines.def ------------------------------------------------------------------------------- */

enum form { FORM_text, FORM_count, FORM_real, FORM_flag, FORM_json };

#define KIND(name, written, read, about) {#name, FORM_##written, about},
static const struct {
    const char *name;
    enum form form;
    const char *about;
} kinds[] = {
#include "reports/lines.def"
};
_Static_assert(LINE_COUNT_MAX == 1000000000000000, "lines.def says so in words");

#define NAMED(name, text, kind, about) {text, LINE_KIND_##kind, about},
static const struct {
    const char *text;
    enum line_kind kind;
    const char *about;
} keys[LINE_KEY_COUNT] = {
#include "reports/lines.def"
};

#define KEYS_MAX 40 /* of one type */

#define K(name)                              LINE_KEY_##name,
#define LINE(name, type, verbs, about, keys) {type, verbs, about, {keys LINE_KEY_COUNT}},
static const struct {
    const char *type, *verbs, *about;
    enum line_key keys[KEYS_MAX]; /* up to LINE_KEY_COUNT */
} types[LINE_TYPE_COUNT] = {
#include "reports/lines.def"
};

const char *line_key_text(enum line_key key)
{
    return keys[key].text;
}

static const char *type_of(const json_t *line)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    return type == NULL ? "" : type;
}

/* ---- members --------------------------------------------------------------------------------- */

line_as_json line_read_json(const json_t *line, enum line_key key)
{
    return json_object_get(line, keys[key].text);
}

line_as_text line_read_text(const json_t *line, enum line_key key)
{
    const char *text = json_string_value(line_read_json(line, key));
    return text == NULL ? "" : text;
}

line_as_count line_read_count(const json_t *line, enum line_key key)
{
    json_int_t number = json_integer_value(line_read_json(line, key));
    return number < 0 ? 0 : (uint64_t)number;
}

line_as_real line_read_real(const json_t *line, enum line_key key)
{
    return json_number_value(line_read_json(line, key));
}

line_as_flag line_read_flag(const json_t *line, enum line_key key)
{
    return json_is_true(line_read_json(line, key));
}

json_t *line_copy(const json_t *line, enum line_key key)
{
    json_t *value = line_read_json(line, key);
    return value == NULL ? json_null() : json_incref(value);
}

bool line_text_is(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

bool line_is(const json_t *line, enum line_type type)
{
    return line_text_is(type_of(line), types[type].type);
}

bool line_is_about_runs(const json_t *line)
{
    return line_is(line, LINE_SCENARIO) || line_is(line, LINE_SWEEP) || line_is(line, LINE_RUN) ||
           line_is(line, LINE_EXPLORE) || line_is(line, LINE_REAL);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool fits(const char *name, enum line_kind kind, const json_t *value, char *why,
                 size_t size);

/* What is in a list or an object of this kind. */
static bool parts_fit(const char *name, enum line_kind kind, const json_t *value, char *why,
                      size_t size)
{
    const char *of;
    json_t *part;
    size_t i;
    json_object_foreach((json_t *)value, of, part)
    {
        if (kind == LINE_KIND_COUNTS && !fits(of, LINE_KIND_COUNT, part, why, size)) {
            return false;
        }
    }
    json_array_foreach((json_t *)value, i, part)
    {
        const json_t *times = json_array_get(part, 3);
        if ((kind == LINE_KIND_TEXTS && !fits(name, LINE_KIND_TEXT, part, why, size)) ||
            (kind == LINE_KIND_POINTS && !fits(name, LINE_KIND_COUNT, times, why, size))) {
            return false;
        }
    }
    return true;
}

static bool are_digits(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* Without its parts. */
static bool is_of_kind(enum line_kind kind, const json_t *value)
{
    switch (kind) {
    case LINE_KIND_TEXT:
        return json_is_string(value);
    case LINE_KIND_HASH:
        return are_digits(value);
    case LINE_KIND_DIGEST:
        return are_digits(value) && json_string_length(value) == 16;
    case LINE_KIND_COUNT:
        return json_is_integer(value) && json_integer_value(value) >= 0 &&
               json_integer_value(value) <= LINE_COUNT_MAX;
    case LINE_KIND_SEED:
        return json_is_integer(value);
    case LINE_KIND_STATUS:
        return json_is_integer(value) && line_status_rank(json_integer_value(value)) >= 0;
    case LINE_KIND_FIGURE:
        return json_is_number(value);
    case LINE_KIND_SECONDS:
        return json_is_number(value) && json_number_value(value) >= 0;
    case LINE_KIND_FLAG:
        return json_is_boolean(value);
    case LINE_KIND_COUNTS:
    case LINE_KIND_OBJECT:
        return json_is_object(value);
    case LINE_KIND_TEXTS:
    case LINE_KIND_POINTS:
    case LINE_KIND_LIST:
        return json_is_array(value);
    case LINE_KINDS:
        break;
    }
    return false;
}

/* True, or `why` says what it is, and what it should be. */
static bool fits(const char *name, enum line_kind kind, const json_t *value, char *why, size_t size)
{
    if (is_of_kind(kind, value)) {
        return parts_fit(name, kind, value, why, size);
    }
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(why, size, "\"%.40s\" is %.40s; it is %s", name, text == NULL ? "?" : text,
             kinds[kind].about);
    free(text);
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool has_key(const char *type, enum line_key key)
{
    for (int t = 0; t < LINE_TYPE_COUNT; t++) {
        for (const enum line_key *k = types[t].keys; *k != LINE_KEY_COUNT; k++) {
            if (*k == key && strcmp(types[t].type, type) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* NULL: it is null. */
static json_t *value_of(const struct line_member *member)
{
    enum line_kind kind = keys[member->key].kind;
    if (kind == LINE_KIND_DIGEST) {
        return json_sprintf("%016" PRIx64, member->value.count);
    }
    switch (kinds[kind].form) {
    case FORM_text:
        return json_string(member->value.text);
    case FORM_count:
        return json_integer((json_int_t)member->value.count);
    case FORM_real:
        return json_real(member->value.real);
    case FORM_flag:
        return json_boolean(member->value.flag);
    case FORM_json:
        break;
    }
    return member->value.json;
}

json_t *line_begin(enum line_type type)
{
    json_t *line = json_object();
    json_object_set_new(line, "type", json_string(types[type].type));
    return line;
}

json_t *line_add_all(json_t *line, const struct line_member *members)
{
    char why[180];
    for (const struct line_member *one = members; one->key != LINE_KEY_COUNT; one++) {
        const char *text = keys[one->key].text;
        enum line_kind kind = keys[one->key].kind;
        json_t *value = value_of(one);
        CHECK(has_key(type_of(line), one->key) &&
              (kind == LINE_KIND_COUNT
                   ? json_integer_value(value) >= 0 /* a sum may be large */
                   : value == NULL || fits(text, kind, value, why, sizeof why))); /* LI6 */
        json_object_set_new(line, text, value == NULL ? json_null() : value);
    }
    return line;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool line_refuse(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

static bool begin_is_sound(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    reader->open = true;
    return line_get_verb(line)[0] != '\0' ||
           line_refuse(why, size, "\"begin\" does not name its verb");
}

static bool end_is_sound(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    const json_t *status = line_read_json(line, LINE_KEY_status);
    reader->open = false;
    if (is_of_kind(LINE_KIND_STATUS, status)) {
        return true;
    }
    char *text = status == NULL ? NULL : json_dumps(status, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(why, size, "\"end\" has the status %.40s; it is %s",
             text == NULL ? "of nothing" : text, kinds[LINE_KIND_STATUS].about);
    free(text);
    return false;
}

static bool finding_is_sound(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    const char *kind = line_get_kind(line);
    (void)reader;
    return line_text_is(kind, "new") || line_text_is(kind, "known") ||
           line_text_is(kind, "expected") ||
           line_refuse(why, size, "a finding's \"kind\" is new, known or expected");
}

static const struct {
    enum line_type type;
    bool (*is_sound)(struct line_reader *reader, const json_t *line, char *why, size_t size);
} checks[] = {
    {LINE_BEGIN, begin_is_sound}, {LINE_END, end_is_sound}, {LINE_FINDING, finding_is_sound}};

static bool line_is_known(const char *type)
{
    int t = 0;
    while (t < LINE_TYPE_COUNT && strcmp(types[t].type, type) != 0) {
        t++;
    }
    return t < LINE_TYPE_COUNT;
}

/* The value fits a key of that name: one of the type's, if it has some, else any (LI6). */
static bool is_sound(const char *type, const char *name, const json_t *value, char *why,
                     size_t size)
{
    bool own = false, known = false;
    for (int k = 0; k < LINE_KEY_COUNT; k++) {
        own = own || (strcmp(keys[k].text, name) == 0 && has_key(type, (enum line_key)k));
    }
    for (int k = 0; k < LINE_KEY_COUNT; k++) {
        if (strcmp(keys[k].text, name) == 0 && (!own || has_key(type, (enum line_key)k))) {
            known = true;
            bool sound = fits(name, keys[k].kind, value, why, size);
            if (sound || is_of_kind(keys[k].kind, value)) { /* or a part of it is wrong */
                return sound;
            }
        }
    }
    return !known;
}

bool line_check(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    const char *type = type_of(line), *name;
    json_t *value;
    if (type[0] == '\0') {
        return line_refuse(why, size, "it has no \"type\", such as \"begin\""); /* LI1 */
    }
    if (!reader->open && !line_is(line, LINE_BEGIN)) {
        return line_refuse(why, size, /* LI2 */
                           "no session is open; one starts with a line of type \"begin\"");
    }
    for (size_t i = 0; i < COUNT(checks); i++) {
        if (line_is(line, checks[i].type) && !checks[i].is_sound(reader, line, why, size)) {
            return false;
        }
    }
    json_object_foreach((json_t *)line, name, value)
    {
        if (line_is_known(type) && !json_is_null(value) &&
            !is_sound(type, name, value, why, size)) {
            return false; /* LI4, LI6 */
        }
    }
    return true;
}

/* What must be above 0 in a line of that type; LINE_KEY_COUNT: it is enough that it is there. */
static const struct {
    enum line_type type;
    enum line_key count;
} shows[] = {
    {LINE_SCENARIO, LINE_KEY_runs},     {LINE_SWEEP, LINE_KEY_runs},
    {LINE_RUN, LINE_KEY_runs},          {LINE_EXPLORE, LINE_KEY_runs},
    {LINE_REAL, LINE_KEY_runs},         {LINE_RUNS, LINE_KEY_runs},
    {LINE_CELL, LINE_KEY_runs},         {LINE_SUMMARY, LINE_KEY_seeds},
    {LINE_ERRORS, LINE_KEY_planted},    {LINE_SHORTEST, LINE_KEY_COUNT},
    {LINE_ERROR, LINE_KEY_COUNT},       {LINE_SABOTAGE, LINE_KEY_COUNT},
    {LINE_SUITE, LINE_KEY_COUNT},       {LINE_DIFFERENCE, LINE_KEY_COUNT},
    {LINE_DRIFT, LINE_KEY_COUNT},       {LINE_FINDING, LINE_KEY_COUNT},
    {LINE_PROOF, LINE_KEY_COUNT},       {LINE_WIRE, LINE_KEY_runs},
    {LINE_RECORDING, LINE_KEY_commits},
};

bool line_shows_a_run(const json_t *line)
{
    for (size_t i = 0; i < COUNT(shows); i++) {
        if (line_is(line, shows[i].type)) {
            return shows[i].count == LINE_KEY_COUNT || line_read_count(line, shows[i].count) > 0;
        }
    }
    return false;
}

/* ---- the schema ------------------------------------------------------------------------------ */

/* Whether its text is that of another key, too. */
static bool is_shared(enum line_key key)
{
    int same = 0;
    for (int k = 0; k < LINE_KEY_COUNT; k++) {
        same += strcmp(keys[k].text, keys[key].text) == 0;
    }
    return same > 1;
}

void line_write_schema(FILE *out)
{
    fputs("| type | of | what it tells | keys |\n|---|---|---|---|\n", out);
    for (int t = 0; t < LINE_TYPE_COUNT; t++) {
        fprintf(out, "| %s | %s | %s |", types[t].type, types[t].verbs, types[t].about);
        for (const enum line_key *k = types[t].keys; *k != LINE_KEY_COUNT; k++) {
            fprintf(out, "%s %s%s%s", k == types[t].keys ? "" : ",", keys[*k].text,
                    is_shared(*k) ? " " : "", is_shared(*k) ? kinds[keys[*k].kind].name : "");
        }
        fputs(" |\n", out);
    }
    fputs("\n| kind | JSON |\n|---|---|\n", out);
    for (int kind = 0; kind < LINE_KINDS; kind++) {
        fprintf(out, "| %s | %s |\n", kinds[kind].name, kinds[kind].about);
    }
    fputs("\n| key | kind | what it says |\n|---|---|---|\n", out);
    for (int k = 0; k < LINE_KEY_COUNT; k++) {
        fprintf(out, "| %s | %s | %s |\n", keys[k].text, kinds[keys[k].kind].name, keys[k].about);
    }
}
