// SPDX-License-Identifier: Apache-2.0
// Functions of elements of quantised tensors: QLinearAdd, QLinearMul, QuantizeLinear and
// DequantizeLinear; Relu and Clip of int8 and uint8 without a scale.
#include <arm_compute/runtime/NEON/functions/NEActivationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEArithmeticAddition.h>
#include <arm_compute/runtime/NEON/functions/NEDequantizationLayer.h>
#include <arm_compute/runtime/NEON/functions/NEPixelWiseMultiplication.h>
#include <arm_compute/runtime/NEON/functions/NEQuantizationLayer.h>

#include "device/acl/operator/quantized.h"
#include "device/acl/operator_table.h"

namespace tengine::acl {
namespace {

using arm_compute::ConvertPolicy;
using Kind = ActivationLayerInfo::ActivationFunction;

// Inputs: a, its scale and zero point, b, its scale and zero point, those of y.
struct Pair
{
    ITensor *a, *b, *y;
};

bool read_pair(Builder& builder, Pair* pair)
{
    Quantization a, b, y;
    if (!require_rounding(builder) || !read_quantization(builder, 1, &a) ||
        !read_quantization(builder, 4, &b) || !read_quantization(builder, 6, &y))
        return false;
    pair->a = builder.input(0, quantized_info(*builder.source(0), a));
    pair->b = builder.input(3, quantized_info(*builder.source(3), b));
    pair->y = builder.output(0, quantized_info(*builder.target(), y));
    return true;
}

bool build_qlinear_add(Builder& builder)
{
    Pair pair;
    return read_pair(builder, &pair) && builder.add<arm_compute::NEArithmeticAddition>(
                                            pair.a, pair.b, pair.y, ConvertPolicy::SATURATE);
}

bool build_qlinear_mul(Builder& builder)
{
    Pair pair;
    return read_pair(builder, &pair) && builder.add<arm_compute::NEPixelWiseMultiplication>(
                                            pair.a, pair.b, pair.y, 1.0F, ConvertPolicy::SATURATE,
                                            arm_compute::RoundingPolicy::TO_ZERO);
}

bool build_quantize(Builder& builder)
{
    const tensor& y = *builder.target();
    if ((kBytes >> y.data_type & 1U) == 0)
        return builder.refuse(IR_REASON_DATA_TYPE, y.name, get_data_type_name(y.data_type),
                              "ACL does not quantise to %s", get_data_type_name(y.data_type));
    Quantization by;
    return require_rounding(builder) && read_quantization(builder, 1, &by) &&
           builder.add<arm_compute::NEQuantizationLayer>(builder.input(0),
                                                         builder.output(0, quantized_info(y, by)));
}

bool build_dequantize(Builder& builder)
{
    Quantization x;
    return read_quantization(builder, 1, &x) &&
           builder.add<arm_compute::NEDequantizationLayer>(
               builder.input(0, quantized_info(*builder.source(0), x)), builder.output());
}

// The quantisation of integers without one: scale 1, zero point 0.
bool add_clamp(Builder& builder, const ActivationLayerInfo& info)
{
    return builder.add<arm_compute::NEActivationLayer>(
        builder.input(0, quantized_info(*builder.source(0), {})),
        builder.output(0, quantized_info(*builder.target(), {})), info);
}

bool build_relu(Builder& builder)
{
    return add_clamp(builder, ActivationLayerInfo(Kind::RELU));
}

// The bound at input `index` of a Clip.
bool read_bound(Builder& builder, int index, float* bound)
{
    if (!builder.require_constant(index, "bound")) return false;
    const tensor* value = builder.source(index);
    if (value) *bound = value->data_type == TENGINE_DT_INT8 ? value->i8[0] : value->u8[0];
    return true;
}

bool build_clip(Builder& builder)
{
    const bool is_signed = builder.source(0)->data_type == TENGINE_DT_INT8;
    float low = is_signed ? INT8_MIN : 0, high = is_signed ? INT8_MAX : UINT8_MAX;
    return read_bound(builder, 1, &low) && read_bound(builder, 2, &high) &&
           add_clamp(builder, ActivationLayerInfo(Kind::LU_BOUNDED_RELU, high, low));
}

constexpr Operator kQuantizedElementwiseRows[] = {
    {"com.microsoft.QLinearAdd", kBytes, build_qlinear_add},
    {"com.microsoft.QLinearMul", kBytes, build_qlinear_mul},
    {"QuantizeLinear", 1U << TENGINE_DT_FP32, build_quantize},
    {"DequantizeLinear", kBytes, build_dequantize},
    {"Relu", 1U << TENGINE_DT_INT8, build_relu},
    {"Clip", kBytes, build_clip},
};

}  // namespace

extern const OperatorTable quantized_elementwise_operators;
const OperatorTable quantized_elementwise_operators = make_table(kQuantizedElementwiseRows);

}  // namespace tengine::acl
