/* assay report: what results add up to, in words and as files. */
#include "reports/report.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/sbom.h"
#include "cli/seal.h"
#include "cli/sums.h"
#include "reports/formats.h"
#include "reports/json_line.h"
#include "reports/sign_off.h"
#include "verify/terminal.h"

#include <stdlib.h>
#include <string.h>

struct request {
    const char *folder, *as, *finding;
    bool sign_off, json;
};

static const char *const format_names[] = {"github", "ctrf", "openmetrics", "in-toto",
                                           "spdx",   "itf",  "perfetto",    NULL};

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
    {WORD_ROW(struct request, as, "--as", "FORMAT", format_names), .again = AGAIN_NEVER,
     .excludes = "--sign-off --json",
     .about = "on stdout, for other tools, and nothing is written: github, annotations of a "
              "workflow; ctrf, test results as CTRF; openmetrics, for Prometheus; in-toto, a "
              "test-result statement about the program, to be signed (ssh-keygen -Y sign, "
              "minisign); spdx, what the program is made of; of --finding NAME itf, for Apalache "
              "and Quint, and perfetto, for ui.perfetto.dev"},
    {TEXT_ROW(struct request, finding, "--finding", "NAME"), .again = AGAIN_NEVER,
     .names = NAMES_OF_NOTHING,
     .about = "with --as itf and --as perfetto: a folder of DIR/findings"},
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
    size_t length;
    char *text = load_results(&cli_report, request->folder, &length);
    if (text == NULL) {
        return CLI_USAGE;
    }
    json_t *hashes = sums_sessions(text, length);
    free(text);
    sign_off_make(&page, evidence);
    page.hashes = hashes;
    sign_off_write(stdout, request->json ? FORMAT_JSON : terminal_format(), &page);
    bool written = put_sums(files, &page) && put_page(files, &page);
    json_decref(hashes);
    return written ? page.status : CLI_UNAVAILABLE;
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
        report_write(stdout, terminal_format(), report);
    }
    json_decref(report);
    if (!written || files.problem[0] != '\0') {
        fprintf(stderr, "assay report: %s\n", files.problem);
        return CLI_UNAVAILABLE;
    }
    return status;
}

/* ---- for other tools ------------------------------------------------------------------------- */

/* finding.json; NULL after it has said what is not there. */
static json_t *load_finding(const struct request *request)
{
    char path[ARTEFACTS_PATH_SIZE];
    snprintf(path, sizeof path, "%.2000s/findings/%.500s/finding.json", request->folder,
             request->finding);
    json_t *finding = json_load_file(path, 0, NULL);
    if (finding == NULL) {
        cli_usage_error(&cli_report,
                        "%s cannot be read; --finding names a folder of DIR/findings that has a "
                        "finding.json",
                        cli_quote(path).text);
    }
    return finding;
}

/* The statement and the bill of materials are about one program. */
static bool has_one_program(const struct request *request, const struct evidence *evidence)
{
    const char *hash = line_get_binary_hash(evidence->begin);
    bool self = strcmp(sums_hash_file("/proc/self/exe").text, hash) == 0;
    bool fine = hash[0] != '\0' && evidence_is_of_one_build(evidence) &&
                (self || strcmp(request->as, "spdx") != 0);
    if (!fine) {
        cli_usage_error(&cli_report, "--as %s: the results do not come from one program%s",
                        request->as, strcmp(request->as, "spdx") == 0 ? ", this one" : "");
    }
    return fine;
}

static int write_format(const struct request *request, const struct evidence *evidence,
                        const json_t *finding)
{
    char path[ARTEFACTS_PATH_SIZE];
    const struct formats_format *format = formats_find(request->as);
    json_t *report = report_make(evidence, NULL);
    snprintf(path, sizeof path, "%.4000s/results.jsonl", request->folder);
    struct sums_hash hash = sums_hash_file(path);
    if (format == NULL) {
        sbom_write(stdout, line_get_assay(evidence->begin), line_get_made(evidence->begin));
    } else {
        format->write(stdout, &(struct formats_input){.evidence = evidence,
                                                      .report = report,
                                                      .finding = finding,
                                                      .name = request->finding,
                                                      .results_hash = hash.text});
    }
    json_decref(report);
    return evidence->status;
}

static int report_as(const struct request *request, const struct evidence *evidence)
{
    const struct formats_format *format = formats_find(request->as);
    bool of_finding = format != NULL && format->of_finding;
    bool of_program = strcmp(request->as, "in-toto") == 0 || strcmp(request->as, "spdx") == 0;
    if (of_finding != (request->finding != NULL)) {
        return cli_usage_error(&cli_report, "--finding NAME goes with --as itf and --as perfetto, "
                                            "and with nothing else");
    }
    if (of_program && !has_one_program(request, evidence)) {
        return CLI_USAGE;
    }
    json_t *finding = of_finding ? load_finding(request) : NULL;
    int status =
        of_finding && finding == NULL ? CLI_USAGE : write_format(request, evidence, finding);
    json_decref(finding);
    return status;
}

static int report_tell_or_as(const struct request *request, const struct evidence *evidence)
{
    if (request->as == NULL && request->finding != NULL) {
        return cli_usage_error(&cli_report, "--finding goes with --as itf and --as perfetto");
    }
    return request->as != NULL ? report_as(request, evidence) : report_tell(request, evidence);
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
    status = status == CLI_OK ? report_tell_or_as(request, &evidence) : status;
    evidence_free(&evidence);
    return status;
}

const struct cli_verb cli_report = {.name = "report",
                                    .about = "what results add up to; the page to sign",
                                    .options = options,
                                    .option_count = COUNT(options),
                                    .request_size = sizeof(struct request),
                                    .run = report_verb};
