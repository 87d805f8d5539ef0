/* The durable seq ledger: what its engines decide, and its monitors with breaches planted. The rows
 * are a few tables in memory, written by hand. */
#include "model/identity.h"
#include "model/oracle/oracle.h"
#include "model/oracle/seq.h"
#include "model/protocol.h"
#include "model/seq.h"
#include "model/tests/golden.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "model/tests/rules.h"

#define FINE CLAUSE_COUNT

extern const struct monitors monitors_seq;

static struct rules rules = {
    .protocol = &protocol_seq,
    .actors = 5,
    .cast = {SEQ_DISPATCHER, SEQ_WORKER, SEQ_RECLAIMER, SEQ_CANCELLER, SEQ_COMMITTER},
    .jobs = 6,
    .timeout = 20,
    .put_back = 7};
OWN_RULES(rules, seq_plan, .retryable = SEQ_PLAN_RETRYABLE, .budget = 2, .fate_count = 6,
          .fates = {SEQ_FATE_SUCCESS, SEQ_FATE_SKIP, SEQ_FATE_RETRY, SEQ_FATE_EXHAUST,
                    SEQ_FATE_FATAL, SEQ_FATE_CANCEL})

/* ---- decisions ------------------------------------------------------------------------------- */

Test(seq, what_a_run_comes_to_is_a_function_of_the_seq_and_the_attempt)
{
    static const struct {
        uint32_t number;
        int64_t attempt;
        enum seq_state state;
        uint32_t fail_class;
    } cases[] = {
        {0, 0, SEQ_SUCCESS, 0},
        {1, 0, SEQ_SKIP, 0},
        {2, 0, SEQ_FAIL, SEQ_CLASS_TRANSIENT},
        {2, 1, SEQ_SUCCESS, 0},
        {3, 0, SEQ_FAIL, SEQ_CLASS_TRANSIENT},
        {3, 7, SEQ_FAIL, SEQ_CLASS_TRANSIENT},
        {4, 0, SEQ_FAIL, SEQ_CLASS_PERMANENT},
        {5, 0, SEQ_FAIL, SEQ_CLASS_TRANSIENT},
        {5, 1, SEQ_SUCCESS, 0},
        {6, 0, SEQ_SUCCESS, 0}, /* the first fate again */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct seq_result_of_run run =
            seq_plan_result(RULES_OF(&rules, seq_plan), cases[i].number, cases[i].attempt);
        cr_expect_eq(run.state, cases[i].state, "case %zu", i);
        cr_expect_eq(run.fail_class, cases[i].fail_class, "case %zu", i);
    }
}

/* ---- engines --------------------------------------------------------------------------------- */

static struct actor actor;
static struct bundle sent;

static void begin_role(enum seq_role role)
{
    protocol_begin(&actor, &rules, (unsigned)role); /* the cast has each role at its number */
}

static enum bundle_name next(void)
{
    protocol_role(&rules, ACTOR_IS(&actor, seq_actor)->number)->next(&actor, &rules, &sent);
    return (enum bundle_name)sent.name;
}

static void answer(struct outcome outcome)
{
    protocol_role(&rules, ACTOR_IS(&actor, seq_actor)->number)->take(&actor, &rules, &outcome);
}

static struct outcome kind(enum outcome_kind outcome)
{
    return (struct outcome){.kind = (uint8_t)outcome, .now = 100};
}

/* A seq as it is when an actor looks, at t=100. */
struct sight {
    uint32_t number; /* 5 is the one to be cancelled */
    enum seq_state state;
    int64_t heartbeat, asked;
    bool waits; /* a FAIL: for its retry */
};

static bool is_found(const struct call *call, const struct sight *sight)
{
    const int64_t *params = &sent.params[call->params];
    bool unwanted = sight->number == 5;
    return params[0] == sight->state &&
           (call->primitive == PRIMITIVE_SEQ_UNWANTED
                ? unwanted && sight->asked < params[1]
                : params[1] == sight->waits && sight->heartbeat < 100 - params[2]);
}

/* The answer to a look if this is the only seq. */
static struct outcome look(const struct sight *sight)
{
    struct outcome outcome = kind(OUTCOME_COMMITTED);
    for (uint8_t i = 0; i < sent.count; i++) {
        int64_t *values = &outcome.values[sent.calls[i].values];
        if (is_found(&sent.calls[i], sight)) {
            values[0] = seq_id(sight->number);
            values[1] = sight->number;
            values[2] = sight->asked;
        }
    }
    return outcome;
}

static void sees(struct sight sight)
{
    cr_assert_eq(next(), BUNDLE_SEQ_LOOK);
    answer(look(&sight));
}

static struct outcome skipped(int call)
{
    struct outcome outcome = kind(OUTCOME_COMMITTED);
    outcome.skipped = (uint8_t)call;
    return outcome;
}

static struct outcome refused(enum refusal refusal)
{
    struct outcome outcome = kind(OUTCOME_REFUSED);
    outcome.refusal = (uint8_t)refusal;
    return outcome;
}

static bool is_idle(void)
{
    return protocol_role(&rules, ACTOR_IS(&actor, seq_actor)->number)->is_idle(&actor);
}

/* A worker with the lease of seq `number`, at its first attempt. */
static void holds(uint32_t number)
{
    begin_role(SEQ_WORKER);
    sees((struct sight){number, SEQ_DISPATCHED, 0, 0, false});
    cr_assert_eq(next(), BUNDLE_SEQ_TAKE);
    answer(kind(OUTCOME_COMMITTED));
}

static void beats(int count)
{
    for (int i = 0; i < count; i++) {
        cr_assert_eq(next(), BUNDLE_SEQ_BEAT);
        answer(kind(OUTCOME_COMMITTED));
    }
}

Test(seq, a_dispatcher_admits_all_then_dispatches_all_and_reads_what_it_does_not_know)
{
    SETTLES(ERRATUM_SEQ_11);
    begin_role(SEQ_DISPATCHER);
    const struct role *role = protocol_role(&rules, 0);
    for (uint32_t i = 0; i < rules.jobs; i++) {
        cr_assert_eq(next(), BUNDLE_SEQ_ADMIT);
        answer(kind(i == 2 ? OUTCOME_UNKNOWN : OUTCOME_COMMITTED));
        if (i == 2) { /* may be repeated */
            cr_assert_eq(next(), BUNDLE_SEQ_ADMIT);
            answer(kind(OUTCOME_COMMITTED));
        }
    }
    for (uint32_t i = 0; i < rules.jobs; i++) {
        cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH, "%u", i);
        cr_expect_not(role->is_done(&actor));
        answer(kind(i == 1 ? OUTCOME_UNKNOWN : i == 3 ? OUTCOME_ABORTED : OUTCOME_COMMITTED));
        if (i == 1) {
            struct outcome unseen = kind(OUTCOME_COMMITTED);
            cr_assert_eq(next(), BUNDLE_SEQ_READ);
            answer(unseen); /* state 0: it was lost */
            cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH);
            answer(kind(OUTCOME_UNKNOWN));
            cr_assert_eq(next(), BUNDLE_SEQ_READ);
            unseen.values[2] = SEQ_DISPATCHED;
            answer(unseen); /* it was not */
        } else if (i == 3) {
            cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH);
            protocol_restart(&actor, &rules, 0);
            cr_assert_eq(next(), BUNDLE_SEQ_READ);
            answer(kind(OUTCOME_COMMITTED));
            cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH);
            answer(kind(OUTCOME_COMMITTED));
        }
    }
    cr_expect(role->is_done(&actor));
    cr_expect_eq(role->due(&actor, &rules, &(struct glance){.now = 3}), PROTOCOL_NEVER);
}

Test(seq, a_worker_takes_ticks_and_reports_what_its_run_came_to)
{
    PROVES(CLAUSE_SEQ_9);
    SETTLES(ERRATUM_SEQ_6);
    static const struct {
        uint32_t number;
        int ticks;
        enum bundle_name report;
    } cases[] = {{0, 2, BUNDLE_SEQ_FINISH},
                 {1, 2, BUNDLE_SEQ_FINISH},
                 {2, 2, BUNDLE_SEQ_FAIL},
                 {4, 2, BUNDLE_SEQ_FAIL},
                 {5, 8, BUNDLE_SEQ_FAIL}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        holds(cases[i].number);
        beats(cases[i].ticks);
        cr_expect_eq(next(), cases[i].report, "case %zu", i);
        cr_expect_not(is_idle());
        answer(kind(OUTCOME_COMMITTED));
        cr_expect(is_idle());
    }
}

Test(seq, a_heartbeat_that_is_lost_is_not_repeated_and_one_without_the_lease_ends_the_work)
{
    PROVES(CLAUSE_SEQ_19);
    holds(0);
    cr_assert_eq(next(), BUNDLE_SEQ_BEAT);
    answer(kind(OUTCOME_UNKNOWN));
    cr_assert_eq(next(), BUNDLE_SEQ_BEAT);
    answer(kind(OUTCOME_ABORTED));
    cr_assert_eq(next(), BUNDLE_SEQ_FINISH);
    holds(0);
    cr_assert_eq(next(), BUNDLE_SEQ_BEAT);
    answer(skipped(2));
    cr_expect(is_idle());
}

