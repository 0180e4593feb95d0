# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# An empty file: nothing to read, said so, not a success and not a rate.
: >empty
expect 2 penstock io -f empty -x 1
stderr_contains "nothing to read"
stdout_lacks "Throughput"
