#include "bench/seq_workload.h"

#define LAG        UINT64_C(64) /* seqs between one move of a seq and its next */
#define LOOK_EVERY 10000U       /* seqs between two looks at the leases */
#define HINT_AHEAD 16U          /* moves between a hint and the move it is for */
#define BATCH      256U         /* moves a call, where a call makes many */

static struct seq_time at(uint64_t mono_ms)
{
    return (struct seq_time){.mono_ms = mono_ms};
}

static void ignore(void *context, const struct seq_reclaimed *reclaimed)
{
    (void)context;
    (void)reclaimed;
}

uint64_t seq_workload_window(struct seq_memory *ledger, uint64_t first, uint64_t end,
                             uint32_t actor)
{
    uint64_t moves = 0;
    for (uint64_t i = first; i < end + 3 * LAG; i++) {
        struct seq_time now = at(i / LOOK_EVERY);
        struct seq_token token;
        if (i < end) {
            seq_memory_prefetch(ledger, i + LAG < end ? i + LAG : i);
            moves += seq_memory_order(ledger, i, SEQ_DISPATCHED, actor, now).verdict == SEQ_MOVED;
        }
        if (i >= first + LAG && i < end + LAG) {
            moves += seq_memory_take(ledger, i - LAG, 0, actor, now, &token).verdict == SEQ_MOVED;
        }
        if (i >= first + 2 * LAG && i < end + 2 * LAG) {
            token = (struct seq_token){.seq = i - 2 * LAG, .owner = actor};
            moves += seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, now).verdict == SEQ_MOVED;
        }
        if (i >= first + 3 * LAG) {
            moves += seq_memory_order(ledger, i - 3 * LAG, SEQ_COMMITTED, actor, now).verdict ==
                     SEQ_MOVED;
        }
        if (i % LOOK_EVERY == 0) {
            seq_memory_reclaim(ledger, actor, now, ignore, NULL);
        }
    }
    return moves;
}

/* ---- one move at every place, a call a move ---- */

static void hint_at(const struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                    uint64_t i)
{
    seq_memory_prefetch(ledger, places[i + HINT_AHEAD < count ? i + HINT_AHEAD : i]);
}

static uint64_t order_each(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                           bool hint, enum seq_state to)
{
    uint64_t moves = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (hint) {
            hint_at(ledger, places, count, i);
        }
        moves +=
            seq_memory_order(ledger, places[i], to, 1, at(i / LOOK_EVERY)).verdict == SEQ_MOVED;
    }
    return moves;
}

static uint64_t take_each(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                          bool hint)
{
    uint64_t moves = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct seq_token token;
        if (hint) {
            hint_at(ledger, places, count, i);
        }
        moves += seq_memory_take(ledger, places[i], 0, 1, at(i / LOOK_EVERY), &token).verdict ==
                 SEQ_MOVED;
    }
    return moves;
}

static uint64_t finish_each(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                            bool hint)
{
    uint64_t moves = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct seq_token token = {.seq = places[i], .owner = 1};
        if (hint) {
            hint_at(ledger, places, count, i);
        }
        moves += seq_memory_finish(ledger, token, SEQ_SUCCESS, 0, at(i / LOOK_EVERY)).verdict ==
                 SEQ_MOVED;
    }
    return moves;
}

/* ---- the same, many moves a call ---- */

static uint64_t order_batches(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                              enum seq_state to)
{
    uint64_t seqs[BATCH];
    struct seq_result results[BATCH];
    uint64_t moves = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        uint64_t size = count - done < BATCH ? count - done : BATCH;
        for (uint64_t i = 0; i < size; i++) {
            seqs[i] = places[done + i];
        }
        moves += seq_memory_order_many(ledger, seqs, size, to, 1, at(done / LOOK_EVERY), results);
    }
    return moves;
}

static uint64_t run_batches(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                            bool take)
{
    struct seq_token runs[BATCH];
    struct seq_result results[BATCH];
    uint64_t moves = 0;
    for (uint64_t done = 0; done < count; done += BATCH) {
        uint64_t size = count - done < BATCH ? count - done : BATCH;
        struct seq_time now = at(done / LOOK_EVERY);
        for (uint64_t i = 0; i < size; i++) {
            runs[i] = (struct seq_token){.seq = places[done + i], .owner = 1};
        }
        moves += take ? seq_memory_take_many(ledger, runs, size, 1, now, results)
                      : seq_memory_finish_many(ledger, runs, size, SEQ_SUCCESS, 0, now, results);
    }
    return moves;
}

uint64_t seq_workload_places(struct seq_memory *ledger, const uint32_t *places, uint64_t count,
                             enum seq_workload_calls calls)
{
    if (calls == SEQ_WORKLOAD_MANY) {
        return order_batches(ledger, places, count, SEQ_DISPATCHED) +
               run_batches(ledger, places, count, true) +
               run_batches(ledger, places, count, false) +
               order_batches(ledger, places, count, SEQ_COMMITTED);
    }
    bool hint = calls == SEQ_WORKLOAD_HINTED;
    return order_each(ledger, places, count, hint, SEQ_DISPATCHED) +
           take_each(ledger, places, count, hint) + finish_each(ledger, places, count, hint) +
           order_each(ledger, places, count, hint, SEQ_COMMITTED);
}

uint64_t seq_workload_bare(_Atomic uint64_t *words, const uint32_t *places, uint64_t count,
                           bool hint)
{
    uint64_t swapped = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (hint) {
            __builtin_prefetch(&words[places[i + HINT_AHEAD < count ? i + HINT_AHEAD : i]], 1);
        }
        uint64_t word = atomic_load(&words[places[i]]);
        swapped += atomic_compare_exchange_strong(&words[places[i]], &word, word + 1);
    }
    return swapped;
}

void seq_workload_lease_all(struct seq_memory *ledger, const uint32_t *old_places,
                            uint64_t old_count, uint64_t later_ms)
{
    struct seq_token token;
    for (uint64_t seq = 0; seq < seq_memory_capacity(ledger); seq++) {
        seq_memory_order(ledger, seq, SEQ_DISPATCHED, 1, at(0));
    }
    for (uint64_t i = 0; i < old_count; i++) {
        seq_memory_take(ledger, old_places[i], 0, 1, at(0), &token);
    }
    for (uint64_t seq = 0; seq < seq_memory_capacity(ledger); seq++) {
        if (seq_memory_read(ledger, seq).state == SEQ_DISPATCHED) {
            seq_memory_take(ledger, seq, 0, 1, at(later_ms), &token);
        }
    }
}

uint64_t seq_workload_reclaim(struct seq_memory *ledger, uint64_t now_ms)
{
    return seq_memory_reclaim(ledger, 1, at(now_ms), ignore, NULL);
}
