/* What a test shows, written where it shows it:
 *
 *     Test(ledger, leg1_entry_at_999_is_refused)
 *     {
 *         PROVES(CLAUSE_ACL_6);
 *         SETTLES(ERRATUM_ACL_18);
 *
 * The ids are checked by the compiler. To say so proves nothing: it is where a reader looks, and
 * whom ./test --proofs asks. A clause of kind fmt, limit, golden or impl, and an erratum without a
 * planted bug, has a mutant of what implements it in faults/mutants/proofs.txt, and a test that
 * names it and fails with that mutant; only then it passes on the page that is signed.
 * test_clauses.c checks that such clauses are named by a test, unless that list says why not. */
#ifndef MODEL_TESTS_PROVES_H
#define MODEL_TESTS_PROVES_H

#include "model/clause.h"

enum erratum_id {
#define ERRATUM(family, number, text, problem, decided) ERRATUM_##family##_##number,
#include "model/errata.def"
#undef ERRATUM
};

#define PROVES(...)  ((void)(const enum clause_id[]){__VA_ARGS__})
#define SETTLES(...) ((void)(const enum erratum_id[]){__VA_ARGS__})

#endif
