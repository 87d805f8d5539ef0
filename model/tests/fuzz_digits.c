/* libFuzzer target for digits_parse: what is taken prints and reads back as the same number, what
 * is refused is refused with a fault that points into the text and says something. */
#include "model/check.h"
#include "model/digits.h"

#include <stdint.h>
#include <string.h>

#define UNTOUCHED INT64_C(-7)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
    }
    return true;
}

static void check_taken(const char *text, size_t length, int64_t value)
{
    char printed[DIGITS_TEXT_SIZE];
    int64_t again = UNTOUCHED;
    struct text_error error;
    CHECK(length >= 1 && length <= DIGITS && all_digits(text, length));
    CHECK(digits_in_range(value) && value < digits_power((int)length));
    digits_format(value, printed);
    CHECK(strlen(printed) == DIGITS && all_digits(printed, DIGITS));
    CHECK(memcmp(printed + DIGITS - length, text, length) == 0);
    CHECK(digits_parse(printed, DIGITS, &again, &error));
    CHECK(again == value);
}

static void check_refused(const char *text, size_t length, const struct text_error *error)
{
    CHECK(error->wrong != NULL && error->wrong[0] != '\0');
    CHECK(error->right != NULL && error->right[0] != '\0');
    CHECK(error->at <= length && error->at <= DIGITS);
    CHECK(all_digits(text, error->at));
    if (error->at < length) {
        CHECK(error->at == DIGITS || !all_digits(text + error->at, 1));
    } else {
        CHECK(length == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    int64_t value = UNTOUCHED;
    struct text_error error = {0};
    if (digits_parse(text, size, &value, &error)) {
        check_taken(text, size, value);
    } else {
        CHECK(value == UNTOUCHED);
        check_refused(text, size, &error);
    }
    return 0;
}
