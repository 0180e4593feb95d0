# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# With stdout and stderr closed, no file of the run takes their numbers: nothing is printed into it.
random_file data 65536
penstock io -f data -x 1 -i 4K -T 60 >&- 2>&- <&- &
PID=$!
at_end kill -9 "$PID" 2>/dev/null
opened /data
for fd in 0 1 2; do
    equal "$(readlink "/proc/$PID/fd/$fd")" /dev/null "descriptor $fd"
done
kill -INT "$PID"
wait "$PID"
equal $? 130 "exit status"
