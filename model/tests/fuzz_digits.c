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
    struct text_fault fault;
    CHECK(length >= 1 && length <= DIGITS && all_digits(text, length));
    CHECK(digits_in_range(value) && value < digits_power((int)length));
    digits_format(value, printed);
    CHECK(strlen(printed) == DIGITS && all_digits(printed, DIGITS));
    CHECK(memcmp(printed + DIGITS - length, text, length) == 0);
    CHECK(digits_parse(printed, DIGITS, &again, &fault));
    CHECK(again == value);
}

static void check_refused(const char *text, size_t length, const struct text_fault *fault)
{
    CHECK(fault->wrong != NULL && fault->wrong[0] != '\0');
    CHECK(fault->right != NULL && fault->right[0] != '\0');
    CHECK(fault->at <= length && fault->at <= DIGITS);
    CHECK(all_digits(text, fault->at));
    if (fault->at < length) {
        CHECK(fault->at == DIGITS || !all_digits(text + fault->at, 1));
    } else {
        CHECK(length == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    int64_t value = UNTOUCHED;
    struct text_fault fault = {0};
    if (digits_parse(text, size, &value, &fault)) {
        check_taken(text, size, value);
    } else {
        CHECK(value == UNTOUCHED);
        check_refused(text, size, &fault);
    }
    return 0;
}
