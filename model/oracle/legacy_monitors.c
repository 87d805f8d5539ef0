/* The monitors of the earlier ledger: every move of an integer (oracle/legacy.h), what was saved
 * and published beside it, and, once all has settled, that nothing was forgotten.
 *
 * LEG-6 and LEG-7 are weaknesses that the design is known to have: they are reported when they
 * show. How each is recognised in rows:
 *
 *      LEG-3   a Leg1 that ran again over what another run had left, or ended more often than it
 *              was entered, or published what was not missing; settled: one that never ended, or
 *              ended without its messages
 *      LEG-4   an undo that nobody owes; more exits than entries; settled: Leg2 not closed
 *      LEG-5   a field ran over; a call given up that the digits had room for
 *      LEG-6   a second child of one parent and one node is published: each edge of a graph belongs
 *              to one answer, so one answer's message was worked on twice
 *      LEG-7   settled: an entry that was counted after success is still counted
 *      LEG-9   a message before its integer; an integer set back; settled: one without a message
 *      LEG-10  an entry number given twice, or another claim's data under the same number
 *      LEG-12  data that were saved and not counted (SAVED_RUNS)
 *      LEG-11  Leg1 saved its result and the journal has no work; or work is in it twice for one
 *              claim, or for none
 *
 * What the scenario's text asks for, LEG-12 and more, is in legacy_expected.h. */
#include "model/oracle/legacy.h"
#include "model/oracle/legacy_expected.h"
#include "model/oracle/seen.h"

static bool is_open(struct legacy_cut of)
{
    return of.leg2_exit == 9;
}

static bool is_full(struct legacy_cut of)
{
    return of.leg1_entry == 0 || of.entries == 999999;
}

/* There is room for every integer and for every activity that only a message speaks of. */
static struct judge begin(struct oracle *oracle, const struct rows *rows)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    size_t messages = rows->table[TABLE_MESSAGE].index_mask;
    size_t integers = rows->table[TABLE_LEGACY].index_mask;
    size_t mask = messages > integers ? messages : integers;
    size_t base = judge_remember(&judge, MEMORY_ACTIVITY, 0, 2 * mask + 1);
    judge_remember(&judge, MEMORY_CLAIM, base, messages);
    return judge;
}

static size_t cells(const struct rows *rows)
{
    struct judge judge = begin(NULL, rows);
    return judge_cells(&judge, MEMORY_CLAIM);
}

static int memory_of(const struct rows *rows, size_t cell)
{
    struct judge judge = begin(NULL, rows);
    return judge_memory_of(&judge, MEMORY_CLAIM, cell);
}

/* ---- moves of an integer --------------------------------------------------------------------- */

static void moved_leg1(struct judge *judge, uint32_t slot, struct legacy_cut old,
                       struct legacy_cut new)
{
    int64_t activity = row_key(judge->rows, TABLE_LEGACY, slot);
    if (new.leg1_exit < old.leg1_exit) {
        judge_held(judge, CLAUSE_LEG_3);
    }
    if (new.leg1_exit < new.leg1_entry) {
        legacy_breach(judge, CLAUSE_LEG_3, TABLE_LEGACY, slot,
                      "Leg1 ended more often than it began");
    }
    if (new.leg1_entry < old.leg1_entry &&new.leg1_exit < 9) {
        judge_see(judge, COVER_LEGACY_HAD_ENDED);
        memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_ENDED_BEFORE);
    }
    if (new.leg1_exit < old.leg1_exit && old.leg1_exit == 9 && new.leg1_entry < 8) {
        judge_see(judge, COVER_LEGACY_RAN_AGAIN);
    }
}

