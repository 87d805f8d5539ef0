/* One commit as the monitors of the pipeline look at it: its changes, the rows as it left them, and
 * how they report what is wrong with a row.
 *
 * Private to model/oracle/pipeline*.c. */
#ifndef MODEL_ORACLE_PIPELINE_COMMIT_H
#define MODEL_ORACLE_PIPELINE_COMMIT_H

#include "model/oracle/judge.h"

/* Memories (pipeline.c): of rows for which a request was acked. */
enum { OF_MARK, OF_CUT, OF_VERIFY };

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

/* Could this review be made? Whatever forbids it once forbids it for good: another decision
 * superseded the prior one, or the entry was cut on it. */
static inline bool could_review(const struct commit *commit, int64_t entry, int64_t prior)
{
    int64_t status = cell(commit, TABLE_ENTRY, entry, ENTRY_STATUS);
    if (prior == 0) {
        return status == STATUS_MARKED;
    }
    return is_there(commit, TABLE_REVIEW, prior) &&
           cell(commit, TABLE_REVIEW, prior, REVIEW_BY) == 0 &&
           (status == STATUS_APPROVED || status == STATUS_REJECTED);
}

/* Could this change set be verified once more? Not one that was undone, and that is for good. */
static inline bool could_verify(const struct commit *commit, int64_t set, int64_t prior)
{
    return is_there(commit, TABLE_CHANGE_SET, set) &&
           (prior == 0 || is_there(commit, TABLE_VERIFY, prior)) &&
           stored(commit, TABLE_CHANGE_SET, CHANGE_SET_COMPENSATES, set, -1, 0) == 0;
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

/* A request was acked: it must have been answered (pipeline_requests.c). */
void pipeline_judge_ack(struct commit *commit, uint32_t slot);

#endif
