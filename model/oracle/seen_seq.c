#include "model/oracle/seen.h"

/* The states and cells of a run, as seq_monitors.c reads them. */
#define DISPATCHED 1
#define IN_FLIGHT  2
#define CANCELLED  6
#define CANCEL_MAX 12 /* likewise, of a canceller, six times */
#define VAIN_MAX                                                                                   \
    8 /* transactions of a reclaimer that reclaim nothing: a look and a try, four times */

/* What is known of a client. */
enum {
    CELL_RUN,      /* the seq whose lease it took last; 0: none */
    CELL_BEATS,    /* it sent a heartbeat of that run, or may have tried to */
    CELL_FOR_NONE, /* transactions that changed nothing while a lease had expired, in a row, */
    CELL_SINCE,    /* ... and when the first of them began */
    CELL_ABOUT,    /* 1 + the slot of the seq that its last transaction moved or was refused at, but
                      for a read that tells it what it did not know; 0: of none */
    CELL_MOVES,    /* ... how often that seq had been moved by then, */
    CELL_KNOWS,    /* ... and it was told of that, or has read since */
    CELL_UNTOLD,   /* it was not told of the lease that it took last */
    CELL_OVER,     /* it was told that Stage1 has failed */
    CELL_OWNER,    /* as whom it took the lease of CELL_RUN */
    CELL_ATTEMPT,  /* ... and which run of it that was */
    CELL_VAIN,     /* transactions that changed nothing while a seq was to be cancelled, in a row */
    CELL_UNSURE,   /* it does not know yet how a transaction ended of which no answer came */
    CELL_LOOKS,    /* reads in a row that told it nothing new of the run that it holds */
    CELL_COUNT
};
_Static_assert(CELL_COUNT <= SEEN_CELLS, "a client has room for what is known of it");

static int64_t cell(const struct rows *rows, uint32_t slot, int column)
{
    return row_get(rows, TABLE_SEQ, slot, column);
}

/* When the lease of a run expires (E-SEQ-13). */
static int64_t expires(const struct rows *rows, int64_t heartbeat)
{
    return heartbeat + row_get(rows, TABLE_STAGE, 0, STAGE_LEASE);
}

static bool has_expired(const struct rows *rows, int64_t now)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        if (cell(rows, slot, SEQ_STATE) == IN_FLIGHT &&
            expires(rows, cell(rows, slot, SEQ_HEARTBEAT)) <= now) {
            return true;
        }
    }
    return false;
}

/* ---- the wall clock -------------------------------------------------------------------------- */

/* The time that stands in the report of an illegal move is the wall clock's as of its attempt (SEQ-4);
 * the store's clock is another. */
static void judge_wall(struct judge *judge, const struct observed *seen,
                       const struct row_change *changes, size_t count)
{
    for (size_t i = 0; i < count && seen->wall_to != 0; i++) {
        if (changes[i].table == TABLE_STAGE && changes[i].kind == ROW_UPDATED &&
            changes[i].column == STAGE_WALL) {
            int64_t told = row_get(judge->rows, TABLE_STAGE, 0, STAGE_WALL);
            judge_that(judge, told >= seen->wall_from && told <= seen->wall_to, ORACLE_STORE,
                       CLAUSE_SEQ_4, TABLE_STAGE, 0,
                       "the report of an illegal move has a time that is not the wall clock's");
            return;
        }
    }
}

/* ---- heartbeats ------------------------------------------------------------------------------ */

/* A run ends by a result of its own: it has made progress before, and told so while it was at work
 * (E-SEQ-16). */
static void judge_beats(struct judge *judge, uint32_t slot, int64_t worked, const int64_t *cells)
{
    bool own = cell(judge->rows, slot, SEQ_ENDED_BY) != 0 &&
               row_key(judge->rows, TABLE_SEQ, slot) == cells[CELL_RUN];
    int64_t lease = row_get(judge->rows, TABLE_STAGE, 0, STAGE_LEASE);
    if (own && worked > 0) {
        judge_that(judge, 2 * worked < lease, ORACLE_STORE, CLAUSE_SEQ_9, TABLE_SEQ, slot,
                   "a run worked for half of its lease and sent no heartbeat meanwhile");
    }
    if (own) {
        judge_that(judge, cells[CELL_BEATS] != 0, ORACLE_STORE, CLAUSE_SEQ_9, TABLE_SEQ, slot,
                   "a run reported its result and never sent a heartbeat");
    }
}

