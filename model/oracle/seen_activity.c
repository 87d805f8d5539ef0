#include "model/oracle/seen_activity.h"

#define TRIES_MAX 4  /* how often what failed is tried again (ACL-48) */
#define WAIT_MOST 10 /* ticks that a message is put back for, where a claim is no longer */
/* Ticks: a worker knows the time of its last transaction's begin, and whole ones. */
#define ROUNDING INT64_C(2)

/* What a commit publishes with a claim on it is its own worker's next message if it acks the one
 * before; else that claim is nobody's, and runs out. */
static void read_changes(struct doing *doing, const struct rows *rows,
                         const struct row_change *changes, size_t count, const int64_t *cells)
{
    uint32_t published = ROW_NONE;
    bool deletes = false;
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        enum row_table table = (enum row_table)change->table;
        if (table != TABLE_MESSAGE) {
            if (table == cells[CELL_TABLE] &&
                row_key(rows, table, change->slot) == cells[CELL_LEDGER]) {
                ledger_deed_note(&doing->ledger, change);
            } else if (table == TABLE_ESCALATION && change->kind == ROW_INSERTED) {
                doing->escalation = change->slot;
            }
            continue;
        }
        bool own = (int64_t)change->slot + 1 == cells[CELL_MESSAGE];
        if (change->kind == ROW_DELETED) {
            deletes = true;
            doing->acks = doing->acks || own;
        } else if (change->kind == ROW_INSERTED) {
            bool held = row_get(rows, TABLE_MESSAGE, change->slot, MESSAGE_EPOCH) > 0;
            published = held ? change->slot : published;
            doing->published = row_key(rows, TABLE_MESSAGE, change->slot);
            doing->again = doing->published == cells[CELL_ANSWER] ? change->slot : doing->again;
        } else if (change->column == MESSAGE_EPOCH) {
            doing->takes = change->slot;
        } else if (change->column == MESSAGE_VISIBLE_AT && own) {
            doing->keeps = change->slot;
        }
    }
    doing->keeps = doing->keeps == doing->takes ? ROW_NONE : doing->keeps;
    doing->publishes = doing->takes == ROW_NONE && deletes && published != ROW_NONE;
    doing->takes = doing->publishes ? published : doing->takes;
}

/* It had the message until this commit: nobody has claimed it since, or acked it. By its slot,
 * because another one may have been published under its key. */
static bool held(const struct rows *rows, const struct doing *doing, const int64_t *cells)
{
    uint32_t slot = (uint32_t)cells[CELL_MESSAGE] - 1;
    if (cells[CELL_MESSAGE] == 0 || slot == doing->takes) {
        return false;
    }
    return doing->acks || (row_is_there(rows, TABLE_MESSAGE, slot) &&
                           row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH) == cells[CELL_EPOCH]);
}

static void tell(struct judge *judge, bool fine, enum clause_id clause, const int64_t *cells,
                 const char *why)
{
    judge_that(judge, fine, ORACLE_STORE, clause, TABLE_MESSAGE, (uint32_t)cells[CELL_MESSAGE] - 1,
               why);
}

/* Half of the claim was over at that time. */
static bool is_half_over(const int64_t *cells, int64_t at)
{
    return at > cells[CELL_UNTIL] - cells[CELL_LIFE] / 2;
}

/* It goes on with the message that it holds, or lets go of it for another. An answer that says for
 * the first time that half of the claim is over may have crossed this transaction (E-ACL-34). */
