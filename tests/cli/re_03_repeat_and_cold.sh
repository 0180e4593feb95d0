# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Repeats are interleaved, each cold one begins without cached pages, and spread and table are shown.
need_ext4
random_file data 1048576
cat data >/dev/null
expect 0 penstock io -f data -x 1 -w 1,2 -i 64K --direct=0 --repeat 4 --cold --json report.json
json report.json "[(r['round'], r['plan']['threads']) for r in d['results']] == [(i, w) for i in range(4) for w in (1, 2)]"
json report.json "all(r['source']['resident_before_bytes'] == 0 for r in d['results'])"
json report.json "all(r['phases']['evict_s'] is not None for r in d['results'])"
equal "$(grep -c '^IoType: ' stdout)" 8 "classic lines"
stdout_matches '^Rounds: -w 2: cold median [0-9.]+ GiB/s \([0-9.]+ \.\. [0-9.]+, 4 rounds\)'
stdout_matches '^Differ: -w 1 and -w 2'
stdout_matches '^Knee: [12] threads? reach'

# Not cold: the first round stands apart from the later ones.
cat data >/dev/null
expect 0 penstock io -f data -x 1 -i 64K --direct=0 --repeat 3 --json report.json
json report.json "[r['round'] for r in d['results']] == [0, 1, 2]"
json report.json "all(r['source']['resident_before_bytes'] == 1048576 for r in d['results'])"
json report.json "d['sweep']['settings'][0]['first_round']['rounds'] == 1 and d['sweep']['settings'][0]['taken_together']['rounds'] == 2"
expect 2 penstock io -f data -x 1 --repeat 0
