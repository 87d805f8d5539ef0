/* The folder of a run, and what is in it whenever somebody looks. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "reports/artefacts.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct artefacts artefacts;

static void make(void)
{
    snprintf(folder, sizeof folder, "/tmp/assay-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static int drop_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

static void drop(void)
{
    cr_assert_eq(nftw(folder, drop_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

TestSuite(artefacts, .init = make, .fini = drop);

static char *content(const char *name)
{
    char path[200];
    size_t length;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return artefacts_read(path, &length);
}

static bool is_there(const char *name)
{
    char *text = content(name);
    free(text);
    return text != NULL;
}

Test(artefacts, a_results_file_is_there_from_the_beginning)
{
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    cr_expect(is_there("results.jsonl"));
    cr_expect_not(is_there("report.json"));
    cr_assert(artefacts_close(&artefacts));
}

Test(artefacts, everything_is_there_at_the_end)
{
    static const char *const names[] = {"results.jsonl", "report.json", "report.html", "junit.xml",
                                        "summary.md"};
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    artefacts_line(&artefacts, json_pack("{s:s}", "type", "begin"));
    artefacts_note(&artefacts, json_pack("{s:s, s:i}", "type", "end", "status", 0));
    cr_assert(artefacts_close(&artefacts));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect(is_there(names[i]), "%s", names[i]);
    }
    char *lines = content("results.jsonl");
    cr_expect_str_eq(lines, "{\"type\":\"begin\"}\n{\"type\":\"end\",\"status\":0}\n");
    free(lines);
}

Test(artefacts, lines_are_echoed_and_notes_are_not)
{
    char *text = NULL;
    size_t length;
    FILE *echo = open_memstream(&text, &length);
    cr_assert(artefacts_open(&artefacts, NULL, echo));
    artefacts_line(&artefacts, json_pack("{s:i}", "a", 1));
    artefacts_note(&artefacts, json_pack("{s:i}", "a", 2));
    cr_assert(artefacts_close(&artefacts));
    fclose(echo);
    cr_expect_str_eq(text, "{\"a\":1}\n");
    free(text);
}

Test(artefacts, a_peek_is_written_and_not_kept)
{
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    artefacts_line(&artefacts, json_pack("{s:i}", "a", 1));
    artefacts_peek(&artefacts, "{\"a\":2}\n", 8);
    char *lines = content("results.jsonl");
    cr_expect_str_eq(lines, "{\"a\":1}\n{\"a\":2}\n");
    free(lines);
    cr_assert(artefacts_close(&artefacts));
    lines = content("results.jsonl");
    cr_expect_str_eq(lines, "{\"a\":1}\n");
    free(lines);
}

Test(artefacts, what_is_there_is_not_written_over)
{
    struct artefacts second;
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    cr_expect_not(artefacts_open(&second, folder, NULL));
    cr_expect(strstr(second.problem, "nothing is written over") != NULL, "%s", second.problem);
    cr_assert(artefacts_close(&artefacts));
}

Test(artefacts, a_folder_that_cannot_be_made_is_told)
{
    cr_expect_not(artefacts_open(&artefacts, "/proc/none/such", NULL));
    cr_expect(strstr(artefacts.problem, "cannot be made") != NULL, "%s", artefacts.problem);
}

Test(artefacts, files_may_lie_in_folders_below)
{
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    cr_expect(artefacts_put(&artefacts, "findings/a/words.txt", "hello", 5));
    char *text = content("findings/a/words.txt");
    cr_expect_str_eq(text, "hello");
    free(text);
    cr_assert(artefacts_close(&artefacts));
}

Test(artefacts, a_file_that_cannot_be_written_is_told_at_the_end)
{
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    char path[200];
    snprintf(path, sizeof path, "%s/junit.xml", folder);
    cr_assert_eq(mkdir(path, 0777), 0); /* a folder is in its place */
    cr_expect_not(artefacts_close(&artefacts));
    cr_expect(strstr(artefacts.problem, "junit.xml could not be written") != NULL, "%s",
              artefacts.problem);
}

Test(artefacts, the_page_is_small_however_much_was_found)
{
    enum { SIZE = 190 << 10, COUNT = 20 };
    static char text[SIZE];
    memset(text, 'x', sizeof text);
    memcpy(text, "{\"schedules\":\"", 14);
    memcpy(text + SIZE - 2, "\"}", 2);
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    for (int i = 0; i < COUNT; i++) {
        char name[40], path[80];
        snprintf(name, sizeof name, "found-%d", i);
        snprintf(path, sizeof path, "findings/%s/finding.json", name);
        cr_assert(artefacts_put(&artefacts, path, text, sizeof text));
        artefacts_note(&artefacts, json_pack("{s:s, s:s, s:s}", "type", "finding", "name", name,
                                             "kind", "new"));
    }
    cr_assert(artefacts_close(&artefacts));
    char *page = content("report.html");
    cr_assert_not_null(page);
    cr_expect_lt(strlen(page), 3000000U);
    cr_expect_gt(strlen(page), 10U * SIZE, "those that fit are drawn");
    free(page);
}
