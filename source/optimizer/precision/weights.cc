// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/infer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// A factor of two below the limit of int32 leaves room for the products.
constexpr double kLargestBias = 1 << 30;

// Whether scales are positive and finite, one or one for each slice of `axis`.
bool are_scales(const node& linear, const tensor& bytes, int axis)
{
    const tensor* scale = get_ir_node_input(&linear, 1);
    if (!is_constant(scale, TENGINE_DT_FP32) || scale->dim_num > 1) return false;
    for (int64_t i = 0; i < scale->elem_num; ++i)
        if (!std::isfinite(scale->f32[i]) || scale->f32[i] <= 0) return false;
    if (scale->elem_num == 1) return true;
    int64_t given = get_ir_node_int(&linear, "axis", 1);
    if (given < 0) given += bytes.dim_num;
    return axis >= 0 && given == axis && scale->elem_num == bytes.dims[axis];
}

bool read_weight(Fuser& fuser, const node& linear, int axis, Weight* out_weight)
{
    tensor* bytes = get_ir_node_input(&linear, 0);
    tensor* zero_points = get_ir_node_input(&linear, 2);
    if (!is_byte(bytes->data_type) || !are_scales(linear, *bytes, axis)) return false;
    if (zero_points && zero_points->tensor_type != TENSOR_TYPE_CONST) return false;
    const uint8_t zero = 0;
    if (!zero_points)
        zero_points = fuser.rewriter().add_constant(String(bytes->name) + "_zero_point",
                                                    bytes->data_type, {}, &zero);
    *out_weight = {bytes, get_ir_node_input(&linear, 1), zero_points};
    return zero_points;
}

// The slices of an axis to which the elements of a tensor belong.
struct Slices
{
    int64_t number = 1, inner;

    Slices(const tensor& value, int axis) : inner(value.elem_num)
    {
        if (axis < 0) return;
        number = value.dims[axis];
        inner = multiply_dims(&value, axis + 1, value.dim_num);
    }
    // Calls body(slice, element) in the order of the elements.
    template <class Body>
    void for_each(int64_t elements, const Body& body) const
    {
        for (int64_t i = 0; i < elements;)
            for (int64_t slice = 0; slice < number; ++slice)
                for (const int64_t end = i + inner; i < end; ++i)
                    body(static_cast<size_t>(slice), static_cast<size_t>(i));
    }
};

float narrow_scale(double scale)
{
    const auto value = static_cast<float>(scale);
    return std::isnormal(value) ? value : 1.0f;
}

Vector<float> choose_scales(const tensor& weight, const Slices& slices, const tensor* bias,
                            double unit)
{
    Vector<float> largest(static_cast<size_t>(slices.number), 0.0f);
    slices.for_each(weight.elem_num, [&](size_t slice, size_t i) {
        largest[slice] = std::max(largest[slice], std::fabs(weight.f32[i]));
    });
    Vector<double> scales;
    for (const float magnitude : largest)
        scales.push_back(double{magnitude} / kLargestWeight);
    for (int64_t i = 0; bias && bias->data && i < bias->elem_num; ++i) {
        double& scale = scales[static_cast<size_t>(i % slices.number)];
        scale = std::max(scale, std::fabs(double{bias->f32[i]}) / (kLargestBias * unit));
    }
    Vector<float> narrowed;
    for (const double scale : scales)
        narrowed.push_back(narrow_scale(scale));
    return narrowed;
}

// The values of a bias, constant in float or dequantised from constant int32.
bool read_bias(const graph& graph, const tensor& bias, Vector<double>* out_values)
{
    if (is_constant(&bias, TENGINE_DT_FP32)) {
        out_values->assign(bias.f32, bias.f32 + bias.elem_num);
        return true;
    }
    const node* linear = producer_of(graph, &bias);
    if (!is_op(linear, "DequantizeLinear")) return false;
    const tensor* words = get_ir_node_input(linear, 0);
    const tensor* zero_point = get_ir_node_input(linear, 2);
    if (!is_constant(words, TENGINE_DT_INT32) || words->dim_num > 2 ||
        !are_scales(*linear, *words, words->dim_num - 1))
        return false;
    const tensor* scale = get_ir_node_input(linear, 1);
    for (int64_t i = 0; zero_point && i < zero_point->elem_num; ++i)
        if (!is_constant(zero_point, TENGINE_DT_INT32) || zero_point->i32[i] != 0) return false;
    for (int64_t i = 0; i < words->elem_num; ++i)
        out_values->push_back(double(words->i32[i]) *
                              scale->f32[scale->elem_num > 1 ? i % scale->elem_num : 0]);
    return true;
}

// The model's int32 values, if they are in these units, as products of floats.
tensor* find_words(const graph& graph, const tensor& bias, int number, const Weight& weight,
                   float unit)
{
    const node* linear = producer_of(graph, &bias);
    if (!is_op(linear, "DequantizeLinear")) return nullptr;
    tensor* words = get_ir_node_input(linear, 0);
    const tensor* scale = get_ir_node_input(linear, 1);
    if (words->dim_num != 1 || words->elem_num != number) return nullptr;
    for (int i = 0; i < number; ++i) {
        const float wanted = unit * static_cast<float>(weight.scale(i));
        if (scale->f32[scale->elem_num > 1 ? i : 0] != wanted) return nullptr;
    }
    return words;
}

}  // namespace

