#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Models of one GroupQueryAttention, a line each in the table below, on the provider and on ONNX Runtime
# alone:
#     compare_group_query.sh <ort_host> <libonnxruntime> <provider> <protoc> <folder of onnx/onnx.proto>
#                            <folder>
# A line of the table: name | inputs of floats, with their shapes | seqlens_k | total_sequence_length |
# attributes | position_ids | tokens of each batch whose results mean something, unless all do.
set -eu
host=$1 library=$2 provider=$3 protoc=$4 protos=$5 work=$6

order='query key value past_key past_value seqlens_k total_sequence_length cos_cache sin_cache
position_ids attention_bias head_sink'
# Sums of up to 600 products, whose roundings have both signs; in fp16 the results are rounded once,
# to 11 bits, on both sides.
tolerance_1=1e-5
tolerance_10=1e-3

# shape <2x3>: prints the dimensions of a type
shape() { printf 'shape { '; echo "$1" | tr x '\n' | sed 's/.*/dim { dim_value: & } /' | tr -d '\n'; echo '}'; }

# integers <name> <type> <field> <dims> <values>
integers() {
    printf '  initializer { name: "%s" data_type: %s' "$1" "$2"
    printf ' dims: %s' $4
    printf " $3: %s" $5
    echo ' }'
}

# float_input <name:2x3> <element type>
float_input() {
    printf '  input { name: "%s" type { tensor_type { elem_type: %s ' "${1%%:*}" "$2"
    shape "${1#*:}"
    echo '  } } }'
}

# output <name> <element type>
output() { echo "  output { name: \"$1\" type { tensor_type { elem_type: $2 } } }"; }

attributes() {
    for pair; do
        case ${pair#*=} in
        *.*) printf '    attribute { name: "%s" type: FLOAT f: %s }\n' "${pair%%=*}" "${pair#*=}" ;;
        *) printf '    attribute { name: "%s" type: INT i: %s }\n' "${pair%%=*}" "${pair#*=}" ;;
        esac
    done
}

node_inputs() {
    for each in $order; do
        case " $* seqlens_k: total_sequence_length: " in
        *" $each:"*) printf '    input: "%s"\n' "$each" ;;
        *) echo '    input: ""' ;;
        esac
    done
}

# Prints each batch's first rows of the result.
kept_rows() {
    batch=0
    integers axes 7 int64_data 2 '0 1'
    for count; do
        integers "from$batch" 7 int64_data 2 "$batch 0"
        integers "to$batch" 7 int64_data 2 "$((batch + 1)) $count"
        printf '  node { op_type: "Slice" name: "rows%s" input: "result" input: "from%s"' $batch $batch
        printf ' input: "to%s" input: "axes" output: "result%s" }\n' $batch $batch
        output "result$batch" "$type"
        batch=$((batch + 1))
    done
}

write_model() {
    echo 'ir_version: 8 opset_import { domain: "" version: 17 }'
    echo 'opset_import { domain: "com.microsoft" version: 1 }'
    echo "graph { name: \"$name\""
    echo '  node { domain: "com.microsoft" op_type: "GroupQueryAttention" name: "attention"'
    node_inputs $floats ${positions:+position_ids:}
    outputs='result present_key present_value'
    case $settings in *qk_output*) outputs="$outputs scores" ;; esac
    printf '    output: "%s"\n' $outputs
    attributes $settings
    echo '  }'
    for input in $floats; do float_input "$input" "$type"; done
    integers seqlens_k 6 int32_data "$(echo $last | wc -w)" "$last"
    integers total_sequence_length 6 int32_data 1 "$total"
    query=${floats%% *} && query=${query#*:}
    [ -z "$positions" ] ||
        integers position_ids 7 int64_data "${query%%x*} $(echo "$query" | cut -d x -f 2)" "$positions"
    for each in $outputs; do
        [ "$each" = result ] && [ -n "$kept" ] || output "$each" "$type"
    done
    [ -z "$kept" ] || kept_rows $kept
    echo '}'
}

compare() {
    type=1 tolerance=$tolerance_1
    case $name in half*) type=10 tolerance=$tolerance_10 ;; esac
    write_model >"$work/model.txt"
    "$protoc" -I "$protos" --encode=onnx.ModelProto onnx/onnx.proto <"$work/model.txt" \
        >"$work/$name.onnx"
    "$host" --library "$library" --provider "$provider" --tolerance "$tolerance" model \
        "$work/$name.onnx" </dev/null >"$work/said" 2>&1 || failed=1
    sed 1d "$work/said"
    grep -q ': \([13]\) of \1 nodes on Tengine' "$work/said" && return
    echo "compare_group_query.sh: $name is not on the provider" >&2
    failed=1
}

rm -rf "$work"
mkdir -p "$work"
failed=0
while IFS='|' read -r name floats last total settings positions kept; do
    name=$(echo $name) floats=$(echo $floats) positions=$(echo $positions) kept=$(echo $kept)
    compare
