/* Which test says that it proves which promise, or settles which erratum: read from the sources of
 * the tests when the program is built (proofs.awk), so that no list has to be kept. */
#ifndef REPORTS_PROOFS_H
#define REPORTS_PROOFS_H

#include <stdbool.h>
#include <stddef.h>

struct proof {
    const char *suite;   /* the test program: "test_ledger" */
    const char *test;    /* "leg1_entry_at_999_is_refused" */
    const char *clauses; /* "ACL-6 ACL-8 " */
    const char *errata;  /* "E-ACL-18 " */
};

size_t proofs_count(void);
const struct proof *proofs_get(size_t index);

/* Whether a list such as "ACL-6 ACL-8 " or a sentence has this word. */
bool proofs_names(const char *text, const char *word);

#endif
