# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The fault library that other cases rely on does what its rules say.
need_fault
random_file data 65536
cat >reader.py <<'PY'
import os, sys, time

fd = os.open(sys.argv[1], os.O_RDONLY)
for i in range(4):
    start = time.monotonic()
    try:
        got = len(os.pread(fd, 4096, 4096 * i))
    except OSError as e:
        got = os.strerror(e.errno)
    print(i, got, "late" if time.monotonic() - start >= 0.05 else "")
PY
PYTHON=$(command -v python3)

expect 0 with_fault "pread:match=data:nth=2:errno=EIO" "$PYTHON" reader.py data
stdout_matches '^0 4096 $'
stdout_matches '^1 Input/output error'
stdout_matches '^2 4096 $'
stdout_matches '^3 4096 $'

expect 0 with_fault "pread:match=data:every=2:short=512:delay_ms=60" "$PYTHON" reader.py data
stdout_matches '^0 4096 $'
stdout_matches '^1 512 late$'
stdout_matches '^3 512 late$'

expect 0 with_fault "pread:match=elsewhere:errno=EIO" "$PYTHON" reader.py data
stdout_lacks "error"

expect 1 with_fault "open:match=data:errno=EACCES" "$PYTHON" reader.py data
stderr_contains "Permission denied"

expect 99 with_fault "pread:nth=x" "$PYTHON" reader.py data
stderr_contains "PENSTOCK_FAULT: cannot read 'x'"
