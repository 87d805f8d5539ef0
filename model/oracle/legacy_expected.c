#include "model/oracle/legacy_expected.h"

/* A commit and what it must do. */
struct held {
    struct judge *judge;
    const struct rows *rows;
    const struct expected_legacy *asked;
    const struct row_change *changes;
    size_t count;
};

/* An activity as its row has it, if that is one of the scenario's. */
struct activity {
    int64_t id, number; /* of its node */
    const struct expected_node *node;
    int64_t job, parent, dimension;
    uint32_t slot;
};

static struct held hold(struct judge *judge, const struct row_change *changes, size_t count)
{
    return (struct held){.judge = judge,
                         .rows = judge->rows,
                         .asked = &judge->oracle->expected->of.legacy,
                         .changes = changes,
                         .count = count};
}

static void that(const struct held *held, bool holds, enum clause_id clause, enum row_table table,
                 uint32_t slot, const char *why)
{
    judge_that(held->judge, holds, ORACLE_LEGACY, clause, table, slot, why);
}

/* False: it has no row, or its node is not in the graph, which is told where it is born. */
static bool find_activity(const struct held *held, int64_t id, struct activity *found)
{
    uint32_t slot = row_find(held->rows, TABLE_LEGACY, id);
    if (slot == ROW_NONE) {
        return false;
    }
    int64_t number = row_get(held->rows, TABLE_LEGACY, slot, LEGACY_NODE);
    if (!expected_activity_has(&held->asked->graph, number)) {
        return false;
    }
    *found = (struct activity){
        .id = id,
        .number = number,
        .node = &held->asked->graph.node[number],
        .job = row_get(held->rows, TABLE_LEGACY, slot, LEGACY_JOB),
        .parent = row_get(held->rows, TABLE_LEGACY, slot, LEGACY_PARENT),
        .dimension = row_get(held->rows, TABLE_LEGACY, slot, LEGACY_DIMENSION),
        .slot = slot,
    };
    return true;
}

/* Its input: what the answer that spawned it has saved, or the job's. 0: there is none. */
static int64_t input_of(const struct held *held, const struct activity *activity)
{
    if (activity->parent == 0) {
        return memory_get(held->judge, MEMORY_ACTIVITY, activity->id, MEMO_FLAGS) >> INPUT_SHIFT;
    }
    return judge_column(held->rows, TABLE_SAVED,
                        expected_legacy_state(activity->parent, activity->dimension), SAVED_VALUE);
}

/* Whether it is the trigger of the job that has this input. */
static bool is_trigger_of(const struct held *held, const struct activity *activity, int64_t input)
{
    int64_t j = input - EXPECTED_JOB_INPUT;
    return expected_activity_asks(&held->asked->graph, input) &&
           activity->job == expected_legacy_job(j) && activity->id == expected_legacy_trigger(j);
}

/* ---- integers -------------------------------------------------------------------------------- */

/* The parent's state that this commit saves. */
static bool is_saved_here(const struct held *held, int64_t activity, int64_t dimension)
{
    for (size_t i = 0; i < held->count; i++) {
        const struct row_change *change = &held->changes[i];
        if (change->table == TABLE_SAVED && change->kind == ROW_INSERTED &&
            row_get(held->rows, TABLE_SAVED, change->slot, SAVED_ACTIVITY) == activity &&
            row_get(held->rows, TABLE_SAVED, change->slot, SAVED_DIMENSION) == dimension) {
            return true;
        }
    }
    return false;
}

static void born(const struct held *held, uint32_t slot)
{
    struct activity child, parent;
    bool known = find_activity(held, row_key(held->rows, TABLE_LEGACY, slot), &child);
    bool asked =
        known &&
        (child.parent == 0 ? child.number == 0 && child.dimension == 0
                           : child.number != 0 && find_activity(held, child.parent, &parent) &&
                                 parent.number == child.node->parent && parent.job == child.job);
    that(held, asked, CLAUSE_LEG_12, TABLE_LEGACY, slot, "an activity that nobody asked for");
    if (asked && child.parent != 0) {
        that(held, is_saved_here(held, child.parent, child.dimension), CLAUSE_LEG_9, TABLE_LEGACY,
             slot, "a child's integer was not saved along with its parent's state");
    }
}

