/* The documents model/CLAUSES.md and model/ERRATA.md are what the tables say. */
#include "model/check.h"
#include "model/clause.h"
#include "reports/clauses.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *written(int (*write)(FILE *, enum format_kind, const char *), enum format_kind format,
                     const char *prefix, int *count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    *count = write(out, format, prefix);
    fclose(out);
    return text;
}

static char *file_text(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    FILE *copy = open_memstream(&text, &size);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        fputc(c, copy);
    }
    fclose(file);
    fclose(copy);
    return text;
}

static void expect_document(const char *path, const char *made)
{
    char *kept = file_text(path);
    cr_expect(strcmp(kept, made) == 0, "%s is out of date: make it anew with assay list --markdown",
              path);
    free(kept);
}

Test(clauses_report, the_documents_equal_the_tables)
{
    int count = 0;
    char *clauses = written(clauses_write, FORMAT_MARKDOWN, "", &count);
    cr_expect_eq(count, CLAUSE_COUNT);
    expect_document(ASSAY_SOURCE_DIR "/model/CLAUSES.md", clauses);
    char *errata = written(clauses_write_errata, FORMAT_MARKDOWN, "", &count);
    cr_expect_eq(count, (int)clause_errata_count());
    expect_document(ASSAY_SOURCE_DIR "/model/ERRATA.md", errata);
    free(clauses);
    free(errata);
}

Test(clauses_report, a_prefix_selects_a_family_or_one_id_and_never_a_longer_number)
{
    const struct {
        const char *prefix;
        int clauses, errata;
    } cases[] = {
        {"ACL", 48, 0},    {"ACL-1", 1, 0},  {"ACL-4", 1, 0},
        {"AC", 0, 0},      {"SEQ", 22, 0},   {"E-SEQ", 0, 14},
        {"E-ACL-1", 0, 1}, {"ACL-99", 0, 0}, {"", CLAUSE_COUNT, (int)clause_errata_count()}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        int count = 0;
        free(written(clauses_write, FORMAT_TEXT, cases[i].prefix, &count));
        cr_expect_eq(count, cases[i].clauses, "clauses '%s'", cases[i].prefix);
        free(written(clauses_write_errata, FORMAT_TEXT, cases[i].prefix, &count));
        cr_expect_eq(count, cases[i].errata, "errata '%s'", cases[i].prefix);
    }
}

static void expect_json_lines(char *text, int count, const char *type)
{
    int lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t *object = json_loads(line, 0, NULL);
        cr_assert_not_null(object, "%s", line);
        cr_expect_str_eq(json_string_value(json_object_get(object, "type")), type);
        cr_expect_not_null(json_object_get(object, "id"));
        json_decref(object);
        lines++;
    }
    cr_expect_eq(lines, count);
}

Test(clauses_report, json_is_one_object_a_line)
{
    int count = 0;
    char *clauses = written(clauses_write, FORMAT_JSON, "", &count);
    expect_json_lines(clauses, count, "clause");
    char *errata = written(clauses_write_errata, FORMAT_JSON, "", &count);
    expect_json_lines(errata, count, "erratum");
    free(clauses);
    free(errata);
}

Test(clauses_report, text_never_runs_past_its_width)
{
    int count = 0;
    char *text = written(clauses_write, FORMAT_TEXT, "", &count);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cr_expect_leq(strlen(line), 100U, "%s", line);
    }
    free(text);
}
