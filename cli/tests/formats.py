#!/usr/bin/python3
"""What tools of others read: each format is read as its specification has it, by a reader of the
tool where Debian has one.

usage: formats.py ASSAY [FOLDER]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

ASSAY = os.path.abspath(sys.argv[1])
SCRATCH = tempfile.TemporaryDirectory()
os.chdir(sys.argv[2] if len(sys.argv) > 2 else SCRATCH.name)
failures, checks = [], 0


def check(holds, text):
    global checks
    checks += 1
    if not holds:
        failures.append(text)


def assay(wanted, *words):
    made = subprocess.run([ASSAY, *words], capture_output=True, text=True, check=False)
    check(made.returncode == wanted, f"{words}: status {made.returncode}, wanted {wanted}: {made.stderr}")
    return made.stdout


def run(*words, **more):
    return subprocess.run(words, capture_output=True, check=False, **more).returncode


assay(0, "campaign", "tree-3", "legacy-replay", "--seeds", "200", "--no-regressions", "--out", "held")
assay(4, "campaign", "seq-illegal", "--seeds", "64", "--no-regressions", "--out", "gates")
assay(1, "campaign", "tree-3", "--sabotage", "trust-stale-read", "--no-regressions", "--out", "broken")
FOLDERS = {"held": 0, "gates": 4, "broken": 1}


# ---- GitHub: ten of a kind are shown, and the last says how many more there are ----
def annotations(text):
    shape = re.compile(r"::(error|warning|notice) title=([^:,]*)::(.*)")
    matches = [shape.fullmatch(line) for line in text.splitlines()]
    check(all(matches), f"GitHub reads no annotation of: {text[:300]}")
    return [match.groups() for match in matches if match]


for name, status in FOLDERS.items():
    found = annotations(assay(status, "report", name, "--as", "github"))
    for level in ("error", "warning", "notice"):
        check(sum(one[0] == level for one in found) <= 10, f"{name}: more than 10 of {level}")
gates = len(json.load(open("gates/report.json", encoding="utf-8"))["verdict"]["reasons"])
warnings = [one for one in annotations(assay(4, "report", "gates", "--as", "github"))
            if one[0] == "warning"]
check(len(warnings) == 10, f"{len(warnings)} warnings of {gates} gates, wanted 10")
# 9 of them are told: the verdict, and 8 gates
check(warnings[-1][2] == f"and {gates - 8} more", f"the last says {warnings[-1]}, of {gates} gates")
check("%0Aassay run tree-3" in assay(1, "report", "broken", "--as", "github"), "a line break is none")

# ---- a summary for a pull request: GitHub takes 1 MiB ----
with open("large.jsonl", "w", encoding="utf-8") as large:
    large.write('{"type":"begin","verb":"campaign","command":"c"}\n')
    for i in range(600):
        gate = {"type": "summary", "gates": [f"gate {i} " + "x" * 200], "seeds": 1}
        line = {"type": "scenario", "scenario": f"s{i}", "runs": 1}
        large.write(json.dumps(gate) + "\n" + json.dumps(line) + "\n")
    large.write('{"type":"end","status":4}\n')
os.mkdir("large")
shutil.move("large.jsonl", "large/results.jsonl")
assay(4, "report", "large")
size = os.path.getsize("large/summary.md")
check(1000 < size < 1 << 20, f"a summary of {size} bytes")

# ---- CTRF ----
for name, status in FOLDERS.items():
    ctrf = json.loads(assay(status, "report", name, "--as", "ctrf"))
    results = ctrf["results"]
    summary, tests = results["summary"], results["tests"]
    check(ctrf["reportFormat"] == "CTRF" and re.fullmatch(r"\d+\.\d+\.\d+", ctrf["specVersion"]),
          f"{name}: no CTRF")
    check(results["tool"]["name"] == "assay", f"{name}: of another tool")
    states = ["passed", "failed", "skipped", "pending", "other"]
    for state in states:
        check(summary[state] == sum(test["status"] == state for test in tests), f"{name}: {state}")
    check(summary["tests"] == len(tests) == sum(summary[state] for state in states), f"{name}: tests")
    check(0 < summary["start"] <= summary["stop"], f"{name}: {summary}")
    for test in tests:
        check(set(test) <= {"name", "status", "duration", "suite", "message"} and test["name"] != ""
              and isinstance(test["duration"], int), f"{name}: {test}")
        check(isinstance(test["suite"], list) and test["suite"] != [] and
              all(isinstance(part, str) for part in test["suite"]), f"{name}: suite of {test}")

# ---- OpenMetrics ----
for name, status in FOLDERS.items():
    text = assay(status, "report", name, "--as", "openmetrics")
    check(text.endswith("# EOF\n") and text.count("# EOF") == 1, f"{name}: no end")
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    shape = re.compile(r'assay_[a-z_]+(\{([a-z]+="(\\.|[^"\\])*",?)+\})? \d+')
    check(all(shape.fullmatch(line) for line in samples), f"{name}: a sample is none")
    check(len({line.rsplit(" ", 1)[0] for line in samples}) == len(samples), f"{name}: twice")
    if text_string_to_metric_families is not None:
        families = {family.name: family for family in text_string_to_metric_families(text)}
        check(families["assay_status"].samples[0].value == status, f"{name}: another status")
        check(families["assay_evaluations"].type == "counter", f"{name}: no counter")

# ---- in-toto: a statement about the program, signed by tools of Debian ----
program = subprocess.run(["sha256sum", ASSAY], capture_output=True, text=True, check=True).stdout[:64]
for name, status in FOLDERS.items():
    text = assay(status, "report", name, "--as", "in-toto")
    statement = json.loads(text)
    check(statement["_type"] == "https://in-toto.io/Statement/v1", f"{name}: no statement")
    check(statement["subject"] == [{"name": "assay", "digest": {"sha256": program}}], f"{name}: subject")
    check(statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1", name)
    predicate = statement["predicate"]
    check(predicate["result"] == ("PASSED" if status == 0 else "FAILED"), f"{name}: {predicate['result']}")
    for part in predicate["configuration"]:
        check(set(part) <= {"name", "digest", "annotations"} and len(part["digest"]["sha256"]) == 64,
              f"{name}: {part}")
    digest = subprocess.run(["sha256sum", f"{name}/results.jsonl"], capture_output=True, text=True,
                            check=True).stdout[:64]
    check(predicate["configuration"][0]["digest"]["sha256"] == digest, f"{name}: results.jsonl")
    for key in ("passedTests", "warnedTests", "failedTests"):
        check(all(isinstance(one, str) for one in predicate[key]), f"{name}: {key}")
    check((len(predicate["failedTests"]) > 0) == (status != 0), f"{name}: failedTests")
    with open("statement.json", "w", encoding="utf-8") as file:
        file.write(text)
if shutil.which("ssh-keygen"):
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key")
    check(run("ssh-keygen", "-Y", "sign", "-f", "key", "-n", "file", "statement.json") == 0, "signing")
    with open("key.pub", encoding="utf-8") as key, open("signers", "w", encoding="utf-8") as signers:
        signers.write("me " + key.read())
    verify = ["ssh-keygen", "-Y", "verify", "-f", "signers", "-I", "me", "-n", "file", "-s",
              "statement.json.sig"]
    with open("statement.json", "rb") as file:
        check(run(*verify, stdin=file) == 0, "a signature that is right is refused")
    with open("statement.json", "ab") as file:
        file.write(b" ")
    with open("statement.json", "rb") as file:
        check(run(*verify, stdin=file) != 0, "a statement that was changed is taken")

# ---- SPDX ----
document = json.loads(assay(0, "report", "held", "--as", "spdx"))
check(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", "no SPDX")
check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), "created")
ids = [package["SPDXID"] for package in document["packages"]]
check(len(set(ids)) == len(ids), "two packages have one id")
for package in document["packages"]:
    check(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]), package["SPDXID"])
    check(len(package["checksums"][0]["checksumValue"]) == 64, package["name"])
check(document["packages"][0]["checksums"][0]["checksumValue"] == program, "of another program")
loaded = subprocess.run(["ldd", ASSAY], capture_output=True, text=True, check=True).stdout
for library in re.findall(r"=> (/\S+)", loaded):
    check(os.path.basename(os.path.realpath(library)) in [one["name"] for one in document["packages"]],
          f"{library} is not in the bill of materials")
for relation in document["relationships"]:
    check(relation["spdxElementId"] in ids + ["SPDXRef-DOCUMENT"]
          and relation["relatedSpdxElement"] in ids, f"{relation}")

# ---- a finding, step by step ----
FINDING = "tree-3-ACL-16-ledger"
with open(f"broken/findings/{FINDING}/finding.json", encoding="utf-8") as file:
    shrunk = json.load(file)["schedules"]["shrunk"]
itf = json.loads(assay(1, "report", "broken", "--as", "itf", "--finding", FINDING))
check(itf["#meta"]["format"] == "ITF" and len(itf["states"]) == len(shrunk["events"]) + 1, "ITF")
for index, state in enumerate(itf["states"]):
    check(state["#meta"]["index"] == index and state["step"] == {"#bigint": str(index)}, f"state {index}")
    check(set(itf["vars"]) == set(state) - {"#meta"}, f"state {index} has other variables")
    for variable, values in (("numbers", dict), ("words", str)):
        for pair in state[variable]["#map"]:
            check(len(pair) == 2 and isinstance(pair[1], values), f"state {index}: {pair}")
            check(values is str or re.fullmatch("0|[1-9][0-9]*", pair[1]["#bigint"]), f"{pair}")
last = dict(itf["states"][-1]["numbers"]["#map"])
check(last["GUID ledger of trigger: ledger"] == {"#bigint": "20000000001"}, f"the breach: {last}")

trace = json.loads(assay(1, "report", "broken", "--as", "perfetto", "--finding", FINDING))
events = trace["traceEvents"]
check({event["ph"] for event in events} == {"M", "X", "i", "s", "f"}, "kinds of trace events")
lanes = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
check(list(lanes.values()) == shrunk["lanes"], f"lanes {lanes}")
for event in events:
    check(event["tid"] in lanes and event["pid"] == 1, f"{event}")
    check(event["ph"] == "M" or event["ts"] > 0, f"{event}")
check(sum(event["ph"] == "X" for event in events) == len(shrunk["events"]), "steps")
check([event["name"] for event in events if event["ph"] == "i"] == ["breaks ACL-16"], "the breach")
starts = {event["id"] for event in events if event["ph"] == "s"}
check({event["id"] for event in events if event["ph"] == "f"} <= starts, "a flow without a beginning")

# ---- bad input ----
assay(64, "report", "broken", "--as", "itf")
assay(64, "report", "broken", "--as", "itf", "--finding", "none")
assay(64, "report", "broken", "--as", "ctrf", "--finding", FINDING)
assay(64, "report", "broken", "--finding", FINDING)
assay(64, "report", "broken", "--as", "pdf")

print(f"{checks} checks, {len(failures)} failures")
for failure in failures[:40]:
    print("FAILED:", failure[:400])
sys.exit(len(failures) > 0)
