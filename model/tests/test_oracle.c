/* Every oracle against tables of good and of broken values and moves. A broken one names the clause
 * that must be reported: a checker without a sabotage that it catches is worthless. */
#include "model/oracle/digits.h"
#include "model/oracle/key.h"
#include "model/oracle/legacy.h"
#include "model/oracle/seq.h"
#include "model/reference/oracle_ledger.h"
#include "model/tests/golden.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define FINE CLAUSE_COUNT

/* Ledgers are written as the specification prints them; as C numbers they would be octal. */
static int64_t number(const char *text)
{
    char *end = NULL;
    int64_t value = strtoll(text, &end, 10);
    cr_assert(*text != '\0' && *end == '\0', "%s is no number", text);
    return value;
}

static struct golden told; /* what is said of the cases of a test, which is a process of its own */

static void expect(struct oracle_verdict verdict, enum clause_id clause, const char *what)
{
    golden_add(&told, "%s\n", what);
    golden_verdict(&told, verdict);
    cr_expect_eq(verdict.clause, clause, "%s: clause %d where %d should be reported (%s)", what,
                 (int)verdict.clause, (int)clause, verdict.why);
    cr_expect_eq(verdict.broken, clause != FINE, "%s", what);
    cr_expect_eq(*verdict.why != '\0', clause != FINE, "%s: a breach is told in words", what);
}

struct value_case {
    const char *value;
    enum clause_id clause;
};

struct move_case {
    const char *before, *after;
    enum clause_id clause;
};

static void expect_values(struct oracle_verdict (*judge)(int64_t), const struct value_case *cases,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        expect(judge(number(cases[i].value)), cases[i].clause, cases[i].value);
    }
}

static void expect_moves(struct oracle_verdict (*judge)(int64_t, int64_t),
                         const struct move_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        golden_add(&told, "%s -> ", cases[i].before);
        expect(judge(number(cases[i].before), number(cases[i].after)), cases[i].clause,
               cases[i].after);
    }
}

/* ---- digits -------------------------------------------------------------------------------- */

Test(oracle, reads_every_digit_at_its_position)
{
    struct oracle_digits digits;
    cr_assert(oracle_digits_read(number("123456789012345"), &digits));
    for (int position = 1; position <= ORACLE_DIGITS; position++) {
        cr_expect_eq(digits.at[position], position % 10);
    }
    cr_expect_eq(oracle_digits_spell(&digits, 1, 3), 123);
    cr_expect_eq(oracle_digits_spell(&digits, 4, 4), 4);
    cr_expect_eq(oracle_digits_spell(&digits, 8, 15), 89012345);
    cr_expect_eq(oracle_digits_spell(&digits, 1, 15), number("123456789012345"));
}

Test(oracle, reads_no_number_outside_15_digits)
{
    static const char *const outside[] = {"-1", "1000000000000000", "-9223372036854775808",
                                          "9223372036854775807"};
    for (size_t i = 0; i < COUNT(outside); i++) {
        struct oracle_digits digits;
        cr_expect_not(oracle_digits_read(number(outside[i]), &digits), "%s", outside[i]);
        cr_expect_eq(oracle_digits_spell(&digits, 1, 15), 0, "%s", outside[i]);
    }
    struct oracle_digits digits;
    cr_expect(oracle_digits_read(0, &digits));
    cr_expect(oracle_digits_read(number("999999999999999"), &digits));
}

/* A bug in the caller of an oracle is a CHECK, not a verdict. */
Test(oracle, refuses_a_position_below_1, .signal = SIGABRT)
{
    oracle_digits_spell(&(struct oracle_digits){0}, 0, 3);
}

Test(oracle, refuses_a_position_above_15, .signal = SIGABRT)
{
    oracle_digits_spell(&(struct oracle_digits){0}, 14, 16);
}

Test(oracle, refuses_positions_in_the_wrong_order, .signal = SIGABRT)
{
    oracle_digits_spell(&(struct oracle_digits){0}, 3, 2);
}

/* ---- the activity ledger ------------------------------------------------------------------- */

Test(oracle, judges_an_activity_ledger)
{
    static const struct value_case cases[] = {
        {"000000000000000", FINE}, /* 18.1 and 18.2, all of it */
        {"001000000000000", FINE},
        {"001100000000000", FINE},
        {"002100000000000", FINE},
        {"001100000000001", FINE},
        {"001110000000001", FINE},
        {"001111000000002", FINE},
        {"001111100000002", FINE},
        {"999000000000000", FINE}, /* at the ceilings */
        {"999111199999999", FINE},
        {"-1", CLAUSE_ACL_3},
        {"1000000000000000", CLAUSE_ACL_3},
        {"001200000000000", CLAUSE_ACL_5}, /* each marker */
        {"001120000000002", CLAUSE_ACL_5},
        {"001112000000002", CLAUSE_ACL_5},
        {"001111200000002", CLAUSE_ACL_5},
        {"001198000000009", CLAUSE_ACL_5}, /* E-ACL-2 */
        {"000100000000000", CLAUSE_ACL_9},
        {"001000000000001", CLAUSE_ACL_45},
        {"000000000000001", CLAUSE_ACL_45},
        {"001110000000000", CLAUSE_ACL_13}, /* each step without an entry */
        {"001001000000000", CLAUSE_ACL_13},
        {"001100100000000", CLAUSE_ACL_13},
        {"001101000000001", CLAUSE_ACL_16},
        {"001100100000001", CLAUSE_ACL_17},
        {"001110100000001", CLAUSE_ACL_17},
    };
    expect_values(oracle_activity_value, cases, COUNT(cases));
    golden_compare(&told, "judges_an_activity_ledger.txt");
}

