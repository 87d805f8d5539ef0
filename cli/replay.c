/* assay replay: the same run again. */
#include "cli/one_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay replay FILE [--trace] [--until STEP] [--edited] [--expect-finding] [--json]\n"
    "\n"
    "Runs a schedule that assay run --schedule, assay shrink or a campaign wrote, choice by "
    "choice,\n"
    "and says whether it breaks the promise that the file names.\n"
    "\n"
    "  --trace           one line an event\n"
    "  --until STEP      traces up to this step and shows every ledger as it then stands\n"
    "  --edited          the file was edited by hand, which is fine\n"
    "  --expect-finding  a broken promise is status 0, none is status 1\n"
    "  --json            JSON lines: one of type \"run\", with --trace one of type \"event\" each\n"
    "\n"
    "Exit status: 0 every promise held; 1 a promise was broken; 4 the simulated store was full.\n"
    "\n"
    "example: assay replay finding.json --trace\n";

struct request {
    const char *file, *until;
    uint64_t until_step;
    bool trace, edited, json, expect_finding;
};

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    const struct cli_option options[] = {{"--until", &request->until, NULL},
                                         {"--trace", NULL, &request->trace},
                                         {"--edited", NULL, &request->edited},
                                         {"--json", NULL, &request->json},
                                         {"--expect-finding", NULL, &request->expect_finding}};
    int status =
        cli_parse(&cli_replay, argc, argv, options, sizeof options / sizeof *options, &arguments);
    if (status != CLI_OK) {
        return status;
    }
    if (arguments.count != 1) {
        return cli_usage_error(&cli_replay, "one FILE is needed, %d were given", arguments.count);
    }
    if (request->until != NULL && (!cli_read_number(request->until, &request->until_step) ||
                                   request->until_step < 1 || request->until_step > UINT32_MAX)) {
        return cli_usage_error(&cli_replay, "--until %s: it is the number of a step, from 1",
                               cli_quote(request->until).text);
    }
    request->file = arguments.positional[0];
    return CLI_OK;
}

/* Whether the run did what its file says; says so if it did not. */
static void compare(const struct schedule *schedule, const struct run_result *result)
{
    bool broken = result->verdict == RUN_BROKEN;
    if (!schedule->breaks && broken) {
        printf("The file says that no promise breaks, and %s did.\n",
               clause_get(result->breach.clause)->id);
    } else if (schedule->breaks && !broken) {
        printf("The file says that %s breaks, and it held.\n", clause_get(schedule->broken)->id);
    } else if (broken && result->breach.clause != schedule->broken) {
        printf("The file says that %s breaks, and it was %s.\n", clause_get(schedule->broken)->id,
               clause_get(result->breach.clause)->id);
    }
}

static int replay(const struct request *request, struct schedule *schedule)
{
    char title[SCENARIO_NAME_SIZE + 120], command[600];
    struct schedule_fault fault;
    if (!schedule_load(request->file, request->edited, schedule, &fault)) {
        return cli_usage_error(&cli_replay, "%s", fault.text);
    }
    snprintf(title, sizeof title, "%s, replayed", schedule->scenario->name);
    snprintf(command, sizeof command, "assay replay %s%s", request->file,
             request->edited ? " --edited" : "");
    struct one_run one = {.verb = &cli_replay,
                          .schedule = schedule,
                          .trace = request->trace || request->until != NULL,
                          .until = (uint32_t)request->until_step,
                          .json = request->json,
                          .title = title,
                          .reproduce = command};
    int status = CLI_OK;
    if (!one_run(&one, &status)) {
        return status;
    }
    if (!request->json) {
        compare(schedule, &one.result);
    }
    return one_run_status(one.result.verdict, request->expect_finding);
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    struct schedule schedule;
    int status = read_request(argc, argv, &request);
    if (status != CLI_OK) {
        return status;
    }
    if (!schedule_make(&schedule)) {
        fputs("assay replay: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    status = replay(&request, &schedule);
    schedule_free(&schedule);
    return status;
}

const struct cli_verb cli_replay = {
    .name = "replay", .about = "the same run again, step by step", .help = help, .run = run};