/* A worker looks at its clock before its lease is half over (E-SEQ-16): one that looks later sends its
 * heartbeat for a lease that is lost. */
static void judge_attention(struct judge *judge, const struct observed *seen, const int64_t *cells)
{
    int64_t lease = row_get(judge->rows, TABLE_STAGE, 0, STAGE_LEASE);
    uint32_t slot = row_find(judge->rows, TABLE_SEQ, cells[CELL_RUN]);
    if (seen->stretch > 0 && slot != ROW_NONE) {
        judge_that(judge, 2 * seen->stretch <= lease, ORACLE_STORE, CLAUSE_SEQ_9, TABLE_SEQ, slot,
                   "a run did not look at its clock for more than half of its lease");
    }
}

/* It holds a run whose lease it was told of. */
static bool holds_run(const struct rows *rows, const int64_t *cells)
{
    uint32_t slot = row_find(rows, TABLE_SEQ, cells[CELL_RUN]);
    return cells[CELL_OWNER] != 0 && cells[CELL_UNTOLD] == 0 && slot != ROW_NONE &&
           cell(rows, slot, SEQ_STATE) == IN_FLIGHT &&
           cell(rows, slot, SEQ_OWNER) == cells[CELL_OWNER] &&
           cell(rows, slot, SEQ_ATTEMPTS) == cells[CELL_ATTEMPT] &&
           row_get(rows, TABLE_STAGE, 0, STAGE_SEQ) == 0;
}

/* The active worker keeps its lease (SEQ-9): it goes on with the run that it holds, and does not look
 * for another, nor take one, until that has ended. A read tells it what it was not told; a second one
 * may be of its own run, too, and does no harm. */
static void judge_going_on(struct judge *judge, const struct observed *seen, bool takes,
                           int64_t *cells)
{
    if (seen->ended != OBSERVED_COMMITTED) {
        return;
    }
    bool looks = seen->only_read || takes;
    bool held = cells[CELL_RUN] != 0 && holds_run(judge->rows, cells);
    cells[CELL_LOOKS] = looks && held && cells[CELL_UNSURE] == 0 ? cells[CELL_LOOKS] + 1 : 0;
    if (!looks || cells[CELL_UNSURE] != 0 || cells[CELL_RUN] == 0) {
        return;
    }
    judge_that(judge, !held || (!takes && cells[CELL_LOOKS] < 2), ORACLE_STORE, CLAUSE_SEQ_9,
               TABLE_SEQ, row_find(judge->rows, TABLE_SEQ, cells[CELL_RUN]),
               "a worker let go of a run that it could go on with, and looked for another");
}

static void remember_answer(const struct observed *seen, int64_t *cells)
{
    if (!seen->answered) {
        cells[CELL_UNSURE] = 1;
    } else if (seen->ended == OBSERVED_COMMITTED) {
        cells[CELL_UNSURE] = 0;
    }
}

/* A heartbeat that fails was sent; so was one that finds the clock behind the last one (SEQ-19). */
static void remember_beat(const struct judge *judge, const struct observed *seen, bool beat,
                          int64_t *cells)
{
    uint32_t slot = row_find(judge->rows, TABLE_SEQ, cells[CELL_RUN]);
    bool behind = slot != ROW_NONE && seen->began <= cell(judge->rows, slot, SEQ_HEARTBEAT);
    if (beat || behind || observed_failed(seen)) {
        cells[CELL_BEATS] = 1;
    }
}

/* ---- reclaiming ------------------------------------------------------------------------------ */

/* An expired lease was taken away: within four rounds of the reclaimer, a look and a try each
 * (E-SEQ-17). `heartbeat` is the run's last. */
