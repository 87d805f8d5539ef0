#include "cli/regressions.h"

#include "cli/one_run.h"
#include "reports/json_line.h"
#include "scenarios/builtin.h"

#include <stdlib.h>

/* True: it holds. What breaks is told. */
static bool holds(const struct cli_verb *verb, const struct builtin *file,
                  struct schedule *schedule, bool json)
{
    char title[200], again[200];
    struct schedule_fault fault;
    int status = CLI_OK;
    if (!schedule_parse((const char *)file->text, file->size, file->name, false, schedule,
                        &fault)) {
        fprintf(stderr, "assay %s: regression %s\n", verb->name, fault.text);
        return false;
    }
    struct run *run = calloc(1, sizeof *run);
    struct choice_source source = choice_listed(&schedule->choices);
    bool made = run != NULL && run_make(run, schedule->scenario, NULL);
    bool held = made && run_once(run, &source)->verdict == RUN_HELD;
    if (made) {
        run_free(run);
    }
    free(run);
    if (!held && !json) {
        snprintf(title, sizeof title, "regression %s", file->name);
        snprintf(again, sizeof again, "assay replay scenarios/regressions/%s.json", file->name);
        struct one_run one = {
            .verb = verb, .schedule = schedule, .title = title, .reproduce = again};
        one_run(&one, &status);
    }
    return held;
}

int regressions_replay(const struct cli_verb *verb, bool json)
{
    size_t broken = 0;
    struct schedule schedule;
    if (!schedule_make(&schedule)) {
        fprintf(stderr, "assay %s: not enough memory\n", verb->name);
        return CLI_UNAVAILABLE;
    }
    for (size_t i = 0; i < builtin_regressions_count; i++) {
        broken += !holds(verb, &builtin_regressions[i], &schedule, json);
    }
    schedule_free(&schedule);
    if (json && broken > 0) { /* a campaign's summary says how many there were */
        json_line_write(stdout, json_pack("{s:s, s:I, s:I}", "type", "regressions", "replayed",
                                          (json_int_t)builtin_regressions_count, "broken",
                                          (json_int_t)broken));
    } else if (!json) {
        printf("%zu regressions replayed: %s\n", builtin_regressions_count,
               broken == 0 ? "all hold" : "NOT ALL HOLD");
    }
    return broken == 0 ? CLI_OK : CLI_BROKEN;
}
