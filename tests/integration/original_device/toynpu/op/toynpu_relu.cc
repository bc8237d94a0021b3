// SPDX-License-Identifier: Apache-2.0
// ReLU.
#include "toynpu_executor.hpp"

extern "C" {
#include "relu_param.h"
}

bool ToyNPUEngine::AddReluNode(struct node* ir_node)
{
    struct relu_param* param = (struct relu_param*)ir_node->op.param_mem;

    if (param->negative_slope != 0.f)
    {
        return false;
    }

    return toynpu_add_relu(this->net, this->tensor_map[ir_node->input_tensors[0]],
                           this->tensor_map[ir_node->output_tensors[0]])
           >= 0;
}
