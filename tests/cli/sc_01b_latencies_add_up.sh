# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Threads x time is what the latencies of all operations add up to, and no less than that was waited.
random_file data 1310720
expect 0 with_fault "pwrite:match=data:delay_ms=20" \
    penstock io -f data -x 1 -w 64 -i 4K -I 1 --overwrite --storage posix --json -
json - "d['results'][0]['ledger']['completed_ops'] == 320"
json - "{t['thread_ops'] for t in d['results'][0]['threads']} == {5}"
json - "d['results'][0]['latency']['min_us'] >= 20000"
json - "320 * d['results'][0]['latency']['mean_us'] / 1e6 <= 64 * d['results'][0]['phases']['measured_s'] * 1.001"
json - "320 * d['results'][0]['latency']['mean_us'] / 1e6 >= 64 * d['results'][0]['phases']['measured_s'] / 3"
