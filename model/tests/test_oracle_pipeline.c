/* The monitors of the pipeline, told commits by hand. Whole phases are fine; each planted violation
 * is reported under the clause that it breaks. */
#include "model/oracle/judge.h"
#include "model/oracle/mint.h"
#include "model/tests/golden.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"

#define FINE   CLAUSE_COUNT
#define GHOSTS (4 * HAND_INDEX * JUDGE_MEMO_CELLS)

extern const struct monitors monitors_pipeline;

static struct hand hand;
static struct oracle oracle;
static int64_t ghosts[GHOSTS];

/* A table that gets no row, and a status that does not move, for as long as these say so. */
static enum row_table without;
static bool without_move;

/* ---- the store ------------------------------------------------------------------------------- */

static void begin(void)
{
    hand_begin(&hand);
    memset(ghosts, 0, sizeof ghosts);
    without = TABLE_COUNT;
    cr_assert_eq(oracle_cells(&monitors_pipeline, &hand.rows), (size_t)GHOSTS);
    oracle_begin(&oracle, &monitors_pipeline, &hand.rows, ghosts);
    memset(oracle.off, 0, sizeof oracle.off);
    oracle.off[CLAUSE_CUT_31] = true; /* no work outside rows is told here: test_oracle_journal.c */
}

TestSuite(oracle_pipeline, .init = begin);

static void put(enum row_table table, int64_t key, const int64_t *values)
{
    if (table != without) {
        hand_put(&hand, table, key, values);
    }
}
#define PUT(table, key, ...) put(TABLE_##table, key, (const int64_t[table##_COLUMNS]){__VA_ARGS__})

static void set(enum row_table table, int64_t key, int column, int64_t value)
{
    if (hand_get(&hand, table, key, column) != value) {
        hand_set(&hand, table, key, column, value);
    }
}

static void drop(enum row_table table, int64_t key)
{
    hand_drop(&hand, table, key);
}

static struct oracle_verdict tell(void)
{
    struct oracle_verdict verdict =
        monitors_pipeline.commit(&oracle, &hand.rows, hand.changes, hand.count);
    cr_expect_eq(verdict.broken, *verdict.why != '\0', "a breach is told in words");
    hand.count = 0;
    return verdict;
}

static struct oracle_verdict expect(enum clause_id clause, const char *what)
{
    struct oracle_verdict verdict = tell();
    cr_assert_eq(verdict.clause, clause, "%s: %s, %s", what,
                 verdict.broken ? clause_get(verdict.clause)->id : "fine", verdict.why);
    return verdict;
}

/* In these words: another check of the clause would say something else. */
static void expect_told(enum clause_id clause, const char *what, const char *why)
{
    struct oracle_verdict verdict = expect(clause, what);
    cr_expect_str_eq(verdict.why, why, "%s: %s", what, verdict.why);
}

static void only(enum clause_id clause)
{
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        oracle.off[c] = c != (int)clause;
    }
}

/* ---- the phases ------------------------------------------------------------------------------ *
 * An entry is a hundred: what belongs to it has ids above it. */

enum {
    ENVELOPE_OF = 10,
    UNIT_OF = 20,
    REVIEW_OF = 30,
    SET_OF = 40,
    ROW_OF = 50,
    SIGNED = 60,
    VERIFY_OF = 70,
    UNDO_OF = 80,
    RAISED_OF = 90,
    PAST_OF = 5000
};

static void past(int64_t id, int64_t entry, int64_t to)
{
    int64_t from = hand_get(&hand, TABLE_ENTRY, entry, ENTRY_STATUS);
    PUT(PAST, id, entry, from, to);
    if (!without_move) {
        set(TABLE_ENTRY, entry, ENTRY_STATUS, to);
    }
}

static void mark(int64_t entry, int64_t needs)
{
    PUT(ENTRY, entry, ENTRY_WORK, STATUS_MARKED, entry + 1, entry + 2);
    PUT(PAST, entry + PAST_OF, entry, STATUS_NONE, STATUS_MARKED);
    PUT(SWEEP_LOG, entry, entry, PHASE_MARK, SWEEP_MARKED);
    if (needs != 0) {
        PUT(DEPENDENCY, entry, entry, needs);
    }
}

static void review(int64_t entry, int n, int64_t decision, int64_t prior)
{
    PUT(ENVELOPE, entry + ENVELOPE_OF + n, entry, oracle_mint(entry + ENVELOPE_OF + n, entry));
    PUT(UNIT_BLOCK, entry + UNIT_OF + n, entry + ENVELOPE_OF + n, 1,
        oracle_mint(entry + UNIT_OF + n, entry));
    PUT(REVIEW, entry + REVIEW_OF + n, entry, entry + ENVELOPE_OF + n, entry + UNIT_OF + n,
        decision, prior);
    if (prior != 0) {
        set(TABLE_REVIEW, prior, REVIEW_BY, entry + REVIEW_OF + n);
    }
    past(entry + REVIEW_OF + n + PAST_OF, entry,
         decision == DECISION_APPROVE ? STATUS_APPROVED : STATUS_REJECTED);
}

static void cut(int64_t entry, int n)
{
    PUT(SIGNATURE, entry + SIGNED + n, entry, LANE_EXECUTOR, PRINCIPAL_EXEC, 0);
    PUT(CHANGE_SET, entry + SET_OF + n, entry, entry + REVIEW_OF + n, entry + SIGNED + n);
    PUT(AFFECTED_ROW, entry + ROW_OF + n, entry + SET_OF + n, 1,
        oracle_mint(entry + ROW_OF + n, entry + SET_OF + n));
    past(entry + SET_OF + n + PAST_OF, entry, STATUS_CUT);
}

/* Of the change set of review 1. */
static void verify(int64_t entry, int n, int64_t outcome, int64_t prior)
{
    int64_t set = entry + SET_OF + 1, result = entry + VERIFY_OF + n, undo = entry + UNDO_OF + n;
    bool fails = outcome == VERIFIED_FAIL;
    PUT(SIGNATURE, entry + SIGNED + 5 + n, entry, LANE_VERIFIER, PRINCIPAL_VERIFY,
        prior == 0 ? 0 : entry + SIGNED + 4 + n);
    if (fails) {
        PUT(CHANGE_SET, undo, entry, 0, entry + SIGNED + 5 + n, 0, set);
        PUT(AFFECTED_ROW, undo, undo, 1, oracle_mint(undo, undo));
    }
    PUT(VERIFY, result, set, entry + SIGNED + 1, entry + SIGNED + 5 + n, outcome, prior,
        fails ? undo : 0);
    if (fails) {
        PUT(ENTRY, entry + RAISED_OF + n, ENTRY_ESCALATION, STATUS_MARKED, result, 1, result);
        PUT(PAST, entry + RAISED_OF + n + PAST_OF, entry + RAISED_OF + n, 0, STATUS_MARKED);
    }
    past(result + PAST_OF, entry, fails ? STATUS_ESCALATED : STATUS_COMPLETE);
}

/* How far entry 100 has come. */
enum stage { NOTHING, MARKED, REVIEWED, CUT, VERIFIED, REVERIFIED };

static void reach(enum stage stage)
{
    for (int s = MARKED; s <= (int)stage; s++) {
        switch (s) {
        case MARKED:
            mark(100, 0);
            break;
        case REVIEWED:
            review(100, 1, DECISION_APPROVE, 0);
            break;
        case CUT:
            cut(100, 1);
            break;
        default:
            verify(100, s - CUT, VERIFIED_PASS, s == VERIFIED ? 0 : 100 + VERIFY_OF + 1);
        }
        expect(FINE, "on the way");
    }
}

/* ---- what is fine ---------------------------------------------------------------------------- */

Test(oracle_pipeline, whole_phases_are_fine_along_every_path)
{
    reach(REVERIFIED);
    mark(200, 100);
    expect(FINE, "MARK");
    review(200, 1, DECISION_REJECT, 0);
    expect(FINE, "REVIEW");
    review(200, 2, DECISION_APPROVE, 200 + REVIEW_OF + 1);
    expect(FINE, "re-review");
    review(200, 3, DECISION_APPROVE, 200 + REVIEW_OF + 2);
    expect(FINE, "re-review that leaves the status as it is");
    cut(200, 3);
    expect(FINE, "CUT");
    verify(100, 3, VERIFIED_FAIL, 100 + VERIFY_OF + 2);
    expect(FINE, "re-verify that fails");
    PUT(SWEEP_LOG, 999, 300, PHASE_MARK, SWEEP_NULL);
    expect(FINE, "a sweep that stopped");
    expect(FINE, "nothing at all");
    cr_expect_eq(oracle.seen[COVER_REVERIFY_FAILED], 1U);
    cr_expect_eq(oracle.seen[COVER_COMPENSATED], 0U);
    cr_expect_eq(oracle.seen[COVER_HUMAN_NULL], 1U);
    cr_expect_eq(oracle.seen[COVER_STATUS_COMPLETE_ESCALATED], 1U);
    cr_expect_eq(oracle.seen[COVER_STATUS_CUT_ESCALATED], 0U);
}

/* ---- parts left out -------------------------------------------------------------------------- */

/* One table of a phase gets no row, or the status does not move (TABLE_COUNT). */
Test(oracle_pipeline, a_phase_without_one_of_its_parts_is_reported)
{
    PROVES(CLAUSE_CUT_1, CLAUSE_CUT_5, CLAUSE_CUT_6, CLAUSE_CUT_9, CLAUSE_CUT_10, CLAUSE_CUT_23,
           CLAUSE_CUT_26, CLAUSE_CUT_29);
    static const char *const phases[] = {
        [PHASE_MARK] = "MARK", [PHASE_REVIEW] = "REVIEW", [PHASE_CUT] = "CUT"};
    static struct golden golden;
    static const struct {
        enum stage after;
        enum pipeline_phase phase;
        bool fails;
        enum row_table without;
        enum clause_id clause;
    } cases[] = {
        {NOTHING, PHASE_MARK, false, TABLE_PAST, CLAUSE_CUT_5},
        {NOTHING, PHASE_MARK, false, TABLE_SWEEP_LOG, CLAUSE_CUT_5},
        {NOTHING, PHASE_MARK, false, TABLE_ENTRY, CLAUSE_CUT_25},
        {MARKED, PHASE_REVIEW, false, TABLE_ENVELOPE, CLAUSE_CUT_6},
        {MARKED, PHASE_REVIEW, false, TABLE_UNIT_BLOCK, CLAUSE_CUT_6},
        {MARKED, PHASE_REVIEW, false, TABLE_REVIEW, CLAUSE_CUT_6},
        {MARKED, PHASE_REVIEW, false, TABLE_PAST, CLAUSE_CUT_6},
        {MARKED, PHASE_REVIEW, false, TABLE_COUNT, CLAUSE_CUT_6},
        {REVIEWED, PHASE_CUT, false, TABLE_SIGNATURE, CLAUSE_CUT_9},
        {REVIEWED, PHASE_CUT, false, TABLE_CHANGE_SET, CLAUSE_CUT_1},
        {REVIEWED, PHASE_CUT, false, TABLE_AFFECTED_ROW, CLAUSE_CUT_23},
        {REVIEWED, PHASE_CUT, false, TABLE_PAST, CLAUSE_CUT_9},
        {REVIEWED, PHASE_CUT, false, TABLE_COUNT, CLAUSE_CUT_9},
        {CUT, PHASE_VERIFY, false, TABLE_SIGNATURE, CLAUSE_CUT_26},
        {CUT, PHASE_VERIFY, false, TABLE_VERIFY, CLAUSE_CUT_1},
        {CUT, PHASE_VERIFY, false, TABLE_PAST, CLAUSE_CUT_10},
        {CUT, PHASE_VERIFY, false, TABLE_COUNT, CLAUSE_CUT_10},
        {CUT, PHASE_VERIFY, true, TABLE_CHANGE_SET, CLAUSE_CUT_10},
        {CUT, PHASE_VERIFY, true, TABLE_VERIFY, CLAUSE_CUT_10},
        {CUT, PHASE_VERIFY, true, TABLE_AFFECTED_ROW, CLAUSE_CUT_23},
        {CUT, PHASE_VERIFY, true, TABLE_ENTRY, CLAUSE_CUT_29},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        reach(cases[i].after);
        without = cases[i].without;
        without_move = without == TABLE_COUNT;
        switch ((int)cases[i].phase) {
        case PHASE_MARK:
            mark(100, 0);
            break;
        case PHASE_REVIEW:
            review(100, 1, DECISION_APPROVE, 0);
            break;
        case PHASE_CUT:
            cut(100, 1);
            break;
        default:
            verify(100, 1, cases[i].fails ? VERIFIED_FAIL : VERIFIED_PASS, 0);
        }
        without_move = false;
        struct oracle_verdict verdict = tell();
        cr_expect_eq(verdict.clause, cases[i].clause, "case %zu: %s", i, verdict.why);
        golden_add(&golden, "%s without %s\n",
                   cases[i].phase < PHASE_VERIFY ? phases[cases[i].phase]
                   : cases[i].fails              ? "a VERIFY that fails"
                                                 : "VERIFY",
                   cases[i].without == TABLE_COUNT ? "its move"
                                                   : table_get(cases[i].without)->name);
        golden_verdict(&golden, verdict);
    }
    golden_compare(&golden, "phases_without_a_part.txt");
}

