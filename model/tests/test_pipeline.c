/* The pipeline's engine: what each phase sends, and what each outcome means to a worker. */
#include "model/pipeline.h"
#include "model/protocol.h"
#include "model/tests/proves.h"
#include "model/tests/rules.h"

#include <criterion/criterion.h>
#include <string.h>

static struct rules rules = {.protocol = &protocol_pipeline,
                             .actors = 3,
                             .cast = {PIPELINE_CLIENT, PIPELINE_WORKER, PIPELINE_SWEEP},
                             .jobs = 1,
                             .timeout = 60,
                             .put_back = 7};
OWN_RULES(rules, pipeline_rules, .entry_count = 5, .passes = 2,
          .entries = {{.reviews = 2,
                       .verifies = 2,
                       .decisions = {DECISION_APPROVE, DECISION_REJECT},
                       .outcomes = {VERIFIED_PASS, VERIFIED_FAIL}},
                      {.flaw = FLAW_RIVAL_REVIEWER,
                       .blocker_count = 1,
                       .blockers = {0},
                       .reviews = 2,
                       .verifies = 1,
                       .decisions = {DECISION_APPROVE, DECISION_REJECT},
                       .outcomes = {VERIFIED_FAIL}},
                      {.flaw = FLAW_NO_PAYLOAD,
                       .reviews = 1,
                       .verifies = 1,
                       .decisions = {DECISION_APPROVE},
                       .outcomes = {VERIFIED_PASS}},
                      {.flaw = FLAW_NO_BLOCKER,
                       .reviews = 1,
                       .verifies = 1,
                       .decisions = {DECISION_APPROVE},
                       .outcomes = {VERIFIED_PASS}},
                      {.flaw = FLAW_OTHER_PAYLOAD,
                       .reviews = 1,
                       .verifies = 1,
                       .decisions = {DECISION_APPROVE},
                       .outcomes = {VERIFIED_PASS}}})

static struct actor actor;
static struct bundle bundle;

static const struct role *role(void)
{
    return protocol_role(&rules, 1);
}

static void begin(void)
{
    protocol_begin(&actor, &rules, 1);
}

TestSuite(pipeline, .init = begin);

static void take(struct outcome outcome)
{
    role()->take(&actor, &rules, &outcome);
}

static void next(void)
{
    role()->next(&actor, &rules, &bundle);
}

static const int64_t *params(int call)
{
    return &bundle.params[bundle.calls[call].params];
}

/* The n-th call of the primitive in the bundle, from 0; -1: there is none. */
static int find(enum primitive_id primitive, int n)
{
    for (int i = 0; i < bundle.count; i++) {
        if (bundle.calls[i].primitive == primitive && n-- == 0) {
            return i;
        }
    }
    return -1;
}

static int calls(enum primitive_id primitive)
{
    int n = 0;
    while (find(primitive, n) >= 0) {
        n++;
    }
    return n;
}

/* The n-th request that the last bundle published, as a claim would hand it out. */
static struct outcome claimed(int n)
{
    struct outcome outcome = {.kind = OUTCOME_COMMITTED};
    int at = find(PRIMITIVE_PUBLISH, n);
    cr_assert_geq(at, 0, "request %d", n);
    memcpy(outcome.message, params(at), (1 + MESSAGE_VISIBLE_AT) * sizeof *outcome.message);
    outcome.message[1 + MESSAGE_EPOCH] = 1;
    return outcome;
}

static void commit(void)
{
    next();
    take((struct outcome){.kind = OUTCOME_COMMITTED});
}

/* The worker holds the MARK of an entry. */
static void hold_mark(int64_t node)
{
    struct actor client;
    protocol_begin(&client, &rules, 0);
    protocol_role(&rules, 0)->next(&client, &rules, &bundle);
    struct outcome first = claimed(0);
    first.message[1 + REQUEST_NODE] = node;
    first.message[1 + REQUEST_ENTRY] = pipeline_entry_id(0, node);
    first.message[1 + REQUEST_ROW] = pipeline_entry_id(0, node);
    take(first);
    cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_PHASE);
}

/* It goes through a phase whose hand-on asks for the next; holds that one's request. */
static void go_on(int request)
{
    commit();
    next();
    struct outcome outcome = claimed(request);
    take((struct outcome){.kind = OUTCOME_COMMITTED});
    cr_assert(role()->is_idle(&actor));
    take(outcome);
    cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_PHASE);
}

