/* The monitors of the pipeline: at every commit, whether it is one whole phase whose guards held,
 * and whether status, history and what was written at all are as promised; once all has settled,
 * whether anything is stuck that could go on.
 *
 * Order of reporting: new decisions, change sets and verify results; updates and deletions; other
 * new rows; then the commit as a whole. */
#include "model/oracle/pipeline_commit.h"
#include "model/oracle/seen.h"

#define TRIES_MAX   3 /* how often a phase is retried: what "bounded" is here */
#define CONNECTIONS 2 /* of a principal (CUT-18) */

/* ---- the status graph, once more ------------------------------------------------------------- */

#define TO(status) (1 << (status))
static const int follows[STATUS_COUNT] = {
    [STATUS_NONE] = TO(STATUS_MARKED),
    [STATUS_MARKED] = TO(STATUS_APPROVED) | TO(STATUS_REJECTED),
    [STATUS_APPROVED] = TO(STATUS_APPROVED) | TO(STATUS_REJECTED) | TO(STATUS_CUT),
    [STATUS_REJECTED] = TO(STATUS_APPROVED) | TO(STATUS_REJECTED),
    [STATUS_CUT] = TO(STATUS_COMPLETE) | TO(STATUS_ESCALATED),
    [STATUS_COMPLETE] = TO(STATUS_COMPLETE) | TO(STATUS_ESCALATED),
};

static bool may_follow(int64_t from, int64_t to)
{
    return from >= 0 && from < STATUS_COUNT && to > 0 && to < STATUS_COUNT &&
           (follows[from] & TO(to)) != 0;
}

static const enum oracle_cover move_sights[STATUS_COUNT][STATUS_COUNT] = {
#define MOVE(from, to) [STATUS_##from][STATUS_##to] = COVER_STATUS_##from##_##to,
    ORACLE_STATUS_MOVES(MOVE)
#undef MOVE
};

/* ---- memory: ids of rows for which a request was acked, and claims --------------------------- */

static const enum row_table remembered[] = {[OF_MARK] = TABLE_ENTRY,
                                            [OF_CUT] = TABLE_CHANGE_SET,
                                            [OF_VERIFY] = TABLE_VERIFY,
                                            [OF_CLAIM] = TABLE_MESSAGE};

static struct judge begin(struct oracle *oracle, const struct rows *rows)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    size_t base = 0;
    for (size_t m = 0; m < ORACLE_COUNT(remembered); m++) {
        base = judge_remember(&judge, (int)m, base, rows->table[remembered[m]].index_mask);
    }
    return judge;
}

static size_t cells(const struct rows *rows)
{
    struct judge judge = begin(NULL, rows);
    return judge_cells(&judge, OF_CLAIM);
}

static int memory_of(const struct rows *rows, size_t cell)
{
    struct judge judge = begin(NULL, rows);
    return judge_memory_of(&judge, OF_CLAIM, cell);
}

/* ---- phases side by side --------------------------------------------------------------------- */

/* A principal has had all its connections in use: where guards must hold for more workers than that
 * (CUT-18). No row tells which connections are in use: the store does. */
static bool is_crowded(const struct commit *commit)
{
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        if (commit->judge.oracle->connected[p] >= CONNECTIONS) {
            return true;
        }
    }
    return false;
}

/* A server that lets a principal have more connections than it may does not limit them (CUT-18). */
static bool is_overcrowded(const struct commit *commit)
{
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        if (commit->judge.oracle->connected[p] > CONNECTIONS) {
            return true;
        }
    }
    return false;
}

/* A phase of an entry. That phases are serialised (CUT-16) is put to the test only where another
 * request of the entry is under way, too. */
static void held_serial(struct commit *commit, int64_t entry)
{
    if (asked(commit, 0, MESSAGE_ACTIVITY, entry) > 1) {
        held(commit, CLAUSE_CUT_16);
    }
    if (is_crowded(commit)) {
        held(commit, CLAUSE_CUT_18);
    }
    if (is_overcrowded(commit)) {
        judge_breach(&commit->judge, ORACLE_PHASE, CLAUSE_CUT_18, TABLE_ENTRY,
                     row_find(commit->judge.rows, TABLE_ENTRY, entry),
                     "a principal had more connections than it may have");
    }
}