Test(oracle, judges_an_activity_move)
{
    static const struct move_case cases[] = {
        {"000000000000000", "001000000000000", FINE},
        {"001000000000000", "001100000000000", FINE},
        {"001100000000000", "002100000000000", FINE},
        {"001100000000000", "001100000000001", FINE},
        {"001100000000001", "001110000000001", FINE},
        {"001110000000002", "001111000000002", FINE},
        {"001111000000002", "001111100000002", FINE},
        {"001100000000001", "001111100000001", FINE}, /* three steps in one commit */
        {"001111100000002", "001111100000002", FINE}, /* a replay changes nothing */
        {"998000000000000", "999000000000000", FINE},
        {"001100009999999", "001100010000000", FINE}, /* a carry within its field */
        {"001100099999998", "001100099999999", FINE},
        {"-1", "000000000000000", CLAUSE_ACL_3},
        {"1000000000000000", "1000000000000001", CLAUSE_ACL_3},
        {"002100000000000", "001100000000000", CLAUSE_ACL_33},
        {"001110000000001", "001100000000001", CLAUSE_ACL_33},
        {"001100000000001", "000000000000000", CLAUSE_ACL_33}, /* a reset */
        {"001100000000001", "-1", CLAUSE_ACL_33},
        {"001100099999999", "001100100000000", CLAUSE_ACL_8}, /* out of each field */
        {"001111999999999", "001112000000000", CLAUSE_ACL_8},
        {"001119000000009", "001120000000009", CLAUSE_ACL_8},
        {"001198000000009", "001208000000010", CLAUSE_ACL_8}, /* E-ACL-2, tenth GUID */
        {"001911100000001", "002011100000001", CLAUSE_ACL_8},
        {"999000000000000", "1000000000000000", CLAUSE_ACL_8},
        {"000000000000000", "1000000000000000", CLAUSE_ACL_8},
        {"001111000000001", "002100100000001", CLAUSE_ACL_8}, /* a field fell, another rose */
        {"001110000000001", "001120000000001", CLAUSE_ACL_5}, /* E-ACL-2, second GUID */
        {"001110000000001", "001200000000000", CLAUSE_ACL_8}, /* a carry is told before a 2 */
        {"001100000000001", "001120000000001", CLAUSE_ACL_5},
        {"001000000000000", "001000000000001", CLAUSE_ACL_45},
        {"001100000000001", "001101000000001", CLAUSE_ACL_16},
        {"001000000000000", "011000000000000", CLAUSE_ACL_4}, /* +10T for +1T */
        {"000000000000000", "002000000000000", CLAUSE_ACL_4},
        {"001100000000001", "001100000000011", CLAUSE_ACL_4}, /* +10 for +1 */
        {"001100000000001", "001100000000003", CLAUSE_ACL_4},
    };
    expect_moves(oracle_activity_move, cases, COUNT(cases));
    golden_compare(&told, "judges_an_activity_move.txt");
}

/* ---- the GUID ledger ----------------------------------------------------------------------- */

Test(oracle, judges_a_guid_ledger)
{
    static const struct value_case cases[] = {
        {"000000000000000", FINE}, /* the five of ACL-41 */
        {"000000000000001", FINE},
        {"000010000000001", FINE},
        {"000011000000002", FINE},
        {"000111000000002", FINE},
        {"000111100000002", FINE},
        {"000111199999999", FINE},
        {"-1", CLAUSE_ACL_12},
        {"1000000000000000", CLAUSE_ACL_12},
        {"001000000000001", CLAUSE_ACL_12},
        {"100011000000001", CLAUSE_ACL_12},
        {"000100000000001", CLAUSE_ACL_14},
        {"000110000000001", CLAUSE_ACL_14},
        {"000200000000001", CLAUSE_ACL_14},
        {"000000100000001", CLAUSE_ACL_26},
        {"000011100000001", CLAUSE_ACL_26},
        {"000020000000001", CLAUSE_ACL_41}, /* each marker above 1 */
        {"000102000000001", CLAUSE_ACL_41}, /* E-ACL-25 */
        {"000211000000001", CLAUSE_ACL_41},
        {"000111200000001", CLAUSE_ACL_41},
        {"000001000000001", CLAUSE_ACL_41}, /* Step 2 without Step 1 */
        {"000101000000001", CLAUSE_ACL_41},
        {"000010000000000", CLAUSE_ACL_13},
    };
    expect_values(oracle_guid_value, cases, COUNT(cases));
    golden_compare(&told, "judges_a_guid_ledger.txt");
}

Test(oracle, judges_a_created_guid)
{
    static const struct {
        const char *activity, *guid;
        int64_t dimension;
        enum clause_id clause;
    } cases[] = {
        {"001100000000001", "000000000000001", 0, FINE},
        {"001111100000007", "000000000000007", 6, FINE},
        {"999111199999999", "000000099999999", 99999998, FINE},
        {"001100000000001", "-1", 0, CLAUSE_ACL_12},
        {"001100000000001", "1000000000000001", 0, CLAUSE_ACL_12},
        {"001100000000001", "001100000000001", 0, CLAUSE_ACL_14}, /* E-ACL-3, first GUID */
        {"001111000000002", "001111000000002", 1, CLAUSE_ACL_14}, /* E-ACL-3, second GUID */
        {"001100000000001", "001000000000001", 0, CLAUSE_ACL_12},
        {"001110000000002", "000010000000002", 1, CLAUSE_ACL_41},
        {"001111000000002", "000001000000002", 1, CLAUSE_ACL_41},
        {"001111100000002", "000000100000002", 1, CLAUSE_ACL_41},
        {"-1", "000000000000001", 0, CLAUSE_ACL_3},
        {"001000000000001", "000000000000001", 0, CLAUSE_ACL_45},
        {"001100000000000", "000000000000000", -1, CLAUSE_ACL_13},
        {"001100000000002", "000000000000001", 1, CLAUSE_ACL_32}, /* a fresh counter */
        {"001100000000002", "000000000000003", 1, CLAUSE_ACL_32},
        {"001100000000002", "000000000000002", 2, CLAUSE_ACL_31},
        {"001100000000002", "000000000000002", 0, CLAUSE_ACL_31},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect(oracle_guid_created(number(cases[i].activity), number(cases[i].guid),
                                   cases[i].dimension),
               cases[i].clause, cases[i].guid);
    }
    golden_compare(&told, "judges_a_created_guid.txt");
}