static void hold(enum pipeline_phase phase, int64_t node)
{
    hold_mark(node);
    if (phase >= PHASE_REVIEW) {
        go_on(0);
    }
    if (phase >= PHASE_CUT) { /* after the re-review, and its rival */
        commit();
        next();
        int last = calls(PRIMITIVE_PUBLISH) - 1;
        struct outcome outcome = claimed(last);
        take((struct outcome){.kind = OUTCOME_COMMITTED});
        take(outcome);
    }
    if (phase >= PHASE_VERIFY) {
        go_on(0);
    }
    cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->message[1 + REQUEST_PHASE], phase);
}

/* ---- the status graph ------------------------------------------------------------------------ */

Test(pipeline, status_moves_along_the_graph_and_no_other_way)
{
    PROVES(CLAUSE_CUT_15, CLAUSE_CUT_27);
    SETTLES(ERRATUM_CUT_12, ERRATUM_CUT_20);
    static const char *const allowed[] = {/* from: to */
                                          "M", "AR", "ARC", "AR", "VE", "VE", ""};
    static const char letters[STATUS_COUNT] = {'-', 'M', 'A', 'R', 'C', 'V', 'E'};
    for (int from = 0; from < STATUS_COUNT; from++) {
        for (int to = 0; to < STATUS_COUNT; to++) {
            bool may = false;
            for (int phase = PHASE_MARK; phase < PHASE_END; phase++) {
                may = may || pipeline_moves((enum pipeline_phase)phase, from, to);
            }
            cr_expect_eq(may, strchr(allowed[from], letters[to]) != NULL && to > 0, "%d to %d",
                         from, to);
        }
    }
    cr_expect_not(pipeline_moves(PHASE_REVIEW, STATUS_APPROVED, STATUS_CUT), "that is CUT's move");
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* (PI1) */
Test(pipeline, each_phase_is_one_bundle_at_its_isolation_level_under_one_lock)
{
    PROVES(CLAUSE_CUT_1, CLAUSE_CUT_16, CLAUSE_CUT_17);
    SETTLES(ERRATUM_CUT_17);
    static const struct {
        enum pipeline_phase phase;
        enum bundle_name name;
        enum isolation isolation;
    } cases[] = {{PHASE_MARK, BUNDLE_MARK, READ_COMMITTED},
                 {PHASE_REVIEW, BUNDLE_REVIEW, READ_COMMITTED},
                 {PHASE_CUT, BUNDLE_CUT, SERIALIZABLE},
                 {PHASE_VERIFY, BUNDLE_VERIFY, SERIALIZABLE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        hold(cases[i].phase, 0);
        next();
        cr_expect_eq(bundle.name, cases[i].name);
        cr_expect_eq(bundle.isolation, cases[i].isolation, "phase %zu", i);
        bool locks = cases[i].phase != PHASE_MARK; /* which relies on its key */
        cr_expect_eq(calls(PRIMITIVE_LOCK_ENTRY), locks);
        cr_expect(!locks || find(PRIMITIVE_LOCK_ENTRY, 0) == 0, "the lock comes first");
        cr_expect_eq(calls(PRIMITIVE_ADD_PAST), 1, "one row of history");
        for (int c = 1; c < bundle.count; c++) {
            cr_expect_eq(bundle.calls[c].mode, CALL_REQUIRE, "whole or not at all");
        }
    }
}

/* A phase, and the look at what became of it, is its principal's; the queue is the caller's. */
Test(pipeline, a_phase_is_sent_by_its_principal)
{
    PROVES(CLAUSE_CUT_11);
    for (int phase = PHASE_MARK; phase < PHASE_END; phase++) {
        uint8_t own = phase == PHASE_VERIFY ? PRINCIPAL_VERIFY : PRINCIPAL_EXEC;
        begin();
        next();
        cr_expect_eq(bundle.principal, PRINCIPAL_NONE, "claim");
        hold((enum pipeline_phase)phase, 0);
        next();
        cr_expect_eq(bundle.principal, own, "phase %d", phase);
        for (int c = 0; c < bundle.count; c++) {
            const struct primitive *primitive = &primitive_table[bundle.calls[c].primitive];
            for (int o = 0; o < primitive->op_count; o++) {
                cr_expect(rights_allow((enum principal)own, &primitive->ops[o]), "%s",
                          primitive->name);
            }
        }
        take((struct outcome){.kind = OUTCOME_UNKNOWN});
        next();
        cr_expect_eq(bundle.name, BUNDLE_READ);
        cr_expect_eq(bundle.principal, own, "phase %d", phase);
        take((struct outcome){.kind = OUTCOME_COMMITTED, .values = {1, 1, 1}});
        next();
        cr_expect_eq(bundle.name, BUNDLE_HAND_ON);
        cr_expect_eq(bundle.principal, PRINCIPAL_NONE, "hand on");
    }
}

Test(pipeline, every_phase_but_mark_writes_the_entrys_row)
{
    SETTLES(ERRATUM_CUT_11);
    for (int phase = PHASE_REVIEW; phase < PHASE_END; phase++) {
        begin();
        hold((enum pipeline_phase)phase, 0);
        next();
        int move = find(PRIMITIVE_MOVE, 0);
        cr_assert_geq(move, 0, "phase %d", phase);
        cr_expect_eq(params(move)[0], pipeline_entry_id(0, 0));
        const int64_t *past = params(find(PRIMITIVE_ADD_PAST, 0));
        cr_expect_eq(past[2], params(move)[1], "the history says the same");
        cr_expect_eq(past[3], params(move)[2]);
        cr_expect_eq(primitive_table[PRIMITIVE_MOVE].ops[0].kind, OP_SET, "also one that stays");
    }
}

Test(pipeline, mark_brings_entry_history_dependencies_and_sweep_row)
{
    PROVES(CLAUSE_CUT_5, CLAUSE_CUT_23);
    hold(PHASE_MARK, 1);
    next();
    cr_expect_eq(calls(PRIMITIVE_ADD_ENTRY), 1);
    cr_expect_eq(calls(PRIMITIVE_DEPEND), 1);
    cr_expect_eq(params(find(PRIMITIVE_DEPEND, 0))[2], pipeline_entry_id(0, 0));
    cr_expect_eq(calls(PRIMITIVE_LOG_SWEEP), 1);
}

Test(pipeline, flawed_requests_are_sent_as_they_are)
{
    hold(PHASE_MARK, 2);
    next();
    cr_expect_eq(calls(PRIMITIVE_ADD_NULL), 1);
    cr_expect_eq(calls(PRIMITIVE_ADD_ENTRY), 0);
    begin();
    hold(PHASE_MARK, 3);
    next();
    int64_t nowhere = params(find(PRIMITIVE_DEPEND, 0))[2];
    for (int batch = 0; batch < 3; batch++) {
        for (int node = 0; node < PIPELINE_ENTRIES_MAX; node++) {
            cr_expect_neq(nowhere, pipeline_entry_id(batch, node), "there is no such entry");
        }
    }
}

Test(pipeline, a_rereview_stamps_the_decision_before_it)
{
    PROVES(CLAUSE_CUT_6, CLAUSE_CUT_7);
    hold(PHASE_REVIEW, 0);
    int64_t first = ACTOR_IS(&actor, pipeline_worker)->message[1 + REQUEST_ROW];
    next();
    cr_expect_eq(calls(PRIMITIVE_SUPERSEDE), 0);
    cr_expect_eq(calls(PRIMITIVE_ADD_ENVELOPE), 1);
    cr_expect_geq(calls(PRIMITIVE_ADD_UNIT), 1);
    go_on(0);
    next();
    const int64_t *stamp = params(find(PRIMITIVE_SUPERSEDE, 0));
    cr_expect_eq(stamp[0], first);
    cr_expect_eq(stamp[1], params(find(PRIMITIVE_ADD_REVIEW, 0))[0]);
    cr_expect_eq(params(find(PRIMITIVE_ADD_REVIEW, 0))[5], first, "prior");
    cr_expect_eq(params(find(PRIMITIVE_MOVE, 0))[1], STATUS_APPROVED);
    cr_expect_eq(params(find(PRIMITIVE_MOVE, 0))[2], STATUS_REJECTED);
}

Test(pipeline, a_cut_tests_its_guards_before_it_writes)
{
    PROVES(CLAUSE_CUT_8, CLAUSE_CUT_9);
    hold(PHASE_CUT, 1);
    next();
    cr_expect_eq(find(PRIMITIVE_NEED_APPROVAL, 0), 1);
    cr_expect_eq(find(PRIMITIVE_NEED_BLOCKERS, 0), 2);
    cr_expect_eq(find(PRIMITIVE_NEED_UNCUT, 0), 3);
    cr_expect_eq(find(PRIMITIVE_SIGN, 0), 4);
    const int64_t *sign = params(4);
    cr_expect_eq(sign[2], LANE_EXECUTOR);
    cr_expect_eq(sign[3], PRINCIPAL_EXEC);
    cr_expect_eq(params(find(PRIMITIVE_ADD_SET, 0))[3], sign[0]);
    cr_expect_eq(calls(PRIMITIVE_AFFECT), pipeline_parts(1));
}

Test(pipeline, a_verify_that_fails_undoes_and_raises_before_the_status_moves)
{
    PROVES(CLAUSE_CUT_10, CLAUSE_CUT_20, CLAUSE_CUT_21, CLAUSE_CUT_29);
    SETTLES(ERRATUM_CUT_4, ERRATUM_CUT_8);
    static const enum primitive_id order[] = {
        PRIMITIVE_LOCK_ENTRY, PRIMITIVE_NEED_CUT, PRIMITIVE_SIGN,       PRIMITIVE_COMPENSATE,
        PRIMITIVE_AFFECT,     PRIMITIVE_AFFECT,   PRIMITIVE_ADD_VERIFY, PRIMITIVE_RAISE,
        PRIMITIVE_MOVE,       PRIMITIVE_ADD_PAST};
    hold(PHASE_VERIFY, 1);
    next();
    cr_assert_eq(bundle.count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++) {
        cr_expect_eq(bundle.calls[i].primitive, order[i], "call %zu", i);
    }
    cr_expect_eq(params(3)[2], params(2)[0], "the verifier's signature");
    cr_expect_eq(params(6)[6], params(3)[0], "the compensating set is named at once");
    cr_expect_eq(params(8)[2], STATUS_ESCALATED);
}

Test(pipeline, the_verifier_signs_in_its_own_lane_after_its_own_signature)
{
    PROVES(CLAUSE_CUT_11, CLAUSE_CUT_26, CLAUSE_CUT_28);
    SETTLES(ERRATUM_CUT_3, ERRATUM_CUT_19);
    hold(PHASE_VERIFY, 0);
    next();
    const int64_t *sign = params(find(PRIMITIVE_SIGN, 0));
    int64_t first = sign[0], result = params(find(PRIMITIVE_ADD_VERIFY, 0))[0];
    cr_expect_eq(sign[2], LANE_VERIFIER);
    cr_expect_eq(sign[3], PRINCIPAL_VERIFY);
    cr_expect_eq(sign[4], 0);
    cr_expect_eq(calls(PRIMITIVE_RAISE), 0);
    commit();
    next(); /* CUTs of what waits for it, then the re-verify */
    struct outcome again = claimed(calls(PRIMITIVE_PUBLISH) - 1);
    take((struct outcome){.kind = OUTCOME_COMMITTED});
    take(again);
    next();
    cr_expect_eq(bundle.name, BUNDLE_VERIFY);
    cr_expect_eq(params(find(PRIMITIVE_SIGN, 0))[4], first);
    cr_expect_eq(params(find(PRIMITIVE_ADD_VERIFY, 0))[5], result);
    cr_expect_neq(params(find(PRIMITIVE_ADD_VERIFY, 0))[0], result);
}

/* ---- outcomes -------------------------------------------------------------------------------- */

Test(pipeline, what_the_outcome_of_a_phase_means)
{
    PROVES(CLAUSE_CUT_12, CLAUSE_CUT_14);
    SETTLES(ERRATUM_CUT_13, ERRATUM_CUT_15, ERRATUM_CUT_16);
    static const struct {
        struct outcome outcome;
        enum pipeline_state state;
        enum sweep_reason why;
        int tries;
    } cases[] = {
        {{.kind = OUTCOME_COMMITTED}, PIPELINE_HAND_ON, SWEEP_MARKED, 0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_NO_PARENT},
         PIPELINE_HAND_ON,
         SWEEP_NO_PARENT,
         0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_NULL}, PIPELINE_HAND_ON, SWEEP_NULL, 0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_FORBIDDEN},
         PIPELINE_HAND_ON,
         SWEEP_FORBIDDEN,
         0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_UNCLASSIFIED},
         PIPELINE_HAND_ON,
         SWEEP_UNCLASSIFIED,
         0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_EXISTS}, PIPELINE_READ, SWEEP_MARKED, 0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_STATUS}, PIPELINE_READ, SWEEP_MARKED, 0},
        {{.kind = OUTCOME_REFUSED, .refusal = REFUSED_BLOCKED}, PIPELINE_READ, SWEEP_MARKED, 0},
        {{.kind = OUTCOME_UNKNOWN}, PIPELINE_READ, SWEEP_MARKED, 0},
        {{.kind = OUTCOME_ABORTED, .aborted = ABORT_SERIALIZATION},
         PIPELINE_PHASE,
         SWEEP_MARKED,
         1},
        {{.kind = OUTCOME_ABORTED, .aborted = ABORT_DEADLOCK}, PIPELINE_PHASE, SWEEP_MARKED, 1},
        {{.kind = OUTCOME_ABORTED, .aborted = ABORT_CONNECTION}, PIPELINE_PHASE, SWEEP_MARKED, 1},
        {{.kind = OUTCOME_ABORTED, .aborted = ABORT_CONNECTIONS}, PIPELINE_PHASE, SWEEP_MARKED, 1},
        {{.kind = OUTCOME_ABORTED, .aborted = ABORT_TIMEOUT}, PIPELINE_PHASE, SWEEP_MARKED, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        hold(PHASE_CUT, 0);
        take(cases[i].outcome);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->state, cases[i].state, "case %zu", i);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->why, cases[i].why, "case %zu", i);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->tries, cases[i].tries, "case %zu", i);
    }
}

