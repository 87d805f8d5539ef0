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

static void add_to(json_t *command, const char *key, uint64_t more)
{
    uint64_t before = evidence_number(command, key);
    json_object_set_new(command, key, json_integer((json_int_t)before + (json_int_t)more));
}

/* A run that a campaign tells again, as a finding, was counted with its scenario. */
static bool is_counted(const json_t *line)
{
    return line_is_about_runs(line) &&
           !(line_is(line, LINE_RUN) && line_text_is(line_get_verb(line), "campaign"));
}

/* A line of its session: how many runs there were, and of which seeds. */
static void add_line(json_t *command, const json_t *line)
{
    if (is_counted(line)) {
        json_t *seed = line_read_json(line, LINE_KEY_seed);
        uint64_t runs = line_get_runs(line);
        add_to(command, "runs", runs == 0 ? 1 : runs);
        if (line_is(line, LINE_SCENARIO)) {
            add_to(command, "seeds", runs);
        } else if (seed != NULL) {
            json_object_set(command, "seed", seed);
        }
    }
    if (line_is(line, LINE_END)) {
        json_object_set_new(command, "status", line_copy(line, LINE_KEY_status));
        json_object_set_new(command, "seconds", line_copy(line, LINE_KEY_seconds));
    }
}

static json_t *repeat_begin(const json_t *line)
{
    return json_pack("{s:o, s:o, s:n, s:n, s:n, s:o, s:n, s:n}", "command",
                     line_copy(line, LINE_KEY_command), "base_seed",
                     line_copy(line, LINE_KEY_base_seed), "seeds", "seed", "runs", "sabotage",
                     repeat_planted(line_get_command(line)), "status", "seconds");
}

json_t *repeat_commands(const struct evidence *evidence)
{
    json_t *list = json_array(), *command = NULL;
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_BEGIN)) {
            command = repeat_begin(line);
            json_array_append_new(list, command);
        } else if (command != NULL) {
            add_line(command, line);
        }
    }
    return list;
}