/* Two phases that did not see each other. */
static void expect_serial(struct commit *commit, bool alone, const struct subject *row,
                          const char *why)
{
    expect(commit, alone, ORACLE_PHASE, is_crowded(commit) ? CLAUSE_CUT_18 : CLAUSE_CUT_16, row,
           why);
}

/* ---- status and history ---------------------------------------------------------------------- */

/* A phase's entry is where the phase leads, and its history says so. */
static bool moved_to(const struct commit *commit, int64_t entry, int64_t status)
{
    return cell(commit, TABLE_ENTRY, entry, ENTRY_STATUS) == status &&
           brought(commit, TABLE_PAST, PAST_ENTRY, entry, PAST_TO, status) == 1;
}

static void judge_status(struct commit *commit, const struct subject *row)
{
    int64_t from = status_before(commit, row->key), to = of(commit, row, ENTRY_STATUS);
    if (from == STATUS_COMPLETE) {
        held(commit, CLAUSE_CUT_27);
        TRAIL(to == STATUS_ESCALATED &&
                  brought(commit, TABLE_VERIFY, VERIFY_OUTCOME, VERIFIED_FAIL, -1, 0) == 1,
              27, "an entry left verified_complete without a failing re-verify");
    }
    TRAIL(of(commit, row, ENTRY_KIND) == ENTRY_WORK, 29,
          "an escalation was worked on, which is for people");
    held(commit, CLAUSE_CUT_15);
    TRAIL(may_follow(from, to), 15, "a status was set that does not follow the one before it");
    held(commit, CLAUSE_CUT_25);
    TRAIL(brought(commit, TABLE_PAST, PAST_ENTRY, row->key, -1, 0) == 1, 25,
          "a status moved without exactly one row of history");
    if (to == STATUS_ESCALATED) {
        judge_see(&commit->judge,
                  from == STATUS_COMPLETE ? COVER_REVERIFY_FAILED : COVER_COMPENSATED);
    }
}

static void judge_past(struct commit *commit, const struct subject *row)
{
    int64_t entry = of(commit, row, PAST_ENTRY), from = of(commit, row, PAST_FROM);
    int64_t to = of(commit, row, PAST_TO), retries = of(commit, row, PAST_RETRIES);
    held(commit, CLAUSE_CUT_25);
    TRAIL(from == status_before(commit, entry) &&
              to == cell(commit, TABLE_ENTRY, entry, ENTRY_STATUS) && may_follow(from, to) &&
              brought(commit, TABLE_PAST, PAST_ENTRY, entry, -1, 0) == 1,
          25, "a row of history tells of a move that was not made");
    if (may_follow(from, to)) {
        judge_see(&commit->judge, move_sights[from][to]);
    }
    held(commit, CLAUSE_CUT_12);
    TRAIL(retries <= TRIES_MAX, 12, "a phase was retried without bound");
    if (retries > 0) {
        judge_see(&commit->judge, COVER_RETRIED);
    }
}

/* The stamp: once, and by the decision that names the other as its prior. */
static void judge_stamp(struct commit *commit, const struct subject *row, int64_t before)
{
    int64_t by = of(commit, row, REVIEW_BY);
    held(commit, CLAUSE_CUT_7);
    PHASE(before == 0, 7, "a decision was superseded a second time");
    PHASE(is_new(commit, TABLE_REVIEW, by) &&
              cell(commit, TABLE_REVIEW, by, REVIEW_PRIOR) == row->key,
          7, "a decision was superseded by one that is not its successor");
}

static bool is_updatable(enum row_table table, int column)
{
    return (table == TABLE_ENTRY && column == ENTRY_STATUS) ||
           (table == TABLE_REVIEW && column == REVIEW_BY);
}

static void judge_update(struct commit *commit, const struct row_change *change,
                         const struct subject *row)
{
    held(commit, CLAUSE_CUT_24);
    TRAIL(is_updatable(row->table, change->column), 24, "a column was written that is insert-only");
    if (row->table == TABLE_ENTRY) {
        judge_status(commit, row);
    } else if (row->table == TABLE_REVIEW) {
        judge_stamp(commit, row, change->before);
    }
}

/* ---- MARK ------------------------------------------------------------------------------------ */

