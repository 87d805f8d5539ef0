/* The HTML file of a report: one page, and data that stay data. What a browser makes of it is
 * tested in tests/browser. */
#include "model/check.h"
#include "reports/html.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The file for this JSON; freed by the caller. */
static char *page_of(const char *json)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    cr_assert(report_html_write(to, json, strlen(json)));
    fclose(to);
    return text;
}

/* What stands inside the element of the data. */
static char *data_of(const char *page)
{
    const char *from = strstr(page, "id=\"data\">");
    cr_assert_not_null(from);
    from += strlen("id=\"data\">") + 1; /* and the line's end */
    return strndup(from, (size_t)(strstr(from, "</script>") - from));
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) {
        count++;
    }
    return count;
}

/* (HT1) */
Test(html, data_stay_data)
{
    static const struct {
        const char *json, *written;
    } cases[] = {
        {"{}", "{}\n"},
        {"", "\n"},
        {"<", "\\u003c\n"},
        {"{\"a\":\"</script><b>\"}", "{\"a\":\"\\u003c/script>\\u003cb>\"}\n"},
        {"{\"a\":\"<!--<script>\"}", "{\"a\":\"\\u003c!--\\u003cscript>\"}\n"},
        {"{\"a\":\"\\u003c <\"}", "{\"a\":\"\\u003c \\u003c\"}\n"},
        {"{\"a\":\"/*PART page.css*/ \xc3\xa9\"}", "{\"a\":\"/*PART page.css*/ \xc3\xa9\"}\n"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *page = page_of(cases[i].json);
        char *data = data_of(page);
        cr_expect_str_eq(data, cases[i].written, "case %zu: %s", i, data);
        free(data);
        free(page);
    }
}

/* Nothing that the page is made of ends an element too early, and nothing names the network. */
Test(html, one_file_that_asks_for_nothing)
{
    char *page = page_of("{\"version\":1}");
    cr_expect_eq(strncmp(page, "<!doctype html>", 15), 0);
    cr_expect_str_eq(page + strlen(page) - strlen("</html>\n"), "</html>\n");
    cr_expect_eq(count_of(page, "<script"), 2);
    cr_expect_eq(count_of(page, "</script"), 2);
    cr_expect_eq(count_of(page, "<style"), 1);
    cr_expect_eq(count_of(page, "</style"), 1);
    cr_expect_eq(count_of(page, "/*PART "), 0);
    cr_expect_eq(count_of(page, "default-src 'none'"), 1);
    cr_expect_eq(count_of(page, " src="), 0);
    cr_expect_eq(count_of(page, "url("), 0);
    cr_expect_eq(count_of(page, "@import"), 0);
    cr_expect_eq(count_of(page, "//www.w3.org/2000/svg"), count_of(page, "://"),
                 "only a namespace looks like an address");
    free(page);
}

Test(html, a_stream_that_fails_is_told)
{
    FILE *full = fopen("/dev/full", "w");
    cr_assert_not_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    cr_expect_not(report_html_write(full, "{}", 2));
    fclose(full);
}
