#!/bin/sh
# Shards that are merged are the campaign that they are parts of, field for field; what is missing,
# doubled, foreign or half-written is named.
#
# usage: shards.sh ASSAY SOURCE_DIR
set -u
assay=$1 source=$2
. "$source/cli/tests/check.sh"
cd "$scratch" || exit 1
same() { # file, other file
    checks=$((checks + 1))
    /usr/bin/python3 "$source/cli/tests/same_results.py" "$1" "$2" >"$scratch/out" 2>"$scratch/err" ||
        fail "$1 and $2 differ"
}
# Two folders say the same, but for times and hosts: lines, page, cases, findings.
same_folders() {
    same "$1/results.jsonl" "$2/results.jsonl"
    same "$1/report.json" "$2/report.json"
    for folder in "$1" "$2"; do
        sed -E 's/ --(out|jobs) [^ "&]+//g; s/ time[a-z]*="[^"]*"//g' "$folder/junit.xml" >"$folder.cases"
        grep -v 'seeds/s' "$folder/summary.md" | sed -E 's/ --(out|jobs) [^ `]+//g' >"$folder.summary"
    done
    cmp -s "$1.cases" "$2.cases" || fail "junit.xml of $1 and $2 differ"
    cmp -s "$1.summary" "$2.summary" || fail "summary.md of $1 and $2 differ"
    diff -r "$1/findings" "$2/findings" >"$scratch/out" 2>&1 || [ ! -d "$1/findings" ] ||
        fail "the findings of $1 and $2 differ"
}
# parted STATUS NAME SHARDS VERB ARGUMENT...: the whole and its shards, merged in a random order.
parted() {
    wanted=$1 name=$2 shards=$3
    shift 3
    run "$wanted" "$@" --out "$name"
    for k in $(seq "$shards"); do
        "$assay" "$@" --shard "$k/$shards" --out "$name-$k" >"$scratch/out" 2>&1
    done
    # (CJ1) their order does not matter
    # shellcheck disable=SC2046 # words
    run "$wanted" merge $(seq -f "$name-%.0f" "$shards" | shuf) --out "$name-merged"
    same_folders "$name" "$name-merged"
}
campaign() { # STATUS NAME SHARDS ARGUMENT...
    wanted=$1 name=$2 shards=$3
    shift 3
    parted "$wanted" "$name" "$shards" campaign "$@" --no-regressions
}

campaign 0 held 8 tree-3 legacy-replay drawn-key --seeds 1000
campaign 4 gates 3 seq-illegal inbox --seeds 192 # 192 seeds miss some gates
grep -q '"kind":"gate"' gates-merged/report.json || fail "no gate is missed, so nothing is shown of gates"
campaign 1 broken 5 tree-3 --seeds 1000 --sabotage trust-stale-read
[ -s broken-merged/findings/tree-3-ACL-16-ledger/shrunk.json ] || fail "the merge has no finding"
campaign 4 survived 2 chain-4 --seeds 128 --sabotage ceiling-race
campaign 0 pct 2 tree-3 --seeds 200 --strategy pct --expect-finding --sabotage lost-snapshot

# ---- sweeps: of all points, and up to the first that breaks a promise, whichever shard has it ----
parted 0 swept 3 sweep tree-3 --seed 1 --depth 2
parted 0 many 50 sweep inbox --seed 5 # most have a point or two
parted 0 key 4 sweep quick-fox --seed 7 --depth 2
for seed in 1 2 3; do
    parted 1 "breaks-$seed" 7 sweep tree-3 --seed $seed --depth 2 --sabotage job-state-first
done
[ -s breaks-1-merged/findings/tree-3-ACL-30-ledger/shrunk.json ] || fail "the merged sweep has no finding"
parted 0 wanted 2 sweep tree-3 --seed 1 --sabotage job-state-first --expect-finding
parted 1 at-once 3 sweep tree-3 --seed 2 --sabotage lost-snapshot # without a crash
bad "it is K/N with K from 1 to N" sweep tree-3 --seed 1 --shard 3/2
run 0 report swept-1 --as ctrf
whole_steps() { "$assay" report "$1" --sign-off --json | grep '"id":"sweep"'; }
whole_steps swept-1 | grep -q 'none of protocol activity' || fail "a shard is taken for a whole sweep"

# ---- hunts: planted bugs in turn, found, equivalent and surviving ----
parted 0 hunted 3 sabotage lost-snapshot job-state-first step-2/ read-then-write
parted 0 both 4 sabotage lost-snapshot trust-stale-read early-ack --strategy both
parted 4 survivor 2 sabotage read-then-write lost-snapshot --schedules 2
bad 'exclude each other' sabotage lost-snapshot --shard 1/2 --base-seeds 3
bad 'exclude each other' sabotage lost-snapshot --shard 1/2 --real

# All of them, with every promise by itself: most survive so few schedules.
[ -z "${ASSAY_FULL:-}" ] || parted 4 every 2 sabotage --schedules 3

