/* assay explore: every schedule within bounds. */
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/run_options.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "sim/story.h"
#include "verify/counts.h"
#include "verify/explore_table.h"
#include "verify/finding.h"
#include "verify/interrupt.h"
#include "verify/one_run.h"
#include "verify/search.h"
#include "verify/terminal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MIN (UINT64_C(1) << 20) /* with less, not even the first states fit */
#define MEMORY_MAX (UINT64_C(1) << 40)
#define FAULTS_MAX 50

struct request {
    const char *scenario, *level, *sabotage, *out;
    uint64_t crashes, duplicates, lapses, unknowns, aborts, workers, jobs, memory;
    struct cli_values without;
    bool no_reduction, shortest, every_sabotage, json, expect_finding;
    bool off[CLAUSE_COUNT]; /* what --without names */
    struct explore_plan plan;
    struct sabotage planted;
    struct scenario loaded;
    struct artefacts *results;
};

static const char *const levels[] = {"transaction", "statement", NULL};

static const struct option options[] = {
    {SCENARIO_ROW(struct request)},
    {NUMBER_ROW(struct request, crashes, "--crashes", 0, FAULTS_MAX), .usual = 1,
     .again = AGAIN_ALWAYS, .about = "workers that die between two transactions"},
    {NUMBER_ROW(struct request, duplicates, "--duplicates", 0, FAULTS_MAX), .usual = 1,
     .again = AGAIN_ALWAYS, .about = "messages that are there once more"},
    {NUMBER_ROW(struct request, lapses, "--lapses", 0, FAULTS_MAX),
     .about = "claims and leases that run out while their holder works"},
    {NUMBER_ROW(struct request, unknowns, "--unknowns", 0, FAULTS_MAX),
     .about = "commits whose answer is lost, whether they happened or not; none comes late: a "
              "campaign has that (commit-late)"},
    {NUMBER_ROW(struct request, aborts, "--aborts", 0, FAULTS_MAX),
     .about = "transactions that the store gives up, 40001"},
    {NUMBER_ROW(struct request, workers, "--workers", 1, SCENARIO_WORKERS_MAX),
     .usual_text = "the scenario's", .about = "workers"},
    {WORD_ROW(struct request, level, "--level", "LEVEL", levels), .usual_text = "transaction",
     .right = "transaction or statement is needed",
     .about = "transaction: each whole; statement: operations of different transactions "
              "interleave, which only small scopes allow"},
    {JOBS_ROW(struct request, EXPLORE_JOBS_MAX)},
    {.name = "--memory",
     .kind = OPTION_SIZE,
     .at = OPTION_AT(struct request, memory, uint64_t),
     .value = "SIZE",
     .least = MEMORY_MIN,
     .most = MEMORY_MAX,
     .usual = UINT64_C(2) << 30,
     .names = NAMES_OF_NOTHING,
     .again = AGAIN_NEVER,
     .about = "for all that grows with the states, such as 500M; when it is full, the answer is "
              "\"bounded\""},
    {FLAG_ROW(struct request, no_reduction, "--no-reduction"),
     .about = "tell workers, siblings, counters and orders of independent steps apart"},
    {SABOTAGE_ROW(struct request)},
    {WITHOUT_ROW(struct request, "CLAUSE", "")},
    {FLAG_ROW(struct request, shortest, "--shortest"),
     .about = "breadth first: the shortest schedule that breaks a promise"},
    {FLAG_ROW(struct request, every_sabotage, "--every-sabotage"),
     /* the table has bounds of its own, judges everything, and keeps nothing */
     .excludes = "--crashes --duplicates --lapses --unknowns --aborts --level --sabotage --out "
                 "--no-reduction --shortest --expect-finding --without",
     .about = "a table: the shortest schedule for each planted bug of the protocol, beside what "
              "the finding of a campaign shrinks to; bounds are its own"},
    {EXPECT_FINDING_ROW(struct request)},
    {JSON_ROW(struct request, ": one of type \"summary\"")},
    {OUT_ROW(struct request, "results, a finding and a report")},
};