static void judge_mark(struct commit *commit, const struct subject *row)
{
    held(commit, CLAUSE_CUT_5);
    PHASE(moved_to(commit, row->key, STATUS_MARKED), 5, "an entry came without its history");
    PHASE(brought(commit, TABLE_SWEEP_LOG, SWEEP_LOG_ENTRY, row->key, SWEEP_LOG_WHY,
                  SWEEP_MARKED) == 1,
          5, "an entry came without its sweep row");
    PHASE(stored(commit, TABLE_ENTRY, ENTRY_KEY, of(commit, row, ENTRY_KEY), -1, 0) == 1, 5,
          "an idempotency key has two entries");
    held(commit, CLAUSE_CUT_23);
}

static void judge_escalation(struct commit *commit, const struct subject *row)
{
    int64_t about = of(commit, row, ENTRY_ABOUT);
    held(commit, CLAUSE_CUT_29);
    PHASE(is_new(commit, TABLE_VERIFY, about) &&
              cell(commit, TABLE_VERIFY, about, VERIFY_OUTCOME) == VERIFIED_FAIL,
          29, "an escalation is about no failing verify result");
    PHASE(moved_to(commit, row->key, STATUS_MARKED), 29,
          "an escalation is not marked, or has no history of its own");
}

static void judge_entry(struct commit *commit, const struct subject *row)
{
    if (of(commit, row, ENTRY_KIND) == ENTRY_ESCALATION) {
        judge_escalation(commit, row);
    } else {
        judge_mark(commit, row);
        pipeline_expect_mark(commit, row);
    }
}

static void judge_dependency(struct commit *commit, const struct subject *row)
{
    PHASE(is_new(commit, TABLE_ENTRY, of(commit, row, DEPENDENCY_FROM)), 5,
          "a dependency came apart from its entry");
    PHASE(is_there(commit, TABLE_ENTRY, of(commit, row, DEPENDENCY_TO)), 5,
          "an entry depends on one that is not there");
}

static void judge_sweep(struct commit *commit, const struct subject *row)
{
    int64_t why = of(commit, row, SWEEP_LOG_WHY), entry = of(commit, row, SWEEP_LOG_ENTRY);
    held(commit, CLAUSE_CUT_19);
    if (why == SWEEP_MARKED) {
        PHASE(is_new(commit, TABLE_ENTRY, entry), 19,
              "a sweep row outlived the MARK it is part of");
        held(commit, CLAUSE_CUT_23);
        PHASE(stored(commit, TABLE_SWEEP_LOG, SWEEP_LOG_ENTRY, entry, SWEEP_LOG_WHY,
                     SWEEP_MARKED) == 1,
              23, "an entry has more than one sweep row");
    }
    if (why == SWEEP_NO_PARENT || why == SWEEP_NULL) {
        judge_see(&commit->judge, why == SWEEP_NULL ? COVER_HUMAN_NULL : COVER_HUMAN_PARENT);
    }
    PHASE(why != SWEEP_FORBIDDEN, 11, "a phase was sent by a principal that may not do it (42501)");
    if (why == SWEEP_EXHAUSTED || why == SWEEP_AGAIN || why == SWEEP_GIVEN_UP) {
        pipeline_judge_pass(commit, row);
    } else if (why != SWEEP_MARKED) {
        pipeline_expect_stop(commit, row);
    }
}

/* ---- REVIEW ---------------------------------------------------------------------------------- */

/* Phases of an entry are serialised: each sees what the one before it left, so none names the same
 * prior as another. */
static void judge_chain(struct commit *commit, const struct subject *row)
{
    int64_t prior = of(commit, row, REVIEW_PRIOR), entry = of(commit, row, REVIEW_ENTRY);
    bool alone = stored(commit, TABLE_REVIEW, REVIEW_ENTRY, entry, REVIEW_PRIOR, prior) == 1;
    held_serial(commit, entry);
    if (prior == 0) {
        expect_serial(commit, alone, row, "two reviews of an entry did not see each other");
        return;
    }
    held(commit, CLAUSE_CUT_7);
    PHASE(alone, 7, "a decision was superseded a second time");
    PHASE(cell(commit, TABLE_REVIEW, prior, REVIEW_BY) == row->key &&
              cell(commit, TABLE_REVIEW, prior, REVIEW_ENTRY) == entry,
          7, "a re-review did not supersede the decision before it");
}

