#!/bin/sh
# assay campaign and what assay list says of it, as a script sees them.
#
# usage: campaign.sh ASSAY
set -u
assay=$1
. "$(dirname "$0")/check.sh"
# The value of a field in the last line of JSON, without its quotes.
field() { tail -n 1 "$scratch/out" | sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; }
only_summary() { # lines of JSON, the summary last
    only_json
    tail -n 1 "$scratch/out" | grep -q '^{"type":"summary",' || fail "$last ends with no summary"
}
expect() { # what it is about, value, wanted
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$last: $1 is '$2', wanted '$3'"
}

# ---- a campaign that passes ----
run 0 campaign --help && says "example: assay campaign"
run 0 campaign tree-3
says 'tree-3' && says '1,000 seeds, 1,016 runs' && says 'Every promise held' && says 'digest '
run 0 campaign tree-3 --json && only_summary
says '"type":"scenario","scenario":"tree-3","runs":1000'
for name in seeds runs steps seconds findings digest seeds_per_second steps_per_second; do
    [ -n "$(field $name)" ] || fail "the summary has no $name"
done
expect seeds "$(field seeds)" 1000
expect findings "$(field findings)" 0
says '"gates":[]'
whole=$(field digest) steps=$(field steps)

# ---- the digest depends on the seeds and on nothing else (CW1) ----
for jobs in 1 2 5; do
    run 0 campaign tree-3 --json --jobs $jobs
    expect "digest with $jobs jobs" "$(field digest)" "$whole"
done
run 0 campaign tree-3 --json --check-determinism
expect "digest with every run made twice" "$(field digest)" "$whole"
expect runs "$(field runs)" 2000
run 0 campaign tree-3 --json --base-seed 2
[ "$(field digest)" != "$whole" ] || fail "another base seed has the same digest"
run 0 campaign tree-3 chain-4 --json --jobs 1 --seeds 1000
pair=$(field digest)
run 0 campaign tree-3 chain-4 --json --jobs 3 --seeds 1000
expect "digest of two scenarios" "$(field digest)" "$pair"

# ---- shards: together they are the whole ----
sum=0 sum_steps=0
for shard in 1/3 2/3 3/3; do
    run 0 campaign tree-3 --json --shard $shard
    says '"gates_judged":false'
    sum=$((sum + $(field seeds))) sum_steps=$((sum_steps + $(field steps)))
done
expect "seeds of all shards" $sum 1000
expect "steps of all shards" $sum_steps "$steps"

# ---- too few seeds to have seen everything ----
run 4 campaign tree-3 --seeds 5 && says 'gates not met' && says 'is allowed and never fell'
run 4 campaign tree-3 --seeds 5 --json && only_summary && says 'is allowed and never fell'
run 0 campaign tree-3 --seeds 5 --no-gates && says 'No gate was judged: --no-gates' &&
    says 'regressions replayed'
run 0 campaign tree-3 --seeds 5 --no-gates --no-regressions --json && only_summary &&
    says '"regressions":0'

# ---- a scenario that is there to break a promise ----
run 0 campaign lossy-failover --json && only_summary && says '"kind":"expected"'
expect findings "$(field findings)" 0
run 4 campaign lossy-failover --seeds 1 && says 'is to be broken, and held'

# ---- another way to draw: another campaign, as deterministic, and every finding says how ----
run 0 campaign tree-3 inbox --strategy random --seeds 200 --no-gates --json
random=$(field digest)
run 0 campaign tree-3 inbox --strategy pct --seeds 200 --jobs 1 --no-gates --check-determinism --json
expect strategy "$(field strategy)" pct
pct=$(field digest)
[ "$pct" != "$random" ] || fail "pct draws what random draws"
run 0 campaign tree-3 inbox --strategy pct --seeds 200 --jobs 3 --no-gates --json
expect digest "$(field digest)" "$pct"
run 0 campaign tree-3 inbox --strategy pct:2:40 --seeds 200 --no-gates --json
[ "$(field digest)" != "$pct" ] || fail "depth and length change nothing"
run 1 campaign tree-3 --strategy pct --sabotage job-state-first --seeds 300 --json
again=$(sed -n 's/.*"again":"assay \([^"]*\)".*/\1/p' "$scratch/out" | head -n 1)
case $again in *' --strategy pct '*) ;; *) fail "it does not say how to run it again" ;; esac
run 1 $again && says "reproduce  assay $again"
run 1 $again --schedule "$scratch/pct" && run 1 replay "$scratch/pct"
grep -q '"strategy": "pct"' "$scratch/pct" || fail "the schedule does not say where it is from"

