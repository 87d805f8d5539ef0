/* What decode says: goldens compared whole. */
#include "model/check.h"
#include "reports/reading.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *read_as(enum reading_kind kind, enum format_kind format, const char *text)
{
    static struct reading reading;
    struct text_error error = {0};
    char *out_text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&out_text, &size);
    if (reading_make(text, strlen(text), kind, &reading, &error)) {
        reading_write(out, format, text, &reading);
    } else {
        fprintf(out, "%zu: %s; %s\n", error.at, error.wrong, error.right);
    }
    fclose(out);
    return out_text;
}

static void expect_text(enum reading_kind kind, const char *value, const char *expected)
{
    char *text = read_as(kind, FORMAT_TEXT, value);
    cr_expect_str_eq(text, expected);
    free(text);
}

Test(reading, an_activity_ledger_is_told_field_by_field)
{
    expect_text(
        READING_ACTIVITY, "1111000000002",
        "001111000000002  activity ledger\n"
        "\n"
        "  001              Leg1 entries       1 of 999\n"
        "     1             Leg1 complete      yes\n"
        "      1            work done          yes\n"
        "       1           children spawned   yes\n"
        "        0          job tasks done     no\n"
        "         00000002  Leg2 entries       2 of 99,999,999\n"
        "  Leg1 was entered once and is complete; Leg2 was entered 2 times (dimension 1, if "
        "the last entry\n  was that of a new GUID).\n");
}

Test(reading, a_guid_ledger_is_told_with_the_step_it_owes)
{
    expect_text(
        READING_GUID, "000111000000002",
        "000111000000002  GUID ledger\n"
        "\n"
        "  000              reserved           always 0\n"
        "     1             job closed         yes\n"
        "      1            work done          yes\n"
        "       1           children spawned   yes\n"
        "        0          job tasks done     no\n"
        "         00000002  attempt counter    2 of 99,999,999\n"
        "  This GUID's Step 2 ended the job: Step 3, its completion tasks, is owed whatever "
        "the semaphore\n  says.\n");
}

Test(reading, a_legacy_ledger_is_told_in_entries_and_exits)
{
    expect_text(READING_LEGACY, "889000002000001",
                "889000002000001  ledger of the earlier design\n"
                "\n"
                "  8                Leg1 entry status  once\n"
                "   8               Leg1 exit status   once\n"
                "    9              Leg2 exit status   not yet\n"
                "     000002        Leg2 entry count   2 times\n"
                "           000001  Leg2 exit count    once\n"
                "  Leg1 has ended; Leg2 is open.\n");
}

Test(reading, a_composed_key_is_told_flow_by_flow)
{
    expect_text(READING_KEY, "96146629",
                "96146629  collation key, 2 flows\n"
                "\n"
                "flow 1, 969000000000000, the outermost\n"
                "  9                activity 1         pending\n"
                "   6               activity 2         completed\n"
                "    9              activity 3         pending\n"
                "  Not complete: 2 of 3 activities are pending, started or paused.\n"
                "\n"
                "flow 2, 466000000000000, awaited by activity 2 of flow 1\n"
                "  4                activity 1         released\n"
                "   6               activity 2         completed\n"
                "    6              activity 3         completed\n"
                "  Complete.\n");
}

Test(reading, words_follow_the_digits)
{
    static const struct {
        enum reading_kind kind;
        const char *value, *words;
    } cases[] = {
        {READING_ACTIVITY, "0", "Nothing has happened yet."},
        {READING_ACTIVITY, "002000000000000", "Leg1 was entered 2 times and is not complete"},
        {READING_ACTIVITY, "001100000000000", "Leg2 has not been entered"},
        {READING_GUID, "000000000000001", "Step 1, the work, is next"},
        {READING_GUID, "000010000000001", "Step 2, spawning the children, is next"},
        {READING_GUID, "000011000000001", "the job went on: only the ack is left"},
        {READING_GUID, "000111100000001", "did its completion tasks"},
        {READING_LEGACY, "999000000000000", "Leg1 has not begun; Leg2 is open."},
        {READING_LEGACY, "899000000000000", "Leg1 has begun and not ended"},
        {READING_LEGACY, "888000002000002", "Leg2 is closed"},
        {READING_KEY, "366863", "Not complete: 1 of 6 activities is pending"},
        {READING_KEY, "766366", "Complete, in error."},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = read_as(cases[i].kind, FORMAT_TEXT, cases[i].value);
        cr_expect_not_null(strstr(text, cases[i].words), "%s: %s", cases[i].value, text);
        free(text);
    }
}

