#include "verify/regressions.h"

#include "reports/line.h"
#include "verify/finding.h"
#include "verify/one_run.h"

#include <stdlib.h>

static void regressions_tell(const char *verb, const struct builtin *file,
                             struct schedule *schedule, struct artefacts *results)
{
    char title[200], again[200], name[FINDING_NAME_SIZE];
    int status = CLI_OK;
    snprintf(title, sizeof title, "regression %s", file->name);
    snprintf(again, sizeof again, "assay replay scenarios/regressions/%s.json", file->name);
    snprintf(name, sizeof name, "regression-%.80s", file->name);
    struct one_run one = {.verb = verb,
                          .schedule = schedule,
                          .title = title,
                          .reproduce = again,
                          .json = results->echo != NULL,
                          .results = results,
                          .kept = name};
    one_run(&one, &status);
}

/* True: it holds. What breaks is told. */
static bool regressions_holds(const char *verb, const struct builtin *file,
                              struct schedule *schedule, struct artefacts *results)
{
    struct error error;
    if (!schedule_parse((const char *)file->text, file->size, file->name, false, schedule,
                        &error)) {
        fprintf(stderr, "assay %s: regression %s\n", verb, error.text);
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
    if (!held) {
        regressions_tell(verb, file, schedule, results);
    }
    return held;
}

int regressions_replay(const char *verb, const struct builtin *files, size_t count,
                       struct artefacts *results)
{
    size_t broken = 0;
    struct schedule schedule;
    if (!schedule_make(&schedule)) {
        fprintf(stderr, "assay %s: not enough memory\n", verb);
        return CLI_UNAVAILABLE;
    }
    for (size_t i = 0; i < count; i++) {
        broken += !regressions_holds(verb, &files[i], &schedule, results);
    }
    schedule_free(&schedule);
    if (broken > 0) { /* a campaign's summary says how many there were */
        artefacts_line(results,
                       line_make(LINE_REGRESSIONS, line_replayed(count), line_broken(broken)));
    }
    if (results->echo == NULL) {
        printf("%zu regressions replayed: %s\n", count, broken == 0 ? "all hold" : "NOT ALL HOLD");
    }
    return broken == 0 ? CLI_OK : CLI_BROKEN;
}
