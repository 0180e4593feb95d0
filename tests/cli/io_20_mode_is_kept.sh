# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Reading needs no right to write: a file of mode 0444 keeps its time, size and mode, through every
# transfer type.
random_file data 65536
chmod 0444 data
touch -d '2001-02-03 04:05:06' data
sum=$(sha256sum <data)
stamp=$(stat -c '%Y %s %a' data)
for xfer in 0 1 2 3 4; do
    for type in 0 2; do
        expect 0 with_fake_gpus 1 penstock io -f data -d 0 -x $xfer -I $type -i 4K -w 2
    done
done
equal "$(stat -c '%Y %s %a' data)" "$stamp" "time, size and mode"
equal "$(sha256sum <data)" "$sum" "contents"
need_cmd python3
equal "$(python3 -c 'import os; print(os.listxattr("data"))')" "[]" "attributes"
