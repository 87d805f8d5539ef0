/* The seq ledger under eight threads. Every round ends at a barrier, a quiescent point, where one
 * thread holds the counters against a recount. A plain program and not a Criterion suite, because
 * Criterion cannot start under the thread sanitizer, and under it this must run. */
#include "model/reference/seq_memory.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "model/tests/seq_memory_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    THREADS = 8,
    ONE_BY_ONE = 100000, /* seqs that all threads walk in step */
    MANY = 2048,         /* seqs that they work on at random ... */
    WINDOW = 128,        /* ... within a window that moves on by a quarter each round */
    ROUNDS = (MANY - WINDOW) / (WINDOW / 4),
    CALLS_PER_ROUND = 200,
    BY_BATCH = MANY,    /* seqs that they work on by the batch ... */
    BATCH = 64,         /* ... of so many */
    SLOT_ROUNDS = 4000, /* of takers and reclaimers in one slot */
    HALT_ROUNDS = 200   /* ledgers that are halted */
};

static int failures;

#define EXPECT(claim)                                                                              \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #claim);              \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* A lease is short beside a round, so that some run out while others are renewed. */
static const struct seq_policy race_policy = {
    .lease_ms = 60,
    .grace_ms = 1,
    .retryable_classes = 1U << SEQ_CLASS_LEASE_EXPIRED | 1U << CLASS_TRANSIENT,
    .retry_budget = 2,
};

struct arena {
    struct seq_memory *ledger;
    void (*prepare)(struct seq_memory *ledger); /* before the threads start; may be NULL */
    struct seq_memory *ledgers[HALT_ROUNDS];    /* for the races to halt one */
    pthread_barrier_t barrier;
    _Atomic uint64_t ticks;            /* of the one clock of the store */
    _Atomic uint32_t winners;          /* of the present round */
    _Atomic uint32_t events[MANY];     /* terminal events handed out, by seq */
    _Atomic uint32_t disagreements;    /* quiescent points at which a counter was off */
    _Atomic uint32_t surprises;        /* anything else that was not as it must be */
    _Atomic uint32_t quiescent_points; /* how many there were */
    _Atomic uint32_t reclaimed;        /* leases that ran out */
};

struct racer {
    struct arena *arena;
    uint32_t id; /* 1..THREADS */
    uint64_t random;
    struct seq_token tokens[MANY]; /* the runs this thread has taken, by seq */
};

static uint64_t draw(struct racer *racer)
{
    return random_next(&racer->random);
}

/* Threads only count what is wrong; the main thread says so after they are joined. */
static void expect(struct arena *arena, bool as_it_must_be)
{
    atomic_fetch_add(&arena->surprises, as_it_must_be ? 0 : 1);
}

/* 16 calls to a millisecond, so that leases share slots and threads collide in the wheel. */
static struct seq_time tick(struct arena *arena)
{
    return at(atomic_fetch_add(&arena->ticks, 1) / 16);
}

/* All threads have returned from the ledger: compare, then let them go on. */
static void quiesce(struct arena *arena)
{
    int arrived = pthread_barrier_wait(&arena->barrier);
    if (arrived == PTHREAD_BARRIER_SERIAL_THREAD) {
        atomic_fetch_add(&arena->quiescent_points, 1);
        if (!counts_agree(arena->ledger)) {
            atomic_fetch_add(&arena->disagreements, 1);
        }
    }
    pthread_barrier_wait(&arena->barrier);
}

static void note_event(struct arena *arena, uint64_t seq, struct seq_result result)
{
    if (result.event) {
        atomic_fetch_add(&arena->events[seq % MANY], 1);
    }
}

static void race(struct arena *arena, uint64_t capacity, void *(*run)(void *))
{
    static struct racer racers[THREADS];
    pthread_t threads[THREADS];
    arena->ledger = ledger_new(capacity, &race_policy);
    if (arena->prepare != NULL) {
        arena->prepare(arena->ledger);
    }
    pthread_barrier_init(&arena->barrier, NULL, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){
            .arena = arena, .id = i + 1, .random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1)};
        EXPECT(pthread_create(&threads[i], NULL, run, &racers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&arena->barrier);
    EXPECT(atomic_load(&arena->disagreements) == 0U);
    EXPECT(atomic_load(&arena->surprises) == 0U);
    EXPECT(atomic_load(&arena->quiescent_points) > 0);
}

