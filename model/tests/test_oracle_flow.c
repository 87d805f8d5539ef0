/* The monitors of the key protocol, with flows told by hand: what is right passes, and every breach
 * that they know of is planted once. */
#include "model/oracle/oracle.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"

extern const struct monitors monitors_flow;

/* ---- a store --------------------------------------------------------------------------------- */

static struct hand worlds[2];
static struct hand *told = &worlds[0];
static struct oracle oracle;
static int64_t ghosts[2 * HAND_INDEX * GHOST_CELLS];

static void begin(void)
{
    hand_begin(told);
    cr_assert_eq(oracle_cells(&monitors_flow, &told->rows), COUNT(ghosts));
    oracle_begin(&oracle, &monitors_flow, &told->rows, ghosts);
    oracle.off[CLAUSE_KEY_11] = true; /* no work outside rows is told here: test_oracle_journal.c */
}

static void put(enum row_table table, int64_t key, const int64_t *values)
{
    hand_put(told, table, key, values);
}

static void set(enum row_table table, int64_t key, int column, int64_t value)
{
    hand_set(told, table, key, column, value);
}

static struct oracle_verdict tell(void)
{
    struct oracle_verdict verdict =
        monitors_flow.commit(&oracle, &told->rows, told->changes, told->count);
    cr_expect_eq(verdict.broken, *verdict.why != '\0', "a breach is told in words");
    told->count = 0;
    return verdict;
}

static void expect_fine(const char *what)
{
    struct oracle_verdict verdict = tell();
    cr_expect_not(verdict.broken, "%s: %s", what, verdict.why);
    verdict = monitors_flow.recheck(&oracle, &told->rows);
    cr_expect_not(verdict.broken, "%s, slowly: %s", what, verdict.why);
}

static void expect_breach(enum clause_id clause, const char *why)
{
    struct oracle_verdict verdict = tell();
    cr_expect(verdict.broken, "%s: nobody noticed", why);
    cr_expect_eq(verdict.clause, clause, "%s: clause %d", why, (int)verdict.clause);
    cr_expect_str_eq(verdict.why, why);
}

/* ---- flows ----------------------------------------------------------------------------------- */

#define FINE     CLAUSE_COUNT
#define FLOW     INT64_C(1000)
#define AWAITED  INT64_C(2000)
#define AT(p, d) ((d)*weights[p]) /* a digit at a position */

static const int64_t weights[] = {100000000000000, 10000000000000, 1000000000000, 100000000000,
                                  10000000000};

static void put_flow(int64_t flow, int64_t key, int64_t parent, int64_t awaiter)
{
    put(TABLE_FLOW, flow,
        (int64_t[FLOW_COLUMNS]){
            [FLOW_KEY] = key, [FLOW_PARENT] = parent, [FLOW_AWAITER] = awaiter});
}

static void put_place(int64_t flow, int position, int64_t next, int64_t awaits)
{
    put(TABLE_FLOW_PLACE, flow + position + 1,
        (int64_t[FLOW_PLACE_COLUMNS]){flow, position, next,
                                      awaits, [FLOW_PLACE_ENDS] = FLOW_COMPLETED});
}

/* What the work of an activity comes to. */
static void plan(int64_t flow, int64_t position, int64_t ends, int64_t leaves)
{
    if (row_find(&told->rows, TABLE_FLOW_PLACE, flow + position + 1) != ROW_NONE) {
        set(TABLE_FLOW_PLACE, flow + position + 1, FLOW_PLACE_ENDS, ends);
        set(TABLE_FLOW_PLACE, flow + position + 1, FLOW_PLACE_LEAVES, leaves);
    }
}

static void event(int64_t flow, int64_t position, int64_t change, int64_t untaken)
{
    put(TABLE_FLOW_EVENT, flow + 100 + position * 10 + change,
        (int64_t[FLOW_EVENT_COLUMNS]){flow, position, change, untaken, 1});
    if (change == FLOW_ERRORED || change == FLOW_COMPLETED || change == FLOW_HELD) {
        plan(flow, position, change, untaken); /* as its work had it */
    }
}

static void move(int64_t flow, int64_t delta)
{
    set(TABLE_FLOW, flow, FLOW_KEY, hand_get(told, TABLE_FLOW, flow, FLOW_KEY) + delta);
}

static void end(int64_t flow)
{
    put(TABLE_FLOW_END, flow + 500,
        (int64_t[FLOW_END_COLUMNS]){flow, hand_get(told, TABLE_FLOW, flow, FLOW_KEY), 1});
}

