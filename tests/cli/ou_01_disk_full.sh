# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A disk that fills up during a write: the document names errno and offset, no rate is claimed.
loop_ext4 32M
# Slow writes, so that another program can take the rest of the space meanwhile.
background with_fault "pwrite:match=data:delay_ms=50" \
    penstock io -f "$MOUNT/data" -x 1 -s 20M -i 1M -I 1 --storage posix --json -
opened mount/data
head -c 40M /dev/zero >"$MOUNT/other" 2>/dev/null
ended 1
json - "d['exit_status'] == 1 and d['interrupted'] is False"
json - "d['results'][0]['failures'][0]['error']['errno'] == 28"
json - "d['results'][0]['failures'][0]['error']['code_name'] == 'ENOSPC'"
json - "d['results'][0]['failures'][0]['offset_bytes'] >= d['results'][0]['ledger']['completed_bytes']"
json - "d['results'][0]['failures'][0]['run_done_bytes'] == d['results'][0]['ledger']['completed_bytes']"
json - "d['results'][0]['ledger']['completed_bytes'] < 20971520"
json - "d['results'][0]['ledger']['stopped_by_error'] is True"
json - "all(d['results'][0]['rate'][k] is None for k in ('gib_per_s', 'mib_per_s', 'mb_per_s', 'iops'))"
stderr_lacks "Throughput"
stderr_lacks "Rate:"

# What cannot fit is refused before the first byte, in the document too; /dev/full as well.
expect 3 penstock io -f "$MOUNT/late" -x 1 -s 64M -i 1M -I 1 --json -
json - "d['error']['errno'] == 28 and '67108864' in d['error']['message']"
[[ ! -e $MOUNT/late ]] || fail "a refused run made a file"
expect 1 penstock io -f /dev/full -x 1 -s 64M -i 1M -I 1 --json -
json - "d['error']['errno'] == 28 and 'offset 0' in d['error']['message']"
json - "d['results'] == [] and d['exit_status'] == 1"
