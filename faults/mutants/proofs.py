"""usage: ./test --proofs [--sample N] [--only ID,ID...] [--jobs J] [--list] [--check] [--tags] [--out DIR]

A test that says PROVES(CLAUSE_ACL_6) or SETTLES(ERRATUM_ACL_18) is evidence only if it can fail for that
clause. faults/mutants/proofs.txt holds a mutant of the source for each: a few lines that break what the
clause asks for, and the tests that must notice. Each mutant is compiled and linked beside build/release,
and each of its tests must pass there and fail with the mutant, by an assertion of its own.

  --sample N  N of them, others with every commit
  --only ID   those of these clauses, errata or mutants
  --jobs J    mutants at a time (default: one a core)
  --list      says which they are, and runs nothing
  --check     only that the list is complete and in step with the sources
  --tags      also runs every other test that names the clause; lists those that no mutant makes fail
  --out DIR   keeps what was shown as evidence: DIR/results.jsonl, which assay sign-off takes (--with)

The list is complete if every clause of kind fmt, limit, golden and impl is in it, and every erratum whose
decision names no sabotage. What the sources do not honour, and what no test shows yet, is there with the
reason; it stays NOT SHOWN on the page that is signed.

Exit status: 0 every proof holds; 4 a test does not fail that must; 64 the list is wrong.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True  # nothing is written beside the sources
from programs import HERE, ROOT, WORK, Release, run

LIST = HERE / "proofs.txt"
KINDS = ("FMT", "LIMIT", "GOLDEN", "IMPL")  # whose evidence is a test
ID = r"(?:E-)?[A-Z]+-[0-9]+"
TEST_SECONDS = 60  # of one test: what a mutant sends round for ever shows nothing

Proof = collections.namedtuple("Proof", "ids words tests file before after line mutant")
Tagged = collections.namedtuple("Tagged", "suite test ids")


class Wrong(Exception):
    """The list does not fit the sources."""


# ---- the list --------------------------------------------------------------------------------------

def stanzas(text):
    """Paragraphs, each with the number of its first line."""
    lines, first = [], 0
    for number, line in enumerate(text.split("\n") + [""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            first = first if lines else number
            lines.append(line)
        elif lines:
            yield first, lines
            lines = []


def read_proof(number, lines, root):
    ids, words = re.fullmatch(r"(%s(?:, %s)*): (.+)" % (ID, ID), lines[0]).groups()
    tests = [tuple(line.split()) for line in lines if re.match(r"    test_\w+ \w+$", line)]
    path, hunk = lines[1 + len(tests)], lines[2 + len(tests):]
    if not tests or not hunk or not (root / path).is_file():
        raise Wrong("line %d: a proof is ids and words, tests, a file, and its lines" % number)
    if "/tests/" in path or (path.startswith("model/oracle/") and not all(i.startswith("E-") for i in ids.split(", "))):
        raise Wrong("line %d: %s does not implement what %s asks for" % (number, path, ids))
    before = "".join(line[1:] + "\n" for line in hunk if line[0] in " -")
    after = "".join(line[1:] + "\n" for line in hunk if line[0] in " +")
    source = "\n" + (root / path).read_text()
    if any(line[0] not in " -+" for line in hunk) or before == after or source.count("\n" + before) != 1:
        raise Wrong("line %d: the lines of %s are %d times in %s, and must be there once" %
                    (number, ids, source.count("\n" + before), path))
    line = source[:source.index("\n" + before) + 1].count("\n")
    line += next(i for i, l in enumerate([h for h in hunk if h[0] != "+"] + ["-"]) if l[0] == "-")
    mutant = hashlib.sha256("\0".join((path, before, after)).encode()).hexdigest()[:8]
    return Proof(ids.split(", "), words, tests, path, before, after, line, mutant)


def read_list(text, root):
    """Proofs, and of what has none the reason, by its id."""
    proofs, lacks = [], {}
    for number, lines in stanzas(text):
        lacking = re.fullmatch(r"(%s) is not shown: (.+)" % ID, " ".join(l.strip() for l in lines))
        if lacking:
            lacks[lacking.group(1)] = lacking.group(2)
        elif re.fullmatch(r"%s(, %s)*: .+" % (ID, ID), lines[0]) and len(lines) > 3:
            proofs.append(read_proof(number, lines, root))
        else:
            raise Wrong("line %d: neither a proof nor a reason why there is none: %s" % (number, lines[0]))
    return proofs, lacks


# ---- what it must hold -----------------------------------------------------------------------------

def tags(root):
    """Which test says that it proves what, as the program reads it (reports/proofs.awk)."""
    sources = sorted(root.glob("*/tests/test_*.c"))
    said = subprocess.run(["awk", "-f", root / "reports" / "proofs.awk", *sources], text=True,
                          capture_output=True, check=True).stdout
    quoted = [re.findall(r'"([^"]*)"', line) for line in said.splitlines()]
    return [Tagged(suite, test, (clauses + errata).split()) for suite, test, clauses, errata in quoted]


def owed(root):
    """The ids whose evidence is a test."""
    clauses = re.findall(r"^CLAUSE\((\w+), (\d+), (\w+),", (root / "model/clauses.def").read_text(), re.M)
    found = ["%s-%s" % (family, n) for family, n, kind in clauses if kind in KINDS and family != "BOX"]
    errata = re.split(r"^ERRATUM\(", (root / "model/errata.def").read_text(), flags=re.M)[1:]
    for text in errata:
        family, number = re.match(r"(\w+), (\d+)", text).groups()
        words = re.sub(r'"\s*"', "", text)
        if not re.search(r"[Ss]abotages? (`[a-z]|[a-z0-9-]+/)", words):
            found.append("E-%s-%s" % (family, number))
    return found


def differences(proofs, lacks, tagged, ids):
    """What is wrong with the list, one sentence each."""
    named = {(t.suite, t.test): t.ids for t in tagged}
    for proof in proofs:
        for test in proof.tests:
            missing = [i for i in proof.ids if i not in named.get(test, [])]
            if missing:
                yield "mutant %s: %s %s does not name %s (PROVES, SETTLES)" % (
                    proof.mutant, *test, " ".join(missing))
    proved = {i for proof in proofs for i in proof.ids}
    for i in ids:
        if i not in proved and i not in lacks:
            yield "%s has neither a proof nor a reason why it has none" % i
    for i in sorted(set(lacks) & proved):
        yield "%s has a proof and a reason why it has none" % i
    for i in sorted(set(lacks) & {i for t in tagged for i in t.ids}):
        yield "%s is not shown, and a test names it (PROVES, SETTLES)" % i
    for i in sorted((set(lacks) | proved) - set(ids) - {i for t in tagged for i in t.ids}):
        yield "there is no %s that a test could show" % i
    for mutant, count in collections.Counter(p.mutant for p in proofs).items():
        if count > 1:
            yield "mutant %s is there %d times" % (mutant, count)


# ---- one proof -------------------------------------------------------------------------------------

def verdict(program, test):
    """Of one test: "passes", "fails" by an assertion, "crashes", or why it says nothing."""
    output, status = run([program, "-j1", "--filter", "*/" + test], seconds=TEST_SECONDS)
    counts = re.search(r"Tested: (\d+) \| Passing: (\d+) \| Failing: (\d+) \| Crashing: (\d+)",
                       re.sub(r"\x1b\[[0-9;]*m", "", output))
    if status is None or counts is None:
        return "does not end" if status is None else "says nothing"
    tested, passing, failing, crashing = map(int, counts.groups())
    if tested != 1:
        return "is not one test but %d" % tested
    return "passes" if passing else "crashes" if crashing else "fails"


class Bench:
    def __init__(self):
        self.sound, self.lock = Release(), threading.Lock()
        self.programs = {p.name: p for p in self.sound.folder.glob("*/test_*") if os.access(p, os.X_OK) and p.is_file()}
        self.known = {}

    def sound_verdict(self, suite, test):
        with self.lock:
            known = self.known.get((suite, test))
        if known is None:
            known = verdict(self.programs[suite], test) if suite in self.programs else "is not built"
            with self.lock:
                self.known[suite, test] = known
        return known

    def spoil(self, proof, overlay):
        """Its objects; None: it does not compile."""
        path = overlay / proof.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(("\n" + (ROOT / proof.file).read_text())
                        .replace("\n" + proof.before, "\n" + proof.after, 1)[1:])
        sources = self.sound.dependents(proof.file)
        if path.suffix == ".h":  # which its tests see, too
            sources += [str(s.relative_to(ROOT)) for suite in dict(proof.tests) for s in ROOT.glob("*/tests/%s.c" % suite)]
        objects = [self.sound.compile(source, overlay) for source in sources]
        return None if None in objects or not objects else objects

    def verdicts(self, proof, tests):
        """What each of these tests says of the mutant; of a sound program that does not pass, that."""
        overlay = WORK / "proofs" / proof.mutant
        shutil.rmtree(overlay, ignore_errors=True)
        objects, said, linked = self.spoil(proof, overlay), {}, {}
        for suite, test in tests:
            program = overlay / suite
            if objects is None:
                said[suite, test] = "the mutant does not compile"
                continue
            if self.sound_verdict(suite, test) != "passes":
                said[suite, test] = "without the mutant it " + self.sound_verdict(suite, test)
                continue
            if suite not in linked:
                linked[suite] = self.sound.link(suite, objects, program)
            said[suite, test] = verdict(program, test) if linked[suite] else "the mutant does not link"
        shutil.rmtree(overlay)
        return said


# ---- all of them -----------------------------------------------------------------------------------

def sample(proofs, count):
    """Others with every commit, the same ones with the same."""
    head = run(["git", "rev-parse", "HEAD"], ROOT)[0]
    return random.Random(head).sample(proofs, min(count, len(proofs)))


def evidence(folder, proofs, lacks, results, held, whole):
    """As assay sign-off reads it (reports/evidence.h)."""
    folder.mkdir(parents=True, exist_ok=True)
    assay = ROOT / "build" / "release" / "cli" / "assay"
    lines = [{"type": "begin", "verb": "proofs", "command": "./test --proofs",
              "binary_hash": hashlib.sha256(assay.read_bytes()).hexdigest()}]
    for proof in proofs:
        for (suite, test), said in results[proof.mutant].items():
            lines += [{"type": "proof", "id": i, "suite": suite, "test": test, "mutant": proof.mutant,
                       "file": proof.file, "line": proof.line, "broken": proof.words,
                       "fails": said == "fails"} for i in proof.ids if (suite, test) in proof.tests]
    lines += [{"type": "lacking", "id": i, "why": why} for i, why in lacks.items()]
    lines.append({"type": "summary", "every_proof": whole, "mutants": len(proofs), "noticed": held})
    lines.append({"type": "end", "status": 0 if held == len(proofs) else 4})
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def run_all(proofs, tests_of, jobs):
    bench, done, results = Bench(), 0, {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for proof, said in zip(proofs, pool.map(lambda p: bench.verdicts(p, tests_of(p)), proofs)):
            done, results[proof.mutant] = done + 1, said
            for (suite, test), what in said.items():
                if what != "fails" and (suite, test) in proof.tests:
                    print("NOT PROVED  %s  %s:%d (%s)\n            %s %s: %s" % (
                        " ".join(proof.ids), proof.file, proof.line, proof.words, suite, test, what), flush=True)
            if sys.stderr.isatty():
                print("\r%d of %d" % (done, len(proofs)), end="", file=sys.stderr, flush=True)
    return results


def tell_tags(proofs, tagged, results, ids):
    """The tests that name what no mutant made them fail for."""
    shown = collections.defaultdict(list)
    for proof in proofs:
        for test, said in results[proof.mutant].items():
            if said in ("fails", "crashes"):
                for i in proof.ids:
                    shown[test, i].append(proof.mutant)
    for tag in tagged:
        for i in [i for i in tag.ids if i in ids]:
            mutants = shown.get(((tag.suite, tag.test), i))
            print("%-9s %s %s: %s" % (i, tag.suite, tag.test, " ".join(mutants or ["NO MUTANT MAKES IT FAIL"])))


def arguments():
    parser = argparse.ArgumentParser(prog="./test --proofs", usage=argparse.SUPPRESS, add_help=False)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path)
    for flag in ("--list", "--check", "--tags", "--help"):
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def read_all():
    """Proofs, reasons, tags and what is owed; Wrong if they do not fit."""
    proofs, lacks = read_list(LIST.read_text(), ROOT)
    tagged, ids = tags(ROOT), owed(ROOT)
    wrong = list(differences(proofs, lacks, tagged, ids))
    if wrong:
        raise Wrong("\n".join(wrong))
    return proofs, lacks, tagged, ids


def main():
    options = arguments()
    if options.help:
        print(__doc__)
        return 0
    try:
        proofs, lacks, tagged, ids = read_all()
    except Wrong as wrong:
        print("./test --proofs: %s\n%s" % (LIST.relative_to(ROOT), wrong), file=sys.stderr)
        return 64
    only = set(options.only.split(",")) - {""}
    chosen = [p for p in proofs if not only or only & set(p.ids + [p.mutant])]
    if options.list:
        for p in chosen:
            print("%s  %-14s %s:%d  %s" % (p.mutant, " ".join(p.ids), p.file, p.line, p.words))
    if options.list or options.check:
        return 0
    chosen = sample(chosen, options.sample) if options.sample else chosen

    def tests_of(proof):
        asked = options.tags and not proof.file.endswith(".h")  # of other tests the objects are not made
        others = [(t.suite, t.test) for t in tagged if set(t.ids) & set(proof.ids) and asked]
        return list(dict.fromkeys(proof.tests + others))
    results = run_all(chosen, tests_of, options.jobs)
    if options.tags:
        tell_tags(chosen, tagged, results, {i for p in chosen for i in p.ids})
    held = sum(all(results[p.mutant][t] == "fails" for t in p.tests) for p in chosen)
    if options.out:
        evidence(options.out, chosen, lacks, results, held, len(chosen) == len(proofs))
    print("%d of %d mutants make their tests fail; of %d clauses and errata %d are not shown" % (
        held, len(chosen), len(ids), len(lacks)))
    return 0 if held == len(chosen) else 4


if __name__ == "__main__":
    sys.exit(main())
