/* The oracle `data`: who received what from whom. Every breach is one of ACL-32: the work and the
 * children of a GUID carry its dimension, and what comes out of it is what goes into them. Only
 * here does it show when a retry computes another dimension (E-ACL-4): every ledger looks legal. */
#include "model/oracle/activity_commit.h"

static void tell(struct commit *commit, bool broken, enum row_table table, uint32_t slot,
                 const char *why)
{
    if (broken) {
        judge_breach(&commit->judge, ORACLE_DATA, CLAUSE_ACL_32, table, slot, why);
    }
}

static void judge_output(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    uint32_t guid = row_find(rows, TABLE_GUID, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_GUID));
    if (guid == ROW_NONE) {
        return; /* work of nobody is ACL-16's */
    }
    judge_held(&commit->judge, CLAUSE_ACL_32);
    tell(commit,
         row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY) !=
             row_get(rows, TABLE_GUID, guid, GUID_ACTIVITY),
         TABLE_OUTPUT, slot, "a GUID's work went to another activity");
    tell(commit,
         row_get(rows, TABLE_OUTPUT, slot, OUTPUT_DIMENSION) !=
             row_get(rows, TABLE_GUID, guid, GUID_DIMENSION),
         TABLE_OUTPUT, slot, "a GUID's work went to another dimension than the GUID's");
    bool answer = row_get(rows, TABLE_GUID, guid, GUID_ANSWER) != ANSWER_CYCLES;
    tell(commit,
         answer && row_get(rows, TABLE_OUTPUT, slot, OUTPUT_VALUE) !=
                       row_get(rows, TABLE_GUID, guid, GUID_CONTENT),
         TABLE_OUTPUT, slot, "the work stored something else than the answer");
}

/* A child's message says where its input lies. */
static void judge_child(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t parent = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_SPAWNED_BY);
    uint32_t guid = parent == 0 ? ROW_NONE : row_find(rows, TABLE_GUID, parent);
    if (guid == ROW_NONE) {
        return;
    }
    judge_held(&commit->judge, CLAUSE_ACL_32);
    tell(commit,
         row_get(rows, TABLE_MESSAGE, slot, MESSAGE_SOURCE) !=
             row_get(rows, TABLE_GUID, guid, GUID_ACTIVITY),
         TABLE_MESSAGE, slot, "a child was sent to another activity for its input");
    tell(commit,
         row_get(rows, TABLE_MESSAGE, slot, MESSAGE_DIMENSION) !=
             row_get(rows, TABLE_GUID, guid, GUID_DIMENSION),
         TABLE_MESSAGE, slot, "a child was sent to another dimension than its parent's");
}

/* What the spawning GUID really stored, or the job's input for the trigger. */
static void judge_task(struct commit *commit, uint32_t slot)
{
    const struct judge *judge = &commit->judge;
    const struct rows *rows = judge->rows;
    int64_t id = row_get(rows, TABLE_TASK, slot, TASK_ACTIVITY);
    int64_t parent = judge_column(rows, TABLE_ACTIVITY, id, ACTIVITY_SPAWNED_BY);
    int64_t job = judge_column(rows, TABLE_ACTIVITY, id, ACTIVITY_JOB);
    int64_t given = parent == 0 ? judge_column(rows, TABLE_JOB, job, JOB_INPUT)
                                : memory_get(judge, MEMORY_GUID, parent, MEMO_OUTPUT);
    judge_held(&commit->judge, CLAUSE_ACL_32);
    tell(commit, row_get(rows, TABLE_TASK, slot, TASK_INPUT) != given, TABLE_TASK, slot,
         "an activity received something else than its parent's output");
}

static void judge_task_message(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t activity = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    int64_t task = memory_get(&commit->judge, MEMORY_ACTIVITY, activity, MEMO_TASK);
    uint32_t at = task == 0 ? ROW_NONE : row_find(rows, TABLE_TASK, task);
    tell(commit,
         at != ROW_NONE && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_CONTENT) !=
                               row_get(rows, TABLE_TASK, at, TASK_INPUT),
         TABLE_MESSAGE, slot, "a worker was asked about something else than the input");
}

static void judge_inserted(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    if (change->table == TABLE_OUTPUT) {
        judge_output(commit, change->slot);
    } else if (change->table == TABLE_TASK) {
        judge_task(commit, change->slot);
    } else if (change->table == TABLE_MESSAGE) {
        bool task = row_get(rows, TABLE_MESSAGE, change->slot, MESSAGE_KIND) == MESSAGE_TASK;
        (task ? judge_task_message : judge_child)(commit, change->slot);
    }
}

/* Columns that carry data, or say where they come from, are written once. The dimension of a GUID
 * and the threshold of a job are the ledger's business. */
#define COLUMN(column) (UINT32_C(1) << (column))

static void judge_updated(struct commit *commit, const struct row_change *change)
{
    static const uint32_t may_change[TABLE_COUNT] = {
        [TABLE_JOB] = COLUMN(JOB_SEMAPHORE) | COLUMN(JOB_THRESHOLD) | COLUMN(JOB_STATE) |
                      COLUMN(JOB_ESCALATED),
        [TABLE_ACTIVITY] = COLUMN(ACTIVITY_LEDGER),
        [TABLE_TASK] = COLUMN(TASK_CLOSED) | COLUMN(TASK_RUNS),
        [TABLE_GUID] = COLUMN(GUID_LEDGER) | COLUMN(GUID_DIMENSION),
        [TABLE_OUTPUT] = COLUMN(OUTPUT_RUNS),
        [TABLE_COMPLETION] = COLUMN(COMPLETION_RUNS),
        [TABLE_ESCALATION] = COLUMN(ESCALATION_RUNS),
        [TABLE_MESSAGE] = COLUMN(MESSAGE_VISIBLE_AT) | COLUMN(MESSAGE_EPOCH),
    };
    bool fixed = (may_change[change->table] & COLUMN(change->column)) == 0;
    tell(commit, fixed, (enum row_table)change->table, change->slot, "data were overwritten");
}

void activity_data_judge(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        tell(commit, commit->guid[i].astray, TABLE_GUID, commit->guid[i].slot,
             "a GUID's work went into another GUID's dimension");
    }
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->kind == ROW_INSERTED) {
            judge_inserted(commit, change);
        } else if (change->kind == ROW_UPDATED) {
            judge_updated(commit, change);
        }
    }
}
