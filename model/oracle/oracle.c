#include "model/oracle/judge.h"

#include <string.h>

static const char *const names[ORACLE_NAME_COUNT] = {
#define ORACLE(id, text) [ORACLE_##id] = (text),
#include "model/oracle/names.def"
#undef ORACLE
};

static const struct {
    enum clause_id clause;
    const char *text;
} cover_points[COVER_COUNT] = {
    /* activity */
    [COVER_LEG1_ENTRY_APART] = {CLAUSE_ACL_9, "a Leg1 entry committed apart from the work"},
    [COVER_LEG1_STALE] = {CLAUSE_ACL_10, "a Leg1 message found Leg1 complete and was acked"},
    [COVER_THRESHOLD_0] = {CLAUSE_ACL_23, "a Step 2 landed on threshold 0"},
    [COVER_THRESHOLD_1] = {CLAUSE_ACL_23, "a Step 2 landed on threshold 1"},
    [COVER_THRESHOLD_12] = {CLAUSE_ACL_23, "a Step 2 landed on threshold 12"},
    [COVER_RESUME_NOTHING] = {CLAUSE_ACL_24, "a GUID was entered again with nothing done"},
    [COVER_RESUME_WORK] = {CLAUSE_ACL_24, "a GUID was entered again with its work done"},
    [COVER_RESUME_SPAWNED] = {CLAUSE_ACL_24,
                              "a GUID was entered again with its children spawned, job open"},
    [COVER_RESUME_CLOSED] = {CLAUSE_ACL_24,
                             "a GUID was entered again with its children spawned, job closed"},
    [COVER_RESUME_DONE] = {CLAUSE_ACL_24, "a GUID was entered again with all done"},
    [COVER_STEP3_AFTER_RESUME] = {CLAUSE_ACL_25, "Step 3 ran after a crash between Step 2 and it"},
    [COVER_REPLAY_LEG1_BEFORE_ACK] = {CLAUSE_ACL_34,
                                      "a finished Leg1 message was replayed before its ack"},
    [COVER_REPLAY_LEG1_AFTER_ACK] = {CLAUSE_ACL_34,
                                     "a finished Leg1 message was replayed after its ack"},
    [COVER_REPLAY_LEG2_BEFORE_ACK] = {CLAUSE_ACL_34,
                                      "a finished Leg2 message was replayed before its ack"},
    [COVER_REPLAY_LEG2_AFTER_ACK] = {CLAUSE_ACL_34,
                                     "a finished Leg2 message was replayed after its ack"},
    [COVER_CLAIM_EXTENDED] = {CLAUSE_ACL_47, "a claim that was half over was extended"},
    [COVER_TRIED_AGAIN] = {CLAUSE_ACL_48, "a step was made after it had failed"},
    [COVER_CLAIM_LET_GO] = {CLAUSE_ACL_48, "a claim was let go after too many failures"},
    /* legacy */
    [COVER_LEGACY_RAN_AGAIN] = {CLAUSE_LEG_3, "a Leg1 that had crashed was run again and ended"},
    [COVER_LEGACY_HAD_ENDED] = {CLAUSE_LEG_3, "a Leg1 that had ended was entered again"},
    [COVER_LEGACY_PUBLISHED_MISSING] =
        {CLAUSE_LEG_3, "a Leg1 that had ended was entered again and published what was missing"},
    [COVER_LEGACY_PENDING] = {CLAUSE_LEG_4, "a pending reply left Leg2 open"},
    [COVER_LEGACY_TURNED_AWAY] = {CLAUSE_LEG_4, "a call after success took its entry back"},
    [COVER_LEGACY_SAVED_AGAIN] = {CLAUSE_LEG_9,
                                  "a parent saved again and left its child's integer alone"},
    /* key */
    [COVER_SKIP_CHAIN] = {CLAUSE_KEY_5, "activities were skipped along with one above them"},
    [COVER_SKIP_SPARES] = {CLAUSE_KEY_5,
                           "a skip spared an activity that another one could still reach"},
    [COVER_SKIP_JOIN] = {CLAUSE_KEY_5, "a join was skipped with the last of the ways to it"},
    [COVER_SKIP_ERROR] = {CLAUSE_KEY_5, "an error skipped what only it could reach"},
    [COVER_KEY_STARTED] = {CLAUSE_KEY_3, "an activity was started, 9 -> 8"},
    [COVER_KEY_ERRORED] = {CLAUSE_KEY_3, "an activity errored, 8 -> 7"},
    [COVER_KEY_COMPLETED] = {CLAUSE_KEY_3, "an activity completed, 8 -> 6"},
    [COVER_KEY_PAUSED] = {CLAUSE_KEY_3, "a completed activity was paused, 6 -> 5"},
    [COVER_KEY_HELD] = {CLAUSE_KEY_3, "an activity was finished and held, 8 -> 5"},
    [COVER_KEY_RELEASED] = {CLAUSE_KEY_3, "a paused activity was released, 5 -> 4"},
    [COVER_KEY_SKIPPED] = {CLAUSE_KEY_3, "an activity was skipped, 9 -> 3"},
    [COVER_KEY_LET_GO] = {CLAUSE_KEY_12, "a claim was let go after too many failures"},
    /* inbox */
    [COVER_INBOX_LET_GO] = {CLAUSE_BOX_3, "a claim was let go after too many failures"},
    /* pipeline */
    [COVER_RETRIED] = {CLAUSE_CUT_12, "a phase committed after transient errors"},
    [COVER_EXHAUSTED] = {CLAUSE_CUT_12, "a phase was stopped after too many transient errors"},
    [COVER_HAND_ON_LET_GO] = {CLAUSE_CUT_12,
                              "a claim was let go after too many failures to hand on"},
    [COVER_MARK_AGAIN] = {CLAUSE_CUT_13, "a MARK that was asked for again found its entry"},
    [COVER_CUT_AGAIN] = {CLAUSE_CUT_13, "a CUT that was asked for again found its change set"},
    [COVER_VERIFY_AGAIN] = {CLAUSE_CUT_13, "a VERIFY that was asked for again found its result"},
    [COVER_HUMAN_PARENT] = {CLAUSE_CUT_14, "a 23503 was handed to people"},
    [COVER_HUMAN_NULL] = {CLAUSE_CUT_14, "a 23502 was handed to people"},
    [COVER_COMPENSATED] = {CLAUSE_CUT_20, "a failed verify took the compensating path"},
    [COVER_REVERIFY_FAILED] = {CLAUSE_CUT_20, "a failed re-verify took the compensating path"},
#define MOVE(from, to)                                                                             \
    [COVER_STATUS_##from##_##to] = {CLAUSE_CUT_25, "the status moved " #from " -> " #to},
    ORACLE_STATUS_MOVES(MOVE)
#undef MOVE
        [COVER_SWEPT] = {CLAUSE_CUT_12, "a sweep asked for a stopped phase again"},
    [COVER_GIVEN_UP] = {CLAUSE_CUT_12, "a sweep handed a stopped phase to people"},
    /* seq */
    [COVER_SEQ_MOVE_1] = {CLAUSE_SEQ_2, "move 1, 0 -> 1"},
    [COVER_SEQ_MOVE_2] = {CLAUSE_SEQ_2, "move 2, 1 -> 2"},
    [COVER_SEQ_MOVE_3] = {CLAUSE_SEQ_2, "move 3, 2 -> 3"},
    [COVER_SEQ_MOVE_4] = {CLAUSE_SEQ_2, "move 4, 2 -> 4"},
    [COVER_SEQ_MOVE_5] = {CLAUSE_SEQ_2, "move 5, 2 -> 5"},
    [COVER_SEQ_MOVE_6] = {CLAUSE_SEQ_2, "move 6, 1 -> 6"},
    [COVER_SEQ_MOVE_7] = {CLAUSE_SEQ_2, "move 7, 2 -> 6"},
    [COVER_SEQ_MOVE_8] = {CLAUSE_SEQ_2, "move 8, 3 -> 7"},
    [COVER_SEQ_MOVE_9] = {CLAUSE_SEQ_2, "move 9, 4 -> 7"},
    [COVER_SEQ_MOVE_10] = {CLAUSE_SEQ_2, "move 10, 5 -> 7"},
    [COVER_SEQ_MOVE_11] = {CLAUSE_SEQ_2, "move 11, 6 -> 7"},
    [COVER_SEQ_MOVE_12] = {CLAUSE_SEQ_2, "move 12, 5 -> 1"},
#define PAIR(from, to)                                                                             \
    [COVER_SEQ_ILLEGAL_##from##                                                                    \
        to] = {CLAUSE_SEQ_3, "an illegal move " #from " -> " #to " halted Stage1"},
    ORACLE_SEQ_ILLEGAL_PAIRS(PAIR)
#undef PAIR
        [COVER_SEQ_COMMIT_AGAIN] = {CLAUSE_SEQ_7, "a committed seq was marked again, a no-op"},
    [COVER_SEQ_COMMIT_EARLY] = {CLAUSE_SEQ_7, "a commit before the end halted Stage1"},
    [COVER_SEQ_HEARTBEAT] = {CLAUSE_SEQ_9, "a heartbeat moved with progress"},
    [COVER_SEQ_KEPT] = {CLAUSE_SEQ_9, "heartbeats kept a lease beyond its first term"},
    [COVER_SEQ_RECLAIM_RETRY] = {CLAUSE_SEQ_10, "an expired lease was reclaimed for a retry"},
    [COVER_SEQ_RECLAIM_FAIL] = {CLAUSE_SEQ_10, "an expired lease was reclaimed as a failure"},
    [COVER_SEQ_LATE] = {CLAUSE_SEQ_12, "a token that no longer stood was refused and counted"},
    [COVER_SEQ_EXHAUSTED] = {CLAUSE_SEQ_14, "retries were exhausted"},
    [COVER_SEQ_CANCEL_EARLY] = {CLAUSE_SEQ_15, "a seq was cancelled before work began"},
    [COVER_SEQ_CANCEL_FORCED] = {CLAUSE_SEQ_15, "a run was cancelled after the grace period"},
    [COVER_SEQ_FINAL] = {CLAUSE_SEQ_3, "5 -> 1 of a failure that rests halted Stage1"},
    [COVER_SEQ_LATE_RESULT] = {CLAUSE_SEQ_12, "a late result was refused"},
    [COVER_SEQ_RECLAIM_WON] = {CLAUSE_SEQ_12, "a result came after its run was reclaimed"},
    [COVER_SEQ_LATE_BEAT] = {CLAUSE_SEQ_19, "a late heartbeat was refused"},
    [COVER_SEQ_LEASE_READ] = {CLAUSE_SEQ_8,
                              "a lease whose answer was lost was read for, and its run went on"},
    [COVER_SEQ_CANCEL_LATE] = {CLAUSE_SEQ_5, "a forced cancel that came too late was refused"},
};

enum clause_id oracle_cover_clause(enum oracle_cover point)
{
    CHECK(point < COVER_COUNT);
    return cover_points[point].clause;
}

const char *oracle_cover_text(enum oracle_cover point)
{
    CHECK(point < COVER_COUNT);
    return cover_points[point].text;
}

const char *oracle_name_text(enum oracle_name name)
{
    CHECK((size_t)name < ORACLE_NAME_COUNT);
    return names[name];
}

void judge_breach(struct judge *judge, enum oracle_name who, enum clause_id clause,
                  enum row_table table, uint32_t slot, const char *why)
{
    if (judge->verdict.broken || judge->oracle->off[clause] || judge->oracle->silent[who]) {
        return;
    }
    judge->verdict = oracle_broken(clause, why);
    judge->oracle->spoke = who;
    judge->oracle->table = (uint8_t)table;
    judge->oracle->slot = slot;
}

size_t oracle_cells(const struct monitors *monitors, const struct rows *rows)
{
    return monitors->cells == NULL ? 1 : monitors->cells(rows);
}

bool oracle_needs_clients(enum clause_id clause)
{
    return clause == CLAUSE_ACL_47 || clause == CLAUSE_ACL_48 || clause == CLAUSE_KEY_12 ||
           clause == CLAUSE_BOX_3;
}

void oracle_forget_clients(struct oracle *oracle)
{
    memset(oracle->clients, 0, sizeof oracle->clients);
}

struct oracle_verdict oracle_rollback(struct oracle *oracle, const struct row_change *changes,
                                      size_t count)
{
    const struct monitors *monitors = oracle->monitors;
    struct judge judge;
    judge_begin(&judge, oracle, NULL);
    if (monitors->rollback != NULL) {
        monitors->rollback(oracle);
    }
    enum row_table table = count == 0 ? TABLE_COUNT : (enum row_table)changes[0].table;
    judge_that(&judge, count == 0, monitors->whole_by, monitors->whole, table,
               count == 0 ? ROW_NONE : changes[0].slot,
               "a transaction that did not commit left something behind");
    return judge.verdict;
}

void oracle_begin(struct oracle *oracle, const struct monitors *monitors, const struct rows *rows,
                  int64_t *cells)
{
    oracle->monitors = monitors;
    oracle->ghosts = (struct ghosts){.cells = cells, .count = oracle_cells(monitors, rows)};
    memset(oracle->connected, 0, sizeof oracle->connected);
    oracle->answers_changed = 0;
    oracle_forget_clients(oracle);
    oracle->spoke = ORACLE_NAME_COUNT;
    oracle->table = TABLE_COUNT;
    oracle->slot = ROW_NONE;
}
