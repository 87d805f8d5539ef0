#!/usr/bin/python3
"""A table of situations times every output: all must say the same status, and name each reason.

usage: situations.py ASSAY [FOLDER]

Most situations are lines as verbs write them, cut and joined; those of VERBS are runs of the
program, which must also end, without a folder, with the status that its folder shows.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ASSAY = os.path.abspath(sys.argv[1])
SCRATCH = tempfile.TemporaryDirectory()
os.chdir(sys.argv[2] if len(sys.argv) > 2 else SCRATCH.name)
failures, checks = [], 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        failures.append(text)


def assay(*words):
    made = subprocess.run([ASSAY, *words], capture_output=True, text=True, check=False)
    return made.returncode, made.stdout, made.stderr


CLAUSES = len(assay("list", "clauses", "--json")[1].splitlines())
HASH = {"binary_hash": "ab" * 32, "clauses_hash": "cd" * 32, "errata_hash": "ef" * 32}


def begin(verb="campaign", command=None, **more):
    line = {"type": "begin", "verb": verb, "command": command or f"assay {verb}", "assay": "0.2.0"}
    return line | {"made": "2026-01-31T12:00:00Z"} | HASH | more


def end(status=0):
    return {"type": "end", "status": status, "seconds": 1.5}


def ran(scenario="tree-3", **more):
    line = {"type": "scenario", "scenario": scenario, "protocol": "activity", "runs": 9, "steps": 90}
    return line | {"evaluated": {"ACL-5": 7}} | more


def finding(kind="new", clause="ACL-5", scenario="tree-3", again="assay run tree-3 --seed 1"):
    line = {"type": "finding", "name": f"{scenario}-{clause}", "kind": kind, "scenario": scenario}
    return line | {"clause": clause, "why": "it was done twice", "again": again, "runs": 1}


def summary(**more):
    return {"type": "summary", "seeds": 9, "runs": 9} | more


def sabotage(name, fate, **more):
    return {"type": "sabotage", "name": name, "fate": fate, "clause": "ACL-5"} | more


def suite(name, passed):
    return {"type": "suite", "suite": name, "passed": passed}


BUG = "assay run tree-3 --seed 1 --sabotage early-ack"
PASSING = [begin(), ran(), summary(gates=[]), end()]
CAUGHT = [finding(again=BUG), ran(sabotage="early-ack")]
FAILED_SUITE = [begin("tests"), suite("test_run", True), suite("test_chaos", False), end(1)]
GATES = [begin(), ran(), summary(gates=["gate one", "gate two"]), end(4)]

# name, lines, status, what must be named
LINES = [
    ("pass", PASSING, 0, []),
    ("two passes", PASSING + PASSING, 0, []),
    ("a pass on PostgreSQL", [begin("real"), {"type": "real", "scenario": "tree-3", "runs": 3,
                              "status": 0, "evaluated": {"ACL-5": 1}}, end()], 0, []),
    ("known", [begin(), finding("known"), ran(known=1), end()], 0, ["known", "ACL-5"]),
    ("expected", [begin(), finding("expected", "LEG-6", "legacy"), ran("legacy"), end()], 0,
     ["as its scenario expects", "LEG-6"]),
    ("one run, expected", [begin("run"), finding("expected", "LEG-6", "legacy"), end(1)], 1,
     ["as its scenario expects", "LEG-6"]),
    ("broken", [begin(), finding(), ran(new=1), end(1)], 1, ["broken", "ACL-5"]),
    ("broken twice", [begin(), finding(), finding(clause="ACL-21"), ran(new=2), end(1)], 1,
     ["ACL-5", "ACL-21"]),
    ("broken, and the status denies it", [begin(), finding(), ran(new=1), end(0)], 1, ["ACL-5"]),
    ("broken in a scenario line alone", [begin(), ran(new=1), end(0)], 1, ["no line says which"]),
    ("broken, no clause", [begin("wire"), finding(clause=""), end(1)], 1, ["tree-3-"]),
    ("planted and caught", [begin(), *CAUGHT, end(1)], 1, ["early-ack breaks ACL-5"]),
    ("planted, caught, expected", [begin(expects_finding=True), *CAUGHT, end(0)], 0,
     ["early-ack breaks ACL-5", "--expect-finding"]),
    ("planted, caught, known", [begin(), finding("known", again=BUG), ran(sabotage="early-ack"),
                                end(0)], 0, ["early-ack breaks ACL-5"]),
    # (EV7)
    ("planted and survived", [begin(), ran(sabotage="early-ack"), end(0)], 4,
     ["survived", "early-ack"]),
    ("planted, survived, expected", [begin(expects_finding=True), ran(sabotage="early-ack"),
                                     end(1)], 4, ["survived", "early-ack"]),
    ("a hunt", [begin("sabotage"), sabotage("early-ack", "found"), end(0)], 0, []),
    ("a survivor of a hunt", [begin("sabotage"), sabotage("early-ack", "SURVIVED"),
                              summary(survived=1), end(4)], 4, ["survived", "early-ack"]),
    ("a hunt that was interrupted", [begin("sabotage"), sabotage("early-ack", "found"),
                                     summary(planned=9, interrupted=True), end(4)], 4,
     ["interrupted", "sabotage"]),
    ("a finding is expected, and none made", [begin(expects_finding=True), ran(), end(1)], 1,
     ["a finding was expected"]),
    ("a failed suite", FAILED_SUITE, 1, ["test_chaos"]),
    ("a failed suite, and the status denies it", FAILED_SUITE[:-1] + [end(0)], 1, ["test_chaos"]),
    ("gates", GATES, 4, ["gate one", "gate two"]),
    ("gates, and the status denies it", GATES[:-1] + [end(0)], 4, ["gate one"]),
    ("interrupted", [begin(), ran(), summary(interrupted=True), end(4)], 4, ["by a signal"]),
    ("interrupted sweep", [begin("sweep"), {"type": "sweep", "scenario": "tree-3", "runs": 2,
                           "complete": False}, end(4)], 4, ["interrupted"]),
    ("bounded search", [begin("explore"), {"type": "explore", "scenario": "tree-7", "runs": 1,
                        "complete": False}, end(4)], 4, ["bound", "tree-7"]),
    ("out of time on PostgreSQL", [begin("real"), {"type": "real", "scenario": "tree-3", "runs": 3,
                                   "late": 1, "status": 4}, end(4)], 4, ["ran out of time"]),
    ("missing shard", PASSING + [begin("merge"), {"type": "shards", "missing": ["8/8 of it"],
                                 "doubled": [], "foreign": []}, end(4)], 4, ["8/8 of it"]),
    ("foreign shard", PASSING + [begin("merge"), {"type": "shards", "missing": [], "doubled": [],
                                 "foreign": ["3/8 is of another build"]}, end(4)], 4,
     ["3/8 is of another build"]),
    ("doubled shard", PASSING + [begin("merge"), {"type": "shards", "missing": [],
                                 "doubled": ["3/8 of it"], "foreign": []}, end(0)], 0,
     ["3/8 of it"]),
    ("two builds", PASSING + [begin(binary_hash="12" * 32)] + PASSING[1:], 4, ["different builds"]),
    ("nothing ran", [begin(), end()], 4, ["nothing ran"]),
    ("no run counted", [begin(), ran(runs=0), end()], 4, ["nothing ran"]),
    ("one of two ran nothing", PASSING + [begin("sweep"), end()], 4, ["nothing ran", "sweep"]),
    ("killed before anything", [begin()], 4, ["killed half-way"]),
    ("killed", PASSING[:-1], 4, ["killed half-way"]),
    ("killed with a finding", [begin(), finding(), ran(new=1)], 1, ["ACL-5", "killed half-way"]),
    ("killed with a planted bug", [begin(), *CAUGHT], 1, ["early-ack breaks", "killed half-way"]),
    ("not deterministic", [begin(), ran(), summary(deterministic=False), end(3)], 3,
     ["deterministic"]),
    ("no progress", [begin("explore"), {"type": "explore", "scenario": "x", "runs": 1}, end(2)], 2,
     ["no progress"]),
    ("PostgreSQL differs", [begin("conform"), {"type": "difference", "seed": 7, "what": "a wait"},
                            summary(differences=1), end(1)], 1, ["PostgreSQL does otherwise"]),
    ("a planted error that no script shows", [begin("conform"), {"type": "error", "name": "no-wait",
                                              "seeds": 0}, end(4)], 4, ["survived", "no-wait"]),
    ("an earlier finding came back", [begin(), ran(), {"type": "regressions", "replayed": 5,
                                      "broken": 1}, end(1)], 1, ["came back"]),
    ("no server", [begin("real"), end(69)], 69, ["not available"]),
    ("a bug in Assay", [begin(), ran(), end(70)], 70, ["a bug in Assay"]),
    ("broken and a failed suite", [begin(), finding(), ran(new=1), end(1)] + FAILED_SUITE, 1,
     ["ACL-5", "test_chaos"]),
    ("gates and a survivor", GATES + [begin(), ran(sabotage="early-ack"), end(0)], 4,
     ["gate one", "early-ack"]),
    # (VE1) what says most is the status
    ("broken, gates, killed", [begin(), finding(), ran(new=1), end(1)] + GATES + [begin()], 1,
     ["ACL-5", "gate two", "killed half-way"]),
    ("everything", [begin(), finding(), ran(new=1), end(1)] + FAILED_SUITE + GATES
     + [begin(), ran(sabotage="early-ack"), end(0), begin("explore"), end(2)], 1,
     ["ACL-5", "test_chaos", "gate one", "early-ack", "no progress"]),
]

# arguments, status, what must be named
VERBS = [
    (["run", "tree-3", "--seed", "1"], 0, []),
    (["run", "tree-3", "--seed", "2", "--sabotage", "trust-stale-read"], 1, ["ACL-16"]),
    (["run", "tree-3", "--seed", "2", "--sabotage", "trust-stale-read", "--expect-finding"], 0,
     ["trust-stale-read breaks ACL-16"]),
    (["run", "tree-3", "--seed", "1", "--sabotage", "trust-stale-read"], 4, ["trust-stale-read"]),
    (["run", "legacy-replay", "--seed", "16"], 1, ["LEG-6"]),
    (["run", "tree-3", "--seed", "1", "--expect-finding"], 1, ["a finding was expected"]),
    (["campaign", "tree-3", "--seeds", "200", "--no-regressions"], 0, []),
    (["campaign", "seq-illegal", "--seeds", "64", "--no-regressions"], 4, ["illegal move"]),
    (["campaign", "chain-4", "--seeds", "64", "--sabotage", "ceiling-race"], 4, ["ceiling-race"]),
    (["campaign", "tree-3", "--seeds", "200", "--sabotage", "lost-snapshot"], 1, ["ACL-21"]),
    (["sweep", "tree-3", "--seed", "1"], 0, []),
    (["sweep", "tree-3", "--seed", "1", "--sabotage", "job-state-first"], 1, ["ACL-30"]),
    (["explore", "peer-3"], 0, []),
    (["explore", "peer-3", "--sabotage", "lost-snapshot"], 1, ["ACL-21"]),
    (["explore", "tree-7", "--crashes", "3", "--memory", "4M"], 4, ["tree-7"]),
    (["sabotage", "lost-snapshot"], 0, []),
    (["sabotage", "lost-snapshot", "--schedules", "1", "--without", "ACL-21", "--without",
      "ACL-30"], None, []),
]
SERVER_VERBS = [
    (["real", "tree-3", "--no-faults"], 0, []),
    (["real", "tree-3", "--no-faults", "--sabotage", "unbundled-step2"], 1, ["unbundled-step2"]),
    (["real", "tree-3", "--no-faults", "--sabotage", "unbundled-step2", "--expect-finding"], 0,
     ["unbundled-step2"]),
    (["real", "tree-3", "--dsn", "host=/nonexistent"], 69, []),
    (["sabotage", "dimension-from-counter", "--real"], 4, ["dimension-from-counter"]),
    (["conform", "tree-3", "--seeds", "1"], 0, []),
]


def read(folder, name):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return file.read()


def failed_cases(folder):
    suites = ElementTree.fromstring(read(folder, "junit.xml"))
    return sum(len(suites.findall(f".//{kind}")) for kind in ("failure", "error"))


HEADLINE = r"""
// What people see at the top of a page: its title, and the first section, as text.
const { readFileSync } = require('fs'), vm = require('vm');
const node = (tag) => ({ tag, children: [], setAttribute(name, value) { this[name] = value; }, addEventListener() {},
    append(...made) { this.children.push(...made); },
    get text() { return this.children.map((child) => (typeof child === 'object' ? child.text : String(child))).join(''); } });
