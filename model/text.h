/* Text that is built up piece by piece in a buffer of known size. Header only: model/ itself formats
 * nothing. */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include "model/check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text {
    char *text; /* terminated at every moment */
    size_t size, used;
    bool full; /* something did not fit, and was cut */
};

static inline struct text text_begin(char *buffer, size_t size)
{
    CHECK(size > 0);
    buffer[0] = '\0';
    return (struct text){.text = buffer, .size = size};
}

static inline void text_vadd(struct text *text, const char *format, va_list arguments)
{
    size_t room = text->size - text->used;
    int length = vsnprintf(text->text + text->used, room, format, arguments);
    CHECK(length >= 0);
    text->full = text->full || (size_t)length >= room;
    text->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* Adds a piece; what does not fit is cut. */
__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text,
                                                                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_vadd(text, format, arguments);
    va_end(arguments);
}

/* Adds a piece to a text whose bound tests reach: not to fit is a bug. */
__attribute__((format(printf, 2, 3))) static inline void text_put(struct text *text,
                                                                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_vadd(text, format, arguments);
    va_end(arguments);
    CHECK(!text->full);
}

#endif