/* ---- what is asked --------------------------------------------------------------------------- */

static int read_plan(struct request *request)
{
    struct explore_plan *plan = &request->plan;
    plan->walk.bounds = (struct walk_bounds){.crashes = (uint8_t)request->crashes,
                                             .duplicates = (uint8_t)request->duplicates,
                                             .lapses = (uint8_t)request->lapses,
                                             .unknowns = (uint8_t)request->unknowns,
                                             .aborts = (uint8_t)request->aborts};
    plan->jobs = request->jobs == 0 ? cli_cores(EXPLORE_JOBS_MAX) : (unsigned)request->jobs;
    plan->memory = (size_t)request->memory;
    plan->walk.reductions = request->no_reduction ? 0 : REDUCE_ALL;
    plan->walk.without = request->off;
    plan->walk.by_statement = request->level != NULL && strcmp(request->level, "statement") == 0;
    plan->walk.scenario = &request->loaded;
    plan->walk.sabotage = request->sabotage == NULL ? NULL : &request->planted;
    return one_run_without(&cli_explore, &request->without, request->off, NULL);
}

static int explore_load(struct request *request)
{
    struct error error;
    struct scenario *scenario = &request->loaded;
    int status = load_scenario(&cli_explore, request->scenario, scenario);
    if (status != CLI_OK) {
        return status;
    }
    if (request->workers != 0 && request->workers != scenario->workers &&
        !scenario_change(scenario, "workers", (uint32_t)request->workers, &error)) {
        return cli_usage_error(&cli_explore, "%s", error.text);
    }
    return load_sabotage(&cli_explore, request->sabotage, scenario, &request->planted);
}

/* ---- a finding ------------------------------------------------------------------------------- */

struct telling {
    struct walk walk;
    const struct explore_report *report;
    bool shortest; /* no path is shorter */
    struct walk_move passing[WALK_DEPTH_MAX];
    size_t passing_length;
};

static const struct run_result *play(void *context, struct run *run, bool passing)
{
    struct telling *telling = context;
    struct walk *walk = &telling->walk;
    const struct explore_report *report = telling->report;
    if (passing && !explore_nearest(walk, report->path, report->path_length, telling->passing,
                                    &telling->passing_length)) {
        return NULL;
    }
    const struct walk_move *path = passing ? telling->passing : report->path;
    size_t length = passing ? telling->passing_length : report->path_length;
    bool held = true;
    walk_begin(walk);
    for (size_t i = 0; held && i < length; i++) {
        held = walk_show(walk, path[i]);
    }
    if (held && !passing) {
        walk_settled(walk);
    }
    run->result.steps = walk->depth;
    return &run->result;
}

/* What shows the path; NULL: no memory. */
static struct telling *telling_new(const struct explore_plan *plan,
                                   const struct search_result *result)
{
    struct telling *telling = calloc(1, sizeof *telling);
    if (telling == NULL || !walk_make(&telling->walk, &plan->walk)) {
        free(telling);
        return NULL;
    }
    telling->report = &result->report;
    telling->shortest = result->shortest;
    return telling;
}

static void telling_free(struct telling *telling)
{
    walk_free(&telling->walk);
    free(telling);
}

static void write_story(FILE *out, enum format_kind format, const struct request *request,
                        struct telling *telling)
{
    char about[80];
    struct options_line again = options_again(&cli_explore, request);
    snprintf(about, sizeof about, "%zu steps%s", telling->report->path_length,
             telling->shortest ? ", and none is shorter" : "");
    struct story_style style = one_run_style(format);
    struct story story = {
        .reproduce = again.text, .about = about, .play = play, .context = telling};
    story_tell(out, &style, &telling->walk.run, &story);
}

/* The path, a line an event. */
static void write_trace(FILE *out, struct telling *telling)
{
    struct run *run = &telling->walk.run;
    struct trace trace = trace_begin(telling->walk.plan.scenario);
    run->observer = trace_observe;
    run->observer_context = &trace;
    play(telling, run, false);
    run->observer = NULL;
    for (size_t i = 0; i < trace.count; i++) {
        trace_write(out, &trace.records[i].line, "", "");
    }
    trace_free(&trace);
}

