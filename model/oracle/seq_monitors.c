/* The monitors of the durable seq ledger: what they remember, and in which order they judge a commit.
 *
 * That the work of a run was done, and once, is told by the journal and not by rows (SEQ-22); what
 * no row shows of a transaction is seen_seq.c's.
 *
 * Of several breaches of one commit the first is told: the latch, then the seqs in the order in
 * which they were written, then the counters. */
#include "model/oracle/seen.h"
#include "model/oracle/seq_commit.h"

static size_t mask_of(const struct rows *rows)
{
    size_t entries = 4;
    while (entries < 2 * (size_t)rows->table[TABLE_SEQ].capacity) {
        entries *= 2;
    }
    return entries - 1;
}

static size_t cells(const struct rows *rows)
{
    return CELL_DECISIONS + DECISION_CELLS + (mask_of(rows) + 1) * JUDGE_MEMO_CELLS;
}

static void expect(const struct document *scenario, struct expectation *expected)
{
    expected_seq_read(scenario, &expected->of.seq);
}

static struct commit begin(struct oracle *oracle, const struct rows *rows,
                           const struct row_change *changes, size_t count)
{
    struct commit commit = {.changes = changes, .count = count};
    for (size_t i = 0; i < count; i++) {
        commit.touched |= bit_of(changes[i].table, changes[i].slot);
    }
    judge_begin(&commit.judge, oracle, rows);
    judge_remember(&commit.judge, MEMORY_SEQS, CELL_DECISIONS + DECISION_CELLS, mask_of(rows));
    return commit;
}

static bool is_halted(const struct oracle *oracle)
{
    return ghost_get(&oracle->ghosts, CELL_HALTED) != 0;
}

/* Whether the commit wrote a stripe of the counters. */
static bool counts(const struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++) {
        if (commit->changes[i].table == TABLE_SEQ_TALLY && commit->changes[i].kind == ROW_UPDATED) {
            return true;
        }
    }
    return false;
}

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct commit commit = begin(oracle, rows, changes, count);
    if (rows->table[TABLE_STAGE].used == 0) {
        return commit.judge.verdict; /* nothing is set up yet */
    }
    bool halted = is_halted(oracle);
    seq_judge_stage(&commit);
    bool wrote = seq_judge_moves(&commit);
    if (halted) {
        judge_held(&commit.judge, CLAUSE_SEQ_20);
    }
    if (halted && wrote) {
        seq_latch_breach(&commit, CLAUSE_SEQ_20, "a seq moved after Stage1 had failed");
    }
    if (halted && counts(&commit)) { /* all of it would be refused, with what it counted */
        seq_latch_breach(&commit, CLAUSE_SEQ_20, "an actor went on after Stage1 had failed");
    }
    if (!halted && wrote && seq_counted(&commit, SEQ_TALLY_ILLEGAL) != 0) {
        seq_latch_breach(&commit, CLAUSE_SEQ_3, "an illegal move changed a seq");
    }
    seq_judge_refusals(&commit, wrote);
    seq_judge_counters(&commit);
    if (!halted && policy_cell(&commit, STAGE_SEQ) != 0) {
        ghost_set(&oracle->ghosts, CELL_HALTED, 1);
    }
    return commit.judge.verdict;
}

/* The token of a run: its owner and its attempt. The row names the owner of the last run only. */
static bool granted(const struct rows *rows, const struct side_effect *effect)
{
    uint32_t slot = row_find(rows, TABLE_SEQ, effect->what);
    int64_t last = slot == ROW_NONE ? -1 : row_get(rows, TABLE_SEQ, slot, SEQ_BEAT_RUN);
    return effect->epoch >= 0 &&
           (effect->epoch < last || (effect->epoch == last &&
                                     effect->claim == row_get(rows, TABLE_SEQ, slot, SEQ_BEAT_BY)));
}

