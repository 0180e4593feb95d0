# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# With -F the data depends on seed, thread and operation alone: a file that is written through the
# page cache by plain calls holds the same bytes as one written by any other way, for sizes and
# offsets on and off every boundary.
write() {
    local name=$1
    shift
    expect 0 with_fake_gpus 1 penstock io -f "$name" -I 1 -F -k 77 -s "$size" -o "$offset" -i "$io" -w 2 "$@"
}
while read -r size offset io; do
    rm -f plain other*
    write plain -x 1 -O 1
    equal "$(stat -c %s plain)" $((offset + size)) "size of the file"
    while read -r how; do
        rm -f other
        # shellcheck disable=SC2086 # several words
        write other $how
        same_bytes plain other
    done <<'HOW'
-x 1
-x 1 --storage uring
-x 0 -d 0
-x 0 -d host -m 1
-x 2 -d 0 -m 1
-x 3 -d 0 -B 3
-x 4 -d 0
HOW
done <<'SIZES'
1 0 1
1 4095 1
511 511 100
4097 1 4097
30000 0 4096
30000 4097 7777
1048579 513 65536
SIZES
# Being equal says something: another seed gives other data.
expect 0 penstock io -f seed -I 1 -F -k 78 -s 1048579 -o 513 -i 65536 -w 2 -x 1
expect 1 cmp -s -i 513 plain seed
