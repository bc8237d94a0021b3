// SPDX-License-Identifier: Apache-2.0
// The common part of operators that only move elements, in both directions. Beside emit.h,
// whose rule on failures holds here too.
#pragma once

#include "operator/tengine/emit.h"

TENGINE_EXTERN_C_BEGIN

// ---- lowering ----

// The elements begin, begin + step, ... of one axis, up to but without `end`, as ONNX's Slice
// counts: negative positions are from the end, positions beyond an end are that end.
struct axis_cut
{
    int64_t axis;
    int64_t begin;
    int64_t end;
    int64_t step;
};

// Returns the input itself when there is nothing to cut.
struct tensor* emit_cuts(emitter_t* emit, struct tensor* input, const struct axis_cut cuts[],
                         int num);

// Splits along `axis` in parts of these sizes, one for each output; finishes the emission.
int finish_with_parts(emitter_t* emit, struct tensor* input, int axis, const int64_t sizes[],
                      int num);

// Converts integers of any width to int64, which ONNX's indices have, and truncates floats to
// integers.
struct tensor* emit_indices(emitter_t* emit, struct tensor* input);

// Reads the dimensions of a tensor; returns their number.
int read_dims(const struct tensor* tensor, int64_t out_dims[MAX_SHAPE_DIM_NUM]);

// TENGINE_ERANGE unless `order` holds each of 0 … num − 1 once; `name` is the attribute that it
// comes from.
int check_order(const struct node* node, const char* name, const int64_t order[], int num);

// ---- raising ----

// Sets a list and the parameter that has its length.
void emit_attr_list(emitter_t* emit, const char* name, const char* length, const int64_t* values,
                    int num);
// Constants of int32, for files of Tengine's know no int64. A list; and an integer tensor's values,
// `wrap` being added to negative ones: as they are when it is not a constant or not all of them
// fit.
struct tensor* emit_int32s(emitter_t* emit, const int64_t* values, int num);
struct tensor* emit_narrowed(emitter_t* emit, struct tensor* input, int wrap);
// Append Tengine's Reshape to dimensions that are all given and positive, and its Transpose.
struct tensor* raise_to_reshape(emitter_t* emit, struct tensor* input, const int64_t dims[],
                                int num);
struct tensor* raise_to_transpose(emitter_t* emit, struct tensor* input, const int64_t order[],
                                  int num);
// Turns the whole node into Tengine's Reshape of input 0 to the known shape of output 0.
int raise_as_reshape(struct graph* graph, struct node* node);

TENGINE_EXTERN_C_END
