/* The engines of the key protocol: what each message and digit ask for, which changes hang on the
 * whole key, when a join is ready, and what an outcome leads to. */
#include "model/flow.h"
#include "model/identity.h"
#include "model/protocol.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <string.h>

#define ALWAYS 3 /* both cases */

/* 0 before 1, 2 and 5; 1 and 2 lead to the join 3, but 1 in case 0 only, and then to 4; 5 awaits
 * the second flow, of one activity. */
static struct flow_book book;
static struct rules rules;

static void edge(int from, int to, uint8_t when)
{
    cr_assert_eq(key_graph_add(&book.shape[0].graph, from, to), KEY_EDGE_ADDED);
    book.shape[0].at[from].when[to] = when;
}

static void make(void)
{
    book = (struct flow_book){.shapes = 2, .cases = 2};
    book.shape[0].graph.count = 6;
    book.shape[1].graph.count = 1;
    edge(0, 1, ALWAYS);
    edge(0, 2, ALWAYS);
    edge(0, 5, ALWAYS);
    edge(1, 3, 1);
    edge(2, 3, ALWAYS);
    edge(1, 4, 2);
    book.shape[0].at[5].awaits = 2;
    rules = (struct rules){.protocol = &protocol_flow,
                           .actors = 2,
                           .cast = {FLOW_CLIENT, FLOW_WORKER},
                           .jobs = 3,
                           .timeout = 60};
    *RULES_OF(&rules, flow_rules) = (struct flow_rules){.book = &book};
}

TestSuite(flow, .init = make);

static const struct role *worker_role(void)
{
    return protocol_role(&rules, 1);
}

static const struct outcome committed = {.kind = OUTCOME_COMMITTED};

/* A worker that has claimed a message and is about to read its flow. */
static struct actor claimed(enum flow_message kind, int position, int64_t content)
{
    struct actor worker;
    struct outcome outcome = committed;
    protocol_begin(&worker, &rules, 1);
    outcome.message[0] = 77;
    outcome.message[1 + ORDER_KIND] = kind;
    outcome.message[1 + ORDER_FLOW] = 1000;
    outcome.message[1 + ORDER_POSITION] = position;
    outcome.message[1 + ORDER_KEY] = content;
    outcome.message[1 + MESSAGE_EPOCH] = 3;
    worker_role()->take(&worker, &rules, &outcome);
    return worker;
}

static void read_flow(struct actor *worker, int64_t key, int64_t untaken, int64_t number)
{
    struct outcome outcome = committed;
    outcome.values[FLOW_KEY] = key;
    outcome.values[FLOW_UNTAKEN] = untaken;
    outcome.values[FLOW_CASE] = number;
    worker_role()->take(worker, &rules, &outcome);
}

static struct bundle next_of(struct actor *worker)
{
    struct bundle bundle;
    worker_role()->next(worker, &rules, &bundle);
    return bundle;
}

/* What a worker sends that claimed this and read that. */
static struct bundle sent(enum flow_message kind, int position, int64_t key, int64_t untaken,
                          int64_t number)
{
    struct actor worker = claimed(kind, position, 0);
    read_flow(&worker, key, untaken, number);
    return next_of(&worker);
}

static const int64_t *params(const struct bundle *bundle, int call)
{
    return &bundle->params[bundle->calls[call].params];
}

/* Calls of the primitive; *first is the first one's parameters. */
static int calls_of(const struct bundle *bundle, enum primitive_id primitive, const int64_t **first)
{
    int count = 0;
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            *first = count++ == 0 ? params(bundle, i) : *first;
        }
    }
    return count;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

Test(flow, parents_and_branches_are_read_off_the_shape)
{
    const struct flow_shape *shape = &book.shape[0];
    cr_expect_eq(flow_parents(shape, 0), 0);
    cr_expect_eq(flow_parents(shape, 3), 1 << 1 | 1 << 2);
    cr_expect_eq(flow_untaken(shape, 1, 0), 1 << 4);
    cr_expect_eq(flow_untaken(shape, 1, 1), 1 << 3);
    cr_expect_eq(flow_untaken(shape, 0, 1), 0);
    cr_expect_eq(flow_memos(&book, shape), 1, "from 1 to the join: no digit tells of it");
    cr_expect_eq(flow_memos(&book, &book.shape[1]), 0);
}

