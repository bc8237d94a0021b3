// SPDX-License-Identifier: Apache-2.0
#include "optimizer/dialect/quantized_tensors.h"

#include "base/containers.hpp"
#include "graph/graph.h"
#include "operator/operator.h"

namespace tengine {
namespace {

bool is_clamp(const node& node)
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

bool is_quantized(const struct tensor& tensor)
{
    const int type = tensor.data_type;
    return tensor.quant_param_num > 0 && (type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8 ||
                                          type == TENGINE_DT_INT16 || type == TENGINE_DT_INT32);
}

const float* scales_of(const struct tensor& tensor)
{
    return tensor.quant_param_num == 1 ? &tensor.scale : tensor.scale_list;
}

const int* zero_points_of(const struct tensor& tensor)
{
    return tensor.quant_param_num == 1 ? &tensor.zero_point : tensor.zp_list;
}

struct tensor* find_clamped(const node& node)
{
    if (!is_clamp(node)) return nullptr;
    struct tensor* tensor = get_ir_node_input(&node, 0);
    if (!tensor || tensor->consumer_num != 1 || is_ir_graph_output(node.graph, tensor->index) ||
        !speaks_tengine(get_ir_graph_node(node.graph, tensor->producer)))
        return nullptr;
    return tensor;
}

}  // namespace tengine
