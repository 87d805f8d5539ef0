/* The monitors of the two-leg activity protocol (seed 000): every promise of kind safe, judged
 * after every commit from the rows that the commit wrote; the paths that must be seen, counted;
 * the live promises, judged once faults have stopped and everything has settled.
 *
 * A monitor sees rows and nothing else: what the store committed, in the store's order. It never
 * sees an engine, a bundle, a worker or a fault, links no ledger or engine code, and decodes digits
 * by itself. Cost: O(rows written) a commit. What it must remember of the past it keeps in ghost
 * cells beside the rows (ghosts.h), so that a search can take a commit back.
 *
 * Three oracles share the walk over a commit's changes and can be told apart in a finding:
 *   ledger     digits, markers, counters, bundling, acks: every number by itself and together
 *   semaphore  the job row: obligations, closure, snapshot, completion
 *   data       who received what from whom, by dimension; final data against a crash-free run
 *
 * (OA1) A commit is judged whole: a change is looked at with every other change of its commit.
 * (OA2) A clause that is switched off is neither reported nor counted, and all others are judged as
 *      if it were on.
 * (OA3) At most one breach a commit is reported: the first in the order of activity.c.
 * (OA4) A clause is counted where its antecedent holds: Step 3 for ACL-18, an ack for ACL-30. */
#ifndef MODEL_ORACLE_ACTIVITY_H
#define MODEL_ORACLE_ACTIVITY_H

#include "model/oracle/oracle.h"

/* How many jobs, how many activity ledgers and how many GUID ledgers one commit may write. Children
 * that a Step 2 inserts do not count: there is no bound on them. */
#define ORACLE_COMMIT_ROWS_MAX 32

/* How many ghost cells a commit of so many changes writes at most: the room in the log. */
#define ORACLE_COMMIT_WRITES_MAX(changes) (16 * (size_t)(changes) + 16)

/* How many ghost cells the monitors need beside tables of these capacities. */
size_t oracle_activity_cells(const struct rows *rows);

/* One commit. */
struct oracle_verdict oracle_activity_commit(struct oracle *oracle, const struct rows *rows,
                                             const struct row_change *changes, size_t count);

/* Nothing is left to be done, or the bound on doing it was reached (`quiet` false): the live
 * promises. */
struct oracle_verdict oracle_activity_settled(struct oracle *oracle, const struct rows *rows,
                                              bool quiet);

/* The slow way: every safe promise that the rows alone can show, over all rows, without ghosts or
 * history. Must agree with the monitors: false alarms of either are bugs of Assay. */
struct oracle_verdict oracle_activity_recheck(struct oracle *oracle, const struct rows *rows);

extern const struct monitors monitors_activity;

#endif
