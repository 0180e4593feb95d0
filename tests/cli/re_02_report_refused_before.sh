# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A report that cannot be written is known before the first byte is moved, not after the last.
random_file data 65536
mkdir folder
mkfifo fifo
refused() {
    expect "$1" penstock io -f new -x 1 -i 4K -s 64K -I 1 --json "$2"
    says "$3"
    stdout_lacks "Throughput"
    [[ ! -e new ]] || fail "the run began"
}
refused 2 nowhere/report.json "ENOENT"
refused 2 data/report.json "ENOTDIR"
refused 2 folder "it is a directory"
refused 2 fifo "it is a FIFO"
refused 2 /dev/null "a character device"

if [[ $(id -u) -eq 0 ]] && command -v setpriv >/dev/null; then
    chmod 0755 .
    setpriv --reuid 65534 --regid 65534 --clear-groups penstock --version >/dev/null 2>&1 || finish
    expect 3 setpriv --reuid 65534 --regid 65534 --clear-groups \
        penstock io -f data -x 1 -i 4K --json report.json
    says "EACCES"
    stdout_lacks "Throughput"
fi
