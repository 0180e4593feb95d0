# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Two programs write their part of the same block at the same time: neither's bytes are lost.
part() {
    local name=$1 start=$2 size=$3
    penstock io -f data -x 1 -I 1 -F -k "$name" -o "$start" -s "$size" -i "$size" --overwrite "${@:4}"
}
truncate -s 4096 data
for parting in 2048 2001; do
    for round in 1 2 3; do
        # What each leaves behind when it is alone.
        truncate -s 0 data
        truncate -s 4096 data
        expect 0 part "1$round" 0 $parting
        expect 0 part "2$round" $parting $((4096 - parting))
        cp data alone
        # Together, both for a while, then each once more as before, at the same time.
        part 7 0 $parting -T 100ms >/dev/null 2>&1 &
        first=$!
        expect 0 part 8 $parting $((4096 - parting)) -T 100ms
        wait $first || fail "the other writer failed"
        part "1$round" 0 $parting >/dev/null 2>&1 &
        first=$!
        expect 0 part "2$round" $parting $((4096 - parting))
        wait $first || fail "the other writer failed"
        same_bytes data alone
    done
done
