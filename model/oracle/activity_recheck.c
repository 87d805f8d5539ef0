/* The slow way: every promise that rows at rest can show, over all rows, without memory. It reads a
 * ledger digit by digit and looks every relation up by scanning, so that it shares nothing with the
 * monitors but the row format. Quadratic in the number of rows. */
#include "model/oracle/activity_judge.h"
#include "model/oracle/digits.h"

static void tell(struct judge *judge, bool broken, enum oracle_name who, enum clause_id clause,
                 enum row_table table, uint32_t slot, const char *why)
{
    if (broken) {
        judge_breach(judge, who, clause, table, slot, why);
    }
}

static struct cut slow_cut(int64_t value)
{
    struct oracle_digits digits;
    bool fits = oracle_digits_read(value, &digits);
    return (struct cut){.fits = fits,
                        .head = (int32_t)oracle_digits_spell(&digits, 1, 3),
                        .mark = digits.at[4],
                        .work = digits.at[5],
                        .children = digits.at[6],
                        .tasks = digits.at[7],
                        .count = (int32_t)oracle_digits_spell(&digits, 8, 15)};
}

static struct cut activity_cut(const struct rows *rows, uint32_t slot)
{
    return slow_cut(row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_LEDGER));
}

static struct cut guid_cut(const struct rows *rows, uint32_t slot)
{
    return slow_cut(row_get(rows, TABLE_GUID, slot, GUID_LEDGER));
}

/* The next live row from `slot` on whose column holds `value`; ROW_NONE after the last. */
static uint32_t next_with(const struct rows *rows, enum row_table table, int column, int64_t value,
                          uint32_t slot)
{
    for (; slot < rows->table[table].used; slot++) {
        if (row_get(rows, table, slot, column) == value && row_is_there(rows, table, slot)) {
            return slot;
        }
    }
    return ROW_NONE;
}

static uint32_t count_with(const struct rows *rows, enum row_table table, int column, int64_t value)
{
    uint32_t count = 0;
    for (uint32_t slot = next_with(rows, table, column, value, 0); slot != ROW_NONE;
         slot = next_with(rows, table, column, value, slot + 1)) {
        count++;
    }
    return count;
}

/* ---- activities ------------------------------------------------------------------------------ */

/* What the GUIDs of an activity have marked between them. */
static struct cut marked_by_guids(const struct rows *rows, int64_t activity)
{
    struct cut sum = {.fits = true};
    for (uint32_t slot = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, 0); slot != ROW_NONE;
         slot = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, slot + 1)) {
        struct cut of = guid_cut(rows, slot);
        sum.work |= of.work;
        sum.children |= of.children;
        sum.tasks |= of.tasks;
        sum.count++;
    }
    return sum;
}

