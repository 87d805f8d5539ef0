/* The durable primitives of all protocols: what an engine may ask of a store.
 *
 * A primitive is data: a short list of row operations. It is defined once, in a file
 * of its protocol (NAME_primitives.def). The simulated store
 * has one interpreter for the operations; the store on PostgreSQL has one SQL template for each. An
 * engine never writes SQL and never touches a row (ACL-1); it strings primitives into a bundle
 * (bundle.h).
 *
 * An operation takes its operands from the call's parameters, from the store's clocks, or from a
 * value that an earlier operation of the same primitive returned. So a compound primitive, such as
 * Step 2's PRIMITIVE_COLLATE, needs no engine between its parts (12.2). A compound of a number of
 * parts that varies, as the whole of Step 2 with its children, is calls that are joined (bundle.h).
 *
 * (PM1) A test and the write that hangs on it are one operation: no other transaction comes between
 *       (ACL-43, E-ACL-5).
 * (PM2) An operation returns the cell as it now is, also when its test missed: a call that came too
 *       late still learns the state (E-ACL-26).
 * (PM3) Rows are touched in one order everywhere: message, activity, GUID, job, then task and
 *       inserts (E-ACL-28).
 * (PM4) Nothing here knows a digit: weights and ceilings are parameters. The one exception is
 *       TEST_RESUMABLE, which must tell a ledger that owes nothing (markers 0110 and 1111).
 * (PM5) In a primitive that is one statement no row is written by two updates (E-ACL-24), and what
 *       is decided is decided on a row under its lock (E-ACL-25).
 * (PM6) FIND has an index of exactly its three columns (table_indexes), so that it reads one row. */
#ifndef MODEL_PRIMITIVE_H
#define MODEL_PRIMITIVE_H

#include "model/rows.h"

enum op_kind {
    OP_READ,   /* returns a cell, 0 if there is no such row */
    OP_TEST,   /* nothing but its test */
    OP_ADD,    /* adds to a cell */
    OP_SET,    /* sets a cell */
    OP_INSERT, /* a new row; a row with its key is a miss (23505), a missing parent another */
    OP_RECORD, /* a new row, or one more in the last column of the one that is there */
    OP_DELETE, /* takes a row away */
    OP_CLAIM,  /* takes the message that the store picks, and returns it whole */
    OP_FIND,   /* returns the key of the first row of an index whose two cells are equal to a and b
                     and whose third is below c, 0 if there is none; a plain read */
    OP_EVERY,  /* nothing but its test: every row whose cell is equal to a names, by the column
                     beside, a row whose cell of the order is equal to b; it locks those */
    OP_ADVISORY,  /* takes the advisory lock of a number until the transaction ends */
    OP_LET_EQUAL, /* a == b */
    OP_LET_SUM,   /* a + b * c */
    OP_LET_MODULO /* a % b */
};

/* What must hold of the cell, else the operation is a miss. */
enum op_test {
    TEST_NONE,
    TEST_BELOW,     /* (cell / a) % b < c: a counter with room */
    TEST_MARKED,    /* (cell / a) % 10 == 1 */
    TEST_UNMARKED,  /* (cell / a) % 10 == 0 */
    TEST_EQUAL,     /* cell == a */
    TEST_NOT_BELOW, /* cell + value >= 0: what an addition leaves */
    TEST_RESUMABLE, /* a ledger that has room to count (a: modulus, b: ceiling), owes nothing, or
                       was born at the last entry (c: the cell beside it): E-ACL-17 */
    TEST_STUCK,     /* the opposite */
    TEST_DIGIT,     /* (cell / a) % 10 == b */
    TEST_LACKS,     /* no digit of the cell is one of the digits that a is written with */
    TEST_AMONG,     /* bit `cell` of a is set: the cell is one of a set of numbers below 63 */
    TEST_PAIR       /* cell == a, and the cell beside it == b */
};

/* How strongly an operation locks its row until the transaction ends: PostgreSQL's four modes, the
 * weakest first. LOCK_USUAL is what the kind needs: none for READ, FOR UPDATE for DELETE and CLAIM,
 * FOR NO KEY UPDATE for the rest. Only a store whose transactions interleave knows locks. */
enum op_lock {
    LOCK_USUAL,
    LOCK_NONE,
    LOCK_KEY_SHARE,
    LOCK_SHARE,
    LOCK_NO_KEY_UPDATE,
    LOCK_UPDATE,
    LOCK_COUNT
};

