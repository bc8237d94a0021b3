// SPDX-License-Identifier: Apache-2.0
// The boundary tensors of one run: inputs of the graph, results, and the values that parts hand to
// each other. The sync scheduler has one frame, the pipeline several.
#pragma once

#include "graph/run_state.h"
#include "tengine/ir.h"

TENGINE_EXTERN_C_BEGIN

// The state of a tensor of the execution graph in this run.
typedef struct frame_value
{
    void* data;
    void* home;  // the place of the data unless the user's memory replaces it; NULL: nothing is
                 // planned
    bool owned;  // the frame owns `data`: an output whose shape was known only after the run
    uint8_t data_type;
    uint8_t dim_num;
    uint8_t shape_set;
    int dims[MAX_SHAPE_DIM_NUM];
} ir_frame_value_t;

typedef struct frame
{
    ir_frame_value_t* values;  // one for each tensor of the execution graph
    int32_t value_num;
    // The frame's own memory, laid out like graph->plan, with room for copies of the inputs after
    // it. NULL: the frame works in graph->plan and in the user's buffers.
    void* memory;
    size_t memory_bytes;  // its size
    ir_run_t* run;        // the run in flight: own_run, or that of which a body's run is a part
    ir_run_t own_run;
    bool told;       // the program has been told that the run in flight has ended
    int64_t number;  // of the run, and its begin if the graph has a trace
    int64_t begin_ns;
} ir_frame_t;

// Makes a frame for an execution graph whose boundary tensors have planned memory.
int create_ir_frame(const struct graph* execution, bool own_memory, ir_frame_t* out_frame);
void release_ir_frame(ir_frame_t* frame);

// Begins a new run: frees memory that the last one has allocated.
void clear_ir_frame(ir_frame_t* frame);

// Resets the frame to its state after creation, for this execution graph.
void reset_ir_frame(ir_frame_t* frame, const struct graph* execution);

// Sets type, shape and data of the value from `tensor`. If the tensor owns its data, the value
// takes it over, else copies it.
int take_ir_value(ir_frame_value_t* value, struct tensor* tensor);

TENGINE_EXTERN_C_END
