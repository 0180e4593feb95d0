# shellcheck shell=dash disable=SC2154
# SPDX-License-Identifier: Apache-2.0
#
# Drives that are full or go away.

# Free blocks of ext4 that are set aside for metadata look free to root and are not: a file of all
# that is free passes the look beforehand and does not fit.
full() {
    local free
    drive small
    ext4 "$drive" -b 4096 -m 0 -O ^has_journal
    free=$(($(stat -f -c %f "$mount") * $(stat -f -c %S "$mount")))
    expect 3 ./penstock io -f "$mount/file" -x 1 -I 1 -i 64K -s "$((free + 4096))"
    says "not enough space"
    [ ! -e "$mount/file" ] || fail "a refused run made a file"
    expect 1 ./penstock io -f "$mount/file" "$@" -I 1 -i 64K -s "$free"
    says ENOSPC
    says "stopped by the first failure"
    says "completed "
    says "'$mount/file'"
    lacks Throughput
    rm "$mount/file"
    expect 1 ./penstock io -f "$mount/file" "$@" -I 1 -i 64K -s "$free" --json -
    equal "$(value stopped_by_error)" true "stopped by error"
    equal "$(value complete)" false "complete"
    at_most 1048576 "$(value completed_bytes)" "bytes that did fit"
    at_most "$(value completed_bytes)" "$free" "bytes that did fit"
    equal "$(value path)" "$mount/file" "file of the plan"
}

# moved NAME: bytes read and written by a drive so far.
moved() {
    echo $(($(sectors "$1" READ) + $(sectors "$1" WRITTEN)))
}

# removed_in_use OPTION...: a run on $target, on a drive that is removed meanwhile.
removed_in_use() {
    local name controller started begin
    name=${drive#/dev/}
    controller=/sys/block/$name/device/device
    begin=$(moved "$name")
    (
        tries=0
        while [ "$(moved "$name")" -lt $((begin + 16777216)) ] && [ "$tries" -lt 400 ]; do
            tries=$((tries + 1))
            usleep 50000
        done
        echo 1 >"$controller/remove"
    ) &
    started=$(cut -d. -f1 /proc/uptime)
    LIMIT_S=25 expect 1 ./penstock io -f "$target" "$@" -T 20
    at_most "$(($(cut -d. -f1 /proc/uptime) - started))" 12 "seconds until the end"
    wait
    says "'$target'"
    says "at offset"
    lacks "completed 0 ops"
    lacks Throughput
}

came_back() {
    local tries=0
    echo 1 >/sys/bus/pci/rescan
    until (drive leaves) >/dev/null 2>&1; do
        [ "$tries" -lt 50 ] || return
        tries=$((tries + 1))
        usleep 100000
    done
}

device_leaves() {
    drive leaves
    filled "$drive" 48
    at_end came_back
    target=$drive
    removed_in_use "$@"
    lacks ENOSPC
}

file_leaves() {
    drive leaves
    at_end came_back
    ext4 "$drive"
    target=$mount/file
    dd if=/dev/urandom of="$target" bs=1M count=24 conv=fsync 2>/dev/null
    removed_in_use "$@"
    says EIO
}
