#include "verify/real_judge.h"

#include "real/presets.h"
#include "real/row_diff.h"
#include "sim/part.h"

#include <string.h>

#define WAITING_MAX ((size_t)2 * PROTOCOL_ACTORS_MAX) /* nobody has more than one claim */

#define LEGACY_ROWS_MAX 64
#define PRESETS_MAX     32

/* What a transaction brings about by itself at its COMMIT: no commit of the protocol. */
struct preset {
    int64_t key; /* of the row whose ledger it changes */
    enum row_table table;
    bool is_held;
    struct history_change held; /* the row's last change so far, not applied yet */
};

struct telling {
    struct run *run;
    struct preset presets[PRESETS_MAX]; /* of the transaction under way */
    size_t preset_count;
    struct real_verdict *verdict;
    const struct history_transaction *transaction; /* the one under way; NULL: none */
    bool server_crashed;
    /* The journal: what is not told yet. */
    const struct shared_page *page;
    size_t next;                 /* entry that was not looked at yet */
    size_t waiting[WAITING_MAX]; /* entries whose claims have not been given out */
    size_t waiting_count;
    struct observed seen; /* what the server saw of the transaction under way */
    struct history_change
        earlier[LEGACY_ROWS_MAX]; /* ... and the rows that it wrote without a lock */
    size_t earlier_count;
};

/* ---- work outside rows ----------------------------------------------------------------------- */

static struct side_effect work_at(const struct telling *telling, size_t at)
{
    const struct shared_work *work = &telling->page->works[at];
    return (struct side_effect){.what = work->what, .claim = work->claim, .epoch = work->epoch};
}

/* An entry that was made, and says something that none before it does. */
static bool is_first(const struct telling *telling, size_t at)
{
    struct side_effect one = work_at(telling, at);
    bool first = one.what != 0;
    for (size_t i = 0; first && i < at; i++) {
        struct side_effect other = work_at(telling, i);
        first = other.what != one.what || other.claim != one.claim || other.epoch != one.epoch;
    }
    return first;
}

static void tell_work(struct telling *telling, size_t at)
{
    struct oracle *oracle = &telling->run->oracle;
    struct side_effect effect = work_at(telling, at);
    if (effect.what != 0 && !telling->verdict->breach.broken && oracle->monitors->effect != NULL) {
        telling->verdict->breach =
            oracle->monitors->effect(oracle, &telling->run->world.rows, &effect);
        telling->verdict->oracle = oracle->spoke;
    }
}

/* What can have been done by now. */
static void tell_granted(struct telling *telling)
{
    const struct rows *rows = &telling->run->world.rows;
    size_t left = 0;
    for (; telling->next < telling->verdict->works && telling->waiting_count < WAITING_MAX;
         telling->next++) {
        if (is_first(telling, telling->next)) {
            telling->waiting[telling->waiting_count++] = telling->next;
        }
    }
    for (size_t i = 0; i < telling->waiting_count; i++) {
        struct side_effect effect = work_at(telling, telling->waiting[i]);
        if (telling->run->oracle.monitors->granted(rows, &effect)) {
            tell_work(telling, telling->waiting[i]);
        } else {
            telling->waiting[left++] = telling->waiting[i];
        }
    }
    telling->waiting_count = left;
}

/* The rest: without a claim, or done before. */
static void tell_left(struct telling *telling)
{
    size_t next = telling->next;
    for (size_t at = 0; at < telling->verdict->works; at++) {
        bool waits = at >= next || !is_first(telling, at);
        for (size_t i = 0; i < telling->waiting_count; i++) {
            waits = waits || telling->waiting[i] == at;
        }
        if (waits) {
            tell_work(telling, at);
        }
    }
}

/* ---- commits --------------------------------------------------------------------------------- */

static bool names(const struct history_change *change, int64_t id)
{
    bool found = false;
    for (int c = 0; c <= ROW_COLUMNS_MAX; c++) {
        found = found || change->row[c] == id;
    }
    return found;
}

/* What the server saw beside the row. It knows no client; and of a lock whether it was held when a
 * row was written, so that one which was taken after a row that names the same id comes late. */
