# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Descriptors are in proportion to the files of the run, and a small soft limit does not end it.
mkdir files
expect 0 penstock io -D files -x 1 -w 64 -s 16K -i 4K -I 1
background bash -c 'ulimit -Sn 48; exec penstock io -D files -x 1 -w 64 -i 4K -T 60'
opened /gdsio.63
sleep 0.3
count=$(find "/proc/$PID/fd" -type l | wc -l)
[[ $count -ge 64 && $count -le $((3 * 64 + 32)) ]] || fail "$count descriptors for 64 files"
sleep 0.3
equal "$(find "/proc/$PID/fd" -type l | wc -l)" "$count" "descriptors later"
kill -INT "$PID"
ended 130
stdout_contains "Threads: 64 "

# Threads that share a file have a handle each while descriptors last, and share one otherwise.
random_file data 262144
background penstock io -f data -x 1 -w 64 -i 4K -T 60
opened /data
sleep 0.3
count=$(find "/proc/$PID/fd" -type l | wc -l)
[[ $count -le $((2 * 64 + 32)) ]] || fail "$count descriptors for one file and 64 threads"
kill -INT "$PID"
ended 130
expect 0 bash -c 'ulimit -n 80; exec penstock io -f data -x 1 -w 64 -i 4K'
stdout_contains "DataSetSize: 256/256(KiB)"
expect 3 bash -c 'ulimit -n 48; exec penstock io -D files -x 1 -w 64 -i 4K'
says "RLIMIT_NOFILE"
