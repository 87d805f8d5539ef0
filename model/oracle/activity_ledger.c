/* The oracle `ledger`: digits, markers, counters and bundling, of every ledger that a commit wrote.
 *
 * In each function the order of the sentences is the order in which they are told (OA3). */
#include "model/oracle/activity_commit.h"

static void tell(struct commit *commit, enum clause_id clause, enum row_table table, uint32_t slot,
                 const char *why)
{
    judge_breach(&commit->judge, ORACLE_LEDGER, clause, table, slot, why);
}

static void of_activity(struct commit *commit, const struct commit_activity *activity, bool broken,
                        enum clause_id clause, const char *why)
{
    if (broken) {
        tell(commit, clause, TABLE_ACTIVITY, activity->slot, why);
    }
}

static void of_guid(struct commit *commit, const struct commit_guid *guid, bool broken,
                    enum clause_id clause, const char *why)
{
    if (broken) {
        tell(commit, clause, TABLE_GUID, guid->slot, why);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A ledger whose row is gone was reset, unless all of the activity was purged (E-ACL-29). Work that
 * is gone while its marker stands is work that the marker does not prove. */
static void judge_deleted(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    static const struct {
        enum row_table owner;
        int column; /* which names the owner */
        enum clause_id clause;
        const char *why;
    } gone[TABLE_COUNT] = {
        [TABLE_ACTIVITY] = {TABLE_JOB, ACTIVITY_JOB, CLAUSE_ACL_33, "an activity ledger vanished"},
        [TABLE_TASK] = {TABLE_ACTIVITY, TASK_ACTIVITY, CLAUSE_ACL_11, "Leg1's work vanished"},
        [TABLE_GUID] = {TABLE_ACTIVITY, GUID_ACTIVITY, CLAUSE_ACL_33, "a GUID ledger vanished"},
        [TABLE_OUTPUT] = {TABLE_ACTIVITY, OUTPUT_ACTIVITY, CLAUSE_ACL_16, "Leg2's work vanished"},
        [TABLE_COMPLETION] = {TABLE_JOB, COMPLETION_JOB, CLAUSE_ACL_18,
                              "a job's completion tasks vanished"},
        [TABLE_ESCALATION] = {TABLE_JOB, ESCALATION_JOB, CLAUSE_ACL_29, "an escalation vanished"},
    };
    enum row_table table = (enum row_table)change->table;
    if (table == TABLE_JOB) {
        if (row_get(rows, TABLE_JOB, change->slot, JOB_SEMAPHORE) != 0 &&
            row_get(rows, TABLE_JOB, change->slot, JOB_ESCALATED) == 0) {
            tell(commit, CLAUSE_ACL_33, table, change->slot, "a job vanished before its end");
        }
    } else if (table != TABLE_MESSAGE) {
        int64_t owner = row_get(rows, table, change->slot, gone[table].column);
        if (row_find(rows, gone[table].owner, owner) != ROW_NONE) {
            tell(commit, gone[table].clause, table, change->slot, gone[table].why);
        }
    }
}

/* Columns that are written once, when the row is inserted. */
static void judge_fixed(struct commit *commit, const struct row_change *change)
{
    enum row_table table = (enum row_table)change->table;
    if (table == TABLE_GUID && change->column == GUID_DIMENSION) {
        tell(commit, CLAUSE_ACL_32, table, change->slot, "a GUID changed its dimension");
    } else if (table == TABLE_JOB && change->column == JOB_THRESHOLD) {
        tell(commit, CLAUSE_ACL_21, table, change->slot, "a job's threshold changed (E-ACL-12)");
    } else if (table == TABLE_JOB && change->column == JOB_ESCALATED && change->before != 0) {
        tell(commit, CLAUSE_ACL_29, table, change->slot, "a job's escalation was taken back");
    } else if (table == TABLE_TASK && change->column == TASK_CLOSED && change->before != 0) {
        tell(commit, CLAUSE_ACL_19, table, change->slot,
             "the closed mark of a task was written again (E-ACL-19)");
    }
}

static void judge_rows(struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->kind == ROW_DELETED) {
            judge_deleted(commit, change);
        } else if (change->kind == ROW_UPDATED) {
            judge_fixed(commit, change);
        }
    }
}

