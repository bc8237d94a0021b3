// SPDX-License-Identifier: Apache-2.0
// Convolution.
#include "toynpu_executor.hpp"

extern "C" {
#include "convolution_param.h"
}

bool ToyNPUEngine::AddConvolutionNode(struct node* ir_node)
{
    struct conv_param* param = (struct conv_param*)ir_node->op.param_mem;

    if (param->group != 1 || param->dilation_h != 1 || param->dilation_w != 1)
    {
        return false;
    }

    toynpu_conv conv = {
        {param->kernel_h, param->kernel_w},
        {param->stride_h, param->stride_w},
        {param->pad_h0, param->pad_w0, param->pad_h1, param->pad_w1},
        param->activation >= 0,
    };

    int bias = -1;
    if (ir_node->input_num > 2)
    {
        bias = this->tensor_map[ir_node->input_tensors[2]];
    }

    return toynpu_add_conv(this->net, this->tensor_map[ir_node->input_tensors[0]],
                           this->tensor_map[ir_node->input_tensors[1]], bias,
                           this->tensor_map[ir_node->output_tensors[0]], &conv)
           >= 0;
}
