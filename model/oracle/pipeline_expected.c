/* Rows of the pipeline held against what the scenario asks for (expected_pipeline.h): at the commit
 * that brings them, and how every entry has ended.
 *
 * An entry is known by its idempotency key, everything else by the rows that it names: a decision's
 * number is how many the entry had before, and so is a verify result's. */
#include "model/oracle/mint.h"
#include "model/oracle/pipeline_commit.h"

#define MADE_REVIEW 1
#define MADE_VERIFY MADE_DIGIT

static const struct expected_entry *entry_of(const struct commit *commit, int node)
{
    return &expected_of(commit)->entry[node];
}

static void remember_made(struct commit *commit, int64_t entry, int64_t what)
{
    int64_t made = memory_get(&commit->judge, OF_MARK, entry, MEMO_MADE);
    memory_set(&commit->judge, OF_MARK, entry, MEMO_MADE, made + what);
}

static int64_t batch_of(const struct commit *commit, int64_t entry)
{
    return cell(commit, TABLE_ENTRY, entry, ENTRY_ABOUT);
}

/* ---- MARK ------------------------------------------------------------------------------------ */

/* The dependencies that came are those that the scenario names, in the same batch. */
static bool depends_rightly(const struct commit *commit, int64_t id, int64_t batch, int node)
{
    const struct expected_entry *entry = entry_of(commit, node);
    bool right = brought(commit, TABLE_DEPENDENCY, DEPENDENCY_FROM, id, -1, 0) == entry->needs;
    for (int i = 0; i < entry->needs; i++) {
        int64_t blocker = expected_pipeline_id(batch, entry->need[i]);
        right = right && brought(commit, TABLE_DEPENDENCY, DEPENDENCY_FROM, id, DEPENDENCY_TO,
                                 blocker) == expected_pipeline_needs(entry, entry->need[i]);
    }
    return right;
}

void pipeline_expect_mark(struct commit *commit, const struct subject *row)
{
    const struct expected_pipeline *expected = expected_of(commit);
    if (expected == NULL) {
        return;
    }
    int64_t batch = of(commit, row, ENTRY_ABOUT), key = of(commit, row, ENTRY_KEY);
    int node = expected_pipeline_node(expected, batch, key);
    held(commit, CLAUSE_CUT_30);
    PHASE(node >= 0 && row->key == expected_pipeline_id(batch, node), 30,
          "an entry was marked that nobody asked for");
    if (node < 0) {
        return;
    }
    memory_set(&commit->judge, OF_MARK, row->key, MEMO_NODE, node + 1);
    PHASE(expected->entry[node].stop == SWEEP_MARKED, 14,
          "an entry was marked whose request is for people");
    PHASE(of(commit, row, ENTRY_PAYLOAD) == expected_pipeline_payload(batch, node, false), 5,
          "an entry was marked with another payload than the one it was asked for with");
    PHASE(depends_rightly(commit, row->key, batch, node), 5,
          "an entry was marked with other dependencies than the ones it was asked for with");
}

/* A stop is of a request that the same commit acks. */
static uint32_t stopped_request(const struct commit *commit, const struct subject *row)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == TABLE_MESSAGE && change->kind == ROW_DELETED &&
            row_get(commit->rows, TABLE_MESSAGE, change->slot, MESSAGE_ACTIVITY) ==
                of(commit, row, SWEEP_LOG_ENTRY) &&
            row_get(commit->rows, TABLE_MESSAGE, change->slot, MESSAGE_KIND) ==
                of(commit, row, SWEEP_LOG_PHASE)) {
            return change->slot;
        }
    }
    return ROW_NONE;
}

bool pipeline_was_told(const struct commit *commit, int64_t entry, enum sweep_reason why)
{
    return (memory_get(&commit->judge, OF_MARK, entry, JUDGE_MEMO_FLAGS) & MEMO_TOLD(why)) != 0;
}

bool pipeline_lacks(const struct commit *commit, int64_t batch, const struct expected_entry *entry)
{
    bool lacks = false;
    for (int i = 0; i < entry->needs; i++) {
        int64_t blocker = expected_pipeline_id(batch, entry->need[i]);
        lacks = lacks || pipeline_was_told(commit, blocker, SWEEP_GIVEN_UP) ||
                pipeline_was_told(commit, blocker, SWEEP_NO_PARENT);
    }
    return lacks;
}