static void judge_reclaim(struct judge *judge, uint32_t slot, int64_t heartbeat,
                          const int64_t *cells)
{
    bool late =
        cells[CELL_FOR_NONE] > VAIN_MAX && cells[CELL_SINCE] >= expires(judge->rows, heartbeat);
    judge_that(
        judge, !late, ORACLE_STORE, CLAUSE_SEQ_10, TABLE_SEQ, slot,
        "an expired lease was passed over for more than four rounds before it was reclaimed");
}

static void remember_round(const struct judge *judge, const struct observed *seen, bool changed,
                           int64_t *cells)
{
    bool none = seen->ended == OBSERVED_COMMITTED && !changed;
    if (none && has_expired(judge->rows, seen->began)) {
        cells[CELL_SINCE] = cells[CELL_FOR_NONE] == 0 ? seen->began : cells[CELL_SINCE];
        cells[CELL_FOR_NONE]++;
    } else if (seen->ended == OBSERVED_COMMITTED) {
        cells[CELL_FOR_NONE] = 0;
    }
}

/* ---- cancelling ------------------------------------------------------------------------------- */

/* Some seq is to be cancelled, and can be now: it is not under way, or was not asked to end yet, or its
 * grace period is over. */
static bool has_unwanted(const struct rows *rows, int64_t now)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        int64_t state = cell(rows, slot, SEQ_STATE), asked = cell(rows, slot, SEQ_CANCEL_AT);
        bool over = asked == 0 || asked + row_get(rows, TABLE_STAGE, 0, STAGE_GRACE) <= now;
        if (cell(rows, slot, SEQ_UNWANTED) != 0 &&
            (state == DISPATCHED || (state == IN_FLIGHT && over))) {
            return true;
        }
    }
    return false;
}

/* Who never took a lease, has none to reclaim, and looks and tries in vain all the same, is there to
 * cancel: a seq is not passed over for six rounds of a look and a try (SEQ-15, E-SEQ-17). */
static void judge_unwanted(struct judge *judge, const struct observed *seen, size_t count,
                           int64_t *cells)
{
    bool vain = seen->ended == OBSERVED_COMMITTED && count == 0 && cells[CELL_RUN] == 0;
    if (!vain || row_get(judge->rows, TABLE_STAGE, 0, STAGE_SEQ) != 0 ||
        !has_unwanted(judge->rows, seen->began) || has_expired(judge->rows, seen->began)) {
        cells[CELL_VAIN] = 0;
        return;
    }
    cells[CELL_VAIN] += seen->answered;
    judge_that(judge, cells[CELL_VAIN] <= CANCEL_MAX, ORACLE_STORE, CLAUSE_SEQ_15, TABLE_STAGE, 0,
               "a seq that is to be cancelled was passed over for more than six rounds");
}

struct oracle_verdict seen_seq_idle(struct oracle *oracle, const struct rows *rows, int64_t until)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    uint32_t count =
        rows->table[TABLE_STAGE].used == 0 || row_get(rows, TABLE_STAGE, 0, STAGE_SEQ) != 0
            ? 0 /* or Stage1 has failed, and nobody reclaims or cancels any more */
            : rows->table[TABLE_SEQ].used;
    for (uint32_t slot = 0; slot < count; slot++) {
        int64_t asked = cell(rows, slot, SEQ_CANCEL_AT);
        if (cell(rows, slot, SEQ_STATE) != IN_FLIGHT) {
            continue;
        }
        judge_that(&judge, expires(rows, cell(rows, slot, SEQ_HEARTBEAT)) >= until, ORACLE_STORE,
                   CLAUSE_SEQ_10, TABLE_SEQ, slot,
                   "a lease expired, and nobody means to look before later");
        judge_that(&judge,
                   asked == 0 || asked + row_get(rows, TABLE_STAGE, 0, STAGE_GRACE) >= until,
                   ORACLE_STORE, CLAUSE_SEQ_15, TABLE_SEQ, slot,
                   "a grace period was over, and nobody means to look before later");
    }
    return judge.verdict;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* 1 + the slot of the seq at which the commit was refused, as its own stripe of the counters tells;
 * 0: of none. A commit that is repeated is counted without the seq: `about` is the one that its
 * client was about before. */
