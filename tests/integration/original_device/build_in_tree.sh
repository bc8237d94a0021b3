#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles toynpu/, a device folder of Tengine Lite whose tables are C++ with designated
# initialisers, as source/device/toynpu of a copy of the tree, with the changes of
# docs/from-tengine.md, and tables alone; the warnings of each preset are errors.
#     build_in_tree.sh <source tree> <work folder> <preset>…
set -eu
TENGINE=$1
work=$2
shift 2
here=$TENGINE/tests/integration/original_device

rm -rf "$work"
mkdir -p "$work/tree" "$work/sdk"
cd "$work"
for entry in CMakeLists.txt CMakePresets.json LICENSE README.md cmake include source 3rdparty \
    toolchains; do
    cp -rs "$TENGINE/$entry" tree/
done
cp -r "$here/toynpu" tree/source/device/
cp -r "$here/sdk/include" sdk/
awk '/^```diff$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$TENGINE/docs/from-tengine.md" \
    >moved.patch
(cd tree/source/device/toynpu && patch --strip=1 --fuzz=0 --batch <"$work/moved.patch")

# The tables of the guide, with Tengine's present headers.
mkdir tree/source/device/guide
cat >tree/source/device/guide/CMakeLists.txt <<'END'
tengine_add_device(guide)
END
cat >tree/source/device/guide/guide_device.cc <<'END'
#include "tengine/device.h"

extern "C" {
static int guide_init(struct device*) { return 0; }
static struct interface guide_interface = {
    .init = guide_init,
    .pre_run = nullptr,
    .release_device = nullptr,
};
static struct allocator guide_allocator = {.describe = nullptr};
static struct optimizer guide_optimizer = {.split_graph = nullptr};
static struct device guide_dev = {
    .name = "GUIDE",
    .interface = &guide_interface,
    .allocator = &guide_allocator,
    .optimizer = &guide_optimizer,
    .scheduler = nullptr,
    .privacy = nullptr,
};
int register_guide_device(void) { return register_device(&guide_dev); }
int unregister_guide_device(void) { return unregister_device(&guide_dev); }
}
END

for preset in "$@"; do
    cmake -S tree -B "build/$preset" --preset "$preset" -DTENGINE_BUILD_TESTS=OFF \
        -DTENGINE_BUILD_TOOLS=OFF -DTENGINE_BUILD_EXAMPLES=OFF -DTENGINE_BUILD_BENCHMARK=OFF \
        -DTENGINE_ENABLE_TOYNPU=ON -DTENGINE_ENABLE_GUIDE=ON -DTOYNPU_SDK_DIR="$work/sdk" >"$preset.txt" 2>&1 ||
        { cat "$preset.txt"; exit 1; }
    cmake --build "build/$preset" --target tengine_device_toynpu tengine_device_guide
done
