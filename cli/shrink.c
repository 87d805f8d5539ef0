/* assay shrink: a smaller schedule that breaks the same promise. */
#include "sim/shrink.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/replay.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "verify/one_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *file, *to;
    bool edited, json;
};

static const struct option options[] = {
    {ARGUMENT_ROW(struct request, file, "FILE"), .about = "a schedule that breaks a promise"},
    {TEXT_ROW(struct request, to, "--to", "FILE"),
     .usual_text = "FILE with .shrunk.json at its end",
     .about = "where the smaller schedule goes; a file that is there is not written over"},
    {FLAG_ROW(struct request, edited, "--edited"),
     .about = "the schedule was edited by hand, which is fine"},
    {JSON_ROW(struct request, ": one of type \"shrink\"")},
};

/* FILE with .shrunk.json at its end. False: the name is too long. */
static bool name_usual(const char *file, char *name, size_t size)
{
    size_t length = strlen(file);
    bool json = length > 5 && strcmp(file + length - 5, ".json") == 0;
    int used = snprintf(name, size, "%.*s.shrunk.json", (int)(json ? length - 5 : length), file);
    return used > 0 && (size_t)used < size;
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

static void shrink_write_json(const struct request *request, const struct schedule *schedule,
                              const struct shrink_report *report)
{
    json_line_write(
        stdout,
        line_make(LINE_SHRINK, line_to(request->to), line_clause(clause_get(schedule->broken)->id),
                  line_steps_before(report->steps_before), line_steps(report->steps_after),
                  line_choices_before(report->choices_before), line_choices(report->choices_after),
                  line_tried(report->tried)));
}

static void shrink_tell(const struct request *request, struct schedule *schedule,
                        const struct shrink_report *report)
{
    int status;
    struct options_line again =
        options_again(&cli_replay, &(struct replay_request){.file = request->to});
    struct one_run one = {.verb = cli_shrink.name,
                          .schedule = schedule,
                          .title = schedule->scenario->name,
                          .reproduce = again.text};
    one_run(&one, &status);
    printf("shrunk from %" PRIu32 " steps and %zu choices to %" PRIu32 " and %zu in %" PRIu32
           " runs; written to %s\n",
           report->steps_before, report->choices_before, report->steps_after, report->choices_after,
           report->tried, request->to);
}

static int shrink_loaded(const struct request *request, struct schedule *schedule)
{
    struct shrink_report report;
    if (!learn_clause(schedule)) {
        fprintf(stderr, "assay shrink: %s breaks no promise; there is nothing to shrink\n",
                request->file);
        return CLI_INCOMPLETE;
    }
    if (!shrink(schedule, NULL, NULL, &report)) {
        return cli_no_memory(&cli_shrink);
    }
    int status = write_schedule(request, schedule);
    if (status == CLI_OK && request->json) {
        shrink_write_json(request, schedule, &report);
    } else if (status == CLI_OK) {
        shrink_tell(request, schedule, &report);
    }
    return status;
}

static int shrink_asked(void *asked, struct schedule *schedule)
{
    struct request *request = asked;
    char usual[600];
    if (request->to == NULL && !name_usual(request->file, usual, sizeof usual)) {
        return cli_usage_error(&cli_shrink, "the name is too long; give --to FILE");
    }
    request->to = request->to == NULL ? usual : request->to;
    int status = load_schedule(&cli_shrink, request->file, request->edited, schedule);
    return status == CLI_OK ? shrink_loaded(request, schedule) : status;
}

static int shrink_verb(void *request)
{
    return load_with_schedule(&cli_shrink, request, shrink_asked);
}

const struct cli_verb cli_shrink = {.name = "shrink",
                                    .about = "a smaller schedule with the same broken promise",
                                    .options = options,
                                    .option_count = COUNT(options),
                                    .request_size = sizeof(struct request),
                                    .run = shrink_verb};
