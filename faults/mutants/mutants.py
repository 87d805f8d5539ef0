#!/usr/bin/python3
"""usage: ./test --mutants [N] [--of WHAT] [--operators O,O...] [--files F,F...] [--seed S] [--jobs J]
                       [--list] [--only ID,ID...]

Makes mutants, N of them (default 400) sampled evenly over files and operators, builds each in a copy of
the tree and lets those judge it whose business it is, cheapest first. The first who notices ends it.

  N            how many; 0: all
  --of WHAT    engines (the default): model/, judged by the bench: campaigns, sweeps, small searches, on
               fresh seeds, with stock options
               judges: model/oracle/, judged by the suites that name the oracle, by assay sabotage, in
               which each planted bug must be found as before, and by the sound engine, which must
               not be accused
               store: the simulated store, judged by its suites, assay conform and conform --errors
               sql: the SQL and the store on PostgreSQL, by their suites, assay conform and assay real
  --operators  these only. check and weaken, of judges: every check dropped, and each of them weakened
  --files      of these only
  --seed S     draws the same mutants and the same seeds for them again; fresh by default, and printed
  --jobs J     mutants at a time (default: one a core)
  --list       says which they are, and runs nothing
  --only ID    these, and every bug of reverted/ that is named

What has been run is in build/mutants/results.jsonl: the same command with the seed goes on there.
Nothing counts as noticed that the sound program comes to as well.

of engines:
  killed      a promise was broken, or a search found a state from which nothing comes to rest, and not
              so with the sound engine on the same seeds. What follows is no kill by the bench:
  abort       a CHECK failed (70), the program died, or it refuses its own scenarios (64)
  hang        it did not end
  status 3    runs were not deterministic
  regression  only a stored schedule broke a promise
  gate        a path was never taken, or a promise never put to the test (4)
  suites      only a suite of its protocol fails
  survived    nothing noticed; each is printed
of judges, what is noticed:
  suites      a suite of the oracle fails
  sabotage    a planted bug is not found any more
  clause      ... or by another promise than before
  accuses     the sound engine is said to break a promise
and what is not: abort, hang, survived, and
  sentence    a planted bug is found by the same promise for another reason
of store and sql, what is noticed: suites; conform: a difference from PostgreSQL; errors: a deliberate error
that is not found any more; real: a broken promise. And what is not: abort, hang, survived, and
  refused     it could not be used at all (64, 69)
These do not count: no build; same code (the compiler makes the same program of it); equivalent (listed
in equivalent.tsv, or of a kind that engines.py lists, with the reason). The score is what was noticed of those that count.
"""

import argparse
import collections
import concurrent.futures
import fcntl
import functools
import json
import math
import os
import pathlib
import random
import shutil
import sys
import threading

sys.dont_write_bytecode = True  # nothing is written beside the sources
import mutate
import others
from engines import Engines
from programs import HERE, NOTHING, TREE, WORK, Build, NoBuild, Outcome, Spoilt, code, fail, run, snapshot

TARGETS = {"engines": Engines, "judges": others.Judges, "store": others.Store, "sql": others.Sql}
UNCOUNTED = ["no build", "same code", "equivalent"]


# ---- all of them -----------------------------------------------------------------------------------