static void judge_review(struct commit *commit, const struct subject *row)
{
    int64_t manifest = of(commit, row, REVIEW_MANIFEST), unit = of(commit, row, REVIEW_UNIT);
    int64_t status =
        of(commit, row, REVIEW_DECISION) == DECISION_APPROVE ? STATUS_APPROVED : STATUS_REJECTED;
    held(commit, CLAUSE_CUT_6);
    PHASE(is_new(commit, TABLE_ENVELOPE, manifest) && is_new(commit, TABLE_UNIT_BLOCK, unit) &&
              cell(commit, TABLE_UNIT_BLOCK, unit, UNIT_BLOCK_ENVELOPE) == manifest,
          6, "a decision refers to a manifest that did not commit with it");
    PHASE(cell(commit, TABLE_ENVELOPE, manifest, ENVELOPE_SCOPE) == of(commit, row, REVIEW_ENTRY),
          6, "a decision refers to a manifest of another entry");
    PHASE(moved_to(commit, of(commit, row, REVIEW_ENTRY), status), 6,
          "a decision came without its status or history");
    judge_chain(commit, row);
    pipeline_expect_review(commit, row);
}

static void judge_envelope(struct commit *commit, const struct subject *row)
{
    held(commit, CLAUSE_CUT_23);
    PHASE(brought(commit, TABLE_UNIT_BLOCK, UNIT_BLOCK_ENVELOPE, row->key, -1, 0) >= 1, 23,
          "an envelope has no unit block");
    PHASE(brought(commit, TABLE_REVIEW, REVIEW_MANIFEST, row->key, -1, 0) == 1, 6,
          "a manifest came without the decision that binds it");
    pipeline_expect_envelope(commit, row);
}

static void judge_unit(struct commit *commit, const struct subject *row)
{
    int64_t envelope = of(commit, row, UNIT_BLOCK_ENVELOPE);
    int64_t local = of(commit, row, UNIT_BLOCK_LOCAL);
    PHASE(is_new(commit, TABLE_ENVELOPE, envelope), 6, "a unit block came apart from its envelope");
    PHASE(local > 0 && brought(commit, TABLE_UNIT_BLOCK, UNIT_BLOCK_ENVELOPE, envelope,
                               UNIT_BLOCK_LOCAL, local) == 1,
          6, "a unit block has no name of its own within its envelope");
    pipeline_expect_unit(commit, row);
}

/* ---- CUT ------------------------------------------------------------------------------------- */

/* Change sets of the pair that nothing has undone. */
static int live_sets(const struct commit *commit, int64_t entry, int64_t decision)
{
    const struct rows *rows = commit->rows;
    int live = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_CHANGE_SET].used; slot++) {
        live += row_get(rows, TABLE_CHANGE_SET, slot, CHANGE_SET_ENTRY) == entry &&
                row_get(rows, TABLE_CHANGE_SET, slot, CHANGE_SET_REVIEW) == decision &&
                stored(commit, TABLE_CHANGE_SET, CHANGE_SET_COMPENSATES,
                       row_key(rows, TABLE_CHANGE_SET, slot), -1, 0) == 0;
    }
    return live;
}

static void judge_guards(struct commit *commit, const struct subject *row)
{
    int64_t entry = of(commit, row, CHANGE_SET_ENTRY);
    int64_t decision = of(commit, row, CHANGE_SET_REVIEW);
    held(commit, CLAUSE_CUT_8);
    PHASE(cell(commit, TABLE_REVIEW, decision, REVIEW_DECISION) == DECISION_APPROVE &&
              cell(commit, TABLE_REVIEW, decision, REVIEW_ENTRY) == entry,
          8, "an entry was cut that no decision approves");
    PHASE(cell(commit, TABLE_REVIEW, decision, REVIEW_BY) == 0, 8,
          "an entry was cut on a decision that is superseded");
    PHASE(blockers_complete(commit, entry), 8,
          "an entry was cut before all that it depends on was verified complete");
    held_serial(commit, entry);
    PHASE(live_sets(commit, entry, decision) == 1, 8,
          "an entry has two live change sets of one decision");
}

static void judge_affected_some(struct commit *commit, const struct subject *row)
{
    held(commit, CLAUSE_CUT_23);
    PHASE(brought(commit, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET, row->key, -1, 0) >= 1, 23,
          "a change set affects no row");
}

static void judge_cut(struct commit *commit, const struct subject *row)
{
    int64_t signature = of(commit, row, CHANGE_SET_SIGNATURE);
    judge_guards(commit, row);
    held(commit, CLAUSE_CUT_9);
    PHASE(is_new(commit, TABLE_SIGNATURE, signature), 9,
          "a change set came without its executor's signature");
    PHASE(of(commit, row, CHANGE_SET_VERIFIER) == 0, 9,
          "a change set came with a verifier's signature");
    PHASE(moved_to(commit, of(commit, row, CHANGE_SET_ENTRY), STATUS_CUT), 9,
          "a change set came without its status or history");
    PHASE(cell(commit, TABLE_SIGNATURE, signature, SIGNATURE_LANE) == LANE_EXECUTOR, 26,
          "a change set is not signed in the executor's lane");
}