static void recheck_activity(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t id = row_key(rows, TABLE_ACTIVITY, slot);
    struct cut is = activity_cut(rows, slot);
    struct cut guids = marked_by_guids(rows, id);
    uint32_t tasks = count_with(rows, TABLE_TASK, TASK_ACTIVITY, id);
    const struct oracle_verdict promises[] = {
        {!is.fits, CLAUSE_ACL_8, "an activity ledger has left its 15 digits"},
        {is.mark > 1 || is.work > 1 || is.children > 1 || is.tasks > 1, CLAUSE_ACL_5,
         "a marker of an activity ledger is above 1"},
        {is.mark > 0 && is.head == 0, CLAUSE_ACL_9, "Leg1 is complete and was never entered"},
        {is.mark == 0 && guids.count > 0, CLAUSE_ACL_45, "a GUID exists and Leg1 is not complete"},
        {is.count < guids.count, CLAUSE_ACL_13, "an activity has more GUIDs than entries"},
        {(is.mark > 0) != (tasks > 0) || tasks > 1, CLAUSE_ACL_11,
         "Leg1's work and its marker do not agree"},
        {(is.work > 0) != (guids.work > 0), CLAUSE_ACL_16,
         "an activity and its GUIDs do not agree on Step 1"},
        {(is.children > 0) != (guids.children > 0), CLAUSE_ACL_17,
         "an activity and its GUIDs do not agree on Step 2"},
        {(is.tasks > 0) != (guids.tasks > 0), CLAUSE_ACL_18,
         "an activity and its GUIDs do not agree on Step 3"},
    };
    for (size_t i = 0; i < ORACLE_COUNT(promises); i++) {
        tell(judge, promises[i].broken, ORACLE_LEDGER, promises[i].clause, TABLE_ACTIVITY, slot,
             promises[i].why);
    }
    int64_t parent = row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_SPAWNED_BY);
    tell(judge,
         parent != 0 && slow_cut(judge_column(rows, TABLE_GUID, parent, GUID_LEDGER)).children == 0,
         ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_ACTIVITY, slot, "a child exists without its Step 2");
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void recheck_task(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t activity = row_get(rows, TABLE_TASK, slot, TASK_ACTIVITY);
    tell(judge, row_get(rows, TABLE_TASK, slot, TASK_RUNS) != 1, ORACLE_LEDGER, CLAUSE_ACL_11,
         TABLE_TASK, slot, "Leg1's work was done more than once");
    int64_t closer = row_get(rows, TABLE_TASK, slot, TASK_CLOSED);
    tell(judge,
         closer != 0 && slow_cut(judge_column(rows, TABLE_GUID, closer, GUID_LEDGER)).children == 0,
         ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_TASK, slot, "a task is closed without a Step 2");
    int64_t parent = judge_column(rows, TABLE_ACTIVITY, activity, ACTIVITY_SPAWNED_BY);
    int64_t job = judge_column(rows, TABLE_ACTIVITY, activity, ACTIVITY_JOB);
    uint32_t output = next_with(rows, TABLE_OUTPUT, OUTPUT_GUID, parent, 0);
    int64_t given = parent == 0          ? judge_column(rows, TABLE_JOB, job, JOB_INPUT)
                    : output == ROW_NONE ? 0
                                         : row_get(rows, TABLE_OUTPUT, output, OUTPUT_VALUE);
    bool gone = row_find(rows, TABLE_JOB, job) == ROW_NONE; /* its input went with it (E-ACL-29) */
    tell(judge, !gone && row_get(rows, TABLE_TASK, slot, TASK_INPUT) != given, ORACLE_DATA,
         CLAUSE_ACL_32, TABLE_TASK, slot,
         "an activity received something else than its parent's output");
}

/* ---- GUIDs ----------------------------------------------------------------------------------- */

static bool in_list(struct cut of)
{
    int32_t spelt = of.mark * 1000 + of.work * 100 + of.children * 10 + of.tasks;
    return spelt == 0 || spelt == 100 || spelt == 110 || spelt == 1110 || spelt == 1111;
}

static bool shares_dimension(const struct rows *rows, uint32_t slot)
{
    int64_t activity = row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY);
    for (uint32_t other = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, slot + 1);
         other != ROW_NONE;
         other = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, other + 1)) {
        if (row_get(rows, TABLE_GUID, other, GUID_DIMENSION) ==
            row_get(rows, TABLE_GUID, slot, GUID_DIMENSION)) {
            return true;
        }
    }
    return false;
}

/* As often as GUIDs of the activity did Step 1, work was stored for it, in whichever dimension:
 * where it went is the data's business. */
static bool works_agree(const struct rows *rows, int64_t activity)
{
    int64_t works = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_GUID].used; slot++) {
        bool of_it = row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY) == activity;
        works += of_it && row_is_there(rows, TABLE_GUID, slot) ? guid_cut(rows, slot).work : 0;
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_OUTPUT].used; slot++) {
        bool of_it = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY) == activity;
        works -= of_it && row_is_there(rows, TABLE_OUTPUT, slot)
                     ? row_get(rows, TABLE_OUTPUT, slot, OUTPUT_RUNS)
                     : 0;
    }
    return works == 0;
}

