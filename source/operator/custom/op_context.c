// SPDX-License-Identifier: Apache-2.0
// The functions that custom operators' callbacks call (tengine/custom_op.h). Messages have no names
// of operator and node, which the caller adds.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/preparation.h"
#include "graph/run_state.h"
#include "operator/custom/attribute_map.h"
#include "operator/custom/op_node.h"
#include "operator/param.h"

// ---- in all callbacks ----

const char* tengine_op_type(const tengine_op_context_t* context)
{
    return context ? context->op->full_name : "";
}

const char* tengine_op_node_name(const tengine_op_context_t* context)
{
    return context ? context->kernel.node->name : "";
}

int tengine_op_version(const tengine_op_context_t* context)
{
    if (!context) return 0;
    const struct node* source = context->kernel.node;
    return is_open_node(source) ? (int)get_ir_node_int(source, "domain_version", 0)
                                : source->op.version;
}

void* tengine_op_state(const tengine_op_context_t* context)
{
    return context ? context->state : NULL;
}

int64_t tengine_op_int(const tengine_op_context_t* context, const char* name, int64_t otherwise)
{
    return context && name ? get_ir_node_int(context->kernel.node, name, otherwise) : otherwise;
}

float tengine_op_float(const tengine_op_context_t* context, const char* name, float otherwise)
{
    return context && name ? get_ir_node_float(context->kernel.node, name, otherwise) : otherwise;
}

const char* tengine_op_text(const tengine_op_context_t* context, const char* name,
                            const char* otherwise)
{
    return context && name ? get_ir_node_text(context->kernel.node, name, otherwise) : otherwise;
}

const int64_t* tengine_op_ints(const tengine_op_context_t* context, const char* name, int* out_num)
{
    int number = 0;
    const int64_t* values =
        context && name ? get_ir_node_ints(context->kernel.node, name, &number) : NULL;
    if (out_num) *out_num = number;
    return values;
}

const float* tengine_op_floats(const tengine_op_context_t* context, const char* name, int* out_num)
{
    int number = 0;
    const float* values =
        context && name ? get_ir_node_floats(context->kernel.node, name, &number) : NULL;
    if (out_num) *out_num = number;
    return values;
}

static const struct op_strings* find_texts(const struct node* node, const char* name)
{
    const op_field_t* field = find_op_field(node->op.method, name, node->op.version);
    if (!field || field->kind != OP_FIELD_STRINGS) return NULL;
    return (const struct op_strings*)((const char*)node->op.param_mem + field->offset);
}

const char* const* tengine_op_texts(const tengine_op_context_t* context, const char* name,
                                    int* out_num)
{
    const struct op_strings* list = context && name ? find_texts(context->kernel.node, name) : NULL;
    if (out_num) *out_num = list ? list->num : 0;
    return list ? (const char* const*)list->values : NULL;
}

const void* tengine_op_attributes(tengine_op_context_t* context, size_t* out_size)
{
    if (out_size) *out_size = 0;
    if (!context || !out_size) {
        tengine_error_set(TENGINE_EINVAL, "%s: %s is NULL", __func__,
                          context ? "out_size" : "context");
        return NULL;
    }
    if (!context->attribute_map && make_attribute_map(context->kernel.node, &context->attribute_map,
                                                      &context->attribute_map_size) < 0)
        return NULL;
    *out_size = context->attribute_map_size;
    return context->attribute_map;
}

int tengine_op_report(tengine_op_context_t* context, int code, const char* format, ...)
{
    char sentence[768];
    va_list arguments;
    (void)context;
    if (!format) return tengine_error_set(TENGINE_EINVAL, "%s: format is NULL", __func__);
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return tengine_error_set(code < 0 ? code : TENGINE_EINVAL, "%s", sentence);
}

// ---- tensors ----

static bool has_tensors(const tengine_op_context_t* context)
{
    return context && (context->call == OP_CALL_PREPARE || context->call == OP_CALL_INVOKE);
}

