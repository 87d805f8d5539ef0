#!/bin/sh
# What verbs leave in their folders, and assay report, merge and sign-off on it.
#
# usage: report.sh ASSAY SOURCE_DIR
set -u
assay=$1 source=$2
. "$(dirname "$0")/check.sh"
cd "$scratch" || exit 1
has() { # folder, names
    folder=$1
    shift
    for name in "$@"; do [ -s "$folder/$name" ] || fail "$last left no $folder/$name"; done
}
files='results.jsonl report.json report.html junit.xml summary.md'
# Every line of results.jsonl is a JSON object and ends; junit.xml has the shape of tests/junit.xsd.
valid() {
    checks=$((checks + 1))
    [ ! -s "$1/results.jsonl" ] || [ -z "$(tail -c 1 "$1/results.jsonl")" ] ||
        fail "$1/results.jsonl ends in the middle of a line"
    mkdir -p again && rm -rf again/* && cp "$1/results.jsonl" again/
    "$assay" report again >report.out 2>report.err
    [ $? -ne 64 ] || { cat report.err && fail "$1/results.jsonl holds what is no JSON"; }
    for xml in "$1/junit.xml" again/junit.xml; do
        [ ! -f "$xml" ] || xmllint --noout --schema "$source/reports/tests/junit.xsd" "$xml" \
            2>report.err || { cat report.err && fail "$1: junit.xml is not valid"; }
    done
}
: >out && : >err

# ---- every verb ----
run 0 campaign tree-3 legacy-replay --out campaign && has campaign $files && valid campaign
grep -q '<testcase classname="tree-3" name="ACL-5 ' campaign/junit.xml || fail "no case for tree-3 and ACL-5"
grep -q 'failures="0" errors="0"' campaign/junit.xml || fail "what is to break is a failure"
hash=$(sha256sum "$assay" | cut -d ' ' -f 1)
grep -q "\"binary_hash\":\"$hash\"" campaign/results.jsonl || fail "binary_hash is not what sha256sum says"
run 0 sweep tree-3 --seed 1 --out sweep && has sweep $files && valid sweep
run 0 sabotage lost-snapshot trust-stale-read step-2/repeat --base-seeds 3 --out sabotage &&
    has sabotage $files && valid sabotage
for kill in '"sabotage":"trust-stale-read",[^}]*"tries":3,"found":3,"median":7,"most":14,' \
    '"sabotage":"step-2/repeat",[^}]*"tries":1,"found":0,"median":null,"most":null,'; do
    grep -q "{$kill" sabotage/report.json || fail "the report of a hunt lacks $kill"
done
run 0 run tree-3 --seed 1 --json --out run && has run $files && valid run
run 1 run tree-3 --seed 2 --sabotage trust-stale-read --out broken && has broken $files && valid broken
finding=broken/findings/tree-3-ACL-16-ledger
has $finding schedule.json shrunk.json trace.txt words.txt finding.json
# What changed is told in words, in every protocol that has any.
tells() { # scenario, sabotage, a change as finding.json has it
    rm -rf told && run 1 campaign "$1" --sabotage "$2" --max-findings 1 --out told
    grep -q -- "$3" told/findings/*/finding.json || fail "the finding of $2 does not tell $3"
}
tells tree-3 trust-stale-read '"name":"work done",[^}]*"1":"yes","2":"neither 0 nor 1"'
tells tree-3 job-state-first '"column":"state","before":"active","after":"complete"'
tells legacy legacy-parent-resets '"name":"Leg1 entry status",[^}]*"9":"not yet","8":"once"'
tells quick-fox blind-decrement '"name":"activity 1",[^}]*"9":"pending","8":"started"'
tells pipeline pipeline-status-without-cas '"before":"marked","after":"reviewed_approve"'
tells tree-3 trust-stale-read '"column":"ledger","after":"000000000000001","as":"guid"'
tells seq late-result-accepted '"column":"state","before":"UNSEEN","after":"DISPATCHED"'
run 1 replay $finding/shrunk.json && says 'breaks     ACL-16'
run 1 replay $finding && says 'breaks     ACL-16'
run 1 replay $finding/schedule.json && says 'ACL-16'
grep -q 'reproduce: assay run tree-3 --seed 2 --sabotage trust-stale-read</failure>' broken/junit.xml ||
    fail "junit.xml does not say how to reproduce"
