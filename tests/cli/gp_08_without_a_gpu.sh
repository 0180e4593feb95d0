# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# No GPU: modes that need one end with status 3 and name the ways that need none; those work.
random_file data 65536
for x in 0 2 3 4; do
    expect 3 env PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1 penstock io -f data -x $x -i 4K
    stderr_contains "-d host"
    stderr_contains "'-x 1' needs no device"
    stdout_lines 0
    expect 0 env PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1 penstock io -f data -x $x -i 4K -d host
    stdout_contains "emulated"
done
expect 0 env PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1 penstock io -f data -x 1 -i 4K
stdout_contains "no GPU"
stdout_lacks "emulated"
# Host memory as the target needs no GPU either.
for m in 3 4; do
    expect 0 env PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1 penstock io -f data -x 0 -m $m -i 4K
done
expect 0 env PENSTOCK_LIBCUDA=/nowhere/libcuda.so.1 penstock io -f data -x 2 -d host -i 4K --classic
stdout_contains "emulated"
need_fake_gpus
expect 3 with_fake_gpus 0 penstock io -f data -x 0 -i 4K
stderr_contains "-d host"
expect 3 with_fake_gpus 1 env CUDA_VISIBLE_DEVICES= penstock io -f data -x 0 -i 4K
stderr_contains "-d host"
