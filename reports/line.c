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
#define STATUS_COUNT ((int)(sizeof statuses / sizeof statuses[0]))

int line_status_rank(json_int_t status)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (statuses[i].status == status) {
            return i;
        }
    }
    return -1;
}

const char *line_status_words(int rank)
{
    CHECK(rank >= 0 && rank < STATUS_COUNT);
    return statuses[rank].words;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool is_text(const json_t *line, const char *key, const char *text)
{
    const char *value = json_string_value(json_object_get(line, key));
    return value != NULL && strcmp(value, text) == 0;
}

static bool is_about_runs(const json_t *line)
{
    static const char *const types[] = {"scenario", "sweep", "run", "explore", "real"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (is_text(line, "type", types[i])) {
            return true;
        }
    }
    return false;
}

/* True if the value is a count; else `why` says what it is. */
static bool is_count(const char *key, const json_t *value, char *why, size_t size)
{
    json_int_t count = json_integer_value(value);
    if (json_is_integer(value) && count >= 0 && count <= LINE_COUNT_MAX) {
        return true;
    }
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(why, size, "\"%.40s\" is %.40s; it counts, from 0 to %" PRIi64, key,
             text == NULL ? "?" : text, LINE_COUNT_MAX);
    free(text);
    return false;
}

static bool are_counts(const char *key, const json_t *values, char *why, size_t size)
{
    const char *name;
    json_t *value;
    if (!json_is_object(values)) {
        snprintf(why, size, "\"%.40s\" is no object of counts", key);
        return false;
    }
    json_object_foreach((json_t *)values, name, value)
    {
        if (!is_count(name, value, why, size)) {
            return false;
        }
    }
    return true;
}

/* [["Step 1", "before begin", 1, 369], ...] */
static bool are_points(const json_t *points, char *why, size_t size)
{
    size_t i;
    json_t *point;
    json_array_foreach((json_t *)points, i, point)
    {
        if (!is_count("crash_points", json_array_get(point, 3), why, size)) {
            return false;
        }
    }
    return true;
}

/* A member that is missing or null was not counted. */
static bool counts_are_sound(const json_t *line, char *why, size_t size)
{
    static const char *const numbers[] = {"runs",        "seeds",  "steps",    "findings",
                                          "broken_runs", "new",    "known",    "full",
                                          "shard",       "shards", "survived", "differences"};
    static const char *const tables[] = {"evaluated", "seen", "fired", "faults"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(line, numbers[i]);
        if (value != NULL && !json_is_null(value) && !is_count(numbers[i], value, why, size)) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables && is_about_runs(line); i++) {
        const json_t *value = json_object_get(line, tables[i]);
        if (value != NULL && !are_counts(tables[i], value, why, size)) {
            return false;
        }
    }
    return !is_about_runs(line) || are_points(json_object_get(line, "crash_points"), why, size);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool refuse(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

static bool begin_is_sound(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    const char *verb = json_string_value(json_object_get(line, "verb"));
    reader->open = true;
    return (verb != NULL && verb[0] != '\0') ||
           refuse(why, size, "\"begin\" does not name its verb");
}

static bool end_is_sound(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    const json_t *status = json_object_get(line, "status");
    reader->open = false;
    if (json_is_integer(status) && line_status_rank(json_integer_value(status)) >= 0) {
        return true;
    }
    char *text = status == NULL ? NULL : json_dumps(status, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(why, size, "\"end\" has the status %.40s; it is 0, 1, 2, 3, 4, 64, 69 or 70",
             text == NULL ? "of nothing" : text);
    free(text);
    return false;
}

static bool finding_is_sound(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    (void)reader;
    return is_text(line, "kind", "new") || is_text(line, "kind", "known") ||
           is_text(line, "kind", "expected") ||
           refuse(why, size, "a finding's \"kind\" is new, known or expected");
}

static const struct {
    const char *type;
    bool (*is_sound)(struct line_reader *reader, const json_t *line, char *why, size_t size);
} checks[] = {{"begin", begin_is_sound}, {"end", end_is_sound}, {"finding", finding_is_sound}};

bool line_check(struct line_reader *reader, const json_t *line, char *why, size_t size)
{
    const char *type = json_string_value(json_object_get(line, "type"));
    if (type == NULL || type[0] == '\0') {
        return refuse(why, size, "it has no \"type\", such as \"begin\""); /* LI1 */
    }
    if (!reader->open && strcmp(type, "begin") != 0) {
        return refuse(why, size, /* LI2 */
                      "no session is open; one starts with a line of type \"begin\"");
    }
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (strcmp(type, checks[i].type) == 0 && !checks[i].is_sound(reader, line, why, size)) {
            return false;
        }
    }
    return counts_are_sound(line, why, size); /* LI4 */
}

/* What must be above 0 in a line of that type; NULL: it is enough that it is there. */
static const struct {
    const char *type, *count;
} shows[] = {
    {"scenario", "runs"},  {"sweep", "runs"},    {"run", "runs"},          {"explore", "runs"},
    {"real", "runs"},      {"runs", "runs"},     {"cell", "runs"},         {"summary", "seeds"},
    {"errors", "planted"}, {"shortest", NULL},   {"error", NULL},          {"sabotage", NULL},
    {"suite", NULL},       {"difference", NULL}, {"drift", NULL},          {"finding", NULL},
    {"proof", NULL},       {"wire", "runs"},     {"recording", "commits"},
};

bool line_shows_a_run(const json_t *line)
{
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        if (is_text(line, "type", shows[i].type)) {
            return shows[i].count == NULL ||
                   json_integer_value(json_object_get(line, shows[i].count)) > 0;
        }
    }
    return false;
}
