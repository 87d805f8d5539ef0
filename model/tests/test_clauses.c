/* The tables of clauses and errata, and that tests name what they must (proves.h). */
#include "model/check.h"
#include "model/clause.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(clauses, every_clause_is_complete_and_found_by_its_id)
{
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        const struct clause *clause = clause_get((enum clause_id)i);
        enum clause_id found = CLAUSE_COUNT;
        cr_expect(clause_find(clause->id, strlen(clause->id), &found));
        cr_expect_eq((int)found, i, "%s is found", clause->id);
        cr_expect_gt(strlen(clause->section), 0U);
        cr_expect_gt(strlen(clause->promise), 20U, "%s says what is promised", clause->id);
        cr_expect_null(strchr(clause->promise, '|'), "%s: a bar ends a table cell", clause->id);
        const char *family = clause_family_name(clause->family);
        cr_expect_eq(strncmp(clause->id, family, strlen(family)), 0);
    }
}

Test(clauses, an_id_that_does_not_exist_is_not_found)
{
    static const char *const wrong[] = {"",       "ACL",   "ACL-",   "ACL-0",
                                        "ACL-99", "acl-1", "ACL-1 ", "XYZ-1"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        enum clause_id found = CLAUSE_COUNT;
        cr_expect_not(clause_find(wrong[i], strlen(wrong[i]), &found), "'%s'", wrong[i]);
        cr_expect_eq(found, CLAUSE_COUNT);
    }
}

Test(clauses, the_families_have_as_many_clauses_as_the_specifications_have_promises)
{
    int count[CLAUSE_FAMILY_COUNT] = {0};
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        count[clause_get((enum clause_id)i)->family]++;
    }
    cr_expect_eq(count[CLAUSE_FAMILY_ACL], 48);
    cr_expect_eq(count[CLAUSE_FAMILY_SEQ], 22);
    cr_expect_eq(count[CLAUSE_FAMILY_KEY], 12);
    cr_expect_eq(count[CLAUSE_FAMILY_LEG], 12);
    cr_expect_eq(count[CLAUSE_FAMILY_CUT], 32);
    cr_expect_eq(count[CLAUSE_FAMILY_BOX], 3, "the example");
    cr_expect_eq(clause_errata_count(), 75U);
}

Test(clauses, kinds_and_families_have_names)
{
    for (int kind = 0; kind < CLAUSE_KIND_COUNT; kind++) {
        cr_expect_gt(strlen(clause_kind_name((enum clause_kind)kind)), 2U);
        cr_expect_gt(strlen(clause_kind_about((enum clause_kind)kind)), 10U);
    }
    for (int family = 0; family < CLAUSE_FAMILY_COUNT; family++) {
        const char *of = clause_family_seed((enum clause_family)family);
        char seed[8];
        snprintf(seed, sizeof seed, family >= CLAUSE_FAMILY_BOX ? "none" : "%03d", family);
        cr_expect_str_eq(of, seed, "%s: of \"%s\"; families without a specification come last",
                         clause_family_name((enum clause_family)family), of);
        cr_expect_gt(strlen(clause_family_about((enum clause_family)family)), 10U);
    }
}

/* Every number up to the last is an erratum or withdrawn, and none is both. */
Test(clauses, no_number_of_an_erratum_is_left_out)
{
    bool taken[CLAUSE_FAMILY_COUNT][64] = {0};
    int last[CLAUSE_FAMILY_COUNT] = {0}, numbers = 0;
    size_t errata = clause_errata_count(), all = errata + clause_withdrawn_count();
    for (size_t i = 0; i < all; i++) {
        bool counts = i < errata;
        const char *id = counts ? clause_erratum(i)->id : clause_withdrawn(i - errata)->id;
        enum clause_family family =
            counts ? clause_erratum(i)->family : clause_withdrawn(i - errata)->family;
        int number = (int)strtol(strrchr(id, '-') + 1, NULL, 10);
        cr_assert(number > 0 && number < 64, "%s", id);
        cr_expect_not(taken[family][number], "%s stands twice", id);
        taken[family][number] = true;
        numbers += number > last[family] ? number - last[family] : 0;
        last[family] = number > last[family] ? number : last[family];
    }
    cr_expect_eq(numbers, (int)all, "%d numbers, %zu lines", numbers, all);
}

Test(clauses, errata_say_what_is_wrong_and_what_was_decided)
{
    for (size_t i = 0; i < clause_errata_count(); i++) {
        const struct erratum *erratum = clause_erratum(i);
        cr_expect_eq(strncmp(erratum->id, "E-", 2), 0);
        cr_expect_gt(strlen(erratum->text), 3U, "%s", erratum->id);
        cr_expect_gt(strlen(erratum->problem), 10U, "%s", erratum->id);
        cr_expect_gt(strlen(erratum->decided), 10U, "%s", erratum->id);
        cr_expect_null(strchr(erratum->text, '|'), "%s", erratum->id);
        cr_expect_null(strchr(erratum->problem, '|'), "%s", erratum->id);
        cr_expect_null(strchr(erratum->decided, '|'), "%s", erratum->id);
    }
}

/* ---- what tests name ----------------------------------------------------------------------- */

