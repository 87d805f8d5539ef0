#include "sim/store.h"

#include "model/check.h"

#include <string.h>

/* One call under way. */
struct execution {
    struct world *world;
    const int64_t *operands[3]; /* constants, parameters, values: see enum operand */
    int64_t *values;
    struct outcome *outcome;
    uint32_t picked;
};

/* IMPOSSIBLE: the bundle is refused whatever its calls say, as a server aborts it (23503). */
enum effect { EFFECT_DONE, EFFECT_MISSED, EFFECT_IMPOSSIBLE };

static inline int64_t operand(const struct execution *run, uint8_t operand)
{
    return run->operands[OPERAND_ARRAY(operand)][OPERAND_PLACE(operand)];
}

static int64_t digit_at(int64_t cell, int64_t weight)
{
    return cell / weight % 10;
}

/* A GUID ledger that may be entered again (E-ACL-17): it has room to count, owes nothing, or was
 * born at the last entry. Digits 4-7 stand just above the counter. */
static bool resumable(const struct rows *rows, uint32_t slot, int64_t cell, int64_t modulus,
                      int64_t ceiling, int64_t last_dimension)
{
    int64_t markers = cell / modulus % 10000;
    bool owes_nothing = markers == 110 || markers == 1111;
    return cell % modulus < ceiling || owes_nothing ||
           row_get(rows, TABLE_GUID, slot, GUID_DIMENSION) == last_dimension;
}

static bool passes(const struct execution *run, const struct op *op, uint32_t slot, int64_t cell)
{
    switch ((enum op_test)op->test) {
    case TEST_NONE:
        return true;
    case TEST_BELOW:
        return cell / operand(run, op->a) % operand(run, op->b) < operand(run, op->c);
    case TEST_MARKED:
        return digit_at(cell, operand(run, op->a)) == 1;
    case TEST_UNMARKED:
        return digit_at(cell, operand(run, op->a)) == 0;
    case TEST_EQUAL:
        return cell == operand(run, op->a);
    case TEST_NOT_BELOW:
        return cell + operand(run, op->value) >= 0;
    case TEST_RESUMABLE:
    case TEST_STUCK:
        return (op->test == TEST_RESUMABLE) == resumable(&run->world->rows, slot, cell,
                                                         operand(run, op->a), operand(run, op->b),
                                                         operand(run, op->c));
    }
    return false;
}

static void give(const struct execution *run, uint8_t to, int64_t value)
{
    if (to != 0) {
        run->values[to - 1] = value;
    }
}

/* READ, TEST, ADD, SET and DELETE: they look at one cell of one row. */
static enum effect on_cell(const struct execution *run, const struct op *op, enum refusal *reason)
{
    struct rows *rows = &run->world->rows;
    enum row_table table = (enum row_table)op->table;
    uint32_t slot = row_find(rows, table, operand(run, op->key));
    if (slot == ROW_NONE) {
        give(run, op->returns, 0);
        give(run, op->found, 0);
        *reason = op->reason == REFUSED_NOTHING ? REFUSED_NO_ROW : (enum refusal)op->reason;
        return op->kind == OP_READ ? EFFECT_DONE : EFFECT_MISSED;
    }
    int64_t cell = row_get(rows, table, slot, op->column);
    bool passed = passes(run, op, slot, cell);
    if (passed && op->kind == OP_ADD) {
        cell += operand(run, op->value);
        world_set(run->world, table, slot, op->column, cell);
    } else if (passed && op->kind == OP_SET) {
        cell = operand(run, op->value);
        world_set(run->world, table, slot, op->column, cell);
    } else if (passed && op->kind == OP_DELETE) {
        world_delete(run->world, table, slot);
    }
    give(run, op->returns, cell);
    give(run, op->found, passed);
    *reason = (enum refusal)op->reason;
    return passed ? EFFECT_DONE : EFFECT_MISSED;
}

static bool has_parent(const struct rows *rows, enum row_table table, const int64_t *columns)
{
    const struct foreign_key *key = &primitive_foreign_keys[table];
    return !key->there || rows->table[key->parent].capacity == 0 || /* a table that is not used */
           row_find(rows, (enum row_table)key->parent, columns[key->column]) != ROW_NONE;
}

