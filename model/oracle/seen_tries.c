/* Tries of a worker that holds one message of the queue at a time. Judged at commits: what a
 * transaction that failed was about, the store does not know. */
#include "model/oracle/seen.h"

#define TRIES_MAX 4 /* of key and inbox */

/* What is known of a client, from the rule's cell on. */
enum {
    CELL_MESSAGE,  /* 1 + the slot of the message that it claimed last; 0: it holds none */
    CELL_EPOCH,    /* of that claim */
    CELL_FAILURES, /* its transactions that failed since it made a step forward */
    CELL_DOUBT,    /* it was refused last, and may have let go for that; or what it did changed
                      nothing, and may be what puts a message back to the time that stands */
    CELL_COUNT
};
_Static_assert(CELL_COUNT == SEEN_TRIES_CELLS, "seen.h says how many there are");

/* What a commit did to claims. */
struct doing {
    uint32_t takes; /* the slot of the message that it claimed; ROW_NONE: none */
    bool ends;      /* it took its own away, or put it back */
};

static struct doing read_changes(const struct row_change *changes, size_t count,
                                 const int64_t *cells)
{
    struct doing doing = {.takes = ROW_NONE};
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        if (change->table != TABLE_MESSAGE || change->kind == ROW_INSERTED) {
            continue;
        }
        if (change->kind == ROW_UPDATED && change->column == MESSAGE_EPOCH) {
            doing.takes = change->slot;
        } else if ((int64_t)change->slot + 1 == cells[CELL_MESSAGE]) {
            doing.ends = true;
        }
    }
    return doing;
}

/* Nobody has claimed it since. */
static bool holds(const struct rows *rows, const int64_t *cells)
{
    uint32_t slot = (uint32_t)cells[CELL_MESSAGE] - 1;
    return cells[CELL_MESSAGE] != 0 && row_is_there(rows, TABLE_MESSAGE, slot) &&
           row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH) == cells[CELL_EPOCH];
}

static void judge_tries(struct judge *judge, const struct seen_tries *rule,
                        const struct doing *doing, const int64_t *cells)
{
    uint32_t slot = (uint32_t)cells[CELL_MESSAGE] - 1;
    bool exhausted = cells[CELL_FAILURES] > rule->most;
    bool lets_go = doing->takes != ROW_NONE;
    if (doing->takes == slot || !(doing->ends || holds(judge->rows, cells))) {
        return; /* it came again to the same worker, or another has it */
    }
    if (lets_go && exhausted) {
        judge_see(judge, rule->let_go);
    }
    if (!lets_go && cells[CELL_FAILURES] > 0) {
        judge_that(judge, !exhausted, ORACLE_STORE, rule->clause, TABLE_MESSAGE, slot,
                   "what failed was tried again more often than allowed");
    } else if (lets_go && cells[CELL_DOUBT] == 0) {
        judge_that(judge, exhausted, ORACLE_STORE, rule->clause, TABLE_MESSAGE, slot,
                   "a claim was let go before what failed was tried as often as allowed");
    }
}

/* A worker without the answer to its claim does not hold it. */
static void remember_claim(const struct rows *rows, const struct doing *doing, bool told,
                           int64_t *cells)
{
    if (doing->takes != ROW_NONE && told) {
        cells[CELL_MESSAGE] = (int64_t)doing->takes + 1;
        cells[CELL_EPOCH] = row_get(rows, TABLE_MESSAGE, doing->takes, MESSAGE_EPOCH);
    } else if (doing->takes != ROW_NONE || doing->ends) {
        cells[CELL_MESSAGE] = 0;
    }
}

/* To find out where things stand is no step forward. */
static void remember_end(const struct observed *seen, size_t count, int64_t *cells)
{
    if (observed_failed(seen)) {
        cells[CELL_FAILURES]++;
    } else if (!seen->only_read) {
        cells[CELL_FAILURES] = 0;
        cells[CELL_DOUBT] = seen->ended == OBSERVED_REFUSED || count == 0;
    }
}

void seen_tries(struct judge *judge, const struct observed *seen, const struct row_change *changes,
                size_t count, const struct seen_tries *rule, int64_t *cells)
{
    cells += rule->cell;
    if (seen->principal != PRINCIPAL_NONE) { /* a phase, whose tries are counted apart */
        cells[CELL_FAILURES] = 0;
        cells[CELL_DOUBT] = 0;
        return;
    }
    if (seen->ended == OBSERVED_COMMITTED) {
        struct doing doing = read_changes(changes, count, cells);
        judge_tries(judge, rule, &doing, cells);
        remember_claim(judge->rows, &doing, seen->answered, cells);
    }
    remember_end(seen, count, cells);
}

static struct oracle_verdict of_claims(struct oracle *oracle, const struct rows *rows,
                                       const struct observed *seen,
                                       const struct row_change *changes, size_t count,
                                       const struct seen_tries *rule)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    int64_t *cells = seen_client(oracle, seen);
    if (cells != NULL) {
        seen_tries(&judge, seen, changes, count, rule, cells);
    }
    return judge.verdict;
}

struct oracle_verdict seen_key(struct oracle *oracle, const struct rows *rows,
                               const struct observed *seen, const struct row_change *changes,
                               size_t count)
{
    static const struct seen_tries rule = {
        .clause = CLAUSE_KEY_12, .let_go = COVER_KEY_LET_GO, .most = TRIES_MAX};
    return of_claims(oracle, rows, seen, changes, count, &rule);
}

struct oracle_verdict seen_inbox(struct oracle *oracle, const struct rows *rows,
                                 const struct observed *seen, const struct row_change *changes,
                                 size_t count)
{
    static const struct seen_tries rule = {
        .clause = CLAUSE_BOX_3, .let_go = COVER_INBOX_LET_GO, .most = TRIES_MAX};
    return of_claims(oracle, rows, seen, changes, count, &rule);
}
