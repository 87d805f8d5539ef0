#include "sim/store.h"

#include "model/check.h"
#include "model/rights.h"
#include "sim/meaning.h"

#include <string.h>

#define CHECK_EVERY                                                                                \
    32 /* one tick in so many has the whole world checked, where that is asked for */

/* The call that is being executed. */
struct execution {
    struct frame frame;
    struct world *world;
    struct outcome *outcome;
    uint32_t picked;
    enum principal principal;
    struct observed *seen;  /* NULL: not asked for */
    const struct op *first; /* the first operation of all */
};

/* IMPOSSIBLE: the bundle is refused regardless of its calls' modes, as a server aborts it
 * (23503). */
enum effect { EFFECT_DONE, EFFECT_MISSED, EFFECT_IMPOSSIBLE };

/* Every row that these columns refer to is there; a row may refer to itself. */
static bool has_parents(const struct rows *rows, enum row_table table, int64_t own,
                        const int64_t *columns)
{
    const struct foreign_key *key = primitive_foreign_keys[table];
    for (; key->there; key++) {
        enum row_table parent = (enum row_table)key->parent;
        bool used = rows->table[parent].capacity > 0; /* else the world has no such table */
        bool itself = parent == table && columns[key->column] == own;
        if (used && foreign_key_applies(key, columns) && !itself &&
            row_find(rows, parent, columns[key->column]) == ROW_NONE) {
            return false;
        }
    }
    return true;
}

/* READ, TEST, ADD, SET and DELETE: they look at one cell of one row. */
static enum effect on_cell(const struct execution *run, const struct op *op, enum refusal *reason)
{
    const struct frame *frame = &run->frame;
    struct rows *rows = &run->world->rows;
    enum row_table table = (enum row_table)op->table;
    uint32_t slot = row_find(rows, table, meaning_operand(frame, op->key));
    if (slot == ROW_NONE) {
        meaning_give(frame, op->returns, 0);
        meaning_give(frame, op->found, 0);
        *reason = meaning_absent(op);
        return op->kind == OP_READ ? EFFECT_DONE : EFFECT_MISSED;
    }
    const struct row_area *area = &rows->table[table];
    const int64_t *row = &area->cells[(size_t)slot * area->stride];
    int64_t cell = row[1 + op->column];
    bool passed = meaning_passes(frame, op, row);
    if (!passed && meaning_divides_by_0(frame, op)) {
        *reason = REFUSED_UNCLASSIFIED;
        return EFFECT_IMPOSSIBLE;
    }
    if (passed && (op->kind == OP_ADD || op->kind == OP_SET)) {
        cell = meaning_written(frame, op, cell);
        world_set(run->world, table, slot, op->column, cell);
        if ((primitive_foreign_columns[table] >> op->column & 1) != 0 &&
            !has_parents(rows, table, row[0], &row[1])) {
            *reason = REFUSED_NO_PARENT;
            return EFFECT_IMPOSSIBLE;
        }
    } else if (passed && op->kind == OP_DELETE) {
        world_delete(run->world, table, slot);
    }
    meaning_give(frame, op->returns, cell);
    meaning_give(frame, op->found, passed);
    *reason = (enum refusal)op->reason;
    return passed ? EFFECT_DONE : EFFECT_MISSED;
}

static enum effect insert(const struct execution *run, const struct op *op, enum refusal *reason)
{
    struct rows *rows = &run->world->rows;
    enum row_table table = (enum row_table)op->table;
    int64_t key = meaning_operand(&run->frame, op->key);
    uint32_t count = rows->table[table].stride - 1;
    int64_t columns[ROW_COLUMNS_MAX];
    bool whole = meaning_columns(&run->frame, op, count, columns);
    if (run->principal != PRINCIPAL_NONE && !rights_allow_row(run->principal, table, columns)) {
        *reason = REFUSED_FORBIDDEN;
        return EFFECT_IMPOSSIBLE;
    }
    if (!whole) { /* looked at before any key is */
        *reason = REFUSED_NULL;
        return EFFECT_IMPOSSIBLE;
    }
    uint32_t slot = row_find(rows, table, key);
    if (slot != ROW_NONE) {
        *reason = REFUSED_EXISTS;
        if (op->kind == OP_RECORD) {
            int last = (int)count - 1;
            world_set(run->world, table, slot, last, row_get(rows, table, slot, last) + 1);
        }
        return op->kind == OP_RECORD ? EFFECT_DONE : EFFECT_MISSED;
    }
    if (!has_parents(rows, table, key, columns)) {
        *reason = REFUSED_NO_PARENT;
        return EFFECT_IMPOSSIBLE;
    }
    if (world_insert(run->world, table, key, columns) == ROW_NONE) {
        *reason = REFUSED_STORE_FULL;
        return EFFECT_IMPOSSIBLE;
    }
    return EFFECT_DONE;
}

