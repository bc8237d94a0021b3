// SPDX-License-Identifier: Apache-2.0
// Folds nodes that are constants.
#include "operator/infer.h"
#include "optimizer/pass.h"

namespace tengine {
namespace {

// Exporters write a weight that two nodes share as Identity of the first.
bool stands_for_constant(const node& node)
{
    if (is_op(&node, "Constant")) return true;
    const struct tensor* input = get_ir_node_input(&node, 0);
    return is_op(&node, "Identity") && input && input->tensor_type == TENSOR_TYPE_CONST;
}

}  // namespace

int fold_constant_nodes(graph& graph)
{
    for (int i = 0; i < graph.node_num; ++i) {
        if (!stands_for_constant(*graph.node_list[i])) continue;
        TENGINE_RETURN_IF_ERROR(infer_node(graph.node_list[i]));
        TENGINE_RETURN_IF_ERROR(evaluate_node(*graph.node_list[i]));
    }
    return TENGINE_OK;
}

}  // namespace tengine
