# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Eight operations are a hint, not a rate, and are marked as that; a longer run is not.
random_file data 8388608
expect 0 penstock io -f data -x 1 -i 1M
stdout_matches '^Rate: .*too short \([0-9.]+ [mu]?s, 8 operations\): a hint only'
expect 0 penstock io -f data -x 1 -i 1M --json -
json - "d['results'][0]['rate']['too_short'] is True"
expect 0 penstock io -f data -x 1 -i 4K -T 500ms
stdout_matches '^Rate: '
stdout_lacks "too short"