/* ---- phases apart, and together -------------------------------------------------------------- */

Test(oracle_pipeline, two_phases_in_one_transaction_are_reported)
{
    PROVES(CLAUSE_CUT_2);
    mark(100, 0);
    mark(200, 0);
    expect_told(CLAUSE_CUT_2, "two MARKs", "a transaction spans two phases");
}

Test(oracle_pipeline, a_status_that_moves_apart_from_any_phase_is_reported)
{
    PROVES(CLAUSE_CUT_1);
    reach(MARKED);
    past(1, 100, STATUS_REJECTED);
    expect_told(CLAUSE_CUT_1, "status and history, and no decision",
                "a commit holds part of a phase");
}

Test(oracle_pipeline, rows_that_come_apart_from_their_phase_are_reported)
{
    reach(REVIEWED);
    PUT(UNIT_BLOCK, 1, 100 + ENVELOPE_OF + 1, 2, 2);
    expect_told(CLAUSE_CUT_6, "a unit block", "a unit block came apart from its envelope");
    PUT(DEPENDENCY, 1, 100, 100);
    expect_told(CLAUSE_CUT_5, "a dependency", "a dependency came apart from its entry");
    PUT(ENVELOPE, 1, 100, 1);
    expect_told(CLAUSE_CUT_23, "an envelope", "an envelope has no unit block");
    PUT(AFFECTED_ROW, 1, 100 + SET_OF, 2, 2);
    expect_told(CLAUSE_CUT_9, "an affected row", "an affected row came apart from its change set");
    PUT(SIGNATURE, 1, 100, LANE_EXECUTOR, PRINCIPAL_EXEC, 0);
    expect_told(CLAUSE_CUT_1, "a signature", "a signature came apart from what it signs");
    PUT(SWEEP_LOG, 1, 100, PHASE_MARK, SWEEP_MARKED);
    expect_told(CLAUSE_CUT_19, "a sweep row", "a sweep row outlived the MARK it is part of");
}

