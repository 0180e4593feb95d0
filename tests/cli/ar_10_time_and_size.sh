# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Time and size together: time wins, which is said, and the range is repeated.
random_file data 65536
expect 0 penstock io -f data -x 1 -i 64K -s 64K -T 300ms
stderr_contains "time wins, the range is repeated"
stdout_matches "total_time [0-9]"
stdout_matches "^Rate: .* passes over the data"
expect 0 penstock io -f data -x 1 -i 64K -s 64K -T 300ms --dry-run
stdout_contains "time wins, the range is repeated"
