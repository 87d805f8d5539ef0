/* What `assay run` is asked for. Other verbs fill it to say how a run of theirs is done again. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/cli.h"

struct run_request {
    const char *scenario, *strategy, *sabotage, *schedule, *out;
    uint64_t seed;
    struct cli_values without;
    bool trace, json, expect_finding;
};

#endif
