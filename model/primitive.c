#include "model/primitive.h"

#define P(i)                (OPERAND_PARAM + (i))
#define V(i)                (OPERAND_VALUE + (i))
#define NOW                 OPERAND_NOW
#define WALL                OPERAND_WALL
#define ZERO                OPERAND_ZERO
#define ONE                 OPERAND_ONE
#define MINUS_ONE           OPERAND_MINUS_ONE
#define TO(i)               ((i) + 1) /* the value that a result goes to, or that a condition looks at */
#define COLUMNS(table, ...) ((const uint8_t[table##_COLUMNS]){__VA_ARGS__})

/* A claim is held while its epoch stands (E-ACL-11). */
#define IF_EPOCH_STANDS .test = TEST_EQUAL, .a = P(1), .miss = MISS_BY_CALL, .reason = REFUSED_EPOCH

/* A row whose key is the first parameter; the guard is that there is none. */
#define INSERT(table, ...)                                                                         \
    OP_INSERT, TABLE_##table, .key = P(0), .columns = COLUMNS(table, __VA_ARGS__),                 \
                              .miss = MISS_BY_CALL

#define OPS(...)                                                                                   \
    .op_count = sizeof((const struct op[]){__VA_ARGS__}) / sizeof(struct op), .ops = {__VA_ARGS__}

const struct primitive primitive_table[PRIMITIVE_COUNT] = {
#define PRIMITIVE(id, text, count, ...)                                                            \
    [PRIMITIVE_##id] = {.name = text, .params = count, OPS(__VA_ARGS__)},
#define ONE_STATEMENT(id, text, count, ...)                                                        \
    [PRIMITIVE_##id] = {.name = text, .one_statement = true, .params = count, OPS(__VA_ARGS__)},
#include "model/primitives.def"
#undef PRIMITIVE
#undef ONE_STATEMENT
};

const struct primitive primitive_traps[TRAP_COUNT] = {
    [TRAP_TWO_UPDATES] =
        {
            .name = "two updates",
            .one_statement = true,
            .params = 3,
            .op_count = 3,
            .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED,
                     .a = P(1), .miss = MISS_BY_CALL, .reason = REFUSED_DONE, .returns = TO(0)},
                    {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(1), .returns = TO(0)},
                    {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(2)}},
        },
    [TRAP_PLAIN_TEST] =
        {
            .name = "plain test",
            .one_statement = true,
            .params = 4,
            .op_count = 3,
            .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED,
                     .a = P(3), .miss = MISS_BY_CALL, .reason = REFUSED_DONE, .lock = LOCK_NONE,
                     .returns = TO(0)},
                    {OP_ADD, TABLE_JOB, JOB_SEMAPHORE, .key = P(1), .value = P(2),
                     .miss = MISS_REFUSES, .reason = REFUSED_NO_ROW, .returns = TO(1)},
                    {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3),
                     .returns = TO(0)}},
        },
};