class Bench:
    def __init__(self, options, target):
        self.options, self.target = options, target
        self.lock, self.compiling = threading.Lock(), threading.Lock()
        self.build = Build(WORK / "sound", "-DCMAKE_BUILD_TYPE=Release",
                           "-DASSAY_OPTIMIZE=-O2", "-DASSAY_WHOLE=OFF", "-DASSAY_TESTS=ON")
        self.program = code(self.build.assay)
        self.known = equivalents()
        self.kept = WORK / "results.jsonl"
        self.done = 0

    def results(self):
        """Those of this seed and program, by mutant."""
        lines = self.kept.read_text().splitlines() if self.kept.exists() else []
        said = [json.loads(line) for line in lines if line.endswith("}")]
        return {s["mutant"]: Outcome(*s["outcome"]) for s in said
                if s["seed"] == self.options.seed and s["program"] == self.program}

    def sound_code(self, source):
        with self.compiling:  # two mutants of one file would write the same object
            return self.compiled(source)

    @functools.cache
    def compiled(self, source):
        folder = WORK / "overlays" / ("sound-" + source.replace("/", "-"))
        folder.mkdir(parents=True, exist_ok=True)
        return code(self.build.compile(source, folder))

    def outcome(self, mutant, overlay):
        sources = [s for path in put(mutant, overlay)
                   for s in self.build.dependents(path)]
        objects = [self.build.compile(source, overlay) for source in sources]
        if None in objects:
            return NOTHING._replace(column="no build")
        if all(self.sound_code(source) == code(made) for source, made in zip(sources, objects)):
            return NOTHING._replace(column="same code")
        why = self.known.get(mutant.id) or self.target.equivalent(mutant)
        if why:
            return NOTHING._replace(column="equivalent", why=why)
        base = random.Random("%s %s" % (self.options.seed, mutant.id)).randrange(1, 2**40)
        try:
            return self.target.judge(self.build, Spoilt(self.build, mutant, overlay, objects), base)
        except NoBuild:
            return NOTHING._replace(column="no build")

    def run_one(self, mutant):
        overlay = WORK / "overlays" / mutant.id
        shutil.rmtree(overlay, ignore_errors=True)
        outcome = self.outcome(mutant, overlay)
        shutil.rmtree(overlay)
        said = {"mutant": mutant.id, "seed": self.options.seed, "program": self.program}
        with self.lock:
            with self.kept.open("a") as out:
                out.write(json.dumps(dict(said, outcome=outcome)) + "\n")
            self.done += 1
            print("%4d  %-10s %-8s %-13s %s:%d %s" % (
                self.done, outcome.column, outcome.clause or "", outcome.stage or "", mutant.file,
                mutant.line, mutant.operator), file=sys.stderr, flush=True)
        return outcome

    def run(self, mutants):
        results = self.results()
        todo = [m for m in mutants if m.id not in results]
        print("%d mutants of seed %d, %d of them run already" % (
            len(mutants), self.options.seed, len(mutants) - len(todo)), file=sys.stderr)
        if todo:
            names = ["test_" + name for name in self.target.suites()]
            output, status = run(["ninja", "-C", self.build.folder, *names], seconds=3600)
            if status != 0:
                fail("the suites do not build:\n" + output[-2000:])
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            results.update(zip([m.id for m in todo], pool.map(self.run_one, todo)))
        return {m.id: results[m.id] for m in mutants}


def put(mutant, overlay):
    """Writes the files that it changes; which they are."""
    files = patched(mutant.after) if mutant.operator == "reverted" else [mutant.file]
    for path in files:
        (overlay / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / path, overlay / path)
    if mutant.operator == "reverted":
        run(["git", "apply", mutant.after], overlay)
    else:
        path = overlay / mutant.file
        path.write_text(mutate.apply(path.read_text(), mutant))
    return files


def patched(patch):
    return [line[6:] for line in pathlib.Path(patch).read_text().splitlines()
            if line.startswith("+++ b/")]


def reverted():
    """Bugs of this project's past, put back."""
    for patch in sorted((HERE / "reverted").glob("*.patch")):
        output, status = run(["git", "apply", "--check", patch], TREE)
        if status != 0:
            fail("%s does not apply any more: %s" % (patch.name, output))
        yield mutate.Mutant(patch.stem, patched(patch)[0], "reverted", 0, None, "", str(patch), 0, 0)


def wanted(mutant, options):
    """--operators and --files, where they are given."""
    operators, files = set(options.operators.split(",")) - {""}, set(options.files.split(",")) - {""}
    return (not operators or mutant.operator in operators) and (not files or mutant.file in files)


def equivalent_files():
    lines = (HERE / "equivalent.tsv").read_text().splitlines()
    return {line.split("\t")[0]: line.split("\t")[1].partition(":")[0]
            for line in lines if line and not line.startswith("#")}


def equivalents():
    lines = (HERE / "equivalent.tsv").read_text().splitlines()
    return dict(line.split("\t")[::3] for line in lines if line and not line.startswith("#"))


def sample(mutants, count, seed):
    """Files in turn, and of each the operators in turn, until there are enough."""
    draw = random.Random(seed)
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for mutant in mutants:
        groups[mutant.file][mutant.operator].append(mutant)
    queues = []
    for operators in groups.values():
        for group in operators.values():
            draw.shuffle(group)
        turns = list(operators.values())
        draw.shuffle(turns)
        most = max(map(len, turns))
        queues.append([g[i] for i in range(most) for g in turns if i < len(g)])
    draw.shuffle(queues)
    most = max(map(len, queues))
    drawn = [q[i] for i in range(most) for q in queues if i < len(q)]
    return drawn[:count] if count else drawn


# ---- what is told ----------------------------------------------------------------------------------

