#include "real/row_diff.h"

#include "real/cell.h"
#include "real/schema.h"

#include <stdio.h>

static void differ(struct row_diff *diff, int64_t key, int column, const char *simulated,
                   const char *real)
{
    if (diff->difference[0] == '\0') {
        snprintf(diff->difference, sizeof diff->difference,
                 "%s %lld%s%s: simulated: %s; PostgreSQL: %s", schema_table(diff->table),
                 (long long)key, column < 0 ? "" : ", ",
                 column < 0 ? "" : schema_column(diff->table, column), simulated, real);
    }
}

void row_diff_row(void *context, const int64_t *row)
{
    struct row_diff *diff = context;
    uint32_t slot = row_find(diff->rows, diff->table, row[0]);
    diff->seen++;
    if (slot == ROW_NONE) {
        differ(diff, row[0], -1, "not there", "there");
        return;
    }
    for (int c = 0; c < schema_columns(diff->table); c++) {
        int64_t simulated = row_get(diff->rows, diff->table, slot, c);
        if (simulated != row[1 + c]) {
            char ours[24], theirs[24];
            snprintf(ours, sizeof ours, "%lld", (long long)simulated);
            snprintf(theirs, sizeof theirs, "%lld", (long long)row[1 + c]);
            differ(diff, row[0], c, ours, theirs);
        }
    }
}

bool row_diff_is_same(struct row_diff *diff)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < diff->rows->table[diff->table].used; slot++) {
        count += row_is_there(diff->rows, diff->table, slot);
    }
    if (diff->difference[0] == '\0' && diff->seen != count) {
        snprintf(diff->difference, sizeof diff->difference,
                 "%s: simulated: %u rows; PostgreSQL: %u", schema_table(diff->table), count,
                 diff->seen);
    }
    return diff->difference[0] == '\0';
}

void row_diff_insert(struct text *text, const char *schema, const struct rows *rows,
                     enum row_table table, uint32_t slot)
{
    char numbers[1 + ROW_COLUMNS_MAX][CELL_NUMBER_SIZE];
    for (int c = CELL_KEY; c < schema_columns(table); c++) {
        int64_t cell = c == CELL_KEY ? row_key(rows, table, slot) : row_get(rows, table, slot, c);
        snprintf(numbers[1 + c], sizeof numbers[1 + c], "'%lld'::bigint", (long long)cell);
    }
    text_put(text, "INSERT INTO %s.%s VALUES (", schema, schema_table(table));
    cell_put_row(text, table, numbers);
    text_put(text, ")");
}

void row_diff_copy(struct text *text, const char *schema, const struct rows *rows,
                   enum row_table table, uint32_t slot)
{
    if (!row_is_there(rows, table, slot)) {
        text_put(text, "DELETE FROM %s.%s AS t WHERE ", schema, schema_table(table));
        cell_put_number(text, table, CELL_KEY, "t.");
        text_put(text, " = %lld", (long long)row_key(rows, table, slot));
        return;
    }
    row_diff_insert(text, schema, rows, table, slot);
    text_put(text, " ON CONFLICT (%s) DO UPDATE SET ", cell_column(table, CELL_KEY));
    for (int c = 0; c < schema_columns(table); c++) {
        const char *column = cell_column(table, c);
        if (cell_is_first(table, c)) {
            text_put(text, "%s%s = excluded.%s", c == 0 ? "" : ", ", column, column);
        }
    }
}
