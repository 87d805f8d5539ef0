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

#include "model/oracle/ghosts.h"
#include "model/oracle/verdict.h"
#include "model/rows.h"

/* How many jobs, how many activity ledgers and how many GUID ledgers one commit may write. Children
 * that a Step 2 inserts do not count: there is no bound on them. */
#define ORACLE_COMMIT_ROWS_MAX 32

/* How many ghost cells a commit of so many changes writes at most: the room in the log. */
#define ORACLE_COMMIT_WRITES_MAX(changes) (16 * (size_t)(changes) + 16)

/* Which oracle spoke. */
enum oracle_name { ORACLE_LEDGER, ORACLE_SEMAPHORE, ORACLE_DATA, ORACLE_NAME_COUNT };

/* A path that must be seen taken, and how it is recognised in rows alone. */
enum oracle_sighting {
    SIGHT_LEG1_ENTRY_APART,   /* ACL-9: +1T committed without the work */
    SIGHT_LEG1_STALE,         /* ACL-10: a Leg1 entry found 100B set, and its message was acked */
    SIGHT_THRESHOLD_0,        /* ACL-23: a Step 2 landed on threshold 0 */
    SIGHT_THRESHOLD_1,        /* ACL-23: on threshold 1 */
    SIGHT_THRESHOLD_12,       /* ACL-23: on threshold 12 */
    SIGHT_RESUME_NOTHING,     /* ACL-24: a known GUID was entered again at 0000 */
    SIGHT_RESUME_WORK,        /* ACL-24: at 0100 */
    SIGHT_RESUME_SPAWNED,     /* ACL-24: at 0110 */
    SIGHT_RESUME_CLOSED,      /* ACL-24: at 1110 */
    SIGHT_RESUME_DONE,        /* ACL-24: at 1111 */
    SIGHT_STEP3_AFTER_RESUME, /* ACL-25: Step 3 after the GUID was entered again at 1110 */
    SIGHT_REPLAY_LEG1_BEFORE_ACK, /* ACL-34: a finished Leg1 message claimed again before its ack */
    SIGHT_REPLAY_LEG1_AFTER_ACK,  /* ACL-34: another copy claimed after a first one was acked */
    SIGHT_REPLAY_LEG2_BEFORE_ACK, /* ACL-34: likewise for Leg2 */
    SIGHT_REPLAY_LEG2_AFTER_ACK,
    SIGHT_COUNT
};

enum clause_id oracle_sighting_clause(enum oracle_sighting sighting);
const char *oracle_sighting_text(enum oracle_sighting sighting);

struct oracle_activity {
    struct ghosts ghosts;             /* memory of the past; activity_judge.h says of what */
    bool off[CLAUSE_COUNT];           /* switched off: --without */
    bool silent[ORACLE_NAME_COUNT];   /* an oracle that may report nothing: --without */
    uint64_t evaluated[CLAUSE_COUNT]; /* how often each clause's antecedent held */
    uint64_t seen[SIGHT_COUNT];       /* how often each path was seen */
    enum oracle_name spoke;           /* who reported the last breach */
    uint8_t table;                    /* the row it is about: enum row_table, slot */
    uint32_t slot;
};

/* How many ghost cells the monitors need beside tables of these capacities. */
size_t oracle_activity_cells(const struct rows *rows);

/* Starts over with an empty store. The cells are the caller's and all zero. Statistics
 * (evaluated, seen) and `off` are left as they are. */
void oracle_activity_begin(struct oracle_activity *oracle, const struct rows *rows, int64_t *cells);

/* One commit, made at `now`. */
struct oracle_verdict oracle_activity_commit(struct oracle_activity *oracle,
                                             const struct rows *rows,
                                             const struct row_change *changes, size_t count,
                                             int64_t now);

/* A transaction that did not commit (crash, abort, refusal) and what it left behind all the same:
 * ACL-2 if anything. */
struct oracle_verdict oracle_activity_rollback(struct oracle_activity *oracle,
                                               const struct row_change *changes, size_t count);

/* Nothing is left to be done, or the bound on doing it was reached (`quiet` false): the live
 * promises. `crash_free` holds the rows that a run without faults left; NULL: not compared. */
struct oracle_verdict oracle_activity_settled(struct oracle_activity *oracle,
                                              const struct rows *rows, bool quiet,
                                              const struct rows *crash_free);

/* The slow way: every safe promise that the rows alone can show, over all rows, without ghosts or
 * history. Must agree with the monitors: false alarms of either are bugs of Assay. */
struct oracle_verdict oracle_activity_recheck(struct oracle_activity *oracle,
                                              const struct rows *rows);

#endif
