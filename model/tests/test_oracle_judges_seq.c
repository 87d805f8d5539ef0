/* The seq ledger judged by an oracle that knows nothing of it, as test_oracle_judges_model.c does
 * for the ledgers: random walks whose every step must be fine, the same walks with a bug planted
 * between the two, and all pairs of states. */
#include "model/oracle/seq.h"
#include "model/reference/seq_memory.h"
#include "model/tests/judge.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- the seq machine ----------------------------------------------------------------------- */

enum seq_bug {
    SEQ_SOUND,
    SEQ_RETRY_BEYOND_BUDGET,
    SEQ_RETRY_OF_ANY_CLASS,
    SEQ_RETRY_UNCOUNTED,
    SEQ_GIVES_UP,
    SEQ_EVENT_OF_A_RETRY,
    SEQ_EVENT_AT_COMMIT,
    SEQ_EVENT_LOST,
    SEQ_LATE_RESULT,
    SEQ_TWO_OWNERS,
    SEQ_EARLY_RECLAIM,
    SEQ_HEARTBEAT_BACK,
    SEQ_LATE_HEARTBEAT,
    SEQ_CANCEL_OF_A_SUCCESS,
    SEQ_COUNTER_LOST,
};

enum { SEQS = 50, TOKENS = 4, WORKERS = 5, DISPATCHER = 10, CANCELLER = 11, RECLAIMER = 12 };

/* Class 0 is the expired lease; 0 and 1 may be retried, 2 and 3 may not. */
static const struct seq_policy seq_policy = {
    .lease_ms = 100, .grace_ms = 30, .retryable_classes = 3, .retry_budget = 2};
static const struct oracle_seq_policy oracle_policy = {
    .lease_ms = 100, .retryable = 3, .budget = 2, .expired_as = 0};

struct seqs {
    enum seq_bug bug;
    uint64_t random;
    uint64_t now_ms;
    void *memory;
    struct seq_memory *ledger;
    struct oracle_seq monitor[SEQS];
    struct seq_token token[SEQS][TOKENS]; /* issued for it, mostly overtaken; owner 0: none */
    struct seq_view view[SEQS];           /* what a canceller once saw of it */
    struct seq_cancellation asked[SEQS];  /* run.owner 0: none */
    uint64_t events;                      /* handed out by this ledger */
    uint64_t calls;
    uint64_t verdicts[SEQ_HALTED + 1]; /* how often the model gave each */
    uint64_t moves[SEQ_MOVES];         /* how often it made each */
    struct oracle_verdict verdict;     /* the first breach */
};

/* The model keeps the low 32 bits. */
static uint64_t full_heartbeat(uint32_t heartbeat_ms, uint64_t now_ms)
{
    return now_ms - (uint64_t)(int64_t)(int32_t)((uint32_t)now_ms - heartbeat_ms);
}

static struct seq_time at(uint64_t now_ms)
{
    return (struct seq_time){.mono_ms = now_ms, .wall_ms = now_ms};
}

/* What a step left on record, for the oracle. */
static void fill_in(const struct seqs *walk, uint64_t seq, struct oracle_seq_step *step)
{
    struct seq_view view = seq_memory_read(walk->ledger, seq);
    step->now_ms = walk->now_ms;
    step->attempt = view.attempt;
    if (view.state == SEQ_IN_FLIGHT) {
        step->owner = view.owner;
        step->heartbeat_ms = full_heartbeat(view.heartbeat_ms, walk->now_ms);
    }
}

