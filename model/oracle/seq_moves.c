/* The monitor of single seqs: a commit is read as steps of seqs, and each step is given to the judge
 * that the ledger in memory is held to (seq.h). What only rows can show is judged here: the grace
 * period, revoked tokens, the event beside its state, that each move is one write.
 *
 * Who made a step is read from the row: a run is ended by the token that stands in ENDED_BY and
 * ENDED_RUN, or was taken away (ENDED_BY 0, at ENDED_AT). The policy is read from the stage. */
#include "model/oracle/seq_commit.h"

#define MOVES_MAX 4 /* of one seq in one commit: more are as illegal as four */

static struct oracle_seq_policy policy_of(const struct commit *commit)
{
    return (struct oracle_seq_policy){
        .lease_ms = (uint64_t)policy_cell(commit, STAGE_LEASE),
        .retryable = (uint32_t)policy_cell(commit, STAGE_RETRYABLE),
        .budget = (uint32_t)policy_cell(commit, STAGE_BUDGET),
        .expired_as = 0,
    };
}

/* ---- the path of a seq within a commit ------------------------------------------------------- */

/* The states that it was in, one after the other. */
struct path {
    int64_t states[MOVES_MAX + 1];
    size_t moves;
};

static struct path path_of(const struct commit *commit, uint32_t slot)
{
    struct path path = {{before(commit, TABLE_SEQ, slot, SEQ_STATE)}, 0};
    bool first = true;
    for (size_t i = 0; i < commit->count && path.moves < MOVES_MAX; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table != TABLE_SEQ || change->slot != slot || change->kind != ROW_UPDATED ||
            change->column != SEQ_STATE) {
            continue;
        }
        if (!first && change->before != path.states[path.moves]) {
            path.states[++path.moves] = change->before;
        }
        first = false;
    }
    int64_t now = after(commit, TABLE_SEQ, slot, SEQ_STATE);
    if (path.moves < MOVES_MAX && now != path.states[path.moves]) {
        path.states[++path.moves] = now;
    }
    return path;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* How many terminal events of the seq the commit emitted. */
static int emitted(struct commit *commit, int64_t seq, uint32_t slot)
{
    int events = 0;
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table != TABLE_SEQ_EVENT ||
            after(commit, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_SEQ) != seq) {
            continue;
        }
        events++;
        if (change->kind == ROW_DELETED) {
            breach(commit, CLAUSE_SEQ_6, slot, "a terminal event was taken back");
        }
        if (after(commit, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_RUNS) != 1) {
            breach(commit, CLAUSE_SEQ_6, slot, "a terminal event was emitted more than once");
        }
        if (after(commit, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_STATE) !=
            after(commit, TABLE_SEQ, slot, SEQ_STATE)) {
            breach(commit, CLAUSE_SEQ_6, slot,
                   "a terminal event tells another state than the seq's");
        }
    }
    return events;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The seq as it was before the commit. */
static struct oracle_seq seq_before(const struct commit *commit, uint32_t slot)
{
    int64_t state = before(commit, TABLE_SEQ, slot, SEQ_STATE);
    bool runs = state == ORACLE_SEQ_IN_FLIGHT;
    int64_t id = row_key(commit->judge.rows, TABLE_SEQ, slot);
    int64_t flags = memory_get(&commit->judge, MEMORY_SEQS, id, JUDGE_MEMO_FLAGS);
    return (struct oracle_seq){
        .state = (enum oracle_seq_state)state,
        .owner = runs ? (uint64_t)before(commit, TABLE_SEQ, slot, SEQ_OWNER) : 0,
        .attempt = (uint32_t)before(commit, TABLE_SEQ, slot, SEQ_ATTEMPTS),
        .heartbeat_ms = (uint64_t)before(commit, TABLE_SEQ, slot, SEQ_HEARTBEAT),
        .event_out = (flags & FLAG_EVENT) != 0,
    };
}

/* Whose step it was, as the row has it. */
static enum oracle_seq_by made_by(const struct commit *commit, uint32_t slot, int64_t from,
                                  int64_t to)
{
    if (from == to) {
        return changed(commit, TABLE_SEQ, slot, SEQ_HEARTBEAT) ? ORACLE_SEQ_BY_HEARTBEAT
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
        return after(commit, TABLE_SEQ, slot, SEQ_ENDED_BY) == 0 ? ORACLE_SEQ_BY_RECLAIM
                                                                 : ORACLE_SEQ_BY_FINISH;
    }
    return ORACLE_SEQ_BY_ORDER;
}