/* Every row that the one set affected is affected by the other, and no more. */
static bool undoes_all(const struct commit *commit, int64_t undo, int64_t undone)
{
    const struct rows *rows = commit->rows;
    int undone_rows = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_AFFECTED_ROW].used; slot++) {
        if (row_get(rows, TABLE_AFFECTED_ROW, slot, AFFECTED_ROW_SET) == undone) {
            undone_rows++;
            if (brought(commit, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET, undo, AFFECTED_ROW_ROW,
                        row_get(rows, TABLE_AFFECTED_ROW, slot, AFFECTED_ROW_ROW)) != 1) {
                return false;
            }
        }
    }
    return brought(commit, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET, undo, -1, 0) == undone_rows;
}

static void judge_compensation(struct commit *commit, const struct subject *row)
{
    int64_t undone = of(commit, row, CHANGE_SET_COMPENSATES);
    held(commit, CLAUSE_CUT_21);
    PHASE(is_there(commit, TABLE_CHANGE_SET, undone) &&
              stored(commit, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET, undone, -1, 0) >= 1,
          21, "the change set that was undone is gone");
    PHASE(brought(commit, TABLE_VERIFY, VERIFY_ROLLBACK, row->key, VERIFY_OUTCOME, VERIFIED_FAIL) ==
              1,
          10, "a compensating change set came without its failing verify result");
    PHASE(stored(commit, TABLE_CHANGE_SET, CHANGE_SET_COMPENSATES, undone, -1, 0) == 1, 10,
          "a change set was undone twice");
}

static void judge_set(struct commit *commit, const struct subject *row)
{
    int64_t undone = of(commit, row, CHANGE_SET_COMPENSATES);
    if (undone == 0) {
        judge_cut(commit, row);
        pipeline_expect_cut(commit, row);
    } else {
        judge_compensation(commit, row);
    }
    judge_affected_some(commit, row);
    PHASE(undone == 0 || undoes_all(commit, row->key, undone), 21,
          "a compensating change set affects other rows than the set that it undoes");
}

static void judge_affected(struct commit *commit, const struct subject *row)
{
    int64_t set = of(commit, row, AFFECTED_ROW_SET), name = of(commit, row, AFFECTED_ROW_ROW);
    PHASE(is_new(commit, TABLE_CHANGE_SET, set), 9,
          "an affected row came apart from its change set");
    PHASE(name > 0 && brought(commit, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET, set, AFFECTED_ROW_ROW,
                              name) == 1,
          9, "an affected row has no name of its own within its change set");
    pipeline_expect_affected(commit, row);
}

/* ---- VERIFY ---------------------------------------------------------------------------------- */

/* One chain a lane: nobody else follows the signature before this one, or is the first. */
static void judge_one_chain(struct commit *commit, const struct subject *row, int64_t lane,
                            int64_t prior)
{
    held(commit, CLAUSE_CUT_32);
    PHASE(stored(commit, TABLE_SIGNATURE, SIGNATURE_PRIOR, prior, SIGNATURE_LANE, lane) == 1, 32,
          "two signatures of a lane follow the same one");
    PHASE(prior == 0 || cell(commit, TABLE_SIGNATURE, prior, SIGNATURE_LANE) == lane, 26,
          "the signature before this one is none of its lane");
}

/* A chain for each entry and lane. */
static void judge_own_chain(struct commit *commit, const struct subject *row, int64_t lane,
                            int64_t prior)
{
    int64_t entry = of(commit, row, SIGNATURE_ENTRY);
    int same = 0;
    for (uint32_t slot = 0; slot < commit->rows->table[TABLE_SIGNATURE].used; slot++) {
        same += row_get(commit->rows, TABLE_SIGNATURE, slot, SIGNATURE_ENTRY) == entry &&
                row_get(commit->rows, TABLE_SIGNATURE, slot, SIGNATURE_LANE) == lane &&
                row_get(commit->rows, TABLE_SIGNATURE, slot, SIGNATURE_PRIOR) == prior;
    }
    PHASE(same == 1, 16, "two phases of an entry signed without seeing each other");
    PHASE(prior == 0 || (cell(commit, TABLE_SIGNATURE, prior, SIGNATURE_ENTRY) == entry &&
                         cell(commit, TABLE_SIGNATURE, prior, SIGNATURE_LANE) == lane),
          26, "the signature before this one is none of its entry and lane");
}

