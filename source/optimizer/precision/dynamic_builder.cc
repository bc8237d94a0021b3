// SPDX-License-Identifier: Apache-2.0
#include "optimizer/precision/dynamic_builder.h"

#include "graph/graph.h"
#include "operator/onnx_type.h"
#include "operator/param.h"

namespace tengine {

tensor* DynamicBuilder::add_float(const String& name)
{
    return builder_.add_tensor(builder_.tensor_names().choose(name), TENGINE_DT_FP32);
}

void DynamicBuilder::add(const char* op, const String& name, const Vector<tensor*>& inputs,
                         tensor* output)
{
    builder_.add_node(op, builder_.node_names().choose(name + "_" + op), inputs, {output});
}

// Quantises the tensor once for all readers.
const DynamicBuilder::Bytes& DynamicBuilder::quantize(tensor* x)
{
    const auto [entry, is_new] = bytes_.try_emplace(x);
    Bytes& bytes = entry->second;
    if (!is_new || !x) return bytes;
    const String name = x->name;
    const auto add_byte = [&](const char* suffix) {
        return builder_.add_tensor(builder_.tensor_names().choose(name + suffix), TENGINE_DT_UINT8);
    };
    bytes = {add_byte("_quantized"), add_float(name + "_scale"), add_byte("_zero_point")};
    builder_.add_node("DynamicQuantizeLinear",
                      builder_.node_names().choose(name + "_DynamicQuantizeLinear"), {x},
                      {bytes.bytes, bytes.scale, bytes.zero_point});
    return bytes;
}

const DynamicBuilder::Matrix& DynamicBuilder::write_matrix(const tensor& weight, int axis)
{
    const auto [entry, is_new] = matrices_.try_emplace(std::pair(&weight, axis));
    Matrix& matrix = entry->second;
    if (!is_new) return matrix;
    const WeightBytes quantized = quantize_weight_values(weight, axis, nullptr, 1);
    Vector<int8_t> bytes(quantized.bytes.size());
    copy_columns(quantized, weight, axis, bytes.data());
    const String name = weight.name;
    const int columns = weight.dims[axis];
    matrix.bytes = builder_.add_constant(name + "_quantized", TENGINE_DT_INT8,
                                         {weight.dims[1 - axis], columns}, bytes.data());
    matrix.scales =
        builder_.add_constant(name + "_scale", TENGINE_DT_FP32, {columns}, quantized.scales.data());
    return matrix;
}

void DynamicBuilder::write(const node& from, tensor* x, tensor* bias, tensor* result)
{
    const String name = from.name;
    const bool is_transposed = get_ir_node_int(&from, "transB", 0) != 0;
    const Bytes& bytes = quantize(x);
    const Matrix& matrix = write_matrix(*get_ir_node_input(&from, 1), is_transposed ? 0 : 1);
    tensor* sums =
        builder_.add_tensor(builder_.tensor_names().choose(name + "_sums"), TENGINE_DT_INT32);
    tensor* converted = add_float(name + "_converted");
    tensor* scales = add_float(name + "_scales");
    tensor* product = bias ? add_float(name + "_product") : result;
    builder_.add_node("MatMulInteger", name, {bytes.bytes, matrix.bytes, bytes.zero_point}, {sums});
    node* cast = builder_.add_node("Cast", builder_.node_names().choose(name + "_Cast"), {sums},
                                   {converted});
    if (cast) builder_.fail(set_node_int(cast, "to", get_onnx_type(TENGINE_DT_FP32)));
    add("Mul", name + "_scales", {bytes.scale, matrix.scales}, scales);
    add("Mul", name, {converted, scales}, product);
    if (bias) add("Add", name, {product, bias}, result);
}

}  // namespace tengine
