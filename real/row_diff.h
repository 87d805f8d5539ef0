/* Row diff: compares the rows of a simulation with those of a server, table by table, and writes the
 * simulation's rows as SQL. Both sides have the tables of model/rows.h. The caller queries the
 * server. */
#ifndef REAL_ROW_DIFF_H
#define REAL_ROW_DIFF_H

#include "model/rows.h"
#include "model/text.h"

#define ROW_DIFF_TEXT_SIZE 4096 /* of a statement about one row */

/* A table under comparison. */
struct row_diff {
    const struct rows *rows; /* the simulation's */
    enum row_table table;
    uint32_t seen;        /* rows that the server has */
    char difference[240]; /* the first one; empty: none so far */
};

/* Takes one row of the server, key first; a store_pg_row. `context` is the struct row_diff. */
void row_diff_row(void *context, const int64_t *row);

/* After the last row: a row that only the simulation has is a difference, too. False: there is one. */
bool row_diff_is_same(struct row_diff *diff);

/* INSERT of a row of the simulation. */
void row_diff_insert(struct text *text, const char *schema, const struct rows *rows,
                     enum row_table table, uint32_t slot);

/* SQL after which the server has the row as the simulation has it, or lacks it as well. */
void row_diff_copy(struct text *text, const char *schema, const struct rows *rows,
                   enum row_table table, uint32_t slot);

#endif
