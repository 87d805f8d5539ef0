/* Reading options and arguments, in any order, on a table of its own. */
#include "cli/options.h"
#include "model/check.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>

struct asked {
    struct cli_arguments values;
    const char *as;
    uint64_t size;
    double time;
    struct cli_values with;
    bool json, text;
};

static const char *const kinds[] = {"guid", "key", NULL};
static const struct option options[] = {
    {ARGUMENTS_ROW(struct asked, values, "VALUE", false), .about = ""},
    {WORD_ROW(struct asked, as, "--as", "KIND", kinds), .about = ""},
    {.name = "--size",
     .kind = OPTION_SIZE,
     .at = OPTION_AT(struct asked, size, uint64_t),
     .value = "SIZE",
     .least = 1 << 20,
     .most = UINT64_C(1) << 40,
     .usual = 1 << 30,
     .about = ""},
    {TIME_ROW(struct asked, "")},
    {TEXTS_ROW(struct asked, with, "--with", "DIR"), .about = ""},
    {JSON_ROW(struct asked, ""), .excludes = "--text"},
    {FLAG_ROW(struct asked, text, "--text"), .about = ""},
};
static const struct cli_verb verb = {.name = "test",
                                     .options = options,
                                     .option_count = COUNT(options),
                                     .request_size = sizeof(struct asked)};
static struct asked asked;

static int parse(const char *const words[], int count)
{
    char *argv[32];
    for (int i = 0; i < count; i++) {
        argv[i] = (char *)words[i];
    }
    cr_redirect_stderr();
    return options_read(&verb, count, argv, &asked);
}

#define PARSE(...)                                                                                 \
    parse((const char *const[]){"test", __VA_ARGS__},                                              \
          (int)(sizeof((const char *const[]){"test", __VA_ARGS__}) / sizeof(char *)))

Test(options, come_before_or_after_the_values)
{
    cr_assert_eq(PARSE("--json", "12", "--as", "key", "34"), CLI_OK);
    cr_expect(asked.json);
    cr_expect_str_eq(asked.as, "key");
    cr_expect_eq(asked.values.count, 2);
    cr_expect_str_eq(asked.values.positional[0], "12");
    cr_expect_str_eq(asked.values.positional[1], "34");
}

Test(options, take_a_value_after_an_equals_sign)
{
    cr_assert_eq(PARSE("--as=guid", "--with=", "--with=a=b"), CLI_OK);
    cr_expect_str_eq(asked.as, "guid");
    cr_expect_eq(asked.with.count, 2);
    cr_expect_str_eq(asked.with.values[1], "a=b");
}

Test(options, have_their_usual_values)
{
    cr_assert_eq(PARSE("--text"), CLI_OK);
    cr_expect_eq(asked.size, 1 << 30);
    cr_expect_null(asked.as);
    cr_expect_eq(asked.time, 0);
}

Test(options, sizes_and_times_have_units)
{
    cr_assert_eq(PARSE("--size", "512M", "--time", "2h"), CLI_OK);
    cr_expect_eq(asked.size, UINT64_C(512) << 20);
    cr_expect_eq(asked.time, 7200);
    cr_assert_eq(PARSE("--size=1048576", "--time=1000000h"), CLI_OK);
    cr_expect_eq(asked.size, 1 << 20);
    cr_expect_eq(PARSE("--size", "M"), CLI_USAGE);
    cr_expect_eq(PARSE("--size", "1025G"), CLI_USAGE);
    cr_expect_eq(PARSE("--size", "99999999999999999G"), CLI_USAGE);
    cr_expect_eq(PARSE("--time", "1000001s"), CLI_USAGE);
    cr_expect_eq(PARSE("--time", ""), CLI_USAGE);
    cr_expect_str_eq(options_size(UINT64_C(1) << 40).text, "1024G");
    cr_expect_str_eq(options_size(1536 << 10).text, "1536K");
    cr_expect_str_eq(options_size(1000).text, "1000");
    cr_expect_str_eq(options_size(0).text, "0");
}

Test(options, a_negative_number_is_a_value_and_so_is_a_lone_hyphen)
{
    cr_assert_eq(PARSE("-5", "-"), CLI_OK);
    cr_expect_eq(asked.values.count, 2);
}

Test(options, end_at_a_double_hyphen)
{
    cr_assert_eq(PARSE("--", "--json", "--"), CLI_OK);
    cr_expect_not(asked.json);
    cr_expect_eq(asked.values.count, 2);
}

Test(options, an_unknown_one_is_a_usage_error)
{
    cr_expect_eq(PARSE("--jsonx"), CLI_USAGE);
}

Test(options, a_missing_value_is_a_usage_error)
{
    cr_expect_eq(PARSE("--as"), CLI_USAGE);
}

Test(options, a_flag_with_a_value_is_a_usage_error)
{
    cr_expect_eq(PARSE("--json=1"), CLI_USAGE);
}

Test(options, given_twice_are_a_usage_error_unless_they_are_flags)
{
    cr_expect_eq(PARSE("--as", "key", "--as", "key"), CLI_USAGE);
    cr_expect_eq(PARSE("--json", "--json"), CLI_OK);
}

Test(options, that_exclude_each_other_are_a_usage_error)
{
    cr_expect_eq(PARSE("--json", "--text"), CLI_USAGE);
}

Test(options, too_many_arguments_or_values_are_a_usage_error)
{
    cr_redirect_stderr();
    char *argv[100] = {"verb"};
    for (int i = 1; i <= (int)CLI_ARGUMENTS_MAX + 1; i++) {
        argv[i] = "--with=1";
    }
    cr_expect_eq(options_read(&verb, 17, argv, &asked), CLI_OK);
    cr_expect_eq(options_read(&verb, 18, argv, &asked), CLI_USAGE);
    for (int i = 1; i <= (int)CLI_ARGUMENTS_MAX + 1; i++) {
        argv[i] = "1";
    }
    cr_expect_eq(options_read(&verb, 1 + (int)CLI_ARGUMENTS_MAX, argv, &asked), CLI_OK);
    cr_expect_eq(options_read(&verb, 2 + (int)CLI_ARGUMENTS_MAX, argv, &asked), CLI_USAGE);
}
