"""Mutants of what judges the engines, and of what executes them: the oracles, the simulated store, and the
store and the SQL on PostgreSQL. Each has its own judges, which come one after the other, cheapest first."""

import json
import re
import sys

import mutate
from engines import PROTOCOLS, campaign, judged, same_of_sound, scenarios
from programs import NOTHING, TREE, WORK, code, fail, failing_suite, run


def there(folder, suffixes):
    return {str(p.relative_to(TREE)) for p in (TREE / folder).iterdir() if p.suffix in suffixes}


class Target:
    files, left_out = {}, {}

    def listed(self):
        return [m for path in sorted(self.files) for m in mutate.mutants_of(TREE, path)]

    def suites(self):
        return sorted(set(" ".join(self.files.values()).split()))

    def worth(self, bench, mutants):
        return mutants

    def equivalent(self, mutant):
        return None

    def tell_left_out(self):
        for why, names in self.left_out.items():
            print("left out, %s: %s" % (why, names))


# ---- oracles ---------------------------------------------------------------------------------------

ORACLES = {  # the suites that tell oracles what a store would tell them, and ask what they say
    "activity": "oracle_activity oracle_journal oracle_seen oracle oracle_judges_model expected_activity expected",
    "key": "oracle_flow oracle_journal oracle oracle_judges_model expected",
    "legacy": "oracle_legacy oracle_journal oracle_seen oracle expected",
    "pipeline": "oracle_pipeline oracle_journal oracle_seen expected_pipeline",
    "seq": "seq oracle oracle_journal oracle_seen oracle_judges_seq expected",
    "inbox": "oracle_inbox oracle_seen entries expected",
    "all": "oracle oracle_activity oracle_flow oracle_legacy oracle_pipeline seq oracle_inbox "
           "oracle_journal oracle_seen entries",
}
OWNERS = {  # whose a file is, where its name does not say so
    "flow": "key", "ledger": "activity", "digits": "all", "judge": "all", "oracle": "all",
    "ghosts": "all", "expectation": "all", "verdict": "all", "document": "all", "mint": "all", "observed": "all", "seen": "all", "tries": "all",
}


def owner(path):
    """The protocol that an oracle's file judges; "all" of what they share."""
    stem = path.rpartition("/")[2].partition(".")[0]
    first = re.sub(r"^(seen|expected)_", "", stem).partition("_")[0]
    return OWNERS.get(first, first)


NAMES_MAX = 60  # of planted bugs, in one command


