/* Requests of the pipeline: whether each is one that the scenario calls for, and whether one that
 * is acked was answered, by the row that it asked for, and what follows from it asked for in turn.
 */
#include "model/oracle/pipeline_commit.h"

/* A message that was made or acked. */
static int64_t asked_for(const struct commit *commit, uint32_t slot, int column)
{
    return row_get(commit->rows, TABLE_MESSAGE, slot, column);
}

static bool says(const struct commit *commit, uint32_t slot, int column, int64_t value)
{
    return asked_for(commit, slot, column) == value;
}

/* ---- what a request asks for ----------------------------------------------------------------- */

/* The entry of the scenario that it is for; NULL: of none. */
static const struct expected_entry *entry_for(const struct commit *commit, uint32_t slot)
{
    const struct expected_pipeline *expected = expected_of(commit);
    int64_t batch = asked_for(commit, slot, MESSAGE_JOB);
    int64_t node = asked_for(commit, slot, MESSAGE_NODE);
    bool known = batch >= 0 && batch < expected->batches && node >= 0 && node < expected->entries &&
                 says(commit, slot, MESSAGE_ACTIVITY, expected_pipeline_id(batch, (int)node));
    return known ? &expected->entry[node] : NULL;
}

/* The payload of the entry some nodes on: of its own MARK, or of the second one. */
static int64_t payload_for(const struct commit *commit, uint32_t slot, int on, bool other_load)
{
    return expected_pipeline_payload(asked_for(commit, slot, MESSAGE_JOB),
                                     (int)asked_for(commit, slot, MESSAGE_NODE) + on, other_load);
}

static bool is_other_load(const struct commit *commit, uint32_t slot)
{
    const struct expected_entry *entry = entry_for(commit, slot);
    return entry != NULL && entry->other_load &&
           says(commit, slot, MESSAGE_SOURCE, payload_for(commit, slot, 0, true));
}

bool pipeline_may_stop(const struct commit *commit, uint32_t slot, enum sweep_reason why)
{
    const struct expected_entry *entry = entry_for(commit, slot);
    if (entry == NULL || !says(commit, slot, MESSAGE_KIND, PHASE_MARK)) {
        return false;
    }
    if (is_other_load(commit, slot)) {
        return why == SWEEP_OTHER_LOAD;
    }
    return why == (enum sweep_reason)entry->stop ||
           (why == SWEEP_NO_PARENT && entry->stop == SWEEP_MARKED &&
            pipeline_lacks(commit, asked_for(commit, slot, MESSAGE_JOB), entry));
}

/* How many rows of a chain there are up to this one, itself included. */
static int number_of(const struct commit *commit, enum row_table table, int64_t key, int prior)
{
    int n = 0;
    while (key != 0 && n <= EXPECTED_REVIEWS) {
        key = cell(commit, table, key, prior);
        n++;
    }
    return n;
}

static bool is_review_called_for(const struct commit *commit, uint32_t slot,
                                 const struct expected_entry *entry)
{
    int64_t prior = asked_for(commit, slot, MESSAGE_SPAWNED_BY);
    int64_t decision = cell(commit, TABLE_REVIEW, prior, REVIEW_DECISION);
    int n = number_of(commit, TABLE_REVIEW, prior, REVIEW_PRIOR) + 1;
    int64_t status = n == 1                         ? STATUS_MARKED
                     : decision == DECISION_APPROVE ? STATUS_APPROVED
                                                    : STATUS_REJECTED;
    return says(commit, slot, MESSAGE_ANSWER, n) && says(commit, slot, MESSAGE_PENDINGS, status) &&
           expected_pipeline_decides(entry, n, asked_for(commit, slot, MESSAGE_CONTENT)) &&
           (n == 1 ||
            says(commit, slot, MESSAGE_ACTIVITY, cell(commit, TABLE_REVIEW, prior, REVIEW_ENTRY)));
}

/* The decision may still be to come: a blocker that passes asks for all that may be made. */
static bool is_cut_called_for(const struct commit *commit, uint32_t slot)
{
    int64_t decision = asked_for(commit, slot, MESSAGE_SOURCE);
    return says(commit, slot, MESSAGE_PENDINGS, STATUS_APPROVED) &&
           (!is_there(commit, TABLE_REVIEW, decision) ||
            (cell(commit, TABLE_REVIEW, decision, REVIEW_DECISION) == DECISION_APPROVE &&
             says(commit, slot, MESSAGE_ACTIVITY,
                  cell(commit, TABLE_REVIEW, decision, REVIEW_ENTRY))));
}

