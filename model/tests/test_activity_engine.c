/* The engines as tables: for every state of a worker and every outcome, where it stands next; for
 * every state, the bundle that it sends, written as a line of primitives; then what the bundles
 * say, number by number, and how the client goes on. No store: outcomes are made by hand. */
#include "model/activity_engine.h"

#include "model/identity.h"
#include "model/ledger.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define JOB      INT64_C(100)
#define ACTIVITY INT64_C(200)
#define GUID     INT64_C(300)
#define OTHER    INT64_C(301)
#define SOURCE   INT64_C(400)
#define CONTENT  INT64_C(50)
#define TIMEOUT  INT64_C(60)

/* ---- a job ----------------------------------------------------------------------------------- */

/* Node 0 answers pending twice and is the head of a cycle; node 1 goes back to it, node 2 to
 * itself.
 *
 *      0 -> 1, 2 if even, 3 if odd; its first pending answer -> 4
 *      1 -> 0 again, two rounds     2 -> 5, and 2 again, one round */
enum { HEAD, BACK, SELF, ODD, EARLY, LEAF, NODES };

static const struct graph_edge edges[] = {
    {HEAD, BACK, 0, GRAPH_ALWAYS, 0}, {HEAD, SELF, 0, GRAPH_IF_EVEN, 0},
    {HEAD, ODD, 0, GRAPH_IF_ODD, 0},  {HEAD, EARLY, 1, GRAPH_ALWAYS, 0},
    {BACK, HEAD, 0, GRAPH_ALWAYS, 2}, {SELF, LEAF, 0, GRAPH_ALWAYS, 0},
    {SELF, SELF, 0, GRAPH_ALWAYS, 1},
};
enum { EDGE_BACK, EDGE_SELF, EDGE_ODD, EDGE_EARLY, EDGE_CYCLE, EDGE_LEAF, EDGE_AGAIN };

static struct graph graph;
static struct activity_rules rules;

static void make(void)
{
    graph = (struct graph){.node_count = NODES, .edge_count = COUNT(edges)};
    for (size_t i = 0; i < COUNT(edges); i++) {
        struct graph_node *from = &graph.nodes[edges[i].from];
        graph.edges[i] = edges[i];
        from->first_edge = from->edge_count == 0 ? (uint16_t)i : from->first_edge;
        from->edge_count++;
    }
    graph.nodes[HEAD].pendings = 2;
    graph.nodes[HEAD].heads_cycle = true;
    graph.nodes[SELF].heads_cycle = true;
    graph.nodes[ODD].preset_leg1 = 998;
    rules = (struct activity_rules){.graph = &graph,
                                    .timeout = TIMEOUT,
                                    .put_back = 7,
                                    .thresholds = {0, 1, 12},
                                    .threshold_count = 3};
}

TestSuite(engine, .init = make);

/* A worker in a state, with a message of a kind and node in hand, and time enough. */
static struct activity_worker worker_at(enum activity_worker_state state, enum message_kind kind,
                                        uint16_t node)
{
    struct activity_worker worker = activity_worker_begin();
    if (state == ACTIVITY_WORKER_IDLE) {
        return worker;
    }
    worker.state = (uint8_t)state;
    worker.held_until = TIMEOUT;
    worker.message[0] = 900;
    int64_t *m = &worker.message[1];
    m[MESSAGE_KIND] = kind;
    m[MESSAGE_JOB] = JOB;
    m[MESSAGE_ACTIVITY] = ACTIVITY;
    m[MESSAGE_NODE] = node;
    m[MESSAGE_GUID] = kind == MESSAGE_LEG2 ? GUID : 0;
    m[MESSAGE_CONTENT] = CONTENT;
    m[MESSAGE_EPOCH] = 3;
    m[MESSAGE_VISIBLE_AT] = TIMEOUT;
    return worker;
}

static enum message_kind kind_for(enum activity_worker_state state)
{
    bool leg1 = state == ACTIVITY_WORKER_ENTER_LEG1 || state == ACTIVITY_WORKER_LEG1 ||
                state == ACTIVITY_WORKER_READ_LEG1;
    return leg1 ? MESSAGE_LEG1 : state == ACTIVITY_WORKER_ANSWER ? MESSAGE_TASK : MESSAGE_LEG2;
}

static struct outcome outcome_of(enum outcome_kind kind)
{
    return (struct outcome){.kind = (uint8_t)kind, .now = 1};
}

static const char *const state_names[ACTIVITY_WORKER_STATE_COUNT] = {
    "idle",   "enter Leg1", "Leg1",      "read Leg1", "answer",   "enter Leg2", "Step 1",
    "Step 2", "Step 3",     "read Leg2", "ack",       "escalate", "put back"};

/* ---- where it stands next: committed --------------------------------------------------------- */

/* Ledgers at the points where Leg2 goes on. */
#define AT_NOTHING INT64_C(1)
#define AT_WORK    INT64_C(10000000001)
#define AT_OPEN    INT64_C(11000000001)
#define AT_CLOSED  INT64_C(111000000001)
#define AT_DONE    INT64_C(111100000001)
#define AT_NOWHERE INT64_C(1000000001)

struct take_case {
    uint8_t state;
    int64_t values[8];
    int64_t answer; /* of the message */
    uint8_t next;   /* expected: enum activity_worker_state */
    uint8_t reason; /* expected: enum escalation_reason */
};

/* clang-format off */
static const struct take_case committed_cases[] = {
    /* Leg1: ledger, counted (ACL-6, ACL-10, E-ACL-16) */
    {ACTIVITY_WORKER_ENTER_LEG1, {1000000000000, 1}, 0, ACTIVITY_WORKER_LEG1, 0},
    {ACTIVITY_WORKER_ENTER_LEG1, {999000000000000, 1}, 0, ACTIVITY_WORKER_LEG1, 0},
    {ACTIVITY_WORKER_ENTER_LEG1, {999000000000000, 0}, 0, ACTIVITY_WORKER_ESCALATE, ESCALATED_LEG1_CEILING},
    {ACTIVITY_WORKER_ENTER_LEG1, {2100000000000, 1}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG1, {999100000000000, 0}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_LEG1, {1100000000000}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_READ_LEG1, {1100000000000}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_READ_LEG1, {1000000000000}, 0, ACTIVITY_WORKER_LEG1, 0},
    /* Leg2: ledger, dimension, answer, content, -, -, task closed by (ACL-24, ACL-25) */
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, 0, CONTENT}, 0, ACTIVITY_WORKER_STEP1, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_WORK, 0, 0, CONTENT}, 0, ACTIVITY_WORKER_STEP2, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_OPEN, 0, 0, CONTENT}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_CLOSED, 0, 0, CONTENT}, 0, ACTIVITY_WORKER_STEP3, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_DONE, 0, 0, CONTENT}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOWHERE, 0, 0, CONTENT}, 0, ACTIVITY_WORKER_ESCALATE, ESCALATED_CORRUPT},
    /* another answer under the same GUID (E-ACL-21) */
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, 0, CONTENT + 1}, 0, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONTENT_CHANGED},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_DONE, 0, 0, CONTENT + 1}, 0, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONTENT_CHANGED},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, 1, CONTENT}, 0, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONTENT_CHANGED},
    /* a task that was closed (E-ACL-19): by itself, by another, and not before it had begun */
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_CLOSED, 0, 0, CONTENT, 0, 0, GUID}, 0, ACTIVITY_WORKER_STEP3, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, 0, CONTENT, 0, 0, GUID}, 0, ACTIVITY_WORKER_STEP1, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, 0, CONTENT, 0, 0, OTHER}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, 2, CONTENT, 0, 0, OTHER}, 2, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_WORK, 0, 0, CONTENT, 0, 0, OTHER}, 0, ACTIVITY_WORKER_STEP2, 0},
    /* a cycle comes to an activity whose task is closed (E-ACL-22) */
    {ACTIVITY_WORKER_ENTER_LEG2, {AT_NOTHING, 0, ANSWER_CYCLES, CONTENT, 0, 0, OTHER}, ANSWER_CYCLES, ACTIVITY_WORKER_STEP1, 0},
    /* steps go on from the ledger that they return, also when they were skipped (E-ACL-26) */
    {ACTIVITY_WORKER_STEP1, {AT_WORK}, 0, ACTIVITY_WORKER_STEP2, 0},
    {ACTIVITY_WORKER_STEP1, {AT_OPEN}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_STEP1, {AT_CLOSED}, 0, ACTIVITY_WORKER_STEP3, 0},
    {ACTIVITY_WORKER_STEP1, {AT_DONE}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_STEP2, {AT_OPEN}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_STEP2, {AT_CLOSED}, 0, ACTIVITY_WORKER_STEP3, 0},
    {ACTIVITY_WORKER_STEP2, {AT_DONE}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_STEP3, {AT_DONE}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_STEP3, {AT_NOWHERE}, 0, ACTIVITY_WORKER_ESCALATE, ESCALATED_CORRUPT},
    /* after an unknown outcome: ledger, dimension, known (E-ACL-13) */
    {ACTIVITY_WORKER_READ_LEG2, {AT_NOTHING, 0, 1}, 0, ACTIVITY_WORKER_STEP1, 0},
    {ACTIVITY_WORKER_READ_LEG2, {AT_WORK, 0, 1}, 0, ACTIVITY_WORKER_STEP2, 0},
    {ACTIVITY_WORKER_READ_LEG2, {AT_OPEN, 0, 1}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_READ_LEG2, {AT_CLOSED, 0, 1}, 0, ACTIVITY_WORKER_STEP3, 0},
    {ACTIVITY_WORKER_READ_LEG2, {AT_DONE, 0, 1}, 0, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_READ_LEG2, {0, 0, 0}, 0, ACTIVITY_WORKER_ENTER_LEG2, 0},
    /* the end of a message */
    {ACTIVITY_WORKER_ACK, {0}, 0, ACTIVITY_WORKER_IDLE, 0},
    {ACTIVITY_WORKER_ESCALATE, {0}, 0, ACTIVITY_WORKER_IDLE, 0},
    {ACTIVITY_WORKER_PUT_BACK, {0}, 0, ACTIVITY_WORKER_IDLE, 0},
};
/* clang-format on */

