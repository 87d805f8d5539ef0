#include "model/oracle/digits.h"

#include "model/check.h"

#include <string.h>

bool oracle_digits_read(int64_t value, struct oracle_digits *out)
{
    memset(out, 0, sizeof *out);
    struct oracle_digits digits = *out;
    int64_t rest = value;
    for (int position = ORACLE_DIGITS; position >= 1; position--) {
        digits.at[position] = (int)(rest % 10);
        rest /= 10;
    }
    if (value < 0 || rest != 0) {
        return false;
    }
    *out = digits;
    return true;
}

int64_t oracle_digits_spell(const struct oracle_digits *digits, int first, int last)
{
    CHECK(1 <= first && first <= last && last <= ORACLE_DIGITS);
    int64_t number = 0;
    for (int position = first; position <= last; position++) {
        number = number * 10 + digits->at[position];
    }
    return number;
}
