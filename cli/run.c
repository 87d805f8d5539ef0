/* assay run: one run, with its verdict. */
#include "cli/run.h"

#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "verify/one_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {SCENARIO_ROW(struct run_request)},
    {SEED_ROW(struct run_request)},
    {FLAG_ROW(struct run_request, trace, "--trace"), .again = AGAIN_NEVER,
     .about = "one line an event"},
    {STRATEGY_ROW(struct run_request, " (see assay campaign --help)")},
    {SABOTAGE_ROW(struct run_request)},
    {WITHOUT_ROW(struct run_request, "NAME", "; or silence an oracle: ledger, semaphore, data")},
    {TEXT_ROW(struct run_request, schedule, "--schedule", "FILE"), .again = AGAIN_NEVER,
     .about = "write what was chosen, for assay replay; FILE must not exist"},
    {EXPECT_FINDING_ROW(struct run_request)},
    {JSON_ROW(struct run_request,
              ": one of type \"run\", with --trace one of type \"event\" each")},
    {OUT_ROW(struct run_request, "the results, the finding and a report")},
};

/* Opened before the run, so that a name that is taken does not cost one. */
static int open_new(const char *path, FILE **file)
{
    *file = path == NULL ? NULL : fopen(path, "wx");
    if (path == NULL || *file != NULL) {
        return CLI_OK;
    }
    if (errno == EEXIST) {
        return cli_usage_error(&cli_run, "--schedule %s: it exists; give a name that is free",
                               cli_quote(path).text);
    }
    return cli_usage_error(&cli_run, "--schedule %s: %s", cli_quote(path).text, strerror(errno));
}

static int write_schedule(FILE *file, const char *path, const struct schedule *schedule)
{
    if (schedule->choices.overflowed) {
        fclose(file);
        remove(path);
        fprintf(stderr, "assay run: a schedule has at most %d choices, and this run made more\n",
                SCHEDULE_CHOICES_MAX);
        return CLI_INCOMPLETE;
    }
    char *text = schedule_text(schedule);
    bool written = text != NULL && fputs(text, file) >= 0;
    written = fclose(file) == 0 && written;
    free(text);
    if (!written) {
        remove(path); /* which was free */
        fprintf(stderr, "assay run: %s could not be written in full\n", cli_quote(path).text);
        return CLI_UNAVAILABLE;
    }
    return CLI_OK;
}

static int run_drawn(const struct run_request *request, struct schedule *schedule)
{
    char title[SCENARIO_NAME_SIZE + 160], strategy[CHOICE_STRATEGY_SIZE];
    FILE *file = NULL;
    choice_strategy_text(&schedule->strategy, strategy);
    bool random = schedule->strategy.depth == 0;
    snprintf(title, sizeof title, "%s, seed %llu%s%s%s%s", schedule->scenario->name,
             (unsigned long long)schedule->seed, random ? "" : ", strategy ",
             random ? "" : strategy, request->sabotage == NULL ? "" : ", sabotage ",
             request->sabotage == NULL ? "" : request->sabotage);
    struct options_line again = options_again(&cli_run, request);
    struct one_run one = {.verb = cli_run.name,
                          .schedule = schedule,
                          .drawn = true,
                          .trace = request->trace,
                          .json = request->json,
                          .shrinks = true,
                          .title = title,
                          .reproduce = again.text};
    int status = one_run_without(&cli_run, &request->without, one.without, one.silent);
    if (status == CLI_OK) {
        status = open_new(request->schedule, &file);
    }
    struct artefacts results;
    if (status == CLI_OK) {
        status = results_open(&results, &(struct results_plan){.verb = &cli_run,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = schedule->seed,
                                                               .jobs = 1});
    }
    if (status != CLI_OK) {
        if (file != NULL) {
            fclose(file);
            remove(request->schedule);
        }
        return status;
    }
    one.results = &results;
    if (one_run(&one, &status) && file != NULL) {
        status = write_schedule(file, request->schedule, schedule);
    }
    if (status == CLI_OK) {
        status = one_run_status(one.result.verdict, request->expect_finding);
    }
    return results_close(&results, &cli_run, status);
}

/* What the request names, into a schedule without choices; then it is run. */
static int run_request(void *asked, struct schedule *schedule)
{
    const struct run_request *request = asked;
    int status =
        load_drawn(&cli_run, request->scenario, request->seed, request->sabotage, schedule);
    if (status == CLI_OK) {
        status = one_run_strategy(&cli_run, request->strategy, &schedule->strategy);
    }
    return status == CLI_OK ? run_drawn(request, schedule) : status;
}

static int run_verb(void *request)
{
    return load_with_schedule(&cli_run, request, run_request);
}

const struct cli_verb cli_run = {.name = "run",
                                 .about = "one run, with its verdict",
                                 .options = options,
                                 .option_count = COUNT(options),
                                 .request_size = sizeof(struct run_request),
                                 .run = run_verb};
