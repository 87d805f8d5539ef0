#include "model/oracle/activity_commit.h"

/* ---- records: found, or begun ---------------------------------------------------------------- */

static struct commit_job *job_of(struct commit *commit, int64_t id)
{
    for (size_t i = 0; i < commit->jobs; i++) {
        if (commit->job[i].id == id) {
            return &commit->job[i];
        }
    }
    CHECK(commit->jobs < ORACLE_COMMIT_ROWS_MAX);
    struct commit_job *job = &commit->job[commit->jobs++];
    uint32_t slot = row_find(commit->judge.rows, TABLE_JOB, id);
    *job = (struct commit_job){.id = id, .slot = slot};
    if (slot != ROW_NONE) {
        job->after = row_get(commit->judge.rows, TABLE_JOB, slot, JOB_SEMAPHORE);
        job->before = job->after;
        job->threshold = row_get(commit->judge.rows, TABLE_JOB, slot, JOB_THRESHOLD);
    }
    return job;
}

static struct commit_ledger ledger_at(const struct commit *commit, enum row_table table,
                                      uint32_t slot, int column)
{
    int64_t value = slot == ROW_NONE ? 0 : row_get(commit->judge.rows, table, slot, column);
    return (struct commit_ledger){.before = value, .after = value};
}

static struct commit_activity *activity_of(struct commit *commit, int64_t id)
{
    for (size_t i = 0; i < commit->activities; i++) {
        if (commit->activity[i].id == id) {
            return &commit->activity[i];
        }
    }
    CHECK(commit->activities < ORACLE_COMMIT_ROWS_MAX);
    struct commit_activity *activity = &commit->activity[commit->activities++];
    uint32_t slot = row_find(commit->judge.rows, TABLE_ACTIVITY, id);
    *activity = (struct commit_activity){
        .id = id, .slot = slot, .ledger = ledger_at(commit, TABLE_ACTIVITY, slot, ACTIVITY_LEDGER)};
    return activity;
}

static struct commit_guid *guid_of(struct commit *commit, int64_t id)
{
    for (size_t i = 0; i < commit->guids; i++) {
        if (commit->guid[i].id == id) {
            return &commit->guid[i];
        }
    }
    CHECK(commit->guids < ORACLE_COMMIT_ROWS_MAX);
    struct commit_guid *guid = &commit->guid[commit->guids++];
    uint32_t slot = row_find(commit->judge.rows, TABLE_GUID, id);
    *guid = (struct commit_guid){
        .id = id, .slot = slot, .ledger = ledger_at(commit, TABLE_GUID, slot, GUID_LEDGER)};
    return guid;
}

/* A cell may be written twice in a commit: the first write knows what the commit found. */
static void note_before(bool *moved, int64_t *before, const struct row_change *change)
{
    if (!*moved) {
        *before = change->before;
        *moved = true;
    }
}

/* ---- the walk: one function a table ---------------------------------------------------------- */

static void see_job(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    if (change->kind == ROW_DELETED) {
        return;
    }
    struct commit_job *job = job_of(commit, row_key(rows, TABLE_JOB, change->slot));
    if (change->kind == ROW_INSERTED) {
        job->born = true;
    } else if (change->column == JOB_SEMAPHORE) {
        note_before(&job->moved, &job->before, change);
    } else if (change->column == JOB_ESCALATED) {
        job->escalated = change->before == 0;
    }
}

static void see_activity(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    int64_t id = row_key(rows, TABLE_ACTIVITY, change->slot);
    if (change->kind == ROW_UPDATED && change->column == ACTIVITY_LEDGER) {
        struct commit_ledger *ledger = &activity_of(commit, id)->ledger;
        note_before(&ledger->moved, &ledger->before, change);
    }
    if (change->kind != ROW_INSERTED) {
        return;
    }
    job_of(commit, row_get(rows, TABLE_ACTIVITY, change->slot, ACTIVITY_JOB))->opened++;
    int64_t parent = row_get(rows, TABLE_ACTIVITY, change->slot, ACTIVITY_SPAWNED_BY);
    if (parent != 0) {
        struct commit_guid *guid = guid_of(commit, parent);
        guid->child_rows++;
        guid->child_marks +=
            expected_activity_mark(row_get(rows, TABLE_ACTIVITY, change->slot, ACTIVITY_NODE));
    }
    if (row_get(rows, TABLE_ACTIVITY, change->slot, ACTIVITY_LEDGER) != 0) {
        activity_of(commit, id)->ledger.born = true; /* a preset ledger is looked at */
    }
}

