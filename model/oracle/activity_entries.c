/* Entries held against claims: what a worker does under one claim of a message, as the store saw
 * it.
 *
 * A claim is good for one entry (4.1, 7). One more may be counted for each entry whose answer was
 * lost, since nobody can tell whether it was (E-ACL-32). Work needs an entry under its own claim; a
 * message whose entry was counted is served and not given up (E-ACL-18). Of a claim that the worker
 * was not told of, or that is nobody's, nothing is asked.
 *
 * In each function the order of the sentences is the order in which they are told (OA3). */
#include "model/oracle/activity_judge.h"
#include "model/oracle/seen.h"

/* What is known of a client's claim. */
enum {
    CLAIM_MESSAGE, /* 1 + the slot of the message; 0: none is known */
    CLAIM_OF,      /* what it enters: an activity or a GUID; 0: a task, which has no ledger */
    CLAIM_ENTERED  /* ENTERED_KNOWN, ENTERED_UNTOLD */
};

#define ENTERED_KNOWN  1 /* an entry was counted, and the worker was told so */
#define ENTERED_UNTOLD 2 /* ... and was not told */

/* What a commit did to the ledger that a claim enters. */
struct deed {
    bool enters, works;
    uint32_t slot;       /* of the ledger; ROW_NONE: it was left alone */
    struct cut is;       /* the ledger now */
    uint32_t escalation; /* a row that came, of whichever message; ROW_NONE: none */
};

static struct deed deed_of(const struct rows *rows, const struct row_change *changes, size_t count,
                           enum row_table table, int64_t id)
{
    int column = table == TABLE_GUID ? (int)GUID_LEDGER : (int)ACTIVITY_LEDGER;
    struct deed deed = {.slot = ROW_NONE, .escalation = ROW_NONE};
    bool born = false;
    int64_t before = -1;
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        if (change->table == TABLE_ESCALATION && change->kind == ROW_INSERTED) {
            deed.escalation = change->slot;
        }
        if (change->table != table || row_key(rows, table, change->slot) != id) {
            continue;
        }
        bool moves = change->kind == ROW_UPDATED && change->column == column;
        deed.slot = change->slot;
        born = born || change->kind == ROW_INSERTED;
        before = moves && before < 0 ? change->before : before;
    }
    if (before < 0) {
        deed.enters = born && table == TABLE_GUID;
        return deed;
    }
    struct cut was = cut_of(before);
    deed.is = cut_of(row_get(rows, table, deed.slot, column));
    bool guid = table == TABLE_GUID;
    deed.enters = guid ? born || deed.is.count > was.count : deed.is.head > was.head;
    deed.works = guid ? deed.is.work > was.work || deed.is.children > was.children ||
                            deed.is.tasks > was.tasks
                      : deed.is.mark > was.mark;
    return deed;
}

static void tell(struct judge *judge, bool broken, enum clause_id clause, enum row_table table,
                 uint32_t slot, const char *why)
{
    judge_that(judge, !broken, ORACLE_STORE, clause, table, slot, why);
}

static void judge_activity(struct judge *judge, const struct deed *deed, int64_t entered)
{
    if (deed->enters) {
        tell(judge, (entered & ENTERED_KNOWN) != 0, CLAUSE_ACL_4, TABLE_ACTIVITY, deed->slot,
             "one claim of a Leg1 message was counted as two entries");
    }
    if (deed->works) {
        tell(judge, entered == 0, CLAUSE_ACL_9, TABLE_ACTIVITY, deed->slot,
             "Leg1's work was done under a claim that was never counted");
    }
}