static enum effect claim(const struct execution *run, const struct op *op, enum refusal *reason)
{
    struct world *world = run->world;
    uint32_t slot = run->picked;
    *reason = REFUSED_NO_MESSAGE;
    if (slot == STORE_PICKS_ITSELF && world_visible(world, 1, &slot) == 0) {
        slot = ROW_NONE;
    }
    if (slot >= world->rows.table[TABLE_MESSAGE].used || world->place[slot] == 0) {
        return EFFECT_MISSED; /* none, or acked by an earlier call */
    }
    int64_t epoch = row_get(&world->rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH);
    int64_t until = world->now + meaning_operand(&run->frame, op->value);
    world_set(world, TABLE_MESSAGE, slot, MESSAGE_EPOCH, epoch + 1);
    world_set(world, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT, until);
    const struct row_area *area = &world->rows.table[TABLE_MESSAGE];
    memcpy(run->outcome->message, &area->cells[(size_t)slot * area->stride],
           sizeof run->outcome->message);
    return EFFECT_DONE;
}

/* A row of FIND's table names it. */
static bool is_named(const struct rows *rows, const struct op *op, int64_t key)
{
    const struct row_area *area = &rows->table[op->table];
    for (uint32_t slot = 0; op->unnamed != 0 && slot < area->used; slot++) {
        if (row_is_there(rows, (enum row_table)op->table, slot) &&
            area->cells[(size_t)slot * area->stride + op->unnamed] == key) {
            return true;
        }
    }
    return false;
}

/* A row that is named and gone has no part in it. */
static enum effect every(const struct execution *run, const struct op *op, enum refusal *reason)
{
    const struct rows *rows = &run->world->rows;
    const struct row_area *area = &rows->table[op->table];
    enum row_table table = primitive_named_table(op);
    int64_t a = meaning_operand(&run->frame, op->a), b = meaning_operand(&run->frame, op->b);
    *reason = (enum refusal)op->reason;
    for (uint32_t slot = 0; slot < area->used; slot++) {
        const int64_t *row = &area->cells[(size_t)slot * area->stride];
        if (row_is_there(rows, (enum row_table)op->table, slot) && row[1 + op->column] == a) {
            uint32_t named = row_find(rows, table, row[1 + op->beside]);
            if (named != ROW_NONE && row_get(rows, table, named, op->order) != b) {
                return EFFECT_MISSED;
            }
        }
    }
    return EFFECT_DONE;
}

static void find(const struct execution *run, const struct op *op)
{
    const struct rows *rows = &run->world->rows;
    const struct row_area *area = &rows->table[op->table];
    const int64_t *best = NULL;
    for (uint32_t slot = 0; slot < area->used; slot++) {
        const int64_t *row = &area->cells[(size_t)slot * area->stride];
        if (meaning_fits(&run->frame, op, row) &&
            (best == NULL || meaning_stands_before(op, row, best)) &&
            row_is_there(rows, (enum row_table)op->table, slot) && !is_named(rows, op, row[0])) {
            best = row;
        }
    }
    meaning_give(&run->frame, op->returns, best == NULL ? 0 : best[0]);
}

static void note_lock(const struct execution *run, const struct op *op)
{
    struct observed *seen = run->seen;
    if (seen == NULL || seen->lock_count == OBSERVED_LOCKS_MAX) {
        return;
    }
    if (seen->lock_count == 0) {
        seen->locked = op == run->first ? OBSERVED_LOCK_FIRST : OBSERVED_LOCK_LATE;
    }
    seen->locks[seen->lock_count++] = meaning_operand(&run->frame, op->key);
}

static enum effect perform(const struct execution *run, const struct op *op, enum refusal *reason)
{
    if (run->principal != PRINCIPAL_NONE &&
        !rights_allow(run->principal, op)) { /* looked at before any row is */
        *reason = REFUSED_FORBIDDEN;
        return EFFECT_IMPOSSIBLE;
    }
    switch ((enum op_kind)op->kind) {
    case OP_READ:
    case OP_TEST:
    case OP_ADD:
    case OP_SET:
    case OP_DELETE:
        return on_cell(run, op, reason);
    case OP_INSERT:
    case OP_RECORD:
        return insert(run, op, reason);
    case OP_CLAIM:
        return claim(run, op, reason);
    case OP_FIND:
        find(run, op);
        return EFFECT_DONE;
    case OP_EVERY:
        return every(run, op, reason);
    case OP_ADVISORY: /* there is no other session */
        note_lock(run, op);
        return EFFECT_DONE;
    case OP_LET_EQUAL:
    case OP_LET_SUM:
    case OP_LET_MODULO:
        meaning_let(&run->frame, op);
        return EFFECT_DONE;
    }
    return EFFECT_DONE;
}

