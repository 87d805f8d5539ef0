/* Moves of the job semaphore, and Step 2's decision on them.
 * A reference model: tests hold the primitives to it; no run calls it.
 *
 * Runs execute them as a primitive of activity_primitives.def, and sim/tests/test_entries.c holds it
 * to what is said here.
 *
 * (SM1) A move that would make the semaphore negative is refused (ACL-19, E-ACL-19).
 * (SM2) hit = (after == threshold), literally, for any threshold (ACL-23, E-ACL-14). */
#ifndef MODEL_REFERENCE_SEMAPHORE_H
#define MODEL_REFERENCE_SEMAPHORE_H

#include "model/reference/ledger.h"

#include <stdbool.h>
#include <stdint.h>

enum semaphore_outcome {
    SEMAPHORE_MOVED,
    SEMAPHORE_NEGATIVE,    /* it would fall below 0, or is there: an obligation closed twice */
    SEMAPHORE_OVERFLOW,    /* it would leave 64 bits */
    SEMAPHORE_GUID_REFUSED /* the GUID ledger cannot record the hit in that field */
};

struct semaphore_move {
    enum semaphore_outcome outcome;
    int64_t after; /* after the call, moved or not */
    bool hit;      /* it moved, and equals the threshold */
};

struct semaphore_collation {
    enum semaphore_outcome outcome; /* anything but MOVED changed neither number */
    int64_t after;                  /* after the call */
    int64_t guid;                   /* after the call */
    bool hit;                       /* what setStatusAndCollateGuid returns */
};

struct semaphore_move semaphore_apply(int64_t semaphore, int64_t delta, int64_t threshold);

/* Asserts (SM1) and (SM2) of a move. */
void semaphore_check(int64_t before, int64_t threshold, const struct semaphore_move *move);

/* setStatusAndCollateGuid (12.2): move, compare, add hit * weight of the field
 * to the GUID ledger. The field is a parameter; Step 2 passes GUID_JOB_CLOSED, weight 100B. Without
 * a hit the GUID ledger is not read. */
struct semaphore_collation semaphore_collate(int64_t semaphore, int64_t delta, int64_t threshold,
                                             int64_t guid, enum ledger_field field);

#endif
