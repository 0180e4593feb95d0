# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Many files, a thread each: memory grows by a small constant for each, and all are read.
mkdir files
expect 0 penstock io -D files -x 1 -w 500 -s 4K -i 4K -I 1
equal "$(find files -name 'gdsio.*' -size 4096c | wc -l)" 500 "files of the right size"
peak() {
    expect 0 penstock io -D files -x 1 -w "$1" -i 4K --json -
    json - "d['results'][0]['ledger']['completed_ops'] == $1"
    python3 -c "import json; print(json.load(open('stdout'))['results'][0]['cpu']['peak_resident_bytes'])" >"$2"
}
peak 100 few
peak 500 many
# A sanitizer keeps much beside each thread.
limit=98304
grep -q __asan_init "$(readlink -f "$(command -v penstock)")" && limit=524288
each=$((($(cat many) - $(cat few)) / 400))
[[ $each -lt $limit ]] || fail "$each bytes for each file and thread, limit $limit"
