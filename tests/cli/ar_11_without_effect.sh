# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Options that contradict each other are refused; one that does nothing here is said to.
random_file data 65536
warns() {
    local text=$1
    shift
    expect 0 penstock io -f data -d host -i 4K "$@"
    stderr_contains "$text"
}
warns "-a has no effect without random access" -x 1 -I 0 -a 8K
warns "-R has no effect when reading" -x 1 -I 0 -R
warns "-F has no effect when reading" -x 1 -I 2 -F
warns "-k has no effect on sequential reads" -x 1 -I 0 -k 7
warns "-B has no effect without -x 3" -x 0 -B 8
warns "-d has no effect with -x 1" -x 1
warns "-m has no effect with -x 1" -x 1 -m 3
refuses() {
    expect 2 penstock io -f data -d host "$@"
    stdout_lines 0
}
refuses -x 1 -I 2 -a 8K -U
refuses -x 2 -m 3
refuses -x 1 -O 1 --direct 1
refuses -x 1 -O 1 --require-direct
refuses -x 4 --require-direct
refuses -x 1 -D .
refuses -x 1 -T 0
refuses -x 1 -T 100ms --stop first
refuses -x 1 -w 2 -w 4
refuses -x 1 -I 4
refuses -x 8
refuses -x 0 -m 5
refuses -x 1 -O 2
refuses -x 1 -i 32K:4K:1K
refuses -x 1 -i 4K:32K
refuses -x 1 -i 0
refuses -x 1 -w 0
refuses -x 1 -w 4,,8
refuses -x 1 -k 1x
