#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TENGINE_NATIVE: vector kernels are compiled for one instruction set, and Highway's library, which
# would choose among several, is not linked:
#     native.sh <source tree> <work folder> <nm>
set -eu
source=$1
work=$2
nm=$3

rm -rf "$work"
cmake -S "$source" -B "$work" -G Ninja -DTENGINE_NATIVE=ON -DTENGINE_BUILD_TOOLS=OFF \
    -DTENGINE_BUILD_EXAMPLES=OFF >"$work.log" 2>&1 || {
    cat "$work.log"
    exit 1
}
grep 'TENGINE_NATIVE  *-m' "$work.log" || {
    echo "skipped: the compiler knows no option for this processor"
    exit 77
}
object=CMakeFiles/tengine_device_cpu.dir/source/device/cpu/kernel/vector_product_impl.cc.o
ninja -C "$work" "$object" >"$work.log" 2>&1 || {
    cat "$work.log"
    exit 1
}
# Highway has a namespace for each instruction set.
sets=$("$nm" -C "$work/$object" | grep -o '\bN_[A-Z0-9_]*::' | sort -u)
[ "$(echo "$sets" | wc -l)" -eq 1 ] || {
    echo "kernels are compiled for:" $sets
    exit 1
}
! grep -q 'libhwy' "$work/build.ninja" || {
    echo "Highway's library is linked"
    exit 1
}
