#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh <program> "<flags>": starts a program for a processor that has these flags of
# /proc/cpuinfo: on this one if it has them, else under an emulator that has. Ends with 77 if there
# is neither.
set -u
program=$1 flags=$2

missing=""
for flag in $flags; do
    grep -qw "$flag" /proc/cpuinfo || missing="$missing $flag"
done
[ -n "$missing" ] || exec "$program"

# Up to version 8 it has AVX2 and nothing newer.
case $flags in
*avx512*) ;;
*)
    emulator=$(command -v qemu-x86_64) && "$emulator" -cpu max /bin/true 2>/dev/null &&
        exec "$emulator" -cpu max "$program"
    ;;
esac
echo "skipped: compiled only, the processor has not:$missing"
exit 77
