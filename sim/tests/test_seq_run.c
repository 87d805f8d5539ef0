/* The durable seq ledger in runs: what its engines send is what the enumeration of planted bugs
 * knows, an illegal move ends a run HALTED whatever becomes of its answer, and equal inputs are
 * decided equally by the store, by the ledger in memory and by the oracle. */
#include "faults/sabotage.h"
#include "model/oracle/seq.h"
#include "model/reference/seq_memory.h"
#include "model/seq.h"
#include "model/tests/proves.h"
#include "sim/run.h"
#include "sim/store.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct scenario scenario;
static struct run run;

static void make(const char *name)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, NULL));
}

/* ---- what is sent ---------------------------------------------------------------------------- */

static bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];

static void note(void *context, const struct run_event *event)
{
    (void)context;
    for (int c = 0; event->turn == RUN_TRANSACTION && c < event->bundle->count; c++) {
        sent[event->bundle->name][event->bundle->calls[c].primitive] = true;
    }
}

Test(seq_run, the_enumeration_has_what_the_engines_send_and_nothing_else)
{
    static const char *const names[] = {"seq", "seq-illegal", "seq-grace"};
    for (size_t i = 0; i < COUNT(names); i++) {
        make(names[i]);
        run.observer = note;
        for (uint64_t seed = 1; seed <= 100; seed++) {
            struct choice_source source = choice_random(seed, &scenario.faults);
            cr_assert_eq(run_once(&run, &source)->verdict, RUN_HELD);
        }
        run_free(&run);
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int p = 0; p < PRIMITIVE_COUNT; p++) {
            cr_expect_eq(sabotage_knows(&protocol_seq, (enum bundle_name)b, (enum primitive_id)p),
                         sent[b][p], "%s, %s", bundle_name_text((enum bundle_name)b),
                         primitive_table[p].name);
        }
    }
}

/* ---- illegal moves --------------------------------------------------------------------------- */

/* What moved after the latch was set. */
struct watch {
    bool halted;
    uint32_t moved_after;
};

static void watch_latch(void *context, const struct run_event *event)
{
    struct watch *watch = context;
    for (size_t i = 0; event->committed && i < event->change_count; i++) {
        watch->moved_after += watch->halted && event->changes[i].table == TABLE_SEQ;
    }
    watch->halted = event->rows->table[TABLE_STAGE].used > 0 &&
                    row_get(event->rows, TABLE_STAGE, 0, STAGE_SEQ) != 0;
}

Test(seq_run, a_worker_that_attempts_an_illegal_move_ends_the_run_halted)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_4, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_15);
    make("seq-illegal");
    struct choice items[] = {{CHOICE_FAULT, 1, 1, FAULT_ILLEGAL_MOVE}, {CHOICE_AMOUNT, 1, 1, 6}};
    struct choice_list list = {.items = items, .count = 2, .capacity = 2};
    choice_list_sort(&list);
    struct choice_source source = choice_listed(&list);
    struct watch watch = {.halted = false};
    run.observer = watch_latch;
    run.observer_context = &watch;
    const struct run_result *result = run_once(&run, &source);
    const struct rows *rows = &run.world.rows;
    cr_expect_eq(result->verdict, RUN_HELD);
    cr_expect_eq(result->fired[FAULT_ILLEGAL_MOVE], 1U);
    cr_expect(watch.halted);
    cr_expect_eq(watch.moved_after, 0U);
    int64_t prior = row_get(rows, TABLE_STAGE, 0, STAGE_PRIOR);
    int64_t attempted = row_get(rows, TABLE_STAGE, 0, STAGE_ATTEMPTED);
    cr_expect_eq(seq_rules_pair((enum seq_state)prior, (enum seq_state)attempted),
                 SEQ_PAIR_ILLEGAL);
    int64_t wall = row_get(rows, TABLE_STAGE, 0, STAGE_WALL);
    cr_expect(wall >= PRIMITIVE_WALL_AHEAD && wall <= world_wall(&run.world));
    run_free(&run);
}

