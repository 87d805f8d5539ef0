/* The folder of a run, and what is in it at every moment. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "model/check.h"
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

#define BEGUN "{\"type\":\"begin\",\"verb\":\"test\"}\n"

/* With the line that every results.jsonl starts with. */
static void open_begun(const char *where)
{
    cr_assert(artefacts_open(&artefacts, where, NULL));
    artefacts_line(&artefacts, json_pack("{s:s, s:s}", "type", "begin", "verb", "test"));
}

/* (AF1) */
Test(artefacts, a_results_file_is_there_from_the_beginning)
{
    cr_assert(artefacts_open(&artefacts, folder, NULL));
    cr_expect(is_there("results.jsonl"));
    cr_expect_not(is_there("report.json"));
    cr_expect_not(artefacts_close(&artefacts), "nothing had begun");
    cr_expect(strstr(artefacts.problem, "it is empty") != NULL, "%s", artefacts.problem);
}

Test(artefacts, everything_is_there_at_the_end)
{
    static const char *const names[] = {"results.jsonl", "report.json", "report.html", "junit.xml",
                                        "summary.md"};
    open_begun(folder);
    artefacts_note(&artefacts, json_pack("{s:s, s:i}", "type", "end", "status", 0));
    cr_assert(artefacts_close(&artefacts));
    for (size_t i = 0; i < COUNT(names); i++) {
        cr_expect(is_there(names[i]), "%s", names[i]);
    }
    char *lines = content("results.jsonl");
    cr_expect_str_eq(lines, BEGUN "{\"type\":\"end\",\"status\":0}\n");
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
    open_begun(folder);
    artefacts_peek(&artefacts, "{\"a\":2}\n", 8);
    char *lines = content("results.jsonl");
    cr_expect_str_eq(lines, BEGUN "{\"a\":2}\n");
    free(lines);
    cr_assert(artefacts_close(&artefacts));
    lines = content("results.jsonl");
    cr_expect_str_eq(lines, BEGUN);
    free(lines);
}

/* (AF2) */
Test(artefacts, a_finding_is_there_whole_or_not_at_all)
{
    open_begun(folder);
    cr_assert(artefacts_put_finding(&artefacts, "it", "trace.txt", "long", 4));
    cr_expect_not(is_there("findings/it/trace.txt"), "it is not whole");
    cr_assert(artefacts_put_finding(&artefacts, "it", "words.txt", "words", 5));
    cr_assert(artefacts_place_finding(&artefacts, "it"));
    cr_expect(is_there("findings/it/trace.txt") && is_there("findings/it/words.txt"));
    cr_assert(artefacts_put_finding(&artefacts, "it", "trace.txt", "short", 5));
    char *text = content("findings/it/trace.txt");
    cr_expect_str_eq(text, "long", "the smaller one is not whole");
    free(text);
    cr_assert(artefacts_place_finding(&artefacts, "it"));
    text = content("findings/it/trace.txt");
    cr_expect_str_eq(text, "short");
    free(text);
    cr_expect_not(is_there("findings/it/words.txt"), "the older folder is gone as a whole");
    cr_expect_not(is_there("findings/.it.older/words.txt"));
    cr_assert(artefacts_close(&artefacts));
}

Test(artefacts, a_finding_that_cannot_be_written_is_told)
{
    open_begun(folder);
    cr_expect_not(artefacts_place_finding(&artefacts, "nothing"));
    cr_expect(strstr(artefacts.problem, "findings/nothing could not be written") != NULL, "%s",
              artefacts.problem);
    cr_expect_not(artefacts_close(&artefacts));
}

Test(artefacts, what_is_there_is_not_written_over)
{
    struct artefacts second;
    open_begun(folder);
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
    open_begun(folder);
    cr_expect(artefacts_put(&artefacts, "findings/a/words.txt", "hello", 5));
    char *text = content("findings/a/words.txt");
    cr_expect_str_eq(text, "hello");
    free(text);
    cr_assert(artefacts_close(&artefacts));
}

