/* Rows of the earlier ledger held against what the scenario's text asks for (expected_legacy.h).
 * Where nobody says what is expected, nothing of it is asked.
 *
 *      LEG-1   a Leg1 entry without a claim of its message, or an integer that counts others than
 *              were made
 *      LEG-3   Leg1's answers are marked as published and one is missing
 *      LEG-4   Leg2 was left and no data of such an answer are saved
 *      LEG-5   a message given up for the other leg's reason
 *      LEG-9   a child's integer apart from its parent's save
 *      LEG-10  data under a number that no entry was given
 *      LEG-12  an activity that nobody asked for, other data, other children, no trigger
 *
 * Which answers get in is the schedule's choice (EX2): each that did spawns its own children, in
 * the commit that saves its data. A call after success carries the data of the closing answer and
 * spawns nothing; which of the two was saved is told by the claim that saved it. */
#ifndef MODEL_ORACLE_LEGACY_EXPECTED_H
#define MODEL_ORACLE_LEGACY_EXPECTED_H

#include "model/oracle/legacy_judge.h"

void legacy_expected_commit(struct judge *judge, const struct row_change *changes, size_t count);

/* A message that was given up. */
void legacy_expected_escalation(struct judge *judge, uint32_t escalation, uint32_t message);

/* Once all has settled. */
void legacy_expected_settled(struct judge *judge);

#endif