def wilson(hits, count):
    """The interval that holds the share with a confidence of 95%."""
    if count == 0:
        return 0.0, 1.0
    z, p = 1.96, hits / count
    middle, width = p + z * z / (2 * count), z * math.sqrt(p * (1 - p) / count + z * z / (4 * count**2))
    return tuple((middle + sign * width) / (1 + z * z / count) for sign in (-1, 1))


def change(mutant):
    """The lines that it changes, before and after."""
    if mutant.operator == "reverted":
        return "    " + mutant.after
    before = (TREE / mutant.file).read_text()
    after = mutate.apply(before, mutant)
    pairs = [(a, b) for a, b in zip(before.split("\n"), after.split("\n")) if a != b]
    return "\n".join("    - %s\n    + %s" % (a.strip(), b.strip()) for a, b in pairs[:4])


def table(target, title, groups):
    columns = target.columns + UNCOUNTED
    print("\n%-32s %7s" % (title, "mutants") + "".join("%11s" % c for c in columns) + "  score")
    for name, outcomes in groups.items():
        counts = collections.Counter(o.column for o in outcomes)
        counted = sum(counts[c] for c in target.columns)
        noticed = sum(counts[c] for c in target.counts)
        score = "%5.1f%%" % (100 * noticed / counted) if counted else "     -"
        print("%-32s %7d" % (name, len(outcomes)) +
              "".join("%11s" % (counts[c] or "") for c in columns) + "  " + score)


def tell(target, mutants, results):
    by_file, by_operator, clauses, stages_of = [collections.defaultdict(list) for _ in range(4)]
    for mutant in mutants:
        outcome = results[mutant.id]
        by_file[mutant.file].append(outcome)
        by_operator[mutant.operator].append(outcome)
        if outcome.column in target.counts:
            clauses[outcome.clause or outcome.column].append(outcome)
            stages_of[outcome.stage].append(outcome)
    for column in [c for c in target.columns if c not in target.counts]:
        for mutant in mutants:
            outcome = results[mutant.id]
            if outcome.column == column:
                why = " ".join(str(w) for w in (outcome.stage, outcome.why) if w)
                print("%s %s  %s:%d  %s%s\n%s" % (column, mutant.id, mutant.file, mutant.line,
                                                mutant.operator, why and "  (%s)" % why,
                                                change(mutant)))
    table(target, "file", dict(sorted(by_file.items())))
    table(target, "operator", dict(by_operator, all=list(results.values())))
    print("\nkilled by: " + ", ".join("%s %d" % (name, len(found)) for group in (stages_of, clauses)
                                     for name, found in sorted(group.items(), key=lambda g: -len(g[1]))))
    counts = collections.Counter(o.column for o in results.values())
    counted = sum(counts[c] for c in target.columns)
    noticed = sum(counts[c] for c in target.counts)
    low, high = wilson(noticed, counted)
    print("score: %d of %d, %.1f%% (95%% interval %.1f%% to %.1f%%)" % (
        noticed, counted, 100 * noticed / max(counted, 1), 100 * low, 100 * high))


def arguments():
    parser = argparse.ArgumentParser(prog="./test --mutants", usage=argparse.SUPPRESS,
                                     add_help=False)
    parser.add_argument("count", nargs="?", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**31))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--of", choices=sorted(TARGETS), default="engines")
    parser.add_argument("--operators", default="")
    parser.add_argument("--files", default="")
    parser.add_argument("--help", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    if options.help:
        print(__doc__)
        return
    TREE.mkdir(parents=True, exist_ok=True)
    lock = (WORK / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        fail("another one is at work in %s" % WORK)
    snapshot()
    os.nice(max(0, 10 - os.nice(0)))
    target = TARGETS[options.of]()
    everything = target.listed()
    past = list(reverted()) if options.of == "engines" else []
    stale = {id for id, file in equivalent_files().items() if file in target.files} - \
        {m.id for m in everything + past}
    if stale:
        fail("equivalent.tsv names mutants that no longer exist; judge them again: %s" % sorted(stale))
    everything = [m for m in everything if wanted(m, options)]
    only = set(options.only.split(",")) - {""}
    if options.list:
        for m in [m for m in everything if not only or m.id in only]:
            print("%s  %s:%d  %s\n%s" % (m.id, m.file, m.line, m.operator, change(m)))
        return
    print("./test --mutants %d --seed %d" % (options.count, options.seed))
    bench = Bench(options, target)
    mutants = [m for m in everything + past if m.id in only] if only else \
        past + sample(target.worth(bench, everything), options.count, options.seed)
    results = bench.run(mutants)
    target.tell_left_out()
    tell(target, mutants, results)


if __name__ == "__main__":
    main()
