/* assay wire: any engine on PostgreSQL, unmodified, crashed on both sides of every commit. */
#include "cli/options.h"
#include "cli/wire_init.h"
#include "cli/wire_tell.h"
#include "reports/artefacts.h"
#include "verify/interrupt.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a verb is asked: a subject, or "init" with commands. */
struct request {
    struct cli_arguments subjects;
    const char *setup, *worker, *client, *draft; /* of init */
    const char *faults, *point, *pg, *out, *against;
    uint64_t repeat, depth, lanes;
    bool accept, record, json, expect_finding;
    double time;
    const char *path; /* of the subject, as it was given */
    char folder[PATH_MAX];
    struct subject subject;
    struct wire_lock lock;
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, subjects, "SUBJECT.yaml", true),
     .lacking = "it takes one SUBJECT.yaml, or init",
     .about = "what starts the engine and what it promises; or init, which drafts one"},
    {FLAG_ROW(struct request, record, "--record"),
     .about = "only the recording: which process committed what, in order"},
    {TEXT_ROW(struct request, point, "--point", "P"), .names = NAMES_OF_NOTHING,
     .about =
         "only this point, such as a:13:kill-after: worker a, its 13th commit that counts; two "
         "with a comma between for a second fault inside the recovery"},
    {NUMBER_ROW(struct request, repeat, "--repeat", 1, 10000), .usual = 1,
     .about = "the point so often"},
    {TEXT_ROW(struct request, faults, "--faults", "LIST"), .names = NAMES_OF_NOTHING,
     .about = "only these, such as kill,cut,pause,40001"},
    {NUMBER_ROW(struct request, depth, "--depth", 1, POINT_DEPTH_MAX), .usual = 1,
     .about = "2: kill again at each commit of each recovery"},
    {.name = "--time",
     .kind = OPTION_TIME,
     .at = OPTION_AT(struct request, time, double),
     .value = "10m",
     .names = NAMES_OF_NOTHING,
     .about = "begin no more points after this time; the likeliest faults come first"},
    {NUMBER_ROW(struct request, lanes, "--lanes", 1, CREW_LANES_MAX), .usual_text = "one a core",
     .again = AGAIN_NEVER, .about = "private servers at once"},
    {TEXT_ROW(struct request, against, "--against", "FILE"),
     .about = "sweep only commits that this lock does not have, and fail only for findings that it "
              "does not have; if it is not there, everything is swept and it is written"},
    {FLAG_ROW(struct request, accept, "--accept"),
     .about = "write the lock again, with the commits and findings of now"},
    {TEXT_ROW(struct request, pg, "--pg", "DIR"), .again = AGAIN_NEVER,
     .about = "folder of PostgreSQL's server programs"},
    {TEXT_ROW(struct request, setup, "--setup", "COMMAND"), .names = NAMES_OF_NOTHING,
     .about = "init: makes the schema"},
    {TEXT_ROW(struct request, worker, "--worker", "COMMAND"), .names = NAMES_OF_NOTHING,
     .about = "init: a worker"},
    {TEXT_ROW(struct request, client, "--client", "COMMAND"), .names = NAMES_OF_NOTHING,
     .about = "init: a producer"},
    {TEXT_ROW(struct request, draft, "--draft", "FILE"), .usual_text = "wire.yaml",
     .about = "init: the file that is written"},
    {EXPECT_FINDING_ROW(struct request)},
    {JSON_ROW(struct request, " on stdout, nothing else there")},
    {OUT_ROW(struct request, "findings and reports")},
};

/* ---- the request ----------------------------------------------------------------------------- */

static int check_points(const struct request *request)
{
    struct point points[POINT_DEPTH_MAX];
    size_t count;
    char word[40];
    if (request->point != NULL && !point_parse(request->point, points, &count)) {
        return cli_usage_error(&cli_wire,
                               "--point '%s': it is a worker, the number of its commit and a "
                               "fault, such as a:13:kill-after",
                               cli_quote(request->point).text);
    }
    if (request->faults != NULL && !point_list_is_sound(request->faults, word, sizeof word)) {
        return cli_usage_error(
            &cli_wire,
            "--faults: there is no '%s'; there are kill, cut, cut-all, "
            "cut-listener, cut-idle, late, half-open, pause, restart and the "
            "SQLSTATEs 40001, 40P01, 57P01, 57014, 55P03, 53300, 25006 and 57P03",
            cli_quote(word).text);
    }
    if (request->repeat > 1 && request->point == NULL) {
        return cli_usage_error(&cli_wire, "--repeat is about a --point");
    }
    return CLI_OK;
}

static int read_subject(struct request *request)
{
    struct error error;
    char real[PATH_MAX];
    size_t size;
    char *text = realpath(request->path, real) == NULL ? NULL : artefacts_read(real, &size);
    if (text == NULL) {
        return cli_usage_error(&cli_wire, "'%s' cannot be read; it is the path of a subject",
                               cli_quote(request->path).text);
    }
    (void)snprintf(request->folder, sizeof request->folder, "%s", dirname(real));
    bool ok = subject_parse(&request->subject, text, size, request->path, &error);
    free(text);
    if (!ok) {
        fprintf(stderr, "assay wire: %s\n", error.text);
        return CLI_USAGE;
    }
    return CLI_OK;
}

static int read_lock(struct request *request)
{
    char why[400];
    if (request->accept && request->against == NULL) {
        return cli_usage_error(&cli_wire, "--accept is about the file of --against");
    }
    if (request->against != NULL &&
        !wire_lock_read(&request->lock, request->against, why, sizeof why)) {
        return cli_usage_error(&cli_wire, "%s", why);
    }
    return CLI_OK;
}

