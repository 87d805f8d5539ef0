/* The tables of all verbs: what is made of a row agrees with every other thing that is made of it. */
#include "cli/options.h"
#include "faults/sabotage.h"
#include "reports/format.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

#define EACH_VERB(verb)                                                                            \
    for (const struct cli_verb *const *each = cli_verbs, *verb = *each; verb != NULL;              \
         verb = *++each)
#define EACH_ROW(verb, row)                                                                        \
    for (const struct option *row = (verb)->options; row < (verb)->options + (verb)->option_count; \
         row++)

static char *text_of(void (*write)(FILE *out, const struct cli_verb *verb),
                     const struct cli_verb *verb)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(out, verb);
    fclose(out);
    return text;
}

static int read_words(const struct cli_verb *verb, int count, const char **words, void *request)
{
    words[0] = verb->name;
    return options_read(verb, count, (char **)words, request);
}

/* A value that the row takes and that is not its usual one. */
static const char *good_value(const struct option *row)
{
    static char number[24];
    static struct sabotage sabotage;
    if (row->kind == OPTION_NUMBER) {
        snprintf(number, sizeof number, "%llu",
                 (unsigned long long)(row->least == row->usual ? row->most : row->least));
        return number;
    }
    if (row->kind == OPTION_WORD) {
        return row->words[row->usual_text != NULL && strcmp(row->words[0], row->usual_text) == 0];
    }
    if (row->kind == OPTION_SABOTAGE) {
        sabotage_get(0, &sabotage);
        return sabotage.name;
    }
    return row->kind == OPTION_SIZE ? "512M" : row->kind == OPTION_TIME ? "90s" : "it's one";
}

/* The words that fill every needed row. */
static int needed_words(const struct cli_verb *verb, const char **words)
{
    int count = 1;
    EACH_ROW(verb, row)
    {
        if (row->needed && row->name != NULL) {
            words[count++] = row->name;
        }
        if (row->needed) {
            words[count++] = row->kind == OPTION_NUMBER ? "7" : good_value(row);
        }
    }
    return count;
}

/* ---- OT4 ------------------------------------------------------------------------------------- */

Test(option_tables, names_are_unique_and_arguments_come_first) /* OT4 */
{
    EACH_VERB(verb)
    {
        bool named = false, many = false;
        cr_expect(verb->option_count <= 64, "%s has more rows than the parser notes", verb->name);
        EACH_ROW(verb, row)
        {
            cr_expect(row->name != NULL || (!named && !many), "%s: %s is out of order", verb->name,
                      row->value);
            named = named || row->name != NULL;
            many = many || row->kind == OPTION_ARGUMENTS;
            cr_expect((row->value == NULL) == (row->kind == OPTION_FLAG), "%s %s", verb->name,
                      row->name);
            cr_expect((row->words != NULL) == (row->kind == OPTION_WORD));
            for (const struct option *other = verb->options; other < row; other++) {
                cr_expect(row->name == NULL || other->name == NULL ||
                              strcmp(row->name, other->name) != 0,
                          "%s: %s twice", verb->name, row->name);
            }
        }
    }
}

Test(option_tables, exclude_only_what_there_is)
{
    EACH_VERB(verb)
    {
        EACH_ROW(verb, row)
        {
            char names[300] = "", *rest = NULL;
            snprintf(names, sizeof names, "%s", row->excludes == NULL ? "" : row->excludes);
            for (char *name = strtok_r(names, " ", &rest); name != NULL;
                 name = strtok_r(NULL, " ", &rest)) {
                bool any = false;
                EACH_ROW(verb, other)
                {
                    any = any || (other->name != NULL && strcmp(other->name, name) == 0);
                }
                cr_expect(any, "%s %s excludes %s, which there is not", verb->name, row->name,
                          name);
            }
        }
    }
}

/* ---- OT1 ------------------------------------------------------------------------------------- */

