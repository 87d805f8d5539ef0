/* What `assay real` says: text for people, JSON lines for scripts. */
#ifndef CLI_REAL_TELL_H
#define CLI_REAL_TELL_H

#include "cli/real_judge.h"
#include "cli/real_plan.h"
#include "real/fates.h"
#include "reports/artefacts.h"

/* What came of a scenario's runs. */
struct real_result {
    char scenario[SCENARIO_NAME_SIZE];
    const char *sabotage; /* NULL: none */
    const struct protocol *protocol;
    uint64_t runs, jobs, commits, changes;
    double seconds;
    bool storms;                       /* faults were let loose */
    uint64_t late;                     /* runs whose time was up before their work was done */
    uint64_t expected;                 /* runs that broke what the scenario is to break, */
    struct oracle_verdict as_expected; /* ... the last of them */
    int status;                        /* enum cli_status */
    struct real_verdict verdict;
    struct chaos_report chaos;
    struct fates fates;
    struct real_profile profile;
    enum clause_id unreached[SCENARIO_REACHES_MAX]; /* that the scenario is to reach, and did not */
    size_t unreached_count;
};

/* To people, unless the lines go to stdout; and a line to `results`. `oracle` has judged. */
void real_tell_result(const struct real_result *result, const struct oracle *oracle,
                      struct artefacts *results);

/* After all of them, for people: faults by kind, and crash points beside the simulation's. */
void real_tell_faults(const struct real_result *results, size_t count);

/* What a gate misses, a line each on stderr: a kind that was planned and never hit, a crash point
 * of a bundle that was sent and never hit, a clause that a scenario is to reach and did not. True:
 * nothing. */
bool real_tell_gate(const struct real_result *results, size_t count);

/* Faults that counted. */
uint64_t real_tell_counted(const struct chaos_report *report);

#endif
