/* Lines are written and read as reports/lines.def says, and reports/README.md says the same. */
#include "model/check.h"
#include "reports/artefacts.h"
#include "reports/line.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(json_t *line, const char *wanted)
{
    char *text = json_dumps(line, JSON_COMPACT);
    cr_expect_str_eq(text, wanted);
    free(text);
    json_decref(line);
}

Test(line, has_its_members_in_the_order_in_which_they_are_given)
{
    json_t *line = line_make(LINE_DRIFT, line_seed(7), line_scenario("x"), line_step(0));
    line_add(line, line_text(NULL));
    expect_text(line,
                "{\"type\":\"drift\",\"seed\":7,\"scenario\":\"x\",\"step\":0,\"text\":null}");
}

Test(line, writes_each_kind_as_lines_have_it)
{
    expect_text(line_make(LINE_SWEEP, line_digest(255), line_is_broken(true), line_form("merged"),
                          line_points(json_pack("[i]", 1)), line_fired(json_pack("{s:i}", "a", 2))),
                "{\"type\":\"sweep\",\"digest\":\"00000000000000ff\",\"broken\":true,\"commits\":"
                "\"merged\",\"points\":[1],\"fired\":{\"a\":2}}");
    expect_text(line_make(LINE_END, line_status(4), line_seconds(1.5)),
                "{\"type\":\"end\",\"status\":4,\"seconds\":1.5}");
}

Test(line, is_read_by_its_keys_and_what_is_not_there_says_nothing)
{
    json_t *line = line_make(LINE_RUN, line_seed(UINT64_MAX), line_runs(3), line_why(NULL));
    cr_expect(line_is(line, LINE_RUN) && line_is_about_runs(line) && !line_is(line, LINE_END));
    cr_expect_eq(line_get_runs(line), 3U);
    cr_expect_eq(line_get_seed(line), 0U, "a seed that JSON has with a sign");
    cr_expect_str_eq(line_get_why(line), "");
    cr_expect_str_eq(line_get_scenario(line), "");
    cr_expect_null(line_get_evaluated(line));
    cr_expect_not(line_get_committed(line));
    json_decref(line);
}

Test(line_misuse, a_key_that_the_type_has_not, .signal = SIGABRT) /* LI6 */
{
    json_decref(line_make(LINE_END, line_runs(1)));
}

Test(line_misuse, a_list_where_an_object_belongs, .signal = SIGABRT) /* LI6 */
{
    json_decref(line_make(LINE_RUN, line_faults(json_array())));
}

Test(line_misuse, a_status_that_no_verb_ends_with, .signal = SIGABRT) /* LI6 */
{
    json_decref(line_make(LINE_END, line_status(5)));
}

/* "": the line is sound. */
static void expect_check(const char *text, const char *wanted)
{
    struct line_reader reader = {.open = true};
    char why[180] = "";
    json_t *line = json_loads(text, 0, NULL);
    cr_assert_not_null(line, "%s", text);
    bool sound = line_check(&reader, line, why, sizeof why);
    cr_expect_eq(sound, wanted[0] == '\0', "%s: %s", text, why);
    cr_expect(sound || strcmp(why, wanted) == 0, "%s: %s", text, why);
    json_decref(line);
}

Test(line, of_a_known_type_has_values_of_the_kinds_of_its_keys)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"{\"type\":\"run\",\"seed\":-1,\"why\":null,\"unheard-of\":{}}", ""},
        {"{\"type\":\"unheard-of\",\"runs\":\"many\"}", ""},
        {"{\"type\":\"end\",\"status\":0,\"seconds\":9}", ""},
        {"{\"type\":\"sweep\",\"commits\":\"merged\"}", ""},
        {"{\"type\":\"summary\",\"equivalent\":3,\"gates\":[],\"steps\":0}", ""},
        {"{\"type\":\"sabotage\",\"equivalent\":\"no effect\",\"found\":1}", ""},
        {"{\"type\":\"run\",\"scenario\":7}", "\"scenario\" is 7; it is a text"},
        {"{\"type\":\"run\",\"seed\":1.5}",
         "\"seed\" is 1.5; it is a whole number; from 2^63 on it is written less 2^64"},
        {"{\"type\":\"run\",\"digest\":\"00ff\"}",
         "\"digest\" is \"00ff\"; it is 16 hexadecimal digits"},
        {"{\"type\":\"begin\",\"verb\":\"run\",\"binary_hash\":\"x\"}",
         "\"binary_hash\" is \"x\"; it is hexadecimal digits, or \"\""},
        {"{\"type\":\"real\",\"status\":5}", "\"status\" is 5; it is 0, 1, 2, 3, 4, 64, 69 or 70"},
        {"{\"type\":\"end\",\"status\":0,\"seconds\":-1}",
         "\"seconds\" is -1; it is a number from 0 on"},
        {"{\"type\":\"bar\",\"figure\":\"2\"}", "\"figure\" is \"2\"; it is a number"},
        {"{\"type\":\"suite\",\"passed\":\"yes\"}", "\"passed\" is \"yes\"; it is true or false"},
        {"{\"type\":\"summary\",\"gates\":{}}", "\"gates\" is {}; it is a list of texts"},
        {"{\"type\":\"gates\",\"gates\":[1]}", "\"gates\" is 1; it is a text"},
        {"{\"type\":\"sweep\",\"crash_points\":[7]}",
         "\"crash_points\" is ?; it is a whole number from 0 to 1000000000000000"},
        {"{\"type\":\"begin\",\"verb\":\"run\",\"versions\":[]}",
         "\"versions\" is []; it is an object"},
        {"{\"type\":\"sweep\",\"points\":7}", "\"points\" is 7; it is a list"},
        {"{\"type\":\"store\",\"commits\":\"merged\"}",
         "\"commits\" is \"merged\"; it is a whole number from 0 to 1000000000000000"},
        {"{\"type\":\"run\",\"fired\":{\"pause\":-1}}",
         "\"pause\" is -1; it is a whole number from 0 to 1000000000000000"},
        {"{\"type\":\"real\",\"commits\":1000000000000001}",
         "\"commits\" is 1000000000000001; it is a whole number from 0 to 1000000000000000"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_check(cases[i].line, cases[i].why);
    }
}

Test(line, schema_is_a_section_of_the_readme)
{
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    line_write_schema(out);
    fclose(out);
    char *page = artefacts_read(ASSAY_SOURCE_DIR "/reports/README.md", &length);
    cr_assert_not_null(page);
    bool equal = strstr(page, made) != NULL;
    fputs(equal ? "" : made, stderr);
    cr_expect(equal, "reports/README.md is out of date: its tables are those on stderr");
    free(page);
    free(made);
}
