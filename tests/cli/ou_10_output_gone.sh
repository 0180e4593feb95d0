# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A reader that leaves, a closed stdout, a full one: no crash, no endless loop, status 1, said on stderr.
random_file data 262144
run="penstock io -f data -x 1 -i 4K"
expect 0 bash -c "$run -w 16 -J | head -1"
stdout_lines 1
stdout_matches '^IoType: READ'
# The reader is gone before the first byte.
expect 0 bash -c "{ sleep 0.3; $run; echo \$? >status; } | :"
equal "$(cat status)" 1 "exit status"
stderr_contains "standard output"
expect 1 bash -c "$run >&-"
stderr_contains "standard output"
expect 1 bash -c "$run >/dev/full"
stderr_contains "standard output"
expect 1 bash -c "$run --json - >/dev/full"
stderr_contains "ENOSPC"
expect 1 bash -c "penstock --version >/dev/full"
expect 1 bash -c "penstock io --help >/dev/full"
expect 1 bash -c "$run --dry-run >/dev/full"
