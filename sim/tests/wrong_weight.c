/* 200 seeds of tree-3 with whatever ledger it is linked with (wrong_weight.sh). Exit 1 as soon as a
 * promise is broken, and says which; 0 if none is; 2 if there was nothing to judge. */
#include "sim/run.h"

#include <stdio.h>

#define SEEDS 200

static struct scenario scenario;
static struct run run;

int main(void)
{
    struct error error;
    if (!scenario_load("tree-3", &scenario, &error) || !run_make(&run, &scenario, NULL)) {
        return 2;
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct choice_source source = choice_random(seed, &scenario.faults);
        const struct run_result *result = run_once(&run, &source);
        if (result->verdict == RUN_STORE_FULL) {
            return 2;
        }
        if (result->verdict == RUN_BROKEN) {
            printf("%s: %s\n", clause_get(result->breach.clause)->id, result->breach.why);
            return 1;
        }
    }
    printf("%d seeds, no promise broken\n", SEEDS);
    return 0;
}