void pipeline_expect_stop(struct commit *commit, const struct subject *row)
{
    if (expected_of(commit) == NULL) {
        return;
    }
    uint32_t request = stopped_request(commit, row);
    int64_t why = of(commit, row, SWEEP_LOG_WHY);
    held(commit, CLAUSE_CUT_14);
    PHASE(request != ROW_NONE, 14, "people were told of a stop, and no request was acked with it");
    PHASE(request == ROW_NONE || pipeline_may_stop(commit, request, (enum sweep_reason)why), 14,
          "a request was handed to people without need, or for a wrong reason");
    memory_flag(&commit->judge, OF_MARK, of(commit, row, SWEEP_LOG_ENTRY), MEMO_TOLD(why));
}

/* ---- REVIEW, CUT ----------------------------------------------------------------------------- */

void pipeline_expect_review(struct commit *commit, const struct subject *row)
{
    int64_t entry = of(commit, row, REVIEW_ENTRY);
    int node = node_of(commit, entry);
    if (expected_of(commit) == NULL || node < 0) {
        return;
    }
    remember_made(commit, entry, MADE_REVIEW);
    held(commit, CLAUSE_CUT_30);
    PHASE(expected_pipeline_decides(entry_of(commit, node), decisions_of(commit, entry),
                                    of(commit, row, REVIEW_DECISION)),
          30, "a decision was made that nobody asked for");
    PHASE(brought(commit, TABLE_UNIT_BLOCK, UNIT_BLOCK_ENVELOPE, of(commit, row, REVIEW_MANIFEST),
                  -1, 0) == expected_pipeline_parts(node),
          6, "a manifest has another number of unit blocks than was asked for");
}

/* A part of a manifest or change set: it is numbered from 1, and its content is its own and that of
 * what it is of (scenarios/MEANING.md). */
static bool is_part(const struct commit *commit, const struct subject *row, int64_t entry,
                    int number, int hash, int64_t whose)
{
    int node = node_of(commit, entry);
    return node < 0 || (of(commit, row, number) <= expected_pipeline_parts(node) &&
                        of(commit, row, hash) == oracle_mint(row->key, whose));
}

void pipeline_expect_envelope(struct commit *commit, const struct subject *row)
{
    int64_t entry = of(commit, row, ENVELOPE_SCOPE);
    if (expected_of(commit) != NULL) {
        PHASE(of(commit, row, ENVELOPE_HASH) == oracle_mint(row->key, entry), 30,
              "a manifest has other content than was asked for");
    }
}

void pipeline_expect_unit(struct commit *commit, const struct subject *row)
{
    int64_t entry =
        cell(commit, TABLE_ENVELOPE, of(commit, row, UNIT_BLOCK_ENVELOPE), ENVELOPE_SCOPE);
    if (expected_of(commit) != NULL) {
        PHASE(is_part(commit, row, entry, UNIT_BLOCK_LOCAL, UNIT_BLOCK_HASH, entry), 30,
              "a unit block has another number or content than was asked for");
    }
}

void pipeline_expect_affected(struct commit *commit, const struct subject *row)
{
    int64_t set = of(commit, row, AFFECTED_ROW_SET);
    int64_t entry = cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_ENTRY);
    if (expected_of(commit) != NULL) {
        PHASE(is_part(commit, row, entry, AFFECTED_ROW_ROW, AFFECTED_ROW_HASH, set), 30,
              "an affected row has another number or content than was asked for");
    }
}

/* Whether all that the scenario says it needs is verified complete. */
static bool is_unblocked(const struct commit *commit, int64_t batch, int node)
{
    const struct expected_entry *entry = entry_of(commit, node);
    bool complete = true;
    for (int i = 0; complete && i < entry->needs; i++) {
        complete = cell(commit, TABLE_ENTRY, expected_pipeline_id(batch, entry->need[i]),
                        ENTRY_STATUS) == STATUS_COMPLETE;
    }
    return complete;
}

void pipeline_expect_cut(struct commit *commit, const struct subject *row)
{
    int64_t entry = of(commit, row, CHANGE_SET_ENTRY);
    int node = node_of(commit, entry);
    if (expected_of(commit) == NULL || node < 0) {
        return;
    }
    PHASE(is_unblocked(commit, batch_of(commit, entry), node), 8,
          "an entry was cut before all that the scenario says it needs was verified complete");
    PHASE(brought(commit, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET, row->key, -1, 0) ==
              expected_pipeline_parts(node),
          9, "a change set affects another number of rows than was asked for");
}

