# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A ramp takes its time, and nothing of it is counted: no byte, no operation, no latency.
random_file data 65536
# Each read takes 10 ms at least, so no more than 30 + 1 begin in the window.
expect 0 with_fault "pread:match=data:delay_ms=10" \
    penstock io -f data -x 1 -i 4K --ramp-time 600ms -T 300ms --json -
json - "1 <= d['results'][0]['ledger']['completed_ops'] <= 31"
json - "d['results'][0]['latency']['count'] == d['results'][0]['ledger']['completed_ops']"
json - "d['results'][0]['phases']['ramp_s'] == 0.6"
json - "0.1 <= d['results'][0]['phases']['measured_s'] <= 3"

# Without a time the window begins a pass of its own: all of the work is measured.
expect 0 with_fault "pread:match=data:delay_ms=10" \
    penstock io -f data -x 1 -w 2 -i 4K --ramp-time 200ms --json -
json - "d['results'][0]['ledger']['requested_ops'] == 16"
json - "d['results'][0]['ledger']['completed_ops'] == 16"
json - "d['results'][0]['ledger']['completed_bytes'] == 65536"