/* The bugs that misreport a step that was made. */
static void spoil(enum seq_bug bug, const struct oracle_seq *seq, struct oracle_seq_step *step)
{
    bool finish = step->by == ORACLE_SEQ_BY_FINISH;
    bool failed = finish && step->to == ORACLE_SEQ_FAIL;
    bool retried = step->from == ORACLE_SEQ_IN_FLIGHT && step->to == ORACLE_SEQ_DISPATCHED;
    bool spent = seq->attempt == oracle_policy.budget;
    if (failed && ((bug == SEQ_RETRY_BEYOND_BUDGET && spent) ||
                   (bug == SEQ_RETRY_OF_ANY_CLASS && step->fail_class > 1))) {
        step->to = ORACLE_SEQ_DISPATCHED;
        step->attempt++;
        step->event = false;
    } else if (bug == SEQ_RETRY_UNCOUNTED && retried) {
        step->attempt--;
    } else if (bug == SEQ_GIVES_UP && retried) {
        step->to = ORACLE_SEQ_FAIL;
        step->attempt--;
        step->event = true;
    } else if ((bug == SEQ_EVENT_OF_A_RETRY && retried) ||
               (bug == SEQ_EVENT_AT_COMMIT && step->to == ORACLE_SEQ_COMMITTED)) {
        step->event = true;
    } else if (bug == SEQ_EVENT_LOST) {
        step->event = false;
    } else if (bug == SEQ_HEARTBEAT_BACK && step->by == ORACLE_SEQ_BY_HEARTBEAT) {
        step->heartbeat_ms = seq->heartbeat_ms - 1;
    }
}

static void fold(struct seqs *walk, uint64_t seq, const struct oracle_seq_step *step)
{
    struct oracle_verdict verdict = oracle_seq_fold(&walk->monitor[seq], &oracle_policy, step);
    if (!walk->verdict.broken) {
        walk->verdict = verdict;
    }
}

/* The ledger in memory fails and retries in one call: two moves to the judge (OQ1). */
static void follow(struct seqs *walk, uint64_t seq, struct oracle_seq_step step)
{
    spoil(walk->bug, &walk->monitor[seq], &step);
    walk->events += step.event;
    if (step.from == ORACLE_SEQ_IN_FLIGHT && step.to == ORACLE_SEQ_DISPATCHED) {
        struct oracle_seq_step failure = step;
        failure.to = ORACLE_SEQ_FAIL;
        failure.waits = true;
        failure.attempt = walk->monitor[seq].attempt;
        fold(walk, seq, &failure);
        step.by = ORACLE_SEQ_BY_RETRY;
        step.from = ORACLE_SEQ_FAIL;
        step.event = false;
    }
    fold(walk, seq, &step);
}

/* A call of the model: followed if something was done, else the record must stand (see below). */
static void observe(struct seqs *walk, uint64_t seq, struct seq_result result,
                    struct oracle_seq_step step)
{
    walk->calls++;
    walk->verdicts[result.verdict]++;
    cr_assert(result.verdict != SEQ_FATAL && result.verdict != SEQ_HALTED);
    if (result.verdict == SEQ_MOVED || result.verdict == SEQ_ASKED ||
        result.verdict == SEQ_UNCHANGED) {
        step.from = (enum oracle_seq_state)result.from;
        step.to = (enum oracle_seq_state)result.to;
        step.event = result.event;
        fill_in(walk, seq, &step);
        follow(walk, seq, step);
    } else {
        cr_assert_not(result.event);
    }
}

/* A call that the model refused, made nevertheless by a planted bug. */
static void force(struct seqs *walk, uint64_t seq, struct oracle_seq_step step)
{
    step.from = walk->monitor[seq].state;
    step.attempt = walk->monitor[seq].attempt;
    step.now_ms = walk->now_ms;
    follow(walk, seq, step);
}

static void order(struct seqs *walk, uint64_t seq)
{
    enum oracle_seq_state state = walk->monitor[seq].state;
    bool cancels = state == ORACLE_SEQ_DISPATCHED && random_one_in(&walk->random, 8);
    if (cancels) {
        observe(walk, seq,
                seq_memory_order(walk->ledger, seq, SEQ_CANCEL, CANCELLER, at(walk->now_ms)),
                (struct oracle_seq_step){.by = ORACLE_SEQ_BY_CANCEL, .actor = CANCELLER});
    } else if (state != ORACLE_SEQ_DISPATCHED && state != ORACLE_SEQ_IN_FLIGHT) {
        enum seq_state to = state == ORACLE_SEQ_UNSEEN ? SEQ_DISPATCHED : SEQ_COMMITTED;
        observe(walk, seq, seq_memory_order(walk->ledger, seq, to, DISPATCHER, at(walk->now_ms)),
                (struct oracle_seq_step){.by = ORACLE_SEQ_BY_ORDER, .actor = DISPATCHER});
    }
}

