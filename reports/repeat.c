#include "reports/repeat.h"

#include <string.h>

json_t *repeat_planted(const char *command)
{
    static const char option[] = " --sabotage";
    const char *at = strstr(command, option);
    if (at == NULL || (at[sizeof option - 1] != ' ' && at[sizeof option - 1] != '=')) {
        return json_null();
    }
    const char *name = at + sizeof option;
    return json_stringn(name, strcspn(name, " "));
}

static json_t *member(const json_t *line, const char *key)
{
    json_t *value = json_object_get(line, key);
    return value == NULL ? json_null() : json_incref(value);
}

static void add_to(json_t *command, const char *key, uint64_t more)
{
    uint64_t before = evidence_number(command, key);
    json_object_set_new(command, key, json_integer((json_int_t)before + (json_int_t)more));
}

/* A run that a campaign tells again, as a finding, was counted with its scenario. */
static bool is_counted(const json_t *line, const char *kind)
{
    return evidence_is(line, "type", kind) &&
           (strcmp(kind, "run") != 0 || !evidence_is(line, "verb", "campaign"));
}

/* A line of its session: how many runs there were, and of which seeds. */
static void add_line(json_t *command, const json_t *line)
{
    static const char *const kinds[] = {"scenario", "sweep", "run", "real", "explore"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!is_counted(line, kinds[i])) {
            continue;
        }
        json_t *seed = json_object_get(line, "seed");
        uint64_t runs = evidence_number(line, "runs");
        add_to(command, "runs", runs == 0 ? 1 : runs);
        if (evidence_is(line, "type", "scenario")) {
            add_to(command, "seeds", runs);
        } else if (seed != NULL) {
            json_object_set(command, "seed", seed);
        }
    }
    if (evidence_is(line, "type", "end")) {
        json_object_set_new(command, "status", member(line, "status"));
    }
}

static json_t *begin(const json_t *line)
{
    return json_pack("{s:o, s:o, s:n, s:n, s:n, s:o, s:n}", "command", member(line, "command"),
                     "base_seed", member(line, "base_seed"), "seeds", "seed", "runs", "sabotage",
                     repeat_planted(evidence_text(line, "command")), "status");
}

json_t *repeat_commands(const struct evidence *evidence)
{
    json_t *list = json_array(), *command = NULL;
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (evidence_is(line, "type", "begin")) {
            command = begin(line);
            json_array_append_new(list, command);
        } else if (command != NULL) {
            add_line(command, line);
        }
    }
    return list;
}
