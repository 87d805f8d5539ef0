#include "model/digits.h"

#include "model/check.h"

static const char right_text[] = "a ledger is 1 to 15 decimal digits, such as 001100000000000";

static const int64_t powers[DIGITS + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
};

bool digits_in_range(int64_t value)
{
    return value >= 0 && value <= DIGITS_MAX;
}

int64_t digits_power(int exponent)
{
    CHECK(exponent >= 0 && exponent <= DIGITS);
    return powers[exponent];
}

int64_t digits_weight(int digit)
{
    CHECK(digit >= 1 && digit <= DIGITS);
    return digits_power(DIGITS - digit);
}

int64_t digits_get(int64_t value, int first, int count)
{
    CHECK(digits_in_range(value));
    CHECK(first >= 1 && count >= 1 && first + count - 1 <= DIGITS);
    return value / digits_weight(first + count - 1) % digits_power(count);
}

void digits_format(int64_t value, char out[DIGITS_TEXT_SIZE])
{
    CHECK(digits_in_range(value));
    for (int i = DIGITS - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
    out[DIGITS] = '\0';
}

static bool refuse(struct text_error *error, size_t at, const char *wrong)
{
    *error = (struct text_error){.wrong = wrong, .right = right_text, .at = at};
    return false;
}

static const char *name_of_bad_character(char c, size_t at)
{
    if (at == 0 && c == '-') {
        return "a minus sign: a ledger is never negative";
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        return "white space";
    }
    return "a character that is not a digit";
}

bool digits_parse(const char *text, size_t length, int64_t *value, struct text_error *error)
{
    int64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return refuse(error, i, name_of_bad_character(text[i], i));
        }
        if (i >= DIGITS) {
            return refuse(error, i, "a 16th digit");
        }
        sum = sum * 10 + (text[i] - '0');
    }
    if (length == 0) {
        return refuse(error, 0, "nothing");
    }
    *value = sum;
    return true;
}