static void observe(struct telling *telling, const struct history_change *change)
{
    struct observed *seen = &telling->seen;
    bool late = false;
    seen->isolation = (uint8_t)change->of->isolation;
    seen->wall_from = change->of->wall_from;
    seen->wall_to = change->of->wall_to;
    if (change->locked == 0 && telling->earlier_count < LEGACY_ROWS_MAX) {
        telling->earlier[telling->earlier_count++] = *change;
    }
    if (change->locked == 0 || observed_has_lock(seen, change->locked) ||
        seen->lock_count == OBSERVED_LOCKS_MAX) {
        return;
    }
    for (size_t i = 0; i < telling->earlier_count; i++) {
        late = late || names(&telling->earlier[i], change->locked);
    }
    seen->locked =
        late || seen->locked == OBSERVED_LOCK_LATE ? OBSERVED_LOCK_LATE : OBSERVED_LOCK_BEFORE;
    seen->locks[seen->lock_count++] = change->locked;
}

/* The row is what the change found (I3). */
static bool begins_there(const struct world *world, const struct history_change *change,
                         uint32_t slot)
{
    const struct row_area *area = &world->rows.table[change->table];
    return change->kind == ROW_INSERTED ||
           memcmp(&area->cells[(size_t)slot * area->stride], change->was,
                  area->stride * sizeof *change->was) == 0;
}

static void apply(struct telling *telling, const struct history_change *change)
{
    struct world *world = &telling->run->world;
    uint32_t slot = row_find(&world->rows, change->table, change->row[0]);
    if ((change->kind == ROW_INSERTED) != (slot == ROW_NONE)) {
        telling->verdict->bug = "history: update of a missing row, or insert of an existing one";
    } else if (!begins_there(world, change, slot)) {
        telling->verdict->bug = "history: a change does not begin with the row that was left";
    } else if (change->kind == ROW_INSERTED) {
        if (world_insert(world, change->table, change->row[0], change->row + 1) == ROW_NONE) {
            telling->verdict->bug = "the history has more rows than the scenario can have";
        }
    } else if (change->kind == ROW_DELETED) {
        world_delete(world, change->table, slot);
    } else {
        uint32_t columns = world->rows.table[change->table].stride - 1;
        for (uint32_t c = 0; c < columns; c++) {
            world_set(world, change->table, slot, (int)c, change->row[1 + c]);
        }
    }
}

/* The scenario's own change of a ledger (PS1): the oracles are not asked, as in the simulation. */
static void apply_presets(struct telling *telling)
{
    struct world *world = &telling->run->world;
    for (size_t i = 0; i < telling->preset_count && telling->verdict->bug == NULL; i++) {
        const struct preset *preset = &telling->presets[i];
        const struct history_change *change = &preset->held;
        int ledger = 0;
        if (!preset->is_held) {
            continue;
        }
        int64_t amount = presets_of(telling->run->scenario, change->row, &ledger);
        uint32_t slot = row_find(&world->rows, change->table, preset->key);
        size_t before = world->change_count;
        int64_t was = slot == ROW_NONE ? 0 : row_get(&world->rows, change->table, slot, ledger);
        apply(telling, change);
        if (amount == 0 || change->row[1 + ledger] != was + amount ||
            world->change_count != before + 1) {
            telling->verdict->bug = "a preset changes more than the scenario says";
        }
        world_keep(world);
    }
    telling->preset_count = 0;
}

/* The scenario starts the ledger of this row elsewhere. */
static bool is_preset(const struct telling *telling, const struct preset *due)
{
    const struct row_area *area = &telling->run->world.rows.table[due->table];
    uint32_t slot = row_find(&telling->run->world.rows, due->table, due->key);
    int ignored = 0;
    return slot != ROW_NONE && presets_of(telling->run->scenario,
                                          &area->cells[(size_t)slot * area->stride], &ignored) != 0;
}

