#include "cli/real_join.h"

#include "cli/cli.h"
#include "reports/line.h"

#include <string.h>

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_value(json_t *sum, const char *key, const json_t *more);

/* What a member is not added up by: what tells rows of a list apart, and what each shard has alike. */
static bool is_kept(const char *key)
{
    return strcmp(key, "bundle") == 0 || strcmp(key, "side") == 0 ||
           strcmp(key, "simulated") == 0 || strcmp(key, "status") == 0;
}

/* Rows of two lists are about the same: [where, side, depth, count], or an object with a bundle. */
static bool is_same_row(const json_t *one, const json_t *other)
{
    if (json_is_object(one)) {
        return json_equal(json_object_get(one, "bundle"), json_object_get(other, "bundle")) &&
               json_equal(json_object_get(one, "side"), json_object_get(other, "side"));
    }
    bool same = true;
    for (size_t i = 0; same && i < 3; i++) {
        same = json_equal(json_array_get(one, i), json_array_get(other, i));
    }
    return same;
}

static void add_members(json_t *sum, const json_t *more)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)more, key, value)
    {
        add_value(sum, key, value);
    }
}

static void add_row(json_t *list, const json_t *row)
{
    size_t i;
    json_t *same;
    json_array_foreach(list, i, same)
    {
        if (is_same_row(same, row)) {
            if (json_is_object(same)) {
                add_members(same, row);
            } else {
                json_array_set_new(same, 3,
                                   json_integer(json_integer_value(json_array_get(same, 3)) +
                                                json_integer_value(json_array_get(row, 3))));
            }
            return;
        }
    }
    json_array_append_new(list, json_deep_copy(row));
}

static void add_value(json_t *sum, const char *key, const json_t *more)
{
    json_t *so_far = json_object_get(sum, key);
    size_t i;
    json_t *row;
    if (so_far == NULL || json_is_null(so_far)) {
        json_object_set_new(sum, key, json_deep_copy(more));
    } else if (json_is_integer(so_far) && json_is_integer(more) && !is_kept(key)) {
        json_integer_set(so_far, json_integer_value(so_far) + json_integer_value(more));
    } else if (json_is_real(so_far) && json_is_number(more)) {
        json_real_set(so_far, json_real_value(so_far) + json_number_value(more));
    } else if (json_is_object(so_far)) {
        add_members(so_far, more);
    } else if (json_is_array(so_far)) {
        json_array_foreach((json_t *)more, i, row)
        {
            add_row(so_far, row);
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line about the scenario; NULL: there is none. */
static json_t *about(const json_t *session, const char *scenario)
{
    size_t i;
    json_t *line;
    json_array_foreach((json_t *)session, i, line)
    {
        if (line_is(line, LINE_REAL) && line_text_is(line_get_scenario(line), scenario)) {
            return line;
        }
    }
    return NULL;
}

static int worse(int one, int other)
{
    return line_status_rank(other) > line_status_rank(one) ? other : one;
}

/* A shard that was interrupted ends with a status that none of its lines has. A planted bug that
 * survives in a shard does so, too, and may be found in another one. */
static bool got_to_its_end(const json_t *session)
{
    int worst = CLI_OK, ended = CLI_OK;
    bool planted = false;
    size_t i;
    json_t *line;
    json_array_foreach((json_t *)session, i, line)
    {
        if (line_is(line, LINE_REAL)) {
            worst = worse(worst, (int)line_get_status(line));
            planted = planted || line_get_sabotage(line)[0] != '\0';
        } else if (line_is(line, LINE_END)) {
            ended = (int)line_get_status(line);
        }
    }
    return planted || worse(worst, ended) == worst;
}

/* NULL: a shard has none of this scenario. */
static json_t *whole_line(json_t *const sessions[], size_t count, const json_t *first, int *status)
{
    json_t *sum = json_deep_copy(first);
    int worst = (int)line_get_status(first);
    for (size_t k = 1; k < count; k++) {
        const json_t *line = about(sessions[k], line_get_scenario(first));
        if (line == NULL) {
            json_decref(sum);
            return NULL;
        }
        worst = worse(worst, (int)line_get_status(line));
        add_members(sum, line);
    }
    line_add(sum, line_status((uint64_t)worst));
    *status = worse(*status, worst);
    return sum;
}

/* The finding of that name with the lowest seed. */
static const json_t *first_finding(json_t *const sessions[], size_t count, const char *name)
{
    const json_t *first = NULL;
    for (size_t k = 0; k < count; k++) {
        size_t i;
        json_t *line;
        json_array_foreach(sessions[k], i, line)
        {
            bool is = line_is(line, LINE_FINDING) && line_text_is(line_get_name(line), name);
            first =
                is && (first == NULL || line_get_seed(line) < line_get_seed(first)) ? line : first;
        }
    }
    return first;
}

static void add_findings(json_t *lines, json_t *const sessions[], size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t i;
        json_t *line;
        json_array_foreach(sessions[k], i, line)
        {
            if (line_is(line, LINE_FINDING) &&
                first_finding(sessions, count, line_get_name(line)) == line) {
                json_array_append(lines, line);
            }
        }
    }
}

json_t *real_join(json_t *const sessions[], size_t count, int *status, struct error *error)
{
    json_t *lines = json_array();
    size_t i;
    json_t *line;
    *status = CLI_OK;
    for (size_t k = 0; k < count; k++) {
        if (!got_to_its_end(sessions[k])) {
            snprintf(error->text, sizeof error->text, "one of them did not get to its end");
            json_decref(lines);
            return NULL;
        }
    }
    json_array_foreach(sessions[0], i, line)
    {
        if (line_is(line, LINE_SERVER)) {
            json_array_append(lines, line);
        } else if (line_is(line, LINE_REAL)) {
            json_t *sum = whole_line(sessions, count, line, status);
            if (sum == NULL) {
                snprintf(error->text, sizeof error->text, "one of its shards lacks %.60s",
                         line_get_scenario(line));
                json_decref(lines);
                return NULL;
            }
            json_array_append_new(lines, sum);
        }
    }
    add_findings(lines, sessions, count);
    return lines;
}
