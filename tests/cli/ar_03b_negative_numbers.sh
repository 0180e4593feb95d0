# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A minus sign is refused at every option that takes a number, and named.
random_file data 65536
while read -r option text; do
    expect 2 penstock io -f data -x 1 "$option" "$text"
    stderr_contains "option $option"
    stdout_lines 0
done <<'NUMBERS'
-s -1
-s -64K
-o -4096
-i -1m
-i 4K:-8K:1K
-a -4K
-w -1
-w 4,-8
-B -4
-k -1
-T -1
-T -0.5
--ramp-time -1
--repeat -3
-m -1
-x -1
-I -1
-n -1
NUMBERS
equal "$(find . -name 'gdsio.*' | wc -l)" 0 "files made"
