/* The pipeline where the statements of transactions interleave: what the lock, the isolation level
 * and the write of the entry's row are for. The bundles are those that the engine sends, as a run
 * without faults shows them. */
#include "faults/performer.h"
#include "model/pipeline.h"
#include "model/tests/proves.h"
#include "sim/part.h"
#include "sim/session.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scenario scenario;
static struct run run;
static struct sessions sessions;
static struct sabotage sabotage;

/* The first bundle of each of these that a run without faults sends. */
static struct {
    enum bundle_name name;
    int64_t number; /* of the review, or the verify */
    bool there;
    struct bundle bundle;
} sent[] = {{BUNDLE_REVIEW, 1, false, {0}},
            {BUNDLE_REVIEW, 2, false, {0}},
            {BUNDLE_CUT, 0, false, {0}},
            {BUNDLE_VERIFY, 1, false, {0}}};
enum { REVIEW_1, REVIEW_2, CUT_1, VERIFY_1 };

static const char race[] = "name: race\nprotocol: pipeline\nworkers: 1\n"
                           "entries: {raced: {reviews: [approve, approve]}}\n";

static void keep_bundle(void *context, const struct run_event *event)
{
    (void)context;
    for (size_t i = 0; event->turn == RUN_TRANSACTION && i < COUNT(sent); i++) {
        if (!sent[i].there && event->bundle->name == sent[i].name &&
            event->message[1 + REQUEST_NUMBER] == sent[i].number) {
            sent[i].there = true;
            sent[i].bundle = *event->bundle;
        }
    }
}

static void execute(const struct bundle *bundle)
{
    struct outcome outcome;
    store_execute(&run.world, run.primitives, bundle, ROW_NONE, &outcome);
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED);
    world_keep(&run.world);
}

/* CUT of the first decision, as its request has it while the re-review is on its way. */
static void cut_of_first(void)
{
    struct bundle *cut = &sent[CUT_1].bundle;
    struct actor actor;
    const struct role *role = protocol_role(&run.rules, 1);
    struct outcome claimed = {.kind = OUTCOME_COMMITTED};
    int64_t *message = claimed.message + 1;
    const struct bundle *review = &sent[REVIEW_1].bundle;
    message[REQUEST_PHASE] = PHASE_REVIEW;
    message[REQUEST_ENTRY] = pipeline_entry_id(0, 0);
    message[REQUEST_STATUS] = STATUS_MARKED;
    message[REQUEST_RESULT] = DECISION_APPROVE;
    message[REQUEST_NUMBER] = 1;
    for (int i = 0; i < review->count; i++) {
        if (review->calls[i].primitive == PRIMITIVE_ADD_REVIEW) {
            message[REQUEST_ROW] = review->params[review->calls[i].params];
        }
    }
    protocol_begin(&actor, &run.rules, 1);
    role->take(&actor, &run.rules, &claimed);
    role->take(&actor, &run.rules, &(struct outcome){.kind = OUTCOME_COMMITTED});
    role->next(&actor, &run.rules, cut); /* hands on: the re-review and the CUT */
    const struct call *asks = &cut->calls[cut->count - 1];
    memcpy(claimed.message, &cut->params[asks->params], (1 + MESSAGE_VISIBLE_AT) * sizeof *message);
    protocol_begin(&actor, &run.rules, 1);
    role->take(&actor, &run.rules, &claimed);
    role->next(&actor, &run.rules, cut);
    cr_assert_eq(cut->name, BUNDLE_CUT);
}

/* An entry whose first review is committed; the bundles as the sabotage, if any, sends them. */
static void make(const char *name)
{
    struct error error;
    cr_assert(scenario_parse(race, strlen(race), "race", &scenario, &error), "%s", error.text);
    cr_assert(name == NULL || sabotage_find(name, &sabotage));
    cr_assert(run_make(&run, &scenario, NULL));
    run.observer = keep_bundle;
    struct choice_source calm = choice_listed(NULL);
    cr_assert_eq(run_once(&run, &calm)->verdict, RUN_HELD);
    cut_of_first();
    sabotage_primitives(name == NULL ? NULL : &sabotage, run.primitives);
    struct sabotage_memory memory = {0};
    if (name != NULL) {
        sabotage_bundle(&sabotage, &memory, &run.actors[1].performer.actor, &sent[REVIEW_2].bundle);
    }
    world_reset(&run.world);
    run_begin_oracle(&run);
    sessions_begin(&sessions, &run.world, run.primitives, &session_postgresql, 2);
}

