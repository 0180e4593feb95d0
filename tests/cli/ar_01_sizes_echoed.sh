# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Every spelling of a size is understood, and the plan says it in bytes.
random_file data 65536
while read -r text bytes; do
    expect 0 penstock io -f new -x 1 -I 1 -i 4K -s "$text" --dry-run
    stdout_contains "Data: $bytes bytes"
done <<'SIZES'
4k 4096
4K 4096
4KiB 4096
4Ki 4096
500M 524288000
1.5G 1610612736
0x1000 4096
5000kB 5000000
4096 4096
SIZES
expect 0 gdsio -f new -x 1 -I 1 -i 4KB -s 500KB --dry-run
stdout_contains "Data: 512000 bytes"
stdout_contains "I/O size: 4096 bytes"
[[ ! -e new ]] || fail "a dry run made a file"
expect 2 penstock io -f data -x 1 -s 4KX
stderr_contains "'KX' at position 2"
