// SPDX-License-Identifier: Apache-2.0
// Rules for functions of one quantised tensor, element by element, as Lookup, for any number of
// nodes: exact, since the float operators compute the table.
#include <algorithm>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/fuser.h"

namespace tengine {
namespace {

constexpr int kMostNodes = 32;

bool has_elementwise_rule(const node& node)
{
    const FuseRule rule = find_fuse_rule(node);
    return rule == fuse_unary || rule == fuse_add || rule == fuse_sub || rule == fuse_mul ||
           rule == fuse_leaky_relu || rule == fuse_hard_swish;
}

// The float nodes between one quantised tensor and a result.
struct Function
{
    Operand x;
    Formula formula;
    int visits = 0;
};

// Whether `value` is the function's x, which may be dequantised several times.
bool is_source(const Fuser& fuser, tensor* value, Function* function)
{
    Operand operand;
    if (!fuser.find_operand(value, &operand)) return false;
    Vector<const tensor*>& sources = function->formula.sources;
    if (sources.empty()) function->x = operand;
    if (operand.bytes != function->x.bytes || !is_same(operand.by, function->x.by)) return false;
    sources.push_back(value);
    return true;
}

// Adds `node` after all nodes that its inputs need. False when these are not functions of x alone.
bool trace(const Fuser& fuser, const node& node, Function* function)
{
    Vector<const struct node*>& nodes = function->formula.nodes;
    if (std::find(nodes.begin(), nodes.end(), &node) != nodes.end()) return true;
    if (++function->visits > kMostNodes) return false;
    for (int i = 0; i < node.input_num; ++i) {
        tensor* input = get_ir_node_input(&node, i);
        if (!input) continue;
        if (input->tensor_type == TENSOR_TYPE_CONST) {
            if (!input->data || input->elem_num != 1) return false;
            continue;
        }
        if (is_source(fuser, input, function)) continue;
        const struct node* before = producer_of(fuser.graph(), input);
        if (!before || before->core->keep_float || before->dynamic_shape ||
            !has_elementwise_rule(*before) || !trace(fuser, *before, function))
            return false;
    }
    nodes.push_back(&node);
    return true;
}

// A scalar operand must not add dimensions.
bool keeps_shape(const tensor& x, const tensor& y)
{
    return x.dim_num == y.dim_num && x.elem_num == y.elem_num;
}

}  // namespace

bool fuse_unary(Fuser& fuser, node& node)
{
    Function function;
    Result y;
    if (!fuser.find_result(node, 0, &y) || !trace(fuser, node, &function) ||
        function.formula.sources.empty() || !keeps_shape(*function.x.bytes, *y.value))
        return false;
    return fuser.finish(node, y,
                        fuser.look_up(function.x, y.by, function.formula, node.name, node));
}

// QuantizeLinear of a DequantizeLinear's result: removed if both have the same parameters, else one
// table, which may be that of TensorFlow Lite.
bool fuse_requantization(Fuser& fuser, node& node)
{
    Operand x;
    Result y;
    y.quantize = &node;
    if (!fuser.find_operand(get_ir_node_input(&node, 0), &x) || !read_quantization(node, &y.by) ||
        x.bytes->tensor_type == TENSOR_TYPE_CONST)
        return false;
    Int8Table table;
    tensor* bytes = make_litert_requantization(fuser, x.by, y.by, &table)
                        ? fuser.add_table(x, y.by, table, node.name, node)
                        : fuser.look_up(x, y.by, {}, node.name, node);
    return fuser.replace_quantizer(y, bytes);
}

}  // namespace tengine
