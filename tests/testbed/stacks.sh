# shellcheck shell=dash disable=SC2034,SC2154
# SPDX-License-Identifier: Apache-2.0
#
# What can lie between a file and a drive. Each stack is a function that sets $device.

on_512() {
    drive plain
    device=$drive
}

on_4kn() {
    drive 4kn
    device=$drive
}

on_multipath() {
    drive shared
    device=$drive
}

on_md() {
    local first
    drive pair0
    first=$drive
    drive pair1
    mdadm --create /dev/md0 --level=0 --raid-devices=2 --chunk=64 --metadata=1.2 --run "$first" "$drive" ||
        fail "mdadm"
    at_end mdadm --stop /dev/md0
    device=/dev/md0
}

on_dm() {
    local first
    drive pair0
    first=$drive
    drive pair1
    # Half from each, so that a file crosses the border.
    dmsetup create joined <<TABLE || fail "dmsetup"
0 98304 linear $first 2048
98304 98304 linear $drive 4096
TABLE
    at_end dmsetup remove --retry joined
    # Nothing makes the links of /dev/mapper in this machine.
    device=/dev/dm-$(dmsetup info -c --noheadings -o minor joined)
}

on_lvm() {
    local first
    drive pair0
    first=$drive
    drive pair1
    dd if=/dev/zero of="$first" bs=1M count=1 2>/dev/null
    dd if=/dev/zero of="$drive" bs=1M count=1 2>/dev/null
    vgcreate -q -y group "$first" "$drive" || fail "vgcreate"
    at_end vgremove -q -f -y group
    lvcreate -q -y -n striped -i 2 -I 64k -l 100%FREE group || fail "lvcreate"
    device=/dev/dm-$(dmsetup info -c --noheadings -o minor group-striped)
}

# Its image on ext4 on the drive of 512 byte blocks.
on_loop() {
    drive plain
    ext4 "$drive"
    truncate -s 48M "$mount/image"
    device=$(/usr/sbin/losetup -f --show --direct-io=on -b 4096 "$mount/image") || fail "losetup"
    at_end /usr/sbin/losetup -d "$device"
}

# transfers STACK TEXT...: the unit test's cases on a file system there, those set-ups whose name
# contains a TEXT. Emulation is slow: each stack has others.
transfers() {
    "$1"
    shift
    ext4 "$device" -b 4096
    export TEST_DIRECTORY="$mount"
    LIMIT_S=120 expect 0 ./test_transfer "$@"
    says "OK ] writes_against_a_model"
    unset TEST_DIRECTORY
}

# alignment STACK BYTES: what O_DIRECT demands there, on the device and on a file.
alignment() {
    "$1"
    filled "$device" 1
    expect 0 ./penstock io -f "$device" -x 1 -s 1M --json -
    equal "$(value direct_offset_align_bytes)" "$2" "alignment on the device"
    ext4 "$device" -b 4096
    expect 0 ./penstock io -f "$mount/file" -x 1 -I 1 -s 1M --json -
    equal "$(value direct_offset_align_bytes)" "$2" "alignment of a new file"
    expect 0 ./penstock io -f "$mount/file" -x 1 --json -
    equal "$(value direct_offset_align_bytes)" "$2" "alignment of a file"
    equal "$(value block_device)" "$(basename "$(readlink -f "$device")")" "block device"
}

# counters STACK: the drive's own count is the run's, to the byte.
counters() {
    local before after name
    "$1"
    name=$(basename "$(readlink -f "$device")")
    filled "$device" 8
    before=$(sectors "$name" READ)
    expect 0 ./penstock io -f "$device" -x 1 -s 8M -i 64K --json -
    after=$(sectors "$name" READ)
    equal "$(value device_read_bytes)" 8388608 "bytes read by the device"
    equal "$(value from_cache)" false "from cache"
    # Looking for zeros reads up to 256 samples of 4 KiB before the window, and a probe little more.
    at_most 8388608 "$((after - before))" "the run's bytes, of what diskstats has"
    at_most "$((after - before - 8388608))" $((256 * 4096 + 65536)) "bytes beside the run's"

    before=$(sectors "$name" WRITTEN)
    expect 0 ./penstock io -f "$device" -x 1 -I 1 -s 8M -i 64K --overwrite --json -
    after=$(sectors "$name" WRITTEN)
    equal "$(value device_written_bytes)" 8388608 "bytes written by the device"
    equal "$((after - before))" 8388608 "bytes of diskstats"
}

# A multipath device counts from Linux 6.4 on: before, its bytes are not known, which is not 0.
counters_of_multipath() {
    local name bytes
    drive shared
    name=${drive#/dev/}
    filled "$drive" 8
    expect 0 ./penstock io -f "$drive" -x 1 -s 8M -i 64K --json -
    bytes=$(value device_read_bytes)
    if [ "$(cat "/sys/block/$name/queue/iostats")" = 1 ]; then
        equal "$bytes" 8388608 "bytes read by the device"
    else
        equal "$bytes" null "bytes read by a device that does not count"
    fi
    equal "$(value from_cache)" false "from cache"
}
