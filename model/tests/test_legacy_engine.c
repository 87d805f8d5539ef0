/* The engines of the earlier ledger, decision by decision: what each outcome makes a worker send
 * next, and what is in it. */
#include "model/activity_engine.h"
#include "model/identity.h"
#include "model/legacy.h"
#include "model/legacy_engine.h"
#include "model/protocol.h"
#include "model/tests/proves.h"
#include "model/tests/rules.h"

#include <criterion/criterion.h>
#include <string.h>

#define ACTIVITY INT64_C(4711)
#define JOB      INT64_C(99)
#define INPUT    INT64_C(1234)

/* A trigger with a child for its pending answer, two for its closing one, and a call after it. */
static const struct graph graph = {
    .node_count = 4,
    .edge_count = 3,
    .nodes = {{.name = "t", .edge_count = 3, .pendings = 1, .again = 1},
              {.name = "a"},
              {.name = "b"},
              {.name = "c"}},
    .edges = {{.from = 0, .to = 1}, {.from = 0, .to = 2}, {.from = 0, .to = 3, .answer = 1}}};

static struct rules rules = {.protocol = &protocol_legacy,
                             .actors = 2,
                             .cast = {LEGACY_CLIENT, LEGACY_WORKER},
                             .jobs = 2,
                             .timeout = 60};
OWN_RULES(rules, legacy_rules, .graph = &graph)
static struct actor actor;
static struct bundle bundle;

static const struct role *worker_role(void)
{
    return protocol_role(&rules, 1);
}

static struct outcome claimed(enum message_kind kind, uint16_t node, int64_t answer)
{
    struct outcome outcome = {.kind = OUTCOME_COMMITTED, .message = {555}};
    outcome.message[1 + MESSAGE_KIND] = kind;
    outcome.message[1 + MESSAGE_JOB] = JOB;
    outcome.message[1 + MESSAGE_ACTIVITY] = ACTIVITY;
    outcome.message[1 + MESSAGE_NODE] = node;
    outcome.message[1 + MESSAGE_ANSWER] = answer;
    outcome.message[1 + MESSAGE_CONTENT] = INPUT;
    outcome.message[1 + MESSAGE_EPOCH] = 1;
    return outcome;
}

static enum bundle_name sends(void)
{
    worker_role()->next(&actor, &rules, &bundle);
    return (enum bundle_name)bundle.name;
}

static void take(struct outcome outcome)
{
    worker_role()->take(&actor, &rules, &outcome);
}

static void commits(int64_t value)
{
    take((struct outcome){.kind = OUTCOME_COMMITTED, .values = {value}});
}

static void answers(enum outcome_kind kind, enum refusal refusal)
{
    take((struct outcome){.kind = (uint8_t)kind, .refusal = (uint8_t)refusal});
}

static const int64_t *params(int call)
{
    return &bundle.params[bundle.calls[call].params];
}

static void hold(enum message_kind kind, uint16_t node, int64_t answer)
{
    protocol_begin(&actor, &rules, 1);
    cr_assert_eq(sends(), BUNDLE_CLAIM);
    cr_assert_eq(params(0)[0], 60);
    take(claimed(kind, node, answer));
    cr_assert_not(worker_role()->is_idle(&actor));
    cr_assert_eq(worker_role()->message(&actor)[0], 555);
}

/* ---- Leg1 --------------------------------------------------------------------------------------
 */

Test(legacy_engine, leg1_is_entered_worked_ended_published_and_acked)
{
    PROVES(CLAUSE_LEG_1);
    hold(MESSAGE_LEG1, 0, 0);
    cr_assert_eq(sends(), BUNDLE_ENTER_LEG1);
    cr_expect_eq(params(0)[1], INT64_C(-100000000000000));
    commits(INT64_C(899000000000000));
    cr_assert_eq(sends(), BUNDLE_WORK);
    cr_expect_eq(params(0)[2], 0, "Leg1 has no dimension");
    commits(0);
    cr_assert_eq(sends(), BUNDLE_END_LEG1);
    cr_expect_eq(params(0)[1], INT64_C(-10000000000000));
    commits(INT64_C(889000000000000));
    cr_assert_eq(sends(), BUNDLE_PUBLISH);
    commits(0);
    cr_assert_eq(sends(), BUNDLE_ACK);
    cr_expect(params(0)[0] == 555 && params(0)[1] == 1);
    commits(0);
    cr_expect(worker_role()->is_idle(&actor));
}