grep -q 'assay run tree-3 --seed 2 --sabotage trust-stale-read' broken/summary.md ||
    fail "summary.md does not say how to reproduce"
run 1 campaign tree-3 --sabotage lost-snapshot --json --out lost && valid lost
has lost/findings/tree-3-ACL-21-semaphore shrunk.json words.txt
run 1 sweep tree-3 --seed 1 --sabotage job-state-first --json --out swept && valid swept
run 0 real tree-3 --out real && has real $files && valid real
grep -q '{"id":"ACL-30",[^}]*"sim":null,"real":[1-9]' real/report.json ||
    fail "what ran on PostgreSQL alone counts for the simulation, or not at all"
run 0 conform --seeds 20 --out conform && has conform $files && valid conform
for folder in real conform; do
    grep -q '"postgresql":"[1-9][0-9]*\.[0-9]' $folder/report.json || fail "$folder: which PostgreSQL was it?"
    grep -q '^PostgreSQL [1-9]' $folder/summary.md || fail "$folder: summary.md does not name PostgreSQL"
done
grep -q '"postgresql":null' sweep/report.json || fail "a sweep names a PostgreSQL"
run 0 bench seq --max 1000 --out bench && has bench $files && valid bench
bad 'nothing is written over' bench seq --out sweep
bad 'nothing is written over' real tree-3 --out sweep
bad 'nothing is written over' conform --out sweep
bad 'nothing is written over' sweep tree-3 --seed 1 --out sweep
bad 'nothing is written over' sabotage lost-snapshot --out sweep
bad 'nothing is written over' run tree-3 --seed 1 --out sweep

# ---- findings of every verb are one failure each, and no run of theirs counts twice ----
failures_of() { sed -n 's/.* failures="\([0-9]*\)".*/\1/p' "$1/junit.xml" | awk '{ sum += $1 } END { print sum }'; }
once() { # folder: no case comes twice, and a failure is a finding
    checks=$((checks + 1))
    twice=$(grep -o 'classname="[^"]*" name="[^"]*"' "$1/junit.xml" | sort | uniq -d)
    [ -z "$twice" ] || fail "$1/junit.xml has the same case twice: $twice"
    [ "$(failures_of "$1")" -eq "$(grep -c '"type":"finding"' "$1/results.jsonl")" ] ||
        fail "$1/junit.xml has $(failures_of "$1") failures"
}
run 1 campaign tree-3 --sabotage trust-stale-read --out four && valid four && once four
grep -q '"type":"run"' four/results.jsonl && fail "the story of a finding counts as a run of its own"
run 1 sweep tree-3 --seed 1 --sabotage job-state-first --out swept-told && once swept-told
run 1 explore peer-3 --sabotage trust-stale-read --out explored && valid explored && once explored
has explored/findings/peer-3-ACL-18-ledger words.txt trace.txt
grep -q '"scenario":"peer-3",.*"status":"broken by a planted bug"' explored/report.json ||
    fail "a search that broke a promise is told as one that held"
grep -q '"words":"[^"]*<- here' explored/report.json || fail "the page has no counterexample of a search"
run 1 report explored && says 'ACL-18 in peer-3'
run 0 explore tree-3 --json --out searched && valid searched

# A finding that was expected is one all the same; one that was not made breaks nothing.
run 0 campaign tree-3 --sabotage trust-stale-read --expect-finding --out wanted
run 0 report wanted && says 'trust-stale-read breaks ACL-16' && says '(--expect-finding)' && says_not 'every promise held'
grep -q 'failures="0" errors="0"' wanted/junit.xml || fail "a finding that was asked for is a failure"
run 0 merge wanted campaign --out wanted-merged && says '(--expect-finding)'
run 1 campaign tree-3 --seeds 64 --no-gates --expect-finding --out unwanted && valid unwanted
run 1 report unwanted && says 'a finding was expected, and none was made' && says_not 'was broken'

# Known findings are told as such.
sed -n 's/.*"type":"finding".*"scenario":"\([^"]*\)","clause":"\([^"]*\)","oracle":"\([^"]*\)".*/\1 \2 \3/p' \
    four/results.jsonl >known
run 0 campaign tree-3 --sabotage trust-stale-read --known known --out listed && valid listed
run 0 report listed && says "$(wc -l <known) known findings: trust-stale-read breaks ACL-" && says 'ACL-16 in tree-3, known'
grep -q "failures=\"0\" errors=\"0\" skipped=\"$(wc -l <known)\"" listed/junit.xml ||
    fail "known findings are no skipped cases"
