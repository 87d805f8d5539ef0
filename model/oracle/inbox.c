/* The monitors of the inbox: BOX-1 at every commit, BOX-2 once all has settled. The rows tell
 * everything, so nothing is remembered. */
#include "model/oracle/judge.h"

/* What the ids in the inbox say that an account should hold. */
static int64_t owed(const struct rows *rows, int64_t account)
{
    int64_t sum = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_INBOX].used; slot++) {
        if (row_get(rows, TABLE_INBOX, slot, INBOX_ACCOUNT) == account) {
            sum += row_get(rows, TABLE_INBOX, slot, INBOX_AMOUNT);
        }
    }
    return sum;
}

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct judge judge = judge_begin(oracle, rows);
    for (size_t i = 0; i < count; i++) {
        enum row_table table = (enum row_table)changes[i].table;
        uint32_t slot = changes[i].slot;
        if (table != TABLE_INBOX && table != TABLE_ACCOUNT) {
            continue;
        }
        int64_t account = table == TABLE_INBOX ? row_get(rows, table, slot, INBOX_ACCOUNT)
                                               : row_key(rows, table, slot);
        int64_t balance = judge_column(rows, TABLE_ACCOUNT, account, ACCOUNT_BALANCE);
        judge_that(&judge, changes[i].kind != ROW_DELETED && balance == owed(rows, account),
                   ORACLE_INBOX, CLAUSE_BOX_1, table, slot,
                   "an account moved by other amounts than entered the inbox");
    }
    return judge.verdict;
}

/* Every message that a run without faults applies is applied here, too. */
static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet,
                                     const struct rows *crash_free)
{
    struct judge judge = judge_begin(oracle, rows);
    const struct rows *all = crash_free == NULL ? rows : crash_free;
    judge_quiet(&judge, quiet, ORACLE_INBOX, CLAUSE_BOX_2);
    for (uint32_t slot = 0; slot < all->table[TABLE_INBOX].used; slot++) {
        uint32_t here = row_find(rows, TABLE_INBOX, row_key(all, TABLE_INBOX, slot));
        judge_that(&judge, here != ROW_NONE, ORACLE_INBOX, CLAUSE_BOX_2, TABLE_COUNT, ROW_NONE,
                   "a message was sent and never applied");
    }
    return judge.verdict;
}

const struct monitors monitors_inbox = {
    .whole = CLAUSE_BOX_1, .whole_by = ORACLE_INBOX, .commit = commit, .settled = settled};
