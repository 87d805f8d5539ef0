/* What each operation does to rows, case by case, and (ST1), (ST2) over random bundles. The cases
 * have primitives of their own, so that a miss can be of any kind. */
#include "sim/store.h"

#include "model/tests/proves.h"
#include "sim/tests/bundles.h"
#include "sim/tests/print.h"

#include <criterion/criterion.h>
#include <string.h>

#define P(i)  (OPERAND_PARAM + (i))
#define V(i)  (OPERAND_VALUE + (i))
#define TO(i) ((i) + 1)

static int64_t cell(const struct world *world, enum row_table table, int64_t key, int column)
{
    uint32_t slot = row_find(&world->rows, table, key);
    return slot == ROW_NONE ? INT64_MIN : row_get(&world->rows, table, slot, column);
}

/* ---- one operation --------------------------------------------------------------------------- */

struct op_case {
    const char *name;
    struct op op;
    int64_t params[4];
    uint8_t mode;
    uint8_t kind;      /* expected: enum outcome_kind */
    uint8_t refusal;   /* expected */
    int64_t values[2]; /* expected */
    int64_t semaphore; /* expected: of the job, after it */
    size_t changes;    /* expected: how many cells were written */
};

#define ON_SEMAPHORE .table = TABLE_JOB, .column = JOB_SEMAPHORE, .key = P(0)
#define BOTH         .returns = TO(0), .found = TO(1)
#define DONE         OUTCOME_COMMITTED, REFUSED_NOTHING

