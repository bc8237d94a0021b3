// SPDX-License-Identifier: Apache-2.0
// Conv, Gemm, MatMul and BatchNormalization as QLinearConv, QGemm and QLinearMatMul.
#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/pass/batch_norm.h"
#include "optimizer/precision/fuser.h"
#include "optimizer/precision/quantized_operator.h"
#include "optimizer/precision/weights.h"

namespace tengine {
namespace {

// A product of quantised tensors in integers: y = x * weight + bias.
struct Product
{
    Operand x;
    Weight weight;
    tensor* bias = nullptr;
    Result y;
    Vector<tensor*> inputs;  // bytes, scale and zero point of x and of the weight
};

// With x, weight and result: checks the factors and adds the bias.
bool complete(Fuser& fuser, int slices, tensor* bias, Product* out_product)
{
    Product& product = *out_product;
    const float unit = product.x.by.scale;
    for (int64_t i = 0; i < product.weight.scales->elem_num; ++i)
        if (!is_multiplier(unit * product.weight.scale(i) / product.y.by.scale)) return false;
    if (!make_bias(fuser, bias, slices, product.weight, unit, &product.bias)) return false;
    fuser.append(product.x, &product.inputs);
    for (tensor* input : {product.weight.bytes, product.weight.scales, product.weight.zero_points})
        product.inputs.push_back(input);
    return true;
}

// Inputs 0 and 1 of the node. The result and the bias, which may be null, are another node's when a
// bias is added after it. The weight may have a scale for each slice of `axis`.
bool prepare(Fuser& fuser, const node& node, const struct node& last, int axis, tensor* bias,
             Product* out_product)
{
    Product& product = *out_product;
    tensor* weight = get_ir_node_input(&node, 1);
    if (!fuser.find_result(last, 0, &product.y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), product.y, &product.x))
        return false;
    const double unit = product.x.by.scale;
    return make_weight(fuser, weight, axis, product.y, bias, unit, &product.weight) &&
           complete(fuser, axis >= 0 ? weight->dims[axis] : 1, bias, &product);
}

bool is_matrix(const tensor* value)
{
    return value && value->dim_num == 2;
}

bool add_product_matrix(Fuser& fuser, node& node, Product product)
{
    fuser.append(product.y, &product.inputs);
    return fuser.finish(node, product.y,
                        fuser.add("", "QLinearMatMul", node, product.inputs, product.y));
}

// `origin` says transB.
tensor* add_gemm(Fuser& fuser, node& origin, Product& product)
{
    Vector<tensor*> inputs = product.inputs;
    inputs.push_back(product.bias);
    fuser.append(product.y, &inputs);
    return fuser.add("com.microsoft", "QGemm", origin, inputs, product.y);
}

bool add_conv(Fuser& fuser, node& node, Product& product, int group)
{
    Vector<tensor*> inputs = product.inputs;
    fuser.append(product.y, &inputs);
    inputs.push_back(product.bias);
    return fuser.finish(node, product.y,
                        fuser.add("", "QLinearConv", node, inputs, product.y, group));
}

Vector<int> dims_of(const tensor& value)
{
    return {value.dims, value.dims + value.dim_num};
}

// A gemm of all rows of x, whatever its dimensions.
tensor* add_gemm_of_rows(Fuser& fuser, node& origin, Product& product)
{
    const tensor& bytes = *product.x.bytes;
    if (is_matrix(&bytes)) return add_gemm(fuser, origin, product);
    const int depth = bytes.dims[bytes.dim_num - 1];
    if (bytes.dim_num < 2 || depth == 0) return nullptr;
    product.inputs[0] =
        fuser.reshape(product.x.bytes, {static_cast<int>(bytes.elem_num / depth), depth}, origin);
    tensor* rows = product.inputs[0] ? add_gemm(fuser, origin, product) : nullptr;
    return fuser.reshape(rows, dims_of(*product.y.value), origin);
}

// What is added to the product, null if that is not a list.
tensor* find_addend(const node& sum, const tensor* product)
{
    tensor* a = get_ir_node_input(&sum, 0);
    tensor* b = get_ir_node_input(&sum, 1);
    tensor* addend = a == product ? b : a;
    return addend->dim_num <= 1 ? addend : nullptr;
}

// The MatMul by a matrix in front of a sum, which alone reads it.
node* find_matmul(const Fuser& fuser, const node& sum)
{
    for (int i = 0; i < 2; ++i) {
        const tensor* value = get_ir_node_input(&sum, i);
        node* matmul = producer_of(fuser.graph(), value);
        if (is_op(matmul, "MatMul") && value->consumer_num == 1 && !matmul->core->keep_float &&
            is_matrix(get_ir_node_input(matmul, 1)) &&
            !is_ir_graph_output(&fuser.graph(), value->index))
            return matmul;
    }
    return nullptr;
}

// y = factor x + offset for each channel, as weights and biases of a Conv.
bool read_norm(Fuser& fuser, const node& norm, int rank, tensor** out_factors, tensor** out_offsets)
{
    if (!has_constant_statistics(norm)) return false;
    Vector<float> factors, offsets;
    for (const auto& [factor, offset] : read_batch_norm(norm)) {
        factors.push_back(static_cast<float>(factor));
        offsets.push_back(static_cast<float>(offset));
    }
    const int channels = static_cast<int>(factors.size());
    Vector<int> dims(static_cast<size_t>(rank), 1);
    dims[0] = channels;
    const String name = norm.name;
    Rewriter& rewriter = fuser.rewriter();
    *out_factors = rewriter.add_constant(name + "_factors", TENGINE_DT_FP32, dims, factors.data());
    *out_offsets =
        rewriter.add_constant(name + "_offsets", TENGINE_DT_FP32, {channels}, offsets.data());
    return *out_factors && *out_offsets;
}

}  // namespace

