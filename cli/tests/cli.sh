#!/bin/sh
# The program as a script sees it: exit status, and what goes to stdout and stderr.
#
# usage: cli.sh ASSAY SOURCE_DIR
set -u
assay=$1 source=$2
. "$(dirname "$0")/check.sh"

# ---- good input ----
run 0 decode 001111000000002 && says 'activity ledger' && says 'Leg2 entries       2 of 99,999,999'
run 0 decode 000111000000002 --as guid && says 'Step 3'
run 0 decode --as=legacy 889000001000000 && says 'Leg2 is open'
run 0 decode 99996146636629 --as key && says 'flow 2, 466366000000000, awaited by activity 5 of flow 1'
run 0 decode 899000000000000 && says 'earlier design' && says 'collation key'
run 0 decode 0 --json && says '"type":"reading"'
run 0 decode --help && says 'example: assay decode'
run 0 list --help && says 'example: assay list'
run 0 bench --help && says 'example: assay bench'
run 0 --help && says 'usage: assay VERB'
run 0 help && says 'decode'
run 0 help decode && says 'example: assay decode'
run 0 --version && says 'assay '
run 0 list clauses && says 'ACL-19'
run 0 list clauses LEG KEY-3 && says 'LEG-10' && says 'KEY-3'
run 0 list clauses --json && says '"type":"clause"'
run 0 list errata ACL-4 && says 'E-ACL-4'
run 0 list errata E-SEQ && says 'E-SEQ-15'
run 0 bench seq --max 1000 --json && says '"name":"seq"' && says '"name":"seq_reclaim"'

# ---- two designs side by side ----
run 0 compare --help && says 'example: assay compare'
run 0 compare --out "$scratch/compared" && says 'earlier ledger' &&
    says 'of 9 rows the activity ledger breaks in 0'
awk '/^(none|abort|delay|server) / && !/holds +holds/ { exit bad = 1 } END { exit bad }' \
    "$scratch/out" || fail "$last: the earlier ledger breaks where it should hold"
awk '/^(crash|unknown|duplicate|pause|clock) / && !/holds +LEG-[0-9]+ in [0-9]+ steps/ \
    { exit bad = 1 } END { exit bad }' "$scratch/out" ||
    fail "$last: the earlier ledger holds where it should break"
run 1 replay "$scratch/compared/legacy-duplicate.json" && says 'breaks     LEG-6'
run 69 compare --seeds 500 --out "$scratch/compared" # it does not write over them
run 0 compare --seeds 100 --json && says '"type":"cell","fault":"none","protocol":"activity"'
grep -qv '^{' "$scratch/out" && fail "$last prints more than JSON"

# ---- a ledger that no run can have written ----
run 1 decode 001120000000002 --as activity && says 'Not legal: a marker digit is neither 0 nor 1'
run 1 decode 001120000000002 --json && says '"legal":false'
grep -qv '^{' "$scratch/out" && fail "$last prints more than JSON"
run 1 decode 001120000000002 && says 'is no activity ledger: a marker digit' && says 'is no collation key'

