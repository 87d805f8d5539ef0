#!/bin/sh
# `assay conform` as a script sees it: no difference from PostgreSQL; planted errors, each found and
# shown; what it says without a server.
#
# usage: conform.sh ASSAY
set -u
assay=$1
. "$(dirname "$0")/check.sh"
servers_in_scratch
# Every line of standard output is a JSON object; a program without jq judges the outline only.
is_json_lines() {
    checks=$((checks + 1))
    if command -v jq >/dev/null; then
        jq -es 'length > 0 and all(type == "object")' "$scratch/out" >/dev/null || fail "$last: no JSON lines"
    elif [ ! -s "$scratch/out" ] || grep -qv '^{.*}$' "$scratch/out"; then
        fail "$last: no JSON lines"
    fi
}

# ---- without a server, or the wrong words ----
run 64 conform no-such-scenario && complains 'no-such-scenario'
# A run that PostgreSQL cannot follow is refused, with the reason (MI1).
run 64 conform lossy-failover && complains 'lossy failovers'
run 64 replay "$scratch/none.json" --real
run 64 conform --seeds none && complains 'it is a number'
run 64 conform --seeds 0
run 64 conform --base-seed -1
run 64 conform --no-such-option
run 64 conform --error 'no such error' && complains 'no such error'
run 64 conform --errors --error 'no unique check' && complains 'one of them'
run 0 conform --help && says '--error NAME'
ASSAY_POSTGRES=/nonexistent
export ASSAY_POSTGRES
run 69 conform --seeds 1 && grep -qE 'Debian package|libpq' "$scratch/err" || fail 'does not name the package'
unset ASSAY_POSTGRES
run 69 conform --dsn 'host=/nonexistent' --seeds 1
nothing_left

if ! "$assay" conform --seeds 1 >"$scratch/out" 2>"$scratch/err"; then
    echo "skipped the rest: $(cat "$scratch/err" "$scratch/out")"
    exit $((failures > 0))
fi

# ---- the same on both sides ----
run 0 conform --seeds 120
says '120 scripts, '
says_like '^([0-9]+) of \1 primitives'
says ' waits, '
says ': no difference'
says_like '^30 scripts by the store of assay real, [1-9][0-9]* bundles, [1-9][0-9]* waits, [1-9][0-9]* commits, .*: no difference$'
run 0 conform --seeds 20 --base-seed 5000 --json
is_json_lines
says '"type":"summary"'
says '"differences":0'
says '"type":"store","scripts":5'
nothing_left

# ---- whole runs, faults and all ----
run 0 conform last-chance --seeds 1 --base-seed 20005 # a preset of a row that a session waited for
run 0 conform tree-3 inbox pipeline --seeds 3
says '9 runs, '
says ': no difference'
run 0 run crowd --seed 7 --schedule "$scratch/crowd.json"
run 0 replay "$scratch/crowd.json" --real
grep -q 'PostgreSQL followed: ' "$scratch/err" || fail "$last does not say that PostgreSQL followed"
# A schedule that breaks a promise, as PostgreSQL does, too: status 1, and "differs" tells why.
run 1 run tree-3 --seed 2 --sabotage trust-stale-read --schedule "$scratch/stale.json"
run 1 replay "$scratch/stale.json" --real --json
only_json && says '{"type":"runs","runs":1,' && says '"differs":false}' && says '"verdict":"broken"'
nothing_left

# ---- the proof that it would notice ----
while read -r name; do
    run 0 conform --error "$name" --seeds 400
    says "$name "
    says 'found after '
    says 'the simulated store and PostgreSQL differ'
    says "--error '$name'"
done <<END
an update is lost after a wait
no new test after a wait
no unique check
no check of rights
no check of what a row must say
a foreign key takes FOR SHARE
row locks end with their statement
snapshot taken after an advisory wait
END
run 0 conform --error 'no unique check' --seeds 400 --json
is_json_lines
says '"type":"error"'
says '"type":"difference"'
run 4 conform --error 'no new test after a wait' --seeds 1
says 'not found'
nothing_left

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
