/* Phases that are out of tries, and the sweep (CUT-12, E-CUT-16, E-CUT-21): a request that was stopped
 * stands still until a pass, each pass is one row of the log, and after as many passes as the
 * scenario allows it is for people.
 *
 * All of it is counted from the rows of the log as they came, each of which says which request it is
 * about. That a phase was tried as often as its stop says is seen by the store (seen_pipeline.c). */
#include "model/oracle/pipeline_commit.h"

/* Rows of the log about a request. */
static int noted(const struct commit *commit, int64_t request, enum sweep_reason why)
{
    return stored(commit, TABLE_SWEEP_LOG, SWEEP_LOG_REQUEST, request, SWEEP_LOG_WHY, why);
}

/* Where the request is, or was until this commit; ROW_NONE: nowhere. */
static uint32_t place_of(const struct commit *commit, int64_t request)
{
    uint32_t slot = row_find(commit->rows, TABLE_MESSAGE, request);
    for (size_t i = 0; slot == ROW_NONE && i < commit->count; i++) {
        const struct row_change *change = &commit->changes[i];
        if (change->table == TABLE_MESSAGE && change->kind == ROW_DELETED &&
            row_key(commit->rows, TABLE_MESSAGE, change->slot) == request) {
            slot = change->slot;
        }
    }
    return slot;
}

/* Whether it stands still: it was stopped, and no sweep has passed since. Of one that is asked for
 * anew under its old id, which has another slot, nothing is remembered. */
static bool stands(const struct commit *commit, uint32_t slot)
{
    return slot != ROW_NONE &&
           memory_get(&commit->judge, OF_CLAIM, (int64_t)slot + 1, MEMO_STANDS) != 0;
}

static void set_standing(struct commit *commit, uint32_t slot, bool standing)
{
    if (slot != ROW_NONE) {
        memory_set(&commit->judge, OF_CLAIM, (int64_t)slot + 1, MEMO_STANDS, standing);
    }
}

/* Stops of this phase of the entry, whichever copy of the request they were of. */
static int stops_of_phase(const struct commit *commit, int64_t entry, int64_t phase)
{
    const struct rows *rows = commit->rows;
    int stops = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_SWEEP_LOG].used; slot++) {
        stops += row_get(rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_ENTRY) == entry &&
                 row_get(rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_PHASE) == phase &&
                 row_get(rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_WHY) == SWEEP_EXHAUSTED;
    }
    return stops;
}

static bool brought_note(const struct commit *commit, int64_t request, enum sweep_reason why)
{
    return brought(commit, TABLE_SWEEP_LOG, SWEEP_LOG_REQUEST, request, SWEEP_LOG_WHY, why) > 0;
}

bool pipeline_gives_up(const struct commit *commit, uint32_t message)
{
    return brought_note(commit, row_key(commit->rows, TABLE_MESSAGE, message), SWEEP_GIVEN_UP);
}

/* ---- the queue ------------------------------------------------------------------------------- */

void pipeline_judge_claim(struct commit *commit, uint32_t slot)
{
    const struct subject *row = &(struct subject){TABLE_MESSAGE, slot, 0};
    if (noted(commit, row_key(commit->rows, TABLE_MESSAGE, slot), SWEEP_EXHAUSTED) > 0) {
        held(commit, CLAUSE_CUT_12);
        PHASE(!stands(commit, slot), 12,
              "a request that stands still was claimed, and no sweep had passed");
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

/* A phase was stopped: its request is there still, and stood not still before. */
static void judge_stop(struct commit *commit, const struct subject *row, int64_t request)
{
    uint32_t slot = place_of(commit, request);
    PHASE(is_there(commit, TABLE_MESSAGE, request), 12,
          "a phase was stopped, and its request is gone");
    PHASE(!stands(commit, slot), 12, "a phase was stopped that stood still already");
    set_standing(commit, slot, true);
    judge_see(&commit->judge, COVER_EXHAUSTED);
}

/* ... and is asked for again, which may be only so often. */
static void judge_again(struct commit *commit, const struct subject *row, int64_t request)
{
    const struct expected_pipeline *expected = expected_of(commit);
    uint32_t slot = place_of(commit, request);
    PHASE(stands(commit, slot), 12, "a sweep passed over a phase that does not stand");
    set_standing(commit, slot, false);
    PHASE(expected == NULL || noted(commit, request, SWEEP_AGAIN) < expected->passes, 12,
          "a sweep asks for a phase again without bound");
    judge_see(&commit->judge, COVER_SWEPT);
}

/* ... and is for people, once a sweep has passed so often, and not before. */
static void judge_given_up(struct commit *commit, const struct subject *row, int64_t request)
{
    const struct expected_pipeline *expected = expected_of(commit);
    int64_t entry = of(commit, row, SWEEP_LOG_ENTRY);
    PHASE(stands(commit, place_of(commit, request)), 12,
          "a sweep passed over a phase that does not stand");
    PHASE(!is_there(commit, TABLE_MESSAGE, request), 12,
          "a request is for people, and can be claimed all the same");
    PHASE(expected == NULL ||
              stops_of_phase(commit, entry, of(commit, row, SWEEP_LOG_PHASE)) >= expected->passes,
          12, "a sweep handed a phase to people before it had passed as often as it may");
    memory_flag(&commit->judge, OF_MARK, entry, MEMO_TOLD(SWEEP_GIVEN_UP));
    judge_see(&commit->judge, COVER_GIVEN_UP);
}

void pipeline_judge_pass(struct commit *commit, const struct subject *row)
{
    int64_t request = of(commit, row, SWEEP_LOG_REQUEST);
    held(commit, CLAUSE_CUT_12);
    switch (of(commit, row, SWEEP_LOG_WHY)) {
    case SWEEP_EXHAUSTED:
        judge_stop(commit, row, request);
        break;
    case SWEEP_AGAIN:
        judge_again(commit, row, request);
        break;
    default:
        judge_given_up(commit, row, request);
    }
}