Test(oracle, judges_a_guid_move)
{
    static const struct move_case cases[] = {
        {"000000000000001", "000000000000002", FINE},
        {"000000000000001", "000010000000001", FINE},
        {"000010000000002", "000011000000002", FINE},
        {"000010000000002", "000111000000002", FINE},
        {"000111000000002", "000111100000002", FINE},
        {"000000000000001", "000111100000001", FINE}, /* three steps in one commit */
        {"000111100000002", "000111100000003", FINE}, /* a replay only counts */
        {"000011000000002", "000011000000002", FINE},
        {"-1", "000000000000001", CLAUSE_ACL_12},
        {"1000000000000000", "1000000000000001", CLAUSE_ACL_12},
        {"000010000000002", "000010000000001", CLAUSE_ACL_33},
        {"000011000000002", "000010000000002", CLAUSE_ACL_33}, /* leftward in the list */
        {"000111000000002", "000011000000003", CLAUSE_ACL_33},
        {"000010000000001", "000000000000000", CLAUSE_ACL_33},
        {"000111099999999", "000111100000000", CLAUSE_ACL_8},
        {"000010000000002", "000011000000001", CLAUSE_ACL_8},
        {"999999999999999", "1000000000000000", CLAUSE_ACL_8},
        {"000010000000001", "001010000000001", CLAUSE_ACL_12},
        {"000000000000001", "000100000000001", CLAUSE_ACL_14},
        {"000010000000001", "000110000000001", CLAUSE_ACL_14},
        {"000011000000001", "000011100000001", CLAUSE_ACL_26},
        {"000011000000001", "000012000000001", CLAUSE_ACL_41}, /* Step 2 twice */
        {"000000000000001", "000001000000001", CLAUSE_ACL_41},
        {"000010000000001", "000010000000003", CLAUSE_ACL_12},
        {"000011000000001", "000111000000001", CLAUSE_ACL_21}, /* recomputed on replay */
        {"000011000000001", "000111100000001", CLAUSE_ACL_21},
    };
    expect_moves(oracle_guid_move, cases, COUNT(cases));
    golden_compare(&told, "judges_a_guid_move.txt");
}

/* ---- the semaphore ------------------------------------------------------------------------- */

Test(oracle, judges_a_semaphore_move)
{
    enum { CLOSING, PENDING };
    static const struct {
        int64_t before, after, children;
        int kind;
        int64_t threshold;
        bool snapshot;
        enum clause_id clause;
    } cases[] = {
        {5, 6, 2, CLOSING, 0, false, FINE}, /* 18.3 */
        {1, 0, 0, CLOSING, 0, true, FINE},  /* 18.4 */
        {3, 3, 1, CLOSING, 0, false, FINE},
        {0, 1, 2, CLOSING, 0, false, FINE},
        {3, 5, 3, CLOSING, 0, false, FINE},
        {2, 1, 0, CLOSING, 1, true, FINE},
        {11, 12, 2, CLOSING, 12, true, FINE},
        {11, 13, 3, CLOSING, 12, false, FINE}, /* jumped (E-ACL-12) */
        {1, 3, 2, PENDING, 0, false, FINE},
        {1, 1, 0, PENDING, 1, true, FINE}, /* E-ACL-14: literally, although nothing moved */
        {INT64_MAX, INT64_MAX - 1, 0, CLOSING, 0, false, FINE},
        {0, -1, 0, CLOSING, 0, false, CLAUSE_ACL_19},
        {0, -1, 0, CLOSING, -1, true, CLAUSE_ACL_19},
        {-1, 0, 2, CLOSING, 0, true, CLAUSE_ACL_19},
        {5, 7, 2, CLOSING, 0, false, CLAUSE_ACL_20}, /* the parent was not closed */
        {5, 5, 0, CLOSING, 0, false, CLAUSE_ACL_20},
        {5, 3, 0, CLOSING, 0, false, CLAUSE_ACL_20}, /* moved twice */
        {2, 3, 2, PENDING, 0, false, CLAUSE_ACL_20}, /* E-ACL-8: closed although pending */
        {1, 0, 0, CLOSING, 0, false, CLAUSE_ACL_21},
        {2, 1, 0, CLOSING, 0, true, CLAUSE_ACL_21},
        {11, 13, 3, CLOSING, 12, true, CLAUSE_ACL_21},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char what[32];
        (void)snprintf(what, sizeof what, "semaphore case %zu", i);
        expect(oracle_semaphore_move(cases[i].before, cases[i].after, cases[i].children,
                                     cases[i].kind == PENDING, cases[i].threshold,
                                     cases[i].snapshot),
               cases[i].clause, what);
    }
    golden_compare(&told, "judges_a_semaphore_move.txt");
}

Test(oracle, refuses_a_negative_number_of_children, .signal = SIGABRT)
{
    oracle_semaphore_move(1, 0, -1, false, 0, true);
}

/* ---- the collation key --------------------------------------------------------------------- */

Test(oracle, judges_a_key)
{
    static const struct value_case cases[] = {
        {"999999000000000", FINE},          {"999969000000000", FINE},
        {"366863000000000", FINE},          {"766366000000000", FINE},
        {"454637896000000", FINE},          {"900000000000000", FINE},
        {"999999999999999", FINE},          {"-1", CLAUSE_KEY_2},
        {"9999999999999999", CLAUSE_KEY_2}, {"000000000000000", CLAUSE_KEY_2},
        {"099999000000000", CLAUSE_KEY_2},  {"990999000000000", CLAUSE_KEY_2},
        {"999900000000009", CLAUSE_KEY_2},  {"919999000000000", CLAUSE_KEY_1},
        {"992999000000000", CLAUSE_KEY_1},
    };
    expect_values(oracle_key_value, cases, COUNT(cases));
    golden_compare(&told, "judges_a_key.txt");
}

