#!/usr/bin/python3
"""usage: ./test --mutants [N] [--seed S] [--jobs J] [--list] [--only ID,ID...]

Makes mutants of model/, N of them (default 400) sampled evenly over files and operators, builds each
in a copy of the tree and runs the bench on it, with fresh seeds and stock options: campaigns, sweeps,
small searches, cheapest first. The first promise that is broken ends it.

  N          how many; 0: all
  --seed S   draws the same mutants and the same seeds for them again; fresh by default, and printed
  --jobs J   mutants at a time (default: one a core)
  --list     says which they are, and runs nothing
  --only ID  these, and every bug of reverted/ that is named

What has been run is in build/mutants/results.jsonl: the same command with the seed goes on there.

  killed      a promise was broken, or a search found a state from which nothing comes to rest, and not
              so with the sound engine on the same seeds. What follows is no kill by the bench:
  abort       a CHECK failed (70), or the program died
  hang        it did not end
  status 3    runs were not deterministic
  regression  only a stored schedule broke a promise
  gate        a path was never taken, or a promise never put to the test (4)
  suites      only a suite of its protocol fails
  survived    nothing noticed; each is printed
These do not count: no build; same code (the compiler makes the same program of it); equivalent (listed
in equivalent.tsv, with the reason). The score is killed of those that count.
"""

import argparse
import collections
import concurrent.futures
import fcntl
import functools
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True  # nothing is written beside the sources
import mutate

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"  # a copy, so that nothing changes while mutants are made and built

PROTOCOLS = ("activity", "inbox", "key", "legacy", "pipeline", "seq")

# The files that runs execute, and whose runs: all protocols', where nothing else is said.
FILES = {
    "model/activity.c": ["activity"], "model/engine.c": ["activity"], "model/ledger.c": ["activity"],
    "model/semaphore.c": ["activity"], "model/graph.c": ["activity", "legacy"],
    "model/activity_primitives.def": PROTOCOLS,
    "model/inbox.c": ["inbox"], "model/inbox_primitives.def": ["inbox"],
    "model/flow.c": ["key"], "model/key.c": ["key"], "model/key_primitives.def": ["key"],
    "model/legacy.c": ["legacy"], "model/legacy_engine.c": ["legacy"],
    "model/legacy_primitives.def": ["legacy"],
    "model/pipeline.c": ["pipeline"], "model/rights.c": ["pipeline"], "model/rights.h": ["pipeline"],
    "model/pipeline_primitives.def": ["pipeline"],
    "model/seq_durable.c": ["seq"], "model/seq_rules.c": ["seq"], "model/seq_rules.h": ["seq"],
    "model/seq_primitives.def": ["seq"],
    "model/bundle.h": PROTOCOLS, "model/consumer.c": PROTOCOLS, "model/digits.c": PROTOCOLS,
    "model/identity.h": PROTOCOLS, "model/primitive.h": PROTOCOLS, "model/protocol.c": PROTOCOLS,
    "model/protocol.h": PROTOCOLS,
}

LEFT_OUT = {
    "declarations": "consumer.h digits.h engine.h flow.h graph.h key.h key_text.h ledger.h "
                    "legacy.h legacy_engine.h pipeline.h semaphore.h seq_durable.h text.h",
    "words, for people": "bundle.c bundles.def clause.c clause.h clauses.def errata.def families.def",
    "keys as text, which no run reads": "key_text.c",
    "the ledger in shared memory, which has no runs": "seq.c seq.h",
    "the hook of CHECK": "check.h check_abort.c",
    "which protocols and files there are": "primitives.def protocols.def tables.def",
    "macros of the lists of primitives, and statements that no engine sends": "primitive.c",
    "the schema and the reading of rows, which stores and oracles share": "rows.h table.c table.h "
    "activity_tables.def inbox_tables.def key_tables.def legacy_tables.def pipeline_tables.def "
    "seq_tables.def",
}

# Functions that others call, in files whose other functions runs execute.
ASIDE = {
    "model/graph.c": ("count_below graph_activities", "bound what a scenario may ask for"),
    "model/bundle.h": ("bundle_acks bundle_claims", "are asked by the simulation"),
    "model/key.c": ("key_activities key_graph_acyclic key_valid", "judge what a scenario or a store says"),
    "model/protocol.c": ("protocol_find is_same", "find a protocol by what a scenario says"),
}