static void mark(void)
{
    struct actor actor;
    struct bundle bundle;
    struct outcome claimed = {.kind = OUTCOME_COMMITTED};
    claimed.message[1 + REQUEST_PHASE] = PHASE_MARK;
    claimed.message[1 + REQUEST_ENTRY] = pipeline_entry_id(0, 0);
    claimed.message[1 + REQUEST_SOURCE] = 1;
    protocol_begin(&actor, &run.rules, 1);
    protocol_role(&run.rules, 1)->take(&actor, &run.rules, &claimed);
    protocol_role(&run.rules, 1)->next(&actor, &run.rules, &bundle);
    execute(&bundle);
    execute(&sent[REVIEW_1].bundle);
}

/* To the end; false: it failed. The oracles judge what it committed. */
static bool finish(unsigned who, struct oracle_verdict *verdict)
{
    enum session_state state = (enum session_state)sessions.each[who].state;
    while (state == SESSION_OPEN ||
           (state == SESSION_WAITS && session_waits_for(&sessions, who) == 0)) {
        state = session_operation(&sessions, who);
    }
    size_t mark = world_mark(&run.world);
    bool done = state == SESSION_DONE && session_apply(&sessions, who);
    if (done && verdict != NULL) {
        *verdict = run.oracle.monitors->commit(
            &run.oracle, &run.world.rows, &run.world.changes[mark], run.world.change_count - mark);
    }
    session_end(&sessions, who, mark);
    return done;
}

/* The re-review holds the lock; CUT waits for it, and has its snapshot already. */
static struct outcome race_cut_against_rereview(struct oracle_verdict *verdict)
{
    mark();
    session_begin(&sessions, 0, &sent[REVIEW_2].bundle, ROW_NONE);
    session_operation(&sessions, 0);
    session_begin(&sessions, 1, &sent[CUT_1].bundle, ROW_NONE);
    cr_assert_eq(session_operation(&sessions, 1), SESSION_WAITS, "for the advisory lock");
    cr_assert(finish(0, verdict));
    cr_expect_not(verdict->broken, "%s", verdict->why);
    finish(1, verdict);
    struct outcome outcome = sessions.each[1].outcome;
    run_free(&run);
    return outcome;
}

Test(pipeline, a_cut_that_waited_for_a_rereview_fails_with_40001)
{
    PROVES(CLAUSE_CUT_15, CLAUSE_CUT_16, CLAUSE_CUT_17);
    SETTLES(ERRATUM_CUT_11);
    struct oracle_verdict verdict = oracle_fine();
    make(NULL);
    struct outcome outcome = race_cut_against_rereview(&verdict);
    cr_expect_eq(outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(outcome.aborted, ABORT_SERIALIZATION);
    cr_expect_not(verdict.broken);
}

Test(pipeline, a_rereview_that_does_not_write_the_entry_lets_cut_commit_on_what_it_superseded)
{
    PROVES(CLAUSE_CUT_8);
    SETTLES(ERRATUM_CUT_11);
    struct oracle_verdict verdict = oracle_fine();
    make("review-without-entry-write");
    struct outcome outcome = race_cut_against_rereview(&verdict);
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED, "no 40001");
    cr_expect_eq(verdict.clause, CLAUSE_CUT_8, "%s", verdict.why);
}

Test(pipeline, phases_of_one_entry_wait_for_each_other)
{
    PROVES(CLAUSE_CUT_16);
    struct oracle_verdict verdict = oracle_fine();
    make(NULL);
    mark();
    session_begin(&sessions, 0, &sent[CUT_1].bundle, ROW_NONE);
    session_operation(&sessions, 0);
    session_begin(&sessions, 1, &sent[REVIEW_2].bundle, ROW_NONE);
    cr_assert_eq(session_operation(&sessions, 1), SESSION_WAITS);
    cr_expect(finish(0, &verdict), "the CUT");
    cr_expect_not(verdict.broken, "%s", verdict.why);
    cr_expect_not(finish(1, NULL), "the re-review finds another status");
    cr_expect_eq(sessions.each[1].outcome.refusal, REFUSED_STATUS);
    run_free(&run);
}

/* ---- two CUTs that sign after the last of their lane (E-CUT-19) ------------------------------ */

static const char chain[] = "name: chain\nprotocol: pipeline\nworkers: 1\n"
                            "entries: {left: {}, right: {}}\nchain: global\n";

/* What a run without faults commits before it cuts, and the two CUTs. */
static struct bundle before[16], cuts[2];
static size_t before_count, cut_count;

