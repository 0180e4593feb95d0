# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What is written cannot be compressed, the report names it, and no block is there twice where it
# says "unique" or "refilled".
cat >same_blocks.py <<'PY'
import sys

data = open(sys.argv[1], "rb").read()
blocks = [data[i : i + 4096] for i in range(0, len(data), 4096)]
print(len(blocks) - len(set(blocks)))
PY
need_cmd python3
while read -r content how; do
    rm -f data
    # shellcheck disable=SC2086 # several words
    expect 0 with_fake_gpus 1 penstock io -f data -d 0 -s 1M -i 128K -w 2 $how --json report
    stdout_contains "; data incompressible, $content"
    json report "d['job']['content'] == '$content'"
    [[ $(head -c 131072 data | gzip -c | wc -c) -ge 131072 ]] || fail "$how: the data can be compressed"
    case $content in
    repeated) [[ $(python3 same_blocks.py data) -gt 0 ]] || fail "$how: it is not repeated" ;;
    *) equal "$(python3 same_blocks.py data)" 0 "blocks that are there twice with $how" ;;
    esac
done <<'HOW'
unique -x 1 -I 1
unique -x 0 -m 3 -I 1
unique -x 1 -I 3
repeated -x 0 -I 1
repeated -x 2 -R -I 1
refilled -x 0 -F -I 1
refilled -x 3 -F -I 1
refilled -x 1 -F -I 1
HOW