static void see_task(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    int64_t activity = row_get(rows, TABLE_TASK, change->slot, TASK_ACTIVITY);
    if (change->kind == ROW_INSERTED) {
        bool once = row_get(rows, TABLE_TASK, change->slot, TASK_RUNS) == 1;
        struct commit_activity *of = activity_of(commit, activity);
        of->tasks++;
        of->reruns += once ? 0 : 1;
        memory_set(&commit->judge, MEMORY_ACTIVITY, activity, MEMO_TASK,
                   row_key(rows, TABLE_TASK, change->slot));
    } else if (change->kind == ROW_UPDATED && change->column == TASK_RUNS) {
        activity_of(commit, activity)->reruns++;
    } else if (change->kind == ROW_UPDATED && change->column == TASK_CLOSED) {
        int64_t closer = row_get(rows, TABLE_TASK, change->slot, TASK_CLOSED);
        if (closer != 0) {
            guid_of(commit, closer)->closes_task = true;
        }
    }
}

static void see_guid(struct commit *commit, const struct row_change *change)
{
    if (change->kind == ROW_DELETED ||
        (change->kind == ROW_UPDATED && change->column != GUID_LEDGER)) {
        return;
    }
    struct commit_guid *guid =
        guid_of(commit, row_key(commit->judge.rows, TABLE_GUID, change->slot));
    if (change->kind == ROW_INSERTED) {
        guid->ledger.born = true;
    } else {
        note_before(&guid->ledger.moved, &guid->ledger.before, change);
    }
}

static void see_output(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    int64_t id = row_get(rows, TABLE_OUTPUT, change->slot, OUTPUT_GUID);
    if (change->kind == ROW_INSERTED) {
        struct commit_guid *guid = guid_of(commit, id);
        guid->outputs++;
        guid->reworks += row_get(rows, TABLE_OUTPUT, change->slot, OUTPUT_RUNS) == 1 ? 0 : 1;
        memory_flag(&commit->judge, MEMORY_GUID, id, PAST_WORKED);
        memory_set(&commit->judge, MEMORY_GUID, id, MEMO_OUTPUT,
                   row_get(rows, TABLE_OUTPUT, change->slot, OUTPUT_VALUE));
    } else if (change->kind == ROW_UPDATED && change->column == OUTPUT_RUNS) {
        guid_of(commit, id)->reworks++;
    }
}

static void see_completion(struct commit *commit, const struct row_change *change)
{
    const struct rows *rows = commit->judge.rows;
    int64_t id = row_get(rows, TABLE_COMPLETION, change->slot, COMPLETION_GUID);
    if (change->kind == ROW_INSERTED) {
        struct commit_guid *guid = guid_of(commit, id);
        guid->completions++;
        guid->refinishes +=
            row_get(rows, TABLE_COMPLETION, change->slot, COMPLETION_RUNS) == 1 ? 0 : 1;
    } else if (change->kind == ROW_UPDATED && change->column == COMPLETION_RUNS) {
        guid_of(commit, id)->refinishes++;
    }
}

static void see_escalation(struct commit *commit, const struct row_change *change)
{
    if (is_escalation(change)) {
        job_of(commit, row_get(commit->judge.rows, TABLE_ESCALATION, change->slot, ESCALATION_JOB))
            ->escalations++;
    }
}

/* A copy of a message has another key and the same content. It comes alone, made by the
 * environment; an answer repeated by a re-run worker is one too. Neither is a spawn. */
static void see_published(struct commit *commit, uint32_t slot, bool again)
{
    const struct rows *rows = commit->judge.rows;
    int64_t parent = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_SPAWNED_BY);
    uint32_t of_messages = commit_bit(TABLE_MESSAGE, ROW_INSERTED) |
                           commit_bit(TABLE_MESSAGE, ROW_UPDATED) |
                           commit_bit(TABLE_MESSAGE, ROW_DELETED);
    bool alone = (commit->kinds & ~of_messages) == 0;
    if (parent == 0 || (again && alone)) {
        return;
    }
    struct commit_guid *guid = guid_of(commit, parent);
    guid->respawned |= again;
    if (row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) == MESSAGE_LEG1) {
        guid->child_messages++;
    } else {
        guid->cycles++;
    }
}

