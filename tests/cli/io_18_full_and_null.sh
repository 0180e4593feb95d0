# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# /dev/full fails as a full disk does; /dev/null, a socket and a link are refused by their kind.
expect 1 penstock io -f /dev/full -x 1 -I 1 -s 1M
says "ENOSPC"
says "0 bytes were written"
stdout_lacks "Throughput"
expect 2 penstock io -f /dev/null -x 1 -I 0
says "character device"
need_cmd python3
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
expect 2 penstock io -f socket -x 1 -I 1 -s 4K --overwrite
says "socket"
random_file data 4096
ln -s data link
expect 0 penstock io -f link -x 1 -i 4K
expect 2 penstock io -f link -x 1 -i 4K -I 1 --overwrite
says "symbolic link"