static void take(struct seqs *walk, uint64_t seq)
{
    if (walk->monitor[seq].state == ORACLE_SEQ_UNSEEN) {
        return;
    }
    uint32_t worker = 1 + (uint32_t)random_below(&walk->random, WORKERS);
    uint32_t attempt = walk->monitor[seq].attempt + (random_one_in(&walk->random, 8) ? 1 : 0);
    struct seq_token token = {0};
    struct seq_result result =
        seq_memory_take(walk->ledger, seq, attempt, worker, at(walk->now_ms), &token);
    struct oracle_seq_step step = {.by = ORACLE_SEQ_BY_TAKE, .actor = worker};
    observe(walk, seq, result, step);
    if (result.verdict == SEQ_MOVED) {
        cr_assert(token.seq == seq && token.owner == worker && token.attempt == attempt);
        walk->token[seq][random_below(&walk->random, TOKENS)] = token;
    } else if (walk->bug == SEQ_TWO_OWNERS && walk->monitor[seq].owner != 0) {
        step.to = ORACLE_SEQ_IN_FLIGHT;
        step.owner = worker;
        step.heartbeat_ms = walk->now_ms;
        force(walk, seq, step);
    }
}

static void beat(struct seqs *walk, uint64_t seq, struct seq_token token)
{
    uint64_t seen_ms = walk->now_ms - random_below(&walk->random, 10); /* a thread that was slow */
    struct seq_result result = seq_memory_heartbeat(walk->ledger, token, at(seen_ms));
    struct oracle_seq_step step = {
        .by = ORACLE_SEQ_BY_HEARTBEAT, .actor = token.owner, .token = token.attempt};
    observe(walk, seq, result, step);
    if (result.verdict == SEQ_STALE && walk->bug == SEQ_LATE_HEARTBEAT) {
        step.to = ORACLE_SEQ_IN_FLIGHT;
        step.owner = token.owner;
        step.heartbeat_ms = walk->now_ms;
        force(walk, seq, step);
    }
}

static void finish(struct seqs *walk, uint64_t seq, struct seq_token token)
{
    enum seq_state to = (enum seq_state)(SEQ_SUCCESS + random_below(&walk->random, 3));
    uint32_t fail_class = (uint32_t)random_below(&walk->random, 4);
    struct seq_result result =
        seq_memory_finish(walk->ledger, token, to, fail_class, at(walk->now_ms));
    struct oracle_seq_step step = {.by = ORACLE_SEQ_BY_FINISH,
                                   .actor = token.owner,
                                   .token = token.attempt,
                                   .fail_class = fail_class};
    observe(walk, seq, result, step);
    if (result.verdict == SEQ_STALE && walk->bug == SEQ_LATE_RESULT &&
        walk->monitor[seq].owner != 0) {
        step.to = ORACLE_SEQ_SUCCESS;
        step.event = true;
        force(walk, seq, step);
    }
}