# Suites that a mutant meets which the bench left alive.
SUITES = {
    "all": "digits primitive protocol rights",
    "activity": "engine graph ledger semaphore oracle_activity",
    "inbox": "entries", "key": "flow key flow_trace oracle_flow",
    "legacy": "legacy legacy_engine legacy_runs oracle_legacy graph",
    "pipeline": "pipeline sim_pipeline oracle_pipeline", "seq": "seq_durable seq_rules seq_run",
}

SHORT, LONG, MEMORY = "64", "1000", "1M"  # seeds of the two campaigns; what a search may take
WATCHDOG = 600  # seconds, of any one command: a sound one takes ten
TELLS = {"campaign": "finding", "sweep": "sweep", "explore": "summary"}  # the line that names a clause
COLUMNS = ["killed", "abort", "hang", "status 3", "regression", "gate", "suites", "survived"]
UNCOUNTED = ["no build", "same code", "equivalent"]


def run(command, folder=None, seconds=WATCHDOG):
    """Exit status and output. None: it had to be stopped."""
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(WORK.parent))
    process = subprocess.Popen([str(c) for c in command], cwd=folder, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                               start_new_session=True)
    try:
        return process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        return "", None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def fail(text):
    sys.exit("./test --mutants: " + text)


# ---- programs --------------------------------------------------------------------------------------

def snapshot():
    """Makes the copy. What is the same already keeps its time, and is not built anew."""
    listed, _ = run(["git", "ls-files", "-co", "--exclude-standard"], ROOT)
    wanted = {path for path in listed.splitlines() if (ROOT / path).is_file()}
    for path in [p for p in TREE.rglob("*") if p.is_file() and str(p.relative_to(TREE)) not in wanted]:
        path.unlink()
    for path in wanted:
        source, copy = ROOT / path, TREE / path
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


class Build:
    """A build of the sound program, and programs that differ from it in a few files: those that need
    them are compiled and linked anew beside it."""

    def __init__(self, folder, *options):
        self.folder, self.assay = folder, folder / "cli" / "assay"
        if not (folder / "build.ninja").exists():
            run(["cmake", "-G", "Ninja", "-S", TREE, "-B", folder, *options])
        output, status = run(["ninja", "-C", folder, "assay"], seconds=3600)
        if status != 0:
            fail("the sound program does not build:\n" + output[-2000:])
        self.commands = {}
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            if "/CMakeFiles/assay" in entry["command"]:  # not what a test compiles for itself
                self.commands[entry["file"]] = entry["command"]

    def dependents(self, path):
        """The sources of what executes runs that are compiled with a file. Of a list of primitives all
        but one see names only."""
        if path.endswith(".c"):
            return [path]
        if path.endswith("_primitives.def"):
            return ["model/primitive.c"]
        found, source = [], None
        for line in run(["ninja", "-C", self.folder, "-t", "deps"])[0].splitlines():
            if line.startswith("    %s/" % TREE) and source is None:
                source = line.strip()[len(str(TREE)) + 1:]
            if not line.startswith(" "):
                source = None
            elif line.endswith("/" + path) and source not in found:
                found.append(source)
        return [s for s in found if re.match(r"(model|faults|sim)/(?!tests|bench|oracle)", s)]

    def compile(self, source, overlay):
        """The object, with what is in `overlay` instead of the tree's; None: it does not compile."""
        mutated = overlay / source if (overlay / source).exists() else TREE / source
        made = overlay / (source.replace("/", "-") + ".o")
        words = shlex.split(self.commands[str(TREE / source)])
        words[words.index("-o") + 1:] = [made, "-c", mutated, "-g0"]
        words[1:1] = ["-I%s" % overlay, "-ffile-prefix-map=%s/=%s/" % (overlay, TREE)]
        return made if run([w for w in words if w != "-Werror"], self.folder)[1] == 0 else None

    def link(self, target, objects, program):
        """Objects stand before the libraries, so that the sound ones are not taken from there."""
        command = run(["ninja", "-C", self.folder, "-t", "commands", target])[0].splitlines()[-1]
        words, made = shlex.split(command.split(" && ")[1]), {}
        for made_of in objects:  # a suite may do without the upper layers
            layer = made_of.name.partition("-")[0]
            if "%s/libassay_%s.a" % (layer, layer) in words:
                made[made_of.name] = made_of
        for at, word in enumerate(words):
            own = re.sub(r"/CMakeFiles/[^/]*\.dir/", "/", word).replace("/", "-")
            words[at] = made.pop(own, word)
        words[words.index("-o") + 1:words.index("-o") + 2] = [program, *made.values()]
        return run(words, self.folder)[1] == 0


