/* assay: finds the verb and hands over. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const struct cli_verb *const verbs[] = {&cli_decode, &cli_list, &cli_bench};
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
          "assay VERB --help tells more about one of them, with an example.\n"
          "Exit status: 0 every promise held, 1 a promise was broken, 4 incomplete,\n"
          "64 usage or bad input, 69 something is not available, 70 a bug in Assay.\n",
          out);
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int run_verb(const struct cli_verb *verb, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (asks_for_help(argv[i])) {
            fputs(verb->help, stdout);
            return CLI_OK;
        }
    }
    return verb->run(argc, argv);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (asks_for_help(word) || strcmp(word, "help") == 0) {
        write_overview(stdout);
        return CLI_OK;
    }
    if (strcmp(word, "--version") == 0) {
        puts("assay " ASSAY_VERSION);
        return CLI_OK;
    }
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(word, verbs[i]->name) == 0) {
            int status = run_verb(verbs[i], argc - 1, argv + 1);
            if (fflush(stdout) != 0 || ferror(stdout)) {
                fputs("assay: the output could not be written in full\n", stderr);
                return CLI_UNAVAILABLE;
            }
            return status;
        }
    }
    if (argc > 1) {
        fprintf(stderr, "assay: there is no verb '%s'; assay --help lists them\n", word);
    } else {
        write_overview(stderr);
    }
    return CLI_USAGE;
}
