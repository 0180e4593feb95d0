#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: Apache-2.0
#
# Runs in the virtual machine that tests/testbed/run starts: every scenario, TAP on stdout.
[ -e /etc/testbed/command ] || { echo "$0: runs only in the virtual machine" >&2; exit 2; }
cd /tb || exit 2
export LD_LIBRARY_PATH=/tb/lib:/lib
# Sanitizers place their shadow at fixed addresses; their findings are no status of ours.
echo 0 >/proc/sys/kernel/randomize_va_space
# Leaks are looked for where it takes less time.
export ASAN_OPTIONS=exitcode=99:detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:exitcode=99:print_stacktrace=1
# shellcheck source=tests/testbed/lib.sh
. ./lib.sh
# shellcheck source=tests/testbed/stacks.sh
. ./stacks.sh
# shellcheck source=tests/testbed/devices.sh
. ./devices.sh
# shellcheck source=tests/testbed/failures.sh
. ./failures.sh

all() {
    scenario "alignment of a 512 byte drive" alignment on_512 512
    scenario "alignment of a 4Kn drive" alignment on_4kn 4096
    scenario "alignment of md RAID0" alignment on_md 512
    scenario "alignment of a loop device of 4096 byte sectors" alignment on_loop 4096
    scenario "alignment of a multipath namespace" alignment on_multipath 512
    scenario "transfers on a 512 byte drive" transfers on_512 "emulated, io_uring always"
    scenario "transfers on a 4Kn drive" transfers on_4kn "host memory, io_uring" "emulated, plain calls"
    scenario "transfers on md RAID0" transfers on_md "emulated, O_DIRECT"
    scenario "transfers on dm linear over two drives" transfers on_dm "host memory, O_DIRECT"
    scenario "transfers on a loop device of 4096 byte sectors" transfers on_loop "host memory, io_uring"
    scenario "counters of a drive" counters on_512
    scenario "counters of a 4Kn drive" counters on_4kn
    scenario "counters of md RAID0" counters on_md
    scenario "counters of striped LVM" counters on_lvm
    scenario "counters of a multipath namespace" counters_of_multipath
    scenario "a whole 512 byte drive read in every mode" reads small uring posix
    scenario "a whole 4Kn drive read in every mode" reads 4kn uring
    scenario "writes to a drive need leave" writes_guarded
    scenario "no write to a mounted drive" writes_mounted
    scenario "no write to a member of md" writes_held on_md md0
    scenario "no write to a part of dm" writes_held on_dm dm-
    scenario "unaligned places on a 4Kn drive" unaligned_device
    scenario "unaligned files on a 4Kn drive" unaligned_files
    scenario "a full file system, host memory" full -x 1
    scenario "a full file system, through the emulated device" full -x 0 -d host
    scenario "a full file system, batches" full -x 3 -d host
    scenario "a file's drive is removed, io_uring" file_leaves -x 0 -d host --storage uring
    scenario "a file's drive is removed, plain calls" file_leaves -x 1 --storage posix
    scenario "a drive is removed, io_uring" device_leaves -x 3 -d host --storage uring
    scenario "a drive is removed, plain calls" device_leaves -x 1 --storage posix
    scenario "a file's drive is removed, writing" file_leaves -x 0 -d host -I 1 --overwrite
    scenario "a drive is removed, writing" device_leaves -x 1 -I 1 --overwrite
}

# The plan comes first, so that lines that are lost with a crash are missed.
echo "1..$(grep -c '^    scenario "' guest.sh)"
if [ $# -gt 0 ]; then
    eval "$(grep -F -- "$1" guest.sh | grep '^    scenario "')"
else
    all
fi
[ "$bad" -eq 0 ]