Test(flow, a_join_is_ready_when_all_ways_are_settled_and_one_is_live)
{
    SETTLES(ERRATUM_KEY_5);
    static const struct {
        int64_t key;
        uint16_t untaken; /* by 1 */
        bool ready;
    } cases[] = {
        {669936000000000, 0, false}, /* 2 is pending */
        {668936000000000, 0, false}, /* ... running */
        {665936000000000, 0, false}, /* ... paused */
        {666936000000000, 0, true},  /* done */
        {664936000000000, 0, true},  /* released */
        {667936000000000, 0, true},  /* errored, but 1 brings something */
        {637936000000000, 0, false}, /* neither does */
        {677936000000000, 0, false},
        {667936000000000, 1 << 3, false}, /* 1 decided against it */
        {666936000000000, 1 << 3, true},
        {666836000000000, 0, false}, /* runs already */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint16_t untaken[KEY_ACTIVITIES_MAX] = {[1] = cases[i].untaken};
        cr_expect_eq((flow_ready(&book.shape[0], untaken, cases[i].key) & 1 << 3) != 0,
                     cases[i].ready, "case %zu", i);
    }
    cr_expect_eq(
        flow_ready(&book.shape[0], (uint16_t[KEY_ACTIVITIES_MAX]){0}, INT64_C(999999000000000)), 0,
        "a trigger is the outside's business");
}

/* ---- the client ------------------------------------------------------------------------------ */

Test(flow, a_client_begins_flows_as_nines_in_one_transaction)
{
    PROVES(CLAUSE_KEY_9);
    struct actor client;
    struct bundle bundle;
    const int64_t *p = NULL;
    protocol_begin(&client, &rules, 0);
    for (int job = 0; job < 3; job++) {
        protocol_role(&rules, 0)->next(&client, &rules, &bundle);
        cr_expect_eq(bundle.name, BUNDLE_BEGIN_FLOW);
        cr_expect_eq(calls_of(&bundle, PRIMITIVE_ADD_FLOW, &p), 1);
        cr_expect_eq(p[0], identity_mint(0, IDENTITY_FLOW + job));
        cr_expect_eq(p[1], INT64_C(999999000000000));
        cr_expect_eq(p[3], job % 2, "cases in turn");
        cr_expect_eq(calls_of(&bundle, PRIMITIVE_ADD_PLACE, &p), 6);
        cr_expect_eq(p[3], 1 << 1 | 1 << 2 | 1 << 5);
        cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 1, "the trigger");
        cr_expect_eq(p[1 + ORDER_POSITION], 0);
        protocol_role(&rules, 0)->take(&client, &rules, &committed);
    }
    cr_expect(protocol_role(&rules, 0)->is_done(&client));
}

/* ---- what a message and a digit ask for ------------------------------------------------------ */

Test(flow, the_digit_decides_what_a_message_is_still_good_for)
{
    PROVES(CLAUSE_KEY_8);
    SETTLES(ERRATUM_KEY_3, ERRATUM_KEY_9);
    static const struct {
        enum flow_message kind;
        int position;
        int64_t key;
        enum bundle_name bundle;
    } cases[] = {
        {FLOW_RUN, 0, 999999000000000, BUNDLE_START_KEY},
        {FLOW_RUN, 0, 899999000000000, BUNDLE_FINISH_KEY},
        {FLOW_RUN, 0, 699999000000000, BUNDLE_ACK},
        {FLOW_RUN, 0, 733333000000000, BUNDLE_ACK},
        {FLOW_RUN, 0, 0, BUNDLE_ACK},               /* no such flow */
        {FLOW_RUN, 0, 123456789, BUNDLE_ACK},       /* no key */
        {FLOW_RUN, 5, 699998000000000, BUNDLE_ACK}, /* awaits a flow: stays 8 */
        {FLOW_RESUME, 5, 699998000000000, BUNDLE_FINISH_KEY},
        {FLOW_RESUME, 5, 699996000000000, BUNDLE_ACK},
        {FLOW_PAUSE, 0, 699999000000000, BUNDLE_PAUSE_KEY},
        {FLOW_PAUSE, 0, 599999000000000, BUNDLE_ACK},
        {FLOW_PAUSE, 0, 666636000000000, BUNDLE_ACK}, /* would reopen it */
        {FLOW_RELEASE, 0, 599999000000000, BUNDLE_RELEASE_KEY},
        {FLOW_RELEASE, 0, 499999000000000, BUNDLE_ACK},
        {FLOW_RELEASE, 0, 899999000000000, BUNDLE_ACK}, /* release a running one */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bundle bundle = sent(cases[i].kind, cases[i].position, cases[i].key, 0, 0);
        cr_expect_eq(bundle.name, cases[i].bundle, "case %zu: %s", i,
                     bundle_name_text((enum bundle_name)bundle.name));
    }
}

