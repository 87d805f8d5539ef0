/* The order in which breaches are told (OA3). Several promises mostly break at once, and the one
 * that says the most should be told:
 *
 *   1 numbers    ACL-33, then rows that are gone, then work done again (ACL-11, 16, 18), then
 *                counters that left their ceiling (ACL-43, then 6, 7, 15), carries (ACL-8),
 *                markers (ACL-5)
 *   2 entries    ACL-14, 45, 13, 32 (two GUIDs, one dimension)
 *   3 Leg1       ACL-9, 11
 *   4 steps      ACL-16, 17
 *   5 semaphore  ACL-17 (a Step 2 that the semaphore did not see), 21, 44, 26, 18, 19, 22, 39, 20
 *   6 the list   ACL-41
 *   7 acks       ACL-30, escalations without a reason (ACL-6, 7, 15, 29)
 *   8 data       ACL-32 (who received what from whom)
 *   9 expected   what the scenario asks for: ACL-32, 31, 17, 21, 19, 3
 *  10 journal    ACL-46 (an answer of a task that nobody did); the rest of it is told when work is
 *                done, before any commit
 *
 * What follows from a breach is only seen with the breach's clause off: markers that are added up
 * (E-ACL-2) are ACL-5 at the second GUID and else ACL-8 at the tenth; a snapshot that was not taken
 * is ACL-21 and else ACL-22; a Step 3 that asked the semaphore is ACL-44 and else ACL-26. */
#include "model/oracle/activity.h"

#include "model/oracle/activity_commit.h"
#include "model/oracle/seen.h"

/* Of so many slots as there are: half as many as places in their index, none of which collide. The
 * room is emptied before every run, so it counts. */
static size_t remember_claims(struct judge *judge)
{
    return judge_remember(judge, MEMORY_CLAIM, activity_judge_claims(judge),
                          judge->rows->table[TABLE_MESSAGE].index_mask / 2);
}

size_t oracle_activity_cells(const struct rows *rows)
{
    struct judge judge;
    activity_judge_begin(&judge, NULL, rows);
    return remember_claims(&judge);
}

static int memory_of(const struct rows *rows, size_t cell)
{
    size_t entry = cell / MEMO_COUNT, jobs = (size_t)rows->table[TABLE_JOB].index_mask + 1;
    size_t activities = (size_t)rows->table[TABLE_ACTIVITY].index_mask + 1;
    struct judge judge;
    activity_judge_begin(&judge, NULL, rows);
    return entry < jobs                           ? MEMORY_JOB
           : entry < jobs + activities            ? MEMORY_ACTIVITY
           : cell < activity_judge_claims(&judge) ? MEMORY_GUID
                                                  : MEMORY_CLAIM;
}

/* An answer rests on its task. Where Leg1 answers by itself, no task was ever published. */
static void judge_answers(struct commit *commit)
{
    struct judge *judge = &commit->judge;
    if (!commit_has(commit, TABLE_MESSAGE, ROW_INSERTED)) {
        return;
    }
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table != TABLE_MESSAGE || change->kind != ROW_INSERTED ||
            row_get(judge->rows, TABLE_MESSAGE, change->slot, MESSAGE_KIND) != MESSAGE_LEG2 ||
            row_get(judge->rows, TABLE_MESSAGE, change->slot, MESSAGE_ANSWER) == ANSWER_CYCLES) {
            continue;
        }
        int64_t activity = row_get(judge->rows, TABLE_MESSAGE, change->slot, MESSAGE_ACTIVITY);
        int64_t past = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_FLAGS);
        if ((past & PAST_TASK_PUBLISHED) != 0) {
            judge_that(judge, (past & PAST_TASK_DONE) != 0, ORACLE_JOURNAL, CLAUSE_ACL_46,
                       TABLE_MESSAGE, change->slot, "a task was answered that nobody had done");
        }
    }
}

struct oracle_verdict oracle_activity_commit(struct oracle *oracle, const struct rows *rows,
                                             const struct row_change *changes, size_t count)
{
    struct commit commit;
    activity_judge_begin(&commit.judge, oracle, rows);
    commit.changes = changes;
    commit.count = count;
    activity_commit_gather(&commit);
    if (!commit_is_of_messages(&commit)) { /* half of all commits are: claims and acks */
        activity_ledger_numbers(&commit);
        activity_ledger_entries(&commit);
        activity_ledger_leg1(&commit);
        activity_ledger_steps(&commit);
        activity_semaphore_step2(&commit);
        activity_semaphore_step3(&commit);
        activity_semaphore_jobs(&commit);
        activity_ledger_list(&commit);
    }
    activity_ack_judge(&commit);
    activity_data_judge(&commit);
    activity_expected_judge(&commit);
    judge_answers(&commit);
    return commit.judge.verdict;
}

/* A worker did a task, between the two legs of its activity. */
static struct oracle_verdict effect(struct oracle *oracle, const struct rows *rows,
                                    const struct side_effect *effect)
{
    struct judge judge;
    activity_judge_begin(&judge, oracle, rows);
    remember_claims(&judge);
    uint32_t slot = judge_claimed(&judge, MEMORY_CLAIM, effect, CLAUSE_ACL_46);
    if (slot == ROW_NONE) {
        return judge.verdict;
    }
    int64_t activity = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    if (row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) != MESSAGE_TASK ||
        memory_get(&judge, MEMORY_ACTIVITY, activity, MEMO_TASK) != effect->what) {
        judge_breach(&judge, ORACLE_JOURNAL, CLAUSE_ACL_46, TABLE_MESSAGE, slot,
                     "another task was done than the one that was claimed");
    }
    memory_flag(&judge, MEMORY_ACTIVITY, activity, PAST_TASK_DONE);
    return judge.verdict;
}

static void expect(const struct document *scenario, struct expectation *expected)
{
    expected_activity_read(scenario, &expected->of.activity);
}

const struct monitors monitors_activity = {
    .expect = expect,
    .cells = oracle_activity_cells,
    .memories = {[MEMORY_ACTIVITY] =
                     {.sights = PAST_LEG1_ACKED | PAST_STALE_ENTERED,
                      .kinds = {[MEMO_NEXT_DIMENSION] = GHOST_COUNTER, [MEMO_TASK] = GHOST_DATUM}},
                 [MEMORY_GUID] = {.sights = PAST_ACKED | PAST_RESUMED_CLOSED,
                                  .kinds = {[MEMO_OUTPUT] = GHOST_DATUM, [MEMO_DUE] = GHOST_DATUM}},
                 [MEMORY_CLAIM] = JUDGE_CLAIMS_MEMORY},
    .memory_of = memory_of,
    .commit = oracle_activity_commit,
    .effect = effect,
    .granted = judge_granted,
    .transaction = seen_activity,
    .whole = CLAUSE_ACL_2,
    .whole_by = ORACLE_LEDGER,
    .settled = oracle_activity_settled,
    .recheck = oracle_activity_recheck,
};
