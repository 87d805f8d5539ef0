#include "model/oracle/seen.h"

#define TRIES_MAX 3  /* how often a phase is retried: what "bounded" is here */
#define WAIT_MOST 10 /* ticks that a request is put back for, where a claim is no longer */

/* What is known of a client since it claimed its request. */
enum {
    CELL_TRIES,   /* transactions of the request's phase, and reads that resolve it, that failed */
    CELL_PENDING, /* phases of which it does not know yet that they did */
    CELL_UNTOLD,  /* phases that committed, of which it was not told */
    CELL_MARKED,  /* it asks for the MARK of an entry that was there when it claimed the request */
    CELL_COUNT,
    CELL_HANDS_ON = CELL_COUNT /* of `hands_on` */
};
_Static_assert(CELL_HANDS_ON + SEEN_TRIES_CELLS <= SEEN_CELLS, "a client has room for both");

/* What follows a phase is asked for as nobody's principal. */
static const struct seen_tries hands_on = {.clause = CLAUSE_CUT_12,
                                           .let_go = COVER_HAND_ON_LET_GO,
                                           .most = TRIES_MAX,
                                           .cell = CELL_HANDS_ON};

struct transaction {
    struct judge judge;
    const struct observed *seen;
    const struct row_change *changes;
    size_t count;
};

static void tell(struct transaction *of, bool fine, enum clause_id clause, enum row_table table,
                 uint32_t slot, const char *why)
{
    judge_that(&of->judge, fine, ORACLE_STORE, clause, table, slot, why);
}

/* ---- locks and isolation --------------------------------------------------------------------- */

/* The entry whose phase the row belongs to; 0: none that was there before. */
static int64_t entry_of(const struct rows *rows, const struct row_change *change)
{
    enum row_table table = (enum row_table)change->table;
    bool is_new = change->kind == ROW_INSERTED;
    if (table == TABLE_ENTRY && change->kind == ROW_UPDATED) {
        return row_key(rows, table, change->slot);
    }
    if (table == TABLE_REVIEW && is_new) {
        return row_get(rows, table, change->slot, REVIEW_ENTRY);
    }
    if (table == TABLE_CHANGE_SET && is_new) {
        return row_get(rows, table, change->slot, CHANGE_SET_ENTRY);
    }
    return table == TABLE_VERIFY && is_new
               ? judge_column(rows, TABLE_CHANGE_SET,
                              row_get(rows, table, change->slot, VERIFY_SET), CHANGE_SET_ENTRY)
               : 0;
}

/* CUT-16: before any read or write of the phase. MARK relies on its key (E-CUT-17). */
static void judge_lock(struct transaction *of, const struct row_change *change)
{
    int64_t entry = entry_of(of->judge.rows, change);
    enum row_table table = (enum row_table)change->table;
    if (entry == 0) {
        return;
    }
    tell(of, observed_has_lock(of->seen, entry), CLAUSE_CUT_16, table, change->slot,
         "a phase committed without the advisory lock of its entry");
    tell(of, of->seen->locked != OBSERVED_LOCK_LATE, CLAUSE_CUT_16, table, change->slot,
         "a phase took the advisory lock of its entry after it had begun");
}

/* CUT-17: what a phase is about says which phase it is. */
static void judge_isolation(struct transaction *of, const struct row_change *change)
{
    const struct rows *rows = of->judge.rows;
    enum row_table table = (enum row_table)change->table;
    bool serializable = of->seen->isolation == OBSERVED_SERIALIZABLE;
    if (change->kind != ROW_INSERTED) {
        return;
    }
    if (table == TABLE_VERIFY) {
        tell(of, serializable, CLAUSE_CUT_17, table, change->slot,
             "a VERIFY did not run SERIALIZABLE");
    } else if (table == TABLE_CHANGE_SET &&
               row_get(rows, table, change->slot, CHANGE_SET_COMPENSATES) == 0) {
        tell(of, serializable, CLAUSE_CUT_17, table, change->slot,
             "a CUT did not run SERIALIZABLE");
    } else if (table == TABLE_REVIEW ||
               (table == TABLE_ENTRY &&
                row_get(rows, table, change->slot, ENTRY_KIND) == ENTRY_WORK)) {
        tell(of, of->seen->isolation == OBSERVED_READ_COMMITTED, CLAUSE_CUT_17, table, change->slot,
             "a MARK or a REVIEW did not run READ COMMITTED");
    }
}