/* What a miss means. */
enum op_miss {
    MISS_GOES_ON, /* the operation does nothing */
    MISS_BY_CALL, /* the primitive's guard: the call says (enum call_mode) */
    MISS_REFUSES  /* the whole bundle is rolled back */
};

/* Why a bundle was refused. */
enum refusal {
    REFUSED_NOTHING,      /* it was not */
    REFUSED_NO_ROW,       /* the row is not there */
    REFUSED_EXISTS,       /* a row with this key is there: 23505 */
    REFUSED_NO_PARENT,    /* the row that it refers to is not there: 23503 */
    REFUSED_DONE,         /* the marker is set */
    REFUSED_CEILING,      /* the counter is full */
    REFUSED_ATTEMPTS,     /* the GUID's attempts are full and it owes a step */
    REFUSED_TOO_EARLY,    /* Leg1 is not complete, or a pending answer not through */
    REFUSED_NEGATIVE,     /* the semaphore would fall below 0 */
    REFUSED_EPOCH,        /* the claim is no longer held */
    REFUSED_CLOSED,       /* another answer closed the task */
    REFUSED_NO_MESSAGE,   /* nothing to claim */
    REFUSED_STORE_FULL,   /* the simulated store has no room: the run cannot go on */
    REFUSED_NULL,         /* a column that must hold something is given nothing: 23502 */
    REFUSED_DIGIT,        /* the key's digit is not the one that the change expects (E-KEY-3) */
    REFUSED_KEY_MOVED,    /* the key is not the one that the change was judged on (E-KEY-5) */
    REFUSED_STATUS,       /* the entry's status is another */
    REFUSED_UNAPPROVED,   /* no decision approves it */
    REFUSED_SUPERSEDED,   /* another decision took its place */
    REFUSED_BLOCKED,      /* what it depends on is not complete */
    REFUSED_UNSIGNED,     /* no change set that the executor signed */
    REFUSED_HALTED,       /* seq: Stage1 has failed, and nothing moves any more (SEQ-20) */
    REFUSED_STALE,        /* seq: the token or the expectation was overtaken (E-SEQ-3, E-SEQ-8) */
    REFUSED_ILLEGAL,      /* seq: outside the transition contract (SEQ-3) */
    REFUSED_FORBIDDEN,    /* the principal lacks a right: 42501 (rights.h) */
    REFUSED_UNCLASSIFIED, /* a principal met an SQLSTATE that nobody has classified (E-CUT-16) */
    REFUSED_SWEPT,        /* pipeline: the request no longer stands still of this stop */
    REFUSED_CUT,          /* pipeline: a live change set of this decision is there */
    REFUSAL_COUNT
};

/* An operand: which of three arrays, and where in it. The arrays are the constants below, the
 * call's parameters, and the values returned so far. */
enum operand {
    OPERAND_ZERO,
    OPERAND_ONE,
    OPERAND_MINUS_ONE,
    OPERAND_NOW,  /* the store's clock: leases and claims go by it, and it may leap */
    OPERAND_WALL, /* the wall clock: milliseconds since 1970, for people */
    OPERAND_NULL, /* nothing at all: only for the columns of an insert, which it fails */
    OPERAND_CONSTANTS,
    OPERAND_NONE = OPERAND_ZERO,
    OPERAND_PARAM = 0x40, /* + i */
    OPERAND_VALUE = 0x80  /* + i */
};
#define ROW_NULL INT64_MIN /* what OPERAND_NULL is worth */

/* The two clocks never show equal numbers. The store's clock begins at 0 in a simulation, and on a
 * server in the year 2000; the wall clock of a simulation is so far ahead of it. */
#define PRIMITIVE_WALL_AHEAD   INT64_C(1700000000000)
#define OPERAND_ARRAY(operand) ((operand) >> 6)
#define OPERAND_PLACE(operand) ((operand)&0x3F)

