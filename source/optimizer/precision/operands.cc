// SPDX-License-Identifier: Apache-2.0
// The integer forms of a node's inputs; part of fuser.h.
#include <algorithm>
#include <cmath>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/fuser.h"

namespace tengine {
bool Fuser::find_operand(tensor* value, Operand* out_operand) const
{
    const node* producer = producer_of(graph(), value);
    if (!is_op(producer, "DequantizeLinear") || !read_quantization(*producer, &out_operand->by))
        return false;
    out_operand->bytes = get_ir_node_input(producer, 0);
    return true;
}

bool Fuser::make_operand(tensor* value, const Result& result, Operand* out_operand)
{
    if (!value) return false;
    if (find_operand(value, out_operand)) return true;
    if (value->tensor_type == TENSOR_TYPE_CONST)
        return !result.quantize && quantize_constant(*value, out_operand);
    return quantize_calibrated(value, out_operand);
}

bool Fuser::quantize_calibrated(tensor* value, Operand* out_operand)
{
    Quantization& by = out_operand->by;
    if (!read_calibration(*value, data_type_, &by)) return false;
    Result known;
    if (find_quantizer(*value, &known) && known.quantize && is_same(known.by, by)) {
        by = known.by;
        out_operand->bytes = get_ir_node_output(known.quantize, 0);
        return true;
    }
    const String name = value->name;
    tensor* scale = get_scale(rewriter_, by, name);
    tensor* zero_point = get_zero_point(rewriter_, by, name);
    const node* made = rewriter_.add_node({"",
                                           "QuantizeLinear",
                                           name + "_QuantizeLinear",
                                           -1,
                                           {value, scale, zero_point},
                                           {name + "_quantized"}});
    if (!made) return false;
    out_operand->bytes = get_ir_node_output(made, 0);
    return true;
}

// Quantises a constant with its calibrated range, or else its own, widened to hold 0.
bool Fuser::quantize_constant(const tensor& value, Operand* out_operand)
{
    const float* values = value.f32;
    if (value.data_type != TENGINE_DT_FP32 || !values || value.elem_num == 0) return false;
    float low = 0, high = 0;
    for (int64_t i = 0; i < value.elem_num; ++i) {
        if (!std::isfinite(values[i])) return false;
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
    }
    Quantization& by = out_operand->by;
    if (!read_calibration(value, data_type_, &by)) by = cover_range(low, high, data_type_);
    Vector<uint8_t> bytes;
    for (int64_t i = 0; i < value.elem_num; ++i)
        bytes.push_back(quantize_value(values[i], by));
    out_operand->bytes =
        rewriter_.add_constant(String(value.name) + "_quantized", data_type_,
                               {value.dims, value.dims + value.dim_num}, bytes.data());
    return out_operand->bytes;
}

void Fuser::append(Operand& operand, Vector<tensor*>* inputs)
{
    inputs->push_back(operand.bytes);
    inputs->push_back(get_scale(rewriter_, operand.by, operand.bytes->name));
    inputs->push_back(get_zero_point(rewriter_, operand.by, operand.bytes->name));
}

void Fuser::append(Result& result, Vector<tensor*>* inputs)
{
    inputs->push_back(get_scale(rewriter_, result.by, result.value->name));
    inputs->push_back(get_zero_point(rewriter_, result.by, result.value->name));
}

}  // namespace tengine