Test(flow, a_start_names_its_digit_and_begins_the_flow_that_is_awaited)
{
    SETTLES(ERRATUM_KEY_3, ERRATUM_KEY_9);
    const int64_t *p = NULL;
    struct bundle bundle = sent(FLOW_RUN, 2, INT64_C(699999000000000), 0, 1);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_START_KEY, &p), 1);
    cr_expect_eq(p[1], INT64_C(1000000000000));
    cr_expect_eq(p[2], 9);
    cr_expect_eq(p[3], -INT64_C(1000000000000));
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_ADD_FLOW, &p), 0);
    bundle = sent(FLOW_RUN, 5, INT64_C(699999000000000), 0, 1);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_ADD_FLOW, &p), 1);
    cr_expect_eq(p[1], INT64_C(900000000000000));
    cr_expect_eq(p[2], 1, "the second shape");
    cr_expect_eq(p[3], 1, "of the same case");
    cr_expect_eq(p[4], 1000, "awaited by this flow");
    cr_expect_eq(p[5], 5);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 1);
}

/* ---- what a change brings with it ------------------------------------------------------------ */

Test(flow, a_change_that_depends_on_others_requires_the_key_that_was_read)
{
    SETTLES(ERRATUM_KEY_5);
    book.shape[0].at[2].errors = 2;
    book.shape[0].at[1].holds = 2;
    book.shape[0].at[4].holds = 3;
    static const struct {
        enum flow_message kind;
        int position;
        int64_t key, number;
        bool whole;
    } cases[] = {
        {FLOW_RUN, 0, 899999000000000, 0, false},     /* all children have one parent */
        {FLOW_RUN, 1, 689999000000000, 0, true},      /* decides against a child */
        {FLOW_RUN, 1, 689999000000000, 1, true},      /* likewise, and is held */
        {FLOW_RUN, 2, 698999000000000, 0, true},      /* leads to a join */
        {FLOW_RUN, 2, 698999000000000, 1, true},      /* errs, with a child */
        {FLOW_RUN, 3, 666839000000000, 0, false},     /* a leaf */
        {FLOW_RUN, 4, 666989000000000, 1, false},     /* a leaf that is held */
        {FLOW_RELEASE, 4, 666959000000000, 1, false}, /* ... and released */
        {FLOW_RELEASE, 0, 599999000000000, 0, true},  /* children may be ready */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t *p = NULL;
        struct bundle bundle =
            sent(cases[i].kind, cases[i].position, cases[i].key, 0, cases[i].number);
        cr_assert_eq(calls_of(&bundle, PRIMITIVE_CHANGE_KEY, &p), 1, "case %zu", i);
        cr_expect_eq(p[4], cases[i].whole ? cases[i].key : 0, "case %zu", i);
        cr_expect_eq(p[6], FLOW_ACTIVE);
    }
}