static void recheck_guid(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t id = row_key(rows, TABLE_GUID, slot);
    int64_t activity = row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY);
    if (row_find(rows, TABLE_ACTIVITY, activity) == ROW_NONE) {
        return; /* it outlived its job (E-ACL-29) */
    }
    int64_t job = judge_column(rows, TABLE_ACTIVITY, activity, ACTIVITY_JOB);
    bool closed = judge_column(rows, TABLE_JOB, job, JOB_SEMAPHORE) == 0;
    bool zero = judge_column(rows, TABLE_JOB, job, JOB_THRESHOLD) == 0;
    struct cut is = guid_cut(rows, slot);
    uint32_t outputs = count_with(rows, TABLE_OUTPUT, OUTPUT_GUID, id);
    uint32_t completions = count_with(rows, TABLE_COMPLETION, COMPLETION_GUID, id);
    int64_t dimension = row_get(rows, TABLE_GUID, slot, GUID_DIMENSION);
    const struct oracle_verdict promises[] = {
        {!is.fits, CLAUSE_ACL_8, "a GUID ledger has left its 15 digits"},
        {is.head != 0, CLAUSE_ACL_12, "a reserved digit of a GUID ledger is set"},
        {is.mark > 0 && is.children == 0, CLAUSE_ACL_14,
         "the job-closed digit is set and Step 2 is not done"},
        {is.work != (int32_t)outputs && !works_agree(rows, activity), CLAUSE_ACL_16,
         "Step 1 and its marker do not agree"},
        {is.children > 1, CLAUSE_ACL_17, "a GUID did Step 2 twice"},
        {is.mark > 1, CLAUSE_ACL_21, "a GUID's snapshot was taken twice"},
        {is.tasks > 0 && is.mark == 0 && closed, CLAUSE_ACL_44,
         "Step 3 ran because the semaphore is 0, on a GUID that did not close the job"},
        {is.tasks > 0 && is.mark == 0, CLAUSE_ACL_26,
         "Step 3 ran on a GUID that did not close the job"},
        {is.tasks != (int32_t)completions, CLAUSE_ACL_18, "Step 3 and its marker do not agree"},
        {is.count == 0, CLAUSE_ACL_13, "a GUID was never entered"},
        {shares_dimension(rows, slot), CLAUSE_ACL_32, "two GUIDs share a dimension"},
        {dimension < 0 || dimension > (int64_t)is.count - 1, CLAUSE_ACL_31,
         "a dimension is above its entry count less one"},
        {zero && !in_list(is), CLAUSE_ACL_41, "a GUID's markers are none of the five in the list"},
    };
    for (size_t i = 0; i < ORACLE_COUNT(promises); i++) {
        tell(judge, promises[i].broken, ORACLE_LEDGER, promises[i].clause, TABLE_GUID, slot,
             promises[i].why);
    }
}

/* ---- work, completion, children -------------------------------------------------------------- */

static void recheck_output(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    uint32_t guid = row_find(rows, TABLE_GUID, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_GUID));
    bool again = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_RUNS) != 1;
    bool agree = again && works_agree(rows, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY));
    tell(judge, again && !agree, ORACLE_LEDGER, CLAUSE_ACL_16, TABLE_OUTPUT, slot,
         "Leg2's work was done more than once");
    tell(judge, agree, ORACLE_DATA, CLAUSE_ACL_32, TABLE_OUTPUT, slot,
         "two GUIDs stored their work in one dimension");
    tell(judge, guid == ROW_NONE, ORACLE_LEDGER, CLAUSE_ACL_16, TABLE_OUTPUT, slot,
         "Leg2's work belongs to no GUID");
    if (guid == ROW_NONE) {
        return;
    }
    bool answer = row_get(rows, TABLE_GUID, guid, GUID_ANSWER) != ANSWER_CYCLES;
    bool here = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY) ==
                    row_get(rows, TABLE_GUID, guid, GUID_ACTIVITY) &&
                row_get(rows, TABLE_OUTPUT, slot, OUTPUT_DIMENSION) ==
                    row_get(rows, TABLE_GUID, guid, GUID_DIMENSION);
    tell(judge, !here, ORACLE_DATA, CLAUSE_ACL_32, TABLE_OUTPUT, slot,
         "a GUID's work went to another dimension than the GUID's");
    tell(judge,
         answer && row_get(rows, TABLE_OUTPUT, slot, OUTPUT_VALUE) !=
                       row_get(rows, TABLE_GUID, guid, GUID_CONTENT),
         ORACLE_DATA, CLAUSE_ACL_32, TABLE_OUTPUT, slot,
         "the work stored something else than the answer");
}

