# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# INT, TERM and HUP end a run with what was measured until then, and exit status 130.
random_file data 4194304
for signal in INT TERM HUP; do
    background penstock io -f data -x 1 -i 64K -w 2 -T 60 --json report.json
    opened /data
    sleep 0.3
    kill "-$signal" "$PID"
    ended 130
    json report.json "d['interrupted'] is True and d['exit_status'] == 130"
    json report.json "d['results'][0]['ledger']['interrupted'] is True"
    json report.json "d['results'][0]['ledger']['completed_bytes'] == sum(t['thread_bytes'] for t in d['results'][0]['threads'])"
    json report.json "d['results'][0]['phases']['measured_s'] < 30"
    stdout_matches '^Ledger: requested 60 s of work; .*; interrupted$'
    rm report.json
done

# A run of a fixed size says that it did less than that.
background with_fault "pwrite:match=new:delay_ms=20" \
    penstock io -f new -x 1 -i 4K -s 40M -I 1 --storage posix --json -
opened /new
sleep 0.3
kill -INT "$PID"
ended 130
json - "0 < d['results'][0]['ledger']['completed_ops'] < 10240"
json - "d['results'][0]['ledger']['complete'] is False"
stderr_matches '^IoType: WRITE .* DataSetSize: [0-9]+/40960\(KiB\)'

# Within the ramp nothing has been measured, and the ramp was as long as it was.
background penstock io -f data -x 1 -i 64K --ramp-time 60 -T 60 --json -
opened /data
sleep 0.3
kill -INT "$PID"
ended 130
json - "d['results'][0]['ledger']['issued_ops'] == 0 and d['results'][0]['rate']['gib_per_s'] is None"
json - "d['results'][0]['phases']['ramp_s'] < 30 and d['results'][0]['phases']['measured_s'] == 0"
