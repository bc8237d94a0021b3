#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Configures the tree with its tests, each time without one part:
#     leave_out.sh <source tree> <work folder> <cache settings> <cmake arguments…>
set -eu
source=$1
work=$2
settings=$3
shift 3

rm -rf "$work"
mkdir -p "$work"
cp "$settings" "$work/CMakeCache.txt"
before=NONE
for part in BUILD_TOOLS BUILD_EXAMPLES BUILD_ORT_PROVIDER ENABLE_ONNX ENABLE_TMFILE ENABLE_TPU \
    WITH_HIGHWAY WITH_JSON WITH_ONNX_TESTDATA WITH_PART_CACHE WITH_PRECISIONS WITH_STB; do
    echo "== TENGINE_$part=OFF"
    if ! cmake -S "$source" -B "$work" "$@" -DTENGINE_BUILD_TESTS=ON "-UTENGINE_$before" \
        "-DTENGINE_$part=OFF" >"$work/output" 2>&1; then
        cat "$work/output"
        exit 1
    fi
    before=$part
done
