/* assay wire: any engine on PostgreSQL, unmodified, crashed on both sides of every commit. */
#include "cli/interrupt.h"
#include "cli/wire_init.h"
#include "cli/wire_tell.h"
#include "reports/artefacts.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: assay wire SUBJECT.yaml [--record] [--point P [--repeat N]] [--faults LIST]\n"
    "                  [--depth 2] [--time 10m] [--lanes N] [--pg DIR] [--json] [--out DIR]\n"
    "       assay wire init --setup COMMAND --worker COMMAND [--client COMMAND] [--draft FILE]\n"
    "\n"
    "Runs somebody's engine, unmodified, on a private PostgreSQL behind a proxy. It is recorded\n"
    "twice without faults; then each commit of each worker and client is run again with each\n"
    "fault: killed or cut off before and after it, late, half open, paused, refused with an\n"
    "SQLSTATE, the server crashed. What breaks a promise of the subject, strands work or makes a\n"
    "worker die is repeated five times, and once without the fault. init runs the commands once,\n"
    "prints what was committed and which tables there are, and writes a draft (wire.yaml).\n"
    "\n"
    "  --record      only the recording: which process committed what, in order\n"
    "  --point P     only this point, such as a:13:kill-after: worker a, its 13th commit that\n"
    "                counts; two with a comma between for a second fault inside the recovery\n"
    "  --repeat N    the point so often\n"
    "  --faults L    only these, such as kill,cut,pause,40001\n"
    "  --depth 2     kill again at each commit of each recovery\n"
    "  --time T      begin no more runs after this time (60s, 10m); likeliest faults come first\n"
    "  --lanes N     so many private servers at once; the number of cores by default\n"
    "  --pg DIR      folder of PostgreSQL's server programs\n"
    "  --against F   sweep only commits that the lock F does not have, and fail only for findings\n"
    "                that it does not have; without F, everything is swept and F is written\n"
    "  --accept      write F again: with the commits and findings of now\n"
    "  --json        results as JSON lines on stdout, nothing else there\n"
    "  --out DIR     results in a new folder: findings, report.html, junit.xml\n"
    "  --expect-finding  status 0 if a promise was broken, 1 if none was\n"
    "\n"
    "Exit status: 0 every promise held; 1 one was broken; 4 incomplete, or no fault hit anything;\n"
    "64 the subject or the command line is wrong; 69 something that it needs is missing.\n"
    "\n"
    "example: assay wire wire/subjects/c/broken.yaml --faults kill\n";

struct request {
    struct wire_init init;
    const char *faults, *points, *repeat, *depth, *time, *lanes, *programs, *out, *against;
    bool accept, record, json, expect_finding;
    uint64_t repeat_count, depth_count, lane_count;
    double seconds;
    struct cli_arguments arguments;
    char path[PATH_MAX]; /* of the subject, as it was given */
    char folder[PATH_MAX];
    struct subject subject;
    struct wire_lock lock;
};

/* ---- the request ----------------------------------------------------------------------------- */

static int read_numbers(struct request *request)
{
    request->depth_count = 1;
    request->lane_count = cli_cores(CREW_LANES_MAX);
    int status =
        cli_number_option(&cli_wire, "--repeat", request->repeat, 1, 10000, &request->repeat_count);
    if (status == CLI_OK) {
        status = cli_number_option(&cli_wire, "--depth", request->depth, 1, POINT_DEPTH_MAX,
                                   &request->depth_count);
    }
    if (status == CLI_OK) {
        status = cli_number_option(&cli_wire, "--lanes", request->lanes, 1, CREW_LANES_MAX,
                                   &request->lane_count);
    }
    return status == CLI_OK ? cli_time_option(&cli_wire, "--time", request->time, &request->seconds)
                            : status;
}

static int check_points(const struct request *request)
{
    struct point points[POINT_DEPTH_MAX];
    size_t count;
    char word[40];
    if (request->points != NULL && !point_parse(request->points, points, &count)) {
        return cli_usage_error(&cli_wire,
                               "--point '%s': it is a worker, the number of its commit and a "
                               "fault, such as a:13:kill-after",
                               cli_quote(request->points).text);
    }
    if (request->faults != NULL && !point_list_is_sound(request->faults, word, sizeof word)) {
        return cli_usage_error(&cli_wire,
                               "--faults: there is no '%s'; there are kill, cut, cut-all, late, "
                               "half-open, pause, restart and the SQLSTATEs 40001, 40P01, 57P01, "
                               "57014, 55P03, 53300, 25006 and 57P03",
                               cli_quote(word).text);
    }
    if (request->repeat != NULL && request->points == NULL) {
        return cli_usage_error(&cli_wire, "--repeat is about a --point");
    }
    return CLI_OK;
}