static bool is_verify_called_for(const struct commit *commit, uint32_t slot,
                                 const struct expected_entry *entry)
{
    int64_t set = asked_for(commit, slot, MESSAGE_SOURCE);
    int64_t prior = asked_for(commit, slot, MESSAGE_SPAWNED_BY);
    int n = number_of(commit, TABLE_VERIFY, prior, VERIFY_PRIOR) + 1;
    return says(commit, slot, MESSAGE_ANSWER, n) &&
           says(commit, slot, MESSAGE_PENDINGS, n == 1 ? STATUS_CUT : STATUS_COMPLETE) &&
           says(commit, slot, MESSAGE_CONTENT, expected_pipeline_outcome(entry, n)) &&
           says(commit, slot, MESSAGE_ACTIVITY,
                cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_ENTRY)) &&
           (n == 1 || (cell(commit, TABLE_VERIFY, prior, VERIFY_SET) == set &&
                       cell(commit, TABLE_VERIFY, prior, VERIFY_OUTCOME) == VERIFIED_PASS));
}

static bool is_called_for(const struct commit *commit, uint32_t slot,
                          const struct expected_entry *entry)
{
    switch (asked_for(commit, slot, MESSAGE_KIND)) {
    case PHASE_MARK:
        return says(commit, slot, MESSAGE_GUID, asked_for(commit, slot, MESSAGE_ACTIVITY)) &&
               (is_other_load(commit, slot) ||
                says(commit, slot, MESSAGE_SOURCE, payload_for(commit, slot, 0, false)));
    case PHASE_REVIEW:
        return is_review_called_for(commit, slot, entry);
    case PHASE_CUT:
        return is_cut_called_for(commit, slot);
    case PHASE_VERIFY:
        return is_verify_called_for(commit, slot, entry);
    default:
        return false;
    }
}

void pipeline_judge_request(struct commit *commit, uint32_t slot)
{
    const struct subject *row = &(struct subject){TABLE_MESSAGE, slot, 0};
    PHASE(says(commit, slot, MESSAGE_HEAD, 0), 12,
          "a request came that stands still from the start");
    if (expected_of(commit) == NULL) {
        return;
    }
    const struct expected_entry *entry = entry_for(commit, slot);
    held(commit, CLAUSE_CUT_30);
    PHASE(entry != NULL, 30, "a request is for an entry that the scenario does not have");
    PHASE(entry == NULL || is_called_for(commit, slot, entry), 30,
          "a request asks for something else than the scenario calls for");
}

/* ---- whether it was answered ----------------------------------------------------------------- */

/* Stops of this request that people were told of. */
static int notes_for_people(const struct commit *commit, uint32_t request)
{
    int64_t id = row_key(commit->rows, TABLE_MESSAGE, request);
    int notes = 0;
    for (uint32_t slot = 0; slot < commit->rows->table[TABLE_SWEEP_LOG].used; slot++) {
        int64_t why = row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_WHY);
        notes += row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_REQUEST) == id &&
                 why != SWEEP_MARKED && why != SWEEP_EXHAUSTED && why != SWEEP_AGAIN;
    }
    return notes;
}

/* Could this review be made? What forbids it forbids it for ever: another decision superseded the
 * prior one, or the entry was cut on it. */
static bool could_review(const struct commit *commit, int64_t entry, int64_t prior)
{
    int64_t status = cell(commit, TABLE_ENTRY, entry, ENTRY_STATUS);
    if (prior == 0) {
        return status == STATUS_MARKED;
    }
    return is_there(commit, TABLE_REVIEW, prior) &&
           cell(commit, TABLE_REVIEW, prior, REVIEW_BY) == 0 &&
           (status == STATUS_APPROVED || status == STATUS_REJECTED);
}

/* Could this change set be verified once more? Not one that was undone: that is final. */
static bool could_verify(const struct commit *commit, int64_t set, int64_t prior)
{
    return is_there(commit, TABLE_CHANGE_SET, set) &&
           (prior == 0 || is_there(commit, TABLE_VERIFY, prior)) &&
           stored(commit, TABLE_CHANGE_SET, CHANGE_SET_COMPENSATES, set, -1, 0) == 0;
}

/* A request of this phase of the entry was handed to people, and what follows from it with it. A worker
 * may have seen it before. */
static bool people_have(const struct commit *commit, int64_t phase, int64_t entry)
{
    for (uint32_t slot = 0; slot < commit->rows->table[TABLE_SWEEP_LOG].used; slot++) {
        if (row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_WHY) == SWEEP_GIVEN_UP &&
            row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_ENTRY) == entry &&
            row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_PHASE) == phase) {
            return true;
        }
    }
    return false;
}

