# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# An offset beyond the end is refused before any thread starts, with both numbers.
random_file data 1048576
expect 2 penstock io -f data -x 1 -I 0 -w 2 -i 64K -o 2M -s 1M
says "2097152"
says "1048576"
stdout_lacks "Throughput"
