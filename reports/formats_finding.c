/* One finding, step by step, for tools that show traces: the Informal Trace Format of Apalache and
 * Quint, and the trace events that Perfetto and Chrome read. */
#include "reports/formats.h"

#include "reports/json_line.h"

#include <string.h>

#define STEP_MICROSECONDS 1000 /* of a step, which has no length of its own */

/* The smallest schedule that there is. */
static const json_t *schedule_of(const json_t *finding)
{
    const json_t *schedules = json_object_get(finding, "schedules");
    const json_t *shrunk = json_object_get(schedules, "shrunk");
    return shrunk == NULL ? json_object_get(schedules, "full") : shrunk;
}

static const char *text_at(const json_t *schedule, const json_t *index)
{
    const char *text = json_string_value(
        json_array_get(json_object_get(schedule, "texts"), (size_t)json_integer_value(index)));
    return text == NULL ? "" : text;
}

static const char *lane_at(const json_t *schedule, const json_t *event)
{
    const char *text = json_string_value(
        json_array_get(json_object_get(schedule, "lanes"),
                       (size_t)json_integer_value(json_object_get(event, "lane"))));
    return text == NULL ? "" : text;
}

/* ---- ITF ------------------------------------------------------------------------------------- */

/* A whole number of any size: "000010000000001" is {"#bigint": "10000000001"}. */
static json_t *bigint_of(const char *digits)
{
    size_t zeros = strspn(digits, "0");
    return json_pack("{s:s}", "#bigint", digits[zeros] == '\0' ? "0" : digits + zeros);
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* {"#map": [[key, value], ...]} */
static json_t *map_of(const json_t *cells, bool numbers)
{
    json_t *pairs = json_array(), *value;
    const char *key;
    json_object_foreach((json_t *)cells, key, value)
    {
        const char *text = json_string_value(value);
        if (is_number(text) == numbers) {
            json_array_append_new(
                pairs, json_pack("[s, o]", key, numbers ? bigint_of(text) : json_string(text)));
        }
    }
    return json_pack("{s:o}", "#map", pairs);
}

static void apply_changes(const json_t *schedule, const json_t *event, json_t *cells)
{
    size_t i;
    json_t *change;
    json_array_foreach(json_object_get(event, "changes"), i, change)
    {
        char key[400];
        const json_t *after = json_object_get(change, "after");
        snprintf(key, sizeof key, "%.250s: %.100s",
                 text_at(schedule, json_object_get(change, "row")),
                 evidence_text(change, "column"));
        if (json_is_string(after)) {
            json_object_set(cells, key, (json_t *)after);
        } else {
            json_object_del(cells, key);
        }
    }
}

static json_t *state_of(size_t index, const char *actor, const char *action, const char *outcome,
                        const json_t *cells)
{
    char step[24];
    snprintf(step, sizeof step, "%zu", index);
    return json_pack("{s:{s:I}, s:{s:s}, s:s, s:s, s:s, s:o, s:o}", "#meta", "index",
                     (json_int_t)index, "step", "#bigint", step, "actor", actor, "action", action,
                     "outcome", outcome, "numbers", map_of(cells, true), "words",
                     map_of(cells, false));
}

void formats_write_itf(FILE *out, const struct formats_input *input)
{
    const json_t *schedule = schedule_of(input->finding);
    json_t *states = json_array(), *cells = json_object(), *event;
    size_t i;
    json_array_append_new(states, state_of(0, "", "", "", cells));
    json_array_foreach(json_object_get(schedule, "events"), i, event)
    {
        apply_changes(schedule, event, cells);
        json_array_append_new(states, state_of(i + 1, lane_at(schedule, event),
                                               text_at(schedule, json_object_get(event, "what")),
                                               evidence_text(event, "outcome"), cells));
    }
    json_decref(cells);
    json_line_write(
        out, json_pack("{s:{s:s, s:s, s:s, s:s}, s:[s, s, s, s, s, s], s:o}", "#meta", "format",
                       "ITF", "format-description",
                       "https://apalache-mc.org/docs/adr/015adr-trace.html", "source", input->name,
                       "description", evidence_text(input->finding, "sentence"), "vars", "step",
                       "actor", "action", "outcome", "numbers", "words", "states", states));
}

/* ---- Perfetto -------------------------------------------------------------------------------- */

static json_t *named_lane(size_t lane, const char *name)
{
    return json_pack("{s:s, s:s, s:i, s:I, s:{s:s}}", "ph", "M", "name", "thread_name", "pid", 1,
                     "tid", (json_int_t)lane + 1, "args", "name", name);
}

/* A message's way from who publishes it to who claims it. */
static json_t *flow(const char *phase, json_int_t message, json_int_t at, json_int_t lane)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:i, s:I, s:s}", "ph", phase, "name", "message",
                     "cat", "message", "id", message + 1, "ts", at, "pid", 1, "tid", lane, "bp",
                     "e");
}

static void add_flows(const json_t *event, json_int_t at, json_int_t lane, json_t *list)
{
    const json_t *claims = json_object_get(event, "claims");
    size_t i;
    json_t *message;
    json_array_foreach(json_object_get(event, "publishes"), i, message)
    {
        json_array_append_new(list, flow("s", json_integer_value(message), at, lane));
    }
    if (json_is_integer(claims)) {
        json_array_append_new(list, flow("f", json_integer_value(claims), at, lane));
    }
}

static void add_event(const json_t *schedule, const json_t *event, json_t *list)
{
    json_int_t at = json_integer_value(json_object_get(event, "step")) * STEP_MICROSECONDS;
    json_int_t lane = json_integer_value(json_object_get(event, "lane")) + 1;
    const char *what = text_at(schedule, json_object_get(event, "what"));
    const char *breach = evidence_text(event, "breach"), *outcome = evidence_text(event, "outcome");
    json_t *args = json_object();
    json_object_update(args, (json_t *)event);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:I, s:o}", "ph", "X", "name", what, "cat",
                        outcome[0] == '\0' ? "step" : outcome, "ts", at, "dur",
                        STEP_MICROSECONDS * 9 / 10, "pid", 1, "tid", lane, "args", args));
    add_flows(event, at, lane, list);
    if (breach[0] != '\0') {
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:I, s:i, s:I, s:s}", "ph", "i",
                                              "name", json_sprintf("breaks %s", breach), "cat",
                                              "breach", "ts", at, "pid", 1, "tid", lane, "s", "g"));
    }
}

void formats_write_perfetto(FILE *out, const struct formats_input *input)
{
    const json_t *schedule = schedule_of(input->finding);
    json_t *list = json_array(), *part;
    size_t i;
    json_array_foreach(json_object_get(schedule, "lanes"), i, part)
    {
        json_array_append_new(list, named_lane(i, json_string_value(part)));
    }
    json_array_foreach(json_object_get(schedule, "events"), i, part)
    {
        add_event(schedule, part, list);
    }
    json_line_write(out, json_pack("{s:s, s:{s:s, s:s}, s:o}", "displayTimeUnit", "ms", "otherData",
                                   "finding", input->name, "sentence",
                                   evidence_text(input->finding, "sentence"), "traceEvents", list));
}
