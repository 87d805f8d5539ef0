/* The oracle `ledger`, continued: what an ack and an escalation must find done.
 *
 * In each function the order of the sentences is the order in which they are told (OA3). */
#include "model/oracle/activity_commit.h"

static void tell(struct commit *commit, bool broken, enum clause_id clause, enum row_table table,
                 uint32_t slot, const char *why)
{
    if (broken) {
        judge_breach(&commit->judge, ORACLE_LEDGER, clause, table, slot, why);
    }
}

static struct cut ledger_of(const struct rows *rows, enum row_table table, int64_t key, int column)
{
    return cut_of(judge_column(rows, table, key, column));
}

/* ---- acks ------------------------------------------------------------------------------------ */

static bool escalated(const struct commit *commit, int64_t message)
{
    const struct rows *rows = commit->judge.rows;
    bool found = false;
    for (size_t i = 0; has_escalation(commit) && i < commit->count && !found; i++) {
        const struct row_change *change = &commit->changes[i];
        found = is_escalation(change) &&
                row_get(rows, TABLE_ESCALATION, change->slot, ESCALATION_MESSAGE) == message;
    }
    return found;
}

/* A second closing answer owes nothing once the first has closed the task: it is acked without
 * Step 2, wherever the closure met it (E-ACL-19). */
static bool is_overruled(const struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    return row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ANSWER) == ANSWER_CLOSES &&
           activity_commit_closed_by_another(&commit->judge,
                                             row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY),
                                             row_get(rows, TABLE_MESSAGE, slot, MESSAGE_GUID));
}

/* The message says otherwise than the one that its GUID was born of. */
static bool is_changed(const struct rows *rows, uint32_t message)
{
    int64_t guid = row_get(rows, TABLE_MESSAGE, message, MESSAGE_GUID);
    uint32_t at = row_find(rows, TABLE_GUID, guid);
    return at != ROW_NONE && (row_get(rows, TABLE_GUID, at, GUID_ANSWER) !=
                                  row_get(rows, TABLE_MESSAGE, message, MESSAGE_ANSWER) ||
                              row_get(rows, TABLE_GUID, at, GUID_CONTENT) !=
                                  row_get(rows, TABLE_MESSAGE, message, MESSAGE_CONTENT));
}

static void judge_leg2_ack(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t id = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
    struct cut of = ledger_of(rows, TABLE_GUID, id, GUID_LEDGER);
    tell(commit, is_changed(rows, slot), CLAUSE_ACL_30, TABLE_MESSAGE, slot,
         "a Leg2 message with another answer than its GUID's was acked and not escalated "
         "(E-ACL-21)");
    if (cut_finished(of) || (of.children == 0 && is_overruled(commit, slot))) {
        return;
    }
    tell(commit, of.children == 0, CLAUSE_ACL_30, TABLE_MESSAGE, slot,
         "a Leg2 message was acked before its Step 2 was marked");
    tell(commit, true, CLAUSE_ACL_30, TABLE_MESSAGE, slot,
         "a Leg2 message that closed its job was acked before its Step 3 was marked");
}

static void judge_ack(struct commit *commit, uint32_t slot)
{
    struct judge *judge = &commit->judge;
    int64_t activity = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
    int64_t kind = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_KIND);
    int64_t past = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_FLAGS);
    uint32_t of = row_find(judge->rows, TABLE_ACTIVITY, activity);
    judge_held(judge, CLAUSE_ACL_30);
    if (of == ROW_NONE || escalated(commit, row_key(judge->rows, TABLE_MESSAGE, slot))) {
        return; /* its job is gone (E-ACL-29), or people have it */
    }
    if (kind == MESSAGE_LEG2) {
        judge_leg2_ack(commit, slot);
    } else if (kind == MESSAGE_LEG1) {
        struct cut is = cut_of(row_get(judge->rows, TABLE_ACTIVITY, of, ACTIVITY_LEDGER));
        tell(commit, is.mark == 0, CLAUSE_ACL_30, TABLE_MESSAGE, slot,
             "a Leg1 message was acked before Leg1 was complete");
    } else {
        tell(commit, (past & PAST_CLOSING_PUBLISHED) == 0, CLAUSE_ACL_30, TABLE_MESSAGE, slot,
             "a task was acked before its closing answer was published");
    }
}

