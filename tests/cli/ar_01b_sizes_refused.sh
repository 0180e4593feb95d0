# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What is no size is refused with the place; nothing is touched. Under the name gdsio KB, MB and GB
# are powers of 1024, elsewhere kB and MB are powers of 1000 but for -i.
random_file data 65536
refused() {
    expect 2 penstock io -f data -x 1 -I 2 "$1" "$2"
    stdout_lines 0
    stderr_contains "option $1"
}
for size in "" K 1.5 4.0.0K 1K1 "4 Q" 0x 0xZZ 1e3 +4K -4K 99999999999G NaN "4K," "," 1:2; do
    refused -s "$size"
done
for option in -o -i -a; do
    refused $option 4X
    refused $option ""
done
while read -r option text bytes; do
    expect 0 penstock io -f data -x 1 -I 2 "$option" "$text" --json -
    json - "$bytes in (d['job']['size_bytes'], d['job']['offset_bytes'], d['job']['io_max_bytes'], d['job']['random_align_bytes'])"
done <<'SIZES'
-s 30kB 30000
-s 30KiB 30720
-s 30k 30720
-s 0x7000 28672
-o 1kB 1000
-o 1.5K 1536
-i 4kB 4096
-i 0.5K 512
-a 8KB 8192
-s 0010000 10000
SIZES
expect 0 gdsio -f data -x 1 -s 30KB --json report
json report "d['job']['size_bytes'] == 30720"

# What a size came to is said in bytes, also under the name gdsio, where KB is 1024.
random_file data 65536
expect 0 penstock io -f data -x 1 -s 64KiB -i 4k -o 0
stdout_contains "Sizes: 65536 of 65536 bytes, offset 0 bytes, I/O size 4096 bytes"
expect 0 gdsio -f data -x 1 -s 32KB -i 4KB -o 16KB -I 0
stderr_contains "Sizes: 32768 of 32768 bytes, offset 16384 bytes, I/O size 4096 bytes"
expect 0 penstock io -f data -x 1 -s 32kB -i 4k -o 16kB
stdout_contains "Sizes: 32000 of 32000 bytes, offset 16000 bytes, I/O size 4096 bytes"
