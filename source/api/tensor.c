// SPDX-License-Identifier: Apache-2.0
// C API, group Tensors: shape, type, data, quantisation.
#include <limits.h>
#include <string.h>

#include "api/check.h"
#include "graph/complex.h"
#include "graph/graph.h"
#include "graph/sequence.h"
#include "graph/shared_model.h"
#include "graph/state.h"
#include "tengine/graph.h"

tensor_t create_graph_tensor(graph_t graph, const char* tensor_name, int data_type)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(tensor_name, __func__, "tensor_name") < 0 ||
        check_idle(target, __func__) < 0)
        return api_pointer(NULL);
    if (get_ir_tensor_index_from_name(target->graph, tensor_name) >= 0) {
        tengine_error_set(TENGINE_EEXIST, "%s: tensor '%s' already exists", __func__, tensor_name);
        return api_pointer(NULL);
    }
    if (data_type == TENGINE_DT_UNKNOWN) {
        tengine_error_set(TENGINE_EDTYPE, "%s: tensor '%s': invalid data type %d", __func__,
                          tensor_name, data_type);
        return NULL;
    }
    struct tensor* tensor = create_ir_tensor(target->graph, tensor_name, data_type);
    if (!tensor) return api_pointer(NULL);
    end_change(target, TENGINE_OK);
    return api_pointer(give_tensor(tensor, target));
}

tensor_t get_graph_tensor(graph_t graph, const char* tensor_name)
{
    api_graph_t* target = find_graph(graph, __func__);
    if (!target || check_name(tensor_name, __func__, "tensor_name") < 0) return api_pointer(NULL);
    const int index = get_ir_tensor_index_from_name(target->graph, tensor_name);
    if (index < 0) {
        tengine_error_set(TENGINE_ENOENT, "%s: the graph has no tensor '%s'", __func__,
                          tensor_name);
        return api_pointer(NULL);
    }
    return api_pointer(give_tensor(get_ir_graph_tensor(target->graph, index), target));
}

const char* get_tensor_name(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_pointer(NULL) : target->name;
}

void release_graph_tensor(tensor_t tensor)
{
    (void)tensor;
}

static bool is_fed(const struct tensor* tensor)
{
    return tensor->tensor_type == TENSOR_TYPE_INPUT || tensor->tensor_type == TENSOR_TYPE_CONST;
}

int get_tensor_shape(tensor_t tensor, int dims[], int dim_number)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    if (!target || check_pointer(dims, __func__, "dims") < 0) return api_failure();
    if (dim_number < target->dim_num)
        return api_result(tengine_error_set(
            TENGINE_ERANGE, "%s: tensor '%s': the buffer has room for %d dimensions, expected %d",
            __func__, target->name, dim_number, target->dim_num));
    memcpy(dims, target->dims, sizeof *dims * target->dim_num);
    return target->dim_num;
}

static int check_shape(const struct tensor* tensor, const char* function, const int dims[],
                       int dim_number)
{
    if (dim_number < 0 || dim_number > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ERANGE, "%s: tensor '%s': %d dimensions, expected 0 to %d",
                                 function, tensor->name, dim_number, MAX_SHAPE_DIM_NUM);
    if (dim_number > 0) TENGINE_RETURN_IF_ERROR(check_pointer(dims, function, "dims"));
    for (int i = 0; i < dim_number; ++i)
        if (dims[i] < 0)
            return tengine_error_set(TENGINE_ERANGE,
                                     "%s: tensor '%s': dimension %d is %d, expected 0 or more",
                                     function, tensor->name, i, dims[i]);
    return TENGINE_OK;
}

// The library has its own format for the bytes of sequences.
static int check_is_tensor(const struct tensor* tensor, const char* function)
{
    if (get_ir_container(tensor->data_type) == 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EDTYPE, "%s: '%s' is %s: use tengine_sequence_set", function,
                             tensor->name, get_data_type_name(tensor->data_type));
}

// The library owns the pointers of strings, too.
static int check_is_readable(const struct tensor* tensor, const char* function)
{
    if (tensor->data_type != TENGINE_DT_STRING) return TENGINE_OK;
    return tengine_error_set(TENGINE_EDTYPE,
                             "%s: '%s' is of strings: use tengine_string_set and "
                             "tengine_string_get",
                             function, tensor->name);
}

static int check_is_plain(const struct tensor* tensor, const char* function)
{
    TENGINE_RETURN_IF_ERROR(check_is_tensor(tensor, function));
    return check_is_readable(tensor, function);
}

static bool has_shape(const struct tensor* tensor, const int dims[], int dim_number)
{
    return tensor->shape_set && tensor->dim_num == dim_number &&
           (dim_number == 0 || memcmp(tensor->dims, dims, sizeof *dims * (size_t)dim_number) == 0);
}

