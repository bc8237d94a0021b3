// SPDX-License-Identifier: Apache-2.0
#include "optimizer/dialect/quantized_tensors.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"
#include "operator/shaped.h"

namespace tengine {
namespace {

constexpr const char* kMoves[] = {
    "Concat",         "Crop",   "DepthToSpace", "Dropout",  "Expand",  "Expanddims",
    "Flatten",        "Gather", "Noop",         "Permute",  "Reorg",   "Reshape",
    "ShuffleChannel", "Slice",  "SpaceToDepth", "Split",    "Squeeze", "StridedSlice",
    "SwapAxis",       "Tile",   "Transpose",    "Unsqueeze"};

bool is_tengine_clamp(const node& node)
{
    if (!speaks_tengine(&node)) return false;
    const String op = get_ir_node_op(&node);
    if (op == "ReLU") return get_ir_node_float(&node, "negative_slope", 0) == 0;
    return op == "ReLU6" || op == "ReLU1" || op == "Clip";
}

}  // namespace

bool speaks_tengine(const node* node)
{
    return node && node->op.method->tengine && node->op.method->lower;
}

bool reads_quantized(const node& node)
{
    const method& method = *node.op.method;
    return method.lower && (method.tengine || (method.traits & OP_READS_QUANTIZED) != 0);
}

bool is_read_by_tengine_only(const graph& graph, const struct tensor& tensor)
{
    const auto reads = [&](int32_t index) { return speaks_tengine(graph.node_list[index]); };
    return tensor.consumer_num > 0 && !is_ir_graph_output(&graph, tensor.index) &&
           std::all_of(tensor.consumer, tensor.consumer + tensor.consumer_num, reads);
}

bool is_quantized(const struct tensor& tensor)
{
    const int type = tensor.data_type;
    return tensor.quant_param_num > 0 && (type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8 ||
                                          type == TENGINE_DT_INT16 || type == TENGINE_DT_INT32);
}

bool is_byte_type(int data_type)
{
    return data_type == TENGINE_DT_INT8 || data_type == TENGINE_DT_UINT8;
}

bool moves_bytes(const node* node)
{
    if (!speaks_tengine(node)) return false;
    return std::any_of(
        std::begin(kMoves), std::end(kMoves),
        [op = get_ir_node_op(node)](const char* move) { return std::strcmp(op, move) == 0; });
}

const float* scales_of(const struct tensor& tensor)
{
    return tensor.quant_param_num == 1 ? &tensor.scale : tensor.scale_list;
}

const int* zero_points_of(const struct tensor& tensor)
{
    return tensor.quant_param_num == 1 ? &tensor.zero_point : tensor.zp_list;
}

int quantise_like(struct tensor& tensor, const struct tensor& like)
{
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(&tensor, like.data_type));
    tensor.quant_axis = like.quant_axis;
    return set_ir_tensor_quantization_parameter(&tensor, scales_of(like), zero_points_of(like),
                                                like.quant_param_num);
}

bool ends_with_clamp(const node& node)
{
    return is_tengine_clamp(node) || get_ir_node_int(&node, "activation", -1) >= 0;
}

struct tensor* find_clamped(const node& node)
{
    if (!is_tengine_clamp(node)) return nullptr;
    struct tensor* tensor = get_ir_node_input(&node, 0);
    if (!tensor || tensor->consumer_num != 1 || is_ir_graph_output(node.graph, tensor->index) ||
        !speaks_tengine(get_ir_graph_node(node.graph, tensor->producer)))
        return nullptr;
    return tensor;
}

}  // namespace tengine
