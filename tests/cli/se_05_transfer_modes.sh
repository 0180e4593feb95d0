# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One file read by four threads through each transfer type, and by 40 over more than there is.
random_file dd.txt 10240000
while read -r xfer name; do
    expect 0 with_fake_gpus 16 gdsio -f dd.txt -d 0 -w 4 -s 10000K -i 1000K -I 0 -x "$xfer"
    classic_line READ "$name" 4 10000 10000 1000 10
    [[ $xfer -eq 1 ]] || stderr_contains "Device: GPU 0 = Fake CUDA GPU (2000:06:00.0)"
    # More than the file holds: the range ends with it, which is said.
    expect 0 with_fake_gpus 16 gdsio -f dd.txt -d 0 -w 40 -s 100M -i 64K -I 0 -x "$xfer"
    classic_line READ "$name" 40 10000 10000 64 157
    stderr_contains "range cut at the end of the file: 10240000 bytes (9.766 MiB)"
done <<'TYPES'
0 GPUD
1 CPUONLY
2 CPU_GPU
3 CPU_ASYNC_GPU
4 CPU_CACHED_GPU
TYPES
expect 0 with_fake_gpus 16 gdsio -f dd.txt -d 0 -w 4 -s 10000K -i 1000K -I 0 -x 4
stderr_matches '^Path: cached '
expect 0 gdsio -f dd.txt -d 0 -w 4 -s 10000K -i 1000K -I 0 -x 1
stderr_matches '^Device: no GPU;'
