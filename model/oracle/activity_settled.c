/* The live promises: what must be there in the end. Data were judged when they were stored.
 *
 * Which dimension a GUID has, and which GUID closed a job, is the schedule's choice. What an
 * escalated job did must be right and complete but for what was given up (E-ACL-10); that giving up
 * was earned is judged at its commit. */
#include "model/oracle/activity_judge.h"

static void tell(struct judge *judge, bool broken, enum oracle_name who, enum clause_id clause,
                 enum row_table table, uint32_t slot, const char *why)
{
    if (broken) {
        judge_breach(judge, who, clause, table, slot, why);
    }
}

static uint32_t used(const struct rows *rows, enum row_table table)
{
    return rows->table[table].used;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void judge_messages(struct judge *judge, bool quiet)
{
    judge_held(judge, CLAUSE_ACL_28);
    for (uint32_t slot = 0; slot < used(judge->rows, TABLE_MESSAGE); slot++) {
        tell(judge, row_is_there(judge->rows, TABLE_MESSAGE, slot), ORACLE_LEDGER, CLAUSE_ACL_28,
             TABLE_MESSAGE, slot, "a message was never acked");
    }
    tell(judge, !quiet, ORACLE_LEDGER, CLAUSE_ACL_28, TABLE_COUNT, ROW_NONE,
         "work went on without end");
}

static void judge_end(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    bool escalated = row_get(rows, TABLE_JOB, slot, JOB_ESCALATED) != 0;
    if (row_get(rows, TABLE_JOB, slot, JOB_THRESHOLD) != 0) {
        return; /* closure is promised for 0 (E-ACL-12) */
    }
    int64_t completed =
        memory_get(judge, MEMORY_JOB, row_key(rows, TABLE_JOB, slot), MEMO_COMPLETED);
    judge_held(judge, CLAUSE_ACL_29);
    tell(judge, !escalated && row_get(rows, TABLE_JOB, slot, JOB_STATE) != JOB_COMPLETE,
         ORACLE_SEMAPHORE, CLAUSE_ACL_29, TABLE_JOB, slot,
         "a job was neither closed nor escalated");
    tell(judge, !escalated && completed != 1, ORACLE_SEMAPHORE, CLAUSE_ACL_29, TABLE_JOB, slot,
         "a job was closed and its completion tasks not run once");
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

/* Every job, once: known by its input, since no two are alike. */
static void judge_jobs(struct judge *judge, const struct expected_activity *expected)
{
    uint64_t there[EXPECTED_JOBS_MAX / 64 + 1] = {0};
    int64_t jobs = 0;
    for (uint32_t slot = 0; slot < used(judge->rows, TABLE_JOB); slot++) {
        int64_t number = row_get(judge->rows, TABLE_JOB, slot, JOB_INPUT) - EXPECTED_JOB_INPUT;
        if (!row_is_there(judge->rows, TABLE_JOB, slot) || number < 0 || number >= expected->jobs) {
            continue;
        }
        bool twice = (there[number / 64] >> (number % 64) & 1) != 0;
        there[number / 64] |= UINT64_C(1) << (number % 64);
        jobs += twice ? 0 : 1;
        tell(judge, twice, ORACLE_DATA, CLAUSE_ACL_32, TABLE_JOB, slot,
             "two jobs work on the same input");
    }
    tell(judge, jobs < expected->jobs, ORACLE_DATA, CLAUSE_ACL_29, TABLE_JOB, ROW_NONE,
         "a job that was asked for is not there");
}

/* The answers of an activity that must have gone through Step 2. An escalated message leaves its
 * obligation open and everything else runs on (E-ACL-10): a Leg1 that was given up answers nothing,
 * and a closing answer waits for a pending one that was given up (E-ACL-20). */
static int64_t owed_by(const struct expected_node *node, int64_t past, bool complete)
{
    int64_t owed = 0, given_up = 0;
    for (int k = 0; k <= node->pendings; k++) {
        owed |= PAST_THROUGH(k);
        given_up |= (past & PAST_GIVEN_UP(k)) != 0 ? PAST_THROUGH(k) : 0;
    }
    given_up |= given_up != 0 ? PAST_THROUGH(ANSWER_CLOSES) : 0;
    return (past & PAST_LEG1_GIVEN_UP) != 0 && !complete ? 0 : owed & ~given_up;
}

static void judge_activity(struct judge *judge, const struct expected_activity *expected,
                           uint32_t slot)
{
    int64_t node = row_get(judge->rows, TABLE_ACTIVITY, slot, ACTIVITY_NODE);
    int64_t id = row_key(judge->rows, TABLE_ACTIVITY, slot);
    int64_t past = memory_get(judge, MEMORY_ACTIVITY, id, MEMO_FLAGS);
    struct cut is = cut_of(row_get(judge->rows, TABLE_ACTIVITY, slot, ACTIVITY_LEDGER));
    if (!row_is_there(judge->rows, TABLE_ACTIVITY, slot) ||
        !expected_activity_has(expected, node)) {
        return;
    }
    int64_t owed = owed_by(&expected->node[node], past, is.mark > 0);
    tell(judge, is.mark == 0 && owed != 0, ORACLE_DATA, CLAUSE_ACL_29, TABLE_ACTIVITY, slot,
         "an activity never ran");
    tell(judge, (owed & ~past) != 0, ORACLE_DATA, CLAUSE_ACL_29, TABLE_ACTIVITY, slot,
         "an answer of an activity never went through Step 2");
}

/* A message that a cycle brought, and the completion tasks of the GUID that met the threshold. */
static void judge_guid(struct judge *judge, uint32_t slot)
{
    int64_t past =
        memory_get(judge, MEMORY_GUID, row_key(judge->rows, TABLE_GUID, slot), MEMO_FLAGS);
    struct cut is = cut_of(row_get(judge->rows, TABLE_GUID, slot, GUID_LEDGER));
    if (!row_is_there(judge->rows, TABLE_GUID, slot) || (past & PAST_ABANDONED) != 0) {
        return;
    }
    tell(judge, (past & PAST_OBLIGES) != 0, ORACLE_DATA, CLAUSE_ACL_29, TABLE_GUID, slot,
         "a message that a cycle brought never went through Step 2");
    tell(judge, is.mark > 0 && is.tasks == 0, ORACLE_SEMAPHORE, CLAUSE_ACL_29, TABLE_GUID, slot,
         "a GUID met the threshold and its completion tasks were not run");
}

/* Where nothing was given up, nothing is open, whatever the threshold. */
static void judge_obligations(struct judge *judge, uint32_t slot)
{
    int64_t id = row_key(judge->rows, TABLE_JOB, slot);
    tell(judge,
         row_get(judge->rows, TABLE_JOB, slot, JOB_ESCALATED) == 0 &&
             memory_get(judge, MEMORY_JOB, id, MEMO_OPEN) != 0,
         ORACLE_SEMAPHORE, CLAUSE_ACL_29, TABLE_JOB, slot,
         "nothing of a job was given up, and an obligation of it is open");
}

static void judge_expected(struct judge *judge, const struct expected_activity *expected)
{
    judge_jobs(judge, expected);
    for (uint32_t slot = 0; slot < used(judge->rows, TABLE_JOB); slot++) {
        if (row_is_there(judge->rows, TABLE_JOB, slot)) {
            judge_obligations(judge, slot);
        }
    }
    for (uint32_t slot = 0; slot < used(judge->rows, TABLE_ACTIVITY); slot++) {
        judge_activity(judge, expected, slot);
    }
    for (uint32_t slot = 0; slot < used(judge->rows, TABLE_GUID); slot++) {
        judge_guid(judge, slot);
    }
}

struct oracle_verdict oracle_activity_settled(struct oracle *oracle, const struct rows *rows,
                                              bool quiet)
{
    struct judge judge;
    activity_judge_begin(&judge, oracle, rows);
    judge_messages(&judge, quiet);
    for (uint32_t slot = 0; slot < used(rows, TABLE_JOB); slot++) {
        if (row_is_there(rows, TABLE_JOB, slot)) {
            judge_end(&judge, slot);
        }
    }
    if (oracle->expected != NULL) {
        judge_expected(&judge, &oracle->expected->of.activity);
    }
    return judge.verdict;
}