# ---- a planted bug ----
run 4 campaign seq-grace --seeds 300 --sabotage seq.force-cancel/drop/grace.2 && says 'a path is lost' &&
    says 'SEQ-15 is seen with the sound engine in'
run 4 campaign tree-3 --seeds 100 --sabotage create-job/repeat && says 'on the same seeds: met' && complains 'a planted bug survived: create-job/repeat'
bug='--sabotage lost-snapshot'
# shellcheck disable=SC2086 # two words
{
    run 1 campaign tree-3 $bug
    says 'breaks     ACL-' && says '--sabotage lost-snapshot' && says 'No gate was judged: a bug is planted, and found'
    again=$(sed -n 's/^  reproduce  assay //p' "$scratch/out" | head -n 1)
    clause=$(sed -n 's/^  breaks     \([A-Z]*-[0-9]*\).*/\1/p' "$scratch/out" | head -n 1)
    run 0 campaign tree-3 $bug --expect-finding
    run 1 campaign tree-3 --expect-finding
    run 1 campaign tree-3 $bug --json && only_summary && says '"type":"finding"' && says '"kind":"new"'
    grep '"type":"finding"' "$scratch/out" |
        sed 's/.*"scenario":"\([^"]*\)","clause":"\([^"]*\)","oracle":"\([^"]*\)".*/\1 \2 \3 # known/' \
            >"$scratch/known"
    echo '# nothing' >>"$scratch/known"
    run 0 campaign tree-3 $bug --no-gates --known "$scratch/known" && says '(known)'
    run 1 campaign tree-3 $bug --max-findings 1 --jobs 1 --json && expect findings "$(field findings)" 1
    first=$(field digest)
    run 1 campaign tree-3 $bug --max-findings 1 --jobs 3 --json
    expect "digest at the first finding" "$(field digest)" "$first"
    run 1 campaign tree-3 $bug --without ACL-21 && says_not 'breaks     ACL-21'
    run 1 campaign tree-3 $bug --without semaphore --without ACL-30 --json
    says_not '"oracle":"semaphore"' && says '--without ACL-30 --without semaphore'
    run 1 $again && says "$clause" # the line that reproduces it does
}

# ---- files ----
out=$scratch/results
run 0 campaign tree-3 --json --out "$out"
sed '/^{"type":"begin"/d; /^{"type":"end"/d' "$out/results.jsonl" | cmp -s "$scratch/out" - ||
    fail "results.jsonl is not what --json prints"
bad 'nothing is written over' campaign tree-3 --out "$out"
bad 'cannot be made' campaign tree-3 --out "$scratch/no/such"
: >"$scratch/file"
bad 'no empty folder' campaign tree-3 --out "$scratch/file"
mkdir "$scratch/empty"
run 0 campaign tree-3 --out "$scratch/empty"

# ---- time, and being interrupted ----
run 0 campaign tree-3 --time 1s --json
[ $(($(field seeds) % 64)) -eq 0 ] || fail "a campaign that is out of time ends inside a block"
"$assay" campaign tree-3 --time 1h >"$scratch/out" 2>"$scratch/err" &
pid=$!
sleep 1
kill -INT $pid
wait $pid
status=$?
last='assay campaign, interrupted'
expect status $status 4
says 'Interrupted'
[ "$(cat "$scratch/err")" = 'assay campaign: a run was interrupted: campaign, by a signal (status 4)' ] ||
    fail "progress within a second, and no terminal; or not why it is 4"

# ---- lists ----
run 0 list scenarios && says 'tree-3' && says '1 job of 3 activities, 2 workers' && says 'break ACL-33'
run 0 list scenarios tree-5 --json && says '"name":"tree-5"' && says '"activities":5' &&
    says '"expect":"pass"'
