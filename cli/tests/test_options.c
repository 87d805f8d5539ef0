/* Options and positional arguments, in any order. */
#include "cli/cli.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

static const char *as;
static bool json;
static const struct cli_option options[] = {{"--as", &as, NULL}, {"--json", NULL, &json}};
static struct cli_arguments arguments;

static int parse(const char *const words[], int count)
{
    char *argv[32];
    for (int i = 0; i < count; i++) {
        argv[i] = (char *)words[i];
    }
    as = NULL;
    json = false;
    cr_redirect_stderr();
    return cli_parse(&cli_decode, count, argv, options, 2, &arguments);
}

#define PARSE(...)                                                                                 \
    parse((const char *const[]){"decode", __VA_ARGS__},                                            \
          (int)(sizeof((const char *const[]){"decode", __VA_ARGS__}) / sizeof(char *)))

Test(options, come_before_or_after_the_values)
{
    cr_assert_eq(PARSE("--json", "12", "--as", "key", "34"), CLI_OK);
    cr_expect(json);
    cr_expect_str_eq(as, "key");
    cr_expect_eq(arguments.count, 2);
    cr_expect_str_eq(arguments.positional[0], "12");
    cr_expect_str_eq(arguments.positional[1], "34");
}

Test(options, take_a_value_after_an_equals_sign)
{
    cr_assert_eq(PARSE("--as=guid"), CLI_OK);
    cr_expect_str_eq(as, "guid");
}

Test(options, a_negative_number_is_a_value_and_so_is_a_lone_hyphen)
{
    cr_assert_eq(PARSE("-5", "-"), CLI_OK);
    cr_expect_eq(arguments.count, 2);
}

Test(options, end_at_a_double_hyphen)
{
    cr_assert_eq(PARSE("--", "--json", "--"), CLI_OK);
    cr_expect_not(json);
    cr_expect_eq(arguments.count, 2);
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

Test(options, too_many_arguments_are_a_usage_error)
{
    cr_redirect_stderr();
    const int room = (int)(sizeof arguments.positional / sizeof arguments.positional[0]);
    char *argv[100] = {"verb"};
    for (int i = 1; i <= room + 1; i++) {
        argv[i] = "1";
    }
    cr_expect_eq(cli_parse(&cli_decode, 1 + room, argv, NULL, 0, &arguments), CLI_OK);
    cr_expect_eq(cli_parse(&cli_decode, 2 + room, argv, NULL, 0, &arguments), CLI_USAGE);
}
