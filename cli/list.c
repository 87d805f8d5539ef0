/* assay list: what there is. */
#include "cli/cli.h"
#include "reports/clauses.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: assay list clauses|errata [ID...] [--json | --markdown]\n"
    "\n"
    "  clauses  every promise of the five specifications, numbered, and how it is shown to hold\n"
    "  errata   where the specifications contradict themselves, and what Assay decides\n"
    "\n"
    "  ID          a family (ACL, SEQ, KEY, LEG, CUT) or one id (ACL-19, E-ACL-4); all by default\n"
    "  --json      one JSON object a line\n"
    "  --markdown  as a document\n"
    "\n"
    "example: assay list clauses SEQ\n";

static int list(int (*write)(FILE *, enum format_kind, const char *), const char *prefix,
                enum format_kind format, const struct cli_arguments *arguments)
{
    char id[64];
    if (arguments->count == 1) {
        write(stdout, format, "");
        return CLI_OK;
    }
    for (int i = 1; i < arguments->count; i++) {
        const char *wanted = arguments->positional[i];
        if (wanted[0] == '\0') {
            return cli_usage_error(&cli_list, "an ID is not empty; leave it out to list all");
        }
        bool prefixed = strncmp(wanted, prefix, strlen(prefix)) == 0;
        snprintf(id, sizeof id, "%s%s", prefixed ? "" : prefix, wanted);
        if (write(stdout, format, id) == 0) {
            return cli_usage_error(&cli_list, "there is no '%s'; assay list %s shows what there is",
                                   cli_quote(wanted).text, arguments->positional[0]);
        }
    }
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    bool json = false;
    bool markdown = false;
    const struct cli_option options[] = {{"--json", NULL, &json}, {"--markdown", NULL, &markdown}};
    struct cli_arguments arguments;
    int status = cli_parse(&cli_list, argc, argv, options, 2, &arguments);
    if (status != CLI_OK) {
        return status;
    }
    if (json && markdown) {
        return cli_usage_error(&cli_list, "--json and --markdown exclude each other");
    }
    enum format_kind format = json ? FORMAT_JSON : markdown ? FORMAT_MARKDOWN : cli_text_format();
    if (arguments.count == 0) {
        return cli_usage_error(&cli_list, "say what to list: clauses or errata");
    }
    const char *what = arguments.positional[0];
    if (strcmp(what, "clauses") == 0) {
        return list(clauses_write, "", format, &arguments);
    }
    if (strcmp(what, "errata") == 0) {
        return list(clauses_write_errata, "E-", format, &arguments);
    }
    return cli_usage_error(&cli_list, "'%s' cannot be listed: it is one of clauses, errata",
                           cli_quote(what).text);
}

const struct cli_verb cli_list = {
    .name = "list", .about = "the promises, and what was decided", .help = help, .run = run};
