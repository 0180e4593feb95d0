# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One operation of more bytes than a system call moves, on a sparse file: all of them are counted, and
# the row says that they are a hole. (Host memory of the same size is needed.)
need_ext4
[[ $(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) -ge 6291456 ]] || skip "needs 6 GiB of free memory"
truncate -s 2147479553 data
expect 0 penstock io -f data -x 1 -m 4 -i 2147479553 --json -
json - "d['results'][0]['ledger']['completed_bytes'] == 2147479553 and d['results'][0]['ledger']['completed_ops'] == 1"
json - "d['results'][0]['source']['hole_bytes'] == 2147479553"