/* NULL is 0; two of one name are one too many. */
Test(oracle_pipeline, units_and_affected_rows_have_names_of_their_own)
{
    PROVES(CLAUSE_CUT_6, CLAUSE_CUT_9);
    static const struct {
        int64_t name;
        bool twice;
        bool fine;
    } cases[] = {{1, false, true}, {2, false, true}, {0, false, false}, {1, true, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        reach(MARKED);
        review(100, 1, DECISION_APPROVE, 0);
        set(TABLE_UNIT_BLOCK, 100 + UNIT_OF + 1, UNIT_BLOCK_LOCAL, cases[i].name);
        hand.count -= cases[i].name != 1; /* it came so */
        if (cases[i].twice) {
            PUT(UNIT_BLOCK, 1, 100 + ENVELOPE_OF + 1, 1, 2);
        }
        if (cases[i].fine) {
            expect(FINE, "a unit block");
        } else {
            expect_told(CLAUSE_CUT_6, "a unit block",
                        "a unit block has no name of its own within its envelope");
        }
        begin();
        reach(REVIEWED);
        cut(100, 1);
        set(TABLE_AFFECTED_ROW, 100 + ROW_OF + 1, AFFECTED_ROW_ROW, cases[i].name);
        hand.count -= cases[i].name != 1; /* it came so */
        if (cases[i].twice) {
            PUT(AFFECTED_ROW, 1, 100 + SET_OF + 1, 1, 2);
        }
        if (cases[i].fine) {
            expect(FINE, "an affected row");
        } else {
            expect_told(CLAUSE_CUT_9, "an affected row",
                        "an affected row has no name of its own within its change set");
        }
    }
}

Test(oracle_pipeline, a_transaction_that_did_not_commit_leaves_nothing)
{
    PROVES(CLAUSE_CUT_19);
    SETTLES(ERRATUM_CUT_5);
    cr_expect_not(oracle_rollback(&oracle, hand.changes, 0).broken);
    PUT(SWEEP_LOG, 100, 100, PHASE_MARK, SWEEP_MARKED);
    cr_expect_eq(oracle_rollback(&oracle, hand.changes, hand.count).clause, CLAUSE_CUT_19);
    cr_expect_eq(oracle.spoke, ORACLE_PHASE);
}

/* ---- MARK ------------------------------------------------------------------------------------ */

Test(oracle_pipeline, a_key_has_one_entry_and_an_entry_one_sweep_row)
{
    PROVES(CLAUSE_CUT_5, CLAUSE_CUT_23);
    SETTLES(ERRATUM_CUT_2);
    reach(MARKED);
    mark(200, 0);
    set(TABLE_ENTRY, 200, ENTRY_KEY, 101);
    hand.count--; /* it came so */
    expect_told(CLAUSE_CUT_5, "a second entry of the same key",
                "an idempotency key has two entries");
    mark(300, 0);
    PUT(SWEEP_LOG, 301, 300, PHASE_MARK, SWEEP_MARKED);
    expect_told(CLAUSE_CUT_5, "two sweep rows in one commit",
                "an entry came without its sweep row");
}

Test(oracle_pipeline, a_second_sweep_row_of_an_entry_is_reported)
{
    reach(MARKED);
    oracle.off[CLAUSE_CUT_5] = true;
    mark(300, 0);
    PUT(SWEEP_LOG, 301, 300, PHASE_MARK, SWEEP_MARKED);
    expect_told(CLAUSE_CUT_23, "two sweep rows", "an entry has more than one sweep row");
}

Test(oracle_pipeline, an_entry_may_not_need_what_is_not_there)
{
    mark(100, 99);
    expect_told(CLAUSE_CUT_5, "needs 99", "an entry depends on one that is not there");
}

/* ---- REVIEW ---------------------------------------------------------------------------------- */

Test(oracle_pipeline, a_decision_that_succeeds_none_supersedes_none)
{
    PROVES(CLAUSE_CUT_7);
    reach(REVIEWED);
    only(CLAUSE_CUT_7); /* the two did not see each other either (CUT-16) */
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    set(TABLE_REVIEW, 100 + REVIEW_OF + 2, REVIEW_PRIOR, 0);
    expect_told(CLAUSE_CUT_7, "a stamp by one that succeeds none",
                "a decision was superseded by one that is not its successor");
}

Test(oracle_pipeline, a_decision_is_superseded_once_and_by_its_successor)
{
    PROVES(CLAUSE_CUT_7);
    SETTLES(ERRATUM_CUT_9);
    reach(REVIEWED);
    without = TABLE_COUNT;
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    set(TABLE_REVIEW, 100 + REVIEW_OF + 1, REVIEW_BY, 0);
    expect_told(CLAUSE_CUT_7, "a re-review without a stamp",
                "a re-review did not supersede the decision before it");
    set(TABLE_REVIEW, 100 + REVIEW_OF + 1, REVIEW_BY, 100 + REVIEW_OF + 2);
    expect_told(CLAUSE_CUT_7, "a stamp by a decision of another commit",
                "a decision was superseded by one that is not its successor");
    review(100, 3, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect_told(CLAUSE_CUT_7, "a second stamp", "a decision was superseded a second time");
    review(100, 4, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    *hand_cell(&hand, TABLE_REVIEW, 100 + REVIEW_OF + 1, REVIEW_BY) = 100 + REVIEW_OF + 3;
    expect_told(CLAUSE_CUT_7, "a second successor that does not stamp it",
                "a decision was superseded a second time");
}

Test(oracle_pipeline, a_decision_binds_a_manifest_of_its_own_entry)
{
    PROVES(CLAUSE_CUT_6);
    reach(MARKED);
    review(100, 1, DECISION_APPROVE, 0);
    *hand_cell(&hand, TABLE_ENVELOPE, 100 + ENVELOPE_OF + 1, ENVELOPE_SCOPE) = 200;
    expect_told(CLAUSE_CUT_6, "of entry 200", "a decision refers to a manifest of another entry");
}

Test(oracle_pipeline, a_stamp_that_is_written_over_is_reported)
{
    reach(REVIEWED);
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect(FINE, "re-review");
    review(100, 3, DECISION_APPROVE, 100 + REVIEW_OF + 2);
    set(TABLE_REVIEW, 100 + REVIEW_OF + 1, REVIEW_BY, 100 + REVIEW_OF + 3);
    expect_told(CLAUSE_CUT_7, "the first decision's stamp, too",
                "a decision was superseded a second time");
}

Test(oracle_pipeline, reviews_that_did_not_see_each_other_are_reported)
{
    PROVES(CLAUSE_CUT_16);
    reach(REVIEWED);
    review(100, 2, DECISION_APPROVE, 0);
    expect_told(CLAUSE_CUT_16, "a second first review",
                "two reviews of an entry did not see each other");
}

/* ---- CUT ------------------------------------------------------------------------------------- */

Test(oracle_pipeline, a_cut_needs_an_approval_that_stands)
{
    PROVES(CLAUSE_CUT_8);
    reach(MARKED);
    review(100, 1, DECISION_REJECT, 0);
    expect(FINE, "reject");
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect(FINE, "approve");
    cut(100, 1);
    expect_told(CLAUSE_CUT_8, "a CUT of the rejection",
                "an entry was cut that no decision approves");
}

Test(oracle_pipeline, a_cut_on_a_superseded_decision_is_reported)
{
    PROVES(CLAUSE_CUT_8);
    SETTLES(ERRATUM_CUT_11);
    reach(REVIEWED);
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect(FINE, "re-review");
    cut(100, 1);
    expect_told(CLAUSE_CUT_8, "a CUT of the first decision",
                "an entry was cut on a decision that is superseded");
}

Test(oracle_pipeline, a_cut_waits_for_what_the_entry_needs)
{
    PROVES(CLAUSE_CUT_8);
    reach(CUT);
    mark(200, 100);
    expect(FINE, "MARK");
    review(200, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(200, 1);
    expect_told(CLAUSE_CUT_8, "100 is not verified",
                "an entry was cut before all that it depends on was verified complete");
}

Test(oracle_pipeline, a_decision_has_one_live_change_set)
{
    PROVES(CLAUSE_CUT_8);
    SETTLES(ERRATUM_CUT_6);
    reach(CUT);
    PUT(SIGNATURE, 1, 100, LANE_EXECUTOR, PRINCIPAL_EXEC, 100 + SIGNED + 1);
    PUT(CHANGE_SET, 1, 100, 100 + REVIEW_OF + 1, 1);
    PUT(AFFECTED_ROW, 1, 1, 1, 1);
    PUT(PAST, 1, 100, STATUS_CUT, STATUS_CUT);
    expect_told(CLAUSE_CUT_8, "a second one", "an entry has two live change sets of one decision");
}

Test(oracle_pipeline, a_change_set_has_no_verifier_and_is_signed_in_the_executors_lane)
{
    PROVES(CLAUSE_CUT_9, CLAUSE_CUT_26);
    reach(REVIEWED);
    cut(100, 1);
    set(TABLE_CHANGE_SET, 100 + SET_OF + 1, CHANGE_SET_VERIFIER, 1);
    hand.count--;
    expect_told(CLAUSE_CUT_9, "a verifier's signature",
                "a change set came with a verifier's signature");
}

Test(oracle_pipeline, a_change_set_that_the_verifier_signed_is_reported)
{
    PROVES(CLAUSE_CUT_26);
    reach(REVIEWED);
    cut(100, 1);
    set(TABLE_SIGNATURE, 100 + SIGNED + 1, SIGNATURE_LANE, LANE_VERIFIER);
    hand.count--;
    expect_told(CLAUSE_CUT_26, "lane DOT-992", "a change set is not signed in the executor's lane");
}

/* ---- VERIFY ---------------------------------------------------------------------------------- */

Test(oracle_pipeline, the_verifier_is_never_the_executor)
{
    PROVES(CLAUSE_CUT_11);
    reach(CUT);
    verify(100, 1, VERIFIED_PASS, 0);
    set(TABLE_SIGNATURE, 100 + SIGNED + 6, SIGNATURE_PRINCIPAL, PRINCIPAL_EXEC);
    hand.count--;
    expect_told(CLAUSE_CUT_11, "the same principal", "the verifier is the executor");
}

Test(oracle_pipeline, a_right_that_was_missing_is_reported)
{
    PROVES(CLAUSE_CUT_11);
    reach(CUT);
    PUT(SWEEP_LOG, 1, 100, PHASE_CUT, SWEEP_UNCLASSIFIED);
    expect(FINE, "other stops");
    PUT(SWEEP_LOG, 2, 100, PHASE_VERIFY, SWEEP_FORBIDDEN);
    expect_told(CLAUSE_CUT_11, "42501",
                "a phase was sent by a principal that may not do it (42501)");
}

Test(oracle_pipeline, a_lane_is_one_principals)
{
    PROVES(CLAUSE_CUT_11);
    reach(REVIEWED);
    cut(100, 1);
    set(TABLE_SIGNATURE, 100 + SIGNED + 1, SIGNATURE_PRINCIPAL, PRINCIPAL_VERIFY);
    hand.count--;
    expect_told(CLAUSE_CUT_11, "the verifier in the executor's lane",
                "a signature is another principal's than its lane's");
}

Test(oracle_pipeline, a_verify_result_names_the_signature_of_its_change_set)
{
    PROVES(CLAUSE_CUT_26);
    reach(CUT);
    verify(100, 1, VERIFIED_PASS, 0);
    set(TABLE_VERIFY, 100 + VERIFY_OF + 1, VERIFY_EXECUTOR, 100 + SIGNED + 6);
    hand.count--;
    expect_told(CLAUSE_CUT_26, "its own",
                "a verify result names another signature than its change set's");
}

Test(oracle_pipeline, what_is_verified_is_a_change_set_that_the_executor_signed)
{
    PROVES(CLAUSE_CUT_28);
    SETTLES(ERRATUM_CUT_4);
    reach(CUT);
    verify(100, 1, VERIFIED_FAIL, 0);
    expect(FINE, "fail");
    PUT(SIGNATURE, 1, 100, LANE_VERIFIER, PRINCIPAL_VERIFY, 100 + SIGNED + 6);
    PUT(VERIFY, 1, 100 + UNDO_OF + 1, 100 + SIGNED + 6, 1, VERIFIED_PASS, 0, 0);
    expect_told(CLAUSE_CUT_28, "the compensating set",
                "what was verified is no change set that the executor signed");
    PUT(VERIFY, 2, 4711, 1, 1, VERIFIED_PASS, 0, 0);
    expect_told(CLAUSE_CUT_28, "no set at all",
                "what was verified is no change set that the executor signed");
}

Test(oracle_pipeline, workers_side_by_side_verify_once)
{
    PROVES(CLAUSE_CUT_16);
    SETTLES(ERRATUM_CUT_3, ERRATUM_CUT_19);
    reach(VERIFIED);
    verify(100, 2, VERIFIED_PASS, 0);
    expect_told(CLAUSE_CUT_16, "a second result after none",
                "two workers verified a change set side by side");
}

/* That guards hold for more workers than connections is said only where those ran out. */
Test(oracle_pipeline, workers_who_wait_for_connections_are_judged_where_those_ran_out)
{
    PROVES(CLAUSE_CUT_18);
    SETTLES(ERRATUM_CUT_15);
    oracle.connected[PRINCIPAL_EXEC] = 1;
    reach(CUT);
    cr_expect_eq(oracle.evaluated[CLAUSE_CUT_18], 0U, "one of two");
    oracle.connected[PRINCIPAL_EXEC] = 2;
    verify(100, 1, VERIFIED_PASS, 0);
    expect(FINE, "VERIFY");
    cr_expect_eq(oracle.evaluated[CLAUSE_CUT_18], 1U, "two of two");
    verify(100, 2, VERIFIED_PASS, 0);
    expect_told(CLAUSE_CUT_18, "a second result after none",
                "two workers verified a change set side by side");
}

Test(oracle_pipeline, a_principal_with_a_connection_too_many_is_noticed)
{
    PROVES(CLAUSE_CUT_18);
    reach(CUT);
    oracle.connected[PRINCIPAL_VERIFY] = 3;
    verify(100, 1, VERIFIED_PASS, 0);
    expect_told(CLAUSE_CUT_18, "three of two", "a principal had more connections than it may have");
}

static void request(int64_t id, int64_t phase, int64_t entry, int64_t row)
{
    put(TABLE_MESSAGE, id,
        (const int64_t[MESSAGE_COLUMNS]){
            [MESSAGE_KIND] = phase, [MESSAGE_ACTIVITY] = entry, [MESSAGE_GUID] = row});
    expect(FINE, "asked for");
}

/* That phases of an entry are serialised is put to the test only where two are under way. */
Test(oracle_pipeline, phases_are_serialised_where_another_is_asked_for)
{
    PROVES(CLAUSE_CUT_16);
    reach(MARKED);
    request(1, PHASE_REVIEW, 100, 100 + REVIEW_OF + 1);
    review(100, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cr_expect_eq(oracle.evaluated[CLAUSE_CUT_16], 0U, "nobody else asks for anything");
    request(2, PHASE_CUT, 100, 100 + SET_OF + 1);
    cut(100, 1);
    expect(FINE, "CUT");
    cr_expect_eq(oracle.evaluated[CLAUSE_CUT_16], 1U);
}

Test(oracle_pipeline, signatures_of_a_lane_are_a_chain)
{
    PROVES(CLAUSE_CUT_16);
    SETTLES(ERRATUM_CUT_19);
    reach(VERIFIED);
    verify(100, 2, VERIFIED_PASS, 100 + VERIFY_OF + 1);
    set(TABLE_SIGNATURE, 100 + SIGNED + 7, SIGNATURE_PRIOR, 0);
    hand.count--;
    expect_told(CLAUSE_CUT_16, "two without a prior",
                "two phases of an entry signed without seeing each other");
}

/* References that are no foreign keys of the schema (E-CUT-1). */
Test(oracle_pipeline, what_comes_after_another_names_one_of_its_own_kind)
{
    PROVES(CLAUSE_CUT_10, CLAUSE_CUT_26);
    SETTLES(ERRATUM_CUT_1, ERRATUM_CUT_19);
    reach(VERIFIED);
    verify(100, 2, VERIFIED_PASS, 4711);
    expect_told(CLAUSE_CUT_10, "a result that is nowhere",
                "the verify result before this one is none of its change set");
    verify(100, 3, VERIFIED_PASS, 100 + VERIFY_OF + 2);
    set(TABLE_SIGNATURE, 100 + SIGNED + 8, SIGNATURE_PRIOR, 100 + SIGNED + 1);
    hand.count--;
    expect_told(CLAUSE_CUT_26, "a signature of the other lane",
                "the signature before this one is none of its entry and lane");
}

Test(oracle_pipeline, a_verify_result_has_a_signature_of_its_own)
{
    PROVES(CLAUSE_CUT_10);
    reach(VERIFIED);
    PUT(VERIFY, 1, 100 + SET_OF + 1, 100 + SIGNED + 1, 100 + SIGNED + 6, VERIFIED_PASS,
        100 + VERIFY_OF + 1, 0);
    PUT(PAST, 1, 100, STATUS_COMPLETE, STATUS_COMPLETE);
    expect_told(CLAUSE_CUT_10, "the one before it",
                "a verify result came without its verifier's signature");
}

Test(oracle_pipeline, what_passed_is_not_undone)
{
    PROVES(CLAUSE_CUT_10);
    reach(CUT);
    verify(100, 1, VERIFIED_FAIL, 0);
    set(TABLE_VERIFY, 100 + VERIFY_OF + 1, VERIFY_OUTCOME, VERIFIED_PASS);
    set(TABLE_ENTRY, 100, ENTRY_STATUS, STATUS_COMPLETE);
    set(TABLE_PAST, 100 + VERIFY_OF + 1 + PAST_OF, PAST_TO, STATUS_COMPLETE);
    hand.count -= 3;
    expect_told(CLAUSE_CUT_10, "pass, with a compensating set",
                "a compensating change set came without its failing verify result");
}

Test(oracle_pipeline, a_result_that_passed_names_no_compensating_set)
{
    PROVES(CLAUSE_CUT_10);
    reach(CUT);
    verify(100, 1, VERIFIED_PASS, 0);
    *hand_cell(&hand, TABLE_VERIFY, 100 + VERIFY_OF + 1, VERIFY_ROLLBACK) = 100 + SET_OF + 1;
    expect_told(CLAUSE_CUT_10, "one that is there already", "a change set that passed was undone");
}

Test(oracle_pipeline, a_change_set_is_undone_once)
{
    PROVES(CLAUSE_CUT_10);
    reach(VERIFIED);
    verify(100, 2, VERIFIED_FAIL, 100 + VERIFY_OF + 1);
    expect(FINE, "fail");
    verify(100, 3, VERIFIED_FAIL, 100 + VERIFY_OF + 2);
    expect_told(CLAUSE_CUT_10, "again", "a change set was undone twice");
}

Test(oracle_pipeline, a_failure_raises_one_escalation_that_is_marked_and_about_it)
{
    PROVES(CLAUSE_CUT_29);
    SETTLES(ERRATUM_CUT_20);
    reach(CUT);
    PUT(ENTRY, 1, ENTRY_ESCALATION, STATUS_MARKED, 1, 1, 4711);
    PUT(PAST, 1, 1, STATUS_NONE, STATUS_MARKED);
    expect_told(CLAUSE_CUT_29, "an escalation about nothing",
                "an escalation is about no failing verify result");
    verify(100, 1, VERIFIED_FAIL, 0);
    set(TABLE_ENTRY, 100 + RAISED_OF + 1, ENTRY_STATUS, STATUS_APPROVED);
    hand.count--;
    expect_told(CLAUSE_CUT_29, "one that is not marked",
                "an escalation is not marked, or has no history of its own");
}

Test(oracle_pipeline, a_failure_raises_no_second_escalation)
{
    PROVES(CLAUSE_CUT_29);
    reach(CUT);
    verify(100, 1, VERIFIED_FAIL, 0);
    PUT(ENTRY, 1, ENTRY_ESCALATION, STATUS_MARKED, 1, 1, 100 + VERIFY_OF + 1);
    PUT(PAST, 1, 1, STATUS_NONE, STATUS_MARKED);
    expect_told(CLAUSE_CUT_29, "a second one",
                "a failing verify result came without exactly one escalation");
}

/* ---- the trail ------------------------------------------------------------------------------- */

Test(oracle_pipeline, nobody_works_on_an_escalation)
{
    PROVES(CLAUSE_CUT_29);
    SETTLES(ERRATUM_CUT_20);
    reach(CUT);
    verify(100, 1, VERIFIED_FAIL, 0);
    expect(FINE, "VERIFY");
    past(1, 100 + RAISED_OF + 1, STATUS_APPROVED);
    expect_told(CLAUSE_CUT_29, "as if it had been reviewed",
                "an escalation was worked on, which is for people");
}

Test(oracle_pipeline, a_status_follows_the_graph)
{
    PROVES(CLAUSE_CUT_15);
    SETTLES(ERRATUM_CUT_20);
    reach(CUT);
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect_told(CLAUSE_CUT_15, "a review after the CUT",
                "a status was set that does not follow the one before it");
}

Test(oracle_pipeline, an_entry_leaves_verified_complete_by_a_failing_reverify_alone)
{
    PROVES(CLAUSE_CUT_27);
    SETTLES(ERRATUM_CUT_12);
    reach(VERIFIED);
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect_told(CLAUSE_CUT_27, "a review of a complete entry",
                "an entry left verified_complete without a failing re-verify");
    begin();
    reach(VERIFIED);
    past(1, 100, STATUS_ESCALATED);
    expect_told(CLAUSE_CUT_27, "escalated for nothing",
                "an entry left verified_complete without a failing re-verify");
    begin();
    reach(VERIFIED);
    verify(100, 2, VERIFIED_FAIL, 100 + VERIFY_OF + 1);
    *hand_cell(&hand, TABLE_ENTRY, 100, ENTRY_STATUS) = STATUS_CUT;
    expect_told(CLAUSE_CUT_27, "it failed, and is to be verified again",
                "an entry left verified_complete without a failing re-verify");
}

Test(oracle_pipeline, history_is_a_chain_with_one_row_a_move)
{
    PROVES(CLAUSE_CUT_25);
    reach(MARKED);
    review(100, 1, DECISION_APPROVE, 0);
    set(TABLE_PAST, 100 + REVIEW_OF + 1 + PAST_OF, PAST_FROM, STATUS_NONE);
    hand.count--;
    expect_told(CLAUSE_CUT_25, "from nothing",
                "a row of history tells of a move that was not made");
    cut(100, 1);
    PUT(PAST, 1, 100, STATUS_APPROVED, STATUS_CUT);
    oracle.off[CLAUSE_CUT_9] = true;
    expect_told(CLAUSE_CUT_25, "two rows", "a status moved without exactly one row of history");
}

/* A review, whose history or status is written otherwise. */
Test(oracle_pipeline, a_row_of_history_tells_of_the_very_move)
{
    PROVES(CLAUSE_CUT_25);
    static const char untrue[] = "a row of history tells of a move that was not made";
    static const struct {
        int64_t decided, from, to, status; /* before, then as the history and the entry have it */
        const char *why;
    } cases[] = {
        {0, STATUS_MARKED, STATUS_APPROVED, STATUS_APPROVED, ""},
        {0, STATUS_REJECTED, STATUS_APPROVED, STATUS_APPROVED, untrue},
        {DECISION_REJECT, STATUS_MARKED, STATUS_APPROVED, STATUS_APPROVED, untrue},
        {0, STATUS_MARKED, STATUS_REJECTED, STATUS_APPROVED, untrue},
        {0, STATUS_MARKED, STATUS_APPROVED, STATUS_REJECTED, untrue},
        {0, STATUS_MARKED, STATUS_CUT, STATUS_CUT, untrue},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int n = cases[i].decided == 0 ? 1 : 2;
        begin();
        reach(MARKED);
        if (cases[i].decided != 0) {
            review(100, 1, cases[i].decided, 0);
            expect(FINE, "REVIEW");
        }
        only(CLAUSE_CUT_25);
        review(100, n, DECISION_APPROVE, n == 1 ? 0 : 100 + REVIEW_OF + 1);
        *hand_cell(&hand, TABLE_PAST, 100 + REVIEW_OF + n + PAST_OF, PAST_FROM) = cases[i].from;
        *hand_cell(&hand, TABLE_PAST, 100 + REVIEW_OF + n + PAST_OF, PAST_TO) = cases[i].to;
        *hand_cell(&hand, TABLE_ENTRY, 100, ENTRY_STATUS) = cases[i].status;
        cr_expect_str_eq(tell().why, cases[i].why, "case %zu", i);
    }
    begin(); /* no row at all */
    reach(MARKED);
    only(CLAUSE_CUT_25);
    without = TABLE_PAST;
    review(100, 1, DECISION_APPROVE, 0);
    cr_expect_str_eq(tell().why, "a status moved without exactly one row of history");
    begin(); /* two of a status that stays as it is */
    reach(REVIEWED);
    only(CLAUSE_CUT_25);
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    PUT(PAST, 1, 100, STATUS_APPROVED, STATUS_APPROVED);
    cr_expect_str_eq(tell().why, untrue);
}

Test(oracle_pipeline, retries_are_bounded_and_seen)
{
    PROVES(CLAUSE_CUT_12);
    reach(NOTHING);
    mark(100, 0);
    set(TABLE_PAST, 100 + PAST_OF, PAST_RETRIES, 3);
    hand.count--;
    expect(FINE, "three");
    cr_expect_eq(oracle.seen[COVER_RETRIED], 1U);
    mark(200, 0);
    set(TABLE_PAST, 200 + PAST_OF, PAST_RETRIES, 4);
    hand.count--;
    expect_told(CLAUSE_CUT_12, "four", "a phase was retried without bound");
}

Test(oracle_pipeline, everything_but_two_columns_is_insert_only)
{
    PROVES(CLAUSE_CUT_24);
    reach(CUT);
    set(TABLE_CHANGE_SET, 100 + SET_OF + 1, CHANGE_SET_VERIFIER, 1);
    expect_told(CLAUSE_CUT_24, "verifier_signature_id", "a column was written that is insert-only");
    set(TABLE_ENTRY, 100, ENTRY_PAYLOAD, 1);
    expect_told(CLAUSE_CUT_24, "the payload", "a column was written that is insert-only");
    set(TABLE_REVIEW, 100 + REVIEW_OF + 1, REVIEW_DECISION, DECISION_REJECT);
    expect_told(CLAUSE_CUT_24, "the decision", "a column was written that is insert-only");
}

Test(oracle_pipeline, nothing_is_deleted)
{
    PROVES(CLAUSE_CUT_21);
    reach(CUT);
    drop(TABLE_AFFECTED_ROW, 100 + ROW_OF + 1);
    expect_told(CLAUSE_CUT_21, "an affected row", "a row was deleted");
    verify(100, 1, VERIFIED_FAIL, 0);
    expect_told(CLAUSE_CUT_21, "and then the set is undone",
                "the change set that was undone is gone");
}

/* ---- requests -------------------------------------------------------------------------------- */

static void ack(int64_t id, int64_t phase, int64_t entry, int64_t row, int64_t source)
{
    put(TABLE_MESSAGE, id,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = phase,
                                         [MESSAGE_ACTIVITY] = entry,
                                         [MESSAGE_GUID] = row,
                                         [MESSAGE_SOURCE] = source});
    expect(FINE, "asked for");
    drop(TABLE_MESSAGE, id);
}

Test(oracle_pipeline, a_request_that_is_answered_with_what_is_there_is_seen)
{
    PROVES(CLAUSE_CUT_13);
    reach(VERIFIED);
    for (int time = 0; time < 3; time++) {
        ack(1 + time, PHASE_MARK, 100, 100, 102);
        expect(FINE, "MARK");
        ack(11 + time, PHASE_REVIEW, 100, 100 + REVIEW_OF + 1, 0);
        expect(FINE, "REVIEW");
        ack(21 + time, PHASE_CUT, 100, 100 + SET_OF + 1, 0);
        expect(FINE, "CUT");
        ack(31 + time, PHASE_VERIFY, 100, 100 + VERIFY_OF + 1, 0);
        expect(FINE, "VERIFY");
        ack(41 + time, PHASE_CUT, 100, 4711, 0);
        expect(FINE, "a CUT that was stopped");
    }
    cr_expect_eq(oracle.seen[COVER_MARK_AGAIN], 2U);
    cr_expect_eq(oracle.seen[COVER_CUT_AGAIN], 2U);
    cr_expect_eq(oracle.seen[COVER_VERIFY_AGAIN], 2U);
}

Test(oracle_pipeline, a_request_that_nothing_answers_is_told_to_people)
{
    PROVES(CLAUSE_CUT_14);
    SETTLES(ERRATUM_CUT_2);
    reach(MARKED);
    ack(1, PHASE_MARK, 100, 100, 4711);
    expect_told(CLAUSE_CUT_14, "another payload",
                "a request that no entry answers was dropped without a word to people");
    ack(4, PHASE_MARK, 100, 100, 1);
    expect_told(CLAUSE_CUT_14, "another payload, the other way round",
                "a request that no entry answers was dropped without a word to people");
    ack(2, PHASE_MARK, 200, 200, 1);
    PUT(SWEEP_LOG, 2, 200, PHASE_MARK, SWEEP_NO_PARENT, 2);
    expect(FINE, "23503");
    ack(3, PHASE_MARK, 300, 300, 1);
    PUT(SWEEP_LOG, 3, 300, PHASE_MARK, SWEEP_NO_PARENT, 2);
    expect_told(CLAUSE_CUT_14, "another request's",
                "a request that no entry answers was dropped without a word to people");
    cr_expect_eq(oracle.seen[COVER_HUMAN_PARENT], 2U);
}

/* Asked for after another: a prior decision or result. */
static void ack_after(int64_t id, int64_t phase, int64_t row, int64_t source, int64_t prior)
{
    put(TABLE_MESSAGE, id,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = phase,
                                         [MESSAGE_ACTIVITY] = 100,
                                         [MESSAGE_GUID] = row,
                                         [MESSAGE_SOURCE] = source,
                                         [MESSAGE_SPAWNED_BY] = prior});
    expect(FINE, "asked for");
    drop(TABLE_MESSAGE, id);
}

Test(oracle_pipeline, a_review_that_could_be_made_is_not_dropped)
{
    PROVES(CLAUSE_CUT_2);
    reach(MARKED);
    ack_after(1, PHASE_REVIEW, 100 + REVIEW_OF + 1, 0, 0);
    expect_told(
        CLAUSE_CUT_2, "the first",
        "a request was acked whose phase could go on from what is stored, and nobody did it");
    review(100, 1, DECISION_REJECT, 0);
    expect(FINE, "REVIEW");
    ack_after(2, PHASE_REVIEW, 100 + REVIEW_OF + 2, 0, 100 + REVIEW_OF + 1);
    expect_told(
        CLAUSE_CUT_2, "a re-review",
        "a request was acked whose phase could go on from what is stored, and nobody did it");
    ack_after(3, PHASE_REVIEW, 100 + REVIEW_OF + 2, 0, 100 + REVIEW_OF + 1);
    PUT(SWEEP_LOG, 3, 100, PHASE_REVIEW, SWEEP_UNCLASSIFIED, 3);
    expect(FINE, "people were told");
}

Test(oracle_pipeline, a_rereview_of_an_approval_and_a_first_verify_are_not_dropped)
{
    PROVES(CLAUSE_CUT_2);
    static const char dropped[] =
        "a request was acked whose phase could go on from what is stored, and nobody did it";
    reach(REVIEWED);
    ack_after(1, PHASE_REVIEW, 100 + REVIEW_OF + 2, 0, 100 + REVIEW_OF + 1);
    expect_told(CLAUSE_CUT_2, "a re-review", dropped);
    begin();
    reach(CUT);
    ack_after(1, PHASE_VERIFY, 100 + VERIFY_OF + 1, 100 + SET_OF + 1, 0);
    expect_told(CLAUSE_CUT_2, "a first verify", dropped);
}

/* The review that people have would have asked for the CUT anew. */
Test(oracle_pipeline, a_cut_that_could_be_made_is_not_dropped_unless_people_have_its_review)
{
    PROVES(CLAUSE_CUT_2);
    reach(REVIEWED);
    ack_after(1, PHASE_CUT, 100 + SET_OF + 1, 100 + REVIEW_OF + 1, 0);
    expect_told(
        CLAUSE_CUT_2, "the CUT",
        "a request was acked whose phase could go on from what is stored, and nobody did it");
    PUT(SWEEP_LOG, 90, 100, PHASE_REVIEW, SWEEP_GIVEN_UP, 91);
    hand.count = 0;
    ack_after(2, PHASE_CUT, 100 + SET_OF + 1, 100 + REVIEW_OF + 1, 0);
    expect(FINE, "people have the review");
}

Test(oracle_pipeline, a_review_that_came_too_late_is_stopped_rightly)
{
    reach(REVIEWED);
    review(100, 2, DECISION_APPROVE, 100 + REVIEW_OF + 1);
    expect(FINE, "the rival");
    ack_after(1, PHASE_REVIEW, 100 + REVIEW_OF + 3, 0, 100 + REVIEW_OF + 1);
    expect(FINE, "another superseded its prior");
    cut(100, 2);
    expect(FINE, "CUT");
    ack_after(2, PHASE_REVIEW, 100 + REVIEW_OF + 4, 0, 100 + REVIEW_OF + 2);
    expect(FINE, "the entry was cut on its prior");
}

Test(oracle_pipeline, a_verify_that_could_be_made_is_not_dropped)
{
    PROVES(CLAUSE_CUT_2);
    SETTLES(ERRATUM_CUT_12);
    reach(VERIFIED);
    ack_after(1, PHASE_VERIFY, 100 + VERIFY_OF + 2, 100 + SET_OF + 1, 100 + VERIFY_OF + 1);
    expect_told(
        CLAUSE_CUT_2, "a re-verify",
        "a request was acked whose phase could go on from what is stored, and nobody did it");
    verify(100, 2, VERIFIED_FAIL, 100 + VERIFY_OF + 1);
    expect(FINE, "it fails");
    ack_after(2, PHASE_VERIFY, 100 + VERIFY_OF + 3, 100 + SET_OF + 1, 100 + VERIFY_OF + 2);
    expect(FINE, "the set was undone");
}

Test(oracle_pipeline, a_cut_that_could_be_made_is_not_dropped_unless_it_is_asked_for_anew)
{
    PROVES(CLAUSE_CUT_2);
    reach(REVIEWED);
    ack_after(1, PHASE_CUT, 100 + SET_OF + 1, 100 + REVIEW_OF + 1, 0);
    expect_told(
        CLAUSE_CUT_2, "nobody else is asked",
        "a request was acked whose phase could go on from what is stored, and nobody did it");
    ack_after(2, PHASE_CUT, 4711, 4712, 0);
    expect(FINE, "there is no such decision");
    request(3, PHASE_REVIEW, 100, 100 + REVIEW_OF + 1);
    ack_after(4, PHASE_CUT, 100 + SET_OF + 1, 100 + REVIEW_OF + 1, 0);
    expect(FINE, "the decision asks for it when its request is acked");
}

Test(oracle_pipeline, a_cut_that_waits_for_a_blocker_is_stopped_rightly)
{
    reach(CUT);
    mark(200, 100);
    expect(FINE, "MARK");
    review(200, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    ack(1, PHASE_CUT, 200, 200 + SET_OF + 1, 200 + REVIEW_OF + 1);
    expect(FINE, "its blocker is not complete");
    request(2, PHASE_VERIFY, 100, 100 + VERIFY_OF + 1);
    verify(100, 1, VERIFIED_PASS, 0);
    expect(FINE, "VERIFY");
    ack(3, PHASE_CUT, 200, 200 + SET_OF + 1, 200 + REVIEW_OF + 1);
    expect(FINE, "who verified the blocker has not asked for it yet");
    drop(TABLE_MESSAGE, 2);
    expect(FINE, "nor does it");
    ack(4, PHASE_CUT, 200, 200 + SET_OF + 1, 200 + REVIEW_OF + 1);
    expect_told(
        CLAUSE_CUT_2, "and now nobody will",
        "a request was acked whose phase could go on from what is stored, and nobody did it");
}

/* ---- once all has settled -------------------------------------------------------------------- */

static enum clause_id settled(bool quiet)
{
    return monitors_pipeline.settled(&oracle, &hand.rows, quiet).clause;
}

Test(oracle_pipeline, what_could_go_on_does)
{
    PROVES(CLAUSE_CUT_2);
    cr_expect_eq(settled(true), FINE);
    cr_expect_eq(settled(false), CLAUSE_CUT_2, "requests are left");
    mark(100, 0);
    expect(FINE, "MARK");
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "marked");
    review(100, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "approved");
    cut(100, 1);
    expect(FINE, "CUT");
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "cut");
    verify(100, 1, VERIFIED_FAIL, 0);
    expect(FINE, "VERIFY");
    cr_expect_eq(settled(true), FINE, "escalated, and nobody works on the escalation");
}

Test(oracle_pipeline, who_waits_for_a_blocker_that_failed_waits_rightly)
{
    SETTLES(ERRATUM_CUT_20);
    reach(CUT);
    mark(200, 100);
    expect(FINE, "MARK");
    review(200, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    verify(100, 1, VERIFIED_FAIL, 0);
    expect(FINE, "VERIFY");
    cr_expect_eq(settled(true), FINE);
}

/* ---- phases that are out of tries, and the sweep ---------------------------------------------- */

/* A request for the CUT of an entry that was reviewed, claimed once. */
static void claim_cut(int64_t key)
{
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = PHASE_CUT,
                                         [MESSAGE_ACTIVITY] = 100,
                                         [MESSAGE_GUID] = 100 + SET_OF + 1,
                                         [MESSAGE_SOURCE] = 100 + REVIEW_OF + 1});
    expect(FINE, "asked for");
    set(TABLE_MESSAGE, key, MESSAGE_EPOCH, 1);
    expect(FINE, "claimed");
}

/* A row of the log about the request for the CUT. */
static void note(int64_t id, int64_t request, enum sweep_reason why)
{
    PUT(SWEEP_LOG, id, 100, PHASE_CUT, why, request);
}

Test(oracle_pipeline, a_phase_that_is_out_of_tries_stands_still_until_a_sweep_passes)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_16, ERRATUM_CUT_21);
    reach(REVIEWED);
    claim_cut(7);
    note(1, 7, SWEEP_EXHAUSTED);
    expect(FINE, "stopped");
    note(2, 7, SWEEP_EXHAUSTED);
    expect_told(CLAUSE_CUT_12, "once more", "a phase was stopped that stood still already");
    set(TABLE_MESSAGE, 7, MESSAGE_EPOCH, 2);
    expect_told(CLAUSE_CUT_12, "claimed",
                "a request that stands still was claimed, and no sweep had passed");
    note(3, 7, SWEEP_AGAIN);
    expect(FINE, "a pass");
    note(4, 7, SWEEP_AGAIN);
    expect_told(CLAUSE_CUT_12, "another pass", "a sweep passed over a phase that does not stand");
    set(TABLE_MESSAGE, 7, MESSAGE_EPOCH, 3);
    expect(FINE, "claimed again");
    note(5, 8, SWEEP_EXHAUSTED);
    expect_told(CLAUSE_CUT_12, "of no request", "a phase was stopped, and its request is gone");
    cr_expect_eq(oracle.seen[COVER_EXHAUSTED], 3U);
    cr_expect_eq(oracle.seen[COVER_SWEPT], 2U);
}

