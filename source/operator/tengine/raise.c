// SPDX-License-Identifier: Apache-2.0
// See raise.h.
#include "operator/tengine/raise.h"

#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "operator/infer.h"
#include "operator/registry.h"
#include "operator/tengine/emit.h"

static bool is_constant(const struct tensor* tensor)
{
    return tensor && tensor->tensor_type == TENSOR_TYPE_CONST;
}

bool read_raised_float(const struct node* node, int index, float* out_value)
{
    int num = 0;
    const struct tensor* tensor = get_ir_node_input(node, index);
    return is_constant(tensor) && tensor->elem_num == 1 &&
           read_float_input(node, index, out_value, 1, &num) == TENGINE_OK && num == 1;
}

int read_raised_ints(const struct node* node, int index, int64_t* out_values, int capacity)
{
    int num = 0;
    const struct tensor* tensor = get_ir_node_input(node, index);
    if (!is_constant(tensor) || tensor->elem_num > capacity) return -1;
    return read_int_input(node, index, out_values, capacity, &num) == TENGINE_OK ? num : -1;
}

const char* print_raised_shape(const struct tensor* tensor, char out_text[RAISED_SHAPE_SIZE])
{
    int length = snprintf(out_text, RAISED_SHAPE_SIZE, "[");
    for (int i = 0; i < tensor->dim_num && length < RAISED_SHAPE_SIZE; ++i)
        length += snprintf(out_text + length, (size_t)(RAISED_SHAPE_SIZE - length),
                           i ? ",%d" : "%d", tensor->dims[i]);
    if (length < RAISED_SHAPE_SIZE)
        snprintf(out_text + length, (size_t)(RAISED_SHAPE_SIZE - length), "]");
    return out_text;
}

bool have_same_shape(const struct tensor* first, const struct tensor* second)
{
    return first->dim_num == second->dim_num &&
           memcmp(first->dims, second->dims, sizeof(int) * first->dim_num) == 0;
}

bool have_inputs_output_shape(const struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* input = get_ir_node_input(node, i);
        if (!input || !have_same_shape(input, output)) return false;
    }
    return true;
}

bool has_tengine_type(struct node* node)
{
    const struct tensor* output = get_ir_node_output(node, 0);
    if (!output || output->data_type <= TENGINE_DT_INT16) return true;
    refuse_raising(node,
                   "its result is of type %s; Tengine's are fp32, fp16, int8, uint8, int32 and "
                   "int16",
                   get_data_type_name(output->data_type));
    return false;
}

bool is_type_free(const struct node* node, int index)
{
    const struct tensor* output = get_ir_node_output(node, index);
    if (!output) return true;
    if (is_ir_graph_output(node->graph, output->index)) return false;
    for (int i = 0; i < output->consumer_num; ++i)
        if (strcmp(get_ir_node_op(get_ir_graph_node(node->graph, output->consumer[i])), "Cast") !=
            0)
            return false;
    return true;
}

int raise_renamed(struct graph* graph, struct node* node)
{
    if (!has_tengine_type(node)) return OP_NOT_RAISED;
    const char* op = get_ir_node_op(node);
    const ir_method_t* row = find_op_method_via_index(0);
    for (int i = 1; row->raise != raise_renamed || strcmp(row->raised_from, op) != 0; ++i)
        row = find_op_method_via_index(i);
    char name[64];
    snprintf(name, sizeof name, "tengine.%s", row->name);
    return rewrite_as(graph, node, name);
}