Test(seq, a_worker_that_does_not_know_reads_whose_the_lease_is)
{
    SETTLES(ERRATUM_SEQ_3, ERRATUM_SEQ_11);
    holds(0);
    beats(2);
    cr_assert_eq(next(), BUNDLE_SEQ_FINISH);
    int64_t own = sent.params[sent.calls[1].params + 1];
    answer(kind(OUTCOME_ABORTED));
    cr_assert_eq(next(), BUNDLE_SEQ_FINISH);
    answer(kind(OUTCOME_UNKNOWN));
    cr_assert_eq(next(), BUNDLE_SEQ_READ);
    answer(kind(OUTCOME_UNKNOWN));
    cr_assert_eq(next(), BUNDLE_SEQ_READ);
    struct outcome mine = kind(OUTCOME_COMMITTED);
    mine.values[0] = own;
    answer(mine);
    cr_assert_eq(next(), BUNDLE_SEQ_FINISH, "it was lost");
    answer(kind(OUTCOME_UNKNOWN));
    cr_assert_eq(next(), BUNDLE_SEQ_READ);
    answer(kind(OUTCOME_COMMITTED)); /* owner 0: it was applied, or reclaimed */
    cr_expect(is_idle());
    protocol_restart(&actor, &rules, SEQ_WORKER);
    sees((struct sight){0, SEQ_DISPATCHED, 0, 0, false});
    cr_assert_eq(next(), BUNDLE_SEQ_TAKE);
    cr_expect_neq(sent.params[sent.calls[4].params + 1], own, "another incarnation");
    answer(skipped(2));
    cr_expect(is_idle());
}

Test(seq, who_looks_does_what_its_role_does_with_what_it_sees)
{
    PROVES(CLAUSE_SEQ_10, CLAUSE_SEQ_15);
    SETTLES(ERRATUM_SEQ_8);
    static const struct {
        enum seq_role role;
        struct sight sight;
        enum bundle_name then;
    } cases[] = {
        {SEQ_WORKER, {1, SEQ_DISPATCHED, 0, 0, false}, BUNDLE_SEQ_TAKE},
        {SEQ_WORKER, {1, SEQ_IN_FLIGHT, 0, 0, false}, BUNDLE_SEQ_LOOK},
        {SEQ_RECLAIMER, {4, SEQ_IN_FLIGHT, 80, 0, false}, BUNDLE_SEQ_RECLAIM},
        {SEQ_RECLAIMER, {4, SEQ_IN_FLIGHT, 81, 0, false}, BUNDLE_SEQ_LOOK},
        {SEQ_RECLAIMER, {4, SEQ_DISPATCHED, 1, 0, false}, BUNDLE_SEQ_LOOK},
        {SEQ_RECLAIMER, {4, SEQ_FAIL, 99, 0, true}, BUNDLE_SEQ_RETRY},
        {SEQ_RECLAIMER, {4, SEQ_FAIL, 99, 0, false}, BUNDLE_SEQ_LOOK},
        {SEQ_CANCELLER, {5, SEQ_DISPATCHED, 0, 0, false}, BUNDLE_SEQ_CANCEL},
        {SEQ_CANCELLER, {4, SEQ_DISPATCHED, 0, 0, false}, BUNDLE_SEQ_LOOK},
        {SEQ_CANCELLER, {5, SEQ_IN_FLIGHT, 90, 0, false}, BUNDLE_SEQ_ASK},
        {SEQ_CANCELLER, {5, SEQ_IN_FLIGHT, 90, 94, false}, BUNDLE_SEQ_LOOK},
        {SEQ_CANCELLER, {5, SEQ_IN_FLIGHT, 90, 93, false}, BUNDLE_SEQ_FORCE},
        {SEQ_CANCELLER, {5, SEQ_UNSEEN, 0, 0, false}, BUNDLE_SEQ_LOOK},
        {SEQ_COMMITTER, {2, SEQ_SKIP, 0, 0, false}, BUNDLE_SEQ_COMMIT},
        {SEQ_COMMITTER, {2, SEQ_FAIL, 0, 0, false}, BUNDLE_SEQ_COMMIT},
        {SEQ_COMMITTER, {2, SEQ_FAIL, 0, 0, true}, BUNDLE_SEQ_LOOK},
        {SEQ_COMMITTER, {2, SEQ_IN_FLIGHT, 0, 0, false}, BUNDLE_SEQ_LOOK},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_role(cases[i].role);
        cr_assert_eq(next(), BUNDLE_SEQ_LOOK);
        answer(kind(OUTCOME_UNKNOWN)); /* nothing was seen */
        sees(cases[i].sight);
        cr_expect_eq(next(), cases[i].then, "case %zu", i);
        cr_expect_eq(is_idle(), cases[i].then == BUNDLE_SEQ_LOOK);
    }
}

/* A look is a few rows of an index, however many seqs there are (SEQ-17). */
Test(seq, a_look_finds_the_next_seq_and_reads_no_other)
{
    PROVES(CLAUSE_SEQ_17);
    static const int finds[] = {
        [SEQ_WORKER] = 1, [SEQ_RECLAIMER] = 2, [SEQ_CANCELLER] = 2, [SEQ_COMMITTER] = 4};
    for (int role = SEQ_WORKER; role <= SEQ_COMMITTER; role++) {
        begin_role((enum seq_role)role);
        cr_assert_eq(next(), BUNDLE_SEQ_LOOK);
        cr_expect_eq(sent.count, finds[role], "role %d", role);
        for (uint8_t i = 0; i < sent.count; i++) {
            const struct primitive *primitive = &primitive_table[sent.calls[i].primitive];
            int found = 0;
            for (uint8_t o = 0; o < primitive->op_count; o++) {
                found += primitive->ops[o].kind == OP_FIND;
            }
            cr_expect_eq(found, 1, "%s", primitive->name);
        }
    }
}

Test(seq, who_serves_looks_again_and_a_commit_is_repeated)
{
    PROVES(CLAUSE_SEQ_7);
    begin_role(SEQ_RECLAIMER);
    sees((struct sight){0, SEQ_IN_FLIGHT, 1, 0, false});
    cr_assert_eq(next(), BUNDLE_SEQ_RECLAIM);
    answer(kind(OUTCOME_ABORTED));
    cr_assert_eq(next(), BUNDLE_SEQ_RECLAIM);
    answer(kind(OUTCOME_UNKNOWN));
    cr_expect(is_idle());
    begin_role(SEQ_COMMITTER);
    sees((struct sight){0, SEQ_SUCCESS, 1, 0, false});
    cr_assert_eq(next(), BUNDLE_SEQ_COMMIT);
    answer(kind(OUTCOME_UNKNOWN));
    cr_assert_eq(next(), BUNDLE_SEQ_COMMIT);
    answer(kind(OUTCOME_COMMITTED));
    cr_expect(is_idle());
}

/* ---- illegal moves --------------------------------------------------------------------------- */

/* A parameter of the first call of the primitive. */
static int64_t param(enum primitive_id primitive, int index)
{
    for (int i = 0; i < sent.count; i++) {
        if (sent.calls[i].primitive == primitive) {
            return sent.params[sent.calls[i].params + index];
        }
    }
    cr_assert_fail("%s is not there", primitive_table[primitive].name);
    return 0;
}

/* The answer of a transaction in which the contract failed Stage1. */
static struct outcome failed(void)
{
    struct outcome outcome = skipped(sent.count - 1);
    for (int i = 0; i < sent.count; i++) {
        if (sent.calls[i].primitive == PRIMITIVE_SEQ_CONTRACT) {
            outcome.values[sent.calls[i].values + 4] = 1;
        }
    }
    return outcome;
}

Test(seq, an_illegal_move_is_one_transaction_that_asks_the_contract_with_its_facts)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_15);
    begin_role(SEQ_COMMITTER);
    seq_err(&actor, 3, SEQ_SUCCESS, SEQ_SKIP);
    cr_expect_not(is_idle());
    cr_assert_eq(next(), BUNDLE_SEQ_ATTEMPT);
    cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 2), SEQ_SKIP);
    cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 3), 1 << SEQ_IN_FLIGHT,
                 "where a skip may come from");
    cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 5), 0, "only what is committed has its event out");
    cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 6), 4, "the seq, plus 1");
    answer(kind(OUTCOME_ABORTED));
    cr_assert_eq(next(), BUNDLE_SEQ_ATTEMPT);
    answer(kind(OUTCOME_UNKNOWN));
    cr_assert_eq(next(), BUNDLE_SEQ_ATTEMPT);
    answer(failed());
    cr_expect(is_idle(), "nothing is left to be told");
    seq_err(&actor, 3, SEQ_SUCCESS, SEQ_SKIP);
    cr_assert_eq(next(), BUNDLE_SEQ_ATTEMPT);
    answer(skipped(2)); /* overtaken */
    cr_expect(is_idle());
    seq_err(&actor, 3, SEQ_SUCCESS, SEQ_SKIP);
    protocol_restart(&actor, &rules, SEQ_COMMITTER);
    cr_expect_eq(next(), BUNDLE_SEQ_LOOK, "nothing is remembered");
}

