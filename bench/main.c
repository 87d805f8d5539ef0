/* assay-bench: what `assay bench` runs. */
#include "bench/bench.h"
#include "cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv)
{
    return program_verb(&bench_verb, argc - 1, argv + 1);
}

/* The words are those of `assay bench ...`, so that results name the command that users know. */
int main(int argc, char **argv)
{
    static char verb[] = "bench";
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (words == NULL) {
        fputs("assay bench: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    words[0] = argv[0];
    words[1] = verb;
    memcpy(words + 2, argv + 1, ((size_t)argc - 1) * sizeof *words);
    int status = program_run(
        &(struct program){.run = run, .build = &results_built, .hashed = "assay"}, argc + 1, words);
    free(words);
    return status;
}
