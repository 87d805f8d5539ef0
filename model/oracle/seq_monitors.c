/* The monitors of the durable seq ledger. Every commit is read as steps of seqs, and each step is
 * given to the judge that the ledger in memory is held to (seq.h); what only rows can show is
 * judged here: that rows show each move, the grace period, revoked tokens, the event beside its state, the counters, the
 * latch.
 *
 * Who made a step is read from the row: a run is ended by the token that stands in ENDED_BY and
 * ENDED_RUN, or was taken away (ENDED_BY 0, at ENDED_AT). The policy is read from the stage.
 *
 * That the work of a run was done, and once, is told by the journal and not by rows (SEQ-22).
 *
 * Of several breaches of one commit the first is told: the latch, then the seqs in the order in
 * which they were written, then the counters. */
#include "model/oracle/seen.h"
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
#define MOVES_MAX      4 /* of one seq in one commit: more are as illegal as four */

enum stage_cell { CELL_HALTED, CELL_DECISIONS }; /* the first cells, before the memory */

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

/* ---- a commit as its rows before and after --------------------------------------------------- */

struct telling {
    struct judge judge;
    const struct row_change *changes;
    size_t count;
    uint64_t touched; /* a bit for each row that was changed, which other rows may share */
};

static uint64_t bit_of(unsigned table, uint32_t slot)
{
    return UINT64_C(1) << ((7 * table + slot) & 63);
}

static int64_t after(const struct telling *told, enum row_table table, uint32_t slot, int column)
{
    return row_get(told->judge.rows, table, slot, column);
}

static bool has(const struct telling *told, enum row_table table, uint32_t slot,
                enum row_change_kind kind)
{
    for (size_t i = 0; i < told->count; i++) {
        const struct row_change *change = &told->changes[i];
        if (change->table == table && change->slot == slot && change->kind == kind) {
            return true;
        }
    }
    return false;
}

/* What the cell held when the transaction began; 0 of a row that it made. */
static int64_t before(const struct telling *told, enum row_table table, uint32_t slot, int column)
{
    if ((told->touched & bit_of(table, slot)) == 0) {
        return after(told, table, slot, column);
    }
    if (has(told, table, slot, ROW_INSERTED)) {
        return 0;
    }
    for (size_t i = 0; i < told->count; i++) {
        const struct row_change *change = &told->changes[i];
        if (change->table == table && change->slot == slot && change->kind == ROW_UPDATED &&
            change->column == column) {
            return change->before;
        }
    }
    return after(told, table, slot, column);
}

static bool changed(const struct telling *told, enum row_table table, uint32_t slot, int column)
{
    return before(told, table, slot, column) != after(told, table, slot, column);
}

static void breach(struct telling *told, enum clause_id clause, uint32_t slot, const char *why)
{
    judge_breach(&told->judge, ORACLE_SEQ_MOVES, clause, slot == ROW_NONE ? TABLE_COUNT : TABLE_SEQ,
                 slot, why);
}

static bool is_state(int64_t value)
{
    return value >= 0 && value < ORACLE_SEQ_STATES;
}

static bool rests(int64_t state)
{
    return state >= ORACLE_SEQ_SUCCESS && state <= ORACLE_SEQ_CANCEL;
}

static int64_t policy_cell(const struct telling *told, int column)
{
    return after(told, TABLE_STAGE, 0, column);
}

static struct oracle_seq_policy policy_of(const struct telling *told)
{
    return (struct oracle_seq_policy){
        .lease_ms = (uint64_t)policy_cell(told, STAGE_LEASE),
        .retryable = (uint32_t)policy_cell(told, STAGE_RETRYABLE),
        .budget = (uint32_t)policy_cell(told, STAGE_BUDGET),
        .expired_as = 0,
    };
}

/* ---- the path of a seq within a commit ------------------------------------------------------- */

/* The states that it was in, one after the other. */
struct path {
    int64_t states[MOVES_MAX + 1];
    size_t moves;
};

