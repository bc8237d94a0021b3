// SPDX-License-Identifier: Apache-2.0
// sequence.h: sequences and optional values as inputs and results.
#include "tengine/sequence.h"

#include <string.h>

#include "api/check.h"
#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/sequence.h"
#include "graph/string_pool.h"

static int check_container(const struct tensor* tensor, const char* function)
{
    if (get_ir_container(tensor->data_type) != 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EDTYPE,
                             "%s: tensor '%s' is %s, neither a sequence nor an "
                             "optional value",
                             function, tensor->name, get_data_type_name(tensor->data_type));
}

// The tensor if it has a value; NULL after setting an error.
static struct tensor* find_filled(tensor_t tensor, const char* function)
{
    struct tensor* target = find_tensor(tensor, function, NULL);
    if (!target || check_container(target, function) < 0) return NULL;
    if (target->data) return target;
    tengine_error_set(TENGINE_ESTATE, "%s: '%s' has no data yet", function, target->name);
    return NULL;
}

static int check_number(const struct tensor* tensor, int number, const char* function)
{
    const int container = get_ir_container(tensor->data_type);
    const bool may_be_absent = container != TENGINE_DT_SEQUENCE;
    const bool fits = container == TENGINE_DT_OPTIONAL ? number == 1 : number >= 0;
    if (fits || (number == -1 && may_be_absent)) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: '%s', %s, cannot have %d elements", function,
                             tensor->name, get_data_type_name(tensor->data_type), number);
}

static int read_element(const struct tensor* tensor, const struct tengine_element* given,
                        const char* function, ir_element_t* out_element)
{
    const int wanted = get_ir_element_type(tensor->data_type);
    if (given->data_type != wanted)
        return tengine_error_set(TENGINE_EDTYPE, "%s: '%s' takes elements of %s, not of %s",
                                 function, tensor->name, get_data_type_name(wanted),
                                 get_data_type_name(given->data_type));
    if (given->dim_number < 0 || given->dim_number > MAX_SHAPE_DIM_NUM)
        return tengine_error_set(TENGINE_ERANGE, "%s: '%s': %d dimensions, expected 0 to %d",
                                 function, tensor->name, given->dim_number, MAX_SHAPE_DIM_NUM);
    *out_element = (ir_element_t){given->data_type, given->dim_number, {0}, given->data};
    for (int i = 0; i < given->dim_number; ++i) {
        out_element->dims[i] = given->dims[i];
        if (given->dims[i] < 0)
            return tengine_error_set(TENGINE_EINVAL, "%s: '%s': dimension %d is %d", function,
                                     tensor->name, i, given->dims[i]);
    }
    return TENGINE_OK;
}

static int check_data(const struct tensor* tensor, const ir_element_t* elements, int number,
                      const char* function)
{
    for (int i = 0; i < number; ++i)
        if (!elements[i].data && get_ir_element_bytes(&elements[i]) > 0)
            return tengine_error_set(TENGINE_EINVAL, "%s: '%s': element %d has no data", function,
                                     tensor->name, i);
    return TENGINE_OK;
}

static int fill(struct tensor* tensor, const ir_element_t* elements, int number,
                const char* function)
{
    const int present = number < 0 ? 0 : number;
    int bytes;
    TENGINE_RETURN_IF_ERROR(measure_ir_sequence(elements, present, &bytes));
    TENGINE_RETURN_IF_ERROR(check_data(tensor, elements, present, function));
    TENGINE_RETURN_IF_ERROR(set_ir_tensor_shape(tensor, &bytes, 1));
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    write_ir_sequence(elements, present, number < 0, tensor->data);
    tensor->reshaped = 1;
    return TENGINE_OK;
}

// Replaces the pointers in a sequence of strings by the graph's own strings.
static int take_strings(const struct graph* graph, const struct tensor* tensor)
{
    for (int i = 0; i < count_ir_sequence(tensor->data); ++i) {
        const ir_element_t element = get_ir_sequence_element(tensor->data, i);
        const char** texts = (const char**)(uintptr_t)element.data;
        const size_t number = get_ir_element_bytes(&element) / sizeof *texts;
        for (size_t k = 0; k < number; ++k) {
            if (!texts[k])
                return tengine_error_set(TENGINE_EINVAL, "'%s': string %zu of element %d is NULL",
                                         tensor->name, k, i);
            const size_t length = strlen(texts[k]);
            TENGINE_RETURN_IF_ERROR(check_ir_text(texts[k], length, tensor->name, (int64_t)k));
            TENGINE_RETURN_IF_ERROR(intern_ir_string(graph, texts[k], length, &texts[k]));
        }
    }
    return TENGINE_OK;
}

static int take_elements(const struct graph* graph, struct tensor* tensor,
                         const ir_element_t* elements, int number, const char* function)
{
    TENGINE_RETURN_IF_ERROR(fill(tensor, elements, number, function));
    if (get_ir_element_type(tensor->data_type) != TENGINE_DT_STRING) return TENGINE_OK;
    const int status = take_strings(graph, tensor);
    if (status < 0) release_ir_tensor_data(tensor);
    return status;
}

static int read_and_fill(const struct graph* graph, struct tensor* tensor,
                         const struct tengine_element* given, int number, const char* function)
{
    ir_element_t* elements = alloc_memory(sizeof *elements * (size_t)(number < 1 ? 1 : number));
    if (!elements)
        return tengine_error_set(TENGINE_ENOMEM, "%s: out of memory for %d elements", function,
                                 number);
    int status = TENGINE_OK;
    for (int i = 0; i < number && status == TENGINE_OK; ++i)
        status = read_element(tensor, &given[i], function, &elements[i]);
    if (status == TENGINE_OK) status = take_elements(graph, tensor, elements, number, function);
    free_memory(elements);
    return status;
}

int tengine_sequence_set(tensor_t tensor, const struct tengine_element* elements, int number)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_container(target, __func__) < 0 || check_idle(owner, __func__) < 0 ||
        check_number(target, number, __func__) < 0 ||
        (number > 0 && check_pointer(elements, __func__, "elements") < 0))
        return api_failure();
    if (target->tensor_type != TENSOR_TYPE_INPUT)
        return api_result(
            tengine_error_set(TENGINE_EINVAL, "%s: '%s' is not an input", __func__, target->name));
    return end_reshape(owner, read_and_fill(owner->graph, target, elements, number, __func__));
}

int tengine_sequence_get_number(tensor_t tensor)
{
    const struct tensor* target = find_filled(tensor, __func__);
    return !target ? api_failure() : count_ir_sequence(target->data);
}

int tengine_sequence_is_absent(tensor_t tensor)
{
    const struct tensor* target = find_filled(tensor, __func__);
    return !target ? api_failure() : is_ir_sequence_absent(target->data);
}

int tengine_sequence_get(tensor_t tensor, int index, struct tengine_element* out_element)
{
    const struct tensor* target = find_filled(tensor, __func__);
    if (!target || check_pointer(out_element, __func__, "out_element") < 0 ||
        check_index(index, count_ir_sequence(target->data), __func__, "elements") < 0)
        return api_failure();
    const ir_element_t element = get_ir_sequence_element(target->data, index);
    *out_element = (struct tengine_element){element.data_type, element.dim_num, {0}, element.data};
    memcpy(out_element->dims, element.dims, sizeof element.dims);
    return 0;
}
