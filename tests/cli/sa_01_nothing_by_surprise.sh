# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A file that the tool did not make is written over only when that was asked for.
random_file data 65536
sum=$(sha256sum <data)
expect 2 penstock io -f data -x 1 -i 4K -I 1
says "--overwrite"
equal "$(wc -l <"$DIR/stderr")" 1 "lines on stderr"
expect 2 penstock io -f data -x 1 -i 4K -I 3 -s 4K --dry-run
equal "$(sha256sum <data)" "$sum" "contents"
expect 0 penstock io -f data -x 1 -i 4K -I 1 --overwrite
[[ $(sha256sum <data) != "$sum" ]] || fail "nothing was written"
equal "$(stat -c %s data)" 65536 "size"

# One that it made is known again, and -D makes what reading then finds.
expect 2 penstock io -D . -w 2 -x 1 -i 4K
says "penstock io -D . -w 2 -s SIZE -I 1"
expect 0 penstock io -D . -w 2 -x 1 -i 4K -s 10000 -I 1
equal "$(stat -c %s gdsio.0 gdsio.1 | tr '\n' ' ')" "10000 10000 " "sizes"
expect 0 penstock io -D . -w 2 -x 1 -i 4K -s 10000 -I 1
expect 0 penstock io -D . -w 2 -x 1 -i 4K
stdout_contains "DataSetSize: 19/19(KiB)"
expect 2 penstock io -f new -x 1 -I 1
says "-s"
[[ ! -e new ]] || fail "a refused run made a file"
