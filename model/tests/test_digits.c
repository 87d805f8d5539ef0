/* The 15-digit integer: its places, its text, and every text that is not one. */
#include "model/check.h"
#include "model/digits.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "model/tests/trace.h"

#include <criterion/criterion.h>
#include <signal.h>

#define UNTOUCHED INT64_C(-7)

/* The digit map of seed 000, section 1: position 1 is 100T, position 15 is 1. */
static const int64_t weights[DIGITS] = {
    100000000000000, 10000000000000, 1000000000000, 100000000000, 10000000000,
    1000000000,      100000000,      10000000,      1000000,      100000,
    10000,           1000,           100,           10,           1,
};

/* A copy without terminator in memory of exactly that size, so that a sanitizer sees a parser that
 * reads on. */
static char *exact_copy(const char *text, size_t length)
{
    char *copy = malloc(length > 0 ? length : 1);
    cr_assert(copy != NULL);
    memcpy(copy, text, length);
    return copy;
}

static bool parse(const char *text, size_t length, int64_t *value, struct text_error *error)
{
    char *copy = exact_copy(text, length);
    bool parsed = digits_parse(copy, length, value, error);
    free(copy);
    return parsed;
}

/* A refusal leaves the value alone, points at `at`, and says in words what is wrong and right. */
static void expect_refusal(const char *text, size_t length, size_t at)
{
    int64_t value = UNTOUCHED;
    struct text_error error = {0};
    HOLDS(!parse(text, length, &value, &error), "\"%.*s\" is taken", (int)length, text);
    HOLDS(value == UNTOUCHED, "\"%.*s\": the value is touched", (int)length, text);
    HOLDS(error.at == at, "\"%.*s\": at %zu, not %zu", (int)length, text, error.at, at);
    HOLDS(error.wrong != NULL && error.wrong[0] != '\0', "says not what is wrong");
    HOLDS(error.right != NULL && error.right[0] != '\0', "says not what would be right");
}

static void expect_value(const char *text, size_t length, int64_t expected)
{
    int64_t value = UNTOUCHED;
    struct text_error error = {0};
    HOLDS(parse(text, length, &value, &error), "\"%.*s\" is refused", (int)length, text);
    HOLDS(value == expected, "\"%.*s\" reads %" PRId64, (int)length, text, value);
}

/* ---- the number ---------------------------------------------------------------------------- */

Test(digits, a_ledger_is_0_to_fifteen_nines)
{
    PROVES(CLAUSE_ACL_3, CLAUSE_ACL_8);
    static const struct {
        int64_t value;
        bool in_range;
    } cases[] = {
        {0, true},
        {1, true},
        {999000000000000, true},
        {999999999999998, true},
        {999999999999999, true},
        {1000000000000000, false},
        {INT64_MAX, false},
        {-1, false},
        {-999999999999999, false},
        {INT64_MIN, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(digits_in_range(cases[i].value), cases[i].in_range, "case %zu", i);
    }
    cr_expect_eq(DIGITS_MAX, INT64_C(999999999999999));
}

Test(digits, weights_are_those_of_the_digit_map)
{
    PROVES(CLAUSE_ACL_4);
    for (int digit = 1; digit <= DIGITS; digit++) {
        cr_expect_eq(digits_weight(digit), weights[digit - 1], "digit %d", digit);
    }
}

Test(digits, powers_of_ten_reach_from_1_to_the_first_16_digit_number)
{
    int64_t power = 1;
    for (int exponent = 0; exponent <= DIGITS; exponent++, power *= 10) {
        cr_expect_eq(digits_power(exponent), power, "10 to the %d", exponent);
    }
}

Test(digits, every_group_of_digits_is_the_number_that_its_text_spells)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_LEG_8);
    static const int64_t numbers[] = {
        0, 1, 123456789012345, 999999999999999, 987654321098765, 100000000000000, 1100000000001,
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        for (int first = 1; first <= DIGITS; first++) {
            for (int count = 1; first + count - 1 <= DIGITS; count++) {
                HOLDS(digits_get(numbers[i], first, count) == trace_field(numbers[i], first, count),
                      TRACE_LEDGER ": %d digits from %d", numbers[i], count, first);
            }
        }
    }
}

