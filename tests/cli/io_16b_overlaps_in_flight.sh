# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Random writes drawn with replacement overlap. With several in flight they land in the order in which
# one after the other would: the file is the same.
write() {
    local name=$1
    shift
    expect 0 with_fake_gpus 1 penstock io -f "$name" -I 3 -F -U -s 400000 -i 512:30000:7 --random-with-replacement "$@" --json -
    json - "d['results'][0]['ledger']['completed_bytes'] == d['results'][0]['ledger']['issued_bytes'] == 400000"
}
for threads in 1 2; do
    write "plain$threads" -x 1 -O 1 -w $threads
    write "other$threads" -x 3 -d 0 -B 16 -w $threads
    same_bytes "plain$threads" "other$threads"
done
# One block again and again, more in flight than there are blocks: it ends, and all is counted.
expect 0 with_fake_gpus 1 penstock io -f block -d 0 -x 3 -B 8 -I 1 -s 4K -i 4K -T 100ms --json -
json - "(lambda l: l['completed_ops'] == l['issued_ops'] > 1 and l['failed_ops'] == 0)(d['results'][0]['ledger'])"
