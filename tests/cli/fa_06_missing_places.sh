# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A folder or file that is not there is named, with the command that makes it, exit status 2.
expect 2 penstock io -D nowhere -x 1 -w 2
stderr_contains "'nowhere'"
stderr_contains "ENOENT"
expect 2 penstock io -D nowhere -x 1 -w 2 -s 4K -i 4K -I 1
stderr_contains "'nowhere'"
expect 2 penstock io -f nowhere/data -x 1 -s 4K -i 4K -I 1
stderr_contains "'nowhere/data'"
expect 2 penstock io -f data -x 1
stderr_contains "there is no file 'data'"
mkdir folder
expect 2 gdsio -D folder -x 1 -w 3 -s 8K -i 4K
stderr_contains "gdsio -D folder -w 3 -s 8192 -I 1"
expect 0 gdsio -D folder -w 3 -s 8192 -I 1 -x 1 -i 4K
expect 0 gdsio -D folder -x 1 -w 3 -s 8K -i 4K
random_file data 4096
expect 2 penstock io -D data -x 1 -w 2
stderr_contains "is no folder"
equal "$(ls folder)" "gdsio.0
gdsio.1
gdsio.2" "files made"
