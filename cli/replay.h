/* What `assay replay` is asked for. `assay shrink` fills it to say how its schedule is replayed. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "cli/cli.h"

struct replay_request {
    const char *file; /* a schedule, or the folder of a finding */
    const char *dsn;
    uint64_t until; /* 0: not asked for */
    bool trace, edited, json, expect_finding, real;
};

#endif