/* Work done again is told before its marker, which may stand at 2 by now. */
static void judge_repeats(struct commit *commit)
{
    for (size_t i = 0; i < commit->activities; i++) {
        const struct commit_activity *activity = &commit->activity[i];
        of_activity(commit, activity, activity->reruns > 0, CLAUSE_ACL_11,
                    "Leg1's work was done more than once");
        of_activity(commit, activity, activity->reruns > 0, CLAUSE_ACL_10,
                    "a Leg1 message found Leg1 complete and worked all the same");
    }
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        of_guid(commit, guid, guid->reworks > 0 && !guid->intruded, CLAUSE_ACL_16,
                "Leg2's work was done more than once");
        of_guid(commit, &commit->guid[i], commit->guid[i].refinishes > 0, CLAUSE_ACL_18,
                "a job's completion tasks were run more than once");
    }
}

static bool fell(struct cut was, struct cut is)
{
    return is.head < was.head || is.mark < was.mark || is.work < was.work ||
           is.children < was.children || is.tasks < was.tasks || is.count < was.count;
}

static bool marker_above_1(struct cut of)
{
    return of.mark > 1 || of.work > 1 || of.children > 1 || of.tasks > 1;
}

/* A full counter that was counted on: the carry shows it. */
static bool head_overran(const struct commit_ledger *ledger)
{
    return ledger->was.head == LEG1_CEILING && ledger->after > ledger->before && !ledger->is.fits;
}

static bool count_overran(const struct commit_ledger *ledger)
{
    return ledger->was.count == LEG2_CEILING && ledger->after > ledger->before &&
           ledger->is.count < ledger->was.count;
}

static void judge_activity_number(struct commit *commit, const struct commit_activity *of)
{
    const struct commit_ledger *ledger = &of->ledger;
    struct judge *judge = &commit->judge;
    judge_held(judge, CLAUSE_ACL_33);
    judge_held(judge, CLAUSE_ACL_8);
    if (ledger->is.head == LEG1_CEILING && ledger->was.head < LEG1_CEILING) {
        judge_held(judge, CLAUSE_ACL_6);
        judge_held(judge, CLAUSE_ACL_43);
    }
    if (ledger->is.count == LEG2_CEILING && ledger->was.count < LEG2_CEILING) {
        judge_held(judge, CLAUSE_ACL_7);
        judge_held(judge, CLAUSE_ACL_43);
    }
    bool head = head_overran(ledger);
    bool count = count_overran(ledger);
    of_activity(commit, of, head, CLAUSE_ACL_43, "a Leg1 entry was counted beyond 999");
    of_activity(commit, of, head, CLAUSE_ACL_6, "a Leg1 entry at 999 was not refused");
    of_activity(commit, of, count, CLAUSE_ACL_43, "a Leg2 entry was counted beyond 99,999,999");
    of_activity(commit, of, count, CLAUSE_ACL_7, "a Leg2 entry at 99,999,999 was not refused");
    of_activity(commit, of, !ledger->is.fits, CLAUSE_ACL_8,
                "an increment carried out of the 15 digits");
    of_activity(commit, of, ledger->is.fits && fell(ledger->was, ledger->is), CLAUSE_ACL_8,
                "an increment carried into the next field");
}

static void judge_guid_number(struct commit *commit, const struct commit_guid *of)
{
    const struct commit_ledger *ledger = &of->ledger;
    struct judge *judge = &commit->judge;
    judge_held(judge, CLAUSE_ACL_33);
    judge_held(judge, CLAUSE_ACL_8);
    if (ledger->is.count == LEG2_CEILING && ledger->was.count < LEG2_CEILING) {
        judge_held(judge, CLAUSE_ACL_15);
        judge_held(judge, CLAUSE_ACL_43);
    }
    bool count = count_overran(ledger);
    of_guid(commit, of, count, CLAUSE_ACL_43, "an attempt was counted beyond 99,999,999");
    of_guid(commit, of, count, CLAUSE_ACL_15, "an attempt at 99,999,999 was not refused");
    of_guid(commit, of, !ledger->is.fits, CLAUSE_ACL_8,
            "an increment carried out of the 15 digits");
    of_guid(commit, of, ledger->is.fits && fell(ledger->was, ledger->is), CLAUSE_ACL_8,
            "an increment carried into the next field");
}

/* ACL-33 is told first of all: when a store loses commits, everything else follows from it. */
static void judge_shrinking(struct commit *commit)
{
    for (size_t i = 0; i < commit->activities; i++) {
        const struct commit_ledger *ledger = &commit->activity[i].ledger;
        of_activity(commit, &commit->activity[i], ledger->after < ledger->before, CLAUSE_ACL_33,
                    "an activity ledger became smaller");
    }
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_ledger *ledger = &commit->guid[i].ledger;
        of_guid(commit, &commit->guid[i], ledger->after < ledger->before, CLAUSE_ACL_33,
                "a GUID ledger became smaller");
    }
}