Test(seq, an_actor_that_learns_that_stage1_has_failed_stops_and_remembers_nothing)
{
    PROVES(CLAUSE_SEQ_20);
    holds(0);
    cr_assert_eq(next(), BUNDLE_SEQ_BEAT);
    answer(refused(REFUSED_HALTED));
    cr_expect(is_idle());
    begin_role(SEQ_DISPATCHER);
    for (uint32_t i = 0; i < rules.jobs; i++) {
        next();
        answer(kind(OUTCOME_COMMITTED));
    }
    cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH);
    answer(refused(REFUSED_HALTED));
    cr_expect(protocol_role(&rules, 0)->is_done(&actor));
    protocol_restart(&actor, &rules, 0);
    cr_assert_eq(next(), BUNDLE_SEQ_READ, "who comes back has to find it out");
    answer(kind(OUTCOME_COMMITTED));
    cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH);
    answer(refused(REFUSED_HALTED));
    cr_expect(protocol_role(&rules, 0)->is_done(&actor));
}

/* Every move asks the contract, and ends the work of who made it if the contract says no. */
Test(seq, no_move_goes_past_the_contract)
{
    PROVES(CLAUSE_SEQ_3);
    static const struct {
        enum seq_role role;
        struct sight sight;
        int64_t to, from;
    } cases[] = {
        {SEQ_WORKER, {1, SEQ_DISPATCHED, 1, 0, false}, SEQ_IN_FLIGHT, 1 << SEQ_DISPATCHED},
        {SEQ_RECLAIMER, {1, SEQ_IN_FLIGHT, 1, 0, false}, SEQ_FAIL, 1 << SEQ_IN_FLIGHT},
        {SEQ_RECLAIMER, {1, SEQ_FAIL, 1, 0, true}, SEQ_DISPATCHED, 1 << SEQ_UNSEEN | 1 << SEQ_FAIL},
        {SEQ_CANCELLER,
         {5, SEQ_DISPATCHED, 1, 0, false},
         SEQ_CANCEL,
         1 << SEQ_DISPATCHED | 1 << SEQ_IN_FLIGHT},
        {SEQ_CANCELLER,
         {5, SEQ_IN_FLIGHT, 1, 1, false},
         SEQ_CANCEL,
         1 << SEQ_DISPATCHED | 1 << SEQ_IN_FLIGHT},
        {SEQ_COMMITTER, {1, SEQ_CANCEL, 1, 0, false}, SEQ_COMMITTED, 15 << SEQ_SUCCESS},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_role(cases[i].role);
        sees(cases[i].sight);
        next();
        cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 2), cases[i].to, "case %zu", i);
        cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 3), cases[i].from, "case %zu", i);
        cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 5), cases[i].to == SEQ_COMMITTED);
        answer(failed());
        cr_expect(is_idle(), "case %zu", i);
    }
    holds(0);
    beats(2);
    cr_assert_eq(next(), BUNDLE_SEQ_FINISH);
    cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 2), SEQ_SUCCESS);
    answer(failed());
    cr_expect(is_idle());
    begin_role(SEQ_DISPATCHER);
    for (uint32_t i = 0; i < rules.jobs; i++) {
        next();
        answer(kind(OUTCOME_COMMITTED));
    }
    cr_assert_eq(next(), BUNDLE_SEQ_DISPATCH);
    cr_expect_eq(param(PRIMITIVE_SEQ_CONTRACT, 3), 1 << SEQ_UNSEEN | 1 << SEQ_FAIL);
    answer(failed());
    cr_expect(protocol_role(&rules, 0)->is_done(&actor));
}

/* ---- rows by hand ---------------------------------------------------------------------------- */

static struct hand hand;
static struct oracle oracle;
static int64_t ghosts[4096];

#define OWNER  41
#define STAGE  1
#define SEQ    100 /* its seq; number 0 */
#define EVENT  200
#define STRIPE 300

static void put(enum row_table table, int64_t key, const int64_t *values)
{
    hand_put(&hand, table, key, values);
}

static int64_t cell(enum row_table table, int column)
{
    return row_get(&hand.rows, table, 0, column);
}

static void set(enum row_table table, int column, int64_t value)
{
    hand_set(&hand, table, row_key(&hand.rows, table, 0), column, value);
}

static void more(enum row_table table, int column, int64_t value)
{
    set(table, column, cell(table, column) + value);
}

static const char *said; /* by the last commit that was told */

static enum clause_id tell(void)
{
    struct oracle_verdict verdict =
        monitors_seq.commit(&oracle, &hand.rows, hand.changes, hand.count);
    hand.count = 0;
    said = verdict.why;
    return verdict.broken ? verdict.clause : FINE;
}

/* Counters follow the state, so that only what is planted breaks. */
static void count(int64_t state, int64_t sign)
{
    static const int column[] = {-1,
                                 SEQ_TALLY_DISPATCHED,
                                 SEQ_TALLY_IN_FLIGHT,
                                 SEQ_TALLY_TERMINAL,
                                 SEQ_TALLY_TERMINAL,
                                 SEQ_TALLY_TERMINAL,
                                 SEQ_TALLY_TERMINAL,
                                 SEQ_TALLY_COMMITTED};
    if (column[state] >= 0) {
        more(TABLE_SEQ_TALLY, column[state], sign);
    }
}

static void move(int64_t to)
{
    count(cell(TABLE_SEQ, SEQ_STATE), -1);
    set(TABLE_SEQ, SEQ_STATE, to);
    count(to, 1);
    more(TABLE_SEQ, SEQ_MOVE_COUNT, 1);
}

static void emit(int64_t state)
{
    put(TABLE_SEQ_EVENT, EVENT, (int64_t[]){SEQ, state, 1});
}

static void take_lease(int64_t owner, int64_t now)
{
    move(SEQ_IN_FLIGHT);
    set(TABLE_SEQ, SEQ_OWNER, owner);
    set(TABLE_SEQ, SEQ_HEARTBEAT, now);
    set(TABLE_SEQ, SEQ_BEAT_BY, owner);
    set(TABLE_SEQ, SEQ_BEAT_RUN, cell(TABLE_SEQ, SEQ_ATTEMPTS));
}

static void end_run(int64_t owner, int64_t run)
{
    set(TABLE_SEQ, SEQ_OWNER, 0);
    set(TABLE_SEQ, SEQ_CANCEL_AT, 0);
    set(TABLE_SEQ, SEQ_ENDED_BY, owner);
    set(TABLE_SEQ, SEQ_ENDED_RUN, run);
}

static void revoke(int64_t now)
{
    set(TABLE_SEQ, SEQ_OWNER, 0);
    set(TABLE_SEQ, SEQ_CANCEL_AT, 0);
    set(TABLE_SEQ, SEQ_ENDED_BY, 0);
    set(TABLE_SEQ, SEQ_ENDED_AT, now);
}

/* Clauses that are switched off; no work outside rows is told here: test_oracle_journal.c. */
static bool off[CLAUSE_COUNT] = {[CLAUSE_SEQ_22] = true};

/* Monitors, and no rows. */
static void begin_monitors(void)
{
    hand_begin(&hand);
    memset(ghosts, 0, sizeof ghosts);
    oracle = (struct oracle){.monitors = NULL};
    cr_assert_leq(oracle_cells(&monitors_seq, &hand.rows), COUNT(ghosts));
    oracle_begin(&oracle, &monitors_seq, &hand.rows, ghosts);
    memcpy(oracle.off, off, sizeof off);
    cr_assert_eq(tell(), FINE, "nothing is set up");
}

/* A stage that is drilled, a stripe, and one seq, UNSEEN. */
static void begin_rows(void)
{
    begin_monitors();
    put(TABLE_STAGE, STAGE, (int64_t[]){20, 7, 3, 1, 1, 0, -1, -1, 0, 0, 0});
    put(TABLE_SEQ_TALLY, STRIPE, (int64_t[SEQ_TALLY_COLUMNS]){0});
    put(TABLE_SEQ, SEQ, (int64_t[SEQ_COLUMNS]){0});
    cr_assert_eq(tell(), FINE);
}

/* The run is ended by its owner. */
static void finish(int64_t end, int64_t class)
{
    move(end);
    set(TABLE_SEQ, SEQ_FAIL_CLASS, class);
    end_run(OWNER, 0);
    emit(end);
}

/* On the way to a state. */
static void reach(int64_t state)
{
    begin_rows();
    if (state == SEQ_UNSEEN) {
        return;
    }
    move(SEQ_DISPATCHED);
    cr_assert_eq(tell(), FINE);
    if (state == SEQ_DISPATCHED) {
        return;
    }
    if (state == SEQ_CANCEL) {
        move(SEQ_CANCEL);
        emit(SEQ_CANCEL);
        cr_assert_eq(tell(), FINE);
        return;
    }
    take_lease(OWNER, 10);
    cr_assert_eq(tell(), FINE);
    if (state == SEQ_IN_FLIGHT) {
        return;
    }
    finish(state == SEQ_COMMITTED ? SEQ_SUCCESS : state,
           state == SEQ_FAIL ? SEQ_CLASS_PERMANENT : 0);
    cr_assert_eq(tell(), FINE);
    if (state == SEQ_COMMITTED) {
        move(SEQ_COMMITTED);
        cr_assert_eq(tell(), FINE);
    }
}

/* A failure that waits for its retry, and its retry. */
static void fail_to_retry(int64_t class)
{
    move(SEQ_FAIL);
    set(TABLE_SEQ, SEQ_FAIL_CLASS, class);
    set(TABLE_SEQ, SEQ_RETRY, 1);
}

