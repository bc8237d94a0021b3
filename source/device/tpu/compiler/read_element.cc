// SPDX-License-Identifier: Apache-2.0
// Sums and products of two values, look-ups, clamps.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/half.h"
#include "device/tpu/compiler/element_layer.h"
#include "device/tpu/compiler/read.h"
#include "tengine/fixed_point.h"

namespace tengine::tpu {
namespace {

// The shape of an operand within a result of `rank` dimensions: as if ones stood in front.
Shape aligned_shape(const tensor& operand, int rank)
{
    tensor padded = operand;
    const int shift = rank - operand.dim_num;
    for (int i = 0; i < rank; ++i)
        padded.dims[i] = i < shift ? 1 : operand.dims[i - shift];
    padded.dim_num = static_cast<uint8_t>(rank);
    return shape_of(padded);
}

// One constant for all channels becomes one for each, since vectors have no pitch of their own.
Ref read_operand(const NodeReader& reader, const tensor& operand, const Shape& result)
{
    const Shape shape = aligned_shape(operand, reader.output()->dim_num);
    const bool is_constant = operand.tensor_type == TENSOR_TYPE_CONST && operand.data;
    const size_t element = operand.elem_size;
    if (is_constant && shape.c == 1 && result.c > 1) {
        Shape widened = shape;
        widened.c = result.c;
        std::vector<uint8_t> bytes;
        const auto* data = static_cast<const uint8_t*>(operand.data);
        for (int64_t i = 0; i < shape.elements(); ++i)
            for (int c = 0; c < result.c; ++c)
                bytes.insert(bytes.end(), data + static_cast<size_t>(i) * element,
                             data + static_cast<size_t>(i + 1) * element);
        return reader.network.constant(std::move(bytes), widened, operand.elem_size);
    }
    // A constant of lower rank lies as in its own shape, which ones in front do not change: but
    // for rank 3 beside rank 4 the channels are last only when it has no other axis.
    if (is_constant && operand.dim_num != reader.output()->dim_num) {
        tensor padded = operand;
        const int rank = reader.output()->dim_num;
        for (int i = 0; i < rank; ++i)
            padded.dims[i] =
                i < rank - operand.dim_num ? 1 : operand.dims[i - (rank - operand.dim_num)];
        padded.dim_num = static_cast<uint8_t>(rank);
        return reader.network.constant(store_constant(padded), shape, operand.elem_size);
    }
    Ref ref = reader.network.ref(operand);
    ref.shape = shape;
    return ref;
}

bool broadcasts(const Shape& shape, const Shape& result)
{
    return (shape.n == result.n || shape.n == 1) && (shape.h == result.h || shape.h == 1) &&
           (shape.w == result.w || shape.w == 1) && shape.c == result.c;
}

bool set_operands(const NodeReader& reader, int a_index, int b_index, PairLayer* layer)
{
    layer->output = reader.network.ref(*reader.output());
    for (int index : {a_index, b_index}) {
        const tensor& operand = *reader.input(index);
        // A channels-last tensor and one in another layout have no common order.
        const bool is_image = reader.output()->dim_num == 4;
        if (operand.tensor_type != TENSOR_TYPE_CONST && (operand.dim_num == 4) != is_image &&
            operand.elem_num > 1)
            return reader.refuse(IR_REASON_SHAPE, operand.name, "",
                                 "operands of rank %d and rank %d, expected equal ranks",
                                 operand.dim_num, reader.output()->dim_num);
        const Ref ref = read_operand(reader, operand, layer->output.shape);
        if (!broadcasts(ref.shape, layer->output.shape))
            return reader.refuse(IR_REASON_SHAPE, operand.name, "",
                                 "it broadcasts over channels or over a part of the images");
        layer->inputs.push_back(ref);
    }
    return true;
}

bool is_multiply(const NodeReader& reader)
{
    return std::strstr(get_ir_node_op(&reader.of), "Mul") != nullptr;
}

int set_factors(bool multiplies, double a, double b, double y, Instruction* operation)
{
    const double reals[] = {multiplies ? a * b / y : a / y, b / y};
    ir_multiplier_t multipliers[2] = {};
    TENGINE_RETURN_IF_ERROR(make_ir_multipliers(reals, multiplies ? 1 : 2, multipliers));
    operation->factor_a = multipliers[0].factor;
    operation->factor_b = multipliers[1].factor;
    operation->shift = static_cast<uint8_t>(multipliers[0].shift);
    return TENGINE_OK;
}

}  // namespace

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point.
bool read_qlinear_pair(const NodeReader& reader)
{
    auto layer = std::make_unique<PairLayer>();
    Instruction& operation = layer->operation;
    double a_scale, b_scale, y_scale;
    if (!require_bytes(reader, {0, 3}) || !reader.quantization(1, &a_scale, &operation.zero_a) ||
        !reader.quantization(4, &b_scale, &operation.zero_b) ||
        !reader.quantization(6, &y_scale, &operation.zero_d) ||
        !set_operands(reader, 0, 3, layer.get()))
        return false;
    const bool multiplies = is_multiply(reader);
    if (set_factors(multiplies, a_scale, b_scale, y_scale, &operation) != TENGINE_OK)
        return reader.refuse(IR_REASON_ATTRIBUTE, "scale", "", "%s", tengine_error_message());
    const auto flag = [](const tensor* tensor, uint16_t name) {
        return tensor->data_type == TENGINE_DT_INT8 ? name : uint16_t{0};
    };
    operation.opcode = multiplies ? Opcode::kMultiply : Opcode::kAdd;
    operation.flags =
        static_cast<uint16_t>(flag(reader.input(0), kSignedA) | flag(reader.input(3), kSignedB) |
                              flag(reader.output(), kSignedD));
    operation.lowest = operation.flags & kSignedD ? 0x80 : 0;
    operation.highest = operation.flags & kSignedD ? 0x7f : 0xff;
    reader.network.add(std::move(layer));
    return true;
}

bool read_pair(const NodeReader& reader)
{
    auto layer = std::make_unique<PairLayer>();
    if (!require_bf16(reader) || !set_operands(reader, 0, 1, layer.get())) return false;
    layer->element_bytes = 2;
    layer->operation.opcode = is_multiply(reader) ? Opcode::kMultiply : Opcode::kAdd;
    layer->operation.flags = kFloat;
    layer->operation.low_real = -std::numeric_limits<float>::infinity();
    layer->operation.high_real = std::numeric_limits<float>::infinity();
    reader.network.add(std::move(layer));
    return true;
}

bool read_lookup(const NodeReader& reader)
{
    auto layer = std::make_unique<LookupLayer>();
    const tensor* table = reader.input(1);
    if (!require_bytes(reader, {0, 1}) || !reader.constant(1, "the table")) return false;
    layer->table.assign(table->u8, table->u8 + table->elem_num);
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output = reader.network.ref(*reader.output());
    reader.network.add(std::move(layer));
    return true;
}

// Relu, and Clip whose limits are constant.
bool read_clamp(const NodeReader& reader)
{
    auto layer = std::make_unique<ClampLayer>();
    if (!require_bf16(reader)) return false;
    const bool is_clip = !std::strcmp(get_ir_node_op(&reader.of), "Clip");
    layer->low = is_clip ? -std::numeric_limits<float>::infinity() : 0;
    layer->high = std::numeric_limits<float>::infinity();
    for (int i = 1; is_clip && i <= 2; ++i) {
        const tensor* limit = reader.input(i);
        if (!limit) continue;
        if (!reader.constant(i, "a limit")) return false;
        (i == 1 ? layer->low : layer->high) = bf16_to_fp32(limit->f16[0]);
    }
    if (!(layer->low <= layer->high))
        return reader.refuse(IR_REASON_ATTRIBUTE, "min", "", "invalid limits %g to %g",
                             static_cast<double>(layer->low), static_cast<double>(layer->high));
    layer->element_bytes = 2;
    layer->inputs = {reader.network.ref(*reader.input(0))};
    layer->output = reader.network.ref(*reader.output());
    reader.network.add(std::move(layer));
    return true;
}

}  // namespace tengine::tpu
