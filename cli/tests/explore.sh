#!/bin/sh
# assay explore as a script sees it.
#
# usage: explore.sh ASSAY
set -u
assay=$1
. "$(dirname "$0")/check.sh"
field() { sed -n 's/.*"'"$1"'":\("[^"]*"\|[^,}]*\).*/\1/p' "$scratch/out"; } # of the summary

run 0 explore --help && says 'example: assay explore' && says 'Exit status: 0 complete'

# ---- complete, and every promise held ----
run 0 explore peer-3 --crashes 1 --duplicates 1 && says 'peer-3, 2 workers: complete: every promise held' &&
    says 'within      1 crashes, 1 duplicates' && says 'reduced by  workers, siblings, counters, order' &&
    says 'bytes a state'
run 0 explore peer-3 && says 'within      1 crashes, 1 duplicates, 0 lapses' # by default
run 0 explore peer-3 --crashes 1 --duplicates 0 --no-reduction && says 'states      6694,' && says 'reduced by  nothing'
run 0 explore peer-3 --crashes 0 --duplicates 0 --lapses 1 --unknowns 1 --aborts 1 &&
    says '1 lapses, 1 lost answers, 1 aborts, by transaction'
run 0 explore inbox --workers 2 --crashes 0 --duplicates 0 --memory 500M && says 'inbox, 2 workers'
run 1 explore peer-3 --expect-finding
run 0 explore legacy-one-death --crashes 0 --duplicates 0 --workers 1 --level statement && says 'by statement'

# ---- the summary for scripts ----
run 0 explore peer-3 --json && only_json && says '"type":"summary","verb":"explore","scenario":"peer-3"' &&
    says '"complete":true' && says '"findings":0' && says '"bytes_per_state":' && says '"seconds":'
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "$last prints more than a summary"
states=$(field states) transitions=$(field transitions) ends=$(field end_digest)
[ "$states" -gt 1000 ] && [ "$transitions" -gt "$states" ] ||
    fail "$last counts $states states and $transitions transitions"
for jobs in 1 2 3; do # the same with any number of threads
    run 0 explore peer-3 --json --jobs $jobs
    [ "$(field states) $(field transitions) $(field end_digest)" = "$states $transitions $ends" ] ||
        fail "$last counts otherwise"
done
run 0 explore peer-3 --json --no-reduction && says '"states":73170' && says "\"end_digest\":$ends"

# ---- a promise is broken: the finding, then the summary ----
run 1 explore peer-3 --sabotage trust-stale-read && says 'breaks     ACL-' &&
    says 'reproduce  assay explore peer-3 --crashes 1 --duplicates 1 --sabotage trust-stale-read' &&
    says 'step  client' && says 'the nearest schedule that passes' && says 'a promise was broken'
cp "$scratch/out" "$scratch/first"
run 1 explore peer-3 --sabotage trust-stale-read --jobs 3
sed '/^  time/d; /^  memory/d' "$scratch/first" >"$scratch/a"
sed '/^  time/d; /^  memory/d' "$scratch/out" >"$scratch/b"
cmp -s "$scratch/a" "$scratch/b" || fail "$last finds something else each time"
run 0 explore peer-3 --sabotage trust-stale-read --expect-finding
run 1 explore peer-3 --sabotage trust-stale-read --json && only_json && says '"complete":false' &&
    says '"findings":1' && says '"clause":"ACL-' && says '"sabotage":"trust-stale-read"'
steps=$(field steps) clause=$(field clause)
run 1 explore peer-3 --sabotage trust-stale-read --shortest --json && only_json
[ "$(field steps)" -le "$steps" ] || fail "$last finds $(field steps) steps, and $steps without --shortest"
run 1 explore peer-3 --sabotage trust-stale-read --shortest && says 'and none is shorter'
run 1 explore peer-3 --sabotage lost-snapshot --json && says '"clause":"ACL-21"'
run 1 explore peer-3 --sabotage lost-snapshot --without ACL-21 --json &&
    { [ "$(field clause)" != '"ACL-21"' ] || fail "$last reports what was switched off"; }
# nothing is found where the oracles that would see it are off
run 4 explore peer-3 --sabotage guid-from-full-ledger --shortest --without ACL-14 --without ACL-12 --without ACL-29 &&
    says 'reduced by  workers, siblings'
run 0 explore peer-3 --without ACL-21 && says 'reduced by  workers, siblings, counters' && says_not 'counters, order'
run 1 explore peer-3 --sabotage read-then-write && says 'reduced by  workers, siblings' # no more than is sound

# ---- nothing can come to rest ----
run 2 explore peer-3 --sabotage ack/drop/ack --duplicates 0 --crashes 0 &&
    says 'from here nothing can come to rest:' && says 'create job' && says 'from some state nothing can come to rest'
run 2 explore peer-3 --sabotage ack/drop/ack --duplicates 0 --crashes 0 --json && only_json &&
    says '"complete":true' && says '"findings":1'

# ... whichever way it is searched; the way there is then a shortest one
run 2 explore peer-3 --sabotage ack/drop/ack --duplicates 0 --crashes 0 --shortest &&
    says 'from here nothing can come to rest, and no way to here is shorter:' &&
    says 'from some state nothing can come to rest'
