// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/quantization.h"

#include <cmath>
#include <cstring>

#include "base/containers.hpp"
#include "base/float_to_index.h"
#include "graph/graph.h"
#include "operator/onnx_type.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

bool is_single_constant(const tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_CONST && tensor->data && tensor->dim_num <= 1 &&
           tensor->elem_num == 1;
}

}  // namespace

bool is_constant(const tensor* value, int data_type)
{
    return value && value->tensor_type == TENSOR_TYPE_CONST && value->data &&
           value->data_type == data_type;
}

bool is_byte(int data_type)
{
    return data_type == TENGINE_DT_INT8 || data_type == TENGINE_DT_UINT8;
}

bool is_same(const Quantization& a, const Quantization& b)
{
    return a.scale == b.scale && a.zero_point == b.zero_point && a.data_type == b.data_type;
}

Quantization cover_range(double low, double high, int data_type)
{
    const int lowest = data_type == TENGINE_DT_INT8 ? -128 : 0;
    const auto scale = static_cast<float>((high - low) / 255);
    // Below FLT_MIN a quotient could overflow, and some machines flush such numbers to zero.
    if (!std::isnormal(scale)) return {1, lowest + 128, data_type, nullptr, nullptr};
    const int zero_point = lowest - static_cast<int>(std::nearbyint(low / double{scale}));
    return {scale, zero_point, data_type, nullptr, nullptr};
}

uint8_t quantize_value(float value, const Quantization& by)
{
    const int lowest = by.data_type == TENGINE_DT_INT8 ? -128 : 0;
    const double byte = std::nearbyint(double{value / by.scale}) + by.zero_point;
    return static_cast<uint8_t>(float_to_index(byte, lowest, lowest + 255));
}

bool is_multiplier(double real)
{
    return real >= 0 && real < 2147483647.0;
}

bool read_quantization(const node& linear, Quantization* out_quantization)
{
    const bool quantizes = is_op(&linear, "QuantizeLinear");
    if (!quantizes && !is_op(&linear, "DequantizeLinear")) return false;
    const tensor* value =
        quantizes ? get_ir_node_input(&linear, 0) : get_ir_node_output(&linear, 0);
    const tensor* bytes =
        quantizes ? get_ir_node_output(&linear, 0) : get_ir_node_input(&linear, 0);
    tensor* scale = get_ir_node_input(&linear, 1);
    tensor* zero_point = get_ir_node_input(&linear, 2);
    if (value->data_type != TENGINE_DT_FP32 || scale->data_type != TENGINE_DT_FP32 ||
        !is_byte(bytes->data_type) || !is_single_constant(scale) ||
        (zero_point && !is_single_constant(zero_point)))
        return false;
    const int64_t precision = get_ir_node_int(&linear, "precision", 0);
    if (precision != 0 && precision != get_onnx_type(TENGINE_DT_FP32)) return false;
    int zero = 0;
    if (zero_point) zero = bytes->data_type == TENGINE_DT_INT8 ? *zero_point->i8 : *zero_point->u8;
    *out_quantization = {*scale->f32, zero, bytes->data_type, scale, zero_point};
    return std::isfinite(*scale->f32) && *scale->f32 > 0;
}

bool read_calibration(const tensor& value, int data_type, Quantization* out_quantization)
{
    if (value.data_type != TENGINE_DT_FP32 || value.quant_param_num != 1) return false;
    *out_quantization = {value.scale, value.zero_point, data_type, nullptr, nullptr};
    return true;
}

node* producer_of(const graph& graph, const tensor* tensor)
{
    return tensor ? get_ir_graph_node(&graph, tensor->producer) : nullptr;
}

tensor* get_scale(Rewriter& rewriter, Quantization& quantization, const String& name)
{
    if (!quantization.scale_tensor)
        quantization.scale_tensor =
            rewriter.add_constant(name + "_scale", TENGINE_DT_FP32, {}, &quantization.scale);
    return quantization.scale_tensor;
}

tensor* get_zero_point(Rewriter& rewriter, Quantization& quantization, const String& name)
{
    const auto byte = static_cast<uint8_t>(quantization.zero_point);  // the same bits for int8
    if (!quantization.zero_point_tensor)
        quantization.zero_point_tensor =
            rewriter.add_constant(name + "_zero_point", quantization.data_type, {}, &byte);
    return quantization.zero_point_tensor;
}

}  // namespace tengine
