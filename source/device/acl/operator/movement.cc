// SPDX-License-Identifier: Apache-2.0
// Operators that move elements without changing them.
#include <algorithm>
#include <arm_compute/runtime/NEON/functions/NEConcatenateLayer.h>
#include <arm_compute/runtime/NEON/functions/NEDepthToSpaceLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPadLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPermute.h>
#include <arm_compute/runtime/NEON/functions/NEReshapeLayer.h>
#include <arm_compute/runtime/NEON/functions/NESlice.h>
#include <arm_compute/runtime/NEON/functions/NESpaceToDepthLayer.h>
#include <arm_compute/runtime/NEON/functions/NEStridedSlice.h>
#include <cstring>

#include "device/acl/operator_table.h"
#include "operator/infer.h"
#include "operator/onnx/slice_param.h"

namespace tengine::acl {
namespace {

using arm_compute::Coordinates;

bool build_reshape(Builder& builder)
{
    return builder.add<arm_compute::NEReshapeLayer>(builder.input(0), builder.output());
}

// NEConcatenateLayer accepts 8-bit integers only with a scale. If all scales are the same, it
// copies them.
bool needs_scale(const tensor* tensor)
{
    return tensor &&
           (tensor->data_type == TENGINE_DT_INT8 || tensor->data_type == TENGINE_DT_UINT8);
}

TensorInfo scaled_info(const tensor& tensor)
{
    const DataType type =
        tensor.data_type == TENGINE_DT_INT8 ? DataType::QASYMM8_SIGNED : DataType::QASYMM8;
    return make_info(to_acl_info(tensor).tensor_shape(), type, QuantizationInfo(1.0F, 0));
}

bool build_concat(Builder& builder)
{
    const int rank = builder.target()->dim_num;
    int axis = 0;
    if (normalize_axis(&builder.of(), get_ir_node_int(&builder.of(), "axis", 0), rank, &axis) !=
        TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "axis", "", "%s", tengine_error_message());
    Tensors inputs;
    for (int i = 0; i < builder.of().input_num; ++i) {
        const tensor* part = builder.source(i);
        inputs.push_back(needs_scale(part) ? builder.input(i, scaled_info(*part))
                                           : builder.input(i));
    }
    const tensor* whole = builder.target();
    return builder.add<arm_compute::NEConcatenateLayer>(
        inputs, needs_scale(whole) ? builder.output(0, scaled_info(*whole)) : builder.output(),
        size_t{to_acl_axis(axis, rank)});
}

// A box of a tensor: [begin, end) of every axis, outermost first.
bool add_slice(Builder& builder, ITensor* input, ITensor* output, const int64_t* begin,
               const int64_t* end, int rank)
{
    Coordinates starts, ends;
    const auto acl_rank = static_cast<int>(input->info()->num_dimensions());
    for (int d = 0; d < acl_rank; ++d) {
        starts.set(static_cast<size_t>(d), static_cast<int>(begin[rank - 1 - d]));
        ends.set(static_cast<size_t>(d), static_cast<int>(end[rank - 1 - d]));
    }
    return builder.add<arm_compute::NESlice>(input, output, starts, ends);
}

bool build_split(Builder& builder)
{
    const tensor& source = *builder.source(0);
    int axis = 0;
    if (normalize_axis(&builder.of(), get_ir_node_int(&builder.of(), "axis", 0), source.dim_num,
                       &axis) != TENGINE_OK)
        return builder.refuse(IR_REASON_ATTRIBUTE, "axis", "", "%s", tengine_error_message());
    ITensor* input = builder.input(0);
    int64_t begin[MAX_SHAPE_DIM_NUM] = {}, end[MAX_SHAPE_DIM_NUM];
    for (int d = 0; d < source.dim_num; ++d)
        end[d] = source.dims[d];
    for (int i = 0; i < builder.of().output_num; ++i) {
        const tensor* part = builder.target(i);
        if (!part) return builder.refuse(IR_REASON_ATTRIBUTE, "", "", "an output that is not read");
        end[axis] = begin[axis] + part->dims[axis];
        if (!add_slice(builder, input, builder.output(i), begin, end, source.dim_num)) return false;
        begin[axis] = end[axis];
    }
    return true;
}

bool build_slice(Builder& builder)
{
    slice_range ranges[MAX_SHAPE_DIM_NUM];
    if (resolve_slice(&builder.of(), ranges) != TENGINE_OK)
        return builder.refuse(IR_REASON_CONSTANT, "", "", "its range must be constant");
    const int rank = builder.source(0)->dim_num;
    ITensor* input = builder.input(0);
    const auto acl_rank = static_cast<int>(input->info()->num_dimensions());
    Coordinates starts, ends, steps;
    bool has_steps = false;
    for (int d = 0; d < acl_rank && d < rank; ++d) {
        const slice_range& range = ranges[rank - 1 - d];
        if (range.step < 0) return builder.refuse_value("step", range.step, "a positive number");
        const auto at = static_cast<size_t>(d);
        starts.set(at, static_cast<int>(range.start));
        ends.set(at, static_cast<int>(range.start + (range.length - 1) * range.step + 1));
        steps.set(at, static_cast<int>(range.step));
        has_steps = has_steps || range.step != 1;
    }
    if (has_steps)
        return builder.add<arm_compute::NEStridedSlice>(input, builder.output(), starts, ends,
                                                        steps);
    return builder.add<arm_compute::NESlice>(input, builder.output(), starts, ends);
}

bool build_transpose(Builder& builder)
{
    const int rank = builder.source(0)->dim_num;
    int number = 0;
    const int64_t* perm = get_ir_node_ints(&builder.of(), "perm", &number);
    ITensor* input = builder.input(0);
    arm_compute::PermutationVector turn;
    // ACL has permutations of three and four dimensions.
    for (int d = 0; d < std::max(rank, 3) && d < kMaxRank; ++d) {
        const int64_t from = number > 0 && d < rank ? perm[rank - 1 - d] : d;
        const int64_t acl_from = d < rank ? rank - 1 - from : d;
        turn.set(static_cast<size_t>(d), static_cast<size_t>(acl_from));
    }
    return builder.add<arm_compute::NEPermute>(input, builder.output(), turn);
}

float read_pad_value(const Builder& builder)
{
    const tensor* byte = builder.source(2);
    if (needs_scale(byte)) return byte->data_type == TENGINE_DT_INT8 ? byte->i8[0] : byte->u8[0];
    float value = get_ir_node_float(&builder.of(), "value", 0);
    int number = 0;
    read_float_input(&builder.of(), 2, &value, 1, &number);
    return value;
}

bool build_pad(Builder& builder)
{
    int64_t before[MAX_SHAPE_DIM_NUM], after[MAX_SHAPE_DIM_NUM];
    if (resolve_pads(&builder.of(), before, after) != TENGINE_OK)
        return builder.refuse(IR_REASON_CONSTANT, "", "", "its pads must be constant");
    if (!builder.require_constant(2, "value")) return false;
    const char* mode = get_ir_node_text(&builder.of(), "mode", "constant");
    const bool reflects = std::strcmp(mode, "reflect") == 0;
    if (!reflects && std::strcmp(mode, "constant") != 0)
        return builder.refuse(IR_REASON_ATTRIBUTE, "mode", mode,
                              "ACL does not support mode '%s': expected constant or reflect", mode);
    // ACL does not join 8-bit integers without a scale, and changes some of those with one.
    if (reflects && needs_scale(builder.source(0)))
        return builder.refuse(IR_REASON_ATTRIBUTE, "mode", mode, "ACL does not reflect bytes");
    const int rank = builder.source(0)->dim_num;
    arm_compute::PaddingList pads;
    for (int d = rank - 1; d >= 0; --d) {
        if (before[d] < 0 || after[d] < 0)
            return builder.refuse_value("pads", std::min(before[d], after[d]), "0 or more");
        pads.push_back({static_cast<uint32_t>(before[d]), static_cast<uint32_t>(after[d])});
    }
    return builder.add<arm_compute::NEPadLayer>(
        builder.input(0), builder.output(), pads,
        arm_compute::PixelValue(read_pad_value(builder), to_acl_type(builder.source(0)->data_type)),
        reflects ? arm_compute::PaddingMode::REFLECT : arm_compute::PaddingMode::CONSTANT);
}

bool build_depth_to_space(Builder& builder)
{
    const char* mode = get_ir_node_text(&builder.of(), "mode", "DCR");
    if (std::strcmp(mode, "DCR") != 0)
        return builder.refuse(IR_REASON_ATTRIBUTE, "mode", mode,
                              "ACL does not support mode '%s': expected DCR", mode);
    return builder.add<arm_compute::NEDepthToSpaceLayer>(
        builder.input(0), builder.output(),
        static_cast<int32_t>(get_ir_node_int(&builder.of(), "blocksize", 1)));
}

bool build_space_to_depth(Builder& builder)
{
    return builder.add<arm_compute::NESpaceToDepthLayer>(
        builder.input(0), builder.output(),
        static_cast<int32_t>(get_ir_node_int(&builder.of(), "blocksize", 1)));
}

constexpr unsigned kMovable = kFloats | kBytes;

constexpr Operator kMovementRows[] = {
    {"Reshape", kMovable, build_reshape},
    {"Flatten", kMovable, build_reshape},
    {"Squeeze", kMovable, build_reshape},
    {"Unsqueeze", kMovable, build_reshape},
    {"Identity", kMovable, build_reshape},
    {"Concat", kMovable, build_concat},
    {"Split", kMovable, build_split},
    {"Slice", kMovable, build_slice},
    {"Transpose", kMovable, build_transpose},
    {"Pad", kMovable, build_pad},
    {"DepthToSpace", kMovable, build_depth_to_space},
    {"SpaceToDepth", kMovable, build_space_to_depth},
};

}  // namespace

extern const OperatorTable movement_operators;
const OperatorTable movement_operators = make_table(kMovementRows);

}  // namespace tengine::acl
