#!/usr/bin/python3
"""Proves that generic code names no protocol: lists every place where it names a bundle, a table, a
column, a primitive, a description or a header of one. There must be none but in the files of
names.list, which says why; an entry that is not needed any more is an error.

usage: names.py SOURCE_DIR

The names come from the lists themselves: bundles.def, rows.h, the primitives of each protocol and
protocols.def. Names of the queue, which every protocol may have, are no protocol's.

A file belongs to a protocol, and may name it, if its name begins with that of the protocol, as
protocols.def has it, or of a data type of its (TYPES). The lists that have all protocols in them are
registries (REGISTRIES)."""
import pathlib
import re
import sys

LAYERS = "model faults scenarios sim real reports verify bench cli".split()
TYPES = "key ledger semaphore".split()  # of one protocol, or of some: no generic code either
REGISTRIES = {
    "model/rows.h": "every table and its columns",
    "model/protocol.c": "the descriptions of protocols.def",
    "real/parts.c": "the parts of all protocols on PostgreSQL",
    "sim/part.c": "the parts of protocols.def, and those that are one line",
    "sim/scopes.c": "the smallest scenarios of every protocol",
    "scenarios/drawn.c": "a generator of scenarios a protocol",
}
QUEUE = {
    "BUNDLE": "CLAIM EXTEND ACK PUT_BACK".split(),
    "TABLE": ["MESSAGE"],
    "PRIMITIVE": "CLAIM CLAIM_NEXT EXTEND ACK PUT_BACK PUBLISH".split(),
}
HEADERS = re.compile(r'#include "model/(\w+\.h)"')


def code(text):
    """Without comments; lines stay where they are."""
    blank = lambda match: "\n" * match[0].count("\n")
    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)


def protocols(source):
    return re.findall(r"^PROTOCOL\((\w+)", (source / "model" / "protocols.def").read_text(), re.M)


def own(source):
    """Matches the name of a file that is a protocol's."""
    return re.compile(r"^(seen_|expected_)?(%s)([_.]|$)" % "|".join(protocols(source) + TYPES))


def names(source):
    """What no generic code may say."""
    model = source / "model"
    found = set()
    for bundle in re.findall(r"^BUNDLE\((\w+)", (model / "bundles.def").read_text(), re.M):
        found.add(("BUNDLE", bundle))
    for path in sorted(model.glob("*_primitives.def")):
        for primitive in re.findall(r"^(?:PRIMITIVE|ONE_STATEMENT)\((\w+)", path.read_text(), re.M):
            found.add(("PRIMITIVE", primitive))
    rows = code((model / "rows.h").read_text())
    tables = re.findall(r"\bTABLE_(\w+)\b", re.search(r"enum row_table \{(.*?)\}", rows, re.S)[1])
    found |= {("TABLE", table) for table in tables if table != "COUNT"}
    words = {f"{kind}_{name}" for kind, name in found if name not in QUEUE[kind]}
    for column, body in re.findall(r"enum (\w+)_column \{(.*?)\}", rows, re.S):
        if column != "message":
            words |= set(re.findall(r"\b([A-Z][A-Z0-9_]+)\b", body))
    for protocol in protocols(source):
        words |= {f"protocol_{protocol}", f"PROTOCOL_{protocol.upper()}"}
    sets = {f"TABLE_SET({table})" for table in tables if table not in QUEUE["TABLE"] + ["COUNT"]}
    return words, sets


def places(text, words, sets, ours):
    """Line numbers and what is named there."""
    for number, line in enumerate(code(text).split("\n"), 1):
        said = [word for word in re.findall(r"\w+", line) if word in words]
        said += [one for one in re.findall(r"TABLE_SET\(\w+\)", line) if one in sets]
        said += [header for header in HEADERS.findall(line) if ours.match(header)]
        for word in said:
            yield number, word


PLANTED = """/* BUNDLE_CREATE in a comment is fine, */ BUNDLE_CLAIM, TABLE_MESSAGE, TABLE_SET(MESSAGE)
BUNDLE_CREATE TABLE_JOB TABLE_SET(GUID)
protocol_seq JOB_SEMAPHORE PRIMITIVE_COLLATE
#include "model/flow.h"
"""


def notices(words, sets, ours):
    """It finds what it must, and nothing else."""
    return [number for number, _ in places(PLANTED, words, sets, ours)] == [2, 2, 2, 3, 3, 3, 4]


def exceptions(path):
    """By file: why it may."""
    listed = {}
    for line in path.read_text().split("\n"):
        if line and not line.startswith("#"):
            file, reason = line.split(None, 1)
            listed[file] = reason
    return listed


def main():
    source = pathlib.Path(sys.argv[1])
    words, sets = names(source)
    ours = own(source)
    listed = exceptions(pathlib.Path(__file__).with_name("names.list"))
    needed, wrong, files = set(), 0, 0
    for layer in LAYERS:
        for path in sorted((source / layer).rglob("*.[ch]")):
            file = str(path.relative_to(source))
            if "tests" in path.parts or ours.match(path.name) or file in REGISTRIES:
                continue
            files += 1
            for number, word in places(path.read_text(), words, sets, ours):
                needed.add(file)
                if file not in listed:
                    print(f"{file}:{number}: {word}: generic code names a protocol")
                    wrong += 1
    for file in sorted(set(listed) - needed):
        print(f"names.list: {file} names no protocol, or is not there")
        wrong += 1
    print(f"{wrong} places in {files} generic files; {len(listed)} files are listed with a reason")
    return wrong > 0 or files < 100 or not notices(words, sets, ours)


if __name__ == "__main__":
    sys.exit(main())
