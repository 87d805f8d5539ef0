/* assay explore: every schedule within bounds. */
#include "cli/explore_table.h"
#include "cli/finding.h"
#include "cli/interrupt.h"
#include "cli/one_run.h"
#include "cli/results.h"
#include "cli/search.h"
#include "reports/json_line.h"
#include "sim/bench/spin/peer.h"
#include "sim/story.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MIN (UINT64_C(1) << 20) /* with less, not even the first states fit */

static const char help[] =
    "usage: assay explore SCENARIO [--crashes N] [--duplicates N] [--lapses N] [--unknowns N]\n"
    "                     [--aborts N] [--workers N] [--level transaction|statement] [--jobs J]\n"
    "                     [--memory SIZE] [--no-reduction] [--shortest] [--sabotage NAME]\n"
    "                     [--without CLAUSE] [--every-sabotage] [--expect-finding] [--json]\n"
    "                     [--out DIR]\n"
    "\n"
    "Visits every state that a small scenario can reach while no more goes wrong than the bounds\n"
    "allow, with all oracles on, and says \"complete\" only if it did. There is no clock: a claim\n"
    "runs out when the search says so.\n"
    "\n"
    "  --crashes N       workers that die between two transactions (default 1)\n"
    "  --duplicates N    messages that are there once more (default 1)\n"
    "  --lapses N        claims and leases that run out while their holder works (default 0)\n"
    "  --unknowns N      commits whose answer is lost, whether they happened or not (default 0);\n"
    "                    none comes late: a campaign has that (commit-late)\n"
    "  --aborts N        transactions that the store gives up, 40001 (default 0)\n"
    "  --workers N       instead of the scenario's\n"
    "  --level LEVEL     transaction: each whole, the default; statement: operations of different\n"
    "                    transactions interleave, which only small scopes allow\n"
    "  --jobs J          threads (default: one a core)\n"
    "  --memory SIZE     for all that grows with the states, such as 500M or 8G (default 2G);\n"
    "                    when it is full, the answer is \"bounded\"\n"
    "  --no-reduction    tells workers, siblings, counters and orders of independent steps apart\n"
    "  --shortest        breadth first: the shortest schedule that breaks a promise\n"
    "  --sabotage NAME   plants a bug (assay list sabotages)\n"
    "  --every-sabotage  a table: the shortest schedule for each planted bug of the protocol,\n"
    "                    beside what the finding of a campaign shrinks to; bounds are its own\n"
    "  --without CLAUSE  is not judged; may be given several times\n"
    "  --expect-finding  a broken promise is status 0, none is status 1\n"
    "  --json            JSON lines: one of type \"summary\"\n"
    "  --out DIR         keep results, a finding and a report there; DIR must be empty or new\n"
    "\n"
    "Exit status: 0 complete, and every promise held; 1 a promise was broken; 2 from some state\n"
    "nothing can come to rest; 4 bounded.\n"
    "\n"
    "example: assay explore peer-5 --crashes 3 --duplicates 1\n"
    "         assay explore peer-3 --sabotage trust-stale-read --shortest\n";

struct request {
    const char *scenario, *crashes, *duplicates, *lapses, *unknowns, *aborts, *workers, *level,
        *jobs, *memory, *sabotage, *out;
    bool no_reduction, shortest, every_sabotage, json, expect_finding;
    bool without[CLAUSE_COUNT];
    struct explore_plan plan;
    struct sabotage planted;
    struct scenario *loaded;
    struct artefacts *results;
    size_t as_spin; /* steps until the SPIN model's assertions fail; 0: not asked, or they do not */
};

/* ---- what is asked --------------------------------------------------------------------------- */

