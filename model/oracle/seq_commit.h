/* One commit as the monitors of the durable seq ledger look at it: its changes, each row before and
 * after, and what they remember. The monitors are a file an oracle: seq_moves.c, seq_counters.c,
 * seq_latch.c; seq_monitors.c calls them.
 *
 * Private to model/oracle/seq_*.c. */
#ifndef MODEL_ORACLE_SEQ_COMMIT_H
#define MODEL_ORACLE_SEQ_COMMIT_H

#include "model/oracle/judge.h"
#include "model/oracle/seq.h"

#define MEMORY_SEQS    0 /* by id: flags, then */
#define MEMO_TAKEN     2 /* the heartbeat with which the run in flight began */
#define MEMO_WORKED    3 /* 1 << attempt: the work of that run was done, of those below RUNS_MAX */
#define FLAG_EVENT     1 /* its terminal event is out */
#define FLAG_RECLAIMED 2 /* << attempt: that run was reclaimed, of those below RUNS_MAX, */
#define FLAG_ASKED     (INT64_C(1) << 31) /* << attempt: ... was asked to end */
#define RUNS_MAX       30
#define DECISIONS      16 /* attempts of which decisions are remembered */
#define DECISION_CELLS ((size_t)ORACLE_SEQ_CLASSES * DECISIONS)

enum stage_cell { CELL_HALTED, CELL_DECISIONS }; /* the first cells, before the memory */

struct commit {
    struct judge judge;
    const struct row_change *changes;
    size_t count;
    uint64_t touched; /* a bit for each row that was changed, which other rows may share */
};

static inline uint64_t bit_of(unsigned table, uint32_t slot)
{
    return UINT64_C(1) << ((7 * table + slot) & 63);
}

static inline int64_t after(const struct commit *commit, enum row_table table, uint32_t slot,
                            int column)
{
    return row_get(commit->judge.rows, table, slot, column);
}

static inline bool has(const struct commit *commit, enum row_table table, uint32_t slot,
                       enum row_change_kind kind)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == table && change->slot == slot && change->kind == kind) {
            return true;
        }
    }
    return false;
}

/* What the cell held when the transaction began; 0 of a row that it made. */
static inline int64_t before(const struct commit *commit, enum row_table table, uint32_t slot,
                             int column)
{
    if ((commit->touched & bit_of(table, slot)) == 0) {
        return after(commit, table, slot, column);
    }
    if (has(commit, table, slot, ROW_INSERTED)) {
        return 0;
    }
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == table && change->slot == slot && change->kind == ROW_UPDATED &&
            change->column == column) {
            return change->before;
        }
    }
    return after(commit, table, slot, column);
}

static inline bool changed(const struct commit *commit, enum row_table table, uint32_t slot,
                           int column)
{
    return before(commit, table, slot, column) != after(commit, table, slot, column);
}

static inline void breach(struct commit *commit, enum clause_id clause, uint32_t slot,
                          const char *why)
{
    judge_breach(&commit->judge, ORACLE_SEQ_MOVES, clause,
                 slot == ROW_NONE ? TABLE_COUNT : TABLE_SEQ, slot, why);
}

static inline bool is_state(int64_t value)
{
    return value >= 0 && value < ORACLE_SEQ_STATES;
}

static inline bool rests(int64_t state)
{
    return state >= ORACLE_SEQ_SUCCESS && state <= ORACLE_SEQ_CANCEL;
}

static inline int64_t policy_cell(const struct commit *commit, int column)
{
    return after(commit, TABLE_STAGE, 0, column);
}

/* What is asked for; NULL: not known. */
static inline const struct expected_seq *asked(const struct commit *commit)
{
    const struct expectation *expected = commit->judge.oracle->expected;
    return expected == NULL ? NULL : &expected->of.seq;
}

/* ---- one seq (seq_moves.c) -------------------------------------------------------------------- */

/* Judges each seq that the commit wrote, once, in the order in which they were written. True: it wrote
 * one that was there before. */
bool seq_judge_moves(struct commit *commit);

/* ---- counters (seq_counters.c) ---------------------------------------------------------------- */

/* Judges each stripe that the commit wrote. `wrote`: it wrote a seq, too. */
void seq_judge_refusals(struct commit *commit, bool wrote);

/* Judges the counters of all stripes together, after every commit (SEQ-16). */
void seq_judge_counters(struct commit *commit);

/* How much the commit added to a counter, over all stripes. */
int64_t seq_counted(const struct commit *commit, int column);

/* ---- the latch (seq_latch.c) ------------------------------------------------------------------ */

/* Judges what the commit made of Stage1: its policy, and whether it failed. */
void seq_judge_stage(struct commit *commit);

void seq_latch_breach(struct commit *commit, enum clause_id clause, const char *why);

#endif
