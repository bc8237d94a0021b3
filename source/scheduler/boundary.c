// SPDX-License-Identifier: Apache-2.0
#include "scheduler/boundary.h"

#include <string.h>

#include "graph/graph.h"

static void fill_boundaries(ir_boundary_t* boundaries, bool isolated, const struct graph* graph,
                            const int32_t* tensors, int number)
{
    for (int i = 0; i < number; ++i) {
        struct tensor* tensor = graph->tensor_list[tensors[i]];
        boundaries[i] = (ir_boundary_t){
            .tensor = tensor,
            .dynamic = !is_ir_tensor_shape_known(tensor),
            .copied = isolated || tensor->data,
            .bytes = get_ir_tensor_bytes(tensor),
        };
    }
}

void set_ir_boundaries(const struct subgraph* compiled, bool isolated,
                       ir_boundary_t* out_boundaries)
{
    fill_boundaries(out_boundaries, isolated, compiled->graph, compiled->input_tensor_list,
                    compiled->input_num);
    fill_boundaries(out_boundaries + compiled->input_num, isolated, compiled->graph,
                    compiled->output_tensor_list, compiled->output_num);
}

static int put_value(const ir_boundary_t* boundary, const ir_frame_value_t* value)
{
    struct tensor* tensor = boundary->tensor;
    if (boundary->dynamic) {
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(tensor, value->data_type));
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, value->dims, value->dim_num));
    }
    if (!boundary->copied) {
        set_ir_tensor_data(tensor, value->data, false);
        return TENGINE_OK;
    }
    if (boundary->dynamic) TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    if (tensor->elem_num > 0) memcpy(tensor->data, value->data, get_ir_tensor_bytes(tensor));
    return TENGINE_OK;
}

int put_ir_values(const struct subgraph* compiled, const ir_boundary_t* boundaries,
                  const ir_frame_t* frame)
{
    const ir_boundary_t* boundary = boundaries;
    for (int i = 0; i < compiled->input_num; ++i, ++boundary)
        TENGINE_RETURN_IF_ERROR(
            put_value(boundary, &frame->values[boundary->tensor->core->source_index]));
    for (int i = 0; i < compiled->output_num; ++i, ++boundary)
        if (!boundary->dynamic && !boundary->copied)
            set_ir_tensor_data(boundary->tensor,
                               frame->values[boundary->tensor->core->source_index].data, false);
    return TENGINE_OK;
}

static int take_value(const ir_boundary_t* boundary, ir_frame_value_t* value)
{
    struct tensor* tensor = boundary->tensor;
    if (!is_ir_tensor_shape_known(tensor) || (!tensor->data && tensor->elem_num > 0))
        return tengine_error_set(TENGINE_EDEVICE, "output '%s' has no shape or data", tensor->name);
    if (boundary->dynamic) return take_ir_value(value, tensor);
    if (get_ir_tensor_bytes(tensor) != boundary->bytes)
        return tengine_error_set(TENGINE_EDEVICE, "output '%s' has %zu bytes, expected %zu",
                                 tensor->name, get_ir_tensor_bytes(tensor), boundary->bytes);
    if (tensor->data != value->data && boundary->bytes > 0)
        memcpy(value->data, tensor->data, boundary->bytes);
    return TENGINE_OK;
}

int take_ir_values(const struct subgraph* compiled, const ir_boundary_t* boundaries,
                   ir_frame_t* frame)
{
    const ir_boundary_t* boundary = boundaries + compiled->input_num;
    for (int i = 0; i < compiled->output_num; ++i, ++boundary)
        TENGINE_RETURN_IF_ERROR(
            take_value(boundary, &frame->values[boundary->tensor->core->source_index]));
    return TENGINE_OK;
}
