# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A small file read again and again through the page cache: how many passes, and that no drive gave
# the bytes. (On a loop device, whose counters nobody else moves.)
loop_ext4 64M
cd "$MOUNT" || fail "cd"
at_end cd /
random_file data 8388608
sync data
cat data >"$DIR/warm"
expect 0 penstock io -f data -x 1 -O 1 -T 300ms --json -
json - "d['results'][0]['rate']['passes'] > 1 and d['results'][0]['rate']['from_cache']"
json - "abs(d['results'][0]['ledger']['completed_bytes'] / (8 << 20) - d['results'][0]['rate']['passes']) < 0.01"
json - "d['results'][0]['source']['resident_before_bytes'] == d['results'][0]['source']['resident_after_bytes'] == 8 << 20"
json - "d['results'][0]['source']['device_read_bytes'] < d['results'][0]['ledger']['completed_bytes'] / 10"
expect 0 penstock io -f data -d host -x 4 -T 200ms
stdout_matches '^Rate: .*; [0-9.]+ passes over the data; from cache'
stdout_matches '^Source: .*in page cache 100 % before, 100 % after.*; from cache'
# From the drive: the same command cold, for a single pass.
expect 0 penstock io -f data -x 1 -O 1 --cold --json -
json - "d['results'][0]['source']['resident_before_bytes'] == 0 and not d['results'][0]['rate']['from_cache']"
json - "d['results'][0]['source']['device_read_bytes'] >= 8 << 20 and d['results'][0]['rate']['passes'] == 1"
