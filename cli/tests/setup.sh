#!/bin/sh
# The scripts on a machine that lacks packages, for which a fake dpkg-query and apt-get stand in; and
# that they build what is to be built, and nothing else.
#
# usage: setup.sh SOURCE_DIR
set -u
source=$1
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

fake() { # name, body
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/bin/$1" && chmod +x "$scratch/bin/$1"
}
fail() {
    echo "FAILED: $1" && cat "$scratch/out"
    failures=$((failures + 1))
}
# Runs `need run` as ./run does, with the fakes first on the path.
need_run() {
    (cd "$source" && PATH=$scratch/bin:$PATH sh -euc '. .ci/setup; need run; echo went on') \
        >"$scratch/out" 2>&1
    status=$?
}
says() { grep -q -- "$1" "$scratch/out" || fail "it does not say '$1'"; }

fake dpkg-query '[ "$4" != cmake ] && echo installed'
fake apt-get 'echo "apt-get $*" >>'"$scratch/apt; [ \"\$1\" = update ]"
fake id 'echo 0'
need_run # as root, and the installation fails
[ $status -eq 69 ] || fail "status $status, wanted 69"
says 'could not be installed: cmake $'
grep -q 'install .* cmake$' "$scratch/apt" || fail "apt-get was not asked for cmake alone"

fake id 'echo 1000'
fake sudo 'echo "sudo $*" >>'"$scratch/sudo"'; exit 1'
need_run # as a user with sudo
[ $status -eq 69 ] || fail "status $status, wanted 69"
grep -q '^sudo apt-get update' "$scratch/sudo" || fail "sudo was not used"

fake dpkg-query 'echo installed'
rm -f "$scratch/apt"
need_run # nothing is missing: nothing is asked
[ $status -eq 0 ] || fail "status $status, wanted 0"
says 'went on'
[ ! -e "$scratch/apt" ] || fail "apt-get was called although nothing is missing"

# With clang and without gcc, gcc is not asked for.
mkdir "$scratch/clang"
for tool in sh sed tr sort cat; do ln -s "$(command -v $tool)" "$scratch/clang/$tool"; done
lacks() { (cd "$source" && PATH=$scratch/clang sh -euc '. .ci/setup; missing_packages run') >"$scratch/out" 2>&1; }
fake dpkg-query '[ "$4" != gcc ] && echo installed'
cp "$scratch/bin/dpkg-query" "$scratch/clang/"
lacks
says '^gcc $'
cp "$scratch/bin/dpkg-query" "$scratch/clang/clang" # a program, that is all
lacks
[ ! -s "$scratch/out" ] || fail 'gcc is asked for beside clang'
fake dpkg-query 'echo installed'

# A small project that lists its files by pattern, as ours does. `build` says so if it has work.
mkdir -p "$scratch/project/.ci"
cp "$source/.ci/setup" "$scratch/project/.ci/"
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.21)
project(small LANGUAGES NONE)
file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/*.part)
add_custom_command(OUTPUT all.out COMMAND cat ${files} > all.out DEPENDS ${files})
add_custom_target(everything ALL DEPENDS all.out)
END
cat >"$scratch/project/CMakePresets.json" <<'END'
{"version": 3, "configurePresets": [
    {"name": "small", "generator": "Ninja", "binaryDir": "${sourceDir}/build/small"}]}
END
builds() { # what is to be built, as the program has it afterwards; '': nothing
    (cd "$scratch/project" && sh -euc '. .ci/setup; build small') >"$scratch/out" 2>&1 ||
        fail 'the small project was not built'
    if [ -n "$1" ]; then says '^building (small)$'; else [ ! -s "$scratch/out" ] || fail 'it built anew'; fi
    [ -z "$1" ] || [ "$(cat "$scratch/project/build/small/all.out")" = "$1" ] || fail "it is not $1"
}
echo one >"$scratch/project/a.part"
builds one
builds ''
echo two >"$scratch/project/b.part" # a new file
builds "one
two"
builds ''
echo three >"$scratch/project/b.part" # a changed one
builds "one
three"
rm "$scratch/project/a.part" # one less
builds three
builds ''

# Every package of the list is a name, and every group is one that the scripts ask for.
grep -v '^#' "$source/.ci/packages" | grep -vE '^(run|server|wire|bench|test|coverage|full|mutants|browser|node):( [a-z0-9.+-]+)+$' &&
    fail "the lines above are no groups of packages"

[ $failures -eq 0 ] && echo "the scripts know what is missing"
exit $failures