/* An entry while Leg2 is open has a number of its own; one after it was closed owes an undo. */
static void moved_entries(struct judge *judge, uint32_t slot, struct legacy_cut old,
                          struct legacy_cut new)
{
    int64_t activity = row_key(judge->rows, TABLE_LEGACY, slot);
    int64_t late = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_LATE);
    if (new.entries > old.entries && is_open(old)) {
        judge_held(judge, CLAUSE_LEG_10);
        if (new.entries <= memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_NUMBER)) {
            legacy_breach(judge, CLAUSE_LEG_10, TABLE_LEGACY, slot,
                          "a number of a Leg2 entry was given a second time");
        }
        memory_set(judge, MEMORY_ACTIVITY, activity, MEMO_NUMBER, new.entries);
    } else if (new.entries > old.entries) {
        judge_held(judge, CLAUSE_LEG_4);
        judge_held(judge, CLAUSE_LEG_7);
        memory_set(judge, MEMORY_ACTIVITY, activity, MEMO_LATE, late + 1);
    } else if (new.entries < old.entries) {
        judge_see(judge, COVER_LEGACY_TURNED_AWAY);
        memory_set(judge, MEMORY_ACTIVITY, activity, MEMO_LATE, late - 1);
        if (late <= 0) {
            legacy_breach(judge, CLAUSE_LEG_4, TABLE_LEGACY, slot,
                          "an entry was undone that no call after success had made");
        }
    }
}

static void moved_exits(struct judge *judge, uint32_t slot, struct legacy_cut old,
                        struct legacy_cut new)
{
    if (new.exits <= old.exits) {
        return;
    }
    judge_held(judge, CLAUSE_LEG_4);
    if (new.leg2_exit == old.leg2_exit && is_open(new)) {
        judge_see(judge, COVER_LEGACY_PENDING);
    }
    if (new.exits > new.entries) {
        legacy_breach(judge, CLAUSE_LEG_4, TABLE_LEGACY, slot,
                      "Leg2 was left more often than entered");
    }
}

static void moved(struct judge *judge, uint32_t slot, int64_t before)
{
    int64_t after = row_get(judge->rows, TABLE_LEGACY, slot, LEGACY_LEDGER);
    struct legacy_cut old = legacy_cut_of(before), new = legacy_cut_of(after);
    struct oracle_verdict verdict = oracle_legacy_move(before, after);
    judge_held(judge, CLAUSE_LEG_1);
    judge_held(judge, CLAUSE_LEG_8);
    if (is_full(old) || is_full(new)) {
        judge_held(judge, CLAUSE_LEG_5);
    }
    if (after == LEGACY_START && before != LEGACY_START) {
        legacy_breach(judge, CLAUSE_LEG_9, TABLE_LEGACY, slot,
                      "an integer that was there was set back to its start");
    }
    if (verdict.broken) {
        legacy_breach(judge, verdict.clause, TABLE_LEGACY, slot, verdict.why);
    }
    moved_leg1(judge, slot, old, new);
    moved_entries(judge, slot, old, new);
    moved_exits(judge, slot, old, new);
}

static void judge_integer(struct judge *judge, const struct row_change *change)
{
    if (change->kind == ROW_UPDATED) {
        if (change->column == LEGACY_LEDGER) {
            moved(judge, change->slot, change->before);
        }
        return;
    }
    judge_held(judge, CLAUSE_LEG_9);
    judge_held(judge, CLAUSE_LEG_1);
    if (change->kind == ROW_DELETED) {
        legacy_breach(judge, CLAUSE_LEG_9, TABLE_LEGACY, change->slot, "an integer was taken away");
    } else if (row_get(judge->rows, TABLE_LEGACY, change->slot, LEGACY_LEDGER) != LEGACY_START) {
        legacy_breach(judge, CLAUSE_LEG_1, TABLE_LEGACY, change->slot,
                      "an integer did not start at 999000000000000");
    }
}

/* ---- what is saved --------------------------------------------------------------------------- */