/* "500M", "8G", "1000000": bytes. */
static bool read_size(const char *text, size_t *size)
{
    static const char units[] = "KMG";
    char digits[24];
    size_t length = strlen(text), shift = 0;
    if (length == 0 || length >= sizeof digits) {
        return false;
    }
    const char *unit = strchr(units, text[length - 1]);
    if (unit != NULL && length > 1) {
        shift = 10 * (size_t)(unit - units + 1);
        length--;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    uint64_t number;
    if (!cli_read_number(digits, &number) || number > UINT64_C(1) << 40 >> shift ||
        number << shift < MEMORY_MIN) {
        return false;
    }
    *size = (size_t)(number << shift);
    return true;
}

static int read_bounds(struct request *request)
{
    struct walk_bounds *bounds = &request->plan.walk.bounds;
    const struct {
        const char *option, *text;
        uint8_t *bound;
    } asked[] = {{"--crashes", request->crashes, &bounds->crashes},
                 {"--duplicates", request->duplicates, &bounds->duplicates},
                 {"--lapses", request->lapses, &bounds->lapses},
                 {"--unknowns", request->unknowns, &bounds->unknowns},
                 {"--aborts", request->aborts, &bounds->aborts}};
    *bounds = (struct walk_bounds){.crashes = 1, .duplicates = 1};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        uint64_t number = *asked[i].bound;
        int status =
            cli_number_option(&cli_explore, asked[i].option, asked[i].text, 0, 50, &number);
        if (status != CLI_OK) {
            return status;
        }
        *asked[i].bound = (uint8_t)number;
    }
    return CLI_OK;
}

static int read_rest(struct request *request)
{
    struct explore_plan *plan = &request->plan;
    uint64_t jobs = cli_cores(EXPLORE_JOBS_MAX);
    int status = read_bounds(request);
    if (status == CLI_OK) {
        status =
            cli_number_option(&cli_explore, "--jobs", request->jobs, 1, EXPLORE_JOBS_MAX, &jobs);
    }
    if (status != CLI_OK) {
        return status;
    }
    plan->jobs = (unsigned)jobs;
    plan->memory = (size_t)2 << 30;
    plan->walk.reductions = request->no_reduction ? 0 : REDUCE_ALL;
    plan->walk.without = request->without;
    if (request->memory != NULL && !read_size(request->memory, &plan->memory)) {
        return cli_usage_error(&cli_explore,
                               "--memory %s: it is a size from 1M to 1024G, such as 500M",
                               cli_quote(request->memory).text);
    }
    if (request->level != NULL && strcmp(request->level, "transaction") != 0 &&
        strcmp(request->level, "statement") != 0) {
        return cli_usage_error(&cli_explore, "--level %s: transaction or statement is needed",
                               cli_quote(request->level).text);
    }
    plan->walk.by_statement = request->level != NULL && strcmp(request->level, "statement") == 0;
    return CLI_OK;
}

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    struct cli_values without = {0};
    const struct cli_option options[] = {{"--crashes", &request->crashes, NULL},
                                         {"--duplicates", &request->duplicates, NULL},
                                         {"--lapses", &request->lapses, NULL},
                                         {"--unknowns", &request->unknowns, NULL},
                                         {"--aborts", &request->aborts, NULL},
                                         {"--workers", &request->workers, NULL},
                                         {"--level", &request->level, NULL},
                                         {"--jobs", &request->jobs, NULL},
                                         {"--memory", &request->memory, NULL},
                                         {"--sabotage", &request->sabotage, NULL},
                                         {"--out", &request->out, NULL},
                                         {"--no-reduction", NULL, &request->no_reduction},
                                         {"--shortest", NULL, &request->shortest},
                                         {"--every-sabotage", NULL, &request->every_sabotage},
                                         {"--json", NULL, &request->json},
                                         {"--expect-finding", NULL, &request->expect_finding}};
    int status = cli_take_values(&cli_explore, &argc, argv, "--without", &without);
    if (status == CLI_OK) {
        status = cli_parse(&cli_explore, argc, argv, options, sizeof options / sizeof *options,
                           &arguments);
    }
    if (status == CLI_OK) {
        status = one_run_without(&cli_explore, &without, request->without, NULL);
    }
    if (status != CLI_OK) {
        return status;
    }
    if (arguments.count != 1) {
        return cli_usage_error(&cli_explore, "one SCENARIO is needed, %d were given",
                               arguments.count);
    }
    request->scenario = arguments.positional[0];
    return read_rest(request);
}

