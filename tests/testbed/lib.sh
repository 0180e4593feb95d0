# shellcheck shell=dash disable=SC2030,SC2031
# SPDX-License-Identifier: Apache-2.0
#
# What the scenarios in the virtual machine may use (busybox ash).
#
#   scenario NAME FUNCTION ARG...   runs FUNCTION in a shell of its own, prints a TAP line; what it
#                                   printed follows as comments unless it passed
#   expect STATUS CMD...            runs CMD with a time limit, keeps its output in $out, $errors
#   says TEXT      lacks TEXT       either stream contains TEXT; neither does
#   equal FOUND EXPECTED WHAT       at_most FOUND LIMIT WHAT
#   value KEY                       the first value of KEY in the JSON document $out
#   drive NAME                      sets $drive to the block device with serial PST-NAME
#   sectors NAME READ|WRITTEN       bytes of a block device in /proc/diskstats
#   filled DEVICE MIB               writes random bytes at the beginning, and drops caches
#   ext4 DEVICE OPTION...           makes a file system there, mounted on $mount until the end
#   at_end CMD ARG...               runs CMD when the scenario ends, last one first
#   skip REASON    fail REASON
#
# A scenario that asserts nothing fails.

out=/tmp/out errors=/tmp/errors log=/tmp/scenario
number=0 bad=0

scenario() {
    local name status begun
    name=$1
    shift
    number=$((number + 1))
    begun=$(cut -d. -f1 /proc/uptime)
    (
        asserts=0 ends='' last_status=''
        trap run_ends EXIT
        "$@"
        [ "$asserts" -gt 0 ] || fail "the scenario asserts nothing"
    ) >"$log" 2>&1 </dev/null
    status=$?
    case $status in
    0) echo "ok $number - $name" ;;
    77) echo "ok $number - $name # SKIP $(sed -n 's/^skip: //p' "$log")" ;;
    *)
        echo "not ok $number - $name"
        bad=$((bad + 1))
        ;;
    esac
    echo "# $(($(cut -d. -f1 /proc/uptime) - begun)) s"
    case $status in
    0 | 77) ;;
    *) tail -c 6000 "$log" | sed 's/^/# /' ;;
    esac
}

run_ends() {
    local status=$?
    eval "$ends"
    return "$status"
}

at_end() {
    ends="$*; $ends"
}

fail() {
    echo "not so: $*"
    if [ -n "$last_status" ]; then
        echo "last command ($last_status): $last_command"
        head -c 3000 "$out"
        head -c 3000 "$errors"
    fi
    exit 1
}

skip() {
    echo "skip: $*"
    exit 77
}

expect() {
    local wanted=$1
    shift
    asserts=$((asserts + 1))
    last_command=$* last_status=0
    timeout -k 5 "${LIMIT_S:-30}" "$@" >"$out" 2>"$errors" || last_status=$?
    [ "$last_status" -eq "$wanted" ] || fail "exit status $last_status, expected $wanted"
}

says() {
    asserts=$((asserts + 1))
    cat "$out" "$errors" | grep -Fq -- "$1" || fail "neither stream contains: $1"
}

lacks() {
    asserts=$((asserts + 1))
    ! cat "$out" "$errors" | grep -Fq -- "$1" || fail "a stream contains: $1"
}

equal() {
    asserts=$((asserts + 1))
    [ "$1" = "$2" ] || fail "$3: '$1', expected '$2'"
}

at_most() {
    asserts=$((asserts + 1))
    [ "$1" -le "$2" ] || fail "$3: $1, expected at most $2"
}

value() {
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$out" | head -n 1
}

drive() {
    local controller text path
    for controller in /sys/class/nvme/*; do
        read -r text <"$controller/serial" || continue
        [ "$text" = "PST-$1" ] || continue
        drive=/dev/${controller##*/}n1
        # A multipath namespace is named after its subsystem; the controller has a hidden path.
        for path in "$controller"/nvme*c*n1; do
            [ ! -e "$path" ] || drive=/dev/$(basename "$path" | sed 's/c[0-9]*n/n/')
        done
        [ ! -b "$drive" ] || return 0
    done
    fail "there is no drive $1"
}

sectors() {
    local column=6
    [ "$2" = READ ] || column=10
    awk -v name="${1#/dev/}" -v column="$column" '$3 == name { print $column * 512 }' /proc/diskstats
}

filled() {
    dd if=/dev/urandom of="$1" bs=1M count="$2" conv=notrunc,fsync 2>/dev/null || fail "cannot fill $1"
    echo 3 >/proc/sys/vm/drop_caches
}

# The kernel lets go of a file some milliseconds after an io_uring of its reader has ended.
unmount() {
    local tries=0
    while grep -q " $1 " /proc/mounts && [ "$tries" -lt 50 ]; do
        [ "$tries" -eq 0 ] || usleep 50000
        umount "$1" 2>/dev/null
        tries=$((tries + 1))
    done
}

ext4() {
    local device=$1
    shift
    mkfs.ext4 -q -F "$@" "$device" || fail "mkfs.ext4 $device"
    mount="/mnt/$number"
    mkdir -p "$mount"
    mount -t ext4 "$device" "$mount" || fail "mount $device"
    at_end unmount "$mount"
}
