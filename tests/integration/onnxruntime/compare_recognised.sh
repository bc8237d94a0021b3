#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Models with operators in several nodes, on a device that takes only the operators, on the CPU device
# and on ONNX Runtime alone, with and without its optimisations:
#     compare_recognised.sh <ort_host> <libonnxruntime> <provider> <recognised_models> <plug-in> <folder>
# The device gets the operator for its nodes in the placement, and again in the part that is compiled.
set -eu
host=$1 library=$2 provider=$3 models=$4 plugin=$5 work=$6

fail() {
    echo "compare_recognised.sh: $*" >&2
    failed=1
}

# compare <model> <options>: on the provider and on ONNX Runtime alone
compare() {
    model=$1
    shift
    rm -f "$WHOLE_PARTS"
    "$host" --library "$library" --provider "$provider" "$@" model "$work/$model/model.onnx" \
        </dev/null >"$work/said" 2>&1 || fail "$model $*: $(cat "$work/said")"
}

# ONNX Runtime computes the tables of the rotation, so that the part does not show that both halves of
# a row are equal. Its nodes stay with ONNX Runtime.
refuse_lost() {
    for level in 0 99; do
        rm -f "$WHOLE_PARTS"
        "$host" --library "$library" --provider "$provider" --level $level --device WHOLE model \
            "$work/$1/model.onnx" </dev/null >"$work/said" 2>&1 && fail "$1 is on WHOLE"
        grep -q ': 0 of [0-9]* nodes on Tengine' "$work/said" || fail "$1: $(cat "$work/said")"
        [ ! -e "$WHOLE_PARTS" ] || fail "$1: WHOLE has '$(cat "$WHOLE_PARTS")'"
    done
}

rm -rf "$work"
mkdir -p "$work"
export TENGINE_PLUGIN_PATH="$plugin" WHOLE_PARTS="$work/parts"
failed=0
"$models" "$work" >"$work/list"
while read -r model op; do
    if [ "$model" = rotary_computed ]; then
        refuse_lost "$model"
        continue
    fi
    for level in 0 99; do
        # Sums of eight products of values that are rounded in a dozen nodes, in fp32.
        compare "$model" --level $level --tolerance 1e-6 --device CPU
        compare "$model" --level $level --tolerance 1e-6 --device WHOLE
        [ "$(cat "$WHOLE_PARTS")" = "compiled $op" ] ||
            fail "$model at level $level: WHOLE has '$(cat "$WHOLE_PARTS")', expected '$op'"
        compare "$model" --level $level --tolerance 1e-6 --device WHOLE,CPU
    done
    for precision in fp16:0.01 bf16:0.08; do
        compare "$model" --option precision=${precision%:*} --tolerance ${precision#*:} --device WHOLE
        [ "$(cat "$WHOLE_PARTS")" = "compiled $op" ] ||
            fail "$model in ${precision%:*}: WHOLE has '$(cat "$WHOLE_PARTS")', expected '$op'"
    done
    # A model with the compiled parts.
    kept=$work/$model/kept.onnx
    compare "$model" --device WHOLE --write "$work/$model/plain" --config ep.context_enable=1 \
        --config ep.context_file_path="$kept"
    mv "$kept" "$work/$model/model.onnx"
    compare "$model" --device WHOLE --expect "$work/$model/plain/outputs"
    [ "$(cat "$WHOLE_PARTS")" = "loaded $op" ] ||
        fail "$model with compiled parts: WHOLE has '$(cat "$WHOLE_PARTS")', expected '$op'"
done <"$work/list"
exit $failed