Test(engine, a_commit_leads_where_the_ledger_says)
{
    PROVES(CLAUSE_ACL_6, CLAUSE_ACL_10, CLAUSE_ACL_24, CLAUSE_ACL_25, CLAUSE_ACL_30);
    SETTLES(ERRATUM_ACL_6, ERRATUM_ACL_13, ERRATUM_ACL_16, ERRATUM_ACL_19, ERRATUM_ACL_21,
            ERRATUM_ACL_22, ERRATUM_ACL_26);
    for (size_t i = 0; i < COUNT(committed_cases); i++) {
        const struct take_case *one = &committed_cases[i];
        for (uint8_t skipped = 0; skipped < 2; skipped++) {
            enum activity_worker_state state = (enum activity_worker_state)one->state;
            struct activity_worker worker = worker_at(state, kind_for(state), ODD);
            worker.message[1 + MESSAGE_ANSWER] = one->answer;
            worker.tries = 3;
            struct outcome outcome = outcome_of(OUTCOME_COMMITTED);
            outcome.skipped = skipped;
            memcpy(outcome.values, one->values, sizeof one->values);
            activity_worker_take(&worker, &rules, &outcome);
            cr_expect_eq(worker.state, one->next, "case %zu: %s leads to %s", i,
                         state_names[one->state], state_names[worker.state]);
            cr_expect_eq(worker.reason, one->reason, "case %zu", i);
        }
    }
}

/* What an entry and a step remember of their outcome. */
Test(engine, a_worker_remembers_ledger_dimension_and_input)
{
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, HEAD);
    worker.message[1 + MESSAGE_ANSWER] = ANSWER_CYCLES;
    struct outcome entered = outcome_of(OUTCOME_COMMITTED);
    memcpy(entered.values, (int64_t[8]){4, 3, ANSWER_CYCLES, CONTENT, 0, 0, 0, 77},
           8 * sizeof(int64_t));
    activity_worker_take(&worker, &rules, &entered);
    cr_expect_eq(worker.ledger, 4);
    cr_expect_eq(worker.dimension, 3);
    cr_expect_eq(worker.input, 77);
    struct outcome step = outcome_of(OUTCOME_COMMITTED);
    step.values[0] = 10000000005;
    activity_worker_take(&worker, &rules, &step);
    cr_expect_eq(worker.ledger, 10000000005);
    cr_expect_eq(worker.dimension, 3, "its own, not the counter's (E-ACL-4)");
    cr_expect_eq(worker.now, 1);
}

Test(engine, a_claim_leads_to_the_entry_of_its_kind)
{
    static const struct {
        enum message_kind kind;
        enum activity_worker_state next;
    } cases[] = {{MESSAGE_LEG1, ACTIVITY_WORKER_ENTER_LEG1},
                 {MESSAGE_TASK, ACTIVITY_WORKER_ANSWER},
                 {MESSAGE_LEG2, ACTIVITY_WORKER_ENTER_LEG2}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct activity_worker worker = activity_worker_begin();
        struct outcome outcome = outcome_of(OUTCOME_COMMITTED);
        struct activity_worker holder = worker_at(ACTIVITY_WORKER_ACK, cases[i].kind, HEAD);
        memcpy(outcome.message, holder.message, sizeof holder.message);
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, cases[i].next);
        cr_expect_eq(memcmp(worker.message, holder.message, sizeof holder.message), 0);
        cr_expect_eq(worker.held_until, TIMEOUT);
    }
}

Test(engine, a_worker_that_has_asked_nothing_yet_stays_as_it_is)
{
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2, HEAD),
                           before = worker;
    struct outcome outcome = outcome_of(OUTCOME_NONE);
    outcome.now = worker.now;
    activity_worker_take(&worker, &rules, &outcome);
    cr_expect_arr_eq(&worker, &before, sizeof worker);
}

/* Pending answers, then the closing one, then the ack. */
Test(engine, a_task_is_acked_when_every_answer_is_out)
{
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, HEAD);
    struct outcome outcome = outcome_of(OUTCOME_COMMITTED);
    for (int answers = 1; answers <= 2; answers++) {
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, ACTIVITY_WORKER_ANSWER, "after %d", answers);
    }
    activity_worker_take(&worker, &rules, &outcome);
    cr_expect_eq(worker.state, ACTIVITY_WORKER_ACK);
    worker = worker_at(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, ODD);
    activity_worker_take(&worker, &rules, &outcome);
    cr_expect_eq(worker.state, ACTIVITY_WORKER_ACK, "no pending answers");
}

/* ---- where it stands next: refused ----------------------------------------------------------- */

struct refused_case {
    uint8_t state, kind, refusal, next, reason;
};

/* clang-format off */
static const struct refused_case refused_cases[] = {
    {ACTIVITY_WORKER_IDLE, MESSAGE_LEG1, REFUSED_NO_MESSAGE, ACTIVITY_WORKER_IDLE, 0},
    /* entries (ACL-7, ACL-15, ACL-45, E-ACL-20, E-ACL-29) */
    {ACTIVITY_WORKER_ENTER_LEG1, MESSAGE_LEG1, REFUSED_NO_ROW, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, REFUSED_NO_ROW, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, REFUSED_TOO_EARLY, ACTIVITY_WORKER_PUT_BACK, 0},
    {ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, REFUSED_CEILING, ACTIVITY_WORKER_ESCALATE, ESCALATED_LEG2_CEILING},
    {ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, REFUSED_ATTEMPTS, ACTIVITY_WORKER_ESCALATE, ESCALATED_ATTEMPTS_CEILING},
    {ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, REFUSED_EXISTS, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    /* steps (E-ACL-10, E-ACL-19) */
    {ACTIVITY_WORKER_LEG1, MESSAGE_LEG1, REFUSED_EXISTS, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_STEP1, MESSAGE_LEG2, REFUSED_NO_PARENT, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_STEP2, MESSAGE_LEG2, REFUSED_NEGATIVE, ACTIVITY_WORKER_ESCALATE, ESCALATED_SEMAPHORE_REFUSED},
    {ACTIVITY_WORKER_STEP2, MESSAGE_LEG2, REFUSED_CLOSED, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_STEP2, MESSAGE_LEG2, REFUSED_EXISTS, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_STEP3, MESSAGE_LEG2, REFUSED_EXISTS, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, REFUSED_EXISTS, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_READ_LEG1, MESSAGE_LEG1, REFUSED_NO_ROW, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    {ACTIVITY_WORKER_READ_LEG2, MESSAGE_LEG2, REFUSED_NO_ROW, ACTIVITY_WORKER_ESCALATE, ESCALATED_CONFLICT},
    /* the claim is lost (E-ACL-11) */
    {ACTIVITY_WORKER_ACK, MESSAGE_LEG2, REFUSED_EPOCH, ACTIVITY_WORKER_IDLE, 0},
    {ACTIVITY_WORKER_PUT_BACK, MESSAGE_LEG2, REFUSED_EPOCH, ACTIVITY_WORKER_IDLE, 0},
    {ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG1, REFUSED_EPOCH, ACTIVITY_WORKER_IDLE, 0},
    {ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG2, REFUSED_EPOCH, ACTIVITY_WORKER_IDLE, 0},
    /* the job is gone (E-ACL-29) */
    {ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, REFUSED_NO_PARENT, ACTIVITY_WORKER_ACK, 0},
    {ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG2, REFUSED_NO_PARENT, ACTIVITY_WORKER_IDLE, 0},
    /* what was given up is no longer owed: entered again (E-ACL-31) */
    {ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG1, REFUSED_DONE, ACTIVITY_WORKER_ENTER_LEG1, 0},
    {ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG2, REFUSED_DONE, ACTIVITY_WORKER_ENTER_LEG2, 0},
};
/* clang-format on */

Test(engine, a_refusal_leads_to_the_end_of_the_message_or_back_to_its_entry)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_15, CLAUSE_ACL_28);
    SETTLES(ERRATUM_ACL_10, ERRATUM_ACL_11, ERRATUM_ACL_17, ERRATUM_ACL_19, ERRATUM_ACL_20,
            ERRATUM_ACL_29, ERRATUM_ACL_31);
    bool seen[ACTIVITY_WORKER_STATE_COUNT] = {false};
    for (size_t i = 0; i < COUNT(refused_cases); i++) {
        const struct refused_case *one = &refused_cases[i];
        struct activity_worker worker =
            worker_at((enum activity_worker_state)one->state, (enum message_kind)one->kind, ODD);
        struct outcome outcome = outcome_of(OUTCOME_REFUSED);
        outcome.refusal = one->refusal;
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, one->next, "case %zu: %s, %s leads to %s", i,
                     state_names[one->state], refusal_text((enum refusal)one->refusal),
                     state_names[worker.state]);
        cr_expect_eq(worker.reason, one->reason, "case %zu", i);
        seen[one->state] = true;
    }
    for (int state = 0; state < ACTIVITY_WORKER_STATE_COUNT; state++) {
        cr_expect(seen[state], "no case of %s", state_names[state]);
    }
}