/* A fork: 0 before 1 and 2, which both lead to 3; 4 follows 1 alone. */
static void begin_fork(void)
{
    begin();
    put_flow(FLOW, INT64_C(999990000000000), 0, 0);
    put_place(FLOW, 0, 1 << 1 | 1 << 2, 0);
    put_place(FLOW, 1, 1 << 3 | 1 << 4, 0);
    put_place(FLOW, 2, 1 << 3, 0);
    put_place(FLOW, 3, 0, 0);
    put_place(FLOW, 4, 0, 0);
    expect_fine("a flow of five");
}

static void start(int position)
{
    event(FLOW, position, FLOW_STARTED, 0);
    move(FLOW, AT(position, -1));
}

static void complete(int position, int64_t untaken)
{
    event(FLOW, position, FLOW_COMPLETED, untaken);
    move(FLOW, AT(position, -2));
}

static void run(int position)
{
    start(position);
    expect_fine("a start");
    complete(position, 0);
    expect_fine("an end");
}

static void skip(int position)
{
    event(FLOW, position, FLOW_SKIPPED, 0);
    move(FLOW, AT(position, -6));
}

Test(oracle_flow, a_flow_that_skips_joins_pauses_and_ends_is_fine)
{
    PROVES(CLAUSE_KEY_1, CLAUSE_KEY_3, CLAUSE_KEY_4, CLAUSE_KEY_5, CLAUSE_KEY_8, CLAUSE_KEY_9,
           CLAUSE_KEY_10);
    SETTLES(ERRATUM_KEY_2, ERRATUM_KEY_5, ERRATUM_KEY_7);
    begin_fork();
    run(0);
    start(1);
    expect_fine("one branch");
    start(2);
    expect_fine("the other");
    event(FLOW, 1, FLOW_ERRORED, 0);
    move(FLOW, AT(1, -1));
    skip(4);
    expect_fine("an error and what only it could reach");
    cr_expect_eq(oracle.seen[COVER_SKIP_ERROR], 1U);
    cr_expect_eq(oracle.seen[COVER_SKIP_JOIN], 0U);
    event(FLOW, 2, FLOW_HELD, 0);
    move(FLOW, AT(2, -3));
    expect_fine("held");
    event(FLOW, 2, FLOW_RELEASED, 0);
    move(FLOW, AT(2, -1));
    expect_fine("released");
    event(FLOW, 0, FLOW_PAUSED, 0);
    move(FLOW, AT(0, -1));
    expect_fine("paused after it completed");
    run(3);
    event(FLOW, 0, FLOW_RELEASED, 0);
    move(FLOW, AT(0, -1));
    end(FLOW);
    expect_fine("complete");
    cr_expect_not(monitors_flow.settled(&oracle, &told->rows, true).broken);
    cr_expect_gt(oracle.evaluated[CLAUSE_KEY_5], 0U);
    cr_expect_gt(oracle.evaluated[CLAUSE_KEY_8], 0U);
    cr_expect_gt(oracle.evaluated[CLAUSE_KEY_10], 0U);
    static const uint64_t moves[] = {4, 1, 2, 1, 1, 2, 1}; /* in the order of enum flow_event */
    for (int change = FLOW_STARTED; change <= FLOW_SKIPPED; change++) {
        cr_expect_eq(oracle.seen[COVER_KEY_STARTED + change - FLOW_STARTED],
                     moves[change - FLOW_STARTED], "change %d", change);
    }
}

Test(oracle_flow, skips_are_seen_for_what_they_are)
{
    PROVES(CLAUSE_KEY_5);
    begin_fork();
    start(0);
    expect_fine("a start");
    complete(0, 1 << 1);
    skip(1);
    skip(4);
    expect_fine("a branch that was not taken, and what follows it");
    cr_expect_eq(oracle.seen[COVER_SKIP_CHAIN], 1U);
    cr_expect_eq(oracle.seen[COVER_SKIP_SPARES], 1U, "3 can be reached from 2");
    start(2);
    expect_fine("a start");
    complete(2, 1 << 3);
    skip(3);
    end(FLOW);
    expect_fine("the last way to the join");
    cr_expect_eq(oracle.seen[COVER_SKIP_JOIN], 1U);
    for (int sight = COVER_SKIP_CHAIN; sight <= COVER_SKIP_ERROR; sight++) {
        cr_expect_eq(oracle_cover_clause((enum oracle_cover)sight), CLAUSE_KEY_5);
        cr_expect(*oracle_cover_text((enum oracle_cover)sight) != '\0');
    }
}

/* ---- what the digits say --------------------------------------------------------------------- */