/* (OK1), (OK2) */
Test(oracle, judges_a_key_move)
{
    static const struct move_case cases[] = {
        {"999999000000000", "999989000000000", FINE}, /* start */
        {"999989000000000", "999969000000000", FINE}, /* complete */
        {"866366000000000", "766366000000000", FINE}, /* error */
        {"668000000000000", "568000000000000", FINE}, /* pause */
        {"866366000000000", "566366000000000", FINE}, /* finished and held */
        {"566366000000000", "466366000000000", FINE}, /* release */
        {"966899000000000", "366893000000000", FINE}, /* skips alone */
        {"968999000000000", "366993000000000", FINE}, /* complete, and the untaken branch */
        {"989999000000000", "379999000000000", FINE}, /* error, and a descendant */
        {"366663000000000", "366663000000000", FINE},
        {"-1", "999999000000000", CLAUSE_KEY_2},
        {"1000000000000000", "999999000000000", CLAUSE_KEY_2},
        {"300000000000000", "-300000000000000", CLAUSE_KEY_8}, /* a skip replayed */
        {"930000000000000", "870000000000000", CLAUSE_KEY_8},  /* the same, borrowing */
        {"999999000000000", "999998999999999", CLAUSE_KEY_8},  /* below an unused position */
        {"899999000000000", "999999000000000", CLAUSE_KEY_8},  /* a digit rose */
        {"999999000000000", "999969000000000", CLAUSE_KEY_8},  /* completed while pending */
        {"899999000000000", "499999000000000", CLAUSE_KEY_8},  /* released while running */
        {"896000000000000", "894000000000000", CLAUSE_KEY_8},  /* a completion replayed */
        {"897000000000000", "896000000000000", CLAUSE_KEY_8},  /* an error replayed */
        {"894000000000000", "893000000000000", CLAUSE_KEY_8},  /* a release replayed */
        {"899000000000000", "899100000000000", CLAUSE_KEY_8},  /* a new activity */
        {"899000000000000", "890000000000000", CLAUSE_KEY_8},  /* an activity vanished */
        {"893000000000000", "892000000000000", CLAUSE_KEY_8},  /* a parenthesis */
        {"999999000000000", "889999000000000", CLAUSE_KEY_3},  /* two starts */
        {"889000000000000", "763000000000000", CLAUSE_KEY_3},  /* two ends and a skip */
        {"666366000000000", "566366000000000", CLAUSE_KEY_10}, /* reopened */
    };
    expect_moves(oracle_key_move, cases, COUNT(cases));
    golden_compare(&told, "judges_a_key_move.txt");
}