const document = { createElement: node, createElementNS: (space, tag) => node(tag) }; // and nothing to draw on
for (const folder of process.argv.slice(1)) {
    const page = readFileSync(`${folder}/report.html`, 'utf8');
    const [, code] = page.match(/<script type="module">([^]*?)<\/script>/);
    const [, data] = page.match(/id="data">([^]*?)<\/script>/);
    const context = vm.createContext({ document, Intl, URLSearchParams });
    try { vm.runInContext(code, context); } catch (error) { if (!/getElementById/.test(error.message)) throw error; }
    const made = vm.runInContext(`verdictSection(${data})`, context);
    const all = [made, ...made.children];
    console.log(JSON.stringify({ folder, look: made.class, headline: all.find((one) => one.tag === 'h1').text, text: made.text }));
}
"""
JUDGED = {}  # folder: situation, status, reasons


def headlines():
    """The headline of every page, as the script of the page writes it."""
    if shutil.which("node") is None:
        print("SKIPPED: the headlines of the pages: there is no node")
        return
    made = subprocess.run(["node", "-e", HEADLINE, *JUDGED], capture_output=True, text=True, check=False)
    check(made.returncode == 0, f"headlines: {made.stderr[-600:]}")
    pages = [json.loads(line) for line in made.stdout.splitlines()]
    check(len(pages) == len(JUDGED), f"{len(pages)} headlines of {len(JUDGED)} pages")
    for page in pages:
        name, status, reasons = JUDGED[page["folder"]]
        green = page["look"] == "verdict held"
        check(green == (status == 0), f"{name}: the page looks {page['look']}, and the status is {status}")
        check("every promise held" not in page["text"].lower() or status == 0, f"{name}: {page['headline']}")
        check(f"Exit status {status}" in page["text"], f"{name}: the page has another status: {page['text'][:300]}")
        for reason in reasons:
            check(reason.lower() in page["text"].lower(), f"{name}: the page does not name '{reason}'")


def page_data(page):
    """The JSON that the page shows."""
    text = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.S)
    return json.loads(text.group(1).replace("\\u003c", "<")) if text else None


def outputs(folder, name, status):
    """Every output of a folder: what it is called, its status as far as it has one, and its text."""
    ended, terminal, _ = assay("report", folder)
    yield "terminal", ended, terminal
    report = json.loads(read(folder, "report.json"))
    yield "report.json", report["verdict"]["status"], json.dumps(report["verdict"])
    check(report["verdict"]["covered"]["of"] == CLAUSES, f"{name}: of {report['verdict']['covered']}")
    page = page_data(read(folder, "report.html"))
    check(page is not None and page["verdict"] == report["verdict"], f"{name}: the page's verdict")
    yield "summary.md", None, read(folder, "summary.md")
    check((failed_cases(folder) > 0) == (status != 0), f"{name}: junit.xml has {failed_cases(folder)} "
          f"failures and the status is {status}")
    yield "junit.xml", None, read(folder, "junit.xml").replace("&gt;", ">")
    ended, text, _ = assay("report", folder, "--as", "ctrf")
    ctrf = json.loads(text)["results"]
    check((ctrf["summary"]["failed"] > 0) == (status != 0), f"{name}: CTRF {ctrf['summary']}")
    yield "ctrf", ended, text
    ended, text, _ = assay("report", folder, "--as", "github")
    check(("::error " in text or "::warning " in text) == (status != 0), f"{name}: {text}")
    yield "github", ended, text
    ended, text, _ = assay("report", folder, "--as", "openmetrics")
    check(f"\nassay_status {status}\n" in text, f"{name}: OpenMetrics has another status")
    yield "openmetrics", ended, text
    if name not in ("two builds",):
        ended, text, _ = assay("report", folder, "--as", "in-toto")
        # (FO1)
        passed = json.loads(text)["predicate"]["result"] == "PASSED"
        check(passed == (status == 0), f"{name}: in-toto says passed: {passed}")
        yield "in-toto", ended, text
    signed, _, _ = assay("report", folder, "--sign-off")
    check(signed != 0, f"{name}: a part is signed as the whole")
    check(status in (0, 4) or signed == status, f"{name}: sign-off ends with {signed}")
    page = read(folder, "sign-off.md")
    check(("FAIL** tests" in page) == ("failed suite" in [one["kind"] for one in report["verdict"]["reasons"]]),
          f"{name}: sign-off.md and its failed suites")
    check(page.startswith("# Sign-off\n\n**Not "), f"{name}: sign-off.md begins with {page[:60]}")
    yield "sign-off.md", None, page
    ended, text, _ = assay("merge", folder, "--out", f"{folder}-merged")
    yield "merge", ended, text


def judge(folder, name, status, reasons):
    JUDGED[folder] = name, status, reasons
    for what, ended, text in outputs(folder, name, status):
        check(ended in (None, status), f"{name}: {what} has status {ended}, wanted {status}")
        # (VE2)
        for reason in reasons:
            plain = status == 0 and what in ("junit.xml", "ctrf", "in-toto", "github")
            check(plain or reason in text, f"{name}: {what} does not name '{reason}'")
        held = "every promise held" in text
        check(not held or status == 0, f"{name}: {what} says that every promise held")


def of_lines(number, name, lines, status, reasons):
    folder = f"lines-{number}"
    os.mkdir(folder)
    with open(f"{folder}/results.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    judge(folder, name, status, reasons)


def of_verb(number, words, status, reasons):
    folder, name = f"verb-{number}", " ".join(words)
    ended, _, said = assay(*words, "--out", folder)
    alone, _, said_alone = assay(*words)
    check(status in (None, ended), f"{name}: status {ended}, wanted {status}: {said}")
    check(alone == ended, f"{name}: status {alone} without --out, {ended} with it")
    check(said_alone == said, f"{name}: says {said_alone!r} without --out, {said!r} with it")
    check((said != "") == (ended != 0), f"{name}: status {ended}, and says {said!r}")
    for reason in reasons:
        check(ended == 0 or reason in said, f"{name}: does not say {reason}: {said}")
    judge(folder, name, ended, reasons)


def killed_anywhere():
    """The lines of verbs, cut behind each of them: never green before the last. A part of a line is refused."""
    for verb in (7, 8, 10, 12, 14, 16):
        lines = read(f"verb-{verb}", "results.jsonl").splitlines()
        for count in sorted({*range(1, min(6, len(lines))), len(lines) - 1}):
            folder = f"killed-{verb}-{count}"
            os.mkdir(folder)
            with open(f"{folder}/results.jsonl", "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines[:count])
            found = any(json.loads(line)["type"] == "finding" for line in lines[:count])
            judge(folder, folder, 1 if found else 4, ["killed half-way"])
            with open(f"{folder}/results.jsonl", "a", encoding="utf-8") as file:
                file.write(lines[count][:40])
            ended, text, _ = assay("report", folder)
            check(ended == 64 and text == "", f"{folder}, in the middle of a line: {ended}")


def on_a_server():
    """Verbs that need PostgreSQL, if there is one."""
    if assay("real", "tree-3", "--no-faults")[0] == 69:
        print("SKIPPED: verbs on PostgreSQL: there is none")
        return
    for index, (arguments, wanted, named) in enumerate(SERVER_VERBS, 100):
        of_verb(index, arguments, wanted, named)


for index, (case, of, wanted, named) in enumerate(LINES):
    of_lines(index, case, of, wanted, named)
for index, (arguments, wanted, named) in enumerate(VERBS):
    of_verb(index, arguments, wanted, named)
killed_anywhere()
on_a_server()
headlines()
print(f"{len(LINES) + len(VERBS)} situations, {checks} checks, {len(failures)} failures")
for failure in failures[:60]:
    print("FAILED:", failure[:400])
sys.exit(len(failures) > 0)
