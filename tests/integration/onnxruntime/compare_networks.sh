#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks on the provider, against ONNX Runtime alone and against the library alone:
#     compare_networks.sh <ort_host> <libonnxruntime> <provider> <program tengine> <folder> <model>...
# The folder is emptied for each network: its inputs are in it, which are made up, and its results.
set -eu
host=$1 library=$2 provider=$3 tengine=$4 work=$5
shift 5

failed=0
for model; do
    rm -rf "$work"
    "$host" --library "$library" --provider "$provider" --write "$work" model "$model" || {
        failed=1
        continue
    }
    set --
    for file in "$work"/inputs/*.npy; do
        name=$(basename "$file" .npy)
        set -- "$@" --input "$name=$file"
    done
    for file in "$work"/outputs/*.npy; do
        name=$(basename "$file" .npy)
        set -- "$@" --expect "$name=$file"
    done
    # Both compute with the kernels of the same library. The difference is that ONNX Runtime has
    # rewritten the graph.
    "$tengine" run "$model" "$@" >"$work/said" || failed=1
    grep '^agrees' "$work/said"
done
exit $failed
