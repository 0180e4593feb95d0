# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Five rounds over a file that fits in memory: the first, cold one is never mixed with the warm ones.
# (On a loop device, whose counters nobody else moves.)
loop_ext4 64M
cd "$MOUNT" || fail "cd"
at_end cd /
random_file data 4194304
sync data
expect 0 penstock io -f data -x 1 -O 1 --cold
expect 0 penstock io -f data -x 1 -O 1 --cold --repeat 2
stdout_contains "cold median"
python3 -c 'import os; f = os.open("data", os.O_RDONLY); os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)'
expect 0 penstock io -f data -x 1 -O 1 --repeat 5 --json "$DIR/report"
stdout_matches '^Rounds: -w 1: first median [0-9.]+ GiB/s \([^)]*, 1 round\), later median [0-9.]+ GiB/s \([^)]*, 4 rounds\)'
json "$DIR/report" "[r['source']['resident_before_bytes'] == 4 << 20 for r in d['results']] == [False, True, True, True, True]"
json "$DIR/report" "[r['rate']['from_cache'] for r in d['results']] == [False, True, True, True, True]"
json "$DIR/report" "d['sweep']['settings'][0]['first_round']['rounds'] == 1 and d['sweep']['settings'][0]['taken_together']['rounds'] == 4"
json "$DIR/report" "d['sweep']['settings'][0]['first_round']['median_gib_per_s'] == d['results'][0]['rate']['gib_per_s']"