static bool has_child(const struct rows *rows, int64_t parent, int64_t dimension)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_LEGACY].used; slot++) {
        if (row_get(rows, TABLE_LEGACY, slot, LEGACY_PARENT) == parent &&
            row_get(rows, TABLE_LEGACY, slot, LEGACY_DIMENSION) == dimension) {
            return true;
        }
    }
    return false;
}

/* Leg1's: it is cleaned up before Leg1 runs again. */
static void judge_leg1_state(struct judge *judge, const struct row_change *change, int64_t now)
{
    int64_t activity = row_get(judge->rows, TABLE_SAVED, change->slot, SAVED_ACTIVITY);
    int64_t past = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_FLAGS);
    if (change->kind == ROW_INSERTED) {
        judge_that(judge, (past & PAST_WORKED) != 0, ORACLE_JOURNAL, CLAUSE_LEG_11, TABLE_SAVED,
                   change->slot, "a Leg1 saved what came of work that nobody had done");
    }
    if (change->kind != ROW_UPDATED) {
        return;
    }
    if (change->column == SAVED_PUBLISHED && now == 1 && (past & PAST_ENDED_BEFORE) != 0) {
        judge_see(judge, COVER_LEGACY_PUBLISHED_MISSING);
    }
    if (change->column == SAVED_BY && now != change->before) {
        legacy_breach(judge, CLAUSE_LEG_3, TABLE_SAVED, change->slot,
                      "a Leg1 ran over what another run of it had left, which was not cleaned up");
    }
}

/* A Leg2 entry's: it stays, and belongs to that entry. */
static void judge_leg2_state(struct judge *judge, const struct row_change *change, int64_t now)
{
    const struct rows *rows = judge->rows;
    int64_t activity = row_get(rows, TABLE_SAVED, change->slot, SAVED_ACTIVITY);
    int64_t dimension = row_get(rows, TABLE_SAVED, change->slot, SAVED_DIMENSION);
    bool updated = change->kind == ROW_UPDATED;
    judge_held(judge, CLAUSE_LEG_10);
    if (change->kind == ROW_DELETED ||
        (updated && change->column == SAVED_BY && now != change->before)) {
        legacy_breach(judge, CLAUSE_LEG_10, TABLE_SAVED, change->slot,
                      "the data of a Leg2 entry were written over by another entry");
    }
    if (updated && change->column == SAVED_RUNS && now > 1 &&
        has_child(rows, activity, dimension)) {
        judge_see(judge, COVER_LEGACY_SAVED_AGAIN);
    }
}

static void judge_state(struct judge *judge, const struct row_change *change)
{
    bool leg1 = row_get(judge->rows, TABLE_SAVED, change->slot, SAVED_DIMENSION) == 0;
    int64_t now = change->kind == ROW_UPDATED
                      ? row_get(judge->rows, TABLE_SAVED, change->slot, change->column)
                      : 0;
    (leg1 ? judge_leg1_state : judge_leg2_state)(judge, change, now);
    if (change->kind == ROW_INSERTED) { /* what is told of a replay rests on it (LEG-9) */
        judge_held(judge, CLAUSE_LEG_12);
        if (row_get(judge->rows, TABLE_SAVED, change->slot, SAVED_RUNS) != 1) {
            legacy_breach(judge, CLAUSE_LEG_12, TABLE_SAVED, change->slot,
                          "data were saved, and not counted as saved once");
        }
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Another activity of the same parent and node whose message is out. */
static bool has_twin(const struct judge *judge, uint32_t slot)
{
    const struct rows *rows = judge->rows;
    int64_t parent = row_get(rows, TABLE_LEGACY, slot, LEGACY_PARENT);
    int64_t node = row_get(rows, TABLE_LEGACY, slot, LEGACY_NODE);
    for (uint32_t other = 0; other < rows->table[TABLE_LEGACY].used; other++) {
        if (row_get(rows, TABLE_LEGACY, other, LEGACY_PARENT) == parent && other != slot &&
            row_get(rows, TABLE_LEGACY, other, LEGACY_NODE) == node &&
            (memory_get(judge, MEMORY_ACTIVITY, row_key(rows, TABLE_LEGACY, other), MEMO_FLAGS) &
             PAST_PUBLISHED) != 0) {
            return true;
        }
    }
    return false;
}

static void published_leg1(struct judge *judge, uint32_t message, int64_t activity)
{
    uint32_t slot = row_find(judge->rows, TABLE_LEGACY, activity);
    judge_held(judge, CLAUSE_LEG_9);
    if (slot == ROW_NONE) {
        legacy_breach(judge, CLAUSE_LEG_9, TABLE_MESSAGE, message,
                      "a child's message was published before its integer was saved");
        return;
    }
    if (row_get(judge->rows, TABLE_LEGACY, slot, LEGACY_PARENT) != 0) {
        judge_held(judge, CLAUSE_LEG_6);
        if (has_twin(judge, slot)) {
            legacy_breach(judge, CLAUSE_LEG_6, TABLE_LEGACY, slot,
                          "a Leg2 message was not recognised when it came again, and its child was "
                          "spawned a second time");
        }
    }
    if (memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_PUBLISHED)) {
        memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_COPIED);
    }
}

