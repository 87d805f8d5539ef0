/* assay verify: whether an acceptance page, its evidence and a binary belong together. */
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/seal.h"
#include "cli/sums.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "reports/sign_off.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

struct request {
    const char *folder, *binary;
    bool json;
};

static const struct option options[] = {
    {ARGUMENT_ROW(struct request, folder, "DIR"),
     .about =
         "a folder that assay sign-off wrote, or one with the page of assay report --sign-off"},
    {TEXT_ROW(struct request, binary, "--binary", "FILE"),
     .about = "the program that is accepted; this very program if it is not given"},
    {JSON_ROW(struct request, ": one object a difference, and one for all")},
};

/* A page with all that it is held against. */
struct checking {
    const struct request *request;
    struct sums_place place;
    char *page;
    size_t page_length;
    size_t sealed;     /* how much of the page its seal covers; 0: it has no right seal */
    const char *block; /* the signature block */
    char *sums;
    size_t sums_length;
    char binary[65];  /* the hash of the program that is accepted */
    bool is_self;     /* this very program is that program */
    size_t different; /* differences that were told */
};

static void verify_tell(void *context, const char *path, const char *why)
{
    struct checking *checking = context;
    checking->different++;
    if (checking->request->json) {
        json_line_write(stdout, line_make(LINE_VERIFY_DIFFERENCE, line_file(path), line_why(why)));
    } else {
        printf("%s %s\n", path, why);
    }
}

/* ---- the page and the sums ------------------------------------------------------------------- */

static char *read_below(const char *folder, const char *name, size_t *length)
{
    char path[ARTEFACTS_PATH_SIZE];
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    return size > 0 && size < (int)sizeof path ? artefacts_read(path, length) : NULL;
}

static bool page_has(const struct checking *checking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool page_has(const struct checking *checking, const char *format, ...)
{
    char text[200];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    const char *at = strstr(checking->page, text);
    return at != NULL && at < checking->page + checking->sealed;
}

static void check_page(struct checking *checking)
{
    checking->sealed = seal_end(checking->page, checking->page_length, &checking->block);
    if (checking->sealed == 0) {
        verify_tell(checking, checking->place.page,
                    "was changed above its signature block: the hash at its end is another");
    }
}

static void check_sums(struct checking *checking)
{
    checking->sums = read_below(checking->place.root, SUMS_NAME, &checking->sums_length);
    if (checking->sums == NULL) {
        verify_tell(checking, SUMS_NAME, "is missing");
        return;
    }
    if (checking->sealed > 0 && !page_has(checking, SIGN_OFF_SUMS "`%s`",
                                          sums_hash(checking->sums, checking->sums_length).text)) {
        verify_tell(checking, SUMS_NAME, "is not the one that the page names");
    }
    sums_compare(&checking->place, checking->sums, checking->sums_length, verify_tell, checking);
}

/* ---- the evidence and the binary ------------------------------------------------------------- */

/* Every session that says what program it is of says this one. */
static void check_builds(struct checking *checking, const struct evidence *evidence)
{
    size_t i, others = 0;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        const char *hash = line_is(line, LINE_BEGIN) ? line_get_binary_hash(line) : "";
        others += hash[0] != '\0' && strcmp(hash, checking->binary) != 0;
    }
    if (others > 0) {
        char why[100];
        snprintf(why, sizeof why, "has results of another program than the binary: %zu sessions",
                 others);
        verify_tell(checking, "results.jsonl", why);
    }
    if (checking->sealed > 0 && !page_has(checking, SIGN_OFF_BINARY "`%s`", checking->binary)) {
        verify_tell(checking, checking->place.page, "is about another program than the binary");
    }
}

/* The page that this program makes of the evidence, down to its seal. */
static void check_made_again(struct checking *checking, const struct evidence *evidence,
                             const json_t *hashes)
{
    static struct sign_off page;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        verify_tell(checking, checking->place.page, "cannot be made again: not enough memory");
        return;
    }
    sign_off_make(&page, evidence);
    page.hashes = hashes;
    snprintf(page.sums, sizeof page.sums, "%s",
             sums_hash(checking->sums, checking->sums_length).text);
    sign_off_write(out, FORMAT_MARKDOWN, &page);
    if (fclose(out) != 0 || length != checking->sealed ||
        memcmp(text, checking->page, length) != 0) {
        verify_tell(checking, checking->place.page, "does not say what this evidence adds up to");
    }
    free(text);
}

