"""Mutants of the engines: which files they are made of, and what the bench makes of each."""

import collections
import json
import re
import sys

import mutate
from programs import NOTHING, PROCESSOR, TREE, WORK, Build, Outcome, fail, failing_suite, run

PROTOCOLS = ("activity", "inbox", "key", "legacy", "pipeline", "seq")

# The files that runs execute, and whose runs: all protocols', where nothing else is said.
FILES = {
    "model/activity.c": ["activity"], "model/activity_engine.c": ["activity"], "model/ledger.c": ["activity"],
    "model/semaphore.c": ["activity"], "model/graph.c": ["activity", "legacy"],
    "model/activity_primitives.def": PROTOCOLS,
    "model/inbox.c": ["inbox"], "model/inbox_primitives.def": ["inbox"],
    "model/flow.c": ["key"], "model/key.c": ["key"], "model/flow_primitives.def": ["key"],
    "model/legacy.c": ["legacy"], "model/legacy_engine.c": ["legacy"],
    "model/legacy_primitives.def": ["legacy"],
    "model/pipeline.c": ["pipeline"], "model/rights.c": ["pipeline"], "model/rights.h": ["pipeline"],
    "model/pipeline_primitives.def": ["pipeline"],
    "model/seq.c": ["seq"], "model/seq_rules.c": ["seq"], "model/seq_rules.h": ["seq"],
    "model/seq_primitives.def": ["seq"],
    "model/bundle.h": PROTOCOLS, "model/consumer.c": PROTOCOLS, "model/digits.c": PROTOCOLS,
    "model/identity.h": PROTOCOLS, "model/primitive.h": PROTOCOLS, "model/protocol.c": PROTOCOLS,
    "model/protocol.h": PROTOCOLS,
}

LEFT_OUT = {
    "declarations": "consumer.h digits.h activity_engine.h flow.h graph.h inbox.h key.h ledger.h "
                    "legacy.h legacy_engine.h pipeline.h semaphore.h seq.h text.h text_error.h error.h",
    "what nobody may do, tried on purpose": "pipeline_trespass.c pipeline_trespass.h",
    "words, for people": "bundle.c bundles.def clause.c clause.h clauses.def errata.def families.def",
    "what is reported beside the rows": "key_text.c key_text.h",
    "the hook of CHECK": "check.h check_abort.c check_trap.h",
    "which protocols and files there are": "primitives.def protocols.def tables.def",
    "macros of the lists of primitives, and statements that no engine sends": "primitive.c",
    "the schema and the reading of rows, which stores and oracles share": "rows.h table.c table.h "
    "activity_tables.def inbox_tables.def flow_tables.def legacy_tables.def pipeline_tables.def "
    "seq_tables.def",
}

# Functions that others call, in files whose other functions runs execute.
ASIDE = {
    "model/graph.c": ("count_below graph_activities", "bound what a scenario may ask for"),
    "model/bundle.h": ("bundle_claims bundle_goes_on bundle_has bundle_join",
                       "are asked by stores, which conform judges, and by the simulation"),
    "model/key.c": ("key_activities key_graph_acyclic key_graph_add key_place key_valid refuse_ids compare",
                    "judge what a scenario or a store says"),
    "model/seq_rules.h": ("seq_rules_pair seq_rules_lease_expired seq_rules_grace_over seq_rules_terminal",
                          "is asked by the simulation, for what an actor may try; the others by that and by the "
                          "reference model alone: stores decide on leases and grace by primitives"),
    "model/seq.c": ("weight_of seq_missteps seq_err", "draw the illegal moves that are tried on purpose"),
    "model/primitive.h": ("op_lock_of", "tells the simulated store which lock to take; conform judges that"),
    "model/pipeline.c": ("take_trespass", "takes what the store says to a trespass, which is tried on purpose"),
    "model/protocol.c": ("protocol_at protocol_count protocol_find protocol_place is_same",
                         "find a protocol, before a run begins"),
}

