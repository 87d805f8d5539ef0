/* The monitors of the inbox: BOX-1 at every commit, BOX-2 once all has settled; BOX-3, of which no
 * row tells, is seen_tries.c's. The rows tell everything else, so nothing is remembered. */
#include "model/oracle/seen.h"

#define AMOUNT_LEAST 100 /* of message 0; each has one more than the one before */

static void expect(const struct document *scenario, struct expectation *expected)
{
    uint32_t jobs = document_find(scenario, 0, "jobs");
    expected->of.inbox.messages = document_number(scenario, jobs, 1);
    expected->of.inbox.accounts =
        document_number(scenario, document_find(scenario, 0, "accounts"), 1);
}

/* It is the effect of a message that was asked for, known by its amount, since no two are alike; of
 * no other row's; and two messages are for one account exactly if the scenario says so. */
static bool is_asked_for(const struct expectation *expected, const struct rows *rows, uint32_t slot)
{
    int64_t amount = row_get(rows, TABLE_INBOX, slot, INBOX_AMOUNT),
            message = amount - AMOUNT_LEAST;
    int64_t account = row_get(rows, TABLE_INBOX, slot, INBOX_ACCOUNT);
    bool fits = message >= 0 && message < expected->of.inbox.messages;
    for (uint32_t i = 0; i < rows->table[TABLE_INBOX].used; i++) {
        int64_t apart = row_get(rows, TABLE_INBOX, i, INBOX_AMOUNT) - amount;
        bool together = row_get(rows, TABLE_INBOX, i, INBOX_ACCOUNT) == account;
        bool should = apart % expected->of.inbox.accounts == 0;
        fits = fits && (i == slot || (apart != 0 && together == should));
    }
    return fits;
}

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
    struct judge judge;
    judge_begin(&judge, oracle, rows);
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
        judge_that(&judge,
                   oracle->expected == NULL || table != TABLE_INBOX ||
                       is_asked_for(oracle->expected, rows, slot),
                   ORACLE_INBOX, CLAUSE_BOX_1, table, slot,
                   "an effect was applied that no message of the scenario has");
    }
    return judge.verdict;
}

static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    judge_quiet(&judge, quiet, ORACLE_INBOX, CLAUSE_BOX_2);
    judge_that(&judge,
               oracle->expected == NULL ||
                   rows->table[TABLE_INBOX].used == oracle->expected->of.inbox.messages,
               ORACLE_INBOX, CLAUSE_BOX_2, TABLE_COUNT, ROW_NONE,
               "a message was asked for and never applied");
    return judge.verdict;
}

const struct monitors monitors_inbox = {.expect = expect,
                                        .whole = CLAUSE_BOX_1,
                                        .whole_by = ORACLE_INBOX,
                                        .commit = commit,
                                        .transaction = seen_inbox,
                                        .settled = settled};