static void keep_chain(void *context, const struct run_event *event)
{
    (void)context;
    if (event->turn != RUN_TRANSACTION) {
        return;
    }
    if (event->bundle->name == BUNDLE_MARK || event->bundle->name == BUNDLE_REVIEW) {
        cr_assert_lt(before_count, COUNT(before));
        before[before_count++] = *event->bundle;
    } else if (event->bundle->name == BUNDLE_CUT && cut_count < COUNT(cuts)) {
        cuts[cut_count++] = *event->bundle;
    }
}

/* Both look for the last signature before either has signed. True: both commit. */
static bool race_cuts(enum isolation isolation, struct oracle_verdict *verdict)
{
    struct error error;
    cr_assert(scenario_parse(chain, strlen(chain), "chain", &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, NULL));
    run.observer = keep_chain;
    struct choice_source calm = choice_listed(NULL);
    cr_assert_eq(run_once(&run, &calm)->verdict, RUN_HELD);
    cr_assert_eq(cut_count, 2U);
    world_reset(&run.world);
    run_begin_oracle(&run);
    sessions_begin(&sessions, &run.world, run.primitives, &session_postgresql, 2);
    for (size_t b = 0; b < before_count; b++) {
        execute(&before[b]);
    }
    for (unsigned who = 0; who < 2; who++) {
        cuts[who].isolation = (uint8_t)isolation;
        session_begin(&sessions, who, &cuts[who], ROW_NONE);
        while (session_operation(&sessions, who) == SESSION_OPEN) {
        }
    }
    bool both = finish(0, verdict) && !verdict->broken;
    return finish(1, verdict) && both;
}

Test(pipeline, two_cuts_that_nothing_else_joins_are_kept_apart_by_serializable)
{
    PROVES(CLAUSE_CUT_17, CLAUSE_CUT_32);
    SETTLES(ERRATUM_CUT_19);
    struct oracle_verdict verdict = oracle_fine();
    cr_expect_not(race_cuts(SERIALIZABLE, &verdict));
    cr_expect_not(verdict.broken, "%s", verdict.why);
    cr_expect_eq(sessions.each[1].outcome.aborted, ABORT_SERIALIZATION);
    run_free(&run);
}

Test(pipeline, two_cuts_at_read_committed_fork_the_chain)
{
    PROVES(CLAUSE_CUT_32);
    SETTLES(ERRATUM_CUT_19);
    struct oracle_verdict verdict = oracle_fine();
    cr_expect(race_cuts(READ_COMMITTED, &verdict));
    cr_expect(verdict.broken);
    cr_expect_eq(verdict.clause, CLAUSE_CUT_32, "%s", verdict.why);
    run_free(&run);
}

/* ---- everybody at once ----------------------------------------------------------------------- */

/* What runs of a scenario came to, without what was made to happen. */
struct tally {
    uint32_t commits, refused, forbidden;
    uint32_t aborts[ABORT_CLASS_COUNT];
    uint32_t most[PRINCIPAL_COUNT]; /* connections that were in use at a time */
};

static void count(void *context, const struct run_event *event)
{
    struct tally *tally = context;
    for (int p = PRINCIPAL_NONE; p < PRINCIPAL_COUNT; p++) {
        uint32_t used = sessions_connected(run.sessions, (enum principal)p);
        tally->most[p] = used > tally->most[p] ? used : tally->most[p];
    }
    if (event->turn != RUN_TRANSACTION || event->fault != FAULT_NONE) {
        return;
    }
    const struct outcome *outcome = event->outcome;
    tally->commits += event->committed;
    tally->refused += outcome->kind == OUTCOME_REFUSED;
    tally->forbidden += outcome->kind == OUTCOME_REFUSED && outcome->refusal == REFUSED_FORBIDDEN;
    tally->aborts[outcome->kind == OUTCOME_ABORTED ? outcome->aborted : ABORT_NONE]++;
}

/* The seed that breaks a promise, or one more than the last. */
static uint64_t run_seeds(uint64_t seeds, struct tally *tally)
{
    *tally = (struct tally){0};
    run.observer = count;
    run.observer_context = tally;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct choice_source source = choice_random(seed, &scenario.faults);
        if (run_once(&run, &source)->verdict != RUN_HELD) {
            return seed;
        }
    }
    return seeds + 1;
}

static void load(const char *name, const struct sabotage *planted)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, planted));
}

