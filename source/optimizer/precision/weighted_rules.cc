// SPDX-License-Identifier: Apache-2.0
// Conv, Gemm and MatMul as QLinearConv, QGemm and QLinearMatMul.
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/fuser.h"
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
    std::vector<tensor*> inputs;  // bytes, scale and zero point of x and of the weight
};

// Inputs 0 and 1 of the node; the weight may have a scale for each slice of `axis`. `bias_index`
// -1: the operator has none.
bool prepare(Fuser& fuser, const node& node, int axis, int bias_index, Product* out_product)
{
    Product& product = *out_product;
    tensor* weight = get_ir_node_input(&node, 1);
    tensor* bias = get_ir_node_input(&node, bias_index);
    if (!fuser.find_result(node, 0, &product.y) ||
        !fuser.make_operand(get_ir_node_input(&node, 0), product.y, &product.x))
        return false;
    const float unit = product.x.by.scale;
    if (!make_weight(fuser, weight, axis, product.y, bias, unit, &product.weight)) return false;
    for (int64_t i = 0; i < product.weight.scales->elem_num; i++)
        if (!is_multiplier(unit * product.weight.scale(i) / product.y.by.scale)) return false;
    const int number = axis >= 0 ? weight->dims[axis] : 1;
    if (!make_bias(fuser, bias, number, product.weight, unit, &product.bias)) return false;
    fuser.append(product.x, &product.inputs);
    for (tensor* input : {product.weight.bytes, product.weight.scales, product.weight.zero_points})
        product.inputs.push_back(input);
    return true;
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

bool add_gemm(Fuser& fuser, node& node, Product product)
{
    product.inputs.push_back(product.bias);
    fuser.append(product.y, &product.inputs);
    return fuser.finish(node, product.y,
                        fuser.add("com.microsoft", "QGemm", node, product.inputs, product.y));
}

}  // namespace

bool fuse_conv(Fuser& fuser, node& node)
{
    Product product;
    if (!prepare(fuser, node, 0, 2, &product)) return false;
    fuser.append(product.y, &product.inputs);
    product.inputs.push_back(product.bias);
    return fuser.finish(node, product.y,
                        fuser.add("", "QLinearConv", node, product.inputs, product.y));
}

bool fuse_gemm(Fuser& fuser, node& node)
{
    Product product;
    if (get_ir_node_float(&node, "alpha", 1) != 1 || get_ir_node_float(&node, "beta", 1) != 1 ||
        get_ir_node_int(&node, "transA", 0) != 0)
        return false;
    const int axis = get_ir_node_int(&node, "transB", 0) != 0 ? 0 : 1;
    return prepare(fuser, node, axis, 2, &product) && add_gemm(fuser, node, product);
}

bool fuse_matmul(Fuser& fuser, node& node)
{
    Product product;
    const tensor* weight = get_ir_node_input(&node, 1);
    if (!prepare(fuser, node, is_matrix(weight) ? 1 : -1, -1, &product)) return false;
    if (add_product_matrix(fuser, node, product)) return true;
    return is_matrix(weight) && is_matrix(get_ir_node_input(&node, 0)) &&
           add_gemm(fuser, node, product);
}

}  // namespace tengine
