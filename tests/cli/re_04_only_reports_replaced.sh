# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A report replaces an older report and nothing else: not the measured file, not by a link either.
random_file data 65536
cp data before
ln -s data link
for name in ./data link; do
    expect 2 penstock io -f data -x 1 --json "$name"
    says "it is no report of penstock"
    same_bytes data before
done
mkdir many
expect 0 penstock io -D many -w 2 -x 1 -s 64K -I 1
cp many/gdsio.0 before
expect 2 penstock io -D many -w 2 -x 1 --json many/gdsio.0
same_bytes many/gdsio.0 before
expect 2 penstock io -f new -x 1 -s 64K -I 1 --json new
equal "$(ls new 2>/dev/null)" "" "a file left behind"
echo important >notes
expect 2 penstock io -f data -x 1 --json notes
equal "$(cat notes)" important "the user's file"
: >empty
expect 0 penstock io -f data -x 1 --json empty
expect 0 penstock io -f data -x 1 --json empty
json empty "d['exit_status'] == 0"
