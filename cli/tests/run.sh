#!/bin/sh
# assay run and assay replay as a script sees them.
#
# usage: run.sh ASSAY SOURCE_DIR
set -u
assay=$1 source=$2
. "$(dirname "$0")/check.sh"
in_order() { # each of these on a later line than the one before
    at=0
    for part; do
        next=$(awk -v after="$at" -v part="$part" 'NR > after && index($0, part) { print NR; exit }' \
            "$scratch/out")
        [ -n "$next" ] || { fail "$last does not print '$part' where it should"; return; }
        at=$next
    done
}

# ---- a run that holds ----
run 0 run tree-3 --seed 7 && says 'tree-3, seed 7: every promise held (' && says 'clauses put to the test)'
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "$last prints more than its verdict"
run 1 run tree-3 --seed 7 --expect-finding
run 0 run tree-3 --seed=9223372036854775807
run 0 run tree-3 --seed 7 --trace && in_order 'create job' 'claim Leg1 of trigger' 'every promise held'
run 0 run tree-3 --seed 7 --json && only_json && says '"type":"run"' && says '"verdict":"held"'
digest=$(sed 's/.*"digest":"\([0-9a-f]\{16\}\)".*/\1/' "$scratch/out")
run 0 run tree-3 --seed 7 --json && says "\"digest\":\"$digest\"" # the same run again
run 0 run tree-3 --seed 7 --json --trace && only_json && says '"type":"event"' && says "\"digest\":\"$digest\""
run 0 run "$source/scenarios/tree-3.yaml" --seed 7 --json && says "\"digest\":\"$digest\""
run 0 run --help && says 'example: assay run'
run 0 replay --help && says 'example: assay replay'

# ---- a run that breaks a promise: the parts of a finding in their order ----
run 1 run tree-3 --seed 3 --sabotage lost-snapshot
in_order 'no snapshot taken' 'breaks     ACL-21' \
    'reproduce  assay run tree-3 --seed 3 --sabotage lost-snapshot' 'the schedule, shrunk from' \
    'step  client' 'here ACL-21 breaks' 'the ledgers, before and after step' 'GUID ledger of trigger' \
    'before   000010000000001' 'after    000011000000001' 'children spawned  no -> yes' \
    'the nearest schedule that passes' 'a promise was broken'
run 0 run tree-3 --seed 3 --sabotage lost-snapshot --expect-finding
run 1 run tree-3 --seed 3 --sabotage lost-snapshot --json && only_json && says '"clause":"ACL-21"' &&
    says '"sabotage":"lost-snapshot"' && says '"verdict":"broken"'
run 1 run tree-3 --seed 3 --sabotage lost-snapshot --without ACL-21 --json && says '"clause":"ACL-22"'
run 1 run tree-3 --seed 3 --sabotage lost-snapshot --without=ACL-21 --without ACL-22 --json
grep -q '"clause":"ACL-2[12]"' "$scratch/out" && fail "$last reports what was switched off"
run 1 run tree-3 --seed 12 --sabotage reset-on-retry --trace && in_order 'create job' 'breaks     ACL-'

# ---- schedules ----
run 1 run tree-3 --seed 3 --sabotage lost-snapshot --schedule "$scratch/broken"
run 1 replay "$scratch/broken" && in_order 'breaks     ACL-21' "reproduce  assay replay $scratch/broken"
grep -q 'The file says' "$scratch/out" && fail "$last doubts its own file"
run 0 replay "$scratch/broken" --expect-finding
run 0 run tree-3 --seed 7 --schedule "$scratch/held"
run 0 replay "$scratch/held" --json && only_json && says "\"digest\":\"$digest\""
run 0 replay "$scratch/held" --trace && in_order 'create job' 'every promise held'
run 0 replay "$scratch/held" --until 12 && in_order '   12  t=11' 'the ledgers after step 12' 'job  ' \
    'activity ledger of trigger' 'GUID ledger of trigger' 'every promise held'