/* Leg1 begins when its message is dequeued: no entry without a claim. */
static void entered_leg1(const struct held *held, const struct activity *activity, int64_t entry)
{
    int64_t claims =
        judge_column(held->rows, TABLE_MESSAGE, expected_legacy_leg1(activity->id), MESSAGE_EPOCH);
    int64_t entries = 9 - activity->node->leg1 - entry;
    that(held, entries >= 1, CLAUSE_LEG_1, TABLE_LEGACY, activity->slot,
         "an integer does not count the Leg1 entries that it starts with");
    int64_t past = memory_get(held->judge, MEMORY_ACTIVITY, activity->id, MEMO_FLAGS);
    if (claims > 0 && (past & PAST_COPIED) == 0) {
        that(held, entries <= claims, CLAUSE_LEG_1, TABLE_LEGACY, activity->slot,
             "Leg1 was entered more often than its message was dequeued");
    }
}

static void moved(const struct held *held, uint32_t slot, int64_t before)
{
    struct legacy_cut old = legacy_cut_of(before);
    struct legacy_cut new = legacy_cut_of(row_get(held->rows, TABLE_LEGACY, slot, LEGACY_LEDGER));
    struct activity activity;
    if (!find_activity(held, row_key(held->rows, TABLE_LEGACY, slot), &activity)) {
        return;
    }
    int64_t past = memory_get(held->judge, MEMORY_ACTIVITY, activity.id, MEMO_FLAGS);
    int64_t leg2 = activity.node->leg2;
    if (new.leg1_entry < old.leg1_entry) {
        entered_leg1(held, &activity, new.leg1_entry);
    } else if (new.leg1_exit < old.leg1_exit && old.leg1_exit == 9) {
        that(held, new.entries == leg2 &&new.exits == leg2, CLAUSE_LEG_1, TABLE_LEGACY, slot,
             "an integer does not count the Leg2 entries that it starts with");
    } else if (new.leg2_exit < old.leg2_exit) {
        that(held, (past & PAST_SUCCESS_SAVED) != 0, CLAUSE_LEG_4, TABLE_LEGACY, slot,
             "Leg2 was closed and no success had saved its data");
    } else if (new.exits > old.exits) {
        that(held, (past & PAST_PENDING_SAVED) != 0, CLAUSE_LEG_4, TABLE_LEGACY, slot,
             "a pending reply left Leg2 and none had saved its data");
    }
}

/* ---- what is saved --------------------------------------------------------------------------- */

/* The children whose integers this commit saves along with the state. */
static struct expected_spawn spawned(const struct held *held, int64_t activity, int64_t dimension)
{
    struct expected_spawn spawn = {0};
    for (size_t i = 0; i < held->count; i++) {
        const struct row_change *change = &held->changes[i];
        if (change->table == TABLE_LEGACY && change->kind == ROW_INSERTED &&
            row_get(held->rows, TABLE_LEGACY, change->slot, LEGACY_PARENT) == activity &&
            row_get(held->rows, TABLE_LEGACY, change->slot, LEGACY_DIMENSION) == dimension) {
            spawn.children++;
            spawn.which += expected_activity_mark(
                row_get(held->rows, TABLE_LEGACY, change->slot, LEGACY_NODE));
        }
    }
    return spawn;
}

static bool is_claim_of(const struct held *held, int64_t message, int64_t claim)
{
    int64_t claims = judge_column(held->rows, TABLE_MESSAGE, message, MESSAGE_EPOCH);
    for (int64_t n = 1; n <= claims; n++) {
        if (expected_legacy_claim(message, n) == claim) {
            return true;
        }
    }
    return false;
}

/* Closing answer or call, whose data are the same: 1 a call, 0 the closing answer, -1 either. */
static int is_call(const struct held *held, const struct activity *activity, int64_t claim)
{
    if (activity->node->again == 0 ||
        is_claim_of(held, expected_legacy_leg2(activity->id, 0), claim)) {
        return 0;
    }
    for (int64_t k = 1; k <= activity->node->again; k++) {
        if (is_claim_of(held, expected_legacy_leg2(activity->id, -k), claim)) {
            return 1;
        }
    }
    return -1;
}

static void judge_children(const struct held *held, const struct activity *activity, int64_t answer,
                           uint32_t state)
{
    int64_t value = row_get(held->rows, TABLE_SAVED, state, SAVED_VALUE);
    int64_t dimension = row_get(held->rows, TABLE_SAVED, state, SAVED_DIMENSION);
    struct expected_spawn due =
        expected_activity_spawn(&held->asked->graph, (uint32_t)activity->number, answer, value, 0);
    struct expected_spawn is = spawned(held, activity->id, dimension);
    int call =
        answer > 0 ? 0 : is_call(held, activity, row_get(held->rows, TABLE_SAVED, state, SAVED_BY));
    bool all = is.children == due.children && is.which == due.which;
    that(held, (call != 1 && all) || (call != 0 && is.children == 0), CLAUSE_LEG_12, TABLE_SAVED,
         state, "an answer spawned other children than the graph has for it");
}

