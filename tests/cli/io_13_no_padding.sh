# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A new file is exactly as large as what was written, never padded to a block, and what lies beyond
# the written range of a larger file stays.
for xfer in 0 1 2 3 4; do
    for bytes in 1 511 10000 12289; do
        expect 0 with_fake_gpus 1 penstock io -f "new-$xfer-$bytes" -d 0 -x $xfer -I 1 -s $bytes -i $bytes
        equal "$(stat -c %s "new-$xfer-$bytes")" $bytes "size of a file written with -x $xfer"
    done
    random_file data 20000
    cp data before
    expect 0 with_fake_gpus 1 penstock io -f data -d 0 -x $xfer -I 1 -o 777 -s 10000 -i 3000 --overwrite
    equal "$(stat -c %s data)" 20000 "size of the larger file"
    expect 0 cmp -n 777 data before
    expect 0 cmp -i 10777 data before
    expect 1 cmp -s -i 777 -n 10000 data before
done
