// SPDX-License-Identifier: Apache-2.0
#include "scheduler/frame.h"

#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"

static void copy_shape(ir_frame_value_t* value, const struct tensor* tensor)
{
    value->data_type = tensor->data_type;
    value->dim_num = tensor->dim_num;
    value->shape_set = tensor->shape_set;
    memcpy(value->dims, tensor->dims, sizeof value->dims);
}

// A planned tensor has the same offset in the frame's memory as in the plan; constants are shared.
static void place_values(ir_frame_t* frame, const struct graph* execution)
{
    for (int i = 0; i < frame->value_num; ++i) {
        const struct tensor* tensor = execution->tensor_list[i];
        ir_frame_value_t* value = &frame->values[i];
        copy_shape(value, tensor);
        value->home = tensor->data;
        if (frame->memory && tensor->producer >= 0 && tensor->data) {
            const ptrdiff_t offset = (char*)tensor->data - (char*)execution->core->plan;
            value->home = (char*)frame->memory + offset;
        }
        value->data = value->home;
    }
}

// Computes the offsets of the copies of inputs, and the size of a frame's memory.
static int measure_memory(const struct graph* execution, size_t* out_bytes)
{
    size_t bytes = 0;
    bool fits = checked_align(execution->core->plan_bytes, ALLOC_ALIGNMENT, &bytes);
    for (int i = 0; fits && i < execution->input_tensor_num; ++i) {
        const struct tensor* input = execution->tensor_list[execution->input_tensors[i]];
        fits = checked_add(bytes, get_ir_tensor_bytes(input), &bytes) &&
               checked_align(bytes, ALLOC_ALIGNMENT, &bytes);
    }
    *out_bytes = bytes;
    return fits ? TENGINE_OK
                : tengine_error_set(TENGINE_ELIMIT,
                                    "the memory of a run is larger than the address space");
}

static void place_inputs(ir_frame_t* frame, const struct graph* execution)
{
    size_t offset = execution->core->plan_bytes;
    for (int i = 0; i < execution->input_tensor_num; ++i) {
        const struct tensor* input = execution->tensor_list[execution->input_tensors[i]];
        checked_align(offset, ALLOC_ALIGNMENT, &offset);
        ir_frame_value_t* value = &frame->values[input->index];
        value->home = value->data = (char*)frame->memory + offset;
        offset += get_ir_tensor_bytes(input);
    }
}

int create_ir_frame(const struct graph* execution, bool own_memory, ir_frame_t* out_frame)
{
    size_t bytes;
    ir_frame_t frame = {.value_num = execution->tensor_num};
    TENGINE_RETURN_IF_ERROR(measure_memory(execution, &bytes));
    frame.values = alloc_memory(sizeof *frame.values * (size_t)frame.value_num);
    if (own_memory) frame.memory = alloc_memory(bytes);
    if (!frame.values || (own_memory && !frame.memory)) {
        release_ir_frame(&frame);
        return tengine_error_set(TENGINE_ENOMEM, "out of memory for a run of %zu bytes", bytes);
    }
    if (own_memory) frame.memory_bytes = bytes;
    place_values(&frame, execution);
    if (own_memory) place_inputs(&frame, execution);
    *out_frame = frame;
    return TENGINE_OK;
}

static void release_value(ir_frame_value_t* value)
{
    if (!value->owned) return;
    free_memory(value->data);
    value->data = value->home;
    value->owned = false;
}

void clear_ir_frame(ir_frame_t* frame)
{
    for (int i = 0; i < frame->value_num; ++i)
        release_value(&frame->values[i]);
}

void reset_ir_frame(ir_frame_t* frame, const struct graph* execution)
{
    clear_ir_frame(frame);
    place_values(frame, execution);
    if (frame->memory) place_inputs(frame, execution);
}

void release_ir_frame(ir_frame_t* frame)
{
    if (frame->values) clear_ir_frame(frame);
    free_memory(frame->values);
    free_memory(frame->memory);
    *frame = (ir_frame_t){0};
}

int take_ir_value(ir_frame_value_t* value, struct tensor* tensor)
{
    const size_t bytes = get_ir_tensor_bytes(tensor);
    void* data = tensor->data;
    if (tensor->free_host_mem) {
        tensor->data = NULL;
        tensor->free_host_mem = 0;
    } else {
        data = alloc_memory(bytes);
        if (!data)
            return tengine_error_set(TENGINE_ENOMEM, "tensor '%s': out of memory for %zu bytes",
                                     tensor->name, bytes);
        if (bytes > 0) memcpy(data, tensor->data, bytes);
    }
    release_value(value);
    copy_shape(value, tensor);
    value->data = data;
    value->owned = true;
    return TENGINE_OK;
}
