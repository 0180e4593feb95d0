# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A second interrupt does not wait for an operation that hangs.
random_file data 65536
background with_fault "pread:match=data:nth=20:delay_ms=25000" penstock io -f data -x 1 -i 4K -T 60
opened /data
sleep 0.5
kill -INT "$PID"
sleep 0.3
kill -0 "$PID" 2>/dev/null || fail "the first interrupt did not let the operation end"
start=$SECONDS
kill -INT "$PID"
ended 130
[[ $((SECONDS - start)) -le 5 ]] || fail "left only after $((SECONDS - start)) s"
