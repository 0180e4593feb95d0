# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# 128 and 256 writers with a file each, and a folder for each of eight GPUs, as the documents do.
mkdir flash
expect 0 with_fake_gpus 16 gdsio -I 1 -i 32K -s 64K -w 128 -d 0 -x 0 -D flash
classic_line WRITE GPUD 128 8192 8192 32 256
equal "$(find flash -type f | wc -l)" 128 "files"
equal "$(stat -c '%s %a' flash/* | sort -u)" "65536 644" "size and mode"
mkdir -p host/{0,1,2,3,4,5,6,7}
expect 0 with_fake_gpus 16 gdsio -I 1 -i 64K -s 64K -p -x 0 -d 0 -w 256 -D host/0
classic_line WRITE GPUD 256 16384 16384 64 256
for gpu in 1 2 3 4 5 6 7; do
    expect 0 with_fake_gpus 16 gdsio -I 1 -i 32K -s 64K -p -x 0 -d $gpu -w 16 -D host/$gpu
    classic_line WRITE GPUD 16 1024 1024 32 32
    stderr_contains "Device: GPU $gpu = "
done
