#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A model whose parts ONNX Runtime has had compiled and written, in the model and beside it, in a
# process of its own; also when the file beside it is damaged or gone:
#     keep_parts.sh <ort_host> <libonnxruntime> <provider> <folder> <model with the free dimension N>
set -eu
host=$1 library=$2 provider=$3 work=$4 model=$5

run() { "$host" --library "$library" --provider "$provider" "$@"; }
fail() { echo "keep_parts.sh: $*" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
export TMPDIR=$work/temporary
mkdir "$TMPDIR"
# Folders of a killed program are removed; one of a living program stays.
for place in "$work" "$TMPDIR"; do
    mkdir "$place/tengine-0123456789abcdef.unfinished" "$place/tengine-fedcba9876543210.unfinished"
    echo part >"$place/tengine-0123456789abcdef.unfinished/part.tmfile"
done
exec 8<"$work/tengine-fedcba9876543210.unfinished" 9<"$TMPDIR/tengine-fedcba9876543210.unfinished"
flock 8
flock 9
for embedded in 0 1; do
    kept=$work/kept_$embedded.onnx
    run --fix N=1 --write "$work/plain" --config ep.context_enable=1 \
        --config ep.context_file_path="$kept" --config ep.context_embed_mode=$embedded model "$model"
    run --expect "$work/plain/outputs" model "$kept"
done

left=$(cd "$work" && echo tengine-* temporary/tengine-*)
[ "$left" = "tengine-fedcba9876543210.unfinished temporary/tengine-fedcba9876543210.unfinished" ] ||
    fail "there is left: $left"

# With another precision it would compute other values.
run --option precision=bf16 model "$work/kept_1.onnx" 2>"$work/said" &&
    fail "a model runs in bf16 whose parts are compiled for fp32"
grep -q "the compiled part is for 'CPU in fp32', the session has 'CPU in bf16'" "$work/said" ||
    fail "of another precision: $(cat "$work/said")"

# refuses <the change> <word of the message>
refuses() {
    run --expect "$work/plain/outputs" model "$work/kept_0.onnx" 2>"$work/said" &&
        fail "a model runs whose part is $1"
    grep -q "kept_0_part_0.tmfile.*$2" "$work/said" || fail "of a part that is $1: $(cat "$work/said")"
}
part=$work/kept_0_part_0.tmfile
cp "$part" "$work/whole"
head -c 1000 "$work/whole" >"$part"
refuses "cut off" "the file ends"
: >"$part"
refuses empty empty
rm "$part"
refuses gone "No such file"