static bool is_init(const struct request *request)
{
    return strcmp(request->path, "init") == 0;
}

/* What the table cannot say. */
static int check_request(struct request *request)
{
    if (request->subjects.count != 1) {
        return cli_usage_error(&cli_wire, "it takes one SUBJECT.yaml, or init");
    }
    request->path = request->subjects.positional[0];
    if (request->lanes == 0) {
        request->lanes = cli_cores(CREW_LANES_MAX);
    }
    if (is_init(request)) {
        return request->setup != NULL && request->worker != NULL
                   ? CLI_OK
                   : cli_usage_error(&cli_wire, "init needs --setup COMMAND and --worker COMMAND");
    }
    int status = check_points(request);
    status = status == CLI_OK ? read_lock(request) : status;
    return status == CLI_OK ? read_subject(request) : status;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static int wire_complain(const char *what)
{
    fprintf(stderr, "assay wire: %s\n", what);
    return CLI_UNAVAILABLE;
}

static int status_of(const struct request *request, const struct wire_tell *tell,
                     const struct probe_result *result)
{
    bool broken = false;
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct probe_finding *finding = &result->findings[i];
        broken = broken || (probe_counts(finding) && wire_tell_is_new(tell, finding));
    }
    if (broken) {
        return request->expect_finding ? CLI_OK : CLI_BROKEN;
    }
    if (result->end != PROBE_WHOLE || result->failed > 0) {
        return CLI_INCOMPLETE;
    }
    bool all_old = result->skipped > 0 && result->skipped == result->trace.count;
    if (!request->record && result->hit == 0 && !all_old) { /* PB1 */
        fprintf(stderr, "assay wire: no fault hit anything, so that nothing was shown\n");
        return CLI_INCOMPLETE;
    }
    return request->expect_finding ? CLI_BROKEN : CLI_OK;
}

/* A lock that is not there is written; one that is there only if that was asked for. */
static int keep_lock(const struct request *request, const struct probe_result *result, int status)
{
    if (request->against == NULL || (request->lock.text != NULL && !request->accept) ||
        result->end != PROBE_WHOLE) {
        return status;
    }
    if (!wire_lock_write(&request->lock, request->against, result)) {
        return wire_complain("the lock cannot be written");
    }
    fprintf(stderr, "assay wire: %s is written\n", request->against);
    return status;
}

static int sweep(struct request *request, struct crew *crew, const struct wire_tell *tell)
{
    struct probe_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return wire_complain("not enough memory");
    }
    const struct probe_options plan = {.faults = request->faults,
                                       .points = request->point,
                                       .repeat = (unsigned)request->repeat,
                                       .depth = (unsigned)request->depth,
                                       .seconds = request->time,
                                       .record = request->record,
                                       .stop = interrupt_seen,
                                       .skip = request->against == NULL ? NULL : wire_tell_skip,
                                       .recorded = wire_tell_trace,
                                       .found = wire_tell_found,
                                       .progress = wire_tell_progress,
                                       .context = (void *)tell};
    probe_do(crew, &request->subject, &plan, result);
    int status;
    if (result->end == PROBE_FAILED) {
        fprintf(stderr, "assay wire: %s: %s\n", request->path, result->why);
        status = CLI_USAGE;
    } else {
        if (!request->record) {
            wire_tell_sweep(tell, result);
        }
        status = status_of(request, tell, result);
        status = keep_lock(request, result, status);
    }
    free(result);
    return status;
}

static int use_crew(struct request *request, struct artefacts *results)
{
    struct crew crew;
    struct error error;
    const struct lane_options place = {
        .subject = &request->subject, .folder = request->folder, .programs = request->pg};
    const struct wire_tell tell = {.path = request->path,
                                   .subject = &request->subject,
                                   .results = results,
                                   .lock = request->against == NULL ? NULL : &request->lock,
                                   .no_trace = request->point != NULL,
                                   .quiet = request->json,
                                   .live = !request->json && isatty(STDERR_FILENO) == 1};
    if (!crew_open(&crew, &place, (unsigned)request->lanes, &error)) {
        (void)wire_complain(error.text);
        return crew.setup_failed ? CLI_USAGE : CLI_UNAVAILABLE;
    }
    int status = sweep(request, &crew, &tell);
    crew_close(&crew);
    return status;
}

static int sweep_subject(struct request *request)
{
    struct artefacts results;
    int status = results_open(&results, &(struct results_plan){.verb = &cli_wire,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = 0,
                                                               .jobs = request->lanes});
    return status == CLI_OK ? results_close(&results, &cli_wire, use_crew(request, &results))
                            : status;
}

static int draft_subject(const struct request *request)
{
    return wire_init(
        &(struct wire_init){.setup = request->setup,
                            .worker = request->worker,
                            .client = request->client,
                            .programs = request->pg,
                            .draft = request->draft == NULL ? "wire.yaml" : request->draft});
}

static int wire_verb(void *asked)
{
    struct request *request = asked;
    int status = check_request(request);
    if (status == CLI_OK) {
        interrupt_watch();
        status = is_init(request) ? draft_subject(request) : sweep_subject(request);
    }
    subject_free(&request->subject);
    wire_lock_free(&request->lock);
    return status;
}

const struct cli_verb cli_wire = {.name = "wire",
                                  .about = "any engine on PostgreSQL, crashed at every commit",
                                  .options = options,
                                  .option_count = COUNT(options),
                                  .request_size = sizeof(struct request),
                                  .run = wire_verb};