def code(thing):
    """A hash of an object or a program, without what only a debugger reads."""
    bare = thing.with_suffix(".bare")
    run(["objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", thing, bare])
    return hashlib.sha256(bare.read_bytes()).hexdigest()[:16]


def unexecuted(program):
    """(file, function) of the functions that no run executes, as counted by gcov."""
    kept = WORK / ("unexecuted-%s.json" % program)
    if not kept.exists():
        print("which functions runs execute", file=sys.stderr)
        copy = Build(WORK / "coverage", "-DCMAKE_BUILD_TYPE=Debug", "-DASSAY_COVERAGE=ON")
        for counters in copy.folder.rglob("*.gcda"):
            counters.unlink()
        run([copy.assay, "campaign", "--seeds", "100", "--no-gates"], seconds=3600)
        for name in scenarios():
            run([copy.assay, "sweep", name, "--seed", "1"])
        counts = collections.Counter()
        for counters in copy.folder.rglob("*.gcda"):
            told, _ = run(["gcov", "--json-format", "--stdout", counters.name], counters.parent)
            for line in told.splitlines():
                for file in json.loads(line)["files"] if line.startswith("{") else []:
                    for function in file["functions"]:
                        path = file["file"][file["file"].rfind("/model/") + 1:]
                        counts[path, function["name"]] += function["execution_count"]
        kept.write_text(json.dumps(sorted(key for key, count in counts.items() if count == 0)))
    return {tuple(key) for key in json.loads(kept.read_text())}


def scenarios():
    """Their names, and the protocol of each."""
    found = {}
    for path in sorted((TREE / "scenarios").glob("*.yaml")):
        lines = path.read_text().splitlines()
        said = [line.split()[1] for line in lines if line.startswith("protocol:")]
        found[path.stem] = said[0] if said else "activity"
    return found


# ---- one mutant against the bench ------------------------------------------------------------------

Outcome = collections.namedtuple("Outcome", "column clause stage scenario why")


def judged(assay, command, seconds=WATCHDOG):
    """What a command comes to; None: every promise held, as far as it went."""
    jobs = [] if command[0] == "sweep" else ["--jobs", "1"]
    output, status = run([assay, *command, *jobs, "--json"], seconds=seconds)
    seeds = command[command.index("--seeds") + 1] if "--seeds" in command else ""
    stage = (command[0] + " " + seeds).strip()
    outcome = Outcome("hang", None, stage, None, None)
    if status is None:
        return outcome
    if status in (64, 69):
        fail("%s: %s" % (" ".join(map(str, command)), output))
    if status not in (0, 1, 2, 3, 4):
        return outcome._replace(column="abort", why=output.strip().splitlines()[-1:])
    regression = False
    for line in output.splitlines():
        said = json.loads(line) if line.startswith("{") else {}
        regression = regression or said.get("type") == "regressions"
        if said.get("type") == TELLS[command[0]] and said.get("clause") and \
                said.get("kind", "new") == "new" and not said.get("name", "").startswith("regression-"):
            return Outcome("killed", said["clause"], stage, said["scenario"], said.get("why"))
    if status == 2:
        return Outcome("killed", "no rest", stage, command[1], None)
    if status == 3:
        return outcome._replace(column="status 3")
    if regression:
        return outcome._replace(column="regression")
    if status == 4 and command[0] == "campaign":
        return outcome._replace(column="gate")
    return None


def campaign(names, seeds, base):
    whole = len(names) == len(scenarios())  # which is what it does if none is named
    return ["campaign", *([] if whole else names), "--seeds", seeds, "--base-seed", base, "--max-findings", "1",
            "--no-regressions"]


def stages(names, base):
    """Cheapest first; what a gate asks for is seen in the long campaign only."""
    yield campaign(names, SHORT, base) + ["--no-gates"]
    yield campaign(names, LONG, base)
    for name in names:
        yield ["sweep", name, "--seed", base]
    for name in names:
        yield ["explore", name, "--memory", MEMORY]
    yield ["campaign", names[0], "--seeds", "1", "--no-gates"]  # the stored schedules


