/* The seq ledger on one thread: every move, every refusal, leases, retries, cancels, the latch. */
#include "model/reference/seq_memory.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "model/tests/seq_memory_support.h"

#include <criterion/criterion.h>
#include <signal.h>

static struct seq_memory *ledger;

static void open_ledger(void)
{
    ledger = ledger_new(64, &usual_policy);
}

static void close_ledger(void)
{
    cr_expect(counts_agree(ledger), "counters equal a recount at the end of every test");
    free(ledger);
}

TestSuite(seq, .init = open_ledger, .fini = close_ledger);

/* ---- shorthands ---------------------------------------------------------------------------- */

static struct seq_token started(uint64_t seq, uint64_t now_ms)
{
    struct seq_token token = {0};
    uint32_t attempt = seq_memory_read(ledger, seq).attempt;
    if (seq_memory_read(ledger, seq).state == SEQ_UNSEEN) {
        seq_memory_order(ledger, seq, SEQ_DISPATCHED, DISPATCHER, at(now_ms));
    }
    struct seq_result result = seq_memory_take(ledger, seq, attempt, WORKER, at(now_ms), &token);
    cr_assert_eq(result.verdict, SEQ_MOVED);
    return token;
}

/* Brings a fresh seq to a state by legal moves. */
static void bring(uint64_t seq, enum seq_state state)
{
    if (state == SEQ_UNSEEN) {
        return;
    }
    seq_memory_order(ledger, seq, SEQ_DISPATCHED, DISPATCHER, at(0));
    if (state == SEQ_CANCEL) {
        seq_memory_order(ledger, seq, SEQ_CANCEL, CANCELLER, at(0));
    } else if (state != SEQ_DISPATCHED) {
        struct seq_token token = started(seq, 0);
        enum seq_state end = state == SEQ_COMMITTED ? SEQ_SUCCESS : state;
        if (state != SEQ_IN_FLIGHT) {
            seq_memory_finish(ledger, token, end, CLASS_FATAL, at(0));
        }
        if (state == SEQ_COMMITTED) {
            seq_memory_order(ledger, seq, SEQ_COMMITTED, COMMITTER, at(0));
        }
    }
    cr_assert_eq(seq_memory_read(ledger, seq).state, state);
}

static struct seq_reclaimed last_reclaimed;

static void note_reclaimed(void *context, const struct seq_reclaimed *reclaimed)
{
    uint64_t *count = context;
    (*count)++;
    last_reclaimed = *reclaimed;
}

static uint64_t reclaim_at(uint64_t now_ms)
{
    uint64_t told = 0;
    uint64_t returned = seq_memory_reclaim(ledger, RECLAIMER, at(now_ms), note_reclaimed, &told);
    cr_assert_eq(returned, told);
    return told;
}

/* The callback of a reclaimer during which another one reclaims, much later. */
static void reclaim_much_later(void *context, const struct seq_reclaimed *reclaimed)
{
    uint64_t *by_second = context;
    (void)reclaimed;
    *by_second += reclaim_at(60000);
}

/* A callback that breaks the contract. */
static void halt_at_the_first(void *context, const struct seq_reclaimed *reclaimed)
{
    note_reclaimed(context, reclaimed);
    seq_memory_order(ledger, 63, SEQ_COMMITTED, COMMITTER, at(1));
}

#define EXPECT_RESULT(result, want_verdict, want_from, want_to, want_event)                        \
    do {                                                                                           \
        struct seq_result got = (result);                                                          \
        cr_expect_eq(got.verdict, want_verdict);                                                   \
        cr_expect_eq(got.from, want_from);                                                         \
        cr_expect_eq(got.to, want_to);                                                             \
        cr_expect_eq(got.event, want_event);                                                       \
    } while (0)

/* ---- the contract -------------------------------------------------------------------------- */

Test(seq, each_of_the_12_legal_moves_is_made_and_counted)
{
    PROVES(CLAUSE_SEQ_16);
    struct seq_cancellation asked;
    seq_memory_finish(ledger, started(0, 0), SEQ_SUCCESS, 0, at(1));
    seq_memory_finish(ledger, started(1, 0), SEQ_SKIP, 0, at(1));
    seq_memory_finish(ledger, started(2, 0), SEQ_FAIL, CLASS_FATAL, at(1));
    bring(3, SEQ_DISPATCHED);
    seq_memory_order(ledger, 3, SEQ_CANCEL, CANCELLER, at(1));
    started(4, 0);
    seq_memory_cancel(ledger, 4, seq_memory_read(ledger, 4), CANCELLER, at(1), &asked);
    seq_memory_cancel_force(ledger, asked, CANCELLER, at(51));
    seq_memory_finish(ledger, started(5, 0), SEQ_FAIL, CLASS_TRANSIENT, at(1));
    for (uint64_t seq = 0; seq < 5; seq++) {
        EXPECT_RESULT(seq_memory_order(ledger, seq, SEQ_COMMITTED, COMMITTER, at(60)), SEQ_MOVED,
                      seq_memory_read(ledger, seq).ended_as, SEQ_COMMITTED, false);
        cr_expect(counts_agree(ledger));
    }
    struct seq_counts counts = seq_memory_count(ledger);
    static const uint64_t expected[SEQ_MOVES] = {
        [1] = 6, [2] = 5, [3] = 1, [4] = 1,  [5] = 2,  [6] = 1,
        [7] = 1, [8] = 1, [9] = 1, [10] = 1, [11] = 2, [12] = 1};
    for (int move = 1; move < SEQ_MOVES; move++) {
        cr_expect_eq(counts.moves[move], expected[move], "move %d", move);
    }
    cr_expect_eq(counts.unseen, 58U);
    cr_expect_eq(counts.dispatched, 1U);
    cr_expect_eq(counts.committed, 5U);
    cr_expect_eq(counts.events, 5U);
}

static bool same_view(struct seq_view a, struct seq_view b)
{
    return a.state == b.state && a.ended_as == b.ended_as && a.attempt == b.attempt &&
           a.owner == b.owner && a.heartbeat_ms == b.heartbeat_ms &&
           a.cancel_asked == b.cancel_asked;
}

/* What an order, which knows nothing of the present state, may do of the 12. */
static bool open_to_orders(enum seq_state from, enum seq_state to)
{
    return (from == SEQ_UNSEEN && to == SEQ_DISPATCHED) ||
           (from == SEQ_DISPATCHED && to == SEQ_CANCEL) ||
           (from >= SEQ_SUCCESS && from <= SEQ_CANCEL && to == SEQ_COMMITTED);
}

