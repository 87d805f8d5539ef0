#!/usr/bin/python3
"""usage: test_mutants.py

The maker of mutants on small files: what it finds there, that an edit keeps the lines where they are, and
that a name outlives a change elsewhere. 77: python3-clang is not there."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mutants"))
try:
    import engines
    import others
    import mutate
except ImportError as missing:
    print("SKIPPED: mutants: %s" % missing)
    sys.exit(77)

ENGINE = """#include <stdbool.h>
enum kind { FIRST, SECOND };
static void act(int one, int two);
static bool is_below(int a, int b)
{
    return a < b;
}
void step(int a, int *state)
{
    if (is_below(a, 3)) {
        act(a, SECOND);
    }
    *state = a + 1;
}
"""

ORACLE = """#include <stdbool.h>
#include <stdint.h>
#define ROW_NONE UINT32_MAX
enum clause_id { CLAUSE_A, CLAUSE_B };
struct oracle_verdict {
    bool broken;
    enum clause_id clause;
    const char *why;
};
void judge_held(enum clause_id clause);
void tell(bool broken, enum clause_id clause, const char *why);
void that(bool holds, enum clause_id clause, const char *why);
struct oracle_verdict first(const struct oracle_verdict *list);
static bool is_fine(int a, int b)
{
    return a > 0 && b > 0;
}
void judge(int a, int b)
{
    bool same = a == b;
    if (a == 7) {
        return;
    }
    judge_held(CLAUSE_A);
    tell(a < 0 || b != a, CLAUSE_A, "the first is wrong");
    that(same && is_fine(a, b), CLAUSE_B,
         "the second is wrong");
    const struct oracle_verdict promises[] = {
        {a > b + 1, CLAUSE_A, "the third is wrong"},
    };
    first(promises);
}
"""


def made(path, text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
        return mutate.mutants_of(pathlib.Path(folder), path)


def changes(mutants, *operators):
    return {(m.before.split("\n")[0], m.after.strip()) for m in mutants if m.operator in operators}


class Mutants(unittest.TestCase):
    def test_every_file_of_the_model_is_listed_or_left_out(self):
        self.assertEqual(engines.unlisted(pathlib.Path(__file__).resolve().parents[2]), [],
                         "FILES or LEFT_OUT of faults/mutants/engines.py")

    def test_every_file_of_the_stores_is_spoilt_or_left_out(self):
        for target in (others.Store, others.Sql):
            self.assertEqual(target.unlisted(pathlib.Path(__file__).resolve().parents[2]), ([], []),
                             "files or left_out of faults/mutants/others.py")

    def test_an_engine_is_changed_as_a_tired_engineer_errs(self):
        mutants = made("model/step.c", ENGINE)
        self.assertEqual(changes(mutants, "relation"), {("<", "<=")})
        self.assertEqual(changes(mutants, "constant"), {("3", "2"), ("3", "4"), ("1", "0"), ("1", "2")})
        self.assertEqual(changes(mutants, "name"), {("SECOND", "FIRST")})
        self.assertEqual(changes(mutants, "arithmetic"), {("+", "-")})
        self.assertIn(("*state = a + 1", "(void)0"), changes(mutants, "stale"))
        self.assertEqual(changes(mutants, "check", "weaken"), set())  # it judges nobody

    def test_every_check_of_an_oracle_is_dropped(self):
        mutants = made("model/oracle/judge.c", ORACLE)
        self.assertEqual(changes(mutants, "check"), {
            ('tell(a < 0 || b != a, CLAUSE_A, "the first is wrong")', "(void)0"),
            ("that(same && is_fine(a, b), CLAUSE_B,", "(void)0"),
            ("a > b + 1", "false")})

    def test_a_check_is_only_weakened_never_made_stricter(self):
        self.assertEqual(changes(made("model/oracle/judge.c", ORACLE), "weaken"), {
            ("a < 0", "false"), ("b != a", "false"), ("!=", "<"), ("!=", ">"),  # what is broken: less
            ("same", "true"), ("is_fine(a, b)", "true"), ("==", "<="), ("==", ">="),  # what holds: more,
            ("a > 0", "true"), ("b > 0", "true"),  # also by what a function returns
            ("b + 1", "(b + 1) + 1"),
        } | {("==", "<="), ("==", ">=")})  # and what is exempt

    def test_no_row_is_less_than_none(self):
        text = ORACLE.replace("int a, int b)\n{\n    bool", "uint32_t a, uint32_t b)\n{\n    bool").replace(
            "a == 7", "a == ROW_NONE")
        line = text[:text.index("a == ROW_NONE")].count("\n") + 1
        self.assertEqual([m.after for m in made("model/oracle/judge.c", text)
                          if m.operator == "weaken" and m.line == line], [])

    def test_an_edit_keeps_every_other_line_where_it_is(self):
        for path, text in (("model/step.c", ENGINE), ("model/oracle/judge.c", ORACLE)):
            for mutant in made(path, text):
                after = mutate.apply(text, mutant)
                self.assertNotEqual(after, text)
                self.assertEqual(after.count("\n"), text.count("\n"), mutant)
                changed = [i for i, (a, b) in enumerate(zip(text.split("\n"), after.split("\n"))) if a != b]
                self.assertEqual(changed[0] + 1, mutant.line)
                back = mutant._replace(after=mutant.before, end=mutant.start + len(mutant.after))
                self.assertEqual(mutate.apply(after, back), text)

    def test_a_name_is_one_mutants_and_outlives_a_change_elsewhere(self):
        before, after = made("model/step.c", ENGINE), made("model/step.c", "\n\n" + ENGINE)
        self.assertEqual(len({m.id for m in before}), len(before))
        self.assertEqual([m.id for m in before], [m.id for m in after])
        other = made("model/step.c", ENGINE.replace("a + 1", "a + 2"))
        self.assertNotEqual([m.id for m in before], [m.id for m in other])

    def test_a_list_of_primitives_is_changed_by_its_tokens(self):
        text = 'PRIMITIVE(NAME, "name", 2, ADD(P(0), ZERO), {OP_SET, TEST_EQUAL, MISS_REFUSES, P(1)})\n'
        mutants = made("model/a_primitives.def", text)
        self.assertIn(("P(0)", "P(1)"), changes(mutants, "constant"))
        self.assertIn(("TEST_EQUAL", "TEST_NONE"), changes(mutants, "condition"))
        self.assertIn(("MISS_REFUSES", "MISS_GOES_ON"), changes(mutants, "return"))


if __name__ == "__main__":
    unittest.main()
