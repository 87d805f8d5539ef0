/* The job semaphore: its arithmetic, the hit that it writes into a GUID ledger, examples 18.3 and
 * 18.4 whole, and what the other reading of each erratum would have done. */
#include "model/check.h"
#include "model/reference/ledger.h"
#include "model/reference/semaphore.h"
#include "model/semaphore.h"
#include "model/tests/proves.h"
#include "model/tests/trace.h"

#include <criterion/criterion.h>
#include <signal.h>

#define SNAPSHOT INT64_C(100000000000) /* 100B */
#define SPAWNED  INT64_C(1000000000)   /* 1B */

static void expect_move(int64_t semaphore, int64_t delta, int64_t threshold,
                        enum semaphore_outcome outcome, int64_t after, bool hit)
{
    struct semaphore_move move = semaphore_apply(semaphore, delta, threshold);
    HOLDS(move.outcome == outcome, "%" PRId64 " %+" PRId64 ": outcome %d, not %d", semaphore, delta,
          (int)move.outcome, (int)outcome);
    HOLDS(move.after == after, "%" PRId64 " %+" PRId64 ": %" PRId64, semaphore, delta, move.after);
    HOLDS(move.hit == hit, "%" PRId64 " %+" PRId64 ": hit %d at threshold %" PRId64, semaphore,
          delta, move.hit, threshold);
}

static void expect_collation(struct semaphore_collation collation, enum semaphore_outcome outcome,
                             int64_t after, int64_t guid, bool hit)
{
    HOLDS(collation.outcome == outcome, "outcome %d, not %d", (int)collation.outcome, (int)outcome);
    HOLDS(collation.after == after, "semaphore %" PRId64 ", not %" PRId64, collation.after, after);
    HOLDS(collation.guid == guid, "GUID " TRACE_LEDGER ", not " TRACE_LEDGER, collation.guid, guid);
    HOLDS(collation.hit == hit, "hit %d, not %d", collation.hit, hit);
}

static int64_t plus(int64_t ledger, enum ledger_field field)
{
    struct ledger_increment increment = ledger_add(ledger, field);
    cr_assert_eq(increment.outcome, LEDGER_INCREMENTED);
    return increment.ledger;
}

/* ---- the delta ----------------------------------------------------------------------------- */

