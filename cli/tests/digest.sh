#!/bin/sh
# A run is the same on every build: the digest of one campaign, by this build with one thread and
# with two, and by builds of the same sources that differ in compiler, optimisation and sanitizers.
# Those are kept in FOLDER, so that only what has changed is compiled again.
#
# usage: digest.sh ASSAY SOURCE_DIR FOLDER
set -eu
assay=$1 source=$2 folder=$3
status=0
mkdir -p "$folder"

# 2,000 seeds over ten scenarios.
campaign() { # program, more arguments
    program=$1
    shift
    "$program" campaign ceilings chain-4 conditional cycle lossy-failover peer-5 pending thresholds \
        tree-3 tree-7 --seeds 200 --no-gates --json "$@" | tail -n 1 |
        sed -n 's/.*"seeds":2000,.*"digest":"\([0-9a-f]*\)".*/\1/p'
}

compare() { # what, digest
    if [ -n "$2" ] && [ "$2" = "$reference" ]; then
        echo "$2  $1"
    else
        echo "$2  $1: not the same"
        status=1
    fi
}

# build NAME CMAKE_OPTION...: the program alone, no tests.
build() {
    name=$1
    shift
    log=$folder/$name.log
    if ! { cmake -G Ninja -S "$source" -B "$folder/$name" -DASSAY_TESTS=OFF "$@" &&
        cmake --build "$folder/$name" --target assay; } >"$log" 2>&1; then
        tail -n 20 "$log"
        echo "the build $name failed"
        exit 1
    fi
    compare "$name" "$(campaign "$folder/$name/cli/assay")"
}

reference=$(campaign "$assay" --jobs 1)
compare 'this build, one thread' "$reference"
compare 'this build, two threads' "$(campaign "$assay" --jobs 2)"
build gcc-O0 -DCMAKE_C_COMPILER=gcc -DASSAY_OPTIMIZE=-O0
build sanitized -DCMAKE_C_COMPILER=gcc -DASSAY_OPTIMIZE=-O1 -DASSAY_SANITIZE=address,undefined
if command -v clang >/dev/null; then
    build clang-O3 -DCMAKE_C_COMPILER=clang -DASSAY_OPTIMIZE=-O3
else
    echo "no clang here: one build less is compared"
fi
exit $status