/* All test sources of the project, one after the other. */
static char *read_test_sources(void)
{
    glob_t found;
    char *text = NULL;
    size_t size = 0;
    cr_assert_eq(glob(ASSAY_SOURCE_DIR "/*/tests/test_*.c", 0, NULL, &found), 0);
    FILE *all = open_memstream(&text, &size);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *file = fopen(found.gl_pathv[i], "r");
        cr_assert_not_null(file);
        for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
            fputc(c, all);
        }
        fclose(file);
    }
    fclose(all);
    globfree(&found);
    return text;
}

/* Does `text` have a call of `macro` with `name` among its arguments? */
static bool names(const char *text, const char *macro, const char *name)
{
    size_t length = strlen(name);
    for (const char *call = strstr(text, macro); call != NULL; call = strstr(call + 1, macro)) {
        const char *end = strchr(call, ')');
        for (const char *at = strstr(call, name); at != NULL && at < end;
             at = strstr(at + 1, name)) {
            if (strchr(",) \n", at[length]) != NULL && strchr("( \n", at[-1]) != NULL) {
                return true;
            }
        }
    }
    return false;
}

/* "E-ACL-4" is ERRATUM_ACL_4, "ACL-19" is CLAUSE_ACL_19. */
static void constant_of(const char *prefix, const char *id, char out[64])
{
    snprintf(out, 64, "%s%s", prefix, id);
    for (char *c = out; *c != '\0'; c++) {
        *c = *c == '-' ? '_' : *c;
    }
}

/* Whether the list of proofs says why nothing shows it. */
static bool is_lacking(const char *id)
{
    char start[64], line[256];
    bool found = false;
    snprintf(start, sizeof start, "%s is not shown: ", id);
    FILE *list = fopen(ASSAY_SOURCE_DIR "/faults/mutants/proofs.txt", "r");
    cr_assert_not_null(list);
    while (fgets(line, sizeof line, list) != NULL) {
        found = found || strncmp(line, start, strlen(start)) == 0;
    }
    fclose(list);
    return found;
}

Test(clauses, the_search_for_names_finds_what_is_there_and_nothing_else)
{
    static const char text[] = "PROVES(CLAUSE_XYZ_1, CLAUSE_XYZ_22);\nSETTLES(ERRATUM_XYZ_3);";
    cr_expect(names(text, "PROVES(", "CLAUSE_XYZ_1"));
    cr_expect(names(text, "PROVES(", "CLAUSE_XYZ_22"));
    cr_expect_not(names(text, "PROVES(", "CLAUSE_XYZ_2"), "a prefix is another clause");
    cr_expect_not(names(text, "PROVES(", "ERRATUM_XYZ_3"), "it is in another call");
    cr_expect_not(names("", "PROVES(", "CLAUSE_XYZ_1"));
}

/* Which of those tests can fail for it is the business of ./test --proofs. */
Test(clauses, every_fmt_limit_golden_and_impl_clause_is_named_by_a_test_or_lacks_one_for_a_reason)
{
    char *sources = read_test_sources();
    int required = 0;
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        const struct clause *clause = clause_get((enum clause_id)i);
        bool must = clause->kind == CLAUSE_KIND_FMT || clause->kind == CLAUSE_KIND_LIMIT ||
                    clause->kind == CLAUSE_KIND_GOLDEN || clause->kind == CLAUSE_KIND_IMPL;
        if (!must) {
            continue;
        }
        char constant[64];
        constant_of("CLAUSE_", clause->id, constant);
        cr_expect_neq(names(sources, "PROVES(", constant), is_lacking(clause->id), "%s",
                      clause->id);
        required++;
    }
    cr_expect_eq(required, 33);
    free(sources);
}

/* Those of the pipeline are all in runs, and each has a test of its monitor or engine as well. */
Test(clauses, every_clause_of_the_pipeline_is_named_by_a_test)
{
    char *sources = read_test_sources();
    for (int i = CLAUSE_CUT_1; i <= CLAUSE_CUT_32; i++) {
        const struct clause *clause = clause_get((enum clause_id)i);
        char constant[64];
        if (is_lacking(clause->id)) {
            continue;
        }
        constant_of("CLAUSE_", clause->id, constant);
        cr_expect(names(sources, "PROVES(", constant), "no test proves %s", clause->id);
    }
    free(sources);
}

Test(clauses, every_erratum_that_the_model_decides_is_settled_by_a_test)
{
    static const char *const decided[] = {
        "ACL_1",  "ACL_2",  "ACL_3",  "ACL_4",  "ACL_8",  "ACL_9",  "ACL_14", "ACL_16",
        "ACL_17", "ACL_18", "ACL_19", "ACL_24", "SEQ_1",  "SEQ_2",  "SEQ_3",  "SEQ_4",
        "SEQ_5",  "SEQ_6",  "SEQ_8",  "SEQ_10", "SEQ_11", "SEQ_13", "SEQ_14", "SEQ_15",
        "KEY_1",  "KEY_2",  "KEY_3",  "KEY_5",  "KEY_7",  "KEY_9",  "LEG_1",  "LEG_2",
        "LEG_3",  "CUT_2",  "CUT_3",  "CUT_4",  "CUT_5",  "CUT_6",  "CUT_8",  "CUT_9",
        "CUT_11", "CUT_12", "CUT_13", "CUT_15", "CUT_16", "CUT_17", "CUT_19", "CUT_20"};
    char *sources = read_test_sources();
    for (size_t i = 0; i < COUNT(decided); i++) {
        char constant[64];
        constant_of("ERRATUM_", decided[i], constant);
        cr_expect(names(sources, "SETTLES(", constant), "no test settles E-%s", decided[i]);
    }
    free(sources);
}