int tengine_op_input_number(const tengine_op_context_t* context)
{
    return context ? context->node->input_num : 0;
}

int tengine_op_output_number(const tengine_op_context_t* context)
{
    return context ? context->node->output_num : 0;
}

static tengine_op_tensor_t* find_slot(const tengine_op_context_t* context, int first, int number,
                                      int index)
{
    if (!context->tensors || index < 0 || index >= number) return NULL;
    tengine_op_tensor_t* slot = &context->tensors[first + index];
    return slot->tensor ? slot : NULL;
}

const tengine_op_tensor_t* tengine_op_input(const tengine_op_context_t* context, int index)
{
    return has_tensors(context) ? find_slot(context, 0, context->node->input_num, index) : NULL;
}

tengine_op_tensor_t* tengine_op_output(const tengine_op_context_t* context, int index)
{
    return has_tensors(context)
               ? find_slot(context, context->node->input_num, context->node->output_num, index)
               : NULL;
}

const char* tengine_op_tensor_name(const tengine_op_tensor_t* tensor)
{
    return tensor ? tensor->tensor->name : "";
}

int tengine_op_tensor_type(const tengine_op_tensor_t* tensor)
{
    return tensor ? tensor->tensor->data_type : 0;
}

// An output without a size in this preparation may still have that of the last run.
static bool has_shape(const tengine_op_tensor_t* tensor)
{
    return tensor && tensor->tensor->shape_set && (!tensor->is_output || tensor->is_sized);
}

int tengine_op_tensor_rank(const tengine_op_tensor_t* tensor)
{
    if (!tensor) return 0;
    return has_shape(tensor) ? tensor->tensor->dim_num : -1;
}

int tengine_op_tensor_dim(const tengine_op_tensor_t* tensor, int axis)
{
    if (!tensor) return 0;
    if (!has_shape(tensor)) return -1;
    return axis >= 0 && axis < tensor->tensor->dim_num ? tensor->tensor->dims[axis] : 0;
}

int64_t tengine_op_tensor_elements(const tengine_op_tensor_t* tensor)
{
    return has_shape(tensor) ? tensor->tensor->elem_num : 0;
}

size_t tengine_op_tensor_bytes(const tengine_op_tensor_t* tensor)
{
    return has_shape(tensor) ? get_ir_tensor_bytes(tensor->tensor) : 0;
}

int tengine_op_tensor_is_constant(const tengine_op_tensor_t* tensor)
{
    return tensor && tensor->tensor->tensor_type == TENSOR_TYPE_CONST;
}

static void* get_data(const tengine_op_tensor_t* tensor)
{
    if (!tensor) return NULL;
    const bool is_there =
        tensor->context->call == OP_CALL_INVOKE || tengine_op_tensor_is_constant(tensor);
    return is_there && has_shape(tensor) ? tensor->tensor->data : NULL;
}

const void* tengine_op_tensor_data(const tengine_op_tensor_t* tensor)
{
    return get_data(tensor);
}

void* tengine_op_tensor_mutable_data(tengine_op_tensor_t* tensor)
{
    return tensor && tensor->is_output ? get_data(tensor) : NULL;
}

int tengine_op_tensor_scale_number(const tengine_op_tensor_t* tensor)
{
    return tensor ? tensor->tensor->quant_param_num : 0;
}

int tengine_op_tensor_scale_axis(const tengine_op_tensor_t* tensor)
{
    return tensor ? tensor->tensor->quant_axis : 0;
}

float tengine_op_tensor_scale(const tengine_op_tensor_t* tensor, int index)
{
    if (index < 0 || index >= tengine_op_tensor_scale_number(tensor)) return 0;
    return tensor->tensor->quant_param_num == 1 ? tensor->tensor->scale
                                                : tensor->tensor->scale_list[index];
}

