# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# -x 1 loads no driver, whatever -d says; -x 0 makes a context on the chosen GPU alone.
random_file data 65536
need_fake_gpus
background with_fake_gpus 4 penstock io -f data -x 1 -d 2 -i 4K -T 60
opened /data
# shellcheck disable=SC2154 # set by background
expect_not_zero grep -q libcuda "/proc/$PID/maps"
kill -INT "$PID"
ended 130

# A context on any other GPU would be the second one.
expect 0 with_fake_gpus 4 env FAKE_CUDA_FAULT="cuDevicePrimaryCtxRetain:2:fail=2" \
    penstock io -f data -x 0 -d 3 -i 4K -w 4
stdout_contains "GPU 3 = "
expect 0 with_fake_gpus 4 env FAKE_CUDA_FAULT="cuInit:*:fail=999" penstock io -f data -x 1 -i 4K
