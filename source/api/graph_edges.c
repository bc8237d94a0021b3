// SPDX-License-Identifier: Apache-2.0
// inspect.h, the execution graph: its tensors, and what each node reads and writes.
#include <stdio.h>
#include <string.h>

#include "api/check.h"
#include "api/place.h"
#include "base/text.h"
#include "graph/graph.h"
#include "operator/param.h"
#include "tengine/inspect.h"

// `tensor` may be NULL: an absent input.
static void describe_tensor(const struct tensor* tensor, const place_t* place,
                            struct tengine_execution_tensor* out_tensor)
{
    *out_tensor = (struct tengine_execution_tensor){.name = "", .dim_number = -1, .producer = -1};
    if (!tensor) return;
    out_tensor->name = tensor->name;
    out_tensor->type = tensor->tensor_type;
    out_tensor->data_type = tensor->data_type;
    out_tensor->dim_number = tensor->shape_set ? tensor->dim_num : -1;
    memcpy(out_tensor->dims, tensor->dims, sizeof tensor->dims);
    out_tensor->bytes = (int64_t)get_ir_tensor_bytes(tensor);
    if (tensor->producer >= 0) out_tensor->producer = place->first_node + tensor->producer;
}

int tengine_graph_get_execution_input(graph_t graph, int node_index, int input_index,
                                      struct tengine_execution_tensor* out_tensor)
{
    place_t place;
    const struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    if (!node || check_pointer(out_tensor, __func__, "out_tensor") < 0 ||
        check_index(input_index, node->input_num, __func__, "inputs") < 0)
        return api_failure();
    describe_tensor(get_ir_node_input(node, input_index), &place, out_tensor);
    return 0;
}

int tengine_graph_get_execution_output(graph_t graph, int index,
                                       struct tengine_execution_tensor* out_tensor)
{
    const struct graph* execution = find_execution(graph, __func__, NULL);
    const place_t place = {.graph = execution};
    if (!execution || check_pointer(out_tensor, __func__, "out_tensor") < 0 ||
        check_index(index, execution->output_tensor_num, __func__, "outputs") < 0)
        return api_failure();
    describe_tensor(get_ir_graph_tensor(execution, execution->output_tensors[index]), &place,
                    out_tensor);
    return 0;
}

int tengine_graph_get_execution_output_of(graph_t graph, int node_index, int output_index,
                                          struct tengine_execution_tensor* out_tensor)
{
    place_t place;
    const struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    if (!node || check_pointer(out_tensor, __func__, "out_tensor") < 0 ||
        check_index(output_index, node->output_num, __func__, "outputs") < 0)
        return api_failure();
    describe_tensor(get_ir_node_output(node, output_index), &place, out_tensor);
    return 0;
}

// ---- tensors by index ----

int tengine_graph_get_execution_tensor_number(graph_t graph)
{
    const struct graph* execution = find_execution(graph, __func__, NULL);
    place_t end;
    if (!execution || find_place_end(execution, &end) < 0) return api_failure();
    return end.first_tensor;
}

int tengine_graph_get_execution_tensor(graph_t graph, int index,
                                       struct tengine_execution_tensor* out_tensor)
{
    place_t place;
    const struct tensor* tensor = find_execution_tensor(graph, index, __func__, &place);
    if (!tensor || check_pointer(out_tensor, __func__, "out_tensor") < 0) return api_failure();
    describe_tensor(tensor, &place, out_tensor);
    return 0;
}

static int give_tensors(const int32_t* list, int number, const place_t* place, int* tensors,
                        int capacity)
{
    for (int i = 0; i < number && i < capacity; ++i)
        tensors[i] = list[i] < 0 ? -1 : place->first_tensor + list[i];
    return number;
}

int tengine_graph_get_execution_inputs(graph_t graph, int node_index, int* tensors, int capacity)
{
    if (capacity > 0 && check_pointer(tensors, __func__, "tensors") < 0) return api_failure();
    place_t place = {0};
    if (node_index == -1) {
        const struct graph* execution = find_execution(graph, __func__, NULL);
        return !execution ? api_failure()
                          : give_tensors(execution->input_tensors, execution->input_tensor_num,
                                         &place, tensors, capacity);
    }
    const struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    return !node ? api_failure()
                 : give_tensors(node->input_tensors, node->input_num, &place, tensors, capacity);
}

int tengine_graph_get_execution_outputs(graph_t graph, int node_index, int* tensors, int capacity)
{
    if (capacity > 0 && check_pointer(tensors, __func__, "tensors") < 0) return api_failure();
    place_t place = {0};
    if (node_index == -1) {
        const struct graph* execution = find_execution(graph, __func__, NULL);
        return !execution ? api_failure()
                          : give_tensors(execution->output_tensors, execution->output_tensor_num,
                                         &place, tensors, capacity);
    }
    const struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    return !node ? api_failure()
                 : give_tensors(node->output_tensors, node->output_num, &place, tensors, capacity);
}

// ---- details of nodes ----

// The part of a name before its last '/', or without one before its last '.'.
static int find_scope_length(const char* name)
{
    const char* end = strrchr(name, '/');
    if (!end) end = strrchr(name, '.');
    return end ? (int)(end - name) : 0;
}

// Operands decide how a product is computed, and results all else: a MatMulInteger computes in
// 8 bits, and a Gather has integers for indices.
static int find_precision(const struct node* node)
{
    const struct tensor* input = get_ir_node_input(node, 0);
    if (input && get_ir_node_macs(node) > 0) return input->data_type;
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* output = get_ir_node_output(node, i);
        if (output) return output->data_type;
    }
    return TENGINE_DT_UNKNOWN;
}

static int count_attributes(const struct node* node)
{
    int number = 0;
    while (find_given_param(node, number))
        ++number;
    return number;
}

int tengine_graph_get_execution_detail(graph_t graph, int index,
                                       struct tengine_node_detail* out_detail, size_t size)
{
    place_t place;
    const struct node* node = find_execution_node(graph, index, __func__, NULL, &place);
    if (!node || check_struct(out_detail, size, __func__, "out_detail") < 0) return api_failure();
    const struct tengine_node_detail made = {
        .scope_length = find_scope_length(node->name),
        .precision = find_precision(node),
        .attribute_number = count_attributes(node),
    };
    give_struct(&made, sizeof made, out_detail, size);
    return 0;
}

// Copies text; the end of one that does not fit is replaced by "...".
static void cut_text(const char* text, char* out_text, size_t size)
{
    const int length = snprintf(out_text, size, "%s", text);
    if ((size_t)length >= size) memcpy(out_text + size - sizeof "...", "...", sizeof "...");
}

int tengine_graph_get_execution_attribute(graph_t graph, int node_index, int attribute_index,
                                          struct tengine_node_attribute* out_attribute, size_t size)
{
    place_t place;
    const struct node* node = find_execution_node(graph, node_index, __func__, NULL, &place);
    if (!node || check_struct(out_attribute, size, __func__, "out_attribute") < 0 ||
        check_index(attribute_index, count_attributes(node), __func__, "attributes") < 0)
        return api_failure();
    const op_field_t* field = find_given_param(node, attribute_index);
    text_t value = {0};
    print_param(node, field, &value);
    struct tengine_node_attribute made = {.name = ""};
    cut_text(field->name, made.name, sizeof made.name);
    cut_text(value.data ? value.data : "", made.value, sizeof made.value);
    free_text(&value);
    give_struct(&made, sizeof made, out_attribute, size);
    return 0;
}
