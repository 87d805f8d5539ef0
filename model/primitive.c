#include "model/primitive.h"

#define P(i)                (OPERAND_PARAM + (i))
#define V(i)                (OPERAND_VALUE + (i))
#define NOW                 OPERAND_NOW
#define ZERO                OPERAND_ZERO
#define ONE                 OPERAND_ONE
#define MINUS_ONE           OPERAND_MINUS_ONE
#define TO(i)               ((i) + 1) /* the value that a result goes to, or that a condition looks at */
#define COLUMNS(table, ...) ((const uint8_t[table##_COLUMNS]){__VA_ARGS__})

/* A claim is held while its epoch stands (E-ACL-11). */
#define IF_EPOCH_STANDS .test = TEST_EQUAL, .a = P(1), .miss = MISS_BY_CALL, .reason = REFUSED_EPOCH

const struct primitive primitive_table[PRIMITIVE_COUNT] = {
#include "model/activity_primitives.def"
#include "model/inbox_primitives.def"
};
