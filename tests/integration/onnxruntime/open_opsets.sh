#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ONNX Runtime opens the files that `tengine convert` writes for several opsets, and they give the
# results of the suite:
#     open_opsets.sh <ort_host> <libonnxruntime> <provider> <program tengine> <folder> <root>
# <root> has folders of the ONNX backend suite, whose models are written to <folder>.
set -eu
host=$1 library=$2 provider=$3 tengine=$4 work=$5 root=$6

rm -rf "$work"
for test in "$root"/*/; do
    for opset in 7 11 21; do
        to=$work/$(basename "$test").opset_$opset
        mkdir -p "$to"
        "$tengine" convert "$test/model.onnx" "$to/model.onnx" --opset $opset >"$to/said"
        ln -s "$test/test_data_set_0" "$to"
    done
done
"$host" --library "$library" --provider "$provider" --level 0 --at-least 100 nodes "$work"
