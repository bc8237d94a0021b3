// SPDX-License-Identifier: Apache-2.0
// Tensors, nodes and parts of a graph by their indices.
#include "graph/graph.h"

struct tensor* get_ir_graph_tensor(const struct graph* graph, int index)
{
    return index >= 0 && index < graph->tensor_num ? graph->tensor_list[index] : NULL;
}

struct node* get_ir_graph_node(const struct graph* graph, int index)
{
    return index >= 0 && index < graph->node_num ? graph->node_list[index] : NULL;
}

struct subgraph* get_ir_graph_subgraph(const struct graph* graph, int index)
{
    struct subgraph** entry = get_vector_data(graph->subgraph_list, index);
    return entry ? *entry : NULL;
}

bool is_ir_graph_output(const struct graph* graph, int tensor_index)
{
    return graph->tensor_list[tensor_index]->core->graph_output_num > 0;
}

struct tensor* get_ir_node_input(const struct node* node, int index)
{
    if (index < 0 || index >= node->input_num) return NULL;
    return get_ir_graph_tensor(node->graph, node->input_tensors[index]);
}

struct tensor* get_ir_node_output(const struct node* node, int index)
{
    if (index < 0 || index >= node->output_num) return NULL;
    return get_ir_graph_tensor(node->graph, node->output_tensors[index]);
}