/* A GUID that was born at the last entry has no room to count (E-ACL-17). */
static void judge_guid(struct judge *judge, const struct deed *deed, int64_t entered)
{
    bool last = row_get(judge->rows, TABLE_GUID, deed->slot, GUID_DIMENSION) == LEG2_CEILING - 1;
    bool full = deed->is.count == LEG2_CEILING;
    if (deed->enters) {
        tell(judge, (entered & ENTERED_KNOWN) != 0, CLAUSE_ACL_12, TABLE_GUID, deed->slot,
             "one claim of a Leg2 message was counted as two attempts");
    }
    if (deed->works && !last) {
        tell(judge, entered == 0, full ? CLAUSE_ACL_15 : CLAUSE_ACL_13, TABLE_GUID, deed->slot,
             full ? "a GUID whose attempts are full went on instead of being turned away"
                  : "a step was made under a claim that was never counted");
    }
}

static void judge_escalation(struct judge *judge, uint32_t escalation, int64_t entered,
                             uint32_t message)
{
    int64_t reason = row_get(judge->rows, TABLE_ESCALATION, escalation, ESCALATION_REASON);
    if (row_get(judge->rows, TABLE_ESCALATION, escalation, ESCALATION_MESSAGE) ==
            row_key(judge->rows, TABLE_MESSAGE, message) &&
        (reason == ESCALATED_LEG1_CEILING || reason == ESCALATED_ATTEMPTS_CEILING)) {
        tell(judge, (entered & ENTERED_KNOWN) != 0,
             reason == ESCALATED_LEG1_CEILING ? CLAUSE_ACL_6 : CLAUSE_ACL_15, TABLE_MESSAGE,
             message,
             "a message was given up under a claim whose entry had been counted (E-ACL-18)");
    }
}

static enum row_table entered_table(const struct rows *rows, uint32_t message)
{
    return row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND) == MESSAGE_LEG2 ? TABLE_GUID
                                                                               : TABLE_ACTIVITY;
}

static void judge_claim_entered(struct judge *judge, const struct row_change *changes, size_t count,
                                bool answered, int64_t *cells)
{
    const struct rows *rows = judge->rows;
    uint32_t message = (uint32_t)cells[CLAIM_MESSAGE] - 1;
    enum row_table table = entered_table(rows, message);
    struct deed deed = deed_of(rows, changes, count, table, cells[CLAIM_OF]);
    int64_t entered = cells[CLAIM_ENTERED];
    if (table == TABLE_GUID && deed.slot != ROW_NONE) {
        judge_guid(judge, &deed, entered);
    } else if (deed.slot != ROW_NONE) {
        judge_activity(judge, &deed, entered);
    }
    if (deed.escalation != ROW_NONE) {
        judge_escalation(judge, deed.escalation, entered, message);
    }
    if (deed.enters) {
        cells[CLAIM_ENTERED] |= answered ? ENTERED_KNOWN : ENTERED_UNTOLD;
    }
}

/* What was published and kept is entered in the transaction that publishes it. */
static void begin_claim(const struct rows *rows, const struct row_change *changes, size_t count,
                        uint32_t message, int64_t *cells)
{
    int64_t kind = row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND);
    int64_t of = kind == MESSAGE_TASK
                     ? 0
                     : row_get(rows, TABLE_MESSAGE, message,
                               kind == MESSAGE_LEG2 ? MESSAGE_GUID : MESSAGE_ACTIVITY);
    bool enters = of != 0 && deed_of(rows, changes, count, entered_table(rows, message), of).enters;
    cells[CLAIM_MESSAGE] = (int64_t)message + 1;
    cells[CLAIM_OF] = of;
    cells[CLAIM_ENTERED] = enters ? ENTERED_KNOWN : 0;
}

void seen_entries(struct judge *judge, const struct observed *seen,
                  const struct row_change *changes, size_t count, uint32_t takes, int64_t *cells)
{
    if (cells[CLAIM_MESSAGE] != 0 && cells[CLAIM_OF] != 0) {
        judge_claim_entered(judge, changes, count, seen->answered, cells);
    }
    if (takes != ROW_NONE && seen->answered) {
        begin_claim(judge->rows, changes, count, takes, cells);
    } else if (takes != ROW_NONE) {
        cells[CLAIM_MESSAGE] = 0;
    }
}