Test(seq, every_illegal_pair_is_fatal_changes_nothing_and_leaves_the_five_facts)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_7, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_15);
    int illegal = 0;
    for (int pair = 0; pair < SEQ_STATES * SEQ_STATES; pair++) {
        enum seq_state from = (enum seq_state)(pair / SEQ_STATES);
        enum seq_state to = (enum seq_state)(pair % SEQ_STATES);
        struct seq_report report = {0};
        free(ledger);
        open_ledger();
        bring(7, from);
        struct seq_view before = seq_memory_read(ledger, 7);
        struct seq_result result = seq_memory_order(ledger, 7, to, RIVAL, at(123));
        if (from == SEQ_COMMITTED && to == SEQ_COMMITTED) {
            EXPECT_RESULT(result, SEQ_UNCHANGED, from, from, false);
            cr_expect_not(seq_memory_halted(ledger, &report));
        } else if (open_to_orders(from, to)) {
            cr_expect_eq(result.verdict, SEQ_MOVED);
        } else {
            illegal += seq_rules_pair(from, to) == SEQ_PAIR_ILLEGAL;
            EXPECT_RESULT(result, SEQ_FATAL, from, from, false);
            struct seq_view after = seq_memory_read(ledger, 7);
            cr_expect(same_view(before, after));
            cr_expect(seq_memory_halted(ledger, &report));
            cr_expect_eq(report.seq, 7U);
            cr_expect_eq(report.prior, from);
            cr_expect_eq(report.attempted, to);
            cr_expect_eq(report.owner, before.owner);
            cr_expect_eq(report.wall_ms, 1700000000123U);
            cr_expect_eq(report.by, (uint32_t)RIVAL);
            EXPECT_RESULT(seq_memory_order(ledger, 8, SEQ_DISPATCHED, DISPATCHER, at(124)),
                          SEQ_HALTED, SEQ_UNSEEN, SEQ_UNSEEN, false);
        }
        cr_expect(counts_agree(ledger));
    }
    cr_assert_eq(illegal, 51);
}

Test(seq, the_owner_of_a_run_may_end_it_in_three_ways_and_anything_else_is_fatal)
{
    SETTLES(ERRATUM_SEQ_3);
    static const enum seq_state outside[] = {SEQ_UNSEEN, SEQ_DISPATCHED, SEQ_IN_FLIGHT, SEQ_CANCEL,
                                             SEQ_COMMITTED};
    for (size_t i = 0; i < COUNT(outside); i++) {
        struct seq_report report;
        free(ledger);
        open_ledger();
        struct seq_token token = started(0, 0);
        EXPECT_RESULT(seq_memory_finish(ledger, token, outside[i], 0, at(1)), SEQ_FATAL,
                      SEQ_IN_FLIGHT, SEQ_IN_FLIGHT, false);
        cr_expect(seq_memory_halted(ledger, &report));
        cr_expect_eq(report.owner, (uint32_t)WORKER);
        cr_expect_eq(report.attempted, outside[i]);
    }
}

/* (SL5) */
Test(seq, once_halted_nothing_moves_and_the_first_report_stays)
{
    PROVES(CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_15);
    struct seq_token token = started(0, 0);
    struct seq_token none = {0};
    struct seq_cancellation asked = {0};
    bring(1, SEQ_DISPATCHED);
    started(3, 0);
    cr_assert_eq(
        seq_memory_cancel(ledger, 3, seq_memory_read(ledger, 3), CANCELLER, at(1), &asked).verdict,
        SEQ_ASKED);
    seq_memory_order(ledger, 2, SEQ_COMMITTED, COMMITTER, at(5));
    cr_expect_eq(seq_memory_order(ledger, 2, SEQ_SKIP, COMMITTER, at(6)).verdict, SEQ_HALTED);
    cr_expect_eq(seq_memory_take(ledger, 1, 0, WORKER, at(6), &none).verdict, SEQ_HALTED);
    cr_expect_eq(seq_memory_heartbeat(ledger, token, at(6)).verdict, SEQ_HALTED);
    cr_expect_eq(seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, at(6)).verdict, SEQ_HALTED);
    cr_expect_eq(
        seq_memory_cancel(ledger, 1, seq_memory_read(ledger, 1), CANCELLER, at(6), &asked).verdict,
        SEQ_HALTED);
    cr_expect_eq(seq_memory_cancel_force(ledger, asked, CANCELLER, at(600)).verdict, SEQ_HALTED);
    cr_expect_eq(reclaim_at(99999), 0U);
    struct seq_report report;
    cr_assert(seq_memory_halted(ledger, &report));
    cr_expect_eq(report.attempted, SEQ_COMMITTED, "the first report is kept");
    cr_expect_eq(seq_memory_read(ledger, 0).state, SEQ_IN_FLIGHT);
    cr_expect_eq(seq_memory_read(ledger, 1).state, SEQ_DISPATCHED);
}

Test(seq, a_resting_failure_is_final)
{
    SETTLES(ERRATUM_SEQ_2);
    bring(0, SEQ_FAIL);
    EXPECT_RESULT(seq_memory_order(ledger, 0, SEQ_DISPATCHED, DISPATCHER, at(1)), SEQ_FATAL,
                  SEQ_FAIL, SEQ_FAIL, false);
}

/* ---- terminal events ----------------------------------------------------------------------- */

/* (SL3) */
Test(seq, the_event_goes_to_the_call_that_ends_the_chain_and_to_no_other)
{
    PROVES(CLAUSE_SEQ_6, CLAUSE_SEQ_13, CLAUSE_SEQ_14);
    SETTLES(ERRATUM_SEQ_2, ERRATUM_SEQ_10);
    for (uint32_t run = 0; run < 2; run++) {
        struct seq_token token = started(0, run);
        cr_expect_eq(token.attempt, run);
        EXPECT_RESULT(seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(run)),
                      SEQ_MOVED, SEQ_IN_FLIGHT, SEQ_DISPATCHED, false);
    }
    struct seq_token token = started(0, 2);
    EXPECT_RESULT(seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(2)), SEQ_MOVED,
                  SEQ_IN_FLIGHT, SEQ_FAIL, true);
    EXPECT_RESULT(seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(2)), SEQ_REPEATED,
                  SEQ_FAIL, SEQ_FAIL, false);
    cr_expect_eq(seq_memory_count(ledger).events, 1U);
    cr_expect_eq(seq_memory_read(ledger, 0).attempt, 2U, "the budget was two retries");
}

Test(seq, a_fatal_class_is_not_retried)
{
    PROVES(CLAUSE_SEQ_13);
    EXPECT_RESULT(seq_memory_finish(ledger, started(0, 0), SEQ_FAIL, CLASS_FATAL, at(1)), SEQ_MOVED,
                  SEQ_IN_FLIGHT, SEQ_FAIL, true);
    cr_expect_eq(seq_memory_read(ledger, 0).attempt, 0U);
}

/* ---- lost answers -------------------------------------------------------------------------- */

Test(seq, a_repeat_of_an_applied_result_is_success_without_a_second_event)
{
    SETTLES(ERRATUM_SEQ_11);
    static const enum seq_state ends[] = {SEQ_SUCCESS, SEQ_SKIP, SEQ_FAIL};
    for (uint64_t i = 0; i < 3; i++) {
        struct seq_token token = started(i, 0);
        seq_memory_finish(ledger, token, ends[i], CLASS_FATAL, at(1));
        EXPECT_RESULT(seq_memory_finish(ledger, token, ends[i], CLASS_FATAL, at(2)), SEQ_REPEATED,
                      ends[i], ends[i], false);
        enum seq_state other = ends[i] == SEQ_SKIP ? SEQ_SUCCESS : SEQ_SKIP;
        cr_expect_eq(seq_memory_finish(ledger, token, other, 0, at(2)).verdict, SEQ_STALE);
        seq_memory_order(ledger, i, SEQ_COMMITTED, COMMITTER, at(3));
        cr_expect_eq(seq_memory_finish(ledger, token, ends[i], CLASS_FATAL, at(4)).verdict,
                     SEQ_REPEATED, "also when it has been committed since");
        cr_expect_eq(seq_memory_finish(ledger, token, other, 0, at(4)).verdict, SEQ_STALE);
        cr_expect_eq(seq_memory_read(ledger, i).ended_as, ends[i]);
    }
    cr_expect_eq(seq_memory_count(ledger).repeated, 6U);
    cr_expect_eq(seq_memory_count(ledger).stale, 6U);
    cr_expect_eq(seq_memory_count(ledger).events, 3U);
}

