# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Help: one screen first, everything on demand, and the same text by each way of asking.
expect 0 penstock io --help
[[ $(wc -l <"$DIR/stdout") -le 45 ]] || fail "the short help is longer than a screen"
stdout_contains "--help-all"
cp "$DIR/stdout" "$DIR/short"
for words in "io -h" "io help" "help io"; do
    # shellcheck disable=SC2086 # words
    expect 0 penstock $words
    same_bytes "$DIR/stdout" "$DIR/short"
done
expect 0 penstock io --help-all
stdout_contains "--storage"
stdout_contains "--random-with-replacement"
expect 0 penstock help
stdout_matches '^  io +'
expect 2 penstock help no-such
stderr_contains "no-such"
