# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Files smaller than a block for each thread: every byte is moved once, and idle threads are no error.
while read -r bytes io ops; do
    rm -f data
    for threads in 1 3 16; do
        expect 0 with_fake_gpus 1 penstock io -f data -d 0 -x 0 -I 1 -s "$bytes" -i "$io" -w $threads
        stdout_matches " ops: $ops total_time "
        equal "$(stat -c %s data)" "$bytes" "size"
        expect 0 with_fake_gpus 1 penstock io -f data -d 0 -x 3 -I 2 -i "$io" -w $threads
        stdout_matches " ops: $ops total_time "
        expect 0 penstock io -f data -x 1 -i "$io" -w $threads
        stdout_matches " ops: $ops total_time "
    done
done <<'SHAPES'
1 1 1
100 100 1
1000 199 6
4096 1024 4
40960 1024 40
SHAPES