static int64_t refused_at(const struct rows *rows, const struct row_change *changes, size_t count,
                          int64_t about)
{
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        if (change->table != TABLE_SEQ_TALLY || change->kind != ROW_UPDATED) {
            continue;
        }
        if (change->column == SEQ_TALLY_STALE || change->column == SEQ_TALLY_LATE) {
            int64_t key = row_get(rows, TABLE_SEQ_TALLY, change->slot, SEQ_TALLY_OF);
            uint32_t slot = row_find(rows, TABLE_SEQ, key);
            return slot == ROW_NONE ? 0 : 1 + (int64_t)slot;
        }
        if (change->column == SEQ_TALLY_REPEATED) {
            return about;
        }
    }
    return 0;
}

/* A late result is told from a late heartbeat (SEQ-12): the journal has the work of its run by
 * then. One that its client was not told of may have been sent before that. */
static void judge_result(struct judge *judge, const struct row_change *changes, size_t count)
{
    const struct rows *rows = judge->rows;
    uint32_t stripe = ROW_NONE;
    bool result = false;
    for (size_t i = 0; i < count; i++) {
        bool own = changes[i].table == TABLE_SEQ_TALLY && changes[i].kind == ROW_UPDATED;
        stripe = own && changes[i].column == SEQ_TALLY_LATE ? changes[i].slot : stripe;
        result = result || (own && changes[i].column == SEQ_TALLY_RESULTS &&
                            row_get(rows, TABLE_SEQ_TALLY, changes[i].slot, SEQ_TALLY_RESULTS) >
                                changes[i].before);
    }
    if (stripe == ROW_NONE) {
        return;
    }
    bool worked = seq_monitors_worked(judge->oracle, rows,
                                      row_get(rows, TABLE_SEQ_TALLY, stripe, SEQ_TALLY_OF),
                                      row_get(rows, TABLE_SEQ_TALLY, stripe, SEQ_TALLY_AS));
    judge_that(judge, result || !worked, ORACLE_STORE, CLAUSE_SEQ_12, TABLE_SEQ_TALLY, stripe,
               "a late result was refused, and counted as if it were a heartbeat");
}

/* Whether some run is under way as this owner. */
static bool owns_any(const struct rows *rows, int64_t owner)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        if (cell(rows, slot, SEQ_OWNER) == owner) {
            return true;
        }
    }
    return false;
}

/* A transaction of a client that has lost its lease is refused and counted (SEQ-12, E-SEQ-3): one
 * that committed and wrote nothing was refused, and is forgotten. A lease that it took late may be
 * of another seq. */
static void judge_counted(struct judge *judge, const struct observed *seen, size_t count,
                          const int64_t *cells)
{
    uint32_t slot = row_find(judge->rows, TABLE_SEQ, cells[CELL_RUN]);
    if (seen->only_read || slot == ROW_NONE ||
        cell(judge->rows, slot, SEQ_OWNER) == cells[CELL_OWNER] ||
        (count == 0 && owns_any(judge->rows, cells[CELL_OWNER]))) {
        return;
    }
    judge_that(judge, count > 0, ORACLE_STORE, CLAUSE_SEQ_12, TABLE_SEQ, slot,
               "a worker's transaction was refused, and no counter says so");
}

/* Stage1 is over for a client that was told of it, or failed it: it sends nothing more but reads
 * (SEQ-20). */
static void judge_over(struct judge *judge, const struct observed *seen,
                       const struct row_change *changes, size_t count, int64_t *cells)
{
    bool failed = row_get(judge->rows, TABLE_STAGE, 0, STAGE_SEQ) != 0;
    bool by_itself = false;
    for (size_t i = 0; i < count; i++) {
        by_itself = by_itself || (changes[i].table == TABLE_STAGE &&
                                  changes[i].kind == ROW_UPDATED && changes[i].column == STAGE_SEQ);
    }
    if (failed && !seen->only_read && cells[CELL_OVER] != 0) {
        judge_breach(judge, ORACLE_STORE, CLAUSE_SEQ_20, TABLE_STAGE, 0,
                     "an actor was told that Stage1 has failed, and went on");
    }
    bool told = seen->ended == OBSERVED_REFUSED || by_itself;
    cells[CELL_OVER] = failed && seen->answered && (told || cells[CELL_OVER] != 0);
}