Test(pipeline, every_promise_holds_where_statements_interleave, .timeout = 120)
{
    PROVES(CLAUSE_CUT_8, CLAUSE_CUT_15, CLAUSE_CUT_16, CLAUSE_CUT_18);
    SETTLES(ERRATUM_CUT_5, ERRATUM_CUT_13, ERRATUM_CUT_15);
    static const char *const names[] = {"pipeline", "pipeline-people", "pipeline-race",
                                        "pipeline-crowd", "pipeline-chain"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct tally tally;
        load(names[i], NULL);
        cr_expect_eq(run_seeds(3000, &tally), 3001U, "%s: %s", names[i], run.result.breach.why);
        fprintf(stderr, "%s: %u commits, %u refused, 40001 %u times, 40P01 %u, 53300 %u\n",
                names[i], tally.commits, tally.refused, tally.aborts[ABORT_SERIALIZATION],
                tally.aborts[ABORT_DEADLOCK], tally.aborts[ABORT_CONNECTIONS]);
        cr_expect_gt(tally.aborts[ABORT_CONNECTIONS], 10U, "%s: connections ran out", names[i]);
        cr_expect_gt(tally.aborts[ABORT_SERIALIZATION], 10U, "%s: phases met", names[i]);
        cr_expect_eq(tally.most[PRINCIPAL_EXEC], 2U, "%s", names[i]);
        cr_expect_leq(tally.most[PRINCIPAL_VERIFY], 2U, "%s", names[i]);
        cr_expect_gt(tally.most[PRINCIPAL_NONE], 2U, "%s: the queue has no such limit", names[i]);
        cr_expect_eq(tally.forbidden, 0U, "%s", names[i]);
        run_free(&run);
    }
}

Test(pipeline, connections_are_as_many_as_the_scenario_says)
{
    PROVES(CLAUSE_CUT_18);
    static const char alone[] = "name: alone\nprotocol: pipeline\nworkers: 3\nconnections: 1\n"
                                "entries: {raced: {reviews: [approve, approve]}}\n";
    struct error error;
    struct tally tally;
    cr_assert(scenario_parse(alone, strlen(alone), "alone", &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, NULL));
    cr_expect_eq(run_seeds(300, &tally), 301U, "%s", run.result.breach.why);
    cr_expect_gt(tally.aborts[ABORT_CONNECTIONS], 0U);
    cr_expect_eq(tally.most[PRINCIPAL_EXEC], 1U);
    cr_expect_eq(tally.most[PRINCIPAL_VERIFY], 1U);
    run_free(&run);
}

/* Lock and compare-and-set, both (E-CUT-5): the comparison may be a read before the write, as long
 * as there is the lock, which is what the lock is worth alone; without the two a status is written
 * over. That the lock is there at all is not asked here. */
Test(pipeline, the_lock_alone_holds_where_a_status_is_read_and_then_set, .timeout = 120)
{
    PROVES(CLAUSE_CUT_16);
    SETTLES(ERRATUM_CUT_5);
    struct tally tally;
    static struct primitive read_then_set[SABOTAGE_TABLE_SIZE];
    cr_assert(sabotage_find("pipeline-neither-lock-nor-cas", &sabotage));
    sabotage_primitives(&sabotage, read_then_set);
    cr_assert_eq(read_then_set[PRIMITIVE_MOVE].op_count, 2);
    load("pipeline-race", NULL);
    memcpy(run.primitives, read_then_set, sizeof run.primitives);
    cr_expect_eq(run_seeds(3000, &tally), 3001U, "%s", run.result.breach.why);
    run_free(&run);
    load("pipeline-race", &sabotage);
    run.oracle.off[CLAUSE_CUT_16] = true;
    cr_expect_leq(run_seeds(1000, &tally), 1000U, "no lock, no comparison");
    cr_expect(run.result.breach.clause == CLAUSE_CUT_15 ||
                  run.result.breach.clause == CLAUSE_CUT_27,
              "%s", run.result.breach.why);
    run_free(&run);
}

/* Each move of the status graph is to be reached by a scenario whose campaign asks for it (CUT-25),
 * and what a campaign asks for its runs do: else its gate would be shut for ever. */
Test(pipeline, campaigns_ask_for_every_move_of_the_status_graph_and_see_it)
{
    PROVES(CLAUSE_CUT_25);
    SETTLES(ERRATUM_CUT_20);
    static const char *const names[] = {"pipeline", "pipeline-crowd", "pipeline-storm"};
    bool asked[COVER_COUNT] = {false};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct tally tally;
        bool reaches = false;
        load(names[i], NULL);
        for (size_t r = 0; r < scenario.reaches_count; r++) {
            reaches = reaches || scenario.reaches[r] == CLAUSE_CUT_25;
        }
        cr_expect(reaches, "%s", names[i]);
        run_seeds(1000, &tally);
        for (int s = COVER_STATUS_NONE_MARKED; s <= COVER_STATUS_COMPLETE_ESCALATED; s++) {
            bool asks = run.part->can_see(&scenario, (enum oracle_cover)s);
            cr_expect(!asks || run.oracle.seen[s] > 0, "%s: %s", names[i],
                      oracle_cover_text((enum oracle_cover)s));
            asked[s] = asked[s] || asks;
        }
        run_free(&run);
    }
    for (int s = COVER_STATUS_NONE_MARKED; s <= COVER_STATUS_COMPLETE_ESCALATED; s++) {
        cr_expect(asked[s], "%s", oracle_cover_text((enum oracle_cover)s));
    }
}

