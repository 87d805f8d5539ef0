/* Claims of the earlier ledger: a Leg1 that is entered again tells that its worker had crashed
 * (LEG-3), and so does a message that comes again. A worker that lives, and knows what became of its
 * transactions, holds its claim until the message is acked. */
#include "model/oracle/expected_legacy.h"
#include "model/oracle/legacy_judge.h"
#include "model/oracle/seen.h"

/* What is known of a client. */
enum {
    CELL_MESSAGE, /* 1 + the slot of the message that it claimed last; 0: it holds none */
    CELL_EPOCH,   /* of that claim */
    CELL_DOUBT,   /* it was not told how one of its transactions ended (E-LEG-4) */
    CELL_SAVED    /* 1 + the slot of the state that it saved last; 0: none */
};

/* What a commit did to claims. */
struct doing {
    const struct row_change *takes; /* the claim of a message; NULL: none */
    bool acks;                      /* it took its own message away */
    int64_t found;                  /* how often its own message had been claimed before */
    int64_t saves;                  /* 1 + the slot of the state that it saved; 0: none */
};

static struct doing read_changes(const struct rows *rows, const struct row_change *changes,
                                 size_t count, const int64_t *cells)
{
    struct doing doing = {0};
    uint32_t own = (uint32_t)cells[CELL_MESSAGE] - 1;
    bool there = cells[CELL_MESSAGE] != 0 && row_is_there(rows, TABLE_MESSAGE, own);
    doing.found = there ? row_get(rows, TABLE_MESSAGE, own, MESSAGE_EPOCH) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        if (change->table == TABLE_SAVED && change->kind != ROW_DELETED) {
            doing.saves = 1 + (int64_t)change->slot;
        }
        if (change->table != TABLE_MESSAGE) {
            continue;
        }
        bool is_own = cells[CELL_MESSAGE] != 0 && change->slot == own;
        if (change->kind == ROW_UPDATED && change->column == MESSAGE_EPOCH) {
            doing.takes = change;
            doing.found = is_own ? change->before : doing.found;
        }
        doing.acks = doing.acks || (is_own && change->kind == ROW_DELETED);
    }
    return doing;
}

/* It claims a message, and its last claim stands: nobody has claimed that message since, or acked
 * it. */
static void judge_take(struct judge *judge, const struct doing *doing, const int64_t *cells)
{
    bool held = cells[CELL_MESSAGE] != 0 && doing->found == cells[CELL_EPOCH];
    judge_that(judge, !held || cells[CELL_DOUBT] != 0, ORACLE_STORE, CLAUSE_LEG_3, TABLE_MESSAGE,
               held ? (uint32_t)cells[CELL_MESSAGE] - 1 : doing->takes->slot,
               "a worker let go of a message that it could go on with, as if it had crashed");
}

/* What it holds from now on. A worker without the answer to its claim does not hold it. */
static void remember(const struct rows *rows, const struct observed *seen,
                     const struct doing *doing, int64_t *cells)
{
    if (doing->takes != NULL && seen->answered) {
        cells[CELL_MESSAGE] = (int64_t)doing->takes->slot + 1;
        cells[CELL_EPOCH] = row_get(rows, TABLE_MESSAGE, doing->takes->slot, MESSAGE_EPOCH);
        cells[CELL_DOUBT] = 0;
    } else if (doing->takes != NULL || doing->acks) {
        cells[CELL_MESSAGE] = 0;
    }
}

/* The state that this claim saved, and whose transitions are not published yet; ROW_NONE: none. */
static uint32_t unpublished(const struct rows *rows, const int64_t *cells)
{
    uint32_t message = (uint32_t)cells[CELL_MESSAGE] - 1;
    if (cells[CELL_MESSAGE] == 0 || !row_is_there(rows, TABLE_MESSAGE, message) ||
        row_get(rows, TABLE_MESSAGE, message, MESSAGE_EPOCH) != cells[CELL_EPOCH]) {
        return ROW_NONE;
    }
    int64_t by = expected_legacy_claim(row_key(rows, TABLE_MESSAGE, message), cells[CELL_EPOCH]);
    uint32_t slot = (uint32_t)cells[CELL_SAVED] - 1;
    bool saved = cells[CELL_SAVED] != 0 && row_is_there(rows, TABLE_SAVED, slot) &&
                 row_get(rows, TABLE_SAVED, slot, SAVED_BY) == by &&
                 row_get(rows, TABLE_SAVED, slot, SAVED_PUBLISHED) == 0;
    return saved ? slot : ROW_NONE;
}

/* A commit that wrote nothing, between a save and what is published of it, is no step; it saved again
 * what was there, and that is counted, too (LEG-12). */
static void judge_saves(struct judge *judge, const struct observed *seen, size_t count,
                        const int64_t *cells)
{
    uint32_t state = count > 0 || seen->only_read ? ROW_NONE : unpublished(judge->rows, cells);
    if (state != ROW_NONE) {
        judge_that(judge, false, ORACLE_STORE, CLAUSE_LEG_12, TABLE_SAVED, state,
                   "a commit after a save wrote nothing: a save that is made again is counted");
    }
}

struct oracle_verdict seen_legacy(struct oracle *oracle, const struct rows *rows,
                                  const struct observed *seen, const struct row_change *changes,
                                  size_t count)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    int64_t *cells = seen_client(oracle, seen);
    if (cells == NULL) {
        return judge.verdict;
    }
    if (seen->ended == OBSERVED_COMMITTED) {
        struct doing doing = read_changes(rows, changes, count, cells);
        if (doing.takes != NULL) {
            judge_take(&judge, &doing, cells);
        }
        judge_saves(&judge, seen, count, cells);
        cells[CELL_SAVED] = doing.saves != 0 ? doing.saves : cells[CELL_SAVED];
        remember(rows, seen, &doing, cells);
    }
    cells[CELL_DOUBT] |= !seen->answered;
    return judge.verdict;
}
