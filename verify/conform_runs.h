/* assay conform, third part: runs of scenarios that PostgreSQL follows statement by statement.
 *
 * A few runs of every scenario are followed. For a primitive that none of them used, the simulation
 * searches for seeds that do, which is quick, and those are followed: so every primitive of every
 * protocol is compared. */
#ifndef VERIFY_CONFORM_RUNS_H
#define VERIFY_CONFORM_RUNS_H

#include "model/error.h"
#include "reports/artefacts.h"
#include "verify/status.h"

#include <signal.h>
#include <stdint.h>

struct conform_runs {
    struct artefacts *results;
    bool json;
    const char *dsn;
    uint64_t first_seed;
    uint64_t seeds; /* of all scenarios: a tenth of it is runs; else of each that is named */
    const volatile sig_atomic_t *interrupted;
};

/* Both return an exit status: CLI_BROKEN if the stores differ. CLI_USAGE: *refusal says why. */
int conform_follow_named(const struct conform_runs *runs, const char *const *names, int count,
                         struct error *refusal);

/* Also CLI_INCOMPLETE, if a primitive was never compared. */
int conform_follow_all(const struct conform_runs *runs);

#endif