Test(pipeline, a_look_that_nobody_classified_an_error_of_is_for_people_too)
{
    SETTLES(ERRATUM_CUT_16);
    hold(PHASE_CUT, 0);
    take((struct outcome){.kind = OUTCOME_UNKNOWN});
    cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_READ);
    take((struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_UNCLASSIFIED});
    cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_HAND_ON);
    cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->why, SWEEP_UNCLASSIFIED);
    cr_expect_not(ACTOR_IS(&actor, pipeline_worker)->follows);
}

Test(pipeline, a_mark_reads_before_it_writes_and_returns_the_entry_that_is_there)
{
    PROVES(CLAUSE_CUT_5);
    SETTLES(ERRATUM_CUT_2);
    for (int same = 0; same < 2; same++) {
        begin();
        hold(PHASE_MARK, 0);
        int64_t payload = ACTOR_IS(&actor, pipeline_worker)->message[1 + REQUEST_SOURCE];
        next();
        cr_assert_eq(bundle.calls[0].primitive, PRIMITIVE_NEED_NEW);
        cr_expect_eq(bundle.calls[0].mode, CALL_UNLESS_DONE);
        take((struct outcome){.kind = OUTCOME_COMMITTED,
                              .skipped = 1,
                              .values = {STATUS_MARKED, payload + 1 - same}});
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_HAND_ON);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->follows, same == 1);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->why,
                     same ? SWEEP_MARKED : SWEEP_OTHER_LOAD);
    }
}