static void retry(void)
{
    move(SEQ_DISPATCHED);
    more(TABLE_SEQ, SEQ_ATTEMPTS, 1);
    set(TABLE_SEQ, SEQ_RETRY, 0);
}

/* What a stripe says of a token that no longer stands, and of an expectation that was overtaken. */
static void late(int64_t run, int64_t result)
{
    more(TABLE_SEQ_TALLY, SEQ_TALLY_LATE, 1);
    more(TABLE_SEQ_TALLY, SEQ_TALLY_RESULTS, result);
    set(TABLE_SEQ_TALLY, SEQ_TALLY_OF, SEQ);
    set(TABLE_SEQ_TALLY, SEQ_TALLY_AS, run);
}

static void stale(int64_t expected)
{
    more(TABLE_SEQ_TALLY, SEQ_TALLY_STALE, 1);
    set(TABLE_SEQ_TALLY, SEQ_TALLY_OF, SEQ);
    set(TABLE_SEQ_TALLY, SEQ_TALLY_AS, expected);
}

/* ---- monitors -------------------------------------------------------------------------------- */

Test(seq_rows, every_path_through_the_ledger_is_fine_and_seen)
{
    PROVES(CLAUSE_SEQ_2, CLAUSE_SEQ_9, CLAUSE_SEQ_10, CLAUSE_SEQ_14, CLAUSE_SEQ_15);
    SETTLES(ERRATUM_SEQ_1, ERRATUM_SEQ_2, ERRATUM_SEQ_10);
    uint64_t seen[COVER_COUNT] = {0};
    for (int64_t state = SEQ_UNSEEN; state <= SEQ_COMMITTED; state++) {
        reach(state);
        if (state >= SEQ_SUCCESS && state <= SEQ_CANCEL) {
            move(SEQ_COMMITTED);
            cr_assert_eq(tell(), FINE);
            more(TABLE_SEQ_TALLY, SEQ_TALLY_REPEATED, 1);
            cr_assert_eq(tell(), FINE);
        }
        for (int i = 0; i < COVER_COUNT; i++) {
            seen[i] += oracle.seen[i];
        }
    }
    reach(SEQ_IN_FLIGHT);
    set(TABLE_SEQ, SEQ_HEARTBEAT, 29);
    cr_assert_eq(tell(), FINE);
    set(TABLE_SEQ, SEQ_HEARTBEAT, 30);
    cr_assert_eq(tell(), FINE, "kept beyond its first term");
    set(TABLE_SEQ, SEQ_CANCEL_AT, 31);
    cr_assert_eq(tell(), FINE);
    fail_to_retry(0);
    revoke(50);
    cr_assert_eq(tell(), FINE, "the failure rests, and emits nothing");
    retry();
    cr_assert_eq(tell(), FINE);
    stale(SEQ_STATES); /* ... and a second reclaimer comes too late */
    cr_assert_eq(tell(), FINE);
    stale(SEQ_IN_FLIGHT); /* who would have cancelled the run by force comes too late */
    cr_assert_eq(tell(), FINE);
    take_lease(OWNER + 1, 51);
    cr_assert_eq(tell(), FINE);
    for (int result = 0; result < 2; result++) { /* the first owner wakes up */
        late(0, result);
        cr_assert_eq(tell(), FINE);
    }
    stale(SEQ_DISPATCHED); /* another actor wanted it, too */
    cr_assert_eq(tell(), FINE);
    move(SEQ_FAIL);
    revoke(71);
    emit(SEQ_FAIL);
    cr_assert_eq(tell(), FINE, "exhausted");
    for (int i = 0; i < COVER_COUNT; i++) {
        seen[i] += oracle.seen[i];
    }
    reach(SEQ_IN_FLIGHT);
    set(TABLE_SEQ, SEQ_CANCEL_AT, 12);
    cr_assert_eq(tell(), FINE);
    move(SEQ_CANCEL);
    revoke(19);
    emit(SEQ_CANCEL);
    cr_assert_eq(tell(), FINE);
    for (int i = COVER_SEQ_MOVE_1; i < COVER_COUNT; i++) {
        bool illegal = (i >= COVER_SEQ_ILLEGAL_00 && i < COVER_SEQ_COMMIT_AGAIN) ||
                       i == COVER_SEQ_COMMIT_EARLY || i == COVER_SEQ_FINAL;
        bool by_store = i == COVER_SEQ_LEASE_READ;
        cr_expect(seen[i] + oracle.seen[i] > 0 || illegal || by_store, "%s",
                  oracle_cover_text((enum oracle_cover)i));
    }
}

/* The journal tells them apart: a heartbeat that its worker was told of came before the work. */
Test(seq_rows, a_late_result_is_not_counted_as_a_heartbeat)
{
    PROVES(CLAUSE_SEQ_12);
    static const struct {
        bool worked, result, answered;
        enum clause_id clause;
    } cases[] = {{true, false, true, CLAUSE_SEQ_12},
                 {true, true, true, FINE},
                 {false, false, true, FINE},
                 {true, false, false, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(SEQ_IN_FLIGHT);
        if (cases[i].worked) {
            const struct side_effect work = {.what = SEQ, .claim = OWNER, .epoch = 0};
            monitors_seq.effect(&oracle, &hand.rows, &work);
        }
        fail_to_retry(0);
        revoke(50);
        cr_assert_eq(tell(), FINE);
        late(0, cases[i].result);
        const struct observed seen = {.ended = OBSERVED_COMMITTED, .answered = cases[i].answered};
        struct oracle_verdict verdict =
            monitors_seq.transaction(&oracle, &hand.rows, &seen, hand.changes, hand.count);
        cr_expect_eq(verdict.broken ? verdict.clause : FINE, cases[i].clause, "case %zu", i);
    }
}

static void latch(int64_t prior, int64_t attempted, int64_t owner)
{
    set(TABLE_STAGE, STAGE_SEQ, 1);
    set(TABLE_STAGE, STAGE_PRIOR, prior);
    set(TABLE_STAGE, STAGE_ATTEMPTED, attempted);
    set(TABLE_STAGE, STAGE_OWNER, owner);
    set(TABLE_STAGE, STAGE_WALL, 40);
    set(TABLE_STAGE, STAGE_MOVE, cell(TABLE_SEQ, SEQ_MOVE_COUNT));
    more(TABLE_SEQ_TALLY, SEQ_TALLY_ILLEGAL, 1);
    more(TABLE_SEQ_TALLY, SEQ_TALLY_DRILLS, 1);
}

static int64_t on_record(void)
{
    int64_t owner = cell(TABLE_SEQ, SEQ_OWNER);
    return owner != 0 ? owner : cell(TABLE_SEQ, SEQ_ENDED_BY);
}

Test(seq_rows, each_of_the_51_illegal_moves_may_halt_stage1_and_none_may_be_made)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_7);
    SETTLES(ERRATUM_SEQ_5, ERRATUM_SEQ_15);
    int illegal = 0;
    for (int64_t from = 0; from < SEQ_STATES; from++) {
        for (int64_t to = 0; to < SEQ_STATES; to++) {
            bool legal =
                seq_rules_pair((enum seq_state)from, (enum seq_state)to) != SEQ_PAIR_ILLEGAL;
            bool retries = from == SEQ_FAIL && to == SEQ_DISPATCHED; /* of a resting failure */
            reach(from);
            latch(from, to, on_record());
            enum clause_id clause = tell();
            cr_expect_eq(clause, legal && !retries ? CLAUSE_SEQ_3 : FINE, "%d>%d", (int)from,
                         (int)to);
            cr_expect_eq(oracle.seen[COVER_SEQ_FINAL], retries);
            if (legal || from == to) {
                continue;
            }
            illegal++;
            reach(from);
            move(to);
            cr_expect_neq(tell(), FINE, "%d>%d", (int)from, (int)to);
        }
    }
    cr_expect_eq(illegal, 44, "and 7 that lead nowhere");
}

/* A failure that waits may be retried, and not committed; one that is final the other way round. */
Test(seq_rows, what_a_failure_may_do_depends_on_whether_its_event_is_out)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_6);
    SETTLES(ERRATUM_SEQ_2);
    for (int waits = 0; waits < 2; waits++) {
        for (int commits = 0; commits < 2; commits++) {
            reach(SEQ_IN_FLIGHT);
            if (waits) {
                fail_to_retry(1);
                end_run(OWNER, 0);
            } else {
                finish(SEQ_FAIL, SEQ_CLASS_PERMANENT);
            }
            cr_assert_eq(tell(), FINE);
            latch(SEQ_FAIL, commits ? SEQ_COMMITTED : SEQ_DISPATCHED, OWNER);
            cr_expect_eq(tell(), waits == commits ? FINE : CLAUSE_SEQ_3, "%d, %d", waits, commits);
        }
    }
}