/* ---- one seq at a time, all threads at once ------------------------------------------------ */

/* The threads walk the same seqs in the same order and meet on each of them. A barrier before every
 * seq would wake them one after the other and hardly ever let two collide. */
static void expect_one_winner_a_seq(struct arena *arena, uint32_t won)
{
    atomic_fetch_add(&arena->winners, won);
    quiesce(arena);
    expect(arena, atomic_load(&arena->winners) == ONE_BY_ONE);
    quiesce(arena);
    atomic_store(&arena->winners, 0);
    quiesce(arena);
}

static void *race_on_one_seq_after_another(void *argument)
{
    static const enum seq_state ends[] = {SEQ_SUCCESS, SEQ_SKIP, SEQ_FAIL};
    struct racer *racer = argument;
    struct arena *arena = racer->arena;
    struct seq_memory *ledger = arena->ledger;
    uint32_t won = 0;
    for (uint64_t seq = 0; racer->id == 1 && seq < ONE_BY_ONE; seq++) {
        seq_memory_order(ledger, seq, SEQ_DISPATCHED, racer->id, tick(arena));
    }
    quiesce(arena);
    for (uint64_t seq = 0; seq < ONE_BY_ONE; seq++) {
        struct seq_token token;
        won += seq_memory_take(ledger, seq, 0, racer->id, at(seq), &token).verdict == SEQ_MOVED;
    }
    expect_one_winner_a_seq(arena, won);
    won = 0;
    for (uint64_t seq = 0; seq < ONE_BY_ONE; seq++) {
        /* Everybody reports for the run of the winner, each with a result of its own. */
        struct seq_token token = {.seq = seq, .owner = seq_memory_read(ledger, seq).owner};
        enum seq_state end = ends[draw(racer) % 3];
        won += seq_memory_finish(ledger, token, end, CLASS_FATAL, at(seq)).event;
    }
    expect_one_winner_a_seq(arena, won);
    won = 0;
    for (uint64_t seq = 0; seq < ONE_BY_ONE; seq++) {
        won +=
            seq_memory_order(ledger, seq, SEQ_COMMITTED, racer->id, at(seq)).verdict == SEQ_MOVED;
    }
    expect_one_winner_a_seq(arena, won);
    return NULL;
}

static void of_eight_racing_moves_from_one_state_exactly_one_wins(void)
{
    PROVES(CLAUSE_SEQ_5, CLAUSE_SEQ_6, CLAUSE_SEQ_16);
    static struct arena arena;
    race(&arena, ONE_BY_ONE, race_on_one_seq_after_another);
    struct seq_counts counts = seq_memory_count(arena.ledger);
    EXPECT(counts.committed == ONE_BY_ONE);
    EXPECT(counts.events == ONE_BY_ONE);
    EXPECT(counts.stale + counts.repeated ==
           UINT64_C(14) * ONE_BY_ONE); /* all losers are counted */
    free(arena.ledger);
}

/* ---- many seqs ----------------------------------------------------------------------------- */

static void count_reclaimed(void *context, const struct seq_reclaimed *reclaimed)
{
    struct arena *arena = context;
    atomic_fetch_add(&arena->reclaimed, 1);
    note_event(arena, reclaimed->seq, reclaimed->result);
}

/* One legal call of whatever kind fits; being overtaken by another thread is normal. */
static void call_something(struct racer *racer, uint64_t window)
{
    struct arena *arena = racer->arena;
    struct seq_memory *ledger = arena->ledger;
    uint64_t random = draw(racer);
    uint64_t seq = window + random % WINDOW;
    struct seq_view view = seq_memory_read(ledger, seq);
    struct seq_cancellation asked = {.run.seq = seq};
    struct seq_time now = tick(arena);
    struct seq_result result = {0};
    switch ((random >> 16) % 8) {
    case 0:
    case 1:
    case 2: /* seqs are dispatched before the race: here they are only taken */
        result = seq_memory_take(ledger, seq, view.attempt, racer->id, now, &racer->tokens[seq]);
        break;
    case 3:
    case 4:
        if (racer->tokens[seq].owner != 0) { /* perhaps long after it was lost */
            enum seq_state end = (enum seq_state)(SEQ_SUCCESS + (random >> 24) % 3);
            result = seq_memory_finish(ledger, racer->tokens[seq], end, CLASS_TRANSIENT, now);
        }
        break;
    case 5:
        if (racer->tokens[seq].owner != 0) {
            seq_memory_heartbeat(ledger, racer->tokens[seq], now);
        }
        break;
    case 6:
        if (view.state == SEQ_DISPATCHED || view.state == SEQ_IN_FLIGHT) {
            result = seq_memory_cancel(ledger, seq, view, racer->id, now, &asked);
            if (result.verdict == SEQ_ASKED) {
                result = seq_memory_cancel_force(ledger, asked, racer->id, at(now.mono_ms + 1));
            }
        }
        break;
    default:
        seq_memory_reclaim(ledger, racer->id, now, count_reclaimed, arena);
    }
    note_event(arena, seq, result);
}