static enum call_result execute_call(const struct execution *run, const struct primitive *primitive,
                                     const struct call *call, enum refusal *reason)
{
    for (uint8_t i = 0; i < primitive->op_count; i++) {
        const struct op *op = &primitive->ops[i];
        if (meaning_left_out(&run->frame, op)) {
            continue;
        }
        enum effect effect = perform(run, op, reason);
        if (effect == EFFECT_IMPOSSIBLE) {
            return CALL_REFUSED;
        }
        enum call_result result = effect == EFFECT_MISSED ? meaning_missed(op, call) : CALL_GOES_ON;
        if (result != CALL_GOES_ON) {
            return result;
        }
    }
    return CALL_GOES_ON;
}

void store_seen_begin(const struct bundle *bundle, int64_t now, struct observed *seen)
{
    memset(seen, 0, offsetof(struct observed, locks)); /* of those, lock_count are there */
    seen->isolation =
        bundle->isolation == SERIALIZABLE ? OBSERVED_SERIALIZABLE : OBSERVED_READ_COMMITTED;
    seen->principal = bundle->principal;
    seen->client = OBSERVED_NOBODY;
    seen->began = now;
}

bool store_only_reads(const struct primitive *primitives, const struct bundle *bundle, int calls)
{
    for (int i = 0; i < calls; i++) {
        const struct primitive *primitive = &primitives[bundle->calls[i].primitive];
        for (uint8_t o = 0; o < primitive->op_count; o++) {
            const struct op *op = &primitive->ops[o];
            bool plain = op->kind == OP_READ || op->kind == OP_EVERY;
            bool reads = op->kind == OP_FIND || op->kind >= OP_LET_EQUAL ||
                         (plain && op_lock_of(op) == LOCK_NONE);
            if (!reads) {
                return false;
            }
        }
    }
    return true;
}

void store_check(const struct world *world, size_t mark, const struct bundle *bundle,
                 const struct outcome *outcome)
{
    outcome_check(outcome, bundle);
    CHECK(outcome->kind == OUTCOME_COMMITTED || world_mark(world) == mark); /* ST1 */
    if (world->now % CHECK_EVERY == 0) {
        CHECK_ALL(world_check(world));
    }
}

void store_execute_seen(struct world *world, const struct primitive *primitives,
                        const struct bundle *bundle, uint32_t picked, struct outcome *outcome,
                        struct observed *seen)
{
    size_t mark = world_mark(world);
    outcome_begin(outcome, world->now);
    const int64_t constants[OPERAND_CONSTANTS] = MEANING_CONSTANTS(world->now, world_wall(world));
    if (seen != NULL) {
        store_seen_begin(bundle, world->now, seen);
        seen->wall_from = seen->wall_to = world_wall(world);
    }
    for (uint8_t i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        int64_t *values = &outcome->values[call->values];
        struct execution run = {
            .frame = {{constants, &bundle->params[call->params], values}, values},
            .world = world,
            .outcome = outcome,
            .picked = picked,
            .principal = (enum principal)bundle->principal,
            .seen = seen,
            .first = i == 0 ? &primitives[call->primitive].ops[0] : NULL,
        };
        enum refusal reason = REFUSED_NOTHING;
        enum call_result result = execute_call(&run, &primitives[call->primitive], call, &reason);
        if (result == CALL_GOES_ON) {
            continue;
        }
        outcome->skipped = (uint8_t)(i + 1);
        if (result == CALL_REFUSED) {
            outcome->kind = OUTCOME_REFUSED;
            outcome->refusal = (uint8_t)reason;
            world_undo(world, mark); /* ST1 */
        }
        break;
    }
    store_check(world, mark, bundle, outcome);
    if (seen != NULL && world->change_count == mark) {
        int calls = outcome->skipped == 0 ? bundle->count : outcome->skipped;
        seen->only_read = store_only_reads(primitives, bundle, calls);
    }
}

void store_execute(struct world *world, const struct primitive *primitives,
                   const struct bundle *bundle, uint32_t picked, struct outcome *outcome)
{
    store_execute_seen(world, primitives, bundle, picked, outcome, NULL);
}