/* ---- where it stands next: aborted, unknown -------------------------------------------------- */

/* The state after an unknown outcome: a step is looked up, the rest is asked again. */
static const uint8_t after_unknown[ACTIVITY_WORKER_STATE_COUNT] = {
    [ACTIVITY_WORKER_IDLE] = ACTIVITY_WORKER_IDLE,
    [ACTIVITY_WORKER_ENTER_LEG1] = ACTIVITY_WORKER_ENTER_LEG1,
    [ACTIVITY_WORKER_LEG1] = ACTIVITY_WORKER_READ_LEG1,
    [ACTIVITY_WORKER_READ_LEG1] = ACTIVITY_WORKER_READ_LEG1,
    [ACTIVITY_WORKER_ANSWER] = ACTIVITY_WORKER_ANSWER,
    [ACTIVITY_WORKER_ENTER_LEG2] = ACTIVITY_WORKER_ENTER_LEG2,
    [ACTIVITY_WORKER_STEP1] = ACTIVITY_WORKER_READ_LEG2,
    [ACTIVITY_WORKER_STEP2] = ACTIVITY_WORKER_READ_LEG2,
    [ACTIVITY_WORKER_STEP3] = ACTIVITY_WORKER_READ_LEG2,
    [ACTIVITY_WORKER_READ_LEG2] = ACTIVITY_WORKER_READ_LEG2,
    [ACTIVITY_WORKER_ACK] = ACTIVITY_WORKER_ACK,
    [ACTIVITY_WORKER_ESCALATE] = ACTIVITY_WORKER_ESCALATE,
    [ACTIVITY_WORKER_PUT_BACK] = ACTIVITY_WORKER_IDLE,
};

Test(engine, an_aborted_bundle_is_sent_again_and_an_unknown_one_is_looked_up)
{
    SETTLES(ERRATUM_ACL_13, ERRATUM_ACL_32);
    for (int state = 0; state < ACTIVITY_WORKER_STATE_COUNT; state++) {
        enum message_kind kind = kind_for((enum activity_worker_state)state);
        struct activity_worker worker = worker_at((enum activity_worker_state)state, kind, ODD);
        struct outcome aborted = outcome_of(OUTCOME_ABORTED);
        activity_worker_take(&worker, &rules, &aborted);
        cr_expect_eq(worker.state, state, "aborted: %s", state_names[state]);
        worker = worker_at((enum activity_worker_state)state, kind, ODD);
        struct outcome unknown = outcome_of(OUTCOME_UNKNOWN);
        activity_worker_take(&worker, &rules, &unknown);
        cr_expect_eq(worker.state, after_unknown[state], "unknown: %s leads to %s",
                     state_names[state], state_names[worker.state]);
    }
}

/* (N3), (N1) */
/* To the last byte: who holds nothing is one state, however it got there. */
static bool same(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

Test(engine, a_worker_lets_go_when_its_tries_are_used_up)
{
    SETTLES(ERRATUM_ACL_13);
    for (int state = ACTIVITY_WORKER_ENTER_LEG1; state < ACTIVITY_WORKER_STATE_COUNT; state++) {
        struct activity_worker worker = worker_at((enum activity_worker_state)state,
                                                  kind_for((enum activity_worker_state)state), ODD);
        struct outcome aborted = outcome_of(OUTCOME_ABORTED);
        for (int tries = 1; tries <= ACTIVITY_TRIES_MAX; tries++) {
            activity_worker_take(&worker, &rules, &aborted);
            cr_expect_eq(worker.state, state, "%s, try %d", state_names[state], tries);
        }
        activity_worker_take(&worker, &rules, &aborted);
        struct activity_worker fresh = activity_worker_begin();
        cr_expect(same(&worker, &fresh, sizeof worker), "%s: it holds something",
                  state_names[state]);
    }
}

/* What succeeds in between, and is no step forward, does not start the count anew. */
Test(engine, a_step_that_never_succeeds_is_given_up_although_reads_and_extensions_succeed)
{
    SETTLES(ERRATUM_ACL_13);
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2, ODD);
    int unknowns = 0;
    while (worker.state != ACTIVITY_WORKER_IDLE && unknowns < 100) {
        struct outcome unknown = outcome_of(OUTCOME_UNKNOWN);
        activity_worker_take(&worker, &rules, &unknown);
        unknowns++;
        if (worker.state == ACTIVITY_WORKER_READ_LEG2) {
            struct outcome read = outcome_of(OUTCOME_COMMITTED);
            memcpy(read.values, (int64_t[3]){AT_NOTHING, 0, 1}, 3 * sizeof(int64_t));
            activity_worker_take(&worker, &rules, &read);
        }
    }
    cr_expect_eq(unknowns, ACTIVITY_TRIES_MAX + 1);
    worker = worker_at(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2, ODD);
    int aborts = 0;
    while (worker.state != ACTIVITY_WORKER_IDLE && aborts < 100) {
        struct bundle bundle;
        struct outcome aborted = outcome_of(OUTCOME_ABORTED);
        activity_worker_next(&worker, &rules, &bundle);
        if (bundle.name == BUNDLE_EXTEND) {
            struct outcome extended = outcome_of(OUTCOME_COMMITTED);
            extended.now = worker.now;
            extended.values[0] = extended.now + TIMEOUT;
            activity_worker_take(&worker, &rules, &extended);
            continue;
        }
        aborted.now = worker.held_until; /* so late that the next bundle is an extension */
        activity_worker_take(&worker, &rules, &aborted);
        aborts++;
    }
    cr_expect_eq(aborts, ACTIVITY_TRIES_MAX + 1);
}

Test(engine, a_step_forward_starts_the_count_of_tries_anew)
{
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2, ODD);
    worker.tries = ACTIVITY_TRIES_MAX;
    struct outcome outcome = outcome_of(OUTCOME_COMMITTED);
    outcome.values[0] = AT_WORK;
    activity_worker_take(&worker, &rules, &outcome);
    cr_expect_eq(worker.tries, 0);
}

/* ---- extensions ------------------------------------------------------------------------------ */

Test(engine, a_claim_is_extended_when_half_of_its_life_is_gone)
{
    SETTLES(ERRATUM_ACL_11);
    for (int state = ACTIVITY_WORKER_IDLE; state < ACTIVITY_WORKER_STATE_COUNT; state++) {
        struct activity_worker worker = worker_at((enum activity_worker_state)state,
                                                  kind_for((enum activity_worker_state)state), ODD);
        struct bundle bundle;
        worker.now = TIMEOUT / 2;
        activity_worker_next(&worker, &rules, &bundle);
        cr_expect_neq(bundle.name, BUNDLE_EXTEND, "%s: half is not more than half",
                      state_names[state]);
        worker.now = TIMEOUT / 2 + 1;
        activity_worker_next(&worker, &rules, &bundle);
        cr_expect_eq(bundle.name == BUNDLE_EXTEND, state != ACTIVITY_WORKER_IDLE, "%s",
                     state_names[state]);
    }
}

