# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# --require-direct is not met on tmpfs, whatever the kernel says to O_DIRECT there; on a drive it is.
need_tmpfs
random_file "$SHM/data" 65536
expect 1 penstock io -f "$SHM/data" -x 1 -i 4K --require-direct
stderr_contains "memory-backed (tmpfs)"
stdout_lacks "Throughput"
expect 1 penstock io -f "$SHM/new" -x 1 -i 4K -s 64K -I 1 --require-direct
[[ ! -e $SHM/new ]] || fail "a refused run left a file"
expect 2 penstock io -f "$SHM/data" -x 4 -d host -i 4K --require-direct
expect 2 penstock io -f "$SHM/data" -x 1 -i 4K --direct=0 --require-direct
need_ext4
random_file data 65536
expect 0 penstock io -f data -x 1 -i 4K --require-direct --json -
json - "d['results'][0]['require_direct_unmet'] is False and d['results'][0]['source']['o_direct']"
# A tail that is no whole block cannot be written with O_DIRECT.
expect 1 penstock io -f odd -x 1 -i 4K -s 10000 -I 1 --require-direct --json report.json
stdout_contains "Direct: --require-direct is not met: some of the bytes went through the page cache"
json report.json "d['results'][0]['require_direct_unmet'] is True and d['exit_status'] == 1"
expect 0 penstock io -f even -x 1 -i 4K -s 12K -I 1 --require-direct
