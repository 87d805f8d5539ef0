/* The oracles' own reading of a 15-digit integer: digit by digit, by repeated division, so that a
 * wrong weight in the model is not read back with the same wrong weight.
 *
 * Positions are those of the specifications: 1 is the leftmost digit, 15 the rightmost. Knows
 * nothing of what a digit means. */
#ifndef MODEL_ORACLE_DIGITS_H
#define MODEL_ORACLE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

#define ORACLE_DIGITS 15

struct oracle_digits {
    int at[ORACLE_DIGITS + 1]; /* at[1] .. at[15], each 0..9; at[0] is not used */
};

/* False for a negative number and for one of more than 15 digits; *out is then all zeros. */
bool oracle_digits_read(int64_t value, struct oracle_digits *out);

/* The number that the digits from position `first` to `last` spell, both included. */
int64_t oracle_digits_spell(const struct oracle_digits *digits, int first, int last);

#endif
