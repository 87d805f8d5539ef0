/* Requests of the pipeline: whether one that is acked was answered. */
#include "model/oracle/pipeline_commit.h"

/* A message that was acked. */
static int64_t asked_for(const struct commit *commit, uint32_t slot, int column)
{
    return row_get(commit->rows, TABLE_MESSAGE, slot, column);
}

/* Stops of this phase of an entry that people were told of. */
static int notes_for_people(const struct commit *commit, int64_t entry, int64_t phase)
{
    int notes = 0;
    for (uint32_t slot = 0; slot < commit->rows->table[TABLE_SWEEP_LOG].used; slot++) {
        int64_t why = row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_WHY);
        notes += row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_ENTRY) == entry &&
                 row_get(commit->rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_PHASE) == phase &&
                 why != SWEEP_MARKED && why != SWEEP_EXHAUSTED;
    }
    return notes;
}

/* Whoever made the last thing that a CUT waited for asks for it anew, and has not done so yet. */
static bool is_cut_under_way(const struct commit *commit, int64_t entry, int64_t set,
                             int64_t decision)
{
    const struct rows *rows = commit->rows;
    bool asks = asked(commit, PHASE_CUT, MESSAGE_GUID, set) > 0 ||
                asked(commit, PHASE_REVIEW, MESSAGE_GUID, decision) > 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_DEPENDENCY].used; slot++) {
        asks = asks || (row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_FROM) == entry &&
                        asked(commit, PHASE_VERIFY, MESSAGE_ACTIVITY,
                              row_get(rows, TABLE_DEPENDENCY, slot, DEPENDENCY_TO)) > 0);
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
    bool told = notes_for_people(commit, entry, phase) > 0;
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

/* A request was acked: another one than the first that found this row there is a replay that was
 * answered with it. */
void pipeline_judge_ack(struct commit *commit, uint32_t slot)
{
    static const struct {
        enum row_table table;
        int memory; /* -1: nothing is to be seen */
        enum oracle_sighting sighting;
    } seen[PHASE_END] = {[PHASE_MARK] = {TABLE_ENTRY, OF_MARK, SIGHT_MARK_AGAIN},
                         [PHASE_REVIEW] = {TABLE_REVIEW, -1, SIGHT_COUNT},
                         [PHASE_CUT] = {TABLE_CHANGE_SET, OF_CUT, SIGHT_CUT_AGAIN},
                         [PHASE_VERIFY] = {TABLE_VERIFY, OF_VERIFY, SIGHT_VERIFY_AGAIN}};
    int64_t phase = asked_for(commit, slot, MESSAGE_KIND);
    int64_t id = asked_for(commit, slot, MESSAGE_GUID);
    if (phase < PHASE_MARK || phase > PHASE_VERIFY) {
        return;
    }
    bool done = is_there(commit, seen[phase].table, id);
    judge_answer(commit, slot, done);
    if (done && seen[phase].memory >= 0 && memory_flag(&commit->judge, seen[phase].memory, id, 1)) {
        judge_see(&commit->judge, seen[phase].sighting);
    }
}