grep -q '{"id":"ACL-16",[^}]*"status":"known"' listed/report.json || fail "a known finding is told as held"

# The command is one that a shell takes.
run 0 run tree-3 --seed 1 --out "it's" && grep -qF "\"command\":\"assay run tree-3 --seed 1 --out 'it'\\\\''s'\"" "it's/results.jsonl" ||
    fail "the command of a path with a quote is $(head -n 1 "it's/results.jsonl" | cut -c 1-120)"

# ---- report ----
run 0 report campaign && says 'every promise held that was put to the test, ' && says '(status 0)' && says '0 findings in 1,000 seeds of tree-3. With 95% confidence' &&
    says 'legacy-replay' && says 'broken, as expected'
run 0 report campaign --json && says '"version":1'
run 1 report broken && says 'a planted bug was caught: trust-stale-read breaks ACL-16 (status 1)' && says 'ACL-16 in tree-3'
rm campaign/report.html && run 0 report campaign && has campaign report.html
bad 'has no results.jsonl' report "$scratch"
bad 'nowhere: no such folder; give one that assay wrote with --out' report nowhere
bad 'one DIR is needed' report
mkdir cut && head -c 100 campaign/results.jsonl >cut/results.jsonl
bad 'results.jsonl, line 1: no JSON object' report cut
run 0 list promises ACL-30 --coverage sweep && says ' times'

# ---- what means nothing is never held: refused, or incomplete; alone, and merged with what is good ----
begun='{"type":"begin","verb":"campaign","command":"c"}'
ran='{"type":"scenario","scenario":"tree-3","runs":9,"evaluated":{"ACL-5":7}}'
while IFS='|' read -r wanted lines words; do
    rm -rf mean merged && mkdir mean
    printf '%s' "$lines" | sed "s/BEGUN/$begun/g; s/RAN/$ran/g; s/ENDED \([^~]*\)/{\"type\":\"end\",\"status\":\1}/g" |
        tr '~' '\n' >mean/results.jsonl
    if [ "$wanted" = 64 ]; then
        bad "mean/results.jsonl, $words" report mean
        bad "$words" merge mean campaign --out merged
        [ ! -e merged ] || fail "a merge that is refused leaves a folder"
        bad "$words" list promises ACL-5 --coverage mean
        continue
    fi
    run "$wanted" report mean && says "$words" && says_not 'every promise held' && has mean $files && valid mean
    ! grep -q 'every promise held' mean/summary.md mean/report.json || fail "$lines: a file says that it held"
    grep -qE '<(failure|error) ' mean/junit.xml || fail "$lines: junit.xml is green"
    run "$wanted" merge campaign mean --out merged && says_not 'every promise held' && valid merged
    grep -qE '<(failure|error) ' merged/junit.xml || fail "$lines, merged: junit.xml is green"
done <<'END'
64||line 1: it is empty
64|{}~|line 1: it has no "type"
64|{"type":"unheard-of"}~|line 1: no session is open
64|ENDED 0~|line 1: no session is open
64|BEGUN~RAN~ENDED "0"~|line 3: "end" has the status "0"; it is 0, 1, 2, 3, 4, 64, 69 or 70
64|BEGUN~RAN~ENDED null~|line 3: "end" has the status null
64|BEGUN~RAN~ENDED true~|line 3: "end" has the status true
64|BEGUN~RAN~ENDED 1.5~|line 3: "end" has the status 1.5
64|BEGUN~RAN~ENDED -1~|line 3: "end" has the status -1
64|BEGUN~RAN~ENDED 5~|line 3: "end" has the status 5
64|BEGUN~RAN~ENDED 256~|line 3: "end" has the status 256
64|BEGUN~RAN~ENDED 257~|line 3: "end" has the status 257
64|BEGUN~RAN~ENDED 999999999999~|line 3: "end" has the status 999999999999
64|BEGUN~RAN~ENDED 0~ENDED 0~|line 4: no session is open
64|BEGUN~{"type":"run","runs":1,"fired":{"failover":9223372036854775807}}~ENDED 0~|line 2: "failover" is
4|BEGUN~|killed half-way
4|BEGUN~ENDED 0~|nothing ran
4|BEGUN~{"type":"unheard-of"}~ENDED 0~|nothing ran
4|BEGUN~{"type":"scenario","scenario":"tree-3","runs":0}~ENDED 0~|nothing ran
1|BEGUN~RAN~{"type":"finding","kind":"new","clause":"of no table"}~ENDED 0~|a promise was broken: of no table
END
run 0 bench seq --max 1000 --out fast && run 4 report fast && says 'nothing ran'
run 0 merge campaign fast --out beside && says 'every promise held'

