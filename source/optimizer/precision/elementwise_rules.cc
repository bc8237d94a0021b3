// SPDX-License-Identifier: Apache-2.0
// Functions of one quantised tensor, element by element, as Lookup: exact, since the table is
// computed by the float operator itself.
#include "graph/graph.h"
#include "optimizer/pass.h"
#include "optimizer/precision/fuser.h"

namespace tengine {
namespace {

// The one input that is no constant; constants must be single values. -1 when it is not so.
int find_data_input(const node& node)
{
    int found = -1;
    for (int i = 0; i < node.input_num; i++) {
        const tensor* input = get_ir_node_input(&node, i);
        if (!input) continue;
        const bool constant = input->tensor_type == TENSOR_TYPE_CONST;
        if (constant && (!input->data || input->elem_num != 1)) return -1;
        if (!constant && found >= 0) return -1;
        if (!constant) found = i;
    }
    return found;
}

// A scalar operand must not add dimensions.
bool keeps_shape(const tensor& x, const tensor& y)
{
    return x.dim_num == y.dim_num && x.elem_num == y.elem_num;
}

}  // namespace

bool fuse_unary(Fuser& fuser, node& node)
{
    Operand x;
    Result y;
    const int data_input = find_data_input(node);
    tensor* value = get_ir_node_input(&node, data_input);
    if (!value || !fuser.find_operand(value, &x) || !fuser.find_result(node, 0, &y) ||
        !keeps_shape(*x.bytes, *y.value))
        return false;
    return fuser.finish(node, y, fuser.look_up(x, y.by, &node, data_input, node.name, node));
}

// QuantizeLinear of what DequantizeLinear made: nothing if that is the same, else one table.
bool fuse_requantization(Fuser& fuser, node& node)
{
    Operand x;
    Result y;
    y.quantize = &node;
    if (!fuser.find_operand(get_ir_node_input(&node, 0), &x) || !read_quantization(node, &y.by) ||
        x.bytes->tensor_type == TENSOR_TYPE_CONST)
        return false;
    return fuser.replace_quantizer(y, fuser.look_up(x, y.by, nullptr, 0, node.name, node));
}

}  // namespace tengine