static struct oracle_seq_step step_of(const struct commit *commit, uint32_t slot, int64_t from,
                                      int64_t to, bool event)
{
    enum oracle_seq_by by = made_by(commit, slot, from, to);
    bool beats = by == ORACLE_SEQ_BY_HEARTBEAT, takes = by == ORACLE_SEQ_BY_TAKE;
    int actor = beats ? SEQ_BEAT_BY : takes ? SEQ_OWNER : SEQ_ENDED_BY;
    return (struct oracle_seq_step){
        .by = by,
        .from = (enum oracle_seq_state)from,
        .to = (enum oracle_seq_state)to,
        .actor = (uint64_t)after(commit, TABLE_SEQ, slot, actor),
        .token = (uint32_t)after(commit, TABLE_SEQ, slot, beats ? SEQ_BEAT_RUN : SEQ_ENDED_RUN),
        .fail_class = (uint32_t)after(commit, TABLE_SEQ, slot, SEQ_FAIL_CLASS),
        .waits = after(commit, TABLE_SEQ, slot, SEQ_RETRY) != 0,
        .attempt = (uint32_t)after(commit, TABLE_SEQ, slot, SEQ_ATTEMPTS),
        .owner = (uint64_t)after(commit, TABLE_SEQ, slot, SEQ_OWNER),
        .heartbeat_ms = (uint64_t)after(commit, TABLE_SEQ, slot, SEQ_HEARTBEAT),
        .now_ms = (uint64_t)after(commit, TABLE_SEQ, slot, SEQ_ENDED_AT),
        .event = event,
    };
}

/* Which promises the step puts to the test. */
static void count_step(struct commit *commit, const struct oracle_seq_step *step)
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
            judge_held(&commit->judge, promises[i].clause);
        }
    }
}

/* Equal inputs, equal outcome (SEQ-11, SEQ-18): what was decided of this class after so many
 * attempts is decided again. */
static void judge_decision(struct commit *commit, uint32_t slot, const struct oracle_seq *seq,
                           const struct oracle_seq_step *step)
{
    bool reclaimed = step->by == ORACLE_SEQ_BY_RECLAIM;
    bool decided = step->from == ORACLE_SEQ_IN_FLIGHT && step->to == ORACLE_SEQ_FAIL;
    if (!decided || seq->attempt >= DECISIONS) {
        return;
    }
    struct ghosts *ghosts = &commit->judge.oracle->ghosts;
    uint32_t class = reclaimed ? 0 : step->fail_class;
    size_t cell = CELL_DECISIONS + class * DECISIONS + seq->attempt;
    int64_t decision = step->waits ? 1 : 2, known = ghost_get(ghosts, cell);
    if (known == 0) {
        ghost_set(ghosts, cell, decision);
    } else if (known != decision) {
        breach(commit, reclaimed ? CLAUSE_SEQ_11 : CLAUSE_SEQ_18, slot,
               "of two equal failures one was retried and the other was not");
    }
}

