#include "real/cell.h"

#include "model/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX_DIGITS "16"

enum cell_type { CELL_BIGINT, CELL_UUID, CELL_TEXT, CELL_NAME, CELL_TIME, CELL_JSON, CELL_TYPES };

static enum cell_type type_of(enum row_table table, int column)
{
    static const uint8_t types[COLUMN_KINDS] = {
        [COLUMN_ID] = CELL_UUID,   [COLUMN_REF] = CELL_UUID,   [COLUMN_DATA] = CELL_TEXT,
        [COLUMN_ENUM] = CELL_NAME, [COLUMN_STAMP] = CELL_TIME, [COLUMN_MEMBER] = CELL_JSON};
    if (!table_get(table)->typed) {
        return CELL_BIGINT;
    }
    return column == CELL_KEY ? CELL_UUID
                              : (enum cell_type)types[table_column(table, column)->kind];
}

static bool is_nullable(enum row_table table, int column)
{
    return column != CELL_KEY && table_column(table, column)->nullable;
}

const char *cell_column(enum row_table table, int column)
{
    if (column == CELL_KEY) {
        return table_get(table)->key;
    }
    const struct column *of = table_column(table, column);
    return type_of(table, column) == CELL_JSON ? of->inside : of->name;
}

bool cell_is_first(enum row_table table, int column)
{
    const char *name = cell_column(table, column);
    for (int c = 0; c < column; c++) {
        if (strcmp(cell_column(table, c), name) == 0) {
            return false;
        }
    }
    return true;
}

/* ---- SQL ------------------------------------------------------------------------------------- */

void cell_put_type(struct text *text, enum row_table table, int column)
{
    static const char *const names[CELL_TYPES] = {
        [CELL_BIGINT] = "bigint", [CELL_UUID] = "uuid",        [CELL_TEXT] = "text",
        [CELL_NAME] = "text",     [CELL_TIME] = "timestamptz", [CELL_JSON] = "jsonb"};
    text_put(text, "%s%s", names[type_of(table, column)],
             column == CELL_KEY           ? " PRIMARY KEY"
             : is_nullable(table, column) ? ""
                                          : " NOT NULL");
}

/* A value without a name is its digits. */
static void put_name(struct text *text, const struct column *column, const char *number)
{
    text_put(text, "CASE %s", number);
    for (uint32_t i = 0; i < column->name_count; i++) {
        if (column->names[i] != NULL) {
            text_put(text, " WHEN %" PRIu32 " THEN '%s'", i, column->names[i]);
        }
    }
    text_put(text, " ELSE (%s)::text END", number);
}

void cell_put_value(struct text *text, enum row_table table, int column, const char *number)
{
    char some[CELL_SUM_SIZE]; /* NULL for none */
    struct text to = text_begin(some, sizeof some);
    text_put(&to, is_nullable(table, column) ? "nullif(%s, 0)" : "%s", number);
    switch (type_of(table, column)) {
    case CELL_BIGINT:
        text_put(text, "%s", some);
        break;
    case CELL_UUID:
        text_put(text, "lpad(to_hex(%s), 32, '0')::uuid", some);
        break;
    case CELL_NAME:
        put_name(text, table_column(table, column), some);
        break;
    case CELL_TIME:
        text_put(text, "to_timestamp((%s) / 1000.0)", some);
        break;
    case CELL_TEXT:
    case CELL_JSON:
    case CELL_TYPES:
        text_put(text, "lpad(to_hex(%s), " HEX_DIGITS ", '0')", some);
        break;
    }
}

static void put_value_of_name(struct text *text, const struct column *column, const char *alias)
{
    text_put(text, "CASE %s%s", alias, column->name);
    for (uint32_t i = 0; i < column->name_count; i++) {
        if (column->names[i] != NULL) {
            text_put(text, " WHEN '%s' THEN %" PRIu32, column->names[i], i);
        }
    }
    text_put(text, " ELSE %s%s::bigint END", alias, column->name);
}