static int load(struct request *request)
{
    struct scenario_fault fault;
    struct scenario *scenario = request->loaded;
    if (!scenario_load(request->scenario, scenario, &fault)) {
        return cli_usage_error(&cli_explore, "%s", fault.text);
    }
    uint64_t workers = scenario->workers;
    int status = cli_number_option(&cli_explore, "--workers", request->workers, 1,
                                   SCENARIO_WORKERS_MAX, &workers);
    if (status != CLI_OK) {
        return status;
    }
    if (workers != scenario->workers &&
        !scenario_change(scenario, "workers", (uint32_t)workers, &fault)) {
        return cli_usage_error(&cli_explore, "%s", fault.text);
    }
    request->plan.walk.scenario = scenario;
    if (request->sabotage == NULL) {
        return CLI_OK;
    }
    if (!sabotage_find(request->sabotage, &request->planted)) {
        return cli_usage_error(&cli_explore,
                               "--sabotage %s: there is none; assay list sabotages shows them",
                               cli_quote(request->sabotage).text);
    }
    request->plan.walk.sabotage = &request->planted;
    return one_run_check_sabotage(&cli_explore, &request->planted, scenario);
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

static void write_command(const struct request *request, char *command, size_t size)
{
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    int used = snprintf(command, size, "assay explore %s --crashes %u --duplicates %u",
                        request->scenario, bounds->crashes, bounds->duplicates);
    const struct {
        const char *option, *text;
    } others[] = {{"--lapses", request->lapses}, {"--unknowns", request->unknowns},
                  {"--aborts", request->aborts}, {"--workers", request->workers},
                  {"--level", request->level},   {"--sabotage", request->sabotage}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].text != NULL && used > 0 && (size_t)used < size) {
            used += snprintf(command + used, size - (size_t)used, " %s %s", others[i].option,
                             others[i].text);
        }
    }
    if (request->shortest && used > 0 && (size_t)used < size) {
        snprintf(command + used, size - (size_t)used, " --shortest");
    }
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
    char command[400], about[80];
    write_command(request, command, sizeof command);
    snprintf(about, sizeof about, "%zu steps%s", telling->report->path_length,
             telling->shortest ? ", and none is shorter" : "");
    struct story_style style = one_run_style(format);
    struct story story = {.reproduce = command, .about = about, .play = play, .context = telling};
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

static void put(struct artefacts *results, const char *finding, const char *file, bool trace,
                const struct request *request, struct telling *telling)
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
static void tell(const struct request *request, const struct search_result *result,
                 const char *name)
{
    struct telling *telling = telling_new(&request->plan, result);
    if (telling == NULL) {
        fputs("assay explore: not enough memory to tell the finding\n", stderr);
        return;
    }
    if (!request->json) {
        write_story(stdout, cli_text_format(), request, telling);
        putchar('\n');
    }
    if (request->results->folder != NULL) {
        put(request->results, name, "words.txt", false, request, telling);
        put(request->results, name, "trace.txt", true, request, telling);
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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((reductions & names[i].bit) != 0) {
            printf("%s%s", separator, names[i].name);
            separator = ", ";
        }
    }
    puts(reductions == 0 ? "nothing" : "");
}

/* As SPIN counts: the first step included, the failing one not. */
static size_t count_as_spin(const struct explore_report *report)
{
    return report->path_length - (report->result.settled ? 0 : 1);
}

/* How many steps it takes until the SPIN model's assertions fail; 0: they do not. Only of the
 * scenarios that match that model. */
static size_t steps_as_spin(const struct request *request)
{
    struct explore_plan plan = request->plan;
    struct search_result result;
    plan.walk.watch = peer_watch;
    if (!request->shortest || strncmp(request->loaded->name, "peer-", 5) != 0 ||
        request->sabotage == NULL || plan.walk.by_statement || !search_way(&plan, &result)) {
        return 0;
    }
    size_t steps = result.report.verdict == EXPLORE_BROKEN ? count_as_spin(&result.report) : 0;
    search_free(&result);
    return steps;
}