int set_tensor_shape(tensor_t tensor, const int dims[], int dim_number)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_is_tensor(target, __func__) < 0 ||
        check_shape(target, __func__, dims, dim_number) < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    if (has_shape(target, dims, dim_number)) return 0;
    const size_t old_bytes = get_ir_tensor_bytes(target);
    const int status = set_ir_tensor_shape(target, dims, dim_number);
    if (status == TENGINE_OK) {
        target->reshaped = 1;
        if (get_ir_tensor_bytes(target) != old_bytes) release_ir_tensor_data(target);
    }
    if (target->tensor_type == TENSOR_TYPE_INPUT) return end_reshape(owner, status);
    return end_change(owner, status);
}

int64_t tengine_tensor_get_buffer_size(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_failure() : (int64_t)get_ir_tensor_bytes(target);
}

int get_tensor_buffer_size(tensor_t tensor)
{
    const int64_t bytes = tengine_tensor_get_buffer_size(tensor);
    if (bytes <= INT_MAX) return (int)bytes;
    return api_result(tengine_error_set(TENGINE_ERANGE, "%s: tensor '%s' has %lld bytes", __func__,
                                        get_tensor_name(tensor), (long long)bytes));
}

// ---- data ----

static int fail_without_data(const api_graph_t* owner, const struct tensor* tensor,
                             const char* function)
{
    const char* reason = "it is not an input, constant or output, so its memory is shared";
    if (is_fed(tensor))
        reason = "none was set";
    else if (is_ir_graph_output(owner->graph, tensor->index))
        reason = "call prerun_graph first";
    return tengine_error_set(TENGINE_ESTATE, "%s: tensor '%s' has no data: %s", function,
                             tensor->name, reason);
}

void* get_tensor_buffer(tensor_t tensor)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_is_readable(target, __func__) < 0) return api_pointer(NULL);
    if (!target->data) fail_without_data(owner, target, __func__);
    if (target->tensor_type == TENSOR_TYPE_CONST) {
        if (own_ir_constant(owner->graph, target) < 0 ||
            align_ir_constant(owner->graph, target) < 0)
            return api_pointer(NULL);
        target->core->lent = true;
    }
    return api_pointer(target->data);
}

// Sizes are signed below, so that a negative one keeps its value in messages.
static int check_buffer(const api_graph_t* owner, const struct tensor* tensor, const char* function,
                        const void* buffer, int64_t size)
{
    const size_t needed = !buffer ? 0 : get_ir_tensor_bytes(tensor);
    if (is_ir_state(owner->graph, tensor))
        return tengine_error_set(
            TENGINE_EINVAL,
            "%s: tensor '%s' is a state, whose memory is the graph's: copy its "
            "value with set_tensor_data",
            function, tensor->name);
    if (!is_fed(tensor) && !is_ir_graph_output(owner->graph, tensor->index))
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: tensor '%s' is not an input, constant or output", function,
                                 tensor->name);
    if (buffer) TENGINE_RETURN_IF_ERROR(check_shape_known(tensor, function));
    if (size < 0 || (size_t)size != needed)
        return add_declared_shape(
            tensor, tengine_error_set(TENGINE_EINVAL, "%s: tensor '%s': %lld bytes, expected %zu",
                                      function, tensor->name, (long long)size, needed));
    const int alignment = get_ir_alignment(tensor->elem_size);
    if ((uintptr_t)buffer % (unsigned)alignment != 0)
        return tengine_error_set(TENGINE_EINVAL,
                                 "%s: tensor '%s': address %p is not a multiple of %d bytes",
                                 function, tensor->name, buffer, alignment);
    return TENGINE_OK;
}

// The preparation stays valid when an input gets other data or an output another buffer. The data
// of a constant, however, are part of the plan, and an output that loses its buffer needs planned
// memory.
static int end_data_change(api_graph_t* owner, const struct tensor* tensor)
{
    const bool fits = tensor->tensor_type == TENSOR_TYPE_INPUT ||
                      (tensor->tensor_type == TENSOR_TYPE_VAR && tensor->data);
    return fits ? 0 : end_change(owner, TENGINE_OK);
}

static int set_buffer(tensor_t tensor, void* buffer, int64_t size, const char* function)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, function, &owner);
    if (!target || check_is_plain(target, function) < 0 ||
        check_buffer(owner, target, function, buffer, size) < 0 ||
        (!buffer ? check_idle(owner, function) : check_data_idle(owner, target, function)) < 0)
        return api_failure();
    set_ir_tensor_data(target, buffer, false);
    target->core->lent = target->tensor_type == TENSOR_TYPE_CONST;
    return end_data_change(owner, target);
}

int set_tensor_buffer(tensor_t tensor, void* buffer, int buffer_size)
{
    return set_buffer(tensor, buffer, buffer_size, __func__);
}

int tengine_tensor_set_buffer(tensor_t tensor, void* buffer, size_t buffer_size)
{
    return set_buffer(tensor, buffer, (int64_t)buffer_size, __func__);
}