static enum effect insert(const struct execution *run, const struct op *op, enum refusal *reason)
{
    struct rows *rows = &run->world->rows;
    enum row_table table = (enum row_table)op->table;
    int64_t key = operand(run, op->key);
    uint32_t count = rows->table[table].stride - 1;
    int64_t columns[ROW_COLUMNS_MAX];
    for (uint32_t c = 0; c < count; c++) {
        columns[c] = operand(run, op->columns[c]);
        if (columns[c] == ROW_NULL) { /* looked at before any key is */
            *reason = REFUSED_NULL;
            return EFFECT_IMPOSSIBLE;
        }
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
    if (!has_parent(rows, table, columns)) {
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
    *reason = REFUSED_NO_MESSAGE;
    if (run->picked == ROW_NONE || world->place[run->picked] == 0) {
        return EFFECT_MISSED; /* none, or acked by an earlier call */
    }
    uint32_t slot = run->picked;
    int64_t epoch = row_get(&world->rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH);
    world_set(world, TABLE_MESSAGE, slot, MESSAGE_EPOCH, epoch + 1);
    world_set(world, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT, world->now + operand(run, op->value));
    const struct row_area *area = &world->rows.table[TABLE_MESSAGE];
    memcpy(run->outcome->message, &area->cells[(size_t)slot * area->stride],
           sizeof run->outcome->message);
    return EFFECT_DONE;
}

static enum effect perform(const struct execution *run, const struct op *op, enum refusal *reason)
{
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
    case OP_ADVISORY: /* nobody else is there */
        return EFFECT_DONE;
    case OP_LET_EQUAL:
        give(run, op->returns, operand(run, op->a) == operand(run, op->b));
        return EFFECT_DONE;
    case OP_LET_SUM:
        give(run, op->returns, operand(run, op->a) + operand(run, op->b) * operand(run, op->c));
        return EFFECT_DONE;
    case OP_LET_MODULO:
        give(run, op->returns, operand(run, op->a) % operand(run, op->b));
        return EFFECT_DONE;
    }
    return EFFECT_DONE;
}

enum call_result { CALL_GOES_ON, CALL_SKIPS_REST, CALL_REFUSED };

static enum call_result missed(const struct op *op, const struct call *call)
{
    if (op->miss == MISS_REFUSES || (op->miss == MISS_BY_CALL && call->mode == CALL_REQUIRE)) {
        return CALL_REFUSED;
    }
    return op->miss == MISS_BY_CALL && call->mode == CALL_UNLESS_DONE ? CALL_SKIPS_REST
                                                                      : CALL_GOES_ON;
}

static enum call_result execute_call(const struct execution *run, const struct primitive *primitive,
                                     const struct call *call, enum refusal *reason)
{
    for (uint8_t i = 0; i < primitive->op_count; i++) {
        const struct op *op = &primitive->ops[i];
        if ((op->when != 0 && run->values[op->when - 1] == 0) ||
            (op->unless != 0 && run->values[op->unless - 1] != 0)) {
            continue;
        }
        enum effect effect = perform(run, op, reason);
        if (effect == EFFECT_IMPOSSIBLE) {
            return CALL_REFUSED;
        }
        enum call_result result = effect == EFFECT_MISSED ? missed(op, call) : CALL_GOES_ON;
        if (result != CALL_GOES_ON) {
            return result;
        }
    }
    return CALL_GOES_ON;
}

void store_execute(struct world *world, const struct primitive *primitives,
                   const struct bundle *bundle, uint32_t picked, struct outcome *outcome)
{
    size_t mark = world_mark(world);
    outcome->kind = OUTCOME_COMMITTED;
    outcome->refusal = REFUSED_NOTHING;
    outcome->aborted = ABORT_NONE;
    outcome->skipped = 0;
    outcome->now = world->now;
    memset(outcome->values, 0, sizeof outcome->values);
    const int64_t constants[OPERAND_CONSTANTS] = {[OPERAND_ONE] = 1,
                                                  [OPERAND_MINUS_ONE] = -1,
                                                  [OPERAND_NOW] = world->now,
                                                  [OPERAND_NULL] = ROW_NULL};
    for (uint8_t i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        int64_t *values = &outcome->values[call->values];
        struct execution run = {
            .world = world,
            .operands = {constants, &bundle->params[call->params], values},
            .values = values,
            .outcome = outcome,
            .picked = picked,
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
            world_undo(world, mark); /* T1 */
        }
        return;
    }
}
