// SPDX-License-Identifier: Apache-2.0
#include "scheduler/exchange.h"

#include <string.h>

#include "graph/graph.h"
#include "graph/state.h"
#include "scheduler/bucket.h"
#include "scheduler/shape_cache.h"
#include "tengine/log.h"

bool has_same_ir_shape(const struct tensor* a, const struct tensor* b)
{
    return a->shape_set == b->shape_set && a->dim_num == b->dim_num &&
           memcmp(a->dims, b->dims, sizeof(int) * a->dim_num) == 0;
}

bool is_ir_user_memory(const struct tensor* tensor)
{
    return tensor->data && !tensor->internal_allocated;
}

// Whether a part writes the tensor to memory that was planned for it.
static bool is_planned(const struct tensor* tensor)
{
    return tensor->producer >= 0 && is_ir_tensor_shape_known(tensor);
}

// Whether a quantised tensor of the model stays quantised although its value in the run is float,
// as before a clamp.
static bool is_quantised_still(const struct tensor* source, int data_type)
{
    const int type = source->data_type;
    return source->quant_param_num > 0 && data_type == TENGINE_DT_FP32 &&
           (type == TENGINE_DT_INT8 || type == TENGINE_DT_UINT8 || type == TENGINE_DT_INT16);
}

// Sets the type and the shape of the source tensor. A buffer that the user gave for another size is
// dropped, and a state's is replaced later.
static int publish_shape(struct tensor* source, const ir_frame_value_t* value, bool is_state)
{
    if (source->tensor_type != TENSOR_TYPE_VAR) return TENGINE_OK;
    const size_t old_bytes = get_ir_tensor_bytes(source);
    if (value->data_type != TENGINE_DT_UNKNOWN && !is_quantised_still(source, value->data_type))
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_data_type(source, value->data_type));
    if (value->shape_set)
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(source, value->dims, value->dim_num));
    else
        source->shape_set = 0;
    if (is_ir_user_memory(source) && get_ir_tensor_bytes(source) != old_bytes) {
        if (!is_state)
            TLOG_WARNING("tensor '%s' now has %zu bytes: its buffer of %zu bytes is no longer used",
                         source->name, get_ir_tensor_bytes(source), old_bytes);
        release_ir_tensor_data(source);
    }
    return TENGINE_OK;
}

static int publish_settled_shapes(struct graph* source, const struct vector* shapes)
{
    for (int i = 0; i < get_vector_num(shapes); ++i) {
        const ir_settled_shape_t* settled = get_vector_data(shapes, i);
        struct tensor* tensor = source->tensor_list[settled->source_index];
        if (tensor->tensor_type != TENSOR_TYPE_VAR || is_ir_user_memory(tensor)) continue;
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, settled->dims, settled->dim_num));
    }
    return TENGINE_OK;
}

static void publish_data(struct tensor* source, void* data)
{
    if (source->tensor_type != TENSOR_TYPE_VAR || is_ir_user_memory(source)) return;
    source->data = data;
    source->internal_allocated = data != NULL;
}

static const struct tensor* output_of(const struct graph* execution, int index)
{
    return execution->tensor_list[execution->output_tensors[index]];
}

// The shapes of a request in a bucket are smaller than those of the preparation.
static int publish_request(struct graph* source, const ir_request_t* request)
{
    for (int i = 0; i < get_vector_num(request->shapes); ++i) {
        const ir_request_shape_t* shape = get_vector_data(request->shapes, i);
        struct tensor* tensor = source->tensor_list[shape->source_index];
        TENGINE_RETURN_IF_ERROR(publish_shape(tensor, &shape->value, is_ir_state(source, tensor)));
    }
    return TENGINE_OK;
}

int publish_ir_shapes(struct graph* source, const struct graph* execution, const ir_frame_t* frame)
{
    const ir_request_t* request = get_ir_present_request(get_ir_buckets(source));
    if (request) return publish_request(source, request);
    TENGINE_RETURN_IF_ERROR(publish_settled_shapes(source, execution->core->settled_shapes));
    for (int i = 0; i < execution->tensor_num; ++i) {
        const int index = execution->tensor_list[i]->core->source_index;
        if (index >= 0)
            TENGINE_RETURN_IF_ERROR(publish_shape(source->tensor_list[index], &frame->values[i],
                                                  is_ir_state(source, source->tensor_list[index])));
    }
    return TENGINE_OK;
}

void show_ir_outputs(struct graph* source, const struct graph* execution, const ir_frame_t* frame)
{
    for (int i = 0; i < execution->output_tensor_num; ++i) {
        void* cut = get_ir_cut_output(get_ir_buckets(source), i);
        publish_data(source->tensor_list[source->output_tensors[i]],
                     cut ? cut : frame->values[output_of(execution, i)->index].home);
    }
}