# ---- shards are one campaign ----
whole() { sed -n 's/.*"seeds":\([0-9]*\).*"verdict".*//p; s/.*"bound":{"seeds":\([0-9]*\).*/\1/p' "$1/report.json"; }
run 0 campaign tree-3 --shard 1/2 --out one && run 0 campaign tree-3 --shard 2/2 --out two
run 0 merge one two --out both && has both $files && valid both && says 'every promise held'
[ "$(whole both)" = 1000 ] || fail "two shards are $(whole both) seeds, wanted 1000"
says_of() { sed -n "s/.*{\"id\":\"$2\",[^}]*\"sim\":\([0-9]*\).*/\1/p" "$1/report.json"; }
run 0 campaign tree-3 --out alone
[ "$(says_of both ACL-30)" = "$(says_of alone ACL-30)" ] || fail "shards evaluate otherwise than the whole"
run 0 campaign seq-illegal --seeds 128 --shard 1/2 --out few
run 4 merge few --out fewer && says 'gates were not met' # what no shard can judge alone
run 1 merge both broken --out mixed && has mixed/findings/tree-3-ACL-16-ledger words.txt && valid mixed
# The same results twice are there once; two findings of one name are both there.
run 0 merge alone alone --out same && complains 'counted once' && valid same
[ "$(whole same)" = 1000 ] || fail "the same campaign twice is $(whole same) seeds, wanted 1000"
run 0 campaign tree-3 --out once-more && run 0 merge alone once-more --out rerun
[ "$(whole rerun)" = 1000 ] || fail "the same seeds drawn again are $(whole rerun), wanted 1000"
findings_in() { grep -c '"type":"finding"' "$1/results.jsonl"; }
run 1 run tree-3 --seed 382 --sabotage trust-stale-read --out third
cmp -s third/findings/tree-3-ACL-16-ledger/words.txt broken/findings/tree-3-ACL-16-ledger/words.txt &&
    fail "seeds 2 and 382 have the same story, which proves nothing about a merge"
cp -r broken again-broken && sed -i 's/"seconds":[0-9.]*/"seconds":9/' again-broken/results.jsonl
run 1 merge third broken again-broken --out side && has side/findings/tree-3-ACL-16-ledger-2 schedule.json
[ "$(ls side/findings | wc -l)" -eq 2 ] || fail "findings of a merge: $(ls side/findings), wanted two"
cmp -s side/findings/tree-3-ACL-16-ledger/words.txt third/findings/tree-3-ACL-16-ledger/words.txt ||
    fail "a merge writes a finding over another"
grep -q '"name":"tree-3-ACL-16-ledger-2".*--seed 2 ' side/results.jsonl || fail "its line has not the new name"
[ "$(grep -o '"reproduce"' side/report.json | wc -l)" -eq 2 ] || fail "what was found twice is told twice"
bad 'nothing is written over' merge one --out two
bad 'nowhere: no such folder' merge one nowhere --out new
[ ! -e new ] || fail "a merge that cannot be done leaves a folder"
bad '--out NEW' merge one

# ---- sign-off: nothing is shown that was not run ----
run 4 report both --sign-off && says 'NOT SHOWN' && says 'ACL-3   NOT SHOWN' && has both sign-off.md
says 'Rule A: Ledgers only grow' && says 'literally: ' && says 'decided: '
run 4 report both --sign-off --json && says '"type":"sign_off"' && says '{"type":"sign_off_step","id":"build",' &&
    says '"errata":["E-ACL-' && says '"literal":"'
# What was signed by hand is not written over; what was not is.
run 4 report both --sign-off && sed -i 's/^Signed: _*/Signed: A. Person/' both/sign-off.md
cp both/sign-off.md accepted
bad 'was changed since it was written' report both --sign-off
cmp -s accepted both/sign-off.md || fail "an acceptance was written over"
run 4 sign-off --out signed --only sweep-tree-3 --only sweep-legacy --with campaign &&
    has signed/evidence sign-off.md $files && says 'sabotage  NOT SHOWN' && says 'build     PASS'
