# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A driver call that fails ends the run with the GPU, the call, its status and a next step; no
# rate is printed, nothing hangs.
random_file data 1048576
need_fake_gpus
expect_fault() {
    local status=$1 call=$2 number=$3
    shift 3
    expect "$status" with_fake_gpus 2 env FAKE_CUDA_FAULT="$call:fail=$number" \
        timeout 20 penstock io -f data -d 1 -i 64K -w 2 "$@"
    says "GPU 1 ("
    says "($number, "
    grep -Eqh 'cannot .* gave .*; [a-z]' stdout stderr || fail "no next step"
    stdout_lacks "Throughput"
}
for x in 0 2 3; do
    # Nothing has begun: the machine cannot do it.
    expect_fault 3 "cuDevicePrimaryCtxRetain:1" 2 -x $x
    expect_fault 3 "cuMemAlloc_v2:2" 2 -x $x
    # It has: the measurement failed.
    expect_fault 1 "cuStreamCreateWithPriority:*" 999 -x $x
    expect_fault 1 "cuEventCreate:*" 2 -x $x
    expect_fault 1 "cuMemcpyHtoDAsync_v2:3" 700 -x $x
    expect_fault 1 "stream_copy:3" 700 -x $x
done
expect_fault 1 "cuEventRecord:2" 400 -x 0
expect_fault 1 "cuMemcpyDtoHAsync_v2:3" 719 -x 0 -I 1 --overwrite
expect_fault 3 "cuMemHostAlloc:1" 2 -x 0 -m 2
expect_fault 3 "cuMemCreate:1" 2 -x 0 -m 1

expect 1 with_fake_gpus 2 env FAKE_CUDA_FAULT="cuMemcpyHtoDAsync_v2:3:fail=700" \
    penstock io -f data -d 1 -i 64K -x 0 --json -
json - "d['results'][0]['failures'][0]['error']['device_status'] == 700"
json - "d['results'][0]['failures'][0]['error']['object'].startswith('GPU 1 (')"
json - "d['results'][0]['ledger']['completed_ops'] == 2"

# A write run that cannot start leaves no file behind.
expect 3 with_fake_gpus 1 env FAKE_CUDA_FAULT="cuMemAlloc_v2:1:fail=2" \
    penstock io -f new -d 0 -x 0 -I 1 -s 64K -i 4K
[[ ! -e new ]] || fail "an empty file was left"
