#include "cli/load.h"

#include "cli/run_options.h"
#include "model/check.h"
#include "reports/artefacts.h"
#include "verify/one_run.h"

#include <sys/stat.h>

int load_scenario(const struct cli_verb *verb, const char *name, struct scenario *scenario)
{
    struct error error;
    return scenario_load(name, scenario, &error) ? CLI_OK : cli_usage_error(verb, "%s", error.text);
}

int load_sabotage(const struct cli_verb *verb, const char *name, const struct scenario *scenario,
                  struct sabotage *sabotage)
{
    if (name == NULL) {
        return CLI_OK;
    }
    bool found = sabotage_find(name, sabotage);
    CHECK(found); /* the option's kind: OPTION_SABOTAGE */
    return scenario == NULL ? CLI_OK : one_run_check_sabotage(verb, sabotage, scenario);
}

int load_drawn(const struct cli_verb *verb, const char *scenario, uint64_t seed,
               const char *sabotage, struct schedule *schedule)
{
    int status = load_scenario(verb, scenario, schedule->scenario);
    schedule->seed = seed;
    schedule->sabotaged = sabotage != NULL;
    return status == CLI_OK ? load_sabotage(verb, sabotage, schedule->scenario, &schedule->sabotage)
                            : status;
}

int load_schedule(const struct cli_verb *verb, const char *path, bool edited,
                  struct schedule *schedule)
{
    struct error error;
    return schedule_load(path, edited, schedule, &error) ? CLI_OK
                                                         : cli_usage_error(verb, "%s", error.text);
}

char *load_results(const struct cli_verb *verb, const char *folder, size_t *length)
{
    char path[ARTEFACTS_PATH_SIZE];
    struct stat about;
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    char *text = artefacts_read(path, length);
    if (text == NULL) {
        cli_usage_error(verb, "%s%s; give one that assay wrote with --out", cli_quote(folder).text,
                        stat(folder, &about) == 0 ? " has no results.jsonl" : ": no such folder");
    }
    return text;
}

int load_with_schedule(const struct cli_verb *verb, void *request,
                       int (*run)(void *request, struct schedule *schedule))
{
    struct schedule schedule;
    if (!schedule_make(&schedule)) {
        return cli_no_memory(verb);
    }
    int status = run(request, &schedule);
    schedule_free(&schedule);
    return status;
}
