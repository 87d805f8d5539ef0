#!/bin/sh
# A commit builds to the same program: in another folder, at another time, with another
# locale, time zone and number of jobs. It builds twice, so only ./test --full asks for it.
#
# usage: reproducible.sh SOURCE_DIR
set -eu
source=$1
if [ -z "${ASSAY_FULL:-}" ]; then
    echo "SKIPPED: the program is not built twice; ./test --full does it"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What is compared is the work tree as it is now.
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T - -f "$scratch/tree.tar")
build() { # folder, jobs
    mkdir -p "$scratch/$1"
    tar -x -C "$scratch/$1" -f "$scratch/tree.tar"
    cmake -S "$scratch/$1" -B "$scratch/$1/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        >"$scratch/log" 2>&1 && ninja -C "$scratch/$1/build/release" -j "$2" cli/assay >"$scratch/log" 2>&1 || {
        tail -n 20 "$scratch/log" >&2
        exit 1
    }
    sha256sum <"$scratch/$1/build/release/cli/assay"
}
one=$(LC_ALL=C TZ=UTC build one 2)
sleep 1
other=$(LC_ALL=C.UTF-8 TZ=Pacific/Auckland build a/folder/with/a/longer/name 1)
[ "$one" = "$other" ] || {
    echo "FAILED: two builds of the same sources differ"
    cmp "$scratch/one/build/release/cli/assay" "$scratch/a/folder/with/a/longer/name/build/release/cli/assay" || :
    exit 1
}
! grep -q "$scratch" "$scratch/one/build/release/cli/assay" || {
    echo "FAILED: the program names the folder that it was built in"
    exit 1
}
echo "two builds of the same sources are the same program"