# Mutants that no run can tell from the sound program, a kind a line: file, operator, what stands before
# the place, the text there, what it becomes, what stands behind it, and why.
NUMBER, NAME = r"\d+", r"\w+"
OF_A_KIND = [
    (r".*\.c", ".*", r"\.tables = [^=;]*", ".*", ".*", "",
     "which tables a server's schema has; the simulation has all of them, and conform and real use the others"),
    (r".*\.c", "name|condition|relation", r"bundle_begin\(\w+, [^;]*", ".*", ".*", "",
     "what a transaction is called, by faults and by people; what it does is the same"),
    (r"model/seq_rules\.c", "name", "", r"SEQ_MOVE_(?!RETRY)\w+", r"SEQ_MOVE_(?!RETRY|NONE)\w+", "",
     "runs ask of a pair whether it is a move, and never which of the twelve"),
    (r".*\.c", "name", r"\[", NAME, NAME, r"\] *= \"", "what something is called in texts for people"),
    (r"model/ledger\.c", "constant|name", r"\[ACTIVITY_(WORK_DONE|CHILDREN_SPAWNED|JOB_TASKS_DONE)\] *= \{[^}]*",
     r"\d+|LEDGER_\w+", r"\d+|LEDGER_\w+", "",
     "runs use the weight of an activity's marker, and only decode this field by itself"),
    (r"model/ledger\.c", "constant", r"\[GUID_(?!ATTEMPTS)\w+\] *= \{[^}]*", NUMBER, NUMBER, "",
     "runs read a GUID's markers as four digits at once, and only decode this field by itself"),
]

# Suites that a mutant meets which the bench left alive.
SUITES = {
    "all": "digits primitive protocol rights",
    "activity": "activity_engine graph ledger semaphore oracle_activity",
    "inbox": "entries", "key": "flow key flow_trace oracle_flow",
    "legacy": "legacy legacy_engine legacy_runs oracle_legacy graph",
    "pipeline": "pipeline sim_pipeline oracle_pipeline", "seq": "seq seq_rules seq_run",
}

SHORT, LONG, MEMORY = "64", "1000", "1M"  # seeds of the two campaigns; what a search may take
TELLS = {"campaign": "finding", "sweep": "sweep", "explore": "summary"}  # the line that names a clause


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

COLUMNS = ["killed", "abort", "hang", "status 3", "regression", "gate", "suites", "survived"]


def judged(assay, command, processor=PROCESSOR):
    """What a command comes to; None: every promise held, as far as it went."""
    jobs = [] if command[0] == "sweep" else ["--jobs", "1"]
    output, status = run([assay, *command, *jobs, "--json"], processor=processor)
    seeds = command[command.index("--seeds") + 1] if "--seeds" in command else ""
    stage = (command[0] + " " + seeds).strip()
    outcome = Outcome("hang", None, stage, None, None)
    if status is None:
        return outcome
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
    """Of these scenarios, and of those that are drawn for their protocols."""
    known = scenarios()
    drawn = ["drawn-" + p for p in PROTOCOLS if p in {known[name] for name in names}]
    whole = len(names) == len(known)  # which is what it does if none is named
    return ["campaign", *([] if whole else names + drawn), "--seeds", seeds, "--base-seed", base,
            "--max-findings", "1", "--no-regressions"]


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
    if again is not None and again.column == "abort":
        fail("the sound program, too: %s: %s" % (" ".join(map(str, command)), again.why))
    return again is not None and again.column == outcome.column


