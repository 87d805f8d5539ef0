/* The rows held against what the scenario's text asks for (expected_activity.h): which jobs there
 * are, which children and cycles a Step 2 spawns, which answers there are and with which data.
 * Where nobody says what is expected, nothing of it is asked.
 *
 * What is right at every commit is right in the end; `settled` asks what is missing. Rows are found
 * by what they say of each other. In each function the order of the sentences is the order in which
 * they are told (OA3). */
#include "model/oracle/activity_commit.h"

static void tell(struct commit *commit, bool broken, enum oracle_name who, enum clause_id clause,
                 enum row_table table, uint32_t slot, const char *why)
{
    if (broken) {
        judge_breach(&commit->judge, who, clause, table, slot, why);
    }
}

static const struct expected_activity *expected_of(const struct commit *commit)
{
    return &commit->judge.oracle->expected->of.activity;
}

/* The node of an activity; -1: it has no row, or is no node of the graph. */
static int64_t node_of(const struct commit *commit, int64_t activity)
{
    const struct rows *rows = commit->judge.rows;
    uint32_t slot = row_find(rows, TABLE_ACTIVITY, activity);
    int64_t node = slot == ROW_NONE ? -1 : row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_NODE);
    return expected_activity_has(expected_of(commit), node) ? node : -1;
}

static int64_t round_of(const struct commit *commit, int64_t guid)
{
    return guid == 0 ? 0 : memory_get(&commit->judge, MEMORY_GUID, guid, MEMO_FLAGS) >> ROUND_SHIFT;
}

/* ---- messages and GUIDs ---------------------------------------------------------------------- */

/* What the message's GUID must store, and the round that it belongs to; 0: nothing leads to it. */
struct due {
    int64_t value, round;
};

/* A cycle leads to that activity of its head which the spawning one descends from (E-ACL-22). */
static struct due due_of_cycle(const struct commit *commit, int64_t spawner, int64_t activity)
{
    const struct rows *rows = commit->judge.rows;
    int64_t from = judge_column(rows, TABLE_GUID, spawner, GUID_ACTIVITY);
    int64_t node = node_of(commit, from), head = node_of(commit, activity);
    if (node < 0 || expected_of(commit)->node[node].rounds == 0 ||
        expected_of(commit)->node[node].head != head) {
        return (struct due){0};
    }
    while (from != activity && node_of(commit, from) > head) {
        int64_t above = judge_column(rows, TABLE_ACTIVITY, from, ACTIVITY_SPAWNED_BY);
        from = judge_column(rows, TABLE_GUID, above, GUID_ACTIVITY);
    }
    int64_t input = memory_get(&commit->judge, MEMORY_GUID, spawner, MEMO_OUTPUT);
    return (struct due){.value = from == activity ? expected_activity_output(head, input) : 0,
                        .round = round_of(commit, spawner) + 1};
}

static struct due due_of_answer(const struct commit *commit, int64_t activity, int64_t answer)
{
    const struct judge *judge = &commit->judge;
    int64_t task = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_TASK);
    int64_t input = judge_column(judge->rows, TABLE_TASK, task, TASK_INPUT);
    int64_t above = judge_column(judge->rows, TABLE_ACTIVITY, activity, ACTIVITY_SPAWNED_BY);
    int64_t node = node_of(commit, activity);
    if (node < 0 || !expected_activity_answers(expected_of(commit), (uint32_t)node, answer)) {
        return (struct due){0};
    }
    return (struct due){.value = answer == ANSWER_CLOSES
                                     ? expected_activity_output(node, input)
                                     : expected_activity_pending(node, input, answer),
                        .round = round_of(commit, above)};
}

/* A Leg2 message. An answer is the same whenever it is given, unless the scenario lets a worker
 * that is run again change its mind after the first was entered (E-ACL-21). */
