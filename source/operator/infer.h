// SPDX-License-Identifier: Apache-2.0
// Helpers for the infer_shape functions of operator tables: outputs, axes, broadcasting, values of
// constant inputs. All failures set a message that names operator and node.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "operator/fail.h"
#include "operator/operator.h"

TENGINE_EXTERN_C_BEGIN

// Types and shapes of the outputs of one node, by its operator's rule. OP_SHAPE_LATER: a shape of
// its inputs, or data that it needs, is not known yet; types are set all the same, as far as those
// of the inputs are known.
int infer_node(struct node* node);

// Sets type and shape of output `index`; does nothing when that output is absent. Dimensions are
// checked (>= 0, fits int, rank <= 8).
int set_node_output(struct node* node, int index, int data_type, const int64_t dims[], int dim_num);
// Output `index` like `tensor`, with another type when data_type >= 0.
int set_node_output_like(struct node* node, int index, const struct tensor* tensor, int data_type);

// axis in [-rank, rank) → [0, rank).
int normalize_axis(const struct node* node, int64_t axis, int rank, int* out_axis);

// Multidirectional (numpy) broadcast of `dims` with the tensor's shape, in place.
int broadcast_with(const struct node* node, int64_t dims[], int* dim_num,
                   const struct tensor* tensor);

// Values of an integer input (int32 or int64; at most `capacity` of them) if they are known.
// *out_num = number of values; 0 when the input is absent. OP_SHAPE_LATER when it has no data yet.
int read_int_input(const struct node* node, int index, int64_t* out_values, int capacity,
                   int* out_num);
// The same for a float32/float16/float64 input, as float.
int read_float_input(const struct node* node, int index, float* out_values, int capacity,
                     int* out_num);

// Requires that all present inputs have the same data type.
int require_same_types(const struct node* node, int first_input, int last_input);

// Product of dims in [first, last).
int64_t multiply_dims(const struct tensor* tensor, int first, int last);

TENGINE_EXTERN_C_END
