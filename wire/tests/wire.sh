#!/bin/sh
# assay wire on the small subjects: the broken ones are found at the point where they are broken, the
# mended ones hold; bad input is answered with what was wrong; nothing is left behind.
#
# usage: wire.sh ASSAY SOURCE_DIR
set -eu
assay=$1 subjects=$2/wire/subjects
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
export TMPDIR="$scratch/tmp"
mkdir "$TMPDIR" && chmod 1777 "$TMPDIR"
failed=0

wrong() {
    echo "wire.sh: $*" >&2
    failed=1
}

# expect STATUS WORDS COMMAND...: it ends so, and says these words.
expect() {
    status=0 wanted=$1 words=$2
    shift 2
    "$@" >"$scratch/said" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || wrong "status $status instead of $wanted: $* ($(tail -n 3 "$scratch/said"))"
    grep -qF -- "$words" "$scratch/said" || wrong "'$words' is not said by: $* ($(tail -n 3 "$scratch/said"))"
}

# Folders of assay, and servers that serve one of ours.
leftovers() {
    ls "$TMPDIR"
    pgrep -fa "postgres -D $TMPDIR" || :
}

# ---- findings --------------------------------------------------------------------------------------
expect 1 'reproduce  assay wire' "$assay" wire "$subjects/c/broken.yaml" --faults kill-after --lanes 2
grep -q 'exactly-once is broken: job=1, step=0, times=2' "$scratch/said" || wrong "the row is not told"
# (PB2) its control arm held
grep -q 'again      5 of 5; without the fault it holds' "$scratch/said" || wrong "not 5 of 5"
grep -q 'point a:2:kill-after' "$scratch/said" || wrong "the point is not a:2:kill-after"
grep -q ': 1 finding$' "$scratch/said" || wrong "more or less than one finding"
expect 0 ': 0 findings' "$assay" wire "$subjects/c/mended.yaml" --faults kill-after,cut-after,late --lanes 2
grep -q ', 0 missed their point' "$scratch/said" || wrong "points were missed"
expect 1 'exactly-once is broken: job=1, times=2' \
    "$assay" wire "$subjects/shell/broken.yaml" --point a:2:kill-after --repeat 1 --lanes 2
expect 0 ': 0 findings' "$assay" wire "$subjects/shell/mended.yaml" --faults kill-after --lanes 2

# ---- the recording, and lines ------------------------------------------------------------------------
expect 0 'recorded twice without faults: 18 commits, of which 18 have the same statements' \
    "$assay" wire "$subjects/c/broken.yaml" --record --lanes 1
expect 1 '"type":"finding"' "$assay" wire "$subjects/c/broken.yaml" --point a:2:kill-after --lanes 1 \
    --json --out "$scratch/out"