Test(seq_rows, a_report_that_is_not_true_or_not_whole_is_a_breach)
{
    static const struct {
        int column;
        int64_t value;
        enum clause_id clause;
    } cases[] = {
        {STAGE_SEQ, 9, CLAUSE_SEQ_4},           {STAGE_PRIOR, -1, CLAUSE_SEQ_4},
        {STAGE_PRIOR, 3, CLAUSE_SEQ_4},         {STAGE_PRIOR, 0, CLAUSE_SEQ_4},
        {STAGE_OWNER, OWNER + 1, CLAUSE_SEQ_4}, {STAGE_ATTEMPTED, 8, CLAUSE_SEQ_4},
        {STAGE_OWNER, 0, CLAUSE_SEQ_4},         {STAGE_WALL, 0, CLAUSE_SEQ_4},
        {STAGE_MOVE, 9, CLAUSE_SEQ_4},          {STAGE_MOVE, 0, CLAUSE_SEQ_4},
        {STAGE_MOVE, 1, CLAUSE_SEQ_4},          {STAGE_LEASE, 9, CLAUSE_SEQ_11},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(SEQ_IN_FLIGHT);
        latch(SEQ_IN_FLIGHT, SEQ_IN_FLIGHT, OWNER);
        set(TABLE_STAGE, cases[i].column, cases[i].value);
        cr_expect_eq(tell(), cases[i].clause, "case %zu", i);
    }
    reach(SEQ_IN_FLIGHT);
    set(TABLE_STAGE, STAGE_DRILL, 0);
    tell();
    begin_rows();
    hand.cells[TABLE_STAGE][1 + STAGE_DRILL] = 0;
    latch(SEQ_UNSEEN, SEQ_SKIP, 0);
    cr_expect_eq(tell(), CLAUSE_SEQ_3, "nobody attempts illegal moves here");
}

/* The lease clock shows 40, and the wall clock 1000 to 1007 while the transaction lasts. */
Test(seq_rows, a_report_has_the_time_of_the_wall_clock)
{
    PROVES(CLAUSE_SEQ_4);
    static const struct {
        int64_t told, from, to;
        enum clause_id clause;
    } cases[] = {
        {1000, 1000, 1007, FINE},        {1007, 1000, 1007, FINE},
        {999, 1000, 1007, CLAUSE_SEQ_4}, {1008, 1000, 1007, CLAUSE_SEQ_4},
        {40, 1000, 1007, CLAUSE_SEQ_4},  {40, 0, 0, FINE}, /* the store does not know */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(SEQ_IN_FLIGHT);
        latch(SEQ_IN_FLIGHT, SEQ_IN_FLIGHT, OWNER);
        set(TABLE_STAGE, STAGE_WALL, cases[i].told);
        const struct observed seen = {.client = OBSERVED_NOBODY,
                                      .began = 40,
                                      .wall_from = cases[i].from,
                                      .wall_to = cases[i].to};
        struct oracle_verdict verdict =
            monitors_seq.transaction(&oracle, &hand.rows, &seen, hand.changes, hand.count);
        cr_expect_eq(verdict.broken ? verdict.clause : FINE, cases[i].clause, "case %zu", i);
    }
}

Test(seq_rows, an_illegal_move_is_counted_and_fails_stage1_in_one_commit)
{
    PROVES(CLAUSE_SEQ_3);
    SETTLES(ERRATUM_SEQ_15);
    static const struct {
        int illegal, drills;
        bool latched, moved;
        enum clause_id clause;
    } cases[] = {
        {1, 1, true, false, FINE},
        {1, 1, false, false, CLAUSE_SEQ_3}, /* Stage1 does not fail */
        {0, 1, false, false, CLAUSE_SEQ_3}, /* it passed */
        {1, 0, true, false, CLAUSE_SEQ_3},  /* nobody drilled */
        {0, 0, true, false, CLAUSE_SEQ_3},  /* for nothing */
        {2, 2, true, false, CLAUSE_SEQ_3},  /* it fails at the first */
        {1, 1, true, true, CLAUSE_SEQ_3},   /* and it was made */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(SEQ_UNSEEN);
        if (cases[i].moved) {
            move(SEQ_DISPATCHED);
        }
        if (cases[i].latched) {
            latch(cell(TABLE_SEQ, SEQ_STATE), SEQ_SKIP, 0);
            more(TABLE_SEQ_TALLY, SEQ_TALLY_ILLEGAL, -1);
            more(TABLE_SEQ_TALLY, SEQ_TALLY_DRILLS, -1);
        }
        more(TABLE_SEQ_TALLY, SEQ_TALLY_ILLEGAL, cases[i].illegal);
        more(TABLE_SEQ_TALLY, SEQ_TALLY_DRILLS, cases[i].drills);
        cr_expect_eq(tell(), cases[i].clause, "case %zu", i);
    }
}

Test(seq_rows, a_refusal_is_counted_once_and_true_of_its_seq)
{
    PROVES(CLAUSE_SEQ_5, CLAUSE_SEQ_12);
    SETTLES(ERRATUM_SEQ_3, ERRATUM_SEQ_8);
    reach(SEQ_IN_FLIGHT);
    stale(SEQ_IN_FLIGHT);
    cr_expect_eq(tell(), CLAUSE_SEQ_5, "it is as expected");
    reach(SEQ_IN_FLIGHT);
    late(0, 1);
    cr_expect_eq(tell(), CLAUSE_SEQ_12, "the run goes on");
    for (int is_late = 0; is_late < 2; is_late++) {
        reach(SEQ_SUCCESS);
        if (is_late) {
            late(0, 0);
        } else {
            stale(SEQ_DISPATCHED);
        }
        set(TABLE_SEQ_TALLY, SEQ_TALLY_OF, 0);
        cr_expect_eq(tell(), is_late ? CLAUSE_SEQ_12 : CLAUSE_SEQ_5, "of no seq");
    }
    reach(SEQ_SUCCESS);
    set(TABLE_SEQ_TALLY, SEQ_TALLY_OF, SEQ);
    cr_expect_eq(tell(), CLAUSE_SEQ_12, "not counted");
    reach(SEQ_SUCCESS);
    late(0, 1);
    more(TABLE_SEQ_TALLY, SEQ_TALLY_STALE, 1);
    cr_expect_eq(tell(), CLAUSE_SEQ_12, "counted twice");
    reach(SEQ_SUCCESS);
    late(0, 1);
    cr_expect_eq(tell(), FINE);
    cr_expect_eq(oracle.seen[COVER_SEQ_LATE_RESULT], 1U);
    cr_expect_eq(oracle.seen[COVER_SEQ_RECLAIM_WON], 0U, "nobody reclaimed it");
}

Test(seq_rows, once_halted_nothing_moves_and_the_first_report_stays)
{
    PROVES(CLAUSE_SEQ_20);
    reach(SEQ_DISPATCHED);
    latch(SEQ_DISPATCHED, SEQ_COMMITTED, 0);
    cr_assert_eq(tell(), FINE);
    cr_expect_eq(oracle.seen[COVER_SEQ_COMMIT_EARLY], 1U);
    cr_assert_eq(tell(), FINE, "a look");
    cr_expect_not(oracle_rollback(&oracle, hand.changes, 0).broken);
    cr_expect_eq(oracle.evaluated[CLAUSE_SEQ_20], 2U);
    cr_expect_not(monitors_seq.settled(&oracle, &hand.rows, false).broken, "HALTED is an end");
    cr_expect_eq(oracle.evaluated[CLAUSE_SEQ_20], 3U, "also where nobody tries any more");
    set(TABLE_STAGE, STAGE_PRIOR, SEQ_UNSEEN);
    cr_expect_eq(tell(), CLAUSE_SEQ_20);
    more(TABLE_SEQ_TALLY, SEQ_TALLY_STALE, 1);
    cr_expect_eq(tell(), CLAUSE_SEQ_20, "who looks no further goes on");
    take_lease(OWNER, 10);
    cr_expect_eq(tell(), CLAUSE_SEQ_20);
    cr_expect_str_eq(said, "a seq moved after Stage1 had failed");
}

/* ---- everything that a planted bug can leave in a seq that is in flight ---------------------- */

static void success_without_event(void)
{
    move(SEQ_SUCCESS);
    end_run(OWNER, 0);
}

static void event_of_another_state(void)
{
    success_without_event();
    emit(SEQ_SKIP);
}

static void second_event_row(void)
{
    success_without_event();
    emit(SEQ_SUCCESS);
    put(TABLE_SEQ_EVENT, EVENT + 1, (int64_t[]){SEQ, SEQ_SUCCESS, 1});
}

static void event_counted_twice(void)
{
    success_without_event();
    put(TABLE_SEQ_EVENT, EVENT, (int64_t[]){SEQ, SEQ_SUCCESS, 2});
}

static void event_never_counted(void)
{
    success_without_event();
    put(TABLE_SEQ_EVENT, EVENT, (int64_t[]){SEQ, SEQ_SUCCESS, 0});
}

static void event_of_an_earlier_state(void)
{
    move(SEQ_SKIP);
    end_run(OWNER, 0);
    emit(SEQ_SUCCESS);
}

static void success_by_another_token(void)
{
    move(SEQ_SUCCESS);
    end_run(OWNER + 1, 0);
    emit(SEQ_SUCCESS);
}

static void success_by(int64_t owner, int64_t run)
{
    move(SEQ_SUCCESS);
    end_run(owner, run);
    emit(SEQ_SUCCESS);
}

static void success_by_a_lower_token(void)
{
    success_by(OWNER - 1, 0);
}

static void success_of_a_later_run(void)
{
    success_by(OWNER, 1);
}

static void success_of_no_run(void)
{
    success_by(OWNER, -1);
}

static void success_keeps_token(void)
{
    success_without_event();
    set(TABLE_SEQ, SEQ_OWNER, OWNER);
    emit(SEQ_SUCCESS);
}

