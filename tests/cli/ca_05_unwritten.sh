# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A preallocated file of which a part was written: reading it says how much was never written, and
# writing it all heals that.
need_ext4
fallocate -l 16M data || skip "needs fallocate"
expect 0 penstock io -f data -x 1 -I 1 -s 4M --overwrite
expect 0 penstock io -f data -x 1
stdout_matches '^Source: .*, unwritten 75\.0 %'
expect 0 penstock io -f data -x 1 --json -
json - "d['results'][0]['source']['unwritten_bytes'] == 12 << 20"
expect 0 penstock io -f data -x 1 -s 4M
stdout_matches '^Source: .*, unwritten 0 %'
expect 0 penstock io -f data -x 1 -I 1 --overwrite
expect 0 penstock io -f data -x 1
stdout_matches '^Source: .*, unwritten 0 %'
