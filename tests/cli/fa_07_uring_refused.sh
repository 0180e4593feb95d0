# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A sandbox that refuses io_uring: plain calls do the work and the reason is named, also where
# io_uring was asked for by name.
need_uring
random_file data 262144
cat >sandbox.py <<'PY'
# Runs a command under a seccomp filter that answers io_uring_setup (425) with EPERM.
import ctypes, os, struct, sys

program = b"".join(struct.pack("HBBI", *i) for i in (
    (0x20, 0, 0, 0),            # load the number of the call
    (0x15, 0, 1, 425),          # is it io_uring_setup?
    (0x06, 0, 0, 0x00050001),   # yes: EPERM
    (0x06, 0, 0, 0x7FFF0000)))  # no: go on
class Fprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
fprog = Fprog(len(program) // 8, program)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.addressof(fprog), 0, 0):
    sys.exit(77)
os.execvp(sys.argv[1], sys.argv[1:])
PY
python3 sandbox.py true || skip "needs seccomp filters"
expect 0 penstock io -f data -x 3 -d host -i 4K --json -
json - "d['results'][0]['storage']['uring_operations'] > 0"
expect 0 python3 sandbox.py penstock io -f data -x 3 -d host -i 4K --json -
json - "d['results'][0]['storage']['uring_operations'] == 0"
json - "d['results'][0]['storage']['posix_operations'] == 64"
json - "any(r['reason'].startswith('uring') for r in d['results'][0]['reasons'])"
expect 0 python3 sandbox.py penstock io -f data -x 3 -d host -i 4K --storage uring
stdout_matches '^  because: io_uring is forbidden .*\(uring-denied, 64 requests\)'
stdout_matches '^Device: .*; storage posix'
