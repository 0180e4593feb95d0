# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The sequential reads of a 16-GPU machine, smaller: the line has its fields and its numbers, and
# the GPU that was named is the one that was used.
mkdir gds_dir
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 2 -w 8 -s 500K -i 20K -x 0 -I 1
classic_line WRITE GPUD 8 4000 4000 20 200
equal "$(stat -c %s gds_dir/gdsio.* | sort | uniq -c | xargs)" "8 512000" "sizes of the files"

expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 2 -w 8 -s 500K -i 20K -x 0 -I 0 -T 250ms
classic_line READ GPUD 8 '[0-9]+0' 4000 20 '[0-9]+'
stdout_matches ' total_time (0\.[2-9]|[1-9]).* secs$'
stderr_matches '^Device: GPU 2 = Fake CUDA GPU \(2000:28:00\.0\) GPU-face125c-'
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 12 -w 8 -s 500K -i 20K -x 0 -I 0 -T 250ms
classic_line READ GPUD 8 '[0-9]+0' 4000 20 '[0-9]+'
stderr_matches '^Device: GPU 12 = Fake CUDA GPU \(10000:4a:00\.0\) GPU-face1c5c-'

# The first, the last and the one after; by bus id and by UUID too.
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 0 -w 8 -i 500K -x 2
stderr_matches '^Device: GPU 0 = Fake CUDA GPU \(2000:06:00\.0\) GPU-face105c-'
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 15 -w 8 -i 500K -x 3
stderr_matches '^Device: GPU 15 = Fake CUDA GPU \(10000:7d:00\.0\) GPU-face1f5c-'
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 10000:7d:00.0 -w 8 -i 500K -x 4
stderr_matches '^Device: GPU 15 = '
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d GPU-face17 -w 8 -i 500K
stderr_matches '^Device: GPU 7 = Fake CUDA GPU \(2000:7d:00\.0\) GPU-face175c-'
expect 2 with_fake_gpus 16 gdsio -D gds_dir -d 16 -w 8 -i 500K
stdout_lines 0
stderr_contains "16"
# No GPU is taken for another one, nor the emulated device for a GPU.
expect 3 with_fake_gpus 0 gdsio -D gds_dir -d 0 -w 8 -i 500K
stdout_lines 0
stderr_contains "-d host"