static int read_subject(struct request *request)
{
    struct scenario_fault fault;
    char real[PATH_MAX];
    size_t size;
    char *text = realpath(request->path, real) == NULL ? NULL : artefacts_read(real, &size);
    if (text == NULL) {
        return cli_usage_error(&cli_wire, "'%s' cannot be read; it is the path of a subject",
                               cli_quote(request->path).text);
    }
    (void)snprintf(request->folder, sizeof request->folder, "%s", dirname(real));
    bool ok = subject_parse(&request->subject, text, size, request->path, &fault);
    free(text);
    if (!ok) {
        fprintf(stderr, "assay wire: %s\n", fault.text);
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
    return strcmp(request->arguments.positional[0], "init") == 0;
}

static int check_init(struct request *request)
{
    request->init.programs = request->programs;
    request->init.draft = request->init.draft == NULL ? "wire.yaml" : request->init.draft;
    if (request->init.setup == NULL || request->init.worker == NULL) {
        return cli_usage_error(&cli_wire, "init needs --setup COMMAND and --worker COMMAND");
    }
    return CLI_OK;
}

static int read_request(int argc, char **argv, struct request *request)
{
    const struct cli_option options[] = {{"--faults", &request->faults, NULL},
                                         {"--point", &request->points, NULL},
                                         {"--repeat", &request->repeat, NULL},
                                         {"--depth", &request->depth, NULL},
                                         {"--time", &request->time, NULL},
                                         {"--lanes", &request->lanes, NULL},
                                         {"--pg", &request->programs, NULL},
                                         {"--out", &request->out, NULL},
                                         {"--setup", &request->init.setup, NULL},
                                         {"--worker", &request->init.worker, NULL},
                                         {"--client", &request->init.client, NULL},
                                         {"--draft", &request->init.draft, NULL},
                                         {"--against", &request->against, NULL},
                                         {"--accept", NULL, &request->accept},
                                         {"--record", NULL, &request->record},
                                         {"--json", NULL, &request->json},
                                         {"--expect-finding", NULL, &request->expect_finding}};
    int status = cli_parse(&cli_wire, argc, argv, options, sizeof options / sizeof *options,
                           &request->arguments);
    if (status == CLI_OK && request->arguments.count != 1) {
        status = cli_usage_error(&cli_wire, "it takes one SUBJECT.yaml");
    }
    if (status == CLI_OK && is_init(request)) {
        return check_init(request);
    }
    if (status == CLI_OK) {
        (void)snprintf(request->path, sizeof request->path, "%s", request->arguments.positional[0]);
        status = read_numbers(request);
    }
    status = status == CLI_OK ? check_points(request) : status;
    status = status == CLI_OK ? read_lock(request) : status;
    return status == CLI_OK ? read_subject(request) : status;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static int complain(const char *what)
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
        return complain("the lock cannot be written");
    }
    fprintf(stderr, "assay wire: %s is written\n", request->against);
    return status;
}

static int sweep(struct request *request, struct crew *crew, const struct wire_tell *tell)
{
    struct probe_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return complain("not enough memory");
    }
    const struct probe_options options = {.faults = request->faults,
                                          .points = request->points,
                                          .repeat = (unsigned)request->repeat_count,
                                          .depth = (unsigned)request->depth_count,
                                          .seconds = request->seconds,
                                          .record = request->record,
                                          .stop = interrupt_seen,
                                          .skip = request->against == NULL ? NULL : wire_tell_skip,
                                          .progress = wire_tell_progress,
                                          .context = (void *)tell};
    probe_do(crew, &request->subject, &options, result);
    int status;
    if (result->end == PROBE_FAILED) {
        fprintf(stderr, "assay wire: %s: %s\n", request->path, result->why);
        status = CLI_USAGE;
    } else {
        if (request->points == NULL) {
            wire_tell_trace(tell, &result->trace);
        }
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
    struct cluster_fault why;
    const struct lane_options options = {
        .subject = &request->subject, .folder = request->folder, .programs = request->programs};
    const struct wire_tell tell = {.path = request->path,
                                   .subject = &request->subject,
                                   .results = results,
                                   .lock = request->against == NULL ? NULL : &request->lock,
                                   .quiet = request->json,
                                   .live = !request->json && isatty(STDERR_FILENO) == 1};
    if (!crew_open(&crew, &options, (unsigned)request->lane_count, &why)) {
        (void)complain(why.text);
        return crew.setup_failed ? CLI_USAGE : CLI_UNAVAILABLE;
    }
    int status = sweep(request, &crew, &tell);
    crew_close(&crew);
    return status;
}

static int run_verb(int argc, char **argv)
{
    struct request *request = calloc(1, sizeof *request);
    struct artefacts results;
    if (request == NULL) {
        return complain("not enough memory");
    }
    int status = read_request(argc, argv, request);
    if (status == CLI_OK && is_init(request)) {
        interrupt_watch();
        status = wire_init(&request->init);
    } else if (status == CLI_OK) {
        interrupt_watch();
        status = results_open(&results, &(struct results_plan){.verb = &cli_wire,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = 0,
                                                               .jobs = request->lane_count});
        if (status == CLI_OK) {
            status = results_close(&results, &cli_wire, use_crew(request, &results));
        }
    }
    subject_free(&request->subject);
    wire_lock_free(&request->lock);
    free(request);
    return status;
}

const struct cli_verb cli_wire = {.name = "wire",
                                  .about = "any engine on PostgreSQL, crashed at every commit",
                                  .help = help,
                                  .run = run_verb};
