// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/qdq_builder.h"

#include <cmath>
#include <cstring>

#include "base/float_to_index.h"
#include "graph/graph.h"
#include "operator/param.h"

namespace tengine {
namespace {

Vector<int> dims_of(const tensor& value)
{
    return {value.dims, value.dims + value.dim_num};
}

}  // namespace

tensor* QdqBuilder::add_tensor(const String& name, int data_type)
{
    if (status_ < 0) return nullptr;
    tensor* made = create_ir_tensor(&target_, name.c_str(), data_type);
    if (!made) fail(tengine_error_code());
    return made;
}

void QdqBuilder::connect(node& made, const Vector<tensor*>& inputs, tensor* output)
{
    for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i]) fail(set_ir_node_input_tensor(&made, static_cast<int>(i), inputs[i]));
    if (output) fail(set_ir_node_output_tensor(&made, 0, output));
}

node* QdqBuilder::add_node(const char* op, const String& name, const Vector<tensor*>& inputs,
                           const Vector<tensor*>& outputs)
{
    if (status_ < 0) return nullptr;
    node* made = create_ir_node(&target_, name.c_str(), get_op_type("", op), opset_);
    if (!made) {
        fail(tengine_error_code());
        return nullptr;
    }
    connect(*made, inputs, nullptr);
    for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i]) fail(set_ir_node_output_tensor(made, static_cast<int>(i), outputs[i]));
    return made;
}

tensor* QdqBuilder::add_constant(const String& name, int data_type, const Vector<int>& dims,
                                 const void* bytes)
{
    tensor* made = add_tensor(tensor_names_.choose(name), data_type);
    if (!made) return nullptr;
    made->tensor_type = TENSOR_TYPE_CONST;
    fail(set_ir_tensor_shape(made, dims.data(), static_cast<int>(dims.size())));
    if (status_ == TENGINE_OK) fail(allocate_ir_tensor(made));
    const size_t size = get_ir_tensor_bytes(made);
    if (status_ == TENGINE_OK && size > 0) std::memcpy(made->data, bytes, size);
    return made;
}

tensor* QdqBuilder::add_scale(const String& name, const Quantization& by)
{
    return add_constant(name + "_scale", TENGINE_DT_FP32, {}, &by.scale);
}

tensor* QdqBuilder::add_zero_point(const String& name, const Quantization& by)
{
    const auto byte = static_cast<uint8_t>(by.zero_point);  // the same bits for int8
    return add_constant(name + "_zero_point", by.data_type, {}, &byte);
}

tensor* QdqBuilder::add_linear(const char* op, const String& name, int axis,
                               const Vector<tensor*>& inputs, tensor* output)
{
    node* made = add_node(op, node_names_.choose(name + "_" + op), inputs, {output});
    if (!made) return nullptr;
    if (axis >= 0) fail(set_node_int(made, "axis", axis));
    return output;
}

tensor* QdqBuilder::dequantize(const String& name, int axis, const Vector<tensor*>& inputs)
{
    tensor* result = add_tensor(tensor_names_.choose(name + "_dequantized"), TENGINE_DT_FP32);
    return add_linear("DequantizeLinear", name, axis, inputs, result);
}

tensor* QdqBuilder::add_pair(const String& name, const Quantization& by, tensor* source,
                             tensor* result)
{
    tensor* scale = add_scale(name, by);
    tensor* zero_point = add_zero_point(name, by);
    tensor* bytes = add_tensor(tensor_names_.choose(name + "_quantized"), by.data_type);
    add_linear("QuantizeLinear", name, -1, {source, scale, zero_point}, bytes);
    if (!result) return dequantize(name, -1, {bytes, scale, zero_point});
    return add_linear("DequantizeLinear", name, -1, {bytes, scale, zero_point}, result);
}

tensor* QdqBuilder::add_constant_operand(const String& name, const Quantization& by,
                                         const tensor& value)
{
    Vector<uint8_t> bytes;
    for (int64_t i = 0; i < value.elem_num; ++i)
        bytes.push_back(quantize_value(value.f32[i], by));
    tensor* stored = add_constant(name + "_quantized", by.data_type, dims_of(value), bytes.data());
    tensor* scale = add_scale(name, by);
    tensor* zero_point = add_zero_point(name, by);
    return dequantize(name, -1, {stored, scale, zero_point});
}

tensor* QdqBuilder::add_weight(const String& name, const WeightBytes& quantized, int axis,
                               const tensor& weight)
{
    tensor* stored =
        add_constant(name + "_quantized", TENGINE_DT_INT8, dims_of(weight), quantized.bytes.data());
    return dequantize_symmetric(name, stored, quantized.scales, axis);
}

tensor* QdqBuilder::add_bias(const String& name, const Vector<float>& scales, int axis,
                             const tensor& bias)
{
    Vector<int32_t> words;
    for (int64_t i = 0; i < bias.elem_num; ++i) {
        const float scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
        const double word = std::nearbyint(double{bias.f32[i]} / scale);
        words.push_back(static_cast<int32_t>(float_to_index(word, INT32_MIN, INT32_MAX)));
    }
    tensor* stored =
        add_constant(name + "_quantized", TENGINE_DT_INT32, dims_of(bias), words.data());
    return dequantize_symmetric(name, stored, scales, axis);
}

tensor* QdqBuilder::dequantize_symmetric(const String& name, tensor* stored,
                                         const Vector<float>& scales, int axis)
{
    if (!stored) return nullptr;
    Vector<int> dims;
    if (axis >= 0) dims.push_back(static_cast<int>(scales.size()));
    tensor* scale = add_constant(name + "_scale", TENGINE_DT_FP32, dims, scales.data());
    const Vector<int32_t> zeros(scales.size(), 0);
    tensor* zero_point = add_constant(name + "_zero_point", stored->data_type, dims, zeros.data());
    return dequantize(name, axis, {stored, scale, zero_point});
}

}  // namespace tengine