# A part is not the whole: two scenarios are no campaign of all, and two sweeps none of every protocol.
says_like '^campaign  NOT SHOWN .*no campaign had every built-in scenario'
says_like '^sweep     NOT SHOWN .*none of protocol activity with commits merged to depth 2'
says_like '^LEG-3 .*broken on purpose in legacy-replay' && says_like '^LEG-6 .*broken on purpose in legacy-replay'
# Another build is another thing.
cp -r sweep other && sed -i 's/"binary_hash":"[0-9a-f]*"/"binary_hash":"0123"/' other/results.jsonl
run 4 merge sweep other --out builds && says 'results of different builds are mixed'
run 4 report builds --sign-off && says_like '^build     NOT SHOWN .*different builds'
grep -q '^| ACL-9 | 4.1 ' signed/evidence/sign-off.md || fail "the page lacks ACL-9 and its section"
grep -q '^| E-ACL-4 | ' signed/evidence/sign-off.md || fail "the page lacks E-ACL-4"
valid signed/evidence
run 1 sign-off --out failed --only sweep-tree-3 --with broken && says 'ACL-16  FAIL'
# ---- unit tests on the page: all that name a clause; and one suite that failed is the first thing said ----
suites() { # folder, a suite that failed
    mkdir "$1" && echo '{"type":"begin","verb":"tests","command":"ctest"}' >"$1/results.jsonl"
    for test in "$source"/*/tests/test_*.c; do
        suite=$(basename "$test" .c)
        passed=true && [ "$suite" != "$2" ] || passed=false
        echo "{\"type\":\"suite\",\"suite\":\"$suite\",\"passed\":$passed}"
    done >>"$1/results.jsonl"
    status=0 && [ "$2" = none ] || status=1
    echo "{\"type\":\"end\",\"status\":$status}" >>"$1/results.jsonl"
}
suites suites none && run 4 sign-off --out tested --only sweep-tree-3 --with suites
says 'tests     PASS'
checks=$((checks + 1))
awk -F ' \\| ' '/^\| (E-)?[A-Z]+-[0-9]+ \| / {
        column = /^\| E-/ ? 5 : 4
        names = gsub(/\(test_[a-z0-9_]*\)/, "", $column)
        rows++
        all += names
        if ($column + 0 != names) { print "of " ($column + 0) " tests " names " are named: " $0; bad++ }
    }
    END { exit bad > 0 || rows < 190 || all < 500 }' tested/evidence/sign-off.md >out 2>err ||
    fail "the page does not name every test"
suites suites-failed test_ledger && run 1 sign-off --out untested --only sweep-tree-3 --with suites-failed
says_like '^tests     FAIL .*test_ledger \(1 of ' && says_like '^ACL-6 +FAIL .*test_ledger failed'
sed -n '/^## Open items/,/^## Evidence/p' untested/evidence/sign-off.md >open
[ "$(grep -m 1 '^- ' open)" = '- a suite failed: test_ledger' ] || fail 'the failed suite is not the first item'
[ "$(grep -m 1 '^- \*\*' open)" = "$(grep -m 1 '^- \*\*FAIL\*\* tests: test_ledger' open)" ] ||
    fail "what failed does not come before what is not shown"
# ---- long evidence comes by --with, of the same program; without it NOT SHOWN ----
run 4 sign-off --out short --only sweep-tree-3 && says_like '^sabotage  NOT SHOWN .*not run$'
says_like '^proofs    NOT SHOWN .*not run; ./test --full makes it, and --with brings it$'
hunted() { # folder, hash: as a hunt for every planted bug leaves them
    mkdir "$1"
    {
        echo "{\"type\":\"begin\",\"verb\":\"sabotage\",\"command\":\"assay sabotage\",\"binary_hash\":\"$2\"}"
        echo '{"type":"sabotage","name":"lost-snapshot","fate":"found","clause":"ACL-21"}'
        echo '{"type":"summary","every_sabotage":true,"sabotages":2,"planned":2,"found":1,"equivalent":1}'
        echo '{"type":"end","status":0}'
    } >"$1/results.jsonl"
}
hunted whole-hunt "$hash" && run 4 sign-off --out long --only sweep-tree-3 --with whole-hunt
says_like '^sabotage  PASS .*2 planted bugs, 1 of them shown to be equivalent, 0 not shown$' && says_like '^build     PASS'
hunted foreign-hunt 0123456789abcdef
bad '--with foreign-hunt: another program made it, with the SHA-256 0123456789abcdef...;' sign-off --out refused --with foreign-hunt
bad 'cannot-be: no such folder' sign-off --out refused --with cannot-be
[ ! -e refused ] || fail "a sign-off that is refused leaves a folder"
# What ./run sign-off takes by itself is of the very program, whether JSON has spaces or not.
sed -n '/^is_of_this_program/,/^}/p' "$source/run" >of.sh
mkdir -p build/release/cli && cp "$assay" build/release/cli/assay
for made in "\"binary_hash\":\"$hash\"" "\"binary_hash\": \"$hash\"" '"binary_hash":"0123"'; do
    mkdir -p made && echo "{\"type\":\"begin\",$made}" >made/results.jsonl
    taken=yes && (. ./of.sh && is_of_this_program made) || taken=no
    checks=$((checks + 1)) && last="is_of_this_program with $made"
    case $made in *0123*) [ $taken = no ] ;; *) [ $taken = yes ] ;; esac || fail "$last is $taken"
done
# A suite that failed is a FAIL also where the end denies it.
sed 's/"type":"end","status":1/"type":"end","status":0/' suites-failed/results.jsonl >denied.jsonl
mkdir suites-denied && mv denied.jsonl suites-denied/results.jsonl
run 1 report suites-denied --sign-off && says_like '^tests     FAIL .*test_ledger \(1 of '
# What planted bugs broke is told as such.
run 1 report broken --sign-off && says_like '^ACL-16  FAIL .*findings: 1 new, of which 1 by planted bugs; 0 known'
grep -q '^\*\*Not acceptable, something failed: ' broken/sign-off.md || fail "the page does not begin with its outcome"
# Promises add up: held, broken, expected, not shown and left to unit tests are all that there are.
run 1 run legacy-replay --seed 16 --out expected-break && says_like 'LEG-6' && run 1 report expected-break
says_like '^  run +legacy-replay .* broken, as expected$' && says_like '^  LEG +12 +8 +0 +1 +1 +2 '
awk '/^  (ACL|SEQ|KEY|LEG|CUT|BOX) / { if ($2 != $3 + $4 + $5 + $6 + $7) { print "does not add up: " $0; bad = 1 } rows++ }
    END { exit bad || rows != 6 }' out >sums.out || fail "the table of promises does not add up: $(cat sums.out)"
bad 'no such step' sign-off --out x --only nothing
bad 'nothing is written over' sign-off --out signed
bad '--out DIR' sign-off

# Waits until the file has the text, a minute at most.
wait_for() {
    for tenth in $(seq 600); do
        grep -qs -- "$2" "$1" && return
        sleep 0.1
    done
    fail "$1 has no $2 after a minute"
}

# ---- killed at ten moments, readable each time ----
for i in 1 2 3 4 5 6 7 8 9 10; do
    "$assay" campaign --time 1h --out "killed-$i" >out 2>err &
    pid=$!
    sleep "$(awk -v i="$i" 'BEGIN { srand(); printf "%.3f", (i * 0.197 + rand()) % 1.7 }')"
    [ "$i" -lt 10 ] || wait_for 'killed-10/results.jsonl' '"type":"summary"'
    kill -KILL $pid
    wait $pid 2>/dev/null
    last="killed campaign $i"
    [ ! -s "killed-$i/results.jsonl" ] || valid "killed-$i" # an empty one had not begun
done
run 4 report killed-10 && says 'killed half-way' && says '0 findings in ' && has killed-10 $files && valid killed-10
# A finding has its folder when it is met, and the verdict knows.
"$assay" campaign --time 1h --sabotage trust-stale-read --out killed-f >out 2>err &
pid=$!
wait_for killed-f/results.jsonl '"type":"finding"'
kill -KILL $pid
wait $pid 2>/dev/null
valid killed-f && run 1 report killed-f && says 'a planted bug was caught: trust-stale-read breaks ACL-' && says 'killed half-way'
for finding in killed-f/findings/*; do has "$finding" schedule.json words.txt trace.txt; done
run 1 replay "$finding/schedule.json"
"$assay" sabotage --out killed-s >out 2>err &
pid=$!
wait_for killed-s/results.jsonl '"type":"sabotage"'
kill -KILL $pid
wait $pid 2>/dev/null
valid killed-s

# ---- interrupted: what was found so far ----
for verb in 'INT campaign --time 1h' 'TERM campaign --time 1h' 'INT sweep tree-7 --seed 1 --depth 3' \
    'TERM sweep tree-7 --seed 1 --depth 3' 'TERM explore tree-7 --crashes 3 --memory 1G' 'INT sabotage'; do
    rm -rf interrupted
    signal=${verb%% *} verb=${verb#* }
    # shellcheck disable=SC2086 # a command
    "$assay" $verb --out interrupted >out 2>err &
    pid=$!
    wait_for interrupted/results.jsonl '"type":"begin"'
    sleep 1
    kill -"$signal" $pid
    wait $pid
    status=$? last="assay $verb, interrupted by $signal"
    checks=$((checks + 1))
    [ $status -eq 4 ] || fail "$last: status $status, wanted 4"
    has interrupted $files && valid interrupted
done

# ---- the guides: every command in them does what they say ----
cat >guide.sed <<'END'
s/^    \(assay .*\)/\1/
t show
d
: show
s/   .*//
s/"\$SEED"/7/; s/--time 10m/tree-3 --seeds 1000/; s/--seeds 100000/tree-3 --seeds 1000/; s/NAME/tree-3-ACL-16-ledger/
END
sed -f guide.sed "$source/reports/README.md" >guide
[ "$(wc -l <guide)" -eq 6 ] || fail "the guides have $(wc -l <guide) commands, wanted 6"
mkdir guided guided/finding && cp -r broken guided/finding/results
while IFS= read -r line; do
    wanted=0 place=guided
    case $line in
    *--real*) continue ;; # run.sh and conform.sh have it
    *replay*) wanted=1 place=guided/finding ;;
    *merge*) rm -rf guided/results ;;
    esac
    (cd $place && eval "'$assay' ${line#assay}") >out 2>err </dev/null
    status=$? last=$line
    checks=$((checks + 1))
    [ $status -eq $wanted ] || fail "the guide's $line: status $status, wanted $wanted"
    case $line in
    *'--shard 1/4'*)
        for k in 2 3 4; do
            (cd $place && "$assay" campaign tree-3 --seeds 1000 --shard $k/4 --out shard-$k >out)
        done
        ;;
    esac