Test(digits, a_power_above_15_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    digits_power(DIGITS + 1);
}

Test(digits, a_digit_0_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    digits_weight(0);
}

Test(digits, a_digit_16_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    digits_get(0, DIGITS, 2);
}

Test(digits, printing_a_16th_digit_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    char text[DIGITS_TEXT_SIZE];
    digits_format(DIGITS_MAX + 1, text);
}

Test(digits, printing_a_negative_number_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    char text[DIGITS_TEXT_SIZE];
    digits_format(-1, text);
}

/* ---- its text ------------------------------------------------------------------------------ */

Test(digits, a_ledger_prints_zero_padded_to_15_digits)
{
    PROVES(CLAUSE_ACL_3);
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = {
        {0, "000000000000000"},
        {1, "000000000000001"},
        {10, "000000000000010"},
        {99999999, "000000099999999"},
        {100000000, "000000100000000"},
        {1100000000001, "001100000000001"},
        {12345678901234, "012345678901234"},
        {999000000000000, "999000000000000"},
        {999999999999999, "999999999999999"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[DIGITS_TEXT_SIZE];
        memset(text, '?', sizeof text);
        digits_format(cases[i].value, text);
        cr_expect_str_eq(text, cases[i].text);
    }
}

Test(digits, every_digit_at_every_place_prints_there_and_reads_back)
{
    PROVES(CLAUSE_ACL_3);
    for (int digit = 1; digit <= DIGITS; digit++) {
        for (int value = 0; value <= 9; value++) {
            char expected[] = "000000000000000";
            char text[DIGITS_TEXT_SIZE];
            expected[digit - 1] = (char)('0' + value);
            digits_format(value * weights[digit - 1], text);
            HOLDS(strcmp(text, expected) == 0, "%s prints as %s", expected, text);
            expect_value(expected, DIGITS, value * weights[digit - 1]);
        }
    }
}

/* ---- valid text ---------------------------------------------------------------------------- */

Test(digits, one_to_fifteen_digits_parse)
{
    PROVES(CLAUSE_ACL_3);
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"9", 9},
        {"00", 0},
        {"007", 7},
        {"1100000000001", 1100000000001},
        {"001100000000001", 1100000000001},
        {"12345678901234", 12345678901234},
        {"123456789012345", 123456789012345},
        {"000000000000000", 0},
        {"999999999999999", 999999999999999},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_value(cases[i].text, strlen(cases[i].text), cases[i].value);
    }
}

Test(digits, nothing_behind_the_length_is_read)
{
    static const struct {
        const char *text;
        size_t length;
        int64_t value;
    } cases[] = {
        {"42x", 2, 42},
        {"42 ", 2, 42},
        {"421", 2, 42},
        {"9999999999999999", 15, 999999999999999},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_value(cases[i].text, cases[i].length, cases[i].value);
    }
}

Test(digits, what_prints_reads_back)
{
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < 100000; i++) {
        random_next(&random);
        int64_t value = (int64_t)(random % UINT64_C(1000000000000000));
        char text[DIGITS_TEXT_SIZE];
        char expected[TRACE_SPELL_SIZE];
        digits_format(value, text);
        trace_spell(value, DIGITS, expected);
        HOLDS(strcmp(text, expected) == 0, "%s prints as %s", expected, text);
        expect_value(text, DIGITS, value);
    }
}

/* ---- invalid text -------------------------------------------------------------------------- */

#define TEN_DIGITS "1234567890"
#define HUNDRED_DIGITS                                                                             \
    TEN_DIGITS TEN_DIGITS TEN_DIGITS TEN_DIGITS TEN_DIGITS TEN_DIGITS TEN_DIGITS TEN_DIGITS        \
        TEN_DIGITS TEN_DIGITS

#define TEXT(literal) literal, sizeof(literal) - 1

