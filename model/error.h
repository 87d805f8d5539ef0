/* Why something outside of the program failed: one line for the user that says what is wrong, where,
 * and what would be right. A broken promise of a protocol is none of these, nor is a bug (check.h).
 * Header only: model/ itself formats nothing. */
#ifndef MODEL_ERROR_H
#define MODEL_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct error {
    char text[1200]; /* room for a path, and for the end of a server's log */
};

/* Writes the line, cut if it is too long; returns false, so that it can end a function that failed. */
__attribute__((format(printf, 2, 3))) static inline bool error_set(struct error *error,
                                                                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

#endif
