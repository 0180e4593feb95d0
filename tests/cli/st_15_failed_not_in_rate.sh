# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Every tenth write fails: the ledger adds up, and the rate is made of what was written.
expect 1 with_fault "pwrite:match=data:every=10:errno=EIO" \
    penstock io -f data -x 1 -w 2 -i 4K -s 800K -I 1 --continue-on-error --json report.json
stdout_contains "Ledger: requested 200 ops, 819200 bytes; issued 200 ops, 819200 bytes; completed 180 ops, 737280 bytes; short 0 ops, 0 bytes missing; failed 20 ops, 81920 bytes"
stdout_contains "DataSetSize: 720/800(KiB)"
stdout_contains "the first 8 of 20 are shown"
json report.json "d['exit_status'] == 1"
json report.json "d['results'][0]['ledger']['complete'] is False"
json report.json "d['results'][0]['latency']['count'] == 180"
json report.json "abs(d['results'][0]['rate']['iops'] * d['results'][0]['phases']['measured_s'] - 180) < 0.1"
json report.json "len(d['results'][0]['failures']) == 8"
json report.json "all(f['error']['errno'] == 5 and f['bytes'] == 4096 for f in d['results'][0]['failures'])"
