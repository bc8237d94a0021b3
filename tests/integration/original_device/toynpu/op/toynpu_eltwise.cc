// SPDX-License-Identifier: Apache-2.0
// Sums of two tensors of one shape.
#include "toynpu_executor.hpp"

extern "C" {
#include "eltwise_param.h"
}

bool ToyNPUEngine::AddEltwiseNode(struct node* ir_node)
{
    struct eltwise_param* param = (struct eltwise_param*)ir_node->op.param_mem;

    if (param->type != ELT_SUM || ir_node->input_num != 2)
    {
        return false;
    }

    struct tensor* first = get_ir_graph_tensor(ir_node->graph, ir_node->input_tensors[0]);
    struct tensor* second = get_ir_graph_tensor(ir_node->graph, ir_node->input_tensors[1]);
    if (first->elem_num != second->elem_num)
    {
        return false;
    }

    return toynpu_add_sum(this->net, this->tensor_map[first->index], this->tensor_map[second->index],
                          this->tensor_map[ir_node->output_tensors[0]])
           >= 0;
}