Test(seq, a_repeated_failure_that_was_retried_is_recognised_until_the_seq_is_taken_again)
{
    SETTLES(ERRATUM_SEQ_11);
    struct seq_token token = started(0, 0);
    seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(1));
    EXPECT_RESULT(seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(2)), SEQ_REPEATED,
                  SEQ_DISPATCHED, SEQ_DISPATCHED, false);
    cr_expect_eq(seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, at(2)).verdict, SEQ_STALE);
    started(0, 3);
    cr_expect_eq(seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(4)).verdict,
                 SEQ_STALE);
    cr_expect_eq(seq_memory_read(ledger, 0).attempt, 1U, "retried once, not twice");
}

Test(seq, a_token_is_owner_and_attempt_and_nothing_less)
{
    PROVES(CLAUSE_SEQ_12);
    struct seq_token token = started(0, 0);
    struct seq_token other_owner = {.seq = 0, .owner = RIVAL, .attempt = 0};
    struct seq_token other_attempt = {.seq = 0, .owner = WORKER, .attempt = 1};
    cr_expect_eq(seq_memory_finish(ledger, other_owner, SEQ_SUCCESS, 0, at(1)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_heartbeat(ledger, other_owner, at(1)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_finish(ledger, other_attempt, SEQ_SUCCESS, 0, at(1)).verdict,
                 SEQ_STALE);
    cr_expect_eq(seq_memory_heartbeat(ledger, other_attempt, at(1)).verdict, SEQ_STALE);
    seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, at(2));
    cr_expect_eq(seq_memory_heartbeat(ledger, token, at(3)).verdict, SEQ_STALE,
                 "the run has ended");
    seq_memory_order(ledger, 0, SEQ_COMMITTED, COMMITTER, at(4));
    cr_expect_eq(seq_memory_heartbeat(ledger, token, at(5)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_read(ledger, 0).ended_as, SEQ_SUCCESS);
    cr_expect_eq(seq_memory_read(ledger, 0).heartbeat_ms, 0U, "a committed seq has no heartbeat");
}

Test(seq, a_repeat_of_an_earlier_attempt_is_stale)
{
    SETTLES(ERRATUM_SEQ_11);
    struct seq_token tokens[3];
    for (uint32_t run = 0; run < 3; run++) {
        tokens[run] = started(0, run);
        seq_memory_finish(ledger, tokens[run], SEQ_FAIL, CLASS_TRANSIENT, at(run));
        for (uint32_t earlier = 0; earlier < run; earlier++) {
            cr_expect_eq(
                seq_memory_finish(ledger, tokens[earlier], SEQ_FAIL, CLASS_TRANSIENT, at(run))
                    .verdict,
                SEQ_STALE, "after run %u, the failure of run %u", run, earlier);
        }
    }
    seq_memory_order(ledger, 0, SEQ_COMMITTED, COMMITTER, at(9));
    cr_expect_eq(seq_memory_read(ledger, 0).attempt, 2U, "a commit keeps the attempts");
}

Test(seq, a_cancelled_seq_has_no_owner_and_keeps_its_attempts)
{
    struct seq_cancellation asked;
    for (uint64_t seq = 0; seq < 3; seq++) {
        seq_memory_finish(ledger, started(seq, 0), SEQ_FAIL, CLASS_TRANSIENT, at(1));
    }
    seq_memory_order(ledger, 0, SEQ_CANCEL, CANCELLER, at(2));
    seq_memory_cancel(ledger, 1, seq_memory_read(ledger, 1), CANCELLER, at(2), &asked);
    started(2, 2);
    seq_memory_cancel(ledger, 2, seq_memory_read(ledger, 2), CANCELLER, at(2), &asked);
    seq_memory_cancel_force(ledger, asked, CANCELLER, at(100));
    for (uint64_t seq = 0; seq < 3; seq++) {
        struct seq_view view = seq_memory_read(ledger, seq);
        cr_expect_eq(view.state, SEQ_CANCEL);
        cr_expect_eq(view.owner, 0U);
        cr_expect_eq(view.attempt, 1U);
    }
}

Test(seq, a_failure_by_expiry_is_nobodys_report)
{
    struct seq_policy policy = usual_policy;
    policy.retry_budget = 0;
    free(ledger);
    ledger = ledger_new(8, &policy);
    struct seq_token zombie = started(0, 0);
    cr_assert_eq(reclaim_at(1000), 1U);
    cr_expect_eq(seq_memory_finish(ledger, zombie, SEQ_FAIL, CLASS_FATAL, at(1001)).verdict,
                 SEQ_STALE);
}

Test(seq, every_attempt_and_every_actor_id_fits_in_the_word)
{
    struct seq_policy policy = usual_policy;
    struct seq_token token;
    policy.retry_budget = SEQ_ATTEMPTS_MAX;
    free(ledger);
    ledger = ledger_new(8, &policy);
    seq_memory_order(ledger, 0, SEQ_DISPATCHED, SEQ_ACTOR_MAX, at(0));
    for (uint32_t run = 0; run <= SEQ_ATTEMPTS_MAX; run++) {
        uint32_t owner = SEQ_ACTOR_MAX - run;
        cr_assert_eq(seq_memory_take(ledger, 0, run + 1, owner, at(run), &token).verdict,
                     SEQ_STALE);
        cr_assert_eq(seq_memory_take(ledger, 0, run, owner, at(run), &token).verdict, SEQ_MOVED);
        cr_assert_eq(seq_memory_read(ledger, 0).owner, owner);
        EXPECT_RESULT(seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(run)),
                      SEQ_MOVED, SEQ_IN_FLIGHT, run < SEQ_ATTEMPTS_MAX ? SEQ_DISPATCHED : SEQ_FAIL,
                      run == SEQ_ATTEMPTS_MAX);
    }
    cr_expect_eq(seq_memory_read(ledger, 0).attempt, (uint32_t)SEQ_ATTEMPTS_MAX);
}

Test(seq, counts_add_up_whichever_actor_moved)
{
    for (uint32_t actor = 1; actor <= 64; actor++) {
        seq_memory_order(ledger, actor - 1, SEQ_DISPATCHED, actor, at(0));
        cr_expect(counts_agree(ledger), "actor %u", actor);
    }
    cr_expect_eq(seq_memory_count(ledger).dispatched, 64U);
}

Test(seq, memory_is_counted_in_whole_lines)
{
    cr_expect_eq(seq_memory_bytes(1), seq_memory_bytes(5));
    cr_expect_eq(seq_memory_bytes(6), seq_memory_bytes(5) + 64);
    cr_expect_eq(seq_memory_bytes(10), seq_memory_bytes(6));
}

/* ---- what is a bug of the caller ---- */

Test(seq_misuse, memory_out_of_alignment, .signal = SIGABRT)
{
    static _Alignas(SEQ_ALIGNMENT) unsigned char memory[1 << 20];
    seq_memory_init(memory + 64, 1, &usual_policy);
}

Test(seq_misuse, a_lease_of_no_time, .signal = SIGABRT)
{
    struct seq_policy policy = usual_policy;
    policy.lease_ms = 0;
    ledger_new(1, &policy);
}

Test(seq_misuse, a_budget_that_does_not_fit, .signal = SIGABRT)
{
    struct seq_policy policy = usual_policy;
    policy.retry_budget = SEQ_ATTEMPTS_MAX + 1;
    ledger_new(1, &policy);
}

Test(seq_misuse, a_seq_beyond_the_capacity, .signal = SIGABRT)
{
    seq_memory_order(ledger_new(8, &usual_policy), 8, SEQ_DISPATCHED, DISPATCHER, at(0));
}

Test(seq_misuse, reading_beyond_the_capacity, .signal = SIGABRT)
{
    seq_memory_read(ledger_new(8, &usual_policy), 8);
}

Test(seq_misuse, an_actor_that_is_nobody, .signal = SIGABRT)
{
    seq_memory_order(ledger_new(8, &usual_policy), 0, SEQ_DISPATCHED, 0, at(0));
}

Test(seq_misuse, an_actor_that_does_not_fit, .signal = SIGABRT)
{
    seq_memory_order(ledger_new(8, &usual_policy), 0, SEQ_DISPATCHED, SEQ_ACTOR_MAX + 1, at(0));
}

Test(seq_misuse, one_of_many_beyond_the_capacity, .signal = SIGABRT)
{
    uint64_t seqs[] = {0, 8};
    struct seq_result results[2];
    seq_memory_order_many(ledger_new(8, &usual_policy), seqs, 2, SEQ_DISPATCHED, DISPATCHER, at(0),
                          results);
}

Test(seq_misuse, an_actor_that_is_nobody_takes_many, .signal = SIGABRT)
{
    struct seq_token runs[] = {{.seq = 0}};
    struct seq_result results[1];
    seq_memory_take_many(ledger_new(8, &usual_policy), runs, 1, 0, at(0), results);
}

/* The owner of the second token is that of the first, but for a bit that no word has room for. */
Test(seq_misuse, one_of_many_owners_that_does_not_fit, .signal = SIGABRT)
{
    struct seq_memory *small = ledger_new(8, &usual_policy);
    struct seq_token runs[] = {{.seq = 0}, {.seq = 1}};
    struct seq_result results[2];
    uint64_t seqs[] = {0, 1};
    seq_memory_order_many(small, seqs, 2, SEQ_DISPATCHED, DISPATCHER, at(0), results);
    if (seq_memory_take_many(small, runs, 2, WORKER, at(0), results) == 2) {
        runs[1].owner += SEQ_ACTOR_MAX + 1;
        seq_memory_finish_many(small, runs, 2, SEQ_SUCCESS, 0, at(0), results);
    }
}

/* ---- leases -------------------------------------------------------------------------------- */

Test(seq, taking_the_lease_and_entering_in_flight_are_one)
{
    PROVES(CLAUSE_SEQ_8);
    SETTLES(ERRATUM_SEQ_6);
    struct seq_token mine;
    struct seq_token theirs = {.owner = 77};
    bring(0, SEQ_DISPATCHED);
    cr_expect_eq(seq_memory_read(ledger, 0).owner, 0U, "DISPATCHED holds no lease");
    EXPECT_RESULT(seq_memory_take(ledger, 0, 0, WORKER, at(10), &mine), SEQ_MOVED, SEQ_DISPATCHED,
                  SEQ_IN_FLIGHT, false);
    EXPECT_RESULT(seq_memory_take(ledger, 0, 0, RIVAL, at(11), &theirs), SEQ_STALE, SEQ_IN_FLIGHT,
                  SEQ_IN_FLIGHT, false);
    cr_expect_eq(theirs.owner, 77U, "no token for the loser");
    struct seq_view view = seq_memory_read(ledger, 0);
    cr_expect_eq(view.owner, (uint32_t)WORKER);
    cr_expect_eq(view.heartbeat_ms, 10U);
    cr_expect_eq(mine.seq, 0U);
    cr_expect_eq(seq_memory_take(ledger, 1, 0, WORKER, at(12), &mine).verdict, SEQ_FATAL,
                 "nobody dispatched it");
}

Test(seq, a_take_for_another_attempt_is_stale)
{
    struct seq_token token = started(0, 0);
    seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(1));
    cr_expect_eq(seq_memory_take(ledger, 0, 0, RIVAL, at(2), &token).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_take(ledger, 0, 1, RIVAL, at(2), &token).verdict, SEQ_MOVED);
}

