# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Where nothing was measured there is null or n/a: no 0, no -1, no "nan".
random_file data 65536
cat >odd.py <<'PY'
import json, sys

def odd(value):
    if isinstance(value, dict):
        return any(odd(v) for v in value.values())
    if isinstance(value, list):
        return any(odd(v) for v in value)
    return isinstance(value, str) and value.lower() in ("n/a", "nan", "inf", "-1", "null", "none")

sys.exit(odd(json.load(open(sys.argv[1]))))
PY
expect 1 with_fault "pread:match=data:errno=EIO" \
    penstock io -f data -x 1 -i 4K --continue-on-error --json report.json
json report.json "d['results'][0]['ledger']['completed_ops'] == 0"
json report.json "d['results'][0]['ledger']['failed_ops'] == 16"
json report.json "all(d['results'][0]['latency'][k] is None for k in ('mean_us', 'min_us', 'p50_us', 'p99_99_us', 'max_us'))"
json report.json "d['results'][0]['latency']['histogram'] == [] and d['results'][0]['latency']['count'] == 0"
json report.json "d['results'][0]['rate']['gib_per_s'] is None and d['results'][0]['rate']['iops'] is None"
json report.json "d['results'][0]['cpu']['user_s_per_gib'] is None"
json report.json "all(t['thread_first_s'] is None for t in d['results'][0]['threads'])"
json report.json "d['results'][0]['device'] is None and d['job']['size_bytes'] is None"
expect 0 python3 odd.py report.json
expect 1 with_fault "pread:match=data:errno=EIO" penstock io -f data -x 1 -i 4K --continue-on-error
stdout_matches '^Latency: n/a$'
stdout_matches '^Rate: n/a = n/a = n/a, n/a'