Test(engine, an_extension_changes_nothing_but_how_long_the_claim_is_held)
{
    static const struct {
        uint8_t kind;
        uint8_t state;
        int64_t held_until;
        uint8_t tries;
    } cases[] = {
        {OUTCOME_COMMITTED, ACTIVITY_WORKER_STEP2, 99, 2},
        {OUTCOME_REFUSED, ACTIVITY_WORKER_IDLE, 0, 0}, /* another worker is at it */
        {OUTCOME_ABORTED, ACTIVITY_WORKER_STEP2, TIMEOUT, 3},
        {OUTCOME_UNKNOWN, ACTIVITY_WORKER_STEP2, TIMEOUT, 3}, /* no read: nothing was done */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct activity_worker worker = worker_at(ACTIVITY_WORKER_STEP2, MESSAGE_LEG2, ODD);
        worker.tries = 2;
        worker.now = TIMEOUT - 1;
        struct bundle bundle;
        activity_worker_next(&worker, &rules, &bundle);
        cr_assert_eq(bundle.name, BUNDLE_EXTEND);
        cr_expect_eq(bundle.params[0], 900);
        cr_expect_eq(bundle.params[1], 3, "the epoch");
        cr_expect_eq(bundle.params[2], TIMEOUT);
        struct outcome outcome = outcome_of((enum outcome_kind)cases[i].kind);
        outcome.values[0] = 99;
        outcome.refusal = cases[i].kind == OUTCOME_REFUSED ? REFUSED_EPOCH : REFUSED_NOTHING;
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, cases[i].state, "case %zu", i);
        cr_expect_eq(worker.held_until, cases[i].held_until, "case %zu", i);
        cr_expect_eq(worker.tries, cases[i].tries, "case %zu", i);
        cr_expect_eq(worker.extending, 0);
    }
}

/* ---- the bundle that it sends ---------------------------------------------------------------- */

/* "Step 2: mark activity + collate? + close task!": ? unless done, ! required, + one statement. */
static const char *text_of(const struct bundle *bundle)
{
    static char text[2000];
    int at = snprintf(text, sizeof text, "%s:", bundle_name_text((enum bundle_name)bundle->name));
    for (int i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        bool joins = i > 0 && bundle_goes_on(bundle, (uint8_t)(i - 1));
        at += snprintf(text + at, sizeof text - (size_t)at, "%s %s%s",
                       i == 0  ? ""
                       : joins ? " +"
                               : ",",
                       primitive_table[call->primitive].name,
                       call->mode == CALL_REQUIRE       ? "!"
                       : call->mode == CALL_UNLESS_DONE ? "?"
                                                        : "");
    }
    return text;
}

static const char *sent_by(struct activity_worker *worker, struct bundle *bundle)
{
    activity_worker_next(worker, &rules, bundle);
    return text_of(bundle);
}

Test(engine, every_state_sends_its_bundle)
{
    PROVES(CLAUSE_ACL_1, CLAUSE_ACL_9, CLAUSE_ACL_11, CLAUSE_ACL_16, CLAUSE_ACL_17, CLAUSE_ACL_18,
           CLAUSE_ACL_27);
    SETTLES(ERRATUM_ACL_5, ERRATUM_ACL_10, ERRATUM_ACL_13, ERRATUM_ACL_20, ERRATUM_ACL_28);
    static const struct {
        uint8_t state;
        uint16_t node;
        int64_t answer, pendings;
        uint8_t reason;
        const char *bundle;
    } cases[] = {
        {ACTIVITY_WORKER_IDLE, 0, 0, 0, 0, "claim: claim"},
        {ACTIVITY_WORKER_ENTER_LEG1, ODD, 0, 0, 0, "enter Leg1: enter Leg1, read input"},
        {ACTIVITY_WORKER_LEG1, ODD, 0, 0, 0, "Leg1: mark activity?, record task, publish!"},
        {ACTIVITY_WORKER_READ_LEG1, ODD, 0, 0, 0, "read: read activity"},
        {ACTIVITY_WORKER_ANSWER, ODD, 0, 0, 0, "answer: publish?"},
        {ACTIVITY_WORKER_ENTER_LEG2, ODD, 0, 0, 0, "enter Leg2: enter Leg2, read task"},
        {ACTIVITY_WORKER_ENTER_LEG2, HEAD, 0, 2, 0,
         "enter Leg2: enter Leg2, require mark!, require mark!, read task"},
        {ACTIVITY_WORKER_ENTER_LEG2, HEAD, ANSWER_CYCLES, 0, 0,
         "enter Leg2: enter Leg2, read task, read input"},
        {ACTIVITY_WORKER_STEP1, ODD, 0, 0, 0, "Step 1: mark activity, mark GUID?, record output"},
        {ACTIVITY_WORKER_STEP2, ODD, 0, 0, 0, "Step 2: mark activity + collate? + close task!"},
        {ACTIVITY_WORKER_STEP2, ODD, 1, 0, 0, "Step 2: mark activity + collate?"},
        {ACTIVITY_WORKER_STEP2, ODD, ANSWER_CYCLES, 0, 0, "Step 2: mark activity + collate?"},
        {ACTIVITY_WORKER_STEP3, ODD, 0, 0, 0,
         "Step 3: mark activity, mark GUID?, record completion"},
        {ACTIVITY_WORKER_READ_LEG2, ODD, 0, 0, 0, "read: read GUID"},
        {ACTIVITY_WORKER_ACK, ODD, 0, 0, 0, "ack: ack!"},
        {ACTIVITY_WORKER_PUT_BACK, ODD, 0, 0, 0, "put back: put back!"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_LEG1_CEILING,
         "escalate: ack!, require unmarked!, escalate job, record escalation"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_ATTEMPTS_CEILING,
         "escalate: ack!, require stuck!, escalate job, record escalation"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_LEG2_CEILING,
         "escalate: ack!, escalate job, record escalation"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_CONTENT_CHANGED,
         "escalate: ack!, escalate job, record escalation"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_SEMAPHORE_REFUSED,
         "escalate: ack!, escalate job, record escalation"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_CORRUPT,
         "escalate: ack!, escalate job, record escalation"},
        {ACTIVITY_WORKER_ESCALATE, ODD, 0, 0, ESCALATED_CONFLICT,
         "escalate: ack!, escalate job, record escalation"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum activity_worker_state state = (enum activity_worker_state)cases[i].state;
        struct activity_worker worker = worker_at(state, kind_for(state), cases[i].node);
        struct bundle bundle;
        worker.message[1 + MESSAGE_ANSWER] = cases[i].answer;
        worker.message[1 + MESSAGE_PENDINGS] = cases[i].pendings;
        worker.reason = cases[i].reason;
        cr_expect_str_eq(sent_by(&worker, &bundle), cases[i].bundle, "%s", text_of(&bundle));
    }
}

Test(engine, merged_commits_ack_with_what_ends_the_message_and_claim_last)
{
    PROVES(CLAUSE_ACL_9, CLAUSE_ACL_28);
    SETTLES(ERRATUM_ACL_28);
    static const struct {
        uint8_t state;
        uint16_t node;
        const char *bundle;
    } cases[] = {
        {ACTIVITY_WORKER_IDLE, 0, "claim: claim"},
        {ACTIVITY_WORKER_ENTER_LEG1, ODD, "enter Leg1: enter Leg1, read input"},
        {ACTIVITY_WORKER_LEG1, ODD,
         "Leg1 and ack: ack!, mark activity?, record task, publish and keep!"},
        {ACTIVITY_WORKER_ANSWER, ODD,
         "answer and ack: ack!, publish and keep?, enter Leg2, read task"},
        {ACTIVITY_WORKER_ANSWER, HEAD, "answer: publish?"}, /* pending: the task goes on */
        {ACTIVITY_WORKER_ENTER_LEG2, ODD, "enter Leg2: enter Leg2, read task"},
        {ACTIVITY_WORKER_STEP1, ODD,
         "steps and ack: hold message!, mark activity, mark GUID?, record output, mark activity + "
         "collate? + close task!, stays open?, ack!, claim next"},
        {ACTIVITY_WORKER_STEP2, ODD, "Step 2: mark activity + collate? + close task!"},
        {ACTIVITY_WORKER_STEP3, ODD,
         "Step 3 and ack: ack!, mark activity, mark GUID?, record completion, claim next"},
        {ACTIVITY_WORKER_ACK, ODD, "ack and claim: ack!, claim next"},
        {ACTIVITY_WORKER_PUT_BACK, ODD, "put back: put back!"},
    };
    rules.merged = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum activity_worker_state state = (enum activity_worker_state)cases[i].state;
        struct activity_worker worker = worker_at(state, kind_for(state), cases[i].node);
        struct bundle bundle;
        cr_expect_str_eq(sent_by(&worker, &bundle), cases[i].bundle, "%s", text_of(&bundle));
        cr_expect_eq(bundle_claims(&bundle), state == ACTIVITY_WORKER_IDLE ||
                                                 strstr(cases[i].bundle, "claim next") != NULL);
    }
}

