# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A cold run over a part of a file: the kernel keeps a large folio that is dropped in part, so the
# whole file is dropped.
need_ext4
random_file data 8388608
sync data
expect 0 penstock io -f data -x 1 -O 1 -o 5000 -i 4K --cold
stdout_matches '^Source: .*in page cache 0 % before'
stdout_lacks "not cold"
