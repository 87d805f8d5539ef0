/* The results of one scenario's runs on PostgreSQL: `assay real` prints them, a finding keeps them. */
#ifndef VERIFY_REAL_RESULT_H
#define VERIFY_REAL_RESULT_H

#include "real/outcome_audit.h"
#include "verify/real_judge.h"
#include "verify/real_plan.h"

struct real_result {
    char scenario[SCENARIO_NAME_SIZE];
    const char *sabotage; /* NULL: none */
    const struct protocol *protocol;
    uint64_t runs, jobs, commits, changes;
    double seconds;
    bool storms;                       /* faults were injected */
    uint64_t late;                     /* runs whose time was up before their work was done */
    uint64_t expected;                 /* runs that broke what the scenario is to break, */
    struct oracle_verdict as_expected; /* ... the last of them */
    int status;                        /* enum cli_status */
    struct real_verdict verdict;
    struct chaos_report chaos;
    struct outcome_audit audit;
    struct real_profile profile;
    enum clause_id unreached[SCENARIO_REACHES_MAX]; /* that the scenario is to reach, and did not */
    size_t unreached_count;
};

#endif