static void judge_leg2(struct commit *commit, uint32_t slot)
{
    struct judge *judge = &commit->judge;
    const struct rows *rows = judge->rows;
    int64_t guid = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
    int64_t activity = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    int64_t answer = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ANSWER);
    int64_t spawner = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_SPAWNED_BY);
    bool cycles = answer == ANSWER_CYCLES;
    if (!cycles && memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_TASK) == 0) {
        return; /* an answer that nobody was asked for is ACL-45's, once it is entered */
    }
    struct due due = {.value = memory_get(judge, MEMORY_GUID, guid, MEMO_DUE)};
    bool second = false;
    if (due.value == 0) {
        due = cycles ? due_of_cycle(commit, spawner, activity)
                     : due_of_answer(commit, activity, answer);
        second = due.value != 0 && !cycles &&
                 memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_ANSWERED(answer));
        memory_set(judge, MEMORY_GUID, guid, MEMO_DUE, due.value);
        memory_flag(judge, MEMORY_GUID, guid, due.round << ROUND_SHIFT);
    }
    /* a shrunk scenario allows no fault by its text, and a listed one falls all the same */
    bool changes = expected_of(commit)->changes || judge->oracle->answers_changed > 0;
    bool may_change = changes && row_find(rows, TABLE_GUID, guid) != ROW_NONE;
    tell(commit, second, ORACLE_SEMAPHORE, CLAUSE_ACL_19, TABLE_MESSAGE, slot,
         "an answer was given again, under a second GUID (E-ACL-7)");
    tell(commit, due.value == 0 && cycles, ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_MESSAGE, slot,
         "a message went to an activity that no cycle of its sender leads to (E-ACL-22)");
    tell(commit, due.value == 0, ORACLE_DATA, CLAUSE_ACL_32, TABLE_MESSAGE, slot,
         "an activity gave an answer that it does not have");
    tell(commit,
         !cycles && !may_change && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_CONTENT) != due.value,
         ORACLE_DATA, CLAUSE_ACL_32, TABLE_MESSAGE, slot,
         "an answer is not what its activity makes of its input");
}

static void judge_birth(struct commit *commit, const struct commit_guid *guid)
{
    int64_t due = memory_get(&commit->judge, MEMORY_GUID, guid->id, MEMO_DUE);
    tell(commit, due == 0, ORACLE_DATA, CLAUSE_ACL_32, TABLE_GUID, guid->slot,
         "a GUID was entered that nobody published");
    int64_t node = node_of(commit, guid->activity->id);
    tell(commit,
         node >= 0 && guid->next_dimension == 0 &&
             row_get(commit->judge.rows, TABLE_GUID, guid->slot, GUID_DIMENSION) !=
                 expected_of(commit)->node[node].leg2,
         ORACLE_LEDGER, CLAUSE_ACL_31, TABLE_GUID, guid->slot,
         "the first GUID of an activity is not in its first dimension");
    tell(commit,
         guid->answer != ANSWER_CYCLES &&
             row_get(commit->judge.rows, TABLE_GUID, guid->slot, GUID_CONTENT) != due,
         ORACLE_DATA, CLAUSE_ACL_32, TABLE_GUID, guid->slot,
         "an answer was entered that is not what its activity makes of its input");
}

/* ---- Step 2 ---------------------------------------------------------------------------------- */

/* Which answers of the activity are through Step 2 from now on. */
static void judge_order(struct commit *commit, const struct commit_guid *guid, uint32_t pendings)
{
    struct judge *judge = &commit->judge;
    int64_t before = memory_get(judge, MEMORY_ACTIVITY, guid->activity->id, MEMO_FLAGS);
    memory_flag(judge, MEMORY_ACTIVITY, guid->activity->id, PAST_THROUGH(guid->answer));
    for (uint32_t k = 1; k <= pendings && guid->answer == ANSWER_CLOSES; k++) {
        tell(commit, (before & PAST_THROUGH(k)) == 0, ORACLE_SEMAPHORE, CLAUSE_ACL_19, TABLE_GUID,
             guid->slot, "a closing answer overtook a pending one (E-ACL-20)");
    }
}

static void judge_step2(struct commit *commit, const struct commit_guid *guid)
{
    const struct expected_activity *expected = expected_of(commit);
    int64_t node = node_of(commit, guid->activity->id);
    if (node < 0) {
        return;
    }
    struct expected_spawn spawn = expected_activity_spawn(
        expected, (uint32_t)node, guid->answer,
        memory_get(&commit->judge, MEMORY_GUID, guid->id, MEMO_OUTPUT), round_of(commit, guid->id));
    tell(commit, guid->child_rows < spawn.children, ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_GUID,
         guid->slot, "Step 2 left out a child that its answer leads to");
    tell(commit, guid->child_rows > spawn.children, ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_GUID,
         guid->slot, "Step 2 spawned a child that its answer does not lead to");
    tell(commit, guid->child_marks != spawn.which, ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_GUID,
         guid->slot, "Step 2 spawned other children than its answer leads to");
    tell(commit, spawn.cycles && guid->cycles == 0, ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_GUID,
         guid->slot, "Step 2 did not follow the cycle of its activity");
    tell(commit, guid->cycles > (spawn.cycles ? 1 : 0), ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_GUID,
         guid->slot, "Step 2 followed a cycle once too often");
    if (expected_activity_answers(expected, (uint32_t)node, guid->answer)) {
        judge_order(commit, guid, expected->node[node].pendings);
    }
}

