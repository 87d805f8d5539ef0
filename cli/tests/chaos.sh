#!/bin/sh
# `assay real` under faults as a script sees it: every kind of fault hits, nothing is lost or doubled,
# bugs that only a fault can show are found, and everything is gone afterwards.
#
# usage: chaos.sh ASSAY
set -eu
assay=$1
. "$(dirname "$0")/check.sh"
servers_in_scratch
# The sum of a number over all lines.
sum() {
    grep -o "\"$1\":[0-9]*" "$scratch/out" | cut -d: -f2 | awk '{ s += $1 } END { print s + 0 }'
}
at_least() { # what, number
    checks=$((checks + 1))
    [ "$(sum "$1")" -ge "$2" ] || fail "$1: $(sum "$1"), wanted at least $2"
}
exactly() {
    checks=$((checks + 1))
    [ "$(sum "$1")" -eq "$2" ] || fail "$1: $(sum "$1"), wanted $2"
}

run 64 real tree-3 --gate --no-faults && complains 'gate is about faults'
run 64 real tree-3 --time soon && complains 'whole number with its unit'
run 64 real tree-3 --jobs 0 && complains 'it is a number'
run 64 real tree-7 --jobs 10000 --workers 17 && complains 'it is a number'

if ! "$assay" real tree-3 --no-faults >"$scratch/out" 2>"$scratch/err"; then
    echo "skipped the rest: $(cat "$scratch/err")"
    exit $((failures > 0))
fi

# ---- every kind, every protocol that is asked for ----
run 0 real tree-7 cycle pending pipeline pipeline-race seq tree-7-merged pending-merged seq-illegal crowd overtaking --seeds 3 --json
exactly runs 33
at_least counted 60
exactly forgotten 0
exactly contradictions 0
exactly misjudged 0
exactly unnoted 0
at_least concluded_done 2
at_least concluded_not_done 2
at_least unknown_committed 5
at_least unknown_lost 5
for kind in kill-at-point kill stop answer-lost commit-lost terminate \
    40001 40P01 53300 duplicate replay redeliver delay reorder clock-forward clock-back; do
    at_least $kind 1
done
checks=$((checks + 1))
[ "$(grep -c '"status":0' "$scratch/out")" -eq 11 ] || fail "a scenario's status is not 0"

# ---- what few moments allow, and what a server suffers: rare among so many kinds ----
run 0 real seq-illegal --seeds 12 --json
at_least illegal-move 1
at_least SEQ-4 1
at_least SEQ-20 1
printf 'name: only-server\nabout: a server that fails\ncommits: literal\nworkers: 3\ngraph: {trigger: [left, right]}\nfaults: {server: 1/2}\nlimits: {restarts: 3}\n' >"$scratch/only-server.yaml"
run 0 real "$scratch/only-server.yaml" --seeds 24 --json
for kind in kill-backend restart failover; do at_least $kind 1; done

# ---- for people ----
run 0 real inbox --seeds 2 --out "$scratch/inbox"
says 'who runs when is up to the machine'
says_like 'killed at +simulated +PostgreSQL'
says_like 'On PostgreSQL actors were killed at [0-9]+ of [0-9]+ points'
says_like 'looked [0-9]+ of them up, and .*: wrongly 0 times'
says ' 0 of them lost'
# The page has what the terminal has, and the points that nothing hit, too.
python3 - "$scratch/inbox/report.json" >"$scratch/told" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
server, cells = report["server"], [c["real"] for p in report["points"] for c in p["cells"]]
print("%d commits acknowledged, %d of them lost" % (server["acknowledged"], server["forgotten"]))
print("%d took effect" % sum(fault["hit"] for fault in server["faults"]))
print("killed at %d of %d points" % (sum(c > 0 for c in cells), len(cells)))
END
while read -r words; do says "$words"; done <"$scratch/told"
checks=$((checks + 1))
[ "$(wc -l <"$scratch/told")" -eq 3 ] || fail 'the page lacks what was done to the server'
checks=$((checks + 2))
grep -q '"fired":{"crash-before-begin":' "$scratch/inbox/results.jsonl" || fail 'no faults for the report'
grep -q '"crash_points":\[\["' "$scratch/inbox/results.jsonl" || fail 'no crash points for the report'
run 0 real tree-3 --jobs 6 --workers 4 --time 2s --seeds 1 && says 'jobs/s'
run 4 real tree-3 --gate && complains 'gate: activity: no worker was killed at'
run 0 real legacy --seeds 2 && says 'every promise held'
run 0 real legacy-replay --seeds 20 && says_like 'runs break LEG-(6|3), as expected'