/* The transaction that makes the last thing a CUT waits for asks for the CUT anew, and has not done
 * so yet. */
static bool is_cut_under_way(const struct commit *commit, int64_t entry, int64_t set,
                             int64_t decision)
{
    const struct rows *rows = commit->rows;
    bool asks = asked(commit, PHASE_CUT, MESSAGE_GUID, set) > 0 ||
                asked(commit, PHASE_REVIEW, MESSAGE_GUID, decision) > 0 ||
                people_have(commit, PHASE_REVIEW, entry);
    for (uint32_t slot = 0; slot < rows->table[TABLE_DEPENDENCY].used && !asks; slot++) {
        int64_t blocker = row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_TO);
        asks = row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_FROM) == entry &&
               (asked(commit, PHASE_VERIFY, MESSAGE_ACTIVITY, blocker) > 0 ||
                people_have(commit, PHASE_VERIFY, blocker));
    }
    return asks;
}

/* Could this CUT be made, and is nobody about to? A decision may come, and a blocker complete,
 * after it was stopped. */
static bool could_cut(const struct commit *commit, int64_t entry, int64_t set, int64_t decision)
{
    return cell(commit, TABLE_ENTRY, entry, ENTRY_STATUS) == STATUS_APPROVED &&
           cell(commit, TABLE_REVIEW, decision, REVIEW_DECISION) == DECISION_APPROVE &&
           cell(commit, TABLE_REVIEW, decision, REVIEW_BY) == 0 &&
           blockers_complete(commit, entry) && !is_cut_under_way(commit, entry, set, decision);
}

static bool could_go_on(const struct commit *commit, uint32_t slot)
{
    int64_t entry = asked_for(commit, slot, MESSAGE_ACTIVITY);
    int64_t source = asked_for(commit, slot, MESSAGE_SOURCE);
    int64_t prior = asked_for(commit, slot, MESSAGE_SPAWNED_BY);
    switch (asked_for(commit, slot, MESSAGE_KIND)) {
    case PHASE_REVIEW:
        return could_review(commit, entry, prior);
    case PHASE_CUT:
        return could_cut(commit, entry, asked_for(commit, slot, MESSAGE_GUID), source);
    default:
        return could_verify(commit, source, prior);
    }
}

/* A request was answered: what it asked for is there, or people were told why not, or what is
 * stored does not allow it. */
static void judge_answer(struct commit *commit, uint32_t slot, bool done)
{
    int64_t entry = asked_for(commit, slot, MESSAGE_ACTIVITY);
    int64_t phase = asked_for(commit, slot, MESSAGE_KIND);
    const struct subject *row = &(struct subject){TABLE_MESSAGE, slot, 0};
    bool told = notes_for_people(commit, slot) > 0;
    if (phase == PHASE_MARK) {
        held(commit, CLAUSE_CUT_14);
        PHASE(told || cell(commit, TABLE_ENTRY, entry, ENTRY_PAYLOAD) ==
                          asked_for(commit, slot, MESSAGE_SOURCE),
              14, "a request that no entry answers was dropped without a word to people");
    } else if (!done) {
        held(commit, CLAUSE_CUT_2);
        PHASE(told || !could_go_on(commit, slot), 2,
              "a request was acked whose phase could go on from what is stored, and nobody did it");
    }
}

/* The row that is there under the id that a request names is the one that it asked for. */
static bool is_its_own(const struct commit *commit, uint32_t slot)
{
    int64_t id = asked_for(commit, slot, MESSAGE_GUID);
    int64_t entry = asked_for(commit, slot, MESSAGE_ACTIVITY);
    int64_t source = asked_for(commit, slot, MESSAGE_SOURCE);
    int64_t prior = asked_for(commit, slot, MESSAGE_SPAWNED_BY);
    switch (asked_for(commit, slot, MESSAGE_KIND)) {
    case PHASE_REVIEW:
        return cell(commit, TABLE_REVIEW, id, REVIEW_ENTRY) == entry &&
               cell(commit, TABLE_REVIEW, id, REVIEW_PRIOR) == prior &&
               says(commit, slot, MESSAGE_CONTENT, cell(commit, TABLE_REVIEW, id, REVIEW_DECISION));
    case PHASE_CUT:
        return cell(commit, TABLE_CHANGE_SET, id, CHANGE_SET_ENTRY) == entry &&
               cell(commit, TABLE_CHANGE_SET, id, CHANGE_SET_REVIEW) == source;
    case PHASE_VERIFY:
        return cell(commit, TABLE_VERIFY, id, VERIFY_SET) == source &&
               cell(commit, TABLE_VERIFY, id, VERIFY_PRIOR) == prior;
    default:
        return node_of(commit, id) == asked_for(commit, slot, MESSAGE_NODE) &&
               says(commit, slot, MESSAGE_JOB, cell(commit, TABLE_ENTRY, id, ENTRY_ABOUT));
    }
}

