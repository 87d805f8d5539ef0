/* A program of this folder or of bench/, from main to its exit status.
 *
 * `assay` is one, `assay-bench` the other; both lie in one folder. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "cli/results.h"

#include <limits.h>

struct program {
    int (*run)(int argc, char **argv);
    const struct results_build *build; /* of which sources it was built (built.c) */
    const char *hashed; /* the program beside it whose hash results name; NULL: itself */
};

/* Notes the command line, removes what killed processes left, runs it, and makes sure that all
 * output was written. Returns the exit status. */
int program_run(const struct program *program, int argc, char **argv);

/* Runs the verb, or prints its help if that is asked for. */
int program_verb(const struct cli_verb *verb, int argc, char **argv);

/* The program of this name in the folder of this one. */
struct program_path {
    char text[PATH_MAX];
};
struct program_path program_beside(const char *name);

#endif