Test(oracle_pipeline, a_request_stands_still_only_once_it_was_stopped)
{
    PROVES(CLAUSE_CUT_12);
    reach(MARKED);
    put(TABLE_MESSAGE, 7,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = PHASE_CUT, [MESSAGE_HEAD] = 1});
    expect_told(CLAUSE_CUT_12, "a copy", "a request came that stands still from the start");
}

Test(oracle_pipeline, people_have_a_phase_once_a_sweep_has_passed_as_often_as_it_may)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_21);
    static const struct expectation twice = {.of.pipeline = {.passes = 2}};
    static const struct {
        int stops; /* each but the last is followed by a pass that asks again */
        enum sweep_reason last;
        bool acked;
        const char *why;
    } cases[] = {
        {1, SWEEP_AGAIN, false, ""},
        {2, SWEEP_AGAIN, false, "a sweep asks for a phase again without bound"},
        {1, SWEEP_GIVEN_UP, true,
         "a sweep handed a phase to people before it had passed as often as it may"},
        {2, SWEEP_GIVEN_UP, false, "a request is for people, and can be claimed all the same"},
        {2, SWEEP_GIVEN_UP, true, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        oracle.expected = NULL;
        reach(REVIEWED);
        only(CLAUSE_CUT_12);
        claim_cut(7);
        oracle.expected = &twice;
        for (int s = 0; s < cases[i].stops; s++) {
            note(10 + s, 7, SWEEP_EXHAUSTED);
            expect(FINE, "stopped");
            if (s + 1 < cases[i].stops) {
                note(20 + s, 7, SWEEP_AGAIN);
                expect(FINE, "asked for again");
            }
        }
        if (cases[i].acked) {
            drop(TABLE_MESSAGE, 7);
        }
        note(30, 7, cases[i].last);
        cr_expect_str_eq(tell().why, cases[i].why, "case %zu", i);
    }
    cr_expect_eq(oracle.seen[COVER_GIVEN_UP], 3U);
}

