/* How a cell of model/rows.h is kept on a server: the one place that knows SQL types.
 *
 * A cell is an integer of 64 bits. In most tables it is a bigint. In a table that is described as
 * TYPED_TABLE (model/table.h) it has the type of its kind:
 *
 *      key, REF, ID       uuid           the integer in its last 16 hexadecimal digits
 *      ENUM               text           the name of the value; a value without a name in digits
 *      DATA               text           16 hexadecimal digits
 *      MEMBER             jsonb          a member with 16 hexadecimal digits of that object
 *      STAMP              timestamptz    in milliseconds
 *      NUMBER, COUNT, ... bigint
 *
 * 0 of a column that may be empty is NULL. Statements take and answer integers all the same: a
 * conversion stands around each column in their text.
 *
 * (CE1) Integers and what stands for them are one to one: two cells are equal exactly if their columns
 *       are, and what was written is what is read, also by one who reads the log. */
#ifndef REAL_CELL_H
#define REAL_CELL_H

#include "model/table.h"
#include "model/text.h"

#define CELL_KEY         (-1) /* the column of a row's key */
#define CELL_NUMBER_SIZE 96   /* of SQL that yields a bigint: an operand, a literal */
#define CELL_SUM_SIZE    1536 /* ... of a cell and an operand */
#define CELL_TEXT_SIZE   256  /* of a value in the log */

/* The SQL column that holds the cell; several MEMBERs share one. */
const char *cell_column(enum row_table table, int column);
/* It holds no column before this one. */
bool cell_is_first(enum row_table table, int column);

/* "uuid NOT NULL" */
void cell_put_type(struct text *text, enum row_table table, int column);
/* The column of this alias ("t.", ""), as a bigint. */
void cell_put_number(struct text *text, enum row_table table, int column, const char *alias);
/* What holds this bigint. Not for a MEMBER. */
void cell_put_value(struct text *text, enum row_table table, int column, const char *number);
/* "column = value", of the row that has the alias t. */
void cell_put_assignment(struct text *text, enum row_table table, int column, const char *number);

/* The columns of a row, key first, and what they hold: "id, entry"; "lpad(...)::uuid, ...". */
void cell_put_columns(struct text *text, enum row_table table);
void cell_put_row(struct text *text, enum row_table table,
                  char numbers[1 + ROW_COLUMNS_MAX][CELL_NUMBER_SIZE]);

/* A row of the log as test_decoding writes it, " id[bigint]:1 kind[text]:'work'", up to its end or what
 * is no column; columns that are NULL may be left out. False: it is another. */
bool cell_read_row(const char **at, enum row_table table, int64_t *row);

#endif
