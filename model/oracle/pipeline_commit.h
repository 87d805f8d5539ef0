/* One commit as the monitors of the pipeline look at it: its changes, the rows as it left them, and
 * how they report what is wrong with a row.
 *
 * Private to model/oracle/pipeline*.c. */
#ifndef MODEL_ORACLE_PIPELINE_COMMIT_H
#define MODEL_ORACLE_PIPELINE_COMMIT_H

#include "model/oracle/judge.h"

/* Memories (pipeline.c): of rows for which a request was acked, of entries also their decisions and
 * results; of claims. */
enum { OF_MARK, OF_CUT, OF_VERIFY, OF_CLAIM };
enum { MEMO_NODE = 2, MEMO_MADE }; /* its node, plus 1; decisions, and results in the next digit */
#define MADE_DIGIT 16
enum { MEMO_STANDS = 2 }; /* of OF_CLAIM: the request stands still (pipeline_sweep.c) */

/* Flags of an entry; the lowest is of its cover points. */
#define MEMO_TOLD(why) (INT64_C(2) << (why)) /* people were told of a stop for this reason */
#define MEMO_HANDED_ON(n)                                                                          \
    (INT64_C(1) << (16 + (n))) /* the n-th decision's follow-up was asked for */

/* A flag of a verify result, beside that of its cover point. */
#define MEMO_EXAMINED INT64_C(2) /* its change set was, outside rows */

struct commit {
    struct judge judge;
    const struct rows *rows;
    const struct row_change *changes;
    size_t count;
};

/* A cell of the row with this key; 0: there is no such row. */
static inline int64_t cell(const struct commit *commit, enum row_table table, int64_t key,
                           int column)
{
    return judge_column(commit->rows, table, key, column);
}

static inline bool is_there(const struct commit *commit, enum row_table table, int64_t key)
{
    return row_find(commit->rows, table, key) != ROW_NONE;
}

/* Whether this commit brought the row. */
static inline bool is_new(const struct commit *commit, enum row_table table, int64_t key)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == table && change->kind == ROW_INSERTED &&
            row_key(commit->rows, table, change->slot) == key) {
            return true;
        }
    }
    return false;
}

/* How many rows that this commit brought have these values in two columns; -1: any column. */
static inline int brought(const struct commit *commit, enum row_table table, int column,
                          int64_t value, int other, int64_t other_value)
{
    int found = 0;
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        found += change->table == table && change->kind == ROW_INSERTED &&
                 (column < 0 || row_get(commit->rows, table, change->slot, column) == value) &&
                 (other < 0 || row_get(commit->rows, table, change->slot, other) == other_value);
    }
    return found;
}

/* The same of all rows there are. */
static inline int stored(const struct commit *commit, enum row_table table, int column,
                         int64_t value, int other, int64_t other_value)
{
    int found = 0;
    for (uint32_t slot = 0; slot < commit->rows->table[table].used; slot++) {
        found += row_get(commit->rows, table, slot, column) == value &&
                 (other < 0 || row_get(commit->rows, table, slot, other) == other_value) &&
                 row_is_there(commit->rows, table, slot);
    }
    return found;
}

/* How many requests are in the queue that ask for this phase, and say this in a column; 0: for any
 * phase. */
static inline int asked(const struct commit *commit, int64_t phase, int column, int64_t value)
{
    int found = 0;
    for (uint32_t slot = 0; slot < commit->rows->table[TABLE_MESSAGE].used; slot++) {
        found +=
            row_get(commit->rows, TABLE_MESSAGE, slot, column) == value &&
            (phase == 0 || row_get(commit->rows, TABLE_MESSAGE, slot, MESSAGE_KIND) == phase) &&
            row_is_there(commit->rows, TABLE_MESSAGE, slot);
    }
    return found;
}

/* What an entry's status was before this commit. */
static inline int64_t status_before(const struct commit *commit, int64_t entry)
{
    uint32_t slot = row_find(commit->rows, TABLE_ENTRY, entry);
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == TABLE_ENTRY && change->slot == slot &&
            (change->kind == ROW_INSERTED || change->column == ENTRY_STATUS)) {
            return change->kind == ROW_INSERTED ? STATUS_NONE : change->before;
        }
    }
    return cell(commit, TABLE_ENTRY, entry, ENTRY_STATUS);
}