/* Markers that moved, or that a step met already set: where a second one could be added. */
static void judge_markers(struct commit *commit, const struct commit_activity *of)
{
    struct cut was = of->ledger.was;
    struct cut is = of->ledger.is;
    bool moved = is.mark != was.mark || is.work != was.work || is.children != was.children ||
                 is.tasks != was.tasks;
    if (moved || of->step1s + of->step2s + of->step3s > 0) {
        judge_held(&commit->judge, CLAUSE_ACL_5);
    }
    of_activity(commit, of, marker_above_1(is), CLAUSE_ACL_5,
                "a marker of an activity ledger is above 1");
    of_activity(commit, of, of->ledger.born && !was.fits, CLAUSE_ACL_3,
                "an activity was born with a number that is no ledger of 15 digits");
}

void activity_ledger_numbers(struct commit *commit)
{
    judge_shrinking(commit);
    judge_rows(commit);
    judge_repeats(commit);
    for (size_t i = 0; i < commit->activities; i++) {
        if (commit->activity[i].ledger.moved) {
            judge_activity_number(commit, &commit->activity[i]);
        }
    }
    for (size_t i = 0; i < commit->guids; i++) {
        if (commit->guid[i].ledger.moved) {
            judge_guid_number(commit, &commit->guid[i]);
        }
    }
    for (size_t i = 0; i < commit->activities; i++) {
        judge_markers(commit, &commit->activity[i]);
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Nothing of the activity's ledger but the count leaks into a new GUID (E-ACL-3). */
static void judge_newborn(struct commit *commit, const struct commit_guid *guid)
{
    struct cut of = guid->ledger.was;
    judge_held(&commit->judge, CLAUSE_ACL_12);
    of_guid(commit, guid, !of.fits, CLAUSE_ACL_12, "a new GUID has no ledger of 15 digits");
    of_guid(commit, guid, of.mark != 0, CLAUSE_ACL_14,
            "a new GUID has the job-closed digit already");
    of_guid(commit, guid, of.head != 0, CLAUSE_ACL_12, "a reserved digit of a new GUID is set");
    of_guid(commit, guid, of.work > 0 || of.children > 0 || of.tasks > 0, CLAUSE_ACL_41,
            "a new GUID has a step marked already");
}

/* A new GUID starts at the entry count, which no other GUID of the activity has (E-ACL-4). */
static void judge_dimension(struct commit *commit, const struct commit_guid *guid)
{
    struct cut was = guid->activity->ledger.was;
    struct cut is = guid->activity->ledger.is;
    int32_t count = guid->ledger.was.count;
    int64_t dimension = row_get(commit->judge.rows, TABLE_GUID, guid->slot, GUID_DIMENSION);
    judge_held(&commit->judge, CLAUSE_ACL_32);
    judge_held(&commit->judge, CLAUSE_ACL_31);
    of_guid(commit, guid, was.count == LEG2_CEILING, CLAUSE_ACL_7,
            "a new GUID entered an activity whose entries are full");
    of_guid(commit, guid, dimension < guid->next_dimension, CLAUSE_ACL_32,
            "a new GUID has a dimension that was given out before");
    of_guid(commit, guid, count <= was.count || count > is.count, CLAUSE_ACL_32,
            "a new GUID does not start at its entry count");
    of_guid(commit, guid, dimension != (int64_t)count - 1, CLAUSE_ACL_31,
            "a dimension is not its entry count less one");
}

static void judge_guid_entry(struct commit *commit, const struct commit_guid *guid)
{
    struct cut was = guid->ledger.was;
    struct cut is = guid->ledger.is;
    judge_held(&commit->judge, CLAUSE_ACL_45);
    judge_held(&commit->judge, CLAUSE_ACL_13);
    of_guid(commit, guid, guid->activity->slot == ROW_NONE, CLAUSE_ACL_13,
            "a GUID was entered for an activity that does not exist (E-ACL-29)");
    of_guid(commit, guid, guid->activity->ledger.is.mark == 0, CLAUSE_ACL_45,
            "a GUID was entered and Leg1 is not complete");
    of_guid(commit, guid, is.count > was.count + 1, CLAUSE_ACL_12,
            "a GUID's attempts grew by more than one");
}

/* One count on either side an entry. A full activity counter stands still for a GUID that is known
 * already (E-ACL-17). */
static void judge_activity_entries(struct commit *commit, const struct commit_activity *activity)
{
    struct cut was = activity->ledger.was;
    struct cut is = activity->ledger.is;
    int32_t grew = is.count - was.count;
    int32_t entries = (int32_t)activity->entries;
    bool full = is.count == LEG2_CEILING;
    of_activity(commit, activity, grew > 0 && is.mark == 0, CLAUSE_ACL_45,
                "a Leg2 entry was counted and Leg1 is not complete");
    of_activity(commit, activity, grew > 0 && entries == 0, CLAUSE_ACL_13,
                "a Leg2 entry was counted and no GUID was entered");
    of_activity(commit, activity, grew > entries, CLAUSE_ACL_4,
                "the Leg2 entries grew by more than one");
    of_activity(commit, activity, grew < entries && !full, CLAUSE_ACL_13,
                "a GUID was entered and the activity did not count it");
}

void activity_ledger_entries(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        if (guid->slot == ROW_NONE) {
            continue;
        }
        if (guid->ledger.born) {
            judge_newborn(commit, guid);
        }
        if (guid->ledger.born || guid->step2) {
            judge_held(&commit->judge, CLAUSE_ACL_14);
        }
        of_guid(commit, guid, guid->snapshot && guid->ledger.is.children == 0, CLAUSE_ACL_14,
                "the job-closed digit was set before Step 2");
        of_guid(commit, guid, guid->ledger.moved && guid->ledger.is.head != 0, CLAUSE_ACL_12,
                "a reserved digit of a GUID ledger was set");
        if (guid->entered) {
            judge_guid_entry(commit, guid);
        }
    }
    for (size_t i = 0; i < commit->activities; i++) {
        judge_activity_entries(commit, &commit->activity[i]);
    }
    for (size_t i = 0; i < commit->guids; i++) {
        if (commit->guid[i].slot != ROW_NONE && commit->guid[i].ledger.born) {
            judge_dimension(commit, &commit->guid[i]);
        }
    }
}

/* ---- Leg1 ------------------------------------------------------------------------------------ */

/* An activity that is born with its marker set, a preset ledger, must be born with its work. */
static bool completes_leg1(const struct commit_activity *activity)
{
    return activity->ledger.is.mark > activity->ledger.was.mark ||
           (activity->ledger.born && activity->ledger.was.mark > 0);
}

static void judge_leg1(struct commit *commit, const struct commit_activity *activity)
{
    struct cut was = activity->ledger.was;
    struct cut is = activity->ledger.is;
    bool enters = is.head > was.head;
    bool completes = completes_leg1(activity);
    if (completes || activity->tasks > 0) {
        judge_held(&commit->judge, CLAUSE_ACL_11);
    }
    if (completes || enters) {
        judge_held(&commit->judge, CLAUSE_ACL_9);
    }
    if (enters && was.mark > 0) {
        judge_held(&commit->judge, CLAUSE_ACL_10);
    }
    of_activity(commit, activity, is.head > was.head + 1, CLAUSE_ACL_4,
                "the Leg1 entries grew by more than one");
    of_activity(commit, activity, completes && enters, CLAUSE_ACL_9,
                "a Leg1 entry was counted in the transaction of its work");
    of_activity(commit, activity, completes && is.head == 0, CLAUSE_ACL_9,
                "Leg1 is complete and was never entered");
    of_activity(commit, activity, completes && activity->tasks == 0, CLAUSE_ACL_11,
                "Leg1 was marked complete without its work");
    of_activity(commit, activity, completes && activity->task_messages + activity->answers == 0,
                CLAUSE_ACL_11, "Leg1 was marked complete and asked nothing of anybody");
    of_activity(commit, activity, !completes && activity->tasks > 0, CLAUSE_ACL_11,
                "Leg1's work was done and Leg1 not marked complete");
    of_activity(commit, activity, !completes && activity->task_messages > 0, CLAUSE_ACL_11,
                "a task was published and Leg1 not marked complete");
}

void activity_ledger_leg1(struct commit *commit)
{
    for (size_t i = 0; i < commit->activities; i++) {
        judge_leg1(commit, &commit->activity[i]);
    }
}

/* ---- the steps of Leg2 ----------------------------------------------------------------------- */

static void judge_step1(struct commit *commit, const struct commit_guid *guid)
{
    judge_held(&commit->judge, CLAUSE_ACL_16);
    of_guid(commit, guid, guid->ledger.is.work > 1, CLAUSE_ACL_16, "a GUID did Step 1 twice");
    of_guid(commit, guid, guid->outputs == 0 && !guid->astray, CLAUSE_ACL_16,
            "Step 1 was marked without its work");
    of_guid(commit, guid, guid->activity->ledger.is.work == 0, CLAUSE_ACL_16,
            "Step 1 was marked on the GUID and not on the activity");
}

static void judge_step2(struct commit *commit, const struct commit_guid *guid)
{
    bool closes = guid->answer == ANSWER_CLOSES;
    judge_held(&commit->judge, CLAUSE_ACL_17);
    of_guid(commit, guid, guid->ledger.is.children > 1, CLAUSE_ACL_17, "a GUID did Step 2 twice");
    of_guid(commit, guid, guid->activity->ledger.is.children == 0, CLAUSE_ACL_17,
            "Step 2 was marked on the GUID and not on the activity");
    of_guid(commit, guid, guid->child_rows != guid->child_messages, CLAUSE_ACL_17,
            "Step 2 did not publish one message a child");
    of_guid(commit, guid, guid->respawned, CLAUSE_ACL_17, "Step 2 published a child again");
    of_guid(commit, guid, closes && !guid->closes_task && !guid->overruled, CLAUSE_ACL_17,
            "Step 2 of a closing answer left its task open (E-ACL-19)");
    of_guid(commit, guid, !closes && guid->closes_task, CLAUSE_ACL_17,
            "a task was closed by an answer that does not close it");
}

static void judge_no_step2(struct commit *commit, const struct commit_guid *guid)
{
    of_guid(commit, guid, guid->child_rows + guid->child_messages + guid->cycles > 0, CLAUSE_ACL_17,
            "children were published and Step 2 not marked");
    of_guid(commit, guid, guid->closes_task, CLAUSE_ACL_17,
            "a task was closed and Step 2 not marked");
}

static void judge_activity_steps(struct commit *commit, const struct commit_activity *activity)
{
    struct cut was = activity->ledger.was;
    struct cut is = activity->ledger.is;
    of_activity(commit, activity, is.work > was.work && activity->step1s == 0, CLAUSE_ACL_16,
                "Step 1 was marked on the activity and on no GUID");
    of_activity(commit, activity, is.children > was.children && activity->step2s == 0,
                CLAUSE_ACL_17, "Step 2 was marked on the activity and on no GUID");
    of_activity(commit, activity, is.tasks > was.tasks && activity->step3s == 0, CLAUSE_ACL_18,
                "Step 3 was marked on the activity and on no GUID");
}

void activity_ledger_steps(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        if (guid->step1) {
            judge_step1(commit, guid);
        }
        of_guid(commit, guid, !guid->step1 && guid->outputs > 0, CLAUSE_ACL_16,
                "Leg2's work was done and Step 1 not marked");
        if (guid->step2) {
            judge_step2(commit, guid);
        } else {
            judge_no_step2(commit, guid);
        }
    }
    for (size_t i = 0; i < commit->activities; i++) {
        judge_activity_steps(commit, &commit->activity[i]);
    }
}

/* ---- the list of ACL-41 ---------------------------------------------------------------------- */

/* Digits 4-7 are one of the list 0000, 0100, 0110, 1110, 1111. */
static bool in_list(struct cut of)
{
    static const int places[][4] = {
        {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 1}};
    for (int i = 0; i < (int)ORACLE_COUNT(places); i++) {
        if (of.mark == places[i][0] && of.work == places[i][1] && of.children == places[i][2] &&
            of.tasks == places[i][3]) {
            return true;
        }
    }
    return false;
}

/* Told last of the ledgers: a breach of it mostly has a better name. In the list a step leads to
 * the right, since each entry has all the markers of the one before it, and no digit falls
 * (ACL-33). Held to threshold 0, where closing is once and for all (E-ACL-12). */
void activity_ledger_list(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        bool moved = guid->step1 || guid->step2 || guid->step3 || guid->snapshot;
        if (!moved || guid->job->threshold != 0) {
            continue;
        }
        judge_held(&commit->judge, CLAUSE_ACL_41);
        of_guid(commit, guid, !in_list(guid->ledger.is), CLAUSE_ACL_41,
                "a GUID's markers are none of the five in the list");
    }
}
