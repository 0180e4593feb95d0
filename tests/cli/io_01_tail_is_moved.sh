# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Files whose size is no multiple of the I/O size: the tail is an operation of its own, in each order
# and through each transfer type, and the total is the size of the file.
while read -r bytes kib; do
    random_file data "$bytes"
    for how in "-x 1" "-x 1 -O 1" "-x 1 -I 2" "-x 4" "-x 0" "-x 2" "-x 3 -I 2"; do
        # shellcheck disable=SC2086 # several words
        expect 0 with_fake_gpus 1 penstock io -f data -d 0 -i 4K $how --json -
        json - "[d['results'][0]['ledger'][k] for k in ('completed_ops', 'completed_bytes', 'short_ops')] == [8, $bytes, 0] and sum(p['bytes'] for p in d['results'][0]['paths']) == $bytes"
    done
    expect 0 gdsio -f data -w 1 -i 4K -x 1
    classic_line READ CPUONLY 1 "$kib" "$kib" 4 8
    expect 0 gdsio -f data -w 3 -i 4K -x 1 -I 2
    classic_line RANDREAD CPUONLY 3 "$kib" "$kib" 4 8
done <<'SIZES'
30000 29
30720 30
SIZES
