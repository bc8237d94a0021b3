// SPDX-License-Identifier: Apache-2.0
// The boundary tensors of a part: values of a frame go into the tensors of the graph the part was
// compiled as, and results come out of them.
#pragma once

#include "scheduler/frame.h"

TENGINE_EXTERN_C_BEGIN

// An input or output of the compiled graph; tensor->source_index is its value in the frame.
typedef struct border
{
    struct tensor* tensor;
    bool dynamic;  // its shape is known at run time only
    bool copied;   // it has memory of its own, or gets it with its shape
    size_t bytes;  // unless dynamic
} ir_border_t;

// The boundary tensors of all inputs, then all outputs of a part that has been compiled and not run
// yet; `isolated` as in compiled.h.
void set_ir_borders(const struct subgraph* compiled, bool isolated, ir_border_t* out_borders);

// Inputs get their data. Outputs are pointed at the frame's, so that the device writes there.
int put_ir_values(const struct subgraph* compiled, const ir_border_t* borders,
                  const ir_frame_t* frame);

// EDEVICE for an output whose shape or data is wrong.
int take_ir_values(const struct subgraph* compiled, const ir_border_t* borders, ir_frame_t* frame);

TENGINE_EXTERN_C_END