static void reclaimed_too_early(void)
{
    fail_to_retry(0);
    revoke(29);
}

static void reclaimed_with_another_class(void)
{
    fail_to_retry(1);
    revoke(30);
}

static void retry_that_is_due_not_granted(void)
{
    move(SEQ_FAIL);
    revoke(30);
    emit(SEQ_FAIL);
}

static void retry_not_counted(void)
{
    fail_to_retry(1);
    end_run(OWNER, 0);
    tell();
    retry();
    more(TABLE_SEQ, SEQ_ATTEMPTS, -1);
}

static void retry_in_one_commit(void)
{
    fail_to_retry(1);
    end_run(OWNER, 0);
    retry();
}

static void retry_of_any_class(void)
{
    fail_to_retry(SEQ_CLASS_PERMANENT);
    end_run(OWNER, 0);
}

static void event_before_the_retry(void)
{
    fail_to_retry(1);
    end_run(OWNER, 0);
    emit(SEQ_FAIL);
}

static void retry_after_the_event(void)
{
    finish(SEQ_FAIL, SEQ_CLASS_PERMANENT);
    tell();
    retry();
}

static void commit_instead_of_the_retry(void)
{
    fail_to_retry(1);
    end_run(OWNER, 0);
    tell();
    move(SEQ_COMMITTED);
    set(TABLE_SEQ, SEQ_RETRY, 0);
}

static void success_that_waits_for_a_retry(void)
{
    finish(SEQ_SUCCESS, 0);
    set(TABLE_SEQ, SEQ_RETRY, 1);
}

static void retry_refused_that_was_due(void)
{
    fail_to_retry(1);
    end_run(OWNER, 0);
    tell();
    stale(SEQ_STATES);
}

static void class_that_does_not_exist(void)
{
    fail_to_retry(99);
    end_run(OWNER, 0);
}

static void class_behind_the_last_one(void)
{
    fail_to_retry(ORACLE_SEQ_CLASSES);
    end_run(OWNER, 0);
}

static void forced_without_being_asked(void)
{
    move(SEQ_CANCEL);
    revoke(90);
    emit(SEQ_CANCEL);
}

static void move_not_counted(void)
{
    move(SEQ_SUCCESS);
    more(TABLE_SEQ, SEQ_MOVE_COUNT, -1);
    end_run(OWNER, 0);
    emit(SEQ_SUCCESS);
}

static void write_without_a_move(void)
{
    set(TABLE_SEQ, SEQ_FAIL_CLASS, 1);
}

static void lease_in_other_hands(void)
{
    set(TABLE_SEQ, SEQ_OWNER, OWNER + 1);
}

static void heartbeat_by_another(void)
{
    set(TABLE_SEQ, SEQ_HEARTBEAT, 15);
    set(TABLE_SEQ, SEQ_BEAT_BY, OWNER + 1);
}

static void counter_wrong(void)
{
    more(TABLE_SEQ_TALLY, SEQ_TALLY_TERMINAL, 1);
}

static void refused_and_moved(void)
{
    success_without_event();
    emit(SEQ_SUCCESS);
    late(0, 1);
}

static void overtaken_and_moved(void)
{
    success_by(OWNER, 0);
    stale(SEQ_DISPATCHED);
}

static void repeated_and_moved(void)
{
    success_by(OWNER, 0);
    more(TABLE_SEQ_TALLY, SEQ_TALLY_REPEATED, 1);
}

static void refusal_told_and_not_counted(void)
{
    set(TABLE_SEQ_TALLY, SEQ_TALLY_AS, SEQ_SUCCESS);
}

static void result_told_and_not_counted(void)
{
    more(TABLE_SEQ_TALLY, SEQ_TALLY_RESULTS, 1);
}

static void unwanted_all_of_a_sudden(void)
{
    set(TABLE_SEQ, SEQ_UNWANTED, 1);
}

static void another_seq(void)
{
    set(TABLE_SEQ, SEQ_NUMBER, 5);
}

static void state_that_does_not_exist(void)
{
    set(TABLE_SEQ, SEQ_STATE, 8);
}

static void row_gone(void)
{
    hand_note(&hand, TABLE_SEQ, 0, ROW_DELETED, 0, 0);
}

static void heartbeat_of_nobody(void)
{
    set(TABLE_SEQ, SEQ_HEARTBEAT, 0);
}

static void more_moves_than_there_are(void)
{
    move(SEQ_SUCCESS);
    move(SEQ_SKIP);
    move(SEQ_SUCCESS);
    move(SEQ_SKIP);
    move(SEQ_SUCCESS);
}

static void second_event_without_a_move(void)
{
    success_without_event();
    emit(SEQ_SUCCESS);
    tell();
    more(TABLE_SEQ_EVENT, SEQ_EVENT_RUNS, 1);
}

/* What else can be wrong */

static void ask_to_end(int64_t at)
{
    set(TABLE_SEQ, SEQ_CANCEL_AT, at);
    cr_assert_eq(tell(), FINE);
}

static void forced_a_tick_too_early(void)
{
    ask_to_end(12);
    move(SEQ_CANCEL);
    revoke(18);
    emit(SEQ_CANCEL);
}

static void forced_and_told_as_its_owners(void)
{
    ask_to_end(12);
    move(SEQ_CANCEL);
    revoke(19);
    set(TABLE_SEQ, SEQ_ENDED_BY, OWNER);
    emit(SEQ_CANCEL);
}

static void asked_to_end_again(void)
{
    ask_to_end(12);
    set(TABLE_SEQ, SEQ_CANCEL_AT, 13);
}

static void asked_to_end_before_it_runs(void)
{
    reach(SEQ_DISPATCHED);
    set(TABLE_SEQ, SEQ_CANCEL_AT, 12);
}

static void event_taken_back(void)
{
    reach(SEQ_SUCCESS);
    hand_note(&hand, TABLE_SEQ_EVENT, 0, ROW_DELETED, 0, 0);
}

static void not_born_unseen(void)
{
    put(TABLE_SEQ, SEQ + 1, (int64_t[SEQ_COLUMNS]){1});
    put(TABLE_SEQ_EVENT, EVENT + 1, (int64_t[]){SEQ + 1, 0, 1});
}

static void born_and_moved(void)
{
    put(TABLE_SEQ, SEQ + 1, (int64_t[SEQ_COLUMNS]){1});
    hand_set(&hand, TABLE_SEQ, SEQ + 1, SEQ_STATE, SEQ_DISPATCHED);
    count(SEQ_DISPATCHED, 1);
}

static void taken_with(int column, int64_t value)
{
    reach(SEQ_DISPATCHED);
    take_lease(OWNER, 10);
    set(TABLE_SEQ, column, value);
}

static void taken_with_the_heartbeat_of_another(void)
{
    taken_with(SEQ_BEAT_BY, OWNER + 1);
}

static void taken_with_the_heartbeat_of_nobody(void)
{
    taken_with(SEQ_BEAT_BY, 0);
}

static void taken_with_the_heartbeat_of_a_later_run(void)
{
    taken_with(SEQ_BEAT_RUN, 1);
}

static void taken_with_the_heartbeat_of_no_run(void)
{
    taken_with(SEQ_BEAT_RUN, -1);
}

static void taken_without_a_heartbeat(void)
{
    taken_with(SEQ_HEARTBEAT, 0);
}

static void cancel_outlives_its_run(void)
{
    fail_to_retry(0);
    revoke(30);
    set(TABLE_SEQ, SEQ_CANCEL_AT, 12);
}

#define PLANT(how, clause)                                                                         \
    {                                                                                              \
#how, how, clause                                                                          \
    }