static void judge_signature(struct commit *commit, const struct subject *row)
{
    int64_t lane = of(commit, row, SIGNATURE_LANE), prior = of(commit, row, SIGNATURE_PRIOR);
    const struct expected_pipeline *expected = expected_of(commit);
    held(commit, CLAUSE_CUT_11);
    PHASE(of(commit, row, SIGNATURE_PRINCIPAL) ==
              (lane == LANE_VERIFIER ? PRINCIPAL_VERIFY : PRINCIPAL_EXEC),
          11, "a signature is another principal's than its lane's");
    if (expected != NULL && expected->one_chain) {
        judge_one_chain(commit, row, lane, prior);
    } else {
        judge_own_chain(commit, row, lane, prior);
    }
    PHASE(brought(commit, TABLE_CHANGE_SET, CHANGE_SET_SIGNATURE, row->key, -1, 0) +
                  brought(commit, TABLE_VERIFY, VERIFY_VERIFIER, row->key, -1, 0) >=
              1,
          1, "a signature came apart from what it signs");
}

/* Executor and verifier of a result: their signatures, and that they differ. */
static void judge_pair(struct commit *commit, const struct subject *row)
{
    int64_t set = of(commit, row, VERIFY_SET), executor = of(commit, row, VERIFY_EXECUTOR);
    int64_t verifier = of(commit, row, VERIFY_VERIFIER);
    held(commit, CLAUSE_CUT_28);
    PHASE(is_there(commit, TABLE_CHANGE_SET, set) &&
              cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_COMPENSATES) == 0 &&
              cell(commit, TABLE_SIGNATURE,
                   cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_SIGNATURE),
                   SIGNATURE_LANE) == LANE_EXECUTOR,
          28, "what was verified is no change set that the executor signed");
    held(commit, CLAUSE_CUT_26);
    PHASE(cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_SIGNATURE) == executor, 26,
          "a verify result names another signature than its change set's");
    PHASE(cell(commit, TABLE_SIGNATURE, verifier, SIGNATURE_LANE) == LANE_VERIFIER, 26,
          "a verify result is not signed in the verifier's lane");
    held(commit, CLAUSE_CUT_11);
    PHASE(cell(commit, TABLE_SIGNATURE, executor, SIGNATURE_PRINCIPAL) !=
              cell(commit, TABLE_SIGNATURE, verifier, SIGNATURE_PRINCIPAL),
          11, "the verifier is the executor");
}

static void judge_failure(struct commit *commit, const struct subject *row)
{
    int64_t undone = of(commit, row, VERIFY_ROLLBACK);
    PHASE(is_new(commit, TABLE_CHANGE_SET, undone) &&
              cell(commit, TABLE_CHANGE_SET, undone, CHANGE_SET_COMPENSATES) ==
                  of(commit, row, VERIFY_SET),
          10, "a failing verify result came without its compensating change set");
    held(commit, CLAUSE_CUT_29);
    PHASE(brought(commit, TABLE_ENTRY, ENTRY_KIND, ENTRY_ESCALATION, ENTRY_ABOUT, row->key) == 1,
          29, "a failing verify result came without exactly one escalation");
}

static void judge_verify(struct commit *commit, const struct subject *row)
{
    int64_t set = of(commit, row, VERIFY_SET), prior = of(commit, row, VERIFY_PRIOR);
    bool passed = of(commit, row, VERIFY_OUTCOME) == VERIFIED_PASS;
    judge_pair(commit, row);
    held_serial(commit, cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_ENTRY));
    expect_serial(commit, stored(commit, TABLE_VERIFY, VERIFY_SET, set, VERIFY_PRIOR, prior) == 1,
                  row, "two workers verified a change set side by side");
    held(commit, CLAUSE_CUT_10);
    PHASE(prior == 0 || cell(commit, TABLE_VERIFY, prior, VERIFY_SET) == set, 10,
          "the verify result before this one is none of its change set");
    PHASE(is_new(commit, TABLE_SIGNATURE, of(commit, row, VERIFY_VERIFIER)), 10,
          "a verify result came without its verifier's signature");
    PHASE(moved_to(commit, cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_ENTRY),
                   passed ? STATUS_COMPLETE : STATUS_ESCALATED),
          10, "a verify result came without its status or history");
    if (passed) {
        PHASE(of(commit, row, VERIFY_ROLLBACK) == 0, 10, "a change set that passed was undone");
    } else {
        judge_failure(commit, row);
    }
    pipeline_expect_verify(commit, row);
    judge_that(
        &commit->judge,
        (memory_get(&commit->judge, OF_VERIFY, row->key, JUDGE_MEMO_FLAGS) & MEMO_EXAMINED) != 0,
        ORACLE_JOURNAL, CLAUSE_CUT_31, row->table, row->slot,
        "a change set was verified that nobody had examined");
}