static void judge_holder(struct judge *judge, const struct doing *doing, int64_t stretch,
                         const int64_t *cells)
{
    bool lets_go = doing->takes != ROW_NONE && !doing->acks;
    int64_t failures = cells[CELL_FAILURES];
    if (stretch > 2 * ROUNDING) { /* else it looks at once */
        tell(judge, !is_half_over(cells, cells[CELL_LAST] + stretch - ROUNDING), CLAUSE_ACL_47,
             cells, "a worker did not look at its clock for more than half of its claim");
    }
    if (!lets_go && !doing->nothing && cells[CELL_WORKED] > 0 &&
        is_half_over(cells, cells[CELL_LAST] + cells[CELL_WORKED])) {
        tell(judge, doing->keeps != ROW_NONE, CLAUSE_ACL_47, cells,
             "a worker was at work for more than half of its claim, which it did not extend");
    }
    if (!lets_go && !doing->nothing && is_half_over(cells, cells[CELL_LAST])) {
        tell(judge, doing->keeps != ROW_NONE || !is_half_over(cells, cells[CELL_TOLD]),
             CLAUSE_ACL_47, cells,
             "a worker went on with a message after half of its claim, which it did not extend");
    }
    if (!lets_go) {
        tell(judge, cells[CELL_SHORT] == 0, CLAUSE_ACL_47, cells,
             "a worker went on with a message whose claim it had not extended for a whole life");
    }
    if (!lets_go && failures > 0) {
        tell(judge, failures <= TRIES_MAX, CLAUSE_ACL_48, cells,
             "what failed was tried again more often than allowed");
    }
    if (lets_go && cells[CELL_DOUBT] == 0) {
        tell(judge, failures > TRIES_MAX, CLAUSE_ACL_48, cells,
             "a claim was let go before what failed was tried as often as allowed");
    }
    if (lets_go && failures > TRIES_MAX) {
        judge_see(judge, COVER_CLAIM_LET_GO);
    }
}

/* A claim lasts: what was claimed, or published and kept, is nobody else's for a time (E-ACL-34).
 */
static void judge_life(struct judge *judge, const struct doing *doing, const struct observed *seen)
{
    if (doing->takes != ROW_NONE) {
        int64_t until = row_get(judge->rows, TABLE_MESSAGE, doing->takes, MESSAGE_VISIBLE_AT);
        judge_that(judge, until > seen->began, ORACLE_STORE, CLAUSE_ACL_47, TABLE_MESSAGE,
                   doing->takes, "a message was claimed, or kept, for no time at all");
    }
}

/* The longest time for which a message may be put back, or kept: half as long again as its claim lasts,
 * since what takes long on a server has begun earlier; or WAIT_MOST. */
static int64_t longest(const int64_t *cells)
{
    int64_t half_again = cells[CELL_GIVEN] + cells[CELL_GIVEN] / 2;
    return half_again > WAIT_MOST ? half_again : WAIT_MOST;
}

/* A message that is put back comes again later (E-ACL-20), and no later than if nobody had it. */
static void judge_kept(struct judge *judge, const struct doing *doing, const struct observed *seen,
                       const int64_t *cells)
{
    if (doing->keeps == ROW_NONE || !held(judge->rows, doing, cells)) {
        return;
    }
    int64_t until = row_get(judge->rows, TABLE_MESSAGE, doing->keeps, MESSAGE_VISIBLE_AT);
    tell(judge, until > seen->began, CLAUSE_ACL_47, cells,
         "a message was put back, or its claim extended, for no time at all");
    tell(judge, until - seen->began <= longest(cells), CLAUSE_ACL_47, cells,
         "a message was put back, or its claim extended, for longer than a claim lasts");
}

/* What committed, and its worker was told so, is not sent again (E-ACL-13): no message comes twice
 * under one claim. */
static void judge_published(struct judge *judge, const struct doing *doing,
                            const struct observed *seen, int64_t *cells)
{
    if (doing->published != 0 && cells[CELL_ANSWER] != 0) {
        judge_that(judge, doing->again == ROW_NONE, ORACLE_STORE, CLAUSE_ACL_48, TABLE_MESSAGE,
                   doing->again, "what had committed was sent again by a worker that was told so");
    }
    if (doing->published != 0 || doing->takes != ROW_NONE) {
        cells[CELL_ANSWER] = doing->takes == ROW_NONE && seen->answered ? doing->published : 0;
    }
}

/* What the worker holds from now on. A worker without the answer to its commit does not know what
 * it claimed; one that changes a claim's time before half of it is over puts the message back. */