/* ---- what follows from it -------------------------------------------------------------------- */

/* A request, by what it must say. */
struct follower {
    int64_t phase, entry;
    int column; /* ... and one more column: */
    int64_t value;
    int64_t content; /* 0: any */
};

static bool is_follower(const struct commit *commit, uint32_t slot, const struct follower *wanted)
{
    return says(commit, slot, MESSAGE_ACTIVITY, wanted->entry) &&
           says(commit, slot, MESSAGE_KIND, wanted->phase) &&
           says(commit, slot, wanted->column, wanted->value) &&
           (wanted->content == 0 || says(commit, slot, MESSAGE_CONTENT, wanted->content)) &&
           row_is_there(commit->rows, TABLE_MESSAGE, slot);
}

/* This commit asks for it, or an earlier one did and the request waits or is for people. */
static bool is_asked(const struct commit *commit, const struct follower *wanted)
{
    for (size_t i = 0; i < commit->count; i++) {
        if (commit->changes[i].table == TABLE_MESSAGE && commit->changes[i].kind == ROW_INSERTED &&
            is_follower(commit, commit->changes[i].slot, wanted)) {
            return true;
        }
    }
    for (uint32_t slot = commit->rows->table[TABLE_MESSAGE].used; slot > 0; slot--) {
        if (is_follower(commit, slot - 1, wanted)) {
            return true;
        }
    }
    return people_have(commit, wanted->phase, wanted->entry);
}

#define IS_ASKED(...) is_asked(commit, &(struct follower){__VA_ARGS__})

/* After MARK: the next entry of the batch, and if this one is there, its review and second MARK. */
static bool goes_on_after_mark(const struct commit *commit, uint32_t slot,
                               const struct expected_entry *entry, bool done)
{
    int64_t batch = asked_for(commit, slot, MESSAGE_JOB);
    int64_t id = asked_for(commit, slot, MESSAGE_ACTIVITY);
    int node = (int)asked_for(commit, slot, MESSAGE_NODE) + 1;
    bool next = node == expected_of(commit)->entries;
    if (!next) {
        int64_t other = expected_pipeline_id(batch, node);
        next = is_there(commit, TABLE_ENTRY, other) ||
               pipeline_was_told(commit, other, (enum sweep_reason)(entry + 1)->stop) ||
               pipeline_was_told(commit, other, SWEEP_NO_PARENT) ||
               IS_ASKED(PHASE_MARK, other, MESSAGE_SOURCE, payload_for(commit, slot, 1, false), 0);
    }
    if (!done || is_other_load(commit, slot)) {
        return next;
    }
    return next &&
           (decisions_of(commit, id) > 0 || IS_ASKED(PHASE_REVIEW, id, MESSAGE_SPAWNED_BY, 0, 0)) &&
           (!entry->other_load || pipeline_was_told(commit, id, SWEEP_OTHER_LOAD) ||
            IS_ASKED(PHASE_MARK, id, MESSAGE_SOURCE, payload_for(commit, slot, 0, true), 0));
}

/* After a decision that stands: the re-review, with its rival; and if it approves, the CUT on it.
 */
static bool goes_on_after_review(const struct commit *commit, uint32_t slot,
                                 const struct expected_entry *entry)
{
    int64_t id = asked_for(commit, slot, MESSAGE_ACTIVITY);
    int64_t decision = asked_for(commit, slot, MESSAGE_GUID);
    int64_t n = asked_for(commit, slot, MESSAGE_ANSWER);
    int64_t flags = memory_get(&commit->judge, OF_MARK, id, JUDGE_MEMO_FLAGS);
    bool next = true;
    if (cell(commit, TABLE_REVIEW, decision, REVIEW_BY) != 0 ||
        (flags & MEMO_HANDED_ON(n % MADE_DIGIT)) != 0) {
        return true;
    }
    for (int64_t d = DECISION_APPROVE; d <= DECISION_REJECT; d++) {
        next = next && (!expected_pipeline_decides(entry, (int)n + 1, d) ||
                        IS_ASKED(PHASE_REVIEW, id, MESSAGE_SPAWNED_BY, decision, d));
    }
    return next && (cell(commit, TABLE_ENTRY, id, ENTRY_STATUS) != STATUS_APPROVED ||
                    IS_ASKED(PHASE_CUT, id, MESSAGE_SOURCE, decision, 0));
}

