// SPDX-License-Identifier: Apache-2.0
// The checks themselves; the header says what each is for.
#include "api/check.h"

#include <string.h>

#include "base/text.h"
#include "graph/core.h"
#include "scheduler/scheduler.h"
#include "tengine/log.h"

int api_failure(void)
{
    TLOG_ERR("%s", tengine_error_message());
    return -1;
}

int api_result(int status)
{
    return status < 0 ? api_failure() : status;
}

void* api_pointer(const void* pointer)
{
    if (!pointer) api_failure();
    return (void*)pointer;
}

int check_pointer(const void* pointer, const char* function, const char* parameter)
{
    if (pointer) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: %s is NULL", function, parameter);
}

int check_name(const char* name, const char* function, const char* parameter)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(name, function, parameter));
    if (name[0] != '\0') return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL, "%s: %s is empty", function, parameter);
}

int check_struct(const void* out_struct, size_t size, const char* function, const char* parameter)
{
    TENGINE_RETURN_IF_ERROR(check_pointer(out_struct, function, parameter));
    if (size > 0) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "%s: size is 0: expected the size of the struct that %s points to",
                             function, parameter);
}

void give_struct(const void* made, size_t made_size, void* out_struct, size_t size)
{
    memset(out_struct, 0, size);
    memcpy(out_struct, made, size < made_size ? size : made_size);
}

int find_named_device(const char* name, size_t length, const char* function,
                      struct device** out_device)
{
    text_t names = {0};
    for (int i = 0; i < get_device_count(); ++i) {
        *out_device = find_device_via_index(i);
        const char* known = (*out_device)->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            free_text(&names);
            return TENGINE_OK;
        }
        append_text(&names, "%s%s", i > 0 ? ", " : "", known);
    }
    tengine_error_set(TENGINE_ENOENT, "%s: unknown device '%.*s': expected %s", function,
                      length < 100 ? (int)length : 100, name, names.data ? names.data : "none");
    free_text(&names);
    return TENGINE_ENOENT;
}

int require_device(const char* name, const char* function, const char* parameter,
                   struct device** out_device)
{
    TENGINE_RETURN_IF_ERROR(check_name(name, function, parameter));
    return find_named_device(name, strlen(name), function, out_device);
}

int check_index(int index, int number, const char* function, const char* what)
{
    if (index >= 0 && index < number) return TENGINE_OK;
    return tengine_error_set(TENGINE_ERANGE, "%s: index %d is out of range: there are %d %s",
                             function, index, number, what);
}

int check_layout(int layout, const char* function)
{
    if (layout == TENGINE_LAYOUT_NCHW || layout == TENGINE_LAYOUT_NHWC) return TENGINE_OK;
    return tengine_error_set(TENGINE_EINVAL,
                             "%s: invalid layout %d: expected NCHW (%d) or NHWC (%d)", function,
                             layout, TENGINE_LAYOUT_NCHW, TENGINE_LAYOUT_NHWC);
}

int append_declared_shape(const struct tensor* tensor, int status)
{
    char declared[IR_SHAPE_TEXT_SIZE];
    char given[IR_SHAPE_TEXT_SIZE];
    const bool is_known = is_ir_tensor_shape_known(tensor);
    return tengine_error_set(status, "%s; it is declared as %s%s%s", tengine_error_message(),
                             print_ir_declared_shape(tensor, declared), is_known ? ", given " : "",
                             is_known ? print_ir_shape(tensor, given) : "");
}

int check_shape_known(const struct tensor* tensor, const char* function)
{
    if (is_ir_tensor_shape_known(tensor)) return TENGINE_OK;
    return add_declared_shape(
        tensor, tengine_error_set(TENGINE_EINVAL, "%s: the shape of tensor '%s' is not known yet",
                                  function, tensor->name));
}

int check_idle(const api_graph_t* graph, const char* function)
{
    if (!graph->running && graph->graph->status != GRAPH_STAT_RUNNING) return TENGINE_OK;
    return tengine_error_set(TENGINE_ESTATE, "%s: the graph is running", function);
}

int check_data_idle(const api_graph_t* graph, const struct tensor* tensor, const char* function)
{
    const bool constant = tensor->tensor_type == TENSOR_TYPE_CONST;
    if (!graph->running && !constant && may_feed_ir_graph(graph->graph)) return TENGINE_OK;
    return check_idle(graph, function);
}

int end_reshape(api_graph_t* graph, int status)
{
    if (status >= 0) graph->changed = true;
    return api_result(status);
}

int end_change(api_graph_t* graph, int status)
{
    ++graph->graph->core->revision;
    return end_reshape(graph, status);
}

int fail_not_supported(const char* function, const char* what)
{
    return tengine_error_set(TENGINE_ENOTSUP, "%s: %s not supported by this version", function,
                             what);
}