Test(seq, heartbeats_keep_the_lease_and_never_go_back)
{
    PROVES(CLAUSE_SEQ_9, CLAUSE_SEQ_19);
    struct seq_token token = started(0, 0);
    EXPECT_RESULT(seq_memory_heartbeat(ledger, token, at(900)), SEQ_MOVED, SEQ_IN_FLIGHT,
                  SEQ_IN_FLIGHT, false);
    seq_memory_heartbeat(ledger, token, at(300));
    cr_expect_eq(seq_memory_read(ledger, 0).heartbeat_ms, 900U);
    cr_expect_eq(reclaim_at(1000), 0U, "it would have expired without the heartbeat");
    cr_expect_eq(reclaim_at(1899), 0U);
    cr_expect_eq(reclaim_at(1900), 1U);
    cr_expect_eq(seq_memory_heartbeat(ledger, token, at(1901)).verdict, SEQ_STALE,
                 "a late heartbeat never revives a reclaimed lease");
    cr_expect_eq(seq_memory_read(ledger, 0).state, SEQ_DISPATCHED);
}

Test(seq, heartbeats_and_expiry_work_across_the_wrap_of_32_bits)
{
    SETTLES(ERRATUM_SEQ_13);
    uint64_t start = UINT64_C(3) * UINT32_MAX - 300;
    struct seq_token token = started(0, start);
    cr_expect_eq(reclaim_at(start), 0U);
    seq_memory_heartbeat(ledger, token, at(start + 600));
    cr_expect_eq(seq_memory_read(ledger, 0).heartbeat_ms, (uint32_t)(start + 600));
    cr_expect_eq(reclaim_at(start + 1000), 0U);
    cr_expect_eq(reclaim_at(start + 1599), 0U);
    cr_expect_eq(reclaim_at(start + 1600), 1U);
}