run 0 list faults --json && says '"type":"fault","name":"crash-before-begin","group":"crash"'
run 0 list promises && says 'ACL-19' && says 'checked at every commit' && says_not 'ACL-35 '
run 0 list promises ACL-24 --json && says 'a GUID was entered again with nothing done'
run 0 list sabotages && says 'lost-snapshot' && says 'no promise can see it'
run 0 list sabotages lost-snapshot --json && says '"type":"sabotage"' && says '"kind":"named"'
run 0 list promises ACL-30 --coverage "$out" --json
[ "$(field evaluated)" -gt 0 ] || fail "ACL-30 was never evaluated"
run 0 list clauses ACL-30 --coverage "$out" && says ' times'
run 0 list faults pause --coverage "$out" --json && says '"fired":'
bad "there is no 'tree-4'" list scenarios tree-4
bad 'give a folder that assay wrote with --out' list promises --coverage "$scratch/no"
bad '--coverage is for' list sabotages --coverage "$out"
bad '--markdown is for' list faults --markdown

# ---- a design that is known to break, and where it holds ----
run 0 campaign legacy legacy-ceilings legacy-one-death legacy-replay legacy-late-call --json
says '"scenario":"legacy-replay","clause":"LEG-6","oracle":"legacy","kind":"expected"'
says '"scenario":"legacy-late-call","clause":"LEG-7","oracle":"legacy","kind":"expected"'
expect findings "$(field findings)" 0
says '"gates":[]'
run 4 campaign legacy-replay --seeds 10 && says 'LEG-6 is to be broken, and held'
run 0 run legacy-replay --seed 16 --expect-finding && says 'as the scenario expects'
run 0 sabotage lost-snapshot close-overtakes --strategy both --base-seeds 3 && says '2 sabotages from 3 base seeds'
run 0 sabotage close-overtakes --strategy pct --json && says '"strategy":"pct"' && says '"fate":"found"'
bad 'it is random' sabotage --strategy neither
run 0 sabotage legacy && says '87 sabotages: 69 found'
run 0 sweep legacy --seed 1 && says 'every promise held'

# ---- bad input ----
bad 'there is no scenario "tree-4"' campaign tree-4
bad 'is given twice' campaign tree-3 tree-3
bad 'such as 60s' campaign --time 60
bad 'such as 60s' campaign --time s
bad 'such as 60s' campaign --time 0s
bad 'exclude each other' campaign --time 1s --seeds 5
for option in --seeds --jobs --max-findings; do
    bad "$option '0': it is a number from 1" campaign $option 0
    bad "$option 'ten': it is a number" campaign $option ten
    bad "$option '-1': it is a number" campaign $option -1
    bad "$option '99999999999999999999999999': it is" campaign $option 99999999999999999999999999
done
bad '--base-seed' campaign --base-seed 1.5
bad 'K/N with K from 1 to N' campaign --shard 0/2
bad 'K/N with K from 1 to N' campaign --shard 3/2
bad 'K/N with K from 1 to N' campaign --shard 2
bad '--shard 2/4 has no seeds: 64 seeds are 1 block of 64' campaign --seeds 64 --shard 2/4
bad '--shard and --time exclude each other: how many seeds' campaign --shard 1/2 --time 1s
bad '--shard and --max-findings exclude each other: where the last' campaign --shard 1/2 --max-findings 1
bad '--shard and --without exclude each other: results do not' campaign --shard 1/2 --without ACL-1
bad 'it is random, pct, or pct:DEPTH:LENGTH' campaign --strategy clever
bad "--strategy 'pct:99': it is" campaign --strategy pct:99
bad "there is no sabotage 'nobody'" campaign --sabotage nobody
bad 'it is a clause such as' campaign --without ACL-99
bad 'cannot be read' campaign --known "$scratch/none"
bad 'cannot be read: Is a directory' campaign --known "$scratch" # no empty list
echo 'tree-3 ACL-21' >"$scratch/half"
bad 'line 1: it is SCENARIO CLAUSE ORACLE' campaign --known "$scratch/half"
printf 'tree-3 ACL-21 data\ntree-3 ACL-21 nobody\n' >"$scratch/half"
bad 'line 2: it is SCENARIO CLAUSE ORACLE' campaign --known "$scratch/half"
bad "there is no option '--seed'" campaign --seed 1
printf 'name: x\ngraph: {a: [b]}\njobs: many\n' >"$scratch/x.yaml"
bad 'x.yaml' campaign "$scratch/x.yaml"

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
