/* What the suites share in which oracles judge the model. */
#ifndef MODEL_TESTS_JUDGE_H
#define MODEL_TESTS_JUDGE_H

#include "model/oracle/verdict.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"

#include <criterion/criterion.h>

#define STEPS 300000

/* A walk ends at the first breach. Every plant has a name, and a clause that must catch it. */
struct plant {
    const char *name;
    int bug;
    enum clause_id clause;
};

static inline void expect_caught(struct oracle_verdict verdict, const struct plant *plant)
{
    cr_expect(verdict.broken, "%s was not caught", plant->name);
    cr_expect_eq(verdict.clause, plant->clause, "%s was caught by clause %d (%s)", plant->name,
                 (int)verdict.clause, verdict.why);
}

/* Judged by both sides: done, so it must be fine; or refused, so it must be broken. */
static inline void expect_agreement(bool done, struct oracle_verdict verdict, int64_t value)
{
    cr_assert_eq(done, !verdict.broken, "%lld: %s; %s", (long long)value,
                 done ? "the model does it" : "the model refuses it",
                 verdict.broken ? verdict.why : "the oracle finds nothing wrong");
}

#endif