def one_by_one(assay, sound, names, command):
    """A run that aborts or hangs takes the whole campaign with it: each scenario by itself."""
    hangs = 0
    for name in names:
        alone = ["campaign", name, *command[command.index("--seeds"):]]
        outcome = judged(assay, alone, PROCESSOR // 10)
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


def planted(assay):
    """Of each guard, "primitive.operation", the reasons why a planted bug that leaves it out is equivalent:
    one a bundle, None where the bug must be found. `assay sabotage` shows them by search."""
    found = collections.defaultdict(list)
    for line in run([assay, "list", "sabotages", "--json"])[0].splitlines():
        said = json.loads(line)
        guard = re.search(r"/unguard/(.*)$", said.get("name", ""))
        if guard:
            found[guard.group(1)].append(said["equivalent"])
    return found


def dropped_guard(mutant, text):
    """The guard that a mutant of a list of primitives leaves out; None: it does something else."""
    leaves_out = (mutant.operator == "drop" and "OP_TEST" in mutant.before) or \
        mutant.after.strip().endswith(("TEST_NONE", "MISS_GOES_ON"))
    heads = list(re.finditer(r"(?:PRIMITIVE|ONE_STATEMENT)\(\w+, \"([^\"]+)\"", text[:mutant.start]))
    if not (mutant.file.endswith("_primitives.def") and leaves_out and heads):
        return None
    operation = text[heads[-1].end():mutant.end].count("{OP_")
    return "%s.%d" % (heads[-1].group(1).lower().replace(" ", "-"), operation)


def unlisted(tree):
    """The files of model/ that neither FILES nor LEFT_OUT has, and those that are there no more."""
    there = {str(p.relative_to(tree)) for p in (tree / "model").iterdir() if p.suffix in (".c", ".h", ".def")}
    known = set(FILES) | {"model/" + name for names in LEFT_OUT.values() for name in names.split()}
    return sorted(there ^ known)


class Engines:
    """The protocols' engines and primitives."""

    files, columns, counts = FILES, COLUMNS, ("killed",)

    def listed(self):
        """Every mutant there is. A file of model/ that no list has is an error."""
        if unlisted(TREE):
            fail("FILES and LEFT_OUT of engines.py are out of date: %s" % unlisted(TREE))
        return [m for path in sorted(FILES) for m in mutate.mutants_of(TREE, path)]

    def suites(self):
        return sorted(set(" ".join(SUITES.values()).split()))

    def worth(self, bench, mutants):
        """Without functions that no run executes."""
        self.planted = planted(bench.build.assay)
        self.idle = unexecuted(bench.program)
        aside = {(file, name) for file, (names, _) in ASIDE.items() for name in names.split()}
        return [m for m in mutants if (m.file, m.function) not in self.idle | aside]

    def equivalent(self, mutant):
        """Why no mutant of its kind can be told from the sound program; None: one can."""
        text = (TREE / mutant.file).read_text()
        guard = dropped_guard(mutant, text)
        reasons = self.planted.get(guard, [None])
        if None not in reasons:
            return "the planted bug unguard/%s, which searches show to be equivalent: %s" % (guard, reasons[0])
        for file, operator, before, there, after, behind, why in OF_A_KIND:
            if re.fullmatch(file, mutant.file) and re.fullmatch(operator, mutant.operator) and \
                    re.search("(?:%s)$" % before, text[:mutant.start]) and \
                    re.fullmatch(there, mutant.before) and re.fullmatch(after, mutant.after.strip()) and \
                    re.match(behind, text[mutant.end:]):
                return why
        return None

    def judge(self, sound, mutant, base):
        protocols = FILES[mutant.file]
        names = [name for name, protocol in scenarios().items() if protocol in protocols]
        wanted = dict.fromkeys(" ".join(SUITES[p] for p in ["all", *protocols]).split())
        return bench(mutant.assay, sound.assay, names, base) or \
            failing_suite(sound, mutant, wanted) or NOTHING._replace(column="survived")

    def tell_left_out(self):
        for file in sorted(FILES):
            names = sorted(name for path, name in self.idle if path == file)
            if names:
                print("no run executes, of %s: %s" % (file, ", ".join(names)))
        for file, (names, why) in ASIDE.items():
            print("left out, of %s: %s, which %s" % (file, names, why))
        for why, names in LEFT_OUT.items():
            print("left out, %s: %s" % (why, names))