/* ---- VERIFY ---------------------------------------------------------------------------------- */

/* What was planned for a verify result: its number is how many there are before it, plus 1. */
static int64_t planned(const struct commit *commit, int64_t result)
{
    int64_t set = cell(commit, TABLE_VERIFY, result, VERIFY_SET);
    int node = node_of(commit, cell(commit, TABLE_CHANGE_SET, set, CHANGE_SET_ENTRY));
    int n = 0;
    while (result != 0 && n <= EXPECTED_VERIFIES) {
        result = cell(commit, TABLE_VERIFY, result, VERIFY_PRIOR);
        n++;
    }
    return node < 0 ? 0 : expected_pipeline_outcome(entry_of(commit, node), n);
}

/* Results that are not what was planned. */
static uint32_t unplanned(const struct commit *commit)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < commit->rows->table[TABLE_VERIFY].used; slot++) {
        count += row_get(commit->rows, TABLE_VERIFY, slot, VERIFY_OUTCOME) !=
                 planned(commit, row_key(commit->rows, TABLE_VERIFY, slot));
    }
    return count;
}

void pipeline_expect_verify(struct commit *commit, const struct subject *row)
{
    int64_t entry = cell(commit, TABLE_CHANGE_SET, of(commit, row, VERIFY_SET), CHANGE_SET_ENTRY);
    if (expected_of(commit) == NULL || node_of(commit, entry) < 0) {
        return;
    }
    int64_t plan = planned(commit, row->key);
    remember_made(commit, entry, MADE_VERIFY);
    held(commit, CLAUSE_CUT_30);
    PHASE(plan != 0, 30, "a change set was verified that nobody asked to be verified again");
    PHASE(of(commit, row, VERIFY_OUTCOME) == plan ||
              unplanned(commit) <= commit->judge.oracle->answers_changed,
          30, "a verify came to another outcome than its verifier found");
}

/* ---- the end --------------------------------------------------------------------------------- */

static void expect_told(struct commit *all, int64_t id, enum sweep_reason why)
{
    held(all, CLAUSE_CUT_14);
    if (!pipeline_was_told(all, id, why)) {
        judge_breach(&all->judge, ORACLE_PHASE, CLAUSE_CUT_14, TABLE_COUNT, ROW_NONE,
                     "a request is for people, and they were never told");
    }
}

/* People have it, or what it waits for: it ends wherever that was (E-CUT-21). */
static bool is_for_people(const struct commit *all, int64_t batch, int node)
{
    return pipeline_was_told(all, expected_pipeline_id(batch, node), SWEEP_GIVEN_UP) ||
           pipeline_lacks(all, batch, entry_of(all, node));
}

static void expect_entry_end(struct commit *all, int64_t batch, int node)
{
    const struct expected_entry *entry = entry_of(all, node);
    int64_t id = expected_pipeline_id(batch, node);
    uint32_t slot = row_find(all->rows, TABLE_ENTRY, id);
    if (is_for_people(all, batch, node)) {
        return;
    }
    if (entry->stop != SWEEP_MARKED) {
        expect_told(all, id, (enum sweep_reason)entry->stop);
        return;
    }
    held(all, CLAUSE_CUT_2);
    if (slot == ROW_NONE) {
        judge_breach(&all->judge, ORACLE_PHASE, CLAUSE_CUT_2, TABLE_COUNT, ROW_NONE,
                     "an entry was asked for and never marked");
        return;
    }
    struct pipeline_story story = {.status = row_get(all->rows, TABLE_ENTRY, slot, ENTRY_STATUS),
                                   .decisions = decisions_of(all, id),
                                   .results = results_of(all, id),
                                   .unblocked = is_unblocked(all, batch, node)};
    if (!expected_pipeline_ends(entry, &story)) {
        judge_breach(&all->judge, ORACLE_PHASE, CLAUSE_CUT_2, TABLE_ENTRY, slot,
                     "an entry did not come to an end that its reviews, blockers and verifies "
                     "allow");
    }
    if (entry->other_load) {
        expect_told(all, id, SWEEP_OTHER_LOAD);
    }
}

void pipeline_expect_end(struct commit *all)
{
    const struct expected_pipeline *expected = expected_of(all);
    for (int64_t batch = 0; expected != NULL && batch < expected->batches; batch++) {
        for (int node = 0; node < expected->entries; node++) {
            expect_entry_end(all, batch, node);
        }
    }
}