/* The last change of a row that is to be preset is the preset. */
static void hold_back(struct telling *telling, const struct history_change *change)
{
    for (size_t i = 0; i < telling->preset_count; i++) {
        struct preset *preset = &telling->presets[i];
        if (change->table == preset->table && change->row[0] == preset->key) {
            if (preset->is_held) {
                apply(telling, &preset->held);
            }
            preset->is_held = true;
            preset->held = *change;
            return;
        }
    }
    apply(telling, change);
    struct preset due = {.is_held = false};
    if (telling->run->has_presets &&
        presets_due(telling->run->scenario, change, &due.table, &due.key)) {
        if (telling->preset_count == PRESETS_MAX) {
            telling->verdict->bug = "a transaction presets more ledgers than there is room for";
        } else if (is_preset(telling, &due)) {
            telling->presets[telling->preset_count++] = due;
        }
    }
}

/* A transaction is complete: one commit for the oracles. */
static void end_commit(struct telling *telling)
{
    struct world *world = &telling->run->world;
    struct oracle *oracle = &telling->run->oracle;
    size_t count = world->change_count;
    if (telling->transaction == NULL) {
        return;
    }
    bool disturbs = shared_page_is_disturbance(telling->page, telling->transaction->id);
    if (telling->transaction->word == 0 && !disturbs && !telling->server_crashed) {
        telling->verdict->bug = "history: a transaction of an actor left no word";
    }
    telling->verdict->commits++;
    telling->verdict->changes += count;
    if (!telling->verdict->breach.broken) {
        telling->verdict->breach =
            oracle->monitors->commit(oracle, &world->rows, world->changes, count);
        telling->verdict->oracle = oracle->spoke;
    }
    if (!telling->verdict->breach.broken && oracle_observes(oracle) && !disturbs) {
        telling->verdict->breach = oracle->monitors->transaction(
            oracle, &world->rows, &telling->seen, world->changes, count);
        telling->verdict->oracle = oracle->spoke;
    }
    world_keep(world);
    apply_presets(telling);
    if (oracle->monitors->granted != NULL) {
        tell_granted(telling);
    }
}

static void real_judge_tell(void *context, const struct history_change *change)
{
    struct telling *telling = context;
    if (change->of != telling->transaction) {
        end_commit(telling);
        telling->transaction = change->of;
        telling->seen = (struct observed){.client = OBSERVED_NOBODY};
        telling->earlier_count = 0;
    }
    observe(telling, change);
    if (telling->verdict->bug == NULL) {
        hold_back(telling, change);
    }
}

/* What the server has now is what its history says (I3). */
static bool compare_rows(struct run *run, struct store_pg *store, struct real_verdict *verdict)
{
    uint64_t tables = run->scenario->protocol->tables;
    for (int table = 0; table < TABLE_COUNT; table++) {
        if (!table_in(tables, (enum row_table)table)) {
            continue;
        }
        struct row_diff diff = {.rows = &run->world.rows, .table = (enum row_table)table};
        if (!store_pg_rows(store, diff.table, row_diff_row, &diff)) {
            return false;
        }
        if (!row_diff_is_same(&diff)) {
            verdict->bug = "the rows are not what their history says";
        }
    }
    return true;
}

bool real_judge(struct run *run, struct store_pg *store, const struct history *history,
                const struct real_course *course, struct real_verdict *verdict)
{
    const struct shared_page *page = course->page;
    *verdict = (struct real_verdict){.breach = oracle_fine(), .works = page->work_count};
    if (verdict->works > SHARED_WORKS_MAX) {
        verdict->bug = "the journal had no room for all work outside rows";
        verdict->works = SHARED_WORKS_MAX;
    }
    world_reset(&run->world);
    run_begin_oracle(run);
    run->oracle.answers_changed = (uint32_t)page->answered;
    struct telling telling = {
        .run = run, .verdict = verdict, .page = page, .server_crashed = course->server_crashed};
    history_tell(history, real_judge_tell, &telling);
    end_commit(&telling);
    tell_left(&telling);
    if (verdict->bug == NULL && !compare_rows(run, store, verdict)) {
        return false;
    }
    if (course->is_over && verdict->bug == NULL && !verdict->breach.broken) {
        verdict->breach =
            sim_part_settled(&run->oracle, run->part, &run->world.rows, run_is_quiet(run));
        verdict->oracle = run->oracle.spoke;
    }
    return true;
}