/* (SL2) */
Test(seq, an_expired_lease_goes_back_while_the_policy_allows_and_then_fails)
{
    PROVES(CLAUSE_SEQ_10, CLAUSE_SEQ_14);
    SETTLES(ERRATUM_SEQ_1);
    for (uint32_t run = 0; run < 2; run++) {
        uint64_t start = run * UINT64_C(5000);
        started(0, start);
        cr_expect_eq(reclaim_at(start + 999), 0U);
        cr_expect_eq(reclaim_at(start + 1000), 1U);
        cr_expect_eq(last_reclaimed.lost_owner, (uint32_t)WORKER);
        cr_expect_eq(last_reclaimed.attempt, run + 1);
        EXPECT_RESULT(last_reclaimed.result, SEQ_MOVED, SEQ_IN_FLIGHT, SEQ_DISPATCHED, false);
    }
    started(0, 10000);
    cr_expect_eq(reclaim_at(11000), 1U);
    EXPECT_RESULT(last_reclaimed.result, SEQ_MOVED, SEQ_IN_FLIGHT, SEQ_FAIL, true);
    cr_expect_eq(last_reclaimed.attempt, 2U);
    struct seq_counts counts = seq_memory_count(ledger);
    cr_expect_eq(counts.moves[SEQ_MOVE_FAIL], 3U, "each reclaim is a legal 2 -> 5 ...");
    cr_expect_eq(counts.moves[SEQ_MOVE_RETRY], 2U, "... and perhaps a legal 5 -> 1");
    cr_expect_eq(reclaim_at(99999), 0U);
}

