# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# After kill -9 the next run starts: the half-written file is known as the tool's own.
background with_fault "pwrite:match=gdsio:delay_ms=20" \
    penstock io -D . -w 2 -x 1 -i 4K -s 4M -I 1 --storage posix --json report.json
opened /gdsio.1
sleep 0.2
kill -9 "$PID"
ended 137
[[ ! -e report.json ]] || fail "a killed run left a report"
expect 0 penstock io -D . -w 2 -x 1 -i 64K -s 4M -I 1 --json report.json
equal "$(stat -c %s gdsio.0 gdsio.1 | tr '\n' ' ')" "4194304 4194304 " "sizes"
json report.json "d['exit_status'] == 0"
equal "$(ls)" "bin
gdsio.0
gdsio.1
report.json
stderr
stdout" "files left"
