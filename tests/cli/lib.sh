# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What a CLI case may use. A case is a bash file that tests/cli/run sources in a folder of its
# own; `penstock` and `gdsio` are on the PATH.
#
#   $DIR    that folder, on the file system of /var/tmp     $SHM    one on tmpfs, empty if none
#
#   expect STATUS CMD...        runs CMD, keeps its output, fails unless it exits with STATUS
#   expect_not_zero CMD...      the same for any status from 1 to 125 but 99 (a sanitizer's)
#   stdout_matches REGEX        some line of the last stdout matches (extended regex)
#   stdout_lacks TEXT           stderr_matches REGEX   stderr_contains TEXT   stderr_lacks TEXT
#   stdout_contains TEXT        stdout_lines N         says TEXT (either stream contains it)
#   classic_line TYPE XFER THREADS DONE REQUESTED IOSIZE OPS
#                               stdout is one result line of gdsio with these fields (extended
#                               regexes), byte for byte in its order, and its rate is done / time
#   json FILE EXPR              EXPR (python, d is the document of FILE, `-` the last stdout) is true;
#                               a repeated key, NaN, or text around the document fails too
#   same_bytes FILE FILE        equal CMD-RESULT EXPECTED [WHAT]
#   with_fault RULES CMD...     runs CMD with injected faults (tests/fakes/preload/fault.c)
#   with_fake_gpus N CMD...     runs CMD on the fake driver with N devices
#   background CMD...           starts CMD, keeps its output; its process is $PID
#   opened TEXT                 waits until $PID has a file open whose path contains TEXT
#   ended STATUS                waits for the end of $PID, fails unless it exits with STATUS
#   random_file FILE BYTES      makes a file of incompressible bytes
#   skip REASON                 ends the case as skipped
#   need_root need_loop need_ext4 need_uring need_tmpfs need_fault need_fake_gpus need_cmd NAME
#   loop_ext4 BYTES             a fresh ext4 of that size, its mount point in $MOUNT
#   at_end CMD...               runs CMD when the case ends, last one first
#
# A case fails with a message at the first thing that is not so. A case that asserts nothing fails.

asserts=0
ends=()
# shellcheck disable=SC2034 # for cases
PID=

