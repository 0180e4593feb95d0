# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# 192 threads over 1024 blocks: 64 threads do six, 128 do five; all is read.
truncate -s 1G data
expect 0 penstock io -f data -x 1 -w 192 -i 1M --dry-run
stdout_contains "threads 0-63: from 0 on, 6291456 bytes each"
stdout_contains "threads 64-191: from 402653184 on, 5242880 bytes each"
truncate -s 192M data
expect 0 penstock io -f data -x 1 -w 192 -i 1M
stdout_matches "Threads: 192 DataSetSize: 196608/196608\(KiB\) .* ops: 192 "
