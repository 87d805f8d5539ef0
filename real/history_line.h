/* What a line of the plugin test_decoding says of Assay's tables and messages. Only for history.c.
 *
 * (HL1) A line about a table of the schema that is not read whole is an error, not another line. */
#ifndef REAL_HISTORY_LINE_H
#define REAL_HISTORY_LINE_H

#include "model/rows.h"

#define HISTORY_LOCKS_MAX 8

/* The table of facts that presets need (presets.h): no table of a protocol. */
#define HISTORY_LEAVES_OUT "preset"

enum history_line_kind {
    HISTORY_LINE_OTHER, /* nothing of this schema */
    HISTORY_LINE_BEGIN,
    HISTORY_LINE_COMMIT,
    HISTORY_LINE_CHANGE,
    HISTORY_LINE_WORD,  /* backend, isolation and the wall clock */
    HISTORY_LINE_LOCKS, /* the advisory locks that are held from here on */
    HISTORY_LINE_BROKEN
};

struct history_line {
    enum history_line_kind kind;
    enum row_table table;
    enum row_change_kind change;
    int64_t row[1 + ROW_COLUMNS_MAX], was[1 + ROW_COLUMNS_MAX];
    int64_t backend, isolation;
    int64_t wall_from, wall_to;       /* in milliseconds since 1970 */
    int64_t locks[HISTORY_LOCKS_MAX]; /* hashes, as pg_locks has them */
    int lock_count;
};

void history_line_read(const char *text, const char *schema, struct history_line *line);

#endif
