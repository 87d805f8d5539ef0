#!/bin/sh
# `assay real` as a script sees it: the same engines on a private PostgreSQL, judged by the same
# oracles; planted bugs; what is left behind when it is killed; what it says without a server.
#
# usage: real.sh ASSAY
set -eu
assay=$1
. "$(dirname "$0")/check.sh"
servers_in_scratch

# ---- without a server, or the wrong words ----
ASSAY_POSTGRES=/nonexistent
export ASSAY_POSTGRES
run 69 real tree-3 && complains 'Debian package'
unset ASSAY_POSTGRES
run 64 real && complains 'a SCENARIO is needed'
run 64 real no-such-scenario --seeds 1
run 64 real tree-3 --seeds none && complains 'it is a number'
run 64 real tree-3 --sabotage none && complains 'assay list sabotages'
run 69 real tree-3 --dsn 'host=/nonexistent' && complains '/nonexistent' && says_not 'tree-3'
run 69 real tree-3 --dsn 'host=/nonexistent' --json && only_json && says_not '"type":"real"'

if grep -q 'built without libpq' "$scratch/err" || ! "$assay" real tree-3 --no-faults >"$scratch/out" 2>"$scratch/err"; then
    echo "skipped the rest: $(cat "$scratch/err")"
    exit $((failures > 0))
fi

# ---- the same data as in the simulation ----
run 0 real tree-7 cycle pending --seeds 20 --no-faults
says 'tree-7: 20 runs on PostgreSQL, 1720 commits judged: every promise held'
says 'cycle: 20 runs'
nothing_left
run 0 real tree-3 --no-faults --json && says '"type":"real"' && says '"commits":38'
# A planted bug that the server's runs do not show is told as such.
run 4 sabotage dimension-from-counter --real && complains 'a planted bug survived: dimension-from-counter'
# A home folder that is not there is not made.
checks=$((checks + 1))
(unset XDG_CACHE_HOME && HOME=$scratch/home && export HOME && "$assay" real tree-3 --no-faults) >"$scratch/out" 2>"$scratch/err" &&
    [ ! -e "$scratch/home" ] || fail "a run makes a home folder"

# ---- ledgers that start next to a ceiling: the server presets them, and the guards are met ----
run 0 real ceilings ceilings-merged last-chance-merged legacy-ceilings --no-faults
says 'legacy-ceilings: 1 run'
# A preset adds what the scenario says: the ceiling is near, and a bug there is found (PS1).
run 1 real ceilings --no-faults --sabotage no-ceiling && says 'breaks  ACL-43,'
run 1 real legacy-ceilings --no-faults --sabotage legacy-ceiling-unchecked --seeds 8 && says 'breaks  LEG-5,'
nothing_left

# ---- principals: their own roles, grants and connections ----
run 0 real pipeline-crowd --no-faults
says 'pipeline-crowd: 1 run on PostgreSQL, '
says '(53300): every promise held'
run 0 real pipeline --no-faults --seeds 3 --json && says '"turned_away":'
nothing_left
run 0 real tree-3 --keep
sed -n "s/^  connect  psql '\(.*\)'$/\1/p" "$scratch/err" >"$scratch/dsn"
sed -n 's/^  end      //p' "$scratch/err" >"$scratch/end"
dsn=$(cat "$scratch/dsn")
psql "$dsn" -qc 'CREATE ROLE plain LOGIN REPLICATION; GRANT CREATE ON DATABASE postgres TO plain'
psql "$dsn" -qc 'CREATE ROLE plainer LOGIN; GRANT CREATE ON DATABASE postgres TO plainer'
run 69 real pipeline-pair --dsn "$dsn user=plain" && complains 'which takes CREATEROLE'
checks=$((checks + 1))
[ "$(wc -l <"$scratch/err")" -eq 1 ] || fail 'more than a line'
run 69 conform pipeline-pair --seeds 1 --dsn "$dsn user=plain" && complains 'which takes CREATEROLE'
run 0 real tree-3 --dsn "$dsn user=plain" # has no principals
run 69 real tree-3 --dsn "$dsn user=plainer" && complains 'ALTER ROLE ... REPLICATION'
"$assay" real pipeline-pair --seeds 2 --dsn "$dsn" >"$scratch/other" 2>&1 &
run 0 real pipeline-pair --seeds 2 --dsn "$dsn" # two at a time
checks=$((checks + 1))
wait $! || fail "the other one: $(cat "$scratch/other")"
run 1 real pipeline-pair --no-faults --sabotage pipeline-verifier-is-executor --dsn "$dsn"
left=$(psql "$dsn" -Atc "SELECT rolname FROM pg_roles WHERE rolname LIKE 'assay\_%'")
checks=$((checks + 1))
[ -z "$left" ] || fail "roles left behind: $left"