static void cancel(struct seqs *walk, uint64_t seq)
{
    struct oracle_seq_step step = {.by = ORACLE_SEQ_BY_CANCEL, .actor = CANCELLER};
    if (walk->asked[seq].run.owner != 0 && random_one_in(&walk->random, 2)) {
        struct seq_result forced =
            seq_memory_cancel_force(walk->ledger, walk->asked[seq], CANCELLER, at(walk->now_ms));
        bool patient = walk->now_ms - walk->asked[seq].asked_ms >= seq_policy.grace_ms;
        cr_assert(forced.verdict != (patient ? SEQ_TOO_SOON : SEQ_MOVED)); /* SEQ-15 */
        observe(walk, seq, forced, step);
        return;
    }
    if (random_one_in(&walk->random, 2)) {
        walk->view[seq] = seq_memory_read(walk->ledger, seq);
    }
    if (walk->view[seq].state != SEQ_DISPATCHED && walk->view[seq].state != SEQ_IN_FLIGHT) {
        return;
    }
    struct seq_cancellation asked = {0};
    struct seq_result result =
        seq_memory_cancel(walk->ledger, seq, walk->view[seq], CANCELLER, at(walk->now_ms), &asked);
    observe(walk, seq, result, step);
    if (result.verdict == SEQ_ASKED) {
        walk->asked[seq] = asked;
    } else if (walk->bug == SEQ_CANCEL_OF_A_SUCCESS &&
               walk->monitor[seq].state == ORACLE_SEQ_SUCCESS) {
        step.to = ORACLE_SEQ_CANCEL;
        force(walk, seq, step);
    }
}

static void note_reclaimed(void *context, const struct seq_reclaimed *reclaimed)
{
    struct seqs *walk = context;
    uint64_t seq = reclaimed->seq;
    cr_assert_eq(reclaimed->lost_owner, walk->monitor[seq].owner);
    cr_assert_eq(reclaimed->attempt, seq_memory_read(walk->ledger, seq).attempt);
    observe(walk, seq, reclaimed->result,
            (struct oracle_seq_step){.by = ORACLE_SEQ_BY_RECLAIM, .actor = RECLAIMER});
}

static void reclaim(struct seqs *walk)
{
    walk->now_ms +=
        random_below(&walk->random, random_one_in(&walk->random, 4) ? seq_policy.lease_ms : 10);
    seq_memory_reclaim(walk->ledger, RECLAIMER, at(walk->now_ms), note_reclaimed, walk);
    for (uint64_t seq = 0; seq < SEQS; seq++) {
        const struct oracle_seq *run = &walk->monitor[seq];
        bool held = run->state == ORACLE_SEQ_IN_FLIGHT;
        bool expired = held && walk->now_ms - run->heartbeat_ms >= seq_policy.lease_ms;
        cr_assert_not(expired && !walk->verdict.broken, "an expired lease was not reclaimed");
        if (held && walk->bug == SEQ_EARLY_RECLAIM) {
            force(walk, seq,
                  (struct oracle_seq_step){.by = ORACLE_SEQ_BY_RECLAIM,
                                           .actor = RECLAIMER,
                                           .to = ORACLE_SEQ_DISPATCHED});
        }
    }
}

/* Whatever was called, the record is what the monitors made of the steps, and the counters are what
 * a recount of it gives. So a refused call changed nothing, on any seq. */
static void compare(struct seqs *walk)
{
    enum oracle_seq_state states[SEQS];
    for (uint64_t seq = 0; seq < SEQS; seq++) {
        struct seq_view view = seq_memory_read(walk->ledger, seq);
        const struct oracle_seq *monitor = &walk->monitor[seq];
        states[seq] = (enum oracle_seq_state)view.state;
        cr_assert_eq((int)view.state, (int)monitor->state);
        cr_assert_eq(view.attempt, monitor->attempt);
        if (view.state == SEQ_IN_FLIGHT) {
            cr_assert_eq(view.owner, monitor->owner);
            cr_assert_eq(view.heartbeat_ms, (uint32_t)monitor->heartbeat_ms);
        }
    }
    struct seq_counts counts = seq_memory_count(walk->ledger);
    cr_assert_eq(counts.events, walk->events);
    struct oracle_seq_occupancy occupancy = {counts.unseen, counts.dispatched, counts.in_flight,
                                             counts.terminal, counts.committed};
    occupancy.in_flight -= walk->bug == SEQ_COUNTER_LOST && occupancy.in_flight > 0;
    walk->verdict = oracle_seq_counters(occupancy, states, SEQS);
}

