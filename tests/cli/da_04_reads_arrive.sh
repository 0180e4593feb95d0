# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a read leaves in GPU memory is what the file holds there, through every transfer type: the fake
# driver keeps the bytes of the buffers, each of which is looked up in the file.
need_fake_gpus
need_cmd python3
cat >arrived.py <<'PY'
import glob, sys

# Pieces of the file by place, and the slots of all buffers: one operation for each slot.
path, offset, io, size = sys.argv[1], *map(int, sys.argv[2:5])
data = open(path, "rb").read()
end = min(offset + size, len(data))
wanted = sorted(data[at : min(at + io, end)] for at in range(offset, end, io))
slot = (io + 4095) // 4096 * 4096
found = []
for name in glob.glob("kept/*"):
    memory = open(name, "rb").read()
    for at in range(0, len(memory) - slot + 1, slot):
        found.append(memory[at : at + slot])
missing = [w for w in wanted if not any(f[: len(w)] == w for f in found)]
print(len(wanted), "pieces,", len(found), "slots,", len(missing), "missing")
sys.exit(bool(missing or not wanted))
PY
read_and_look() {
    local offset=$1 io=$2 size=$3
    shift 3
    rm -rf kept
    mkdir kept
    expect 0 with_fake_gpus 1 env FAKE_CUDA_KEEP=kept penstock io -f data -d 0 -o "$offset" -i "$io" -s "$size" "$@"
    expect 0 python3 arrived.py data "$offset" "$io" "$size"
}
random_file data 3145733
for xfer in 0 2 4; do
    while read -r offset io; do
        read_and_look "$offset" "$io" "$io" -x $xfer
    done <<'PLACES'
0 1
1 511
4095 4097
513 30000
1 1048579
0 3145733
PLACES
    # Each thread reads one block of its own, in any order, on each kind of memory that the fake keeps.
    read_and_look 777 30000 120000 -x $xfer -w 4
    read_and_look 777 30000 120000 -x $xfer -w 4 -I 2 -b
    read_and_look 777 30000 120000 -x $xfer -w 4 -m 1
done
read_and_look 777 30000 120000 -x 0 -w 4 -m 2
# Several in flight: slot by slot.
read_and_look 4095 4097 4097 -x 3
read_and_look 777 30000 240000 -x 3 -w 2 -B 4
read_and_look 777 30000 240000 -x 3 -w 1 -B 8 -I 2
read_and_look 3130000 4096 20480 -x 3 -w 1 -B 8
# The look itself can fail: another file does not hold these bytes.
random_file data 3145733
expect 1 python3 arrived.py data 777 30000 240000
