# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A GPU that is not there: what was asked, what is visible, exit status 2.
random_file data 65536
need_fake_gpus
expect 2 with_fake_gpus 1 penstock io -f data -i 4K -x 0 -d 1
stderr_matches 'GPU 1 asked, 1 visible: 0 = .* \([0-9a-f:.]+\)'
stdout_lines 0
for name in 16 GPU-00000000 ffffffff 0000:ff:00.0 -1 0x1 nvidia; do
    expect 2 with_fake_gpus 16 penstock io -f data -i 4K -x 2 -d "$name"
    says "16 visible"
done
# A beginning that fits several is refused, not taken for the first.
expect 2 with_fake_gpus 4 penstock io -f data -i 4K -x 0 -d GPU-face
says "means 4 of 4"
