# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Memory that the driver will not page-lock: slower, with a named reason, and the bytes are right.
need_fake_gpus
for x in 0 2 3; do
    rm -f plain slow
    expect 0 with_fake_gpus 1 penstock io -f plain -x $x -I 1 -s 1M -i 64K -k 7 -F
    expect 0 with_fake_gpus 1 env FAKE_CUDA_FAULT="cuMemHostRegister_v2:*:fail=1" \
        penstock io -f slow -x $x -I 1 -s 1M -i 64K -k 7 -F
    stdout_matches '^  because: .*page-lock.*\(pin-refused, '
    same_bytes plain slow
    expect 0 with_fake_gpus 1 env FAKE_CUDA_FAULT="cuMemHostRegister_v2:*:fail=1" \
        penstock io -f slow -x $x -i 64K --json -
    json - "any(r['reason'] == 'pin-refused' for r in d['results'][0]['reasons'])"
    json - "d['results'][0]['ledger']['complete'] is True"
done
