/* The job semaphore of seed 000: how many obligations of a job are still open. It is no ledger: it
 * goes up and down, but never below 0.
 *
 * A job starts at 1, the obligation of its trigger (E-ACL-9). Step 2 moves it, decides whether it
 * now stands at the job's threshold, and writes that decision into the GUID ledger, all in one
 * commit (ACL-17, ACL-40). Owns that arithmetic; the row belongs to the store.
 *
 * (M1) A move that would make the semaphore negative is refused (ACL-19, E-ACL-19).
 * (M2) hit = (after == threshold), literally, for any threshold (ACL-23, E-ACL-14). */
#ifndef MODEL_SEMAPHORE_H
#define MODEL_SEMAPHORE_H

#include "model/ledger.h"

#include <stdbool.h>
#include <stdint.h>

#define SEMAPHORE_AT_CREATION INT64_C(1)

enum semaphore_outcome {
    SEMAPHORE_MOVED,
    SEMAPHORE_NEGATIVE,    /* it would fall below 0, or stands there: an obligation closed twice */
    SEMAPHORE_OVERFLOW,    /* it would leave 64 bits */
    SEMAPHORE_GUID_REFUSED /* a hit that the GUID ledger cannot take in that field */
};

struct semaphore_move {
    enum semaphore_outcome outcome;
    int64_t after; /* the semaphore as it now is, moved or not */
    bool hit;      /* it moved, and stands at the threshold */
};

struct semaphore_collation {
    enum semaphore_outcome outcome; /* anything but MOVED changed neither number */
    int64_t after;                  /* the semaphore as it now is */
    int64_t guid;                   /* the GUID ledger as it now is */
    bool hit;                       /* what setStatusAndCollateGuid returns */
};

/* N - 1 when the activity closes with N children (ACL-20); N when it answered "pending" and stays
 * open (E-ACL-8). */
int64_t semaphore_delta(int64_t children, bool pending);

struct semaphore_move semaphore_apply(int64_t semaphore, int64_t delta, int64_t threshold);

/* setStatusAndCollateGuid (12.2): move, compare, add hit * weight of the field to the GUID ledger.
 * The field is a parameter; Step 2 passes GUID_JOB_CLOSED, weight 100B. Without a hit
 * the GUID ledger is not looked at. */
struct semaphore_collation semaphore_collate(int64_t semaphore, int64_t delta, int64_t threshold,
                                             int64_t guid, enum ledger_field field);

#endif