# odd VERB-NAMES: of the shards NAME-1 ... NAME-3, one that is missing, doubled, of another build, or cut.
odd() { # name, what its command begins with
    run 4 merge "$1-3" "$1-1" --out "$1-two" && says "a shard is missing: 2/3 of $2"
    cp -r "$1-3" "$1-twice" && sed -i 's/"seconds":[0-9.]*/"seconds":9/' "$1-twice/results.jsonl"
    run 0 merge "$1-2" "$1-twice" "$1-1" "$1-3" --out "$1-doubled" && says "a shard is there twice and counts once: 3/3 of $2"
    sed -i 's/"binary_hash":"[0-9a-f]*"/"binary_hash":"0123"/' "$1-twice/results.jsonl"
    run 4 merge "$1-twice" "$1-2" "$1-1" --out "$1-builds" && says 'is of another build'
    mkdir "$1-half" && sed '$d' "$1-2/results.jsonl" >"$1-half/results.jsonl"
    run 4 merge "$1-3" "$1-half" "$1-1" --out "$1-cut" && says '2/3 of ' && says 'which is half-written'
    [ "$1" != served ] || return 0 # whose results are a few lines
    head -n 5 "$1-2/results.jsonl" >"$1-half/results.jsonl" && tail -n 1 "$1-2/results.jsonl" >>"$1-half/results.jsonl"
    run 4 merge "$1-3" "$1-half" "$1-1" --out "$1-gap" && says "the shards of $2"
}
odd swept 'assay sweep tree-3'
odd hunted 'assay sabotage lost-snapshot'

# ---- on PostgreSQL: every seed once, and all sums. Without faults they are those of the whole ----
bad '--gate and --shard exclude each other' real tree-3 --seeds 8 --shard 1/2 --gate
bad 'exclude each other' real tree-3 --shard 1/2 --time 5s
bad 'has no seeds' real tree-3 --seeds 2 --shard 3/4
servers_in_scratch
if "$assay" real tree-3 --no-faults >"$scratch/out" 2>"$scratch/err"; then
    parted 0 served 3 real tree-3 tree-7 --seeds 7 --no-faults
    odd served 'assay real tree-3 tree-7'
    cp -r served-2 served-stopped && sed -i '$ s/"status":0/"status":4/' served-stopped/results.jsonl
    run 4 merge served-1 served-stopped served-3 --out served-short && says 'did not get to its end'
    sums() { grep '"type":"real"' "$1/results.jsonl" | sed "s/.*\"$2\":\([0-9]*\).*/\1/" | awk '{ sum += $1 } END { print sum }'; }
    for k in 1 2; do
        "$assay" real tree-3 --seeds 6 --shard $k/2 --out "stormy-$k" >"$scratch/out" 2>"$scratch/err" ||
            fail "shard $k of runs with faults"
    done
    run 0 merge stormy-2 stormy-1 --out stormy
    for key in runs commits acknowledged counted missed; do
        [ "$(sums stormy $key)" -eq $(($(sums stormy-1 $key) + $(sums stormy-2 $key))) ] || fail "$key is no sum"
    done
    [ "$(sums stormy runs)" -eq 6 ] && [ "$(grep -c '"type":"real"' stormy/results.jsonl)" -eq 1 ] ||
        fail "runs of merged shards are $(sums stormy runs), wanted 6 in one line"
    run 1 real tree-3 --seeds 4 --no-faults --sabotage unbundled-step2 --shard 1/2 --out planted-1
    run 1 real tree-3 --seeds 4 --no-faults --sabotage unbundled-step2 --shard 2/2 --out planted-2
    run 1 merge planted-2 planted-1 --out planted
    [ "$(grep -c '"type":"finding"' planted/results.jsonl)" -eq 1 ] || fail "what both shards found is told twice"
else
    echo "SKIPPED: no shards of runs on PostgreSQL: $(head -n 1 "$scratch/err")"
fi

# ---- what is not a whole ----
run 4 merge held-1 held-2 held-3 held-4 held-5 held-6 held-7 --out seven
says 'a shard is missing: 8/8 of assay campaign tree-3 legacy-replay drawn-key --seeds 1000'
run 4 merge held-8 --out one && says '7 shards are missing: 1/8 of '
cp -r held-3 twice && sed -i 's/"seconds":[0-9.]*/"seconds":9/' twice/results.jsonl
run 0 merge held-[1-8] twice --out doubled && says 'a shard is there twice and counts once: 3/8 of '
sed -i 's/"steps":[0-9]*/"steps":7/' twice/results.jsonl
run 4 merge held-[1-8] twice --out two-of-them && says '3/8 of ' && says 'is there with other results, too'
cp -r held-3 foreign && sed -i 's/"binary_hash":"[0-9a-f]*"/"binary_hash":"0123"/' foreign/results.jsonl
run 4 merge held-[124-8] foreign --out another-build && says '3/8 of ' && says 'is of another build'
run 4 merge held-[1-7] gates-3 --out another-campaign && says '8/8 of ' && says '1/3 of ' && says '2/3 of '
mkdir half && sed '$d' held-3/results.jsonl >half/results.jsonl
run 4 merge held-[124-8] half --out half-merged && says '3/8 of ' && says 'which is half-written'
head -c 3000 held-3/results.jsonl >half/results.jsonl
bad 'half, line ' merge held-[124-8] half --out cut
[ ! -e cut ] || fail "a merge that is refused leaves a folder"

# ---- shards and other results side by side, whatever the order ----
run 0 sweep tree-3 --seed 1 --out sweep
run 0 merge sweep held-[1-8] --out beside && run 0 merge held-[1-8] sweep --out beside-again
same beside/results.jsonl beside-again/results.jsonl

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
