// SPDX-License-Identifier: Apache-2.0
// The boundary tensors of a part. A part is compiled as a graph of its own: values of a frame are
// put into that graph's inputs, and results are taken from its outputs.
#pragma once

#include "scheduler/frame.h"

TENGINE_EXTERN_C_BEGIN

// An input or output of the compiled graph; tensor->source_index is its value in the frame.
typedef struct boundary
{
    struct tensor* tensor;
    bool dynamic;  // the shape is known only at run time
    bool copied;   // the tensor has memory of its own, or gets it with its shape
    size_t bytes;  // unless dynamic
} ir_boundary_t;

// Describes the boundary tensors of all inputs, then of all outputs, of a part that has been
// compiled and not run yet; `isolated` as in compiled.h.
void set_ir_boundaries(const struct subgraph* compiled, bool isolated,
                       ir_boundary_t* out_boundaries);

// Points inputs to the data of the frame, and outputs to the frame's memory, so that the device
// writes there.
int put_ir_values(const struct subgraph* compiled, const ir_boundary_t* boundaries,
                  const ir_frame_t* frame);

// Takes the results into the frame. EDEVICE: an output's shape or data is wrong.
int take_ir_values(const struct subgraph* compiled, const ir_boundary_t* boundaries,
                   ir_frame_t* frame);

TENGINE_EXTERN_C_END
