// SPDX-License-Identifier: Apache-2.0
// Removes nodes whose output equals their input, and inputs that are not used.
#include <algorithm>
#include <cstring>

#include "graph/graph.h"
#include "operator/registry.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

bool is_output_used(const node& node, int index)
{
    const struct tensor* tensor = get_ir_node_output(&node, index);
    return tensor && (tensor->consumer_num > 0 || is_ir_graph_output(node.graph, tensor->index));
}

bool has_equal_known_shape(const struct tensor& a, const struct tensor& b)
{
    return is_ir_tensor_shape_known(&a) && is_ir_tensor_shape_known(&b) && a.dim_num == b.dim_num &&
           std::memcmp(a.dims, b.dims, sizeof(int) * a.dim_num) == 0;
}

bool keeps_order(const node& transpose)
{
    int rank;
    const int64_t* order = get_ir_node_ints(&transpose, "perm", &rank);
    for (int i = 0; i < rank; ++i)
        if (order[i] != i) return false;
    return rank > 0;
}

bool is_zero_constant(const struct tensor* tensor)
{
    if (!tensor || tensor->tensor_type != TENSOR_TYPE_CONST || !tensor->data) return false;
    const auto* bytes = static_cast<const char*>(tensor->data);
    const char* end = bytes + get_ir_tensor_bytes(tensor);
    return std::all_of(bytes, end, [](char byte) { return byte == 0; });
}

// Whether nothing is dropped: not in training mode, or with ratio 0; and the mask has no readers.
bool keeps_everything(const node& dropout)
{
    const struct tensor* ratio = get_ir_node_input(&dropout, 1);
    const struct tensor* training = get_ir_node_input(&dropout, 2);
    return !is_output_used(dropout, 1) &&
           (!training || is_zero_constant(training) || is_zero_constant(ratio));
}

bool does_nothing(const node& node, const struct tensor& input, const struct tensor& output)
{
    if (is_op(&node, "Identity")) return true;
    if (is_op(&node, "Dropout")) return keeps_everything(node);
    if (is_op(&node, "Cast") || is_op(&node, "CastLike"))
        return input.data_type == output.data_type;
    if (is_op(&node, "Transpose")) return keeps_order(node);
    if (is_op(&node, "Pad")) return is_zero_constant(get_ir_node_input(&node, 1));
    if (is_op(&node, "Reshape") || is_op(&node, "Flatten") || is_op(&node, "Expand"))
        return has_equal_known_shape(input, output);
    return false;
}

// Gemm with beta 0 does not read C, in which a NaN would give NaN.
void drop_unread_input(node& node)
{
    if (is_op(&node, "Gemm") && get_ir_node_float(&node, "beta", 1) == 0)
        keep_ir_node_inputs(&node, 2);
}

}  // namespace

bool is_op(const node* node, const char* name)
{
    return node && std::strcmp(get_ir_node_op(node), name) == 0 && !*get_ir_node_domain(node);
}

node* find_only_producer(const graph& graph, const struct tensor* tensor)
{
    if (!tensor || tensor->consumer_num != 1 || is_ir_graph_output(&graph, tensor->index))
        return nullptr;
    return get_ir_graph_node(&graph, tensor->producer);
}

node* find_only_reader(const graph& graph, const tensor& value)
{
    if (value.consumer_num != 1 || is_ir_graph_output(&graph, value.index)) return nullptr;
    return get_ir_graph_node(&graph, value.consumer[0]);
}

int remove_no_ops(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i) {
        node& node = *graph.node_list[i];
        drop_unread_input(node);
        struct tensor* input = get_ir_node_input(&node, 0);
        struct tensor* output = get_ir_node_output(&node, 0);
        // A graph output keeps its own tensor, since the user knows its name and memory.
        if (!input || !output || is_ir_graph_output(&graph, output->index)) continue;
        if (!does_nothing(node, *input, *output)) continue;
        TENGINE_RETURN_IF_ERROR(replace_ir_tensor_uses(&graph, output, input));
        destroy_ir_node(&graph, &node);
    }
    return TENGINE_OK;
}

}  // namespace tengine
