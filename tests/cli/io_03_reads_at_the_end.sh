# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A file of 10,000 bytes: reads that meet its end, are cut by it, or would begin at it.
random_file data 10000
while read -r offset size io bytes ops; do
    for how in "-x 1" "-x 1 --storage uring" "-x 3" "-x 4"; do
        # shellcheck disable=SC2086 # several words
        expect 0 penstock io -f data -d host -o "$offset" -s "$size" -i "$io" $how --json -
        json - "[d['results'][0]['ledger'][k] for k in ('completed_ops', 'completed_bytes', 'short_ops', 'issued_ops')] == [$ops, $bytes, 0, $ops]"
    done
done <<'READS'
0 16384 4096 10000 3
8192 4096 4096 1808 1
4096 8192 8192 5904 1
9999 4096 1 1 1
1 4096 4096 4096 1
READS
for offset in 10000 12288; do
    expect 2 penstock io -f data -x 1 -o $offset -s 4096 -i 4096
    stderr_contains "$offset"
    stderr_contains "10000"
    stdout_lines 0
done