/* What a merged bundle's outcome means: the next message, none, or its own still. */
Test(engine, a_merged_bundle_that_acked_goes_on_with_the_message_that_it_claimed)
{
    PROVES(CLAUSE_ACL_25, CLAUSE_ACL_30);
    static const struct {
        uint8_t state, kind, refusal, skipped;
        int64_t ledger, claimed;
        uint8_t next;
    } cases[] = {
        {ACTIVITY_WORKER_LEG1, OUTCOME_COMMITTED, 0, 0, 0, 0,
         ACTIVITY_WORKER_ANSWER}, /* what it published */
        {ACTIVITY_WORKER_LEG1, OUTCOME_COMMITTED, 0, 2, 0, 0,
         ACTIVITY_WORKER_IDLE}, /* skipped: nothing */
        {ACTIVITY_WORKER_ANSWER, OUTCOME_COMMITTED, 0, 2, 0, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_STEP1, OUTCOME_COMMITTED, 0, 0, AT_OPEN, 901, ACTIVITY_WORKER_ENTER_LEG1},
        {ACTIVITY_WORKER_STEP1, OUTCOME_COMMITTED, 0, 0, AT_OPEN, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_STEP1, OUTCOME_COMMITTED, 0, 8, AT_CLOSED, 0,
         ACTIVITY_WORKER_STEP3}, /* still its own */
        {ACTIVITY_WORKER_STEP1, OUTCOME_COMMITTED, 0, 3, AT_OPEN, 0,
         ACTIVITY_WORKER_ACK}, /* done before */
        {ACTIVITY_WORKER_STEP3, OUTCOME_COMMITTED, 0, 0, AT_DONE, 901, ACTIVITY_WORKER_ENTER_LEG1},
        {ACTIVITY_WORKER_STEP3, OUTCOME_COMMITTED, 0, 3, AT_DONE, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_ACK, OUTCOME_COMMITTED, 0, 0, 0, 901, ACTIVITY_WORKER_ENTER_LEG1},
        {ACTIVITY_WORKER_ACK, OUTCOME_COMMITTED, 0, 0, 0, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_LEG1, OUTCOME_REFUSED, REFUSED_EPOCH, 1, 0, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_ANSWER, OUTCOME_REFUSED, REFUSED_EPOCH, 1, 0, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_STEP1, OUTCOME_REFUSED, REFUSED_EPOCH, 1, 0, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_STEP3, OUTCOME_REFUSED, REFUSED_EPOCH, 1, 0, 0, ACTIVITY_WORKER_IDLE},
        {ACTIVITY_WORKER_STEP1, OUTCOME_REFUSED, REFUSED_NEGATIVE, 6, 0, 0,
         ACTIVITY_WORKER_ESCALATE},
        {ACTIVITY_WORKER_LEG1, OUTCOME_UNKNOWN, 0, 0, 0, 0, ACTIVITY_WORKER_READ_LEG1},
        {ACTIVITY_WORKER_STEP1, OUTCOME_UNKNOWN, 0, 0, 0, 0, ACTIVITY_WORKER_READ_LEG2},
        {ACTIVITY_WORKER_ACK, OUTCOME_UNKNOWN, 0, 0, 0, 0, ACTIVITY_WORKER_ACK},
    };
    rules.merged = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum activity_worker_state state = (enum activity_worker_state)cases[i].state;
        struct activity_worker worker = worker_at(state, kind_for(state), ODD);
        struct outcome outcome = outcome_of((enum outcome_kind)cases[i].kind);
        outcome.refusal = cases[i].refusal;
        outcome.skipped = cases[i].skipped;
        outcome.values[0] = cases[i].ledger;
        outcome.message[0] = cases[i].claimed;
        outcome.message[1 + MESSAGE_KIND] = MESSAGE_LEG1;
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, cases[i].next, "case %zu: %s", i, state_names[worker.state]);
        cr_expect(worker.state != ACTIVITY_WORKER_ENTER_LEG1 || worker.message[0] == 901,
                  "case %zu", i);
    }
}

/* The parameters of the first call of a primitive. */
static const int64_t *params_of(const struct bundle *bundle, enum primitive_id primitive)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return &bundle->params[bundle->calls[i].params];
        }
    }
    cr_assert_fail("no %s in %s", primitive_table[primitive].name, text_of(bundle));
    return NULL;
}

/* What it publishes is in its hands already, and entered. */
Test(engine, a_merged_bundle_goes_on_with_what_it_published)
{
    PROVES(CLAUSE_ACL_9, CLAUSE_ACL_13);
    static const struct {
        uint8_t state;
        uint16_t node;
        int64_t values[16];
        uint8_t next;
        uint8_t kind; /* of the message that it holds then */
    } cases[] = {
        {ACTIVITY_WORKER_LEG1, ODD, {0}, ACTIVITY_WORKER_ANSWER, MESSAGE_TASK},
        {ACTIVITY_WORKER_ANSWER, ODD, {1, 0, 0, -1}, ACTIVITY_WORKER_STEP1, MESSAGE_LEG2},
        {ACTIVITY_WORKER_ANSWER,
         ODD,
         {AT_OPEN, 0, 0, -1},
         ACTIVITY_WORKER_ACK,
         MESSAGE_LEG2}, /* a copy was faster */
        {ACTIVITY_WORKER_ANSWER,
         ODD,
         {1, 0, 0, 1},
         ACTIVITY_WORKER_ESCALATE,
         MESSAGE_LEG2}, /* otherwise */
        {ACTIVITY_WORKER_STEP1,
         HEAD,
         {AT_OPEN, [8] = 1, 1, 77},
         ACTIVITY_WORKER_LEG1,
         MESSAGE_LEG1},
        {ACTIVITY_WORKER_STEP1,
         HEAD,
         {AT_OPEN, [8] = 1, 0, 77},
         ACTIVITY_WORKER_ESCALATE,
         MESSAGE_LEG1}, /* full */
    };
    rules.merged = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum activity_worker_state state = (enum activity_worker_state)cases[i].state;
        struct activity_worker worker = worker_at(state, kind_for(state), cases[i].node);
        struct outcome outcome = outcome_of(OUTCOME_COMMITTED);
        struct bundle sent;
        activity_worker_next(&worker, &rules, &sent);
        memcpy(outcome.values, cases[i].values, sizeof outcome.values);
        outcome.values[11] = 4711;
        const int64_t *kept = params_of(&sent, PRIMITIVE_PUBLISH_HELD);
        if (outcome.values[3] == -1) {
            outcome.values[3] = kept[1 + MESSAGE_CONTENT];
        }
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, cases[i].next, "case %zu: %s", i, state_names[worker.state]);
        cr_expect_eq(memcmp(worker.message, kept, (1 + MESSAGE_VISIBLE_AT) * sizeof *kept), 0);
        cr_expect_eq(worker.message[1 + MESSAGE_KIND], cases[i].kind, "case %zu", i);
        cr_expect_eq(worker.message[1 + MESSAGE_EPOCH], 1);
        cr_expect_eq(worker.held_until, 4711);
        cr_expect(worker.state != ACTIVITY_WORKER_LEG1 || worker.input == 77);
    }
}

/* An entry that is refused takes the answer with it: then the answer goes first. */
Test(engine, an_answer_whose_entry_is_refused_is_given_without_it)
{
    static const uint8_t refusals[] = {REFUSED_NO_ROW, REFUSED_TOO_EARLY, REFUSED_CEILING,
                                       REFUSED_ATTEMPTS};
    rules.merged = true;
    for (size_t i = 0; i < COUNT(refusals); i++) {
        struct activity_worker worker = worker_at(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, ODD);
        struct outcome outcome = outcome_of(OUTCOME_REFUSED);
        struct bundle bundle;
        outcome.refusal = refusals[i];
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_str_eq(sent_by(&worker, &bundle), "answer and ack: ack!, publish?, claim next");
        activity_worker_take(&worker, &rules, &outcome);
        cr_expect_eq(worker.state, ACTIVITY_WORKER_ESCALATE, "what is refused twice is for people");
    }
}

