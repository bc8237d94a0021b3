// SPDX-License-Identifier: Apache-2.0
#include "scheduler/border.h"

#include <string.h>

#include "graph/graph.h"

static void fill_borders(ir_border_t* borders, bool isolated, const struct graph* graph,
                         const int32_t* tensors, int number)
{
    for (int i = 0; i < number; ++i) {
        struct tensor* tensor = graph->tensor_list[tensors[i]];
        borders[i] = (ir_border_t){
            .tensor = tensor,
            .dynamic = !is_ir_tensor_shape_known(tensor),
            .copied = isolated || tensor->data,
            .bytes = get_ir_tensor_bytes(tensor),
        };
    }
}

void set_ir_borders(const struct subgraph* compiled, bool isolated, ir_border_t* out_borders)
{
    fill_borders(out_borders, isolated, compiled->graph, compiled->input_tensor_list,
                 compiled->input_num);
    fill_borders(out_borders + compiled->input_num, isolated, compiled->graph,
                 compiled->output_tensor_list, compiled->output_num);
}

static int put_value(const ir_border_t* border, const ir_frame_value_t* value)
{
    struct tensor* tensor = border->tensor;
    if (border->dynamic) {
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(tensor, value->data_type));
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, value->dims, value->dim_num));
    }
    if (!border->copied) {
        set_ir_tensor_data(tensor, value->data, false);
        return TENGINE_OK;
    }
    if (border->dynamic) TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    if (tensor->elem_num > 0) memcpy(tensor->data, value->data, get_ir_tensor_bytes(tensor));
    return TENGINE_OK;
}

int put_ir_values(const struct subgraph* compiled, const ir_border_t* borders,
                  const ir_frame_t* frame)
{
    const ir_border_t* border = borders;
    for (int i = 0; i < compiled->input_num; ++i, ++border)
        TENGINE_RETURN_IF_ERROR(
            put_value(border, &frame->values[border->tensor->core->source_index]));
    for (int i = 0; i < compiled->output_num; ++i, ++border)
        if (!border->dynamic && !border->copied)
            set_ir_tensor_data(border->tensor,
                               frame->values[border->tensor->core->source_index].data, false);
    return TENGINE_OK;
}

static int take_value(const ir_border_t* border, ir_frame_value_t* value)
{
    struct tensor* tensor = border->tensor;
    if (!is_ir_tensor_shape_known(tensor) || (!tensor->data && tensor->elem_num > 0))
        return tengine_error_set(TENGINE_EDEVICE, "output '%s' has no shape or data", tensor->name);
    if (border->dynamic) return take_ir_value(value, tensor);
    if (get_ir_tensor_bytes(tensor) != border->bytes)
        return tengine_error_set(TENGINE_EDEVICE, "output '%s' has %zu bytes, expected %zu",
                                 tensor->name, get_ir_tensor_bytes(tensor), border->bytes);
    if (tensor->data != value->data && border->bytes > 0)
        memcpy(value->data, tensor->data, border->bytes);
    return TENGINE_OK;
}

int take_ir_values(const struct subgraph* compiled, const ir_border_t* borders, ir_frame_t* frame)
{
    const ir_border_t* border = borders + compiled->input_num;
    for (int i = 0; i < compiled->output_num; ++i, ++border)
        TENGINE_RETURN_IF_ERROR(
            take_value(border, &frame->values[border->tensor->core->source_index]));
    return TENGINE_OK;
}
