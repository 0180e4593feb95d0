# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A target that blocks: after 10 s one line says which worker waits for what, where.
random_file data 65536
expect 0 with_fault "pread:match=data:nth=20:delay_ms=12000" penstock io -f data -x 1 -i 4K
stderr_matches "no progress for 1[0-9] s: worker 0 waits for the read of 4096 bytes at offset [0-9]+ of 'data'"
equal "$(grep -c 'no progress' "$DIR/stderr")" 1 "lines about it"