Test(oracle_pipeline, an_entry_whose_phase_people_have_may_stand_where_it_is)
{
    PROVES(CLAUSE_CUT_2);
    SETTLES(ERRATUM_CUT_21);
    reach(REVIEWED);
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "it could be cut");
    claim_cut(7);
    note(1, 7, SWEEP_EXHAUSTED);
    expect(FINE, "stopped");
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "nobody has it yet");
    drop(TABLE_MESSAGE, 7);
    note(2, 7, SWEEP_GIVEN_UP);
    expect(FINE, "for people");
    cr_expect_eq(settled(true), FINE);
}

/* ---- what the scenario asks for -------------------------------------------------------------- *
 * {first: {reviews: [approve, reject], verify: [pass, pass]}, second: {needs: [first]},
 *  third: {needs: [first], flaw: other-payload}, empty: {flaw: no-payload}}, twice */

enum { FIRST, SECOND, THIRD, EMPTY, ENTRIES };
static const struct expectation scenario = {
    .of.pipeline = {.batches = 2,
                    .passes = 2,
                    .entries = ENTRIES,
                    .entry = {[FIRST] = {.reviews = 2,
                                         .review = {DECISION_APPROVE, DECISION_REJECT},
                                         .verifies = 2,
                                         .verify = {VERIFIED_PASS, VERIFIED_PASS}},
                              [SECOND] = {.needs = 1,
                                          .reviews = 1,
                                          .review = {DECISION_APPROVE},
                                          .verifies = 1,
                                          .verify = {VERIFIED_PASS}},
                              [THIRD] = {.needs = 1,
                                         .reviews = 1,
                                         .review = {DECISION_REJECT},
                                         .verifies = 1,
                                         .verify = {VERIFIED_PASS},
                                         .other_load = true},
                              [EMPTY] = {.reviews = 1,
                                         .review = {DECISION_APPROVE},
                                         .verifies = 1,
                                         .verify = {VERIFIED_PASS},
                                         .stop = SWEEP_NULL}}}};