Test(oracle, tells_complete_and_in_error_from_the_digits)
{
    static const struct {
        const char *key;
        bool complete, in_error;
    } cases[] = {
        {"999969000000000", false, false},
        {"968969000000000", false, false},
        {"366863000000000", false, false},
        {"366663000000000", true, false},
        {"566366000000000", false, false},
        {"466366000000000", true, false},
        {"766366000000000", true, true},
        {"769366000000000", false, true},
        {"300000000000000", true, false},
        {"000000000000000", false, false},
        {"-1", false, false},
        {"060000000000000", false, false},
        {"070000000000000", false, false},
        {"7000000000000000", false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t key = number(cases[i].key);
        cr_expect_eq(oracle_key_complete(key), cases[i].complete, "%s", cases[i].key);
        cr_expect_eq(oracle_key_in_error(key), cases[i].in_error, "%s", cases[i].key);
    }
}

/* ---- the earlier ledger -------------------------------------------------------------------- */

Test(oracle, judges_a_legacy_move)
{
    static const struct move_case cases[] = {
        {"999000000000000", "899000000000000", FINE}, /* the document's walk */
        {"899000000000000", "889000000000000", FINE},
        {"889000000000000", "889000001000000", FINE},
        {"889000001000000", "889000001000001", FINE},
        {"889000001000001", "889000002000001", FINE},
        {"889000002000001", "888000002000002", FINE},
        {"888000002000002", "888000003000002", FINE}, /* a late call ... */
        {"888000003000002", "888000002000002", FINE}, /* ... undone */
        {"899000000000000", "799000000000000", FINE},
        {"199000000000000", "099000000000000", FINE},
        {"889000001000000", "879000001000000", FINE}, /* two live Leg1 runs (E-LEG-3) */
        {"888000002000001", "887000002000002", FINE}, /* two successes (E-LEG-3) */
        {"889000000999998", "889000000999999", FINE},
        {"889999998000000", "889999999000000", FINE},
        {"889000009000000", "889000010000000", FINE}, /* a carry within its field */
        {"889999999000000", "889999999000001", FINE},
        {"889000002000001", "889000002000001", FINE},
        {"-1", "0", CLAUSE_LEG_8},
        {"1000000000000000", "999000000000000", CLAUSE_LEG_8},
        {"099000000000000", "-1000000000000", CLAUSE_LEG_5},  /* a tenth Leg1 entry */
        {"809000000000000", "799000000000000", CLAUSE_LEG_5}, /* a tenth Leg1 exit */
        {"880000002000001", "879000002000002", CLAUSE_LEG_5}, /* a tenth success */
        {"888999999000001", "889000000000001", CLAUSE_LEG_5}, /* a millionth entry reopens */
        {"999999999000000", "1000000000000000", CLAUSE_LEG_5},
        {"889000002999999", "889000003000000", CLAUSE_LEG_5}, /* a millionth exit */
        {"888000000000000", "887999999000000", CLAUSE_LEG_5}, /* undone below zero */
        {"889000001000000", "889000000999999", CLAUSE_LEG_5}, /* a negative exit */
        {"889000002000001", "888999002000002", CLAUSE_LEG_1}, /* E-LEG-1 */
        {"999000000000000", "799000000000000", CLAUSE_LEG_1},
        {"899000000000000", "999000000000000", CLAUSE_LEG_1},
        {"899000000000000", "789000000000000", CLAUSE_LEG_1}, /* two events at once */
        {"889000001000000", "888000001000000", CLAUSE_LEG_1}, /* closed without an exit */
        {"889000000000000", "889000010000000", CLAUSE_LEG_1}, /* +10M for +1M */
        {"889000001000001", "889000001000000", CLAUSE_LEG_1}, /* an exit undone */
        {"888000003000002", "888000001000002", CLAUSE_LEG_1}, /* undone twice */
        {"889000002000001", "889000001000001", CLAUSE_LEG_4}, /* undone while open */
    };
    expect_moves(oracle_legacy_move, cases, COUNT(cases));
    golden_compare(&told, "judges_a_legacy_move.txt");
}

/* ---- the seq machine ----------------------------------------------------------------------- */

Test(oracle, knows_the_12_legal_transitions)
{
    static const enum oracle_seq_state legal[][2] = {
        {ORACLE_SEQ_UNSEEN, ORACLE_SEQ_DISPATCHED}, {ORACLE_SEQ_DISPATCHED, ORACLE_SEQ_IN_FLIGHT},
        {ORACLE_SEQ_IN_FLIGHT, ORACLE_SEQ_SUCCESS}, {ORACLE_SEQ_IN_FLIGHT, ORACLE_SEQ_SKIP},
        {ORACLE_SEQ_IN_FLIGHT, ORACLE_SEQ_FAIL},    {ORACLE_SEQ_DISPATCHED, ORACLE_SEQ_CANCEL},
        {ORACLE_SEQ_IN_FLIGHT, ORACLE_SEQ_CANCEL},  {ORACLE_SEQ_SUCCESS, ORACLE_SEQ_COMMITTED},
        {ORACLE_SEQ_SKIP, ORACLE_SEQ_COMMITTED},    {ORACLE_SEQ_FAIL, ORACLE_SEQ_COMMITTED},
        {ORACLE_SEQ_CANCEL, ORACLE_SEQ_COMMITTED},  {ORACLE_SEQ_FAIL, ORACLE_SEQ_DISPATCHED},
    };
    size_t found[3] = {0};
    for (enum oracle_seq_state from = ORACLE_SEQ_UNSEEN; from < ORACLE_SEQ_STATES; from++) {
        for (enum oracle_seq_state to = ORACLE_SEQ_UNSEEN; to < ORACLE_SEQ_STATES; to++) {
            found[oracle_seq_pair(from, to)]++;
        }
    }
    for (size_t i = 0; i < COUNT(legal); i++) {
        cr_expect_eq(oracle_seq_pair(legal[i][0], legal[i][1]), ORACLE_SEQ_LEGAL, "move %zu",
                     i + 1);
    }
    cr_expect_eq(oracle_seq_pair(ORACLE_SEQ_COMMITTED, ORACLE_SEQ_COMMITTED), ORACLE_SEQ_NO_MOVE);
    cr_expect_eq(found[ORACLE_SEQ_LEGAL], 12);
    cr_expect_eq(found[ORACLE_SEQ_NO_MOVE], 1);
    cr_expect_eq(found[ORACLE_SEQ_ILLEGAL], 51);
}

/* Classes 0 and 1 may be retried, twice; class 2 may not. */
static const struct oracle_seq_policy policy = {.lease_ms = 100, .retryable = 3, .budget = 2};

enum { ALICE = 7, BOB = 8, BOSS = 9 };

#define SEQ(state_, ...)                                                                           \
    {                                                                                              \
        .state = ORACLE_SEQ_##state_, __VA_ARGS__                                                  \
    }
#define WAITING(n)    SEQ(DISPATCHED, .attempt = (n))
#define RUNNING(n)    SEQ(IN_FLIGHT, .attempt = (n), .owner = ALICE, .heartbeat_ms = 500)
#define ENDED(state_) SEQ(state_, .event_out = true)
#define STEP(actor_, by_, from_, to_, ...)                                                         \
    {                                                                                              \
        .actor = (actor_), .by = ORACLE_SEQ_BY_##by_, .from = ORACLE_SEQ_##from_,                  \
        .to = ORACLE_SEQ_##to_, __VA_ARGS__                                                        \
    }

struct seq_case {
    enum clause_id clause;
    const char *claim;
    struct oracle_seq before;
    struct oracle_seq_step step;
};

/* The monitor follows a step whatever it thinks of it. */
static void expect_steps(const struct seq_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *claim = cases[i].claim;
        const struct oracle_seq *before = &cases[i].before;
        const struct oracle_seq_step *step = &cases[i].step;
        struct oracle_seq seq = *before;
        expect(oracle_seq_fold(&seq, &policy, step), cases[i].clause, claim);
        bool runs = step->to == ORACLE_SEQ_IN_FLIGHT;
        cr_expect_eq(seq.state, step->to, "%s", claim);
        cr_expect_eq(seq.attempt, step->attempt, "%s", claim);
        cr_expect_eq(seq.owner, runs ? step->owner : 0, "%s", claim);
        cr_expect_eq(seq.heartbeat_ms, runs ? step->heartbeat_ms : before->heartbeat_ms, "%s",
                     claim);
        cr_expect_eq(seq.event_out, before->event_out || step->event, "%s", claim);
    }
}

