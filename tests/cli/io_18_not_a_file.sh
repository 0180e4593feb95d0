# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A directory and a FIFO are refused with the type named; nobody waits for the FIFO's writer.
mkdir folder
mkfifo fifo
expect_not_zero penstock io -f folder -x 1 -I 0 -w 1 -i 4K
says "directory"
expect_not_zero penstock io -f fifo -x 1 -I 0 -w 1 -i 4K
says "fifo"
