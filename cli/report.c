/* assay report: what results add up to, in words and as files. */
#include "reports/report.h"
#include "cli/cli.h"
#include "cli/results.h"
#include "reports/json_line.h"
#include "reports/sign_off.h"
#include "verify/terminal.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay report DIR [--sign-off] [--json]\n"
    "\n"
    "Reads DIR/results.jsonl, which a verb wrote with --out DIR, also one that was killed, and\n"
    "says what it adds up to. Writes report.json, report.html, junit.xml and summary.md into DIR,\n"
    "again if they are there: they are made of results.jsonl and of nothing else.\n"
    "\n"
    "  --sign-off  the acceptance page instead: every promise of the five specifications with\n"
    "              what shows it, every deviation to accept, and PASS, FAIL or NOT SHOWN; also\n"
    "              written to DIR/sign-off.md, unless somebody has changed that since. ./run\n"
    "              sign-off makes the evidence for it\n"
    "  --json      the report as one JSON document; with --sign-off JSON lines\n"
    "\n"
    "Exit status: that of the results (0 every promise held, 1 one was broken, 4 incomplete, or\n"
    "nothing ran, ...); with --sign-off 1 if anything failed, 4 if anything is not shown; 64 if\n"
    "results.jsonl is empty or cannot be read, with the line that is wrong.\n"
    "\n"
    "example: assay report results\n";

struct request {
    const char *folder;
    bool sign_off, json;
};

static int read_request(int argc, char **argv, struct request *request)
{
    struct cli_arguments arguments;
    const struct cli_option options[] = {{"--sign-off", NULL, &request->sign_off},
                                         {"--json", NULL, &request->json}};
    int status =
        cli_parse(&cli_report, argc, argv, options, sizeof options / sizeof *options, &arguments);
    if (status == CLI_OK && arguments.count != 1) {
        status = cli_usage_error(&cli_report, "one DIR is needed, %d were given", arguments.count);
    }
    request->folder = arguments.positional[0];
    return status;
}

static int load(const struct request *request, struct evidence *evidence)
{
    char path[ARTEFACTS_PATH_SIZE];
    struct evidence_fault fault;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/results.jsonl", request->folder);
    char *text = artefacts_read(path, &length);
    if (text == NULL) {
        return cli_usage_error(&cli_report,
                               "%s: it is a folder that assay wrote with --out, and has no "
                               "results.jsonl",
                               cli_quote(request->folder).text);
    }
    bool read = evidence_add(evidence, text, length, path, &fault);
    free(text);
    return read ? CLI_OK : cli_usage_error(&cli_report, "%s", fault.text);
}

/* ---- the page that is signed ------------------------------------------------------------------
 */

/* The last line of what the program wrote: the hash of all above it. A page without it, or with
 * another, was changed by somebody, and nobody's acceptance is written over. */
#define SEAL "<!-- written by assay, sha256 of all above: "

static bool is_as_written(const char *text)
{
    const char *seal = strstr(text, SEAL);
    char line[sizeof SEAL + 80];
    if (seal == NULL) {
        return false;
    }
    snprintf(line, sizeof line, SEAL "%s -->\n", results_hash(text, (size_t)(seal - text)).text);
    return strcmp(seal, line) == 0;
}

/* CLI_OK, or CLI_USAGE after it has said that the page must not be written. */
static int check_page(const struct request *request)
{
    char path[ARTEFACTS_PATH_SIZE];
    size_t length;
    snprintf(path, sizeof path, "%s/sign-off.md", request->folder);
    char *text = artefacts_read(path, &length);
    bool fine = text == NULL || is_as_written(text);
    free(text);
    return fine ? CLI_OK
                : cli_usage_error(&cli_report,
                                  "%s was changed since it was written, and nothing is written "
                                  "over; move it away first",
                                  cli_quote(path).text);
}

static bool put_page(struct artefacts *files, const struct sign_off *page)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return false;
    }
    sign_off_write(out, FORMAT_MARKDOWN, page);
    fputc('\n', out);
    fflush(out);
    fprintf(out, SEAL "%s -->\n", results_hash(text, length).text);
    bool written = fclose(out) == 0 && artefacts_put(files, "sign-off.md", text, length);
    free(text);
    return written;
}

static int tell_sign_off(const struct request *request, struct artefacts *files,
                         const struct evidence *evidence)
{
    static struct sign_off page;
    sign_off_make(&page, evidence);
    sign_off_write(stdout, request->json ? FORMAT_JSON : terminal_format(), &page);
    return put_page(files, &page) ? page.status : CLI_UNAVAILABLE;
}

static int tell(const struct request *request, const struct evidence *evidence)
{
    struct artefacts files = {.folder = request->folder};
    json_t *report = NULL;
    int status = evidence->status;
    bool written = report_put(&files, evidence, &report);
    if (request->sign_off) {
        status = tell_sign_off(request, &files, evidence);
    } else if (request->json) {
        json_line_write(stdout, json_incref(report));
    } else {
        report_write(stdout, terminal_format(), evidence, report);
    }
    json_decref(report);
    if (!written || files.problem[0] != '\0') {
        fprintf(stderr, "assay report: %s\n", files.problem);
        return CLI_UNAVAILABLE;
    }
    return status;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    static struct evidence evidence;
    int status = read_request(argc, argv, &request);
    if (status != CLI_OK) {
        return status;
    }
    status = request.sign_off ? check_page(&request) : CLI_OK;
    if (status != CLI_OK) {
        return status;
    }
    evidence_begin(&evidence);
    status = load(&request, &evidence);
    evidence_end(&evidence);
    if (status == CLI_OK) {
        status = tell(&request, &evidence);
    }
    evidence_free(&evidence);
    return status;
}

const struct cli_verb cli_report = {.name = "report",
                                    .about = "what results add up to; the page to sign",
                                    .help = help,
                                    .run = run};
