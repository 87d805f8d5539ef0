/* The bytes of one direction of a connection, in the order in which they came:
 *
 *   sent <= ready <= parsed <= end
 *   [sent, ready)    may be written
 *   [ready, parsed)  parsed, and waiting for what comes after it
 *   [parsed, end)    not parsed
 *
 * (BU1) The order above holds after every operation.
 * (BU2) It grows only for bytes that may not be written yet, and never beyond what its user allows;
 *       when it is empty it is as small as at first. */
#ifndef WIRE_BUFFER_H
#define WIRE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#define BUFFER_BASE (32 << 10)

struct buffer {
    char *bytes;
    size_t size, sent, ready, parsed, end;
};

void buffer_open(struct buffer *buffer);
void buffer_close(struct buffer *buffer);

/* Makes room for reading; at least `want` bytes after `parsed` in all, if the size may be `max`.
 * Returns how many bytes can be put at bytes + end; 0: there is no room before something is sent. */
size_t buffer_room(struct buffer *buffer, size_t want, size_t max);
/* So many bytes were put there. */
void buffer_filled(struct buffer *buffer, size_t count);
/* So many were written. */
void buffer_wrote(struct buffer *buffer, size_t count);

/* Takes out the bytes [from, to), which were not sent; those behind move. */
void buffer_remove(struct buffer *buffer, size_t from, size_t to);
/* Puts bytes before `parsed`, or before `ready`, and counts them as parsed, or as ready. */
void buffer_insert_parsed(struct buffer *buffer, const char *bytes, size_t count);
void buffer_insert_ready(struct buffer *buffer, const char *bytes, size_t count);

#endif