/* A phase and its entry are read back as of one moment, else they tell of two (E-CUT-13). */
static void judge_read(struct transaction *of)
{
    tell(of, of->seen->isolation != OBSERVED_READ_COMMITTED, CLAUSE_CUT_17, TABLE_COUNT, ROW_NONE,
         "what became of a phase was not read in one snapshot");
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* The matrix of seed 004: which tables a principal may insert into. */
static bool may_bring(uint8_t principal, enum row_table table)
{
    switch ((int)table) {
    case TABLE_ENTRY:
    case TABLE_PAST:
    case TABLE_SIGNATURE:
    case TABLE_CHANGE_SET:
    case TABLE_AFFECTED_ROW:
        return true;
    case TABLE_VERIFY:
        return principal == PRINCIPAL_VERIFY;
    case TABLE_DEPENDENCY:
    case TABLE_SWEEP_LOG:
    case TABLE_ENVELOPE:
    case TABLE_UNIT_BLOCK:
    case TABLE_REVIEW:
        return principal == PRINCIPAL_EXEC;
    default: /* the queue is the caller's */
        return false;
    }
}

/* A row that a principal inserts is one that it may bring, and a signature is its own (CUT-11). All
 * that it may change is a status, and the executor what supersedes a decision (CUT-24). */
static void judge_grants(struct transaction *of, const struct row_change *change)
{
    const struct rows *rows = of->judge.rows;
    enum row_table table = (enum row_table)change->table;
    uint8_t principal = of->seen->principal;
    if (change->kind != ROW_INSERTED) {
        bool status = table == TABLE_ENTRY && change->column == ENTRY_STATUS;
        bool by = table == TABLE_REVIEW && change->column == REVIEW_BY;
        bool may = change->kind == ROW_UPDATED && (status || (by && principal == PRINCIPAL_EXEC));
        tell(of, may, CLAUSE_CUT_24, table, change->slot,
             "a principal changed or deleted what it may only insert or read");
        return;
    }
    tell(of, may_bring(principal, table), CLAUSE_CUT_11, table, change->slot,
         "a principal inserted a row that only the other may");
    if (table == TABLE_SIGNATURE) {
        int64_t own = principal == PRINCIPAL_VERIFY ? LANE_VERIFIER : LANE_EXECUTOR;
        tell(of,
             row_get(rows, table, change->slot, SIGNATURE_LANE) == own &&
                 row_get(rows, table, change->slot, SIGNATURE_PRINCIPAL) == principal,
             CLAUSE_CUT_11, table, change->slot,
             "a principal signed in the other's lane or in its name");
    }
}

/* A phase writes, and a look at one locks nothing: a principal that locks rows, under no entry's
 * advisory lock, and leaves them as they were has a right that nobody gave it (CUT-24). */
static void judge_idle_lock(struct transaction *of)
{
    tell(of, of->count > 0 || of->seen->only_read || of->seen->skipped || of->seen->lock_count > 0,
         CLAUSE_CUT_24, TABLE_COUNT, ROW_NONE, "a principal locked rows and wrote none");
}

/* ---- putting back ---------------------------------------------------------------------------- */

/* Whether a row of the log came that says so of this request. */
static bool is_logged(const struct transaction *of, int64_t request, enum sweep_reason why)
{
    bool logged = false;
    for (size_t i = 0; !logged && i < of->count; i++) {
        const struct row_change *change = &of->changes[i];
        logged =
            change->table == TABLE_SWEEP_LOG && change->kind == ROW_INSERTED &&
            row_get(of->judge.rows, TABLE_SWEEP_LOG, change->slot, SWEEP_LOG_WHY) == why &&
            row_get(of->judge.rows, TABLE_SWEEP_LOG, change->slot, SWEEP_LOG_REQUEST) == request;
    }
    return logged;
}

/* When a request may be claimed is changed by a claim, by a stop and by a pass of the sweep (PI4). */
static void judge_put_back(struct transaction *of, const struct row_change *change)
{
    int64_t request = row_key(of->judge.rows, (enum row_table)change->table, change->slot);
    bool back = change->table == TABLE_MESSAGE && change->kind == ROW_UPDATED &&
                change->column == MESSAGE_VISIBLE_AT;
    for (size_t i = 0; back && i < of->count; i++) {
        const struct row_change *other = &of->changes[i];
        back = other->table != TABLE_MESSAGE || other->slot != change->slot ||
               (other->kind == ROW_UPDATED && other->column != MESSAGE_EPOCH);
    }
    if (back) {
        tell(of, is_logged(of, request, SWEEP_EXHAUSTED) || is_logged(of, request, SWEEP_AGAIN),
             CLAUSE_CUT_12, TABLE_MESSAGE, change->slot,
             "a request was put back, and the sweep log does not say so");
    }
}

/* A pass of the sweep asks for a phase again: later, and no later than a claim would let it. The time
 * is known of clients alone (OB1). */
static void judge_wait(struct transaction *of, const struct row_change *change)
{
    const struct expectation *expected = of->judge.oracle->expected;
    const struct rows *rows = of->judge.rows;
    if (change->table != TABLE_SWEEP_LOG || change->kind != ROW_INSERTED ||
        row_get(rows, TABLE_SWEEP_LOG, change->slot, SWEEP_LOG_WHY) != SWEEP_AGAIN ||
        expected == NULL || of->seen->client == OBSERVED_NOBODY) {
        return;
    }
    int64_t claim = expected->of.pipeline.timeout, most = claim > WAIT_MOST ? claim : WAIT_MOST;
    int64_t request = row_get(rows, TABLE_SWEEP_LOG, change->slot, SWEEP_LOG_REQUEST);
    int64_t wait = judge_column(rows, TABLE_MESSAGE, request, MESSAGE_VISIBLE_AT) - of->seen->began;
    tell(of, wait > 0 && wait <= most, CLAUSE_CUT_12, TABLE_SWEEP_LOG, change->slot,
         "a sweep asks for a phase at once, or later than a claim lasts");
}

/* ---- tries ----------------------------------------------------------------------------------- */

/* What is written of how often it was tried. The history of an escalation tells of no try. A commit
 * of which nobody was told may have been lost again since (a failover). */
static void judge_tries(struct transaction *of, const struct row_change *change,
                        const int64_t *cells)
{
    int64_t tries = cells[CELL_TRIES];
    const struct rows *rows = of->judge.rows;
    enum row_table table = (enum row_table)change->table;
    uint32_t slot = change->slot;
    if (change->kind != ROW_INSERTED) {
        return;
    }
    if (table == TABLE_PAST &&
        judge_column(rows, TABLE_ENTRY, row_get(rows, table, slot, PAST_ENTRY), ENTRY_KIND) ==
            ENTRY_WORK) {
        int64_t told = row_get(rows, table, slot, PAST_RETRIES);
        if (told != 0 || tries != 0) {
            judge_held(&of->judge, CLAUSE_CUT_12);
        }
        if (told < tries || told > tries + cells[CELL_UNTOLD]) {
            judge_breach(&of->judge, ORACLE_STORE, CLAUSE_CUT_12, table, slot,
                         "a phase was tried more or less often than its history says");
        }
    } else if (table == TABLE_SWEEP_LOG &&
               row_get(rows, table, slot, SWEEP_LOG_WHY) == SWEEP_EXHAUSTED) {
        tell(of, tries > TRIES_MAX, CLAUSE_CUT_12, table, slot,
             "a phase was stopped as exhausted and was not tried as often as allowed");
    }
}

/* Phases, and the reads that resolve them, are sent as a principal; nothing else is (CUT-11). That a
 * phase of which no answer came has failed is known, and counted, when a read says so (E-CUT-16);
 * which its client may hear a transaction later. */
static void count_try(struct transaction *of, int64_t *cells)
{
    const struct observed *seen = of->seen;
    if (seen->principal == PRINCIPAL_NONE) {
        return;
    }
    if (!seen->answered && !seen->only_read) {
        cells[seen->ended == OBSERVED_COMMITTED ? CELL_UNTOLD : CELL_PENDING]++;
    } else if (observed_failed(seen)) {
        cells[CELL_TRIES]++;
    } else if (seen->only_read) {
        tell(of, cells[CELL_TRIES] <= TRIES_MAX || cells[CELL_PENDING] > 0, CLAUSE_CUT_12,
             TABLE_COUNT, ROW_NONE, "a phase was exhausted, and its client read on");
        cells[CELL_TRIES] += cells[CELL_PENDING];
        cells[CELL_PENDING] = 0;
    }
    if (cells[CELL_TRIES] > TRIES_MAX + 2) {
        judge_breach(&of->judge, ORACLE_STORE, CLAUSE_CUT_12, TABLE_COUNT, ROW_NONE,
                     "a phase was tried without bound");
    }
}

/* MARK reads before it writes: whose entry was there before the request was claimed, and still is,
 * does not run into its key (CUT-5). */
static void judge_look(struct transaction *of, const int64_t *cells)
{
    if (cells[CELL_MARKED] == 0 || of->seen->principal == PRINCIPAL_NONE ||
        row_find(of->judge.rows, TABLE_ENTRY, cells[CELL_MARKED]) == ROW_NONE) {
        return;
    }
    tell(of, !of->seen->taken, CLAUSE_CUT_5, TABLE_ENTRY,
         row_find(of->judge.rows, TABLE_ENTRY, cells[CELL_MARKED]),
         "a MARK wrote before it looked: its entry was there");
}

static void remember_marked(const struct rows *rows, uint32_t message, int64_t *cells)
{
    int64_t entry = row_get(rows, TABLE_MESSAGE, message, MESSAGE_ACTIVITY);
    bool marks = row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND) == PHASE_MARK;
    cells[CELL_MARKED] = marks && row_find(rows, TABLE_ENTRY, entry) != ROW_NONE ? entry : 0;
}

