/* The catalogue of primitives is data, so most of what can be wrong with it can be looked up:
 * operands that do not exist, a guard behind a write, rows touched in another order. What each
 * primitive does to rows is shown where there is a store (sim/tests/test_store.c, test_entries.c).
 */
#include "model/primitive.h"
#include "model/table.h"

#include "model/bundle.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <string.h>

static int columns_of(int table)
{
    return (int)table_get((enum row_table)table)->columns;
}

static bool inserts(const struct op *op)
{
    return op->kind == OP_INSERT || op->kind == OP_RECORD;
}

static bool looks_at_a_cell(const struct op *op)
{
    return op->kind <= OP_SET || op->kind == OP_DELETE;
}

static bool lets(const struct op *op)
{
    return op->kind >= OP_LET_EQUAL;
}

static bool writes(const struct op *op)
{
    return op->kind == OP_ADD || op->kind == OP_SET || op->kind == OP_DELETE ||
           op->kind == OP_CLAIM || inserts(op);
}

/* Takes every operation of every primitive with what came before it. */
typedef void visitor(const struct primitive *primitive, int at);

static void visit(visitor *look)
{
    for (int id = 0; id < PRIMITIVE_COUNT; id++) {
        for (int at = 0; at < primitive_table[id].op_count; at++) {
            look(&primitive_table[id], at);
        }
    }
}

