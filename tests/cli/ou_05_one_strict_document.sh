# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# With `--json -` stdout is one document on every way out: no repeated key, no NaN, numbers as numbers.
random_file data 262144
: >empty
mkdir folder
check() {
    local status=$1
    shift
    expect "$status" penstock io "$@" --json -
    json - "d['schema'] == 'penstock.io' and d['exit_status'] == $status and (d['error'] is None) == ($status == 0) and (d['error'] is None or (d['error']['message'] and d['error']['code'] < 0))"
}
check 0 -f data -x 1 -i 4K
check 0 -f data -d host -x 0 -i 4K -w 2 -J
check 0 -f data -d host -x 3 -i 4K -I randread --repeat 2
check 0 -f data -x 1 -i 4K -w 1,2,3 --cold
check 0 -f new -x 1 -i 4K -s 64K -I 1
check 2 -f empty -x 1
check 2 -f nowhere -x 1
check 2 -f folder -x 1
check 2 -D nowhere -x 1
check 2 -D folder -x 1 -w 2
check 2 -f data -x 1 -i 4K -I 1
check 2 -f data -x 1 -o 1M
check 3 -f data -d 0 -x 0 -i 4K
if [[ -n $SHM ]]; then
    cp data "$SHM/data"
    check 1 -f "$SHM/data" -x 1 --require-direct
fi
