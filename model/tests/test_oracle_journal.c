/* Work outside rows, as the monitors of each protocol judge it: done before what rests on it, under
 * a claim that was given out, once a claim. Every other clause is off, so that a protocol's rows
 * need not be more than what the work is about. */
#include "model/oracle/activity.h"
#include "model/oracle/judge.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"

#define FINE   CLAUSE_COUNT
#define GHOSTS 4096

extern const struct monitors monitors_flow, monitors_legacy, monitors_pipeline, monitors_seq;

static struct hand hand;
static struct oracle oracle;
static int64_t ghosts[GHOSTS];

/* ---- the store ------------------------------------------------------------------------------- */

static void put(enum row_table table, int64_t key, const int64_t *values)
{
    hand_put(&hand, table, key, values);
}
#define PUT(table, key, ...) put(TABLE_##table, key, (const int64_t[ROW_COLUMNS_MAX]){__VA_ARGS__})

static void set(enum row_table table, int64_t key, int column, int64_t value)
{
    hand_set(&hand, table, key, column, value);
}

static void drop(enum row_table table, int64_t key)
{
    hand_drop(&hand, table, key);
}

/* ---- protocols ------------------------------------------------------------------------------- */

#define MESSAGE INT64_C(600) /* that asks for the work */
#define OWNER   INT64_C(600) /* ... or, in seq, who does it */

static void publish_task(void)
{
    PUT(MESSAGE, MESSAGE, [MESSAGE_KIND] = MESSAGE_TASK, [MESSAGE_ACTIVITY] = 100);
}

static void make_activity(void)
{
    PUT(ACTIVITY, 100, 0);
    PUT(TASK, 500, [TASK_ACTIVITY] = 100, [TASK_RUNS] = 1);
    publish_task();
}

static void answer(void)
{
    PUT(MESSAGE, 700, [MESSAGE_KIND] = MESSAGE_LEG2, [MESSAGE_ACTIVITY] = 100, [MESSAGE_GUID] = 8);
}

static void publish_run(void)
{
    PUT(MESSAGE, MESSAGE, [MESSAGE_KIND] = FLOW_RUN, [MESSAGE_JOB] = 1000, [MESSAGE_NODE] = 0);
}

static void make_key(void)
{
    PUT(FLOW, 1000, INT64_C(900000000000000));
    PUT(FLOW_PLACE, 500, 1000, 0, 0, 0, FLOW_COMPLETED);
    publish_run();
}

static void complete(void)
{
    PUT(FLOW_EVENT, 1100, 1000, 0, FLOW_COMPLETED, 0, 1);
}

static void publish_leg1(void)
{
    PUT(MESSAGE, MESSAGE, [MESSAGE_KIND] = MESSAGE_LEG1, [MESSAGE_ACTIVITY] = 500);
}

static void make_legacy(void)
{
    PUT(LEGACY, 500, [LEGACY_LEDGER] = INT64_C(999000000000000));
    publish_leg1();
}

static void save(void)
{
    PUT(SAVED, 501, [SAVED_ACTIVITY] = 500, [SAVED_RUNS] = 1);
}

static void publish_verify(void)
{
    PUT(MESSAGE, MESSAGE, [MESSAGE_KIND] = PHASE_VERIFY, [MESSAGE_GUID] = 500);
}

static void store_result(void)
{
    PUT(VERIFY, 500, 40, 1, 2, VERIFIED_PASS);
}

static const struct {
    const char *name;
    const struct monitors *monitors;
    enum clause_id clause;
    void (*make)(void);    /* what there is, and the message */
    void (*publish)(void); /* the message, once more after its ack */
    void (*rest)(void);    /* what rests on the work */
} protocols[] = {
    {"activity", &monitors_activity, CLAUSE_ACL_46, make_activity, publish_task, answer},
    {"key", &monitors_flow, CLAUSE_KEY_11, make_key, publish_run, complete},
    {"legacy", &monitors_legacy, CLAUSE_LEG_11, make_legacy, publish_leg1, save},
    {"pipeline", &monitors_pipeline, CLAUSE_CUT_31, publish_verify, publish_verify, store_result},
};

