/* assay compare: which faults break which of two designs. The later ledger and the earlier one run
 * the same small tree with one group of faults at a time, and nothing else. */
#include "cli/options.h"
#include "model/check.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "sim/shrink.h"
#include "verify/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TREE                                                                                       \
    "workers: 2\ntimeout: 500\ngraph: {trigger: [left, right]}\npending: {trigger: [[early]]}\n"

/* A design, and what its scenario says besides the faults. */
struct design {
    const char *protocol;
    const char *title; /* of its column */
    const char *text;
    const char *spared; /* ... where nobody is to die; NULL: it needs no such line */
};

static const struct design designs[] = {
    {"activity", "activity ledger", "hop: none\ncommits: literal\n", NULL},
    {"legacy", "earlier ledger", "", "leg2-is-spared: [crash]\n"},
};
#define DESIGNS COUNT(designs)

/* What is allowed, a row each. */
static const enum fault_group rows[] = {
    FAULT_GROUP_NONE,  FAULT_GROUP_CRASH,     FAULT_GROUP_UNKNOWN,
    FAULT_GROUP_ABORT, FAULT_GROUP_DUPLICATE, FAULT_GROUP_PAUSE,
    FAULT_GROUP_DELAY, FAULT_GROUP_SERVER,    FAULT_GROUP_CLOCK};
#define ROWS COUNT(rows)

struct cell {
    uint64_t runs; /* until it broke, or all of them */
    bool broken;
    enum clause_id clause;
    uint64_t seed;
    uint32_t steps; /* of the shrunk schedule */
};

struct request {
    const char *out;
    uint64_t seeds;
    bool json;
};

static const struct option options[] = {
    {NUMBER_ROW(struct request, seeds, "--seeds", 1, 10000000), .usual = 2000,
     .about = "schedules of each cell"},
    {TEXT_ROW(struct request, out, "--out", "DIR"), .again = AGAIN_NEVER,
     .about = "write the shrunk schedule of every broken cell there, for assay replay"},
    {JSON_ROW(struct request, ": one of type \"cell\" for each, and a summary")},
};

static const char *compare_row_name(enum fault_group group)
{
    return group == FAULT_GROUP_NONE ? "none" : fault_group_get(group)->name;
}

/* ---- one cell -------------------------------------------------------------------------------- */

static void compare_load(const struct design *design, enum fault_group group,
                         struct scenario *scenario)
{
    char text[600];
    struct error error;
    const char *protocol = design->protocol;
    bool spared = design->spared != NULL && group != FAULT_GROUP_CRASH;
    int size =
        snprintf(text, sizeof text, "name: %s-%s\nprotocol: %s\n" TREE "%s%s", protocol,
                 compare_row_name(group), protocol, design->text, spared ? design->spared : "");
    if (group != FAULT_GROUP_NONE) {
        size += snprintf(text + size, sizeof text - (size_t)size, "faults: {%s: 1/10}\n",
                         compare_row_name(group));
    }
    bool loaded = scenario_parse(text, (size_t)size, "compare", scenario, &error);
    CHECK(loaded);
}

/* The first seed that breaks a promise. */
static bool hunt(struct run *run, uint64_t seeds, struct cell *cell)
{
    while (!cell->broken && cell->runs < seeds) {
        uint64_t seed = ++cell->runs;
        struct choice_source source = choice_random(seed, &run->scenario->faults);
        const struct run_result *result = run_once(run, &source);
        cell->broken = result->verdict == RUN_BROKEN;
        cell->clause = result->breach.clause;
        cell->seed = seed;
    }
    return cell->broken;
}

static bool compare_keep(const char *folder, const struct schedule *schedule)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s.json", folder, schedule->scenario->name);
    char *text = schedule_text(schedule);
    FILE *file = text == NULL ? NULL : fopen(path, "wx");
    bool written = file != NULL && fputs(text, file) >= 0;
    written = (file == NULL || fclose(file) == 0) && written;
    free(text);
    if (!written) {
        fprintf(stderr, "assay compare: %s could not be written, or is there already\n", path);
    }
    return written;
}

/* False: it has been said why. */
static bool shrink_cell(const struct request *request, struct schedule *schedule, struct cell *cell)
{
    struct shrink_report report;
    if (!shrink_record(schedule, cell->seed, NULL) || !shrink(schedule, NULL, NULL, &report)) {
        return cli_no_memory(&cli_compare) == CLI_OK;
    }
    cell->steps = report.steps_after;
    return request->out == NULL || compare_keep(request->out, schedule);
}