/* The actor that attempted it dies, or gets no answer: Stage1 has failed all the same. */
static void watch_loss(void *context, const struct run_event *event)
{
    enum fault_kind *fault = context;
    if (event->turn == RUN_TRANSACTION && event->bundle->name == BUNDLE_SEQ_ATTEMPT &&
        event->committed) {
        *fault = event->fault;
    }
}

Test(seq_run, stage1_fails_although_the_answer_is_lost_or_the_process_dies)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_15);
    static const enum fault_kind faults[] = {FAULT_CRASH_AFTER_COMMIT, FAULT_UNKNOWN_COMMITTED};
    make("seq-illegal");
    for (int i = 0; i < 2; i++) {
        enum fault_kind fell = FAULT_NONE;
        struct choice items[] = {{CHOICE_FAULT, 1, 1, FAULT_ILLEGAL_MOVE},
                                 {CHOICE_AMOUNT, 1, 1, 6},
                                 {CHOICE_FAULT, 1, 2, (uint32_t)faults[i]}};
        struct choice_list list = {.items = items, .count = 3, .capacity = 3};
        choice_list_sort(&list);
        struct choice_source source = choice_listed(&list);
        run.observer = watch_loss;
        run.observer_context = &fell;
        cr_expect_eq(run_once(&run, &source)->verdict, RUN_HELD);
        cr_expect_eq(fell, faults[i], "what fell on the attempt");
        cr_expect_neq(row_get(&run.world.rows, TABLE_STAGE, 0, STAGE_SEQ), 0);
    }
    run_free(&run);
}

/* ---- one seq in a store ---------------------------------------------------------------------- */

static struct world world;
static struct bundle bundle;
static struct outcome outcome;

/* A world with the seqs of the scenario admitted, UNSEEN. */
static void make_world(const char *name)
{
    struct world_capacity capacity = {.changes = 256};
    struct actor dispatcher;
    make(name);
    scenario_room(&scenario, capacity.rows);
    cr_assert(world_make(&world, &capacity));
    protocol_begin(&dispatcher, &run.rules, 0);
    protocol_role(&run.rules, 0)->next(&dispatcher, &run.rules, &bundle);
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED);
}

static void free_world(void)
{
    world_free(&world);
    run_free(&run);
}

static void put(int column, int64_t value)
{
    world_set(&world, TABLE_SEQ, 0, column, value);
}

static int64_t stage(int column)
{
    return row_get(&world.rows, TABLE_STAGE, 0, column);
}

static int64_t parameter(enum primitive_id primitive, int index)
{
    for (int i = 0; i < bundle.count; i++) {
        if (bundle.calls[i].primitive == primitive) {
            return bundle.params[bundle.calls[i].params + index];
        }
    }
    return -1;
}

/* What the actor sends if it is to make this bundle about seq 0, at an attempt. */
static void build(const struct rules *rules, unsigned number, enum bundle_name name,
                  int64_t attempt)
{
    struct actor actor;
    protocol_begin(&actor, rules, number);
    ACTOR_IS(&actor, seq_actor)->sends = (uint8_t)name;
    ACTOR_IS(&actor, seq_actor)->attempt = attempt;
    protocol_role(rules, number)->next(&actor, rules, &bundle);
    cr_assert_eq(bundle.name, name);
}

static void expect_report(int64_t prior, int64_t attempted, int64_t owner, int64_t moves)
{
    const int64_t facts[] = {1, prior, attempted, owner, world_wall(&world), moves};
    for (int i = 0; i < 6; i++) {
        cr_expect_eq(stage(STAGE_SEQ + i), facts[i], "%d>%d, fact %d", (int)prior, (int)attempted,
                     i);
    }
}