/* A worker did the work of a run (SEQ-22). */
static struct oracle_verdict effect(struct oracle *oracle, const struct rows *rows,
                                    const struct side_effect *effect)
{
    struct commit commit = begin(oracle, rows, NULL, 0);
    uint32_t slot = row_find(rows, TABLE_SEQ, effect->what);
    enum row_table table = slot == ROW_NONE ? TABLE_COUNT : TABLE_SEQ;
    judge_held(&commit.judge, CLAUSE_SEQ_22);
    if (!granted(rows, effect)) {
        judge_breach(&commit.judge, ORACLE_JOURNAL, CLAUSE_SEQ_22, table, slot,
                     "the work of a run was done under a token that was never given out");
    } else if (effect->epoch < RUNS_MAX) {
        int64_t worked = memory_get(&commit.judge, MEMORY_SEQS, effect->what, MEMO_WORKED);
        if ((worked >> effect->epoch & 1) != 0) {
            judge_breach(&commit.judge, ORACLE_JOURNAL, CLAUSE_SEQ_22, table, slot,
                         "the work of one run was done twice");
        }
        memory_set(&commit.judge, MEMORY_SEQS, effect->what, MEMO_WORKED,
                   worked | INT64_C(1) << effect->epoch);
    }
    return commit.judge.verdict;
}

bool seq_monitors_worked(struct oracle *oracle, const struct rows *rows, int64_t seq, int64_t run)
{
    struct commit commit = begin(oracle, rows, NULL, 0);
    return run >= 0 && run < RUNS_MAX &&
           (memory_get(&commit.judge, MEMORY_SEQS, seq, MEMO_WORKED) >> run & 1) != 0;
}

static void rollback(struct oracle *oracle)
{
    if (is_halted(oracle) && !oracle->off[CLAUSE_SEQ_20]) {
        oracle->evaluated[CLAUSE_SEQ_20]++;
    }
}

/* Every seq that is asked for has come to its end, unless Stage1 has failed. */
static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet)
{
    struct commit commit = begin(oracle, rows, NULL, 0);
    if (is_halted(oracle)) { /* no commit since has moved a seq */
        judge_held(&commit.judge, CLAUSE_SEQ_20);
        return commit.judge.verdict;
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        int64_t state = row_get(rows, TABLE_SEQ, slot, SEQ_STATE);
        judge_held(&commit.judge, CLAUSE_SEQ_2);
        if (state == ORACLE_SEQ_IN_FLIGHT) {
            breach(&commit, CLAUSE_SEQ_10, slot, "an expired lease was never reclaimed");
        } else if (state != ORACLE_SEQ_COMMITTED) {
            breach(&commit, CLAUSE_SEQ_2, slot,
                   row_get(rows, TABLE_SEQ, slot, SEQ_RETRY) != 0
                       ? "a failure waits for a retry that is never made"
                   : rests(state) ? "a seq that ended was never committed"
                                  : "a seq was never brought to its end");
        }
    }
    if (asked(&commit) != NULL && rows->table[TABLE_SEQ].used != asked(&commit)->jobs) {
        breach(&commit, CLAUSE_SEQ_21, ROW_NONE, "a seq that was asked for was never admitted");
    }
    if (!quiet) {
        breach(&commit, CLAUSE_SEQ_2, ROW_NONE, "the work does not come to an end");
    }
    return commit.judge.verdict;
}

const struct monitors monitors_seq = {
    .expect = expect,
    .cells = cells,
    .plain = CELL_DECISIONS + DECISION_CELLS,
    .memories = {[MEMORY_SEQS] = {.kinds = {[MEMO_TAKEN] = GHOST_MOMENT}}},
    .commit = commit,
    .effect = effect,
    .granted = granted,
    .transaction = seen_seq,
    .idle = seen_seq_idle,
    .whole = CLAUSE_SEQ_5,
    .whole_by = ORACLE_SEQ_MOVES,
    .rollback = rollback,
    .settled = settled};