/* 1 + the slot of the seq that the commit moved; 0: of none. */
static int64_t moved_by(const struct row_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].table == TABLE_SEQ && changes[i].kind == ROW_UPDATED &&
            changes[i].column == SEQ_MOVE_COUNT) {
            return 1 + (int64_t)changes[i].slot;
        }
    }
    return 0;
}

static int64_t moves_of(const struct rows *rows, int64_t about)
{
    return about == 0 ? 0 : cell(rows, (uint32_t)about - 1, SEQ_MOVE_COUNT);
}

/* A refused actor was overtaken, and not by its own last transaction if it knows of that: it got
 * the answer, or has read the state since (E-SEQ-11). An actor that does not know may try again,
 * and an earlier try may come late; in a drill it errs on purpose. */
static void judge_refusal(struct judge *judge, const struct observed *seen, int64_t refused,
                          const int64_t *cells)
{
    const struct rows *rows = judge->rows;
    if (refused != 0 && seen->answered && row_get(rows, TABLE_STAGE, 0, STAGE_DRILL) == 0) {
        judge_that(
            judge,
            refused != cells[CELL_ABOUT] || cells[CELL_KNOWS] == 0 ||
                moves_of(rows, refused) != cells[CELL_MOVES],
            ORACLE_STORE, CLAUSE_SEQ_5, TABLE_SEQ, (uint32_t)refused - 1,
            "a move was refused that nobody had overtaken but its own client, which knew it");
    }
}

/* Refusals, and what the client knows of the seq that it is about. */
static void judge_knowledge(struct judge *judge, const struct observed *seen,
                            const struct row_change *changes, size_t count, int64_t *cells)
{
    const struct rows *rows = judge->rows;
    bool committed = seen->ended == OBSERVED_COMMITTED;
    int64_t refused = committed ? refused_at(rows, changes, count, cells[CELL_ABOUT]) : 0;
    judge_refusal(judge, seen, refused, cells);
    if (committed && seen->answered && seen->worked == 0) { /* else it may be a heartbeat */
        judge_result(judge, changes, count);
    }
    bool reads = committed && seen->answered && seen->only_read;
    if (!reads || cells[CELL_KNOWS] != 0) {
        cells[CELL_ABOUT] = refused != 0 ? refused : committed ? moved_by(changes, count) : 0;
        cells[CELL_MOVES] = moves_of(rows, cells[CELL_ABOUT]);
    }
    cells[CELL_KNOWS] = seen->answered;
}

/* ---- one transaction ------------------------------------------------------------------------- */

/* What the commit did to one seq. */
struct seq_change {
    uint32_t slot;
    int64_t state, heartbeat; /* as they were before */
    bool moved, beat;
};

static struct seq_change change_of(const struct rows *rows, const struct row_change *changes,
                                   size_t count, uint32_t slot)
{
    struct seq_change of = {.slot = slot,
                            .state = cell(rows, slot, SEQ_STATE),
                            .heartbeat = cell(rows, slot, SEQ_HEARTBEAT)};
    for (size_t i = count; i > 0; i--) {
        const struct row_change *change = &changes[i - 1];
        if (change->table != TABLE_SEQ || change->slot != slot || change->kind != ROW_UPDATED) {
            continue;
        }
        if (change->column == SEQ_STATE) {
            of.state = change->before;
            of.moved = true;
        } else if (change->column == SEQ_HEARTBEAT) {
            of.heartbeat = change->before;
            of.beat = true;
        }
    }
    return of;
}

/* What the transaction did, as its client is concerned. */
struct doing {
    bool changes; /* some seq moved, or its heartbeat did */
    bool takes;   /* it took a lease */
    bool beats;   /* it sent a heartbeat of the run in hand */
};