Test(oracle_flow, a_digit_that_moves_alone_and_an_event_that_comes_alone_break_key_1)
{
    PROVES(CLAUSE_KEY_1);
    begin_fork();
    move(FLOW, AT(0, -1));
    expect_breach(CLAUSE_KEY_1, "a digit does not say what happened to its activity");
    begin_fork();
    event(FLOW, 0, FLOW_STARTED, 0);
    expect_breach(CLAUSE_KEY_1, "a digit does not say what happened to its activity");
    begin_fork();
    put_place(FLOW, 5, 0, 0);
    expect_breach(CLAUSE_KEY_1, "a digit does not say what happened to its activity");
    begin_fork();
    put_place(FLOW, 15, 0, 0); /* is nowhere, so nothing depends on it */
    expect_fine("a place past the end");
}

Test(oracle_flow, an_end_or_a_branch_that_the_work_did_not_come_to_breaks_key_1)
{
    PROVES(CLAUSE_KEY_1);
    SETTLES(ERRATUM_KEY_2);
    static const int64_t ends[] = {FLOW_ERRORED, FLOW_COMPLETED, FLOW_HELD};
    static const int64_t digits[] = {1, 2, 3};
    for (size_t i = 0; i < COUNT(ends) * COUNT(ends); i++) {
        size_t happens = i % COUNT(ends), planned = i / COUNT(ends);
        begin();
        put_flow(FLOW, AT(0, 9), 0, 0);
        put_place(FLOW, 0, 0, 0);
        expect_fine("a flow of one");
        start(0);
        expect_fine("a start");
        event(FLOW, 0, ends[happens], 0);
        move(FLOW, AT(0, -digits[happens]));
        plan(FLOW, 0, ends[planned], 0);
        if (ends[happens] != FLOW_HELD) {
            end(FLOW);
        }
        if (happens == planned) {
            expect_fine("as planned");
        } else {
            expect_breach(CLAUSE_KEY_1, "an activity ended otherwise than its work did");
        }
    }
    begin_fork();
    start(0);
    expect_fine("a start");
    complete(0, 1 << 1);
    skip(1);
    skip(4);
    plan(FLOW, 0, FLOW_COMPLETED, 1 << 2);
    expect_breach(CLAUSE_KEY_1, "an activity took other branches than its work decided for");
    begin_fork();
    start(0);
    expect_fine("a start");
    complete(0, 1 << 2);
    skip(2);
    plan(FLOW, 0, FLOW_COMPLETED, 1 << 1);
    expect_breach(CLAUSE_KEY_1, "an activity took other branches than its work decided for");
}

Test(oracle_flow, what_is_held_decides_for_branches_too)
{
    PROVES(CLAUSE_KEY_5);
    begin_fork();
    start(0);
    expect_fine("a start");
    event(FLOW, 0, FLOW_HELD, 1 << 1);
    move(FLOW, AT(0, -3));
    skip(1);
    skip(4);
    expect_fine("held, and a branch that it does not take");
}

Test(oracle_flow, a_flow_has_up_to_fifteen_activities)
{
    begin();
    put_flow(FLOW, INT64_C(999999999999999), 0, 0);
    for (int position = 0; position < 15; position++) {
        put_place(FLOW, position, 0, 0);
    }
    expect_fine("fifteen of them");
    event(FLOW, 14, FLOW_STARTED, 0);
    move(FLOW, -1);
    expect_fine("the last one starts");
}

Test(oracle_flow, what_no_digit_stands_for_breaks_key_1)
{
    PROVES(CLAUSE_KEY_1);
    static const int64_t wrong[][2] = {{15, FLOW_STARTED}, {-1, FLOW_STARTED}, {0, 0}, {0, 8}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        begin_fork();
        event(FLOW, wrong[i][0], wrong[i][1], 0);
        expect_breach(CLAUSE_KEY_1, "something happened that no digit stands for");
    }
}

Test(oracle_flow, a_row_of_a_flow_that_is_not_there_breaks_key_1)
{
    begin_fork();
    event(AWAITED, 0, FLOW_STARTED, 0);
    expect_breach(CLAUSE_KEY_1, "what a flow is made of is not there");
    begin_fork();
    hand_note(told, TABLE_FLOW_PLACE, 0, ROW_DELETED, 0, 0);
    expect_breach(CLAUSE_KEY_1, "what a flow is made of is not there");
    begin_fork();
    hand_note(told, TABLE_MESSAGE, 0, ROW_DELETED, 0, 0);
    expect_fine("a message is nothing of a flow");
}

Test(oracle_flow, a_number_that_is_no_key_is_none)
{
    PROVES(CLAUSE_KEY_1, CLAUSE_KEY_2);
    begin_fork();
    set(TABLE_FLOW, FLOW, FLOW_KEY, -1);
    cr_expect(tell().broken);
    begin_fork();
    set(TABLE_FLOW, FLOW, FLOW_UNTAKEN, 3);
    expect_fine("another column than the key");
}

