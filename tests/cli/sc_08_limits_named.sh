# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What does not fit is refused before the start: the limit, its value, the largest plan that fits.
random_file data 65536
expect 2 penstock io -f data -d host -x 3 -B 40000 -i 4K
says "PST_BATCH_MAX_CAPACITY (4096"
expect 2 penstock io -f data -x 1 -w 5000 -i 4K
says "4096"
mkdir folder
expect 3 bash -c 'ulimit -n 100; exec penstock io -D folder -x 1 -w 40 -s 4K -i 4K -I 1'
says "RLIMIT_NOFILE (ulimit -n) is 100: at most 12 files fit"
expect 3 bash -c 'ulimit -f 100; exec penstock io -D folder -x 1 -w 2 -s 1M -i 4K -I 1'
says "RLIMIT_FSIZE"
equal "$(ls folder)" "" "files made"
