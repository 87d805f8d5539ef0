/* assay wire in a build without libpq: it says what is missing. */
#include "cli/options.h"

#include <stdio.h>

struct request {
    struct cli_arguments subjects;
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, subjects, "SUBJECT.yaml", true), .about = "needs libpq"}};

static int wire_missing_verb(void *request)
{
    (void)request;
    fprintf(
        stderr,
        "assay wire: built without libpq: install the Debian package libpq-dev and build again\n");
    return CLI_UNAVAILABLE;
}

const struct cli_verb cli_wire = {.name = "wire",
                                  .about = "any engine on PostgreSQL, crashed at every commit",
                                  .options = options,
                                  .option_count = 1,
                                  .request_size = sizeof(struct request),
                                  .run = wire_missing_verb};
