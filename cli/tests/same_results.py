#!/usr/bin/python3
"""Says whether two files of JSON lines are field for field the same, but for times, hosts and the
folders of their commands: same_results.py ONE OTHER."""
import json
import re
import sys

TIMES_AND_HOSTS = {"seconds", "made", "system", "seeds_per_second", "steps_per_second"}


def rates(value):
    """A figure of throughput is a time, too."""
    return isinstance(value, dict) and str(value.get("unit", "")).endswith("/s")


def without_times(value):
    if rates(value):
        return {"name": value["name"], "unit": value["unit"]}
    if isinstance(value, dict):
        return {
            key: re.sub(r" --(out|shard|jobs) \S+", "", part) if key == "command" else without_times(part)
            for key, part in value.items()
            if key not in TIMES_AND_HOSTS
        }
    if isinstance(value, list):
        return [without_times(part) for part in value]
    return value


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [without_times(json.loads(line)) for line in file]


one, other = lines(sys.argv[1]), lines(sys.argv[2])
if len(one) != len(other):
    sys.exit(f"{len(one)} lines and {len(other)}")
for number, (first, second) in enumerate(zip(one, other), 1):
    for key in sorted(set(first) | set(second)):
        if first.get(key) != second.get(key):
            sys.exit(f"line {number}, {key}: {first.get(key)!r:.300} and {second.get(key)!r:.300}")
