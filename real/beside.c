#include "real/beside.h"

#include "real/schema.h"

static void differ(struct beside *beside, int64_t key, int column, const char *simulated,
                   const char *real)
{
    if (beside->difference[0] == '\0') {
        snprintf(beside->difference, sizeof beside->difference,
                 "%s %lld%s%s: simulated: %s; PostgreSQL: %s", schema_table(beside->table),
                 (long long)key, column < 0 ? "" : ", ",
                 column < 0 ? "" : schema_column(beside->table, column), simulated, real);
    }
}

void beside_row(void *context, const int64_t *row)
{
    struct beside *beside = context;
    uint32_t slot = row_find(beside->rows, beside->table, row[0]);
    beside->seen++;
    if (slot == ROW_NONE) {
        differ(beside, row[0], -1, "not there", "there");
        return;
    }
    for (int c = 0; c < schema_columns(beside->table); c++) {
        int64_t simulated = row_get(beside->rows, beside->table, slot, c);
        if (simulated != row[1 + c]) {
            char ours[24], theirs[24];
            snprintf(ours, sizeof ours, "%lld", (long long)simulated);
            snprintf(theirs, sizeof theirs, "%lld", (long long)row[1 + c]);
            differ(beside, row[0], c, ours, theirs);
        }
    }
}

bool beside_is_same(struct beside *beside)
{
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < beside->rows->table[beside->table].used; slot++) {
        count += row_is_there(beside->rows, beside->table, slot);
    }
    if (beside->difference[0] == '\0' && beside->seen != count) {
        snprintf(beside->difference, sizeof beside->difference,
                 "%s: simulated: %u rows; PostgreSQL: %u", schema_table(beside->table), count,
                 beside->seen);
    }
    return beside->difference[0] == '\0';
}

void beside_insert(struct text *text, const char *schema, const struct rows *rows,
                   enum row_table table, uint32_t slot)
{
    text_add(text, "INSERT INTO %s.%s VALUES (%lld", schema, schema_table(table),
             (long long)row_key(rows, table, slot));
    for (int c = 0; c < schema_columns(table); c++) {
        text_add(text, ", %lld", (long long)row_get(rows, table, slot, c));
    }
    text_add(text, ")");
}

void beside_copy(struct text *text, const char *schema, const struct rows *rows,
                 enum row_table table, uint32_t slot)
{
    if (!row_is_there(rows, table, slot)) {
        text_add(text, "DELETE FROM %s.%s WHERE id = %lld", schema, schema_table(table),
                 (long long)row_key(rows, table, slot));
        return;
    }
    beside_insert(text, schema, rows, table, slot);
    text_add(text, " ON CONFLICT (id) DO UPDATE SET ");
    for (int c = 0; c < schema_columns(table); c++) {
        const char *column = schema_column(table, c);
        text_add(text, "%s%s = excluded.%s", c == 0 ? "" : ", ", column, column);
    }
}
