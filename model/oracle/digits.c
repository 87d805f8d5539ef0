#include "model/oracle/digits.h"

#include "model/check.h"

#include <string.h>

bool oracle_digits_read(int64_t value, struct oracle_digits *out)
{
    uint64_t rest = value < 0 ? UINT64_MAX : (uint64_t)value;
    for (int position = ORACLE_DIGITS; position >= 1; position--) {
        out->at[position] = (int)(rest % 10);
        rest /= 10;
    }
    out->at[0] = 0;
    if (rest != 0) { /* too long, or negative */
        memset(out, 0, sizeof *out);
    }
    return rest == 0;
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