/* (SL1) */
Test(seq, a_worker_whose_lease_was_reclaimed_moves_nothing_any_more)
{
    PROVES(CLAUSE_SEQ_12);
    SETTLES(ERRATUM_SEQ_3);
    struct seq_token zombie = started(0, 0);
    cr_assert_eq(reclaim_at(1000), 1U);
    cr_expect_eq(seq_memory_finish(ledger, zombie, SEQ_SUCCESS, 0, at(1001)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_finish(ledger, zombie, SEQ_FAIL, CLASS_TRANSIENT, at(1001)).verdict,
                 SEQ_STALE, "the reclaim failed the run, not its owner");
    struct seq_token fresh = {0};
    cr_assert_eq(seq_memory_take(ledger, 0, 1, RIVAL, at(1002), &fresh).verdict, SEQ_MOVED);
    cr_expect_eq(seq_memory_finish(ledger, zombie, SEQ_SUCCESS, 0, at(1003)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_heartbeat(ledger, zombie, at(1003)).verdict, SEQ_STALE);
    EXPECT_RESULT(seq_memory_finish(ledger, fresh, SEQ_SUCCESS, 0, at(1004)), SEQ_MOVED,
                  SEQ_IN_FLIGHT, SEQ_SUCCESS, true);
    cr_expect_eq(seq_memory_finish(ledger, zombie, SEQ_SUCCESS, 0, at(1005)).verdict, SEQ_STALE,
                 "another run's success is not the zombie's");
    cr_expect_eq(seq_memory_count(ledger).stale, 5U);
    struct seq_report report;
    cr_expect_not(seq_memory_halted(ledger, &report), "normal weather");
}

/* (SL4) */
Test(seq, reclaim_looks_only_at_what_hangs_in_the_wheel_and_finds_all_of_it)
{
    for (uint64_t seq = 0; seq < 64; seq++) {
        started(seq, seq * 10);
    }
    for (uint64_t seq = 0; seq < 64; seq += 2) {
        seq_memory_finish(ledger, (struct seq_token){.seq = seq, .owner = WORKER}, SEQ_SUCCESS, 0,
                          at(700));
    }
    cr_expect_eq(reclaim_at(999), 0U);
    cr_expect_eq(reclaim_at(1314), 16U, "odd seqs whose lease began at 314 or before");
    cr_expect_eq(reclaim_at(1314), 0U);
    cr_expect_eq(reclaim_at(1000000), 16U, "the rest, although nobody looked for many turns");
    cr_expect_eq(seq_memory_count(ledger).in_flight, 0U);
}

Test(seq, reclaim_examines_what_is_due_and_nothing_else)
{
    for (uint64_t seq = 0; seq < 64; seq++) {
        started(seq, seq < 4 ? 0 : 500);
    }
    reclaim_at(999);
    cr_expect_eq(seq_memory_count(ledger).examined, 0U, "64 leases, none due");
    seq_memory_heartbeat(ledger, (struct seq_token){.seq = 0, .owner = WORKER}, at(900));
    seq_memory_finish(ledger, (struct seq_token){.seq = 1, .owner = WORKER}, SEQ_SUCCESS, 0,
                      at(900));
    cr_expect_eq(reclaim_at(1000), 2U);
    cr_expect_eq(seq_memory_count(ledger).examined, 4U, "renewed, ended and two expired");
    reclaim_at(1001);
    reclaim_at(1499);
    cr_expect_eq(seq_memory_count(ledger).examined, 4U, "none is looked at again before it is due");
    cr_expect_eq(reclaim_at(1500), 60U);
    cr_expect_eq(reclaim_at(1900), 1U);
    cr_expect_eq(seq_memory_count(ledger).examined, 65U);
}

/* Times of: a first look, the taking, perhaps a look between, and the look that must find it. */
Test(seq, a_lease_is_found_however_long_nobody_looked_and_however_late_it_was_hung_up)
{
    static const struct {
        uint64_t first_look, take, between, look;
    } cases[] = {
        {0, 0, 0, 1000},
        {0, 0, 0, 30000},
        {0, 0, 0, 33767},
        {0, 0, 0, 33768},
        {0, 0, 0, 50000},
        {0, 0, 0, 66535},
        {0, 0, 0, 66536},
        {0, 0, 0, 66537},
        {0, 0, 0, 1000000},
        {5000, 3990, 0, 5001},                   /* the taker's clock was behind the reclaimer's */
        {40000, 0, 0, 40001},                    /* held up for most of half a turn */
        {60000, 0, 0, 60001},                    /* for more than half a turn */
        {100000, 0, 0, 100001},                  /* for more than a turn */
        {100000, 0, 50000, 100000},              /* the clock was set back, and is right again */
        {3000000000, 3000000000, 0, 3000001000}, /* a machine that has been up for long */
        {0, 3000000000, 3000000500, 3000001000}, /* and whose ledger is new */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        free(ledger);
        open_ledger();
        reclaim_at(cases[i].first_look);
        started(0, cases[i].take);
        uint64_t early = cases[i].between > 0 ? reclaim_at(cases[i].between) : 0;
        cr_expect_eq(early + reclaim_at(cases[i].look), 1U, "case %zu", i);
    }
}

Test(seq, a_slow_reclaimer_hides_nothing_from_another_but_what_it_holds)
{
    started(0, 0);
    started(1, 20000);
    reclaim_at(0);
    /* While the first reclaimer is busy with seq 0, a second one comes by much later. */
    struct seq_memory *shared = ledger;
    uint64_t by_second = 0;
    seq_memory_reclaim(shared, RECLAIMER, at(30000), reclaim_much_later, &by_second);
    cr_expect_eq(by_second, 1U, "seq 1 had expired, and was in nobody's hands");
}

Test(seq, entries_of_one_slot_are_each_looked_after)
{
    started(0, 0);
    started(1, 0);
    started(2, 0);
    seq_memory_heartbeat(ledger, (struct seq_token){.seq = 1, .owner = WORKER}, at(500));
    cr_expect_eq(reclaim_at(1000), 2U, "one of the three was renewed");
    cr_expect_eq(reclaim_at(1500), 1U);
}

Test(seq, a_halt_stops_a_reclaim_in_the_middle)
{
    PROVES(CLAUSE_SEQ_20);
    for (uint64_t seq = 0; seq < 10; seq++) {
        started(seq, 0);
    }
    uint64_t told = 0;
    cr_expect_eq(seq_memory_reclaim(ledger, RECLAIMER, at(5000), halt_at_the_first, &told), 1U);
    cr_expect_eq(told, 1U);
    cr_expect_eq(seq_memory_count(ledger).in_flight, 9U, "none moved after the halt");
}

Test(seq, leases_around_the_width_of_a_slot_are_found_in_time)
{
    static const uint32_t leases[] = {1,     2,     32765, 32766, 32767,   32768,
                                      32769, 65531, 65532, 65533, 1 << 20, SEQ_LEASE_MS_MAX};
    for (size_t i = 0; i < COUNT(leases); i++) {
        struct seq_policy policy = usual_policy;
        struct seq_token token;
        uint64_t count = 0;
        policy.lease_ms = leases[i];
        struct seq_memory *one = ledger_new(1, &policy);
        uint64_t late = leases[i] <= 32766 ? 0 : (leases[i] >> 14) + 1;
        uint64_t expiry = UINT64_C(777) + leases[i];
        seq_memory_reclaim(one, RECLAIMER, at(777), note_reclaimed, &count);
        seq_memory_order(one, 0, SEQ_DISPATCHED, DISPATCHER, at(777));
        seq_memory_take(one, 0, 0, WORKER, at(777), &token);
        for (uint64_t now = 777; now < expiry; now += leases[i] / 7 + 1) {
            seq_memory_reclaim(one, RECLAIMER, at(now), note_reclaimed, &count);
        }
        seq_memory_reclaim(one, RECLAIMER, at(expiry - 1), note_reclaimed, &count);
        cr_expect_eq(count, 0U, "lease %u", leases[i]);
        cr_expect_eq(seq_memory_count(one).examined, 0U, "lease %u was looked at too early",
                     leases[i]);
        seq_memory_reclaim(one, RECLAIMER, at(expiry + late), note_reclaimed, &count);
        cr_expect_eq(count, 1U, "lease %u", leases[i]);
        free(one);
    }
}

Test(seq, a_seq_taken_again_before_its_old_slot_was_visited_is_still_found)
{
    struct seq_token token = started(0, 0);
    seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(100));
    started(0, 200);
    cr_expect_eq(reclaim_at(1000), 0U, "the slot of the first run is due, the second lease is not");
    cr_expect_eq(reclaim_at(1199), 0U);
    cr_expect_eq(reclaim_at(1200), 1U);
}

Test(seq, long_leases_are_found_within_a_fraction_of_their_length)
{
    struct seq_policy policy = usual_policy;
    policy.lease_ms = SEQ_LEASE_MS_MAX;
    struct seq_memory *slow = ledger_new(4, &policy);
    struct seq_token token;
    uint64_t count = 0;
    seq_memory_order(slow, 0, SEQ_DISPATCHED, DISPATCHER, at(0));
    seq_memory_take(slow, 0, 0, WORKER, at(12345), &token);
    uint64_t expiry = UINT64_C(12345) + SEQ_LEASE_MS_MAX;
    seq_memory_reclaim(slow, RECLAIMER, at(0), note_reclaimed, &count);
    seq_memory_reclaim(slow, RECLAIMER, at(expiry - 1), note_reclaimed, &count);
    cr_expect_eq(count, 0U);
    seq_memory_reclaim(slow, RECLAIMER, at(expiry + (SEQ_LEASE_MS_MAX >> 14)), note_reclaimed,
                       &count);
    cr_expect_eq(count, 1U);
    free(slow);
}

/* (SR2) */
Test(seq, equal_inputs_reclaim_and_retry_equally)
{
    PROVES(CLAUSE_SEQ_11, CLAUSE_SEQ_18);
    uint64_t random = 88172645463325252;
    for (int i = 0; i < 20000; i++) {
        enum seq_state ends[2];
        random_next(&random);
        struct seq_policy policy = {.lease_ms = 1 + (uint32_t)(random % 1000),
                                    .retryable_classes = (uint32_t)(random >> 32),
                                    .retry_budget = (uint32_t)(random >> 20) % 3};
        for (int twin = 0; twin < 2; twin++) {
            static _Alignas(SEQ_ALIGNMENT) unsigned char memory[1 << 20];
            struct seq_token token;
            memset(memory, 0, seq_memory_bytes(1));
            struct seq_memory *one = seq_memory_init(memory, 1, &policy);
            uint64_t count = 0;
            seq_memory_order(one, 0, SEQ_DISPATCHED, DISPATCHER, at(0));
            seq_memory_take(one, 0, 0, WORKER, at(0), &token);
            seq_memory_reclaim(one, RECLAIMER, at(random % 2000), note_reclaimed, &count);
            ends[twin] = seq_memory_read(one, 0).state;
        }
        bool expired = random % 2000 >= policy.lease_ms;
        bool retry = (policy.retryable_classes & 1U) != 0 && policy.retry_budget > 0;
        cr_assert_eq(ends[0], ends[1]);
        cr_assert_eq(ends[0], !expired ? SEQ_IN_FLIGHT : retry ? SEQ_DISPATCHED : SEQ_FAIL);
    }
}

/* ---- cancellation -------------------------------------------------------------------------- */

Test(seq, a_cancel_before_work_begins_is_immediate)
{
    PROVES(CLAUSE_SEQ_15);
    struct seq_cancellation asked;
    bring(0, SEQ_DISPATCHED);
    EXPECT_RESULT(
        seq_memory_cancel(ledger, 0, seq_memory_read(ledger, 0), CANCELLER, at(1), &asked),
        SEQ_MOVED, SEQ_DISPATCHED, SEQ_CANCEL, true);
}

Test(seq, a_cancel_of_a_run_is_asked_and_forced_after_the_grace_period)
{
    PROVES(CLAUSE_SEQ_15);
    struct seq_cancellation asked;
    struct seq_token token = started(0, 0);
    cr_expect_not(seq_memory_heartbeat(ledger, token, at(5)).cancel_asked);
    EXPECT_RESULT(
        seq_memory_cancel(ledger, 0, seq_memory_read(ledger, 0), CANCELLER, at(10), &asked),
        SEQ_ASKED, SEQ_IN_FLIGHT, SEQ_IN_FLIGHT, false);
    cr_expect(seq_memory_read(ledger, 0).cancel_asked);
    cr_expect(seq_memory_heartbeat(ledger, token, at(20)).cancel_asked, "the worker learns of it");
    EXPECT_RESULT(seq_memory_cancel_force(ledger, asked, CANCELLER, at(59)), SEQ_TOO_SOON,
                  SEQ_IN_FLIGHT, SEQ_IN_FLIGHT, false);
    EXPECT_RESULT(seq_memory_cancel_force(ledger, asked, CANCELLER, at(60)), SEQ_MOVED,
                  SEQ_IN_FLIGHT, SEQ_CANCEL, true);
    cr_expect_eq(seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, at(61)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_cancel_force(ledger, asked, CANCELLER, at(62)).verdict, SEQ_STALE);
}

Test(seq, a_cancel_overtaken_by_the_result_is_refused_and_counted)
{
    SETTLES(ERRATUM_SEQ_8);
    struct seq_cancellation asked;
    struct seq_token token = started(0, 0);
    struct seq_view seen = seq_memory_read(ledger, 0);
    seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, at(1));
    EXPECT_RESULT(seq_memory_cancel(ledger, 0, seen, CANCELLER, at(2), &asked), SEQ_STALE,
                  SEQ_SUCCESS, SEQ_SUCCESS, false);
    cr_expect_eq(seq_memory_count(ledger).stale, 1U);
    cr_expect_eq(seq_memory_order(ledger, 0, SEQ_CANCEL, CANCELLER, at(3)).verdict, SEQ_FATAL,
                 "without an expectation it is fatal");
}

