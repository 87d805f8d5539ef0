#!/bin/sh
# Proves that every numbered invariant of a header, such as (W2) of sim/world.h, is held to:
#   asserted  its label is in the comment of a CHECK, on the lines of that CHECK
#   tested    its label is in a comment of a test, or begins a message of it: it shows it
#   listed    invariants.list says why it has neither, and names the test that shows it if one does
# A label is one header's own. A citation names a label that is defined.
#
# usage: invariants.sh SOURCE_DIR
set -eu
here=$(dirname "$(readlink -f "$0")")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Reads "FILE:text of a line" for all lines that matter, then the list; prints what is wrong.
judge() { # source dir, list
    (cd "$1" && find model faults scenarios sim real wire reports verify cli bench -type f \
        \( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.py' \) \
        ! -name invariants.sh ! -path '*/node_modules/*' | sort | xargs awk '{ print FILENAME ":" $0 }') >"$scratch/lines"
    (cd "$1" && awk -v list="$2" '
        function wrong(text) { print text; failed = 1 }

        # The labels of a text, as words; into found[1..n].
        function labels(text,    n) {
            n = 0
            while (match(text, /[A-Z][A-Z]?[0-9]/)) {
                before = RSTART == 1 ? " " : substr(text, RSTART - 1, 1)
                after = substr(text, RSTART + RLENGTH, 1)
                word = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                if (before !~ /[A-Za-z0-9_-]/ && after !~ /[A-Za-z0-9_]/) found[++n] = word
            }
            return n
        }

        {
            at = index($0, ":"); file = substr($0, 1, at - 1); line = substr($0, at + 1)
            test = file ~ /\/tests\//; header = file ~ /\.h$/
            if (file != last) { open = 0; last = file }
        }
        header && !test && line ~ /^ \* \([A-Z][A-Z]?[0-9]\) / {
            labels(line); label = found[1]
            if (label in defined) wrong(label ": defined in " defined[label] " and in " file)
            defined[label] = file; order[++count] = label
            next
        }
        {
            comment = match(line, /\/\*/) ? substr(line, RSTART) : line ~ /^ *(\*|#)/ ? line : ""
            if (test && match(line, /"[A-Z]+[0-9]/))
                comment = comment " " substr(line, RSTART, RLENGTH)
            if (line ~ /(^|[^A-Za-z_])(CHECK|CHECK_ALL|_Static_assert)\(/) open = 1
            n = comment == "" ? 0 : labels(comment)
            for (i = 1; i <= n; i++) {
                if (open && !test) asserted[found[i]] = file
                if (test) tested[found[i]] = file
                if (index(comment, "(" found[i] ")") || (open && !test)) cited[found[i]] = file
            }
            if (open && line ~ /;/) open = 0
        }
        END {
            while ((getline line <list) > 0) {
                if (line ~ /^(#|$)/) continue
                split(line, part, " ")
                label = part[1]
                if (label in listed) wrong(label ": listed twice")
                listed[label] = 1
                if (!(label in defined)) wrong(label ": listed, and not defined")
                if (label in asserted) wrong(label ": listed, and asserted in " asserted[label])
                if (part[2] == "test") {
                    split(part[3], where, ":"); there = 0
                    while ((getline text <where[1]) > 0) there = there || index(text, where[2])
                    close(where[1])
                    if (!there) wrong(label ": " where[1] " has no " where[2])
                } else if (line !~ /^[A-Z]+[0-9]+ .*[a-z]/) wrong(label ": listed without a reason")
            }
            for (label in cited)
                if (!(label in defined)) wrong(label ": cited in " cited[label] ", and not defined")
            for (i = 1; i <= count; i++) {
                label = order[i]
                if (label in asserted) a++
                else if (label in tested) t++
                else if (label in listed) l++
                else wrong(label ": of " defined[label] ", on no CHECK, in no test, and not listed")
            }
            printf "%d invariants: %d asserted, %d tested, %d listed\n", count, a, t, l
            exit failed || count == 0
        }' "$scratch/lines")
}

# ---- what it must find, in a tree of its own -----------------------------------------------------
planted() { # what is expected to be said; the tree is $scratch/tree
    if judge "$scratch/tree" "$scratch/list" >"$scratch/said" ||
        ! grep -qF "$1" "$scratch/said"; then
        echo "not found: $1" && cat "$scratch/said" && exit 1
    fi
}
plant() { # header, source, test, list
    rm -rf "$scratch/tree" && for layer in model faults scenarios sim real wire reports verify cli bench; do
        mkdir -p "$scratch/tree/$layer/tests"
    done
    printf '%b' "$1" >"$scratch/tree/model/a.h" && printf '%b' "$2" >"$scratch/tree/model/a.c"
    printf '%b' "$3" >"$scratch/tree/sim/tests/test_a.c" && printf '%b' "$4" >"$scratch/list"
}
one='/* A header.\n *\n * (A1) It holds. */\n'
check='    CHECK(x &&\n          y); /* A1 */\n'
plant "$one" "$check" '' ''
judge "$scratch/tree" "$scratch/list" | grep -qx '1 invariants: 1 asserted, 0 tested, 0 listed'
plant "$one" '' '/* (A1) */\n' ''
judge "$scratch/tree" "$scratch/list" | grep -qx '1 invariants: 0 asserted, 1 tested, 0 listed'
plant "$one" '' 'Test(a, holds)\n' 'A1 test sim/tests/test_a.c:holds\n'
judge "$scratch/tree" "$scratch/list" | grep -qx '1 invariants: 0 asserted, 0 tested, 1 listed'
plant "$one" '    CHECK(x);\n    y(); /* A1 */\n' '' '' && planted 'on no CHECK'
plant "$one * (A1) Again.\n" "$check" '' '' && planted 'defined in'
plant "$one" "$check/* (A2) */\n" '' '' && planted 'A2: cited in'
plant "$one" "$check" '' 'A1 no need\n' && planted 'listed, and asserted'
plant "$one" "$check" '' 'A2 no need\n' && planted 'listed, and not defined'
plant "$one" '' 'Test(a, holds)\n' 'A1 test sim/tests/test_a.c:fails\n' && planted 'has no fails'
plant "$one" '' '' 'A1\n' && planted 'listed without a reason'

judge "$1" "$here/invariants.list"