Test(oracle_flow, a_flow_begins_with_nines)
{
    PROVES(CLAUSE_KEY_9);
    static const int64_t keys[] = {899990000000000, 999900000000000, 999999000000000};
    for (size_t i = 0; i < COUNT(keys); i++) {
        begin();
        put_flow(FLOW, keys[i], 0, 0);
        for (int p = 0; p < 5; p++) {
            put_place(FLOW, p, 0, 0);
        }
        expect_breach(CLAUSE_KEY_9, "a flow did not start with a nine for each of its activities");
    }
    begin(); /* of no activities */
    put_flow(FLOW, 0, 0, 0);
    expect_breach(CLAUSE_KEY_9, "a flow did not start with a nine for each of its activities");
    begin();
    put_flow(FLOW, INT64_C(900000000000000), 0, 0);
    expect_breach(CLAUSE_KEY_9, "a flow did not start with a nine for each of its activities");
}

/* ---- what may happen ------------------------------------------------------------------------- */

Test(oracle_flow, impossible_changes_and_borrows_break_key_8)
{
    PROVES(CLAUSE_KEY_8);
    begin_fork();
    event(FLOW, 0, FLOW_COMPLETED, 0);
    move(FLOW, AT(0, -3));
    cr_expect_eq(tell().clause, CLAUSE_KEY_8, "complete a pending one");
    begin_fork();
    run(0);
    start(1);
    expect_fine("a start");
    move(FLOW, AT(1, -9));
    cr_expect_eq(tell().clause, CLAUSE_KEY_8, "a borrow");
}

Test(oracle_flow, what_happens_again_breaks_key_8)
{
    PROVES(CLAUSE_KEY_8);
    SETTLES(ERRATUM_KEY_3);
    begin_fork();
    start(0);
    expect_fine("a start");
    set(TABLE_FLOW_EVENT, FLOW + 100 + FLOW_STARTED, FLOW_EVENT_RUNS, 2);
    move(FLOW, AT(0, -1));
    expect_breach(CLAUSE_KEY_8, "a change that had been made was made again");
}

/* The specification's example: flow A 999969, whose activity 5 awaits flow B 466366. */
Test(oracle_flow, a_reported_status_that_is_not_that_of_the_rows_breaks_key_6)
{
    PROVES(CLAUSE_KEY_6);
    static const struct {
        const char *text;
        bool right;
    } cases[] = {
        {"99996146636629", true},  {"99996146636628", false},
        {"9999614663662", false},  {"999961466366290", false},
        {"99991466366269", false}, {"999969", false},
        {"99996136636629", false}, {"", false},
    };
    begin();
    put_flow(FLOW, 999969000000000, 0, 0);
    put_flow(AWAITED, 466366000000000, FLOW, 4);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct oracle_verdict verdict =
            monitors_flow.reported(&oracle, &told->rows, FLOW, cases[i].text);
        cr_expect_eq(verdict.broken, !cases[i].right, "%s", cases[i].text);
        cr_expect(cases[i].right || verdict.clause == CLAUSE_KEY_6, "%s", cases[i].text);
    }
    cr_expect(monitors_flow.reported(&oracle, &told->rows, 77, "9").broken, "of no flow");
    cr_expect(monitors_flow.reported(&oracle, &told->rows, 77, "").broken, "nothing, of no flow");
    cr_expect_eq(oracle.evaluated[CLAUSE_KEY_6], COUNT(cases) + 2);
    put_flow(AWAITED + 1, 300000000000000, AWAITED, 0);
    cr_expect_not(monitors_flow.reported(&oracle, &told->rows, FLOW, "99996141326636629").broken,
                  "deeper");
}

Test(oracle_flow, a_start_before_its_parents_are_settled_breaks_key_8)
{
    PROVES(CLAUSE_KEY_8);
    static const char why[] = "an activity was started before the flow had come to it";
    begin_fork();
    start(1);
    expect_breach(CLAUSE_KEY_8, why);
    begin_fork();
    run(0);
    run(1);
    start(3);
    expect_breach(CLAUSE_KEY_8, why); /* 2 is pending */
    begin_fork();
    start(0);
    expect_fine("a start");
    event(FLOW, 0, FLOW_HELD, 0);
    move(FLOW, AT(0, -3));
    expect_fine("held");
    start(1);
    expect_breach(CLAUSE_KEY_8, why); /* not released */
    begin_fork();
    start(0);
    expect_fine("a start");
    complete(0, 1 << 1 | 1 << 2);
    start(1);
    event(FLOW, 2, FLOW_SKIPPED, 0);
    move(FLOW, AT(2, -6));
    oracle.off[CLAUSE_KEY_3] = true;  /* in one commit with its parent's end */
    expect_breach(CLAUSE_KEY_8, why); /* along an edge that was not taken */
}