/* (FL3) */
Test(flow, completing_and_skipping_the_untaken_branch_are_one_add)
{
    PROVES(CLAUSE_KEY_5, CLAUSE_KEY_3);
    SETTLES(ERRATUM_KEY_5);
    const int64_t *p = NULL, *skip = NULL, *run = NULL, *event = NULL;
    struct bundle bundle = sent(FLOW_RUN, 1, INT64_C(686999000000000), 0, 0);
    calls_of(&bundle, PRIMITIVE_CHANGE_KEY, &p);
    cr_expect_eq(p[3], -2 * key_weight(1) - 6 * key_weight(4));
    cr_expect_eq(p[5], 0, "the edge to the join is taken");
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_RECORD_EVENT, &event), 1);
    cr_expect_eq(event[3], FLOW_COMPLETED);
    cr_expect_eq(event[4], 1 << 4);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_RECORD_SKIP, &skip), 1);
    cr_expect_eq(skip[2], 4);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &run), 1);
    cr_expect_eq(run[1 + ORDER_POSITION], 3, "2 was done: the join is ready");

    bundle = sent(FLOW_RUN, 1, INT64_C(689999000000000), 0, 1);
    calls_of(&bundle, PRIMITIVE_CHANGE_KEY, &p);
    cr_expect_eq(p[3], -2 * key_weight(1), "the join can still be reached");
    cr_expect_eq(p[5], 1, "which only a bit tells");
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &run), 1);
    cr_expect_eq(run[1 + ORDER_POSITION], 4);
}

Test(flow, the_last_way_to_a_join_skips_it)
{
    PROVES(CLAUSE_KEY_5);
    book.shape[0].at[2].errors = 2;
    const int64_t *p = NULL;
    struct bundle bundle = sent(FLOW_RUN, 2, INT64_C(668999000000000), 1, 1);
    calls_of(&bundle, PRIMITIVE_CHANGE_KEY, &p);
    cr_expect_eq(p[3], -key_weight(2) - 6 * key_weight(3), "1 had decided against it before");
    bundle = sent(FLOW_RUN, 2, INT64_C(668999000000000), 0, 1);
    calls_of(&bundle, PRIMITIVE_CHANGE_KEY, &p);
    cr_expect_eq(p[3], -key_weight(2), "else it runs");
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 1);
}

Test(flow, pauses_and_releases_give_their_orders)
{
    SETTLES(ERRATUM_KEY_2);
    book.shape[0].at[0].pauses = 1;
    book.shape[0].at[0].holds = 2;
    const int64_t *p = NULL;
    struct bundle bundle = sent(FLOW_RUN, 0, INT64_C(899999000000000), 0, 0);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 4, "three children and a pause");
    cr_expect_eq(params(&bundle, bundle.count - 1)[1 + ORDER_KIND], FLOW_PAUSE);

    bundle = sent(FLOW_PAUSE, 0, INT64_C(699999000000000), 0, 0);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PAUSE_KEY, &p), 1);
    cr_expect_eq(p[1], INT64_C(699999000000000), "only on this key");
    cr_expect_eq(p[2], -key_weight(0));
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 1);
    cr_expect_eq(p[1 + ORDER_KIND], FLOW_RELEASE);

    bundle = sent(FLOW_RUN, 0, INT64_C(899999000000000), 0, 1);
    calls_of(&bundle, PRIMITIVE_CHANGE_KEY, &p);
    cr_expect_eq(p[3], -3 * key_weight(0), "held");
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 1, "children wait for the release");
    cr_expect_eq(p[1 + ORDER_KIND], FLOW_RELEASE);

    bundle = sent(FLOW_RELEASE, 0, INT64_C(599999000000000), 0, 1);
    cr_expect_eq(calls_of(&bundle, PRIMITIVE_PUBLISH, &p), 3);
}

Test(flow, an_awaiting_activity_ends_as_the_flow_did)
{
    SETTLES(ERRATUM_KEY_9);
    static const struct {
        int64_t ended;
        enum flow_event event;
    } cases[] = {{600000000000000, FLOW_COMPLETED},
                 {400000000000000, FLOW_COMPLETED},
                 {700000000000000, FLOW_ERRORED}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t *p = NULL;
        struct actor worker = claimed(FLOW_RESUME, 5, cases[i].ended);
        read_flow(&worker, INT64_C(699998000000000), 0, 0);
        struct bundle bundle = next_of(&worker);
        cr_assert_eq(calls_of(&bundle, PRIMITIVE_RECORD_EVENT, &p), 1);
        cr_assert_not_null(p);
        cr_expect_eq(p[3], (int64_t)cases[i].event, "case %zu", i);
    }
}

