#include "real/history_line.h"

#include "real/cell.h"
#include "real/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* True: the text goes on with these words, and *at stands behind them. */
static bool skip(const char **at, const char *words)
{
    size_t length = strlen(words);
    if (strncmp(*at, words, length) != 0) {
        return false;
    }
    *at += length;
    return true;
}

static bool read_number(const char **at, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(*at, &end, 10);
    bool read = end != *at && errno == 0;
    *at = end;
    return read;
}

static bool read_change(const char *at, struct history_line *line)
{
    if (skip(&at, "INSERT:")) {
        line->change = ROW_INSERTED;
    } else if (skip(&at, "UPDATE: old-key:")) {
        line->change = ROW_UPDATED;
    } else if (skip(&at, "DELETE:")) {
        line->change = ROW_DELETED;
    } else {
        return false;
    }
    if (line->change != ROW_INSERTED && !cell_read_row(&at, line->table, line->was)) {
        return false;
    }
    if (line->change == ROW_UPDATED && !skip(&at, " new-tuple:")) {
        return false;
    }
    if (line->change == ROW_DELETED) {
        memcpy(line->row, line->was, sizeof line->row);
    } else if (!cell_read_row(&at, line->table, line->row)) {
        return false;
    }
    return *at == '\0';
}

/* "schema.", then the table's name, which may be in quotes. */
static void read_table(const char *at, const char *schema, struct history_line *line)
{
    if (!skip(&at, schema) || !skip(&at, ".")) {
        return;
    }
    line->kind = HISTORY_LINE_BROKEN;
    bool quoted = skip(&at, "\"");
    const char *end = strstr(at, quoted ? "\": " : ": ");
    size_t length = end == NULL ? 0 : (size_t)(end - at);
    if (length == strlen(HISTORY_LEAVES_OUT) && strncmp(at, HISTORY_LEAVES_OUT, length) == 0) {
        line->kind = HISTORY_LINE_OTHER;
        return;
    }
    for (int t = 0; t < TABLE_COUNT && end != NULL; t++) {
        const char *name = schema_table((enum row_table)t);
        if (strlen(name) == length && strncmp(at, name, length) == 0) {
            line->table = (enum row_table)t;
            line->kind = read_change(end + (quoted ? 3 : 2), line) ? HISTORY_LINE_CHANGE
                                                                   : HISTORY_LINE_BROKEN;
        }
    }
}

/* "transactional: 1 prefix: schema, sz: 12 content:word 735 2 1700000000000 1700000000001" */
static void read_message(const char *at, const char *schema, struct history_line *line)
{
    if (!skip(&at, "transactional: 1 prefix: ") || !skip(&at, schema) || !skip(&at, ", sz: ")) {
        return;
    }
    line->kind = HISTORY_LINE_BROKEN;
    at = strstr(at, " content:");
    if (at == NULL) {
        return;
    }
    at += strlen(" content:");
    if (skip(&at, "word ")) {
        bool whole = read_number(&at, &line->backend) && read_number(&at, &line->isolation) &&
                     read_number(&at, &line->wall_from) && read_number(&at, &line->wall_to);
        line->kind = whole && *at == '\0' ? HISTORY_LINE_WORD : HISTORY_LINE_BROKEN;
    } else if (skip(&at, "locks")) {
        while (*at == ' ' && line->lock_count < HISTORY_LOCKS_MAX &&
               read_number(&at, &line->locks[line->lock_count])) {
            line->lock_count++;
        }
        line->kind = *at == '\0' ? HISTORY_LINE_LOCKS : HISTORY_LINE_BROKEN;
    }
}

void history_line_read(const char *text, const char *schema, struct history_line *line)
{
    *line = (struct history_line){.kind = HISTORY_LINE_OTHER};
    if (skip(&text, "BEGIN ")) {
        line->kind = HISTORY_LINE_BEGIN;
    } else if (skip(&text, "COMMIT ")) {
        line->kind = HISTORY_LINE_COMMIT;
    } else if (skip(&text, "table ")) {
        read_table(text, schema, line);
    } else if (skip(&text, "message: ")) {
        read_message(text, schema, line);
    }
}