// Whether an input has the shape for which the graph is prepared, or that of the request in a
// bucket.
static bool has_prepared_shape(const struct graph* source, const struct tensor* input, int index)
{
    const struct tensor* given = source->tensor_list[source->input_tensors[index]];
    const ir_request_t* request = get_ir_present_request(get_ir_buckets(source));
    if (given->data_type != input->data_type) return false;
    if (!request) return has_same_ir_shape(given, input);
    const ir_request_shape_t* shape = get_vector_data(request->inputs, index);
    return given->shape_set && given->dim_num == shape->value.dim_num &&
           memcmp(given->dims, shape->value.dims, sizeof(int) * given->dim_num) == 0;
}

// Gives the frame an input, in place or as a copy. `padded`: the memory of an input in a bucket.
static void place_input(const struct tensor* given, const struct tensor* input, void* padded,
                        ir_frame_t* frame)
{
    ir_frame_value_t* value = &frame->values[input->index];
    if (padded) {
        if (!frame->memory) value->data = padded;
        pad_ir_input(given, input, value->data);
    } else if (!frame->memory) {
        value->data = given->data;
    } else if (given->elem_num > 0) {
        memcpy(value->data, given->data, get_ir_tensor_bytes(given));
    }
}

static int bind_input(const struct graph* source, const struct graph* execution, int index,
                      ir_frame_t* frame)
{
    const struct tensor* given = source->tensor_list[source->input_tensors[index]];
    const struct tensor* input = execution->tensor_list[execution->input_tensors[index]];
    if (!has_prepared_shape(source, input, index))
        return tengine_error_set(
            TENGINE_ESTATE,
            "input '%s' has changed its shape or type since prerun; call prerun_graph again",
            given->name);
    if (!given->data && given->elem_num > 0)
        return tengine_error_set(
            TENGINE_EINVAL,
            "input '%s' has no data; set %zu bytes with set_tensor_buffer or set_tensor_data",
            given->name, get_ir_tensor_bytes(given));
    place_input(given, input, get_ir_padded_input(get_ir_buckets(source), index), frame);
    return TENGINE_OK;
}

int bind_ir_inputs(const struct graph* source, const struct graph* execution, ir_frame_t* frame)
{
    for (int i = 0; i < source->input_tensor_num; ++i)
        TENGINE_RETURN_IF_ERROR(bind_input(source, execution, i, frame));
    return TENGINE_OK;
}

void bind_ir_outputs(const struct graph* source, const struct graph* execution, ir_frame_t* frame)
{
    if (frame->memory) return;
    for (int i = 0; i < source->output_tensor_num; ++i) {
        const struct tensor* output = output_of(execution, i);
        ir_frame_value_t* value = &frame->values[output->index];
        if (is_planned(output)) value->data = value->home;
    }
    for (int i = 0; i < source->output_tensor_num; ++i) {
        const struct tensor* wanted = source->tensor_list[source->output_tensors[i]];
        const struct tensor* output = output_of(execution, i);
        const bool is_cut = get_ir_cut_output(get_ir_buckets(source), i) != NULL;
        if (is_planned(output) && is_ir_user_memory(wanted) && !is_cut)
            frame->values[output->index].data = wanted->data;
    }
}

// Several outputs may be one tensor of the execution graph, and an output may be an input or a
// constant, so that the result may be in other memory than the user's buffer.
static int collect(struct tensor* wanted, const struct tensor* output,
                   const ir_frame_value_t* value, void* cut)
{
    if (wanted->tensor_type != TENSOR_TYPE_VAR) return TENGINE_OK;
    if (cut) {
        publish_data(wanted, cut);
        cut_ir_output(output, value->data, wanted, wanted->data);
        return TENGINE_OK;
    }
    if (!is_ir_tensor_shape_known(output))
        TENGINE_RETURN_IF_ERROR(publish_shape(wanted, value, false));
    publish_data(wanted, is_planned(output) ? value->home : value->data);
    if (wanted->data != value->data && wanted->elem_num > 0)
        memcpy(wanted->data, value->data, get_ir_tensor_bytes(wanted));
    return TENGINE_OK;
}

int collect_ir_outputs(struct graph* source, const struct graph* execution, const ir_frame_t* frame)
{
    for (int i = 0; i < source->output_tensor_num; ++i) {
        const struct tensor* output = output_of(execution, i);
        TENGINE_RETURN_IF_ERROR(collect(source->tensor_list[source->output_tensors[i]], output,
                                        &frame->values[output->index],
                                        get_ir_cut_output(get_ir_buckets(source), i)));
    }
    return TENGINE_OK;
}

void withdraw_ir_outputs(struct graph* source, const int32_t outputs[], int number)
{
    for (int i = 0; i < number; ++i) {
        struct tensor* tensor = source->tensor_list[outputs[i]];
        if (tensor->internal_allocated) release_ir_tensor_data(tensor);
    }
}
