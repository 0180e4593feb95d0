# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The units of a rate agree with each other and with bytes and time; JSON keys carry the unit.
random_file data 8388608
expect 0 penstock io -f data -x 1 -T 200ms --json report
json report "abs(d['results'][0]['rate']['mib_per_s'] / d['results'][0]['rate']['gib_per_s'] - 1024) < 1e-6"
json report "abs(d['results'][0]['rate']['mb_per_s'] * 10**6 / (d['results'][0]['rate']['mib_per_s'] * 2**20) - 1) < 1e-9"
json report "abs(d['results'][0]['rate']['mib_per_s'] * d['results'][0]['phases']['measured_s'] * 2**20 / d['results'][0]['ledger']['completed_bytes'] - 1) < 1e-6"
json report "abs(d['results'][0]['rate']['iops'] * d['results'][0]['phases']['measured_s'] - d['results'][0]['ledger']['completed_ops']) < 0.01"
json report "0.19 < d['results'][0]['phases']['measured_s'] < 5"
stdout_matches '^Rate: [0-9.]+ GiB/s = [0-9.]+ GB/s = [0-9.]+ MiB/s, [0-9]+ IOPS'