/* ---- a commit as a whole --------------------------------------------------------------------- */

typedef void judge_row(struct commit *commit, const struct subject *row);

static judge_row *const judges[TABLE_COUNT] = {
    [TABLE_ENTRY] = judge_entry,           [TABLE_PAST] = judge_past,
    [TABLE_DEPENDENCY] = judge_dependency, [TABLE_SWEEP_LOG] = judge_sweep,
    [TABLE_ENVELOPE] = judge_envelope,     [TABLE_UNIT_BLOCK] = judge_unit,
    [TABLE_REVIEW] = judge_review,         [TABLE_SIGNATURE] = judge_signature,
    [TABLE_CHANGE_SET] = judge_set,        [TABLE_AFFECTED_ROW] = judge_affected,
    [TABLE_VERIFY] = judge_verify,
};

static void judge_change(struct commit *commit, const struct row_change *change)
{
    struct subject subject = {(enum row_table)change->table, change->slot,
                              row_key(commit->rows, (enum row_table)change->table, change->slot)};
    const struct subject *row = &subject;
    if (change->table == TABLE_MESSAGE) {
        if (change->kind == ROW_DELETED) {
            pipeline_judge_ack(commit, change->slot);
        } else if (change->kind == ROW_INSERTED) {
            pipeline_judge_request(commit, change->slot);
        } else if (change->column == MESSAGE_EPOCH) {
            pipeline_judge_claim(commit, change->slot);
        }
    } else if (change->kind == ROW_DELETED) {
        TRAIL(false, 21, "a row was deleted");
    } else if (change->kind == ROW_UPDATED) {
        judge_update(commit, change, row);
    } else {
        judges[row->table](commit, row);
    }
}

/* An entry that leaves verified_complete is judged first, then what a phase is about, then what was
 * changed, then what else came. */
#define TURNS 4
static int turn_of(const struct row_change *change)
{
    bool head = change->table == TABLE_REVIEW || change->table == TABLE_CHANGE_SET ||
                change->table == TABLE_VERIFY;
    bool leaves = change->table == TABLE_ENTRY && change->kind == ROW_UPDATED &&
                  change->column == ENTRY_STATUS && change->before == STATUS_COMPLETE;
    return leaves ? 0 : change->kind != ROW_INSERTED ? 2 : head ? 1 : 3;
}

/* A commit is one phase, or the row of a sweep that stopped, or nothing of the pipeline's. */
static void judge_phases(struct commit *commit)
{
    int rows = 0, notes = 0;
    const struct row_change *first = NULL;
    for (size_t i = 0; i < commit->count; i++) {
        bool ours = commit->changes[i].table != TABLE_MESSAGE;
        rows += ours;
        first = ours && first == NULL ? &commit->changes[i] : first;
    }
    if (rows == 0) {
        return;
    }
    int phases = brought(commit, TABLE_ENTRY, ENTRY_KIND, ENTRY_WORK, -1, 0) +
                 brought(commit, TABLE_REVIEW, -1, 0, -1, 0) +
                 brought(commit, TABLE_CHANGE_SET, CHANGE_SET_COMPENSATES, 0, -1, 0) +
                 brought(commit, TABLE_VERIFY, -1, 0, -1, 0);
    notes = brought(commit, TABLE_SWEEP_LOG, -1, 0, -1, 0) -
            brought(commit, TABLE_SWEEP_LOG, SWEEP_LOG_WHY, SWEEP_MARKED, -1, 0);
    struct subject subject = {(enum row_table)first->table, first->slot, 0};
    const struct subject *row = &subject;
    held(commit, CLAUSE_CUT_1);
    PHASE(phases > 0 || rows == notes, 1, "a commit holds part of a phase");
    held(commit, CLAUSE_CUT_2);
    PHASE(phases <= 1 && (phases == 0 || notes == 0), 2, "a transaction spans two phases");
}

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct commit commit = {
        .judge = begin(oracle, rows), .rows = rows, .changes = changes, .count = count};
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < count; i++) {
            if (turn_of(&changes[i]) == turn) {
                judge_change(&commit, &changes[i]);
            }
        }
    }
    judge_phases(&commit);
    return commit.judge.verdict;
}