run 2 explore peer-3 --sabotage ack/drop/ack --duplicates 0 --crashes 0 --shortest --json && only_json &&
    says '"complete":true' && says '"findings":1'
run 0 explore peer-3 --shortest --json && says '"complete":true' && says '"findings":0' && says "\"end_digest\":$ends"

# ---- what goes wrong with a transaction at its end, at either level ----
for level in transaction statement; do
    run 1 explore peer-3 --workers 1 --crashes 0 --duplicates 0 --unknowns 1 --sabotage assume-committed --level $level
    run 1 explore peer-3 --workers 1 --crashes 1 --duplicates 0 --sabotage torn-rollback --level $level
done

# ---- bounded ----
run 4 explore tree-3 --no-reduction --memory 1M --jobs 2 && says 'bounded, memory ran out'
run 4 explore tree-3 --no-reduction --memory 1M --json && only_json && says '"complete":false' &&
    says '"why":"memory ran out"' && says '"findings":0'
run 4 explore tree-3 --memory 1M --shortest --crashes 2 && says 'bounded, memory'
run 4 explore peer-3 --no-reduction --sabotage ack/drop/ack --duplicates 0 --crashes 0 && says 'too long'
run 0 explore last-chance --workers 1 --crashes 0 --duplicates 0 && says 'reduced by  workers, siblings, order'

# ---- the shortest schedule of every planted bug ----
cat >"$scratch/table.yaml" <<'END'
name: table
about: one activity, so that the table of all planted bugs is quick
protocol: activity
workers: 2
commits: literal
graph: {trigger: []}
faults: {crash: 1/20, unknown: 1/40, abort: 1/40, duplicate: 1/40, redeliver: 1/40}
reaches: []
expect: pass
END
run 0 explore "$scratch/table.yaml" --every-sabotage --json && only_json
row() { # sabotage, steps, with, clause
    says "\"sabotage\":\"$1\",\"steps\":$2,\"with\":\"$3\",\"clause\":\"$4\",\"cannot_rest_with\":null,\"complete\":true"
}
row torn-rollback 1 'a crash' ACL-2
row create-job/split-after/create-job 1 nothing ACL-19
row create-job/split-after/add-activity 2 'a lost answer' ACL-29
row leg2-before-leg1 3 nothing ACL-45
row assume-committed 5 'a lost answer' ACL-30
row guid-from-full-ledger 9 nothing ACL-14
row trust-stale-read 9 'a duplicate' ACL-29
row unbundled-step2 11 nothing ACL-14
row enter-leg2/stale/enter-leg2.7 12 'a crash' ACL-33
row job-state-first 15 'a crash' ACL-30
row unlocked-marker-test 17 'a duplicate' ACL-29
row step-3/unguard/mark-guid.1 17 'a duplicate' ACL-18
says '"sabotage":"ack/drop/ack","steps":0,"with":null,"clause":null,"cannot_rest_with":"nothing","complete":true'
tail -n 1 "$scratch/out" >"$scratch/last" # no finding of a campaign is shorter than the shortest
grep -q '^{"type":"summary","verb":"explore","scenario":"table","complete":true,"sabotages":249,"shown":85,"cannot_rest":4,"compared":72,' \
    "$scratch/last" || fail "$last ends with $(cat "$scratch/last")"
sed -n 's/.*"shrunk":\([0-9]*\),"shortest_there":\([0-9]*\),.*/\1 \2/p' "$scratch/out" |
    awk '$2 > 0 && $1 < $2 { exit 1 }' || fail "$last calls something shortest that is not"

# ---- bad input ----
for option in '--crashes 1' '--duplicates 1' '--lapses 1' '--unknowns 1' '--aborts 1' '--level statement' \
    '--sabotage early-ack' "--out $scratch/new" --no-reduction --shortest --expect-finding '--without ACL-1'; do
    # shellcheck disable=SC2086 # an option and its value
    bad "--every-sabotage and ${option%% *} exclude each other" explore peer-3 --every-sabotage $option
done
bad 'one SCENARIO is needed, 0 were given' explore
bad 'one SCENARIO is needed, 2 were given' explore peer-3 peer-5
bad 'there is no scenario "peer-4"' explore peer-4
bad 'No such file' explore ./peer-4.yaml
for option in --crashes --duplicates --lapses --unknowns --aborts; do
    bad "$option" explore peer-3 $option x
    bad "$option" explore peer-3 $option -1
    bad "$option" explore peer-3 $option 51
    bad "$option needs a value" explore peer-3 $option
done
bad '--workers' explore peer-3 --workers 0
bad '--workers' explore peer-3 --workers 17
bad '--jobs' explore peer-3 --jobs 0
bad '--jobs' explore peer-3 --jobs 65
for size in '' 0 1K 5000 M 2T 2000G -1M 1.5G 99999999999999999999G; do
    bad 'it is a size from 1M' explore peer-3 --memory "$size"
done
bad '--level row: transaction or statement is needed' explore peer-3 --level row
bad "there is no sabotage 'nothing'" explore peer-3 --sabotage nothing
bad 'legacy' explore peer-3 --sabotage legacy.ack/drop/ack
bad '--without ACL-99' explore peer-3 --without ACL-99
bad '--crashes is given twice' explore peer-3 --crashes 1 --crashes 2
bad "there is no option '--colour'" explore peer-3 --colour

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