Test(semaphore, delta_is_the_children_less_1_or_all_of_them_when_pending)
{
    PROVES(CLAUSE_ACL_20);
    SETTLES(ERRATUM_ACL_8);
    static const struct {
        int64_t children;
        int64_t closing;
        int64_t pending;
    } cases[] = {
        {0, -1, 0}, {1, 0, 1}, {2, 1, 2}, {3, 2, 3}, {1000000, 999999, 1000000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(semaphore_delta(cases[i].children, false), cases[i].closing);
        cr_expect_eq(semaphore_delta(cases[i].children, true), cases[i].pending);
    }
}

Test(semaphore, fewer_than_no_children_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    semaphore_delta(-1, true);
}

/* An activity that answers "pending", then closes, alone in its job and without children. */
Test(semaphore, a_pending_answer_leaves_the_job_open_for_the_closing_one)
{
    SETTLES(ERRATUM_ACL_8, ERRATUM_ACL_19);
    expect_move(SEMAPHORE_AT_CREATION, semaphore_delta(0, true), 0, SEMAPHORE_MOVED, 1, false);
    expect_move(1, semaphore_delta(0, false), 0, SEMAPHORE_MOVED, 0, true);
    /* The other reading, N - 1 for both: the job closes under the open activity, whose own closing
     * answer then finds nothing left to close. */
    expect_move(SEMAPHORE_AT_CREATION, semaphore_delta(0, false), 0, SEMAPHORE_MOVED, 0, true);
    expect_move(0, semaphore_delta(0, false), 0, SEMAPHORE_NEGATIVE, 0, false);
}

/* ---- the first value ----------------------------------------------------------------------- */

Test(semaphore, a_job_starts_with_the_obligation_of_its_trigger)
{
    SETTLES(ERRATUM_ACL_9);
    cr_assert_eq(SEMAPHORE_AT_CREATION, 1);
    /* A trigger with two children, each without: open until the last of the three has closed. */
    static const int64_t children[] = {2, 0, 0};
    static struct trace trace;
    int64_t semaphore = SEMAPHORE_AT_CREATION;
    for (size_t i = 0; i < COUNT(children); i++) {
        struct semaphore_move move =
            semaphore_apply(semaphore, semaphore_delta(children[i], false), 0);
        cr_assert_eq(move.outcome, SEMAPHORE_MOVED);
        semaphore = move.after;
        trace_add(&trace, "%" PRId64 "%s\n", semaphore, move.hit ? " hit" : "");
    }
    cr_expect_str_eq(trace.text, "2\n1\n0 hit\n");
    /* The other first value, 0: a trigger with one child ends the job before that child has run,
     * and one without children cannot close at all. */
    expect_move(0, semaphore_delta(1, false), 0, SEMAPHORE_MOVED, 0, true);
    expect_move(0, semaphore_delta(0, false), 0, SEMAPHORE_NEGATIVE, 0, false);
}

/* ---- moves: valid, invalid ----------------------------------------------------------------- */

Test(semaphore, hit_is_after_equals_threshold_for_every_threshold)
{
    PROVES(CLAUSE_ACL_40);
    SETTLES(ERRATUM_ACL_14);
    static const int64_t thresholds[] = {-1, 0, 1, 2, 11, 12, 13, INT64_MIN, INT64_MAX};
    for (size_t t = 0; t < COUNT(thresholds); t++) {
        for (int64_t semaphore = 0; semaphore <= 30; semaphore++) {
            for (int64_t delta = -semaphore; delta <= 30; delta++) {
                expect_move(semaphore, delta, thresholds[t], SEMAPHORE_MOVED, semaphore + delta,
                            semaphore + delta == thresholds[t]);
            }
        }
    }
}

/* The other reading of E-ACL-14: 9.3, "this transition caused the semaphore to reach" it. */
static bool caused_to_reach(int64_t before, int64_t delta, int64_t threshold)
{
    return before != threshold && before + delta == threshold;
}

Test(semaphore, a_move_by_0_at_the_threshold_is_a_hit)
{
    SETTLES(ERRATUM_ACL_14);
    expect_move(12, 0, 12, SEMAPHORE_MOVED, 12, true);
    cr_expect_not(caused_to_reach(12, 0, 12), "the other reading takes no snapshot here");
}

Test(semaphore, the_two_readings_of_reaching_agree_at_threshold_0)
{
    SETTLES(ERRATUM_ACL_14);
    for (int64_t semaphore = SEMAPHORE_AT_CREATION; semaphore <= 100; semaphore++) {
        for (int64_t children = 0; children <= 100; children++) {
            int64_t delta = semaphore_delta(children, false);
            HOLDS(semaphore_apply(semaphore, delta, 0).hit == caused_to_reach(semaphore, delta, 0),
                  "%" PRId64 " %+" PRId64, semaphore, delta);
        }
    }
}

Test(semaphore, a_move_that_would_leave_its_range_changes_nothing)
{
    SETTLES(ERRATUM_ACL_19);
    static const struct {
        int64_t semaphore;
        int64_t delta;
        enum semaphore_outcome outcome;
    } cases[] = {
        {0, -1, SEMAPHORE_NEGATIVE},
        {1, -2, SEMAPHORE_NEGATIVE},
        {5, -6, SEMAPHORE_NEGATIVE},
        {0, INT64_MIN, SEMAPHORE_NEGATIVE},
        {INT64_MAX, INT64_MIN, SEMAPHORE_NEGATIVE},
        {-1, 0, SEMAPHORE_NEGATIVE},
        {-1, 1, SEMAPHORE_NEGATIVE},
        {-1, 2, SEMAPHORE_NEGATIVE},
        {-1, -1, SEMAPHORE_NEGATIVE},
        {INT64_MIN, -1, SEMAPHORE_NEGATIVE},
        {INT64_MIN, INT64_MIN, SEMAPHORE_NEGATIVE},
        {INT64_MIN, INT64_MAX, SEMAPHORE_NEGATIVE},
        {INT64_MAX, 1, SEMAPHORE_OVERFLOW},
        {1, INT64_MAX, SEMAPHORE_OVERFLOW},
        {INT64_MAX, INT64_MAX, SEMAPHORE_OVERFLOW},
    };
    static const int64_t thresholds[] = {0, 1, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t t = 0; t < COUNT(thresholds); t++) {
            expect_move(cases[i].semaphore, cases[i].delta, thresholds[t], cases[i].outcome,
                        cases[i].semaphore, false);
        }
    }
}

