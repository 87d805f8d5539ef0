/* assay wire in a build without libpq: it says what is missing. */
#include "cli/cli.h"

#include <stdio.h>

static int run_verb(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fprintf(stderr,
            "assay wire: built without libpq: install the Debian package libpq-dev and build "
            "again\n");
    return CLI_UNAVAILABLE;
}

const struct cli_verb cli_wire = {.name = "wire",
                                  .about = "any engine on PostgreSQL, crashed at every commit",
                                  .help = "usage: assay wire SUBJECT.yaml (needs libpq)\n",
                                  .run = run_verb};