# ---- the history is read from the log: by slots that end with their makers ----
slots() { psql "$dsn" -Atc "SELECT slot_name FROM pg_replication_slots WHERE slot_name LIKE 'assay\_%'"; }
checks=$((checks + 2)) programs=$(psql "$dsn" -Atc "SELECT setting FROM pg_config WHERE name = 'BINDIR'")
[ -z "$(slots)" ] || fail "slots left behind: $(slots)"
"$assay" real tree-3 --jobs 50 --seeds 100 --dsn "$dsn" >/dev/null 2>&1 &
pid=$!
while [ -z "$(slots)" ] && kill -0 $pid; do sleep 0.05; done
kill -KILL $pid
wait $pid 2>/dev/null || :
for i in 1 2 3 4 5 6 7 8 9; do [ -z "$(slots)" ] || sleep 1; done
[ -z "$(slots)" ] || fail "a killed one left slots: $(slots)"
data=$(psql "$dsn" -Atc 'SHOW data_directory')
psql "$dsn" -qc "ALTER SYSTEM SET wal_level = replica"
as_owner() { if [ "$(id -u)" = 0 ]; then su -s /bin/sh "$(stat -c %U "$data")" -c "$*"; else sh -c "$*"; fi; }
as_owner "$programs/pg_ctl -D $data -m fast -w restart" >/dev/null 2>&1
run 69 real tree-3 --no-faults --dsn "$dsn" && complains 'wal_level = logical'
as_owner "$programs/pg_ctl -D $data -m fast -w stop" >/dev/null 2>&1
sh "$scratch/end" 2>/dev/null || :
nothing_left

# ---- planted bugs, found by the same promises ----
while read -r scenario bug clause; do
    run 1 real "$scenario" --no-faults --sabotage "$bug"
    says "breaks  $clause,"
    run 0 real "$scenario" --no-faults --sabotage "$bug" --expect-finding
done <<END
tree-3 unbundled-step2 ACL-17
tree-3 lost-snapshot ACL-21
tree-3 guid-from-full-ledger ACL-14
tree-3 early-ack ACL-30
tree-3 eager-completion ACL-26
cycle shared-dimension ACL-32
pipeline-pair pipeline-verifier-is-executor CUT-11
pipeline-pair pipeline-delete-to-undo CUT-21
pipeline-pair pipeline-verifier-stamps-set CUT-24
tree-3 task-never-done ACL-46
tree-7-merged task-done-ahead ACL-46
pending task-done-again ACL-46
quick-fox activity-never-done KEY-11
legacy legacy-work-done-ahead LEG-11
pipeline-pair examination-never-done CUT-31
seq run-done-ahead SEQ-22
END
run 0 sabotage --real && says 'ACL-41' && says 'CUT-16' && says 'CUT-17'
run 4 sabotage --real job-state-first # needs a crash, and none falls here
run 64 sabotage --real step-2/repeat
nothing_left

# ---- interrupted, and killed ----
"$assay" real tree-3 --seeds 100000 >"$scratch/out" 2>"$scratch/err" &
pid=$!
while ! find "$scratch" -maxdepth 2 -name socket | grep -q . && kill -0 $pid; do sleep 0.05; done
sleep 0.5
kill -INT $pid
wait $pid || :
nothing_left
"$assay" real tree-3 --seeds 100000 >"$scratch/out" 2>"$scratch/err" &
pid=$!
while ! find "$scratch" -maxdepth 2 -name socket | grep -q . && kill -0 $pid; do sleep 0.05; done
sleep 0.5
kill -KILL $pid
wait $pid || :
run 0 decode 000111000000002 --as guid # any start of assay removes what the killed one left
nothing_left

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
