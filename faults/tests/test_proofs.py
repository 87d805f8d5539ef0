#!/usr/bin/python3
"""usage: test_proofs.py

That the list of proofs (faults/mutants/proofs.txt) is complete and in step with the sources, and that a
list which is not is refused. The mutants themselves are run by ./test --proofs."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "faults" / "mutants"))
import proofs

SOURCE = "int limit(int n)\n{\n    return n < 999;\n}\nint other(void)\n{\n    return 0;\n}\n"
PROOF = """# a comment
ACL-6: the ceiling is one too high
    test_ledger at_999
model/ledger.c
-    return n < 999;
+    return n < 1000;
"""
TAGGED = [proofs.Tagged("test_ledger", "at_999", ["ACL-6"])]


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path in ("model/ledger.c", "model/oracle/ledger.c", "model/tests/test_ledger.c"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(SOURCE)
        return proofs.read_list(text, root)


class Proofs(unittest.TestCase):
    def test_the_list_is_complete_and_every_mutant_applies(self):
        found, lacks, _, owed = proofs.read_all()
        self.assertGreater(len(found), 100)
        self.assertGreater(len(owed), 80)
        self.assertLess(len(lacks), 10)

    def test_a_proof_is_read_with_its_line(self):
        (proof,), lacks = read(PROOF)
        self.assertEqual((proof.ids, proof.tests, proof.file, proof.line),
                         (["ACL-6"], [("test_ledger", "at_999")], "model/ledger.c", 3))
        self.assertEqual((proof.before, proof.after), ("    return n < 999;\n", "    return n < 1000;\n"))
        self.assertEqual(lacks, {})
        self.assertEqual(list(proofs.differences([proof], {}, TAGGED, ["ACL-6"])), [])

    def test_lines_that_are_gone_or_there_twice_are_refused(self):
        for text in (PROOF.replace("-    return n < 999", "-    return n < 998"),
                     PROOF.replace("-    return n < 999;", "-{"),
                     PROOF.replace("+    return n < 1000;", "+    return n < 999;"),
                     PROOF.replace("model/ledger.c", "model/gone.c"),
                     PROOF.replace("    test_ledger at_999\n", ""),
                     "ACL-6 and nothing else\n"):
            with self.assertRaises(proofs.Wrong, msg=text):
                read(text)

    def test_what_judges_does_not_implement(self):
        for path in ("model/oracle/ledger.c", "model/tests/test_ledger.c"):
            with self.assertRaises(proofs.Wrong):
                read(PROOF.replace("model/ledger.c", path))
        read(PROOF.replace("ACL-6", "E-ACL-33").replace("model/ledger.c", "model/oracle/ledger.c"))

    def test_what_is_owed_has_a_proof_or_a_reason_and_not_both(self):
        (proof,), lacks = read(PROOF + "\nACL-27 is not shown: it is\n    several statements\n")
        self.assertEqual(lacks, {"ACL-27": "it is several statements"})

        def wrong(found, reasons, tagged, owed):
            return len(list(proofs.differences(found, reasons, tagged, owed)))
        self.assertEqual(wrong([proof], lacks, TAGGED, ["ACL-6", "ACL-27"]), 0)
        self.assertEqual(wrong([proof], {}, TAGGED, ["ACL-6", "ACL-27"]), 1)
        self.assertEqual(wrong([proof], {"ACL-6": "x"}, TAGGED, ["ACL-6"]), 2)
        self.assertEqual(wrong([proof], {}, [], ["ACL-6"]), 1)  # the test does not name it
        self.assertEqual(wrong([proof, proof], {}, TAGGED, ["ACL-6"]), 1)  # twice the same

    def test_what_is_owed_is_read_from_the_tables(self):
        ids = proofs.owed(ROOT)
        for there in ("ACL-6", "SEQ-17", "KEY-7", "CUT-22", "E-ACL-8", "E-LEG-4"):
            self.assertIn(there, ids)
        for not_there in ("ACL-5", "ACL-9", "BOX-1", "E-ACL-2", "E-ACL-31"):  # runs and planted bugs show them
            self.assertNotIn(not_there, ids)


if __name__ == "__main__":
    unittest.main()