void cell_put_number(struct text *text, enum row_table table, int column, const char *alias)
{
    const char *name = cell_column(table, column);
    bool nullable = is_nullable(table, column);
    text_put(text, "%s", nullable ? "coalesce(" : "");
    switch (type_of(table, column)) {
    case CELL_BIGINT:
        text_put(text, "%s%s", alias, name);
        break;
    case CELL_UUID:
        text_put(text,
                 "('x' || right(translate(%s%s::text, '-', ''), " HEX_DIGITS "))::bit(64)::bigint",
                 alias, name);
        break;
    case CELL_NAME:
        put_value_of_name(text, table_column(table, column), alias);
        break;
    case CELL_TIME:
        text_put(text, "(extract(epoch from %s%s) * 1000)::bigint", alias, name);
        break;
    case CELL_JSON:
        text_put(text, "('x' || (%s%s ->> '%s'))::bit(64)::bigint", alias, name,
                 table_column(table, column)->name);
        break;
    case CELL_TEXT:
    case CELL_TYPES:
        text_put(text, "('x' || %s%s)::bit(64)::bigint", alias, name);
        break;
    }
    text_put(text, "%s", nullable ? ", 0)" : "");
}

void cell_put_assignment(struct text *text, enum row_table table, int column, const char *number)
{
    const char *name = cell_column(table, column);
    text_put(text, "%s = ", name);
    if (type_of(table, column) == CELL_JSON) {
        text_put(text, "jsonb_set(t.%s, ARRAY['%s'], to_jsonb(", name,
                 table_column(table, column)->name);
        cell_put_value(text, table, column, number);
        text_put(text, "))");
    } else {
        cell_put_value(text, table, column, number);
    }
}

void cell_put_columns(struct text *text, enum row_table table)
{
    text_put(text, "%s", cell_column(table, CELL_KEY));
    for (int c = 0; c < (int)table_get(table)->columns; c++) {
        if (cell_is_first(table, c)) {
            text_put(text, ", %s", cell_column(table, c));
        }
    }
}

static bool is_in(enum row_table table, int column, const char *name)
{
    return strcmp(cell_column(table, column), name) == 0;
}

/* NULL as soon as one of the members is. */
static void put_object(struct text *text, enum row_table table, int first,
                       char numbers[1 + ROW_COLUMNS_MAX][CELL_NUMBER_SIZE])
{
    const char *name = cell_column(table, first);
    int columns = (int)table_get(table)->columns;
    for (int c = first; c < columns; c++) {
        text_put(text, "%s", is_in(table, c, name) ? "jsonb_set(" : "");
    }
    text_put(text, "jsonb_build_object()");
    for (int c = first; c < columns; c++) {
        if (is_in(table, c, name)) {
            text_put(text, ", ARRAY['%s'], to_jsonb(", table_column(table, c)->name);
            cell_put_value(text, table, c, numbers[1 + c]);
            text_put(text, "))");
        }
    }
}