static bool fill(const struct request *request, const struct design *design, enum fault_group group,
                 struct cell *cell)
{
    struct schedule schedule;
    struct run *run = calloc(1, sizeof *run);
    *cell = (struct cell){.broken = false};
    if (run == NULL || !schedule_make(&schedule)) {
        free(run);
        return cli_no_memory(&cli_compare) == CLI_OK;
    }
    compare_load(design, group, schedule.scenario);
    bool made = run_make(run, schedule.scenario, NULL);
    bool fine = made && (!hunt(run, request->seeds, cell) || shrink_cell(request, &schedule, cell));
    if (made) {
        run_free(run);
    }
    free(run);
    schedule_free(&schedule);
    return fine;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void compare_write_json(enum fault_group group, const struct design *design,
                               const struct cell *cell)
{
    json_line_write(stdout,
                    line_make(LINE_CELL, line_fault(compare_row_name(group)),
                              line_protocol(design->protocol), line_holds(!cell->broken),
                              line_runs(cell->runs),
                              line_clause(cell->broken ? clause_get(cell->clause)->id : NULL),
                              line_seed(cell->seed), line_steps(cell->steps)));
}

/* "holds", "LEG-6 in 17 steps" */
static void compare_write_cell(enum format_kind format, const struct cell *cell, bool last)
{
    char text[40] = "holds";
    if (cell->broken) {
        snprintf(text, sizeof text, "%s in %" PRIu32 " steps", clause_get(cell->clause)->id,
                 cell->steps);
    }
    printf("%s%-*s%s", cell->broken ? format_alarm(format) : "", last ? 0 : 22, text,
           cell->broken ? format_plain(format) : "");
}

static void compare_write_row(enum format_kind format, enum fault_group group,
                              const struct cell *cells)
{
    printf("%-11s", compare_row_name(group));
    for (size_t d = 0; d < DESIGNS; d++) {
        compare_write_cell(format, &cells[d], d + 1 == DESIGNS);
    }
    putchar('\n');
}

static void write_head(enum format_kind format)
{
    printf("%s%-11s%-22s%s%s\n", format_strong(format), "fault", designs[0].title, designs[1].title,
           format_plain(format));
}

/* The promises that are named in the table. */
static void write_promises(const bool named[CLAUSE_COUNT])
{
    putchar('\n');
    for (int id = 0; id < CLAUSE_COUNT; id++) {
        if (named[id]) {
            const struct clause *clause = clause_get((enum clause_id)id);
            format_wrapped(stdout, clause->promise, printf("%-8s", clause->id));
        }
    }
}

static void compare_write_summary(const struct request *request, const size_t broken[DESIGNS])
{
    if (request->json) {
        json_line_write(stdout, line_make(LINE_COMPARE_SUMMARY, line_seeds(request->seeds),
                                          line_fault_rows(ROWS), line_activity(broken[0]),
                                          line_legacy(broken[1])));
        return;
    }
    printf("\n%" PRIu64 " schedules of each: of %zu rows the activity ledger breaks in %zu, the "
           "earlier one in %zu\n",
           request->seeds, ROWS, broken[0], broken[1]);
}

static int compare_compare(const struct request *request)
{
    enum format_kind format = request->json ? FORMAT_JSON : terminal_format();
    bool named[CLAUSE_COUNT] = {false};
    size_t broken[DESIGNS] = {0};
    if (!request->json) {
        write_head(format);
    }
    for (size_t r = 0; r < ROWS; r++) {
        struct cell cells[DESIGNS];
        for (size_t d = 0; d < DESIGNS; d++) {
            if (!fill(request, &designs[d], rows[r], &cells[d])) {
                return CLI_UNAVAILABLE;
            }
            broken[d] += cells[d].broken;
            if (cells[d].broken) {
                named[cells[d].clause] = true;
            }
            if (request->json) {
                compare_write_json(rows[r], &designs[d], &cells[d]);
            }
        }
        if (!request->json) {
            compare_write_row(format, rows[r], cells);
        }
    }
    if (!request->json) {
        write_promises(named);
    }
    compare_write_summary(request, broken);
    return broken[0] == 0 ? CLI_OK : CLI_BROKEN;
}

static int compare_verb(void *asked)
{
    const struct request *request = asked;
    if (request->out != NULL && mkdir(request->out, 0777) != 0 && errno != EEXIST) {
        return cli_usage_error(&cli_compare, "--out %s: it cannot be made: %s",
                               cli_quote(request->out).text, strerror(errno));
    }
    return compare_compare(request);
}

const struct cli_verb cli_compare = {
    .name = "compare",
    .about = "which faults break the activity ledger, and which the earlier one",
    .options = options,
    .option_count = COUNT(options),
    .request_size = sizeof(struct request),
    .run = compare_verb};