/* (PI3), (PI4) */
Test(pipeline, transient_errors_are_retried_three_times_and_then_the_phase_stops)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_15, ERRATUM_CUT_16);
    static const enum abort_class classes[] = {ABORT_SERIALIZATION, ABORT_CONNECTIONS,
                                               ABORT_CONNECTION};
    hold(PHASE_CUT, 0);
    for (int i = 0; i < PIPELINE_TRIES_MAX; i++) {
        take((struct outcome){.kind = OUTCOME_ABORTED, .aborted = (uint8_t)classes[i]});
        next();
        cr_assert_eq(bundle.name, BUNDLE_CUT);
        cr_expect_eq(params(find(PRIMITIVE_ADD_PAST, 0))[4], i + 1, "the history counts them");
    }
    take((struct outcome){.kind = OUTCOME_ABORTED, .aborted = ABORT_DEADLOCK});
    next();
    cr_expect_eq(bundle.name, BUNDLE_STOP);
    cr_expect_eq(params(0)[2], 0, "it was never stopped before");
    cr_expect_eq(params(0)[3], 1);
    cr_expect_eq(params(0)[4], PROTOCOL_NEVER, "nobody may claim it");
    cr_expect_eq(params(find(PRIMITIVE_LOG_SWEEP, 0))[3], SWEEP_EXHAUSTED);
    cr_expect_eq(params(find(PRIMITIVE_LOG_SWEEP, 0))[4], params(0)[0], "which request it was");
    take((struct outcome){.kind = OUTCOME_COMMITTED});
    cr_expect(role()->is_idle(&actor));
}

