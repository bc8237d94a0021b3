#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A quantised model on the simulated TPU in ONNX Runtime gives the bytes that `tengine run` gives:
#     compare_bytes.sh <ort_host> <libonnxruntime> <provider> <program tengine> <folder> <model>
set -eu
host=$1 library=$2 provider=$3 tengine=$4 work=$5 model=$6

rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$tengine" quantize "$model" --random 20 --per-tensor -o int8.onnx >said
# ONNX Runtime alone rounds intermediate tensors differently. On processors without VNNI its sums of
# two products saturate, which is frequent for weights with a scale for each channel.
"$host" --library "$library" --provider "$provider" --device TPU,CPU --option precision=int8 \
    --tolerance 0.05 --write here model int8.onnx N=1
"$tengine" run int8.onnx --device TPU --precision int8 --input image=here/inputs/image.npy \
    --output alone >said
cmp here/outputs/probabilities.npy alone/probabilities.npy