Test(semaphore, a_move_to_either_end_of_its_range_is_made)
{
    expect_move(5, -5, 0, SEMAPHORE_MOVED, 0, true);
    expect_move(INT64_MAX, -INT64_MAX, 0, SEMAPHORE_MOVED, 0, true);
    expect_move(INT64_MAX - 1, 1, INT64_MAX, SEMAPHORE_MOVED, INT64_MAX, true);
    expect_move(0, INT64_MAX, INT64_MAX, SEMAPHORE_MOVED, INT64_MAX, true);
    expect_move(INT64_MAX, 0, 0, SEMAPHORE_MOVED, INT64_MAX, false);
}

Test(semaphore, an_obligation_closed_twice_is_refused_and_takes_no_snapshot)
{
    PROVES(CLAUSE_ACL_21);
    SETTLES(ERRATUM_ACL_19);
    expect_collation(semaphore_collate(0, -1, 0, 10000000002, GUID_JOB_CLOSED), SEMAPHORE_NEGATIVE,
                     0, 10000000002, false);
    expect_collation(semaphore_collate(0, -1, -1, 10000000002, GUID_JOB_CLOSED), SEMAPHORE_NEGATIVE,
                     0, 10000000002, false);
    /* The other reading moves without the condition: -1, a job that is neither active nor
     * complete, and that its next child seems to close. */
    cr_expect_eq(INT64_C(0) + semaphore_delta(0, false), -1);
    cr_expect_eq(INT64_C(-1) + semaphore_delta(2, false), 0);
}

/* ---- collation ----------------------------------------------------------------------------- */

/* One Step 2 as a bundle adds it up: both digits in one update of the GUID row (E-ACL-24). */
struct step2 {
    int64_t semaphore;
    int64_t activity;
    int64_t guid;
    bool hit;
};

static struct step2 run_step2(struct step2 state, int64_t children)
{
    struct semaphore_collation collation =
        semaphore_collate(state.semaphore, semaphore_delta(children, false), 0,
                          plus(state.guid, GUID_CHILDREN_SPAWNED), GUID_JOB_CLOSED);
    cr_assert_eq(collation.outcome, SEMAPHORE_MOVED);
    return (struct step2){
        .semaphore = collation.after,
        .activity = plus(state.activity, ACTIVITY_CHILDREN_SPAWNED),
        .guid = collation.guid,
        .hit = collation.hit,
    };
}

static void trace_state(struct trace *trace, const struct step2 *state, const char *event)
{
    trace_add(trace, "semaphore %" PRId64 " activity " TRACE_LEDGER " GUID " TRACE_LEDGER " %s\n",
              state->semaphore, state->activity, state->guid, event);
}

