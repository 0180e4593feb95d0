# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# -X typed for -x: the unknown option is named, the near one hinted at, nothing is touched.
random_file data 65536
stamp=$(stat -c '%Y %s' data)
expect 2 gdsio -f data -d host -w 1 -s 64K -i 4K -X 2 -I 0
stderr_contains "-X"
stderr_contains "-x"
stdout_lines 0
equal "$(stat -c '%Y %s' data)" "$stamp" "time and size of the file"

expect 2 penstock io --thread 4 -f data
stderr_contains "--threads"