Test(digits, text_that_is_no_ledger_is_refused_where_it_goes_wrong)
{
    PROVES(CLAUSE_ACL_3, CLAUSE_ACL_8);
    static const struct {
        const char *text;
        size_t length;
        size_t at;
    } cases[] = {
        {TEXT(""), 0},
        {TEXT("-1"), 0},
        {TEXT("-001100000000001"), 0},
        {TEXT("+1"), 0},
        {TEXT("a"), 0},
        {TEXT("0x1f"), 1},
        {TEXT("1e3"), 1},
        {TEXT("12345678901234l"), 14},
        {TEXT("1-2"), 1},
        {TEXT("1.5"), 1},
        {TEXT("1,000"), 1},
        {TEXT("1_000"), 1},
        {TEXT(" 1"), 0},
        {TEXT("1 2"), 1},
        {TEXT("12 "), 2},
        {TEXT("12\n"), 2},
        {TEXT("12\r"), 2},
        {TEXT("12\t3"), 2},
        {TEXT("\xb2"), 0},         /* superscript two in Latin-1 */
        {TEXT("1\xd9\xa2"), 1},    /* an Arabic-Indic two in UTF-8 */
        {TEXT("\xef\xbc\x91"), 0}, /* a full-width one in UTF-8 */
        {TEXT("1\0"), 1},
        {TEXT("\0"), 0},
        {TEXT("12\0003"), 2},
        {TEXT("/"), 0}, /* the characters before 0 and after 9 */
        {TEXT(":"), 0},
        {TEXT("1000000000000000"), 15},
        {TEXT("0000000000000000"), 15}, /* one zero too many is one digit too many */
        {TEXT("9999999999999999"), 15},
        {TEXT("123456789012345x"), 15},
        {TEXT("123456789012345 "), 15},
        {TEXT("1234567890123456x"), 15},
        {TEXT("12345x7890123456789"), 5}, /* the first of two faults */
        {TEXT("9223372036854775807"), 15},
        {TEXT("18446744073709551616"), 15},
        {TEXT(HUNDRED_DIGITS), 15},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_refusal(cases[i].text, cases[i].length, cases[i].at);
    }
}

/* A person corrects a sign, a blank, a letter and a length in different ways. */
Test(digits, faults_of_different_kinds_have_different_words)
{
    static const char *const kinds[][4] = {
        {"", "", "", ""},
        {"-1", "-", "-001100000000001", "-x"},
        {" 1", "1\t", "1\n", "1\r"},
        {"x", "+1", "1-2", "\xb2"},
        {"0000000000000000", "9999999999999999", "12345678901234567", HUNDRED_DIGITS},
    };
    const char *words[COUNT(kinds)] = {0};
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (size_t i = 0; i < COUNT(kinds[k]); i++) {
            int64_t value = UNTOUCHED;
            struct text_error error = {0};
            cr_assert_not(parse(kinds[k][i], strlen(kinds[k][i]), &value, &error));
            if (i == 0) {
                words[k] = error.wrong;
            }
            cr_expect_str_eq(error.wrong, words[k], "\"%s\"", kinds[k][i]);
        }
        for (size_t other = 0; other < k; other++) {
            cr_expect_str_neq(words[k], words[other]);
        }
    }
}

/* ---- valid becoming invalid ---------------------------------------------------------------- */

Test(digits, a_ledger_stops_to_parse_at_the_first_byte_that_is_no_digit)
{
    for (size_t at = 0; at < DIGITS; at++) {
        for (int byte = 0; byte <= UINT8_MAX; byte++) {
            char text[] = "001100000000001";
            text[at] = (char)byte;
            if (byte >= '0' && byte <= '9') {
                expect_value(text, DIGITS, strtoll(text, NULL, 10));
            } else {
                expect_refusal(text, DIGITS, at);
            }
        }
    }
}

Test(digits, a_growing_text_parses_from_its_1st_to_its_15th_digit)
{
    int64_t value = 0;
    expect_refusal(HUNDRED_DIGITS, 0, 0);
    for (size_t length = 1; length <= DIGITS; length++) {
        value = value * 10 + (HUNDRED_DIGITS[length - 1] - '0');
        expect_value(HUNDRED_DIGITS, length, value);
    }
    for (size_t length = DIGITS + 1; length <= 100; length++) {
        expect_refusal(HUNDRED_DIGITS, length, DIGITS);
    }
}
