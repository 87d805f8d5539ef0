/* Regressions: one that comes back is a finding like any other. */
#include "sim/schedule.h"
#include "verify/regressions.h"

#include "verify/one_run.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* legacy-replay, which breaks LEG-6, without the line that says so. */
static const char workload[] = "name: comes-back\n"
                               "about: the earlier ledger, and messages that come twice\n"
                               "protocol: legacy\n"
                               "workers: 2\n"
                               "timeout: 5000\n"
                               "graph: {trigger: [child]}\n"
                               "leg2-is-spared: [crash]\n"
                               "faults: {duplicate: 1/10}\n";

static char folder[] = "/tmp/assay-test-XXXXXX", out[sizeof folder + 8];

static void silence(void)
{
    cr_redirect_stdout();
    cr_assert_not_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/out", folder);
}

static void clean(void)
{
    char command[sizeof folder + 20];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): a fixed command
}

TestSuite(regressions, .init = silence, .fini = clean);

/* A schedule of the workload that breaks a promise, or one that breaks none, as a file's text. */
static char *schedule_that(bool breaks)
{
    struct schedule schedule;
    struct error error;
    struct run *run = calloc(1, sizeof *run);
    cr_assert(run != NULL && schedule_make(&schedule));
    cr_assert(scenario_parse(workload, sizeof workload - 1, "here", schedule.scenario, &error),
              "%s", error.text);
    cr_assert(run_make(run, schedule.scenario, NULL));
    bool found = false;
    for (uint64_t seed = 1; seed <= 1000 && !found; seed++) {
        struct choice_source source = run_draw(run, seed);
        schedule.choices.count = 0;
        source.record = &schedule.choices;
        found = (run_once(run, &source)->verdict == RUN_BROKEN) == breaks;
    }
    cr_assert(found, "no seed of the workload does");
    choice_list_sort(&schedule.choices);
    char *text = schedule_text(&schedule);
    run_free(run);
    free(run);
    schedule_free(&schedule);
    return text;
}

static const char *replay(char *text, int wanted, struct artefacts *results)
{
    struct builtin file = {"it-came-back", (const unsigned char *)text, strlen(text)};
    cr_assert(artefacts_open(results, out, NULL));
    artefacts_note(results, json_pack("{s:s, s:s}", "type", "begin", "verb", "campaign"));
    size_t before = results->length;
    cr_expect_eq(regressions_replay("campaign", &file, 1, results), wanted);
    free(text);
    return results->lines + before;
}

Test(regressions, that_hold_leave_no_line)
{
    struct artefacts results;
    const char *lines = replay(schedule_that(false), CLI_OK, &results);
    cr_expect_eq(results.lines + results.length, lines);
    cr_assert(artefacts_close(&results));
}

Test(regressions, that_break_are_findings)
{
    struct artefacts results;
    char path[200];
    const char *lines = replay(schedule_that(true), CLI_BROKEN, &results);
    cr_expect(strstr(lines, "\"type\":\"finding\",\"name\":\"regression-it-came-back\"") != NULL,
              "%s", lines);
    cr_expect(strstr(lines, "\"kind\":\"new\"") != NULL);
    cr_expect(strstr(lines, "assay replay scenarios/regressions/it-came-back.json") != NULL);
    cr_assert(artefacts_close(&results));
    snprintf(path, sizeof path, "%s/findings/regression-it-came-back/schedule.json", out);
    cr_expect_eq(access(path, R_OK), 0, "%s", path);
    snprintf(path, sizeof path, "%s/junit.xml", out);
    size_t length;
    char *junit = artefacts_read(path, &length);
    cr_assert_not_null(junit);
    cr_expect(strstr(junit, "reproduce: assay replay scenarios/regressions/it-came-back.json") !=
                  NULL,
              "%s", junit);
    free(junit);
}