static void new_ledger(struct seqs *walk)
{
    if (walk->ledger != NULL) {
        struct seq_counts counts = seq_memory_count(walk->ledger);
        for (int move = SEQ_MOVE_DISPATCH; move < SEQ_MOVES; move++) {
            walk->moves[move] += counts.moves[move];
        }
    }
    memset(walk->memory, 0, seq_memory_bytes(SEQS));
    walk->ledger = seq_memory_init(walk->memory, SEQS, &seq_policy);
    memset(walk->monitor, 0, sizeof walk->monitor);
    memset(walk->token, 0, sizeof walk->token);
    memset(walk->view, 0, sizeof walk->view);
    memset(walk->asked, 0, sizeof walk->asked);
    walk->events = 0;
}

/* Attention wanders over the ledger, so that much happens to a seq before it is left alone. */
static void seq_step(struct seqs *walk, uint64_t step)
{
    uint64_t seq = (step / 20 + random_below(&walk->random, 6)) % SEQS;
    struct seq_token token = walk->token[seq][random_below(&walk->random, TOKENS)];
    switch (random_below(&walk->random, 10)) {
    case 0:
        order(walk, seq);
        break;
    case 1:
        cancel(walk, seq);
        break;
    case 2:
        reclaim(walk);
        break;
    case 3:
    case 4:
    case 5:
        take(walk, seq);
        break;
    case 6:
    case 7:
        if (token.owner != 0) {
            beat(walk, seq, token);
        }
        break;
    default:
        if (token.owner != 0) {
            finish(walk, seq, token);
        }
        break;
    }
}

static void *ledger_memory(uint64_t capacity)
{
    size_t bytes = (seq_memory_bytes(capacity) + 127) / 128 * 128;
    void *memory = aligned_alloc(128, bytes);
    cr_assert_not_null(memory);
    return memset(memory, 0, bytes);
}

/* The clock starts where the heartbeat's 32 bits soon run over. */
static struct seqs walk_seqs(enum seq_bug bug, uint64_t seed)
{
    struct seqs walk = {.bug = bug,
                        .random = seed,
                        .now_ms = (UINT64_C(1) << 32) - 100000,
                        .memory = ledger_memory(SEQS),
                        .verdict = oracle_fine()};
    for (uint64_t step = 0; walk.calls < STEPS && !walk.verdict.broken; step++) {
        if (step % 1000 == 0) {
            new_ledger(&walk);
        }
        walk.now_ms += random_below(&walk.random, 4);
        seq_step(&walk, step);
        if (!walk.verdict.broken) {
            compare(&walk);
        }
    }
    free(walk.memory);
    return walk;
}

Test(oracle_judges_seq, seqs_hold_every_promise)
{
    PROVES(CLAUSE_SEQ_2, CLAUSE_SEQ_6, CLAUSE_SEQ_8, CLAUSE_SEQ_10, CLAUSE_SEQ_12, CLAUSE_SEQ_13,
           CLAUSE_SEQ_14, CLAUSE_SEQ_16, CLAUSE_SEQ_18, CLAUSE_SEQ_19);
    struct seqs walk = walk_seqs(SEQ_SOUND, 1);
    cr_expect_not(walk.verdict.broken, "%s", walk.verdict.why);
    for (int verdict = SEQ_MOVED; verdict < SEQ_FATAL; verdict++) {
        cr_expect_gt(walk.verdicts[verdict], 100, "verdict %d came %d times", verdict,
                     (int)walk.verdicts[verdict]);
    }
    for (int move = SEQ_MOVE_DISPATCH; move < SEQ_MOVES; move++) {
        cr_expect_gt(walk.moves[move], 100, "move %d was made %d times", move,
                     (int)walk.moves[move]);
    }
}