static void recheck_completion(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t guid = row_get(rows, TABLE_COMPLETION, slot, COMPLETION_GUID);
    tell(judge, row_get(rows, TABLE_COMPLETION, slot, COMPLETION_RUNS) != 1, ORACLE_SEMAPHORE,
         CLAUSE_ACL_18, TABLE_COMPLETION, slot, "a job's completion tasks were run more than once");
    tell(judge, row_find(rows, TABLE_GUID, guid) == ROW_NONE, ORACLE_SEMAPHORE, CLAUSE_ACL_18,
         TABLE_COMPLETION, slot, "completion tasks were run by no GUID");
}

static void recheck_message(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t parent = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_SPAWNED_BY);
    int64_t activity = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    if (parent == 0 || row_find(rows, TABLE_ACTIVITY, activity) == ROW_NONE) {
        return;
    }
    uint32_t guid = row_find(rows, TABLE_GUID, parent);
    tell(judge, guid == ROW_NONE || guid_cut(rows, guid).children == 0, ORACLE_LEDGER,
         CLAUSE_ACL_17, TABLE_MESSAGE, slot, "a child was published without its Step 2");
    tell(judge,
         guid != ROW_NONE && (row_get(rows, TABLE_MESSAGE, slot, MESSAGE_SOURCE) !=
                                  row_get(rows, TABLE_GUID, guid, GUID_ACTIVITY) ||
                              row_get(rows, TABLE_MESSAGE, slot, MESSAGE_DIMENSION) !=
                                  row_get(rows, TABLE_GUID, guid, GUID_DIMENSION)),
         ORACLE_DATA, CLAUSE_ACL_32, TABLE_MESSAGE, slot,
         "a child was sent to another dimension than its parent's");
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool is_closed(const struct rows *rows, int64_t activity)
{
    for (uint32_t slot = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, 0); slot != ROW_NONE;
         slot = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, slot + 1)) {
        if (row_get(rows, TABLE_GUID, slot, GUID_ANSWER) == ANSWER_CLOSES &&
            guid_cut(rows, slot).children > 0) {
            return true;
        }
    }
    return false;
}

static int64_t open_cycles_of(const struct rows *rows, int64_t activity)
{
    int64_t open = 0;
    for (uint32_t slot = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, 0); slot != ROW_NONE;
         slot = next_with(rows, TABLE_GUID, GUID_ACTIVITY, activity, slot + 1)) {
        bool cycles = row_get(rows, TABLE_GUID, slot, GUID_ANSWER) == ANSWER_CYCLES;
        open += cycles && guid_cut(rows, slot).children == 0 ? 1 : 0;
    }
    return open;
}

/* Cycle messages that nobody has entered yet; copies count once. */
static int64_t unentered_cycles_of(const struct rows *rows, int64_t job)
{
    int64_t open = 0;
    for (uint32_t slot = next_with(rows, TABLE_MESSAGE, MESSAGE_JOB, job, 0); slot != ROW_NONE;
         slot = next_with(rows, TABLE_MESSAGE, MESSAGE_JOB, job, slot + 1)) {
        int64_t guid = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
        bool cycles = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) == MESSAGE_LEG2 &&
                      row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ANSWER) == ANSWER_CYCLES;
        bool first = next_with(rows, TABLE_MESSAGE, MESSAGE_GUID, guid, 0) == slot;
        open += cycles && first && row_find(rows, TABLE_GUID, guid) == ROW_NONE ? 1 : 0;
    }
    return open;
}