grep -q '^   13 ' "$scratch/out" && fail "$last goes on after step 12"
sed 's/"lost-snapshot"/"early-ack"/' "$scratch/broken" >"$scratch/edited"
bad '--edited' replay "$scratch/edited"
run 1 replay "$scratch/edited" --edited && says 'The file says that ACL-21 breaks, and it was ACL-'
sed '/"sabotage"/d' "$scratch/broken" >"$scratch/edited"
run 0 replay "$scratch/edited" --edited && says 'The file says that ACL-21 breaks, and it held.'
sed '/"breaks"/d' "$scratch/broken" >"$scratch/edited"
run 1 replay "$scratch/edited" --edited && says 'The file says that no promise breaks, and ACL-21 did.'

# ---- how a run ends ----
run 0 run seq-illegal --seed 1 && in_order 'every promise held' \
    'Stage1 HALTED: seq 0, UNSEEN -> COMMITTED attempted, owner 0, wall clock 1700000000014'
run 0 run seq-illegal --seed 1 --json && says '"end":"halted","halted":"Stage1 HALTED: seq 0, '
run 0 run seq-illegal --seed 19 --json && says '"end":"settled"'
run 0 run tree-3 --seed 2 --json && says '"end":"settled"'
run 1 run tree-3 --seed 2 --sabotage trust-stale-read --json && says '"end":"stopped"'

# ---- bad input ----
bad 'one SCENARIO is needed, 0 were given' run
bad 'one SCENARIO is needed, 2 were given' run tree-3 tree-5 --seed 1
bad 'there is no scenario "tree-4"; known: ' run tree-4 --seed 1
bad 'No such file' run ./tree-4.yaml --seed 1
bad '--seed N is needed' run tree-3
bad '--seed x: it is a number from 0' run tree-3 --seed x
bad '--seed -1: it is a number from 0' run tree-3 --seed -1
bad '--seed 1.5: it is a number from 0' run tree-3 --seed 1.5
bad '--seed 18446744073709551616: it is a number from 0' run tree-3 --seed 18446744073709551616
bad '--seed : it is a number from 0' run tree-3 --seed ''
bad '--seed is given twice' run tree-3 --seed 1 --seed 2
bad "there is no sabotage 'lost-snapshots'" run tree-3 --seed 1 --sabotage lost-snapshots
bad '--without ACL-99: it is a clause' run tree-3 --seed 1 --without ACL-99
bad '--without needs a value' run tree-3 --seed 1 --without
bad "there is no option '--colour'" run tree-3 --seed 1 --colour
bad 'it exists; give a name that is free' run tree-3 --seed 1 --schedule "$scratch/held"
bad '--schedule' run tree-3 --seed 1 --schedule "$scratch/no/such/folder"
bad 'cannot be read; give the path of a schedule file' shrink "$scratch"
printf '\357\273\277name: marked\ngraph: {a: [b]}\n' >"$scratch/marked.yaml"
bad 'marked.yaml:1: a byte order mark' run "$scratch/marked.yaml" --seed 1
# A schedule that could not be written leaves no file, which the next try would refuse.
checks=$((checks + 1))
(ulimit -f 0 && trap '' XFSZ && "$assay" run tree-3 --seed 1 --schedule "$scratch/full") >"$scratch/out" 2>"$scratch/err" &&
    fail "a schedule beyond the size of a file is written"
[ ! -e "$scratch/full" ] || fail "a schedule that could not be written is there"
# A terminal that takes no line back is told none that it would have to.
if command -v script >/dev/null; then
    checks=$((checks + 1))
    script -qec "TERM=dumb '$assay' campaign tree-7 --time 2s --no-gates >/dev/null" /dev/null </dev/null >"$scratch/out" 2>"$scratch/err"
    ! grep -q "$(printf '\033')" "$scratch/out" || fail "escape sequences on a dumb terminal"
fi
bad 'one FILE is needed, 0 were given' replay
bad 'cannot be opened' replay "$scratch/nothing"
bad '--until 0: it is the number of a step' replay "$scratch/held" --until 0
bad '--until x: it is the number of a step' replay "$scratch/held" --until x
head -c 300 "$scratch/held" >"$scratch/cut"
bad 'cut' replay "$scratch/cut"
printf 'name: x\ngraph: [' >"$scratch/bad.yaml"
bad 'bad.yaml' run "$scratch/bad.yaml" --seed 1

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
