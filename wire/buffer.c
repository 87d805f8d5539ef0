#include "wire/buffer.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct buffer *b)
{
    CHECK(b->sent <= b->ready && b->ready <= b->parsed && b->parsed <= b->end &&
          b->end <= b->size); /* BU1 */
}

static void resize(struct buffer *buffer, size_t size)
{
    char *bytes = realloc(buffer->bytes, size);
    CHECK(bytes != NULL);
    buffer->bytes = bytes;
    buffer->size = size;
}

void buffer_open(struct buffer *buffer)
{
    *buffer = (struct buffer){0};
    resize(buffer, BUFFER_BASE);
}

void buffer_close(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

static void move_down(struct buffer *buffer)
{
    size_t by = buffer->sent;
    if (by > 0) {
        memmove(buffer->bytes, buffer->bytes + by, buffer->end - by);
        buffer->sent = 0;
        buffer->ready -= by;
        buffer->parsed -= by;
        buffer->end -= by;
    }
}

/* Nothing is in it: it begins anew, and gives back what a large message made it take. */
static void restart(struct buffer *buffer)
{
    buffer->sent = buffer->ready = buffer->parsed = buffer->end = 0;
    if (buffer->size > 8 * (size_t)BUFFER_BASE) {
        resize(buffer, BUFFER_BASE); /* BU2 */
    }
}

size_t buffer_room(struct buffer *buffer, size_t want, size_t max)
{
    if (buffer->sent == buffer->end) {
        restart(buffer);
    }
    if (buffer->parsed + want > buffer->size || buffer->size - buffer->end < BUFFER_BASE / 4) {
        move_down(buffer);
    }
    size_t need = buffer->parsed - buffer->ready + want; /* when all that is ready is written */
    bool full = buffer->end - buffer->ready > buffer->size / 2; /* of what may not be written */
    if (need > buffer->size || full) {
        size_t size = buffer->size * 2;
        while (size < need) {
            size *= 2;
        }
        if (size <= max) {
            resize(buffer, size);
        }
    }
    check(buffer);
    return buffer->size - buffer->end;
}

void buffer_filled(struct buffer *buffer, size_t count)
{
    buffer->end += count;
    check(buffer);
}

void buffer_wrote(struct buffer *buffer, size_t count)
{
    buffer->sent += count;
    check(buffer);
}

void buffer_remove(struct buffer *buffer, size_t from, size_t to)
{
    CHECK(buffer->sent <= from && from <= to && to <= buffer->end);
    memmove(buffer->bytes + from, buffer->bytes + to, buffer->end - to);
    size_t *const marks[] = {&buffer->ready, &buffer->parsed, &buffer->end};
    for (size_t i = 0; i < COUNT(marks); i++) {
        *marks[i] = *marks[i] >= to ? *marks[i] - (to - from) : *marks[i] > from ? from : *marks[i];
    }
    check(buffer);
}

static void insert(struct buffer *buffer, size_t at, const char *bytes, size_t count)
{
    if (buffer->end + count > buffer->size) {
        resize(buffer, buffer->end + count);
    }
    memmove(buffer->bytes + at + count, buffer->bytes + at, buffer->end - at);
    memcpy(buffer->bytes + at, bytes, count);
    buffer->end += count;
    buffer->parsed += count;
}

void buffer_insert_parsed(struct buffer *buffer, const char *bytes, size_t count)
{
    insert(buffer, buffer->parsed, bytes, count);
    check(buffer);
}

void buffer_insert_ready(struct buffer *buffer, const char *bytes, size_t count)
{
    insert(buffer, buffer->ready, bytes, count);
    buffer->ready += count;
    check(buffer);
}
