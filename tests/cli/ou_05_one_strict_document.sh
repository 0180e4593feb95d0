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
    json - "d['schema'] == 'penstock.io' and d['exit_status'] == $status"
    json - "(d['error'] is None) == ($status == 0)"
    json - "d['error'] is None or (d['error']['message'] and d['error']['code'] < 0)"
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

# The command line can be run again, and a name that is not UTF-8 does not break the document.
cp data $'odd\377"name\n'
expect 0 penstock io -f $'odd\377"name\n' -x 1 -i 4K --json -
json - "d['command_line'][0] == 'penstock' and d['command_line'][1] == 'io'"
json - "d['results'][0]['ledger']['completed_bytes'] == 262144"

# A wrong option ends before there is anything to report on: nothing on stdout.
expect 2 penstock io -f data -x 1 --json - --no-such-option
stdout_lines 0
expect 2 penstock io -f data -x 1 --json - --dry-run
stdout_lines 0
stderr_contains "--json"