Test(oracle_judges_seq, seqs_with_a_bug_are_caught)
{
    SETTLES(ERRATUM_SEQ_2, ERRATUM_SEQ_3, ERRATUM_SEQ_8, ERRATUM_SEQ_14);
    static const struct plant plants[] = {
        {"retry beyond the budget", SEQ_RETRY_BEYOND_BUDGET, CLAUSE_SEQ_13},
        {"retry of any class", SEQ_RETRY_OF_ANY_CLASS, CLAUSE_SEQ_13},
        {"retry not counted", SEQ_RETRY_UNCOUNTED, CLAUSE_SEQ_13},
        {"gives up", SEQ_GIVES_UP, CLAUSE_SEQ_18},
        {"event of a retry", SEQ_EVENT_OF_A_RETRY, CLAUSE_SEQ_6},
        {"second event at the commit", SEQ_EVENT_AT_COMMIT, CLAUSE_SEQ_6},
        {"event lost", SEQ_EVENT_LOST, CLAUSE_SEQ_6},
        {"late result", SEQ_LATE_RESULT, CLAUSE_SEQ_12},
        {"two owners", SEQ_TWO_OWNERS, CLAUSE_SEQ_8},
        {"early reclaim", SEQ_EARLY_RECLAIM, CLAUSE_SEQ_10},
        {"heartbeat back", SEQ_HEARTBEAT_BACK, CLAUSE_SEQ_19},
        {"late heartbeat", SEQ_LATE_HEARTBEAT, CLAUSE_SEQ_19},
        {"cancel of a success", SEQ_CANCEL_OF_A_SUCCESS, CLAUSE_SEQ_3},
        {"counter lost", SEQ_COUNTER_LOST, CLAUSE_SEQ_16},
    };
    for (size_t i = 0; i < COUNT(plants); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct seqs walk = walk_seqs((enum seq_bug)plants[i].bug, seed);
            expect_caught(walk.verdict, &plants[i]);
        }
    }
}

/* ---- the contract, pair by pair ------------------------------------------------------------ */

Test(oracle_judges_seq, a_pair_is_legal_to_both_or_to_none)
{
    PROVES(CLAUSE_SEQ_3);
    SETTLES(ERRATUM_SEQ_5);
    for (int from = 0; from < SEQ_STATES; from++) {
        for (int to = 0; to < SEQ_STATES; to++) {
            enum seq_pair model = seq_rules_pair((enum seq_state)from, (enum seq_state)to);
            enum oracle_seq_pair oracle =
                oracle_seq_pair((enum oracle_seq_state)from, (enum oracle_seq_state)to);
            cr_expect_eq(model == SEQ_PAIR_LEGAL, oracle == ORACLE_SEQ_LEGAL, "%d %d", from, to);
            cr_expect_eq(model == SEQ_PAIR_NOOP, oracle == ORACLE_SEQ_NO_MOVE, "%d %d", from, to);
        }
    }
}

enum { WORKER = 1, CLASS_FINAL = 2 };

/* Brings the only seq of a ledger to a state, by the shortest way. */
static struct seq_token bring(struct seq_memory *ledger, enum seq_state state)
{
    struct seq_token token = {.owner = WORKER};
    bool terminal = SEQ_SUCCESS <= state && state <= SEQ_FAIL;
    if (state != SEQ_UNSEEN) {
        seq_memory_order(ledger, 0, SEQ_DISPATCHED, DISPATCHER, at(0));
    }
    if (state == SEQ_IN_FLIGHT || terminal) {
        seq_memory_take(ledger, 0, 0, WORKER, at(0), &token);
    }
    if (terminal) {
        seq_memory_finish(ledger, token, state, CLASS_FINAL, at(0));
    }
    if (state == SEQ_CANCEL || state == SEQ_COMMITTED) {
        seq_memory_order(ledger, 0, SEQ_CANCEL, CANCELLER, at(0));
    }
    if (state == SEQ_COMMITTED) {
        seq_memory_order(ledger, 0, SEQ_COMMITTED, DISPATCHER, at(0));
    }
    cr_assert_eq(seq_memory_read(ledger, 0).state, state);
    return token;
}

