#!/bin/sh
# A wrong weight in model/ledger.c is caught by the oracles too, not only by the suite of the ledger:
# they share no code with it. Each weight of the layout table in turn is changed in a copy; the copy is
# linked before the archives, so that it wins over their member; then a promise must be broken
# (wrong_weight.c). With the file as it is, none may be.
#
# usage: wrong_weight.sh CC LEDGER.c INCLUDE_ROOT LINK...   (objects, archives and libraries)
set -eu
cc=$1 ledger=$2 root=$3
shift 3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# build COPY LINK...: the driver with this ledger.
build() {
    "$cc" -std=c17 -O1 "-I$root" -c "$1" -o "$scratch/ledger.o"
    shift
    "$cc" -fno-lto -no-pie "$scratch/ledger.o" "$@" -o "$scratch/driver"
}

# plant FIELD: a copy in which the field has the weight of another.
plant() {
    awk -v field="[$1]" '
        BEGIN { count = split("T1 B100 B10 B1 M100", weights, " ") }
        index($0, field) && / LEDGER_(ACTIVITY|GUID),/ {
            for (i = 1; i <= count; i++)
                if (sub(" " weights[i] ",", " " weights[i % count + 1] ",")) { print; next }
            sub(/ 1, /, " B1, ")
        }
        { print }' "$ledger" >"$scratch/$1.c"
    if cmp -s "$ledger" "$scratch/$1.c"; then
        echo "$1: no weight was found to change"
        exit 1
    fi
}

# judge NAME EXPECTED: runs the driver, which must end so.
judge() {
    status=0
    said=$("$scratch/driver" 2>&1) || status=$?
    echo "$1: $said"
    if [ "$status" -ne "$2" ]; then
        echo "$1: exit $status where $2 was expected"
        exit 1
    fi
}

build "$ledger" "$@"
judge "as it is" 0

fields=$(sed -n 's/^ *\[\([A-Z0-9_]*\)\] *= {".*", *LEDGER_\(ACTIVITY\|GUID\),.*/\1/p' "$ledger")
count=0
for field in $fields; do
    plant "$field"
    build "$scratch/$field.c" "$@"
    case $field in
    # No engine adds by these: the reserved digits are never written, and an entry counts by 1, which
    # is in the primitive. That the list is right is tested, too.
    GUID_RESERVED | GUID_ATTEMPTS | ACTIVITY_LEG2_ENTRIES) judge "$field" 0 ;;
    *) judge "$field" 1 ;;
    esac
    count=$((count + 1))
done
[ "$count" -eq 12 ] || { echo "$count fields, not 12: is this the layout table?"; exit 1; }
