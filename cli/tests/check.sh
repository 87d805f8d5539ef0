# What the scripts that test the program share; sourced, after assay=PROGRAM is set.
failures=0 checks=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAILED: $1"
    sed 's/^/    stdout: /' "$scratch/out"
    sed 's/^/    stderr: /' "$scratch/err"
    failures=$((failures + 1))
}

# run WANTED_STATUS ARGUMENT...
run() {
    wanted=$1
    shift
    "$assay" "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    checks=$((checks + 1))
    [ $status -eq "$wanted" ] || fail "assay $*: status $status, wanted $wanted"
    last="assay $*"
}
says() { grep -qF -- "$1" "$scratch/out" || fail "$last does not print '$1'"; }
complains() { grep -qF -- "$1" "$scratch/err" || fail "$last does not complain '$1'"; }
