# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# 64 MiB + 5 bytes, off every boundary, in large operations and small ones.
write() {
    local name=$1
    shift
    expect 0 with_fake_gpus 1 penstock io -f "$name" -d 0 -I 1 -F -s 67108869 -o 1 -i "$io" "$@"
}
io=5000001
write plain -x 1 -O 1
equal "$(stat -c %s plain)" 67108870 "size of the file"
for how in "-x 0" "-x 1" "-x 3 -B 2" "-x 4"; do
    # shellcheck disable=SC2086 # several words
    write other $how
    same_bytes plain other
    rm other
done