static bool has_params(const struct bundle *bundle, enum primitive_id primitive,
                       const int64_t *expected)
{
    return memcmp(params_of(bundle, primitive), expected,
                  primitive_table[primitive].params * sizeof *expected) == 0;
}

#define SAYS(bundle, primitive, ...)                                                               \
    cr_expect(has_params(bundle, primitive, (const int64_t[]){__VA_ARGS__}), "%s",                 \
              primitive_table[primitive].name)

Test(engine, the_bundles_name_their_rows_weights_and_ceilings)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_12);
    struct bundle bundle;
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_ENTER_LEG1, MESSAGE_LEG1, ODD);
    int64_t task = identity_mint(ACTIVITY, IDENTITY_TASK);
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_ENTER_LEG1, ACTIVITY, 1000000000000, 1000, 999);
    SAYS(&bundle, PRIMITIVE_READ_INPUT, JOB);
    worker = worker_at(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1, ODD);
    worker.input = 77;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_MARK_ACTIVITY, ACTIVITY, 100000000000);
    SAYS(&bundle, PRIMITIVE_RECORD_TASK, task, ACTIVITY, 77);
    worker = worker_at(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, ODD);
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_ENTER_LEG2, ACTIVITY, GUID, 0, CONTENT, 100000000000, 100000000,
         99999999, 99999998);
    SAYS(&bundle, PRIMITIVE_READ_TASK, task);
    worker = worker_at(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2, ODD);
    worker.dimension = 4;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_MARK_ACTIVITY, ACTIVITY, 10000000000);
    SAYS(&bundle, PRIMITIVE_MARK_GUID, GUID, 10000000000);
    SAYS(&bundle, PRIMITIVE_RECORD_OUTPUT, identity_mint(ACTIVITY, IDENTITY_DIMENSION + 4),
         ACTIVITY, 4, CONTENT, GUID);
    worker.state = ACTIVITY_WORKER_STEP2;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_MARK_ACTIVITY, ACTIVITY, 1000000000);
    SAYS(&bundle, PRIMITIVE_COLLATE, GUID, JOB, -1, 1000000000, 100000000000);
    SAYS(&bundle, PRIMITIVE_CLOSE_TASK, task, GUID);
    worker.state = ACTIVITY_WORKER_STEP3;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_MARK_ACTIVITY, ACTIVITY, 100000000);
    SAYS(&bundle, PRIMITIVE_MARK_GUID, GUID, 100000000);
    SAYS(&bundle, PRIMITIVE_RECORD_COMPLETION, identity_mint(JOB, GUID), JOB, GUID);
    worker.state = ACTIVITY_WORKER_ACK;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_ACK, 900, 3, CONTENT);
    worker.state = ACTIVITY_WORKER_PUT_BACK;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_PUT_BACK, 900, 3, 7);
    worker.state = ACTIVITY_WORKER_ESCALATE;
    worker.reason = ESCALATED_ATTEMPTS_CEILING;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_ACK, 900, 3, CONTENT);
    SAYS(&bundle, PRIMITIVE_REQUIRE_STUCK, GUID, 100000000, 99999999, 99999998);
    SAYS(&bundle, PRIMITIVE_ESCALATE_JOB, JOB);
    SAYS(&bundle, PRIMITIVE_RECORD_ESCALATION, identity_mint(900, IDENTITY_ESCALATION), JOB, 900,
         ESCALATED_ATTEMPTS_CEILING);
    worker.reason = ESCALATED_LEG1_CEILING;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_REQUIRE_UNMARKED, ACTIVITY, 100000000000);
}

/* Where a value goes, another call of the bundle must not write. */
Test(engine, the_calls_of_a_bundle_return_to_places_of_their_own)
{
    for (int state = 0; state < ACTIVITY_WORKER_STATE_COUNT; state++) {
        struct activity_worker worker = worker_at(
            (enum activity_worker_state)state, kind_for((enum activity_worker_state)state), HEAD);
        worker.message[1 + MESSAGE_ANSWER] =
            state == ACTIVITY_WORKER_ENTER_LEG2 ? ANSWER_CYCLES : 0;
        struct bundle bundle;
        activity_worker_next(&worker, &rules, &bundle);
        bool taken[BUNDLE_VALUES_MAX] = {false};
        for (int i = 0; i < bundle.count; i++) {
            const struct primitive *primitive = &primitive_table[bundle.calls[i].primitive];
            bool mine[PRIMITIVE_VALUES_MAX] = {false};
            for (int op = 0; op < primitive->op_count; op++) {
                if (primitive->ops[op].returns != 0) {
                    mine[primitive->ops[op].returns - 1] = true;
                }
                if (primitive->ops[op].found != 0) {
                    mine[primitive->ops[op].found - 1] = true;
                }
            }
            for (int v = 0; v < PRIMITIVE_VALUES_MAX; v++) {
                if (mine[v]) {
                    cr_assert_lt(bundle.calls[i].values + v, BUNDLE_VALUES_MAX);
                    cr_expect_not(taken[bundle.calls[i].values + v], "%s", text_of(&bundle));
                    taken[bundle.calls[i].values + v] = true;
                }
            }
        }
    }
}

/* (PM3) over whole bundles: a row that is locked comes no earlier in the order than one before it.
 */
Test(engine, a_bundle_locks_rows_in_one_order)
{
    SETTLES(ERRATUM_ACL_28);
    static const int ranks[TABLE_COUNT] = {
        [TABLE_MESSAGE] = 0, [TABLE_ACTIVITY] = 1, [TABLE_GUID] = 2,       [TABLE_JOB] = 3,
        [TABLE_TASK] = 4,    [TABLE_OUTPUT] = 4,   [TABLE_COMPLETION] = 4, [TABLE_ESCALATION] = 4};
    for (int state = 0; state < ACTIVITY_WORKER_STATE_COUNT; state++) {
        for (int reason = ESCALATED_LEG1_CEILING; reason <= ESCALATED_CONFLICT; reason++) {
            struct activity_worker worker =
                worker_at((enum activity_worker_state)state,
                          kind_for((enum activity_worker_state)state), HEAD);
            struct bundle bundle;
            worker.message[1 + MESSAGE_PENDINGS] = 2;
            worker.reason = (uint8_t)reason;
            activity_worker_next(&worker, &rules, &bundle);
            int highest = 0;
            for (int i = 0; i < bundle.count; i++) {
                const struct op *first = &primitive_table[bundle.calls[i].primitive].ops[0];
                bool insert = first->kind == OP_INSERT || first->kind == OP_RECORD;
                if (first->kind == OP_READ) {
                    continue;
                }
                int rank = insert ? 5 : ranks[first->table];
                cr_expect_geq(rank, highest, "%s", text_of(&bundle));
                highest = rank > highest ? rank : highest;
            }
        }
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

static const int64_t *published(const struct bundle *bundle, int which)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_PUBLISH && which-- == 0) {
            return &bundle->params[bundle->calls[i].params];
        }
    }
    cr_assert_fail("too few messages in %s", text_of(bundle));
    return NULL;
}

/* A message's key, then its columns; SPAWNED_BY is the last that a publisher gives. */
static void is_answer(const int64_t *message, int64_t number, uint16_t node, int64_t input)
{
    int64_t task = identity_mint(ACTIVITY, IDENTITY_TASK);
    bool closes = number == ANSWER_CLOSES;
    int64_t guid = identity_mint(task, closes ? IDENTITY_CLOSE : IDENTITY_PENDING + number);
    cr_expect_eq(message[0], identity_mint(guid, IDENTITY_LEG2));
    cr_expect_eq(message[1 + MESSAGE_KIND], MESSAGE_LEG2);
    cr_expect_eq(message[1 + MESSAGE_GUID], guid, "E-ACL-7");
    cr_expect_eq(message[1 + MESSAGE_ANSWER], number);
    cr_expect_eq(message[1 + MESSAGE_CONTENT],
                 closes ? graph_output(node, input) : graph_pending_output(node, input, number));
    cr_expect_eq(message[1 + MESSAGE_PENDINGS], closes ? graph.nodes[node].pendings : 0);
    cr_expect_eq(message[1 + MESSAGE_JOB], JOB);
    cr_expect_eq(message[1 + MESSAGE_ACTIVITY], ACTIVITY);
    cr_expect_eq(message[1 + MESSAGE_NODE], node);
    cr_expect_eq(message[1 + MESSAGE_SPAWNED_BY], 0);
}