bool fuse_conv(Fuser& fuser, node& node)
{
    Product product;
    return prepare(fuser, node, node, find_weight_axis(node), get_ir_node_input(&node, 2),
                   &product) &&
           add_conv(fuser, node, product, 0);
}

bool fuse_gemm(Fuser& fuser, node& node)
{
    Product product;
    return is_plain_gemm(node) &&
           prepare(fuser, node, node, find_weight_axis(node), get_ir_node_input(&node, 2),
                   &product) &&
           fuser.finish(node, product.y, add_gemm(fuser, node, product));
}

bool fuse_matmul(Fuser& fuser, node& node)
{
    Product product;
    const tensor* weight = get_ir_node_input(&node, 1);
    if (!prepare(fuser, node, node, find_weight_axis(node), nullptr, &product)) return false;
    if (add_product_matrix(fuser, node, product)) return true;
    return is_matrix(weight) && is_matrix(get_ir_node_input(&node, 0)) &&
           fuser.finish(node, product.y, add_gemm(fuser, node, product));
}

bool fuse_biased_matmul(Fuser& fuser, node& node)
{
    Product product;
    struct node* matmul = find_matmul(fuser, node);
    if (!matmul) return false;
    tensor* bias = find_addend(node, get_ir_node_output(matmul, 0));
    return bias && prepare(fuser, *matmul, node, find_weight_axis(*matmul), bias, &product) &&
           fuser.finish(node, product.y, add_gemm_of_rows(fuser, *matmul, product));
}

// A Conv of each channel by itself.
bool fuse_batch_norm(Fuser& fuser, node& node)
{
    Product product;
    tensor *factors, *offsets;
    if (get_ir_node_int(&node, "training_mode", 0) != 0 ||
        !fuser.find_result(node, 0, &product.y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), product.y, &product.x) ||
        product.x.bytes->dim_num < 3 ||
        !read_norm(fuser, node, product.x.bytes->dim_num, &factors, &offsets) ||
        !quantize_weight(fuser, *factors, 0, offsets, product.x.by.scale, &product.weight))
        return false;
    const int channels = factors->dims[0];
    return complete(fuser, channels, offsets, &product) && add_conv(fuser, node, product, channels);
}

}  // namespace tengine