/* True if the message was published before. */
static bool see_leg2_published(struct commit *commit, uint32_t slot)
{
    struct judge *judge = &commit->judge;
    int64_t guid = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
    int64_t activity = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    int64_t answer = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_ANSWER);
    if (memory_flag(judge, MEMORY_GUID, guid, PAST_PUBLISHED)) {
        return true;
    }
    if (answer == ANSWER_CYCLES) { /* E-ACL-22: counted in N, so it obliges */
        memory_flag(judge, MEMORY_GUID, guid, PAST_OBLIGES);
        job_of(commit, row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_JOB))->opened++;
    } else if (answer == ANSWER_CLOSES) {
        memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_CLOSING_PUBLISHED);
    }
    if (commit_has(commit, TABLE_TASK, ROW_INSERTED)) {
        activity_of(commit, activity)->answers++; /* Leg1 answers itself: no task hop */
    }
    return false;
}

static void see_message_inserted(struct commit *commit, uint32_t slot)
{
    struct judge *judge = &commit->judge;
    int64_t activity = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    int64_t kind = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_KIND);
    if (kind == MESSAGE_LEG1) {
        see_published(commit, slot,
                      memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_LEG1_PUBLISHED));
    } else if (kind == MESSAGE_LEG2) {
        see_published(commit, slot, see_leg2_published(commit, slot));
    } else if (!memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_TASK_PUBLISHED)) {
        activity_of(commit, activity)->task_messages++;
    }
}

/* A message of this kind with this id in the column was acked by this very commit: with merged
 * commits the claim of its copy may ride along. */
static bool acks_here(const struct commit *commit, int64_t kind, int column, int64_t id)
{
    const struct rows *rows = commit->judge.rows;
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == TABLE_MESSAGE && change->kind == ROW_DELETED &&
            row_get(rows, TABLE_MESSAGE, change->slot, MESSAGE_KIND) == kind &&
            row_get(rows, TABLE_MESSAGE, change->slot, column) == id) {
            return true;
        }
    }
    return false;
}

/* ACL-34: a claim of a message whose work is all done is a replay. */
static void see_claim(struct commit *commit, uint32_t slot)
{
    struct judge *judge = &commit->judge;
    int64_t kind = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_KIND);
    if (kind == MESSAGE_LEG1) {
        int64_t id = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
        int64_t past = memory_get(judge, MEMORY_ACTIVITY, id, MEMO_FLAGS);
        bool acked = (past & PAST_LEG1_ACKED) != 0 || acks_here(commit, kind, MESSAGE_ACTIVITY, id);
        if (cut_of(judge_column(judge->rows, TABLE_ACTIVITY, id, ACTIVITY_LEDGER)).mark > 0) {
            judge_see(judge, acked ? COVER_REPLAY_LEG1_AFTER_ACK : COVER_REPLAY_LEG1_BEFORE_ACK);
        }
    } else if (kind == MESSAGE_LEG2) {
        int64_t id = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
        int64_t past = memory_get(judge, MEMORY_GUID, id, MEMO_FLAGS);
        bool acked = (past & PAST_ACKED) != 0 || acks_here(commit, kind, MESSAGE_GUID, id);
        if (cut_finished(cut_of(judge_column(judge->rows, TABLE_GUID, id, GUID_LEDGER)))) {
            judge_see(judge, acked ? COVER_REPLAY_LEG2_AFTER_ACK : COVER_REPLAY_LEG2_BEFORE_ACK);
        }
    }
}

static void see_message(struct commit *commit, const struct row_change *change)
{
    if (change->kind == ROW_INSERTED) {
        see_message_inserted(commit, change->slot);
    } else if (change->kind == ROW_UPDATED && change->column == MESSAGE_EPOCH &&
               row_get(commit->judge.rows, TABLE_MESSAGE, change->slot, MESSAGE_EPOCH) >
                   change->before) {
        see_claim(commit, change->slot);
    }
}

static void see(struct commit *commit, const struct row_change *change)
{
    switch ((int)change->table) {
    case TABLE_JOB:
        see_job(commit, change);
        break;
    case TABLE_ACTIVITY:
        see_activity(commit, change);
        break;
    case TABLE_TASK:
        see_task(commit, change);
        break;
    case TABLE_GUID:
        see_guid(commit, change);
        break;
    case TABLE_OUTPUT:
        see_output(commit, change);
        break;
    case TABLE_COMPLETION:
        see_completion(commit, change);
        break;
    case TABLE_ESCALATION:
        see_escalation(commit, change);
        break;
    default: /* TABLE_MESSAGE: the protocol has no other */
        see_message(commit, change);
        break;
    }
}

