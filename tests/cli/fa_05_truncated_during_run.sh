# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A file that is cut during the run: the ledger says what was short, no byte is invented, no hang.
random_file data 131072
background with_fault "pread:match=data:delay_ms=4" \
    penstock io -f data -x 1 -i 16K -w 2 -T 1500ms --json report.json
opened /data
sleep 0.7
truncate -s 50000 data
ended 1
json report.json "d['results'][0]['ledger']['failed_ops'] == 0"
json report.json "d['results'][0]['ledger']['complete'] is False and d['exit_status'] == 1"
json report.json "d['results'][0]['ledger']['issued_ops'] > d['results'][0]['ledger']['completed_ops'] > 0"
json report.json "d['results'][0]['ledger']['short_ops'] > 0"
json report.json "d['results'][0]['ledger']['completed_bytes'] + d['results'][0]['ledger']['short_missing_bytes'] == d['results'][0]['ledger']['issued_bytes']"
stdout_matches '^Ledger: .* short [1-9][0-9]* ops'
stdout_contains "it was cut during the run"

# The same for copies to a device.
random_file other 131072
background with_fault "pread:match=other:delay_ms=4" \
    penstock io -f other -x 2 -d host -i 16K -T 1500ms --storage posix --json report.json
opened /other
sleep 0.7
: >other
ended 1
json report.json "d['results'][0]['ledger']['failed_ops'] == 0 and d['results'][0]['ledger']['short_ops'] > 0"