static void judge_message(struct judge *judge, const struct row_change *change)
{
    if (change->kind != ROW_INSERTED) {
        return;
    }
    int64_t activity = row_get(judge->rows, TABLE_MESSAGE, change->slot, MESSAGE_ACTIVITY);
    if (row_get(judge->rows, TABLE_MESSAGE, change->slot, MESSAGE_KIND) == MESSAGE_LEG1) {
        published_leg1(judge, change->slot, activity);
    } else {
        memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_ANSWERED);
    }
}

/* The message that was given up: acked by the same commit, or still there. */
static uint32_t given_up(const struct rows *rows, int64_t message, const struct row_change *changes,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].table == TABLE_MESSAGE && changes[i].kind == ROW_DELETED &&
            row_key(rows, TABLE_MESSAGE, changes[i].slot) == message) {
            return changes[i].slot;
        }
    }
    return row_find(rows, TABLE_MESSAGE, message);
}

/* Only at a ceiling (LEG-5): of digit 1, or of the Leg2 entries. */
static void judge_escalation(struct judge *judge, uint32_t escalation,
                             const struct row_change *changes, size_t count)
{
    const struct rows *rows = judge->rows;
    int64_t key = row_get(rows, TABLE_ESCALATION, escalation, ESCALATION_MESSAGE);
    uint32_t message = given_up(rows, key, changes, count);
    judge_held(judge, CLAUSE_LEG_5);
    if (message == ROW_NONE) {
        legacy_breach(judge, CLAUSE_LEG_5, TABLE_ESCALATION, escalation,
                      "a message was given up that is not there");
        return;
    }
    int64_t activity = row_get(rows, TABLE_MESSAGE, message, MESSAGE_ACTIVITY);
    struct legacy_cut of = legacy_cut_of(judge_column(rows, TABLE_LEGACY, activity, LEGACY_LEDGER));
    bool leg1 = row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND) == MESSAGE_LEG1;
    if (leg1 ? of.leg1_entry != 0 : of.entries != 999999) {
        legacy_breach(judge, CLAUSE_LEG_5, TABLE_MESSAGE, message,
                      "a call was refused although its digits had room");
    }
    memory_flag(judge, MEMORY_ACTIVITY, activity, PAST_GIVEN_UP);
    legacy_expected_escalation(judge, escalation, message);
}

/* ---- a commit -------------------------------------------------------------------------------- */

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct judge judge = begin(oracle, rows);
    for (size_t i = 0; i < count; i++) {
        switch (changes[i].table) {
        case TABLE_LEGACY:
            judge_integer(&judge, &changes[i]);
            break;
        case TABLE_SAVED:
            judge_state(&judge, &changes[i]);
            break;
        case TABLE_MESSAGE:
            judge_message(&judge, &changes[i]);
            break;
        default:
            judge_escalation(&judge, changes[i].slot, changes, count);
        }
    }
    legacy_expected_commit(&judge, changes, count);
    return judge.verdict;
}

