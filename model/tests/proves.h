/* What a test shows, written where it shows it:
 *
 *     Test(ledger, leg1_entry_at_999_is_refused)
 *     {
 *         PROVES(CLAUSE_ACL_6);
 *         SETTLES(ERRATUM_ACL_18);
 *
 * The ids are checked by the compiler; test_clauses.c checks that every clause of kind fmt, limit
 * and golden of ACL, SEQ, KEY and LEG is named by a test, and every erratum of the model too. */
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
