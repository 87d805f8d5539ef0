/* A 15-digit integer, the number that every ledger of the specifications is: as text, and as
 * groups of digits. Digit 1 is the leftmost (weight 100T), digit 15 the rightmost (weight 1).
 *
 * Knows nothing of what the digits mean; ledger.h, legacy.h and key.h give them meaning. */
#ifndef MODEL_DIGITS_H
#define MODEL_DIGITS_H

#include "model/text_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGITS           15
#define DIGITS_MAX       INT64_C(999999999999999)
#define DIGITS_TEXT_SIZE (DIGITS + 1)

/* Between 0 and DIGITS_MAX. Nothing else is a ledger. */
bool digits_in_range(int64_t value);

/* 10 to the power of exponent, 0 <= exponent <= DIGITS. */
int64_t digits_power(int exponent);

/* The weight of a digit: 100T for digit 1, 1 for digit 15. */
int64_t digits_weight(int digit);

/* The number that `count` digits from `first` on spell. */
int64_t digits_get(int64_t value, int first, int count);

/* Zero-padded to 15 digits and terminated (ACL-3). */
void digits_format(int64_t value, char out[DIGITS_TEXT_SIZE]);

/* 1 to 15 decimal digits: no sign, no blank, no separator. Leading zeros may be left out, as a
 * database prints the number. On refusal *value is untouched and *error says why. */
bool digits_parse(const char *text, size_t length, int64_t *value, struct text_error *error);

#endif
