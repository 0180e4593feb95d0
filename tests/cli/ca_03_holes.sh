# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A file that is one hole has no rate of a drive: the row says 100 % hole.
need_ext4
truncate -s 64M data
expect 0 penstock io -f data -x 1
stdout_matches '^Rate: .*; 100 % hole'
stdout_matches '^Source: .*; hole 100 %,.*no data was read'
expect 0 penstock io -f data -x 1 --json -
json - "d['results'][0]['source']['hole_bytes'] == 64 << 20 and d['results'][0]['source']['zero_bytes'] == d['results'][0]['source']['sampled_bytes'] > 0"
expect 0 gdsio -f data -x 1
stderr_matches '^Rate: .*; 100 % hole'
# A quarter of it with data, and data that is all zero: neither is hidden.
dd if=/dev/urandom of=data bs=1M count=16 conv=notrunc status=none
expect 0 penstock io -f data -x 1
stdout_matches '^Source: .*; hole 75\.0 %'
stdout_matches '^Rate: .*; 75 % hole'
stdout_lacks "100 % hole"
sync data
expect 0 penstock io -f data -x 1 -w 4 -T 300ms --cold
stdout_matches '^Rate: .*; 75 % hole'
stdout_lacks "from cache"
dd if=/dev/zero of=zeros bs=1M count=16 status=none
sync zeros
expect 0 penstock io -f zeros -x 1
stdout_matches '^Source: .*; hole 0 %, unwritten 0 %, all-zero 100 % of samples'