/* clang-format off */
static const struct op_case op_cases[] = {
    /* what each kind does, and what it returns: the cell as it now is (PM2) */
    {"read", {OP_READ, ON_SEMAPHORE, BOTH}, {JOB}, CALL_PLAIN, DONE, {5, 1}, 5, 0},
    {"read, no row", {OP_READ, ON_SEMAPHORE, BOTH, .miss = MISS_REFUSES}, {NOBODY}, CALL_REQUIRE, DONE, {0, 0}, 5, 0},
    {"test", {OP_TEST, ON_SEMAPHORE, BOTH}, {JOB}, CALL_PLAIN, DONE, {5, 1}, 5, 0},
    {"test, no row", {OP_TEST, ON_SEMAPHORE, BOTH}, {NOBODY}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"add", {OP_ADD, ON_SEMAPHORE, .value = P(1), BOTH}, {JOB, 2}, CALL_PLAIN, DONE, {7, 1}, 7, 1},
    {"add a negative", {OP_ADD, ON_SEMAPHORE, .value = P(1), BOTH}, {JOB, -6}, CALL_PLAIN, DONE, {-1, 1}, -1, 1},
    {"add 0", {OP_ADD, ON_SEMAPHORE, .value = OPERAND_ZERO, BOTH}, {JOB}, CALL_PLAIN, DONE, {5, 1}, 5, 0},
    {"add, no row", {OP_ADD, ON_SEMAPHORE, .value = P(1), BOTH}, {NOBODY, 2}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"set", {OP_SET, ON_SEMAPHORE, .value = P(1), BOTH}, {JOB, 9}, CALL_PLAIN, DONE, {9, 1}, 9, 1},
    {"set to the clock", {OP_SET, ON_SEMAPHORE, .value = OPERAND_NOW, BOTH}, {JOB}, CALL_PLAIN, DONE, {NOW, 1}, NOW, 1},
    {"set to the wall clock", {OP_SET, ON_SEMAPHORE, .value = OPERAND_WALL, BOTH}, {JOB}, CALL_PLAIN, DONE, {NOW + PRIMITIVE_WALL_AHEAD, 1}, NOW + PRIMITIVE_WALL_AHEAD, 1},
    {"set to -1", {OP_SET, ON_SEMAPHORE, .value = OPERAND_MINUS_ONE, BOTH}, {JOB}, CALL_PLAIN, DONE, {-1, 1}, -1, 1},
    {"delete", {OP_DELETE, ON_SEMAPHORE, BOTH}, {JOB}, CALL_PLAIN, DONE, {5, 1}, INT64_MIN, 1},
    {"delete, no row", {OP_DELETE, ON_SEMAPHORE, BOTH}, {NOBODY}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"find", {OP_FIND, TABLE_JOB, JOB_SEMAPHORE, .a = P(0), .beside = JOB_SEMAPHORE, .b = P(0), .order = JOB_SEMAPHORE, .c = P(1), .returns = TO(0)}, {5, 6}, CALL_PLAIN, DONE, {JOB, 0}, 5, 0},
    {"find, not below", {OP_FIND, TABLE_JOB, JOB_SEMAPHORE, .a = P(0), .beside = JOB_SEMAPHORE, .b = P(0), .order = JOB_SEMAPHORE, .c = P(1), .returns = TO(0)}, {5, 5}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"find, no such cell", {OP_FIND, TABLE_JOB, JOB_SEMAPHORE, .a = P(0), .beside = JOB_SEMAPHORE, .b = P(1), .order = JOB_SEMAPHORE, .c = P(1), .returns = TO(0)}, {5, 6}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"find, named", {OP_FIND, TABLE_JOB, JOB_STATE, .beside = JOB_STATE, .order = JOB_SEMAPHORE, .c = P(1), .unnamed = 1 + JOB_THRESHOLD, .returns = TO(0)}, {0, 6}, CALL_PLAIN, DONE, {JOB, 0}, 5, 0},
    {"every", {OP_EVERY, TABLE_ACTIVITY, ACTIVITY_JOB, .a = P(0), .beside = ACTIVITY_JOB, .b = P(1), .order = JOB_SEMAPHORE, .miss = MISS_BY_CALL, .reason = REFUSED_BLOCKED}, {JOB, 5}, CALL_REQUIRE, DONE, {0, 0}, 5, 0},
    {"every, but one", {OP_EVERY, TABLE_ACTIVITY, ACTIVITY_JOB, .a = P(0), .beside = ACTIVITY_JOB, .b = P(1), .order = JOB_SEMAPHORE, .miss = MISS_BY_CALL, .reason = REFUSED_BLOCKED}, {JOB, 6}, CALL_REQUIRE, OUTCOME_REFUSED, REFUSED_BLOCKED, {0, 0}, 5, 0},
    {"every one of none", {OP_EVERY, TABLE_ACTIVITY, ACTIVITY_JOB, .a = P(0), .beside = ACTIVITY_JOB, .b = P(1), .order = JOB_SEMAPHORE, .miss = MISS_BY_CALL, .reason = REFUSED_BLOCKED}, {NOBODY, 6}, CALL_REQUIRE, DONE, {0, 0}, 5, 0},
    {"advisory", {OP_ADVISORY, .key = P(0)}, {JOB}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"let equal", {OP_LET_EQUAL, .a = P(0), .b = P(1), .returns = TO(0)}, {4, 4}, CALL_PLAIN, DONE, {1, 0}, 5, 0},
    {"let equal, not", {OP_LET_EQUAL, .a = P(0), .b = P(1), .returns = TO(0)}, {4, 5}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"let sum", {OP_LET_SUM, .a = P(0), .b = P(1), .c = P(2), .returns = TO(0)}, {4, 5, 6}, CALL_PLAIN, DONE, {34, 0}, 5, 0},
    {"let modulo", {OP_LET_MODULO, .a = P(0), .b = P(1), .returns = TO(0)}, {1100000000007, 100000000}, CALL_PLAIN, DONE, {7, 0}, 5, 0},

    /* each test, on both sides of its edge; a miss writes nothing and returns the cell */
    {"below", {OP_ADD, ON_SEMAPHORE, .value = OPERAND_ONE, .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3), BOTH}, {JOB, 1, 1000, 6}, CALL_PLAIN, DONE, {6, 1}, 6, 1},
    {"not below", {OP_ADD, ON_SEMAPHORE, .value = OPERAND_ONE, .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3), BOTH}, {JOB, 1, 1000, 5}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"below, by modulus", {OP_TEST, ON_SEMAPHORE, .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3), BOTH}, {JOB, 1, 5, 1}, CALL_PLAIN, DONE, {5, 1}, 5, 0},
    {"below, by weight", {OP_TEST, ON_SEMAPHORE, .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3), BOTH}, {JOB, 5, 10, 1}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"equal", {OP_SET, ON_SEMAPHORE, .value = OPERAND_ZERO, .test = TEST_EQUAL, .a = P(1), BOTH}, {JOB, 5}, CALL_PLAIN, DONE, {0, 1}, 0, 1},
    {"pair", {OP_SET, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3), .test = TEST_PAIR, .a = P(1), .beside = GUID_DIMENSION, .b = P(2), BOTH}, {GUID, 10000000001, 0, 10000000002}, CALL_PLAIN, DONE, {10000000002, 1}, 5, 1},
    {"one of a pair", {OP_SET, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3), .test = TEST_PAIR, .a = P(1), .beside = GUID_DIMENSION, .b = P(2), BOTH}, {GUID, 10000000001, 1, 10000000002}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"the other of a pair", {OP_SET, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3), .test = TEST_PAIR, .a = P(1), .beside = GUID_DIMENSION, .b = P(2), BOTH}, {GUID, 10000000002, 0, 10000000003}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"among", {OP_SET, ON_SEMAPHORE, .value = OPERAND_ZERO, .test = TEST_AMONG, .a = P(1), BOTH}, {JOB, 1 << 5 | 1 << 2}, CALL_PLAIN, DONE, {0, 1}, 0, 1},
    {"not among", {OP_SET, ON_SEMAPHORE, .value = OPERAND_ZERO, .test = TEST_AMONG, .a = P(1), BOTH}, {JOB, 1 << 4}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"not equal", {OP_SET, ON_SEMAPHORE, .value = OPERAND_ZERO, .test = TEST_EQUAL, .a = P(1), BOTH}, {JOB, 6}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"falls to 0", {OP_ADD, ON_SEMAPHORE, .value = P(1), .test = TEST_NOT_BELOW, BOTH}, {JOB, -5}, CALL_PLAIN, DONE, {0, 1}, 0, 1},
    {"would fall below 0", {OP_ADD, ON_SEMAPHORE, .value = P(1), .test = TEST_NOT_BELOW, BOTH}, {JOB, -6}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"marked", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_MARKED, .a = P(1), BOTH}, {GUID, 10000000000}, CALL_PLAIN, DONE, {10000000001, 1}, 5, 0},
    {"not marked", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_MARKED, .a = P(1), BOTH}, {GUID, 1000000000}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"a 5 is no mark", {OP_TEST, ON_SEMAPHORE, .test = TEST_MARKED, .a = OPERAND_ONE, BOTH}, {JOB}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"unmarked", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED, .a = P(1), BOTH}, {GUID, 1000000000}, CALL_PLAIN, DONE, {10000000001, 1}, 5, 0},
    {"not unmarked", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED, .a = P(1), BOTH}, {GUID, 10000000000}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"a 5 is not unmarked", {OP_TEST, ON_SEMAPHORE, .test = TEST_UNMARKED, .a = OPERAND_ONE, BOTH}, {JOB}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"resumable: room", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_RESUMABLE, .a = P(1), .b = P(2), .c = P(3), .beside = GUID_DIMENSION, BOTH}, {GUID, 100000000, 2, 77}, CALL_PLAIN, DONE, {10000000001, 1}, 5, 0},
    {"resumable: full, owes Step 2", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_RESUMABLE, .a = P(1), .b = P(2), .c = P(3), .beside = GUID_DIMENSION, BOTH}, {GUID, 100000000, 1, 77}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"resumable: full, born there", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_RESUMABLE, .a = P(1), .b = P(2), .c = P(3), .beside = GUID_DIMENSION, BOTH}, {GUID, 100000000, 1, 0}, CALL_PLAIN, DONE, {10000000001, 1}, 5, 0},
    {"stuck: room", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_STUCK, .a = P(1), .b = P(2), .c = P(3), .beside = GUID_DIMENSION, BOTH}, {GUID, 100000000, 2, 77}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"stuck", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_STUCK, .a = P(1), .b = P(2), .c = P(3), .beside = GUID_DIMENSION, BOTH}, {GUID, 100000000, 1, 77}, CALL_PLAIN, DONE, {10000000001, 1}, 5, 0},
    {"digit", {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3), .test = TEST_DIGIT, .a = P(1), .b = P(2), BOTH}, {GUID, 10000000000, 1, -10000000000}, CALL_PLAIN, DONE, {1, 1}, 5, 1},
    {"another digit", {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3), .test = TEST_DIGIT, .a = P(1), .b = P(2), BOTH}, {GUID, 10000000000, 2, -10000000000}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},
    {"a digit above the number is 0", {OP_TEST, ON_SEMAPHORE, .test = TEST_DIGIT, .a = P(1), .b = OPERAND_ZERO, BOTH}, {JOB, 100000000000000}, CALL_PLAIN, DONE, {5, 1}, 5, 0},
    {"lacks", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_LACKS, .a = P(1), BOTH}, {GUID, 985}, CALL_PLAIN, DONE, {10000000001, 1}, 5, 0},
    {"does not lack", {OP_TEST, ON_SEMAPHORE, .test = TEST_LACKS, .a = P(1), BOTH}, {JOB, 985}, CALL_PLAIN, DONE, {5, 0}, 5, 0},
    {"does not lack its 0", {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_LACKS, .a = OPERAND_ZERO, BOTH}, {GUID}, CALL_PLAIN, DONE, {10000000001, 0}, 5, 0},

    /* what a miss means, by the operation and by the call */
    {"goes on, plain", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_GOES_ON, .reason = REFUSED_CLOSED}, {JOB}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"goes on, required", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_GOES_ON, .reason = REFUSED_CLOSED}, {JOB}, CALL_REQUIRE, DONE, {0, 0}, 5, 0},
    {"by call, plain", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_BY_CALL, .reason = REFUSED_CLOSED}, {JOB}, CALL_PLAIN, DONE, {0, 0}, 5, 0},
    {"by call, required", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_BY_CALL, .reason = REFUSED_CLOSED}, {JOB}, CALL_REQUIRE, OUTCOME_REFUSED, REFUSED_CLOSED, {0, 0}, 5, 0},
    {"by call, unless done", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_BY_CALL, .reason = REFUSED_CLOSED}, {JOB}, CALL_UNLESS_DONE, DONE, {0, 0}, 5, 0},
    {"refuses, plain", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_REFUSES, .reason = REFUSED_CLOSED}, {JOB}, CALL_PLAIN, OUTCOME_REFUSED, REFUSED_CLOSED, {0, 0}, 5, 0},
    {"refuses, unless done", {OP_TEST, ON_SEMAPHORE, .test = TEST_EQUAL, .a = OPERAND_ZERO, .miss = MISS_REFUSES, .reason = REFUSED_CLOSED}, {JOB}, CALL_UNLESS_DONE, OUTCOME_REFUSED, REFUSED_CLOSED, {0, 0}, 5, 0},
    {"no row has the operation's reason", {OP_TEST, ON_SEMAPHORE, .miss = MISS_REFUSES, .reason = REFUSED_EPOCH}, {NOBODY}, CALL_PLAIN, OUTCOME_REFUSED, REFUSED_EPOCH, {0, 0}, 5, 0},
    {"divides by a weight of 0", {OP_TEST, ON_SEMAPHORE, .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3)}, {JOB, 0, 10, 1}, CALL_PLAIN, OUTCOME_REFUSED, REFUSED_UNCLASSIFIED, {0, 0}, 5, 0},
    {"divides by a modulus of 0", {OP_TEST, ON_SEMAPHORE, .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3)}, {JOB, 1, 0, 1}, CALL_PLAIN, OUTCOME_REFUSED, REFUSED_UNCLASSIFIED, {0, 0}, 5, 0},
    {"a digit of weight 0", {OP_TEST, ON_SEMAPHORE, .test = TEST_UNMARKED, .a = P(1)}, {JOB, 0}, CALL_PLAIN, OUTCOME_REFUSED, REFUSED_UNCLASSIFIED, {0, 0}, 5, 0},
    {"no row, no reason", {OP_TEST, ON_SEMAPHORE, .miss = MISS_REFUSES}, {NOBODY}, CALL_PLAIN, OUTCOME_REFUSED, REFUSED_NO_ROW, {0, 0}, 5, 0},
};
/* clang-format on */