Test(option_tables, help_has_every_row_and_fits_a_terminal) /* OT1 */
{
    EACH_VERB(verb)
    {
        char *help = text_of(options_help, verb), wanted[100], *rest = NULL;
        snprintf(wanted, sizeof wanted, "usage: assay %s", verb->name);
        cr_expect_eq(strncmp(help, wanted, strlen(wanted)), 0, "%s", help);
        snprintf(wanted, sizeof wanted, "\nexample: assay %s", verb->name);
        cr_expect(strstr(help, wanted) != NULL, "%s has no example", verb->name);
        cr_expect(strstr(help, "\nExit status: ") != NULL, "%s names no status", verb->name);
        cr_expect(strstr(help, "@options") == NULL, "%s: the mark is left", verb->name);
        EACH_ROW(verb, row)
        {
            snprintf(wanted, sizeof wanted, "\n  %s%s%s", row->name == NULL ? "" : row->name,
                     row->name != NULL && row->value != NULL ? " " : "",
                     row->value == NULL ? "" : row->value);
            cr_expect(strstr(help, wanted) != NULL, "%s --help lacks%s", verb->name, wanted);
        }
        for (char *line = strtok_r(help, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            cr_expect(strlen(line) <= FORMAT_WIDTH, "%s: %s", verb->name, line);
        }
        free(help);
    }
}

static void complete_options(FILE *out, const struct cli_verb *verb)
{
    char *words[] = {(char *)verb->name, "--"};
    options_complete(out, 2, words);
}

Test(option_tables, a_shell_proposes_every_named_row) /* OT1 */
{
    EACH_VERB(verb)
    {
        char *proposed = text_of(complete_options, verb), wanted[100];
        EACH_ROW(verb, row)
        {
            snprintf(wanted, sizeof wanted, "%s\n", row->name == NULL ? "" : row->name);
            cr_expect(strstr(proposed, wanted) != NULL, "%s: %s", verb->name, row->name);
        }
        free(proposed);
    }
}

static void complete_last(FILE *out, const struct cli_verb *verb)
{
    EACH_ROW(verb, row)
    {
        char *words[] = {(char *)verb->name, (char *)row->name, ""};
        if (row->name != NULL && row->kind == OPTION_WORD) {
            options_complete(out, 3, words);
        }
    }
}

Test(option_tables, a_shell_proposes_the_words_of_a_row) /* OT1 */
{
    char *levels = text_of(complete_last, &cli_explore),
         *kinds = text_of(complete_last, &cli_decode);
    cr_expect_str_eq(levels, "transaction\nstatement\n");
    cr_expect_str_eq(kinds, "activity\nguid\nlegacy\nkey\n");
    free(levels);
    free(kinds);
}

/* ---- OT2 ------------------------------------------------------------------------------------- */

/* Reads the needed rows and one more option; the values before it are left out if it is needed. */
static int read_with(const struct cli_verb *verb, const struct option *row, const char *value,
                     void *request)
{
    const char *words[200];
    int count = needed_words(verb, words);
    for (int i = 1; i + 1 < count && row->needed; i++) {
        if (strcmp(words[i], row->name) == 0) {
            words[i + 1] = value;
            return read_words(verb, count, words, request);
        }
    }
    words[count++] = row->name;
    if (value != NULL) {
        words[count++] = value;
    }
    return read_words(verb, count, words, request);
}

static void refuses(const struct cli_verb *verb, const struct option *row, const char *value,
                    void *request)
{
    cr_expect_eq(read_with(verb, row, value, request), CLI_USAGE, "%s %s takes '%s'", verb->name,
                 row->name, value);
}

static void refuse_numbers(const struct cli_verb *verb, const struct option *row, void *request)
{
    char text[24];
    refuses(verb, row, "", request);
    refuses(verb, row, "x", request);
    refuses(verb, row, "-1", request);
    refuses(verb, row, "1.5", request);
    refuses(verb, row, "99999999999999999999999", request);
    if (row->least > 0) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)row->least - 1);
        refuses(verb, row, text, request);
    }
    if (row->most < UINT64_MAX) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)row->most + 1);
        refuses(verb, row, text, request);
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)row->most);
    cr_expect_eq(read_with(verb, row, text, request), CLI_OK, "%s %s %s", verb->name, row->name,
                 text);
    cr_expect_eq(*(uint64_t *)((char *)request + row->at), row->most);
}

Test(option_tables, a_bad_value_is_refused) /* OT2 */
{
    cr_redirect_stderr();
    EACH_VERB(verb)
    {
        void *request = calloc(1, verb->request_size);
        EACH_ROW(verb, row)
        {
            if (row->name == NULL) {
                continue;
            }
            if (row->kind == OPTION_NUMBER || row->kind == OPTION_SIZE) {
                refuse_numbers(verb, row, request);
            } else if (row->kind == OPTION_TIME) {
                refuses(verb, row, "60", request);
                refuses(verb, row, "0s", request);
            } else if (row->kind == OPTION_WORD || row->kind == OPTION_SABOTAGE) {
                refuses(verb, row, "no such thing", request);
            } else if (row->kind == OPTION_FLAG) {
                char with_value[60];
                snprintf(with_value, sizeof with_value, "%s=1", row->name);
                struct option odd = *row;
                odd.name = with_value;
                refuses(verb, &odd, NULL, request);
            }
        }
        free(request);
    }
}

Test(option_tables, a_needed_row_is_asked_for) /* OT2 */
{
    cr_redirect_stderr();
    EACH_VERB(verb)
    {
        void *request = calloc(1, verb->request_size);
        const char *words[200];
        int count = needed_words(verb, words);
        cr_expect_eq(read_words(verb, count, words, request), CLI_OK, "%s", verb->name);
        if (count > 1) {
            cr_expect_eq(read_words(verb, 1, words, request), CLI_USAGE, "%s", verb->name);
        }
        free(request);
    }
}

/* ---- OT3 ------------------------------------------------------------------------------------- */

