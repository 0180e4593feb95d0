# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The table of IOPS by thread count comes out of one command, and says what the lines say.
mkdir gds_dir
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 0 -w 128 -s 64K -i 16K -x 0 -I 1
expect 0 with_fake_gpus 16 penstock io -D gds_dir -d 0 -w 4,8,16,32,64,128 -s 64K -i 4K -x 0 -I 2 -k 0308 -T 100ms
cat >table.py <<'PY'
import re, sys

text = open(sys.argv[1]).read()
lines = re.findall(r"^IoType: RANDREAD XferType: GPUD Threads: (\d+) .* ops: (\d+) total_time (\S+) secs$", text, re.M)
assert re.search(r"^Thread Count \(-w\) +IOPS \(ops / total_time\) ", text, re.M)
rows = re.findall(r"^ +(\d+) +([\d,]+) +\d+\.\d{3} +\d+\.\d +\d+\.\d", text, re.M)
assert [row[0] for row in rows] == ["4", "8", "16", "32", "64", "128"], rows
assert [line[0] for line in lines] == [row[0] for row in rows], lines
for line, row in zip(lines, rows):
    assert abs(int(line[1]) / float(line[2]) - int(row[1].replace(",", ""))) <= 1, (line, row)
assert re.search(r"^Knee: (4|8|16|32|64|128) threads reach ", text, re.M)
PY
cp stdout table
expect 0 python3 table.py table
# Under the name gdsio the lines alone are on stdout.
expect 0 with_fake_gpus 16 gdsio -D gds_dir -d 0 -w 4,8 -s 64K -i 4K -x 0 -I 2 -T 100ms
stdout_lines 2
stdout_matches '^IoType: RANDREAD XferType: GPUD Threads: 8 '
stderr_matches '^Thread Count \(-w\)'