/* One primitive of one operation, called once. */
static struct outcome execute_one(struct world *world, const struct op *op, const int64_t *params,
                                  enum call_mode mode, uint32_t picked)
{
    struct primitive primitive = {.name = "case", .params = 4, .op_count = 1, .ops = {*op}};
    struct bundle bundle = {.count = 1, .param_count = 4};
    bundle.calls[0] = (struct call){.mode = (uint8_t)mode};
    memcpy(bundle.params, params, 4 * sizeof *params);
    struct outcome outcome;
    memset(&outcome, 0x5a, sizeof outcome);
    store_execute(world, &primitive, &bundle, picked, &outcome);
    return outcome;
}

Test(store, every_operation_test_and_miss_does_what_its_line_says)
{
    for (size_t i = 0; i < COUNT(op_cases); i++) {
        const struct op_case *one = &op_cases[i];
        struct world world = bundles_world(8);
        struct outcome outcome =
            execute_one(&world, &one->op, one->params, (enum call_mode)one->mode, ROW_NONE);
        cr_expect_eq(outcome.kind, one->kind, "%s: outcome %d", one->name, outcome.kind);
        cr_expect_eq(outcome.refusal, one->refusal, "%s: %s", one->name,
                     refusal_text((enum refusal)outcome.refusal));
        cr_expect_eq(outcome.aborted, ABORT_NONE);
        cr_expect_eq(outcome.now, NOW);
        for (int v = 0; v < 2; v++) {
            cr_expect_eq(outcome.values[v], one->values[v], "%s: value %d is %lld", one->name, v,
                         (long long)outcome.values[v]);
        }
        cr_expect_eq(cell(&world, TABLE_JOB, JOB, JOB_SEMAPHORE), one->semaphore, "%s", one->name);
        cr_expect_eq(world_mark(&world), one->changes, "%s", one->name);
        world_free(&world);
    }
}