run_ends() {
    local i
    for ((i = ${#ends[@]} - 1; i >= 0; i--)); do
        eval "${ends[i]}" || true
    done
    ends=()
}
trap run_ends EXIT
trap 'exit 143' TERM

at_end() {
    ends+=("$(printf '%q ' "$@")")
}

fail() {
    echo "not so: $*"
    echo "at line ${BASH_LINENO[1]:-?} of $(basename "$CASE_FILE")"
    if [[ -n ${last_command:-} ]]; then
        echo "last command ($last_status): $last_command"
        echo "--- stdout"
        head -c 8000 "$DIR/stdout"
        echo "--- stderr"
        head -c 8000 "$DIR/stderr"
    fi
    exit 1
}

skip() {
    echo "skip: $*"
    exit 77
}

finish() {
    [[ $asserts -gt 0 ]] || fail "the case asserts nothing"
    exit 0
}

run_kept() {
    last_command=$(printf '%q ' "$@")
    last_status=0
    "$@" >"$DIR/stdout" 2>"$DIR/stderr" </dev/null || last_status=$?
}

expect() {
    local wanted=$1
    shift
    asserts=$((asserts + 1))
    run_kept "$@"
    [[ $last_status -eq $wanted ]] || fail "exit status $last_status, expected $wanted"
}

expect_not_zero() {
    asserts=$((asserts + 1))
    run_kept "$@"
    [[ $last_status -ge 1 && $last_status -le 125 && $last_status -ne 99 ]] ||
        fail "exit status $last_status, expected a failure"
}

# A function ends in `${EXEC:-} env ...`, so that the process that is started is the command itself.
background() {
    last_command=$(printf '%q ' "$@")
    last_status=running
    (
        # shellcheck disable=SC2030 # the subshell's own
        EXEC='exec'
        [[ $(type -t "$1") == function ]] || exec "$@"
        "$@"
    ) >"$DIR/stdout" 2>"$DIR/stderr" </dev/null &
    PID=$!
    at_end kill -9 "$PID" 2>/dev/null
}

opened() {
    local deadline=$((SECONDS + 15))
    until find "/proc/$PID/fd" -lname "*$1*" 2>/dev/null | grep -q .; do
        kill -0 "$PID" 2>/dev/null || ended "an open '$1'"
        [[ $SECONDS -lt $deadline ]] || fail "process $PID did not open '$1'"
        sleep 0.02
    done
}

ended() {
    asserts=$((asserts + 1))
    last_status=0
    wait "$PID" || last_status=$?
    [[ $last_status == "$1" ]] || fail "exit status $last_status, expected $1"
}

stdout_matches() {
    asserts=$((asserts + 1))
    grep -Eq -- "$1" "$DIR/stdout" || fail "no line of stdout matches: $1"
}

stderr_matches() {
    asserts=$((asserts + 1))
    grep -Eq -- "$1" "$DIR/stderr" || fail "no line of stderr matches: $1"
}

stdout_contains() {
    asserts=$((asserts + 1))
    grep -Fq -- "$1" "$DIR/stdout" || fail "stdout does not contain: $1"
}

stderr_contains() {
    asserts=$((asserts + 1))
    grep -Fq -- "$1" "$DIR/stderr" || fail "stderr does not contain: $1"
}

says() {
    asserts=$((asserts + 1))
    cat "$DIR/stdout" "$DIR/stderr" | grep -Fiq -- "$1" || fail "neither stream contains: $1"
}

stdout_lacks() {
    asserts=$((asserts + 1))
    ! grep -Fq -- "$1" "$DIR/stdout" || fail "stdout contains: $1"
}

stderr_lacks() {
    asserts=$((asserts + 1))
    ! grep -Fq -- "$1" "$DIR/stderr" || fail "stderr contains: $1"
}

stdout_lines() {
    local lines
    asserts=$((asserts + 1))
    lines=$(wc -l <"$DIR/stdout")
    [[ $lines -eq $1 ]] || fail "stdout has $lines lines, expected $1"
}

equal() {
    asserts=$((asserts + 1))
    [[ $1 == "$2" ]] || fail "${3:-value}: '$1', expected '$2'"
}

same_bytes() {
    asserts=$((asserts + 1))
    cmp -- "$1" "$2" || fail "'$1' and '$2' differ"
}

# Blanks, commas and decimals are those of the lines in the documents that people know.
classic_line() {
    local real='[0-9]+\.[0-9]{6}'
    local line="IoType: $1 XferType: $2 Threads: $3 DataSetSize: $4/$5\\(KiB\\) IOSize: $6\\(KiB\\)"
    line+=" Throughput: $real GiB/sec, Avg_Latency: $real usecs ops: $7 total_time $real secs"
    asserts=$((asserts + 1))
    [[ $(wc -l <"$DIR/stdout") -eq 1 ]] || fail "stdout is not one line"
    grep -Eqx -- "$line" "$DIR/stdout" || fail "stdout is not: $line"
    # The rate as the line's reader computes it, to the precision of what is printed.
    awk '{
        split($8, done, "/")
        time = $20
        low = done[1] / 1048576 / (time + 0.000001) - 0.000001
        high = (done[1] + 1) / 1048576 / (time - 0.000001) + 0.000001
        exit !(time > 0.000001 && low <= $12 && $12 <= high)
    }' "$DIR/stdout" || fail "Throughput is not DataSetSize / total_time"
}

json() {
    local file=$1
    asserts=$((asserts + 1))
    [[ $file != - ]] || file=$DIR/stdout
    python3 - "$file" "$2" <<'PY' || fail "json of $1: $2"
import json, sys

def refuse(name):
    raise ValueError(f"{name} is not JSON")

def once(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        raise ValueError(f"a key comes twice: {keys}")
    return dict(pairs)

with open(sys.argv[1], encoding="utf-8") as f:
    d = json.load(f, parse_constant=refuse, object_pairs_hook=once)
if not eval(sys.argv[2]):
    print("the document is:", json.dumps(d)[:4000])
    sys.exit(1)
PY
}

need_cmd() {
    command -v "$1" >/dev/null || skip "needs the command '$1'"
}

need_root() {
    [[ $(id -u) -eq 0 ]] || skip "needs root"
}

need_tmpfs() {
    [[ -n $SHM && $(stat -f -c %T "$SHM") == tmpfs ]] || skip "needs tmpfs on /dev/shm"
}

need_ext4() {
    [[ $(stat -f -c %T "$DIR") == ext2/ext3 ]] || skip "needs ext4 below /var/tmp"
}

need_fault() {
    [[ -f ${PENSTOCK_FAULT_LIBRARY:-} ]] || skip "needs the fault library (PENSTOCK_FAULT_LIBRARY)"
}

need_fake_gpus() {
    [[ -e ${PENSTOCK_FAKE_CUDA_DIR:-/nowhere}/libcuda.so.1 ]] ||
        skip "needs the fake driver (PENSTOCK_FAKE_CUDA_DIR)"
}

need_uring() {
    # io_uring_setup with no parameters: EFAULT where it is allowed, else ENOSYS or EPERM.
    python3 - <<'PY' || skip "needs io_uring: refused by this kernel or sandbox"
import ctypes, errno, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(425, 1, None)
sys.exit(ctypes.get_errno() in (errno.ENOSYS, errno.EPERM, errno.EACCES))
PY
}

need_loop() {
    local device
    need_root
    need_cmd losetup
    truncate -s 1M "$DIR/loop-probe"
    device=$(losetup -f --show "$DIR/loop-probe" 2>/dev/null) || skip "needs loop devices"
    losetup -d "$device"
}

loop_device() {
    need_loop
    truncate -s "$1" "$DIR/loop.img"
    LOOP=$(losetup -f --show "$DIR/loop.img") || fail "losetup"
    at_end losetup -d "$LOOP"
}

loop_ext4() {
    need_cmd mkfs.ext4
    loop_device "$1"
    mkfs.ext4 -q "$LOOP" || fail "mkfs.ext4"
    MOUNT=$DIR/mount
    mkdir "$MOUNT"
    mount "$LOOP" "$MOUNT" 2>/dev/null || skip "needs the right to mount"
    at_end umount "$MOUNT"
}

# The library has no sanitizer, so the sanitizer's demand to come first is lifted; leaks are not
# looked for because the loader's own are seen then.
with_fault() {
    local rules=$1
    shift
    need_fault
    # shellcheck disable=SC2031
    ${EXEC:-} env PENSTOCK_FAULT="$rules" LD_PRELOAD="$PENSTOCK_FAULT_LIBRARY" \
        ASAN_OPTIONS="verify_asan_link_order=0:$ASAN_OPTIONS" "$@"
}

with_fake_gpus() {
    local count=$1
    shift
    need_fake_gpus
    # shellcheck disable=SC2031
    ${EXEC:-} env PENSTOCK_LIBCUDA="$PENSTOCK_FAKE_CUDA_DIR/libcuda.so.1" FAKE_CUDA_DEVICES="$count" "$@"
}

random_file() {
    head -c "$2" /dev/urandom >"$1"
}
