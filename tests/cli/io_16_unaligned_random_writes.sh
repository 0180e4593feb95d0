# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Random writes of 512 bytes to 2 MiB off every boundary: what lies in the file afterwards does not
# depend on the way that the bytes took. (-F: the data of an operation depends on the seed alone.)
write() {
    expect 0 with_fake_gpus 1 penstock io -d 0 -I 3 -U -F -s 9M -i 512:2M:1 "$@" --json -
    json - "d['results'][0]['ledger']['completed_bytes'] == 9 << 20"
}
for threads in 1 3; do
    write -w $threads -f cached-$threads -x 1 -O 1
    write -w $threads -f direct-$threads -x 1
    write -w $threads -f gpu-$threads -x 0
    write -w $threads -f flight-$threads -x 3 -B 8
    for way in direct gpu flight; do
        same_bytes cached-$threads $way-$threads
    done
done
# Not the same data everywhere, so that being equal says something.
expect 1 cmp -s cached-1 cached-3
[[ $(gzip -c cached-3 | wc -c) -ge 9437184 ]] || fail "the data can be compressed: parts were not written"
asserts=$((asserts + 1))
