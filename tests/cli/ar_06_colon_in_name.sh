# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A colon is part of the name: one file, exactly as large as asked.
mkdir folder
expect 0 penstock io -f folder/pci-0000:3b:00.0 -s 1M -I write -x 1
equal "$(ls folder)" "pci-0000:3b:00.0" "files made"
equal "$(stat -c %s folder/pci-0000:3b:00.0)" 1048576 "size"