static int64_t id_of(int64_t batch, int node)
{
    return expected_pipeline_id(batch, node);
}

/* MARK of one of its entries, with one dependency or none. */
static void mark_asked(int64_t batch, int node, int64_t needs)
{
    int64_t id = id_of(batch, node);
    oracle.expected = &scenario;
    PUT(ENTRY, id, ENTRY_WORK, STATUS_MARKED, expected_pipeline_key(batch, node),
        expected_pipeline_payload(batch, node, false), batch);
    PUT(PAST, id + PAST_OF, id, STATUS_NONE, STATUS_MARKED);
    PUT(SWEEP_LOG, id, id, PHASE_MARK, SWEEP_MARKED);
    if (needs != 0) {
        PUT(DEPENDENCY, id, id, needs);
    }
}

Test(oracle_pipeline, an_entry_is_marked_as_the_scenario_asks_for_it)
{
    PROVES(CLAUSE_CUT_5, CLAUSE_CUT_14, CLAUSE_CUT_30);
    mark_asked(0, FIRST, 0);
    expect(FINE, "as asked for");
    mark_asked(1, FIRST, 0);
    set(TABLE_ENTRY, id_of(1, FIRST), ENTRY_ABOUT, 0);
    hand.count--; /* it came so */
    expect_told(CLAUSE_CUT_30, "of another batch", "an entry was marked that nobody asked for");
    mark_asked(0, SECOND, 0);
    expect_told(CLAUSE_CUT_5, "without its dependency",
                "an entry was marked with other dependencies than the ones it was asked for with");
    mark_asked(1, SECOND, id_of(0, FIRST));
    expect_told(CLAUSE_CUT_5, "on another batch's",
                "an entry was marked with other dependencies than the ones it was asked for with");
    mark_asked(0, THIRD, id_of(0, FIRST));
    set(TABLE_ENTRY, id_of(0, THIRD), ENTRY_PAYLOAD, 4711);
    hand.count--;
    expect_told(CLAUSE_CUT_5, "with another payload",
                "an entry was marked with another payload than the one it was asked for with");
    mark_asked(0, EMPTY, 0);
    expect_told(CLAUSE_CUT_14, "whose payload is null",
                "an entry was marked whose request is for people");
    mark_asked(0, ENTRIES, 0);
    expect_told(CLAUSE_CUT_30, "that the scenario does not have",
                "an entry was marked that nobody asked for");
}

/* The cell of a row that this commit brings, as the row came. */
static void came_with(enum row_table table, int64_t key, int column, int64_t value)
{
    size_t count = hand.count;
    set(table, key, column, value);
    hand.count = count;
}

Test(oracle_pipeline, manifests_and_change_sets_have_the_content_that_is_asked_for)
{
    PROVES(CLAUSE_CUT_30);
    int64_t id = id_of(0, FIRST);
    static const struct {
        enum row_table table;
        int of, column;
        int64_t value;
    } cases[] = {{TABLE_ENVELOPE, ENVELOPE_OF, ENVELOPE_HASH, 5},
                 {TABLE_UNIT_BLOCK, UNIT_OF, UNIT_BLOCK_HASH, 5},
                 {TABLE_UNIT_BLOCK, UNIT_OF, UNIT_BLOCK_LOCAL, 2},
                 {TABLE_AFFECTED_ROW, ROW_OF, AFFECTED_ROW_HASH, 5},
                 {TABLE_AFFECTED_ROW, ROW_OF, AFFECTED_ROW_ROW, 2}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        mark_asked(0, FIRST, 0);
        expect(FINE, "MARK");
        review(id, 1, DECISION_APPROVE, 0);
        if (cases[i].table != TABLE_AFFECTED_ROW) {
            came_with(cases[i].table, id + cases[i].of + 1, cases[i].column, cases[i].value);
            expect(CLAUSE_CUT_30, "REVIEW");
            continue;
        }
        expect(FINE, "REVIEW");
        cut(id, 1);
        came_with(cases[i].table, id + cases[i].of + 1, cases[i].column, cases[i].value);
        expect(CLAUSE_CUT_30, "CUT");
    }
}

/* A stop of a request, acked with it. */
static void stop(int64_t key, int64_t batch, int node, bool other_load, enum sweep_reason why)
{
    int64_t id = id_of(batch, node);
    oracle.expected = &scenario;
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = PHASE_MARK,
                                         [MESSAGE_JOB] = batch,
                                         [MESSAGE_ACTIVITY] = id,
                                         [MESSAGE_NODE] = node,
                                         [MESSAGE_GUID] = id,
                                         [MESSAGE_SOURCE] =
                                             expected_pipeline_payload(batch, node, other_load)});
    expect(FINE, "asked for");
    drop(TABLE_MESSAGE, key);
    PUT(SWEEP_LOG, key, id, PHASE_MARK, why, key);
}

Test(oracle_pipeline, people_are_told_of_what_is_for_them_and_nothing_else)
{
    PROVES(CLAUSE_CUT_14);
    stop(1, 0, EMPTY, false, SWEEP_NULL);
    expect(FINE, "23502");
    stop(2, 1, EMPTY, false, SWEEP_NO_PARENT);
    expect_told(CLAUSE_CUT_14, "for another reason",
                "a request was handed to people without need, or for a wrong reason");
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    mark_asked(0, THIRD, id_of(0, FIRST));
    expect(FINE, "MARK");
    stop(3, 0, THIRD, true, SWEEP_OTHER_LOAD);
    PUT(MESSAGE, 33, PHASE_MARK, 0, id_of(0, EMPTY), EMPTY, id_of(0, EMPTY),
        expected_pipeline_payload(0, EMPTY, false));
    expect(FINE, "the same key with another payload");
    PUT(SWEEP_LOG, 4, id_of(0, FIRST), PHASE_REVIEW, SWEEP_UNCLASSIFIED);
    expect_told(CLAUSE_CUT_14, "a stop of no request",
                "people were told of a stop, and no request was acked with it");
}

Test(oracle_pipeline, a_decision_is_the_one_that_was_asked_for)
{
    PROVES(CLAUSE_CUT_30);
    int64_t first = id_of(0, FIRST);
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    review(first, 2, DECISION_APPROVE, first + REVIEW_OF + 1);
    expect_told(CLAUSE_CUT_30, "the second is to reject",
                "a decision was made that nobody asked for");
    review(first, 3, DECISION_REJECT, first + REVIEW_OF + 2);
    expect_told(CLAUSE_CUT_30, "nobody asks for a third",
                "a decision was made that nobody asked for");
}

Test(oracle_pipeline, an_entry_waits_for_what_the_scenario_says_and_has_as_many_parts)
{
    PROVES(CLAUSE_CUT_6, CLAUSE_CUT_8, CLAUSE_CUT_9);
    int64_t second = id_of(0, SECOND);
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    oracle.off[CLAUSE_CUT_5] = true;
    mark_asked(0, SECOND, 0); /* no dependency is stored */
    expect(FINE, "MARK");
    review(second, 1, DECISION_APPROVE, 0);
    expect_told(CLAUSE_CUT_6, "one unit block of two",
                "a manifest has another number of unit blocks than was asked for");
    cut(second, 1);
    expect_told(
        CLAUSE_CUT_8, "its blocker is not complete",
        "an entry was cut before all that the scenario says it needs was verified complete");
    set(TABLE_ENTRY, second, ENTRY_STATUS, STATUS_APPROVED);
    hand.count = 0;
    oracle.off[CLAUSE_CUT_8] = true;
    cut(second, 2);
    expect_told(CLAUSE_CUT_9, "one row of two",
                "a change set affects another number of rows than was asked for");
}

/* FIRST has one of each. */
Test(oracle_pipeline, an_entry_has_no_more_parts_than_were_asked_for)
{
    PROVES(CLAUSE_CUT_5, CLAUSE_CUT_6, CLAUSE_CUT_9);
    int64_t first = id_of(0, FIRST);
    mark_asked(0, FIRST, 0);
    PUT(DEPENDENCY, first, first, first);
    expect_told(CLAUSE_CUT_5, "a dependency",
                "an entry was marked with other dependencies than the ones it was asked for with");
    review(first, 1, DECISION_APPROVE, 0);
    PUT(UNIT_BLOCK, 1, first + ENVELOPE_OF + 1, 2, 2);
    expect_told(CLAUSE_CUT_6, "two unit blocks",
                "a manifest has another number of unit blocks than was asked for");
    hand.cells[TABLE_DEPENDENCY][1 + DEPENDENCY_FROM] = 0; /* what blocks it is gone */
    cut(first, 1);
    PUT(AFFECTED_ROW, 1, first + SET_OF + 1, 2, 2);
    expect_told(CLAUSE_CUT_9, "two rows",
                "a change set affects another number of rows than was asked for");
}

Test(oracle_pipeline, an_entry_is_marked_with_its_own_id_and_payload)
{
    PROVES(CLAUSE_CUT_5, CLAUSE_CUT_30);
    for (int by = -1; by <= 1; by += 2) {
        begin();
        mark_asked(0, FIRST, 0);
        expect(FINE, "as asked for");
        begin();
        mark_asked(0, FIRST, 0);
        *hand_cell(&hand, TABLE_ENTRY, id_of(0, FIRST), ENTRY_PAYLOAD) += by;
        expect_told(CLAUSE_CUT_5, "another payload",
                    "an entry was marked with another payload than the one it was asked for with");
        begin();
        mark_asked(0, FIRST, 0);
        only(CLAUSE_CUT_30);
        hand.cells[TABLE_ENTRY][0] += by;
        expect_told(CLAUSE_CUT_30, "under another id", "an entry was marked that nobody asked for");
    }
}

Test(oracle_pipeline, an_outcome_is_the_planned_one_unless_an_answer_was_changed)
{
    PROVES(CLAUSE_CUT_30);
    int64_t first = id_of(0, FIRST);
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT before the re-review");
    verify(first, 1, VERIFIED_PASS, 0);
    expect(FINE, "VERIFY");
    oracle.answers_changed = 1;
    verify(first, 2, VERIFIED_FAIL, first + VERIFY_OF + 1);
    expect(FINE, "an answer was changed");
    oracle.answers_changed = 0;
    mark_asked(1, FIRST, 0);
    expect(FINE, "MARK");
    first = id_of(1, FIRST);
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT");
    oracle.answers_changed = 1;
    verify(first, 1, VERIFIED_FAIL, 0);
    expect_told(CLAUSE_CUT_30, "two outcomes are not as planned, and one answer was changed",
                "a verify came to another outcome than its verifier found");
}

