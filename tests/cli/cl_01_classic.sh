# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Called as gdsio, stdout is the line that scripts parse and nothing else; --classic silences the rest.
random_file data 262144
line='^IoType: READ XferType: CPUONLY Threads: 2 DataSetSize: 256/256\(KiB\) IOSize: 4\(KiB\) Throughput: [0-9]+\.[0-9]{6} GiB/sec, Avg_Latency: [0-9]+\.[0-9]{6} usecs ops: 64 total_time [0-9]+\.[0-9]{6} secs$'
expect 0 gdsio -f data -x 1 -w 2 -i 4K
stdout_lines 1
stdout_matches "$line"
for word in Path: Latency: CPU: Source:; do
    stderr_matches "^$word"
done
expect 0 gdsio -f data -x 1 -w 2 -i 4K --classic
stdout_lines 1
stdout_matches "$line"
equal "$(cat stderr)" "" "stderr"
expect 0 penstock io -f data -x 1 -w 2 -i 4K --classic
stdout_lines 1
stdout_matches "$line"
expect 0 env LC_ALL=de_DE.UTF-8 gdsio -f data -x 1 -w 2 -i 4K --classic
stdout_matches "$line"
expect 0 gdsio -f data -d host -x 2 -i 4K --classic
stdout_lines 1
stderr_contains "emulated"
# The ledger is never silent.
expect 1 with_fault "pwrite:match=data:every=10:errno=EIO" \
    gdsio -f data -x 1 -i 4K -I 1 --overwrite --classic --continue-on-error
stderr_matches '^Ledger: requested 64 ops'
stdout_matches 'DataSetSize: 232/256\(KiB\)'