static void *race_on_many_seqs(void *argument)
{
    struct racer *racer = argument;
    struct arena *arena = racer->arena;
    for (uint64_t seq = racer->id - 1; seq < MANY; seq += THREADS) {
        seq_memory_order(arena->ledger, seq, SEQ_DISPATCHED, racer->id, tick(arena));
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        quiesce(arena);
        for (int i = 0; i < CALLS_PER_ROUND; i++) {
            call_something(racer, round * (WINDOW / 4));
        }
    }
    quiesce(arena);
    /* Each thread dies with a lease in its hands, and seven of the eight have lost a race. */
    seq_memory_take(arena->ledger, MANY - racer->id, 0, racer->id, tick(arena), &racer->tokens[0]);
    seq_memory_take(arena->ledger, MANY - THREADS - 1, 0, racer->id, tick(arena),
                    &racer->tokens[0]);
    quiesce(arena);
    return NULL;
}

/* After the race every worker is dead: one look at the wheel, a lease later, ends all of their
 * runs. A lease that the wheel had lost would stay in flight for ever. */
static void settle(struct arena *arena)
{
    struct seq_time now = at(tick(arena).mono_ms + race_policy.lease_ms);
    EXPECT(seq_memory_count(arena->ledger).in_flight > THREADS);
    seq_memory_reclaim(arena->ledger, 1, now, count_reclaimed, arena);
    EXPECT(seq_memory_count(arena->ledger).in_flight == 0);
}

static void eight_threads_on_many_seqs_lose_nothing_and_end_each_seq_once(void)
{
    PROVES(CLAUSE_SEQ_5, CLAUSE_SEQ_6, CLAUSE_SEQ_8, CLAUSE_SEQ_12, CLAUSE_SEQ_16);
    static struct arena arena;
    race(&arena, MANY, race_on_many_seqs);
    settle(&arena);
    struct seq_report report;
    struct seq_counts counts = seq_memory_count(arena.ledger);
    EXPECT(counts_agree(arena.ledger));
    EXPECT(!seq_memory_halted(arena.ledger, &report)); /* every call was legal */
    EXPECT(counts.terminal == counts.events);
    EXPECT(counts.stale >= THREADS - 1);             /* callers were overtaken */
    EXPECT(atomic_load(&arena.reclaimed) > THREADS); /* leases ran out */
    for (uint64_t seq = 0; seq < MANY; seq++) {
        bool ended = seq_rules_terminal(seq_memory_read(arena.ledger, seq).state);
        EXPECT(atomic_load(&arena.events[seq]) == (ended ? 1U : 0U)); /* one event, if it ended */
    }
    free(arena.ledger);
}

/* ---- many moves a call ---- */

/* The threads walk the same seqs, many a call, and some reclaim while others hang up chains of
 * leases. Of every 16th run nothing is heard again. */