def same_of_sound(sound, command, outcome):
    """Whether the sound program comes to the same: then it is none of the mutant's doing."""
    if outcome.column == "killed" and command[0] == "campaign":
        seeds = command[command.index("--seeds"):]
        command = ["campaign", outcome.scenario, *seeds]
    again = judged(sound, command)
    return again is not None and again.column == outcome.column


def one_by_one(assay, sound, names, command):
    """A run that aborts or hangs takes the whole campaign with it: each scenario by itself."""
    hangs = 0
    for name in names:
        alone = ["campaign", name, *command[command.index("--seeds"):]]
        outcome = judged(assay, alone, WATCHDOG // 10)
        if outcome and outcome.column == "killed" and not same_of_sound(sound, alone, outcome):
            return outcome
        hangs += outcome is not None and outcome.column == "hang"
        if hangs == 2:
            return None
    return None


def bench(assay, sound, names, base):
    """The first kill, else what comes closest to one; None if nothing does."""
    worst = None
    for command in stages(names, base):
        outcome = judged(assay, command)
        if outcome is None or same_of_sound(sound, command, outcome):
            continue
        if outcome.column == "killed":
            return outcome
        if worst is None or COLUMNS.index(outcome.column) < COLUMNS.index(worst.column):
            worst = outcome
        if outcome.column in ("abort", "hang"):
            apart = command[0] == "campaign" and one_by_one(assay, sound, names, command)
            return apart or worst
    return worst


def suites(build, protocols, overlay, objects):
    """The first suite of these protocols that fails."""
    for name in dict.fromkeys(" ".join(SUITES[p] for p in ["all", *protocols]).split()):
        test = overlay / ("test_" + name)
        if not build.link(test.name, objects, test) or run([test, "-j1"])[1] != 0:
            return Outcome("suites", None, test.name, None, None)
    return None


# ---- all of them -----------------------------------------------------------------------------------

class Bench:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.build = Build(WORK / "sound", "-DCMAKE_BUILD_TYPE=Release",
                           "-DASSAY_OPTIMIZE=-O2", "-DASSAY_WHOLE=OFF", "-DASSAY_TESTS=ON")
        self.program = code(self.build.assay)
        self.scenarios = scenarios()
        self.known = equivalents()
        self.kept = WORK / "results.jsonl"
        self.done = 0

    def results(self):
        """Those of this seed and program, by mutant."""
        lines = self.kept.read_text().splitlines() if self.kept.exists() else []
        said = [json.loads(line) for line in lines if line.endswith("}")]
        return {s["mutant"]: Outcome(*s["outcome"]) for s in said
                if s["seed"] == self.options.seed and s["program"] == self.program}

    @functools.cache
    def sound_code(self, source):
        folder = WORK / "overlays" / ("sound-" + source.replace("/", "-"))
        folder.mkdir(parents=True, exist_ok=True)
        return code(self.build.compile(source, folder))

    def outcome(self, mutant, overlay):
        nothing = Outcome(None, None, None, None, None)
        sources = [s for path in put(mutant, overlay)
                   for s in self.build.dependents(path)]
        objects = [self.build.compile(source, overlay) for source in sources]
        assay = overlay / "assay"
        if None in objects or not self.build.link("assay", objects, assay):
            return nothing._replace(column="no build")
        if all(self.sound_code(source) == code(made) for source, made in zip(sources, objects)):
            return nothing._replace(column="same code")
        if mutant.id in self.known:
            return nothing._replace(column="equivalent", why=self.known[mutant.id])
        protocols = FILES[mutant.file]
        names = [name for name, protocol in self.scenarios.items() if protocol in protocols]
        base = random.Random("%s %s" % (self.options.seed, mutant.id)).randrange(1, 2**40)
        return bench(assay, self.build.assay, names, base) or \
            suites(self.build, protocols, overlay, objects) or nothing._replace(column="survived")

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
            run(["ninja", "-C", self.build.folder], seconds=3600)  # the suites
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


def equivalents():
    lines = (HERE / "equivalent.tsv").read_text().splitlines()
    return dict(line.split("\t")[::3] for line in lines if line and not line.startswith("#"))


def listed():
    """Every mutant there is. A file of model/ that no list has is an error."""
    there = {str(p.relative_to(TREE)) for p in (TREE / "model").iterdir() if p.suffix in
             (".c", ".h", ".def")}
    known = set(FILES) | {"model/" + name for names in LEFT_OUT.values() for name in names.split()}
    if there != known:
        fail("the lists of files are out of date: %s" % sorted(there ^ known))
    return [m for path in sorted(FILES) for m in mutate.mutants_of(TREE, path)]


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


def table(title, groups):
    columns = COLUMNS + UNCOUNTED
    print("\n%-32s %7s" % (title, "mutants") + "".join("%11s" % c for c in columns) + "  score")
    for name, outcomes in groups.items():
        counts = collections.Counter(o.column for o in outcomes)
        counted = sum(counts[c] for c in COLUMNS)
        score = "%5.1f%%" % (100 * counts["killed"] / counted) if counted else "     -"
        print("%-32s %7d" % (name, len(outcomes)) +
              "".join("%11s" % (counts[c] or "") for c in columns) + "  " + score)


def tell(mutants, results):
    by_file, by_operator, clauses, stages_of = [collections.defaultdict(list) for _ in range(4)]
    for mutant in mutants:
        outcome = results[mutant.id]
        by_file[mutant.file].append(outcome)
        by_operator[mutant.operator].append(outcome)
        if outcome.column == "killed":
            clauses[outcome.clause].append(outcome)
            stages_of[outcome.stage].append(outcome)
    for column in COLUMNS[1:]:
        for mutant in mutants:
            outcome = results[mutant.id]
            if outcome.column == column:
                why = " ".join(str(w) for w in (outcome.stage, outcome.why) if w)
                print("%s %s  %s:%d  %s%s\n%s" % (column, mutant.id, mutant.file, mutant.line,
                                                mutant.operator, why and "  (%s)" % why,
                                                change(mutant)))
    table("file", dict(sorted(by_file.items())))
    table("operator", dict(by_operator, all=list(results.values())))
    print("\nkilled by: " + ", ".join("%s %d" % (name, len(found)) for group in (stages_of, clauses)
                                     for name, found in sorted(group.items(), key=lambda g: -len(g[1]))))
    counts = collections.Counter(o.column for o in results.values())
    counted = sum(counts[c] for c in COLUMNS)
    low, high = wilson(counts["killed"], counted)
    print("score: %d of %d, %.1f%% (95%% interval %.1f%% to %.1f%%)" % (
        counts["killed"], counted, 100 * counts["killed"] / max(counted, 1), 100 * low, 100 * high))
    return counts["killed"] / max(counted, 1)


def arguments():
    parser = argparse.ArgumentParser(prog="./test --mutants", usage=argparse.SUPPRESS,
                                     add_help=False)
    parser.add_argument("count", nargs="?", type=int, default=400)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 2**31))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
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
    everything = listed()
    past = list(reverted())
    stale = set(equivalents()) - {m.id for m in everything + past}
    if stale:
        fail("equivalent.tsv names mutants that no longer exist; judge them again: %s" % sorted(stale))
    only = set(options.only.split(",")) - {""}
    if options.list:
        for m in [m for m in everything if not only or m.id in only]:
            print("%s  %s:%d  %s\n%s" % (m.id, m.file, m.line, m.operator, change(m)))
        return
    print("./test --mutants %d --seed %d" % (options.count, options.seed))
    bench = Bench(options)
    idle = unexecuted(bench.program)
    aside = {(file, name) for file, (names, _) in ASIDE.items() for name in names.split()}
    executed = [m for m in everything if (m.file, m.function) not in idle | aside]
    mutants = [m for m in everything + past if m.id in only] if only else \
        past + sample(executed, options.count, options.seed)
    results = bench.run(mutants)
    for file in sorted(FILES):
        names = sorted(name for path, name in idle if path == file)
        if names:
            print("no run executes, of %s: %s" % (file, ", ".join(names)))
    for file, (names, why) in ASIDE.items():
        print("left out, of %s: %s, which %s" % (file, names, why))
    for why, names in LEFT_OUT.items():
        print("left out, %s: %s" % (why, names))
    tell(mutants, results)


if __name__ == "__main__":
    main()
