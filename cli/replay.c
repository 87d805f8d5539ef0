/* assay replay: the same run again. */
#include "cli/replay.h"

#include "cli/load.h"
#include "cli/options.h"
#include "cli/server.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "verify/mirror.h"
#include "verify/one_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option options[] = {
    {ARGUMENT_ROW(struct replay_request, file, "FILE"),
     .about = "a schedule, or the folder of a finding, such as "
              "results/findings/tree-3-ACL-16-ledger"},
    {FLAG_ROW(struct replay_request, trace, "--trace"), .again = AGAIN_NEVER,
     .about = "one line an event"},
    {COUNTED_ROW(struct replay_request, until, "--until", "STEP", 1, UINT32_MAX),
     .again = AGAIN_NEVER, .right = "it is the number of a step, from 1",
     .about = "trace up to this step and show every ledger as it then stands"},
    {FLAG_ROW(struct replay_request, real, "--real"), .again = AGAIN_NEVER,
     .about = "in lockstep on PostgreSQL: every statement, value, wait, SQLSTATE and row is "
              "compared"},
    {DSN_ROW(struct replay_request, "Assay makes a schema there, named by chance, and drops it")},
    {FLAG_ROW(struct replay_request, edited, "--edited"),
     .about = "the file was edited by hand, which is fine"},
    {EXPECT_FINDING_ROW(struct replay_request)},
    {JSON_ROW(struct replay_request,
              ": one of type \"run\", with --trace one of type \"event\" each, with --real one of "
              "type \"runs\", which says whether PostgreSQL differs")},
};

/* A file, or the folder of a finding: then its shrunk schedule, or the one that was found. */
static const char *choose_file(const char *path, char *chosen, size_t size)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return path;
    }
    snprintf(chosen, size, "%s/shrunk.json", path);
    if (access(chosen, F_OK) != 0) {
        snprintf(chosen, size, "%s/schedule.json", path);
    }
    return chosen;
}

/* Whether the run did what its file says; says so if it did not. */
static void replay_compare(const struct schedule *schedule, const struct run_result *result)
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
    bool json, differs;
};

/* What PostgreSQL did, beside the run; of a difference what it is. */
static void tell_followed(const struct real_run *real, const struct lockstep *lockstep)
{
    if (real->json) {
        json_line_write(stdout,
                        line_make(LINE_RUNS, line_runs(1), line_statements(lockstep->statements),
                                  line_waits(lockstep->waits), line_deadlocks(lockstep->deadlocks),
                                  line_commits(lockstep->commits), line_rows(lockstep->rows),
                                  line_differs(real->differs)));
    }
    if (real->differs) {
        fprintf(stderr, "PostgreSQL does not follow: %s\n", lockstep->difference);
    } else {
        fprintf(stderr,
                "PostgreSQL followed: %" PRIu64 " statements, %" PRIu64 " waits, %" PRIu64
                " commits, %" PRIu64 " final rows, all as in the simulation\n",
                lockstep->statements, lockstep->waits, lockstep->commits, lockstep->rows);
    }
}

static int replay_follow(void *context, const char *dsn)
{
    struct real_run *real = context;
    struct mirror mirror;
    struct error error;
    if (!mirror_open(&mirror, dsn, real->run, &error)) {
        fprintf(stderr, "assay replay: %s\n", error.text);
        return CLI_UNAVAILABLE;
    }
    real->result = mirror_run(&mirror, real->source);
    const struct lockstep *lockstep = &mirror.lockstep;
    real->differs = lockstep_differs(lockstep);
    tell_followed(real, lockstep);
    int status = lockstep->failed ? CLI_UNAVAILABLE : CLI_OK;
    mirror_close(&mirror, dsn);
    return status;
}

static const struct run_result *run_for_real(void *context, struct run *run,
                                             struct choice_source *source, int *status)
{
    const struct replay_request *request = context;
    struct real_run real = {.run = run, .source = source, .json = request->json};
    const char *why = mirror_refuses(run->scenario);
    if (why != NULL) {
        *status =
            cli_usage_error(&cli_replay, "--real cannot follow %s: %s", run->scenario->name, why);
        return NULL;
    }
    *status = server_use(&(struct server_request){.verb = "replay", .dsn = request->dsn},
                         replay_follow, &real);
    if (*status == CLI_OK && real.differs) {
        *status = CLI_BROKEN;
        return NULL;
    }
    return *status == CLI_OK ? real.result : NULL;
}

static int replay_loaded(struct replay_request *request, struct schedule *schedule)
{
    char title[SCENARIO_NAME_SIZE + 120];
    snprintf(title, sizeof title, "%s, replayed", schedule->scenario->name);
    struct options_line again = options_again(&cli_replay, request);
    struct one_run one = {.verb = cli_replay.name,
                          .schedule = schedule,
                          .trace = request->trace || request->until != 0,
                          .until = (uint32_t)request->until,
                          .json = request->json,
                          .title = title,
                          .reproduce = again.text,
                          .runs = request->real ? run_for_real : NULL,
                          .context = request};
    int status = CLI_OK;
    if (!one_run(&one, &status)) {
        return status;
    }
    if (!request->json) {
        replay_compare(schedule, &one.result);
    }
    return one_run_status(one.result.verdict, request->expect_finding);
}

static int replay(void *asked, struct schedule *schedule)
{
    struct replay_request *request = asked;
    char chosen[4096];
    request->file = choose_file(request->file, chosen, sizeof chosen);
    int status = load_schedule(&cli_replay, request->file, request->edited, schedule);
    return status == CLI_OK ? replay_loaded(request, schedule) : status;
}

static int replay_verb(void *asked)
{
    const struct replay_request *request = asked;
    int status = server_check_dsn(&cli_replay, request->dsn);
    return status == CLI_OK ? load_with_schedule(&cli_replay, asked, replay) : status;
}

const struct cli_verb cli_replay = {.name = "replay",
                                    .about = "the same run again, step by step",
                                    .options = options,
                                    .option_count = COUNT(options),
                                    .request_size = sizeof(struct replay_request),
                                    .run = replay_verb};