static const struct {
    const char *name;
    void (*plant)(void);
    enum clause_id clause;
} planted[] = {
    PLANT(success_without_event, CLAUSE_SEQ_6),
    PLANT(event_of_another_state, CLAUSE_SEQ_6),
    PLANT(second_event_row, CLAUSE_SEQ_6),
    PLANT(event_counted_twice, CLAUSE_SEQ_6),
    PLANT(event_never_counted, CLAUSE_SEQ_6),
    PLANT(event_of_an_earlier_state, CLAUSE_SEQ_6),
    PLANT(success_by_another_token, CLAUSE_SEQ_12),
    PLANT(success_by_a_lower_token, CLAUSE_SEQ_12),
    PLANT(success_of_a_later_run, CLAUSE_SEQ_12),
    PLANT(success_of_no_run, CLAUSE_SEQ_12),
    PLANT(success_keeps_token, CLAUSE_SEQ_12),
    PLANT(reclaimed_too_early, CLAUSE_SEQ_10),
    PLANT(reclaimed_with_another_class, CLAUSE_SEQ_10),
    PLANT(retry_that_is_due_not_granted, CLAUSE_SEQ_11),
    PLANT(retry_not_counted, CLAUSE_SEQ_13),
    PLANT(retry_in_one_commit, CLAUSE_SEQ_3),
    PLANT(retry_of_any_class, CLAUSE_SEQ_13),
    PLANT(event_before_the_retry, CLAUSE_SEQ_6),
    PLANT(retry_after_the_event, CLAUSE_SEQ_6),
    PLANT(commit_instead_of_the_retry, CLAUSE_SEQ_6),
    PLANT(success_that_waits_for_a_retry, CLAUSE_SEQ_13),
    PLANT(retry_refused_that_was_due, CLAUSE_SEQ_5),
    PLANT(class_that_does_not_exist, CLAUSE_SEQ_10),
    PLANT(class_behind_the_last_one, CLAUSE_SEQ_10),
    PLANT(forced_without_being_asked, CLAUSE_SEQ_15),
    PLANT(move_not_counted, CLAUSE_SEQ_5),
    PLANT(write_without_a_move, CLAUSE_SEQ_5),
    PLANT(lease_in_other_hands, CLAUSE_SEQ_8),
    PLANT(heartbeat_by_another, CLAUSE_SEQ_19),
    PLANT(counter_wrong, CLAUSE_SEQ_16),
    PLANT(refused_and_moved, CLAUSE_SEQ_12),
    PLANT(overtaken_and_moved, CLAUSE_SEQ_5),
    PLANT(repeated_and_moved, CLAUSE_SEQ_7),
    PLANT(refusal_told_and_not_counted, CLAUSE_SEQ_12),
    PLANT(result_told_and_not_counted, CLAUSE_SEQ_12),
    PLANT(unwanted_all_of_a_sudden, CLAUSE_SEQ_5),
    PLANT(another_seq, CLAUSE_SEQ_5),
    PLANT(state_that_does_not_exist, CLAUSE_SEQ_3),
    PLANT(row_gone, CLAUSE_SEQ_3),
    PLANT(heartbeat_of_nobody, CLAUSE_SEQ_19),
    PLANT(more_moves_than_there_are, CLAUSE_SEQ_3),
    PLANT(second_event_without_a_move, CLAUSE_SEQ_6),
    PLANT(forced_a_tick_too_early, CLAUSE_SEQ_15),
    PLANT(forced_and_told_as_its_owners, CLAUSE_SEQ_15),
    PLANT(asked_to_end_again, CLAUSE_SEQ_15),
    PLANT(asked_to_end_before_it_runs, CLAUSE_SEQ_3),
    PLANT(event_taken_back, CLAUSE_SEQ_6),
    PLANT(not_born_unseen, CLAUSE_SEQ_3),
    PLANT(born_and_moved, CLAUSE_SEQ_3),
    PLANT(cancel_outlives_its_run, CLAUSE_SEQ_15),
    PLANT(taken_with_the_heartbeat_of_another, CLAUSE_SEQ_19),
    PLANT(taken_with_the_heartbeat_of_nobody, CLAUSE_SEQ_19),
    PLANT(taken_with_the_heartbeat_of_a_later_run, CLAUSE_SEQ_19),
    PLANT(taken_with_the_heartbeat_of_no_run, CLAUSE_SEQ_19),
    PLANT(taken_without_a_heartbeat, CLAUSE_SEQ_19),
};

Test(seq_rows, what_is_planted_in_a_run_breaks_its_promise)
{
    PROVES(CLAUSE_SEQ_5, CLAUSE_SEQ_6, CLAUSE_SEQ_8, CLAUSE_SEQ_11, CLAUSE_SEQ_12, CLAUSE_SEQ_13,
           CLAUSE_SEQ_15, CLAUSE_SEQ_16, CLAUSE_SEQ_19);
    SETTLES(ERRATUM_SEQ_2, ERRATUM_SEQ_3, ERRATUM_SEQ_4);
    for (size_t i = 0; i < COUNT(planted); i++) {
        reach(SEQ_IN_FLIGHT);
        planted[i].plant();
        enum clause_id clause = tell();
        cr_expect_eq(clause, planted[i].clause, "%s: %d", planted[i].name,
                     clause == FINE ? -1 : (int)clause);
    }
}

/* Everything that is said of each plant: the first sentence, then, with its clause switched off, the
 * next promise's, and so on. */
Test(seq_rows, every_plant_is_told_in_these_words)
{
    static struct golden golden;
    for (size_t i = 0; i < COUNT(planted); i++) {
        enum clause_id clause = CLAUSE_SEQ_22;
        golden_add(&golden, "%s\n", planted[i].name);
        memset(off, 0, sizeof off);
        while (clause != FINE) {
            off[clause] = true;
            reach(SEQ_IN_FLIGHT);
            planted[i].plant();
            clause = tell();
            golden_verdict(&golden, (struct oracle_verdict){clause != FINE, clause, said});
        }
    }
    golden_compare(&golden, "plants_of_the_seq_ledger.txt");
}

Test(seq_rows, a_heartbeat_that_a_rolled_back_transaction_leaves_breaks_seq_5)
{
    reach(SEQ_IN_FLIGHT);
    set(TABLE_SEQ, SEQ_HEARTBEAT, 15);
    cr_expect_not(oracle_rollback(&oracle, hand.changes, 0).broken);
    cr_expect_eq(oracle_rollback(&oracle, hand.changes, 1).clause, CLAUSE_SEQ_5);
    cr_expect_eq(oracle.spoke, ORACLE_SEQ_MOVES);
}

/* The memory of decisions tells apart what the policy alone would not: it is never asked twice with
 * another answer. */
/* Two failures of one class after as many attempts, of which one waits for its retry. */
struct equals {
    bool worker; /* ends them; else a reclaimer */
    bool waits;  /* the first one */
    int64_t attempt;
};

/* The policy changes where nobody looks. */
static void grant(const struct equals *of, bool waits)
{
    hand.cells[TABLE_STAGE][1 + STAGE_BUDGET] = waits ? of->attempt + 1 : of->attempt;
}

static void tell_first_failure(const struct equals *of)
{
    reach(SEQ_IN_FLIGHT);
    *hand_cell(&hand, TABLE_SEQ, SEQ, SEQ_ATTEMPTS) = of->attempt;
    grant(of, of->waits);
    move(SEQ_FAIL);
    set(TABLE_SEQ, SEQ_FAIL_CLASS, of->worker);
    if (of->worker) {
        end_run(OWNER, of->attempt);
    } else {
        revoke(30);
    }
    if (of->waits) {
        set(TABLE_SEQ, SEQ_RETRY, 1);
    } else {
        emit(SEQ_FAIL);
    }
    cr_assert_eq(tell(), FINE);
    put(TABLE_SEQ, SEQ + 1, (int64_t[SEQ_COLUMNS]){1});
    cr_assert_eq(tell(), FINE);
}

/* Told as if it had come this far. */
static struct oracle_verdict tell_second_failure(const struct equals *of)
{
    static const int columns[] = {SEQ_STATE, SEQ_RETRY, SEQ_MOVE_COUNT, SEQ_OWNER};
    static const int64_t before[] = {SEQ_IN_FLIGHT, 0, 0, OWNER};
    const int64_t row[SEQ_COLUMNS] = {
        [SEQ_NUMBER] = 1,
        [SEQ_STATE] = SEQ_FAIL,
        [SEQ_ATTEMPTS] = of->attempt,
        [SEQ_HEARTBEAT] = 10,
        [SEQ_RETRY] = !of->waits,
        [SEQ_MOVE_COUNT] = 1,
        [SEQ_FAIL_CLASS] = of->worker,
        [SEQ_ENDED_BY] = of->worker ? OWNER : 0,
        [SEQ_ENDED_RUN] = of->worker ? of->attempt : 0,
        [SEQ_ENDED_AT] = 30,
    };
    grant(of, !of->waits);
    memcpy(hand_cell(&hand, TABLE_SEQ, SEQ + 1, 0), row, sizeof row);
    for (size_t i = 0; i < COUNT(columns); i++) {
        hand_note(&hand, TABLE_SEQ, 1, ROW_UPDATED, columns[i], before[i]);
    }
    if (of->waits) {
        put(TABLE_SEQ_EVENT, EVENT + 1, (int64_t[]){SEQ + 1, SEQ_FAIL, 1});
    }
    return monitors_seq.commit(&oracle, &hand.rows, hand.changes, hand.count);
}

Test(seq_rows, of_two_equal_failures_both_or_none_is_retried)
{
    PROVES(CLAUSE_SEQ_11, CLAUSE_SEQ_18);
    static const struct equals cases[] = {
        {false, false, 0}, {true, false, 0},  {false, true, 0},
        {true, true, 0},   {true, false, 15}, /* the last attempt that is remembered */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tell_first_failure(&cases[i]);
        struct oracle_verdict verdict = tell_second_failure(&cases[i]);
        cr_expect_eq(verdict.clause, cases[i].worker ? CLAUSE_SEQ_18 : CLAUSE_SEQ_11);
        cr_expect_str_eq(verdict.why,
                         "of two equal failures one was retried and the other was not");
    }
}

