// SPDX-License-Identifier: Apache-2.0
// Rules for Add, Mul, averages, Softmax and LayerNormalization: QLinearAdd, QLinearMul,
// QLinearAveragePool, QLinearGlobalAveragePool, QLinearSoftmax and QLinearLayerNormalization.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/infer.h"
#include "optimizer/pass.h"
#include "optimizer/precision/litert_integers.h"

namespace tengine {
namespace {

constexpr const char* kDomain = "com.microsoft";

// Converts the operand to the type of the result, which changes its zero point only.
bool adapt_type(Fuser& fuser, const node& node, int data_type, Operand* operand)
{
    const int shift = data_type == TENGINE_DT_UINT8 ? 128 : -128;
    if (operand->by.data_type == data_type) return true;
    const Quantization to = {operand->by.scale, operand->by.zero_point + shift, data_type, nullptr,
                             nullptr};
    *operand = {fuser.requantize(*operand, to, node), to};
    return operand->bytes;
}

struct Binary
{
    Operand a, b;
    Result y;
};

bool prepare(Fuser& fuser, const node& node, Binary* out_binary)
{
    Result& y = out_binary->y;
    if (!fuser.find_result(node, 0, &y)) return false;
    Operand* operands[] = {&out_binary->a, &out_binary->b};
    for (int i = 0; i < 2; ++i)
        if (!fuser.make_operand(get_ir_node_input(&node, i), y, operands[i]) ||
            !adapt_type(fuser, node, y.by.data_type, operands[i]))
            return false;
    return true;
}

bool add_binary(Fuser& fuser, node& node, const char* op, Binary& binary)
{
    Vector<tensor*> inputs;
    fuser.append(binary.a, &inputs);
    fuser.append(binary.b, &inputs);
    fuser.append(binary.y, &inputs);
    return fuser.finish(node, binary.y, fuser.add(kDomain, op, node, inputs, binary.y));
}

// The integer pools have one type, and keep all dimensions; the result may have fewer.
bool fuse_average(Fuser& fuser, node& node, const char* op, bool may_be_litert)
{
    Operand x;
    Result y;
    Vector<tensor*> inputs;
    if (!fuser.find_result(node, 0, &y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), y, &x) ||
        !adapt_type(fuser, node, y.by.data_type, &x) ||
        !is_multiplier(double{x.by.scale} / y.by.scale))
        return false;
    Result made = y;
    if (may_be_litert && has_litert_integers(fuser)) take_litert_average(&x, &made);
    fuser.append(x, &inputs);
    fuser.append(made, &inputs);
    tensor* bytes = fuser.add(kDomain, op, node, inputs, y);
    if (bytes && bytes->dim_num != y.value->dim_num)
        bytes = fuser.reshape(bytes, {y.value->dims, y.value->dims + y.value->dim_num}, node);
    return fuser.finish(node, y, bytes);
}

// Whether all axes except batch and channels are reduced.
bool reduces_space(const node& node)
{
    int64_t axes[MAX_SHAPE_DIM_NUM];
    int axis_num = 0;
    const tensor* input = get_ir_node_input(&node, 0);
    const int rank = input->dim_num;
    if (rank < 3 || read_int_input(&node, 1, axes, MAX_SHAPE_DIM_NUM, &axis_num) != TENGINE_OK ||
        axis_num != rank - 2)
        return false;
    unsigned reduced = 0;
    for (int i = 0; i < axis_num; ++i)
        reduced |= 1u << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    return reduced == (1u << rank) - 4;
}

}  // namespace

// A function of one tensor becomes a table, which is exact.
bool fuse_add(Fuser& fuser, node& node)
{
    Binary binary;
    if (fuse_by_first(fuser, node, {fuse_litert_add, fuse_unary, fuse_biased_matmul})) return true;
    if (!prepare(fuser, node, &binary)) return false;
    const double y = binary.y.by.scale;
    if (!is_multiplier(binary.a.by.scale / y) || !is_multiplier(binary.b.by.scale / y))
        return false;
    return add_binary(fuser, node, "QLinearAdd", binary);
}

bool fuse_sub(Fuser& fuser, node& node)
{
    return fuse_by_first(fuser, node, {fuse_litert_sub, fuse_unary});
}

bool fuse_mul(Fuser& fuser, node& node)
{
    Binary binary;
    if (fuse_by_first(fuser, node, {fuse_unary})) return true;
    if (!prepare(fuser, node, &binary)) return false;
    const double product = double{binary.a.by.scale} * binary.b.by.scale;
    return is_multiplier(product / binary.y.by.scale) &&
           add_binary(fuser, node, "QLinearMul", binary);
}

bool fuse_average_pool(Fuser& fuser, node& node)
{
    return fuse_average(fuser, node, "QLinearAveragePool", true);
}

bool fuse_global_average_pool(Fuser& fuser, node& node)
{
    return fuse_average(fuser, node, "QLinearGlobalAveragePool", true);
}

bool fuse_reduce_mean(Fuser& fuser, node& node)
{
    return reduces_space(node) && fuse_average(fuser, node, "QLinearGlobalAveragePool", false);
}

bool fuse_softmax(Fuser& fuser, node& node)
{
    Operand x;
    Result y;
    if (!fuser.find_result(node, 0, &y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), y, &x) ||
        !adapt_type(fuser, node, y.by.data_type, &x))
        return false;
    NodeDraft draft = {kDomain,   "QLinearSoftmax",
                       node.name, node.core->source_index,
                       {},        {String(y.value->name) + "_quantized"},
                       &node,     {{"opset", 13}}};
    fuser.append(x, &draft.inputs);
    fuser.append(y, &draft.inputs);
    return fuser.finish(node, y, fuser.rewriter().add_device_tensor(draft));
}

// Requires that mean and deviation have no readers, and that scale and bias are constants in float.
bool fuse_layer_norm(Fuser& fuser, node& node)
{
    Operand x;
    Result y;
    tensor* scale = get_ir_node_input(&node, 1);
    tensor* bias = get_ir_node_input(&node, 2);
    if (!is_constant(scale, TENGINE_DT_FP32) || (bias && !is_constant(bias, TENGINE_DT_FP32)) ||
        node.output_num != 1 || !fuser.find_result(node, 0, &y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), y, &x))
        return false;
    Vector<tensor*> inputs;
    fuser.append(x, &inputs);
    inputs.push_back(scale);
    fuser.append(y, &inputs);
    if (bias) inputs.push_back(bias);
    return fuser.finish(node, y,
                        fuser.add("tengine", "QLinearLayerNormalization", node, inputs, y));
}

}  // namespace tengine