/* ---- work outside rows (CUT-31) -------------------------------------------------------------- */

/* A worker examined a change set. */
static struct oracle_verdict effect(struct oracle *oracle, const struct rows *rows,
                                    const struct side_effect *effect)
{
    struct judge judge = begin(oracle, rows);
    uint32_t slot = judge_claimed(&judge, OF_CLAIM, effect, CLAUSE_CUT_31);
    if (slot == ROW_NONE) {
        return judge.verdict;
    }
    if (row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) != PHASE_VERIFY ||
        row_get(rows, TABLE_MESSAGE, slot, MESSAGE_GUID) != effect->what) {
        judge_breach(&judge, ORACLE_JOURNAL, CLAUSE_CUT_31, TABLE_MESSAGE, slot,
                     "something else was examined than what was asked for");
    }
    memory_flag(&judge, OF_VERIFY, effect->what, MEMO_EXAMINED);
    return judge.verdict;
}

/* ---- once all has settled -------------------------------------------------------------------- */

/* A phase of it, or of an entry that it needs, is for people, since a sweep has passed as often as it
 * may (E-CUT-21). */
static bool is_for_people(const struct commit *all, int64_t entry)
{
    const struct rows *rows = all->rows;
    bool told = pipeline_was_told(all, entry, SWEEP_GIVEN_UP);
    for (uint32_t slot = 0; slot < rows->table[TABLE_DEPENDENCY].used; slot++) {
        told = told || (row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_FROM) == entry &&
                        pipeline_was_told(all, row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_TO),
                                          SWEEP_GIVEN_UP));
    }
    return told;
}

/* An entry that could go on from the status that is stored, and does not. Those that wait for a
 * blocker that failed wait rightly (E-CUT-20). */
static bool is_stuck(const struct commit *all, uint32_t slot)
{
    const struct rows *rows = all->rows;
    int64_t status = row_get(rows, TABLE_ENTRY, slot, ENTRY_STATUS);
    return row_get(rows, TABLE_ENTRY, slot, ENTRY_KIND) == ENTRY_WORK &&
           (status == STATUS_MARKED || status == STATUS_CUT ||
            (status == STATUS_APPROVED &&
             blockers_complete(all, row_key(rows, TABLE_ENTRY, slot)))) &&
           !is_for_people(all, row_key(rows, TABLE_ENTRY, slot));
}

static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet)
{
    struct commit all = {.judge = begin(oracle, rows), .rows = rows};
    judge_quiet(&all.judge, quiet, ORACLE_PHASE, CLAUSE_CUT_2);
    for (uint32_t slot = 0; slot < rows->table[TABLE_ENTRY].used; slot++) {
        held(&all, CLAUSE_CUT_2);
        if (is_stuck(&all, slot)) {
            judge_breach(&all.judge, ORACLE_PHASE, CLAUSE_CUT_2, TABLE_ENTRY, slot,
                         "an entry could go on from its status, and nobody does");
        }
    }
    pipeline_expect_end(&all);
    return all.judge.verdict;
}

static void expects(const struct document *scenario, struct expectation *expected)
{
    expected_pipeline_read(scenario, &expected->of.pipeline);
}

const struct monitors monitors_pipeline = {.expect = expects,
                                           .cells = cells,
                                           .memories = {[OF_MARK] = {.sights = 1},
                                                        [OF_CUT] = {.sights = 1},
                                                        [OF_VERIFY] = {.sights = 1},
                                                        [OF_CLAIM] = JUDGE_CLAIMS_MEMORY},
                                           .memory_of = memory_of,
                                           .commit = commit,
                                           .transaction = seen_pipeline,
                                           .asks_locks = true,
                                           .effect = effect,
                                           .granted = judge_granted,
                                           .whole = CLAUSE_CUT_19,
                                           .whole_by = ORACLE_PHASE,
                                           .settled = settled};
