# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The bytes of the drive stand beside those of the run, and a run that the drive did not see is marked.
need_ext4
random_file data 8388608
cat data >/dev/null
expect 0 penstock io -f data -x 1 -i 1M --direct=0 --json report.json
stdout_matches '^Rate: .*from cache'
json report.json "d['results'][0]['rate']['from_cache'] is True"
json report.json "d['results'][0]['source']['device_read_bytes'] < 0.9 * 8388608"
sync
expect 0 penstock io -f data -x 1 -i 1M --json report.json
json report.json "d['results'][0]['source']['device_read_bytes'] >= 8388608"
json report.json "d['results'][0]['rate']['from_cache'] is False"
stdout_lacks "from cache"
