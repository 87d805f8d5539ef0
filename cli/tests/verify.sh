#!/bin/sh
# assay verify: page, evidence and binary belong together, and whatever was changed is found.
set -u
assay=$(readlink -f "$1")
. "$(dirname "$0")/check.sh"
cd "$scratch" || exit 1

run 4 sign-off --out made --only sweep-tree-3
# ---- as it was made: not signed, which is said and is not 0 ----
run 4 verify made && says 'belong together; the page says ' && says 'the page is not signed'
run 4 verify made/evidence && says 'belong together'
run 4 verify made --json && only_json && says '"differences":0,"is_signed":false' && says '"made_again":true'
(cd made && sha256sum --quiet -c SHA256SUMS >"$scratch/out" 2>&1) || fail "sha256sum -c SHA256SUMS"
grep -q ' steps/sweep-tree-3/results.jsonl$' made/SHA256SUMS || fail "the sums lack a step"
grep -q ' evidence/results.jsonl$' made/SHA256SUMS || fail "the sums lack the evidence"
# Each command of the page has the hash of its step, as the sums have it.
grep '^| `assay sweep tree-3 --seed 1 --depth 2 .*` | seed 1 | 7,177 | [0-9.]* | ended well (status 0) | `' \
    made/evidence/sign-off.md >out || fail "the page lacks command, seed, runs, time or result of a step"
grep -q "^$(sed 's/.*| `\([0-9a-f]*\)` |$/\1/' out)  steps/sweep-tree-3/results.jsonl\$" made/SHA256SUMS ||
    fail "the hash of a step on the page is not that of the sums"
[ "$(grep -n '^## What a pass does not prove$' made/evidence/sign-off.md | cut -d : -f 1)" -lt \
    "$(grep -n '^## Signature$' made/evidence/sign-off.md | cut -d : -f 1)" ] ||
    fail "what a pass does not prove does not stand above the signature"
# ---- moved, and signed ----
cp -r made moved
sed -i 's/^Signed: _*/Signed: A. Person /' moved/evidence/sign-off.md
run 4 verify moved && says 'it has no name or no date'
sed -i 's/Date: _*/Date: 2026-11-18/; s/but for: _*/but for: none/' moved/evidence/sign-off.md
run 0 verify moved && says 'the page is signed'
bad 'was changed since it was written' report moved/evidence --sign-off
# ---- another binary ----
cp "$assay" other && printf x >>other
run 1 verify moved --binary other && says 'another program than the binary'
chmod +x other && cp -r moved foreign
status=0
./other verify foreign --binary "$assay" >out 2>err || status=$?
[ $status -eq 0 ] && grep -q 'was not made again' out || fail "another program verifies with status $status"
bad 'cannot be read' verify moved --binary nowhere
bad 'has no sign-off.md' verify nowhere
mkdir empty && bad 'has no sign-off.md' verify empty

# ---- a file added, dropped, or exchanged; also together with its line of the sums ----
fresh() {
    rm -rf hurt
    cp -r moved hurt
}
sum() { (cd hurt && sha256sum "$1"); }
for file in hurt/new hurt/steps/new hurt/evidence/new hurt/sign-off.md hurt/steps/SHA256SUMS; do
    fresh && echo new >"$file" && run 1 verify hurt && says "${file#hurt/} was added"
    sum "${file#hurt/}" >>hurt/SHA256SUMS
    LC_ALL=C sort -k 2 -o hurt/SHA256SUMS hurt/SHA256SUMS
    run 1 verify hurt && says 'SHA256SUMS is not the one that the page names'
done
fresh && ln -s /dev/null hurt/steps/link && run 1 verify hurt && says 'steps/link was added'
while read -r hash file; do
    fresh && rm "hurt/$file" && run 1 verify hurt && says "$file is missing"
    sed -i "/$hash/d" hurt/SHA256SUMS && run 1 verify hurt && says 'is not the one that the page names'
    fresh && echo >>"hurt/$file" && run 1 verify hurt && says "$file was changed"
    sed -i "s,^$hash  $file\$,$(sum "$file")," hurt/SHA256SUMS
    run 1 verify hurt && says 'is not the one that the page names' && says_not "$file was changed"
done <moved/SHA256SUMS
fresh && rm hurt/SHA256SUMS && run 1 verify hurt && says 'SHA256SUMS is missing'
fresh && rm -r hurt/steps && run 1 verify hurt
fresh && rm hurt/evidence/sign-off.md && run 64 verify hurt
# A page with a better verdict and a seal of its own is not what the evidence adds up to.
fresh
/usr/bin/python3 - hurt/evidence/sign-off.md <<'END'
import hashlib, sys
page = open(sys.argv[1]).read()
mark = '<!-- written by assay, sha256 of all above: '
above, below = page.split(mark)
above = above.replace('NOT SHOWN', 'PASS')
open(sys.argv[1], 'w').write(above + mark + hashlib.sha256(above.encode()).hexdigest() + below[64:])
END
run 1 verify hurt && says 'does not say what this evidence adds up to'

# ---- 200 random changes of one byte outside the signature block ----
checks=$((checks + 1))
/usr/bin/python3 - "$assay" moved >out 2>err <<'END' || fail "changes of one byte are not found"
import os, random, subprocess, sys
assay, root = sys.argv[1:]
draw = random.Random(19)
files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
missed = 0
for i in range(200):
    path = draw.choice([files, ['moved/evidence/sign-off.md', 'moved/SHA256SUMS']][i % 4 == 0])
    before = open(path, 'rb').read()
    end = before.find(b'\n## Signature') if path.endswith('sign-off.md') else len(before)
    if end == 0:  # an empty file grows
        after = b'x'
    else:
        at = draw.randrange(end)
        after = before[:at] + bytes([before[at] ^ draw.randrange(1, 256)]) + before[at + 1:]
    open(path, 'wb').write(after)
    ended = subprocess.run([assay, 'verify', root], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode != 1:
        missed += 1
        print(path, 'status', ended.returncode, ended.stdout.decode(errors='replace'))
    open(path, 'wb').write(before)
ended = subprocess.run([assay, 'verify', root], stdout=subprocess.PIPE)
print(missed, 'of 200 changes were missed; afterwards status', ended.returncode)
sys.exit(missed > 0 or ended.returncode != 0)
END
cat out
# A byte of the binary.
cp "$assay" hurt-binary && printf '\377' | dd of=hurt-binary bs=1 seek=5000 conv=notrunc 2>/dev/null
run 1 verify moved --binary hurt-binary

# ---- a page of a single folder ----
run 0 run tree-3 --seed 1 --out single
run 4 report single --sign-off
run 4 verify single && says 'belong together'
run 4 report single --sign-off
run 4 verify single
echo >>single/summary.md && run 1 verify single && says 'summary.md was changed'

echo "$checks checks, $failures failures"
[ $failures -eq 0 ]
