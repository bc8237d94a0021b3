// SPDX-License-Identifier: Apache-2.0
// string.h: tensors of strings.
#include "tengine/string.h"

#include <limits.h>
#include <string.h>

#include "api/check.h"
#include "graph/graph.h"
#include "graph/string_pool.h"

static int check_type(const struct tensor* tensor, const char* function)
{
    if (tensor->data_type == TENGINE_DT_STRING) return TENGINE_OK;
    return tengine_error_set(TENGINE_EDTYPE, "%s: tensor '%s' is %s, not of strings", function,
                             tensor->name, get_data_type_name(tensor->data_type));
}

static int check_takes(const struct tensor* tensor, int number, const char* function)
{
    if (tensor->tensor_type != TENSOR_TYPE_INPUT && tensor->tensor_type != TENSOR_TYPE_CONST)
        return tengine_error_set(TENGINE_EINVAL, "%s: tensor '%s' is not an input or constant",
                                 function, tensor->name);
    TENGINE_RETURN_IF_ERROR(check_shape_known(tensor, function));
    if (number == tensor->elem_num) return TENGINE_OK;
    return add_declared_shape(
        tensor, tengine_error_set(TENGINE_EINVAL, "%s: tensor '%s': %d strings, expected %lld",
                                  function, tensor->name, number, (long long)tensor->elem_num));
}

// Checks all strings before any is stored.
static int check_strings(const struct tensor* tensor, const char* const strings[], int number,
                         const char* function)
{
    for (int i = 0; i < number; ++i) {
        if (!strings[i])
            return tengine_error_set(TENGINE_EINVAL, "%s: '%s': string %d is NULL", function,
                                     tensor->name, i);
        TENGINE_RETURN_IF_ERROR(check_ir_text(strings[i], strlen(strings[i]), tensor->name, i));
    }
    return TENGINE_OK;
}

static int fill(const struct graph* graph, struct tensor* tensor, const char* const strings[])
{
    TENGINE_RETURN_IF_ERROR(allocate_ir_tensor(tensor));
    const bool is_constant = tensor->tensor_type == TENSOR_TYPE_CONST;
    const char** elements = tensor->data;
    for (int64_t i = 0; i < tensor->elem_num; ++i) {
        const size_t length = strlen(strings[i]);
        const int status = is_constant ? keep_ir_string(graph, strings[i], length, &elements[i])
                                       : intern_ir_string(graph, strings[i], length, &elements[i]);
        if (status == TENGINE_OK) continue;
        release_ir_tensor_data(tensor);
        return status;
    }
    return TENGINE_OK;
}

int tengine_string_set(tensor_t tensor, const char* const strings[], int number)
{
    api_graph_t* owner = NULL;
    struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_type(target, __func__) < 0 ||
        check_data_idle(owner, target, __func__) < 0 ||
        (number > 0 && check_pointer(strings, __func__, "strings") < 0) ||
        check_takes(target, number, __func__) < 0 ||
        check_strings(target, strings, number, __func__) < 0)
        return api_failure();
    const int status = fill(owner->graph, target, strings);
    if (status == TENGINE_OK && target->tensor_type == TENSOR_TYPE_INPUT) return 0;
    return end_change(owner, status);
}

const char* tengine_string_get(tensor_t tensor, int index)
{
    api_graph_t* owner = NULL;
    const struct tensor* target = find_tensor(tensor, __func__, &owner);
    if (!target || check_type(target, __func__) < 0) return api_pointer(NULL);
    const int64_t number = target->data ? target->elem_num : 0;
    if (check_index(index, number > INT_MAX ? INT_MAX : (int)number, __func__, "strings") < 0) {
        if (!target->data)
            tengine_error_set(TENGINE_ESTATE, "%s: '%s' has no strings yet", __func__,
                              target->name);
        return api_pointer(NULL);
    }
    const char* string = ((const char* const*)target->data)[index];
    if (is_ir_string(owner->graph, string)) return string;
    tengine_error_set(TENGINE_ESTATE, "%s: '%s' has no strings: run_graph makes them", __func__,
                      target->name);
    return api_pointer(NULL);
}