Test(engine, answers_have_the_tasks_guids_and_the_closing_one_counts_the_pending_ones)
{
    SETTLES(ERRATUM_ACL_7, ERRATUM_ACL_20, ERRATUM_ACL_21);
    struct bundle bundle;
    for (uint8_t answered = 0; answered <= 2; answered++) {
        struct activity_worker worker = worker_at(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, HEAD);
        worker.answered = answered;
        activity_worker_next(&worker, &rules, &bundle);
        is_answer(published(&bundle, 0), answered == 2 ? ANSWER_CLOSES : answered + 1, HEAD,
                  CONTENT);
    }
}

Test(engine, a_worker_that_answers_otherwise_does_so_under_the_same_guid)
{
    SETTLES(ERRATUM_ACL_21);
    struct bundle right, wrong;
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK, ODD);
    activity_worker_next(&worker, &rules, &right);
    worker.changed = 1;
    activity_worker_next(&worker, &rules, &wrong);
    cr_expect_eq(published(&right, 0)[1 + MESSAGE_GUID], published(&wrong, 0)[1 + MESSAGE_GUID]);
    cr_expect_neq(published(&right, 0)[1 + MESSAGE_CONTENT],
                  published(&wrong, 0)[1 + MESSAGE_CONTENT]);
}

Test(engine, a_closing_answer_requires_the_mark_of_each_pending_one)
{
    SETTLES(ERRATUM_ACL_20);
    struct bundle bundle;
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, HEAD);
    worker.message[1 + MESSAGE_PENDINGS] = 2;
    activity_worker_next(&worker, &rules, &bundle);
    int64_t task = identity_mint(ACTIVITY, IDENTITY_TASK), k = 0;
    for (int i = 0; i < bundle.count; i++) {
        if (bundle.calls[i].primitive == PRIMITIVE_REQUIRE_MARK) {
            const int64_t *p = &bundle.params[bundle.calls[i].params];
            cr_expect_eq(p[0], identity_mint(task, IDENTITY_PENDING + ++k));
            cr_expect_eq(p[1], 1000000000);
        }
    }
    cr_expect_eq(k, 2);
}

/* Leg1 with its work publishes the task; without the hop, every answer. */
Test(engine, leg1_publishes_the_task_or_without_a_hop_the_answers)
{
    SETTLES(ERRATUM_ACL_7);
    struct bundle bundle;
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1, HEAD);
    worker.input = 77;
    activity_worker_next(&worker, &rules, &bundle);
    int64_t task = identity_mint(ACTIVITY, IDENTITY_TASK);
    const int64_t *message = published(&bundle, 0);
    cr_expect_eq(message[0], identity_mint(task, IDENTITY_WORK));
    cr_expect_eq(message[1 + MESSAGE_KIND], MESSAGE_TASK);
    cr_expect_eq(message[1 + MESSAGE_CONTENT], 77);
    cr_expect_eq(message[1 + MESSAGE_GUID], 0);
    rules.direct = true;
    cr_expect_str_eq(sent_by(&worker, &bundle),
                     "Leg1: mark activity?, record task, publish!, publish!, publish!");
    is_answer(published(&bundle, 0), 1, HEAD, 77);
    is_answer(published(&bundle, 1), 2, HEAD, 77);
    is_answer(published(&bundle, 2), ANSWER_CLOSES, HEAD, 77);
}

/* ---- children -------------------------------------------------------------------------------- */

static struct activity_worker at_step2(uint16_t node, int64_t answer, int64_t content,
                                       int64_t round)
{
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_STEP2, MESSAGE_LEG2, node);
    worker.dimension = 6;
    worker.message[1 + MESSAGE_ANSWER] = answer;
    worker.message[1 + MESSAGE_CONTENT] = content;
    worker.message[1 + MESSAGE_ROUND] = round;
    worker.message[1 + MESSAGE_HEAD] = 444;
    return worker;
}

static int64_t delta_of(struct activity_worker worker)
{
    struct bundle bundle;
    activity_worker_next(&worker, &rules, &bundle);
    return params_of(&bundle, PRIMITIVE_COLLATE)[2];
}

Test(engine, the_delta_counts_the_edges_that_this_answer_takes)
{
    PROVES(CLAUSE_ACL_20);
    SETTLES(ERRATUM_ACL_8);
    static const struct {
        uint16_t node;
        int64_t answer, content, round;
        int64_t delta;
    } cases[] = {
        {HEAD, 0, 50, 0, 1},             /* BACK and, the output being even, SELF */
        {HEAD, 0, 51, 0, 1},             /* BACK and ODD */
        {HEAD, 1, 50, 0, 1},             /* EARLY; the activity stays open */
        {HEAD, 2, 50, 0, 0},             /* nobody; it stays open */
        {BACK, 0, 50, 0, 0},             /* the cycle */
        {BACK, 0, 50, 1, 0},             /* its second round */
        {BACK, 0, 50, 2, -1},            /* and no third */
        {SELF, 0, 50, 0, 1},             /* LEAF and itself */
        {SELF, ANSWER_CYCLES, 50, 1, 0}, /* LEAF only: a cycle's answer closes its entry */
        {LEAF, 0, 50, 0, -1},
        {LEAF, 1, 50, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct activity_worker worker =
            at_step2(cases[i].node, cases[i].answer, cases[i].content, cases[i].round);
        cr_expect_eq(delta_of(worker), cases[i].delta, "case %zu", i);
    }
}

Test(engine, a_child_is_an_activity_and_its_leg1_message_named_after_guid_and_edge)
{
    PROVES(CLAUSE_ACL_27);
    SETTLES(ERRATUM_ACL_22);
    struct activity_worker worker = at_step2(HEAD, 0, 51, 1);
    struct bundle bundle;
    cr_expect_str_eq(sent_by(&worker, &bundle),
                     "Step 2: mark activity + collate? + close task! + add activity! + publish! + "
                     "add activity! + publish!");
    int64_t back = identity_mint(GUID, IDENTITY_EDGE + EDGE_BACK);
    int64_t odd = identity_mint(GUID, IDENTITY_EDGE + EDGE_ODD);
    SAYS(&bundle, PRIMITIVE_ADD_ACTIVITY, back, JOB, BACK, 0, GUID);
    const int64_t *second = &bundle.params[bundle.calls[5].params];
    cr_expect_eq(second[0], odd);
    cr_expect_eq(second[3], 998000000000000, "what its ledger starts with");
    const int64_t *message = published(&bundle, 0);
    cr_expect_eq(message[0], identity_mint(back, IDENTITY_LEG1));
    cr_expect_eq(message[1 + MESSAGE_KIND], MESSAGE_LEG1);
    cr_expect_eq(message[1 + MESSAGE_ACTIVITY], back);
    cr_expect_eq(message[1 + MESSAGE_NODE], BACK);
    cr_expect_eq(message[1 + MESSAGE_SOURCE], ACTIVITY);
    cr_expect_eq(message[1 + MESSAGE_DIMENSION], 6, "of the GUID that spawned it (E-ACL-4)");
    cr_expect_eq(message[1 + MESSAGE_SPAWNED_BY], GUID);
    cr_expect_eq(message[1 + MESSAGE_ROUND], 1, "the round goes down with it");
    cr_expect_eq(message[1 + MESSAGE_HEAD], ACTIVITY, "its parent is the head of a cycle");
    cr_expect_eq(bundle.calls[2].child, 0);
    cr_expect_eq(bundle.calls[3].child, 1);
    cr_expect_eq(bundle.calls[4].child, 1);
    cr_expect_eq(bundle.calls[6].child, 2);
}

Test(engine, a_child_below_a_cycle_keeps_its_head)
{
    graph.nodes[SELF].heads_cycle = false;
    struct activity_worker worker = at_step2(SELF, 0, 50, 5);
    struct bundle bundle;
    activity_worker_next(&worker, &rules, &bundle);
    cr_expect_eq(published(&bundle, 0)[1 + MESSAGE_HEAD], 444);
}

/* Two GUIDs of one activity, or two edges of one GUID, never spawn the same child. */
Test(engine, children_of_other_guids_and_edges_are_others)
{
    SETTLES(ERRATUM_ACL_22);
    struct bundle one, other;
    struct activity_worker worker = at_step2(HEAD, 0, 51, 0);
    activity_worker_next(&worker, &rules, &one);
    worker.message[1 + MESSAGE_GUID] = OTHER;
    activity_worker_next(&worker, &rules, &other);
    cr_expect_neq(published(&one, 0)[0], published(&one, 1)[0]);
    cr_expect_neq(published(&one, 0)[0], published(&other, 0)[0]);
    cr_expect_neq(published(&one, 1)[0], published(&other, 0)[0]);
}

Test(engine, a_cycle_edge_is_a_leg2_message_to_the_activity_that_is_there)
{
    SETTLES(ERRATUM_ACL_22);
    static const struct {
        uint16_t node, edge, to;
        int which;        /* among what it publishes */
        int64_t activity; /* expected */
    } cases[] = {{BACK, EDGE_CYCLE, HEAD, 0, 444}, {SELF, EDGE_AGAIN, SELF, 1, ACTIVITY}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct activity_worker worker = at_step2(cases[i].node, 0, 50, 0);
        struct bundle bundle;
        activity_worker_next(&worker, &rules, &bundle);
        const int64_t *message = published(&bundle, cases[i].which);
        int64_t guid = identity_mint(GUID, IDENTITY_EDGE + cases[i].edge);
        cr_expect_eq(message[0], identity_mint(guid, IDENTITY_LEG2));
        cr_expect_eq(message[1 + MESSAGE_KIND], MESSAGE_LEG2);
        cr_expect_eq(message[1 + MESSAGE_GUID], guid);
        cr_expect_eq(message[1 + MESSAGE_ANSWER], ANSWER_CYCLES);
        cr_expect_eq(message[1 + MESSAGE_ACTIVITY], cases[i].activity, "case %zu", i);
        cr_expect_eq(message[1 + MESSAGE_NODE], cases[i].to);
        cr_expect_eq(message[1 + MESSAGE_ROUND], 1);
        cr_expect_eq(message[1 + MESSAGE_SOURCE], ACTIVITY);
        cr_expect_eq(message[1 + MESSAGE_DIMENSION], 6);
        cr_expect_eq(message[1 + MESSAGE_HEAD], 444, "case %zu", i);
        cr_expect_eq(message[1 + MESSAGE_SPAWNED_BY], GUID);
        cr_expect_eq(message[1 + MESSAGE_PENDINGS], 0, "nothing to wait for");
    }
}

/* What a cycle brings is data that came along its edge; an answer brings its own. */
Test(engine, step_1_of_a_cycle_works_on_what_the_edge_brought)
{
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, HEAD);
    worker.message[1 + MESSAGE_ANSWER] = ANSWER_CYCLES;
    worker.message[1 + MESSAGE_SOURCE] = SOURCE;
    worker.message[1 + MESSAGE_DIMENSION] = 9;
    struct bundle bundle;
    activity_worker_next(&worker, &rules, &bundle);
    SAYS(&bundle, PRIMITIVE_READ_OUTPUT, identity_mint(SOURCE, IDENTITY_DIMENSION + 9));
    worker.state = ACTIVITY_WORKER_STEP1;
    worker.input = 77;
    activity_worker_next(&worker, &rules, &bundle);
    cr_expect_eq(params_of(&bundle, PRIMITIVE_RECORD_OUTPUT)[3], graph_output(HEAD, 77));
}

