/* assay list: what there is. */
#include "cli/cli.h"
#include "cli/list_rows.h"
#include "reports/clauses.h"
#include "verify/terminal.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: assay list WHAT [ID...] [--coverage DIR] [--json | --markdown]\n"
    "\n"
    "  scenarios  the workloads that are built in\n"
    "  faults     everything that can go wrong in a run\n"
    "  promises   the clauses that runs put to the test, and how they are judged\n"
    "  sabotages  the bugs that can be planted\n"
    "  clauses    every promise of the five specifications, numbered, and how it is shown to hold\n"
    "  errata     where the specifications contradict themselves, and what Assay decides\n"
    "\n"
    "  ID              a name; of clauses a family such as ACL, or one id (ACL-19, E-ACL-4); all\n"
    "                  by default\n"
    "  --coverage DIR  of faults, promises and clauses: how often the campaign that wrote DIR\n"
    "                  (assay campaign --out DIR) put each to the test\n"
    "  --json          one JSON object a line\n"
    "  --markdown      as a document: clauses and errata\n"
    "\n"
    "example: assay list clauses SEQ\n"
    "example: assay list promises --coverage results\n";

struct request {
    enum format_kind format;
    const struct list_coverage *coverage; /* NULL: not asked for */
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
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}

static int list(const struct kind *kind, const struct request *request,
                const struct cli_arguments *arguments)
{
    char id[64];
    if (arguments->count == 1) {
        kind->write(request, "");
        return CLI_OK;
    }
    for (int i = 1; i < arguments->count; i++) {
        const char *wanted = arguments->positional[i];
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
static int list_covered(const struct kind *kind, enum format_kind format, const char *folder,
                        const struct cli_arguments *arguments)
{
    struct list_coverage coverage;
    struct list_fault fault;
    if (!kind->covered) {
        return cli_usage_error(&cli_list, "--coverage is for faults, promises and clauses");
    }
    if (!list_coverage_load(folder, &coverage, &fault)) {
        return cli_usage_error(&cli_list, "--coverage %s", fault.text);
    }
    struct request request = {.format = format, .coverage = &coverage};
    int status = list(kind, &request, arguments);
    list_coverage_free(&coverage);
    return status;
}

static int run(int argc, char **argv)
{
    bool json = false;
    bool markdown = false;
    const char *folder = NULL;
    const struct cli_option options[] = {
        {"--json", NULL, &json}, {"--markdown", NULL, &markdown}, {"--coverage", &folder, NULL}};
    struct cli_arguments arguments;
    int status = cli_parse(&cli_list, argc, argv, options, 3, &arguments);
    if (status != CLI_OK) {
        return status;
    }
    if (json && markdown) {
        return cli_usage_error(&cli_list, "--json and --markdown exclude each other");
    }
    if (arguments.count == 0) {
        return cli_usage_error(&cli_list, "say what to list: scenarios, faults, promises, "
                                          "sabotages, clauses or errata");
    }
    const struct kind *kind = find_kind(arguments.positional[0]);
    if (kind == NULL) {
        return cli_usage_error(&cli_list,
                               "'%s' cannot be listed: it is one of scenarios, faults, promises, "
                               "sabotages, clauses, errata",
                               cli_quote(arguments.positional[0]).text);
    }
    if (markdown && (!kind->document || folder != NULL)) {
        return cli_usage_error(&cli_list, "--markdown is for clauses and errata, without coverage");
    }
    struct request request = {.format = json       ? FORMAT_JSON
                                        : markdown ? FORMAT_MARKDOWN
                                                   : terminal_format()};
    return folder == NULL ? list(kind, &request, &arguments)
                          : list_covered(kind, request.format, folder, &arguments);
}

const struct cli_verb cli_list = {
    .name = "list", .about = "what there is, and what was decided", .help = help, .run = run};