/* (OQ1) */
Test(oracle, accepts_every_step_of_the_contract)
{
    static const struct seq_case cases[] = {
        {FINE, "dispatch", SEQ(UNSEEN, .owner = 0),
         STEP(BOSS, ORDER, UNSEEN, DISPATCHED, .event = false)},
        {FINE, "take", WAITING(1),
         STEP(ALICE, TAKE, DISPATCHED, IN_FLIGHT, .owner = ALICE, .attempt = 1, .heartbeat_ms = 5)},
        {FINE, "heartbeat", RUNNING(1),
         STEP(ALICE, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .token = 1, .attempt = 1,
              .heartbeat_ms = 501)},
        {FINE, "heartbeat of a clock that stands", RUNNING(0),
         STEP(ALICE, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 500)},
        {FINE, "success", RUNNING(0), STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .event = true)},
        {FINE, "skip", RUNNING(2),
         STEP(ALICE, FINISH, IN_FLIGHT, SKIP, .token = 2, .attempt = 2, .event = true)},
        {FINE, "failure, class not retryable", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .fail_class = 2, .event = true)},
        {FINE, "failure, budget used up", RUNNING(2),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .fail_class = 1, .token = 2, .attempt = 2,
              .event = true)},
        {FINE, "failure that waits for its retry", RUNNING(1),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .fail_class = 1, .token = 1, .attempt = 1,
              .waits = true)},
        {FINE, "reclaim that waits for its retry", RUNNING(0),
         STEP(BOSS, RECLAIM, IN_FLIGHT, FAIL, .now_ms = 600, .waits = true)},
        {FINE, "retry", SEQ(FAIL, .attempt = 1),
         STEP(BOSS, RETRY, FAIL, DISPATCHED, .fail_class = 1, .attempt = 2)},
        {FINE, "reclaim, budget used up", RUNNING(2),
         STEP(BOSS, RECLAIM, IN_FLIGHT, FAIL, .now_ms = 9999, .attempt = 2, .event = true)},
        {FINE, "cancel before work begins", WAITING(0),
         STEP(BOSS, CANCEL, DISPATCHED, CANCEL, .event = true)},
        {FINE, "cancel asked", RUNNING(0),
         STEP(BOSS, CANCEL, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 500)},
        {FINE, "cancel forced", RUNNING(0), STEP(BOSS, CANCEL, IN_FLIGHT, CANCEL, .event = true)},
        {FINE, "success committed", ENDED(SUCCESS),
         STEP(BOSS, ORDER, SUCCESS, COMMITTED, .event = false)},
        {FINE, "skip committed", ENDED(SKIP), STEP(BOSS, ORDER, SKIP, COMMITTED, .event = false)},
        {FINE, "failure committed", ENDED(FAIL),
         STEP(BOSS, ORDER, FAIL, COMMITTED, .event = false)},
        {FINE, "cancellation committed", ENDED(CANCEL),
         STEP(BOSS, ORDER, CANCEL, COMMITTED, .event = false)},
        {FINE, "committed again", ENDED(COMMITTED),
         STEP(BOSS, ORDER, COMMITTED, COMMITTED, .event = false)},
    };
    expect_steps(cases, COUNT(cases));
}

