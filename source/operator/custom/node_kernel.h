// SPDX-License-Identifier: Apache-2.0
// The custom kernel that set_custom_kernel sets on one node: struct custom_kernel_ops of
// tengine/custom_kernel.h as the table of custom_kernel.h.
//
// A kernel whose plan has ended stays prepared until the next plan uses it, which may then reshape
// it, or until finish_custom_kernel().
#pragma once

#include "operator/custom/custom_kernel.h"
#include "operator/custom/kernel_tensors.h"
#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

typedef struct node_kernel
{
    ir_custom_kernel_t base;
    struct custom_kernel_ops* ops;  // owned by the program
    bool prepared;                  // prerun has succeeded and postrun was not called since
    bool attached;                  // to a plan
    ir_kernel_tensors_t tensors;    // that it was prepared for
} node_kernel_t;

// Sets the kernel on a source node. TENGINE_EINVAL: no run function, another operator's kernel, a
// node that computes nothing; TENGINE_EEXIST: the node has a kernel; TENGINE_ESTATE: a custom
// operator computes the node.
int add_node_kernel(struct node* node, struct custom_kernel_ops* ops);

TENGINE_EXTERN_C_END
