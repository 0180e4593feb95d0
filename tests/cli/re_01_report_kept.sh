# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# An older report stays whole until a new one is: a full disk, a kill, a folder of that name.
loop_ext4 16M
random_file data 65536
expect 0 penstock io -f data -x 1 -i 4K --json "$MOUNT/report.json"
sum=$(sha256sum <"$MOUNT/report.json")
head -c 32M /dev/zero >"$MOUNT/filler" 2>/dev/null
expect 1 penstock io -f data -x 1 -i 4K -w 16 --json "$MOUNT/report.json"
stderr_contains "ENOSPC"
stderr_contains "nothing was left or replaced"
stdout_matches '^IoType: READ'
equal "$(sha256sum <"$MOUNT/report.json")" "$sum" "the older report"
equal "$(ls "$MOUNT")" "filler
lost+found
report.json" "files left"

cp "$MOUNT/report.json" report.json
background penstock io -f data -x 1 -i 4K -T 60 --json report.json
opened /data
kill -9 "$PID"
ended 137
equal "$(sha256sum <report.json)" "$sum" "the older report"
equal "$(find . -maxdepth 1 -name 'report*')" ./report.json "files left"

# A failed run replaces it: its report says what failed.
expect 2 penstock io -f data -x 1 -o 1M --json report.json
json report.json "d['exit_status'] == 2 and d['results'] == []"