Test(reading, a_number_that_no_run_can_have_written_is_read_with_its_defect)
{
    static const struct {
        enum reading_kind kind;
        const char *value, *defect;
    } cases[] = {
        {READING_ACTIVITY, "001120000000002", "a marker digit is neither 0 nor 1"},
        {READING_ACTIVITY, "000100000000000", "Leg1 is complete although it was never entered"},
        {READING_ACTIVITY, "001000000000001", "Leg2 was entered before Leg1 was complete"},
        {READING_ACTIVITY, "001110000000000", "a step is marked although Leg2 was never entered"},
        {READING_ACTIVITY, "001101000000001", "a later step is marked before an earlier one"},
        {READING_GUID, "001110000000001", "digits 1-3 of a GUID ledger are reserved"},
        {READING_GUID, "000100000000001", "a later step is marked before an earlier one"},
        {READING_LEGACY, "999000001000000", "Leg2 was entered before Leg1 began"},
        {READING_LEGACY, "989000000000000", "Leg1 ended more often than it began"},
        {READING_LEGACY, "889000001000002", "Leg2 ended more often than it began"},
        {READING_LEGACY, "887000001000001", "Leg2 was closed more often than it ended"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = read_as(cases[i].kind, FORMAT_TEXT, cases[i].value);
        cr_expect_not_null(strstr(text, "Not legal: "), "%s", text);
        cr_expect_not_null(strstr(text, cases[i].defect), "%s: %s", cases[i].value, text);
        free(text);
    }
}

Test(reading, colour_changes_nothing_but_colour)
{
    char *plain = read_as(READING_ACTIVITY, FORMAT_TEXT, "001120000000002");
    char *colour = read_as(READING_ACTIVITY, FORMAT_COLOUR, "001120000000002");
    cr_expect_not_null(strstr(colour, "\033[1m001\033[0m"));
    cr_expect_not_null(strstr(colour, "\033[1;31mNot legal"));
    char *kept = colour;
    for (const char *c = colour; *c != '\0'; c++) {
        if (*c == '\033') {
            c = strchr(c, 'm');
        } else {
            *kept++ = *c;
        }
    }
    *kept = '\0';
    cr_expect_str_eq(colour, plain);
    free(plain);
    free(colour);
}

Test(reading, json_says_the_same)
{
    char *text = read_as(READING_KEY, FORMAT_JSON, "96146629");
    json_t *object = json_loads(text, 0, NULL);
    cr_assert_not_null(object);
    cr_expect_str_eq(json_string_value(json_object_get(object, "type")), "reading");
    cr_expect_str_eq(json_string_value(json_object_get(object, "as")), "key");
    cr_expect(json_is_true(json_object_get(object, "legal")));
    json_t *inner = json_array_get(json_object_get(object, "parts"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(inner, "digits")), "466000000000000");
    cr_expect_eq(json_integer_value(json_object_get(inner, "awaited_by_activity")), 2);
    json_t *field = json_array_get(json_object_get(inner, "fields"), 0);
    cr_expect_eq(json_integer_value(json_object_get(field, "value")), 4);
    json_decref(object);
    free(text);
    text = read_as(READING_GUID, FORMAT_JSON, "1");
    cr_expect_not_null(strstr(text, "\"defect\":null"));
    free(text);
}

Test(reading, text_that_is_no_ledger_is_refused_with_place_and_reason)
{
    expect_text(READING_ACTIVITY, "0011000000000000",
                "15: a 16th digit; a ledger is 1 to 15 decimal digits, such as 001100000000000\n");
    char *text = read_as(READING_KEY, FORMAT_TEXT, "99146");
    cr_expect_not_null(strstr(text, ";"), "%s", text);
    free(text);
}