void cell_put_row(struct text *text, enum row_table table,
                  char numbers[1 + ROW_COLUMNS_MAX][CELL_NUMBER_SIZE])
{
    cell_put_value(text, table, CELL_KEY, numbers[0]);
    for (int c = 0; c < (int)table_get(table)->columns; c++) {
        if (!cell_is_first(table, c)) {
            continue;
        }
        text_put(text, ", ");
        if (type_of(table, c) == CELL_JSON) {
            put_object(text, table, c, numbers);
        } else {
            cell_put_value(text, table, c, numbers[1 + c]);
        }
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

static bool skip(const char **at, const char *words)
{
    size_t length = strlen(words);
    if (strncmp(*at, words, length) != 0) {
        return false;
    }
    *at += length;
    return true;
}

static bool number_of(const char *text, int base, int64_t *number)
{
    char *end;
    errno = 0;
    *number = base == 16 ? (int64_t)strtoull(text, &end, 16) : strtoll(text, &end, base);
    return end != text && *end == '\0' && errno == 0;
}

/* "00000000-0000-0000-0123-456789abcdef" */
static bool number_of_uuid(const char *text, int64_t *number)
{
    char digits[17];
    if (strlen(text) != 36 || text[23] != '-' || strncmp(text, "00000000-0000-0000-", 19) != 0) {
        return false;
    }
    snprintf(digits, sizeof digits, "%.4s%.12s", text + 19, text + 24);
    return number_of(digits, 16, number);
}

static bool number_of_name(const struct column *column, const char *text, int64_t *number)
{
    for (uint32_t i = 0; i < column->name_count; i++) {
        if (column->names[i] != NULL && strcmp(column->names[i], text) == 0) {
            *number = i;
            return true;
        }
    }
    return number_of(text, 10, number);
}

/* Days since 1970-01-01, of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t of_era = year % 400, era = year / 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "2023-11-14 22:13:20.123+00" */
static bool number_of_time(const char *text, int64_t *number)
{
    int year, month, day, hour, minute, second, used = 0;
    char part[4] = "000";
    if (sscanf(text, "%d-%d-%d %d:%d:%d%n", &year, &month, &day, &hour, &minute, &second, &used) !=
        6) {
        return false;
    }
    text += used;
    if (*text == '.') {
        size_t digits = strspn(++text, "0123456789");
        memcpy(part, text, digits < 3 ? digits : 3);
        text += digits;
    }
    *number = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    *number = *number * 1000 + strtol(part, NULL, 10);
    return strcmp(text, "+00") == 0;
}

/* "{"name": "0123456789abcdef"}" */
static bool number_of_member(const struct column *column, const char *text, int64_t *number)
{
    char name[64], digits[17];
    snprintf(name, sizeof name, "\"%s\": \"", column->name);
    const char *at = strstr(text, name);
    if (at == NULL || strlen(at) < strlen(name) + 16) {
        return false;
    }
    snprintf(digits, sizeof digits, "%.16s", at + strlen(name));
    return number_of(digits, 16, number);
}

static bool number_of_cell(enum row_table table, int column, const char *text, int64_t *number)
{
    switch (type_of(table, column)) {
    case CELL_BIGINT:
        return number_of(text, 10, number);
    case CELL_UUID:
        return number_of_uuid(text, number);
    case CELL_NAME:
        return number_of_name(table_column(table, column), text, number);
    case CELL_TIME:
        return number_of_time(text, number);
    case CELL_JSON:
        return number_of_member(table_column(table, column), text, number);
    case CELL_TEXT:
    case CELL_TYPES:
        break;
    }
    return strlen(text) == 16 && number_of(text, 16, number);
}

/* What stands behind the type: digits, 'text', null. */
static bool read_value(const char **at, bool quoted, char text[CELL_TEXT_SIZE])
{
    size_t length = quoted ? strcspn(*at, "'") : strcspn(*at, " ");
    if (length >= CELL_TEXT_SIZE) {
        return false;
    }
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length;
    return !quoted || skip(at, "'");
}

/* All cells that the SQL column of this one holds. */
static bool read_column(const char **at, enum row_table table, int column, int64_t *row)
{
    static const char *const types[CELL_TYPES] = {
        [CELL_BIGINT] = "bigint", [CELL_UUID] = "uuid",  [CELL_TEXT] = "text",
        [CELL_NAME] = "text",     [CELL_JSON] = "jsonb", [CELL_TIME] = "timestamp with time zone"};
    char start[128], text[CELL_TEXT_SIZE];
    const char *name = cell_column(table, column);
    bool quoted = strncmp(*at, " \"", 2) == 0; /* as the names that are words of SQL are */
    snprintf(start, sizeof start, quoted ? " \"%s\"[" : " %s[", name);
    if (!skip(at, start)) { /* left out */
        row[1 + column] = 0;
        return is_nullable(table, column);
    }
    if (!skip(at, types[type_of(table, column)]) || !skip(at, "]:")) {
        return false;
    }
    if (skip(at, "null")) {
        row[1 + column] = 0;
        return is_nullable(table, column);
    }
    if (!read_value(at, skip(at, "'"), text)) {
        return false;
    }
    bool read = number_of_cell(table, column, text, &row[1 + column]);
    for (int c = column + 1; read && c < (int)table_get(table)->columns; c++) {
        read =
            strcmp(cell_column(table, c), name) != 0 || number_of_cell(table, c, text, &row[1 + c]);
    }
    return read;
}

bool cell_read_row(const char **at, enum row_table table, int64_t *row)
{
    bool read = read_column(at, table, CELL_KEY, row);
    for (int c = 0; read && c < (int)table_get(table)->columns; c++) {
        read = !cell_is_first(table, c) || read_column(at, table, c, row);
    }
    return read;
}
