#!/bin/sh
# Proves on the archives themselves that model/ is pure (PR1; tests/purity in ctest):
#   no writable data: every .data, .bss, .tdata and .tbss section is empty (.data.rel.ro is constant
#   once the program is loaded);
#   no imports but memory functions and the check hook: so no I/O, no allocation, no clock, no lock;
#   an oracle imports nothing of the model, because nothing else is allowed either.
# ARCHIVE+OTHER may import what OTHER defines.
# Then it plants what it forbids in an object of its own and must object to it.
#
# usage: purity.sh CC ARCHIVE...
set -eu
cc=$1
shift
allowed='^(memcpy|memmove|memset|memcmp|check_failed|_GLOBAL_OFFSET_TABLE_)$'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints what is wrong with an archive or object; nothing if it is pure.
faults_of() { # archive or object, another that it may import from
    objdump -h "$1" | awk '$2 ~ /^\.(data|bss|tdata|tbss)(\.|$)/ && $2 !~ /^\.data\.rel\.ro/ &&
        $3 !~ /^0+$/ {
        print "writable section " $2 " of " $3 " bytes" }'
    nm --defined-only "$1" ${2:+"$2"} | awk 'NF == 3 { print $3 }' | sort -u >"$scratch/defined"
    nm -u "$1" | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u >"$scratch/wanted"
    comm -13 "$scratch/defined" "$scratch/wanted" | grep -Ev "$allowed" | sed 's/^/imports /' || :
}

status=0
for argument in "$@"; do
    archive=${argument%%+*} other=
    [ "$archive" = "$argument" ] || other=${argument#*+}
    [ "$(nm --defined-only "$archive" | grep -c ' [TR] ')" -gt 0 ] || {
        echo "$archive: defines nothing: is this the library?"
        status=1
    }
    faults=$(faults_of "$archive" "$other")
    if [ -n "$faults" ]; then
        printf '%s is not pure:\n%s\n' "$archive" "$faults"
        status=1
    else
        echo "$archive: pure"
    fi
done

# The test of the test: each of these must be found.
must_find() {
    printf '%s\n' "$2" >"$scratch/planted.c"
    "$cc" -O1 -c "$scratch/planted.c" -o "$scratch/planted.o"
    faults_of "$scratch/planted.o" | grep -q "$1" || {
        echo "planted '$2' was not found"
        status=1
    }
}
must_find 'writable section .bss' 'static int n; int next(void) { return ++n; }'
must_find 'writable section .data' 'static int n = 7; int next(void) { return ++n; }'
must_find 'writable section .tbss' '_Thread_local int n; int next(void) { return ++n; }'
must_find 'writable section .data' 'static const char *s = "a"; const char *f(void) { return s++; }'
must_find 'imports malloc' 'void *malloc(unsigned long); void *get(void) { return malloc(8); }'
must_find 'imports ledger_add' 'long ledger_add(long, int); long f(void) { return ledger_add(0, 1); }'
exit $status