Test(primitive, every_one_has_a_name_of_its_own_operations_and_parameters)
{
    for (int id = 0; id < PRIMITIVE_COUNT; id++) {
        const struct primitive *primitive = &primitive_table[id];
        cr_assert_not_null(primitive->name, "primitive %d", id);
        cr_expect(primitive->op_count >= 1 && primitive->op_count <= PRIMITIVE_OPS_MAX);
        cr_expect(primitive->params >= 1 && primitive->params <= PRIMITIVE_PARAMS_MAX);
        for (int other = 0; other < id; other++) {
            cr_expect_str_neq(primitive->name, primitive_table[other].name);
        }
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Whether an earlier operation may have given this value; a value that no operation gives is 0. */
static bool is_given(const struct primitive *primitive, int before, int value)
{
    for (int i = 0; i < before; i++) {
        if (primitive->ops[i].returns == value + 1 || primitive->ops[i].found == value + 1) {
            return true;
        }
    }
    return false;
}

static void operand_exists(const struct primitive *primitive, int at, uint8_t operand)
{
    if (operand >= OPERAND_VALUE) {
        int value = operand - OPERAND_VALUE;
        cr_expect(value < PRIMITIVE_VALUES_MAX && is_given(primitive, at, value),
                  "%s, operation %d: nothing gives value %d", primitive->name, at, value);
    } else if (operand >= OPERAND_PARAM) {
        cr_expect_lt(operand - OPERAND_PARAM, primitive->params, "%s, operation %d",
                     primitive->name, at);
    } else {
        cr_expect_lt(operand, OPERAND_CONSTANTS, "%s, operation %d", primitive->name, at);
    }
}

static void operands_exist(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    if (!lets(op) && op->kind != OP_CLAIM && op->kind != OP_FIND && op->kind != OP_EVERY) {
        operand_exists(primitive, at, op->key);
        cr_expect_geq(op->key, OPERAND_PARAM, "%s, operation %d: which row?", primitive->name, at);
    }
    operand_exists(primitive, at, op->value);
    operand_exists(primitive, at, op->a);
    operand_exists(primitive, at, op->b);
    operand_exists(primitive, at, op->c);
    cr_expect_eq(op->columns != NULL, inserts(op), "%s, operation %d", primitive->name, at);
    for (int c = 0; inserts(op) && c < columns_of(op->table); c++) {
        operand_exists(primitive, at, op->columns[c]);
    }
}

/* Weights, ceilings and digits come with the call; a constant is 0, 1, -1, the clock or null. (PM4) */
static void look_for_digits(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    bool weighs = op->test == TEST_BELOW || op->test == TEST_MARKED || op->test == TEST_UNMARKED ||
                  op->test == TEST_DIGIT || op->test == TEST_RESUMABLE || op->test == TEST_STUCK;
    bool counts = op->a != OPERAND_ONE &&
                  (op->test == TEST_BELOW || op->test == TEST_RESUMABLE || op->test == TEST_STUCK);
    cr_expect(!weighs || op->a >= OPERAND_PARAM || op->a == OPERAND_ONE /* the whole cell */,
              "%s, operation %d: a weight", primitive->name, at);
    cr_expect(!counts || (op->b >= OPERAND_PARAM && op->c >= OPERAND_PARAM),
              "%s, operation %d: a ceiling", primitive->name, at);
}

Test(primitive, knows_no_digit)
{
    visit(look_for_digits);
}

Test(primitive, operands_are_parameters_that_there_are_and_values_given_before)
{
    visit(operands_exist);
}

static void value_exists(const struct primitive *primitive, int at, uint8_t to)
{
    if (to != 0) {
        cr_expect(is_given(primitive, at, to - 1), "%s, operation %d: hangs on value %d",
                  primitive->name, at, to - 1);
    }
}

static void conditions_and_results_have_a_place(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    value_exists(primitive, at, op->when);
    value_exists(primitive, at, op->unless);
    cr_expect_leq(op->returns, PRIMITIVE_VALUES_MAX, "%s", primitive->name);
    cr_expect_leq(op->found, PRIMITIVE_VALUES_MAX, "%s", primitive->name);
}

Test(primitive, conditions_look_at_values_given_before_and_results_have_a_place)
{
    visit(conditions_and_results_have_a_place);
}

static void column_exists(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    if (looks_at_a_cell(op)) {
        cr_expect_lt(op->table, TABLE_COUNT, "%s, operation %d", primitive->name, at);
        cr_expect_lt(op->column, columns_of(op->table), "%s, operation %d", primitive->name, at);
    }
}

static void find_has_its_index(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    bool has = op->kind != OP_FIND;
    for (int i = 0; i < TABLE_INDEXES; i++) {
        const struct table_index *index = &table_indexes[i];
        has = has || (index->table == op->table && index->columns[0] == op->column &&
                      index->columns[1] == op->beside && index->columns[2] == op->order);
    }
    cr_expect(has, "%s, operation %d", primitive->name, at);
}

/* (PM6) */
Test(primitive, what_is_found_is_found_by_an_index)
{
    PROVES(CLAUSE_SEQ_17);
    visit(find_has_its_index);
}

/* (R1) */
Test(primitive, cells_are_in_their_table)
{
    visit(column_exists);
}

/* ---- misses ---------------------------------------------------------------------------------- */

/* Else a skipped call would leave half of its primitive behind (B1). */
static void no_guard_behind_a_write(const struct primitive *primitive, int at)
{
    bool written = false;
    for (int i = 0; i < at; i++) {
        written |= writes(&primitive->ops[i]);
    }
    /* These leave what they are to leave: the count of a refusal (E-SEQ-3), or of a no-op, and the
     * latch (E-SEQ-15). */
    bool leaves = primitive == &primitive_table[PRIMITIVE_SEQ_EXPECT] ||
                  primitive == &primitive_table[PRIMITIVE_SEQ_WAITS] ||
                  primitive == &primitive_table[PRIMITIVE_SEQ_HOLD] ||
                  primitive == &primitive_table[PRIMITIVE_SEQ_AGAIN] ||
                  primitive == &primitive_table[PRIMITIVE_SEQ_CONTRACT];
    cr_expect_not(written && primitive->ops[at].miss == MISS_BY_CALL && !leaves, "%s, operation %d",
                  primitive->name, at);
}

/* (PM1) */
Test(primitive, a_guard_comes_before_every_write)
{
    PROVES(CLAUSE_ACL_2);
    visit(no_guard_behind_a_write);
}

static void says_why(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    if (looks_at_a_cell(op) && op->miss != MISS_GOES_ON) {
        cr_expect_neq(op->reason, REFUSED_NOTHING, "%s, operation %d", primitive->name, at);
    }
    cr_expect_lt(op->reason, REFUSAL_COUNT);
}

Test(primitive, a_miss_that_can_refuse_says_why)
{
    visit(says_why);
}

/* (PM2): a call that came too late learns the state. */
Test(primitive, who_finds_a_marker_set_is_told_the_ledger)
{
    SETTLES(ERRATUM_ACL_26);
    static const enum primitive_id marks[] = {PRIMITIVE_MARK_ACTIVITY, PRIMITIVE_MARK_GUID,
                                              PRIMITIVE_COLLATE};
    for (size_t i = 0; i < COUNT(marks); i++) {
        const struct op *guard = &primitive_table[marks[i]].ops[0];
        cr_expect_eq(guard->test, TEST_UNMARKED);
        cr_expect_eq(guard->returns, 1, "%s", primitive_table[marks[i]].name);
    }
}

/* ---- the order of rows ----------------------------------------------------------------------- */

/* (PM3): message, activity, GUID, job, then task and inserts. Of the seq ledger: stage, seq, event,
 * and the actor's own stripe. */
static int rank_of(const struct op *op)
{
    static const int ranks[TABLE_COUNT] = {
        [TABLE_MESSAGE] = 0, [TABLE_ACTIVITY] = 1, [TABLE_GUID] = 2,       [TABLE_JOB] = 3,
        [TABLE_TASK] = 4,    [TABLE_OUTPUT] = 4,   [TABLE_COMPLETION] = 4, [TABLE_ESCALATION] = 4,
        [TABLE_STAGE] = 0,   [TABLE_SEQ] = 1,      [TABLE_SEQ_EVENT] = 2,  [TABLE_SEQ_TALLY] = 6};
    return inserts(op) ? 5 : ranks[op->table];
}

static bool locks(const struct op *op)
{
    return op->kind == OP_TEST || writes(op);
}

static bool locked_before(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    if (primitive == &primitive_table[PRIMITIVE_SEQ_CONTRACT] && op->table == TABLE_STAGE) {
        return true; /* by the gate, which stands before it in every bundle */
    }
    for (int i = 0; i < at; i++) {
        if (locks(&primitive->ops[i]) && primitive->ops[i].table == op->table &&
            primitive->ops[i].key == op->key) {
            return true;
        }
    }
    return false;
}

static void keeps_the_order(const struct primitive *primitive, int at)
{
    const struct op *op = &primitive->ops[at];
    if (!locks(op) || locked_before(primitive, at)) {
        return;
    }
    for (int i = 0; i < at; i++) {
        if (locks(&primitive->ops[i])) {
            cr_expect_leq(rank_of(&primitive->ops[i]), rank_of(op), "%s, operation %d",
                          primitive->name, at);
        }
    }
}

Test(primitive, rows_are_locked_in_one_order)
{
    SETTLES(ERRATUM_ACL_28);
    visit(keeps_the_order);
}

/* (PM5) */
Test(primitive, step_2_writes_the_guid_row_once)
{
    SETTLES(ERRATUM_ACL_24);
    int updates = 0;
    const struct primitive *collate = &primitive_table[PRIMITIVE_COLLATE];
    for (int i = 0; i < collate->op_count; i++) {
        updates += writes(&collate->ops[i]) && collate->ops[i].table == TABLE_GUID;
    }
    cr_expect_eq(updates, 1);
}

/* ---- foreign keys and names ------------------------------------------------------------------ */

Test(primitive, every_table_but_the_first_ones_refers_to_a_row)
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct foreign_key *key = primitive_foreign_keys[t];
        bool activity = t <= TABLE_MESSAGE;
        cr_expect(!activity || key->there == (t != TABLE_JOB), "table %d", t);
        for (; key->there; key++) {
            cr_expect_lt(key->column, columns_of(t));
            cr_expect(!activity || key->parent == TABLE_JOB || key->parent == TABLE_ACTIVITY);
            bool itself = key->optional && key->parent == t;
            cr_expect(itself || key->parent < t, "parents come first");
        }
    }
}