/* The most that one Step 2 can say: 16 children. */
Test(engine, the_widest_step_2_fits_a_bundle)
{
    graph = (struct graph){.node_count = 17, .edge_count = GRAPH_CHILDREN_MAX};
    graph.nodes[0].edge_count = GRAPH_CHILDREN_MAX;
    for (uint16_t i = 0; i < GRAPH_CHILDREN_MAX; i++) {
        graph.edges[i] = (struct graph_edge){.from = 0, .to = (uint16_t)(i + 1)};
    }
    cr_expect_eq(delta_of(at_step2(0, 0, 50, 0)), GRAPH_CHILDREN_MAX - 1);
    graph.nodes[0].pendings = GRAPH_PENDINGS_MAX;
    rules.direct = true;
    struct activity_worker worker = worker_at(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1, 0);
    struct bundle bundle;
    activity_worker_next(&worker, &rules, &bundle);
    cr_expect_eq(bundle.count, 2 + GRAPH_PENDINGS_MAX + 1);
    worker = worker_at(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2, 0);
    worker.message[1 + MESSAGE_PENDINGS] = GRAPH_PENDINGS_MAX;
    activity_worker_next(&worker, &rules, &bundle);
    cr_expect_eq(bundle.count, 2 + GRAPH_PENDINGS_MAX);
}

/* ---- the client ------------------------------------------------------------------------------ */

Test(engine, a_client_creates_each_job_until_it_is_sure_of_it)
{
    SETTLES(ERRATUM_ACL_9, ERRATUM_ACL_30);
    static const enum outcome_kind unsure[] = {OUTCOME_ABORTED, OUTCOME_UNKNOWN, OUTCOME_REFUSED};
    struct client client = {.count = 2};
    struct bundle bundle, again;
    activity_client_next(&client, &rules, &bundle);
    for (size_t i = 0; i < COUNT(unsure); i++) {
        struct outcome outcome = outcome_of(unsure[i]);
        client_take(&client, &outcome);
        cr_expect_eq(client.job, 0U);
        activity_client_next(&client, &rules, &again);
        cr_expect_eq(again.count, bundle.count);
        cr_expect_eq(memcmp(again.params, bundle.params, bundle.param_count * sizeof(int64_t)), 0,
                     "the same job again, under the same jid");
    }
    struct outcome found = outcome_of(OUTCOME_COMMITTED);
    found.skipped = 1; /* it was there already */
    client_take(&client, &found);
    cr_expect_eq(client.job, 1U);
}

Test(engine, a_job_is_created_with_its_trigger_and_the_triggers_leg1_message)
{
    SETTLES(ERRATUM_ACL_9, ERRATUM_ACL_12, ERRATUM_ACL_30);
    for (uint32_t job = 0; job < 7; job++) {
        struct client client = {.job = job, .count = 7};
        struct bundle bundle;
        activity_client_next(&client, &rules, &bundle);
        int64_t jid = activity_job_id(job), trigger = identity_mint(jid, IDENTITY_TRIGGER);
        static const int64_t thresholds[] = {0, 1, 12};
        cr_expect_str_eq(text_of(&bundle), "create job: create job?, add activity!, publish!");
        SAYS(&bundle, PRIMITIVE_CREATE_JOB, jid, thresholds[job % 3], 1000 + job);
        SAYS(&bundle, PRIMITIVE_ADD_ACTIVITY, trigger, jid, 0, 0, 0);
        SAYS(&bundle, PRIMITIVE_PUBLISH, identity_mint(trigger, IDENTITY_LEG1), MESSAGE_LEG1, jid,
             trigger, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        for (uint32_t other = 0; other < job; other++) {
            cr_expect_neq(activity_job_id(other), jid);
        }
    }
}

/* ---- identities ------------------------------------------------------------------------------ */

Test(engine, identities_are_positive_and_differ_by_parent_and_role)
{
    SETTLES(ERRATUM_ACL_7);
    static const int64_t roles[] = {
        IDENTITY_TRIGGER,  IDENTITY_TASK,        IDENTITY_LEG1,         IDENTITY_WORK,
        IDENTITY_LEG2,     IDENTITY_ESCALATION,  IDENTITY_COPY,         IDENTITY_JOB,
        IDENTITY_CLOSE,    IDENTITY_PENDING + 1, IDENTITY_PENDING + 2,  IDENTITY_EDGE,
        IDENTITY_EDGE + 1, IDENTITY_DIMENSION,   IDENTITY_DIMENSION + 1};
    int64_t minted[20 * COUNT(roles)];
    size_t count = 0;
    for (int64_t parent = 0; parent < 20; parent++) {
        for (size_t r = 0; r < COUNT(roles); r++) {
            int64_t id = identity_mint(parent, roles[r]);
            cr_expect_gt(id, 0);
            for (size_t i = 0; i < count; i++) {
                cr_expect_neq(minted[i], id);
            }
            minted[count++] = id;
        }
    }
}

/* Recorded runs depend on them: another value needs another IDENTITY_VERSION. */
Test(engine, identities_are_the_same_on_every_machine)
{
    cr_expect_eq(IDENTITY_VERSION, 1);
    cr_expect_eq(activity_job_id(0), identity_mint(0, IDENTITY_JOB));
    cr_expect_eq(identity_mint(0, IDENTITY_JOB), INT64_C(566998658249792862), "%lld",
                 (long long)identity_mint(0, IDENTITY_JOB));
    cr_expect_eq(identity_mint(4711, IDENTITY_EDGE + 3), INT64_C(8420185975009897371), "%lld",
                 (long long)identity_mint(4711, IDENTITY_EDGE + 3));
}
