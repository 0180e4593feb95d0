# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A drive that fails a read: file, offset and errno are named, no rate is claimed.
random_file data 4194304
# The first reads, at most 256, sample the file for zeros.
expect 1 with_fault "pread:match=data:from=400:errno=EIO" \
    penstock io -f data -x 1 -i 4K -w 2 --storage posix --json report.json
stdout_lacks "Throughput"
stdout_lacks "Rate:"
stdout_matches "^  failed: thread [01], 'data', 4096 bytes at offset [0-9]+: .*/data' at byte [0-9]+: .*\(EIO\)"
json report.json "d['results'][0]['failures'][0]['error']['errno'] == 5"
json report.json "d['results'][0]['failures'][0]['offset_bytes'] % 4096 == 0"
json report.json "0 < d['results'][0]['ledger']['completed_ops'] < 1024"
json report.json "d['results'][0]['rate']['gib_per_s'] is None and d['exit_status'] == 1"
expect 1 with_fault "pread:match=data:from=400:errno=EIO" gdsio -f data -x 1 -i 4K -w 2
stdout_lines 0

# All threads fail at once, some before others have begun: nobody waits for ever.
for _ in 1 2 3 4 5; do
    expect 1 with_fault "pread:match=data:errno=EIO" timeout -k 1 20 \
        penstock io -f data -x 1 -i 4K -w 64
    stdout_contains "stopped by the first failure"
done