static void explore_put(struct artefacts *results, const char *finding, const char *file,
                        bool trace, const struct request *request, struct telling *telling)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return;
    }
    if (trace) {
        write_trace(out, telling);
    } else {
        write_story(out, FORMAT_TEXT, request, telling);
    }
    if (fclose(out) == 0) {
        artefacts_put_finding(results, finding, file, text, length);
    }
    free(text);
}

/* To people, and into findings/NAME/. There is no schedule.json: a search has no clock, so that its
 * path is no list of choices; the line `again` finds it again, always the same. */
static void explore_tell(const struct request *request, const struct search_result *result,
                         const char *name)
{
    struct telling *telling = telling_new(&request->plan, result);
    if (telling == NULL) {
        fputs("assay explore: not enough memory to tell the finding\n", stderr);
        return;
    }
    if (!request->json) {
        write_story(stdout, terminal_format(), request, telling);
        putchar('\n');
    }
    if (request->results->folder != NULL) {
        explore_put(request->results, name, "words.txt", false, request, telling);
        explore_put(request->results, name, "trace.txt", true, request, telling);
        artefacts_place_finding(request->results, name);
    }
    telling_free(telling);
}

/* The way to a state from which nothing can come to rest. */
static void tell_stuck(const struct request *request, const struct explore_report *report)
{
    struct explore_plan plan = request->plan;
    struct search_result found;
    plan.jobs = 1;
    plan.target = report->stuck;
    bool searched = request->shortest ? search_way(&plan, &found) : search(&plan, false, &found);
    struct telling *telling =
        searched && found.report.path != NULL ? telling_new(&plan, &found) : NULL;
    if (telling == NULL) {
        puts("the way to where nothing can come to rest was not found within --memory");
    } else {
        printf("from here nothing can come to rest%s:\n",
               found.shortest ? ", and no way to here is shorter" : "");
        write_trace(stdout, telling);
        telling_free(telling);
    }
    search_free(&found);
}

/* ---- what it says ---------------------------------------------------------------------------- */

static const char *verdict_text(enum explore_verdict verdict)
{
    static const char *const texts[EXPLORE_VERDICT_COUNT] = {
        [EXPLORE_HELD] = "complete: every promise held",
        [EXPLORE_BROKEN] = "a promise was broken",
        [EXPLORE_STUCK] = "from some state nothing can come to rest",
        [EXPLORE_BOUNDED] = "bounded"};
    return texts[verdict];
}

static void write_reductions(unsigned reductions)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{REDUCE_WORKERS, "workers"},
                 {REDUCE_SIBLINGS, "siblings"},
                 {REDUCE_COUNTERS, "counters"},
                 {REDUCE_ORDER, "order"}};
    printf("  reduced by  ");
    const char *separator = "";
    for (size_t i = 0; i < COUNT(names); i++) {
        if ((reductions & names[i].bit) != 0) {
            printf("%s%s", separator, names[i].name);
            separator = ", ";
        }
    }
    puts(reductions == 0 ? "nothing" : "");
}

static void explore_write_summary(const struct request *request, const struct search_result *result)
{
    const struct explore_report *report = &result->report;
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    const struct explore_ends *ends = explore_ends_as(report, REDUCE_ALL);
    printf("%s, %" PRIu32 " workers: %s%s%s\n", request->scenario, request->loaded.workers,
           verdict_text(report->verdict), report->why == NULL ? "" : ", ",
           report->why == NULL ? "" : report->why);
    printf(
        "  within      %u crashes, %u duplicates, %u lapses, %u lost answers, %u aborts, by %s\n",
        bounds->crashes, bounds->duplicates, bounds->lapses, bounds->unknowns, bounds->aborts,
        request->plan.walk.by_statement ? "statement" : "transaction");
    write_reductions(report->reductions);
    printf("  states      %" PRIu64 ", %" PRIu64 " transitions, longest path %u; %" PRIu64
           " at rest, with %s%" PRIu64 " different final rows\n",
           report->states, report->transitions, report->deepest, report->rests,
           ends->more ? "more than " : "", ends->count);
    printf("  memory      %.1f MB, %.1f bytes a state; chance that equal hashes hid a state %.1e\n",
           (double)report->bytes / 1e6, (double)report->bytes / (double)report->states,
           visited_collision((double)report->states));
    printf("  time        %.2f s, %u threads\n", result->seconds, result->jobs);
}