Test(legacy_engine, a_leg1_that_is_entered_again_tells_from_the_second_digit_what_to_do)
{
    PROVES(CLAUSE_LEG_3);
    static const struct {
        int64_t ledger;
        enum bundle_name next;
    } cases[] = {{INT64_C(899000000000000), BUNDLE_WORK},
                 {INT64_C(799000000000000), BUNDLE_CLEAN_UP},
                 {INT64_C(99000000000000), BUNDLE_CLEAN_UP},
                 {INT64_C(789000000000000), BUNDLE_PUBLISH},
                 {INT64_C(688000003000003), BUNDLE_PUBLISH}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        hold(MESSAGE_LEG1, 0, 0);
        commits(cases[i].ledger);
        cr_expect_eq(sends(), cases[i].next, "case %zu", i);
    }
    hold(MESSAGE_LEG1, 0, 0);
    commits(INT64_C(799000000000000));
    cr_assert_eq(sends(), BUNDLE_CLEAN_UP);
    int64_t state = params(0)[0];
    commits(0);
    cr_expect_eq(sends(), BUNDLE_WORK, "and runs again");
    cr_expect_eq(params(0)[0], state, "over what was cleaned up");
}

Test(legacy_engine, leg1_publishes_the_pending_answers_the_closing_one_and_calls_after_it)
{
    PROVES(CLAUSE_LEG_4);
    static const int64_t wanted[] = {1, 0, -1};
    hold(MESSAGE_LEG1, 0, 0);
    commits(INT64_C(789000000000000));
    cr_assert_eq(sends(), BUNDLE_PUBLISH);
    cr_assert_eq(bundle.count, 4);
    cr_expect_eq(bundle.calls[0].mode, CALL_UNLESS_DONE, "published before: nothing to do");
    for (int i = 0; i < 3; i++) {
        const int64_t *message = params(1 + i) + 1;
        cr_expect_eq(message[MESSAGE_KIND], MESSAGE_LEG2);
        cr_expect_eq(message[MESSAGE_ANSWER], wanted[i]);
        cr_expect_eq(message[MESSAGE_CONTENT],
                     wanted[i] > 0 ? graph_pending_output(0, INPUT, 1) : graph_output(0, INPUT));
        for (int other = 0; other < i; other++) {
            cr_expect_neq(params(1 + i)[0], params(1 + other)[0], "each has a key of its own");
        }
    }
}

/* ---- Leg2 --------------------------------------------------------------------------------------
 */

static void enter_leg2(int64_t answer, int64_t ledger)
{
    hold(MESSAGE_LEG2, 0, answer);
    cr_assert_eq(sends(), BUNDLE_ENTER_LEG2);
    cr_expect(params(0)[1] == 1000000 && params(0)[2] == 1000000 && params(0)[3] == 999999);
    commits(ledger);
}

Test(legacy_engine, leg2_saves_its_children_then_publishes_them_then_ends)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_9);
    enter_leg2(ANSWER_CLOSES, INT64_C(889000002000001));
    cr_assert_eq(sends(), BUNDLE_SAVE);
    cr_assert_eq(bundle.count, 3);
    cr_expect_eq(params(0)[2], 2, "the number of its entry is its dimension");
    int64_t children[] = {params(1)[0], params(2)[0]};
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(bundle.calls[1 + i].mode, CALL_PLAIN, "one that is there is left alone");
        cr_expect_eq(params(1 + i)[3], INT64_C(999000000000000));
        cr_expect(params(1 + i)[4] == ACTIVITY && params(1 + i)[5] == 2);
    }
    commits(0);
    cr_assert_eq(sends(), BUNDLE_PUBLISH);
    cr_assert_eq(bundle.count, 3);
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(params(1 + i)[0], identity_mint(children[i], IDENTITY_LEG1));
        cr_expect_eq(params(1 + i)[1 + MESSAGE_ACTIVITY], children[i]);
        cr_expect_eq(params(1 + i)[1 + MESSAGE_NODE], 1 + i);
    }
    commits(0);
    cr_assert_eq(sends(), BUNDLE_END_LEG2);
    cr_expect_eq(params(0)[1], INT64_C(-999999999999));
    commits(INT64_C(888000002000002));
    cr_expect_eq(sends(), BUNDLE_ACK);
}

Test(legacy_engine, a_pending_reply_spawns_its_own_children_and_adds_one)
{
    PROVES(CLAUSE_LEG_4);
    enter_leg2(1, INT64_C(889000001000000));
    cr_assert_eq(sends(), BUNDLE_SAVE);
    cr_assert_eq(bundle.count, 2);
    cr_expect_eq(params(1)[2], 3, "node c");
    commits(0);
    commits(0);
    cr_assert_eq(sends(), BUNDLE_END_LEG2);
    cr_expect_eq(params(0)[1], 1);
}

