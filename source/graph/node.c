// SPDX-License-Identifier: Apache-2.0
// Nodes and their connections. The meaning of operators is in the operator room, which also has
// create_ir_node().
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "graph/index_list.h"
#include "graph/name_index.h"
#include "tengine/device.h"

// One block of memory has the public part and the core's own.
struct node_piece
{
    struct node node;
    ir_node_core_t core;
};

struct node* append_ir_node(struct graph* graph, const char* name)
{
    if (graph->node_num == graph->core->node_capacity) {
        const int32_t capacity = get_ir_list_capacity(graph->core->node_capacity);
        if (capacity == graph->core->node_capacity) goto out_of_memory;
        struct node** list =
            resize_memory(graph->node_list, sizeof(*list) * (size_t)graph->core->node_capacity,
                          sizeof(*list) * (size_t)capacity);
        if (!list) goto out_of_memory;
        graph->node_list = list;
        graph->core->node_capacity = capacity;
    }
    struct node_piece* piece = alloc_small_memory(sizeof(*piece));
    if (!piece) goto out_of_memory;
    struct node* node = &piece->node;
    node->core = &piece->core;
    node->name = duplicate_string(name);
    if (!node->name) {
        free_memory(node);
        goto out_of_memory;
    }
    node->index = graph->node_num;
    node->subgraph_idx = -1;
    node->core->source_index = -1;
    node->graph = graph;
    graph->node_list[graph->node_num++] = node;
    return node;

out_of_memory:
    tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory", name);
    return NULL;
}

// Removes input `index` from its tensor's list of consumers. The last entry takes its place, so
// that the time does not grow with the list.
static void remove_consumer(const struct node* node, int index)
{
    struct tensor* tensor = get_ir_node_input(node, index);
    if (!tensor || tensor->consumer_num == 0) return;
    const int32_t place = node->core->input_places[index];
    const int32_t last = --tensor->consumer_num;
    const int32_t input = tensor->core->consumer_input[last];
    tensor->consumer[place] = tensor->consumer[last];
    tensor->core->consumer_input[place] = input;
    if (input >= 0)
        node->graph->node_list[tensor->consumer[place]]->core->input_places[input] = place;
}

void disconnect_ir_node(const struct node* node)
{
    for (int i = 0; i < node->input_num; ++i)
        remove_consumer(node, i);
    for (int i = 0; i < node->output_num; ++i) {
        struct tensor* tensor = get_ir_node_output(node, i);
        if (tensor && tensor->producer == node->index) tensor->producer = -1;
    }
}

static int check_place(const struct node* node, const char* what, int index)
{
    const int most = 1 << 20;
    if (index >= 0 && index < most) return TENGINE_OK;
    return tengine_error_set(TENGINE_ERANGE, "node '%s': %s %d is out of range: expected 0 to %d",
                             node->name, what, index, most - 1);
}

// Makes room for entry `index`; new entries are absent.
static int grow_inputs(struct node* node, int index)
{
    TENGINE_RETURN_IF_ERROR(check_place(node, "input", index));
    for (; node->input_num <= index; ++node->input_num)
        if (!push_ir_index_pair(&node->input_tensors, &node->core->input_places, node->input_num,
                                -1, -1))
            return tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory for input %d",
                                     node->name, index);
    return TENGINE_OK;
}

static int grow_outputs(struct node* node, int index)
{
    TENGINE_RETURN_IF_ERROR(check_place(node, "output", index));
    for (; node->output_num <= index; ++node->output_num)
        if (!push_ir_index(&node->output_tensors, node->output_num, -1))
            return tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory for output %d",
                                     node->name, index);
    return TENGINE_OK;
}

int set_ir_node_input_tensor(struct node* node, int input_idx, struct tensor* tensor)
{
    TENGINE_RETURN_IF_ERROR(grow_inputs(node, input_idx));
    if (tensor == get_ir_node_input(node, input_idx)) return TENGINE_OK;
    if (tensor) TENGINE_RETURN_IF_ERROR(add_ir_consumer(tensor, node->index, input_idx));
    remove_consumer(node, input_idx);
    node->input_tensors[input_idx] = tensor ? tensor->index : -1;
    if (tensor) node->core->input_places[input_idx] = tensor->consumer_num - 1;
    return TENGINE_OK;
}

void keep_ir_node_inputs(struct node* node, int number)
{
    for (; node->input_num > number; --node->input_num)
        remove_consumer(node, node->input_num - 1);
}

int set_ir_node_output_tensor(struct node* node, int output_idx, struct tensor* tensor)
{
    if (tensor && tensor->producer >= 0 && tensor->producer != node->index)
        return tengine_error_set(
            TENGINE_EGRAPH,
            "tensor '%s' is already written by node '%s', so node '%s' cannot write it",
            tensor->name, node->graph->node_list[tensor->producer]->name, node->name);
    TENGINE_RETURN_IF_ERROR(grow_outputs(node, output_idx));
    struct tensor* old = get_ir_node_output(node, output_idx);
    if (old) old->producer = -1;
    node->output_tensors[output_idx] = tensor ? tensor->index : -1;
    if (tensor) tensor->producer = node->index;
    return TENGINE_OK;
}

int get_ir_node_index_from_name(const struct graph* graph, const char* node_name)
{
    return find_ir_node_name(graph, node_name);
}

int add_ir_node_refusal(struct node* node, struct device* device, const struct ir_verdict* verdict)
{
    const size_t bytes = sizeof(ir_refusal_t) * (size_t)node->core->refusal_num;
    ir_refusal_t* list =
        resize_memory(node->core->refusal_list, bytes, bytes + sizeof(ir_refusal_t));
    if (!list)
        return tengine_error_set(TENGINE_ENOMEM, "node '%s': out of memory for a refusal",
                                 node->name);
    list[node->core->refusal_num++] = (ir_refusal_t){device, *verdict};
    node->core->refusal_list = list;
    return TENGINE_OK;
}

const struct tensor* find_ir_unknown_input(const struct node* node)
{
    for (int i = 0; i < node->input_num; ++i) {
        const struct tensor* tensor = get_ir_node_input(node, i);
        if (tensor && !is_ir_tensor_shape_known(tensor)) return tensor;
    }
    return NULL;
}

const struct tensor* find_ir_unknown_output(const struct node* node)
{
    for (int i = 0; i < node->output_num; ++i) {
        const struct tensor* tensor = get_ir_node_output(node, i);
        if (tensor && !is_ir_tensor_shape_known(tensor)) return tensor;
    }
    return NULL;
}
