// SPDX-License-Identifier: Apache-2.0
// Questions of the raise functions of Tengine's operators to an ONNX node, beside operator/infer.h.
// At that time shapes are known, constants are folded, quantisation is in the tensors.
#pragma once

#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// Reads the one float of a constant input; false when the input is absent or not such a constant.
bool read_raised_float(const struct node* node, int index, float* out_value);
// Reads the values of a constant int32 or int64 input. Returns their number; -1 when the input is
// absent, not constant or longer than `capacity`.
int read_raised_ints(const struct node* node, int index, int64_t* out_values, int capacity);

// Writes a shape as "[2,3,4]", for the messages of refusals. Returns `out_text`.
#define RAISED_SHAPE_SIZE 96
const char* print_raised_shape(const struct tensor* tensor, char out_text[RAISED_SHAPE_SIZE]);
bool have_same_shape(const struct tensor* first, const struct tensor* second);
// Whether all inputs have the shape of output 0, so that nothing is broadcast.
bool have_inputs_output_shape(const struct node* node);

// Whether output 0 is of a type that tmfiles have; else the node is refused.
bool has_tengine_type(struct node* node);
// Whether output `index` may be of another integer or float type: it is not an output of the graph,
// and only Cast reads it.
bool is_type_free(const struct node* node, int index);

TENGINE_EXTERN_C_END