/* ---- skips ----------------------------------------------------------------------------------- */

Test(oracle_flow, what_nothing_can_reach_is_skipped_and_nothing_else)
{
    PROVES(CLAUSE_KEY_5);
    SETTLES(ERRATUM_KEY_5);
    begin_fork();
    start(0);
    expect_fine("a start");
    complete(0, 1 << 1);
    skip(1);
    expect_breach(CLAUSE_KEY_5, "nothing can reach an activity any more, and it was not skipped");
    begin_fork();
    start(0);
    expect_fine("a start");
    event(FLOW, 0, FLOW_ERRORED, 0);
    move(FLOW, AT(0, -1));
    expect_breach(CLAUSE_KEY_5, "nothing can reach an activity any more, and it was not skipped");
    begin_fork();
    start(0);
    expect_fine("a start");
    complete(0, 0);
    skip(1);
    skip(4);
    expect_breach(CLAUSE_KEY_5, "an activity was skipped that could still be reached");
}

/* ---- completion ------------------------------------------------------------------------------ */

/* One activity, about to complete. */
static void begin_one(void)
{
    begin();
    put_flow(FLOW, AT(0, 9), 0, 0);
    put_place(FLOW, 0, 0, 0);
    expect_fine("a flow of one");
    start(0);
    expect_fine("a start");
}

Test(oracle_flow, completion_tasks_come_once_with_the_change_that_completes)
{
    PROVES(CLAUSE_KEY_10);
    SETTLES(ERRATUM_KEY_7);
    begin_one();
    complete(0, 0);
    expect_breach(CLAUSE_KEY_10, "a flow became complete and its completion tasks did not run");
    begin_one();
    end(FLOW);
    expect_breach(CLAUSE_KEY_10, "completion tasks ran of a flow that has active digits");
    begin_one();
    complete(0, 0);
    end(FLOW);
    set(TABLE_FLOW_END, FLOW + 500, FLOW_END_RUNS, 2);
    expect_breach(CLAUSE_KEY_10, "completion tasks ran more than once");
    set(TABLE_FLOW_END, FLOW + 500, FLOW_END_RUNS, 0);
    expect_breach(CLAUSE_KEY_10, "completion tasks ran more than once");
    set(TABLE_FLOW_END, FLOW + 500, FLOW_END_RUNS, 1);
    set(TABLE_FLOW_END, FLOW + 500, FLOW_END_KEY, AT(0, 4));
    expect_breach(CLAUSE_KEY_10, "completion was decided on another key than the change left");
    begin_one();
    end(FLOW);
    complete(0, 0);
    expect_breach(CLAUSE_KEY_10, "completion was decided on another key than the change left");
    begin_one();
    complete(0, 0);
    end(FLOW);
    expect_fine("complete");
    event(FLOW, 0, FLOW_PAUSED, 0);
    move(FLOW, AT(0, -1));
    cr_expect_eq(tell().clause, CLAUSE_KEY_10, "a complete flow is not reopened");
}

/* ---- who awaits a flow ----------------------------------------------------------------------- */

/* One activity that awaits a flow of one. */
static void begin_awaiting(bool with_flow)
{
    begin();
    put_flow(FLOW, AT(0, 9), 0, 0);
    put_place(FLOW, 0, 0, 1);
    expect_fine("a flow that will await another");
    start(0);
    if (with_flow) {
        put_flow(AWAITED, AT(0, 9), FLOW, 0);
        put_place(AWAITED, 0, 0, 0);
        expect_fine("it waits");
    }
}

static void run_awaited(enum flow_event last, int64_t delta)
{
    event(AWAITED, 0, FLOW_STARTED, 0);
    move(AWAITED, AT(0, -1));
    expect_fine("the awaited one starts");
    event(AWAITED, 0, last, 0);
    move(AWAITED, AT(0, delta));
    end(AWAITED);
    expect_fine("and ends");
}