/* Sees ACL-10, and knows from now on which messages were acked once (ACL-34). */
static void remember_ack(struct commit *commit, uint32_t slot)
{
    struct judge *judge = &commit->judge;
    int64_t kind = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_KIND);
    if (kind == MESSAGE_LEG2) {
        int64_t guid = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
        memory_flag(judge, MEMORY_GUID, guid, PAST_ACKED);
    } else if (kind == MESSAGE_LEG1) {
        int64_t id = row_get(judge->rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY);
        int64_t past = memory_get(judge, MEMORY_ACTIVITY, id, MEMO_FLAGS);
        if ((past & PAST_STALE_ENTERED) != 0) {
            judge_see(judge, COVER_LEG1_STALE);
        }
        past = (past | PAST_LEG1_ACKED) & ~PAST_STALE_ENTERED;
        memory_set(judge, MEMORY_ACTIVITY, id, MEMO_FLAGS, past);
    }
}

/* ---- escalations ----------------------------------------------------------------------------- */

/* The message that was escalated, if this commit deleted it. */
static uint32_t acked_message(const struct commit *commit, int64_t id)
{
    const struct rows *rows = commit->judge.rows;
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == TABLE_MESSAGE && change->kind == ROW_DELETED &&
            row_key(rows, TABLE_MESSAGE, change->slot) == id) {
            return change->slot;
        }
    }
    return ROW_NONE;
}

/* Whether the rows bear a reason out for the message. */
static bool entitled(const struct commit *commit, int64_t reason, uint32_t message)
{
    const struct rows *rows = commit->judge.rows;
    int64_t kind = row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND);
    int64_t activity = row_get(rows, TABLE_MESSAGE, message, MESSAGE_ACTIVITY);
    int64_t guid = row_get(rows, TABLE_MESSAGE, message, MESSAGE_GUID);
    int64_t job = row_get(rows, TABLE_MESSAGE, message, MESSAGE_JOB);
    struct cut of = ledger_of(rows, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER);
    uint32_t at = row_find(rows, TABLE_GUID, guid);
    bool known = kind == MESSAGE_LEG2 && at != ROW_NONE;
    struct cut own = ledger_of(rows, TABLE_GUID, guid, GUID_LEDGER);
    switch (reason) {
    case ESCALATED_LEG1_CEILING:
        return kind == MESSAGE_LEG1 && of.head == LEG1_CEILING && of.mark == 0;
    case ESCALATED_LEG2_CEILING:
        return kind == MESSAGE_LEG2 && !known && of.count == LEG2_CEILING;
    case ESCALATED_ATTEMPTS_CEILING: /* one that was born full had no room to count (E-ACL-17) */
        return known && own.count == LEG2_CEILING && !cut_finished(own) &&
               row_get(rows, TABLE_GUID, at, GUID_DIMENSION) != LEG2_CEILING - 1;
    case ESCALATED_CONTENT_CHANGED:
        return kind == MESSAGE_LEG2 && is_changed(rows, message);
    case ESCALATED_SEMAPHORE_REFUSED: /* only at 0 can a step that closes one be refused */
        return known && own.children == 0 && judge_column(rows, TABLE_JOB, job, JOB_SEMAPHORE) == 0;
    default: /* nothing that a correct protocol can meet */
        return false;
    }
}

static enum clause_id clause_of(int64_t reason)
{
    switch (reason) {
    case ESCALATED_LEG1_CEILING:
        return CLAUSE_ACL_6;
    case ESCALATED_LEG2_CEILING:
        return CLAUSE_ACL_7;
    case ESCALATED_ATTEMPTS_CEILING:
        return CLAUSE_ACL_15;
    default: /* a job that could have ended was given up */
        return CLAUSE_ACL_29;
    }
}

