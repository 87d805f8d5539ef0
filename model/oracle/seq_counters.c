/* The monitor of the counters: that all stripes together tell the truth after every commit (SEQ-16),
 * and that a refused or repeated move is counted once, with its reason, and changed nothing. */
#include "model/oracle/seq_commit.h"

/* ---- counters -------------------------------------------------------------------------------- */

static int64_t sum(const struct rows *rows, int column)
{
    int64_t all = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ_TALLY].used; slot++) {
        all += row_get(rows, TABLE_SEQ_TALLY, slot, column);
    }
    return all;
}

void seq_judge_counters(struct commit *commit)
{
    const struct rows *rows = commit->judge.rows;
    struct oracle_seq_occupancy true_ones = {0};
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        int64_t state = row_get(rows, TABLE_SEQ, slot, SEQ_STATE);
        if (is_state(state)) {
            oracle_seq_count(&true_ones, (enum oracle_seq_state)state);
        }
    }
    const struct oracle_seq_occupancy counters = {
        .unseen = true_ones.unseen, /* has no counter */
        .dispatched = (uint64_t)sum(rows, SEQ_TALLY_DISPATCHED),
        .in_flight = (uint64_t)sum(rows, SEQ_TALLY_IN_FLIGHT),
        .terminal = (uint64_t)sum(rows, SEQ_TALLY_TERMINAL),
        .committed = (uint64_t)sum(rows, SEQ_TALLY_COMMITTED),
    };
    struct oracle_verdict verdict = oracle_seq_compare(counters, true_ones);
    judge_held(&commit->judge, CLAUSE_SEQ_16);
    if (verdict.broken) {
        judge_breach(&commit->judge, ORACLE_SEQ_COUNTERS, verdict.clause, TABLE_SEQ_TALLY, 0,
                     verdict.why);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void tally_breach(struct commit *commit, enum clause_id clause, uint32_t slot,
                         const char *why)
{
    judge_breach(&commit->judge, ORACLE_SEQ_COUNTERS, clause, TABLE_SEQ_TALLY, slot, why);
}

/* How much the commit added to a counter of the stripe. */
static int64_t counted(const struct commit *commit, uint32_t slot, int column)
{
    return after(commit, TABLE_SEQ_TALLY, slot, column) -
           before(commit, TABLE_SEQ_TALLY, slot, column);
}

int64_t seq_counted(const struct commit *commit, int column)
{
    int64_t all = 0;
    for (uint32_t slot = 0; slot < commit->judge.rows->table[TABLE_SEQ_TALLY].used; slot++) {
        all += counted(commit, slot, column);
    }
    return all;
}

/* A retry expects a failure that waits for it; other moves a state. */
static bool is_as_expected(const struct commit *commit, uint32_t seq, int64_t expected)
{
    return expected < ORACLE_SEQ_STATES ? after(commit, TABLE_SEQ, seq, SEQ_STATE) == expected
                                        : after(commit, TABLE_SEQ, seq, SEQ_RETRY) != 0;
}

/* An overtaken expectation (SEQ-5): it was overtaken, and is reported. A further cancel of a run
 * that was asked to end already is a forced one (E-SEQ-8). */
static void judge_stale(struct commit *commit, uint32_t stripe, uint32_t seq)
{
    int64_t expected = after(commit, TABLE_SEQ_TALLY, stripe, SEQ_TALLY_AS);
    judge_held(&commit->judge, CLAUSE_SEQ_5);
    if (seq == ROW_NONE || is_as_expected(commit, seq, expected)) {
        tally_breach(commit, CLAUSE_SEQ_5, stripe, "a move was refused that nobody had overtaken");
        return;
    }
    bool retried = after(commit, TABLE_SEQ, seq, SEQ_STATE) == ORACLE_SEQ_DISPATCHED;
    int64_t run = after(commit, TABLE_SEQ, seq, SEQ_ATTEMPTS) - retried; /* the last one */
    int64_t flags = memory_get(&commit->judge, MEMORY_SEQS,
                               row_key(commit->judge.rows, TABLE_SEQ, seq), JUDGE_MEMO_FLAGS);
    if (expected == ORACLE_SEQ_IN_FLIGHT && run >= 0 && run < RUNS_MAX &&
        (flags & FLAG_ASKED << run) != 0) {
        judge_see(&commit->judge, COVER_SEQ_CANCEL_LATE);
    }
}

/* A token that no longer stands (SEQ-12): its run is over. An attempt is one run, so the run goes
 * on if this attempt is in flight. */
static void judge_late(struct commit *commit, uint32_t stripe, uint32_t seq)
{
    int64_t run = after(commit, TABLE_SEQ_TALLY, stripe, SEQ_TALLY_AS);
    bool result = counted(commit, stripe, SEQ_TALLY_RESULTS) != 0;
    judge_held(&commit->judge, CLAUSE_SEQ_12);
    if (seq == ROW_NONE || (after(commit, TABLE_SEQ, seq, SEQ_STATE) == ORACLE_SEQ_IN_FLIGHT &&
                            after(commit, TABLE_SEQ, seq, SEQ_ATTEMPTS) == run)) {
        tally_breach(commit, CLAUSE_SEQ_12, stripe, "the token of a run that goes on was refused");
        return;
    }
    int64_t flags = memory_get(&commit->judge, MEMORY_SEQS,
                               row_key(commit->judge.rows, TABLE_SEQ, seq), JUDGE_MEMO_FLAGS);
    judge_see(&commit->judge, COVER_SEQ_LATE);
    judge_see(&commit->judge, result ? COVER_SEQ_LATE_RESULT : COVER_SEQ_LATE_BEAT);
    if (result && run >= 0 && run < RUNS_MAX && (flags & (int64_t)FLAG_RECLAIMED << run) != 0) {
        judge_see(&commit->judge, COVER_SEQ_RECLAIM_WON);
    }
}

/* What was refused is counted once, and told; and it changed nothing, as a no-op did (SEQ-5, SEQ-7,
 * SEQ-12). */
static void judge_stripe(struct commit *commit, uint32_t slot, bool wrote)
{
    int64_t stale = counted(commit, slot, SEQ_TALLY_STALE),
            late = counted(commit, slot, SEQ_TALLY_LATE);
    int64_t again = counted(commit, slot, SEQ_TALLY_REPEATED);
    uint32_t seq =
        row_find(commit->judge.rows, TABLE_SEQ, after(commit, TABLE_SEQ_TALLY, slot, SEQ_TALLY_OF));
    bool named = changed(commit, TABLE_SEQ_TALLY, slot, SEQ_TALLY_OF) ||
                 changed(commit, TABLE_SEQ_TALLY, slot, SEQ_TALLY_AS) ||
                 counted(commit, slot, SEQ_TALLY_RESULTS) != 0;
    if (stale != 0) {
        judge_stale(commit, slot, seq);
    }
    if (late != 0) {
        judge_late(commit, slot, seq);
    }
    if (again != 0) {
        judge_held(&commit->judge, CLAUSE_SEQ_7);
        judge_see(&commit->judge, COVER_SEQ_COMMIT_AGAIN);
    }
    if (named && stale + late != 1) {
        tally_breach(commit, CLAUSE_SEQ_12, slot, "a move was refused, and not counted");
    }
    if (wrote && (stale != 0 || late != 0 || again != 0)) {
        tally_breach(commit,
                     again != 0  ? CLAUSE_SEQ_7
                     : late != 0 ? CLAUSE_SEQ_12
                                 : CLAUSE_SEQ_5,
                     slot, "a move that was refused or a no-op changed a seq");
    }
}

/* A stripe of the counters has counted nothing when it comes. */
static void judge_new_stripe(struct commit *commit, uint32_t slot)
{
    bool empty = true;
    for (int column = 0; column < SEQ_TALLY_COLUMNS; column++) {
        empty = empty && after(commit, TABLE_SEQ_TALLY, slot, column) == 0;
    }
    if (!empty) {
        tally_breach(commit, CLAUSE_SEQ_16, slot, "a stripe of the counters did not begin at 0");
    }
}

void seq_judge_refusals(struct commit *commit, bool wrote)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == TABLE_SEQ_TALLY && change->kind == ROW_INSERTED) {
            judge_new_stripe(commit, change->slot);
        }
        bool seen = change->table != TABLE_SEQ_TALLY || change->kind != ROW_UPDATED;
        for (size_t j = 0; j < i && !seen; j++) {
            seen = commit->changes[j].table == TABLE_SEQ_TALLY &&
                   commit->changes[j].slot == change->slot;
        }
        if (!seen) {
            judge_stripe(commit, change->slot, wrote);
        }
    }
}
