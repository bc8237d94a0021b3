// SPDX-License-Identifier: Apache-2.0
// Nodes and their connections. What an operator means is in the operator room, which also has
// create_ir_node().
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "graph/graph.h"
#include "tengine/device.h"

ir_node_t* append_ir_node(struct graph* graph, const char* name)
{
    if (graph->node_num == graph->node_capacity) {
        const int32_t capacity = get_ir_list_capacity(graph->node_capacity);
        if (capacity == graph->node_capacity) goto out_of_memory;
        struct node** list =
            resize_memory(graph->node_list, sizeof(*list) * (size_t)graph->node_capacity,
                          sizeof(*list) * (size_t)capacity);
        if (!list) goto out_of_memory;
        graph->node_list = list;
        graph->node_capacity = capacity;
    }
    ir_node_t* node = alloc_memory(sizeof(*node));
    if (!node) goto out_of_memory;
    node->name = duplicate_string(name);
    if (!node->name) {
        free_memory(node);
        goto out_of_memory;
    }
    node->index = graph->node_num;
    node->subgraph_idx = -1;
    node->source_index = -1;
    node->graph = graph;
    graph->node_list[graph->node_num++] = node;
    return node;

out_of_memory:
    tengine_error_set(TENGINE_ENOMEM, "no memory for node '%s'", name);
    return NULL;
}

static void remove_consumer(struct tensor* tensor, int node_index)
{
    for (int i = 0; i < tensor->consumer_num; i++) {
        if (tensor->consumer[i] != node_index) continue;
        for (int k = i + 1; k < tensor->consumer_num; k++)
            tensor->consumer[k - 1] = tensor->consumer[k];
        tensor->consumer_num--;
        return;
    }
}

void destroy_ir_node(struct graph* graph, ir_node_t* node)
{
    if (!node) return;
    for (int i = 0; i < node->input_num; i++) {
        struct tensor* tensor = get_ir_node_input(node, i);
        if (tensor) remove_consumer(tensor, node->index);
    }
    for (int i = 0; i < node->output_num; i++) {
        struct tensor* tensor = get_ir_node_output(node, i);
        if (tensor && tensor->producer == node->index) tensor->producer = -1;
    }
    if (node->op.release) node->op.release(&node->op);
    free_memory(node->input_tensors);
    free_memory(node->output_tensors);
    free_memory(node->refusal_list);
    free_memory(node->name);
    graph->node_list[node->index] = NULL;
    free_memory(node);
}

// Makes room for entry `index`; new entries are absent.
static int grow_index_list(int32_t** list, int32_t* number, int index)
{
    if (index < *number) return TENGINE_OK;
    const size_t size = sizeof(**list);
    int32_t* grown = resize_memory(*list, size * (size_t)*number, size * ((size_t)index + 1));
    if (!grown) return TENGINE_ENOMEM;
    for (int i = *number; i <= index; i++)
        grown[i] = -1;
    *list = grown;
    *number = index + 1;
    return TENGINE_OK;
}

static int grow_node_list(const ir_node_t* node, const char* what, int32_t** list, int32_t* number,
                          int index)
{
    const int most = 1 << 20;
    if (index < 0 || index >= most)
        return tengine_error_set(TENGINE_ERANGE, "node '%s': %s %d is not in 0..%d", node->name,
                                 what, index, most - 1);
    if (grow_index_list(list, number, index) < 0)
        return tengine_error_set(TENGINE_ENOMEM, "node '%s': no memory for %s %d", node->name, what,
                                 index);
    return TENGINE_OK;
}

int set_ir_node_input_tensor(ir_node_t* node, int input_idx, struct tensor* tensor)
{
    TENGINE_RETURN_IF_ERROR(
        grow_node_list(node, "input", &node->input_tensors, &node->input_num, input_idx));
    if (tensor) TENGINE_RETURN_IF_ERROR(set_ir_tensor_consumer(tensor, node->index));
    struct tensor* old = get_ir_node_input(node, input_idx);
    node->input_tensors[input_idx] = tensor ? tensor->index : -1;
    if (old) remove_consumer(old, node->index);
    return TENGINE_OK;
}

int set_ir_node_output_tensor(ir_node_t* node, int output_idx, struct tensor* tensor)
{
    if (tensor && tensor->producer >= 0 && tensor->producer != node->index)
        return tengine_error_set(
            TENGINE_EGRAPH, "tensor '%s' is written by node '%s' already, so node '%s' cannot",
            tensor->name, node->graph->node_list[tensor->producer]->name, node->name);
    TENGINE_RETURN_IF_ERROR(
        grow_node_list(node, "output", &node->output_tensors, &node->output_num, output_idx));
    struct tensor* old = get_ir_node_output(node, output_idx);
    if (old) old->producer = -1;
    node->output_tensors[output_idx] = tensor ? tensor->index : -1;
    if (tensor) tensor->producer = node->index;
    return TENGINE_OK;
}

struct tensor* get_ir_node_input(const ir_node_t* node, int index)
{
    if (index < 0 || index >= node->input_num) return NULL;
    return get_ir_graph_tensor(node->graph, node->input_tensors[index]);
}

struct tensor* get_ir_node_output(const ir_node_t* node, int index)
{
    if (index < 0 || index >= node->output_num) return NULL;
    return get_ir_graph_tensor(node->graph, node->output_tensors[index]);
}

int get_ir_node_index_from_name(const struct graph* graph, const char* node_name)
{
    for (int i = 0; i < graph->node_num; i++)
        if (graph->node_list[i] && strcmp(graph->node_list[i]->name, node_name) == 0) return i;
    return -1;
}

int add_ir_node_refusal(struct node* node, struct device* device, const struct ir_verdict* verdict)
{
    const size_t bytes = sizeof(ir_refusal_t) * (size_t)node->refusal_num;
    ir_refusal_t* list = resize_memory(node->refusal_list, bytes, bytes + sizeof(ir_refusal_t));
    if (!list)
        return tengine_error_set(TENGINE_ENOMEM, "node '%s': no memory for a refusal", node->name);
    list[node->refusal_num++] = (ir_refusal_t){device, *verdict};
    node->refusal_list = list;
    return TENGINE_OK;
}