Test(primitive, bundles_refusals_and_aborts_have_names_of_their_own)
{
    for (int i = 0; i < BUNDLE_NAME_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            cr_expect_str_neq(bundle_name_text((enum bundle_name)i),
                              bundle_name_text((enum bundle_name)j));
        }
    }
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            cr_expect_str_neq(refusal_text((enum refusal)i), refusal_text((enum refusal)j));
        }
    }
    for (int i = 0; i < ABORT_CLASS_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            cr_expect_str_neq(abort_class_text((enum abort_class)i),
                              abort_class_text((enum abort_class)j));
        }
    }
}

/* ---- bundles --------------------------------------------------------------------------------- */

Test(primitive, a_bundle_is_a_line_of_calls_with_parameters_of_their_own)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_STEP1);
    int64_t *first = bundle_append(&bundle, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN, 6);
    int64_t *second = bundle_append(&bundle, PRIMITIVE_MARK_GUID, CALL_UNLESS_DONE, 0);
    cr_expect_eq(bundle.name, BUNDLE_STEP1);
    cr_expect_eq(bundle.count, 2);
    cr_expect_eq(second - first, primitive_table[PRIMITIVE_MARK_ACTIVITY].params);
    cr_expect_eq(bundle.calls[0].values, 6);
    cr_expect_eq(bundle.calls[1].mode, CALL_UNLESS_DONE);
    cr_expect_eq(bundle.calls[1].params, 2);
    cr_expect_eq(bundle.param_count, 4);
    bundle_begin(&bundle, BUNDLE_ACK);
    cr_expect_eq(bundle.count, 0, "begun anew");
    cr_expect_eq(bundle.param_count, 0);
}