/* By the primitives alone: no engine remembers anything. */
Test(seq_run, every_illegal_move_fails_stage1_in_its_own_transaction_with_all_its_facts)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_4, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_2, ERRATUM_SEQ_5, ERRATUM_SEQ_15);
    make_world("seq-illegal");
    world.now = 77;
    build(&run.rules, 1, BUNDLE_SEQ_FINISH, 0);
    int64_t event_key = parameter(PRIMITIVE_SEQ_EVENT, 0);
    int illegal = 0;
    for (int from = 0; from < SEQ_STATES; from++) {
        for (int to = 0; to < SEQ_STATES; to++) {
            bool final = from == SEQ_FAIL && to == SEQ_DISPATCHED;
            if (seq_rules_pair((enum seq_state)from, (enum seq_state)to) != SEQ_PAIR_ILLEGAL &&
                !final) {
                continue;
            }
            illegal++;
            size_t mark = world_mark(&world);
            struct actor actor;
            bool runs = from == SEQ_IN_FLIGHT;
            put(SEQ_STATE, from);
            put(SEQ_OWNER, runs ? 41 : 0);
            put(SEQ_ENDED_BY, 42); /* of an earlier run */
            put(SEQ_MOVE_COUNT, 9);
            if (seq_rules_terminal((enum seq_state)from) || from == SEQ_COMMITTED) {
                const int64_t event[] = {row_key(&world.rows, TABLE_SEQ, 0), from, 1};
                world_insert(&world, TABLE_SEQ_EVENT, event_key, event);
            }
            protocol_begin(&actor, &run.rules, 1);
            seq_err(&actor, 0, (enum seq_state)from, (enum seq_state)to);
            protocol_role(&run.rules, 1)->next(&actor, &run.rules, &bundle);
            store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
            cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
            cr_expect_eq(row_get(&world.rows, TABLE_SEQ, 0, SEQ_STATE), from);
            expect_report(from, to, runs ? 41 : 42, 9);
            store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
            cr_expect_eq(outcome.refusal, REFUSED_HALTED, "the gate is shut for everybody");
            world_undo(&world, mark);
        }
    }
    cr_expect_eq(illegal, 52);
    free_world();
}

Test(seq_run, a_second_terminal_event_and_a_commit_without_one_fail_stage1)
{
    PROVES(CLAUSE_SEQ_6);
    make_world("seq-illegal");
    world.now = 5;
    build(&run.rules, 1, BUNDLE_SEQ_FINISH, 0); /* seq 0 succeeds */
    int64_t owner = parameter(PRIMITIVE_SEQ_HOLD, 1);
    size_t mark = world_mark(&world);
    put(SEQ_STATE, SEQ_IN_FLIGHT);
    put(SEQ_OWNER, owner);
    put(SEQ_MOVE_COUNT, 2);
    const int64_t event[] = {parameter(PRIMITIVE_SEQ_EVENT, 1), SEQ_SUCCESS, 1};
    world_insert(&world, TABLE_SEQ_EVENT, parameter(PRIMITIVE_SEQ_EVENT, 0), event);
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    expect_report(SEQ_IN_FLIGHT, SEQ_SUCCESS, owner, 2);
    world_undo(&world, mark);
    put(SEQ_STATE, SEQ_SUCCESS);
    put(SEQ_MOVE_COUNT, 3);
    build(&run.rules, run.rules.actors - 1U, BUNDLE_SEQ_COMMIT, 0);
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    expect_report(SEQ_SUCCESS, SEQ_COMMITTED, 0, 3);
    free_world();
}

/* ---- decisions ------------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % bound;
}

enum decision { DECIDED_NOTHING, DECIDED_RETRY, DECIDED_FAIL, DECISIONS };

/* The inputs: the policy, and where the run stands. Class 0 is that of an expired lease. */
struct inputs {
    uint32_t lease, retryable, budget, class, attempts;
    int64_t heartbeat, now;
};

static enum decision decision_of(int64_t state)
{
    return state == SEQ_DISPATCHED ? DECIDED_RETRY
           : state == SEQ_FAIL     ? DECIDED_FAIL
                                   : DECIDED_NOTHING;
}

