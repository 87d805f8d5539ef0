/* assay conform, second half: runs of scenarios that PostgreSQL follows statement by statement.
 *
 * Of all scenarios a few runs each are followed. Then, for primitives that none of them asked for,
 * seeds are looked for in the simulation, which is quick, and followed: so that every primitive of
 * every protocol is compared, however rare the path to it. */
#ifndef VERIFY_CONFORM_RUNS_H
#define VERIFY_CONFORM_RUNS_H

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

/* Why a scenario that was named cannot be followed. */
struct conform_refusal {
    char text[400];
};

/* Both return an exit status: CLI_BROKEN if the stores differ. CLI_USAGE: *refusal says why. */
int conform_follow_named(const struct conform_runs *runs, const char *const *names, int count,
                         struct conform_refusal *refusal);

/* Also CLI_INCOMPLETE, if a primitive was never compared. */
int conform_follow_all(const struct conform_runs *runs);

#endif