/* As a shell reads a line: words, some in single quotes. */
static int split(char *line, const char **words)
{
    int count = 0;
    for (char *from = line, *to = line; *from != '\0';) {
        words[count++] = to;
        while (*from != ' ' && *from != '\0') {
            if (*from == '\\') {
                *to++ = from[1];
                from += 2;
            } else if (*from == '\'') {
                for (from++; *from != '\''; from++) {
                    *to++ = *from;
                }
                from++;
            } else {
                *to++ = *from++;
            }
        }
        from += *from == ' ';
        *to++ = '\0';
    }
    return count;
}

static bool same_values(const struct cli_values *one, const struct cli_values *other)
{
    bool same = one->count == other->count;
    for (int i = 0; same && i < one->count; i++) {
        same = strcmp(one->values[i], other->values[i]) == 0;
    }
    return same;
}

static bool same_arguments(const struct cli_arguments *one, const struct cli_arguments *other)
{
    bool same = one->count == other->count;
    for (int i = 0; same && i < one->count; i++) {
        same = strcmp(one->positional[i], other->positional[i]) == 0;
    }
    return same;
}

static bool is_same(const struct option *row, const void *one, const void *other)
{
    if (row->kind == OPTION_FLAG) {
        return *(const bool *)one == *(const bool *)other;
    }
    if (row->kind == OPTION_NUMBER || row->kind == OPTION_SIZE) {
        return *(const uint64_t *)one == *(const uint64_t *)other;
    }
    if (row->kind == OPTION_TIME) {
        return *(const double *)one == *(const double *)other;
    }
    if (row->kind == OPTION_TEXTS) {
        return same_values(one, other);
    }
    if (row->kind == OPTION_ARGUMENTS) {
        return same_arguments(one, other);
    }
    const char *text = *(const char *const *)one, *other_text = *(const char *const *)other;
    return (text == NULL) == (other_text == NULL) &&
           (text == NULL || strcmp(text, other_text) == 0);
}

/* The line of a request is read back to the same values; what it leaves out has its usual one. */
static void goes_round(const struct cli_verb *verb, const char *request)
{
    struct options_line line = options_again(verb, request);
    const char *words[200];
    char *back = calloc(1, verb->request_size), *usual = calloc(1, verb->request_size);
    char copy[sizeof line.text];
    memcpy(copy, line.text, sizeof copy);
    int count = split(copy, words);
    cr_expect_str_eq(words[0], "assay");
    cr_expect_str_eq(words[1], verb->name);
    cr_expect_eq(read_words(verb, count - 1, words + 1, back), CLI_OK, "%s", line.text);
    options_begin(verb, usual);
    EACH_ROW(verb, row)
    {
        bool left_out = row->again == AGAIN_NEVER;
        const char *from = (left_out ? usual : request) + row->at;
        cr_expect(is_same(row, from, back + row->at), "%s: %s of %s", line.text,
                  row->name == NULL ? row->value : row->name, verb->name);
    }
    free(back);
    free(usual);
}

Test(option_tables, the_line_that_does_it_again_is_read_back) /* OT3 */
{
    EACH_VERB(verb)
    {
        char *request = calloc(1, verb->request_size);
        const char *words[200];
        cr_assert_eq(read_words(verb, needed_words(verb, words), words, request), CLI_OK);
        goes_round(verb, request);
        EACH_ROW(verb, row)
        {
            if (row->name != NULL) { /* one option at a time: some exclude each other */
                const char *value = row->kind == OPTION_FLAG ? NULL : good_value(row);
                cr_assert_eq(read_with(verb, row, value, request), CLI_OK, "%s %s %s", verb->name,
                             row->name, value);
                goes_round(verb, request);
            }
        }
        free(request);
    }
}

Test(option_tables, an_argument_with_a_hyphen_is_read_back) /* OT3 */
{
    const char *words[] = {"replay", "--edited", "--", "--odd name"};
    char *request = calloc(1, cli_replay.request_size);
    cr_assert_eq(read_words(&cli_replay, 4, words, request), CLI_OK);
    cr_expect_str_eq(options_again(&cli_replay, request).text,
                     "assay replay --edited -- '--odd name'");
    goes_round(&cli_replay, request);
    free(request);
}

Test(option_tables, the_line_has_what_is_not_usual_in_the_order_of_the_table) /* OT3 */
{
    const char *words[] = {"run",           "--json", "--without",  "ACL-21", "tree-3",
                           "--without",     "ledger", "--strategy", "random", "--sabotage",
                           "lost-snapshot", "--seed", "2"};
    char *request = calloc(1, cli_run.request_size);
    cr_assert_eq(read_words(&cli_run, 13, words, request), CLI_OK);
    cr_expect_str_eq(options_again(&cli_run, request).text,
                     "assay run tree-3 --seed 2 --sabotage lost-snapshot --without ACL-21 "
                     "--without ledger");
    free(request);
}