static void write_as_spin(const struct request *request, const struct explore_report *report)
{
    if (request->as_spin > 0) {
        printf("  as SPIN     %zu steps until the peer model's assertions fail; the oracles see ",
               request->as_spin);
        if (report->verdict == EXPLORE_BROKEN) {
            printf("it after %zu\n", count_as_spin(report));
        } else {
            puts("nothing");
        }
    }
}

static void write_summary(const struct request *request, const struct search_result *result)
{
    const struct explore_report *report = &result->report;
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    const struct explore_ends *ends = explore_ends_as(report, REDUCE_ALL);
    printf("%s, %" PRIu32 " workers: %s%s%s\n", request->scenario, request->loaded->workers,
           verdict_text(report->verdict), report->why == NULL ? "" : ", ",
           report->why == NULL ? "" : report->why);
    printf(
        "  within      %u crashes, %u duplicates, %u lapses, %u lost answers, %u aborts, by %s\n",
        bounds->crashes, bounds->duplicates, bounds->lapses, bounds->unknowns, bounds->aborts,
        request->plan.walk.by_statement ? "statement" : "transaction");
    write_reductions(report->reductions);
    printf("  states      %" PRIu64 ", %" PRIu64 " transitions, %u deep; %" PRIu64
           " at rest, with %s%" PRIu64 " different ends\n",
           report->states, report->transitions, report->deepest, report->rests,
           ends->more ? "more than " : "", ends->count);
    printf("  memory      %.1f MB, %.1f bytes a state; two states taken for one: chance %.1e\n",
           (double)report->bytes / 1e6, (double)report->bytes / (double)report->states,
           visited_collision((double)report->states));
    printf("  time        %.2f s, %u threads\n", result->seconds, result->jobs);
    write_as_spin(request, report);
}

static void write_json(const struct request *request, const struct search_result *result)
{
    const struct explore_report *report = &result->report;
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    const struct explore_ends *ends = explore_ends_as(report, REDUCE_ALL);
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, ends->sum);
    json_t *summary = json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:f, s:f, s:f, s:I}", "type",
        "summary", "verb", "explore", "scenario", request->scenario, "complete",
        report->verdict == EXPLORE_HELD || report->verdict == EXPLORE_STUCK, "states",
        (json_int_t)report->states, "transitions", (json_int_t)report->transitions, "rests",
        (json_int_t)report->rests, "ends", (json_int_t)ends->count, "end_digest", digest, "depth",
        (json_int_t)report->deepest, "bytes", (json_int_t)report->bytes, "bytes_per_state",
        (double)report->bytes / (double)report->states, "collision",
        visited_collision((double)report->states), "seconds", result->seconds, "findings",
        (json_int_t)(report->verdict == EXPLORE_BROKEN || report->verdict == EXPLORE_STUCK));
    json_object_update_new(
        summary,
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:s?, s:s?, s:s?}", "crashes",
                  bounds->crashes, "duplicates", bounds->duplicates, "lapses", bounds->lapses,
                  "unknowns", bounds->unknowns, "aborts", bounds->aborts, "workers",
                  (int)request->loaded->workers, "jobs", (int)result->jobs, "level", request->level,
                  "sabotage", request->sabotage, "why", report->why));
    if (report->verdict == EXPLORE_BROKEN) {
        json_object_set_new(summary, "clause",
                            json_string(clause_get(report->result.breach.clause)->id));
        json_object_set_new(summary, "steps", json_integer((json_int_t)report->path_length));
    }
    if (request->as_spin > 0) {
        json_object_set_new(summary, "steps_as_spin", json_integer((json_int_t)request->as_spin));
    }
    if (ends->more) {
        json_object_set_new(summary, "more_ends", json_true());
    }
    artefacts_line(request->results, summary);
}

static void write_finding(const struct request *request, const struct explore_report *report,
                          const char *name)
{
    const struct run_result *result = &report->result;
    char command[400];
    write_command(request, command, sizeof command);
    artefacts_note(
        request->results,
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s?, s:s}", "type", "finding",
                  "name", name, "scenario", request->loaded->name, "clause",
                  clause_get(result->breach.clause)->id, "oracle", oracle_name_text(result->oracle),
                  "kind",
                  scenario_breaks(request->loaded, result->breach.clause) ? "expected" : "new",
                  "why", result->breach.why, "steps", (json_int_t)report->path_length, "runs",
                  (json_int_t)1, "sabotage", request->sabotage, "again", command));
}