/* It claims a request: what it knew was of another. */
static void forget_if_claimed(const struct rows *rows, const struct row_change *change,
                              int64_t *cells)
{
    if (change->table == TABLE_MESSAGE && change->kind == ROW_UPDATED &&
        change->column == MESSAGE_EPOCH) {
        for (int i = 0; i < CELL_COUNT; i++) {
            cells[i] = 0;
        }
        remember_marked(rows, change->slot, cells);
    }
}

struct oracle_verdict seen_pipeline(struct oracle *oracle, const struct rows *rows,
                                    const struct observed *seen, const struct row_change *changes,
                                    size_t count)
{
    struct transaction of = {.seen = seen, .changes = changes, .count = count};
    judge_begin(&of.judge, oracle, rows);
    int64_t *cells = seen_client(oracle, seen);
    bool committed = seen->ended == OBSERVED_COMMITTED;
    for (size_t i = 0; committed && i < count; i++) {
        if (seen->isolation != OBSERVED_ISOLATION_UNKNOWN) {
            judge_lock(&of, &changes[i]);
            judge_isolation(&of, &changes[i]);
        }
        if (seen->principal != PRINCIPAL_NONE) {
            judge_grants(&of, &changes[i]);
        }
        judge_put_back(&of, &changes[i]);
        judge_wait(&of, &changes[i]);
        if (cells != NULL) {
            judge_tries(&of, &changes[i], cells);
            forget_if_claimed(rows, &changes[i], cells);
        }
    }
    if (committed && seen->principal != PRINCIPAL_NONE &&
        seen->isolation != OBSERVED_ISOLATION_UNKNOWN) {
        judge_idle_lock(&of);
        if (seen->only_read) {
            judge_read(&of);
        }
    }
    if (cells != NULL) {
        count_try(&of, cells);
        judge_look(&of, cells);
        seen_tries(&of.judge, seen, changes, committed ? count : 0, &hands_on, cells);
    }
    return of.judge.verdict;
}
