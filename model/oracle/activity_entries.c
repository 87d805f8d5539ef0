/* Entries held against claims: what a worker does under one claim of a message, as the store saw
 * it.
 *
 * A claim is good for one entry (4.1, 7). One more may be counted for each entry whose answer was
 * lost, since nobody can tell whether it was (E-ACL-32). Work needs an entry under its own claim; a
 * message whose entry was counted is served and not given up (E-ACL-18). Of a claim that the worker
 * was not told of, or that is nobody's, nothing is asked.
 *
 * In each function the order of the sentences is the order in which they are told (OA3). */
#include "model/oracle/seen_activity.h"

#define ENTERED_KNOWN  1 /* an entry was counted, and the worker was told so */
#define ENTERED_UNTOLD 2 /* ... and was not told */

/* What the deed means. */
struct entry {
    bool enters, works;
    bool full; /* a GUID's attempts are full now */
};

static struct entry entry_of(const struct rows *rows, enum row_table table,
                             const struct ledger_deed *deed)
{
    bool guid = table == TABLE_GUID;
    if (deed->before < 0) {
        return (struct entry){.enters = deed->born && guid};
    }
    struct cut was = cut_of(deed->before);
    struct cut is =
        cut_of(row_get(rows, table, deed->slot, guid ? (int)GUID_LEDGER : (int)ACTIVITY_LEDGER));
    return (struct entry){.enters = guid ? deed->born || is.count > was.count : is.head > was.head,
                          .works = guid ? is.work > was.work || is.children > was.children ||
                                              is.tasks > was.tasks
                                        : is.mark > was.mark,
                          .full = is.count == LEG2_CEILING};
}

static void tell(struct judge *judge, bool broken, enum clause_id clause, enum row_table table,
                 uint32_t slot, const char *why)
{
    judge_that(judge, !broken, ORACLE_STORE, clause, table, slot, why);
}

static void judge_activity(struct judge *judge, uint32_t slot, struct entry entry, int64_t entered)
{
    if (entry.enters) {
        tell(judge, (entered & ENTERED_KNOWN) != 0, CLAUSE_ACL_4, TABLE_ACTIVITY, slot,
             "one claim of a Leg1 message was counted as two entries");
    }
    if (entry.works) {
        tell(judge, entered == 0, CLAUSE_ACL_9, TABLE_ACTIVITY, slot,
             "Leg1's work was done under a claim that was never counted");
    }
}

/* A GUID that was born at the last entry has no room to count (E-ACL-17). */
static void judge_guid(struct judge *judge, uint32_t slot, struct entry entry, int64_t entered)
{
    bool last = row_get(judge->rows, TABLE_GUID, slot, GUID_DIMENSION) == LEG2_CEILING - 1;
    if (entry.enters) {
        tell(judge, (entered & ENTERED_KNOWN) != 0, CLAUSE_ACL_12, TABLE_GUID, slot,
             "one claim of a Leg2 message was counted as two attempts");
    }
    if (entry.works && !last) {
        tell(judge, entered == 0, entry.full ? CLAUSE_ACL_15 : CLAUSE_ACL_13, TABLE_GUID, slot,
             entry.full ? "a GUID whose attempts are full went on instead of being turned away"
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

static void judge_claim_entered(struct judge *judge, const struct doing *doing, bool answered,
                                int64_t *cells)
{
    enum row_table table = (enum row_table)cells[CELL_TABLE];
    uint32_t slot = doing->ledger.slot;
    int64_t entered = cells[CELL_ENTERED];
    struct entry entry = {false};
    if (slot != ROW_NONE) {
        entry = entry_of(judge->rows, table, &doing->ledger);
        (table == TABLE_GUID ? judge_guid : judge_activity)(judge, slot, entry, entered);
    }
    if (doing->escalation != ROW_NONE) {
        judge_escalation(judge, doing->escalation, entered, (uint32_t)cells[CELL_ENTERS] - 1);
    }
    if (entry.enters) {
        cells[CELL_ENTERED] |= answered ? ENTERED_KNOWN : ENTERED_UNTOLD;
    }
}

/* What was published and kept is entered in the transaction that publishes it. */
static bool is_entered_at_once(const struct rows *rows, const struct row_change *changes,
                               size_t count, const int64_t *cells)
{
    enum row_table table = (enum row_table)cells[CELL_TABLE];
    struct ledger_deed deed = LEDGER_LEFT_ALONE;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].table == table &&
            row_key(rows, table, changes[i].slot) == cells[CELL_LEDGER]) {
            ledger_deed_note(&deed, &changes[i]);
        }
    }
    return entry_of(rows, table, &deed).enters;
}

static void begin_claim(const struct rows *rows, const struct row_change *changes, size_t count,
                        const struct doing *doing, int64_t *cells)
{
    int64_t kind = row_get(rows, TABLE_MESSAGE, doing->takes, MESSAGE_KIND);
    bool guid = kind == MESSAGE_LEG2;
    cells[CELL_ENTERS] = (int64_t)doing->takes + 1;
    cells[CELL_TABLE] = guid ? TABLE_GUID : TABLE_ACTIVITY;
    cells[CELL_LEDGER] = kind == MESSAGE_TASK ? 0
                                              : row_get(rows, TABLE_MESSAGE, doing->takes,
                                                        guid ? MESSAGE_GUID : MESSAGE_ACTIVITY);
    cells[CELL_ENTERED] = doing->publishes && cells[CELL_LEDGER] != 0 &&
                                  is_entered_at_once(rows, changes, count, cells)
                              ? ENTERED_KNOWN
                              : 0;
}

void seen_entries(struct judge *judge, const struct observed *seen,
                  const struct row_change *changes, size_t count, const struct doing *doing,
                  int64_t *cells)
{
    if (cells[CELL_ENTERS] != 0 && cells[CELL_LEDGER] != 0) {
        judge_claim_entered(judge, doing, seen->answered, cells);
    }
    if (doing->takes != ROW_NONE && seen->answered) {
        begin_claim(judge->rows, changes, count, doing, cells);
    } else if (doing->takes != ROW_NONE) {
        cells[CELL_ENTERS] = 0;
    }
}
