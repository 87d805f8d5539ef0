#!/bin/sh
# Runs at the limits of scenarios/README.md end, in time that grows about as their size, and say how
# far they are.
#
# usage: limits.sh ASSAY SOURCE_DIR
set -u
assay=$1 source=$2
. "$(dirname "$0")/check.sh"
cd "$scratch" || exit 1
: >out && : >err
# The scenario with so many jobs.
large() { # scenario, jobs
    { grep -v '^jobs:' "$source/scenarios/$1.yaml" && echo "jobs: $2"; } >"$1-$2.yaml"
}

# ---- the largest ----
# Processor time, in seconds, is several times what a release build takes, and a small part of what it
# takes if each step looks at all jobs.
while read -r seconds scenario jobs; do
    large "$scenario" "$jobs"
    checks=$((checks + 1))
    last="assay run $scenario with $jobs jobs"
    (ulimit -t "$seconds" && "$assay" run "./$scenario-$jobs.yaml" --seed 1 >out 2>err) ||
        fail "$last does not end well within $seconds s of processor time"
    says 'every promise held'
done <<'END'
40 tree-3 10000
40 inbox 10000
40 quick-fox 4000
40 legacy 4000
40 seq 4000
40 cycle 2000
40 pipeline 1000
END
printf 'name: binary\ngraph: {binary: 10}\njobs: 128\n' >binary.yaml
checks=$((checks + 1)) last="assay run of 128 jobs of 1023 activities"
(ulimit -t 60 && "$assay" run ./binary.yaml --seed 1 >out 2>err) || fail "$last does not end within 60 s"
says 'every promise held'
printf 'name: binary\ngraph: {binary: 10}\njobs: 129\n' >more.yaml
bad 'all jobs together make at most 131072' run ./more.yaml --seed 1

# ---- about as its size: instructions, of which there are as many on every machine ----
instructions() { # scenario, jobs
    large "$1" "$2"
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$assay" run "./$1-$2.yaml" --seed 1 2>&1 |
        sed -n 's/.*Collected : //p'
}
grows() { # scenario, jobs, percent for four times as many that are too much
    few=$(instructions "$1" "$2") many=$(instructions "$1" $(($2 * 4)))
    checks=$((checks + 1)) last="assay run $1 with $2 jobs"
    [ "${few:-0}" -gt 0 ] && [ $((100 * many / few)) -lt "$3" ] ||
        fail "$last takes $few instructions, with four times as many jobs $many"
}
if command -v valgrind >/dev/null && valgrind "$assay" list faults >/dev/null 2>&1; then
    grows legacy 1000 700
else
    echo "SKIPPED: instructions of large runs are not counted: there is no valgrind"
fi

# ---- and says how far it is ----
if command -v script >/dev/null; then
    checks=$((checks + 1)) last="assay run on a terminal"
    script -qec "'$assay' run ./tree-3-10000.yaml --seed 1 >/dev/null" /dev/null </dev/null >out 2>err
    grep -q '[0-9] steps, [0-9]* steps/s' out || fail "no live line on a terminal"
fi

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
