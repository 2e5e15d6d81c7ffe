#!/bin/sh
# Every night: what is left of each site, then what is new on it, then one database of it all.
#
#   nightly.sh FOLDER
#
# FOLDER holds sites.txt, one address per line. A night that was cut off is continued by the next one, and a
# site that fails does not keep the others. The exit code is the first one that was not 0.
set -u
cd "${1:?name the folder that holds sites.txt}" || exit 2
failed=0

note() { # CODE WHAT
    [ "$1" -eq 0 ] && return
    echo "nightly: $2 ended with exit code $1" >&2
    [ "$failed" -ne 0 ] || failed=$1
}

# Sites that are finished cost nothing; new lines of the list are taken in, and the rest continues.
coati harvest sites.txt --types "${TYPES:-data}" --host-budget 2000 --max-time "${HARVEST_TIME:-5h}" \
    --out harvest --quiet --log-file harvest.log --format json > harvest.json
note $? "the harvest"

# A site that had no file yet has nothing to watch.
mkdir -p watches
: > watch.jsonl
for site in harvest/sites/*/; do
    site=$(basename "$site")
    [ "$(wc -l < "harvest/sites/$site/files.csv")" -gt 1 ] || continue
    coati watch "harvest/sites/$site" --out "watches/$site.watch" --once --every "${WATCH_EVERY:-20h}" \
        --quiet --log-file watch.log --format json >> watch.jsonl
    note $? "the watch of $site"
done

# Readers of the old file keep it until they open it again. The first nights may have nothing to watch.
set -- harvest
[ -z "$(ls watches)" ] || set -- harvest watches
coati merge "$@" --out all.sqlite --overwrite > /dev/null
note $? "merging"
exit "$failed"
