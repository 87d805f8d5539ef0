/* The job semaphore of seed 000: the number of open obligations of a job. It is no ledger: it goes
 * up and down, but never below 0.
 *
 * A job starts at 1, the obligation of its trigger (E-ACL-9). Step 2 moves it, decides whether it
 * now equals the job's threshold, and writes that decision into the GUID ledger, all in one commit
 * (ACL-17, ACL-40).
 *
 * The move itself is executed by a store, as a primitive of activity_primitives.def;
 * model/reference/semaphore.h is what that is held to. */
#ifndef MODEL_SEMAPHORE_H
#define MODEL_SEMAPHORE_H

#include <stdbool.h>
#include <stdint.h>

#define SEMAPHORE_AT_CREATION INT64_C(1)

/* N - 1 when the activity closes with N children (ACL-20); N when it answered "pending" and stays
 * open (E-ACL-8). */
int64_t semaphore_delta(int64_t children, bool pending);

#endif
