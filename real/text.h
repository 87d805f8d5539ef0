/* Text that is built up piece by piece in a buffer of known size. What does not fit is a bug of
 * ours: everything written so has a bound that tests reach. Header only. */
#ifndef REAL_TEXT_H
#define REAL_TEXT_H

#include "model/check.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

struct text {
    char *at; /* terminated at every moment */
    size_t size, used;
};

static inline struct text text_begin(char *buffer, size_t size)
{
    CHECK(size > 0);
    buffer[0] = '\0';
    return (struct text){.at = buffer, .size = size};
}

__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text,
                                                                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < text->size - text->used);
    text->used += (size_t)length;
}

#endif
