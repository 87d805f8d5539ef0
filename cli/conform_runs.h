/* assay conform, second half: runs of scenarios that PostgreSQL follows statement by statement.
 *
 * Of all scenarios a few runs each are followed. Then, for primitives that none of them asked for,
 * seeds are looked for in the simulation, which is quick, and followed: so that every primitive of
 * every protocol is compared, however rare the path to it. */
#ifndef CLI_CONFORM_RUNS_H
#define CLI_CONFORM_RUNS_H

#include "cli/cli.h"
#include "reports/artefacts.h"

#include <signal.h>

struct conform_runs {
    struct artefacts *results;
    bool json;
    const char *dsn;
    uint64_t first_seed;
    uint64_t seeds; /* of all scenarios: a tenth of it is runs; else of each that is named */
    const volatile sig_atomic_t *interrupted;
};

/* Both return an exit status: CLI_BROKEN if the stores differ. */
int conform_follow_named(const struct conform_runs *runs, const struct cli_arguments *scenarios);

/* Also CLI_INCOMPLETE, if a primitive was never compared. */
int conform_follow_all(const struct conform_runs *runs);

#endif