Test(pipeline, a_stop_that_the_log_has_already_is_the_next_one)
{
    SETTLES(ERRATUM_CUT_21);
    hold(PHASE_CUT, 0);
    for (int i = 0; i <= PIPELINE_TRIES_MAX; i++) {
        take((struct outcome){.kind = OUTCOME_ABORTED, .aborted = ABORT_DEADLOCK});
    }
    next();
    int64_t first = params(find(PRIMITIVE_LOG_SWEEP, 0))[0];
    take((struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_EXISTS});
    next();
    cr_assert_eq(bundle.name, BUNDLE_STOP);
    cr_expect_eq(params(0)[3], 2);
    cr_expect_neq(params(find(PRIMITIVE_LOG_SWEEP, 0))[0], first);
    take((struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_EPOCH});
    cr_expect(role()->is_idle(&actor), "another worker has it");
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static const struct role *sweep_role(void)
{
    return protocol_role(&rules, 2);
}

/* The sweep finds a request that was stopped so often, and builds its pass. */
static void sweep(enum pipeline_phase phase, int64_t stops, int64_t node)
{
    protocol_begin(&actor, &rules, 2);
    sweep_role()->next(&actor, &rules, &bundle);
    cr_assert_eq(bundle.name, BUNDLE_SWEEP_LOOK);
    struct outcome found = {.kind = OUTCOME_COMMITTED,
                            .values = {77, phase, pipeline_entry_id(0, node), stops, 0, node}};
    sweep_role()->take(&actor, &rules, &found);
    cr_assert_not(sweep_role()->is_idle(&actor));
    sweep_role()->next(&actor, &rules, &bundle);
    cr_assert_eq(bundle.name, BUNDLE_SWEEP);
}

Test(pipeline, a_pass_of_the_sweep_is_one_row_of_its_log_and_asks_again_so_often)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_21);
    sweep(PHASE_CUT, 1, 0);
    cr_expect_eq(find(PRIMITIVE_ASK_AGAIN, 0), 0);
    cr_expect_eq(params(0)[0], 77);
    cr_expect_eq(params(0)[1], 1);
    cr_expect_eq(params(0)[2], rules.put_back);
    cr_expect_eq(calls(PRIMITIVE_LOG_SWEEP), 1);
    cr_expect_eq(params(find(PRIMITIVE_LOG_SWEEP, 0))[3], SWEEP_AGAIN);
    cr_expect_eq(calls(PRIMITIVE_PUBLISH), 0);
    sweep(PHASE_CUT, 2, 0);
    cr_expect_eq(find(PRIMITIVE_GIVE_UP, 0), 0);
    cr_expect_eq(params(find(PRIMITIVE_LOG_SWEEP, 0))[3], SWEEP_GIVEN_UP);
    cr_expect_eq(params(find(PRIMITIVE_LOG_SWEEP, 0))[4], 77);
    cr_expect_eq(calls(PRIMITIVE_PUBLISH), 0);
    sweep(PHASE_MARK, 2, 0);
    cr_expect_eq(calls(PRIMITIVE_PUBLISH), 1, "the next MARK, in every case");
}