/* What the store makes of what the reclaimer, or the worker, sends. */
static enum decision durable(const struct inputs *in)
{
    struct rules rules = run.rules;
    rules.timeout = in->lease;
    RULES_OF(&rules, seq_plan)->budget = in->budget;
    RULES_OF(&rules, seq_plan)->retryable = in->retryable;
    RULES_OF(&rules, seq_plan)->fates[0] =
        in->class == SEQ_CLASS_TRANSIENT ? SEQ_FATE_EXHAUST : SEQ_FATE_FATAL;
    bool expires = in->class == SEQ_CLASS_LEASE_EXPIRED;
    build(&rules, expires ? rules.actors - 3U : 1U, expires ? BUNDLE_SEQ_RECLAIM : BUNDLE_SEQ_FAIL,
          in->attempts);
    size_t mark = world_mark(&world);
    world.now = in->now;
    put(SEQ_STATE, SEQ_IN_FLIGHT);
    put(SEQ_HEARTBEAT, in->heartbeat);
    put(SEQ_ATTEMPTS, in->attempts);
    put(SEQ_OWNER, expires ? 1 : parameter(PRIMITIVE_SEQ_HOLD, 1));
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    int64_t state = row_get(&world.rows, TABLE_SEQ, 0, SEQ_STATE);
    bool waits = row_get(&world.rows, TABLE_SEQ, 0, SEQ_RETRY) != 0;
    cr_assert_eq(stage(STAGE_SEQ), 0);
    cr_assert(state == SEQ_FAIL || !waits);
    world_undo(&world, mark);
    return waits ? DECIDED_RETRY : decision_of(state);
}

/* What the oracle holds to be right: the one decision that it finds nothing wrong with. */
static enum decision judged(const struct inputs *in)
{
    const struct oracle_seq_policy policy = {
        .lease_ms = in->lease, .retryable = in->retryable, .budget = in->budget};
    bool expires = in->class == SEQ_CLASS_LEASE_EXPIRED;
    enum decision right = DECIDED_NOTHING;
    int fine = 0;
    for (enum decision d = DECIDED_RETRY; d <= DECIDED_FAIL; d++) {
        struct oracle_seq seq = {.state = ORACLE_SEQ_IN_FLIGHT,
                                 .owner = 1,
                                 .attempt = in->attempts,
                                 .heartbeat_ms = (uint64_t)in->heartbeat};
        const struct oracle_seq_step step = {.by = expires ? ORACLE_SEQ_BY_RECLAIM
                                                           : ORACLE_SEQ_BY_FINISH,
                                             .from = ORACLE_SEQ_IN_FLIGHT,
                                             .to = ORACLE_SEQ_FAIL,
                                             .waits = d == DECIDED_RETRY,
                                             .actor = 1,
                                             .token = in->attempts,
                                             .fail_class = in->class,
                                             .attempt = in->attempts,
                                             .now_ms = (uint64_t)in->now,
                                             .event = d == DECIDED_FAIL};
        if (!oracle_seq_fold(&seq, &policy, &step).broken) {
            right = d;
            fine++;
        }
    }
    cr_assert_leq(fine, 1);
    return right;
}

static void note_reclaimed(void *context, const struct seq_reclaimed *reclaimed)
{
    *(enum decision *)context = decision_of(reclaimed->result.to);
}

/* What the ledger in memory makes of it; `token` is of the run, which goes on if it decides
 * nothing. */
static enum decision in_memory(struct seq_memory *ledger, struct seq_token token,
                               const struct inputs *in)
{
    const struct seq_time now = {.mono_ms = (uint64_t)in->now, .wall_ms = (uint64_t)in->now};
    enum decision decision = DECIDED_NOTHING;
    if (in->class == SEQ_CLASS_LEASE_EXPIRED) {
        cr_assert_leq(seq_memory_reclaim(ledger, 9, now, note_reclaimed, &decision), 1U);
        return decision;
    }
    return decision_of(seq_memory_finish(ledger, token, SEQ_FAIL, in->class, now).to);
}