Test(oracle_flow, who_awaits_a_flow_stays_8_until_it_has_ended_and_ends_as_it_did)
{
    PROVES(CLAUSE_KEY_8);
    SETTLES(ERRATUM_KEY_9);
    begin_awaiting(true);
    run_awaited(FLOW_COMPLETED, -2);
    complete(0, 0);
    end(FLOW);
    expect_fine("then the awaiting one");

    begin_awaiting(true);
    run_awaited(FLOW_COMPLETED, -2);
    complete(0, 0);
    plan(FLOW, 0, FLOW_ERRORED, 0);
    end(FLOW);
    expect_breach(CLAUSE_KEY_1, "an activity ended otherwise than its work did");

    begin_awaiting(true);
    complete(0, 0);
    end(FLOW);
    expect_breach(CLAUSE_KEY_8, "an activity went on while the flow that it awaits was active");

    begin_awaiting(true);
    run_awaited(FLOW_ERRORED, -1);
    complete(0, 0);
    end(FLOW);
    expect_breach(CLAUSE_KEY_8,
                  "an activity completed although the flow that it awaits ended in error");

    begin_awaiting(true);
    run_awaited(FLOW_ERRORED, -1);
    event(FLOW, 0, FLOW_ERRORED, 0);
    move(FLOW, AT(0, -1));
    end(FLOW);
    expect_fine("it errs, too");

    begin_awaiting(true);
    run_awaited(FLOW_COMPLETED, -2);
    event(FLOW, 0, FLOW_ERRORED, 0);
    plan(FLOW, 0, FLOW_COMPLETED, 0); /* nor would its own work */
    move(FLOW, AT(0, -1));
    end(FLOW);
    expect_breach(CLAUSE_KEY_8, "an activity failed although the flow that it awaits did not");

    begin_awaiting(false);
    expect_breach(CLAUSE_KEY_8, "an activity that awaits a flow began none, or not one, or not "
                                "when it started");
    begin_awaiting(true);
    put_flow(AWAITED + 1000, AT(0, 9), FLOW, 0);
    put_place(AWAITED + 1000, 0, 0, 0);
    set(TABLE_FLOW, FLOW, FLOW_UNTAKEN, 3); /* so that the awaiting flow is judged */
    expect_breach(CLAUSE_KEY_8, "an activity that awaits a flow began none, or not one, or not "
                                "when it started");
}

/* ---- in the end ------------------------------------------------------------------------------ */

static struct oracle_verdict settle(bool quiet)
{
    return monitors_flow.settled(&oracle, &told->rows, quiet);
}

Test(oracle_flow, only_a_flow_that_is_there_is_resumed)
{
    PROVES(CLAUSE_KEY_10);
    static const struct {
        int64_t flow;
        enum clause_id clause;
    } cases[] = {{FLOW, FINE}, {AWAITED, CLAUSE_KEY_10}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        put_flow(FLOW, AT(0, 9), 0, 0);
        told->count = 0;
        put(TABLE_MESSAGE, 5,
            (int64_t[MESSAGE_COLUMNS]){
                [MESSAGE_KIND] = FLOW_RESUME, [MESSAGE_JOB] = cases[i].flow});
        struct oracle_verdict verdict = tell();
        cr_expect_eq(verdict.broken ? verdict.clause : FINE, cases[i].clause);
    }
}