/* ---- telling --------------------------------------------------------------------------------- */

static enum clause_id tell(void)
{
    struct oracle_verdict verdict =
        oracle.monitors->commit(&oracle, &hand.rows, hand.changes, hand.count);
    hand.count = 0;
    return verdict.clause;
}

static enum clause_id work(int64_t what, int64_t claim, int64_t epoch)
{
    struct side_effect effect = {.what = what, .claim = claim, .epoch = epoch};
    struct oracle_verdict verdict = oracle.monitors->effect(&oracle, &hand.rows, &effect);
    cr_expect(!verdict.broken || oracle.spoke == ORACLE_JOURNAL);
    return verdict.clause;
}

static void begin(const struct monitors *monitors, enum clause_id clause)
{
    hand_begin(&hand);
    memset(ghosts, 0, sizeof ghosts);
    memset(&oracle, 0, sizeof oracle);
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        oracle.off[c] = c != (int)clause;
    }
    cr_assert_leq(oracle_cells(monitors, &hand.rows), (size_t)GHOSTS);
    oracle_begin(&oracle, monitors, &hand.rows, ghosts);
}

static void begin_claimed(size_t p)
{
    begin(protocols[p].monitors, protocols[p].clause);
    protocols[p].make();
    set(TABLE_MESSAGE, MESSAGE, MESSAGE_EPOCH, 1);
    cr_assert_eq(tell(), FINE);
}

/* ---- claims of the queue --------------------------------------------------------------------- */

Test(oracle_journal, what_rests_on_work_that_nobody_did_is_a_breach)
{
    PROVES(CLAUSE_ACL_46, CLAUSE_KEY_11, CLAUSE_LEG_11, CLAUSE_CUT_31);
    SETTLES(ERRATUM_ACL_33);
    for (size_t p = 0; p < COUNT(protocols); p++) {
        begin_claimed(p);
        protocols[p].rest();
        cr_expect_eq(tell(), protocols[p].clause, "%s", protocols[p].name);
        begin_claimed(p);
        cr_expect_eq(work(500, MESSAGE, 1), FINE, "%s", protocols[p].name);
        protocols[p].rest();
        cr_expect_eq(tell(), FINE, "%s", protocols[p].name);
        cr_expect_eq(oracle.evaluated[protocols[p].clause], 2U, "%s", protocols[p].name);
    }
}

Test(oracle_journal, work_is_done_under_a_claim_that_was_given_out)
{
    PROVES(CLAUSE_ACL_46, CLAUSE_KEY_11, CLAUSE_LEG_11, CLAUSE_CUT_31);
    static const struct {
        int64_t what, claim, epoch;
        bool fine;
    } cases[] = {
        {500, MESSAGE, 1, true},   {500, MESSAGE, 0, false},     {500, MESSAGE, 2, false},
        {500, MESSAGE, -1, false}, {500, MESSAGE + 1, 1, false}, {499, MESSAGE, 1, false},
        {501, MESSAGE, 1, false},
    };
    for (size_t p = 0; p < COUNT(protocols); p++) {
        for (size_t i = 0; i < COUNT(cases); i++) {
            begin_claimed(p);
            cr_expect_eq(work(cases[i].what, cases[i].claim, cases[i].epoch),
                         cases[i].fine ? FINE : protocols[p].clause, "%s, case %zu",
                         protocols[p].name, i);
        }
    }
}

Test(oracle_journal, work_is_done_under_a_claim_of_a_message_that_asks_for_it)
{
    PROVES(CLAUSE_ACL_46, CLAUSE_KEY_11, CLAUSE_LEG_11, CLAUSE_CUT_31);
    for (size_t p = 0; p < COUNT(protocols); p++) {
        begin_claimed(p);
        *hand_cell(&hand, TABLE_MESSAGE, MESSAGE, MESSAGE_KIND) += 1;
        cr_expect_eq(work(500, MESSAGE, 1), protocols[p].clause, "%s", protocols[p].name);
    }
}

