#include "model/table.h"

#include "model/check.h"
#include "model/primitive.h"

_Static_assert(TABLE_COUNT <= 64, "a set of tables is 64 bits");

_Static_assert(ROW_COLUMNS_MAX <= 32, "a set of columns is 32 bits");

#define TIMES(id, columns)
static const struct table tables[TABLE_COUNT] = {
#define TABLE(id, text, parent, ...) [TABLE_##id] = {text, id##_COLUMNS, {__VA_ARGS__}},
#include "model/tables.def"
#undef TABLE
};

#define PARENT(column, table)                                                                      \
    {                                                                                              \
        column, table, true                                                                        \
    }
#define NO_PARENT                                                                                  \
    {                                                                                              \
        0, 0, false                                                                                \
    }
const struct foreign_key primitive_foreign_keys[TABLE_COUNT] = {
#define TABLE(id, text, parent, ...) [TABLE_##id] = parent,
#include "model/tables.def"
#undef TABLE
};

#undef TIMES
#define COLUMN_BIT(column) (UINT32_C(1) << (column))
static const uint32_t times[TABLE_COUNT] = {
#define TABLE(id, text, parent, ...)
#define TIMES(id, columns) [TABLE_##id] = (columns),
#include "model/tables.def"
#undef TABLE
#undef TIMES
};

uint32_t table_times(enum row_table table)
{
    CHECK((size_t)table < TABLE_COUNT);
    return times[table];
}

const struct table *table_get(enum row_table table)
{
    CHECK((size_t)table < TABLE_COUNT);
    return &tables[table];
}
