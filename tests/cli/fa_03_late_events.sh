# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Events that come late make a run slow, not wrong: all of it is done, each write has its bytes.
need_fake_gpus
for x in 0 3; do
    rm -f plain late
    expect 0 with_fake_gpus 1 penstock io -f plain -x $x -I 1 -s 1M -i 64K -k 7 -F
    expect 0 with_fake_gpus 1 \
        env FAKE_CUDA_FAULT="cuEventQuery:*:delay_us=3000;cuEventSynchronize:*:delay_us=3000;stream_copy:*:delay_us=2000" \
        timeout 20 penstock io -f late -x $x -I 1 -s 1M -i 64K -k 7 -F
    stdout_contains "DataSetSize: 1024/1024(KiB)"
    same_bytes plain late
done