static void check_evidence(struct checking *checking)
{
    static struct evidence evidence;
    struct error error;
    size_t length = 0;
    char *text = read_below(checking->place.folder, "results.jsonl", &length);
    evidence_begin(&evidence);
    if (text == NULL) {
        verify_tell(checking, "results.jsonl", "is missing");
    } else if (!evidence_add(&evidence, text, length, "results.jsonl", &error)) {
        verify_tell(checking, "results.jsonl", "cannot be read");
    } else {
        evidence_end(&evidence);
        check_builds(checking, &evidence);
        if (checking->is_self && checking->sealed > 0 && checking->sums != NULL) {
            json_t *hashes = sums_sessions(text, length);
            check_made_again(checking, &evidence, hashes);
            json_decref(hashes);
        }
    }
    evidence_free(&evidence);
    free(text);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The first sum of the page: "309 PASS, 0 FAIL, 2 NOT SHOWN". */
static void copy_sum(const struct checking *checking, char sum[100])
{
    const char *begin = strstr(checking->page, "**");
    size_t length = begin == NULL ? 0 : strcspn(begin + 2, "*\n");
    snprintf(sum, 100, "%.*s", (int)(length < 99 ? length : 99), begin == NULL ? "" : begin + 2);
}

static int verify_end(const struct checking *checking)
{
    bool is_signed = checking->sealed > 0 && seal_is_signed(checking->block);
    int status = checking->different > 0 ? CLI_BROKEN : is_signed ? CLI_OK : CLI_INCOMPLETE;
    char sum[100];
    copy_sum(checking, sum);
    if (checking->request->json) {
        json_line_write(stdout, line_make(LINE_VERIFY, line_differences(checking->different),
                                          line_is_signed(is_signed), line_says(sum),
                                          line_made_again(checking->is_self),
                                          line_binary_hash(checking->binary),
                                          line_status((uint64_t)status)));
        return status;
    }
    if (checking->different > 0) {
        printf("page, evidence and binary do not belong together: %zu differences\n",
               checking->different);
        return status;
    }
    printf("page, evidence and binary belong together; the page says %s\n", sum);
    if (!checking->is_self) {
        printf("this program is not the binary, so the page was not made again of its evidence\n");
    }
    printf("%s\n",
           is_signed ? "the page is signed" : "the page is not signed: it has no name or no date");
    return status;
}

static int check_all(struct checking *checking)
{
    const struct request *request = checking->request;
    const char *binary = request->binary == NULL ? SELF : request->binary;
    snprintf(checking->binary, sizeof checking->binary, "%s", sums_hash_file(binary).text);
    if (checking->binary[0] == '\0') {
        return cli_usage_error(&cli_verify, "%s cannot be read; give the file of a program",
                               cli_quote(binary).text);
    }
    checking->is_self = strcmp(checking->binary, sums_hash_file(SELF).text) == 0;
    check_page(checking);
    check_sums(checking);
    check_evidence(checking);
    return verify_end(checking);
}

static int verify_verb(void *asked)
{
    struct checking checking = {.request = asked, .block = ""};
    const char *folder = checking.request->folder;
    if (!sums_find(&checking.place, folder) ||
        (checking.page = read_below(checking.place.folder, SUMS_PAGE, &checking.page_length)) ==
            NULL) {
        return cli_usage_error(&cli_verify,
                               "%s has no " SUMS_PAGE
                               "; assay sign-off and assay report --sign-off "
                               "write one",
                               cli_quote(folder).text);
    }
    int status = check_all(&checking);
    free(checking.page);
    free(checking.sums);
    return status;
}

const struct cli_verb cli_verify = {.name = "verify",
                                    .about = "whether page, evidence and binary belong together",
                                    .options = options,
                                    .option_count = COUNT(options),
                                    .request_size = sizeof(struct request),
                                    .run = verify_verb};
