/* The rows of a simulation beside those of a server: compared table by table, and given to it as
 * SQL. Both sides have the tables of model/rows.h; who asks the server is the caller's business. */
#ifndef REAL_ROW_DIFF_H
#define REAL_ROW_DIFF_H

#include "model/rows.h"
#include "real/text.h"

#define ROW_DIFF_TEXT_SIZE 1024 /* of a statement about one row */

/* A table under comparison. */
struct row_diff {
    const struct rows *rows; /* the simulation's */
    enum row_table table;
    uint32_t seen;        /* rows that the server has */
    char difference[240]; /* the first one; empty: none so far */
};

/* Takes one row of the server's, key first; a store_pg_row. `context` is the struct row_diff. */
void row_diff_row(void *context, const int64_t *row);

/* All rows were taken: those that only the simulation has are a difference, too. False: there is
 * one. */
bool row_diff_is_same(struct row_diff *diff);

/* INSERT of a row of the simulation. */
void row_diff_insert(struct text *text, const char *schema, const struct rows *rows,
                     enum row_table table, uint32_t slot);

/* Whatever the server has: the row becomes what it is in the simulation, or goes. */
void row_diff_copy(struct text *text, const char *schema, const struct rows *rows,
                   enum row_table table, uint32_t slot);

#endif
