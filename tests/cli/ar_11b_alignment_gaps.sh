# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# -a leaves bytes out where it does not divide the I/O size: they are not asked for. A range in which
# it has no place at all is refused before anything is made; a run of no operations is no success.
random_file data 100000
expect 0 penstock io -f data -x 1 -I 2 -i 4K -a 10000 --json -
json - "[d['results'][0]['ledger'][k] for k in ('requested_bytes', 'completed_bytes', 'completed_ops')] == [40960, 40960, 10]"
expect 0 penstock io -f data -x 1 -I 2 -i 4K -a 1M -w 3
stdout_matches ' DataSetSize: 4/97\(KiB\) .* ops: 1 '
for how in "-I 2" "-I 2 -T 100ms" "-I 2 -w 3"; do
    # shellcheck disable=SC2086 # several words
    expect 2 penstock io -f data -x 1 $how -o 1 -s 4000 -i 100 -a 4096
    stdout_lines 0
    stderr_contains "-a 4096"
done
expect 2 penstock io -f new -x 1 -I 3 -o 1 -s 4000 -i 100 -a 4096
expect 2 penstock io -D . -x 1 -w 2 -I 3 -o 1 -s 4000 -i 100 -a 4096
equal "$(find . -name new -o -name 'gdsio.*' | wc -l)" 0 "files made"
expect 0 penstock io -f data -x 1 -I 2 -o 1 -s 4096 -i 100 -a 4096
stdout_contains " ops: 1 "
# Sequential access has no places to choose: -a is only warned of.
expect 0 penstock io -f data -x 1 -I 0 -o 1 -s 4000 -i 100 -a 4096
stdout_contains " ops: 40 "
