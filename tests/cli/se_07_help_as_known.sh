# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The help under the old name has the options and the legend that people look for.
expect 0 gdsio -h
stderr_lacks " "
for option in f D d n m w s o i p b V x B I T k U R F a P J O; do
    stdout_matches "^[[:space:]]+-$option([[:space:]]|,|$)"
done
stdout_matches '^xfer_type:'
stdout_matches '^0 - Storage->GPU( |$)'
stdout_matches '^1 - Storage->CPU( |$)'
stdout_matches '^2 - Storage->CPU->GPU( |$)'
stdout_matches '^3 - Storage->CPU->GPU_ASYNC( |$)'
stdout_matches '^4 - Storage->PAGE_CACHE->CPU->GPU( |$)'
expect 0 gdsio --help
stdout_matches '^xfer_type:'
# What is not there yet says so, and measures nothing else instead.
random_file data 65536
for later in "-x 5" "-x 6" "-x 7" "-V" "-M 50" "-P sockfs://10.0.0.1:18515"; do
    # shellcheck disable=SC2086 # two words
    expect 2 gdsio -f data -d host -i 4K $later
    stdout_lines 0
    stderr_contains "later release"
done