def said(output, kind):
    """The JSON lines of this type."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [line for line in lines if line["type"] == kind]


def sentences(text):
    """As one text: what is written in several pieces is put together."""
    return re.sub(r'"\s*"', "", text)


class Judges(Target):
    """Oracles: every check dropped or weakened, and whatever else one gets wrong."""

    columns = ["suites", "sabotage", "clause", "accuses", "abort", "hang", "sentence", "survived"]
    counts = ("suites", "sabotage", "clause", "accuses")
    left_out = {"declarations and words": "those of model/oracle/ in which nothing can be changed"}

    def listed(self):
        self.files = {path: owner(path) for path in there("model/oracle", (".c", ".h"))}
        strange = {o for o in self.files.values()} - set(ORACLES)
        if strange:
            fail("nobody knows whose oracle this is: %s" % strange)
        return super().listed()

    def suites(self):
        return sorted(set(" ".join(ORACLES.values()).split()))

    def judge(self, sound, spoilt, base):
        of = self.files[spoilt.file]
        return failing_suite(sound, spoilt, ORACLES[of].split()) or \
            self.accuses(sound, spoilt, of, base) or self.hunts(sound, spoilt, of) or \
            NOTHING._replace(column="survived")

    def accuses(self, sound, spoilt, of, base):
        """The sound engine is said to break a promise."""
        if spoilt.mutant.operator in ("check", "weaken"):
            return None  # who says less accuses nobody
        names = [n for n, protocol in scenarios().items() if of in ("all", protocol)]
        command = campaign(names, "64", base) + ["--no-gates"]
        outcome = judged(spoilt.assay, command)
        if outcome is None or same_of_sound(sound.assay, command, outcome):
            return None
        return outcome._replace(column="accuses" if outcome.column == "killed" else outcome.column)

    def baseline(self, sound):
        """What finds each planted bug: clause, sentence and protocol."""
        kept = WORK / ("sabotage-%s.json" % code(sound.assay))
        if not kept.exists():
            print("what the sound judges find", file=sys.stderr)
            bugs = said(run([sound.assay, "list", "sabotages", "--json"])[0], "sabotage")
            names, found = [b["name"] for b in bugs if b["equivalent"] is None], {}
            for at in range(0, len(names), NAMES_MAX):
                output, _ = run([sound.assay, "sabotage", *names[at:at + NAMES_MAX], "--json"], seconds=3600)
                found.update({s["name"]: [s["clause"], s["why"], s["protocol"]]
                              for s in said(output, "sabotage") if s["fate"] == "found"})
            kept.write_text(json.dumps(found))
        return json.loads(kept.read_text())

    def concerned(self, spoilt, known, of):
        """The planted bugs whose finding can change: those that a sentence of the check finds, else of
        the file; all of the protocol if it has none. What finds a bug without the check finds it as well
        with the check dropped."""
        check = spoilt.mutant.operator == "check" and '"' in spoilt.mutant.before
        text = spoilt.mutant.before if check else (TREE / spoilt.file).read_text()
        if not re.search(r'"[a-zL][^"]* [^"]*"', text):
            return [name for name, (_, _, protocol) in known.items() if of in ("all", protocol)]
        text = sentences(text if check else text + (TREE / "model/oracle/judge.h").read_text())
        return [name for name, (_, why, _) in known.items() if '"%s"' % why in text]

    def hunts(self, sound, spoilt, of):
        known = self.baseline(sound)
        names, worst = self.concerned(spoilt, known, of), None
        for at in range(0, len(names), NAMES_MAX):
            outcome = self.hunt(spoilt, known, names[at:at + NAMES_MAX])
            if outcome is not None and outcome.column != "sentence":
                return outcome
            worst = worst or outcome
        return worst

    def hunt(self, spoilt, known, names):
        stage = "sabotage"
        output, status = run([spoilt.assay, "sabotage", *names, "--jobs", "1", "--json"])
        if status is None:
            return NOTHING._replace(column="hang", stage=stage)
        if status == 1:
            return NOTHING._replace(column="accuses", stage=stage)
        if status not in (0, 4):
            return NOTHING._replace(column="abort", stage=stage, why=output.strip().splitlines()[-1:])
        found = {s["name"]: s for s in said(output, "sabotage")}
        worst = None
        for name in names:
            clause, why, _ = known[name]
            now = found[name]
            if now["fate"] != "found":
                return NOTHING._replace(column="sabotage", clause=clause, stage=stage, why=name)
            if now["clause"] != clause:
                return NOTHING._replace(column="clause", clause=clause, stage=stage,
                                        why="%s by %s" % (name, now["clause"]))
            if now["why"] != why:
                worst = worst or NOTHING._replace(column="sentence", clause=clause, stage=stage, why=name)
        return worst


# ---- stores ----------------------------------------------------------------------------------------

class OnServer(Target):
    """What PostgreSQL is compared with, or asked through."""

    whole = ()  # patterns: each file is spoilt, or left out for a reason

    @classmethod
    def unlisted(cls, root):
        """Files that are neither spoilt nor left out, and spoilt ones that are gone."""
        left_out = [pattern for names in cls.left_out.values() for pattern in names.split()]
        there = {str(path.relative_to(root)) for pattern in cls.whole for path in root.glob(pattern)
                 if not any(path.match(left) for left in left_out)}
        return sorted(there - set(cls.files)), sorted(path for path in cls.files if not (root / path).exists())

    def listed(self):
        forgotten, gone = self.unlisted(TREE)
        if forgotten or gone:
            fail("others.py neither spoils nor leaves out %s, and names %s, which are gone" % (forgotten, gone))
        return super().listed()

    def judge(self, sound, spoilt, base):
        outcome = failing_suite(sound, spoilt, self.files[spoilt.file].split())
        for column, command in self.commands(base):
            outcome = outcome or self.asked(sound, spoilt, column, command)
        return outcome or NOTHING._replace(column="survived")

    def asked(self, sound, spoilt, column, command):
        output, status = run([spoilt.assay, *command])
        if status == 0 or run([sound.assay, *command])[1] != 0:
            return None
        why = [line for line in output.strip().splitlines() if line][-1:]
        if status in (1, 2, 4):
            return NOTHING._replace(column=column, stage=" ".join(command[:3]), why=why)
        column = "hang" if status is None else "abort" if status < 0 or status == 70 else "refused"
        return NOTHING._replace(column=column, stage=" ".join(command[:3]), why=why)


class Store(OnServer):
    """The simulated store, at both levels."""

    columns = ["suites", "conform", "errors", "abort", "hang", "refused", "survived"]
    counts = ("suites", "conform", "errors")
    files = dict.fromkeys("sim/store.c sim/meaning.h sim/session.c sim/session_looks.c sim/session_operations.c sim/session_order.c "
                          "sim/session_rows.c sim/session_claims.c sim/session_waits.c".split(),
                          "store session levels sim_checks sim_pipeline")
    whole = ("sim/store*.c", "sim/session*.c")

    def commands(self, base):
        yield "conform", ["conform", "--seeds", "500", "--base-seed", str(base % 10**6)]
        yield "errors", ["conform", "--errors"]


class Sql(OnServer):
    """The SQL and the store on PostgreSQL."""

    columns = ["suites", "conform", "real", "abort", "hang", "refused", "survived"]
    counts = ("suites", "conform", "real")
    files = {"real/sql.c": "sql store_pg", "real/compound.c": "sql store_pg", "real/cell.c": "sql store_pg pipeline_pg",
             "real/schema.c": "sql store_pg", "real/answer.c": "sql store_pg",
             "real/connection.c": "store_pg stepper", "real/store.c": "store_pg pipeline_pg",
             "real/stepper.c": "stepper", "real/driver.c": "chaos", "real/roles.c": "pipeline_pg",
             "real/history.c": "chaos real_judge", "real/history_line.c": "sql chaos", "real/decoding.c": "chaos",
             "real/run_schema.c": "pipeline_pg real_judge", "real/presets.c": "sql pipeline_pg real_judge",
             "real/views.c": "sql chaos"}
    whole = ("real/*.c",)
    left_out = {"that start and end servers, processes and faults": "chaos*.c cluster*.c postmaster.c process.c "
                "owner.c shared.c tree.c rival.c outcome_audit.c queue_fault.c programs.c part.c parts.c",
                "that make and remove schemas": "own_schema.c", "that only print": "row_diff.c",
                "that stand in for a missing package": "missing.c"}

    def commands(self, base):
        yield "conform", ["conform", "--seeds", "120", "--base-seed", str(base % 10**6)]
        yield "real", ["real", "tree-3", "tree-3-merged", "ceilings", "pipeline", "seq", "inbox", "--seeds", "2"]
