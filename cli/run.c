/* assay run: one run, with its verdict. */
#include "cli/cli.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "verify/one_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay run SCENARIO --seed N [--trace] [--sabotage NAME] [--without NAME]...\n"
    "                 [--strategy S] [--schedule FILE] [--expect-finding] [--json]\n"
    "                 [--out DIR]\n"
    "\n"
    "Runs a scenario once, with the schedule and the faults that the seed draws, and judges every\n"
    "commit. A promise that breaks is told with a smaller schedule that breaks it too.\n"
    "\n"
    "  SCENARIO          a name (assay list scenarios), or the path of a .yaml file\n"
    "  --seed N          0 to 18446744073709551615; the same N is the same run on every machine\n"
    "  --trace           one line an event\n"
    "  --sabotage NAME   plants this bug first (assay list sabotages)\n"
    "  --without NAME    does not judge this promise (ACL-21), or silences an oracle (ledger,\n"
    "                    semaphore, data); may be given several times\n"
    "  --strategy S      how the seed draws who runs when: random, or pct (see assay campaign\n"
    "                    --help)\n"
    "  --schedule FILE   writes what was chosen, for assay replay; FILE must not exist\n"
    "  --expect-finding  a broken promise is status 0, none is status 1\n"
    "  --json            JSON lines: one of type \"run\", with --trace one of type \"event\" each\n"
    "  --out DIR         keep the results, the finding and a report there; DIR must be empty or "
    "new\n"
    "\n"
    "Exit status: 0 every promise held; 1 a promise was broken; 4 the simulated store was full.\n"
    "\n"
    "example: assay run tree-3 --seed 7 --trace\n";

struct request {
    const char *scenario, *seed, *sabotage, *strategy, *file, *out;
    bool trace, json, expect_finding;
    struct cli_values without;
};

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    int status = cli_take_values(&cli_run, &argc, argv, "--without", &request->without);
    const struct cli_option options[] = {{"--seed", &request->seed, NULL},
                                         {"--sabotage", &request->sabotage, NULL},
                                         {"--strategy", &request->strategy, NULL},
                                         {"--schedule", &request->file, NULL},
                                         {"--out", &request->out, NULL},
                                         {"--trace", NULL, &request->trace},
                                         {"--json", NULL, &request->json},
                                         {"--expect-finding", NULL, &request->expect_finding}};
    if (status == CLI_OK) {
        status =
            cli_parse(&cli_run, argc, argv, options, sizeof options / sizeof *options, &arguments);
    }
    if (status != CLI_OK) {
        return status;
    }
    if (arguments.count != 1) {
        return cli_usage_error(&cli_run, "one SCENARIO is needed, %d were given", arguments.count);
    }
    if (request->seed == NULL) {
        return cli_usage_error(&cli_run, "--seed N is needed; any number will do, such as 1");
    }
    request->scenario = arguments.positional[0];
    return CLI_OK;
}

/* What the request names, into a schedule without choices. */
static int prepare(const struct request *request, struct schedule *schedule)
{
    struct scenario_fault fault;
    if (!cli_read_number(request->seed, &schedule->seed) || schedule->seed > INT64_MAX) {
        return cli_usage_error(&cli_run, "--seed %s: it is a number from 0 to 9223372036854775807",
                               cli_quote(request->seed).text);
    }
    if (!scenario_load(request->scenario, schedule->scenario, &fault)) {
        return cli_usage_error(&cli_run, "%s", fault.text);
    }
    int status = one_run_strategy(&cli_run, request->strategy, &schedule->strategy);
    if (status != CLI_OK) {
        return status;
    }
    if (request->sabotage != NULL) {
        schedule->sabotaged = true;
        if (!sabotage_find(request->sabotage, &schedule->sabotage)) {
            return cli_usage_error(&cli_run,
                                   "there is no sabotage '%s'; assay list sabotages shows them",
                                   cli_quote(request->sabotage).text);
        }
        return one_run_check_sabotage(&cli_run, &schedule->sabotage, schedule->scenario);
    }
    return CLI_OK;
}

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
        fprintf(stderr, "assay run: %s could not be written in full\n", cli_quote(path).text);
        return CLI_UNAVAILABLE;
    }
    return CLI_OK;
}

/* The command that does it again. */
static void spell_command(const struct request *request, const struct schedule *schedule, char *out,
                          size_t size)
{
    int used = snprintf(out, size, "assay run %s --seed %llu%s", request->scenario,
                        (unsigned long long)schedule->seed,
                        one_run_strategy_flag(&schedule->strategy).text);
    if (request->sabotage != NULL) {
        used += snprintf(out + used, size - (size_t)used, " --sabotage %s", request->sabotage);
    }
    for (int i = 0; i < request->without.count && (size_t)used < size; i++) {
        used +=
            snprintf(out + used, size - (size_t)used, " --without %s", request->without.values[i]);
    }
}

static int run_request(const struct request *request, struct schedule *schedule)
{
    char title[SCENARIO_NAME_SIZE + 160], command[600], strategy[CHOICE_STRATEGY_SIZE];
    FILE *file = NULL;
    choice_strategy_text(&schedule->strategy, strategy);
    bool random = schedule->strategy.depth == 0;
    snprintf(title, sizeof title, "%s, seed %llu%s%s%s%s", schedule->scenario->name,
             (unsigned long long)schedule->seed, random ? "" : ", strategy ",
             random ? "" : strategy, request->sabotage == NULL ? "" : ", sabotage ",
             request->sabotage == NULL ? "" : request->sabotage);
    spell_command(request, schedule, command, sizeof command);
    struct one_run one = {.verb = cli_run.name,
                          .schedule = schedule,
                          .drawn = true,
                          .trace = request->trace,
                          .json = request->json,
                          .shrinks = true,
                          .title = title,
                          .reproduce = command};
    int status = one_run_without(&cli_run, &request->without, one.without, one.silent);
    if (status == CLI_OK) {
        status = open_new(request->file, &file);
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
            remove(request->file);
        }
        return status;
    }
    one.results = &results;
    if (one_run(&one, &status) && file != NULL) {
        status = write_schedule(file, request->file, schedule);
    }
    if (status == CLI_OK) {
        status = one_run_status(one.result.verdict, request->expect_finding);
    }
    return results_close(&results, &cli_run, status);
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
        fputs("assay run: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    status = prepare(&request, &schedule);
    if (status == CLI_OK) {
        status = run_request(&request, &schedule);
    }
    schedule_free(&schedule);
    return status;
}

const struct cli_verb cli_run = {
    .name = "run", .about = "one run, with its verdict", .help = help, .run = run};