Test(oracle_pipeline, an_outcome_that_is_better_than_planned_is_told)
{
    PROVES(CLAUSE_CUT_30);
    static struct expectation fails;
    int64_t first = id_of(0, FIRST);
    fails = scenario;
    fails.of.pipeline.entry[FIRST].verify[0] = VERIFIED_FAIL;
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT");
    oracle.expected = &fails;
    verify(first, 1, VERIFIED_PASS, 0);
    expect_told(CLAUSE_CUT_30, "it was to fail",
                "a verify came to another outcome than its verifier found");
}

Test(oracle_pipeline, a_change_set_is_verified_as_often_as_was_asked_for)
{
    PROVES(CLAUSE_CUT_30);
    int64_t first = id_of(0, FIRST);
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT");
    for (int n = 1; n <= 2; n++) {
        verify(first, n, VERIFIED_PASS, n == 1 ? 0 : first + VERIFY_OF + 1);
        expect(FINE, "VERIFY");
    }
    verify(first, 3, VERIFIED_PASS, first + VERIFY_OF + 2);
    expect_told(CLAUSE_CUT_30, "a third time",
                "a change set was verified that nobody asked to be verified again");
}

Test(oracle_pipeline, a_compensating_set_undoes_every_row)
{
    PROVES(CLAUSE_CUT_21);
    reach(REVIEWED);
    cut(100, 1);
    PUT(AFFECTED_ROW, 1, 100 + SET_OF + 1, 2, 2);
    expect(FINE, "two rows");
    verify(100, 1, VERIFIED_FAIL, 0);
    expect_told(CLAUSE_CUT_21, "one is not undone",
                "a compensating change set affects other rows than the set that it undoes");
}

/* ---- what is asked for, and answered --------------------------------------------------------- */

static void request_review(int64_t key, int64_t id, int64_t n, int64_t decision, int64_t prior)
{
    int64_t status = prior == 0 ? STATUS_MARKED : STATUS_APPROVED;
    oracle.expected = &scenario;
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = PHASE_REVIEW,
                                         [MESSAGE_ACTIVITY] = id,
                                         [MESSAGE_NODE] = FIRST,
                                         [MESSAGE_GUID] = id + REVIEW_OF + n,
                                         [MESSAGE_ANSWER] = n,
                                         [MESSAGE_CONTENT] = decision,
                                         [MESSAGE_PENDINGS] = status,
                                         [MESSAGE_SPAWNED_BY] = prior});
}

static void request_cut(int64_t key, int64_t id, int64_t decision)
{
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = PHASE_CUT,
                                         [MESSAGE_ACTIVITY] = id,
                                         [MESSAGE_NODE] = FIRST,
                                         [MESSAGE_GUID] = id + SET_OF + 1,
                                         [MESSAGE_PENDINGS] = STATUS_APPROVED,
                                         [MESSAGE_SOURCE] = decision});
}

Test(oracle_pipeline, a_request_is_one_that_the_scenario_calls_for)
{
    PROVES(CLAUSE_CUT_30);
    int64_t first = id_of(0, FIRST);
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    request_review(1, first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    request_review(2, first, 1, DECISION_REJECT, 0);
    expect_told(CLAUSE_CUT_30, "with another decision",
                "a request asks for something else than the scenario calls for");
    request_review(3, first, 2, DECISION_REJECT, 0);
    expect_told(CLAUSE_CUT_30, "with another number",
                "a request asks for something else than the scenario calls for");
    request_review(4, first, 1, DECISION_APPROVE, 0);
    set(TABLE_MESSAGE, 4, MESSAGE_JOB, 1);
    hand.count--;
    expect_told(CLAUSE_CUT_30, "of another batch",
                "a request is for an entry that the scenario does not have");
    request_review(5, first, 1, DECISION_APPROVE, 0);
    set(TABLE_MESSAGE, 5, MESSAGE_PENDINGS, STATUS_APPROVED);
    hand.count--;
    expect_told(CLAUSE_CUT_30, "for another status",
                "a request asks for something else than the scenario calls for");
    request_review(6, first, 1, DECISION_APPROVE, 0);
    set(TABLE_MESSAGE, 6, MESSAGE_KIND, PHASE_END);
    hand.count--;
    expect_told(CLAUSE_CUT_30, "of no phase",
                "a request asks for something else than the scenario calls for");
    drop(TABLE_MESSAGE, 6);
    expect(FINE, "what is no request has no answer");
}

/* ---- each column of a request, and of the row that answers it --------------------------------- */

static int64_t first_entry(void)
{
    return id_of(0, FIRST);
}

/* FIRST of batch 0 is verified, and each of its requests is what the scenario calls for. */
static void reach_requests(void)
{
    int64_t first = first_entry();
    begin();
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT");
    verify(first, 1, VERIFIED_PASS, 0);
    expect(FINE, "VERIFY");
}

enum asked { THE_MARK, THE_REVIEW, THE_REREVIEW, THE_CUT, THE_VERIFY, THE_REVERIFY, ASKED };

static void put_request(int64_t key, enum asked asked)
{
    static const struct {
        enum pipeline_phase phase;
        int64_t names, status, source, prior, number, content;
    } of[ASKED] = {
        [THE_MARK] = {PHASE_MARK, 0, 0, 0, 0, 0, 0},
        [THE_REVIEW] = {PHASE_REVIEW, REVIEW_OF + 1, STATUS_MARKED, 0, 0, 1, DECISION_APPROVE},
        [THE_REREVIEW] = {PHASE_REVIEW, REVIEW_OF + 2, STATUS_APPROVED, 0, REVIEW_OF + 1, 2,
                          DECISION_REJECT},
        [THE_CUT] = {PHASE_CUT, SET_OF + 1, STATUS_APPROVED, REVIEW_OF + 1, 0, 0, 0},
        [THE_VERIFY] = {PHASE_VERIFY, VERIFY_OF + 1, STATUS_CUT, SET_OF + 1, 0, 1, VERIFIED_PASS},
        [THE_REVERIFY] = {PHASE_VERIFY, VERIFY_OF + 2, STATUS_COMPLETE, SET_OF + 1, VERIFY_OF + 1,
                          2, VERIFIED_PASS},
    };
    int64_t first = first_entry();
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){
            [MESSAGE_KIND] = of[asked].phase,
            [MESSAGE_ACTIVITY] = first,
            [MESSAGE_NODE] = FIRST,
            [MESSAGE_GUID] = first + of[asked].names,
            [MESSAGE_PENDINGS] = of[asked].status,
            [MESSAGE_SOURCE] = asked == THE_MARK       ? expected_pipeline_payload(0, FIRST, false)
                               : of[asked].source != 0 ? first + of[asked].source
                                                       : 0,
            [MESSAGE_SPAWNED_BY] = of[asked].prior != 0 ? first + of[asked].prior : 0,
            [MESSAGE_ANSWER] = of[asked].number,
            [MESSAGE_CONTENT] = of[asked].content});
}

/* A cell of the request (of table message), or of a row of FIRST's. */
struct spoilt {
    enum asked asked;
    enum row_table table;
    int64_t of;
    int column;
};

static void spoil(const struct spoilt *cell, int64_t by)
{
    int64_t key = cell->table == TABLE_MESSAGE ? 1 : first_entry() + cell->of;
    *hand_cell(&hand, cell->table, key, cell->column) += by;
}

Test(oracle_pipeline, each_column_of_a_request_is_what_the_scenario_calls_for)
{
    PROVES(CLAUSE_CUT_30);
    static const struct spoilt cells[] = {
        {THE_MARK, TABLE_MESSAGE, 0, MESSAGE_GUID},
        {THE_MARK, TABLE_MESSAGE, 0, MESSAGE_SOURCE},
        {THE_REVIEW, TABLE_MESSAGE, 0, MESSAGE_ANSWER},
        {THE_REVIEW, TABLE_MESSAGE, 0, MESSAGE_PENDINGS},
        {THE_REVIEW, TABLE_MESSAGE, 0, MESSAGE_CONTENT},
        {THE_REREVIEW, TABLE_MESSAGE, 0, MESSAGE_ANSWER},
        {THE_REREVIEW, TABLE_MESSAGE, 0, MESSAGE_PENDINGS},
        {THE_REREVIEW, TABLE_MESSAGE, 0, MESSAGE_CONTENT},
        {THE_REREVIEW, TABLE_REVIEW, REVIEW_OF + 1, REVIEW_ENTRY},
        {THE_REREVIEW, TABLE_REVIEW, REVIEW_OF + 1, REVIEW_DECISION},
        {THE_CUT, TABLE_MESSAGE, 0, MESSAGE_PENDINGS},
        {THE_CUT, TABLE_REVIEW, REVIEW_OF + 1, REVIEW_ENTRY},
        {THE_CUT, TABLE_REVIEW, REVIEW_OF + 1, REVIEW_DECISION},
        {THE_VERIFY, TABLE_MESSAGE, 0, MESSAGE_ANSWER},
        {THE_VERIFY, TABLE_MESSAGE, 0, MESSAGE_PENDINGS},
        {THE_VERIFY, TABLE_MESSAGE, 0, MESSAGE_CONTENT},
        {THE_VERIFY, TABLE_MESSAGE, 0, MESSAGE_SOURCE},
        {THE_VERIFY, TABLE_CHANGE_SET, SET_OF + 1, CHANGE_SET_ENTRY},
        {THE_REVERIFY, TABLE_MESSAGE, 0, MESSAGE_ANSWER},
        {THE_REVERIFY, TABLE_MESSAGE, 0, MESSAGE_PENDINGS},
        {THE_REVERIFY, TABLE_MESSAGE, 0, MESSAGE_CONTENT},
        {THE_REVERIFY, TABLE_VERIFY, VERIFY_OF + 1, VERIFY_SET},
        {THE_REVERIFY, TABLE_VERIFY, VERIFY_OF + 1, VERIFY_OUTCOME},
    };
    for (enum asked asked = THE_MARK; asked < ASKED; asked++) {
        reach_requests();
        put_request(1, asked);
        expect(FINE, "as it is called for");
    }
    for (size_t i = 0; i < 2 * COUNT(cells); i++) {
        reach_requests();
        put_request(1, cells[i / 2].asked);
        spoil(&cells[i / 2], i % 2 == 0 ? 1 : -1);
        struct oracle_verdict verdict = tell();
        cr_expect_str_eq(verdict.why,
                         "a request asks for something else than the scenario calls for",
                         "case %zu: %s", i, verdict.why);
    }
}

/* FIRST has one payload; a second one is THIRD's. */
Test(oracle_pipeline, a_second_payload_is_asked_for_where_the_scenario_says_so)
{
    PROVES(CLAUSE_CUT_30);
    static const struct {
        int node;
        bool other;
        int64_t more;
        enum clause_id clause;
    } cases[] = {{FIRST, false, 0, FINE},
                 {FIRST, true, 0, CLAUSE_CUT_30},
                 {THIRD, true, 0, FINE},
                 {THIRD, true, 1, CLAUSE_CUT_30}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t id = id_of(0, cases[i].node);
        begin();
        oracle.expected = &scenario;
        put(TABLE_MESSAGE, 1,
            (const int64_t[MESSAGE_COLUMNS]){
                [MESSAGE_KIND] = PHASE_MARK,
                [MESSAGE_ACTIVITY] = id,
                [MESSAGE_NODE] = cases[i].node,
                [MESSAGE_GUID] = id,
                [MESSAGE_SOURCE] =
                    expected_pipeline_payload(0, cases[i].node, cases[i].other) + cases[i].more});
        expect(cases[i].clause, "MARK");
    }
}

