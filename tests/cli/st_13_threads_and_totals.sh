# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Totals are sums over threads by one clock, and every field of a thread says so in its name.
random_file data 4194304
expect 0 penstock io -f data -x 1 -w 4 -i 64K -J --json report.json
json report.json "len(d['results'][0]['threads']) == 4"
json report.json "all(k == 'thread' or k.startswith('thread_') for t in d['results'][0]['threads'] for k in t)"
json report.json "sum(t['thread_bytes'] for t in d['results'][0]['threads']) == 4194304"
json report.json "sum(t['thread_ops'] for t in d['results'][0]['threads']) == 64"
json report.json "abs(d['results'][0]['rate']['mib_per_s'] * d['results'][0]['phases']['measured_s'] - 4) < 0.01"
json report.json "abs(d['results'][0]['rate']['iops'] * d['results'][0]['phases']['measured_s'] - 64) < 0.1"
stdout_matches '^Thread 3: 16 ops, 1 MiB, from '
stdout_matches '^IoType: .* Threads: 4 DataSetSize: 4096/4096\(KiB\) .* ops: 64 '
stdout_matches '^Threads: slowest [0-3] with .*, fastest [0-3] with '