static int64_t open_of(const struct rows *rows, int64_t job)
{
    int64_t open = unentered_cycles_of(rows, job);
    for (uint32_t slot = next_with(rows, TABLE_ACTIVITY, ACTIVITY_JOB, job, 0); slot != ROW_NONE;
         slot = next_with(rows, TABLE_ACTIVITY, ACTIVITY_JOB, job, slot + 1)) {
        int64_t id = row_key(rows, TABLE_ACTIVITY, slot);
        open += (is_closed(rows, id) ? 0 : 1) + open_cycles_of(rows, id);
    }
    return open;
}

static int64_t carriers_of(const struct rows *rows, int64_t job)
{
    int64_t carriers = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_GUID].used; slot++) {
        int64_t activity = row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY);
        carriers += judge_column(rows, TABLE_ACTIVITY, activity, ACTIVITY_JOB) == job &&
                            row_is_there(rows, TABLE_GUID, slot) && guid_cut(rows, slot).mark > 0
                        ? 1
                        : 0;
    }
    return carriers;
}

static void recheck_job(struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t id = row_key(rows, TABLE_JOB, slot);
    int64_t semaphore = row_get(rows, TABLE_JOB, slot, JOB_SEMAPHORE);
    int64_t open = open_of(rows, id);
    int64_t carriers = carriers_of(rows, id);
    /* The message of an escalated obligation is gone, and its GUID may never have had a row. */
    bool escalated = row_get(rows, TABLE_JOB, slot, JOB_ESCALATED) != 0;
    bool complete = row_get(rows, TABLE_JOB, slot, JOB_STATE) == JOB_COMPLETE;
    bool zero = row_get(rows, TABLE_JOB, slot, JOB_THRESHOLD) == 0;
    const struct oracle_verdict promises[] = {
        {semaphore < 0, CLAUSE_ACL_19, "the semaphore is negative"},
        {semaphore < open, CLAUSE_ACL_19, "the semaphore is below the number of open obligations"},
        {semaphore > open && !escalated, CLAUSE_ACL_19,
         "the semaphore is above the number of open obligations"},
        {zero && carriers != (semaphore == 0 ? 1 : 0), CLAUSE_ACL_22,
         "the snapshot is not on one GUID of a closed job and on none of an open one"},
        {complete != (semaphore == 0), CLAUSE_ACL_39, "semaphore and state do not agree"},
        {zero && count_with(rows, TABLE_COMPLETION, COMPLETION_JOB, id) > 1, CLAUSE_ACL_18,
         "a job's completion tasks were run by a second GUID"},
        {escalated != (count_with(rows, TABLE_ESCALATION, ESCALATION_JOB, id) > 0), CLAUSE_ACL_29,
         "a job and its messages do not agree on its escalation"},
    };
    for (size_t i = 0; i < ORACLE_COUNT(promises); i++) {
        tell(judge, promises[i].broken, ORACLE_SEMAPHORE, promises[i].clause, TABLE_JOB, slot,
             promises[i].why);
    }
}

struct oracle_verdict oracle_activity_recheck(struct oracle *oracle, const struct rows *rows)
{
    static const struct {
        enum row_table table;
        void (*recheck)(struct judge *judge, uint32_t slot);
    } tables[] = {
        {TABLE_ACTIVITY, recheck_activity}, {TABLE_TASK, recheck_task},
        {TABLE_GUID, recheck_guid},         {TABLE_OUTPUT, recheck_output},
        {TABLE_MESSAGE, recheck_message},   {TABLE_COMPLETION, recheck_completion},
        {TABLE_JOB, recheck_job},
    };
    struct judge judge;
    activity_judge_begin(&judge, oracle, rows);
    for (size_t i = 0; i < ORACLE_COUNT(tables); i++) {
        for (uint32_t slot = 0; slot < rows->table[tables[i].table].used; slot++) {
            if (row_is_there(rows, tables[i].table, slot)) {
                tables[i].recheck(&judge, slot);
            }
        }
    }
    return judge.verdict;
}
