// SPDX-License-Identifier: Apache-2.0
// struct custom_kernel_tensor (c_api.h) for the tensors of a node.
#pragma once

#include "operator/operator.h"
#include "tengine/c_api.h"

TENGINE_EXTERN_C_BEGIN

struct kernel_slot;

// A node's tensors in the form that kernels get; lists of the inputs and outputs, NULL for an
// absent one.
typedef struct kernel_tensors
{
    struct kernel_slot* slots;
    struct custom_kernel_tensor** inputs;
    struct custom_kernel_tensor** outputs;
    int input_num;
    int output_num;
} ir_kernel_tensors_t;

// The difference between two lists of the same node's tensors.
typedef enum kernel_change
{
    KERNEL_TENSORS_SAME,
    KERNEL_TENSORS_RESHAPED,  // in dimensions only
    KERNEL_TENSORS_OTHER
} kernel_change_t;

// Describes the inputs and outputs of an execution node; only constants have data. TENGINE_ELIMIT
// for a tensor with more elements than an int can count. Must be freed after a failure, too.
int make_kernel_tensors(const struct node* node, ir_kernel_tensors_t* out_tensors);
void free_kernel_tensors(ir_kernel_tensors_t* tensors);

kernel_change_t compare_kernel_tensors(const ir_kernel_tensors_t* before,
                                       const ir_kernel_tensors_t* after);

// Set the data pointers to the node's present tensors; or to NULL.
void set_kernel_data(const struct node* node, ir_kernel_tensors_t* tensors);
void clear_kernel_data(ir_kernel_tensors_t* tensors);

TENGINE_EXTERN_C_END