int find_weight_axis(const node& node)
{
    if (is_op(&node, "Conv")) return 0;
    if (is_op(&node, "ConvTranspose")) return get_ir_node_int(&node, "group", 1) == 1 ? 1 : -1;
    if (is_op(&node, "Gemm")) return get_ir_node_int(&node, "transB", 0) != 0 ? 0 : 1;
    const tensor* matrix = get_ir_node_input(&node, 1);
    return matrix && matrix->dim_num == 2 ? 1 : -1;
}

float choose_weight_scale(float largest)
{
    return narrow_scale(double{largest} / kLargestWeight);
}

WeightBytes quantize_weight_values(const tensor& weight, int axis, const tensor* bias, double unit)
{
    const Slices slices(weight, axis);
    WeightBytes quantized = {choose_scales(weight, slices, bias, unit), {}};
    quantized.bytes.resize(static_cast<size_t>(weight.elem_num));
    slices.for_each(weight.elem_num, [&](size_t slice, size_t i) {
        quantized.bytes[i] = quantize_weight_value(weight.f32[i], quantized.scales[slice]);
    });
    return quantized;
}

void copy_columns(const WeightBytes& quantized, const tensor& weight, int axis, int8_t* to)
{
    const int64_t columns = weight.dims[axis], depth = weight.dims[1 - axis];
    if (axis == 1) {
        std::copy(quantized.bytes.begin(), quantized.bytes.end(), to);
        return;
    }
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t i = 0; i < columns; ++i)
            *to++ = quantized.bytes[static_cast<size_t>(i * depth + k)];
}

bool quantize_weight(Fuser& fuser, const tensor& weight, int axis, const tensor* bias, double unit,
                     Weight* out_weight)
{
    for (int64_t i = 0; i < weight.elem_num; ++i)
        if (!std::isfinite(weight.f32[i])) return false;
    if (weight.elem_num == 0) return false;
    const auto [scales, bytes] = quantize_weight_values(weight, axis, bias, unit);
    const Vector<int8_t> zeros(scales.size(), 0);
    Vector<int> list;
    if (axis >= 0) list.push_back(static_cast<int>(scales.size()));
    Rewriter& rewriter = fuser.rewriter();
    const String name = weight.name;
    *out_weight = {
        rewriter.add_constant(name + "_quantized", TENGINE_DT_INT8,
                              {weight.dims, weight.dims + weight.dim_num}, bytes.data()),
        rewriter.add_constant(name + "_scale", TENGINE_DT_FP32, list, scales.data()),
        rewriter.add_constant(name + "_zero_point", TENGINE_DT_INT8, list, zeros.data())};
    return out_weight->bytes && out_weight->scales && out_weight->zero_points;
}

bool make_weight(Fuser& fuser, tensor* value, int axis, const Result& result, const tensor* bias,
                 double unit, Weight* out_weight)
{
    const node* producer = producer_of(fuser.graph(), value);
    if (is_op(producer, "DequantizeLinear")) return read_weight(fuser, *producer, axis, out_weight);
    if (is_constant(value, TENGINE_DT_FP32) && !result.quantize) {
        const bool counts = is_constant(bias, TENGINE_DT_FP32);
        return quantize_weight(fuser, *value, axis, counts ? bias : nullptr, unit, out_weight);
    }
    Operand operand;
    Vector<tensor*> inputs;
    if (!fuser.make_operand(value, result, &operand)) return false;
    fuser.append(operand, &inputs);
    *out_weight = {inputs[0], inputs[1], inputs[2]};
    return inputs[1] && inputs[2];
}

bool make_bias(Fuser& fuser, tensor* bias, int number, const Weight& weight, float unit,
               tensor** out_bias)
{
    *out_bias = nullptr;
    Vector<double> values;
    if (!bias) return true;
    if (!read_bias(fuser.graph(), *bias, &values)) return false;
    *out_bias = find_words(fuser.graph(), *bias, number, weight, unit);
    if (*out_bias) return true;
    const bool is_list = bias->dim_num > 0 && bias->dims[bias->dim_num - 1] == number;
    if (values.size() != 1 && !(is_list && bias->elem_num == number)) return false;
    Vector<int32_t> words;
    for (int i = 0; i < number; ++i) {
        const double value = values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
        const double word = std::nearbyint(value / (double{unit} * weight.scale(i)));
        if (!(std::fabs(word) <= INT32_MAX)) return false;
        words.push_back(static_cast<int32_t>(word));
    }
    *out_bias = fuser.rewriter().add_constant(String(bias->name) + "_quantized", TENGINE_DT_INT32,
                                              {number}, words.data());
    return *out_bias != nullptr;
}

}  // namespace tengine