Test(legacy_engine, without_children_there_is_nothing_to_publish)
{
    enter_leg2(-1, INT64_C(889000001000000)); /* a call after success spawns none */
    cr_assert_eq(sends(), BUNDLE_SAVE);
    cr_expect_eq(bundle.count, 1);
    commits(0);
    cr_expect_eq(sends(), BUNDLE_END_LEG2);
    cr_expect_eq(params(0)[1], INT64_C(-999999999999));
    hold(MESSAGE_LEG2, 1, ANSWER_CLOSES); /* a leaf */
    commits(INT64_C(889000001000000));
    commits(0);
    cr_expect_eq(sends(), BUNDLE_END_LEG2);
}

Test(legacy_engine, a_call_after_success_is_undone_and_acked)
{
    PROVES(CLAUSE_LEG_4);
    enter_leg2(-1, INT64_C(888000003000002));
    cr_assert_eq(sends(), BUNDLE_UNDO);
    cr_expect_eq(params(0)[1], -1000000);
    commits(INT64_C(888000002000002));
    cr_expect_eq(sends(), BUNDLE_ACK);
}

/* The weakness, in one line: the second time it is another entry, with other children. */
Test(legacy_engine, a_message_that_comes_again_is_another_entry_with_other_children)
{
    PROVES(CLAUSE_LEG_6);
    SETTLES(ERRATUM_LEG_3);
    enter_leg2(ANSWER_CLOSES, INT64_C(889000001000000));
    sends();
    int64_t first = params(1)[0];
    enter_leg2(ANSWER_CLOSES, INT64_C(889000002000000));
    sends();
    cr_expect_neq(params(1)[0], first);
}

/* ---- ceilings ----------------------------------------------------------------------------------
 */

Test(legacy_engine, at_a_ceiling_a_call_is_given_up_in_the_open)
{
    PROVES(CLAUSE_LEG_5);
    SETTLES(ERRATUM_LEG_2);
    hold(MESSAGE_LEG1, 0, 0);
    answers(OUTCOME_REFUSED, REFUSED_CEILING);
    cr_assert_eq(sends(), BUNDLE_ESCALATE);
    cr_expect_eq(bundle.count, 2, "the first digit never rises again");
    cr_expect_eq(params(1)[3], ESCALATED_LEG1_CEILING);
    commits(0);
    cr_expect(worker_role()->is_idle(&actor));
    hold(MESSAGE_LEG2, 0, 0);
    answers(OUTCOME_REFUSED, REFUSED_CEILING);
    cr_assert_eq(sends(), BUNDLE_ESCALATE);
    cr_expect_eq(bundle.count, 3);
    cr_expect_eq(params(2)[3], ESCALATED_LEG2_CEILING);
    answers(OUTCOME_REFUSED, REFUSED_TOO_EARLY); /* a late call had been counted, and is no more */
    cr_expect_eq(sends(), BUNDLE_ENTER_LEG2);
    answers(OUTCOME_REFUSED, REFUSED_CEILING);
    answers(OUTCOME_REFUSED, REFUSED_EPOCH);
    cr_expect(worker_role()->is_idle(&actor), "the claim is lost");
}

/* ---- outcomes that are none
 * ---------------------------------------------------------------------- */

Test(legacy_engine, what_was_aborted_is_sent_again_as_it_was)
{
    hold(MESSAGE_LEG2, 0, 0);
    answers(OUTCOME_ABORTED, REFUSED_NOTHING);
    cr_expect_eq(sends(), BUNDLE_ENTER_LEG2);
    answers(OUTCOME_NONE, REFUSED_NOTHING);
    cr_expect_eq(sends(), BUNDLE_ENTER_LEG2);
}

Test(legacy_engine, what_may_be_repeated_is_asked_for_again)
{
    hold(MESSAGE_LEG2, 0, 0);
    answers(OUTCOME_UNKNOWN, REFUSED_NOTHING);
    cr_expect_eq(sends(), BUNDLE_ENTER_LEG2, "and counted again");
    hold(MESSAGE_LEG1, 0, 0);
    commits(INT64_C(799000000000000));
    answers(OUTCOME_UNKNOWN, REFUSED_NOTHING);
    cr_expect_eq(sends(), BUNDLE_CLEAN_UP);
    commits(0);
    answers(OUTCOME_UNKNOWN, REFUSED_NOTHING);
    cr_expect_eq(sends(), BUNDLE_WORK);
}

Test(legacy_engine, an_entry_of_leg1_that_is_in_doubt_is_left_to_the_next_claim)
{
    SETTLES(ERRATUM_LEG_4);
    hold(MESSAGE_LEG1, 0, 0);
    answers(OUTCOME_UNKNOWN, REFUSED_NOTHING);
    cr_expect(worker_role()->is_idle(&actor));
}