Test(oracle_flow, in_the_end_every_flow_was_completed_by_a_change)
{
    PROVES(CLAUSE_KEY_10);
    begin_one();
    cr_expect_str_eq(settle(true).why, "a flow began and no change ever completed it");
    cr_expect_str_eq(settle(false).why, "work is left, and does not end");
    put(TABLE_MESSAGE, 5,
        (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = FLOW_RESUME, [MESSAGE_JOB] = FLOW});
    cr_expect_str_eq(settle(false).why, "messages are left in the queue");
    complete(0, 0);
    end(FLOW);
    expect_fine("complete");
    cr_expect_not(settle(true).broken);
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

/* One activity, in a case in which it is to be paused. */
static struct expectation asked;

static struct expected_place *ask_for_one(void)
{
    struct expected_place *place = &asked.of.flow.flow[0].place[0];
    asked.of.flow = (struct expected_flows){.jobs = 1, .cases = 1, .flows = 1};
    asked.of.flow.flow[0].places = 1;
    *place = (struct expected_place){.awaits = -1, .digit = {6}};
    return place;
}

/* A run of it under its own id, completed; the verdict of that commit. */
static void run_asked(int64_t flow)
{
    begin();
    oracle.expected = &asked;
    put_flow(flow, AT(0, 9), 0, 0);
    put_place(flow, 0, 0, 0);
}

Test(oracle_flow, a_flow_ends_as_its_case_asks_for)
{
    PROVES(CLAUSE_KEY_10);
    struct expected_place *place = ask_for_one();
    int64_t flow = expected_flow_id(0);
    run_asked(flow);
    expect_fine("begun");
    event(flow, 0, FLOW_STARTED, 0);
    move(flow, AT(0, -1));
    event(flow, 0, FLOW_COMPLETED, 0);
    move(flow, AT(0, -2));
    end(flow);
    told->count = 0;
    cr_expect_not(settle(true).broken);
    place->digit[0] = 4; /* held */
    cr_expect_str_eq(settle(true).why, "a flow ended otherwise than its case asks for");
    place->digit[0] = 6;
    put_flow(AWAITED, AT(0, 6), 0, 0);
    put(TABLE_FLOW_END, 2, (int64_t[FLOW_END_COLUMNS]){AWAITED, AT(0, 6), 1});
    cr_expect_str_eq(settle(true).why,
                     "a flow that was asked for never began, or one began that was not");
    asked.of.flow.jobs = 2;
    cr_expect_str_eq(settle(true).why,
                     "a flow that was asked for never began, or one began that was not");
}

Test(oracle_flow, a_job_runs_in_the_case_that_is_its_turn)
{
    PROVES(CLAUSE_KEY_10);
    ask_for_one();
    asked.of.flow.cases = 2;
    asked.of.flow.jobs = 2;
    asked.of.flow.flow[0].place[0].digit[1] = 6;
    run_asked(expected_flow_id(0));
    put_flow(expected_flow_id(1), AT(0, 9), 0, 0);
    set(TABLE_FLOW, expected_flow_id(0), FLOW_CASE, 1);
    put(TABLE_FLOW_END, 1, (int64_t[FLOW_END_COLUMNS]){expected_flow_id(0), AT(0, 6), 1});
    put(TABLE_FLOW_END, 2, (int64_t[FLOW_END_COLUMNS]){expected_flow_id(1), AT(0, 6), 1});
    set(TABLE_FLOW, expected_flow_id(0), FLOW_KEY, AT(0, 6));
    set(TABLE_FLOW, expected_flow_id(1), FLOW_KEY, AT(0, 6));
    cr_expect_str_eq(settle(true).why,
                     "a job ran another flow, or in another case, than it asked for");
    set(TABLE_FLOW, expected_flow_id(0), FLOW_CASE, 0);
    cr_expect_str_eq(settle(true).why,
                     "a job ran another flow, or in another case, than it asked for", "the second");
    set(TABLE_FLOW, expected_flow_id(1), FLOW_CASE, 1);
    cr_expect_not(settle(true).broken);
    asked.of.flow.flows = 2;
    asked.of.flow.flow[1] = asked.of.flow.flow[0];
    set(TABLE_FLOW, expected_flow_id(0), FLOW_SHAPE, 1);
    cr_expect_str_eq(settle(true).why,
                     "a job ran another flow, or in another case, than it asked for", "another");
}

Test(oracle_flow, a_new_flow_is_what_was_asked_for)
{
    PROVES(CLAUSE_KEY_2);
    static const struct {
        int shape;
        int64_t next, ends, leaves, awaits;
        enum clause_id clause;
        const char *why;
    } cases[] = {
        {0, 0, FLOW_COMPLETED, 0, 0, FINE, ""},
        {1, 0, FLOW_COMPLETED, 0, 0, CLAUSE_KEY_10, "a flow began that nobody asked for"},
        {0, 2, FLOW_COMPLETED, 0, 0, CLAUSE_KEY_2,
         "a flow's activities are not those of the scenario in ascending order"},
        {0, 0, FLOW_COMPLETED, 0, 1, CLAUSE_KEY_2,
         "a flow's activities are not those of the scenario in ascending order"},
        {0, 0, FLOW_ERRORED, 0, 0, CLAUSE_KEY_1,
         "an activity is to end, or to branch, otherwise than its case says"},
        {0, 0, FLOW_COMPLETED, 4, 0, CLAUSE_KEY_1,
         "an activity is to end, or to branch, otherwise than its case says"},
    };
    ask_for_one();
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        oracle.expected = &asked;
        put_flow(FLOW, AT(0, 9), 0, 0);
        set(TABLE_FLOW, FLOW, FLOW_SHAPE, cases[i].shape);
        put_place(FLOW, 0, cases[i].next, cases[i].awaits);
        plan(FLOW, 0, cases[i].ends, cases[i].leaves);
        if (cases[i].clause == FINE) {
            expect_fine("as asked");
        } else {
            expect_breach(cases[i].clause, cases[i].why);
        }
    }
    for (int i = 0; i < 3; i++) { /* it is to err, to be held, or to take no branch */
        struct expected_place *place = ask_for_one();
        place->errors = i == 0;
        place->holds = i == 1;
        begin();
        oracle.expected = &asked;
        put_flow(FLOW, AT(0, 9), 0, 0);
        put_place(FLOW, 0, 0, 0);
        plan(FLOW, 0, FLOW_COMPLETED, i == 2 ? -1 : 0);
        expect_breach(CLAUSE_KEY_1,
                      "an activity is to end, or to branch, otherwise than its case says");
    }
    ask_for_one();
    asked.of.flow.flow[0].places = 2; /* one too few, of which nothing differs */
    asked.of.flow.flow[0].place[1] = asked.of.flow.flow[0].place[0];
    begin();
    oracle.expected = &asked;
    put_flow(FLOW, AT(0, 9), 0, 0);
    put_place(FLOW, 0, 0, 0);
    expect_breach(CLAUSE_KEY_2,
                  "a flow's activities are not those of the scenario in ascending order");
    asked.of.flow.flow[0].places = 1;
    begin(); /* one activity too many, which stands behind all that were asked for */
    oracle.expected = &asked;
    put_flow(FLOW, AT(0, 9) + AT(1, 9), 0, 0);
    put_place(FLOW, 0, 0, 0);
    put_place(FLOW, 1, 0, 0);
    expect_breach(CLAUSE_KEY_2,
                  "a flow's activities are not those of the scenario in ascending order");
}