/* ---- what the changes amount to -------------------------------------------------------------- */

static void cut(struct commit_ledger *ledger)
{
    ledger->was = cut_of(ledger->before);
    ledger->is = ledger->moved ? cut_of(ledger->after) : ledger->was;
}

/* ACL-24, ACL-25: where a known GUID was entered again. */
static void see_resume(struct commit *commit, const struct commit_guid *guid)
{
    struct cut was = guid->ledger.was;
    enum oracle_cover at = was.tasks > 0      ? COVER_RESUME_DONE
                           : was.mark > 0     ? COVER_RESUME_CLOSED
                           : was.children > 0 ? COVER_RESUME_SPAWNED
                           : was.work > 0     ? COVER_RESUME_WORK
                                              : COVER_RESUME_NOTHING;
    judge_see(&commit->judge, at);
    if (at == COVER_RESUME_CLOSED) {
        memory_flag(&commit->judge, MEMORY_GUID, guid->id, PAST_RESUMED_CLOSED);
    }
}

/* ACL-23. */
static void see_landing(struct commit *commit, const struct commit_job *job)
{
    if (job->threshold == 0) {
        judge_see(&commit->judge, COVER_THRESHOLD_0);
    } else if (job->threshold == 1) {
        judge_see(&commit->judge, COVER_THRESHOLD_1);
    } else if (job->threshold == 12) {
        judge_see(&commit->judge, COVER_THRESHOLD_12);
    }
}

/* Which obligation a Step 2 closes: a closing answer its activity's, a cycle message its own, a
 * pending answer none (E-ACL-8). An obligation is closed once. */
static bool closes_obligation(struct commit *commit, const struct commit_guid *guid)
{
    struct judge *judge = &commit->judge;
    if (guid->answer == ANSWER_CLOSES) {
        return !memory_flag(judge, MEMORY_ACTIVITY, guid->activity->id, PAST_CLOSED);
    }
    int64_t past = memory_get(judge, MEMORY_GUID, guid->id, MEMO_FLAGS);
    memory_set(judge, MEMORY_GUID, guid->id, MEMO_FLAGS, past & ~PAST_OBLIGES);
    return (past & PAST_OBLIGES) != 0;
}

static void resolve_steps(struct commit *commit, struct commit_guid *guid)
{
    struct commit_activity *activity = guid->activity;
    struct commit_job *job = guid->job;
    int64_t past = memory_get(&commit->judge, MEMORY_ACTIVITY, activity->id, MEMO_FLAGS);
    guid->overruled = guid->answer == ANSWER_CLOSES && (past & PAST_CLOSED) != 0 &&
                      guid->ledger.was.children == 0 && (guid->step1 || guid->step2);
    activity->entries += guid->entered ? 1 : 0;
    activity->step1s += guid->step1 ? 1 : 0;
    activity->step2s += guid->step2 ? 1 : 0;
    activity->step3s += guid->step3 ? 1 : 0;
    if (guid->step2) {
        job->step2s++;
        job->delta += (int64_t)guid->child_rows + guid->cycles - (guid->answer > 0 ? 0 : 1);
        job->closed += closes_obligation(commit, guid) ? 1 : 0;
        if (job->after == job->threshold) {
            see_landing(commit, job);
        }
    }
    job->snapshots += guid->snapshot ? 1 : 0;
    job->finishes += guid->step3 || guid->completions > 0 ? 1 : 0;
}

static void resolve_guid(struct commit *commit, struct commit_guid *guid)
{
    const struct rows *rows = commit->judge.rows;
    cut(&guid->ledger);
    if (guid->slot == ROW_NONE) {
        return;
    }
    struct cut was = guid->ledger.was;
    struct cut is = guid->ledger.is;
    guid->answer = row_get(rows, TABLE_GUID, guid->slot, GUID_ANSWER);
    guid->entered = guid->ledger.born || is.count > was.count;
    guid->step1 = is.work > was.work;
    guid->step2 = is.children > was.children;
    guid->step3 = is.tasks > was.tasks;
    guid->snapshot = is.mark > was.mark;
    int64_t activity = row_get(rows, TABLE_GUID, guid->slot, GUID_ACTIVITY);
    guid->activity = activity_of(commit, activity);
    guid->job = job_of(commit, judge_column(rows, TABLE_ACTIVITY, activity, ACTIVITY_JOB));
    resolve_steps(commit, guid);
    if (guid->entered && !guid->ledger.born) {
        see_resume(commit, guid);
    }
    int64_t past = memory_get(&commit->judge, MEMORY_GUID, guid->id, MEMO_FLAGS);
    if (guid->step3 && (past & PAST_RESUMED_CLOSED) != 0) {
        judge_see(&commit->judge, COVER_STEP3_AFTER_RESUME);
    }
}

