/* Judges the two ledgers and the semaphore of the two-leg protocol (seed 000): one value, or one
 * move, which is what a commit found in a row and what it left there.
 *
 * A reference model of the oracles: tests hold model/reference/ledger.h to it; no run calls it. Runs
 * are judged by the monitors of model/oracle/, which see all rows of a commit.
 *
 * Owns its own statement of the digits and of what may follow what. Never asks which engine or
 * primitive wrote the row, and shares nothing with them: it sees numbers. A commit may hold several
 * steps, so several fields may move at once.
 *
 * A function reports one breach, the first in the order of its list. The order of the moves puts
 * arithmetic (ACL-33, ACL-8) before what the new value says, so that the tenth marker of E-ACL-2 is
 * a carry even to one who overlooked the second. The number that was there before is only read, not
 * judged again: it was judged when it was written. */
#ifndef MODEL_REFERENCE_ORACLE_LEDGER_H
#define MODEL_REFERENCE_ORACLE_LEDGER_H

#include "model/oracle/verdict.h"

#include <stdint.h>

/* An activity ledger at rest:
 *   ACL-3   it has at most 15 digits and is not negative
 *   ACL-5   digits 4-7 are 0 or 1
 *   ACL-9   Leg1 was entered before it was complete
 *   ACL-45  Leg1 was complete before Leg2 was entered
 *   ACL-13  Leg2 was entered before a step of it was marked
 *   ACL-16  work done before children spawned (both are set by one GUID after the other)
 *   ACL-17  children spawned before job tasks done */
struct oracle_verdict oracle_activity_value(int64_t value);

/* An activity ledger's move:
 *   ACL-3   there was a ledger before
 *   ACL-33  the number did not become smaller
 *   ACL-8   no field became smaller while the number grew (a carry), none left the 15 digits
 *   ...     the new value is fine by itself, see above
 *   ACL-4   a counter that grew grew by exactly one: any other step is another field's weight */
struct oracle_verdict oracle_activity_move(int64_t before, int64_t after);

/* A GUID ledger at rest:
 *   ACL-12  it has at most 15 digits, is not negative, and digits 1-3 are 0
 *   ACL-14  no job-closed digit before Step 2
 *   ACL-26  no job tasks without the job-closed digit
 *   ACL-41  digits 4-7 are 0000, 0100, 0110, 1110 or 1111
 *   ACL-13  an entry was counted before a step was marked */
struct oracle_verdict oracle_guid_value(int64_t value);

/* A GUID row that a Leg2 entry created, with the activity ledger that the same entry left. No step
 * is marked yet: what Leg2 owes is decided from the values that the entry returned.
 *   ACL-12  the GUID ledger has at most 15 digits and is not negative
 *   ACL-14  no job-closed digit: the activity's Leg1 digit did not leak (E-ACL-3)
 *   ACL-12  digits 1-3 are 0
 *   ACL-41  digits 5-7 are 0: the activity's step markers did not leak
 *   ACL-3   the activity has a ledger
 *   ACL-45  its Leg1 is complete
 *   ACL-13  its Leg2 entry was counted
 *   ACL-32  the GUID starts at that entry count, which no other GUID has (E-ACL-4)
 *   ACL-31  the dimension is the entry count less one */
struct oracle_verdict oracle_guid_created(int64_t activity_after, int64_t guid, int64_t dimension);

/* A GUID ledger's move:
 *   ACL-12  there was a ledger before
 *   ACL-33  the number did not become smaller, hence no move to the left in the list of ACL-41
 *   ACL-8   no carry, see above
 *   ...     the new value is fine by itself, see above
 *   ACL-12  the attempt counter grew by exactly one, if at all
 *   ACL-21  the job-closed digit came with Step 2, not after it */
struct oracle_verdict oracle_guid_move(int64_t before, int64_t after);

/* The semaphore across one Step 2 that published `children` and closed its activity, or answered
 * `pending` and left it open; `snapshot_taken` says that its GUID got the job-closed digit.
 *   ACL-19  the semaphore is negative neither before nor after
 *   ACL-20  it moved by N - 1, or by N when pending (E-ACL-8)
 *   ACL-21  the snapshot was taken exactly when it now stands at the threshold (E-ACL-14) */
struct oracle_verdict oracle_semaphore_move(int64_t before, int64_t after, int64_t children,
                                            bool pending, int64_t threshold, bool snapshot_taken);

#endif
