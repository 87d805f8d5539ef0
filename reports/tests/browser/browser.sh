#!/bin/sh
# Opens reports in a real browser: Debian's chromium, driven by playwright-core. Status 77 and a reason
# if there is no browser to be had.
#
# usage: browser.sh WRITE_PAGE ASSAY FOLDER   pages and screenshots go to FOLDER
set -eu
source=$(dirname "$(readlink -f "$0")")
write_page=$1 assay=$2 folder=$3

skip() {
    echo "SKIPPED: browser: $1"
    exit 77
}
for program in chromium node npm; do
    command -v $program >/dev/null || skip "there is no $program (.ci/packages, groups browser and node)"
done

mkdir -p "$folder"
# Modules are looked for beside the file that asks for them.
cp "$source"/*.mjs "$source"/*.json "$folder/"
cd "$folder"
# The driver is fetched once; its version and its hash are in package-lock.json.
if ! cmp -s package-lock.json fetched; then
    timeout 120 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 || {
        tail -n 5 npm.log
        skip "npm could not fetch playwright-core (log above)"
    }
    cp package-lock.json fetched
fi
exec node browser.mjs "$write_page" "$assay" "$folder" "$(command -v chromium)"
