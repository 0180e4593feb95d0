# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Random reads of 4 KiB with a seed and 4 to 128 threads, one command for each as in the documents.
mkdir gds_dir
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 0 -w 128 -s 64K -i 16K -x 0 -I 1
for threads in 4 8 16 32 64 128; do
    expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 0 -w $threads -s 64K -i 4K -x 0 -I 2 -k 0308 -T 100ms
    classic_line RANDREAD GPUD $threads '[0-9]+' $((64 * threads)) 4 '[0-9]+'
    equal "$(awk '{ split($8, done, "/"); print done[1] - 4 * $18 }' stdout)" 0 "KiB done and 4 x ops apart"
    stderr_contains "Device: GPU 0 = Fake CUDA GPU (2000:06:00.0)"
done
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 10 -w 64 -s 64K -i 4K -x 0 -I 2 -k 0308 --json report
classic_line RANDREAD GPUD 64 4096 4096 4 1024
json report "d['job']['seed'] == 308 and d['results'][0]['device']['index'] == 10"