Test(artefacts, a_file_that_cannot_be_written_is_told_at_the_end)
{
    open_begun(folder);
    char path[200];
    snprintf(path, sizeof path, "%s/junit.xml", folder);
    cr_assert_eq(mkdir(path, 0777), 0); /* a folder is in its place */
    cr_expect_not(artefacts_close(&artefacts));
    cr_expect(strstr(artefacts.problem, "junit.xml could not be written") != NULL, "%s",
              artefacts.problem);
}

/* A finding.json whose schedules are of the size. */
static void put_finding(const char *name, size_t size)
{
    char path[80];
    json_t *text = json_array();
    char *filling = malloc(size);
    memset(filling, 'x', size);
    json_array_append_new(text, json_stringn(filling, size));
    json_t *schedule = json_pack("{s:i, s:o}", "steps", 7, "texts", text);
    json_t *finding = json_pack("{s:{s:O, s:O, s:O}, s:[]}", "schedules", "shrunk", schedule,
                                "full", schedule, "passing", schedule, "left_out");
    char *dumped = json_dumps(finding, JSON_COMPACT);
    snprintf(path, sizeof path, "findings/%s/finding.json", name);
    cr_assert(artefacts_put(&artefacts, path, dumped, strlen(dumped)));
    artefacts_note(&artefacts,
                   json_pack("{s:s, s:s, s:s}", "type", "finding", "name", name, "kind", "new"));
    free(dumped);
    free(filling);
    json_decref(schedule);
    json_decref(finding);
}

/* How many findings of report.json have this schedule; the others must say why not, and where. */
static size_t count_drawn(const json_t *findings, const char *kind)
{
    size_t i, j, count = 0;
    json_t *finding, *entry;
    json_array_foreach(findings, i, finding)
    {
        bool drawn = json_object_get(json_object_get(finding, "schedules"), kind) != NULL;
        bool said = false;
        json_array_foreach(json_object_get(finding, "left_out"), j, entry)
        {
            const char *file = json_string_value(json_object_get(entry, "file"));
            said =
                said || (strcmp(json_string_value(json_object_get(entry, "schedule")), kind) == 0 &&
                         strncmp(file, "findings/found-", 15) == 0 &&
                         json_integer_value(json_object_get(entry, "steps")) == 7);
        }
        cr_expect_eq(said, !drawn, "finding %zu, %s", i, kind);
        count += drawn;
    }
    return count;
}

/* (SC1), (SC2) */
Test(artefacts, the_page_is_small_and_full_schedules_go_first)
{
    static const struct {
        size_t size;
        size_t shrunk, passing;       /* of 20 that are drawn */
        size_t full_least, full_most; /* likewise */
    } cases[] = {
        {10 << 10, 20, 20, 20, 20}, /* there is room for all */
        {60 << 10, 20, 20, 1, 10},  /* full ones go */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char again[320];
        snprintf(again, sizeof again, "%s/%zu", folder, i);
        open_begun(again);
        for (int f = 0; f < 20; f++) {
            char name[40];
            snprintf(name, sizeof name, "found-%d", f);
            put_finding(name, cases[i].size);
        }
        cr_assert(artefacts_close(&artefacts));
        char path[340];
        size_t length = 0;
        snprintf(path, sizeof path, "%s/report.html", again);
        free(artefacts_read(path, &length));
        cr_expect_lt(length, 3000000U);
        snprintf(path, sizeof path, "%s/report.json", again);
        json_t *report = json_load_file(path, 0, NULL);
        const json_t *findings = json_object_get(report, "findings");
        cr_expect_eq(count_drawn(findings, "shrunk"), cases[i].shrunk);
        cr_expect_eq(count_drawn(findings, "passing"), cases[i].passing);
        size_t full = count_drawn(findings, "full");
        cr_expect(full >= cases[i].full_least && full <= cases[i].full_most, "%zu", full);
        json_decref(report);
    }
}