Test(store, of_the_rows_that_fit_the_first_in_order_is_found_and_of_equal_ones_the_lower_key)
{
    static const struct op find = {
        OP_FIND,   TABLE_JOB,          JOB_ESCALATED, .a = P(0),       .beside = JOB_STATE,
        .b = P(0), .order = JOB_INPUT, .c = P(1),     .returns = TO(0)};
    static const struct {
        int64_t below, found;
    } cases[] = {{2000, JOB + 2}, {801, JOB + 2}, {800, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world = bundles_world(8);
        world_insert(&world, TABLE_JOB, JOB + 1, (int64_t[JOB_COLUMNS]){1, 1, 0, 0, 900});
        world_insert(&world, TABLE_JOB, JOB + 3, (int64_t[JOB_COLUMNS]){3, 3, 0, 0, 800});
        world_insert(&world, TABLE_JOB, JOB + 2, (int64_t[JOB_COLUMNS]){2, 2, 0, 0, 800});
        world_insert(&world, TABLE_JOB, JOB + 4, (int64_t[JOB_COLUMNS]){0, 0, 0, 1, 700});
        world_insert(&world, TABLE_JOB, JOB + 5, (int64_t[JOB_COLUMNS]){0, 0, 1, 0, 700});
        struct outcome outcome =
            execute_one(&world, &find, (int64_t[4]){0, cases[i].below}, CALL_PLAIN, ROW_NONE);
        cr_expect_eq(outcome.values[0], cases[i].found, "below %lld: %lld",
                     (long long)cases[i].below, (long long)outcome.values[0]);
        world_free(&world);
    }
}

/* One that another row of the table names is none. */
Test(store, what_is_found_is_named_by_no_other_row)
{
    static const struct op find = {OP_FIND,
                                   TABLE_JOB,
                                   JOB_STATE,
                                   .beside = JOB_STATE,
                                   .order = JOB_SEMAPHORE,
                                   .c = P(0),
                                   .unnamed = 1 + JOB_SEMAPHORE,
                                   .returns = TO(0)};
    struct world world = bundles_world(8);
    world_insert(&world, TABLE_JOB, JOB + 1, (int64_t[JOB_COLUMNS]){[JOB_SEMAPHORE] = JOB});
    struct outcome outcome =
        execute_one(&world, &find, (int64_t[4]){INT64_MAX}, CALL_PLAIN, ROW_NONE);
    cr_expect_eq(outcome.values[0], JOB + 1);
    world_insert(&world, TABLE_JOB, JOB + 2, (int64_t[JOB_COLUMNS]){[JOB_SEMAPHORE] = JOB + 1});
    outcome = execute_one(&world, &find, (int64_t[4]){INT64_MAX}, CALL_PLAIN, ROW_NONE);
    cr_expect_eq(outcome.values[0], JOB + 2);
    world_free(&world);
}

Test(store, the_cases_have_every_operation_test_miss_and_mode)
{
    bool kinds[OP_LET_MODULO + 1] = {0}, tests[TEST_PAIR + 1] = {0};
    bool misses[MISS_REFUSES + 1][CALL_UNLESS_DONE + 1] = {{0}};
    for (size_t i = 0; i < COUNT(op_cases); i++) {
        kinds[op_cases[i].op.kind] = true;
        tests[op_cases[i].op.test] = true;
        misses[op_cases[i].op.miss][op_cases[i].mode] = true;
    }
    kinds[OP_INSERT] = kinds[OP_RECORD] = kinds[OP_CLAIM] = true; /* below */
    misses[MISS_GOES_ON][CALL_UNLESS_DONE] = true;                /* below */
    misses[MISS_REFUSES][CALL_REQUIRE] = true;                    /* read, no row */
    for (size_t i = 0; i < COUNT(kinds); i++) {
        cr_expect(kinds[i], "no case of operation %zu", i);
    }
    for (size_t i = 0; i < COUNT(tests); i++) {
        cr_expect(tests[i], "no case of test %zu", i);
    }
    for (size_t miss = 0; miss < COUNT(misses); miss++) {
        for (size_t mode = 0; mode < COUNT(misses[0]); mode++) {
            cr_expect(misses[miss][mode], "no case of miss %zu in mode %zu", miss, mode);
        }
    }
}

/* ---- a bundle, whole or not at all ----------------------------------------------------------- */

/* Three calls: input = 1; a guard; input = 2. */
Test(store, a_miss_refuses_all_skips_the_rest_or_goes_on)
{
    PROVES(CLAUSE_ACL_2);
    static const struct {
        uint8_t miss, mode;
        bool missed;
        uint8_t kind, skipped;
        int64_t input; /* expected, after it */
    } cases[] = {
        {MISS_GOES_ON, CALL_PLAIN, true, OUTCOME_COMMITTED, 0, 2},
        {MISS_GOES_ON, CALL_REQUIRE, true, OUTCOME_COMMITTED, 0, 2},
        {MISS_GOES_ON, CALL_UNLESS_DONE, true, OUTCOME_COMMITTED, 0, 2},
        {MISS_BY_CALL, CALL_PLAIN, true, OUTCOME_COMMITTED, 0, 2},
        {MISS_BY_CALL, CALL_REQUIRE, true, OUTCOME_REFUSED, 2, 1000},
        {MISS_BY_CALL, CALL_UNLESS_DONE, true, OUTCOME_COMMITTED, 2, 1},
        {MISS_REFUSES, CALL_PLAIN, true, OUTCOME_REFUSED, 2, 1000},
        {MISS_REFUSES, CALL_REQUIRE, true, OUTCOME_REFUSED, 2, 1000},
        {MISS_REFUSES, CALL_UNLESS_DONE, true, OUTCOME_REFUSED, 2, 1000},
        {MISS_BY_CALL, CALL_REQUIRE, false, OUTCOME_COMMITTED, 0, 2},
        {MISS_BY_CALL, CALL_UNLESS_DONE, false, OUTCOME_COMMITTED, 0, 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct primitive primitives[] = {
            {.name = "set input",
             .params = 2,
             .op_count = 1,
             .ops = {{OP_SET, TABLE_JOB, JOB_INPUT, .key = P(0), .value = P(1)}}},
            {.name = "guard",
             .params = 2,
             .op_count = 1,
             .ops = {{OP_TEST, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .test = TEST_EQUAL, .a = P(1),
                      .miss = cases[i].miss, .reason = REFUSED_DONE}}}};
        struct bundle bundle = {.count = 3,
                                .calls = {{.primitive = 0, .params = 0},
                                          {.primitive = 1, .mode = cases[i].mode, .params = 2},
                                          {.primitive = 0, .params = 4}},
                                .params = {JOB, 1, JOB, cases[i].missed ? 6 : 5, JOB, 2}};
        struct world world = bundles_world(8);
        uint64_t before = print_of(&world);
        struct outcome outcome;
        store_execute(&world, primitives, &bundle, ROW_NONE, &outcome);
        cr_expect_eq(outcome.kind, cases[i].kind, "case %zu", i);
        cr_expect_eq(outcome.skipped, cases[i].skipped, "case %zu", i);
        cr_expect_eq(cell(&world, TABLE_JOB, JOB, JOB_INPUT), cases[i].input, "case %zu", i);
        if (outcome.kind == OUTCOME_REFUSED) {
            cr_expect_eq(world_mark(&world), 0U, "ST1, case %zu", i);
            cr_expect_eq(print_of(&world), before);
        }
        world_undo(&world, 0);
        cr_expect_eq(print_of(&world), before, "what it left can be taken back");
        world_free(&world);
    }
}

/* `when` and `unless` look at a value that an earlier operation of the primitive returned. */
Test(store, an_operation_can_hang_on_a_value)
{
    static const struct {
        uint8_t when, unless;
        int64_t key;
        int64_t input; /* expected */
    } cases[] = {
        {0, 0, JOB, 7},        {TO(1), 0, JOB, 7},    {TO(1), 0, NOBODY, 1000},
        {0, TO(1), JOB, 1000}, {0, TO(1), NOBODY, 7},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct primitive primitive = {
            .params = 2,
            .op_count = 2,
            .ops = {{OP_READ, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), BOTH},
                    {OP_SET, TABLE_JOB, JOB_INPUT, .key = P(1), .value = P(2),
                     .when = cases[i].when, .unless = cases[i].unless}}};
        struct bundle bundle = {.count = 1, .params = {cases[i].key, JOB, 7}};
        struct world world = bundles_world(8);
        struct outcome outcome;
        store_execute(&world, &primitive, &bundle, ROW_NONE, &outcome);
        cr_expect_eq(cell(&world, TABLE_JOB, JOB, JOB_INPUT), cases[i].input, "case %zu", i);
        world_free(&world);
    }
}

Test(store, values_go_where_the_call_says)
{
    struct world world = bundles_world(8);
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_READ);
    bundle_append(&bundle, PRIMITIVE_READ_INPUT, CALL_PLAIN, 3)[0] = JOB;
    bundle_append(&bundle, PRIMITIVE_READ_GUID, CALL_PLAIN, 7)[0] = GUID;
    struct outcome outcome;
    memset(&outcome, 0x5a, sizeof outcome);
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    for (int v = 0; v < BUNDLE_VALUES_MAX; v++) {
        int64_t expected = v == 3 ? 1000 : v == 7 ? 10000000001 : v == 9 ? 1 : 0;
        cr_expect_eq(outcome.values[v], expected, "value %d", v);
    }
    world_free(&world);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The column that refers to another row gets parameter 1; all others 0. */
Test(store, a_row_needs_a_key_of_its_own_and_a_parent_that_is_there)
{
    static const struct {
        int table;
        int64_t parent; /* 0: it refers to none */
    } cases[] = {{TABLE_JOB, 0},          {TABLE_ACTIVITY, JOB},    {TABLE_TASK, ACTIVITY},
                 {TABLE_GUID, ACTIVITY},  {TABLE_OUTPUT, ACTIVITY}, {TABLE_COMPLETION, JOB},
                 {TABLE_ESCALATION, JOB}, {TABLE_MESSAGE, ACTIVITY}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum row_table table = (enum row_table)cases[i].table;
        const struct foreign_key *foreign = primitive_foreign_keys[table];
        uint8_t columns[ROW_COLUMNS_MAX];
        memset(columns, OPERAND_ZERO, sizeof columns);
        cr_expect_eq(foreign->there, cases[i].parent != 0, "table %d", cases[i].table);
        if (foreign->there) {
            columns[foreign->column] = P(1);
        }
        struct op insert = {OP_INSERT, (uint8_t)table, .key = P(0), .miss = MISS_BY_CALL,
                            .columns = columns};
        struct world world = bundles_world(8);
        struct outcome orphan =
            execute_one(&world, &insert, (int64_t[4]){1, NOBODY}, CALL_REQUIRE, ROW_NONE);
        cr_expect_eq(orphan.refusal, cases[i].parent == 0 ? REFUSED_NOTHING : REFUSED_NO_PARENT,
                     "table %d", cases[i].table);
        world_undo(&world, 0);
        struct outcome first =
            execute_one(&world, &insert, (int64_t[4]){1, cases[i].parent}, CALL_REQUIRE, ROW_NONE);
        cr_expect_eq(first.kind, OUTCOME_COMMITTED, "table %d", cases[i].table);
        cr_expect_neq(row_find(&world.rows, table, 1), ROW_NONE);
        size_t changes = world_mark(&world);
        struct outcome again =
            execute_one(&world, &insert, (int64_t[4]){1, cases[i].parent}, CALL_REQUIRE, ROW_NONE);
        cr_expect_eq(again.refusal, REFUSED_EXISTS, "table %d", cases[i].table);
        cr_expect_eq(world_mark(&world), changes, "table %d", cases[i].table);
        world_free(&world);
    }
}

Test(store, an_insert_by_call_that_exists_is_skipped_or_passed_over)
{
    uint8_t columns[JOB_COLUMNS] = {OPERAND_ONE, OPERAND_ZERO, OPERAND_ZERO, OPERAND_ZERO, P(1)};
    struct op insert = {OP_INSERT, TABLE_JOB, .key = P(0), .miss = MISS_BY_CALL,
                        .columns = columns};
    static const struct {
        enum call_mode mode;
        uint8_t skipped;
    } cases[] = {{CALL_PLAIN, 0}, {CALL_UNLESS_DONE, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world = bundles_world(8);
        struct outcome outcome =
            execute_one(&world, &insert, (int64_t[4]){JOB, 4}, cases[i].mode, ROW_NONE);
        cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
        cr_expect_eq(outcome.skipped, cases[i].skipped);
        cr_expect_eq(cell(&world, TABLE_JOB, JOB, JOB_INPUT), 1000, "as it was");
        world_free(&world);
    }
}

Test(store, a_record_made_twice_counts_to_two_and_keeps_the_rest)
{
    struct world world = bundles_world(8);
    struct bundle bundle;
    struct outcome outcome;
    for (int64_t runs = 1; runs <= 3; runs++) {
        bundle_begin(&bundle, BUNDLE_STEP1);
        int64_t *p = bundle_append(&bundle, PRIMITIVE_RECORD_OUTPUT, CALL_PLAIN, 0);
        p[0] = 55;
        p[1] = ACTIVITY;
        p[2] = 4;
        p[3] = 100 + runs;
        p[4] = GUID;
        store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
        cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
        cr_expect_eq(cell(&world, TABLE_OUTPUT, 55, OUTPUT_RUNS), runs);
        cr_expect_eq(cell(&world, TABLE_OUTPUT, 55, OUTPUT_VALUE), 101, "of the first time");
    }
    world_free(&world);
}

Test(store, a_full_table_refuses_in_every_mode)
{
    static const enum call_mode modes[] = {CALL_PLAIN, CALL_REQUIRE, CALL_UNLESS_DONE};
    uint8_t columns[JOB_COLUMNS] = {OPERAND_ONE, OPERAND_ZERO, OPERAND_ZERO, OPERAND_ZERO, P(1)};
    for (int kind = OP_INSERT; kind <= OP_RECORD; kind++) {
        struct op insert = {(uint8_t)kind, TABLE_JOB, .key = P(0), .miss = MISS_BY_CALL,
                            .columns = columns};
        for (size_t i = 0; i < COUNT(modes); i++) {
            struct world world = bundles_world(1);
            struct outcome outcome =
                execute_one(&world, &insert, (int64_t[4]){8, 4}, modes[i], ROW_NONE);
            cr_expect_eq(outcome.kind, OUTCOME_REFUSED);
            cr_expect_eq(outcome.refusal, REFUSED_STORE_FULL);
            cr_expect_eq(world_mark(&world), 0U);
            world_free(&world);
        }
    }
}

/* ---- claims ---------------------------------------------------------------------------------- */

Test(store, a_claim_takes_the_picked_message_for_a_time_and_returns_it_as_it_now_is)
{
    SETTLES(ERRATUM_ACL_11);
    struct world world = bundles_world(8);
    struct bundle bundle;
    struct outcome outcome;
    bundle_begin(&bundle, BUNDLE_CLAIM);
    bundle_append(&bundle, PRIMITIVE_CLAIM, CALL_PLAIN, 0)[0] = 60;
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    cr_expect_eq(outcome.kind, OUTCOME_REFUSED);
    cr_expect_eq(outcome.refusal, REFUSED_NO_MESSAGE);
    uint32_t slot = row_find(&world.rows, TABLE_MESSAGE, MESSAGE);
    store_execute(&world, primitive_table, &bundle, slot, &outcome);
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(outcome.message[0], MESSAGE);
    for (int c = 0; c < MESSAGE_COLUMNS; c++) {
        cr_expect_eq(outcome.message[1 + c], cell(&world, TABLE_MESSAGE, MESSAGE, c));
    }
    cr_expect_eq(outcome.message[1 + MESSAGE_EPOCH], 4);
    cr_expect_eq(outcome.message[1 + MESSAGE_VISIBLE_AT], NOW + 60);
    world_free(&world);
}

/* A claim is held while its epoch stands: extend, put back and ack of another are refused. */
Test(store, who_lost_the_claim_can_neither_extend_nor_put_back_nor_ack)
{
    SETTLES(ERRATUM_ACL_11);
    static const struct {
        enum primitive_id primitive;
        int64_t message, epoch, last; /* ticks; of an ack, the content */
        uint8_t refusal;
        int64_t visible_at; /* expected; INT64_MIN: the message is gone */
    } cases[] = {
        {PRIMITIVE_EXTEND, MESSAGE, 3, 60, REFUSED_NOTHING, NOW + 60},
        {PRIMITIVE_EXTEND, MESSAGE, 2, 60, REFUSED_EPOCH, 20},
        {PRIMITIVE_EXTEND, NOBODY, 3, 60, REFUSED_EPOCH, 20},
        {PRIMITIVE_PUT_BACK, MESSAGE, 3, 60, REFUSED_NOTHING, NOW + 60},
        {PRIMITIVE_PUT_BACK, MESSAGE, 4, 60, REFUSED_EPOCH, 20},
        {PRIMITIVE_PUT_BACK, NOBODY, 3, 60, REFUSED_EPOCH, 20},
        {PRIMITIVE_ACK, MESSAGE, 3, 0, REFUSED_NOTHING, INT64_MIN},
        {PRIMITIVE_ACK, MESSAGE, 3, 1, REFUSED_EPOCH, 20}, /* published again with another answer */
        {PRIMITIVE_ACK, MESSAGE, 2, 0, REFUSED_EPOCH, 20},
        {PRIMITIVE_ACK, NOBODY, 3, 0, REFUSED_EPOCH, 20},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct world world = bundles_world(8);
        struct bundle bundle;
        struct outcome outcome;
        bundle_begin(&bundle, BUNDLE_EXTEND);
        int64_t *p = bundle_append(&bundle, cases[i].primitive, CALL_REQUIRE, 0);
        p[0] = cases[i].message;
        p[1] = cases[i].epoch;
        p[2] = cases[i].last;
        store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
        cr_expect_eq(outcome.refusal, cases[i].refusal, "case %zu", i);
        cr_expect_eq(cell(&world, TABLE_MESSAGE, MESSAGE, MESSAGE_VISIBLE_AT), cases[i].visible_at,
                     "case %zu", i);
        world_free(&world);
    }
}

/* ---- random bundles -------------------------------------------------------------------------- */

static bool same(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

/* (ST1) and (ST2): 30,000 bundles in one world that grows; each is executed, taken back, and
 * executed again. */
Test(store, a_random_bundle_is_whole_or_nothing_and_does_the_same_again)
{
    uint64_t random = 5;
    struct world world = bundles_world(400);
    int refused = 0, skipped = 0, whole = 0;
    for (int i = 0; i < 30000; i++) {
        struct bundle bundle;
        struct outcome one, other;
        memset(&one, 0, sizeof one);
        memset(&other, 0, sizeof other);
        bundles_draw(&random, &bundle);
        int64_t unused;
        uint32_t picked = world_next_message(&world, &unused);
        uint64_t before = print_of(&world);
        store_execute(&world, primitive_table, &bundle, picked, &one);
        uint64_t after = print_of(&world);
        if (one.kind == OUTCOME_REFUSED) {
            cr_assert_eq(world_mark(&world), 0U, "ST1");
            cr_assert_eq(after, before, "ST1");
            cr_assert_neq(one.refusal, REFUSED_NOTHING);
            cr_assert(one.skipped >= 1 && one.skipped <= bundle.count);
        } else {
            cr_assert_eq(one.kind, OUTCOME_COMMITTED);
        }
        refused += one.kind == OUTCOME_REFUSED;
        skipped += one.kind == OUTCOME_COMMITTED && one.skipped != 0;
        whole += one.kind == OUTCOME_COMMITTED && one.skipped == 0;
        world_undo(&world, 0);
        cr_assert_eq(print_of(&world), before, "it can be taken back");
        store_execute(&world, primitive_table, &bundle, picked, &other);
        cr_assert(same(&one, &other, sizeof one), "ST2");
        cr_assert_eq(print_of(&world), after, "ST2");
        if (random_one_in(&random, 20)) {
            world_undo(&world, 0);
        }
        world_keep(&world);
        if (i % 500 == 499) {
            world_free(&world);
            world = bundles_world(400);
        }
    }
    cr_expect_gt(refused, 3000);
    cr_expect_gt(skipped, 1000);
    cr_expect_gt(whole, 1000);
    world_free(&world);
}