static bool goes_on(const struct commit *commit, uint32_t slot, bool done)
{
    const struct expected_entry *entry = entry_for(commit, slot);
    int64_t id = asked_for(commit, slot, MESSAGE_ACTIVITY);
    int64_t subject = asked_for(commit, slot, MESSAGE_GUID);
    int64_t phase = asked_for(commit, slot, MESSAGE_KIND);
    if (entry == NULL || (!done && phase != PHASE_MARK)) {
        return true;
    }
    switch (phase) {
    case PHASE_MARK:
        return goes_on_after_mark(commit, slot, entry, done);
    case PHASE_REVIEW:
        return goes_on_after_review(commit, slot, entry);
    case PHASE_CUT:
        return results_of(commit, id) > 0 || IS_ASKED(PHASE_VERIFY, id, MESSAGE_SOURCE, subject, 0);
    default:
        return cell(commit, TABLE_VERIFY, subject, VERIFY_OUTCOME) == VERIFIED_FAIL ||
               !says(commit, slot, MESSAGE_ANSWER, results_of(commit, id)) ||
               results_of(commit, id) == entry->verifies ||
               IS_ASKED(PHASE_VERIFY, id, MESSAGE_SPAWNED_BY, subject, 0);
    }
}

/* Another request for the same CUT waits, or will be made. The worker that acked this one may have
 * been stopped before the CUT, by a guard that did not hold yet; the other request brings about
 * what follows. Any other phase that is stopped is stopped for ever. */
static bool is_cut_again(const struct commit *commit, uint32_t slot)
{
    return says(commit, slot, MESSAGE_KIND, PHASE_CUT) &&
           is_cut_under_way(commit, asked_for(commit, slot, MESSAGE_ACTIVITY),
                            asked_for(commit, slot, MESSAGE_GUID),
                            asked_for(commit, slot, MESSAGE_SOURCE));
}

/* ---- one request ----------------------------------------------------------------------------- */

/* Of a phase that is for people nothing follows but the next MARK, whether it came about or not. */
static void expect_answer(struct commit *commit, uint32_t slot, bool there)
{
    const struct subject *row = &(struct subject){TABLE_MESSAGE, slot, 0};
    bool done = there && !pipeline_gives_up(commit, slot);
    if (expected_of(commit) == NULL) {
        return;
    }
    held(commit, CLAUSE_CUT_30);
    PHASE(!done || is_its_own(commit, slot), 30,
          "a request was answered with the row of another one");
    bool handed_on = goes_on(commit, slot, done);
    PHASE(handed_on || is_cut_again(commit, slot), 2,
          "a request was acked, and what follows from it was not asked for");
    if (done && handed_on && says(commit, slot, MESSAGE_KIND, PHASE_REVIEW)) {
        memory_flag(&commit->judge, OF_MARK, asked_for(commit, slot, MESSAGE_ACTIVITY),
                    MEMO_HANDED_ON(asked_for(commit, slot, MESSAGE_ANSWER) % MADE_DIGIT));
    }
}

/* A request was acked: another one than the first that found this row there is a replay that was
 * answered with it. */
void pipeline_judge_ack(struct commit *commit, uint32_t slot)
{
    static const struct {
        enum row_table table;
        int memory; /* -1: nothing is to be seen */
        enum oracle_cover point;
    } seen[PHASE_END] = {[PHASE_MARK] = {TABLE_ENTRY, OF_MARK, COVER_MARK_AGAIN},
                         [PHASE_REVIEW] = {TABLE_REVIEW, -1, COVER_COUNT},
                         [PHASE_CUT] = {TABLE_CHANGE_SET, OF_CUT, COVER_CUT_AGAIN},
                         [PHASE_VERIFY] = {TABLE_VERIFY, OF_VERIFY, COVER_VERIFY_AGAIN}};
    int64_t phase = asked_for(commit, slot, MESSAGE_KIND);
    int64_t id = asked_for(commit, slot, MESSAGE_GUID);
    if (phase < PHASE_MARK || phase > PHASE_VERIFY) {
        return;
    }
    bool done = is_there(commit, seen[phase].table, id);
    judge_answer(commit, slot, done);
    expect_answer(commit, slot, done);
    if (done && seen[phase].memory >= 0 && memory_flag(&commit->judge, seen[phase].memory, id, 1)) {
        judge_see(&commit->judge, seen[phase].point);
    }
}