static int get_data(tensor_t tensor, void* output_data, int64_t size, const char* function)
{
    api_graph_t* owner = NULL;
    const struct tensor* target = find_tensor(tensor, function, &owner);
    if (!target || check_is_readable(target, function) < 0 ||
        check_pointer(output_data, function, "output_data") < 0)
        return api_failure();
    if (!target->data) return api_result(fail_without_data(owner, target, function));
    const size_t bytes = get_ir_tensor_bytes(target);
    if (size < 0 || (size_t)size < bytes)
        return api_result(tengine_error_set(
            TENGINE_ERANGE, "%s: tensor '%s': the buffer has %lld bytes, expected at least %zu",
            function, target->name, (long long)size, bytes));
    memcpy(output_data, target->data, bytes);
    return 0;
}

int get_tensor_data(tensor_t tensor, void* output_data, int data_size)
{
    return get_data(tensor, output_data, data_size, __func__);
}

int tengine_tensor_get_data(tensor_t tensor, void* output_data, size_t data_size)
{
    return get_data(tensor, output_data, (int64_t)data_size, __func__);
}

static int check_new_data(const struct tensor* tensor, const char* function, const void* data,
                          int64_t size)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(data, function, "input_data"));
    if (!is_fed(tensor))
        return tengine_error_set(TENGINE_EINVAL, "%s: tensor '%s' is not an input or constant",
                                 function, tensor->name);
    TENGINE_RETURN_IF_ERROR(check_shape_known(tensor, function));
    if (size < 0 || (size_t)size > get_ir_tensor_bytes(tensor))
        return add_declared_shape(
            tensor, tengine_error_set(TENGINE_ERANGE,
                                      "%s: tensor '%s': %lld bytes, expected 0 to %zu", function,
                                      tensor->name, (long long)size, get_ir_tensor_bytes(tensor)));
    return TENGINE_OK;
}

static int set_data(tensor_t tensor, const void* input_data, int64_t size, const char* function)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, function, &owner);
    if (!target || check_is_plain(target, function) < 0 ||
        check_data_idle(owner, target, function) < 0 ||
        (is_ir_state(owner->graph, target) && check_ir_states_idle(owner->graph) < 0) ||
        check_new_data(target, function, input_data, size) < 0 ||
        own_ir_constant(owner->graph, target) < 0 ||
        (!target->data && allocate_ir_tensor(target) < 0))
        return api_failure();
    target->core->is_file = false;
    memcpy(target->data, input_data, (size_t)size);
    if (is_ir_state(owner->graph, target)) set_ir_state(owner->graph, target);
    return end_data_change(owner, target);
}

int set_tensor_data(tensor_t tensor, const void* input_data, int data_size)
{
    return set_data(tensor, input_data, data_size, __func__);
}

int tengine_tensor_set_data(tensor_t tensor, const void* input_data, size_t data_size)
{
    return set_data(tensor, input_data, (int64_t)data_size, __func__);
}

// ---- type, layout, quantisation ----

int get_tensor_data_type(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_failure() : target->data_type;
}

int set_tensor_data_type(tensor_t tensor, int data_type)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_idle(owner, __func__) < 0) return api_failure();
    if (data_type == target->data_type) return 0;
    const int old_type = target->data_type;
    const int status = set_ir_tensor_data_type(target, data_type);
    const bool is_string = data_type == TENGINE_DT_STRING || old_type == TENGINE_DT_STRING;
    if (status == TENGINE_OK &&
        (is_string || get_data_type_bits(data_type) != get_data_type_bits(old_type)))
        release_ir_tensor_data(target);
    return end_change(owner, status);
}

int get_tensor_layout(tensor_t tensor)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    return !target ? api_failure() : target->layout;
}

int set_tensor_layout(tensor_t tensor, int layout)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_layout(layout, __func__) < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    target->layout = (uint8_t)layout;
    return end_change(owner, TENGINE_OK);
}

int set_tensor_quant_param(tensor_t tensor, const float* scale, const int* zero_point, int number)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_pointer(scale, __func__, "scale") < 0 ||
        check_pointer(zero_point, __func__, "zero_point") < 0 || check_idle(owner, __func__) < 0)
        return api_failure();
    if (number < 1)
        return api_result(tengine_error_set(TENGINE_EINVAL,
                                            "%s: tensor '%s': %d scales, expected 1 or more",
                                            __func__, target->name, number));
    return end_change(owner,
                      set_ir_tensor_quantization_parameter(target, scale, zero_point, number));
}

int get_tensor_quant_param(tensor_t tensor, float* scale, int* zero_point, int number)
{
    const struct tensor* target = find_tensor(tensor, __func__, NULL);
    if (!target) return api_failure();
    if (target->quant_param_num > 0 && (check_pointer(scale, __func__, "scale") < 0 ||
                                        check_pointer(zero_point, __func__, "zero_point") < 0))
        return api_failure();
    return api_result(get_ir_tensor_quantization_parameter(target, scale, zero_point, number));
}