/* Where it stood, what the integer was and is, and what follows. */
Test(legacy_engine, an_increment_that_is_in_doubt_is_read_for)
{
    SETTLES(ERRATUM_LEG_3);
    static const struct {
        enum message_kind kind;
        int64_t answer, entered, now;
        enum bundle_name asked, next;
    } cases[] = {
        {MESSAGE_LEG1, 0, INT64_C(899000000000000), INT64_C(889000000000000), BUNDLE_END_LEG1,
         BUNDLE_PUBLISH},
        {MESSAGE_LEG1, 0, INT64_C(899000000000000), INT64_C(899000000000000), BUNDLE_END_LEG1,
         BUNDLE_END_LEG1},
        {MESSAGE_LEG2, 0, INT64_C(889000001000000), INT64_C(888000001000001), BUNDLE_END_LEG2,
         BUNDLE_ACK},
        {MESSAGE_LEG2, 0, INT64_C(889000001000000), INT64_C(889000001000000), BUNDLE_END_LEG2,
         BUNDLE_END_LEG2},
        {MESSAGE_LEG2, 1, INT64_C(889000001000000), INT64_C(889000001000001), BUNDLE_END_LEG2,
         BUNDLE_ACK},
        {MESSAGE_LEG2, 1, INT64_C(889000001000000), INT64_C(889000002000000), BUNDLE_END_LEG2,
         BUNDLE_END_LEG2},
        {MESSAGE_LEG2, 0, INT64_C(888000002000001), INT64_C(888000001000001), BUNDLE_UNDO,
         BUNDLE_ACK},
        {MESSAGE_LEG2, 0, INT64_C(888000002000001), INT64_C(888000002000001), BUNDLE_UNDO,
         BUNDLE_UNDO},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        hold(cases[i].kind, 0, cases[i].answer);
        commits(cases[i].entered);
        while (sends() != cases[i].asked) {
            commits(0);
        }
        answers(OUTCOME_UNKNOWN, REFUSED_NOTHING);
        cr_assert_eq(sends(), BUNDLE_READ, "case %zu", i);
        cr_expect_eq(params(0)[0], ACTIVITY);
        answers(OUTCOME_UNKNOWN, REFUSED_NOTHING);
        cr_assert_eq(sends(), BUNDLE_READ, "case %zu: a read, too", i);
        commits(cases[i].now);
        cr_expect_eq(sends(), cases[i].next, "case %zu", i);
    }
}

/* ---- roles -------------------------------------------------------------------------------------
 */

Test(legacy_engine, who_dies_forgets_unless_nobody_dies_in_leg2)
{
    enter_leg2(ANSWER_CLOSES, INT64_C(889000001000000));
    cr_expect(legacy_engine_in_leg2(ACTOR_IS(&actor, legacy_worker)));
    RULES_OF(&rules, legacy_rules)->spares_crash = true;
    protocol_restart(&actor, &rules, 1);
    cr_expect_eq(sends(), BUNDLE_SAVE, "it goes on");
    RULES_OF(&rules, legacy_rules)->spares_crash = false;
    protocol_restart(&actor, &rules, 1);
    cr_expect(worker_role()->is_idle(&actor));
    hold(MESSAGE_LEG1, 0, 0);
    RULES_OF(&rules, legacy_rules)->spares_crash = true;
    protocol_restart(&actor, &rules, 1);
    cr_expect(worker_role()->is_idle(&actor), "in Leg1 it dies");
}

Test(legacy_engine, a_worker_is_due_when_it_holds_something_or_a_message_is)
{
    static const struct glance glance = {.now = 9, .next_message = 17};
    protocol_begin(&actor, &rules, 1);
    cr_expect_eq(worker_role()->due(&actor, &rules, &glance), 17);
    hold(MESSAGE_LEG1, 0, 0);
    cr_expect_eq(worker_role()->due(&actor, &rules, &glance), 9);
}

Test(legacy_engine, a_client_creates_the_triggers_integer_and_its_message_once)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_9);
    const struct role *role = protocol_role(&rules, 0);
    struct actor client;
    protocol_begin(&client, &rules, 0);
    role->next(&client, &rules, &bundle);
    cr_assert_eq(bundle.name, BUNDLE_CREATE);
    cr_expect_eq(bundle.calls[0].mode, CALL_UNLESS_DONE);
    cr_expect_eq(params(0)[3], LEGACY_START);
    cr_expect_eq(params(0)[4], 0, "it has no parent");
    cr_expect_eq(params(1)[1 + MESSAGE_ACTIVITY], params(0)[0]);
    cr_expect_eq(params(1)[1 + MESSAGE_KIND], MESSAGE_LEG1);
}
