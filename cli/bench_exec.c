/* assay bench: hands over to assay-bench, which lies beside assay, so that the product holds no
 * benchmark and nothing that it is measured beside. */
#include "cli/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(int argc, char **argv)
{
    (void)argc;
    struct program_path path = program_beside("assay-bench");
    fflush(stdout);
    execv(path.text, argv);
    fprintf(stderr, "assay bench: %s cannot be started: build assay-bench, and leave it there\n",
            path.text);
    return CLI_UNAVAILABLE;
}

const struct cli_verb cli_bench = {
    .name = "bench", .about = "the benchmarks, with ratios", .help = NULL, .run = run};
