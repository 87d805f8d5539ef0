#!/bin/sh
# Counts what adding a protocol takes, on the example: every line of code that the inbox brings, in
# files of its own and in lists that all protocols share, blank lines and comments apart. Says what it
# counted; fails at 300, or if the walk-through (model/README.md) tells another number.
#
#   example.sh SOURCE_DIR
set -eu
cd "$1"
most=299
# What the example brings, wherever a line names it. A line that opens a bracket counts with all
# that follows up to where it closes.
names='inbox|INBOX|ACCOUNT|LETTER|[^A-Z]BOX[^A-Z]|BUNDLE\((SEND|APPLY),'

# The code of a file: its lines with their numbers, without comments.
code() {
    case "$1" in
    *.yaml | *CMakeLists.txt) sed 's/#.*//' "$1" | grep -n '[^[:space:]]' || true ;;
    *) awk '{
            line = ""
            text = $0
            while (text != "") {
                if (inside) {
                    end = index(text, "*/")
                    if (end == 0) { text = ""; break }
                    text = substr(text, end + 2)
                    inside = 0
                } else {
                    start = index(text, "/*")
                    if (start == 0) { line = line text; break }
                    line = line substr(text, 1, start - 1)
                    text = substr(text, start + 2)
                    inside = 1
                }
            }
            if (line ~ /[^[:space:]]/) print NR ":" line
        }' "$1" ;;
    esac
}

# mentions FILE NAMES
mentions() {
    code "$1" | awk -v names="$2" -v file="$1" '
        open > 0 || $0 ~ names {
            print file ":" $0
            open += gsub(/[({\[]/, "") - gsub(/[)}\]]/, "")
            if (open < 0) open = 0
        }'
}

own=0
for file in $(find model faults scenarios sim real -name 'inbox*.*' ! -path '*/tests/*' | sort); do
    lines=$(code "$file" | wc -l)
    printf '%4d  %s\n' "$lines" "$file"
    own=$((own + lines))
done

# Of the tests only the table of which promise finds which bug: that one is asked for.
shared=$(
    find model faults scenarios sim real wire reports cli \
        \( -name '*.c' -o -name '*.h' -o -name '*.def' -o -name CMakeLists.txt \) \
        ! -name 'inbox*' ! -path '*/tests/*' | sort | while read -r file; do
        mentions "$file" "$names"
    done
    mentions sim/tests/test_kill.c '[{]CLAUSE_BOX_'
)
count=$(printf '%s\n' "$shared" | wc -l)
printf '%4d  in shared files:\n%s\n' "$count" "$shared"

total=$((own + count))
echo "$total lines in all; at most $most"
[ "$total" -le "$most" ] || exit 1
grep -q "in $total lines" model/README.md || {
    echo "model/README.md does not say: in $total lines"
    exit 1
}
