/* assay: finds the verb and hands over. */
#include "build.h" /* made by build.cmake */
#include "cli/cli.h"
#include "cli/results.h"
#include "real/cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_verb *const verbs[] = {
    &cli_run,      &cli_campaign, &cli_sweep, &cli_explore, &cli_replay, &cli_shrink,
    &cli_sabotage, &cli_compare,  &cli_real,  &cli_conform, &cli_report, &cli_merge,
    &cli_sign_off, &cli_decode,   &cli_list,  &cli_bench,   &cli_wire};
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

/* assay help [VERB] */
static int help(const char *name)
{
    const struct cli_verb *verb = name == NULL ? NULL : find_verb(name);
    if (verb != NULL) {
        fputs(verb->help, stdout);
    } else {
        write_overview(stdout);
    }
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct cli_verb *verb = find_verb(word);
    if (verb != NULL) {
        return run_verb(verb, argc - 1, argv + 1);
    }
    if (asks_for_help(word) || strcmp(word, "help") == 0) {
        return help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(word, "--version") == 0) {
        puts("assay " ASSAY_VERSION);
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

/* A CHECK that failed has said what; this says it to scripts. */
static void exit_as_bug(int signal_number)
{
    (void)signal_number;
    _Exit(CLI_BUG);
}

int main(int argc, char **argv)
{
    static const struct results_build build = {.version = ASSAY_VERSION,
                                               .commit = BUILD_COMMIT,
                                               .compiler = ASSAY_COMPILER,
                                               .flags = ASSAY_FLAGS,
                                               .dirty = BUILD_DIRTY,
                                               .clauses_hash = BUILD_CLAUSES,
                                               .errata_hash = BUILD_ERRATA};
    signal(SIGABRT, exit_as_bug);
    results_begin(&build, argc, argv);
    cluster_sweep(&(struct cluster_options){0}); /* what a killed assay left behind */
    int status = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("assay: the output could not be written in full\n", stderr);
        return CLI_UNAVAILABLE;
    }
    return status;
}