Test(pipeline, a_sweep_that_is_not_told_how_its_pass_ended_looks_again)
{
    static const enum outcome_kind ends[] = {OUTCOME_COMMITTED, OUTCOME_REFUSED, OUTCOME_ABORTED,
                                             OUTCOME_UNKNOWN};
    for (size_t i = 0; i < COUNT(ends); i++) {
        sweep(PHASE_CUT, 1, 0);
        sweep_role()->take(&actor, &rules, &(struct outcome){.kind = (uint8_t)ends[i]});
        cr_expect(sweep_role()->is_idle(&actor));
        sweep_role()->take(&actor, &rules, &(struct outcome){.kind = (uint8_t)ends[i]});
        cr_expect(sweep_role()->is_idle(&actor), "nothing stands");
    }
}

/* ---- what is read ---------------------------------------------------------------------------- */

/* values: the entry's status and payload, then what was asked for; of a MARK its payload, too. */
Test(pipeline, what_is_read_after_a_refusal_or_a_lost_answer_decides)
{
    PROVES(CLAUSE_CUT_13, CLAUSE_CUT_2);
    SETTLES(ERRATUM_CUT_2, ERRATUM_CUT_6, ERRATUM_CUT_9, ERRATUM_CUT_13);
    enum { LOST = REFUSED_NOTHING };
    static const struct {
        enum pipeline_phase phase;
        int refusal;
        int64_t status, found;
        enum pipeline_state state;
        bool follows;
        enum sweep_reason why;
    } cases[] = {
        {PHASE_CUT, LOST, STATUS_CUT, 1, PIPELINE_HAND_ON, true, SWEEP_MARKED},
        {PHASE_CUT, LOST, STATUS_APPROVED, 0, PIPELINE_PHASE, false, SWEEP_MARKED},
        {PHASE_CUT, REFUSED_EXISTS, STATUS_CUT, 1, PIPELINE_HAND_ON, true, SWEEP_MARKED},
        {PHASE_CUT, REFUSED_EXISTS, STATUS_ESCALATED, 1, PIPELINE_HAND_ON, false, SWEEP_MARKED},
        {PHASE_CUT, REFUSED_EXISTS, STATUS_APPROVED, 0, PIPELINE_HAND_ON, false, SWEEP_CONFLICT},
        {PHASE_CUT, REFUSED_BLOCKED, STATUS_APPROVED, 0, PIPELINE_HAND_ON, false, SWEEP_MARKED},
        {PHASE_CUT, REFUSED_SUPERSEDED, STATUS_APPROVED, 0, PIPELINE_HAND_ON, false, SWEEP_MARKED},
        {PHASE_REVIEW, REFUSED_STATUS, STATUS_CUT, DECISION_APPROVE, PIPELINE_HAND_ON, true,
         SWEEP_MARKED},
        {PHASE_REVIEW, REFUSED_SUPERSEDED, STATUS_APPROVED, 0, PIPELINE_HAND_ON, false,
         SWEEP_MARKED},
        {PHASE_VERIFY, REFUSED_EXISTS, STATUS_ESCALATED, VERIFIED_FAIL, PIPELINE_HAND_ON, true,
         SWEEP_MARKED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        hold(cases[i].phase, 0);
        take((struct outcome){.kind = cases[i].refusal == LOST ? OUTCOME_UNKNOWN : OUTCOME_REFUSED,
                              .refusal = (uint8_t)cases[i].refusal});
        next();
        cr_expect_eq(bundle.name, BUNDLE_READ);
        take((struct outcome){.kind = OUTCOME_COMMITTED,
                              .values = {cases[i].status, 1, cases[i].found}});
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->state, cases[i].state, "case %zu", i);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->follows, cases[i].follows, "case %zu", i);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->why, cases[i].why, "case %zu", i);
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->found, cases[i].found, "case %zu", i);
    }
}

