#include "model/table.h"

#include "model/check.h"
#include "model/primitive.h"
#include "model/seq_rules.h"

_Static_assert(TABLE_COUNT <= 64, "a set of tables is 64 bits");
_Static_assert(ROW_COLUMNS_MAX <= 32, "a set of columns is 32 bits");

/* Each description is read several times; a pass defines what it wants to see. */
#define NAMES(list, ...)
#define TABLE(id, text, ...)
#define TYPED_TABLE(id, text, key, ...)
#define FOREIGN_KEYS(id, ...)
#define WORDS(id, ...)
#define INDEX(id, first, second, third)
#define INDEX_WITH(with, id, first, second, third)

/* ---- names of values ------------------------------------------------------------------------- */

#define ENTRY_STATUS_NAME(id, text) [STATUS_##id] = (text),
#undef NAMES
#define NAMES(list, ...) static const char *const names_##list[] = {__VA_ARGS__};
#include "model/tables.def"
#undef NAMES
#define NAMES(list, ...)

/* ---- tables and columns ---------------------------------------------------------------------- */

#define KIND_NUMBER      COLUMN_NUMBER
#define KIND_COUNT       COLUMN_COUNT
#define KIND_ONCE        COLUMN_ONCE
#define KIND_FLAG        COLUMN_FLAG
#define KIND_BITS        COLUMN_BITS
#define KIND_TIME        COLUMN_TIME
#define KIND_STAMP       COLUMN_STAMP
#define KIND_DATA        COLUMN_DATA
#define KIND_ID          COLUMN_ID
#define KIND_REF(table)  COLUMN_REF, .of = TABLE_##table
#define KIND_LEDGER(how) COLUMN_LEDGER, .of = DIGITS_##how
#define KIND_ENUM(list)  COLUMN_ENUM, .names = names_##list, .name_count = COUNT(names_##list)
#define KIND_MEMBER(of)  COLUMN_MEMBER, .inside = of

/* Kinds of columns that may be empty. */
#define KIND_ID_OR_NONE         COLUMN_ID, .nullable = true
#define KIND_REF_OR_NONE(table) KIND_REF(table), .nullable = true
#define KIND_ENUM_OR_NONE(list) KIND_ENUM(list), .nullable = true

#define COLUMN(table, column, text, what)                                                          \
    [table##_##column] = {.name = (text), .kind = KIND_##what},
#undef TABLE
#undef TYPED_TABLE
#define TABLE(id, text, ...) [TABLE_##id] = {text, "id", id##_COLUMNS, false, {__VA_ARGS__}},
#define TYPED_TABLE(id, text, key, ...)                                                            \
    [TABLE_##id] = {text, key, id##_COLUMNS, true, {__VA_ARGS__}},
static const struct table tables[TABLE_COUNT] = {
#include "model/tables.def"
};
#undef COLUMN
#undef TABLE
#undef TYPED_TABLE

/* A set is or'ed of the columns of one kind. */
#define FIRST(first, ...)                 first
#define IF_TIME(column, ...)              | (uint32_t)(FIRST(__VA_ARGS__, 0) == COLUMN_TIME) << (column)
#define COLUMN(table, column, text, what) IF_TIME(table##_##column, KIND_##what)
#define TABLE(id, text, ...)              [TABLE_##id] = 0 __VA_ARGS__,
#define TYPED_TABLE(id, text, key, ...)   TABLE(id, text, __VA_ARGS__)
static const uint32_t times[TABLE_COUNT] = {
#include "model/tables.def"
};
#undef TABLE
#undef TYPED_TABLE
#define TABLE(id, text, ...)
#define TYPED_TABLE(id, text, key, ...)

/* ---- foreign keys and words ------------------------------------------------------------------ */

#define REFERS(id, column, parent)    {id##_##column, TABLE_##parent, false, true},
#define MAY_REFER(id, column, parent) {id##_##column, TABLE_##parent, true, true},
#undef FOREIGN_KEYS
#define FOREIGN_KEYS(id, ...) [TABLE_##id] = {__VA_ARGS__},
const struct foreign_key primitive_foreign_keys[TABLE_COUNT][FOREIGN_KEYS_MAX + 1] = {
#include "model/tables.def"
};
#undef REFERS
#undef MAY_REFER
#undef FOREIGN_KEYS

/* A set is or'ed of the columns of all keys. */
#define REFERS(id, column, parent)    | UINT32_C(1) << id##_##column
#define MAY_REFER(id, column, parent) REFERS(id, column, parent)
#define FOREIGN_KEYS(id, ...)         [TABLE_##id] = 0 __VA_ARGS__,
const uint32_t primitive_foreign_columns[TABLE_COUNT] = {
#include "model/tables.def"
};
#undef FOREIGN_KEYS
#define FOREIGN_KEYS(id, ...)

#define BIT(column) (UINT32_C(1) << (column))
#undef WORDS
#define WORDS(id, ...) [TABLE_##id] = {__VA_ARGS__},
static const struct table_words words[TABLE_COUNT] = {
#include "model/tables.def"
};

#undef WORDS
#define WORDS(id, ...)
#undef INDEX
#undef INDEX_WITH
#define INDEX(id, first, second, third) INDEX_WITH(id, id, first, second, third)
#define INDEX_WITH(with, id, first, second, third)                                                 \
    {TABLE_##id, TABLE_##with, {id##_##first, id##_##second, id##_##third}},
const struct table_index table_indexes[TABLE_INDEXES] = {
#include "model/tables.def"
};

enum row_table primitive_named_table(const struct op *op)
{
    const struct foreign_key *key = primitive_foreign_keys[op->table];
    while (key->there && key->column != op->beside) {
        key++;
    }
    CHECK(key->there);
    return (enum row_table)key->parent;
}

/* ---- looking --------------------------------------------------------------------------------- */

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

const struct table_words *table_words(enum row_table table)
{
    CHECK((size_t)table < TABLE_COUNT);
    return &words[table];
}

const struct column *table_column(enum row_table table, int column)
{
    CHECK(column >= 0 && (uint32_t)column < table_get(table)->columns); /* TD1 */
    return &tables[table].column[column];
}

const char *column_value_name(const struct column *column, int64_t value)
{
    bool known = column->kind == COLUMN_ENUM && value >= 0 && value < (int64_t)column->name_count;
    return known ? column->names[value] : NULL;
}

const char *column_ledger_name(enum column_ledger ledger)
{
    static const char *const names[DIGITS_KINDS] = {[DIGITS_ACTIVITY] = "activity",
                                                    [DIGITS_GUID] = "guid",
                                                    [DIGITS_LEGACY] = "legacy",
                                                    [DIGITS_KEY] = "key"};
    CHECK((size_t)ledger < DIGITS_KINDS);
    return names[ledger];
}
