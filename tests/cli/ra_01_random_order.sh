# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Random order writes every block once; with replacement some twice and others never.
need_ext4
expect 0 penstock io -f once -x 1 -s 1M -i 4K -I randwrite -w 2 --json report.json
json report.json "d['results'][0]['ledger']['completed_ops'] == 256"
equal "$(($(stat -c %b once) * 512))" 1048576 "bytes allocated"
expect 0 penstock io -f drawn -x 1 -s 1M -i 4K -I randwrite --random-with-replacement --json report.json
json report.json "d['results'][0]['ledger']['completed_ops'] == 256"
allocated=$(($(stat -c %b drawn) * 512))
# 63 % of the blocks are expected, with a deviation of 2 %.
[[ $allocated -gt 524288 && $allocated -lt 786432 ]] || fail "$allocated bytes allocated"