static struct path path_of(const struct telling *told, uint32_t slot)
{
    struct path path = {{before(told, TABLE_SEQ, slot, SEQ_STATE)}, 0};
    bool first = true;
    for (size_t i = 0; i < told->count && path.moves < MOVES_MAX; i++) {
        const struct row_change *change = &told->changes[i];
        if (change->table != TABLE_SEQ || change->slot != slot || change->kind != ROW_UPDATED ||
            change->column != SEQ_STATE) {
            continue;
        }
        if (!first && change->before != path.states[path.moves]) {
            path.states[++path.moves] = change->before;
        }
        first = false;
    }
    int64_t now = after(told, TABLE_SEQ, slot, SEQ_STATE);
    if (path.moves < MOVES_MAX && now != path.states[path.moves]) {
        path.states[++path.moves] = now;
    }
    return path;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* How many terminal events of the seq the commit emitted. */
static int emitted(struct telling *told, int64_t seq, uint32_t slot)
{
    int events = 0;
    for (size_t i = 0; i < told->count; i++) {
        const struct row_change *change = &told->changes[i];
        if (change->table != TABLE_SEQ_EVENT ||
            after(told, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_SEQ) != seq) {
            continue;
        }
        events++;
        if (change->kind == ROW_DELETED) {
            breach(told, CLAUSE_SEQ_6, slot, "a terminal event was taken back");
        }
        if (after(told, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_RUNS) != 1) {
            breach(told, CLAUSE_SEQ_6, slot, "a terminal event was emitted more than once");
        }
        if (after(told, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_STATE) !=
            after(told, TABLE_SEQ, slot, SEQ_STATE)) {
            breach(told, CLAUSE_SEQ_6, slot, "a terminal event tells another state than the seq's");
        }
    }
    return events;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The seq as it was before the commit. */
static struct oracle_seq seq_before(const struct telling *told, uint32_t slot)
{
    int64_t state = before(told, TABLE_SEQ, slot, SEQ_STATE);
    bool runs = state == ORACLE_SEQ_IN_FLIGHT;
    int64_t id = row_key(told->judge.rows, TABLE_SEQ, slot);
    int64_t flags = memory_get(&told->judge, MEMORY_SEQS, id, JUDGE_MEMO_FLAGS);
    return (struct oracle_seq){
        .state = (enum oracle_seq_state)state,
        .owner = runs ? (uint64_t)before(told, TABLE_SEQ, slot, SEQ_OWNER) : 0,
        .attempt = (uint32_t)before(told, TABLE_SEQ, slot, SEQ_ATTEMPTS),
        .heartbeat_ms = (uint64_t)before(told, TABLE_SEQ, slot, SEQ_HEARTBEAT),
        .event_out = (flags & FLAG_EVENT) != 0,
    };
}

/* Whose step it was, as the row has it. */
static enum oracle_seq_by made_by(const struct telling *told, uint32_t slot, int64_t from,
                                  int64_t to)
{
    if (from == to) {
        return changed(told, TABLE_SEQ, slot, SEQ_HEARTBEAT) ? ORACLE_SEQ_BY_HEARTBEAT
                                                             : ORACLE_SEQ_BY_CANCEL;
    }
    if (to == ORACLE_SEQ_IN_FLIGHT) {
        return ORACLE_SEQ_BY_TAKE;
    }
    if (to == ORACLE_SEQ_CANCEL) {
        return ORACLE_SEQ_BY_CANCEL;
    }
    if (from == ORACLE_SEQ_FAIL && to == ORACLE_SEQ_DISPATCHED) {
        return ORACLE_SEQ_BY_RETRY;
    }
    if (from == ORACLE_SEQ_IN_FLIGHT && to != ORACLE_SEQ_COMMITTED) {
        return after(told, TABLE_SEQ, slot, SEQ_ENDED_BY) == 0 ? ORACLE_SEQ_BY_RECLAIM
                                                               : ORACLE_SEQ_BY_FINISH;
    }
    return ORACLE_SEQ_BY_ORDER;
}

static struct oracle_seq_step step_of(const struct telling *told, uint32_t slot, int64_t from,
                                      int64_t to, bool event)
{
    enum oracle_seq_by by = made_by(told, slot, from, to);
    bool beats = by == ORACLE_SEQ_BY_HEARTBEAT, takes = by == ORACLE_SEQ_BY_TAKE;
    int actor = beats ? SEQ_BEAT_BY : takes ? SEQ_OWNER : SEQ_ENDED_BY;
    return (struct oracle_seq_step){
        .by = by,
        .from = (enum oracle_seq_state)from,
        .to = (enum oracle_seq_state)to,
        .actor = (uint64_t)after(told, TABLE_SEQ, slot, actor),
        .token = (uint32_t)after(told, TABLE_SEQ, slot, beats ? SEQ_BEAT_RUN : SEQ_ENDED_RUN),
        .fail_class = (uint32_t)after(told, TABLE_SEQ, slot, SEQ_FAIL_CLASS),
        .waits = after(told, TABLE_SEQ, slot, SEQ_RETRY) != 0,
        .attempt = (uint32_t)after(told, TABLE_SEQ, slot, SEQ_ATTEMPTS),
        .owner = (uint64_t)after(told, TABLE_SEQ, slot, SEQ_OWNER),
        .heartbeat_ms = (uint64_t)after(told, TABLE_SEQ, slot, SEQ_HEARTBEAT),
        .now_ms = (uint64_t)after(told, TABLE_SEQ, slot, SEQ_ENDED_AT),
        .event = event,
    };
}

/* Which promises the step puts to the test. */
static void count_step(struct telling *told, const struct oracle_seq_step *step)
{
    bool runs = step->from == ORACLE_SEQ_IN_FLIGHT, moves = step->from != step->to;
    bool fails = runs && step->to == ORACLE_SEQ_FAIL;
    const struct {
        enum clause_id clause;
        bool held;
    } promises[] = {
        {CLAUSE_SEQ_3, moves},
        {CLAUSE_SEQ_5, moves},
        {CLAUSE_SEQ_6, step->event || step->to == ORACLE_SEQ_COMMITTED},
        {CLAUSE_SEQ_8, step->by == ORACLE_SEQ_BY_TAKE},
        {CLAUSE_SEQ_11, fails && step->by == ORACLE_SEQ_BY_RECLAIM},
        {CLAUSE_SEQ_12, runs && step->by == ORACLE_SEQ_BY_FINISH},
        {CLAUSE_SEQ_13, fails || step->by == ORACLE_SEQ_BY_RETRY},
        {CLAUSE_SEQ_18, fails && step->by == ORACLE_SEQ_BY_FINISH},
        {CLAUSE_SEQ_19, step->by == ORACLE_SEQ_BY_HEARTBEAT},
    };
    for (size_t i = 0; i < ORACLE_COUNT(promises); i++) {
        if (promises[i].held) {
            judge_held(&told->judge, promises[i].clause);
        }
    }
}

/* Equal inputs, equal outcome (SEQ-11, SEQ-18): what was decided of this class after so many
 * attempts is decided again. */
static void judge_decision(struct telling *told, uint32_t slot, const struct oracle_seq *seq,
                           const struct oracle_seq_step *step)
{
    bool reclaimed = step->by == ORACLE_SEQ_BY_RECLAIM;
    bool decided = step->from == ORACLE_SEQ_IN_FLIGHT && step->to == ORACLE_SEQ_FAIL;
    if (!decided || seq->attempt >= DECISIONS) {
        return;
    }
    struct ghosts *ghosts = &told->judge.oracle->ghosts;
    uint32_t class = reclaimed ? 0 : step->fail_class;
    size_t cell = CELL_DECISIONS + class * DECISIONS + seq->attempt;
    int64_t decision = step->waits ? 1 : 2, known = ghost_get(ghosts, cell);
    if (known == 0) {
        ghost_set(ghosts, cell, decision);
    } else if (known != decision) {
        breach(told, reclaimed ? CLAUSE_SEQ_11 : CLAUSE_SEQ_18, slot,
               "of two equal failures one was retried and the other was not");
    }
}

/* The run was asked to end before, and goes on: its grace period would begin anew. */
static bool is_asked_anew(const struct telling *told, uint32_t slot)
{
    return before(told, TABLE_SEQ, slot, SEQ_STATE) == ORACLE_SEQ_IN_FLIGHT &&
           before(told, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0 &&
           changed(told, TABLE_SEQ, slot, SEQ_CANCEL_AT);
}

/* What only rows show of a run: whose lease, heartbeat and cancel it is. */
static void judge_run(struct telling *told, uint32_t slot)
{
    int64_t state = after(told, TABLE_SEQ, slot, SEQ_STATE);
    bool runs = state == ORACLE_SEQ_IN_FLIGHT;
    bool own_beat =
        after(told, TABLE_SEQ, slot, SEQ_BEAT_BY) == after(told, TABLE_SEQ, slot, SEQ_OWNER) &&
        after(told, TABLE_SEQ, slot, SEQ_BEAT_RUN) == after(told, TABLE_SEQ, slot, SEQ_ATTEMPTS);
    if (!runs && after(told, TABLE_SEQ, slot, SEQ_OWNER) != 0) {
        breach(told, CLAUSE_SEQ_12, slot, "a run ended and its token was not revoked");
    }
    if (!runs && after(told, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0) {
        breach(told, CLAUSE_SEQ_15, slot, "a cancel outlived the run that it was asked of");
    }
    if (runs && is_asked_anew(told, slot)) {
        breach(told, CLAUSE_SEQ_15, slot, "a run that was asked to end was asked again");
    }
    if (runs && (!own_beat || after(told, TABLE_SEQ, slot, SEQ_HEARTBEAT) == 0)) {
        breach(told, CLAUSE_SEQ_19, slot, "a run goes on with a heartbeat that is not its own");
    }
}

/* SEQ-15: asked, and the grace period is over. */
static void judge_forced(struct telling *told, uint32_t slot, const struct oracle_seq_step *step)
{
    if (step->from != ORACLE_SEQ_IN_FLIGHT || step->to != ORACLE_SEQ_CANCEL) {
        return;
    }
    int64_t asked = before(told, TABLE_SEQ, slot, SEQ_CANCEL_AT);
    int64_t at = after(told, TABLE_SEQ, slot, SEQ_ENDED_AT);
    if (after(told, TABLE_SEQ, slot, SEQ_ENDED_BY) != 0) {
        breach(told, CLAUSE_SEQ_15, slot, "a run that was cancelled is told as ended by its owner");
    }
    if (asked == 0 || at - asked < policy_cell(told, STAGE_GRACE)) {
        breach(told, CLAUSE_SEQ_15, slot, "a run was cancelled before its grace period was over");
    }
}

static void judge_step(struct telling *told, uint32_t slot, struct oracle_seq *seq,
                       const struct oracle_seq_step *step)
{
    const struct oracle_seq_policy policy = policy_of(told);
    const struct oracle_seq found = *seq;
    count_step(told, step);
    bool expired = step->by == ORACLE_SEQ_BY_RECLAIM;
    if (step->fail_class >= ORACLE_SEQ_CLASSES || (expired && step->fail_class != 0)) {
        breach(told, CLAUSE_SEQ_10, slot, "a failure has a class that it cannot have");
        return;
    }
    struct oracle_verdict verdict = oracle_seq_fold(seq, &policy, step);
    if (verdict.broken) { /* what the policy makes of an expired lease is SEQ-11's */
        bool decided = expired && verdict.clause == CLAUSE_SEQ_18;
        breach(told, decided ? CLAUSE_SEQ_11 : verdict.clause, slot, verdict.why);
    }
    judge_decision(told, slot, &found, step);
    judge_forced(told, slot, step);
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

static void expect(const struct document *scenario, struct expectation *expected)
{
    expected_seq_read(scenario, &expected->of.seq);
}

/* What is asked for; NULL: not known. */
static const struct expected_seq *asked(const struct telling *told)
{
    const struct expectation *expected = told->judge.oracle->expected;
    return expected == NULL ? NULL : &expected->of.seq;
}

/* A run that its owner ended, ended as its work reports; and only what is to be cancelled is. */
static void judge_report(struct telling *told, uint32_t slot, const struct oracle_seq *found,
                         const struct oracle_seq_step *step)
{
    const struct expected_seq *expected = asked(told);
    int64_t number = after(told, TABLE_SEQ, slot, SEQ_NUMBER);
    if (expected == NULL || number < 0) {
        return;
    }
    struct expected_report report = expected_seq_report(expected, number, found->attempt);
    bool fails = step->to == ORACLE_SEQ_FAIL;
    if (step->by == ORACLE_SEQ_BY_FINISH) {
        judge_held(&told->judge, CLAUSE_SEQ_21);
        if ((int64_t)step->to != report.state ||
            (fails && step->fail_class != (uint32_t)report.fail_class)) {
            breach(told, CLAUSE_SEQ_21, slot, "a run ended otherwise than its work reports");
        }
    }
    bool cancels =
        step->to == ORACLE_SEQ_CANCEL || (after(told, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0 &&
                                          changed(told, TABLE_SEQ, slot, SEQ_CANCEL_AT));
    if (cancels && !expected_seq_is_cancelled(expected, number)) {
        breach(told, CLAUSE_SEQ_21, slot, "a seq was cancelled that nobody wants cancelled");
    }
}

/* The seq is one that is asked for, and the only row of its number. */
static void judge_admitted(struct telling *told, uint32_t slot)
{
    const struct expected_seq *expected = asked(told);
    int64_t number = after(told, TABLE_SEQ, slot, SEQ_NUMBER);
    if (expected == NULL) {
        return;
    }
    bool once = number >= 0 && number < expected->jobs;
    for (uint32_t other = 0; once && other < told->judge.rows->table[TABLE_SEQ].used; other++) {
        once = other == slot || after(told, TABLE_SEQ, other, SEQ_NUMBER) != number;
    }
    judge_held(&told->judge, CLAUSE_SEQ_21);
    if (!once) {
        breach(told, CLAUSE_SEQ_21, slot, "a seq was admitted twice, or that nobody asked for");
    } else if ((after(told, TABLE_SEQ, slot, SEQ_UNWANTED) != 0) !=
               expected_seq_is_cancelled(expected, number)) {
        breach(told, CLAUSE_SEQ_21, slot, "a seq was not admitted as one that is to be cancelled");
    }
}

/* How long a lease and the grace period last is the run's: a scenario counts in ticks. */
static void judge_policy(struct telling *told)
{
    const struct expected_seq *expected = asked(told);
    if (expected == NULL) {
        return;
    }
    judge_held(&told->judge, CLAUSE_SEQ_21);
    if (policy_cell(told, STAGE_RETRYABLE) != expected_seq_retryable() ||
        policy_cell(told, STAGE_BUDGET) != expected->budget ||
        policy_cell(told, STAGE_DRILL) != expected->drill || policy_cell(told, STAGE_LEASE) <= 0 ||
        policy_cell(told, STAGE_GRACE) <= 0) {
        judge_breach(&told->judge, ORACLE_SEQ_LATCH, CLAUSE_SEQ_21, TABLE_STAGE, 0,
                     "Stage1 was opened under another policy than is asked for");
    }
}

/* ---- cover points ------------------------------------------------------------------------------- */

static void see_move(struct telling *told, int64_t from, int64_t to)
{
    static const struct {
        uint8_t from, to;
    } moves[] = {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {2, 5}, {1, 6},
                 {2, 6}, {3, 7}, {4, 7}, {5, 7}, {6, 7}, {5, 1}};
    for (size_t i = 0; i < ORACLE_COUNT(moves); i++) {
        if (moves[i].from == from && moves[i].to == to) {
            judge_see(&told->judge, (enum oracle_cover)(COVER_SEQ_MOVE_1 + i));
        }
    }
    if (to == ORACLE_SEQ_CANCEL) {
        judge_see(&told->judge,
                  from == ORACLE_SEQ_DISPATCHED ? COVER_SEQ_CANCEL_EARLY : COVER_SEQ_CANCEL_FORCED);
    }
}

static void see_step(struct telling *told, uint32_t slot, const struct oracle_seq *found,
                     const struct oracle_seq_step *step)
{
    int64_t id = row_key(told->judge.rows, TABLE_SEQ, slot);
    int64_t taken = memory_get(&told->judge, MEMORY_SEQS, id, MEMO_TAKEN);
    const struct oracle_seq_policy policy = policy_of(told);
    bool beats = step->by == ORACLE_SEQ_BY_HEARTBEAT;
    bool fails = step->from == ORACLE_SEQ_IN_FLIGHT && step->to == ORACLE_SEQ_FAIL;
    bool reclaims = step->by == ORACLE_SEQ_BY_RECLAIM;
    uint32_t class = reclaims ? 0 : step->fail_class;
    if (beats) {
        judge_see(&told->judge, COVER_SEQ_HEARTBEAT);
    }
    if (beats && (int64_t)step->heartbeat_ms - taken >= (int64_t)policy.lease_ms) {
        judge_see(&told->judge, COVER_SEQ_KEPT);
    }
    if (reclaims && !step->waits) {
        judge_see(&told->judge, COVER_SEQ_RECLAIM_FAIL);
    }
    if (step->by == ORACLE_SEQ_BY_RETRY && step->fail_class == 0) {
        judge_see(&told->judge, COVER_SEQ_RECLAIM_RETRY);
    }
    if (reclaims && found->attempt < RUNS_MAX) {
        memory_flag(&told->judge, MEMORY_SEQS, id, (int64_t)FLAG_RECLAIMED << found->attempt);
    }
    if (fails && class < ORACLE_SEQ_CLASSES && (policy.retryable >> class & 1) != 0 &&
        found->attempt >= policy.budget) {
        judge_see(&told->judge, COVER_SEQ_EXHAUSTED);
    }
}

/* ---- one seq --------------------------------------------------------------------------------- */

static void remember(struct telling *told, uint32_t slot, const struct path *path, bool event)
{
    int64_t id = row_key(told->judge.rows, TABLE_SEQ, slot);
    if (event) {
        memory_flag(&told->judge, MEMORY_SEQS, id, FLAG_EVENT);
    }
    if (path->moves > 0 && path->states[path->moves] == ORACLE_SEQ_IN_FLIGHT) {
        memory_set(&told->judge, MEMORY_SEQS, id, MEMO_TAKEN,
                   after(told, TABLE_SEQ, slot, SEQ_HEARTBEAT));
    }
    int64_t run = after(told, TABLE_SEQ, slot, SEQ_ATTEMPTS);
    if (after(told, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0 && run < RUNS_MAX &&
        changed(told, TABLE_SEQ, slot, SEQ_CANCEL_AT)) {
        memory_flag(&told->judge, MEMORY_SEQS, id, FLAG_ASKED << run);
    }
}

/* SEQ-5: a seq is written by its moves, one count each, by heartbeats and by a cancel that is
 * asked; nothing else writes it. */
static void judge_writes(struct telling *told, uint32_t slot, const struct path *path)
{
    int64_t counted = after(told, TABLE_SEQ, slot, SEQ_MOVE_COUNT) -
                      before(told, TABLE_SEQ, slot, SEQ_MOVE_COUNT);
    if (counted != (int64_t)path->moves) {
        breach(told, CLAUSE_SEQ_5, slot, "a state was left by more than one move, or by none");
    }
    for (int column = 0; column < SEQ_COLUMNS && path->moves == 0; column++) {
        bool beat = column == SEQ_HEARTBEAT || column == SEQ_BEAT_BY || column == SEQ_BEAT_RUN;
        if (!beat && column != SEQ_CANCEL_AT && column != SEQ_OWNER &&
            changed(told, TABLE_SEQ, slot, column)) {
            breach(told, CLAUSE_SEQ_5, slot, "a seq was written without a move");
        }
    }
    if (changed(told, TABLE_SEQ, slot, SEQ_NUMBER) ||
        changed(told, TABLE_SEQ, slot, SEQ_UNWANTED)) {
        breach(told, CLAUSE_SEQ_13, slot, "a seq became another");
    }
}

/* SEQ-22: what a run reports rests on its work, done under the same token. */
static void judge_worked(struct telling *told, uint32_t slot, const struct oracle_seq_step *step)
{
    int64_t id = row_key(told->judge.rows, TABLE_SEQ, slot);
    if (step->by == ORACLE_SEQ_BY_FINISH && step->token < RUNS_MAX) {
        int64_t worked = memory_get(&told->judge, MEMORY_SEQS, id, MEMO_WORKED);
        judge_that(&told->judge, (worked >> step->token & 1) != 0, ORACLE_JOURNAL, CLAUSE_SEQ_22,
                   TABLE_SEQ, slot, "a run was reported whose work nobody had done");
    }
}

static void judge_path(struct telling *told, uint32_t slot, const struct path *path, int events)
{
    struct oracle_seq seq = seq_before(told, slot);
    size_t at = 0;
    do { /* one that does not move is a step, too */
        bool last = at + 1 >= path->moves;
        int64_t from = path->states[at], to = path->states[last ? path->moves : at + 1];
        struct oracle_seq_step step = step_of(told, slot, from, to, last && events > 0);
        const struct oracle_seq found = seq;
        judge_step(told, slot, &seq, &step);
        judge_report(told, slot, &found, &step);
        judge_worked(told, slot, &step);
        see_step(told, slot, &found, &step);
        at++;
    } while (at < path->moves);
    for (size_t i = 0; i < path->moves; i++) {
        see_move(told, path->states[i], path->states[i + 1]);
    }
}

static void judge_seq(struct telling *told, uint32_t slot)
{
    int64_t id = row_key(told->judge.rows, TABLE_SEQ, slot);
    struct path path = path_of(told, slot);
    if (has(told, TABLE_SEQ, slot, ROW_DELETED)) {
        breach(told, CLAUSE_SEQ_3, slot, "a seq is gone");
        return;
    }
    for (size_t i = 0; i <= path.moves; i++) {
        if (!is_state(path.states[i])) {
            breach(told, CLAUSE_SEQ_3, slot, "a seq is in a state that does not exist");
            return;
        }
    }
    if (path.moves > 1) {
        breach(told, CLAUSE_SEQ_3, slot, "a seq made two moves in one commit: no row shows both");
    }
    int events = emitted(told, id, slot);
    if (events > 1) {
        breach(told, CLAUSE_SEQ_6, slot, "a terminal event was emitted more than once");
    }
    if (!has(told, TABLE_SEQ, slot, ROW_INSERTED)) {
        judge_path(told, slot, &path, events);
        judge_writes(told, slot, &path);
        judge_run(told, slot);
    } else if (path.moves > 0 || events > 0) {
        breach(told, CLAUSE_SEQ_3, slot, "a seq was not born UNSEEN");
    }
    if (has(told, TABLE_SEQ, slot, ROW_INSERTED)) {
        judge_admitted(told, slot);
    }
    remember(told, slot, &path, events > 0);
}

/* The seq that a change is about; ROW_NONE: none. */
static uint32_t seq_of(const struct telling *told, const struct row_change *change)
{
    if (change->table == TABLE_SEQ) {
        return change->slot;
    }
    return change->table == TABLE_SEQ_EVENT
               ? row_find(told->judge.rows, TABLE_SEQ,
                          after(told, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_SEQ))
               : ROW_NONE;
}

/* Each seq once, in the order in which they were written. True: there was one. */
static bool judge_seqs(struct telling *told)
{
    bool any = false;
    for (size_t i = 0; i < told->count; i++) {
        uint32_t slot = seq_of(told, &told->changes[i]);
        bool seen = slot == ROW_NONE;
        for (size_t j = 0; j < i && !seen; j++) {
            seen = seq_of(told, &told->changes[j]) == slot;
        }
        if (!seen) {
            judge_seq(told, slot);
            any = any || !has(told, TABLE_SEQ, slot, ROW_INSERTED);
        }
    }
    return any;
}

/* ---- counters -------------------------------------------------------------------------------- */

static int64_t sum(const struct rows *rows, int column)
{
    int64_t all = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ_TALLY].used; slot++) {
        all += row_get(rows, TABLE_SEQ_TALLY, slot, column);
    }
    return all;
}

/* SEQ-16: after every commit. */
static void judge_counters(struct telling *told)
{
    const struct rows *rows = told->judge.rows;
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
    judge_held(&told->judge, CLAUSE_SEQ_16);
    if (verdict.broken) {
        judge_breach(&told->judge, ORACLE_SEQ_COUNTERS, verdict.clause, TABLE_SEQ_TALLY, 0,
                     verdict.why);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void tally_breach(struct telling *told, enum clause_id clause, uint32_t slot,
                         const char *why)
{
    judge_breach(&told->judge, ORACLE_SEQ_COUNTERS, clause, TABLE_SEQ_TALLY, slot, why);
}

/* How much the commit added to a counter of the stripe. */
static int64_t counted(const struct telling *told, uint32_t slot, int column)
{
    return after(told, TABLE_SEQ_TALLY, slot, column) - before(told, TABLE_SEQ_TALLY, slot, column);
}

/* A retry expects a failure that waits for it; other moves a state. */
static bool is_as_expected(const struct telling *told, uint32_t seq, int64_t expected)
{
    return expected < ORACLE_SEQ_STATES ? after(told, TABLE_SEQ, seq, SEQ_STATE) == expected
                                        : after(told, TABLE_SEQ, seq, SEQ_RETRY) != 0;
}

/* An overtaken expectation (SEQ-5): it was overtaken, and is reported. A further cancel of a run
 * that was asked to end already is a forced one (E-SEQ-8). */
static void judge_stale(struct telling *told, uint32_t stripe, uint32_t seq)
{
    int64_t expected = after(told, TABLE_SEQ_TALLY, stripe, SEQ_TALLY_AS);
    judge_held(&told->judge, CLAUSE_SEQ_5);
    if (seq == ROW_NONE || is_as_expected(told, seq, expected)) {
        tally_breach(told, CLAUSE_SEQ_5, stripe, "a move was refused that nobody had overtaken");
        return;
    }
    bool retried = after(told, TABLE_SEQ, seq, SEQ_STATE) == ORACLE_SEQ_DISPATCHED;
    int64_t run = after(told, TABLE_SEQ, seq, SEQ_ATTEMPTS) - retried; /* the last one */
    int64_t flags = memory_get(&told->judge, MEMORY_SEQS, row_key(told->judge.rows, TABLE_SEQ, seq),
                               JUDGE_MEMO_FLAGS);
    if (expected == ORACLE_SEQ_IN_FLIGHT && run >= 0 && run < RUNS_MAX &&
        (flags & FLAG_ASKED << run) != 0) {
        judge_see(&told->judge, COVER_SEQ_CANCEL_LATE);
    }
}

/* A token that no longer stands (SEQ-12): its run is over. An attempt is one run, so the run goes
 * on if this attempt is in flight. */
static void judge_late(struct telling *told, uint32_t stripe, uint32_t seq)
{
    int64_t run = after(told, TABLE_SEQ_TALLY, stripe, SEQ_TALLY_AS);
    bool result = counted(told, stripe, SEQ_TALLY_RESULTS) != 0;
    judge_held(&told->judge, CLAUSE_SEQ_12);
    if (seq == ROW_NONE || (after(told, TABLE_SEQ, seq, SEQ_STATE) == ORACLE_SEQ_IN_FLIGHT &&
                            after(told, TABLE_SEQ, seq, SEQ_ATTEMPTS) == run)) {
        tally_breach(told, CLAUSE_SEQ_12, stripe, "the token of a run that goes on was refused");
        return;
    }
    int64_t flags = memory_get(&told->judge, MEMORY_SEQS, row_key(told->judge.rows, TABLE_SEQ, seq),
                               JUDGE_MEMO_FLAGS);
    judge_see(&told->judge, COVER_SEQ_LATE);
    judge_see(&told->judge, result ? COVER_SEQ_LATE_RESULT : COVER_SEQ_LATE_BEAT);
    if (result && run >= 0 && run < RUNS_MAX && (flags & (int64_t)FLAG_RECLAIMED << run) != 0) {
        judge_see(&told->judge, COVER_SEQ_RECLAIM_WON);
    }
}

/* What was refused is counted once, and told; and it changed nothing, as a no-op did (SEQ-5, SEQ-7,
 * SEQ-12). */
static void judge_stripe(struct telling *told, uint32_t slot, bool wrote)
{
    int64_t stale = counted(told, slot, SEQ_TALLY_STALE),
            late = counted(told, slot, SEQ_TALLY_LATE);
    int64_t again = counted(told, slot, SEQ_TALLY_REPEATED);
    uint32_t seq =
        row_find(told->judge.rows, TABLE_SEQ, after(told, TABLE_SEQ_TALLY, slot, SEQ_TALLY_OF));
    bool named = changed(told, TABLE_SEQ_TALLY, slot, SEQ_TALLY_OF) ||
                 changed(told, TABLE_SEQ_TALLY, slot, SEQ_TALLY_AS) ||
                 counted(told, slot, SEQ_TALLY_RESULTS) != 0;
    if (stale != 0) {
        judge_stale(told, slot, seq);
    }
    if (late != 0) {
        judge_late(told, slot, seq);
    }
    if (again != 0) {
        judge_held(&told->judge, CLAUSE_SEQ_7);
        judge_see(&told->judge, COVER_SEQ_COMMIT_AGAIN);
    }
    if (named && stale + late != 1) {
        tally_breach(told, CLAUSE_SEQ_12, slot, "a move was refused, and not counted");
    }
    if (wrote && (stale != 0 || late != 0 || again != 0)) {
        tally_breach(told,
                     again != 0  ? CLAUSE_SEQ_7
                     : late != 0 ? CLAUSE_SEQ_12
                                 : CLAUSE_SEQ_5,
                     slot, "a move that was refused or a no-op changed a seq");
    }
}

/* A stripe of the counters has counted nothing when it comes. */
static void judge_new_stripe(struct telling *told, uint32_t slot)
{
    bool empty = true;
    for (int column = 0; column < SEQ_TALLY_COLUMNS; column++) {
        empty = empty && after(told, TABLE_SEQ_TALLY, slot, column) == 0;
    }
    if (!empty) {
        tally_breach(told, CLAUSE_SEQ_16, slot, "a stripe of the counters did not begin at 0");
    }
}

/* Each stripe that the commit wrote, once. */
static void judge_refusals(struct telling *told, bool wrote)
{
    for (size_t i = 0; i < told->count; i++) {
        const struct row_change *change = &told->changes[i];
        if (change->table == TABLE_SEQ_TALLY && change->kind == ROW_INSERTED) {
            judge_new_stripe(told, change->slot);
        }
        bool seen = change->table != TABLE_SEQ_TALLY || change->kind != ROW_UPDATED;
        for (size_t j = 0; j < i && !seen; j++) {
            seen =
                told->changes[j].table == TABLE_SEQ_TALLY && told->changes[j].slot == change->slot;
        }
        if (!seen) {
            judge_stripe(told, change->slot, wrote);
        }
    }
}

/* ---- the latch ------------------------------------------------------------------------------- */

static void latch_breach(struct telling *told, enum clause_id clause, const char *why)
{
    judge_breach(&told->judge, ORACLE_SEQ_LATCH, clause, TABLE_STAGE, 0, why);
}

/* The slot of the seq with this number, or ROW_NONE. */
static uint32_t numbered(const struct rows *rows, int64_t number)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        if (row_get(rows, TABLE_SEQ, slot, SEQ_NUMBER) == number) {
            return slot;
        }
    }
    return ROW_NONE;
}

/* Whether the report is true of the seq as it stands: the attempt that it tells is this commit's.
 */
static bool is_true(const struct telling *told, uint32_t slot)
{
    int64_t holds = after(told, TABLE_SEQ, slot, SEQ_OWNER);
    int64_t owner = holds != 0 ? holds : after(told, TABLE_SEQ, slot, SEQ_ENDED_BY);
    return policy_cell(told, STAGE_PRIOR) == after(told, TABLE_SEQ, slot, SEQ_STATE) &&
           policy_cell(told, STAGE_MOVE) == after(told, TABLE_SEQ, slot, SEQ_MOVE_COUNT) &&
           policy_cell(told, STAGE_OWNER) == owner;
}

/* Whether the contract forbids it: by its pairs; or because the terminal event of the seq is out, and
 * only a commit may follow, or is not, and no commit may (SEQ-6, E-SEQ-2). */
static bool is_illegal(const struct telling *told, uint32_t slot, int64_t from, int64_t to)
{
    int64_t flags = memory_get(&told->judge, MEMORY_SEQS,
                               row_key(told->judge.rows, TABLE_SEQ, slot), JUDGE_MEMO_FLAGS);
    bool is_out = (flags & FLAG_EVENT) != 0, commits = to == ORACLE_SEQ_COMMITTED;
    return (rests(from) && is_out != commits) || (is_out && !commits) ||
           oracle_seq_pair((enum oracle_seq_state)from, (enum oracle_seq_state)to) ==
               ORACLE_SEQ_ILLEGAL;
}

/* How much the commit added to a counter, over all stripes. */
static int64_t counted_in_all(const struct telling *told, int column)
{
    int64_t all = 0;
    for (uint32_t slot = 0; slot < told->judge.rows->table[TABLE_SEQ_TALLY].used; slot++) {
        all += counted(told, slot, column);
    }
    return all;
}

static void see_pair(struct telling *told, int64_t from, int64_t to)
{
    static const uint8_t pairs[][2] = {
#define PAIR(from, to) {from, to},
        ORACLE_SEQ_ILLEGAL_PAIRS(PAIR)
#undef PAIR
    };
    for (size_t i = 0; i < ORACLE_COUNT(pairs); i++) {
        if (pairs[i][0] == from && pairs[i][1] == to) {
            judge_see(&told->judge, (enum oracle_cover)(COVER_SEQ_ILLEGAL_00 + i));
        }
    }
    if (to == ORACLE_SEQ_COMMITTED) {
        judge_see(&told->judge, COVER_SEQ_COMMIT_EARLY);
    }
    if (from == ORACLE_SEQ_FAIL && to == ORACLE_SEQ_DISPATCHED) {
        judge_see(&told->judge, COVER_SEQ_FINAL);
    }
}

/* Stage1 fails: for an illegal move, and with the five facts of it (SEQ-3, SEQ-4). */
static void judge_latch(struct telling *told)
{
    int64_t prior = policy_cell(told, STAGE_PRIOR), attempted = policy_cell(told, STAGE_ATTEMPTED);
    uint32_t slot = numbered(told->judge.rows, policy_cell(told, STAGE_SEQ) - 1);
    judge_held(&told->judge, CLAUSE_SEQ_4);
    if (slot == ROW_NONE || !is_state(prior) || !is_state(attempted) ||
        policy_cell(told, STAGE_WALL) <= 0) {
        latch_breach(told, CLAUSE_SEQ_4, "the report of an illegal move lacks one of its facts");
        return;
    }
    if (!is_illegal(told, slot, prior, attempted)) {
        latch_breach(told, CLAUSE_SEQ_3, "Stage1 was halted for a move that is legal");
    }
    if (policy_cell(told, STAGE_DRILL) == 0) {
        latch_breach(told, CLAUSE_SEQ_3, "an illegal move was attempted where nobody drills");
    }
    if (!is_true(told, slot)) {
        latch_breach(told, CLAUSE_SEQ_4, "the report of an illegal move is not true of its seq");
    }
    see_pair(told, prior, attempted);
}

/* An illegal move, on purpose or not, is counted and fails Stage1 in one commit (E-SEQ-15). */
static void judge_attempt(struct telling *told, bool latched)
{
    int64_t refused = counted_in_all(told, SEQ_TALLY_ILLEGAL);
    int64_t drills = counted_in_all(told, SEQ_TALLY_DRILLS);
    if (refused != 0 || drills != 0) {
        judge_held(&told->judge, CLAUSE_SEQ_3);
    }
    if (refused < drills) {
        latch_breach(told, CLAUSE_SEQ_3,
                     "an illegal move was attempted, and the contract not asked");
    } else if (refused != 0 && policy_cell(told, STAGE_SEQ) == 0) {
        latch_breach(told, CLAUSE_SEQ_3, "an illegal move was attempted, and Stage1 did not fail");
    } else if (refused > drills) {
        latch_breach(told, CLAUSE_SEQ_3, "an illegal move was attempted, and not on purpose");
    }
    if (latched && refused != 1) {
        latch_breach(told, CLAUSE_SEQ_3, "Stage1 failed, and no illegal move was attempted");
    }
}

static void judge_stage(struct telling *told)
{
    bool made = has(told, TABLE_STAGE, 0, ROW_INSERTED), latched = false, policy = false;
    if (made) {
        judge_policy(told);
    }
    if (made && policy_cell(told, STAGE_SEQ) != 0) {
        latch_breach(told, CLAUSE_SEQ_3, "Stage1 was opened as if an illegal move had failed it");
    }
    for (int column = 0; column < STAGE_COLUMNS && !made; column++) {
        bool differs = changed(told, TABLE_STAGE, 0, column);
        latched = latched || (differs && column >= STAGE_SEQ);
        policy = policy || (differs && column < STAGE_SEQ);
    }
    if (policy) {
        latch_breach(told, CLAUSE_SEQ_11, "the policy changed under the decisions made by it");
    }
    bool again = latched && ghost_get(&told->judge.oracle->ghosts, CELL_HALTED) != 0;
    judge_attempt(told, latched && !again);
    if (!latched) {
        return;
    }
    if (again) {
        latch_breach(told, CLAUSE_SEQ_20,
                     "the first illegal move is no longer the one that is told");
    } else {
        judge_latch(told);
    }
}

/* ---- at the seam ----------------------------------------------------------------------------- */

static struct telling begin(struct oracle *oracle, const struct rows *rows,
                            const struct row_change *changes, size_t count)
{
    struct telling told = {.changes = changes, .count = count};
    for (size_t i = 0; i < count; i++) {
        told.touched |= bit_of(changes[i].table, changes[i].slot);
    }
    judge_begin(&told.judge, oracle, rows);
    judge_remember(&told.judge, MEMORY_SEQS, CELL_DECISIONS + DECISION_CELLS, mask_of(rows));
    return told;
}

static bool is_halted(const struct oracle *oracle)
{
    return ghost_get(&oracle->ghosts, CELL_HALTED) != 0;
}

/* Whether the commit wrote a stripe of the counters. */
static bool counts(const struct telling *told)
{
    for (size_t i = 0; i < told->count; i++) {
        if (told->changes[i].table == TABLE_SEQ_TALLY && told->changes[i].kind == ROW_UPDATED) {
            return true;
        }
    }
    return false;
}

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct telling told = begin(oracle, rows, changes, count);
    if (rows->table[TABLE_STAGE].used == 0) {
        return told.judge.verdict; /* nothing is set up yet */
    }
    bool halted = is_halted(oracle);
    judge_stage(&told);
    bool wrote = judge_seqs(&told);
    if (halted) {
        judge_held(&told.judge, CLAUSE_SEQ_20);
    }
    if (halted && wrote) {
        latch_breach(&told, CLAUSE_SEQ_20, "a seq moved after Stage1 had failed");
    }
    if (halted && counts(&told)) { /* all of it would be refused, with what it counted */
        latch_breach(&told, CLAUSE_SEQ_20, "an actor went on after Stage1 had failed");
    }
    if (!halted && wrote && counted_in_all(&told, SEQ_TALLY_ILLEGAL) != 0) {
        latch_breach(&told, CLAUSE_SEQ_3, "an illegal move changed a seq");
    }
    judge_refusals(&told, wrote);
    judge_counters(&told);
    if (!halted && policy_cell(&told, STAGE_SEQ) != 0) {
        ghost_set(&oracle->ghosts, CELL_HALTED, 1);
    }
    return told.judge.verdict;
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
    struct telling told = begin(oracle, rows, NULL, 0);
    uint32_t slot = row_find(rows, TABLE_SEQ, effect->what);
    enum row_table table = slot == ROW_NONE ? TABLE_COUNT : TABLE_SEQ;
    judge_held(&told.judge, CLAUSE_SEQ_22);
    if (!granted(rows, effect)) {
        judge_breach(&told.judge, ORACLE_JOURNAL, CLAUSE_SEQ_22, table, slot,
                     "the work of a run was done under a token that was never given out");
    } else if (effect->epoch < RUNS_MAX) {
        int64_t worked = memory_get(&told.judge, MEMORY_SEQS, effect->what, MEMO_WORKED);
        if ((worked >> effect->epoch & 1) != 0) {
            judge_breach(&told.judge, ORACLE_JOURNAL, CLAUSE_SEQ_22, table, slot,
                         "the work of one run was done twice");
        }
        memory_set(&told.judge, MEMORY_SEQS, effect->what, MEMO_WORKED,
                   worked | INT64_C(1) << effect->epoch);
    }
    return told.judge.verdict;
}

bool seq_monitors_worked(struct oracle *oracle, const struct rows *rows, int64_t seq, int64_t run)
{
    struct telling told = begin(oracle, rows, NULL, 0);
    return run >= 0 && run < RUNS_MAX &&
           (memory_get(&told.judge, MEMORY_SEQS, seq, MEMO_WORKED) >> run & 1) != 0;
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
    struct telling told = begin(oracle, rows, NULL, 0);
    if (is_halted(oracle)) {
        return told.judge.verdict;
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        int64_t state = row_get(rows, TABLE_SEQ, slot, SEQ_STATE);
        judge_held(&told.judge, CLAUSE_SEQ_2);
        if (state == ORACLE_SEQ_IN_FLIGHT) {
            breach(&told, CLAUSE_SEQ_10, slot, "an expired lease was never reclaimed");
        } else if (state != ORACLE_SEQ_COMMITTED) {
            breach(&told, CLAUSE_SEQ_2, slot,
                   row_get(rows, TABLE_SEQ, slot, SEQ_RETRY) != 0
                       ? "a failure waits for a retry that is never made"
                   : rests(state) ? "a seq that ended was never committed"
                                  : "a seq was never brought to its end");
        }
    }
    if (asked(&told) != NULL && rows->table[TABLE_SEQ].used != asked(&told)->jobs) {
        breach(&told, CLAUSE_SEQ_21, ROW_NONE, "a seq that was asked for was never admitted");
    }
    if (!quiet) {
        breach(&told, CLAUSE_SEQ_2, ROW_NONE, "the work does not come to an end");
    }
    return told.judge.verdict;
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
