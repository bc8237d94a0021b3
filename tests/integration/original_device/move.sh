#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Moves toynpu/, a device folder of Tengine Lite, as docs/from-tengine.md says: applies the changes
# that the page shows, and none besides, builds the folder as an external device and runs a tmfile
# on it. Without these changes it must not build, or the page would name unneeded changes.
#     move.sh <source tree> <work folder> <cache settings>
# Compilers, archiver and emulator are in the environment.
set -eu
TENGINE=$1
work=$2
settings=$3
here=$TENGINE/tests/integration/original_device

# The build of an earlier run is kept, everything else is made again.
mkdir -p "$work/build" "$work/sdk/lib"
cd "$work"
rm -rf toynpu moved.patch
cp -r "$here/toynpu" toynpu
cp -r "$here/sdk/include" sdk/
$CC -fPIC -I sdk/include -c "$here/sdk/toynpu_sdk.c" -o sdk/toynpu_sdk.o
"$AR" rc sdk/lib/libtoynpu_sdk.a sdk/toynpu_sdk.o

# Each source in turn, unchanged: headers and functions that it uses are missing.
unmoved=0
for source in toynpu/*.cc toynpu/op/*.cc; do
    if $CXX -std=c++17 -w -fsyntax-only -I toynpu -I sdk/include -I "$TENGINE/include" \
        -I "$TENGINE/include/tengine/compat" -I "$TENGINE/include/tengine/compat/inside" \
        "$source" 2>/dev/null; then
        echo "$source compiles unmoved" >&2
        exit 1
    fi
    unmoved=$((unmoved + 1))
done
[ "$unmoved" -eq 6 ] || { echo "toynpu has $unmoved sources, not 6" >&2; exit 1; }

# The page's changes, which must apply without fuzz.
awk '/^```diff$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$TENGINE/docs/from-tengine.md" \
    >moved.patch
(cd toynpu && patch --strip=1 --fuzz=0 --batch <../moved.patch)

[ -e build/CMakeCache.txt ] || cp "$settings" build/CMakeCache.txt
cmake -S "$TENGINE" -B build -G Ninja -DTENGINE_BUILD_TOOLS=OFF -DTENGINE_BUILD_EXAMPLES=OFF \
    -DTENGINE_ENABLE_ONNX=OFF -DTENGINE_EXTERNAL_DEVICES="$work/toynpu" -DTOYNPU_SDK_DIR="$work/sdk"
cmake --build build
$CC -std=c99 -Wall -Wextra -pedantic -I "$TENGINE/include" "$here/toynpu_program.c" \
    -o toynpu_program -L build -ltengine -lm -Wl,-rpath,"$work/build"
$EMULATOR ./toynpu_program toy.tmfile
