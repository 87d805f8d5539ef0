/* The live promises, and final data against a run without faults.
 *
 * Data are compared by identity, never by dimension: dimensions are given out in the order of
 * arrival, so they agree up to a bijection per activity, and only their being distinct is judged
 * (at every commit, ACL-32). Nor is it compared which GUID closed a job: of two branches, the one
 * that ends last does, and that is the schedule's choice. A job that was escalated on either side
 * is not compared (E-ACL-10). */
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

/* ---- final data ------------------------------------------------------------------------------ */

static bool job_escalated(const struct rows *rows, int64_t job)
{
    return judge_column(rows, TABLE_JOB, job, JOB_ESCALATED) != 0;
}

/* Whether the job of a row that belongs to an activity is compared; `from` has the activity. */
static bool compared(const struct rows *rows, const struct rows *other, const struct rows *from,
                     int64_t activity)
{
    int64_t job = judge_column(from, TABLE_ACTIVITY, activity, ACTIVITY_JOB);
    return !job_escalated(rows, job) && !job_escalated(other, job);
}

/* What the run without faults has must be there. */
static void judge_missing_tasks(struct judge *judge, const struct rows *ideal)
{
    const struct rows *rows = judge->rows;
    for (uint32_t slot = 0; slot < used(ideal, TABLE_TASK); slot++) {
        int64_t activity = row_get(ideal, TABLE_TASK, slot, TASK_ACTIVITY);
        if (!row_is_there(ideal, TABLE_TASK, slot) || !compared(rows, ideal, ideal, activity)) {
            continue;
        }
        uint32_t here = row_find(rows, TABLE_TASK, row_key(ideal, TABLE_TASK, slot));
        judge_held(judge, CLAUSE_ACL_32);
        tell(judge, here == ROW_NONE, ORACLE_DATA, CLAUSE_ACL_29, TABLE_TASK, ROW_NONE,
             "an activity that runs without faults never ran");
        tell(judge,
             here != ROW_NONE && row_get(rows, TABLE_TASK, here, TASK_INPUT) !=
                                     row_get(ideal, TABLE_TASK, slot, TASK_INPUT),
             ORACLE_DATA, CLAUSE_ACL_32, TABLE_TASK, here,
             "an activity received something else than in a run without faults");
    }
}

static void judge_missing_outputs(struct judge *judge, const struct rows *ideal)
{
    for (uint32_t slot = 0; slot < used(ideal, TABLE_OUTPUT); slot++) {
        int64_t activity = row_get(ideal, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY);
        if (!row_is_there(ideal, TABLE_OUTPUT, slot) ||
            !compared(judge->rows, ideal, ideal, activity)) {
            continue;
        }
        int64_t guid = row_get(ideal, TABLE_OUTPUT, slot, OUTPUT_GUID);
        bool worked = (memory_get(judge, MEMORY_GUID, guid, MEMO_FLAGS) & PAST_WORKED) != 0;
        tell(judge, !worked, ORACLE_DATA, CLAUSE_ACL_29, TABLE_GUID,
             row_find(judge->rows, TABLE_GUID, guid),
             "a message that works without faults never did its work");
        tell(judge,
             worked && memory_get(judge, MEMORY_GUID, guid, MEMO_OUTPUT) !=
                           row_get(ideal, TABLE_OUTPUT, slot, OUTPUT_VALUE),
             ORACLE_DATA, CLAUSE_ACL_32, TABLE_GUID, row_find(judge->rows, TABLE_GUID, guid),
             "a message stored something else than in a run without faults");
    }
}

/* What is there and is not there without faults. */
static void judge_surplus(struct judge *judge, const struct rows *ideal)
{
    const struct rows *rows = judge->rows;
    for (uint32_t slot = 0; slot < used(rows, TABLE_TASK); slot++) {
        int64_t activity = row_get(rows, TABLE_TASK, slot, TASK_ACTIVITY);
        tell(judge,
             row_is_there(rows, TABLE_TASK, slot) && compared(rows, ideal, rows, activity) &&
                 row_find(ideal, TABLE_TASK, row_key(rows, TABLE_TASK, slot)) == ROW_NONE,
             ORACLE_DATA, CLAUSE_ACL_32, TABLE_TASK, slot,
             "an activity ran that does not run without faults");
    }
    for (uint32_t slot = 0; slot < used(rows, TABLE_OUTPUT); slot++) {
        int64_t activity = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY);
        int64_t guid = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_GUID);
        tell(judge,
             row_is_there(rows, TABLE_OUTPUT, slot) && compared(rows, ideal, rows, activity) &&
                 cut_of(judge_column(ideal, TABLE_GUID, guid, GUID_LEDGER)).work == 0,
             ORACLE_DATA, CLAUSE_ACL_32, TABLE_OUTPUT, slot,
             "a message worked that does not work without faults");
    }
}

static void judge_missing_jobs(struct judge *judge, const struct rows *ideal)
{
    for (uint32_t slot = 0; slot < used(ideal, TABLE_JOB); slot++) {
        bool here = row_find(judge->rows, TABLE_JOB, row_key(ideal, TABLE_JOB, slot)) != ROW_NONE;
        tell(judge, row_is_there(ideal, TABLE_JOB, slot) && !here, ORACLE_DATA, CLAUSE_ACL_29,
             TABLE_JOB, ROW_NONE, "a job that was asked for is not there");
    }
}

struct oracle_verdict oracle_activity_settled(struct oracle *oracle, const struct rows *rows,
                                              bool quiet, const struct rows *crash_free)
{
    struct judge judge = activity_judge_begin(oracle, rows);
    judge_messages(&judge, quiet);
    for (uint32_t slot = 0; slot < used(rows, TABLE_JOB); slot++) {
        if (row_is_there(rows, TABLE_JOB, slot)) {
            judge_end(&judge, slot);
        }
    }
    if (crash_free != NULL) {
        judge_missing_jobs(&judge, crash_free);
        judge_missing_tasks(&judge, crash_free);
        judge_missing_outputs(&judge, crash_free);
        judge_surplus(&judge, crash_free);
    }
    return judge.verdict;
}
