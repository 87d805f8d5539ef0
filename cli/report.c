/* assay report: what results add up to, in words and as files. */
#include "reports/report.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/seal.h"
#include "cli/sums.h"
#include "reports/json_line.h"
#include "reports/sign_off.h"
#include "verify/terminal.h"

#include <stdlib.h>
#include <string.h>

struct request {
    const char *folder;
    bool sign_off, json;
};

static const struct option options[] = {
    {ARGUMENT_ROW(struct request, folder, "DIR"),
     .about = "a folder that a verb wrote with --out, also one that was killed"},
    {FLAG_ROW(struct request, sign_off, "--sign-off"),
     .about =
         "the acceptance page instead: every promise of the five specifications with what "
         "shows it, every deviation to accept, and PASS, FAIL or NOT SHOWN; also written to "
         "DIR/sign-off.md, unless that was changed since, with the hashes of all that it rests "
         "on in SHA256SUMS (assay verify). ./run sign-off makes the evidence "
         "for it"},
    {FLAG_ROW(struct request, json, "--json"), .again = AGAIN_NEVER,
     .about = "the report as one JSON document; with --sign-off JSON lines"},
};

static int report_load(const struct request *request, struct evidence *evidence)
{
    char path[ARTEFACTS_PATH_SIZE];
    struct error error;
    size_t length = 0;
    char *text = load_results(&cli_report, request->folder, &length);
    if (text == NULL) {
        return CLI_USAGE;
    }
    snprintf(path, sizeof path, "%s/results.jsonl", request->folder);
    bool read = evidence_add(evidence, text, length, path, &error);
    free(text);
    return read ? CLI_OK : cli_usage_error(&cli_report, "%s", error.text);
}

/* ---- the page that is signed ------------------------------------------------------------------
 */

/* An acceptance is never written over. */
static bool is_as_written(const char *text, size_t length)
{
    const char *block;
    return seal_end(text, length, &block) > 0 && seal_is_empty(block);
}

/* CLI_OK, or CLI_USAGE after it has said that the page must not be written. */
static int check_page(const struct request *request)
{
    char path[ARTEFACTS_PATH_SIZE];
    size_t length;
    snprintf(path, sizeof path, "%s/sign-off.md", request->folder);
    char *text = artefacts_read(path, &length);
    bool fine = text == NULL || is_as_written(text, length);
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
    fflush(out);
    seal_write(out, text, length);
    bool written = fclose(out) == 0 && artefacts_put(files, "sign-off.md", text, length);
    free(text);
    return written;
}

/* SHA256SUMS of all that the page rests on, which is there now; the page names its hash. */
static bool put_sums(struct artefacts *files, struct sign_off *page)
{
    struct sums_place place;
    struct error error = {"its path is too long"};
    size_t length = 0;
    char *text = sums_find(&place, files->folder) ? sums_make(&place, &length, &error) : NULL;
    if (text == NULL) {
        snprintf(files->problem, sizeof files->problem, "%.399s", error.text);
        return false;
    }
    struct artefacts root = {.folder = place.root};
    bool written = artefacts_put(&root, SUMS_NAME, text, length);
    snprintf(files->problem, sizeof files->problem, "%s", root.problem);
    snprintf(page->sums, sizeof page->sums, "%s", sums_hash(text, length).text);
    free(text);
    return written;
}

static int tell_sign_off(const struct request *request, struct artefacts *files,
                         const struct evidence *evidence)
{
    static struct sign_off page;
    sign_off_make(&page, evidence);
    sign_off_write(stdout, request->json ? FORMAT_JSON : terminal_format(), &page);
    return put_sums(files, &page) && put_page(files, &page) ? page.status : CLI_UNAVAILABLE;
}

static int report_tell(const struct request *request, const struct evidence *evidence)
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

static int report_verb(void *asked)
{
    const struct request *request = asked;
    static struct evidence evidence;
    int status = request->sign_off ? check_page(request) : CLI_OK;
    if (status != CLI_OK) {
        return status;
    }
    evidence_begin(&evidence);
    status = report_load(request, &evidence);
    evidence_end(&evidence);
    status = status == CLI_OK ? report_tell(request, &evidence) : status;
    evidence_free(&evidence);
    return status;
}

const struct cli_verb cli_report = {.name = "report",
                                    .about = "what results add up to; the page to sign",
                                    .options = options,
                                    .option_count = COUNT(options),
                                    .request_size = sizeof(struct request),
                                    .run = report_verb};
