/* assay list: what there is. */
#include "cli/list_rows.h"
#include "cli/options.h"
#include "model/check.h"
#include "reports/clauses.h"
#include "verify/terminal.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *what, *folder;
    struct cli_arguments ids;
    bool json, markdown;
    enum format_kind format;
    const struct list_coverage *coverage; /* NULL: not asked for */
};

static const char *const listed[] = {"scenarios", "faults", "promises", "sabotages",
                                     "clauses",   "errata", NULL};

static const struct option options[] = {
    {WORD_ROW(struct request, what, NULL, "WHAT", listed), .needed = true,
     .lacking = "say what to list: scenarios, faults, promises, sabotages, clauses or errata",
     .right = "cannot be listed: it is one of scenarios, faults, promises, sabotages, clauses, "
              "errata",
     .about = "what to list, as above"},
    {ARGUMENTS_ROW(struct request, ids, "ID", false), .names = NAMES_OF_NOTHING,
     .about =
         "a name; of clauses a family such as ACL, or one id (ACL-19, E-ACL-4); all without it"},
    {TEXT_ROW(struct request, folder, "--coverage", "DIR"),
     .about = "of faults, promises and clauses: how often the campaign that wrote DIR (assay "
              "campaign --out DIR) put each to the test"},
    {JSON_ROW(struct request, ": one object a line"), .excludes = "--markdown"},
    {FLAG_ROW(struct request, markdown, "--markdown"), .again = AGAIN_NEVER,
     .about = "as a document: clauses and errata"},
};

/* One kind of thing: writes those that an id names ("" for all), and returns how many. */
struct kind {
    const char *name;
    const char *prefix;
    bool covered;  /* takes --coverage */
    bool document; /* takes --markdown */
    int (*write)(const struct request *request, const char *id);
};

static int write_clauses(const struct request *request, const char *id)
{
    return request->coverage == NULL
               ? clauses_write(stdout, request->format, id)
               : list_rows_promises(stdout, request->format, id, true, request->coverage);
}

static int write_errata(const struct request *request, const char *id)
{
    return clauses_write_errata(stdout, request->format, id);
}

static int write_promises(const struct request *request, const char *id)
{
    return list_rows_promises(stdout, request->format, id, false, request->coverage);
}

static int write_scenarios(const struct request *request, const char *id)
{
    return list_rows_scenarios(stdout, request->format, id);
}

static int write_faults(const struct request *request, const char *id)
{
    return list_rows_faults(stdout, request->format, id, request->coverage);
}

static int write_sabotages(const struct request *request, const char *id)
{
    return list_rows_sabotages(stdout, request->format, id);
}

static const struct kind kinds[] = {
    {"scenarios", "", false, false, write_scenarios},
    {"faults", "", true, false, write_faults},
    {"promises", "", true, false, write_promises},
    {"sabotages", "", false, false, write_sabotages},
    {"clauses", "", true, true, write_clauses},
    {"errata", "E-", false, true, write_errata},
};
#define KIND_COUNT COUNT(kinds)

static const struct kind *find_kind(const char *name)
{
    size_t i = 0;
    while (i + 1 < KIND_COUNT && strcmp(name, kinds[i].name) != 0) {
        i++;
    }
    return &kinds[i];
}

static int list(const struct kind *kind, const struct request *request)
{
    char id[64];
    if (request->ids.count == 0) {
        kind->write(request, "");
        return CLI_OK;
    }
    for (int i = 0; i < request->ids.count; i++) {
        const char *wanted = request->ids.positional[i];
        if (wanted[0] == '\0') {
            return cli_usage_error(&cli_list, "an ID is not empty; leave it out to list all");
        }
        bool prefixed = strncmp(wanted, kind->prefix, strlen(kind->prefix)) == 0;
        snprintf(id, sizeof id, "%s%s", prefixed ? "" : kind->prefix, wanted);
        if (kind->write(request, id) == 0) {
            return cli_usage_error(&cli_list, "there is no '%s'; assay list %s shows what there is",
                                   cli_quote(wanted).text, kind->name);
        }
    }
    return CLI_OK;
}

/* With what a campaign left in a folder. */
static int list_covered(const struct kind *kind, struct request *request)
{
    struct list_coverage coverage;
    struct error error;
    if (!kind->covered) {
        return cli_usage_error(&cli_list, "--coverage is for faults, promises and clauses");
    }
    if (!list_coverage_load(request->folder, &coverage, &error)) {
        return cli_usage_error(&cli_list, "--coverage %s", error.text);
    }
    request->coverage = &coverage;
    int status = list(kind, request);
    list_coverage_free(&coverage);
    return status;
}

static int list_verb(void *asked)
{
    struct request *request = asked;
    const struct kind *kind = find_kind(request->what);
    if (request->markdown && (!kind->document || request->folder != NULL)) {
        return cli_usage_error(&cli_list, "--markdown is for clauses and errata, without coverage");
    }
    request->format = request->json       ? FORMAT_JSON
                      : request->markdown ? FORMAT_MARKDOWN
                                          : terminal_format();
    return request->folder == NULL ? list(kind, request) : list_covered(kind, request);
}

const struct cli_verb cli_list = {.name = "list",
                                  .about = "what there is, and what was decided",
                                  .options = options,
                                  .option_count = COUNT(options),
                                  .request_size = sizeof(struct request),
                                  .run = list_verb};
