/* What the tables of rows.h are called, and their columns: the one description that worlds, SQL
 * schemas and traces read. Each protocol describes its tables in a file of its own,
 * NAME_tables.def, as
 *
 *      TABLE(TASK, "task", PARENT(TASK_ACTIVITY, TABLE_ACTIVITY), [TASK_INPUT] = "input", ...)
 *      TIMES(MESSAGE, COLUMN_BIT(MESSAGE_VISIBLE_AT))    columns that hold a time of the store's clock
 *
 * The foreign keys of the same description are primitive_foreign_keys (primitive.h). */
#ifndef MODEL_TABLE_H
#define MODEL_TABLE_H

#include "model/rows.h"

struct table {
    const char *name;
    uint32_t columns; /* the key apart */
    const char *column_names[ROW_COLUMNS_MAX];
};

/* The columns that hold a time of the store's clock, a bit each. */
uint32_t table_times(enum row_table table);

const struct table *table_get(enum row_table table);

/* A set of tables is or'ed of these. */
#define TABLE_SET(id) (UINT64_C(1) << TABLE_##id)

static inline bool table_in(uint64_t set, enum row_table table)
{
    return (set >> table & 1) != 0;
}

#endif