[ -f "$scratch/out/report.html" ] && [ -f "$scratch/out/junit.xml" ] || wrong "no report"
ls "$scratch"/out/findings/*/words.txt >/dev/null || wrong "no words of the finding"

# ---- a second fault inside the recovery ----------------------------------------------------------------
expect 1 'exactly-once is broken' "$assay" wire "$subjects/c/broken.yaml" \
    --point a:1:kill-after,b:2:kill-after --lanes 1
expect 0 ': 0 findings' "$assay" wire "$subjects/c/mended.yaml" --point a:1:kill-after,b:2:kill-after --lanes 1

# ---- the lock: what is in it is not swept again, and what is new is -----------------------------------
lock=$scratch/wire.lock
expect 0 "$lock is written" "$assay" wire "$subjects/c/mended.yaml" --faults cut-after --lanes 2 --against "$lock"
expect 0 '12 of 12 commits are in the lock' \
    "$assay" wire "$subjects/c/mended.yaml" --faults cut-after --lanes 1 --against "$lock"
expect 1 ': 1 finding' "$assay" wire "$subjects/c/broken.yaml" --faults kill-after --lanes 2 --against "$lock"
expect 64 'is no wire.lock' "$assay" wire "$subjects/c/mended.yaml" --against "$subjects/c/schema.sql"

# ---- a draft -----------------------------------------------------------------------------------------
expect 64 'init needs --setup' "$assay" wire init --worker x
cp "$subjects"/shell/* "$scratch/"
cd "$scratch"
expect 0 'public.jobs: 1 rows; done: true (1)' "$assay" wire init --setup 'psql -q -f schema.sql' \
    --worker ./worker.sh --client 'psql -q -c "insert into jobs default values"' --draft draft.yaml
expect 0 ': 0 findings' "$assay" wire draft.yaml --point a:1:kill-after --lanes 1

# ---- nothing was shown -------------------------------------------------------------------------------
# (PB1)
expect 4 'no fault hit anything' "$assay" wire "$subjects/c/mended.yaml" --point a:99:kill-after --lanes 1

# ---- bad input ---------------------------------------------------------------------------------------
finish="psql -q -c \"update jobs set status = 'done'\" -c \"select pg_sleep(60)\""
subject() { # name; variables say which keys differ
    cp "$subjects/c/schema.sql" "$scratch/"
    cat >"$scratch/$1.yaml" <<END
setup: ${setup:-psql -q -f schema.sql}
clients: { run: psql -q -c "insert into jobs default values" }
workers: { run: ${worker:-$finish} }
done: ${query:-select not exists (select 1 from jobs where status <> 'done')}
promises: [{ never: ${never:-select 1 where false}, says: the test }]
patience: 5
END
}
expect 64 "unknown key" sh -c "echo 'setups: x' >$scratch/a.yaml; $assay wire $scratch/a.yaml"
expect 64 "'workers' is missing" sh -c "printf 'setup: x\ndone: y\n' >$scratch/a.yaml; $assay wire $scratch/a.yaml"
expect 64 'cannot be read' "$assay" wire "$scratch/none.yaml"
expect 64 "a:13:kill-after" "$assay" wire "$subjects/c/mended.yaml" --point b
expect 64 "there is no 'bite'" "$assay" wire "$subjects/c/mended.yaml" --faults kill,bite
setup='echo no such schema; exit 3' subject dies
expect 64 'setup ended with status 3' "$assay" wire "$scratch/dies.yaml" --lanes 1
grep -q 'no such schema' "$scratch/said" || wrong "what the setup printed is not told"
query='select from where' subject done
expect 64 'done: ERROR:  syntax error' "$assay" wire "$scratch/done.yaml" --lanes 1
never='select 1 from nowhere' subject never
expect 64 'relation "nowhere" does not exist' "$assay" wire "$scratch/never.yaml" --lanes 1
worker='sleep 100' subject idle
expect 64 'worker a never connected' "$assay" wire "$scratch/idle.yaml" --lanes 1
worker='echo I give up; exit 7' subject quits
expect 64 'I give up' "$assay" wire "$scratch/quits.yaml" --lanes 1

# ---- nothing is left -----------------------------------------------------------------------------------
# (LN2) (TT2); of what SIGKILL ended, the next command removes it (CR1)
[ -z "$(leftovers)" ] || wrong "left behind: $(leftovers)"
"$assay" wire "$subjects/c/mended.yaml" --lanes 2 >/dev/null 2>&1 &
process=$!
sleep 4
kill -INT $process
wait $process || :
[ -z "$(leftovers)" ] || wrong "left behind by SIGINT: $(leftovers)"
"$assay" wire "$subjects/c/mended.yaml" --lanes 1 >/dev/null 2>&1 &
process=$!
sleep 4
kill -KILL $process
wait $process || :
sleep 2
"$assay" wire "$subjects/c/mended.yaml" --record --lanes 1 >/dev/null
[ -z "$(leftovers)" ] || wrong "left behind by SIGKILL: $(leftovers)"
exit $failed
