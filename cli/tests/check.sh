# What the scripts that test the program share; sourced, after assay=PROGRAM is set.
failures=0 checks=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAILED: $1"
    sed 's/^/    stdout: /' "$scratch/out" | head -n 60
    sed 's/^/    stderr: /' "$scratch/err" | head -n 60
    failures=$((failures + 1))
}

# run WANTED_STATUS ARGUMENT...
run() {
    wanted=$1
    shift
    status=0
    "$assay" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    checks=$((checks + 1))
    last="assay $*"
    [ $status -eq "$wanted" ] || fail "$last: status $status, wanted $wanted"
}
says() { grep -qF -- "$1" "$scratch/out" || fail "$last does not print '$1'"; }
says_not() { ! grep -qF -- "$1" "$scratch/out" || fail "$last prints '$1'"; }
says_like() { grep -qE -- "$1" "$scratch/out" || fail "$last prints nothing like '$1'"; }
complains() { grep -qF -- "$1" "$scratch/err" || fail "$last does not complain '$1'"; }
only_json() { ! grep -qv '^{"type":"[a-z_]*",.*}$' "$scratch/out" || fail "$last prints more than JSON lines"; }
in_one_line() { # bad input: nothing on stdout, one line on stderr
    [ ! -s "$scratch/out" ] || fail "$last printed something"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$last did not complain in one line"
}
bad() { # what it must say, then the arguments
    message=$1
    shift
    run 64 "$@"
    in_one_line
    complains "$message"
}

# ---- for verbs that start servers ----

# Servers are made in $scratch, so that what is left behind is seen.
servers_in_scratch() {
    TMPDIR=$scratch
    export TMPDIR
    chmod 711 "$scratch" # the server runs as another user when we are root
}
nothing_left() {
    checks=$((checks + 1))
    left=$(find "$scratch" -maxdepth 1 -name 'assay-cluster-*')
    [ -z "$left" ] || fail "left behind: $left"
}
