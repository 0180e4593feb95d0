# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# With stdout and stderr closed, no file of the run takes their numbers: nothing is printed into it.
random_file data 65536
penstock io -f data -x 1 -i 4K -T 60 >&- 2>&- <&- &
pid=$!
at_end kill -9 "$pid" 2>/dev/null
opened /data
for fd in 0 1 2; do
    equal "$(readlink "/proc/$pid/fd/$fd")" /dev/null "descriptor $fd"
done
kill -INT "$pid"
wait "$pid"
equal $? 130 "exit status"