Test(oracle_pipeline, each_column_of_the_row_that_answers_a_request_is_what_it_asked_for)
{
    PROVES(CLAUSE_CUT_30);
    static const struct spoilt cells[] = {
        {THE_MARK, TABLE_MESSAGE, 0, MESSAGE_NODE},
        {THE_MARK, TABLE_ENTRY, 0, ENTRY_ABOUT},
        {THE_REVIEW, TABLE_REVIEW, REVIEW_OF + 1, REVIEW_ENTRY},
        {THE_REVIEW, TABLE_REVIEW, REVIEW_OF + 1, REVIEW_PRIOR},
        {THE_REVIEW, TABLE_MESSAGE, 0, MESSAGE_CONTENT},
        {THE_CUT, TABLE_CHANGE_SET, SET_OF + 1, CHANGE_SET_ENTRY},
        {THE_CUT, TABLE_CHANGE_SET, SET_OF + 1, CHANGE_SET_REVIEW},
        {THE_VERIFY, TABLE_VERIFY, VERIFY_OF + 1, VERIFY_SET},
        {THE_VERIFY, TABLE_VERIFY, VERIFY_OF + 1, VERIFY_PRIOR},
    };
    for (size_t i = 0; i < 2 * COUNT(cells); i++) {
        reach_requests();
        put_request(1, cells[i / 2].asked);
        expect(FINE, "asked for");
        only(CLAUSE_CUT_30);
        spoil(&cells[i / 2], i % 2 == 0 ? 1 : -1);
        drop(TABLE_MESSAGE, 1);
        struct oracle_verdict verdict = tell();
        cr_expect_str_eq(verdict.why, "a request was answered with the row of another one",
                         "case %zu: %s", i, verdict.why);
    }
}

static const char not_asked[] = "a request was acked, and what follows from it was not asked for";

/* A MARK that is acked in a commit which asks for what follows. */
static void put_mark(int64_t key, int node, bool other_load)
{
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = PHASE_MARK,
                                         [MESSAGE_ACTIVITY] = id_of(0, node),
                                         [MESSAGE_NODE] = node,
                                         [MESSAGE_GUID] = id_of(0, node),
                                         [MESSAGE_SOURCE] =
                                             expected_pipeline_payload(0, node, other_load)});
}

static void put_first_review(int64_t key, int node, int64_t decision)
{
    request_review(key, id_of(0, node), 1, decision, 0);
    *hand_cell(&hand, TABLE_MESSAGE, key, MESSAGE_NODE) = node;
}

/* People have got a request of this phase of an entry before. */
static void give_up_before(enum pipeline_phase phase, int node)
{
    PUT(SWEEP_LOG, 90, id_of(0, node), phase, SWEEP_GIVEN_UP, 91);
    hand.count = 0;
}

/* What follows from MARK: the next MARK, the review, and a second MARK where there is one, unless
 * people have it. */
Test(oracle_pipeline, what_follows_from_a_mark_is_asked_for)
{
    PROVES(CLAUSE_CUT_2);
    static const struct {
        bool next, review, second, fine;
        enum pipeline_phase given_up; /* 0: none */
        int of;
    } cases[] = {{true, true, true, true, 0, 0},
                 {false, true, true, false, 0, 0},
                 {true, false, true, false, 0, 0},
                 {true, true, false, false, 0, 0},
                 {false, true, true, true, PHASE_MARK, EMPTY},
                 {false, true, true, false, PHASE_MARK, FIRST},
                 {true, false, true, true, PHASE_REVIEW, THIRD},
                 {true, false, true, false, PHASE_REVIEW, FIRST},
                 {true, false, true, false, PHASE_CUT, THIRD},
                 {true, true, false, true, PHASE_MARK, THIRD},
                 {true, true, false, false, PHASE_REVIEW, THIRD}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        mark_asked(0, FIRST, 0);
        expect(FINE, "MARK");
        mark_asked(0, THIRD, id_of(0, FIRST));
        expect(FINE, "MARK");
        put_mark(1, THIRD, false);
        expect(FINE, "asked for");
        if (cases[i].given_up != 0) {
            give_up_before(cases[i].given_up, cases[i].of);
        }
        drop(TABLE_MESSAGE, 1);
        if (cases[i].next) {
            put_mark(2, EMPTY, false);
        }
        if (cases[i].review) {
            put_first_review(3, THIRD, DECISION_REJECT);
        }
        if (cases[i].second) {
            put_mark(4, THIRD, true);
        }
        if (cases[i].fine) {
            expect(FINE, "all of it");
        } else {
            expect_told(CLAUSE_CUT_2, "but one", not_asked);
        }
    }
}

/* From a decision the re-review and the CUT follow, from a CUT its verify, from that another one. */
Test(oracle_pipeline, what_follows_from_a_phase_is_asked_for)
{
    PROVES(CLAUSE_CUT_2);
    static const struct {
        enum asked acked, then[2];
        bool fine;
    } cases[] = {{THE_REVIEW, {THE_REREVIEW, THE_CUT}, true},
                 {THE_REVIEW, {THE_CUT, ASKED}, false},
                 {THE_REVIEW, {THE_REREVIEW, ASKED}, false},
                 {THE_CUT, {THE_VERIFY, ASKED}, true},
                 {THE_CUT, {ASKED, ASKED}, false},
                 {THE_VERIFY, {THE_REVERIFY, ASKED}, true},
                 {THE_VERIFY, {ASKED, ASKED}, false}};
    int64_t first = first_entry();
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        mark_asked(0, FIRST, 0);
        expect(FINE, "MARK");
        review(first, 1, DECISION_APPROVE, 0);
        expect(FINE, "REVIEW");
        if (cases[i].acked >= THE_CUT) {
            cut(first, 1);
            expect(FINE, "CUT");
        }
        if (cases[i].acked >= THE_VERIFY) {
            verify(first, 1, VERIFIED_PASS, 0);
            expect(FINE, "VERIFY");
        }
        put_request(1, cases[i].acked);
        expect(FINE, "asked for");
        drop(TABLE_MESSAGE, 1);
        for (int64_t k = 0; k < 2 && cases[i].then[k] != ASKED; k++) {
            put_request(2 + k, cases[i].then[k]);
        }
        if (cases[i].fine) {
            expect(FINE, "all of it");
        } else {
            expect_told(CLAUSE_CUT_2, "but one", not_asked);
        }
    }
}

/* That a blocker's verify asks for the CUT excuses a CUT, and no other phase. */
Test(oracle_pipeline, a_review_asks_for_its_cut_whatever_else_is_under_way)
{
    PROVES(CLAUSE_CUT_2);
    int64_t first = first_entry(), second = id_of(0, SECOND);
    begin();
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT");
    mark_asked(0, SECOND, first);
    expect(FINE, "MARK");
    put_request(1, THE_VERIFY);
    expect(FINE, "asked for");
    oracle.off[CLAUSE_CUT_6] = true; /* one unit block of two */
    review(second, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    put_first_review(2, SECOND, DECISION_APPROVE);
    expect(FINE, "asked for");
    drop(TABLE_MESSAGE, 2);
    expect_told(CLAUSE_CUT_2, "no CUT", not_asked);
}

/* Two requests of one id: the second finds the row of the first, and takes it for its own. */
Test(oracle_pipeline, a_request_is_not_answered_with_the_row_of_another)
{
    PROVES(CLAUSE_CUT_30);
    SETTLES(ERRATUM_CUT_9);
    int64_t first = id_of(0, FIRST), decision = first + REVIEW_OF + 1;
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    request_review(1, first, 2, DECISION_REJECT, decision);
    set(TABLE_MESSAGE, 1, MESSAGE_GUID, decision);
    hand.count--;
    expect(FINE, "an id says nothing by itself");
    drop(TABLE_MESSAGE, 1);
    expect_told(CLAUSE_CUT_30, "the first decision answers the second request",
                "a request was answered with the row of another one");
}

Test(oracle_pipeline, what_follows_from_a_request_is_asked_for)
{
    PROVES(CLAUSE_CUT_2);
    int64_t first = id_of(0, FIRST), decision = first + REVIEW_OF + 1;
    mark_asked(0, FIRST, 0);
    expect(FINE, "MARK");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    request_review(1, first, 1, DECISION_APPROVE, 0);
    expect(FINE, "asked for");
    drop(TABLE_MESSAGE, 1);
    request_review(12, first, 2, DECISION_REJECT, decision);
    expect_told(CLAUSE_CUT_2, "nobody asks for the CUT",
                "a request was acked, and what follows from it was not asked for");
    request_review(2, first, 1, DECISION_APPROVE, 0);
    expect(FINE, "asked for");
    drop(TABLE_MESSAGE, 2);
    request_cut(22, first, decision);
    expect(FINE, "both wait");
    drop(TABLE_MESSAGE, 12);
    oracle.off[CLAUSE_CUT_2] = true; /* it could be made */
    expect(FINE, "dropped");
    oracle.off[CLAUSE_CUT_2] = false;
    request_review(3, first, 1, DECISION_APPROVE, 0);
    expect(FINE, "asked for again");
    drop(TABLE_MESSAGE, 3);
    expect(FINE, "it was asked for once");
}

/* (EX2) */
Test(oracle_pipeline, every_entry_comes_to_an_end_that_the_scenario_allows)
{
    PROVES(CLAUSE_CUT_2, CLAUSE_CUT_14);
    int64_t first = id_of(0, FIRST);
    oracle.expected = &scenario;
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "nothing ever happened");
    static struct expectation one;
    one = scenario;
    one.of.pipeline.batches = 1;
    one.of.pipeline.entries = 1;
    mark_asked(0, FIRST, 0);
    oracle.expected = &one;
    expect(FINE, "MARK");
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "marked");
    review(first, 1, DECISION_APPROVE, 0);
    expect(FINE, "REVIEW");
    cut(first, 1);
    expect(FINE, "CUT");
    verify(first, 1, VERIFIED_PASS, 0);
    expect(FINE, "VERIFY");
    cr_expect_eq(settled(true), CLAUSE_CUT_2, "a re-verify is missing");
    verify(first, 2, VERIFIED_PASS, first + VERIFY_OF + 1);
    expect(FINE, "re-verify");
    cr_expect_eq(settled(true), FINE);
    one.of.pipeline.entry[FIRST].other_load = true;
    cr_expect_eq(settled(true), CLAUSE_CUT_14, "nobody was told of the other payload");
}

Test(oracle_pipeline, a_rereview_that_is_missing_is_missed)
{
    PROVES(CLAUSE_CUT_2);
    static struct expectation one;
    one = scenario;
    one.of.pipeline.batches = 1;
    one.of.pipeline.entries = 1;
    one.of.pipeline.entry[FIRST].review[0] = DECISION_REJECT;
    mark_asked(0, FIRST, 0);
    oracle.expected = &one;
    expect(FINE, "MARK");
    review(id_of(0, FIRST), 1, DECISION_REJECT, 0);
    expect(FINE, "REVIEW");
    cr_expect_eq(settled(true), CLAUSE_CUT_2);
    review(id_of(0, FIRST), 2, DECISION_REJECT, id_of(0, FIRST) + REVIEW_OF + 1);
    expect(FINE, "re-review");
    cr_expect_eq(settled(true), FINE);
}

Test(oracle_pipeline, every_sighting_has_a_path_clause_and_a_text)
{
    for (int point = COVER_RETRIED; point <= COVER_REVERIFY_FAILED; point++) {
        enum clause_id clause = oracle_cover_clause((enum oracle_cover)point);
        cr_expect_eq(clause_get(clause)->kind, CLAUSE_KIND_PATH);
        cr_expect_eq(clause_get(clause)->family, CLAUSE_FAMILY_CUT);
        cr_expect(*oracle_cover_text((enum oracle_cover)point) != '\0');
    }
}
