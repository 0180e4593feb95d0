# shellcheck shell=dash disable=SC2154
# SPDX-License-Identifier: Apache-2.0
#
# Whole drives: read in every mode, written only when that is meant and harms nothing in use.

# sum DEVICE: of the 4 MiB at the beginning, where the writes here go.
sum() {
    dd if="$1" bs=1M count=4 iflag=direct 2>/dev/null | md5sum
}

# megabytes FILE FIRST COUNT: sum of that part; part FILE OFFSET BYTES: of a small file.
megabytes() {
    dd if="$1" bs=1M skip="$2" count="$3" 2>/dev/null | md5sum
}

part() {
    tail -c "+$(($2 + 1))" "$1" | head -c "$3" | md5sum
}

# reads NAME STORAGE...: a whole drive without -s, in every mode, by each engine.
reads() {
    local mode storage bytes
    drive "$1"
    shift
    bytes=$(blockdev --getsize64 "$drive")
    filled "$drive" 4
    for mode in 0 1 2 3 4; do
        for storage; do
            expect 0 ./penstock io -f "$drive" -x "$mode" -d host --storage "$storage" --json -
            equal "$(value completed_bytes)" "$bytes" "bytes of -x $mode, $storage"
            equal "$(value complete)" true "-x $mode, $storage complete"
            equal "$(value fs_type)" block "kind"
            [ "$mode" -ne 4 ] || continue
            equal "$(value o_direct)" true "O_DIRECT of -x $mode"
            equal "$(value "${storage}_operations" | sed 's/^0$/none/;s/^[0-9].*/some/')" some \
                "operations of $storage in -x $mode"
        done
    done
}

# refused STATUS TEXT DEVICE OPTION...: a write that leaves every byte as it is.
refused() {
    local status=$1 text=$2 device=$3 before
    shift 3
    before=$(sum "$device")
    expect "$status" ./penstock io -f "$device" -x 1 -I 1 -i 64K -s 1M "$@"
    says "$text"
    lacks Throughput
    equal "$(sum "$device")" "$before" "contents of $device"
}

writes_guarded() {
    drive small
    filled "$drive" 8
    refused 2 --overwrite "$drive"
    dd if="$drive" of=/tmp/before bs=1M iflag=direct 2>/dev/null
    expect 0 ./penstock io -f "$drive" -x 1 -I 1 -i 64K -s 1M -o 2M --overwrite
    dd if="$drive" of=/tmp/after bs=1M iflag=direct 2>/dev/null
    equal "$(megabytes /tmp/after 0 2)" "$(megabytes /tmp/before 0 2)" "what lies before"
    equal "$(megabytes /tmp/after 3 5)" "$(megabytes /tmp/before 3 5)" "what lies behind"
    [ "$(megabytes /tmp/after 2 1)" != "$(megabytes /tmp/before 2 1)" ] || fail "nothing was written"
    rm /tmp/before /tmp/after

    blockdev --setro "$drive"
    at_end blockdev --setrw "$drive"
    refused 3 "read only" "$drive" --overwrite
}

# A mounted file system changes a few bytes of its device by itself, so it is read-only here.
writes_mounted() {
    drive small
    mkfs.ext4 -q -F "$drive" || fail mkfs.ext4
    mkdir -p /mnt/held
    mount -t ext4 -o ro "$drive" /mnt/held || fail mount
    at_end unmount /mnt/held
    refused 3 "mounted on /mnt/held" "$drive" --overwrite
    # The disk below a partition that is mounted, and the partition.
    unmount /mnt/held
    parted -s "$drive" mklabel gpt mkpart one 1MiB 6MiB || fail parted
    at_end wipe "$drive"
    mkfs.ext4 -q -F "${drive}p1" || fail mkfs.ext4
    mount -t ext4 -o ro "${drive}p1" /mnt/held || fail mount
    refused 3 "mounted on /mnt/held" "$drive" --overwrite
    refused 3 "mounted on /mnt/held" "${drive}p1" --overwrite
}

wipe() {
    unmount /mnt/held
    dd if=/dev/zero of="$1" bs=1M count=8 conv=fsync 2>/dev/null
    blockdev --rereadpt "$1"
}

# writes_held STACK HOLDER: by md or dm.
writes_held() {
    "$1"
    drive pair0
    refused 3 "held by $2" "$drive" --overwrite
    drive pair1
    refused 3 "held by $2" "$drive" --overwrite
}

# Sizes and places off every block of a 4Kn drive: nothing beside them changes.
unaligned_device() {
    local mode
    drive 4kn
    filled "$drive" 1
    dd if="$drive" of=/tmp/before bs=64K count=1 iflag=direct 2>/dev/null
    for mode in 0 1 2 3; do
        expect 0 ./penstock io -f "$drive" -x "$mode" -d host -I 1 -s 10000 -i 777 -o 5001 --overwrite --json -
        equal "$(value completed_bytes)" 10000 "bytes of -x $mode"
        dd if="$drive" of=/tmp/after bs=64K count=1 iflag=direct 2>/dev/null
        equal "$(part /tmp/after 0 5001)" "$(part /tmp/before 0 5001)" "before, -x $mode"
        equal "$(part /tmp/after 15001 50535)" "$(part /tmp/before 15001 50535)" \
            "behind, -x $mode"
        ! cmp -s /tmp/before /tmp/after || fail "nothing was written with -x $mode"
        expect 0 ./penstock io -f "$drive" -x "$mode" -d host -s 10000 -i 777 -U -k 7 --json -
        equal "$(value completed_bytes)" 10000 "bytes read by -x $mode"
    done
    rm /tmp/before /tmp/after
}

unaligned_files() {
    local mode
    drive 4kn
    ext4 "$drive"
    for mode in 0 1 2 3 4; do
        expect 0 ./penstock io -D "$mount" -w 2 -x "$mode" -d host -I 1 -s 10000 -i 777 --json -
        equal "$(value completed_bytes)" 20000 "bytes written, -x $mode"
        equal "$(stat -c %s "$mount/gdsio.0") $(stat -c %s "$mount/gdsio.1")" "10000 10000" "sizes, -x $mode"
        expect 0 ./penstock io -D "$mount" -w 2 -x "$mode" -d host -i 777 --json -
        equal "$(value completed_bytes)" 20000 "bytes read, -x $mode"
        expect 0 ./penstock io -D "$mount" -w 2 -x "$mode" -d host -i 777 -U -I 3 -s 10000
        equal "$(stat -c %s "$mount/gdsio.0")" 10000 "size after random writes, -x $mode"
        rm "$mount"/gdsio.*
    done
}
