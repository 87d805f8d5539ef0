/* What the tables of rows.h are called, what their columns hold, and the words for their rows: the
 * one description that worlds, SQL schemas, views, traces, stories and findings read. Each protocol
 * describes its tables in a file of its own, NAME_tables.def, as
 *
 *      NAMES(job_state, [JOB_ACTIVE] = "active", ...)      the values of an enum, for ENUM(job_state)
 *      TABLE(TASK, "task",                                 one table, with every column of rows.h:
 *            COLUMN(TASK, ACTIVITY, "activity", REF(ACTIVITY))
 *            COLUMN(TASK, RUNS, "runs", ONCE))             ... its name and its kind
 *      FOREIGN_KEYS(TASK, REFERS(TASK, ACTIVITY, ACTIVITY)) the columns that refer to a row that must
 *                                                          be there, each with the table of that row
 *      INDEX(SEQ, STATE, RETRY, HEARTBEAT)                 an index for OP_FIND: struct table_index;
 *                                                          TABLE_INDEXES counts them
 *      WORDS(TASK, .called = "Leg1's work of ", ...)       struct table_words
 *
 *      TYPED_TABLE(ENTRY, "decision_backlog_entry", "entry_id", ...)
 *                                                          likewise, with the name of its key
 *
 * A kind says what a cell means: every cell is 64 bits here. On a server it is a bigint; in a table
 * that is described with TYPED_TABLE instead of TABLE it has the SQL type of its kind
 * (real/cell.h). A foreign key is apart
 * from REF, so that a reference may have none and a table several. They are checked in the order in
 * which they stand here (primitive_foreign_keys of primitive.h). MAY_REFER instead of REFERS: the
 * column may be empty (..._OR_NONE), and 0, which is NULL on a server, is not checked.
 *
 * (TD1) Every column of a table is described, with a name.
 * (TD2) A foreign key's column is a REF to the table that it names; of MAY_REFER one that may be empty.
 * (TD3) The owner of a row is a REF, and following owners ends at a row that is ROW_ITSELF. */
#ifndef MODEL_TABLE_H
#define MODEL_TABLE_H

#include "model/rows.h"

enum column_kind {
    COLUMN_NUMBER, /* a position, a dimension, an amount */
    COLUMN_COUNT,  /* how many */
    COLUMN_ONCE,   /* how often the work that the row records was done: 1 */
    COLUMN_FLAG,   /* 0 or 1 */
    COLUMN_BITS,   /* a set, a bit a member */
    COLUMN_TIME,   /* of the store's clock, and compared with it later; 0: none */
    COLUMN_STAMP,  /* of the wall clock, kept as evidence only; 0: none */
    COLUMN_DATA,   /* what work reads or makes; a text is its hash */
    COLUMN_ID,     /* an identity that is no key of a table here; 0: none */
    COLUMN_REF,    /* the key of a row of `of`; 0: none */
    COLUMN_ENUM,   /* a value with a name */
    COLUMN_LEDGER, /* 15 digits, laid out as `of` says */
    COLUMN_MEMBER, /* DATA in a document that several columns share: `inside` */
    COLUMN_KINDS
};

/* Layouts of 15 digits; `assay decode` knows each by its name. */
enum column_ledger { DIGITS_ACTIVITY, DIGITS_GUID, DIGITS_LEGACY, DIGITS_KEY, DIGITS_KINDS };

struct column {
    const char *name;
    enum column_kind kind;
    int of;                   /* REF: enum row_table; LEDGER: enum column_ledger */
    const char *const *names; /* ENUM: by value, NULL for a value that does not exist */
    uint32_t name_count;
    const char *inside; /* MEMBER: what the document is called */
    bool nullable;      /* 0 is "none": NULL in SQL */
};

#define ROW_ITSELF (-1)

/* How rows of a table are described (sim/teller.h). */
struct table_words {
    const char *called; /* text before the owner's name: "output of "; NULL: "account 2" */
    int owner;          /* the REF to the row that this one belongs to and is called after;
                           ROW_ITSELF: it has a name of its own, which the protocol gives */
    const char *brief;  /* ROW_ITSELF: in an event about this very row "GUID", else "GUID of left";
                           NULL: always the name alone */
    const char *came;   /* said of a new row, "stored"; NULL: "added" */
    const char *event;  /* said of a new row instead of its name, "escalated: "; NULL: its name */
    const char *the;    /* before its name in a sentence; NULL: "the " */
    uint32_t told;      /* the columns that are told of a new row, a bit each */
    uint32_t shown;     /* the columns that a dump shows; a sentence quotes the first of them */
    bool quiet;         /* a new row is not told: it accompanies another */
};

struct table {
    const char *name;
    const char *key;  /* what the column of its key is called */
    uint32_t columns; /* the key apart */
    bool typed;       /* its columns have the SQL types of their kinds */
    struct column column[ROW_COLUMNS_MAX];
};

/* An index by which rows are found (OP_FIND): of two columns, then of the column of the order, then of
 * the key. */
struct table_index {
    uint8_t table; /* enum row_table */
    uint8_t with;  /* enum row_table: only protocols that have this one, too, need it */
    uint8_t columns[3];
};
#define TABLE_INDEXES 6
extern const struct table_index table_indexes[TABLE_INDEXES];

const struct table *table_get(enum row_table table);
const struct table_words *table_words(enum row_table table);
const struct column *table_column(enum row_table table, int column);

/* The columns of kind COLUMN_TIME, a bit each. */
uint32_t table_times(enum row_table table);

/* The name of a value of an ENUM; NULL: it has none. */
const char *column_value_name(const struct column *column, int64_t value);

/* "activity", "guid", "legacy", "key" */
const char *column_ledger_name(enum column_ledger ledger);

/* A set of tables is or'ed of these. */
#define TABLE_SET(id) (UINT64_C(1) << TABLE_##id)

static inline bool table_in(uint64_t set, enum row_table table)
{
    return (set >> table & 1) != 0;
}

#endif