static void remember_dimension(struct commit *commit, struct commit_guid *guid)
{
    struct judge *judge = &commit->judge;
    if (guid->slot == ROW_NONE || !guid->ledger.born) {
        return;
    }
    int64_t dimension = row_get(judge->rows, TABLE_GUID, guid->slot, GUID_DIMENSION);
    guid->next_dimension =
        memory_get(judge, MEMORY_ACTIVITY, guid->activity->id, MEMO_NEXT_DIMENSION);
    if (dimension >= guid->next_dimension) {
        memory_set(judge, MEMORY_ACTIVITY, guid->activity->id, MEMO_NEXT_DIMENSION, dimension + 1);
    }
}

static void resolve_activity(struct commit *commit, struct commit_activity *activity)
{
    cut(&activity->ledger);
    struct cut was = activity->ledger.was;
    struct cut is = activity->ledger.is;
    if (is.head <= was.head) {
        return;
    }
    if (is.mark == was.mark) {
        judge_see(&commit->judge, COVER_LEG1_ENTRY_APART); /* ACL-9 */
    }
    if (was.mark > 0) {
        memory_flag(&commit->judge, MEMORY_ACTIVITY, activity->id, PAST_STALE_ENTERED);
    }
}

static void resolve_job(struct commit *commit, struct commit_job *job)
{
    struct judge *judge = &commit->judge;
    job->open = memory_get(judge, MEMORY_JOB, job->id, MEMO_OPEN) + job->opened - job->closed;
    job->carriers = memory_get(judge, MEMORY_JOB, job->id, MEMO_CARRIERS) + job->snapshots;
    job->completed = memory_get(judge, MEMORY_JOB, job->id, MEMO_COMPLETED) + job->finishes;
    if (job->opened != job->closed) {
        memory_set(judge, MEMORY_JOB, job->id, MEMO_OPEN, job->open);
    }
    if (job->snapshots > 0) {
        memory_set(judge, MEMORY_JOB, job->id, MEMO_CARRIERS, job->carriers);
    }
    if (job->finishes > 0) {
        memory_set(judge, MEMORY_JOB, job->id, MEMO_COMPLETED, job->completed);
    }
}

/* Two GUIDs of one activity that write to one dimension: one marks Step 1 and has no OUTPUT row,
 * the row of the other counts once more. Whose work it was is a matter of data (E-ACL-4). */
static void find_astray(struct commit *commit)
{
    for (size_t i = 0; i < commit->guids; i++) {
        struct commit_guid *owner = &commit->guid[i];
        for (size_t j = 0; owner->reworks > 0 && !owner->step1 && j < commit->guids; j++) {
            struct commit_guid *other = &commit->guid[j];
            if (other->step1 && other->outputs == 0 && other->activity == owner->activity) {
                other->astray = owner->intruded = true;
            }
        }
    }
}

void activity_commit_gather(struct commit *commit)
{
    commit->kinds = 0;
    commit->jobs = commit->activities = commit->guids = 0;
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        CHECK(change->table < TABLE_COUNT && change->kind <= ROW_DELETED);
        commit->kinds |=
            commit_bit((enum row_table)change->table, (enum row_change_kind)change->kind);
    }
    for (size_t i = 0; i < commit->count; i++) {
        see(commit, &commit->changes[i]);
    }
    for (size_t i = 0; i < commit->guids; i++) {
        resolve_guid(commit, &commit->guid[i]);
        remember_dimension(commit, &commit->guid[i]);
    }
    if (commit_has(commit, TABLE_OUTPUT, ROW_UPDATED)) {
        find_astray(commit);
    }
    for (size_t i = 0; i < commit->activities; i++) {
        resolve_activity(commit, &commit->activity[i]);
    }
    for (size_t i = 0; i < commit->jobs; i++) {
        resolve_job(commit, &commit->job[i]);
    }
}

bool activity_commit_closed_by_another(const struct judge *judge, int64_t activity, int64_t guid)
{
    int64_t task = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_TASK);
    int64_t closer = task == 0 ? 0 : judge_column(judge->rows, TABLE_TASK, task, TASK_CLOSED);
    return closer != 0 && closer != guid;
}
