# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# --stop first leaves the slow threads' work undone and says so in the numbers; -T ends on time.
expect 0 penstock io -D . -x 1 -w 2 -s 80K -i 4K -I 1
expect 0 with_fault "pread:match=gdsio.0:delay_ms=30" \
    penstock io -D . -x 1 -w 2 -i 4K --storage posix --stop first --json report.json
json report.json "d['results'][0]['threads'][1]['thread_ops'] == 20"
json report.json "d['results'][0]['threads'][0]['thread_ops'] < 20"
json report.json "d['results'][0]['ledger']['completed_ops'] < d['results'][0]['ledger']['requested_ops'] == 40"
expect 0 with_fault "pread:match=gdsio.0:delay_ms=5" \
    penstock io -D . -x 1 -w 2 -i 4K --storage posix --json report.json
json report.json "[t['thread_ops'] for t in d['results'][0]['threads']] == [20, 20]"

# At most one operation in each 50 ms and thread, the last one begun before the time is up.
expect 0 with_fault "pread:match=gdsio:delay_ms=50" \
    penstock io -D . -x 1 -w 2 -i 4K --storage posix -T 1s --json report.json
json report.json "all(1 <= t['thread_ops'] <= 20 for t in d['results'][0]['threads'])"
json report.json "0.3 <= d['results'][0]['phases']['measured_s'] <= 3"
json report.json "all(t['thread_last_s'] >= 0.3 for t in d['results'][0]['threads'])"
for bad in 0 -1 1x nan inf ""; do
    expect 2 penstock io -D . -x 1 -w 2 -T "$bad"
done
expect 2 penstock io -D . -x 1 -w 2 -T 1 --stop first