Test(seq_rows, what_is_left_over_is_a_breach)
{
    PROVES(CLAUSE_SEQ_2, CLAUSE_SEQ_10);
    static const struct {
        int64_t state;
        bool quiet;
        enum clause_id clause;
        const char *why;
    } cases[] = {
        {SEQ_COMMITTED, true, FINE, ""},
        {SEQ_COMMITTED, false, CLAUSE_SEQ_2, "the work does not come to an end"},
        {SEQ_IN_FLIGHT, true, CLAUSE_SEQ_10, "an expired lease was never reclaimed"},
        {SEQ_DISPATCHED, true, CLAUSE_SEQ_2, "a seq was never brought to its end"},
        {SEQ_SUCCESS, true, CLAUSE_SEQ_2, "a seq that ended was never committed"},
        {SEQ_UNSEEN, true, CLAUSE_SEQ_2, "a seq was never brought to its end"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(cases[i].state);
        struct oracle_verdict verdict = monitors_seq.settled(&oracle, &hand.rows, cases[i].quiet);
        cr_expect_eq(verdict.broken ? verdict.clause : FINE, cases[i].clause, "case %zu", i);
        cr_expect_str_eq(verdict.why, cases[i].why);
    }
    reach(SEQ_IN_FLIGHT);
    fail_to_retry(1);
    end_run(OWNER, 0);
    cr_assert_eq(tell(), FINE);
    cr_expect_str_eq(monitors_seq.settled(&oracle, &hand.rows, true).why,
                     "a failure waits for a retry that is never made");
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

static struct expectation asked;

/* One seq whose work has this fate, under the policy of begin_rows. */
static void ask(enum expected_fate fate)
{
    asked = (struct expectation){
        .of.seq = {.jobs = 1, .budget = 1, .drill = true, .fates = 1, .fate = {(uint8_t)fate}}};
    oracle.expected = &asked;
}

Test(seq_rows, a_run_ends_as_its_work_reports)
{
    PROVES(CLAUSE_SEQ_21);
    static const struct {
        enum expected_fate fate;
        int64_t end, class;
        enum clause_id clause;
    } cases[] = {
        {EXPECTED_SUCCESS, SEQ_SUCCESS, 0, FINE},
        {EXPECTED_SUCCESS, SEQ_SKIP, 0, CLAUSE_SEQ_21},
        {EXPECTED_SKIP, SEQ_SKIP, 0, FINE},
        {EXPECTED_SKIP, SEQ_SUCCESS, 0, CLAUSE_SEQ_21},
        {EXPECTED_SKIP, SEQ_FAIL, SEQ_CLASS_PERMANENT, CLAUSE_SEQ_21},
        {EXPECTED_FATAL, SEQ_FAIL, SEQ_CLASS_PERMANENT, FINE},
        {EXPECTED_EXHAUST, SEQ_FAIL, SEQ_CLASS_PERMANENT, CLAUSE_SEQ_21},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(SEQ_IN_FLIGHT);
        ask(cases[i].fate);
        finish(cases[i].end, cases[i].class);
        cr_expect_eq(tell(), cases[i].clause, "case %zu", i);
    }
    reach(SEQ_IN_FLIGHT);
    ask(EXPECTED_FATAL);
    fail_to_retry(SEQ_CLASS_TRANSIENT);
    end_run(OWNER, 0);
    cr_expect_eq(tell(), CLAUSE_SEQ_21, "of a class that is retried");
}

Test(seq_rows, only_a_seq_that_is_to_be_cancelled_is)
{
    PROVES(CLAUSE_SEQ_21);
    static const enum expected_fate fates[] = {EXPECTED_SUCCESS, EXPECTED_CANCEL};
    for (size_t i = 0; i < COUNT(fates); i++) {
        enum clause_id clause = fates[i] == EXPECTED_CANCEL ? FINE : CLAUSE_SEQ_21;
        reach(SEQ_DISPATCHED);
        ask(fates[i]);
        move(SEQ_CANCEL);
        emit(SEQ_CANCEL);
        cr_expect_eq(tell(), clause, "fate %d: at once", (int)fates[i]);
        reach(SEQ_IN_FLIGHT);
        ask(fates[i]);
        set(TABLE_SEQ, SEQ_CANCEL_AT, 12);
        cr_expect_eq(tell(), clause, "fate %d: asked to end", (int)fates[i]);
    }
}

Test(seq_rows, every_seq_that_is_asked_for_is_admitted_once_under_the_policy_that_is)
{
    PROVES(CLAUSE_SEQ_21);
    static const struct {
        int64_t jobs, number;
        enum clause_id clause;
    } cases[] = {
        {2, 1, FINE}, {2, 0, CLAUSE_SEQ_21}, {1, 1, CLAUSE_SEQ_21}, {2, -1, CLAUSE_SEQ_21}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_rows();
        ask(EXPECTED_SUCCESS);
        asked.of.seq.jobs = cases[i].jobs;
        put(TABLE_SEQ, SEQ + 1, (int64_t[SEQ_COLUMNS]){[SEQ_NUMBER] = cases[i].number});
        cr_expect_eq(tell(), cases[i].clause, "case %zu", i);
    }
    for (int i = 0; i < 4; i++) {
        bool unwanted = i % 2 != 0, cancelled = i / 2 != 0;
        begin_rows();
        ask(cancelled ? EXPECTED_CANCEL : EXPECTED_SUCCESS);
        asked.of.seq.jobs = 2;
        put(TABLE_SEQ, SEQ + 1, (int64_t[SEQ_COLUMNS]){1, [SEQ_UNWANTED] = unwanted});
        cr_expect_eq(tell(), unwanted == cancelled ? FINE : CLAUSE_SEQ_21, "case %d", i);
    }
    static const int64_t policies[][5] = {{20, 7, 3, 1, 1}, {0, 7, 3, 1, 1},  {20, 0, 3, 1, 1},
                                          {20, 7, 1, 1, 1}, {20, 7, 7, 1, 1}, {20, 7, 3, 2, 1},
                                          {20, 7, 3, 0, 1}, {20, 7, 3, 1, 0}, {20, 7, 3, 1, 2}};
    for (size_t i = 0; i < COUNT(policies); i++) {
        const int64_t *policy = policies[i];
        begin_monitors();
        ask(EXPECTED_SUCCESS);
        put(TABLE_STAGE, STAGE,
            (int64_t[STAGE_COLUMNS]){policy[0], policy[1], policy[2], policy[3],
                                     policy[4], [STAGE_PRIOR] = -1, [STAGE_ATTEMPTED] = -1});
        cr_expect_eq(tell(), i == 0 ? FINE : CLAUSE_SEQ_21, "policy %zu", i);
    }
    for (int64_t jobs = 0; jobs <= 2; jobs++) {
        reach(SEQ_COMMITTED);
        ask(EXPECTED_SUCCESS);
        asked.of.seq.jobs = jobs;
        struct oracle_verdict verdict = monitors_seq.settled(&oracle, &hand.rows, true);
        cr_expect_eq(verdict.broken ? verdict.clause : FINE, jobs == 1 ? FINE : CLAUSE_SEQ_21);
    }
}

Test(seq_rows, stage1_begins_as_if_nothing_had_happened)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_16);
    for (int64_t seq = 0; seq <= 1; seq++) {
        begin_monitors();
        put(TABLE_STAGE, STAGE,
            (int64_t[STAGE_COLUMNS]){20, 7, 3, 1, 1,
                                     seq, [STAGE_PRIOR] = -1, [STAGE_ATTEMPTED] = -1});
        cr_expect_eq(tell(), seq == 0 ? FINE : CLAUSE_SEQ_3);
    }
    for (int column = -1; column < SEQ_TALLY_COLUMNS; column++) {
        int64_t stripe[SEQ_TALLY_COLUMNS] = {0};
        begin_rows();
        if (column >= 0) {
            stripe[column] = 1;
        }
        put(TABLE_SEQ_TALLY, 4711, stripe);
        bool illegal = column == SEQ_TALLY_ILLEGAL || column == SEQ_TALLY_DRILLS;
        enum clause_id clause = illegal ? CLAUSE_SEQ_3 : CLAUSE_SEQ_16;
        cr_expect_eq(tell(), column < 0 ? FINE : clause, "column %d", column);
    }
}

/* ---- when there is something to do ----------------------------------------------------------- */

Test(seq_rows, an_idle_actor_is_due_when_a_seq_needs_it)
{
    static const struct {
        enum seq_role role;
        int64_t state, due;
    } cases[] = {
        {SEQ_WORKER, SEQ_DISPATCHED, 0},
        {SEQ_WORKER, SEQ_IN_FLIGHT, PROTOCOL_NEVER},
        {SEQ_RECLAIMER, SEQ_IN_FLIGHT, 30},
        {SEQ_RECLAIMER, SEQ_FAIL, PROTOCOL_NEVER}, /* its event is out */
        {SEQ_COMMITTER, SEQ_FAIL, 0},
        {SEQ_COMMITTER, SEQ_COMMITTED, PROTOCOL_NEVER},
        {SEQ_CANCELLER, SEQ_IN_FLIGHT, PROTOCOL_NEVER},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_role(cases[i].role);
        reach(cases[i].state);
        const struct role *role = protocol_role(&rules, (unsigned)cases[i].role);
        struct glance glance = {.rows = &hand.rows, .now = 99};
        cr_expect_eq(role->due(&actor, &rules, &glance), cases[i].due, "case %zu", i);
        struct row_area *stage = &hand.rows.table[TABLE_STAGE]; /* as the engines name it */
        stage->cells[0] = seq_stage();
        memset(hand.index[TABLE_STAGE], 0, sizeof hand.index[TABLE_STAGE]);
        hand.index[TABLE_STAGE][(uint32_t)stage->cells[0] & stage->index_mask] = 1;
        stage->cells[1 + STAGE_SEQ] = 1;
        cr_expect_eq(role->due(&actor, &rules, &glance), PROTOCOL_NEVER, "halted");
        seq_err(&actor, 0, SEQ_UNSEEN, SEQ_UNSEEN);
        cr_expect_eq(role->due(&actor, &rules, &glance), 99, "busy");
    }
}