/* (OQ2), (OQ3) */
Test(oracle, catches_every_breach_of_the_contract)
{
    static const struct seq_case cases[] = {
        {CLAUSE_SEQ_5, "found a state that was not there", WAITING(0),
         STEP(BOSS, ORDER, UNSEEN, DISPATCHED, .event = false)},
        {CLAUSE_SEQ_5, "found a later state than there was", SEQ(UNSEEN, .owner = 0),
         STEP(ALICE, TAKE, DISPATCHED, IN_FLIGHT, .owner = ALICE)},
        {CLAUSE_SEQ_19, "heartbeat after the run was reclaimed", WAITING(1),
         STEP(ALICE, HEARTBEAT, DISPATCHED, IN_FLIGHT, .owner = ALICE, .attempt = 1)},
        {CLAUSE_SEQ_19, "heartbeat that ends a run", RUNNING(0),
         STEP(ALICE, HEARTBEAT, IN_FLIGHT, SUCCESS, .event = true)},
        {CLAUSE_SEQ_19, "heartbeat of another owner", RUNNING(0),
         STEP(BOB, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 510)},
        {CLAUSE_SEQ_19, "heartbeat of an earlier run", RUNNING(1),
         STEP(ALICE, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .attempt = 1,
              .heartbeat_ms = 510)},
        {CLAUSE_SEQ_19, "heartbeat went back", RUNNING(0),
         STEP(ALICE, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 499)},
        {CLAUSE_SEQ_19, "heartbeat moved by a canceller", RUNNING(0),
         STEP(BOSS, CANCEL, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 510)},
        {CLAUSE_SEQ_8, "two owners", RUNNING(0),
         STEP(BOB, TAKE, IN_FLIGHT, IN_FLIGHT, .owner = BOB, .heartbeat_ms = 510)},
        {CLAUSE_SEQ_8, "taken again by its owner", RUNNING(0),
         STEP(ALICE, TAKE, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 510)},
        {CLAUSE_SEQ_8, "in flight by order", WAITING(0),
         STEP(BOSS, ORDER, DISPATCHED, IN_FLIGHT, .owner = BOSS)},
        {CLAUSE_SEQ_8, "in flight without an owner", WAITING(0),
         STEP(0, TAKE, DISPATCHED, IN_FLIGHT, .owner = 0)},
        {CLAUSE_SEQ_8, "in flight in other hands", WAITING(0),
         STEP(ALICE, TAKE, DISPATCHED, IN_FLIGHT, .owner = BOB)},
        {CLAUSE_SEQ_8, "in flight in other hands, the other way round", WAITING(0),
         STEP(BOB, TAKE, DISPATCHED, IN_FLIGHT, .owner = ALICE)},
        {CLAUSE_SEQ_8, "lease changed hands the other way round",
         SEQ(IN_FLIGHT, .owner = BOB, .heartbeat_ms = 500),
         STEP(BOB, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 510)},
        {CLAUSE_SEQ_8, "lease changed hands", RUNNING(0),
         STEP(ALICE, HEARTBEAT, IN_FLIGHT, IN_FLIGHT, .owner = BOB, .heartbeat_ms = 510)},
        {CLAUSE_SEQ_3, "taken before it was dispatched", SEQ(UNSEEN, .owner = 0),
         STEP(ALICE, TAKE, UNSEEN, IN_FLIGHT, .owner = ALICE)},
        {CLAUSE_SEQ_3, "cancel overwrites a success", ENDED(SUCCESS),
         STEP(BOSS, CANCEL, SUCCESS, CANCEL, .event = true)},
        {CLAUSE_SEQ_3, "success again", ENDED(SUCCESS),
         STEP(ALICE, FINISH, SUCCESS, SUCCESS, .event = true)},
        {CLAUSE_SEQ_3, "committed while in flight", RUNNING(0),
         STEP(BOSS, ORDER, IN_FLIGHT, COMMITTED, .event = false)},
        {CLAUSE_SEQ_3, "back to DISPATCHED by order", RUNNING(0),
         STEP(BOSS, ORDER, IN_FLIGHT, DISPATCHED, .attempt = 1)},
        {CLAUSE_SEQ_3, "in flight ordered again", RUNNING(0),
         STEP(BOSS, ORDER, IN_FLIGHT, IN_FLIGHT, .owner = ALICE, .heartbeat_ms = 500)},
        {CLAUSE_SEQ_3, "reclaimed and retried in one", RUNNING(0),
         STEP(BOSS, RECLAIM, IN_FLIGHT, DISPATCHED, .now_ms = 600, .attempt = 1)},
        {CLAUSE_SEQ_6, "retry of a failure whose event is out", ENDED(FAIL),
         STEP(BOSS, RETRY, FAIL, DISPATCHED, .attempt = 1)},
        {CLAUSE_SEQ_12, "retried by the dispatcher", SEQ(FAIL, .attempt = 0),
         STEP(BOSS, ORDER, FAIL, DISPATCHED, .attempt = 1)},
        {CLAUSE_SEQ_12, "ended by order", RUNNING(0),
         STEP(BOSS, ORDER, IN_FLIGHT, SUCCESS, .event = true)},
        {CLAUSE_SEQ_12, "ended as success by the reclaimer", RUNNING(0),
         STEP(BOSS, RECLAIM, IN_FLIGHT, SUCCESS, .now_ms = 700, .event = true)},
        {CLAUSE_SEQ_12, "cancelled by its own worker", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, CANCEL, .event = true)},
        {CLAUSE_SEQ_12, "committed by a worker", ENDED(SUCCESS),
         STEP(ALICE, FINISH, SUCCESS, COMMITTED, .event = false)},
        {CLAUSE_SEQ_12, "late result of another worker", RUNNING(0),
         STEP(BOB, FINISH, IN_FLIGHT, SUCCESS, .event = true)},
        {CLAUSE_SEQ_12, "late result, the other way round", SEQ(IN_FLIGHT, .owner = BOB),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .event = true)},
        {CLAUSE_SEQ_12, "result of a later run", RUNNING(1),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .token = 2, .attempt = 1, .event = true)},
        {CLAUSE_SEQ_12, "late result of an earlier run", RUNNING(1),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .token = 0, .attempt = 1, .event = true)},
        {CLAUSE_SEQ_12, "late failure of another worker, which waits for its retry", RUNNING(0),
         STEP(BOB, FINISH, IN_FLIGHT, FAIL, .waits = true)},
        {CLAUSE_SEQ_10, "reclaimed 1 ms too early", RUNNING(0),
         STEP(BOSS, RECLAIM, IN_FLIGHT, FAIL, .now_ms = 599, .waits = true)},
        {CLAUSE_SEQ_10, "reclaimed by a clock behind the heartbeat", RUNNING(0),
         STEP(BOSS, RECLAIM, IN_FLIGHT, FAIL, .now_ms = 499, .waits = true)},
        {CLAUSE_SEQ_13, "waits for a retry of a class that is not retryable", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .fail_class = 2, .waits = true)},
        {CLAUSE_SEQ_13, "retry of a class that is not retryable", SEQ(FAIL, .attempt = 0),
         STEP(BOSS, RETRY, FAIL, DISPATCHED, .fail_class = 2, .attempt = 1)},
        {CLAUSE_SEQ_13, "waits for a retry beyond the budget", RUNNING(2),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .fail_class = 1, .token = 2, .attempt = 2,
              .waits = true)},
        {CLAUSE_SEQ_13, "retry beyond the budget", SEQ(FAIL, .attempt = 2),
         STEP(BOSS, RETRY, FAIL, DISPATCHED, .fail_class = 1, .attempt = 3)},
        {CLAUSE_SEQ_13, "reclaim beyond the budget", RUNNING(2),
         STEP(BOSS, RECLAIM, IN_FLIGHT, FAIL, .now_ms = 700, .attempt = 2, .waits = true)},
        {CLAUSE_SEQ_13, "retry not counted", SEQ(FAIL, .attempt = 0),
         STEP(BOSS, RETRY, FAIL, DISPATCHED, .fail_class = 1, .attempt = 0)},
        {CLAUSE_SEQ_13, "retry counted twice", SEQ(FAIL, .attempt = 0),
         STEP(BOSS, RETRY, FAIL, DISPATCHED, .fail_class = 1, .attempt = 2)},
        {CLAUSE_SEQ_13, "a success waits for a retry", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .waits = true, .event = true)},
        {CLAUSE_SEQ_13, "a success of a class that is not retryable waits for a retry", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .fail_class = 2, .waits = true, .event = true)},
        {CLAUSE_SEQ_13, "attempt counted without a retry", WAITING(0),
         STEP(ALICE, TAKE, DISPATCHED, IN_FLIGHT, .owner = ALICE, .attempt = 1)},
        {CLAUSE_SEQ_13, "attempts forgotten", RUNNING(1),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .token = 1, .attempt = 0, .event = true)},
        {CLAUSE_SEQ_18, "gave up with a retry left", RUNNING(1),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .fail_class = 1, .token = 1, .attempt = 1,
              .event = true)},
        {CLAUSE_SEQ_18, "reclaim gave up with a retry left", RUNNING(0),
         STEP(BOSS, RECLAIM, IN_FLIGHT, FAIL, .now_ms = 600, .event = true)},
        {CLAUSE_SEQ_6, "second event at the commit", ENDED(SUCCESS),
         STEP(BOSS, ORDER, SUCCESS, COMMITTED, .event = true)},
        {CLAUSE_SEQ_6, "second event of a second end",
         SEQ(IN_FLIGHT, .owner = ALICE, .event_out = true),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .event = true)},
        {CLAUSE_SEQ_6, "event of a failure that is retried", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, FAIL, .waits = true, .event = true)},
        {CLAUSE_SEQ_6, "event of a dispatch", SEQ(UNSEEN, .owner = 0),
         STEP(BOSS, ORDER, UNSEEN, DISPATCHED, .event = true)},
        {CLAUSE_SEQ_6, "success without its event", RUNNING(0),
         STEP(ALICE, FINISH, IN_FLIGHT, SUCCESS, .event = false)},
        {CLAUSE_SEQ_6, "cancel without its event", WAITING(0),
         STEP(BOSS, CANCEL, DISPATCHED, CANCEL, .event = false)},
        {CLAUSE_SEQ_6, "committed before its event was out", SEQ(SUCCESS, .event_out = false),
         STEP(BOSS, ORDER, SUCCESS, COMMITTED, .event = false)},
    };
    expect_steps(cases, COUNT(cases));
    golden_compare(&told, "catches_every_breach_of_the_contract.txt");
}