/* What was given up. Another answer under a known GUID changes nothing: the first one stands. */
static void remember_escalation(struct commit *commit, int64_t reason, uint32_t message)
{
    struct judge *judge = &commit->judge;
    int64_t activity = row_get(judge->rows, TABLE_MESSAGE, message, MESSAGE_ACTIVITY);
    int64_t answer = row_get(judge->rows, TABLE_MESSAGE, message, MESSAGE_ANSWER);
    int64_t kind = row_get(judge->rows, TABLE_MESSAGE, message, MESSAGE_KIND);
    if (kind == MESSAGE_LEG1) {
        memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_LEG1_GIVEN_UP);
    } else if (kind == MESSAGE_LEG2 && reason != ESCALATED_CONTENT_CHANGED) {
        int64_t guid = row_get(judge->rows, TABLE_MESSAGE, message, MESSAGE_GUID);
        memory_flag(judge, MEMORY_GUID, guid, PAST_ABANDONED);
        if (answer >= 0 && answer <= EXPECTED_PENDINGS_MAX) {
            memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_GIVEN_UP(answer));
        }
    }
}

/* Escalation row, job marked, message acked: one transaction (E-ACL-10). */
static void judge_escalation(struct commit *commit, uint32_t slot)
{
    const struct rows *rows = commit->judge.rows;
    int64_t reason = row_get(rows, TABLE_ESCALATION, slot, ESCALATION_REASON);
    int64_t job = row_get(rows, TABLE_ESCALATION, slot, ESCALATION_JOB);
    enum clause_id clause = clause_of(reason);
    uint32_t message =
        acked_message(commit, row_get(rows, TABLE_ESCALATION, slot, ESCALATION_MESSAGE));
    judge_held(&commit->judge, clause);
    if (clause != CLAUSE_ACL_29) {
        judge_held(&commit->judge, CLAUSE_ACL_43);
    }
    tell(commit, message == ROW_NONE, clause, TABLE_ESCALATION, slot,
         "a message was escalated and not acked");
    tell(commit, message != ROW_NONE && !entitled(commit, reason, message), clause,
         TABLE_ESCALATION, slot, "a message was escalated for a reason that its rows contradict");
    tell(commit, judge_column(rows, TABLE_JOB, job, JOB_ESCALATED) != 1, clause, TABLE_ESCALATION,
         slot, "a message was escalated and its job not marked");
    if (message != ROW_NONE) {
        remember_escalation(commit, reason, message);
    }
}

/* Nobody acks what he has not claimed: a message that goes unclaimed was taken back by a store that
 * lost the commit of its publication, which is no breach by itself. */
static bool is_ack(const struct commit *commit, const struct row_change *change)
{
    return change->table == TABLE_MESSAGE && change->kind == ROW_DELETED &&
           row_get(commit->judge.rows, TABLE_MESSAGE, change->slot, MESSAGE_EPOCH) > 0;
}

void activity_ack_judge(struct commit *commit)
{
    bool acks = commit_has(commit, TABLE_MESSAGE, ROW_DELETED);
    bool escalations = has_escalation(commit);
    for (size_t i = 0; i < commit->count && (acks || escalations); i++) {
        const struct row_change *change = &commit->changes[i];
        if (is_ack(commit, change)) {
            judge_ack(commit, change->slot);
            remember_ack(commit, change->slot);
        } else if (is_escalation(change)) {
            judge_escalation(commit, change->slot);
        }
    }
    for (size_t i = 0; i < commit->jobs; i++) {
        const struct commit_job *job = &commit->job[i];
        tell(commit, job->escalated && job->escalations == 0, CLAUSE_ACL_29, TABLE_JOB, job->slot,
             "a job was marked escalated and no message was");
    }
}
