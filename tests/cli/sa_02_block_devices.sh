# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A block device: read freely, written only with --overwrite, never while it is mounted or read only.
loop_ext4 16M
head -c 65536 /dev/urandom >"$MOUNT/data"
sync
expect 3 penstock io -f "$LOOP" -x 1 -i 4K -s 1M -I 1 --overwrite
says "mounted on $MOUNT"
expect 0 penstock io -f "$LOOP" -x 1 -i 1M
umount "$MOUNT"
mkdir again
expect 2 penstock io -f "$LOOP" -x 1 -i 4K -s 1M -I 1
says "--overwrite"
mount "$LOOP" again || fail "the file system did not survive"
equal "$(stat -c %s again/data)" 65536 "size of the file on it"
umount again
blockdev --setro "$LOOP"
expect 3 penstock io -f "$LOOP" -x 1 -i 4K -s 1M -I 1 --overwrite
says "read only"
blockdev --setrw "$LOOP"
expect 2 penstock io -f "$LOOP" -x 1 -i 4K -s 17M -I 1 --overwrite
says "16777216"
expect 0 penstock io -f "$LOOP" -x 1 -i 4K -s 1M -I 1 --overwrite
mount "$LOOP" "$MOUNT" 2>/dev/null && fail "nothing was written"
mkfs.ext4 -qF "$LOOP" && mount "$LOOP" "$MOUNT"
