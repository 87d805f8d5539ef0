#!/bin/sh
# Proves that a layer sees the headers of the layers it may use and of no other: for every ordered
# pair of layers it compiles a probe with the include path of the one that asks for the other.
#
# usage: layering.sh CC SOURCE_DIR LAYERS, where each line of the file LAYERS is: layer '-I...' '-I...'
set -eu
cc=$1 source=$2 layers=$3
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The arrows of the architecture, stated once more and independently of the build files.
may_use() {
    case $1 in
    model) echo "model" ;;
    faults) echo "faults model" ;;
    scenarios) echo "scenarios faults model" ;;
    sim) echo "sim scenarios faults model" ;;
    real) echo "real scenarios faults model" ;;
    wire) echo "wire real scenarios faults model" ;;
    reports) echo "reports model" ;;
    verify) echo "verify sim real reports scenarios faults model" ;;
    bench) echo "bench cli verify sim wire real reports scenarios faults model" ;;
    cli) echo "cli verify sim wire real reports scenarios faults model" ;;
    *) echo "unknown layer $1" >&2 && exit 1 ;;
    esac
}

compiles() { # layer's flags, quoted for the shell; the source is $scratch/probe.c
    eval "set -- $1"
    "$cc" -std=c17 -fsyntax-only "$@" -x c "$scratch/probe.c" >"$scratch/log" 2>&1
}

# Appends to the probe: this file is visible (yes) or not (no).
claim() {
    condition=
    [ "$2" = yes ] && condition='!'
    printf '#if %s__has_include("%s")\n#error %s visible=%s does not hold\n#endif\n' \
        "$condition" "$1" "$1" "$2" >>"$scratch/probe.c"
    claims=$((claims + 1))
}

# All claims about a layer are one compilation. Then, for each layer that it must not use, a real
# include of a real header, which must not compile.
prove() {
    if ! compiles "$2"; then
        echo "$1:" && cat "$scratch/log"
        status=1
    fi
    for header in $forbidden; do
        printf '#include "%s"\n' "$header" >"$scratch/probe.c"
        if compiles "$2"; then
            echo "$1 can include $header"
            status=1
        fi
        refusals=$((refusals + 1))
    done
}

claims=0 refusals=0
while read -r layer flags; do
    : >"$scratch/probe.c"
    forbidden=
    for other in model faults scenarios sim real wire reports verify cli bench; do
        allowed=no
        if [ "$layer" != oracle ]; then
            for name in $(may_use "$layer"); do [ "$name" = "$other" ] && allowed=yes; done
            claim "$other/README.md" $allowed
        fi
        for header in "$source/$other"/*.h; do
            [ -e "$header" ] || continue
            name=$other/$(basename "$header")
            visible=$allowed # the oracles see the check hook, the clauses, the schema, and no engine
            case $layer:$name in
            oracle:model/check.h | oracle:model/clause.h | oracle:model/rows.h) visible=yes ;;
            esac
            claim "$name" $visible
            [ $visible = no ] && forbidden="$forbidden $name"
        done
    done
    # One header of each forbidden layer will do; for the oracles, which live in model/, all.
    [ "$layer" = oracle ] || forbidden=$(printf '%s\n' $forbidden | sort -t/ -u -k1,1)
    prove "$layer" "$flags"
done <"$layers"

# A relative include would walk around the arrows.
if grep -rnE '#include "\.\./' "$source" --include='*.[ch]' --exclude-dir=build; then
    echo "relative includes leave the layer"
    status=1
fi
# Reference models are for tests; decode reads with one, and a benchmark measures one.
if grep -rnE '#include "model/reference/' "$source" --include='*.[ch]' --exclude-dir=build --exclude-dir=tests |
    grep -vE "^$source/(model/reference|bench)/|^$source/reports/reading.c:"; then
    echo "a reference model is used by what runs"
    status=1
fi
# What hashes for a report is nobody else's: the protocols under test hash by themselves. The proxy
# speaks TLS.
if grep -rnE '#include <openssl/' "$source" --include='*.[ch]' --exclude-dir=build |
    grep -v -e "^$source/cli/" -e "^$source/wire/tls.c:"; then
    echo "libcrypto is used outside of cli/ and wire/tls.c"
    status=1
fi
# Result lines have the keys and kinds of reports/lines.def; junit.xml has a type of its own.
if grep -rnE '"type"' "$source" --include='*.[ch]' --exclude-dir=build --exclude-dir=tests |
    grep -vE "^$source/reports/(line.c|junit.c|format.h):"; then
    echo "a line is written or read past reports/line.h"
    status=1
fi
echo "$claims claims about what is visible, $refusals includes refused"
[ $claims -gt 100 ] && [ $refusals -gt 20 ] || { echo "too few"; status=1; }
exit $status
