# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The document stays one whatever the names are; where there is nothing to report, stdout is empty.
random_file data 262144
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
