# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A cold run by a user without rights: the pages of the user's file are dropped; where the kernel
# keeps some (locked in memory here), the row says so; and where it hides what is cached (the file is
# another user's), the row does not claim to know.
need_ext4
need_cmd python3
random_file data 4194304
sync data
chmod 0444 data
user=()
if [[ $(id -u) -eq 0 ]]; then
    need_cmd setpriv
    chmod 0755 .
    user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    "${user[@]}" penstock --version >/dev/null 2>&1 || skip "another user cannot reach the program"
    "${user[@]}" head -c 1 data >/dev/null 2>&1 || skip "another user cannot reach the folder"
fi
random_file other 4194304
sync other
cat other >warm
chmod 0444 other
[[ $(id -u) -ne 0 ]] || chown 65534:65534 data
cat data >warm
expect 0 "${user[@]}" penstock io -f data -x 1 -O 1 --cold
stdout_matches '^Source: .*in page cache 0 % before'
stdout_lacks "not cold"

cat >holder.py <<'PY'
import ctypes, mmap, os, sys, time

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
size = 1 << 20
fd = os.open("data", os.O_RDONLY)
at = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
ok = libc.mlock(at, size) == 0
open("holder-ready", "w").write("locked" if ok else "refused")
time.sleep(60)
PY
python3 holder.py &
at_end kill $!
for ((i = 0; i < 100; i++)); do
    [[ -s holder-ready ]] && break
    sleep 0.1
done
[[ $(cat holder-ready) == locked ]] || skip "needs the right to lock a MiB of memory"
expect 0 "${user[@]}" penstock io -f data -x 1 -O 1 --cold
stdout_matches '^Source: .*in page cache 25\.0 % before'
stdout_contains "not cold: the kernel kept pages"

if [[ $(id -u) -eq 0 ]]; then
    expect 0 "${user[@]}" penstock io -f other -x 1 -O 1 --cold --json -
    json - "d['results'][0]['source']['resident_before_bytes'] is None and d['results'][0]['source']['zero_bytes'] == 0"
    # Looking for zeros warmed nothing.
    json - "d['results'][0]['source']['device_read_bytes'] >= 4 << 20 and not d['results'][0]['rate']['from_cache']"
    expect 0 "${user[@]}" penstock io -f other -x 1 -O 1 --cold
    stdout_contains "in page cache n/a before"
    stdout_contains "cold or not is unknown"
fi
