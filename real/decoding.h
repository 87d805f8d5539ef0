/* Logical decoding: what committed in a database, transaction by transaction, in the order of the commit
 * records in the server's log. A slot makes the server keep what was not read yet; the plugin is
 * test_decoding, which comes with the server. For files that are built with libpq.
 *
 * Reading does not consume: what was read is given up by the next read, which names its end. So an
 * answer that is lost loses nothing. */
#ifndef REAL_DECODING_H
#define REAL_DECODING_H

#include <stdbool.h>
#include <stdint.h>

struct pg_conn;

/* "BEGIN 735", "table schema.name: INSERT: id[bigint]:1", "message: ...", "COMMIT 735". */
struct decoding_line {
    uint64_t place; /* in the log: of a COMMIT its end, which grows from one to the next */
    uint32_t transaction;
    const char *text;
};

typedef void decoding_reader(void *context, const struct decoding_line *line);

/* What commits from now on. Waits for transactions that are open. A temporary slot ends with its
 * connection, and cannot be used by another one. False: PQerrorMessage. */
bool decoding_begin(struct pg_conn *connection, const char *slot, bool temporary);
/* Gives up what ended at `from` or before (0: nothing), and reads the rest. */
bool decoding_read(struct pg_conn *connection, const char *slot, uint64_t from,
                   decoding_reader *each, void *context);
bool decoding_end(struct pg_conn *connection, const char *slot);

#endif