Test(seq, a_cancel_that_expects_what_cannot_be_cancelled_is_fatal)
{
    struct seq_cancellation asked;
    bring(0, SEQ_SUCCESS);
    cr_expect_eq(
        seq_memory_cancel(ledger, 0, seq_memory_read(ledger, 0), CANCELLER, at(2), &asked).verdict,
        SEQ_FATAL);
}

Test(seq, a_cancel_asked_of_one_run_never_ends_the_next)
{
    struct seq_cancellation asked;
    struct seq_token token = started(0, 0);
    seq_memory_cancel(ledger, 0, seq_memory_read(ledger, 0), CANCELLER, at(1), &asked);
    struct seq_view seen = seq_memory_read(ledger, 0);
    seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(2));
    started(0, 3);
    cr_expect_eq(seq_memory_cancel_force(ledger, asked, CANCELLER, at(100)).verdict, SEQ_STALE);
    cr_expect_eq(seq_memory_cancel(ledger, 0, seen, CANCELLER, at(101), &asked).verdict, SEQ_STALE);
    cr_expect_not(seq_memory_read(ledger, 0).cancel_asked, "the request ended with its run");
    struct seq_cancellation forged = {.run = {.seq = 0, .owner = WORKER, .attempt = 1}};
    cr_expect_eq(seq_memory_cancel_force(ledger, forged, CANCELLER, at(200)).verdict, SEQ_STALE,
                 "nobody asked this run");
}

/* ---- counters ------------------------------------------------------------------------------ */

/* (SL6) */
Test(seq, counters_equal_a_recount_after_every_one_of_many_random_calls)
{
    PROVES(CLAUSE_SEQ_16);
    SETTLES(ERRATUM_SEQ_4);
    uint64_t random = 88172645463325252;
    struct seq_token tokens[64] = {0};
    struct seq_cancellation asked[64] = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        random_next(&random);
        uint64_t seq = random % 64;
        struct seq_view view = seq_memory_read(ledger, seq);
        enum seq_state end = (enum seq_state)(SEQ_SUCCESS + (random >> 16) % 3);
        switch ((random >> 8) % 9) {
        case 0:
        case 1:
            if (view.state == SEQ_UNSEEN) {
                seq_memory_order(ledger, seq, SEQ_DISPATCHED, DISPATCHER, at(i));
            } else {
                seq_memory_take(ledger, seq, view.attempt, (uint32_t)(random >> 24) % 9 + 1, at(i),
                                &tokens[seq]);
            }
            break;
        case 2:
            if (tokens[seq].owner != 0) {
                seq_memory_finish(ledger, tokens[seq], end, (uint32_t)(random >> 40) % 3, at(i));
            }
            break;
        case 3:
            if (tokens[seq].owner != 0) {
                seq_memory_heartbeat(ledger, tokens[seq], at(i));
            }
            break;
        case 4:
            if (seq_rules_terminal(view.state)) {
                seq_memory_order(ledger, seq, SEQ_COMMITTED, COMMITTER, at(i));
            }
            break;
        case 5:
            if (view.state == SEQ_DISPATCHED || view.state == SEQ_IN_FLIGHT) {
                seq_memory_cancel(ledger, seq, view, CANCELLER, at(i), &asked[seq]);
            }
            break;
        case 6:
            if (asked[seq].run.owner != 0) {
                seq_memory_cancel_force(ledger, asked[seq], CANCELLER, at(i));
            }
            break;
        default:
            reclaim_at(i);
        }
        cr_assert(counts_agree(ledger), "after call %lu", (unsigned long)i);
        if (seq_memory_count(ledger).committed > 50) {
            free(ledger);
            open_ledger();
            memset(tokens, 0, sizeof tokens);
            memset(asked, 0, sizeof asked);
        }
    }
    struct seq_report report;
    cr_expect_not(seq_memory_halted(ledger, &report));
}

Test(seq, a_hint_changes_nothing)
{
    seq_memory_prefetch(ledger, 63);
    cr_expect_eq(seq_memory_read(ledger, 63).state, SEQ_UNSEEN);
}

/* ---- many moves ---------------------------------------------------------------------------- */

enum { BATCH_MAX = 40 };

/* A call for many moves, whichever of the three it is. */
struct batch {
    enum seq_state to; /* IN_FLIGHT: take; SUCCESS, SKIP or FAIL: finish; else order */
    uint32_t by;
    uint32_t fail_class;
    uint64_t count;
    struct seq_token runs[BATCH_MAX];
    struct seq_result results[BATCH_MAX];
};

static bool ends_runs(enum seq_state to)
{
    return to == SEQ_SUCCESS || to == SEQ_SKIP || to == SEQ_FAIL;
}

static uint64_t make_at_once(struct seq_memory *of, struct batch *batch, struct seq_time now)
{
    uint64_t seqs[BATCH_MAX];
    if (batch->to == SEQ_IN_FLIGHT) {
        return seq_memory_take_many(of, batch->runs, batch->count, batch->by, now, batch->results);
    }
    if (ends_runs(batch->to)) {
        return seq_memory_finish_many(of, batch->runs, batch->count, batch->to, batch->fail_class,
                                      now, batch->results);
    }
    for (uint64_t i = 0; i < batch->count; i++) {
        seqs[i] = batch->runs[i].seq;
    }
    return seq_memory_order_many(of, seqs, batch->count, batch->to, batch->by, now, batch->results);
}

static uint64_t make_one_by_one(struct seq_memory *of, struct batch *batch, struct seq_time now)
{
    uint64_t moves = 0;
    for (uint64_t i = 0; i < batch->count; i++) {
        struct seq_token *run = &batch->runs[i];
        if (batch->to == SEQ_IN_FLIGHT) {
            batch->results[i] = seq_memory_take(of, run->seq, run->attempt, batch->by, now, run);
        } else if (ends_runs(batch->to)) {
            batch->results[i] = seq_memory_finish(of, *run, batch->to, batch->fail_class, now);
        } else {
            batch->results[i] = seq_memory_order(of, run->seq, batch->to, batch->by, now);
        }
        moves += batch->results[i].verdict == SEQ_MOVED;
    }
    return moves;
}

