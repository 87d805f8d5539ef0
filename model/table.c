#include "model/table.h"

#include "model/check.h"
#include "model/primitive.h"

_Static_assert(TABLE_COUNT <= 64, "a set of tables is 64 bits");

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

const struct table *table_get(enum row_table table)
{
    CHECK((size_t)table < TABLE_COUNT);
    return &tables[table];
}