static void *race_by_the_batch(void *argument)
{
    struct racer *racer = argument;
    struct arena *arena = racer->arena;
    struct seq_memory *ledger = arena->ledger;
    uint64_t seqs[BATCH];
    struct seq_token runs[BATCH];
    struct seq_result results[BATCH];
    for (uint64_t first = 0; first < BY_BATCH; first += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++) {
            seqs[i] = first + i;
            runs[i] = (struct seq_token){.seq = first + i};
        }
        if (racer->id == 1 + first / BATCH % THREADS) {
            seq_memory_order_many(ledger, seqs, BATCH, SEQ_DISPATCHED, racer->id, tick(arena),
                                  results);
        }
        pthread_barrier_wait(&arena->barrier);
        seq_memory_take_many(ledger, runs, BATCH, racer->id, tick(arena), results);
        uint64_t mine = 0;
        for (uint64_t i = 0; i < BATCH; i++) {
            if (results[i].verdict == SEQ_MOVED && runs[i].seq % 16 != 0) {
                runs[mine++] = runs[i];
            }
        }
        seq_memory_reclaim(ledger, racer->id, tick(arena), count_reclaimed, arena);
        uint64_t ended =
            seq_memory_finish_many(ledger, runs, mine, SEQ_SUCCESS, 0, tick(arena), results);
        for (uint64_t i = 0; i < mine; i++) {
            note_event(arena, runs[i].seq, results[i]);
            seqs[i] = runs[i].seq;
            expect(arena, results[i].verdict == SEQ_MOVED || results[i].verdict == SEQ_STALE);
        }
        if (ended == mine) { /* nobody's lease had run out */
            seq_memory_order_many(ledger, seqs, mine, SEQ_COMMITTED, racer->id, tick(arena),
                                  results);
        }
        quiesce(arena);
    }
    return NULL;
}

static void many_moves_a_call_lose_no_lease_no_count_and_no_event(void)
{
    PROVES(CLAUSE_SEQ_5, CLAUSE_SEQ_6, CLAUSE_SEQ_10, CLAUSE_SEQ_16);
    static struct arena arena;
    race(&arena, BY_BATCH, race_by_the_batch);
    for (uint32_t i = 0; i <= race_policy.retry_budget; i++) { /* each in the hands of a dead one */
        struct seq_time now =
            at(tick(&arena).mono_ms + (uint64_t)race_policy.lease_ms * (2 * i + 1));
        struct seq_token token;
        seq_memory_reclaim(arena.ledger, 1, now, count_reclaimed, &arena);
        EXPECT(seq_memory_count(arena.ledger).in_flight == 0);
        for (uint64_t seq = 0; seq < BY_BATCH; seq++) {
            seq_memory_take(arena.ledger, seq, i + 1, 1, now, &token);
        }
    }
    struct seq_counts counts = seq_memory_count(arena.ledger);
    struct seq_report report;
    EXPECT(counts_agree(arena.ledger));
    EXPECT(!seq_memory_halted(arena.ledger, &report));
    EXPECT(counts.events == BY_BATCH);
    EXPECT(counts.committed > 0 && atomic_load(&arena.reclaimed) >= BY_BATCH / 16);
    for (uint64_t seq = 0; seq < BY_BATCH; seq++) {
        EXPECT(atomic_load(&arena.events[seq]) == 1U);
    }
    free(arena.ledger);
}

/* ---- the wheel ---- */

/* Takers and reclaimers meet in the same slot all the time: a push that falls between the clearing
 * of a slot's bit and the taking of its list must not be lost. */
static void *race_in_one_slot(void *argument)
{
    struct racer *racer = argument;
    struct arena *arena = racer->arena;
    struct seq_token token;
    for (uint64_t round = 0; round < SLOT_ROUNDS; round++) {
        uint64_t seq = round * THREADS + racer->id - 1;
        uint64_t now = round * (race_policy.lease_ms + 1);
        bool takes = racer->id % 2 == 0;
        seq_memory_order(arena->ledger, seq, SEQ_DISPATCHED, racer->id, at(now));
        pthread_barrier_wait(&arena->barrier);
        for (int i = 0; i < 4; i++) {
            if (takes && i == 0) {
                seq_memory_take(arena->ledger, seq, 0, racer->id, at(now), &token);
            } else {
                seq_memory_reclaim(arena->ledger, racer->id, at(now + race_policy.lease_ms),
                                   count_reclaimed, arena);
            }
        }
        pthread_barrier_wait(&arena->barrier);
    }
    quiesce(arena);
    return NULL;
}

static void a_lease_hung_up_while_its_slot_is_visited_is_not_lost(void)
{
    PROVES(CLAUSE_SEQ_10);
    static struct arena arena;
    race(&arena, (uint64_t)SLOT_ROUNDS * THREADS, race_in_one_slot);
    struct seq_time end = at((SLOT_ROUNDS + 2) * ((uint64_t)race_policy.lease_ms + 1));
    seq_memory_reclaim(arena.ledger, 1, end, count_reclaimed, &arena);
    EXPECT(seq_memory_count(arena.ledger).in_flight == 0);
    EXPECT(atomic_load(&arena.reclaimed) == SLOT_ROUNDS * THREADS / 2);
    free(arena.ledger);
}

