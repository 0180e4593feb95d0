# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# --version and help go to stdout with exit 0; a wrong word is a usage error on stderr.
expect 0 penstock --version
stdout_matches '^penstock [0-9]+\.[0-9]+\.[0-9]+'
stdout_lines 1

expect 0 gdsio -h
stdout_contains "xfer_type"
stdout_matches '^[[:space:]]*-x'

expect 2 penstock no-such-tool
stdout_lines 0
stderr_contains "no-such-tool"
