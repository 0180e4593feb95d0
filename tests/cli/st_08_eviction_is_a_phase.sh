# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Dropping the cache is a phase of its own, outside the time that the rate is made of.
need_ext4
random_file data 16777216
cat data >/dev/null
expect 0 penstock io -f data -x 1 -i 1M --direct=0 --cold --json -
json - "d['results'][0]['phases']['evict_s'] > 0"
json - "d['results'][0]['source']['resident_before_bytes'] == 0"
json - "abs(d['results'][0]['rate']['mib_per_s'] * d['results'][0]['phases']['measured_s'] - 16) < 0.01"
expect 0 penstock io -f data -x 1 -i 1M --direct=0 --cold
stdout_matches '^Phases: .*evict [0-9.]+ s, .*measured [0-9.]+ s'
stdout_contains "in page cache 0 % before"

expect 0 penstock io -f data -x 1 -i 1M --direct=0 --json -
json - "d['results'][0]['phases']['evict_s'] is None"
json - "d['results'][0]['source']['resident_before_bytes'] > 8 << 20"