/* The answer that carries this; -1: none does. */
static int64_t answer_of(const struct activity *activity, int64_t input, int64_t value)
{
    int64_t answer = activity->node->pendings;
    while (answer >= 0 && expected_legacy_content(activity->number, input, answer) != value) {
        answer--;
    }
    return answer;
}

static void saved_leg2(const struct held *held, const struct activity *activity, uint32_t slot)
{
    int64_t dimension = row_get(held->rows, TABLE_SAVED, slot, SAVED_DIMENSION);
    int64_t given = memory_get(held->judge, MEMORY_ACTIVITY, activity->id, MEMO_NUMBER);
    int64_t answer = answer_of(activity, input_of(held, activity),
                               row_get(held->rows, TABLE_SAVED, slot, SAVED_VALUE));
    that(held, dimension > activity->node->leg2 && dimension <= given, CLAUSE_LEG_10, TABLE_SAVED,
         slot, "data were saved under a number that no Leg2 entry was given");
    that(held, answer >= 0, CLAUSE_LEG_12, TABLE_SAVED, slot,
         "Leg2 saved data that no answer of its activity carries");
    if (answer >= 0) {
        judge_children(held, activity, answer, slot);
        memory_flag(held->judge, MEMORY_ACTIVITY, activity->id,
                    answer == 0 ? PAST_SUCCESS_SAVED : PAST_PENDING_SAVED);
    }
}

static void saved(const struct held *held, uint32_t slot)
{
    int64_t id = row_get(held->rows, TABLE_SAVED, slot, SAVED_ACTIVITY);
    int64_t dimension = row_get(held->rows, TABLE_SAVED, slot, SAVED_DIMENSION);
    struct activity activity;
    bool known = find_activity(held, id, &activity) &&
                 row_key(held->rows, TABLE_SAVED, slot) == expected_legacy_state(id, dimension);
    that(held, known, CLAUSE_LEG_12, TABLE_SAVED, slot, "data of an activity that is not there");
    if (known && dimension == 0) {
        that(held, row_get(held->rows, TABLE_SAVED, slot, SAVED_VALUE) == input_of(held, &activity),
             CLAUSE_LEG_12, TABLE_SAVED, slot, "Leg1 worked on other data than its input");
    } else if (known) {
        saved_leg2(held, &activity, slot);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool is_answered(const struct held *held, const struct activity *activity)
{
    int64_t past = memory_get(held->judge, MEMORY_ACTIVITY, activity->id, MEMO_FLAGS);
    bool all = true;
    for (int64_t k = -(int64_t)activity->node->again; k <= activity->node->pendings; k++) {
        all = all && (past & PAST_ANSWER(k)) != 0;
    }
    return all;
}

/* Leg1's answers are out, as its state says. */
static void marked(const struct held *held, uint32_t slot)
{
    struct activity activity;
    if (row_get(held->rows, TABLE_SAVED, slot, SAVED_DIMENSION) == 0 &&
        find_activity(held, row_get(held->rows, TABLE_SAVED, slot, SAVED_ACTIVITY), &activity)) {
        that(held, is_answered(held, &activity), CLAUSE_LEG_3, TABLE_SAVED, slot,
             "Leg1's answers were marked as published and one of them is missing");
    }
}

static void published_leg1(const struct held *held, const struct activity *to, uint32_t slot)
{
    int64_t content = row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_CONTENT);
    bool right = to->parent == 0 ? is_trigger_of(held, to, content) : content == input_of(held, to);
    that(held, right, CLAUSE_LEG_12, TABLE_MESSAGE, slot,
         "an activity is given other data than are asked for");
    that(held,
         row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_SOURCE) == to->parent &&
             row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_DIMENSION) ==
                 row_get(held->rows, TABLE_LEGACY, to->slot, LEGACY_DIMENSION),
         CLAUSE_LEG_12, TABLE_MESSAGE, slot,
         "a message names another parent or dimension than its activity has");
    if (right && to->parent == 0) {
        memory_flag(held->judge, MEMORY_ACTIVITY, to->id, content << INPUT_SHIFT);
    }
}

/* What the queue delivers twice comes under another key. */
static void published_leg2(const struct held *held, const struct activity *to, uint32_t slot)
{
    int64_t content = row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_CONTENT);
    int64_t answer = row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_ANSWER);
    bool has = expected_legacy_answers(to->node, answer);
    that(held, has && content == expected_legacy_content(to->number, input_of(held, to), answer),
         CLAUSE_LEG_12, TABLE_MESSAGE, slot,
         "an answer that its activity does not give, or with other data");
    if (!has) {
        return;
    }
    bool again = memory_flag(held->judge, MEMORY_ACTIVITY, to->id, PAST_ANSWER(answer));
    bool own = row_key(held->rows, TABLE_MESSAGE, slot) == expected_legacy_leg2(to->id, answer);
    that(held, again || own, CLAUSE_LEG_12, TABLE_MESSAGE, slot,
         "an answer was published under an id that is not its own");
    that(held, !again || !own, CLAUSE_LEG_3, TABLE_MESSAGE, slot,
         "Leg1 published an answer again that was not missing");
}