int tengine_op_tensor_zero_point(const tengine_op_tensor_t* tensor, int index)
{
    if (index < 0 || index >= tengine_op_tensor_scale_number(tensor)) return 0;
    return tensor->tensor->quant_param_num == 1 ? tensor->tensor->zero_point
                                                : tensor->tensor->zp_list[index];
}

int tengine_op_check_type(tengine_op_context_t* context, const tengine_op_tensor_t* tensor,
                          int data_type)
{
    const char* wanted = get_data_type_name(data_type);
    if (!tensor)
        return tengine_op_report(context, TENGINE_EINVAL,
                                 "the tensor is absent, expected one of %s", wanted);
    if (tengine_op_tensor_type(tensor) == data_type) return TENGINE_OK;
    return tengine_op_report(context, TENGINE_EDTYPE, "'%s' is %s, expected %s",
                             tengine_op_tensor_name(tensor),
                             get_data_type_name(tengine_op_tensor_type(tensor)), wanted);
}

// ---- outputs ----

// *out_slot is NULL for an absent output.
static int find_output(const tengine_op_context_t* context, int index, const char* function,
                       tengine_op_tensor_t** out_slot)
{
    if (!context) return tengine_error_set(TENGINE_EINVAL, "%s: context is NULL", function);
    if (index < 0 || index >= context->node->output_num)
        return tengine_error_set(TENGINE_ERANGE, "%s: output %d, expected 0 to %d", function, index,
                                 context->node->output_num - 1);
    *out_slot = tengine_op_output(context, index);
    return TENGINE_OK;
}

static int require_prepare(const tengine_op_context_t* context, const char* function)
{
    if (context->call == OP_CALL_PREPARE) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "%s: only prepare may call it", function);
}

int tengine_op_set_output_type(tengine_op_context_t* context, int index, int data_type)
{
    tengine_op_tensor_t* slot = NULL;
    TENGINE_RETURN_IF_ERROR(find_output(context, index, __func__, &slot));
    TENGINE_RETURN_IF_ERROR(require_prepare(context, __func__));
    if (!slot) return TENGINE_OK;
    const bool is_fixed = context->is_settled || context->is_running;
    if (!is_fixed) return set_ir_tensor_data_type(slot->tensor, data_type);
    if (slot->tensor->data_type == data_type) return TENGINE_OK;
    return tengine_error_set(
        TENGINE_EDTYPE, "%s: output %d is %s, expected %s as when the graph was prepared", __func__,
        index, get_data_type_name(data_type), get_data_type_name(slot->tensor->data_type));
}

static int check_dims(const int dims[], int rank, const char* function)
{
    if (rank < 0 || rank > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ERANGE, "%s: rank %d, expected 0 to %d", function, rank,
                                 MAX_SHAPE_DIM_NUM);
    if (!dims && rank > 0) return tengine_error_set(TENGINE_EINVAL, "%s: dims is NULL", function);
    for (int i = 0; i < rank; ++i)
        if (dims[i] < 0)
            return tengine_error_set(TENGINE_ERANGE, "%s: dimension %d is %d, expected 0 or more",
                                     function, i, dims[i]);
    return TENGINE_OK;
}

static int keep_size(const tengine_op_tensor_t* slot, int index, const int dims[], int rank)
{
    const struct tensor* tensor = slot->tensor;
    bool is_same = tensor->dim_num == rank;
    for (int i = 0; i < rank && is_same; ++i)
        is_same = tensor->dims[i] == dims[i];
    if (is_same) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE,
                             "output %d has another size than when the graph was prepared for "
                             "these inputs",
                             index);
}