Test(semaphore, example_18_3_two_children_leave_the_job_open)
{
    PROVES(CLAUSE_ACL_20, CLAUSE_ACL_21, CLAUSE_ACL_37, CLAUSE_ACL_40);
    static struct trace trace;
    struct step2 state = {.semaphore = 5, .activity = 1110000000001, .guid = 10000000001};
    trace_state(&trace, &state, "before Step 2");
    state = run_step2(state, 2);
    trace_state(&trace, &state, state.hit ? "Step 2, snapshot 1" : "Step 2, snapshot 0");
    cr_assert_str_eq(trace.text,
                     "semaphore 5 activity 001110000000001 GUID 000010000000001 before Step 2\n"
                     "semaphore 6 activity 001111000000001 GUID 000011000000001 Step 2, snapshot "
                     "0\n");
    cr_assert_not(ledger_owes_step(ledger_resume(state.guid)));
}

Test(semaphore, example_18_4_closes_the_job_and_step_3_runs_on_replay)
{
    PROVES(CLAUSE_ACL_21, CLAUSE_ACL_24, CLAUSE_ACL_38, CLAUSE_ACL_40);
    static struct trace trace;
    struct step2 state = {.semaphore = 1, .activity = 1110000000001, .guid = 10000000001};
    trace_state(&trace, &state, "before Step 2");
    state = run_step2(state, 0);
    trace_state(&trace, &state, state.hit ? "Step 2, snapshot 1" : "Step 2, snapshot 0");
    struct ledger_leg2_entry entry = ledger_enter_leg2_again(state.activity, state.guid, 0);
    cr_assert_eq(entry.decision, LEDGER_PROCEED);
    cr_assert_eq(entry.resume, LEDGER_SPAWNED_JOB_ENDED, "Step 3 is owed at semaphore 0");
    state.activity = entry.activity;
    state.guid = entry.guid;
    trace_state(&trace, &state, "entry after the crash");
    state.activity = plus(state.activity, ACTIVITY_JOB_TASKS_DONE);
    state.guid = plus(state.guid, GUID_JOB_TASKS_DONE);
    trace_state(&trace, &state, "Step 3");
    cr_assert_str_eq(
        trace.text,
        "semaphore 1 activity 001110000000001 GUID 000010000000001 before Step 2\n"
        "semaphore 0 activity 001111000000001 GUID 000111000000001 Step 2, snapshot 1\n"
        "semaphore 0 activity 001111000000002 GUID 000111000000002 entry after the crash\n"
        "semaphore 0 activity 001111100000002 GUID 000111100000002 Step 3\n");
}

Test(semaphore, the_snapshot_is_set_exactly_when_the_move_lands_on_the_threshold)
{
    PROVES(CLAUSE_ACL_21, CLAUSE_ACL_40);
    static const int64_t thresholds[] = {0, 1, 12};
    for (size_t t = 0; t < COUNT(thresholds); t++) {
        for (int64_t semaphore = 1; semaphore <= 20; semaphore++) {
            for (int64_t children = 0; children <= 20; children++) {
                int64_t after = semaphore + children - 1;
                bool hit = after == thresholds[t];
                expect_collation(semaphore_collate(semaphore, semaphore_delta(children, false),
                                                   thresholds[t], 11000000001, GUID_JOB_CLOSED),
                                 SEMAPHORE_MOVED, after, 11000000001 + (hit ? SNAPSHOT : 0), hit);
            }
        }
    }
}

