/* What oracles say of the cases of a suite, word for word, against a text that is compared whole. A
 * clause may have several sentences, and of those that say the same of a case only the first is
 * told: by its words it is known that each check is there.
 *
 * UPDATE_GOLDEN=1 in the environment rewrites golden/; look at what changed before you keep it. */
#ifndef MODEL_TESTS_GOLDEN_H
#define MODEL_TESTS_GOLDEN_H

#include "model/oracle/verdict.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define GOLDEN_SIZE   65536
#define GOLDEN_FOLDER ASSAY_SOURCE_DIR "/model/tests/golden/"

struct golden {
    char text[GOLDEN_SIZE];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static inline void golden_add(struct golden *golden,
                                                                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int added =
        vsnprintf(golden->text + golden->used, GOLDEN_SIZE - golden->used, format, arguments);
    va_end(arguments);
    cr_assert(added >= 0 && golden->used + (size_t)added < GOLDEN_SIZE);
    golden->used += (size_t)added;
}

/* "  ACL-17 Step 2 ...", or "  fine". */
static inline void golden_verdict(struct golden *golden, struct oracle_verdict verdict)
{
    if (verdict.broken) {
        golden_add(golden, "  %s %s\n", clause_get(verdict.clause)->id, verdict.why);
    } else {
        golden_add(golden, "  fine\n");
    }
}

static inline void golden_compare(const struct golden *golden, const char *name)
{
    static char kept[GOLDEN_SIZE];
    char path[400];
    snprintf(path, sizeof path, "%s%s", GOLDEN_FOLDER, name);
    if (getenv("UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "w");
        cr_assert_not_null(file, "%s cannot be written", path);
        fputs(golden->text, file);
        fclose(file);
    }
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s is not there", path);
    kept[fread(kept, 1, sizeof kept - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(golden->text, kept, "%s has changed; it now reads\n%s", name, golden->text);
}

#endif
