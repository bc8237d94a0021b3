// SPDX-License-Identifier: Apache-2.0
// The values of one run that cross the borders of parts: inputs of the graph, results, and what
// parts hand to each other. The sync scheduler has one frame, the pipeline several.
#pragma once

#include "tengine/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a tensor of the execution graph has in this run.
typedef struct frame_value
{
    void* data;
    bool owned;  // `data` is the frame's: an output whose shape only the run could tell
    uint8_t data_type;
    uint8_t dim_num;
    uint8_t shape_set;
    int dims[MAX_SHAPE_DIM_NUM];
} ir_frame_value_t;

typedef struct frame
{
    ir_frame_value_t* values;  // one for each tensor of the execution graph
    int32_t value_num;
    void* plan;  // memory of its own, laid out like graph->plan, or NULL: graph->plan itself
} ir_frame_t;

#ifdef __cplusplus
}
#endif