/* Mostly moves that fit what is there, in places that may repeat; now and then whatever comes. */
static struct batch random_batch(uint64_t *random)
{
    static const enum seq_state aims[] = {SEQ_DISPATCHED, SEQ_IN_FLIGHT, SEQ_IN_FLIGHT,
                                          SEQ_SUCCESS,    SEQ_SUCCESS,   SEQ_SKIP,
                                          SEQ_FAIL,       SEQ_COMMITTED, SEQ_CANCEL};
    struct batch batch = {.to = aims[random_next(random) % 9],
                          .by = 1 + (uint32_t)(random_next(random) % 3),
                          .fail_class = (uint32_t)(random_next(random) % 3)};
    uint64_t places = random_next(random) % (BATCH_MAX + 1);
    uint64_t first = random_next(random);
    bool careless = random_next(random) % 64 == 0;
    bool once = batch.to == SEQ_DISPATCHED || batch.to == SEQ_CANCEL; /* else it is fatal */
    for (uint64_t i = 0; i < places; i++) {
        uint64_t seq = (once ? first + i : random_next(random)) % 64;
        struct seq_view view = seq_memory_read(ledger, seq);
        bool fits = batch.to == SEQ_DISPATCHED  ? view.state == SEQ_UNSEEN
                    : batch.to == SEQ_CANCEL    ? view.state == SEQ_DISPATCHED && first % 8 == 0
                    : batch.to == SEQ_COMMITTED ? view.state >= SEQ_SUCCESS
                                                : view.state != SEQ_UNSEEN;
        if (fits || careless) {
            bool late = random_next(random) % 8 == 0;
            uint32_t owner = view.owner == 0 ? batch.by : view.owner;
            batch.runs[batch.count++] = (struct seq_token){
                .seq = seq, .owner = owner, .attempt = view.attempt + (late ? 1 : 0)};
        }
    }
    return batch;
}

static bool same_result(struct seq_result a, struct seq_result b)
{
    return a.verdict == b.verdict && a.from == b.from && a.to == b.to && a.event == b.event &&
           a.cancel_asked == b.cancel_asked;
}

static void expect_twins(const struct seq_memory *twin)
{
    struct seq_counts a = seq_memory_count(ledger);
    struct seq_counts b = seq_memory_count(twin);
    struct seq_report report;
    cr_assert_eq(memcmp(&a, &b, sizeof a), 0, "the counters of both");
    cr_assert_eq(seq_memory_halted(ledger, &report), seq_memory_halted(twin, &report));
    for (uint64_t seq = 0; seq < 64; seq++) {
        cr_assert(same_view(seq_memory_read(ledger, seq), seq_memory_read(twin, seq)));
    }
}

Test(seq, many_moves_are_as_if_each_had_been_called_for)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_16);
    uint64_t random = 88172645463325252;
    struct seq_memory *twin = ledger_new(64, &usual_policy);
    struct seq_report report;
    uint64_t seen[SEQ_HALTED + 1] = {0};
    uint64_t reclaimed = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        struct seq_time now = at(200 * round);
        struct batch one = random_batch(&random);
        struct batch many = one;
        cr_assert_eq(make_at_once(ledger, &many, now), make_one_by_one(twin, &one, now));
        for (uint64_t i = 0; i < one.count; i++) {
            cr_assert(same_result(one.results[i], many.results[i]), "round %lu, %lu of %lu",
                      (unsigned long)round, (unsigned long)i, (unsigned long)one.count);
            cr_assert_eq(one.runs[i].owner, many.runs[i].owner, "only what moved has a new owner");
            seen[one.results[i].verdict]++;
        }
        uint64_t told = 0;
        seq_memory_reclaim(twin, RECLAIMER, now, note_reclaimed, &told);
        cr_assert_eq(reclaim_at(200 * round), told, "the leases of many are found as those of one");
        reclaimed += told;
        expect_twins(twin);
        if (seq_memory_halted(ledger, &report) || seq_memory_count(ledger).committed > 50) {
            free(ledger);
            free(twin);
            open_ledger();
            twin = ledger_new(64, &usual_policy);
        }
    }
    free(twin);
    cr_expect(seen[SEQ_MOVED] > 1000 && seen[SEQ_STALE] > 1000 && seen[SEQ_REPEATED] > 1000 &&
              seen[SEQ_UNCHANGED] > 100 && seen[SEQ_FATAL] > 10 && seen[SEQ_HALTED] > 10 &&
              reclaimed > 1000);
}

Test(seq, of_many_moves_none_is_made_after_the_fatal_one)
{
    PROVES(CLAUSE_SEQ_20);
    uint64_t seqs[] = {0, 1, 1, 2};
    struct seq_result results[4];
    cr_expect_eq(seq_memory_order_many(ledger, seqs, 4, SEQ_DISPATCHED, DISPATCHER, at(1), results),
                 2U);
    cr_expect_eq(results[2].verdict, SEQ_FATAL, "it was dispatched by this very call");
    cr_expect_eq(results[3].verdict, SEQ_HALTED);
    cr_expect_eq(seq_memory_read(ledger, 2).state, SEQ_UNSEEN);
}

Test(seq, of_many_leases_each_is_found_with_those_that_hung_there_before)
{
    PROVES(CLAUSE_SEQ_10);
    struct seq_token runs[20];
    struct seq_result results[20];
    started(60, 0);
    for (uint64_t i = 0; i < 20; i++) {
        bring(3 * i, SEQ_DISPATCHED);
        runs[i] = (struct seq_token){.seq = 3 * i};
    }
    runs[7].seq = 60; /* which another has */
    cr_expect_eq(seq_memory_take_many(ledger, runs, 20, WORKER, at(0), results), 19U);
    cr_expect_eq(runs[7].owner, 0U, "no token for what was not taken");
    cr_expect_eq(seq_memory_take_many(ledger, runs, 20, WORKER, at(1), results), 0U);
    cr_expect_eq(reclaim_at(999), 0U);
    cr_expect_eq(reclaim_at(1000), 20U);
    cr_expect_eq(seq_memory_count(ledger).examined, 20U);
}

/* 256 attempts would be a bit of the owner: no first run is mistaken for that of another owner. */
Test(seq, an_attempt_that_does_not_fit_is_stale)
{
    struct seq_token token = started(0, 0);
    struct seq_token forged = {.seq = 0, .owner = RIVAL, .attempt = SEQ_ATTEMPTS_MAX + 1};
    cr_expect_eq(seq_memory_finish(ledger, forged, SEQ_SUCCESS, 0, at(1)).verdict, SEQ_STALE);
    forged = (struct seq_token){.seq = 0, .owner = WORKER, .attempt = SEQ_ATTEMPTS_MAX + 1};
    cr_expect_eq(seq_memory_finish(ledger, forged, SEQ_SUCCESS, 0, at(1)).verdict, SEQ_STALE);
    seq_memory_finish(ledger, token, SEQ_FAIL, CLASS_TRANSIENT, at(2));
    cr_expect_eq(seq_memory_take(ledger, 0, SEQ_ATTEMPTS_MAX + 2, WORKER, at(3), &forged).verdict,
                 SEQ_STALE);
}