/* What a report is made of: how often each promise was put to the test, and how it ended. */
static void write_evidence(const struct request *request, const struct explore_report *report)
{
    const struct walk_bounds *bounds = &request->plan.walk.bounds;
    bool broken = report->verdict == EXPLORE_BROKEN;
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:s?, s:I, s:I, s:I, s:s?, s:b, s:i, s:i, s:o, s:o}", "type", "explore",
        "scenario", request->loaded->name, "protocol", request->loaded->protocol->name, "sabotage",
        request->sabotage, "runs", (json_int_t)1, "steps", (json_int_t)report->transitions,
        "findings", (json_int_t)broken, "clause",
        broken ? clause_get(report->result.breach.clause)->id : NULL, "complete",
        report->verdict == EXPLORE_HELD, "crashes", (int)bounds->crashes, "duplicates",
        (int)bounds->duplicates, "evaluated", results_evaluated(report->evaluated), "seen",
        results_seen(report->seen));
    results_form(line, request->loaded);
    json_object_set_new(line, "verdict", json_string(verdict_text(report->verdict)));
    if (request->loaded->breaks) {
        json_object_set_new(line, "breaks", json_string(clause_get(request->loaded->broken)->id));
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
    request->as_spin = steps_as_spin(request);
    write_evidence(request, &result.report);
    if (verdict == EXPLORE_BROKEN) {
        char name[FINDING_NAME_SIZE];
        finding_name(name, request->loaded->name, result.report.result.breach.clause,
                     oracle_name_text(result.report.result.oracle));
        write_finding(request, &result.report, name);
        tell(request, &result, name);
    }
    write_json(request, &result);
    if (!request->json) {
        if (verdict == EXPLORE_STUCK) {
            tell_stuck(request, &result.report);
        }
        write_summary(request, &result);
    }
    search_free(&result);
    return status_of(request, verdict);
}

/* The table has bounds of its own, judges everything, and keeps nothing. */
static int refuse_beside_table(const struct request *request)
{
    const struct {
        const char *option;
        bool given;
    } others[] = {{"--crashes", request->crashes != NULL},
                  {"--duplicates", request->duplicates != NULL},
                  {"--lapses", request->lapses != NULL},
                  {"--unknowns", request->unknowns != NULL},
                  {"--aborts", request->aborts != NULL},
                  {"--level", request->level != NULL},
                  {"--sabotage", request->sabotage != NULL},
                  {"--out", request->out != NULL},
                  {"--no-reduction", request->no_reduction},
                  {"--shortest", request->shortest},
                  {"--expect-finding", request->expect_finding},
                  {"--without", memchr(request->without, true, sizeof request->without) != NULL}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given) {
            return cli_usage_error(&cli_explore, "--every-sabotage and %s exclude each other",
                                   others[i].option);
        }
    }
    return CLI_OK;
}

static int explore_asked(struct request *request)
{
    struct artefacts results;
    int status = request->every_sabotage ? refuse_beside_table(request) : CLI_OK;
    status = status == CLI_OK ? load(request) : status;
    if (status != CLI_OK) {
        return status;
    }
    if (request->every_sabotage) {
        interrupt_watch();
        return explore_table(request->loaded, request->plan.jobs, request->plan.memory,
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

static int run_verb(int argc, char **argv)
{
    struct request *request = calloc(1, sizeof *request);
    struct scenario *scenario = calloc(1, sizeof *scenario);
    int status = CLI_UNAVAILABLE;
    if (request != NULL && scenario != NULL) {
        request->loaded = scenario;
        status = read_request(argc, argv, request);
        status = status == CLI_OK ? explore_asked(request) : status;
    } else {
        fputs("assay explore: not enough memory\n", stderr);
    }
    free(scenario);
    free(request);
    return status;
}

const struct cli_verb cli_explore = {.name = "explore",
                                     .about = "every schedule of a small scenario within bounds",
                                     .help = help,
                                     .run = run_verb};
