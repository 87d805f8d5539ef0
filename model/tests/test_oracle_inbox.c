/* The monitors of the inbox, with rows told by hand: what is right passes, and each check is told in
 * its words. */
#include "model/oracle/oracle.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"

extern const struct monitors monitors_inbox;

#define ACCOUNT INT64_C(700) /* and the one after it */

static const char stray[] = "an account moved by other amounts than entered the inbox";
static const char unasked[] = "an effect was applied that no message of the scenario has";

static struct hand hand;
static struct oracle oracle;
static int64_t ghosts[1];

/* Three messages for two accounts: 0 and 2 are for one, 1 for the other. */
static struct expectation asked;

static void begin(void)
{
    hand_begin(&hand);
    asked.of.inbox.messages = 3;
    asked.of.inbox.accounts = 2;
    oracle_begin(&oracle, &monitors_inbox, &hand.rows, ghosts);
    oracle.expected = &asked;
    for (int64_t i = 0; i < 2; i++) {
        hand_put(&hand, TABLE_ACCOUNT, ACCOUNT + i, (int64_t[ACCOUNT_COLUMNS]){0});
    }
}

/* A message enters the inbox and moves its account. */
static void apply(int64_t id, int64_t account, int64_t amount)
{
    hand_put(&hand, TABLE_INBOX, id, (int64_t[INBOX_COLUMNS]){account, amount});
    hand_set(&hand, TABLE_ACCOUNT, account, ACCOUNT_BALANCE,
             hand_get(&hand, TABLE_ACCOUNT, account, ACCOUNT_BALANCE) + amount);
}

static void expect_told(const char *why)
{
    struct oracle_verdict verdict =
        monitors_inbox.commit(&oracle, &hand.rows, hand.changes, hand.count);
    hand.count = 0;
    cr_expect_str_eq(verdict.why, why);
    cr_expect_eq(verdict.broken, *why != '\0');
    cr_expect(!verdict.broken || verdict.clause == CLAUSE_BOX_1);
}

Test(oracle_inbox, each_message_applied_once_is_fine)
{
    PROVES(CLAUSE_BOX_1, CLAUSE_BOX_2);
    begin();
    apply(1, ACCOUNT, 100);
    expect_told("");
    apply(2, ACCOUNT + 1, 101);
    expect_told("");
    apply(3, ACCOUNT, 102);
    expect_told("");
    hand_put(&hand, TABLE_MESSAGE, 5, (int64_t[MESSAGE_COLUMNS]){0});
    expect_told(""); /* no row of the inbox */
    cr_expect_eq(oracle.evaluated[CLAUSE_BOX_1], 16U, "two checks of each row that was written");
    cr_expect_not(monitors_inbox.settled(&oracle, &hand.rows, true).broken);
}

Test(oracle_inbox, an_account_that_moves_by_other_amounts_breaks_box_1)
{
    PROVES(CLAUSE_BOX_1);
    static const int64_t more[] = {-1, 1};
    for (size_t i = 0; i < COUNT(more); i++) {
        begin();
        apply(1, ACCOUNT, 100);
        *hand_cell(&hand, TABLE_ACCOUNT, ACCOUNT, ACCOUNT_BALANCE) += more[i];
        expect_told(stray);
    }
    begin(); /* applied, and not entered */
    hand_set(&hand, TABLE_ACCOUNT, ACCOUNT, ACCOUNT_BALANCE, 100);
    expect_told(stray);
    begin(); /* entered, and not applied */
    hand_put(&hand, TABLE_INBOX, 1, (int64_t[INBOX_COLUMNS]){ACCOUNT, 100});
    expect_told(stray);
    begin(); /* taken back */
    apply(1, ACCOUNT, 100);
    expect_told("");
    hand_note(&hand, TABLE_INBOX, 0, ROW_DELETED, 0, 0);
    expect_told(stray);
}

Test(oracle_inbox, an_effect_that_nobody_asked_for_breaks_box_1)
{
    PROVES(CLAUSE_BOX_1);
    static const struct {
        int64_t first, first_account, second, second_account;
    } cases[] = {
        {100, 0, 99, 1},  /* before the first message */
        {100, 0, 103, 1}, /* behind the last */
        {100, 0, 100, 0}, /* one of them twice, */
        {100, 0, 100, 1}, /* or for another account */
        {100, 0, 101, 0}, /* two for one account that are for two */
        {100, 0, 102, 1}, /* and the other way round */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        apply(1, ACCOUNT + cases[i].first_account, cases[i].first);
        expect_told("");
        apply(2, ACCOUNT + cases[i].second_account, cases[i].second);
        expect_told(unasked);
        oracle.expected = NULL; /* nobody knows */
        apply(3, ACCOUNT, 1000);
        expect_told("");
    }
}

Test(oracle_inbox, a_transaction_that_did_not_commit_leaves_nothing)
{
    PROVES(CLAUSE_BOX_1);
    begin();
    hand.count = 0;
    cr_expect_not(oracle_rollback(&oracle, hand.changes, 0).broken);
    apply(1, ACCOUNT, 100);
    cr_expect_eq(oracle_rollback(&oracle, hand.changes, hand.count).clause, CLAUSE_BOX_1);
    cr_expect_eq(oracle.spoke, ORACLE_INBOX);
}

Test(oracle_inbox, in_the_end_all_that_was_asked_for_was_applied)
{
    PROVES(CLAUSE_BOX_2);
    begin();
    apply(1, ACCOUNT, 100);
    expect_told("");
    struct oracle_verdict verdict = monitors_inbox.settled(&oracle, &hand.rows, true);
    cr_expect_eq(verdict.clause, CLAUSE_BOX_2);
    cr_expect_str_eq(verdict.why, "a message was asked for and never applied");
    asked.of.inbox.messages = 0;
    cr_expect(monitors_inbox.settled(&oracle, &hand.rows, true).broken, "one too many");
    oracle.expected = NULL;
    cr_expect_not(monitors_inbox.settled(&oracle, &hand.rows, true).broken);
    verdict = monitors_inbox.settled(&oracle, &hand.rows, false);
    cr_expect_eq(verdict.clause, CLAUSE_BOX_2);
    cr_expect_str_eq(verdict.why, "work is left, and does not end");
}
