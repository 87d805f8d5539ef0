/* What a search comes to: its verdict, the terminal states that it met, and whether every state can
 * reach quiescence. */
#include "sim/explore_inside.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a search comes to ------------------------------------------------------------------ */

void explore_finish_as(struct explore *explore, enum explore_verdict verdict, const char *why)
{
    explore_lock(explore);
    if (explore->report.verdict == EXPLORE_HELD) {
        explore->report.verdict = verdict;
        explore->report.why = why;
    }
    explore_unlock(explore);
    atomic_store(&explore->stop, true);
}

/* Copies the walk's path into the report. */
static void keep_path(struct explorer *explorer)
{
    struct explore_report *report = &explorer->explore->report;
    size_t length = explorer->walk.depth;
    free(report->path);
    report->path = malloc((length + 1) * sizeof *report->path);
    CHECK(report->path != NULL);
    for (size_t d = 0; d < length; d++) {
        report->path[d] = explorer->walk.records[d].move;
    }
    report->path_length = length;
}

/* The last move breaks a promise. */
void explore_found(struct explorer *explorer)
{
    struct explore *explore = explorer->explore;
    if (explorer->walk.run.result.verdict == RUN_STORE_FULL) {
        explore_finish_as(explore, EXPLORE_BOUNDED, "the simulated store was full");
        return;
    }
    explore_lock(explore);
    if (explore->report.verdict == EXPLORE_HELD) {
        explore->report.verdict = EXPLORE_BROKEN;
        explore->report.result = explorer->walk.run.result;
        explore->report.result.steps = explorer->walk.depth;
        keep_path(explorer);
    }
    explore_unlock(explore);
    atomic_store(&explore->stop, true);
}

void explore_reached(struct explorer *explorer)
{
    explore_finish_as(explorer->explore, EXPLORE_STUCK, NULL);
    keep_path(explorer);
}

