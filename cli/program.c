#include "cli/program.h"

#include "cli/options.h"
#include "cli/results.h"
#include "real/cluster.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int program_verb(const struct cli_verb *verb, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (asks_for_help(argv[i])) {
            options_help(stdout, verb);
            return CLI_OK;
        }
    }
    return cli_run_verb(verb, argc, argv);
}

struct program_path program_beside(const char *name)
{
    struct program_path path = {""};
    ssize_t length = readlink("/proc/self/exe", path.text, sizeof path.text - 1);
    char *slash = length < 0 ? NULL : strrchr(path.text, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path.text) + 1;
    snprintf(path.text + folder, sizeof path.text - folder, "%s", name);
    return path;
}

/* A CHECK that failed has said what; this says it to scripts. */
static void exit_as_bug(int signal_number)
{
    (void)signal_number;
    _Exit(CLI_BUG);
}

/* A sanitizer that has a handler of its own says more. */
static void exit_as_bug_on(int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
        signal(signal_number, exit_as_bug);
    }
}

int program_run(const struct program *program, int argc, char **argv)
{
    static struct program_path hashed; /* results are written until the end */
    struct results_build build = *program->build;
    if (program->hashed != NULL) {
        hashed = program_beside(program->hashed);
        build.binary = hashed.text;
    }
    exit_as_bug_on(SIGABRT);
    exit_as_bug_on(SIGSEGV);
    exit_as_bug_on(SIGBUS);
    exit_as_bug_on(SIGFPE);
    results_begin(&build, argc, argv);
    cluster_sweep(&(struct cluster_options){0}); /* what a killed assay left behind */
    int status = program->run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("assay: the output could not be written in full\n", stderr);
        return CLI_UNAVAILABLE;
    }
    return status;
}
