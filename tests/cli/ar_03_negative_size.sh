# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A block size of -1m is refused, never a huge number.
random_file data 65536
expect 2 gdsio -f data -d host -w 1 -s 64K -i -1m -x 1 -I 0
stderr_contains "-1m"
stdout_lines 0