static void explore_write_json(const struct request *request, const struct search_result *result)
{
    const struct explore_report *report = &result->report;
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    const struct explore_ends *ends = explore_ends_as(report, REDUCE_ALL);
    json_t *summary = line_make(
        LINE_EXPLORE_SUMMARY, line_verb("explore"), line_scenario(request->scenario),
        line_complete(report->verdict == EXPLORE_HELD || report->verdict == EXPLORE_STUCK),
        line_states(report->states), line_transitions(report->transitions),
        line_rests(report->rests), line_ends(ends->count), line_end_digest(ends->sum),
        line_depth(report->deepest), line_bytes(report->bytes),
        line_bytes_per_state((double)report->bytes / (double)report->states),
        line_collision(visited_collision((double)report->states)), line_seconds(result->seconds),
        line_findings(report->verdict == EXPLORE_BROKEN || report->verdict == EXPLORE_STUCK),
        line_crashes(bounds->crashes), line_duplicates(bounds->duplicates),
        line_lapses(bounds->lapses), line_unknowns(bounds->unknowns), line_aborts(bounds->aborts),
        line_workers(request->loaded.workers), line_jobs(result->jobs), line_level(request->level),
        line_sabotage(request->sabotage), line_why(report->why));
    if (report->verdict == EXPLORE_BROKEN) {
        line_add(summary, line_clause(clause_get(report->result.breach.clause)->id),
                 line_steps(report->path_length));
    }
    if (ends->more) {
        line_add(summary, line_more_ends(true));
    }
    artefacts_line(request->results, summary);
}

static void write_finding(const struct request *request, const struct explore_report *report,
                          const char *name)
{
    const struct run_result *result = &report->result;
    artefacts_note(
        request->results,
        line_make(LINE_FINDING, line_name(name), line_scenario(request->loaded.name),
                  line_clause(clause_get(result->breach.clause)->id),
                  line_oracle(oracle_name_text(result->oracle)),
                  line_kind(scenario_breaks(&request->loaded, result->breach.clause) ? "expected"
                                                                                     : "new"),
                  line_why(result->breach.why), line_steps(report->path_length), line_runs(1),
                  line_sabotage(request->sabotage),
                  line_again(options_again(&cli_explore, request).text)));
}

/* What a report is made of: how often each promise was put to the test, and how it ended. */
static void write_evidence(const struct request *request, const struct explore_report *report)
{
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    bool broken = report->verdict == EXPLORE_BROKEN;
    json_t *line = line_make(
        LINE_EXPLORE, line_scenario(request->loaded.name),
        line_protocol(request->loaded.protocol->name), line_sabotage(request->sabotage),
        line_runs(1), line_steps(report->transitions), line_findings(broken),
        line_clause(broken ? clause_get(report->result.breach.clause)->id : NULL),
        line_complete(report->verdict == EXPLORE_HELD), line_crashes(bounds->crashes),
        line_duplicates(bounds->duplicates), line_evaluated(counts_evaluated(report->evaluated)),
        line_seen(counts_seen(report->seen)));
    counts_form(line, &request->loaded);
    line_add(line, line_verdict(verdict_text(report->verdict)));
    if (request->loaded.breaks) {
        line_add(line, line_breaks(clause_get(request->loaded.broken)->id));
    }
    artefacts_note(request->results, line);
}

/* ---- searching ------------------------------------------------------------------------------- */