bool explore_stopped(const struct explore *explore)
{
    return atomic_load_explicit(&explore->stop, memory_order_relaxed);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The index of a set of reductions; that of workers does not concern rows. */
static unsigned ends_set(unsigned reductions)
{
    return (reductions & (REDUCE_SIBLINGS | REDUCE_COUNTERS)) / REDUCE_SIBLINGS;
}

const struct explore_ends *explore_ends_as(const struct explore_report *report, unsigned reductions)
{
    return &report->ends[ends_set(reductions)];
}

static void note_end_in(struct ends *ends, uint64_t end)
{
    size_t at = (size_t)end & (ENDS_MAX - 1);
    while (ends->seen[at] != 0 && ends->seen[at] != end) {
        at = (at + 1) & (ENDS_MAX - 1);
    }
    if (ends->seen[at] == end) {
        return;
    }
    if (ends->told.count == EXPLORE_ENDS_MAX) {
        ends->told.more = true;
        return;
    }
    ends->seen[at] = end;
    ends->told.count++;
    ends->told.sum += end;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

size_t explore_ends_list(const struct explore *explore, unsigned reductions, uint64_t *list)
{
    const struct ends *ends = &explore->ends[ends_set(reductions)];
    size_t count = 0;
    for (size_t i = 0; i < ENDS_MAX; i++) {
        if (ends->seen[i] != 0) {
            list[count++] = ends->seen[i];
        }
    }
    qsort(list, count, sizeof *list, by_value);
    return count;
}

void explore_note_end(struct explorer *explorer)
{
    struct explore *explore = explorer->explore;
    for (unsigned set = 0; set < EXPLORE_ENDS_SETS; set++) {
        uint64_t end = fingerprint_rows(&explorer->ends[set]);
        explore_lock(explore);
        note_end_in(&explore->ends[set], end);
        explore_unlock(explore);
    }
}

/* ---- notes on liveness ----------------------------------------------------------------------- */

/* False: no memory. */
static bool grow(struct words *words, struct explore_budget *budget)
{
    size_t capacity = words->capacity == 0 ? 1024 : 2 * words->capacity;
    size_t more = (capacity - words->capacity) * sizeof *words->items;
    if (!explore_budget_take(budget, more)) {
        return false;
    }
    uint64_t *items = realloc(words->items, capacity * sizeof *items);
    if (items == NULL) {
        explore_budget_give(budget, more);
        return false;
    }
    words->items = items;
    words->capacity = capacity;
    return true;
}

void explore_note_unrested(struct explorer *explorer, uint64_t state, const uint64_t *successors,
                           size_t count)
{
    struct words *notes = &explorer->notes;
    while (notes->count + 2 + count > notes->capacity) {
        if (!grow(notes, &explorer->explore->budget)) {
            explore_finish_as(explorer->explore, EXPLORE_BOUNDED, NO_MEMORY);
            return;
        }
    }
    notes->items[notes->count++] = count;
    notes->items[notes->count++] = state;
    for (size_t i = 0; i < count; i++) {
        notes->items[notes->count++] = successors[i];
    }
}

/* One pass of the fixed point over a thread's notes; true: something changed. */
static bool settle_notes(struct explore *explore, struct words *notes)
{
    size_t kept = 0, at = 0;
    while (at < notes->count) {
        size_t count = notes->items[at], size = 2 + count;
        bool rests = visited_rests(&explore->visited, notes->items[at + 1]);
        for (size_t i = 0; i < count && !rests; i++) {
            rests = visited_rests(&explore->visited, notes->items[at + 2 + i]);
        }
        if (rests) {
            visited_set_rests(&explore->visited, notes->items[at + 1]);
        } else {
            memmove(&notes->items[kept], &notes->items[at], size * sizeof *notes->items);
            kept += size;
        }
        at += size;
    }
    bool changed = kept < notes->count;
    notes->count = kept;
    return changed;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void explore_add_up(struct explore *explore)
{
    struct explore_report *report = &explore->report;
    report->states = visited_count(&explore->visited);
    report->bytes = visited_bytes(&explore->visited) + explore->way_bytes;
    for (unsigned set = 0; set < EXPLORE_ENDS_SETS; set++) {
        report->ends[set] = explore->ends[set].told;
    }
    for (unsigned j = 0; j < explore->plan.jobs; j++) {
        const struct explorer *explorer = &explore->explorers[j];
        report->transitions += explorer->transitions;
        report->bytes += explorer->notes.capacity * sizeof *explorer->notes.items;
        for (int c = 0; c < CLAUSE_COUNT; c++) {
            report->evaluated[c] += explorer->walk.run.oracle.evaluated[c];
        }
        for (int s = 0; s < COVER_COUNT; s++) {
            report->seen[s] += explorer->walk.run.oracle.seen[s];
        }
        report->rests += explorer->rests;
        report->spoiled += explorer->walk.spoiled;
        for (size_t i = 0; i < sizeof report->sent; i++) {
            (&report->sent[0][0])[i] |= (&explorer->walk.sent[0][0])[i];
        }
        report->deepest = explorer->deepest > report->deepest ? explorer->deepest : report->deepest;
    }
}

/* Computes the fixed point of the notes. True: some states cannot reach quiescence. */
static bool some_cannot_rest(struct explore *explore)
{
    bool changed = true, some = false;
    while (changed) {
        changed = some = false;
        for (unsigned j = 0; j < explore->plan.jobs; j++) {
            struct words *notes = &explore->explorers[j].notes;
            changed = settle_notes(explore, notes) || changed;
            some = some || notes->count > 0;
        }
    }
    return some;
}

void explore_check(const struct explore *explore)
{
    bool held = explore->report.verdict == EXPLORE_HELD;
    CHECK(!held || explore->item_count == 0);  /* XP1 */
    CHECK(!held || !explore_stopped(explore)); /* XP1 */
    CHECK(explore->report.verdict != EXPLORE_BOUNDED || explore->report.why != NULL);
}

const struct explore_report *explore_finish(struct explore *explore)
{
    explore_add_up(explore);
    visited_check(&explore->visited);
    explore_check(explore);
    if (explore->report.verdict == EXPLORE_HELD && some_cannot_rest(explore)) {
        explore->report.verdict = EXPLORE_STUCK;
        for (unsigned j = 0; j < explore->plan.jobs && explore->report.stuck == 0; j++) {
            const struct words *notes = &explore->explorers[j].notes;
            explore->report.stuck = notes->count > 0 ? notes->items[1] : 0;
        }
    }
    return &explore->report;
}
