# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Many threads with deep queues: all of it is done, or the limit is named before the start.
random_file data 4194304
expect 0 penstock io -f data -x 3 -d host -w 192 -B 4 -i 4K --json -
json - "d['results'][0]['ledger']['completed_ops'] == 1024 and d['results'][0]['ledger']['complete']"
expect 0 penstock io -f data -x 3 -d host -w 5 -B 2048 -i 4K --json -
json - "d['results'][0]['ledger']['completed_ops'] == 1024 and d['results'][0]['ledger']['complete']"
expect 2 penstock io -f data -x 3 -d host -B 4097 -i 4K
says "PST_BATCH_MAX_CAPACITY (4096"
says "the largest is -B 4096"
expect 2 penstock io -f data -x 3 -d host -B 0 -i 4K
# More memory than there is: refused with the size that fits.
truncate -s 1T huge
expect 3 penstock io -f huge -x 1 -w 4096 -i 1G --dry-run
says "the largest -i that fits is"