/* ---- outcomes -------------------------------------------------------------------------------- */

Test(flow, what_is_refused_or_not_known_is_read_again)
{
    static const enum outcome_kind kinds[] = {OUTCOME_REFUSED, OUTCOME_UNKNOWN, OUTCOME_ABORTED};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        for (int started = 0; started < 2; started++) {
            struct actor worker = claimed(FLOW_RUN, 0, 0);
            read_flow(&worker, INT64_C(999999000000000) - started * key_weight(0), 0, 0);
            worker_role()->take(&worker, &rules, &(struct outcome){.kind = (uint8_t)kinds[i]});
            cr_expect_eq(next_of(&worker).name, BUNDLE_READ, "outcome %d", (int)kinds[i]);
            read_flow(&worker, INT64_C(699999000000000), 0, 0);
            cr_expect_eq(next_of(&worker).name, BUNDLE_ACK, "it had happened");
        }
    }
}

Test(flow, a_message_is_acked_by_who_still_holds_it)
{
    struct actor worker = claimed(FLOW_RUN, 3, 0);
    read_flow(&worker, INT64_C(666839000000000), 0, 0);
    worker_role()->take(&worker, &rules, &committed);
    struct bundle bundle = next_of(&worker);
    cr_expect_eq(bundle.name, BUNDLE_ACK, "a change that committed needs no second look");
    cr_expect_eq(params(&bundle, 0)[0], 77);
    cr_expect_eq(params(&bundle, 0)[1], 3);
    cr_expect_eq(worker_role()->message(&worker)[0], 77);
    worker_role()->take(&worker, &rules, &(struct outcome){.kind = OUTCOME_UNKNOWN});
    cr_expect_eq(next_of(&worker).name, BUNDLE_ACK, "again: the epoch tells");
    worker_role()->take(&worker, &rules, &(struct outcome){.kind = OUTCOME_REFUSED});
    cr_expect(worker_role()->is_idle(&worker), "another worker has it");
}

Test(flow, from_the_claim_to_the_ack_every_commit_leads_one_step_on)
{
    static const struct {
        enum bundle_name sent;
        int64_t key; /* that a read finds */
    } steps[] = {{BUNDLE_READ, 999999000000000},
                 {BUNDLE_START_KEY, 0},
                 {BUNDLE_READ, 899999000000000},
                 {BUNDLE_FINISH_KEY, 0},
                 {BUNDLE_ACK, 0}};
    struct actor worker = claimed(FLOW_RUN, 0, 0);
    for (size_t i = 0; i < COUNT(steps); i++) {
        struct outcome outcome = committed;
        outcome.values[FLOW_KEY] = steps[i].key;
        cr_expect_eq(next_of(&worker).name, steps[i].sent, "step %zu", i);
        worker_role()->take(&worker, &rules, &outcome);
    }
    cr_expect(worker_role()->is_idle(&worker));
}

Test(flow, a_worker_lets_go_when_nothing_comes_through)
{
    struct actor worker = claimed(FLOW_RUN, 0, 0);
    const struct glance glance = {.now = 9, .next_message = 12};
    cr_expect_eq(worker_role()->due(&worker, &rules, &glance), 9);
    for (int i = 0; i < FLOW_TRIES_MAX; i++) {
        worker_role()->take(&worker, &rules, &(struct outcome){.kind = OUTCOME_ABORTED});
        cr_expect_eq(next_of(&worker).name, BUNDLE_READ);
    }
    worker_role()->take(&worker, &rules, &(struct outcome){.kind = OUTCOME_ABORTED});
    cr_expect(worker_role()->is_idle(&worker));
    cr_expect_eq(worker_role()->due(&worker, &rules, &glance), 12);
    cr_expect_eq(next_of(&worker).name, BUNDLE_CLAIM);
    worker_role()->take(&worker, &rules, &(struct outcome){.kind = OUTCOME_UNKNOWN});
    cr_expect(worker_role()->is_idle(&worker), "what it may have claimed comes again");
}