/* What is listed as equivalent because something else holds is so here, too. */
Test(pipeline, no_equivalent_breaks_a_promise_where_statements_interleave, .timeout = 120)
{
    static const char *const names[] = {"pipeline-race", "pipeline", "pipeline-people"};
    for (size_t i = 0; i < COUNT(names) * sabotage_count(); i++) {
        struct tally tally;
        sabotage_get(i / COUNT(names), &sabotage);
        if (sabotage.protocol != &protocol_pipeline || sabotage.equivalent == NULL) {
            continue;
        }
        load(names[i % COUNT(names)], &sabotage);
        cr_expect_eq(run_seeds(200, &tally), 201U, "%s: %s", sabotage.name, run.result.breach.why);
        run_free(&run);
    }
}

Test(pipeline, a_phase_of_the_wrong_principal_is_refused_and_found)
{
    PROVES(CLAUSE_CUT_11);
    SETTLES(ERRATUM_CUT_14, ERRATUM_CUT_16);
    struct tally tally;
    cr_assert(sabotage_find("pipeline-verifier-is-executor", &sabotage));
    load("pipeline-pair", &sabotage);
    cr_assert_leq(run_seeds(10, &tally), 10U);
    cr_expect_gt(tally.forbidden, 0U);
    cr_expect_eq(run.result.breach.clause, CLAUSE_CUT_11, "%s", run.result.breach.why);
    run_free(&run);
}

/* ---- trespasses ------------------------------------------------------------------------------ */

#define TRESPASSES 21 /* that there are */

static int tried_count;
static struct {
    uint8_t principal, primitive;
    int64_t third; /* what tells the signatures apart */
} tried[TRESPASSES + 1];

static void note_trespass(const struct bundle *bundle)
{
    int64_t third = bundle->calls[0].primitive == PRIMITIVE_SIGN ? bundle->params[2] : 0;
    int at = 0;
    while (at < tried_count &&
           (tried[at].principal != bundle->principal ||
            tried[at].primitive != bundle->calls[0].primitive || tried[at].third != third)) {
        at++;
    }
    cr_assert(at <= TRESPASSES);
    tried[at].principal = bundle->principal;
    tried[at].primitive = bundle->calls[0].primitive;
    tried[at].third = third;
    tried_count = at == tried_count ? at + 1 : tried_count;
}

/* Refused for want of a right, and for nothing else: the caller, whom no grant binds, may. */
static void check_trespass(void *context, const struct run_event *event)
{
    (void)context;
    if (event->turn != RUN_TRANSACTION || event->bundle->name != BUNDLE_TRESPASS) {
        return;
    }
    cr_expect_eq(event->outcome->kind, OUTCOME_REFUSED);
    cr_expect_eq(event->outcome->refusal, REFUSED_FORBIDDEN);
    note_trespass(event->bundle);
    struct bundle allowed = *event->bundle;
    struct outcome outcome;
    allowed.principal = PRINCIPAL_NONE;
    size_t mark = world_mark(&run.world);
    store_execute(&run.world, run.primitives, &allowed, ROW_NONE, &outcome);
    bool acks = allowed.calls[0].primitive == PRIMITIVE_ACK; /* others may have claimed it since */
    cr_expect(outcome.kind == OUTCOME_COMMITTED || acks, "%s: %d",
              primitive_table[allowed.calls[0].primitive].name, outcome.refusal);
    world_undo(&run.world, mark);
}

/* (TP1) */
Test(pipeline, every_trespass_is_refused_by_the_grants_alone, .timeout = 120)
{
    PROVES(CLAUSE_CUT_11, CLAUSE_CUT_24);
    struct error error;
    static const char calm[] = "name: trespass\nprotocol: pipeline\nworkers: 2\n"
                               "entries: {plain: {}}\n"
                               "faults: {illegal: 1/3}\nlimits: {illegals: 20}\n";
    cr_assert(scenario_parse(calm, strlen(calm), "trespass", &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, NULL));
    run.observer = check_trespass;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct choice_source drawn = choice_random(seed, &scenario.faults);
        cr_assert_eq(run_once(&run, &drawn)->verdict, RUN_HELD);
    }
    cr_expect_eq(tried_count, TRESPASSES);
}
