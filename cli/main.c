/* assay: finds the verb and hands over. */
#include "cli/program.h"
#include "cli/results.h"

#include <stdio.h>
#include <string.h>

static const struct cli_verb *const verbs[] = {
    &cli_run,      &cli_campaign, &cli_sweep, &cli_explore, &cli_replay, &cli_shrink,
    &cli_sabotage, &cli_compare,  &cli_real,  &cli_conform, &cli_report, &cli_merge,
    &cli_sign_off, &cli_decode,   &cli_list,  &cli_bench};
#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

static void write_overview(FILE *out)
{
    fputs("Assay finds the crash, replay or lost answer that breaks \"exactly once\" in ledger\n"
          "protocols on PostgreSQL, before production does.\n"
          "\n"
          "usage: assay VERB [ARGUMENT...]\n"
          "\n",
          out);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        fprintf(out, "  %-8s %s\n", verbs[i]->name, verbs[i]->about);
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

static const struct cli_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(name, verbs[i]->name) == 0) {
            return verbs[i];
        }
    }
    return NULL;
}

/* assay help [VERB] */
static int help(const char *name)
{
    const struct cli_verb *verb = name == NULL ? NULL : find_verb(name);
    if (verb != NULL) {
        char asking[] = "--help";
        return program_verb(verb, 2, (char *[]){asking, asking, NULL});
    }
    write_overview(stdout);
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct cli_verb *verb = find_verb(word);
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
    return program_run(&(struct program){.run = run}, argc, argv);
}
