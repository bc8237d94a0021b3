// SPDX-License-Identifier: Apache-2.0
// The exchange between the tensors of the source graph, which the user holds, and a frame of the
// execution graph: input data in, results and their shapes out.
#pragma once

#include <stdbool.h>

#include "scheduler/frame.h"

TENGINE_EXTERN_C_BEGIN

// Whether two shapes are equal, also in their unknown dimensions.
bool has_same_ir_shape(const struct tensor* a, const struct tensor* b);

// Whether the data of a source tensor is in a buffer of the user's.
bool is_ir_user_memory(const struct tensor* tensor);

// After prerun: sets types and shapes of the source tensors.
int publish_ir_shapes(struct graph* source, const struct graph* execution, const ir_frame_t* frame);

// Gives outputs without a buffer of the user's the memory of the frame; no memory if the shape is
// known after a run only.
void show_ir_outputs(struct graph* source, const struct graph* execution, const ir_frame_t* frame);

// Before a run: the frame uses the user's input data, or copies it if it has memory of its own.
// ESTATE for an input whose shape or type was changed since prerun, EINVAL for one without data.
int bind_ir_inputs(const struct graph* source, const struct graph* execution, ir_frame_t* frame);
// Before a run: a frame that works in place writes to the user's output buffers.
void bind_ir_outputs(const struct graph* source, const struct graph* execution, ir_frame_t* frame);

// After a run: results are stored in the source graph's outputs.
int collect_ir_outputs(struct graph* source, const struct graph* execution,
                       const ir_frame_t* frame);

// Takes the memory of a frame from the outputs with these indices.
void withdraw_ir_outputs(struct graph* source, const int32_t outputs[], int number);

TENGINE_EXTERN_C_END
