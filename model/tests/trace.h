/* What the suites of the ledgers share: numbers in the digits that the specifications print,
 * traces of them that are compared whole, and a claim that costs nothing while it holds.
 *
 * Spells with the C library and never with model/digits.c, which is under test. */
#ifndef MODEL_TESTS_TRACE_H
#define MODEL_TESTS_TRACE_H

#include "model/digits.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_SIZE       4096
#define TRACE_SPELL_SIZE 32

/* printf's conversion of a ledger: 15 digits, zero-padded. */
#define TRACE_LEDGER "%015" PRId64

/* cr_assert for long loops: Criterion reports every assertion, and a million reports are slow. */
#define HOLDS(claim, ...)                                                                          \
    do {                                                                                           \
        if (!(claim)) {                                                                            \
            cr_assert_fail(__VA_ARGS__);                                                           \
        }                                                                                          \
    } while (0)

struct trace {
    size_t length;
    char text[TRACE_SIZE];
};

__attribute__((format(printf, 2, 3))) static inline void trace_add(struct trace *trace,
                                                                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof trace->text - trace->length;
    int length = vsnprintf(trace->text + trace->length, room, format, arguments);
    va_end(arguments);
    cr_assert(length >= 0 && (size_t)length < room, "the trace does not fit");
    trace->length += (size_t)length;
}

/* At least `width` digits, zero-padded, as the C library prints them. */
static inline void trace_spell(int64_t value, int width, char out[TRACE_SPELL_SIZE])
{
    int length = snprintf(out, TRACE_SPELL_SIZE, "%0*" PRId64, width, value);
    HOLDS(length >= width && length < TRACE_SPELL_SIZE, "%" PRId64 " does not fit", value);
}

/* The number whose 15 digits are those of `around`, but for `count` digits from `first` on, which
 * spell `value`. */
static inline int64_t trace_number(const char *around, int first, int count, int64_t value)
{
    char digits[DIGITS_TEXT_SIZE];
    char field[TRACE_SPELL_SIZE];
    trace_spell(value, count, field);
    memcpy(digits, around, sizeof digits);
    memcpy(digits + first - 1, field, (size_t)count);
    return strtoll(digits, NULL, 10);
}

/* The number that `count` digits from `first` on spell in the text of a ledger. */
static inline int64_t trace_field(int64_t ledger, int first, int count)
{
    char digits[TRACE_SPELL_SIZE];
    char field[DIGITS_TEXT_SIZE] = "";
    trace_spell(ledger, DIGITS, digits);
    memcpy(field, digits + first - 1, (size_t)count);
    return strtoll(field, NULL, 10);
}

#endif