Test(pipeline, the_same_key_with_another_payload_is_for_people)
{
    PROVES(CLAUSE_CUT_5);
    SETTLES(ERRATUM_CUT_2);
    for (int same = 0; same < 2; same++) {
        begin();
        hold(PHASE_MARK, 4);
        int64_t payload = ACTOR_IS(&actor, pipeline_worker)->message[1 + REQUEST_SOURCE];
        take((struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_EXISTS});
        take((struct outcome){.kind = OUTCOME_COMMITTED,
                              .values = {STATUS_MARKED, 0, STATUS_MARKED, payload + 1 - same}});
        cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->why,
                     same ? SWEEP_MARKED : SWEEP_OTHER_LOAD);
        next();
        cr_expect_eq(calls(PRIMITIVE_LOG_SWEEP), 1 - same);
        cr_expect_eq(calls(PRIMITIVE_PUBLISH), same ? 2 : 0, "its review, and the other payload");
    }
}

Test(pipeline, reading_is_retried_and_given_up_as_a_phase_is)
{
    hold(PHASE_CUT, 0);
    take((struct outcome){.kind = OUTCOME_UNKNOWN});
    for (int i = 0; i < PIPELINE_TRIES_MAX; i++) {
        take((struct outcome){.kind = OUTCOME_UNKNOWN});
        cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_READ);
    }
    take((struct outcome){.kind = OUTCOME_ABORTED, .aborted = ABORT_CONNECTION});
    cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_STOP);
    begin();
    hold(PHASE_CUT, 0);
    for (int i = 0; i <= PIPELINE_TRIES_MAX; i++) { /* lost, and not there, each time */
        cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_PHASE);
        take((struct outcome){.kind = OUTCOME_UNKNOWN});
        take((struct outcome){.kind = OUTCOME_COMMITTED, .values = {STATUS_APPROVED, 1, 0}});
    }
    cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_STOP);
}

Test(pipeline, handing_on_ends_when_it_is_done_or_another_workers_or_hopeless)
{
    static const enum outcome_kind ends[] = {OUTCOME_COMMITTED, OUTCOME_REFUSED};
    for (size_t i = 0; i < COUNT(ends); i++) {
        begin();
        hold(PHASE_CUT, 0);
        commit();
        take((struct outcome){.kind = OUTCOME_UNKNOWN});
        cr_assert_eq(ACTOR_IS(&actor, pipeline_worker)->state, PIPELINE_HAND_ON);
        take((struct outcome){.kind = (uint8_t)ends[i]});
        cr_expect(role()->is_idle(&actor));
    }
    begin();
    hold(PHASE_CUT, 0);
    commit();
    for (int i = 0; i <= PIPELINE_TRIES_MAX; i++) {
        cr_assert_not(role()->is_idle(&actor));
        take((struct outcome){.kind = OUTCOME_UNKNOWN});
    }
    cr_expect(role()->is_idle(&actor));
}