static void published(const struct held *held, uint32_t slot)
{
    struct activity to;
    bool leg1 = row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_KIND) == MESSAGE_LEG1;
    if (!find_activity(held, row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY), &to)) {
        return; /* LEG-9 */
    }
    that(held,
         row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_JOB) == to.job &&
             row_get(held->rows, TABLE_MESSAGE, slot, MESSAGE_NODE) == to.number,
         CLAUSE_LEG_12, TABLE_MESSAGE, slot,
         "a message is of another job or node than its activity");
    (leg1 ? published_leg1 : published_leg2)(held, &to, slot);
}

void legacy_expected_escalation(struct judge *judge, uint32_t escalation, uint32_t message)
{
    const struct rows *rows = judge->rows;
    bool leg1 = row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND) == MESSAGE_LEG1;
    bool right = row_get(rows, TABLE_ESCALATION, escalation, ESCALATION_REASON) == (leg1 ? 1 : 2) &&
                 row_get(rows, TABLE_ESCALATION, escalation, ESCALATION_JOB) ==
                     row_get(rows, TABLE_MESSAGE, message, MESSAGE_JOB);
    if (judge->oracle->expected != NULL && !right) {
        legacy_breach(judge, CLAUSE_LEG_5, TABLE_ESCALATION, escalation,
                      "a message was given up for another reason than its ceiling");
    }
}

/* ---- a commit, and the end ------------------------------------------------------------------- */

static void changed(const struct held *held, const struct row_change *change)
{
    bool inserted = change->kind == ROW_INSERTED, updated = change->kind == ROW_UPDATED;
    if (change->table == TABLE_LEGACY && inserted) {
        born(held, change->slot);
    } else if (change->table == TABLE_LEGACY && updated && change->column == LEGACY_LEDGER) {
        moved(held, change->slot, change->before);
    } else if (change->table == TABLE_SAVED &&
               (inserted || (updated && change->column == SAVED_VALUE))) {
        saved(held, change->slot);
    } else if (change->table == TABLE_MESSAGE && inserted) {
        published(held, change->slot);
    }
}

void legacy_expected_commit(struct judge *judge, const struct row_change *changes, size_t count)
{
    if (judge->oracle->expected == NULL) {
        return;
    }
    struct held held = hold(judge, changes, count);
    for (size_t i = 0; i < count; i++) {
        changed(&held, &changes[i]);
    }
    for (size_t i = 0; i < count; i++) { /* of all messages that it published */
        if (changes[i].table == TABLE_SAVED && changes[i].kind == ROW_UPDATED &&
            changes[i].column == SAVED_PUBLISHED) {
            marked(&held, changes[i].slot);
        }
    }
}

/* What no race can lose: Leg1's data, and all Leg2 messages. */
static void settled_activity(const struct held *held, const struct activity *activity)
{
    uint32_t state = row_find(held->rows, TABLE_SAVED, expected_legacy_state(activity->id, 0));
    bool out = state != ROW_NONE && is_answered(held, activity) &&
               row_get(held->rows, TABLE_SAVED, state, SAVED_PUBLISHED) == 1;
    that(held, out, CLAUSE_LEG_3, TABLE_LEGACY, activity->slot,
         "Leg1's data are missing, or an answer that follows from them");
}

void legacy_expected_settled(struct judge *judge)
{
    if (judge->oracle->expected == NULL) {
        return;
    }
    struct held held = hold(judge, NULL, 0);
    struct activity activity;
    for (int64_t j = 0; j < held.asked->graph.jobs; j++) {
        that(&held, find_activity(&held, expected_legacy_trigger(j), &activity), CLAUSE_LEG_12,
             TABLE_COUNT, ROW_NONE, "a job was asked for and has no trigger");
    }
    for (uint32_t slot = 0; slot < held.rows->table[TABLE_LEGACY].used; slot++) {
        int64_t id = row_key(held.rows, TABLE_LEGACY, slot);
        int64_t past = memory_get(judge, MEMORY_ACTIVITY, id, MEMO_FLAGS);
        if ((past & PAST_GIVEN_UP) == 0 && find_activity(&held, id, &activity)) {
            settled_activity(&held, &activity);
        }
    }
}