/* Flow 0 awaits flow 1 at its only place. */
Test(oracle_flow, a_flow_that_is_awaited_is_the_one_that_was_asked_for)
{
    PROVES(CLAUSE_KEY_10);
    static const struct {
        int64_t awaiter, shape, number;
        bool fine;
        int64_t above; /* the case of who awaits it */
    } cases[] = {{0, 1, 1, true, 1},  {0, 1, 0, false, 1}, {-1, 1, 0, false, 0},

                 {0, 1, 0, true, 0},  {0, 0, 0, false, 0}, {0, 2, 0, false, 0},
                 {0, 1, 1, false, 0}, {1, 1, 0, false, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        ask_for_one()->awaits = 1;
        asked.of.flow.cases = 2;
        asked.of.flow.flows = 3;
        for (int shape = 1; shape < 3; shape++) {
            asked.of.flow.flow[shape] = asked.of.flow.flow[0];
            asked.of.flow.flow[shape].place[0].awaits = -1;
        }
        asked.of.flow.flow[0].place[1].awaits = 1; /* no place of it */
        begin();
        oracle.expected = &asked;
        put_flow(FLOW, AT(0, 9), 0, 0);
        set(TABLE_FLOW, FLOW, FLOW_CASE, cases[i].above);
        put_place(FLOW, 0, 0, 1);
        expect_fine("a flow that will await another");
        start(0);
        put_flow(AWAITED, AT(0, 9), FLOW, cases[i].awaiter);
        set(TABLE_FLOW, AWAITED, FLOW_SHAPE, cases[i].shape);
        set(TABLE_FLOW, AWAITED, FLOW_CASE, cases[i].number);
        put_place(AWAITED, 0, 0, cases[i].shape == 0);
        if (cases[i].fine) {
            expect_fine("it waits");
        } else {
            oracle.off[CLAUSE_KEY_8] = true; /* it awaits another one */
            expect_breach(CLAUSE_KEY_10, "a flow began that nobody asked for");
        }
    }
}

Test(oracle_flow, a_flow_that_nobody_awaits_is_not_asked_for)
{
    ask_for_one();
    begin();
    oracle.expected = &asked;
    put_flow(AWAITED, AT(0, 9), 4711, 0);
    put_place(AWAITED, 0, 0, 0);
    expect_breach(CLAUSE_KEY_10, "a flow began that nobody asked for");
}

Test(oracle_flow, a_pause_that_is_to_be_is_asked_for_and_served)
{
    PROVES(CLAUSE_KEY_3);
    ask_for_one()->pauses = 1;
    asked.of.flow.flow[0].places = 2;
    asked.of.flow.flow[0].place[1] = asked.of.flow.flow[0].place[0];
    asked.of.flow.flow[0].place[1].pauses = 0;
    run_asked(FLOW);
    set(TABLE_FLOW, FLOW, FLOW_KEY, AT(0, 9) + AT(1, 9));
    put_place(FLOW, 1, 0, 0);
    expect_fine("begun");
    event(FLOW, 0, FLOW_STARTED, 0);
    move(FLOW, AT(0, -1));
    expect_fine("started");
    event(FLOW, 0, FLOW_COMPLETED, 0);
    move(FLOW, AT(0, -2));
    expect_breach(CLAUSE_KEY_3,
                  "an activity that is to be paused completed, and nobody was asked to pause it");
    put(TABLE_MESSAGE, 77,
        (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = FLOW_PAUSE, [MESSAGE_JOB] = FLOW});
    expect_fine("asked for");
    hand_note(told, TABLE_MESSAGE, 0, ROW_DELETED, 0, 0);
    expect_breach(CLAUSE_KEY_3, "a request to pause an activity was acked, and nothing was paused");
}

Test(oracle_flow, a_transaction_that_did_not_commit_left_nothing)
{
    begin_fork();
    cr_expect_not(oracle_rollback(&oracle, told->changes, 0).broken);
    start(0);
    cr_expect_eq(oracle_rollback(&oracle, told->changes, told->count).clause, CLAUSE_KEY_8);
    cr_expect_eq(oracle.spoke, ORACLE_KEY);
}
