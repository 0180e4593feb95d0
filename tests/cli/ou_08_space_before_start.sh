# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Four files that do not fit together: needs and free are named, nothing is made.
loop_ext4 32M
expect 3 penstock io -D "$MOUNT" -x 1 -w 4 -s 20M -i 1M -I 1
says "needs 83886080 bytes (80 MiB), free"
expect_not_zero ls "$MOUNT/gdsio.0"
expect 0 penstock io -D "$MOUNT" -x 1 -w 4 -s 4M -i 1M -I 1