Test(oracle_journal, a_claim_was_given_out_if_its_message_was_claimed_so_often)
{
    static const struct {
        int64_t claim, epoch;
        bool granted;
    } cases[] = {
        {MESSAGE, 1, true}, {MESSAGE, 0, false}, {MESSAGE, 2, false}, {MESSAGE + 1, 1, false}};
    for (size_t p = 0; p < COUNT(protocols); p++) {
        for (size_t i = 0; i < COUNT(cases); i++) {
            struct side_effect effect = {.claim = cases[i].claim, .epoch = cases[i].epoch};
            begin_claimed(p);
            cr_expect_eq(protocols[p].monitors->granted(&hand.rows, &effect), cases[i].granted,
                         "%s, case %zu", protocols[p].name, i);
        }
    }
}

Test(oracle_journal, work_is_done_once_a_claim)
{
    PROVES(CLAUSE_ACL_46, CLAUSE_KEY_11, CLAUSE_LEG_11, CLAUSE_CUT_31);
    for (size_t p = 0; p < COUNT(protocols); p++) {
        begin_claimed(p);
        cr_expect_eq(work(500, MESSAGE, 1), FINE, "%s", protocols[p].name);
        cr_expect_eq(work(500, MESSAGE, 1), protocols[p].clause, "%s", protocols[p].name);
        set(TABLE_MESSAGE, MESSAGE, MESSAGE_EPOCH, 3);
        cr_assert_eq(tell(), FINE);
        cr_expect_eq(work(500, MESSAGE, 3), FINE, "%s: another claim", protocols[p].name);
        cr_expect_eq(work(500, MESSAGE, 2), FINE, "%s: one that has lapsed", protocols[p].name);
        cr_expect_eq(work(500, MESSAGE, 2), protocols[p].clause, "%s", protocols[p].name);
        set(TABLE_MESSAGE, MESSAGE, MESSAGE_EPOCH, JUDGE_CLAIMS_MAX + 1);
        cr_assert_eq(tell(), FINE);
        cr_expect_eq(work(500, MESSAGE, JUDGE_CLAIMS_MAX), FINE);
        cr_expect_eq(work(500, MESSAGE, JUDGE_CLAIMS_MAX), protocols[p].clause);
        cr_expect_eq(work(500, MESSAGE, JUDGE_CLAIMS_MAX + 1), FINE);
        cr_expect_eq(work(500, MESSAGE, JUDGE_CLAIMS_MAX + 1), FINE, "no longer told apart");
    }
}

Test(oracle_journal, a_message_that_is_published_again_after_its_ack_has_claims_of_its_own)
{
    for (size_t p = 0; p < COUNT(protocols); p++) {
        begin_claimed(p);
        drop(TABLE_MESSAGE, MESSAGE);
        cr_assert_eq(tell(), FINE);
        cr_expect_eq(work(500, MESSAGE, 1), FINE, "%s: after another's ack", protocols[p].name);
        protocols[p].publish();
        cr_assert_eq(tell(), FINE);
        cr_expect_eq(work(500, MESSAGE, 1), protocols[p].clause, "%s: not claimed again",
                     protocols[p].name);
        set(TABLE_MESSAGE, MESSAGE, MESSAGE_EPOCH, 1);
        cr_assert_eq(tell(), FINE);
        cr_expect_eq(work(500, MESSAGE, 1), FINE, "%s: claimed again", protocols[p].name);
        cr_expect_eq(work(500, MESSAGE, 1), protocols[p].clause, "%s", protocols[p].name);
    }
}

enum { OF_KEY = 1 }; /* in the list of protocols */

Test(oracle_journal, whatever_an_activity_of_a_flow_comes_to_rests_on_its_work)
{
    PROVES(CLAUSE_KEY_11);
    static const enum flow_event ends[] = {FLOW_COMPLETED, FLOW_HELD, FLOW_ERRORED};
    for (size_t i = 0; i < COUNT(ends); i++) {
        begin_claimed(OF_KEY);
        PUT(FLOW_EVENT, 1100, 1000, 0, ends[i], 0, 1);
        cr_expect_eq(tell(), CLAUSE_KEY_11, "case %zu", i);
    }
}

