/* The meaning of an operation on one row: the arithmetic and the tests, independent of where rows
 * are kept and of concurrency. The one place that defines it: both levels of the simulated store
 * (store.c, session_operations.c) execute operations through this. */
#ifndef SIM_MEANING_H
#define SIM_MEANING_H

#include "model/bundle.h"

/* The call that is being executed: its operands, and where its values go. */
struct frame {
    const int64_t *operands[3]; /* constants, parameters, values: see enum operand */
    int64_t *values;
};

/* The constants of enum operand at this time of the two clocks. */
#define MEANING_CONSTANTS(now, wall)                                                               \
    {                                                                                              \
        [OPERAND_ONE] = 1, [OPERAND_MINUS_ONE] = -1, [OPERAND_NOW] = (now),                        \
        [OPERAND_WALL] = (wall), [OPERAND_NULL] = ROW_NULL                                         \
    }

static inline int64_t meaning_operand(const struct frame *frame, uint8_t operand)
{
    return frame->operands[OPERAND_ARRAY(operand)][OPERAND_PLACE(operand)];
}

static inline void meaning_give(const struct frame *frame, uint8_t to, int64_t value)
{
    if (to != 0) {
        frame->values[to - 1] = value;
    }
}

/* The operation's own condition on earlier values says to leave it out. */
static inline bool meaning_left_out(const struct frame *frame, const struct op *op)
{
    return (op->when != 0 && frame->values[op->when - 1] == 0) ||
           (op->unless != 0 && frame->values[op->unless - 1] != 0);
}

static inline int64_t meaning_digit(int64_t cell, int64_t weight)
{
    return cell / weight % 10;
}

/* A ledger that may be entered again (E-ACL-17): its counter has room, it owes nothing, or it was
 * created at the last entry. Its markers stand just above the counter. */
static inline bool meaning_resumable(int64_t cell, int64_t modulus, int64_t ceiling, bool last)
{
    int64_t markers = cell / modulus % 10000;
    bool owes_nothing = markers == 110 || markers == 1111;
    return cell % modulus < ceiling || owes_nothing || last;
}

/* True if `cell` and `digits` share no decimal digit. */
static inline bool meaning_lacks(int64_t cell, int64_t digits)
{
    unsigned wanted = 0, there = 0;
    do {
        wanted |= 1U << digits % 10;
    } while ((digits /= 10) != 0);
    do {
        there |= 1U << (cell < 0 ? -(cell % 10) : cell % 10);
    } while ((cell /= 10) != 0);
    return (wanted & there) == 0;
}

/* The operation's test divides by 0: on a server an error (22012), and never passed here. Looked at
 * when a test was not passed. */
static inline bool meaning_divides_by_0(const struct frame *frame, const struct op *op)
{
    bool divides = op->test == TEST_BELOW || op->test == TEST_MARKED || op->test == TEST_UNMARKED ||
                   op->test == TEST_DIGIT || op->test == TEST_RESUMABLE || op->test == TEST_STUCK;
    return divides && (meaning_operand(frame, op->a) == 0 ||
                       (op->test == TEST_BELOW && meaning_operand(frame, op->b) == 0));
}

/* Whether the row, key first, passes the operation's test. */
static inline bool meaning_passes(const struct frame *frame, const struct op *op,
                                  const int64_t *row)
{
    int64_t cell = row[1 + op->column];
    if (op->test == TEST_NONE) {
        return true;
    }
    int64_t a = meaning_operand(frame, op->a), b = meaning_operand(frame, op->b),
            c = meaning_operand(frame, op->c);
    switch ((enum op_test)op->test) {
    case TEST_NONE:
        return true;
    case TEST_BELOW:
        return a != 0 && b != 0 && cell / a % b < c;
    case TEST_MARKED:
        return a != 0 && meaning_digit(cell, a) == 1;
    case TEST_UNMARKED:
        return a != 0 && meaning_digit(cell, a) == 0;
    case TEST_EQUAL:
        return cell == a;
    case TEST_NOT_BELOW:
        return cell + meaning_operand(frame, op->value) >= 0;
    case TEST_RESUMABLE:
    case TEST_STUCK:
        return a != 0 && (op->test == TEST_RESUMABLE) ==
                             meaning_resumable(cell, a, b, row[1 + op->beside] == c);
    case TEST_DIGIT:
        return a != 0 && meaning_digit(cell, a) == b;
    case TEST_LACKS:
        return meaning_lacks(cell, a);
    case TEST_AMONG:
        return cell >= 0 && cell < 63 && (a >> cell & 1) != 0;
    case TEST_PAIR:
        return cell == a && row[1 + op->beside] == b;
    }
    return false;
}

/* The cell after an ADD or a SET. */
static inline int64_t meaning_written(const struct frame *frame, const struct op *op, int64_t cell)
{
    int64_t value = meaning_operand(frame, op->value);
    return op->kind == OP_ADD ? cell + value : value;
}

/* The columns of a new row; false: one of them is null. */
static inline bool meaning_columns(const struct frame *frame, const struct op *op, uint32_t count,
                                   int64_t *columns)
{
    bool whole = true;
    for (uint32_t c = 0; c < count; c++) {
        columns[c] = meaning_operand(frame, op->columns[c]);
        whole = whole && columns[c] != ROW_NULL;
    }
    return whole;
}

/* FIND: whether the row, key first, is in the part of the index that is asked for; and whether it
 * stands there before the other one. */
static inline bool meaning_fits(const struct frame *frame, const struct op *op, const int64_t *row)
{
    return row[1 + op->column] == meaning_operand(frame, op->a) &&
           row[1 + op->beside] == meaning_operand(frame, op->b) &&
           row[1 + op->order] < meaning_operand(frame, op->c);
}

static inline bool meaning_stands_before(const struct op *op, const int64_t *row,
                                         const int64_t *other)
{
    int64_t left = row[1 + op->order], right = other[1 + op->order];
    return left != right ? left < right : row[0] < other[0];
}

static inline void meaning_let(const struct frame *frame, const struct op *op)
{
    int64_t a = meaning_operand(frame, op->a), b = meaning_operand(frame, op->b),
            c = meaning_operand(frame, op->c);
    meaning_give(frame, op->returns,
                 op->kind == OP_LET_EQUAL ? a == b
                 : op->kind == OP_LET_SUM ? a + b * c
                                          : a % b);
}

/* The reason of a miss when the row does not exist. */
static inline enum refusal meaning_absent(const struct op *op)
{
    return op->reason == REFUSED_NOTHING ? REFUSED_NO_ROW : (enum refusal)op->reason;
}

enum call_result { CALL_GOES_ON, CALL_SKIPS_REST, CALL_REFUSED };

/* The effect of a miss of this operation on the bundle. */
static inline enum call_result meaning_missed(const struct op *op, const struct call *call)
{
    if (op->miss == MISS_REFUSES || (op->miss == MISS_BY_CALL && call->mode == CALL_REQUIRE)) {
        return CALL_REFUSED;
    }
    return op->miss == MISS_BY_CALL && call->mode == CALL_UNLESS_DONE ? CALL_SKIPS_REST
                                                                      : CALL_GOES_ON;
}

#endif
