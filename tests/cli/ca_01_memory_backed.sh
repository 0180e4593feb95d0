# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A file on tmpfs is read, and the row says that there is no drive below; where a drive is demanded
# the run fails.
need_tmpfs
random_file "$SHM/data" 4194304
for xfer in 0 1 2 3 4; do
    expect 0 penstock io -f "$SHM/data" -d host -x $xfer
    stdout_matches '^Rate: .*; memory-backed \(tmpfs\)'
    stdout_matches '^Source: tmpfs, memory-backed \(tmpfs\): no drive below'
    stdout_contains "the drive read n/a"
done
expect 0 penstock io -f "$SHM/data" -x 1 --json -
json - "d['results'][0]['source']['memory_backed'] and d['results'][0]['source']['device_read_bytes'] is None"
expect 1 penstock io -f "$SHM/data" -x 1 --require-direct
stderr_contains "memory-backed (tmpfs)"
stdout_lines 0
# An older kernel, which refuses O_DIRECT on tmpfs, ends in the same place by another way.
older() {
    with_fault "open:direct=1:errno=EINVAL" penstock io -f "$SHM/data" "$@"
}
expect 0 older -x 1
stdout_matches '^Path: host-cached '
stdout_contains "fs-memory-backed"
stdout_matches '^Source: tmpfs, memory-backed \(tmpfs\): no drive below, through the page cache'
expect 0 older -d host -x 0
stdout_matches '^Path: cached '
expect 1 older -x 1 --require-direct
stdout_lines 0
