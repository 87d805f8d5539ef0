/* The four guards of the pipeline (seed 004, 7), switched off in any combination: what each of them is
 * good for beside the others. Not in the list of planted bugs, since not every combination breaks a
 * promise; sim/tests/test_guards.c holds README.md's table of them. */
#ifndef FAULTS_PIPELINE_GUARDS_H
#define FAULTS_PIPELINE_GUARDS_H

#include "faults/sabotage.h"

enum pipeline_guard {
    PIPELINE_GUARD_CAS = 1,       /* a status is set whatever it was */
    PIPELINE_GUARD_LOCK = 2,      /* no phase takes the advisory lock of its entry */
    PIPELINE_GUARD_ISOLATION = 4, /* CUT and VERIFY run at READ COMMITTED */
    PIPELINE_GUARD_KEYS = 8, /* REVIEW, CUT and VERIFY draw new ids when they are asked again */
    PIPELINE_GUARD_SETS = 16 /* sets of guards are below */
};

/* Without this set of guards. */
struct sabotage pipeline_without_guards(unsigned guards);

#endif
