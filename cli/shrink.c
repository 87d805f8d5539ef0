/* assay shrink: a smaller schedule that breaks the same promise. */
#include "sim/shrink.h"
#include "cli/cli.h"
#include "reports/json_line.h"
#include "verify/one_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay shrink FILE [--to FILE] [--edited] [--json]\n"
    "\n"
    "Takes a schedule that breaks a promise and looks for a smaller one that breaks the same:\n"
    "fewer activities, jobs, workers, faults and choices.\n"
    "\n"
    "  --to FILE  where the smaller schedule goes (default: FILE with .shrunk.json at its end);\n"
    "             a file that is there is not written over\n"
    "  --edited   the schedule was edited by hand, which is fine\n"
    "  --json     JSON lines: one of type \"shrink\"\n"
    "\n"
    "Exit status: 0 it was shrunk; 4 it breaks no promise.\n"
    "\n"
    "example: assay shrink finding.json --to smaller.json\n";

struct request {
    const char *file, *to;
    char usual_to[600];
    bool edited, json;
};

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    const struct cli_option options[] = {{"--to", &request->to, NULL},
                                         {"--edited", NULL, &request->edited},
                                         {"--json", NULL, &request->json}};
    int status =
        cli_parse(&cli_shrink, argc, argv, options, sizeof options / sizeof *options, &arguments);
    if (status != CLI_OK) {
        return status;
    }
    if (arguments.count != 1) {
        return cli_usage_error(&cli_shrink, "one FILE is needed, %d were given", arguments.count);
    }
    request->file = arguments.positional[0];
    if (request->to == NULL) {
        size_t length = strlen(request->file);
        size_t stem =
            length > 5 && strcmp(request->file + length - 5, ".json") == 0 ? length - 5 : length;
        if (stem > sizeof request->usual_to - 16) {
            return cli_usage_error(&cli_shrink, "the name is too long; give --to FILE");
        }
        snprintf(request->usual_to, sizeof request->usual_to, "%.*s.shrunk.json", (int)stem,
                 request->file);
        request->to = request->usual_to;
    }
    return CLI_OK;
}

/* A schedule that does not say what it breaks is run to find out. */
static bool learn_clause(struct schedule *schedule)
{
    struct run *run = calloc(1, sizeof *run);
    bool made = run != NULL &&
                run_make(run, schedule->scenario, schedule->sabotaged ? &schedule->sabotage : NULL);
    if (made) {
        struct choice_source source = choice_listed(&schedule->choices);
        const struct run_result *result = run_once(run, &source);
        schedule->breaks = result->verdict == RUN_BROKEN;
        schedule->broken = result->breach.clause;
        run_free(run);
    }
    free(run);
    return made && schedule->breaks;
}

static int write_schedule(const struct request *request, const struct schedule *schedule)
{
    FILE *file = fopen(request->to, "wx");
    if (file == NULL) {
        return cli_usage_error(&cli_shrink,
                               "%s cannot be made, or is there already; give another one with --to",
                               request->to);
    }
    char *text = schedule_text(schedule);
    bool written = text != NULL && fputs(text, file) >= 0;
    free(text);
    if (fclose(file) != 0 || !written) {
        fprintf(stderr, "assay shrink: %s could not be written\n", request->to);
        return CLI_UNAVAILABLE;
    }
    return CLI_OK;
}

static void write_json(const struct request *request, const struct schedule *schedule,
                       const struct shrink_report *report)
{
    json_line_write(stdout, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "type", "shrink",
                                      "to", request->to, "clause", clause_get(schedule->broken)->id,
                                      "steps_before", (json_int_t)report->steps_before, "steps",
                                      (json_int_t)report->steps_after, "choices_before",
                                      (json_int_t)report->choices_before, "choices",
                                      (json_int_t)report->choices_after, "tried",
                                      (json_int_t)report->tried));
}

static void tell(const struct request *request, struct schedule *schedule,
                 const struct shrink_report *report)
{
    char command[700];
    int status;
    snprintf(command, sizeof command, "assay replay %s", request->to);
    struct one_run one = {.verb = cli_shrink.name,
                          .schedule = schedule,
                          .title = schedule->scenario->name,
                          .reproduce = command};
    one_run(&one, &status);
    printf("shrunk from %" PRIu32 " steps and %zu choices to %" PRIu32 " and %zu in %" PRIu32
           " runs; written to %s\n",
           report->steps_before, report->choices_before, report->steps_after, report->choices_after,
           report->tried, request->to);
}

static int shrink_it(const struct request *request, struct schedule *schedule)
{
    struct schedule_fault fault;
    struct shrink_report report;
    if (!schedule_load(request->file, request->edited, schedule, &fault)) {
        return cli_usage_error(&cli_shrink, "%s", fault.text);
    }
    if (!learn_clause(schedule)) {
        fprintf(stderr, "assay shrink: %s breaks no promise; there is nothing to shrink\n",
                request->file);
        return CLI_INCOMPLETE;
    }
    if (!shrink(schedule, NULL, NULL, &report)) {
        fputs("assay shrink: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    int status = write_schedule(request, schedule);
    if (status == CLI_OK && request->json) {
        write_json(request, schedule, &report);
    } else if (status == CLI_OK) {
        tell(request, schedule, &report);
    }
    return status;
}

static int run_verb(int argc, char **argv)
{
    struct request request = {0};
    struct schedule schedule;
    int status = read_request(argc, argv, &request);
    if (status != CLI_OK) {
        return status;
    }
    if (!schedule_make(&schedule)) {
        fputs("assay shrink: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    status = shrink_it(&request, &schedule);
    schedule_free(&schedule);
    return status;
}

const struct cli_verb cli_shrink = {.name = "shrink",
                                    .about = "a smaller schedule with the same broken promise",
                                    .help = help,
                                    .run = run_verb};