#define POLICIES     400
#define SEQS         1200
#define BUDGETS      6
#define DECIDED_SIZE (8 * BUDGETS * 3 * (BUDGETS + 1) * 2)

/* One seq through all its attempts: each ends by a lease that may have expired, or by a failure.
 * Returns how many decisions were made. */
static uint32_t decide_all(struct seq_memory *ledger, uint64_t number, struct inputs in,
                           uint64_t *random, int64_t *clock, uint8_t known[DECIDED_SIZE],
                           uint32_t seen[DECISIONS])
{
    uint32_t decisions = 0;
    enum decision decision = DECIDED_RETRY;
    struct seq_token token = {.seq = number};
    const struct seq_time begun = {.mono_ms = (uint64_t)*clock};
    seq_memory_order(ledger, number, SEQ_DISPATCHED, 1, begun);
    for (in.attempts = 0; decision != DECIDED_FAIL; in.attempts += decision == DECIDED_RETRY) {
        if (decision == DECIDED_RETRY) {
            const struct seq_time now = {.mono_ms = (uint64_t)*clock};
            in.heartbeat = *clock;
            cr_assert_eq(seq_memory_take(ledger, number, in.attempts, 1, now, &token).verdict,
                         SEQ_MOVED);
        }
        in.class = decision == DECIDED_NOTHING ? 1 + draw(random, 2) : draw(random, 3);
        in.now = *clock += draw(random, 2 * in.lease);
        decision = in_memory(ledger, token, &in);
        cr_assert_eq(durable(&in), decision);
        cr_assert_eq(judged(&in), decision);
        bool expired = in.now - in.heartbeat >= (int64_t)in.lease || in.class != 0;
        uint8_t *before =
            &known[(((in.retryable * BUDGETS + in.budget) * 3 + in.class) * (BUDGETS + 1) +
                    in.attempts) *
                       2 +
                   expired];
        cr_assert(*before == 0 || *before == 1 + decision, "equal inputs, another outcome");
        *before = (uint8_t)(1 + decision);
        seen[decision]++;
        decisions++;
    }
    return decisions;
}

Test(seq_run, equal_inputs_are_reclaimed_and_retried_equally_in_rows_in_memory_and_by_the_oracle)
{
    PROVES(CLAUSE_SEQ_11, CLAUSE_SEQ_18);
    SETTLES(ERRATUM_SEQ_13, ERRATUM_SEQ_14);
    make_world("seq-leases");
    static uint8_t known[DECIDED_SIZE];
    size_t bytes = seq_memory_bytes(SEQS);
    void *memory = aligned_alloc(SEQ_ALIGNMENT, (bytes / SEQ_ALIGNMENT + 1) * SEQ_ALIGNMENT);
    cr_assert_not_null(memory);
    uint64_t random = 11;
    uint32_t inputs = 0, seen[DECISIONS] = {0};
    for (int p = 0; p < POLICIES || inputs < 2000000; p++) {
        const struct inputs policy = {.lease = 1 + draw(&random, 30),
                                      .retryable = draw(&random, 8),
                                      .budget = draw(&random, BUDGETS)};
        const struct seq_policy rules = {.lease_ms = policy.lease,
                                         .retryable_classes = policy.retryable,
                                         .retry_budget = policy.budget};
        memset(memory, 0, bytes);
        struct seq_memory *ledger = seq_memory_init(memory, SEQS, &rules);
        int64_t clock = 1;
        for (uint64_t number = 0; number < SEQS; number++) {
            inputs += decide_all(ledger, number, policy, &random, &clock, known, seen);
        }
    }
    cr_expect_geq(inputs, 2000000U);
    cr_expect(seen[DECIDED_NOTHING] > 100000 && seen[DECIDED_RETRY] > 100000 &&
              seen[DECIDED_FAIL] > 100000);
    free(memory);
    free_world();
}