Test(oracle, catches_each_of_the_51_illegal_transitions)
{
    for (enum oracle_seq_state from = ORACLE_SEQ_UNSEEN; from < ORACLE_SEQ_STATES; from++) {
        for (enum oracle_seq_state to = ORACLE_SEQ_UNSEEN; to < ORACLE_SEQ_STATES; to++) {
            if (oracle_seq_pair(from, to) != ORACLE_SEQ_ILLEGAL) {
                continue;
            }
            /* Only a take may enter IN_FLIGHT, and a second one is told as a second owner. */
            bool enters = to == ORACLE_SEQ_IN_FLIGHT && from != ORACLE_SEQ_IN_FLIGHT;
            bool runs = from == ORACLE_SEQ_IN_FLIGHT;
            struct oracle_seq seq = {.state = from, .owner = runs ? ALICE : 0};
            struct oracle_seq_step step = {.by = enters ? ORACLE_SEQ_BY_TAKE : ORACLE_SEQ_BY_ORDER,
                                           .from = from,
                                           .to = to,
                                           .actor = ALICE,
                                           .owner = ALICE};
            char what[32];
            (void)snprintf(what, sizeof what, "%d to %d", (int)from, (int)to);
            expect(oracle_seq_fold(&seq, &policy, &step), CLAUSE_SEQ_3, what);
        }
    }
}

Test(oracle, recounts_the_occupancies)
{
    static const enum oracle_seq_state states[] = {
        ORACLE_SEQ_FAIL,      ORACLE_SEQ_UNSEEN,    ORACLE_SEQ_COMMITTED, ORACLE_SEQ_SUCCESS,
        ORACLE_SEQ_SKIP,      ORACLE_SEQ_CANCEL,    ORACLE_SEQ_IN_FLIGHT, ORACLE_SEQ_DISPATCHED,
        ORACLE_SEQ_COMMITTED, ORACLE_SEQ_COMMITTED, ORACLE_SEQ_IN_FLIGHT,
    };
    const struct oracle_seq_occupancy right = {1, 1, 2, 4, 3};
    struct oracle_seq_occupancy found = oracle_seq_recount(states, COUNT(states));
    cr_expect_eq(found.unseen, right.unseen);
    cr_expect_eq(found.dispatched, right.dispatched);
    cr_expect_eq(found.in_flight, right.in_flight);
    cr_expect_eq(found.terminal, right.terminal);
    cr_expect_eq(found.committed, right.committed);

    const struct {
        struct oracle_seq_occupancy counters;
        enum clause_id clause;
    } cases[] = {
        {right, FINE},
        {{0, 1, 2, 4, 3}, CLAUSE_SEQ_16},
        {{1, 2, 2, 4, 3}, CLAUSE_SEQ_16},
        {{1, 1, 1, 4, 3}, CLAUSE_SEQ_16},
        {{1, 1, 2, 5, 3}, CLAUSE_SEQ_16}, /* cumulative, not current (E-SEQ-4) */
        {{1, 1, 2, 4, 4}, CLAUSE_SEQ_16},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect(oracle_seq_counters(cases[i].counters, states, COUNT(states)), cases[i].clause,
               "counters");
    }
}

Test(oracle, refuses_a_pair_from_no_state, .signal = SIGABRT)
{
    oracle_seq_pair(ORACLE_SEQ_STATES, ORACLE_SEQ_UNSEEN);
}

Test(oracle, refuses_a_pair_to_no_state, .signal = SIGABRT)
{
    oracle_seq_pair(ORACLE_SEQ_UNSEEN, ORACLE_SEQ_STATES);
}

static void fold_one(struct oracle_seq_step step, const struct oracle_seq_policy *with)
{
    oracle_seq_fold(&(struct oracle_seq){0}, with, &step);
}

Test(oracle, refuses_a_step_from_no_state, .signal = SIGABRT)
{
    fold_one((struct oracle_seq_step){.from = ORACLE_SEQ_STATES}, &policy);
}

Test(oracle, refuses_a_step_to_no_state, .signal = SIGABRT)
{
    fold_one((struct oracle_seq_step){.to = ORACLE_SEQ_STATES}, &policy);
}

Test(oracle, refuses_a_step_by_no_operation, .signal = SIGABRT)
{
    fold_one((struct oracle_seq_step){.by = ORACLE_SEQ_BY_COUNT}, &policy);
}

Test(oracle, refuses_a_fail_class_above_31, .signal = SIGABRT)
{
    fold_one((struct oracle_seq_step){.fail_class = 32}, &policy);
}

Test(oracle, refuses_to_count_no_state, .signal = SIGABRT)
{
    oracle_seq_recount((enum oracle_seq_state[]){ORACLE_SEQ_STATES}, 1);
}