/* ---- requests -------------------------------------------------------------------------------- */

Test(pipeline, what_nobody_asks_for_is_let_go)
{
    struct outcome odd = {.kind = OUTCOME_COMMITTED};
    take(odd);
    cr_expect(role()->is_idle(&actor), "no message");
    odd.message[1 + REQUEST_PHASE] = PHASE_CUT;
    odd.message[1 + REQUEST_STATUS] = STATUS_COMPLETE;
    take(odd);
    cr_expect(role()->is_idle(&actor), "a CUT of a complete entry");
    odd.message[1 + REQUEST_STATUS] = STATUS_APPROVED;
    odd.message[1 + REQUEST_NODE] = RULES_OF(&rules, pipeline_rules)->entry_count;
    take(odd);
    cr_expect(role()->is_idle(&actor), "an entry that is not planned");
    take((struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_NO_MESSAGE});
    cr_expect(role()->is_idle(&actor));
}

/* What is published, by the phase that it asks for. */
static const char *asked(void)
{
    static const char letters[] = "?MRCV";
    static char text[32];
    int n = 0;
    for (; n < calls(PRIMITIVE_PUBLISH); n++) {
        text[n] = letters[params(find(PRIMITIVE_PUBLISH, n))[1 + REQUEST_PHASE]];
    }
    text[n] = '\0';
    return text;
}

Test(pipeline, what_follows_from_a_phase)
{
    static const struct {
        enum pipeline_phase phase;
        int64_t node;
        const char *asked;
    } cases[] = {{PHASE_MARK, 0, "RM"},    {PHASE_MARK, 4, "RM"}, {PHASE_REVIEW, 0, "RC"},
                 {PHASE_REVIEW, 1, "RRC"}, {PHASE_CUT, 0, "V"},   {PHASE_VERIFY, 0, "CCV"},
                 {PHASE_VERIFY, 1, ""},    {PHASE_VERIFY, 4, ""}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        hold(cases[i].phase, cases[i].node);
        commit();
        next();
        cr_expect_eq(bundle.name, BUNDLE_HAND_ON);
        cr_expect_eq(find(PRIMITIVE_ACK, 0), 0);
        cr_expect_str_eq(asked(), cases[i].asked, "case %zu", i);
    }
}

Test(pipeline, a_rejection_asks_for_no_cut_and_a_stop_for_nothing)
{
    hold(PHASE_REVIEW, 0);
    go_on(0);
    commit();
    next();
    cr_expect_str_eq(asked(), "", "rejected, and no review is planned after it");
    begin();
    hold(PHASE_VERIFY, 0);
    take((struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_UNSIGNED});
    take((struct outcome){.kind = OUTCOME_COMMITTED, .values = {STATUS_APPROVED, 1, 0}});
    next();
    cr_expect_str_eq(asked(), "");
}

Test(pipeline, a_verifier_that_judges_otherwise_stays_with_it)
{
    SETTLES(ERRATUM_CUT_3);
    hold(PHASE_VERIFY, 0);
    ACTOR_IS(&actor, pipeline_worker)->flipped = true;
    next();
    cr_expect_eq(params(find(PRIMITIVE_ADD_VERIFY, 0))[4], VERIFIED_FAIL);
    take((struct outcome){.kind = OUTCOME_UNKNOWN});
    take(
        (struct outcome){.kind = OUTCOME_COMMITTED, .values = {STATUS_COMPLETE, 1, VERIFIED_PASS}});
    cr_expect_eq(ACTOR_IS(&actor, pipeline_worker)->found, VERIFIED_PASS, "what is stored wins");
}

Test(pipeline, a_worker_is_due_when_a_request_is_and_holds_its_message)
{
    struct glance glance = {.now = 9, .next_message = 40};
    cr_expect_eq(role()->due(&actor, &rules, &glance), 40);
    hold(PHASE_MARK, 0);
    cr_expect_eq(role()->due(&actor, &rules, &glance), 9);
    cr_expect_eq(role()->message(&actor)[1 + REQUEST_PHASE], PHASE_MARK);
    begin();
    next();
    cr_expect_eq(bundle.name, BUNDLE_CLAIM);
    cr_expect_eq(params(0)[0], rules.timeout);
}