static int set_size(tengine_op_context_t* context, tengine_op_tensor_t* slot, int index,
                    const int dims[], int rank)
{
    const bool is_in_run = context->call == OP_CALL_INVOKE;
    if (is_in_run && !slot->is_dynamic)
        return tengine_error_set(TENGINE_ESTATE,
                                 "output %d is resized in invoke; prepare did not mark it with "
                                 "tengine_op_set_output_dynamic",
                                 index);
    if (context->is_settled && !is_in_run)
        TENGINE_RETURN_IF_ERROR(keep_size(slot, index, dims, rank));
    else
        TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(slot->tensor, dims, rank));
    if (is_in_run) {
        TENGINE_RETURN_IF_ERROR(check_ir_memory(
            context->node->graph, (int64_t)get_ir_tensor_bytes(slot->tensor), context->node->name));
        TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(slot->tensor));
    } else {
        slot->is_dynamic = false;
    }
    slot->is_sized = true;
    return TENGINE_OK;
}

int tengine_op_resize_output(tengine_op_context_t* context, int index, const int dims[], int rank)
{
    tengine_op_tensor_t* slot = NULL;
    TENGINE_RETURN_IF_ERROR(find_output(context, index, __func__, &slot));
    if (!has_tensors(context))
        return tengine_error_set(TENGINE_ESTATE, "%s: only prepare and invoke may call it",
                                 __func__);
    TENGINE_RETURN_IF_ERROR(check_dims(dims, rank, __func__));
    return slot ? set_size(context, slot, index, dims, rank) : TENGINE_OK;
}

int tengine_op_set_output_like(tengine_op_context_t* context, int index,
                               const tengine_op_tensor_t* tensor)
{
    if (!tensor) return tengine_error_set(TENGINE_EINVAL, "%s: tensor is NULL", __func__);
    TENGINE_RETURN_IF_ERROR(
        tengine_op_set_output_type(context, index, tengine_op_tensor_type(tensor)));
    if (!has_shape(tensor))
        return tengine_error_set(TENGINE_EINVAL, "%s: the size of '%s' is not known", __func__,
                                 tengine_op_tensor_name(tensor));
    return tengine_op_resize_output(context, index, tensor->tensor->dims, tensor->tensor->dim_num);
}

int tengine_op_set_output_dynamic(tengine_op_context_t* context, int index)
{
    tengine_op_tensor_t* slot = NULL;
    TENGINE_RETURN_IF_ERROR(find_output(context, index, __func__, &slot));
    TENGINE_RETURN_IF_ERROR(require_prepare(context, __func__));
    if (!slot) return TENGINE_OK;
    slot->is_dynamic = true;
    slot->is_sized = false;
    return TENGINE_OK;
}

// ---- temporaries ----

int tengine_op_request_temporary(tengine_op_context_t* context, size_t bytes)
{
    if (!context) return tengine_error_set(TENGINE_EINVAL, "%s: context is NULL", __func__);
    TENGINE_RETURN_IF_ERROR(require_prepare(context, __func__));
    const uint64_t most = SIZE_MAX / 2;
    if (bytes > most || context->temporary_bytes > most - bytes)
        return tengine_error_set(TENGINE_ELIMIT, "%s: %zu bytes, expected at most %llu", __func__,
                                 bytes, (unsigned long long)(most - context->temporary_bytes));
    const op_temporary_t temporary = {context->temporary_bytes};
    if (!context->temporaries) context->temporaries = create_vector(sizeof temporary, NULL);
    if (!context->temporaries || push_vector_data(context->temporaries, &temporary) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory", __func__);
    context->temporary_bytes +=
        ((uint64_t)bytes + ALLOC_ALIGNMENT - 1) & ~(uint64_t)(ALLOC_ALIGNMENT - 1);
    return get_vector_num(context->temporaries) - 1;
}

void* tengine_op_temporary(const tengine_op_context_t* context, int index)
{
    if (!context || context->call != OP_CALL_INVOKE || !context->temporaries) return NULL;
    const op_temporary_t* temporary = get_vector_data(context->temporaries, index);
    return temporary ? context->scratch + temporary->offset : NULL;
}

int tengine_op_is_cancelled(const tengine_op_context_t* context)
{
    return context && context->call == OP_CALL_INVOKE &&
           is_ir_run_ending(context->node->graph->core->run);
}
