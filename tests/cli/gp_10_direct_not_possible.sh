# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Where the direct path cannot be had, the copy is taken and the reason named; when the vendor's
# library is required instead, the run fails with a reason.
random_file data 65536
need_fake_gpus
expect 0 with_fake_gpus 1 penstock io -f data -x 0 -i 4K --json report.json
stdout_matches '^Device: GPU 0 = '
stdout_matches '^  because: .*nvidia-fs.*16 requests'
json report.json "[p['path'] for p in d['results'][0]['paths']] == ['staged']"
json report.json "any(r['reason'] == 'no-nvidia-fs' and r['requests'] == 16 for r in d['results'][0]['reasons'])"
expect 3 with_fake_gpus 1 env PENSTOCK_VENDOR_CUFILE=/nowhere/libcufile.so.0 \
    penstock io -f new -x 0 -i 4K -s 64K -I 1 --engine vendor --json -
json - "d['error']['code_name'] == 'PST_E_VENDOR_LIBRARY' and '/nowhere/libcufile.so.0' in d['error']['message']"
stderr_lacks "Throughput"
[[ ! -e new ]] || fail "the run began"