/* The run was asked to end before, and goes on: its grace period would begin anew. */
static bool is_asked_anew(const struct commit *commit, uint32_t slot)
{
    return before(commit, TABLE_SEQ, slot, SEQ_STATE) == ORACLE_SEQ_IN_FLIGHT &&
           before(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0 &&
           changed(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT);
}

/* What only rows show of a run: whose lease, heartbeat and cancel it is. */
static void judge_run(struct commit *commit, uint32_t slot)
{
    int64_t state = after(commit, TABLE_SEQ, slot, SEQ_STATE);
    bool runs = state == ORACLE_SEQ_IN_FLIGHT;
    bool own_beat =
        after(commit, TABLE_SEQ, slot, SEQ_BEAT_BY) == after(commit, TABLE_SEQ, slot, SEQ_OWNER) &&
        after(commit, TABLE_SEQ, slot, SEQ_BEAT_RUN) ==
            after(commit, TABLE_SEQ, slot, SEQ_ATTEMPTS);
    if (!runs && after(commit, TABLE_SEQ, slot, SEQ_OWNER) != 0) {
        breach(commit, CLAUSE_SEQ_12, slot, "a run ended and its token was not revoked");
    }
    if (!runs && after(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0) {
        breach(commit, CLAUSE_SEQ_15, slot, "a cancel outlived the run that it was asked of");
    }
    if (runs && is_asked_anew(commit, slot)) {
        breach(commit, CLAUSE_SEQ_15, slot, "a run that was asked to end was asked again");
    }
    if (runs && (!own_beat || after(commit, TABLE_SEQ, slot, SEQ_HEARTBEAT) == 0)) {
        breach(commit, CLAUSE_SEQ_19, slot, "a run goes on with a heartbeat that is not its own");
    }
}

/* SEQ-15: asked, and the grace period is over. */
static void judge_forced(struct commit *commit, uint32_t slot, const struct oracle_seq_step *step)
{
    if (step->from != ORACLE_SEQ_IN_FLIGHT || step->to != ORACLE_SEQ_CANCEL) {
        return;
    }
    int64_t asked = before(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT);
    int64_t at = after(commit, TABLE_SEQ, slot, SEQ_ENDED_AT);
    if (after(commit, TABLE_SEQ, slot, SEQ_ENDED_BY) != 0) {
        breach(commit, CLAUSE_SEQ_15, slot,
               "a run that was cancelled is told as ended by its owner");
    }
    if (asked == 0 || at - asked < policy_cell(commit, STAGE_GRACE)) {
        breach(commit, CLAUSE_SEQ_15, slot, "a run was cancelled before its grace period was over");
    }
}

static void judge_step(struct commit *commit, uint32_t slot, struct oracle_seq *seq,
                       const struct oracle_seq_step *step)
{
    const struct oracle_seq_policy policy = policy_of(commit);
    const struct oracle_seq found = *seq;
    count_step(commit, step);
    bool expired = step->by == ORACLE_SEQ_BY_RECLAIM;
    if (step->fail_class >= ORACLE_SEQ_CLASSES || (expired && step->fail_class != 0)) {
        breach(commit, CLAUSE_SEQ_10, slot, "a failure has a class that it cannot have");
        return;
    }
    struct oracle_verdict verdict = oracle_seq_fold(seq, &policy, step);
    if (verdict.broken) { /* what the policy makes of an expired lease is SEQ-11's */
        bool decided = expired && verdict.clause == CLAUSE_SEQ_18;
        breach(commit, decided ? CLAUSE_SEQ_11 : verdict.clause, slot, verdict.why);
    }
    judge_decision(commit, slot, &found, step);
    judge_forced(commit, slot, step);
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

/* A run that its owner ended, ended as its work reports; and only what is to be cancelled is. */
static void judge_report(struct commit *commit, uint32_t slot, const struct oracle_seq *found,
                         const struct oracle_seq_step *step)
{
    const struct expected_seq *expected = asked(commit);
    int64_t number = after(commit, TABLE_SEQ, slot, SEQ_NUMBER);
    if (expected == NULL || number < 0) {
        return;
    }
    struct expected_report report = expected_seq_report(expected, number, found->attempt);
    bool fails = step->to == ORACLE_SEQ_FAIL;
    if (step->by == ORACLE_SEQ_BY_FINISH) {
        judge_held(&commit->judge, CLAUSE_SEQ_21);
        if ((int64_t)step->to != report.state ||
            (fails && step->fail_class != (uint32_t)report.fail_class)) {
            breach(commit, CLAUSE_SEQ_21, slot, "a run ended otherwise than its work reports");
        }
    }
    bool cancels =
        step->to == ORACLE_SEQ_CANCEL || (after(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0 &&
                                          changed(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT));
    if (cancels && !expected_seq_is_cancelled(expected, number)) {
        breach(commit, CLAUSE_SEQ_21, slot, "a seq was cancelled that nobody wants cancelled");
    }
}

/* The seq is one that is asked for, and the only row of its number. */
static void judge_admitted(struct commit *commit, uint32_t slot)
{
    const struct expected_seq *expected = asked(commit);
    int64_t number = after(commit, TABLE_SEQ, slot, SEQ_NUMBER);
    if (expected == NULL) {
        return;
    }
    bool once = number >= 0 && number < expected->jobs;
    for (uint32_t other = 0; once && other < commit->judge.rows->table[TABLE_SEQ].used; other++) {
        once = other == slot || after(commit, TABLE_SEQ, other, SEQ_NUMBER) != number;
    }
    judge_held(&commit->judge, CLAUSE_SEQ_21);
    if (!once) {
        breach(commit, CLAUSE_SEQ_21, slot, "a seq was admitted twice, or that nobody asked for");
    } else if ((after(commit, TABLE_SEQ, slot, SEQ_UNWANTED) != 0) !=
               expected_seq_is_cancelled(expected, number)) {
        breach(commit, CLAUSE_SEQ_21, slot,
               "a seq was not admitted as one that is to be cancelled");
    }
}

/* ---- cover points ------------------------------------------------------------------------------- */

static void see_move(struct commit *commit, int64_t from, int64_t to)
{
    static const struct {
        uint8_t from, to;
    } moves[] = {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {2, 5}, {1, 6},
                 {2, 6}, {3, 7}, {4, 7}, {5, 7}, {6, 7}, {5, 1}};
    for (size_t i = 0; i < ORACLE_COUNT(moves); i++) {
        if (moves[i].from == from && moves[i].to == to) {
            judge_see(&commit->judge, (enum oracle_cover)(COVER_SEQ_MOVE_1 + i));
        }
    }
    if (to == ORACLE_SEQ_CANCEL) {
        judge_see(&commit->judge,
                  from == ORACLE_SEQ_DISPATCHED ? COVER_SEQ_CANCEL_EARLY : COVER_SEQ_CANCEL_FORCED);
    }
}

static void see_step(struct commit *commit, uint32_t slot, const struct oracle_seq *found,
                     const struct oracle_seq_step *step)
{
    int64_t id = row_key(commit->judge.rows, TABLE_SEQ, slot);
    int64_t taken = memory_get(&commit->judge, MEMORY_SEQS, id, MEMO_TAKEN);
    const struct oracle_seq_policy policy = policy_of(commit);
    bool beats = step->by == ORACLE_SEQ_BY_HEARTBEAT;
    bool fails = step->from == ORACLE_SEQ_IN_FLIGHT && step->to == ORACLE_SEQ_FAIL;
    bool reclaims = step->by == ORACLE_SEQ_BY_RECLAIM;
    uint32_t class = reclaims ? 0 : step->fail_class;
    if (beats) {
        judge_see(&commit->judge, COVER_SEQ_HEARTBEAT);
    }
    if (beats && (int64_t)step->heartbeat_ms - taken >= (int64_t)policy.lease_ms) {
        judge_see(&commit->judge, COVER_SEQ_KEPT);
    }
    if (reclaims && !step->waits) {
        judge_see(&commit->judge, COVER_SEQ_RECLAIM_FAIL);
    }
    if (step->by == ORACLE_SEQ_BY_RETRY && step->fail_class == 0) {
        judge_see(&commit->judge, COVER_SEQ_RECLAIM_RETRY);
    }
    if (reclaims && found->attempt < RUNS_MAX) {
        memory_flag(&commit->judge, MEMORY_SEQS, id, (int64_t)FLAG_RECLAIMED << found->attempt);
    }
    if (fails && class < ORACLE_SEQ_CLASSES && (policy.retryable >> class & 1) != 0 &&
        found->attempt >= policy.budget) {
        judge_see(&commit->judge, COVER_SEQ_EXHAUSTED);
    }
}

/* ---- one seq --------------------------------------------------------------------------------- */

static void remember(struct commit *commit, uint32_t slot, const struct path *path, bool event)
{
    int64_t id = row_key(commit->judge.rows, TABLE_SEQ, slot);
    if (event) {
        memory_flag(&commit->judge, MEMORY_SEQS, id, FLAG_EVENT);
    }
    if (path->moves > 0 && path->states[path->moves] == ORACLE_SEQ_IN_FLIGHT) {
        memory_set(&commit->judge, MEMORY_SEQS, id, MEMO_TAKEN,
                   after(commit, TABLE_SEQ, slot, SEQ_HEARTBEAT));
    }
    int64_t run = after(commit, TABLE_SEQ, slot, SEQ_ATTEMPTS);
    if (after(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT) != 0 && run < RUNS_MAX &&
        changed(commit, TABLE_SEQ, slot, SEQ_CANCEL_AT)) {
        memory_flag(&commit->judge, MEMORY_SEQS, id, FLAG_ASKED << run);
    }
}

/* SEQ-5: a seq is written by its moves, one count each, by heartbeats and by a cancel that is
 * asked; nothing else writes it. */
static void judge_writes(struct commit *commit, uint32_t slot, const struct path *path)
{
    int64_t counted = after(commit, TABLE_SEQ, slot, SEQ_MOVE_COUNT) -
                      before(commit, TABLE_SEQ, slot, SEQ_MOVE_COUNT);
    if (counted != (int64_t)path->moves) {
        breach(commit, CLAUSE_SEQ_5, slot, "a state was left by more than one move, or by none");
    }
    for (int column = 0; column < SEQ_COLUMNS && path->moves == 0; column++) {
        bool beat = column == SEQ_HEARTBEAT || column == SEQ_BEAT_BY || column == SEQ_BEAT_RUN;
        if (!beat && column != SEQ_CANCEL_AT && column != SEQ_OWNER &&
            changed(commit, TABLE_SEQ, slot, column)) {
            breach(commit, CLAUSE_SEQ_5, slot, "a seq was written without a move");
        }
    }
    if (changed(commit, TABLE_SEQ, slot, SEQ_NUMBER) ||
        changed(commit, TABLE_SEQ, slot, SEQ_UNWANTED)) {
        breach(commit, CLAUSE_SEQ_13, slot, "a seq became another");
    }
}

/* SEQ-22: what a run reports rests on its work, done under the same token. */
static void judge_worked(struct commit *commit, uint32_t slot, const struct oracle_seq_step *step)
{
    int64_t id = row_key(commit->judge.rows, TABLE_SEQ, slot);
    if (step->by == ORACLE_SEQ_BY_FINISH && step->token < RUNS_MAX) {
        int64_t worked = memory_get(&commit->judge, MEMORY_SEQS, id, MEMO_WORKED);
        judge_that(&commit->judge, (worked >> step->token & 1) != 0, ORACLE_JOURNAL, CLAUSE_SEQ_22,
                   TABLE_SEQ, slot, "a run was reported whose work nobody had done");
    }
}

static void judge_path(struct commit *commit, uint32_t slot, const struct path *path, int events)
{
    struct oracle_seq seq = seq_before(commit, slot);
    size_t at = 0;
    do { /* one that does not move is a step, too */
        bool last = at + 1 >= path->moves;
        int64_t from = path->states[at], to = path->states[last ? path->moves : at + 1];
        struct oracle_seq_step step = step_of(commit, slot, from, to, last && events > 0);
        const struct oracle_seq found = seq;
        judge_step(commit, slot, &seq, &step);
        judge_report(commit, slot, &found, &step);
        judge_worked(commit, slot, &step);
        see_step(commit, slot, &found, &step);
        at++;
    } while (at < path->moves);
    for (size_t i = 0; i < path->moves; i++) {
        see_move(commit, path->states[i], path->states[i + 1]);
    }
}

static void judge_seq(struct commit *commit, uint32_t slot)
{
    int64_t id = row_key(commit->judge.rows, TABLE_SEQ, slot);
    struct path path = path_of(commit, slot);
    if (has(commit, TABLE_SEQ, slot, ROW_DELETED)) {
        breach(commit, CLAUSE_SEQ_3, slot, "a seq is gone");
        return;
    }
    for (size_t i = 0; i <= path.moves; i++) {
        if (!is_state(path.states[i])) {
            breach(commit, CLAUSE_SEQ_3, slot, "a seq is in a state that does not exist");
            return;
        }
    }
    if (path.moves > 1) {
        breach(commit, CLAUSE_SEQ_3, slot, "a seq made two moves in one commit: no row shows both");
    }
    int events = emitted(commit, id, slot);
    if (events > 1) {
        breach(commit, CLAUSE_SEQ_6, slot, "a terminal event was emitted more than once");
    }
    if (!has(commit, TABLE_SEQ, slot, ROW_INSERTED)) {
        judge_path(commit, slot, &path, events);
        judge_writes(commit, slot, &path);
        judge_run(commit, slot);
    } else if (path.moves > 0 || events > 0) {
        breach(commit, CLAUSE_SEQ_3, slot, "a seq was not born UNSEEN");
    }
    if (has(commit, TABLE_SEQ, slot, ROW_INSERTED)) {
        judge_admitted(commit, slot);
    }
    remember(commit, slot, &path, events > 0);
}

/* The seq that a change is about; ROW_NONE: none. */
static uint32_t seq_of(const struct commit *commit, const struct row_change *change)
{
    if (change->table == TABLE_SEQ) {
        return change->slot;
    }
    return change->table == TABLE_SEQ_EVENT
               ? row_find(commit->judge.rows, TABLE_SEQ,
                          after(commit, TABLE_SEQ_EVENT, change->slot, SEQ_EVENT_SEQ))
               : ROW_NONE;
}

bool seq_judge_moves(struct commit *commit)
{
    bool any = false;
    for (size_t i = 0; i < commit->count; i++) {
        uint32_t slot = seq_of(commit, &commit->changes[i]);
        bool seen = slot == ROW_NONE;
        for (size_t j = 0; j < i && !seen; j++) {
            seen = seq_of(commit, &commit->changes[j]) == slot;
        }
        if (!seen) {
            judge_seq(commit, slot);
            any = any || !has(commit, TABLE_SEQ, slot, ROW_INSERTED);
        }
    }
    return any;
}