static void judge_seq(struct judge *judge, const struct observed *seen, const struct seq_change *of,
                      struct doing *doing, int64_t *cells)
{
    int64_t key = row_key(judge->rows, TABLE_SEQ, of->slot);
    int64_t state = cell(judge->rows, of->slot, SEQ_STATE);
    doing->changes = doing->changes || of->moved || of->beat;
    if (of->beat) { /* one that is ahead of the clock keeps a lease that nobody works under */
        judge_that(judge, cell(judge->rows, of->slot, SEQ_HEARTBEAT) == seen->began, ORACLE_STORE,
                   CLAUSE_SEQ_19, TABLE_SEQ, of->slot,
                   "a heartbeat was written that is not the store's time");
    }
    if (of->moved && of->state == IN_FLIGHT && cell(judge->rows, of->slot, SEQ_ENDED_BY) != 0) {
        judge_beats(judge, of->slot, seen->worked, cells);
    } else if (of->moved && of->state == IN_FLIGHT && state != CANCELLED) {
        judge_reclaim(judge, of->slot, of->heartbeat, cells);
    }
    if (of->moved && state == IN_FLIGHT) {
        doing->takes = true;
        cells[CELL_RUN] = key;
        cells[CELL_OWNER] = cell(judge->rows, of->slot, SEQ_OWNER);
        cells[CELL_ATTEMPT] = cell(judge->rows, of->slot, SEQ_ATTEMPTS);
        cells[CELL_BEATS] = 0;
    } else if (of->beat && key == cells[CELL_RUN]) {
        doing->beats = true;
        if (cells[CELL_UNTOLD] != 0) {
            judge_see(judge, COVER_SEQ_LEASE_READ);
        }
    }
}

/* The first that the commit wrote of this seq. */
static bool is_first(const struct row_change *changes, size_t at)
{
    bool first = changes[at].table == TABLE_SEQ && changes[at].kind == ROW_UPDATED;
    for (size_t i = 0; i < at && first; i++) {
        first = changes[i].table != TABLE_SEQ || changes[i].slot != changes[at].slot;
    }
    return first;
}

/* The transaction takes the lease of another seq than this one. */
static bool takes_another(const struct rows *rows, const struct observed *seen,
                          const struct row_change *changes, size_t count, int64_t run)
{
    bool takes = false;
    for (size_t i = 0; seen->ended == OBSERVED_COMMITTED && i < count; i++) {
        takes = takes || (changes[i].table == TABLE_SEQ && changes[i].kind == ROW_UPDATED &&
                          changes[i].column == SEQ_STATE &&
                          cell(rows, changes[i].slot, SEQ_STATE) == IN_FLIGHT &&
                          row_key(rows, TABLE_SEQ, changes[i].slot) != run);
    }
    return takes;
}

struct oracle_verdict seen_seq(struct oracle *oracle, const struct rows *rows,
                               const struct observed *seen, const struct row_change *changes,
                               size_t count)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    int64_t *cells = seen_client(oracle, seen);
    struct doing doing = {false};
    if (rows->table[TABLE_STAGE].used == 0) {
        return judge.verdict;
    }
    judge_wall(&judge, seen, changes, count);
    if (cells == NULL) {
        return judge.verdict;
    }
    judge_attention(&judge, seen, cells);
    judge_going_on(&judge, seen, takes_another(rows, seen, changes, count, cells[CELL_RUN]), cells);
    for (size_t i = 0; seen->ended == OBSERVED_COMMITTED && i < count; i++) {
        if (is_first(changes, i)) {
            struct seq_change of = change_of(rows, changes, count, changes[i].slot);
            judge_seq(&judge, seen, &of, &doing, cells);
        }
    }
    if (doing.takes) {
        cells[CELL_UNTOLD] = !seen->answered;
    }
    if (!doing.takes || observed_failed(seen)) {
        remember_beat(&judge, seen, doing.beats, cells);
    }
    remember_round(&judge, seen, doing.changes, cells);
    judge_unwanted(&judge, seen, count, cells);
    if (seen->ended == OBSERVED_COMMITTED) {
        judge_counted(&judge, seen, count, cells);
    }
    remember_answer(seen, cells);
    judge_over(&judge, seen, changes, count, cells);
    judge_knowledge(&judge, seen, changes, count, cells);
    return judge.verdict;
}
