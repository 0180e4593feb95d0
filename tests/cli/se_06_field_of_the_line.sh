# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the fields are in the less common forms: requested, ranges of sizes, -U, one thread's time.
expect 0 with_fake_gpus 1 gdsio -f data -d 0 -w 4 -s 1M -i 4K -x 0 -I 1
classic_line WRITE GPUD 4 1024 1024 4 256
expect 0 with_fake_gpus 1 gdsio -f data -d 0 -w 4 -s 1M -i 4K -x 0 -I 0 -T 100ms
classic_line READ GPUD 4 '[0-9]+' 1024 4 '[0-9]+'
expect 0 with_fake_gpus 1 gdsio -f data -d 0 -w 1 -s 1M -i 4K:32K:1K -x 0 -I 0
classic_line READ GPUD 1 1024 1024 4-32-1 '[0-9]+'
expect 0 with_fake_gpus 1 gdsio -f data -d 0 -w 3 -s 1M -i 4KB:32KB:1KB -x 2 -I 3
classic_line RANDWRITE CPU_GPU 3 1024 1024 4-32-1 '[0-9]+'
expect 0 gdsio -f data -w 2 -s 1M -i 64K -x 1 -I 0 -U
classic_line RANDREAD CPUONLY 2 1024 1024 64 '1[78]'
expect 0 gdsio -f data -w 2 -s 1M -i 64K -x 1 -I 1 -U
classic_line RANDWRITE CPUONLY 2 1024 1024 64 '1[78]'
# Sizes below one KiB are rounded down, as done and requested are.
expect 0 gdsio -f data -x 1 -s 5000 -i 1500
classic_line READ CPUONLY 1 4 4 1 4
expect 0 gdsio -f data -x 1 -w 4 -O 1 -J
classic_line READ CPUONLY 4 1024 1024 1024 1
stderr_matches '^Thread 3: 0 ops, 0 B'
# An operation alone has a latency: the first one counts.
stdout_lacks "Avg_Latency: 0.000000"