# ---- bad input: status 64, one line that says what, where and what would be right ----
bad() { # what it must say, then the arguments
    message=$1
    shift
    run 64 "$@"
    in_one_line
    complains "$message"
}
bad "it takes no argument, such as 'legacy'" compare legacy
bad "--seeds 'x'" compare --seeds x
bad 'it cannot be made' compare --out /proc/none/such
bad 'position 16: a 16th digit; a ledger is 1 to 15' decode 0011000000000000 --as activity
bad 'position 16: a 16th digit' decode 0011000000000000 --as guid
bad 'position 16: a 16th digit' decode 0011000000000000 --as legacy
bad 'position 16: a 16th digit' decode 0011000000000000
bad 'position 16: a 16th digit' decode 1234567890123456
bad 'position 16' decode 9999999999999999
bad 'position 1: a minus sign' decode -5
bad '12\x0a3' decode "$(printf '12\n3')"
bad '1234567890123456789012345678901234567890...' decode "$(printf '1234567890%.0s' 1 2 3 4 5 6 7 8)"
bad 'position 1: a minus sign' decode -5 --as activity
bad 'position 1' decode -5 --as key
bad 'position 4: a character that is not a digit' decode 001x --as activity
bad 'position 4: a character that is not a digit' decode 001x
bad 'position 3: white space' decode '00 1'
bad 'position 1: nothing' decode ''
bad 'position 1' decode '' --as key
bad 'position' decode 9146 --as key      # never closed
bad 'position' decode 9462 --as key      # never opened
bad 'position' decode 146629 --as key    # a group before any activity
bad 'position' decode 6122 --as key      # an empty group
bad 'position' decode 9146629 --as key   # a pending activity awaits nothing
bad 'position' decode 614621462 --as key # two groups on one activity
bad 'position' decode 6066 --as key      # an inner 0
bad 'position 16' decode 9999999999999999 --as key # 16 activities
bad 'position 18' decode 61999999999999999992 --as key
bad 'it is one of activity, guid, legacy, key' decode 1 --as ledger
bad 'one VALUE is needed, 0 were given' decode
bad 'one VALUE is needed, 2 were given' decode 1 2
bad "there is no option '--colour'" decode 1 --colour
bad '--as needs a value' decode 1 --as
bad '--json takes no value' decode 1 --json=yes
bad '--as is given twice' decode 1 --as key --as guid
bad "'scenery' cannot be listed" list scenery
bad 'say what to list' list
bad 'an ID is not empty' list clauses ''
bad "there is no option '--colour'" list clauses --colour
bad "there is no 'ACL-99'" list clauses ACL-99
bad "there is no 'XYZ'" list errata XYZ
bad 'exclude each other' list clauses --json --markdown
bad "'sql' is no benchmark" bench seq sql
bad 'it is a number from 1000' bench --max 12
bad 'it is a number from 1000' bench --max ten
bad "there is no verb 'decoed'" decoed

run 64 && complains 'usage: assay VERB'

# ---- what a shell proposes ----
run 0 completion --help && says 'example: assay completion'
run 0 completion words -- ca && says campaign
run 0 completion words -- run tree- && says tree-3 && says_not cycle
run 0 completion words -- run tree-3 --se && says --seed && says_not --sabotage
run 0 completion words -- run tree-3 --sabotage lost-s && says lost-snapshot
run 0 completion words -- campaign --without ACL-2 && says ACL-21
run 0 completion words -- decode --as = g && says guid # as bash splits --as=g
run 0 completion words -- run tree-3 --out '' && says_not tree
run 0 completion words -- nothing '' && says_not tree
bad 'say for which shell' completion
bad "'tcsh' is none of bash, zsh, fish, words" completion tcsh
bad 'only words takes more' completion bash run
proposed() { # program and options of a shell, the rest of the command; into $scratch/out
    checks=$((checks + 1))
    last=$1
    PATH=$(dirname "$assay"):$PATH "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || fail "$last fails"
}
if command -v bash >/dev/null; then
    proposed bash -c 'eval "$(assay completion bash)"
        COMP_WORDS=(assay explore peer-3 --level s) COMP_CWORD=4 && _assay && echo "${COMPREPLY[*]}"
        COMP_WORDS=(assay ru) COMP_CWORD=1 && _assay && echo "${COMPREPLY[*]}"
        COMP_WORDS=(assay run "") COMP_CWORD=2 && _assay && echo "${#COMPREPLY[*]} of them"'
    says statement && says run && says "$("$assay" list scenarios --json | grep -vc '"name":"drawn-') of them"
fi
if command -v zsh >/dev/null; then
    proposed zsh -fc 'eval "$(assay completion zsh)"
        compadd() { print -l -- $found }
        words=(assay explore peer-3 --level s) CURRENT=5 && _assay'
    says statement
fi
if command -v fish >/dev/null; then
    proposed fish -c 'assay completion fish | source; complete -C "assay explore peer-3 --level s"'
    says statement
