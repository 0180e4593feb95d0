# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A file of mode 0444 can be read by an ordinary user and not written, and the cause is named.
random_file data 65536
chmod 0444 data
user=()
if [[ $(id -u) -eq 0 ]]; then
    need_cmd setpriv
    chmod 0755 .
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    "${user[@]}" penstock --version >/dev/null 2>&1 || skip "another user cannot reach the program"
    "${user[@]}" head -c 1 data >/dev/null 2>&1 || skip "another user cannot reach the folder"
fi
expect 0 "${user[@]}" penstock io -f data -x 1 -i 4K
sum=$(sha256sum <data)
expect 3 "${user[@]}" penstock io -f data -x 1 -i 4K -I 1 --overwrite
says "EACCES"
equal "$(sha256sum <data)" "$sum" "contents"