Test(semaphore, the_field_and_so_the_weight_is_a_parameter)
{
    PROVES(CLAUSE_ACL_40);
    static const struct {
        enum ledger_field field;
        int64_t weight;
    } cases[] = {
        {GUID_JOB_CLOSED, 100000000000},
        {GUID_WORK_DONE, 10000000000},
        {GUID_CHILDREN_SPAWNED, 1000000000},
        {GUID_JOB_TASKS_DONE, 100000000},
        {GUID_ATTEMPTS, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_collation(semaphore_collate(1, -1, 0, 1, cases[i].field), SEMAPHORE_MOVED, 0,
                         1 + cases[i].weight, true);
        expect_collation(semaphore_collate(2, -1, 0, 1, cases[i].field), SEMAPHORE_MOVED, 1, 1,
                         false);
    }
}

Test(semaphore, a_guid_that_cannot_take_the_hit_stops_the_move)
{
    PROVES(CLAUSE_ACL_8, CLAUSE_ACL_21);
    static const struct {
        int64_t guid;
        enum ledger_field field;
    } cases[] = {
        {111000000001, GUID_JOB_CLOSED}, {211000000001, GUID_JOB_CLOSED},
        {11099999999, GUID_ATTEMPTS},    {1, GUID_RESERVED},
        {-1, GUID_JOB_CLOSED},           {1000000000000000, GUID_JOB_CLOSED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_collation(semaphore_collate(1, -1, 0, cases[i].guid, cases[i].field),
                         SEMAPHORE_GUID_REFUSED, 1, cases[i].guid, false);
    }
}

Test(semaphore, a_full_guid_does_not_stop_a_move_without_a_hit)
{
    PROVES(CLAUSE_ACL_40);
    expect_collation(semaphore_collate(5, 1, 0, 111000000001, GUID_JOB_CLOSED), SEMAPHORE_MOVED, 6,
                     111000000001, false);
}

Test(semaphore, a_refused_move_leaves_the_guid_alone)
{
    PROVES(CLAUSE_ACL_40);
    expect_collation(semaphore_collate(INT64_MAX, 1, 0, 11000000001, GUID_JOB_CLOSED),
                     SEMAPHORE_OVERFLOW, INT64_MAX, 11000000001, false);
    expect_collation(semaphore_collate(2, -3, -1, 11000000001, GUID_JOB_CLOSED), SEMAPHORE_NEGATIVE,
                     2, 11000000001, false);
}

Test(semaphore, a_hit_written_to_the_activity_ledger_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    semaphore_collate(1, -1, 0, 11000000001, ACTIVITY_LEG1_COMPLETE);
}

/* ---- one update of the GUID row ------------------------------------------------------------ */

Test(semaphore, step_2_adds_1b_and_the_hit_to_the_guid_as_one_sum)
{
    PROVES(CLAUSE_ACL_40, CLAUSE_ACL_41);
    SETTLES(ERRATUM_ACL_24);
    static const struct {
        int64_t semaphore;
        int64_t children;
        int64_t sum; /* +1B + hit * 100B */
    } cases[] = {
        {5, 2, SPAWNED},
        {1, 1, SPAWNED},
        {2, 0, SPAWNED},
        {1, 0, SPAWNED + SNAPSHOT},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct step2 before = {
            .semaphore = cases[i].semaphore, .activity = 1110000000001, .guid = 10000000001};
        struct step2 after = run_step2(before, cases[i].children);
        cr_expect_eq(after.guid - before.guid, cases[i].sum, "case %zu", i);
        cr_expect_neq(ledger_resume(after.guid), LEDGER_RESUME_CORRUPT);
    }
}

Test(semaphore, two_updates_of_the_guid_row_in_one_statement_lose_one_of_the_digits)
{
    SETTLES(ERRATUM_ACL_24);
    int64_t row = 10000000001;
    int64_t marker = plus(row, GUID_CHILDREN_SPAWNED);
    int64_t snapshot = semaphore_collate(1, -1, 0, row, GUID_JOB_CLOSED).guid;
    /* Both updates start from the row as it was, and one of them wins. */
    cr_expect_eq(ledger_resume(marker), LEDGER_SPAWNED_JOB_OPEN, "nobody runs Step 3");
    cr_expect_eq(ledger_resume(snapshot), LEDGER_RESUME_CORRUPT, "ended without its children");
    cr_expect_eq(plus(snapshot, GUID_CHILDREN_SPAWNED), INT64_C(111000000001));
}