# ---- bugs that only a fault shows ----
while read -r scenario bug clause; do
    run 4 real "$scenario" --no-faults --sabotage "$bug" --seeds 2 && complains "a planted bug survived: $bug"
    rm -rf "$scratch/bug"
    run 0 real "$scenario" --sabotage "$bug" --seeds 100 --expect-finding --out "$scratch/bug"
    says_like "$clause"
    checks=$((checks + 1))
    cat "$scratch"/bug/findings/"$scenario"-*/words.txt >"$scratch/words" && grep -q "planted $bug" "$scratch/words" &&
        [ -s "$(echo "$scratch"/bug/findings/"$scenario"-*/history.jsonl)" ] &&
        [ -e "$(echo "$scratch"/bug/findings/"$scenario"-*/plan.jsonl)" ] &&
        grep -q '"type":"finding","name":"'"$scenario" "$scratch/bug/results.jsonl" || fail "$bug: no finding was kept"
done <<END
tree-3 assume-committed breaks..ACL-[0-9]+,
tree-3 reset-on-retry breaks..ACL-[0-9]+,
tree-3 fresh-guid breaks..ACL-[0-9]+,
seq-illegal illegal-accepted breaks..SEQ-3,
END

# ---- one kind of fault alone: a bug that it shows, and nothing else does ----
alone() { # kind, clause, bug, then lines of the scenario
    kind=$1 clause=$2 bug=$3
    shift 3
    {
        case $kind in # a kind that has its group's name
        delay) others=', reorder: 0/1' ;;
        duplicate) others=', replay: 0/1, redeliver: 0/1' ;;
        *) others= ;;
        esac
        printf 'name: only-%s\nabout: one kind of fault alone\nfaults: {%s: 1/2%s}\n' "$kind" "$kind" "$others"
        printf '%s\n' "$@"
    } >"$scratch/only-$kind.yaml"
    set -- real "$scratch/only-$kind.yaml" --sabotage "$bug"
    run 4 "$@" --no-faults --seeds 2 && complains "a planted bug survived: $bug"
    run 0 "$@" --seeds 150 --expect-finding && says_like "breaks  $clause,"
    says_like "^$kind +[1-9]"
}
tree='graph: {trigger: [left, right]}'
alone redeliver ACL-19 fresh-guid 'commits: literal' 'workers: 3' "$tree" 'limits: {duplicates: 4}'
alone clock-forward ACL-19 fresh-guid 'commits: literal' 'workers: 3' "$tree" 'limits: {jumps: 3}'
box='protocol: inbox'
alone duplicate BOX-1 inbox-by-delivery "$box" 'jobs: 5' 'workers: 1' 'accounts: 2' 'limits: {duplicates: 4}'
alone replay BOX-1 inbox-by-delivery "$box" 'jobs: 5' 'workers: 1' 'accounts: 2' 'limits: {duplicates: 4}'
alone delay BOX-2 inbox-in-order "$box" 'jobs: 5' 'workers: 1' 'accounts: 2' 'limits: {delays: 4}'
alone reorder BOX-2 inbox-in-order "$box" 'jobs: 5' 'workers: 1' 'accounts: 2' 'limits: {delays: 4}'

# ---- who runs out of time is not complete, which is said first, and breaks no promise ----
run 4 real inbox --no-faults --sabotage inbox.ack/drop/ack
checks=$((checks + 1))
head -n 1 "$scratch/out" | grep -q 'NOT COMPLETE: run 1 ran out of time' || fail 'lateness is not said first'
says_not 'breaks  '

nothing_left
echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