/* A worker did the work of a Leg1 (LEG-11). */
static struct oracle_verdict effect(struct oracle *oracle, const struct rows *rows,
                                    const struct side_effect *effect)
{
    struct judge judge = begin(oracle, rows);
    uint32_t slot = judge_claimed(&judge, MEMORY_CLAIM, effect, CLAUSE_LEG_11);
    if (slot == ROW_NONE) {
        return judge.verdict;
    }
    if (row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) != MESSAGE_LEG1 ||
        row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY) != effect->what) {
        judge_breach(&judge, ORACLE_JOURNAL, CLAUSE_LEG_11, TABLE_MESSAGE, slot,
                     "the work of another activity was done than of the one that was claimed");
    }
    memory_flag(&judge, MEMORY_ACTIVITY, effect->what, PAST_WORKED);
    return judge.verdict;
}

/* ---- once all has settled -------------------------------------------------------------------- */

static void settled_activity(struct judge *judge, uint32_t slot)
{
    int64_t activity = row_key(judge->rows, TABLE_LEGACY, slot);
    int64_t past = memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_FLAGS);
    struct legacy_cut of = legacy_cut_of(row_get(judge->rows, TABLE_LEGACY, slot, LEGACY_LEDGER));
    bool published = (past & PAST_PUBLISHED) != 0;
    bool expected = published && (past & PAST_GIVEN_UP) == 0;
    bool ended = of.leg1_exit < 9, answered = (past & PAST_ANSWERED) != 0;
    const struct oracle_verdict promises[] = {
        {!published, CLAUSE_LEG_9, "a child's integer was saved and its message never published"},
        {expected && !ended, CLAUSE_LEG_3, "a Leg1 was published and never ended"},
        {expected && ended && !answered, CLAUSE_LEG_3,
         "a Leg1 ended and what follows from it was never published"},
        {expected && answered && is_open(of), CLAUSE_LEG_4,
         "a success came and Leg2 was never closed"},
        {memory_get(judge, MEMORY_ACTIVITY, activity, MEMO_LATE) > 0, CLAUSE_LEG_7,
         "a call after success was counted and never undone, so that entries and exits are apart"},
    };
    struct oracle_verdict verdict = oracle_first_broken(promises, ORACLE_COUNT(promises));
    judge_held(judge, CLAUSE_LEG_9);
    judge_held(judge, CLAUSE_LEG_3);
    judge_held(judge, CLAUSE_LEG_4);
    if (verdict.broken) {
        legacy_breach(judge, verdict.clause, TABLE_LEGACY, slot, verdict.why);
    }
}

static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet)
{
    struct judge judge = begin(oracle, rows);
    judge_quiet(&judge, quiet, ORACLE_LEGACY, CLAUSE_LEG_3);
    for (uint32_t slot = 0; slot < rows->table[TABLE_LEGACY].used; slot++) {
        settled_activity(&judge, slot);
    }
    legacy_expected_settled(&judge);
    return judge.verdict;
}

static void expect(const struct document *scenario, struct expectation *expected)
{
    expected_legacy_read(scenario, &expected->of.legacy);
}

/* What is left behind is a move that no event of the lifecycle made. */
const struct monitors monitors_legacy = {.expect = expect,
                                         .cells = cells,
                                         .memories = {[MEMORY_CLAIM] = JUDGE_CLAIMS_MEMORY},
                                         .memory_of = memory_of,
                                         .commit = commit,
                                         .effect = effect,
                                         .granted = judge_granted,
                                         .transaction = seen_legacy,
                                         .whole = CLAUSE_LEG_1,
                                         .whole_by = ORACLE_LEGACY,
                                         .settled = settled};