static void remember_claim(struct judge *judge, const struct doing *doing,
                           const struct observed *seen, int64_t *cells)
{
    const struct rows *rows = judge->rows;
    uint32_t keeps = doing->nothing && held(rows, doing, cells) ? (uint32_t)cells[CELL_MESSAGE] - 1
                                                                : doing->keeps;
    bool extends = keeps != ROW_NONE && is_half_over(cells, cells[CELL_LAST]);
    uint32_t slot = doing->takes != ROW_NONE ? doing->takes : extends ? keeps : ROW_NONE;
    bool touched = slot != ROW_NONE || doing->acks || doing->keeps != ROW_NONE;
    if (touched && (slot == ROW_NONE || !seen->answered)) {
        cells[CELL_MESSAGE] = 0;
    } else if (touched) {
        cells[CELL_MESSAGE] = (int64_t)slot + 1;
        cells[CELL_EPOCH] = doing->takes == ROW_NONE /* a claim that is lost is not extended */
                                ? cells[CELL_EPOCH]
                                : row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH);
        cells[CELL_UNTIL] = row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT);
        int64_t given = cells[CELL_GIVEN];
        cells[CELL_LIFE] = cells[CELL_UNTIL] - seen->began;
        cells[CELL_GIVEN] = doing->nothing ? given : cells[CELL_LIFE];
        cells[CELL_SHORT] = slot == doing->keeps && cells[CELL_LIFE] < given - given / 4;
    }
    if (doing->takes != ROW_NONE) { /* what it knew before was of another claim */
        cells[CELL_TOLD] = 0;
        cells[CELL_LAST] = 0;
        cells[CELL_WORKED] = 0;
    }
    if (extends && !doing->nothing) {
        judge_see(judge, COVER_CLAIM_EXTENDED);
    }
}

static bool claim_stands(const struct rows *rows, const struct doing *doing,
                         const struct observed *seen, const int64_t *cells)
{
    return held(rows, doing, cells) && seen->began < cells[CELL_UNTIL];
}

/* Reads and extensions are no step forward. What changed nothing may be one, and counts as one. */
static void remember_end(struct judge *judge, const struct doing *doing,
                         const struct observed *seen, int64_t *cells)
{
    cells[CELL_TOLD] = cells[CELL_LAST]; /* the time is told by what failed, too, and if only the */
    cells[CELL_LAST] = seen->began;      /* answer to COMMIT was lost */
    cells[CELL_WORKED] = 0;
    if (observed_failed(seen)) {
        cells[CELL_FAILURES]++;
        cells[CELL_DOUBT] |= !seen->answered;
        return;
    }
    if (seen->ended == OBSERVED_REFUSED && (cells[CELL_FAILURES] > 0 || cells[CELL_DOUBT] != 0 ||
                                            !claim_stands(judge->rows, doing, seen, cells))) {
        cells[CELL_MESSAGE] = 0; /* its claim is lost, or it had let go and found nothing */
    }
    if (seen->ended == OBSERVED_REFUSED || (!seen->only_read && doing->keeps == ROW_NONE)) {
        if (cells[CELL_FAILURES] > 0 && seen->ended == OBSERVED_COMMITTED &&
            doing->takes == ROW_NONE) {
            judge_see(judge, COVER_TRIED_AGAIN);
        }
        cells[CELL_FAILURES] = 0;
        cells[CELL_DOUBT] = doing->nothing;
    }
}

struct oracle_verdict seen_activity(struct oracle *oracle, const struct rows *rows,
                                    const struct observed *seen, const struct row_change *changes,
                                    size_t count)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    int64_t *cells = seen_client(oracle, seen);
    struct doing doing = {.takes = ROW_NONE,
                          .keeps = ROW_NONE,
                          .again = ROW_NONE,
                          .escalation = ROW_NONE,
                          .ledger = LEDGER_LEFT_ALONE};
    if (cells == NULL) {
        return judge.verdict;
    }
    cells[CELL_WORKED] += seen->worked;
    if (seen->ended == OBSERVED_COMMITTED) {
        read_changes(&doing, rows, changes, count, cells);
        doing.nothing = count == 0 && !seen->only_read;
        if (held(rows, &doing, cells)) {
            judge_holder(&judge, &doing, seen->stretch, cells);
        }
        seen_entries(&judge, seen, changes, count, &doing, cells);
        judge_life(&judge, &doing, seen);
        judge_kept(&judge, &doing, seen, cells);
        judge_published(&judge, &doing, seen, cells);
        remember_claim(&judge, &doing, seen, cells);
    }
    remember_end(&judge, &doing, seen, cells);
    return judge.verdict;
}