fi

# ---- colour on a terminal only, and not with NO_COLOR ----
coloured() { # shell command
    checks=$((checks + 1))
    script -qec "$1" /dev/null </dev/null >"$scratch/out" 2>"$scratch/err"
    grep -q "$(printf '\033')" "$scratch/out"
}
if command -v script >/dev/null; then
    coloured "TERM=xterm '$assay' decode 0" || fail "no colour on a terminal"
    coloured "TERM=xterm NO_COLOR=1 '$assay' decode 0" && fail "colour in spite of NO_COLOR"
    coloured "TERM=dumb '$assay' decode 0" && fail "colour on a dumb terminal"
fi
run 0 decode 0
grep -q "$(printf '\033')" "$scratch/out" && fail "colour in a file"

# ---- output that cannot be written is not success ----
checks=$((checks + 1))
if [ -w /dev/full ] && "$assay" list clauses >/dev/full 2>"$scratch/err"; then
    : >"$scratch/out"
    fail "assay list clauses >/dev/full succeeded"
fi

# ---- a bug in Assay is status 70: what a failed CHECK does, an abort, done from outside ----
"$assay" bench seq --max 1000000 --json >"$scratch/bench" 2>"$scratch/err" &
pid=$!
while [ ! -s "$scratch/bench" ] && kill -0 $pid; do sleep 0.05; done # until it is under way
kill -ABRT $pid
wait $pid
status=$?
checks=$((checks + 1))
[ $status -eq 70 ] || fail "an abort ends with status $status, wanted 70"

# ---- the README counts what there is ----
checks=$((checks + 1))
clauses=$("$assay" list clauses --json | wc -l) errata=$("$assay" list errata --json | wc -l)
grep -q "$clauses promises and $errata errata" "$source/README.md" ||
    fail "README does not say $clauses promises and $errata errata"
checks=$((checks + 1))
"$assay" list sabotages --json >"$scratch/bugs"
bugs=$(wc -l <"$scratch/bugs" | sed 's/\([0-9]\)\([0-9]\{3\}\)$/\1,\2/')
invisible=$(grep -vc '"equivalent":null' "$scratch/bugs")
grep -q "$invisible of the $bugs planted bugs" "$source/README.md" ||
    fail "README does not say $invisible of the $bugs planted bugs"
checks=$((checks + 1))
kinds=$("$assay" list faults --json | wc -l)
grep -q "and $kinds kinds of fault" "$source/README.md" || fail "README does not say $kinds kinds of fault"

# ---- the README shows what the program prints ----
# True if the second file is what the first one shows, where a line "..." stands for any lines.
shows() {
    awk 'NR == FNR { shown[++n] = $0; next }
         shown[at + 1] == "..." { gap = 1; at++ }
         at < n && $0 == shown[at + 1] { at++; gap = 0; next }
         !gap { exit bad = 1 }
         END { if (shown[at + 1] == "...") at++; exit bad || at != n }' "$1" "$2"
}
awk '/^```console/ { on = 1; next } /^```/ { on = 0 } on' "$source/README.md" >"$scratch/console"
grep -c '^\$ ./run ' "$scratch/console" >"$scratch/count"
while IFS= read -r line; do
    case $line in
    '$ ./run '*)
        checks=$((checks + 1))
        command=${line#'$ ./run '}
        # shellcheck disable=SC2086
        (cd "$source" && "$assay" $command) >"$scratch/out" 2>"$scratch/err" || : # a finding is a status too
        awk -v want="$line" '$0 == want { on = 1; next } /^\$ / { on = 0 } on' "$scratch/console" |
            sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$scratch/shown"
        case $command in bench*) continue ;; esac # figures differ from run to run
        shows "$scratch/shown" "$scratch/out" || fail "README shows other output for '$line'"
        ;;
    esac
done <"$scratch/console"
[ "$(cat "$scratch/count")" -ge 2 ] || fail "README shows no commands"

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