Test(oracle_journal, the_work_of_a_flow_is_asked_for_by_its_flow_and_its_place)
{
    PROVES(CLAUSE_KEY_11);
    static const int columns[] = {MESSAGE_JOB, MESSAGE_NODE};
    for (size_t i = 0; i < 2 * COUNT(columns); i++) {
        begin_claimed(OF_KEY);
        *hand_cell(&hand, TABLE_MESSAGE, MESSAGE, columns[i / 2]) += i % 2 == 0 ? 1 : -1;
        cr_expect_eq(work(500, MESSAGE, 1), CLAUSE_KEY_11, "case %zu", i);
    }
}

/* ---- tokens of a seq ------------------------------------------------------------------------- */

/* A seq whose attempt `run` is in flight. */
static void begin_run(int64_t run)
{
    begin(&monitors_seq, CLAUSE_SEQ_22);
    PUT(STAGE, 1, [STAGE_LEASE] = 20);
    PUT(SEQ, 500, 0);
    tell();
    set(TABLE_SEQ, 500, SEQ_STATE, 2);
    set(TABLE_SEQ, 500, SEQ_OWNER, OWNER);
    set(TABLE_SEQ, 500, SEQ_ATTEMPTS, run);
    set(TABLE_SEQ, 500, SEQ_HEARTBEAT, 10);
    set(TABLE_SEQ, 500, SEQ_BEAT_BY, OWNER);
    set(TABLE_SEQ, 500, SEQ_BEAT_RUN, run);
    cr_assert_eq(tell(), FINE);
}

static void begin_seq(void)
{
    begin_run(1);
}

static enum clause_id report(int64_t by)
{
    set(TABLE_SEQ, 500, SEQ_STATE, 3);
    set(TABLE_SEQ, 500, SEQ_OWNER, 0);
    set(TABLE_SEQ, 500, SEQ_ENDED_BY, by);
    set(TABLE_SEQ, 500, SEQ_ENDED_RUN, hand_get(&hand, TABLE_SEQ, 500, SEQ_BEAT_RUN));
    return tell();
}

Test(oracle_journal, a_run_is_reported_whose_work_was_done_once_under_its_token)
{
    PROVES(CLAUSE_SEQ_22);
    begin_seq();
    cr_expect_eq(report(OWNER), CLAUSE_SEQ_22, "nobody did it");
    begin_seq();
    cr_expect_eq(work(500, OWNER, 0), FINE, "of the run before, which was done");
    cr_expect_eq(work(500, OWNER, 0), CLAUSE_SEQ_22);
    cr_expect_eq(report(OWNER), CLAUSE_SEQ_22, "not of this run");
    begin_seq();
    cr_expect_eq(work(500, OWNER, 1), FINE);
    cr_expect_eq(work(500, OWNER, 1), CLAUSE_SEQ_22);
    cr_expect_eq(report(OWNER), FINE);
    begin_seq();
    cr_expect_eq(report(0), FINE, "taken away: there is no work to look for");
}

Test(oracle_journal, the_first_thirty_runs_of_a_seq_are_told_apart)
{
    static const struct {
        int64_t run;
        enum clause_id clause;
    } cases[] = {{29, CLAUSE_SEQ_22}, {30, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_run(cases[i].run);
        cr_expect_eq(report(OWNER), cases[i].clause, "case %zu: nobody did it", i);
        begin_run(cases[i].run);
        cr_expect_eq(work(500, OWNER, cases[i].run), FINE);
        cr_expect_eq(work(500, OWNER, cases[i].run), cases[i].clause, "case %zu: twice", i);
        cr_expect_eq(report(OWNER), FINE);
    }
}

Test(oracle_journal, the_token_of_a_run_is_its_owner_and_its_attempt)
{
    PROVES(CLAUSE_SEQ_22);
    static const struct {
        int64_t what, claim, epoch;
    } cases[] = {{500, OWNER, 2},
                 {500, OWNER + 1, 1},
                 {500, OWNER - 1, 1},
                 {500, OWNER, -1},
                 {501, OWNER, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_seq();
        cr_expect_eq(work(cases[i].what, cases[i].claim, cases[i].epoch), CLAUSE_SEQ_22, "case %zu",
                     i);
    }
}
