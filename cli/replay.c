/* assay replay: the same run again. */
#include "cli/cli.h"
#include "cli/server.h"
#include "verify/mirror.h"
#include "verify/one_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: assay replay FILE|FINDING [--trace] [--until STEP] [--real] [--dsn DSN] [--edited]\n"
    "                    [--expect-finding] [--json]\n"
    "\n"
    "Runs a schedule that assay run --schedule, assay shrink or a campaign wrote, choice by "
    "choice,\n"
    "and says whether it breaks the promise that the file names. A FINDING is its folder, such as\n"
    "results/findings/tree-3-ACL-16-ledger.\n"
    "\n"
    "  --trace           one line an event\n"
    "  --until STEP      traces up to this step and shows every ledger as it then stands\n"
    "  --real            in lockstep on PostgreSQL: every statement, value, wait, SQLSTATE and "
    "row\n"
    "                    is compared. A private server, unless --dsn names one\n"
    "  --dsn DSN         a server to use, as libpq takes it; Assay makes a schema there, named by\n"
    "                    chance, and drops it\n"
    "  --edited          the file was edited by hand, which is fine\n"
    "  --expect-finding  a broken promise is status 0, none is status 1\n"
    "  --json            JSON lines: one of type \"run\", with --trace one of type \"event\" each\n"
    "\n"
    "Exit status: 0 every promise held; 1 a promise was broken, or PostgreSQL did otherwise than "
    "the\n"
    "simulation; 4 the simulated store was full; 69 no server.\n"
    "\n"
    "example: assay replay finding.json --trace\n";

struct request {
    const char *until, *dsn;
    char file[4096];
    uint64_t until_step;
    bool trace, edited, json, expect_finding, real;
};

/* A file, or the folder of a finding: then its shrunk schedule, or the one that was found. */
static void choose_file(const char *path, struct request *request)
{
    struct stat about;
    snprintf(request->file, sizeof request->file, "%s", path);
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        snprintf(request->file, sizeof request->file, "%s/shrunk.json", path);
        if (access(request->file, F_OK) != 0) {
            snprintf(request->file, sizeof request->file, "%s/schedule.json", path);
        }
    }
}

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    const struct cli_option options[] = {{"--until", &request->until, NULL},
                                         {"--dsn", &request->dsn, NULL},
                                         {"--real", NULL, &request->real},
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
    choose_file(arguments.positional[0], request);
    return server_check_dsn(&cli_replay, request->dsn);
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

/* ---- in lockstep on PostgreSQL --------------------------------------------------------------- */

struct real_run {
    struct run *run;
    struct choice_source *source;
    const struct run_result *result;
    bool differs;
};

static int follow(void *context, const char *dsn)
{
    struct real_run *real = context;
    struct mirror mirror;
    struct store_pg_problem problem;
    if (!mirror_open(&mirror, dsn, real->run, &problem)) {
        fprintf(stderr, "assay replay: %s\n", problem.text);
        return CLI_UNAVAILABLE;
    }
    real->result = mirror_run(&mirror, real->source);
    const struct lockstep *both = &mirror.both;
    real->differs = lockstep_differs(both);
    if (real->differs) {
        fprintf(stderr, "PostgreSQL does not follow: %s\n", both->difference);
    } else {
        fprintf(stderr,
                "PostgreSQL followed: %" PRIu64 " statements, %" PRIu64 " waits, %" PRIu64
                " commits, %" PRIu64 " final rows, all as in the simulation\n",
                both->statements, both->waits, both->commits, both->rows);
    }
    int status = both->failed ? CLI_UNAVAILABLE : CLI_OK;
    mirror_close(&mirror, dsn);
    return status;
}

static const struct run_result *run_for_real(void *context, struct run *run,
                                             struct choice_source *source, int *status)
{
    const struct request *request = context;
    struct real_run real = {.run = run, .source = source};
    const char *why = mirror_refuses(run->scenario);
    if (why != NULL) {
        *status =
            cli_usage_error(&cli_replay, "--real cannot follow %s: %s", run->scenario->name, why);
        return NULL;
    }
    *status =
        server_use(&(struct server_request){.verb = "replay", .dsn = request->dsn}, follow, &real);
    if (*status == CLI_OK && real.differs) {
        *status = CLI_BROKEN;
        return NULL;
    }
    return *status == CLI_OK ? real.result : NULL;
}

static int replay(const struct request *request, struct schedule *schedule)
{
    char title[SCENARIO_NAME_SIZE + 120], command[4200];
    struct schedule_fault fault;
    if (!schedule_load(request->file, request->edited, schedule, &fault)) {
        return cli_usage_error(&cli_replay, "%s", fault.text);
    }
    snprintf(title, sizeof title, "%s, replayed", schedule->scenario->name);
    snprintf(command, sizeof command, "assay replay %s%s", request->file,
             request->edited ? " --edited" : "");
    struct one_run one = {.verb = cli_replay.name,
                          .schedule = schedule,
                          .trace = request->trace || request->until != NULL,
                          .until = (uint32_t)request->until_step,
                          .json = request->json,
                          .title = title,
                          .reproduce = command,
                          .runs = request->real ? run_for_real : NULL,
                          .context = (void *)request};
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