/* ---- the latch ---- */

static void *race_to_halt(void *argument)
{
    struct racer *racer = argument;
    struct arena *arena = racer->arena;
    for (uint64_t round = 0; round < HALT_ROUNDS; round++) {
        struct seq_report report = {0};
        pthread_barrier_wait(&arena->barrier);
        struct seq_result result = seq_memory_order(arena->ledgers[round], racer->id, SEQ_COMMITTED,
                                                    racer->id, at(racer->id));
        expect(arena, result.verdict == SEQ_FATAL || result.verdict == SEQ_HALTED);
        atomic_fetch_add(&arena->winners, result.verdict == SEQ_FATAL);
        /* A thread that learns that the ledger is halted can read why, at once and whole. */
        expect(arena, seq_memory_halted(arena->ledgers[round], &report));
        expect(arena, report.seq == report.by && report.by >= 1);
        expect(arena, report.wall_ms == at(report.by).wall_ms);
    }
    quiesce(arena);
    return NULL;
}

static void of_eight_illegal_moves_one_halts_the_ledger_and_leaves_a_whole_report(void)
{
    PROVES(CLAUSE_SEQ_20);
    static struct arena arena;
    for (int i = 0; i < HALT_ROUNDS; i++) {
        arena.ledgers[i] = ledger_new(THREADS + 1, &race_policy);
    }
    race(&arena, 1, race_to_halt);
    EXPECT(atomic_load(&arena.winners) == HALT_ROUNDS);
    for (int i = 0; i < HALT_ROUNDS; i++) {
        free(arena.ledgers[i]);
    }
    free(arena.ledger);
}

/* Every seq but the last in flight since the beginning. */
static void lease_all(struct seq_memory *ledger)
{
    struct seq_token token;
    for (uint64_t seq = 0; seq < ONE_BY_ONE; seq++) {
        seq_memory_order(ledger, seq, SEQ_DISPATCHED, 1, at(0));
        seq_memory_take(ledger, seq, 0, 1, at(0), &token);
    }
}

/* The reclaimer's callback: at the first lease it waits until another thread has halted the ledger.
 */
static void wait_for_the_halt(void *context, const struct seq_reclaimed *reclaimed)
{
    struct arena *arena = context;
    struct seq_report report;
    count_reclaimed(context, reclaimed);
    while (!seq_memory_halted(arena->ledger, &report)) {
    }
}

/* One thread reclaims a long list; in the middle of it another one breaks the contract. */
static void *race_a_reclaim_with_a_halt(void *argument)
{
    struct racer *racer = argument;
    struct arena *arena = racer->arena;
    if (racer->id == 1) {
        struct seq_time late = at(UINT64_C(2) * race_policy.lease_ms);
        seq_memory_reclaim(arena->ledger, 1, late, wait_for_the_halt, arena);
    } else if (racer->id == 2) {
        while (atomic_load(&arena->reclaimed) == 0) {
        }
        seq_memory_order(arena->ledger, ONE_BY_ONE, SEQ_COMMITTED, 2, at(1));
    }
    quiesce(arena);
    return NULL;
}

static void a_halt_stops_a_reclaim_on_another_thread(void)
{
    PROVES(CLAUSE_SEQ_20);
    static struct arena arena;
    arena.prepare = lease_all;
    race(&arena, ONE_BY_ONE + 1, race_a_reclaim_with_a_halt);
    EXPECT(atomic_load(&arena.reclaimed) == 1);
    EXPECT(seq_memory_count(arena.ledger).in_flight == ONE_BY_ONE - 1);
    free(arena.ledger);
}

int main(void)
{
    of_eight_racing_moves_from_one_state_exactly_one_wins();
    eight_threads_on_many_seqs_lose_nothing_and_end_each_seq_once();
    many_moves_a_call_lose_no_lease_no_count_and_no_event();
    a_lease_hung_up_while_its_slot_is_visited_is_not_lost();
    a_halt_stops_a_reclaim_on_another_thread();
    of_eight_illegal_moves_one_halts_the_ledger_and_leaves_a_whole_report();
    printf("seq_threads: 6 tests, %d failures\n", failures);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