/* Whether all that the entry depends on is verified complete, by the rows that say so. */
static inline bool blockers_complete(const struct commit *commit, int64_t entry)
{
    const struct rows *rows = commit->rows;
    for (uint32_t slot = 0; slot < rows->table[TABLE_DEPENDENCY].used; slot++) {
        if (row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_FROM) == entry &&
            cell(commit, TABLE_ENTRY, row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_TO),
                 ENTRY_STATUS) != STATUS_COMPLETE) {
            return false;
        }
    }
    return true;
}

/* A row under judgement. */
struct subject {
    enum row_table table;
    uint32_t slot;
    int64_t key;
};

static inline int64_t of(const struct commit *commit, const struct subject *row, int column)
{
    return row_get(commit->rows, row->table, row->slot, column);
}

static inline void held(struct commit *commit, enum clause_id clause)
{
    judge_held(&commit->judge, clause);
}

static inline void expect(struct commit *commit, bool fine, enum oracle_name who,
                          enum clause_id clause, const struct subject *row, const char *why)
{
    if (!fine) {
        judge_breach(&commit->judge, who, clause, row->table, row->slot, why);
    }
}

#define PHASE(fine, clause, why) expect(commit, fine, ORACLE_PHASE, CLAUSE_CUT_##clause, row, why)
#define TRAIL(fine, clause, why) expect(commit, fine, ORACLE_TRAIL, CLAUSE_CUT_##clause, row, why)

/* ---- requests (pipeline_requests.c) ---------------------------------------------------------- */

/* One was acked: it must have been answered, and what it calls for next be asked for. */
void pipeline_judge_ack(struct commit *commit, uint32_t slot);

/* One was made: it must be one that the scenario calls for. */
void pipeline_judge_request(struct commit *commit, uint32_t slot);

/* Whether a request that the scenario asks for may be handed to people for this reason. */
bool pipeline_may_stop(const struct commit *commit, uint32_t slot, enum sweep_reason why);

/* ---- the sweep (pipeline_sweep.c) ------------------------------------------------------------ */

/* A request was claimed: it must not stand still. */
void pipeline_judge_claim(struct commit *commit, uint32_t slot);

/* A row of the log came: of a stop after too many tries, or of a sweep's pass. */
void pipeline_judge_pass(struct commit *commit, const struct subject *row);

/* Whether this commit hands the request to people, because the sweep has passed so often. */
bool pipeline_gives_up(const struct commit *commit, uint32_t message);

/* ---- what must be (pipeline_expected.c) ------------------------------------------------------ *
 * Nothing is asked where no expectation is known. */

static inline const struct expected_pipeline *expected_of(const struct commit *commit)
{
    const struct expectation *expected = commit->judge.oracle->expected;
    return expected == NULL ? NULL : &expected->of.pipeline;
}

/* The node of an entry that was marked; -1: of none that was asked for. */
static inline int node_of(const struct commit *commit, int64_t entry)
{
    return (int)memory_get(&commit->judge, OF_MARK, entry, MEMO_NODE) - 1;
}

/* How many decisions of an entry were made, and how many verify results. */
static inline int decisions_of(const struct commit *commit, int64_t entry)
{
    return (int)(memory_get(&commit->judge, OF_MARK, entry, MEMO_MADE) % MADE_DIGIT);
}
static inline int results_of(const struct commit *commit, int64_t entry)
{
    return (int)(memory_get(&commit->judge, OF_MARK, entry, MEMO_MADE) / MADE_DIGIT);
}

/* Whether people were told that a phase of the entry, its MARK but for the sweep's passes, was stopped
 * for this reason. */
bool pipeline_was_told(const struct commit *commit, int64_t entry, enum sweep_reason why);

/* Whether something that this entry of the batch needs may never be there, or never be complete:
 * people have it. */
bool pipeline_lacks(const struct commit *commit, int64_t batch, const struct expected_entry *entry);

/* A row came: an entry of kind work, a decision, a change set of a CUT, a verify result, a stop. */
void pipeline_expect_mark(struct commit *commit, const struct subject *row);
void pipeline_expect_envelope(struct commit *commit, const struct subject *row);
void pipeline_expect_unit(struct commit *commit, const struct subject *row);
void pipeline_expect_affected(struct commit *commit, const struct subject *row);
void pipeline_expect_review(struct commit *commit, const struct subject *row);
void pipeline_expect_cut(struct commit *commit, const struct subject *row);
void pipeline_expect_verify(struct commit *commit, const struct subject *row);
void pipeline_expect_stop(struct commit *commit, const struct subject *row);

/* Everything has come to an end. */
void pipeline_expect_end(struct commit *all);

#endif