/* The reduction without which a search that ended for this reason can be done; 0: none. */
static unsigned in_the_way(const char *why)
{
    return why == NULL                              ? 0
           : strcmp(why, EXPLORE_REACHES_OUT) == 0  ? REDUCE_ORDER
           : strcmp(why, EXPLORE_NEAR_CEILING) == 0 ? REDUCE_COUNTERS
                                                    : 0;
}

static bool search_once(const struct request *request, struct search_result *result)
{
    return request->shortest ? search_shortest(&request->plan, result)
                             : search(&request->plan, true, result);
}

/* By several threads, of which one may be the first today and another tomorrow. */
static bool may_differ(const struct search_result *result)
{
    return result->jobs > 1 &&
           (result->report.verdict == EXPLORE_BROKEN || result->report.verdict == EXPLORE_STUCK);
}

/* Some searches are done again: without a reduction that turned out not to apply; and by one thread
 * once something was found, so that it is always the same. */
static bool search_well(struct request *request, struct search_result *result)
{
    struct explore_plan *plan = &request->plan;
    bool searched = search_once(request, result);
    for (unsigned drop; searched && (drop = in_the_way(result->report.why)) != 0;) {
        search_free(result);
        plan->walk.reductions &= ~drop;
        searched = search_once(request, result);
    }
    if (searched && may_differ(result)) {
        search_free(result);
        plan->jobs = 1;
        searched = search_once(request, result);
    }
    plan->walk.reductions = searched ? result->report.reductions : plan->walk.reductions;
    return searched;
}

static int status_of(const struct request *request, enum explore_verdict verdict)
{
    static const int statuses[EXPLORE_VERDICT_COUNT] = {[EXPLORE_HELD] = CLI_OK,
                                                        [EXPLORE_BROKEN] = CLI_BROKEN,
                                                        [EXPLORE_STUCK] = CLI_NO_PROGRESS,
                                                        [EXPLORE_BOUNDED] = CLI_INCOMPLETE};
    if (request->expect_finding && verdict == EXPLORE_HELD) {
        return CLI_BROKEN;
    }
    return request->expect_finding && verdict == EXPLORE_BROKEN ? CLI_OK : statuses[verdict];
}

static int explore_it(struct request *request)
{
    struct search_result result;
    if (!search_well(request, &result)) {
        fputs("assay explore: not enough memory; try less --memory or fewer --jobs\n", stderr);
        return CLI_UNAVAILABLE;
    }
    enum explore_verdict verdict = result.report.verdict;
    write_evidence(request, &result.report);
    if (verdict == EXPLORE_BROKEN) {
        char name[FINDING_NAME_SIZE];
        finding_name(name, request->loaded.name, result.report.result.breach.clause,
                     oracle_name_text(result.report.result.oracle));
        write_finding(request, &result.report, name);
        explore_tell(request, &result, name);
    }
    explore_write_json(request, &result);
    if (!request->json) {
        if (verdict == EXPLORE_STUCK) {
            tell_stuck(request, &result.report);
        }
        explore_write_summary(request, &result);
    }
    search_free(&result);
    return status_of(request, verdict);
}

static int explore_verb(void *asked)
{
    struct request *request = asked;
    struct artefacts results;
    int status = read_plan(request);
    status = status == CLI_OK ? explore_load(request) : status;
    if (status != CLI_OK) {
        return status;
    }
    if (request->every_sabotage) {
        interrupt_watch();
        return explore_table(&request->loaded, request->plan.jobs, request->plan.memory,
                             request->json);
    }
    status = results_open(&results, &(struct results_plan){.verb = &cli_explore,
                                                           .folder = request->out,
                                                           .json = request->json,
                                                           .jobs = request->plan.jobs});
    request->results = &results;
    interrupt_watch();
    return status != CLI_OK ? status : results_close(&results, &cli_explore, explore_it(request));
}

const struct cli_verb cli_explore = {.name = "explore",
                                     .about = "every schedule of a small scenario within bounds",
                                     .options = options,
                                     .option_count = COUNT(options),
                                     .request_size = sizeof(struct request),
                                     .run = explore_verb};
