/* The monitor of Stage1's latch: it fails for an illegal move and for nothing else, once, and tells
 * the five facts of that move (SEQ-3, SEQ-4, SEQ-20). */
#include "model/oracle/seq_commit.h"

void seq_latch_breach(struct commit *commit, enum clause_id clause, const char *why)
{
    judge_breach(&commit->judge, ORACLE_SEQ_LATCH, clause, TABLE_STAGE, 0, why);
}

/* How long a lease and the grace period last is the run's: a scenario counts in ticks. */
static void judge_policy(struct commit *commit)
{
    const struct expected_seq *expected = asked(commit);
    if (expected == NULL) {
        return;
    }
    judge_held(&commit->judge, CLAUSE_SEQ_21);
    if (policy_cell(commit, STAGE_RETRYABLE) != expected_seq_retryable() ||
        policy_cell(commit, STAGE_BUDGET) != expected->budget ||
        policy_cell(commit, STAGE_DRILL) != expected->drill ||
        policy_cell(commit, STAGE_LEASE) <= 0 || policy_cell(commit, STAGE_GRACE) <= 0) {
        judge_breach(&commit->judge, ORACLE_SEQ_LATCH, CLAUSE_SEQ_21, TABLE_STAGE, 0,
                     "Stage1 was opened under another policy than is asked for");
    }
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
static bool is_true(const struct commit *commit, uint32_t slot)
{
    int64_t holds = after(commit, TABLE_SEQ, slot, SEQ_OWNER);
    int64_t owner = holds != 0 ? holds : after(commit, TABLE_SEQ, slot, SEQ_ENDED_BY);
    return policy_cell(commit, STAGE_PRIOR) == after(commit, TABLE_SEQ, slot, SEQ_STATE) &&
           policy_cell(commit, STAGE_MOVE) == after(commit, TABLE_SEQ, slot, SEQ_MOVE_COUNT) &&
           policy_cell(commit, STAGE_OWNER) == owner;
}

/* Whether the contract forbids it: by its pairs; or because the terminal event of the seq is out, and
 * only a commit may follow, or is not, and no commit may (SEQ-6, E-SEQ-2). */
static bool is_illegal(const struct commit *commit, uint32_t slot, int64_t from, int64_t to)
{
    int64_t flags = memory_get(&commit->judge, MEMORY_SEQS,
                               row_key(commit->judge.rows, TABLE_SEQ, slot), JUDGE_MEMO_FLAGS);
    bool is_out = (flags & FLAG_EVENT) != 0, commits = to == ORACLE_SEQ_COMMITTED;
    return (rests(from) && is_out != commits) || (is_out && !commits) ||
           oracle_seq_pair((enum oracle_seq_state)from, (enum oracle_seq_state)to) ==
               ORACLE_SEQ_ILLEGAL;
}

static void see_pair(struct commit *commit, int64_t from, int64_t to)
{
    static const uint8_t pairs[][2] = {
#define PAIR(from, to) {from, to},
        ORACLE_SEQ_ILLEGAL_PAIRS(PAIR)
#undef PAIR
    };
    for (size_t i = 0; i < ORACLE_COUNT(pairs); i++) {
        if (pairs[i][0] == from && pairs[i][1] == to) {
            judge_see(&commit->judge, (enum oracle_cover)(COVER_SEQ_ILLEGAL_00 + i));
        }
    }
    if (to == ORACLE_SEQ_COMMITTED) {
        judge_see(&commit->judge, COVER_SEQ_COMMIT_EARLY);
    }
    if (from == ORACLE_SEQ_FAIL && to == ORACLE_SEQ_DISPATCHED) {
        judge_see(&commit->judge, COVER_SEQ_FINAL);
    }
}

/* Stage1 fails: for an illegal move, and with the five facts of it (SEQ-3, SEQ-4). */
static void judge_latch(struct commit *commit)
{
    int64_t prior = policy_cell(commit, STAGE_PRIOR),
            attempted = policy_cell(commit, STAGE_ATTEMPTED);
    uint32_t slot = numbered(commit->judge.rows, policy_cell(commit, STAGE_SEQ) - 1);
    judge_held(&commit->judge, CLAUSE_SEQ_4);
    if (slot == ROW_NONE || !is_state(prior) || !is_state(attempted) ||
        policy_cell(commit, STAGE_WALL) <= 0) {
        seq_latch_breach(commit, CLAUSE_SEQ_4,
                         "the report of an illegal move lacks one of its facts");
        return;
    }
    if (!is_illegal(commit, slot, prior, attempted)) {
        seq_latch_breach(commit, CLAUSE_SEQ_3, "Stage1 was halted for a move that is legal");
    }
    if (policy_cell(commit, STAGE_DRILL) == 0) {
        seq_latch_breach(commit, CLAUSE_SEQ_3, "an illegal move was attempted where nobody drills");
    }
    if (!is_true(commit, slot)) {
        seq_latch_breach(commit, CLAUSE_SEQ_4,
                         "the report of an illegal move is not true of its seq");
    }
    see_pair(commit, prior, attempted);
}

/* An illegal move, on purpose or not, is counted and fails Stage1 in one commit (E-SEQ-15). */
static void judge_attempt(struct commit *commit, bool latched)
{
    int64_t refused = seq_counted(commit, SEQ_TALLY_ILLEGAL);
    int64_t drills = seq_counted(commit, SEQ_TALLY_DRILLS);
    if (refused != 0 || drills != 0) {
        judge_held(&commit->judge, CLAUSE_SEQ_3);
    }
    if (refused < drills) {
        seq_latch_breach(commit, CLAUSE_SEQ_3,
                         "an illegal move was attempted, and the contract not asked");
    } else if (refused != 0 && policy_cell(commit, STAGE_SEQ) == 0) {
        seq_latch_breach(commit, CLAUSE_SEQ_3,
                         "an illegal move was attempted, and Stage1 did not fail");
    } else if (refused > drills) {
        seq_latch_breach(commit, CLAUSE_SEQ_3, "an illegal move was attempted, and not on purpose");
    }
    if (latched && refused != 1) {
        seq_latch_breach(commit, CLAUSE_SEQ_3, "Stage1 failed, and no illegal move was attempted");
    }
}

void seq_judge_stage(struct commit *commit)
{
    bool made = has(commit, TABLE_STAGE, 0, ROW_INSERTED), latched = false, policy = false;
    if (made) {
        judge_policy(commit);
    }
    if (made && policy_cell(commit, STAGE_SEQ) != 0) {
        seq_latch_breach(commit, CLAUSE_SEQ_3,
                         "Stage1 was opened as if an illegal move had failed it");
    }
    for (int column = 0; column < STAGE_COLUMNS && !made; column++) {
        bool differs = changed(commit, TABLE_STAGE, 0, column);
        latched = latched || (differs && column >= STAGE_SEQ);
        policy = policy || (differs && column < STAGE_SEQ);
    }
    if (policy) {
        seq_latch_breach(commit, CLAUSE_SEQ_11,
                         "the policy changed under the decisions made by it");
    }
    bool again = latched && ghost_get(&commit->judge.oracle->ghosts, CELL_HALTED) != 0;
    judge_attempt(commit, latched && !again);
    if (!latched) {
        return;
    }
    if (again) {
        seq_latch_breach(commit, CLAUSE_SEQ_20,
                         "the first illegal move is no longer the one that is told");
    } else {
        judge_latch(commit);
    }
}
