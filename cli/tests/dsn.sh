#!/bin/sh
# A server that --dsn names is foreign: nothing is dropped there that this process did not
# make, and what a killed one left is listed, and removed only when that is asked for.
#
# usage: dsn.sh ASSAY
set -eu
assay=$1
. "$(dirname "$0")/check.sh"
servers_in_scratch

# ---- no server is named ----
bad '--dsn is empty' real tree-3 --dsn ''
bad '--dsn is empty' real tree-3 --dsn ' '
bad '--dsn is empty' real --dsn= --clean
bad '--dsn is empty' conform --seeds 1 --dsn ''
bad '--dsn is empty' replay none.json --real --dsn ''
bad '--clean is about the server that --dsn names' real tree-3 --clean
bad '--clean alone runs none' real --dsn 'host=/nonexistent' --clean --out "$scratch/results"

if ! "$assay" real tree-3 --no-faults --keep >"$scratch/out" 2>"$scratch/err"; then
    echo "skipped the rest: $(cat "$scratch/err")"
    exit $((failures > 0))
fi
sed -n "s/^  connect  psql '\(.*\)'$/\1/p" "$scratch/err" >"$scratch/dsn"
sed -n 's/^  end      //p' "$scratch/err" >"$scratch/end"
dsn=$(cat "$scratch/dsn")
trap 'sh "$scratch/end"; rm -rf "$scratch"' EXIT
ask() { psql "$dsn" -Atqc "$1"; }
schemas() { ask "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assay\_%' ORDER BY 1"; }
drop_all() { for schema in $(schemas); do ask "DROP SCHEMA $schema CASCADE" 2>/dev/null; done; }
drop_all # what --keep has left
is() { # what is said of it, what it should be, what it is
    checks=$((checks + 1))
    [ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"
}
quiet() {
    checks=$((checks + 1))
    [ ! -s "$scratch/err" ] || fail "$last said something"
}

# ---- a schema of the user's own, whatever it is called ----
# In place of the shell comes assay, so that the number in these names is that of its process.
for verb in 'real tree-3 --no-faults' 'conform tree-3 --seeds 1'; do
    checks=$((checks + 1))
    sh -c 'for name in assay_$$_1 assay_conform_$$ assay_mirror_$$_1; do
               psql "$1" -qc "CREATE SCHEMA $name; CREATE TABLE $name.precious (i int)"
           done
           dsn=$1; shift; exec "$@" --dsn "$dsn"' sh "$dsn" "$assay" $verb \
        >"$scratch/out" 2>"$scratch/err" || fail "$verb beside schemas of the same name"
done
is 'precious tables' 6 "$(ask "SELECT count(*) FROM pg_tables WHERE tablename = 'precious'")"
run 0 real --dsn "$dsn" --clean
quiet
is 'precious tables' 6 "$(ask "SELECT count(*) FROM pg_tables WHERE tablename = 'precious'")"
drop_all

# ---- two at a time, in containers of their own: each is process 1 ----
alone=
! unshare -pf --mount-proc true 2>/dev/null || alone='unshare -pf --mount-proc'
$alone "$assay" real tree-3 --no-faults --seeds 10 --dsn "$dsn" >"$scratch/other" 2>&1 &
other=$!
checks=$((checks + 2))
$alone "$assay" real tree-3 --no-faults --seeds 10 --dsn "$dsn" >"$scratch/out" 2>"$scratch/err" ||
    fail 'two at a time: this one'
wait $other || fail "two at a time: the other one: $(cat "$scratch/other")"
is 'left by two at a time' '' "$(schemas)"

# ---- killed ----
# Sets pid and left: a process in the middle of its work, and its schema.
at_work() {
    "$assay" "$@" --dsn "$dsn" >/dev/null 2>&1 &
    pid=$!
    left=
    while [ -z "$left" ] && kill -0 $pid; do left=$(schemas | head -n 1); done
}
# ... and killed. Its server takes a moment to hear of it.
killed() {
    while at_work "$@"; kill -KILL $pid; wait $pid 2>/dev/null || :; [ -z "$(schemas)" ]; do :; done
    left=$(schemas)
    while [ "$(ask "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" != 0 ]; do :; done
}
killed real pipeline-pair --jobs 20 --seeds 1000
run 0 conform tree-3 --seeds 1 --dsn "$dsn"
complains "assay real --dsn DSN --clean removes them: $left"
is 'lines that list them' 1 "$(wc -l <"$scratch/err")"
run 0 real tree-3 --no-faults --json --dsn "$dsn" && only_json
complains "$left"
is 'what is left without --clean' "$left" "$(schemas)"
run 0 real tree-3 --no-faults --clean --dsn "$dsn"
complains "removed $left"
is 'what is left after --clean' '' "$(schemas)"
is 'roles after --clean' '' "$(ask "SELECT rolname FROM pg_roles WHERE rolname LIKE 'assay\_%'")"
run 0 real tree-3 --no-faults --dsn "$dsn"
quiet
killed conform --seeds 100000
run 0 real --clean --dsn "$dsn"
complains "removed $left"
is 'what conform left after --clean' '' "$(schemas)"

# ---- two clean up at a time ----
killed real tree-3 --jobs 50 --seeds 1000
"$assay" real --clean --dsn "$dsn" >/dev/null 2>"$scratch/other" &
other=$!
run 0 real --clean --dsn "$dsn"
checks=$((checks + 1))
wait $other || fail "the other one: $(cat "$scratch/other")"
is 'times it was removed' 1 "$(cat "$scratch/err" "$scratch/other" | grep -c "removed $left")"
is 'what is left after both' '' "$(schemas)"

# ---- alive ----
at_work conform --seeds 100000
run 0 real --clean --dsn "$dsn"
complains "left alone, since their makers hold them: $left"
is 'the schema of a living maker' "$left" "$(schemas)"
kill -INT $pid
checks=$((checks + 1))
status=0
wait $pid || status=$?
[ $status -eq 4 ] || fail "conform ended with $status"
is 'what an interrupted one left' '' "$(schemas)"

# ---- kept on purpose ----
run 0 real tree-3 --no-faults --keep --dsn "$dsn"
kept=$(schemas)
run 0 real --clean --dsn "$dsn"
quiet
is 'what was kept' "$kept" "$(schemas)"

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