done <<END
prompt|query:1x5x64 key:1x5x32 value:1x5x32|4|5|num_heads=4 kv_num_heads=2||
prompt_ragged|query:2x5x64 key:2x5x32 value:2x5x32|2 4|5|num_heads=4 kv_num_heads=2||3 5
prompt_over_past|query:1x5x64 key:1x5x32 value:1x5x32 past_key:1x2x9x16 past_value:1x2x9x16 cos_cache:16x8 sin_cache:16x8|4|5|num_heads=4 kv_num_heads=2 do_rotary=1||
decode_grows|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x7x16 past_value:2x2x7x16|4 7|8|num_heads=4 kv_num_heads=2||
decode_full|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x16x16 past_value:2x2x16x16 cos_cache:16x8 sin_cache:16x8|4 11|12|num_heads=4 kv_num_heads=2 do_rotary=1||
chunk|query:1x3x64 key:1x3x32 value:1x3x32 past_key:1x2x9x16 past_value:1x2x9x16 cos_cache:16x8 sin_cache:16x8|8|9|num_heads=4 kv_num_heads=2 do_rotary=1||
packed_prompt|query:1x6x128 cos_cache:20x8 sin_cache:20x8|5|6|num_heads=4 kv_num_heads=2 do_rotary=1||
packed_decode|query:2x1x128 past_key:2x2x12x16 past_value:2x2x12x16 cos_cache:20x8 sin_cache:20x8|3 9|10|num_heads=4 kv_num_heads=2 do_rotary=1 rotary_interleaved=1||
rotary_part|query:1x6x96 key:1x6x32 value:1x6x32 cos_cache:20x8 sin_cache:20x8|5|6|num_heads=3 kv_num_heads=1 do_rotary=1||
rotary_part_interleaved|query:1x6x96 key:1x6x96 value:1x6x96 cos_cache:20x8 sin_cache:20x8|5|6|num_heads=3 kv_num_heads=3 do_rotary=1 rotary_interleaved=1||
window|query:1x12x64 key:1x12x32 value:1x12x32|11|12|num_heads=4 kv_num_heads=2 local_window_size=4||
window_decode|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x12x16 past_value:2x2x12x16|3 9|10|num_heads=4 kv_num_heads=2 local_window_size=4||
softcap|query:1x6x64 key:1x6x32 value:1x6x32|5|6|num_heads=4 kv_num_heads=2 softcap=0.7||
smooth|query:1x6x64 key:1x6x32 value:1x6x32|5|6|num_heads=4 kv_num_heads=2 smooth_softmax=1||
sink|query:1x6x96 key:1x6x32 value:1x6x32 head_sink:6|5|6|num_heads=6 kv_num_heads=2||
bias|query:2x5x64 key:2x5x32 value:2x5x32 attention_bias:1x4x5x5|4 4|5|num_heads=4 kv_num_heads=2||
bias_softcap_decode|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x12x16 past_value:2x2x12x16 attention_bias:2x1x1x10|3 9|10|num_heads=4 kv_num_heads=2 softcap=0.7||
positions_prompt|query:1x4x64 key:1x4x32 value:1x4x32 cos_cache:20x8 sin_cache:20x8|3|4|num_heads=4 kv_num_heads=2 do_rotary=1|3 9 1 0|
positions_batch|query:2x4x64 key:2x4x32 value:2x4x32 cos_cache:20x8 sin_cache:20x8|3 3|4|num_heads=4 kv_num_heads=2 do_rotary=1|3 9 1 0 5 6 7 8|
positions_decode|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x12x16 past_value:2x2x12x16 cos_cache:20x8 sin_cache:20x8|3 9|10|num_heads=4 kv_num_heads=2 do_rotary=1|7 2|
scores_before|query:1x5x64 key:1x5x32 value:1x5x32|4|5|num_heads=4 kv_num_heads=2 qk_output=1 softcap=0.7 local_window_size=3||
scores_after|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x12x16 past_value:2x2x12x16|9 9|10|num_heads=4 kv_num_heads=2 qk_output=2||
scores_ragged|query:2x1x64 key:2x1x32 value:2x1x32 past_key:2x2x12x16 past_value:2x2x12x16|3 9|10|num_heads=4 kv_num_heads=2 qk_output=2||
causal0|query:1x5x64 key:1x5x32 value:1x5x32|4|5|num_heads=4 kv_num_heads=2 causal=0||
causal0_past|query:1x3x64 key:1x3x32 value:1x3x32 past_key:1x2x9x16 past_value:1x2x9x16|8|9|num_heads=4 kv_num_heads=2 causal=0||
half|query:1x5x64 key:1x5x32 value:1x5x32 cos_cache:20x8 sin_cache:20x8|4|5|num_heads=4 kv_num_heads=2 do_rotary=1||
scale|query:1x5x64 key:1x5x32 value:1x5x32|4|5|num_heads=4 kv_num_heads=2 scale=0.3||
long|query:1x1x896 key:1x1x128 value:1x1x128 past_key:1x2x1200x64 past_value:1x2x1200x64 cos_cache:1300x32 sin_cache:1300x32|1100|1101|num_heads=14 kv_num_heads=2 do_rotary=1||
long_prompt|query:1x300x896 key:1x300x128 value:1x300x128 cos_cache:1300x32 sin_cache:1300x32|299|300|num_heads=14 kv_num_heads=2 do_rotary=1||
long_chunk|query:1x30x896 key:1x30x128 value:1x30x128 past_key:1x2x1200x64 past_value:1x2x1200x64 cos_cache:1300x32 sin_cache:1300x32|600|601|num_heads=14 kv_num_heads=2 do_rotary=1 local_window_size=300 softcap=2.0||
long_window|query:2x600x240 key:2x600x120 value:2x600x120 head_sink:6|599 599|600|num_heads=6 kv_num_heads=3 local_window_size=250||
END
exit $failed
