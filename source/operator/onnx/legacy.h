// SPDX-License-Identifier: Apache-2.0
// Helpers of lower functions, which turn operators of old opsets into new ones. The generic change
// of method is change_node_method() in registry.h.
#pragma once

#include "operator/operator.h"
#include "operator/registry.h"

TENGINE_EXTERN_C_BEGIN

// Creates a constant one-dimensional int64 tensor. NULL on failure (error set).
struct tensor* create_int_constant(struct graph* graph, const int64_t* values, int num);

// Appends an operator of the newest opset that reads `inputs` (input_num of them) and writes one
// new tensor, whose type and shape come from shape inference; `origin` is the node that is lowered.
// NULL on failure (error set).
struct node* append_lowered_node(struct graph* graph, const struct node* origin, const char* op,
                                 struct tensor* inputs[], int input_num);

// Broadcasting of opsets below 7: dimension 0 of input 1 belongs to dimension `axis` of input 0.
// Inserts an Unsqueeze that gives input 1 the trailing dimensions numpy's rule needs. The ranks of
// both inputs must be known, else ENOTSUP.
int align_second_input(struct graph* graph, struct node* node, int axis);

// Puts two Transposes around a node whose input 0 and output 0, of `rank`, are channels-last, so
// that the node has the channels at axis 1.
int move_channels_first(struct graph* graph, struct node* node, int rank);

TENGINE_EXTERN_C_END