struct op {
    uint8_t kind;    /* enum op_kind */
    uint8_t table;   /* enum row_table */
    uint8_t column;  /* which cell */
    uint8_t key;     /* operand: which row */
    uint8_t value;   /* operand: what is added or set */
    uint8_t test;    /* enum op_test */
    uint8_t a, b, c; /* operands of the test, or of LET */
    uint8_t miss;    /* enum op_miss */
    uint8_t reason;  /* enum refusal: what a miss means; a row that is not there is one too */
    uint8_t returns; /* 1 + which value gets the cell; 0: none */
    uint8_t found;   /* 1 + which value gets whether it was done; 0: none */
    uint8_t when;    /* 1 + the value that must not be 0, else it is left out; 0: always */
    uint8_t unless;  /* 1 + the value that must be 0, else it is left out; 0: always */
    uint8_t lock;    /* enum op_lock */
    bool skips;      /* SKIP LOCKED: a row that it would have to wait for is not there */
    bool fresh;      /* in one statement: sees the row as it now is, because it is reached through
                        an upsert, and not as the statement's snapshot has it */
    uint8_t beside;  /* TEST_RESUMABLE, TEST_STUCK, TEST_PAIR, FIND, EVERY: another column of the
                        row */
    uint8_t order;   /* FIND: the column by which rows are ordered, the lowest first, then by key;
                        EVERY: a column of the rows that are named */
    uint8_t unnamed; /* FIND: 1 + the column by which no row of the table may name it; 0: any may */
    bool joins;      /* in one statement: part of the update before it that wrote this row */
    const uint8_t *columns; /* INSERT, RECORD: an operand for each column */
};

/* The lock that an operation takes. */
static inline enum op_lock op_lock_of(const struct op *op)
{
    if (op->lock != LOCK_USUAL) {
        return (enum op_lock)op->lock;
    }
    return op->kind == OP_READ || op->kind == OP_FIND || op->kind == OP_EVERY ? LOCK_NONE
           : op->kind == OP_DELETE || op->kind == OP_CLAIM                    ? LOCK_UPDATE
                                                                              : LOCK_NO_KEY_UPDATE;
}

#define PRIMITIVE_OPS_MAX    18
#define PRIMITIVE_PARAMS_MAX 15
#define PRIMITIVE_VALUES_MAX 6

struct primitive {
    const char *name;
    bool one_statement; /* its operations share a snapshot: it is a single SQL statement */
    uint8_t params;
    uint8_t op_count;
    struct op ops[PRIMITIVE_OPS_MAX];
};

/* PRIMITIVE_CLAIM, ... */
enum primitive_id {
#define PRIMITIVE(id, ...)     PRIMITIVE_##id,
#define ONE_STATEMENT(id, ...) PRIMITIVE_##id,
#include "model/primitives.def"
#undef PRIMITIVE
#undef ONE_STATEMENT
    PRIMITIVE_COUNT
};

/* PRIMITIVE_CLAIM_PARAMS, ...: how many parameters each has */
enum {
#define PRIMITIVE(id, text, count, ...)     PRIMITIVE_##id##_PARAMS = (count),
#define ONE_STATEMENT(id, text, count, ...) PRIMITIVE_##id##_PARAMS = (count),
#include "model/primitives.def"
#undef PRIMITIVE
#undef ONE_STATEMENT
};

/* The catalogue. A store executes the table that it is given, so that a planted bug can be a copy
 * of this one with an operation changed. */
extern const struct primitive primitive_table[PRIMITIVE_COUNT];

/* Two ways to write Step 2 as one statement that PostgreSQL executes, and that do the wrong thing.
 * No engine calls them; they show that the simulated store falls into the same traps. */
enum primitive_trap {
    TRAP_TWO_UPDATES, /* guid, weight, second weight -> ledger: the GUID's row is updated twice, and
                         the second update is lost (E-ACL-24) */
    TRAP_PLAIN_TEST,  /* guid, job, delta, weight -> ledger, semaphore: the marker is tested on a
                         plain read, which is stale after the wait for the job (E-ACL-25) */
    TRAP_COUNT
};
extern const struct primitive primitive_traps[TRAP_COUNT];

/* A foreign key: a column names a row of another table, or of the same. A table's keys stand in the
 * order in which a server checks them, which is that in which it makes them. */
#define FOREIGN_KEYS_MAX 6
struct foreign_key {
    uint8_t column; /* of the table that refers */
    uint8_t parent; /* enum row_table: where the row must be */
    bool optional;  /* 0 names no row, and is not checked */
    bool there;     /* false: the end of the list */
};
extern const struct foreign_key primitive_foreign_keys[TABLE_COUNT][FOREIGN_KEYS_MAX + 1];
/* EVERY: the table that its column names. */
enum row_table primitive_named_table(const struct op *op);
extern const uint32_t primitive_foreign_columns[TABLE_COUNT]; /* a bit a column */

/* The row with these columns refers to one, which must be there. */
static inline bool foreign_key_applies(const struct foreign_key *key, const int64_t *columns)
{
    return !key->optional || columns[key->column] != 0;
}

#endif