/* ---- rows that came -------------------------------------------------------------------------- */

static void judge_job(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t input = row_get(rows, TABLE_JOB, slot, JOB_INPUT);
    bool asked = expected_activity_asks(expected_of(commit), input);
    tell(commit, !asked, ORACLE_DATA, CLAUSE_ACL_32, TABLE_JOB, slot,
         "a job has an input that nobody asked for");
    tell(commit,
         asked && row_get(rows, TABLE_JOB, slot, JOB_THRESHOLD) !=
                      expected_activity_threshold(expected_of(commit), input),
         ORACLE_SEMAPHORE, CLAUSE_ACL_21, TABLE_JOB, slot,
         "a job has another threshold than the one that is its turn (E-ACL-12)");
}

static void judge_activity(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t id = row_key(rows, TABLE_ACTIVITY, slot), node = node_of(commit, id);
    int64_t above = row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_SPAWNED_BY);
    int64_t parent = judge_column(rows, TABLE_GUID, above, GUID_ACTIVITY);
    tell(commit, above == 0 ? node != 0 : node <= 0, ORACLE_DATA, CLAUSE_ACL_32, TABLE_ACTIVITY,
         slot, "an activity is none that the graph has there");
    tell(commit,
         above != 0 && node > 0 &&
             expected_of(commit)->node[node].parent != node_of(commit, parent),
         ORACLE_LEDGER, CLAUSE_ACL_17, TABLE_ACTIVITY, slot,
         "an activity was spawned by another than its parent");
    tell(commit,
         above != 0 && row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_JOB) !=
                           judge_column(rows, TABLE_ACTIVITY, parent, ACTIVITY_JOB),
         ORACLE_DATA, CLAUSE_ACL_32, TABLE_ACTIVITY, slot, "a child belongs to another job");
    tell(commit,
         node >= 0 && expected_of(commit)->node[node].leg1 > 0 &&
             row_get(rows, TABLE_ACTIVITY, slot, ACTIVITY_LEDGER) == 0,
         ORACLE_LEDGER, CLAUSE_ACL_3, TABLE_ACTIVITY, slot,
         "an activity ledger does not start with the entries of its scenario");
}

static void judge_output(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t guid = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_GUID);
    tell(commit,
         row_get(rows, TABLE_OUTPUT, slot, OUTPUT_VALUE) !=
             memory_get(&commit->judge, MEMORY_GUID, guid, MEMO_DUE),
         ORACLE_DATA, CLAUSE_ACL_32, TABLE_OUTPUT, slot,
         "the work stored something else than its activity makes of its input");
}

static void judge_came(struct commit *commit, const struct row_change *change)
{
    bool leg2 =
        change->table == TABLE_MESSAGE &&
        row_get(commit->judge.rows, TABLE_MESSAGE, change->slot, MESSAGE_KIND) == MESSAGE_LEG2;
    if (change->table == TABLE_JOB) {
        judge_job(commit, change->slot);
    } else if (change->table == TABLE_ACTIVITY) {
        judge_activity(commit, change->slot);
    } else if (leg2) {
        judge_leg2(commit, change->slot);
    } else if (change->table == TABLE_OUTPUT) {
        judge_output(commit, change->slot);
    }
}

/* ---- a commit -------------------------------------------------------------------------------- */

static void judge_preset(struct commit *commit, const struct commit_activity *activity)
{
    int64_t node = node_of(commit, activity->id);
    tell(commit,
         node >= 0 && activity->ledger.before != expected_of(commit)->node[node].leg1 * LEG1_ENTRY,
         ORACLE_LEDGER, CLAUSE_ACL_3, TABLE_ACTIVITY, activity->slot,
         "an activity ledger does not start with the entries of its scenario");
}

void activity_expected_judge(struct commit *commit)
{
    if (commit->judge.oracle->expected == NULL) {
        return;
    }
    for (size_t i = 0; i < commit->count; i++) { /* messages say what is due */
        if (commit->changes[i].kind == ROW_INSERTED) {
            judge_came(commit, &commit->changes[i]);
        }
    }
    for (size_t i = 0; i < commit->guids; i++) {
        const struct commit_guid *guid = &commit->guid[i];
        if (guid->slot != ROW_NONE && guid->ledger.born) {
            judge_birth(commit, guid);
        }
        if (guid->step2 && !guid->overruled) {
            judge_step2(commit, guid);
        }
    }
    for (size_t i = 0; i < commit->activities; i++) {
        if (commit->activity[i].ledger.born) {
            judge_preset(commit, &commit->activity[i]);
        }
    }
}