done <guide
# Every command that the guides show, also where it takes too long here: the verb is there, and so is
# each of its options.
for guide in reports/README.md model/README.md CONTRIBUTING.md; do
    sed -nE 's/^    (\.\/run|assay) ([a-z].*)/\2/p' "$source/$guide"
    grep -oE '`(\./run|assay) [a-z][^`]*`' "$source/$guide" | sed -E 's/^`(\.\/run|assay) //; s/`$//'
done | sed 's/   .*//' | sort -u >shown
grep -qx 'sign-off' shown || fail "the guides do not show ./run sign-off"
while read -r verb arguments; do
    run 0 "$verb" --help </dev/null
    for word in $arguments; do
        case $word in
        --*) says "$word" ;;
        esac
    done
done <shown
for verb in report merge sign-off; do run 0 $verb --help && says "example: assay $verb" || :; done

# ---- a live line on a terminal, none in a file ----
if command -v script >/dev/null; then
    script -qec "stty cols 200; '$assay' campaign tree-7 --time 2s >/dev/null" /dev/null </dev/null >out 2>err
    checks=$((checks + 1))
    grep -q 'seeds/s.* broke a promise, .* faults, about .* s left' out || fail "no live line on a terminal"
    script -qec "stty cols 40; '$assay' campaign tree-7 --time 2s >/dev/null" /dev/null </dev/null >out 2>err
    checks=$((checks + 1))
    widest=$(tr '\r' '\n' <out | sed 's/^.*\[K//' | awk 'length > most { most = length } END { print most }')
    [ "$widest" -gt 20 ] && [ "$widest" -lt 40 ] || fail "a live line of $widest characters on 40 columns"
fi

# ---- 100,000 runs: a page of under 3 MB, made in under 2 s of processor time ----
run 0 campaign inbox --seeds 100000 --out many
for name in report.html report.json; do
    [ "$(wc -c <many/$name)" -lt 3000000 ] || fail "$name of 100,000 runs is too large"
done
checks=$((checks + 1))
(ulimit -t 2 && "$assay" report many >out 2>err) || fail "the report took more than 2 s"

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
