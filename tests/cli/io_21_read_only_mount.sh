# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# On a file system that is mounted read only, reading works and writing names EROFS.
loop_ext4 16M
head -c 65536 /dev/urandom >"$MOUNT/data"
mount -o remount,ro "$MOUNT"
expect 0 penstock io -f "$MOUNT/data" -x 1 -i 4K
expect 3 penstock io -f "$MOUNT/data" -x 1 -i 4K -I 1 --overwrite
says "EROFS"
expect 3 penstock io -f "$MOUNT/new" -x 1 -i 4K -I 1 -s 4K
says "EROFS"