/* What the oracle would say if the call went through as asked. */
static struct oracle_verdict judge_call(struct seq_view view, enum oracle_seq_by by, uint32_t actor,
                                        enum seq_state to)
{
    bool runs = view.state == SEQ_IN_FLIGHT;
    bool ends = SEQ_SUCCESS <= to && to <= SEQ_CANCEL;
    struct oracle_seq seq = {.state = (enum oracle_seq_state)view.state,
                             .owner = runs ? view.owner : 0,
                             .event_out = view.state >= SEQ_SUCCESS};
    struct oracle_seq_step step = {.by = by,
                                   .from = seq.state,
                                   .to = (enum oracle_seq_state)to,
                                   .actor = actor,
                                   .owner = view.owner,
                                   .fail_class = CLASS_FINAL,
                                   .event = ends};
    return oracle_seq_fold(&seq, &oracle_policy, &step);
}

/* Refused calls were fatal: they changed nothing, and nothing moves any more. */
static void expect_halted(struct seq_memory *ledger, struct seq_view before)
{
    struct seq_report report;
    cr_expect(seq_memory_halted(ledger, &report));
    seq_memory_order(ledger, 0, SEQ_DISPATCHED, DISPATCHER, at(0));
    seq_memory_order(ledger, 0, SEQ_COMMITTED, DISPATCHER, at(0));
    seq_memory_take(ledger, 0, 0, WORKER, at(0), &(struct seq_token){0});
    seq_memory_reclaim(ledger, RECLAIMER, at(1000), NULL, NULL);
    struct seq_view after = seq_memory_read(ledger, 0);
    cr_expect(after.state == before.state && after.owner == before.owner &&
              after.attempt == before.attempt && after.heartbeat_ms == before.heartbeat_ms);
}

Test(oracle_judges_seq, an_order_goes_through_exactly_when_the_contract_allows_it)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_7, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_2, ERRATUM_SEQ_8);
    void *memory = ledger_memory(1);
    for (int from = 0; from < SEQ_STATES; from++) {
        for (int to = 0; to < SEQ_STATES; to++) {
            memset(memory, 0, seq_memory_bytes(1));
            struct seq_memory *ledger = seq_memory_init(memory, 1, &seq_policy);
            bring(ledger, (enum seq_state)from);
            struct seq_view before = seq_memory_read(ledger, 0);
            bool cancels = from == SEQ_DISPATCHED && to == SEQ_CANCEL;
            struct seq_result result =
                seq_memory_order(ledger, 0, (enum seq_state)to, DISPATCHER, at(0));
            bool done = result.verdict == SEQ_MOVED || result.verdict == SEQ_UNCHANGED;
            expect_agreement(done,
                             judge_call(before,
                                        cancels ? ORACLE_SEQ_BY_CANCEL : ORACLE_SEQ_BY_ORDER,
                                        DISPATCHER, (enum seq_state)to),
                             from * 10 + to);
            if (!done) {
                cr_expect_eq(result.verdict, SEQ_FATAL);
                expect_halted(ledger, before);
            }
        }
    }
    free(memory);
}

Test(oracle_judges_seq, a_result_goes_through_exactly_when_the_contract_allows_it)
{
    PROVES(CLAUSE_SEQ_3);
    void *memory = ledger_memory(1);
    for (int to = 0; to < SEQ_STATES; to++) {
        if (to == SEQ_DISPATCHED) {
            continue; /* a retry: never asked for, always decided by the failure */
        }
        memset(memory, 0, seq_memory_bytes(1));
        struct seq_memory *ledger = seq_memory_init(memory, 1, &seq_policy);
        struct seq_token token = bring(ledger, SEQ_IN_FLIGHT);
        struct seq_view before = seq_memory_read(ledger, 0);
        struct seq_result result =
            seq_memory_finish(ledger, token, (enum seq_state)to, CLASS_FINAL, at(0));
        expect_agreement(result.verdict == SEQ_MOVED,
                         judge_call(before, ORACLE_SEQ_BY_FINISH, WORKER, (enum seq_state)to), to);
        if (result.verdict != SEQ_MOVED) {
            cr_expect_eq(result.verdict, SEQ_FATAL);
            expect_halted(ledger, before);
        }
    }
    free(memory);
}
