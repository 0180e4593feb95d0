# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Random order, ranges of sizes, unaligned places and aligned ones, on every kind of memory: the
# bytes of the file are those of the plain way.
write() {
    local name=$1
    shift
    # shellcheck disable=SC2086 # several words
    expect 0 with_fake_gpus 1 penstock io -f "$name" -F -k 0308 -s 1000003 -w 3 $order "$@"
}
while read -r order; do
    rm -f plain other
    write plain -x 1 -O 1
    for how in "-x 1" "-x 0 -d 0" "-x 0 -d host" "-x 2 -d 0 -m 1" "-x 3 -d 0 -B 5" "-x 4 -d host" \
        "-x 0 -d 0 -m 2" "-x 0 -d 0 -m 3" "-x 0 -d 0 -m 4 -b"; do
        rm -f other
        # shellcheck disable=SC2086 # several words
        write other $how
        same_bytes plain other
    done
done <<'ORDERS'
-I 1 -i 4K:32K:1K -o 3
-I 3 -i 16K
-I 3 -i 30001 -U
-I 3 -i 5K -a 8K -o 100
-I 3 -i 512:70000:3 -U
ORDERS
# One file for each thread, too.
for xfer in 0 1 2 3 4; do
    mkdir "folder$xfer"
    expect 0 with_fake_gpus 1 penstock io -D "folder$xfer" -d 0 -x $xfer -I 3 -F -w 4 -s 30000 -i 4K -U
    for thread in 0 1 2 3; do
        equal "$(stat -c %s "folder$xfer/gdsio.$thread")" 30000 "size"
        same_bytes folder0/gdsio.$thread "folder$xfer/gdsio.$thread"
    done
done
expect 1 cmp -s folder0/gdsio.0 folder0/gdsio.1
