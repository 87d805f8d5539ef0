/* A broken promise on PostgreSQL as files. The machine scheduled the run, so there is no schedule to
 * replay. findings/NAME/ has:
 *
 *      words.txt       what was broken, and by which run
 *      plan.jsonl      the planned faults of the run, one a line
 *      history.jsonl   every committed change, in the order of commits, from the server's log
 */
#ifndef VERIFY_REAL_FINDING_H
#define VERIFY_REAL_FINDING_H

#include "reports/artefacts.h"
#include "verify/real_result.h"

struct real_finding {
    const struct real_result *result; /* its verdict is the finding's */
    const struct history *history;
    const struct scenario *scenario;
    const struct chaos_plan *plan;
    uint64_t seed;
    const char *again; /* a command that looks for it again */
};

/* Writes the line and, if results are kept, the files. */
void real_finding_keep(struct artefacts *results, const struct real_finding *finding);

#endif
