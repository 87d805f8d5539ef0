/* The monitors of the inbox: BOX-1 at every commit, BOX-2 once all has settled. They remember which
 * messages were ever published, by id; breaches are told in the order of a commit's changes. */
#include "model/oracle/judge.h"

enum memory { MEMORY_SENT };
enum sent { SENT_ACCOUNT = 1, SENT_AMOUNT };

static struct judge begin(struct oracle *oracle, const struct rows *rows)
{
    struct judge judge = judge_begin(oracle, rows);
    judge_remember(&judge, MEMORY_SENT, 0, rows->table[TABLE_MESSAGE].index_mask);
    return judge;
}

static size_t cells(const struct rows *rows)
{
    return (rows->table[TABLE_MESSAGE].index_mask + 1) * JUDGE_MEMO_CELLS;
}

/* What a commit did to an account; what the ids that it put into the inbox should have done. */
static int64_t moved(const struct rows *rows, const struct row_change *changes, size_t count,
                     int64_t account, bool by_ids)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = changes[i].slot;
        if (by_ids && changes[i].table == TABLE_INBOX && changes[i].kind == ROW_INSERTED &&
            row_get(rows, TABLE_INBOX, slot, INBOX_ACCOUNT) == account) {
            sum += row_get(rows, TABLE_INBOX, slot, INBOX_AMOUNT);
        } else if (!by_ids && changes[i].table == TABLE_ACCOUNT && changes[i].kind == ROW_UPDATED &&
                   row_key(rows, TABLE_ACCOUNT, slot) == account) {
            return row_get(rows, TABLE_ACCOUNT, slot, ACCOUNT_BALANCE) - changes[i].before;
        }
    }
    return sum;
}

static void judge_inbox(struct judge *judge, const struct row_change *change)
{
    const struct rows *rows = judge->rows;
    int64_t id = row_key(rows, TABLE_INBOX, change->slot);
    bool as_sent = memory_get(judge, MEMORY_SENT, id, SENT_AMOUNT) ==
                       row_get(rows, TABLE_INBOX, change->slot, INBOX_AMOUNT) &&
                   memory_get(judge, MEMORY_SENT, id, SENT_ACCOUNT) ==
                       row_get(rows, TABLE_INBOX, change->slot, INBOX_ACCOUNT);
    if (change->kind != ROW_INSERTED || !as_sent) {
        judge_breach(judge, ORACLE_INBOX, CLAUSE_BOX_1, TABLE_INBOX, change->slot,
                     "the inbox has an id that was not sent so, or lost one");
    }
}

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct judge judge = begin(oracle, rows);
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = changes[i].slot;
        if (changes[i].table == TABLE_MESSAGE && changes[i].kind == ROW_INSERTED) {
            int64_t id = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_GUID);
            memory_set(&judge, MEMORY_SENT, id, SENT_ACCOUNT,
                       row_get(rows, TABLE_MESSAGE, slot, MESSAGE_JOB));
            memory_set(&judge, MEMORY_SENT, id, SENT_AMOUNT,
                       row_get(rows, TABLE_MESSAGE, slot, MESSAGE_CONTENT));
        } else if (changes[i].table == TABLE_INBOX || changes[i].table == TABLE_ACCOUNT) {
            bool in_inbox = changes[i].table == TABLE_INBOX;
            int64_t account = in_inbox ? row_get(rows, TABLE_INBOX, slot, INBOX_ACCOUNT)
                                       : row_key(rows, TABLE_ACCOUNT, slot);
            judge_held(&judge, CLAUSE_BOX_1);
            if (in_inbox) {
                judge_inbox(&judge, &changes[i]);
            }
            if (moved(rows, changes, count, account, false) !=
                moved(rows, changes, count, account, true)) {
                judge_breach(&judge, ORACLE_INBOX, CLAUSE_BOX_1, (enum row_table)changes[i].table,
                             slot, "an account moved by other amounts than entered the inbox");
            }
        }
    }
    return judge.verdict;
}

static struct oracle_verdict rollback(struct oracle *oracle, const struct row_change *changes,
                                      size_t count)
{
    struct judge judge = judge_begin(oracle, NULL);
    if (count > 0) {
        judge_breach(&judge, ORACLE_INBOX, CLAUSE_BOX_1, (enum row_table)changes[0].table,
                     changes[0].slot, "a transaction that did not commit left something behind");
    }
    return judge.verdict;
}

/* Every message that a run without faults sends is applied here, too. */
static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet,
                                     const struct rows *crash_free)
{
    struct judge judge = judge_begin(oracle, rows);
    const struct rows *sent = crash_free == NULL ? rows : crash_free;
    if (!quiet) {
        judge_breach(&judge, ORACLE_INBOX, CLAUSE_BOX_2, TABLE_COUNT, ROW_NONE,
                     "messages are left in the queue");
    }
    for (uint32_t slot = 0; slot < sent->table[TABLE_INBOX].used; slot++) {
        judge_held(&judge, CLAUSE_BOX_2);
        if (row_find(rows, TABLE_INBOX, row_key(sent, TABLE_INBOX, slot)) == ROW_NONE) {
            judge_breach(&judge, ORACLE_INBOX, CLAUSE_BOX_2, TABLE_COUNT, ROW_NONE,
                         "a message was sent and never applied");
        }
    }
    return judge.verdict;
}

const struct monitors monitors_inbox = {
    .cells = cells, .commit = commit, .rollback = rollback, .settled = settled};
