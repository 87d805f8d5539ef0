/* The acceptance page: every promise of the five specifications, what shows that it holds, and
 * PASS, FAIL or NOT SHOWN; every decision that deviates from a specification, with what the literal
 * reading does; and whether each kind of evidence is there.
 *
 * A promise passes if nothing broke it and its evidence can fail for this very promise:
 *      safe, live      it was put to the test in runs, and reports a planted bug while every other
 *                      promise is switched off
 *      path            every path by which it is known was seen; a known weakness was found
 *      fmt, limit, golden, impl
 *                      tests that name it passed, and one of them was seen to fail when what
 *                      implements it is broken (./test --proofs)
 * It fails if a run broke it, be that known or new, or a test that names it failed. Where
 * scenarios are there to break it, the row says in which it was broken. An erratum passes if a
 * planted bug that follows the other reading was found, or as a format does. Where the list of
 * mutants says why there can be no such test, the row says so. */
#ifndef REPORTS_SIGN_OFF_H
#define REPORTS_SIGN_OFF_H

#include "reports/evidence.h"
#include "reports/format.h"
#include "reports/proofs.h"
#include "reports/steps.h"

#include <stdio.h>

enum sign_off_verdict { SIGN_OFF_PASS, SIGN_OFF_FAIL, SIGN_OFF_NOT_SHOWN, SIGN_OFF_VERDICTS };

#define SIGN_OFF_ERRATA_MAX 128
#define SIGN_OFF_WHY_SIZE   400

struct sign_off_row {
    enum sign_off_verdict verdict;
    char why[SIGN_OFF_WHY_SIZE]; /* what shows it, or what is missing */
    size_t tests;                /* that name it and passed */
    size_t shown;                /* ... and were seen to fail when it is broken */
    const struct proof *test;    /* one of these, or else of those; NULL: there is none */
};

struct sign_off {
    const struct evidence *evidence;
    struct sign_off_row steps[STEPS_COUNT];
    struct sign_off_row clauses[CLAUSE_COUNT];
    struct sign_off_row errata[SIGN_OFF_ERRATA_MAX];
    size_t count[SIGN_OFF_VERDICTS]; /* of all rows */
    char sums[65];                   /* the hash of SHA256SUMS; "": there is none */
    const json_t *hashes;            /* of the sessions, a text each; NULL: they are not known */
    int status;                      /* 0, 1: something failed, 4: something is not shown */
};

/* What the page says before a hash. */
#define SIGN_OFF_BINARY "sha256 of the binary "
#define SIGN_OFF_SUMS   "sha256 of SHA256SUMS "

void sign_off_make(struct sign_off *page, const struct evidence *evidence);

/* Text for a terminal, Markdown for the page that is signed
 * (down to its hash), JSON lines for scripts. */
void sign_off_write(FILE *out, enum format_kind format, const struct sign_off *page);

#endif
