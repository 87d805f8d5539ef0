/* assay: finds the verb and hands over. */
#include "cli/options.h"
#include "cli/program.h"
#include "cli/results.h"

#include <stdio.h>
#include <string.h>

static void write_overview(FILE *out)
{
    fputs("Assay finds the crash, replay or lost answer that breaks \"exactly once\" in ledger\n"
          "protocols on PostgreSQL, before production does.\n"
          "\n"
          "usage: assay VERB [ARGUMENT...]\n"
          "\n",
          out);
    for (const struct cli_verb *const *verb = cli_verbs; *verb != NULL; verb++) {
        fprintf(out, "  %-10s %s\n", (*verb)->name, (*verb)->about);
    }
    fputs("\n"
          "assay VERB --help tells more about one of them, with an example; assay --version.\n"
          "Exit status: 0 every promise held, 1 a promise was broken, 2 no progress, 3 not\n"
          "deterministic, 4 incomplete, 64 usage or bad input, 69 something is not available,\n"
          "70 a bug in Assay.\n",
          out);
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* assay help [VERB] */
static int help(const char *name)
{
    const struct cli_verb *verb = name == NULL ? NULL : cli_find_verb(name);
    if (verb != NULL) {
        options_help(stdout, verb);
    } else {
        write_overview(stdout);
    }
    return CLI_OK;
}

static int main_run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct cli_verb *verb = cli_find_verb(word);
    if (verb != NULL) {
        return program_verb(verb, argc - 1, argv + 1);
    }
    if (asks_for_help(word) || strcmp(word, "help") == 0) {
        return help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(word, "--version") == 0) {
        printf("assay %s\n", results_built.version);
        return CLI_OK;
    }
    if (argc > 1) {
        fprintf(stderr, "assay: there is no verb '%s'; assay --help lists them\n",
                cli_quote(word).text);
    } else {
        write_overview(stderr);
    }
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    return program_run(&(struct program){.run = main_run, .build = &results_built}, argc, argv);
}
